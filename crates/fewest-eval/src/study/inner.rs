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

use fewest::{AllOrFirst as _, Error, Kernel};
use rayon::prelude::*;

use super::folds::Deal;
use super::grid::{FEW, FIT, Grid, Job, Key, costs, fit_cost};
use super::judge::judge;
use super::part::StudyPart;
use super::score::Scores;
use super::search::{Found, Search};
use super::settings::StudySettings;
use super::table::Row;
use crate::part::Data;
use crate::time::Deadline;

/// Candidates that share a subset and a size, with their kernels.
type Users = Vec<(Key, Kernel)>;

/// Scores of candidates, and the trainings they took.
type Judged = (Vec<(Key, Scores)>, u64);

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
    let search = Search::new(&part, settings, grid);
    let answers: Result<Vec<Option<Vec<Found>>>, Error> = jobs
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
        .all_or_first();
    let mut out = Row::default();
    // Users of each distinct question: subset, kernel, size.
    let mut questions: BTreeMap<(usize, Vec<usize>), Users> = BTreeMap::new();
    for (job, answer) in jobs.iter().zip(answers?) {
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
    let judged: Result<Vec<Judged>, Error> = questions
        .par_iter()
        .map(|((size, features), users)| {
            let mut scores = Vec::new();
            let mut trainings = 0;
            for kernel in kernels(users) {
                // The classifier's cost is at or above that of the selection.
                let of_kernel: Vec<Key> = users.iter().filter(|user| user.1 == kernel).map(|user| user.0).collect();
                let least = |key: &Key| if grid.methods[key.method].has_cost() { costs[key.cost] } else { 0.0 };
                let lowest = of_kernel.iter().map(least).fold(f64::INFINITY, f64::min);
                let tried = |fit: usize| kernel == Kernel::Linear || !grid.in_short || FEW.contains(&fit);
                let at = |fit: usize| {
                    let cost = fit_cost(part.size, kernel, grid.sizes[*size], fit);
                    (cost >= lowest && tried(fit)).then_some(cost)
                };
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
        .all_or_first();
    for (scores, trainings) in judged? {
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
    use fewest::{DenseDesign, Limits};
    use fewest_data::{Features, Target};

    use super::*;
    use crate::study::folds::{check, outer_deals, parts};
    use crate::study::grid::levels;

    #[test]
    fn levels_together_are_the_whole_grid() {
        let mut rng = fewest_testing::Rng::new(3);
        let codes: Vec<u32> = (0..40).map(|i| i % 2).collect();
        let values = (0..240).map(|at| rng.normal() + f64::from(codes[at % 40]) * f64::from(u8::from(at < 80)));
        let features = Features::Dense(DenseDesign::new(40, 6, values.collect::<Vec<_>>()).unwrap());
        let target = Target { column: "y".into(), classes: vec!["a".into(), "b".into()], codes };
        let weights = vec![1.0; 40];
        let data = Data::new(&features, &target, &weights);
        let settings = StudySettings { sizes: Some(vec![1, 2, 3]), ..StudySettings::default() };
        let grid = check(&data, &settings, &Limits::default()).unwrap().0;
        let outer = outer_deals(&data, &settings).unwrap();
        let split = &parts(&data, &settings, &outer).unwrap()[0].splits[0];
        let deadline = Deadline::new(&Limits::default(), None);
        let of = |jobs: &[Job]| row(&data, split, &grid, jobs, &settings, &deadline).unwrap();
        let levels = levels(&grid, &settings);
        let whole = of(&levels.concat());
        let mut together = Row::default();
        for jobs in &levels {
            together.add(of(jobs));
        }
        assert_eq!(levels.len(), 3);
        assert_eq!(levels.concat().len(), settings.cost_points + 2);
        assert_eq!((&together.scores, &together.subsets), (&whole.scores, &whole.subsets));
        assert_eq!((together.selections, together.cut), (whole.selections, false));
    }
}
