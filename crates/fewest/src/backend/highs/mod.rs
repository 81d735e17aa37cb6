//! Linear and mixed-integer programs, solved by HiGHS (Huangfu, Hall, Math. Prog. Comp. 2018; MIT licence).
//!
//! ```text
//! minimise  sum_k cost_k x_k
//! s.t.      lower_k <= x_k <= upper_k,  x_k whole where the column says so
//!           row_lower_r <= sum_k a_rk x_k <= row_upper_r
//! ```
//!
//! A [`Program`] stays alive between solves. Rows and columns can be added, costs and bounds changed; a linear program then
//! goes on from its last basis, a mixed-integer one from the point given by [`Program::set_start`]. Solves are silent and
//! deterministic: one thread, a fixed seed.
//!
//! Tolerances are HiGHS's own, absolute: 1e-7 on rows and bounds, 1e-6 on wholeness. Scale a program so that its costs and
//! coefficients are near 1. Coefficients below [`SMALLEST`] are refused, because HiGHS would drop them without a word.

#![expect(unsafe_code, reason = "the door to a C library; every call is a line or two below")]

use std::ffi::{CString, c_char, c_int, c_void};
use std::path::Path;
use std::ptr::NonNull;
use std::time::Duration;

use highs_sys as ffi;

use crate::Error;

/// HiGHS drops matrix entries up to this size.
pub const SMALLEST: f64 = 1e-9;

/// HiGHS's number for primal simplex; 0 lets it choose.
const PRIMAL_SIMPLEX: ffi::HighsInt = 4;

/// One column of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Its cost, finite.
    pub cost: f64,
    /// Its least value; may be minus infinity.
    pub lower: f64,
    /// Its largest value; may be infinity.
    pub upper: f64,
    /// Whether it only takes whole values.
    pub integer: bool,
}

/// How a solve may end early, and how exact it must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Wall-clock time. Default none.
    pub time: Option<Duration>,
    /// A mixed-integer solve ends when (objective - bound) / |objective| is at most this. Default 1e-6.
    pub gap: f64,
    /// Solve without the wholeness of columns. Default no.
    pub relaxed: bool,
    /// Solve linear programs, those of a tree's nodes too, by an interior-point method. Default no: HiGHS chooses.
    pub interior: bool,
    /// Go on with a linear program by primal simplex: its last basis is still feasible, only columns are new or costs changed.
    /// Default no: HiGHS chooses.
    pub primal: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self { time: None, gap: 1e-6, relaxed: false, interior: false, primal: false }
    }
}

/// How a solve ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Solved to the gap asked for.
    Optimal,
    /// No point satisfies the rows and bounds.
    Infeasible,
    /// The objective has no lower bound.
    Unbounded,
    /// The time was over or the caller said stop.
    Stopped,
}

/// What a solve found.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// How it ended.
    pub ended: Ended,
    /// Best point found, one value per column; empty when none was found.
    pub values: Vec<f64>,
    /// Its objective; infinity when there is no point.
    pub objective: f64,
    /// No feasible point has a smaller objective. Minus infinity when nothing is proven, infinity when infeasible.
    pub bound: f64,
    /// Of a solved linear program: how the objective changes with each row's side, one per row.
    pub row_duals: Vec<f64>,
    /// Of a solved linear program: the reduced cost of each column.
    pub reduced_costs: Vec<f64>,
}

/// What a mixed-integer solve knows while it goes on.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'a> {
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

/// A program that can be solved again and again while it changes. Not shared between threads.
pub struct Program {
    highs: NonNull<c_void>,
    columns: usize,
    rows: usize,
    integers: usize,
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: made by Highs_create, destroyed once.
        unsafe { ffi::Highs_destroy(self.highs.as_ptr()) }
    }
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Program({} columns, {} integer, {} rows)", self.columns, self.integers, self.rows)
    }
}

/// The caller's watcher, behind the pointer that HiGHS hands to [`interrupt`].
struct Watcher<'a> {
    watch: &'a mut dyn FnMut(&Seen<'_>) -> bool,
    columns: usize,
    stop: bool,
}

