//! The upper model of f on a node's completions: a quadratic or cubic function of at most k units,
//! searched without the data.
//!
//! The triples of a set count with the pairs: t_abc is a third of itself for each of its pairs, so
//! a pair bc of a set of s units has at most a third of the s - 2 largest t_bcd. Once the first
//! unit a of a set is chosen, t_abc belongs to the pair bc as it is.

use multiversion::multiversion;

use super::products::Sums;
use super::triples::Triples;
use crate::Clock;

/// A function of the completion; columns are the free units, then "no unit".
#[derive(Debug)]
pub(super) struct Model {
    slots: usize,
    /// Free units.
    m: usize,
    constant: f64,
    linear: Vec<f64>,
    pairs: Vec<f64>,
    /// None where the function is quadratic.
    triples: Triples,
}

/// The completions whose model value is above a cutoff.
#[derive(Debug, Default)]
pub(super) struct Above {
    /// Free units in the order of the search, worst first: a branch takes its first unit and some
    /// after it.
    pub(super) order: Vec<usize>,
    /// The branch at each position of the order: the largest value of a completion that begins
    /// there (minus infinity when none is above), and the positions after it that occur in one.
    pub(super) branches: Vec<(f64, Vec<bool>)>,
    /// Value of the node itself, if above.
    pub(super) itself: Option<f64>,
    /// No completion that is left out has a larger value.
    pub(super) below: f64,
    /// The clock said stop before the search began: nothing else here means anything.
    pub(super) stopped: bool,
}

/// A completion by at most two units (by column, [`NO_UNIT`] in empty slots) and its value.
pub(super) type Small = (f64, [usize; 2]);

/// An empty slot.
pub(super) const NO_UNIT: usize = usize::MAX;

impl Model {
    /// `base` is what f has beside the sums, margins included.
    pub(super) fn new(sums: Sums, slots: usize, base: f64) -> Self {
        let m = sums.linear.len() - 1;
        let Sums { constant, linear, pairs, triples, .. } = sums;
        Self { slots, m, constant: constant + base, linear, pairs, triples }
    }

    fn pair(&self, a: usize, b: usize) -> f64 {
        self.pairs[a * (self.m + 1) + b]
    }

    /// Constant and linear terms of completions by `size` units, the other slots being empty.
    fn of_size(&self, size: usize) -> (f64, Vec<f64>) {
        let (empty, none) = ((self.slots - size) as f64, self.m);
        let (two, three) = (0.5 * empty * (empty - 1.0), empty * (empty - 1.0) * (empty - 2.0) / 6.0);
        let pair = |a: usize| if self.slots >= 2 { self.pair(a, none) } else { 0.0 };
        let triple = |a: usize| if self.triples.is_empty() { 0.0 } else { self.triples.get(a, none, none) };
        let constant = self.constant + empty * self.linear[none] + two * pair(none) + three * triple(none);
        (constant, (0..self.m).map(|a| self.linear[a] + empty * pair(a) + two * triple(a)).collect())
    }

