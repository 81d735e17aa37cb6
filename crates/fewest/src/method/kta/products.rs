//! Sums over all pairs for a batch of nodes: what the upper model of f on each node's completions
//! is made of.
//!
//! With `e` the weight of a pair times its kernel on the chosen units, a completion by k units
//! (where "none" may fill slots) multiplies e by the product of k values u = r + delta, and for
//! every r
//!
//! ```text
//! prod u = r^k + r^(k-1) sum delta_a + r^(k-2) sum delta_a delta_b
//!          + sum_(i >= 3) r^(k-i) e_i(delta)
//! ```
//!
//! A model of order L, 2 to 4, has the terms of up to L deltas as they are. Otherwise each product
//! of i deltas is at most the mean over its pairs of |delta_a delta_b|^(i/2) (arithmetic and
//! geometric means), which is at most |delta_a delta_b|^((L+1)/2), and a pair lies in C(k-2, i-2)
//! of them. The coefficients are products over all pairs; those of different signs cancel.

use std::sync::atomic::{AtomicBool, Ordering};

use multiversion::multiversion;
use rayon::prelude::*;

use super::pairs::{Pairs, Tile};
use super::triples::{Fours, MOST_SLOTS, Triples, after, before, order, pairs as pairs_of, triples};
use crate::Clock;
use crate::kernel::symmetric::{BLOCK, WIDTH, block_products, multiply, multiply_by_sum, rounding};

/// Nodes that share the making of a tile.
const GROUP: usize = 16;
/// Parts that the tiles are split into when there are few nodes: fixed, so that sums do not depend
/// on threads.
const PARTS: usize = 16;
/// From this many slots on the monotone bound counts what all free units together leave of the
/// pairs of negative weight; below, the model is nearly always better, and it counts nothing.
const MONOTONE_SLOTS: usize = 6;
/// Relative error of a value u, of a weight, and of each product with them in single precision.
const UNIT_ERROR: f64 = 1e-6;

/// A node as the sums see it; units by their number in [`Pairs`].
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub(super) struct Query {
    pub(super) inside: Vec<u32>,
    pub(super) free: Vec<u32>,
    /// Most units that may be added, at least 1.
    pub(super) slots: usize,
    /// Order up to which its model is exact.
    pub(super) order: usize,
}

impl Query {
    /// The query of a node, for sums over `pairs` pairs of samples.
    pub(super) fn new(inside: Vec<u32>, free: Vec<u32>, slots: usize, pairs: usize) -> Self {
        let order = order(free.len(), slots, pairs);
        Self { inside, free, slots, order }
    }

    /// Bytes that its sums take, and the model that is made of them.
    pub(super) fn sum_bytes(&self) -> u64 {
        let columns = self.free.len() as u64 + 1;
        let products = if self.order >= 2 { 3 * columns } else { 1 };
        size_of::<f64>() as u64 * (columns * products + 2 * triples(self.free.len(), self.order) as u64)
    }

    /// Multiply-adds that its sums take over this many pairs.
    pub(super) fn work(&self, pairs: usize) -> f64 {
        let columns = (self.free.len() + 1) as f64;
        let products = match self.order {
            2 if self.slots == 2 => 0.5 * columns,
            2 => columns,
            3 => columns + columns * columns / 6.0,
            4 => columns + columns * columns / 6.0 + columns.powi(3) / 24.0,
            _ => 1.0,
        };
        pairs as f64 * columns * products
    }
}

/// Sums of one node. The last of the columns stands for "no unit".
#[derive(Debug, Clone)]
pub(super) struct Sums {
    /// sum |e|
    absolute: f64,
    /// sum of e > 0, less |e| times every free value where e < 0 (from [`MONOTONE_SLOTS`] on): no
    /// completion is above.
    monotone: f64,
    /// sum e r^k
    pub(super) constant: f64,
    /// sum e r^(k-1) delta_a
    pub(super) linear: Vec<f64>,
    /// sum e r^(k-2) delta_a delta_b + |e| s(r) |delta_a delta_b|^(3/2), columns x columns,
    /// symmetric; empty for k = 1. In models of order 3 and 4 the second has the power 4/2 and 5/2.
    pub(super) pairs: Vec<f64>,
    /// sum e r^(k-3) delta_a delta_b delta_c
    pub(super) triples: Triples,
    /// sum |e| r^(k-3) |delta_a|^3, which says how far triples may be off.
    cubes: Vec<f64>,
    /// sum e r^(k-4) delta_a delta_b delta_c delta_d, until triples take them in.
    fours: Fours,
    /// sum |e| r^(k-4) delta_a^4
    fourths: Vec<f64>,
}

