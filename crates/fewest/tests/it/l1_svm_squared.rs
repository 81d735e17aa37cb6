//! The l1-penalised machine with squared hinge loss, held to the definitions of its problem and its
//! dual, and to a slow reference.

use fewest::method::l1_svm::squared_hinge;
use fewest::{Bias, Clock, DenseDesign, Design, DualSolution, Error, Loss, Problem, SparseDesign, Status, SvmSettings};
use fewest_testing::{RandomProblem, Rng, dense_copy};

const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalised(0.7), Bias::None];

fn settings(cost: f64, bias: Bias) -> SvmSettings {
    SvmSettings { cost, bias, loss: Loss::SquaredHinge, tolerance: 1e-8, ..SvmSettings::default() }
}

fn all(problem: &Problem<'_>) -> Vec<usize> {
    (0..problem.n_features()).collect()
}

fn solve(problem: &Problem<'_>, features: &[usize], settings: &SvmSettings) -> DualSolution {
    squared_hinge(problem, features, settings, None, &Clock::unlimited()).expect("valid settings")
}

/// Slack costs C_i and slacks of a point.
fn slacks(problem: &Problem<'_>, features: &[usize], cost: f64, w: &[f64], b: f64) -> Vec<(f64, f64)> {
    let rows = dense_copy(problem.design());
    (0..problem.n_samples())
        .map(|i| {
            let f: f64 = features.iter().zip(w).map(|(&j, w)| rows[i][j] * w).sum::<f64>() + b;
            (cost * problem.weights()[i], (1.0 - problem.labels()[i] * f).max(0.0))
        })
        .collect()
}

fn primal(problem: &Problem<'_>, features: &[usize], settings: &SvmSettings, w: &[f64], b: f64) -> f64 {
    let extra = if let Bias::Penalised(s) = settings.bias { (b / s).abs() } else { 0.0 };
    let loss: f64 = slacks(problem, features, settings.cost, w, b).iter().map(|(c, xi)| c * xi * xi).sum();
    w.iter().map(|w| w.abs()).sum::<f64>() + extra + loss
}

/// Everything a solution claims, from the definitions.
fn judge(problem: &Problem<'_>, features: &[usize], settings: &SvmSettings, found: &DualSolution) {
    let (y, rows) = (problem.labels(), dense_copy(problem.design()));
    let n = y.len();
    let value = primal(problem, features, settings, &found.weights, found.bias);
    assert!((value - found.primal).abs() <= 1e-9 * value, "primal {} is {value}", found.primal);
    // The dual point.
    let score = |beta: &[f64], j: usize| (0..n).map(|i| beta[i] * rows[i][j]).sum::<f64>();
    let size: f64 = found.beta.iter().map(|b| b.abs()).sum();
    let mut bound = 0.0;
    for i in 0..n {
        let (alpha, c) = (y[i] * found.beta[i], settings.cost * problem.weights()[i]);
        assert!(alpha >= 0.0 && (c > 0.0 || alpha == 0.0), "alpha {i} is {alpha} at C = {c}");
        bound += alpha - if c > 0.0 { alpha * alpha / (4.0 * c) } else { 0.0 };
    }
    assert!((bound - found.dual).abs() <= 1e-9 * value, "dual {} is {bound}", found.dual);
    for &j in features {
        assert!(score(&found.beta, j).abs() <= 1.0 + 1e-9, "|c_{j}| is {}", score(&found.beta, j));
    }
    let sum: f64 = found.beta.iter().sum();
    match settings.bias {
        Bias::Free => assert!(sum.abs() <= 1e-10 * size, "y'alpha is {sum} of {size}"),
        Bias::Penalised(s) => assert!((s * sum).abs() <= 1.0 + 1e-9, "s y'alpha is {}", s * sum),
        Bias::None => assert_eq!(found.bias, 0.0),
    }
    assert!(found.dual <= found.primal * (1.0 + 1e-12), "dual {} above primal {}", found.dual, found.primal);
    if found.status == Status::Optimal {
        assert!(found.gap() <= settings.tolerance, "gap {}", found.gap());
    }
    // The violation.
    let at: Vec<f64> = slacks(problem, features, settings.cost, &found.weights, found.bias)
        .iter()
        .zip(y)
        .map(|((c, xi), y)| 2.0 * c * xi * y)
        .collect();
    let distance = |w: f64, c: f64| if w == 0.0 { (c.abs() - 1.0).max(0.0) } else { (c - w.signum()).abs() };
    let mut worst = features.iter().zip(&found.weights).map(|(&j, &w)| distance(w, score(&at, j))).fold(0.0, f64::max);
    let sum: f64 = at.iter().sum();
    match settings.bias {
        Bias::Free => assert!(
            sum.abs() <= 1e-9 * (1.0 + size) + 1e-13 * settings.cost * n as f64,
            "a better bias exists: slope {sum}"
        ),
        Bias::Penalised(s) => worst = worst.max(distance(found.bias, s * sum)),
        Bias::None => {}
    }
    assert!(
        (worst - found.kkt_residual).abs() <= 1e-8 + 1e-12 * settings.cost,
        "violation {} is {worst}",
        found.kkt_residual
    );
}

