//! Samples to learn from, with the rules that they make, and eliminations on them and on halves of them.

use fewest::method::rfe::{RfeSettings, Step, rfe_classes};
use fewest::{
    AllOrFirst as _, Design as _, Error, Limits, Memory, Observer, Outcome, RuleList, Rules, Samples, Several, Silent,
    SparseDesign, Subset, SvmSettings, Yardstick,
};
use rayon::prelude::*;

use super::cover::Cover;
use super::expression::{ByClass, Expression};
use super::search::Search;
use super::settings::MarkersSettings;
use super::stable::StandIn;
use crate::error::EvalError;
use crate::folds::halves;
use crate::part::{Data, TrainingPart};
use crate::time::Deadline;

/// Share of the features left that leave in a step of the elimination, one at least.
const STEP: f64 = 0.03;
/// Relative gap of its trainings.
const ROUGHLY: f64 = 1e-4;
/// Stored values times classes above which an elimination is done in short: ...
const LARGE: f64 = 1e6;
/// ... on this many samples, of each class as many,
const FEW: usize = 5_000;
/// in larger steps,
const LONG_STEP: f64 = 0.1;
/// and from this many features for each marker, but no fewer than the second number.
const LONG_POOL: [usize; 2] = [10, 500];
/// Samples that halves are drawn from at most, of each class as many.
const HALVES: usize = 4_000;
/// Features that eliminations of halves begin with, for each marker, but no fewer than the second number;
const HALF_POOL: [usize; 2] = [4, 200];
/// they go in steps of this share.
const HALF_STEP: f64 = 0.2;
/// Features most like a marker that may take its place.
const NEAR: usize = 5;

