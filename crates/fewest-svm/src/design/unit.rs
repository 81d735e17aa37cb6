//! Units for solvers whose tolerances are absolute: users' data come in any.

use rayon::prelude::*;

use super::Design;

/// Values of this size, and their inverses, need no other unit.
const NEAR_ONE: f64 = 1024.0;

/// The power of two next below a positive number; 1 where that is near 1.
pub fn power(size: f64) -> f64 {
    let near = size == 0.0 || !size.is_finite() || (1.0 / NEAR_ONE..=NEAR_ONE).contains(&size);
    if near { 1.0 } else { size.log2().floor().exp2() }
}

/// The largest size of a value of feature j.
pub fn largest(design: &dyn Design, j: usize) -> f64 {
    let mut largest: f64 = 0.0;
    design.each_in_column(j, &mut |_, x| largest = largest.max(x.abs()));
    largest
}

/// A power of two for each feature (length p), over which its largest value is near 1.
pub fn units(design: &dyn Design) -> Vec<f64> {
    (0..design.n_features()).into_par_iter().map(|j| power(largest(design, j))).collect()
}

/// A power of two, over which the largest value of all features is near 1.
pub fn common_unit(design: &dyn Design) -> f64 {
    power((0..design.n_features()).into_par_iter().map(|j| largest(design, j)).reduce(|| 0.0, f64::max))
}
