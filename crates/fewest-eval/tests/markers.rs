//! Markers: equal to enumeration, bound below all, judged on samples held out, rules kept.

use fewest::method::rfe::{RfeSettings, rfe_classes};
use fewest::model::FitSettings;
use fewest::{DenseDesign, Limits, RuleList, Rules, Samples, Silent, Status, SvmSettings, model};
use fewest_data::{Features, Target};
use fewest_eval::markers::{Expression, Level, MarkerPanel, MarkersReport, MarkersSettings, compare, markers};
use fewest_eval::{ClassWeights, Data, EvalError};
use fewest_testing::{Rng, allowed_subsets};

/// Classes of unequal numbers; feature j is high in class j % k, with noise, the last ones are noise.
fn data(k: usize, n: usize, p: usize, seed: u64) -> (Vec<f64>, Target) {
    let mut rng = Rng::new(seed);
    let codes: Vec<u32> = (0..n).map(|i| (i % (k + 2)).min(k - 1) as u32).collect();
    let value = |rng: &mut Rng, j: usize, i: usize| {
        let high = j + 2 < p && codes[i] as usize == j % k;
        (rng.normal() + if high { 2.0 } else { 0.0 }).max(-0.5) + 0.5
    };
    let mut values = Vec::with_capacity(n * p);
    for j in 0..p {
        for i in 0..n {
            values.push(value(&mut rng, j, i));
        }
    }
    let classes = (0..k).map(|class| format!("type {class}")).collect();
    (values, Target { column: "y".into(), classes, codes })
}

fn find(features: &Features, target: &Target, settings: &MarkersSettings) -> Result<MarkersReport, EvalError> {
    let weights = vec![1.0; target.codes.len()];
    markers(&Data::new(features, target, &weights), settings, &[], &Limits::default(), &mut Silent)
}

fn dense(values: &[f64], n: usize) -> Features {
    Features::Dense(DenseDesign::new(n, values.len() / n, values.to_vec()).unwrap())
}

fn sized(size: usize) -> MarkersSettings {
    MarkersSettings {
        rules: RuleList { max_features: Some(size), ..RuleList::default() },
        ..MarkersSettings::default()
    }
}

/// The objective of a subset from its definition: each pair of classes on its own.
fn objective(values: &[f64], target: &Target, panel: &MarkerPanel, subset: &[usize]) -> f64 {
    let n = target.codes.len();
    let mut features = dense(values, n);
    panel.learnt.apply(&mut features).unwrap();
    let by_class = ClassWeights::Balanced.of(&target.totals(&vec![1.0; target.codes.len()]));
    let weights: Vec<f64> = target.codes.iter().map(|&code| by_class[code as usize]).collect();
    let settings = FitSettings { svm: panel.svm.clone(), ..FitSettings::default() };
    let clock = fewest::Clock::unlimited();
    let model = model::fit(features.as_design(), subset, &target.codes, &weights, &settings, &clock).unwrap();
    model.machines.iter().map(|machine| machine.solution.primal).sum()
}

#[test]
fn the_panel_is_the_best_of_all_and_no_panel_is_below_the_bound() {
    for (seed, k, size) in [(1, 3, 2), (2, 3, 3), (3, 4, 3)] {
        let (values, target) = data(k, 48, 9, seed);
        let features = dense(&values, 48);
        let mut settings = MarkersSettings { slack: 0.0, ..sized(size) };
        settings.rules.at_most = vec![(1, vec![0, k])];
        let found = find(&features, &target, &settings).unwrap();
        assert_eq!(found.status, Status::Completed);
        let panel = found.panel.as_ref().unwrap();
        let rules = Rules::new(9, settings.rules.clone(), &[]).unwrap();
        let each = allowed_subsets(&rules).into_iter().filter(|subset| !subset.is_empty());
        let best = each
            .map(|subset| objective(&values, &target, panel, &subset.iter().collect::<Vec<_>>()))
            .fold(f64::INFINITY, f64::min);
        let (own, bound) = (panel.outcome.objective.unwrap(), panel.outcome.bound.unwrap());
        assert!((own - best).abs() <= 1e-4 * best, "{own} {best}");
        assert!(bound <= best * (1.0 + 1e-9), "{bound} {best}");
        let mut ascending = panel.features.clone();
        ascending.sort_unstable();
        assert_eq!(ascending, panel.model.features);
    }
}