/// Samples to learn from, with what they say of the rules.
pub(crate) struct MarkerPart<'a> {
    pub(crate) part: TrainingPart,
    /// The samples, of all that were read.
    pub(crate) by_class: ByClass,
    settings: &'a MarkersSettings,
    memory: Memory,
    rules: Rules,
    cover: Cover,
    /// The features that an elimination in short begins with; none: all, in full.
    pool: Option<Vec<usize>>,
    /// Share of the features left that leave in a step of an elimination, one at least.
    step: f64,
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
        let part = TrainingPart::new(data, rows, &settings.preparation, memory)?;
        let by_class = ByClass::new(&data.target.codes, data.weights, rows, data.target.classes.len());
        let mut list = settings.rules.clone();
        if settings.per_class > 0 || settings.expression != [None, None] {
            let all: Vec<usize> = (0..data.features.n_features()).collect();
            let table = by_class.expressions(data.features.as_design(), &all);
            limit(&mut list, &table, settings, &part, names)?;
            each_class(&mut list, &table, settings, &data.target.classes)?;
        }
        let rules = part.rules(list, names)?;
        let mut cover = Cover::default();
        if settings.robust > 0 {
            let (table, left_out) = (scaled_means(&part), &rules.list().forbid);
            cover = Cover::new(&table, left_out, &part.target.classes, settings.robust + 1)?;
        }
        let large = part.design().stored() as f64 * data.target.classes.len() as f64 > LARGE;
        let pool = large.then(|| pool(&part, rules.list(), LONG_POOL));
        let step = if pool.is_some() { LONG_STEP } else { STEP };
        Ok(Self { part, by_class, settings, memory: memory.clone(), rules, cover, pool, step })
    }

    /// The samples under the rule of another size.
    ///
    /// # Errors
    /// A size that the rules contradict.
    pub(crate) fn resize(&mut self, size: usize, names: &[String]) -> Result<(), Error> {
        self.rules = self.part.rules(RuleList { max_features: Some(size), ..self.settings.rules.clone() }, names)?;
        self.pool = self.pool.is_some().then(|| pool(&self.part, self.rules.list(), LONG_POOL));
        Ok(())
    }

    /// A half of the samples, under the same rules; none where a class or a required feature has nothing
    /// to say there.
    fn half(&self, data: &Data<'_>, rows: &[usize], names: &[String]) -> Result<Option<Self>, EvalError> {
        if data.target.rows(rows).counts().contains(&0) {
            return Ok(None);
        }
        let part = TrainingPart::new(data, rows, &self.settings.preparation, &self.memory)?;
        let Ok(rules) = part.rules(self.rules.list().clone(), names) else { return Ok(None) };
        let by_class = ByClass::new(&data.target.codes, data.weights, rows, data.target.classes.len());
        let pool = Some(pool(&part, rules.list(), HALF_POOL));
        let memory = self.memory.clone();
        let cover = Cover::default();
        Ok(Some(Self { part, by_class, settings: self.settings, memory, rules, cover, pool, step: HALF_STEP }))
    }

    /// The share of halves of these rows, the samples of the part, whose elimination keeps each feature, 0
    /// where no half can be learnt from; none where time ends before all are done. Groups are in one half
    /// each, where they allow that.
    pub(crate) fn recurs(
        &self,
        data: &Data<'_>,
        rows: &[usize],
        names: &[String],
        deadline: &Deadline,
    ) -> Result<Option<Vec<f64>>, EvalError> {
        let (pairs, seed) = (self.settings.halves / 2, self.settings.seed);
        let few: Vec<usize> = match self.pool {
            Some(_) => fewest_data::sampled(&self.part.target, HALVES, seed).into_iter().map(|at| rows[at]).collect(),
            None => rows.to_vec(),
        };
        let strata = data.strata().rows(&few);
        let of_groups = data.groups_of(&few).map(|groups| halves(&strata, Some(&groups), pairs, seed));
        let of_samples = || halves(&strata, None, pairs, seed);
        let dealt = of_groups.filter(Result::is_ok).unwrap_or_else(of_samples)?;
        let keeps = |at: &Vec<usize>| -> Result<Option<Vec<usize>>, EvalError> {
            let rows: Vec<usize> = at.iter().map(|&at| few[at]).collect();
            if deadline.stop().is_some() {
                return Ok(None);
            }
            let Some(half) = self.half(data, &rows, names)? else { return Ok(Some(Vec::new())) };
            let found = half.eliminate(&half.svm(), deadline.limits(1.0))?;
            Ok((!found.status.is_limit() && !deadline.cancelled()).then(|| found.features()))
        };
        let kept = dealt.par_iter().flatten().map(keeps).all_or_first::<Vec<_>>()?;
        let Some(kept) = kept.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let known = kept.iter().filter(|features| !features.is_empty()).count();
        let mut count = vec![0.0; self.rules.p()];
        kept.iter().flatten().for_each(|&j| count[j] += 1.0);
        Ok(Some(count.into_iter().map(|count| count / known.max(1) as f64).collect()))
    }

    /// The panel that stands what may be lost, and whose features recur more, where there is one within
    /// the slack; `recurs` is known where that is asked for.
    pub(crate) fn settle(
        &self,
        found: Outcome,
        recurs: Option<&[f64]>,
        svm: &SvmSettings,
        deadline: &Deadline,
    ) -> Result<Outcome, EvalError> {
        self.searching(svm, |search| {
            let found = search.stand(found, &deadline.clock())?;
            match recurs {
                Some(recurs) => Ok(search.settle(found, recurs, self.settings.slack, &deadline.clock())?),
                None => Ok(found),
            }
        })
    }

    /// What can take the place of each feature of a panel of this objective.
    pub(crate) fn stand_ins(
        &self,
        panel: (&[usize], f64, Yardstick),
        svm: &SvmSettings,
        deadline: &Deadline,
    ) -> Result<Vec<Vec<StandIn>>, Error> {
        let near = self.near(panel.0)?;
        self.searching(svm, |search| {
            panel.0.iter().zip(near).map(|(&j, near)| search.stand_ins(panel, j, &near, &deadline.clock())).collect()
        })
    }

    /// The features most like each of the panel: of largest squared correlation.
    fn near(&self, panel: &[usize]) -> Result<Vec<Vec<usize>>, Error> {
        let (n, p) = (self.part.weights.len(), self.part.design().n_features());
        let rows: Vec<usize> = if self.pool.is_some() {
            fewest_data::sampled(&self.part.target, FEW, self.settings.seed)
        } else {
            (0..n).collect()
        };
        let columns = self.columns(&(0..p).collect::<Vec<usize>>(), &rows)?;
        let mut values = vec![0.0; rows.len() * panel.len()];
        for (column, &j) in values.chunks_mut(rows.len()).zip(panel) {
            columns.add_column(j, 1.0, column);
            let mean = column.iter().sum::<f64>() / rows.len() as f64;
            for value in column {
                *value -= mean;
            }
        }
        let allowed = |j: usize| !self.rules.list().forbid.contains(j) && !panel.contains(&j);
        let alike: Vec<Vec<f64>> = (0..p)
            .into_par_iter()
            .map(|j| {
                if !allowed(j) {
                    return Vec::new();
                }
                let (mut sum, mut squares, mut products) = (0.0, 0.0, vec![0.0; panel.len()]);
                columns.each_in_column(j, &mut |i, x| {
                    sum += x;
                    squares += x * x;
                    products.iter_mut().zip(values.chunks(rows.len())).for_each(|(sum, column)| *sum += x * column[i]);
                });
                let variance = squares - sum * sum / rows.len() as f64;
                products.iter().map(|of| if variance > 0.0 { of * of / variance } else { 0.0 }).collect()
            })
            .collect();
        let nearest = |at: usize| {
            let mut each: Vec<(f64, usize)> = alike
                .iter()
                .enumerate()
                .filter_map(|(j, of)| Some((*of.get(at)?, j)))
                .filter(|of| of.0 > 0.0)
                .collect();
            each.sort_unstable_by(|x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
            each.into_iter().take(NEAR).map(|of| of.1).collect()
        };
        Ok((0..panel.len()).map(nearest).collect())
    }

    /// The SVM.
    pub(crate) fn svm(&self) -> SvmSettings {
        let total: f64 = self.part.weights.iter().sum();
        let cost =
            self.settings.cost.unwrap_or(self.settings.class_cost * self.part.target.classes.len() as f64 / total);
        SvmSettings { cost, loss: self.settings.loss, memory: self.settings.memory, ..SvmSettings::default() }
    }

    /// The best panel that is found at this SVM, from one of an elimination, and the bound.
    pub(crate) fn search(
        &self,
        begun: Option<Subset>,
        svm: &SvmSettings,
        deadline: &Deadline,
        exact: Option<&Limits>,
        observer: &mut dyn Observer,
    ) -> Result<Outcome, Error> {
        self.searching(svm, |search| search.panel(begun, deadline, exact, observer))
    }

    /// The objective of a list of features.
    pub(crate) fn objective(&self, list: &[usize], svm: &SvmSettings, deadline: &Deadline) -> Result<f64, Error> {
        let subset = Subset::from_indices(self.rules.p(), list.iter().copied());
        self.searching(svm, |search| search.objective(&search.several.problems(), &subset, &deadline.clock()))
    }

    /// What `of` makes of a search on all samples.
    fn searching<T, E: From<Error>>(
        &self,
        svm: &SvmSettings,
        of: impl FnOnce(&Search<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let samples = self.weighed(self.part.samples()?);
        let several = &Several::of(&samples, self.settings.multi_class, &self.rules, &self.memory)?;
        of(&Search { several, rules: &self.rules, cover: &self.cover, svm })
    }

    /// The panel of an elimination at this SVM; none where the rules allow none.
    pub(crate) fn eliminate(&self, svm: &SvmSettings, limits: Limits) -> Result<Outcome, Error> {
        let svm = SvmSettings { tolerance: ROUGHLY, ..svm.clone() };
        let step = Step::Remaining(self.step);
        let settings = RfeSettings { svm, step, start: self.pool.clone(), ..RfeSettings::default() };
        let rank = |samples: &Samples<'_>| rfe_classes(samples, &self.rules, &settings, limits, &mut Silent);
        Ok(self.with_few(self.pool.as_deref().unwrap_or_default(), rank)?.selection.outcome)
    }

    /// The order of the features of a panel: the last one left by an elimination among them is the
    /// first.
    pub(crate) fn order(&self, panel: &[usize], svm: &SvmSettings, limits: Limits) -> Result<Vec<usize>, Error> {
        let svm = SvmSettings { tolerance: ROUGHLY, ..svm.clone() };
        let settings = RfeSettings { svm, start: Some(panel.to_vec()), ..RfeSettings::default() };
        let rules = Rules::new(self.rules.p(), RuleList { max_features: Some(1), ..RuleList::default() }, &[])?;
        let rank = |samples: &Samples<'_>| rfe_classes(samples, &rules, &settings, limits, &mut Silent);
        let mut kept = panel.to_vec();
        kept.sort_unstable();
        let found = self.with_few(&kept, rank)?.selection;
        let mut ranked: Vec<(usize, usize)> =
            found.ranking.iter().filter(|of| panel.contains(&of.feature)).map(|of| (of.rank, of.feature)).collect();
        ranked.sort_unstable();
        Ok(ranked.into_iter().map(|of| of.1).collect())
    }

    /// The problem of the samples, or of few of them in these features alone, whose classes weigh
    /// what they weigh in all.
    fn with_few<T>(&self, kept: &[usize], of: impl FnOnce(&Samples<'_>) -> Result<T, Error>) -> Result<T, Error> {
        if self.pool.is_none() {
            return of(&self.weighed(self.part.samples()?));
        }
        let (target, weights) = (&self.part.target, &self.part.weights);
        let rows = fewest_data::sampled(target, FEW, self.settings.seed);
        let mut share = vec![[0.0; 2]; target.classes.len()];
        target.codes.iter().zip(weights).for_each(|(&code, weight)| share[code as usize][0] += weight);
        for &i in &rows {
            share[target.codes[i] as usize][1] += weights[i];
        }
        let codes: Vec<u32> = rows.iter().map(|&i| target.codes[i]).collect();
        let weigh = |&i: &usize| weights[i] * share[target.codes[i] as usize][0] / share[target.codes[i] as usize][1];
        let weights: Vec<f64> = rows.iter().map(weigh).collect();
        of(&self.weighed(Samples::new(&self.columns(kept, &rows)?, &codes, Some(&weights))?))
    }

    /// Samples whose pairs of classes weigh what the hierarchy says.
    fn weighed<'s>(&self, samples: Samples<'s>) -> Samples<'s> {
        match self.settings.pair_weights(&self.part.target) {
            Some(weights) => samples.weighing_pairs(|a, b| weights[a as usize][b as usize]),
            None => samples,
        }
    }

    /// The values of these samples, ascending, in these features, ascending; the others are empty.
    fn columns(&self, kept: &[usize], rows: &[usize]) -> Result<SparseDesign<'static>, Error> {
        let design = self.part.design();
        let mut place = vec![None; design.n_samples()];
        rows.iter().enumerate().for_each(|(at, &i)| place[i] = Some(at as u32));
        let column = |&j: &usize| {
            let mut values: Vec<(u32, f64)> = Vec::new();
            design.each_in_column(j, &mut |i, x| values.extend(place[i].map(|at| (at, x))));
            values
        };
        let columns: Vec<Vec<(u32, f64)>> = kept.par_iter().map(column).collect();
        let mut lengths = vec![0; design.n_features()];
        kept.iter().zip(&columns).for_each(|(&j, column)| lengths[j] = column.len());
        let ends = lengths.iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        let start: Vec<usize> = std::iter::once(0).chain(ends).collect();
        let (places, values): (Vec<u32>, Vec<f64>) = columns.into_iter().flatten().unzip();
        SparseDesign::new(rows.len(), start, places, values)
    }
}

