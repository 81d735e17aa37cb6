//! The alpha half for any kernel and number of classes: trains on shrinking subsets and says what
//! leaving out a feature changes.
//!
//! Everything comes from one n x n matrix of inner products or squared distances, updated feature
//! by feature (`kernel/products.rs`): the kernel matrix of a subset, of a subset without one more
//! feature, and the blocks of each pair of classes. Criteria, with `w` and `beta` of each pair of
//! classes and sums over the pairs:
//!
//! ```text
//! weights        w_j^2                                     linear kernel
//! margin         1/2 beta'K beta - 1/2 beta'K(-j) beta     any kernel
//! input weights  (sum_i beta_i x_ij)^2                     any kernel
//! ```
//!
//! K(-j) is the kernel matrix without feature j, beta and gamma as they are.
//!
//! beta stays feasible when a feature leaves, so with a fixed gamma the optimum rises by at least
//! the margin criterion: `v(z - e_j) >= v(z) + margin_j`. It may be negative where the kernel is
//! not linear.

use rayon::prelude::*;

use crate::dual::active_set::ActiveSet;
use crate::kernel::KernelRule;
use crate::kernel::gram::GramMatrix;
use crate::kernel::products::Products;
use crate::simd;
use crate::subset_oracle::by_criterion;
use crate::validation::{CrossValidation, CvScore, SamplesByClass};
use crate::{Clock, DualSolution, Error, Kernel, Rules, Status, Subset, SvmSettings};

/// Criterion of a ranking; the feature of the smallest leaves first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Squared weight; linear kernel only.
    Weights,
    /// How much `1/2 alpha'H alpha` falls when the feature is left out, alpha fixed (Guyon et al.
    /// 2002, section 7).
    Margin,
    /// Squared weight in input space, `sum_i beta_i x_ij` (Krupka 2016, section 2.6).
    InputWeights,
}

/// Features that come (1) or go (-1).
pub type Change = Vec<(usize, f64)>;

/// Trains on shrinking subsets of a problem's features.
pub struct KernelOracle<'a> {
    grouped: &'a SamplesByClass<'a>,
    rules: &'a Rules,
    kernel: KernelRule,
    settings: SvmSettings,
    subset: Subset,
    /// Made when they are first needed.
    products: Option<Products>,
    /// Number of features when `products` were last computed in full.
    fresh: usize,
    gram: Option<GramMatrix>,
    machines: Option<Vec<DualSolution>>,
    /// The start of the first training.
    start: Option<Vec<DualSolution>>,
    memory: Vec<ActiveSet>,
    scored: Option<CvScore>,
}

impl<'a> KernelOracle<'a> {
    /// Starts with the given features; nothing is trained yet.
    pub fn new(
        grouped: &'a SamplesByClass<'a>,
        rules: &'a Rules,
        subset: Subset,
        kernel: KernelRule,
        settings: &SvmSettings,
    ) -> Result<Self, Error> {
        settings.check()?;
        kernel.check()?;
        rules.without_weight_bounds()?;
        Ok(Self {
            grouped,
            rules,
            kernel,
            settings: settings.clone(),
            fresh: subset.len(),
            subset,
            products: None,
            gram: None,
            machines: None,
            start: None,
            memory: grouped.pairs().iter().map(|_| ActiveSet::default()).collect(),
            scored: None,
        })
    }

    /// The features trained on.
    pub fn subset(&self) -> &Subset {
        &self.subset
    }

    /// The last training, one machine for each pair of classes.
    pub fn machines(&self) -> Option<&[DualSolution]> {
        self.machines.as_deref()
    }

    /// The samples it trains on.
    pub(crate) fn grouped(&self) -> &'a SamplesByClass<'a> {
        self.grouped
    }

    /// The cost of the next training.
    pub fn cost(&self) -> f64 {
        self.settings.cost
    }

    /// Sets the cost of the next training.
    pub fn set_cost(&mut self, cost: f64) {
        self.settings.cost = cost;
    }

    /// Takes features out, all of a unit at once.
    pub fn remove(&mut self, leaving: &[usize]) {
        for &j in leaving {
            self.subset.remove(j);
        }
        self.gram = None;
        // In full once half the features are gone: it costs as much as that many updates and ends
        // their rounding errors.
        if 2 * self.subset.len() <= self.fresh || leaving.len() > self.subset.len() {
            self.products = None;
        }
        let Some(products) = &mut self.products else { return };
        for &j in leaving {
            products.change(&self.grouped.column(j), -1.0);
        }
    }

