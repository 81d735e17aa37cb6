//! The alpha half: trains the linear SVM on a subset of features, keeping what makes the next,
//! smaller subset cheap.
//!
//! While features leave one by one, the Gram matrix is updated by `K -= x_j x_j'` (cost n^2) and
//! training starts from the last beta. Weights are evaluated lazily: between two trainings `|w_j|`
//! changes by at most `||x_j|| ||beta_new - beta_old||` (Cauchy-Schwarz), so a weight known once
//! bounds itself from below for many steps, and only the few features whose lower bound reaches the
//! smallest known weight are computed again. With p >> n a step costs O(n^2 + p), not O(n p).
//!
//! Where weights have signs ([`Rules::weight_bounds`]) a training takes the features of the right
//! sign, and starts from the last beta; where they have other bounds it starts from
//! nothing. Evaluation stays lazy, as a weight that is cut off at its bounds moves no further than
//! its score.
//!
//! With more samples than features `dual/shrinking` follows the features that leave; for the squared
//! hinge once that is so, for the hinge where it was so at the start.

use crate::bound::reserve;
use crate::bound::saddle::train_within;
use crate::bound::signed::train_signed;
use crate::dual::active_set::ActiveSet;
use crate::dual::shrinking::Shrinking;
use crate::dual::train::affords_gram;
use crate::dual::{BoxDual, DualSolution, linear, smo};
use crate::kernel::gram::GramMatrix;
use crate::simd;
use crate::{Clock, Design, Error, Loss, Memory, Problem, Reserved, RowMatrix, Rules, Status, Subset, SvmSettings};

/// Trains on shrinking subsets of a problem's features.
pub struct SubsetOracle<'a> {
    problem: &'a Problem<'a>,
    rules: &'a Rules,
    settings: SvmSettings,
    dual: BoxDual,
    subset: Subset,
    solution: Option<DualSolution>,
    /// The signed dual point where the first training starts.
    start: Option<Vec<f64>>,
    /// The Gram matrix of `subset`, and the number of features when it was last computed in full.
    gram: Option<(GramMatrix, usize)>,
    /// Features that left and that the Gram matrix still holds.
    gone: Vec<usize>,
    /// Whether trainings work on the Gram matrix.
    on_gram: bool,
    active_set: ActiveSet,
    /// The engine of the trainings from the second on, where it suits.
    shrinking: Option<Shrinking<'a>>,
    lazy: LazyWeights,
}

/// Lower bounds on the weights of the surviving units: `anchor - norm * travelled`, by position in
/// `units`.
struct LazyWeights {
    /// Surviving units, in no order, and where each one is (by unit).
    units: Vec<usize>,
    position: Vec<usize>,
    /// sqrt(criterion) when last computed, plus norm times the way beta had travelled by then.
    anchor: Vec<f64>,
    /// Frobenius norm of the unit's columns.
    norm: Vec<f64>,
    /// Sum of ||beta_new - beta_old|| over all trainings so far.
    travelled: f64,
    /// Units found small last time.
    recent: Vec<usize>,
}

/// Number of small units that are remembered from one ranking to the next.
const RECENT: usize = 64;

/// Passes over the values of the rows that one training on them takes, each as long as three
/// multiply-adds on entries of the Gram matrix; chosen by hand, `bench/rfe_shapes.py` shows what a
/// change costs.
const UPDATE_PASSES: f64 = 150.0;

/// Samples for each feature that leaves, at which updates of an s x s inverse cost as much as a new
/// inverse; found in the same way.
pub(crate) const UPDATES: f64 = 24.0;

impl LazyWeights {
    fn remove(&mut self, unit: usize) {
        let at = self.position[unit];
        self.units.swap_remove(at);
        self.anchor.swap_remove(at);
        self.norm.swap_remove(at);
        if let Some(&moved) = self.units.get(at) {
            self.position[moved] = at;
        }
        self.position[unit] = usize::MAX;
    }
}

