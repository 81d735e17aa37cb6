//! MILP1 and MILP2: linear classifiers with few features as mixed-integer linear programs, solved
//! by HiGHS.
//!
//! Solves   MILP1  min sum_i xi_i
//!                 s.t. y_i (w.x_i + b) >= 1 - xi_i,  -U v_j <= w_j <= U v_j
//!          MILP2  max r - C sum_i weight_i xi_i
//!                 s.t. y_i (w.x_i + b) >= r - xi_i,  -v_j <= w_j <= v_j,  r >= 0
//!          with xi >= 0, b free, v binary and every rule on v; sample weights multiply xi_i in
//!          MILP1 too. Where the rules bound w_j, l_j v_j <= w_j <= u_j v_j with the tighter of
//!          both.
//! Paper    Maldonado, Perez, Weber, Labbe, Feature selection for support vector machines via mixed
//!          integer linear programming, Information Sciences 279 (2014); MILP2 is MILO-L of Tamura,
//!          Takano, Miyashiro 2022.
//! Given    Problem (n samples, p features), Rules (the paper's: a budget on v), [`MilpSettings`].
//! Returns  subset, objective (of the best w and b found, evaluated apart from the program),
//!          HiGHS's bound, status.
//! Steps    1. write the program  2. to start from, the allowed subset of largest |w_j| of the
//!          linear relaxation  3. HiGHS
//! Cost     2 p + n + 2 columns, n + 2 p rows, the non-zeros of the data; exponential in the worst
//!          case.
//! Differs  from the paper: step 2 (`start: false` leaves it out); one U for all features; any
//!          rules.
//! Fails    never on limits. Errors: settings, more memory than allowed.

use std::path::Path;

use fewest::Lp;
use fewest::backend::highs::{Column, Effort, Program, Rows, SMALLEST, SolveStatus};
use fewest::bound::saddle::without_features;
use fewest::design::units;
use fewest::internals::program;
use fewest::{
    Choice, Error, Interval, Limits, Memory, Observer, Problem, Reserved, Rules, Run, Selection, Sense, Subset,
    SvmSettings, WeightBounds, Yardstick,
};

/// Program that is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Formulation {
    /// MILP1: least slack at margin 1.
    Milp1 {
        /// U, the largest |w_j|, above 0.
        weight_bound: f64,
    },
    /// MILP2: largest margin less slack at |w_j| <= 1.
    Milp2 {
        /// Slack cost C, at least 1 over twice the weight of the smaller class. Where classes
        /// overlap much, C = 1 / (nu n) for a share nu of samples inside the margin makes sense;
        /// with more the best margin is 0, and all w are 0.
        cost: f64,
    },
}

impl Formulation {
    /// Name of the method.
    pub fn name(self) -> &'static str {
        match self {
            Self::Milp1 { .. } => "milp1",
            Self::Milp2 { .. } => "milp2",
        }
    }
}

/// Settings of [`milp`].
#[derive(Debug, Clone, PartialEq)]
pub struct MilpSettings {
    /// The program. Default MILP2 with C = 1.
    pub formulation: Formulation,
    /// Start from a rounding of the linear relaxation. Default yes.
    pub start: bool,
    /// How HiGHS solves linear programs.
    pub lp: Lp,
    /// Bytes that HiGHS may take, by estimate. Default 8 GiB.
    pub memory: u64,
}

impl Default for MilpSettings {
    fn default() -> Self {
        Self { formulation: Formulation::Milp2 { cost: 1.0 }, start: true, lp: Lp::Simplex, memory: 1 << 33 }
    }
}

impl MilpSettings {
    /// Checks every number against its range.
    pub fn check(&self) -> Result<(), Error> {
        let (name, value) = match self.formulation {
            Formulation::Milp1 { weight_bound } => ("weight_bound", weight_bound),
            Formulation::Milp2 { cost } => ("cost", cost),
        };
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(Error::setting(name, value, "a finite number above 0"))
        }
    }

    fn sense(&self) -> Sense {
        if matches!(self.formulation, Formulation::Milp1 { .. }) { Sense::Min } else { Sense::Max }
    }
}