#[test]
fn folds_judge_samples_that_took_no_part() {
    let (mut values, target) = data(3, 90, 12, 7);
    let settings = sized(3);
    let good = find(&dense(&values, 90), &target, &settings).unwrap();
    assert!(good.judged.macro_f1().unwrap().mean > 0.8, "{:?}", good.judged.macro_f1());
    assert!(good.judged.confused().iter().all(|pair| pair.share >= 0.1));
    let by_class = good.judged.classes();
    assert_eq!(by_class.iter().map(|class| class.samples).sum::<u64>(), 90);
    let recall: f64 = by_class.iter().map(|class| class.recall.unwrap()).sum::<f64>() / 3.0;
    let balanced: f64 = good.judged.summaries().iter().find(|of| of.0 == "balanced_accuracy").unwrap().1.mean;
    assert!((recall - balanced).abs() < 0.05);
    // Features that say nothing: as good as chance.
    let mut rng = Rng::new(9);
    for value in &mut values {
        *value = rng.normal();
    }
    let chance = find(&dense(&values, 90), &target, &settings).unwrap();
    assert!(chance.judged.macro_f1().unwrap().mean < 0.55, "{:?}", chance.judged.macro_f1());
}

#[test]
fn each_class_has_its_markers_and_expression_keeps_its_limits() {
    let (values, target) = data(4, 80, 14, 3);
    let features = dense(&values, 80);
    let settings = MarkersSettings { per_class: 2, ..sized(8) };
    let found = find(&features, &target, &settings).unwrap();
    let panel = found.panel.as_ref().unwrap();
    for class in 0..4 {
        assert!(panel.table.iter().filter(|of| of.highest() == class).count() >= 2, "{:?}", panel.table);
    }
    let too_many = MarkersSettings { per_class: 9, ..sized(40) };
    let refused = find(&features, &target, &too_many).unwrap_err().to_string();
    assert!(refused.contains("9 features that are high in class type"), "{refused}");
    let most = panel.table.iter().map(Expression::largest).fold(0.0, f64::max);
    let limited = MarkersSettings { expression: [None, Some(0.95 * most)], ..sized(8) };
    let found = find(&features, &target, &limited).unwrap();
    assert!(found.panel.unwrap().table.iter().all(|of| of.largest() <= 0.95 * most));
}

#[test]
fn what_comes_back_on_halves_takes_the_place_of_what_does_not_within_the_slack() {
    let mut exchanged = 0;
    for seed in 0..6 {
        let (values, target) = data(3, 60, 14, 40 + seed);
        let features = dense(&values, 60);
        let mut settings = MarkersSettings { slack: 0.0, ..sized(4) };
        settings.rules.at_most = vec![(1, vec![0, 3]), (2, vec![1, 4, 7])];
        settings.rules.require = vec![13];
        let best = find(&features, &target, &settings).unwrap().panel.unwrap();
        let slack = 0.1;
        let panel = find(&features, &target, &MarkersSettings { slack, ..settings.clone() }).unwrap().panel.unwrap();
        let (of_best, own) = (best.outcome.objective.unwrap(), panel.outcome.objective.unwrap());
        let baseline = panel.outcome.yardstick.unwrap().baseline;
        assert!(own <= of_best + slack * (baseline - of_best) + 1e-3 * of_best, "{own} {of_best}");
        assert!(panel.outcome.bound.unwrap() <= of_best * (1.0 + 1e-9));
        assert!(Rules::new(14, settings.rules.clone(), &[]).unwrap().allows(panel.outcome.subset.as_ref().unwrap()));
        let recurs = |panel: &MarkerPanel| panel.standing.iter().map(|of| of.recurs.unwrap()).sum::<f64>();
        assert!(recurs(&panel) >= recurs(&best), "{} {}", recurs(&panel), recurs(&best));
        exchanged += usize::from(panel.model.features != best.model.features);
        for (at, standing) in panel.standing.iter().enumerate() {
            for by in &standing.replaceable_by {
                let swapped = panel.features.iter().map(|&j| if j == panel.features[at] { by.feature } else { j });
                let mut subset: Vec<usize> = swapped.collect();
                subset.sort_unstable();
                let price = (objective(&values, &target, &panel, &subset) - own) / (baseline - own);
                assert!((price.max(0.0) - by.price).abs() < 1e-3, "{price} {}", by.price);
            }
        }
    }
    assert!(exchanged > 0, "no panel has another one within the slack that comes back more");
}

