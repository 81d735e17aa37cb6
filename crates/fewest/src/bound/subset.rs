//! The value of one subset by the engines of [`crate::dual`], where the interior point of the
//! relaxation ends too early.
//!
//! Weights with bounds are another matter (`bounded.rs`). Of several problems each is trained
//! alone; what follows is of one.
//!
//! Steps    1. with a free bias, a copy of the columns moved to mean 0: the same problem, better
//!          conditioned where means are
//!          large  2. the optimality conditions solved from the current point (`polish.rs`)  3. an
//!          engine for rows of
//!          samples, polished  4. SMO with its active-set finish on the Gram matrix, where that
//!          fits, polished
//! Returns  the best lower and the best upper value of all steps; each is the value of a feasible
//!          point, so that an engine which stalls costs accuracy, not truth.

use super::alpha_cap::AlphaCap;
use super::model::Points;
use super::model::{NodeAnswer, Relaxation, WarmStart};
use super::node::Node;
use super::polish::{Polish, Polished};
use crate::dual::active_set::ActiveSet;
use crate::dual::kkt::{best_bias, bias_alone, total_loss};
use crate::dual::train::{WHOLE_GRAM, train_linear};
use crate::dual::{Bias, DualSolution, smo};
use crate::kernel::gram::GramMatrix;
use crate::{Clock, DenseDesign, Design, Interval, SvmSettings};

/// Share of the tolerance asked for that the engines are given: what they call the gap is judged
/// again here.
const SHARE: f64 = 0.5;

