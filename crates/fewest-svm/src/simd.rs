//! The few vector loops everything else is made of, compiled for AVX-512, AVX2 and the baseline and
//! chosen at run time.
//!
//! Sums are split over fixed lanes, so a result depends on the machine's instruction set but never
//! on the thread count.

use std::ops::{Add, AddAssign, Mul};

use multiversion::multiversion;

mod steps;

pub use steps::{absolute_dot, largest_share, moved_dot};

const LANES: usize = 32;
/// Positions handled together: a block of an output stays in the first cache.
const BLOCK: usize = 512;
/// Positions that share one comparison.
const GROUP: usize = 64;

/// The sum of a power of two of lanes, in pairs: a chain of single additions would take longer than
/// most of the loops before it, and compilers then split these loops as well.
#[inline(always)]
pub fn total<const N: usize>(mut lanes: [f64; N]) -> f64 {
    let mut half = N / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] += lanes[l + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// a . b
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    plain_dot(a, b)
}

/// `out_k = column_(chosen_k) . v`, to the last bit that of [`dot`], for columns of length
/// `v.len()` one after the other.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn dots_of(columns: &[f64], chosen: &[usize], v: &[f64], out: &mut [f64]) {
    let n = v.len();
    for (out, &j) in out.iter_mut().zip(chosen) {
        *out = plain_dot(&columns[j * n..(j + 1) * n], v);
    }
}

#[inline(always)]
fn plain_dot(a: &[f64], b: &[f64]) -> f64 {
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
    sum + total(lanes)
}

/// Columns of a panel: a sample's values in them lie side by side.
pub const PANEL: usize = 8;
/// Vectors that [`panel_scores`] takes at a time.
pub const VECTORS: usize = 5;

/// `out_mc = column_c . v_m` for the columns of a panel, and vectors whose values lie side by side.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn panel_scores(panel: &[[f64; PANEL]], v: &[[f64; VECTORS]]) -> [[f64; PANEL]; VECTORS] {
    let mut sums = [[0.0; PANEL]; VECTORS];
    for (x, v) in panel.iter().zip(v) {
        for m in 0..VECTORS {
            for c in 0..PANEL {
                sums[m][c] += v[m] * x[c];
            }
        }
    }
    sums
}

/// Agreement of each column of a panel: mean by standard deviation of `values[k] / totals[k]` over
/// k; a deviation of 0 makes it infinite, or 0 where the mean is 0. A total of 0 makes the share 0.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn agreements(values: &[[f64; PANEL]], totals: &[f64]) -> [f64; PANEL] {
    let count = totals.len() as f64;
    let (mut mean, mut squares) = ([0.0; PANEL], [0.0; PANEL]);
    let by = |total: f64| if total > 0.0 { total } else { f64::INFINITY };
    for (values, &total) in values.iter().zip(totals) {
        let total = by(total);
        for c in 0..PANEL {
            mean[c] += values[c] / total;
        }
    }
    for mean in &mut mean {
        *mean /= count;
    }
    for (values, &total) in values.iter().zip(totals) {
        let total = by(total);
        for c in 0..PANEL {
            let off = values[c] / total - mean[c];
            squares[c] += off * off;
        }
    }
    std::array::from_fn(|c| match (squares[c] > 0.0, mean[c] > 0.0) {
        (true, _) => mean[c] / (squares[c] / (count - 1.0)).sqrt(),
        (false, true) => f64::INFINITY,
        (false, false) => 0.0,
    })
}

