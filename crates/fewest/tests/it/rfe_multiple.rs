//! Multiple SVM-RFE against the paper's loop, which trains every machine from nothing; halving; what
//! is refused.

use std::time::Duration;

use fewest::dual::train::train;
use fewest::kernel_oracle::Criterion;
use fewest::method::rfe::path::rfe_classes_path;
use fewest::method::rfe::splits::rfe_paths;
use fewest::method::rfe::{Resamples, Resampling, RfeSettings, Step, Tuning, rfe, rfe_classes};
use fewest::validation::Folds;
use fewest::{
    Clock, DenseDesign, Design, Kernel, Limits, Loss, Problem, RuleList, Rules, Samples, Selection, Silent, Status,
    Subset, SvmSettings, WeightBound,
};
use fewest_testing::{RandomProblem, Rng};

fn settings(resamples: Resamples) -> RfeSettings {
    let svm = SvmSettings { tolerance: 1e-11, ..SvmSettings::default() };
    RfeSettings { svm, resamples: Some(resamples), ..RfeSettings::default() }
}

fn run(samples: &Samples<'_>, rules: &Rules, settings: &RfeSettings) -> Selection {
    rfe_classes(samples, rules, settings, Limits::default(), &mut Silent).unwrap().selection
}

/// Features in the order they left, and the smallest relative distance of a criterion that left
/// from the next one.
struct Loop {
    left: Vec<usize>,
    closest: f64,
}

/// The loop of the paper, word for word: train on every resample, scale each weight vector to norm
/// 1, and drop the unit of smallest mean by deviation, until `least` features are left. `drawn`
/// names the weights of each resample of a step.
fn plain_loop(
    samples: &Samples<'_>,
    svm: &SvmSettings,
    (mut units, least): (Vec<Vec<usize>>, usize),
    drawn: &dyn Fn(u64) -> Vec<Vec<f64>>,
    leaving: &dyn Fn(usize) -> usize,
) -> Loop {
    let svm = SvmSettings { tolerance: 1e-13, ..svm.clone() };
    let mut out = Loop { left: Vec::new(), closest: f64::INFINITY };
    let count = |units: &[Vec<usize>]| units.iter().map(Vec::len).sum::<usize>();
    for step in 1.. {
        if count(&units) <= least {
            break;
        }
        let alive: Vec<usize> = units.concat();
        let shares: Vec<Vec<f64>> = drawn(step).iter().map(|w| squared_shares(samples, &svm, &alive, w)).collect();
        let criterion = |unit: &Vec<usize>| {
            let of = |shares: &Vec<f64>| -> f64 {
                unit.iter().map(|j| shares[alive.iter().position(|k| k == j).unwrap()]).sum()
            };
            let v: Vec<f64> = shares.iter().map(of).collect();
            let mean = v.iter().sum::<f64>() / v.len() as f64;
            let deviation = (v.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (v.len() - 1) as f64).sqrt();
            if deviation > 0.0 { mean / deviation } else { mean.signum() * f64::INFINITY }
        };
        let mut order: Vec<(f64, Vec<usize>)> = units.iter().map(|unit| (criterion(unit), unit.clone())).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1[0].cmp(&a.1[0])));
        let drop = leaving(count(&units)).min(order.len() - 1);
        for pair in order[..=drop].windows(2) {
            out.closest = out.closest.min((pair[1].0 - pair[0].0) / pair[1].0);
        }
        for (_, unit) in &order[..drop] {
            out.left.extend(unit);
            units.retain(|other| other != unit);
        }
    }
    out
}

/// `w_j^2 / |w|^2` of the features alive, summed over the pairs of classes.
fn squared_shares(samples: &Samples<'_>, svm: &SvmSettings, alive: &[usize], weights: &[f64]) -> Vec<f64> {
    let mut squares = vec![0.0; alive.len()];
    for (a, b) in (0..samples.n_classes()).flat_map(|a| (a + 1..samples.n_classes()).map(move |b| (a, b))) {
        let classes = samples.classes();
        // Its samples alone, so that no weight of 0 is asked for.
        let takes = |i: &usize| weights[*i] > 0.0 && (classes[*i] == a || classes[*i] == b);
        let chosen: Vec<usize> = (0..classes.len()).filter(takes).collect();
        let design = samples.design().select_samples(&chosen);
        let y: Vec<f64> = chosen.iter().map(|&i| if classes[i] == b { 1.0 } else { -1.0 }).collect();
        let own: Vec<f64> = chosen.iter().map(|&i| weights[i]).collect();
        let found = train(&*design, alive, &y, &own, Kernel::Linear, svm, &Clock::unlimited()).unwrap();
        squares.iter_mut().zip(&found.weights).for_each(|(square, w)| *square += w * w);
    }
    let total: f64 = squares.iter().sum();
    squares.iter().map(|square| square / total).collect()
}

