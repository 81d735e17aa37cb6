//! The normal matrix `H = R + sum_i d_i x_i x_i'` of few features, and its Cholesky factor.
//!
//! x_i carries the bias as a last constant feature: its value s and R = 1 there when penalised, value 1 and R = 0 when free.
//! The factor is left-looking on the strips of [`super::outer`], so that its inner loop is the same 8 x 8 tile.

use multiversion::multiversion;

use super::Bias;
use super::outer::{OuterSum, TILE, Tile};
use crate::RowMatrix;
use crate::design::Row;

/// Rows with more than this share of non-zeros are added as dense rows: tiles are that much faster than scattering.
const DENSE_SHARE: f64 = 0.3;

/// Rows with the bias as a constant last feature of value `last`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extended<'a> {
    rows: &'a RowMatrix,
    /// Value of the constant feature.
    pub(super) last: f64,
    /// Whether there is one.
    biased: bool,
    /// R of the constant feature.
    pub(super) last_penalty: f64,
}

impl<'a> Extended<'a> {
    pub(super) fn new(rows: &'a RowMatrix, bias: Bias) -> Self {
        let (last, biased, last_penalty) = match bias {
            Bias::Free => (1.0, true, 0.0),
            Bias::Penalised(s) => (s, true, 1.0),
            Bias::None => (0.0, false, 0.0),
        };
        Self { rows, last, biased, last_penalty }
    }

    /// Whether the bias is not penalised.
    pub(super) fn is_free(&self) -> bool {
        self.biased && self.last_penalty == 0.0
    }

    /// Number of features, the constant one included.
    pub(super) fn width(&self) -> usize {
        self.rows.n_features() + usize::from(self.biased)
    }

    /// out_i = x_i . v
    pub(super) fn scores(&self, v: &[f64], out: &mut [f64]) {
        let (w, bias) = v.split_at(self.rows.n_features());
        let offset = bias.first().map_or(0.0, |b| b * self.last);
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.rows.row(i).dot(w) + offset;
        }
    }

    /// sum_i beta_i x_i
    pub(super) fn weights(&self, beta: &[f64]) -> Vec<f64> {
        let mut w = self.rows.combination(beta);
        if self.biased {
            w.push(self.last * beta.iter().sum::<f64>());
        }
        w
    }

    /// R v
    pub(super) fn penalised(&self, v: &[f64]) -> Vec<f64> {
        let mut out = v.to_vec();
        if let Some(b) = out.get_mut(self.rows.n_features()) {
            *b *= self.last_penalty;
        }
        out
    }
}

/// H under construction.
#[derive(Debug)]
pub(super) struct Normal<'a> {
    x: Extended<'a>,
    m: usize,
    sum: OuterSum,
    /// Lower triangle of the sparse rows' part, m x m; empty when rows are added as dense ones.
    scattered: Vec<f64>,
    buffer: Vec<f64>,
}

impl<'a> Normal<'a> {
    pub(super) fn new(x: Extended<'a>) -> Self {
        let m = x.width();
        let (n, p) = (x.rows.n_samples(), x.rows.n_features());
        let scatter = x.rows.is_sparse() && (x.rows.stored() as f64) < DENSE_SHARE * n as f64 * p as f64;
        Self {
            x,
            m,
            sum: OuterSum::new(m),
            scattered: if scatter { vec![0.0; m * m] } else { Vec::new() },
            buffer: vec![0.0; p],
        }
    }

    /// H = R
    pub(super) fn clear(&mut self) {
        self.sum.clear();
        self.scattered.fill(0.0);
    }

    /// H - R multiplied by `factor`.
    pub(super) fn scale(&mut self, factor: f64) {
        self.sum.scale(factor);
        for value in &mut self.scattered {
            *value *= factor;
        }
    }

    /// H += d x_i x_i' for each (i, d) given.
    pub(super) fn add(&mut self, weighted: impl Iterator<Item = (usize, f64)>) {
        let mut negative = Vec::new();
        for (i, d) in weighted {
            match self.x.rows.row(i) {
                Row::Sparse(columns, values) if !self.scattered.is_empty() => {
                    scatter(columns, values, d, self.x.biased.then_some(self.x.last), self.m, &mut self.scattered);
                }
                _ if d < 0.0 => negative.push((i, d)),
                row => add_dense(&mut self.sum, row, d, self.x.last, &mut self.buffer),
            }
        }
        if !negative.is_empty() {
            self.sum.scale(-1.0);
            for (i, d) in negative {
                add_dense(&mut self.sum, self.x.rows.row(i), -d, self.x.last, &mut self.buffer);
            }
            self.sum.scale(-1.0);
        }
    }

    /// L with L L' = H.
    pub(super) fn factor(&mut self, out: &mut Factor) {
        let (m, strips) = (self.m, self.m.div_ceil(TILE));
        out.tiles.clone_from_slice(self.sum.tiles());
        for s in 0..strips {
            for t in 0..=s {
                let tile = &mut out.tiles[s * (s + 1) / 2 + t];
                for (a, row) in tile.iter_mut().enumerate() {
                    let i = s * TILE + a;
                    if i < m && !self.scattered.is_empty() {
                        for (b, value) in row.iter_mut().enumerate() {
                            if t * TILE + b <= i {
                                *value += self.scattered[i * m + t * TILE + b];
                            }
                        }
                    }
                    if s == t {
                        row[a] += if i < m - usize::from(self.x.biased) {
                            1.0
                        } else if i < m {
                            // A free bias that no sample in H holds must still be able to move.
                            self.x.last_penalty.max(1e-8)
                        } else {
                            // Padding up to a whole tile.
                            1.0
                        };
                    }
                }
            }
        }
        cholesky(strips, &out.tiles, &mut out.packed);
    }
}

