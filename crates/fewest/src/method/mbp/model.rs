//! The mixed binary program of `mbp`, its linear relaxation, and the objective of its points.

use super::MbpSettings;
use super::weight_bounds::without_features;
use crate::backend::highs::{Column, Program, Rows, SMALLEST};
use crate::l1_oracle::{L1Oracle, Units, bias_price};
use crate::master::program;
use crate::method::Method;
use crate::method::l1_svm::not_forbidden;
use crate::{Bias, Choice, Clock, Error, Interval, Memory, Problem, Reserved, Rules, Subset};

/// Numbers kept for each feature, beside those of the linear program: bounds and prices, before and
/// after each step.
pub(crate) const LISTS: u64 = 9;

/// The numbers of the program.
#[derive(Clone)]
pub struct Model<'a> {
    pub(crate) problem: &'a Problem<'a>,
    pub(crate) rules: &'a Rules,
    /// C_i
    pub(crate) cost: Vec<f64>,
    pub(crate) bias: Bias,
    /// D
    pub(crate) penalty: Vec<f64>,
    /// The units of the mixed binary program.
    pub(crate) units: Units,
    /// u; 0 for features that are forbidden, too. Not above what the rules' bounds allow.
    pub(crate) bound: Vec<f64>,
}

impl<'a> Model<'a> {
    pub(crate) fn new(
        problem: &'a Problem<'_>,
        rules: &'a Rules,
        settings: &MbpSettings,
        memory: &Memory,
        clock: &Clock,
    ) -> Result<Self, Error> {
        let p = problem.n_features();
        settings.check(p)?;
        rules.check_features(p)?;
        let cost: Vec<f64> = problem.weights().iter().map(|weight| weight * settings.cost).collect();
        let found = settings.weight_rule().bounds(problem, rules, (&cost, settings.bias), memory, clock)?;
        let mut bound = vec![0.0; p];
        for j in not_forbidden(rules) {
            let Interval { lower, upper } = rules.weight_bounds().of(j).within(found[j]);
            bound[j] = upper.max(-lower);
        }
        let penalty = if settings.penalty.is_empty() { vec![0.0; p] } else { settings.penalty.clone() };
        let mut units = Units::new(problem, &cost);
        units.uncap(&cost);
        Ok(Self { problem, rules, cost, bias: settings.bias, penalty, units, bound })
    }

    /// The weights that feature j may have.
    pub(crate) fn interval(&self, j: usize) -> Interval {
        self.rules.weight_bounds().of(j).within(self.bound[j])
    }

    /// The features with u > 0, and those that may have to be chosen without weight: what the rules
    /// require and, where they relate features to each other, all that they do not leave out.
    pub(crate) fn features(&self) -> Vec<usize> {
        let stays = |&j: &usize| match self.rules.root()[self.rules.unit_of(j)] {
            Choice::In => true,
            Choice::Free => self.bound[j] > 0.0 || !self.rules.is_sort(),
            Choice::Out => false,
        };
        (0..self.bound.len()).filter(stays).collect()
    }

    /// How many features have u > 0.
    pub(crate) fn weighted(&self) -> usize {
        self.bound.iter().filter(|u| **u > 0.0).count()
    }

    /// `1 + D_j / u_j`: what a weight costs per unit in the linear relaxation, where
    /// `y_j = |w_j| / u_j`.
    pub(crate) fn relaxed_prices(&self) -> Vec<f64> {
        let price = |(d, u): (&f64, &f64)| if *u > 0.0 { 1.0 + d / u } else { 1.0 };
        self.penalty.iter().zip(&self.bound).map(price).collect()
    }

