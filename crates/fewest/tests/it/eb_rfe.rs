//! EB-RFE and the flips against their definitions: every accuracy by models trained from nothing,
//! every subset by brute force.

use fewest::kernel::{Gamma, KernelRule};
use fewest::kernel_oracle::Criterion;
use fewest::method::eb_rfe::{EbRfeReport, EbRfeSettings, eb_rfe};
use fewest::method::rfe::{RfeSettings, Tuning, rfe_classes};
use fewest::model::{FitSettings, fit};
use fewest::validation::{Folds, Split};
use fewest::{
    Clock, DenseDesign, Event, Kernel, Limits, RuleList, Rules, Samples, Silent, Status, Subset, SvmSettings,
};
use fewest_papers::flip::{Flip, FlipSettings, flip};
use fewest_testing::{Keeper, RandomProblem, Rng, allowed_subsets, obeys, random_rules};

const PER_FEATURE: KernelRule = KernelRule::new(Kernel::Rbf { gamma: 1.0 }, Gamma::PerFeature);
const COSTS: [f64; 4] = [0.1, 1.0, 10.0, 100.0];

fn draw(n: usize, p: usize, k: u32, seed: u64) -> (DenseDesign<'static>, Vec<u32>) {
    let (design, _) = RandomProblem { n, p, density: 1.0, noise: 0.1, seed }.draw();
    let mut rng = Rng::new(seed);
    let class = |i: usize| {
        let score = |c: u32| design.column(c as usize)[i] - design.column((c as usize + 1) % p)[i];
        (0..k).max_by(|&a, &b| score(a).total_cmp(&score(b))).unwrap()
    };
    let noisy = |i: usize| if i < 2 * k as usize { i as u32 % k } else { class(i) };
    let classes = (0..n).map(|i| if rng.below(8) == 0 { i as u32 % k } else { noisy(i) }).collect();
    (design, classes)
}

fn folds(n: usize, count: usize) -> Folds {
    Folds::new((0..n).map(|i| (i / 3 % count) as u32).collect()).unwrap()
}

fn settings(n: usize, candidates: usize, kernel: KernelRule) -> EbRfeSettings {
    EbRfeSettings {
        svm: SvmSettings { tolerance: 1e-9, ..SvmSettings::default() },
        kernel,
        criterion: Criterion::Margin,
        candidates,
        adaptive: None,
        accuracy_loss: Some(0.0),
        costs: COSTS.to_vec(),
        folds: folds(n, 4),
        start: None,
    }
}

/// Splits that overlap, with a sample that is trained on twice, one that is held out twice, and some
/// that are in neither part.
fn splits(n: usize) -> Folds {
    let drawn = |seed: usize| {
        let (held_out, rest): (Vec<usize>, Vec<usize>) = (0..n).partition(|i| (i * 7 + seed).is_multiple_of(5));
        let mut split = Split { training: rest[seed % 3..].to_vec(), held_out };
        split.training.push(split.training[4]);
        split.held_out.insert(0, split.held_out[2]);
        split
    };
    Folds::of_splits(n, (0..3).map(drawn).collect()).unwrap()
}

fn run(data: &Samples<'_>, rules: &Rules, settings: &EbRfeSettings) -> EbRfeReport {
    eb_rfe(data, rules, settings, Limits::default(), &mut Silent).unwrap()
}

/// The largest mean accuracy over the folds of models trained from nothing, and the smallest cost
/// that has it.
fn accuracy(data: &Samples<'_>, features: &[usize], settings: &EbRfeSettings) -> (f64, f64) {
    let mut best = (f64::NEG_INFINITY, 0.0);
    for &cost in &settings.costs {
        let mut sum = 0.0;
        for f in 0..settings.folds.count() {
            let (train, test) = settings.folds.split(f);
            let classes = |rows: &[usize]| rows.iter().map(|&i| data.classes()[i]).collect::<Vec<u32>>();
            let (x, xt) = (data.design().select_samples(&train), data.design().select_samples(&test));
            let svm = SvmSettings { cost, ..settings.svm.clone() };
            let fit_settings =
                FitSettings { svm, kernel: settings.kernel.at(features.len()), ..FitSettings::default() };
            let ones = vec![1.0; train.len()];
            let model = fit(&*x, features, &classes(&train), &ones, &fit_settings, &Clock::unlimited()).unwrap();
            let right = model.predict(&*xt).iter().zip(classes(&test)).filter(|(a, b)| **a == *b).count();
            sum += right as f64 / test.len() as f64;
        }
        let mean = sum / settings.folds.count() as f64;
        if mean > best.0 + 1e-12 {
            best = (mean, cost);
        }
    }
    best
}

