//! `fgm` against full enumeration and independent trainings, its solvers against each other, its
//! statuses.

use fewest::dual::train::train;
use fewest::method::fgm::{FgmReport, FgmSettings, Improve, Mkl, SelectedFeature, fgm};
use fewest::{
    Bias, Cancel, Clock, DenseDesign, Design, Error, Kernel, Limits, Memory, Problem, RuleList, Rules, Silent, Status,
    Subset,
};
use fewest_testing::{RandomProblem, Rng, allowed_subsets, random_rules};

/// The paper's value of the SVM on columns `sqrt(z_j) x_j`, and its weights `z_j c_j` up to scale,
/// by an independent training.
fn value(problem: &Problem<'_>, shares: &[(usize, f64)], settings: &FgmSettings) -> (f64, Vec<f64>) {
    let n = problem.n_samples();
    let mut values = vec![0.0; n * shares.len()];
    for (&(j, z), column) in shares.iter().zip(values.chunks_mut(n)) {
        problem.design().add_column(j, z.sqrt(), column);
    }
    let design = DenseDesign::new(n, shares.len(), values).expect("n values a column");
    let all: Vec<usize> = (0..shares.len()).collect();
    let svm = fewest::SvmSettings { tolerance: 1e-10, ..settings.svm() };
    let (y, weights) = (problem.labels(), problem.weights());
    let found = train(&design, &all, y, weights, Kernel::Linear, &svm, &Clock::unlimited()).expect("valid settings");
    let w = found.weights.iter().zip(shares).map(|(w, (_, z))| w * z.sqrt()).collect();
    (-0.25 / found.primal, w)
}

fn of_subset(problem: &Problem<'_>, subset: &Subset, settings: &FgmSettings) -> f64 {
    value(problem, &subset.iter().map(|j| (j, 1.0)).collect::<Vec<_>>(), settings).0
}

fn run(problem: &Problem<'_>, rules: &Rules, settings: &FgmSettings, limits: Limits) -> FgmReport {
    fgm(problem, rules, settings, limits, &mut Silent).expect("valid settings")
}

fn within(gap: f64) -> Limits {
    Limits { gap_rel: gap, ..Limits::default() }
}

/// The best value of the allowed subsets.
fn best_of(problem: &Problem<'_>, rules: &Rules, settings: &FgmSettings) -> f64 {
    allowed_subsets(rules).iter().map(|s| of_subset(problem, s, settings)).fold(f64::INFINITY, f64::min)
}

