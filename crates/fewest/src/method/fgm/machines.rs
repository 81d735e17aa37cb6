//! The machines of several problems at one mixture: their values add.

use super::machine::{Curvature, Machine, MachineAnswer};
use super::mixture::Level;
use super::part::{SourceProblem, joint};
use crate::design::Rows;
use crate::{Clock, WeightBounds};
use rayon::prelude::*;

/// A machine for each problem, on q columns.
pub(super) struct Machines<'a> {
    each: Vec<Machine<'a>>,
    q: usize,
}

impl<'a> Machines<'a> {
    /// `rows` of each problem; `signs` of the weights, by column.
    pub(super) fn new(rows: &[Rows<'a>], parts: &'a [SourceProblem<'a>], q: usize, signs: &WeightBounds) -> Self {
        let machine = |(rows, part): (&Rows<'a>, &'a SourceProblem<'a>)| Machine::new(*rows, &part.dual, signs.clone());
        Self { each: rows.iter().zip(parts).map(machine).collect(), q }
    }

    /// Steps taken.
    pub(super) fn steps(&self) -> u64 {
        self.each.iter().map(|machine| machine.steps).sum()
    }

    /// Trains all at z (length q), each until its gap is at most `tolerance` or `clock` says so.
    pub(super) fn train(&mut self, z: &[f64], tolerance: f64, clock: &Clock) -> MachineAnswer {
        let mut answers: Vec<MachineAnswer> =
            self.each.par_iter_mut().map(|machine| machine.train(z, tolerance, clock)).collect();
        if answers.len() == 1 {
            return answers.remove(0);
        }
        let level = Level::sum(answers.iter().map(|answer| answer.level));
        let (mut beta, mut weights, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        let (mut bias, mut upper) = (Vec::new(), 0.0);
        for answer in answers {
            beta.extend(answer.beta);
            weights.extend(answer.weights);
            scores.extend(answer.scores);
            bias.extend(answer.bias);
            upper += answer.upper;
        }
        let lower = level.value(joint(&scores, self.q).iter().zip(z).map(|(c, z)| z * c * c).sum());
        MachineAnswer { beta, weights, scores, bias, upper, lower, level }
    }

    /// How the sum of the values curves at z, the point of the last training.
    pub(super) fn curvature(&self, z: &[f64]) -> Curvatures<'_> {
        Curvatures { each: self.each.iter().map(|machine| machine.curvature(z)).collect(), q: self.q }
    }
}

/// The second derivatives of several values; vectors over the columns are by problem, length T q.
pub(super) struct Curvatures<'a> {
    each: Vec<Curvature<'a>>,
    q: usize,
}

impl Curvatures<'_> {
    /// Adds the direction of a subset, with scores c.
    pub(super) fn push(&mut self, subset: &[u32], c: &[f64]) {
        for (curvature, c) in self.each.iter_mut().zip(c.chunks(self.q.max(1))) {
            curvature.push(subset, c);
        }
    }

    /// The second derivatives between all subsets added, T x T for T of them.
    pub(super) fn matrix(&self) -> Vec<f64> {
        let mut each = self.each.iter().map(Curvature::matrix);
        let mut sum = each.next().unwrap_or_default();
        each.for_each(|matrix| sum.iter_mut().zip(matrix).for_each(|(sum, h)| *sum += h));
        sum
    }

    /// K v of each problem.
    pub(super) fn apply(&self, v: &[f64]) -> Vec<f64> {
        let each = self.each.iter().zip(v.chunks(self.q.max(1)));
        each.flat_map(|(curvature, v)| curvature.apply(v).into_iter().take(self.q)).collect()
    }
}