    /// Pairs of completions by `size` units, in this order.
    fn pairs_of_size(&self, size: usize, order: &[usize]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.m * self.m);
        for &a in order {
            out.extend(order.iter().map(|&b| self.pair(a, b)));
        }
        if !self.triples.is_empty() && size < self.slots {
            let empty = (self.slots - size) as f64;
            for (row, &a) in out.chunks_exact_mut(self.m).zip(order) {
                let others = row.iter_mut().zip(order).filter(|(_, b)| **b != a);
                others.for_each(|(x, &b)| *x += empty * self.triples.get(a, b, self.m));
            }
        }
        out
    }

    /// The completions above the cutoff, for one or two slots, where the model is exact; and the
    /// largest value below.
    pub(super) fn exact(&self, cutoff: f64) -> (Vec<Small>, f64) {
        let (mut above, mut below) = (Vec::new(), f64::NEG_INFINITY);
        let mut see = |value: f64, units: [usize; 2]| {
            if value > cutoff {
                above.push((value, units));
            } else if value > below {
                below = value;
            }
        };
        see(self.of_size(0).0, [NO_UNIT; 2]);
        let (constant, linear) = self.of_size(1);
        (0..self.m).for_each(|a| see(constant + linear[a], [a, NO_UNIT]));
        if self.slots >= 2 {
            let (constant, linear) = self.of_size(2);
            for a in 0..self.m {
                let row = &self.pairs[a * (self.m + 1)..];
                for b in a + 1..self.m {
                    see(constant + linear[a] + (linear[b] + row[b]), [a, b]);
                }
            }
        }
        (above, below)
    }

    /// The completions above the cutoff. Evaluates about `effort` terms one by one, or until the
    /// clock says stop, and bounds the rest more coarsely.
    pub(super) fn above(&self, cutoff: f64, effort: u64, clock: &Clock) -> Above {
        let m = self.m;
        let mut order: Vec<usize> = (0..m).collect();
        let Some(parts) = self.parts(clock) else { return Above { stopped: true, ..Above::default() } };
        let (_, linear) = self.of_size(self.slots);
        let mut pairs = self.pairs_of_size(self.slots, &order);
        add_parts(&mut pairs, &parts, self.slots - 2);
        let half = halves(&pairs, m, 0, self.slots);
        let promise: Vec<f64> = (0..m).map(|a| linear[a] + half[self.slots - 1][a]).collect();
        order.sort_by(|&a, &b| promise[a].total_cmp(&promise[b]).then(a.cmp(&b)));
        let parts: Vec<Vec<f64>> = parts.iter().map(|part| arranged(part, m, &order)).collect();
        let itself = self.of_size(0).0;
        let mut search = Search {
            model: self,
            order: &order,
            size: 0,
            constant: 0.0,
            m,
            pairs: Vec::new(),
            half: Vec::new(),
            cutoff,
            effort,
            clock,
            scores: vec![vec![0.0; m]; self.slots],
            prefix: Vec::with_capacity(self.slots),
            branches: vec![(f64::NEG_INFINITY, vec![false; m]); m],
            below: if itself > cutoff { f64::NEG_INFINITY } else { itself },
        };
        let cubic = !self.triples.is_empty();
        for size in (1..=self.slots.min(m)).rev() {
            let (constant, linear) = self.of_size(size);
            (search.size, search.constant) = (size, constant);
            search.scores[0] = order.iter().map(|&a| linear[a]).collect();
            if !cubic && !search.pairs.is_empty() {
                // The pairs of a quadratic function are those of every size.
                search.extend(constant, 0, size);
                continue;
            }
            let plain = self.pairs_of_size(size, &order);
            let mut pairs = plain.clone();
            add_parts(&mut pairs, &parts, size.saturating_sub(2));
            let half = halves(&pairs, m, 0, size);
            if !cubic || size <= 2 {
                (search.half, search.pairs) = (half, pairs);
                search.extend(constant, 0, size);
                continue;
            }
            for a in 0..=m - size {
                let with = constant + search.scores[0][a];
                let (first, next) = search.scores.split_at_mut(1);
                add(&first[0][a + 1..], &pairs[a * m + a + 1..(a + 1) * m], &mut next[0][a + 1..]);
                let bound = with + (size - 1) as f64 * largest_sum(&next[0][a + 1..], &half[size - 2][a + 1..]);
                if bound <= cutoff {
                    search.below = search.below.max(bound);
                    continue;
                }
                add(&first[0][a + 1..], &plain[a * m + a + 1..(a + 1) * m], &mut next[0][a + 1..]);
                if search.clock.stop().is_some() {
                    search.effort = 0;
                }
                // Triples with the first unit belong to the other two.
                search.pairs.clone_from(&plain);
                add_parts(&mut search.pairs, &parts, size - 3);
                for b in a + 1..m {
                    let row = &mut search.pairs[b * m..(b + 1) * m];
                    (a + 1..m)
                        .filter(|&c| c != b)
                        .for_each(|c| row[c] += self.triples.get(order[a], order[b], order[c]));
                }
                search.half = halves(&search.pairs, m, a + 1, size - 1);
                search.effort = search.effort.saturating_sub(((m - a) * (m - a)) as u64);
                search.prefix.push(a);
                search.extend(with, a + 1, size - 1);
                search.prefix.pop();
            }
        }
        let Search { branches, below, .. } = search;
        Above { order, branches, itself: (itself > cutoff).then_some(itself), below, stopped: false }
    }

    /// `[r - 1][b * m + c]`: a third of the sum of the r largest triples of b and c; nothing where
    /// there are none. None where the clock says stop.
    fn parts(&self, clock: &Clock) -> Option<Vec<Vec<f64>>> {
        let m = self.m;
        if self.triples.is_empty() {
            return clock.stop().is_none().then(Vec::new);
        }
        let mut out = vec![vec![0.0; m * m]; self.slots - 2];
        let mut sorted = Vec::with_capacity(m);
        for b in 0..m {
            if clock.stop().is_some() {
                return None;
            }
            for c in b + 1..m {
                let others = (0..m).filter(|&d| d != b && d != c);
                sorted.clear();
                sorted.extend(others.map(|d| self.triples.get(b, c, d)));
                sorted.sort_unstable_by(|x, y| y.total_cmp(x));
                let mut sum = 0.0;
                for (r, out) in out.iter_mut().enumerate() {
                    sum += sorted.get(r).copied().unwrap_or(0.0) / 3.0;
                    out[b * m + c] = sum;
                    out[c * m + b] = sum;
                }
            }
        }
        Some(out)
    }
}

