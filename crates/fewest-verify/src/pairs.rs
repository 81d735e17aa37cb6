//! Gain `alignment`: pairs of samples with their weights and kernels, and the value of one subset.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};

use rayon::prelude::*;
use serde::Deserialize;

use crate::data::Data;
use crate::file::Checked;
use crate::kernel::{EXP_ERROR, WIDTH, exp_of_minus};
use crate::rules::{Choice, Rules, State};

/// Pairs in a tile, a multiple of [`WIDTH`].
pub(crate) const LENGTH: usize = 16 * WIDTH;
/// Pairs are merged where no column has more different values than this.
const CATEGORIES: usize = 12;
/// The largest value of a feature: sums of squares of differences stay below the largest double.
const MOST_VALUE: f64 = 1e70;

/// How far two values of a feature are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) enum Distance {
    #[serde(rename = "rbf")]
    Squared,
    #[serde(rename = "laplace")]
    Absolute,
    #[serde(skip)]
    Unequal,
}

impl Distance {
    fn of(self, x: f64, y: f64) -> f64 {
        match self {
            Self::Squared => (x - y) * (x - y),
            Self::Absolute => (x - y).abs(),
            Self::Unequal => f64::from(u8::from(x != y)),
        }
    }
}

/// `exp(-gamma sum of the distances)`, one for each feature. Units with a feature in `centre` count
/// as much in the centres of pairs as all units.
pub(crate) struct AlignmentKernel {
    pub(crate) gamma: f64,
    pub(crate) distances: Vec<Distance>,
    pub(crate) centre: Vec<usize>,
}

/// Some pairs, all numbers of a unit in a row of [`LENGTH`].
#[derive(Clone)]
pub(crate) struct Tile {
    /// w_q times the kernel of the features that the rules require.
    pub(crate) weight: [f64; LENGTH],
    /// r_q, from 0 to 1.
    pub(crate) centre: [f32; LENGTH],
    /// u_q - r_q by unit, the last one for no unit at all (u = 1), rounded.
    delta: Vec<f32>,
}

impl Tile {
    /// Tile of weights and of the kernels of each unit, which count in the centre by these shares.
    fn new(weight: &[f64; LENGTH], mut delta: Vec<f32>, shares: &[f64]) -> Self {
        let mut sums = [0.0f64; LENGTH];
        for (kernel, share) in delta.chunks_exact(LENGTH).zip(shares) {
            sums.iter_mut().zip(kernel).for_each(|(sum, u)| *sum += share * f64::from(*u));
        }
        let centre = sums.map(|r| r.clamp(0.0, 1.0) as f32);
        delta.extend([1.0; LENGTH]);
        for unit in delta.chunks_exact_mut(LENGTH) {
            unit.iter_mut().zip(&centre).for_each(|(u, r)| *u -= r);
        }
        Self { weight: *weight, centre, delta }
    }

    /// Units, and "no unit".
    pub(crate) fn columns(&self) -> usize {
        self.delta.len() / LENGTH
    }

    pub(crate) fn delta(&self, unit: usize) -> &[f32; LENGTH] {
        &self.delta.as_chunks().0[unit]
    }
}

/// All pairs of different rows: samples that weigh and do not differ in features that may be chosen
/// are one row. Units are those that the rules alone leave free, by their place in `units`.
pub(crate) struct Pairs {
    of: AlignmentKernel,
    /// The values of each feature on the rows; empty for features that are out.
    columns: Vec<Vec<f64>>,
    /// The part that each row has of the weight of each class.
    rows: Vec<Vec<f64>>,
    /// Samples.
    n: usize,
    /// Numbers of the units, and the features of each.
    pub(crate) units: Vec<usize>,
    features: Vec<Vec<usize>>,
    required: Vec<usize>,
    /// The share of each unit in the centre.
    shares: Vec<f64>,
    /// The number of each row's first pair; the last one is that of all pairs.
    begins: Vec<usize>,
    /// Tiles, and those that are kept, of pairs that may be merged.
    tiles: usize,
    kept: Vec<Tile>,
    /// Bytes that a model may take.
    pub(crate) memory: u64,
    /// Sum of the weights of each row with itself.
    pub(crate) diagonal: f64,
    /// No less than the sum of all |w_q|, those of a row with itself among them.
    pub(crate) weight: f64,
}

