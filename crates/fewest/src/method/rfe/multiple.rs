//! Multiple SVM-RFE: ranks units by what machines trained on resamples of the samples agree on.
//!
//! Paper    Duan, Rajapakse, Wang, Azuaje, IEEE Trans. NanoBioscience 4 (2005), 228-234, section III.
//! Given    [`Samples`], the surviving features, [`Resamples`].
//! Returns  the criterion of each unit, `c_j = mean_r v_rj / sd_r v_rj`.
//! Steps    1. the k resamples of this step  2. train a linear machine on each, `w_r`
//!          3. `v_rj = w_rj^2 / |w_r|^2`  4. mean and deviation over the resamples
//! Cost     per step: n^2 to take a feature out of the one Gram matrix of all machines, k
//!          warm-started trainings on it (a resample is a weight of each sample), and one pass over
//!          the columns of the survivors for the weights of all machines. With many samples
//!          trainings are on rows.
//! Differs  a machine for each pair of classes, `v_rj` summed over pairs before it is divided; of
//!          features that rules join, the sum. Machines of a pair leave other classes out by weight
//!          0. A deviation of 0 makes c infinite, or 0 where the mean is 0.

use rayon::prelude::*;

use super::permitted;
use super::resamples::Resamples;
use crate::design::Joint;
use crate::dual::active_set::ActiveSet;
use crate::dual::train::affords_gram;
use crate::dual::{BoxDual, DualSolution, linear, smo};
use crate::kernel::gram::GramMatrix;
use crate::problem::class_pairs;
use crate::run::state::stranger;
use crate::simd::{COLUMNS, MACHINES, scores_of_columns};
use crate::subset_oracle::{by_criterion, updates_pay};
use crate::{Clock, Design, Error, Memory, Reserved, RowMatrix, Rules, Samples, SvmSettings};

/// Features that one thread looks at, one after the other.
const CHUNK: usize = 64 * COLUMNS;

/// Samples for each feature that leaves, from which on inverses follow features: they are made
/// afresh where more leave. As in [`crate::subset_oracle`].
const UPDATES: usize = 24;

/// The machines of all resamples and pairs of classes, on shrinking subsets.
pub(super) struct ResampledMachines<'a> {
    samples: &'a Samples<'a>,
    rules: &'a Rules,
    svm: SvmSettings,
    resamples: Resamples,
    pairs: Vec<Pair>,
    /// Those of a pair lie together, in the order of the resamples.
    machines: Vec<Machine>,
    trained: bool,
    /// The survivors, and where each one is there (by feature).
    features: Vec<usize>,
    place: Vec<usize>,
    /// Squared weights, summed over pairs: survivors x resamples, in rows of `width`.
    squares: Vec<f64>,
    width: usize,
    on: On,
    _taken: Reserved,
}

/// A pair of classes: the label of each sample, and whether it is of either class.
struct Pair {
    labels: Vec<f64>,
    takes_part: Vec<bool>,
}

/// The machine of a resample and a pair.
struct Machine {
    beta: Vec<f64>,
    active_set: ActiveSet,
}

/// What trainings work on.
enum On {
    Gram(SharedGram),
    Rows,
}

/// The Gram matrix of the survivors, and a copy of their columns where these are dense.
#[derive(Default)]
struct SharedGram {
    /// Nothing until it is made afresh.
    matrix: Option<GramMatrix>,
    /// Features when it was last made.
    fresh: usize,
    /// Features that left and that it still holds.
    gone: Vec<usize>,
    columns: Vec<f64>,
    /// Where the column of a feature is among `columns`.
    slot: Vec<usize>,
}

