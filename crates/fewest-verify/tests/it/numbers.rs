//! The numerical helpers of the checker, from their own files: sums rounded in a known direction,
//! norms, exponentials and sums of products.

#[path = "../../src/kernel.rs"]
mod kernel;
#[expect(dead_code, reason = "the checker uses more of it")]
#[path = "../../src/rounding.rs"]
mod rounding;

use kernel::{BLOCK, EXP_ERROR, add_products, exp_of_minus};
use rounding::{add_down, add_up, integer_down, mul_down, mul_up, norm, power_of_two};

#[test]
fn sums_are_widened_only_where_they_were_rounded() {
    assert_eq!(add_down(1.0, 2.0), 3.0);
    assert_eq!(add_up(1.0, 2.0), 3.0);
    assert_eq!(add_down(1.0, 1e-30), 1.0);
    assert_eq!(add_up(1.0, 1e-30), 1.0f64.next_up());
    assert_eq!(add_down(1.0, -1e-30), 1.0f64.next_down());
    assert_eq!(add_down(f64::INFINITY, f64::NEG_INFINITY), f64::NEG_INFINITY);
    assert_eq!(add_down(f64::MAX, f64::MAX), f64::MAX);
    assert!(mul_down(0.1, 0.1) < 0.1 * 0.1 && mul_up(0.1, 0.1) > 0.1 * 0.1);
    assert_eq!(mul_down(0.0, f64::INFINITY), f64::NEG_INFINITY);
    assert_eq!(integer_down((1 << 60) - 1), ((1u64 << 60) as f64).next_down());
    assert_eq!(power_of_two(-1074), f64::from_bits(1));
    assert_eq!(power_of_two(-1022), f64::MIN_POSITIVE);
    assert_eq!(power_of_two(971), 2f64.powi(971));
}

#[test]
fn norms_of_tiny_and_huge_numbers_are_not_below_the_truth() {
    for scale in [1e-300, 1e-160, 1.0, 1e160, 1e300] {
        let values = [3.0 * scale, 0.0, 4.0 * scale];
        let (norm, count) = norm(|f| values.iter().for_each(|x| f(*x)));
        assert!(norm >= 5.0 * scale && norm <= 5.0 * scale * (1.0 + 1e-13) && count == 2, "{norm}");
    }
}

#[test]
fn exponentials_are_within_the_stated_error() {
    let mut x: Vec<f64> = (0..200_000).map(|i| f64::from(i) * 0.003_54).collect();
    x.extend([0.0, 1e-300, 1e-17, 0.346_573_590_279_972, 0.346_573_590_279_973, 708.0, 709.0, 1e300, f64::INFINITY]);
    let mut y = x.clone();
    exp_of_minus(&mut y);
    for (x, y) in x.iter().zip(y) {
        // The library's own is off by less than one unit in the last place.
        let (exact, unit) = ((-x).exp(), f64::EPSILON);
        assert!((y - exact).abs() <= (EXP_ERROR - unit) * exact + 4e-308, "exp(-{x}) = {y}, but {exact}");
        assert!((0.0..=1.0).contains(&y));
    }
}

#[test]
fn products_are_sums_over_rows() {
    let column = |k: usize| (0..48).map(|i| ((i * 37 + k * 101) % 97) as f32 / 97.0 - 0.4).collect();
    let columns: Vec<Vec<f32>> = (0..2 * BLOCK).map(column).collect();
    let of = |from: usize| std::array::from_fn(|k| columns[from + k].as_slice());
    let mut out = [[1.0; BLOCK]; BLOCK];
    add_products(of(0), of(BLOCK), &mut out);
    for a in 0..BLOCK {
        for b in 0..BLOCK {
            let exact: f64 = (0..48).map(|t| f64::from(columns[a][t]) * f64::from(columns[BLOCK + b][t])).sum();
            assert!((out[a][b] - 1.0 - exact).abs() < 1e-5, "{a} {b}: {} {exact}", out[a][b] - 1.0);
        }
    }
}
