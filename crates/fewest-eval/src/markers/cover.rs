//! Features that tell each pair of classes apart by themselves.
//!
//! A feature tells two classes apart by itself where their means, in standard deviations of the feature, are
//! at least half as far from each other as those of the best feature for this pair.

use fewest::FeatureSet;

use super::expression::Expression;
use crate::error::EvalError;

/// Share of the largest distance of two classes that a feature which tells them apart has at least.
const APART: f64 = 0.5;

/// What tells each pair of classes apart.
#[derive(Debug, Default)]
pub(crate) struct Cover {
    /// Features that tell a pair apart by themselves, by pair.
    pairs: Vec<FeatureSet>,
    /// How many of them a panel has.
    pub(super) least: usize,
}

impl Cover {
    /// At least `least` features for each pair of classes, among those that are not left out; `table` is
    /// of the scaled features.
    ///
    /// # Errors
    /// A pair with fewer.
    pub(super) fn new(
        table: &[Expression],
        left_out: &FeatureSet,
        classes: &[String],
        least: usize,
    ) -> Result<Self, EvalError> {
        let mut pairs = Vec::new();
        for a in 0..classes.len() {
            for b in a + 1..classes.len() {
                let far = |of: &Expression| (of.mean[a] - of.mean[b]).abs();
                let allowed = || table.iter().filter(|of| !left_out.contains(of.feature) && far(of) > 0.0);
                let best = allowed().map(far).fold(0.0, f64::max);
                let apart: Vec<usize> = allowed().filter(|of| far(of) >= APART * best).map(|of| of.feature).collect();
                if apart.len() < least {
                    let [first, second] = [a, b].map(|class| classes[class].clone());
                    return Err(EvalError::FewApart { first, second, features: apart.len(), least });
                }
                pairs.push(apart.into_iter().collect());
            }
        }
        Ok(Self { pairs, least })
    }

    /// How many features are missing, summed up over the pairs.
    pub(super) fn missing(&self, panel: &[usize]) -> usize {
        let of = |pair: &FeatureSet| self.least.saturating_sub(panel.iter().filter(|&&j| pair.contains(j)).count());
        self.pairs.iter().map(of).sum()
    }
}
