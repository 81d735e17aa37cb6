//! Bounds on weights: trainings by their optimality conditions, `exact` against enumeration.

use fewest::dual::BoxDual;
use fewest::kernel_oracle::Criterion;
use fewest::method::Method;
use fewest::method::certificate::certify;
use fewest::method::exact::{ExactSettings, exact};
use fewest::method::info_gain::InfoGainSettings;
use fewest::method::rfe::{RfeSettings, rfe};
use fewest::model::{FitSettings, fit};
use fewest::saddle::AlphaHalf;
use fewest::{
    Bias, Clock, Design, DualSolution, Interval, Limits, Loss, Problem, RuleList, Rules, Samples, Silent, Status,
    Subset, SvmSettings, WeightBound,
};
use fewest_papers::AnyMethod;
use fewest_testing::{RandomProblem, Rng, all_subsets, allowed_subsets, assert_bounded, random_bounds, random_rules};

fn stated(bounds: &[Interval]) -> Vec<WeightBound> {
    bounds.iter().enumerate().map(|(j, interval)| WeightBound::within(j, *interval)).collect()
}

/// Rules that only bound weights.
fn bounding(bounds: &[Interval]) -> Rules {
    Rules::new(bounds.len(), RuleList { weights: stated(bounds), ..RuleList::default() }, &[]).expect("bounds hold 0")
}

/// The machine on these features, with their bounds.
fn trained(problem: &Problem<'_>, features: &[usize], rules: &Rules, svm: &SvmSettings) -> DualSolution {
    let classes: Vec<u32> = problem.labels().iter().map(|y| u32::from(*y > 0.0)).collect();
    let settings =
        FitSettings { svm: svm.clone(), weight_bounds: rules.weight_bounds().clone(), ..FitSettings::default() };
    let model = fit(problem.design(), features, &classes, problem.weights(), &settings, &Clock::unlimited());
    model.expect("valid settings").machines.remove(0).solution
}

fn random_svm(rng: &mut Rng, costs: &[f64]) -> SvmSettings {
    SvmSettings {
        cost: costs[rng.below(costs.len())],
        loss: if rng.chance(0.5) { Loss::Hinge } else { Loss::SquaredHinge },
        bias: [Bias::Free, Bias::Free, Bias::Penalised(1.5), Bias::None][rng.below(4)],
        ..SvmSettings::default()
    }
}

#[test]
fn trainings_close_the_gap_within_the_bounds() {
    let mut rng = Rng::new(11);
    let (mut bound_ones, mut all) = (0, 0);
    for case in 0..400 {
        let (n, p) = (6 + rng.below(60), 1 + rng.below(30));
        let drawn =
            RandomProblem { n, p, density: [1.0, 0.4][rng.below(2)], noise: [0.0, 0.2][rng.below(2)], seed: case };
        let (dense, labels) = drawn.draw();
        let (sparse, _) = drawn.draw_sparse();
        let design: &dyn Design = if case % 2 == 0 { &dense } else { &sparse };
        let weights: Vec<f64> = labels.iter().map(|_| if rng.chance(0.1) { 0.5 } else { 1.0 }).collect();
        let problem = Problem::new(design, &labels, Some(&weights)).expect("valid");
        let bounds = random_bounds(&mut rng, p);
        let svm = SvmSettings { tolerance: 1e-8, ..random_svm(&mut rng, &[0.01, 1.0, 100.0, 1e5]) };
        let found = trained(&problem, &(0..p).collect::<Vec<_>>(), &bounding(&bounds), &svm);
        let about = format!("case {case}: n {n}, p {p}, {svm:?}, {bounds:?}");
        assert!(found.gap() <= 1e-8, "{about}: gap {} {:?}", found.gap(), found.status);
        let dual = BoxDual::new(&labels, &weights, &svm);
        assert_bounded(design, &bounds, &dual, &found, 2e-8);
        all += found.weights.len();
        bound_ones += found.weights.iter().zip(&bounds).filter(|(w, b)| **w == b.lower || **w == b.upper).count();
    }
    assert!(bound_ones > all / 5 && bound_ones < all, "{bound_ones} of {all} weights are at a bound");
}

/// The best objective over the allowed subsets.
fn enumerated(problem: &Problem<'_>, rules: &Rules, svm: &SvmSettings, penalty: &[f64]) -> f64 {
    let svm = SvmSettings { tolerance: 1e-9, ..svm.clone() };
    let value = |subset: &Subset| {
        let features: Vec<usize> = subset.iter().collect();
        let price: f64 = features.iter().filter_map(|&j| penalty.get(j)).sum();
        trained(problem, &features, rules, &svm).primal + price
    };
    allowed_subsets(rules).iter().map(value).fold(f64::INFINITY, f64::min)
}

