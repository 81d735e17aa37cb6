//! Changes of a problem that must not change the answer, for every method: the order of samples and
//! of features, the unit of measurement of all features or of one, a constant added to a feature, a sample twice in place of
//! weight 2, storage, threads. And costs far beyond the usual, trained as given.
//!
//! With `FEWEST_FUZZ_SECONDS` random problems are drawn for so long; `FEWEST_FUZZ_FIRST` is the seed
//! of the first, `FEWEST_FUZZ_METHODS` names the methods, all by default.

use std::time::{Duration, Instant};

use fewest::method::rfe::RfeSettings;
use fewest::{
    DenseDesign, Design, Info, Limits, Method, Outcome, RuleList, Rules, Samples, Sense, Silent, SparseDesign, Status,
};
use fewest_papers::AnyMethod;
use fewest_testing::Rng;
use serde_json::{Value, json};

/// A problem of two classes and what is asked of it.
#[derive(Clone, Debug)]
struct Case {
    rows: Vec<Vec<f64>>,
    classes: Vec<u32>,
    weights: Vec<f64>,
    folds: Vec<usize>,
    cost: f64,
    /// The unit that the values are in.
    unit: f64,
    max_features: usize,
    sparse: bool,
    /// A feature that the rules forbid.
    forbidden: Option<usize>,
    /// Whether `mbp` and `lagrangian` find the bounds on weights themselves.
    finds_bounds: bool,
}

impl Case {
    /// Gaussian features on a grid of 2^-10, of which the first two tell the classes apart; one
    /// label in eight is wrong.
    fn draw(seed: u64) -> Self {
        Self::draw_dense(seed, [1.0, 1.0, 0.6][Rng::new(!seed).below(3)])
    }

    /// [`Case::draw`] with this share of values that are not 0.
    fn draw_dense(seed: u64, density: f64) -> Self {
        let mut rng = Rng::new(seed);
        let (n, p) = (20 + 2 * rng.below(8), 4 + rng.below(3));
        let classes: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
        let mut row = |class: &u32| {
            let shift = (f64::from(*class) - 0.5) * if rng.chance(0.125) { -1.0 } else { 1.0 };
            let value = |j: usize, rng: &mut Rng| rng.normal() + [2.5, 1.5].get(j).map_or(0.0, |s| s * shift);
            let on_grid = |x: f64| (x * 1024.0).round() / 1024.0;
            (0..p).map(|j| if rng.chance(density) { on_grid(value(j, &mut rng)) } else { 0.0 }).collect()
        };
        let rows = classes.iter().map(&mut row).collect();
        let cost = [0.1, 1.0, 10.0][rng.below(3)];
        let folds = (0..n).map(|i| i / 2 % 3).collect();
        let max_features = 1 + rng.below(3);
        let (weights, unit, sparse, forbidden, finds_bounds) = (vec![1.0; n], 1.0, false, None, false);
        Self { rows, classes, weights, folds, cost, unit, max_features, sparse, forbidden, finds_bounds }
    }

    /// A case that suits the method: the programs over pairs of samples grow with their square.
    fn of(name: &str, seed: u64) -> Self {
        let case = Self::draw(seed);
        match name {
            "milo-k" | "rmilo-k" => case.samples(&(0..8).collect::<Vec<_>>()),
            // Samples that few features cannot tell apart are on either side of a machine by chance.
            "eb-rfe" | "bit-flip" | "attribute-flip" => Self::draw_dense(seed, 1.0),
            _ => case,
        }
    }

    fn n(&self) -> usize {
        self.rows.len()
    }

    fn p(&self) -> usize {
        self.rows[0].len()
    }

    /// With other values.
    fn map(&self, change: impl Fn(usize, f64) -> f64) -> Self {
        let row = |row: &Vec<f64>| row.iter().enumerate().map(|(j, x)| change(j, *x)).collect();
        Self { rows: self.rows.iter().map(row).collect(), ..self.clone() }
    }