/// The features that an elimination in short begins with, ascending.
fn pool(part: &TrainingPart, list: &RuleList, [each, least]: [usize; 2]) -> Vec<usize> {
    best_of_pairs(&scaled_means(part), list, (each * list.max_features.unwrap_or(0)).max(least))
}

/// What each scaled feature is in each class, by the weights of the samples.
fn scaled_means(part: &TrainingPart) -> Vec<Expression> {
    let design = part.design();
    let (rows, all): (Vec<usize>, Vec<usize>) = ((0..part.weights.len()).collect(), (0..design.n_features()).collect());
    let by_class = ByClass::new(&part.target.codes, &part.sample_weights, &rows, part.target.classes.len());
    by_class.expressions(design, &all)
}

/// Leaves features out whose largest mean of a class is outside the limits.
///
/// # Errors
/// No feature is inside, or one that is required is not.
fn limit(
    list: &mut RuleList,
    table: &[Expression],
    settings: &MarkersSettings,
    part: &TrainingPart,
    names: &[String],
) -> Result<(), EvalError> {
    let [low, high] = settings.expression;
    let side = |limit: Option<f64>| limit.map_or_else(String::new, |limit| limit.to_string());
    let window = || format!("{}..{}", side(low), side(high));
    let outside = |of: &&Expression| {
        let largest = of.largest();
        low.is_some_and(|low| largest < low) || high.is_some_and(|high| largest > high)
    };
    if !table.is_empty() && table.iter().all(|of| outside(&of)) {
        let ends = table
            .iter()
            .map(Expression::largest)
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[least, most], mean| [least.min(mean), most.max(mean)]);
        let range = format!(
            "limits that leave a feature: the largest means of a class are from {:.4} to {:.4} here",
            ends[0], ends[1]
        );
        return Err(Error::setting("expression", window(), range).into());
    }
    if let Some(of) = table.iter().filter(outside).find(|of| list.require.contains(&of.feature)) {
        let name = names.get(of.feature).map_or_else(|| format!("feature {}", of.feature), Clone::clone);
        return Err(Error::Rules(format!(
            "{name} is required, but its largest mean of a class, {:.4}, is outside `expression` {}; widen that, or do not require it",
            of.largest(),
            window()
        ))
        .into());
    }
    let left_out = part.ruled_out();
    list.forbid.extend(table.iter().filter(outside).map(|of| of.feature).chain(left_out.iter()));
    Ok(())
}

/// Adds the rule that `per_class` features are high in each class.
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

/// Up to `most` features: those whose scaled means are farthest apart in the two classes of a pair,
/// the pairs in turn; and those that rules require.
fn best_of_pairs(table: &[Expression], list: &RuleList, most: usize) -> Vec<usize> {
    let k = table.first().map_or(0, |of| of.mean.len());
    let mut orders: Vec<std::vec::IntoIter<usize>> = Vec::new();
    for a in 0..k {
        for b in a + 1..k {
            let far = |of: &Expression| (of.mean[a] - of.mean[b]).abs();
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
