//! Dual points as a file holds them: `alpha_i = k_i 2^e`, feasible to the last bit.
//!
//! Given    a nearly feasible alpha, its box, what its sum must be in each problem, the grid
//!          wanted.
//! Returns  integers k with 0 <= k_i 2^e <= C_i, whose sum of y_i k_i is what the bias asks for.
//! Steps    1. the grid: as `Grid` asks, at least 24 bits of the largest alpha  2. round, and clip
//!          to the box  3. what the sum lacks goes to samples inside their box, all in equal
//!          parts: there the bound is flat; what is left shortens the heavier class.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::encode::Bytes;

/// Bits of the largest alpha, at least and at most.
const BITS: i32 = 24;
const MOST_BITS: i32 = 53;
/// Exponents that a product with a power of two survives.
const EXPONENTS: (i32, i32) = (-960, 960);

/// What `sum y_i alpha_i` of a problem must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Balance {
    /// 0: the bias is free.
    Zero,
    /// Between minus this and this.
    Within(f64),
    /// Anything.
    Any,
}

/// How fine alpha must be stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    /// Length of the slope of the bound over the samples with alpha above 0, as it would be without
    /// other prices of features: 0 inside the box at the optimum, and about 1 a sample at C.
    pub(crate) slopes: f64,
    /// Sum of squared norms of the columns that are not out.
    pub(crate) squares: f64,
    /// Sum of |c_j| times the norm of column j, for the features that the bound is at a kink of, or
    /// that a bound of the same point has in beside what the point is best for.
    pub(crate) kinks: f64,
    /// What may be lost to rounding.
    pub(crate) loss: f64,
    /// Losses up to this are ignored; larger ones are subtracted from the bound.
    pub(crate) little: f64,
}

impl Grid {
    /// The step that loses as much. In first order each alpha loses its slope times half a step, of
    /// either sign, and what balances them as much again: some `step (sqrt(n) + slopes)`. In second
    /// order scores that are off by `d_j` take
    /// `1/2 sum d_j^2` off the bound, and `d_j^2 <= n step^2 |x_j|^2`; at a kink |c_j d_j|, with
    /// d_j as large as the norm of its column times a step.
    fn step(self, n: usize) -> f64 {
        let positive = |step: f64| if step > 0.0 { step } else { f64::INFINITY };
        let first = self.loss / ((n as f64).sqrt() + self.slopes);
        let second = (2.0 * self.loss / (n as f64 * self.squares)).sqrt();
        positive(first).min(positive(second)).min(positive(self.loss / self.kinks))
    }

    /// What a coarser step loses.
    fn lost(self, step: f64, n: usize) -> f64 {
        step * ((n as f64).sqrt() + self.slopes + self.kinks + 0.5 * step * n as f64 * self.squares)
    }
}

/// A point as the bytes of docs/formats/proof.md, after its kind. Clones share the bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "(Vec<u8>, f64)", into = "(Vec<u8>, f64)")]
pub(crate) struct Point {
    bytes: Arc<[u8]>,
    /// What a bound may have lost here, where that is more than a little.
    loss: f64,
}

impl From<(Vec<u8>, f64)> for Point {
    fn from((bytes, loss): (Vec<u8>, f64)) -> Self {
        Self { bytes: bytes.into(), loss }
    }
}

impl From<Point> for (Vec<u8>, f64) {
    fn from(point: Point) -> Self {
        (point.bytes.to_vec(), point.loss)
    }
}

impl Point {
    /// `alpha` (length n, y_i alpha_i is what a solver calls beta), the samples of each problem with
    /// a balance of its own, the most that each alpha may be, and prices of rows by their numbers,
    /// ascending.
    pub(crate) fn new(
        alpha: &[f64],
        labels: &[f64],
        problems: &[Range<usize>],
        most: impl Fn(usize) -> f64,
        balance: Balance,
        grid: Grid,
        prices: &[(u64, f64)],
    ) -> Self {
        let (exponent, units) = quantise(alpha, labels, problems, most, balance, grid);
        let (step, n) = (f64::from(exponent).exp2(), alpha.len());
        let lost = grid.lost(step, n);
        let loss = if units.is_empty() || lost <= 4.0 * grid.little { 0.0 } else { lost };
        let mut bytes = Bytes::default();
        bytes.signed(i64::from(exponent));
        let listed: Vec<(u64, u64)> =
            (0..units.len()).filter(|&i| units[i] > 0).map(|i| (i as u64, units[i])).collect();
        bytes.ascending(listed.iter().map(|e| e.0));
        bytes.integers(&listed.iter().map(|e| e.1).collect::<Vec<u64>>());
        let prices: Vec<(u64, f64)> = prices.iter().copied().filter(|p| p.1 > 0.0 && p.1.is_finite()).collect();
        bytes.ascending(prices.iter().map(|p| p.0));
        bytes.numbers(&prices.iter().map(|p| p.1).collect::<Vec<f64>>());
        Self { bytes: bytes.0.into(), loss }
    }

