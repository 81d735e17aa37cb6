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
}

impl Default for Effort {
    fn default() -> Self {
        Self { time: None, gap: 1e-6, relaxed: false }
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

/// The caller's stop question, behind the pointer that HiGHS hands to [`interrupt`].
struct Stop<'a>(&'a mut dyn FnMut() -> bool);

/// Callback of HiGHS: asks the caller whether to stop.
unsafe extern "C" fn interrupt(
    _kind: c_int,
    _message: *const c_char,
    _out: *const ffi::HighsCallbackDataOut,
    to_solver: *mut ffi::HighsCallbackDataIn,
    user: *mut c_void,
) {
    // SAFETY: `user` is the `Stop` that `Program::solve` keeps alive and untouched during the run; `to_solver` is HiGHS's own,
    // valid for this call.
    unsafe {
        let stop = &mut *user.cast::<Stop<'_>>();
        (*to_solver).user_interrupt = c_int::from((stop.0)());
    }
}

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
        let at = self.columns;
        let none = std::ptr::null();
        // SAFETY: no entries, so the null arrays are not read.
        let done = unsafe {
            ffi::Highs_addCol(self.highs.as_ptr(), column.cost, column.lower, column.upper, 0, none, none.cast())
        };
        check(done, "add a column")?;
        self.columns += 1;
        if column.integer {
            // SAFETY: the column exists.
            check(
                unsafe { ffi::Highs_changeColIntegrality(self.highs.as_ptr(), index(at), ffi::VAR_TYPE_INTEGER) },
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
        let entries = coefficients.iter().filter(|e| e.1 != 0.0);
        let (columns, values): (Vec<ffi::HighsInt>, Vec<f64>) = entries.map(|&(k, a)| (index(k), a)).unzip();
        if let Some(a) = values.iter().find(|a| a.abs() <= SMALLEST) {
            return Err(Error::Solver(format!(
                "a row has the coefficient {a}, too small for HiGHS; scale the program"
            )));
        }
        // SAFETY: both arrays have the length given; HiGHS copies them and checks the column numbers.
        let done = unsafe {
            ffi::Highs_addRow(
                self.highs.as_ptr(),
                lower,
                upper,
                index(columns.len()),
                columns.as_ptr(),
                values.as_ptr(),
            )
        };
        check(done, "add a row")?;
        self.rows += 1;
        Ok(self.rows - 1)
    }

    /// Changes the cost of a column.
    ///
    /// # Errors
    /// [`Error::Solver`] when there is no such column or the cost is no number.
    pub fn set_cost(&mut self, column: usize, cost: f64) -> Result<(), Error> {
        // SAFETY: HiGHS checks the number of the column.
        check(unsafe { ffi::Highs_changeColCost(self.highs.as_ptr(), index(column), cost) }, "change a cost")
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
        if stop() || effort.time.is_some_and(|t| t.is_zero()) {
            return Ok(Answer::nothing(Ended::Stopped));
        }
        let highs = self.highs.as_ptr();
        let whole = self.integers > 0 && !effort.relaxed;
        self.set_number("time_limit", effort.time.map_or(f64::INFINITY, |t| t.as_secs_f64()))?;
        self.set_number("mip_rel_gap", effort.gap)?;
        self.set_flag("solve_relaxation", effort.relaxed)?;
        let mut stop = Stop(stop);
        let user: *mut Stop<'_> = &raw mut stop;
        // SAFETY: the callback is given `user` while `stop` lives and is taken back before `stop` ends.
        let done = unsafe {
            ffi::Highs_zeroAllClocks(highs);
            ffi::Highs_setCallback(highs, Some(interrupt), user.cast());
            for kind in [ffi::kHighsCallbackSimplexInterrupt, ffi::kHighsCallbackMipInterrupt] {
                ffi::Highs_startCallback(highs, kind);
            }
            let done = ffi::Highs_run(highs);
            for kind in [ffi::kHighsCallbackSimplexInterrupt, ffi::kHighsCallbackMipInterrupt] {
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
    pub fn write_model(&self, path: &Path) -> Result<(), Error> {
        let refused = || Error::Solver(format!("HiGHS could not write the model to {}", path.display()));
        if !path.extension().is_some_and(|e| e == "mps" || e == "lp") {
            return Err(Error::Solver(format!("the model file {} must end in .mps or .lp", path.display())));
        }
        let name = path.to_str().and_then(|name| CString::new(name).ok()).ok_or_else(refused)?;
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
mod tests {
    use std::time::Duration;

    use super::{Column, Effort, Ended, Program};
    use crate::Error;

    const FREE: f64 = f64::INFINITY;

    /// Coefficients, lower and upper side.
    type Row<'a> = (&'a [(usize, f64)], f64, f64);

    fn program(columns: &[(f64, f64, f64, bool)], rows: &[Row<'_>]) -> Program {
        let mut program = Program::new().unwrap();
        for &(cost, lower, upper, integer) in columns {
            program.add_column(Column { cost, lower, upper, integer }).unwrap();
        }
        for &(coefficients, lower, upper) in rows {
            program.add_row(coefficients, lower, upper).unwrap();
        }
        program
    }

    fn close(found: &[f64], want: &[f64]) {
        assert_eq!(found.len(), want.len());
        assert!(found.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-7), "{found:?}, but should be {want:?}");
    }

    /// Two products: 3 and 5 of gain, at most 4 of the first, 6 of the second, 18 of 3 x + 2 y (Hillier and Lieberman's example).
    fn factory(integer: bool) -> Program {
        let columns = [(-3.0, 0.0, 4.0, integer), (-5.0, 0.0, FREE, integer)];
        program(&columns, &[(&[(1, 2.0)], -FREE, 12.0), (&[(0, 3.0), (1, 2.0)], -FREE, 18.0)])
    }

    #[test]
    fn a_linear_program_gives_its_optimum_its_duals_and_its_reduced_costs() {
        let mut lp = factory(false);
        let found = lp.solve(&Effort::default(), &mut || false).unwrap();
        assert_eq!(found.ended, Ended::Optimal);
        close(&found.values, &[2.0, 6.0]);
        close(&[found.objective, found.bound], &[-36.0, -36.0]);
        close(&found.row_duals, &[-1.5, -1.0]);
        close(&found.reduced_costs, &[0.0, 0.0]);
    }

    #[test]
    fn what_changes_between_solves_counts() {
        let mut lp = factory(false);
        let ask = |lp: &mut Program| lp.solve(&Effort::default(), &mut || false).unwrap();
        ask(&mut lp);
        lp.add_row(&[(0, 1.0), (1, 1.0)], -FREE, 7.0).unwrap();
        close(&ask(&mut lp).values, &[1.0, 6.0]);
        lp.set_cost(0, -6.0).unwrap();
        close(&ask(&mut lp).values, &[4.0, 3.0]);
        lp.set_bounds(0, 0.0, 3.0).unwrap();
        close(&ask(&mut lp).values, &[3.0, 4.0]);
        lp.set_sides(0, -FREE, 6.0).unwrap();
        close(&ask(&mut lp).values, &[3.0, 3.0]);
        let at = lp.add_column(Column { cost: -1.0, lower: 0.0, upper: 2.0, integer: false }).unwrap();
        assert_eq!((at, lp.columns(), lp.rows()), (2, 3, 3));
        close(&ask(&mut lp).values, &[3.0, 3.0, 2.0]);
    }

    #[test]
    fn a_whole_program_and_its_relaxation() {
        // Knapsack: gains 8 11 6 4, weights 5 7 4 3, room 14. Best is the last three (21); relaxed 8 + 11 + 2/4 6 = 22.
        let columns = [(-8.0, 0.0, 1.0, true), (-11.0, 0.0, 1.0, true), (-6.0, 0.0, 1.0, true), (-4.0, 0.0, 1.0, true)];
        let mut knapsack = program(&columns, &[(&[(0, 5.0), (1, 7.0), (2, 4.0), (3, 3.0)], -FREE, 14.0)]);
        let relaxed = knapsack.solve(&Effort { relaxed: true, ..Effort::default() }, &mut || false).unwrap();
        close(&relaxed.values, &[1.0, 1.0, 0.5, 0.0]);
        close(&relaxed.row_duals, &[-1.5]);
        knapsack.set_start(&[1.0, 1.0, 0.0, 0.0]).unwrap();
        let whole = knapsack.solve(&Effort::default(), &mut || false).unwrap();
        assert_eq!(whole.ended, Ended::Optimal);
        close(&whole.values, &[0.0, 1.0, 1.0, 1.0]);
        close(&[whole.objective, whole.bound], &[-21.0, -21.0]);
        assert!(whole.row_duals.is_empty() && whole.reduced_costs.is_empty());
        // Another row: not the last three together.
        knapsack.add_row(&[(1, 1.0), (2, 1.0), (3, 1.0)], -FREE, 2.0).unwrap();
        close(&[knapsack.solve(&Effort::default(), &mut || false).unwrap().objective], &[-19.0]);
    }

    #[test]
    fn programs_without_an_optimum_say_so() {
        for integer in [false, true] {
            let mut empty = program(&[(1.0, 0.0, 1.0, integer)], &[(&[(0, 2.0)], 3.0, FREE)]);
            let found = empty.solve(&Effort::default(), &mut || false).unwrap();
            assert_eq!((found.ended, found.bound, found.values.len()), (Ended::Infeasible, FREE, 0));
            let mut endless = program(&[(-1.0, 0.0, FREE, integer)], &[]);
            let found = endless.solve(&Effort::default(), &mut || false).unwrap();
            assert_eq!((found.ended, found.bound), (Ended::Unbounded, -FREE));
        }
    }

    /// A market split: rows with random weights that 0-1 values must meet exactly; hard for its size.
    fn hard() -> Program {
        let (n, rows) = (50, 6);
        let mut program = Program::new().unwrap();
        for _ in 0..n {
            program.add_column(Column { cost: 0.0, lower: 0.0, upper: 1.0, integer: true }).unwrap();
        }
        let mut seed = 1u64;
        for row in 0..rows {
            let mut weights: Vec<(usize, f64)> = Vec::new();
            for k in 0..n {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                weights.push((k, ((seed >> 33) % 100) as f64));
            }
            let half = (weights.iter().map(|w| w.1).sum::<f64>() / 2.0).floor();
            for sign in [1.0, -1.0] {
                let slack = program.add_column(Column { cost: 1.0, lower: 0.0, upper: FREE, integer: false }).unwrap();
                weights.push((slack, sign));
            }
            assert_eq!(program.add_row(&weights, half, half).unwrap(), row);
        }
        program
    }

    #[test]
    fn time_and_stop_end_a_solve() {
        let none = Effort { time: Some(Duration::ZERO), ..Effort::default() };
        let found = factory(true).solve(&none, &mut || false).unwrap();
        assert_eq!((found.ended, found.bound, found.objective), (Ended::Stopped, -FREE, FREE));
        assert_eq!(factory(true).solve(&Effort::default(), &mut || true).unwrap().ended, Ended::Stopped);

        let short = Effort { time: Some(Duration::from_millis(200)), ..Effort::default() };
        let found = hard().solve(&short, &mut || false).unwrap();
        assert_eq!(found.ended, Ended::Stopped);
        let mut asked = 0;
        let found = hard().solve(&Effort::default(), &mut || {
            asked += 1;
            asked > 20
        });
        let found = found.unwrap();
        assert_eq!(found.ended, Ended::Stopped);
        assert!(asked > 20 && found.bound >= 0.0 && found.bound <= found.objective);
    }

    #[test]
    fn what_highs_would_drop_or_refuse_is_an_error() {
        let mut program = program(&[(1.0, 0.0, 1.0, false)], &[]);
        for bad in [&[(0, 1e-12)][..], &[(0, 1.0), (0, 2.0)], &[(3, 1.0)]] {
            let refused = program.add_row(bad, 0.0, 1.0);
            assert!(matches!(refused, Err(Error::Solver(_))), "{bad:?} gave {refused:?}");
        }
        assert!(program.set_cost(5, 1.0).is_err() && program.rows() == 0);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test looks at what HiGHS wrote")]
    fn a_model_is_written_for_other_solvers() {
        let path = std::env::temp_dir().join(format!("fewest-model-{}.lp", std::process::id()));
        factory(true).write_model(&path).unwrap();
        let (text, _) = (std::fs::read_to_string(&path).unwrap(), std::fs::remove_file(&path));
        assert!(text.contains("18") && text.to_lowercase().contains("gen"), "{text}");
        assert!(factory(true).write_model(std::path::Path::new("model.txt")).is_err());
        assert!(factory(true).write_model(std::path::Path::new("/nowhere/at/all.mps")).is_err());
    }
}