/// `milp1`, `milp2`: the allowed subset of the best linear classifier of its kind, as HiGHS finds
/// it.
///
/// # Errors
/// Settings out of range, a program larger than the memory allowed, a failure of HiGHS.
///
/// # Examples
/// ```
/// use fewest_papers::milp::{MilpSettings, milp};
/// use fewest::{DenseDesign, Limits, Problem, Rules, Silent};
///
/// // Feature 0 tells the classes apart, feature 1 does not.
/// let x = DenseDesign::new(4, 2, vec![-2.0, -1.0, 1.0, 2.0, 1.0, -1.0, 1.0, -1.0])?;
/// let problem = Problem::new(&x, &[-1.0, -1.0, 1.0, 1.0], None)?;
/// let rules = Rules::at_most_features(2, 1)?;
/// let found = milp(&problem, &rules, &MilpSettings::default(), Limits::default(), &mut Silent)?;
/// assert_eq!(found.outcome.subset.unwrap().iter().collect::<Vec<_>>(), [0]);
/// // w = 1 keeps every sample a margin of 1.
/// assert!((found.outcome.objective.unwrap() - 1.0).abs() < 1e-6);
/// # Ok::<(), fewest::Error>(())
/// ```
pub fn milp(
    problem: &Problem<'_>,
    rules: &Rules,
    settings: &MilpSettings,
    limits: Limits,
    observer: &mut dyn Observer,
) -> Result<Selection, Error> {
    let mut run = Run::bounded(rules, limits, settings.sense(), observer)?;
    let classifier = Classifier::new(problem, rules, settings, run.memory())?;
    run.measure_by(classifier.yardstick());
    let mut program = classifier.program(rules, false)?;
    let value = |subset: &Subset, point: &[f64]| classifier.value(subset, point);
    if settings.start {
        classifier.start(&mut program, &mut run)?;
    }
    let features: Vec<usize> = (0..problem.n_features()).collect();
    let effort = Effort { lp: settings.lp, integrality: classifier.integrality(), ..Effort::default() };
    let status =
        program::solve(&mut program, &features, &effort, classifier.one(), settings.sense(), &value, &mut run)?;
    // Within its tolerance of v, HiGHS gives weights to features left out: the subset's own are found apart.
    if !run.closed()
        && let Some(subset) = run.incumbent().map(|known| known.0.clone())
    {
        classifier.settle(&subset, &mut program, &mut run)?;
    }
    Ok(Selection { outcome: run.finish(status), ranking: Vec::new(), solutions: Vec::new() })
}

/// Writes the program that [`milp`] solves to a file for other solvers, .mps or .lp. Columns are
/// v1, v2, ..., w1, w2, ..., b, xi1, xi2, ... and, in MILP2, r; the objective is minimised, so that
/// of MILP2 has the other sign.
///
/// # Errors
/// As [`milp`]; a file that cannot be written.
pub fn write_model(problem: &Problem<'_>, rules: &Rules, settings: &MilpSettings, path: &Path) -> Result<(), Error> {
    Classifier::new(problem, rules, settings, &Memory::unlimited())?.program(rules, true)?.write_model(path)
}

/// What HiGHS lets a row miss, or thereabouts.
const TOLERANCE: f64 = 1e-6;
/// The least of its tolerances of whole numbers.
const SHARPEST: f64 = 1e-10;
/// Bounds on weights from this on, in units of the program, are beyond what HiGHS can hold v to.
const LARGEST: f64 = 1e12;

/// What the program is made of. Columns: v (p), w (p), b, xi (n), r where there is one.
struct Classifier<'a> {
    problem: &'a Problem<'a>,
    formulation: Formulation,
    /// Largest |w_j|.
    bound: f64,
    /// The weight bounds of the rules.
    bounds: &'a WeightBounds,
    /// What the values of each feature are divided by in the program, powers of two (length p).
    units: Vec<f64>,
    /// What b, xi and r are divided by, a power of two: in MILP2 the unit of the middle feature
    /// that the rules allow, in MILP1, whose margin is 1, none. `w_j` is times `units[j]`, and divided by this.
    unit: f64,
    /// The memory of the program.
    #[expect(dead_code, reason = "gives the bytes back when the run ends")]
    taken: Reserved,
}

impl<'a> Classifier<'a> {
    fn new(
        problem: &'a Problem<'_>,
        rules: &'a Rules,
        settings: &MilpSettings,
        memory: &Memory,
    ) -> Result<Self, Error> {
        settings.check()?;
        let (n, p) = (problem.n_samples(), problem.n_features());
        rules.check_features(p)?;
        // With w = 0 and b = r only the other class has slack, 2 r each.
        let of = |side: f64| problem.labels().iter().zip(problem.weights()).filter(move |s| *s.0 == side).map(|s| s.1);
        let weight = of(1.0).sum::<f64>().min(of(-1.0).sum());
        if let Formulation::Milp2 { cost } = settings.formulation
            && 2.0 * cost * weight < 1.0
        {
            let least = 0.5 / weight;
            let range =
                format!("at least {least} = 1 / (2 x weight of the smaller class); below it the program is unbounded");
            return Err(Error::setting("cost", cost, range));
        }
        let mut entries = 2 * (n + 2 * p) as u64;
        (0..p).for_each(|j| problem.design().each_in_column(j, &mut |_, x| entries += u64::from(x != 0.0)));
        let what = || format!("the mixed-integer program of {n} samples and {p} features");
        let taken = program::reserve(memory, settings.memory, entries, what, "select among fewer features")?;
        let bound = match settings.formulation {
            Formulation::Milp1 { weight_bound } => weight_bound,
            Formulation::Milp2 { .. } => 1.0,
        };
        let units = units(problem.design());
        let unit = match settings.formulation {
            Formulation::Milp1 { .. } => 1.0,
            Formulation::Milp2 { .. } => {
                let allowed = |j: &usize| rules.root()[rules.unit_of(*j)] != Choice::Out;
                middle((0..p).filter(allowed).map(|j| units[j]).collect())
            }
        };
        Ok(Self {
            problem,
            formulation: settings.formulation,
            bound,
            bounds: rules.weight_bounds(),
            units,
            unit,
            taken,
        })
    }