    /// What a bound of the search may have lost in the file.
    pub(super) fn loss(&self) -> f64 {
        self.loss
    }

    /// alpha = 0: its bound is what prices alone amount to.
    pub(crate) fn zero() -> Self {
        Self::new(
            &[],
            &[],
            &[],
            |_| 0.0,
            Balance::Any,
            Grid { slopes: 0.0, squares: 0.0, kinks: 0.0, loss: 0.0, little: 0.0 },
            &[],
        )
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether this is a clone of the other.
    pub(super) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.bytes, &other.bytes)
    }

    /// Bytes it takes.
    pub(crate) fn len(&self) -> u64 {
        self.bytes.len() as u64
    }
}

/// The exponent and the integers.
fn quantise(
    alpha: &[f64],
    labels: &[f64],
    problems: &[Range<usize>],
    most: impl Fn(usize) -> f64,
    balance: Balance,
    grid: Grid,
) -> (i32, Vec<u64>) {
    // Step 1.
    let largest = alpha.iter().fold(0.0, |largest: f64, a| largest.max(*a));
    if largest == 0.0 || !largest.is_finite() {
        return (0, Vec::new());
    }
    let top = largest.log2().floor() as i32 + 1;
    let step = grid.step(alpha.len()).log2().floor().clamp(-2000.0, 2000.0) as i32;
    let exponent = step.min(top - BITS).max(top - MOST_BITS).clamp(EXPONENTS.0, EXPONENTS.1);
    let scale = f64::from(-exponent).exp2();
    // Step 2.
    let top = ((1u64 << 53) - 1) as f64;
    let caps: Vec<i64> = (0..alpha.len()).map(|i| (most(i) * scale).floor().min(top) as i64).collect();
    let mut units: Vec<i64> =
        alpha.iter().zip(&caps).map(|(a, cap)| ((a * scale).round() as i64).clamp(0, *cap)).collect();
    // Step 3.
    let room = match balance {
        Balance::Zero => Some(0),
        // One unit less: 1 / s may have been rounded up.
        Balance::Within(limit) => Some(((limit * scale).floor().min(1e30) as i128 - 1).max(0)),
        Balance::Any => None,
    };
    for samples in problems {
        let Some(room) = room else { break };
        let (units, caps, labels) = (&mut units[samples.clone()], &caps[samples.clone()], &labels[samples.clone()]);
        let signed = |(k, y): (&i64, &f64)| if *y > 0.0 { i128::from(*k) } else { -i128::from(*k) };
        let sum: i128 = units.iter().zip(labels).map(signed).sum();
        rebalance(units, caps, labels, sum - sum.clamp(-room, room));
    }
    (exponent, units.into_iter().map(|k| k as u64).collect())
}

