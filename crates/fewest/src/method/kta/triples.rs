//! Numbers for three and four columns of a node: the third and fourth order of its sums.

use std::ops::Range;

/// Most slots of a node with a model; with more it has only the monotone bound.
pub(super) const MOST_SLOTS: usize = 12;
/// Most free units of a model of third order, by slots, and most multiply-adds: with few slots left
/// the nodes below take less time than the model (`bench/log/kta.md`).
const TRIPLES_OF_THREE: usize = 24;
const TRIPLES_OF_FOUR: (usize, f64) = (100, 2e10);
const TRIPLES_OF_MORE: (usize, f64) = (250, 2e11);
/// Most free units, and fewest slots, of a model of fourth order.
const MOST_OF_FOURS: usize = 40;
const LEAST_SLOTS_OF_FOURS: usize = 6;

/// Order up to which the model of a node is exact, for sums over this many pairs of samples.
pub(super) fn order(free: usize, slots: usize, pairs: usize) -> usize {
    let pays = |(most, work): (usize, f64)| {
        // Small ones are worth it however many pairs there are.
        free <= MOST_OF_FOURS || free <= most && pairs as f64 * (free as f64).powi(3) / 6.0 <= work
    };
    match slots {
        LEAST_SLOTS_OF_FOURS..=MOST_SLOTS if free <= MOST_OF_FOURS => 4,
        5..=MOST_SLOTS if pays(TRIPLES_OF_MORE) => 3,
        4 if pays(TRIPLES_OF_FOUR) => 3,
        3 if free <= TRIPLES_OF_THREE => 3,
        2..=MOST_SLOTS => 2,
        0 | 1 => slots,
        _ => 0,
    }
}

/// Numbers of the third and fourth order that a model of this order takes.
pub(super) fn triples(free: usize, order: usize) -> usize {
    match order {
        3 => Triples::length(free + 1),
        4 => Triples::length(free + 1) + Fours::length(free + 1),
        _ => 0,
    }
}

/// A number for each three columns a < b < c, the last of which, "no unit", may stand more than
/// once: for each b a matrix of those before it by those after it.
#[derive(Debug, Clone, Default)]
pub(super) struct Triples {
    columns: usize,
    begins: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// A number for each four columns a < b < c < d, as [`Triples`] has them for three: for each b a
/// matrix of those before it by the pairs after it.
#[derive(Debug, Clone, Default)]
pub(super) struct Fours {
    columns: usize,
    begins: Vec<usize>,
    pub(super) values: Vec<f64>,
}

/// The first column that may follow a.
pub(super) fn after(columns: usize, a: usize) -> usize {
    (a + 1).min(columns - 1)
}

/// Number of columns that may come before b.
pub(super) fn before(columns: usize, b: usize) -> usize {
    if b + 1 == columns { columns } else { b }
}

/// Pairs c < d of columns from `from` on, where "no unit" is its own partner.
pub(super) fn pairs(columns: usize, from: usize) -> impl Iterator<Item = (usize, usize)> {
    (from..columns).flat_map(move |c| (after(columns, c)..columns).map(move |d| (c, d)))
}

/// Number of these pairs.
fn count(columns: usize, from: usize) -> usize {
    let left = columns - from;
    left * (left - 1) / 2 + 1
}

/// The place where the part of each b begins, and the end.
fn begins(columns: usize, width: impl Fn(usize) -> usize) -> Vec<usize> {
    let ends = (0..columns).scan(0, |sum, b| {
        *sum += before(columns, b) * width(after(columns, b));
        Some(*sum)
    });
    std::iter::once(0).chain(ends).collect()
}

impl Triples {
    pub(super) fn new(columns: usize) -> Self {
        let begins = begins(columns, |from| columns - from);
        Self { columns, values: vec![0.0; Self::length(columns)], begins }
    }

