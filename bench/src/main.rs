//! `fewest-bench fit|rfe|rfecv|fgm|l1|pass|kta|enumerate|study|read|info FILE [--option value ...]`:
//! reads a binary matrix or a column file, runs one solve, prints JSON on standard output. Only the
//! solve is timed. `bench/scripts.md` says what the scripts do with it.
//!
//! Options of `fit`: `--kernel linear|rbf --gamma G --cost C --loss hinge|squared-hinge --bias
//! free|none|S --tolerance T --repeats R --seconds S` (repeat until R runs or S seconds) `--out
//! FILE` (bias, weights, decision values as raw f64).
//! Options of `rfe`: `--features K --step N --cost C --tolerance T --repeats R --seconds S`.
//! Options of `rfecv`: those of `rfe`, where K is the last size, and `--folds FILE` (the fold of
//! each sample as a byte).
//! Options of `fgm`: `--features B --cost C --gap G --mkl fast|simple --reuse 1|0 --mixture 1|0
//! --repeats R --seconds S --out FILE` (bias and the p weights as raw f64).
//! Options of `l1`: see `l1.rs`.
//! Options of `pass`: see `pass.rs`.
//! Options of `kta` and `enumerate`: see `alignment.rs`.
//! Options of `study`: see `study.rs`.
//! `read` times reading a data file of any format `fewest_data` knows: `--repeats R --seconds S`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command that reports by printing")]

mod alignment;
mod l1;
mod matrix;
mod pass;
mod study;

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Instant;

use fewest::method::fgm::{FgmSettings, Mkl, fgm};
use fewest::method::rfe::splits::rfe_paths;
use fewest::method::rfe::{RfeSettings, Step, rfe};
use fewest::model::{FitSettings, Model, fit};
use fewest::validation::Folds;
use fewest::{Bias, Clock, Kernel, Limits, Loss, Problem, Rules, Samples, Selection, Silent, SvmSettings};
use fewest_data::ReadOptions;
use serde_json::{Value, json};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(value) => {
            println!("{value}");
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("fewest-bench: {why}");
            ExitCode::FAILURE
        }
    }
}

/// Options as typed, each read once.
struct Options(HashMap<String, String>);

impl Options {
    fn text(&mut self, name: &str, default: &str) -> String {
        self.0.remove(name).unwrap_or_else(|| default.to_owned())
    }
    fn number(&mut self, name: &str, default: f64) -> Result<f64, String> {
        let Some(text) = self.0.remove(name) else { return Ok(default) };
        text.parse().map_err(|_| format!("--{name} is {text}, but must be a number"))
    }
    fn none_left(&self) -> Result<(), String> {
        self.0.keys().next().map_or(Ok(()), |name| Err(format!("unknown option --{name}")))
    }
}

fn run(arguments: &[String]) -> Result<Value, String> {
    let [command, file, rest @ ..] = arguments else {
        return Err(
            "usage: fewest-bench fit|rfe|rfecv|fgm|l1|pass|kta|enumerate|study|read|info FILE [--option value ...]"
                .into(),
        );
    };
    let mut options = HashMap::new();
    for pair in rest.chunks(2) {
        let (Some(name), Some(value)) = (pair[0].strip_prefix("--"), pair.get(1)) else {
            return Err(format!("{} is not an option with a value", pair[0]));
        };
        options.insert(name.to_owned(), value.clone());
    }
    let options = Options(options);
    if command == "read" {
        return run_read(file, options);
    }
    if command == "study" {
        return study::run_study(file, options);
    }
    let before = peak_bytes();
    let data = matrix::read(file).map_err(|e| e.to_string())?;
    let mut answer = match command.as_str() {
        "fit" => run_fit(&data, options)?,
        "rfe" => run_rfe(&data, options)?,
        "rfecv" => run_rfecv(&data, options)?,
        "fgm" => run_fgm(&data, options)?,
        "l1" => l1::run_l1(&data, options)?,
        "l1-hinge" => l1::run_l1_hinge(&data, options)?,
        "pass" => pass::run_pass(&data, options)?,
        "kta" => alignment::run_kta(&data, options)?,
        "enumerate" => alignment::run_enumerate(&data, options)?,
        "info" => options.none_left().map(|()| json!({"peak_bytes": peak_bytes()}))?,
        other => {
            return Err(format!(
                "unknown command {other}; there are fit, rfe, rfecv, fgm, l1, pass, kta, enumerate, study, read and info"
            ));
        }
    };
    answer["n"] = json!(data.design.n_samples());
    answer["p"] = json!(data.design.n_features());
    answer["stored"] = json!(data.design.stored());
    answer["sparse"] = json!(data.design.is_sparse());
    answer["data_bytes"] = json!(data.bytes);
    answer["start_bytes"] = json!(before);
    Ok(answer)
}

