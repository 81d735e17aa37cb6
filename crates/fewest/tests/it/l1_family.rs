//! `l1-svm`, `fsv`, `mbp` and `lagrangian` against linear programs written out whole and full
//! enumeration.

use std::time::Duration;

use fewest::backend::highs::{Column, Effort, Program};
use fewest::l1_oracle::L1Oracle;
use fewest::method::l1_svm::{L1Settings, l1_svm};
use fewest::method::lagrangian::{LagrangianSettings, lagrangian};
use fewest::method::mbp::{MbpSettings, WeightRule, mbp, weight_bounds, write_model};
use fewest::{
    Bias, Cancel, Clock, DenseDesign, Limits, Loss, Memory, Method, Problem, RuleList, Rules, Samples, Silent, Status,
    Subset, SvmSettings,
};
use fewest_papers::fsv::{FsvSettings, fsv};
use fewest_testing::{RandomProblem, Rng, allowed_subsets, dense_copy, random_rules};

/// min sum price |w| + sum C xi with |w_j| <= u_j, by one linear program over all samples and
/// features of the subset.
fn whole(problem: &Problem<'_>, cost: f64, bias: Bias, price: &[f64], bound: &[f64], subset: &Subset) -> f64 {
    let (rows, features) = (dense_copy(problem.design()), subset.iter().collect::<Vec<_>>());
    let mut lp = Program::new().expect("HiGHS");
    let free = f64::INFINITY;
    let mut add = |cost: f64, lower: f64, upper: f64| {
        lp.add_column(Column { cost, lower, upper, integer: false }).expect("a column");
    };
    for &j in &features {
        (0..2).for_each(|_| add(price[j], 0.0, bound[j]));
    }
    let (of_bias, limit) = match bias {
        Bias::Free => (0.0, free),
        Bias::Penalised(s) => (1.0 / s, free),
        Bias::None => (0.0, 0.0),
    };
    (0..2).for_each(|_| add(of_bias, 0.0, limit));
    problem.weights().iter().for_each(|weight| add(cost * weight, 0.0, free));
    let q = 2 * features.len();
    for (i, (row, y)) in rows.iter().zip(problem.labels()).enumerate() {
        let mut entries = vec![(q, *y), (q + 1, -y), (q + 2 + i, 1.0)];
        for (k, &j) in features.iter().enumerate() {
            entries.extend([(2 * k, y * row[j]), (2 * k + 1, -y * row[j])]);
        }
        lp.add_row(&entries, 1.0, free).expect("a row");
    }
    lp.solve(&Effort::default(), &Clock::unlimited()).expect("solved").objective
}

fn drawn(rng: &mut Rng, seed: u64, n: usize, p: usize) -> (DenseDesign<'static>, Vec<f64>, Vec<f64>) {
    let (design, labels) = RandomProblem { n, p, density: 0.8, noise: 0.2, seed }.draw();
    let weights = labels.iter().map(|_| if rng.chance(0.2) { 0.2 + rng.unit() } else { 1.0 }).collect();
    (design, labels, weights)
}

const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalised(2.0), Bias::None];

#[test]
fn columns_and_rows_on_demand_give_the_value_of_the_whole_program() {
    let mut rng = Rng::new(4);
    for case in 0..60u64 {
        let (n, p) = (10 + rng.below(30), 1 + rng.below(60));
        let (design, labels, weights) = drawn(&mut rng, case, n, p);
        let problem = Problem::new(&design, &labels, Some(&weights)).expect("two classes");
        let bias = BIASES[rng.below(3)];
        let rules = Rules::none(p);
        for cost in [0.02, 1.0, 30.0] {
            let settings = L1Settings { svm: SvmSettings { cost, bias, ..SvmSettings::default() }, costs: Vec::new() };
            let report = l1_svm(&problem, &rules, &settings, Limits::default(), &mut Silent).expect("valid");
            let (objective, bound) = (
                report.selection.outcome.objective.expect("a value"),
                report.selection.outcome.bound.expect("a bound"),
            );
            let truth = whole(&problem, cost, bias, &vec![1.0; p], &vec![f64::INFINITY; p], &Subset::full(p));
            let close = 1e-7 * (1.0 + truth);
            assert!((objective - truth).abs() <= close, "case {case}, C {cost}, {bias:?}: {objective}, but {truth}");
            assert!(
                bound <= truth + close && bound >= truth - 1e-5 * (1.0 + truth),
                "case {case}: bound {bound} of {truth}"
            );
            assert!(report.solution.kkt_residual < 1e-5, "case {case}, C {cost}: {}", report.solution.kkt_residual);
        }
    }
}

