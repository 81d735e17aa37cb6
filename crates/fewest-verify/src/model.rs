//! Gain `alignment`: what no subset of a box exceeds, by sums over all pairs.

use pulp::Arch;
use rayon::prelude::*;

use crate::file::Checked;
use crate::kernel::{BLOCK, add_products};
use crate::pairs::{LENGTH, Pairs, Tile};

/// Parts that the pairs are added up in, each by one thread: fixed, so that no sum depends on their
/// number.
const PARTS: usize = 16;
/// Error of a stored kernel u = r + delta: half a unit in the last place of single precision for u
/// and for delta, both at most 1, and twice that because errors of factors multiply.
const STORED: f64 = 1.0 / (1u32 << 23) as f64;
/// The share of the sizes of its terms that a dot product in single precision over a tile may be
/// off by, that of its factors (at most 7 roundings) included.
const SINGLE: f64 = 1.02 * (LENGTH + 8) as f64 / (1u32 << 24) as f64;

/// Units of a box, by their place among those of [`Pairs`].
pub(crate) struct Units {
    pub(crate) inside: Vec<usize>,
    pub(crate) free: Vec<usize>,
    /// The most free units that may come in.
    pub(crate) slots: usize,
}

/// f of a box's subset with the free units T more is at most, with "no unit" in slots left empty,
/// `constant + sum_(a in T) linear_a + sum_(a < b in T) pairs_ab`. Columns are the free units, then
/// "no unit".
pub(crate) struct Model {
    pub(crate) constant: f64,
    pub(crate) linear: Vec<f64>,
    pub(crate) pairs: Vec<f64>,
    /// f of the box's subset without a free unit is at most this.
    pub(crate) itself: f64,
}

impl Model {
    /// Of a box whose free units have no slot, and of which nothing is known.
    pub(crate) fn none(units: usize) -> Self {
        let (never, unknown) = (f64::NEG_INFINITY, f64::INFINITY);
        Self { constant: never, linear: vec![0.0; units + 1], pairs: Vec::new(), itself: unknown }
    }
}

/// Sums over some pairs.
#[derive(Clone)]
struct Sums {
    /// e, e r^k
    weight: f64,
    constant: f64,
    /// e r^(k-1) delta_a
    linear: Vec<f64>,
    /// |e| r^(k-2) delta_a^2 + |e| s(r) spread_a^2
    squares: Vec<f64>,
    /// e r^(k-2) delta_a delta_b + |e| s(r) spread_a spread_b, for a <= b in blocks
    pairs: Vec<f64>,
}

impl Sums {
    fn new(columns: usize, slots: usize) -> Self {
        let linear = vec![0.0; columns];
        let pairs = vec![0.0; if slots > 1 { columns * columns } else { 0 }];
        Self { weight: 0.0, constant: 0.0, squares: linear.clone(), linear, pairs }
    }

    fn add(&mut self, other: &Self) {
        self.weight += other.weight;
        self.constant += other.constant;
        let lists = [(&mut self.linear, &other.linear), (&mut self.squares, &other.squares)];
        for (sums, others) in lists.into_iter().chain([(&mut self.pairs, &other.pairs)]) {
            sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
        }
    }

