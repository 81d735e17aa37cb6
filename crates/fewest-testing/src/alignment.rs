//! Kernel-target alignment by its definition.

use fewest::{Design, Subset};

use crate::dense_copy;

/// Sum over pairs of classes of the squared distance of their means, from the definition: f of
/// tamura2022, eq. (27), for two classes.
pub fn alignment_value(design: &dyn Design, classes: &[u32], weights: &[f64], subset: &Subset, gamma: f64) -> f64 {
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
                    let d: f64 = subset.iter().map(|j| (rows[i][j] - rows[h][j]).powi(2)).sum();
                    sum += psi[i] * psi[h] * (-gamma * d).exp();
                }
            }
        }
    }
    sum
}
