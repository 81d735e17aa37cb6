//! A dual point: what it proves of every subset, and the part of each feature in it.

use std::io::Read;

use rayon::prelude::*;

use crate::claim::{Bias, Claim, Loss, Part};
use crate::file::{Checked, File};
use crate::rounding::{add_down, add_up, dot_error, integer_down, mul_down, mul_up, norm, power_of_two, sum_error};

/// Multiply-adds below which scores are computed by one thread.
const FEW: usize = 1 << 16;

/// Alpha and prices, checked to be feasible.
pub(crate) struct Point {
    /// By problem.
    parts: Vec<Beta>,
    /// D less the prices' right sides, not above it.
    pub(crate) constant: f64,
    /// By unit: the prices times its terms, not above them; empty without prices.
    prices: Vec<f64>,
    /// By feature, then problem: -c_j and c_j, not below them; NaN where they were not needed yet.
    scores: Vec<[f64; 2]>,
}

/// `beta_i = y_i alpha_i` of a problem, the samples where it is not 0, and its norm.
struct Beta {
    values: Vec<f64>,
    support: Vec<usize>,
    norm: f64,
}

impl Point {
    /// Reads a point and checks that it is feasible.
    pub(crate) fn read(file: &mut File<impl Read>, claim: &Claim<'_>) -> Checked<Self> {
        let e = file.signed()?;
        if !(-1074..=971).contains(&e) {
            return Err(format!("the exponent {e} of a point is not between -1074 and 971"));
        }
        let support = file.ascending("sample", claim.n)?;
        let multiples = file.list(support.len(), File::integer)?;
        let rows = file.ascending("row", claim.rules.priced)?;
        let prices = file.list(rows.len(), File::number)?;
        let unit = power_of_two(e);
        let empty = |part: &Part<'_>| Beta { values: vec![0.0; part.y.len()], support: Vec::new(), norm: 0.0 };
        let mut parts: Vec<Beta> = claim.parts.iter().map(empty).collect();
        let (mut sum, mut signed, mut squares) = (0i128, vec![0i128; parts.len()], 0.0);
        for (&i, &k) in support.iter().zip(&multiples) {
            let t = claim.parts.partition_point(|part| part.first <= i) - 1;
            let (part, at) = (&claim.parts[t], i - claim.parts[t].first);
            if k == 0 || k >= 1 << 53 {
                return Err(format!("sample {i} has the multiple {k}, not between 1 and 2^53 - 1"));
            }
            // Exact: k has 53 bits, and no bit of the product is below 2^-1074.
            let (alpha, cost) = (k as f64 * unit, part.costs[at]);
            if cost == 0.0 || (claim.loss == Loss::Hinge && alpha > cost) {
                return Err(format!("alpha of sample {i} is {alpha}, above its cost {cost}"));
            }
            parts[t].values[at] = part.y[at] * alpha;
            parts[t].support.push(at);
            sum += i128::from(k);
            signed[t] += if part.y[at] > 0.0 { i128::from(k) } else { -i128::from(k) };
            if claim.loss == Loss::SquaredHinge {
                squares = add_up(squares, (mul_up(alpha, alpha) / mul_down(4.0, cost)).next_up());
            }
        }
        let mut held = 0.0;
        for signed in signed {
            let size = -mul_down(integer_down(-signed.abs()), unit);
            let of_bias = match (claim.bias, claim.l1) {
                (Bias::Free, _) if signed != 0 => return Err("the sum of y alpha is not 0".to_owned()),
                (Bias::Penalised(s), true) if mul_up(s, size) > 1.0 => {
                    return Err(format!("the sum of y alpha is {size}, above 1 / {s}"));
                }
                (Bias::Penalised(s), false) => mul_up(0.5, mul_up(mul_up(s, size), mul_up(s, size))),
                _ => 0.0,
            };
            held = add_up(held, of_bias);
        }
        let mut constant = add_down(add_down(mul_down(integer_down(sum), unit), -squares), -held);
        let mut of_units = vec![0.0; if rows.is_empty() { 0 } else { claim.rules.units.len() }];
        for (row, price) in rows.into_iter().zip(prices) {
            if !(price >= 0.0 && price.is_finite()) {
                return Err(format!("the price {price} of row {row} is not a number of 0 or more"));
            }
            constant = add_down(constant, -claim.rules.add_row(row, price, &mut of_units));
        }
        for part in &mut parts {
            part.norm = norm(|f| part.support.iter().for_each(|&i| f(part.values[i]))).0;
        }
        let scores = vec![[f64::NAN; 2]; claim.p * parts.len()];
        Ok(Self { parts, constant, prices: of_units, scores })
    }

    /// Computes what is missing of the scores of these features.
    pub(crate) fn score(&mut self, claim: &Claim<'_>, features: impl Iterator<Item = usize>) {
        let each = self.parts.len();
        let places = features.flat_map(|j| each * j..each * (j + 1));
        let missing: Vec<usize> = places.filter(|&at| self.scores[at][0].is_nan()).collect();
        let support: usize = self.parts.iter().map(|part| part.support.len()).sum();
        let score = |&at: &usize| self.parts[at % each].score(&claim.parts[at % each], at / each);
        let found: Vec<[f64; 2]> = if missing.len() * support < FEW * each {
            missing.iter().map(score).collect()
        } else {
            missing.par_iter().map(score).collect()
        };
        missing.into_iter().zip(found).for_each(|(at, score)| self.scores[at] = score);
    }