fn svm(options: &mut Options) -> Result<SvmSettings, String> {
    let loss = match options.text("loss", "hinge").as_str() {
        "hinge" => Loss::Hinge,
        "squared-hinge" => Loss::SquaredHinge,
        other => return Err(format!("--loss is {other}, but must be hinge or squared-hinge")),
    };
    let bias = match options.text("bias", "free").as_str() {
        "free" => Bias::Free,
        "none" => Bias::None,
        s => Bias::Penalised(s.parse().map_err(|_| format!("--bias is {s}, but must be free, none or a number"))?),
    };
    Ok(SvmSettings {
        cost: options.number("cost", 1.0)?,
        loss,
        bias,
        tolerance: options.number("tolerance", 1e-6)?,
        ..SvmSettings::default()
    })
}

/// Runs `solve` up to `--repeats` times within `--seconds`; the seconds of each run and the last
/// result.
fn timed<T>(options: &mut Options, mut solve: impl FnMut() -> Result<T, String>) -> Result<(Vec<f64>, T), String> {
    let (repeats, budget) = (options.number("repeats", 1.0)? as usize, options.number("seconds", 10.0)?);
    let mut seconds = Vec::new();
    loop {
        let start = Instant::now();
        let result = solve()?;
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() >= repeats.max(1) || seconds.iter().sum::<f64>() >= budget {
            return Ok((seconds, result));
        }
    }
}

fn run_fit(data: &matrix::Matrix, mut options: Options) -> Result<Value, String> {
    let kernel = match options.text("kernel", "linear").as_str() {
        "linear" => Kernel::Linear,
        "rbf" => Kernel::Rbf { gamma: options.number("gamma", f64::NAN)? },
        other => return Err(format!("--kernel is {other}, but must be linear or rbf")),
    };
    let settings = FitSettings { svm: svm(&mut options)?, kernel, ..FitSettings::default() };
    let out = options.text("out", "");
    let features: Vec<usize> = (0..data.design.n_features()).collect();
    let classes: Vec<u32> = data.labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let weights = vec![1.0; classes.len()];
    let (seconds, model) = timed(&mut options, || {
        fit(&*data.design, &features, &classes, &weights, &settings, &Clock::unlimited()).map_err(|e| e.to_string())
    })?;
    let peak = peak_bytes();
    options.none_left()?;
    if !out.is_empty() {
        write_model(&out, &model, data).map_err(|e| format!("{out}: {e}"))?;
    }
    let machine = &model.machines[0];
    let found = &machine.solution;
    Ok(json!({
        "seconds": seconds, "primal": found.primal, "dual": found.dual, "gap": found.gap(), "bias": machine.bias,
        "peak_bytes": peak, "kkt_residual": found.kkt_residual, "iterations": found.iterations, "status": found.status.name(),
        "support_vectors": found.beta.iter().filter(|b| **b != 0.0).count(),
    }))
}