    /// The weights that feature j may have.
    fn weights(&self, j: usize) -> Interval {
        self.bounds.of(j).within(self.bound)
    }

    /// [`Classifier::weights`] in this unit.
    fn weights_within(&self, j: usize, unit: f64) -> Interval {
        let Interval { lower, upper } = self.weights(j);
        Interval { lower: lower / unit, upper: upper / unit }
    }

    /// How near to a whole number v must be: below it, a feature that is left out may have a weight.
    fn integrality(&self) -> f64 {
        let of = |j: usize| self.weights_within(j, self.unit_of_weight(j));
        let most = (0..self.problem.n_features()).map(of).fold(0.0, |most: f64, w| most.max(w.upper).max(-w.lower));
        (TOLERANCE / (most / 1e3).max(1.0)).max(SHARPEST)
    }

    /// What w_j is to be divided by to be that of the program.
    fn unit_of_weight(&self, j: usize) -> f64 {
        self.unit / self.units[j]
    }

    /// Without features MILP1 has the slack of the smaller class, and MILP2 no margin: what counts
    /// as none is in the unit of the data there.
    fn yardstick(&self) -> Yardstick {
        let nothing = program::TOLERANCE * self.unit;
        match self.formulation {
            Formulation::Milp1 { .. } => {
                Yardstick::new(without_features(std::slice::from_ref(self.problem), &SvmSettings::default()), &[])
            }
            Formulation::Milp2 { .. } => Yardstick { baseline: 0.0, price: 0.0, nothing },
        }
    }

    /// The program's objective is the run's times this.
    fn one(&self) -> f64 {
        1.0 / self.unit
    }

    /// Named programs are for other readers, in the units of the data.
    fn program(&self, rules: &Rules, named: bool) -> Result<Program, Error> {
        let (unit, of_weight) = (
            |j: usize| if named { 1.0 } else { self.units[j] },
            |j: usize| if named { 1.0 } else { self.unit_of_weight(j) },
        );
        let (n, p) = (self.problem.n_samples(), self.problem.n_features());
        let none = f64::INFINITY;
        let mut program = Program::new()?;
        program.add_columns(&vec![Column { cost: 0.0, lower: 0.0, upper: 1.0, integer: true }; p])?;
        let within = |j: usize| self.weights_within(j, of_weight(j));
        let weight = |Interval { lower, upper }: Interval| Column { cost: 0.0, lower, upper, integer: false };
        program.add_columns(&(0..p).map(|j| weight(within(j))).collect::<Vec<_>>())?;
        let bias = program.add_column(Column { cost: 0.0, lower: -none, upper: none, integer: false })?;
        let price = if let Formulation::Milp2 { cost } = self.formulation { cost } else { 1.0 };
        let slack = |weight: &f64| Column { cost: price * weight, lower: 0.0, upper: none, integer: false };
        let slacks = program.add_columns(&self.problem.weights().iter().map(slack).collect::<Vec<_>>())?;
        let margin = match self.formulation {
            Formulation::Milp1 { .. } => None,
            Formulation::Milp2 { .. } => {
                Some(program.add_column(Column { cost: -1.0, lower: 0.0, upper: none, integer: false })?)
            }
        };
        program::add_rules(&mut program, rules, Some)?;
        let labels = self.problem.labels();
        let mut samples: Vec<Vec<(usize, f64)>> = (0..n).map(|i| vec![(bias, labels[i]), (slacks + i, 1.0)]).collect();
        for j in 0..p {
            // Values that HiGHS would drop are dropped here, knowingly.
            let mut take = |i: usize, x: f64| {
                let x = x / unit(j);
                if x.abs() > SMALLEST {
                    samples[i].push((p + j, labels[i] * x));
                }
            };
            self.problem.design().each_in_column(j, &mut take);
        }
        let mut rows = Rows::default();
        for mut sample in samples {
            sample.extend(margin.map(|r| (r, -1.0)));
            rows.push(&sample, if margin.is_some() { 0.0 } else { 1.0 }, none);
        }
        for j in 0..p {
            let Interval { lower, upper } = within(j);
            // The column's own bounds are as good where HiGHS would drop the coefficient, and a row
            // that holds for any w_j within its tolerance of v_j says nothing.
            if (SMALLEST..LARGEST).contains(&upper) {
                rows.push(&[(p + j, 1.0), (j, -upper)], -none, 0.0);
            }
            if (SMALLEST..LARGEST).contains(&-lower) {
                rows.push(&[(p + j, 1.0), (j, -lower)], 0.0, none);
            }
        }
        program.add_rows(&rows)?;
        if named {
            for j in 0..p {
                program.name_column(j, &format!("v{}", j + 1))?;
                program.name_column(p + j, &format!("w{}", j + 1))?;
            }
            program.name_column(bias, "b")?;
            (0..n).try_for_each(|i| program.name_column(slacks + i, &format!("xi{}", i + 1)))?;
            margin.map_or(Ok(()), |r| program.name_column(r, "r"))?;
        }
        Ok(program)
    }

