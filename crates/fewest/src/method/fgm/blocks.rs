//! Sweeps of `descent.rs` over several problems, whose work threads share.
//!
//! A feature's weights in all problems move at once, one feature after the other. What a move changes
//! in the slopes of a problem is a row of its G, and these rows are most of the work. So features are
//! taken in blocks: within one only the slopes of the block follow each move, and all others at its
//! end, problem by problem, by as many threads as there are. The steps are those of a sweep without
//! blocks, but for rounding; blocks depend on the shape alone.

use rayon::prelude::*;

use super::descent::Model;
use super::quadratic::{Ahead, Quadratic};

/// Features of a block.
const BLOCK: usize = 16;
/// Entries of G in all problems together that blocks are worth.
const WORTH: usize = 1 << 18;

impl Model<'_> {
    /// Whether a sweep takes features in blocks.
    pub(super) fn has_blocks(&self) -> bool {
        self.quadratics.len() > 1 && self.quadratics.len() * self.penalty.q * self.penalty.q >= WORTH
    }

    /// A sweep over the features in this order, without the biases; returns about what it gained.
    pub(super) fn sweep_blocks(&mut self, u: &mut [Vec<f64>], order: &[usize]) -> f64 {
        let (mut gained, mut last, count) = (0.0, &[][..], u.len());
        // Of each problem the moves of the block before that its slopes do not know yet.
        let mut moves = vec![Vec::new(); count];
        for block in order.chunks(BLOCK).chain([&[][..]]) {
            let advance = |(quadratic, own): (&mut Quadratic<'_>, &Vec<f64>)| {
                quadratic.advance_all(last, own);
                quadratic.ahead(block)
            };
            let mut ahead: Vec<Option<Ahead>> = self.quadratics.par_iter_mut().zip(&moves).map(advance).collect();
            moves = vec![vec![0.0; block.len()]; count];
            let (mut curves, mut b) = (vec![0.0; count], vec![0.0; count]);
            for (k, &j) in block.iter().enumerate() {
                for t in 0..count {
                    let (curve, slope) = match &ahead[t] {
                        Some(ahead) => (ahead.curve(k), ahead.slopes[k]),
                        None => (self.quadratics[t].curve(j), self.quadratics[t].slope(j)),
                    };
                    (curves[t], b[t]) = (curve, curve * u[t][j] - slope);
                }
                for (t, to) in self.minimisers(j, &curves, b.clone()).into_iter().enumerate() {
                    let change = to - u[t][j];
                    if change == 0.0 {
                        continue;
                    }
                    u[t][j] = to;
                    gained += 0.5 * change * change * curves[t];
                    match &mut ahead[t] {
                        Some(ahead) => {
                            ahead.advance(k, change);
                            moves[t][k] = change;
                        }
                        None => self.quadratics[t].advance(j, change),
                    }
                }
            }
            last = block;
        }
        gained
    }
}

#[cfg(test)]
mod tests {
    use super::super::descent::Model;
    use super::super::penalty::SupportPenalty;
    use super::super::quadratic::Quadratic;
    use crate::dual::sweep::Shuffle;
    use crate::{Clock, WeightBounds};

    /// Gram matrix of q features: products of drawn columns of m values, so that it is positive.
    fn gram(q: usize, m: usize, seed: usize) -> Vec<f64> {
        let x = |j: usize, i: usize| ((31 * j * j + 17 * i * seed + 7 * i * j + seed) % 23) as f64 / 11.0 - 1.0;
        let entry = |at: usize| (0..m).map(|i| x(at / q, i) * x(at % q, i)).sum::<f64>();
        (0..q * q).map(entry).collect()
    }

    #[test]
    fn blocks_take_the_steps_of_a_sweep_without() {
        let (q, count) = (45, 3);
        let penalty = SupportPenalty {
            q,
            required: (0..q).map(|j| j == 3).collect(),
            most: 5.0,
            signs: WeightBounds::default(),
            biases: vec![None; count],
        };
        let grams: Vec<Vec<f64>> = (0..count).map(|t| gram(q, 20 + t, t + 1)).collect();
        let pull = |t: usize| (0..q).map(|j| ((13 * j + 5 * t) % 19) as f64 - 9.0).collect::<Vec<f64>>();
        let clock = Clock::unlimited();
        let model = || Model {
            penalty: &penalty,
            quadratics: grams.iter().enumerate().map(|(t, gram)| Quadratic::entries(gram, &pull(t))).collect(),
            s: 9.0,
            shuffle: Shuffle::default(),
            since: 0,
            care: 1,
            most: 0,
            clock: &clock,
        };
        let (mut plain, mut blocks) = (model(), model());
        assert!(!plain.has_blocks());
        let (mut u, mut v) = (vec![vec![0.0; q]; count], vec![vec![0.0; q]; count]);
        let (mut order, mut drawn): (Vec<usize>, Vec<usize>) = ((0..q).collect(), (0..q).collect());
        for _ in 0..3 {
            let gained = plain.sweep(&mut u, &mut order);
            for at in 0..q {
                blocks.shuffle.draw(&mut drawn, at);
            }
            let same = blocks.sweep_blocks(&mut v, &drawn);
            assert!((gained - same).abs() <= 1e-9 * gained, "{gained} and {same}");
            for (a, b) in u.iter().flatten().zip(v.iter().flatten()) {
                assert!((a - b).abs() <= 1e-9, "{a} and {b}");
            }
        }
        assert!(u.iter().flatten().any(|u| *u != 0.0) && u.iter().flatten().any(|u| *u == 0.0));
    }
}