/// `out_t += sum_k x_k column_k[t]`, where column k is number `which_k` of those that lie at distance
/// `stride` in `columns`, each read from position `from` on.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn products<T: Copy + Mul<Output = T> + Add<Output = T> + AddAssign>(
    (which, x): (&[u32], &[T]),
    columns: &[T],
    stride: usize,
    from: usize,
    out: &mut [T],
) {
    let mut first = 0;
    while first < out.len() {
        let last = (first + BLOCK).min(out.len());
        let out = &mut out[first..last];
        let column = |k: usize| &columns[which[k] as usize * stride + from + first..][..last - first];
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

/// Pushes every t with `a_t - b_t s <= limit`, in order; blocks in which there is none cost one
/// comparison.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn at_most(a: &[f64], b: &[f64], s: f64, limit: f64, found: &mut Vec<usize>) {
    assert_eq!(a.len(), b.len(), "equal lengths");
    let mut first = 0;
    while first < a.len() {
        let last = (first + GROUP).min(a.len());
        let (a, b) = (&a[first..last], &b[first..last]);
        let mut low = [f64::INFINITY; 16];
        let (a_lanes, a_rest) = a.as_chunks::<16>();
        let (b_lanes, b_rest) = b.as_chunks::<16>();
        for (a, b) in a_lanes.iter().zip(b_lanes) {
            for l in 0..16 {
                let value = a[l] - b[l] * s;
                low[l] = if value < low[l] { value } else { low[l] };
            }
        }
        for (a, b) in a_rest.iter().zip(b_rest) {
            low[0] = low[0].min(a - b * s);
        }
        let mut least = low[0];
        for l in 1..16 {
            least = if low[l] < least { low[l] } else { least };
        }
        if least <= limit {
            for t in 0..a.len() {
                if a[t] - b[t] * s <= limit {
                    found.push(first + t);
                }
            }
        }
        first = last;
    }
}

/// The largest square; 0 of nothing.
#[inline]
pub(crate) fn largest_square(x: &[f64]) -> f64 {
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let (groups, rest) = x.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for group in groups {
        for l in 0..8 {
            lanes[l] = larger(lanes[l], group[l] * group[l]);
        }
    }
    let last = rest.iter().fold(0.0, |most, x| larger(most, x * x));
    lanes.into_iter().fold(last, larger)
}

/// Distance between lines of the matrices of [`add_dots`] and [`add_combination`], which are padded
/// with zeros to it.
pub const PADDING: usize = 8;

/// `out_i += line_i . v` for lines of length `v.len()`, a multiple of [`PADDING`].
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn add_dots(lines: &[f64], v: &[f64], out: &mut [f64]) {
    assert_eq!(lines.len(), v.len() * out.len(), "one line per output");
    let v = v.as_chunks::<PADDING>().0;
    let lines = lines.as_chunks::<PADDING>().0;
    let mut i = 0;
    while i + 4 <= out.len() {
        let line = |k: usize| &lines[(i + k) * v.len()..(i + k + 1) * v.len()];
        let (a, b, c, d) = (line(0), line(1), line(2), line(3));
        let mut sums = [[0.0f64; PADDING]; 4];
        for k in 0..v.len() {
            for l in 0..PADDING {
                sums[0][l] += a[k][l] * v[k][l];
                sums[1][l] += b[k][l] * v[k][l];
                sums[2][l] += c[k][l] * v[k][l];
                sums[3][l] += d[k][l] * v[k][l];
            }
        }
        for k in 0..4 {
            out[i + k] += total(sums[k]);
        }
        i += 4;
    }
    while i < out.len() {
        let line = &lines[i * v.len()..(i + 1) * v.len()];
        let mut sums = [0.0f64; PADDING];
        for (a, v) in line.iter().zip(v) {
            for l in 0..PADDING {
                sums[l] += a[l] * v[l];
            }
        }
        out[i] += total(sums);
        i += 1;
    }
}

/// `out += sum_i a_i line_i` for lines of length `out.len()`, a multiple of [`PADDING`].
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn add_combination(lines: &[f64], a: &[f64], out: &mut [f64]) {
    assert_eq!(lines.len(), a.len() * out.len(), "one line per factor");
    let m = out.len();
    let mut i = 0;
    while i + 4 <= a.len() {
        let line = |k: usize| &lines[(i + k) * m..(i + k + 1) * m];
        let (w, x, y, z) = (line(0), line(1), line(2), line(3));
        let (aw, ax, ay, az) = (a[i], a[i + 1], a[i + 2], a[i + 3]);
        for t in 0..m {
            out[t] += (aw * w[t] + ax * x[t]) + (ay * y[t] + az * z[t]);
        }
        i += 4;
    }
    while i < a.len() {
        let line = &lines[i * m..(i + 1) * m];
        for t in 0..m {
            out[t] += a[i] * line[t];
        }
        i += 1;
    }
}

/// out = sum over the factors that are not 0 of `a_i line_i`, for lines of length `out.len()`, one
/// after the other.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn combination(lines: &[f64], a: &[f64], out: &mut [f64]) {
    let n = out.len();
    assert_eq!(lines.len(), a.len() * n, "one line per factor");
    out.fill(0.0);
    let (mut held, mut count) = ([0; 4], 0);
    for (i, _) in a.iter().enumerate().filter(|(_, a)| **a != 0.0) {
        held[count] = i;
        count += 1;
        if count == 4 {
            count = 0;
            let [w, x, y, z] = held.map(|i| &lines[i * n..(i + 1) * n]);
            let [aw, ax, ay, az] = held.map(|i| a[i]);
            for t in 0..n {
                out[t] += (aw * w[t] + ax * x[t]) + (ay * y[t] + az * z[t]);
            }
        }
    }
    for &i in &held[..count] {
        for (out, x) in out.iter_mut().zip(&lines[i * n..(i + 1) * n]) {
            *out += a[i] * x;
        }
    }
}