#[test]
fn a_panel_stands_the_loss_of_a_marker() {
    let (values, target) = data(4, 120, 20, 77);
    let features = dense(&values, 120);
    let robust = MarkersSettings { robust: 1, ..sized(8) };
    let found = find(&features, &target, &robust).unwrap();
    let (panel, lost) = (found.panel.as_ref().unwrap(), found.lost.unwrap());
    // Features j, j + 4, ... are high in class j: two of each class tell it from every other.
    let of_class = |class: usize| panel.features.iter().filter(|&&j| j < 18 && j % 4 == class).count();
    assert!((0..4).filter(|&class| of_class(class) >= 2).count() >= 3, "{:?}", panel.features);
    assert!(lost.worst.mean <= lost.mean.mean && lost.mean.mean <= 1.0);
    let plain = find(&features, &target, &sized(8)).unwrap();
    assert!(plain.lost.is_none());
    assert!(panel.outcome.bound.unwrap() <= plain.panel.unwrap().outcome.objective.unwrap() * (1.0 + 1e-9));
    let few = find(&features, &target, &MarkersSettings { robust: 1, ..sized(2) }).unwrap_err();
    assert!(matches!(few, EvalError::NotRobust { size: 2, lost: 1, .. }), "{few}");
}

#[test]
fn required_features_are_judged_alone() {
    let (values, target) = data(3, 90, 12, 5);
    let mut settings = sized(4);
    // Noise.
    settings.rules.require = vec![11];
    let found = find(&dense(&values, 90), &target, &settings).unwrap();
    assert!(found.panel.as_ref().unwrap().features.contains(&11));
    assert!(found.judged.less(found.required.as_ref().unwrap()).unwrap().mean > 0.2);
    assert!(found.required.as_ref().unwrap().macro_f1().unwrap().mean < 0.6);
    let none = find(&dense(&values, 90), &target, &sized(4)).unwrap();
    assert!(none.required.is_none());
}

#[test]
fn means_and_shares_are_those_of_the_data() {
    let (values, target) = data(3, 60, 8, 2);
    let found = find(&dense(&values, 60), &target, &sized(3)).unwrap();
    let panel = found.panel.as_ref().unwrap();
    for (of, apart) in panel.table.iter().zip(&panel.apart) {
        for class in 0..3 {
            let of_class: Vec<f64> =
                (0..60).filter(|&i| target.codes[i] as usize == class).map(|i| values[of.feature * 60 + i]).collect();
            let n = of_class.len() as f64;
            assert!((of.mean[class] - of_class.iter().sum::<f64>() / n).abs() < 1e-12);
            assert!((of.share[class] - of_class.iter().filter(|x| **x > 0.0).count() as f64 / n).abs() < 1e-12);
        }
        assert!(apart.weight.iter().sum::<f64>().abs() < 1e-9);
        for pair in &apart.pairs {
            assert!(of.mean[pair.high as usize] >= of.mean[pair.low as usize]);
        }
    }
}

#[test]
fn threads_change_nothing() {
    let (values, target) = data(4, 80, 20, 4);
    let features = dense(&values, 80);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| find(&features, &target, &sized(4)).unwrap());
        let panel = found.panel.as_ref().unwrap();
        (panel.features.clone(), panel.outcome.objective, found.judged.by_fold(), found.judged.confusion())
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn a_sample_of_the_samples_makes_the_folds_and_all_make_the_panel() {
    let (values, target) = data(3, 120, 10, 6);
    let features = dense(&values, 120);
    let sampled = find(&features, &target, &MarkersSettings { sample: 60, ..sized(3) }).unwrap();
    assert!(
        sampled.sampled <= 60 && sampled.judged.folds.iter().map(|fold| fold.n_test).sum::<usize>() == sampled.sampled
    );
    let fixed = |sample| MarkersSettings { sample, cost: Some(0.05), ..sized(3) };
    let all = find(&features, &target, &fixed(200)).unwrap().panel.unwrap();
    let few = find(&features, &target, &fixed(60)).unwrap().panel.unwrap();
    // The order is found on the sample.
    assert_eq!((all.model.features, all.outcome.objective), (few.model.features, few.outcome.objective));
}

