//! The squared hinge loss of the samples inside the margin is a least-squares loss: with the others
//! left out, the machine is a lasso.
//!
//! Solves   min over u, b of  ||u||_1 + sum over i in I of C_i (y_i - x_i.u - b)^2,  I the samples
//!          inside the margin of the current point; u within bounds on weights.
//! Paper    descent by coordinates: Friedman, Hastie, Tibshirani, J. Stat. Softw. 33, 2010; Newton
//!          steps on the weights that are not 0, cut at changes of sign: Schmidt, Fung, Rosales,
//!          ECML 2007 (projection), as the exact end of a descent that has found the signs; weights
//!          at a bound stay there in that step, and one that reaches its bound ends there.
//! Given    columns (the working set), I, u to start from.
//! Returns  u, b with a violation of at most what was asked for.
//! Steps    1. sweep over all columns  2. sweeps over those of weight not 0  3. when those have
//!          cost as much as a Newton step, that step
//! Samples that were outside the margin but came inside on the way to the last lasso's solution can
//! be watched: their terms C_i (change of decision value)^2 have the right derivative, 0, and keep
//! the next solution from going as far. A free bias is b's best value at any u: rows are centred,
//! by one number per column and one for the residuals.
//! Order    a sweep visits its columns in random order (Nesterov, SIAM J. Optim. 22, 2012): in a
//!          fixed one, columns of words sorted by count took twelve times the sweeps. The seed is
//!          fixed.
//! Cost     per sweep the stored values of its columns in I; a Newton step the Gram matrix of the s
//!          weights that are not 0, and s^3 / 3.

use super::columns::Columns;
use crate::dual::normal::{Extended, Normal, prices};
use crate::dual::sweep::Shuffle;
use crate::kernel::cholesky::Factor;
use crate::simd;
use crate::{Bias, Clock, Interval, RowMatrix};

/// Tuning: chosen by hand; `bench/l1.py` shows what a change costs, `bench/log/l1.md` what was
/// tried.
mod tuning {
    /// A column whose centred square is below this share of its square is constant.
    pub(super) const CONSTANT: f64 = 1e-14;
    /// Added to the diagonal of the Gram matrix, as a share of it: copies of a column share their
    /// step.
    pub(super) const RIDGE: f64 = 1e-13;
    /// Share of the violation seen in a sweep over all that the sweeps over the weights that are
    /// not 0 aim at.
    pub(super) const RESTRICTED: f64 = 0.1;
    /// A change of the value below this share of it is rounding.
    pub(super) const ROUNDING: f64 = 1e-14;
}
use tuning::{CONSTANT, RESTRICTED, RIDGE, ROUNDING};

/// The lasso of one working set and one I.
pub(super) struct Lasso<'a, 's> {
    columns: &'a Columns<'a, 's>,
    /// Working set, positions in `columns`.
    work: &'a [usize],
    /// I and the samples watched, ascending.
    pub(super) inside: Vec<usize>,
    /// 2 C_i of these.
    curvature: Vec<f64>,
    /// Their square roots.
    root: Vec<f64>,
    /// Row j: column work[j] at I, times `root`.
    x: RowMatrix,
    /// `root` of length 1 with a free bias, else empty.
    unit: Vec<f64>,
    /// x_j . unit, 0 without a free bias.
    mean: Vec<f64>,
    /// Squares of the centred columns, 0 for constant ones.
    square: Vec<f64>,
    /// root (y - scores), not centred.
    r: Vec<f64>,
    /// unit . r
    shift: f64,
    /// Order of the sweeps.
    shuffle: Shuffle,
    /// Sweeps so far.
    pub(super) sweeps: u64,
}

impl<'a, 's> Lasso<'a, 's> {
    /// In the memory of `old`'s matrix.
    pub(super) fn new(
        columns: &'a Columns<'a, 's>,
        work: &'a [usize],
        inside: Vec<usize>,
        cost: &[f64],
        old: Option<RowMatrix>,
    ) -> Self {
        let curvature: Vec<f64> = inside.iter().map(|&i| 2.0 * cost[i]).collect();
        let root: Vec<f64> = curvature.iter().map(|c| c.sqrt()).collect();
        let x = columns.gather(work, &inside, &root, old);
        let mut unit = Vec::new();
        if columns.bias == Bias::Free {
            let norm = simd::dot(&root, &root).sqrt();
            unit.extend(root.iter().map(|r| r / norm));
        }
        let mut mean = vec![0.0; work.len()];
        let square = (0..work.len())
            .map(|j| {
                let row = x.row(j);
                let whole = row.squared_norm();
                if unit.is_empty() {
                    return whole;
                }
                mean[j] = row.dot(&unit);
                let centred = whole - mean[j] * mean[j];
                if centred > CONSTANT * whole { centred } else { 0.0 }
            })
            .collect();
        let r = vec![0.0; inside.len()];
        Self {
            columns,
            work,
            inside,
            curvature,
            root,
            x,
            unit,
            mean,
            square,
            r,
            shift: 0.0,
            shuffle: Shuffle::default(),
            sweeps: 0,
        }
    }

