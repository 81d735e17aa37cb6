//! The bound of a box at a point.

use crate::claim::Claim;
use crate::point::Point;
use crate::rounding::add_down;
use crate::rules::{Choice, State};

/// A set of subsets (and of the weights on them): all that have these decisions.
pub(crate) struct OpenBox {
    pub(crate) state: State,
    pub(crate) limits: Limits,
}

impl OpenBox {
    /// `u_j` in the box.
    pub(crate) fn weight_bound(&self, claim: &Claim<'_>, j: usize) -> f64 {
        self.limits.tight.get(j).copied().unwrap_or(claim.bounds[j])
    }
}

/// What is known of a box beside its decisions.
#[derive(Clone)]
pub(crate) struct Limits {
    /// u_j by feature, where a tightening changed some; else empty.
    pub(crate) tight: Vec<f64>,
    /// The smallest bound of the parts that tightenings closed.
    pub(crate) cap: f64,
    /// Gain `alignment`: no allowed subset of the box has a smaller objective.
    pub(crate) known: f64,
}

/// The terms of a box's bound at a point.
pub(crate) struct Terms<'t> {
    claim: &'t Claim<'t>,
    open: &'t OpenBox,
    point: &'t Point,
    /// The point's constant and the values of all units in.
    decided: f64,
    /// The value of each unit, and its place among the free ones below 0, smallest first.
    pub(crate) values: Vec<f64>,
    place: Vec<usize>,
    /// The sum of the smallest values, by how many they are.
    sums: Vec<f64>,
    /// How many features may still come in.
    room: usize,
}

impl<'t> Terms<'t> {
    pub(crate) fn new(claim: &'t Claim<'t>, open: &'t OpenBox, point: &'t mut Point) -> Self {
        let (rules, state) = (&claim.rules, &open.state);
        let alive = || state.units(Choice::In).chain(state.units(Choice::Free));
        point.score(claim, alive().flat_map(|u| rules.units[u].iter().copied()));
        let (decided, units) = (point.constant, rules.units.len());
        let (values, place, sums) = (vec![0.0; units], vec![usize::MAX; units], vec![0.0]);
        let mut terms = Self { claim, open, point, decided, values, place, sums, room: rules.most };
        alive().for_each(|u| terms.values[u] = terms.value(u, |_| None));
        for u in state.units(Choice::In) {
            terms.decided = add_down(terms.decided, terms.values[u]);
            terms.room = terms.room.saturating_sub(rules.units[u].len());
        }
        let mut below: Vec<usize> = state.units(Choice::Free).filter(|&u| terms.values[u] < 0.0).collect();
        below.sort_unstable_by(|&a, &b| terms.values[a].total_cmp(&terms.values[b]));
        for (at, &u) in below.iter().enumerate() {
            terms.place[u] = at;
            terms.sums.push(add_down(terms.sums[at], terms.values[u]));
        }
        terms
    }

    /// The value of a unit that is in, with other parts of some features where there are.
    fn value(&self, u: usize, other: impl Fn(usize) -> Option<f64>) -> f64 {
        let own = |j| self.point.part(self.claim, j, self.open.weight_bound(self.claim, j), None);
        let part = |&j: &usize| other(j).unwrap_or_else(|| own(j));
        self.claim.rules.units[u].iter().map(part).fold(self.point.price(u), add_down)
    }

    /// The bound of the box.
    pub(crate) fn bound(&self) -> f64 {
        add_down(self.decided, self.sum(self.room))
    }

    /// The sum of the `count` smallest values of free units that are below 0.
    fn sum(&self, count: usize) -> f64 {
        self.sums[count.min(self.sums.len() - 1)]
    }

    /// The sum of the `count` smallest without unit u.
    fn sum_without(&self, u: usize, count: usize) -> f64 {
        if self.place[u] >= count {
            return self.sum(count);
        }
        add_down(self.sum(count.saturating_add(1)), -self.values[u])
    }

    /// The bound of the part of the box where this unit has this choice; infinite if there is none.
    pub(crate) fn bound_with(&self, u: usize, choice: Choice) -> f64 {
        self.bound_at(u, choice, self.values[u])
    }

    /// The value of the unit of feature j where `|w_j|` lies between `from` and its bound; none
    /// where there is no such weight.
    pub(crate) fn value_beyond(&self, j: usize, from: f64) -> Option<f64> {
        let (u, to) = (self.claim.rules.unit_of[j], self.open.weight_bound(self.claim, j));
        let beyond = self.point.part(self.claim, j, to, Some(from));
        (beyond != f64::INFINITY).then(|| self.value(u, |k| (k == j).then_some(beyond)))
    }

    /// The bound of the part where feature j is in and `|w_j|` lies between `from` and its bound.
    pub(crate) fn bound_beyond(&self, j: usize, from: f64) -> f64 {
        let u = self.claim.rules.unit_of[j];
        self.value_beyond(j, from).map_or(f64::INFINITY, |value| self.bound_at(u, Choice::In, value))
    }

    /// The bound where a unit has this choice and, where it is in, this value.
    fn bound_at(&self, u: usize, choice: Choice, value: f64) -> f64 {
        let (held, size) = (self.open.state.choice[u], self.claim.rules.units[u].len());
        match (held, choice) {
            (Choice::Free, Choice::In) if size > self.room => f64::INFINITY,
            (Choice::Free, Choice::In) => {
                add_down(add_down(self.decided, value), self.sum_without(u, self.room - size))
            }
            (Choice::Free, _) => add_down(self.decided, self.sum_without(u, self.room)),
            // The same value adds nothing; one that is infinite proves nothing.
            (Choice::In, Choice::In) => add_down(self.bound(), add_down(value, -self.values[u])),
            _ if held == choice => self.bound(),
            _ => f64::INFINITY,
        }
    }
}
