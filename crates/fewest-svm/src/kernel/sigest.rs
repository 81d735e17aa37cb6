//! sigest: gamma from the median distance of two samples, whatever their distance is.

use std::borrow::Cow;

use rayon::prelude::*;

use super::Distances;
use crate::{Clock, Design, Error};

/// sigest, eq. (54): `1 / median over pairs i < h of (theta / p) |x_i - x_h|^2`, over all p
/// features; `theta` is the most features a subset may have. The median of an even number of values
/// is the mean of the middle two.
///
/// # Errors
/// [`Error::Data`] when the median is 0: at least half of all pairs are equal.
pub fn sigest(design: &dyn Design, theta: usize) -> Result<f64, Error> {
    let found = weighted_sigest(design, None, theta, &Distances::squared(), &Clock::unlimited())?;
    Ok(found.expect("a clock without limits does not stop"))
}

/// [`sigest`], sample i counting as `counts[i]` samples: the pair (i, h) counts as
/// `counts[i] counts[h]` pairs, and sample i makes `counts[i] (counts[i] - 1) / 2` pairs of
/// distance 0 with itself. `distances` stand in for squared differences. Nothing once the clock
/// says stop.
pub(super) fn weighted_sigest(
    design: &dyn Design,
    counts: Option<&[f64]>,
    theta: usize,
    distances: &Distances,
    clock: &Clock,
) -> Result<Option<f64>, Error> {
    let (n, p) = (design.n_samples(), design.n_features());
    let samples = Samples::new(design);
    let row = |i: usize, out: &mut Vec<f64>| {
        out.clear();
        if clock.stop().is_none() {
            samples.add_distances(i, distances, out);
        }
    };
    // Counts that are all 1 are none.
    let middle = match counts.filter(|counts| counts.iter().any(|c| *c != 1.0)) {
        None => {
            let pairs = n as u64 * (n as u64 - 1) / 2;
            let lower = select(n, &row, (pairs - 1) / 2, GATHERED, clock);
            let upper = if pairs.is_multiple_of(2) { select(n, &row, pairs / 2, GATHERED, clock) } else { lower };
            lower.zip(upper)
        }
        Some(counts) => weighted_middle(n, &row, counts, clock),
    };
    let Some((lower, upper)) = middle else { return Ok(None) };
    let median = theta as f64 / p as f64 * 0.5 * (lower + upper);
    if median > 0.0 && median.is_finite() {
        Ok(Some(1.0 / median))
    } else {
        Err(Error::Data(format!(
            "the median distance of two samples is {median}, so sigest finds no gamma; give a number"
        )))
    }
}

/// The samples, so that all distances from one of them are cheap.
enum Samples<'a> {
    /// Values column by column; a column is borrowed where the design stores it.
    Columns(Vec<Cow<'a, [f64]>>),
    /// Values row by row: (feature, value), ascending. Sparse data are never laid out in full.
    Rows(Vec<Vec<(u32, f64)>>),
}

impl<'a> Samples<'a> {
    fn new(design: &'a dyn Design) -> Self {
        let (n, p) = (design.n_samples(), design.n_features());
        if design.is_sparse() {
            let mut rows = vec![Vec::new(); n];
            for j in 0..p {
                design.each_in_column(j, &mut |i, x| rows[i].push((j as u32, x)));
            }
            return Samples::Rows(rows);
        }
        let column = |j: usize| {
            design.dense_column(j).map_or_else(
                || {
                    let mut out = vec![0.0; n];
                    design.add_column(j, 1.0, &mut out);
                    Cow::Owned(out)
                },
                Cow::Borrowed,
            )
        };
        Samples::Columns((0..p).map(column).collect())
    }

    /// Distances from sample i to those after it.
    fn add_distances(&self, i: usize, distances: &Distances, out: &mut Vec<f64>) {
        match self {
            Samples::Columns(columns) => {
                out.resize(columns.first().map_or(0, |column| column.len() - i - 1), 0.0);
                for (j, column) in columns.iter().enumerate() {
                    distances.of(j).add(1.0, column[i], &column[i + 1..], out);
                }
            }
            Samples::Rows(rows) => {
                out.extend(rows[i + 1..].iter().map(|other| distance(&rows[i], other, distances)));
            }
        }
    }
}

