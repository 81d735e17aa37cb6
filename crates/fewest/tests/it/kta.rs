//! `kta` against full enumeration, its bounds, its statuses, the optimal values of the paper's
//! data.

use std::time::Duration;

use fewest::kernel::gamma::sigest;
use fewest::method::kta::{KtaSettings, kta};
use fewest::{Cancel, DenseDesign, Design, Error, Gamma, Limits, RuleList, Rules, Selection, Silent, Status};
use fewest_testing::{
    KeptProofs, RandomProblem, Rng, alignment_value, allowed_subsets, data_file, random_rules, verify_alignment,
};

/// Bytes that one node of the problems here fits into, and little else.
const LITTLE: u64 = 80_000;

fn classes(labels: &[f64]) -> Vec<u32> {
    labels.iter().map(|&y| u32::from(y > 0.0)).collect()
}

fn run(design: &dyn Design, classes: &[u32], rules: &Rules, settings: &KtaSettings, limits: Limits) -> Selection {
    kta(design, classes, &vec![1.0; classes.len()], rules, settings, limits, &mut Silent).expect("valid settings")
}

fn exact_limits() -> Limits {
    Limits { gap_rel: 0.0, ..Limits::default() }
}

#[test]
fn equals_enumeration_on_random_problems_with_random_rules() {
    let mut rng = Rng::new(11);
    let mut compared = 0;
    for case in 0..330 {
        let p = 2 + rng.below(7);
        let drawn = RandomProblem { n: 6 + rng.below(20), p, density: 0.7, noise: 0.2, seed: case };
        let (dense, labels) = drawn.draw();
        let (sparse, _) = drawn.draw_sparse();
        // Every third problem has categories for values, so that samples and pairs coincide.
        let coarse: Vec<f64> = (0..p).flat_map(|j| dense.column(j).iter().map(|x| x.round())).collect();
        let coarse = DenseDesign::new(drawn.n, p, coarse).expect("n p values");
        let design: &dyn Design = [&dense as &dyn Design, &sparse, &coarse][case as usize % 3];
        let mut class = classes(&labels);
        if rng.chance(0.3) {
            for c in &mut class {
                *c += rng.below(2) as u32;
            }
        }
        let weights: Vec<f64> = class.iter().map(|_| if rng.chance(0.2) { 2.0 * rng.unit() } else { 1.0 }).collect();
        let Ok(rules) = Rules::new(p, random_rules(&mut rng, p), &[]) else { continue };
        let gamma = [0.03, 0.3, 1.0, 4.0][rng.below(4)];
        let wanted = 1 + rng.below(4);
        let memory = if rng.chance(0.5) { 1 << 30 } else { LITTLE };
        let settings = KtaSettings { gamma: Gamma::Number(gamma), solutions: wanted, memory, ..KtaSettings::default() };
        let mut all: Vec<f64> =
            allowed_subsets(&rules).iter().map(|s| alignment_value(design, &class, &weights, s, gamma)).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        let found = kta(design, &class, &weights, &rules, &settings, exact_limits(), &mut Silent).expect("valid");
        let about = format!("case {case}: p {p}, gamma {gamma}, {wanted} wanted, {:?}", rules.list());
        assert_eq!(found.outcome.status, Status::Optimal, "{about}");
        let objective = found.outcome.objective.expect("a subset");
        assert!((objective - all[0]).abs() <= 1e-12 * (1.0 + all[0].abs()), "{about}: {objective}, but {}", all[0]);
        let bound = found.outcome.bound.expect("a bound");
        assert!((bound - objective).abs() <= 1e-12, "{about}: bound {bound}, objective {objective}");
        assert_eq!(found.solutions.len(), wanted.min(all.len()), "{about}");
        for (solution, truth) in found.solutions.iter().zip(&all) {
            assert!(rules.allows(&solution.subset), "{about}");
            let own = alignment_value(design, &class, &weights, &solution.subset, gamma);
            assert!((solution.objective - own).abs() <= 1e-12 * (1.0 + own), "{about}: {own}, but {solution:?}");
            assert!((own - truth).abs() <= 1e-12 * (1.0 + truth.abs()), "{about}: {own}, but {truth}");
        }
        compared += 1;
    }
    assert!(compared >= 200, "only {compared} rules are without contradiction");
}

