//! The last digits of one subset's SVM: guess which samples are on which bound, solve the
//! optimality conditions, guess again.
//!
//! Solves   `w - sum_F alpha_i y_i x_i = sum_U C_i y_i x_i`,  `y_i (w.x_i + b) + ridge_i alpha_i =
//!          1` for i in F,  `y'alpha = 0` (free bias),
//!          with F the samples between their bounds, U those at C; a penalised bias is a column. A
//!          weight that is at a bound has that in place of its condition.
//! Paper    the primal-dual active-set method, Hintermueller, Ito, Kunisch, SIAM J. Optim. 13
//!          (2002).
//! Given    few features, a point near the optimum.      Returns  w, b and alpha after each round;
//!          the caller judges them.
//! Cost     per round (f + m)^3 for f samples in F and m features.
//! Why      w is an unknown of its own. Where columns are large, `sum alpha_i y_i x_i` has no digit
//!          of w left, so that a primal point made of alpha is poor however good alpha is.
//! Fails    never: a wrong guess gives a poor point, and rounds are few.

use crate::Interval;
use crate::dual::{Bias, BoxDual, Loss};

/// Rounds, at most: the guess is right after a few, or never.
const ROUNDS: usize = 30;
/// Unknowns, at most: the matrix is dense.
const UNKNOWNS: usize = 500;
/// Passes that bring rows and columns of the matrix to size 1.
const SCALINGS: usize = 6;
/// A pivot below this, after scaling, is as good as 0.
const PIVOT: f64 = 1e-14;

/// One subset: columns of the features, and the box.
pub(super) struct Polish<'p> {
    pub(super) dual: &'p BoxDual,
    /// Columns, the one of a penalised bias last.
    pub(super) columns: Vec<Vec<f64>>,
    /// The weights that each column may have.
    pub(super) weights: Vec<Interval>,
}

/// A primal and a dual point.
#[derive(Debug, Clone)]
pub(super) struct Polished {
    pub(super) beta: Vec<f64>,
    /// The weight of each column, within its bounds.
    pub(super) w: Vec<f64>,
    /// The free bias, else 0.
    pub(super) bias: f64,
}

/// Where a sample is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Low,
    Between,
    High,
}

