//! The columns a machine may use, with the bias as one of them where it is penalised. They may be
//! elsewhere: those of the working sets are brought here, of the others scores are asked for.

use std::collections::HashMap;

use rayon::prelude::*;

use crate::design::{Best, keep};
use crate::{Bias, Design, Error, FeatureScore, Interval, Memory, RowMatrix, ScoreQuery, Source, WeightBounds};

/// Columns examined by one thread at a time.
const CHUNK: usize = 2048;
/// Stored values of the matrix from which a pass is worth several threads.
const PARALLEL: usize = 1 << 20;

/// The matrix, and the memory of the copies of working sets.
pub(in crate::method::l1_svm) struct Matrix<'a> {
    data: Data<'a>,
    pub(super) memory: Memory,
}

/// Where the matrix is.
enum Data<'a> {
    /// In memory.
    Here(&'a dyn Design),
    /// Elsewhere.
    Elsewhere(Fetched<'a>),
}

/// Columns brought here, each once, in the order in which they came.
struct Fetched<'a> {
    source: &'a dyn Source,
    /// Column of each feature that is here.
    place: HashMap<usize, usize>,
    rows: RowMatrix,
    /// `rows` by columns.
    design: Box<dyn Design>,
}

impl<'a> Matrix<'a> {
    /// All columns are here.
    pub(in crate::method::l1_svm) fn here(design: &'a dyn Design, memory: &Memory) -> Self {
        Self { data: Data::Here(design), memory: memory.clone() }
    }

    /// None of the source's columns is here yet.
    pub(in crate::method::l1_svm) fn of(source: &'a dyn Source, memory: &Memory) -> Self {
        let rows = RowMatrix::dense(source.n_samples(), 0, Vec::new());
        let design = rows.design();
        let data = Data::Elsewhere(Fetched { source, place: HashMap::new(), rows, design });
        Self { data, memory: memory.clone() }
    }

    /// The columns that are here.
    fn design(&self) -> &dyn Design {
        match &self.data {
            Data::Here(design) => *design,
            Data::Elsewhere(fetched) => &*fetched.design,
        }
    }

    /// The column of a feature, which is here.
    fn column(&self, feature: usize) -> usize {
        match &self.data {
            Data::Here(_) => feature,
            Data::Elsewhere(fetched) => fetched.place[&feature],
        }
    }

    /// Stored values of a feature's column; of one elsewhere, about.
    fn stored(&self, feature: usize) -> usize {
        let design = self.design();
        let mut stored = design.stored().div_ceil(design.n_features().max(1));
        if let Data::Here(design) = self.data {
            design.sparse_column(feature, &mut |rows, _, _| stored = rows.len());
        }
        stored
    }
}

impl Fetched<'_> {
    /// Brings those of the ascending features here that are not.
    fn fetch(&mut self, mut features: Vec<usize>) -> Result<(), Error> {
        features.retain(|j| !self.place.contains_key(j));
        if !features.is_empty() {
            self.rows.append(self.source.rows(&features)?);
            self.design = self.rows.design();
            let from = self.place.len();
            self.place.extend(features.into_iter().enumerate().map(|(at, j)| (j, from + at)));
        }
        Ok(())
    }
}

/// Position k < features.len() is feature `features[k]`; a penalised bias is the last position, a
/// constant column of its value s.
pub(super) struct Columns<'a, 's> {
    pub(super) matrix: &'a mut Matrix<'s>,
    pub(super) features: &'a [usize],
    pub(super) bias: Bias,
    pub(super) bounds: &'a WeightBounds,
}

impl Columns<'_, '_> {
    /// Number of positions.
    pub(super) fn len(&self) -> usize {
        self.features.len() + usize::from(self.constant().is_some())
    }

    /// The weights that a position may have.
    pub(super) fn interval(&self, position: usize) -> Interval {
        self.features.get(position).map_or(Interval::FREE, |&j| self.bounds.of(j))
    }

    /// The column of the feature at this position, which is here.
    fn column(&self, position: usize) -> usize {
        self.matrix.column(self.features[position])
    }

    /// Value of the constant column, if there is one.
    pub(super) fn constant(&self) -> Option<f64> {
        match self.bias {
            Bias::Penalised(s) => Some(s),
            Bias::Free | Bias::None => None,
        }
    }

    /// The constant column's value, where this is its position.
    fn constant_at(&self, position: usize) -> Option<f64> {
        if position == self.features.len() { self.constant() } else { None }
    }

