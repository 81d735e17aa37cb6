//! Probing: units that one of whose choices can be ruled out, found without solving either child of
//! a node.
//!
//! At the relaxation's optimum the gains of all units of fractional share are tied, so that beta
//! itself says nothing about deciding one of them. But along the direction `d` that moves the
//! scores of one unit u and keeps those of the other tied units,
//!
//! ```text
//! d = -W X_T (X_T' W X_T + R)^-1 c_u      W_i = 1 / (ridge_i + mu / alpha_i^2 + mu / (C_i - alpha_i)^2),  T: units in or tied
//! ```
//!
//! the child's bound rises at once: where u is chosen, by lowering its gain (t > 0), where it is
//! left out, by raising it at no price (t < 0). Every feasible point of the line is a proof. How
//! far the bound can rise is first predicted from T alone; only where that would decide the unit
//! are all features counted. Cost: `|S| |T|^2` with S the samples of positive weight, and `n p` for
//! each unit that may be decided.

use super::fractional_units::{FractionalUnits, Ray, Step};
use super::model::{Relaxation, WarmStart};
use super::node::{Node, largest};
use crate::Clock;
use crate::proof::Point;
use crate::simd::axpy;

// Tuning: `make bench-exact-real`; `bench/log/exact.md` has what was tried.

/// Points tried on a line.
const POINTS: u32 = 10;
/// How far the score of a unit that is left out may grow, in multiples of what it is.
const FAR: f64 = 4.0;

/// What probing tells of the units of positive share.
#[derive(Debug, Default)]
pub(crate) struct Probed {
    /// No subset with the unit is below the cutoff.
    pub(crate) out: Vec<usize>,
    /// No subset without the unit is below the cutoff.
    pub(crate) fixed_in: Vec<usize>,
    /// (unit, rises of its children's bounds, as predicted from T alone: left out, chosen).
    pub(crate) promises: Vec<(usize, [f64; 2])>,
    /// The ruling of each unit of `out`, then of `fixed_in`, where points are kept.
    pub(crate) rulings: Vec<Ruling>,
}

/// One choice of one unit that is ruled out.
#[derive(Debug)]
pub(crate) struct Ruling {
    pub(crate) unit: usize,
    /// No subset with the unit is below the cutoff, or none without it.
    pub(crate) chosen: bool,
    /// At this point.
    pub(crate) point: Point,
}

impl Relaxation<'_> {
    /// Probes the units of positive share, at a node whose relaxation was solved to `warm_start`,
    /// where the bound is `lower` and `gap` below the relaxation's value. `near` are some of the
    /// free units, those of large gain, where the size is the only rule: a line is first evaluated
    /// as if these were all, whose bound is no lower, and mostly that does not reach the cutoff
    /// either.
    pub(crate) fn probe(
        &self,
        (fixed_in, free, near): (&[usize], &[usize], &[usize]),
        warm_start: &WarmStart,
        lower: f64,
        gap: f64,
        cutoff: f64,
        clock: &Clock,
    ) -> Probed {
        let mut probed = Probed::default();
        let node = Node::new(self, fixed_in, free);
        let Some(fractional) = FractionalUnits::new(&node, warm_start, gap, clock) else { return probed };
        let mut among: Vec<usize> = near.iter().chain(warm_start.shares.iter().map(|s| &s.0)).copied().collect();
        among.sort_unstable();
        among.dedup();
        let few = Node::new(self, fixed_in, &among);
        let (mut line, mut short) = (None, None);
        let mut first = node.features.len();
        for &(unit, _) in &warm_start.shares {
            // What is known already is as true; the others are not probed.
            if clock.stop().is_some() {
                break;
            }
            let last = first + self.rules.unit(unit).len();
            let step = fractional.step(first..last);
            let promises = [step.promise(false), step.promise(true)];
            probed.promises.push((unit, promises.map(|p| p.1)));
            let (mut ray, mut shadow) = (None, None);
            for (chosen, (t, rise)) in [false, true].into_iter().zip(promises) {
                if lower + rise < cutoff {
                    continue;
                }
                if self.size_only && among.len() < free.len() {
                    let short = short.get_or_insert_with(|| Line::new(&few, warm_start));
                    let shadow = shadow.get_or_insert_with(|| short.ray(&fractional, &step));
                    if short.reaches(unit, chosen, shadow, t, cutoff).is_none() {
                        continue;
                    }
                }
                let line = line.get_or_insert_with(|| Line::new(&node, warm_start));
                let ray = ray.get_or_insert_with(|| line.ray(&fractional, &step));
                if let Some(t) = line.reaches(unit, chosen, ray, t, cutoff + line.rounding) {
                    if chosen { &mut probed.out } else { &mut probed.fixed_in }.push(unit);
                    let point = line.point(warm_start, unit, ray, t, cutoff);
                    probed.rulings.extend(point.map(|point| Ruling { unit, chosen, point }));
                }
            }
            first = last;
        }
        probed
    }
}

