//! Inside a training part: every candidate of the grid, selected, trained and judged on inner
//! splits.
//!
//! Given    samples of a part, inner splits of them.
//! Returns  one [`Row`] for each split: scores and subsets of every candidate.
//! Steps    1. prepare the samples learned from  2. select at every cost, every size
//!          3. train each distinct subset at every cost of the classifier, judge the samples held
//!          out
//! Cost     per split: an elimination and a few roots of `exact` for each cost, and a training on K
//!          features for each distinct subset and cost of the classifier.
//! Fails    never on limits: the row lists the jobs that were done.

use std::collections::BTreeMap;
use std::time::Instant;

use fewest::{Error, Kernel};
use rayon::prelude::*;

use super::judge::judge;
use super::part::{PartSize, StudyPart};
use super::score::Scores;
use super::search::{Found, Search};
use super::settings::{StudyMethod, StudySettings};
use super::table::{Job, Key, Row};
use crate::error::EvalError;
use crate::folds::places;
use crate::groups::count_of;
use crate::part::Data;
use crate::time::Deadline;

/// The grid of costs, over `1 / mean |x|^2`: from the larger of this and 1 / n ...
const LOWEST: f64 = 1e-4;
/// ... to this. Below 1 / n no sample reaches the margin, and the subset stays the same.
const HIGHEST: f64 = 1e2;
/// Costs of the classifier, over 1 / mean |x|^2 of the chosen features alone.
pub(crate) const FIT: [f64; 7] = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0];
/// What multiplies them for the Gaussian kernel.
const FIT_KERNEL: f64 = 10.0;

/// What is tried, for all parts of a study.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    pub(crate) methods: Vec<StudyMethod>,
    pub(crate) sizes: Vec<usize>,
    /// Methods that were not asked for and do not suit the data or the rules.
    pub(crate) left_out: Vec<StudyMethod>,
}

/// Rows of the data to learn from and to judge, both ascending.
#[derive(Debug, Clone)]
pub(crate) struct Deal {
    pub(crate) inside: Vec<usize>,
    pub(crate) outside: Vec<usize>,
}

/// Costs of the selections in a part, ascending.
pub(crate) fn costs(part: PartSize, settings: &StudySettings) -> Vec<f64> {
    let centre = if part.mean_square > 0.0 { 1.0 / part.mean_square } else { 1.0 };
    relative_costs(part.samples, settings).into_iter().map(|cost| centre * cost).collect()
}

/// Costs of the selections among so many samples, times mean |x|^2, ascending.
pub(crate) fn relative_costs(samples: usize, settings: &StudySettings) -> Vec<f64> {
    let (n, points) = (samples.max(1) as f64, settings.cost_points);
    let (low, high) = (LOWEST.max(1.0 / n).ln(), HIGHEST.ln());
    let at = |i: usize| if points == 1 { 0.5 } else { i as f64 / (points - 1) as f64 };
    (0..points).map(|i| (low + at(i) * (high - low)).exp()).collect()
}

/// The middle of the costs of a classifier.
pub(crate) fn fit_middle() -> usize {
    FIT.len() / 2
}

/// Cost number `fit` of a classifier on k features.
pub(crate) fn fit_cost(part: PartSize, kernel: Kernel, k: usize, fit: usize) -> f64 {
    if kernel != Kernel::Linear {
        return FIT_KERNEL * FIT[fit];
    }
    let each = part.mean_square / part.usable.max(1) as f64;
    FIT[fit] / (if each > 0.0 { each } else { 1.0 } * k as f64)
}

/// Inner splits of a part's rows: `repeats` times `folds` stratified folds, fewer where there are
/// fewer samples or groups.
///
/// # Errors
/// Groups that cannot be dealt.
pub(crate) fn splits(data: &Data<'_>, rows: &[usize], settings: &StudySettings, seed: u64) -> Result<Vec<Deal>, Error> {
    let units = data.groups_of(rows).map_or(rows.len(), |groups| count_of(&groups));
    let mut deals = Vec::new();
    for repeat in 0..settings.inner_repeats as u64 {
        let folds = settings.inner_folds.min(units);
        let of = data.deal(rows, folds, seed.wrapping_add(repeat)).map_err(EvalError::inside)?;
        for fold in 0..folds as u32 {
            let (outside, inside) = places(rows, |at| of[at] == fold);
            let deal = Deal { inside, outside };
            let codes = deal.inside.iter().map(|&i| data.target.codes[i]);
            let missing = (0..data.target.classes.len() as u32).any(|class| !codes.clone().any(|code| code == class));
            if !missing && !deal.outside.is_empty() {
                deals.push(deal);
            }
        }
    }
    Ok(deals)
}

/// Candidates that share a subset and a size, with their kernels.
type Users = Vec<(Key, Kernel)>;

/// Scores of candidates, and the trainings they took.
type Judged = (Vec<(Key, Scores)>, u64);

/// The jobs of a grid, coarse first: methods without a cost and the middle of the costs, then
/// costs half way to the ends, then all others.
pub(crate) fn levels(grid: &Grid, settings: &StudySettings) -> Vec<Vec<Job>> {
    let without = (0..grid.methods.len()).filter(|&at| !grid.methods[at].has_cost()).map(Job::Method);
    let mut levels: Vec<Vec<Job>> = vec![without.collect()];
    if grid.methods.iter().any(|method| method.has_cost()) {
        let points = settings.cost_points;
        let middle = points / 2;
        let between = [middle / 2, usize::midpoint(middle, points)];
        let level = |at: usize| usize::from(at != middle) + usize::from(at != middle && !between.contains(&at));
        for wanted in 0..3 {
            let jobs: Vec<Job> = (0..points).filter(|&at| level(at) == wanted).map(Job::Cost).collect();
            if wanted == 0 { levels[0].extend(jobs) } else { levels.push(jobs) }
        }
    }
    levels.retain(|jobs| !jobs.is_empty());
    levels
}

