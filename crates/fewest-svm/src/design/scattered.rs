//! Some columns of a larger matrix, under the indices that they have there.

use super::{Design, RowMatrix};

/// A matrix of p columns of which some are here; all others are zero.
pub struct Scattered {
    /// The columns that are here, in order of `features`.
    columns: Box<dyn Design>,
    /// Where each column of the matrix is in `columns`; `u32::MAX` for those that are zero.
    place: Vec<u32>,
}

impl Scattered {
    /// The columns of `rows` are those of `features`, of p.
    pub fn new(rows: &RowMatrix, features: &[usize], p: usize) -> Self {
        let mut place = vec![u32::MAX; p];
        features.iter().enumerate().for_each(|(at, &j)| place[j] = at as u32);
        Self { columns: rows.design(), place }
    }

    fn place(&self, j: usize) -> Option<usize> {
        Some(self.place[j]).filter(|at| *at != u32::MAX).map(|at| at as usize)
    }

    /// Where features are that are all here.
    fn places(&self, features: &[usize]) -> Vec<usize> {
        features.iter().map(|&j| self.place(j).expect("only columns that are here are copied")).collect()
    }
}

impl Design for Scattered {
    fn n_samples(&self) -> usize {
        self.columns.n_samples()
    }
    fn n_features(&self) -> usize {
        self.place.len()
    }
    fn stored(&self) -> usize {
        self.columns.stored()
    }
    fn is_sparse(&self) -> bool {
        self.columns.is_sparse()
    }
    fn dot_column(&self, j: usize, v: &[f64]) -> f64 {
        self.place(j).map_or(0.0, |at| self.columns.dot_column(at, v))
    }
    fn add_column(&self, j: usize, s: f64, out: &mut [f64]) {
        if let Some(at) = self.place(j) {
            self.columns.add_column(at, s, out);
        }
    }
    fn each_in_column(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        if let Some(at) = self.place(j) {
            self.columns.each_in_column(at, f);
        }
    }
    fn sparse_column(&self, j: usize, f: &mut dyn FnMut(&[u32], &[f64], f64)) -> bool {
        self.place(j).is_some_and(|at| self.columns.sparse_column(at, f))
    }
    fn dense_column(&self, j: usize) -> Option<&[f64]> {
        self.place(j).and_then(|at| self.columns.dense_column(at))
    }
    fn rows(&self, features: &[usize]) -> RowMatrix {
        self.columns.rows(&self.places(features))
    }
    fn select_samples(&self, samples: &[usize]) -> Box<dyn Design> {
        Box::new(Self { columns: self.columns.select_samples(samples), place: self.place.clone() })
    }
}
