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
//! For k <= 2 the last sum is empty and the model exact. Otherwise each product of i deltas is at
//! most the mean over its pairs of |delta_a delta_b|^(i/2) (arithmetic and geometric means), which
//! is at most |delta_a delta_b|^(3/2), and a pair lies in C(k-2, i-2) of them. So f is at most a
//! quadratic function of the completion, whatever the signs of the weights, and its coefficients
//! are two symmetric products over the pairs.

use std::sync::atomic::{AtomicBool, Ordering};

use multiversion::multiversion;
use rayon::prelude::*;

use super::pairs::{Pairs, Tile};
use crate::Clock;
use crate::kernel::symmetric::{BLOCK, WIDTH, block_products, multiply, multiply_by_sum, rounding};

/// Nodes that share the making of a tile.
const GROUP: usize = 16;
/// Parts that the tiles are split into when there are few nodes: fixed, so that sums do not depend
/// on threads.
const PARTS: usize = 16;
/// With more slots than this there is no model, only the monotone bound.
pub(super) const MOST_SLOTS: usize = 12;
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
}

impl Query {
    /// Bytes that its sums take, and the model that is made of them.
    pub(super) fn sum_bytes(&self) -> u64 {
        let columns = self.free.len() as u64 + 1;
        let products = if (2..=MOST_SLOTS).contains(&self.slots) { 3 * columns } else { 1 };
        size_of::<f64>() as u64 * columns * products
    }

