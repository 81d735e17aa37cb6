//! Pairs of samples as the search sees them: a weight, and `exp(-gamma d)` for each unit of
//! features, in tiles.

use std::collections::HashMap;

use rayon::prelude::*;

use super::triples::{order, triples};
use crate::kernel::symmetric::{self, WIDTH};
use crate::kernel::{Distance, Distances};
use crate::simd;
use crate::{Choice, Clock, Design, Rules};

/// Bytes of a tile that stay in the second cache together with what a node adds up.
const TILE_BYTES: usize = 256 * 1024;
/// Fewest and most pairs of a tile.
const TILE_LENGTH: (usize, usize) = (512, 2048);
/// A feature with at most this many values is a category; pairs of such data are compared with each
/// other.
const CATEGORY: usize = 12;
/// A thread's buffer for a tile takes at most one part in this many of the memory that is left, and
/// may have these bytes in any case.
const SHARE_OF_BUFFERS: u64 = 32;
const LEAST_BUFFER: u64 = 16 << 20;

/// Bytes per entry of the matrix of a node with two slots or more: its sums, the ordered copy that
/// the model searches, and what its children list.
const MATRIX_BYTES: u64 = 20;
/// Bytes per triple of a node that has them: its sums; and per slot and pair: what triples add to
/// pairs, twice.
const TRIPLE_BYTES: u64 = 8;
const SIZE_BYTES: u64 = 16;
/// Bytes per unit of a node with one slot.
const LINEAR_BYTES: u64 = 64;

/// Bytes that a run needs, whatever it keeps.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    /// The columns, twice while equal rows are merged.
    copies: u64,
    /// The first node.
    node: u64,
}

impl Need {
    pub(super) fn new(n: usize, rules: &Rules) -> Self {
        let of = |choice: Choice| (0..rules.n_units()).filter(move |&u| rules.root()[u] == choice);
        let columns: usize = of(Choice::Free).chain(of(Choice::In)).map(|u| rules.unit(u).len()).sum();
        let units = of(Choice::Free).count();
        let slots = rules.most_features().min(units);
        // However few pairs there are.
        Self { copies: 16 * (n * columns) as u64, node: node_bytes(units + 1, slots, order(units, slots, 0)) }
    }

    pub(super) fn least(self) -> u64 {
        self.copies.saturating_add(self.node)
    }
}

/// Bytes that a node takes while it is expanded: columns are free units and "no unit".
pub(super) fn node_bytes(columns: usize, slots: usize, order: usize) -> u64 {
    let columns = columns as u64;
    if slots <= 1 {
        return LINEAR_BYTES * columns;
    }
    let triples = triples(columns as usize - 1, order) as u64;
    let of_sizes = if triples > 0 { SIZE_BYTES * slots as u64 * columns * columns } else { 0 };
    MATRIX_BYTES.saturating_mul(columns * columns).saturating_add(TRIPLE_BYTES * triples + of_sizes)
}

/// A tile of pairs: columns of equal length, one value per pair.
#[derive(Debug, Clone, Default)]
pub(super) struct Tile {
    /// Weight of the pair in f.
    pub(super) weight: Vec<f32>,
    /// r, between 0 and 1: what the values u of the pair are measured from.
    pub(super) centre: Vec<f32>,
    /// u - r for each unit, then for no feature at all (u = 1); column after column.
    delta: Vec<f32>,
    /// |u - r|^(3/2) in the same order.
    spread: Vec<f32>,
}

impl Tile {
    /// Units, and "no unit".
    pub(super) fn columns(&self) -> usize {
        self.delta.len() / self.weight.len()
    }

    pub(super) fn delta(&self, unit: usize) -> &[f32] {
        &self.delta[unit * self.weight.len()..(unit + 1) * self.weight.len()]
    }

    pub(super) fn spread(&self, unit: usize) -> &[f32] {
        &self.spread[unit * self.weight.len()..(unit + 1) * self.weight.len()]
    }
}

/// The source of the pairs.
#[derive(Debug)]
enum Source {
    /// All pairs of distinct rows.
    Rows,
    /// Distinct pairs: gamma d of each unit column after column, and the sums of their weights.
    Distinct { distance: Vec<f32>, weight: Vec<f32> },
}

/// A feature on the distinct rows.
#[derive(Debug)]
struct Column {
    distance: Distance,
    values: Vec<f64>,
}