/// Raw little-endian f64: the bias, the p weights (linear only), the n decision values on the
/// training data, the n beta.
fn write_model(path: &str, model: &Model, data: &matrix::Matrix) -> Result<(), std::io::Error> {
    let machine = &model.machines[0];
    let decisions = model.decisions(&*data.design);
    let numbers = [machine.bias].into_iter().chain(machine.weights.iter().copied()).chain(decisions);
    let bytes: Vec<u8> = numbers.chain(machine.solution.beta.iter().copied()).flat_map(f64::to_le_bytes).collect();
    std::fs::write(path, bytes)
}

fn run_rfe(data: &matrix::Matrix, mut options: Options) -> Result<Value, String> {
    let (features, step) = (options.number("features", 10.0)? as usize, options.number("step", 1.0)?);
    let step = if step >= 1.0 { Step::Count(step as usize) } else { Step::Original(step) };
    let settings = RfeSettings { svm: svm(&mut options)?, step, ..RfeSettings::default() };
    let problem = Problem::new(&*data.design, &data.labels, None).map_err(|e| e.to_string())?;
    let rules = Rules::at_most_features(problem.n_features(), features).map_err(|e| e.to_string())?;
    let (seconds, found): (_, Selection) = timed(&mut options, || {
        rfe(&problem, &rules, &settings, Limits::default(), &mut Silent).map_err(|e| e.to_string())
    })?;
    let peak = peak_bytes();
    options.none_left()?;
    let n = problem.n_samples() as u64;
    let selected: Vec<usize> = found.outcome.subset.iter().flat_map(fewest::Subset::iter).collect();
    let ranking: Vec<Value> = found
        .ranking
        .iter()
        .map(|r| json!({"feature": r.feature, "rank": r.rank, "step": r.step, "criterion": r.criterion}))
        .collect();
    Ok(json!({
        "seconds": seconds, "selected": selected, "objective": found.outcome.objective,
        "status": found.outcome.status.name(), "trainings": found.outcome.counts.oracle_calls,
        "peak_bytes": peak, "gram_bytes": 8 * n * n, "ranking": ranking,
    }))
}

/// For each fold its ranking, and the share of its samples classified right at each size.
fn run_rfecv(data: &matrix::Matrix, mut options: Options) -> Result<Value, String> {
    let (features, step) = (options.number("features", 1.0)? as usize, options.number("step", 1.0)?);
    let step = if step >= 1.0 { Step::Count(step as usize) } else { Step::Original(step) };
    let settings = RfeSettings { svm: svm(&mut options)?, step, ..RfeSettings::default() };
    let file = options.text("folds", "");
    let folds = std::fs::read(&file).map_err(|e| format!("--folds {file}: {e}"))?;
    let folds = Folds::new(folds.into_iter().map(u32::from).collect()).map_err(|e| e.to_string())?;
    let classes: Vec<u32> = data.labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let problem = Samples::new(&*data.design, &classes, None).map_err(|e| e.to_string())?;
    let rules = Rules::at_most_features(problem.n_features(), features).map_err(|e| e.to_string())?;
    let splits = folds.splits();
    let (seconds, paths) = timed(&mut options, || {
        rfe_paths(&problem, &rules, &settings, &splits, Limits::default(), &mut Silent).map_err(|e| e.to_string())
    })?;
    let peak = peak_bytes();
    options.none_left()?;
    let mut found = Vec::new();
    for (path, split) in paths.iter().zip(&splits) {
        let right = |at: usize| {
            let right =
                path.predictions_at(at).iter().zip(&split.held_out).filter(|(c, i)| **c == classes[**i]).count();
            right as f64 / split.held_out.len() as f64
        };
        let accuracies: Vec<f64> = (0..path.sizes.len()).map(right).collect();
        let ranking: Vec<usize> = path.selection.ranking.iter().map(|r| r.feature).collect();
        let outcome = &path.selection.outcome;
        found.push(json!({
            "sizes": path.sizes, "accuracies": accuracies, "ranking": ranking, "status": outcome.status.name(),
            "trainings": outcome.counts.oracle_calls, "iterations": outcome.counts.solver_iterations,
        }));
    }
    Ok(json!({"seconds": seconds, "folds": found, "peak_bytes": peak}))
}