#[test]
fn many_samples_of_which_few_join_give_the_value_of_the_whole_program() {
    // Above the number of samples from which the squared hinge says where to begin, and above that
    // from which not all join.
    for (seed, n, p) in [(1, 400, 60), (2, 1700, 25)] {
        let (design, labels) = RandomProblem { n, p, density: 0.5, noise: 0.2, seed }.draw();
        let problem = Problem::new(&design, &labels, None).expect("two classes");
        let truth = whole(&problem, 0.1, Bias::Free, &vec![1.0; p], &vec![f64::INFINITY; p], &Subset::full(p));
        let svm = SvmSettings { cost: 0.1, tolerance: 1e-9, ..SvmSettings::default() };
        let settings = L1Settings { svm, costs: Vec::new() };
        let report = l1_svm(&problem, &Rules::none(p), &settings, Limits::default(), &mut Silent).expect("valid");
        let mut oracle =
            L1Oracle::new(&problem, vec![0.1; n], Bias::Free, vec![f64::INFINITY; p]).expect("HiGHS starts");
        let bare = oracle.solve(1e-9, &Clock::unlimited()).expect("solved");
        for (primal, dual) in [(report.solution.primal, report.solution.dual), (bare.primal, bare.dual)] {
            assert!((primal - truth).abs() <= 1e-7 * truth, "{n} samples: {primal}, but {truth}");
            assert!(dual <= primal && dual >= (1.0 - 1e-8) * primal, "{n} samples: bound {dual} of {primal}");
        }
    }
}

#[test]
fn an_oracle_with_other_prices_and_bounds_starts_from_what_it_has() {
    let mut rng = Rng::new(5);
    for case in 0..25u64 {
        let (n, p) = (15 + rng.below(20), 5 + rng.below(40));
        let (design, labels, weights) = drawn(&mut rng, case, n, p);
        let problem = Problem::new(&design, &labels, Some(&weights)).expect("two classes");
        let mut oracle = L1Oracle::new(&problem, weights.clone(), Bias::Free, vec![1.0; p]).expect("HiGHS");
        for _ in 0..8 {
            let mut draw = |low: f64, wide: f64| (0..p).map(|_| low + wide * rng.unit()).collect::<Vec<f64>>();
            let (price, bound) = (draw(0.2, 2.0), draw(0.0, 0.6));
            oracle.set_prices(&price, &price).expect("finite");
            oracle.set_bounds(&bound).expect("finite");
            let point = oracle.solve(1e-9, &Clock::unlimited()).expect("solved");
            let truth = whole(&problem, 1.0, Bias::Free, &price, &bound, &Subset::full(p));
            assert!((point.primal - truth).abs() < 1e-6, "case {case}: {} for {truth}", point.primal);
            assert!(
                (point.dual - truth).abs() < 1e-5 && point.dual < truth + 1e-6,
                "case {case}: {} for {truth}",
                point.dual
            );
            assert!(point.weights.iter().all(|&(j, w)| w.abs() <= bound[j] + 1e-12));
        }
    }
}

#[test]
fn l1_keeps_the_rules_and_a_bound_below_every_allowed_subset() {
    let mut rng = Rng::new(6);
    let mut compared = 0;
    for case in 0..60u64 {
        let p = 2 + rng.below(5);
        let (design, labels, weights) = drawn(&mut rng, case, 14, p);
        let problem = Problem::new(&design, &labels, Some(&weights)).expect("two classes");
        let Ok(rules) = Rules::new(p, random_rules(&mut rng, p), &[]) else { continue };
        let report = l1_svm(&problem, &rules, &L1Settings::default(), Limits::default(), &mut Silent).expect("valid");
        let outcome = report.selection.outcome;
        let subset = outcome.subset.expect("a subset");
        assert!(rules.allows(&subset), "case {case}: {:?}", rules.list());
        let value = |s: &Subset| whole(&problem, 1.0, Bias::Free, &vec![1.0; p], &vec![f64::INFINITY; p], s);
        assert!((outcome.objective.expect("a value") - value(&subset)).abs() < 1e-6, "case {case}");
        let least = allowed_subsets(&rules).iter().map(value).fold(f64::INFINITY, f64::min);
        assert!(outcome.bound.expect("a bound") <= least + 1e-6, "case {case}");
        compared += 1;
    }
    assert!(compared >= 30, "{compared}");
}