#[test]
fn with_one_candidate_it_is_svm_rfe_step_by_step() {
    for (k, kernel, seed) in
        [(2, PER_FEATURE, 1), (3, PER_FEATURE, 2), (2, Kernel::Linear.into(), 3), (4, Kernel::Linear.into(), 4)]
    {
        let (design, classes) = draw(60, 10, k, seed);
        let data = Samples::new(&design, &classes, None).unwrap();
        let settings = settings(60, 1, kernel);
        let found = run(&data, &Rules::none(10), &settings);
        let tuning = Some(Tuning { costs: COSTS.to_vec(), folds: settings.folds.clone(), retune: 1 });
        let (svm, criterion) = (settings.svm.clone(), settings.criterion);
        let rfe_settings = RfeSettings { svm, kernel, criterion, tuning, ..RfeSettings::default() };
        let rules = Rules::at_most_features(10, 1).unwrap();
        let plain = rfe_classes(&data, &rules, &rfe_settings, Limits::default(), &mut Silent).unwrap();
        let order = |ranking: &[fewest::Ranked]| ranking.iter().map(|r| (r.feature, r.step)).collect::<Vec<_>>();
        assert_eq!(order(&found.selection.ranking), order(&plain.selection.ranking));
        let curve: Vec<(usize, f64)> = found.curve.iter().map(|s| (s.n_features, s.cost)).collect();
        let tuned: Vec<(usize, f64)> = plain.tuned.iter().map(|t| (t.n_features, t.cost)).collect();
        assert_eq!(curve, tuned);
        for (a, b) in found.curve.iter().zip(&plain.tuned) {
            assert!((a.accuracy - b.accuracy).abs() < 1e-9);
        }
    }
}

#[test]
fn every_accuracy_is_that_of_models_trained_from_nothing() {
    for (k, kernel, seed) in
        [(2, PER_FEATURE, 5), (3, Kernel::Rbf { gamma: 0.2 }.into(), 6), (3, Kernel::Linear.into(), 7)]
    {
        // The second is judged by splits that are no folds.
        let (design, classes) = draw(50, 8, k, seed);
        let data = Samples::new(&design, &classes, None).unwrap();
        let of_splits = EbRfeSettings { folds: splits(50), ..settings(50, 3, kernel) };
        let settings = if seed == 6 { of_splits } else { settings(50, 3, kernel) };
        let found = run(&data, &Rules::none(8), &settings);
        let mut alive = Subset::full(8);
        let (mut best, mut smallest) = (0.0, 9);
        for step in &found.curve {
            // The survivors are the best of the candidates, all of which were judged as sets.
            let most = step.candidates.iter().copied().fold(0.0, f64::max);
            assert!((step.accuracy - most).abs() < 1e-9 && step.candidates.len() <= 3);
            step.left.iter().for_each(|l| assert!(alive.remove(l.0)));
            let features: Vec<usize> = alive.iter().collect();
            let (mean, cost) = accuracy(&data, &features, &settings);
            assert!((step.accuracy - mean).abs() < 1e-9 && step.cost == cost, "{step:?}, but {mean} at {cost}");
            if step.accuracy >= best {
                (best, smallest) = (step.accuracy, step.n_features);
            }
        }
        assert_eq!(found.curve.len(), 8);
        let outcome = found.selection.outcome;
        assert_eq!((outcome.objective, outcome.subset.map(|s| s.len())), (Some(best), Some(smallest)));
        assert_eq!(outcome.status, Status::Completed);
    }
}

#[test]
fn more_candidates_follow_the_ranking_and_adapt() {
    let (design, classes) = draw(60, 12, 2, 8);
    let data = Samples::new(&design, &classes, None).unwrap();
    let counts = |adaptive| {
        let settings = EbRfeSettings { adaptive, ..settings(60, 5, PER_FEATURE) };
        run(&data, &Rules::none(12), &settings).curve.iter().map(|s| s.candidates.len()).collect::<Vec<_>>()
    };
    assert_eq!(counts(None), [1, 5, 5, 5, 5, 5, 5, 5, 5, 4, 3, 2]);
    assert_eq!(counts(Some(1.0)), [1; 12]);
    let some = counts(Some(2.0));
    assert!(some.iter().any(|&c| c > 1) && some[1..8].iter().any(|&c| c < 5), "{some:?}");
    assert_eq!(counts(Some(1e12)), counts(None));
}