#[test]
fn the_bound_is_below_every_allowed_subset_and_meets_the_mixture() {
    let mut rng = Rng::new(11);
    let mut cases = 0;
    for case in 0..200 {
        let p = 2 + rng.below(7);
        let drawn = RandomProblem { n: 8 + rng.below(30), p, density: 0.8, noise: 0.15, seed: case };
        let (dense, labels) = drawn.draw();
        let (sparse, _) = drawn.draw_sparse();
        let weights: Vec<f64> = labels.iter().map(|_| if rng.chance(0.1) { 0.5 } else { 1.0 }).collect();
        let design: &dyn Design = if case % 2 == 0 { &dense } else { &sparse };
        let problem = Problem::new(design, &labels, Some(&weights)).expect("valid");
        // Rules that allow every union of allowed subsets, and a size for the generated subsets
        // alone.
        let list = RuleList { max_features: None, budget: None, at_most: vec![], ..random_rules(&mut rng, p) };
        let size = 1 + rng.below(p);
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { continue };
        let Ok(generated) = Rules::new(p, RuleList { max_features: Some(size), ..list }, &[]) else { continue };
        let settings = FgmSettings {
            subset_size: Some(size),
            cost: [0.05, 1.0, 20.0][rng.below(3)],
            bias: [Bias::None, Bias::None, Bias::Free, Bias::Penalised(1.5)][rng.below(4)],
            reuse: rng.chance(0.7),
            mkl: if rng.chance(0.3) { Mkl::Simple } else { Mkl::Fast },
            ..FgmSettings::default()
        };
        cases += 1;
        let about = format!("case {case}: {settings:?}, {:?}", rules.list());
        let best = best_of(&problem, &generated, &settings);
        let found = run(&problem, &rules, &settings, within(1e-5));
        let outcome = &found.selection.outcome;
        let (objective, bound) = (outcome.objective.expect("a mixture"), outcome.bound.expect("a bound"));
        assert!(bound <= best + 1e-9 * best.abs(), "{about}: bound {bound} above the best subset, {best}");
        assert!(objective <= best + 2e-5 * best.abs(), "{about}: mixture {objective} above the best subset, {best}");
        assert!(outcome.gap().expect("both") <= 1e-5, "{about}: {outcome:?}");
        let subset = outcome.subset.as_ref().expect("the features kept");
        assert!(rules.allows(subset), "{about}: {subset:?}");
        let status = if generated.allows(subset) { Status::Optimal } else { Status::Completed };
        assert_eq!(outcome.status, status, "{about}");

        // The mixture has the objective reported, and its weights are those of section 2.5.
        let shares: Vec<(usize, f64)> = found.kept.iter().map(|k| (k.feature, k.share)).collect();
        let (truth, w) = value(&problem, &shares, &settings);
        assert!(objective >= truth - 1e-9 * truth.abs(), "{about}: {objective} below the optimum {truth}");
        assert!(
            objective <= truth + 1e-5 * truth.abs(),
            "{about}: {objective}, but an independent training gives {truth}"
        );
        let norm = |w: &[f64]| w.iter().map(|x| x * x).sum::<f64>().sqrt();
        let ours: Vec<f64> = found.kept.iter().map(|k| k.weight).collect();
        let cosine = ours.iter().zip(&w).map(|(a, b)| a * b).sum::<f64>() / (norm(&ours) * norm(&w));
        assert!(norm(&w) < 1e-6 || cosine > 1.0 - 1e-3, "{about}: weights {ours:?} against {w:?}");
    }
    assert!(cases > 100, "only {cases} rules were free of contradictions");
}

