//! A point between the bounds, its products, and steps from it.

use super::BACK_OFF;
use crate::simd::{dot, largest_share, moved_dot};

/// Everything that stays positive, and the bias of each problem.
#[derive(Debug, Clone)]
pub(super) struct Iterate {
    pub(super) alpha: Vec<f64>,
    /// C - alpha; infinite where there is no upper bound.
    pub(super) room: Vec<f64>,
    /// Multipliers of alpha >= 0 and of alpha <= C.
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) bias: Vec<f64>,
    pub(super) z: Vec<f64>,
    /// 1 - z
    pub(super) v: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) s: Vec<f64>,
    pub(super) tau: Vec<f64>,
    /// b - A z
    pub(super) t: Vec<f64>,
    /// Multipliers of the bounds on weights, and what these have left; see `sides.rs`.
    pub(super) nu: Vec<f64>,
    pub(super) left: Vec<f64>,
}

/// Products the next step aims at, less what they are: one number per pair.
pub(super) struct Aim {
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
    pub(super) zq: Vec<f64>,
    pub(super) vs: Vec<f64>,
    pub(super) tau: Vec<f64>,
    pub(super) nu: Vec<f64>,
}

/// What the conditions lack.
pub(super) struct Residuals {
    pub(super) alpha: Vec<f64>,
    pub(super) q: Vec<f64>,
    pub(super) t: Vec<f64>,
    pub(super) left: Vec<f64>,
    /// The residual of each problem's balance `y'alpha = 0`.
    pub(super) balance: Vec<f64>,
}

/// A direction, and how r moves along it: c less what the bounds take.
pub(super) struct Step {
    pub(super) at: Iterate,
    pub(super) r: Vec<f64>,
}

impl Iterate {
    /// The pairs whose products vanish at the optimum.
    fn each_pair(&self) -> [(&[f64], &[f64]); 6] {
        [
            (&self.alpha, &self.low),
            (&self.room, &self.high),
            (&self.z, &self.q),
            (&self.v, &self.s),
            (&self.tau, &self.t),
            (&self.nu, &self.left),
        ]
    }

    /// Sum of all products.
    pub(super) fn products(&self) -> f64 {
        self.each_pair().into_iter().filter(is_finite).map(|(a, b)| dot(a, b)).sum()
    }

    /// Sum of all products after a step of this length.
    pub(super) fn products_after(&self, step: &Step, length: f64) -> f64 {
        let pairs = self.each_pair().into_iter().zip(step.at.each_pair());
        let finite = pairs.filter(|(pair, _)| is_finite(pair));
        finite.map(|((a, b), (da, db))| moved_dot((a, da), (b, db), length)).sum()
    }

    pub(super) fn pairs(&self) -> usize {
        self.each_pair().iter().filter(|pair| is_finite(pair)).map(|(a, _)| a.len()).sum()
    }

    pub(super) fn aim(&self, target: f64) -> Aim {
        let aim = |(a, b): (&[f64], &[f64])| {
            a.iter().zip(b).map(|(a, b)| if a.is_finite() { target - a * b } else { 0.0 }).collect()
        };
        let [low, high, zq, vs, tau, nu] = self.each_pair().map(aim);
        Aim { low, high, zq, vs, tau, nu }
    }

    /// The longest step that keeps everything positive.
    pub(super) fn longest(&self, step: &Step) -> f64 {
        // The largest share of a value that a unit step takes away; an absent bound gives 0 / 0,
        // which does not count.
        let mut taken: f64 = 0.0;
        for ((a, b), (da, db)) in self.each_pair().into_iter().zip(step.at.each_pair()) {
            taken = taken.max(largest_share(a, da)).max(largest_share(b, db));
        }
        if taken > 0.0 { 1.0 / taken } else { f64::INFINITY }.min(1.0 / BACK_OFF)
    }

    pub(super) fn moved(&self, step: &Step, length: f64) -> Iterate {
        let add = |a: &[f64], d: &[f64]| a.iter().zip(d).map(|(a, d)| a + length * d).collect();
        let d = &step.at;
        Iterate {
            alpha: add(&self.alpha, &d.alpha),
            room: add(&self.room, &d.room),
            low: add(&self.low, &d.low),
            high: add(&self.high, &d.high),
            bias: add(&self.bias, &d.bias),
            z: add(&self.z, &d.z),
            v: add(&self.v, &d.v),
            q: add(&self.q, &d.q),
            s: add(&self.s, &d.s),
            tau: add(&self.tau, &d.tau),
            t: add(&self.t, &d.t),
            nu: add(&self.nu, &d.nu),
            left: add(&self.left, &d.left),
        }
    }
}

/// Whether the pair is there: room is infinite for all samples or for none.
fn is_finite((a, _): &(&[f64], &[f64])) -> bool {
    a.first().is_some_and(|a| a.is_finite())
}

impl Aim {
    /// Adds the target and takes off the products of the predictor's steps.
    pub(super) fn correct(&mut self, target: f64, predictor: &Step) {
        let d = &predictor.at;
        let aims = [&mut self.low, &mut self.high, &mut self.zq, &mut self.vs, &mut self.tau, &mut self.nu];
        for (aim, (da, db)) in aims.into_iter().zip(d.each_pair()) {
            for (aim, (da, db)) in aim.iter_mut().zip(da.iter().zip(db)) {
                *aim += target - da * db;
            }
        }
    }
}
