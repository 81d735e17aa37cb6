//! Cholesky factorisation A = L L' of a small dense symmetric positive definite matrix, row after row.

use super::simd;

/// Factor L of A (lower triangle, row-major with stride n).
#[derive(Debug)]
pub struct Cholesky {
    n: usize,
    factor: Vec<f64>,
}

impl Cholesky {
    /// Factors the n x n matrix whose lower triangle is in `a` (row-major, n n values). A pivot at or below
    /// `least` times the largest diagonal entry is raised to it: the factor is then that of a slightly larger A.
    pub fn new(n: usize, mut a: Vec<f64>, least: f64) -> Self {
        assert_eq!(a.len(), n * n, "n n values");
        let floor = least * (0..n).map(|i| a[i * n + i]).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        for i in 0..n {
            let (above, rest) = a.split_at_mut(i * n);
            let row = &mut rest[..=i];
            for k in 0..i {
                let other = &above[k * n..=k * n + k];
                row[k] = (row[k] - simd::dot(&row[..k], &other[..k])) / other[k];
            }
            let pivot = row[i] - simd::dot(&row[..i], &row[..i]);
            row[i] = pivot.max(floor).sqrt();
        }
        Self { n, factor: a }
    }

    /// A^-1, row after row with the given stride (at least n).
    pub fn inverse(&self, stride: usize) -> Vec<f64> {
        let n = self.n;
        // Rows of L^-1 first: L^-1[i] = (e_i - sum_k L_ik L^-1[k]) / L_ii, then A^-1 = L^-T L^-1.
        let mut low = vec![0.0; n * n];
        for i in 0..n {
            let (done, rest) = low.split_at_mut(i * n);
            let row = &mut rest[..=i];
            for k in 0..i {
                simd::axpy(-self.factor[i * n + k], &done[k * n..=k * n + k], &mut row[..=k]);
            }
            row[i] = 1.0;
            let pivot = self.factor[i * n + i];
            for x in row.iter_mut() {
                *x /= pivot;
            }
        }
        let mut inverse = vec![0.0; stride * stride.max(1)];
        for k in 0..n {
            let row = &low[k * n..=k * n + k];
            for (i, &x) in row.iter().enumerate() {
                simd::axpy(x, row, &mut inverse[i * stride..=i * stride + k]);
            }
        }
        inverse
    }

    /// Solves A x = b in place.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.n;
        for i in 0..n {
            let row = &self.factor[i * n..=i * n + i];
            b[i] = (b[i] - simd::dot(&row[..i], &b[..i])) / row[i];
        }
        for i in (0..n).rev() {
            let row = &self.factor[i * n..=i * n + i];
            b[i] /= row[i];
            let (head, tail) = b.split_at_mut(i);
            simd::axpy(-tail[0], &row[..i], head);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cholesky;

    #[test]
    fn solves_what_it_factored() {
        let n = 40;
        let a: Vec<f64> = (0..n * n)
            .map(|e| {
                let (i, k) = ((e / n) as f64, (e % n) as f64);
                1.0 / (1.0 + (i - k).abs()) + if i == k { 1.0 } else { 0.0 }
            })
            .collect();
        let x: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
        let inverse = Cholesky::new(n, a.clone(), 1e-14).inverse(n + 3);
        for i in 0..n {
            for k in 0..n {
                let entry: f64 = (0..n).map(|l| a[i * n + l] * inverse[l * (n + 3) + k]).sum();
                assert!((entry - f64::from(u8::from(i == k))).abs() < 1e-12);
            }
        }
        let mut b: Vec<f64> = (0..n).map(|i| (0..n).map(|k| a[i * n + k] * x[k]).sum()).collect();
        Cholesky::new(n, a, 1e-14).solve(&mut b);
        assert!(b.iter().zip(&x).all(|(b, x)| (b - x).abs() < 1e-12));
    }
}