impl Polish<'_> {
    /// Solves from the guess that `beta` and the margins make, and the weights where they are
    /// known, and hands each round's point to `judge` until it says enough.
    pub(super) fn run(
        &self,
        beta: &[f64],
        w: Option<&[f64]>,
        margins: &[f64],
        alpha_cap: f64,
        judge: &mut dyn FnMut(&Polished) -> bool,
    ) {
        let dual = self.dual;
        let mut held = w.map(|w| self.pulled(beta, w));
        let mut alpha: Vec<f64> = beta.iter().zip(&dual.y).map(|(b, y)| b * y).collect();
        let mut margins = margins.to_vec();
        let mut before = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let held = held.take().unwrap_or_else(|| self.held(&alpha));
            let sides = (self.guess(&alpha, &margins, alpha_cap), held);
            if sides == before {
                return;
            }
            let Some(point) = self.solve(&sides.0, &sides.1) else { return };
            for i in 0..dual.len() {
                alpha[i] = dual.y[i] * point.beta[i];
                margins[i] = dual.y[i] * self.score(i, &point);
            }
            if judge(&point) {
                return;
            }
            before = sides;
        }
    }

    pub(super) fn score(&self, i: usize, point: &Polished) -> f64 {
        self.columns.iter().zip(&point.w).map(|(x, w)| x[i] * w).sum::<f64>() + point.bias
    }

    /// A sample is where a step along its slope leaves it.
    fn guess(&self, alpha: &[f64], margins: &[f64], alpha_cap: f64) -> Vec<Side> {
        let dual = self.dual;
        let side = |i: usize| {
            let scale = if dual.loss == Loss::Hinge { dual.cost[i].min(alpha_cap) } else { alpha_cap };
            let slope = 1.0 - margins[i] - dual.ridge[i] * alpha[i];
            let ahead = alpha[i] + scale * slope;
            if dual.cost[i] == 0.0 || ahead <= 0.0 {
                Side::Low
            } else if dual.loss == Loss::Hinge && ahead >= dual.cost[i] {
                Side::High
            } else {
                Side::Between
            }
        };
        (0..dual.len()).map(side).collect()
    }

    /// A weight is at the bound on the side of its score where that is further away, each measured
    /// by the largest of its kind.
    pub(super) fn pulled(&self, beta: &[f64], w: &[f64]) -> Vec<Option<f64>> {
        let c: Vec<f64> = self.columns.iter().map(|x| x.iter().zip(beta).map(|(x, b)| x * b).sum()).collect();
        let most = |values: &[f64]| values.iter().fold(f64::MIN_POSITIVE, |most: f64, value| most.max(value.abs()));
        let scale = most(&c) / most(w);
        let at = |k: usize| {
            let Interval { lower, upper } = self.weights[k];
            let bound = if c[k] > w[k] { upper } else { lower };
            ((c[k] - w[k]).abs() > scale * (bound - w[k]).abs()).then_some(bound)
        };
        (0..w.len()).map(|k| if self.weights[k].is_zero() { Some(0.0) } else { at(k) }).collect()
    }

    /// A weight is at the bound that its score is beyond.
    fn held(&self, alpha: &[f64]) -> Vec<Option<f64>> {
        let bound = |(column, interval): (&Vec<f64>, &Interval)| {
            if *interval == Interval::FREE {
                return None;
            }
            let c = column.iter().zip(alpha).zip(&self.dual.y).map(|((x, a), y)| x * a * y).sum::<f64>();
            let w = interval.weight(c);
            (w != c || interval.is_zero()).then_some(w)
        };
        self.columns.iter().zip(&self.weights).map(bound).collect()
    }

    /// The point where the conditions hold for this guess; none where there are too many unknowns.
    fn solve(&self, sides: &[Side], held: &[Option<f64>]) -> Option<Polished> {
        let dual = self.dual;
        let m = self.columns.len();
        let between: Vec<usize> = (0..dual.len()).filter(|&i| sides[i] == Side::Between).collect();
        let biased = usize::from(dual.bias == Bias::Free);
        let size = m + between.len() + biased;
        if size > UNKNOWNS {
            return None;
        }
        let high = |i: &usize| sides[*i] == Side::High;
        let fixed =
            |k: usize| (0..dual.len()).filter(high).map(|i| dual.cost[i] * dual.y[i] * self.columns[k][i]).sum();
        let mut matrix = vec![0.0; size * size];
        let mut right: Vec<f64> = (0..m).map(|k| held[k].unwrap_or_else(|| fixed(k))).collect();
        right.resize(m + between.len(), 1.0);
        for k in 0..m {
            matrix[k * size + k] = 1.0;
        }
        for (at, &i) in between.iter().enumerate() {
            let row = m + at;
            for k in 0..m {
                let x = dual.y[i] * self.columns[k][i];
                (matrix[k * size + row], matrix[row * size + k]) = (if held[k].is_some() { 0.0 } else { -x }, x);
            }
            matrix[row * size + row] = dual.ridge[i];
            if biased == 1 {
                (matrix[row * size + size - 1], matrix[(size - 1) * size + row]) = (dual.y[i], dual.y[i]);
            }
        }
        if biased == 1 {
            right.push(-(0..dual.len()).filter(high).map(|i| dual.cost[i] * dual.y[i]).sum::<f64>());
        }
        let x = Scaled::new(&matrix, size).solve(&right);
        let mut beta: Vec<f64> =
            (0..dual.len()).map(|i| if sides[i] == Side::High { dual.y[i] * dual.cost[i] } else { 0.0 }).collect();
        between.iter().zip(&x[m..]).for_each(|(&i, alpha)| beta[i] = dual.y[i] * alpha);
        let bias = if biased == 1 { x[size - 1] } else { 0.0 };
        let w = x[..m].iter().zip(&self.weights).map(|(w, interval)| interval.weight(*w)).collect();
        x.iter().all(|x| x.is_finite()).then_some(Polished { beta, w, bias })
    }
}