impl Sums {
    /// Entries of the matrix of pairs.
    fn entries(query: &Query) -> usize {
        if query.order >= 2 { (query.free.len() + 1).pow(2) + triples(query.free.len(), query.order) } else { 0 }
    }

    fn new(query: &Query) -> Self {
        let columns = query.free.len() + 1;
        let modelled = query.slots <= MOST_SLOTS;
        let (cubic, quartic) = (query.order >= 3, query.order == 4);
        let triples = if cubic { Triples::new(columns) } else { Triples::default() };
        Self {
            absolute: 0.0,
            monotone: 0.0,
            constant: 0.0,
            linear: vec![0.0; if modelled { columns } else { 0 }],
            pairs: vec![0.0; if query.order >= 2 { columns * columns } else { 0 }],
            cubes: vec![0.0; if cubic { columns } else { 0 }],
            triples,
            fours: if quartic { Fours::new(columns) } else { Fours::default() },
            fourths: vec![0.0; if quartic { columns } else { 0 }],
        }
    }

    fn add(&mut self, other: &Self) {
        self.absolute += other.absolute;
        self.monotone += other.monotone;
        self.constant += other.constant;
        add(&mut self.linear, &other.linear);
        add(&mut self.pairs, &other.pairs);
        add(&mut self.triples.values, &other.triples.values);
        add(&mut self.fours.values, &other.fours.values);
        add(&mut self.cubes, &other.cubes);
        add(&mut self.fourths, &other.fourths);
    }

    /// Raises numbers of the third and fourth order by what single precision may take from them, a
    /// share of the sizes of their terms, which add up to at most the geometric mean of those of
    /// cubes or fourth powers (Hoelder), and lets triples take in the fourth order.
    fn finish(&mut self, k: usize, share: f64) {
        if !self.triples.is_empty() {
            self.triples.raise(&self.cubes.iter().map(|cube| (share * cube).cbrt()).collect::<Vec<f64>>());
        }
        if !self.fourths.is_empty() {
            self.fours.raise(&self.fourths.iter().map(|fourth| (share * fourth).sqrt().sqrt()).collect::<Vec<f64>>());
            self.triples.take(&self.fours, k);
            self.fours = Fours::default();
        }
    }

    /// Largest error of a value of the model by single precision.
    pub(super) fn margin(&self, query: &Query, pairs: &Pairs) -> f64 {
        let k = query.slots.min(MOST_SLOTS) as f64;
        let terms = 1.0 + k + k * (k - 1.0);
        let chosen = query.inside.len() as f64 + 2.0;
        let each = self.absolute * (rounding(pairs.tile_length()) + k * UNIT_ERROR);
        terms * (each + pairs.absolute * chosen * UNIT_ERROR)
    }

    /// No completion of the node has a larger f.
    pub(super) fn monotone(&self, query: &Query, pairs: &Pairs) -> f64 {
        pairs.diagonal + self.monotone + self.margin(query, pairs)
    }
}

fn add(sums: &mut [f64], others: &[f64]) {
    sums.iter_mut().zip(others).for_each(|(sum, other)| *sum += other);
}