impl<'a> ResampledMachines<'a> {
    /// Starts with the features that the rules permit; nothing is trained yet.
    ///
    /// # Errors
    /// Samples that cannot be resampled in this way, more memory needed than allowed.
    pub(super) fn new(
        samples: &'a Samples<'a>,
        rules: &'a Rules,
        svm: &SvmSettings,
        resamples: &Resamples,
        memory: &Memory,
    ) -> Result<Self, Error> {
        resamples.check_samples(samples)?;
        let (design, n) = (samples.design(), samples.n_samples());
        let features: Vec<usize> = permitted(rules).iter().collect();
        let mut place = vec![usize::MAX; rules.p()];
        features.iter().enumerate().for_each(|(at, &j)| place[j] = at);
        let pair = |(a, b)| Pair {
            labels: samples.classes().iter().map(|&class| if class == b { 1.0 } else { -1.0 }).collect(),
            takes_part: samples.classes().iter().map(|&class| class == a || class == b).collect(),
        };
        let pairs: Vec<Pair> = class_pairs(samples.n_classes()).into_iter().map(pair).collect();
        let machine = || Machine { beta: vec![0.0; n], active_set: ActiveSet::default() };
        let machines: Vec<Machine> = (0..pairs.len() * resamples.count).map(|_| machine()).collect();
        // Each machine has an inverse on its free samples.
        let of_gram = GramMatrix::bytes(n).saturating_mul(1 + machines.len() as u64);
        let on_gram = affords_gram(n, features.len(), svm) && of_gram <= svm.memory && updates_pay(design, None);
        let width = resamples.count.next_multiple_of(MACHINES);
        let of_data = match (on_gram, design.is_sparse()) {
            (true, false) => of_gram + 8 * (n * features.len()) as u64,
            (true, true) => of_gram,
            (false, _) => RowMatrix::bytes(design, features.len()),
        };
        let bytes = of_data + 8 * (width * features.len()) as u64;
        let what = || format!("training {} machines on {n} samples and {} features", machines.len(), features.len());
        let taken = memory.reserve(bytes, what, "use fewer resamples, or select among fewer features")?;
        let on = if on_gram { On::Gram(SharedGram::default()) } else { On::Rows };
        Ok(Self {
            samples,
            rules,
            svm: svm.clone(),
            resamples: resamples.clone(),
            pairs,
            machines,
            trained: false,
            features,
            place,
            squares: Vec::new(),
            width,
            on,
            _taken: taken,
        })
    }

    /// Whether there is a training.
    pub(super) fn is_trained(&self) -> bool {
        self.trained
    }

    /// Whether the last training gave any feature a weight.
    pub(super) fn tells_apart(&self) -> bool {
        self.trained && self.squares.iter().any(|square| *square > 0.0)
    }

    /// Where the next training starts, by machine.
    pub(super) fn betas(&self) -> Vec<Vec<f64>> {
        self.machines.iter().map(|machine| machine.beta.clone()).collect()
    }

    /// Starts the next training from these, of an earlier run.
    ///
    /// # Errors
    /// Betas of other samples, classes or resamples.
    pub(super) fn start_from(&mut self, betas: Vec<Vec<f64>>) -> Result<(), Error> {
        let n = self.samples.n_samples();
        if betas.len() != self.machines.len() || betas.iter().any(|beta| beta.len() != n) {
            return Err(stranger("it has other samples, classes or resamples"));
        }
        self.machines.iter_mut().zip(betas).for_each(|(machine, beta)| machine.beta = beta);
        Ok(())
    }

    /// Takes features out, all of a unit at once.
    pub(super) fn remove(&mut self, leaving: &[usize]) {
        for &j in leaving {
            let (at, last) = (self.place[j], self.features.len() - 1);
            if !self.squares.is_empty() {
                self.squares.copy_within(last * self.width..(last + 1) * self.width, at * self.width);
                self.squares.truncate(last * self.width);
            }
            self.features.swap_remove(at);
            if let Some(&moved) = self.features.get(at) {
                self.place[moved] = at;
            }
            self.place[j] = usize::MAX;
        }
        let On::Gram(shared) = &mut self.on else { return };
        if shared.matrix.is_none() {
            return;
        }
        let (design, n, left) = (self.samples.design(), self.samples.n_samples(), self.features.len());
        // Afresh once half the features are gone: it costs as much as that many updates and ends
        // their rounding errors.
        let is_old = 2 * left <= shared.fresh || leaving.len() > left;
        if is_old {
            shared.matrix = None;
        } else {
            shared.gone.extend(leaving);
        }
        if is_old || (leaving.len() > 1 && leaving.len() * UPDATES > n) {
            self.machines.iter_mut().for_each(|machine| machine.active_set.forget());
            return;
        }
        let mut x = vec![0.0; n];
        for &j in leaving {
            x.fill(0.0);
            design.add_column(j, 1.0, &mut x);
            self.machines.iter_mut().for_each(|machine| machine.active_set.feature_left(&x));
        }
    }

