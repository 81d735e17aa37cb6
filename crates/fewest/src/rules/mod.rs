//! Rules on the chosen features: size, budget, must-in, must-out, implications, groups. The only
//! place constraints live.
//!
//! Features that imply each other (through `together` or a cycle of implications) are one *unit*:
//! they are in or out together. Elimination asks [`Rules::subset_within`], masters that sort ask
//! [`Rules::best_subset`], trees ask [`Rules::propagate`], and MIP masters read [`Rules::rows`].
//! Contradictions are found in [`Rules::new`].
//!
//! | file | subject |
//! | --- | --- |
//! | `shape.rs` | whether the rules are more than a size; the room a budget leaves for rounding |
//! | `propagate.rs` | what follows from decisions; a small allowed subset |
//! | `best_subset.rs` | the allowed subset of largest gain |
//! | `first_subset.rs` | a subset that gains nearly as much, in one walk and some exchanges |
//! | `relaxed.rs` | what no allowed subset gains more than, by prices on size and budget |
//! | `restricted.rs` | the rules on what decisions leave open |
//! | `conflict.rs` | messages that name rules which contradict each other |
//! | `broken.rs` | the rules that a subset breaks |
//! | `units.rs`, `components.rs` | features that are in or out together |

mod best_subset;
mod broken;
mod components;
mod conflict;
mod cover;
mod first_subset;
mod propagate;
mod relaxed;
mod restricted;
mod shape;
mod units;

use crate::{Error, FeatureSet, Subset, WeightBound, WeightBounds};
pub use best_subset::SubsetGain;
use conflict::listed;
use cover::Missing;
pub use propagate::Contradiction;
pub use shape::Shape;
use units::Units;

/// The rules as a user states them; feature indices count from 0.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleList {
    /// At most this many features (K).
    pub max_features: Option<usize>,
    /// Features that must be in.
    pub require: Vec<usize>,
    /// Features that must be out.
    pub forbid: FeatureSet,
    /// Pairs (a, b): if a is in, b must be in.
    pub implies: Vec<(usize, usize)>,
    /// (m, group): at most m of the group.
    pub at_most: Vec<(usize, Vec<usize>)>,
    /// (m, group): at least m of the group.
    pub at_least: Vec<(usize, Vec<usize>)>,
    /// Groups that are in or out as a whole.
    pub together: Vec<Vec<usize>>,
    /// Sum of the costs of the chosen features is at most this.
    pub budget: Option<f64>,
    /// Cost of each feature, length p, each 0 or more; needed with a budget.
    pub costs: Vec<f64>,
    /// Bounds on weights; features that are not named are free.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weights: Vec<WeightBound>,
}

impl RuleList {
    /// The features that must be in, then those that must be out.
    fn decided(&self) -> impl Iterator<Item = (usize, Choice)> + '_ {
        let required = self.require.iter().map(|&j| (j, Choice::In));
        required.chain(self.forbid.iter().map(|j| (j, Choice::Out)))
    }
}

/// State of a unit while a search decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Choice {
    /// Not decided.
    Free,
    /// Chosen.
    In,
    /// Left out.
    Out,
}

/// One linear row `sum coefficient_j z_j <= upper` over features.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearRow {
    /// (feature, coefficient)
    pub coefficients: Vec<(usize, f64)>,
    /// Right side.
    pub upper: f64,
}

/// A group with a count over its features, as (unit, features of the group inside it).
#[derive(Debug, Clone)]
struct Group {
    count: usize,
    members: Vec<(usize, usize)>,
}

/// Checked rules for p features.
#[derive(Debug, Clone)]
pub struct Rules {
    p: usize,
    list: RuleList,
    units: Units,
    at_most: Vec<Group>,
    at_least: Vec<Group>,
    /// Decisions that follow from the rules alone, by unit.
    root: Vec<Choice>,
    shape: Shape,
    most_features: usize,
    /// A subset that satisfies every rule.
    allowed: Subset,
    weights: WeightBounds,
}

