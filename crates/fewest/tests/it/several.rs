//! One subset for several problems: `exact` against full enumeration of the sum of the problems.

use fewest::dual::BoxDual;
use fewest::method::exact::{ExactSettings, exact, exact_several};
use fewest::{
    Bias, Clock, DenseDesign, Error, Kernel, Limits, Loss, Memory, Method, MultiClass, Observer, Problem, RuleList,
    Rules, Samples, Selection, Several, Silent, Status, Subset, SvmSettings, WeightBound,
};
use fewest_testing::{
    HardCase, KeptProofs, RandomProblem, Rng, allowed_subsets, bracket, gram, random_rules, reference, verify_several,
};
use fewest_verify::Verdict;

/// Objective of one problem on a subset, by an independent training at a tight gap.
fn value(problem: &Problem<'_>, subset: &Subset, svm: &SvmSettings) -> f64 {
    let features: Vec<usize> = subset.iter().collect();
    let svm = SvmSettings { tolerance: 1e-9, ..svm.clone() };
    let (y, weights) = (problem.labels(), problem.weights());
    let trained =
        fewest::dual::train::train(problem.design(), &features, y, weights, Kernel::Linear, &svm, &Clock::unlimited());
    let trained = trained.expect("valid settings");
    if trained.status == Status::Optimal {
        return trained.primal;
    }
    // An engine that ends early is judged by a slow one.
    let dual = BoxDual::new(y, weights, &svm);
    let slow = reference(&dual, &gram(problem, &features, &Kernel::Linear), 20_000);
    assert!(slow.residual < 1e-9, "{slow:?}");
    slow.dual
}