/// A square matrix, its rows and columns brought to size 1 by powers of two, and its triangular
/// factors.
struct Scaled {
    size: usize,
    matrix: Vec<f64>,
    factors: Vec<f64>,
    order: Vec<usize>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Scaled {
    fn new(matrix: &[f64], size: usize) -> Self {
        let (mut rows, mut columns) = (vec![1.0; size], vec![1.0; size]);
        let power = |largest: f64| if largest > 0.0 { (-0.5 * largest.log2()).round().exp2() } else { 1.0 };
        let entry =
            |i: usize, k: usize, rows: &[f64], columns: &[f64]| (rows[i] * matrix[i * size + k] * columns[k]).abs();
        for _ in 0..SCALINGS {
            let by_row: Vec<f64> =
                (0..size).map(|i| power((0..size).map(|k| entry(i, k, &rows, &columns)).fold(0.0, f64::max))).collect();
            let by_column: Vec<f64> =
                (0..size).map(|k| power((0..size).map(|i| entry(i, k, &rows, &columns)).fold(0.0, f64::max))).collect();
            rows.iter_mut().zip(&by_row).for_each(|(r, s)| *r *= s);
            columns.iter_mut().zip(&by_column).for_each(|(c, s)| *c *= s);
        }
        let scaled: Vec<f64> = (0..size * size).map(|at| rows[at / size] * matrix[at] * columns[at % size]).collect();
        let mut it = Self { size, factors: scaled.clone(), matrix: scaled, order: (0..size).collect(), rows, columns };
        it.decompose();
        it
    }

    /// Gaussian elimination with partial pivoting.
    fn decompose(&mut self) {
        let (size, a) = (self.size, &mut self.factors);
        for k in 0..size {
            let pivot = (k..size).max_by(|&i, &j| a[i * size + k].abs().total_cmp(&a[j * size + k].abs())).unwrap_or(k);
            if pivot != k {
                (0..size).for_each(|c| a.swap(k * size + c, pivot * size + c));
                self.order.swap(k, pivot);
            }
            if a[k * size + k].abs() < PIVOT {
                a[k * size + k] = PIVOT.copysign(a[k * size + k]);
            }
            for i in k + 1..size {
                let factor = a[i * size + k] / a[k * size + k];
                a[i * size + k] = factor;
                if factor != 0.0 {
                    (k + 1..size).for_each(|c| a[i * size + c] -= factor * a[k * size + c]);
                }
            }
        }
    }

    /// x with the matrix times x = right, refined once.
    fn solve(&self, right: &[f64]) -> Vec<f64> {
        let size = self.size;
        let right: Vec<f64> = right.iter().zip(&self.rows).map(|(b, r)| b * r).collect();
        let mut x = self.substitute(&right);
        let residual: Vec<f64> =
            (0..size).map(|i| right[i] - (0..size).map(|k| self.matrix[i * size + k] * x[k]).sum::<f64>()).collect();
        x.iter_mut().zip(self.substitute(&residual)).for_each(|(x, d)| *x += d);
        x.iter().zip(&self.columns).map(|(x, c)| x * c).collect()
    }

    fn substitute(&self, right: &[f64]) -> Vec<f64> {
        let (size, a) = (self.size, &self.factors);
        let mut x: Vec<f64> = self.order.iter().map(|&i| right[i]).collect();
        for i in 0..size {
            x[i] -= (0..i).map(|k| a[i * size + k] * x[k]).sum::<f64>();
        }
        for i in (0..size).rev() {
            x[i] = (x[i] - (i + 1..size).map(|k| a[i * size + k] * x[k]).sum::<f64>()) / a[i * size + i];
        }
        x
    }
}
