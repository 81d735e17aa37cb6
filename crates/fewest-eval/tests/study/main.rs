//! Studies of small made-up data: nothing leaks, seeds and threads, limits, rules, states.

mod fallbacks;
mod points;

use std::ops::ControlFlow;
use std::time::Duration;

use fewest::{Cancel, DenseDesign, Error, Event, Limits, RuleList, Silent, Status};
use fewest_data::{Features, Target};
use fewest_eval::ClassWeights;
use fewest_eval::study::{Prefer, Score, StudyMethod, StudyReport, StudySettings, StudyState, study};
use fewest_testing::Rng;

/// A made-up data set.
struct Data {
    features: Features,
    target: Target,
    weights: Vec<f64>,
}

impl Data {
    /// n samples of two classes in turn, p features of noise, of which the first `strong` are
    /// shifted by the class.
    fn new(n: usize, p: usize, strong: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let codes: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
        let mut values = vec![0.0; n * p];
        for j in 0..p {
            for i in 0..n {
                let shift = if j < strong { 2.0 * f64::from(codes[i]) } else { 0.0 };
                values[j * n + i] = rng.normal() + shift;
            }
        }
        Self::of(n, p, values, codes)
    }

    fn of(n: usize, p: usize, values: Vec<f64>, codes: Vec<u32>) -> Self {
        let classes = (0..=codes.iter().max().copied().unwrap_or(0)).map(|c| format!("c{c}")).collect();
        Self {
            features: Features::Dense(DenseDesign::new(n, p, values).unwrap()),
            target: Target { column: "y".into(), classes, codes },
            weights: vec![1.0; n],
        }
    }

    fn study(&self, settings: &StudySettings) -> Result<StudyReport, Error> {
        self.limited(settings, &Limits::default(), None)
    }

    fn limited(
        &self,
        settings: &StudySettings,
        limits: &Limits,
        state: Option<StudyState>,
    ) -> Result<StudyReport, Error> {
        let data = fewest_eval::Data::new(&self.features, &self.target, &self.weights);
        study(&data, settings, limits, state, &mut Silent)
    }
}

/// A short study: few sizes, costs and folds.
fn short() -> StudySettings {
    StudySettings {
        sizes: Some(vec![1, 2, 3]),
        folds: 3,
        repeats: 1,
        inner_folds: 3,
        cost_points: 3,
        ..StudySettings::default()
    }
}

/// What must not depend on time or threads.
fn essence(report: &StudyReport) -> String {
    let panel = report.panel.as_ref().map(|panel| (panel.choice, panel.selected.clone(), panel.outcome().objective));
    let folds: Vec<_> = report
        .folds
        .iter()
        .map(|f| (f.choice, &f.selected, f.judgement.metrics, f.judgement.probabilities.clone(), &f.inner))
        .collect();
    let sigmoid = report.panel.as_ref().and_then(|panel| panel.calibration.clone());
    format!("{panel:?} {folds:?} {sigmoid:?} {:?} {:?}", report.tried, report.inner)
}

#[test]
fn it_finds_what_is_there_and_proves_it() {
    let report = Data::new(60, 12, 2, 1).study(&short()).unwrap();
    let panel = report.panel.as_ref().unwrap();
    assert_eq!(report.status, Status::Completed);
    assert!(panel.selected.iter().any(|&j| j < 2) && panel.selected.len() <= 3, "{:?}", panel.selected);
    assert_eq!(panel.selected, panel.model.as_ref().unwrap().features);
    let accuracy = report.summary().into_iter().find(|s| s.0 == "accuracy").unwrap().1;
    assert!(accuracy.mean > 0.75, "{accuracy:?}");
    assert_eq!(report.folds.len(), 3);
    // Every sample is judged once, by its probability, too.
    let mut tested: Vec<usize> = report.folds.iter().flat_map(|f| f.judgement.test.clone()).collect();
    tested.sort_unstable();
    assert_eq!(tested, (0..60).collect::<Vec<_>>());
    for fold in &report.folds {
        let probabilities = fold.judgement.probabilities.as_ref().unwrap();
        assert_eq!(probabilities.len(), fold.judgement.test.len());
        assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)));
        assert_eq!(fold.inner.len(), 3);
    }
    if panel.choice.method == StudyMethod::Exact {
        assert_eq!(panel.outcome().status, Status::Optimal);
    }
    // An exchange is never better than a panel that is proven best.
    for swap in &panel.swaps {
        assert!(panel.selected.contains(&swap.feature));
        assert!(swap.by.iter().all(|(j, _)| !panel.selected.contains(j)));
        if panel.outcome().status == Status::Optimal && panel.certificate.is_none() {
            let best = panel.outcome().objective.unwrap();
            assert!(swap.by.iter().all(|(_, objective)| *objective >= best * (1.0 - 2e-4)), "{swap:?} {best}");
            assert!(swap.without >= best * (1.0 - 2e-4));
        }
    }
}