/// Classes of a random problem of two, or of three by its first feature as well.
fn drawn(n: usize, p: usize, density: f64, three: bool, seed: u64) -> (Box<dyn Design>, Vec<u32>) {
    let draw = RandomProblem { n, p, density, noise: 0.1, seed };
    let (design, labels): (Box<dyn Design>, _) = if density < 1.0 {
        let (design, labels) = draw.draw_sparse();
        (Box::new(design), labels)
    } else {
        let (design, labels) = draw.draw();
        (Box::new(design), labels)
    };
    let mut first = vec![0.0; n];
    design.add_column(0, 1.0, &mut first);
    let class = |(y, x): (&f64, &f64)| if three && *x > 0.4 { 2 } else { u32::from(*y > 0.0) };
    let classes = labels.iter().zip(&first).map(class).collect();
    (design, classes)
}

/// The features that left a run, the first one first.
fn left(found: &Selection) -> Vec<usize> {
    let size = found.outcome.subset.as_ref().unwrap().len();
    found.ranking[size..].iter().rev().map(|r| r.feature).collect()
}

#[test]
fn equals_the_loop_of_the_paper_with_folds_fixed_and_drawn() {
    let mut compared = 0;
    // p >> n works on the Gram matrix, n >> p on rows; sparse data on both.
    for (n, p, density) in [(20, 40, 1.0), (24, 30, 0.4), (90, 10, 1.0), (90, 12, 0.3)] {
        for seed in 0..8 {
            let (design, classes) = drawn(n, p, density, seed % 3 == 2, 700 * n as u64 + seed);
            let samples = Samples::new(&*design, &classes, None).unwrap();
            let resampling = if seed % 2 == 0 { Resampling::Folds } else { Resampling::Bootstrap };
            let fixed = (seed % 4 == 0).then(|| {
                // Each class in turn, so that every training part has all.
                let mut seen = [0; 3];
                let next = |&class: &u32| {
                    seen[class as usize] += 1;
                    seen[class as usize] % 5
                };
                Folds::new(classes.iter().map(next).collect()).unwrap()
            });
            let resamples = Resamples { count: 5, resampling, seed, folds: fixed.clone() };
            let weights = |step| match &fixed {
                Some(folds) => (0..5)
                    .map(|fold| (0..n).map(|i| f64::from(u8::from(folds.split(fold).0.contains(&i)))).collect())
                    .collect(),
                None => resamples.weights(&samples, step),
            };
            let mut settings = settings(resamples.clone());
            settings.svm.loss = if seed % 4 == 3 { Loss::SquaredHinge } else { Loss::Hinge };
            let units = (0..p).map(|j| vec![j]).collect();
            let plain = plain_loop(&samples, &settings.svm, (units, 3), &weights, &|_| 1);
            if plain.closest < 1e-5 {
                continue;
            }
            compared += 1;
            let report = rfe_classes(
                &samples,
                &Rules::at_most_features(p, 3).unwrap(),
                &settings,
                Limits::default(),
                &mut Silent,
            );
            let report = report.unwrap();
            assert_eq!(left(&report.selection), plain.left, "{n} {p} {seed}");
            assert_eq!(report.certain_steps, None);
            // The objective is that of all samples.
            let subset = report.selection.outcome.subset.unwrap();
            let one = Rules::at_most_features(p, 3).unwrap();
            let start = Some(subset.iter().collect());
            let whole = RfeSettings { resamples: None, start, ..settings };
            let whole = rfe_classes(&samples, &one, &whole, Limits::default(), &mut Silent).unwrap().selection;
            let (a, b) = (report.selection.outcome.objective.unwrap(), whole.outcome.objective.unwrap());
            assert!((a - b).abs() < 1e-8 * b, "{a} {b}");
        }
    }
    assert!(compared > 20, "only {compared} runs without a tie");
}

