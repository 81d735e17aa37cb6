//! Samples dealt into folds: what `evaluate` and `path --cv` hold out in turn.

use super::raw::Raw;
use crate::failure::Failure;

/// One fold.
pub(crate) struct Fold {
    /// Repetition, from 0.
    pub(crate) repeat: usize,
    /// What it is called.
    pub(crate) name: String,
    /// Samples held out, ascending.
    pub(crate) test: Vec<usize>,
}

impl Fold {
    /// The samples of n that are not held out.
    pub(crate) fn train(&self, n: usize) -> Vec<usize> {
        (0..n).filter(|i| self.test.binary_search(i).is_err()).collect()
    }

    /// What a fold is called in messages.
    pub(crate) fn name(repeat: usize, fold: &str, repeats: usize) -> String {
        if repeats > 1 { format!("fold {fold} of repetition {}", repeat + 1) } else { format!("fold {fold}") }
    }

    /// Folds named by their numbers.
    pub(crate) fn numbered(count: usize, of: impl Fn(usize) -> Vec<usize>, repeat: usize, repeats: usize) -> Vec<Fold> {
        let fold = |f: usize| Fold { repeat, name: Self::name(repeat, &(f + 1).to_string(), repeats), test: of(f) };
        (0..count).map(fold).collect()
    }

    /// `cv` stratified folds, dealt `repeats` times.
    ///
    /// # Errors
    /// More folds than samples.
    pub(crate) fn stratified(raw: &Raw, cv: usize, repeats: usize, seed: u64) -> Result<Vec<Fold>, Failure> {
        let n = raw.target.codes.len();
        if cv > n {
            return Err(Failure::Input(format!("{}: --cv is {cv}, but there are {n} samples", raw.data.source)));
        }
        let deal = |repeat: usize| {
            let of = fewest_data::stratified_folds(&raw.strata(), cv, seed.wrapping_add(repeat as u64));
            Self::numbered(cv, |f| (0..n).filter(|&i| of[i] as usize == f).collect(), repeat, repeats)
        };
        Ok((0..repeats).flat_map(deal).collect())
    }

    /// Size of the test part over that of the training part, on average over the folds.
    pub(crate) fn test_share(folds: &[Fold], n: usize) -> f64 {
        let share = |fold: &Fold| fold.test.len() as f64 / (n - fold.test.len()) as f64;
        folds.iter().map(share).sum::<f64>() / folds.len() as f64
    }
}