/// The distance of two sparse rows, features ascending.
fn distance(a: &[(u32, f64)], b: &[(u32, f64)], distances: &Distances) -> f64 {
    let of = |j: u32, x: f64, y: f64| distances.of(j as usize).between(x, y);
    let (mut at, mut sum) = (0, 0.0);
    for &(j, x) in a {
        while at < b.len() && b[at].0 < j {
            sum += of(b[at].0, 0.0, b[at].1);
            at += 1;
        }
        let other = if at < b.len() && b[at].0 == j { b[at].1 } else { 0.0 };
        at += usize::from(at < b.len() && b[at].0 == j);
        sum += of(j, x, other);
    }
    sum + b[at..].iter().map(|&(j, x)| of(j, 0.0, x)).sum::<f64>()
}

/// Digits of a value in the radix selection.
const DIGITS: u32 = 16;
/// Values that are gathered and sorted rather than counted.
const GATHERED: u64 = 1 << 22;

/// The value of this rank (from 0) among the distances, all 0 or more: by the leading bits first,
/// until few are left. Nothing once the clock says stop; a row may then be empty.
fn select(
    n: usize,
    row: &(dyn Fn(usize, &mut Vec<f64>) + Sync),
    mut rank: u64,
    gathered: u64,
    clock: &Clock,
) -> Option<f64> {
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
            if clock.stop().is_some() {
                return None;
            }
            return Some(*values.select_nth_unstable_by(rank as usize, f64::total_cmp).1);
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
        if clock.stop().is_some() {
            return None;
        }
        let mut digit = 0;
        while rank >= counts[digit] {
            rank -= counts[digit];
            digit += 1;
        }
        (prefix, known, left) = (prefix << DIGITS | digit as u64, known + DIGITS, counts[digit]);
    }
}

/// The middle two of the distances where samples have counts: the smallest value that half of all
/// pairs do not exceed, and the smallest that more than half do not exceed. Digit by digit from the
/// leading bits, as in [`select`]. Counts of pairs are integers of a small unit, so that their sums
/// do not depend on the order.
fn weighted_middle(
    n: usize,
    row: &(dyn Fn(usize, &mut Vec<f64>) + Sync),
    counts: &[f64],
    clock: &Clock,
) -> Option<(f64, f64)> {
    let largest = counts.iter().copied().fold(1.0, f64::max);
    // Below 2^40 units for each pair, of which there are fewer than 2^80; integer counts below 2^15
    // stay exact.
    let unit = f64::exp2(40.0) / f64::exp2((largest * largest).log2().ceil());
    let units = |pairs: f64| (pairs * unit).round() as u128;
    let with_itself: u128 = counts.iter().map(|c| units((c * (c - 1.0) / 2.0).max(0.0))).sum();
    // Units of pairs by the next digit, among the pairs whose leading bits are these.
    let histogram = |prefix: u64, known: u32| -> Vec<u128> {
        let zero = || vec![0u128; 1 << DIGITS];
        let add_row = |mut sums: Vec<u128>, i: usize| {
            let mut out = Vec::new();
            row(i, &mut out);
            for (x, count) in out.iter().zip(&counts[i + 1..]) {
                if known == 0 || x.to_bits() >> (64 - known) == prefix {
                    sums[(x.to_bits() >> (64 - known - DIGITS)) as usize & ((1 << DIGITS) - 1)] +=
                        units(counts[i] * count);
                }
            }
            sums
        };
        let add = |mut a: Vec<u128>, b: Vec<u128>| {
            a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
            a
        };
        let mut sums = (0..n).into_par_iter().fold(zero, add_row).reduce(zero, add);
        if prefix == 0 {
            sums[0] += with_itself;
        }
        sums
    };
    let first = histogram(0, 0);
    let total: u128 = first.iter().sum();
    // The smallest value with more than `below` units up to it.
    let value = |mut below: u128| -> Option<f64> {
        let (mut prefix, mut known, mut sums) = (0u64, 0u32, first.clone());
        loop {
            if clock.stop().is_some() {
                return None;
            }
            let mut digit = 0;
            while digit + 1 < sums.len() && below >= sums[digit] {
                below -= sums[digit];
                digit += 1;
            }
            (prefix, known) = (prefix << DIGITS | digit as u64, known + DIGITS);
            if known == 64 {
                return Some(f64::from_bits(prefix));
            }
            sums = histogram(prefix, known);
        }
    };
    let lower = value(total.div_ceil(2).saturating_sub(1))?;
    Some((lower, if total.is_multiple_of(2) { value(total / 2)? } else { lower }))
}

