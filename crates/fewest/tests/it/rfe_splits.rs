//! Eliminations on splits of the samples: each is that of its training part alone, and the decision
//! values of the samples held out are those of machines trained from nothing at every size. One
//! test per way to end.

use std::ops::ControlFlow;
use std::time::Duration;

use fewest::kernel::{Gamma, KernelRule};
use fewest::kernel_oracle::Criterion;
use fewest::method::rfe::splits::{SplitPath, rfe_paths};
use fewest::method::rfe::{RfeSettings, Step, Tuning, rfe_classes};
use fewest::model::{FitSettings, fit};
use fewest::validation::{Folds, Split};
use fewest::{Bias, Clock, Design, Event, Kernel, Limits, Loss, Rules, Samples, Silent, Status, SvmSettings};
use fewest_testing::{RandomProblem, Rng, dense_copy};

/// A design, and classes 0 to k - 1 that its first columns carry.
fn draw(n: usize, p: usize, k: u32, density: f64, seed: u64) -> (Box<dyn Design>, Vec<u32>) {
    let draw = RandomProblem { n, p, density, noise: 0.1, seed };
    let design: Box<dyn Design> = if density < 1.0 { Box::new(draw.draw_sparse().0) } else { Box::new(draw.draw().0) };
    let mut rng = Rng::new(seed + 1);
    let score = |row: &Vec<f64>, c: u32| row[c as usize] - 0.5 * row[c as usize + 1];
    let class = |(i, row): (usize, &Vec<f64>)| {
        let best = (0..k).max_by(|&a, &b| score(row, a).total_cmp(&score(row, b))).unwrap();
        if i < 4 * k as usize || rng.below(10) == 0 { i as u32 % k } else { best }
    };
    let classes = dense_copy(&*design).iter().enumerate().map(class).collect();
    (design, classes)
}

fn settings(kernel: Kernel, criterion: Criterion) -> RfeSettings {
    let svm = SvmSettings { tolerance: 1e-14, cost: 0.7, ..SvmSettings::default() };
    RfeSettings { svm, kernel: KernelRule::new(kernel, Gamma::PerFeature), criterion, ..RfeSettings::default() }
}

fn thirds(n: usize) -> Vec<Split> {
    Folds::new((0..n as u32).map(|i| i % 3).collect()).unwrap().splits()
}

fn run(data: &Samples<'_>, k: usize, settings: &RfeSettings, splits: &[Split]) -> Vec<SplitPath> {
    let rules = Rules::at_most_features(data.n_features(), k).unwrap();
    rfe_paths(data, &rules, settings, splits, Limits::default(), &mut Silent).unwrap()
}

/// Holds a path to its definition: the elimination on a copy of the training part, and a model
/// trained from nothing at every size.
fn assert_is_its_definition(data: &Samples<'_>, k: usize, settings: &RfeSettings, split: &Split, path: &SplitPath) {
    let mut weights = vec![0.0; data.n_samples()];
    split.training.iter().for_each(|&i| weights[i] += data.weights()[i]);
    let training: Vec<usize> = (0..weights.len()).filter(|&i| weights[i] > 0.0).collect();
    let classes: Vec<u32> = training.iter().map(|&i| data.classes()[i]).collect();
    let weights: Vec<f64> = training.iter().map(|&i| weights[i]).collect();
    let part = data.design().select_samples(&training);
    let alone = Samples::new(&*part, &classes, Some(&weights)).unwrap();
    let rules = Rules::at_most_features(data.n_features(), k).unwrap();
    let selection = rfe_classes(&alone, &rules, settings, Limits::default(), &mut Silent).unwrap().selection;
    assert_eq!(path.selection.ranking, selection.ranking);
    assert_eq!(path.selection.outcome.subset, selection.outcome.subset);
    assert_eq!(path.selection.outcome.objective, selection.outcome.objective);
    assert_eq!(path.sizes.len() as u64, selection.outcome.counts.oracle_calls);
    assert_eq!((path.sizes[0], *path.sizes.last().unwrap()), (data.n_features(), k));
    assert_eq!(path.survivors_at(path.sizes.len() - 1), selection.outcome.subset.unwrap());

    let machines = (data.n_classes() * (data.n_classes() - 1) / 2) as usize;
    assert_eq!(path.decisions.len(), path.sizes.len() * split.held_out.len() * machines);
    for (at, &size) in path.sizes.iter().enumerate() {
        let features: Vec<usize> = path.survivors_at(at).iter().collect();
        assert_eq!(features.len(), size);
        let fit_settings =
            FitSettings { svm: settings.svm.clone(), kernel: settings.kernel.at(size), ..FitSettings::default() };
        let model = fit(&*part, &features, &classes, &weights, &fit_settings, &Clock::unlimited()).unwrap();
        for (s, &i) in split.held_out.iter().enumerate() {
            let wanted = model.decisions(&*data.design().select_samples(&[i]));
            let found = &path.decisions_at(at)[s * machines..][..machines];
            let close = found.iter().zip(&wanted).all(|(a, b)| (a - b).abs() < 1e-6);
            assert!(close, "{size} features, sample {i}: {found:?} against {wanted:?}");
            let clear = wanted.iter().all(|d| d.abs() > 1e-6);
            assert!(!clear || path.predictions_at(at)[s] == model.votes(&wanted)[0]);
        }
    }
}

