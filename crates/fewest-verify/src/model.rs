//! Gain `alignment`: what no subset of a box exceeds, by sums over all pairs.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::file::Checked;
use crate::kernel::{BLOCK, add_products};
use crate::pairs::{LENGTH, Pairs, Tile};

/// Most parts that the pairs are added up in, each by one thread: no sum depends on the number of
/// threads.
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
/// "no unit"; of order 3 and 4 `triples_abc`, too.
pub(crate) struct Model {
    pub(crate) constant: f64,
    pub(crate) linear: Vec<f64>,
    pub(crate) pairs: Vec<f64>,
    /// By columns a <= b <= c; nothing where the model is quadratic.
    pub(crate) triples: Vec<f64>,
    /// f of the box's subset without a free unit is at most this.
    pub(crate) itself: f64,
}

impl Model {
    /// Of a box whose free units have no slot, and of which nothing is known.
    pub(crate) fn none(units: usize) -> Self {
        let (never, unknown) = (f64::NEG_INFINITY, f64::INFINITY);
        let (linear, pairs, triples) = (vec![0.0; units + 1], Vec::new(), Vec::new());
        Self { constant: never, linear, pairs, triples, itself: unknown }
    }

    pub(crate) fn pair(&self, a: usize, b: usize) -> f64 {
        self.pairs[a * self.linear.len() + b]
    }

    /// Of three columns in any order, 0 where the model is quadratic.
    pub(crate) fn triple(&self, a: usize, b: usize, c: usize) -> f64 {
        let mut at = [a, b, c];
        at.sort_unstable();
        self.triples.get((at[0] * self.linear.len() + at[1]) * self.linear.len() + at[2]).copied().unwrap_or(0.0)
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
    /// |e| r^(k-3) |delta_a|^3, where the model is exact up to order 3; its spreads are delta^2
    cubes: Vec<f64>,
    /// e r^(k-3) delta_a delta_b delta_c, for a <= b <= c in blocks
    triples: Vec<f64>,
    /// The same for order 4, with k - 4; spreads are |delta|^(5/2)
    fourths: Vec<f64>,
    fours: Vec<f64>,
}

impl Sums {
    fn new(columns: usize, slots: usize, exact: usize) -> Self {
        let of = |order: usize, length: usize| vec![0.0; if exact >= order { length } else { 0 }];
        let (cubes, triples) = (of(3, columns), of(3, columns.pow(3)));
        let (fourths, fours) = (of(4, columns), if exact >= 4 { vec![0.0; columns.pow(4)] } else { Vec::new() });
        let (linear, squares) = (vec![0.0; columns], vec![0.0; columns]);
        let pairs = vec![0.0; if slots > 1 { columns * columns } else { 0 }];
        Self { weight: 0.0, constant: 0.0, linear, squares, pairs, cubes, triples, fourths, fours }
    }

    fn add(&mut self, other: &Self) {
        self.weight += other.weight;
        self.constant += other.constant;
        let lists = [
            (&mut self.linear, &other.linear),
            (&mut self.squares, &other.squares),
            (&mut self.pairs, &other.pairs),
            (&mut self.cubes, &other.cubes),
            (&mut self.triples, &other.triples),
            (&mut self.fourths, &other.fourths),
            (&mut self.fours, &other.fours),
        ];
        for (sums, others) in lists {
            sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
        }
    }

