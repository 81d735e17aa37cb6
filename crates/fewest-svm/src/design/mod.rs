//! The data matrix X (n samples x p features), dense or sparse, behind one small trait.
//!
//! Columns are what feature selection works on, so both forms store columns. Where a solver needs
//! rows (coordinate descent), [`Design::rows`] makes a row-major copy of the chosen features only.

mod blocks;
mod centred;
mod dense;
mod joint;
mod pass;
mod recentred;
mod rows;
mod scattered;
mod source;
mod sparse;
mod stacked;
mod strided;
mod unit;

pub use centred::{Centred, scaled};
pub use dense::DenseDesign;
pub use joint::Joint;
pub use recentred::{Recentred, centres};
pub use rows::{Row, RowMatrix};
pub use scattered::Scattered;
pub use source::{Best, better, keep};
pub use source::{FeatureScore, ScoreQuery, Source};
pub use sparse::SparseDesign;
pub use stacked::Rows;
pub use strided::StridedDesign;
pub use unit::{common_unit, largest, power, units};

/// A data matrix with n samples (rows) and p features (columns), all values finite.
pub trait Design: Send + Sync {
    /// Number of samples n.
    fn n_samples(&self) -> usize;
    /// Number of features p.
    fn n_features(&self) -> usize;
    /// Number of stored values: n p when dense, the non-zeros when sparse.
    fn stored(&self) -> usize;
    /// Whether zeros are left out of the storage.
    fn is_sparse(&self) -> bool;
    /// x_j . v, with v of length n.
    fn dot_column(&self, j: usize, v: &[f64]) -> f64;
    /// `out_k = x_{first + k} . v`, with v of length n: the scores of `out.len()` columns in a row.
    fn dot_columns(&self, first: usize, v: &[f64], out: &mut [f64]) {
        for (k, out) in out.iter_mut().enumerate() {
            *out = self.dot_column(first + k, v);
        }
    }
    /// `out_k = x_{features_k} . v`, with v of length n: the scores of some columns.
    fn dot_chosen(&self, features: &[usize], v: &[f64], out: &mut [f64]) {
        for (out, &j) in out.iter_mut().zip(features) {
            *out = self.dot_column(j, v);
        }
    }
    /// out += s x_j, with out of length n.
    fn add_column(&self, j: usize, s: f64, out: &mut [f64]);
    /// Calls `f(i, x_ij)` for the stored values of column j in order of i.
    fn each_in_column(&self, j: usize, f: &mut dyn FnMut(usize, f64));
    /// Calls `f` once with the rows (ascending) and the values of column j and what the values are
    /// to be divided by, when it is stored that way; whether it is. For loops that would wait for
    /// the calls of [`Design::each_in_column`].
    #[expect(clippy::type_complexity, reason = "rows, values, divisor: a name for it would say no more")]
    fn sparse_column(&self, _j: usize, _f: &mut dyn FnMut(&[u32], &[f64], f64)) -> bool {
        false
    }
    /// The column as a slice of length n, when it is stored that way.
    fn dense_column(&self, _j: usize) -> Option<&[f64]> {
        None
    }
    /// No value is larger in size than this; none where that is not known without reading them.
    fn largest_value(&self) -> Option<f64> {
        None
    }
    /// Row-major copy of the given columns, in the order given (column `features[k]` becomes column
    /// k).
    fn rows(&self, features: &[usize]) -> RowMatrix;
    /// Copy with the given samples (ascending) only, all features.
    fn select_samples(&self, samples: &[usize]) -> Box<dyn Design>;

    /// ||x_j||^2.
    fn squared_norm(&self, j: usize) -> f64 {
        let mut sum = 0.0;
        self.each_in_column(j, &mut |_, x| sum += x * x);
        sum
    }
}
