//! One node: what matters of it, and its bounds at a point, over all samples and features.

use super::alpha_cap::AlphaCap;
use super::model::{Relaxation, Row, WarmStart};
use super::parts::StackedProblem;
use crate::dual::kkt::{best_bias, total_loss};
use crate::dual::{Bias, BoxDual, Loss};

// Tuning: `make bench-exact-real`.

/// Share of the box within which a sample with the right margin counts as being on its bound.
const NEAR: f64 = 0.03;
/// Prices this many times the largest gain are lowered.
const FAR_ABOVE: f64 = 1e4;

/// One node: its decisions and the rows that can still bind.
pub(super) struct Node<'r, 'a> {
    pub(super) relaxation: &'r Relaxation<'a>,
    pub(super) fixed_in: &'r [usize],
    /// Features of the units that are in.
    pub(super) features: Vec<usize>,
    pub(super) free: &'r [usize],
    /// Rows with what is in moved to the right side, over free units, each with its number.
    pub(super) rows: Vec<(usize, Row)>,
    /// Units a row asks for: never left out of the restricted problem.
    pub(super) named: Vec<usize>,
    /// Free slots, when the size is the only rule.
    pub(super) slots: usize,
}

/// A feasible point, counted in full.
pub(super) struct Evaluation {
    pub(super) lower: f64,
    pub(super) upper: f64,
    /// y_i f_i
    pub(super) margins: Vec<f64>,
    /// Gain of each free unit, by position.
    pub(super) gains: Vec<f64>,
}

impl<'r, 'a> Node<'r, 'a> {
    pub(super) fn new(relaxation: &'r Relaxation<'a>, fixed_in: &'r [usize], free: &'r [usize]) -> Self {
        let rules = relaxation.rules;
        let features: Vec<usize> = fixed_in.iter().flat_map(|&u| rules.unit(u).iter().copied()).collect();
        let (mut rows, mut named) = (Vec::new(), Vec::new());
        if !relaxation.size_only && !free.is_empty() {
            for (at, row) in relaxation.rows.iter().enumerate() {
                let (mut upper, mut most, mut left) = (row.upper, 0.0, Vec::new());
                for &(u, a) in &row.coefficients {
                    if free.binary_search(&u).is_ok() {
                        left.push((u, a));
                        most += a.max(0.0);
                    } else if fixed_in.binary_search(&u).is_ok() {
                        upper -= a;
                    }
                }
                // A row that can never bind by more than rounding may stay out: fewer rows make a
                // lower bound.
                if most > upper + 1e-12 * most.max(upper.abs()) {
                    named.extend(left.iter().filter(|f| f.1 < 0.0).map(|f| f.0));
                    rows.push((at, Row { coefficients: left, upper }));
                }
            }
            named.sort_unstable();
            named.dedup();
        }
        let slots = rules.most_features().saturating_sub(features.len()).min(free.len());
        if relaxation.size_only && slots < free.len() {
            rows.push((0, Row { coefficients: free.iter().map(|&u| (u, 1.0)).collect(), upper: slots as f64 }));
        }
        Self { relaxation, fixed_in, features, free, rows, named, slots }
    }

    pub(super) fn dual(&self) -> &BoxDual {
        &self.relaxation.dual
    }

    /// Lower and upper bound at a point, over all samples and features.
    pub(super) fn evaluate(&self, warm_start: &WarmStart) -> Evaluation {
        let relaxation = self.relaxation;
        let beta = &warm_start.beta;
        let mut margins = Vec::with_capacity(beta.len());
        let (mut fixed_gain, mut norm, mut loss) = (0.0, 0.0, 0.0);
        let mut offsets = Vec::with_capacity(relaxation.parts.len());
        for (part, bias) in relaxation.parts.iter().zip(&warm_start.bias) {
            let (dual, design) = (&part.dual, part.design());
            let mut scores = vec![0.0; dual.len()];
            for &j in &self.features {
                let (interval, c) = (relaxation.interval(j), part.score(j, beta));
                let w = interval.weight(c);
                design.add_column(j, w, &mut scores);
                fixed_gain += interval.gain(c);
                norm += 0.5 * w * w;
            }
            for &(u, z) in &warm_start.shares {
                for &j in relaxation.rules.unit(u) {
                    let w = relaxation.interval(j).weight(part.score(j, beta));
                    design.add_column(j, z * w, &mut scores);
                    norm += 0.5 * z * w * w;
                }
            }
            let offset = match dual.bias {
                Bias::Free if self.free.is_empty() => best_bias(dual, &scores),
                Bias::Free => *bias,
                Bias::Penalised(_) => dual.bias_square() * part.of(beta).iter().sum::<f64>(),
                Bias::None => 0.0,
            };
            if let Bias::Penalised(s) = dual.bias {
                norm += 0.5 * (offset / s) * (offset / s);
            }
            loss += total_loss(dual, &scores, offset);
            margins.extend(scores.iter().zip(&dual.y).map(|(score, y)| y * (score + offset)));
            offsets.push(offset);
        }
        let prices: f64 = self.fixed_in.iter().map(|&u| relaxation.penalty[u]).sum();
        let shared: f64 = warm_start.shares.iter().map(|&(u, z)| z * relaxation.penalty[u]).sum();
        let upper = norm + prices + shared + loss;
        let gains = relaxation.gains(self.free, beta);
        let reduced_gains = self.reduced_gains(&gains, warm_start);
        let rounding = self.rounding(warm_start, &offsets, fixed_gain, &gains, &reduced_gains);
        let lower = self.bound(self.constant_term(warm_start), fixed_gain, &reduced_gains, self.slots) - rounding;
        Evaluation { lower, upper, margins, gains }
    }