#[test]
fn every_path_is_its_definition() {
    let rbf = Kernel::Rbf { gamma: 0.8 };
    let laplace = Kernel::Laplace { gamma: 0.8 };
    let poly = Kernel::Poly { gamma: 1.0, coef0: 1.0, degree: 2 };
    // p > n works on the Gram matrix, n >> p and sparse data on rows; kernels and three classes on
    // a matrix of products.
    for (n, p, k, density, kernel, criterion) in [
        (36, 50, 2, 1.0, Kernel::Linear, Criterion::Weights),
        (90, 9, 2, 1.0, Kernel::Linear, Criterion::Margin),
        (36, 50, 2, 0.3, Kernel::Linear, Criterion::Weights),
        (39, 30, 3, 1.0, Kernel::Linear, Criterion::Weights),
        (39, 30, 3, 0.4, Kernel::Linear, Criterion::Margin),
        (36, 12, 2, 1.0, rbf, Criterion::Margin),
        (39, 12, 3, 1.0, rbf, Criterion::InputWeights),
        (36, 12, 2, 0.5, rbf, Criterion::InputWeights),
        (39, 12, 3, 1.0, laplace, Criterion::Margin),
        (36, 12, 2, 0.5, laplace, Criterion::Margin),
        (39, 10, 3, 1.0, poly, Criterion::Margin),
    ] {
        let (design, classes) = draw(n, p, k, density, 7 + n as u64 + p as u64);
        let weights: Vec<f64> = (0..n).map(|i| [1.0, 2.0, 0.5, 0.0, 1.5][i % 5]).collect();
        for weights in [None, Some(&weights[..])] {
            let data = Samples::new(&*design, &classes, weights).unwrap();
            let (settings, splits) = (settings(kernel, criterion), thirds(n));
            for (split, path) in splits.iter().zip(run(&data, 2, &settings, &splits)) {
                assert_is_its_definition(&data, 2, &settings, split, &path);
            }
        }
    }
}

#[test]
fn steps_losses_and_biases_are_those_of_the_elimination() {
    let (design, classes) = draw(36, 40, 2, 1.0, 3);
    let data = Samples::new(&*design, &classes, None).unwrap();
    for (step, loss, bias) in [
        (Step::Remaining(0.5), Loss::Hinge, Bias::None),
        (Step::Original(0.1), Loss::SquaredHinge, Bias::Penalised(2.0)),
        (Step::Count(7), Loss::SquaredHinge, Bias::Free),
    ] {
        let mut settings = RfeSettings { step, ..settings(Kernel::Linear, Criterion::Weights) };
        (settings.svm.loss, settings.svm.bias) = (loss, bias);
        let splits = thirds(36);
        for (split, path) in splits.iter().zip(run(&data, 3, &settings, &splits)) {
            assert_is_its_definition(&data, 3, &settings, split, &path);
        }
    }
}

#[test]
fn splits_may_name_samples_in_any_order_twice_or_not_at_all() {
    let (design, classes) = draw(36, 45, 3, 1.0, 5);
    let data = Samples::new(&*design, &classes, None).unwrap();
    let settings = settings(Kernel::Linear, Criterion::Weights);
    let splits = [
        // Sample 5 twice, and samples 24 to 29 in neither part.
        Split { training: (0..24).rev().chain([5]).collect(), held_out: vec![35, 30, 31, 30] },
        Split { training: (0..36).collect(), held_out: Vec::new() },
        Split { training: (0..36).collect(), held_out: vec![3, 1] },
    ];
    let paths = run(&data, 2, &settings, &splits);
    for (split, path) in splits.iter().zip(&paths) {
        assert_is_its_definition(&data, 2, &settings, split, path);
    }
    let last = paths[0].decisions_at(0);
    assert_eq!(last[3..6], last[9..12], "sample 30 is judged twice");
    assert!(paths[1].decisions.is_empty() && paths[1].predictions_at(0).is_empty());
}