#[test]
fn the_smallest_subset_that_loses_little_is_taken() {
    let (design, classes) = draw(60, 12, 2, 8);
    let data = Samples::new(&design, &classes, None).unwrap();
    let mut smaller = 0;
    for rules in [Rules::none(12), Rules::at_most_features(12, 7).unwrap()] {
        let all = run(&data, &rules, &settings(60, 3, PER_FEATURE));
        let best = all.selection.outcome.objective.unwrap();
        for loss in [0.0, 0.02, 0.05, 0.3] {
            let found =
                run(&data, &rules, &EbRfeSettings { accuracy_loss: Some(loss), ..settings(60, 3, PER_FEATURE) });
            assert_eq!(found.curve, all.curve);
            let mut near = all.curve.iter().filter(|step| step.accuracy >= best - loss - 1e-12);
            let step = near.rfind(|step| step.n_features <= rules.most_features()).unwrap();
            let outcome = &found.selection.outcome;
            let subset = outcome.subset.as_ref().unwrap();
            let found_there = (subset.len(), outcome.objective, found.cost);
            assert_eq!(found_there, (step.n_features, Some(step.accuracy), step.cost));
            // The survivors of that step: those ranked first.
            let ranked = |j: usize| found.selection.ranking.iter().find(|r| r.feature == j).unwrap().rank;
            assert!(subset.iter().all(|j| ranked(j) <= subset.len()));
            smaller += usize::from(loss > 0.0 && subset.len() < all.selection.outcome.subset.as_ref().unwrap().len());
        }
    }
    assert!(smaller > 0, "no loss made a subset smaller");
}

#[test]
fn a_run_that_goes_on_from_a_state_ends_the_same() {
    let (design, classes) = draw(60, 14, 3, 9);
    let data = Samples::new(&design, &classes, None).unwrap();
    let rules = Rules::at_most_features(14, 9).unwrap();
    let settings = settings(60, 3, PER_FEATURE);
    let mut all = Keeper::default();
    let uninterrupted = eb_rfe(&data, &rules, &settings, Limits::default(), &mut all).unwrap();
    assert_eq!(all.states.len(), uninterrupted.curve.len() + 1, "after every step, and at the end");
    for state in &all.states {
        let mut keeper = Keeper { from: Some(state.clone()), ..Keeper::default() };
        let rest = eb_rfe(&data, &rules, &settings, Limits::default(), &mut keeper).unwrap();
        let done = (&uninterrupted.curve, uninterrupted.cost, uninterrupted.trainings);
        assert_eq!((&rest.curve, rest.cost, rest.trainings), done);
        assert_eq!(rest.selection.ranking, uninterrupted.selection.ranking);
        assert_eq!(rest.selection.outcome.subset, uninterrupted.selection.outcome.subset);
    }
    let forbid = vec![uninterrupted.curve[1].left[0].0].into();
    let other = Rules::new(14, RuleList { forbid, ..RuleList::default() }, &[]).unwrap();
    let mut last = Keeper { from: all.states.pop(), ..Keeper::default() };
    let error = eb_rfe(&data, &other, &settings, Limits::default(), &mut last).unwrap_err();
    assert!(error.to_string().contains("another problem"));
}

#[test]
fn rules_hold_limits_end_it_and_threads_change_nothing() {
    let mut rng = Rng::new(3);
    let (design, classes) = draw(40, 9, 2, 10);
    let data = Samples::new(&design, &classes, None).unwrap();
    let settings = EbRfeSettings { costs: vec![1.0], ..settings(40, 3, PER_FEATURE) };
    let mut runs = 0;
    for _ in 0..60 {
        let list = random_rules(&mut rng, 9);
        let Ok(rules) = Rules::new(9, list.clone(), &[]) else { continue };
        for time in [None, Some(std::time::Duration::ZERO)] {
            let limits = Limits { time, ..Limits::default() };
            let found = eb_rfe(&data, &rules, &settings, limits, &mut Silent).unwrap();
            let outcome = found.selection.outcome;
            let status = if time.is_some() { Status::TimeLimit } else { Status::Completed };
            assert!(obeys(&list, outcome.subset.as_ref().unwrap()) && outcome.status == status, "{list:?}");
            let mut features: Vec<usize> = found.selection.ranking.iter().map(|r| r.feature).collect();
            features.sort_unstable();
            assert_eq!(features, (0..9).collect::<Vec<_>>());
        }
        runs += 1;
    }
    assert!(runs > 20, "{runs} runs");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run(&data, &Rules::none(9), &settings))
    };
    let (one, four) = (with(1), with(4));
    assert_eq!((one.curve, one.selection.ranking), (four.curve, four.selection.ranking));
}

