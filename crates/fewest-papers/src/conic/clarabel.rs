//! The door to Clarabel: quadratic programs with second-order cones, built row by row.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{DefaultSettingsBuilder, DefaultSolver, IPSolver as _, SolverStatus, SupportedConeT};

use fewest::Clock;
use fewest::Error;

/// How often the caller checks the clock.
const CHECK_EVERY: Duration = Duration::from_millis(10);

/// How long it waits for the current step once the clock says stop.
const LAST: Duration = Duration::from_millis(50);

/// minimise 1/2 sum_j d_j x_j^2 + q.x  s.t. rows of affine expressions that are at least 0, or
/// together lie in a cone.
#[derive(Debug, Default)]
pub(crate) struct ConeProgram {
    diagonal: Vec<f64>,
    linear: Vec<f64>,
    /// (row, variable, coefficient)
    entries: (Vec<usize>, Vec<usize>, Vec<f64>),
    constants: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

/// What came of it. An interior point that is nearly optimal, and may violate constraints a little.
#[derive(Debug)]
pub(crate) struct ConeSolution {
    /// Variables.
    pub(crate) x: Vec<f64>,
    /// Multipliers of the rows, in the order in which they were added.
    pub(crate) multipliers: Vec<f64>,
    /// Whether the tolerances were reached, reduced ones at least.
    pub(crate) good: bool,
    /// Interior-point steps.
    pub(crate) steps: u32,
}

impl ConeProgram {
    /// A variable with cost `1/2 d x^2 + q x`, d >= 0; its position.
    pub(crate) fn variable(&mut self, d: f64, q: f64) -> usize {
        self.diagonal.push(d);
        self.linear.push(q);
        self.linear.len() - 1
    }

    fn row(&mut self, terms: impl IntoIterator<Item = (usize, f64)>, constant: f64) {
        // Clarabel's form is A x + s = b, s in the cone: s is the expression.
        for (variable, coefficient) in terms {
            self.entries.0.push(self.constants.len());
            self.entries.1.push(variable);
            self.entries.2.push(-coefficient);
        }
        self.constants.push(constant);
    }

    /// sum of the terms + constant >= 0
    pub(crate) fn at_least_zero(&mut self, terms: impl IntoIterator<Item = (usize, f64)>, constant: f64) {
        self.row(terms, constant);
        match self.cones.last_mut() {
            Some(SupportedConeT::NonnegativeConeT(rows)) => *rows += 1,
            _ => self.cones.push(SupportedConeT::NonnegativeConeT(1)),
        }
    }

    /// The first row is at least the norm of the others; each is terms and a constant.
    pub(crate) fn second_order(&mut self, rows: impl IntoIterator<Item = (Vec<(usize, f64)>, f64)>) {
        let before = self.constants.len();
        for (terms, constant) in rows {
            self.row(terms, constant);
        }
        self.cones.push(SupportedConeT::SecondOrderConeT(self.constants.len() - before));
    }

    /// Solves it; none when the clock said stop.
    ///
    /// Clarabel checks the clock once in each step, and a step of a large program takes seconds, as
    /// does its set-up. So it works in a thread of its own, which is left to itself once the clock
    /// says stop: it ends, and gives its memory back, at its next check.
    pub(crate) fn solve(self, clock: &Clock, remaining: Option<Duration>) -> Result<Option<ConeSolution>, Error> {
        let (sender, receiver) = channel();
        let its_clock = clock.clone();
        // An answer that is no longer waited for is dropped.
        let work = move || drop(sender.send(self.solve_here(its_clock, remaining)));
        thread::Builder::new()
            .name("clarabel".to_owned())
            .spawn(work)
            .map_err(|error| Error::Solver(format!("cannot start a thread for Clarabel: {error}")))?;
        loop {
            match receiver.recv_timeout(CHECK_EVERY) {
                Ok(answer) => return answer.map(Some),
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Solver("Clarabel ended by a panic".into())),
                Err(RecvTimeoutError::Timeout) if clock.stop().is_some() => {
                    // The point of a step that is nearly done still makes a bound.
                    return receiver.recv_timeout(LAST).map_or(Ok(None), |answer| answer.map(Some));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn solve_here(self, clock: Clock, remaining: Option<Duration>) -> Result<ConeSolution, Error> {
        let n = self.linear.len();
        let broken = |why: String| Error::Data(format!("Clarabel refused the program: {why}; please report this"));
        let mut settings = DefaultSettingsBuilder::default();
        settings.verbose(false).max_threads(1);
        if let Some(time) = remaining {
            settings.time_limit(time.as_secs_f64().max(1e-3));
        }
        let settings = settings.build().map_err(|e| broken(e.to_string()))?;
        let all: Vec<usize> = (0..n).collect();
        let quadratic = CscMatrix::new_from_triplets(n, n, all.clone(), all, self.diagonal);
        let (rows, columns, values) = self.entries;
        let matrix = CscMatrix::new_from_triplets(self.constants.len(), n, rows, columns, values);
        let made = DefaultSolver::new(&quadratic, &self.linear, &matrix, &self.constants, &self.cones, settings);
        let mut solver = made.map_err(|e| broken(e.to_string()))?;
        solver.set_termination_callback(move |_| clock.stop().is_some());
        solver.solve();
        let good = matches!(solver.solution.status, SolverStatus::Solved | SolverStatus::AlmostSolved);
        let solution = solver.solution;
        Ok(ConeSolution { x: solution.x, multipliers: solution.z, good, steps: solution.iterations })
    }
}
