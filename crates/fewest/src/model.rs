//! A trained SVM on chosen features: two classes by one machine, more by one machine per pair (one-vs-one).

use crate::dual::DualSolution;
use crate::kernel::Kernel;
use crate::{Design, Error, RowMatrix, SvmSettings};

/// What to train.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FitSettings {
    /// Cost, loss, bias, tolerance.
    pub svm: SvmSettings,
    /// Kernel. With [`Kernel::Linear`] the machines have weights, otherwise support vectors.
    pub kernel: Kernel,
}

/// One two-class machine: positive decision values vote for class `positive`.
#[derive(Debug, Clone)]
pub struct Machine {
    /// Class (index) on the negative side.
    pub negative: u32,
    /// Class (index) on the positive side.
    pub positive: u32,
    /// Linear: weight of each of the model's features. Empty otherwise.
    pub weights: Vec<f64>,
    /// Other kernels: (row of `Model::support_vectors`, beta). Empty for linear.
    pub coefficients: Vec<(usize, f64)>,
    /// Bias b.
    pub bias: f64,
    /// The solution it came from (objectives, residual, beta by training sample of the pair).
    pub solution: DualSolution,
}

/// A trained classifier.
#[derive(Debug, Clone)]
pub struct Model {
    /// Columns of the training design it uses, in this order.
    pub features: Vec<usize>,
    /// Kernel.
    pub kernel: Kernel,
    /// Number of classes.
    pub n_classes: u32,
    /// One machine for two classes, `k (k - 1) / 2` for k, ordered (0,1), (0,2), ..., (1,2), ...
    pub machines: Vec<Machine>,
    /// Support vectors of all machines (rows, the model's features as columns); no rows for a linear kernel.
    pub support_vectors: RowMatrix,
}

/// Trains on the given features. `classes` holds the class of each sample (0, 1, ... n_classes - 1; for two classes 1 is
/// the positive one), `weights` multiply the cost of each sample (length n).
///
/// # Errors
/// Settings out of range, or a class without samples.
pub fn fit(
    design: &dyn Design,
    features: &[usize],
    classes: &[u32],
    weights: &[f64],
    settings: &FitSettings,
) -> Result<Model, Error> {
    let _ = (design, features, classes, weights, settings);
    Err(Error::Data("fit is being built".into()))
}

impl Model {
    /// Decision values, sample after sample, one per machine. `design` has the training design's columns.
    pub fn decisions(&self, design: &dyn Design) -> Vec<f64> {
        let _ = design;
        Vec::new()
    }

    /// Predicted class of each sample: the sign for two classes, else the most votes, ties to the smaller class.
    pub fn predict(&self, design: &dyn Design) -> Vec<u32> {
        let _ = design;
        Vec::new()
    }
}