#[test]
fn a_grid_of_costs_takes_the_largest_that_obeys_the_size() {
    let (design, labels) = RandomProblem { n: 60, p: 30, density: 1.0, noise: 0.3, seed: 3 }.draw();
    let problem = Problem::new(&design, &labels, None).expect("two classes");
    let rules = Rules::at_most_features(30, 6).expect("valid");
    let settings = L1Settings { costs: vec![0.01, 0.03, 0.1, 0.3, 1.0, 10.0], ..L1Settings::default() };
    let report = l1_svm(&problem, &rules, &settings, Limits::default(), &mut Silent).expect("valid");
    assert_eq!(report.grid.len(), 6);
    let last = report.grid.iter().rev().find(|g| g.features <= 6).expect("the smallest cost uses few");
    assert_eq!(report.cost, last.cost);
    assert!(last.cost < 10.0 && report.grid[5].features > 6, "{:?}", report.grid);
    assert!((report.selection.outcome.objective.expect("a value") - last.objective).abs() < 1e-9);
    for (settings, words) in [
        (L1Settings { costs: vec![1.0, 0.5], ..L1Settings::default() }, "in ascending order"),
        (L1Settings { costs: vec![0.0], ..L1Settings::default() }, "costs is 0"),
    ] {
        let text =
            l1_svm(&problem, &rules, &settings, Limits::default(), &mut Silent).expect_err("refused").to_string();
        assert!(text.contains(words), "{text}");
    }
}

/// The best objective of the program over all allowed subsets.
fn enumerate(problem: &Problem<'_>, rules: &Rules, settings: &MbpSettings, bound: &[f64]) -> f64 {
    let p = problem.n_features();
    let value = |s: &Subset| {
        let price: f64 = s.iter().map(|j| settings.penalty.get(j).copied().unwrap_or(0.0)).sum();
        price + whole(problem, settings.cost, settings.bias, &vec![1.0; p], bound, s)
    };
    allowed_subsets(rules).iter().map(value).fold(f64::INFINITY, f64::min)
}