#[test]
fn units_leave_by_the_sum_of_their_shares() {
    let mut compared = 0;
    for seed in 0..6 {
        let (design, classes) = drawn(18, 24, 1.0, false, 40 + seed);
        let samples = Samples::new(&*design, &classes, None).unwrap();
        let together = vec![vec![1, 8, 20], vec![3, 4]];
        let list = RuleList { max_features: Some(6), together: together.clone(), ..RuleList::default() };
        let rules = Rules::new(24, RuleList { forbid: [7].into_iter().collect(), ..list }, &[]).unwrap();
        let resamples = Resamples { count: 4, seed, ..Resamples::default() };
        let joined = together.concat();
        let mut units: Vec<Vec<usize>> = (0..24).filter(|j| !joined.contains(j) && *j != 7).map(|j| vec![j]).collect();
        units.extend(together);
        let settings = settings(resamples.clone());
        let weights = |step| resamples.weights(&samples, step);
        let plain = plain_loop(&samples, &settings.svm, (units, 6), &weights, &|_| 1);
        let found = run(&samples, &rules, &settings);
        assert!(rules.allows(found.outcome.subset.as_ref().unwrap()));
        if plain.closest > 1e-5 {
            compared += 1;
            // Forbidden features come first; those of a unit leave together.
            let kept: Subset = Subset::from_indices(24, (0..24).filter(|j| !plain.left.contains(j) && *j != 7));
            assert_eq!(found.outcome.subset.unwrap(), kept);
        }
    }
    assert!(compared > 3, "{compared}");
}

#[test]
fn halves_above_a_size_and_then_goes_one_by_one() {
    let mut compared = 0;
    for seed in 0..6 {
        let (design, classes) = drawn(20, 45, 1.0, false, 90 + seed);
        let samples = Samples::new(&*design, &classes, None).unwrap();
        let resamples = Resamples { count: 4, seed, ..Resamples::default() };
        let settings = RfeSettings { halve_above: Some(10), ..settings(resamples.clone()) };
        // R's round: 45 / 2 is 22, 23 / 2 is 12, 11 / 2 is 6.
        let leaving = |now: usize| if now > 10 { (now as f64 / 2.0).round_ties_even() as usize } else { 1 };
        let units = (0..45).map(|j| vec![j]).collect();
        let weights = |step| resamples.weights(&samples, step);
        let plain = plain_loop(&samples, &settings.svm, (units, 2), &weights, &leaving);
        let rules = Rules::at_most_features(45, 2).unwrap();
        let found = run(&samples, &rules, &settings);
        let mut sizes: Vec<usize> =
            (1..).map(|s| found.ranking.iter().filter(|r| r.step == Some(s)).count()).take(9).collect();
        sizes.retain(|&size| size > 0);
        assert_eq!(sizes, [22, 12, 6, 1, 1, 1]);
        if plain.closest > 1e-6 {
            compared += 1;
            assert_eq!(left(&found), plain.left);
        }
        // Without resamples, too: as one step of this many features.
        let single = RfeSettings { resamples: None, ..settings };
        let first = run(
            &samples,
            &Rules::at_most_features(45, 23).unwrap(),
            &RfeSettings { step: Step::Count(22), halve_above: None, ..single.clone() },
        );
        let halved = run(&samples, &rules, &single);
        assert_eq!(left(&first), left(&halved)[..22]);
    }
    assert!(compared > 2, "{compared}");
}

#[test]
fn twins_tie_and_a_feature_alone_has_no_deviation() {
    let mut rng = Rng::new(3);
    let column: Vec<f64> = (0..12).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 } + 0.2 * rng.normal()).collect();
    let constant = vec![0.0; 12];
    let x = [column.clone(), constant, column.clone(), column].concat();
    let design = DenseDesign::new(12, 4, x).unwrap();
    let classes: Vec<u32> = (0..12).map(|i| i % 2).collect();
    let samples = Samples::new(&design, &classes, None).unwrap();
    let resamples = Resamples { count: 3, ..Resamples::default() };
    let found = run(&samples, &Rules::at_most_features(4, 1).unwrap(), &settings(resamples.clone()));
    // What has no weight goes first; of twins the last.
    assert_eq!(left(&found), [1, 3, 2]);
    assert_eq!(found.ranking[3].criterion, 0.0);
    assert_eq!(found.ranking[0].criterion, f64::INFINITY);
    // Stopped before the first training, it still ends with what the rules allow.
    let limits = Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let rules = Rules::at_most_features(4, 2).unwrap();
    let stopped = rfe_classes(&samples, &rules, &settings(resamples), limits, &mut Silent).unwrap().selection;
    assert_eq!(stopped.outcome.status, Status::TimeLimit);
    assert!(rules.allows(&stopped.outcome.subset.unwrap()));
    assert_eq!(stopped.ranking.len(), 4);
}

