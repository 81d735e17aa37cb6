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
use crate::simd::{PANEL, VECTORS, agreements, panel_scores};
use crate::subset_oracle::{UPDATES, by_criterion, updates_pay};
use crate::{Clock, Design, Error, Loss, Memory, Reserved, RowMatrix, Rules, Samples, SvmSettings};

/// Panels that one thread evaluates, one after the other.
const CHUNK: usize = 32;

/// The machines of all resamples and pairs of classes, on shrinking subsets.
pub(super) struct ResampledMachines<'a> {
    samples: &'a Samples<'a>,
    rules: &'a Rules,
    svm: SvmSettings,
    resamples: Resamples,
    pairs: Vec<Pair>,
    /// Machines pair by pair, in the order of the resamples.
    machines: Vec<Machine>,
    trained: bool,
    /// The survivors, and where each one is there (by feature).
    features: Vec<usize>,
    place: Vec<usize>,
    /// Squared weights, summed over pairs, of each panel of survivors by resample; none before there
    /// is a training.
    squares: Vec<[f64; PANEL]>,
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

/// The data that trainings work on.
enum On {
    Gram(SharedGram),
    Rows,
}

/// The Gram matrix of the survivors, and a copy of their columns, in panels, where these are dense.
#[derive(Default)]
struct SharedGram {
    /// The Gram matrix; none until it is computed in full.
    matrix: Option<GramMatrix>,
    /// Features when it was last made.
    fresh: usize,
    /// Features that left and that it still holds.
    gone: Vec<usize>,
    panels: Vec<[f64; PANEL]>,
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
        let of_data = match (on_gram, design.is_sparse()) {
            (true, false) => of_gram + 8 * (n * features.len()) as u64,
            (true, true) => of_gram,
            (false, _) => RowMatrix::bytes(design, features.len()),
        };
        let bytes = of_data + 8 * (resamples.count * features.len()) as u64;
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
        self.trained && self.squares.as_flattened().iter().any(|square| *square > 0.0)
    }

    /// The start of the next training, by machine.
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
        let (n, count) = (self.samples.n_samples(), self.resamples.count);
        for &j in leaving {
            // The last one takes its place.
            let (at, last) = (self.place[j], self.features.len() - 1);
            take_place(&mut self.squares, count, last, at);
            if let On::Gram(shared) = &mut self.on {
                take_place(&mut shared.panels, n, last, at);
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
        let (design, left) = (self.samples.design(), self.features.len());
        // Computed in full once half the features are gone: it costs as much as that many updates
        // and ends their rounding errors.
        let is_old = 2 * left <= shared.fresh || leaving.len() > left;
        if is_old {
            shared.matrix = None;
        } else {
            shared.gone.extend(leaving);
        }
        if is_old || (leaving.len() > 1 && leaving.len() as f64 * UPDATES > n as f64) {
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

    /// Steps 1 and 2: trains every machine on the survivors, from its last beta, and computes
    /// the weights. Returns the iterations; a training that a limit cut short is one, too.
    pub(super) fn train(&mut self, step: u64, clock: &Clock) -> u64 {
        let design = self.samples.design();
        if let On::Gram(shared) = &mut self.on
            && !shared.prepare(design, &self.features, clock)
        {
            return 0;
        }
        let rows = matches!(self.on, On::Rows).then(|| design.rows(&self.features));
        let weights = self.resamples.weights(self.samples, step);
        let (svm, pairs, on, is_fixed) = (&self.svm, &self.pairs, &self.on, self.resamples.is_fixed());
        let train = |(at, machine): (usize, &mut Machine)| {
            let (pair, weights) = (&pairs[at / weights.len()], &weights[at % weights.len()]);
            let dual = pair.dual(weights, svm);
            if svm.loss == Loss::SquaredHinge && !is_fixed {
                // The weights are in the matrix that the inverse is of.
                machine.active_set.forget();
            }
            let start = Some(machine.beta.as_slice());
            let solution = match (on, &rows) {
                (On::Gram(SharedGram { matrix: Some(gram), .. }), _) => {
                    smo::solve(&mut &*gram, &dual, start, &mut machine.active_set, svm, clock)
                }
                (_, Some(rows)) => linear::solve_linear(rows, &dual, start, None, svm, clock),
                (On::Gram(_) | On::Rows, None) => unreachable!("one of both was made above"),
            };
            machine.beta.clone_from(&solution.beta);
            solution
        };
        let solutions: Vec<DualSolution> = self.machines.par_iter_mut().enumerate().map(train).collect();
        self.trained = true;
        self.squares.clear();
        self.squares.resize(self.features.len().div_ceil(PANEL) * self.resamples.count, [0.0; PANEL]);
        match &self.on {
            On::Gram(_) if design.is_sparse() => self.square_sparse(design),
            On::Gram(_) => self.square_panels(),
            On::Rows => self.take_weights(&solutions),
        }
        solutions.iter().map(|solution| solution.iterations).sum()
    }

    /// Squared weights of machines that made them themselves.
    fn take_weights(&mut self, solutions: &[DualSolution]) {
        let count = self.resamples.count;
        for (at, solution) in solutions.iter().enumerate() {
            for (panel, weights) in solution.weights.chunks(PANEL).enumerate() {
                let squares = &mut self.squares[panel * count + at % count];
                squares.iter_mut().zip(weights).for_each(|(square, w)| *square += w * w);
            }
        }
    }

    /// Squared weights of all machines, in one pass over the columns.
    fn square_panels(&mut self) {
        let On::Gram(shared) = &self.on else { return };
        let (n, count) = (self.samples.n_samples(), self.resamples.count);
        // The betas of the machines side by side, by sample.
        let beside = |machines: &[Machine]| {
            let beta = |i: usize| std::array::from_fn(|m| machines.get(m).map_or(0.0, |machine| machine.beta[i]));
            (0..n).map(beta).collect::<Vec<[f64; VECTORS]>>()
        };
        let blocks: Vec<Vec<[f64; VECTORS]>> = self.machines.chunks(VECTORS).map(beside).collect();
        let square = |(squares, panels): (&mut [[f64; PANEL]], &[[f64; PANEL]])| {
            for (squares, panel) in squares.chunks_mut(count).zip(panels.chunks(n)) {
                for (at, scores) in blocks.iter().map(|block| panel_scores(panel, block)).enumerate() {
                    let of_block = (at * VECTORS..self.machines.len()).zip(&scores);
                    for (machine, scores) in of_block {
                        let squares = &mut squares[machine % count];
                        squares.iter_mut().zip(scores).for_each(|(square, w)| *square += w * w);
                    }
                }
            }
        };
        self.squares.par_chunks_mut(CHUNK * count).zip(shared.panels.par_chunks(CHUNK * n)).for_each(square);
    }

    /// Squared weights of all machines, in one pass over sparse columns.
    fn square_sparse(&mut self, design: &dyn Design) {
        let (n, count, machines) = (self.samples.n_samples(), self.resamples.count, self.machines.len());
        let mut joint = Joint::new(vec![0; n], 1, machines);
        for (at, machine) in self.machines.iter().enumerate() {
            machine.beta.iter().enumerate().for_each(|(i, b)| joint.set(i, at, *b));
        }
        let joint = &joint;
        let square = |(squares, features): (&mut [[f64; PANEL]], &[usize])| {
            let mut sums = joint.sums();
            for (at, &j) in features.iter().enumerate() {
                joint.column(design, j, &mut sums);
                let of_panel = &mut squares[at / PANEL * count..][..count];
                (0..machines).for_each(|m| of_panel[m % count][at % PANEL] += joint.of(&sums, 0, m).powi(2));
            }
        };
        let features = self.features.par_chunks(CHUNK * PANEL);
        self.squares.par_chunks_mut(CHUNK * count).zip(features).for_each(square);
    }

    /// Steps 3 and 4: the `count` surviving units of smallest criterion, smallest first, ties by
    /// falling index.
    pub(super) fn smallest(&self, count: usize) -> Vec<(usize, f64)> {
        let resamples = self.resamples.count;
        let mut totals = vec![0.0; resamples];
        for squares in self.squares.chunks(resamples) {
            totals.iter_mut().zip(squares).for_each(|(total, squares)| *total += squares.iter().sum::<f64>());
        }
        let mut found: Vec<(usize, f64)> = if self.rules.n_units() == self.rules.p() {
            // Before there is a training all are alike.
            let criteria = self.squares.chunks(resamples).flat_map(|squares| agreements(squares, &totals));
            let criteria = criteria.chain(std::iter::repeat(0.0));
            self.features.iter().map(|&j| self.rules.unit_of(j)).zip(criteria).collect()
        } else {
            let mut units: Vec<usize> = self.features.iter().map(|&j| self.rules.unit_of(j)).collect();
            units.sort_unstable();
            units.dedup();
            units.iter().map(|&u| (u, self.agreement_on(self.rules.unit(u), &totals))).collect()
        };
        if count < found.len() {
            found.select_nth_unstable_by(count, by_criterion);
            found.truncate(count);
        }
        found.sort_unstable_by(by_criterion);
        found
    }

    /// The criterion of a unit of these features.
    fn agreement_on(&self, unit: &[usize], totals: &[f64]) -> f64 {
        if self.squares.is_empty() {
            return 0.0;
        }
        let mut sums = vec![[0.0; PANEL]; totals.len()];
        for at in unit.iter().map(|&j| self.place[j]) {
            let of_panel = &self.squares[at / PANEL * totals.len()..];
            sums.iter_mut().zip(of_panel).for_each(|(sum, squares)| sum[0] += squares[at % PANEL]);
        }
        agreements(&sums, totals)[0]
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
        let made = if let Some(mut gram) = self.matrix.take() {
            gram.remove_until(design, &gone, clock).map(|()| gram)
        } else {
            self.fresh = features.len();
            if self.panels.is_empty() && !design.is_sparse() {
                self.panels = panels_of(design, features);
            }
            GramMatrix::linear_until(design, features, clock)
        };
        self.matrix = made.ok();
        self.matrix.is_some()
    }
}

/// The columns in panels, filled up with zeros.
fn panels_of(design: &dyn Design, features: &[usize]) -> Vec<[f64; PANEL]> {
    let n = design.n_samples();
    let mut panels = vec![[0.0; PANEL]; n * features.len().div_ceil(PANEL)];
    let mut column = vec![0.0; n];
    for (at, &j) in features.iter().enumerate() {
        column.fill(0.0);
        design.add_column(j, 1.0, &mut column);
        let panel = &mut panels[at / PANEL * n..][..n];
        panel.iter_mut().zip(&column).for_each(|(values, x)| values[at % PANEL] = *x);
    }
    panels
}

/// Moves the last column to the place `at`, in panels of `rows` rows, and leaves zeros behind.
fn take_place(panels: &mut Vec<[f64; PANEL]>, rows: usize, last: usize, at: usize) {
    if panels.is_empty() {
        return;
    }
    for row in 0..rows {
        let value = std::mem::take(&mut panels[last / PANEL * rows + row][last % PANEL]);
        if at != last {
            panels[at / PANEL * rows + row][at % PANEL] = value;
        }
    }
    panels.truncate(last.div_ceil(PANEL) * rows);
}