    /// In another unit, the question being the same.
    fn in_unit(&self, unit: f64) -> Self {
        Self { unit, ..self.map(|_, x| x * unit) }
    }

    /// These samples, in this order; a sample may be named again.
    fn samples(&self, order: &[usize]) -> Self {
        Self {
            rows: order.iter().map(|&i| self.rows[i].clone()).collect(),
            classes: order.iter().map(|&i| self.classes[i]).collect(),
            weights: order.iter().map(|&i| self.weights[i]).collect(),
            folds: order.iter().map(|&i| self.folds[i]).collect(),
            ..self.clone()
        }
    }

    /// The features in this order.
    fn features(&self, order: &[usize]) -> Self {
        let row = |row: &Vec<f64>| order.iter().map(|&j| row[j]).collect();
        Self { rows: self.rows.iter().map(row).collect(), ..self.clone() }
    }

    fn design(&self) -> Box<dyn Design> {
        let (n, p) = (self.n(), self.p());
        if !self.sparse {
            let values: Vec<f64> = (0..p).flat_map(|j| self.rows.iter().map(move |row| row[j])).collect();
            return Box::new(DenseDesign::new(n, p, values).unwrap());
        }
        let (mut start, mut at, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..p {
            for (i, row) in self.rows.iter().enumerate().filter(|(_, row)| row[j] != 0.0) {
                at.push(i as u32);
                values.push(row[j]);
            }
            start.push(at.len());
        }
        Box::new(SparseDesign::new(n, start, at, values).unwrap())
    }

    /// Settings of a method for the cost and the unit.
    fn settings(&self, name: &str) -> Value {
        let cost = self.cost / self.unit.powi(power(name));
        // Predictions near 0 settle late.
        let (svm, folds) =
            (json!({"cost": cost, "tolerance": 1e-10}), json!({"of": self.folds, "weights": self.weights}));
        match name {
            "exact" | "gbd" | "rfe" | "l1-svm" | "qcqp-ssvm" | "nmmkl" => json!({"name": name, "svm": svm}),
            "fgm" => json!({"name": name, "cost": cost}),
            "mbp" if self.finds_bounds => json!({"name": name, "cost": cost}),
            "lagrangian" if self.finds_bounds => json!({"name": name, "program": {"cost": cost}}),
            "mbp" => json!({"name": name, "cost": cost, "weight_bound": 3.0 / self.unit}),
            "lagrangian" => json!({"name": name, "program": {"cost": cost, "weight_bound": 3.0 / self.unit}}),
            "milp1" => json!({"name": name, "weight_bound": 1.0 / self.unit}),
            "kta" | "milo-k" | "rmilo-k" => json!({"name": name, "gamma": 0.2 / (self.unit * self.unit)}),
            "milp2" => json!({"name": name, "cost": 0.1}),
            "fsv" => json!({"name": name, "alpha": 5.0 * self.unit}),
            "eb-rfe" => json!({
                "name": name, "svm": svm, "kernel": {"kind": "linear"}, "criterion": "weights", "candidates": 2,
                "adaptive": null, "accuracy_loss": 0.0, "costs": [cost], "folds": folds,
            }),
            "bit-flip" | "attribute-flip" => json!({
                "name": name, "svm": svm, "kernel": {"kind": "linear"}, "costs": [cost], "folds": folds, "passes": 1,
                "start": {"rfe": {"step": {"count": 1}, "criterion": "weights"}},
            }),
            name => json!({"name": name}),
        }
    }

    fn solve(&self, name: &str) -> Outcome {
        let method: AnyMethod = serde_json::from_value(self.settings(name)).unwrap();
        let list = RuleList {
            max_features: Some(self.max_features),
            forbid: self.forbidden.into_iter().collect(),
            ..RuleList::default()
        };
        let rules = Rules::new(self.p(), list, &[]).unwrap();
        let design = self.design();
        let samples = Samples::new(&*design, &self.classes, Some(&self.weights)).unwrap();
        let report = method.select(&samples, &rules, Limits::default(), &mut Silent);
        report.unwrap_or_else(|error| panic!("{name}: {error}\n{self:?}")).selection.outcome
    }
}

/// How the cost of a method goes with the unit of its data: C over this power of it asks the same.
fn power(name: &str) -> i32 {
    match name {
        "exact" | "gbd" | "rfe" | "fgm" | "qcqp-ssvm" | "nmmkl" | "eb-rfe" | "bit-flip" | "attribute-flip" => 2,
        "l1-svm" | "mbp" | "lagrangian" => 1,
        _ => 0,
    }
}

/// How the objective goes with the unit: times this power of it, it is the same.
fn objective_power(name: &str) -> i32 {
    match name {
        "fgm" => -2,
        "milp2" => -1,
        "eb-rfe" | "bit-flip" | "attribute-flip" => 0,
        name => power(name),
    }
}

/// How near objectives must be: those of one question within what the gap asked for, or the
/// tolerances of the solver, leave open; those of rounded relaxations and of local searches, which
/// may take one of several subsets that are nearly as good, within some percent.
fn tolerance(name: &str) -> f64 {
    match name {
        "exact" | "gbd" | "kta" | "milo-k" | "rmilo-k" | "mbp" | "milp1" | "milp2" => 3e-4,
        "fgm" | "qcqp-ssvm" | "nmmkl" | "lagrangian" | "fsv" => 0.1,
        _ => 1e-6,
    }
}

/// Methods whose machines may have any bias of an interval, and count samples right by it.
const COUNT: [&str; 3] = ["eb-rfe", "bit-flip", "attribute-flip"];

/// What must hold of a case and a change of it. A search that rounding stopped says so.
fn assert_same(info: &Info, what: &str, case: &Case, other: &Case) {
    let (a, b) = (case.solve(info.name), other.solve(info.name));
    if a.status == Status::Stalled || b.status == Status::Stalled {
        return;
    }
    let factor = other.unit.powi(objective_power(info.name)) / case.unit.powi(objective_power(info.name));
    let about = || format!("{}, {what}: {a:?} against {b:?} times {factor:e}\n{case:?}", info.name);
    assert_eq!((a.status, a.objective.is_some()), (b.status, b.objective.is_some()), "{}", about());
    // What counts as no gain is not known better.
    let nothing = a.yardstick.map_or(0.0, |yardstick| yardstick.nothing).max(1e-9);
    let near = |x: Option<f64>, y: Option<f64>, share: f64| {
        let (x, y) = (x.unwrap_or(0.0), y.unwrap_or(0.0) * factor);
        (x - y).abs() <= share * x.abs().max(y.abs()) || x.abs().max(y.abs()) < nothing
    };
    // Digits go where weights of 1e-8 are trained at a cost of 1e16.
    let share = if case.cost >= 1e4 { tolerance(info.name).max(1e-4) } else { tolerance(info.name) };
    assert!(near(a.objective, b.objective, share), "{}", about());
    assert!(a.status != Status::Optimal || near(a.bound, b.bound, 1e-3), "{}", about());
}

#[expect(clippy::disallowed_methods, reason = "the library reads no variables, but this test is run with some")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Calls `check` for each method and some problems of it: two with seeds of their own, or random
/// ones for a time.
fn for_each(first: u64, check: impl Fn(&Info, Case)) {
    let seconds = variable("FEWEST_FUZZ_SECONDS").map(|s| s.parse::<f64>().expect("seconds"));
    let first = variable("FEWEST_FUZZ_FIRST").map_or(first, |s| s.parse().expect("a seed"));
    let only: Option<Vec<String>> = variable("FEWEST_FUZZ_METHODS").map(|s| s.split(',').map(str::to_owned).collect());
    let begun = Instant::now();
    for seed in first.. {
        let over = match seconds {
            Some(seconds) => begun.elapsed() >= Duration::from_secs_f64(seconds),
            None => seed >= first + 2,
        };
        if over {
            break;
        }
        for info in AnyMethod::INFOS {
            if only.as_ref().is_none_or(|only| only.iter().any(|name| name == info.name)) {
                check(info, Case::of(info.name, seed));
            }
        }
    }
}

fn shuffled(len: usize) -> Vec<usize> {
    let mut rng = Rng::new(5);
    let mut order: Vec<usize> = (0..len).collect();
    for i in (1..len).rev() {
        order.swap(i, rng.below(i + 1));
    }
    order
}

#[test]
fn the_unit_of_the_data_changes_nothing() {
    for_each(100, |info, case| {
        let flat = case.map(|j, x| if j == 3 { 0.0 } else { x });
        for unit in [2f64.powi(-27), 2f64.powi(27), 1e-8, 1e8] {
            assert_same(info, &format!("in units of {unit:e}"), &case, &case.in_unit(unit));
            let what = format!("with a feature of zeros, in units of {unit:e}");
            assert_same(info, &what, &flat, &flat.in_unit(unit));
        }
    });
}

/// A feature that the rules forbid takes part in nothing, whatever its unit; one that is allowed in
/// any unit may help, and what is called optimal is no worse than without it.
#[test]
fn the_unit_of_one_feature_moves_no_other() {
    for_each(900, |info, case| {
        let last = case.p() - 1;
        let without = Case { forbidden: Some(last), finds_bounds: true, ..case };
        // Bounds that are found are those of a relaxation, in which it takes part.
        let alone = Case { finds_bounds: false, ..without.clone() }.solve(info.name);
        for unit in [1e-6, 1e-3, 1e3, 1e6, 1e9, 1e12] {
            let scaled = without.map(|j, x| if j == last { x * unit } else { x });
            assert_same(info, &format!("with a feature left out in a unit of {unit:e}"), &without, &scaled);
            let found = Case { forbidden: None, finds_bounds: false, ..scaled }.solve(info.name);
            let (Some(known), Some(value)) = (alone.objective, found.objective) else { continue };
            let worse = if found.sense == Sense::Min { value - known } else { known - value };
            let room = tolerance(info.name) * known.abs().max(value.abs()) + 1e-9;
            let what = || format!("{}, a feature in a unit of {unit:e}: {found:?} after {alone:?}", info.name);
            assert!(found.status != Status::Optimal || worse <= room, "{}\n{without:?}", what());
        }
    });
}

#[test]
fn the_order_of_samples_changes_nothing() {
    for_each(200, |info, case| {
        if !COUNT.contains(&info.name) {
            assert_same(info, "samples in another order", &case, &case.samples(&shuffled(case.n())));
        }
    });
}

/// Two methods begin with random numbers by feature.
#[test]
fn the_order_of_features_changes_nothing() {
    for_each(300, |info, case| {
        if !["fsv", "lagrangian"].contains(&info.name) {
            let order = shuffled(case.p());
            assert_same(info, "features in another order", &case, &case.features(&order));
        }
    });
}

/// A weight is a number of samples.
#[test]
fn a_sample_twice_is_a_sample_of_weight_2() {
    for_each(400, |info, mut case| {
        if COUNT.contains(&info.name) {
            return;
        }
        let twice: Vec<usize> = (0..case.n()).filter(|i| i % 5 == 0).collect();
        let all: Vec<usize> = (0..case.n()).chain(twice.iter().copied()).collect();
        let copies = case.samples(&all);
        for &i in &twice {
            case.weights[i] = 2.0;
        }
        assert_same(info, "samples twice", &case, &copies);
    });
}

#[test]
fn a_constant_added_to_a_feature_changes_nothing_but_the_bias() {
    for_each(500, |info, case| {
        // Without a free bias it is another question.
        if info.name != "fgm" {
            for (j, offset) in [(0, 1e8), (1, 2f64.powi(40)), (2, -20_240_115.0)] {
                let moved = case.map(|k, x| if k == j { x + offset } else { x });
                assert_same(info, &format!("feature {j} plus {offset:e}"), &case, &moved);
            }
            assert_same(info, "all plus 1e6", &case, &case.map(|_, x| x + 1e6));
            let flat = case.map(|j, x| if j == 3 { 0.0 } else { x });
            let large = case.map(|j, x| if j == 3 { 1.7e12 } else { x });
            assert_same(info, "a feature that is 1.7e12 for all", &flat, &large);
        }
    });
}

#[test]
fn dense_and_sparse_are_one_matrix() {
    for_each(600, |info, case| {
        assert_same(info, "sparse", &case, &Case { sparse: true, ..case.clone() });
    });
}

#[test]
fn threads_change_no_bit() {
    for_each(700, |info, case| {
        let solve = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let Outcome { status, subset, objective, bound, .. } = pool.install(|| case.solve(info.name));
            (status, subset, objective.map(f64::to_bits), bound.map(f64::to_bits))
        };
        assert_eq!(solve(1), solve(2), "{}: {case:?}", info.name);
    });
}