    /// What rounding may have added to the bound at this point.
    ///
    /// A sum of n products is wrong by at most `n eps |beta| |x_j|` (Higham 2002, eq. (3.5) with
    /// Cauchy-Schwarz), and so is each score c; a gain by that times the weight, whose square is at
    /// most twice the gain. What `sum beta` lacks to 0 counts with the bias. Prices of rows that
    /// are far above the gains take digits with them.
    pub(super) fn rounding(
        &self,
        warm_start: &WarmStart,
        offsets: &[f64],
        fixed_gain: f64,
        gains: &[f64],
        reduced_gains: &[f64],
    ) -> f64 {
        let (relaxation, dual) = (self.relaxation, self.dual());
        let share = f64::EPSILON * (8.0 + dual.len() as f64);
        let absolute: f64 = warm_start.beta.iter().map(|b| b.abs()).sum();
        let length = share * warm_start.beta.iter().map(|b| b * b).sum::<f64>().sqrt();
        let half_square = |u: usize, gain: f64| {
            let (off, square) = (length * relaxation.norms[u], 2.0 * (gain + relaxation.penalty[u]).max(0.0));
            off * (square.sqrt() + off)
        };
        let norm = self.fixed_in.iter().map(|&u| relaxation.norms[u].powi(2)).sum::<f64>().sqrt();
        let fixed_in = length * norm * ((2.0 * fixed_gain).sqrt() + length * norm);
        let free = self.free.iter().zip(gains).zip(reduced_gains).map(|((&u, &gain), reduced_gains)| {
            let off = half_square(u, gain);
            (if *reduced_gains > -off { off } else { 0.0 }, f64::EPSILON * (gain.abs() + relaxation.penalty[u]))
        });
        let free = if relaxation.size_only {
            free.fold(0.0, |most: f64, (off, sum)| most.max(off + sum)) * self.slots as f64
        } else {
            free.map(|(off, sum)| off + sum).sum()
        };
        let priced: f64 = if relaxation.size_only {
            0.0
        } else {
            let sum = |row: &Row| row.upper.abs() + row.coefficients.iter().map(|c| c.1.abs()).sum::<f64>();
            let terms = f64::EPSILON * (2.0 + (self.rows.len() + self.free.len()) as f64);
            terms * self.rows.iter().map(|(at, row)| sum(row) * warm_start.tau[*at]).sum::<f64>()
        };
        let unbalanced = match dual.bias {
            Bias::Free => {
                let off = |part: &StackedProblem<'_>| part.of(&warm_start.beta).iter().sum::<f64>().abs();
                relaxation.parts.iter().zip(offsets).map(|(part, b)| off(part) * (1.0 + 2.0 * b.abs())).sum()
            }
            Bias::Penalised(s) => share * s * s * absolute * absolute,
            Bias::None => 0.0,
        };
        share * absolute + 8.0 * f64::EPSILON * fixed_gain + fixed_in + free + priced + unbalanced
    }

