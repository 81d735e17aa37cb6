//! The signed rows of the restricted problem, problem by problem, each stored along its shorter
//! side.

use std::ops::Range;

use crate::simd::{PADDING, add_combination, add_dots};

/// The signed rows y_i x_i of the restricted problem, stored in lines along the shorter side,
/// padded with zeros.
#[derive(Debug)]
pub(in crate::bound) struct Block {
    pub(super) n: usize,
    pub(super) m: usize,
    /// Rows (n lines) when m <= n, else columns (m lines), at distance `stride`.
    lines: Vec<f64>,
    stride: usize,
}

impl Block {
    /// From columns: `fill(k, column)` writes column k (length n).
    pub(in crate::bound) fn new(n: usize, m: usize, mut fill: impl FnMut(usize, &mut [f64])) -> Self {
        let stride = n.min(m).next_multiple_of(PADDING);
        let mut lines = vec![0.0; n.max(m) * stride];
        if m <= n {
            let mut column = vec![0.0; n];
            for k in 0..m {
                fill(k, &mut column);
                for (i, &x) in column.iter().enumerate() {
                    lines[i * stride + k] = x;
                }
            }
        } else {
            for k in 0..m {
                fill(k, &mut lines[k * stride..k * stride + n]);
            }
        }
        Self { n, m, lines, stride }
    }

    pub(super) fn by_rows(&self) -> bool {
        self.m <= self.n
    }

    pub(super) fn line(&self, at: usize) -> &[f64] {
        &self.lines[at * self.stride..at * self.stride + self.n.min(self.m)]
    }

    /// out += Z v
    pub(super) fn add_times(&self, v: &[f64], out: &mut [f64]) {
        if self.by_rows() { self.along(v, out) } else { self.across(v, out) }
    }

    /// out += Z'a
    pub(super) fn add_transposed_times(&self, a: &[f64], out: &mut [f64]) {
        if self.by_rows() { self.across(a, out) } else { self.along(a, out) }
    }

    /// out_i += line_i . v
    fn along(&self, v: &[f64], out: &mut [f64]) {
        let mut padded = v.to_vec();
        padded.resize(self.stride, 0.0);
        add_dots(&self.lines, &padded, out);
    }

    /// out += sum_i a_i line_i
    fn across(&self, a: &[f64], out: &mut [f64]) {
        let mut padded = vec![0.0; self.stride];
        add_combination(&self.lines, a, &mut padded);
        out.iter_mut().zip(&padded).for_each(|(out, x)| *out += x);
    }
}

/// The blocks of the problems: samples one problem after the other, and so are columns, as many in
/// each.
#[derive(Debug)]
pub(in crate::bound) struct Blocks(Vec<Block>);

impl Blocks {
    /// One for each problem, with as many columns each.
    pub(in crate::bound) fn new(blocks: Vec<Block>) -> Self {
        Self(blocks)
    }

    /// Samples of all problems.
    pub(super) fn n(&self) -> usize {
        self.0.iter().map(|block| block.n).sum()
    }

    /// Columns of each problem.
    pub(super) fn m(&self) -> usize {
        self.0[0].m
    }

    /// The block where there is one problem.
    pub(super) fn only(&self) -> Option<&Block> {
        if let [block] = &self.0[..] { Some(block) } else { None }
    }

    /// Number of problems.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Each problem's block, its samples and its columns.
    pub(super) fn each(&self) -> impl Iterator<Item = (&Block, Range<usize>, Range<usize>)> {
        let mut n = 0;
        self.0.iter().enumerate().map(move |(t, block)| {
            let first = n;
            n += block.n;
            (block, first..n, t * block.m..(t + 1) * block.m)
        })
    }

    /// out += Z v
    pub(super) fn add_times(&self, v: &[f64], out: &mut [f64]) {
        for (block, samples, columns) in self.each() {
            block.add_times(&v[columns], &mut out[samples]);
        }
    }

    /// out += Z'a
    pub(super) fn add_transposed_times(&self, a: &[f64], out: &mut [f64]) {
        for (block, samples, columns) in self.each() {
            block.add_transposed_times(&a[samples], &mut out[columns]);
        }
    }
}