#[test]
fn mbp_plain_and_reduced_equal_enumeration_and_the_lagrangian_brackets_it() {
    let mut rng = Rng::new(7);
    let mut compared = 0;
    for case in 0..90u64 {
        let p = 2 + rng.below(5);
        let n = 8 + rng.below(12);
        let (design, labels, weights) = drawn(&mut rng, case, n, p);
        let problem = Problem::new(&design, &labels, Some(&weights)).expect("two classes");
        let Ok(rules) = Rules::new(p, random_rules(&mut rng, p), &[]) else { continue };
        let penalty = (0..p).map(|_| if rng.chance(0.2) { 0.0 } else { rng.unit() }).collect();
        let settings = MbpSettings {
            cost: [0.3, 1.0, 5.0][rng.below(3)],
            bias: BIASES[rng.below(3)],
            penalty,
            weight_bound: Some(match rng.below(6) {
                0..3 => WeightRule::Number(0.1 + rng.unit()),
                3 => WeightRule::None,
                4 => WeightRule::Auto(0.5 + rng.unit()),
                _ => WeightRule::Paper,
            }),
            ..MbpSettings::default()
        };
        let bound = weight_bounds(&problem, &rules, &settings, &Clock::unlimited()).expect("solved");
        let truth = enumerate(&problem, &rules, &settings, &bound);
        let about = format!("case {case}: {settings:?}, {:?}", rules.list());
        let exact = || Limits { gap_rel: 0.0, gap_abs: 1e-9, ..Limits::default() };
        let close = 1e-5 * (1.0 + truth.abs());
        for plain in [false, true] {
            let settings = MbpSettings { plain, ..settings.clone() };
            let report = mbp(&problem, &rules, &settings, exact(), &mut Silent).expect("valid");
            let outcome = &report.selection.outcome;
            assert_eq!(outcome.status, Status::Optimal, "{about}");
            assert!(rules.allows(outcome.subset.as_ref().expect("a subset")), "{about}");
            assert!((outcome.objective.expect("a value") - truth).abs() <= close, "{about}: {outcome:?} for {truth}");
            assert!((outcome.bound.expect("a bound") - truth).abs() <= close, "{about}: {outcome:?} for {truth}");
            let model = report.model().expect("a classifier");
            assert_eq!(model.features, outcome.subset.as_ref().expect("a subset").iter().collect::<Vec<_>>());
        }
        for plain in [false, true] {
            let program = MbpSettings { plain, ..settings.clone() };
            let settings = LagrangianSettings { program, ..LagrangianSettings::default() };
            let report = lagrangian(&problem, &rules, &settings, exact(), &mut Silent).expect("valid");
            let outcome = &report.found.selection.outcome;
            assert!(outcome.objective.expect("a subset") >= truth - close, "{about}: {outcome:?} for {truth}");
            assert!(outcome.bound.expect("a bound") <= truth + close, "{about}: {outcome:?} for {truth}");
            assert!(report.dual <= report.ceiling + close, "{about}");
            assert!(report.steps.is_sorted_by(|a, b| a.lower <= b.lower), "{about}");
            // The integrality property: the dual's value is the linear relaxation's.
            if let Some(relaxation) = report.found.relaxation
                && outcome.status == Status::Completed
            {
                assert!(
                    (report.dual - relaxation).abs() <= 1e-5 * (1.0 + relaxation.abs()),
                    "{about}: {} for {relaxation}",
                    report.dual
                );
            }
        }
        compared += 1;
    }
    assert!(compared >= 40, "only {compared} rules are without contradiction");
}

#[test]
fn no_rule_for_u_that_promises_it_cuts_off_the_best_subset() {
    let mut rng = Rng::new(17);
    let (mut compared, mut cut) = (0, 0);
    for case in 0..60u64 {
        let (n, p) = (8 + rng.below(12), 2 + rng.below(5));
        let (design, labels, weights) = drawn(&mut rng, case, n, p);
        let unit = [1e-5, 1.0, 1e5][rng.below(3)];
        let scaled = dense_copy(&design);
        let values = (0..p).flat_map(|j| scaled.iter().map(move |row| row[j] * if j == 0 { unit } else { 1.0 }));
        let design = DenseDesign::new(n, p, values.collect::<Vec<f64>>()).expect("n p values");
        let problem = Problem::new(&design, &labels, Some(&weights)).expect("two classes");
        let Ok(rules) = Rules::new(p, random_rules(&mut rng, p), &[]) else { continue };
        let classes: Vec<u32> = labels.iter().map(|y| u32::from(*y > 0.0)).collect();
        let samples = Samples::new(&design, &classes, Some(&weights)).expect("two classes");
        let penalty = (0..p).map(|_| rng.unit()).collect();
        let (cost, bias) = ([0.3, 1.0, 5.0][rng.below(3)], BIASES[rng.below(3)]);
        let settings = MbpSettings { cost, bias, penalty, ..MbpSettings::default() };
        let truth = enumerate(&problem, &rules, &settings, &vec![f64::INFINITY; p]);
        let select = |settings: &MbpSettings| {
            let limits = Limits { gap_rel: 0.0, gap_abs: 1e-9, ..Limits::default() };
            settings.select(&samples, &rules, limits, &mut Silent).expect("valid")
        };
        let report = select(&MbpSettings { weight_bound: Some(WeightRule::None), ..settings.clone() });
        let objective = report.selection.outcome.objective.expect("a subset");
        assert!((objective - truth).abs() <= 1e-5 * (1.0 + truth), "case {case}: {objective} for {truth}");
        assert!(!report.details.contains_key("proof_condition"), "{:?}", report.details);
        let once = select(&settings);
        cut += usize::from(once.selection.outcome.objective.expect("a subset") > truth + 1e-4);
        assert!(once.details.contains_key("proof_condition"));
        compared += 1;
    }
    assert!(compared >= 30 && cut >= 3, "{compared} compared, {cut} of them dearer within the weights of the L1-SVM");
}

