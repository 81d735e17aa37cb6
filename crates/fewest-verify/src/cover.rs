//! Gain `alignment`: which subsets of a box its model leaves above a level, and whose child holds
//! each of them.

use crate::file::Checked;
use crate::model::Model;

/// Terms that a search through one model may examine.
const MOST_STEPS: u64 = 1 << 35;
/// Terms after which the caller is asked.
const TICK: u64 = 1 << 25;
/// Bytes that the subsets above the level which no child holds may take.
const MOST_ALONE: usize = 1 << 24;

/// A part of a box: the subsets whose first free unit, by the order of the record, is this one and
/// whose other free units are partners.
pub(crate) struct Child {
    /// The child's first unit, by position in the order; none where that is decided.
    pub(crate) first: Option<usize>,
    /// Whether the unit at each position may follow; only units after the first.
    pub(crate) partners: Vec<bool>,
    /// The bound as stated; the search stops at it.
    stated: f64,
    /// No subset of the child is above this, or above the level.
    pub(crate) found: f64,
    /// From this position on all units are partners.
    full_from: usize,
}

impl Child {
    pub(crate) fn new(first: Option<usize>, stated: f64, partners: Vec<bool>) -> Self {
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
    tick: &mut dyn FnMut(u64) -> Checked<()>,
) -> Checked<Vec<Vec<usize>>> {
    let m = order.len();
    let mut owner = vec![None; m];
    let firsts = children.iter().enumerate().filter_map(|(c, child)| Some((c, child.first?)));
    firsts.for_each(|(c, first)| owner[first] = Some(c));
    let (form, pairs, half, scores) = (Form::default(), Vec::new(), Vec::new(), vec![vec![0.0; m]; slots]);
    let found = Found { children, ..Found::default() };
    let mut search =
        Search { m, model, order, form, pairs, half, level, scores, owner, prefix: Vec::new(), found, tick };
    for size in 1..=slots.min(m) {
        search.of_size(size, (slots - size) as f64)?;
    }
    (search.tick)(search.found.steps - search.found.reported)?;
    let columns = |set: Vec<usize>| set.into_iter().map(|a| order[a]).collect();
    let mut alone: Vec<Vec<usize>> = search.found.alone.into_iter().map(columns).collect();
    if model.itself > level {
        alone.push(Vec::new());
    }
    Ok(alone)
}

/// The model of completions by a number of units and "no unit" in all other slots, but for
/// triples of units; by position.
#[derive(Default)]
struct Form {
    constant: f64,
    linear: Vec<f64>,
    pairs: Vec<f64>,
}

/// What a search met.
#[derive(Default)]
struct Found<'c> {
    children: &'c mut [Child],
    /// Sets above the level that no child holds, and their bytes.
    alone: Vec<Vec<usize>>,
    bytes: usize,
    /// Terms examined, and how many of them the caller has heard of.
    steps: u64,
    reported: u64,
}

/// Depth-first search through the completions of one size; units by position.
struct Search<'c> {
    m: usize,
    model: &'c Model,
    order: &'c [usize],
    form: Form,
    /// Pairs that are searched, and `half[r][a]`: half of the sum of the r largest pairs of a.
    pairs: Vec<f64>,
    half: Vec<Vec<f64>>,
    level: f64,
    /// What each unit adds to the units of the prefix, by depth.
    scores: Vec<Vec<f64>>,
    prefix: Vec<usize>,
    /// The child whose first unit is at each position.
    owner: Vec<Option<usize>>,
    found: Found<'c>,
    tick: &'c mut dyn FnMut(u64) -> Checked<()>,
}

