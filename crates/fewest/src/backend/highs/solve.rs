//! Solves a program of HiGHS, and looks at it while it goes on.

use std::ffi::{c_char, c_int, c_void};

use highs_sys as ffi;

use super::{Answer, Effort, Program, SolveStatus, SolverState, check, text};
use crate::Error;

/// HiGHS's number for primal simplex; 0 lets it choose.
const PRIMAL_SIMPLEX: ffi::HighsInt = 4;

/// The caller's watcher, behind the pointer that HiGHS hands to [`interrupt`].
struct Watcher<'a> {
    watch: &'a mut dyn FnMut(&SolverState<'_>) -> bool,
    columns: usize,
    stop: bool,
}

/// Callback of HiGHS: passes on what is new, and stops the solve if the caller says so.
unsafe extern "C" fn interrupt(
    kind: c_int,
    _message: *const c_char,
    from_solver: *const ffi::HighsCallbackDataOut,
    to_solver: *mut ffi::HighsCallbackDataIn,
    user: *mut c_void,
) {
    // SAFETY: `user` is the `Watcher` that `Program::watch` keeps alive and untouched during the
    // run; the other two are HiGHS's own, valid for this call; a point, where there is one, has a
    // value for each column.
    unsafe {
        let (watcher, out) = (&mut *user.cast::<Watcher<'_>>(), &*from_solver);
        let improving = kind == ffi::kHighsCallbackMipImprovingSolution && !out.mip_solution.is_null();
        let point = improving.then(|| std::slice::from_raw_parts(out.mip_solution, watcher.columns));
        let tree = improving || kind == ffi::kHighsCallbackMipInterrupt;
        let (bound, nodes) = if tree { (out.mip_dual_bound, out.mip_node_count) } else { (f64::NEG_INFINITY, 0) };
        watcher.stop |= (watcher.watch)(&SolverState { bound, nodes: nodes.max(0).unsigned_abs(), point });
        // HiGHS takes no answer to the call for a new point.
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
    /// Solves. `stop` is called all along and ends the solve by true.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails; ending early is no error.
    pub fn solve(&mut self, effort: &Effort, stop: &mut dyn FnMut() -> bool) -> Result<Answer, Error> {
        self.watch(effort, &mut |_| stop())
    }

    /// Solves. `watch` gets the state of the solve all along, and ends it by true.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails; ending early is no error.
    pub fn watch(&mut self, effort: &Effort, watch: &mut dyn FnMut(&SolverState<'_>) -> bool) -> Result<Answer, Error> {
        let start = SolverState { bound: f64::NEG_INFINITY, nodes: 0, point: None };
        if watch(&start) || effort.time.is_some_and(|t| t.is_zero()) {
            return Ok(Answer::nothing(SolveStatus::Stopped));
        }
        let is_integer = self.integers > 0 && !effort.relaxed;
        self.configure(effort, is_integer)?;
        self.run(watch)?;
        let mut answer = Answer::nothing(self.model_status()?);
        self.read_solution(&mut answer, is_integer)?;
        if is_integer && matches!(answer.status, SolveStatus::Optimal | SolveStatus::Stopped) {
            answer.bound = self.number("mip_dual_bound")?;
        }
        Ok(answer)
    }

    /// HiGHS's options for this effort.
    fn configure(&self, effort: &Effort, is_integer: bool) -> Result<(), Error> {
        self.set_number("time_limit", effort.time.map_or(f64::INFINITY, |t| t.as_secs_f64()))?;
        self.set_number("mip_rel_gap", effort.gap)?;
        self.set_flag("solve_relaxation", effort.relaxed)?;
        let method = if effort.interior { "ipm" } else { "choose" };
        self.set_text("solver", if is_integer { "choose" } else { method })?;
        self.set_text("mip_lp_solver", method)?;
        self.set_count("simplex_strategy", if effort.primal { PRIMAL_SIMPLEX } else { 0 })
    }

    /// The solve itself, with the watcher behind HiGHS's callbacks.
    fn run(&mut self, watch: &mut dyn FnMut(&SolverState<'_>) -> bool) -> Result<(), Error> {
        let highs = self.highs.as_ptr();
        let mut watcher = Watcher { watch, columns: self.columns, stop: false };
        let user: *mut Watcher<'_> = &raw mut watcher;
        // SAFETY: the callback is given `user` while `watcher` lives and is taken back before it
        // ends.
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
        check(done, "solve")
    }

    /// How the solve ended.
    fn model_status(&self) -> Result<SolveStatus, Error> {
        // SAFETY: `highs` lives.
        match unsafe { ffi::Highs_getModelStatus(self.highs.as_ptr()) } {
            ffi::MODEL_STATUS_OPTIMAL | ffi::MODEL_STATUS_MODEL_EMPTY => Ok(SolveStatus::Optimal),
            ffi::MODEL_STATUS_INFEASIBLE => Ok(SolveStatus::Infeasible),
            ffi::MODEL_STATUS_UNBOUNDED | ffi::MODEL_STATUS_UNBOUNDED_OR_INFEASIBLE => Ok(SolveStatus::Unbounded),
            ffi::MODEL_STATUS_REACHED_TIME_LIMIT | ffi::MODEL_STATUS_REACHED_INTERRUPT => Ok(SolveStatus::Stopped),
            other => Err(Error::Solver(format!("HiGHS ended with model status {other}"))),
        }
    }

    /// The point, its objective, and the duals of a linear program, where there are any.
    fn read_solution(&self, answer: &mut Answer, is_integer: bool) -> Result<(), Error> {
        if self.info("primal_solution_status")? != ffi::SOLUTION_STATUS_FEASIBLE {
            return Ok(());
        }
        let [mut values, mut reduced] = [vec![0.0; self.columns], vec![0.0; self.columns]];
        let [mut activity, mut duals] = [vec![0.0; self.rows], vec![0.0; self.rows]];
        let highs = self.highs.as_ptr();
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
        if !is_integer && answer.status == SolveStatus::Optimal {
            answer.bound = answer.objective;
            (answer.row_duals, answer.reduced_costs) = (duals, reduced);
        }
        Ok(())
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
    fn nothing(status: SolveStatus) -> Self {
        let bound = if status == SolveStatus::Infeasible { f64::INFINITY } else { f64::NEG_INFINITY };
        let none = Vec::new;
        Self { status, values: none(), objective: f64::INFINITY, bound, row_duals: none(), reduced_costs: none() }
    }
}