#[test]
fn samples_of_weight_0_and_threads_do_not_move_u() {
    for seed in 0..10u64 {
        let mut rng = Rng::new(seed);
        let (design, labels, weights) = drawn(&mut rng, seed, 20, 6);
        let problem = Problem::new(&design, &labels, Some(&weights)).expect("two classes");
        let (rows, more) = (dense_copy(&design), 5);
        let value = |i: usize, j: usize| if i < 20 { rows[i][j] } else { 100.0 * (i + j) as f64 };
        let places = (0..6).flat_map(|j| (0..20 + more).map(move |i| (i, j)));
        let values: Vec<f64> = places.map(|(i, j)| value(i, j)).collect();
        let longer = DenseDesign::new(20 + more, 6, values).expect("n p values");
        let of_longer = |all: &[f64], new: &dyn Fn(usize) -> f64| {
            all.iter().copied().chain((0..more).map(new)).collect::<Vec<f64>>()
        };
        let longer_labels = of_longer(&labels, &|i| if i % 2 == 0 { 1.0 } else { -1.0 });
        let longer_weights = of_longer(&weights, &|_| 0.0);
        let padded = Problem::new(&longer, &longer_labels, Some(&longer_weights)).expect("two classes");
        for rule in [WeightRule::None, WeightRule::Auto(2.0), WeightRule::Paper] {
            let settings = MbpSettings { weight_bound: Some(rule), ..MbpSettings::default() };
            let of = |problem: &Problem<'_>| {
                weight_bounds(problem, &Rules::none(6), &settings, &Clock::unlimited()).expect("solved")
            };
            let [one, three] = [1, 3].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
                pool.install(|| of(&problem))
            });
            assert_eq!(one, three, "{rule}");
            for (u, v) in one.iter().zip(of(&padded)) {
                assert!((u - v).abs() <= 1e-7 * u.max(1.0), "{rule}, seed {seed}: {u} {v}");
            }
        }
    }
}

#[test]
fn rules_for_u_are_read_as_they_are_written() {
    for (text, rule) in [
        ("auto:1", WeightRule::default()),
        ("none", WeightRule::None),
        ("auto:2.5", WeightRule::Auto(2.5)),
        ("paper", WeightRule::Paper),
        ("7", WeightRule::Number(7.0)),
    ] {
        assert_eq!((text.parse::<WeightRule>().expect("a rule"), rule.to_string()), (rule, text.to_owned()));
        let json = serde_json::to_value(rule).expect("a number or a name");
        assert_eq!(json.is_number(), text == "7");
        assert_eq!(serde_json::from_value::<WeightRule>(json).expect("as written"), rule);
    }
    assert_eq!("auto".parse::<WeightRule>().expect("a rule"), WeightRule::default());
    for text in ["", "auto:", "auto:0", "auto:inf", "0", "-1", "nan", "papers"] {
        assert!(text.parse::<WeightRule>().is_err(), "{text}");
    }
}

#[test]
fn a_tree_on_many_features_proves_what_highs_proves() {
    for seed in 0..3 {
        let (design, labels) = RandomProblem { n: 16, p: 210, density: 1.0, noise: 0.3, seed }.draw();
        let problem = Problem::new(&design, &labels, None).expect("two classes");
        let settings = MbpSettings {
            penalty: vec![0.02; 210],
            weight_bound: Some(WeightRule::Number(0.5)),
            ..MbpSettings::default()
        };
        let solve = |plain: bool| {
            let settings = MbpSettings { plain, ..settings.clone() };
            let limits = Limits { gap_rel: 1e-6, ..Limits::default() };
            mbp(&problem, &Rules::none(210), &settings, limits, &mut Silent).expect("valid").selection.outcome
        };
        let (tree, highs) = (solve(false), solve(true));
        assert_eq!((tree.status, highs.status), (Status::Optimal, Status::Optimal));
        let (found, truth) = (tree.objective.expect("a value"), highs.objective.expect("a value"));
        assert!((found - truth).abs() < 1e-5 * truth, "seed {seed}: {found} for {truth}, {} nodes", tree.counts.nodes);
    }
}