    /// Examines lower prices of rows, where some are far above all gains, and takes the best. Rules
    /// without an interior drive prices up together, until nothing of the bound is left but
    /// rounding.
    pub(super) fn lower_prices(&self, warm_start: &mut WarmStart, evaluation: &mut Evaluation) {
        let most = |values: &[f64]| values.iter().fold(0.0, |most: f64, value| most.max(*value));
        let gain = most(&evaluation.gains) + most(&self.relaxation.penalty);
        if self.relaxation.size_only || most(&warm_start.tau) <= FAR_ABOVE * gain {
            return;
        }
        let high = |limit: f64| warm_start.tau.iter().copied().filter(move |tau| *tau > limit);
        let mut candidates = Vec::new();
        for limit in [1.0, 10.0, 100.0, 1000.0].map(|times| times * gain) {
            let down = high(limit).fold(f64::INFINITY, f64::min) - limit;
            let lowered = |by: f64| move |tau: &f64| if *tau > limit { (tau - by).max(limit) } else { *tau };
            candidates.push(warm_start.tau.iter().map(lowered(f64::INFINITY)).collect::<Vec<f64>>());
            candidates.push(warm_start.tau.iter().map(lowered(down)).collect());
        }
        for tau in candidates {
            let lower = WarmStart { tau, ..warm_start.clone() };
            let found = self.evaluate(&lower);
            if found.lower > evaluation.lower || evaluation.lower.is_nan() {
                (*warm_start, *evaluation) = (lower, found);
            }
        }
    }

    /// The part of the bound without scores: of beta, the prices of what is in, and the rows.
    pub(super) fn constant_term(&self, warm_start: &WarmStart) -> f64 {
        let relaxation = self.relaxation;
        let prices: f64 = self.fixed_in.iter().map(|&u| relaxation.penalty[u]).sum();
        let rows: f64 = if relaxation.size_only {
            0.0
        } else {
            self.rows.iter().map(|(at, row)| row.upper * warm_start.tau[*at]).sum()
        };
        relaxation.constant(&warm_start.beta) + prices - rows
    }

    /// The bound: `fixed_gain` are the gains of the features that are in, `reduced_gains` what free
    /// units gain over their prices. With a size alone the largest `slots` count, which are never
    /// more than the size's own price would count.
    pub(super) fn bound(&self, constant_term: f64, fixed_gain: f64, reduced_gains: &[f64], slots: usize) -> f64 {
        let free: f64 = if self.relaxation.size_only {
            largest(reduced_gains, slots).iter().sum()
        } else {
            reduced_gains.iter().map(|e| e.max(0.0)).sum()
        };
        constant_term - fixed_gain - free
    }

    /// Gain less the rows' prices, by position in `free`; with a size alone the gain itself.
    pub(super) fn reduced_gains(&self, gains: &[f64], warm_start: &WarmStart) -> Vec<f64> {
        let mut reduced_gains = gains.to_vec();
        if self.relaxation.size_only {
            return reduced_gains;
        }
        for (at, row) in &self.rows {
            for (u, a) in &row.coefficients {
                reduced_gains[self.free.binary_search(u).expect("the row lists free units")] -= a * warm_start.tau[*at];
            }
        }
        reduced_gains
    }

    /// See [`NodeAnswer::excess`].
    pub(super) fn excess(&self, evaluation: &Evaluation, warm_start: &WarmStart) -> Vec<f64> {
        if !self.relaxation.size_only {
            return self.reduced_gains(&evaluation.gains, warm_start);
        }
        let chosen = largest(&evaluation.gains, self.slots + 1);
        let first_out = chosen.get(self.slots).copied().unwrap_or(0.0).max(0.0);
        let last_in =
            if self.slots == 0 { f64::INFINITY } else { chosen.get(self.slots - 1).copied().unwrap_or(0.0).max(0.0) };
        let excess = |&g: &f64| if g > first_out && g >= last_in { g - first_out } else { (g - last_in).min(0.0) };
        evaluation.gains.iter().map(excess).collect()
    }

    /// Samples and free units worth having: those the warm point calls undecided, and the nearest
    /// of the others.
    pub(super) fn choose(
        &self,
        warm_start: &WarmStart,
        evaluation: &Evaluation,
        alpha_cap: AlphaCap,
    ) -> (Vec<bool>, Vec<bool>) {
        let mut samples = vec![false; self.dual().len()];
        for part in &self.relaxation.parts {
            choose_samples(part, warm_start, alpha_cap, &mut samples[part.samples.clone()]);
        }

        let mut units = vec![false; self.free.len()];
        for &(u, _) in &warm_start.shares {
            units[self.free.binary_search(&u).expect("shares are of free units")] = true;
        }
        for u in &self.named {
            units[self.free.binary_search(u).expect("named units are free")] = true;
        }
        let mut order: Vec<usize> = (0..self.free.len()).collect();
        let reduced_gains = self.reduced_gains(&evaluation.gains, warm_start);
        let open = self.slots.min(reduced_gains.iter().filter(|o| **o > 0.0).count());
        let wanted = (warm_start.shares.len() * 9 / 8 + 4).max(open + 8).min(order.len());
        if wanted < order.len() {
            order
                .select_nth_unstable_by(wanted, |&a, &b| reduced_gains[b].total_cmp(&reduced_gains[a]).then(a.cmp(&b)));
        }
        order[..wanted].iter().for_each(|&at| units[at] = true);
        (samples, units)
    }

