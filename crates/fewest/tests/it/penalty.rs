//! A penalty of `auto`: the number that it finds against one found by hand, and the subset against
//! enumeration at that number.

use fewest::method::certificate::certify;
use fewest::method::exact::{ExactSettings, exact};
use fewest::method::penalty::Penalty;
use fewest::model::{FitSettings, fit};
use fewest::{
    Bias, Choice, Clock, DenseDesign, Design, Interval, Limits, Loss, Method, MultiClass, Problem, Report, RuleList,
    Rules, Samples, Silent, Status, Subset, SvmSettings, WeightBound,
};
use fewest_testing::{KeptProofs, RandomProblem, Rng, allowed_subsets, random_rules};

fn auto() -> ExactSettings {
    let svm = SvmSettings { tolerance: 1e-9, ..SvmSettings::default() };
    ExactSettings { penalty: Penalty::Auto, svm, ..ExactSettings::default() }
}

fn select(design: &dyn Design, classes: &[u32], rules: &Rules, settings: &ExactSettings) -> Report {
    let samples = Samples::new(design, classes, None).expect("valid");
    settings.select(&samples, rules, Limits { gap_rel: 1e-7, ..Limits::default() }, &mut Silent).expect("valid")
}

/// The machines on these features, within the bounds of the rules.
fn weights(
    design: &dyn Design,
    features: &[usize],
    classes: &[u32],
    rules: &Rules,
    svm: &SvmSettings,
) -> Vec<Vec<f64>> {
    let weight_bounds = rules.weight_bounds().clone();
    let settings = FitSettings { svm: svm.clone(), weight_bounds, ..FitSettings::default() };
    let ones = vec![1.0; classes.len()];
    let model = fit(design, features, classes, &ones, &settings, &Clock::unlimited()).expect("valid settings");
    model.machines.into_iter().map(|machine| machine.weights).collect()
}

fn classes(labels: &[f64]) -> Vec<u32> {
    labels.iter().map(|y| u32::from(*y > 0.0)).collect()
}

fn value(problem: &Problem<'_>, subset: &Subset, svm: &SvmSettings) -> f64 {
    let (features, clock): (Vec<usize>, _) = (subset.iter().collect(), Clock::unlimited());
    let (y, weights) = (problem.labels(), problem.weights());
    fewest::dual::train::train(problem.design(), &features, y, weights, fewest::Kernel::Linear, svm, &clock)
        .expect("valid settings")
        .primal
}

#[test]
fn the_price_is_the_gain_of_the_last_feature_and_the_subset_the_best_at_it() {
    let (mut rng, mut compared, mut smaller) = (Rng::new(3), 0, 0);
    for case in 0..300 {
        let p = 2 + rng.below(6);
        let (design, labels) =
            RandomProblem { n: 10 + rng.below(30), p, density: 0.8, noise: 0.15, seed: 50 + case }.draw();
        let size = 1 + rng.below(p);
        let list = RuleList { max_features: Some(size), together: Vec::new(), ..random_rules(&mut rng, p) };
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let svm = SvmSettings {
            cost: [0.03, 0.3, 1.0, 10.0][rng.below(4)],
            loss: if rng.chance(0.5) { Loss::Hinge } else { Loss::SquaredHinge },
            bias: [Bias::Free, Bias::Penalised(1.5), Bias::None][rng.below(3)],
            ..auto().svm
        };
        let settings = ExactSettings { svm: svm.clone(), ..auto() };
        let report = select(&design, &classes(&labels), &rules, &settings);
        let about = format!("case {case}: p {p}, {svm:?}, {:?}", rules.list());
        // By hand: the gains of features that are allowed, those required first.
        let of = |choice: Choice| (0..p).filter(|&j| rules.root()[rules.unit_of(j)] == choice).collect::<Vec<usize>>();
        let (required, out) = (of(Choice::In), of(Choice::Out));
        if (0..p).any(|j| rules.unit(rules.unit_of(j)).len() > 1) {
            continue;
        }
        let allowed: Vec<usize> = (0..p).filter(|j| !out.contains(j)).collect();
        let w = weights(&design, &allowed, &classes(&labels), &rules, &svm).remove(0);
        let mut gains: Vec<(bool, f64)> =
            allowed.iter().zip(&w).map(|(j, w)| (!required.contains(j), -0.5 * w * w)).collect();
        gains.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let by_hand = gains.get(size.min(gains.len()).saturating_sub(1)).map_or(0.0, |gain| -gain.1);
        let price = report.penalty.expect("a price was to be found");
        assert!((price - by_hand).abs() <= 1e-4 * by_hand.max(1e-6 * svm.cost), "{about}: {price}, but {by_hand}");
        // The best at that price.
        let problem = Problem::new(&design, &labels, None).expect("valid");
        let priced = |s: &Subset| value(&problem, s, &svm) + price * s.len() as f64;
        let best = allowed_subsets(&rules).iter().map(priced).fold(f64::INFINITY, f64::min);
        let outcome = report.selection.outcome;
        assert_eq!(outcome.status, Status::Optimal, "{about}");
        let objective = outcome.objective.expect("a subset");
        assert!((objective - best).abs() <= 1e-6 * best.abs().max(1e-6), "{about}: {objective}, but {best}");
        smaller += usize::from(outcome.subset.expect("a subset").len() < size);
        // The same as with the number typed.
        let given = ExactSettings { penalty: vec![price; p].into(), ..settings };
        let again = select(&design, &classes(&labels), &rules, &given);
        assert_eq!((again.penalty, again.selection.outcome.objective), (None, Some(objective)), "{about}");
        compared += 1;
    }
    assert!(compared >= 100 && smaller > 0, "{compared} compared, {smaller} of them keep fewer features");
}

