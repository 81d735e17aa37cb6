//! The oracle of SVM-RFE for columns that are elsewhere: they are asked for two things in a round,
//! the products of the samples over the features that left (or that stay, where those are fewer),
//! and the weight of each feature at beta. The training itself is on the n x n matrix of the sums.
//! Of samples too many for that, machines of the squared hinge are trained on products with
//! vectors, one a step ([`crate::dual::conjugate`]).

use super::oracle::{Course, Question, Ranking, keep_best};
use super::pairs::Pair;
use super::permitted;
use crate::dual::active_set::ActiveSet;
use crate::dual::conjugate::{self, Trained};
use crate::dual::{BoxDual, DualSolution, kkt, smo};
use crate::kernel::gram::{GramMatrix, GramSource};
use crate::subset_oracle::by_criterion;
use crate::{Error, Loss, Oracle, Reserved, Rules, Run, Subset, SvmSettings};

/// Trains on the surviving features and ranks their units; the columns stay where they are.
pub(super) struct SourceOracle<'a> {
    source: &'a dyn GramSource,
    rules: &'a Rules,
    settings: &'a SvmSettings,
    pairs: Vec<Pair>,
    subset: Subset,
    /// The Gram matrix of `subset` and `gone`, and the number of features when it was last computed
    /// in full; none where n x n numbers are too many.
    gram: Option<(GramMatrix, usize)>,
    gone: Vec<usize>,
    /// The last training of each pair; none before there is one.
    machines: Vec<Trained>,
    /// Whether n x n products do not fit into memory.
    by_products: bool,
    /// Units and their criteria at that training, in no order.
    criteria: Vec<(usize, f64)>,
    /// The memory of the Gram matrix, of what is subtracted from it or the part of a pair, and of
    /// the inverse of the free samples.
    taken: Option<Reserved>,
}

impl<'a> SourceOracle<'a> {
    pub(super) fn new(
        source: &'a dyn GramSource,
        pairs: impl Iterator<Item = Pair>,
        rules: &'a Rules,
        settings: &'a SvmSettings,
    ) -> Self {
        Self {
            source,
            rules,
            settings,
            pairs: pairs.collect(),
            subset: permitted(rules),
            gram: None,
            gone: Vec::new(),
            machines: Vec::new(),
            by_products: false,
            criteria: Vec::new(),
            taken: None,
        }
    }

    /// Whether a copy of this many features takes little of the memory that trainings may take.
    fn fits(&self, features: usize) -> bool {
        self.source.bytes(features) <= self.settings.memory / 4
    }

    /// Most features that fit.
    pub(super) fn most_that_fit(&self) -> usize {
        // Of 0 .. p those that do come first.
        let (mut fit, mut above) = (0, self.subset.len() + 1);
        while above - fit > 1 {
            let middle = fit.midpoint(above);
            if self.fits(middle) {
                fit = middle;
            } else {
                above = middle;
            }
        }
        fit
    }

    /// beta of the last trainings.
    pub(super) fn into_betas(self) -> Vec<Vec<f64>> {
        self.machines.into_iter().map(|machine| machine.beta).collect()
    }

    fn remove(&mut self, leaving: &[usize]) {
        for &j in leaving {
            self.subset.remove(j);
        }
        if self.gram.is_some() {
            self.gone.extend(leaving);
        }
    }

    /// Takes the memory of the trainings: of those on n x n products, or, of the squared hinge where
    /// that is not there, of those by products with vectors.
    fn reserve(&mut self, run: &Run<'_>) -> Result<(), Error> {
        let n = self.source.n_samples();
        let what = || format!("training on the products of {n} samples whose columns are elsewhere");
        let remedy = "take the squared hinge, which needs no n x n numbers, select among fewer features first, \
                      which are then copied, or use fewer samples";
        let (most, bytes) = (8 * self.settings.memory, 3 * GramMatrix::bytes(n));
        let taken = run.memory().reserve_within(most, bytes, what, remedy);
        self.by_products = taken.is_err() && self.settings.loss == Loss::SquaredHinge;
        self.taken = Some(if self.by_products {
            run.memory().reserve(conjugate::bytes(n), what, "use fewer samples")?
        } else {
            taken?
        });
        Ok(())
    }

    /// The Gram matrix of the surviving features, in full once half of them are gone: that costs no
    /// more, and ends the rounding errors of the updates.
    fn update_gram(&mut self) -> Result<(), Error> {
        let mut gone = std::mem::take(&mut self.gone);
        gone.sort_unstable();
        self.gram = match self.gram.take() {
            Some((mut gram, fresh)) if gone.len() < self.subset.len() && 2 * self.subset.len() > fresh => {
                if !gone.is_empty() {
                    gram.subtract(&self.source.gram(&gone)?);
                }
                Some((gram, fresh))
            }
            _ => {
                let features: Vec<usize> = self.subset.iter().collect();
                Some((self.source.gram(&features)?, features.len()))
            }
        };
        Ok(())
    }