#[test]
fn what_is_kept_obeys_the_rules_and_its_bound_holds() {
    let mut rng = Rng::new(12);
    let (mut cases, mut optimal, mut mixtures) = (0, 0, 0);
    for case in 0..300 {
        let p = 2 + rng.below(7);
        let drawn = RandomProblem { n: 8 + rng.below(30), p, density: 0.8, noise: 0.15, seed: case };
        let (x, labels) = drawn.draw();
        let problem = Problem::new(&x, &labels, None).expect("valid");
        let mut list = random_rules(&mut rng, p);
        list.max_features = list.max_features.filter(|_| rng.chance(0.6));
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { continue };
        let subset_size = rng.chance(0.6).then(|| 1 + rng.below(p));
        let settings = FgmSettings {
            subset_size,
            cost: [0.05, 1.0, 20.0][rng.below(3)],
            bias: [Bias::None, Bias::Free, Bias::Penalised(1.5)][rng.below(3)],
            reuse: rng.chance(0.7),
            improve: [Improve::Auto, Improve::None, Improve::Rankings, Improve::Rfe, Improve::Exchanges, Improve::Both]
                [case as usize % 6],
            mkl: if rng.chance(0.3) { Mkl::Simple } else { Mkl::Fast },
            ..FgmSettings::default()
        };
        let about = format!("case {case}: {settings:?}, {list:?}");
        let limits = Limits { oracle_calls: rng.chance(0.2).then_some(1), ..within(1e-5) };
        let report = match fgm(&problem, &rules, &settings, limits, &mut Silent) {
            Ok(report) => report,
            Err(Error::Rules(text)) => {
                assert!(subset_size.is_none() && list.max_features.is_none() && list.budget.is_none(), "{about}");
                assert!(text.contains("`subset_size` B") && text.contains("`max_features` K"), "{text}");
                continue;
            }
            // Subsets of this size contradict the other rules.
            Err(Error::Setting { name: "subset_size", .. }) => {
                let sized = RuleList { max_features: subset_size, ..list };
                assert!(Rules::new(p, sized, &[]).is_err(), "{about}");
                continue;
            }
            Err(other) => panic!("{about}: {other}"),
        };
        cases += 1;
        let outcome = &report.selection.outcome;
        let subset = outcome.subset.as_ref().expect("a subset");
        assert!(rules.allows(subset), "{about}: {subset:?}");
        assert_eq!(subset.iter().collect::<Vec<_>>(), report.kept.iter().map(|k| k.feature).collect::<Vec<_>>());
        let (objective, bound) = (outcome.objective.expect("a value"), outcome.bound.expect("a bound"));
        let truth = of_subset(&problem, subset, &settings);
        // Where every feature of the mixture is kept, the question is for subsets of the size
        // generated.
        let sized = RuleList { max_features: subset_size.or(list.max_features), ..list.clone() };
        let generated = Rules::new(p, sized, &[]).expect("it ran");
        let is_mixture = report.kept.iter().any(|k| k.share != 1.0);
        let asks_rules = list.max_features.is_some() || subset_size.is_none();
        assert!(!(is_mixture && asks_rules), "{about}: {:?}", report.kept);
        let is_of_generated = !asks_rules && (is_mixture || generated.allows(subset));
        let best = best_of(&problem, if is_of_generated { &generated } else { &rules }, &settings);
        assert!(bound <= best + 1e-9 * best.abs(), "{about}: bound {bound} above the best subset, {best}");
        if is_mixture {
            mixtures += 1;
            // A mixture is worth at most what the SVM on all its features is worth.
            assert!(truth <= objective + 1e-9 * truth.abs(), "{about}: {truth} {objective}");
            continue;
        }
        assert!((objective - truth).abs() <= 2e-5 * truth.abs(), "{about}: {objective}, but trained {truth}");
        if outcome.status == Status::Optimal {
            optimal += 1;
            assert!(outcome.gap().expect("both") <= 1e-5, "{about}: {outcome:?}");
            assert!((objective - best).abs() <= 2e-5 * best.abs(), "{about}: optimal at {objective}, best {best}");
        }
    }
    assert!(cases > 100 && optimal > 20 && mixtures > 10, "{cases} cases, {optimal} optimal, {mixtures} mixtures");
}

#[test]
fn with_a_size_the_best_of_the_mixture_is_kept() {
    let (x, labels) = RandomProblem { n: 120, p: 200, density: 0.6, noise: 0.2, seed: 6 }.draw_sparse();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let plain = FgmSettings { reuse: false, ..FgmSettings::default() };
    let of_mixture = FgmSettings { subset_size: Some(6), ..plain.clone() };
    let mixture = run(&problem, &Rules::none(200), &of_mixture, within(1e-4));
    assert!(mixture.kept.len() > 6, "too easy to show anything: {:?}", mixture.kept);
    let rules = Rules::at_most_features(200, 6).expect("valid");
    let found = run(&problem, &rules, &plain, within(1e-4));
    assert_eq!(found.kept.len(), 6);
    assert_eq!(found.selection.outcome.bound, mixture.selection.outcome.bound, "one relaxation");
    let by = |improve| {
        let settings = FgmSettings { improve, ..plain.clone() };
        run(&problem, &rules, &settings, within(1e-4)).selection.outcome.objective.expect("a value")
    };
    let (objective, better) = (found.selection.outcome.objective.expect("a value"), by(Improve::Rankings));
    assert_eq!(objective, by(Improve::None));
    let largest = |size: &dyn Fn(&SelectedFeature) -> f64| {
        let mut kept = mixture.kept.clone();
        kept.sort_by(|a, b| size(b).total_cmp(&size(a)));
        of_subset(&problem, &Subset::from_indices(200, kept[..6].iter().map(|k| k.feature)), &of_mixture)
    };
    // w_j = z_j c_j, so that w_j^2 / z_j = z_j c_j^2.
    let (by_score, by_weight) = (largest(&|k| k.weight.powi(2) / k.share), largest(&|k| k.weight.abs()));
    assert!((objective - by_score).abs() <= 1e-5 * objective.abs(), "{objective} {by_score} {by_weight}");
    assert!((better - by_score.min(by_weight)).abs() <= 1e-5 * better.abs(), "{better} {by_score} {by_weight}");
    let both = FgmSettings { improve: Improve::Both, ..FgmSettings::default() };
    let exchanged = run(&problem, &rules, &both, within(1e-4));
    assert!(exchanged.selection.outcome.objective.expect("a value") < better - 1e-3 * better.abs());
}

