//! The matrix of a column file (`columns`): compressed columns in a map, divided by a scale on the
//! way.

mod map;

use std::ops::Range;
use std::sync::Arc;

use fewest_svm::{Design, RowMatrix, SparseDesign};

pub(crate) use map::Map;

/// Entries that are read before the memory they take is given back: 12 MiB of rows and values.
const BLOCK: usize = 1 << 20;

/// Columns of which only the starts are read before the memory they take is given back.
const STARTS: usize = 1 << 20;

/// Sparse matrix that stays in a mapped file; only the scale is in memory. The formulas are those
/// of [`SparseDesign`], asked for on a view of the map.
#[derive(Debug, Clone)]
pub struct MappedDesign {
    n: usize,
    /// The columns of the design, among those of the file.
    columns: Range<usize>,
    map: Arc<Map>,
    sections: Sections,
    /// No value in the file is larger in size.
    largest: f64,
    /// What the values are divided by, length p; none for 1.
    divisors: Option<Vec<f64>>,
}

/// Where columns begin among the values of a file, one more than columns: `at` is where the starts
/// of all begin. Files are mapped on little-endian machines of 64 bits only.
pub(crate) fn column_starts<'m>(bytes: &'m [u8], at: usize, columns: &Range<usize>) -> &'m [usize] {
    bytemuck::cast_slice(&bytes[at + 8 * columns.start..at + 8 * (columns.end + 1)])
}

/// Where the arrays of all columns begin in a map, and how many values they hold.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sections {
    pub(crate) starts: usize,
    pub(crate) rows: usize,
    pub(crate) values: usize,
    pub(crate) stored: usize,
}

impl MappedDesign {
    pub(crate) fn new(n: usize, columns: Range<usize>, map: Arc<Map>, sections: Sections, largest: f64) -> Self {
        Self { n, columns, map, sections, largest, divisors: None }
    }

    /// Where its columns begin among the values of the file, length p + 1.
    fn start(&self) -> &[usize] {
        column_starts(self.map.bytes(), self.sections.starts, &self.columns)
    }

    /// The arrays as they are in the file.
    pub(crate) fn raw(&self) -> SparseDesign<'_> {
        let Sections { rows, values, stored, .. } = self.sections;
        let section = |at: usize, width: usize| &self.map.bytes()[at..at + width * stored];
        // Sections begin at multiples of 64 bytes of a map that begins at a page.
        let (rows, values) = (section(rows, 4), section(values, 8));
        SparseDesign::view(self.n, self.start(), bytemuck::cast_slice(rows), bytemuck::cast_slice(values))
    }

    /// Tells the system that no page is needed for now; they are read again when they are examined.
    pub fn give_back(&self) {
        self.map.give_back();
    }

    /// Gives pages back after columns `first` to before `last` were read.
    pub(crate) fn passed(&self, first: usize, last: usize) {
        let start = self.start();
        let bytes = 12 * (start[last] - start[first]) + 8 * (last - first);
        self.map.passed(first, last, bytes as u64);
    }

    /// Ends of the blocks of columns from `first` to before `last` that hold about [`BLOCK`]
    /// entries each.
    pub(crate) fn blocks(&self, first: usize, last: usize) -> Vec<usize> {
        let (start, mut ends) = (self.start(), Vec::new());
        let mut from = first;
        while from < last {
            let ahead = &start[from + 1..=last];
            let end = from + ahead.partition_point(|&s| s <= start[from] + BLOCK).max(1);
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

    /// Bytes of memory: the scale, and what may stay of the map.
    pub(crate) fn bytes(&self) -> u64 {
        let mapped = 8 * self.start().len() as u64 + 12 * self.stored() as u64;
        let scale = self.divisors.as_ref().map_or(0, |d| 8 * d.len() as u64);
        scale + self.map.limit.min(mapped)
    }

    /// Values of column j.
    fn count(&self, j: usize) -> usize {
        let start = self.start();
        start[j + 1] - start[j]
    }

    /// How many values column j holds; pages are given back when one column after another is asked
    /// for.
    pub(crate) fn count_in_turn(&self, j: usize) -> usize {
        if j.is_multiple_of(STARTS) {
            self.map.passed(j, j + STARTS, 8 * STARTS as u64);
        }
        self.count(j)
    }

    /// Values of column j, scaled.
    pub(crate) fn values(&self, j: usize) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.count(j));
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
        self.columns.len()
    }
    fn stored(&self) -> usize {
        let start = self.start();
        start[start.len() - 1] - start[0]
    }
    fn is_sparse(&self) -> bool {
        true
    }
    fn largest_value(&self) -> Option<f64> {
        self.divisors.is_none().then_some(self.largest)
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
