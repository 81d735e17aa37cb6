//! Certified lists against enumeration, under rules, with prices, tasks and more classes; and what
//! their proofs list.

use std::time::Duration;

use fewest::dual::train::train;
use fewest::method::certificate::certify;
use fewest::method::certified_list::{CertifiedList, certify_list};
use fewest::method::exact::ExactSettings;
use fewest::{
    Bias, Clock, Design, Kernel, Limits, Loss, MultiClass, Problem, RuleList, Rules, Samples, Several, Silent, Status,
    Subset, SvmSettings,
};
use fewest_testing::{
    KeptProofs, RandomProblem, Rng, allowed_subsets, obeys, random_rules, verify_proof, verify_several,
};

fn tight() -> SvmSettings {
    SvmSettings { tolerance: 1e-9, ..SvmSettings::default() }
}

/// The objective on a subset by trainings of its own, prices included.
fn value(problems: &[Problem<'_>], subset: &Subset, settings: &ExactSettings) -> f64 {
    let features: Vec<usize> = subset.iter().collect();
    let of = |problem: &Problem<'_>| {
        let (y, weights, svm) = (problem.labels(), problem.weights(), &settings.svm);
        train(problem.design(), &features, y, weights, Kernel::Linear, svm, &Clock::unlimited()).expect("valid").primal
    };
    let price: f64 = features.iter().filter_map(|&j| settings.penalty.prices().get(j)).sum();
    problems.iter().map(of).sum::<f64>() + price
}