#[test]
fn threads_change_nothing_and_a_path_is_its_sizes() {
    let (design, classes) = drawn(26, 50, 1.0, true, 5);
    let samples = Samples::new(&*design, &classes, None).unwrap();
    for resampling in [Resampling::Folds, Resampling::Bootstrap] {
        let settings = RfeSettings {
            halve_above: Some(30),
            ..settings(Resamples { count: 6, resampling, ..Resamples::default() })
        };
        let rules = Rules::at_most_features(50, 2).unwrap();
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(&samples, &rules, &settings).ranking)
        };
        assert_eq!(on(1), on(4));
        let sizes = [2, 5, 20, 40, 50];
        let path = rfe_classes_path(&samples, &Rules::none(50), &sizes, &settings, &Limits::default(), &mut Silent);
        for (point, size) in path.unwrap().into_iter().zip(sizes) {
            let alone = run(&samples, &Rules::at_most_features(50, size).unwrap(), &settings);
            assert_eq!(point.selection.outcome.subset, alone.outcome.subset, "{size}");
            let (a, b) = (point.selection.outcome.objective.unwrap(), alone.outcome.objective.unwrap());
            assert!((a - b).abs() < 1e-8 * b.abs(), "{size}: {a} {b}");
        }
    }
}

#[test]
fn samples_held_out_are_judged_by_the_machine_of_all_the_others() {
    let (design, classes) = drawn(30, 20, 1.0, false, 8);
    let samples = Samples::new(&*design, &classes, None).unwrap();
    let resampled = settings(Resamples { count: 4, ..Resamples::default() });
    let splits = Folds::new((0..30).map(|i| i / 2 % 3).collect()).unwrap().splits();
    let rules = Rules::at_most_features(20, 2).unwrap();
    let of = |settings: &RfeSettings| rfe_paths(&samples, &rules, settings, &splits, Limits::default(), &mut Silent);
    let paths = of(&resampled).unwrap();
    let plain = of(&RfeSettings { resamples: None, ..resampled.clone() }).unwrap();
    for (path, plain) in paths.iter().zip(&plain) {
        assert_eq!(path.sizes, plain.sizes);
        // With all features both are the same machine.
        for (a, b) in path.decisions_at(0).iter().zip(plain.decisions_at(0)) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
    let fixed = Resamples {
        count: 2,
        folds: Some(Folds::new((0..30).map(|i| i / 2 % 2).collect()).unwrap()),
        ..Resamples::default()
    };
    let error = of(&settings(fixed)).unwrap_err().to_string();
    assert!(error.contains("the folds of the resamples are of 30 samples, but there are 20"), "{error}");
}

#[test]
fn what_resamples_do_not_do_is_refused_by_name() {
    let (design, labels) = RandomProblem { n: 20, p: 8, density: 1.0, noise: 0.1, seed: 1 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let rules = Rules::at_most_features(8, 2).unwrap();
    let refused = |settings: &RfeSettings| {
        rfe(&problem, &rules, settings, Limits::default(), &mut Silent).unwrap_err().to_string()
    };
    let of = |count| Resamples { count, ..Resamples::default() };
    let base = settings(of(4));
    let folds = |k: u32| Folds::new((0..20).map(|i| i % k).collect()).unwrap();
    let tuning = Some(Tuning { costs: vec![1.0, 2.0], folds: folds(4), retune: 1 });
    for (settings, what) in [
        (settings(of(1)), "resamples is 1"),
        (settings(of(21)), "at most 20"),
        (RfeSettings { criterion: Criterion::Margin, ..base.clone() }, "resamples is 4"),
        (
            RfeSettings {
                criterion: Criterion::InputWeights,
                kernel: Kernel::Rbf { gamma: 1.0 }.into(),
                ..base.clone()
            },
            "linear kernel only",
        ),
        (RfeSettings { tuning, ..base.clone() }, "at one cost"),
        (RfeSettings { halve_above: Some(0), ..base.clone() }, "halve_above is 0"),
        (settings(Resamples { folds: Some(folds(5)), ..of(4) }), "5, the number of the folds"),
    ] {
        let error = refused(&settings);
        assert!(error.contains(what), "{what}: {error}");
    }
    let lone = Samples::new(&design, &(0..20).map(|i| u32::from(i == 3)).collect::<Vec<_>>(), None).unwrap();
    let error = rfe_classes(&lone, &rules, &base, Limits::default(), &mut Silent).unwrap_err().to_string();
    assert!(error.contains("class 1 has one sample"), "{error}");
    let weights = vec![WeightBound { feature: 0, lower: Some(0.0), upper: None }];
    let bounded = Rules::new(8, RuleList { max_features: Some(2), weights, ..RuleList::default() }, &[]).unwrap();
    let error = rfe(&problem, &bounded, &base, Limits::default(), &mut Silent).unwrap_err().to_string();
    assert!(error.contains("no bounds on weights"), "{error}");
}