    /// Adds a tile; `series` are the coefficients of s.
    #[inline(always)]
    fn add_tile(&mut self, tile: &Tile, units: &Units, series: &[f64]) {
        let (mut e, slots) = (weights(tile, &units.inside), units.slots);
        let centre = tile.centre.map(f64::from);
        self.weight += dot(&e, &[1.0; LENGTH]);
        // The weights of products of spreads, of four, three and two deltas, and of linear terms.
        let mut tail = [0.0f64; LENGTH];
        for c in series {
            (0..LENGTH).for_each(|t| tail[t] = tail[t] * centre[t] + c);
        }
        let mut rest: Row = [0.0; LENGTH];
        (0..LENGTH).for_each(|t| rest[t] = (e[t].abs() * tail[t]) as f32);
        let (mut fourth, mut third) = ([0.0; LENGTH], [0.0; LENGTH]);
        for _ in 2..slots {
            (fourth, third) = (third, e);
            (0..LENGTH).for_each(|t| e[t] *= centre[t]);
        }
        let second: Row = e.map(|e| e as f32);
        if slots > 1 {
            (0..LENGTH).for_each(|t| e[t] *= centre[t]);
        }
        self.constant += dot(&e, &tile.centre);
        let columns: Vec<usize> = units.free.iter().copied().chain([tile.columns() - 1]).collect();
        let deltas: Vec<&Row> = columns.iter().map(|&unit| tile.delta(unit)).collect();
        let (cubic, quartic) = (!self.cubes.is_empty(), !self.fourths.is_empty());
        let power = |d: f32| if quartic { d * d * d.abs().sqrt() } else { d * d };
        let own: Vec<Row> = deltas.iter().filter(|_| cubic).map(|delta| delta.map(power)).collect();
        let spreads: Vec<&Row> =
            if cubic { own.iter().collect() } else { columns.iter().map(|&unit| tile.spread(unit)).collect() };
        for (a, delta) in deltas.iter().enumerate() {
            self.linear[a] += dot(&e, delta);
            if slots > 1 {
                self.squares[a] += size(&second, delta);
            }
            if slots > 2 {
                self.squares[a] += size(&rest, spreads[a]);
            }
        }
        if slots > 1 {
            add_pairs(&second, &deltas, deltas.len(), &mut self.pairs);
        }
        if slots > 2 {
            add_pairs(&rest, &spreads, deltas.len(), &mut self.pairs);
        }
        // A unit is in its triples once, "no unit" as often as there is room.
        let side = deltas.len();
        for (a, delta) in deltas.iter().enumerate().filter(|_| cubic) {
            self.cubes[a] += third.iter().zip(*delta).map(|(w, d)| (w * f64::from(*d).powi(3)).abs()).sum::<f64>();
            let weight = times(&third, delta).map(|w| w as f32);
            add_pairs(&weight, &deltas[a..], side, &mut self.triples[(a * side + a) * side + a..]);
        }
        for (a, delta) in deltas.iter().enumerate().filter(|_| quartic) {
            self.fourths[a] += fourth.iter().zip(*delta).map(|(w, d)| w.abs() * f64::from(*d).powi(4)).sum::<f64>();
            let one = times(&fourth, delta);
            for (b, delta) in deltas.iter().enumerate().skip(a) {
                let weight = times(&one, delta).map(|w| w as f32);
                add_pairs(&weight, &deltas[b..], side, &mut self.fours[((a * side + b) * side + b) * side + b..]);
            }
        }
    }
}

/// Products.
#[inline(always)]
fn times(x: &[f64; LENGTH], y: &Row) -> [f64; LENGTH] {
    std::array::from_fn(|t| x[t] * f64::from(y[t]))
}

/// Adds `sum w x_a x_b` for a <= b in blocks of columns, with `side` numbers from row to row.
#[inline(always)]
fn add_pairs(weight: &Row, columns: &[&Row], side: usize, sums: &mut [f64]) {
    let mut rows = [[0.0f32; LENGTH]; BLOCK];
    let column = |c: usize| columns[c.min(columns.len() - 1)];
    for a in (0..columns.len()).step_by(BLOCK) {
        for (i, row) in rows.iter_mut().enumerate() {
            let x = column(a + i);
            (0..LENGTH).for_each(|t| row[t] = weight[t] * x[t]);
        }
        for b in (a..columns.len()).step_by(BLOCK) {
            let mut out = [[0.0; BLOCK]; BLOCK];
            let row = |i: usize| &rows[i][..];
            add_products(std::array::from_fn(row), std::array::from_fn(|j| &column(b + j)[..]), &mut out);
            for i in 0..BLOCK.min(columns.len() - a) {
                for j in 0..BLOCK.min(columns.len() - b) {
                    sums[(a + i) * side + b + j] += out[i][j];
                }
            }
        }
    }
}

/// A number for each pair of a tile.
type Row = [f32; LENGTH];

/// Sum of |w_t| x_t^2, to some 1e-5 of it and 2^-140: it only says how far products may be off.
#[inline(always)]
fn size(w: &Row, x: &Row) -> f64 {
    let mut sums = [0.0f32; 32];
    for (w, x) in w.as_chunks::<32>().0.iter().zip(x.as_chunks::<32>().0) {
        (0..32).for_each(|l| sums[l] += w[l].abs() * x[l] * x[l]);
    }
    sums.iter().map(|sum| f64::from(*sum)).sum()
}

/// [`Sums::add_tile`], compiled for the instruction set at hand.
struct AddTile<'a> {
    sums: &'a mut Sums,
    tile: &'a Tile,
    units: &'a Units,
    series: &'a [f64],
}