#[test]
fn random_labels_are_not_told() {
    let mut covered = 0;
    for seed in 0..4 {
        let report = Data::new(40, 30, 0, 100 + seed).study(&short()).unwrap();
        let accuracy = report.summary().into_iter().find(|s| s.0 == "accuracy").unwrap().1;
        let [low, high] = accuracy.ci95.unwrap();
        covered += u32::from(low <= 0.5 && 0.5 <= high);
        assert!(accuracy.mean < 0.8, "{accuracy:?}");
    }
    assert!(covered >= 3, "{covered} of 4");
}

#[test]
fn without_a_feature_of_use_it_ends_and_says_so() {
    // A filter that finds nothing, and features that never vary.
    let noise = Data::new(30, 1, 0, 11);
    let constant = Data::of(30, 2, vec![3.0; 60], (0..30).map(|i| i % 2).collect());
    let filter = StudySettings { sizes: Some(vec![1]), methods: vec![StudyMethod::InfoGain], ..short() };
    let all = StudySettings { sizes: Some(vec![1]), ..short() };
    let limits = Limits { time: Some(Duration::from_secs(600)), ..Limits::default() };
    for (data, settings) in [(&noise, &filter), (&constant, &filter), (&constant, &all)] {
        let report = data.limited(settings, &limits, None).unwrap();
        assert_eq!((report.status, report.panel.is_none(), report.folds.len()), (Status::Completed, true, 3));
        assert_eq!(report.effort.folds_left, 0);
        // Every sample is judged as of the more frequent class.
        let tested: usize = report.folds.iter().map(|fold| fold.judgement.predicted.len()).sum();
        assert_eq!(tested, 30);
        assert!(report.folds.iter().all(|fold| fold.selected.is_empty() && fold.judgement.probabilities.is_none()));
    }
}

#[test]
fn a_method_that_finds_nothing_gives_way() {
    // A weak signal: on some of these sets the filter finds a feature in every inner split, is
    // chosen, and finds none in all samples. SVM-RFE always finds one.
    let methods = vec![StudyMethod::InfoGain, StudyMethod::Rfe];
    let settings = StudySettings { sizes: Some(vec![1, 2]), methods, folds: 2, cost_points: 2, ..short() };
    for seed in 0..60 {
        let n = 24 + (seed % 20) as usize;
        let mut rng = Rng::new(seed);
        let codes: Vec<u32> = (0..n).map(|i| (i % 2) as u32).collect();
        let weak = |at: usize| if at < n { 0.9 * f64::from(codes[at]) } else { 0.0 };
        let values = (0..3 * n).map(|at| rng.normal() + weak(at)).collect();
        let data = Data::of(n, 3, values, codes);
        let report = data.study(&settings).unwrap();
        let panel = report.panel.unwrap_or_else(|| panic!("no panel with seed {seed}"));
        assert!(!panel.selected.is_empty());
    }
}

/// A feature that is the label itself on some samples and noise on the others: a choice that saw
/// the samples held out would be right on them.
#[test]
fn what_is_known_of_held_out_samples_alone_is_not_used() {
    let (n, p) = (48, 6);
    let plain = Data::new(n, p, 1, 7);
    let settings = short();
    let first = plain.study(&settings).unwrap();
    let test = first.folds[0].judgement.test.clone();
    // Feature 5 becomes the label on the first fold's samples.
    let Features::Dense(design) = &plain.features else { unreachable!() };
    let mut values: Vec<f64> = (0..p).flat_map(|j| design.column(j).to_vec()).collect();
    for &i in &test {
        values[5 * n + i] = if plain.target.codes[i] == 1 { 50.0 } else { -50.0 };
    }
    let leaky = Data::of(n, p, values, plain.target.codes.clone());
    let second = leaky.study(&settings).unwrap();
    let (a, b) = (&first.folds[0], &second.folds[0]);
    assert_eq!(a.judgement.test, b.judgement.test, "folds depend on classes and the seed alone");
    assert_eq!((a.choice, &a.selected, &a.inner), (b.choice, &b.selected, &b.inner));
    assert_ne!(first.folds[1].inner, second.folds[1].inner, "the other folds learn from those samples");
}