#[test]
fn fsv_falls_from_step_to_step_and_ends_where_its_own_linear_program_ends() {
    let mut rng = Rng::new(8);
    for case in 0..30u64 {
        let p = 2 + rng.below(8);
        let (design, labels, weights) = drawn(&mut rng, case, 20, p);
        let problem = Problem::new(&design, &labels, Some(&weights)).expect("two classes");
        let Ok(rules) = Rules::new(p, random_rules(&mut rng, p), &[]) else { continue };
        let settings =
            FsvSettings { lambda: [0.05, 0.2, 0.5][rng.below(3)], starts: 4, seed: case, ..FsvSettings::default() };
        let report = fsv(&problem, &rules, &settings, Limits::default(), &mut Silent).expect("valid");
        assert_eq!(report.steps.len(), 4);
        assert!(report.steps.iter().all(|s| !s.is_empty() && s.is_sorted_by(|a, b| a > b)), "{:?}", report.steps);
        let outcome = &report.selection.outcome;
        let subset = outcome.subset.as_ref().expect("a subset");
        assert!(rules.allows(subset));
        // The objective by its definition.
        let model = report.model().expect("a classifier");
        let scores = model.decisions(&design);
        let share = |y: f64| (0..20).filter(|&i| labels[i] == y).map(|i| weights[i]).sum::<f64>();
        let loss: f64 = (0..20).map(|i| weights[i] / share(labels[i]) * (1.0 - labels[i] * scores[i]).max(0.0)).sum();
        let counted: f64 = model.machines[0].weights.iter().map(|w| 1.0 - (-5.0 * w.abs()).exp()).sum();
        let objective = (1.0 - settings.lambda) * loss + settings.lambda * counted;
        let best = outcome.objective.expect("a value");
        assert!((best - objective).abs() < 1e-9, "case {case}: {best} for {objective}");
        // No start ends below it, unless the rules took something from that start's vertex.
        if rules.list() == &RuleList::default() {
            assert!(report.steps.iter().all(|s| *s.last().expect("a step") >= best - 1e-12));
        }
        // Stationary: the tangent at |w| has its least value there.
        let mut price = vec![0.0; p];
        subset.iter().zip(&model.machines[0].weights).for_each(|(j, w)| price[j] = w.abs());
        for v in &mut price {
            *v = settings.lambda * 5.0 * (-5.0 * *v).exp();
        }
        let means: Vec<f64> = (0..20).map(|i| (1.0 - settings.lambda) * weights[i] / share(labels[i])).collect();
        let averaged = Problem::new(&design, &labels, Some(&means)).expect("two classes");
        let least = whole(&averaged, 1.0, Bias::Free, &price, &vec![f64::INFINITY; p], subset);
        let tangent: f64 = subset.iter().zip(&model.machines[0].weights).map(|(j, w)| price[j] * w.abs()).sum();
        assert!(tangent + (1.0 - settings.lambda) * loss <= least + 1e-6, "case {case}: not stationary");
    }
}

#[test]
fn limits_leave_a_subset_and_a_true_bound() {
    let (design, labels) = RandomProblem { n: 60, p: 120, density: 1.0, noise: 0.3, seed: 2 }.draw();
    let problem = Problem::new(&design, &labels, None).expect("two classes");
    let rules = Rules::none(120);
    let program =
        MbpSettings { penalty: vec![0.1; 120], weight_bound: Some(WeightRule::Number(0.5)), ..MbpSettings::default() };
    let none = || Limits { time: Some(Duration::ZERO), ..Limits::default() };
    let stopped = mbp(&problem, &rules, &program, none(), &mut Silent).expect("valid").selection.outcome;
    assert_eq!(stopped.status, Status::TimeLimit);
    let few = Limits { nodes: Some(40), ..Limits::default() };
    let some = mbp(&problem, &rules, &program, few, &mut Silent).expect("valid").selection.outcome;
    assert_eq!(some.status, Status::NodeLimit);
    assert!(some.bound.expect("a bound") <= some.objective.expect("a subset"), "{some:?}");
    assert!(stopped.bound.is_none_or(|b| b <= some.objective.expect("a subset")));
    let cancel = Cancel::default();
    cancel.cancel();
    let limits = || Limits { cancel: cancel.clone(), ..Limits::default() };
    let settings = LagrangianSettings { program, ..LagrangianSettings::default() };
    let report = lagrangian(&problem, &rules, &settings, limits(), &mut Silent).expect("valid");
    assert_eq!(report.found.selection.outcome.status, Status::Cancelled);
    assert!(report.found.selection.outcome.bound.is_none_or(|b| b <= some.objective.expect("a subset")));
    let report = fsv(&problem, &rules, &FsvSettings::default(), limits(), &mut Silent).expect("valid");
    assert_eq!(report.selection.outcome.status, Status::Cancelled);
    let report = l1_svm(&problem, &rules, &L1Settings::default(), limits(), &mut Silent).expect("valid");
    assert_eq!(report.selection.outcome.status, Status::Cancelled);
    assert!(report.selection.outcome.bound.expect("a bound") <= report.selection.outcome.objective.expect("a value"));
}

