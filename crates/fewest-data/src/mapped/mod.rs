//! The matrix of a column file (`columns`): compressed columns in a map, divided by a scale on the
//! way.

mod map;

use std::sync::Arc;

use fewest::{Design, RowMatrix, SparseDesign};

pub(crate) use map::Map;

/// Entries that are looked at before the memory they take is given back: 12 MiB of rows and values.
const BLOCK: usize = 1 << 20;

/// Sparse matrix whose rows and values stay in a mapped file; only the column starts and the scale
/// are in memory. The formulas are those of [`SparseDesign`], asked for on a view of the map.
#[derive(Debug, Clone)]
pub struct MappedDesign {
    n: usize,
    /// Length p + 1.
    start: Vec<usize>,
    map: Arc<Map>,
    /// Where the row indices and the values begin in the map.
    offsets: (usize, usize),
    /// What the values are divided by, length p; none for 1.
    divisors: Option<Vec<f64>>,
}

impl MappedDesign {
    pub(crate) fn new(n: usize, start: Vec<usize>, map: Arc<Map>, offsets: (usize, usize)) -> Self {
        Self { n, start, map, offsets, divisors: None }
    }

    /// The arrays as they are in the file.
    pub(crate) fn raw(&self) -> SparseDesign<'_> {
        let stored = self.start[self.start.len() - 1];
        let section = |at: usize, width: usize| &self.map.bytes()[at..at + width * stored];
        // Sections begin at multiples of 64 bytes of a map that begins at a page.
        let rows = bytemuck::cast_slice(section(self.offsets.0, 4));
        let values = bytemuck::cast_slice(section(self.offsets.1, 8));
        SparseDesign::view(self.n, &self.start, rows, values)
    }

    /// Tells the system that no page is needed for now; they are read again when they are looked at.
    pub fn give_back(&self) {
        self.map.give_back();
    }

    /// Gives pages back after columns `first` to before `last` were looked at.
    pub(crate) fn passed(&self, first: usize, last: usize) {
        self.map.passed(self.start[first], self.start[last], 12);
    }

    /// Ends of the blocks of columns from `first` to before `last` that hold about [`BLOCK`]
    /// entries each.
    pub(crate) fn blocks(&self, first: usize, last: usize) -> Vec<usize> {
        let mut ends = Vec::new();
        let mut from = first;
        while from < last {
            let ahead = &self.start[from + 1..=last];
            let end = from + ahead.partition_point(|&s| s <= self.start[from] + BLOCK).max(1);
            ends.push(end);
            from = end;
        }
        ends
    }

    /// Divides column j by `divisors[j]` from now on, without a copy. Length p, none 0.
    pub(crate) fn divide(&mut self, divisors: &[f64]) {
        assert_eq!(divisors.len(), self.n_features(), "one divisor a column");
        match &mut self.divisors {
            None => self.divisors = Some(divisors.to_vec()),
            Some(all) => all.iter_mut().zip(divisors).for_each(|(a, d)| *a *= d),
        }
    }

    fn divisor(&self, j: usize) -> f64 {
        self.divisors.as_ref().map_or(1.0, |d| d[j])
    }

    /// Bytes of memory: column starts, scale, and what may stay of the map.
    pub(crate) fn bytes(&self) -> u64 {
        let starts = 8 * self.start.len() as u64;
        let scale = self.divisors.as_ref().map_or(0, |d| 8 * d.len() as u64);
        starts + scale + self.map.limit.min(12 * self.stored() as u64)
    }

    /// Whether every row has a value of the column, so that it may be constant without being 0.
    pub(crate) fn is_full(&self, j: usize) -> bool {
        self.start[j + 1] - self.start[j] == self.n
    }

    /// Whether no row has a value of the column.
    pub(crate) fn is_empty(&self, j: usize) -> bool {
        self.start[j + 1] == self.start[j]
    }

    /// Values of column j, scaled.
    pub(crate) fn values(&self, j: usize) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.start[j + 1] - self.start[j]);
        self.each_in_column(j, &mut |_, x| out.push(x));
        out
    }

    /// Rows and values of column j, scaled.
    pub(crate) fn entries(&self, j: usize) -> Vec<(usize, f64)> {
        let mut out = Vec::new();
        self.each_in_column(j, &mut |i, x| out.push((i, x)));
        out
    }

    /// The value of sample i, feature j.
    pub(crate) fn value(&self, i: usize, j: usize) -> f64 {
        let raw = self.raw();
        let (rows, values) = raw.column(j);
        rows.binary_search(&(i as u32)).map_or(0.0, |at| values[at]) / self.divisor(j)
    }

    /// Columns, and of them the rows with a place, in memory; `None` makes a column of zeros.
    pub(crate) fn copied(
        &self,
        n: usize,
        columns: &[Option<usize>],
        place: impl Fn(usize) -> Option<u32>,
    ) -> SparseDesign<'static> {
        let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for column in columns {
            if let &Some(j) = column {
                self.each_in_column(j, &mut |i, x| {
                    if let Some(i) = place(i) {
                        rows.push(i);
                        values.push(x);
                    }
                });
            }
            start.push(rows.len());
        }
        SparseDesign::new(n, start, rows, values).expect("columns of a valid matrix")
    }

    /// All of it in memory.
    pub(crate) fn loaded(&self) -> SparseDesign<'static> {
        let all: Vec<Option<usize>> = (0..self.n_features()).map(Some).collect();
        self.copied(self.n, &all, |i| Some(i as u32))
    }
}

