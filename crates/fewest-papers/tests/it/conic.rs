//! `qcqp-ssvm` and `nmmkl` against full enumeration, their own optimality conditions, `fgm` and
//! `exact`.

use fewest::dual::train::train;
use fewest::method::exact::{ExactSettings, exact};
use fewest::method::fgm::{FgmSettings, fgm};
use fewest::{
    Bias, Cancel, Clock, Design, Error, Kernel, Limits, Loss, Problem, RuleList, Rules, Silent, Status, Subset,
    SvmSettings,
};
use fewest_papers::conic::{ConicReport, NmmklSettings, QcqpSsvmSettings};
use fewest_testing::{RandomProblem, Rng, allowed_subsets};

type Method = fn(&Problem<'_>, &Rules, &SvmSettings, Limits, &mut dyn fewest::Observer) -> Result<ConicReport, Error>;
const BOTH: [(&str, Method); 2] = [("qcqp-ssvm", qcqp_ssvm), ("nmmkl", nmmkl)];

/// A method with all settings but those of the SVM at their defaults.
macro_rules! with_svm {
    ($method:ident, $settings:ident) => {
        fn $method(
            problem: &Problem<'_>,
            rules: &Rules,
            svm: &SvmSettings,
            limits: Limits,
            observer: &mut dyn fewest::Observer,
        ) -> Result<ConicReport, Error> {
            let settings = $settings { svm: svm.clone(), ..$settings::default() };
            fewest_papers::conic::$method(problem, rules, &settings, limits, observer)
        }
    };
}
with_svm!(qcqp_ssvm, QcqpSsvmSettings);
with_svm!(nmmkl, NmmklSettings);

/// The value of the SVM on a subset, by an independent training.
fn of_subset(problem: &Problem<'_>, subset: &Subset, settings: &SvmSettings) -> f64 {
    let features: Vec<usize> = subset.iter().collect();
    let settings = SvmSettings { tolerance: 1e-9, ..settings.clone() };
    let (y, weights) = (problem.labels(), problem.weights());
    train(problem.design(), &features, y, weights, Kernel::Linear, &settings, &Clock::unlimited())
        .expect("valid")
        .primal
}

#[test]
fn the_bound_is_below_every_subset_and_meets_the_relaxation() {
    let mut rng = Rng::new(5);
    for case in 0..60 {
        let p = 3 + rng.below(5);
        let (x, labels) = RandomProblem { n: 12 + rng.below(25), p, density: 0.8, noise: 0.15, seed: case }.draw();
        let weights: Vec<f64> = labels.iter().map(|_| if rng.chance(0.1) { 0.5 } else { 1.0 }).collect();
        let problem = Problem::new(&x, &labels, Some(&weights)).expect("valid");
        let mut list = RuleList { max_features: Some(1 + rng.below(p)), ..RuleList::default() };
        if rng.chance(0.3) {
            list.require = vec![0];
        }
        if rng.chance(0.3) {
            list.forbid = vec![p - 1].into();
        }
        if rng.chance(0.2) {
            list.implies = vec![(1, 2)];
        }
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let settings = SvmSettings {
            cost: [0.1, 1.0, 10.0][rng.below(3)],
            loss: [Loss::Hinge, Loss::SquaredHinge][rng.below(2)],
            bias: [Bias::Free, Bias::None, Bias::Penalised(1.5)][rng.below(3)],
            ..SvmSettings::default()
        };
        let best =
            allowed_subsets(&rules).iter().map(|s| of_subset(&problem, s, &settings)).fold(f64::INFINITY, f64::min);
        let mut relaxed = Vec::new();
        for (name, method) in BOTH {
            let about = format!("{name}, case {case}: {settings:?}, {:?}", rules.list());
            let found = method(&problem, &rules, &settings, Limits::default(), &mut Silent).expect("valid");
            let outcome = &found.selection.outcome;
            let (objective, bound) = (outcome.objective.expect("a subset"), outcome.bound.expect("a bound"));
            let value = found.relaxed.expect("solved");
            assert!(bound <= best * (1.0 + 1e-9) && bound <= value * (1.0 + 1e-9), "{about}: {bound}, best {best}");
            // Weak duality closes: both sides are computed from their definitions, so this is
            // optimality of the program.
            assert!(value - bound <= 1e-5 * value, "{about}: relaxation {value}, bound {bound}");
            assert!(objective >= best * (1.0 - 1e-6), "{about}: {objective} below the best, {best}");
            let subset = outcome.subset.as_ref().expect("a subset");
            assert!(rules.allows(subset), "{about}: {subset:?}");
            let truth = of_subset(&problem, subset, &settings);
            assert!((objective - truth).abs() <= 2e-6 * truth, "{about}: {objective} but training gives {truth}");
            relaxed.push(value);
        }
        if rules.list().require.is_empty() {
            assert!(
                relaxed[0] <= relaxed[1] * (1.0 + 1e-5),
                "case {case}: the one-norm is not the tighter: {relaxed:?}"
            );
        }
    }
}

/// Limits that stop `exact` after its root.
fn root() -> Limits {
    Limits { nodes: Some(1), ..Limits::default() }
}

#[test]
fn generating_reaches_the_same_value_as_all_kernels_at_once_and_as_the_root_of_exact() {
    for seed in 0..5 {
        let (x, labels) = RandomProblem { n: 50, p: 14, density: 0.7, noise: 0.15, seed }.draw();
        let problem = Problem::new(&x, &labels, None).expect("valid");
        let rules = Rules::at_most_features(14, 3).expect("valid");
        let cost = 1.5;
        // The mixture of subsets of 3, not a subset of it.
        let settings = FgmSettings { cost, subset_size: Some(3), ..FgmSettings::default() };
        let limits = Limits { gap_rel: 1e-7, ..Limits::default() };
        let generated =
            fgm(&problem, &Rules::none(14), &settings, limits, &mut Silent).expect("valid").selection.outcome;
        // With V the value of margins of 1 and cost C/2, the paper's is -1 / (4 V).
        let (value, bound) = (-0.25 / generated.objective.expect("a value"), -0.25 / generated.bound.expect("a bound"));
        let svm =
            SvmSettings { cost: 0.5 * cost, loss: Loss::SquaredHinge, bias: Bias::None, ..SvmSettings::default() };
        let all = nmmkl(&problem, &rules, &svm, Limits::default(), &mut Silent).expect("valid");
        let whole = all.relaxed.expect("solved");
        assert!((whole - value).abs() <= 1e-5 * value, "seed {seed}: nmmkl {whole}, fgm {value}");
        let settings = ExactSettings { svm: SvmSettings { tolerance: 1e-9, ..svm }, ..ExactSettings::default() };
        let outcome = exact(&problem, &rules, &settings, root(), &mut Silent).expect("valid").outcome;
        let at_root = outcome.bound.expect("a bound");
        assert!(
            outcome.status == Status::NodeLimit,
            "seed {seed}: closed at the root, which shows nothing: {outcome:?}"
        );
        assert!((at_root - bound).abs() <= 1e-5 * bound, "seed {seed}: root of exact {at_root}, fgm {bound}");
    }
}

#[test]
fn limits_give_a_subset_and_a_bound_still() {
    let (x, labels) = RandomProblem { n: 40, p: 12, density: 0.7, noise: 0.2, seed: 3 }.draw_sparse();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let rules = Rules::at_most_features(12, 3).expect("valid");
    let cancel = Cancel::default();
    cancel.cancel();
    for (name, method) in BOTH {
        for (limits, status) in [
            (Limits { time: Some(std::time::Duration::ZERO), ..Limits::default() }, Status::TimeLimit),
            (Limits { cancel: cancel.clone(), ..Limits::default() }, Status::Cancelled),
        ] {
            let found = method(&problem, &rules, &SvmSettings::default(), limits, &mut Silent).expect("valid");
            let outcome = &found.selection.outcome;
            assert_eq!((outcome.status, found.relaxed), (status, None), "{name}");
            assert!(outcome.bound < outcome.objective && outcome.subset.is_some(), "{name}: {outcome:?}");
        }
        let small = SvmSettings { memory: 1000, ..SvmSettings::default() };
        let text =
            method(&problem, &rules, &small, Limits::default(), &mut Silent).expect_err("1000 bytes").to_string();
        assert!(text.contains(name) && text.contains("1000") && text.contains("fgm"), "{text}");
        let wrong = SvmSettings { cost: -1.0, ..SvmSettings::default() };
        assert!(method(&problem, &rules, &wrong, Limits::default(), &mut Silent).is_err(), "{name} took cost -1");
    }
    // Where one subset is all there is, the relaxation is the SVM and the proof is complete.
    let everything = Rules::at_most_features(12, 12).expect("valid");
    let found = nmmkl(&problem, &everything, &SvmSettings::default(), Limits::default(), &mut Silent).expect("valid");
    assert_eq!(found.selection.outcome.status, Status::Optimal);
    assert_eq!(x.n_features(), found.weights.len());
}

#[test]
fn without_a_size_the_relaxation_is_kept_whole_with_its_own_value() {
    let mut larger = 0;
    for seed in 0..10 {
        let (x, labels) = RandomProblem { n: 40, p: 15, density: 0.9, noise: 0.1, seed }.draw();
        let problem = Problem::new(&x, &labels, None).expect("valid");
        for bias in [Bias::Free, Bias::None, Bias::Penalised(1.5)] {
            let svm = SvmSettings { bias, ..SvmSettings::default() };
            let sized = Rules::at_most_features(15, 3).expect("valid");
            let settings = QcqpSsvmSettings { svm: svm.clone(), subset_size: Some(3) };
            let ask = |rules: &Rules| {
                let limits = Limits::default();
                fewest_papers::conic::qcqp_ssvm(&problem, rules, &settings, limits, &mut Silent).expect("valid")
            };
            let (whole, cut) = (ask(&Rules::none(15)), ask(&sized));
            let asked = qcqp_ssvm(&problem, &sized, &svm, Limits::default(), &mut Silent).expect("valid");
            assert_eq!((cut.whole, &cut.selection.outcome.subset), (false, &asked.selection.outcome.subset));
            // One relaxation.
            assert_eq!((&whole.weights, whole.relaxed), (&cut.weights, cut.relaxed));
            assert_eq!(whole.selection.outcome.bound, cut.selection.outcome.bound);
            assert_eq!(whole.selection.outcome.objective, whole.relaxed);
            let most = whole.weights.iter().fold(0.0f64, |a, w| a.max(w.abs()));
            let large: Vec<usize> = (0..15).filter(|&j| whole.weights[j].abs() > 1e-4 * most).collect();
            let subset = whole.selection.outcome.subset.as_ref().expect("a subset");
            assert_eq!(subset.iter().collect::<Vec<_>>(), large);
            larger += usize::from(large.len() > 3);
            // A second rule that the whole set breaks leaves one subset.
            let list = RuleList { at_most: vec![(1, large.clone())], ..RuleList::default() };
            let ruled = ask(&Rules::new(15, list, &[]).expect("valid"));
            assert!(!ruled.whole || large.len() < 2, "{large:?}");
        }
    }
    assert!(larger > 5, "{larger}: too easy to show anything");
}
