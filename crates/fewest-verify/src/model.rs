//! Gain `alignment`: what no subset of a box exceeds, by sums over all pairs.

use std::ops::Range;

use pulp::Arch;
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
    /// Nothing for one slot.
    pairs: Vec<f64>,
    /// The value of each triple of columns a <= b <= c; nothing where the model is quadratic.
    pub(crate) triples: Vec<f64>,
    /// f of the box's subset without a free unit is at most this.
    pub(crate) itself: f64,
}

impl Model {
    /// Model of a box whose free units have no slot, and of which nothing is known.
    pub(crate) fn none(units: usize) -> Self {
        let (never, unknown) = (f64::NEG_INFINITY, f64::INFINITY);
        let (linear, pairs, triples) = (vec![0.0; units + 1], Vec::new(), Vec::new());
        Self { constant: never, linear, pairs, triples, itself: unknown }
    }

    /// The value of two columns in any order; 0 where there are no pairs, or triples.
    pub(crate) fn pair(&self, a: usize, b: usize) -> f64 {
        at(&self.pairs, self.linear.len(), [a, b])
    }

    pub(crate) fn triple(&self, a: usize, b: usize, c: usize) -> f64 {
        at(&self.triples, self.linear.len(), [a, b, c])
    }
}

/// A number of some columns, in any order, in a list by columns that ascend; 0 in an empty list.
fn at<const N: usize>(list: &[f64], side: usize, mut columns: [usize; N]) -> f64 {
    columns.sort_unstable();
    list.get(columns.iter().fold(0, |at, column| at * side + column)).copied().unwrap_or(0.0)
}

/// Sums over some pairs.
#[derive(Clone)]
struct Sums {
    /// e, e r^k
    weight: f64,
    constant: f64,
    /// e r^(k-1) delta_a
    linear: Vec<f64>,
    /// The sums of order 2 and more.
    orders: Vec<Order>,
}

/// The terms of order i: those of order 2 have the products of spreads, too, with |e| s(r).
#[derive(Clone)]
struct Order {
    /// |e| r^(k-i) |delta_a|^i
    sizes: Vec<f64>,
    /// e r^(k-i) delta_a delta_b ..., for a <= b <= ... in blocks
    products: Vec<f64>,
}

impl Sums {
    fn new(columns: usize, exact: usize) -> Self {
        let order = |i| Order { sizes: vec![0.0; columns], products: vec![0.0; columns.pow(i)] };
        let orders = (2..=exact as u32).map(order).collect();
        Self { weight: 0.0, constant: 0.0, linear: vec![0.0; columns], orders }
    }

    fn add(&mut self, other: &Self) {
        let add = |sums: &mut [f64], others: &[f64]| sums.iter_mut().zip(others).for_each(|(x, y)| *x += y);
        self.weight += other.weight;
        self.constant += other.constant;
        add(&mut self.linear, &other.linear);
        for (order, other) in self.orders.iter_mut().zip(&other.orders) {
            add(&mut order.sizes, &other.sizes);
            add(&mut order.products, &other.products);
        }
    }

    /// Adds a tile; `series` are the coefficients of s.
    #[inline(always)]
    fn add_tile(&mut self, tile: &Tile, units: &Units, series: &[f64]) {
        let (mut e, exact) = (weights(tile, &units.inside), self.orders.len() + 1);
        let columns: Vec<usize> = units.free.iter().copied().chain([tile.columns() - 1]).collect();
        let deltas: Vec<&Row> = columns.iter().map(|&unit| tile.delta(unit)).collect();
        self.weight += dot(&e, &[1.0; LENGTH]);
        if !series.is_empty() {
            let mut tail = [0.0f64; LENGTH];
            for c in series {
                (0..LENGTH).for_each(|t| tail[t] = tail[t] * f64::from(tile.centre[t]) + c);
            }
            (0..LENGTH).for_each(|t| tail[t] *= e[t].abs());
            // |delta|^((exact + 1) / 2)
            let spread = |d: f32| match exact {
                2 => d.abs() * d.abs().sqrt(),
                3 => d * d,
                _ => d * d * d.abs().sqrt(),
            };
            let spreads: Vec<Row> = deltas.iter().map(|delta| delta.map(spread)).collect();
            self.orders[0].add(2, &tail, &spreads.iter().collect::<Vec<_>>());
        }
        (exact..units.slots).for_each(|_| e = times(&e, &tile.centre));
        for order in (2..=exact).rev() {
            self.orders[order - 2].add(order, &e, &deltas);
            e = times(&e, &tile.centre);
        }
        self.linear.iter_mut().zip(&deltas).for_each(|(sum, delta)| *sum += dot(&e, delta));
        self.constant += dot(&e, &tile.centre);
    }
}