#[test]
fn exact_equals_enumeration_under_bounds_and_rules() {
    let mut rng = Rng::new(5);
    let (mut proven, mut dearer) = (0, 0);
    for case in 0..1700 {
        let p = 2 + rng.below(5);
        let drawn = RandomProblem { n: 8 + rng.below(25), p, density: 0.8, noise: 0.15, seed: 1000 + case };
        let (dense, labels) = drawn.draw();
        let (sparse, _) = drawn.draw_sparse();
        let design: &dyn Design = if case % 2 == 0 { &dense } else { &sparse };
        let weights: Vec<f64> = labels.iter().map(|_| if rng.chance(0.1) { 0.5 } else { 1.0 }).collect();
        let problem = Problem::new(design, &labels, Some(&weights)).expect("valid");
        let bounds = if case % 3 == 0 {
            (0..p)
                .map(|_| {
                    [Interval { lower: 0.0, ..Interval::FREE }, Interval { upper: 0.0, ..Interval::FREE }][rng.below(2)]
                })
                .collect()
        } else {
            random_bounds(&mut rng, p)
        };
        let list = RuleList { weights: stated(&bounds), ..random_rules(&mut rng, p) };
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { continue };
        let svm = random_svm(&mut rng, &[0.03, 1.0, 10.0, 1000.0]);
        let penalty: Vec<f64> =
            if rng.chance(0.5) { (0..p).map(|_| 0.3 * rng.below(4) as f64).collect() } else { Vec::new() };
        let settings = ExactSettings { svm: svm.clone(), penalty: penalty.clone().into(), ..ExactSettings::default() };
        let limits = Limits { gap_rel: 1e-6, ..Limits::default() };
        let found = exact(&problem, &rules, &settings, limits.clone(), &mut Silent).expect("valid settings").outcome;
        let about = format!("case {case}: p {p}, {svm:?}, penalty {penalty:?}, {list:?}");
        // What rounding may take from the bound can be more than a feature's price.
        let rounded = found.status == Status::Stalled && found.objective_gap().is_some_and(|gap| gap < 1e-8);
        assert!(found.status == Status::Optimal || rounded, "{about} {found:?}");
        let (objective, bound) = (found.objective.expect("a subset"), found.bound.expect("a bound"));
        let best = enumerated(&problem, &rules, &svm, &penalty);
        assert!((objective - best).abs() <= 2e-6 * best.abs().max(1e-6), "{about}: {objective} against {best}");
        assert!(bound <= best * (1.0 + 1e-7) + 1e-9, "{about}: bound {bound} above {best}");
        let free = Rules::new(p, RuleList { weights: Vec::new(), ..list }, &[]).expect("as before");
        let free = exact(&problem, &free, &settings, limits, &mut Silent).expect("valid settings").outcome;
        dearer += usize::from(objective > free.objective.expect("a subset") * (1.0 + 1e-5));
        proven += 1;
    }
    assert!(proven > 1000 && dearer > proven / 3, "{proven} proven, {dearer} of them dearer than without bounds");
}

/// What `rfe` ends with has the objective of its subset within the bounds, and each step leaves out
/// the smallest weight of a training within them.
#[test]
fn rfe_drops_the_smallest_weight_within_the_bounds() {
    let mut rng = Rng::new(41);
    let mut different = 0;
    for case in 0..240 {
        let p = 4 + rng.below(8);
        let drawn = RandomProblem { n: 8 + rng.below(40), p, density: 1.0, noise: 0.1, seed: 9000 + case };
        let (design, labels) = drawn.draw();
        let problem = Problem::new(&design, &labels, None).expect("valid");
        // Signs alone have trainings of their own.
        let signs =
            [Interval::FREE, Interval { lower: 0.0, ..Interval::FREE }, Interval { upper: 0.0, ..Interval::FREE }];
        let bounds = match case % 2 {
            0 => random_bounds(&mut rng, p),
            _ => (0..p).map(|_| signs[rng.below(3)]).collect(),
        };
        let size = 1 + rng.below(p - 1);
        let list = RuleList { max_features: Some(size), weights: stated(&bounds), ..RuleList::default() };
        let rules = Rules::new(p, list, &[]).expect("valid");
        let svm = SvmSettings { tolerance: 1e-10, ..random_svm(&mut rng, &[0.03, 1.0, 10.0]) };
        let settings = RfeSettings { svm: svm.clone(), ..RfeSettings::default() };
        let found = rfe(&problem, &rules, &settings, Limits::default(), &mut Silent).expect("valid").outcome;
        let mut left: Vec<usize> = (0..p).collect();
        let mut clear = true;
        while left.len() > size {
            let weights = trained(&problem, &left, &rules, &svm).weights;
            let mut order: Vec<usize> = (0..left.len()).collect();
            order.sort_by(|&a, &b| weights[a].abs().total_cmp(&weights[b].abs()).then(b.cmp(&a)));
            // Ties, such as several weights of 0, may be broken by rounding.
            clear &= weights[order[1]].abs() > weights[order[0]].abs() + 1e-4;
            left.remove(order[0]);
        }
        let subset = found.subset.expect("a subset");
        let features: Vec<usize> = subset.iter().collect();
        let value = trained(&problem, &features, &rules, &svm).primal;
        assert!((found.objective.expect("a value") - value).abs() <= 1e-8 * value, "case {case}");
        if clear {
            assert_eq!(features, left, "case {case}");
            let free = Rules::at_most_features(p, size).expect("valid");
            let free = rfe(&problem, &free, &settings, Limits::default(), &mut Silent).expect("valid").outcome;
            different += usize::from(free.subset.expect("a subset") != subset);
        }
    }
    assert!(different > 5, "{different} subsets differ from those without bounds");
}

