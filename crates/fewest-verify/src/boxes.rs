//! The bound of a box at a point.

use crate::claim::Claim;
use crate::point::Point;
use crate::rounding::add_down;
use crate::rules::{Choice, State};

/// A set of subsets (and of the weights on them): all that have these decisions.
pub(crate) struct OpenBox {
    pub(crate) state: State,
    /// u_j by feature, where a tightening changed some; else empty.
    pub(crate) tight: Vec<f64>,
    /// The smallest bound of the parts that tightenings closed.
    pub(crate) cap: f64,
    /// Gain `alignment`: no allowed subset of the box has a smaller objective.
    pub(crate) known: f64,
}

impl OpenBox {
    /// u_j in the box.
    pub(crate) fn weight_bound(&self, claim: &Claim<'_>, j: usize) -> f64 {
        self.tight.get(j).map_or(claim.bounds[j], |u| *u)
    }
}

impl OpenBox {
    /// The values at a point of all units that the rules alone do not have out, 0 for these.
    pub(crate) fn values(&self, claim: &Claim<'_>, point: &mut Point) -> Vec<f64> {
        let (units, root) = (&claim.rules.units, claim.root.as_ref());
        let alive = |u: usize| root.is_some_and(|root| root.choice[u] != Choice::Out);
        point.score(claim, (0..units.len()).filter(|u| alive(*u)).flat_map(|u| units[u].iter().copied()));
        let part = |j: usize| point.part(claim, j, self.weight_bound(claim, j));
        let value = |u: usize| units[u].iter().fold(point.price(u), |sum, &j| add_down(sum, part(j)));
        (0..units.len()).map(|u| if alive(u) { value(u) } else { 0.0 }).collect()
    }
}

/// An open box as it is kept: units in neither list are out.
pub(crate) struct PackedBox {
    inside: Vec<u32>,
    free: Vec<u32>,
    tight: Vec<f64>,
    cap: f64,
    known: f64,
}

impl PackedBox {
    pub(crate) fn new(open: OpenBox) -> Self {
        let list = |choice| {
            let units = open.state.choice.iter().enumerate().filter(|(_, held)| **held == choice);
            units.map(|(u, _)| u as u32).collect::<Box<[u32]>>().into_vec()
        };
        let (inside, free) = (list(Choice::In), list(Choice::Free));
        Self { inside, free, tight: open.tight, cap: open.cap, known: open.known }
    }

    pub(crate) fn unpack(self, claim: &Claim<'_>) -> OpenBox {
        let mut choice = vec![Choice::Out; claim.rules.units.len()];
        self.inside.iter().for_each(|&u| choice[u as usize] = Choice::In);
        self.free.iter().for_each(|&u| choice[u as usize] = Choice::Free);
        OpenBox { state: claim.rules.state(&choice), tight: self.tight, cap: self.cap, known: self.known }
    }

    /// Bytes beside those of the structure.
    pub(crate) fn bytes(&self) -> u64 {
        (4 * (self.inside.len() + self.free.len()) + 8 * self.tight.len()) as u64
    }
}

/// The terms of a box's bound at a point.
pub(crate) struct Terms<'t> {
    claim: &'t Claim<'t>,
    open: &'t OpenBox,
    point: &'t Point,
    /// The point's constant and the values of all units in.
    decided: f64,
    /// By unit: its value, and its place among the free ones below 0, smallest first.
    values: Vec<f64>,
    place: Vec<usize>,
    /// By number of units: the sum of the smallest so many.
    sums: Vec<f64>,
    /// How many features may still come in.
    room: usize,
}

impl<'t> Terms<'t> {
    pub(crate) fn new(claim: &'t Claim<'t>, open: &'t OpenBox, point: &'t mut Point) -> Self {
        let (rules, choice) = (&claim.rules, &open.state.choice);
        let alive = || (0..choice.len()).filter(|&u| choice[u] != Choice::Out);
        point.score(claim, alive().flat_map(|u| rules.units[u].iter().copied()));
        let (mut decided, mut room) = (point.constant, rules.most);
        let (mut values, mut place, mut sums) = (vec![0.0; choice.len()], vec![usize::MAX; choice.len()], vec![0.0]);
        let mut below = Vec::new();
        for u in alive() {
            let part = |j: usize| point.part(claim, j, open.weight_bound(claim, j));
            values[u] = rules.units[u].iter().fold(point.price(u), |sum, &j| add_down(sum, part(j)));
            if choice[u] == Choice::In {
                decided = add_down(decided, values[u]);
                room = room.saturating_sub(rules.units[u].len());
            } else if values[u] < 0.0 {
                below.push(u);
            }
        }
        below.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
        for (at, &u) in below.iter().enumerate() {
            place[u] = at;
            sums.push(add_down(sums[at], values[u]));
        }
        Self { claim, open, point, decided, values, place, sums, room }
    }

    /// The bound of the box.
    pub(crate) fn bound(&self) -> f64 {
        add_down(self.decided, self.sum(self.room))
    }

    /// The sum of the smallest so many values of free units that are below 0.
    fn sum(&self, count: usize) -> f64 {
        self.sums[count.min(self.sums.len() - 1)]
    }

    /// The same without unit u.
    fn sum_without(&self, u: usize, count: usize) -> f64 {
        if self.place[u] >= count {
            return self.sum(count);
        }
        add_down(self.sum(count.saturating_add(1)), -self.values[u])
    }

    /// The bound of the part of the box where this unit has this choice; infinite if there is none.
    pub(crate) fn bound_with(&self, u: usize, choice: Choice) -> f64 {
        match self.open.state.choice[u] {
            Choice::Free if choice == Choice::In => self.bound_in(u, self.values[u]),
            Choice::Free => add_down(self.decided, self.sum_without(u, self.room)),
            held if held == choice => self.bound(),
            _ => f64::INFINITY,
        }
    }

    /// The bound where a free unit is in and has this value.
    fn bound_in(&self, u: usize, value: f64) -> f64 {
        match self.room.checked_sub(self.claim.rules.units[u].len()) {
            Some(room) => add_down(add_down(self.decided, value), self.sum_without(u, room)),
            None => f64::INFINITY,
        }
    }

    /// The value of the unit of feature j where `|w_j|` lies between `from` and its bound; infinite
    /// where there is no such weight.
    pub(crate) fn value_beyond(&self, j: usize, from: f64) -> f64 {
        let (claim, u) = (self.claim, self.claim.rules.unit_of[j]);
        let part = |k: usize| match self.open.weight_bound(claim, k) {
            to if k == j => self.point.part_beyond(claim, k, from, to),
            to => self.point.part(claim, k, to),
        };
        if part(j) == f64::INFINITY {
            return f64::INFINITY;
        }
        claim.rules.units[u].iter().fold(self.point.price(u), |sum, &k| add_down(sum, part(k)))
    }

    /// The bound of the part where feature j is in and `|w_j|` lies between `from` and its bound.
    pub(crate) fn bound_beyond(&self, j: usize, from: f64) -> f64 {
        let u = self.claim.rules.unit_of[j];
        match (self.open.state.choice[u], self.value_beyond(j, from)) {
            (Choice::Out, _) | (_, f64::INFINITY) => f64::INFINITY,
            (Choice::Free, value) => self.bound_in(u, value),
            (Choice::In, value) => add_down(add_down(self.bound(), -self.values[u]), value),
        }
    }
}
