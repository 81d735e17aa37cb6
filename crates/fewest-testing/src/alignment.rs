//! Kernel-target alignment by its definition.

use fewest::{Design, Subset};

use crate::dense_copy;

/// [`alignment_by`] for the Gaussian kernel.
pub fn alignment_value(design: &dyn Design, classes: &[u32], weights: &[f64], subset: &Subset, gamma: f64) -> f64 {
    alignment_by(design, classes, weights, subset, &|_, x, y| gamma * (x - y).powi(2))
}

/// Sum over pairs of classes of the squared distance of their means, from the definition: f of
/// tamura2022, eq. (27), for two classes. The kernel of two samples is `exp(-d)`, d the sum of
/// `distance(feature, x, y)` over the features of the subset.
pub fn alignment_by(
    design: &dyn Design,
    classes: &[u32],
    weights: &[f64],
    subset: &Subset,
    distance: &dyn Fn(usize, f64, f64) -> f64,
) -> f64 {
    let rows = dense_copy(design);
    let n = rows.len();
    let most = classes.iter().max().copied().unwrap_or(0);
    let total = |c: u32| (0..n).filter(|&i| classes[i] == c).map(|i| weights[i]).sum::<f64>();
    let mut sum = 0.0;
    for low in 0..=most {
        for high in low + 1..=most {
            if total(low) == 0.0 || total(high) == 0.0 {
                continue;
            }
            let psi: Vec<f64> = (0..n)
                .map(|i| match classes[i] {
                    c if c == low => -weights[i] / total(low),
                    c if c == high => weights[i] / total(high),
                    _ => 0.0,
                })
                .collect();
            for i in 0..n {
                for h in 0..n {
                    let d: f64 = subset.iter().map(|j| distance(j, rows[i][j], rows[h][j])).sum();
                    sum += psi[i] * psi[h] * (-d).exp();
                }
            }
        }
    }
    sum
}

/// The distance of a feature by its definition, gamma included: absolute or squared, of the
/// features listed 1 where values differ.
pub fn kernel_distance(gamma: f64, absolute: bool, categorical: &[usize]) -> impl Fn(usize, f64, f64) -> f64 {
    move |j, x, y| {
        let apart = match (categorical.contains(&j), absolute) {
            (true, _) => f64::from(u8::from(x != y)),
            (false, true) => (x - y).abs(),
            (false, false) => (x - y).powi(2),
        };
        gamma * apart
    }
}
