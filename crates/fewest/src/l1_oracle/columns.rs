//! The program of the features and samples that have joined: they come and go, prices change.

use super::tuning::{ALL_ROWS, JOINED};
use super::{L1Oracle, L1Point, Units, WeightSide, bias_price};
use crate::backend::highs::{Column, Entries, Program, Rows, SMALLEST};
use crate::{Bias, Clock, Error, Memory};

impl L1Oracle<'_> {
    /// Joins some of the samples that count, evenly spread over each class; the others join when
    /// they are needed. No more join once the clock says stop.
    pub(super) fn join_spread(&mut self, clock: &Clock) -> Result<(), Error> {
        let counts: Vec<usize> = (0..self.cost.len()).filter(|&i| self.cost[i] > 0.0).collect();
        let step = counts.len().div_ceil(ALL_ROWS).max(1);
        self.join_in_pieces(&counts.iter().copied().step_by(step).collect::<Vec<_>>(), clock)
    }

    /// [`L1Oracle::join_rows`] with checks of the clock; once it says stop, no more do.
    pub(crate) fn join_in_pieces(&mut self, samples: &[usize], clock: &Clock) -> Result<(), Error> {
        for rows in samples.chunks((JOINED / self.parts.len().max(1)).max(1)) {
            if clock.stop().is_some() {
                break;
            }
            self.join_rows(rows)?;
        }
        Ok(())
    }

    /// Once more than `most` parts of weights have joined, lets all leave but the half that `point`
    /// uses or comes nearest to using.
    pub fn forget(&mut self, point: &L1Point, most: usize) -> Result<(), Error> {
        if self.parts.len() <= most {
            return Ok(());
        }
        let slack = |part: &WeightSide| {
            let weight =
                point.weights.binary_search_by_key(&part.feature, |e| e.0).map_or(0.0, |at| point.weights[at].1);
            let used = weight != 0.0 && (weight < 0.0) == part.negative;
            if used { f64::NEG_INFINITY } else { -self.fault(*part, point.scores[part.feature]) }
        };
        let mut keep = self.parts.clone();
        keep.sort_by(|a, b| slack(a).total_cmp(&slack(b)).then(a.cmp(b)));
        keep.truncate(most / 2);
        self.parts.clear();
        // The old program gives its memory back before the new one takes any.
        (self.program, self.intercept) = empty(self.bias, &self.units, &self.memory)?;
        self.begun = false;
        self.column.fill([None; 2]);
        self.row.fill(None);
        let samples = std::mem::take(&mut self.samples);
        self.join_samples(&samples)?;
        self.join_parts(&keep)
    }

    /// The column of a part that has joined.
    pub(super) fn column_of(&self, part: WeightSide) -> usize {
        self.find_column(part).expect("has joined")
    }

    /// The column of a part, where it has joined.
    pub(super) fn find_column(&self, part: WeightSide) -> Option<usize> {
        self.column[part.feature][usize::from(part.negative)].map(|column| column as usize)
    }

    /// Lets features in, both parts of their weights, before they are needed.
    pub fn join(&mut self, features: &[usize]) -> Result<(), Error> {
        let new = |part: &WeightSide| self.find_column(*part).is_none() && self.limit(*part) > 0.0;
        self.join_parts(&features.iter().flat_map(|&j| WeightSide::both(j)).filter(new).collect::<Vec<_>>())
    }

    /// Lets parts in that are not there yet.
    pub(super) fn join_parts(&mut self, parts: &[WeightSide]) -> Result<(), Error> {
        let (mut columns, mut entries) = (Vec::with_capacity(parts.len()), Entries::default());
        let mut column = Vec::new();
        for (k, &part) in parts.iter().enumerate() {
            let at = u32::try_from(self.program.columns() + k).expect("HiGHS counts in 32 bits");
            self.column[part.feature][usize::from(part.negative)] = Some(at);
            column.clear();
            let mut add = |i: usize, x: f64| {
                let x = self.units.value(part.feature, x);
                if let Some((row, _)) = self.row[i].filter(|_| x.abs() > SMALLEST) {
                    column.push((row, part.sign() * self.problem.labels()[i] * x));
                }
            };
            if !self.samples.is_empty() {
                self.problem.design().each_in_column(part.feature, &mut add);
            }
            entries.push(&column);
            let (cost, upper) = (self.part_cost(part), self.units.weight(part.feature, self.limit(part)));
            columns.push(Column { cost, lower: 0.0, upper, integer: false });
        }
        self.program.add_filled_columns(&columns, &entries)?;
        self.parts.extend(parts);
        Ok(())
    }

    /// What a part of a weight costs per unit of its column.
    fn part_cost(&self, part: WeightSide) -> f64 {
        self.units.price(part.feature, self.price(part))
    }

    /// Lets samples in before they are found missing; where none was, the first solve begins with
    /// an even choice.
    pub fn join_rows(&mut self, samples: &[usize]) -> Result<(), Error> {
        let new = |&i: &usize| self.row[i].is_none() && self.cost[i] > 0.0;
        self.join_samples(&samples.iter().copied().filter(new).collect::<Vec<_>>())
    }

    /// Sets the prices of w_j > 0 and w_j < 0 (length p each); a negative one needs a finite u_j.
    pub fn set_prices(&mut self, up: &[f64], down: &[f64]) -> Result<(), Error> {
        let old: Vec<f64> = self.parts.iter().map(|part| self.part_cost(*part)).collect();
        self.up.copy_from_slice(up);
        self.down.copy_from_slice(down);
        let now = self.parts.iter().map(|part| (self.column_of(*part), self.part_cost(*part)));
        let changed = now.zip(old).filter(|((_, new), old)| new.to_bits() != old.to_bits()).map(|e| e.0);
        self.program.set_costs(&changed.collect::<Vec<_>>())
    }

    /// Sets u_j (length p).
    pub fn set_bounds(&mut self, bound: &[f64]) -> Result<(), Error> {
        let changes = |part: &&WeightSide| bound[part.feature].to_bits() != self.bound[part.feature].to_bits();
        let changed: Vec<WeightSide> = self.parts.iter().filter(changes).copied().collect();
        self.bound.copy_from_slice(bound);
        self.infeasible |= !changed.is_empty();
        changed.into_iter().try_for_each(|part| {
            let upper = self.units.weight(part.feature, self.limit(part));
            self.program.set_bounds(self.column_of(part), 0.0, upper)
        })
    }

    /// Sets C_i (length n); a sample that weighed nothing must still do so.
    pub fn set_cost(&mut self, cost: &[f64]) -> Result<(), Error> {
        self.cost.copy_from_slice(cost);
        let other = self.units.follow(cost);
        self.price_program(other)
    }

    /// Gives the program the costs of slack and, where `all`, those of weights and bias.
    pub(super) fn price_program(&mut self, all: bool) -> Result<(), Error> {
        let slack = |i: usize| (self.row[i].expect("has joined").1, self.units.slack(self.cost[i]));
        let mut costs: Vec<(usize, f64)> = self.samples.iter().map(|&i| slack(i)).collect();
        if all {
            costs.extend(self.parts.iter().map(|part| (self.column_of(*part), self.part_cost(*part))));
            costs.extend(self.intercept.iter().map(|&column| (column, self.units.cost(bias_price(self.bias, 1.0)))));
        }
        self.program.set_costs(&costs)
    }

    pub(super) fn join_samples(&mut self, samples: &[usize]) -> Result<(), Error> {
        let none = f64::INFINITY;
        let slack =
            |&i: &usize| Column { cost: self.units.slack(self.cost[i]), lower: 0.0, upper: none, integer: false };
        let slacks = self.program.add_columns(&samples.iter().map(slack).collect::<Vec<_>>())?;
        let first = self.program.rows();
        let labels = self.problem.labels();
        let mut rows: Vec<Vec<(usize, f64)>> = Vec::with_capacity(samples.len());
        for (k, &i) in samples.iter().enumerate() {
            self.row[i] = Some((first + k, slacks + k));
            let signs = [1.0, -1.0];
            let intercept = self.intercept.iter().zip(signs).map(|(&b, sign)| (b, sign * labels[i]));
            rows.push(intercept.chain([(slacks + k, 1.0)]).collect());
        }
        for &part in &self.parts {
            let column = self.column_of(part);
            self.problem.design().each_in_column(part.feature, &mut |i, x| {
                let x = self.units.value(part.feature, x);
                if let Some((row, _)) = self.row[i].filter(|r| r.0 >= first && x.abs() > SMALLEST) {
                    rows[row - first].push((column, part.sign() * labels[i] * x));
                }
            });
        }
        let mut gathered = Rows::default();
        for row in &rows {
            gathered.push(row, 1.0, none);
        }
        self.program.add_rows(&gathered)?;
        self.samples.extend(samples);
        self.infeasible = true;
        Ok(())
    }
}

/// A program of the bias alone, and its columns.
pub(super) fn empty(bias: Bias, units: &Units, memory: &Memory) -> Result<(Program, Vec<usize>), Error> {
    let mut program = Program::within(memory)?;
    let column = |cost: f64, lower: f64| Column { cost, lower, upper: f64::INFINITY, integer: false };
    let intercept = match bias {
        Bias::Free => vec![program.add_column(column(0.0, f64::NEG_INFINITY))?],
        Bias::Penalised(s) => {
            let side = column(units.cost(1.0 / s), 0.0);
            vec![program.add_column(side)?, program.add_column(side)?]
        }
        Bias::None => Vec::new(),
    };
    Ok((program, intercept))
}
