//! A design whose features far from 0 have a constant taken off: time stamps, wavelengths, a common
//! offset. What depends on differences alone (distances; a linear machine with a free bias) is the
//! same on it, and keeps the digits that products of large values would lose.

use rayon::prelude::*;

use super::{Design, RowMatrix};
use crate::simd;

/// A feature is far from 0 where its middle is more than this many times its half range away: its
/// squared values lose that squared of the digits of its squared differences.
const FAR: f64 = 32.0;

/// A design, and its features that are far from 0, less their middles.
pub struct Recentred<'a> {
    inner: Inner<'a>,
    /// Ascending by feature.
    far: Vec<Far>,
    /// 0, 1, ... n - 1, where the design is sparse: the samples of a column that has them all.
    samples: Vec<u32>,
}

enum Inner<'a> {
    Borrowed(&'a dyn Design),
    Owned(Box<dyn Design>),
}

struct Far {
    feature: usize,
    centre: f64,
    /// x_j - centre, length n.
    values: Vec<f64>,
}

/// Smallest and largest of the values of one column, and their number.
#[derive(Clone, Copy)]
struct Range {
    low: f64,
    high: f64,
    stored: usize,
}

impl Range {
    const NONE: Range = Range { low: f64::INFINITY, high: f64::NEG_INFINITY, stored: 0 };

    fn add(&mut self, x: f64) {
        (self.low, self.high) = (self.low.min(x), self.high.max(x));
        self.stored += 1;
    }

    fn of(design: &dyn Design, j: usize) -> Self {
        let mut range = Self::NONE;
        let all = |rows: &[u32]| rows.len() == design.n_samples();
        if let Some(x) = design.dense_column(j) {
            for x in x {
                range.add(*x);
            }
        } else if !design.sparse_column(j, &mut |rows, x, by| {
            x.iter().filter(|_| all(rows)).for_each(|x| range.add(x / by));
        }) {
            design.each_in_column(j, &mut |_, x| range.add(x));
        }
        range
    }
}

/// The middle of each range that is far from 0; 0 for the others, and where a zero of n is not
/// stored. Constant features are measured by the largest half range.
fn centres_of(ranges: &[Range], n: usize) -> Vec<f64> {
    let middle = |r: &Range| if r.stored == n { 0.5 * r.low + 0.5 * r.high } else { 0.0 };
    let half = |r: &Range| if r.stored == n { 0.5 * r.high - 0.5 * r.low } else { r.low.abs().max(r.high.abs()) };
    let widest = ranges.iter().filter(|r| r.stored > 0).fold(0.0, |most: f64, r| most.max(half(r)));
    let far = |r: &Range| middle(r).abs() > FAR * if half(r) > 0.0 { half(r) } else { widest };
    ranges.iter().map(|r| if r.stored > 0 && far(r) { middle(r) } else { 0.0 }).collect()
}

/// The middles of the columns of a matrix that are far from 0, 0 for the others; none where no
/// column is.
pub fn centres(rows: &RowMatrix) -> Option<Vec<f64>> {
    let mut ranges = vec![Range::NONE; rows.n_features()];
    (0..rows.n_samples()).for_each(|i| rows.row(i).each(|j, x| ranges[j].add(x)));
    Some(centres_of(&ranges, rows.n_samples())).filter(|centres| centres.iter().any(|c| *c != 0.0))
}

impl<'a> Recentred<'a> {
    /// A design less the middles of those of these features (ascending) that are far from 0; none
    /// where no feature is.
    pub fn new(design: &'a dyn Design, features: &[usize]) -> Option<Self> {
        let n = design.n_samples();
        let ranges: Vec<Range> = features.par_iter().map(|&j| Range::of(design, j)).collect();
        let centres = features.iter().copied().zip(centres_of(&ranges, n));
        let far = centres.filter(|(_, centre)| *centre != 0.0).map(|(feature, centre)| {
            let mut values = vec![0.0; n];
            design.add_column(feature, 1.0, &mut values);
            for x in &mut values {
                *x -= centre;
            }
            Far { feature, centre, values }
        });
        let far: Vec<Far> = far.collect();
        let samples = if design.is_sparse() { (0..n as u32).collect() } else { Vec::new() };
        (!far.is_empty()).then_some(Self { inner: Inner::Borrowed(design), far, samples })
    }

