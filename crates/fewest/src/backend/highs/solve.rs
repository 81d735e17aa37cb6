//! Solves a program of HiGHS, and examines it while it goes on.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use fewest_highs as ffi;

use super::program::Instance;
use super::{Answer, Basis, Column, Effort, Lp, Program, SolveStatus, SolverState, check, failed, text};
use crate::{Clock, Error};

/// HiGHS's number for primal simplex; 0 lets it choose.
const PRIMAL_SIMPLEX: ffi::HighsInt = 4;

/// A program of this many entries is solved in a thread of its own: HiGHS may not check its
/// callbacks for seconds.
const LARGE: usize = 10_000;
/// Longest time between two questions to the caller of that solve whether to stop.
const CHECK_EVERY: Duration = Duration::from_millis(10);
/// Longest wait for HiGHS once it was asked to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a callback hears from HiGHS.
struct Heard {
    bound: f64,
    nodes: u64,
    point: Option<Vec<f64>>,
}

impl Heard {
    fn state(&self) -> SolverState<'_> {
        SolverState { bound: self.bound, nodes: self.nodes, point: self.point.as_deref() }
    }

    fn nothing() -> Self {
        Self { bound: f64::NEG_INFINITY, nodes: 0, point: None }
    }
}

/// Who hears it, behind the pointer that HiGHS hands to [`interrupt`]; true ends the solve.
struct Listener<'a> {
    hear: &'a mut dyn FnMut(Heard) -> bool,
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
    // SAFETY: `user` is the `Listener` that `call` keeps alive and untouched during the run; the
    // other two are HiGHS's own, valid for this call; a point, where there is one, has a value for
    // each column.
    unsafe {
        let (listener, out) = (&mut *user.cast::<Listener<'_>>(), &*from_solver);
        let improving = kind == ffi::kHighsCallbackMipImprovingSolution && !out.mip_solution.is_null();
        let point = improving.then(|| std::slice::from_raw_parts(out.mip_solution, listener.columns).to_vec());
        let tree = improving || kind == ffi::kHighsCallbackMipInterrupt;
        let (bound, nodes) = if tree { (out.mip_dual_bound, out.mip_node_count) } else { (f64::NEG_INFINITY, 0) };
        listener.stop |= (listener.hear)(Heard { bound, nodes: nodes.max(0).unsigned_abs(), point });
        // HiGHS takes no answer to the call for a new point.
        if !improving {
            (*to_solver).user_interrupt = c_int::from(listener.stop);
        }
    }
}

/// Runs HiGHS in this thread; its callbacks go to `hear`.
fn call(highs: NonNull<c_void>, columns: usize, hear: &mut dyn FnMut(Heard) -> bool) -> ffi::HighsInt {
    let highs = highs.as_ptr();
    let mut listener = Listener { hear, columns, stop: false };
    let user: *mut Listener<'_> = &raw mut listener;
    // SAFETY: the callback is given `user` while `listener` lives and is taken back before it ends.
    unsafe {
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
    }
}

/// Whether the caller of a solve in another thread still waits for it.
const WAITED_FOR: u8 = 0;
const FINISHED: u8 = 1;
const ABANDONED: u8 = 2;

/// What HiGHS calls back for.
const KINDS: [c_int; 4] = [
    ffi::kHighsCallbackSimplexInterrupt,
    ffi::kHighsCallbackIpmInterrupt,
    ffi::kHighsCallbackMipInterrupt,
    ffi::kHighsCallbackMipImprovingSolution,
];

impl Program {
    /// Solves. `clock` is asked all along and ends the solve.
    ///
    /// # Errors
    /// [`Error::Solver`] when HiGHS fails; ending early is no error.
    pub fn solve(&mut self, effort: &Effort, clock: &Clock) -> Result<Answer, Error> {
        self.watch(effort, &mut |_| clock.stop().is_some())
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
        let mut ended = self.run(watch)?;
        if ended && self.is_lost() {
            // From an earlier basis it may go astray; by the simplex method without a basis it does not.
            // SAFETY: `highs` lives.
            check(unsafe { ffi::Highs_clearSolver(self.highs.as_ptr()) }, "begin again")?;
            self.configure(&Effort { lp: Lp::Simplex, primal: false, ..*effort }, is_integer)?;
            ended = self.run(watch)?;
        }
        if !ended {
            return Ok(Answer::nothing(SolveStatus::Stopped));
        }
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
        self.set_number("mip_feasibility_tolerance", effort.integrality)?;
        self.set_count("mip_max_nodes", effort.nodes.map_or(ffi::HighsInt::MAX, u32::cast_signed))?;
        self.set_flag("solve_relaxation", effort.relaxed)?;
        // "ipm" would load another solver in a library that may or may not be there.
        let method = if effort.lp == Lp::Interior { "ipx" } else { "choose" };
        self.set_text("solver", if is_integer { "choose" } else { method })?;
        self.set_text("mip_lp_solver", method)?;
        self.set_count("simplex_strategy", if effort.primal { PRIMAL_SIMPLEX } else { 0 })
    }

