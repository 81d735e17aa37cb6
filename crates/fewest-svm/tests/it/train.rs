//! The one entry for training: every shape of data reaches a tight gap, whichever engine it goes
//! to.

use fewest_svm::dual::BoxDual;
use fewest_svm::dual::train::train;
use fewest_svm::{Bias, Clock, DenseDesign, Design, Kernel, Loss, Problem, SvmSettings};
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
                let found = train(
                    design,
                    &features,
                    &labels,
                    problem.weights(),
                    Kernel::Linear,
                    &settings,
                    &Clock::unlimited(),
                )
                .unwrap();
                assert!(found.gap() <= 1e-8, "{n} {p} {loss:?} {bias:?} C {cost}: {} {:?}", found.gap(), found.status);
                let dual = BoxDual::new(&labels, problem.weights(), &settings);
                assert_kkt_linear(design, &features, &dual, &found, 2e-8);
            }
        }
    }
}

/// Where all variables may sit at a bound, samples are zero or there are fewer of them than
/// features.
#[test]
fn the_smallest_problems_reach_their_gap() {
    for seed in 0..4000 {
        let n = 2 + seed as usize % 5;
        let draw = RandomProblem { n, p: 1 + seed as usize / 5 % 4, density: 0.7, noise: 0.3, seed };
        let (design, labels) = if seed % 2 == 0 { draw.draw() } else { zero_first(&draw) };
        let problem = Problem::new(&design, &labels, None).unwrap();
        let features: Vec<usize> = (0..draw.p).collect();
        let loss = if seed % 3 == 0 { Loss::SquaredHinge } else { Loss::Hinge };
        let bias = [Bias::Free, Bias::None, Bias::Penalised(0.5), Bias::Penalised(1.5), Bias::Penalised(10.0)];
        let cost = [1e-3, 0.03, 1.0, 30.0, 1000.0][seed as usize / 7 % 5];
        let settings = SvmSettings { cost, loss, bias: bias[seed as usize / 3 % 5], ..SvmSettings::default() };
        let weights = problem.weights();
        let found =
            train(&design, &features, &labels, weights, Kernel::Linear, &settings, &Clock::unlimited()).unwrap();
        assert!(found.gap() <= 1e-6, "seed {seed}, {settings:?}: {} {:?}", found.gap(), found.status);
        let dual = BoxDual::new(&labels, weights, &settings);
        assert_kkt_linear(&design, &features, &dual, &found, 2e-6);
    }
}

/// The drawn problem with a first sample of zeros.
fn zero_first(draw: &RandomProblem) -> (DenseDesign<'static>, Vec<f64>) {
    let (design, labels) = draw.draw();
    let mut values = Vec::new();
    for j in 0..draw.p {
        let mut column = vec![0.0; draw.n];
        design.add_column(j, 1.0, &mut column);
        column[0] = 0.0;
        values.extend(column);
    }
    (DenseDesign::new(draw.n, draw.p, values).unwrap(), labels)
}

#[test]
fn a_precomputed_kernel_equals_its_own_kernel() {
    let (design, labels) = RandomProblem { n: 40, p: 5, density: 1.0, noise: 0.1, seed: 3 }.draw();
    let problem = Problem::new(&design, &labels, None).unwrap();
    let features: Vec<usize> = (0..5).collect();
    let kernel = Kernel::Sigmoid { gamma: 0.01, coef0: 0.1 };
    let matrix = gram(&problem, &features, &kernel);
    let ready = DenseDesign::new(40, 40, matrix.concat()).unwrap();
    let settings = SvmSettings { tolerance: 1e-9, ..SvmSettings::default() };
    let solve = |design: &dyn Design, kernel: Kernel| {
        let all: Vec<usize> = (0..design.n_features()).collect();
        train(design, &all, &labels, problem.weights(), kernel, &settings, &Clock::unlimited()).unwrap()
    };
    let (a, b) = (solve(&design, kernel), solve(&ready, Kernel::Precomputed));
    assert!((a.primal - b.primal).abs() <= 1e-8 * a.primal, "{} {}", a.primal, b.primal);
    assert_kkt_kernel(&matrix, &BoxDual::new(&labels, problem.weights(), &settings), &b, 2e-9);
    let error =
        train(&design, &features, &labels, problem.weights(), Kernel::Precomputed, &settings, &Clock::unlimited());
    assert!(error.unwrap_err().to_string().contains("needs 40 columns"));
}
