//! gamma from the data.

use rayon::prelude::*;

use crate::{Design, Error};

/// sigest, eq. (54): `1 / median over pairs i < h of (theta / p) |x_i - x_h|^2`, over all p features; `theta` is the most
/// features a subset may have. The median of an even number of values is the mean of the middle two.
///
/// # Errors
/// [`Error::Data`] when the median is 0: at least half of all pairs are equal.
pub fn sigest(design: &dyn Design, theta: usize) -> Result<f64, Error> {
    let (n, p) = (design.n_samples(), design.n_features());
    let columns: Vec<Vec<f64>> = (0..p)
        .map(|j| {
            let mut out = vec![0.0; n];
            design.add_column(j, 1.0, &mut out);
            out
        })
        .collect();
    let row = |i: usize, out: &mut Vec<f64>| {
        out.clear();
        out.resize(n - i - 1, 0.0);
        for column in &columns {
            crate::kernel::simd::add_squared_differences(1.0, column[i], &column[i + 1..], out);
        }
    };
    let pairs = n as u64 * (n as u64 - 1) / 2;
    let lower = select(n, &row, (pairs - 1) / 2, GATHERED);
    let upper = if pairs.is_multiple_of(2) { select(n, &row, pairs / 2, GATHERED) } else { lower };
    let median = theta as f64 / p as f64 * 0.5 * (lower + upper);
    if median > 0.0 && median.is_finite() {
        Ok(1.0 / median)
    } else {
        Err(Error::Data(format!(
            "the median distance of two samples is {median}, so sigest finds no gamma; give a number"
        )))
    }
}

/// `1 / (theta Var)`, Var the population variance of all values.
///
/// # Errors
/// [`Error::Data`] when all values are equal.
pub fn scale(design: &dyn Design, theta: usize) -> Result<f64, Error> {
    let count = (design.n_samples() * design.n_features()) as f64;
    let (mut sum, mut squares) = (0.0, 0.0);
    for j in 0..design.n_features() {
        design.each_in_column(j, &mut |_, x| {
            sum += x;
            squares += x * x;
        });
    }
    let variance = squares / count - (sum / count).powi(2);
    if variance > 0.0 && variance.is_finite() {
        Ok(1.0 / (theta as f64 * variance))
    } else {
        Err(Error::Data(format!("the variance of all values is {variance}, so scale finds no gamma; give a number")))
    }
}

/// Digits of a value in the radix selection.
const DIGITS: u32 = 16;
/// Values that are gathered and sorted rather than counted.
const GATHERED: u64 = 1 << 24;

/// The value of this rank (from 0) among the distances, all 0 or more: by the leading bits first, until few are left.
fn select(n: usize, row: &(dyn Fn(usize, &mut Vec<f64>) + Sync), mut rank: u64, gathered: u64) -> f64 {
    let rows = || (0..n.saturating_sub(1)).into_par_iter();
    let mut left = n as u64 * (n as u64 - 1) / 2;
    let (mut prefix, mut known) = (0u64, 0u32);
    loop {
        let fits = |x: &f64| known == 0 || x.to_bits() >> (64 - known) == prefix;
        if left <= gathered || known == 64 {
            let gather = |i: usize| {
                let mut out = Vec::new();
                row(i, &mut out);
                out.retain(fits);
                out
            };
            let mut values: Vec<f64> = rows().flat_map_iter(gather).collect();
            return *values.select_nth_unstable_by(rank as usize, f64::total_cmp).1;
        }
        let zero = || vec![0u64; 1 << DIGITS];
        let count = |mut counts: Vec<u64>, i: usize| {
            let mut out = Vec::new();
            row(i, &mut out);
            for x in out.iter().filter(|x| fits(x)) {
                counts[(x.to_bits() >> (64 - known - DIGITS)) as usize & ((1 << DIGITS) - 1)] += 1;
            }
            counts
        };
        let add = |mut a: Vec<u64>, b: Vec<u64>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        let counts = rows().fold(zero, count).reduce(zero, add);
        let mut digit = 0;
        while rank >= counts[digit] {
            rank -= counts[digit];
            digit += 1;
        }
        (prefix, known, left) = (prefix << DIGITS | digit as u64, known + DIGITS, counts[digit]);
    }
}

#[cfg(test)]
mod tests {
    use super::select;

    #[test]
    fn every_rank_is_that_of_the_sorted_values() {
        let n = 40;
        let row = |i: usize, out: &mut Vec<f64>| {
            out.extend((i + 1..n).map(|h| ((i * 31 + h * 17) % 23) as f64 * 0.37));
        };
        let mut all = Vec::new();
        (0..n).for_each(|i| row(i, &mut all));
        all.sort_by(f64::total_cmp);
        for rank in [0, 1, 100, 389, 390, 779] {
            assert_eq!(select(n, &row, rank as u64, 1000), all[rank]);
            assert_eq!(select(n, &row, rank as u64, 10), all[rank]);
        }
    }
}
