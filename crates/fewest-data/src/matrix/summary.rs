//! What is in a data set, for `fewest check`.

use std::collections::HashMap;

use rayon::prelude::*;
use serde::Serialize;

use crate::{Dataset, Features};

/// Counts and ranges of a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Samples.
    pub n_samples: usize,
    /// Features.
    pub n_features: usize,
    /// Stored values.
    pub stored: usize,
    /// Whether zeros are left out.
    pub sparse: bool,
    /// Values that are not 0, over n p.
    pub density: f64,
    /// Bytes of the matrix.
    pub bytes: u64,
    /// Class names and their rows, in class order; empty without a target.
    pub classes: Vec<(String, usize)>,
    /// Positions of features with one value only, ascending.
    pub constant: Vec<usize>,
    /// Features, constant ones left out, that equal an earlier one.
    pub duplicates: Vec<Duplicate>,
    /// Smallest value, zeros of sparse data included; 0 for an empty matrix.
    pub smallest: f64,
    /// Largest value.
    pub largest: f64,
    /// Smallest and largest value of each feature.
    pub ranges: Vec<(f64, f64)>,
}

/// A feature with the same values as an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Duplicate {
    /// Position of the feature.
    pub feature: usize,
    /// Position of the first feature with these values.
    pub of: usize,
}

/// Goes once through the data, features in parallel.
pub fn summary(data: &Dataset) -> Summary {
    let features = &data.features;
    let (n, p) = (features.n_samples(), features.n_features());
    let columns: Vec<Column> = (0..p).into_par_iter().map(|j| Column::of(features, j)).collect();
    let constant: Vec<usize> = (0..p).filter(|&j| columns[j].smallest == columns[j].largest).collect();
    let nonzero: usize = columns.iter().map(|c| c.nonzero).sum();
    let fold = |f: fn(f64, f64) -> f64, pick: fn(&Column) -> f64| columns.iter().map(pick).reduce(f).unwrap_or(0.0);
    let target = data.target.as_ref();
    Summary {
        n_samples: n,
        n_features: p,
        stored: features.as_design().stored(),
        sparse: features.as_design().is_sparse(),
        density: nonzero as f64 / (n as f64 * p as f64).max(1.0),
        bytes: features.bytes(),
        classes: target.map_or_else(Vec::new, |t| t.classes.iter().cloned().zip(t.counts()).collect()),
        duplicates: duplicates(features, &columns),
        constant,
        smallest: fold(f64::min, |c| c.smallest),
        largest: fold(f64::max, |c| c.largest),
        ranges: columns.iter().map(|c| (c.smallest, c.largest)).collect(),
    }
}

/// What one pass over a column tells.
struct Column {
    nonzero: usize,
    smallest: f64,
    largest: f64,
    /// The hash of the positions and bits of the values that are not 0.
    hash: u64,
}

impl Column {
    fn of(features: &Features, j: usize) -> Self {
        let (n, mut missing) = (features.n_samples(), 0);
        let mut column = Column { nonzero: 0, smallest: f64::INFINITY, largest: f64::NEG_INFINITY, hash: 0 };
        features.as_design().each_in_column(j, &mut |i, x| {
            missing += usize::from(x.is_nan());
            if x != 0.0 && !x.is_nan() {
                column.nonzero += 1;
                column.smallest = column.smallest.min(x);
                column.largest = column.largest.max(x);
                // FNV-like mixing; equality is checked value by value afterwards.
                column.hash = (column.hash ^ x.to_bits() ^ (i as u64).rotate_left(32))
                    .wrapping_mul(0x0000_0100_0000_01b3)
                    .rotate_left(23);
            }
        });
        if column.nonzero + missing < n || n == 0 {
            column.smallest = column.smallest.min(0.0);
            column.largest = column.largest.max(0.0);
        }
        column
    }
}

/// Features that equal an earlier one.
fn duplicates(features: &Features, columns: &[Column]) -> Vec<Duplicate> {
    let mut first: HashMap<(u64, usize), Vec<usize>> = HashMap::new();
    let mut found = Vec::new();
    for (j, column) in columns.iter().enumerate().filter(|(_, c)| c.smallest != c.largest) {
        let same = first.entry((column.hash, column.nonzero)).or_default();
        match same.iter().find(|&&of| equal(features, of, j)) {
            Some(&of) => found.push(Duplicate { feature: j, of }),
            None => same.push(j),
        }
    }
    found
}

fn equal(features: &Features, a: usize, b: usize) -> bool {
    match features {
        Features::Dense(design) => design.column(a) == design.column(b),
        Features::Sparse(design) => design.column(a) == design.column(b),
        Features::Mapped(design) => design.entries(a) == design.entries(b),
        Features::Centred(_) => features.column(a) == features.column(b),
    }
}