    /// Brings the columns of these ascending positions here.
    pub(super) fn fetch(&mut self, positions: impl Iterator<Item = usize>) -> Result<(), Error> {
        match &mut self.matrix.data {
            Data::Here(_) => Ok(()),
            Data::Elsewhere(fetched) => {
                fetched.fetch(positions.filter_map(|k| self.features.get(k).copied()).collect())
            }
        }
    }

    /// The scores at v that count, by ascending position: of the weights in `w` that are not 0 or
    /// have a bound other than 0, of the constant column, and of the others, where these are more,
    /// the `most` of largest size, where a weight of their sign is allowed.
    pub(super) fn scores_seen(&self, w: &[f64], v: &[f64], most: usize) -> Result<Vec<FeatureScore>, Error> {
        let all_seen = self.len() <= most;
        let boxed = |k: usize| !self.bounds.is_free() && self.interval(k).is_boxed();
        let always = |k: usize| all_seen || w[k] != 0.0 || boxed(k);
        let (mut seen, mut best) = (Vec::new(), Best::new(most));
        let mut see = |k: usize, score: f64| {
            if always(k) {
                seen.push(FeatureScore { feature: k, score });
            } else if best.may_take(score * score) && self.interval(k).worth(score) > 0.0 {
                best.take(k, score);
            }
        };
        match &self.matrix.data {
            Data::Here(design) => self.scores(*design, v).into_iter().enumerate().for_each(|(k, c)| see(k, c)),
            Data::Elsewhere(fetched) => {
                let query = self.query(fetched.source.n_features(), most, &always);
                let mut found = fetched.source.largest(v, &query)?;
                // As in memory: of equal ones the first is kept.
                found.sort_unstable_by_key(|s| s.feature);
                for FeatureScore { feature, score } in found {
                    if let Ok(k) = self.features.binary_search(&feature) {
                        see(k, score);
                    }
                }
            }
        }
        keep(&mut best.found, most);
        seen.append(&mut best.found);
        if let Some(s) = self.constant() {
            seen.push(FeatureScore { feature: self.features.len(), score: s * v.iter().sum::<f64>() });
        }
        seen.sort_unstable_by_key(|s| s.feature);
        Ok(seen)
    }

    /// The question for the features at the positions `always` and the `most` largest others, of p.
    fn query(&self, p: usize, most: usize, always: &dyn Fn(usize) -> bool) -> ScoreQuery {
        let features = self.features;
        // Of few features all are asked for, and none need be named as those to leave out.
        if 2 * features.len() < p {
            return ScoreQuery { always: features.to_vec(), ..ScoreQuery::default() };
        }
        let always: Vec<usize> = (0..features.len()).filter(|&k| always(k)).map(|k| features[k]).collect();
        let never = (0..p).filter(|j| features.len() < p && features.binary_search(j).is_err()).collect();
        // A sign does not change the scores of those that are seen in any case.
        let signed = |allows: fn(Interval) -> bool| {
            let bounded =
                self.bounds.bounded().filter(|(j, interval)| allows(*interval) && always.binary_search(j).is_err());
            bounded.map(|(j, _)| j).collect::<Vec<usize>>()
        };
        let (positive, negative) = (signed(|i| i.lower == 0.0), signed(|i| i.upper == 0.0));
        ScoreQuery { most, always, never, positive, negative }
    }

