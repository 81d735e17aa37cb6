//! A dual point: what it proves of every subset, and the part of each feature in it. The objective
//! of a primal one.

use std::io::Read;
use std::ops::Range;

use rayon::prelude::*;

use crate::claim::{Bias, Claim, ClaimProblem, Gain, Loss};
use crate::file::{Checked, File};
use crate::rounding::{add_down, add_up, dot_error, integer_down, mul_down, mul_up, norm, power_of_two, sum_error};

/// Multiply-adds below which scores are computed by one thread.
const FEW: usize = 1 << 16;

/// Alpha and prices, checked to be feasible.
pub(crate) struct Point {
    /// `beta_i = y_i alpha_i`, and the samples where it is not 0.
    beta: Vec<f64>,
    support: Vec<usize>,
    /// The part that each problem has of `support`, and the norm of its part of beta.
    parts: Vec<(Range<usize>, f64)>,
    /// D less the prices' right sides, not above it.
    pub(crate) constant: f64,
    /// The prices times the terms of each unit, not above them; empty without prices.
    prices: Vec<f64>,
    /// The values -c_j and c_j of each feature, then problem, not below them; NaN where they were
    /// not needed yet.
    scores: Vec<[f64; 2]>,
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
        let (unit, squared) = (power_of_two(e), claim.loss == Loss::SquaredHinge);
        let (mut beta, mut squares) = (vec![0.0; claim.n], 0.0);
        for (&i, &k) in support.iter().zip(&multiples) {
            if k == 0 || k >= 1 << 53 {
                return Err(format!("sample {i} has the multiple {k}, not between 1 and 2^53 - 1"));
            }
            // Exact: k has 53 bits, and no bit of the product is below 2^-1074.
            let (alpha, cost) = (k as f64 * unit, claim.costs[i]);
            if cost == 0.0 || (!squared && alpha > cost) {
                return Err(format!("alpha of sample {i} is {alpha}, above its cost {cost}"));
            }
            beta[i] = claim.y[i] * alpha;
            if squared {
                squares = add_up(squares, (mul_up(alpha, alpha) / mul_down(4.0, cost)).next_up());
            }
        }
        let sum = multiples.iter().map(|k| i128::from(*k)).sum();
        let mut constant = add_down(mul_down(integer_down(sum), unit), -squares);
        let mut parts = Vec::with_capacity(claim.parts.len());
        for ClaimProblem { samples, .. } in &claim.parts {
            let place = |end: usize| support.partition_point(|i| *i < end);
            let own = place(samples.start)..place(samples.end);
            let signed = |at: usize| claim.y[support[at]] as i128 * i128::from(multiples[at]);
            constant = add_down(constant, -of_bias(claim, own.clone().map(signed).sum(), unit)?);
            let norm = norm(|f| support[own.clone()].iter().for_each(|i| f(beta[*i]))).0;
            parts.push((own, norm));
        }
        let mut of_units = vec![0.0; if rows.is_empty() { 0 } else { claim.rules.units.len() }];
        for (row, price) in rows.into_iter().zip(prices) {
            if !(price >= 0.0 && price.is_finite()) {
                return Err(format!("the price {price} of row {row} is not a number of 0 or more"));
            }
            constant = add_down(constant, -claim.rules.add_row(row, price, &mut of_units));
        }
        let scores = vec![[f64::NAN; 2]; claim.p * parts.len()];
        Ok(Self { beta, support, parts, constant, prices: of_units, scores })
    }

    /// Computes what is missing of the scores of these features.
    pub(crate) fn score(&mut self, claim: &Claim<'_>, features: impl Iterator<Item = usize>) {
        let each = self.parts.len();
        let places = features.flat_map(|j| each * j..each * (j + 1));
        let missing: Vec<usize> = places.filter(|&at| self.scores[at][0].is_nan()).collect();
        let score = |&at: &usize| self.computed(&claim.parts[at % each], &self.parts[at % each], at / each);
        let found: Vec<[f64; 2]> = if missing.len() * self.support.len() < FEW * each {
            missing.iter().map(score).collect()
        } else {
            missing.par_iter().map(score).collect()
        };
        missing.into_iter().zip(found).for_each(|(at, score)| self.scores[at] = score);
    }

    /// -c_j and c_j of a problem, not below them.
    fn computed(&self, part: &ClaimProblem<'_>, own: &(Range<usize>, f64), j: usize) -> [f64; 2] {
        let (beta, support) = (&self.beta[part.samples.clone()], &self.support[own.0.clone()]);
        let sum = match part.data.dense(j) {
            Some(x) if 4 * support.len() < x.len() => {
                support.iter().map(|i| x[i - part.samples.start] * self.beta[*i]).sum()
            }
            Some(x) => dot(x, beta),
            None => {
                let mut sum = 0.0;
                part.data.each(j, &mut |i, x| sum += x * beta[i]);
                sum
            }
        };
        // A part of the sum that overflows tells nothing of the sum, not even its sign.
        if !sum.is_finite() {
            return [f64::INFINITY; 2];
        }
        let (norm, stored) = part.norms[j];
        let off = dot_error(stored.min(support.len()), norm, own.1);
        [-sum, sum].map(|side| add_up(side, off))
    }

    /// What the prices add to a unit, not above it.
    pub(crate) fn price(&self, u: usize) -> f64 {
        self.prices.get(u).copied().unwrap_or(0.0)
    }

    /// `lambda_j - g_j(c_j)` with `u_j` as weight bound, not above it. `beyond` (of gain `l1`) are
    /// the weights of larger size alone, up to u; infinite where there are none.
    pub(crate) fn part(&self, claim: &Claim<'_>, j: usize, u: f64, beyond: Option<f64>) -> f64 {
        let range = claim.range(j, Some(u));
        // The least of |w| - c w, or w^2 / 2 - c w, over weights w up to `most` of one sign, with c
        // the score of their sizes: one that is 0 or does not gain is as good as the smallest.
        let side = |(c, most): (f64, f64)| match claim.gain {
            _ if beyond.is_some_and(|from| most <= from) => f64::INFINITY,
            Gain::L1 => {
                let slope = add_down(1.0, -c);
                mul_down(if slope >= 0.0 { beyond.unwrap_or(0.0) } else { most }, slope)
            }
            _ if c <= 0.0 => 0.0,
            _ if c <= most => -half_square(c),
            _ => -mul_up(most, add_up(c, -mul_down(0.5, most))),
        };
        let of_problem = |score: &[f64; 2]| side((score[0], range[0])).min(side((score[1], range[1])));
        let each = self.parts.len();
        let least = self.scores[each * j..each * (j + 1)].iter().map(of_problem).reduce(add_down);
        least.map_or(0.0, |least| if least == f64::INFINITY { least } else { add_down(claim.penalty[j], least) })
    }
}

