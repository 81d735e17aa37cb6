//! Gain `alignment`: which subsets of a box its model leaves above a level, and whose child holds
//! each of them.

use crate::file::Checked;
use crate::model::Model;

/// Terms that a search through one model may look at.
const MOST_STEPS: u64 = 1 << 35;
/// Bytes that the subsets above the level which no child holds may take.
const MOST_ALONE: usize = 1 << 24;

/// A part of a box: the subsets whose first free unit, by the order of the record, is this one and
/// whose other free units are partners.
pub(crate) struct Child {
    /// Its first unit, by position in the order.
    pub(crate) first: usize,
    /// By position: whether the unit may follow; only units after the first.
    pub(crate) partners: Vec<bool>,
    /// As stated; sought no further than to this.
    pub(crate) stated: f64,
    /// No subset of the child is above this, or above the level.
    pub(crate) found: f64,
    /// From this position on all units are partners.
    full_from: usize,
}

impl Child {
    pub(crate) fn new(first: usize, stated: f64, partners: Vec<bool>) -> Self {
        let full_from = partners.iter().rposition(|partner| !partner).map_or(0, |last| last + 1);
        Self { first, partners, stated, found: f64::NEG_INFINITY, full_from }
    }
}

/// Searches the completions of a box by at most `slots` units: all above `level` belong to a child,
/// which notes them, or are returned, by columns of the model. `order` are columns by position.
pub(crate) fn above(
    model: &Model,
    slots: usize,
    order: &[usize],
    level: f64,
    children: &mut [Child],
) -> Checked<Vec<Vec<usize>>> {
    let (m, columns) = (order.len(), model.linear.len());
    let none = columns - 1;
    let pair = |a: usize, b: usize| model.pairs[a * columns + b];
    let mut pairs = vec![0.0; if slots > 1 { m * m } else { 0 }];
    // half[r][a]: half of the sum of the r largest pairs of a.
    let mut half = vec![vec![0.0; m]; slots];
    for a in (0..m).filter(|_| slots > 1) {
        let row = &mut pairs[a * m..(a + 1) * m];
        row.iter_mut().zip(order).for_each(|(x, &b)| *x = pair(order[a], b));
        let mut sorted: Vec<f64> = (0..m).filter(|b| *b != a).map(|b| row[b]).collect();
        sorted.sort_unstable_by(|x, y| y.total_cmp(x));
        for r in 1..slots {
            half[r][a] = half[r - 1][a] + 0.5 * sorted.get(r - 1).copied().unwrap_or(0.0);
        }
    }
    let mut owner = vec![None; m];
    children.iter().enumerate().for_each(|(c, child)| owner[child.first] = Some(c));
    let (prefix, alone, scores) = (Vec::new(), Vec::new(), vec![vec![0.0; m]; slots]);
    let mut search = Search { m, pairs, half, level, scores, prefix, owner, children, alone, bytes: 0, steps: 0 };
    for size in 1..=slots.min(m) {
        let empty = (slots - size) as f64;
        let (mut constant, mut linear) = (model.constant + empty * model.linear[none], model.linear.clone());
        if slots > 1 {
            constant += 0.5 * empty * (empty - 1.0) * pair(none, none);
            linear.iter_mut().enumerate().for_each(|(a, x)| *x += empty * pair(a, none));
        }
        search.scores[0] = order.iter().map(|&a| linear[a]).collect();
        search.extend(constant, 0, size, None)?;
    }
    let columns = |set: Vec<usize>| set.into_iter().map(|a| order[a]).collect();
    let mut alone: Vec<Vec<usize>> = search.alone.into_iter().map(columns).collect();
    if model.itself > level {
        alone.push(Vec::new());
    }
    Ok(alone)
}