/// All pairs of distinct rows. Units count from 0 over those that the rules leave free.
#[derive(Debug)]
pub struct Pairs {
    /// Distinct rows.
    rows: usize,
    gamma: f64,
    /// The features of each free unit.
    units: Vec<Vec<Column>>,
    /// The features that the rules require.
    fixed: Vec<Column>,
    /// Share of each class (its weight sums to 1) in each row.
    shares: Vec<Vec<f64>>,
    /// Sum over the classes of each row's shares.
    total: Vec<f64>,
    source: Source,
    count: usize,
    length: usize,
    /// Units whose values weigh as much as those of all others in the centre.
    favoured: Vec<usize>,
    stored: Vec<Tile>,
    /// Bytes beside the columns and the first node.
    spare: u64,
    /// Bytes for the nodes that are expanded together.
    batch_bytes: u64,
    clock: Clock,
    /// Sum of the weights of the pairs of a row with itself.
    pub(super) diagonal: f64,
    /// Sum of the positive weights of pairs, and of the absolute values of all.
    pub(super) positive: f64,
    pub(super) absolute: f64,
}

impl Pairs {
    /// `shares_of[c][i]`: share of sample i in class c. None once the clock says stop.
    pub fn new(
        design: &dyn Design,
        shares_of: &[Vec<f64>],
        rules: &Rules,
        gamma: f64,
        distances: &Distances,
        memory: u64,
        clock: &Clock,
    ) -> Option<Self> {
        let need = Need::new(design.n_samples(), rules);
        let spare = memory.saturating_sub(need.least());
        let n = design.n_samples();
        let column = |j: usize| {
            let mut values = vec![0.0; n];
            design.add_column(j, 1.0, &mut values);
            Column { distance: distances.of(j), values }
        };
        let of = |choice: Choice| (0..rules.n_units()).filter(move |&u| rules.root()[u] == choice);
        let mut units: Vec<Vec<Column>> =
            of(Choice::Free).map(|u| rules.unit(u).iter().map(|&j| column(j)).collect()).collect();
        let mut fixed: Vec<Column> =
            of(Choice::In).flat_map(|u| rules.unit(u).iter().map(|&j| column(j)).collect::<Vec<_>>()).collect();
        // Equal rows become one.
        let mut place: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut first = Vec::new();
        let mut shares = vec![Vec::new(); shares_of.len()];
        for i in 0..n {
            if clock.stop().is_some() {
                return None;
            }
            let key = units.iter().flatten().chain(&fixed).map(|c| (c.values[i] + 0.0).to_bits()).collect();
            let at = *place.entry(key).or_insert(first.len());
            if at == first.len() {
                first.push(i);
                for sums in &mut shares {
                    sums.push(0.0);
                }
            }
            for (sum, share) in shares.iter_mut().zip(shares_of) {
                sum[at] += share[i];
            }
        }
        for column in units.iter_mut().flatten().chain(&mut fixed) {
            column.values = first.iter().map(|&i| column.values[i]).collect();
        }
        let rows = first.len();
        let total = total(&shares);
        let count = rows * (rows - 1) / 2;
        let fits = TILE_BYTES / (8 * (units.len() + 1)) / 64 * 64;
        // A tile that is made again each time must not take what kernel values may not.
        let room = (spare / SHARE_OF_BUFFERS).max(LEAST_BUFFER) / (8 * (units.len() as u64 + 2));
        let room = room as usize / WIDTH * WIDTH;
        let most = count.next_multiple_of(WIDTH).min(room).max(WIDTH);
        let length = fits.clamp(TILE_LENGTH.0, TILE_LENGTH.1).min(most);
        let mut pairs = Self {
            rows,
            gamma,
            units,
            fixed,
            shares,
            total,
            source: Source::Rows,
            count,
            length,
            favoured: Vec::new(),
            stored: Vec::new(),
            spare,
            batch_bytes: need.node + spare / 8,
            clock: clock.clone(),
            diagonal: 0.0,
            positive: 0.0,
            absolute: 0.0,
        };
        pairs.diagonal = (0..rows).map(|g| 0.5 * pairs.weight(g, g)).sum();
        pairs.merge();
        let weights: Vec<(f64, f64)> = (0..rows)
            .into_par_iter()
            .map(|g| {
                if clock.stop().is_some() {
                    return (0.0, 0.0);
                }
                (g + 1..rows).map(|h| pairs.weight(g, h)).fold((0.0, 0.0), |s, w| (s.0 + w.max(0.0), s.1 + w.abs()))
            })
            .collect();
        (pairs.positive, pairs.absolute) = weights.iter().fold((0.0, 0.0), |s, w| (s.0 + w.0, s.1 + w.1));
        pairs.store();
        clock.stop().is_none().then_some(pairs)
    }

