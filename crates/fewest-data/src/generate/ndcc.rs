//! NDCC: normally distributed clusters on cubes, two classes for non-linear classifiers, among
//! irrelevant features.
//!
//! Model    6 d clusters for d relevant features: their centres are the vertices of three
//!          concentric 1-norm balls ("cubes") of radius 100, 300, 500. A cluster is normal with
//!          covariance R'R, every entry of R uniform on [0, E), E the expansion factor, which makes
//!          the classes overlap; it has a random share of the samples. Irrelevant features are
//!          standard normal.
//! Paper    Tamura, Takano, Miyashiro, Feature subset selection for kernel SVM classification via
//!          mixed-integer optimization, 2022, section 4.3, after Thompson, NDCC: normally
//!          distributed clustered datasets on cubes, 2006.
//! Steps    1. choose the relevant positions  2. for each cluster R, its class, its share  3. for
//!          each sample a cluster, then a point
//! Differs  Thompson's program is no longer available. Taken here: the cubes and radii of its
//!          multi-class successor MC-NDC (Moosaei et al. 2020), R and the uniform shares of its
//!          predecessor NDC (Musicant 1998), the classes, half of the clusters each, dealt at
//!          random, as in MC-NDC. Nothing is rounded or standardised here; selection standardises
//!          as eq. (25).
//! Fails    Settings out of range; a set whose samples are all of one class.

use fewest_svm::{DenseDesign, Error};
use serde::{Deserialize, Serialize};

use super::{Generator, SampleSet, check_relevant, dataset};
use crate::matrix::random::Random;
use crate::{DataError, Dataset, Features};

/// Radii of the cubes.
const RADII: [f64; 3] = [100.0, 300.0, 500.0];

/// Settings of an NDCC set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NdccSettings {
    /// Number of features p, at least 1.
    pub features: usize,
    /// Number d of relevant features, from 1 to p.
    pub relevant: usize,
    /// Expansion factor E, above 0; the paper has 25 and 100. Default 25.
    pub expansion: f64,
    /// Seed, default 1.
    pub seed: u64,
}

impl NdccSettings {
    /// d of p features relevant.
    pub fn new(features: usize, relevant: usize) -> Self {
        Self { features, relevant, expansion: 25.0, seed: 1 }
    }

    /// Refuses settings out of range.
    fn check(&self) -> Result<(), Error> {
        check_relevant(self.features, self.relevant)?;
        if !(self.expansion > 0.0 && self.expansion.is_finite()) {
            return Err(Error::setting("expansion", self.expansion, "a finite number above 0"));
        }
        Ok(())
    }
}

/// One normal distribution.
#[derive(Debug, Clone)]
struct Cluster {
    /// Length d.
    centre: Vec<f64>,
    /// R, row after row.
    root: Vec<f64>,
    positive: bool,
    /// Sum of the shares up to and with this cluster's; the last is 1.
    until: f64,
}

/// The clusters, and the samples to come.
#[derive(Debug, Clone)]
pub struct Ndcc {
    settings: NdccSettings,
    /// Positions of the relevant features, ascending.
    support: Vec<usize>,
    clusters: Vec<Cluster>,
}

impl Ndcc {
    /// Draws the clusters.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(settings: NdccSettings) -> Result<Self, DataError> {
        settings.check()?;
        let mut random = Random::new(settings.seed, 0);
        let d = settings.relevant;
        let mut support = random.sample(settings.features, d);
        support.sort_unstable();
        let count = 2 * RADII.len() * d;
        let mut positive = vec![false; count];
        random.sample(count, count / 2).into_iter().for_each(|at| positive[at] = true);
        let mut clusters = Vec::with_capacity(count);
        let mut sum = 0.0;
        for (at, positive) in positive.into_iter().enumerate() {
            let mut centre = vec![0.0; d];
            centre[at / 2 % d] = RADII[at / 2 / d] * if at % 2 == 0 { 1.0 } else { -1.0 };
            let root = (0..d * d).map(|_| settings.expansion * random.unit()).collect();
            sum += random.unit();
            clusters.push(Cluster { centre, root, positive, until: sum });
        }
        for cluster in &mut clusters {
            cluster.until /= sum;
        }
        Ok(Self { settings, support, clusters })
    }
}

impl Generator for Ndcc {
    fn draw(&self, part: SampleSet, samples: usize) -> Result<Dataset, DataError> {
        if samples < 2 {
            return Err(Error::setting("samples", samples, "at least 2").into());
        }
        let (n, p, d) = (samples, self.settings.features, self.settings.relevant);
        let mut random = Random::new(self.settings.seed, part.stream());
        let mut values = vec![0.0; n * p];
        let mut sides = Vec::with_capacity(n);
        for i in 0..n {
            let share = random.unit();
            let at = self.clusters.partition_point(|cluster| cluster.until <= share).min(self.clusters.len() - 1);
            let cluster = &self.clusters[at];
            for j in 0..p {
                values[j * n + i] = random.normal();
            }
            let normal: Vec<f64> = self.support.iter().map(|&j| values[j * n + i]).collect();
            for (k, &j) in self.support.iter().enumerate() {
                values[j * n + i] =
                    cluster.centre[k] + (0..d).map(|r| cluster.root[r * d + k] * normal[r]).sum::<f64>();
            }
            sides.push(cluster.positive);
        }
        dataset(Features::Dense(DenseDesign::new(n, p, values)?), &sides, part, "clusters on cubes", self.settings.seed)
    }

    fn support(&self) -> Vec<usize> {
        self.support.clone()
    }

    fn weights(&self) -> Option<&[f64]> {
        None
    }
}