/// C(n, k)
fn choose(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// The values of a node for each pair of a tile.
#[derive(Default)]
struct Scratch {
    /// e
    kernel: Vec<f32>,
    /// Weights of the linear sums, of the products of deltas, of those of spreads, of triples.
    linear: Vec<f32>,
    product: Vec<f32>,
    spread: Vec<f32>,
    triple: Vec<f32>,
    four: Vec<f32>,
    /// Weights of the triples or fours of a column.
    of_column: Vec<f32>,
    /// delta_c delta_d of each two columns.
    twos: Vec<f32>,
    /// |delta|^(4/2) or |delta|^(5/2) of each column.
    powers: Vec<f32>,
    /// Product of all free values.
    all: Vec<f32>,
    /// Weighted columns of a block.
    rows: Vec<f32>,
}

/// The sums of each node; none once the clock says stop.
pub(super) fn sums(pairs: &Pairs, queries: &[Query], clock: &Clock) -> Option<Vec<Sums>> {
    if queries.is_empty() {
        return Some(Vec::new());
    }
    let groups: Vec<&[Query]> = queries.chunks(GROUP).collect();
    // Each part has sums of its own.
    let bytes: u64 = queries.iter().map(|q| 8 * Sums::entries(q) as u64).sum();
    let most = (pairs.batch_bytes() / 2 / bytes.max(1)) as usize;
    let parts = PARTS.div_ceil(groups.len()).min(pairs.tiles()).min(most).max(1);
    let stopped = AtomicBool::new(false);
    let work = |job: usize| -> Vec<Sums> {
        let (group, part) = (groups[job / parts], job % parts);
        let mut sums: Vec<Sums> = group.iter().map(Sums::new).collect();
        let (mut buffer, mut scratch) = (Tile::default(), Scratch::default());
        for t in part * pairs.tiles() / parts..(part + 1) * pairs.tiles() / parts {
            let tile = pairs.tile(t, &mut buffer);
            for (query, sums) in group.iter().zip(&mut sums) {
                let stop = || stopped.load(Ordering::Relaxed) || clock.stop().is_some();
                if stop() || !add_tile(tile, query, sums, &mut scratch, &stop) {
                    stopped.store(true, Ordering::Relaxed);
                    return Vec::new();
                }
            }
        }
        sums
    };
    let done: Vec<Vec<Sums>> = (0..groups.len() * parts).into_par_iter().map(work).collect();
    if stopped.into_inner() {
        return None;
    }
    let mut out: Vec<Sums> = Vec::with_capacity(queries.len());
    for (job, sums) in done.into_iter().enumerate() {
        if job % parts == 0 {
            out.extend(sums);
        } else {
            let first = out.len() - sums.len();
            out[first..].iter_mut().zip(&sums).for_each(|(total, part)| total.add(part));
        }
    }
    for (sums, query) in out.iter_mut().zip(queries) {
        sums.finish(query.slots, 1.01 * (rounding(pairs.tile_length()) + query.slots as f64 * UNIT_ERROR));
    }
    Some(out)
}

/// Adds a tile to the sums. False where it was stopped in between.
fn add_tile(tile: &Tile, query: &Query, sums: &mut Sums, scratch: &mut Scratch, stop: &dyn Fn() -> bool) -> bool {
    let (length, k) = (tile.weight.len(), query.slots);
    let columns = query.free.len() + 1;
    let none = tile.columns() - 1;
    let unit = |c: usize| query.free.get(c).map_or(none, |&u| u as usize);
    scratch.kernel.clone_from(&tile.weight);
    for &u in &query.inside {
        multiply_by_sum(tile.delta(u as usize), &tile.centre, &mut scratch.kernel);
    }
    scratch.all.clear();
    scratch.all.resize(length, if k >= MONOTONE_SLOTS { 1.0 } else { 0.0 });
    if k >= MONOTONE_SLOTS {
        for &u in &query.free {
            multiply_by_sum(tile.delta(u as usize), &tile.centre, &mut scratch.all);
        }
    }
    let (absolute, monotone) = totals(&scratch.kernel, &scratch.all);
    sums.absolute += absolute;
    sums.monotone += monotone;
    if k > MOST_SLOTS {
        return true;
    }
    // s(r) = sum_(i = order + 1..k) r^(k-i) C(k-2, i-2) / C(i, 2), by falling power of r.
    let order = query.order;
    let series: Vec<f32> = (order.max(2) + 1..=k).map(|i| (choose(k - 2, i - 2) / choose(i, 2)) as f32).collect();
    let Scratch { kernel, linear, product, spread, triple, four, of_column, twos, powers, rows, .. } = scratch;
    for out in [&mut *linear, &mut *product, &mut *spread, &mut *triple, &mut *four, &mut *of_column] {
        out.resize(length, 0.0);
    }
    sums.constant += weigh(kernel, &tile.centre, k, &series, linear, product, spread, [triple, four]);
    let delta = |c: usize| tile.delta(unit(c));
    for first in (0..columns).step_by(BLOCK) {
        let mut out = [[0.0; BLOCK]; BLOCK];
        block_products([linear; BLOCK], std::array::from_fn(|b| delta((first + b).min(columns - 1))), &mut out);
        for b in 0..BLOCK.min(columns - first) {
            sums.linear[first + b] += out[0][b];
        }
    }
    if k == 1 {
        return true;
    }
    rows.resize(BLOCK * length, 0.0);
    if !symmetric(product, delta, columns, &mut sums.pairs, rows, stop) {
        return false;
    }
    if order == 2 {
        let spreads = |c: usize| tile.spread(unit(c));
        return k == 2 || symmetric(spread, spreads, columns, &mut sums.pairs, rows, stop);
    }
    powers.resize(columns * length, 0.0);
    for c in 0..columns {
        let power = &mut powers[c * length..(c + 1) * length];
        let sizes = raised(delta(c), triple, four, order == 4, power);
        sums.cubes[c] += sizes[0];
        if order == 4 {
            sums.fourths[c] += sizes[1];
        }
    }
    let power = |c: usize| &powers[c * length..(c + 1) * length];
    if k > order && !symmetric(spread, power, columns, &mut sums.pairs, rows, stop) {
        return false;
    }
    let two: Vec<(usize, usize)> = if order == 4 { pairs_of(columns, 0).collect() } else { Vec::new() };
    twos.resize(two.len() * length, 0.0);
    for (&(c, d), product) in two.iter().zip(twos.chunks_exact_mut(length)) {
        multiply(delta(c), delta(d), product);
    }
    for b in 0..columns {
        let (rows_of, from) = (before(columns, b), after(columns, b));
        multiply(triple, delta(b), of_column);
        let part = sums.triples.part(b);
        if !matrix(of_column, delta, rows_of, |c| delta(from + c), &mut sums.triples.values[part], rows, stop) {
            return false;
        }
        if order == 4 {
            multiply(four, delta(b), of_column);
            let (part, first) = (sums.fours.part(b), two.len() - pairs_of(columns, from).count());
            let product = |c: usize| &twos[(first + c) * length..(first + c + 1) * length];
            if !matrix(of_column, delta, rows_of, product, &mut sums.fours.values[part], rows, stop) {
                return false;
            }
        }
    }
    true
}

/// Adds `sum w x_a y_c` for the first `count` columns x and all columns y to a matrix. False where
/// it was stopped in between.
fn matrix<'a>(
    weight: &[f32],
    x: impl Fn(usize) -> &'a [f32],
    count: usize,
    y: impl Fn(usize) -> &'a [f32],
    sums: &mut [f64],
    rows: &mut [f32],
    stop: &dyn Fn() -> bool,
) -> bool {
    let length = weight.len();
    let width = sums.len() / count.max(1);
    for (a, sums) in (0..count).step_by(BLOCK).zip(sums.chunks_mut(BLOCK * width.max(1))) {
        if stop() {
            return false;
        }
        for (i, row) in rows.chunks_exact_mut(length).enumerate() {
            multiply(x((a + i).min(count - 1)), weight, row);
        }
        for c in (0..width).step_by(BLOCK) {
            let mut out = [[0.0; BLOCK]; BLOCK];
            let row = |i: usize| &rows[i * length..(i + 1) * length];
            block_products(std::array::from_fn(row), std::array::from_fn(|j| y((c + j).min(width - 1))), &mut out);
            for i in 0..BLOCK.min(count - a) {
                for j in 0..BLOCK.min(width - c) {
                    sums[i * width + c + j] += out[i][j];
                }
            }
        }
    }
    true
}