/// Holds the facts of a list to the values of all subsets.
fn hold(list: &CertifiedList, problems: &[Problem<'_>], rules: &Rules, settings: &ExactSettings) {
    let of = |subset: &Subset| value(problems, subset, settings);
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs();
    let own = of(&list.subset);
    assert!(close(list.certificate.objective, own), "{} {own}", list.certificate.objective);
    assert_eq!(list.allowed, rules.allows(&list.subset));

    let mut all: Vec<(f64, Subset)> = allowed_subsets(rules).into_iter().map(|z| (of(&z), z)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (best, bound) = (all[0].0, list.certificate.bound.expect("a bound"));
    assert_eq!(list.certificate.status, Status::Optimal);
    assert!(bound <= best * (1.0 + 1e-7) && bound >= best * (1.0 - 1.1e-4), "{bound} {best}");
    assert!(list.solutions.len() == settings.solutions.min(all.len()), "{}", list.solutions.len());
    for (one, (objective, _)) in list.solutions.iter().zip(&all) {
        assert!(rules.allows(&one.subset) && (one.objective - objective).abs() <= 1.1e-4 * objective);
    }
    assert!(rules.allows(&list.certificate.best.subset));
    for one in list.better() {
        assert!(rules.allows(&one.subset) && of(&one.subset) < own && one.subset != list.subset);
    }
    assert_eq!(list.better().next().is_some(), list.solutions.iter().any(|one| one.objective < own * (1.0 - 1e-8)));
    assert_eq!(list.gap().is_none(), bound > list.certificate.objective);

    assert_eq!(list.swaps.len(), list.subset.len());
    for (swap, feature) in list.swaps.iter().zip(list.subset.iter()) {
        assert_eq!(swap.feature, feature);
        let mut left = list.subset.clone();
        left.remove(feature);
        assert!(close(swap.without, of(&left)), "{swap:?}");
        let gain = list.gain(feature).expect("time enough");
        assert!((gain - (of(&left) - own)).abs() <= 1e-6 * own);
        let by = (0..rules.p()).filter(|&j| !list.subset.contains(j)).filter_map(|j| {
            let mut other = left.clone();
            other.insert(j);
            rules.allows(&other).then(|| of(&other))
        });
        let best = by.fold(f64::INFINITY, f64::min);
        match swap.by.first() {
            Some((_, objective)) => assert!(close(*objective, best), "{swap:?} {best}"),
            // What gains nothing is not tried.
            None => assert!(best >= swap.without * (1.0 - 1e-6), "{swap:?} {best}"),
        }
    }
}

#[test]
fn a_certified_list_is_that_of_the_enumeration() {
    let (mut rng, mut forbidden, mut improved) = (Rng::new(31), 0, 0);
    for round in 0..16 {
        let p = 6;
        let (design, labels) = RandomProblem { n: 24, p, density: 1.0, noise: 0.2, seed: 900 + round }.draw();
        let classes: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
        let problem = Problem::new(&design, &labels, None).expect("valid");
        let samples = Samples::new(&design, &classes, None).expect("valid");
        let count = 1 + rng.below(p - 1);
        let mut features = rng.sample(p, count);
        features.sort_unstable();
        let sized = |list: RuleList| Rules::new(p, RuleList { max_features: Some(count), ..list }, &[]);
        let rules = if round % 4 == 0 {
            Rules::none(p)
        } else {
            Rules::new(p, random_rules(&mut rng, p), &[]).unwrap_or_else(|_| Rules::none(p))
        };
        // Without a size of its own, that of the list.
        let own_size = rules.list().max_features.is_none() || round % 2 == 0;
        let list = RuleList { max_features: None, ..rules.list().clone() };
        let asked = if own_size { Rules::new(p, list, &[]).expect("fewer rules") } else { rules };
        let in_force = if own_size { sized(asked.list().clone()) } else { Ok(asked.clone()) };
        let Ok(in_force) = in_force else { continue };
        let (loss, bias) = [(Loss::Hinge, Bias::Free), (Loss::SquaredHinge, Bias::Penalised(1.0))][round as usize % 2];
        let penalty = if round % 4 == 3 { (0..p).map(|j| 0.1 * j as f64).collect() } else { Vec::new() };
        let settings = ExactSettings {
            svm: SvmSettings { loss, bias, ..tight() },
            penalty: penalty.into(),
            solutions: 3,
            ..ExactSettings::default()
        };
        let found =
            certify_list(&samples, &features, &asked, &settings, Limits::default(), &mut Silent).expect("valid");
        assert_eq!(found.subset.iter().collect::<Vec<_>>(), features);
        hold(&found, std::slice::from_ref(&problem), &in_force, &settings);
        let broken = in_force.broken(&found.subset, &[]);
        assert_eq!(broken.is_empty(), obeys(in_force.list(), &found.subset), "{broken:?}");
        forbidden += usize::from(!found.allowed);
        improved += usize::from(found.better().next().is_some());
    }
    assert!(forbidden >= 3 && improved >= 5, "{forbidden} {improved}: the test shows little");
}

#[test]
fn lists_of_more_classes_and_of_tasks_are_judged_by_the_sum() {
    let (design, labels) = RandomProblem { n: 45, p: 5, density: 1.0, noise: 0.2, seed: 3 }.draw();
    let classes: Vec<u32> =
        labels.iter().enumerate().map(|(i, y)| u32::from(*y > 0.0) + u32::from(i % 3 == 0)).collect();
    let tasks: Vec<u32> = (0..45).map(|i| i / 23).collect();
    let rules = Rules::at_most_features(5, 2).expect("valid");
    for (multi_class, with_tasks) in
        [(MultiClass::OneVsOne, false), (MultiClass::OneVsRest, false), (MultiClass::OneVsOne, true)]
    {
        let samples = Samples::new(&design, &classes, None).expect("valid");
        let samples = if with_tasks { samples.with_tasks(&tasks).expect("as many") } else { samples };
        let limits = Limits::default();
        let settings = ExactSettings { svm: tight(), multi_class, solutions: 2, ..ExactSettings::default() };
        let found =
            certify_list(&samples, &[0, 3], &Rules::none(5), &settings, limits.clone(), &mut Silent).expect("valid");
        let several = Several::new(&samples, multi_class, &limits.memory).expect("valid");
        hold(&found, &several.problems(), &rules, &settings);
        let mut files = KeptProofs::default();
        certify_list(&samples, &[0, 3], &Rules::none(5), &settings, limits, &mut files).expect("valid");
        let verdict = verify_several(&files.files[0], &several.problems()).expect("verified");
        assert!(verdict.listed.iter().any(|one| one.features == [0, 3]), "{verdict:?}");
    }
}

#[test]
fn a_proof_lists_the_subset_asked_about_besides_the_best() {
    let (design, labels) = RandomProblem { n: 30, p: 7, density: 1.0, noise: 0.2, seed: 71 }.draw();
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let settings = ExactSettings { svm: tight(), ..ExactSettings::default() };
    let (mut beside, mut alone) = (0, 0);
    for subset in allowed_subsets(&Rules::at_most_features(7, 2).expect("valid")).iter().filter(|z| z.len() == 2) {
        let mut files = KeptProofs::default();
        let found =
            certify(&problem, &Rules::none(7), subset, &settings, Limits::default(), &mut files).expect("valid");
        assert_eq!((found.status, files.complete), (Status::Optimal, 1));
        let verdict = verify_proof(&files.files[0], &problem).expect("verified");
        let features: Vec<usize> = subset.iter().collect();
        let own = verdict.listed.iter().find(|one| one.features == features).expect("it is listed");
        assert!((own.objective - found.objective).abs() <= 1e-5 * found.objective, "{own:?} {}", found.objective);
        // The best one and the gap are those of the search, and so is the status.
        let best = verdict.best().expect("a subset");
        assert_eq!(best.features, found.best.subset.iter().collect::<Vec<_>>());
        assert!(verdict.gap().is_some_and(|gap| gap <= 1.01e-4) && verdict.status == "optimal", "{verdict:?}");
        let several = usize::from(*subset != found.best.subset);
        assert_eq!(verdict.listed.len(), 1 + several);
        (beside, alone) = (beside + several, alone + 1 - several);
    }
    assert_eq!((beside, alone), (20, 1));
}

#[test]
fn a_list_that_breaks_the_rules_is_judged_but_not_listed() {
    let (design, labels) = RandomProblem { n: 30, p: 6, density: 1.0, noise: 0.1, seed: 12 }.draw();
    let classes: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let samples = Samples::new(&design, &classes, None).expect("valid");
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let settings = ExactSettings { svm: tight(), ..ExactSettings::default() };
    let certify = |rules: &Rules, features: &[usize], observer: &mut dyn fewest::Observer| {
        certify_list(&samples, features, rules, &settings, Limits::default(), observer).expect("valid")
    };
    // The best three, of which one is forbidden then.
    let free = certify(&Rules::at_most_features(6, 3).expect("valid"), &[0, 1, 2], &mut Silent);
    let best: Vec<usize> = free.certificate.best.subset.iter().collect();
    let forbid = Rules::new(6, RuleList { forbid: vec![best[0]].into(), ..RuleList::default() }, &[]).expect("valid");
    let mut files = KeptProofs::default();
    let found = certify(&forbid, &best, &mut files);
    assert!(!found.allowed && found.gap().is_none() && found.better().next().is_none());
    assert!(found.certificate.bound.expect("a bound") > found.certificate.objective);
    assert!(forbid.allows(&found.certificate.best.subset));
    assert_eq!(forbid.broken(&found.subset, &[]), [format!("x{} is forbidden, but is in it", best[0] + 1)]);
    let verdict = verify_proof(&files.files[0], &problem).expect("verified");
    assert!(verdict.listed.len() == 1 && verdict.listed[0].features != best, "{verdict:?}");
}

#[test]
fn what_cannot_be_certified_is_refused_and_limits_are_kept() {
    let (design, labels) = RandomProblem { n: 40, p: 12, density: 1.0, noise: 0.2, seed: 2 }.draw();
    let classes: Vec<u32> = labels.iter().map(|&y| u32::from(y > 0.0)).collect();
    let samples = Samples::new(&design, &classes, None).expect("valid");
    let run = |features: &[usize], rules: &Rules, limits: Limits| {
        certify_list(&samples, features, rules, &ExactSettings::default(), limits, &mut Silent)
    };
    let none = Rules::none(12);
    for (features, words) in [(&[][..], "it is empty"), (&[1, 12], "index 12"), (&[3, 1, 3], "index 3 twice")] {
        let why = run(features, &none, Limits::default()).expect_err("refused").to_string();
        assert!(why.contains(words), "{why}");
    }
    let require = Rules::new(12, RuleList { require: vec![0, 1], ..RuleList::default() }, &[]).expect("valid");
    assert!(
        run(&[4], &require, Limits::default()).is_err_and(|error| error.to_string().contains("`max_features` is 1"))
    );
    let other = Rules::none(9);
    assert!(run(&[4], &other, Limits::default()).is_err_and(|error| error.to_string().contains("9 features")));

    let found = run(&[3, 4, 5], &none, Limits { time: Some(Duration::ZERO), ..Limits::default() }).expect("a limit");
    assert_eq!((found.certificate.status, found.swaps.len(), found.gain(3)), (Status::TimeLimit, 0, None));
    assert!(found.certificate.objective.is_finite() && found.gap().is_none_or(|gap| gap >= 0.0));
    // All features, and one.
    let all: Vec<usize> = (0..design.n_features()).collect();
    let whole = run(&all, &none, Limits::default()).expect("valid");
    assert!(whole.certificate.status == Status::Optimal && whole.swaps.iter().all(|swap| swap.by.is_empty()));
    assert_eq!(run(&[7], &none, Limits::default()).expect("valid").certificate.best.subset.len(), 1);
}