/// Depth-first search through the completions of one size; units by position.
struct Search<'c> {
    m: usize,
    pairs: Vec<f64>,
    half: Vec<Vec<f64>>,
    level: f64,
    /// By depth: what each unit adds to the units of the prefix.
    scores: Vec<Vec<f64>>,
    prefix: Vec<usize>,
    /// By position: the child whose first unit it is.
    owner: Vec<Option<usize>>,
    children: &'c mut [Child],
    alone: Vec<Vec<usize>>,
    bytes: usize,
    steps: u64,
}

impl Search<'_> {
    /// Extends the prefix, worth `value`, by `left` units from position `from` on. `child` is the
    /// one that holds the prefix.
    fn extend(&mut self, value: f64, from: usize, left: usize, child: Option<usize>) -> Checked<()> {
        let depth = self.prefix.len();
        self.steps += (self.m - from) as u64;
        if self.steps > MOST_STEPS {
            return Err("its model has too many subsets above the level".to_owned());
        }
        if left == 1 {
            if value + largest(&self.scores[depth][from..]) <= self.level {
                return Ok(());
            }
            for b in from..self.m {
                let total = value + self.scores[depth][b];
                if total > self.level {
                    self.meet(b, total, child)?;
                }
            }
            return Ok(());
        }
        for a in from..=self.m - left {
            let with = value + self.scores[depth][a];
            let (done, next) = self.scores.split_at_mut(depth + 1);
            let (row, half) = (&self.pairs[a * self.m..], &self.half[left - 2]);
            let most = add(&done[depth][a + 1..], &row[a + 1..self.m], &half[a + 1..], &mut next[0][a + 1..]);
            self.steps += (self.m - a) as u64;
            let bound = with + (left - 1) as f64 * most;
            if bound <= self.level {
                continue;
            }
            let child = self.holder(a, child);
            if let Some(c) = child {
                let child = &mut self.children[c];
                if a + 1 >= child.full_from && bound <= child.stated {
                    child.found = child.found.max(bound);
                    continue;
                }
            }
            self.prefix.push(a);
            self.extend(with, a + 1, left - 1, child)?;
            self.prefix.pop();
        }
        Ok(())
    }

    /// The child that holds the prefix and unit a.
    fn holder(&self, a: usize, child: Option<usize>) -> Option<usize> {
        if self.prefix.is_empty() { self.owner[a] } else { child.filter(|&c| self.children[c].partners[a]) }
    }

    /// Notes the prefix and unit b, which are above the level.
    fn meet(&mut self, b: usize, total: f64, child: Option<usize>) -> Checked<()> {
        if let Some(c) = self.holder(b, child) {
            self.children[c].found = self.children[c].found.max(total);
            return Ok(());
        }
        let set: Vec<usize> = self.prefix.iter().copied().chain([b]).collect();
        self.bytes += 24 + 8 * set.len();
        self.alone.push(set);
        if self.bytes > MOST_ALONE { Err("too many subsets are above the level".to_owned()) } else { Ok(()) }
    }
}

fn largest(x: &[f64]) -> f64 {
    let (chunks, rest) = x.as_chunks::<8>();
    let mut lanes = [f64::NEG_INFINITY; 8];
    for chunk in chunks {
        (0..8).for_each(|l| lanes[l] = if chunk[l] > lanes[l] { chunk[l] } else { lanes[l] });
    }
    lanes.iter().chain(rest).fold(f64::NEG_INFINITY, |most, x| most.max(*x))
}

/// out = x + y; returns the largest of x + y + z.
fn add(x: &[f64], y: &[f64], z: &[f64], out: &mut [f64]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; 8];
    for (((x, y), z), out) in x.chunks(8).zip(y.chunks(8)).zip(z.chunks(8)).zip(out.chunks_mut(8)) {
        for ((((x, y), z), out), lane) in x.iter().zip(y).zip(z).zip(out).zip(&mut lanes) {
            *out = x + y;
            let sum = *out + z;
            *lane = if sum > *lane { sum } else { *lane };
        }
    }
    largest(&lanes)
}
