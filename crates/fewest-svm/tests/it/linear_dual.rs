//! The linear solvers against each other, against a slow reference, and against what the theory
//! promises.

use fewest_svm::dual::{BoxDual, coordinate, interior, kkt, solve_linear};
use fewest_svm::{Bias, Cancel, Clock, DualSolution, Loss, RowMatrix, Status, SvmSettings};

const LOSSES: [Loss; 2] = [Loss::Hinge, Loss::SquaredHinge];
const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalised(0.7), Bias::None];

/// Seeded numbers in -1..1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

struct Case {
    rows: RowMatrix,
    y: Vec<f64>,
    weights: Vec<f64>,
}

/// n samples of p features with noisy labels; some weights 0, one row all zeros.
fn case(seed: u64, n: usize, p: usize, sparse: bool) -> Case {
    let mut numbers = Numbers(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut values = vec![0.0; n * p];
    let mut y = Vec::new();
    for i in 0..n {
        let row = &mut values[i * p..(i + 1) * p];
        for v in row.iter_mut() {
            let keep = !sparse || numbers.next() > 0.4;
            *v = if keep && i != 1 { numbers.next() } else { 0.0 };
        }
        let clean = row.iter().take(3).sum::<f64>() + 0.2;
        y.push(if clean + 0.5 * numbers.next() > 0.0 { 1.0 } else { -1.0 });
    }
    y[0] = 1.0;
    y[2] = -1.0;
    let weights = (0..n).map(|i| if i % 7 == 3 { 0.0 } else { 1.5 + numbers.next() }).collect();
    Case { rows: matrix(n, p, values, sparse), y, weights }
}

fn matrix(n: usize, p: usize, values: Vec<f64>, sparse: bool) -> RowMatrix {
    if !sparse {
        return RowMatrix::dense(n, p, values);
    }
    let (mut start, mut columns, mut kept) = (vec![0], Vec::new(), Vec::new());
    for i in 0..n {
        for (j, &v) in values[i * p..(i + 1) * p].iter().enumerate() {
            if v != 0.0 {
                columns.push(j as u32);
                kept.push(v);
            }
        }
        start.push(kept.len());
    }
    RowMatrix::sparse(p, start, columns, kept)
}

fn settings(loss: Loss, bias: Bias, cost: f64, tolerance: f64) -> SvmSettings {
    SvmSettings { loss, bias, cost, tolerance, ..SvmSettings::default() }
}

/// Everything a solution claims, checked from its beta alone.
fn check(case: &Case, dual: &BoxDual, s: &SvmSettings, got: &DualSolution, what: &str) {
    assert_eq!(got.status, Status::Optimal, "{what}: gap {:e}", got.gap());
    assert!(got.gap() <= s.tolerance, "{what}: gap {:e}", got.gap());
    assert!(got.primal >= got.dual - 1e-12 * got.primal.abs(), "{what}");
    for i in 0..dual.len() {
        assert!(got.beta[i] >= dual.lower[i] && got.beta[i] <= dual.upper[i], "{what}: beta {i}");
    }
    if s.bias == Bias::Free {
        let size: f64 = got.beta.iter().map(|b| b.abs()).sum();
        assert!(got.beta.iter().sum::<f64>().abs() <= 1e-12 * size.max(1.0), "{what}: sum beta");
    }
    let mut w = vec![0.0; case.rows.n_features()];
    for (i, &b) in got.beta.iter().enumerate() {
        case.rows.row(i).add_to(b, &mut w);
    }
    for (a, b) in w.iter().zip(&got.weights) {
        assert!((a - b).abs() <= 1e-9 * (1.0 + a.abs()), "{what}: w");
    }
    let scores: Vec<f64> = (0..dual.len()).map(|i| case.rows.row(i).dot(&w)).collect();
    let again = kkt::objectives(dual, &got.beta, &scores);
    assert!((again.primal - got.primal).abs() <= 1e-9 * got.primal.abs().max(1e-9), "{what}: primal");
    assert!((again.dual - got.dual).abs() <= 1e-9 * got.primal.abs().max(1e-9), "{what}: dual");
}

#[test]
fn the_solvers_agree_on_every_loss_bias_and_form() {
    let mut seed = 0;
    for loss in LOSSES {
        for bias in BIASES {
            for sparse in [false, true] {
                for cost in [0.01, 1.0, 30.0] {
                    for (n, p) in [(60, 5), (40, 9), (24, 60), (9, 200)] {
                        seed += 1;
                        let case = case(seed, n, p, sparse);
                        let s = settings(loss, bias, cost, 1e-7);
                        let dual = BoxDual::new(&case.y, &case.weights, &s);
                        let what = format!("seed {seed} {loss:?} {bias:?} sparse {sparse} C {cost} {n} x {p}");
                        let coordinate = coordinate::solve(&case.rows, &dual, None, &s, &Clock::unlimited());
                        let interior = interior::solve(&case.rows, &dual, &s, &Clock::unlimited());
                        let linear = solve_linear(&case.rows, &dual, None, None, &s, &Clock::unlimited());
                        let all = [(&coordinate, "coordinate"), (&interior, "interior"), (&linear, "linear")];
                        for (got, name) in all {
                            check(&case, &dual, &s, got, &format!("{name} {what}"));
                            // Any dual value is below any primal value.
                            assert!(got.dual <= coordinate.primal * (1.0 + 1e-12), "{name} {what}");
                            assert!(got.primal >= interior.dual * (1.0 - 1e-12), "{name} {what}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn tight_solutions_satisfy_the_optimality_conditions() {
    for loss in LOSSES {
        for bias in BIASES {
            let case = case(77, 80, 6, false);
            let s = settings(loss, bias, 1.0, 1e-12);
            let dual = BoxDual::new(&case.y, &case.weights, &s);
            let got = solve_linear(&case.rows, &dual, None, None, &s, &Clock::unlimited());
            assert!(got.gap() <= 1e-10, "{loss:?} {bias:?}: gap {:e}", got.gap());
            assert!(got.kkt_residual <= 1e-4, "{loss:?} {bias:?}: residual {:e}", got.kkt_residual);
        }
    }
}

/// Projected gradient on the dual, slow and simple; only without the equality.
#[test]
fn coordinate_descent_reaches_the_optimum_of_projected_gradient() {
    for loss in LOSSES {
        for bias in [Bias::None, Bias::Penalised(1.0)] {
            let case = case(5, 10, 4, false);
            let s = settings(loss, bias, 0.5, 1e-10);
            let dual = BoxDual::new(&case.y, &case.weights, &s);
            let n = dual.len();
            let mut gram = vec![0.0; n * n];
            for i in 0..n {
                let mut x = vec![0.0; 4];
                case.rows.row(i).add_to(1.0, &mut x);
                for j in 0..n {
                    gram[i * n + j] =
                        case.rows.row(j).dot(&x) + dual.bias_square() + if i == j { dual.ridge[i] } else { 0.0 };
                }
            }
            let trace: f64 = (0..n).map(|i| gram[i * n + i]).sum();
            let product = |beta: &[f64], i: usize| (0..n).map(|j| gram[i * n + j] * beta[j]).sum::<f64>();
            let mut beta = vec![0.0; n];
            for _ in 0..200_000 {
                let gradient: Vec<f64> = (0..n).map(|i| dual.y[i] - product(&beta, i)).collect();
                for i in 0..n {
                    beta[i] = (beta[i] + gradient[i] / trace).clamp(dual.lower[i], dual.upper[i]);
                }
            }
            let value: f64 = (0..n).map(|i| beta[i] * (dual.y[i] - 0.5 * product(&beta, i))).sum();
            let got = coordinate::solve(&case.rows, &dual, None, &s, &Clock::unlimited());
            assert!((got.dual - value).abs() <= 1e-8 * value.abs(), "{loss:?} {bias:?}: {} {value}", got.dual);
        }
    }
}

#[test]
fn a_warm_start_at_the_optimum_is_accepted_at_once() {
    for loss in LOSSES {
        for bias in BIASES {
            let case = case(9, 50, 8, true);
            let s = settings(loss, bias, 1.0, 1e-8);
            let dual = BoxDual::new(&case.y, &case.weights, &s);
            let first = coordinate::solve(&case.rows, &dual, None, &s, &Clock::unlimited());
            let again = coordinate::solve(&case.rows, &dual, Some(&first.beta), &s, &Clock::unlimited());
            assert_eq!(again.iterations, 0, "{loss:?} {bias:?}");
            check(&case, &dual, &s, &again, "warm");
            // Any start is enough, feasible or not.
            let wild: Vec<f64> = (0..50).map(|i| f64::from(i) - 20.0).collect();
            let wild = solve_linear(&case.rows, &dual, Some(&wild), None, &s, &Clock::unlimited());
            check(&case, &dual, &s, &wild, "wild start");
        }
    }
}

#[test]
fn a_stop_is_obeyed_at_once_with_a_true_gap() {
    for loss in LOSSES {
        for bias in BIASES {
            let case = case(3, 60, 6, false);
            let s = settings(loss, bias, 100.0, 1e-10);
            let dual = BoxDual::new(&case.y, &case.weights, &s);
            let optimum = solve_linear(&case.rows, &dual, None, None, &s, &Clock::unlimited());
            let cancel = Cancel::default();
            cancel.cancel();
            let (stop, later) = (Clock::of(cancel, None), Clock::of_questions(3));
            let stopped = [
                (coordinate::solve(&case.rows, &dual, None, &s, &stop), Status::Cancelled),
                (interior::solve(&case.rows, &dual, &s, &stop), Status::Cancelled),
                (solve_linear(&case.rows, &dual, None, None, &s, &stop), Status::Cancelled),
                (coordinate::solve(&case.rows, &dual, None, &s, &later), Status::TimeLimit),
            ];
            for (got, status) in stopped {
                assert_eq!(got.status, status, "{loss:?} {bias:?}");
                assert!(got.iterations <= 4);
                assert!(got.dual <= optimum.primal && got.primal >= optimum.dual, "{loss:?} {bias:?}");
            }
        }
    }
}

#[test]
fn the_cap_on_epochs_is_a_status() {
    let case = case(4, 60, 6, false);
    let s = SvmSettings { max_epochs: 2, ..settings(Loss::Hinge, Bias::Free, 100.0, 1e-10) };
    let dual = BoxDual::new(&case.y, &case.weights, &s);
    assert_eq!(coordinate::solve(&case.rows, &dual, None, &s, &Clock::unlimited()).status, Status::CallLimit);
    assert_eq!(solve_linear(&case.rows, &dual, None, None, &s, &Clock::unlimited()).status, Status::CallLimit);
}

#[test]
fn an_unreachable_tolerance_ends_near_the_optimum() {
    for loss in LOSSES {
        for (n, p) in [(60, 5), (12, 100)] {
            let case = case(8, n, p, false);
            let s = SvmSettings { max_epochs: 20_000, ..settings(loss, Bias::Free, 1.0, 1e-300) };
            let dual = BoxDual::new(&case.y, &case.weights, &s);
            let got = solve_linear(&case.rows, &dual, None, None, &s, &Clock::unlimited());
            assert!(got.gap() < 1e-9, "{loss:?} {n} x {p}: gap {:e} {:?}", got.gap(), got.status);
            assert_eq!(got.status == Status::Optimal, got.gap() <= s.tolerance, "{loss:?} {n} x {p}");
        }
    }
}

#[test]
fn a_row_twice_is_a_row_of_weight_two() {
    for loss in LOSSES {
        for bias in BIASES {
            let (n, p) = (30, 4);
            let mut numbers = Numbers(12345);
            let values: Vec<f64> = (0..n * p).map(|_| numbers.next()).collect();
            let noisy = |i: usize, noise: f64| if values[i * p] + 0.4 * noise > 0.0 { 1.0 } else { -1.0 };
            let y: Vec<f64> = (0..n).map(|i| noisy(i, numbers.next())).collect();
            let s = settings(loss, bias, 2.0, 1e-9);
            let doubled = RowMatrix::dense(2 * n, p, [values.clone(), values.clone()].concat());
            let single = RowMatrix::dense(n, p, values.clone());
            let two = BoxDual::new(&[y.clone(), y.clone()].concat(), &vec![1.0; 2 * n], &s);
            let one = BoxDual::new(&y, &vec![2.0; n], &s);
            let two = solve_linear(&doubled, &two, None, None, &s, &Clock::unlimited());
            let one = solve_linear(&single, &one, None, None, &s, &Clock::unlimited());
            assert!((one.primal - two.primal).abs() <= 1e-8 * one.primal, "{loss:?} {bias:?}");
        }
    }
}

#[test]
fn degenerate_problems_are_solved() {
    for loss in LOSSES {
        for bias in BIASES {
            let s = settings(loss, bias, 1.0, 1e-8);
            for (y, weights) in [
                (vec![1.0, 1.0, 1.0], vec![1.0; 3]),
                (vec![-1.0, 1.0, -1.0], vec![0.0; 3]),
                (vec![-1.0, 1.0, -1.0], vec![1.0, 0.0, 1.0]),
            ] {
                for values in [vec![0.0; 6], vec![1.0, 2.0, 1.0, 2.0, -1.0, 0.5]] {
                    let rows = RowMatrix::dense(3, 2, values);
                    let dual = BoxDual::new(&y, &weights, &s);
                    let all = [
                        ("coordinate", coordinate::solve(&rows, &dual, None, &s, &Clock::unlimited())),
                        ("interior", interior::solve(&rows, &dual, &s, &Clock::unlimited())),
                        ("linear", solve_linear(&rows, &dual, None, None, &s, &Clock::unlimited())),
                    ];
                    for (name, got) in all {
                        assert!(got.gap() <= 1e-6, "{name} {loss:?} {bias:?} {y:?} {weights:?}: {got:?}");
                    }
                }
            }
        }
    }
}
