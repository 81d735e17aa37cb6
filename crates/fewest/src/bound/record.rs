//! What a proof file needs of a node: the dual points that its bounds hold at, and the primal points
//! of a subset's objective, one for each problem. Nothing of it is made where no proof is written.

use super::model::{NodeAnswer, Points, Relaxation, WarmStart};
use super::node::{Evaluation, Node};
use super::parts::StackedProblem;
use crate::Subset;
use crate::dual::Bias;
use crate::proof::{Balance, Gain, Grid, Listed, Point, RowNumbers};
use crate::search::{Found, PrimalPoint};

/// What may be lost to the grid of a point, as a share of its bound or of how far that is below the
/// value without features, and of the sum of alpha where these are next to nothing.
const LOSS: f64 = 1e-9;
const LEAST_LOSS: f64 = 1e-13;

/// The best bound so far and where it holds.
pub(super) struct BestPoint {
    value: f64,
    beta: Vec<f64>,
    tau: Vec<f64>,
    margins: Vec<f64>,
    gains: Vec<f64>,
}

impl BestPoint {
    pub(super) fn new(evaluation: &Evaluation, warm_start: &WarmStart) -> Self {
        let (margins, gains) = (evaluation.margins.clone(), evaluation.gains.clone());
        Self { value: evaluation.lower, beta: warm_start.beta.clone(), tau: warm_start.tau.clone(), margins, gains }
    }

    pub(super) fn see(&mut self, evaluation: &Evaluation, warm_start: &WarmStart) {
        if evaluation.lower > self.value {
            self.value = evaluation.lower;
            self.beta.clone_from(&warm_start.beta);
            self.tau.clone_from(&warm_start.tau);
            self.margins.clone_from(&evaluation.margins);
            self.gains.clone_from(&evaluation.gains);
        }
    }
}

impl Relaxation<'_> {
    /// From now on, answers say what they are proven by.
    pub(crate) fn keep_points(&mut self) {
        self.numbers = Some(RowNumbers::new(self.rules.list(), self.rules.budget_scale()));
        self.alone.iter_mut().for_each(Self::keep_points);
    }

    pub(crate) fn keeps_points(&self) -> bool {
        self.numbers.is_some()
    }

    /// A subset for the file, where its point is known.
    pub(crate) fn listed(&self, found: &Found) -> Option<Listed> {
        let units = (0..self.rules.n_units()).filter(|&u| found.subset.contains(self.rules.unit(u)[0]));
        let price = units.map(|u| self.penalty[u]).sum();
        let problems = self.parts.iter().map(|part| (part.problem, &part.dual));
        let machines = found.point.clone().filter(|machines| machines.len() == self.parts.len())?;
        Some(Listed::new(problems, Gain::Ridge, &found.subset, found.objective, price, machines))
    }

    /// The subset of units that are in.
    pub(crate) fn subset(&self, fixed_in: &[usize]) -> Subset {
        let features = fixed_in.iter().flat_map(|&u| self.rules.unit(u).iter().copied());
        Subset::from_indices(self.rules.p(), features)
    }
}