/// What a penalised bias takes from D of a problem with this sum of `y_i k_i`, not below it; an
/// error where the sum is not feasible.
fn of_bias(claim: &Claim<'_>, signed: i128, unit: f64) -> Checked<f64> {
    let size = -mul_down(integer_down(-signed.abs()), unit);
    match (claim.bias, claim.gain) {
        (Bias::Free, _) if signed != 0 => Err("the sum of y alpha is not 0".to_owned()),
        (Bias::Penalised(s), Gain::L1) if exceeds_one(s, signed.unsigned_abs(), unit) => {
            Err(format!("the sum of y alpha is {size}, above 1 / {s}"))
        }
        (Bias::Penalised(s), Gain::Ridge) => Ok(half_square(mul_up(s, size))),
        _ => Ok(0.0),
    }
}

/// Whether s k u is above 1, exactly, for u a power of two.
fn exceeds_one(s: f64, k: u128, unit: f64) -> bool {
    // s = m 2^q, u = 2^e: m k against 2^-(q + e).
    let ((m, q), (of_unit, e)) = (parts(s), parts(unit));
    let limit = -(q + e + i64::from(of_unit.trailing_zeros()));
    let low = u128::from(m) * (k & u128::from(u64::MAX));
    let (high, low) = (u128::from(m) * (k >> 64) + (low >> 64), low as u64);
    match limit {
        _ if k == 0 => false,
        ..0 => true,
        0..64 => high > 0 || low > 1 << limit,
        64..192 => high > 1 << (limit - 64) || (high == 1 << (limit - 64) && low > 0),
        _ => false,
    }
}

