//! `fewest-bench l1 FILE --cost C --costs K --span R --warm 1|0 --bias free|none|S --tolerance T
//! --repeats R --seconds S --out FILE --weights 1`: the L1-SVM with squared hinge loss at C; with
//! K > 1 at K costs from C / R (1000) to C, evenly spaced on a log scale, each from the last one's
//! solution (`--warm 1`, the default) or from 0. `--out`: bias and the p weights at C as raw f64.
//! `--weights 1`: the weights that are not 0 of every cost in the JSON.

use fewest::method::l1_svm::{L1Settings, l1_svm, squared_hinge};
use fewest::{Clock, DualSolution, Limits, Problem, Rules, Silent, SvmSettings};
use serde_json::{Value, json};

use crate::{Options, cpu_seconds, matrix::Matrix, peak_bytes, svm, timed};

/// The solution at one cost, and its CPU seconds.
struct Step {
    cost: f64,
    cpu: f64,
    found: DualSolution,
}

pub(crate) fn run_l1(data: &Matrix, mut options: Options) -> Result<Value, String> {
    let settings = svm(&mut options)?;
    let (count, warm) = (options.number("costs", 1.0)? as i32, options.number("warm", 1.0)? != 0.0);
    let span = options.number("span", 1000.0)?;
    let out = options.text("out", "");
    let weights = options.number("weights", 0.0)? != 0.0;
    let features: Vec<usize> = (0..data.design.n_features()).collect();
    let problem = Problem::new(&*data.design, &data.labels, None).map_err(|e| e.to_string())?;
    let (seconds, grid) = timed(&mut options, || {
        let mut grid: Vec<Step> = Vec::new();
        for k in (0..count).rev() {
            let share = if k == 0 { 0.0 } else { f64::from(k) / f64::from(count - 1) };
            let settings = SvmSettings { cost: settings.cost * span.powf(-share), ..settings.clone() };
            let start = grid.last().filter(|_| warm).map(|step| &step.found);
            let before = cpu_seconds();
            let found =
                squared_hinge(&problem, &features, &settings, start, &Clock::unlimited()).map_err(|e| e.to_string())?;
            grid.push(Step { cost: settings.cost, cpu: cpu_seconds() - before, found });
        }
        Ok(grid)
    })?;
    let peak = peak_bytes();
    options.none_left()?;
    let found = &grid.last().ok_or("--costs must be at least 1")?.found;
    if !out.is_empty() {
        let numbers = [found.bias].into_iter().chain(found.weights.iter().copied());
        let bytes: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
        std::fs::write(&out, bytes).map_err(|e| format!("{out}: {e}"))?;
    }
    Ok(json!({
        "seconds": seconds, "primal": found.primal, "dual": found.dual, "gap": found.gap(), "kkt_residual": found.kkt_residual,
        "iterations": found.iterations, "status": found.status.name(), "peak_bytes": peak,
        "worst_gap": grid.iter().map(|step| step.found.gap()).fold(0.0, f64::max),
        "nonzero": used(found).len(),
        "inside": found.beta.iter().filter(|b| **b != 0.0).count(),
        "grid": grid.iter().map(|step| row(step, weights)).collect::<Vec<Value>>(),
    }))
}

/// The weights that are not 0, with their features.
fn used(found: &DualSolution) -> Vec<(usize, f64)> {
    found.weights.iter().copied().enumerate().filter(|e| e.1 != 0.0).collect()
}

fn row(step: &Step, weights: bool) -> Value {
    let (found, used) = (&step.found, used(&step.found));
    let mut row = json!({
        "cost": step.cost, "CPU s": step.cpu, "primal": found.primal, "dual": found.dual, "gap": found.gap(),
        "iterations": found.iterations, "nonzero": used.len(), "bias": found.bias,
    });
    if weights {
        row["weights"] = json!(used);
    }
    row
}

/// `fewest-bench l1-hinge FILE --cost C --bias free|none|S --tolerance T --repeats R --seconds S`:
/// the L1-SVM with hinge loss at C.
pub(crate) fn run_l1_hinge(data: &Matrix, mut options: Options) -> Result<Value, String> {
    let settings = L1Settings { svm: svm(&mut options)?, costs: Vec::new() };
    let problem = Problem::new(&*data.design, &data.labels, None).map_err(|e| e.to_string())?;
    let rules = Rules::none(problem.n_features());
    let (seconds, report) = timed(&mut options, || {
        l1_svm(&problem, &rules, &settings, Limits::default(), &mut Silent).map_err(|e| e.to_string())
    })?;
    options.none_left()?;
    let found = &report.solution;
    Ok(json!({
        "seconds": seconds, "primal": found.primal, "dual": found.dual, "gap": found.gap(), "kkt_residual": found.kkt_residual,
        "programs": found.iterations, "status": found.status.name(), "peak_bytes": peak_bytes(), "nonzero": found.weights.len(),
    }))
}
