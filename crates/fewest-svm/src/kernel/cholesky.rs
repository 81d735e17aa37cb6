//! Cholesky factor of a symmetric positive definite matrix.
//!
//! Column strip by column strip, each from those to its left, as [`super::outer`] has them, so that
//! the inner loop is the same 8 x 8 tile.

use pulp::Simd;

use super::outer::{OnTiles, TILE, Tile, add_products, on_tiles, subtract_lines};
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
            on_tiles(NextStrip { s: strip, depth: strips * TILE, tiles: &self.tiles, packed: &mut self.packed });
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
        on_tiles(SolveLanes { packed: &self.packed, strips, x });
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
struct NextStrip<'a> {
    s: usize,
    depth: usize,
    tiles: &'a [Tile],
    packed: &'a mut [f64],
}

impl OnTiles for NextStrip<'_> {
    #[inline(always)]
    fn run<S: Simd, const VECTORS: usize>(self, simd: S) {
        let Self { s, depth, tiles, packed } = self;
        let (above, mine) = packed.as_chunks_mut::<TILE>().0.split_at_mut(s * depth);
        let row = &tiles[s * (s + 1) / 2..][..=s];
        // Line j of a tile becomes column j of the strip.
        for (t, tile) in row[..s].iter().enumerate() {
            let (known, own) = mine.split_at_mut(t * TILE);
            let (left, corner) = strip(above, t, depth);
            let mut lines = transposed(tile);
            add_products::<S, VECTORS>(simd, -1.0, left, known, &mut lines);
            // L(s,t) L(t,t)' = the tile, column by column.
            for j in 0..TILE {
                let (before, rest) = lines.split_at_mut(j);
                subtract_lines::<S, VECTORS>(simd, &line(corner, j)[..j], before, &mut rest[0]);
                let pivot = 1.0 / corner[j][j];
                rest[0].iter_mut().for_each(|value| *value *= pivot);
                own[j] = rest[0];
            }
        }
        let (known, own) = mine.split_at_mut(s * TILE);
        let mut lines = transposed(&row[s]);
        add_products::<S, VECTORS>(simd, -1.0, known, known, &mut lines);
        for j in 0..TILE {
            let (before, rest) = lines.split_at_mut(j);
            subtract_lines::<S, VECTORS>(simd, &line(before, j)[..j], before, &mut rest[0]);
            let now = &mut rest[0];
            let pivot = if now[j] > 1e-15 * row[s][j][j] { now[j].sqrt() } else { 1e64 };
            for (i, value) in now.iter_mut().enumerate() {
                *value = if i < j { 0.0 } else { *value / pivot };
            }
            now[j] = pivot;
            own[j] = *now;
        }
    }
}

/// Strip s of L, of `depth` columns: those left of its diagonal tile, and that tile's.
#[inline(always)]
fn strip(columns: &[[f64; TILE]], s: usize, depth: usize) -> (&[[f64; TILE]], &[[f64; TILE]]) {
    columns[s * depth..][..(s + 1) * TILE].split_at(s * TILE)
}

#[inline(always)]
fn transposed(tile: &Tile) -> Tile {
    let mut out = [[0.0; TILE]; TILE];
    for j in 0..TILE {
        out[j] = line(tile, j);
    }
    out
}

/// Line j of a tile (of its first columns) whose columns these are.
#[inline(always)]
fn line(columns: &[[f64; TILE]], j: usize) -> [f64; TILE] {
    let mut out = [0.0; TILE];
    for k in 0..columns.len() {
        out[k] = columns[k][j];
    }
    out
}

/// X with L L' X = B, eight columns of `8 strips` rows, in place.
struct SolveLanes<'a> {
    packed: &'a [f64],
    strips: usize,
    x: &'a mut [[f64; TILE]],
}

impl OnTiles for SolveLanes<'_> {
    #[inline(always)]
    fn run<S: Simd, const VECTORS: usize>(self, simd: S) {
        let Self { packed, strips, x } = self;
        let depth = strips * TILE;
        let columns = packed.as_chunks::<TILE>().0;
        for s in 0..strips {
            let (left, diagonal) = strip(columns, s, depth);
            let (done, rest) = x.split_at_mut(s * TILE);
            let lines: &mut Tile = rest.first_chunk_mut().expect("a strip is as long as a tile");
            add_products::<S, VECTORS>(simd, -1.0, left, done, lines);
            for l in 0..TILE {
                let (before, rest) = lines.split_at_mut(l);
                subtract_lines::<S, VECTORS>(simd, &line(diagonal, l)[..l], before, &mut rest[0]);
                rest[0].iter_mut().for_each(|value| *value /= diagonal[l][l]);
            }
        }
        for s in (0..strips).rev() {
            let (left, diagonal) = strip(columns, s, depth);
            let (before, rest) = x.split_at_mut(s * TILE);
            let lines: &mut Tile = rest.first_chunk_mut().expect("a strip is as long as a tile");
            for l in (0..TILE).rev() {
                let (rest, after) = lines.split_at_mut(l + 1);
                subtract_lines::<S, VECTORS>(simd, &diagonal[l][l + 1..], after, &mut rest[l]);
                rest[l].iter_mut().for_each(|value| *value /= diagonal[l][l]);
            }
            for (column, x) in left.iter().zip(before) {
                subtract_lines::<S, VECTORS>(simd, column, lines, x);
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