impl WithSimd for AddTile<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.sums.add_tile(self.tile, self.units, self.series);
    }
}

/// e: the weights of a tile's pairs times their kernels on the units in.
#[inline(always)]
fn weights(tile: &Tile, inside: &[usize]) -> [f64; LENGTH] {
    let mut e = tile.weight;
    for &u in inside {
        let delta = tile.delta(u);
        (0..LENGTH).for_each(|t| e[t] *= f64::from(delta[t]) + f64::from(tile.centre[t]));
    }
    e
}

/// Sum of x_t y_t.
#[inline(always)]
fn dot(x: &[f64; LENGTH], y: &Row) -> f64 {
    let mut sums = [0.0f64; 16];
    for (x, y) in x.as_chunks::<16>().0.iter().zip(y.as_chunks::<16>().0) {
        (0..16).for_each(|l| sums[l] += x[l] * f64::from(y[l]));
    }
    sums.iter().sum()
}

/// Adds up tiles in so many parts.
fn parts<T: Send>(pairs: &Pairs, count: usize, part: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let cut = |part: usize| part * pairs.tiles() / count;
    (0..count).into_par_iter().map(|p| part(cut(p)..cut(p + 1))).collect()
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
    let part = |tiles: Range<usize>| {
        let mut sums = (0.0, 0.0);
        for t in tiles {
            let tile = pairs.tile(t);
            let mut all = [1.0f64; LENGTH];
            for &u in &units.free {
                let delta = tile.delta(u);
                (0..LENGTH).for_each(|t| all[t] *= (f64::from(delta[t]) + f64::from(tile.centre[t])).min(1.0));
            }
            for (e, all) in weights(&tile, &units.inside).iter().zip(&all) {
                sums = (sums.0 + e.max(0.0), sums.1 + (e * all).min(0.0));
            }
        }
        sums
    };
    let (above, below) =
        parts(pairs, PARTS, part).iter().fold((0.0, 0.0), |sums, part| (sums.0 + part.0, sums.1 + part.1));
    // The errors of many factors may be more than their product is worth.
    let below = below + margin(pairs, units, units.free.len(), 1);
    pairs.diagonal + above + below.min(0.0) + margin(pairs, units, 0, 2)
}

/// Adds to the triples of a set of k columns what its fours add at most, a quarter of each for each
/// of its triples: for each triple those with the k - 3 largest others, "no unit" as often as it
/// likes.
fn take_fours(triples: &mut [f64], fours: &[f64], columns: usize, slots: usize) {
    let none = columns - 1;
    let next = |a: usize| (a + 1).min(none);
    for a in 0..columns {
        for b in next(a)..columns {
            for c in next(b)..columns {
                let four = |d: usize| {
                    let mut of = [a, b, c, d];
                    of.sort_unstable();
                    fours[of.iter().fold(0, |at, column| at * columns + column)]
                };
                let others = (0..none).filter(|d| ![a, b, c].contains(d)).map(four);
                let mut others: Vec<f64> = others.filter(|x| *x > four(none)).collect();
                others.sort_unstable_by(|x, y| y.total_cmp(x));
                others.resize(slots - 3, four(none));
                triples[(a * columns + b) * columns + c] += 0.25 * others.iter().sum::<f64>();
            }
        }
    }
}