impl<'a> SubsetOracle<'a> {
    /// Starts with the given features; nothing is trained yet.
    pub fn new(
        problem: &'a Problem<'a>,
        rules: &'a Rules,
        subset: Subset,
        settings: &SvmSettings,
    ) -> Result<Self, Error> {
        settings.check()?;
        let design = problem.design();
        let norm = |&u: &usize| rules.unit(u).iter().map(|&j| design.squared_norm(j)).sum::<f64>().sqrt();
        let units: Vec<usize> = (0..rules.n_units()).filter(|&u| subset.contains(rules.unit(u)[0])).collect();
        let mut position = vec![0; rules.n_units()];
        units.iter().enumerate().for_each(|(at, &u)| position[u] = at);
        let lazy = LazyWeights {
            position,
            anchor: vec![f64::NEG_INFINITY; units.len()],
            norm: units.iter().map(norm).collect(),
            units,
            travelled: 0.0,
            recent: Vec::new(),
        };
        let bounded = !rules.weight_bounds().is_free();
        let affords = affords_gram(design.n_samples(), subset.len(), settings);
        let on_gram = !bounded && affords && updates_pay(design, None);
        let dual = BoxDual::new(problem.labels(), problem.weights(), settings);
        Ok(Self {
            problem,
            rules,
            settings: settings.clone(),
            dual,
            subset,
            solution: None,
            start: None,
            gram: None,
            gone: Vec::new(),
            on_gram,
            active_set: ActiveSet::default(),
            shrinking: None,
            lazy,
        })
    }

    /// Takes the memory of the trainings on this many features.
    pub fn reserve(
        problem: &Problem<'_>,
        rules: &Rules,
        features: usize,
        settings: &SvmSettings,
        memory: &Memory,
    ) -> Result<Reserved, Error> {
        let (design, n) = (problem.design(), problem.n_samples());
        if !rules.weight_bounds().is_free() {
            return reserve(n, features, memory);
        }
        // With the Gram matrix there is the inverse on its free samples.
        let gram = if affords_gram(n, features, settings) { 2 * GramMatrix::bytes(n) } else { 0 };
        let rows = if gram == 0 || design.is_sparse() { RowMatrix::bytes(design, features) } else { 0 };
        let bytes = gram + rows;
        let what = || format!("training on {n} samples and {features} features");
        memory.reserve(bytes, what, "select among fewer features")
    }

    /// Starts the first training from this beta (length n), of an earlier run.
    pub(crate) fn start_from(&mut self, beta: Vec<f64>) {
        self.start = Some(beta);
    }

    /// Samples of the problem.
    pub(crate) fn n_samples(&self) -> usize {
        self.dual.len()
    }

    /// The features trained on.
    pub fn subset(&self) -> &Subset {
        &self.subset
    }

    /// The last training.
    pub fn solution(&self) -> Option<&DualSolution> {
        self.solution.as_ref()
    }

    /// Surviving units, in no particular order.
    pub fn units(&self) -> &[usize] {
        &self.lazy.units
    }

    /// Takes features out, all of a unit at once.
    pub fn remove(&mut self, leaving: &[usize]) {
        self.prepare_to_follow(leaving.len());
        for &j in leaving {
            self.subset.remove(j);
            let unit = self.rules.unit_of(j);
            if self.rules.unit(unit)[0] == j {
                self.lazy.remove(unit);
            }
        }
        let position = &self.lazy.position;
        self.lazy.recent.retain(|&u| position[u] != usize::MAX);
        if let Some(machine) = &mut self.shrinking {
            machine.remove(leaving);
        }
        // Computed in full once half the features are gone: it costs as much as that many updates
        // and ends their rounding errors.
        let is_old = |fresh: usize| 2 * self.subset.len() <= fresh || leaving.len() > self.subset.len();
        if self.gram.as_ref().is_some_and(|(_, fresh)| is_old(*fresh)) {
            self.forget_gram();
        }
        if self.gram.is_some() {
            self.gone.extend(leaving);
            self.follow_with_inverse(leaving);
        }
    }

    fn forget_gram(&mut self) {
        self.gram = None;
        self.gone.clear();
        self.active_set.forget();
    }

    /// The inverse on the free samples follows the features that leave, where that costs less than
    /// a new one.
    fn follow_with_inverse(&mut self, leaving: &[usize]) {
        let design = self.problem.design();
        if leaving.len() > 1 && leaving.len() as f64 * UPDATES > self.dual.len() as f64 {
            self.active_set.forget();
            return;
        }
        for &j in leaving {
            if let Some(x) = design.dense_column(j) {
                self.active_set.feature_left(x);
            } else {
                let mut x = vec![0.0; self.dual.len()];
                design.add_column(j, 1.0, &mut x);
                self.active_set.feature_left(&x);
            }
        }
    }