    /// Adds a tile; `series` are the coefficients of s.
    #[inline(always)]
    fn add_tile(&mut self, tile: &Tile, units: &Units, series: &[f64]) {
        let (mut e, slots) = (weights(tile, &units.inside), units.slots);
        self.weight += e.iter().sum::<f64>();
        // The weights of linear terms, of products of deltas, and of products of spreads.
        let (mut first, mut second, mut third) = ([0.0f64; LENGTH], [0.0f32; LENGTH], [0.0f32; LENGTH]);
        let centre: [f64; LENGTH] = std::array::from_fn(|t| f64::from(tile.centre[t]));
        for t in 0..LENGTH {
            third[t] = (e[t].abs() * series.iter().fold(0.0, |sum, c| sum * centre[t] + c)) as f32;
        }
        (2..slots).for_each(|_| e.iter_mut().zip(&centre).for_each(|(e, r)| *e *= r));
        for t in 0..LENGTH {
            second[t] = e[t] as f32;
            first[t] = if slots > 1 { e[t] * centre[t] } else { e[t] };
            self.constant += first[t] * centre[t];
        }
        let columns: Vec<usize> = units.free.iter().copied().chain([tile.columns() - 1]).collect();
        for (a, &unit) in columns.iter().enumerate() {
            let (mut linear, mut squares) = ([0.0f64; 8], [0.0f64; 8]);
            let (delta, spread) = (tile.delta(unit), tile.spread(unit));
            for t in (0..LENGTH).step_by(8) {
                for l in 0..8 {
                    let (d, s) = (f64::from(delta[t + l]), f64::from(spread[t + l]));
                    linear[l] += first[t + l] * d;
                    squares[l] += f64::from(second[t + l].abs()) * d * d + f64::from(third[t + l]) * s * s;
                }
            }
            self.linear[a] += linear.iter().sum::<f64>();
            self.squares[a] += squares.iter().sum::<f64>();
        }
        if slots > 1 {
            self.add_pairs(tile, &columns, &second, &third, slots > 2);
        }
    }

    #[inline(always)]
    fn add_pairs(&mut self, tile: &Tile, columns: &[usize], second: &[f32], third: &[f32], spreads: bool) {
        let mut rows = vec![[0.0f32; LENGTH]; 2 * BLOCK];
        let unit = |c: usize| columns[c.min(columns.len() - 1)];
        let weigh = |weight: &[f32], column: &[f32], row: &mut [f32; LENGTH]| {
            row.iter_mut().zip(weight).zip(column).for_each(|((row, w), x)| *row = w * x);
        };
        for a in (0..columns.len()).step_by(BLOCK) {
            for i in 0..BLOCK {
                weigh(second, tile.delta(unit(a + i)), &mut rows[i]);
                weigh(third, tile.spread(unit(a + i)), &mut rows[BLOCK + i]);
            }
            for b in (a..columns.len()).step_by(BLOCK) {
                let mut out = [[0.0; BLOCK]; BLOCK];
                let row = |i: usize| &rows[i][..];
                add_products(std::array::from_fn(row), std::array::from_fn(|j| tile.delta(unit(b + j))), &mut out);
                if spreads {
                    let rows = std::array::from_fn(|i| row(BLOCK + i));
                    add_products(rows, std::array::from_fn(|j| tile.spread(unit(b + j))), &mut out);
                }
                for i in 0..BLOCK.min(columns.len() - a) {
                    for j in 0..BLOCK.min(columns.len() - b) {
                        self.pairs[(a + i) * columns.len() + b + j] += out[i][j];
                    }
                }
            }
        }
    }
}

/// e: the weights of a tile's pairs times their kernels on the units in.
fn weights(tile: &Tile, inside: &[usize]) -> Vec<f64> {
    let mut e = tile.weight.clone();
    for &u in inside {
        let kernel = tile.delta(u).iter().zip(&tile.centre).map(|(d, r)| f64::from(*d) + f64::from(*r));
        e.iter_mut().zip(kernel).for_each(|(e, u)| *e *= u);
    }
    e
}

/// Adds up tiles in fixed parts.
fn parts<T: Send>(pairs: &Pairs, part: impl Fn(std::ops::Range<usize>) -> T + Sync) -> Vec<T> {
    let cut = |part: usize| part * pairs.tiles() / PARTS;
    (0..PARTS).into_par_iter().map(|p| part(cut(p)..cut(p + 1))).collect()
}