#[test]
fn bad_input_is_refused_by_name() {
    let (design, labels) = RandomProblem { n: 20, p: 4, density: 1.0, noise: 0.1, seed: 1 }.draw();
    let problem = Problem::new(&design, &labels, None).expect("two classes");
    let ask = |settings: MbpSettings, p: usize| {
        mbp(&problem, &Rules::none(p), &settings, Limits::default(), &mut Silent).expect_err("refused").to_string()
    };
    let base = MbpSettings { weight_bound: Some(WeightRule::Number(1.0)), plain: true, ..MbpSettings::default() };
    for (words, text) in [
        ("cost is 0", ask(MbpSettings { cost: 0.0, ..base.clone() }, 4)),
        (
            "weight_bound is NaN",
            ask(MbpSettings { weight_bound: Some(WeightRule::Number(f64::NAN)), ..base.clone() }, 4),
        ),
        ("penalty is 3 numbers", ask(MbpSettings { penalty: vec![1.0; 3], ..base.clone() }, 4)),
        ("penalty is -1", ask(MbpSettings { penalty: vec![-1.0; 4], ..base.clone() }, 4)),
        ("but only 100 are allowed", ask(MbpSettings { memory: 100, ..base.clone() }, 4)),
        ("the rules are for 5", ask(base.clone(), 5)),
    ] {
        assert!(text.contains(words), "{text}");
    }
    let nowhere = std::path::Path::new("/nowhere/at/all.lp");
    assert!(write_model(&problem, &Rules::none(4), &base, nowhere).is_err());
    for (settings, words) in [
        (FsvSettings { lambda: 1.0, ..FsvSettings::default() }, "lambda is 1"),
        (FsvSettings { alpha: 0.0, ..FsvSettings::default() }, "alpha is 0"),
        (FsvSettings { starts: 0, ..FsvSettings::default() }, "starts is 0"),
    ] {
        let text =
            fsv(&problem, &Rules::none(4), &settings, Limits::default(), &mut Silent).expect_err("refused").to_string();
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_working_set_beyond_the_memory_ends_with_what_is_known_by_then() {
    let (x, labels) = RandomProblem { n: 200, p: 2000, density: 0.05, noise: 0.2, seed: 5 }.draw_sparse();
    let problem = Problem::new(&x, &labels, None).expect("valid");
    let svm = SvmSettings { cost: 3.0, loss: Loss::SquaredHinge, ..SvmSettings::default() };
    let (rules, settings) = (Rules::none(2000), L1Settings { svm, ..L1Settings::default() });
    let run = |memory: Memory| {
        let limits = Limits { memory, ..Limits::default() };
        l1_svm(&problem, &rules, &settings, limits, &mut Silent).expect("valid").selection.outcome
    };
    let whole = run(Memory::unlimited());
    let (best, bound) = (whole.objective.expect("a model"), whole.bound.expect("a bound"));
    let mut seen = Vec::new();
    for kib in [0, 1, 4, 16, 64, 256, 1024] {
        let found = run(Memory::new(kib << 10));
        assert!(
            found.bound.expect("a bound") <= best && found.objective.expect("a model") >= bound,
            "{kib}: {found:?}"
        );
        seen.push(found.status);
    }
    assert_eq!((seen[0], seen[6]), (Status::MemoryLimit, whole.status), "{seen:?}");
    assert!(seen.is_sorted_by_key(|status| *status != Status::MemoryLimit), "{seen:?}");
}
