//! Loops of interior-point steps: what products and gaps become, and how far a step may go.

use multiversion::multiversion;

use super::total;

/// sum_i |a_i| b_i
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn absolute_dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (a_blocks, a_rest) = a.as_chunks::<8>();
    let (b_blocks, b_rest) = b.as_chunks::<8>();
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for l in 0..8 {
            lanes[l] += a[l].abs() * b[l];
        }
    }
    total(lanes) + a_rest.iter().zip(b_rest).map(|(a, b)| a.abs() * b).sum::<f64>()
}

/// sum_i (a_i + s da_i) (b_i + s db_i)
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn moved_dot((a, da): (&[f64], &[f64]), (b, db): (&[f64], &[f64]), s: f64) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (blocks, rest) = (a.len() / 8, a.len() / 8 * 8);
    let block = |values: &[f64], at: usize| -> [f64; 8] { values.as_chunks::<8>().0[at] };
    for at in 0..blocks {
        let (a, da, b, db) = (block(a, at), block(da, at), block(b, at), block(db, at));
        for l in 0..8 {
            lanes[l] += (a[l] + s * da[l]) * (b[l] + s * db[l]);
        }
    }
    total(lanes) + (rest..a.len()).map(|i| (a[i] + s * da[i]) * (b[i] + s * db[i])).sum::<f64>()
}

/// The largest `-step / value` of any position, at least 0; positions where it is not a number do
/// not count.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn largest_share(values: &[f64], steps: &[f64]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (value_blocks, value_rest) = values.as_chunks::<8>();
    let (step_blocks, step_rest) = steps.as_chunks::<8>();
    for (x, dx) in value_blocks.iter().zip(step_blocks) {
        for l in 0..8 {
            let share = -dx[l] / x[l];
            lanes[l] = if share > lanes[l] { share } else { lanes[l] };
        }
    }
    let larger = |most: f64, share: f64| if share > most { share } else { most };
    let rest = value_rest.iter().zip(step_rest).map(|(x, dx)| -dx / x).fold(0.0, larger);
    lanes.into_iter().fold(rest, larger)
}