#[test]
fn flips_judge_every_allowed_neighbour() {
    let (design, classes) = draw(45, 7, 3, 11);
    let data = Samples::new(&design, &classes, None).unwrap();
    let judged = settings(45, 1, PER_FEATURE);
    let list = RuleList { max_features: Some(4), require: vec![1], together: vec![vec![2, 3]], ..RuleList::default() };
    let rules = Rules::new(7, list, &[]).unwrap();
    let start = Subset::from_indices(7, [1, 4, 5]);
    for (kind, expected) in [(Flip::Bit, [2, 4]), (Flip::Attribute, [3, 3])] {
        let near = |s: &Subset| {
            let (out, back) = (start.difference(s).count(), s.difference(&start).count());
            let pair = usize::from(s.contains(2));
            match kind {
                Flip::Bit => (out, back) == (1, 0) || (out, back) == (0, 1 + pair),
                Flip::Attribute => out == 1 && back == 1 + pair,
            }
        };
        let all: Vec<Subset> = allowed_subsets(&rules).into_iter().filter(near).collect();
        let of = |s: &Subset| accuracy(&data, &s.iter().collect::<Vec<_>>(), &judged).0;
        let best = all.iter().map(&of).fold(of(&start), f64::max);
        let (svm, kernel, folds) = (judged.svm.clone(), PER_FEATURE, judged.folds.clone());
        let settings = FlipSettings { flip: kind, svm, kernel, costs: COSTS.to_vec(), folds, passes: Some(1) };
        let mut planned = Vec::new();
        let mut observer = |event: &Event<'_>| {
            if let Event::Plan { subsets, trainings } = event {
                planned.push((*subsets as usize, *trainings as usize));
            }
            std::ops::ControlFlow::Continue(())
        };
        let found = flip(&data, &rules, &start, &settings, Limits::default(), &mut observer).unwrap();
        // 4 folds, 4 costs, 3 pairs of classes.
        assert_eq!(planned, [(all.len(), all.len() * 48)]);
        assert!(all.len() >= expected[0] && all.len() >= 3, "{}", all.len());
        assert!((found.selection.outcome.objective.unwrap() - best).abs() < 1e-9, "{kind:?}");
        let subset = found.selection.outcome.subset.unwrap();
        assert!((of(&subset) - best).abs() < 1e-9 && rules.allows(&subset));
        // Until nothing improves: no neighbour of the end is better.
        let settings = FlipSettings { passes: None, ..settings };
        let end = flip(&data, &rules, &start, &settings, Limits::default(), &mut Silent).unwrap();
        assert!(end.passes.is_sorted() && end.passes.len() >= 2 || end.passes == [end.start.unwrap()]);
        let limits = Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() };
        let cancelled = Limits::default();
        cancelled.cancel.cancel();
        // Before anything is judged: the start, without an accuracy.
        for (limits, status) in [(limits, Status::TimeLimit), (cancelled, Status::Cancelled)] {
            let stopped = flip(&data, &rules, &start, &settings, limits, &mut Silent).unwrap();
            let outcome = stopped.selection.outcome;
            assert_eq!((outcome.status, outcome.subset.as_ref()), (status, Some(&start)));
            assert_eq!((outcome.objective, stopped.start, stopped.trainings), (None, None, 0));
        }
    }
    let settings = FlipSettings {
        flip: Flip::Bit,
        svm: judged.svm.clone(),
        kernel: PER_FEATURE,
        costs: COSTS.to_vec(),
        folds: judged.folds.clone(),
        passes: None,
    };
    let forbidden = Rules::new(rules.p(), RuleList { forbid: vec![0].into(), ..RuleList::default() }, &[]).unwrap();
    let found = flip(&data, &forbidden, &Subset::empty(rules.p()), &settings, Limits::default(), &mut Silent).unwrap();
    assert!(found.start.is_some() && forbidden.allows(found.selection.outcome.subset.as_ref().unwrap()));
    let bad = flip(&data, &rules, &Subset::empty(7), &settings, Limits::default(), &mut Silent).unwrap_err();
    assert!(bad.to_string().contains("breaks the rules"));
}

