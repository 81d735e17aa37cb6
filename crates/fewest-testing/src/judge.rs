//! An independent judge of SVM solutions: feasibility, objectives, complementary slackness, each
//! from its definition and without the functions of `fewest::dual::kkt`.

use fewest::dual::{BoxDual, DualSolution};
use fewest::{Bias, Design, Loss};

use crate::dense_copy;

/// Weights `w = sum_i beta_i x_i` on the given features and scores `f_i = w.x_i` (no bias).
pub fn linear_scores(design: &dyn Design, features: &[usize], beta: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let rows = dense_copy(design);
    let weights: Vec<f64> = features.iter().map(|&j| rows.iter().zip(beta).map(|(row, b)| b * row[j]).sum()).collect();
    let scores = rows.iter().map(|row| features.iter().zip(&weights).map(|(&j, w)| w * row[j]).sum()).collect();
    (weights, scores)
}

/// Scores `f_i = sum_k K_ik beta_k` (no bias) of a kernel matrix given as n rows.
pub fn kernel_scores(gram: &[Vec<f64>], beta: &[f64]) -> Vec<f64> {
    gram.iter().map(|row| row.iter().zip(beta).map(|(k, b)| k * b).sum()).collect()
}

/// [`assert_kkt`] for a linear machine; also that its weights are those of its beta.
pub fn assert_kkt_linear(design: &dyn Design, features: &[usize], dual: &BoxDual, solution: &DualSolution, tol: f64) {
    let (weights, scores) = linear_scores(design, features, &solution.beta);
    assert_eq!(solution.weights.len(), weights.len(), "one weight per feature");
    let scale = weights.iter().fold(1.0, |m: f64, w| m.max(w.abs()));
    for (k, (found, want)) in solution.weights.iter().zip(&weights).enumerate() {
        assert!((found - want).abs() <= 1e-8 * scale, "weight {k} is {found}, but beta gives {want}");
    }
    assert_kkt(dual, &scores, solution, tol);
}

/// [`assert_kkt`] for a kernel machine with this kernel matrix.
pub fn assert_kkt_kernel(gram: &[Vec<f64>], dual: &BoxDual, solution: &DualSolution, tol: f64) {
    assert_kkt(dual, &kernel_scores(gram, &solution.beta), solution, tol);
}

/// Panics unless `solution` is feasible, its objectives are those of its beta and bias, and the
/// relative duality gap and the complementary slackness are within `tol`. `scores` are the sums
/// without bias at the solution's beta.
///
/// Slackness is judged in the units of the gap: the gap is a sum of one non-negative term per
/// sample, `C_i loss_i - y_i beta_i (1 - ...)`, so each term must be at most the allowance
/// `tol |primal|`.
pub fn assert_kkt(dual: &BoxDual, scores: &[f64], solution: &DualSolution, tol: f64) {
    let (n, beta) = (dual.len(), &solution.beta);
    assert_eq!(beta.len(), n, "one beta per sample");
    assert_eq!(scores.len(), n, "one score per sample");
    let largest = beta.iter().fold(0.0, |m: f64, b| m.max(b.abs()));
    for i in 0..n {
        let (low, high) = match (dual.y[i] > 0.0, dual.loss) {
            (true, Loss::Hinge) => (0.0, dual.cost[i]),
            (false, Loss::Hinge) => (-dual.cost[i], 0.0),
            (true, Loss::SquaredHinge) => (0.0, if dual.cost[i] > 0.0 { f64::INFINITY } else { 0.0 }),
            (false, Loss::SquaredHinge) => (if dual.cost[i] > 0.0 { f64::NEG_INFINITY } else { 0.0 }, 0.0),
        };
        let slack = 1e-12 * dual.cost[i];
        assert!(beta[i] >= low - slack && beta[i] <= high + slack, "beta {i} is {} outside [{low}, {high}]", beta[i]);
    }
    let sum: f64 = beta.iter().sum();
    let (bias_norm, shift) = match dual.bias {
        Bias::Free => {
            assert!(sum.abs() <= 1e-9 * largest.max(1e-300) * (n as f64), "sum of beta is {sum} with a free bias");
            (0.0, 0.0)
        }
        Bias::Penalised(s) => ((s * sum).powi(2), s * s * sum),
        Bias::None => (0.0, 0.0),
    };
    let bias = solution.bias;
    match dual.bias {
        Bias::Free => {}
        Bias::Penalised(_) => {
            assert!((bias - shift).abs() <= 1e-8 * shift.abs().max(1.0), "bias is {bias}, but beta gives {shift}");
        }
        Bias::None => assert!(bias == 0.0, "bias is {bias}, but there is none"),
    }
    let norm: f64 = beta.iter().zip(scores).map(|(b, f)| b * f).sum::<f64>() + bias_norm;
    let slack = |i: usize| (1.0 - dual.y[i] * (scores[i] + bias)).max(0.0);
    let loss = |i: usize| match dual.loss {
        Loss::Hinge => dual.cost[i] * slack(i),
        Loss::SquaredHinge => dual.cost[i] * slack(i).powi(2),
    };
    let ridge = |i: usize| match dual.loss {
        Loss::SquaredHinge if dual.cost[i] > 0.0 => beta[i] * beta[i] / (2.0 * dual.cost[i]),
        Loss::Hinge | Loss::SquaredHinge => 0.0,
    };
    let primal = 0.5 * norm + (0..n).map(loss).sum::<f64>();
    let value = (0..n).map(|i| dual.y[i] * beta[i] - 0.5 * ridge(i)).sum::<f64>() - 0.5 * norm;
    let scale = primal.abs().max(value.abs()).max(1e-300);
    assert!((solution.primal - primal).abs() <= 1e-9 * scale, "primal is {}, recomputed {primal}", solution.primal);
    assert!((solution.dual - value).abs() <= 1e-9 * scale, "dual is {}, recomputed {value}", solution.dual);
    assert!(value <= primal + 1e-10 * scale, "dual {value} exceeds primal {primal}: not a lower bound");
    assert!(primal - value <= (tol + 1e-10) * scale, "gap {} exceeds {tol}", (primal - value) / scale);
    for i in 0..n {
        // primal - dual = sum_i loss_i + ridge_i / 2 - y_i beta_i (1 - y_i (f_i + b)), each
        // term >= 0.
        let term = loss(i) + 0.5 * ridge(i) - dual.y[i] * beta[i] * (1.0 - dual.y[i] * (scores[i] + bias));
        assert!(term >= -1e-9 * scale, "sample {i} has a negative gap term {term}");
        assert!(term <= (tol + 1e-9) * scale, "complementary slackness of sample {i} is off by {term} of {scale}");
    }
}

