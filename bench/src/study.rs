//! `study`: the scores of every candidate of a study in every outer fold, a line of JSON for each
//! fold in the file `--out`. `--size K` (sizes 1 to K) `--repeats R --inner-repeats R --seed N
//! --points N` (costs on the grid) `--threads N`.

use std::fs::File;
use std::io::{BufWriter, Write};

use fewest::{Error, Limits};
use fewest_data::ReadOptions;
use fewest_eval::Data;
use fewest_eval::study::{StudySettings, fold_tables};
use serde_json::{Value, json};

use crate::Options;

/// Runs the command.
pub(crate) fn run_study(file: &str, mut options: Options) -> Result<Value, String> {
    let size = options.number("size", 10.0)? as usize;
    let default = StudySettings::default();
    let settings = StudySettings {
        sizes: Some((1..=size).collect()),
        repeats: options.number("repeats", 1.0)? as usize,
        inner_repeats: options.number("inner-repeats", 1.0)? as usize,
        cost_points: options.number("points", default.cost_points as f64)? as usize,
        seed: options.number("seed", 0.0)? as u64,
        ..default
    };
    let threads = options.number("threads", 1.0)? as usize;
    let out = options.text("out", "");
    options.none_left()?;
    if out.is_empty() {
        return Err("--out FILE is missing".into());
    }
    let read = fewest_data::read(file, &ReadOptions::default()).map_err(|e| e.to_string())?;
    let target = read.target.ok_or("the file has no classes")?;
    let weights = vec![1.0; target.codes.len()];
    let data = Data::new(&read.features, &target, &weights);
    let mut lines = BufWriter::new(File::create(&out).map_err(|e| format!("{out}: {e}"))?);
    let mut folds = 0;
    let mut each = |table| {
        folds += 1;
        let line = serde_json::to_string(&table).map_err(|e| Error::Data(e.to_string()))?;
        writeln!(lines, "{line}").and_then(|()| lines.flush()).map_err(|e| Error::Data(e.to_string()))
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(|e| e.to_string())?;
    pool.install(|| fold_tables(&data, &settings, &Limits::default(), &mut each)).map_err(|e| e.to_string())?;
    Ok(json!({"folds": folds}))
}