#[test]
fn weights_of_a_training_are_those_of_its_fold() {
    let (design, classes) = draw(50, 6, 2, 11);
    let data = Samples::new(&design, &classes, None).unwrap();
    let plain = EbRfeSettings { costs: vec![0.1], ..settings(50, 1, Kernel::Linear.into()) };
    let weighted = |weight: &dyn Fn(usize, usize) -> f64| {
        let of_fold = |f| (0..50).map(|i| weight(f, i)).collect();
        let folds = plain.folds.clone().training_weighted((0..4).map(of_fold).collect()).unwrap();
        run(&data, &Rules::none(6), &EbRfeSettings { folds, ..plain.clone() }).curve[0].accuracy
    };
    let at_cost = |cost| run(&data, &Rules::none(6), &EbRfeSettings { costs: vec![cost], ..plain.clone() });
    // Ten times the weight is ten times the cost, and only the training that holds a fold out counts.
    let (low, high) = (at_cost(0.001).curve[0].accuracy, at_cost(0.1).curve[0].accuracy);
    assert!((low - high).abs() > 0.01, "the costs must matter: {low} and {high}");
    assert_eq!(weighted(&|_, _| 0.01), low);
    assert_eq!(weighted(&|_, _| 1.0), high);
    assert_eq!(weighted(&|f, i| if plain.folds.split(f).1.contains(&i) { 7.0 } else { 0.01 }), low);
    let faulty = plain.folds.clone().training_weighted(vec![vec![1.0; 50]; 3]).unwrap_err().to_string();
    assert!(faulty.contains("weights for 3 folds"), "{faulty}");
}

#[test]
fn folds_are_splits_and_bad_splits_are_refused() {
    let (design, classes) = draw(48, 6, 3, 12);
    let data = Samples::new(&design, &classes, None).unwrap();
    let plain = settings(48, 2, PER_FEATURE);
    let folds = Folds::of_splits(48, plain.folds.splits()).unwrap();
    let json = serde_json::to_string(&folds).unwrap();
    assert_eq!(serde_json::from_str::<Folds>(&json).unwrap(), folds);
    let split = run(&data, &Rules::none(6), &EbRfeSettings { folds, ..plain.clone() });
    assert_eq!(split.curve, run(&data, &Rules::none(6), &plain).curve);
    let refused = |splits| Folds::of_splits(48, splits).unwrap_err().to_string();
    assert!(refused(Vec::new()).contains("at least 1"));
    assert!(refused(vec![Split { training: vec![0], held_out: vec![48] }]).contains("sample 48, but there are 48"));
    assert!(refused(vec![Split { training: vec![0], held_out: vec![] }]).contains("split 0"));
}

#[test]
fn it_begins_with_the_features_named() {
    let (design, classes) = draw(45, 9, 2, 13);
    let data = Samples::new(&design, &classes, None).unwrap();
    let start = [1, 2, 4, 7];
    let of_start: Vec<f64> = start.iter().flat_map(|&j| design.column(j).to_vec()).collect();
    let part = DenseDesign::new(45, 4, of_start).unwrap();
    let alone = Samples::new(&part, &classes, None).unwrap();
    let plain = settings(45, 2, PER_FEATURE);
    let expected = run(&alone, &Rules::none(4), &plain);
    let found = run(&data, &Rules::none(9), &EbRfeSettings { start: Some(vec![7, 1, 4, 2]), ..plain.clone() });
    let curve = |report: &EbRfeReport| report.curve.iter().map(|s| (s.n_features, s.accuracy)).collect::<Vec<_>>();
    assert_eq!(curve(&found), curve(&expected));
    let subset = expected.selection.outcome.subset.unwrap();
    let named = Subset::from_indices(9, subset.iter().map(|at| start[at]));
    assert_eq!(found.selection.outcome.subset, Some(named));
}
