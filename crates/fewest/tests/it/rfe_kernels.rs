//! SVM-RFE with kernels, several classes and tuned costs, against loops that compute everything
//! from its definition at every step.

use fewest::dual::train::train;
use fewest::kernel::{Gamma, KernelRule};
use fewest::kernel_oracle::Criterion;
use fewest::method::rfe::{RfeReport, RfeSettings, Step, Tuning, rfe_classes};
use fewest::model::{FitSettings, fit};
use fewest::validation::Folds;
use fewest::{Clock, Design, Kernel, Limits, Rules, Samples, Silent, Status, SvmSettings};
use fewest_testing::{RandomProblem, Rng, dense_copy};

const RBF: Kernel = Kernel::Rbf { gamma: 0.3 };
const LAPLACE: Kernel = Kernel::Laplace { gamma: 0.3 };
const POLY: Kernel = Kernel::Poly { gamma: 0.2, coef0: 1.0, degree: 3 };

/// A design, and classes 0 to k - 1 that its first columns carry.
fn draw(n: usize, p: usize, k: u32, density: f64, seed: u64) -> (Box<dyn Design>, Vec<u32>) {
    let draw = RandomProblem { n, p, density, noise: 0.1, seed };
    let design: Box<dyn Design> = if density < 1.0 { Box::new(draw.draw_sparse().0) } else { Box::new(draw.draw().0) };
    let rows = dense_copy(&*design);
    let mut rng = Rng::new(seed + 1);
    let score = |row: &Vec<f64>, c: u32| row[c as usize % p] - 0.5 * row[(c as usize + 2) % p];
    let classes = rows.iter().enumerate().map(|(i, row)| {
        if i < k as usize || rng.below(10) == 0 {
            return i as u32 % k;
        }
        (0..k).max_by(|&a, &b| score(row, a).total_cmp(&score(row, b))).unwrap()
    });
    let classes: Vec<u32> = classes.collect();
    (design, classes)
}

fn settings(kernel: KernelRule, criterion: Criterion, step: usize) -> RfeSettings {
    let svm = SvmSettings { tolerance: 1e-11, cost: 2.0, ..SvmSettings::default() };
    RfeSettings { svm, kernel, criterion, step: Step::Count(step), ..RfeSettings::default() }
}

fn run(data: &Samples<'_>, k: usize, settings: &RfeSettings) -> RfeReport {
    let rules = Rules::at_most_features(data.n_features(), k).unwrap();
    rfe_classes(data, &rules, settings, Limits::default(), &mut Silent).unwrap()
}

fn value(kernel: Kernel, a: &[f64], b: &[f64], features: &[usize]) -> f64 {
    let dot: f64 = features.iter().map(|&j| a[j] * b[j]).sum();
    let distance: f64 = features.iter().map(|&j| (a[j] - b[j]).powi(2)).sum();
    match kernel {
        Kernel::Rbf { gamma } => (-gamma * distance).exp(),
        Kernel::Laplace { gamma } => (-gamma * features.iter().map(|&j| (a[j] - b[j]).abs()).sum::<f64>()).exp(),
        Kernel::Poly { gamma, coef0, degree } => (gamma * dot + coef0).powi(degree as i32),
        _ => dot,
    }
}

/// The loop of the paper, every kernel value and every training from nothing: survivors, the
/// features in the order they left, and the smallest relative distance between a criterion that
/// left and the next one.
fn from_scratch(data: &Samples<'_>, k: usize, settings: &RfeSettings) -> (Vec<usize>, Vec<usize>, f64) {
    let rows = dense_copy(data.design());
    let Step::Count(step) = settings.step else { panic!("counted steps only") };
    let mut alive: Vec<usize> = (0..data.n_features()).collect();
    let (mut left, mut closest) = (Vec::new(), f64::INFINITY);
    while alive.len() > k {
        let kernel = settings.kernel.at(alive.len());
        let mut criteria = vec![0.0; alive.len()];
        for a in 0..data.n_classes() {
            for b in a + 1..data.n_classes() {
                let pair: Vec<usize> = (0..rows.len()).filter(|&i| [a, b].contains(&data.classes()[i])).collect();
                let y: Vec<f64> = pair.iter().map(|&i| if data.classes()[i] == b { 1.0 } else { -1.0 }).collect();
                let part = data.design().select_samples(&pair);
                let weights = vec![1.0; y.len()];
                let beta =
                    train(&*part, &alive, &y, &weights, kernel, &settings.svm, &Clock::unlimited()).unwrap().beta;
                for (at, &j) in alive.iter().enumerate() {
                    let rest: Vec<usize> = alive.iter().copied().filter(|&l| l != j).collect();
                    criteria[at] += if settings.criterion == Criterion::Margin {
                        let mut sum = 0.0;
                        for (&i, &bi) in pair.iter().zip(&beta) {
                            for (&h, &bh) in pair.iter().zip(&beta) {
                                let with = value(kernel, &rows[i], &rows[h], &alive);
                                sum += 0.5 * bi * bh * (with - value(kernel, &rows[i], &rows[h], &rest));
                            }
                        }
                        sum
                    } else {
                        pair.iter().zip(&beta).map(|(&i, &b)| b * rows[i][j]).sum::<f64>().powi(2)
                    };
                }
            }
        }
        let mut order: Vec<usize> = (0..alive.len()).collect();
        order.sort_by(|&a, &b| criteria[a].total_cmp(&criteria[b]).then(b.cmp(&a)));
        let drop = step.min(alive.len() - k);
        for w in order[..=drop.min(order.len() - 1)].windows(2) {
            closest = closest.min((criteria[w[1]] - criteria[w[0]]) / criteria[w[1]].abs());
        }
        left.extend(order[..drop].iter().map(|&at| alive[at]));
        alive = alive.iter().copied().filter(|j| !left.contains(j)).collect();
    }
    (alive, left, closest)
}

