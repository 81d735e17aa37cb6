//! Messages that name the rules which contradict each other.

use super::cover::Missing;
use super::{Choice, Contradiction, RuleList, Rules};
use crate::Subset;

/// With more rules than this a contradiction between several of them is not traced to the fewest
/// that make it.
const CONFLICT_RULES: usize = 200;

/// `{a, b, ...}` with at most five names.
pub(super) fn listed(features: &[usize], name: &dyn Fn(usize) -> String) -> String {
    let names: Vec<String> = features.iter().take(5).map(|&j| name(j)).collect();
    format!("{{{}{}}}", names.join(", "), if features.len() > 5 { ", ..." } else { "" })
}

impl Rules {
    /// Names rules that contradict each other although no single one does: each rule in turn is
    /// dropped when the others still contradict each other without it, so that every rule
    /// named is needed for the contradiction.
    pub(super) fn conflict(&self, name: &dyn Fn(usize) -> String) -> String {
        let mut list = self.list.clone();
        let count = list.require.len() + list.forbid.len() + list.implies.len() + list.together.len();
        if count + list.at_most.len() + list.at_least.len() > CONFLICT_RULES {
            return "the rules contradict each other: no subset satisfies them all; leave one out".to_owned();
        }
        let contradictory = |list: &RuleList| !Self::satisfiable(self.p, list.clone());
        let without = |list: &mut RuleList, drop: &dyn Fn(&mut RuleList)| {
            let mut fewer = list.clone();
            drop(&mut fewer);
            let dropped = contradictory(&fewer);
            if dropped {
                *list = fewer;
            }
            dropped
        };
        without(&mut list, &|l| l.max_features = None);
        without(&mut list, &|l| l.budget = None);
        macro_rules! thin {
            ($field:ident) => {
                let mut at = 0;
                while at < list.$field.len() {
                    if !without(&mut list, &|l| _ = l.$field.remove(at)) {
                        at += 1;
                    }
                }
            };
        }
        for j in list.forbid.iter().collect::<Vec<_>>() {
            without(&mut list, &|l| _ = l.forbid.remove(j));
        }
        thin!(require);
        thin!(implies);
        thin!(together);
        thin!(at_most);
        thin!(at_least);
        let mut said = Vec::new();
        said.extend(list.max_features.map(|k| format!("`max_features` {k}")));
        said.extend(list.budget.map(|b| format!("budget {b}")));
        said.extend(list.require.iter().map(|&j| format!("require {}", name(j))));
        said.extend(list.forbid.iter().map(|j| format!("forbid {}", name(j))));
        said.extend(list.implies.iter().map(|&(a, b)| format!("{} implies {}", name(a), name(b))));
        said.extend(list.together.iter().map(|g| format!("{} together", listed(g, name))));
        said.extend(list.at_most.iter().map(|(m, g)| format!("at most {m} of {}", listed(g, name))));
        said.extend(list.at_least.iter().map(|(m, g)| format!("at least {m} of {}", listed(g, name))));
        format!("these rules contradict each other: {}; no subset satisfies them all, leave one out", said.join("; "))
    }

    /// Whether some subset satisfies well-formed rules.
    fn satisfiable(p: usize, list: RuleList) -> bool {
        let mut rules = Self::compile(p, list);
        rules.decide_listed(&|_| String::new()).is_ok() && rules.search_within(&Subset::full(p)) != Err(Missing::Proven)
    }

    pub(super) fn explain(&self, why: &Contradiction, name: &dyn Fn(usize) -> String) -> String {
        let first = |u: usize| name(self.units.features(u)[0]);
        let forced = || {
            let mut state = self.root.clone();
            for u in 0..self.units.len() {
                if state[u] == Choice::In {
                    self.mark_needed(u, &mut state);
                }
            }
            let all: Vec<String> = self.chosen(&state).iter().map(name).collect();
            let shown = all.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
            (all.len(), if all.len() > 5 { format!("{shown}, ...") } else { shown })
        };
        match why {
            Contradiction::Implication(a, b) => {
                format!("{} is in and implies {}, but that one is out; drop one of these rules", first(*a), first(*b))
            }
            Contradiction::Size(_) => {
                let (count, shown) = forced();
                let k = self.list.max_features.unwrap_or(self.p);
                if count <= k {
                    // Groups of which some must be in need the others.
                    return self.conflict(name);
                }
                format!(
                    "`max_features` is {k} but {count} features must be in ({shown}, with those they imply); allow at least {count}"
                )
            }
            Contradiction::Budget(_) if forced().0 == 0 => self.conflict(name),
            Contradiction::Budget(cost) => {
                let budget = self.list.budget.unwrap_or(f64::INFINITY);
                format!(
                    "budget is {budget} but the features that must be in cost {cost} ({}); raise the budget or require less",
                    forced().1
                )
            }
            Contradiction::AtMost(at) => format!(
                "at most {} of {} may be in, but more are required (directly or through implications)",
                self.at_most[*at].count,
                listed(&self.list.at_most[*at].1, name)
            ),
            Contradiction::AtLeast(at) => format!(
                "at least {} of {} must be in, but the other rules leave fewer",
                self.at_least[*at].count,
                listed(&self.list.at_least[*at].1, name)
            ),
        }
    }

    fn mark_needed(&self, unit: usize, state: &mut [Choice]) {
        for &needed in self.units.needs(unit) {
            if state[needed] != Choice::In {
                state[needed] = Choice::In;
                self.mark_needed(needed, state);
            }
        }
    }
}