/// Under a size both rankings are one at the optimum, where features of a share below 1 have equal
/// scores; under a budget they are not.
#[test]
fn the_papers_subset_is_the_one_by_score_where_the_one_by_weight_is_better() {
    let mut better = 0;
    for seed in 0..30 {
        let (x, labels) = RandomProblem { n: 60, p: 25, density: 0.9, noise: 0.1, seed }.draw();
        let problem = Problem::new(&x, &labels, None).expect("valid");
        let costs = (0..25).map(|j| 1.0 + f64::from(j % 4)).collect();
        let rules = Rules::new(25, RuleList { budget: Some(9.0), costs, ..RuleList::default() }, &[]).expect("valid");
        let by = |improve, reuse| {
            let settings = FgmSettings { improve, reuse, ..FgmSettings::default() };
            run(&problem, &rules, &settings, within(1e-3)).selection.outcome.objective.expect("a value")
        };
        let (none, rankings) = (by(Improve::None, false), by(Improve::Rankings, false));
        assert_eq!((by(Improve::Auto, false), by(Improve::Auto, true)), (none, by(Improve::Rankings, true)));
        assert!(rankings <= none, "seed {seed}: {rankings} {none}");
        better += usize::from(rankings < none - 1e-4 * none.abs());
    }
    assert!(better > 0, "both rankings are one: the test shows nothing");
}

/// Copies of one feature share its place in the mixture, so that its largest features repeat one
/// another.
#[test]
fn exchanges_find_the_best_subset_where_the_mixture_spreads_over_copies() {
    let (n, p, sets) = (80, 15, 12);
    let mut best = [0, 0];
    for seed in 0..sets {
        let mut rng = Rng::new(seed);
        let labels: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let hidden: Vec<f64> = (0..n * 5).map(|at| rng.normal() + 0.5 * labels[at % n]).collect();
        let values: Vec<f64> = (0..n * p).map(|at| hidden[at % (5 * n)] + 0.3 * rng.normal()).collect();
        let x = DenseDesign::new(n, p, values).expect("n p values");
        let problem = Problem::new(&x, &labels, None).expect("valid");
        let rules = Rules::at_most_features(p, 4).expect("valid");
        for (improve, best) in [Improve::None, Improve::Both].into_iter().zip(&mut best) {
            let settings = FgmSettings { improve, ..FgmSettings::default() };
            let found = run(&problem, &rules, &settings, within(1e-4));
            let truth = best_of(&problem, &rules, &settings);
            let objective = found.selection.outcome.objective.expect("a value");
            assert!(objective >= truth - 2e-6 * truth.abs(), "{objective} {truth}");
            assert!(improve == Improve::None || objective < 0.98 * truth, "seed {seed}: {objective} {truth}");
            *best += usize::from(objective <= truth + 1e-5 * truth.abs());
        }
    }
    assert!(best[0] < 3 && best[1] > 7, "{best:?}");
}