/// The candidates of these jobs on one split.
pub(crate) fn row(
    data: &Data<'_>,
    deal: &Deal,
    grid: &Grid,
    jobs: &[Job],
    settings: &StudySettings,
    deadline: &Deadline,
) -> Result<Row, Error> {
    let begun = Instant::now();
    // Step 1.
    let part = StudyPart::new(data, &deal.inside, settings)?;
    let held = part.hold_out(data, &deal.outside)?;
    let costs = costs(part.size, settings);
    // Step 2.
    let search = Search::new(&part, settings, &grid.methods, &grid.sizes);
    let answers: Vec<Option<Vec<Found>>> = jobs
        .par_iter()
        .map(|job| {
            if deadline.stop().is_some() {
                return Ok(None);
            }
            let limits = deadline.limits(0.5);
            let found = match *job {
                Job::Cost(cost) => search.at_cost(costs[cost], &limits)?,
                Job::Method(method) => search.without_cost(grid.methods[method], &limits)?,
            };
            Ok((!deadline.cancelled()).then_some(found))
        })
        .collect::<Result<_, Error>>()?;
    let mut out = Row::default();
    // Users of each distinct question: subset, kernel, size.
    let mut questions: BTreeMap<(usize, Vec<usize>), Users> = BTreeMap::new();
    for (job, answer) in jobs.iter().zip(answers) {
        let Some(found) = answer else { continue };
        out.jobs.push(*job);
        let cost = if let Job::Cost(cost) = job { *cost } else { 0 };
        for Found { size, method, features, kernel } in found {
            let key = Key { size, cost, fit: 0, method };
            out.subsets.push((key, features.clone()));
            out.selections += 1;
            questions.entry((size, features)).or_default().push((key, kernel));
        }
    }
    // Step 3.
    let judged: Vec<Judged> = questions
        .par_iter()
        .map(|((size, features), users)| {
            let mut scores = Vec::new();
            let mut trainings = 0;
            for kernel in kernels(users) {
                // The classifier's cost is at or above that of the selection.
                let of_kernel: Vec<Key> = users.iter().filter(|user| user.1 == kernel).map(|user| user.0).collect();
                let least = |key: &Key| if grid.methods[key.method].has_cost() { costs[key.cost] } else { 0.0 };
                let lowest = of_kernel.iter().map(least).fold(f64::INFINITY, f64::min);
                let at =
                    |fit: usize| Some(fit_cost(part.size, kernel, grid.sizes[*size], fit)).filter(|&c| c >= lowest);
                let fits: Vec<Option<f64>> = (0..FIT.len()).map(at).collect();
                let found = judge(&part, &held, &settings.svm, features, kernel, &fits, &deadline.clock())?;
                trainings += found.iter().flatten().count() as u64;
                for (fit, (cost, found)) in fits.iter().zip(found).enumerate() {
                    let (Some(cost), Some(found)) = (cost, found) else { continue };
                    let users = of_kernel.iter().filter(|key| *cost >= least(key));
                    scores.extend(users.map(|key| (Key { fit, ..*key }, found)));
                }
            }
            Ok((scores, trainings))
        })
        .collect::<Result<_, Error>>()?;
    for (scores, trainings) in judged {
        out.scores.extend(scores);
        out.trainings += trainings;
    }
    out.scores.sort_by_key(|entry| entry.0);
    out.subsets.sort_by_key(|entry| entry.0);
    out.cut = deadline.stop().is_some();
    out.milliseconds = begun.elapsed().as_millis() as u64;
    Ok(out)
}

/// The kernels of some candidates, each once.
fn kernels(users: &[(Key, Kernel)]) -> Vec<Kernel> {
    let mut kernels: Vec<Kernel> = Vec::new();
    for (_, kernel) in users {
        if !kernels.contains(kernel) {
            kernels.push(*kernel);
        }
    }
    kernels
}

#[cfg(test)]
mod tests {
    use fewest::DenseDesign;
    use fewest_data::{Features, Target};

    use super::*;

    #[test]
    fn splits_keep_groups_together_and_are_as_many_as_there_are_groups_at_most() {
        let groups: Vec<u32> = (0..60).map(|i| i * 7 % 60 / 5).collect();
        let codes: Vec<u32> = groups.iter().map(|g| g % 2).collect();
        let target = Target { column: "y".into(), classes: vec!["a".into(), "b".into()], codes };
        let features = Features::Dense(DenseDesign::new(60, 1, vec![0.0; 60]).unwrap());
        let weights = vec![1.0; 60];
        let data = Data { groups: Some(&groups), ..Data::new(&features, &target, &weights) };
        let rows: Vec<usize> = (0..60).filter(|&i| groups[i] < 8).collect();
        for (folds, made) in [(4, 4), (20, 8)] {
            let settings = StudySettings { inner_folds: folds, inner_repeats: 2, ..StudySettings::default() };
            let deals = splits(&data, &rows, &settings, 1).unwrap();
            assert_eq!(deals.len(), 2 * made);
            for Deal { inside, outside } in &deals {
                assert_eq!(inside.len() + outside.len(), rows.len());
                assert!(inside.iter().all(|&i| outside.iter().all(|&j| groups[i] != groups[j])));
            }
        }
    }
}
