//! What the rules amount to: nothing between features, a size, or more; and what a budget allows.

use super::units::Units;
use super::{Group, RuleList, Rules};

/// Shape of the rules besides must-in and must-out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Every feature may be chosen or left out whatever the others are.
    Free,
    /// At most this many features, and nothing else between features. A budget under which all
    /// features cost the same, and an at-most group of all features, state a size.
    Size(usize),
    /// Anything else.
    General,
}

/// The share of a budget by which a sum of costs may exceed it through rounding.
pub(super) const BUDGET_SLACK: f64 = 1e-9;

impl Rules {
    /// Shape of the rules besides must-in and must-out.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether no rule but a size, must-in and must-out relates features to each other: then the
    /// best subset is a sort.
    pub fn is_sort(&self) -> bool {
        self.shape != Shape::General
    }

    /// At most this many features may be chosen, by the size rule or another that amounts to one; p
    /// without any.
    pub fn most_features(&self) -> usize {
        self.most_features
    }

    /// Largest cost of the chosen features, room for rounding included; infinite without a budget.
    pub fn most_cost(&self) -> f64 {
        most_cost(&self.list)
    }
}

/// See [`Rules::most_cost`].
pub(super) fn most_cost(list: &RuleList) -> f64 {
    list.budget.map_or(f64::INFINITY, |budget| budget * (1.0 + BUDGET_SLACK))
}

/// The shape, and the most features that any rule which amounts to a size allows.
pub(super) fn shape(p: usize, list: &RuleList, units: &Units, at_most: &[Group], at_least: &[Group]) -> (Shape, usize) {
    let budget = BudgetKind::new(p, list);
    let over_all = |group: &&Group| group.features() == p;
    let sizes = at_most.iter().filter(over_all).map(|group| group.count);
    let most = sizes.chain(list.max_features).chain(budget.size()).min();
    let separate = units.len() == p && (0..p).all(|u| units.needs(u).is_empty());
    let groups = at_most.iter().all(|group| group.features() == p || group.count >= group.features())
        && at_least.iter().all(|group| group.count == 0);
    let shape = match most {
        _ if !separate || !groups || budget == BudgetKind::General => Shape::General,
        Some(most) => Shape::Size(most.min(p)),
        None => Shape::Free,
    };
    (shape, most.map_or(p, |most| most.min(p)))
}

/// What a budget amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BudgetKind {
    /// All features together are within it, or there is none.
    Absent,
    /// All features cost the same, and this many are within the budget.
    Size(usize),
    /// Anything else.
    General,
}

impl BudgetKind {
    fn new(p: usize, list: &RuleList) -> Self {
        let (most, costs) = (most_cost(list), &list.costs);
        if list.budget.is_none() || p == 0 || costs.iter().sum::<f64>() <= most {
            return Self::Absent;
        }
        // The costs are above 0 here, or their sum would be within the budget.
        if costs.iter().all(|cost| *cost == costs[0]) {
            return Self::Size((most / costs[0]).floor() as usize);
        }
        Self::General
    }

    fn size(self) -> Option<usize> {
        match self {
            Self::Size(size) => Some(size),
            Self::Absent | Self::General => None,
        }
    }
}
