//! Gain `alignment`: which subsets of a box its model leaves above a level, and whose child holds
//! each of them.

use crate::file::Checked;
use crate::model::Model;

/// Terms that a search through one model may look at.
const MOST_STEPS: u64 = 1 << 35;
/// Terms after which the caller is told.
const TICK: u64 = 1 << 25;
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
    tick: &mut dyn FnMut(u64) -> Checked<()>,
) -> Checked<Vec<Vec<usize>>> {
    let (m, none) = (order.len(), model.linear.len() - 1);
    let mut owner = vec![None; m];
    children.iter().enumerate().for_each(|(c, child)| owner[child.first] = Some(c));
    let (prefix, alone, scores) = (Vec::new(), Vec::new(), vec![vec![0.0; m]; slots]);
    let thirds = Thirds::new(model, order, slots);
    let (whole, within, plain) = (Terms::default(), Terms::default(), Vec::new());
    let mut search = Search {
        m,
        model,
        order,
        slots,
        size: 0,
        constant: 0.0,
        plain,
        thirds,
        whole,
        within,
        level,
        scores,
        prefix,
        owner,
        children,
        alone,
        bytes: 0,
        steps: 0,
        told: 0,
        tick,
    };
    for size in 1..=slots.min(m) {
        let empty = (slots - size) as f64;
        let (two, three) = (0.5 * empty * (empty - 1.0), empty * (empty - 1.0) * (empty - 2.0) / 6.0);
        search.constant = model.constant + empty * model.linear[none];
        let mut linear = model.linear.clone();
        if slots > 1 {
            search.constant += two * model.pair(none, none) + three * model.triple(none, none, none);
            let of = |a| empty * model.pair(a, none) + two * model.triple(a, none, none);
            linear.iter_mut().enumerate().for_each(|(a, x)| *x += of(a));
        }
        search.scores[0] = order.iter().map(|&a| linear[a]).collect();
        search.begin(size, empty);
        search.extend(search.constant, 0, size, None)?;
    }
    (search.tick)(search.steps - search.told)?;
    let columns = |set: Vec<usize>| set.into_iter().map(|a| order[a]).collect();
    let mut alone: Vec<Vec<usize>> = search.alone.into_iter().map(columns).collect();
    if model.itself > level {
        alone.push(Vec::new());
    }
    Ok(alone)
}

/// Pairs by position, and with how many of the largest of its pairs a unit counts at most.
#[derive(Default)]
struct Terms {
    pairs: Vec<f64>,
    /// `half[r][a]`: half of the sum of the r largest pairs of a.
    half: Vec<Vec<f64>>,
}

impl Terms {
    /// Of units from position `from` on, with sums of up to `most` pairs.
    fn new(pairs: Vec<f64>, m: usize, from: usize, most: usize) -> Self {
        let mut half = vec![vec![0.0; m]; most + 1];
        for a in (from..m).filter(|_| most > 0) {
            let mut sorted: Vec<f64> = (from..m).filter(|b| *b != a).map(|b| pairs[a * m + b]).collect();
            sorted.sort_unstable_by(|x, y| y.total_cmp(x));
            for r in 1..=most {
                half[r][a] = half[r - 1][a] + 0.5 * sorted.get(r - 1).copied().unwrap_or(0.0);
            }
        }
        Self { pairs, half }
    }
}

/// `[r][a * m + b]`: a third of the sum of the r largest triples of a and b, by position. A triple
/// of a set counts with its three pairs.
struct Thirds(Vec<Vec<f64>>);

impl Thirds {
    fn new(model: &Model, order: &[usize], slots: usize) -> Self {
        let m = order.len();
        let most = if model.triples.is_empty() { 0 } else { slots - 2 };
        let mut out = vec![vec![0.0; m * m]; most + 1];
        for a in (0..m).filter(|_| most > 0) {
            for b in a + 1..m {
                let others = (0..m).filter(|c| *c != a && *c != b);
                let mut sorted: Vec<f64> = others.map(|c| model.triple(order[a], order[b], order[c])).collect();
                sorted.sort_unstable_by(|x, y| y.total_cmp(x));
                for r in 1..=most {
                    let sum = out[r - 1][a * m + b] + sorted.get(r - 1).copied().unwrap_or(0.0) / 3.0;
                    (out[r][a * m + b], out[r][b * m + a]) = (sum, sum);
                }
            }
        }
        Self(out)
    }

    /// These pairs with what r others of the set add.
    fn add(&self, pairs: &[f64], r: usize) -> Vec<f64> {
        let of = |part: &Vec<f64>| pairs.iter().zip(part).map(|(x, y)| x + y).collect();
        self.0.get(r).map_or_else(|| pairs.to_vec(), of)
    }
}