impl Relaxation<'_> {
    /// Solves a node without free units, as [`Relaxation::solve`]. Returns the answer and the
    /// iterations used.
    pub fn train(
        &self,
        fixed_in: &[usize],
        warm_start: &WarmStart,
        tolerance: f64,
        clock: &Clock,
    ) -> (NodeAnswer, u64) {
        if !self.alone.is_empty() {
            return self.train_each(fixed_in, warm_start, tolerance, clock);
        }
        let node = Node::new(self, fixed_in, &[]);
        if node.features.is_empty() {
            let (beta, bias) = bias_alone(&self.dual);
            return (self.judge(&node, WarmStart { beta, bias: vec![bias], ..warm_start.clone() }), 0);
        }
        if !self.rules.weight_bounds().is_free() {
            return self.train_bounded(&node, warm_start, tolerance, clock);
        }
        let settings = SvmSettings { tolerance: SHARE * tolerance, ..self.svm.clone() };
        // Step 1.
        let columns = self.conditioned(&node.features);
        let all: Vec<usize> = (0..node.features.len()).collect();
        let n = columns.n_samples();
        let start = warm_start.beta.clone();
        let polish = self.conditions(&node, &columns);
        // Step 2.
        let (mut best, mut iterations) = (self.judge(&node, warm_start.clone()), 0);
        if clock.stop().is_none() {
            self.polish(&node, &polish, &mut best, tolerance);
        }
        for step in 3..=4 {
            if best.is_within(tolerance) || clock.stop().is_some() {
                break;
            }
            let solution: DualSolution = match step {
                3 => train_linear(&columns, &all, &self.dual, Some(&start), &settings, clock),
                4 if n <= WHOLE_GRAM && GramMatrix::bytes(n) <= settings.memory => {
                    let gram = GramMatrix::linear(&columns, &all);
                    smo::solve(&mut &gram, &self.dual, None, &mut ActiveSet::default(), &settings, clock)
                }
                _ => continue,
            };
            iterations += solution.iterations;
            let found =
                self.judge(&node, WarmStart { beta: solution.beta, bias: vec![solution.bias], ..warm_start.clone() });
            best = best.better(found);
            self.polish(&node, &polish, &mut best, tolerance);
        }
        (best, iterations)
    }

    /// Each problem alone: values add.
    fn train_each(
        &self,
        fixed_in: &[usize],
        warm_start: &WarmStart,
        tolerance: f64,
        clock: &Clock,
    ) -> (NodeAnswer, u64) {
        let prices: f64 = fixed_in.iter().map(|&u| self.penalty(u)).sum();
        let (mut lower, mut upper, mut iterations) = (prices, prices, 0);
        let (mut at, mut primal) = (Vec::new(), Vec::new());
        let mut ends = WarmStart { beta: Vec::new(), bias: Vec::new(), margins: Vec::new(), ..warm_start.clone() };
        for ((part, alone), bias) in self.parts.iter().zip(&self.alone).zip(&warm_start.bias) {
            let (beta, margins) = (part.of(&warm_start.beta).to_vec(), part.of(&warm_start.margins).to_vec());
            let WarmStart { shares, tau, .. } = warm_start;
            let start = WarmStart { beta, bias: vec![*bias], shares: shares.clone(), tau: tau.clone(), margins };
            let (found, used) = alone.train(fixed_in, &start, tolerance, clock);
            (lower, upper, iterations) = (lower + found.lower, upper + found.upper, iterations + used);
            if let Some(points) = found.points {
                at.extend(points.at);
                primal.extend(points.primal.into_iter().flatten());
            }
            ends.beta.extend(found.warm_start.beta);
            ends.bias.extend(found.warm_start.bias);
            ends.margins.extend(found.warm_start.margins);
        }
        // A sum of this many terms.
        lower -= f64::EPSILON * (2 + self.parts.len()) as f64 * lower.abs();
        let node = Node::new(self, fixed_in, &[]);
        let point = if at.is_empty() { None } else { node.point(&at, &ends.tau, &ends.margins, 0.0, lower) };
        let points = point.map(|point| Points { lower: point.clone(), at, priced: point, primal: Some(primal) });
        (
            NodeAnswer { lower, upper, excess: Vec::new(), priced: lower, warm_start: ends, rounds: 0, points },
            iterations,
        )
    }

    /// The conditions solved from the best point; better values are kept.
    fn polish(&self, node: &Node<'_, '_>, polish: &Polish<'_>, best: &mut NodeAnswer, tolerance: f64) {
        if best.is_within(tolerance) {
            return;
        }
        let (beta, margins) = (best.warm_start.beta.clone(), best.warm_start.margins.clone());
        let alpha_cap = AlphaCap::new(self, best.upper).0;
        polish.run(&beta, None, &margins, alpha_cap, &mut |point| {
            let mut found = self.judge(node, WarmStart { beta: point.beta.clone(), ..best.warm_start.clone() });
            let primal = self.primal(node, polish, point);
            if primal < found.upper
                && let Some(points) = &mut found.points
            {
                points.primal = Some(vec![node.machine(point.w.clone(), self.bias_of(point))]);
            }
            found.upper = found.upper.min(primal);
            *best = std::mem::replace(best, found.clone()).better(found);
            best.is_within(tolerance)
        });
    }

    /// The optimality conditions of a node without free units, on its columns.
    pub(super) fn conditions(&self, node: &Node<'_, '_>, columns: &DenseDesign<'_>) -> Polish<'_> {
        let columns = self.with_bias(columns);
        let intervals = node.features.iter().map(|&j| self.interval(j)).chain([Interval::FREE]);
        Polish { dual: &self.dual, weights: intervals.take(columns.len()).collect(), columns }
    }

    /// The objective at w of a point, with the best bias.
    pub(super) fn primal(&self, node: &Node<'_, '_>, polish: &Polish<'_>, point: &Polished) -> f64 {
        let mut scores = vec![0.0; self.dual.len()];
        for (column, w) in polish.columns.iter().zip(&point.w) {
            scores.iter_mut().zip(column).for_each(|(score, x)| *score += w * x);
        }
        let bias = if self.dual.bias == Bias::Free { best_bias(&self.dual, &scores) } else { 0.0 };
        let prices: f64 = node.fixed_in.iter().map(|&u| self.penalty(u)).sum();
        0.5 * point.w.iter().map(|w| w * w).sum::<f64>() + prices + total_loss(&self.dual, &scores, bias)
    }

    /// The bias of a point where it is penalised: the last weight times the constant. A free one is
    /// found again where it is needed.
    pub(super) fn bias_of(&self, point: &Polished) -> f64 {
        match (self.dual.bias, point.w.last()) {
            (Bias::Penalised(s), Some(w)) => s * w,
            _ => 0.0,
        }
    }

    /// The columns, and the constant one of a penalised bias.
    fn with_bias(&self, columns: &DenseDesign<'_>) -> Vec<Vec<f64>> {
        let features = (0..columns.n_features()).map(|k| columns.column(k).to_vec());
        let constant = match self.dual.bias {
            Bias::Penalised(s) => Some(vec![s; self.dual.len()]),
            Bias::Free | Bias::None => None,
        };
        features.chain(constant).collect()
    }

    /// The columns, with a free bias moved to mean 0 over the samples that count.
    pub(super) fn conditioned(&self, features: &[usize]) -> DenseDesign<'static> {
        let n = self.dual.len();
        let used: Vec<bool> = self.dual.cost.iter().map(|c| *c > 0.0).collect();
        let count = used.iter().filter(|u| **u).count().max(1) as f64;
        let mut values = vec![0.0; n * features.len()];
        for (&j, column) in features.iter().zip(values.chunks_exact_mut(n)) {
            self.parts[0].design().add_column(j, 1.0, column);
            if self.dual.bias == Bias::Free {
                let mean = column.iter().zip(&used).filter(|e| *e.1).map(|e| e.0 / count).sum::<f64>();
                for x in column {
                    *x -= mean;
                }
            }
        }
        DenseDesign::new(n, features.len(), values).expect("n values a feature")
    }

    /// Both values at a point.
    pub(super) fn judge(&self, node: &Node<'_, '_>, mut warm_start: WarmStart) -> NodeAnswer {
        warm_start.shares.clear();
        self.make_feasible(&mut warm_start.beta);
        let evaluation = node.evaluate(&warm_start);
        let points = node.points(&warm_start, &evaluation, None);
        warm_start.margins = evaluation.margins;
        let (lower, upper) = (evaluation.lower, evaluation.upper);
        NodeAnswer { lower, upper, excess: Vec::new(), priced: lower, warm_start, rounds: 0, points }
    }
}

impl NodeAnswer {
    pub(super) fn is_within(&self, tolerance: f64) -> bool {
        self.upper - self.lower <= tolerance * self.upper.abs()
    }

    /// The better of each value; the point of the better upper value.
    fn better(self, other: Self) -> Self {
        let lower = self.lower.max(other.lower);
        let proof = |answer: &Self| answer.points.as_ref().map(|points| (points.lower.clone(), points.at.clone()));
        let proof = if other.lower > self.lower || self.lower.is_nan() { proof(&other) } else { proof(&self) };
        let mut best = if other.upper < self.upper || self.upper.is_nan() { other } else { self };
        if let (Some(points), Some(proof)) = (&mut best.points, proof) {
            (points.lower, points.at) = proof;
        }
        Self { lower, ..best }
    }
}