/// The optimum by exact minimisation in one weight after the other, each by halving an interval.
fn reference(problem: &Problem<'_>, features: &[usize], settings: &SvmSettings, sweeps: usize) -> f64 {
    let (y, rows) = (problem.labels(), dense_copy(problem.design()));
    let (n, p) = (y.len(), features.len());
    let (penalty, value) = match settings.bias {
        Bias::Free => (0.0, 1.0),
        Bias::Penalised(s) => (1.0, s),
        Bias::None => (0.0, 0.0),
    };
    let x = |i: usize, k: usize| if k < p { rows[i][features[k]] } else { value };
    let (mut w, mut f) = (vec![0.0; p + 1], vec![0.0; n]);
    for _ in 0..sweeps {
        for k in 0..=p {
            let price = if k < p { 1.0 } else { penalty };
            // Derivative of the loss at w_k + t.
            let slope = |t: f64| {
                (0..n)
                    .map(|i| {
                        let slack = (1.0 - y[i] * (f[i] + t * x(i, k))).max(0.0);
                        -2.0 * settings.cost * problem.weights()[i] * slack * y[i] * x(i, k)
                    })
                    .sum::<f64>()
            };
            let at_zero = slope(-w[k]);
            if at_zero == 0.0 && price == 0.0 {
                continue;
            }
            let to = if at_zero.abs() <= price {
                0.0
            } else {
                let sign = -at_zero.signum();
                let (mut low, mut high) = (0.0, 1.0);
                while sign * slope(sign * high - w[k]) + price < 0.0 && high < 1e6 {
                    high *= 2.0;
                }
                for _ in 0..60 {
                    let middle = 0.5 * (low + high);
                    if sign * slope(sign * middle - w[k]) + price < 0.0 {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                sign * 0.5 * (low + high)
            };
            for i in 0..n {
                f[i] += (to - w[k]) * x(i, k);
            }
            w[k] = to;
        }
    }
    let bias = value * w.pop().unwrap_or(0.0);
    primal(problem, features, settings, &w, bias)
}

#[test]
fn solutions_are_optimal_on_dense_and_sparse_columns() {
    for seed in 0..6 {
        let draw = RandomProblem { n: 25, p: 60, density: 0.4, noise: 0.2, seed };
        let ((dense, y), (sparse, _)) = (draw.draw(), draw.draw_sparse());
        let mut rng = Rng::new(seed);
        let weights: Vec<f64> = (0..25).map(|i| if i % 6 == 5 { 0.0 } else { rng.range(0.2, 3.0) }).collect();
        for bias in BIASES {
            for cost in [0.03, 1.0, 100.0] {
                let settings = settings(cost, bias);
                let one = Problem::new(&dense, &y, Some(&weights)).unwrap();
                let other = Problem::new(&sparse, &y, Some(&weights)).unwrap();
                let features: Vec<usize> = (0..60).filter(|j| j % 4 != 1).collect();
                let (a, b) = (solve(&one, &features, &settings), solve(&other, &features, &settings));
                for (problem, found) in [(&one, &a), (&other, &b)] {
                    assert_eq!(found.status, Status::Optimal, "seed {seed}, {bias:?}, C = {cost}");
                    judge(problem, &features, &settings, found);
                }
                assert!((a.primal - b.primal).abs() <= 2e-8 * a.primal);
            }
        }
    }
}

#[test]
fn value_is_that_of_a_slow_reference() {
    for seed in 0..4 {
        let (design, y) = RandomProblem { n: 24, p: 6, density: 0.8, noise: 0.2, seed }.draw();
        let problem = Problem::new(&design, &y, None).unwrap();
        for bias in BIASES {
            for cost in [0.1, 2.0] {
                let settings = settings(cost, bias);
                let found = solve(&problem, &all(&problem), &settings);
                let slow = reference(&problem, &all(&problem), &settings, 300);
                assert!(found.dual <= slow * (1.0 + 1e-12), "{bias:?}: bound {} above {slow}", found.dual);
                assert!(
                    (found.primal - slow).abs() <= 1e-7 * slow,
                    "{bias:?}, C = {cost}: {} and {slow}",
                    found.primal
                );
            }
        }
    }
}

#[test]
fn weight_0_is_a_row_gone_and_weight_2_a_row_twice() {
    let (design, y) = RandomProblem { n: 20, p: 12, density: 1.0, noise: 0.2, seed: 3 }.draw();
    let weights: Vec<f64> = (0..20).map(|i| [1.0, 0.0, 2.0][i % 3]).collect();
    let times: Vec<usize> = (0..20).flat_map(|i| vec![i; weights[i] as usize]).collect();
    let copied = design.select_samples(&times);
    let labels: Vec<f64> = times.iter().map(|&i| y[i]).collect();
    let weighted = Problem::new(&design, &y, Some(&weights)).unwrap();
    let repeated = Problem::new(&*copied, &labels, None).unwrap();
    for bias in BIASES {
        let settings = settings(0.7, bias);
        let features = all(&weighted);
        let (a, b) = (solve(&weighted, &features, &settings), solve(&repeated, &features, &settings));
        assert!((a.primal - b.primal).abs() <= 1e-7 * a.primal, "{bias:?}: {} and {}", a.primal, b.primal);
    }
}

/// 40 samples, 600 features: most are left out on the way.
#[test]
fn features_left_out_are_not_of_the_solution() {
    for seed in 0..3 {
        let (design, y) = RandomProblem { n: 40, p: 600, density: 1.0, noise: 0.1, seed }.draw();
        let problem = Problem::new(&design, &y, None).unwrap();
        for bias in BIASES {
            let settings = SvmSettings { tolerance: 1e-10, ..settings(0.5, bias) };
            let found = solve(&problem, &all(&problem), &settings);
            judge(&problem, &all(&problem), &settings, &found);
            assert_eq!(found.status, Status::Optimal);
            // Those at |c_j| = 1 hold the solution: the machine on them alone has the same value,
            // and on the others a larger one.
            let rows = dense_copy(&design);
            let score = |j: usize| (0..40).map(|i| found.beta[i] * rows[i][j]).sum::<f64>().abs();
            let (held, rest): (Vec<usize>, Vec<usize>) = (0..600).partition(|&j| score(j) >= 1.0 - 1e-4);
            assert!(held.len() < 60);
            let alone = solve(&problem, &held, &settings);
            assert!((alone.primal - found.primal).abs() <= 1e-9 * found.primal);
            let without = solve(&problem, &rest, &settings);
            assert!(without.dual > found.primal);
        }
    }
}

#[test]
fn copies_of_columns_and_constant_columns_change_nothing() {
    let (design, y) = RandomProblem { n: 30, p: 10, density: 1.0, noise: 0.2, seed: 5 }.draw();
    let mut values = design.values().to_vec();
    values.extend_from_slice(&design.values()[..30 * 4]);
    values.extend([1.0; 30]);
    values.extend([0.0; 30]);
    let more = DenseDesign::new(30, 16, values).unwrap();
    let (problem, wider) = (Problem::new(&design, &y, None).unwrap(), Problem::new(&more, &y, None).unwrap());
    for bias in [Bias::Free, Bias::Penalised(2.0)] {
        for cost in [0.3, 30.0] {
            let settings = settings(cost, bias);
            let (a, b) = (solve(&problem, &all(&problem), &settings), solve(&wider, &all(&wider), &settings));
            judge(&wider, &all(&wider), &settings, &b);
            assert_eq!((a.status, b.status), (Status::Optimal, Status::Optimal), "{bias:?}, C = {cost}");
            // A constant column of value 1 costs more than either bias.
            assert!((a.primal - b.primal).abs() <= 2e-8 * a.primal, "{bias:?}: {} and {}", a.primal, b.primal);
            assert_eq!(b.weights[15], 0.0);
        }
    }
}

#[test]
fn nothing_is_chosen_at_a_small_cost() {
    let (design, y) = RandomProblem { n: 21, p: 15, density: 1.0, noise: 0.3, seed: 8 }.draw();
    let weights: Vec<f64> = (0..21).map(|i| if i % 2 == 0 { 1.0 } else { 1.5 }).collect();
    let problem = Problem::new(&design, &y, Some(&weights)).unwrap();
    for bias in BIASES {
        let settings = settings(1e-3, bias);
        let found = solve(&problem, &all(&problem), &settings);
        judge(&problem, &all(&problem), &settings, &found);
        assert_eq!(found.status, Status::Optimal);
        assert!(found.weights.iter().all(|w| *w == 0.0), "{bias:?}: {:?}", found.weights);
        // At w = 0 the best free bias is the weighted mean of the labels; a penalised one is 0
        // here.
        let mean = y.iter().zip(&weights).map(|(y, c)| y * c).sum::<f64>() / weights.iter().sum::<f64>();
        let expected = if bias == Bias::Free { mean } else { 0.0 };
        assert!((found.bias - expected).abs() <= 1e-12, "{bias:?}: {} for {expected}", found.bias);
    }
}

#[test]
fn separable_data_at_a_large_cost() {
    let (design, y) = RandomProblem { n: 30, p: 80, density: 1.0, noise: 0.0, seed: 2 }.draw();
    let problem = Problem::new(&design, &y, None).unwrap();
    for bias in BIASES {
        for cost in [1e2, 1e3] {
            let settings = SvmSettings { tolerance: 1e-6, ..settings(cost, bias) };
            let found = solve(&problem, &all(&problem), &settings);
            judge(&problem, &all(&problem), &settings, &found);
            assert_eq!(found.status, Status::Optimal, "{bias:?}, C = {cost}, gap {}", found.gap());
        }
    }
}

#[test]
fn two_samples_and_one_feature() {
    let y = [1.0, -1.0];
    for (values, cost) in [([2.0, -1.0], 3.0), ([1.0, 1.0], 1.0), ([0.0, 0.0], 1.0), ([1.0, 3.0], 50.0)] {
        let design = DenseDesign::new(2, 1, values.to_vec()).unwrap();
        let problem = Problem::new(&design, &y, None).unwrap();
        for bias in BIASES {
            let settings = settings(cost, bias);
            let found = solve(&problem, &[0], &settings);
            judge(&problem, &[0], &settings, &found);
            assert_eq!(found.status, Status::Optimal);
            let slow = reference(&problem, &[0], &settings, 3000);
            assert!((found.primal - slow).abs() <= 1e-6 * slow, "{values:?}, {bias:?}: {} and {slow}", found.primal);
            let nothing = solve(&problem, &[], &settings);
            judge(&problem, &[], &settings, &nothing);
            assert_eq!(nothing.status, Status::Optimal);
        }
    }
}

#[test]
fn a_warm_start_ends_at_the_same_value() {
    let (design, y) = RandomProblem { n: 60, p: 200, density: 0.3, noise: 0.1, seed: 4 }.draw_sparse();
    let problem = Problem::new(&design, &y, None).unwrap();
    for bias in BIASES {
        let mut last: Option<DualSolution> = None;
        for cost in [0.05, 0.2, 1.0, 5.0] {
            let settings = settings(cost, bias);
            let warm = squared_hinge(&problem, &all(&problem), &settings, last.as_ref(), &Clock::unlimited()).unwrap();
            judge(&problem, &all(&problem), &settings, &warm);
            assert_eq!(warm.status, Status::Optimal);
            let cold = solve(&problem, &all(&problem), &settings);
            assert!((warm.primal - cold.primal).abs() <= 2e-8 * cold.primal);
            last = Some(warm);
        }
    }
}

#[test]
fn limits_are_statuses_with_a_feasible_bound() {
    let (design, y) = RandomProblem { n: 50, p: 300, density: 1.0, noise: 0.2, seed: 6 }.draw();
    let problem = Problem::new(&design, &y, None).unwrap();
    for bias in BIASES {
        let settings = settings(10.0, bias);
        let best = solve(&problem, &all(&problem), &settings).primal;
        for allowed in 0..6 {
            let clock = Clock::of_questions(allowed);
            let found = squared_hinge(&problem, &all(&problem), &settings, None, &clock).unwrap();
            assert_eq!(found.status, Status::TimeLimit, "{bias:?}");
            judge(&problem, &all(&problem), &settings, &found);
            assert!(found.dual > 0.0 && found.dual <= best && found.primal >= best * (1.0 - 1e-8));
        }
        let few = SvmSettings { max_epochs: 2, ..settings.clone() };
        let found = solve(&problem, &all(&problem), &few);
        assert_eq!(found.status, Status::CallLimit);
        judge(&problem, &all(&problem), &few, &found);
    }
}

#[test]
fn a_setting_out_of_range_is_an_error() {
    let design = SparseDesign::new(2, vec![0, 1], vec![0], vec![1.0]).unwrap();
    let problem = Problem::new(&design, &[1.0, -1.0], None).unwrap();
    let found = squared_hinge(&problem, &[0], &settings(-1.0, Bias::Free), None, &Clock::unlimited());
    assert!(matches!(found, Err(Error::Setting { .. })));
}