#[test]
fn one_thread_and_two_give_the_same_bits() {
    let (design, classes) = draw(60, 70, 2, 1.0, 11);
    let data = Samples::new(&*design, &classes, None).unwrap();
    let settings = settings(Kernel::Linear, Criterion::Weights);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&data, 1, &settings, &thirds(60)))
    };
    for (one, two) in with(1).iter().zip(&with(2)) {
        assert_eq!(one.selection.ranking, two.selection.ranking);
        assert_eq!(one.sizes, two.sizes);
        assert!(one.decisions.iter().zip(&two.decisions).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
}

#[test]
fn limits_and_a_break_end_every_path_with_an_allowed_subset() {
    let (design, classes) = draw(36, 30, 2, 1.0, 13);
    let data = Samples::new(&*design, &classes, None).unwrap();
    let rules = Rules::at_most_features(30, 4).unwrap();
    let settings = settings(Kernel::Linear, Criterion::Weights);
    let none = Rules::none(30);
    let run_under = |rules: &Rules, limits: Limits, observer: &mut (dyn fewest::Observer + Send)| {
        rfe_paths(&data, rules, &settings, &thirds(36), limits, observer).unwrap()
    };
    let run = |limits, observer: &mut (dyn fewest::Observer + Send)| run_under(&rules, limits, observer);
    let no_time = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let two_calls = Limits { oracle_calls: Some(2), ..Limits::default() };
    let mut most = 0;
    let mut break_at_once = |event: &Event<'_>| {
        if let Event::Progress { total: Some(total), .. } = event {
            most = most.max(*total);
        }
        ControlFlow::Break(())
    };
    for (paths, status, sizes) in [
        (run(no_time, &mut Silent), Status::TimeLimit, &[4][..]),
        (run(two_calls, &mut Silent), Status::CallLimit, &[30, 29, 4][..]),
        (run(Limits::default(), &mut break_at_once), Status::Cancelled, &[4][..]),
        (run_under(&none, Limits::default(), &mut break_at_once), Status::Cancelled, &[30][..]),
        (run(Limits::default(), &mut Silent), Status::Completed, &(4..31).rev().collect::<Vec<_>>()[..]),
    ] {
        assert_eq!(paths.len(), 3);
        for path in paths {
            assert_eq!(path.selection.outcome.status, status);
            assert_eq!(path.sizes, sizes);
            assert_eq!(path.decisions.len(), 12 * sizes.len());
            assert_eq!(path.selection.outcome.subset.as_ref().unwrap(), &path.survivors_at(sizes.len() - 1));
        }
    }
    assert_eq!(most, 3 * 26, "steps of all splits");
}

#[test]
fn bad_splits_and_tuning_are_refused() {
    let (design, classes) = draw(20, 6, 2, 1.0, 17);
    let data = Samples::new(&*design, &classes, None).unwrap();
    let rules = Rules::at_most_features(6, 1).unwrap();
    let refused = |settings: &RfeSettings, splits: &[Split]| {
        rfe_paths(&data, &rules, settings, splits, Limits::default(), &mut Silent).unwrap_err().to_string()
    };
    let plain = RfeSettings::default();
    let ones: Vec<usize> = (0..20).filter(|&i| classes[i] == 1).collect();
    let mut splits = thirds(20);
    splits[1].training = ones;
    assert!(refused(&plain, &splits).contains("training part of split 1 has no sample of class 0"));
    splits[1] = Split { training: (0..20).collect(), held_out: vec![20] };
    assert!(refused(&plain, &splits).contains("split 1 names sample 20"));
    let folds = Folds::new((0..20).map(|i| i % 2).collect()).unwrap();
    let tuned = RfeSettings { tuning: Some(Tuning { costs: vec![1.0], folds, retune: 1 }), ..RfeSettings::default() };
    assert!(refused(&tuned, &thirds(20)).contains("tuning"));
    let rbf = Kernel::Rbf { gamma: 1.0 };
    let svm = SvmSettings { memory: 500, ..SvmSettings::default() };
    let small = RfeSettings { kernel: rbf.into(), criterion: Criterion::Margin, svm, ..RfeSettings::default() };
    assert!(refused(&small, &thirds(20)).contains("held-out"));
}