    /// Takes features out as a run did that had trained on the subset before: the products follow,
    /// so that sums are rounded as they were.
    pub(crate) fn remove_again(&mut self, leaving: &[usize]) {
        self.prepare(&Clock::unlimited()).expect("nothing stops it");
        self.remove(leaving);
    }

    /// Computes the products of the current subset, unless they are known.
    ///
    /// # Errors
    /// The limit that `clock` names before they are made.
    pub(crate) fn prepare(&mut self, clock: &Clock) -> Result<&Products, Status> {
        let products = if let Some(products) = self.products.take() {
            products
        } else {
            let features: Vec<usize> = self.subset.iter().collect();
            self.fresh = features.len();
            self.grouped.products(&features, self.kernel.kernel(), clock)?
        };
        Ok(self.products.insert(products))
    }

    /// The kernel, without its gamma.
    pub(crate) fn kernel(&self) -> &Kernel {
        self.kernel.kernel()
    }

    /// The kernel matrix of the current subset.
    fn gram(&mut self, clock: &Clock) -> Result<(), Status> {
        if self.gram.is_none() {
            let kernel = self.kernel.at(self.subset.len());
            self.gram = Some(self.prepare(clock)?.gram(&kernel, clock)?);
        }
        Ok(())
    }

    /// Trains on the current subset, from the last beta; the machines are all 0 where there was no
    /// time for a kernel matrix.
    pub fn train(&mut self, clock: &Clock) -> &[DualSolution] {
        if let Err(status) = self.gram(clock) {
            let dual = |pair: usize| self.grouped.dual(pair, &self.settings, |at| self.grouped.weights()[at]);
            let zero = (0..self.grouped.pairs().len()).map(|pair| DualSolution::zero(&dual(pair), 0, status));
            return self.machines.insert(zero.collect());
        }
        let gram = self.gram.as_ref().expect("just made");
        let start = self.machines.take().or_else(|| self.start.take());
        let machines = self.grouped.train(gram, &self.settings, start.as_deref(), &mut self.memory, clock);
        self.machines.insert(machines)
    }

    /// Cross-validates the current subset; the answer is where the next one starts from. Nothing
    /// when stopped.
    pub fn cross_validate(&mut self, validation: &CrossValidation<'_>, clock: &Clock) -> Option<&CvScore> {
        self.gram(clock).ok()?;
        let gram = self.gram.as_ref().expect("just made");
        let scored = validation.score(gram, self.scored.as_ref(), clock)?;
        Some(self.scored.insert(scored))
    }

    /// Cross-validates the current subset with each of these changes (features that come or go), in
    /// parallel. Nothing when stopped.
    pub fn cross_validate_changes(
        &self,
        changes: &[Change],
        validation: &CrossValidation<'_>,
        clock: &Clock,
    ) -> Option<Vec<CvScore>> {
        let products = self.products.as_ref().expect("prepared, or the subset was judged or trained on");
        let score = |changes: &Change| {
            let columns: Vec<(Vec<f64>, f64)> = changes.iter().map(|&(j, s)| (self.grouped.column(j), s)).collect();
            let columns: Vec<(&[f64], f64)> = columns.iter().map(|(x, s)| (x.as_slice(), *s)).collect();
            let more = changes.iter().filter(|c| c.1 > 0.0).count();
            let size = self.subset.len() + 2 * more - changes.len();
            let gram = products.changed(&columns, &self.kernel.at(size), clock).ok()?;
            validation.score(&gram, self.scored.as_ref(), clock)
        };
        changes.par_iter().map(score).collect()
    }

    /// Trains on the current subset from nothing: the answer depends on the subset and the cost
    /// alone.
    pub fn train_afresh(&mut self, clock: &Clock) -> &[DualSolution] {
        (self.machines, self.start) = (None, None);
        self.memory.iter_mut().for_each(|memory| *memory = ActiveSet::default());
        self.train(clock)
    }

    /// Starts the first training from these machines, one for each pair of classes, of an earlier
    /// run.
    pub(crate) fn start_training_from(&mut self, machines: Vec<DualSolution>) {
        self.start = Some(machines);
    }

    /// The last answer of [`KernelOracle::cross_validate`].
    pub(crate) fn scored(&self) -> Option<&CvScore> {
        self.scored.as_ref()
    }

    /// Takes over an answer of [`KernelOracle::cross_validate_changes`] as the start of the next
    /// ones.
    pub(crate) fn start_from(&mut self, scored: CvScore) {
        self.scored = Some(scored);
    }

