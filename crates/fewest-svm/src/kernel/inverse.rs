//! Inverse of a symmetric positive definite matrix, by halves so that nearly all work is matrix
//! products.
//!
//! ```text
//! L = [L1 0; B L1^-T  L2],  L2 L2' = D - (B L1^-T)(B L1^-T)',  of [A  B'; B  D] = L L'
//! M = L^-1 = [M1 0; -M2 (B M1') M1  M2],     the inverse is M' M
//! ```
//!
//! The halves of the inverse itself (Schur complement of an inverted block) would lose the digits
//! of one condition number at each level: twenty features that depend on others, n = 5000, and
//! nothing is left. Those of its factor lose none (Higham, Accuracy and Stability of Numerical
//! Algorithms, chapters 10 and 14).

use super::gemm::{View, add_product};

/// Matrices up to this size are factored entry by entry.
const SMALL: usize = 48;

/// Inverts the n x n matrix in place (row-major, distance `stride` between rows, both triangles
/// given and returned). A pivot at or below `floor` is raised to it: the result is then the inverse
/// of a slightly larger matrix.
pub fn invert(a: &mut [f64], n: usize, stride: usize, floor: f64) {
    factor(a, n, stride, floor);
    square(a, n, stride);
}

/// M in place of the matrix, with zeros above its diagonal.
fn factor(a: &mut [f64], n: usize, stride: usize, floor: f64) {
    if n <= SMALL {
        factor_small(a, n, stride, floor);
        return;
    }
    let h = n / 2;
    let (m, corner) = (n - h, h * stride + h);
    factor(a, h, stride, floor);
    let mut below = vec![0.0; m * h];
    let first = View::rows(a, h, h, stride);
    add_product(&mut below, h, 1.0, View::rows(&a[h * stride..], m, h, stride), first.transposed());
    let view = View::rows(&below, m, h, h);
    add_product(&mut a[corner..], stride, -1.0, view, view.transposed());
    factor(&mut a[corner..], m, stride, floor);
    let (mut right, mut lower) = (vec![0.0; m * h], vec![0.0; m * h]);
    add_product(&mut right, h, 1.0, view, View::rows(a, h, h, stride));
    add_product(&mut lower, h, -1.0, View::rows(&a[corner..], m, m, stride), View::rows(&right, m, h, h));
    for (i, line) in lower.chunks_exact(h).enumerate() {
        a[(h + i) * stride..(h + i) * stride + h].copy_from_slice(line);
    }
    (0..h).for_each(|i| a[i * stride + h..i * stride + n].fill(0.0));
}

/// `factor` by Cholesky and forward substitution.
fn factor_small(a: &mut [f64], n: usize, stride: usize, floor: f64) {
    for k in 0..n {
        let (above, rest) = a.split_at_mut(k * stride);
        let row = &mut rest[..=k];
        // L, row by row; 1 / L_ll is on the diagonal.
        for l in 0..k {
            let known = &above[l * stride..=l * stride + l];
            let sum: f64 = row[..l].iter().zip(known).map(|(a, b)| a * b).sum();
            row[l] = (row[l] - sum) * known[l];
        }
        let sum: f64 = row[..k].iter().map(|a| a * a).sum();
        row[k] = 1.0 / (row[k] - sum).max(floor).sqrt();
    }
    let mut line = [0.0; SMALL];
    for k in 0..n {
        // Row k of M: -(L_k. M) / L_kk.
        let (above, rest) = a.split_at_mut(k * stride);
        let (pivot, row) = (rest[k], &mut rest[..n]);
        line[..k].fill(0.0);
        for (l, &factor) in row[..k].iter().enumerate() {
            let known = &above[l * stride..=l * stride + l];
            line[..=l].iter_mut().zip(known).for_each(|(out, value)| *out -= pivot * factor * value);
        }
        row[..k].copy_from_slice(&line[..k]);
        row[k + 1..].fill(0.0);
    }
}

/// M' M in place of M.
fn square(a: &mut [f64], n: usize, stride: usize) {
    if n <= SMALL {
        let copy: Vec<f64> = (0..n).flat_map(|i| a[i * stride..i * stride + n].to_vec()).collect();
        (0..n).for_each(|i| a[i * stride..i * stride + n].fill(0.0));
        let copy = View::rows(&copy, n, n, n);
        add_product(a, stride, 1.0, copy.transposed(), copy);
        return;
    }
    let h = n / 2;
    let (m, corner) = (n - h, h * stride + h);
    let below: Vec<f64> = (h..n).flat_map(|i| a[i * stride..i * stride + h].to_vec()).collect();
    let below = View::rows(&below, m, h, h);
    square(a, h, stride);
    add_product(a, stride, 1.0, below.transposed(), below);
    let mut side = vec![0.0; m * h];
    add_product(&mut side, h, 1.0, View::rows(&a[corner..], m, m, stride).transposed(), below);
    square(&mut a[corner..], m, stride);
    for i in 0..m {
        for k in 0..h {
            a[(h + i) * stride + k] = side[i * h + k];
            a[k * stride + h + i] = side[i * h + k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::invert;

    #[test]
    fn times_the_matrix_is_the_identity() {
        for n in [1, 2, 47, 48, 49, 130, 201] {
            let stride = n + 3;
            let entry = |i: usize, k: usize| {
                1.0 / (1.0 + i.abs_diff(k) as f64) + if i == k { 1.0 + (i as f64).sin().abs() } else { 0.0 }
            };
            let mut a = vec![f64::NAN; n * stride];
            for i in 0..n {
                for k in 0..n {
                    a[i * stride + k] = entry(i, k);
                }
            }
            invert(&mut a, n, stride, 1e-14);
            for i in 0..n {
                for k in 0..n {
                    let product: f64 = (0..n).map(|l| entry(i, l) * a[l * stride + k]).sum();
                    assert!((product - f64::from(u8::from(i == k))).abs() < 1e-11, "{n}: ({i}, {k}) {product}");
                }
            }
        }
    }

    #[test]
    fn keeps_its_digits_where_columns_depend_on_each_other() {
        // A ridge of 1 and 20 columns that are sums of others: condition number about 1e5.
        let (n, rank) = (300, 280);
        let mut state = 5u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
        };
        let mut columns: Vec<Vec<f64>> = (0..rank).map(|_| (0..1500).map(|_| 10.0 * next()).collect()).collect();
        for k in 0..n - rank {
            let sum = (0..1500).map(|i| columns[3 * k][i] + columns[5 * k + 1][i]).collect();
            columns.insert(7 * k, sum);
        }
        let product = |i: usize, k: usize| columns[i].iter().zip(&columns[k]).map(|(a, b)| a * b).sum::<f64>();
        let given: Vec<f64> = (0..n * n).map(|e| product(e / n, e % n) + f64::from(u8::from(e / n == e % n))).collect();
        let mut a = given.clone();
        invert(&mut a, n, n, 0.0);
        for i in 0..n {
            for k in 0..n {
                let product: f64 = (0..n).map(|l| given[i * n + l] * a[l * n + k]).sum();
                assert!((product - f64::from(u8::from(i == k))).abs() < 1e-8, "({i}, {k}) {product}");
            }
        }
    }
}