    /// [`Recentred::new`] of all features, for who absorbs constants; none for others.
    pub fn all(design: &'a dyn Design, absorbs: bool) -> Option<Self> {
        let all = || (0..design.n_features()).collect::<Vec<_>>();
        if absorbs { Self::new(design, &all()) } else { None }
    }

    fn inner(&self) -> &dyn Design {
        match &self.inner {
            Inner::Borrowed(design) => *design,
            Inner::Owned(design) => &**design,
        }
    }

    fn far(&self, j: usize) -> Option<&Far> {
        self.far.binary_search_by_key(&j, |far| far.feature).ok().map(|at| &self.far[at])
    }

    /// The value taken off feature j.
    pub fn centre(&self, j: usize) -> f64 {
        self.far(j).map_or(0.0, |far| far.centre)
    }
}

impl Design for Recentred<'_> {
    fn n_samples(&self) -> usize {
        self.inner().n_samples()
    }
    fn n_features(&self) -> usize {
        self.inner().n_features()
    }
    fn stored(&self) -> usize {
        self.inner().stored()
    }
    fn is_sparse(&self) -> bool {
        self.inner().is_sparse()
    }
    fn dot_column(&self, j: usize, v: &[f64]) -> f64 {
        self.far(j).map_or_else(|| self.inner().dot_column(j, v), |far| simd::dot(&far.values, v))
    }
    fn dot_columns(&self, first: usize, v: &[f64], out: &mut [f64]) {
        self.inner().dot_columns(first, v, out);
        let begin = self.far.partition_point(|far| far.feature < first);
        let end = first + out.len();
        for far in self.far[begin..].iter().take_while(|far| far.feature < end) {
            out[far.feature - first] = simd::dot(&far.values, v);
        }
    }
    fn add_column(&self, j: usize, s: f64, out: &mut [f64]) {
        match self.far(j) {
            Some(far) => simd::axpy(s, &far.values, out),
            None => self.inner().add_column(j, s, out),
        }
    }
    fn each_in_column(&self, j: usize, f: &mut dyn FnMut(usize, f64)) {
        match self.far(j) {
            Some(far) => far.values.iter().enumerate().for_each(|(i, x)| f(i, *x)),
            None => self.inner().each_in_column(j, f),
        }
    }
    fn sparse_column(&self, j: usize, f: &mut dyn FnMut(&[u32], &[f64], f64)) -> bool {
        match self.far(j) {
            Some(far) if self.is_sparse() => {
                f(&self.samples, &far.values, 1.0);
                true
            }
            Some(_) => false,
            None => self.inner().sparse_column(j, f),
        }
    }
    fn dense_column(&self, j: usize) -> Option<&[f64]> {
        match self.far(j) {
            Some(_) if self.is_sparse() => None,
            Some(far) => Some(&far.values),
            None => self.inner().dense_column(j),
        }
    }
    fn largest_value(&self) -> Option<f64> {
        self.inner().largest_value()
    }
    fn rows(&self, features: &[usize]) -> RowMatrix {
        let centres: Vec<f64> = features.iter().map(|&j| self.centre(j)).collect();
        self.inner().rows(features).less(&centres)
    }
    fn select_samples(&self, samples: &[usize]) -> Box<dyn Design> {
        let part = |far: &Far| Far { values: samples.iter().map(|&i| far.values[i]).collect(), ..*far };
        Box::new(Recentred {
            inner: Inner::Owned(self.inner().select_samples(samples)),
            far: self.far.iter().map(part).collect(),
            samples: self.samples[..samples.len().min(self.samples.len())].to_vec(),
        })
    }
}