#[test]
fn what_cannot_be_asked_is_refused() {
    let (values, target) = data(3, 30, 5, 1);
    let features = dense(&values, 30);
    let refused = |settings: MarkersSettings| find(&features, &target, &settings).unwrap_err().to_string();
    assert!(refused(MarkersSettings::default()).contains("max_features"));
    assert!(refused(MarkersSettings { folds: 1, ..sized(2) }).contains("at least 2"));
    assert!(refused(MarkersSettings { class_cost: 0.0, ..sized(2) }).contains("class_cost"));
    assert!(refused(MarkersSettings { expression: [Some(2.0), Some(1.0)], ..sized(2) }).contains("expression"));
}

#[test]
fn lists_are_compared_on_the_same_folds_and_with_the_best_of_their_size() {
    let (values, target) = data(3, 90, 12, 5);
    let (features, weights) = (dense(&values, 90), vec![1.0; 90]);
    let samples = Data::new(&features, &target, &weights);
    let lists = [vec![0, 1, 2], vec![0, 10, 11], vec![0, 1, 2], vec![10]];
    let settings = MarkersSettings::default();
    let found = compare(&samples, &lists, &settings, &[], &Limits::default(), &mut Silent).unwrap();
    assert_eq!((found.status, found.lists.len()), (Status::Completed, 4));
    let f1: Vec<f64> = found.lists.iter().map(|list| list.judged.macro_f1().unwrap().mean).collect();
    assert!(f1[0] > f1[1] + 0.1 && f1[1] > f1[3], "{f1:?}");
    let [first, other, same, alone] = &found.lists[..] else { unreachable!() };
    assert_eq!(
        (first.judged.by_fold(), first.gap(), first.clusters),
        (same.judged.by_fold(), same.gap(), same.clusters)
    );
    assert_eq!(same.judged.less(&first.judged).unwrap().mean, 0.0);
    let less = other.judged.less(&first.judged).unwrap();
    assert!((less.mean - (f1[1] - f1[0])).abs() < 1e-12 && less.mean < 0.0);
    // The panel that `markers` finds is the best of three, and no list is below the bound.
    let best = find(&features, &target, &MarkersSettings { slack: 0.0, ..sized(3) }).unwrap().panel.unwrap();
    let known = first.best.as_ref().unwrap();
    assert!(known.objective.unwrap() <= best.outcome.objective.unwrap() * (1.0 + 1e-3));
    for list in &found.lists {
        assert!(list.objective.unwrap() >= list.best.as_ref().unwrap().bound.unwrap() * (1.0 - 1e-9));
        assert!(list.gap().unwrap() >= 0.0);
    }
    assert!(first.gap().unwrap() < other.gap().unwrap() && alone.gap().unwrap() > 0.5);
    let near = |at: usize| found.lists[at].clusters.unwrap();
    assert!(near(0).neighbours > near(1).neighbours && near(0).nmi > near(3).nmi && near(0).samples == 90);
    for wrong in [&lists[..1], &[vec![0], vec![]][..]] {
        let error = compare(&samples, wrong, &settings, &[], &Limits::default(), &mut Silent).unwrap_err();
        assert!(error.to_string().contains("two or more"), "{error}");
    }
}

/// Classes 0 and 1 in one lineage, 2 alone in another, 3 in a third.
fn lineages() -> Level {
    Level { name: "lineage".into(), of: ["a", "a", "b", "c"].map(String::from).to_vec() }
}

/// The objective of a subset where a pair of classes weighs what `weight` says: its C is that many times as
/// large.
fn weighed(
    values: &[f64],
    target: &Target,
    panel: &MarkerPanel,
    subset: &[usize],
    weight: impl Fn(u32, u32) -> f64,
) -> f64 {
    let n = target.codes.len();
    let mut features = dense(values, n);
    panel.learnt.apply(&mut features).unwrap();
    let by_class = ClassWeights::Balanced.of(&target.totals(&vec![1.0; n]));
    let mut sum = 0.0;
    for a in 0..target.classes.len() as u32 {
        for b in 0..a {
            let rows: Vec<usize> = (0..n).filter(|&i| [a, b].contains(&target.codes[i])).collect();
            let codes: Vec<u32> = rows.iter().map(|&i| u32::from(target.codes[i] == a)).collect();
            let weights: Vec<f64> = rows.iter().map(|&i| by_class[target.codes[i] as usize]).collect();
            let svm = SvmSettings { cost: panel.svm.cost * weight(a, b), ..panel.svm.clone() };
            let settings = FitSettings { svm, ..FitSettings::default() };
            let part = features.rows(&rows);
            let clock = fewest::Clock::unlimited();
            let model = model::fit(part.as_design(), subset, &codes, &weights, &settings, &clock).unwrap();
            sum += model.machines[0].solution.primal;
        }
    }
    sum
}