impl Design for MappedDesign {
    fn n_samples(&self) -> usize {
        self.n
    }
    fn n_features(&self) -> usize {
        self.start.len() - 1
    }
    fn stored(&self) -> usize {
        self.start[self.start.len() - 1]
    }
    fn is_sparse(&self) -> bool {
        true
    }
    fn dot_column(&self, j: usize, v: &[f64]) -> f64 {
        let dot = self.raw().dot_column(j, v);
        self.passed(j, j + 1);
        dot / self.divisor(j)
    }
    fn dot_columns(&self, first: usize, v: &[f64], out: &mut [f64]) {
        let raw = self.raw();
        let mut from = first;
        for end in self.blocks(first, first + out.len()) {
            raw.dot_columns(from, v, &mut out[from - first..end - first]);
            self.passed(from, end);
            from = end;
        }
        if let Some(divisors) = &self.divisors {
            out.iter_mut().zip(&divisors[first..]).for_each(|(c, d)| *c /= d);
        }
    }
    fn add_column(&self, j: usize, s: f64, out: &mut [f64]) {
        self.raw().add_column(j, s / self.divisor(j), out);
        self.passed(j, j + 1);
    }
    fn each_in_column(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        let divisor = self.divisor(j);
        self.raw().each_in_column(j, &mut |i, x| f(i, x / divisor));
        self.passed(j, j + 1);
    }
    fn sparse_column(&self, j: usize, f: &mut dyn FnMut(&[u32], &[f64], f64)) -> bool {
        let raw = self.raw();
        let (rows, values) = raw.column(j);
        f(rows, values, self.divisor(j));
        self.passed(j, j + 1);
        true
    }
    fn rows(&self, features: &[usize]) -> RowMatrix {
        let rows = self.raw().rows(features);
        for &j in features {
            self.passed(j, j + 1);
        }
        let Some(divisors) = &self.divisors else { return rows };
        rows.divided(&features.iter().map(|&j| divisors[j]).collect::<Vec<f64>>())
    }
    fn select_samples(&self, samples: &[usize]) -> Box<dyn Design> {
        let mut place = vec![None; self.n];
        samples.iter().enumerate().for_each(|(at, &i)| place[i] = Some(at as u32));
        let all: Vec<Option<usize>> = (0..self.n_features()).map(Some).collect();
        Box::new(self.copied(samples.len(), &all, |i| place[i]))
    }
}