/// Adds `sum w x_a x_b` for all columns a and b to a matrix. False where it was stopped in between.
fn symmetric<'a>(
    weight: &[f32],
    column: impl Fn(usize) -> &'a [f32],
    columns: usize,
    sums: &mut [f64],
    rows: &mut [f32],
    stop: &dyn Fn() -> bool,
) -> bool {
    let length = weight.len();
    let at = |c: usize| column(c.min(columns - 1));
    for a in (0..columns).step_by(BLOCK) {
        if stop() {
            return false;
        }
        for (i, row) in rows.chunks_exact_mut(length).enumerate() {
            multiply(at(a + i), weight, row);
        }
        for b in (a..columns).step_by(BLOCK) {
            let mut out = [[0.0; BLOCK]; BLOCK];
            let row = |i: usize| &rows[i * length..(i + 1) * length];
            block_products(std::array::from_fn(row), std::array::from_fn(|j| at(b + j)), &mut out);
            for i in 0..BLOCK.min(columns - a) {
                for j in 0..BLOCK.min(columns - b) {
                    // One rounding for both halves.
                    let (row, column) = (a + i, b + j);
                    if row <= column {
                        sums[row * columns + column] += out[i][j];
                    }
                    if row < column {
                        sums[column * columns + row] += out[i][j];
                    }
                }
            }
        }
    }
    true
}

