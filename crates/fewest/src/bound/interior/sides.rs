//! Bounds on weights, side by side: what they take off the scores, and what they make of a step.
//!
//! A bounded weight gains `min over nu >= 0 of 1/2 r^2 + u nu_u - l nu_l` with
//! `r = c - nu_u + nu_l` (`crate::weights`). A bound is written `sigma r <= b`, sigma = 1 for the
//! upper one and -1 for the lower one, b >= 0. Its multiplier nu makes a pair with what the weight
//! `w = z r` has left, `p = z b - sigma w`. With `omega = nu / p` and `d = b - sigma r`, nu and p
//! can be eliminated from the Newton system:
//!
//! ```text
//! dr = h (dc + m dz - N)                              h = 1 / (1 + z sum omega),  m = sum sigma omega d
//! dw = z h dc + rho dz - z h N                        rho = r + z h m
//! d(gain) = rho dc - kappa dz + eps                   kappa = sum omega d^2 - z h m^2
//! ```
//!
//! with sums over the sides of a column, kappa also over the columns of a unit, and N and eps what
//! products and residuals lack: with `e = (aim - nu f) / p`, `N = sum sigma e` and
//! `eps = sum d e - z h m N`. Without bounds r = rho = c, h = 1 and the rest is 0.

use super::iterate::{Aim, Iterate, Residuals};
use super::{Restricted, UnitColumns};
use crate::Interval;

/// Halvings of the interval that a weight of the central path lies in.
const HALVINGS: u32 = 60;
/// What is left to a bound, at least, as a share of the bound.
const LEAST: f64 = 1e-14;

/// One bound on the weight of one column.
#[derive(Debug, Clone, Copy)]
pub(in crate::bound) struct Side {
    column: usize,
    /// The unit of the column, where it is free to be chosen.
    unit: Option<usize>,
    /// 1 for an upper bound, -1 for a lower one.
    sign: f64,
    /// The bound times the sign, 0 or more.
    bound: f64,
}

impl Side {
    /// d
    fn left(self, r: &[f64]) -> f64 {
        self.bound - self.sign * r[self.column]
    }

    fn share(self, z: &[f64]) -> f64 {
        self.unit.map_or(1.0, |u| z[u])
    }
}

/// The finite bounds of columns, the first `n_in` of which are in, in each problem. A weight that
/// can only be 0 has none: its column is empty.
pub(in crate::bound) fn sides(weights: &[Interval], problems: usize, n_in: usize, units: &[UnitColumns]) -> Vec<Side> {
    let mut found = Vec::new();
    let mut add = |column: usize, unit: Option<usize>| {
        let interval = weights[column];
        for (sign, bound) in [(1.0, interval.upper), (-1.0, -interval.lower)] {
            if bound.is_finite() && !interval.is_zero() {
                found.push(Side { column, unit, sign, bound });
            }
        }
    };
    let m = weights.len() / problems;
    for problem in (0..problems).filter(|_| m > 0) {
        (0..n_in).for_each(|k| add(problem * m + k, None));
        for (u, columns) in units.iter().enumerate() {
            (columns.first..columns.last).for_each(|k| add(problem * m + k, Some(u)));
        }
    }
    found
}

/// What the bounds make of a point.
pub(super) struct Bent {
    /// r, by column.
    pub(super) r: Vec<f64>,
    /// h, by column.
    pub(super) bend: Vec<f64>,
    /// m, by column.
    turn: Vec<f64>,
    /// rho, by column.
    pub(super) lean: Vec<f64>,
    /// kappa, by unit.
    pub(super) curve: Vec<f64>,
}

/// What a step lacks through the bounds.
pub(super) struct Forced {
    /// e, by side.
    by_side: Vec<f64>,
    /// N, by column.
    pull: Vec<f64>,
    /// eps, by unit.
    pub(super) gain: Vec<f64>,
}

impl Restricted {
    /// r
    pub(super) fn rest(&self, c: &[f64], nu: &[f64]) -> Vec<f64> {
        let mut r = c.to_vec();
        for (side, nu) in self.sides.iter().zip(nu) {
            r[side.column] -= side.sign * nu;
        }
        r
    }

    /// What the bounds make of a point with these scores.
    pub(super) fn bent(&self, at: &Iterate, c: &[f64]) -> Bent {
        let r = self.rest(c, &at.nu);
        let (mut bend, mut turn, mut curve) = (vec![1.0; c.len()], vec![0.0; c.len()], vec![0.0; self.units.len()]);
        let mut lean = r.clone();
        for (e, side) in self.sides.iter().enumerate() {
            let (omega, d) = (at.nu[e] / at.left[e], side.left(&r));
            bend[side.column] += side.share(&at.z) * omega;
            turn[side.column] += side.sign * omega * d;
            if let Some(u) = side.unit {
                curve[u] += omega * d * d;
            }
        }
        if !self.sides.is_empty() {
            for h in &mut bend {
                *h = 1.0 / *h;
            }
            for (u, columns) in self.units.iter().enumerate() {
                for k in self.columns(columns) {
                    let share = at.z[u] * bend[k] * turn[k];
                    lean[k] += share;
                    curve[u] -= share * turn[k];
                }
                curve[u] = curve[u].max(0.0);
            }
        }
        Bent { r, bend, turn, lean, curve }
    }