/// A matrix over columns as one over their places in this order.
fn arranged(matrix: &[f64], m: usize, order: &[usize]) -> Vec<f64> {
    order.iter().flat_map(|&a| order.iter().map(move |&b| matrix[a * m + b])).collect()
}

/// Adds to pairs what [`Model::parts`] says of r others.
fn add_parts(pairs: &mut [f64], parts: &[Vec<f64>], r: usize) {
    if r > 0
        && let Some(part) = parts.get(r - 1)
    {
        pairs.iter_mut().zip(part).for_each(|(x, part)| *x += part);
    }
}

/// `[r][a]` for r below `count`: half of the sum of the r largest pairs of a with units from
/// position `from` on.
fn halves(pairs: &[f64], m: usize, from: usize, count: usize) -> Vec<Vec<f64>> {
    let mut half = vec![vec![0.0; m]; count.max(1)];
    let mut sorted = Vec::with_capacity(m);
    for a in from..m {
        sorted.clear();
        sorted.extend((from..m).filter(|&b| b != a).map(|b| pairs[a * m + b]));
        sorted.sort_unstable_by(|x: &f64, y| y.total_cmp(x));
        let mut sum = 0.0;
        for r in 1..count {
            sum += 0.5 * sorted.get(r - 1).copied().unwrap_or(0.0);
            half[r][a] = sum;
        }
    }
    half
}

/// Depth-first search through the completions of one size.
struct Search<'a> {
    model: &'a Model,
    order: &'a [usize],
    /// Units of a completion, and its constant term.
    size: usize,
    constant: f64,
    m: usize,
    /// Pairs in the order of the search, with what triples add.
    pairs: Vec<f64>,
    half: Vec<Vec<f64>>,
    cutoff: f64,
    effort: u64,
    clock: &'a Clock,
    /// What each unit adds to the units of the prefix, depth by depth.
    scores: Vec<Vec<f64>>,
    prefix: Vec<usize>,
    branches: Vec<(f64, Vec<bool>)>,
    below: f64,
}

