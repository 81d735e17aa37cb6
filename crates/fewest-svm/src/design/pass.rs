//! Scores of many sparse columns in one walk along their entries.
//!
//! Most columns of text or of URLs hold one to three entries, and a loop for each would cost more in
//! wrongly predicted ends than in entries. So the products of a block of columns are made first, in
//! one loop without ends, and then summed column by column through a mask, without a branch where a
//! column has at most [`WIDE`] entries.
//!
//! Sums     entries in groups of eight; position l of the first four of a group, with position l + 4
//!          added, has a sum of its own, and the four are added in pairs. That is the sum of any
//!          column, however it is asked for: it depends on no block and no thread.

/// Entries summed without a branch.
const WIDE: usize = 8;
/// Products kept between the two loops: 8 KiB, a quarter of the first cache.
const PRODUCTS: usize = 1024;
/// Columns at most of a block; few, so that the sums of one overlap with the products of the next.
const COLUMNS: usize = 64;

/// Bits of the first entries: `MASKS[k]` keeps k of eight.
static MASKS: [[u64; WIDE]; WIDE + 1] = {
    let mut masks = [[0; WIDE]; WIDE + 1];
    let mut k = 0;
    while k <= WIDE {
        let mut l = 0;
        while l < k {
            masks[k][l] = u64::MAX;
            l += 1;
        }
        k += 1;
    }
    masks
};

/// `out_k = x_{first + k} . v` for the columns between the `starts` (one more than `out`), which
/// point into `rows` and `values`.
pub(super) fn dot_columns(starts: &[usize], rows: &[u32], values: &[f64], v: &[f64], out: &mut [f64]) {
    let mut products = [0.0; PRODUCTS + WIDE];
    let mut done = 0;
    while done < out.len() {
        let from = starts[done];
        let mut count = COLUMNS.min(out.len() - done);
        while count > 1 && starts[done + count] - from > PRODUCTS {
            count /= 2;
        }
        let to = starts[done + count];
        let (rows, values) = (&rows[from..to], &values[from..to]);
        if rows.len() > PRODUCTS {
            out[done] = dot_column(rows, values, v);
        } else {
            multiply(rows, values, v, &mut products[..rows.len()]);
            sums(&starts[done..=done + count], &products, &mut out[done..done + count]);
        }
        done += count;
    }
}

/// x . v of one column.
pub(super) fn dot_column(rows: &[u32], values: &[f64], v: &[f64]) -> f64 {
    let (row_groups, last_rows) = rows.as_chunks::<WIDE>();
    let (value_groups, last_values) = values.as_chunks::<WIDE>();
    let mut sum = [0.0; 4];
    for (rows, values) in row_groups.iter().zip(value_groups) {
        for l in 0..4 {
            sum[l] += values[l] * v[rows[l] as usize] + values[l + 4] * v[rows[l + 4] as usize];
        }
    }
    let mut products = [0.0; WIDE];
    multiply(last_rows, last_values, v, &mut products[..last_rows.len()]);
    add(&products, &mut sum);
    in_pairs(sum)
}

/// `out_k = values_k v[rows_k]`
fn multiply(rows: &[u32], values: &[f64], v: &[f64], out: &mut [f64]) {
    let (out_groups, last_out) = out.as_chunks_mut::<WIDE>();
    let (row_groups, last_rows) = rows.as_chunks::<WIDE>();
    let (value_groups, last_values) = values.as_chunks::<WIDE>();
    for ((out, rows), values) in out_groups.iter_mut().zip(row_groups).zip(value_groups) {
        let mut gathered = [0.0; WIDE];
        for l in 0..WIDE {
            gathered[l] = v[rows[l] as usize];
        }
        for l in 0..WIDE {
            out[l] = values[l] * gathered[l];
        }
    }
    for ((out, &i), x) in last_out.iter_mut().zip(last_rows).zip(last_values) {
        *out = x * v[i as usize];
    }
}