/// The integer m and e of a finite double x = m 2^e above 0.
fn parts(x: f64) -> (u64, i64) {
    let (exponent, fraction) = ((x.to_bits() >> 52) as i64, x.to_bits() & ((1 << 52) - 1));
    if exponent == 0 { (fraction, -1074) } else { (fraction | 1 << 52, exponent - 1075) }
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
fn objective_of(
    claim: &Claim<'_>,
    part: &ClaimProblem<'_>,
    features: &[usize],
    weights: &[f64],
    b: f64,
) -> Checked<f64> {
    let mut total = match (claim.bias, claim.gain) {
        _ if !b.is_finite() => return Err(format!("the bias is {b}")),
        (Bias::None, _) if b != 0.0 => return Err(format!("the bias is {b}, but the model has none")),
        (Bias::Penalised(s), Gain::L1) => (b.abs() / s).next_up(),
        (Bias::Penalised(s), _) => half_square((b.abs() / s).next_up()),
        _ => 0.0,
    };
    // The score of each sample as a sum and its rounding errors, and the sum of |w_j x_ij|.
    let mut scores = vec![(b, 0.0, b.abs()); part.samples.len()];
    for (&j, &w) in features.iter().zip(weights) {
        let [down, up] = claim.range(j, None);
        if !(w.is_finite() && -w <= down && w <= up) {
            return Err(format!("the weight {w} of feature {j} is beyond its bound"));
        }
        part.data.each(j, &mut |i, x| {
            let (score, errors, size) = &mut scores[i];
            let product = w * x;
            let sum = *score + product;
            *errors += sum_error(*score, product, sum) + w.mul_add(x, -product);
            *score = sum;
            *size = add_up(*size, mul_up(w.abs(), x.abs()));
        });
        total = add_up(total, if claim.gain == Gain::L1 { w.abs() } else { half_square(w) });
    }
    for (i, (score, errors, size)) in part.samples.clone().zip(scores) {
        // The sum of the errors is a sum of 2 m terms that are each of the size of an error.
        let error = dot_error(2 * features.len() + 4, dot_error(2 * features.len() + 4, size, 1.0), 1.0);
        let slack = add_up(add_up(add_up(1.0, -claim.y[i] * score), -claim.y[i] * errors), error).max(0.0);
        let loss = if claim.loss == Loss::Hinge { slack } else { mul_up(slack, slack) };
        total = add_up(total, mul_up(claim.costs[i], loss));
    }
    Ok(total)
}

fn half_square(w: f64) -> f64 {
    mul_up(0.5, mul_up(w, w))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_held_against_one_exactly() {
        assert!(!exceeds_one(0.5, 1 << 11, power_of_two(-10)));
        assert!(exceeds_one(0.5, (1 << 11) + 1, power_of_two(-10)));
        assert!(!exceeds_one(1e300, 0, power_of_two(971)));
        // 3 (2^98 / 3) is 2^98 less 1: the sum of y alpha is at its limit or one above it.
        let third = (1u128 << 98) / 3;
        assert!(!exceeds_one(3.0, third, power_of_two(-98)) && exceeds_one(3.0, third + 1, power_of_two(-98)));
        assert!(exceeds_one(f64::from_bits(1), u128::MAX >> 1, power_of_two(971)));
        assert!(!exceeds_one(f64::from_bits(1), 1 << 103, power_of_two(971)));
        assert!(exceeds_one(f64::from_bits(1), (1 << 103) + 1, power_of_two(971)));
    }
}
