//! How good each size is on samples that took no part (`path --cv`), in words and in JSON.

use fewest_eval::sizes::SizeScores;
use serde_json::{Map, Value, json};

use crate::args::notation;
use crate::export::table;

/// How the samples are dealt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deal {
    /// Number of stratified folds.
    pub(super) cv: usize,
    /// Times they are dealt.
    pub(super) repeats: usize,
    /// Seed.
    pub(super) seed: u64,
}

/// How good each size is, and how the samples were dealt.
pub(super) struct SizeJudgement {
    pub(super) deal: Deal,
    pub(super) scores: SizeScores,
}

impl SizeJudgement {
    /// Measures of the size in this place of the list, with mean, standard error and interval.
    pub(super) fn summary(&self, at: usize) -> Map<String, Value> {
        self.scores.summaries(at).into_iter().map(|(name, summary)| (name.to_owned(), json!(summary))).collect()
    }

    /// Which sizes do best, in words.
    pub(super) fn sentence(&self) -> String {
        let Some((best, one_se)) = self.scores.chosen() else { return String::new() };
        let Deal { cv, repeats, .. } = self.deal;
        let dealt = if repeats > 1 { format!("{cv} folds dealt {repeats} times") } else { format!("{cv} folds") };
        let text = format!(
            "accuracy: mean over {dealt} on samples that took no part, with its standard error; best with at most {}; the smallest size within one standard error of that (*): {one_se}. Chosen by it, a size seems a little better than it is: `fewest evaluate --choose one-se` judges the choice as well",
            notation::plural(best, "feature"),
        );
        format!("\n{}", table::paragraph(&text, 0))
    }

    /// What the result says of the folds together.
    pub(super) fn value(&self) -> Value {
        let Deal { cv, repeats, seed } = self.deal;
        let (best, one_se) = self.scores.chosen().unzip();
        json!({
            "folds": cv, "repeats": repeats, "seed": seed, "done": self.scores.done(), "missing": self.scores.missing,
            "best_size": best, "one_se_size": one_se
        })
    }
}