/// The sums of the products between the starts, which begin with the first product.
fn sums(starts: &[usize], products: &[f64; PRODUCTS + WIDE], out: &mut [f64]) {
    let from = starts[0];
    // Reading each column's length pays where nearly all are short.
    let few = starts[out.len()] - from <= 2 * out.len();
    for (out, ends) in out.iter_mut().zip(starts.windows(2)) {
        let (mut at, end) = (ends[0] - from, ends[1] - from);
        let mut sum = [0.0; 4];
        if few && end - at <= 4 {
            // Half a group, as the other half is zeros.
            let (half, mask) = (&group(products, at)[..4], &MASKS[end - at]);
            for l in 0..4 {
                sum[l] += f64::from_bits(half[l].to_bits() & mask[l]);
            }
            *out = in_pairs(sum);
            continue;
        }
        while end - at > WIDE {
            add(group(products, at), &mut sum);
            at += WIDE;
        }
        let mut last = *group(products, at);
        let mask = &MASKS[(end - at).min(WIDE)];
        for l in 0..WIDE {
            last[l] = f64::from_bits(last[l].to_bits() & mask[l]);
        }
        add(&last, &mut sum);
        *out = in_pairs(sum);
    }
}

#[inline(always)]
fn group(products: &[f64; PRODUCTS + WIDE], at: usize) -> &[f64; WIDE] {
    products[at..].first_chunk().expect("the products are padded")
}

#[inline(always)]
fn add(group: &[f64; WIDE], sum: &mut [f64; 4]) {
    for l in 0..4 {
        sum[l] += group[l] + group[l + 4];
    }
}

#[inline(always)]
fn in_pairs(sum: [f64; 4]) -> f64 {
    (sum[0] + sum[2]) + (sum[1] + sum[3])
}

#[cfg(test)]
mod tests {
    use crate::{Design, SparseDesign};

    fn numbers(mut seed: u64) -> impl FnMut() -> f64 {
        move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// Columns of these lengths.
    fn columns(n: usize, lengths: &[usize], draw: &mut impl FnMut() -> f64) -> SparseDesign<'static> {
        let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for &length in lengths {
            let first = (draw() * (n - length + 1) as f64) as usize;
            rows.extend((first..first + length).map(|i| i as u32));
            values.extend((0..length).map(|_| draw() - 0.5));
            start.push(rows.len());
        }
        SparseDesign::new(n, start, rows, values).unwrap()
    }

    #[test]
    fn scores_are_those_of_the_plain_loop() {
        let mut draw = numbers(5);
        let n = 3000;
        let mut lengths: Vec<usize> = (0..40).chain([500, 1023, 1024, 1025, 1032, 3000, 0, 7]).collect();
        lengths.extend((0..700).map(|_| (draw() * 4.0) as usize));
        lengths.extend((0..300).map(|_| (draw() * 90.0) as usize));
        let design = columns(n, &lengths, &mut draw);
        let v: Vec<f64> = (0..n).map(|_| draw() - 0.5).collect();
        let mut all = vec![f64::NAN; lengths.len()];
        design.dot_columns(0, &v, &mut all);
        for j in 0..lengths.len() {
            let (rows, values) = design.column(j);
            let products = || rows.iter().zip(values).map(|(&i, x)| x * v[i as usize]);
            let (plain, size): (f64, f64) = (products().sum(), products().map(f64::abs).sum());
            assert!((all[j] - plain).abs() <= 1e-15 * lengths[j] as f64 * size, "column {j} of {}", lengths[j]);
            assert_eq!(all[j].to_bits(), design.dot_column(j, &v).to_bits(), "column {j} of {}", lengths[j]);
        }
        // Wherever a chunk begins.
        for (first, count) in [(1, 63), (37, 500), (41, 7), (700, 300)] {
            let mut some = vec![f64::NAN; count];
            design.dot_columns(first, &v, &mut some);
            assert_eq!(some, all[first..first + count]);
        }
    }

    #[test]
    fn what_overflows_stays_in_its_column() {
        let design = SparseDesign::new(1, vec![0, 1, 1, 2, 3], vec![0, 0, 0], vec![1.0, 1e300, 2.0]).unwrap();
        let mut out = [0.0; 4];
        design.dot_columns(0, &[1e300], &mut out);
        assert_eq!(out, [1e300, 0.0, f64::INFINITY, 2e300]);
    }
}
