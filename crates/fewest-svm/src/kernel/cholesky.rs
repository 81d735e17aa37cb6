//! Cholesky factor of a symmetric positive definite matrix.
//!
//! Column strip by column strip, each from those to its left, as [`super::outer`] has them, so that
//! the inner loop is the same 8 x 8 tile.

use multiversion::multiversion;

use super::outer::{TILE, Tile};
use crate::{Clock, Status, simd};

/// Twice the products of tiles between two checks of the clock: some milliseconds.
const CHECK_EVERY: usize = 1 << 15;

/// A Cholesky factor.
#[derive(Debug)]
pub struct Factor {
    m: usize,
    /// The matrix until it is decomposed, in the tiles of an [`super::outer::OuterSum`].
    tiles: Vec<Tile>,
    /// Strip s, column k of L, lane l: L[8 s + l][k] at `(s * depth + k) * 8 + l`, with depth = 8
    /// strips.
    packed: Vec<f64>,
}

impl Factor {
    /// Room for an m x m matrix.
    pub fn new(m: usize) -> Self {
        let strips = m.div_ceil(TILE);
        Self {
            m,
            tiles: vec![[[0.0; TILE]; TILE]; strips * (strips + 1) / 2],
            packed: vec![0.0; strips * strips * TILE * TILE],
        }
    }

    /// Rows of the matrix.
    pub fn size(&self) -> usize {
        self.m
    }

    /// H = the matrix in these lower tiles.
    pub fn load(&mut self, tiles: &[Tile]) {
        self.tiles.clone_from_slice(tiles);
    }

    /// H_ij = entry(i, j), for j <= i.
    pub fn fill(&mut self, entry: impl Fn(usize, usize) -> f64) {
        for s in 0..self.m.div_ceil(TILE) {
            for t in 0..=s {
                let tile = &mut self.tiles[s * (s + 1) / 2 + t];
                *tile = [[0.0; TILE]; TILE];
                for (l, i) in (s * TILE..self.m.min((s + 1) * TILE)).enumerate() {
                    for (k, j) in (t * TILE..(i + 1).min((t + 1) * TILE)).enumerate() {
                        tile[l][k] = entry(i, j);
                    }
                }
            }
        }
    }

    /// H_ij += value, for j <= i.
    pub fn add(&mut self, i: usize, j: usize, value: f64) {
        let (s, t) = (i / TILE, j / TILE);
        self.tiles[s * (s + 1) / 2 + t][i % TILE][j % TILE] += value;
    }

    /// L with L L' = H.
    pub fn decompose(&mut self) {
        let whole = self.decompose_until(&Clock::unlimited());
        debug_assert!(whole.is_ok());
    }

    /// [`Factor::decompose`], unless `clock` stops it: then there is no factor.
    ///
    /// # Errors
    /// Why it was stopped.
    pub fn decompose_until(&mut self, clock: &Clock) -> Result<(), Status> {
        let strips = self.m.div_ceil(TILE);
        for i in self.m..strips * TILE {
            // Padding up to a whole tile.
            self.add(i, i, 1.0);
        }
        let mut work = 0;
        for strip in 0..strips {
            work += strip * strip;
            if work >= CHECK_EVERY {
                work = 0;
                clock.stop().map_or(Ok(()), Err)?;
            }
            next_strip(strip, strips * TILE, &self.tiles, &mut self.packed);
        }
        Ok(())
    }

    /// x with H x = b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = self.solve_lower(b);
        let strips = b.len().div_ceil(TILE);
        let depth = strips * TILE;
        x.resize(depth, 0.0);
        let packed = self.packed.as_chunks::<TILE>().0;
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

    /// X with H X = B, eight right sides at once: row i of B, and of X in its place, at `x[i]`.
    pub fn solve_eight(&self, x: &mut Vec<[f64; TILE]>) {
        let strips = self.m.div_ceil(TILE);
        x.resize(strips * TILE, [0.0; TILE]);
        solve_lanes(&self.packed, strips, x);
        x.truncate(self.m);
    }

    /// x with L x = b.
    pub fn solve_lower(&self, b: &[f64]) -> Vec<f64> {
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
        x.truncate(b.len());
        x
    }
}

/// Strip s of L, of `depth` columns, tile by tile from the left. A pivot lost to
/// rounding is made huge, which leaves its variable where it is (Zhang, LIPSOL, 1998, sec. 5).
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
fn next_strip(s: usize, depth: usize, tiles: &[Tile], packed: &mut [f64]) {
    let columns = packed.as_chunks_mut::<TILE>().0;
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

/// X with L L' X = B, eight columns of `8 strips` rows, in place.
#[multiversion(targets("x86_64+avx512f+avx512vl+fma", "x86_64+avx2+fma"))]
fn solve_lanes(packed: &[f64], strips: usize, x: &mut [[f64; TILE]]) {
    let depth = strips * TILE;
    let packed = packed.as_chunks::<TILE>().0;
    for s in 0..strips {
        let strip = &packed[s * depth..][..depth];
        let (done, rest) = x.split_at_mut(s * TILE);
        let mut sums = [[0.0; TILE]; TILE];
        sums.copy_from_slice(&rest[..TILE]);
        for (column, x) in strip.iter().zip(&*done) {
            for l in 0..TILE {
                for r in 0..TILE {
                    sums[l][r] -= column[l] * x[r];
                }
            }
        }
        let diagonal = &strip[s * TILE..][..TILE];
        for l in 0..TILE {
            for k in 0..l {
                for r in 0..TILE {
                    sums[l][r] -= diagonal[k][l] * sums[k][r];
                }
            }
            sums[l] = sums[l].map(|value| value / diagonal[l][l]);
        }
        rest[..TILE].copy_from_slice(&sums);
    }
    for s in (0..strips).rev() {
        let strip = &packed[s * depth..][..depth];
        let (before, rest) = x.split_at_mut(s * TILE);
        let diagonal = &strip[s * TILE..][..TILE];
        let mut sums = [[0.0; TILE]; TILE];
        sums.copy_from_slice(&rest[..TILE]);
        for l in (0..TILE).rev() {
            for k in l + 1..TILE {
                for r in 0..TILE {
                    sums[l][r] -= diagonal[l][k] * sums[k][r];
                }
            }
            sums[l] = sums[l].map(|value| value / diagonal[l][l]);
        }
        rest[..TILE].copy_from_slice(&sums);
        for (column, x) in strip.iter().zip(before) {
            for l in 0..TILE {
                for r in 0..TILE {
                    x[r] -= column[l] * sums[l][r];
                }
            }
        }
    }
}

/// L in place of the lower triangle of a p x p matrix, row after row, 0 above; whether the matrix
/// is positive definite. Where [`Factor`] goes on, this one says so.
pub fn lower_factor(a: &mut [f64], p: usize) -> bool {
    for i in 0..p {
        let (above, row) = a.split_at_mut(i * p);
        for j in 0..i {
            row[j] = (row[j] - simd::dot(&row[..j], &above[j * p..j * p + j])) / above[j * p + j];
        }
        let pivot = row[i] - simd::dot(&row[..i], &row[..i]);
        if pivot.is_nan() || pivot <= 1e-12 * row[i] {
            return false;
        }
        row[i] = pivot.sqrt();
        row[i + 1..p].fill(0.0);
    }
    true
}
