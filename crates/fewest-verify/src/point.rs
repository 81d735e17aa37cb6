//! A dual point: what it proves of every subset, and the part of each feature in it.

use std::io::Read;

use rayon::prelude::*;

use crate::claim::{Bias, Claim, Loss};
use crate::file::{Checked, File};
use crate::rounding::{add_down, add_up, dot_error, integer_down, mul_down, mul_up, norm, power_of_two, sum_error};

/// Multiply-adds below which scores are computed by one thread.
const FEW: usize = 1 << 16;

/// Alpha and prices, checked to be feasible.
pub(crate) struct Point {
    /// `beta_i = y_i alpha_i`, length n, and the samples where it is not 0.
    beta: Vec<f64>,
    support: Vec<usize>,
    norm: f64,
    /// D less the prices' right sides, not above it.
    pub(crate) constant: f64,
    /// By unit: the prices times its terms, not above them; empty without prices.
    prices: Vec<f64>,
    /// By feature: -c_j and c_j, not below them; NaN where they were not needed yet.
    scores: Vec<[f64; 2]>,
}

impl Point {
    /// Reads a point and checks that it is feasible.
    pub(crate) fn read(file: &mut File<impl Read>, claim: &Claim<'_>) -> Checked<Self> {
        let n = claim.y.len();
        let e = file.signed()?;
        if !(-1074..=971).contains(&e) {
            return Err(format!("the exponent {e} of a point is not between -1074 and 971"));
        }
        let support = file.ascending("sample", n)?;
        let multiples = file.list(support.len(), File::integer)?;
        let rows = file.ascending("row", claim.rules.priced)?;
        let prices = file.list(rows.len(), File::number)?;
        let unit = power_of_two(e);
        let mut beta = vec![0.0; n];
        let (mut sum, mut signed, mut squares) = (0i128, 0i128, 0.0);
        for (&i, &k) in support.iter().zip(&multiples) {
            if k == 0 || k >= 1 << 53 {
                return Err(format!("sample {i} has the multiple {k}, not between 1 and 2^53 - 1"));
            }
            // Exact: k has 53 bits, and no bit of the product is below 2^-1074.
            let (alpha, cost) = (k as f64 * unit, claim.costs[i]);
            if cost == 0.0 || (claim.loss == Loss::Hinge && alpha > cost) {
                return Err(format!("alpha of sample {i} is {alpha}, above its cost {cost}"));
            }
            beta[i] = claim.y[i] * alpha;
            sum += i128::from(k);
            signed += if claim.y[i] > 0.0 { i128::from(k) } else { -i128::from(k) };
            if claim.loss == Loss::SquaredHinge {
                squares = add_up(squares, (mul_up(alpha, alpha) / mul_down(4.0, cost)).next_up());
            }
        }
        let size = -mul_down(integer_down(-signed.abs()), unit);
        let held = match (claim.bias, claim.l1) {
            (Bias::Free, _) if signed != 0 => return Err("the sum of y alpha is not 0".to_owned()),
            (Bias::Penalised(s), true) if mul_up(s, size) > 1.0 => {
                return Err(format!("the sum of y alpha is {size}, above 1 / {s}"));
            }
            (Bias::Penalised(s), false) => mul_up(0.5, mul_up(mul_up(s, size), mul_up(s, size))),
            _ => 0.0,
        };
        let mut constant = add_down(add_down(mul_down(integer_down(sum), unit), -squares), -held);
        let mut of_units = vec![0.0; if rows.is_empty() { 0 } else { claim.rules.units.len() }];
        for (row, price) in rows.into_iter().zip(prices) {
            if !(price >= 0.0 && price.is_finite()) {
                return Err(format!("the price {price} of row {row} is not a number of 0 or more"));
            }
            constant = add_down(constant, -claim.rules.add_row(row, price, &mut of_units));
        }
        let (norm, _) = norm(|f| support.iter().for_each(|&i| f(beta[i])));
        Ok(Self { beta, support, norm, constant, prices: of_units, scores: vec![[f64::NAN; 2]; claim.p] })
    }

    /// Computes what is missing of the scores of these features.
    pub(crate) fn score(&mut self, claim: &Claim<'_>, features: impl Iterator<Item = usize>) {
        let missing: Vec<usize> = features.filter(|&j| self.scores[j][0].is_nan()).collect();
        let found: Vec<[f64; 2]> = if missing.len() * self.support.len() < FEW {
            missing.iter().map(|&j| self.score_of(claim, j)).collect()
        } else {
            missing.par_iter().map(|&j| self.score_of(claim, j)).collect()
        };
        missing.into_iter().zip(found).for_each(|(j, score)| self.scores[j] = score);
    }

    /// -c_j and c_j, not below them.
    fn score_of(&self, claim: &Claim<'_>, j: usize) -> [f64; 2] {
        let (norm, stored) = claim.norms[j];
        let sum = match claim.data.dense(j) {
            Some(x) if 4 * self.support.len() < x.len() => self.support.iter().map(|&i| x[i] * self.beta[i]).sum(),
            Some(x) => dot(x, &self.beta),
            None => {
                let mut sum = 0.0;
                claim.data.each(j, &mut |i, x| sum += x * self.beta[i]);
                sum
            }
        };
        let off = dot_error(stored.min(self.support.len()), norm, self.norm);
        [-sum, sum].map(|side| add_up(side, off)).map(|side| if side.is_nan() { f64::INFINITY } else { side })
    }