#[test]
fn subsets_smaller_or_larger_than_the_size_still_give_a_bound_of_the_size() {
    let (x, labels) = RandomProblem { n: 60, p: 9, density: 0.9, noise: 0.2, seed: 8 }.draw();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let rules = Rules::at_most_features(9, 4).expect("valid");
    let best = best_of(&problem, &rules, &FgmSettings::default());
    for size in 1..=9 {
        let settings = FgmSettings { subset_size: Some(size), ..FgmSettings::default() };
        let outcome = run(&problem, &rules, &settings, within(1e-6)).selection.outcome;
        assert!(outcome.subset.expect("a subset").len() <= 4, "size {size}");
        assert!(outcome.bound.expect("a bound") <= best + 1e-9 * best.abs(), "size {size}: {:?} {best}", outcome.bound);
        assert!(outcome.objective.expect("a value") >= best - 1e-9 * best.abs(), "size {size}");
    }
    for (size, words) in [(0, "between 1 and"), (10, "features, 9")] {
        let settings = FgmSettings { subset_size: Some(size), ..FgmSettings::default() };
        let why = fgm(&problem, &rules, &settings, Limits::default(), &mut Silent).expect_err("out of range");
        assert!(why.to_string().contains(words) && why.to_string().contains("subset_size"), "{why}");
    }
}

#[test]
fn both_solvers_and_reuse_give_the_same_value() {
    for seed in 0..6 {
        let (x, labels) = RandomProblem { n: 60, p: 14, density: 0.5, noise: 0.1, seed }.draw_sparse();
        let problem = Problem::new(&x, &labels, None).expect("valid");
        let rules = Rules::none(14);
        let mut values = Vec::new();
        for (mkl, reuse) in [(Mkl::Fast, true), (Mkl::Fast, false), (Mkl::Simple, true), (Mkl::Simple, false)] {
            let settings = FgmSettings { cost: 2.0, mkl, reuse, subset_size: Some(3), ..FgmSettings::default() };
            // SimpleMKL's value is far closer to the optimum than its gap, which falls with the
            // root of the error.
            let gap = if mkl == Mkl::Fast { 1e-7 } else { 1e-5 };
            let outcome = run(&problem, &rules, &settings, within(gap)).selection.outcome;
            assert!(outcome.gap().expect("both") <= gap, "{settings:?}: {outcome:?}");
            values.push(outcome.objective.expect("a mixture"));
        }
        let spread = values.iter().map(|v| (v - values[0]).abs()).fold(0.0, f64::max);
        assert!(spread <= 1e-6 * values[0].abs(), "seed {seed}: {values:?}");
    }
}

#[test]
fn values_and_bounds_of_the_rounds_only_improve() {
    let (x, labels) = RandomProblem { n: 80, p: 60, density: 0.6, noise: 0.2, seed: 5 }.draw_sparse();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let rules = Rules::at_most_features(60, 5).expect("valid");
    let settings = FgmSettings { reuse: false, ..FgmSettings::default() };
    let found = run(&problem, &rules, &settings, within(1e-5));
    assert!(found.rounds.len() > 3, "too easy to show anything: {:?}", found.rounds);
    for pair in found.rounds.windows(2) {
        assert!(pair[1].upper <= pair[0].upper && pair[1].lower >= pair[0].lower, "{pair:?}");
        assert!(pair[1].lower <= pair[1].upper, "{pair:?}");
    }
}