    /// Puts the samples left out on the bound they are next to.
    pub(super) fn snap(&self, warm_start: &mut WarmStart, samples: &[bool], alpha_cap: AlphaCap) {
        let dual = self.dual();
        for i in (0..samples.len()).filter(|&i| !samples[i]) {
            if warm_start.beta[i].abs() <= NEAR * alpha_cap.of(dual.cost[i]) {
                warm_start.beta[i] = 0.0;
            } else if dual.loss == Loss::Hinge && warm_start.beta[i].abs() >= (1.0 - NEAR) * dual.cost[i] {
                warm_start.beta[i] = dual.y[i] * dual.cost[i];
            }
        }
    }

    /// Adds samples and units whose part in the gap is at least `worth`. Returns whether there were
    /// any.
    pub(super) fn widen(
        &self,
        warm_start: &WarmStart,
        evaluation: &Evaluation,
        samples: &mut [bool],
        units: &mut [bool],
        worth: f64,
    ) -> bool {
        let dual = self.dual();
        let mut more = false;
        for i in 0..dual.len() {
            if samples[i] || dual.cost[i] == 0.0 {
                continue;
            }
            // The hinge's part in the gap: C max(0, 1 - margin) - alpha (1 - margin).
            let (alpha, distance) = (dual.y[i] * warm_start.beta[i], 1.0 - evaluation.margins[i]);
            if dual.cost[i] * distance.max(0.0) - alpha * distance >= worth {
                samples[i] = true;
                more = true;
            }
        }
        if self.relaxation.size_only {
            let chosen_gains =
                (0..units.len()).filter(|&at| units[at]).map(|at| evaluation.gains[at]).collect::<Vec<_>>();
            let limit = largest(&chosen_gains, self.slots).last().copied().unwrap_or(0.0).max(0.0);
            let mut order: Vec<usize> =
                (0..units.len()).filter(|&at| !units[at] && evaluation.gains[at] > limit + worth).collect();
            let most = (units.iter().filter(|u| **u).count() + 16).min(order.len());
            if most < order.len() {
                order.select_nth_unstable_by(most, |&a, &b| {
                    evaluation.gains[b].total_cmp(&evaluation.gains[a]).then(a.cmp(&b))
                });
            }
            more |= most > 0;
            order[..most].iter().for_each(|&at| units[at] = true);
        } else {
            for at in 0..units.len() {
                if !units[at] && evaluation.gains[at] > worth {
                    units[at] = true;
                    more = true;
                }
            }
        }
        more
    }
}

/// Samples of one problem that the warm point calls undecided, and the nearest of the others.
fn choose_samples(part: &StackedProblem<'_>, warm_start: &WarmStart, alpha_cap: AlphaCap, samples: &mut [bool]) {
    let (dual, beta, margins) = (&part.dual, part.of(&warm_start.beta), part.of(&warm_start.margins));
    let mut undecided = 0;
    let mut order: Vec<(f64, usize)> = Vec::new();
    for i in (0..dual.len()).filter(|&i| dual.cost[i] > 0.0) {
        let (alpha, distance) = (dual.y[i] * beta[i], 1.0 - margins[i]);
        let high = dual.loss == Loss::Hinge && alpha >= dual.cost[i] * (1.0 - NEAR);
        let settled = if high { distance > 0.0 } else { alpha <= alpha_cap.of(dual.cost[i]) * NEAR && distance < 0.0 };
        undecided += usize::from(!settled);
        order.push((if settled { distance.abs() } else { 0.0 }, i));
    }
    let wanted = (3 * undecided / 2 + 32).min(order.len());
    if wanted < order.len() {
        order.select_nth_unstable_by(wanted, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    }
    order[..wanted].iter().for_each(|o| samples[o.1] = true);
}

/// The positive ones among the `count` largest values, falling.
pub(super) fn largest(values: &[f64], count: usize) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().copied().filter(|v| *v > 0.0).collect();
    let count = count.min(values.len());
    if count == 0 {
        return Vec::new();
    }
    if count < values.len() {
        values.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a));
    }
    values.truncate(count);
    values.sort_unstable_by(|a, b| b.total_cmp(a));
    values
}