#[test]
fn a_panel_of_a_hierarchy_is_the_best_of_all_by_weighed_pairs() {
    // Of six pairs one is inside a lineage, and five are of two.
    for (seed, level_weights, [inside, between]) in
        [(1, vec![], [3.0, 0.6]), (2, vec![1.0, 3.0], [4.5, 0.3]), (3, vec![4.0, 1.0], [1.2, 0.96])]
    {
        let (values, target) = data(4, 48, 9, seed);
        let features = dense(&values, 48);
        let settings = MarkersSettings { hierarchy: vec![lineages()], level_weights, slack: 0.0, ..sized(3) };
        let found = find(&features, &target, &settings).unwrap();
        let panel = found.panel.as_ref().unwrap();
        let weight = |a: u32, b: u32| if a < 2 && b < 2 { inside } else { between };
        let of = |subset: &[usize]| weighed(&values, &target, panel, subset, weight);
        let rules = Rules::new(9, settings.rules.clone(), &[]).unwrap();
        let each = allowed_subsets(&rules).into_iter().filter(|subset| !subset.is_empty());
        let best = each.map(|subset| of(&subset.iter().collect::<Vec<_>>())).fold(f64::INFINITY, f64::min);
        let (own, bound) = (panel.outcome.objective.unwrap(), panel.outcome.bound.unwrap());
        assert!(
            (own - best).abs() <= 1e-4 * best && (own - of(&panel.model.features)).abs() <= 1e-4 * best,
            "{own} {best}"
        );
        assert!(bound <= best * (1.0 + 1e-9), "{bound} {best}");
        // Without a hierarchy the objective is another one.
        let plain = objective(&values, &target, panel, &panel.model.features);
        assert!((own - plain).abs() > 1e-3 * best, "{own} {plain}");
    }
}

#[test]
fn each_level_is_judged_by_the_same_folds() {
    let (values, target) = data(4, 80, 9, 5);
    let features = dense(&values, 80);
    let settings = MarkersSettings { hierarchy: vec![lineages()], ..sized(3) };
    let found = find(&features, &target, &settings).unwrap();
    let levels = settings.levels(&target);
    assert_eq!(levels.iter().map(|level| level.name.as_str()).collect::<Vec<_>>(), ["lineage", "y"]);
    assert_eq!((levels[0].classes.join(","), &levels[0].of), ("a,b,c".to_owned(), &vec![0, 0, 1, 2]));
    // By hand: F1 of a is of both classes together.
    let by_hand = |confusion: &[Vec<u64>]| {
        let f1 = |inside: &[usize]| {
            let sum = |rows: &[usize], columns: &[usize]| -> f64 {
                rows.iter().flat_map(|&i| columns.iter().map(move |&j| confusion[i][j] as f64)).sum()
            };
            let all = [0, 1, 2, 3];
            2.0 * sum(inside, inside) / (sum(inside, &all) + sum(&all, inside))
        };
        (f1(&[0, 1]) + f1(&[2]) + f1(&[3])) / 3.0
    };
    let folds = &found.judged.folds;
    let mean = folds.iter().map(|fold| by_hand(&fold.confusion)).sum::<f64>() / folds.len() as f64;
    let lineage = found.judged.macro_f1_of(&levels[0].of).unwrap();
    assert!((lineage.mean - mean).abs() < 1e-12, "{lineage:?} {mean}");
    let classes = found.judged.macro_f1().unwrap();
    assert_eq!(found.judged.macro_f1_of(&levels[1].of).unwrap(), classes);
    assert!(lineage.mean != classes.mean && classes.mean < 1.0, "{lineage:?} {classes:?}");
}