#[test]
fn all_features_are_kept_where_there_are_no_more_than_asked_for() {
    let (design, labels) = RandomProblem { n: 40, p: 6, density: 1.0, noise: 0.1, seed: 4 }.draw();
    let mut gains: Vec<f64> = weights(&design, &[0, 1, 2, 3, 4, 5], &classes(&labels), &Rules::none(6), &auto().svm)[0]
        .iter()
        .map(|w| 0.5 * w * w)
        .collect();
    gains.sort_by(f64::total_cmp);
    let report = select(&design, &classes(&labels), &Rules::at_most_features(6, 6).expect("valid"), &auto());
    assert!((report.penalty.expect("found") - gains[0]).abs() <= 1e-6 * gains[0]);
    assert_eq!(report.selection.outcome.subset.expect("a subset").len(), 6);
    // A feature that says nothing gains nothing: its price is 0, and it may stay.
    let constant: Vec<f64> = [design.column(0), &[1.0; 40]].concat();
    let design = DenseDesign::new(40, 2, constant).expect("80 values");
    let report = select(&design, &classes(&labels), &Rules::at_most_features(2, 2).expect("valid"), &auto());
    assert!(report.penalty.expect("found") < 1e-12, "{:?}", report.penalty);
}

#[test]
fn units_count_by_their_mean_and_problems_by_their_sum() {
    let (design, _) = RandomProblem { n: 60, p: 6, density: 1.0, noise: 0.1, seed: 9 }.draw();
    let sums: Vec<f64> = (0..60).map(|i| design.column(0)[i] + 0.5 * design.column(2)[i]).collect();
    let class: Vec<u32> = sums.iter().map(|s| u32::from(*s > -0.4) + u32::from(*s > 0.4)).collect();
    let list = RuleList { max_features: Some(3), together: vec![vec![0, 1]], ..RuleList::default() };
    let rules = Rules::new(6, list, &[]).expect("valid");
    for multi_class in [MultiClass::OneVsOne, MultiClass::OneVsRest] {
        let settings = ExactSettings { multi_class, ..auto() };
        let report = select(&design, &class, &rules, &settings);
        let machines: Vec<Vec<f64>> = match multi_class {
            MultiClass::OneVsOne => weights(&design, &[0, 1, 2, 3, 4, 5], &class, &rules, &settings.svm),
            MultiClass::OneVsRest => (0..3)
                .map(|own| {
                    let against: Vec<u32> = class.iter().map(|c| u32::from(*c == own)).collect();
                    weights(&design, &[0, 1, 2, 3, 4, 5], &against, &rules, &settings.svm).remove(0)
                })
                .collect(),
        };
        let gain = |j: usize| machines.iter().map(|w| 0.5 * w[j] * w[j]).sum::<f64>();
        let unit = 0.5 * (gain(0) + gain(1));
        let mut gains = vec![unit, unit, gain(2), gain(3), gain(4), gain(5)];
        gains.sort_by(|a, b| b.total_cmp(a));
        let price = report.penalty.expect("found");
        assert!((price - gains[2]).abs() <= 1e-5 * gains[2], "{price}, but {gains:?}");
    }
}