/// out += sum over the lines chosen of `a_k line`, for lines of length `out.len()`.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn add_lines(lines: &[f64], chosen: &[usize], a: &[f64], out: &mut [f64]) {
    assert_eq!(chosen.len(), a.len(), "one factor per line");
    let n = out.len();
    let line = |i: usize| &lines[i * n..(i + 1) * n];
    let (fours, rest) = chosen.as_chunks::<4>();
    let (factors, last) = a.as_chunks::<4>();
    for (i, f) in fours.iter().zip(factors) {
        let (w, x, y, z) = (line(i[0]), line(i[1]), line(i[2]), line(i[3]));
        for t in 0..n {
            out[t] += (f[0] * w[t] + f[1] * x[t]) + (f[2] * y[t] + f[3] * z[t]);
        }
    }
    for (&i, f) in rest.iter().zip(last) {
        for (out, x) in out.iter_mut().zip(line(i)) {
            *out += f * x;
        }
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

/// out_t += s (a - x_t)^2
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn add_squared_differences(s: f64, a: f64, x: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "add_squared_differences needs equal lengths");
    for (o, &x) in out.iter_mut().zip(x) {
        *o += s * ((a - x) * (a - x));
    }
}

/// out += s |a - x|
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn add_absolute_differences(s: f64, a: f64, x: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "add_absolute_differences needs equal lengths");
    for (o, &x) in out.iter_mut().zip(x) {
        *o += s * (a - x).abs();
    }
}

/// out += s where a and x differ
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn add_inequalities(s: f64, a: f64, x: &[f64], out: &mut [f64]) {
    assert_eq!(x.len(), out.len(), "add_inequalities needs equal lengths");
    for (o, &x) in out.iter_mut().zip(x) {
        *o += if a == x { 0.0 } else { s };
    }
}

/// exp(x) for x <= 0 (and a little above); relative error below 4e-16 times a few units, 0 below
/// -708.
///
/// exp(x) = 2^k exp(r) with k = round(x / ln 2), |r| <= ln 2 / 2, and the Taylor polynomial of
/// degree 13 for exp(r).
#[inline(always)]
fn exp_of(value: f64) -> f64 {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // 1.5 * 2^52: adding and subtracting it rounds to an integer.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let x = if value > -708.0 { value } else { -708.0 };
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
    if value > -708.0 { poly * scale } else { 0.0 }
}

/// x <- exp(x) elementwise, for x <= 0 (and a little above).
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn exp(values: &mut [f64]) {
    for value in values {
        *value = exp_of(*value);
    }
}

/// d <- exp(-gamma max(d, 0)): from distances to kernel values.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn exp_of_distances(distances: &mut [f64], gamma: f64) {
    for d in distances {
        *d = exp_of(-gamma * if *d > 0.0 { *d } else { 0.0 });
    }
}

/// From inner products `x.x_t` to `exp(-gamma ||x - x_t||^2)`, in place; `norm` is ||x||^2 and
/// `norms_t` is ||x_t||^2.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+fma", "x86_64+avx2+fma"))]
pub fn exp_of_products(products: &mut [f64], norm: f64, norms: &[f64], gamma: f64) {
    assert_eq!(products.len(), norms.len(), "equal lengths");
    for (value, of) in products.iter_mut().zip(norms) {
        let distance = norm + of - 2.0 * *value;
        *value = exp_of(-gamma * if distance > 0.0 { distance } else { 0.0 });
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
    fn at_most_lists_what_a_plain_loop_lists() {
        for n in [0, 1, 15, 16, 63, 64, 65, 200] {
            let a: Vec<f64> = (0..n).map(|i| f64::from(i * 37 % 101)).collect();
            let b: Vec<f64> = (0..n).map(|i| f64::from(i % 3)).collect();
            let mut found = Vec::new();
            at_most(&a, &b, 2.0, 9.0, &mut found);
            let plain: Vec<usize> = (0..n as usize).filter(|&t| a[t] - b[t] * 2.0 <= 9.0).collect();
            assert_eq!(found, plain);
        }
    }

    #[test]
    fn products_with_lines_agree_with_plain_loops() {
        for count in 0..10usize {
            for m in [0, 8, 24] {
                let lines: Vec<f64> = (0..count * m).map(|i| (i * 37 % 11) as f64 - 5.0).collect();
                let v: Vec<f64> = (0..m).map(|i| (i % 7) as f64).collect();
                let a: Vec<f64> = (0..count).map(|i| i as f64 - 2.0).collect();
                let (mut dots, mut sum, mut whole) = (vec![1.0; count], vec![2.0; m], vec![3.0; m]);
                add_dots(&lines, &v, &mut dots);
                combination(&lines, &a, &mut whole);
                add_combination(&lines, &a, &mut sum);
                for i in 0..count {
                    assert_eq!(dots[i], 1.0 + (0..m).map(|k| lines[i * m + k] * v[k]).sum::<f64>());
                }
                for k in 0..m {
                    assert_eq!(whole[k] + 2.0, sum[k]);
                    assert_eq!(sum[k], 2.0 + (0..count).map(|i| lines[i * m + k] * a[i]).sum::<f64>());
                }
            }
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
