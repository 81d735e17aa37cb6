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

/// Whether a sum of numbers of 0 or more is above a limit, exactly: the sum is kept as numbers that do not
/// overlap (Shewchuk, Discrete and Computational Geometry 18, 1997, Grow-Expansion).
pub(crate) fn sum_exceeds(numbers: impl Iterator<Item = f64>, limit: f64) -> bool {
    let mut parts: Vec<f64> = Vec::new();
    for number in numbers.chain([-limit]) {
        let mut sum = number;
        for part in &mut parts {
            let (own, whole) = (*part, sum + *part);
            *part = sum_error(sum, own, whole);
            sum = whole;
        }
        parts.retain(|part| *part != 0.0);
        parts.push(sum);
        if sum.is_infinite() {
            return sum > 0.0;
        }
    }
    // The largest that is not 0 is last, and more than all others together.
    parts.into_iter().rev().find(|part| *part != 0.0).is_some_and(|part| part > 0.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_held_against_its_limit_exactly() {
        let exceeds = |numbers: &[f64], limit| sum_exceeds(numbers.iter().copied(), limit);
        assert!(!exceeds(&[], 0.0) && !exceeds(&[0.0, 0.0], 0.0));
        assert!(!exceeds(&[1e16, 1.0], 1e16 + 2.0) && exceeds(&[1e16, 1.0, 2.0], 1e16 + 2.0));
        // 0.1 is a little more than a tenth, and 0.3 a little less than three of them.
        assert!(exceeds(&[0.1, 0.1, 0.1], 0.3) && !exceeds(&[0.1, 0.2], (0.1f64 + 0.2).next_up()));
        assert!(exceeds(&[1.0, f64::from_bits(1)], 1.0) && !exceeds(&[1.0, f64::from_bits(1)], 1.0f64.next_up()));
        assert!(exceeds(&[f64::MAX, f64::MAX], f64::MAX));
        // Against integers.
        let mut state = 1u64;
        for _ in 0..2000 {
            let mut draw = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 33) << ((state >> 20) % 20)
            };
            let numbers: Vec<u64> = (0..6).map(|_| draw()).collect();
            let total: u64 = numbers.iter().sum();
            let doubles: Vec<f64> = numbers.iter().map(|x| *x as f64 * power_of_two(-40)).collect();
            for (limit, above) in [(total - 1, true), (total, false), (total + 1, false)] {
                if limit >= 1 << 53 {
                    continue;
                }
                assert_eq!(exceeds(&doubles, limit as f64 * power_of_two(-40)), above);
            }
        }
    }
}
