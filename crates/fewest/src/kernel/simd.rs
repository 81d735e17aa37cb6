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
    let mut sum = 0.0;
    for (x, y) in a_rest.iter().zip(b_rest) {
        sum += x * y;
    }
    sum + lanes.iter().sum::<f64>()
}

/// out += s x
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn axpy(s: f64, x: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "axpy needs equal lengths");
    for (o, &x) in out.iter_mut().zip(x) {
        *o += s * x;
    }
}