    /// Prepares the next training to follow `leaving` features that leave, where that is cheaper
    /// than a training from the last beta.
    fn prepare_to_follow(&mut self, leaving: usize) {
        let features = self.subset.len();
        if self.is_bounded() {
            return;
        }
        if self.problem.design().is_sparse() && self.shrinking.is_none() && leaving > 0 {
            self.choose_route(leaving);
        }
        if !Shrinking::follows(self.dual.loss, leaving, features) {
            self.shrinking = None;
            return;
        }
        let small = features <= self.dual.len();
        // The hinge stays on the Gram matrix: with 500 samples and 2,000 features it is the faster way
        // to the end.
        let hinge = self.dual.loss == Loss::Hinge;
        let waits = if self.on_gram { small && !hinge } else { hinge };
        if !waits || self.shrinking.is_some() || leaving == 0 {
            return;
        }
        let design = self.problem.design();
        let Some(solution) = self.solution.as_mut().filter(|s| !s.status.is_limit()) else { return };
        let memory = self.settings.memory;
        if Shrinking::may_suit(design, features, memory) {
            let features: Vec<usize> = self.subset.iter().collect();
            let rows = design.rows(&features);
            solution.weights = rows.combination(&solution.beta);
            self.shrinking = Shrinking::new(design, features, rows, &self.dual, solution, memory);
            if self.shrinking.is_some() {
                self.on_gram = false;
                self.forget_gram();
            }
        }
    }

    fn is_bounded(&self) -> bool {
        !self.rules.weight_bounds().is_free()
    }

    /// Chooses the Gram matrix or rows for a sparse design, by how many features leave.
    fn choose_route(&mut self, leaving: usize) {
        let design = self.problem.design();
        let affords = affords_gram(design.n_samples(), self.subset.len(), &self.settings);
        self.on_gram = affords && updates_pay(design, Some(leaving));
        if !self.on_gram {
            self.forget_gram();
        }
    }

    /// Trains on the current subset, from the last beta.
    pub fn train(&mut self, clock: &Clock) -> &DualSolution {
        let design = self.problem.design();
        let features = || self.subset.iter().collect::<Vec<usize>>();
        let start = self.solution.as_ref().map(|s| s.beta.clone()).or_else(|| self.start.take());
        let solution = if self.is_bounded() {
            let (problem, bounds) = (self.problem, self.rules.weight_bounds());
            let (features, settings) = (features(), &self.settings);
            let from = start.clone().unwrap_or_else(|| vec![0.0; self.dual.len()]);
            train_signed(design, &features, bounds, &self.dual, &from, settings, clock).unwrap_or_else(|| {
                let (of_samples, memory) = (problem.labelled(), Memory::unlimited());
                let found = train_within(design, &features, bounds, of_samples, settings, &memory, clock);
                found.expect("settings were checked, and memory is not limited")
            })
        } else if self.on_gram {
            let gone = std::mem::take(&mut self.gone);
            let known = match self.gram.take() {
                Some((mut gram, fresh)) => gram.remove_until(design, &gone, clock).map(|()| (gram, fresh)),
                None => GramMatrix::linear_until(design, &features(), clock).map(|gram| (gram, self.subset.len())),
            };
            match known {
                Ok(known) => {
                    let (gram, _) = self.gram.insert(known);
                    smo::solve(&mut &*gram, &self.dual, start.as_deref(), &mut self.active_set, &self.settings, clock)
                }
                Err(status) => {
                    self.active_set.forget();
                    DualSolution::zero(&self.dual, 0, status)
                }
            }
        } else {
            // Columns far from 0 may leave it no digit at all.
            let known = self.shrinking.as_mut().map(|machine| machine.train(&self.settings, clock));
            let known = known.filter(|solution| solution.primal.is_finite());
            match known {
                Some(solution) if solution.status != Status::Stalled || self.dual.loss == Loss::SquaredHinge => {
                    solution
                }
                other => {
                    self.shrinking = None;
                    let start = other.as_ref().map(|s| s.beta.as_slice()).or(start.as_deref());
                    let features = features();
                    let rows = design.rows(&features);
                    let solution = linear::solve_linear(&rows, &self.dual, start, None, &self.settings, clock);
                    if self.dual.loss == Loss::SquaredHinge && !solution.status.is_limit() {
                        let memory = self.settings.memory;
                        self.shrinking = Shrinking::new(design, features, rows, &self.dual, &solution, memory);
                    }
                    solution
                }
            }
        };
        let old = start.unwrap_or_else(|| vec![0.0; solution.beta.len()]);
        let way: f64 = solution.beta.iter().zip(&old).map(|(a, b)| (a - b) * (a - b)).sum();
        self.lazy.travelled += way.sqrt();
        self.solution.insert(solution)
    }