    /// Trains on the surviving features, until a limit is reached or, beyond it, for this share of
    /// what winding up may take, and ranks their units.
    fn train(&mut self, run: &mut Run<'_>, share: f64) -> Result<(), Error> {
        if self.taken.is_none() {
            self.reserve(run)?;
        }
        if !self.by_products {
            self.update_gram()?;
        }
        let mut squares = vec![0.0; self.source.n_features()];
        let mut machines = Vec::new();
        for (at, pair) in self.pairs.iter().enumerate() {
            let start = self.machines.get(at).map(|machine| machine.beta.as_slice());
            let machine = match &self.gram {
                Some((gram, _)) => self.by_gram(gram, pair, start, run, share),
                None => self.by_products(pair, start, run, share)?,
            };
            run.counts.solver_iterations += machine.iterations;
            let beta = pair.spread(&machine.beta, self.source.n_samples());
            squares.iter_mut().zip(self.source.scores(&beta)?).for_each(|(square, w)| *square += w * w);
            machines.push(machine);
        }
        self.machines = machines;
        self.rank(&squares);
        Ok(())
    }

    /// The machine of a pair, beta of its samples, by SMO.
    fn by_gram(&self, gram: &GramMatrix, pair: &Pair, start: Option<&[f64]>, run: &Run<'_>, share: f64) -> Trained {
        let part = (pair.samples.len() < gram.len()).then(|| gram.of_samples(&pair.samples));
        let mut rows = part.as_ref().unwrap_or(gram);
        let dual = BoxDual::new(&pair.labels, &pair.weights, self.settings);
        let clock = &run.late_clock(share);
        let found = smo::solve(&mut rows, &dual, start, &mut ActiveSet::default(), self.settings, clock);
        let DualSolution { beta, primal, absolute_gap, iterations, .. } = found;
        Trained { beta, primal, absolute_gap, iterations }
    }

    /// The training of a pair by products with vectors.
    fn by_products(&self, pair: &Pair, start: Option<&[f64]>, run: &Run<'_>, share: f64) -> Result<Trained, Error> {
        let features: Vec<usize> = self.subset.iter().collect();
        let n = self.source.n_samples();
        let mut product = |v: &[f64]| {
            let product = self.source.product(&features, &pair.spread(v, n))?;
            Ok(pair.samples.iter().map(|&i| product[i]).collect())
        };
        let dual = BoxDual::new(&pair.labels, &pair.weights, self.settings);
        let clock = &run.late_clock(share);
        conjugate::solve(&mut product, &dual, start, self.settings, clock)
    }

    /// Criteria of the units: sums of the squared weights of all pairs.
    fn rank(&mut self, squares: &[f64]) {
        let rules = self.rules;
        let survivors = (0..rules.n_units()).filter(|&u| self.subset.contains(rules.unit(u)[0]));
        let criterion = |u: usize| (u, rules.unit(u).iter().map(|&j| squares[j]).sum());
        self.criteria = survivors.map(criterion).collect();
    }

    /// The `count` units of smallest criterion, smallest first.
    fn smallest(&self, count: usize) -> Vec<(usize, f64)> {
        let mut found = self.criteria.clone();
        if count < found.len() {
            found.select_nth_unstable_by(count, by_criterion);
            found.truncate(count);
        }
        found.sort_unstable_by(by_criterion);
        found
    }
}

impl Oracle for SourceOracle<'_> {
    type Query = Question;
    type Answer = Ranking;

    fn ask(&mut self, question: &Question, run: &mut Run<'_>) -> Result<Ranking, Error> {
        let (mut dropped, mut count) = (Vec::new(), usize::MAX);
        match question {
            Question::Rank { leaving, count: wanted } => {
                self.remove(leaving);
                count = *wanted;
                if !leaving.is_empty() || self.machines.is_empty() {
                    self.train(run, 0.0)?;
                }
            }
            Question::KeepBest { leaving } => {
                self.remove(leaving);
                self.criteria.retain(|&(unit, _)| self.subset.contains(self.rules.unit(unit)[0]));
                if self.criteria.is_empty() {
                    self.train(run, 0.5)?;
                }
                dropped = keep_best(self.rules, &self.criteria, &self.subset, &run.wind_up(1.0));
                self.remove(&dropped.iter().map(|left| left.0).collect::<Vec<usize>>());
                self.train(run, 1.0)?;
            }
        }
        let squared_errors = self.machines.iter().map(|machine| kkt::weight_error(machine.absolute_gap).powi(2));
        Ok(Ranking {
            objective: self.machines.iter().map(|machine| machine.primal).sum(),
            smallest: self.smallest(count),
            error: Some(squared_errors.sum::<f64>().sqrt()),
            dropped,
            course: Course::default(),
        })
    }
}