impl Step {
    /// Where the bound of a side is largest, as predicted from T alone, and its rise until there.
    fn promise(&self, chosen: bool) -> (f64, f64) {
        let (slope, curve) = self.predicted[usize::from(chosen)];
        let (slope, end) = if chosen { (slope, 1.0) } else { (-slope, FAR) };
        let best = (slope / curve.max(f64::MIN_POSITIVE)).clamp(0.0, end);
        (best, best * (slope - 0.5 * best * curve))
    }
}

/// The bound of a node as beta moves along a direction.
struct Line<'l, 'n, 'r, 'a> {
    node: &'l Node<'r, 'a>,
    beta: &'n [f64],
    /// The features that are in, then those of free units, and their scores, problem by problem.
    features: Vec<usize>,
    scores: Vec<f64>,
    /// Where the features of each free unit begin, and where the last ones end.
    starts: Vec<usize>,
    /// What the gain of each free unit must exceed: its price and those of the rows.
    prices: Vec<f64>,
    /// [`Node::constant_term`] at beta.
    constant_term: f64,
    /// What rounding may add to the bound on a ray.
    rounding: f64,
}

impl<'l, 'n, 'r, 'a> Line<'l, 'n, 'r, 'a> {
    fn new(node: &'l Node<'r, 'a>, warm_start: &'n WarmStart) -> Self {
        let relaxation = node.relaxation;
        // A unit without scores lacks what it must exceed.
        let lacking: Vec<f64> = node.free.iter().map(|&u| -relaxation.penalty[u]).collect();
        let prices = node.reduced_gains(&lacking, warm_start).into_iter().map(|reduced_gains| -reduced_gains).collect();
        let free = node.free.iter().flat_map(|&u| relaxation.rules.unit(u));
        let features: Vec<usize> = node.features.iter().chain(free).copied().collect();
        let mut starts = Vec::with_capacity(node.free.len() + 1);
        starts.push(node.features.len());
        for &u in node.free {
            starts.push(starts[starts.len() - 1] + relaxation.rules.unit(u).len());
        }
        let (beta, constant_term) = (&warm_start.beta, node.constant_term(warm_start));
        let mut line = Self { node, beta, features, scores: Vec::new(), starts, prices, constant_term, rounding: 0.0 };
        line.scores = line.scores(beta);
        let fixed_gain = (0..node.features.len()).map(|k| line.gain_of(k, 0.0, &line.scores)).sum();
        let gains: Vec<f64> = (0..node.free.len()).map(|at| line.gain_at(at, 0.0, &line.scores)).collect();
        let reduced_gains: Vec<f64> = gains.iter().zip(&line.prices).map(|(gain, price)| gain - price).collect();
        let gains: Vec<f64> = gains.iter().zip(node.free).map(|(gain, &u)| gain - relaxation.penalty[u]).collect();
        // Beta changes little on a ray, and so does what rounding may add.
        line.rounding = 4.0 * node.rounding(warm_start, &warm_start.bias, fixed_gain, &gains, &reduced_gains);
        line
    }

    /// What a feature gains at t, `along` being the scores along the direction.
    fn gain_of(&self, k: usize, t: f64, along: &[f64]) -> f64 {
        let interval = self.node.relaxation.interval(self.features[k]);
        let (mut gain, mut at) = (0.0, k);
        while at < self.scores.len() {
            gain += interval.gain(self.scores[at] + t * along[at]);
            at += self.features.len();
        }
        gain
    }

    /// The gain of a free unit, by position.
    fn gain_at(&self, at: usize, t: f64, along: &[f64]) -> f64 {
        (self.starts[at]..self.starts[at + 1]).map(|k| self.gain_of(k, t, along)).sum()
    }

    /// What a free unit gains at least between 0 and t: a gain is convex in the score, and 0 where
    /// that is 0.
    fn least_at(&self, at: usize, t: f64, along: &[f64]) -> f64 {
        let least = |k: usize| {
            let interval = self.node.relaxation.interval(self.features[k]);
            let (mut gain, mut at) = (0.0, k);
            while at < self.scores.len() {
                let (from, to) = (self.scores[at], self.scores[at] + t * along[at]);
                gain += if from * to > 0.0 { interval.gain(from).min(interval.gain(to)) } else { 0.0 };
                at += self.features.len();
            }
            gain
        };
        (self.starts[at]..self.starts[at + 1]).map(least).sum()
    }