/// Callers of a method's own `select` have no constant taken off: digits go, and where a training
/// does not end for lack of them the status says so.
#[test]
fn an_elimination_says_where_its_training_did_not_end() {
    for seed in 0..20 {
        let mut rng = Rng::new(seed);
        let (n, p) = (40, 5);
        let mut rows: Vec<Vec<f64>> =
            (0..n).map(|_| (0..p).map(|_| (rng.normal() * 1000.0).round() / 1000.0).collect()).collect();
        let classes: Vec<u32> =
            rows.iter().map(|row| u32::from(row[1] - 0.8 * row[3] + 0.3 * rng.normal() > 0.0)).collect();
        let mut first = None;
        for offset in [0.0, 1.0, 32.0, 31.0, 4032.0, 61_440.0] {
            for row in &mut rows {
                row[1] += offset;
            }
            let values: Vec<f64> = (0..p).flat_map(|j| rows.iter().map(move |row| row[j])).collect();
            let design = DenseDesign::new(n, p, values).unwrap();
            let samples = Samples::new(&design, &classes, None).unwrap();
            let rules = Rules::at_most_features(p, 2).unwrap();
            let report = RfeSettings::default().select(&samples, &rules, Limits::default(), &mut Silent).unwrap();
            let found = report.selection.outcome;
            let value = found.objective.unwrap_or_else(|| panic!("seed {seed}, offset {offset}: {found:?}"));
            let first = *first.get_or_insert(value);
            let right = (value - first).abs() <= 1e-3 * first;
            assert!(right || found.status == Status::Stalled, "seed {seed}, offset {offset}: {found:?}, not {first}");
        }
    }
}

/// Where the classes can be told apart, a cost beyond that of a hard margin changes nothing.
#[test]
fn no_cap_takes_the_place_of_a_large_cost() {
    for_each(800, |info, mut case| {
        if ["exact", "gbd", "rfe", "l1-svm", "mbp"].contains(&info.name) {
            for (row, class) in case.rows.iter_mut().zip(&case.classes) {
                row[0] += 12.0 * f64::from(*class) - 6.0;
            }
            let hard = Case { cost: 1e4, max_features: 2, ..case };
            for cost in [1e8, 1e12, 1e16] {
                let harder = Case { cost, ..hard.clone() };
                assert_same(info, &format!("at a cost of {cost:e}"), &hard, &harder);
            }
            // The same in other words: values of 1e8 at a cost of 1.
            let large = Case { cost: 1e16, ..hard.clone() }.in_unit(1e8);
            assert_same(info, "values of 1e8 at a cost of 1", &hard, &large);
        }
    });
}
