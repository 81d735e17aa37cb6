//! Sums of outer products of rows: the Gram matrix of few samples, and the normal matrix of few features.
//!
//! A safe register-tiled rank-k update. Columns are packed in strips of eight, so a tile of the result is 8 x 8 sums that
//! stay in registers while k rows stream past.

use multiversion::multiversion;

use crate::RowMatrix;
use crate::design::Row;

/// Side of a tile.
pub(super) const TILE: usize = 8;
/// Part of a symmetric matrix, in row order.
pub(super) type Tile = [[f64; TILE]; TILE];
/// Rows packed before the tiles are updated: strips of two tiles stay in the first cache.
const DEPTH: usize = 128;

/// `S = sum_k v_k v_k'` for vectors v_k of length m, added one by one.
#[derive(Debug)]
pub(super) struct OuterSum {
    m: usize,
    strips: usize,
    /// Strip s, row k, lane l at `(s * DEPTH + k) * TILE + l`.
    packed: Vec<f64>,
    filled: usize,
    /// Lower tiles (s, t), t <= s, each 8 x 8 in row order.
    tiles: Vec<Tile>,
}

impl OuterSum {
    /// S = 0.
    pub(super) fn new(m: usize) -> Self {
        let strips = m.div_ceil(TILE);
        Self {
            m,
            strips,
            packed: vec![0.0; strips * DEPTH * TILE],
            filled: 0,
            tiles: vec![[[0.0; TILE]; TILE]; strips * (strips + 1) / 2],
        }
    }

    /// Adds `v v'` with v = scale (x, last): `last` is a constant feature appended to `x` where m is one longer.
    pub(super) fn add(&mut self, x: &[f64], scale: f64, last: f64) {
        let (whole, rest) = x.as_chunks::<TILE>();
        let k = self.filled;
        for (s, x) in whole.iter().enumerate() {
            let at = (s * DEPTH + k) * TILE;
            for (o, x) in self.packed[at..at + TILE].iter_mut().zip(x) {
                *o = scale * x;
            }
        }
        if whole.len() < self.strips {
            let at = (whole.len() * DEPTH + k) * TILE;
            for (o, x) in self.packed[at..at + TILE].iter_mut().zip(rest.iter().copied().chain([last])) {
                *o = scale * x;
            }
        }
        self.filled += 1;
        if self.filled == DEPTH {
            self.flush();
        }
    }

    /// Adds `B' B` where row k of B is `column(k)` read through `get(k, i)`, for k below `depth`.
    fn add_packed(&mut self, depth: usize, get: impl Fn(usize, usize) -> f64) {
        for i in 0..self.m {
            let at = (i / TILE) * DEPTH * TILE + i % TILE;
            for k in 0..depth {
                self.packed[at + k * TILE] = get(k, i);
            }
        }
        self.filled = depth;
        self.flush();
    }

    /// S = 0
    pub(super) fn clear(&mut self) {
        self.filled = 0;
        self.tiles.fill([[0.0; TILE]; TILE]);
    }

    /// S = -S
    pub(super) fn negate(&mut self) {
        self.flush();
        for value in self.tiles.iter_mut().flatten().flatten() {
            *value = -*value;
        }
    }

    /// Lower tiles (s, t), t <= s, row after row.
    pub(super) fn tiles(&mut self) -> &[Tile] {
        self.flush();
        &self.tiles
    }

    fn flush(&mut self) {
        update(&self.packed, self.filled, self.strips, &mut self.tiles);
        self.filled = 0;
    }

    /// Writes the lower triangle of S into `out` (m x m, row order).
    pub(super) fn lower_into(&mut self, out: &mut [f64]) {
        self.flush();
        let m = self.m;
        let mut tile = self.tiles.iter();
        for s in 0..self.strips {
            for t in 0..=s {
                let Some(tile) = tile.next() else { return };
                for (a, values) in tile.iter().enumerate().take(m - s * TILE) {
                    let i = s * TILE + a;
                    let width = TILE.min(i + 1 - (t * TILE).min(i + 1));
                    out[i * m + t * TILE..][..width].copy_from_slice(&values[..width]);
                }
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
fn update(packed: &[f64], depth: usize, strips: usize, tiles: &mut [Tile]) {
    let strip = |s: usize| packed[s * DEPTH * TILE..][..depth * TILE].as_chunks::<TILE>().0;
    let mut out = tiles.iter_mut();
    for s in 0..strips {
        let a = strip(s);
        for t in 0..=s {
            let Some(tile) = out.next() else { return };
            let mut sums = *tile;
            for (a, b) in a.iter().zip(strip(t)) {
                for i in 0..TILE {
                    for j in 0..TILE {
                        sums[i][j] += a[i] * b[j];
                    }
                }
            }
            *tile = sums;
        }
    }
}

/// G = X X' (n x n), full, summed over blocks of features.
pub(super) fn of_rows(rows: &RowMatrix) -> Vec<f64> {
    let (n, p) = (rows.n_samples(), rows.n_features());
    let mut sum = OuterSum::new(n);
    let mut block = vec![0.0; n * DEPTH];
    let mut next = vec![0; n];
    for from in (0..p).step_by(DEPTH) {
        let depth = DEPTH.min(p - from);
        for i in 0..n {
            let out = &mut block[i * DEPTH..i * DEPTH + depth];
            match rows.row(i) {
                Row::Dense(x) => out.copy_from_slice(&x[from..from + depth]),
                Row::Sparse(columns, values) => {
                    out.fill(0.0);
                    let mut at: usize = next[i];
                    while at < columns.len() && (columns[at] as usize) < from + depth {
                        out[columns[at] as usize - from] = values[at];
                        at += 1;
                    }
                    next[i] = at;
                }
            }
        }
        sum.add_packed(depth, |k, i| block[i * DEPTH + k]);
    }
    let mut gram = vec![0.0; n * n];
    sum.lower_into(&mut gram);
    for i in 0..n {
        for j in 0..i {
            gram[j * n + i] = gram[i * n + j];
        }
    }
    gram
}

/// G v for a full n x n matrix.
pub(super) fn times(gram: &[f64], v: &[f64]) -> Vec<f64> {
    let n = v.len();
    let mut out = vec![0.0; n];
    for (i, &v) in v.iter().enumerate() {
        if v != 0.0 {
            crate::kernel::simd::axpy(v, &gram[i * n..(i + 1) * n], &mut out);
        }
    }
    out
}