    /// Positions of the free units other than this one whose gain can count in the bound somewhere
    /// between 0 and t: gains are convex along the ray, so that each is largest at an end. With a
    /// size alone, as many units as there are slots gain the limit or more all the way.
    fn counting(&self, unit: usize, t: f64, ray: &Ray) -> Vec<usize> {
        let node = self.node;
        let others = || (0..node.free.len()).filter(|&at| node.free[at] != unit);
        let limit = if node.relaxation.size_only {
            let least: Vec<f64> = others().map(|at| self.least_at(at, t, &ray.scores) - self.prices[at]).collect();
            let least = largest(&least, node.slots);
            if least.len() < node.slots { 0.0 } else { least.last().copied().unwrap_or(0.0) }
        } else {
            0.0
        };
        let most = |at: usize| self.gain_at(at, 0.0, &ray.scores).max(self.gain_at(at, t, &ray.scores));
        others().filter(|&at| most(at) - self.prices[at] >= limit).collect()
    }

    /// Scores of the features that are in, then those of free units, problem by problem, at any
    /// point or along any direction.
    fn scores(&self, beta: &[f64]) -> Vec<f64> {
        let parts = &self.node.relaxation.parts;
        let mut scores = Vec::with_capacity(parts.len() * self.features.len());
        for part in parts {
            let (design, own) = (part.design(), part.of(beta));
            let first = scores.len();
            scores.resize(first + self.features.len(), 0.0);
            design.dot_chosen(&self.features, own, &mut scores[first..]);
        }
        scores
    }

    /// The direction of a step.
    fn ray(&self, fractional: &FractionalUnits<'_, '_>, step: &Step) -> Ray {
        let direction = vec![0.0; self.beta.len()];
        let mut ray = Ray { slope: 0.0, curve: 0.0, ends: [f64::INFINITY; 2], scores: Vec::new(), direction };
        for (part, a) in fractional.parts.iter().zip(&step.a) {
            part.add_to(a, self.beta, &mut ray);
        }
        ray.scores = self.scores(&ray.direction);
        ray
    }

    /// The bound at t on the ray, where the unit at a position may be left out or chosen, and these
    /// others count.
    fn value(&self, (own, chosen): (usize, bool), t: f64, ray: &Ray, counting: &[usize], gains: &mut Vec<f64>) -> f64 {
        let reduced_gains = |at: usize| self.gain_at(at, t, &ray.scores) - self.prices[at];
        gains.clear();
        gains.extend(counting.iter().map(|&at| reduced_gains(at)));
        let (mut constant_term, mut slots) =
            (self.constant_term + t * (ray.slope - 0.5 * t * ray.curve), self.node.slots);
        if chosen {
            constant_term -= reduced_gains(own);
            slots -= 1;
        }
        let fixed_gain = (0..self.node.features.len()).map(|k| self.gain_of(k, t, &ray.scores)).sum();
        self.node.bound(constant_term, fixed_gain, gains, slots)
    }

    /// The point at t on the ray, for a file.
    fn point(&self, warm_start: &WarmStart, unit: usize, ray: &Ray, t: f64, cutoff: f64) -> Option<Point> {
        self.node.relaxation.keeps_points().then_some(())?;
        let mut beta = self.beta.to_vec();
        axpy(t, &ray.direction, &mut beta);
        let node = self.node;
        let counted = warm_start.shares.iter().map(|share| share.0).chain([unit]);
        let kinks = counted.map(|u| node.kink(u, node.relaxation.gain(u, &beta))).sum();
        node.point(&beta, &warm_start.tau, &warm_start.margins, kinks, cutoff)
    }

    /// Where the bound with the unit on this side reaches the cutoff on the ray, searched for up to
    /// `end`: golden section, as it is concave.
    fn reaches(&self, unit: usize, chosen: bool, ray: &Ray, end: f64, cutoff: f64) -> Option<f64> {
        let sign = if chosen { 1.0 } else { -1.0 };
        let first = end.min(ray.ends[usize::from(chosen)]);
        let own = self.node.free.binary_search(&unit).ok()?;
        let (counting, mut gains) = (self.counting(unit, sign * first, ray), Vec::new());
        let mut f = |t: f64| self.value((own, chosen), sign * t, ray, &counting, &mut gains);
        if f(first) >= cutoff {
            return Some(sign * first);
        }
        // What was left out lowers the bound further on: the best point is nearer.
        let golden = 0.5 * (5f64.sqrt() - 1.0);
        let (mut low, mut high) = (0.0, first);
        let mut at = [high - golden * (high - low), low + golden * (high - low)];
        let mut values = at.map(&mut f);
        for _ in 0..POINTS {
            if values[0].max(values[1]) >= cutoff {
                break;
            }
            if values[0] >= values[1] {
                (high, at[1], values[1]) = (at[1], at[0], values[0]);
                at[0] = high - golden * (high - low);
                values[0] = f(at[0]);
            } else {
                (low, at[0], values[0]) = (at[0], at[1], values[1]);
                at[1] = low + golden * (high - low);
                values[1] = f(at[1]);
            }
        }
        let (t, value) = if values[0] >= values[1] { (at[0], values[0]) } else { (at[1], values[1]) };
        (value >= cutoff).then_some(sign * t)
    }
}

