//! The upper model of f on a node's completions: a quadratic function of at most k units, searched without the data.

use multiversion::multiversion;

use super::products::Sums;

/// A quadratic function of the completion; columns are the free units, then "no unit".
#[derive(Debug)]
pub(super) struct Model {
    slots: usize,
    /// Free units.
    m: usize,
    constant: f64,
    linear: Vec<f64>,
    pairs: Vec<f64>,
}

/// What of the model lies above a cutoff.
#[derive(Debug, Default)]
pub(super) struct Above {
    /// Free units in the order of the search, worst first: a branch takes its first unit and some after it.
    pub(super) order: Vec<usize>,
    /// By position in the order: the largest value of a completion that begins there (minus infinity when none is above),
    /// and the positions after it that occur in one.
    pub(super) branches: Vec<(f64, Vec<bool>)>,
    /// Value of the node itself, if above.
    pub(super) itself: Option<f64>,
    /// No completion that is left out has a larger value.
    pub(super) below: f64,
}

/// A completion by at most two units (by column, [`NO_UNIT`] in empty slots) and its value.
pub(super) type Small = (f64, [usize; 2]);

/// An empty slot.
pub(super) const NO_UNIT: usize = usize::MAX;

impl Model {
    /// `base` is what f has beside the sums, margins included.
    pub(super) fn new(sums: Sums, slots: usize, base: f64) -> Self {
        let m = sums.linear.len() - 1;
        Self { slots, m, constant: sums.constant + base, linear: sums.linear, pairs: sums.pairs }
    }

    fn pair(&self, a: usize, b: usize) -> f64 {
        self.pairs[a * (self.m + 1) + b]
    }

    /// Constant and linear terms of completions by `size` units, the other slots being empty.
    fn of_size(&self, size: usize) -> (f64, Vec<f64>) {
        let (empty, none) = ((self.slots - size) as f64, self.m);
        let own = if self.slots >= 2 { self.pair(none, none) } else { 0.0 };
        let constant = self.constant + empty * self.linear[none] + 0.5 * empty * (empty - 1.0) * own;
        let shift = |a: usize| if self.slots >= 2 { empty * self.pair(a, none) } else { 0.0 };
        (constant, (0..self.m).map(|a| self.linear[a] + shift(a)).collect())
    }

    /// The completions above the cutoff, for one or two slots, where the model is exact; and the largest value below.
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

    /// The completions above the cutoff. Looks at about `effort` terms one by one, and bounds the rest more coarsely.
    pub(super) fn above(&self, cutoff: f64, effort: u64) -> Above {
        let m = self.m;
        let (_, linear) = self.of_size(self.slots);
        let row = |a: usize| (0..m).filter(move |&b| b != a).map(move |b| self.pair(a, b));
        // half[r][a]: half of the sum of the r largest pairs of a, with pairs of "no unit" left out.
        let mut half = vec![vec![0.0; m]; self.slots];
        for a in 0..m {
            let mut sorted: Vec<f64> = row(a).collect();
            sorted.sort_unstable_by(|x, y| y.total_cmp(x));
            let mut sum = 0.0;
            for r in 1..self.slots {
                sum += 0.5 * sorted.get(r - 1).copied().unwrap_or(0.0);
                half[r][a] = sum;
            }
        }
        let mut order: Vec<usize> = (0..m).collect();
        let promise: Vec<f64> = (0..m).map(|a| linear[a] + half[self.slots - 1][a]).collect();
        order.sort_by(|&a, &b| promise[a].total_cmp(&promise[b]).then(a.cmp(&b)));
        let mut ordered = vec![0.0; m * m];
        for (i, &a) in order.iter().enumerate() {
            for (j, &b) in order.iter().enumerate() {
                ordered[i * m + j] = self.pair(a, b);
            }
        }
        for sums in &mut half {
            *sums = order.iter().map(|&a| sums[a]).collect();
        }
        let itself = self.of_size(0).0;
        let mut search = Search {
            m,
            pairs: &ordered,
            half: &half,
            cutoff,
            effort,
            scores: vec![vec![0.0; m]; self.slots],
            prefix: Vec::with_capacity(self.slots),
            branches: vec![(f64::NEG_INFINITY, vec![false; m]); m],
            below: if itself > cutoff { f64::NEG_INFINITY } else { itself },
        };
        for size in (1..=self.slots.min(m)).rev() {
            let (constant, linear) = self.of_size(size);
            search.scores[0] = order.iter().map(|&a| linear[a]).collect();
            search.extend(constant, 0, size);
        }
        let Search { branches, below, .. } = search;
        Above { order, branches, itself: (itself > cutoff).then_some(itself), below }
    }
}

/// Depth-first search through the completions of one size.
struct Search<'a> {
    m: usize,
    /// Pairs in the order of the search.
    pairs: &'a [f64],
    half: &'a [Vec<f64>],
    cutoff: f64,
    effort: u64,
    /// By depth: what each unit adds to the units of the prefix.
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
                let total = value + self.scores[depth][b];
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

    /// A completion above the cutoff: the prefix, unit `a`, and perhaps any of the units after it before `to`.
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