    /// The solve itself, with the watcher behind HiGHS's callbacks. False where HiGHS was left to
    /// itself because it did not stop in time.
    fn run(&mut self, watch: &mut dyn FnMut(&SolverState<'_>) -> bool) -> Result<bool, Error> {
        if self.entries >= LARGE {
            return self.run_apart(watch);
        }
        let mut hear = |heard: Heard| watch(&heard.state());
        check(call(self.highs, self.columns, &mut hear), "solve").map(|()| true)
    }

    /// As [`Program::run`], in a thread of its own. One that does not stop in time gives its memory
    /// back when it ends; this program is then a stub of the same shape, and of no use.
    fn run_apart(&mut self, watch: &mut dyn FnMut(&SolverState<'_>) -> bool) -> Result<bool, Error> {
        let (sender, receiver) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let state = Arc::new(AtomicU8::new(WAITED_FOR));
        let (its_stop, its_state) = (Arc::clone(&stop), Arc::clone(&state));
        let (instance, columns) = (Instance(self.highs), self.columns);
        let work = move || {
            let instance = instance;
            let ends = sender.clone();
            let mut hear = |heard: Heard| {
                // Send only changes; the receiver may be gone.
                if heard.point.is_some() || heard.nodes > 0 {
                    drop(sender.send(Ok(heard)));
                }
                its_stop.load(Ordering::Relaxed)
            };
            let done = call(instance.0, columns, &mut hear);
            if its_state.compare_exchange(WAITED_FOR, FINISHED, Ordering::AcqRel, Ordering::Acquire).is_err() {
                instance.destroy();
            }
            drop(ends.send(Err(done)));
        };
        let spawned = thread::Builder::new().name("highs".to_owned()).spawn(work);
        spawned.map_err(|error| Error::Solver(format!("cannot start a thread for HiGHS: {error}")))?;
        let mut stop_sent: Option<Instant> = None;
        loop {
            let heard = match receiver.recv_timeout(CHECK_EVERY) {
                Ok(Ok(heard)) => heard,
                Ok(Err(done)) => return check(done, "solve").map(|()| true),
                Err(RecvTimeoutError::Timeout) => Heard::nothing(),
                Err(RecvTimeoutError::Disconnected) => return Err(failed("solve: its thread ended by a panic")),
            };
            if stop_sent.is_none() && watch(&heard.state()) {
                stop.store(true, Ordering::Relaxed);
                stop_sent = Some(Instant::now());
            }
            let late = stop_sent.is_some_and(|stop_sent| stop_sent.elapsed() >= PATIENCE);
            if late && state.compare_exchange(WAITED_FOR, ABANDONED, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                self.become_stub()?;
                return Ok(false);
            }
        }
    }

    /// A new instance with as many columns and rows, all empty: what changes them finds them there.
    fn become_stub(&mut self) -> Result<(), Error> {
        let (columns, rows, lost) = (self.columns, self.rows, self.highs);
        let mut stub = Self::new()?;
        stub.add_columns(&vec![Column { cost: 0.0, lower: 0.0, upper: 0.0, integer: false }; columns])?;
        for _ in 0..rows {
            stub.add_row(&[], f64::NEG_INFINITY, f64::INFINITY)?;
        }
        std::mem::swap(self, &mut stub);
        // The instance in there belongs to the thread now.
        debug_assert_eq!(stub.highs, lost);
        std::mem::forget(stub);
        Ok(())
    }

    /// Whether HiGHS gave up without saying why.
    fn is_lost(&self) -> bool {
        // SAFETY: `highs` lives.
        unsafe { ffi::Highs_getModelStatus(self.highs.as_ptr()) == ffi::kHighsModelStatusUnknown }
    }

    /// How the solve ended.
    fn model_status(&self) -> Result<SolveStatus, Error> {
        // SAFETY: `highs` lives.
        match unsafe { ffi::Highs_getModelStatus(self.highs.as_ptr()) } {
            ffi::kHighsModelStatusOptimal | ffi::kHighsModelStatusModelEmpty => Ok(SolveStatus::Optimal),
            ffi::kHighsModelStatusInfeasible => Ok(SolveStatus::Infeasible),
            ffi::kHighsModelStatusUnbounded | ffi::kHighsModelStatusUnboundedOrInfeasible => Ok(SolveStatus::Unbounded),
            ffi::kHighsModelStatusTimeLimit | ffi::kHighsModelStatusSolutionLimit | ffi::kHighsModelStatusInterrupt => {
                Ok(SolveStatus::Stopped)
            }
            other => Err(Error::Solver(format!("HiGHS ended with model status {other}"))),
        }
    }

    /// The point, its objective, and the duals of a linear program, where there are any.
    fn read_solution(&self, answer: &mut Answer, is_integer: bool) -> Result<(), Error> {
        if self.info("primal_solution_status")? != ffi::kHighsSolutionStatusFeasible {
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

    /// The basis of the last solve of a linear program.
    ///
    /// # Errors
    /// [`Error::Solver`] where there was none.
    pub fn basis(&self) -> Result<Basis, Error> {
        let [mut columns, mut rows] = [self.columns, self.rows].map(|count| vec![0; count]);
        // SAFETY: the arrays have one entry per column, or per row.
        let done = unsafe { ffi::Highs_getBasis(self.highs.as_ptr(), columns.as_mut_ptr(), rows.as_mut_ptr()) };
        check(done, "read a basis")?;
        let [columns, rows] = [columns, rows].map(|of| of.iter().map(|&status| status as u8).collect());
        Ok(Basis { columns, rows })
    }

    /// The next solve begins at this basis.
    ///
    /// # Errors
    /// [`Error::Solver`] where it has not as many columns and rows as there are rows.
    pub fn set_basis(&mut self, basis: &Basis) -> Result<(), Error> {
        assert_eq!((basis.columns.len(), basis.rows.len()), (self.columns, self.rows), "a status each");
        let [columns, rows] =
            [&basis.columns, &basis.rows].map(|of| of.iter().map(|&status| status.into()).collect::<Vec<_>>());
        // SAFETY: the arrays have one entry per column, or per row; HiGHS copies them.
        let done = unsafe { ffi::Highs_setBasis(self.highs.as_ptr(), columns.as_ptr(), rows.as_ptr()) };
        check(done, "begin at a basis")
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