#[test]
fn equals_enumeration_at_sizes_of_each_order() {
    let mut rng = Rng::new(12);
    let mut found_by_size = [0u32; 13];
    for case in 0..450 {
        let p = 9 + rng.below(4);
        let drawn = RandomProblem { n: 6 + rng.below(10), p, density: 0.9, noise: 0.3, seed: 1000 + case };
        let (dense, labels) = drawn.draw();
        // Every third problem has values that coincide.
        let coarse: Vec<f64> = (0..p).flat_map(|j| dense.column(j).iter().map(|x| x.round())).collect();
        let coarse = DenseDesign::new(drawn.n, p, coarse).expect("n p values");
        let design: &dyn Design = if case % 3 == 2 { &coarse } else { &dense };
        let (class, weights) = (classes(&labels), vec![1.0; labels.len()]);
        let size = 5 + rng.below(p - 4);
        // Without a required feature the best subsets are smaller than the size mostly.
        let required = (0..p).filter(|_| rng.chance(0.3)).take(size - 3).collect();
        let list = RuleList { max_features: Some(size), require: required, ..RuleList::default() };
        let rules = Rules::new(p, list, &[]).expect("valid");
        let gamma = [0.01, 0.1, 0.5, 2.0][rng.below(4)];
        let settings = KtaSettings { gamma: Gamma::Number(gamma), solutions: 3, ..KtaSettings::default() };
        let mut all: Vec<f64> =
            allowed_subsets(&rules).iter().map(|s| alignment_value(design, &class, &weights, s, gamma)).collect();
        all.sort_by(|a, b| b.total_cmp(a));
        let found = run(design, &class, &rules, &settings, exact_limits());
        let about = format!("case {case}: p {p}, gamma {gamma}, {:?}", rules.list());
        assert_eq!(found.outcome.status, Status::Optimal, "{about}");
        for (solution, truth) in found.solutions.iter().zip(&all) {
            let own = solution.objective;
            assert!((own - truth).abs() <= 1e-12 * (1.0 + truth.abs()), "{about}: {own}, but {truth}");
        }
        let (bound, best) = (found.outcome.bound.expect("a bound"), all[0]);
        assert!(bound >= best - 1e-12 && bound <= best + 1e-12, "{about}: bound {bound}, best {best}");
        found_by_size[found.solutions[0].subset.len()] += 1;
    }
    assert!(found_by_size[5..].iter().sum::<u32>() >= 10, "{found_by_size:?}");
}

/// A problem of some hundred nodes: noise, and features of like worth.
fn hard(seed: u64) -> (DenseDesign<'static>, Vec<u32>) {
    let (design, labels) = RandomProblem { n: 60, p: 16, density: 1.0, noise: 0.25, seed }.draw();
    (design, classes(&labels))
}

fn hard_settings() -> KtaSettings {
    KtaSettings { gamma: Gamma::Number(0.3), ..KtaSettings::default() }
}

#[test]
fn no_bound_lies_below_the_optimum_wherever_the_run_is_stopped() {
    for seed in 0..3 {
        let (design, class) = hard(seed);
        for k in [1, 2, 3, 5, 16] {
            let rules = Rules::at_most_features(16, k).expect("valid");
            let proven = run(&design, &class, &rules, &hard_settings(), exact_limits()).outcome;
            assert_eq!(proven.status, Status::Optimal);
            let best = proven.objective.expect("a subset");
            let mut before = f64::INFINITY;
            for nodes in [0, 1, 2, 20, 100] {
                let limits = Limits { nodes: Some(nodes), ..exact_limits() };
                let stopped = run(&design, &class, &rules, &hard_settings(), limits).outcome;
                let (bound, objective) = (stopped.bound.expect("a bound"), stopped.objective.expect("a subset"));
                assert!(bound >= best, "seed {seed}, K {k}, {nodes} nodes: bound {bound} below {best}");
                assert!(objective <= best, "seed {seed}, K {k}, {nodes} nodes: {objective} above {best}");
                assert!(bound <= before, "seed {seed}, K {k}, {nodes} nodes: bound {bound} after {before}");
                before = bound;
            }
        }
    }
}

#[test]
fn each_limit_ends_with_its_status_and_a_subset() {
    let (design, class) = hard(1);
    let rules = Rules::at_most_features(16, 6).expect("valid");
    let cancelled = Cancel::default();
    cancelled.cancel();
    for (limits, status) in [
        (Limits { time: Some(Duration::ZERO), ..exact_limits() }, Status::TimeLimit),
        (Limits { nodes: Some(0), ..exact_limits() }, Status::NodeLimit),
        (Limits { oracle_calls: Some(1), ..exact_limits() }, Status::CallLimit),
        (Limits { cancel: cancelled, ..exact_limits() }, Status::Cancelled),
        (exact_limits(), Status::Optimal),
    ] {
        let outcome = run(&design, &class, &rules, &hard_settings(), limits).outcome;
        assert_eq!(outcome.status, status);
        assert!(rules.allows(&outcome.subset.expect("a subset")), "{status}");
        assert!(outcome.bound.expect("a bound") >= outcome.objective.expect("an objective"), "{status}");
    }
}