#[cfg(test)]
mod tests {
    use super::{assert_kkt_kernel, assert_kkt_linear};
    use crate::{RandomProblem, gram, reference};
    use fewest::dual::{BoxDual, DualSolution, kkt};
    use fewest::{Bias, Kernel, Loss, Problem, Status, SvmSettings};

    #[test]
    fn accepts_reference_optima_and_refuses_spoilt_ones() {
        for (seed, (loss, bias)) in [
            (Loss::Hinge, Bias::Free),
            (Loss::Hinge, Bias::Penalised(2.0)),
            (Loss::SquaredHinge, Bias::Free),
            (Loss::SquaredHinge, Bias::None),
        ]
        .into_iter()
        .enumerate()
        {
            let drawn = RandomProblem { n: 25, p: 6, density: 0.8, noise: 0.2, seed: seed as u64 };
            let (design, labels) = drawn.draw();
            let problem = Problem::new(&design, &labels, None).expect("valid");
            let settings = SvmSettings { cost: 0.7, loss, bias, ..SvmSettings::default() };
            let dual = BoxDual::new(&labels, problem.weights(), &settings);
            let features: Vec<usize> = (0..6).collect();
            let k = gram(&problem, &features, &Kernel::Linear);
            let best = reference(&dual, &k, 200_000);
            let scores = super::kernel_scores(&k, &best.beta);
            let values = kkt::objectives(&dual, &best.beta, &scores);
            let solution = DualSolution {
                weights: super::linear_scores(&design, &features, &best.beta).0,
                beta: best.beta,
                bias: values.bias,
                primal: values.primal,
                dual: values.dual,
                absolute_gap: values.absolute_gap,
                kkt_residual: best.residual,
                iterations: 0,
                status: Status::Optimal,
            };
            assert_kkt_linear(&design, &features, &dual, &solution, 1e-9);
            let refused = |spoil: &dyn Fn(&mut DualSolution)| {
                let mut spoilt = solution.clone();
                spoil(&mut spoilt);
                let (k, dual) = (k.clone(), dual.clone());
                std::panic::catch_unwind(move || assert_kkt_kernel(&k, &dual, &spoilt, 1e-9)).is_err()
            };
            assert!(refused(&|s| s.primal *= 1.0 + 1e-6), "a wrong primal passed");
            assert!(refused(&|s| s.dual += 1e-6), "a wrong dual passed");
            assert!(refused(&|s| s.bias += 0.1), "a wrong bias passed");
            assert!(refused(&|s| s.beta[0] = -labels[0]), "an infeasible beta passed");
        }
    }
}