#[cfg(test)]
mod tests {
    use super::{select, sigest, weighted_middle, weighted_sigest};
    use crate::kernel::Distances;
    use crate::{Clock, DenseDesign, Design, SparseDesign};

    const CLOCK: fn() -> Clock = Clock::unlimited;

    #[test]
    fn sigest_of_counted_samples_is_that_of_repeated_ones() {
        let x = [0.3, -1.0, 2.5, 0.9, 4.0, -0.2];
        for counts in [[1.0, 2.0, 0.0, 3.0, 1.0, 1.0], [2.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 3.0, 2.0, 0.0, 4.0, 1.0]] {
            let repeated: Vec<f64> =
                x.iter().zip(counts).flat_map(|(x, count)| std::iter::repeat_n(*x, count as usize)).collect();
            let of = |x: &[f64], counts: Option<&[f64]>| {
                let design = DenseDesign::new(x.len(), 1, x.to_vec()).expect("a column");
                weighted_sigest(&design, counts, 1, &Distances::squared(), &CLOCK()).expect("distances").expect("time")
            };
            assert!((of(&x, Some(&counts)) - of(&repeated, None)).abs() < 1e-12, "{counts:?}");
        }
    }

    #[test]
    fn fractional_counts_scale() {
        let row = |i: usize, out: &mut Vec<f64>| out.extend((i + 1..9).map(|h| ((i * 31 + h * 17) % 23) as f64 * 0.37));
        // Without pairs of a sample with itself, which counts below 1 do not have, the middle does
        // not depend on the unit.
        let half = weighted_middle(9, &row, &[0.5; 9], &CLOCK());
        assert_eq!(half, weighted_middle(9, &row, &[0.25; 9], &CLOCK()));
        let mut all = Vec::new();
        (0..9).for_each(|i| row(i, &mut all));
        all.sort_by(f64::total_cmp);
        assert_eq!(half, Some((all[17], all[18])));
    }

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
            assert_eq!(select(n, &row, rank as u64, 1000, &CLOCK()), Some(all[rank]));
            assert_eq!(select(n, &row, rank as u64, 10, &CLOCK()), Some(all[rank]));
        }
    }

    #[test]
    fn sparse_samples_are_not_laid_out_and_have_the_same_median() {
        let value =
            |i: usize, j: usize| if (i * 7 + j * 5).is_multiple_of(4) { (i + 2 * j) as f64 * 0.25 - 1.0 } else { 0.0 };
        let (n, p) = (23, 9);
        let dense = DenseDesign::new(n, p, (0..p).flat_map(|j| (0..n).map(move |i| value(i, j))).collect::<Vec<_>>());
        let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..p {
            for i in (0..n).filter(|&i| value(i, j) != 0.0) {
                rows.push(i as u32);
                values.push(value(i, j));
            }
            start.push(rows.len());
        }
        let sparse = SparseDesign::new(n, start, rows, values).expect("columns in order");
        assert!(sparse.is_sparse());
        let [a, b] = [sigest(&dense.expect("n p values"), 3), sigest(&sparse, 3)].map(|g| g.expect("distances"));
        assert!((a - b).abs() <= 1e-14 * a, "{a} {b}");
    }

    #[test]
    fn a_clock_that_has_run_out_leaves_no_number() {
        let design = DenseDesign::new(50, 2, (0..100).map(|k| f64::from(k * k % 17)).collect::<Vec<_>>());
        let design = design.expect("100 values");
        let clock = Clock::new(&crate::Limits { time: Some(std::time::Duration::ZERO), ..crate::Limits::default() });
        for counts in [None, Some([2.0; 50])] {
            let found = weighted_sigest(&design, counts.as_ref().map(|c| &c[..]), 1, &Distances::squared(), &clock);
            assert_eq!(found, Ok(None));
        }
    }
}
