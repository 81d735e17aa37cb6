//! Linear and mixed-integer programs, solved by HiGHS (Huangfu, Hall, Math. Prog. Comp. 2018; MIT
//! licence).
//!
//! ```text
//! minimise  sum_k cost_k x_k
//! s.t.      lower_k <= x_k <= upper_k,  x_k integer where the column says so
//!           row_lower_r <= sum_k a_rk x_k <= row_upper_r
//! ```
//!
//! A [`Program`] stays alive between solves. Rows and columns can be added, costs and bounds
//! changed; a linear program then resumes from its last basis, a mixed-integer one from the point
//! given by [`Program::set_start`]. Solves are silent and deterministic: one thread, a fixed seed.
//!
//! Tolerances are HiGHS's own, absolute: 1e-7 on rows and bounds, 1e-6 on integrality. Scale a
//! program so that its costs and coefficients are near 1. Coefficients below [`SMALLEST`] are
//! refused, because HiGHS would drop them without a word.

#![expect(unsafe_code, reason = "the door to a C library; every call is a line or two below")]

mod program;
mod solve;

use std::ffi::CString;
use std::time::Duration;

use fewest_highs as ffi;

use crate::Error;
pub use program::Program;

/// HiGHS drops matrix entries up to this size.
pub const SMALLEST: f64 = 1e-9;

/// One column of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// The column's cost, finite.
    pub cost: f64,
    /// The column's least value; may be minus infinity.
    pub lower: f64,
    /// The column's largest value; may be infinity.
    pub upper: f64,
    /// Whether it only takes integer values.
    pub integer: bool,
}

/// How HiGHS solves linear programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lp {
    /// The simplex method.
    #[default]
    Simplex,
    /// The interior-point method.
    Interior,
}

/// How a solve may end early, and how exact it must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Wall-clock time. Default none.
    pub time: Option<Duration>,
    /// Nodes of a mixed-integer solve. Default no limit.
    pub nodes: Option<u32>,
    /// A mixed-integer solve ends when (objective - bound) / |objective| is at most this. Default
    /// 1e-6.
    pub gap: f64,
    /// Solve the linear relaxation: columns need not be integer. Default no.
    pub relaxed: bool,
    /// Solve linear programs, those of a tree's nodes too, by an interior-point method. Default no:
    /// HiGHS chooses.
    pub lp: Lp,
    /// Go on with a linear program by primal simplex: its last basis is still feasible, only
    /// columns are new or costs changed. Default no: HiGHS chooses.
    pub primal: bool,
    /// Distance of an integer column from a whole number that counts as none. Default 1e-6.
    pub integrality: f64,
}

impl Default for Effort {
    fn default() -> Self {
        Self { time: None, nodes: None, gap: 1e-6, relaxed: false, lp: Lp::Simplex, primal: false, integrality: 1e-6 }
    }
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolveStatus {
    /// Solved to the gap.
    Optimal,
    /// No point satisfies the rows and bounds.
    Infeasible,
    /// The objective has no lower bound.
    Unbounded,
    /// The time was over or the caller said stop.
    Stopped,
}

/// Result of a solve.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The end of the solve.
    pub status: SolveStatus,
    /// Best point found, one value per column; empty when none was found.
    pub values: Vec<f64>,
    /// The point's objective; infinity when there is no point.
    pub objective: f64,
    /// No feasible point has a smaller objective. Minus infinity when nothing is proven, infinity
    /// when infeasible.
    pub bound: f64,
    /// The dual value of each row of a solved linear program: how the objective changes with the
    /// row's side.
    pub row_duals: Vec<f64>,
    /// The reduced cost of each column of a solved linear program.
    pub reduced_costs: Vec<f64>,
}

/// HiGHS's status of a column or row at its lower bound, and of one in the basis.
pub const AT_LOWER: u8 = 0;
/// See [`AT_LOWER`].
pub const BASIC: u8 = 1;

/// The start of a simplex method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Basis {
    /// HiGHS's status of each column.
    pub columns: Vec<u8>,
    /// The status of each row.
    pub rows: Vec<u8>,
}

/// State of a mixed-integer solve while it goes on.
#[derive(Debug, Clone, Copy)]
pub struct SolverState<'a> {
    /// No feasible point has a smaller objective.
    pub bound: f64,
    /// Nodes of its tree so far.
    pub nodes: u64,
    /// A point better than all before, one value per column; none when nothing new was found.
    pub point: Option<&'a [f64]>,
}

/// Rows `lower <= sum coefficient x_column <= upper`, gathered to be added at once.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    lower: Vec<f64>,
    upper: Vec<f64>,
    entries: Entries,
}

/// Sparse vectors, gathered to be added at once as rows or columns.
#[derive(Debug, Clone, Default)]
pub struct Entries {
    starts: Vec<ffi::HighsInt>,
    at: Vec<ffi::HighsInt>,
    values: Vec<f64>,
}

impl Entries {
    /// One more vector, each place named at most once. Entries of exactly 0 are left out.
    pub fn push(&mut self, entries: &[(usize, f64)]) {
        self.starts.push(index(self.at.len()));
        for &(at, value) in entries.iter().filter(|e| e.1 != 0.0) {
            self.at.push(index(at));
            self.values.push(value);
        }
    }

    fn check(&self) -> Result<(), Error> {
        match self.values.iter().find(|a| a.abs() <= SMALLEST) {
            Some(a) => Err(Error::Solver(format!("the coefficient {a} is too small for HiGHS; scale the program"))),
            None => Ok(()),
        }
    }
}

impl Rows {
    /// One more row, each column named at most once. Entries of exactly 0 are left out.
    pub fn push(&mut self, coefficients: &[(usize, f64)], lower: f64, upper: f64) {
        self.entries.push(coefficients);
        self.lower.push(lower);
        self.upper.push(upper);
    }
}

fn text(name: &str) -> CString {
    CString::new(name).expect("names of options hold no zero byte")
}

fn index(at: usize) -> ffi::HighsInt {
    ffi::HighsInt::try_from(at).expect("HiGHS counts columns and rows in 32 bits")
}

fn failed(what: &str) -> Error {
    Error::Solver(format!("HiGHS could not {what}"))
}

/// A warning is no failure: HiGHS warns of early ends and of numbers it treats as infinite.
fn check(done: ffi::HighsInt, what: &str) -> Result<(), Error> {
    if done == ffi::kHighsStatusError { Err(failed(what)) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
