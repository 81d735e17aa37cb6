//! How good each size is on samples that took no part (`path --cv`), in words and in JSON.

use fewest_eval::sizes::{Reach, SizeScores};
use fewest_result::{ReachChoice, SizeChoice};

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
    /// What the smallest size is to reach.
    pub(super) reach: Option<Reach>,
}

/// How good each size is, and how the samples were dealt.
pub(super) struct SizeJudgement {
    pub(super) deal: Deal,
    pub(super) scores: SizeScores,
}

impl SizeJudgement {
    /// Which sizes do best, in words.
    pub(super) fn sentence(&self) -> String {
        let Some((best, one_se)) = self.scores.chosen() else { return String::new() };
        let Deal { cv, repeats, .. } = self.deal;
        let dealt = if repeats > 1 { format!("{cv} folds dealt {repeats} times") } else { format!("{cv} folds") };
        let text = format!(
            "accuracy: mean over {dealt} on samples that took no part, with its standard error; best with at most {}; the smallest size within one standard error of that (*): {one_se}. Chosen by it, a size seems a little better than it is: `fewest evaluate --choose one-se` judges the choice as well",
            notation::plural(best, "feature"),
        );
        let sentence = |found: ReachChoice| {
            fewest_report::reach_sentence([found.sensitivity, found.specificity], [found.size, found.certain_size])
        };
        let reached =
            self.reached().map_or_else(String::new, |found| format!("\n{}", table::paragraph(&sentence(found), 0)));
        format!("\n{}{reached}", table::paragraph(&text, 0))
    }

    /// The smallest size that reaches what was asked for.
    fn reached(&self) -> Option<ReachChoice> {
        let reach = self.deal.reach?;
        let [size, certain_size] = self.scores.reaching(reach);
        Some(ReachChoice { sensitivity: reach.sensitivity, specificity: reach.specificity, size, certain_size })
    }

    /// What the result says of the folds together.
    pub(super) fn choice(&self) -> SizeChoice {
        let Deal { cv, repeats, seed, .. } = self.deal;
        let (best_size, one_se_size) = self.scores.chosen().unzip();
        let (done, missing) = (self.scores.done(), self.scores.missing);
        SizeChoice { folds: cv, repeats, seed, done, missing, best_size, one_se_size, reach: self.reached() }
    }
}