impl Search<'_> {
    /// Extends the prefix, worth `value`, by `left` units from position `from` on.
    fn extend(&mut self, value: f64, from: usize, left: usize) {
        let depth = self.prefix.len();
        if left == 1 {
            let scores = &self.scores[depth][from..];
            self.effort = self.effort.saturating_sub(scores.len() as u64);
            let largest = value + largest(scores);
            if largest <= self.cutoff {
                self.below = self.below.max(largest);
                return;
            }
            for b in from..self.m {
                let mut total = value + self.scores[depth][b];
                if total > self.cutoff && depth >= 3 && !self.model.triples.is_empty() {
                    total = total.min(self.value(b));
                    self.effort = self.effort.saturating_sub((depth * depth * depth) as u64);
                }
                if total > self.cutoff {
                    self.mark(b, b + 1, total);
                } else {
                    self.below = self.below.max(total);
                }
            }
            return;
        }
        for a in from..=self.m - left {
            let with = value + self.scores[depth][a];
            let (done, rest) = self.scores.split_at_mut(depth + 1);
            let next = &mut rest[0];
            let row = &self.pairs[a * self.m..(a + 1) * self.m];
            add(&done[depth][a + 1..], &row[a + 1..], &mut next[a + 1..]);
            self.effort = self.effort.saturating_sub((self.m - a) as u64);
            if depth <= 1 && self.effort > 0 && self.clock.stop().is_some() {
                self.effort = 0;
            }
            if left > 2 || self.effort == 0 {
                let each = largest_sum(&next[a + 1..], &self.half[left - 2][a + 1..]);
                let bound = with + (left - 1) as f64 * each;
                if bound <= self.cutoff {
                    self.below = self.below.max(bound);
                    continue;
                }
                if self.effort == 0 {
                    self.mark(a, self.m, bound);
                    continue;
                }
            }
            self.prefix.push(a);
            self.extend(with, a + 1, left - 1);
            self.prefix.pop();
        }
    }

    /// The model's value of the prefix and unit b.
    fn value(&self, b: usize) -> f64 {
        let model = self.model;
        let units: Vec<usize> = self.prefix.iter().chain([&b]).map(|&a| self.order[a]).collect();
        let (empty, none) = ((model.slots - self.size) as f64, model.m);
        let (mut value, two) = (self.constant, 0.5 * empty * (empty - 1.0));
        for (i, &a) in units.iter().enumerate() {
            value += model.linear[a] + empty * model.pair(a, none) + two * model.triples.get(a, none, none);
            for (j, &b) in units[..i].iter().enumerate() {
                value += model.pair(a, b) + empty * model.triples.get(a, b, none);
                value += units[..j].iter().map(|&c| model.triples.get(a, b, c)).sum::<f64>();
            }
        }
        value
    }

    /// A completion above the cutoff: the prefix, unit `a`, and perhaps any of the units after it
    /// before `to`.
    fn mark(&mut self, a: usize, to: usize, value: f64) {
        let first = self.prefix.first().copied().unwrap_or(a);
        let branch = &mut self.branches[first];
        branch.0 = branch.0.max(value);
        for &b in self.prefix.iter().chain([&a]) {
            branch.1[b] = true;
        }
        branch.1[a + 1..to.max(a + 1)].fill(true);
        branch.1[first] = false;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
fn add(x: &[f64], y: &[f64], out: &mut [f64]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out = x + y;
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
fn largest(x: &[f64]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; 16];
    let (chunks, rest) = x.as_chunks::<16>();
    for chunk in chunks {
        for l in 0..16 {
            lanes[l] = if chunk[l] > lanes[l] { chunk[l] } else { lanes[l] };
        }
    }
    lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a })
}