/// The sum over problems, and the prices.
fn total(problems: &[Problem<'_>], subset: &Subset, svm: &SvmSettings, penalty: &[f64]) -> f64 {
    let prices: f64 = subset.iter().map(|j| penalty.get(j).unwrap_or(&0.0)).sum();
    problems.iter().map(|problem| value(problem, subset, svm)).sum::<f64>() + prices
}

fn draw_svm(rng: &mut Rng) -> SvmSettings {
    SvmSettings {
        cost: [0.03, 0.3, 1.0, 10.0][rng.below(4)],
        loss: if rng.chance(0.5) { Loss::Hinge } else { Loss::SquaredHinge },
        bias: [Bias::Free, Bias::Free, Bias::Penalised(1.5), Bias::None][rng.below(4)],
        ..SvmSettings::default()
    }
}

/// Classes of n samples, all of them there.
fn draw_classes(rng: &mut Rng, scores: &[f64], k: usize) -> Vec<u32> {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let mut classes = vec![0; scores.len()];
    for (at, i) in order.into_iter().enumerate() {
        let own = at * k / scores.len();
        classes[i] = if rng.chance(0.15) { rng.below(k) } else { own } as u32;
    }
    for class in 0..k {
        classes[class] = class as u32;
    }
    classes
}

fn assert_best(found: &Selection, (problems, rules): (&[Problem<'_>], &Rules), settings: &ExactSettings, about: &str) {
    let ExactSettings { svm, penalty, solutions, .. } = settings;
    let mut all: Vec<(f64, Subset)> =
        allowed_subsets(rules).into_iter().map(|s| (total(problems, &s, svm, penalty.prices()), s)).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(found.outcome.status, Status::Optimal, "{about} {:?}", found.outcome);
    let (objective, best) = (found.outcome.objective.expect("a subset"), all[0].0);
    assert!((objective - best).abs() <= 2e-6 * best.abs().max(1e-6), "{about}: {objective} against {best}");
    let bound = found.outcome.bound.expect("a bound");
    assert!(bound <= best * (1.0 + 1e-7) + 1e-9, "{about}: bound {bound} above {best}");
    assert!(bound >= best * (1.0 - 3e-6) - 1e-9, "{about}: bound {bound} far below {best}");
    assert_eq!(found.solutions.len(), (*solutions).min(all.len()), "{about}");
    for (solution, truth) in found.solutions.iter().zip(&all) {
        assert!(rules.allows(&solution.subset), "{about}");
        assert!(
            (solution.objective - truth.0).abs() <= 3e-6 * truth.0.max(1e-6),
            "{about}: {:?} against {:?}",
            found.solutions,
            &all[..found.solutions.len()]
        );
    }
}

/// What a checker says of the sum is true of every allowed subset.
fn assert_true(
    verdict: &Verdict,
    (problems, rules): (&[Problem<'_>], &Rules),
    ExactSettings { svm, penalty, .. }: &ExactSettings,
    about: &str,
) {
    for subset in allowed_subsets(rules) {
        let truth = total(problems, &subset, svm, penalty.prices());
        let listed = verdict.listed.iter().find(|one| subset.iter().eq(one.features.iter().copied()));
        let (objective, bound) = listed.map_or((f64::INFINITY, verdict.rest), |one| (one.objective, one.bound));
        let room = 1e-6 * truth.max(1e-6);
        assert!(bound <= truth + room && objective >= truth - room, "{about}: {subset:?} {truth}, {verdict:?}");
    }
    assert!(verdict.gap().is_some_and(|gap| gap <= 2e-6), "{about}: {verdict:?}");
}

/// Random classes and tasks, taken apart by hand here: `exact` on [`Samples`] finds the best of all
/// subsets, for the sum of the problems.
#[test]
fn equals_enumeration_for_random_classes_tasks_and_rules() {
    let mut rng = Rng::new(31);
    let (mut checked, mut several, mut proven) = (0, 0, 0);
    for case in 0..1900 {
        let p = 2 + rng.below(5);
        let k = 2 + rng.below(3);
        let n = 8 + rng.below(24);
        let drawn = RandomProblem { n, p, density: 0.8, noise: 0.0, seed: case };
        let (dense, _) = drawn.draw();
        let (sparse, _) = drawn.draw_sparse();
        let scores: Vec<f64> = (0..n).map(|i| dense.column(0)[i] + dense.column(p - 1)[i] + rng.normal()).collect();
        let classes = draw_classes(&mut rng, &scores, k);
        let weights: Vec<f64> = classes.iter().map(|_| if rng.chance(0.1) { 0.5 } else { 1.0 }).collect();
        let tasks: Option<Vec<u32>> = rng.chance(0.4).then(|| {
            let m = 2 + rng.below(2) as u32;
            let mut tasks: Vec<u32> = (0..n).map(|_| rng.below(m as usize) as u32).collect();
            // Each has the first two classes.
            for task in 0..m {
                for class in 0..2 {
                    let free = (0..n).rev().filter(|&i| classes[i] == class).nth(task as usize);
                    tasks[free.unwrap_or(0)] = task;
                }
            }
            tasks
        });
        let Ok(rules) = Rules::new(p, random_rules(&mut rng, p), &[]) else { continue };
        let design: &dyn fewest::Design = if case % 2 == 0 { &dense } else { &sparse };
        let mut samples = Samples::new(design, &classes, Some(&weights)).expect("valid");
        if let Some(tasks) = &tasks {
            samples = samples.with_tasks(tasks).expect("valid");
        }
        let multi_class = if rng.chance(0.5) { MultiClass::OneVsOne } else { MultiClass::OneVsRest };
        let Some(parts) = apart(&dense, &classes, &weights, tasks.as_deref(), multi_class) else { continue };
        let problems: Vec<Problem<'_>> =
            parts.iter().map(|(x, y, w)| Problem::new(x, y, Some(w)).expect("valid")).collect();
        let penalty = if rng.chance(0.5) { (0..p).map(|_| 0.3 * rng.below(4) as f64).collect() } else { Vec::new() };
        let settings = ExactSettings {
            svm: draw_svm(&mut rng),
            penalty: penalty.into(),
            solutions: 1 + rng.below(3),
            multi_class,
            ..ExactSettings::default()
        };
        let limits = Limits { gap_rel: 1e-6, ..Limits::default() };
        let about = format!(
            "case {case}: n {n}, p {p}, {k} classes, tasks {tasks:?}, {multi_class:?}, {:?}, penalty {:?}, {:?}",
            settings.svm,
            settings.penalty,
            rules.list()
        );
        let (mut files, mut silent) = (KeptProofs::default(), Silent);
        let proves = rng.chance(0.4);
        let observer: &mut dyn Observer = if proves { &mut files } else { &mut silent };
        let report = settings.select(&samples, &rules, limits, observer).expect("valid settings");
        assert_best(&report.selection, (&problems, &rules), &settings, &about);
        if proves {
            assert_eq!(files.complete, 1, "{about}");
            let several = Several::new(&samples, multi_class, &Memory::unlimited()).expect("problems");
            let verdict = verify_several(&files.files[0], &several.problems());
            let verdict = verdict.unwrap_or_else(|error| panic!("{about}: {error}"));
            assert_true(&verdict, (&problems, &rules), &settings, &about);
            proven += usize::from(problems.len() > 1);
        }
        assert_eq!(report.details.contains_key("problems"), problems.len() > 1, "{about}");
        checked += 1;
        several += usize::from(problems.len() > 1);
    }
    assert!(checked >= 1000 && several > 800 && proven > 300, "{checked} {several} {proven}");
}

/// Data, labels and weights of a problem.
type Part = (DenseDesign<'static>, Vec<f64>, Vec<f64>);

/// Matrix, labels and weights of each problem: by the definition, one sample after the other.
fn apart(
    design: &DenseDesign<'_>,
    classes: &[u32],
    weights: &[f64],
    tasks: Option<&[u32]>,
    multi_class: MultiClass,
) -> Option<Vec<Part>> {
    let n = classes.len();
    let p = design.values().len() / n;
    let last = tasks.map_or(0, |tasks| *tasks.iter().max().expect("samples"));
    let mut parts = Vec::new();
    for task in 0..=last {
        let here: Vec<usize> = (0..n).filter(|&i| tasks.is_none_or(|tasks| tasks[i] == task)).collect();
        let mut present: Vec<u32> = here.iter().map(|&i| classes[i]).collect();
        present.sort_unstable();
        present.dedup();
        if present.len() < 2 {
            return None;
        }
        // (positive, negative or all others)
        let mut sides: Vec<(u32, Option<u32>)> = Vec::new();
        if multi_class == MultiClass::OneVsRest && present.len() > 2 {
            sides.extend(present.iter().map(|&c| (c, None)));
        } else {
            for (at, &a) in present.iter().enumerate() {
                sides.extend(present[at + 1..].iter().map(|&b| (b, Some(a))));
            }
        }
        for (positive, negative) in sides {
            let is = |i: usize| negative.is_none_or(|a| classes[i] == a || classes[i] == positive);
            let of: Vec<usize> = here.iter().copied().filter(|&i| is(i)).collect();
            let y = of.iter().map(|&i| if classes[i] == positive { 1.0 } else { -1.0 }).collect();
            let w = of.iter().map(|&i| weights[i]).collect();
            let values = (0..p).flat_map(|j| of.iter().map(move |&i| design.column(j)[i]));
            parts.push((DenseDesign::new(of.len(), p, values.collect::<Vec<f64>>()).expect("n p"), y, w));
        }
    }
    Some(parts)
}

/// Hard cases, two or three of them on as many features and under the rules of the first, each with
/// its own samples: raw scales, large costs, ties, odd rules.
#[test]
fn equals_enumeration_on_hard_problems() {
    let mut checked = 0;
    for seed in 0..400 {
        let first = HardCase::draw(seed);
        let others = (1000 * (seed + 1)..).map(HardCase::draw).filter(|case| case.features() == first.features());
        let others: Vec<HardCase> = others.take(1 + seed as usize % 2).collect();
        let Ok(rules) = Rules::new(first.features(), first.rules.clone(), &[]) else { continue };
        let problems: Vec<Problem<'_>> = std::iter::once(&first).chain(&others).map(HardCase::problem).collect();
        let svm = first.svm.clone();
        let settings = ExactSettings { svm, penalty: first.penalty.clone().into(), ..ExactSettings::default() };
        let limits = Limits { gap_rel: 1e-6, ..Limits::default() };
        let found = exact_several(&problems, &rules, &settings, limits, &mut Silent).expect("valid settings");
        let about = format!("seed {seed}: {:?} {:?}, {:?}", first.data, first.kind, settings.svm);
        assert!(
            matches!(found.outcome.status, Status::Optimal | Status::Stalled),
            "{about}: {:?}",
            found.outcome.status
        );
        let (mut least, mut most) = (f64::INFINITY, f64::INFINITY);
        for subset in allowed_subsets(&rules) {
            let prices: f64 = subset.iter().map(|j| settings.penalty.prices().get(j).unwrap_or(&0.0)).sum();
            let each = problems.iter().map(|problem| bracket(problem, &subset, &settings.svm, &[]));
            let sum = each.fold((prices, prices), |sum, one| (sum.0 + one.lower, sum.1 + one.upper));
            (least, most) = (least.min(sum.0), most.min(sum.1));
        }
        let (objective, bound) = (found.outcome.objective.expect("a subset"), found.outcome.bound.expect("a bound"));
        assert!(bound <= most * (1.0 + 1e-12), "{about}: bound {bound} above {most}");
        assert!(objective >= least * (1.0 - 1e-12), "{about}: {objective} below {least}");
        if found.outcome.status == Status::Optimal {
            assert!(objective <= most * (1.0 + 2e-6) + 1e-9, "{about}: {objective} above {most}");
            checked += 1;
        }
    }
    assert!(checked > 330, "{checked}");
}

/// Three problems on the same 7 features, of samples of their own.
fn three(seed: u64) -> Vec<(DenseDesign<'static>, Vec<f64>)> {
    (0..3).map(|t| RandomProblem { n: 20, p: 7, density: 0.9, noise: 0.1, seed: 10 * seed + t }.draw()).collect()
}

fn problems<'a>(drawn: &'a [(DenseDesign<'static>, Vec<f64>)]) -> Vec<Problem<'a>> {
    drawn.iter().map(|(x, y)| Problem::new(x, y, None).expect("valid")).collect()
}

#[cfg(feature = "highs")]
#[test]
fn gbd_finds_the_same_by_sums_of_cuts() {
    use fewest_papers::gbd::{GbdSettings, gbd_several};
    let mut rng = Rng::new(3);
    for seed in 0..40 {
        let drawn = three(seed);
        let problems = problems(&drawn);
        let Ok(rules) = Rules::new(7, random_rules(&mut rng, 7), &[]) else { continue };
        let svm = draw_svm(&mut rng);
        let gbd = GbdSettings { svm: svm.clone(), ..GbdSettings::default() };
        let exact = ExactSettings { svm, ..ExactSettings::default() };
        let found = gbd_several(&problems, &rules, &gbd, Limits::default(), &mut Silent).expect("valid").selection;
        let wanted = exact_several(&problems, &rules, &exact, Limits::default(), &mut Silent).expect("valid");
        let (a, b) = (found.outcome.objective.expect("a subset"), wanted.outcome.objective.expect("a subset"));
        assert_eq!(found.outcome.status, Status::Optimal, "seed {seed} {:?}", found.outcome);
        assert!((a - b).abs() <= 2.5e-4 * b, "seed {seed}: {a} against {b}");
        let truth = total(&problems, found.outcome.subset.as_ref().expect("a subset"), &gbd.svm, &[]);
        assert!((a - truth).abs() <= 1e-5 * truth, "seed {seed}: {a} is {truth}");
    }
}

/// Signs hold in every problem: the best of all subsets, each problem's value by `exact` alone.
#[test]
fn bounds_on_weights_hold_in_every_problem() {
    for seed in 0..12 {
        let drawn = three(seed);
        let problems = problems(&drawn);
        let bound = |feature: usize, lower: Option<f64>, upper: Option<f64>| WeightBound { feature, lower, upper };
        let weights = vec![bound(0, Some(0.0), None), bound(1, None, Some(0.0)), bound(3, Some(-0.1), Some(0.2))];
        let list = RuleList { max_features: Some(3), weights, ..RuleList::default() };
        let rules = Rules::new(7, list.clone(), &[]).expect("valid");
        let settings = ExactSettings { svm: draw_svm(&mut Rng::new(seed)), ..ExactSettings::default() };
        let limits = || Limits { gap_rel: 1e-6, ..Limits::default() };
        let alone = |problem: &Problem<'_>, subset: &Subset| {
            let (require, forbid): (Vec<usize>, Vec<usize>) = (0..7).partition(|&j| subset.contains(j));
            let only = Rules::new(7, RuleList { require, forbid: forbid.into(), ..list.clone() }, &[]).expect("valid");
            exact(problem, &only, &settings, limits(), &mut Silent).expect("valid").outcome.objective.expect("one")
        };
        let value = |subset: &Subset| problems.iter().map(|problem| alone(problem, subset)).sum::<f64>();
        let best = allowed_subsets(&rules).iter().map(value).fold(f64::INFINITY, f64::min);
        let found = exact_several(&problems, &rules, &settings, limits(), &mut Silent).expect("valid").outcome;
        assert_eq!(found.status, Status::Optimal, "seed {seed}");
        let (objective, bound) = (found.objective.expect("a subset"), found.bound.expect("a bound"));
        assert!((objective - best).abs() <= 4e-6 * best, "seed {seed}: {objective} against {best}");
        assert!(bound <= best * (1.0 + 1e-6), "seed {seed}: bound {bound} above {best}");
    }
}

#[test]
fn threads_change_nothing_and_limits_end_with_a_subset() {
    let draw = |seed| RandomProblem { n: 60, p: 20, density: 1.0, noise: 0.1, seed }.draw();
    let drawn: Vec<_> = (0..3).map(draw).collect();
    let problems = problems(&drawn);
    let rules = Rules::at_most_features(20, 6).expect("valid");
    let svm = SvmSettings { cost: 0.3, ..SvmSettings::default() };
    let settings = ExactSettings { svm: svm.clone(), ..ExactSettings::default() };
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        pool.install(|| exact_several(&problems, &rules, &settings, Limits::default(), &mut Silent))
            .expect("valid")
            .outcome
    };
    let (one, four) = (with(1), with(4));
    assert_eq!((one.status, one.subset.clone(), one.objective), (Status::Optimal, four.subset, four.objective));
    assert_eq!((one.bound, one.counts), (four.bound, four.counts));
    let best = one.objective.expect("a subset");
    for nodes in [0, 1, 3, 10] {
        let limits = Limits { nodes: Some(nodes), ..Limits::default() };
        let outcome = exact_several(&problems, &rules, &settings, limits, &mut Silent).expect("valid").outcome;
        assert!(outcome.bound.expect("a bound") <= best * (1.0 + 1e-7), "{nodes} nodes");
        let truth = total(&problems, &outcome.subset.expect("a subset"), &svm, &[]);
        let objective = outcome.objective.expect("a subset");
        assert!((objective - truth).abs() <= 1e-5 * truth && objective >= best * (1.0 - 1e-4), "{nodes} nodes");
    }
}

#[test]
fn a_certificate_judges_the_sum() {
    use fewest::method::certificate::certify_several;
    let drawn = three(5);
    let problems = problems(&drawn);
    let (rules, settings) = (Rules::none(7), ExactSettings::default());
    let subset = Subset::from_indices(7, [1, 4]);
    let found =
        certify_several(&problems, &rules, &subset, &settings, Limits::default(), &mut Silent).expect("valid settings");
    let truth = total(&problems, &subset, &settings.svm, &[]);
    assert!((found.objective - truth).abs() <= 1e-5 * truth);
    let of_two = Rules::at_most_features(7, 2).expect("valid");
    let all = allowed_subsets(&of_two).into_iter().map(|s| total(&problems, &s, &settings.svm, &[]));
    let best = all.fold(f64::INFINITY, f64::min);
    assert_eq!(found.status, Status::Optimal);
    assert!((found.best.objective - best).abs() <= 1e-4 * best && found.bound.expect("a bound") <= best * (1.0 + 1e-7));
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let drawn = three(1);
    let problems = problems(&drawn);
    let rules = Rules::at_most_features(7, 2).expect("valid");
    let run = |problems: &[Problem<'_>]| {
        let settings = ExactSettings::default();
        exact_several(problems, &rules, &settings, Limits::default(), &mut Silent).expect_err("refused").to_string()
    };
    assert!(run(&[]).contains("no problem"));
    let (other, labels) = RandomProblem { n: 9, p: 3, density: 1.0, noise: 0.0, seed: 1 }.draw();
    let other = Problem::new(&other, &labels, None).expect("valid");
    assert!(run(&[problems[0].clone(), other]).contains("problem 1 has 3 features"));

    let (design, labels) = &drawn[0];
    let classes: Vec<u32> = labels.iter().map(|y| u32::from(*y > 0.0)).collect();
    let samples = || Samples::new(design, &classes, None).expect("valid");
    let refused = |tasks: &[u32]| samples().with_tasks(tasks).err().map(|error| error.to_string());
    assert!(refused(&[0; 3]).is_some_and(|error| error.contains("3 tasks for 20 samples")));
    assert!(refused(&[1; 20]).is_some_and(|error| error.contains("task 0 of 2 has no sample")));
    // One class in each task.
    let split = samples().with_tasks(&classes).expect("valid");
    let error = Several::new(&split, MultiClass::OneVsOne, &Memory::unlimited()).err().expect("refused");
    assert!(error.to_string().contains("task 0 has no two classes"), "{error}");
    // The copy of the data is taken from the account.
    let tasks: Vec<u32> = (0..20).map(|i| u32::from(i % 2 == 0)).collect();
    let two = samples().with_tasks(&tasks).expect("valid");
    let error = Several::new(&two, MultiClass::OneVsOne, &Memory::new(8 * 20 * 7 - 1)).err().expect("refused");
    assert!(matches!(error, Error::Memory { needed: 1120, .. }), "{error}");
    // Methods for one task say so.
    let rfe = fewest::AnyMethod::from(fewest::method::rfe::RfeSettings::default());
    let error = rfe.select(&two, &rules, Limits::default(), &mut Silent).expect_err("refused").to_string();
    assert!(error.contains("rfe selects for one task") && error.contains("exact"), "{error}");
}