    /// Step 2: offers the allowed subset of largest |w_j| of the linear relaxation and gives it to
    /// the program to start from.
    fn start(&self, program: &mut Program, run: &mut Run<'_>) -> Result<(), Error> {
        let p = self.problem.n_features();
        let relaxed = Effort { relaxed: true, time: run.remaining(), ..Effort::default() };
        let found = program.solve(&relaxed, &run.counted_clock())?;
        if found.status != SolveStatus::Optimal {
            return Ok(());
        }
        let gains: Vec<f64> = found.values[p..2 * p].iter().map(|w| w.abs()).collect();
        let subset = run.best_subset(&gains).subset;
        if let Some(values) = self.settle(&subset, program, run)? {
            program.set_start(&values)?;
        }
        Ok(())
    }

    /// Offers a subset with its best classifier; the point of the program, where it was found.
    fn settle(&self, subset: &Subset, program: &mut Program, run: &mut Run<'_>) -> Result<Option<Vec<f64>>, Error> {
        let p = self.problem.n_features();
        for j in 0..p {
            let chosen = subset.contains(j);
            program.set_bounds(j, f64::from(chosen), f64::from(chosen))?;
            if !chosen {
                program.set_bounds(p + j, 0.0, 0.0)?;
            }
        }
        let effort = Effort { relaxed: true, time: run.remaining(), ..Effort::default() };
        let found = program.solve(&effort, &run.counted_clock())?;
        for j in 0..p {
            let Interval { lower, upper } = self.weights_within(j, self.unit_of_weight(j));
            program.set_bounds(j, 0.0, 1.0)?;
            program.set_bounds(p + j, lower, upper)?;
        }
        if found.status != SolveStatus::Optimal {
            return Ok(None);
        }
        run.offer(subset, self.value(subset, &found.values));
        Ok(Some(found.values))
    }

    /// Objective of the classifier of a point: its w on the subset, within the bounds, its b, and
    /// the best r and xi for them.
    fn value(&self, subset: &Subset, point: &[f64]) -> f64 {
        let (p, labels) = (self.problem.n_features(), self.problem.labels());
        let mut scores = vec![self.unit * point[2 * p]; labels.len()];
        for j in subset.iter() {
            let w = self.weights(j).weight(self.unit_of_weight(j) * point[p + j]);
            self.problem.design().add_column(j, w, &mut scores);
        }
        let margins = scores.iter().zip(labels).map(|(f, y)| f * y);
        match self.formulation {
            Formulation::Milp1 { .. } => {
                // Slack within HiGHS's tolerance is none.
                let slack = |m: f64| if 1.0 - m > TOLERANCE { 1.0 - m } else { 0.0 };
                margins.zip(self.problem.weights()).map(|(m, weight)| weight * slack(m)).sum()
            }
            Formulation::Milp2 { cost } => best_margin(margins.zip(self.problem.weights().iter().copied()), cost),
        }
    }
}

/// The middle one of some numbers; 1 where there are none.
fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(1.0)
}

/// `max over r >= 0 of r - C sum_i weight_i max(0, r - m_i)` for (m_i, `weight_i`): concave in r,
/// with its breaks at the m_i.
fn best_margin(samples: impl Iterator<Item = (f64, f64)>, cost: f64) -> f64 {
    let mut samples: Vec<(f64, f64)> = samples.filter(|s| s.1 > 0.0).collect();
    samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    // At r = 0; then up from break to break while the slope 1 - C sum of the weights below is
    // positive.
    let (mut r, mut value) = (0.0, 0.0);
    let mut slope = 1.0;
    for (m, weight) in samples {
        if m <= 0.0 {
            value += cost * weight * m;
        } else if slope > 0.0 {
            value += slope * (m - r);
            r = m;
        }
        slope -= cost * weight;
    }
    value
}
