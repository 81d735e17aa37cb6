//! Inverse of a symmetric positive definite matrix, by halves so that nearly all work is matrix
//! products.
//!
//! ```text
//! [A  B'; B  D]^-1 = [A^-1 + T'U   -U'; -U   S^-1],   T = B A^-1,  S = D - T B',  U = S^-1 T
//! ```

use super::gemm::{View, add_product};

/// Matrices up to this size are inverted by Gauss-Jordan sweeps.
const SMALL: usize = 48;

/// Inverts the n x n matrix in place (row-major, distance `stride` between rows, both triangles
/// given and returned). A pivot at or below `floor` is raised to it: the result is then the inverse
/// of a slightly larger matrix.
pub fn invert(a: &mut [f64], n: usize, stride: usize, floor: f64) {
    if n <= SMALL {
        sweep(a, n, stride, floor);
        return;
    }
    let h = n / 2;
    let m = n - h;
    let mut b = vec![0.0; m * h];
    for i in 0..m {
        b[i * h..(i + 1) * h].copy_from_slice(&a[(h + i) * stride..(h + i) * stride + h]);
    }
    let b = View::rows(&b, m, h, h);
    invert(a, h, stride, floor);
    let mut t = vec![0.0; m * h];
    add_product(&mut t, h, 1.0, b, View::rows(a, h, h, stride));
    let t = View::rows(&t, m, h, h);
    let corner = h * stride + h;
    add_product(&mut a[corner..], stride, -1.0, t, b.transposed());
    invert(&mut a[corner..], m, stride, floor);
    let mut u = vec![0.0; m * h];
    add_product(&mut u, h, 1.0, View::rows(&a[corner..], m, m, stride), t);
    for i in 0..m {
        for k in 0..h {
            let value = -u[i * h + k];
            a[(h + i) * stride + k] = value;
            a[k * stride + h + i] = value;
        }
    }
    add_product(a, stride, 1.0, t.transposed(), View::rows(&u, m, h, h));
}

/// Gauss-Jordan sweeps over all pivots (Goodnight 1979).
fn sweep(a: &mut [f64], n: usize, stride: usize, floor: f64) {
    let mut row = [0.0; SMALL];
    for k in 0..n {
        let pivot = 1.0 / a[k * stride + k].max(floor);
        row[..n].copy_from_slice(&a[k * stride..k * stride + n]);
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i * stride + k] * pivot;
            for (x, r) in a[i * stride..i * stride + n].iter_mut().zip(&row[..n]) {
                *x -= factor * r;
            }
            a[i * stride + k] = -factor;
        }
        for x in &mut a[k * stride..k * stride + n] {
            *x *= pivot;
        }
        a[k * stride + k] = pivot;
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
}