#[cfg(test)]
mod tests {
    use crate::bound::{Decide, Relaxation};
    use crate::{Bias, Clock, DenseDesign, Loss, Problem, RuleList, Rules, SvmSettings};

    /// No subset below the cutoff may be lost, whatever the cutoff is.
    #[test]
    fn what_is_ruled_out_holds_nothing_below_the_cutoff() {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        let (n, p) = (24, 6);
        let (mut ruled_out, mut kept) = (0, 0);
        for case in 0..60 {
            let mut values: Vec<f64> = (0..n * p).map(|_| 4.0 * random() - 2.0).collect();
            if case % 4 == 0 {
                let (a, b) = values.split_at_mut(n);
                b[..n].copy_from_slice(a);
            }
            let y: Vec<f64> =
                (0..n).map(|i| if values[i] - values[2 * n + i] + random() - 0.5 > 0.0 { 1.0 } else { -1.0 }).collect();
            if y.iter().all(|v| *v == y[0]) {
                continue;
            }
            let design = DenseDesign::new(n, p, values).unwrap();
            let problem = Problem::new(&design, &y, None).unwrap();
            let svm = SvmSettings {
                cost: [0.1, 1.0, 10.0][case % 3],
                loss: if case % 2 == 0 { Loss::Hinge } else { Loss::SquaredHinge },
                bias: [Bias::Free, Bias::None, Bias::Penalised(2.0)][case / 2 % 3],
                ..SvmSettings::default()
            };
            let mut list = RuleList { max_features: Some(3), ..RuleList::default() };
            let mut penalty = vec![];
            match case / 3 % 3 {
                0 => {}
                1 => (penalty, list.max_features) = (vec![0.1 + random(); p], None),
                _ => (list.budget, list.costs) = (Some(2.5), (0..p).map(|_| 0.5 + random()).collect()),
            }
            let rules = Rules::new(p, list, &[]).unwrap();
            let relaxation = Relaxation::new(std::slice::from_ref(&problem), &rules, &svm, &penalty);
            let cold = relaxation.cold();
            let solve = |fixed_in: &[usize], free: &[usize], tolerance: f64| {
                let decide = Decide { cutoff: f64::INFINITY, share: 0.0, tolerance };
                relaxation.solve(fixed_in, free, &cold, &decide, &Clock::unlimited())
            };
            let subsets = (0..1usize << p).map(|set| (0..p).filter(|j| set >> j & 1 == 1).collect::<Vec<usize>>());
            let allowed = subsets.filter(|s| rules.allows(&crate::Subset::from_indices(p, s.iter().copied())));
            let all: Vec<(Vec<usize>, f64)> = allowed.map(|s| (s.clone(), solve(&s, &[], 1e-9).upper)).collect();
            let best = all.iter().fold(f64::INFINITY, |m, s| m.min(s.1));
            let root = solve(&[], &(0..p).collect::<Vec<_>>(), 1e-3);
            let gap = root.upper - root.lower;
            for share in [0.2, 0.6, 1.0, 1.4] {
                let cutoff = root.lower + share * (best - root.lower) + 1e-6;
                let free = (0..p).collect::<Vec<_>>();
                let decided = relaxation.probe(
                    (&[], &free, &free[..p / 2]),
                    &root.warm_start,
                    root.lower,
                    gap,
                    cutoff,
                    &Clock::unlimited(),
                );
                for (units, with) in [(&decided.out, true), (&decided.fixed_in, false)] {
                    for u in units {
                        ruled_out += 1;
                        for (subset, value) in all.iter().filter(|s| s.0.contains(u) == with) {
                            assert!(
                                value * (1.0 + 1e-8) >= cutoff,
                                "case {case}: {subset:?} at {value} is below {cutoff}"
                            );
                        }
                    }
                }
                kept += root.warm_start.shares.len() - decided.out.len().max(decided.fixed_in.len());
            }
        }
        assert!(ruled_out > 100 && kept > 100, "{ruled_out} {kept}");
    }
}
