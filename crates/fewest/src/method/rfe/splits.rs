//! SVM-RFE on every split of the samples, judging the samples held out at every size on the way.
//!
//! Solves   nothing exactly: one elimination ([`super::rfe_classes`]) on the training part of each
//!          split.
//! Paper    Ambroise, McLachlan, PNAS 99 (2002): features are ranked again inside every split, so
//!          that no held-out sample has a say in what is kept; scikit-learn's RFECV is this with a
//!          score on top.
//! Given    [`Samples`], Rules, [`RfeSettings`] without tuning, [`Split`]s.
//! Returns  a [`SplitPath`] for each split, in their order.
//! Steps    for each split: 1. train on the survivors  2. note the decision value of every held-out
//!          sample and machine
//!          3. drop the features of smallest criterion, until the rules allow what survives
//! Cost     that of the eliminations, and for each training one pass over a block of held-out by
//!          training kernel values (`held_out.rs`). Memory: a copy of the training part, for as
//!          many splits at a time as there are threads.
//! Fails    never on limits: each path then ends as [`super::rfe_classes`] does, and its status
//!          says so.
//!
//! Splits run in parallel and share nothing, so results do not depend on the number of threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::prelude::*;

use super::held_out::HeldOut;
use super::{Method, RfeSettings, eliminate};
use crate::model::elect;
use crate::validation::{Folds, Split};
use crate::{AllOrFirst as _, Design, Error, Event, Limits, Observer, RowMatrix, Rules, Samples, Selection, Subset};

/// The training part of a split and the samples held out, prepared.
pub type PreparedParts = (Box<dyn Design>, Box<dyn Design>);

/// The training samples and the held-out ones of a split as designs, from their indices.
pub type PartsOf<'a> = dyn Fn(&[usize], &[usize]) -> Result<PreparedParts, Error> + Sync + 'a;

/// Splits, and what is not the same in all of them.
#[derive(Clone, Copy)]
pub struct SplitParts<'a> {
    /// The splits.
    pub splits: &'a [Split],
    /// The weight of each sample in the training part of each split, splits x samples: weights of
    /// classes may be a function of the training part alone.
    pub weights: &'a [&'a [f64]],
    /// Makes the designs of a split: what is learnt from the training part (means, scales) can then
    /// be applied to both. None: the samples as they are.
    pub parts: Option<&'a PartsOf<'a>>,
}

/// The elimination of one split.
#[derive(Debug, Clone)]
pub struct SplitPath {
    /// Final subset, its objective on the training part, full ranking, status: those of
    /// [`super::rfe_classes`] on the training part.
    pub selection: Selection,
    /// Surviving features at each training, falling; the last one is the final subset's. A limit
    /// leaves sizes out: it ends the elimination with one jump.
    pub sizes: Vec<usize>,
    /// Decision values `f(x)`, sizes x held-out samples x machines, the last running fastest:
    /// samples in the order of [`Split::held_out`], one machine per pair of classes in the order
    /// (0,1), (0,2), ..., (1,2), ...; positive for the pair's second class.
    pub decisions: Vec<f64>,
    /// Number of classes.
    pub n_classes: u32,
}

impl SplitPath {
    /// The decision values at `sizes[at]`: held-out samples x machines.
    pub fn decisions_at(&self, at: usize) -> &[f64] {
        let one = self.decisions.len() / self.sizes.len();
        &self.decisions[at * one..(at + 1) * one]
    }

    /// The class of most votes for each held-out sample at `sizes[at]`.
    pub fn predictions_at(&self, at: usize) -> Vec<u32> {
        elect(self.n_classes, self.decisions_at(at))
    }

    /// The features that survived at `sizes[at]`: the first ones of the ranking.
    pub fn survivors_at(&self, at: usize) -> Subset {
        let ranking = &self.selection.ranking;
        Subset::from_indices(ranking.len(), ranking[..self.sizes[at]].iter().map(|r| r.feature))
    }
}

