//! A trained SVM on chosen features, also within bounds on its weights.

pub use fewest_svm::model::{Machine, Model, class_scores, elect, for_second};
#[doc(hidden)]
pub use fewest_svm::problem::class_pairs;

use crate::bound::saddle::train_within;
use crate::weights::check_two_classes;
use crate::{Clock, Design, Error, Kernel, Memory, SvmSettings, WeightBounds};

/// Settings of a training.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FitSettings {
    /// Cost, loss, bias, tolerance.
    pub svm: SvmSettings,
    /// Kernel. With [`Kernel::Linear`] the machines have weights, otherwise support vectors.
    pub kernel: Kernel,
    /// Features of the design that hold categories, for the RBF or Laplace kernel: their distance
    /// is 1 where they differ, else 0.
    pub categorical: Vec<usize>,
    /// Bounds on the weights of the design's features, for a linear kernel and two classes.
    pub weight_bounds: WeightBounds,
}

/// [`fewest_svm::fit`], within bounds on the weights.
///
/// # Errors
/// Settings out of range, shapes that do not fit, a class without samples, or bounds on the weights of
/// another kernel or of more classes than two.
pub fn fit(
    design: &dyn Design,
    features: &[usize],
    classes: &[u32],
    weights: &[f64],
    settings: &FitSettings,
    clock: &Clock,
) -> Result<Model, Error> {
    let FitSettings { svm, kernel, categorical, weight_bounds } = settings;
    let plain = fewest_svm::FitSettings { svm: svm.clone(), kernel: *kernel, categorical: categorical.clone() };
    if weight_bounds.is_free() {
        return fewest_svm::fit(design, features, classes, weights, &plain, clock);
    }
    if *kernel != Kernel::Linear {
        return Err(Error::Data("bounds on weights need the linear kernel: other kernels have no weights".into()));
    }
    check_two_classes(weight_bounds, classes.iter().max().map_or(0, |c| c + 1))?;
    let memory = Memory::new(svm.memory);
    fewest_svm::model::fit_by(design, features, classes, weights, &plain, &mut |design, of_samples, _| {
        train_within(design, features, weight_bounds, of_samples, svm, &memory, clock)
    })
}