#[test]
fn columns_that_ask_for_a_weight_come_before_their_subset_does() {
    let drawn = RandomProblem { n: 150, p: 3000, density: 0.1, noise: 0.2, seed: 5 };
    let ((x, labels), (sparse, _)) = (drawn.draw(), drawn.draw_sparse());
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let rules = Rules::at_most_features(3000, 4).expect("valid");
    let with = |memory: u64| {
        let settings = FgmSettings { cost: 20.0, memory, ..FgmSettings::default() };
        fgm(&problem, &rules, &settings, within(1e-6), &mut Silent)
    };
    let found = with(FgmSettings::default().memory).expect("enough memory");
    let (outcome, last) = (&found.selection.outcome, found.rounds.last().expect("rounds"));
    assert_eq!(outcome.status, Status::Completed);
    assert!(last.columns > 4 * last.subsets, "no more than {} subsets hold: {}", last.subsets, last.columns);
    // Where memory ends they come with their subsets, and the value is the same.
    for share in [0.8, 0.9, 0.95, 1.0] {
        let allowed = 24 * (share * last.columns as f64) as u64 * (share * last.columns as f64) as u64;
        let tight = with(allowed).expect("enough memory for the first columns");
        assert!(tight.rounds.iter().all(|round| 24 * (round.columns as u64).pow(2) <= allowed));
        if tight.selection.outcome.status == Status::MemoryLimit {
            assert!(share < 1.0);
            continue;
        }
        let upper = tight.rounds.last().expect("rounds").upper;
        assert!((last.upper - upper).abs() <= 2e-6 * upper.abs(), "{} {upper}", last.upper);
    }
    // Many sparse columns need no matrix, and none is counted.
    let problem = Problem::new(&sparse, &labels, None).expect("valid");
    let settings = FgmSettings { cost: 20.0, memory: 24 * 100 * 100, ..FgmSettings::default() };
    let found = fgm(&problem, &rules, &settings, within(1e-6), &mut Silent).expect("enough memory");
    let more = found.rounds.last().expect("rounds");
    assert!(more.columns > 100, "{}", more.columns);
    assert!((last.upper - more.upper).abs() <= 2e-6 * more.upper.abs(), "{} {}", last.upper, more.upper);
}

#[test]
fn where_columns_do_not_fit_it_ends_with_the_best_of_those_before_and_their_bound() {
    let (x, labels) = RandomProblem { n: 150, p: 3000, density: 0.1, noise: 0.2, seed: 5 }.draw_sparse();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let rules = Rules::at_most_features(3000, 4).expect("valid");
    let settings = FgmSettings { cost: 20.0, ..FgmSettings::default() };
    let whole = run(&problem, &rules, &settings, within(1e-6)).selection.outcome;
    let mut seen = Vec::new();
    for kib in (2..200).step_by(2) {
        let limits = Limits { memory: Memory::new(kib << 10), ..within(1e-6) };
        let found = match fgm(&problem, &rules, &settings, limits, &mut Silent) {
            Ok(found) => found.selection.outcome,
            Err(Error::Memory { .. }) => {
                assert!(seen.is_empty(), "refused at {kib} KiB, and not at {seen:?}");
                continue;
            }
            Err(other) => panic!("{other}"),
        };
        seen.push((kib, found.status));
        let (objective, bound) = (found.objective.expect("a subset"), found.bound.expect("a bound"));
        let best = whole.objective.expect("a subset");
        assert!(bound <= best + 1e-9 && objective >= whole.bound.expect("a bound") - 1e-9, "{kib}: {found:?}");
        assert!(found.subset.is_some_and(|subset| subset.len() <= 4));
        if found.status == Status::Completed {
            break;
        }
        assert_eq!(found.status, Status::MemoryLimit, "{kib} KiB");
    }
    assert!(seen.len() > 2 && seen.last().is_some_and(|last| last.1 == Status::Completed), "{seen:?}");
}

#[test]
fn where_all_places_are_taken_no_other_column_comes() {
    let (x, labels) = RandomProblem { n: 50, p: 200, density: 0.5, noise: 0.2, seed: 3 }.draw_sparse();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let list = RuleList { require: vec![7, 90], max_features: Some(2), ..RuleList::default() };
    let found = run(&problem, &Rules::new(200, list, &[]).expect("valid"), &FgmSettings::default(), within(1e-6));
    let outcome = &found.selection.outcome;
    assert_eq!((outcome.status, found.rounds.last().expect("rounds").columns), (Status::Optimal, 2), "{outcome:?}");
    assert_eq!(outcome.subset.as_ref().expect("a subset").iter().collect::<Vec<_>>(), [7, 90]);
}

