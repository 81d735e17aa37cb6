//! Jobs that are done side by side, each worth something by itself.

use std::sync::Mutex;

use rayon::prelude::*;

use crate::error::EvalError;

/// Observer of each job that is done: which one, and all that are known by then. It hears of
/// one at a time; its error ends the run.
pub type OnDone<'a, R> = &'a (dyn Fn(usize, &[Option<R>]) -> Result<(), EvalError> + Sync);

/// The results of all jobs: those that are `known`, and the others as `job` finds them; none where
/// it finds none for lack of time.
///
/// # Errors
/// That of the first job that has one.
pub(crate) fn each<R: Send>(
    known: Vec<Option<R>>,
    job: &(dyn Fn(usize) -> Result<Option<R>, EvalError> + Sync),
    on_done: OnDone<'_, R>,
) -> Result<Vec<Option<R>>, EvalError> {
    const UNBROKEN: &str = "no thread panics while it holds the results";
    let waiting: Vec<usize> = (0..known.len()).collect();
    let results = Mutex::new(known);
    let one = |at: usize| -> Result<(), EvalError> {
        if results.lock().expect(UNBROKEN)[at].is_some() {
            return Ok(());
        }
        let Some(found) = job(at)? else { return Ok(()) };
        let mut results = results.lock().expect(UNBROKEN);
        results[at] = Some(found);
        on_done(at, &results)
    };
    let failures: Vec<EvalError> = waiting.into_par_iter().filter_map(|at| one(at).err()).collect();
    match failures.into_iter().next() {
        Some(first) => Err(first),
        None => Ok(results.into_inner().expect(UNBROKEN)),
    }
}
