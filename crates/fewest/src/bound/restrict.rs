//! The problem of a node restricted to the samples and units that matter, and its answer put back.

use super::active_bounds::ActiveBounds;
use super::alpha_cap::AlphaCap;
use super::interior::{Block, Blocks, Point, Restricted, UnitColumns, sides};
use super::model::{Row, WarmStart};
use super::node::Node;
use super::parts::StackedProblem;
use crate::Interval;
use crate::dual::{Bias, Loss};

// Tuning: `make bench-exact-real`.

/// Shares up to this are 0 to the children and to the upper value.
const SMALL: f64 = 1e-3;

impl Node<'_, '_> {
    /// The restricted problem, with the bounds on weights that take part, and the warm point inside it.
    pub(super) fn restrict(
        &self,
        warm_start: &WarmStart,
        samples: &[bool],
        units: &[bool],
        active_bounds: &ActiveBounds,
        alpha_cap: AlphaCap,
    ) -> (Restricted, Point) {
        let (relaxation, dual) = (self.relaxation, self.dual());
        let chosen: Vec<usize> = (0..samples.len()).filter(|&i| samples[i]).collect();
        let mut fixed = warm_start.beta.clone();
        for &i in &chosen {
            fixed[i] = 0.0;
        }
        let penalised = matches!(dual.bias, Bias::Penalised(_));
        let mut columns: Vec<Option<usize>> = if penalised { vec![None] } else { Vec::new() };
        columns.extend(self.features.iter().map(|&j| Some(j)));
        let n_in = columns.len();
        let (mut unit_columns, mut z, mut position) = (Vec::new(), Vec::new(), vec![usize::MAX; self.free.len()]);
        let count = units.iter().filter(|u| **u).count();
        let share = |u: usize| match warm_start.shares.binary_search_by_key(&u, |s| s.0) {
            Ok(at) => warm_start.shares[at].1,
            Err(_) if warm_start.shares.is_empty() => (self.slots as f64 / count as f64).min(0.9),
            Err(_) => 0.0,
        };
        for at in (0..units.len()).filter(|&at| units[at]) {
            let u = self.free[at];
            position[at] = unit_columns.len();
            let first = columns.len();
            columns.extend(relaxation.rules.unit(u).iter().map(|&j| Some(j)));
            unit_columns.push(UnitColumns { first, last: columns.len(), penalty: relaxation.penalty[u] });
            z.push(share(u));
        }
        let problems = relaxation.parts.len();
        let taking_part = |column: &Option<usize>| column.filter(|j| active_bounds.has(*j));
        let of_column = |column: &Option<usize>| taking_part(column).map_or(Interval::FREE, |j| relaxation.interval(j));
        let bounded = columns.iter().any(|column| taking_part(column).is_some());
        let mut weights: Vec<Interval> = if bounded { columns.iter().map(of_column).collect() } else { Vec::new() };
        weights = weights.repeat(problems);
        let mut base = Vec::with_capacity(problems * columns.len());
        let block = |part: &StackedProblem<'_>| {
            let (block, own) = self.block(part, &columns, &chosen, &fixed);
            base.extend(own);
            block
        };
        let blocks = relaxation.parts.iter().map(block).collect();
        let ridge_part = |i: usize| dual.y[i] * fixed[i] - 0.5 * dual.ridge[i] * fixed[i] * fixed[i];
        let constant = (0..dual.len()).map(ridge_part).sum::<f64>()
            + self.fixed_in.iter().map(|&u| relaxation.penalty[u]).sum::<f64>();
        let (mut rows, mut tau) = (Vec::new(), Vec::new());
        for (at, row) in &self.rows {
            let coefficients: Vec<(usize, f64)> = row
                .coefficients
                .iter()
                .filter_map(|&(u, a)| {
                    let at = position[self.free.binary_search(&u).expect("the row lists free units")];
                    (at != usize::MAX).then_some((at, a))
                })
                .collect();
            if !coefficients.is_empty() {
                rows.push(Row { coefficients, upper: row.upper });
                tau.push(warm_start.tau[*at]);
            }
        }
        let take = |values: &[f64]| chosen.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        let y = take(&dual.y);
        let alpha = chosen.iter().map(|&i| dual.y[i] * warm_start.beta[i]).collect();
        let cost = match dual.loss {
            Loss::Hinge => chosen.iter().map(|&i| alpha_cap.of(dual.cost[i])).collect(),
            Loss::SquaredHinge => vec![f64::INFINITY; chosen.len()],
        };
        let left = |part: &StackedProblem<'_>| -part.of(&fixed).iter().sum::<f64>();
        let balance = (dual.bias == Bias::Free).then(|| relaxation.parts.iter().map(left).collect());
        let restricted = Restricted {
            z: Blocks::new(blocks),
            y,
            cost,
            ridge: take(&dual.ridge),
            base,
            constant,
            balance,
            alpha_cap: alpha_cap.0,
            n_in,
            sides: sides(&weights, problems, n_in, &unit_columns),
            weights,
            units: unit_columns,
            rows,
        };
        (restricted, Point { alpha, bias: warm_start.bias.clone(), z, tau, w: Vec::new() })
    }

    /// The block of one problem, and what its fixed samples add to c. No column is that of a
    /// penalised bias; samples are counted over all problems.
    fn block(
        &self,
        part: &StackedProblem<'_>,
        columns: &[Option<usize>],
        chosen: &[usize],
        fixed: &[f64],
    ) -> (Block, Vec<f64>) {
        let (dual, design, fixed) = (&part.dual, part.design(), part.of(fixed));
        let range = |end: usize| chosen.partition_point(|&i| i < end);
        let chosen = &chosen[range(part.samples.start)..range(part.samples.end)];
        let chosen: Vec<usize> = chosen.iter().map(|i| i - part.samples.start).collect();
        let mut base = vec![0.0; columns.len()];
        let mut full = vec![0.0; dual.len()];
        let block = Block::new(chosen.len(), columns.len(), |k, out| {
            let Some(j) = columns[k] else {
                let s = dual.bias_square().sqrt();
                base[k] = s * fixed.iter().sum::<f64>();
                out.iter_mut().zip(&chosen).for_each(|(out, &i)| *out = dual.y[i] * s);
                return;
            };
            if self.relaxation.interval(j).is_zero() {
                out.fill(0.0);
                return;
            }
            base[k] = design.dot_column(j, fixed);
            if let Some(column) = design.dense_column(j) {
                out.iter_mut().zip(&chosen).for_each(|(out, &i)| *out = dual.y[i] * column[i]);
            } else {
                full.fill(0.0);
                design.add_column(j, 1.0, &mut full);
                out.iter_mut().zip(&chosen).for_each(|(out, &i)| *out = dual.y[i] * full[i]);
            }
        });
        (block, base)
    }

    /// Puts the restricted problem's point back, feasible.
    pub(super) fn take(
        &self,
        warm_start: &mut WarmStart,
        samples: &[bool],
        units: &[bool],
        point: &Point,
        alpha_cap: AlphaCap,
    ) {
        let dual = self.dual();
        let chosen = (0..samples.len()).filter(|&i| samples[i]);
        for (i, alpha) in chosen.zip(&point.alpha) {
            let cost = dual.cost[i];
            // What the method could not bring onto its bound belongs there.
            let alpha = if *alpha < 1e-9 * alpha_cap.of(cost) {
                0.0
            } else if dual.loss == Loss::Hinge && *alpha > cost * (1.0 - 1e-9) {
                cost
            } else {
                *alpha
            };
            warm_start.beta[i] = dual.y[i] * alpha;
        }
        self.relaxation.make_feasible(&mut warm_start.beta);
        warm_start.bias.clone_from(&point.bias);
        let here: Vec<usize> = (0..units.len()).filter(|&at| units[at]).map(|at| self.free[at]).collect();
        warm_start.shares = here.iter().copied().zip(point.z.iter().copied()).filter(|s| s.1 > SMALL).collect();
        self.shrink(&mut warm_start.shares);
        warm_start.tau.fill(0.0);
        let mut tau = point.tau.iter();
        for (at, row) in &self.rows {
            if row.coefficients.iter().any(|(u, _)| here.binary_search(u).is_ok()) {
                warm_start.tau[*at] = tau.next().copied().unwrap_or(0.0);
            }
        }
    }

    /// Makes shares smaller together, where they are beyond a row whose coefficients are 0 or more:
    /// the upper value is one only where the shares are allowed.
    fn shrink(&self, shares: &mut [(usize, f64)]) {
        let share = |u: usize| shares.binary_search_by_key(&u, |s| s.0).map_or(0.0, |at| shares[at].1);
        let total = |row: &Row| {
            if self.relaxation.size_only {
                shares.iter().map(|s| s.1).sum::<f64>()
            } else {
                row.coefficients.iter().map(|&(u, a)| a * share(u)).sum()
            }
        };
        let rows = self.rows.iter().map(|(_, row)| row).filter(|row| row.coefficients.iter().all(|c| c.1 >= 0.0));
        let most = rows.map(|row| row.upper.max(0.0) / total(row)).filter(|most| *most < 1.0).fold(1.0, f64::min);
        if most < 1.0 {
            for share in shares {
                share.1 *= most;
            }
        }
    }
}
