//! How good each size is on samples that took no part (`path --cv`): the path anew on the training
//! part of each fold, and the classifier of each size judged on the samples held out.

use std::sync::Mutex;

use fewest::Cancel;
use fewest::validation::{FoldMetrics, Metrics, SizeRule, Summary, choose_size, summaries};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use crate::args::notation;
use crate::args::rules::RuleSource;
use crate::commands::deal::Fold;
use crate::commands::held_out::{FoldModel, HeldOut};
use crate::commands::part::PartLearner;
use crate::commands::raw::Raw;
use crate::commands::share::FoldTimes;
use crate::export::table;
use crate::failure::Failure;
use crate::method_args::MethodOptions;
use crate::terminal::Terminal;

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

/// What a fold says of every size.
struct FoldScores {
    repeat: usize,
    /// Metrics and confusion matrix of each size.
    sizes: Vec<(Metrics, Vec<Vec<u64>>)>,
    /// Whether a limit stopped a selection.
    stopped: bool,
}

impl FoldScores {
    /// What it says of the size in this place of the list.
    fn judged(&self, at: usize) -> FoldMetrics<'_> {
        let (metrics, confusion) = &self.sizes[at];
        FoldMetrics { repeat: self.repeat, metrics, confusion }
    }
}

/// How good each size is.
pub(super) struct SizeScores {
    deal: Deal,
    sizes: Vec<usize>,
    /// Of the folds that are done.
    folds: Vec<FoldScores>,
    /// Folds that the limit or Ctrl-C left out.
    pub(super) missing: usize,
    /// Samples held out over samples trained on.
    test_share: f64,
}

/// The method with its rules.
pub(super) struct PathLearner<'a> {
    pub(super) part: PartLearner<'a>,
    pub(super) options: &'a MethodOptions,
    /// Rules with the largest size.
    pub(super) source: &'a RuleSource,
    pub(super) sizes: &'a [usize],
}

impl PathLearner<'_> {
    /// Judges every size on every fold; what time does not allow is left out.
    ///
    /// # Errors
    /// More folds than samples, or a fold that the method fails in, which is named.
    pub(super) fn judge(
        &self,
        raw: &Raw,
        deal: Deal,
        times: impl FnOnce(usize) -> FoldTimes,
        cancel: &Cancel,
        terminal: Terminal,
    ) -> Result<SizeScores, Failure> {
        let folds = Fold::stratified(raw, deal.cv, deal.repeats, deal.seed)?;
        let folds = Fold::with_weight(folds, raw, terminal)?;
        let times = times(folds.len());
        let done = Mutex::new((0..folds.len()).map(|_| None).collect::<Vec<Option<FoldScores>>>());
        let job = |at: usize| -> Result<(), Failure> {
            if cancel.is_cancelled() || times.is_over() {
                return Ok(());
            }
            let found =
                self.fold(raw, &folds[at], &times, cancel).map_err(|failure| failure.within(&folds[at].name))?;
            done.lock().expect("no thread panics while it holds the results")[at] = found;
            Ok(())
        };
        let failures: Vec<Failure> = (0..folds.len()).into_par_iter().filter_map(|at| job(at).err()).collect();
        if let Some(first) = failures.into_iter().next() {
            return Err(first);
        }
        let done = done.into_inner().expect("no thread panics while it holds the results");
        let missing = done.iter().filter(|fold| fold.is_none()).count();
        let test_share = Fold::test_share(&folds, raw.target.codes.len());
        let (sizes, folds) = (self.sizes.to_vec(), done.into_iter().flatten().collect());
        Ok(SizeScores { deal, sizes, folds, missing, test_share })
    }

    /// The path on the samples outside a fold, judged on those inside; nothing when cancelled.
    fn fold(&self, raw: &Raw, fold: &Fold, times: &FoldTimes, cancel: &Cancel) -> Result<Option<FoldScores>, Failure> {
        let train = fold.train(raw.target.codes.len());
        // The choice of the cost has half of the time.
        let mut time = times.next(if self.options.chooses_cost() { 2 } else { 1 });
        let options = self.part.with_costs(raw, &train, self.options, self.source, &mut time, cancel)?;
        let prepared = self.part.prepare(raw, &train)?;
        let found = PartLearner::path(&prepared, &options, self.source, self.sizes, &mut time, cancel)?;
        let held = HeldOut::new(raw, &fold.test, &prepared)?;
        let mut sizes = Vec::new();
        for selection in &found {
            let learned = FoldModel::train(&prepared, selection, (&options, options.fit_cost()), cancel)?;
            let judged = learned.predict(&prepared, &held)?;
            let classes = raw.target.classes.len();
            sizes.push((judged.metrics(classes), judged.confusion(classes)));
        }
        let whole = sizes.len() == self.sizes.len() && !cancel.is_cancelled();
        Ok(whole.then(|| FoldScores { repeat: fold.repeat, sizes, stopped: time.cut_short() }))
    }
}

impl SizeScores {
    /// Whether a limit left anything out or cut a selection short.
    pub(super) fn stopped(&self) -> bool {
        self.missing > 0 || self.folds.iter().any(|fold| fold.stopped)
    }

    /// The size of the best mean accuracy, and the smallest within one standard error of it; none
    /// where no fold is done.
    pub(super) fn chosen(&self) -> Option<(usize, usize)> {
        let of = |at: usize| self.folds.iter().map(|fold| fold.sizes[at].0.accuracy).collect::<Vec<f64>>();
        let scores: Vec<Vec<f64>> = (0..self.sizes.len()).map(of).collect();
        let size = |rule| choose_size(&scores, rule).ok().map(|at| self.sizes[at]);
        size(SizeRule::Best).zip(size(SizeRule::OneSe))
    }

    fn summaries(&self, at: usize) -> Vec<(&'static str, Summary)> {
        let judged: Vec<FoldMetrics<'_>> = self.folds.iter().map(|fold| fold.judged(at)).collect();
        summaries(&judged, self.test_share)
    }

    /// Measures of the size in this place of the list, with mean, standard error and interval.
    pub(super) fn summary(&self, at: usize) -> Map<String, Value> {
        self.summaries(at).into_iter().map(|(name, summary)| (name.to_owned(), json!(summary))).collect()
    }

    /// Accuracy of the size in this place; none where no fold is done.
    pub(super) fn accuracy(&self, at: usize) -> Option<Summary> {
        self.summaries(at).into_iter().find(|(name, _)| *name == "accuracy").map(|(_, accuracy)| accuracy)
    }

    /// Which sizes do best, in words.
    pub(super) fn sentence(&self) -> String {
        let Some((best, one_se)) = self.chosen() else { return String::new() };
        let Deal { cv, repeats, .. } = self.deal;
        let dealt = if repeats > 1 { format!("{cv} folds dealt {repeats} times") } else { format!("{cv} folds") };
        let text = format!(
            "accuracy: mean over {dealt} on samples that took no part, with its standard error; best with at most {}; the smallest size within one standard error of that (*): {one_se}. Chosen by it, a size looks a little better than it is: `fewest evaluate --choose one-se` judges the choice as well",
            notation::plural(best, "feature"),
        );
        format!("\n{}", table::paragraph(&text, 0))
    }

    /// What the result says of the folds together.
    pub(super) fn value(&self) -> Value {
        let Deal { cv, repeats, seed } = self.deal;
        let (best, one_se) = self.chosen().unzip();
        json!({
            "folds": cv, "repeats": repeats, "seed": seed, "done": self.folds.len(), "missing": self.missing,
            "best_size": best, "one_se_size": one_se
        })
    }
}
