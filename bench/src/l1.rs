//! `fewest-bench l1 FILE --cost C --costs K --warm 1|0 --bias free|none|S --tolerance T --repeats R
//! --seconds S --out FILE`: the L1-SVM with squared hinge loss at C; with K > 1 at K costs from
//! C / 1000 to C, evenly spaced on a log scale, each from the last one's solution (`--warm 1`, the
//! default) or from 0. `--out`: bias and the p weights at C as raw f64.

use fewest::method::l1_svm::{L1Settings, l1_svm, squared_hinge};
use fewest::{DualSolution, Limits, Problem, Rules, Silent, SvmSettings};
use serde_json::{Value, json};

use crate::{Options, matrix::Matrix, peak_bytes, svm, timed};

pub(crate) fn run_l1(data: &Matrix, mut options: Options) -> Result<Value, String> {
    let settings = svm(&mut options)?;
    let (count, warm) = (options.number("costs", 1.0)? as i32, options.number("warm", 1.0)? != 0.0);
    let out = options.text("out", "");
    let features: Vec<usize> = (0..data.design.n_features()).collect();
    let problem = Problem::new(&*data.design, &data.labels, None).map_err(|e| e.to_string())?;
    let (seconds, grid) = timed(&mut options, || {
        let mut grid: Vec<DualSolution> = Vec::new();
        for k in (0..count).rev() {
            let share = if k == 0 { 0.0 } else { f64::from(k) / f64::from(count - 1) };
            let settings = SvmSettings { cost: settings.cost * 1e-3f64.powf(share), ..settings.clone() };
            let start = grid.last().filter(|_| warm);
            let found =
                squared_hinge(&problem, &features, &settings, start, &mut || None).map_err(|e| e.to_string())?;
            grid.push(found);
        }
        Ok(grid)
    })?;
    let peak = peak_bytes();
    options.none_left()?;
    let found = grid.last().ok_or("--costs must be at least 1")?;
    if !out.is_empty() {
        let numbers = [found.bias].into_iter().chain(found.weights.iter().copied());
        let bytes: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
        std::fs::write(&out, bytes).map_err(|e| format!("{out}: {e}"))?;
    }
    Ok(json!({
        "seconds": seconds, "primal": found.primal, "dual": found.dual, "gap": found.gap(), "kkt_residual": found.kkt_residual,
        "iterations": found.iterations, "status": found.status.name(), "peak_bytes": peak,
        "worst_gap": grid.iter().map(DualSolution::gap).fold(0.0, f64::max),
        "nonzero": found.weights.iter().filter(|w| **w != 0.0).count(),
        "inside": found.beta.iter().filter(|b| **b != 0.0).count(),
    }))
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
