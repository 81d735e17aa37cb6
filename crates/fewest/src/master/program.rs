//! A selection problem as one mixed-integer program: rows for the rules, and a run that watches the
//! solver.

use crate::backend::highs::{Answer, Effort, Program, SMALLEST, SolveStatus};
use crate::{Error, Event, Memory, Reserved, Rules, Run, Sense, Status, Subset};

/// Rows of rules are scaled when their largest coefficient is above this or below its inverse: a
/// budget over large costs.
const FAR_FROM_ONE: f64 = 1e3;

/// A row of the rules over the columns of a program: `sum coefficient x_column <= upper`.
#[derive(Debug)]
pub struct RuleRow {
    /// (column, coefficient), ascending.
    pub entries: Vec<(usize, f64)>,
    /// The largest sum.
    pub upper: f64,
}

/// The rules as rows over the columns of z, which `column` gives by feature; features may share
/// one, and z is 0 where there is none.
pub fn rows_over(rules: &Rules, column: impl Fn(usize) -> Option<usize>) -> Vec<RuleRow> {
    let mut rows = Vec::new();
    for row in rules.rows() {
        let mut sums: Vec<(usize, f64)> = row.coefficients.iter().filter_map(|&(j, a)| Some((column(j)?, a))).collect();
        sums.sort_by_key(|e| e.0);
        sums.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
        let largest = sums.iter().fold(0.0, |m: f64, e| m.max(e.1.abs()));
        let near = largest == 0.0 || (1.0 / FAR_FROM_ONE..=FAR_FROM_ONE).contains(&largest);
        let scale = if near { 1.0 } else { largest };
        // Only costs can be this small beside others; without them a budget is a little looser, see
        // `refuse`.
        sums.retain_mut(|e| {
            e.1 /= scale;
            e.1.abs() > SMALLEST
        });
        // A row without columns forbids everything where its side is below 0.
        if !sums.is_empty() || row.upper < 0.0 {
            rows.push(RuleRow { entries: sums, upper: row.upper / scale });
        }
    }
    rows
}

/// Adds the rules as rows, see [`rows_over`].
pub fn add_rules(program: &mut Program, rules: &Rules, column: impl Fn(usize) -> Option<usize>) -> Result<(), Error> {
    let mut rows = rows_over(rules, column).into_iter();
    rows.try_for_each(|row| program.add_row(&row.entries, f64::NEG_INFINITY, row.upper).map(|_| ()))
}

/// Adds a row that any point satisfies but this subset, whose columns are `inside`; `outside` are
/// the other columns of z.
pub fn refuse(program: &mut Program, inside: &[usize], outside: &[usize]) -> Result<(), Error> {
    let row: Vec<(usize, f64)> = inside.iter().map(|&k| (k, -1.0)).chain(outside.iter().map(|&k| (k, 1.0))).collect();
    program.add_row(&row, 1.0 - inside.len() as f64, f64::INFINITY).map(|_| ())
}

/// Bytes that HiGHS takes per entry of the matrix, presolve and tree included: what it had taken
/// after a minute on RMILO-K of soybean-small.
const BYTES: u64 = 2500;

/// Takes the memory of a mixed-integer program of this many entries, which `what` describes;
/// refused above `most` bytes as well.
pub fn reserve(
    memory: &Memory,
    most: u64,
    entries: u64,
    what: impl FnOnce() -> String,
    remedy: &str,
) -> Result<Reserved, Error> {
    memory.reserve_within(most, BYTES.saturating_mul(entries), what, remedy)
}

/// Error of HiGHS's values, as a share of the objective without features: its tolerances
/// are 1e-6, and several add up.
pub const TOLERANCE: f64 = 1e-5;

/// Takes the objective without features, which is returned, from a minimised objective that is the
/// run's times `one`: HiGHS then measures its gap as the run does.
pub(crate) fn measure_from_baseline(program: &mut Program, one: f64, run: &Run<'_>) -> Result<f64, Error> {
    let baseline = run.gaps().yardstick.map_or(0.0, |yardstick| yardstick.baseline);
    if baseline != 0.0 {
        program.set_offset(-baseline * one)?;
    }
    Ok(baseline)
}

/// Solves a program whose first columns are z, of these features, and whose objective is the run's
/// times `one` (its negative where that is maximised). Each better point is offered with the
/// objective that `value` gives it; the bound is HiGHS's, within its tolerances. HiGHS's gap is
/// `Run::gap_of_gain`, whatever `effort` says.
///
/// # Errors
/// [`Error::Solver`] when HiGHS fails; limits are statuses.
pub fn solve(
    program: &mut Program,
    features: &[usize],
    effort: &Effort,
    one: f64,
    sense: Sense,
    value: &dyn Fn(&Subset, &[f64]) -> f64,
    run: &mut Run<'_>,
) -> Result<Status, Error> {
    run.tolerate(TOLERANCE);
    let baseline = measure_from_baseline(program, one, run)?;
    let (rules, sign) = (run.rules(), if sense == Sense::Min { 1.0 } else { -1.0 });
    let chosen = |point: &[f64]| {
        Subset::from_indices(rules.p(), features.iter().zip(point).filter(|e| *e.1 > 0.5).map(|(&j, _)| j))
    };
    let raise = |bound: f64, run: &mut Run<'_>| {
        if bound.is_finite() {
            // A bound better than a known subset is a matter of tolerances.
            let best = run.incumbent().map_or(f64::INFINITY, |(_, objective)| sign * objective);
            run.raise_bound(sign * (bound / one + baseline).min(best));
        }
    };
    loop {
        let (before, mut last) = (run.counts.nodes, 0);
        let effort = Effort { time: run.remaining(), gap: run.gap_of_gain(), ..*effort };
        let answer = program.watch(&effort, &mut |seen| {
            if let Some(point) = seen.point {
                let subset = chosen(point);
                run.offer(&subset, value(&subset, point));
            }
            run.counts.nodes = before + seen.nodes.max(last);
            if seen.nodes > last {
                last = seen.nodes;
                run.tell(&Event::Progress { done: run.counts.nodes, total: None, elapsed: run.elapsed() });
            }
            raise(seen.bound, run);
            run.stop().is_some()
        })?;
        run.counts.oracle_calls += 1;
        let Answer { status, values, bound, .. } = answer;
        if status == SolveStatus::Infeasible {
            return Ok(Status::Infeasible);
        }
        if status == SolveStatus::Unbounded {
            return Err(Error::Solver("HiGHS calls the program unbounded".to_owned()));
        }
        if !values.is_empty() {
            let subset = chosen(&values);
            run.offer(&subset, value(&subset, &values));
            if status == SolveStatus::Optimal && !rules.allows(&subset) {
                let columns = 0..features.len();
                let (inside, outside): (Vec<usize>, Vec<usize>) = columns.partition(|&k| subset.contains(features[k]));
                refuse(program, &inside, &outside)?;
                continue;
            }
        }
        raise(bound, run);
        return Ok(if status == SolveStatus::Optimal {
            Status::Optimal
        } else {
            run.stop().unwrap_or(Status::TimeLimit)
        });
    }
}