#[test]
fn a_forbidden_feature_stays_out_and_a_required_one_is_in_every_subset() {
    let (x, labels) = RandomProblem { n: 50, p: 30, density: 0.7, noise: 0.1, seed: 2 }.draw_sparse();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let settings = FgmSettings { subset_size: Some(4), ..FgmSettings::default() };
    let free = run(&problem, &Rules::none(30), &settings, within(1e-4));
    let first = free.selection.ranking[0].feature;
    let other = (0..30).find(|j| !free.kept.iter().any(|k| k.feature == *j)).expect("not all are kept");
    let list = RuleList { forbid: vec![first].into(), require: vec![other], ..RuleList::default() };
    let found = run(&problem, &Rules::new(30, list, &[]).expect("valid"), &settings, within(1e-4));
    assert!(!found.kept.iter().any(|k| k.feature == first));
    let share = found.kept.iter().find(|k| k.feature == other).expect("required").share;
    assert!((share - 1.0).abs() < 1e-9, "{share}");
    let total: f64 = found.kept.iter().map(|k| k.share).sum();
    assert!(total <= 4.0 + 1e-9, "mixtures of subsets of 4 weigh 4 in all: {total}");
}

#[test]
fn limits_end_with_a_mixture_and_say_so() {
    let (x, labels) = RandomProblem { n: 80, p: 60, density: 0.6, noise: 0.2, seed: 5 }.draw_sparse();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let rules = Rules::at_most_features(60, 5).expect("valid");
    let cancel = Cancel::default();
    cancel.cancel();
    for (limits, status) in [
        (Limits { time: Some(std::time::Duration::ZERO), ..within(1e-6) }, Status::TimeLimit),
        (Limits { oracle_calls: Some(0), ..within(1e-6) }, Status::CallLimit),
        (Limits { oracle_calls: Some(1), ..within(1e-6) }, Status::CallLimit),
        (Limits { cancel, ..within(1e-6) }, Status::Cancelled),
    ] {
        for (rules, subset_size) in [(&rules, None), (&Rules::none(60), Some(5))] {
            let settings = FgmSettings { reuse: false, subset_size, ..FgmSettings::default() };
            let found = run(&problem, rules, &settings, limits.clone());
            let outcome = &found.selection.outcome;
            assert_eq!(outcome.status, status);
            assert_eq!(found.rounds.len(), 1);
            assert!(!found.kept.is_empty() && outcome.bound < outcome.objective, "{outcome:?}");
        }
    }
    let settings = FgmSettings { cost: 0.0, ..FgmSettings::default() };
    assert!(fgm(&problem, &rules, &settings, Limits::default(), &mut Silent).is_err(), "cost 0 was taken");
    let settings = FgmSettings { memory: 100, ..FgmSettings::default() };
    let text = fgm(&problem, &rules, &settings, Limits::default(), &mut Silent).expect_err("100 bytes").to_string();
    assert!(text.contains("100") && text.contains("simple"), "{text}");
}

#[test]
fn the_number_of_threads_changes_nothing() {
    // More columns than one chunk of the pass holds.
    let (x, labels) = RandomProblem { n: 40, p: 9000, density: 0.05, noise: 0.1, seed: 9 }.draw_sparse();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let rules = Rules::at_most_features(9000, 12).expect("valid");
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| run(&problem, &rules, &FgmSettings::default(), within(1e-4)))
    };
    let (one, four) = (with(1), with(4));
    assert_eq!(one.kept, four.kept);
    assert_eq!(one.selection.outcome.objective, four.selection.outcome.objective);
    assert_eq!(one.selection.outcome.bound, four.selection.outcome.bound);
    assert_eq!(one.rounds.len(), four.rounds.len());
}

