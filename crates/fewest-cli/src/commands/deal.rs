//! Samples dealt into folds: what `evaluate` and `path --cv` hold out in turn.

use super::raw::Raw;
use crate::args::notation;
use crate::failure::Failure;
use crate::terminal::Terminal;

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

    /// These folds without samples of weight 0, which are none, and without folds that then hold none;
    /// says which are left out.
    ///
    /// # Errors
    /// Fewer than two folds that are left, a fold whose training part lacks a class.
    pub(crate) fn with_weight(folds: Vec<Fold>, raw: &Raw, terminal: Terminal) -> Result<Vec<Fold>, Failure> {
        let weights = raw.weights();
        let (mut kept, mut empty) = (Vec::new(), Vec::new());
        for mut fold in folds {
            fold.test.retain(|&i| weights[i] > 0.0);
            if fold.test.is_empty() { empty.push(fold.name) } else { kept.push(fold) }
        }
        if !empty.is_empty() {
            let names = notation::some(&empty);
            terminal.note(&format!("left out, as without a sample of positive weight: {names}"));
        }
        if kept.len() < 2 {
            return Err(Failure::Input(format!(
                "{}: {} with samples of positive weight, but at least 2 are needed",
                raw.data.source,
                notation::plural(kept.len(), "fold")
            )));
        }
        for fold in &kept {
            let mut there = vec![false; raw.target.classes.len()];
            fold.train(weights.len())
                .into_iter()
                .filter(|&i| weights[i] > 0.0)
                .for_each(|i| there[raw.target.codes[i] as usize] = true);
            if let Some(class) = there.iter().position(|there| !there) {
                return Err(Failure::no_sample_left(&raw.target.classes[class]).within(&fold.name));
            }
        }
        Ok(kept)
    }

    /// Size of the test part over that of the training part, on average over the folds.
    pub(crate) fn test_share(folds: &[Fold], n: usize) -> f64 {
        let share = |fold: &Fold| fold.test.len() as f64 / (n - fold.test.len()) as f64;
        folds.iter().map(share).sum::<f64>() / folds.len() as f64
    }
}
