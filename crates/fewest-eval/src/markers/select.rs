//! The markers of a part: an elimination, then the search of `exact` from its panel.

use fewest::method::exact::{ExactSettings, exact_several};
use fewest::method::rfe::{RfeSettings, Step, rfe_classes};
use fewest::{Error, Limits, Memory, Observer, Outcome, RuleList, Rules, Several, Silent, SvmSettings};

use super::expression::{ByClass, Expression};
use super::settings::MarkersSettings;
use crate::error::EvalError;
use crate::part::{Data, Part};
use crate::time::Deadline;

/// Share of the features left that leave in a step of the elimination, one at least.
const STEP: f64 = 0.03;
/// Relative gap of its trainings.
const ROUGHLY: f64 = 1e-4;
/// Share of the time for it.
const ELIMINATION: f64 = 0.5;
/// Stored values times classes above which an elimination begins with few features ...
const LARGE: f64 = 1e9;
/// ... this many for each marker, and
const POOL_EACH: usize = 20;
/// no fewer than this.
const POOL: usize = 500;

/// Samples to learn from, with what they say of the rules.
pub(crate) struct MarkerPart<'a> {
    pub(crate) part: Part,
    /// The samples, of all that were read.
    pub(crate) by_class: ByClass,
    settings: &'a MarkersSettings,
    memory: Memory,
    rules: Rules,
    /// The features that an elimination begins with; none: all.
    pool: Option<Vec<usize>>,
}

impl<'a> MarkerPart<'a> {
    /// Prepares the samples of these rows, ascending; `names` are for messages.
    ///
    /// # Errors
    /// A class of which none is left, features that cannot be scaled, rules that contradict each
    /// other or what the samples say.
    pub(crate) fn new(
        data: &Data<'_>,
        rows: &[usize],
        settings: &'a MarkersSettings,
        names: &[String],
        memory: &Memory,
    ) -> Result<Self, EvalError> {
        let part = Part::new(data, rows, &settings.preparation, memory)?;
        let by_class = ByClass::new(&data.target.codes, data.weights, rows, data.target.classes.len());
        let mut list = settings.rules.clone();
        let size = part.design().stored() as f64 * data.target.classes.len() as f64;
        let mut pool = None;
        if settings.per_class > 0 || settings.expression != [None, None] || size > LARGE {
            let all: Vec<usize> = (0..data.features.n_features()).collect();
            let table = by_class.expressions(data.features.as_design(), &all);
            limit(&mut list, &table, settings, &part);
            each_class(&mut list, &table, settings, &data.target.classes)?;
            if size > LARGE {
                let most = (POOL_EACH * list.max_features.unwrap_or(0)).max(POOL);
                pool = Some(best_of_pairs(&part, &table, &list, most));
            }
        }
        let rules = part.rules(list, names)?;
        Ok(Self { part, by_class, settings, memory: memory.clone(), rules, pool })
    }

    /// The SVM at the cost of a class.
    pub(crate) fn svm(&self, class_cost: f64) -> SvmSettings {
        let total: f64 = self.part.weights.iter().sum();
        let cost = self.settings.cost.unwrap_or(class_cost * self.part.target.classes.len() as f64 / total);
        SvmSettings { cost, loss: self.settings.loss, memory: self.settings.memory, ..SvmSettings::default() }
    }

    /// The panel at this SVM, with its bound: that of an elimination, or a better one that the search
    /// from there finds in the time and in so many nodes.
    pub(crate) fn panel(
        &self,
        svm: &SvmSettings,
        deadline: &Deadline,
        nodes: Option<u64>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        let begun = self.eliminate(svm, deadline.limits(ELIMINATION))?;
        if begun.subset.is_none() {
            return Ok(begun);
        }
        let several = Several::of(&self.part.samples()?, self.settings.multi_class, &self.rules, &self.memory)?;
        let start = begun.subset.clone().into_iter().collect();
        let settings = ExactSettings { svm: svm.clone(), start, ..ExactSettings::default() };
        let limits = Limits { nodes, ..deadline.limits(1.0) };
        let found = exact_several(&several.problems(), &self.rules, &settings, limits, observer)?.outcome;
        Ok(if found.subset.is_some() {
            found
        } else {
            Outcome { subset: begun.subset, objective: begun.objective, ..found }
        })
    }

    /// The panel of an elimination at this SVM; none where the rules allow none.
    fn eliminate(&self, svm: &SvmSettings, limits: Limits) -> Result<Outcome, Error> {
        let svm = SvmSettings { tolerance: ROUGHLY, ..svm.clone() };
        let step = Step::Remaining(STEP);
        let settings = RfeSettings { svm, step, start: self.pool.clone(), ..RfeSettings::default() };
        Ok(rfe_classes(&self.part.samples()?, &self.rules, &settings, limits, &mut Silent)?.selection.outcome)
    }