    /// The linear relaxation.
    pub(crate) fn oracle(&self, memory: &Memory) -> Result<L1Oracle<'a>, Error> {
        let oracle = L1Oracle::within(self.problem, self.cost.clone(), self.bias, self.bound.clone(), memory)?;
        let mut oracle = oracle.bounded(self.rules.weight_bounds());
        self.relax(&mut oracle)?;
        Ok(oracle)
    }

    /// Gives an oracle the bounds and prices of the linear relaxation.
    pub(crate) fn relax(&self, oracle: &mut L1Oracle<'_>) -> Result<(), Error> {
        let prices = self.relaxed_prices();
        oracle.set_bounds(&self.bound)?;
        oracle.set_prices(&prices, &prices)
    }

    /// The objective without features, with the best bias.
    pub(crate) fn without_features(&self) -> f64 {
        without_features(self.problem, &self.cost, self.bias)
    }

    /// What the bias costs.
    pub(crate) fn bias_price(&self, bias: f64) -> f64 {
        bias_price(self.bias, bias)
    }

    /// Sum of D over a subset.
    pub(crate) fn price(&self, subset: &Subset) -> f64 {
        subset.iter().map(|j| self.penalty[j]).sum()
    }

    /// The memory of the program of these features.
    pub(crate) fn reserve(&self, features: &[usize], most: u64, memory: &Memory) -> Result<Reserved, Error> {
        let design = self.problem.design();
        let mut entries = (2 * self.cost.len() + 3 * features.len()) as u64;
        for &j in features {
            design.each_in_column(j, &mut |_, x| entries += 2 * u64::from(x != 0.0));
        }
        let what = format!("the mixed binary program of {} samples and {} features", self.cost.len(), features.len());
        program::reserve(memory, most, entries, || what, "select among fewer features")
    }

    /// (2.1)-(2.8) on these features; `y_j` of the others is 0. Named programs are for other
    /// readers, in the units of the data; others are in [`Model::units`].
    pub(crate) fn program(&self, features: &[usize], named: bool) -> Result<Program, Error> {
        let units = &if named { Units::none(self.bound.len()) } else { self.units.clone() };
        let (n, q, none) = (self.cost.len(), features.len(), f64::INFINITY);
        let labels = self.problem.labels();
        let mut program = Program::new()?;
        let binary = |&j: &usize| Column { cost: units.cost(self.penalty[j]), lower: 0.0, upper: 1.0, integer: true };
        program.add_columns(&features.iter().map(binary).collect::<Vec<_>>())?;
        let part = |&j: &usize| {
            let Interval { lower, upper } = self.interval(j);
            let cost = units.price(j, 1.0);
            [upper, -lower].map(|upper| Column { cost, lower: 0.0, upper: units.weight(j, upper), integer: false })
        };
        program.add_columns(&features.iter().flat_map(part).collect::<Vec<_>>())?;
        let (bias_cost, bias_lower) = match self.bias {
            Bias::Free => (0.0, -none),
            Bias::Penalised(s) => (units.cost(1.0 / s), 0.0),
            Bias::None => (0.0, 0.0),
        };
        let limit = if self.bias == Bias::None { 0.0 } else { none };
        let bias = program.add_column(Column { cost: bias_cost, lower: bias_lower, upper: limit, integer: false })?;
        let other = if bias_cost > 0.0 {
            Some(program.add_column(Column { cost: bias_cost, lower: 0.0, upper: none, integer: false })?)
        } else {
            None
        };
        let slack = |cost: &f64| Column { cost: units.cost(*cost), lower: 0.0, upper: none, integer: false };
        let slacks = program.add_columns(&self.cost.iter().map(slack).collect::<Vec<_>>())?;
        let column = |j: usize| features.binary_search(&j).ok();
        program::add_rules(&mut program, self.rules, column)?;
        let intercept = |i: usize| {
            let mut row = vec![(bias, labels[i]), (slacks + i, 1.0)];
            row.extend(other.map(|other| (other, -labels[i])));
            row
        };
        let mut samples: Vec<Vec<(usize, f64)>> = (0..n).map(intercept).collect();
        for (k, &j) in features.iter().enumerate() {
            // Values that HiGHS would drop are dropped here, knowingly.
            self.problem.design().each_in_column(j, &mut |i, x| {
                let x = units.value(j, x);
                if x.abs() > SMALLEST {
                    samples[i].extend([(q + 2 * k, labels[i] * x), (q + 2 * k + 1, -labels[i] * x)]);
                }
            });
        }
        let mut rows = Rows::default();
        for sample in &samples {
            rows.push(sample, 1.0, none);
        }
        for (k, &j) in features.iter().enumerate() {
            let u = Some(units.weight(j, self.bound[j])).filter(|u| *u > SMALLEST).unwrap_or(0.0);
            rows.push(&[(q + 2 * k, 1.0), (q + 2 * k + 1, 1.0), (k, -u)], -none, 0.0);
        }
        program.add_rows(&rows)?;
        if named {
            for (k, &j) in features.iter().enumerate() {
                program.name_column(k, &format!("y{}", j + 1))?;
                program.name_column(q + 2 * k, &format!("wp{}", j + 1))?;
                program.name_column(q + 2 * k + 1, &format!("wm{}", j + 1))?;
            }
            program.name_column(bias, "b")?;
            other.map_or(Ok(()), |other| program.name_column(other, "bm"))?;
            (0..n).try_for_each(|i| program.name_column(slacks + i, &format!("xi{}", i + 1)))?;
        }
        Ok(program)
    }

    /// Objective of the classifier of a point of the program of `features`, exact: its w on the
    /// subset, within its bounds, and its b.
    pub(crate) fn value(&self, features: &[usize], subset: &Subset, point: &[f64]) -> f64 {
        let q = features.len();
        let bias = match self.bias {
            Bias::Penalised(_) => point[3 * q] - point[3 * q + 1],
            Bias::Free | Bias::None => point[3 * q],
        };
        let mut scores = vec![bias; self.cost.len()];
        let mut norm = self.bias_price(bias);
        for (k, &j) in features.iter().enumerate().filter(|e| subset.contains(*e.1)) {
            let w = self.interval(j).weight(self.units.weight_of(j, point[q + 2 * k] - point[q + 2 * k + 1]));
            norm += w.abs();
            self.problem.design().add_column(j, w, &mut scores);
        }
        let labels = self.problem.labels();
        let loss: f64 = (0..scores.len()).map(|i| self.cost[i] * (1.0 - labels[i] * scores[i]).max(0.0)).sum();
        norm + loss + self.price(subset)
    }
}
