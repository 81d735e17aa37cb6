//! Products of a few columns with each other and exponentials, in single precision, for the
//! instruction set that is available.

use multiversion::multiversion;
use pulp::{Arch, Simd, WithSimd};

/// Columns on each side of a block of products that stays in registers.
pub const BLOCK: usize = 4;
/// Lanes of the widest instruction set: columns are a multiple of it.
pub const WIDTH: usize = 16;

/// Rounding error of a product of two columns of this length, as a share of the sum of the absolute
/// values of its terms: each lane adds its terms one after the other, then the lanes are added.
pub fn rounding(length: usize) -> f64 {
    let lanes = Arch::new().dispatch(Lanes);
    (length.div_ceil(lanes) + lanes) as f64 * f64::from(f32::EPSILON) / 2.0
}

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

/// `out[a][b] += rows_a . columns_b` for columns of equal length, a multiple of [`WIDTH`].
pub fn block_products(rows: [&[f32]; BLOCK], columns: [&[f32]; BLOCK], out: &mut [[f64; BLOCK]; BLOCK]) {
    let length = rows[0].len();
    assert!(length.is_multiple_of(WIDTH), "whole vectors only");
    assert!(rows.iter().chain(&columns).all(|c| c.len() == length), "columns of equal length");
    Arch::new().dispatch(BlockProducts { rows, columns, out });
}

struct BlockProducts<'a> {
    rows: [&'a [f32]; BLOCK],
    columns: [&'a [f32]; BLOCK],
    out: &'a mut [[f64; BLOCK]; BLOCK],
}

impl WithSimd for BlockProducts<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let [r0, r1, r2, r3] = self.rows.map(|r| S::as_simd_f32s(r).0);
        let [c0, c1, c2, c3] = self.columns.map(|c| S::as_simd_f32s(c).0);
        let count = r0.len();
        let (r1, r2, r3) = (&r1[..count], &r2[..count], &r3[..count]);
        let (c0, c1, c2, c3) = (&c0[..count], &c1[..count], &c2[..count], &c3[..count]);
        let mut sums = [[simd.splat_f32s(0.0); BLOCK]; BLOCK];
        for t in 0..count {
            let (rows, columns) = ([r0[t], r1[t], r2[t], r3[t]], [c0[t], c1[t], c2[t], c3[t]]);
            for a in 0..BLOCK {
                for b in 0..BLOCK {
                    sums[a][b] = simd.mul_add_f32s(rows[a], columns[b], sums[a][b]);
                }
            }
        }
        for a in 0..BLOCK {
            for b in 0..BLOCK {
                self.out[a][b] += f64::from(simd.reduce_sum_f32s(sums[a][b]));
            }
        }
    }
}

/// `out_t = x_t y_t`
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+fma", "x86_64+avx2+fma"))]
pub fn multiply(x: &[f32], y: &[f32], out: &mut [f32]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out = x * y;
    }
}

/// `out_t *= x_t + y_t`
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+fma", "x86_64+avx2+fma"))]
pub fn multiply_by_sum(x: &[f32], y: &[f32], out: &mut [f32]) {
    for ((out, x), y) in out.iter_mut().zip(x).zip(y) {
        *out *= x + y;
    }
}

/// `out_t += s x_t`
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+fma", "x86_64+avx2+fma"))]
pub fn add_multiple(s: f32, x: &[f32], out: &mut [f32]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += s * x;
    }
}

/// `out_t = x_t` in single precision
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+fma", "x86_64+avx2+fma"))]
pub fn narrow(x: &[f64], out: &mut [f32]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out = *x as f32;
    }
}

/// Computes from values u: `delta = u - centre`, `spread = |delta|^(3/2)`.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+fma", "x86_64+avx2+fma"))]
pub fn centre_on(centre: &[f32], delta: &mut [f32], spread: &mut [f32]) {
    for ((delta, spread), centre) in delta.iter_mut().zip(spread).zip(centre) {
        *delta -= centre;
        let size = delta.abs();
        *spread = size * size.sqrt();
    }
}

/// x <- exp(-x) elementwise for x >= 0; relative error below 3e-7, and 0 above 87.
///
/// exp(-x) = 2^k exp(r) with k = round(-x / ln 2), |r| <= ln 2 / 2, and the Taylor polynomial of
/// degree 7 for exp(r).
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+fma", "x86_64+avx2+fma"))]
pub fn exp_of_minus(values: &mut [f32]) {
    const LN2_HIGH: f32 = 0.693_145_75;
    const LN2_LOW: f32 = 1.428_606_8e-6;
    const ROUND: f32 = 12_582_912.0; // 1.5 * 2^23: adding and subtracting it rounds to an integer
    for value in values {
        let x = if *value < 87.0 { -*value } else { -87.0 };
        let shifted = x * std::f32::consts::LOG2_E + ROUND;
        let k = shifted - ROUND;
        let r = x - k * LN2_HIGH - k * LN2_LOW;
        let mut poly = 1.984_127e-4_f32;
        for c in [1.388_888_9e-3_f32, 8.333_333e-3, 4.166_666_6e-2, 0.166_666_67, 0.5, 1.0, 1.0] {
            poly = poly * r + c;
        }
        // The low bits of `shifted` hold k; moved into the exponent they make 2^k.
        let scale = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
        *value = if *value < 87.0 { poly * scale } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_within_the_stated_error() {
        let x: Vec<f32> = (0..40_000).map(|i| i as f32 * 0.0025).collect();
        let mut y = x.clone();
        exp_of_minus(&mut y);
        for (&x, &y) in x.iter().zip(&y) {
            let exact = (-f64::from(x)).exp();
            assert!((f64::from(y) - exact).abs() <= 3e-7 * exact + 2e-38, "exp(-{x}) = {y}, but {exact}");
        }
    }

    #[test]
    fn products_are_within_the_stated_error() {
        for length in [16, 64, 1024] {
            let column = |k: usize| (0..length).map(|i| ((i * 37 + k * 101) % 97) as f32 / 97.0 - 0.4).collect();
            let columns: Vec<Vec<f32>> = (0..2 * BLOCK).map(column).collect();
            let of = |from: usize| std::array::from_fn(|k| columns[from + k].as_slice());
            let mut out = [[0.0; BLOCK]; BLOCK];
            block_products(of(0), of(BLOCK), &mut out);
            for a in 0..BLOCK {
                for b in 0..BLOCK {
                    let terms = || (0..length).map(|t| f64::from(columns[a][t]) * f64::from(columns[BLOCK + b][t]));
                    let (exact, size): (f64, f64) = (terms().sum(), terms().map(f64::abs).sum());
                    assert!((out[a][b] - exact).abs() <= rounding(length) * size, "{a} {b}: {} {exact}", out[a][b]);
                }
            }
        }
    }
}