#[test]
fn seeds_say_everything_and_threads_nothing() {
    let data = Data::new(45, 10, 2, 3);
    let settings = short();
    let in_pool = |threads: usize, settings: &StudySettings| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let report = pool.install(|| data.study(settings).unwrap());
        essence(&report)
    };
    let one = in_pool(1, &settings);
    assert_eq!(one, in_pool(4, &settings));
    assert_ne!(one, in_pool(2, &StudySettings { seed: 1, ..settings }));
}

#[test]
fn a_study_goes_on_from_where_it_was_stopped() {
    let data = Data::new(45, 8, 2, 5);
    let settings = short();
    let whole = data.study(&settings).unwrap();
    let view = fewest_eval::Data::new(&data.features, &data.target, &data.weights);
    // Stopped after 1, 2, ... checkpoints.
    let mut counts = Vec::new();
    for stop in [1, 3, 6] {
        let (mut last, mut seen) = (None, 0);
        let mut observer = |event: &Event<'_>| {
            if let Event::Checkpoint { state, .. } = event {
                let mut text = Vec::new();
                state.write(&mut text).unwrap();
                last = Some(text);
                seen += 1;
                if seen >= stop {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        };
        let part = study(&view, &settings, &Limits::default(), None, &mut observer).unwrap();
        assert_eq!(part.status, Status::Cancelled);
        assert!(part.folds.len() < whole.folds.len());
        counts.push(part.effort.splits);
        let state: StudyState = serde_json::from_slice(&last.expect("a state")).unwrap();
        let rest = data.limited(&settings, &Limits::default(), Some(state)).unwrap();
        assert_eq!(essence(&rest), essence(&whole), "after {stop}");
    }
    assert!(counts.windows(2).all(|w| w[0] <= w[1]), "{counts:?}");
    assert!(serde_json::from_str::<StudyState>(r#"{"parts": 3}"#).is_err());
}

#[test]
fn limits_are_statuses() {
    let data = Data::new(60, 40, 2, 9);
    let none = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let report = data.limited(&short(), &none, None).unwrap();
    assert_eq!(report.status, Status::TimeLimit);
    assert!(report.folds.is_empty() && report.summary().is_empty());
    assert_eq!(report.effort.folds_left, 3);
    let cancel = Cancel::default();
    cancel.cancel();
    let report = data.limited(&short(), &Limits { cancel, ..Limits::default() }, None).unwrap();
    assert_eq!(report.status, Status::Cancelled);
    let some = Limits { time: Some(Duration::from_millis(400)), ..Limits::default() };
    let begun = std::time::Instant::now();
    let many = StudySettings { repeats: 200, ..short() };
    let report = data.limited(&many, &some, None).unwrap();
    assert_eq!(report.status, Status::TimeLimit);
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert!(report.panel.is_some(), "the panel comes first");
}

#[test]
fn rules_hold_in_every_fold_and_in_the_panel() {
    let data = Data::new(60, 10, 3, 11);
    let rules = RuleList {
        require: vec![9],
        forbid: vec![0].into(),
        implies: vec![(1, 8)],
        at_most: vec![(1, vec![2, 3, 4])],
        ..RuleList::default()
    };
    let settings = StudySettings { rules: rules.clone(), ..short() };
    let report = data.study(&settings).unwrap();
    let subsets = report.folds.iter().map(|f| (f.choice.max_features, &f.selected));
    let panel = report.panel.as_ref().unwrap();
    for (k, selected) in subsets.chain([(panel.choice.max_features, &panel.selected)]) {
        assert!(selected.contains(&9) && !selected.contains(&0) && selected.len() <= k, "{selected:?}");
        assert!(!selected.contains(&1) || selected.contains(&8), "{selected:?}");
        assert!(selected.iter().filter(|j| [2, 3, 4].contains(*j)).count() <= 1, "{selected:?}");
    }
    for swap in &panel.swaps {
        for (j, _) in &swap.by {
            let mut other: Vec<usize> = panel.selected.iter().copied().filter(|&k| k != swap.feature).collect();
            other.push(*j);
            assert!(other.contains(&9) && !other.contains(&0), "{swap:?}");
        }
    }
    let contradiction = RuleList { require: vec![0], forbid: vec![0].into(), ..RuleList::default() };
    let refused = data.study(&StudySettings { rules: contradiction, ..short() });
    assert!(matches!(refused, Err(Error::Rules(_))), "{refused:?}");
}

#[test]
fn other_methods_more_classes_and_class_weights() {
    let data = Data::new(36, 5, 2, 13);
    for method in StudyMethod::ALL {
        let settings = StudySettings {
            methods: vec![method],
            sizes: Some(vec![1, 2]),
            class_weight: ClassWeights::Balanced,
            ..short()
        };
        let report = data.study(&settings).unwrap();
        let panel = report.panel.as_ref().unwrap();
        assert_eq!((panel.choice.method, report.tried.len()), (method, 1));
        assert_eq!(panel.certificate.is_some(), matches!(method, StudyMethod::Rfe | StudyMethod::InfoGain));
        let gaussian = matches!(panel.report.kernel, fewest::Kernel::Rbf { .. });
        assert_eq!(gaussian, method == StudyMethod::Kta);
    }
    let mut three = Data::new(45, 5, 0, 15);
    let Features::Dense(design) = &three.features else { unreachable!() };
    let codes: Vec<u32> = (0..45).map(|i| (i % 3) as u32).collect();
    let mut values: Vec<f64> = (0..5).flat_map(|j| design.column(j).to_vec()).collect();
    for i in 0..45 {
        values[i] += 4.0 * f64::from(codes[i]);
    }
    three = Data::of(45, 5, values, codes);
    let report = three.study(&short()).unwrap();
    assert_eq!(report.methods[..], [StudyMethod::Exact, StudyMethod::Rfe, StudyMethod::InfoGain, StudyMethod::Kta]);
    assert!(report.panel.as_ref().unwrap().selected.contains(&0));
    assert!(report.folds.iter().all(|f| f.judgement.probabilities.is_none() && f.judgement.confusion.len() == 3));
    let proven = three.study(&StudySettings { methods: vec![StudyMethod::Exact], ..short() }).unwrap().panel.unwrap();
    assert_eq!(proven.outcome().status, Status::Optimal);
    assert_eq!(proven.swaps.len(), proven.selected.len());
    let areas = StudySettings { rule: Score::Auc, ..short() };
    assert!(three.study(&areas).unwrap().panel.unwrap().selected.contains(&0));
}

#[test]
fn data_that_cannot_be_studied_are_named() {
    let refused = |data: &Data, settings: &StudySettings| match data.study(settings) {
        Err(error) => error.to_string(),
        Ok(_) => panic!("it was accepted"),
    };
    let mut few = Data::new(20, 3, 1, 1);
    few.target.codes = (0..20).map(|i| u32::from(i < 2)).collect();
    assert!(refused(&few, &short()).contains("class c1 has 2 samples"), "{}", refused(&few, &short()));
    let mut missing = Data::new(20, 3, 1, 1);
    let Features::Dense(design) = &mut missing.features else { unreachable!() };
    design.column_mut(1)[4] = f64::NAN;
    assert!(refused(&missing, &short()).contains("sample 4, feature 1 is NaN"));
    let one = Data::of(1, 1, vec![1.0], vec![0]);
    assert!(refused(&one, &StudySettings { sizes: None, ..short() }).contains("one class"));
    let data = Data::new(20, 3, 1, 1);
    let with = |change: &dyn Fn(&mut StudySettings)| {
        let mut settings = short();
        change(&mut settings);
        refused(&data, &settings)
    };
    assert!(with(&|s| s.sizes = Some(vec![4])).contains("max_features is 4"));
    assert!(with(&|s| s.sizes = Some(vec![2, 1])).contains("ascending"));
    assert!(with(&|s| s.folds = 1).contains("folds is 1"));
    assert!(with(&|s| s.folds = 21).contains("at most the number of samples, 20"));
    assert!(with(&|s| s.rules.max_features = Some(2)).contains("left out"));
    assert!(with(&|s| s.class_weight = ClassWeights::Each(vec![1.0])).contains("one for each of the 2 classes"));
}

/// A class of few samples is missing in some held-out parts: there its scores have no meaning, and
/// the study goes on.
#[test]
fn a_class_that_is_missing_in_a_fold() {
    let mut data = Data::new(40, 4, 1, 21);
    data.target.codes = (0..40).map(|i| u32::from(i % 10 == 0)).collect();
    let Features::Dense(design) = &mut data.features else { unreachable!() };
    for i in 0..40 {
        design.column_mut(0)[i] = if i % 10 == 0 { 5.0 } else { 0.0 } + 0.1 * (i % 7) as f64;
    }
    let settings = StudySettings { folds: 8, rule: Score::Auc, sizes: Some(vec![1]), ..short() };
    let report = data.study(&settings).unwrap();
    assert_eq!(report.folds.len(), 8);
    assert!(report.folds.iter().any(|f| f.judgement.metrics.auc.is_none()));
    assert_eq!(report.panel.unwrap().selected, [0]);
}

#[test]
fn rules_of_choice_are_text() {
    for rule in Score::ALL {
        assert_eq!(rule.to_string().parse::<Score>(), Ok(rule));
    }
    assert_eq!("auc".parse(), Ok(Score::Auc));
    assert!(["auc:best", "hinge", ""].iter().all(|text| text.parse::<Score>().is_err()));
    let settings = StudySettings { class_weight: ClassWeights::Each(vec![1.0, 2.0]), ..short() };
    let text = serde_json::to_string(&settings).unwrap();
    assert_eq!(serde_json::from_str::<StudySettings>(&text).unwrap(), settings);
    assert!(serde_json::from_str::<StudySettings>("{\"unknown\": 1}").is_err());
}

#[test]
fn however_little_time_there_is_a_panel() {
    let data = Data::new(240, 30, 3, 21);
    for milliseconds in [1, 20, 100] {
        let limits = Limits { time: Some(Duration::from_millis(milliseconds)), ..Limits::default() };
        for methods in [vec![StudyMethod::Exact], vec![StudyMethod::Rfe], Vec::new()] {
            let settings = StudySettings { methods, ..StudySettings::default() };
            let report = data.limited(&settings, &limits, None).unwrap();
            let panel = report.panel.expect("the filter stands in");
            assert!(!panel.selected.is_empty() && panel.model.is_some());
            if report.status == Status::TimeLimit {
                let left = report.effort.folds_left + report.effort.splits_left + report.effort.selections_left;
                assert!(left > 0 || report.folds.iter().any(|fold| fold.stopped), "{:?}", report.effort);
            }
        }
    }
}

#[test]
fn an_interaction_of_two_features_is_found_on_more_samples_and_features() {
    for (n, p) in [(200, 6), (401, 41)] {
        let mut data = Data::new(n, p, 0, 23);
        let Features::Dense(design) = &data.features else { unreachable!() };
        let (a, b) = (design.column(0).to_vec(), design.column(1).to_vec());
        let values: Vec<f64> = (0..p).flat_map(|j| design.column(j).to_vec()).collect();
        let codes = a.iter().zip(&b).map(|(a, b)| u32::from(a * b > 0.0)).collect();
        data = Data::of(n, p, values, codes);
        let settings =
            StudySettings { folds: 2, repeats: 1, inner_folds: 3, cost_points: 2, ..StudySettings::default() };
        let report = data.study(&settings).unwrap();
        let panel = report.panel.as_ref().unwrap();
        assert_eq!((panel.choice.method, &panel.selected[..2]), (StudyMethod::Kta, &[0, 1][..]), "{n} x {p}");
        assert!(panel.selected.len() <= 3, "{n} x {p}: {:?}", panel.selected);
        assert!(report.folds.iter().all(|fold| fold.judgement.metrics.accuracy > 0.7));
        assert!(report.left_out.is_empty());
    }
    let wide = Data::new(30, 101, 2, 25).study(&short()).unwrap();
    assert_eq!(wide.left_out, [StudyMethod::Kta]);
}

#[test]
fn the_smallest_panel_is_judged_beside_the_best() {
    let data = Data::new(120, 12, 2, 27);
    let best = data.study(&short()).unwrap();
    let settings = StudySettings { prefer: Prefer::Smallest, ..short() };
    let smallest = data.study(&settings).unwrap();
    let of = |report: &StudyReport, prefer| {
        report.choices(prefer).unwrap().map(|choice| (choice.choice, choice.selected, choice.summary["accuracy"]))
    };
    assert_eq!(of(&best, Prefer::Best), of(&smallest, Prefer::Smallest), "the same two, whichever is the panel");
    let [large, small] = of(&best, Prefer::Best);
    assert!(small.0.max_features <= large.0.max_features);
    assert_eq!(smallest.panel.as_ref().unwrap().choice, small.0);
    let difference = best.difference().unwrap();
    assert!((difference.mean - (large.2.mean - small.2.mean)).abs() < 1e-12);
    let one = StudySettings { sizes: Some(vec![2]), ..short() };
    let one = data.study(&one).unwrap();
    assert!(one.other.is_none() && !one.took_largest());
    // More features may help only where the panel has as many as it might.
    let mut few = best;
    let panel = few.panel.as_mut().unwrap();
    (panel.choice.max_features, panel.selected) = (3, vec![0, 1, 2]);
    assert!(few.took_largest());
    few.panel.as_mut().unwrap().selected.truncate(1);
    assert!(!few.took_largest());
}