#[test]
fn one_thread_and_four_grow_the_same_tree() {
    let (design, class) = hard(2);
    let rules = Rules::at_most_features(16, 5).expect("valid");
    let with = |threads: usize, memory: u64| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let settings = KtaSettings { solutions: 3, memory, ..hard_settings() };
        let found = pool.install(|| run(&design, &class, &rules, &settings, exact_limits()));
        (found.solutions, found.outcome.bound, found.outcome.counts)
    };
    let one = with(1, 1 << 30);
    assert_eq!(one, with(4, 1 << 30));
    // With little memory kernel values are computed again and the search goes deep first: the same
    // answer by another tree.
    assert_eq!(one.0, with(4, LITTLE).0);
    assert_eq!(with(1, LITTLE), with(4, LITTLE));
}

#[test]
fn proofs_of_runs_that_end_anywhere_hold_whatever_the_threads_and_the_memory() {
    let (design, class) = hard(2);
    let rules = Rules::at_most_features(16, 5).expect("valid");
    let weights = vec![1.0; class.len()];
    let with = |threads: usize, memory: u64, nodes: Option<u64>, rules: &Rules| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let settings = KtaSettings { solutions: 3, memory, ..hard_settings() };
        let (limits, mut kept) = (Limits { nodes, ..exact_limits() }, KeptProofs::default());
        let found = pool.install(|| kta(&design, &class, &weights, rules, &settings, limits, &mut kept));
        let (found, file) = (found.expect("valid settings"), kept.files.remove(0));
        let verdict = verify_alignment(&file, &design, &class, &weights).expect("a proof");
        let outcome = found.outcome;
        let (objective, bound) = (outcome.objective.expect("a subset"), outcome.bound.expect("a bound"));
        assert!((-verdict.best().expect("listed").objective - objective).abs() <= 1e-11);
        // What the run says it has proven is proven.
        assert!(-verdict.bound() <= bound + 1e-11, "{nodes:?}: {} above {bound}", -verdict.bound());
        file
    };
    let file = with(1, 1 << 30, None, &rules);
    assert_eq!(file, with(4, 1 << 30, None, &rules));
    with(4, LITTLE, None, &rules);
    for nodes in [1, 3, 40, 100] {
        with(2, 1 << 30, Some(nodes), &rules);
    }
    // Models up to the fourth order.
    with(2, 1 << 30, None, &Rules::at_most_features(16, 8).expect("valid"));
    // More slots than a model has.
    for nodes in [1, 2, 30] {
        with(2, 1 << 30, Some(nodes), &Rules::none(16));
    }
}

#[test]
fn what_cannot_fit_is_refused_with_its_need() {
    let (design, class) = hard(2);
    let rules = Rules::at_most_features(16, 5).expect("valid");
    let settings = KtaSettings { memory: 20_000, ..hard_settings() };
    let (weights, limits) = ([1.0; 60], exact_limits());
    let error = kta(&design, &class, &weights, &rules, &settings, limits, &mut Silent).expect_err("refused");
    // 60 x 16 values twice, and 17 x 17 pairs, for each of five slots too, and 697 triples.
    let Error::Memory { needed: 49_836, allowed: 20_000, .. } = error else { panic!("{error}") };
}

#[test]
fn looser_gaps_are_kept_and_take_fewer_nodes() {
    let (design, class) = hard(3);
    let rules = Rules::at_most_features(16, 6).expect("valid");
    let best = run(&design, &class, &rules, &hard_settings(), exact_limits()).outcome;
    let loose = run(&design, &class, &rules, &hard_settings(), Limits { gap_rel: 0.2, ..Limits::default() }).outcome;
    assert_eq!(loose.status, Status::Optimal);
    assert!(loose.gap().expect("both") <= 0.2 && loose.bound.expect("a bound") >= best.objective.expect("a subset"));
    assert!(loose.counts.nodes < best.counts.nodes, "{:?} against {:?}", loose.counts, best.counts);
}

#[test]
fn decided_units_and_equal_samples_leave_a_value_to_report() {
    let design = DenseDesign::new(4, 2, vec![1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 1.0, 1.0]).expect("8 values");
    let class = [0, 0, 1, 1];
    let list = RuleList { require: vec![0], forbid: vec![1].into(), ..RuleList::default() };
    let decided = Rules::new(2, list, &[]).expect("valid");
    let outcome = run(&design, &class, &decided, &KtaSettings::default(), exact_limits()).outcome;
    assert_eq!((outcome.status, outcome.objective), (Status::Optimal, Some(0.0)));
    let outcome = run(&design, &class, &Rules::none(2), &KtaSettings::default(), exact_limits()).outcome;
    let truth = 2.0 - 2.0 * (-1.0f64).exp();
    assert!((outcome.objective.expect("a subset") - truth).abs() <= 1e-14);
}

