//! `fewest-bench pass FILE --repeats R --seconds S`: a score pass c = X'v over all columns, and one
//! that keeps the largest, as a round of `fgm` does, one thread, beside what memory allows: reading
//! as many bytes (their sum as 64-bit words) and copying them.

use std::hint::black_box;

use fewest::{Design, ScoreQuery, Source};
use serde_json::{Value, json};

use crate::{Options, matrix::Matrix, timed};

/// Columns scored together, as `fgm` does.
const CHUNK: usize = 2048;
/// Largest scores kept.
const MOST: usize = 100;

pub(crate) fn run_pass(data: &Matrix, mut options: Options) -> Result<Value, String> {
    let (n, p) = (data.design.n_samples(), data.design.n_features());
    let v: Vec<f64> = (0..n).map(|i| ((i * 31) % 17) as f64 - 8.0).collect();
    let mut limits = Options(options.0.clone());
    let mut others = Options(options.0.clone());
    let (seconds, ()) = timed(&mut options, || {
        let mut scores = vec![0.0; CHUNK];
        for first in (0..p).step_by(CHUNK) {
            let out = &mut scores[..CHUNK.min(p - first)];
            data.design.dot_columns(first, &v, out);
            black_box(&out);
        }
        Ok(())
    })?;
    let query = ScoreQuery { most: MOST, ..ScoreQuery::default() };
    let design: &dyn Design = &*data.design;
    let (selecting, found) = timed(&mut others, || Source::largest(&design, &v, &query).map_err(|e| e.to_string()))?;
    let largest = found.iter().fold(0.0f64, |most, s| most.max(s.score.abs()));
    options.none_left()?;
    let words = vec![1u64; (data.bytes / 8) as usize];
    let mut copy = vec![0u64; words.len()];
    let mut again = Options(limits.0.clone());
    let (read, sum) = timed(&mut limits, || Ok(black_box(&words).iter().fold(0u64, |s, w| s.wrapping_add(*w))))?;
    let (copied, ()) = timed(&mut again, || {
        copy.copy_from_slice(black_box(&words));
        black_box(&copy);
        Ok(())
    })?;
    let least = |seconds: &[f64]| seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let (pass, read, copied, selecting) = (least(&seconds), least(&read), least(&copied), least(&selecting));
    Ok(json!({
        "seconds": seconds, "pass_seconds": pass, "read_seconds": read, "copy_seconds": copied,
        "select_seconds": selecting, "largest": largest, "sum": sum,
        "pass_gb_per_second": data.bytes as f64 / pass / 1e9, "read_gb_per_second": data.bytes as f64 / read / 1e9,
        "copy_gb_per_second": data.bytes as f64 / copied / 1e9,
    }))
}
