//! Samples in blocks that depend on the shape of the matrix alone, so that no sum over them depends
//! on the number of threads that share them.

use std::ops::Range;

use rayon::prelude::*;

/// Stored values of a block of rows, which another thread is worth.
pub(super) const BLOCK: usize = 1 << 16;
/// Blocks at most: a sum over samples has a vector of p for each.
pub(super) const BLOCKS: usize = 32;
/// Values of a block for each column at least.
const SHARE: usize = 8;

/// Samples of a block: see [`super::RowMatrix::block`].
pub(super) fn block_of(n: usize, p: usize, stored: usize) -> usize {
    let blocks = stored / BLOCK.max(SHARE * p);
    n.div_ceil(blocks.clamp(1, BLOCKS)).max(1)
}

/// Calls `fill` on blocks of `out`, which has one entry per sample.
pub(super) fn of_samples<T: Send>(block: usize, out: &mut [T], fill: impl Fn(Range<usize>, &mut [T]) + Sync) {
    if block >= out.len() {
        return fill(0..out.len(), out);
    }
    let blocks = out.par_chunks_mut(block).enumerate();
    blocks.for_each(|(at, out)| fill(at * block..at * block + out.len(), out));
}

/// Lets `fill` write rows in blocks: the samples of each, and their part of the columns and values.
pub(super) fn in_blocks(
    start: &[usize],
    block: usize,
    mut columns: &mut [u32],
    mut values: &mut [f64],
    fill: impl Fn(Range<usize>, &mut [u32], &mut [f64]) + Sync,
) {
    let n = start.len() - 1;
    let mut blocks = Vec::new();
    for first in (0..n).step_by(block) {
        let samples = first..n.min(first + block);
        let stored = start[samples.end] - start[first];
        let (own_columns, own_values);
        (own_columns, columns) = columns.split_at_mut(stored);
        (own_values, values) = values.split_at_mut(stored);
        blocks.push((samples, own_columns, own_values));
    }
    if let [_] = blocks[..] {
        for (samples, columns, values) in blocks {
            fill(samples, columns, values);
        }
    } else {
        blocks.into_par_iter().for_each(|(samples, columns, values)| fill(samples, columns, values));
    }
}
