//! The rules on what decisions leave open.

use super::shape::BUDGET_SLACK;
use super::{Choice, RuleList, Rules};
use crate::Subset;

impl Rules {
    /// The rules where no feature is chosen but `features` and what rules ask for: on the features
    /// left open, these features, and those that are fixed in. What other features gain is lost,
    /// so that they should gain nothing.
    pub(crate) fn among(&self, features: &[usize]) -> (Rules, Vec<usize>, Vec<usize>) {
        let units = &self.units;
        let mut state = self.root.clone();
        let mut stays: Vec<bool> = state.iter().map(|c| *c == Choice::In).collect();
        let asked = self.at_least.iter().flat_map(|group| &group.members).map(|m| m.0);
        let mut after: Vec<usize> = features.iter().map(|&j| units.of(j)).chain(asked).collect();
        while let Some(u) = after.pop() {
            if !std::mem::replace(&mut stays[u], true) {
                after.extend(units.needs(u));
            }
        }
        for (choice, _) in state.iter_mut().zip(&stays).filter(|(_, stays)| !**stays) {
            *choice = Choice::Out;
        }
        let satisfiable = "required features stay, so the rules stay satisfiable";
        self.propagate(&mut state).expect(satisfiable);
        let (mut rules, open) = self.narrowed(&state);
        rules.allowed = rules.subset_within(&Subset::full(open.len())).expect(satisfiable);
        (rules, open, self.chosen(&state).iter().collect())
    }

    /// The rules on the features of the units that `state` (propagated) leaves free, and these
    /// features, ascending. What they allow, with the units that are in, is what these rules allow.
    /// Bounds on weights, must-in and must-out are not among them, nor is a subset that they allow.
    pub(super) fn narrowed(&self, state: &[Choice]) -> (Rules, Vec<usize>) {
        let (units, list) = (&self.units, &self.list);
        let free = |u: usize| state[u] == Choice::Free;
        let (size, cost) = units.taken(state);
        let open = || (0..units.len()).filter(|&u| free(u));
        let mut features: Vec<usize> = open().flat_map(|u| units.features(u)).copied().collect();
        features.sort_unstable();
        let mut place = vec![usize::MAX; self.p];
        for (at, &j) in features.iter().enumerate() {
            place[j] = at;
        }
        let first = |u: usize| place[units.features(u)[0]];
        let implies = open().flat_map(|u| units.needs(u).iter().map(move |&v| (u, v)));
        let implies = implies.filter(|e| free(e.1)).map(|(u, v)| (first(u), first(v))).collect();
        let of_unit = |u: usize| units.features(u).iter().map(|&j| place[j]).collect();
        let together = open().filter(|&u| units.size(u) > 1).map(of_unit).collect();
        // As many features of each unit as the group has.
        let members = |group: &super::Group| -> Vec<usize> {
            let open = group.members.iter().filter(|m| free(m.0));
            open.flat_map(|&(u, weight)| units.features(u)[..weight].iter().map(|&j| place[j])).collect()
        };
        let list = RuleList {
            max_features: list.max_features.map(|most| most.saturating_sub(size)),
            budget: list.budget.map(|_| (self.most_cost() - cost).max(0.0) / (1.0 + BUDGET_SLACK)),
            costs: list.budget.map_or_else(Vec::new, |_| features.iter().map(|&j| list.costs[j]).collect()),
            at_most: self.at_most.iter().map(|g| (g.short(state), members(g))).filter(|g| g.0 < g.1.len()).collect(),
            at_least: self.at_least.iter().map(|g| (g.short(state), members(g))).filter(|g| g.0 > 0).collect(),
            implies,
            together,
            ..RuleList::default()
        };
        (Rules::compile(features.len(), list), features)
    }
}