    /// What the prices add to a unit, not above it.
    pub(crate) fn price(&self, u: usize) -> f64 {
        self.prices.get(u).copied().unwrap_or(0.0)
    }

    /// `lambda_j - g_j(c_j)` with `u_j` as weight bound, not above it.
    pub(crate) fn part(&self, claim: &Claim<'_>, j: usize, u: f64) -> f64 {
        let gain = self.sides(claim, j, u).map(|(c, most)| match claim.l1 {
            // A weight of 0 up to `most` gains c w - w^2 / 2, or (c - 1) w.
            false if c <= 0.0 => 0.0,
            false if c <= most => half_square(c),
            false => mul_up(most, add_up(c, -mul_down(0.5, most))),
            true if c <= 1.0 => 0.0,
            true => mul_up(most, add_up(c, -1.0)),
        });
        add_down(claim.penalty[j], -gain[0].max(gain[1]))
    }

    /// `lambda_j + min of |w| - c_j w` over |w| above `from` up to `to`, not above it; infinite
    /// where no such w is allowed.
    pub(crate) fn part_beyond(&self, claim: &Claim<'_>, j: usize, from: f64, to: f64) -> f64 {
        let part = self.sides(claim, j, to).map(|(c, most)| {
            let room = add_down(1.0, -c);
            if most <= from { f64::INFINITY } else { mul_down(if room >= 0.0 { from } else { most }, room) }
        });
        let least = part[0].min(part[1]);
        if least == f64::INFINITY { least } else { add_down(claim.penalty[j], least) }
    }

    /// For weights below 0 and above: the score of their sizes, and the most that these may be.
    fn sides(&self, claim: &Claim<'_>, j: usize, u: f64) -> [(f64, f64); 2] {
        let ([less, more], [down, up]) = (self.scores[j], claim.range(j, u));
        [(less, down), (more, up)]
    }
}

/// x . y in eight sums.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (x, y) = (x.as_chunks::<8>(), y.as_chunks::<8>());
    for (x, y) in x.0.iter().zip(y.0) {
        (0..8).for_each(|l| sums[l] += x[l] * y[l]);
    }
    let rest: f64 = x.1.iter().zip(y.1).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

/// F at the weights of some features and a bias b, not below it.
pub(crate) fn objective(claim: &Claim<'_>, features: &[usize], weights: &[f64], b: f64) -> Checked<f64> {
    let weights = || features.iter().copied().zip(weights.iter().copied());
    // Without bounds they are infinite.
    let within = |j: usize, w: f64| {
        let [down, up] = claim.range(j, claim.bounds[j]);
        w.is_finite() && -w <= down && w <= up
    };
    if let Some((j, w)) = weights().find(|&(j, w)| !within(j, w)) {
        return Err(format!("the weight {w} of feature {j} is beyond its bound"));
    }
    let held = match (claim.bias, claim.l1) {
        _ if !b.is_finite() => return Err(format!("the bias is {b}")),
        (Bias::None, _) if b != 0.0 => return Err(format!("the bias is {b}, but the model has none")),
        (Bias::Free | Bias::None, _) => 0.0,
        (Bias::Penalised(s), true) => (b.abs() / s).next_up(),
        (Bias::Penalised(s), false) => half_square((b.abs() / s).next_up()),
    };
    // The score of each sample as a sum and its rounding errors, and the sum of |w_j x_ij|.
    let mut scores = vec![(b, 0.0, b.abs()); claim.y.len()];
    let mut total = held;
    for (j, w) in weights() {
        claim.data.each(j, &mut |i, x| {
            let (score, errors, size) = &mut scores[i];
            let product = w * x;
            let sum = *score + product;
            *errors += sum_error(*score, product, sum) + w.mul_add(x, -product);
            *score = sum;
            *size = add_up(*size, mul_up(w.abs(), x.abs()));
        });
        let own = if claim.l1 { w.abs() } else { half_square(w) };
        total = add_up(total, add_up(own, claim.penalty[j]));
    }
    for (i, (score, errors, size)) in scores.into_iter().enumerate() {
        // The sum of the errors is a sum of 2 m terms that are each of the size of an error.
        let error = dot_error(2 * features.len() + 4, dot_error(2 * features.len() + 4, size, 1.0), 1.0);
        let slack = add_up(add_up(add_up(1.0, -claim.y[i] * score), -claim.y[i] * errors), error).max(0.0);
        let loss = if claim.loss == Loss::Hinge { slack } else { mul_up(slack, slack) };
        total = add_up(total, mul_up(claim.costs[i], loss));
    }
    Ok(if total.is_nan() { f64::INFINITY } else { total })
}

fn half_square(w: f64) -> f64 {
    mul_up(0.5, mul_up(w, w))
}