impl Rules {
    /// No rule but the size.
    ///
    /// # Errors
    /// [`Error::Rules`] when K is 0 or above p.
    pub fn at_most_features(p: usize, max_features: usize) -> Result<Self, Error> {
        Self::new(p, RuleList { max_features: Some(max_features), ..RuleList::default() }, &[])
    }

    /// No rule at all.
    pub fn none(p: usize) -> Self {
        let list = RuleList::default();
        let root = vec![Choice::Free; p];
        let (shape, most_features, allowed) = (Shape::Free, p, Subset::empty(p));
        Self {
            p,
            list,
            units: Units::single(p),
            at_most: vec![],
            at_least: vec![],
            root,
            shape,
            most_features,
            allowed,
            weights: WeightBounds::default(),
        }
    }

    /// Checks the rules and finds contradictions. `names` (length p, or empty for `x1`, `x2`, ...)
    /// are for messages.
    ///
    /// # Errors
    /// [`Error::Rules`] naming the rule, the features and the remedy.
    pub fn new(p: usize, list: RuleList, names: &[String]) -> Result<Self, Error> {
        let name = |j: usize| names.get(j).cloned().unwrap_or_else(|| format!("x{}", j + 1));
        check(p, &list, &name)?;
        let weights = WeightBounds::new(p, &list.weights, &name)?;
        let mut rules = Self { weights, ..Self::compile(p, list) };
        rules.decide_listed(&name)?;
        let mut root = rules.root.clone();
        if let Err(why) = rules.propagate(&mut root) {
            return Err(Error::Rules(rules.explain(&why, &name)));
        }
        rules.root = root;
        match rules.search_within(&Subset::full(p)) {
            Ok(allowed) => rules.allowed = allowed,
            Err(Missing::Proven) => return Err(Error::Rules(rules.conflict(&name))),
            Err(Missing::Unknown) => {
                let most =
                    rules.list.max_features.map_or_else(String::new, |most| format!(" of at most {most} features"));
                return Err(Error::Rules(format!(
                    "no subset{most} was found that satisfies all {} groups of which some features must be in, and a long search could not say that there is none; allow more features, or ask for fewer groups",
                    rules.at_least.len()
                )));
            }
        }
        Ok(rules)
    }

    /// With these bounds on weights, of as many features; the list does not name them.
    pub(crate) fn with_weight_bounds(self, weights: WeightBounds) -> Self {
        Self { weights, ..self }
    }

    /// Puts what must be in and what must be out into the root.
    fn decide_listed(&mut self, name: &dyn Fn(usize) -> String) -> Result<(), Error> {
        for (j, choice) in self.list.decided() {
            let unit = self.units.of(j);
            if self.root[unit] != Choice::Free && self.root[unit] != choice {
                return Err(Error::Rules(format!(
                    "{} is both required and forbidden (directly, or through together or implies)",
                    name(j)
                )));
            }
            self.root[unit] = choice;
        }
        Ok(())
    }

    /// Units (strongly connected implications), groups over units; nothing decided yet.
    fn compile(p: usize, list: RuleList) -> Self {
        let mut edges: Vec<(usize, usize)> = list.implies.clone();
        for group in &list.together {
            edges.extend(group.windows(2).flat_map(|w| [(w[0], w[1]), (w[1], w[0])]));
        }
        let units = Units::new(p, &edges, &list.costs);
        let group = |(count, features): &(usize, Vec<usize>)| {
            let mut distinct = features.clone();
            distinct.sort_unstable();
            distinct.dedup();
            let mut of: Vec<usize> = distinct.into_iter().map(|j| units.of(j)).collect();
            of.sort_unstable();
            let members = of.chunk_by(|a, b| a == b).map(|same| (same[0], same.len())).collect();
            Group { count: *count, members }
        };
        let groups = |listed: &[(usize, Vec<usize>)]| listed.iter().map(group).collect::<Vec<Group>>();
        let (at_most, at_least) = (groups(&list.at_most), groups(&list.at_least));
        let root = vec![Choice::Free; units.len()];
        let (shape, most_features) = shape::shape(p, &list, &units, &at_most, &at_least);
        let (allowed, weights) = (Subset::empty(p), WeightBounds::default());
        Self { p, list, units, at_most, at_least, root, shape, most_features, allowed, weights }
    }