    /// Bytes for the nodes that are expanded together, at least those of the first node.
    pub(super) fn batch_bytes(&self) -> u64 {
        self.batch_bytes
    }

    /// Bytes for open nodes.
    pub(super) fn for_open_nodes(&self) -> u64 {
        self.spare / 4
    }

    /// Pairs, those that are alike counted once.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Pairs in a tile.
    pub(super) fn tile_length(&self) -> usize {
        self.length
    }

    pub(super) fn tiles(&self) -> usize {
        self.count.div_ceil(self.length)
    }

    /// Measures values from where they lie for these units, as much as for all others.
    pub(super) fn favour(&mut self, units: Vec<usize>) {
        self.favoured = units;
        self.store();
    }

    /// Twice the weight of rows g and h in f.
    fn weight(&self, g: usize, h: usize) -> f64 {
        2.0 * weight(&self.shares, &self.total, g, h)
    }

    /// gamma d of a unit between row g and the rows `from..`, added to `out`.
    fn distances(&self, columns: &[Column], g: usize, from: usize, out: &mut [f64]) {
        for Column { distance, values } in columns {
            distance.add(self.gamma, values[g], &values[from..from + out.len()], out);
        }
    }

    /// Merges pairs with the same distances, to the last bit, where the data are categories and there
    /// is room. A checker of proofs merges those of equal kernels, so all of these: weights that cancel
    /// here do so there.
    fn merge(&mut self) {
        let few = |column: &Column| {
            let mut values: Vec<u64> = column.values.iter().map(|x| x.to_bits()).collect();
            values.sort_unstable();
            values.dedup();
            values.len() <= CATEGORY
        };
        let m = self.units.len();
        let bytes = 16 * (m as u64 + 4) * self.count as u64;
        if bytes > self.spare / 2 || !self.units.iter().flatten().chain(&self.fixed).all(few) {
            return;
        }
        let mut place: HashMap<Vec<u64>, usize> = HashMap::new();
        let mut sums: Vec<f64> = Vec::new();
        for g in 0..self.rows {
            if self.clock.stop().is_some() {
                return;
            }
            let mut distances = vec![vec![0.0; self.rows - g - 1]; m + 1];
            for (u, out) in distances.iter_mut().enumerate() {
                self.distances(self.units.get(u).unwrap_or(&self.fixed), g, g + 1, out);
            }
            for k in 0..self.rows - g - 1 {
                let key: Vec<u64> = distances[..m].iter().map(|d| d[k].to_bits()).collect();
                let weight = self.weight(g, g + 1 + k) * (-distances[m][k]).exp();
                let fresh = place.len();
                let at = *place.entry(key).or_insert(fresh);
                if at == fresh {
                    sums.push(0.0);
                }
                sums[at] += weight;
            }
        }
        let kept = sums.len();
        let mut distance = vec![0.0f32; m * kept];
        for (key, at) in place {
            for (u, bits) in key.into_iter().enumerate() {
                distance[u * kept + at] = f64::from_bits(bits) as f32;
            }
        }
        self.count = kept;
        self.length = self.length.min(kept.next_multiple_of(WIDTH).max(WIDTH));
        self.source = Source::Distinct { distance, weight: sums.into_iter().map(|w| w as f32).collect() };
    }

    /// Keeps all tiles when they take at most half of the memory that is left.
    fn store(&mut self) {
        let bytes = 8 * (self.units.len() as u64 + 2) * (self.tiles() * self.length) as u64;
        if bytes <= self.spare / 2 {
            let mut tiles = std::mem::take(&mut self.stored);
            tiles.resize_with(self.tiles(), Tile::default);
            let fill = |(t, tile): (usize, &mut Tile)| {
                if self.clock.stop().is_none() {
                    self.fill(t, tile);
                }
            };
            tiles.par_iter_mut().enumerate().for_each(fill);
            // Some may be missing once the clock says stop.
            self.stored = if self.clock.stop().is_none() { tiles } else { Vec::new() };
        }
    }

    /// The tile of this number: kept, or made in `buffer`.
    pub(super) fn tile<'a>(&'a self, t: usize, buffer: &'a mut Tile) -> &'a Tile {
        if let Some(tile) = self.stored.get(t) {
            return tile;
        }
        self.fill(t, buffer);
        buffer
    }