    /// Criterion of a unit: the sum of its squared weights.
    pub fn criterion(&self, unit: usize) -> f64 {
        let Some(solution) = &self.solution else { return 0.0 };
        let score = |j: usize| self.problem.design().dot_column(j, &solution.beta);
        let weight = |&j: &usize| self.rules.weight_bounds().of(j).weight(score(j));
        self.rules.unit(unit).iter().map(weight).map(|w| w * w).sum()
    }

    /// The `count` surviving units of smallest criterion, smallest first, ties by falling index.
    pub fn smallest(&mut self, count: usize) -> Vec<(usize, f64)> {
        let all = self.lazy.units.len();
        let count = count.min(all);
        let mut found: Vec<(usize, f64)>;
        if let Some(machine) = &self.shrinking {
            let mut criteria = vec![0.0; self.rules.n_units()];
            for (j, w) in machine.weights() {
                criteria[self.rules.unit_of(j)] += w * w;
            }
            found = self.lazy.units.iter().map(|&u| (u, criteria[u])).collect();
        } else if self.lazy.recent.len() < count || 4 * count >= all {
            found = (0..all).map(|at| self.criterion_at(at)).collect();
        } else {
            let recent = std::mem::take(&mut self.lazy.recent);
            found = recent.into_iter().map(|u| self.criterion_at(self.lazy.position[u])).collect();
            found.sort_unstable_by(by_criterion);
            // No unit whose bound lies above the count-th smallest of these can be among the
            // smallest; a little slack keeps rounding from hiding a tie.
            let limit = found[count - 1].1.sqrt() * (1.0 + 1e-9);
            let lazy = &self.lazy;
            let mut known: Vec<usize> = found.iter().map(|f| lazy.position[f.0]).collect();
            known.sort_unstable();
            let mut candidates = Vec::new();
            simd::at_most(&lazy.anchor, &lazy.norm, lazy.travelled, limit, &mut candidates);
            candidates.retain(|at| known.binary_search(at).is_err());
            found.extend(candidates.into_iter().map(|at| self.criterion_at(at)));
        }
        found.sort_unstable_by(by_criterion);
        self.lazy.recent = found.iter().take(RECENT.max(2 * count)).map(|f| f.0).collect();
        found.truncate(count);
        found
    }

    /// The unit at position `at` and its criterion, from which its lower bound starts again.
    fn criterion_at(&mut self, at: usize) -> (usize, f64) {
        let unit = self.lazy.units[at];
        let criterion = self.criterion(unit);
        self.lazy.anchor[at] = criterion.sqrt() + self.lazy.norm[at] * self.lazy.travelled;
        (unit, criterion)
    }
}

/// Whether it pays to update the Gram matrix while `leaving` features leave at each step; before
/// the first one leaves, whether it pays to make it. An update is one of its inverse, too; of a
/// sparse design, trainings on rows cost less where these hold few values.
pub(crate) fn updates_pay(design: &dyn Design, leaving: Option<usize>) -> bool {
    let square = (design.n_samples() as f64).powi(2);
    let passes = leaving.map_or(1.0, |leaving| UPDATE_PASSES / (1.0 + 2.0 * leaving as f64));
    !design.is_sparse() || square <= passes * design.stored() as f64
}

/// Orders (unit, criterion) by criterion, then by falling unit.
pub(crate) fn by_criterion(a: &(usize, f64), b: &(usize, f64)) -> std::cmp::Ordering {
    a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))
}