    /// Multiply-adds that its sums take over this many pairs.
    pub(super) fn work(&self, pairs: usize) -> f64 {
        let columns = (self.free.len() + 1) as f64;
        let products = match self.slots {
            0 | 1 => 1.0,
            2 => 0.5 * columns,
            k if k <= MOST_SLOTS => columns,
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
    /// symmetric; empty for k = 1.
    pub(super) pairs: Vec<f64>,
}

impl Sums {
    /// Entries of the matrix of pairs.
    fn entries(query: &Query) -> usize {
        if (2..=MOST_SLOTS).contains(&query.slots) { (query.free.len() + 1).pow(2) } else { 0 }
    }

    fn new(query: &Query) -> Self {
        let columns = query.free.len() + 1;
        let (modelled, pairs) = (query.slots <= MOST_SLOTS, Self::entries(query));
        Self {
            absolute: 0.0,
            monotone: 0.0,
            constant: 0.0,
            linear: vec![0.0; if modelled { columns } else { 0 }],
            pairs: vec![0.0; pairs],
        }
    }

    fn add(&mut self, other: &Self) {
        self.absolute += other.absolute;
        self.monotone += other.monotone;
        self.constant += other.constant;
        self.linear.iter_mut().zip(&other.linear).for_each(|(a, b)| *a += b);
        self.pairs.iter_mut().zip(&other.pairs).for_each(|(a, b)| *a += b);
    }

    /// What single precision may add to or take from a value of the model.
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

/// C(n, k)
fn choose(n: usize, k: usize) -> f64 {
    (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}

/// What a node needs for each pair of a tile.
#[derive(Default)]
struct Scratch {
    /// e
    kernel: Vec<f32>,
    /// Weights of the linear sums, of the products of deltas, of those of spreads.
    linear: Vec<f32>,
    product: Vec<f32>,
    spread: Vec<f32>,
    /// Product of all free values.
    all: Vec<f32>,
    /// Weighted columns of a block.
    rows: Vec<f32>,
    spread_rows: Vec<f32>,
}

/// The sums of each node; none once the clock says stop.
pub(super) fn sums(pairs: &Pairs, queries: &[Query], clock: &Clock) -> Option<Vec<Sums>> {
    if queries.is_empty() {
        return Some(Vec::new());
    }
    let groups: Vec<&[Query]> = queries.chunks(GROUP).collect();
    // Each part has sums of its own.
    let bytes: u64 = queries.iter().map(|q| 8 * Sums::entries(q) as u64).sum();
    let most = (pairs.at_work() / 2 / bytes.max(1)) as usize;
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
    // s(r) = sum_(i = 3..k) r^(k-i) C(k-2, i-2) / C(i, 2), coefficients by falling power of r.
    let series: Vec<f32> = (3..=k).map(|i| (choose(k - 2, i - 2) / choose(i, 2)) as f32).collect();
    for out in [&mut scratch.linear, &mut scratch.product, &mut scratch.spread] {
        out.resize(length, 0.0);
    }
    let Scratch { kernel, linear, product, spread, .. } = &mut *scratch;
    sums.constant += weigh(kernel, &tile.centre, k, &series, linear, product, spread);
    for first in (0..columns).step_by(BLOCK) {
        let mut out = [[0.0; BLOCK]; BLOCK];
        let at = |b: usize| tile.delta(unit((first + b).min(columns - 1)));
        block_products([&scratch.linear; BLOCK], std::array::from_fn(at), &mut out);
        for b in 0..BLOCK.min(columns - first) {
            sums.linear[first + b] += out[0][b];
        }
    }
    if k == 1 {
        return true;
    }
    scratch.rows.resize(BLOCK * length, 0.0);
    scratch.spread_rows.resize(BLOCK * length, 0.0);
    for a in (0..columns).step_by(BLOCK) {
        if stop() {
            return false;
        }
        for i in 0..BLOCK {
            let (u, part) = (unit((a + i).min(columns - 1)), i * length..(i + 1) * length);
            multiply(tile.delta(u), &scratch.product, &mut scratch.rows[part.clone()]);
            if k >= 3 {
                multiply(tile.spread(u), &scratch.spread, &mut scratch.spread_rows[part]);
            }
        }
        for b in (a..columns).step_by(BLOCK) {
            let mut out = [[0.0; BLOCK]; BLOCK];
            let column = |j: usize| unit((b + j).min(columns - 1));
            let part = |i: usize| i * length..(i + 1) * length;
            block_products(
                std::array::from_fn(|i| &scratch.rows[part(i)]),
                std::array::from_fn(|j| tile.delta(column(j))),
                &mut out,
            );
            if k >= 3 {
                block_products(
                    std::array::from_fn(|i| &scratch.spread_rows[part(i)]),
                    std::array::from_fn(|j| tile.spread(column(j))),
                    &mut out,
                );
            }
            for i in 0..BLOCK.min(columns - a) {
                for j in 0..BLOCK.min(columns - b) {
                    // One rounding for both halves.
                    let (row, column) = (a + i, b + j);
                    if row <= column {
                        sums.pairs[row * columns + column] += out[i][j];
                    }
                    if row < column {
                        sums.pairs[column * columns + row] += out[i][j];
                    }
                }
            }
        }
    }
    true
}

/// Weights of the sums for k slots: e r^(k-1), e r^(k-2), |e| s(r); returns sum e r^k.
#[multiversion(targets("x86_64+avx512f+avx512vl+avx512dq+fma", "x86_64+avx2+fma"))]
fn weigh(
    kernel: &[f32],
    centre: &[f32],
    k: usize,
    series: &[f32],
    linear: &mut [f32],
    product: &mut [f32],
    spread: &mut [f32],
) -> f64 {
    let mut sum = [0.0f64; WIDTH];
    let chunks = kernel.as_chunks::<WIDTH>().0.iter().zip(centre.as_chunks::<WIDTH>().0);
    let outs = linear.as_chunks_mut::<WIDTH>().0.iter_mut().zip(product.as_chunks_mut::<WIDTH>().0);
    for (((e, r), (linear, product)), spread) in chunks.zip(outs).zip(spread.as_chunks_mut::<WIDTH>().0) {
        let (mut power, mut tail) = (*e, [0.0f32; WIDTH]);
        for _ in 2..k {
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
