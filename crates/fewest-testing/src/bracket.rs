//! The value of an SVM on a subset, held between a primal and a dual point that are judged here
//! from their definitions.

use fewest::dual::{BoxDual, train::train};
use fewest::{Bias, Clock, Kernel, Loss, Problem, Subset, SvmSettings};

use crate::dense_copy;

/// The optimal value lies between these.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bracket {
    /// Value of a feasible dual point.
    pub lower: f64,
    /// Value of a primal point.
    pub upper: f64,
}

/// Passes that each training may take.
const EPOCHS: u64 = 2_000;

/// Brackets the optimum on a subset, prices included, by trainings on several equivalent forms of
/// the problem: as it is, and with a free bias also with columns moved to mean 0. Both values are
/// recomputed from w, b and beta.
pub fn bracket(problem: &Problem<'_>, subset: &Subset, svm: &SvmSettings, penalty: &[f64]) -> Bracket {
    let features: Vec<usize> = subset.iter().collect();
    let price: f64 = features.iter().filter_map(|&j| penalty.get(j)).sum();
    let rows = dense_copy(problem.design());
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| features.iter().map(|&j| row[j]).collect()).collect();
    let mut best = Bracket { lower: 0.0, upper: f64::INFINITY };
    for tolerance in [1e-9, 1e-12] {
        for centred in [svm.bias == Bias::Free, false] {
            let found = attempt(&rows, problem, &SvmSettings { tolerance, max_epochs: EPOCHS, ..svm.clone() }, centred);
            best = Bracket { lower: best.lower.max(found.lower), upper: best.upper.min(found.upper) };
            if best.upper - best.lower <= 1e-9 * best.upper {
                return Bracket { lower: best.lower + price, upper: best.upper + price };
            }
        }
    }
    Bracket { lower: best.lower + price, upper: best.upper + price }
}

fn attempt(rows: &[Vec<f64>], problem: &Problem<'_>, svm: &SvmSettings, centred: bool) -> Bracket {
    let (n, m) = (rows.len(), rows[0].len());
    let mean = |k: usize| if centred { rows.iter().map(|row| row[k]).sum::<f64>() / n as f64 } else { 0.0 };
    let means: Vec<f64> = (0..m).map(mean).collect();
    let moved: Vec<Vec<f64>> = rows.iter().map(|row| row.iter().zip(&means).map(|(x, m)| x - m).collect()).collect();
    let columns: Vec<f64> = (0..m).flat_map(|k| moved.iter().map(move |row| row[k])).collect();
    let design = fewest::DenseDesign::new(n, m, columns).expect("n m values");
    let (y, features) = (problem.labels(), (0..m).collect::<Vec<usize>>());
    let trained = train(&design, &features, y, problem.weights(), Kernel::Linear, svm, &Clock::unlimited());
    let Ok(trained) = trained else { return Bracket { lower: 0.0, upper: f64::INFINITY } };
    let dual = BoxDual::new(y, problem.weights(), svm);
    Bracket {
        lower: dual_value(&moved, &dual, &trained.beta),
        upper: primal_value(&moved, &dual, &trained.weights, trained.bias),
    }
}

/// The primal objective at w and b.
fn primal_value(rows: &[Vec<f64>], dual: &BoxDual, w: &[f64], bias: f64) -> f64 {
    let held = match dual.bias {
        Bias::Penalised(s) => 0.5 * (bias / s).powi(2),
        Bias::Free | Bias::None => 0.0,
    };
    let loss = |i: usize| {
        let score = rows[i].iter().zip(w).map(|(x, w)| x * w).sum::<f64>() + bias;
        let slack = (1.0 - dual.y[i] * score).max(0.0);
        dual.cost[i] * if dual.loss == Loss::Hinge { slack } else { slack * slack }
    };
    0.5 * w.iter().map(|w| w * w).sum::<f64>() + held + (0..rows.len()).map(loss).sum::<f64>()
}

/// The dual objective at beta; minus infinity where it is not feasible.
fn dual_value(rows: &[Vec<f64>], dual: &BoxDual, beta: &[f64]) -> f64 {
    let sum: f64 = beta.iter().sum();
    let size: f64 = beta.iter().map(|b| b.abs()).sum();
    let inside = |i: usize| {
        let alpha = dual.y[i] * beta[i];
        let most = if dual.loss == Loss::Hinge { dual.cost[i] } else { f64::INFINITY };
        alpha >= 0.0 && alpha <= most && (dual.cost[i] > 0.0 || alpha == 0.0)
    };
    if !(0..beta.len()).all(inside) || (dual.bias == Bias::Free && sum.abs() > 1e-13 * size) {
        return f64::NEG_INFINITY;
    }
    let weight = |k: usize| rows.iter().zip(beta).map(|(row, b)| row[k] * b).sum::<f64>();
    let norm: f64 = (0..rows[0].len()).map(weight).map(|w| w * w).sum();
    let ridge: f64 = beta.iter().zip(&dual.ridge).map(|(b, r)| r * b * b).sum();
    size - 0.5 * (norm + dual.bias_square() * sum * sum + ridge)
}
