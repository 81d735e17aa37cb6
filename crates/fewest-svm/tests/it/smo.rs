//! SMO, its active-set finish and its row cache against an independent judge and a slow reference.

use fewest_svm::dual::active_set::ActiveSet;
use fewest_svm::dual::{BoxDual, smo};
use fewest_svm::kernel::gram::GramMatrix;
use fewest_svm::kernel::rows::CachedRows;
use fewest_svm::{Bias, Clock, Design, DualSolution, Kernel, Loss, Problem, Status, SvmSettings};
use fewest_testing::{RandomProblem, Rng, assert_kkt_kernel, gram, reference};

const KERNELS: [Kernel; 3] =
    [Kernel::Linear, Kernel::Rbf { gamma: 0.2 }, Kernel::Poly { gamma: 0.3, coef0: 1.0, degree: 2 }];

/// Every kernel, loss and bias on a few problems; `solve` gets the design, the kernel, the dual and
/// the settings.
fn each_case(tolerance: f64, solve: impl Fn(&dyn Design, Kernel, &BoxDual, &SvmSettings) -> DualSolution) {
    let mut rng = Rng::new(5);
    for (n, p, noise) in [(12, 3, 0.2), (30, 8, 0.1), (25, 40, 0.0)] {
        let (design, labels) = RandomProblem { n, p, density: 0.7, noise, seed: 11 + n as u64 }.draw();
        let problem = Problem::new(&design, &labels, None).unwrap();
        let features: Vec<usize> = (0..p).collect();
        let mut weights: Vec<f64> = (0..n).map(|_| 0.25 + 2.0 * rng.unit()).collect();
        weights[n / 3] = 0.0;
        for kernel in KERNELS {
            let matrix = gram(&problem, &features, &kernel);
            for loss in [Loss::Hinge, Loss::SquaredHinge] {
                for bias in [Bias::Free, Bias::Penalised(1.5), Bias::None] {
                    for cost in [0.05, 20.0] {
                        let settings = SvmSettings { cost, loss, bias, tolerance, ..SvmSettings::default() };
                        let dual = BoxDual::new(&labels, &weights, &settings);
                        let found = solve(&design, kernel, &dual, &settings);
                        let case = format!("n {n} p {p} {kernel:?} {loss:?} {bias:?} C {cost}");
                        assert_eq!(found.status, Status::Optimal, "{case}: gap {}", found.gap());
                        assert_kkt_kernel(&matrix, &dual, &found, 2.0 * tolerance);
                        let best = reference(&dual, &matrix, 20_000);
                        assert!(
                            found.primal >= best.dual - 1e-9 * best.dual.abs(),
                            "{case}: primal below the dual optimum"
                        );
                        if best.residual < 1e-9 {
                            let allowed = tolerance * found.primal.abs() + 1e-9;
                            assert!((found.dual - best.dual).abs() <= allowed, "{case}: {} {}", found.dual, best.dual);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn whole_matrix_meets_a_tight_gap_everywhere() {
    each_case(1e-10, |design, kernel, dual, settings| {
        let features: Vec<usize> = (0..design.n_features()).collect();
        let matrix = GramMatrix::linear(design, &features).of_kernel(&kernel);
        smo::solve(&mut &matrix, dual, None, &mut ActiveSet::default(), settings, &Clock::unlimited())
    });
}

#[test]
fn cached_rows_meet_the_f64_gap_with_room_for_few_rows() {
    each_case(1e-7, |design, kernel, dual, settings| {
        let rows = design.rows(&(0..design.n_features()).collect::<Vec<_>>());
        let memory = 3 * 4 * design.n_samples() as u64;
        let mut cached = CachedRows::new(&rows, kernel, memory);
        smo::solve(&mut cached, dual, None, &mut ActiveSet::default(), settings, &Clock::unlimited())
    });
}

#[test]
fn shrinking_changes_nothing() {
    let (design, labels) = RandomProblem { n: 1500, p: 4, density: 1.0, noise: 0.1, seed: 3 }.draw();
    let settings = SvmSettings { cost: 5.0, tolerance: 1e-6, ..SvmSettings::default() };
    let dual = BoxDual::new(&labels, &vec![1.0; 1500], &settings);
    let kernel = Kernel::Rbf { gamma: 0.5 };
    let matrix = GramMatrix::linear(&design, &[0, 1, 2, 3]).of_kernel(&kernel);
    let whole = smo::solve(&mut &matrix, &dual, None, &mut ActiveSet::default(), &settings, &Clock::unlimited());
    let rows = design.rows(&[0, 1, 2, 3]);
    let mut cached = CachedRows::new(&rows, kernel, 4 << 20);
    let shrunk = smo::solve(&mut cached, &dual, None, &mut ActiveSet::default(), &settings, &Clock::unlimited());
    assert_eq!(shrunk.status, Status::Optimal);
    assert!((whole.primal - shrunk.primal).abs() <= 2e-6 * whole.primal, "{} {}", whole.primal, shrunk.primal);
}

#[test]
fn a_warm_start_from_the_solution_needs_no_step() {
    let (design, labels) = RandomProblem { n: 60, p: 100, density: 1.0, noise: 0.1, seed: 9 }.draw();
    let settings = SvmSettings { tolerance: 1e-9, ..SvmSettings::default() };
    let dual = BoxDual::new(&labels, &[1.0; 60], &settings);
    let matrix = GramMatrix::linear(&design, &(0..100).collect::<Vec<_>>());
    let cold = smo::solve(&mut &matrix, &dual, None, &mut ActiveSet::default(), &settings, &Clock::unlimited());
    let again =
        smo::solve(&mut &matrix, &dual, Some(&cold.beta), &mut ActiveSet::default(), &settings, &Clock::unlimited());
    assert_eq!(again.iterations, 0);
    assert!(again.beta.iter().zip(&cold.beta).all(|(a, b)| (a - b).abs() <= 1e-15), "only rounding may move beta");
}

#[test]
fn a_stop_is_obeyed_with_a_true_gap() {
    let (design, labels) = RandomProblem { n: 80, p: 10, density: 1.0, noise: 0.2, seed: 4 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let settings = SvmSettings { tolerance: 1e-9, ..SvmSettings::default() };
    let dual = BoxDual::new(&labels, &[1.0; 80], &settings);
    let rows = design.rows(&(0..10).collect::<Vec<_>>());
    let mut cached = CachedRows::new(&rows, Kernel::Linear, 1 << 20);
    let found = smo::solve(&mut cached, &dual, None, &mut ActiveSet::default(), &settings, &Clock::of_questions(0));
    assert_eq!((found.status, found.iterations), (Status::TimeLimit, 0));
    let features: Vec<usize> = (0..10).collect();
    assert_kkt_kernel(&gram(&problem, &features, &Kernel::Linear), &dual, &found, 1.1);
    let capped = SvmSettings { max_epochs: 1, tolerance: 1e-14, ..settings };
    let mut cached = CachedRows::new(&rows, Kernel::Linear, 1 << 20);
    let found = smo::solve(&mut cached, &dual, None, &mut ActiveSet::default(), &capped, &Clock::unlimited());
    assert_eq!(found.status, Status::CallLimit);
}

#[test]
fn a_doubled_sample_equals_weight_two() {
    let (design, labels) = RandomProblem { n: 20, p: 5, density: 1.0, noise: 0.2, seed: 8 }.draw();
    let settings = SvmSettings { tolerance: 1e-11, ..SvmSettings::default() };
    let twice: Vec<usize> = (0..20).chain([3, 7]).collect();
    let values: Vec<f64> =
        (0..5).flat_map(|j| twice.iter().map(move |&i| (i, j))).map(|(i, j)| design.column(j)[i]).collect();
    let doubled = fewest_svm::DenseDesign::new(22, 5, values).unwrap();
    let doubled_labels: Vec<f64> = twice.iter().map(|&i| labels[i]).collect();
    let mut weights = vec![1.0; 20];
    (weights[3], weights[7]) = (2.0, 2.0);
    let features: Vec<usize> = (0..5).collect();
    let solve = |design: &dyn Design, labels: &[f64], weights: &[f64]| {
        let dual = BoxDual::new(labels, weights, &settings);
        let matrix = GramMatrix::linear(design, &features);
        smo::solve(&mut &matrix, &dual, None, &mut ActiveSet::default(), &settings, &Clock::unlimited()).primal
    };
    let (a, b) = (solve(&design, &labels, &weights), solve(&doubled, &doubled_labels, &[1.0; 22]));
    assert!((a - b).abs() <= 1e-9 * a, "{a} {b}");
}
