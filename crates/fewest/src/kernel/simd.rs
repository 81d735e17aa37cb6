//! The few vector loops everything else is made of, compiled for AVX-512, AVX2 and the baseline and chosen at run time.
//!
//! Sums are split over fixed lanes, so a result depends on the machine's instruction set but never on the thread count.

use multiversion::multiversion;

const LANES: usize = 32;

/// a . b
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len(), "dot needs equal lengths");
    let mut lanes = [0.0f64; LANES];
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    for (x, y) in a_blocks.iter().zip(b_blocks) {
        for l in 0..LANES {
            lanes[l] += x[l] * y[l];
        }
    }
    let (a_short, a_rest) = a_rest.as_chunks::<8>();
    let (b_short, b_rest) = b_rest.as_chunks::<8>();
    for (x, y) in a_short.iter().zip(b_short) {
        for l in 0..8 {
            lanes[l] += x[l] * y[l];
        }
    }
    let mut sum = 0.0;
    for (x, y) in a_rest.iter().zip(b_rest) {
        sum += x * y;
    }
    sum + lanes.iter().sum::<f64>()
}

/// out_t += sum_j x_j column_j[t] in f32, for columns of distance `stride` in `columns`, each read from position `from` on.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn products(x: &[f32], columns: &[f32], stride: usize, from: usize, out: &mut [f32]) {
    const BLOCK: usize = 512;
    let mut first = 0;
    while first < out.len() {
        let last = (first + BLOCK).min(out.len());
        let out = &mut out[first..last];
        let column = |j: usize| &columns[j * stride + from + first..][..last - first];
        let mut j = 0;
        while j + 4 <= x.len() {
            let (a, b, c, d) = (column(j), column(j + 1), column(j + 2), column(j + 3));
            let (xa, xb, xc, xd) = (x[j], x[j + 1], x[j + 2], x[j + 3]);
            for t in 0..out.len() {
                out[t] += (xa * a[t] + xb * b[t]) + (xc * c[t] + xd * d[t]);
            }
            j += 4;
        }
        while j < x.len() {
            let a = column(j);
            for t in 0..out.len() {
                out[t] += x[j] * a[t];
            }
            j += 1;
        }
        first = last;
    }
}

/// out += s x
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn axpy(s: f64, x: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "axpy needs equal lengths");
    for (o, &x) in out.iter_mut().zip(x) {
        *o += s * x;
    }
}

/// x <- exp(x) elementwise, for x <= 0 (and a little above); relative error below 4e-16 times a few units, 0 below -708.
///
/// exp(x) = 2^k exp(r) with k = round(x / ln 2), |r| <= ln 2 / 2, and the Taylor polynomial of degree 13 for exp(r).
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn exp(values: &mut [f64]) {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52: adding and subtracting it rounds to an integer
    for value in values {
        let x = if *value > -708.0 { *value } else { -708.0 };
        let shifted = x * std::f64::consts::LOG2_E + ROUND;
        let k = shifted - ROUND;
        let r = x - k * LN2_HIGH - k * LN2_LOW;
        let mut poly = 1.605_904_383_682_161_3e-10;
        for c in [
            2.087_675_698_786_81e-9,
            2.505_210_838_544_172e-8,
            2.755_731_922_398_589e-7,
            2.755_731_922_398_589_3e-6,
            2.480_158_730_158_73e-5,
            1.984_126_984_126_984e-4,
            1.388_888_888_888_889e-3,
            8.333_333_333_333_333e-3,
            4.166_666_666_666_666_4e-2,
            1.666_666_666_666_666_6e-1,
            0.5,
            1.0,
            1.0,
        ] {
            poly = poly * r + c;
        }
        // The low bits of `shifted` hold k; moved into the exponent they make 2^k.
        let scale = f64::from_bits((shifted.to_bits().wrapping_add(1023)) << 52);
        *value = if *value > -708.0 { poly * scale } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_library() {
        let x: Vec<f64> = (0..20_000).map(|i| -(f64::from(i) * 0.0371)).chain([0.0, -1e-300, 0.5, -1e4]).collect();
        let mut y = x.clone();
        exp(&mut y);
        for (x, y) in x.iter().zip(&y) {
            let exact = x.exp();
            assert!((y - exact).abs() <= 4e-15 * exact + 1e-307, "exp({x}) = {y}, library {exact}");
        }
    }

    #[test]
    fn dot_and_axpy_at_every_length() {
        for n in 0..100usize {
            let a: Vec<f64> = (0..n).map(|i| i as f64 - 3.0).collect();
            let mut b = vec![2.0; n];
            assert_eq!(dot(&a, &b), a.iter().sum::<f64>() * 2.0);
            axpy(0.5, &a, &mut b);
            assert!(b.iter().zip(&a).all(|(b, a)| *b == 2.0 + 0.5 * a));
        }
    }
}
