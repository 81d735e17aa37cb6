//! Features that no better subset holds, and smaller u for the others, by the reduced costs of the
//! relaxation.
//!
//! Proof    for any alpha of the relaxation's dual, a solution with y_j = 1 and w_j = s v, s = 1
//!          or -1, costs at least L(alpha) + gain_j + D_j + v (1 - s c_j), where L is the dual
//!          value and gain_j = u_j max(0, |c_j| - 1 - D_j / u_j) what j costs it. Where that
//!          exceeds the incumbent for every v up to u_j, the feature leaves; else v is bounded
//!          where s c_j < 1. At alpha = 0 that says that no v is above the incumbent less D_j. A sign
//!          that the rules' bounds leave out has no v, and v is below the bound of the other.
//! Rules    none is used, so the proof holds under all of them.

use serde::{Deserialize, Serialize};

use crate::Interval;
use crate::l1_oracle::{L1Oracle, L1Point};

use super::Model;

/// What steps 1 to 4 of `mbp` found out.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Reduced {
    /// u.
    pub(super) bound: Vec<f64>,
    /// Value of the linear relaxation, where it was solved.
    pub(super) relaxation: Option<f64>,
    /// Features that step 4 removed.
    pub(super) removed: usize,
}

/// Rounding: no bound is taken to the last digit.
const SLACK: f64 = 1e-9;
/// A sum of u that falls by less than this share is not worth another linear program.
const WORTH: f64 = 0.01;

/// Lowers `model.bound` by the relaxation's solution, when a subset of objective `best` is known.
pub(super) fn reduce(model: &mut Model<'_>, oracle: &L1Oracle<'_>, point: &L1Point, best: f64) {
    let best = best + SLACK * best.abs();
    for j in 0..model.bound.len() {
        let (c, Interval { lower, upper }) = (point.scores[j], model.interval(j));
        let room = best - point.dual - oracle.gain(j, c) - model.penalty[j];
        let side = |c: f64, u: f64| {
            if c < 1.0 {
                // v (1 - c) <= room
                (room / (1.0 - c)).max(0.0).min(u)
            } else if u * (c - 1.0) < -room {
                0.0
            } else {
                u
            }
        };
        model.bound[j] = side(c, upper).max(side(-c, -lower));
    }
}

/// Whether u fell by so much that another linear program is worth its time.
pub(super) fn fell(before: &[f64], now: &[f64]) -> bool {
    now.iter().sum::<f64>() < (1.0 - WORTH) * before.iter().sum::<f64>()
}