impl Pairs {
    /// The pairs of some data. Tiles are kept where they take at most half of `memory`.
    pub(crate) fn new(data: &dyn Data, rules: &Rules, root: &State, of: AlignmentKernel, memory: u64) -> Checked<Self> {
        let (n, labels, weights) = (data.samples(), data.labels(), data.weights());
        let mut totals: BTreeMap<u64, f64> = BTreeMap::new();
        for (class, weight) in labels.iter().zip(weights) {
            *totals.entry(class.to_bits()).or_default() += weight;
        }
        totals.retain(|_, total| *total > 0.0);
        if totals.len() < 2 || totals.values().any(|total| !total.is_finite()) {
            return Err("the data have fewer than two classes of positive, finite weight".to_owned());
        }
        let units: Vec<usize> = root.units(Choice::Free).collect();
        let features: Vec<Vec<usize>> = units.iter().map(|&u| rules.units[u].clone()).collect();
        let required = rules.features(root.units(Choice::In));
        let alive: Vec<usize> = features.iter().flatten().chain(&required).copied().collect();
        if 16 * (n as u64) * (alive.len() + totals.len()) as u64 > memory {
            return Err(format!("{n} samples with {} features take more memory than is allowed", alive.len()));
        }
        let mut columns = vec![Vec::new(); data.features()];
        for &j in &alive {
            columns[j] = vec![0.0; n];
            // A zero is 0 whatever its sign.
            data.each(j, &mut |i, x| columns[j][i] = x + 0.0);
            if let Some(x) = columns[j].iter().find(|x| x.abs() > MOST_VALUE) {
                return Err(format!("the data hold {x} for feature {j}, above {MOST_VALUE:e} in size"));
            }
        }
        let (mut place, mut first, mut rows): (HashMap<Vec<u64>, usize>, _, _) = (HashMap::new(), vec![], vec![]);
        for i in (0..n).filter(|&i| weights[i] > 0.0) {
            let at = *place.entry(alive.iter().map(|&j| columns[j][i].to_bits()).collect()).or_insert(first.len());
            if at == first.len() {
                first.push(i);
                rows.push(vec![0.0; totals.len()]);
            }
            let class = labels[i].to_bits();
            rows[at][totals.range(..class).count()] += weights[i] / totals[&class];
        }
        for &j in &alive {
            columns[j] = first.iter().map(|&i| columns[j][i]).collect();
        }
        let favoured: HashSet<usize> = of.centre.iter().map(|&j| rules.unit_of[j]).collect();
        let some = units.iter().filter(|u| favoured.contains(u)).count() as f64;
        let all = if some > 0.0 { 0.5 } else { 1.0 } / units.len() as f64;
        let share = |u: &usize| all + if favoured.contains(u) { 0.5 / some } else { 0.0 };
        let shares = units.iter().map(share).collect();
        let (m, classes) = (rows.len(), totals.len() as f64);
        let begins: Vec<usize> = (0..m).map(|g| g * (2 * m - g - 1) / 2).collect();
        let (tiles, diagonal, kept) = (begins[m - 1].div_ceil(LENGTH), 0.0, Vec::new());
        // The shares of each class add up to 1: pairs of samples of the same class weigh
        // (classes - 1) classes in all, and so do the others.
        let (weight, memory) = (2.0 * classes * (classes - 1.0) * (1.0 + 1e-6), memory / 2);
        let mut pairs = Self {
            of,
            columns,
            rows,
            n,
            units,
            features,
            required,
            shares,
            begins,
            tiles,
            kept,
            memory,
            diagonal,
            weight,
        };
        pairs.diagonal = (0..m).map(|g| 0.5 * pairs.weight_of(g, g)).sum();
        pairs.keep(memory);
        Ok(pairs)
    }

    /// Keeps the tiles, or those of different pairs, where there is room.
    fn keep(&mut self, room: u64) {
        let few = |column: &Vec<f64>| column.iter().map(|x| x.to_bits()).collect::<HashSet<_>>().len() <= CATEGORIES;
        let each = 4 * (self.units.len() as u64 + 4);
        if self.columns.iter().all(few)
            && let Some(tiles) = self.merged(room / each / 4)
        {
            (self.tiles, self.kept) = (tiles.len(), tiles);
        } else if each * (self.tiles * LENGTH) as u64 <= room {
            self.kept = (0..self.tiles).into_par_iter().map(|t| self.tile(t).into_owned()).collect();
        }
    }

    /// Tiles of pairs whose kernels are equal for each unit, with the sums of their weights; none
    /// where there are more than `most`.
    fn merged(&self, most: u64) -> Option<Vec<Tile>> {
        let mut place: HashMap<Vec<u32>, usize> = HashMap::new();
        let (mut weights, mut keys): (Vec<f64>, Vec<Vec<u32>>) = (Vec::new(), Vec::new());
        for t in 0..self.tiles {
            let (weight, kernels) = self.kernels(t);
            for (k, w) in weight.into_iter().enumerate() {
                let key: Vec<u32> = kernels.iter().skip(k).step_by(LENGTH).map(|u| u.to_bits()).collect();
                let at = *place.entry(key).or_insert_with_key(|key| {
                    keys.push(key.clone());
                    weights.push(0.0);
                    weights.len() - 1
                });
                weights[at] += w;
            }
            if keys.len() as u64 > most {
                return None;
            }
        }
        let tile = |(keys, weights): (&[Vec<u32>], &[f64])| {
            let kernel = |u: usize, k: usize| keys.get(k).map_or(0.0, |key| f32::from_bits(key[u]));
            let kernels = (0..self.units.len()).flat_map(|u| (0..LENGTH).map(move |k| kernel(u, k))).collect();
            let weight = std::array::from_fn(|k| weights.get(k).copied().unwrap_or(0.0));
            Tile::new(&weight, kernels, &self.shares)
        };
        Some(keys.chunks(LENGTH).zip(weights.chunks(LENGTH)).map(tile).collect())
    }