fn add_dense(sum: &mut OuterSum, row: Row<'_>, d: f64, last: f64, buffer: &mut [f64]) {
    match row {
        Row::Dense(x) => sum.add(x, d.sqrt(), last),
        Row::Sparse(columns, values) => {
            buffer.fill(0.0);
            for (&j, &x) in columns.iter().zip(values) {
                buffer[j as usize] = x;
            }
            sum.add(buffer, d.sqrt(), last);
        }
    }
}

/// Adds the lower triangle of `d x x'` for one sparse row.
fn scatter(columns: &[u32], values: &[f64], d: f64, last: Option<f64>, m: usize, out: &mut [f64]) {
    for (a, (&j, &x)) in columns.iter().zip(values).enumerate() {
        let j = j as usize;
        let row = &mut out[j * m..][..=j];
        let scaled = d * x;
        for (&k, &z) in columns[..=a].iter().zip(&values[..=a]) {
            row[k as usize] += scaled * z;
        }
    }
    if let Some(last) = last {
        let row = &mut out[(m - 1) * m..][..m];
        for (&k, &z) in columns.iter().zip(values) {
            row[k as usize] += d * last * z;
        }
        row[m - 1] += d * last * last;
    }
}

/// A Cholesky factor.
#[derive(Debug)]
pub(super) struct Factor {
    tiles: Vec<Tile>,
    /// Strip s, column k of L, lane l: L[8 s + l][k] at `(s * depth + k) * 8 + l`, with depth = 8 strips.
    packed: Vec<f64>,
}

impl Factor {
    pub(super) fn new(m: usize) -> Self {
        let strips = m.div_ceil(TILE);
        Self {
            tiles: vec![[[0.0; TILE]; TILE]; strips * (strips + 1) / 2],
            packed: vec![0.0; strips * strips * TILE * TILE],
        }
    }

    /// x with H x = b.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let strips = b.len().div_ceil(TILE);
        let depth = strips * TILE;
        let mut x = b.to_vec();
        x.resize(depth, 0.0);
        let packed = self.packed.as_chunks::<TILE>().0;
        for s in 0..strips {
            let strip = &packed[s * depth..][..depth];
            let (done, rest) = x.split_at_mut(s * TILE);
            let mut sums = [0.0; TILE];
            for (column, &x) in strip.iter().zip(&*done) {
                for l in 0..TILE {
                    sums[l] += column[l] * x;
                }
            }
            let diagonal = &strip[s * TILE..][..TILE];
            for l in 0..TILE {
                let mut value = rest[l] - sums[l];
                for k in 0..l {
                    value -= diagonal[k][l] * rest[k];
                }
                rest[l] = value / diagonal[l][l];
            }
        }
        for s in (0..strips).rev() {
            let strip = &packed[s * depth..][..depth];
            let (before, rest) = x.split_at_mut(s * TILE);
            let diagonal = &strip[s * TILE..][..TILE];
            for l in (0..TILE).rev() {
                let mut value = rest[l];
                for k in l + 1..TILE {
                    value -= diagonal[l][k] * rest[k];
                }
                rest[l] = value / diagonal[l][l];
            }
            for (column, x) in strip.iter().zip(before) {
                let mut value = 0.0;
                for l in 0..TILE {
                    value += column[l] * rest[l];
                }
                *x -= value;
            }
        }
        x.truncate(b.len());
        x
    }
}

/// Left-looking: strip s of L, tile by tile from the left. A pivot lost to rounding is made huge, which leaves its
/// variable where it is (Zhang, LIPSOL, 1998, sec. 5).
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
fn cholesky(strips: usize, tiles: &[Tile], packed: &mut [f64]) {
    let depth = strips * TILE;
    let columns = packed.as_chunks_mut::<TILE>().0;
    for s in 0..strips {
        let (above, mine) = columns.split_at_mut(s * depth);
        for t in 0..=s {
            let mut sums = tiles[s * (s + 1) / 2 + t];
            let known = t * TILE;
            if t < s {
                let other = &above[t * depth..][..depth];
                for (a, b) in mine[..known].iter().zip(&other[..known]) {
                    for i in 0..TILE {
                        for j in 0..TILE {
                            sums[i][j] -= a[i] * b[j];
                        }
                    }
                }
                // L(s,t) L(t,t)' = sums, column by column.
                for j in 0..TILE {
                    let pivot = 1.0 / other[known + j][j];
                    for i in 0..TILE {
                        let mut value = sums[i][j];
                        for k in 0..j {
                            value -= sums[i][k] * other[known + k][j];
                        }
                        sums[i][j] = value * pivot;
                    }
                }
            } else {
                for a in &mine[..known] {
                    for i in 0..TILE {
                        for j in 0..TILE {
                            sums[i][j] -= a[i] * a[j];
                        }
                    }
                }
                let before = &tiles[s * (s + 1) / 2 + s];
                for j in 0..TILE {
                    let mut pivot = sums[j][j];
                    for k in 0..j {
                        pivot -= sums[j][k] * sums[j][k];
                    }
                    let pivot = if pivot > 1e-15 * before[j][j] { pivot.sqrt() } else { 1e64 };
                    sums[j][j] = pivot;
                    for i in j + 1..TILE {
                        let mut value = sums[i][j];
                        for k in 0..j {
                            value -= sums[i][k] * sums[j][k];
                        }
                        sums[i][j] = value / pivot;
                    }
                }
            }
            for j in 0..TILE {
                for i in 0..TILE {
                    mine[known + j][i] = if s == t && i < j { 0.0 } else { sums[i][j] };
                }
            }
        }
    }
}