impl Search<'_> {
    /// Searches the completions of this size, which leave `empty` slots empty. With triples the
    /// search begins behind each first unit, where those of the first unit are pairs of the others.
    fn of_size(&mut self, size: usize, empty: f64) -> Checked<()> {
        let (m, model, order, none) = (self.m, self.model, self.order, self.model.linear.len() - 1);
        let (two, three) = (0.5 * empty * (empty - 1.0), empty * (empty - 1.0) * (empty - 2.0) / 6.0);
        let linear = |&a: &usize| model.linear[a] + empty * model.pair(a, none) + two * model.triple(a, none, none);
        let pair = |a: usize, b: usize| model.pair(a, b) + empty * model.triple(a, b, none);
        self.form = Form {
            constant: model.constant
                + empty * model.linear[none]
                + (two * model.pair(none, none) + three * model.triple(none, none, none)),
            linear: order.iter().map(linear).collect(),
            pairs: if size > 1 { square(order, pair) } else { Vec::new() },
        };
        self.found.steps += (m * m) as u64;
        if size < 3 || model.triples.is_empty() {
            let pairs = std::mem::take(&mut self.form.pairs);
            self.search_in(pairs, 0, size);
            self.scores[0].copy_from_slice(&self.form.linear);
            return self.extend(self.form.constant, 0, size, None);
        }
        let thirds = square(order, |a, b| third(model, a, b, size - 3));
        for a in 0..=m - size {
            let triples = square(order, |b, c| model.triple(order[a], b, c));
            let pairs = self.form.pairs.iter().zip(&thirds).zip(triples).map(|((x, y), z)| x + y + z);
            self.search_in(pairs.collect(), a + 1, size - 1);
            for b in a + 1..m {
                self.scores[1][b] = self.form.linear[b] + self.form.pairs[a * m + b];
            }
            self.found.steps += (m * m) as u64;
            self.prefix.push(a);
            self.extend(self.form.constant + self.form.linear[a], a + 1, size - 1, self.owner[a])?;
            self.prefix.pop();
        }
        Ok(())
    }

    /// Takes these pairs, of which `left` units from position `from` on are to come.
    fn search_in(&mut self, pairs: Vec<f64>, from: usize, left: usize) {
        let (m, most) = (self.m, left.saturating_sub(2));
        self.half = vec![vec![0.0; m]; most + 1];
        for a in (from..m).filter(|_| most > 0) {
            let largest = descending((from..m).filter(|b| *b != a).map(|b| pairs[a * m + b]));
            for r in 1..=most {
                self.half[r][a] = self.half[r - 1][a] + 0.5 * largest.get(r - 1).copied().unwrap_or(0.0);
            }
        }
        self.pairs = pairs;
    }

    /// The model of the prefix and unit b, triples and all.
    fn value(&self, b: usize) -> f64 {
        let (units, form) = ([&self.prefix[..], &[b]].concat(), &self.form);
        let mut value = form.constant;
        for (i, &a) in units.iter().enumerate() {
            value += form.linear[a];
            for (j, &b) in units[..i].iter().enumerate() {
                let triple = |&c: &usize| self.model.triple(self.order[a], self.order[b], self.order[c]);
                value += form.pairs[a * self.m + b] + units[..j].iter().map(triple).sum::<f64>();
            }
        }
        value
    }

    /// Extends the prefix, worth `value`, by `left` units from position `from` on. `child` is the
    /// one that holds the prefix.
    fn extend(&mut self, value: f64, from: usize, left: usize, child: Option<usize>) -> Checked<()> {
        let depth = self.prefix.len();
        self.found.steps += (self.m - from) as u64;
        if self.found.steps > MOST_STEPS {
            return Err("its model has too many subsets above the level".to_owned());
        }
        if self.found.steps > self.found.reported + TICK {
            let more = self.found.steps - std::mem::replace(&mut self.found.reported, self.found.steps);
            (self.tick)(more)?;
        }
        if left == 1 {
            if value + largest(&self.scores[depth][from..]) <= self.level {
                return Ok(());
            }
            for b in from..self.m {
                let mut total = value + self.scores[depth][b];
                if total > self.level && depth > 2 && !self.model.triples.is_empty() {
                    total = self.value(b);
                    self.found.steps += (depth * depth * depth) as u64;
                }
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
            self.found.steps += (self.m - a) as u64;
            let bound = with + (left - 1) as f64 * most;
            if bound <= self.level {
                continue;
            }
            let child = self.holder(a, child);
            if let Some(child) = child.map(|c| &mut self.found.children[c])
                && a + 1 >= child.full_from
                && bound <= child.stated
            {
                child.found = child.found.max(bound);
                continue;
            }
            self.prefix.push(a);
            self.extend(with, a + 1, left - 1, child)?;
            self.prefix.pop();
        }
        Ok(())
    }

    /// The child that holds the prefix and unit a.
    fn holder(&self, a: usize, child: Option<usize>) -> Option<usize> {
        if self.prefix.is_empty() { self.owner[a] } else { child.filter(|&c| self.found.children[c].partners[a]) }
    }

    /// Notes the prefix and unit b, which are above the level.
    fn meet(&mut self, b: usize, total: f64, child: Option<usize>) -> Checked<()> {
        if let Some(c) = self.holder(b, child) {
            self.found.children[c].found = self.found.children[c].found.max(total);
            return Ok(());
        }
        self.found.alone.push([&self.prefix[..], &[b]].concat());
        self.found.bytes += 24 + 8 * (self.prefix.len() + 1);
        if self.found.bytes > MOST_ALONE { Err("too many subsets are above the level".to_owned()) } else { Ok(()) }
    }
}

/// A number for each two columns, by their positions.
fn square(order: &[usize], number: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    order.iter().flat_map(|&a| order.iter().map(move |&b| (a, b))).map(|(a, b)| number(a, b)).collect()
}

/// A third of the sum of the r largest triples of two columns and a unit: a triple of a set counts
/// with its three pairs.
fn third(model: &Model, a: usize, b: usize, r: usize) -> f64 {
    let others = (0..model.linear.len() - 1).filter(|c| ![a, b].contains(c)).map(|c| model.triple(a, b, c));
    if r == 0 { 0.0 } else { descending(others).iter().take(r).sum::<f64>() / 3.0 }
}

fn descending(numbers: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_unstable_by(|x, y| y.total_cmp(x));
    numbers
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
