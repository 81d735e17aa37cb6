//! The one entry for training: every shape of data reaches a tight gap, whichever engine it goes
//! to.

use fewest::dual::BoxDual;
use fewest::dual::train::train;
use fewest::{Bias, Design, Kernel, Loss, Problem, SvmSettings};
use fewest_testing::{RandomProblem, assert_kkt_kernel, assert_kkt_linear, gram};

#[test]
fn linear_machines_of_every_shape() {
    // Dense and wide: Gram. Dense and tall, sparse: rows. Sparse, wide and a large cost: rows, then
    // Gram.
    for (n, p, density, noise) in [(40, 90, 1.0, 0.1), (300, 6, 1.0, 0.2), (150, 200, 0.05, 0.2), (60, 12, 0.3, 0.1)] {
        let draw = RandomProblem { n, p, density, noise, seed: n as u64 };
        let (dense, labels) = draw.draw();
        let (sparse, _) = draw.draw_sparse();
        let design: &dyn Design = if density < 1.0 { &sparse } else { &dense };
        let problem = Problem::new(design, &labels, None).unwrap();
        // Every second feature, last first: the weights follow the order asked for.
        let features: Vec<usize> = (0..p).step_by(2).rev().collect();
        for (loss, bias) in [
            (Loss::Hinge, Bias::Free),
            (Loss::Hinge, Bias::Penalised(2.0)),
            (Loss::SquaredHinge, Bias::Free),
            (Loss::SquaredHinge, Bias::None),
        ] {
            for cost in [0.01, 1.0, 1000.0] {
                let settings = SvmSettings { cost, loss, bias, tolerance: 1e-8, ..SvmSettings::default() };
                let found =
                    train(design, &features, &labels, problem.weights(), Kernel::Linear, &settings, &mut || None)
                        .unwrap();
                assert!(found.gap() <= 1e-8, "{n} {p} {loss:?} {bias:?} C {cost}: {} {:?}", found.gap(), found.status);
                let dual = BoxDual::new(&labels, problem.weights(), &settings);
                assert_kkt_linear(design, &features, &dual, &found, 2e-8);
            }
        }
    }
}

#[test]
fn a_precomputed_kernel_equals_its_own_kernel() {
    let (design, labels) = RandomProblem { n: 40, p: 5, density: 1.0, noise: 0.1, seed: 3 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let features: Vec<usize> = (0..5).collect();
    let kernel = Kernel::Sigmoid { gamma: 0.01, coef0: 0.1 };
    let matrix = gram(&problem, &features, &kernel);
    let ready = fewest::DenseDesign::new(40, 40, matrix.concat()).unwrap();
    let settings = SvmSettings { tolerance: 1e-9, ..SvmSettings::default() };
    let solve = |design: &dyn Design, kernel: Kernel| {
        let all: Vec<usize> = (0..design.n_features()).collect();
        train(design, &all, &labels, problem.weights(), kernel, &settings, &mut || None).unwrap()
    };
    let (a, b) = (solve(&design, kernel), solve(&ready, Kernel::Precomputed));
    assert!((a.primal - b.primal).abs() <= 1e-8 * a.primal, "{} {}", a.primal, b.primal);
    assert_kkt_kernel(&matrix, &BoxDual::new(&labels, problem.weights(), &settings), &b, 2e-9);
    let error = train(&design, &features, &labels, problem.weights(), Kernel::Precomputed, &settings, &mut || None);
    assert!(error.unwrap_err().to_string().contains("needs 40 columns"));
}