    /// Steps 1 and 2: trains every machine on the survivors, from its last beta, and looks at the
    /// weights. Returns the iterations; a training that a limit cut short is one, too.
    pub(super) fn train(&mut self, step: u64, clock: &Clock) -> u64 {
        let design = self.samples.design();
        if let On::Gram(shared) = &mut self.on
            && !shared.prepare(design, &self.features, clock)
        {
            return 0;
        }
        let rows = matches!(self.on, On::Rows).then(|| design.rows(&self.features));
        let weights = self.resamples.weights(self.samples, step);
        let (svm, pairs, on) = (&self.svm, &self.pairs, &self.on);
        let train = |(at, machine): (usize, &mut Machine)| {
            let (pair, weights) = (&pairs[at / weights.len()], &weights[at % weights.len()]);
            let dual = pair.dual(weights, svm);
            let start = Some(machine.beta.as_slice());
            let solution = match (on, &rows) {
                (On::Gram(SharedGram { matrix: Some(gram), .. }), _) => {
                    smo::solve(&mut &*gram, &dual, start, &mut machine.active_set, svm, clock)
                }
                (_, Some(rows)) => linear::solve_linear(rows, &dual, start, None, svm, clock),
                (On::Gram(_), None) | (On::Rows, None) => unreachable!("one of both was made above"),
            };
            machine.beta.clone_from(&solution.beta);
            solution
        };
        let solutions: Vec<DualSolution> = self.machines.par_iter_mut().enumerate().map(train).collect();
        self.trained = true;
        self.squares.clear();
        self.squares.resize(self.features.len() * self.width, 0.0);
        match &self.on {
            On::Gram(_) if design.is_sparse() => self.look_at_sparse(design),
            On::Gram(_) => self.look_at_columns(),
            On::Rows => self.take_weights(&solutions),
        }
        solutions.iter().map(|solution| solution.iterations).sum()
    }

    /// Squared weights of machines that made them themselves.
    fn take_weights(&mut self, solutions: &[DualSolution]) {
        for (at, solution) in solutions.iter().enumerate() {
            let of_resample = self.squares.iter_mut().skip(at % self.resamples.count).step_by(self.width);
            of_resample.zip(&solution.weights).for_each(|(square, w)| *square += w * w);
        }
    }

    /// Squared weights of all machines, in one pass over the columns.
    fn look_at_columns(&mut self) {
        let On::Gram(shared) = &self.on else { return };
        let (n, width) = (self.samples.n_samples(), self.width);
        // Of each pair, and of so many resamples: their betas side by side, by sample.
        let count = self.resamples.count;
        let mut blocks = vec![vec![[0.0; MACHINES]; n]; self.pairs.len() * width / MACHINES];
        for (at, machine) in self.machines.iter().enumerate() {
            let (pair, resample) = (at / count, at % count);
            let block = &mut blocks[pair * width / MACHINES + resample / MACHINES];
            block.iter_mut().zip(&machine.beta).for_each(|(beta, b)| beta[resample % MACHINES] = *b);
        }
        let look = |(squares, features): (&mut [f64], &[usize])| {
            for (squares, features) in squares.chunks_mut(COLUMNS * width).zip(features.chunks(COLUMNS)) {
                // The last one stands in where there are fewer.
                let columns = std::array::from_fn(|c| shared.column(features[c.min(features.len() - 1)], n));
                for (at, block) in blocks.iter().enumerate() {
                    let first = at % (width / MACHINES) * MACHINES;
                    let scores = scores_of_columns(columns, block);
                    for (squares, scores) in squares.chunks_mut(width).zip(&scores) {
                        for (square, w) in squares[first..first + MACHINES].iter_mut().zip(scores) {
                            *square += w * w;
                        }
                    }
                }
            }
        };
        self.squares.par_chunks_mut(CHUNK * width).zip(self.features.par_chunks(CHUNK)).for_each(look);
    }

    /// The same of sparse columns.
    fn look_at_sparse(&mut self, design: &dyn Design) {
        let (n, count, width) = (self.samples.n_samples(), self.resamples.count, self.width);
        let mut joint = Joint::new(vec![0; n], 1, self.machines.len());
        for (at, machine) in self.machines.iter().enumerate() {
            machine.beta.iter().enumerate().for_each(|(i, b)| joint.set(i, at, *b));
        }
        let (joint, machines) = (&joint, self.machines.len());
        let look = |(squares, features): (&mut [f64], &[usize])| {
            let mut sums = joint.sums();
            for (squares, &j) in squares.chunks_mut(width).zip(features) {
                joint.column(design, j, &mut sums);
                (0..machines).for_each(|at| squares[at % count] += joint.of(&sums, 0, at).powi(2));
            }
        };
        self.squares.par_chunks_mut(CHUNK * width).zip(self.features.par_chunks(CHUNK)).for_each(look);
    }