#[test]
fn the_number_of_threads_changes_nothing_where_learning_is_shared() {
    // Enough samples, and values of the current columns, for threads to share sums, copies and the
    // Hessian.
    let (n, p) = (40_000, 100);
    let (x, labels) = RandomProblem { n, p, density: 0.1, noise: 0.1, seed: 10 }.draw_sparse();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let rules = Rules::at_most_features(p, 20).expect("valid");
    for bias in [Bias::None, Bias::Free] {
        let settings = FgmSettings { bias, ..FgmSettings::default() };
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            pool.install(|| run(&problem, &rules, &settings, within(1e-6)))
        };
        let (one, two) = (with(1), with(2));
        let columns = one.rounds.last().expect("a round").columns;
        assert!(one.rounds.len() > 1 && columns >= 40, "{} rounds, {columns} columns", one.rounds.len());
        assert_eq!(one.kept, two.kept);
        assert_eq!(one.solution.beta, two.solution.beta);
        assert_eq!(one.selection.outcome.objective, two.selection.outcome.objective);
        assert_eq!(one.selection.outcome.bound, two.selection.outcome.bound);
        let uppers = |report: &FgmReport| report.rounds.iter().map(|round| round.upper).collect::<Vec<f64>>();
        assert_eq!(uppers(&one), uppers(&two));
    }
}

#[test]
fn fgm_b_returns_an_allowed_subset_with_its_own_value() {
    let (x, labels) = RandomProblem { n: 60, p: 25, density: 0.9, noise: 0.1, seed: 4 }.draw();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let costs = (0..25).map(|j| 1.0 + f64::from(j % 4)).collect();
    let list = RuleList {
        budget: Some(9.0),
        costs,
        implies: vec![(3, 7)],
        at_most: vec![(1, vec![0, 1, 2, 4])],
        ..RuleList::default()
    };
    let rules = Rules::new(25, list, &[]).expect("valid");
    let settings = FgmSettings::default();
    let found = run(&problem, &rules, &settings, within(1e-4));
    let outcome = &found.selection.outcome;
    let subset = outcome.subset.as_ref().expect("a subset");
    assert!(rules.allows(subset) && !subset.is_empty(), "{subset:?}");
    let truth = of_subset(&problem, subset, &settings);
    assert!((outcome.objective.expect("a value") - truth).abs() <= 2e-6 * truth.abs(), "{outcome:?}, {truth}");
    assert!(outcome.bound.expect("a bound") <= truth);
}

/// The pair (0, 1) is informative only together, feature 2 is the best alone, the rest is noise.
#[test]
fn fgm_b_finds_the_pair_that_is_informative_together() {
    let (n, p) = (400, 1000);
    for seed in 0..5 {
        let mut rng = Rng::new(100 + seed);
        let labels: Vec<f64> = (0..n).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let mut values: Vec<f64> = (0..n * p).map(|_| rng.normal()).collect();
        for i in 0..n {
            values[n + i] = 0.9 * values[i] + 0.19f64.sqrt() * values[n + i] - 0.4 * labels[i];
            values[i] += 0.4 * labels[i];
            values[2 * n + i] += 0.7 * labels[i];
        }
        let x = DenseDesign::new(n, p, values).expect("n p values");
        let problem = Problem::new(&x, &labels, None).expect("valid");
        let rules = Rules::at_most_features(p, 2).expect("valid");
        let settings = FgmSettings { cost: 0.1, ..FgmSettings::default() };
        let found = run(&problem, &rules, &settings, within(1e-3));
        assert_eq!(found.kept.iter().map(|k| k.feature).collect::<Vec<_>>(), [0, 1], "seed {seed}");
    }
}