/// C(n, k)
fn choose(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// How far f of a subset of a box may be above what its stored kernels make of it, and the
/// roundings of `sums` sums over all pairs in double precision.
fn margin(pairs: &Pairs, units: &Units, factors: usize, sums: usize) -> f64 {
    let kernels = (units.inside.len() + factors) as f64;
    let rounding = pairs.rounding(8 * (units.inside.len() + factors));
    1.001 * pairs.weight * (kernels * STORED + sums as f64 * rounding)
}

/// No subset of the box has a larger f: where weights are positive the kernels of free units are at
/// most 1, where they are negative at least the product of all, and at least 0.
pub(crate) fn monotone(pairs: &Pairs, units: &Units) -> f64 {
    let part = |tiles: std::ops::Range<usize>| {
        let mut sums = (0.0, 0.0);
        for t in tiles {
            let tile = pairs.tile(t);
            let mut all = vec![1.0f64; LENGTH];
            for &u in &units.free {
                let kernel = tile.delta(u).iter().zip(&tile.centre).map(|(d, r)| f64::from(*d) + f64::from(*r));
                all.iter_mut().zip(kernel).for_each(|(all, u)| *all *= u.min(1.0));
            }
            for (e, all) in weights(&tile, &units.inside).iter().zip(&all) {
                sums = (sums.0 + e.max(0.0), sums.1 + (e * all).min(0.0));
            }
        }
        sums
    };
    let (above, below) = parts(pairs, part).iter().fold((0.0, 0.0), |sums, part| (sums.0 + part.0, sums.1 + part.1));
    // The errors of many factors may be more than their product is worth.
    let below = below + margin(pairs, units, units.free.len(), 1);
    pairs.diagonal + above + below.min(0.0) + margin(pairs, units, 0, 2)
}

/// The model of a box with at least one slot.
pub(crate) fn model(pairs: &Pairs, units: &Units) -> Checked<Model> {
    let (slots, columns) = (units.slots, units.free.len() + 1);
    // s(r) = sum_(i = 3..k) r^(k-i) C(k-2, i-2) / C(i, 2), by falling powers of r.
    let series: Vec<f64> = (3..=slots).map(|i| choose(slots - 2, i - 2) / choose(i, 2)).collect();
    let part = |tiles: std::ops::Range<usize>| {
        let mut sums = Sums::new(columns, slots);
        for t in tiles {
            let tile = pairs.tile(t);
            Arch::new().dispatch(
                #[inline(always)]
                || sums.add_tile(&tile, units, &series),
            );
        }
        sums
    };
    let mut all = Sums::new(columns, slots);
    parts(pairs, part).iter().for_each(|sums| all.add(sums));
    let Sums { weight, constant, linear, squares, pairs: mut products } = all;
    // A product of deltas and spreads is off by SINGLE times the sizes of its terms, at most the
    // roots of their squares (Cauchy and Schwarz); what underflows is below 2^-140 a pair.
    let lost = pairs.tiles() as f64 * LENGTH as f64 / (1u128 << 127) as f64;
    for a in 0..columns {
        for b in (a..columns).filter(|_| slots > 1) {
            let value = products[a * columns + b] + SINGLE * (squares[a] * squares[b]).sqrt() + lost;
            products[a * columns + b] = value;
            products[b * columns + a] = value;
        }
    }
    // Sums of the model's terms: fewer than (k + 2)^2 additions, none of larger size than `size`.
    let k = slots as f64;
    let largest = |list: &[f64]| list.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let size = constant.abs() + k * largest(&linear) + k * k * largest(&products);
    let room = margin(pairs, units, slots, slots + 2) + 8.0 * (k + 2.0).powi(2) * f64::EPSILON * size;
    if !linear.iter().chain(&products).chain([&room]).all(|x| x.is_finite()) {
        return Err("the numbers of its model are out of range".to_owned());
    }
    let (constant, itself) = (pairs.diagonal + constant + room, pairs.diagonal + weight + room);
    Ok(Model { constant, linear, pairs: products, itself })
}
