//! Sums of outer products of rows: the normal matrix of few features.
//!
//! A safe register-tiled rank-k update. Columns are packed in strips of eight, so a tile of the
//! result is 8 x 8 sums that stay in registers while k rows stream past.

use multiversion::{multiversion, target::target_cfg_f};

/// Side of a tile.
pub(crate) const TILE: usize = 8;
/// Part of a symmetric matrix, in row order.
pub(crate) type Tile = [[f64; TILE]; TILE];
/// Rows packed before the tiles are updated: strips of two tiles stay in the first cache.
const DEPTH: usize = 128;

/// `S = sum_k v_k v_k'` for vectors v_k of length m, added one by one.
#[derive(Debug)]
pub(crate) struct OuterSum {
    strips: usize,
    /// Strip s, row k, lane l at `(s * DEPTH + k) * TILE + l`.
    packed: Vec<f64>,
    filled: usize,
    /// Lower tiles (s, t), t <= s, each 8 x 8 in row order.
    tiles: Vec<Tile>,
}

impl OuterSum {
    /// S = 0.
    pub(crate) fn new(m: usize) -> Self {
        let strips = m.div_ceil(TILE);
        Self {
            strips,
            packed: vec![0.0; strips * DEPTH * TILE],
            filled: 0,
            tiles: vec![[[0.0; TILE]; TILE]; strips * (strips + 1) / 2],
        }
    }

    /// Adds `v v'` with v = scale (x, last): `last` is a constant feature appended to `x` where m
    /// is one longer.
    pub(crate) fn add(&mut self, x: &[f64], scale: f64, last: f64) {
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

    /// S = 0
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
        self.tiles.fill([[0.0; TILE]; TILE]);
    }

    /// S = factor S
    pub(crate) fn scale(&mut self, factor: f64) {
        self.flush();
        for value in self.tiles.iter_mut().flatten().flatten() {
            *value *= factor;
        }
    }

    /// Lower tiles (s, t), t <= s, row after row.
    pub(crate) fn tiles(&mut self) -> &[Tile] {
        self.flush();
        &self.tiles
    }

    fn flush(&mut self) {
        update(&self.packed, self.filled, self.strips, &mut self.tiles);
        self.filled = 0;
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
                        sums[i][j] = if target_cfg_f!(target_feature = "fma") {
                            a[i].mul_add(b[j], sums[i][j])
                        } else {
                            sums[i][j] + a[i] * b[j]
                        };
                    }
                }
            }
            *tile = sums;
        }
    }
}
