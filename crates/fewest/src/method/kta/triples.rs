//! Numbers for three and four columns of a node: the third and fourth order of its sums.

use std::ops::Range;

/// A number for each three columns a < b < c, the last of which, "no unit", may stand more than
/// once: for each a the square matrix over the columns that may follow.
#[derive(Debug, Clone, Default)]
pub(super) struct Triples {
    pub(super) columns: usize,
    pub(super) values: Vec<f64>,
}

impl Triples {
    pub(super) fn new(columns: usize) -> Self {
        Self { columns, values: vec![0.0; Self::length(columns)] }
    }

    pub(super) fn length(columns: usize) -> usize {
        // The sides are columns - 1, ..., 1, and 1 for "no unit" three times.
        squares_below(columns) + 1
    }

    pub(super) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The first column that may follow a.
    pub(super) fn after(&self, a: usize) -> usize {
        (a + 1).min(self.columns - 1)
    }

    /// The matrix of those that follow a.
    pub(super) fn part(&self, a: usize) -> Range<usize> {
        let side = self.columns - self.after(a);
        let start = squares_below(self.columns) - squares_below(self.columns - a);
        start..start + side * side
    }

    /// Of three columns in any order.
    pub(super) fn get(&self, a: usize, b: usize, c: usize) -> f64 {
        let (first, last) = (a.min(b).min(c), a.max(b).max(c));
        let middle = a + b + c - first - last;
        let (from, side) = (self.after(first), self.columns - self.after(first));
        self.values[self.part(first).start + (middle - from) * side + last - from]
    }
}

/// 1 + 4 + ... + (n - 1)^2
fn squares_below(n: usize) -> usize {
    n * (n - 1) * (2 * n - 1) / 6
}

impl Triples {
    /// Raises each by the product of its columns' numbers.
    pub(super) fn raise(&mut self, by: &[f64]) {
        for a in 0..self.columns {
            let (from, part) = (self.after(a), self.part(a));
            for (b, row) in self.values[part].chunks_exact_mut(by.len() - from).enumerate() {
                row.iter_mut().zip(&by[from..]).for_each(|(x, c)| *x += by[a] * by[from + b] * c);
            }
        }
    }

    /// Adds to each of them what fours that hold it add at most to a set of k columns, a quarter of
    /// each for each of its triples: those with the k - 3 largest others, "no unit" among them as
    /// often as it likes.
    pub(super) fn take(&mut self, fours: &Fours, k: usize) {
        let none = self.columns - 1;
        let mut others: Vec<f64> = Vec::with_capacity(none);
        for a in 0..self.columns {
            let (from, start) = (self.after(a), self.part(a).start);
            let side = self.columns - from;
            for b in from..self.columns {
                for c in (b + 1).min(none)..self.columns {
                    let empty = fours.get([a, b, c, none]);
                    others.clear();
                    let units = (0..none).filter(|d| ![a, b, c].contains(d));
                    others.extend(units.map(|d| fours.get([a, b, c, d])).filter(|x| *x > empty));
                    others.sort_unstable_by(|x, y| y.total_cmp(x));
                    others.resize(k - 3, empty);
                    let sum = 0.25 * others.iter().sum::<f64>();
                    self.values[start + (b - from) * side + c - from] += sum;
                    if b < c {
                        self.values[start + (c - from) * side + b - from] += sum;
                    }
                }
            }
        }
    }
}

/// A number for each four columns, as [`Triples`] has them for three: for each column the triples
/// of those that may follow.
#[derive(Debug, Clone, Default)]
pub(super) struct Fours(pub(super) Vec<Triples>);

impl Fours {
    pub(super) fn new(columns: usize) -> Self {
        Self((0..columns).map(|a| Triples::new(columns - (a + 1).min(columns - 1))).collect())
    }

    pub(super) fn length(columns: usize) -> usize {
        (0..columns).map(|a| Triples::length(columns - (a + 1).min(columns - 1))).sum()
    }

    /// The first column that may follow a.
    pub(super) fn after(&self, a: usize) -> usize {
        (a + 1).min(self.0.len() - 1)
    }

    fn get(&self, mut of: [usize; 4]) -> f64 {
        of.sort_unstable();
        let [a, b, c, d] = of;
        let from = self.after(a);
        self.0[a].get(b - from, c - from, d - from)
    }

    /// Raises each by the product of its columns' numbers.
    pub(super) fn raise(&mut self, by: &[f64]) {
        for a in 0..self.0.len() {
            let from = self.after(a);
            let scaled: Vec<f64> = by[from..].iter().map(|x| by[a].cbrt() * x).collect();
            self.0[a].raise(&scaled);
        }
    }
}