    /// What the prices add to a unit, not above it.
    pub(crate) fn price(&self, u: usize) -> f64 {
        self.prices.get(u).copied().unwrap_or(0.0)
    }

    /// `lambda_j - g_j(c_j)` with `u_j` as weight bound, not above it.
    pub(crate) fn part(&self, claim: &Claim<'_>, j: usize, u: f64) -> f64 {
        let side = |(c, most): (f64, f64)| match claim.l1 {
            // A weight of 0 up to `most` gains c w - w^2 / 2, or (c - 1) w.
            false if c <= 0.0 => 0.0,
            false if c <= most => half_square(c),
            false => mul_up(most, add_up(c, -mul_down(0.5, most))),
            true if c <= 1.0 => 0.0,
            true => mul_up(most, add_up(c, -1.0)),
        };
        let gain = (0..self.parts.len()).fold(0.0, |sum, t| {
            let [less, more] = self.sides(claim, (j, t), u).map(side);
            add_up(sum, less.max(more))
        });
        add_down(claim.penalty[j], -gain)
    }

    /// `lambda_j + min of |w| - c_j w` over |w| above `from` up to `to`, not above it; infinite
    /// where no such w is allowed.
    pub(crate) fn part_beyond(&self, claim: &Claim<'_>, j: usize, from: f64, to: f64) -> f64 {
        // Gain `l1` has one problem.
        let part = self.sides(claim, (j, 0), to).map(|(c, most)| {
            let room = add_down(1.0, -c);
            if most <= from { f64::INFINITY } else { mul_down(if room >= 0.0 { from } else { most }, room) }
        });
        let least = part[0].min(part[1]);
        if least == f64::INFINITY { least } else { add_down(claim.penalty[j], least) }
    }

    /// For weights of feature j in problem t below 0 and above: the score of their sizes, and the
    /// most that these may be.
    fn sides(&self, claim: &Claim<'_>, (j, t): (usize, usize), u: f64) -> [(f64, f64); 2] {
        let ([less, more], [down, up]) = (self.scores[self.parts.len() * j + t], claim.range(j, u));
        [(less, down), (more, up)]
    }
}

impl Beta {
    /// -c_j and c_j, not below them.
    fn score(&self, part: &Part<'_>, j: usize) -> [f64; 2] {
        let (norm, stored) = part.norms[j];
        let sum = match part.data.dense(j) {
            Some(x) if 4 * self.support.len() < x.len() => self.support.iter().map(|&i| x[i] * self.values[i]).sum(),
            Some(x) => dot(x, &self.values),
            None => {
                let mut sum = 0.0;
                part.data.each(j, &mut |i, x| sum += x * self.values[i]);
                sum
            }
        };
        // A part of the sum that overflows tells nothing of the sum, not even its sign.
        if !sum.is_finite() {
            return [f64::INFINITY; 2];
        }
        let off = dot_error(stored.min(self.support.len()), norm, self.norm);
        [-sum, sum].map(|side| add_up(side, off))
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

/// F at the weights of some features and a bias for each problem, not below it.
pub(crate) fn objective(claim: &Claim<'_>, features: &[usize], machines: &[(Vec<f64>, f64)]) -> Checked<f64> {
    let mut total = features.iter().fold(0.0, |sum, &j| add_up(sum, claim.penalty[j]));
    for (part, (weights, b)) in claim.parts.iter().zip(machines) {
        total = add_up(total, objective_of(claim, part, features, weights, *b)?);
    }
    Ok(if total.is_nan() { f64::INFINITY } else { total })
}

/// The part of one problem in it, without prices.
fn objective_of(claim: &Claim<'_>, part: &Part<'_>, features: &[usize], weights: &[f64], b: f64) -> Checked<f64> {
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
    let mut scores = vec![(b, 0.0, b.abs()); part.y.len()];
    let mut total = held;
    for (j, w) in weights() {
        part.data.each(j, &mut |i, x| {
            let (score, errors, size) = &mut scores[i];
            let product = w * x;
            let sum = *score + product;
            *errors += sum_error(*score, product, sum) + w.mul_add(x, -product);
            *score = sum;
            *size = add_up(*size, mul_up(w.abs(), x.abs()));
        });
        total = add_up(total, if claim.l1 { w.abs() } else { half_square(w) });
    }
    for (i, (score, errors, size)) in scores.into_iter().enumerate() {
        // The sum of the errors is a sum of 2 m terms that are each of the size of an error.
        let error = dot_error(2 * features.len() + 4, dot_error(2 * features.len() + 4, size, 1.0), 1.0);
        let slack = add_up(add_up(add_up(1.0, -part.y[i] * score), -part.y[i] * errors), error).max(0.0);
        let loss = if claim.loss == Loss::Hinge { slack } else { mul_up(slack, slack) };
        total = add_up(total, mul_up(part.costs[i], loss));
    }
    Ok(total)
}

fn half_square(w: f64) -> f64 {
    mul_up(0.5, mul_up(w, w))
}