/// SVM-RFE on the training part of every split, with the decision values of the samples held out at
/// every training. `rules` say where to end: with at most one feature every size is passed. Samples
/// of weight 0 are left out of the training part.
///
/// `limits` hold for all splits together where they are of time, which is shared out evenly, and
/// for each of them where they are counts. `observer` hears [`Event::Progress`], summed over the
/// splits, from whatever thread works on one.
///
/// ```
/// use fewest::method::rfe::RfeSettings;
/// use fewest::method::rfe::splits::rfe_paths;
/// use fewest::validation::Folds;
/// use fewest::{Samples, DenseDesign, Limits, Rules, Silent};
///
/// // two columns of six samples
/// let x = vec![1.0, 1.2, 0.8, -1.0, -0.9, -1.1, 0.1, -0.2, 0.3, -0.1, 0.2, -0.3];
/// let design = DenseDesign::new(6, 2, x)?;
/// let data = Samples::new(&design, &[1, 1, 1, 0, 0, 0], None)?;
/// let splits = Folds::new(vec![0, 1, 2, 0, 1, 2])?.splits();
/// let rules = Rules::at_most_features(2, 1)?;
/// let (settings, limits) = (RfeSettings::default(), Limits::default());
/// let paths = rfe_paths(&data, &rules, &settings, &splits, limits, &mut Silent)?;
/// assert_eq!(paths[0].sizes, [2, 1]);
/// assert_eq!(paths[0].predictions_at(1), [1, 0]);
/// # Ok::<(), fewest::Error>(())
/// ```
///
/// # Errors
/// Settings out of range, tuning, a split with a sample that does not exist or without one of the
/// classes in its training part, or more memory needed than allowed.
pub fn rfe_paths(
    data: &Samples<'_>,
    rules: &Rules,
    settings: &RfeSettings,
    splits: &[Split],
    limits: Limits,
    observer: &mut (dyn Observer + Send),
) -> Result<Vec<SplitPath>, Error> {
    let weights = vec![data.weights(); splits.len()];
    rfe_paths_of(data, rules, settings, SplitParts { splits, weights: &weights, parts: None }, limits, observer)
}

/// As [`rfe_paths`], with weights and designs of their own in each split; the weights of `data` are
/// not used, and its design only where the splits have none.
///
/// # Errors
/// As [`rfe_paths`], weights that are not one for each sample and split, and those of the designs.
pub fn rfe_paths_of(
    data: &Samples<'_>,
    rules: &Rules,
    settings: &RfeSettings,
    SplitParts { splits, weights, parts }: SplitParts<'_>,
    limits: Limits,
    observer: &mut (dyn Observer + Send),
) -> Result<Vec<SplitPath>, Error> {
    settings.check(rules.p())?;
    limits.check()?;
    if settings.tuning.is_some() {
        return Err(Error::setting("tuning", "asked for", "none where samples are held out; fix the cost"));
    }
    if weights.len() != splits.len() || weights.iter().any(|w| w.len() != data.n_samples()) {
        let (n, count) = (data.n_samples(), splits.len());
        return Err(Error::Data(format!("give one weight for each of the {n} samples in each of the {count} splits")));
    }
    let of_split = |(at, (split, weights)): (usize, (&Split, &&[f64]))| training_weights(data, at, split, weights);
    let weights: Vec<Vec<f64>> = splits.iter().zip(weights).enumerate().map(of_split).collect::<Result<_, _>>()?;
    let (start, time) = (Instant::now(), limits.time);
    let counts = Limits { time: None, ..limits };
    let shared = Mutex::new(SharedObserver { observer, done: vec![0; splits.len()], start, stopped: false });
    let begun = AtomicUsize::new(0);
    let path = |(at, (split, weights)): (usize, (&Split, &Vec<f64>))| {
        // Its share of the time that is left: splits that are to come take as long.
        let to_come = splits.len() - begun.fetch_add(1, Ordering::Relaxed);
        let at_once = rayon::current_num_threads().min(to_come);
        let now = Instant::now();
        let time = time.map(|time| time.saturating_sub(now - start).mul_f64(at_once as f64 / to_come as f64));
        let observer = &mut SplitObserver { shared: &shared, split: at };
        one_path(
            data,
            rules,
            settings,
            (split, weights, parts),
            (counts.clone(), time.and_then(|time| now.checked_add(time))),
            observer,
        )
    };
    splits.par_iter().zip(&weights).enumerate().map(path).all_or_first()
}

