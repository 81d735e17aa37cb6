//! MILO-K and RMILO-K: kernel-target alignment as a mixed-integer linear program, as published,
//! solved by HiGHS.
//!
//! Solves   max_z f(z) s.t. rules, the problem of `kta` (see `alignment/`): the products of kernels
//!          over the chosen features are written out feature by feature, e_(ih,j+1) = e_ihj, times
//!          exp(-gamma d_j(x_ij, x_hj)) where z_j = 1, with the distances d_j of `kta`.
//! Paper    Tamura, Takano, Miyashiro, Feature subset selection for kernel SVM classification via
//!          mixed-integer optimization, 2022: MILO-K (36)-(41) with M = 1, RMILO-K (42)-(49) with
//!          the big-M of (50) or (53).
//! Given    a design (n samples, p features), classes, sample weights, Rules, [`MiloSettings`].
//! Returns  subset, objective (f, evaluated apart from the program), HiGHS's bound within its
//!          tolerances, status.
//! Steps    1. a subset to start from, by kta's local search  2. write the program  3. HiGHS
//! Cost     n^2 (p + 1) columns and 4 n^2 p rows for MILO-K, n (n - 1) / 2 (p + 1) and n (n - 1) p
//!          for RMILO-K.
//! Differs  from the paper: step 1 (`start: false` leaves it out); any rules; weights of pairs for
//!          more classes as in kta, where pairs of weight 0 are in neither H+ nor H-; e_ih1 = 1 as
//!          a bound; kernels up to 1e-9 count as 0; the program's objective is -f, constant and
//!          factor 2 of (42) included; Laplace kernels and categories, for the proofs use of the
//!          paper's Gaussian kernel only that its values for a feature lie in [0, 1].
//! Fails    never on limits. Errors: settings, shapes, one class, more memory than allowed.

use std::path::Path;

use serde::{Deserialize, Serialize};

use fewest::Lp;
use fewest::backend::highs::{Column, Effort, Program, Rows, SMALLEST};
use fewest::internals::kernel_setup::begin_with;
use fewest::internals::program;
use fewest::kernel::{DistanceKernel, Distances, Gamma};
use fewest::method::kta::pairs::{self, Pairs};
use fewest::method::kta::{KtaSettings, check_categorical, kta, shares};
use fewest::method::{ALL_RULES, Classes, Info, Method, Report};
use fewest::{
    Clock, Design, Error, Limits, Memory, Observer, Reserved, Rules, Run, Samples, Selection, Sense, Silent, Subset,
    Yardstick,
};

/// Program that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formulation {
    /// MILO-K, (36)-(41), M = 1.
    Milo,
    /// RMILO-K, (42)-(49).
    Reduced(BigM),
}

/// Big-M of RMILO-K.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BigM {
    /// 1 - kernel, (50).
    Tight,
    /// min(1, 1 - kernel + 0.1), (53), which the paper's experiments use.
    Padded,
}

/// Settings of [`milo`].
#[derive(Debug, Clone, PartialEq)]
pub struct MiloSettings {
    /// The program. Default RMILO-K, padded.
    pub formulation: Formulation,
    /// Kernel of the features that hold numbers. Default Gaussian.
    pub kernel: DistanceKernel,
    /// Features that hold categories, from 0: their distance is 1 where two values differ, else 0.
    pub categorical: Vec<usize>,
    /// gamma of the kernel, above 0; [`sigest`](fewest::kernel::gamma::sigest) finds one from the
    /// data. Default 1.
    pub gamma: f64,
    /// Start from the subset of kta's local search. Default yes.
    pub start: bool,
    /// How HiGHS solves linear programs; the paper has an interior-point method.
    pub lp: Lp,
    /// Bytes that HiGHS may take, by estimate. Default 8 GiB.
    pub memory: u64,
}

impl Default for MiloSettings {
    fn default() -> Self {
        let formulation = Formulation::Reduced(BigM::Padded);
        let (kernel, categorical) = (DistanceKernel::default(), Vec::new());
        Self { formulation, kernel, categorical, gamma: 1.0, start: true, lp: Lp::Simplex, memory: 1 << 33 }
    }
}