#[test]
fn bad_input_is_refused_by_name() {
    let (design, class) = hard(0);
    let rules = Rules::at_most_features(16, 3).expect("valid");
    let ask = |class: &[u32], weights: &[f64], rules: &Rules, settings: KtaSettings| {
        kta(&design, class, weights, rules, &settings, Limits::default(), &mut Silent).expect_err("refused").to_string()
    };
    let ones = vec![1.0; 60];
    let usual = hard_settings;
    for (words, text) in [
        ("gamma is 0", ask(&class, &ones, &rules, KtaSettings { gamma: Gamma::Number(0.0), ..usual() })),
        ("gamma is NaN", ask(&class, &ones, &rules, KtaSettings { gamma: Gamma::Number(f64::NAN), ..usual() })),
        ("solutions is 0", ask(&class, &ones, &rules, KtaSettings { solutions: 0, ..usual() })),
        ("1 class labels", ask(&[1], &ones, &rules, usual())),
        ("1 class has", ask(&[1; 60], &ones, &rules, usual())),
        ("weight of sample 0 is -1", ask(&class, &[-1.0; 60], &rules, usual())),
        ("3 features", ask(&class, &ones, &Rules::none(3), usual())),
    ] {
        assert!(text.contains(words), "{text}");
    }
    let constant = DenseDesign::new(3, 1, vec![1.0; 3]).expect("3 values");
    assert!(sigest(&constant, 1).expect_err("no distance").to_string().contains("median"));
}

/// Features standardised with the population variance, eq. (25), and classes; the last column holds
/// the label.
#[expect(clippy::disallowed_methods, reason = "the library touches no files, but this test reads the paper's data")]
fn read(name: &str) -> Option<(DenseDesign<'static>, Vec<u32>)> {
    let text = std::fs::read_to_string(data_file(name)?).expect("readable");
    let rows: Vec<Vec<f64>> =
        text.lines().skip(1).map(|l| l.split(',').map(|c| c.parse().expect("a number")).collect()).collect();
    let (n, p) = (rows.len(), rows[0].len() - 1);
    let mut values = Vec::with_capacity(n * p);
    for j in 0..p {
        let mean = rows.iter().map(|r| r[j]).sum::<f64>() / n as f64;
        let deviation = (rows.iter().map(|r| (r[j] - mean).powi(2)).sum::<f64>() / n as f64).sqrt();
        values.extend(rows.iter().map(|r| if deviation > 0.0 { (r[j] - mean) / deviation } else { 0.0 }));
    }
    Some((DenseDesign::new(n, p, values).expect("n p values"), rows.iter().map(|r| u32::from(r[p] > 0.0)).collect()))
}

#[test]
fn the_optimal_values_of_the_papers_data_are_proven() {
    for (name, k, values) in [
        ("hepatitis.csv", 3, [0.235528, 0.411047, 0.488675]),
        ("hepatitis.csv", 5, [0.214935, 0.392316, 0.462882]),
        ("zoo.csv", 3, [0.302839, 0.915587, 1.445473]),
        ("zoo.csv", 5, [0.277512, 0.726015, 1.332669]),
        ("parkinsons.csv", 3, [0.308423, 0.443840, 0.457060]),
        ("parkinsons.csv", 5, [0.261697, 0.400477, 0.459090]),
        ("soybean-small.csv", 3, [0.316304, 0.925629, 1.450918]),
        ("soybean-small.csv", 5, [0.300279, 0.870497, 1.390897]),
    ] {
        let Some((design, class)) = read(name) else { return };
        let rules = Rules::at_most_features(design.n_features(), k).expect("valid");
        for (beta, value) in [0.25, 1.0, 4.0].into_iter().zip(values) {
            let gamma = beta * sigest(&design, k).expect("distances");
            let settings = KtaSettings { gamma: Gamma::Number(gamma), ..KtaSettings::default() };
            let outcome = run(&design, &class, &rules, &settings, exact_limits()).outcome;
            let objective = outcome.objective.expect("a subset");
            assert_eq!(outcome.status, Status::Optimal, "{name}, K {k}, beta {beta}");
            // The quoted values are off by up to 1.2e-6 from a plain enumeration in double
            // precision.
            assert!((objective - value).abs() <= 2e-6, "{name}, K {k}, beta {beta}: {objective}, but {value}");
        }
    }
}