    /// What a step lacks through the bounds, at the products aimed at.
    pub(super) fn forced(&self, at: &Iterate, bent: &Bent, lacking: &Residuals, aim: &Aim) -> Forced {
        let by_side: Vec<f64> =
            (0..self.sides.len()).map(|e| (aim.nu[e] - at.nu[e] * lacking.left[e]) / at.left[e]).collect();
        let (mut pull, mut gain) = (vec![0.0; bent.r.len()], vec![0.0; self.units.len()]);
        for (side, e) in self.sides.iter().zip(&by_side) {
            pull[side.column] += side.sign * e;
            if let Some(u) = side.unit {
                gain[u] += side.left(&bent.r) * e;
            }
        }
        for (u, columns) in self.units.iter().enumerate() {
            for k in self.columns(columns) {
                gain[u] -= at.z[u] * bent.bend[k] * bent.turn[k] * pull[k];
            }
        }
        Forced { by_side, pull, gain }
    }

    /// Adds z h N to the weights that a step moves anyway.
    pub(super) fn add_pull(&self, at: &Iterate, bent: &Bent, forced: &Forced, moved: &mut [f64]) {
        for k in self.spans(0, self.n_in).flatten() {
            moved[k] += bent.bend[k] * forced.pull[k];
        }
        for (u, columns) in self.units.iter().enumerate() {
            for k in self.columns(columns) {
                moved[k] += at.z[u] * bent.bend[k] * forced.pull[k];
            }
        }
    }

    /// dr, dnu and dp of the steps of c and z.
    pub(super) fn along_bounds(
        &self,
        at: &Iterate,
        (bent, forced, lacking): (&Bent, &Forced, &Residuals),
        (dc, dz): (&[f64], &[f64]),
    ) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let mut dr: Vec<f64> = dc.iter().zip(&forced.pull).map(|(dc, pull)| dc - pull).collect();
        for (u, columns) in self.units.iter().enumerate() {
            for k in self.columns(columns) {
                dr[k] += bent.turn[k] * dz[u];
            }
        }
        dr.iter_mut().zip(&bent.bend).for_each(|(dr, h)| *dr *= h);
        let (mut nu, mut left) = (Vec::with_capacity(self.sides.len()), Vec::with_capacity(self.sides.len()));
        for (e, side) in self.sides.iter().enumerate() {
            let share = side.unit.map_or(0.0, |u| dz[u] * side.left(&bent.r));
            let away = side.share(&at.z) * side.sign * dr[side.column] - share;
            nu.push(at.nu[e] / at.left[e] * away + forced.by_side[e]);
            left.push(lacking.left[e] - away);
        }
        (dr, nu, left)
    }

    /// What p lacks to `z d`.
    pub(super) fn lacking_left(&self, at: &Iterate, r: &[f64]) -> Vec<f64> {
        self.sides.iter().zip(&at.left).map(|(side, left)| side.share(&at.z) * side.left(r) - left).collect()
    }

    /// The second-order error of `z d` on a step.
    pub(super) fn correct_left(&self, dz: &[f64], dr: &[f64], lacking: &mut [f64]) {
        for (side, lacking) in self.sides.iter().zip(lacking) {
            *lacking -= side.unit.map_or(0.0, |u| dz[u] * side.sign * dr[side.column]);
        }
    }

    /// nu on the central path of mu at these scores and shares.
    pub(super) fn central(&self, c: &[f64], z: &[f64], mu: f64) -> Vec<f64> {
        let multiplier = |side: &Side| {
            let pull = mu / side.share(z).max(LEAST);
            let interval = self.weights[side.column];
            let r = central_weight(interval, c[side.column], pull);
            pull / (side.bound - side.sign * r).max(LEAST * side.bound).max(f64::MIN_POSITIVE)
        };
        self.sides.iter().map(multiplier).collect()
    }

    /// p at shares z, above 0.
    pub(super) fn lefts(&self, r: &[f64], nu: &[f64], z: &[f64], mu: f64) -> Vec<f64> {
        let left = |(side, nu): (&Side, &f64)| (side.share(z) * side.left(r)).max(0.1 * mu / nu);
        self.sides.iter().zip(nu).map(left).collect()
    }

    /// The weights at share 1, within their bounds.
    pub(super) fn settled_weights(&self, c: &[f64], at: &Iterate) -> Vec<f64> {
        let mut w = self.rest(c, &at.nu);
        w.iter_mut().zip(&self.weights).for_each(|(w, interval)| *w = interval.weight(*w));
        w
    }

    /// `sum b nu`, of the columns that are in and by unit.
    pub(super) fn add_bounds(&self, nu: &[f64], inside: &mut f64, gains: &mut [f64]) {
        for (side, nu) in self.sides.iter().zip(nu) {
            *side.unit.map_or(&mut *inside, |u| &mut gains[u]) += side.bound * nu;
        }
    }
}

/// r with `r + pull / (u - r) - pull / (r - l) = c`: the left side rises from l to u.
fn central_weight(interval: Interval, c: f64, pull: f64) -> f64 {
    let Interval { lower, upper } = interval;
    let reach = pull.sqrt();
    let mut low = if lower.is_finite() { lower } else { c.min(upper) - reach };
    let mut high = if upper.is_finite() { upper } else { c.max(lower) + reach };
    for _ in 0..HALVINGS {
        let r = 0.5 * (low + high);
        // An infinite bound pulls nothing.
        if r + pull / (upper - r) - pull / (r - lower) > c { high = r } else { low = r }
    }
    0.5 * (low + high)
}