/// Callback of HiGHS: tells the caller what is new and asks whether to stop.
unsafe extern "C" fn interrupt(
    kind: c_int,
    _message: *const c_char,
    from_solver: *const ffi::HighsCallbackDataOut,
    to_solver: *mut ffi::HighsCallbackDataIn,
    user: *mut c_void,
) {
    // SAFETY: `user` is the `Watcher` that `Program::watch` keeps alive and untouched during the run; the other two are HiGHS's
    // own, valid for this call; a point, where there is one, has a value for each column.
    unsafe {
        let (watcher, out) = (&mut *user.cast::<Watcher<'_>>(), &*from_solver);
        let improving = kind == ffi::kHighsCallbackMipImprovingSolution && !out.mip_solution.is_null();
        let point = improving.then(|| std::slice::from_raw_parts(out.mip_solution, watcher.columns));
        let tree = improving || kind == ffi::kHighsCallbackMipInterrupt;
        let (bound, nodes) = if tree { (out.mip_dual_bound, out.mip_node_count) } else { (f64::NEG_INFINITY, 0) };
        watcher.stop |= (watcher.watch)(&Seen { bound, nodes: nodes.max(0).unsigned_abs(), point });
        // A new point is only told; HiGHS takes no answer to it.
        if !improving {
            (*to_solver).user_interrupt = c_int::from(watcher.stop);
        }
    }
}

/// What HiGHS calls back for.
const KINDS: [c_int; 4] = [
    ffi::kHighsCallbackSimplexInterrupt,
    ffi::kHighsCallbackIpmInterrupt,
    ffi::kHighsCallbackMipInterrupt,
    ffi::kHighsCallbackMipImprovingSolution,
];

impl Program {
    /// A program without columns and rows.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS cannot start.
    pub fn new() -> Result<Self, Error> {
        // SAFETY: no arguments.
        let highs = NonNull::new(unsafe { ffi::Highs_create() }).ok_or_else(|| failed("start"))?;
        let program = Self { highs, columns: 0, rows: 0, integers: 0 };
        program.set_flag("output_flag", false)?;
        program.set_count("threads", 1)?;
        program.set_count("random_seed", 0)?;
        program.set_text("parallel", "off")?;
        Ok(program)
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Adds a column that is in no row yet; returns its number, counted from 0.
    ///
    /// # Errors
    /// [`Error::Solver`] for a cost or bound that is no number.
    pub fn add_column(&mut self, column: Column) -> Result<usize, Error> {
        self.add_columns(&[column])
    }

    /// Adds columns that are in no row yet; returns the number of the first, counted from 0.
    ///
    /// # Errors
    /// [`Error::Solver`] for a cost or bound that is no number.
    pub fn add_columns(&mut self, columns: &[Column]) -> Result<usize, Error> {
        let mut entries = Entries::default();
        for _ in columns {
            entries.push(&[]);
        }
        self.add_filled_columns(columns, &entries)
    }

    /// Adds columns with their entries in the rows there are, (row, value) for each column; returns the number of the first,
    /// counted from 0.
    ///
    /// # Errors
    /// [`Error::Solver`] for a cost, bound or value that is no number, a row that does not exist, a value up to [`SMALLEST`] in size.
    pub fn add_filled_columns(&mut self, columns: &[Column], entries: &Entries) -> Result<usize, Error> {
        assert_eq!(columns.len(), entries.starts.len(), "entries for each column");
        entries.check()?;
        let at = self.columns;
        let of = |part: fn(&Column) -> f64| columns.iter().map(part).collect::<Vec<f64>>();
        let (cost, lower, upper) = (of(|c| c.cost), of(|c| c.lower), of(|c| c.upper));
        // SAFETY: the arrays have the lengths given; HiGHS copies them and checks the row numbers.
        let done = unsafe {
            ffi::Highs_addCols(
                self.highs.as_ptr(),
                index(columns.len()),
                cost.as_ptr(),
                lower.as_ptr(),
                upper.as_ptr(),
                index(entries.at.len()),
                entries.starts.as_ptr(),
                entries.at.as_ptr(),
                entries.values.as_ptr(),
            )
        };
        check(done, "add columns")?;
        self.columns += columns.len();
        for (k, _) in columns.iter().enumerate().filter(|c| c.1.integer) {
            // SAFETY: the column exists.
            check(
                unsafe { ffi::Highs_changeColIntegrality(self.highs.as_ptr(), index(at + k), ffi::VAR_TYPE_INTEGER) },
                "make a column whole",
            )?;
            self.integers += 1;
        }
        Ok(at)
    }

    /// Adds the row `lower <= sum coefficient x_column <= upper`, each column named at most once; returns its number,
    /// counted from 0. Entries of exactly 0 are left out.
    ///
    /// # Errors
    /// [`Error::Solver`] for a coefficient up to [`SMALLEST`] in size, a column that does not exist or is named twice.
    pub fn add_row(&mut self, coefficients: &[(usize, f64)], lower: f64, upper: f64) -> Result<usize, Error> {
        let mut rows = Rows::default();
        rows.push(coefficients, lower, upper);
        self.add_rows(&rows)
    }

    /// Adds rows; returns the number of the first, counted from 0.
    ///
    /// # Errors
    /// As [`Program::add_row`].
    pub fn add_rows(&mut self, rows: &Rows) -> Result<usize, Error> {
        rows.entries.check()?;
        let at = self.rows;
        // SAFETY: the arrays have the lengths given; HiGHS copies them and checks the column numbers.
        let done = unsafe {
            ffi::Highs_addRows(
                self.highs.as_ptr(),
                index(rows.lower.len()),
                rows.lower.as_ptr(),
                rows.upper.as_ptr(),
                index(rows.entries.at.len()),
                rows.entries.starts.as_ptr(),
                rows.entries.at.as_ptr(),
                rows.entries.values.as_ptr(),
            )
        };
        check(done, "add rows")?;
        self.rows += rows.lower.len();
        Ok(at)
    }

    /// Gives a column a name, for [`Program::write_model`]. Without spaces.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS refuses it.
    pub fn name_column(&mut self, column: usize, name: &str) -> Result<(), Error> {
        let name = text(name);
        // SAFETY: `name` ends in a zero byte; HiGHS checks the number of the column.
        let done = unsafe { ffi::Highs_passColName(self.highs.as_ptr(), index(column), name.as_ptr()) };
        check(done, "name a column")
    }

    /// A constant that every objective and bound contains.
    ///
    /// # Errors
    /// [`Error::Solver`] when it is no number.
    pub fn set_offset(&mut self, offset: f64) -> Result<(), Error> {
        // SAFETY: no pointers but `highs`.
        check(unsafe { ffi::Highs_changeObjectiveOffset(self.highs.as_ptr(), offset) }, "take an offset")
    }

    /// Changes the cost of a column.
    ///
    /// # Errors
    /// [`Error::Solver`] when there is no such column or the cost is no number.
    pub fn set_cost(&mut self, column: usize, cost: f64) -> Result<(), Error> {
        // SAFETY: HiGHS checks the number of the column.
        check(unsafe { ffi::Highs_changeColCost(self.highs.as_ptr(), index(column), cost) }, "change a cost")
    }

    /// Changes the costs of columns, (column, cost) each.
    ///
    /// # Errors
    /// [`Error::Solver`] when there is no such column or a cost is no number.
    pub fn set_costs(&mut self, costs: &[(usize, f64)]) -> Result<(), Error> {
        let (columns, costs): (Vec<_>, Vec<f64>) = costs.iter().map(|&(k, cost)| (index(k), cost)).unzip();
        let (highs, count) = (self.highs.as_ptr(), index(costs.len()));
        // SAFETY: both arrays have the length given; HiGHS checks the numbers of the columns.
        let done = unsafe { ffi::Highs_changeColsCostBySet(highs, count, columns.as_ptr(), costs.as_ptr()) };
        check(done, "change costs")
    }

    /// Changes the bounds of a column.
    ///
    /// # Errors
    /// [`Error::Solver`] when there is no such column or a bound is no number.
    pub fn set_bounds(&mut self, column: usize, lower: f64, upper: f64) -> Result<(), Error> {
        // SAFETY: HiGHS checks the number of the column.
        let done = unsafe { ffi::Highs_changeColBounds(self.highs.as_ptr(), index(column), lower, upper) };
        check(done, "change the bounds of a column")
    }

    /// Changes the sides of a row.
    ///
    /// # Errors
    /// [`Error::Solver`] when there is no such row or a side is no number.
    pub fn set_sides(&mut self, row: usize, lower: f64, upper: f64) -> Result<(), Error> {
        // SAFETY: HiGHS checks the number of the row.
        let done = unsafe { ffi::Highs_changeRowBounds(self.highs.as_ptr(), index(row), lower, upper) };
        check(done, "change the sides of a row")
    }

    /// A point, one value per column, for the next mixed-integer solve to start from; of no use when it breaks a row.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS refuses it.
    pub fn set_start(&mut self, values: &[f64]) -> Result<(), Error> {
        assert_eq!(values.len(), self.columns, "one value per column");
        let none = std::ptr::null();
        // SAFETY: `values` has one entry per column; null means "not given".
        let done = unsafe { ffi::Highs_setSolution(self.highs.as_ptr(), values.as_ptr(), none, none, none) };
        check(done, "take a starting point")
    }

    /// Solves. `stop` is asked all along and ends the solve by true.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails; ending early is no error.
    pub fn solve(&mut self, effort: &Effort, stop: &mut dyn FnMut() -> bool) -> Result<Answer, Error> {
        self.watch(effort, &mut |_| stop())
    }

    /// Solves. `watch` is told all along what is known, and ends the solve by true.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails; ending early is no error.
    pub fn watch(&mut self, effort: &Effort, watch: &mut dyn FnMut(&Seen<'_>) -> bool) -> Result<Answer, Error> {
        if watch(&Seen { bound: f64::NEG_INFINITY, nodes: 0, point: None }) || effort.time.is_some_and(|t| t.is_zero())
        {
            return Ok(Answer::nothing(Ended::Stopped));
        }
        let highs = self.highs.as_ptr();
        let whole = self.integers > 0 && !effort.relaxed;
        self.set_number("time_limit", effort.time.map_or(f64::INFINITY, |t| t.as_secs_f64()))?;
        self.set_number("mip_rel_gap", effort.gap)?;
        self.set_flag("solve_relaxation", effort.relaxed)?;
        let method = if effort.interior { "ipm" } else { "choose" };
        self.set_text("solver", if whole { "choose" } else { method })?;
        self.set_text("mip_lp_solver", method)?;
        self.set_count("simplex_strategy", if effort.primal { PRIMAL_SIMPLEX } else { 0 })?;
        let mut watcher = Watcher { watch, columns: self.columns, stop: false };
        let user: *mut Watcher<'_> = &raw mut watcher;
        // SAFETY: the callback is given `user` while `watcher` lives and is taken back before it ends.
        let done = unsafe {
            ffi::Highs_zeroAllClocks(highs);
            ffi::Highs_setCallback(highs, Some(interrupt), user.cast());
            for kind in KINDS {
                ffi::Highs_startCallback(highs, kind);
            }
            let done = ffi::Highs_run(highs);
            for kind in KINDS {
                ffi::Highs_stopCallback(highs, kind);
            }
            ffi::Highs_setCallback(highs, None, std::ptr::null_mut());
            done
        };
        check(done, "solve")?;
        // SAFETY: `highs` lives.
        let ended = match unsafe { ffi::Highs_getModelStatus(highs) } {
            ffi::MODEL_STATUS_OPTIMAL | ffi::MODEL_STATUS_MODEL_EMPTY => Ended::Optimal,
            ffi::MODEL_STATUS_INFEASIBLE => Ended::Infeasible,
            ffi::MODEL_STATUS_UNBOUNDED | ffi::MODEL_STATUS_UNBOUNDED_OR_INFEASIBLE => Ended::Unbounded,
            ffi::MODEL_STATUS_REACHED_TIME_LIMIT | ffi::MODEL_STATUS_REACHED_INTERRUPT => Ended::Stopped,
            other => return Err(Error::Solver(format!("HiGHS ended with model status {other}"))),
        };
        let mut answer = Answer::nothing(ended);
        if self.info("primal_solution_status")? == ffi::SOLUTION_STATUS_FEASIBLE {
            let [mut values, mut reduced] = [vec![0.0; self.columns], vec![0.0; self.columns]];
            let [mut activity, mut duals] = [vec![0.0; self.rows], vec![0.0; self.rows]];
            // SAFETY: the arrays have one entry per column, or per row.
            let done = unsafe {
                ffi::Highs_getSolution(
                    highs,
                    values.as_mut_ptr(),
                    reduced.as_mut_ptr(),
                    activity.as_mut_ptr(),
                    duals.as_mut_ptr(),
                )
            };
            check(done, "read the solution")?;
            answer.values = values;
            // SAFETY: `highs` lives.
            answer.objective = unsafe { ffi::Highs_getObjectiveValue(highs) };
            if !whole && ended == Ended::Optimal {
                answer.bound = answer.objective;
                (answer.row_duals, answer.reduced_costs) = (duals, reduced);
            }
        }
        if whole && matches!(ended, Ended::Optimal | Ended::Stopped) {
            answer.bound = self.number("mip_dual_bound")?;
        }
        Ok(answer)
    }

    /// Writes the program to a file that other solvers read; the format follows the ending, `.mps` or `.lp`. The one place
    /// where the library writes a file: HiGHS does.
    ///
    /// # Errors
    /// [`Error::Solver`] naming the file.
    #[expect(
        clippy::disallowed_types,
        clippy::disallowed_methods,
        reason = "see above: the file is HiGHS's, this only looks whether it can be written"
    )]
    pub fn write_model(&self, path: &Path) -> Result<(), Error> {
        let refused = || Error::Solver(format!("HiGHS could not write the model to {}", path.display()));
        if !path.extension().is_some_and(|e| e == "mps" || e == "lp") {
            return Err(Error::Solver(format!("the model file {} must end in .mps or .lp", path.display())));
        }
        let name = path.to_str().and_then(|name| CString::new(name).ok()).ok_or_else(refused)?;
        // HiGHS 1.15 crashes on an .lp file that it cannot open.
        std::fs::File::create(path).map_err(|_| refused())?;
        // SAFETY: `name` ends in a zero byte.
        let done = unsafe { ffi::Highs_writeModel(self.highs.as_ptr(), name.as_ptr()) };
        if done == ffi::STATUS_ERROR { Err(refused()) } else { Ok(()) }
    }

    fn set_flag(&self, option: &str, value: bool) -> Result<(), Error> {
        let name = text(option);
        // SAFETY: `name` ends in a zero byte. So in the functions below.
        let done =
            unsafe { ffi::Highs_setBoolOptionValue(self.highs.as_ptr(), name.as_ptr(), ffi::HighsInt::from(value)) };
        check(done, option)
    }

    fn set_count(&self, option: &str, value: ffi::HighsInt) -> Result<(), Error> {
        let name = text(option);
        // SAFETY: as above.
        check(unsafe { ffi::Highs_setIntOptionValue(self.highs.as_ptr(), name.as_ptr(), value) }, option)
    }

    fn set_number(&self, option: &str, value: f64) -> Result<(), Error> {
        let name = text(option);
        // SAFETY: as above.
        check(unsafe { ffi::Highs_setDoubleOptionValue(self.highs.as_ptr(), name.as_ptr(), value) }, option)
    }

    fn set_text(&self, option: &str, value: &str) -> Result<(), Error> {
        let (name, value) = (text(option), text(value));
        // SAFETY: as above.
        let done = unsafe { ffi::Highs_setStringOptionValue(self.highs.as_ptr(), name.as_ptr(), value.as_ptr()) };
        check(done, option)
    }

    fn info(&self, what: &str) -> Result<ffi::HighsInt, Error> {
        let (name, mut value) = (text(what), 0);
        // SAFETY: as above; `value` is written.
        check(unsafe { ffi::Highs_getIntInfoValue(self.highs.as_ptr(), name.as_ptr(), &raw mut value) }, what)?;
        Ok(value)
    }

    fn number(&self, what: &str) -> Result<f64, Error> {
        let (name, mut value) = (text(what), 0.0);
        // SAFETY: as above; `value` is written.
        check(unsafe { ffi::Highs_getDoubleInfoValue(self.highs.as_ptr(), name.as_ptr(), &raw mut value) }, what)?;
        Ok(value)
    }
}

impl Answer {
    fn nothing(ended: Ended) -> Self {
        let bound = if ended == Ended::Infeasible { f64::INFINITY } else { f64::NEG_INFINITY };
        let none = Vec::new;
        Self { ended, values: none(), objective: f64::INFINITY, bound, row_duals: none(), reduced_costs: none() }
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
    if done == ffi::STATUS_ERROR { Err(failed(what)) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