#[test]
fn a_hierarchy_that_is_none_is_refused() {
    let (values, target) = data(4, 48, 6, 1);
    let features = dense(&values, 48);
    let refused = |settings: MarkersSettings| find(&features, &target, &settings).unwrap_err().to_string();
    let level = |name: &str, of: [&str; 4]| Level { name: name.into(), of: of.map(String::from).to_vec() };
    let of = |hierarchy: Vec<Level>| MarkersSettings { hierarchy, ..sized(2) };
    let one = refused(of(vec![level("all", ["x"; 4])]));
    assert!(one.contains("all has x alone"), "{one}");
    let crossed = refused(of(vec![lineages(), level("mid", ["m", "n", "n", "o"])]));
    assert!(crossed.contains("n of mid is in a and in b"), "{crossed}");
    let rest = refused(MarkersSettings { multi_class: fewest::MultiClass::OneVsRest, ..of(vec![lineages()]) });
    assert!(rest.contains("one-vs-rest"), "{rest}");
    for level_weights in [vec![1.0], vec![1.0, 0.0], vec![1.0, 1.0, 1.0]] {
        let why = refused(MarkersSettings { level_weights, ..of(vec![lineages()]) });
        assert!(why.contains("level_weights") && why.contains("2 numbers above 0"), "{why}");
    }
    let alone = refused(MarkersSettings { level_weights: vec![1.0], ..sized(2) });
    assert!(alone.contains("no hierarchy"), "{alone}");
    // Two levels and the classes, the last of which may be named.
    let names = target.classes.clone();
    let three = vec![level("top", ["l", "l", "l", "r"]), lineages(), Level { name: "y".into(), of: names }];
    let settings = MarkersSettings { level_weights: vec![1.0, 2.0, 3.0], ..of(three) };
    assert_eq!(find(&features, &target, &settings).unwrap().status, Status::Completed);
    let values = |at: usize| ["p", "q"][at].to_owned();
    let samples: Vec<String> = target.codes.iter().map(|&code| values(usize::from(code > 1))).collect();
    assert_eq!(Level::of_samples("half", &samples, &target).unwrap().of, ["p", "p", "q", "q"]);
    let mixed: Vec<String> = (0..target.codes.len()).map(|i| values(i % 2)).collect();
    let error = Level::of_samples("half", &mixed, &target).unwrap_err().to_string();
    assert!(error.contains("class type 3 is in q and in p of half"), "{error}");
}

#[test]
fn an_elimination_weighs_pairs_with_few_samples_and_with_many() {
    // 48 samples have one matrix for all pairs where they are at most twice the features.
    for p in [9, 30] {
        let (values, target) = data(4, 48, p, 2);
        let features = dense(&values, 48);
        let weight = |a: u32, b: u32| f64::from(1 + a + 2 * b);
        let samples = Samples::new(features.as_design(), &target.codes, None).unwrap().weighing_pairs(weight);
        let rules = Rules::at_most_features(p, 3).unwrap();
        let svm = SvmSettings { cost: 0.05, tolerance: 1e-8, ..SvmSettings::default() };
        let settings = RfeSettings { svm: svm.clone(), ..RfeSettings::default() };
        let found = rfe_classes(&samples, &rules, &settings, Limits::default(), &mut Silent).unwrap();
        let outcome = found.selection.outcome;
        let subset: Vec<usize> = outcome.subset.unwrap().iter().collect();
        let mut sum = 0.0;
        for (a, b) in (0..4).flat_map(|b: u32| (0..b).map(move |a| (a, b))) {
            let rows: Vec<usize> = (0..48).filter(|&i| [a, b].contains(&target.codes[i])).collect();
            let codes: Vec<u32> = rows.iter().map(|&i| u32::from(target.codes[i] == b)).collect();
            let settings = FitSettings {
                svm: SvmSettings { cost: svm.cost * weight(a, b), ..svm.clone() },
                ..FitSettings::default()
            };
            let (part, clock) = (features.rows(&rows), fewest::Clock::unlimited());
            let weights = vec![1.0; rows.len()];
            let model = model::fit(part.as_design(), &subset, &codes, &weights, &settings, &clock).unwrap();
            sum += model.machines[0].solution.primal;
        }
        let own = outcome.objective.unwrap();
        assert!((own - sum).abs() <= 1e-4 * sum, "{p}: {own} {sum}");
    }
}