/// The weight of each sample in the training part: 0 for those outside.
fn training_weights(data: &Samples<'_>, at: usize, split: &Split, of: &[f64]) -> Result<Vec<f64>, Error> {
    let n = data.n_samples();
    if let Some(i) = split.training.iter().chain(&split.held_out).find(|&&i| i >= n) {
        return Err(Error::Data(format!("split {at} names sample {i}, but there are {n}, counted from 0")));
    }
    let mut weights = vec![0.0; n];
    for &i in &split.training {
        weights[i] += of[i];
    }
    Folds::check_training(at, data.classes(), &weights)?;
    Ok(weights)
}

/// The elimination of one split.
fn one_path(
    data: &Samples<'_>,
    rules: &Rules,
    settings: &RfeSettings,
    (split, weights, parts): (&Split, &[f64], Option<&PartsOf<'_>>),
    (counts, end): (Limits, Option<Instant>),
    observer: &mut dyn Observer,
) -> Result<SplitPath, Error> {
    let bytes = RowMatrix::bytes(data.design(), rules.p());
    let remedy = "use fewer threads, which work on a copy each";
    let _copies = counts.memory.reserve(bytes, || "a copy of the samples of a split".to_owned(), remedy)?;
    let training: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    let mut samples = split.held_out.clone();
    samples.sort_unstable();
    samples.dedup();
    let copy: Box<dyn Design>;
    let (design, samples_design) = match parts {
        Some(parts) => {
            let made = parts(&training, &samples)?;
            copy = made.0;
            (&*copy, made.1)
        }
        None if training.len() == weights.len() => (data.design(), data.design().select_samples(&samples)),
        None => {
            copy = data.design().select_samples(&training);
            (&*copy, data.design().select_samples(&samples))
        }
    };
    let pick = |&i: &usize| (data.classes()[i], weights[i]);
    let (classes, weights): (Vec<u32>, Vec<f64>) = training.iter().map(pick).unzip();
    let part = Samples::new(design, &classes, Some(&weights))?;

    let held_out = HeldOut::new(&*samples_design, design, settings.kernel, &settings.svm)?;
    // The copies take their part of the time.
    let limits = Limits { time: end.map(|end| end.saturating_duration_since(Instant::now())), ..counts };
    let (report, made) = eliminate(&part, rules, settings, Some(held_out), limits, observer)?;

    // From ascending samples to the order asked for.
    let made = made.expect("samples were held out");
    let machines = (data.n_classes() * (data.n_classes() - 1) / 2) as usize;
    let places: Vec<usize> = split.held_out.iter().filter_map(|i| samples.binary_search(i).ok()).collect();
    let decisions = (made.decisions.chunks(samples.len().max(1) * machines))
        .flat_map(|one| places.iter().flat_map(move |at| &one[at * machines..][..machines]).copied())
        .collect();
    Ok(SplitPath { selection: report.selection, sizes: made.sizes, decisions, n_classes: data.n_classes() })
}

/// The observer of all splits: it hears their steps as one sum, and when it breaks, all of them
/// stop.
struct SharedObserver<'a> {
    observer: &'a mut (dyn Observer + Send),
    /// Steps done, by split.
    done: Vec<u64>,
    start: Instant,
    stopped: bool,
}

/// The observer of one split.
struct SplitObserver<'a, 'o> {
    shared: &'a Mutex<SharedObserver<'o>>,
    split: usize,
}

impl Observer for SplitObserver<'_, '_> {
    fn on(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Event::Progress { done, total, .. }, false) = (event, shared.stopped) {
            shared.done[self.split] = *done;
            let (done, splits) = (shared.done.iter().sum(), shared.done.len() as u64);
            let progress = Event::Progress { done, total: total.map(|t| t * splits), elapsed: shared.start.elapsed() };
            shared.stopped = shared.observer.on(&progress).is_break();
        }
        if shared.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
