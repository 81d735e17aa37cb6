//! `fewest-bench pass FILE --repeats R --seconds S`: a score pass c = X'v over all columns, one
//! thread, beside what memory allows: reading as many bytes (their sum as 64-bit words) and copying
//! them.

use std::hint::black_box;

use serde_json::{Value, json};

use crate::{Options, matrix::Matrix, timed};

/// Columns scored together, as `fgm` does.
const CHUNK: usize = 4096;

pub(crate) fn run_pass(data: &Matrix, mut options: Options) -> Result<Value, String> {
    let (n, p) = (data.design.n_samples(), data.design.n_features());
    let v: Vec<f64> = (0..n).map(|i| ((i * 31) % 17) as f64 - 8.0).collect();
    let mut limits = Options(options.0.clone());
    let (seconds, largest) = timed(&mut options, || {
        let (mut scores, mut largest) = (vec![0.0; CHUNK], 0.0f64);
        for first in (0..p).step_by(CHUNK) {
            let out = &mut scores[..CHUNK.min(p - first)];
            data.design.dot_columns(first, &v, out);
            largest = out.iter().fold(largest, |m, c| m.max(c.abs()));
        }
        Ok(largest)
    })?;
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
    let (pass, read, copied) = (least(&seconds), least(&read), least(&copied));
    Ok(json!({
        "seconds": seconds, "pass_seconds": pass, "read_seconds": read, "copy_seconds": copied, "largest": largest, "sum": sum,
        "pass_gb_per_second": data.bytes as f64 / pass / 1e9, "read_gb_per_second": data.bytes as f64 / read / 1e9,
        "copy_gb_per_second": data.bytes as f64 / copied / 1e9,
    }))
}