    /// The matrix of the lasso, whose memory the next lasso uses again.
    pub(super) fn into_matrix(self) -> RowMatrix {
        self.x
    }

    /// Sets the residuals of the current point: 0 for samples outside the margin, which then only
    /// resist a change of their decision value.
    pub(super) fn begin(&mut self, y: &[f64], decisions: &[f64]) {
        for (at, &i) in self.inside.iter().enumerate() {
            let slack = 1.0 - y[i] * decisions[i];
            self.r[at] = self.root[at] * y[i] * slack.max(0.0);
        }
        self.centre();
    }

    fn centre(&mut self) {
        if !self.unit.is_empty() {
            self.shift = simd::dot(&self.unit, &self.r);
        }
    }

    /// How far a free bias has moved from where the residuals began.
    pub(super) fn bias_change(&self) -> f64 {
        match self.unit.first() {
            Some(unit) => self.shift * unit / self.root[0],
            None => 0.0,
        }
    }

    /// -d loss / d u_j
    fn slope(&self, j: usize) -> f64 {
        self.x.row(j).dot(&self.r) - self.shift * self.mean[j]
    }

    /// Largest violation of the optimality conditions.
    pub(super) fn violation(&self, u: &[f64]) -> f64 {
        (0..u.len()).map(|j| self.missed(j, u[j], self.slope(j))).fold(0.0, f64::max)
    }

    /// The weights that column j may have.
    fn interval(&self, j: usize) -> Interval {
        self.columns.interval(self.work[j])
    }

    /// Violation of the optimality conditions of a weight at this slope.
    fn missed(&self, j: usize, u: f64, slope: f64) -> f64 {
        self.interval(j).violation(u, slope, 1.0, 1.0)
    }

    /// Lowers the violation to `open`, unless the clock or `most` sweeps end it before.
    pub(super) fn solve(&mut self, u: &mut [f64], open: f64, most: u64, clock: &Clock) {
        let mut all: Vec<usize> = (0..u.len()).collect();
        let (mut spent, mut care) = (0.0, 1.0);
        while self.sweeps < most {
            // Step 1.
            let worst = self.sweep(&mut all, u);
            if worst <= open {
                return;
            }
            // Step 2.
            let aim = open.max(RESTRICTED * worst);
            let mut support: Vec<usize> = (0..u.len()).filter(|&j| u[j] != 0.0).collect();
            let (sweep, leap) = self.prices(&support);
            while self.sweeps < most {
                if clock.stop().is_some() {
                    return;
                }
                // Step 3.
                if spent >= care * leap {
                    care = if self.leap(u) { 1.0 } else { 2.0 * care };
                    spent = 0.0;
                }
                spent += sweep;
                if self.sweep(&mut support, u) <= aim {
                    break;
                }
            }
        }
    }

    /// Estimated time of a sweep over these columns and of a Newton step on them.
    fn prices(&self, support: &[usize]) -> (f64, f64) {
        let stored = |(start, ..): (&[usize], _, _)| support.iter().map(|&j| start[j + 1] - start[j]).sum();
        prices(support.len(), self.inside.len(), self.x.csr().map(stored))
    }

    /// One sweep of exact steps over a list, in an order drawn again; the largest violation met.
    fn sweep(&mut self, list: &mut [usize], u: &mut [f64]) -> f64 {
        self.sweeps += 1;
        let mut worst = 0.0f64;
        for at in 0..list.len() {
            let j = self.shuffle.draw(list, at);
            let slope = self.slope(j);
            worst = worst.max(self.missed(j, u[j], slope));
            let to = if self.square[j] > 0.0 {
                let whole = slope + self.square[j] * u[j];
                self.interval(j).weight((whole.abs() - 1.0).max(0.0).copysign(whole) / self.square[j])
            } else {
                0.0
            };
            let change = to - u[j];
            if change != 0.0 {
                u[j] = to;
                self.x.row(j).add_to(-change, &mut self.r);
                self.shift -= change * self.mean[j];
            }
        }
        worst
    }