impl MiloSettings {
    /// Checks every number against its range, for p features.
    pub fn check(&self, p: usize) -> Result<(), Error> {
        check_categorical(&self.categorical, p)?;
        Gamma::Number(self.gamma).check()
    }

    /// The distance of each feature.
    fn distances(&self) -> Distances {
        Distances::new(&self.kernel.with_gamma(1.0), &self.categorical)
    }

    /// The memory of the program.
    fn reserve(&self, n: usize, p: usize, memory: &Memory) -> Result<Reserved, Error> {
        let (samples, features) = (n as u64, p as u64);
        let entries = match self.formulation {
            Formulation::Milo => 12 * samples * samples,
            Formulation::Reduced(_) => 5 * (samples * samples.saturating_sub(1) / 2),
        };
        let what = || format!("the mixed-integer program of all pairs of {n} samples and {p} features");
        let remedy = "take fewer samples or features, or use kta, which needs no such program";
        program::reserve(memory, self.memory, entries.saturating_mul(features), what, remedy)
    }
}

fewest::settings! {
    /// Settings of `milo-k`.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct MiloKSettings {
        /// Kernel of the features that hold numbers.
        pub kernel: DistanceKernel = DistanceKernel::default(),
        /// Features that hold categories, from 0: their distance is 1 where two values differ, else 0.
        pub categorical: Vec<usize> = Vec::new(),
        /// gamma of the kernel, for features of every kind.
        pub gamma: Gamma = Gamma::Sigest(1.0),
        /// Start from the subset of kta's local search.
        pub start: bool = true,
        /// How HiGHS solves linear programs; the paper has an interior-point method.
        pub lp: Lp = Lp::Simplex,
        /// Bytes that HiGHS may take, by estimate.
        pub memory: u64 = 1 << 33,
    }
}

impl MiloKSettings {
    /// The program, now that there are data.
    fn program(&self, gamma: f64) -> MiloSettings {
        let &Self { kernel, start, lp, memory, .. } = self;
        let categorical = self.categorical.clone();
        MiloSettings { formulation: Formulation::Milo, kernel, categorical, gamma, start, lp, memory }
    }
}

impl Method for MiloKSettings {
    const INFO: Info = Info {
        name: "milo-k",
        title: "alignment as a mixed-integer program, as published",
        solves: "Writes kernel-target alignment as a mixed-integer linear program, the product of kernels feature by feature, and has HiGHS solve it. `kta` proves the same values, much sooner.",
        formula: "max over allowed z of sum_ih psi_i psi_h e_(ih,p+1), with e_(ih,j+1) = e_ihj where z_j = 0 and exp(-gamma d_j(x_ij, x_hj)) e_ihj where z_j = 1, by big-M = 1; d_j = (x - x')^2 or |x - x'|, of categories 1 where they differ",
        proves: "the best subset, within `gap` and the tolerances of HiGHS",
        bounds: true,
        searches: true,
        kernels: "rbf, laplace",
        classes: Classes::Any,
        rules: ALL_RULES,
        cost: "n^2 p columns: some dozens of samples and features",
        paper: "R. Tamura, Y. Takano, R. Miyashiro: Feature subset selection for kernel SVM classification via mixed-integer optimization, 2022.",
    };

    fn absorbs_constants(&self) -> bool {
        true
    }

    fn check(&self, p: usize) -> Result<(), Error> {
        check_categorical(&self.categorical, p)?;
        self.gamma.check()
    }

    fn select(
        &self,
        samples: &Samples<'_>,
        rules: &Rules,
        limits: Limits,
        observer: &mut dyn Observer,
    ) -> Result<Report, Error> {
        milo_report(samples, rules, self.gamma, |gamma| self.program(gamma), limits, observer)
    }

    fn write_program(&self, samples: &Samples<'_>, rules: &Rules, path: &Path) -> Result<(), Error> {
        write_milo(samples, rules, self.gamma, |gamma| self.program(gamma), path)
    }
}