#[test]
fn rfe_refuses_bounds_where_it_cannot_keep_them() {
    let (design, labels) = RandomProblem { n: 20, p: 4, density: 1.0, noise: 0.1, seed: 1 }.draw();
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let list = RuleList { max_features: Some(2), weights: vec![WeightBound::positive(1)], ..RuleList::default() };
    let rules = Rules::new(4, list, &[]).expect("valid");
    for criterion in [Criterion::Margin, Criterion::InputWeights] {
        let settings = RfeSettings { criterion, ..RfeSettings::default() };
        let error = rfe(&problem, &rules, &settings, Limits::default(), &mut Silent).unwrap_err().to_string();
        assert!(error.contains("rfe obeys bounds on weights with the linear kernel"), "{error}");
    }
}

/// A method that does not obey bounds must not ignore them, through any door.
#[test]
fn other_methods_refuse_rules_that_bound_weights() {
    let (design, labels) = RandomProblem { n: 20, p: 4, density: 1.0, noise: 0.1, seed: 1 }.draw();
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let samples = Samples::from(&problem);
    let list = RuleList { max_features: Some(2), weights: vec![WeightBound::positive(1)], ..RuleList::default() };
    let rules = Rules::new(4, list, &[]).expect("valid");
    let mut refused = Vec::new();
    for info in AnyMethod::INFOS {
        let name = info.name;
        let all = [serde_json::json!({ "name": name }), serde_json::json!({ "name": name, "svm": {} })];
        let method = all.into_iter().find_map(|settings| serde_json::from_value::<AnyMethod>(settings).ok());
        // Methods with folds or grids of their own have no settings without data.
        let Some(method) = method else {
            assert!(AnyMethod::check_weight_bounds(name, rules.list()).is_err(), "{name}");
            continue;
        };
        let found = method.select(&samples, &rules, Limits::default(), &mut Silent);
        let obeys = AnyMethod::bounding().contains(&info.name);
        assert_eq!(found.is_ok(), obeys, "{}: {:?}", info.name, found.err());
        if let Err(error) = found {
            let text = error.to_string();
            assert!(text.contains(info.name) && text.contains("use a method that does: exact"), "{text}");
            refused.push(info.name);
        }
    }
    assert!(refused.contains(&"kta") && !refused.contains(&"exact"));
    let direct = InfoGainSettings::default().select(&samples, &rules, Limits::default(), &mut Silent);
    assert!(direct.unwrap_err().to_string().contains("which this method does not obey"));
}

#[test]
fn a_certificate_judges_within_the_bounds() {
    let (design, labels) = RandomProblem { n: 40, p: 5, density: 1.0, noise: 0.1, seed: 8 }.draw();
    let problem = Problem::new(&design, &labels, None).expect("valid");
    let bounds: Vec<Interval> = (0..5).map(|_| Interval { lower: -0.1, upper: 0.1 }).collect();
    let rules = bounding(&bounds);
    let subset = Subset::from_indices(5, [0, 3]);
    let settings = ExactSettings::default();
    let found = certify(&problem, &rules, &subset, &settings, Limits::default(), &mut Silent).expect("valid");
    let own = trained(&problem, &[0, 3], &rules, &settings.svm).primal;
    assert!((found.objective - own).abs() <= 1e-5 * own, "{} {own}", found.objective);
    assert_eq!(found.status, Status::Optimal);
    let two = Rules::new(5, RuleList { max_features: Some(2), ..rules.list().clone() }, &[]).expect("valid");
    let best = enumerated(&problem, &two, &settings.svm, &[]);
    assert!((found.best.objective - best).abs() <= 2e-4 * best, "{} {best}", found.best.objective);
    let free =
        exact(&problem, &Rules::at_most_features(5, 2).expect("valid"), &settings, Limits::default(), &mut Silent);
    assert!(best > free.expect("valid").outcome.objective.expect("a subset") * 1.01, "the bounds bind");
}