/// Takes `excess` off the sum of y_i k_i.
fn rebalance(units: &mut [i64], caps: &[i64], labels: &[f64], mut excess: i128) {
    let sign = excess.signum();
    let falls = |i: usize| (labels[i] > 0.0) == (sign > 0);
    for inside in [true, false] {
        while excess != 0 {
            let may_move = |i: &usize| {
                let k = units[*i];
                if inside { 0 < k && k < caps[*i] } else { k > 0 && falls(*i) }
            };
            let moving: Vec<usize> = (0..units.len()).filter(may_move).collect();
            if moving.is_empty() {
                break;
            }
            let each = (excess.abs() / moving.len() as i128).max(1);
            for i in moving {
                let room = if falls(i) { units[i] } else { caps[i] - units[i] };
                let by = i128::from(room).min(each).min(excess.abs());
                units[i] += if falls(i) { -by as i64 } else { by as i64 };
                excess -= sign * by;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::slice::from_ref;

    use super::{Balance, Grid, quantise};

    /// A generator with nothing to it.
    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1u64 << 53) as f64
    }

    #[test]
    fn points_are_feasible_and_near() {
        let state = &mut 3u64;
        for case in 0..400 {
            let n = 2 + case % 40;
            let size = 10f64.powi(case as i32 % 25 - 12);
            let labels: Vec<f64> =
                (0..n).map(|i| if i == 0 || (i > 1 && random(state) < 0.5) { 1.0 } else { -1.0 }).collect();
            let caps: Vec<f64> = (0..n).map(|_| if random(state) < 0.1 { 0.0 } else { size * random(state) }).collect();
            let finite = case % 3 != 0;
            let most = |i: usize| if finite || caps[i] == 0.0 { caps[i] } else { f64::INFINITY };
            // At 0, at C, and between; then the heavier class is shortened as solvers do.
            let mut alpha: Vec<f64> = caps
                .iter()
                .map(|c| c * [0.0, 1.0, random(state), random(state)][(4.0 * random(state)) as usize])
                .collect();
            let side = |alpha: &[f64], y: f64| (0..n).filter(|&i| labels[i] == y).map(|i| alpha[i]).sum::<f64>();
            let (plus, minus) = (side(&alpha, 1.0), side(&alpha, -1.0));
            let heavier = if plus > minus { 1.0 } else { -1.0 };
            let share = plus.min(minus) / plus.max(minus).max(f64::MIN_POSITIVE);
            let balance = [Balance::Zero, Balance::Any, Balance::Within(0.3 * size)][case % 3];
            if balance == Balance::Zero {
                (0..n).filter(|&i| labels[i] == heavier).for_each(|i| alpha[i] *= share);
            }
            let squares = 10f64.powi(case as i32 % 7);
            let grid = Grid { slopes: 0.0, squares, kinks: 0.0, loss: 1e-9 * size, little: 1e-9 * size };
            let (exponent, units) = quantise(&alpha, &labels, from_ref(&(0..n)), most, balance, grid);
            let step = f64::from(exponent).exp2();
            let sum: i128 = units.iter().zip(&labels).map(|(k, y)| i128::from(*k) * *y as i128).sum();
            match balance {
                Balance::Zero => assert_eq!(sum, 0, "case {case}"),
                Balance::Within(limit) => assert!(sum as f64 * step <= limit && sum as f64 * step >= -limit),
                Balance::Any => {}
            }
            let largest = alpha.iter().fold(0.0, |m: f64, a| m.max(*a));
            for (i, &k) in units.iter().enumerate() {
                assert!(k < 1 << 53);
                let stored = k as f64 * step;
                assert!(stored <= most(i), "case {case}: {stored} above {}", most(i));
                let moved = if let Balance::Within(_) = balance { f64::INFINITY } else { (n as f64 + 2.0) * step };
                assert!((stored - alpha[i]).abs() <= moved, "case {case}: {stored} for {}", alpha[i]);
            }
            assert!(largest == 0.0 || step <= largest * 2f64.powi(-23), "case {case}");
        }
    }

    #[test]
    fn each_problem_has_a_balance_of_its_own() {
        let (alpha, labels) = ([0.7, 0.3, 0.2, 0.9], [1.0, -1.0, 1.0, -1.0]);
        let grid = Grid { slopes: 0.0, squares: 0.0, kinks: 0.0, loss: 0.0, little: 0.0 };
        let (_, units) = quantise(&alpha, &labels, &[0..2, 2..4], |_| 1.0, Balance::Zero, grid);
        assert!(units[0] == units[1] && units[2] == units[3] && units[0] != units[2], "{units:?}");
    }

    #[test]
    fn large_columns_are_stored_finer() {
        let exponent = |squares: f64| {
            let grid = Grid { slopes: 0.0, squares, kinks: 0.0, loss: 1e-9, little: 1e-9 };
            quantise(&[1.0, 1.0], &[1.0, -1.0], from_ref(&(0..2)), |_| 2.0, Balance::Zero, grid).0
        };
        let (coarse, fine) = (exponent(1.0), exponent(1e12));
        assert_eq!(coarse, -31);
        assert!(fine < coarse && 0.5 * 2.0 * 1e12 * f64::from(fine).exp2().powi(2) <= 1e-9, "{fine}");
    }

    #[test]
    fn without_room_inside_the_heavier_class_gives_way() {
        let grid = Grid { slopes: 0.0, squares: 0.0, kinks: 0.0, loss: 0.0, little: 0.0 };
        let (_, units) = quantise(&[1.0, 1.0, 1.0], &[1.0, 1.0, -1.0], from_ref(&(0..3)), |_| 1.0, Balance::Zero, grid);
        assert_eq!(units[0] + units[1], units[2]);
        assert!(units[2] > 0);
    }
}