#[test]
fn a_weight_within_bounds_counts_as_it_gains() {
    let (design, labels) = RandomProblem { n: 50, p: 5, density: 1.0, noise: 0.1, seed: 12 }.draw();
    let range = Interval { lower: -0.05, upper: 0.05 };
    let bounds: Vec<WeightBound> = (0..5).map(|j| WeightBound::within(j, range)).collect();
    let rules = RuleList { max_features: Some(2), weights: bounds, ..RuleList::default() };
    let rules = Rules::new(5, rules, &[]).expect("valid");
    let report = select(&design, &classes(&labels), &rules, &auto());
    let settings =
        FitSettings { svm: auto().svm, weight_bounds: rules.weight_bounds().clone(), ..FitSettings::default() };
    let model = fit(&design, &[0, 1, 2, 3, 4], &classes(&labels), &[1.0; 50], &settings, &Clock::unlimited());
    let beta = model.expect("valid").machines.remove(0).solution.beta;
    let mut gains: Vec<f64> = (0..5).map(|j| range.gain(design.dot_column(j, &beta))).collect();
    gains.sort_by(|a, b| b.total_cmp(a));
    let price = report.penalty.expect("found");
    assert!(price > 0.0 && (price - gains[1]).abs() <= 1e-5 * gains[1], "{price}, but {gains:?}");
}

#[test]
fn each_size_of_a_path_has_its_own_price_and_a_proof_the_number() {
    let (design, labels) = RandomProblem { n: 40, p: 6, density: 1.0, noise: 0.1, seed: 21 }.draw();
    let class = classes(&labels);
    let samples = Samples::new(&design, &class, None).expect("valid");
    let sizes = auto().path(&samples, &Rules::none(6), &[1, 3, 5], &Limits::default(), &mut Silent).expect("valid");
    let prices: Vec<f64> = sizes.iter().map(|size| size.report.penalty.expect("found")).collect();
    assert!(prices[0] > prices[1] && prices[1] > prices[2], "{prices:?}");
    for (size, price) in sizes.iter().zip(&prices) {
        let rules = Rules::at_most_features(6, size.max_features).expect("valid");
        let alone = select(&design, &class, &rules, &auto());
        assert_eq!(alone.penalty, Some(*price));
        assert_eq!(alone.selection.outcome.subset, size.report.selection.outcome.subset);
    }
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let rules = Rules::at_most_features(6, 3).expect("valid");
    let mut kept = KeptProofs::default();
    exact(&problem, &rules, &auto(), Limits::default(), &mut kept).expect("valid");
    let verdict = fewest_testing::verify_proof(&kept.files[0], &problem).expect("valid");
    let best = verdict.best().expect("listed");
    let listed = Subset::from_indices(6, best.features.iter().copied());
    let priced = value(&problem, &listed, &auto().svm) + prices[1] * listed.len() as f64;
    assert!((best.objective - priced).abs() <= 1e-5 * priced, "{}, but {priced}", best.objective);
}

#[test]
fn what_auto_needs_and_where_it_has_no_meaning_is_said() {
    let (design, labels) = RandomProblem { n: 20, p: 4, density: 1.0, noise: 0.1, seed: 2 }.draw();
    let class = classes(&labels);
    let samples = Samples::new(&design, &class, None).expect("valid");
    let refused = auto().select(&samples, &Rules::none(4), Limits::default(), &mut Silent).expect_err("no size");
    let text = refused.to_string();
    assert!(text.starts_with("penalty is auto, but must be") && text.contains("`max_features`"), "{text}");
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let (rules, subset) = (Rules::at_most_features(4, 2).expect("valid"), Subset::from_indices(4, [1]));
    let refused = certify(&problem, &rules, &subset, &auto(), Limits::default(), &mut Silent).expect_err("a number");
    assert!(refused.to_string().contains("must be a number for a certificate"), "{refused}");
    // In JSON it is a word.
    let text = serde_json::to_string(&auto()).expect("JSON");
    assert!(text.contains("\"penalty\":\"auto\""), "{text}");
    let back: ExactSettings = serde_json::from_str(&text).expect("the same");
    assert_eq!(back.penalty, Penalty::Auto);
    let of = |text: &str| serde_json::from_str::<Penalty>(text);
    assert_eq!(of("[0.5, 1]").expect("numbers"), Penalty::Given(vec![0.5, 1.0]));
    for wrong in ["\"some\"", "true"] {
        assert!(of(wrong).expect_err("no penalty").to_string().contains("\"auto\""));
    }
}
