//! Selects from a matrix that is nowhere in memory: 200 samples of 20,000 features, each column
//! computed when it is asked for. Columns on a disk or on other machines are a [`Source`], too.
//!
//!     cargo run --release -p fewest --example own_source

#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use fewest::method::fgm::{FgmSettings, fgm_from};
use fewest::{Error, FeatureScore, Limits, RowMatrix, Rules, ScoreQuery, Silent, Source};

const SAMPLES: usize = 200;
const FEATURES: usize = 20_000;
const TRUE: [usize; 3] = [17, 4_242, 19_000];

fn label(i: usize) -> f64 {
    if i.is_multiple_of(2) { -1.0 } else { 1.0 }
}

/// The matrix as a function of row and column: noise from -2 to 2, and in three columns the class.
struct Noise;

impl Noise {
    fn value(i: usize, j: usize) -> f64 {
        let mixed = ((i * FEATURES + j) as u64 ^ 0x9e37_79b9).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let noise = 4.0 * (mixed >> 32) as f64 / f64::from(u32::MAX) - 2.0;
        if TRUE.contains(&j) { noise + label(i) } else { noise }
    }
}

impl Source for Noise {
    fn n_samples(&self) -> usize {
        SAMPLES
    }
    fn n_features(&self) -> usize {
        FEATURES
    }

    fn scores(&self, v: &[f64]) -> Result<Vec<f64>, Error> {
        // Only samples of weight count. A source that fails returns Error::Source with the reason.
        let support: Vec<usize> = (0..SAMPLES).filter(|&i| v[i] != 0.0).collect();
        let score = |j: usize| support.iter().map(|&i| v[i] * Self::value(i, j)).sum();
        Ok((0..FEATURES).map(score).collect())
    }

    fn largest(&self, v: &[f64], query: &ScoreQuery) -> Result<Vec<FeatureScore>, Error> {
        let scores = self.scores(v)?;
        let counted = |j: usize| FeatureScore { feature: j, score: query.counted(j, scores[j]) };
        let mut found: Vec<FeatureScore> = (0..FEATURES).filter(|&j| query.has(j)).map(counted).collect();
        found.sort_by(|a, b| b.score.abs().total_cmp(&a.score.abs()).then(a.feature.cmp(&b.feature)));
        found.truncate(query.most);
        found.extend(query.always.iter().map(|&j| counted(j)));
        Ok(found)
    }

    fn rows(&self, features: &[usize]) -> Result<RowMatrix, Error> {
        let row = |i: usize| features.iter().map(move |&j| Self::value(i, j));
        Ok(RowMatrix::dense(SAMPLES, features.len(), (0..SAMPLES).flat_map(row).collect()))
    }
}

fn main() -> Result<(), Error> {
    let labels: Vec<f64> = (0..SAMPLES).map(label).collect();
    let rules = Rules::at_most_features(FEATURES, 3)?;
    let found = fgm_from(&Noise, &labels, None, &rules, &FgmSettings::default(), Limits::default(), &mut Silent)?;
    let outcome = found.selection.outcome;
    println!("{}: features {:?} of {FEATURES}", outcome.status.name(), outcome.features());
    assert_eq!(outcome.features(), TRUE);
    Ok(())
}