/// Depth-first search through the completions of one size; units by position.
struct Search<'c> {
    m: usize,
    model: &'c Model,
    order: &'c [usize],
    slots: usize,
    /// Of the completions at hand: how many units, the constant, pairs without triples.
    size: usize,
    constant: f64,
    plain: Vec<f64>,
    thirds: Thirds,
    /// For the first unit, and, where there are triples, for those after it: triples with the first
    /// unit belong to the other two.
    whole: Terms,
    within: Terms,
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
    /// How many of them the caller was told of.
    told: u64,
    tick: &'c mut dyn FnMut(u64) -> Checked<()>,
}

impl Search<'_> {
    fn cubic(&self) -> bool {
        !self.model.triples.is_empty()
    }

    /// Begins with the completions of this size, which leave so many slots empty.
    fn begin(&mut self, size: usize, empty: f64) {
        let (m, model, order) = (self.m, self.model, self.order);
        self.steps += (m * m) as u64;
        self.size = size;
        self.plain = vec![0.0; if self.slots > 1 { m * m } else { 0 }];
        for (row, &a) in self.plain.chunks_exact_mut(m).zip(order) {
            let of = |b: usize| model.pair(a, b) + empty * model.triple(a, b, self.model.linear.len() - 1);
            row.iter_mut().zip(order).for_each(|(x, &b)| *x = of(b));
        }
        self.whole = Terms::new(self.thirds.add(&self.plain, size.saturating_sub(2)), m, 0, size.saturating_sub(2));
    }

    /// Goes on behind a first unit, of which the scores at depth 1 tell.
    fn follow(&mut self, a: usize) {
        let (m, model, order) = (self.m, self.model, self.order);
        let mut pairs = self.thirds.add(&self.plain, self.size - 3);
        for b in a + 1..m {
            let others = (a + 1..m).filter(|&c| c != b);
            others.for_each(|c| pairs[b * m + c] += model.triple(order[a], order[b], order[c]));
        }
        self.within = Terms::new(pairs, m, a + 1, self.size - 3);
        for b in a + 1..m {
            self.scores[1][b] = self.scores[0][b] + self.plain[a * m + b];
        }
        self.steps += (m * m) as u64;
    }

    /// The model of the prefix and unit b.
    fn value(&self, b: usize) -> f64 {
        let (model, none) = (self.model, self.model.linear.len() - 1);
        let units: Vec<usize> = self.prefix.iter().chain([&b]).map(|&a| self.order[a]).collect();
        let empty = (self.slots - self.size) as f64;
        let mut value = self.constant;
        for (i, &a) in units.iter().enumerate() {
            let two = 0.5 * empty * (empty - 1.0);
            value += model.linear[a] + empty * model.pair(a, none) + two * model.triple(a, none, none);
            for (j, &b) in units[..i].iter().enumerate() {
                value += model.pair(a, b) + empty * model.triple(a, b, none);
                value += units[..j].iter().map(|&c| model.triple(a, b, c)).sum::<f64>();
            }
        }
        value
    }

    /// Extends the prefix, worth `value`, by `left` units from position `from` on. `child` is the
    /// one that holds the prefix.
    fn extend(&mut self, value: f64, from: usize, left: usize, child: Option<usize>) -> Checked<()> {
        let depth = self.prefix.len();
        self.steps += (self.m - from) as u64;
        if self.steps > MOST_STEPS {
            return Err("its model has too many subsets above the level".to_owned());
        }
        if self.steps > self.told + TICK {
            let more = self.steps - std::mem::replace(&mut self.told, self.steps);
            (self.tick)(more)?;
        }
        if left == 1 {
            if value + largest(&self.scores[depth][from..]) <= self.level {
                return Ok(());
            }
            for b in from..self.m {
                let mut total = value + self.scores[depth][b];
                if total > self.level && depth > 2 && self.cubic() {
                    total = self.value(b);
                    self.steps += (depth * depth * depth) as u64;
                }
                if total > self.level {
                    self.meet(b, total, child)?;
                }
            }
            return Ok(());
        }
        for a in from..=self.m - left {
            let with = value + self.scores[depth][a];
            let behind = depth > 0 && self.cubic();
            let (done, next) = self.scores.split_at_mut(depth + 1);
            let Terms { pairs, half } = if behind { &self.within } else { &self.whole };
            let (row, half) = (&pairs[a * self.m..], &half[left - 2]);
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
            if depth == 0 && left > 2 && self.cubic() {
                self.follow(a);
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