    /// Steps 3 and 4: the `count` surviving units of smallest criterion, smallest first, ties by
    /// falling index.
    pub(super) fn smallest(&self, count: usize) -> Vec<(usize, f64)> {
        let resamples = self.resamples.count;
        let mut totals = vec![0.0; resamples];
        for squares in self.squares.chunks(self.width) {
            totals.iter_mut().zip(squares).for_each(|(total, square)| *total += square);
        }
        let mut found: Vec<(usize, f64)> = if self.rules.n_units() == self.rules.p() {
            let of_feature = self.features.iter().zip(self.squares.chunks(self.width));
            of_feature.map(|(&j, squares)| (self.rules.unit_of(j), agreement(squares, &totals))).collect()
        } else {
            let heads = self.features.iter().map(|&j| self.rules.unit_of(j)).filter(|&u| {
                let first = self.rules.unit(u)[0];
                self.place[first] != usize::MAX
            });
            let mut units: Vec<usize> = heads.collect();
            units.sort_unstable();
            units.dedup();
            let of_unit = |&u: &usize| {
                let mut sums = vec![0.0; resamples];
                for &j in self.rules.unit(u) {
                    let squares = &self.squares[self.place[j] * self.width..];
                    sums.iter_mut().zip(squares).for_each(|(sum, square)| *sum += square);
                }
                (u, agreement(&sums, &totals))
            };
            units.iter().map(of_unit).collect()
        };
        if count < found.len() {
            found.select_nth_unstable_by(count, by_criterion);
            found.truncate(count);
        }
        found.sort_unstable_by(by_criterion);
        found
    }
}

impl Pair {
    /// The dual of samples of these weights.
    fn dual(&self, weights: &[f64], svm: &SvmSettings) -> BoxDual {
        let own: Vec<f64> =
            weights.iter().zip(&self.takes_part).map(|(&w, &takes)| if takes { w } else { 0.0 }).collect();
        BoxDual::new(&self.labels, &own, svm)
    }
}

impl SharedGram {
    /// Makes it that of the survivors; false where the clock said stop before.
    fn prepare(&mut self, design: &dyn Design, features: &[usize], clock: &Clock) -> bool {
        let gone = std::mem::take(&mut self.gone);
        let made = match self.matrix.take() {
            Some(mut gram) => gram.remove_until(design, &gone, clock).map(|()| gram),
            None => {
                self.fresh = features.len();
                self.copy_columns(design, features);
                GramMatrix::linear_until(design, features, clock)
            }
        };
        self.matrix = made.ok();
        self.matrix.is_some()
    }

    fn copy_columns(&mut self, design: &dyn Design, features: &[usize]) {
        if design.is_sparse() {
            return;
        }
        let n = design.n_samples();
        self.columns.clear();
        self.columns.resize(n * features.len(), 0.0);
        self.slot.resize(design.n_features(), 0);
        for (at, (column, &j)) in self.columns.chunks_mut(n.max(1)).zip(features).enumerate() {
            design.add_column(j, 1.0, column);
            self.slot[j] = at;
        }
    }

    fn column(&self, j: usize, n: usize) -> &[f64] {
        &self.columns[self.slot[j] * n..][..n]
    }
}

/// Mean by standard deviation of the shares that a unit has of all squared weights, over the
/// resamples: of each its squared weight and the sum of all.
fn agreement(squares: &[f64], totals: &[f64]) -> f64 {
    let shares = || squares.iter().zip(totals).map(|(square, total)| if *total > 0.0 { square / total } else { 0.0 });
    let count = totals.len() as f64;
    let mean = shares().sum::<f64>() / count;
    let variance = shares().map(|share| (share - mean).powi(2)).sum::<f64>() / (count - 1.0);
    match (variance > 0.0, mean > 0.0) {
        (true, _) => mean / variance.sqrt(),
        (false, true) => f64::INFINITY,
        (false, false) => 0.0,
    }
}