#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
fn largest_sum(x: &[f64], y: &[f64]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; 8];
    for (x, y) in x.chunks(8).zip(y.chunks(8)) {
        for ((lane, x), y) in lanes.iter_mut().zip(x).zip(y) {
            let sum = x + y;
            *lane = if sum > *lane { sum } else { *lane };
        }
    }
    lanes.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Distances;
    use crate::method::kta::pairs::Pairs;
    use crate::method::kta::products::{Query, sums};
    use crate::{DenseDesign, Limits, Rules, Run, Sense, Silent};

    /// 40 samples of two classes with 8 features, some far from the rest.
    fn pairs(seed: u64, gamma: f64) -> Pairs {
        let mut state = seed.wrapping_mul(2).wrapping_add(1);
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f64 / f64::from(1 << 24) - 0.5
        };
        let values: Vec<f64> = (0..320).map(|_| draw() + draw() + 8.0 * draw().powi(5)).collect();
        let shares: Vec<Vec<f64>> =
            [0, 1].map(|c| (0..40).map(|i| if i % 2 == c { 0.05 } else { 0.0 }).collect()).to_vec();
        let design = DenseDesign::new(40, 8, values).expect("320 values");
        let (squared, clock) = (Distances::squared(), Clock::unlimited());
        let mut pairs = Pairs::new(&design, &shares, &Rules::none(8), gamma, &squared, 1 << 20, &clock).expect("time");
        pairs.favour(vec![1, 2]);
        pairs
    }

    /// Every set of at most `slots` of the columns 0 to m - 1.
    fn completions(m: usize, slots: usize) -> impl Iterator<Item = Vec<usize>> {
        let sets = (0u32..1 << m).filter(move |set| set.count_ones() as usize <= slots);
        sets.map(move |set| (0..m).filter(|a| set >> a & 1 == 1).collect())
    }

    #[test]
    fn no_completion_is_above_the_model_and_the_last_two_levels_are_exact() {
        let rules = Rules::none(8);
        let clock = Run::new(&rules, Limits::default(), Sense::Max, &mut Silent).expect("valid").clock();
        for (seed, gamma) in [(1, 0.1), (2, 1.0), (3, 10.0), (4, 1e-4), (5, 1e4)] {
            let pairs = pairs(seed, gamma);
            for slots in 1..=6 {
                let query = Query::new(vec![3], vec![0, 1, 2, 5, 6, 7], slots, pairs.count());
                let sums = sums(&pairs, std::slice::from_ref(&query), &clock).expect("not stopped").remove(0);
                let (margin, monotone) = (sums.margin(&query, &pairs), sums.monotone(&query, &pairs));
                assert!(margin < 3e-3, "{margin}");
                let model = Model::new(sums, slots, pairs.diagonal + margin);
                let value = |set: &[usize]| {
                    let (constant, linear) = model.of_size(set.len());
                    let order: Vec<usize> = (0..6).collect();
                    let pairs = if slots > 1 { model.pairs_of_size(set.len(), &order) } else { vec![0.0; 36] };
                    let mut sum = constant + set.iter().map(|&a| linear[a]).sum::<f64>();
                    for (i, &a) in set.iter().enumerate() {
                        for (j, &b) in set[..i].iter().enumerate() {
                            sum += pairs[a * 6 + b];
                            let others = set[..j].iter().filter(|_| slots > 2);
                            sum += others.map(|&c| model.triples.get(a, b, c)).sum::<f64>();
                        }
                    }
                    sum
                };
                let mut all = Vec::new();
                for set in completions(6, slots) {
                    let units: Vec<usize> =
                        [3].into_iter().chain(set.iter().map(|&a| query.free[a] as usize)).collect();
                    let (truth, upper) = (pairs.value(&units), value(&set));
                    let about = format!("seed {seed}, slots {slots}, {set:?}: {upper}, true {truth}, margin {margin}");
                    assert!(upper >= truth && monotone >= truth, "{about}, monotone {monotone}");
                    assert!(slots > 3 || upper <= truth + 2.0 * margin, "{about}");
                    all.push((upper, set));
                }
                all.sort_by(|a, b| b.0.total_cmp(&a.0));
                if slots <= 2 {
                    let cutoff = all[4].0;
                    let (above, below) = model.exact(cutoff);
                    let beyond = |x: f64| all.iter().filter(|a| a.0 > x).count();
                    assert!((beyond(cutoff + 1e-9)..=beyond(cutoff - 1e-9)).contains(&above.len()), "{above:?}");
                    assert!(below <= cutoff && above.iter().all(|a| a.0 > cutoff));
                    continue;
                }
                for effort in [u64::MAX, 20, 0] {
                    let cutoff = all[all.len() / 3].0;
                    let found = model.above(cutoff, effort, &clock);
                    let place = |a: usize| found.order.iter().position(|&o| o == a).expect("ordered");
                    for (upper, set) in &all {
                        let mut places: Vec<usize> = set.iter().map(|&a| place(a)).collect();
                        places.sort_unstable();
                        let kept = match places.split_first() {
                            None => found.itself.is_some(),
                            Some((&first, rest)) => {
                                let (bound, partners) = &found.branches[first];
                                *bound >= *upper - 1e-12 && rest.iter().all(|&b| partners[b])
                            }
                        };
                        assert!(kept || *upper <= cutoff + 1e-12, "seed {seed}, slots {slots}: {set:?} is lost");
                        assert!(
                            kept || found.below >= *upper - 1e-12,
                            "seed {seed}, slots {slots}: {set:?} is forgotten"
                        );
                    }
                }
            }
        }
    }
}