#[test]
fn equals_a_recomputation_from_scratch_at_every_step() {
    let per_feature = KernelRule::new(Kernel::Rbf { gamma: 1.0 }, Gamma::PerFeature);
    let mut compared = [0; 4];
    for (n, p, k, density) in [(24, 9, 2, 1.0), (30, 14, 3, 1.0), (36, 8, 4, 1.0), (30, 12, 2, 0.4), (30, 10, 3, 0.4)] {
        for seed in 0..2 {
            let (design, classes) = draw(n, p, k, density, seed);
            let data = Samples::new(&*design, &classes, None).unwrap();
            let kernels = [RBF.into(), per_feature, LAPLACE.into(), POLY.into(), Kernel::Linear.into()];
            for (at, kernel) in kernels.into_iter().enumerate() {
                for criterion in [Criterion::Margin, Criterion::InputWeights] {
                    for step in [1, 3] {
                        let settings = settings(kernel, criterion, step);
                        let (alive, left, closest) = from_scratch(&data, 2, &settings);
                        if closest < 1e-4 {
                            continue;
                        }
                        compared[at.min(3)] += 1;
                        let found = run(&data, 2, &settings).selection;
                        let what = format!("{n} {p} {k} {density} {seed} {settings:?}");
                        assert_eq!(found.outcome.subset.unwrap().iter().collect::<Vec<_>>(), alive, "{what}");
                        let ranked: Vec<usize> = found.ranking[2..].iter().rev().map(|r| r.feature).collect();
                        assert_eq!(ranked, left, "{what}");
                    }
                }
            }
        }
    }
    assert!(compared.iter().all(|&c| c > 25), "runs without a tie: {compared:?}");
}

#[test]
fn the_margin_criterion_bounds_the_rise_of_the_objective() {
    let (design, classes) = draw(30, 8, 2, 1.0, 5);
    let data = Samples::new(&*design, &classes, None).unwrap();
    let settings = settings(RBF.into(), Criterion::Margin, 1);
    let objective = |k: usize| run(&data, k, &settings).selection.outcome.objective.unwrap();
    let ranking = run(&data, 1, &settings).selection.ranking;
    for k in 1..8 {
        let margin = ranking[k].criterion;
        assert!(objective(k) >= objective(k + 1) + margin - 1e-8, "{k}: {margin}");
    }
}

#[test]
fn the_objective_is_that_of_the_machines_on_the_subset() {
    for k in [2, 4] {
        let (design, classes) = draw(40, 10, k, 1.0, 9);
        let data = Samples::new(&*design, &classes, None).unwrap();
        let settings = settings(RBF.into(), Criterion::Margin, 2);
        let outcome = run(&data, 3, &settings).selection.outcome;
        let features: Vec<usize> = outcome.subset.unwrap().iter().collect();
        let fit_settings = FitSettings { svm: settings.svm.clone(), kernel: RBF, ..FitSettings::default() };
        let model = fit(&*design, &features, &classes, data.weights(), &fit_settings, &Clock::unlimited()).unwrap();
        let sum: f64 = model.machines.iter().map(|m| m.solution.primal).sum();
        assert!((outcome.objective.unwrap() - sum).abs() < 1e-8 * sum);
    }
}

/// Mean accuracy over the folds of models trained from nothing on the other folds.
fn accuracy(data: &Samples<'_>, features: &[usize], folds: &Folds, settings: &FitSettings) -> f64 {
    let of_fold = |f: usize| {
        let (train, test) = folds.split(f);
        let part =
            |rows: &[usize]| (data.design().select_samples(rows), rows.iter().map(|&i| data.classes()[i]).collect());
        let ((x, c), (xt, ct)): ((_, Vec<u32>), (_, Vec<u32>)) = (part(&train), part(&test));
        let model = fit(&*x, features, &c, &vec![1.0; c.len()], settings, &Clock::unlimited()).unwrap();
        let right = model.predict(&*xt).iter().zip(&ct).filter(|(a, b)| a == b).count();
        right as f64 / ct.len() as f64
    };
    (0..folds.count()).map(of_fold).sum::<f64>() / folds.count() as f64
}