    /// Number of features p.
    pub fn p(&self) -> usize {
        self.p
    }

    /// Whether the rules are for this many features.
    ///
    /// # Errors
    /// [`Error::Rules`] with both numbers.
    #[doc(hidden)]
    pub fn check_features(&self, p: usize) -> Result<(), Error> {
        if self.p == p {
            return Ok(());
        }
        Err(Error::Rules(format!("the rules are for {} features, but the data have {p}", self.p)))
    }

    /// Bounds on the weights of the SVM. They change what a subset is worth, not which are allowed.
    pub fn weight_bounds(&self) -> &WeightBounds {
        &self.weights
    }

    /// Refuses bounds on weights, for what does not obey them.
    ///
    /// # Errors
    /// [`Error::Rules`] when some weight is bounded.
    pub(crate) fn without_weight_bounds(&self) -> Result<(), Error> {
        if self.weights.is_free() {
            return Ok(());
        }
        Err(Error::Rules("the rules bound weights, which this method does not obey; leave the bounds out".into()))
    }

    /// The rules as stated.
    pub fn list(&self) -> &RuleList {
        &self.list
    }

    /// Number of units.
    pub fn n_units(&self) -> usize {
        self.units.len()
    }

    /// Features of a unit, ascending.
    pub fn unit(&self, unit: usize) -> &[usize] {
        self.units.features(unit)
    }

    /// The unit that holds feature j.
    pub fn unit_of(&self, j: usize) -> usize {
        self.units.of(j)
    }

    /// Units that must leave before this one may (they imply it).
    pub fn needed_by(&self, unit: usize) -> &[usize] {
        self.units.needed_by(unit)
    }

    /// Decisions that follow from the rules alone, by unit.
    pub fn root(&self) -> &[Choice] {
        &self.root
    }

    /// Whether the subset satisfies every rule.
    pub fn allows(&self, subset: &Subset) -> bool {
        let count = |group: &[usize]| {
            let mut distinct: Vec<usize> = group.iter().copied().filter(|&j| subset.contains(j)).collect();
            distinct.sort_unstable();
            distinct.dedup();
            distinct.len()
        };
        let list = &self.list;
        list.max_features.is_none_or(|k| subset.len() <= k)
            && list.require.iter().all(|&j| subset.contains(j))
            && !subset.iter().any(|j| list.forbid.contains(j))
            && list.implies.iter().all(|&(a, b)| !subset.contains(a) || subset.contains(b))
            && list.at_most.iter().all(|(m, group)| count(group) <= *m)
            && list.at_least.iter().all(|(m, group)| count(group) >= *m)
            && list
                .together
                .iter()
                .all(|group| group.windows(2).all(|w| subset.contains(w[0]) == subset.contains(w[1])))
            && (list.budget.is_none() || subset.iter().map(|j| list.costs[j]).sum::<f64>() <= self.most_cost())
    }

    /// The features that are in.
    #[doc(hidden)]
    pub fn chosen(&self, state: &[Choice]) -> Subset {
        let units = state.iter().enumerate().filter(|(_, c)| **c == Choice::In);
        Subset::from_indices(self.p, units.flat_map(|(u, _)| self.units.features(u).iter().copied()))
    }

    /// What the budget's row is multiplied by: a power of two that brings the largest cost near 1,
    /// as solvers have absolute tolerances.
    pub(crate) fn budget_scale(&self) -> f64 {
        let largest = self.list.costs.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 { (-largest.log2().floor()).clamp(-1000.0, 1000.0).exp2() } else { 1.0 }
    }