    /// The order of the features of a panel: the last one left by an elimination among them is the
    /// first.
    pub(crate) fn order(&self, panel: &[usize], svm: &SvmSettings, limits: Limits) -> Result<Vec<usize>, Error> {
        let settings = RfeSettings { svm: svm.clone(), start: Some(panel.to_vec()), ..RfeSettings::default() };
        let rules = Rules::new(self.rules.p(), RuleList { max_features: Some(1), ..RuleList::default() }, &[])?;
        let found = rfe_classes(&self.part.samples()?, &rules, &settings, limits, &mut Silent)?.selection;
        let mut ranked: Vec<(usize, usize)> =
            found.ranking.iter().filter(|of| panel.contains(&of.feature)).map(|of| (of.rank, of.feature)).collect();
        ranked.sort_unstable();
        Ok(ranked.into_iter().map(|of| of.1).collect())
    }
}

/// Leaves features out whose largest mean of a class is outside the limits.
fn limit(list: &mut RuleList, table: &[Expression], settings: &MarkersSettings, part: &Part) {
    let [low, high] = settings.expression;
    let outside = |of: &&Expression| {
        let largest = of.largest();
        low.is_some_and(|low| largest < low) || high.is_some_and(|high| largest > high)
    };
    let left_out = part.ruled_out();
    list.forbid.extend(table.iter().filter(outside).map(|of| of.feature).chain(left_out.iter()));
}

/// Adds the rule that so many features are high in each class.
fn each_class(
    list: &mut RuleList,
    table: &[Expression],
    settings: &MarkersSettings,
    classes: &[String],
) -> Result<(), EvalError> {
    let least = settings.per_class;
    if least == 0 {
        return Ok(());
    }
    let mut high: Vec<Vec<usize>> = vec![Vec::new(); classes.len()];
    for of in table.iter().filter(|of| !list.forbid.contains(of.feature)) {
        high[of.highest()].push(of.feature);
    }
    for (class, features) in classes.iter().zip(high) {
        if features.len() < least {
            return Err(EvalError::FewMarkers { class: class.clone(), features: features.len(), least });
        }
        list.at_least.push((least, features));
    }
    Ok(())
}

/// Up to `most` features: those that tell the two classes of a pair best, by their means over the
/// scale of the feature, the pairs in turn; and those that rules require.
fn best_of_pairs(part: &Part, table: &[Expression], list: &RuleList, most: usize) -> Vec<usize> {
    let scale = |feature: usize| part.learnt.scaling.scale.get(feature).copied().unwrap_or(1.0);
    let k = part.target.classes.len();
    let mut orders: Vec<std::vec::IntoIter<usize>> = Vec::new();
    for a in 0..k {
        for b in a + 1..k {
            let far = |of: &Expression| (of.mean[a] - of.mean[b]).abs() / scale(of.feature);
            let allowed = table.iter().filter(|of| !list.forbid.contains(of.feature));
            let mut each: Vec<(f64, usize)> = allowed.map(|of| (far(of), of.feature)).collect();
            let kept = most.min(each.len());
            if kept < each.len() {
                each.select_nth_unstable_by(kept, |x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
                each.truncate(kept);
            }
            each.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
            orders.push(each.into_iter().map(|of| of.1).collect::<Vec<_>>().into_iter());
        }
    }
    let mut taken = vec![false; table.len()];
    let mut pool: Vec<usize> = Vec::new();
    let named = list.require.iter().chain(list.at_least.iter().flat_map(|group| group.1.iter().take(group.0)));
    for &feature in named {
        if !std::mem::replace(&mut taken[feature], true) {
            pool.push(feature);
        }
    }
    while pool.len() < most && orders.iter().any(|order| order.len() > 0) {
        for order in &mut orders {
            if let Some(feature) = order.find(|&feature| !taken[feature]) {
                taken[feature] = true;
                pool.push(feature);
            }
        }
    }
    let mut next = 0;
    while let Some(&feature) = pool.get(next) {
        let implied = list.implies.iter().filter(|pair| pair.0 == feature).map(|pair| pair.1);
        let joined = list.together.iter().filter(|group| group.contains(&feature)).flatten().copied();
        for also in implied.chain(joined) {
            if !std::mem::replace(&mut taken[also], true) {
                pool.push(also);
            }
        }
        next += 1;
    }
    pool.sort_unstable();
    pool
}