/// Refuses what does not fit, then finds gamma, then has HiGHS solve the program.
///
/// # Errors
/// Those of [`milo`], and of a gamma that cannot be found.
pub(super) fn milo_report(
    samples: &Samples<'_>,
    rules: &Rules,
    gamma: Gamma,
    program: impl Fn(f64) -> MiloSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Report, Error> {
    let (design, classes, weights) = (samples.design(), samples.classes(), samples.weights());
    let any = program(1.0);
    any.check(design.n_features())?;
    drop(any.reserve(design.n_samples(), design.n_features(), &limits.memory)?);
    let find =
        |clock: &Clock| gamma.number_within(design, samples.counts(), rules.most_features(), &any.distances(), clock);
    // A run that was stopped before gamma was found has no number, and no subset.
    let (number, selection) = match begin_with(find, rules, limits, Sense::Max, observer)? {
        Ok((gamma, limits)) => (gamma, milo(design, classes, weights, rules, &program(gamma), limits, observer)?),
        Err(stopped) => (f64::NAN, *stopped),
    };
    Ok(Report::new(selection, any.kernel.with_gamma(number)).with_categorical(any.categorical))
}

/// Finds gamma, then writes the program.
///
/// # Errors
/// Those of [`write_model`], and of a gamma that cannot be found.
pub(super) fn write_milo(
    samples: &Samples<'_>,
    rules: &Rules,
    gamma: Gamma,
    program: impl Fn(f64) -> MiloSettings,
    path: &Path,
) -> Result<(), Error> {
    let (design, distances, most) = (samples.design(), program(1.0).distances(), rules.most_features());
    let found = gamma.number_within(design, samples.counts(), most, &distances, &Clock::unlimited())?;
    let program = program(found.expect("a clock without limits does not stop"));
    write_model(design, samples.classes(), samples.weights(), rules, &program, path)
}

/// `milo-k`, `rmilo-k`: the allowed subset of largest alignment, as HiGHS finds it. `classes` and
/// `weights` as for [`kta`], which proves the same values much sooner.
///
/// # Errors
/// Settings out of range, shapes that do not fit, values that are not finite, fewer than two
/// classes with weight, a program larger than the memory allowed, a failure of HiGHS.
///
/// # Examples
/// ```
/// use fewest_papers::milo_k::{MiloSettings, milo};
/// use fewest::{DenseDesign, Limits, Rules, Silent};
///
/// // The second column holds the classes, the first does not.
/// let design = DenseDesign::new(4, 2, vec![1.0, -1.0, 1.0, -1.0, 1.0, 1.0, -1.0, -1.0])?;
/// let rules = Rules::at_most_features(2, 1)?;
/// let (classes, weights, settings) = ([1, 1, 0, 0], [1.0; 4], MiloSettings::default());
/// let limits = Limits::default();
/// let found = milo(&design, &classes, &weights, &rules, &settings, limits, &mut Silent)?;
/// assert_eq!(found.outcome.subset.unwrap().iter().collect::<Vec<_>>(), [1]);
/// # Ok::<(), fewest::Error>(())
/// ```
pub fn milo(
    design: &dyn Design,
    classes: &[u32],
    weights: &[f64],
    rules: &Rules,
    settings: &MiloSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    let mut run = Run::new(rules, limits.clone(), Sense::Max, observer)?;
    let alignment = Alignment::new(design, classes, weights, rules, settings, run.memory())?;
    let mut start = None;
    if settings.start {
        // Before the program is written, which may take longer than there is time.
        let (kernel, categorical, gamma) =
            (settings.kernel, settings.categorical.clone(), Gamma::Number(settings.gamma));
        let local = KtaSettings { kernel, categorical, gamma, memory: settings.memory, ..KtaSettings::default() };
        let limits = Limits { time: run.remaining(), nodes: Some(1), ..limits };
        let found = kta(design, classes, weights, rules, &local, limits, &mut Silent)?.outcome;
        if let (Some(subset), Some(objective)) = (found.subset, found.objective) {
            run.offer(&subset, objective);
            start = Some(subset);
        }
    }
    let mut program = alignment.program(rules, false)?;
    if let Some(subset) = &start {
        program.set_start(&alignment.point(subset))?;
    }
    let features: Vec<usize> = (0..design.n_features()).collect();
    // Kernels are at most 1, and so are the sums over pairs.
    run.measure_by(Yardstick { baseline: 0.0, price: 0.0, nothing: program::TOLERANCE });
    let effort = Effort { lp: settings.lp, ..Effort::default() };
    let value = |subset: &Subset, _: &[f64]| alignment.judge.value(&subset.iter().collect::<Vec<_>>());
    let status = program::solve(&mut program, &features, &effort, 1.0, Sense::Max, &value, &mut run)?;
    Ok(Selection { outcome: run.finish(status), ranking: Vec::new(), solutions: Vec::new() })
}

/// Writes the program that [`milo`] solves to a file for other solvers, .mps or .lp. Columns are
/// z1, z2, ... and eI_H_J for the product over the first J - 1 features of samples I and H, from 1.
///
/// # Errors
/// As [`milo`]; a file that cannot be written.
pub fn write_model(
    design: &dyn Design,
    classes: &[u32],
    weights: &[f64],
    rules: &Rules,
    settings: &MiloSettings,
    path: &Path,
) -> Result<(), Error> {
    let memory = Memory::unlimited();
    Alignment::new(design, classes, weights, rules, settings, &memory)?.program(rules, true)?.write_model(path)
}

/// What the program is made of.
struct Alignment {
    formulation: Formulation,
    p: usize,
    /// Samples i and h, and what the kernel of the pair adds to f.
    pairs: Vec<(usize, usize, f64)>,
    /// The part of f that does not depend on the subset, beside the pairs.
    constant: f64,
    gamma: f64,
    distances: Distances,
    /// x by column.
    columns: Vec<Vec<f64>>,
    /// Evaluates f.
    judge: Pairs,
    /// The memory of the program.
    #[expect(dead_code, reason = "gives the bytes back when the run ends")]
    taken: Reserved,
}

impl Alignment {
    fn new(
        design: &dyn Design,
        classes: &[u32],
        weights: &[f64],
        rules: &Rules,
        settings: &MiloSettings,
        memory: &Memory,
    ) -> Result<Self, Error> {
        settings.check(design.n_features())?;
        let shares = shares(design, classes, weights, rules)?;
        let (n, p, formulation) = (design.n_samples(), design.n_features(), settings.formulation);
        // Before the pairs, which are many.
        let taken = settings.reserve(n, p, memory)?;
        let total = pairs::total(&shares);
        let weight = |i: usize, h: usize| pairs::weight(&shares, &total, i, h);
        let (pairs, constant): (Vec<_>, f64) = match formulation {
            Formulation::Milo => {
                ((0..n).flat_map(|i| (0..n).map(move |h| (i, h))).map(|(i, h)| (i, h, weight(i, h))).collect(), 0.0)
            }
            Formulation::Reduced(_) => {
                let upper = (0..n).flat_map(|i| (i + 1..n).map(move |h| (i, h)));
                let weighed = upper.map(|(i, h)| (i, h, 2.0 * weight(i, h)));
                (weighed.filter(|q| q.2 != 0.0).collect(), (0..n).map(|i| weight(i, i)).sum())
            }
        };
        let column = |j: usize| {
            let mut out = vec![0.0; n];
            design.add_column(j, 1.0, &mut out);
            out
        };
        let (gamma, distances) = (settings.gamma, settings.distances());
        let judge = Pairs::new(design, &shares, &Rules::none(p), gamma, &distances, 0, &Clock::unlimited())
            .expect("a clock without limits does not stop");
        let columns = (0..p).map(column).collect();
        Ok(Self { formulation, p, pairs, constant, gamma, distances, columns, judge, taken })
    }

    /// exp(-gamma d_j(x_ij, x_hj)); 0 where HiGHS would not see it.
    fn kernel(&self, i: usize, h: usize, j: usize) -> f64 {
        let distance = self.distances.of(j).between(self.columns[j][i], self.columns[j][h]);
        let kernel = (-self.gamma * distance).exp();
        if kernel > SMALLEST { kernel } else { 0.0 }
    }

    /// Column of e_ih,j+1 for pair q; j counts from 0.
    fn product(&self, q: usize, j: usize) -> usize {
        self.p + q * (self.p + 1) + j
    }

    fn program(&self, rules: &Rules, named: bool) -> Result<Program, Error> {
        let p = self.p;
        let mut program = Program::new()?;
        program.add_columns(&vec![Column { cost: 0.0, lower: 0.0, upper: 1.0, integer: true }; p])?;
        // (38), (41), (44), (49); (36), (42).
        let mut columns = Vec::with_capacity(self.pairs.len() * (p + 1));
        for &(_, _, weight) in &self.pairs {
            columns.push(Column { cost: 0.0, lower: 1.0, upper: 1.0, integer: false });
            columns.resize(columns.len() + p, Column { cost: 0.0, lower: 0.0, upper: f64::INFINITY, integer: false });
            columns.last_mut().expect("just pushed").cost = -weight;
        }
        program.add_columns(&columns)?;
        program.set_offset(-self.constant)?;
        program::add_rules(&mut program, rules, Some)?;
        let mut rows = Rows::default();
        for (q, &(i, h, weight)) in self.pairs.iter().enumerate() {
            for j in 0..p {
                self.link(q, j, self.kernel(i, h, j), weight, &mut rows);
            }
        }
        program.add_rows(&rows)?;
        if named {
            (0..p).try_for_each(|j| program.name_column(j, &format!("z{}", j + 1)))?;
            for (q, &(i, h, _)) in self.pairs.iter().enumerate() {
                for j in 0..=p {
                    program.name_column(self.product(q, j), &format!("e{}_{}_{}", i + 1, h + 1, j + 1))?;
                }
            }
        }
        Ok(program)
    }

    /// The rows of pair q that link z_j, e_ihj and e_ih,j+1.
    fn link(&self, q: usize, j: usize, kernel: f64, weight: f64, rows: &mut Rows) {
        let (z, before, after) = (j, self.product(q, j), self.product(q, j + 1));
        let none = f64::NEG_INFINITY;
        let mut kept =
            |m: f64, lower: f64, upper: f64| rows.push(&[(after, 1.0), (before, -1.0), (z, m)], lower, upper);
        match self.formulation {
            Formulation::Milo => {
                kept(1.0, 0.0, f64::INFINITY); // (39)
                kept(-1.0, none, 0.0);
                let mut times =
                    |m: f64, lower, upper| rows.push(&[(after, 1.0), (before, -kernel), (z, m)], lower, upper);
                times(-1.0, -1.0, f64::INFINITY); // (40)
                times(1.0, none, 1.0);
            }
            Formulation::Reduced(big) => {
                let m = match big {
                    BigM::Tight => 1.0 - kernel,
                    BigM::Padded => (1.1 - kernel).min(1.0),
                };
                let m = if m > SMALLEST { m } else { 0.0 };
                if weight > 0.0 {
                    kept(0.0, none, 0.0); // (45)
                    rows.push(&[(after, 1.0), (before, -kernel), (z, m)], none, m); // (47)
                } else {
                    kept(m, 0.0, f64::INFINITY); // (46)
                    rows.push(&[(after, 1.0), (before, -kernel)], 0.0, f64::INFINITY); // (48)
                }
            }
        }
    }

    /// The point of a subset.
    fn point(&self, subset: &Subset) -> Vec<f64> {
        let mut point: Vec<f64> = (0..self.p).map(|j| f64::from(subset.contains(j))).collect();
        for &(i, h, _) in &self.pairs {
            let mut product = 1.0;
            point.push(product);
            for j in 0..self.p {
                product *= if subset.contains(j) { self.kernel(i, h, j) } else { 1.0 };
                point.push(product);
            }
        }
        point
    }
}