    /// Scores x_j . v of all features allowed.
    fn scores(&self, design: &dyn Design, v: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.features.len()];
        if design.stored() < PARALLEL {
            fill(design, self.features, v, &mut out);
        } else {
            self.features.par_chunks(CHUNK).zip(out.par_chunks_mut(CHUNK)).for_each(|(j, out)| fill(design, j, v, out));
        }
        out
    }

    /// out += s x_j
    pub(super) fn add(&self, position: usize, s: f64, out: &mut [f64]) {
        match self.constant_at(position) {
            Some(value) => out.iter_mut().for_each(|o| *o += s * value),
            None => self.matrix.design().add_column(self.column(position), s, out),
        }
    }

    /// A column of all samples, where it is stored that way.
    pub(super) fn dense(&self, position: usize) -> Option<&[f64]> {
        self.features.get(position).and_then(|&j| self.matrix.design().dense_column(self.matrix.column(j)))
    }

    /// Size of the largest value of the feature's column at this position.
    pub(super) fn largest(&self, position: usize) -> f64 {
        let mut largest: f64 = 0.0;
        let column = self.column(position);
        self.matrix.design().each_in_column(column, &mut |_, x| largest = largest.max(x.abs()));
        largest
    }

    /// Bytes of [`Columns::gather`] of these positions at all samples, at most.
    pub(super) fn bytes(&self, positions: &[usize]) -> u64 {
        let (design, constant) = (self.matrix.design(), self.matrix.design().n_samples());
        let stored = |&k: &usize| self.features.get(k).map_or(constant, |&j| self.matrix.stored(j)) as u64;
        let copies = if matches!(self.matrix.data, Data::Here(_)) { 1 } else { 2 };
        copies * if design.is_sparse() { 12 } else { 8 } * positions.iter().map(stored).sum::<u64>()
    }

    /// Row k: the column of positions[k] at the samples `inside` (ascending), times `factor` (one
    /// per sample inside). In the memory of `old`, a matrix like it, where that serves.
    pub(super) fn gather(
        &self,
        positions: &[usize],
        inside: &[usize],
        factor: &[f64],
        old: Option<RowMatrix>,
    ) -> RowMatrix {
        let design = self.matrix.design();
        if design.is_sparse() {
            return self.gather_sparse(positions, inside, factor, old);
        }
        let mut values = Vec::with_capacity(positions.len() * inside.len());
        let mut column = vec![0.0; design.n_samples()];
        for &position in positions {
            if let Some(value) = self.constant_at(position) {
                values.extend(factor.iter().map(|f| value * f));
                continue;
            }
            let from = self.dense(position).unwrap_or_else(|| {
                column.fill(0.0);
                self.add(position, 1.0, &mut column);
                &column
            });
            values.extend(inside.iter().zip(factor).map(|(&i, f)| from[i] * f));
        }
        RowMatrix::dense(positions.len(), inside.len(), values)
    }

    /// [`Columns::gather`] of sparse columns.
    fn gather_sparse(
        &self,
        positions: &[usize],
        inside: &[usize],
        factor: &[f64],
        old: Option<RowMatrix>,
    ) -> RowMatrix {
        let design = self.matrix.design();
        let n = design.n_samples();
        let (mut place, mut scale) = (vec![u32::MAX; n], vec![0.0; n]);
        for (at, (&i, &factor)) in inside.iter().zip(factor).enumerate() {
            (place[i], scale[i]) = (at as u32, factor);
        }
        let (mut start, mut samples, mut values) = old.and_then(RowMatrix::into_csr).unwrap_or_default();
        start.clear();
        samples.clear();
        values.clear();
        start.push(0);
        for &position in positions {
            if let Some(value) = self.constant_at(position) {
                samples.extend(0..inside.len() as u32);
                values.extend(factor.iter().map(|f| value * f));
            } else {
                let (from, mut end) = (samples.len(), None);
                design.sparse_column(self.column(position), &mut |rows, x, divisor| {
                    samples.resize(from + rows.len(), 0);
                    values.resize(from + rows.len(), 0.0);
                    let (samples, values) = (&mut samples[from..], &mut values[from..]);
                    // Without a branch, as which samples are inside cannot be predicted.
                    let mut kept = 0;
                    for (&i, &x) in rows.iter().zip(x) {
                        let x = if divisor == 1.0 { x } else { x / divisor };
                        samples[kept] = place[i as usize];
                        values[kept] = x * scale[i as usize];
                        kept += usize::from(place[i as usize] != u32::MAX);
                    }
                    end = Some(from + kept);
                });
                match end {
                    Some(end) => {
                        samples.truncate(end);
                        values.truncate(end);
                    }
                    None => design.each_in_column(self.column(position), &mut |i, x| {
                        if place[i] != u32::MAX {
                            samples.push(place[i]);
                            values.push(x * scale[i]);
                        }
                    }),
                }
            }
            start.push(samples.len());
        }
        RowMatrix::sparse(inside.len(), start, samples, values)
    }

    /// All samples with these ascending positions, the constant column as a bias.
    pub(super) fn rows(&self, positions: &[usize]) -> (RowMatrix, Bias) {
        let count = positions.partition_point(|&j| j < self.features.len());
        let features: Vec<usize> = positions[..count].iter().map(|&k| self.column(k)).collect();
        let bias = match self.bias {
            Bias::Penalised(_) if count == positions.len() => Bias::None,
            bias => bias,
        };
        (self.matrix.design().rows(&features), bias)
    }
}

/// Scores of ascending features.
fn fill(design: &dyn Design, features: &[usize], v: &[f64], mut out: &mut [f64]) {
    for run in features.chunk_by(|a, b| a + 1 == *b) {
        let (now, later) = out.split_at_mut(run.len());
        design.dot_columns(run[0], v, now);
        out = later;
    }
}