/// The model of a box with at least one slot: exact up to this order, 2 to 4, where there are as
/// many slots.
pub(crate) fn model(pairs: &Pairs, units: &Units, exact: usize) -> Checked<Model> {
    let (slots, columns) = (units.slots, units.free.len() + 1);
    let exact = exact.min(slots);
    // s(r) = sum r^(k-i) C(k-2, i-2) / C(i, 2) over orders i that are not exact, by falling powers.
    let order = |i: usize| choose(slots - 2, i - 2) / choose(i, 2);
    let series: Vec<f64> = (exact.max(2) + 1..=slots).map(order).collect();
    let part = |tiles: Range<usize>| {
        let mut sums = Sums::new(columns, slots, exact);
        for t in tiles {
            let tile = &pairs.tile(t);
            Arch::new().dispatch(AddTile { sums: &mut sums, tile, units, series: &series });
        }
        sums
    };
    // The sums of a part and of all, and what is searched.
    let bytes = (columns as u64).saturating_pow(exact.max(2) as u32).saturating_mul(8);
    if bytes > pairs.memory / 3 {
        return Err(format!("a model of {columns} units takes more memory than is allowed"));
    }
    let count = (pairs.memory / bytes - 2).clamp(1, PARTS as u64) as usize;
    let mut all = Sums::new(columns, slots, exact);
    for sums in parts(pairs, count, part) {
        all.add(&sums);
    }
    let Sums { weight, constant, linear, squares, pairs: mut products, cubes, mut triples, fourths, mut fours } = all;
    // A product of deltas and spreads is off by SINGLE times the sizes of its terms, at most the
    // roots of their squares (Cauchy and Schwarz). What underflows is below 2^-140 a pair, of
    // squares too, and their roots count with SINGLE only.
    let lost = pairs.tiles() as f64 * LENGTH as f64 / (1u128 << 64) as f64;
    for a in 0..columns {
        for b in (a..columns).filter(|_| slots > 1) {
            let value = products[a * columns + b] + SINGLE * (squares[a] * squares[b]).sqrt() + lost;
            products[a * columns + b] = value;
            products[b * columns + a] = value;
        }
    }
    // The same for three and four (Hoelder).
    let roots: Vec<f64> = cubes.iter().map(|cube| cube.cbrt()).collect();
    for (at, value) in triples.iter_mut().enumerate() {
        let [a, b, c] = [at / columns / columns, at / columns % columns, at % columns];
        *value += SINGLE * roots[a] * roots[b] * roots[c] + lost;
    }
    let roots: Vec<f64> = fourths.iter().map(|fourth| fourth.sqrt().sqrt()).collect();
    for (at, value) in fours.iter_mut().enumerate() {
        let [ab, cd] = [at / columns / columns, at % (columns * columns)];
        let [a, b, c, d] = [ab / columns, ab % columns, cd / columns, cd % columns];
        *value += SINGLE * roots[a] * roots[b] * roots[c] * roots[d] + lost;
    }
    if exact == 4 {
        take_fours(&mut triples, &fours, columns, slots);
    }
    // Sums of the model's terms: fewer than (k + 2)^3 additions, none of larger size than `size`.
    let k = slots as f64;
    let largest = |list: &[f64]| list.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let size = constant.abs() + k * largest(&linear) + k * k * largest(&products) + k.powi(3) * largest(&triples);
    let room = margin(pairs, units, slots, slots + 2) + 8.0 * (k + 2.0).powi(3) * f64::EPSILON * size;
    if !linear.iter().chain(&products).chain(&triples).chain([&room]).all(|x| x.is_finite()) {
        return Err("the numbers of its model are out of range".to_owned());
    }
    let (constant, itself) = (pairs.diagonal + constant + room, pairs.diagonal + weight + room);
    Ok(Model { constant, linear, pairs: products, triples, itself })
}