#[test]
fn tuning_takes_the_cost_of_largest_accuracy_every_s_steps() {
    for (k, kernel) in [(2, RBF), (3, RBF), (2, Kernel::Linear), (4, Kernel::Linear)] {
        let (design, classes) = draw(60, 8, k, 1.0, 3);
        let data = Samples::new(&*design, &classes, None).unwrap();
        let folds = Folds::new((0..60).map(|i| i / 4 % 5).collect()).unwrap();
        let costs = vec![0.0625, 0.25, 1.0, 4.0, 16.0];
        let tuning = Some(Tuning { costs: costs.clone(), folds: folds.clone(), retune: 2 });
        let criterion = Criterion::Margin;
        let settings = RfeSettings { tuning, ..settings(kernel.into(), criterion, 1) };
        let report = run(&data, 2, &settings);
        let steps: Vec<(u64, usize)> = report.tuned.iter().map(|t| (t.step, t.n_features)).collect();
        assert_eq!(steps, [(1, 8), (3, 6), (5, 4), (7, 2)]);
        assert_eq!(report.cost, report.tuned[3].cost);
        for tuned in &report.tuned {
            let features: Vec<usize> = report.selection.ranking[..tuned.n_features].iter().map(|r| r.feature).collect();
            let of = |&cost: &f64| {
                let svm = SvmSettings { cost, ..settings.svm.clone() };
                (cost, accuracy(&data, &features, &folds, &FitSettings { svm, kernel, ..FitSettings::default() }))
            };
            let all: Vec<(f64, f64)> = costs.iter().map(of).collect();
            let best = all.iter().fold(all[0], |best, &one| if one.1 > best.1 + 1e-12 { one } else { best });
            assert!((tuned.accuracy - best.1).abs() < 1e-12 && tuned.cost == best.0, "{tuned:?}, but {all:?}");
        }
    }
}

#[test]
fn limits_end_with_an_allowed_subset_and_threads_change_nothing() {
    let (design, classes) = draw(40, 60, 3, 1.0, 2);
    let data = Samples::new(&*design, &classes, None).unwrap();
    let folds = Folds::new((0..40).map(|i| i % 4).collect()).unwrap();
    let tuning = Some(Tuning { costs: vec![0.5, 2.0], folds, retune: 3 });
    let settings = RfeSettings { tuning, ..settings(RBF.into(), Criterion::Margin, 1) };
    let rules = Rules::at_most_features(60, 5).unwrap();
    for (calls, status) in [(0, Status::CallLimit), (7, Status::CallLimit)] {
        let limits = Limits { oracle_calls: Some(calls), ..Limits::default() };
        let found = rfe_classes(&data, &rules, &settings, limits, &mut Silent).unwrap().selection;
        assert_eq!((found.outcome.status, found.outcome.subset.map(|s| s.len())), (status, Some(5)));
        assert_eq!(found.ranking.len(), 60);
    }
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&data, 5, &settings))
    };
    let (one, four) = (with(1), with(4));
    assert_eq!((one.selection.ranking, one.tuned), (four.selection.ranking, four.tuned));
}

#[test]
fn settings_out_of_range_are_named() {
    let (design, classes) = draw(20, 5, 2, 1.0, 1);
    let data = Samples::new(&*design, &classes, None).unwrap();
    let rules = Rules::at_most_features(5, 2).unwrap();
    let folds = Folds::new((0..20).map(|i| i % 2).collect()).unwrap();
    let tuning = |costs: &[f64], retune| Some(Tuning { costs: costs.to_vec(), folds: folds.clone(), retune });
    let base = settings(RBF.into(), Criterion::Margin, 1);
    let small = SvmSettings { memory: 100, ..base.svm.clone() };
    for (bad, what) in [
        (RfeSettings { criterion: Criterion::Weights, ..base.clone() }, "criterion is weights"),
        (RfeSettings { kernel: Kernel::Rbf { gamma: 0.0 }.into(), ..base.clone() }, "gamma is 0"),
        (RfeSettings { kernel: Kernel::Precomputed.into(), ..base.clone() }, "kernel is precomputed"),
        (RfeSettings { tuning: tuning(&[], 1), ..base.clone() }, "costs is an empty list"),
        (RfeSettings { tuning: tuning(&[1.0, 1.0], 1), ..base.clone() }, "costs is 1 before 1"),
        (RfeSettings { tuning: tuning(&[-1.0], 1), ..base.clone() }, "costs is -1"),
        (RfeSettings { tuning: tuning(&[1.0], 0), ..base.clone() }, "retune is 0"),
        (RfeSettings { svm: small, ..base.clone() }, "allow more with `memory`"),
    ] {
        let error = rfe_classes(&data, &rules, &bad, Limits::default(), &mut Silent).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
    assert!(Folds::new(vec![0, 0]).unwrap_err().to_string().contains("at least 2"));
    assert!(Folds::new(vec![0, 2]).unwrap_err().to_string().contains("fold 1 of 3 has no sample"));
}
