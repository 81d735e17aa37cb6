//! Clusters of the samples by a list of features alone, beside their classes.

use fewest_data::sampled;
use leiden_rs::metrics::{ari, nmi};
use leiden_rs::{GraphDataBuilder, Leiden, LeidenConfig, QualityType};
use rayon::prelude::*;
use serde::Serialize;

use crate::part::TrainingPart;

/// Samples that are clustered at most, of rare classes all.
const SAMPLES: usize = 5_000;
/// Nearest neighbours of a sample.
const NEIGHBOURS: usize = 15;
/// Resolutions of the clusters.
const RESOLUTIONS: [f64; 6] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.0];

/// How the samples lie by a list of features: each feature prepared as for the SVM, distances Euclidean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Clusters {
    /// Share of the 15 nearest neighbours of a sample that are of its class: mean over the samples of each
    /// class, then over the classes.
    pub neighbours: f64,
    /// Normalised mutual information of classes and Leiden clusters (Traag, Waltman, van Eck, 2019) of the
    /// graph of nearest neighbours, the largest over the resolutions 0.05 to 2.
    pub nmi: f64,
    /// Adjusted Rand index, the largest likewise.
    pub ari: f64,
    /// Samples that were clustered.
    pub samples: usize,
}

/// Clusters of the samples of a part by these features; none for three samples or fewer.
pub(crate) fn clusters(part: &TrainingPart, features: &[usize], seed: u64) -> Option<Clusters> {
    let rows = sampled(&part.target, SAMPLES, seed);
    if rows.len() <= 3 {
        return None;
    }
    let classes: Vec<usize> = rows.iter().map(|&i| part.target.codes[i] as usize).collect();
    let near = nearest(&values(part, features, &rows), features.len(), NEIGHBOURS.min(rows.len() - 1));
    let graph = graph(&near)?;
    let agreement = |resolution: f64| {
        let quality = QualityType::RBConfiguration;
        let config = LeidenConfig { resolution, seed: Some(seed), quality, ..LeidenConfig::default() };
        let found = Leiden::new(config).run(&graph).ok()?;
        let of: &[usize] = found.partition.as_slice();
        Some([nmi(of, &classes), ari(of, &classes)])
    };
    let each: Vec<[f64; 2]> = RESOLUTIONS.into_par_iter().filter_map(agreement).collect();
    let most = |at: usize| each.iter().map(|of| of[at]).reduce(f64::max);
    Some(Clusters {
        neighbours: of_same_class(&near, &classes, part.target.classes.len()),
        nmi: most(0)?,
        ari: most(1)?,
        samples: rows.len(),
    })
}

/// The values of these features in these samples, a sample after the other.
fn values(part: &TrainingPart, features: &[usize], rows: &[usize]) -> Vec<f64> {
    let mut out = vec![0.0; rows.len() * features.len()];
    let mut column = vec![0.0; part.weights.len()];
    for (at, &j) in features.iter().enumerate() {
        column.fill(0.0);
        part.design().add_column(j, 1.0, &mut column);
        rows.iter().enumerate().for_each(|(row, &i)| out[row * features.len() + at] = column[i]);
    }
    out
}

/// The nearest other samples of each, the nearest first; of equal ones the first.
fn nearest(values: &[f64], width: usize, count: usize) -> Vec<Vec<usize>> {
    let rows: Vec<&[f64]> = values.chunks(width.max(1)).collect();
    let of = |i: usize| {
        let far = |j: usize| rows[i].iter().zip(rows[j]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let mut each: Vec<(f64, usize)> = (0..rows.len()).filter(|&j| j != i).map(|j| (far(j), j)).collect();
        let order = |x: &(f64, usize), y: &(f64, usize)| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1));
        if count < each.len() {
            each.select_nth_unstable_by(count, order);
            each.truncate(count);
        }
        each.sort_unstable_by(order);
        each.into_iter().map(|of| of.1).collect()
    };
    (0..rows.len()).into_par_iter().map(of).collect()
}

/// The graph of nearest neighbours: an edge weighs the share of neighbours that both ends have in common
/// (Jaccard).
fn graph(near: &[Vec<usize>]) -> Option<leiden_rs::GraphData> {
    let mut builder = GraphDataBuilder::new(near.len());
    let sorted: Vec<Vec<usize>> = near
        .iter()
        .enumerate()
        .map(|(i, of)| {
            let mut of = of.clone();
            of.push(i);
            of.sort_unstable();
            of
        })
        .collect();
    for (i, of) in near.iter().enumerate() {
        for &j in of.iter().filter(|&&j| i < j || !near[j].contains(&i)) {
            let common = sorted[i].iter().filter(|k| sorted[j].binary_search(k).is_ok()).count() as f64;
            builder.add_edge(i, j, common / (2.0 * sorted[i].len() as f64 - common)).ok()?;
        }
    }
    builder.build().ok()
}

/// The mean over classes of the share of neighbours that are of the sample's own.
fn of_same_class(near: &[Vec<usize>], classes: &[usize], n_classes: usize) -> f64 {
    let mut by_class = vec![[0.0; 2]; n_classes];
    for (of, &class) in near.iter().zip(classes) {
        let same = of.iter().filter(|&&j| classes[j] == class).count();
        by_class[class][0] += same as f64 / of.len().max(1) as f64;
        by_class[class][1] += 1.0;
    }
    let means: Vec<f64> = by_class.iter().filter(|of| of[1] > 0.0).map(|of| of[0] / of[1]).collect();
    means.iter().sum::<f64>() / means.len().max(1) as f64
}