impl Order {
    /// Adds the products of `order` of these columns, and their sizes.
    #[inline(always)]
    fn add(&mut self, order: usize, weight: &[f64; LENGTH], columns: &[&Row]) {
        for (size, column) in self.sizes.iter_mut().zip(columns) {
            let mut terms = weight.map(f64::abs);
            for _ in 0..order {
                (0..LENGTH).for_each(|t| terms[t] *= f64::from(column[t].abs()));
            }
            *size += dot(&terms, &[1.0; LENGTH]);
        }
        add_products_of(order, weight, columns, columns.len(), &mut self.products);
    }

    /// Adds to all products what single precision may have taken. They are off by [`SINGLE`] times
    /// the sizes of their terms, at most the roots of their powers (Cauchy and Schwarz, Hoelder);
    /// `lost` is what underflows.
    fn widen(&mut self, order: usize, lost: f64) {
        let roots: Vec<f64> = self.sizes.iter().map(|size| size.powf(1.0 / order as f64)).collect();
        for (at, product) in self.products.iter_mut().enumerate() {
            let (mut at, mut error) = (at, SINGLE);
            for _ in 0..order {
                error *= roots[at % roots.len()];
                at /= roots.len();
            }
            *product += error + lost;
        }
    }
}

/// Products.
#[inline(always)]
fn times(x: &[f64; LENGTH], y: &Row) -> [f64; LENGTH] {
    std::array::from_fn(|t| x[t] * f64::from(y[t]))
}

/// Adds `sum w x_a x_b ...` for a <= b <= ... of `order` columns, in blocks of the last two; with
/// `side` numbers from row to row.
fn add_products_of(order: usize, weight: &[f64; LENGTH], columns: &[&Row], side: usize, sums: &mut [f64]) {
    if order == 2 {
        return add_pairs(&weight.map(|w| w as f32), columns, side, sums);
    }
    let step: usize = (0..order as u32).map(|i| side.pow(i)).sum();
    for (a, column) in columns.iter().enumerate() {
        add_products_of(order - 1, &times(weight, column), &columns[a..], side, &mut sums[a * step..]);
    }
}

/// Adds `sum w x_a x_b` for a <= b in blocks of columns.
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

/// Sums of tiles, cut into `count` parts.
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
                let four = |d: usize| at(fours, columns, [a, b, c, d]);
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
    // The sums of a part and of all, and what is searched.
    let bytes = (columns as u64).saturating_pow(exact.max(2) as u32).saturating_mul(8);
    if bytes > pairs.memory / 3 {
        return Err(format!("a model of {columns} units takes more memory than is allowed"));
    }
    let count = (pairs.memory / bytes - 2).clamp(1, PARTS as u64) as usize;
    let part = |tiles: Range<usize>| {
        let mut sums = Sums::new(columns, exact);
        for t in tiles {
            let tile = &pairs.tile(t);
            Arch::new().dispatch(|| sums.add_tile(tile, units, &series));
        }
        sums
    };
    let mut all = Sums::new(columns, exact);
    for sums in parts(pairs, count, part) {
        all.add(&sums);
    }
    // What underflows in single precision is below 2^-140 a pair.
    let lost = pairs.tiles() as f64 * LENGTH as f64 / (1u128 << 64) as f64;
    for (order, i) in all.orders.iter_mut().zip(2..) {
        order.widen(i, lost);
    }
    let Sums { weight, constant, linear, orders } = all;
    let mut products = orders.into_iter().map(|order| order.products);
    let (products, mut triples, fours) =
        (products.next().unwrap_or_default(), products.next().unwrap_or_default(), products.next());
    if let Some(fours) = fours {
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
