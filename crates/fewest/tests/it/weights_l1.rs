//! Bounds on the weights of `l1-svm`, `fsv`, `mbp` and `lagrangian`: against linear programs
//! written out whole, full enumeration, and the conditions of optimality from their definitions.

use fewest::backend::highs::{Column, Effort, Program};
use fewest::method::l1_svm::{L1Report, L1Settings, l1_svm};
use fewest::method::lagrangian::{LagrangianSettings, lagrangian};
use fewest::method::mbp::{MbpSettings, WeightRule, mbp, weight_bounds};
use fewest::{
    Bias, Clock, Design, Interval, Limits, Loss, Problem, RuleList, Rules, Silent, Status, Subset, SvmSettings,
    WeightBound,
};
use fewest_papers::fsv::{FsvSettings, fsv};
use fewest_testing::{RandomProblem, Rng, allowed_subsets, dense_copy, random_bounds, random_rules};

const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalised(2.0), Bias::None];

fn stated(bounds: &[Interval]) -> Vec<WeightBound> {
    bounds.iter().enumerate().map(|(j, interval)| WeightBound::within(j, *interval)).collect()
}

/// Rules that only bound weights.
fn bounding(bounds: &[Interval]) -> Rules {
    Rules::new(bounds.len(), RuleList { weights: stated(bounds), ..RuleList::default() }, &[]).expect("bounds hold 0")
}

/// Random bounds; for every third case a sign on each feature.
fn drawn_bounds(rng: &mut Rng, case: u64, p: usize) -> Vec<Interval> {
    let signs = [Interval { lower: 0.0, ..Interval::FREE }, Interval { upper: 0.0, ..Interval::FREE }];
    if case.is_multiple_of(3) { (0..p).map(|_| signs[rng.below(2)]).collect() } else { random_bounds(rng, p) }
}

fn drawn_weights(rng: &mut Rng, labels: &[f64]) -> Vec<f64> {
    labels.iter().map(|_| if rng.chance(0.2) { 0.2 + rng.unit() } else { 1.0 }).collect()
}