    /// A Newton step on the weights that are neither 0 nor at a bound; those whose sign would turn
    /// become 0, and those that reach a bound stay there. Whether it gained.
    fn leap(&mut self, u: &mut [f64]) -> bool {
        self.centre();
        let inside = |j: usize, Interval { lower, upper }: Interval| u[j] != 0.0 && lower < u[j] && u[j] < upper;
        let support: Vec<usize> = (0..u.len()).filter(|&j| inside(j, self.interval(j))).collect();
        if support.is_empty() {
            return false;
        }
        let slope: Vec<f64> = support.iter().map(|&j| self.slope(j) - u[j].signum()).collect();
        let direction = self.newton(&support, &slope);
        let promised = simd::dot(&slope, &direction);
        if !promised.is_finite() || promised <= 0.0 {
            return false;
        }
        let unseen = ROUNDING * (simd::dot(&self.r, &self.r) + support.iter().map(|&j| u[j].abs()).sum::<f64>());
        // Where along the step each weight becomes 0 or reaches its bound, and which.
        let end = |(&j, &d): (&usize, &f64)| {
            let Interval { lower, upper } = self.interval(j);
            let value = if d * u[j] < 0.0 {
                0.0
            } else if d > 0.0 {
                upper
            } else {
                lower
            };
            if d == 0.0 || value.is_infinite() { (f64::INFINITY, value) } else { ((value - u[j]) / d, value) }
        };
        let stays: Vec<(f64, f64)> = support.iter().zip(&direction).map(end).collect();
        let mut ends: Vec<f64> = stays.iter().map(|e| e.0).filter(|&at| at < 1.0).collect();
        ends.sort_unstable_by(f64::total_cmp);
        let first = ends.first().copied().unwrap_or(1.0);
        let (mut t, mut turned, mut along) = (1.0, ends.len(), vec![0.0; self.r.len()]);
        // To the end first, then to where half as many weights have stopped, and so on.
        loop {
            let to = |at: usize| if t >= stays[at].0 { stays[at].1 } else { u[support[at]] + t * direction[at] };
            along.fill(0.0);
            let (mut moved, mut penalty) = (0.0, 0.0);
            for (at, &j) in support.iter().enumerate() {
                let change = to(at) - u[j];
                penalty += to(at).abs() - u[j].abs();
                self.x.row(j).add_to(-change, &mut along);
                moved -= change * self.mean[j];
            }
            // 1/2 |r + along|^2 - 1/2 |r|^2, both centred.
            let loss =
                simd::dot(&self.r, &along) - self.shift * moved + 0.5 * (simd::dot(&along, &along) - moved * moved);
            // Up to the first that stops it gains, even where rounding hides that.
            let most = if t <= first { unseen } else { 0.0 };
            if penalty + loss < most {
                let new: Vec<f64> = (0..support.len()).map(to).collect();
                for (&j, new) in support.iter().zip(new) {
                    u[j] = new;
                }
                simd::axpy(1.0, &along, &mut self.r);
                self.centre();
                return true;
            }
            if t <= first {
                return false;
            }
            turned /= 2;
            t = ends[turned];
        }
    }

    /// d with (X_S' X_S) d = slope, X_S centred.
    fn newton(&self, support: &[usize], slope: &[f64]) -> Vec<f64> {
        let positions: Vec<usize> = support.iter().map(|&j| self.work[j]).collect();
        let (rows, bias) = self.columns.rows(&positions);
        let mut normal = Normal::new(Extended::new(&rows, bias));
        normal.add(self.inside.iter().copied().zip(self.curvature.iter().copied()));
        let mut gram = Vec::new();
        normal.gram(&mut gram);
        let m = support.len() + usize::from(bias == Bias::Free);
        let mut factor = Factor::new(m);
        factor.fill(|i, j| gram[i * m + j] * if i == j { 1.0 + RIDGE } else { 1.0 });
        factor.decompose();
        let mut right = slope.to_vec();
        // The bias is at its best already.
        right.resize(m, 0.0);
        let mut direction = factor.solve(&right);
        direction.truncate(support.len());
        direction
    }
}