fn run_fgm(data: &matrix::Matrix, mut options: Options) -> Result<Value, String> {
    let features = options.number("features", 10.0)? as usize;
    let mkl = match options.text("mkl", "fast").as_str() {
        "fast" => Mkl::Fast,
        "simple" => Mkl::Simple,
        other => return Err(format!("--mkl is {other}, but must be fast or simple")),
    };
    let settings = FgmSettings {
        cost: options.number("cost", 1.0)?,
        mkl,
        reuse: options.number("reuse", 1.0)? != 0.0,
        subset_size: Some(features),
        ..FgmSettings::default()
    };
    let limits = Limits { gap_rel: options.number("gap", 1e-3)?, ..Limits::default() };
    let out = options.text("out", "");
    let problem = Problem::new(&*data.design, &data.labels, None).map_err(|e| e.to_string())?;
    let p = problem.n_features();
    let mixture = options.number("mixture", 1.0)? != 0.0;
    let rules =
        if mixture { Rules::none(p) } else { Rules::at_most_features(p, features).map_err(|e| e.to_string())? };
    let mut cpu = f64::INFINITY;
    let (seconds, found) = timed(&mut options, || {
        let before = cpu_seconds();
        let found = fgm(&problem, &rules, &settings, limits.clone(), &mut Silent).map_err(|e| e.to_string())?;
        cpu = cpu.min(cpu_seconds() - before);
        Ok(found)
    })?;
    let peak = peak_bytes();
    options.none_left()?;
    if !out.is_empty() {
        let mut numbers = vec![0.0; 1 + problem.n_features()];
        numbers[0] = found.solution.bias;
        for kept in &found.kept {
            numbers[1 + kept.feature] = kept.weight;
        }
        let bytes: Vec<u8> = numbers.into_iter().flat_map(f64::to_le_bytes).collect();
        std::fs::write(&out, bytes).map_err(|e| format!("{out}: {e}"))?;
    }
    let outcome = &found.selection.outcome;
    let rounds: Vec<Value> = found
        .rounds
        .iter()
        .map(|r| {
            json!({"upper": r.upper, "lower": r.lower, "subsets": r.subsets, "columns": r.columns, "kept": r.kept,
                   "mkl_seconds": r.mkl_seconds, "separation_seconds": r.separation_seconds})
        })
        .collect();
    let selected: Vec<usize> = found.kept.iter().map(|k| k.feature).collect();
    Ok(json!({
        "seconds": seconds, "cpu_seconds": cpu, "selected": selected, "objective": outcome.objective,
        "bound": outcome.bound, "gap": outcome.gap(), "status": outcome.status.name(), "steps": outcome.counts.solver_iterations,
        "peak_bytes": peak, "rounds": rounds,
    }))
}

fn run_read(file: &str, mut options: Options) -> Result<Value, String> {
    let mut first_peak = 0;
    let (seconds, data) = timed(&mut options, || {
        let data = fewest_data::read(file, &ReadOptions::default()).map_err(|e| e.to_string());
        if first_peak == 0 {
            first_peak = peak_bytes();
        }
        data
    })?;
    options.none_left()?;
    let design = data.features.as_design();
    let mut sum = 0.0;
    for j in 0..design.n_features() {
        design.each_in_column(j, &mut |_, x| sum += x);
    }
    Ok(json!({
        "seconds": seconds, "n": design.n_samples(), "p": design.n_features(), "stored": design.stored(), "sum": sum,
        "data_bytes": data.features.bytes(), "first_peak_bytes": first_peak,
    }))
}

/// CPU seconds of all threads of this process so far (Linux), else 0; in steps of what the kernel
/// counts.
fn cpu_seconds() -> f64 {
    let threads = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let nanoseconds = threads.filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() * 1e-9
}

/// Peak resident memory of this process so far (Linux), else 0.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().trim_end_matches("kB").trim().parse::<u64>().ok()).map_or(0, |kb| 1024 * kb)
}
