//! Sums of outer products of rows: the normal matrix of few features.
//!
//! A safe register-tiled rank-k update. Columns are packed in strips of eight, so a tile of the
//! result is 8 x 8 sums that stay in registers while k rows stream past.

use pulp::{Arch, Simd, WithSimd};

/// Side of a tile.
pub(crate) const TILE: usize = 8;
/// Products of tiles in the time of one value of a pass over rows; chosen by hand, `make bench-train`
/// shows what a change costs.
pub(crate) const TILE_SPEED: f64 = 16.0;
/// Part of a symmetric matrix, in row order.
pub type Tile = [[f64; TILE]; TILE];
/// Rows packed before the tiles are updated: strips of two tiles stay in the first cache.
const DEPTH: usize = 128;

/// `S = sum_k v_k v_k'` for vectors v_k of length m, added one by one.
#[derive(Debug)]
pub struct OuterSum {
    strips: usize,
    /// Strip s, row k, lane l at `(s * DEPTH + k) * TILE + l`.
    packed: Vec<f64>,
    filled: usize,
    /// Whether the rows packed are to be subtracted.
    negative: bool,
    /// Lower tiles (s, t), t <= s, each 8 x 8 in row order.
    tiles: Vec<Tile>,
}

impl OuterSum {
    /// S = 0.
    pub fn new(m: usize) -> Self {
        let strips = m.div_ceil(TILE);
        Self {
            strips,
            packed: vec![0.0; strips * DEPTH * TILE],
            filled: 0,
            negative: false,
            tiles: vec![[[0.0; TILE]; TILE]; strips * (strips + 1) / 2],
        }
    }

    /// Adds `v v'` with v = scale (x, last): `last` is a constant feature appended to `x` where m
    /// is one longer.
    pub fn add(&mut self, x: &[f64], scale: f64, last: f64) {
        self.pack(x, scale, last, false);
    }

    /// Subtracts `v v'`, v as in [`OuterSum::add`].
    pub fn subtract(&mut self, x: &[f64], scale: f64, last: f64) {
        self.pack(x, scale, last, true);
    }

    fn pack(&mut self, x: &[f64], scale: f64, last: f64, negative: bool) {
        if negative != self.negative {
            self.flush();
            self.negative = negative;
        }
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
    pub fn clear(&mut self) {
        self.filled = 0;
        self.tiles.fill([[0.0; TILE]; TILE]);
    }

    /// S = factor S
    pub fn scale(&mut self, factor: f64) {
        self.flush();
        for value in self.tiles.iter_mut().flatten().flatten() {
            *value *= factor;
        }
    }

    /// Lower tiles (s, t), t <= s, row after row.
    pub fn tiles(&mut self) -> &[Tile] {
        self.flush();
        &self.tiles
    }

    fn flush(&mut self) {
        let Self { packed, filled, negative, strips, tiles } = self;
        if *filled > 0 {
            let sign = if *negative { -1.0 } else { 1.0 };
            on_tiles(Update { packed, depth: *filled, sign, strips: *strips, tiles });
        }
        self.filled = 0;
    }
}

/// `tile_st += sign sum_k strip_s[k] strip_t[k]'` over the rows packed.
struct Update<'a> {
    packed: &'a [f64],
    depth: usize,
    sign: f64,
    strips: usize,
    tiles: &'a mut [Tile],
}

impl OnTiles for Update<'_> {
    #[inline(always)]
    fn run<S: Simd, const VECTORS: usize>(self, simd: S) {
        let Self { packed, depth, sign, strips, tiles } = self;
        let strip = |s: usize| packed[s * DEPTH * TILE..][..depth * TILE].as_chunks::<TILE>().0;
        let mut tiles = tiles.iter_mut();
        for s in 0..strips {
            for t in 0..=s {
                let Some(tile) = tiles.next() else { return };
                add_products::<S, VECTORS>(simd, sign, strip(s), strip(t), tile);
            }
        }
    }
}

/// Work on tiles whose rows are `VECTORS` vectors each.
pub(super) trait OnTiles {
    fn run<S: Simd, const VECTORS: usize>(self, simd: S);
}

/// Runs it by the instruction set that is available.
pub(super) fn on_tiles(work: impl OnTiles) {
    Arch::new().dispatch(ByLanes(work));
}

struct ByLanes<T>(T);

impl<T: OnTiles> WithSimd for ByLanes<T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match S::F64_LANES {
            8 => self.0.run::<S, 1>(simd),
            4 => self.0.run::<S, 2>(simd),
            2 => self.0.run::<S, 4>(simd),
            _ => self.0.run::<S, 8>(simd),
        }
    }
}

/// `tile += sign sum_k a_k b_k'`. Written for vectors of each length by hand: compilers gather the
/// sums from memory where they choose themselves.
#[inline(always)]
pub(super) fn add_products<S: Simd, const VECTORS: usize>(
    simd: S,
    sign: f64,
    a: &[[f64; TILE]],
    b: &[[f64; TILE]],
    tile: &mut Tile,
) {
    let b = S::as_simd_f64s(b.as_flattened()).0.as_chunks::<VECTORS>().0;
    let rows = S::as_mut_simd_f64s(tile.as_flattened_mut()).0.as_chunks_mut::<VECTORS>().0;
    let mut sums = [[simd.splat_f64s(0.0); VECTORS]; TILE];
    for (a, b) in a.iter().zip(b) {
        for i in 0..TILE {
            let a = simd.splat_f64s(a[i]);
            for v in 0..VECTORS {
                sums[i][v] = simd.mul_add_e_f64s(a, b[v], sums[i][v]);
            }
        }
    }
    // One by one: sums that are copied as a block stay in memory.
    let sign = simd.splat_f64s(sign);
    for i in 0..TILE {
        for v in 0..VECTORS {
            rows[i][v] = simd.mul_add_e_f64s(sign, sums[i][v], rows[i][v]);
        }
    }
}

/// `y -= sum_k factors_k lines_k`
#[inline(always)]
pub(super) fn subtract_lines<S: Simd, const VECTORS: usize>(
    simd: S,
    factors: &[f64],
    lines: &[[f64; TILE]],
    y: &mut [f64; TILE],
) {
    let lines = S::as_simd_f64s(lines.as_flattened()).0.as_chunks::<VECTORS>().0;
    let mut sums = [simd.splat_f64s(0.0); VECTORS];
    for k in 0..lines.len() {
        let factor = simd.splat_f64s(factors[k]);
        for v in 0..VECTORS {
            sums[v] = simd.mul_add_e_f64s(factor, lines[k][v], sums[v]);
        }
    }
    let y = S::as_mut_simd_f64s(y).0;
    for v in 0..VECTORS {
        y[v] = simd.sub_f64s(y[v], sums[v]);
    }
}
