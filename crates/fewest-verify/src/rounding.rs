//! Sums and products that are rounded in a known direction.
//!
//! A sum is moved by one unit in the last place only where it was rounded (the error is known
//! exactly: Knuth, The Art of Computer Programming 2, 4.2.2, Theorem B), so integers and sums of
//! equal costs stay exact. Every other operation is moved by one unit. A bound that is not a number
//! is minus infinity: it proves nothing.

/// What a + b has beside its rounded sum s.
pub(crate) fn sum_error(a: f64, b: f64, s: f64) -> f64 {
    let t = s - a;
    (a - (s - t)) + (b - t)
}

/// a + b, not above it.
pub(crate) fn add_down(a: f64, b: f64) -> f64 {
    let s = a + b;
    let error = sum_error(a, b, s);
    if s.is_nan() {
        f64::NEG_INFINITY
    } else if error.is_finite() && error >= 0.0 {
        s
    } else {
        s.next_down()
    }
}

/// a + b, not below it.
pub(crate) fn add_up(a: f64, b: f64) -> f64 {
    -add_down(-a, -b)
}

/// a b, not above it.
pub(crate) fn mul_down(a: f64, b: f64) -> f64 {
    let product = a * b;
    match product {
        _ if product.is_nan() => f64::NEG_INFINITY,
        _ if a == 0.0 || b == 0.0 => 0.0,
        _ => product.next_down(),
    }
}

/// a b, not below it.
pub(crate) fn mul_up(a: f64, b: f64) -> f64 {
    -mul_down(-a, b)
}

/// The largest double that is not above an integer.
pub(crate) fn integer_down(x: i128) -> f64 {
    let near = x as f64;
    if near as i128 > x { near.next_down() } else { near }
}

/// 2^e exactly, for e from -1074 to 971.
pub(crate) fn power_of_two(e: i64) -> f64 {
    if e < -1022 { f64::from_bits(1 << (e + 1074)) } else { f64::from_bits(((e + 1023) as u64) << 52) }
}

/// An upper bound of the rounding error of the dot product of two vectors of these norms, whatever
/// the order of its sum: `gamma |x|_2 |y|_2`, `gamma = n eps / (1 - n eps)`, `eps = 2^-53` (Higham,
/// Accuracy and Stability of Numerical Algorithms, 2002, (3.5), with Cauchy and Schwarz), and
/// 2^-1074 for each product that underflows. `terms` are at most 2^32.
pub(crate) fn dot_error(terms: usize, norm_x: f64, norm_y: f64) -> f64 {
    let n_eps = terms as f64 * (f64::EPSILON / 2.0);
    let gamma = (n_eps / (1.0 - n_eps)).next_up().next_up();
    add_up(mul_up(mul_up(gamma, norm_x), norm_y), terms as f64 * f64::from_bits(1))
}

/// The 2-norm of some numbers and how many of them are not 0; the norm is not below the true one.
///
/// Relative to the largest number the sum of squares is between 1 and n and has n + 2 roundings,
/// all of terms of one sign, so that `(n + 10) 2^-52` is more than the norm's error.
pub(crate) fn norm(each: impl Fn(&mut dyn FnMut(f64))) -> (f64, usize) {
    let (mut largest, mut sum, mut count) = (0.0f64, 0.0, 0);
    each(&mut |x| largest = largest.max(x.abs()));
    if largest == 0.0 {
        return (0.0, 0);
    }
    each(&mut |x| {
        sum += (x / largest) * (x / largest);
        count += usize::from(x != 0.0);
    });
    let room = 1.0 + (count as f64 + 10.0) * f64::EPSILON;
    (mul_up(largest, (sum.sqrt() * room).next_up()), count)
}