/// `min sum price |w| + sum C xi` with w within the bounds, by one linear program over all samples
/// and the features of the subset.
fn whole(problem: &Problem<'_>, (cost, bias): (f64, Bias), price: &[f64], bounds: &[Interval], subset: &Subset) -> f64 {
    let (rows, features) = (dense_copy(problem.design()), subset.iter().collect::<Vec<_>>());
    let (mut lp, free) = (Program::new().expect("HiGHS"), f64::INFINITY);
    let mut add = |cost: f64, lower: f64, upper: f64| {
        lp.add_column(Column { cost, lower, upper, integer: false }).expect("a column");
    };
    for &j in &features {
        add(price[j], 0.0, bounds[j].upper);
        add(price[j], 0.0, -bounds[j].lower);
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

/// Everything a report on all features claims, from the definitions; returns how many weights are
/// at a bound that is not 0, and how many at 0 that a free one would not be.
fn judge(problem: &Problem<'_>, svm: &SvmSettings, bounds: &[Interval], report: &L1Report, about: &str) -> [usize; 2] {
    let (y, rows) = (problem.labels(), dense_copy(problem.design()));
    let (n, found) = (y.len(), &report.solution);
    let mut w = vec![0.0; bounds.len()];
    let subset = report.selection.outcome.subset.as_ref().expect("a subset");
    subset.iter().zip(&found.weights).for_each(|(j, weight)| w[j] = *weight);
    for (j, (w, Interval { lower, upper })) in w.iter().zip(bounds).enumerate() {
        assert!(lower <= w && w <= upper, "{about}: weight {j} is {w}");
    }
    let cost = |i: usize| svm.cost * problem.weights()[i];
    let price_of_bias = if let Bias::Penalised(s) = svm.bias { (found.bias / s).abs() } else { 0.0 };
    let loss = |i: usize| {
        let score: f64 = rows[i].iter().zip(&w).map(|(x, w)| x * w).sum::<f64>() + found.bias;
        let slack = (1.0 - y[i] * score).max(0.0);
        cost(i) * if svm.loss == Loss::Hinge { slack } else { slack * slack }
    };
    let primal = w.iter().map(|w| w.abs()).sum::<f64>() + price_of_bias + (0..n).map(loss).sum::<f64>();
    assert!((primal - found.primal).abs() <= 1e-9 * primal, "{about}: primal {} is {primal}", found.primal);
    // The dual point: no w within the bounds gains more than what the value counts.
    let mut dual = 0.0;
    for i in 0..n {
        let alpha = y[i] * found.beta[i];
        let most = if svm.loss == Loss::Hinge { cost(i) * (1.0 + 1e-12) } else { f64::INFINITY };
        assert!(alpha >= 0.0 && alpha <= most, "{about}: alpha {i} is {alpha}");
        dual += alpha - if svm.loss == Loss::Hinge { 0.0 } else { alpha * alpha / (4.0 * cost(i)) };
    }
    let sum: f64 = found.beta.iter().sum();
    let size: f64 = found.beta.iter().map(|b| b.abs()).sum();
    match svm.bias {
        Bias::Free => assert!(sum.abs() <= 1e-9 * size, "{about}: y'alpha is {sum} of {size}"),
        Bias::Penalised(s) => assert!((s * sum).abs() <= 1.0 + 1e-9, "{about}: s y'alpha is {}", s * sum),
        Bias::None => assert_eq!(found.bias, 0.0),
    }
    let mut counts = [0, 0];
    for (j, &Interval { lower, upper }) in bounds.iter().enumerate() {
        let c: f64 = rows.iter().zip(&found.beta).map(|(row, b)| row[j] * b).sum();
        for (c, bound) in [(c, upper), (-c, -lower)] {
            if bound.is_infinite() {
                assert!(c <= 1.0 + 1e-9, "{about}: c_{j} is {c} where nothing bounds the weight");
            } else {
                dual -= bound * (c - 1.0).max(0.0);
            }
            counts[0] += usize::from(w[j].abs() == bound && bound > 0.0);
            counts[1] += usize::from(w[j] == 0.0 && bound == 0.0 && c > 1.0);
        }
    }
    assert!(found.dual <= dual + 1e-8 * primal, "{about}: dual {} is {dual}", found.dual);
    assert!(dual <= primal * (1.0 + 1e-9), "{about}: dual {dual} above primal {primal}");
    if svm.loss == Loss::SquaredHinge {
        assert_eq!(found.status, Status::Optimal, "{about}: gap {}", found.gap());
        assert!(primal - dual <= 1.1 * svm.tolerance * primal, "{about}: {dual} of {primal}");
    }
    counts
}

#[test]
fn l1_keeps_bounds_and_closes_the_gap_with_either_loss() {
    let mut rng = Rng::new(14);
    let mut counts = [0, 0];
    for case in 0..240u64 {
        let most = [8, 60, 300][rng.below(3)];
        let (n, p) = (10 + rng.below(40), 1 + rng.below(most));
        let drawn = RandomProblem { n, p, density: [1.0, 0.4][rng.below(2)], noise: 0.2, seed: case };
        let (dense, labels) = drawn.draw();
        let (sparse, _) = drawn.draw_sparse();
        let design: &dyn Design = if rng.chance(0.5) { &dense } else { &sparse };
        let weights = drawn_weights(&mut rng, &labels);
        let problem = Problem::new(design, &labels, Some(&weights)).expect("two classes");
        let bounds = drawn_bounds(&mut rng, case, p);
        let loss = if case.is_multiple_of(2) { Loss::SquaredHinge } else { Loss::Hinge };
        let (cost, bias) = ([0.02, 1.0, 30.0, 1000.0][rng.below(4)], BIASES[rng.below(3)]);
        let svm = SvmSettings { cost, bias, loss, tolerance: 1e-7, ..SvmSettings::default() };
        let settings = L1Settings { svm: svm.clone(), costs: Vec::new() };
        let rules = bounding(&bounds);
        let report = l1_svm(&problem, &rules, &settings, Limits::default(), &mut Silent).expect("valid");
        let about = format!("case {case}: n {n}, p {p}, {svm:?}, {bounds:?}");
        let new = judge(&problem, &svm, &bounds, &report, &about);
        counts = [counts[0] + new[0], counts[1] + new[1]];
        assert!(report.solution.kkt_residual < 1e-3 * cost.max(1.0), "{about}: {}", report.solution.kkt_residual);
        if loss == Loss::Hinge {
            let truth = whole(&problem, (cost, bias), &vec![1.0; p], &bounds, &Subset::full(p));
            let (objective, bound) = (report.solution.primal, report.solution.dual);
            assert!((objective - truth).abs() <= 1e-7 * (1.0 + truth), "{about}: {objective}, but {truth}");
            assert!(bound <= truth * (1.0 + 1e-7) && bound >= truth - 1e-5 * (1.0 + truth), "{about}: {bound} {truth}");
        }
    }
    assert!(counts[0] > 300 && counts[1] > 300, "{counts:?} weights at a box and at a sign that bind");
}

#[test]
fn many_samples_of_which_few_join_keep_the_bounds() {
    for (seed, n, p) in [(1, 400, 60), (2, 1700, 25)] {
        let mut rng = Rng::new(seed);
        let (design, labels) = RandomProblem { n, p, density: 0.5, noise: 0.2, seed }.draw();
        let problem = Problem::new(&design, &labels, None).expect("two classes");
        let bounds = random_bounds(&mut rng, p);
        let truth = whole(&problem, (0.1, Bias::Free), &vec![1.0; p], &bounds, &Subset::full(p));
        let svm = SvmSettings { cost: 0.1, tolerance: 1e-9, ..SvmSettings::default() };
        let settings = L1Settings { svm: svm.clone(), costs: Vec::new() };
        let report = l1_svm(&problem, &bounding(&bounds), &settings, Limits::default(), &mut Silent).expect("valid");
        judge(&problem, &svm, &bounds, &report, "many samples");
        assert!((report.solution.primal - truth).abs() <= 1e-7 * truth, "{} {truth}", report.solution.primal);
        assert!(report.solution.dual >= (1.0 - 1e-8) * truth, "{} {truth}", report.solution.dual);
    }
}

#[test]
fn a_bound_of_l1_is_below_every_allowed_subset_within_the_bounds() {
    let mut rng = Rng::new(16);
    let mut compared = 0;
    for case in 0..120u64 {
        let p = 2 + rng.below(5);
        let (design, labels) = RandomProblem { n: 14, p, density: 0.8, noise: 0.2, seed: case }.draw();
        let problem = Problem::new(&design, &labels, None).expect("two classes");
        let bounds = drawn_bounds(&mut rng, case, p);
        let list = RuleList { weights: stated(&bounds), ..random_rules(&mut rng, p) };
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let settings = L1Settings { costs: vec![0.1, 1.0], ..L1Settings::default() };
        let report = l1_svm(&problem, &rules, &settings, Limits::default(), &mut Silent).expect("valid");
        let outcome = report.selection.outcome;
        let subset = outcome.subset.expect("a subset");
        assert!(rules.allows(&subset), "case {case}: {:?}", rules.list());
        let value = |s: &Subset| whole(&problem, (report.cost, Bias::Free), &vec![1.0; p], &bounds, s);
        assert!((outcome.objective.expect("a value") - value(&subset)).abs() < 1e-6, "case {case}");
        let least = allowed_subsets(&rules).iter().map(value).fold(f64::INFINITY, f64::min);
        assert!(outcome.bound.expect("a bound") <= least + 1e-6, "case {case}");
        compared += 1;
    }
    assert!(compared >= 60, "{compared}");
}

/// The objective of the program on each allowed subset, ascending.
fn enumerate(problem: &Problem<'_>, rules: &Rules, settings: &MbpSettings, bounds: &[Interval]) -> Vec<f64> {
    let p = problem.n_features();
    let value = |s: &Subset| {
        let price: f64 = s.iter().map(|j| settings.penalty.get(j).copied().unwrap_or(0.0)).sum();
        price + whole(problem, (settings.cost, settings.bias), &vec![1.0; p], bounds, s)
    };
    let mut values: Vec<f64> = allowed_subsets(rules).iter().map(value).collect();
    values.sort_by(f64::total_cmp);
    values
}

#[test]
fn mbp_equals_enumeration_under_bounds_and_the_lagrangian_brackets_it() {
    let mut rng = Rng::new(17);
    let (mut compared, mut dearer) = (0, 0);
    for case in 0..220u64 {
        let p = 2 + rng.below(5);
        let drawn = RandomProblem { n: 8 + rng.below(12), p, density: 0.8, noise: 0.2, seed: 500 + case };
        let (design, labels) = drawn.draw();
        let weights = drawn_weights(&mut rng, &labels);
        let problem = Problem::new(&design, &labels, Some(&weights)).expect("two classes");
        let bounds = drawn_bounds(&mut rng, case, p);
        let list = RuleList { weights: stated(&bounds), ..random_rules(&mut rng, p) };
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
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
        let most = weight_bounds(&problem, &rules, &settings, &Clock::unlimited()).expect("solved");
        let within = |(b, u): (&Interval, &f64)| Interval { lower: b.lower.max(-u), upper: b.upper.min(*u) };
        let both: Vec<Interval> = bounds.iter().zip(&most).map(within).collect();
        let values = enumerate(&problem, &rules, &settings, &both);
        let truth = values[0];
        let free: Vec<Interval> = most.iter().map(|u| within((&Interval::FREE, u))).collect();
        dearer += usize::from(truth > enumerate(&problem, &rules, &settings, &free)[0] + 1e-3);
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
            for (&j, w) in model.features.iter().zip(&model.machines[0].weights) {
                assert!(both[j].lower <= *w && *w <= both[j].upper, "{about}: weight {j} is {w}");
            }
        }
        let several = MbpSettings { solutions: 4, ..settings.clone() };
        let report = mbp(&problem, &rules, &several, exact(), &mut Silent).expect("valid").selection;
        assert_eq!(report.outcome.status, Status::Optimal, "{about}");
        assert_eq!(report.solutions.len(), values.len().min(4), "{about}");
        for (solution, value) in report.solutions.iter().zip(&values) {
            assert!((solution.objective - value).abs() <= close, "{about}: {solution:?} for {value}");
        }
        for plain in [false, true] {
            let program = MbpSettings { plain, ..settings.clone() };
            let settings = LagrangianSettings { program, ..LagrangianSettings::default() };
            let report = lagrangian(&problem, &rules, &settings, exact(), &mut Silent).expect("valid");
            let outcome = &report.found.selection.outcome;
            assert!(outcome.objective.expect("a subset") >= truth - close, "{about}: {outcome:?} for {truth}");
            assert!(outcome.bound.expect("a bound") <= truth + close, "{about}: {outcome:?} for {truth}");
            let model = report.found.model().expect("a classifier");
            for (&j, w) in model.features.iter().zip(&model.machines[0].weights) {
                assert!(both[j].lower <= *w && *w <= both[j].upper, "{about}: weight {j} is {w}");
            }
            if let Some(relaxation) = report.found.relaxation
                && outcome.status == Status::Completed
            {
                let off = (report.dual - relaxation).abs();
                assert!(off <= 1e-5 * (1.0 + relaxation.abs()), "{about}: {} for {relaxation}", report.dual);
            }
        }
        compared += 1;
    }
    assert!(compared >= 100 && dearer > 20, "{compared} compared, {dearer} of them dearer than without bounds");
}

#[test]
fn a_tree_on_many_features_proves_what_highs_proves_within_bounds() {
    for seed in 0..3 {
        let p = 60;
        let (design, labels) = RandomProblem { n: 16, p, density: 1.0, noise: 0.3, seed }.draw();
        let problem = Problem::new(&design, &labels, None).expect("two classes");
        let bounds = drawn_bounds(&mut Rng::new(seed), seed, p);
        let settings = MbpSettings {
            penalty: vec![0.02; p],
            weight_bound: Some(WeightRule::Number(0.5)),
            ..MbpSettings::default()
        };
        let solve = |plain: bool| {
            let settings = MbpSettings { plain, ..settings.clone() };
            let limits = Limits { gap_rel: 1e-6, ..Limits::default() };
            mbp(&problem, &bounding(&bounds), &settings, limits, &mut Silent).expect("valid").selection.outcome
        };
        let (tree, highs) = (solve(false), solve(true));
        assert_eq!((tree.status, highs.status), (Status::Optimal, Status::Optimal));
        let (found, truth) = (tree.objective.expect("a value"), highs.objective.expect("a value"));
        assert!((found - truth).abs() < 1e-5 * truth, "seed {seed}: {found} for {truth}, {} nodes", tree.counts.nodes);
    }
}

#[test]
fn fsv_ends_where_its_own_linear_program_within_the_bounds_ends() {
    let mut rng = Rng::new(18);
    let mut at_bound = 0;
    for case in 0..60u64 {
        let p = 2 + rng.below(8);
        let (design, labels) = RandomProblem { n: 20, p, density: 0.8, noise: 0.2, seed: 900 + case }.draw();
        let weights = drawn_weights(&mut rng, &labels);
        let problem = Problem::new(&design, &labels, Some(&weights)).expect("two classes");
        let bounds = drawn_bounds(&mut rng, case, p);
        let list = RuleList { weights: stated(&bounds), ..random_rules(&mut rng, p) };
        let Ok(rules) = Rules::new(p, list, &[]) else { continue };
        let lambda = [0.05, 0.2, 0.5][rng.below(3)];
        let settings = FsvSettings { lambda, starts: 4, seed: case, ..FsvSettings::default() };
        let report = fsv(&problem, &rules, &settings, Limits::default(), &mut Silent).expect("valid");
        assert!(report.steps.iter().all(|s| !s.is_empty() && s.is_sorted_by(|a, b| a > b)), "{:?}", report.steps);
        let subset = report.selection.outcome.subset.as_ref().expect("a subset");
        assert!(rules.allows(subset));
        let model = report.model().expect("a classifier");
        let (scores, w) = (model.decisions(&design), &model.machines[0].weights);
        for (j, w) in subset.iter().zip(w) {
            assert!(bounds[j].lower <= *w && *w <= bounds[j].upper, "case {case}: weight {j} is {w}");
            at_bound += usize::from(*w != 0.0 && (*w == bounds[j].lower || *w == bounds[j].upper));
        }
        let side = |y: f64| (0..20).filter(|&i| labels[i] == y).map(|i| weights[i]).sum::<f64>();
        let means: Vec<f64> = (0..20).map(|i| (1.0 - lambda) * weights[i] / side(labels[i])).collect();
        let loss: f64 = (0..20).map(|i| means[i] * (1.0 - labels[i] * scores[i]).max(0.0)).sum();
        let counted: f64 = w.iter().map(|w| 1.0 - (-5.0 * w.abs()).exp()).sum();
        let best = report.selection.outcome.objective.expect("a value");
        assert!((best - loss - lambda * counted).abs() < 1e-9, "case {case}: {best}");
        // Stationary: the tangent at |w| has its least value there.
        let mut price = vec![0.0; p];
        subset.iter().zip(w).for_each(|(j, w)| price[j] = w.abs());
        for v in &mut price {
            *v = lambda * 5.0 * (-5.0 * *v).exp();
        }
        let averaged = Problem::new(&design, &labels, Some(&means)).expect("two classes");
        let least = whole(&averaged, (1.0, Bias::Free), &price, &bounds, subset);
        let tangent: f64 = subset.iter().zip(w).map(|(j, w)| price[j] * w.abs()).sum();
        assert!(tangent + loss <= least + 1e-6, "case {case}: {} is not stationary, {least}", tangent + loss);
    }
    assert!(at_bound > 0, "no weight is at a bound");
}