    fn fill(&self, t: usize, tile: &mut Tile) {
        let (length, m) = (self.length, self.units.len());
        let (start, end) = (t * length, ((t + 1) * length).min(self.count));
        for (column, many) in
            [(&mut tile.weight, 1), (&mut tile.centre, 1), (&mut tile.delta, m + 1), (&mut tile.spread, m + 1)]
        {
            column.clear();
            column.resize(many * length, 0.0);
        }
        match &self.source {
            Source::Distinct { distance, weight } => {
                tile.weight[..end - start].copy_from_slice(&weight[start..end]);
                for u in 0..m {
                    let from = &distance[u * self.count..][start..end];
                    tile.delta[u * length..][..end - start].copy_from_slice(from);
                }
            }
            Source::Rows => {
                let mut scratch = vec![0.0f64; length];
                // Row g begins at pair g (2 rows - g - 1) / 2.
                let begin = |g: usize| g * (2 * self.rows - g - 1) / 2;
                let (mut low, mut high) = (0, self.rows);
                while high - low > 1 {
                    let middle = usize::midpoint(low, high);
                    if begin(middle) <= start { low = middle } else { high = middle }
                }
                let (mut at, mut g) = (0, low);
                while at < end - start {
                    let h = g + 1 + (start + at - begin(g));
                    let run = (self.rows - h).min(end - start - at);
                    for u in 0..=m {
                        let out = &mut scratch[..run];
                        out.fill(0.0);
                        self.distances(self.units.get(u).unwrap_or(&self.fixed), g, h, out);
                        if u < m {
                            symmetric::narrow(out, &mut tile.delta[u * length + at..][..run]);
                        } else {
                            negate(out);
                            simd::exp(out);
                            for (k, kernel) in out.iter().enumerate() {
                                tile.weight[at + k] = (self.weight(g, h + k) * kernel) as f32;
                            }
                        }
                    }
                    at += run;
                    g += 1;
                }
            }
        }
        symmetric::exp_of_minus(&mut tile.delta[..m * length]);
        tile.delta[m * length..].fill(1.0);
        let one = if self.favoured.is_empty() { 1.0 } else { 0.5 };
        let shares = (0..m).map(|u| (u, one / m as f32));
        let favoured = self.favoured.iter().map(|&u| (u, 0.5 / self.favoured.len() as f32));
        for (u, share) in shares.chain(favoured) {
            symmetric::add_multiple(share, &tile.delta[u * length..(u + 1) * length], &mut tile.centre);
        }
        tile.centre.iter_mut().for_each(|r| *r = r.clamp(0.0, 1.0));
        for u in 0..=m {
            let part = u * length..(u + 1) * length;
            symmetric::centre_on(&tile.centre, &mut tile.delta[part.clone()], &mut tile.spread[part]);
        }
    }

    /// f of these units and the required features, in double precision; not a number once the
    /// clock says stop.
    pub fn value(&self, chosen: &[usize]) -> f64 {
        let row = |g: usize| {
            if self.clock.stop().is_some() {
                return f64::NAN;
            }
            let mut out = vec![0.0; self.rows - g - 1];
            for columns in chosen.iter().map(|&u| &self.units[u]).chain([&self.fixed]) {
                self.distances(columns, g, g + 1, &mut out);
            }
            negate(&mut out);
            simd::exp(&mut out);
            out.iter().enumerate().map(|(k, kernel)| self.weight(g, g + 1 + k) * kernel).sum::<f64>()
        };
        let sums: Vec<f64> = (0..self.rows).into_par_iter().with_min_len(32).map(row).collect();
        self.diagonal + sums.iter().sum::<f64>()
    }
}

/// Weight of samples g and h in f, `psi_g psi_h` for two classes: sum over pairs of classes of the
/// product of the differences of their shares. `total` are the sums of [`total`].
pub fn weight(shares: &[Vec<f64>], total: &[f64], g: usize, h: usize) -> f64 {
    let products: f64 = shares.iter().map(|s| s[g] * s[h]).sum();
    shares.len() as f64 * products - total[g] * total[h]
}

/// The sum over the classes of each sample's shares.
pub fn total(shares: &[Vec<f64>]) -> Vec<f64> {
    let n = shares.first().map_or(0, Vec::len);
    (0..n).map(|g| shares.iter().map(|s| s[g]).sum()).collect()
}

fn negate(values: &mut [f64]) {
    for value in values {
        *value = -*value;
    }
}