/// Weights of the sums for k slots: e r^(k-1), e r^(k-2), |e| s(r), e r^(k-3) and e r^(k-4) (from
/// k = 3 and 4 on); returns sum e r^k.
#[allow(clippy::too_many_arguments, reason = "slices of their own do not overlap, which the loop needs")]
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+fma", "x86_64+avx2+fma"))]
fn weigh(
    kernel: &[f32],
    centre: &[f32],
    k: usize,
    series: &[f32],
    linear: &mut [f32],
    product: &mut [f32],
    spread: &mut [f32],
    [triple, four]: [&mut [f32]; 2],
) -> f64 {
    let mut sum = [0.0f64; WIDTH];
    let chunks = kernel.as_chunks::<WIDTH>().0.iter().zip(centre.as_chunks::<WIDTH>().0);
    let outs = linear.as_chunks_mut::<WIDTH>().0.iter_mut().zip(product.as_chunks_mut::<WIDTH>().0);
    let others = triple.as_chunks_mut::<WIDTH>().0.iter_mut().zip(four.as_chunks_mut::<WIDTH>().0);
    let others = spread.as_chunks_mut::<WIDTH>().0.iter_mut().zip(others);
    for (((e, r), (linear, product)), (spread, (triple, four))) in chunks.zip(outs).zip(others) {
        let (mut power, mut tail) = (*e, [0.0f32; WIDTH]);
        for _ in 2..k {
            (*four, *triple) = (*triple, power);
            for l in 0..WIDTH {
                power[l] *= r[l];
            }
        }
        for c in series {
            for l in 0..WIDTH {
                tail[l] = tail[l] * r[l] + c;
            }
        }
        for l in 0..WIDTH {
            product[l] = power[l];
            linear[l] = if k == 1 { e[l] } else { power[l] * r[l] };
            spread[l] = e[l].abs() * tail[l];
            sum[l] += f64::from(linear[l] * r[l]);
        }
    }
    sum.iter().sum()
}

/// sum |w| |x|^3 and sum |v| x^4, to some 1e-5 of them; `power` is x^2, or |x|^(5/2).
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+fma", "x86_64+avx2+fma"))]
fn raised(x: &[f32], w: &[f32], v: &[f32], higher: bool, power: &mut [f32]) -> [f64; 2] {
    let mut sums = [[0.0f32; WIDTH]; 2];
    let columns = x.as_chunks::<WIDTH>().0.iter().zip(power.as_chunks_mut::<WIDTH>().0);
    for ((w, v), (x, power)) in w.as_chunks::<WIDTH>().0.iter().zip(v.as_chunks::<WIDTH>().0).zip(columns) {
        for l in 0..WIDTH {
            let (size, square) = (x[l].abs(), x[l] * x[l]);
            sums[0][l] += w[l].abs() * size * square;
            sums[1][l] += v[l].abs() * square * square;
            power[l] = if higher { square * size.sqrt() } else { square };
        }
    }
    sums.map(|sums| sums.iter().map(|sum| f64::from(*sum)).sum())
}

/// sum |e|, and sum of e > 0 plus sum of e < 0 times `all`.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+fma", "x86_64+avx2+fma"))]
fn totals(kernel: &[f32], all: &[f32]) -> (f64, f64) {
    let (mut absolute, mut bound) = ([0.0f64; WIDTH], [0.0f64; WIDTH]);
    for (e, all) in kernel.as_chunks::<WIDTH>().0.iter().zip(all.as_chunks::<WIDTH>().0) {
        for l in 0..WIDTH {
            absolute[l] += f64::from(e[l].abs());
            bound[l] += f64::from(if e[l] > 0.0 { e[l] } else { e[l] * all[l] });
        }
    }
    (absolute.iter().sum(), bound.iter().sum())
}