/// `v(z) >= cut` for every subset, wherever the cut was made and however well its training ended.
#[test]
fn cuts_lie_below_the_value_of_every_subset() {
    let mut rng = Rng::new(21);
    for case in 0..150 {
        let p = 2 + rng.below(4);
        let (design, labels) =
            RandomProblem { n: 8 + rng.below(25), p, density: 0.8, noise: 0.15, seed: 4000 + case }.draw();
        let problem = Problem::new(&design, &labels, None).expect("valid");
        let bounds = random_bounds(&mut rng, p);
        let rules = bounding(&bounds);
        let svm = random_svm(&mut rng, &[0.03, 1.0, 30.0]);
        let fine = SvmSettings { tolerance: 1e-9, ..svm.clone() };
        let values: Vec<(Subset, f64)> = all_subsets(p)
            .map(|s| (s.clone(), trained(&problem, &s.iter().collect::<Vec<_>>(), &rules, &fine).primal))
            .collect();
        let tolerance = [0.9, 1e-8][rng.below(2)];
        let half = AlphaHalf::new(&problem, &SvmSettings { tolerance, ..svm.clone() }, false).expect("valid");
        let mut half = half.within(rules.weight_bounds().clone());
        let z: Vec<f64> = (0..p).map(|_| [0.0, 0.3, 1.0][rng.below(3)]).collect();
        let at = &values[rng.below(values.len())];
        let (of_subset, mixed) = (half.at(&at.0, &Clock::unlimited()), half.at_weights(&z, &Clock::unlimited()));
        for cut in [&of_subset.cut, &mixed.cut] {
            for (subset, value) in &values {
                assert!(cut.at(subset) <= value * (1.0 + 1e-9) + 1e-12, "case {case}: {} {value}", cut.at(subset));
            }
        }
        if tolerance < 1e-6 {
            assert!(
                (of_subset.cut.at(&at.0) - at.1).abs() <= 1e-6 * at.1,
                "case {case}: the cut is tight where it is made"
            );
            assert!(
                (mixed.cut.at_weights(&z) - mixed.solution.primal).abs() <= 1e-6 * mixed.solution.primal,
                "case {case}"
            );
        }
    }
}

#[cfg(feature = "highs")]
#[test]
fn gbd_equals_enumeration_under_bounds_and_rules() {
    use fewest_papers::gbd::{GbdSettings, gbd};
    let mut rng = Rng::new(31);
    let mut proven = 0;
    for case in 0..250 {
        let p = 2 + rng.below(4);
        let (design, labels) =
            RandomProblem { n: 8 + rng.below(20), p, density: 0.8, noise: 0.15, seed: 7000 + case }.draw();
        let problem = Problem::new(&design, &labels, None).expect("valid");
        let list = RuleList { weights: stated(&random_bounds(&mut rng, p)), ..random_rules(&mut rng, p) };
        let Ok(rules) = Rules::new(p, list.clone(), &[]) else { continue };
        let svm = random_svm(&mut rng, &[0.03, 1.0, 30.0]);
        // By the list of subsets, by masters of HiGHS, and as the paper has it.
        let base = GbdSettings { svm: svm.clone(), ..GbdSettings::default() };
        let settings = match case % 3 {
            0 => base,
            1 => GbdSettings { list: false, ..base },
            _ => GbdSettings { svm: svm.clone(), ..GbdSettings::plain() },
        };
        let found = gbd(&problem, &rules, &settings, Limits::default(), &mut Silent).expect("valid").selection.outcome;
        let best = enumerated(&problem, &rules, &svm, &[]);
        let (objective, about) = (found.objective.expect("a subset"), format!("case {case}: {svm:?} {list:?}"));
        assert_eq!(found.status, Status::Optimal, "{about} {found:?}");
        assert!((objective - best).abs() <= 1.1e-4 * best, "{about}: {objective} against {best}");
        assert!(found.bound.expect("a bound") <= best * (1.0 + 1e-7) + 1e-9, "{about}");
        proven += 1;
    }
    assert!(proven > 100, "{proven}");
}