    pub(crate) fn tiles(&self) -> usize {
        self.tiles
    }

    /// The tile of this number, kept or made.
    pub(crate) fn tile(&self, t: usize) -> Cow<'_, Tile> {
        self.kept.get(t).map_or_else(
            || {
                let (weight, kernels) = self.kernels(t);
                Cow::Owned(Tile::new(&weight, kernels, &self.shares))
            },
            Cow::Borrowed,
        )
    }

    /// Weights, and kernels by unit, of the pairs of a tile; 0 beyond the last.
    fn kernels(&self, t: usize) -> ([f64; LENGTH], Vec<f32>) {
        let (start, m) = (t * LENGTH, self.rows.len());
        let mut g = self.begins.partition_point(|begin| *begin <= start) - 1;
        let mut h = g + 1 + start - self.begins[g];
        let (mut pairs, mut weight) = (Vec::with_capacity(LENGTH), [0.0; LENGTH]);
        while pairs.len() < LENGTH && g + 1 < m {
            pairs.push([g, h]);
            (g, h) = if h + 1 < m { (g, h + 1) } else { (g + 1, g + 2) };
        }
        let mut kernels = vec![0.0; self.units.len() * LENGTH];
        for (features, out) in self.features.iter().zip(kernels.chunks_exact_mut(LENGTH)) {
            out.iter_mut().zip(self.kernel(features, &pairs)).for_each(|(out, u)| *out = u as f32);
        }
        let required = self.kernel(&self.required, &pairs);
        for ((weight, [g, h]), u) in weight.iter_mut().zip(pairs).zip(required) {
            *weight = self.weight_of(g, h) * u;
        }
        (weight, kernels)
    }

    /// w_q of rows g and h: over all pairs of classes, the product of the differences of their
    /// shares, twice.
    fn weight_of(&self, g: usize, h: usize) -> f64 {
        let (x, y) = (&self.rows[g], &self.rows[h]);
        let products: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
        2.0 * (x.len() as f64 * products - x.iter().sum::<f64>() * y.iter().sum::<f64>())
    }

    /// The kernels on some features of these pairs of rows.
    fn kernel(&self, features: &[usize], pairs: &[[usize; 2]]) -> Vec<f64> {
        let mut out = vec![0.0; pairs.len()];
        for &j in features {
            let (x, distance) = (&self.columns[j], self.of.distances[j]);
            out.iter_mut().zip(pairs).for_each(|(sum, [g, h])| *sum += distance.of(x[*g], x[*h]));
        }
        for sum in &mut out {
            *sum *= self.of.gamma;
        }
        exp_of_minus(&mut out);
        out
    }

    /// How far a sum over pairs is off at most, as a part of [`Pairs::weight`], for `more` further
    /// roundings of each of its terms: those of shares (n each) and weights, which are differences
    /// of numbers that add up to twice as much; of distances, whose relative
    /// error times `d e^-d <= 1` is that of kernels; of exponentials; of the sum in any order.
    pub(crate) fn rounding(&self, more: usize) -> f64 {
        self.error(self.begins[self.rows.len() - 1] + 2 * self.columns.len() + more)
    }

    /// Error of this many roundings beside those of shares, weights and exponentials.
    fn error(&self, roundings: usize) -> f64 {
        EXP_ERROR + (roundings + 6 * self.n + 100) as f64 * f64::EPSILON
    }

    /// The least and the largest that f of a subset can be, required features and all.
    pub(crate) fn value(&self, features: &[usize]) -> (f64, f64) {
        let n = self.rows.len();
        let row = |g: usize| {
            let pairs: Vec<[usize; 2]> = (g + 1..n).map(|h| [g, h]).collect();
            let kernel = self.kernel(features, &pairs);
            kernel.iter().zip(pairs).map(|(u, [g, h])| self.weight_of(g, h) * u).sum::<f64>()
        };
        let rows: Vec<f64> = (0..n).into_par_iter().with_min_len(16).map(row).collect();
        let value = self.diagonal + rows.iter().sum::<f64>();
        // Sums of at most n terms of sums of at most n terms; the rest as in `rounding`.
        let error = self.weight * self.error(2 * n + 2 * features.len());
        (value - error, value + error)
    }
}