impl Node<'_, '_> {
    /// The point for the file, which a bound of this value holds at. `margins` are there or near;
    /// `kinks` as in [`Grid`].
    pub(super) fn point(&self, beta: &[f64], tau: &[f64], margins: &[f64], kinks: f64, value: f64) -> Option<Point> {
        let relaxation = self.relaxation;
        let (dual, numbers) = (&relaxation.dual, relaxation.numbers.as_ref()?);
        let mut prices: Vec<(u64, f64)> = Vec::new();
        if !relaxation.size_only {
            let priced = self.rows.iter().filter_map(|(at, _)| {
                let (number, scale) = numbers.of(relaxation.places[*at])?;
                Some((number, tau[*at] * scale))
            });
            prices.extend(priced);
        }
        let alpha: Vec<f64> = beta.iter().zip(&dual.y).map(|(b, y)| (b * y).max(0.0)).collect();
        let most = |i: usize| dual.lower[i].abs().max(dual.upper[i]);
        let balance = if dual.bias == Bias::Free { Balance::Zero } else { Balance::Any };
        // All that a box may still hold: units that pay nothing here may be forced in below.
        let units = self.fixed_in.iter().chain(self.free);
        let constant = dual.bias_square() * alpha.len() as f64;
        let squares = constant + units.map(|&u| relaxation.norms[u].powi(2)).sum::<f64>();
        let little = LOSS * (relaxation.baseline - value).abs().min(value.abs());
        let loss = little.max(LEAST_LOSS * alpha.iter().sum::<f64>());
        let moving = (0..alpha.len()).filter(|&i| alpha[i] > 0.0);
        let slopes = moving.map(|i| (1.0 - margins[i] - dual.ridge[i] * alpha[i]).powi(2)).sum::<f64>().sqrt();
        let problems: Vec<_> = relaxation.parts.iter().map(|part| part.samples.clone()).collect();
        let grid = Grid { slopes, squares, kinks, loss, little };
        Some(Point::new(&alpha, &dual.y, &problems, most, balance, grid, &prices))
    }

    /// |w_u| at most, times the norm of unit u, whose gain is known: what a move of alpha by 1 may
    /// do to the gain in first order.
    pub(super) fn kink(&self, unit: usize, gain: f64) -> f64 {
        (2.0 * (gain + self.relaxation.penalty[unit]).max(0.0)).sqrt() * self.relaxation.norms[unit]
    }

    /// What an answer is proven by, at a point that was evaluated, and at the best one before. The
    /// bounds with one more unit in, which the node's alpha is not best for, hold there, too.
    pub(super) fn points(
        &self,
        warm_start: &WarmStart,
        evaluation: &Evaluation,
        kept: Option<&BestPoint>,
    ) -> Option<Points> {
        self.relaxation.keeps_points().then_some(())?;
        let kinks = |gains: &[f64]| {
            let at = |u: usize| self.kink(u, gains[self.free.binary_search(&u).expect("shares are of free units")]);
            let forced = self.free.iter().zip(gains).map(|(u, gain)| self.kink(*u, *gain)).fold(0.0, f64::max);
            warm_start.shares.iter().map(|share| at(share.0)).sum::<f64>() + forced
        };
        let at = self.point(
            &warm_start.beta,
            &warm_start.tau,
            &evaluation.margins,
            kinks(&evaluation.gains),
            evaluation.lower,
        )?;
        let (lower, beta) = match kept.filter(|kept| kept.value > evaluation.lower) {
            Some(kept) => {
                (self.point(&kept.beta, &kept.tau, &kept.margins, kinks(&kept.gains), kept.value)?, &kept.beta)
            }
            None => (at.clone(), &warm_start.beta),
        };
        let primal = self.free.is_empty().then(|| self.machines(&warm_start.beta));
        Some(Points { lower, at: beta.clone(), priced: at, primal })
    }

    /// The machines of beta, one for each problem.
    pub(super) fn machines(&self, beta: &[f64]) -> Vec<PrimalPoint> {
        let relaxation = self.relaxation;
        let machine = |part: &StackedProblem<'_>| {
            let weight = |&j: &usize| relaxation.interval(j).weight(part.score(j, beta));
            let weights = self.features.iter().map(weight).collect();
            self.machine(weights, part.dual.bias_square() * part.of(beta).iter().sum::<f64>())
        };
        relaxation.parts.iter().map(machine).collect()
    }

    /// A machine of weights in the order of the node's features.
    pub(super) fn machine(&self, weights: Vec<f64>, bias: f64) -> PrimalPoint {
        let mut by_feature: Vec<(usize, f64)> = self.features.iter().copied().zip(weights).collect();
        by_feature.sort_unstable_by_key(|f| f.0);
        PrimalPoint { weights: by_feature.into_iter().map(|f| f.1).collect(), bias }
    }
}

impl NodeAnswer {
    /// [`Points::priced`], where points are kept.
    pub(crate) fn priced_at(&self) -> Option<&Point> {
        self.points.as_ref().map(|points| &points.priced)
    }
}