    pub(super) fn length(columns: usize) -> usize {
        begins(columns, |from| columns - from)[columns]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The matrix of b, row after row.
    pub(super) fn part(&self, b: usize) -> Range<usize> {
        self.begins[b]..self.begins[b + 1]
    }

    /// The number of three columns in any order.
    pub(super) fn get(&self, a: usize, b: usize, c: usize) -> f64 {
        let (first, last) = (a.min(b).min(c), a.max(b).max(c));
        let middle = a + b + c - first - last;
        let from = after(self.columns, middle);
        self.values[self.begins[middle] + first * (self.columns - from) + last - from]
    }

    /// Calls f with the columns of each triple and its number.
    fn each(&mut self, mut f: impl FnMut([usize; 3], &mut f64)) {
        let columns = self.columns;
        let mut values = self.values.iter_mut();
        for b in 0..columns {
            for a in 0..before(columns, b) {
                (after(columns, b)..columns).zip(&mut values).for_each(|(c, x)| f([a, b, c], x));
            }
        }
    }

    /// Raises each by the product of its columns' numbers.
    pub(super) fn raise(&mut self, by: &[f64]) {
        self.each(|[a, b, c], x| *x += by[a] * by[b] * by[c]);
    }

    /// Adds to each of them what fours that hold it add at most to a set of k columns, a quarter of
    /// each for each of its triples: those with the k - 3 largest others, "no unit" among them as
    /// often as it likes.
    pub(super) fn take(&mut self, fours: &Fours, k: usize) {
        let none = self.columns - 1;
        let mut others: Vec<f64> = Vec::with_capacity(self.columns);
        self.each(|[a, b, c], x| {
            let empty = fours.get([a, b, c, none]);
            let units = (0..none).filter(|d| ![a, b, c].contains(d));
            others.clear();
            others.extend(units.map(|d| fours.get([a, b, c, d])).filter(|four| *four > empty));
            others.sort_unstable_by(|x, y| y.total_cmp(x));
            others.resize(k - 3, empty);
            *x += 0.25 * others.iter().sum::<f64>();
        });
    }
}

impl Fours {
    pub(super) fn new(columns: usize) -> Self {
        let begins = begins(columns, |from| count(columns, from));
        Self { columns, values: vec![0.0; Self::length(columns)], begins }
    }

    pub(super) fn length(columns: usize) -> usize {
        begins(columns, |from| count(columns, from))[columns]
    }

    /// The matrix of b, row after row.
    pub(super) fn part(&self, b: usize) -> Range<usize> {
        self.begins[b]..self.begins[b + 1]
    }

    fn get(&self, mut of: [usize; 4]) -> f64 {
        of.sort_unstable();
        let [a, b, c, d] = of;
        let width = count(self.columns, after(self.columns, b));
        let pair = width - count(self.columns, c) + d - after(self.columns, c);
        self.values[self.begins[b] + a * width + pair]
    }

    /// Raises each by the product of its columns' numbers.
    pub(super) fn raise(&mut self, by: &[f64]) {
        let columns = self.columns;
        let mut values = self.values.iter_mut();
        for b in 0..columns {
            for a in 0..before(columns, b) {
                let two = by[a] * by[b];
                pairs(columns, after(columns, b)).zip(&mut values).for_each(|((c, d), x)| *x += two * by[c] * by[d]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_of_columns_has_its_own_number() {
        for columns in 1..8 {
            let (mut triples, mut fours) = (Triples::new(columns), Fours::new(columns));
            let numbers: Vec<f64> = [2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0][..columns].to_vec();
            triples.raise(&numbers);
            fours.raise(&numbers);
            let distinct = |a: usize, b: usize| a < b || (a == b && b + 1 == columns);
            for (c, d) in (0..columns).flat_map(|c| (0..columns).map(move |d| (c, d))).filter(|of| distinct(of.0, of.1))
            {
                for b in (0..columns).filter(|&b| distinct(b, c)) {
                    assert_eq!(triples.get(c, d, b), numbers[b] * numbers[c] * numbers[d]);
                    for a in (0..columns).filter(|&a| distinct(a, b)) {
                        assert_eq!(fours.get([d, a, c, b]), numbers[a] * numbers[b] * numbers[c] * numbers[d]);
                    }
                }
            }
        }
    }
}