    /// Surviving units, ascending.
    pub fn units(&self) -> Vec<usize> {
        (0..self.rules.n_units()).filter(|&u| self.subset.contains(self.rules.unit(u)[0])).collect()
    }

    /// Criterion of each surviving unit, smallest first, ties by falling index: (unit, criterion).
    /// Zero before a training. Nothing when the clock says stop before the margin criterion, which
    /// costs a pass over the kernel matrix for each unit, is known of all.
    pub fn ranking(&self, criterion: Criterion, clock: &Clock) -> Option<Vec<(usize, f64)>> {
        if criterion != Criterion::Margin {
            return Some(self.ranking_by_weights());
        }
        let units = self.units();
        let Some(machines) = &self.machines else { return Some(self.ranking_by_weights()) };
        let values = if self.kernel.is_linear() {
            units.par_iter().map(|u| 0.5 * self.squared_weights(machines, *u)).collect()
        } else {
            self.margins(machines, &units, clock)?
        };
        Some(sorted(units, values))
    }

    /// Ranking by the squared weights of the inputs, which cost a pass over the data.
    pub fn ranking_by_weights(&self) -> Vec<(usize, f64)> {
        let units = self.units();
        let values = match &self.machines {
            Some(machines) => units.par_iter().map(|u| self.squared_weights(machines, *u)).collect(),
            None => vec![0.0; units.len()],
        };
        sorted(units, values)
    }

    /// Sum over the unit's features and the pairs of classes of `(sum_i beta_i x_ij)^2`.
    fn squared_weights(&self, machines: &[DualSolution], unit: usize) -> f64 {
        let ranges = self.grouped.ranges();
        let of_feature = |&j: &usize| {
            let x = self.grouped.column(j);
            let weight = |(machine, &(a, b)): (&DualSolution, &(usize, usize))| {
                let (first, last) = machine.beta.split_at(ranges[a].len());
                (simd::dot(first, &x[ranges[a].clone()]) + simd::dot(last, &x[ranges[b].clone()])).powi(2)
            };
            machines.iter().zip(self.grouped.pairs()).map(weight).sum::<f64>()
        };
        self.rules.unit(unit).iter().map(of_feature).sum()
    }

    /// Margin criterion of each unit: `1/2 sum_ik B_ik (K_ik - K(-unit)_ik)`,
    /// `B = sum over pairs of beta beta'`, over the support vectors. Nothing when the clock says
    /// stop.
    fn margins(&self, machines: &[DualSolution], units: &[usize], clock: &Clock) -> Option<Vec<f64>> {
        let (n, ranges) = (self.grouped.order().len(), self.grouped.ranges());
        let full: Vec<Vec<f64>> = machines
            .iter()
            .zip(self.grouped.pairs())
            .map(|(machine, &(a, b))| {
                let (first, last) = machine.beta.split_at(ranges[a].len());
                let mut beta = vec![0.0; n];
                beta[ranges[a].clone()].copy_from_slice(first);
                beta[ranges[b].clone()].copy_from_slice(last);
                beta
            })
            .collect();
        let support: Vec<usize> = (0..n).filter(|&i| full.iter().any(|beta| beta[i] != 0.0)).collect();
        let s = support.len();
        let mut weights = vec![0.0; s * s];
        for beta in &full {
            let beta: Vec<f64> = support.iter().map(|&i| beta[i]).collect();
            for (row, &b) in weights.chunks_mut(s.max(1)).zip(&beta) {
                simd::axpy(b, &beta, row);
            }
        }
        let (products, kernel) = (self.products.as_ref()?.part(&support), self.kernel.at(self.subset.len()));
        let all = products.weighted_without(&[], &kernel, &weights);
        let margin = |u: &usize| {
            if clock.stop().is_some() {
                return None;
            }
            let of = |&j: &usize| {
                let x = self.grouped.column(j);
                support.iter().map(|&i| x[i]).collect::<Vec<f64>>()
            };
            let columns: Vec<Vec<f64>> = self.rules.unit(*u).iter().map(of).collect();
            let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            Some(0.5 * (all - products.weighted_without(&columns, &kernel, &weights)))
        };
        units.par_iter().map(margin).collect()
    }
}

/// (unit, criterion), smallest first, ties by falling unit.
fn sorted(units: Vec<usize>, values: Vec<f64>) -> Vec<(usize, f64)> {
    let mut ranking: Vec<(usize, f64)> = units.into_iter().zip(values).collect();
    ranking.sort_by(by_criterion);
    ranking
}