    /// The rules as linear rows over the features, for a MIP.
    pub fn rows(&self) -> Vec<LinearRow> {
        let list = &self.list;
        let mut rows = Vec::new();
        let sum = |features: &[usize], sign: f64| -> Vec<(usize, f64)> {
            let mut distinct = features.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            distinct.into_iter().map(|j| (j, sign)).collect()
        };
        let mut push = |coefficients: Vec<(usize, f64)>, upper: f64| rows.push(LinearRow { coefficients, upper });
        if let Some(k) = list.max_features {
            push((0..self.p).map(|j| (j, 1.0)).collect(), k as f64);
        }
        if list.budget.is_some() {
            let scale = self.budget_scale();
            let costs = list.costs.iter().map(|cost| scale * cost).enumerate();
            push(costs.filter(|c| c.1 != 0.0).collect(), scale * self.most_cost());
        }
        list.require.iter().for_each(|&j| push(vec![(j, -1.0)], -1.0));
        list.forbid.iter().for_each(|j| push(vec![(j, 1.0)], 0.0));
        list.implies.iter().filter(|(a, b)| a != b).for_each(|&(a, b)| push(vec![(a, 1.0), (b, -1.0)], 0.0));
        list.at_most.iter().for_each(|(m, g)| push(sum(g, 1.0), *m as f64));
        list.at_least.iter().for_each(|(m, g)| push(sum(g, -1.0), -(*m as f64)));
        for group in &list.together {
            for w in group.windows(2).filter(|w| w[0] != w[1]) {
                push(vec![(w[0], 1.0), (w[1], -1.0)], 0.0);
                push(vec![(w[0], -1.0), (w[1], 1.0)], 0.0);
            }
        }
        rows
    }
}

impl Group {
    /// Number of features.
    fn features(&self) -> usize {
        self.members.iter().map(|m| m.1).sum()
    }

    fn count_where(&self, state: &[Choice], is: impl Fn(Choice) -> bool) -> usize {
        self.members.iter().filter(|m| is(state[m.0])).map(|m| m.1).sum()
    }

    /// How many features short of its count those that are in leave it.
    fn short(&self, state: &[Choice]) -> usize {
        self.count.saturating_sub(self.count_where(state, |c| c == Choice::In))
    }
}

/// Checks numbers and indices of the rules as stated.
fn check(p: usize, list: &RuleList, name: &dyn Fn(usize) -> String) -> Result<(), Error> {
    let fail = |text: String| Err(Error::Rules(text));
    if let Some(k) = list.max_features
        && (k == 0 || k > p)
    {
        return fail(format!("`max_features` is {k}, but must be between 1 and the number of features, {p}"));
    }
    let groups = list.at_most.iter().chain(&list.at_least).map(|g| &g.1).chain(&list.together);
    let pairs = list.implies.iter().flat_map(|&(a, b)| [a, b]);
    let mentioned = list.decided().map(|decided| decided.0).chain(pairs).chain(groups.flatten().copied());
    if let Some(j) = mentioned.into_iter().find(|&j| j >= p) {
        return fail(format!("a rule names feature index {j}, but there are {p} features, counted from 0"));
    }
    if let Some(budget) = list.budget {
        if !(budget >= 0.0 && budget.is_finite()) {
            return fail(format!("budget is {budget}, but must be a finite number, 0 or more"));
        }
        if list.costs.len() != p {
            return fail(format!(
                "the budget needs a cost for each of the {p} features, but {} are given",
                list.costs.len()
            ));
        }
    }
    if let Some(j) = list.costs.iter().position(|&c| !(c >= 0.0 && c.is_finite())) {
        return fail(format!("the cost of {} is {}, but must be a finite number, 0 or more", name(j), list.costs[j]));
    }
    for (m, group) in &list.at_least {
        let mut distinct = group.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if *m > distinct.len() {
            return fail(format!(
                "at least {m} of {} must be in, but the group has {}; name more features or lower the count",
                listed(&distinct, &name),
                distinct.len()
            ));
        }
    }
    Ok(())
}
