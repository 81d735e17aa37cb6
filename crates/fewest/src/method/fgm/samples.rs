//! Sums over samples. Threads share them in blocks that depend on their number alone, and a block
//! has sums side by side, so that no addition waits for the last.

use rayon::prelude::*;

use crate::simd;

/// Samples of a block.
pub(super) const BLOCK: usize = 1 << 15;
/// Sums side by side.
const LANES: usize = 8;

/// sum_i of(i) over i < n
pub(super) fn sum(n: usize, of: impl Fn(usize) -> f64 + Sync) -> f64 {
    let of_block = |block: usize| {
        let end = n.min((block + 1) * BLOCK);
        let (mut at, mut sums) = (block * BLOCK, [0.0; LANES]);
        while at + LANES <= end {
            sums.iter_mut().enumerate().for_each(|(l, sum)| *sum += of(at + l));
            at += LANES;
        }
        simd::total(sums) + (at..end).map(&of).sum::<f64>()
    };
    if n <= BLOCK {
        return of_block(0);
    }
    let blocks: Vec<f64> = (0..n.div_ceil(BLOCK)).into_par_iter().map(of_block).collect();
    blocks.iter().sum()
}
