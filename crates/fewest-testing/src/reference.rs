//! A slow solver of the SVM dual to compare optimal values with.

use fewest::Bias;
use fewest::dual::BoxDual;

/// Optimum of a dual problem, as found by [`reference()`].
#[derive(Debug, Clone)]
pub struct Reference {
    /// beta, feasible up to rounding, length n.
    pub beta: Vec<f64>,
    /// Dual objective at beta.
    pub dual: f64,
    /// Largest violation of the optimality conditions that was left.
    pub residual: f64,
}

/// Maximises the dual of [`BoxDual`] with kernel matrix `gram` (n rows of n) by exact steps along
/// the most violating pair (free bias) or coordinate (otherwise), with the gradient computed again
/// from its definition every 1000 steps, until the violation is below 1e-12 or `steps` are used up.
pub fn reference(dual: &BoxDual, gram: &[Vec<f64>], steps: usize) -> Reference {
    let n = dual.len();
    let shift = match dual.bias {
        Bias::Penalised(s) => s * s,
        Bias::Free | Bias::None => 0.0,
    };
    let entry = |i: usize, k: usize| gram[i][k] + shift + if i == k { dual.ridge[i] } else { 0.0 };
    let slope_at = |beta: &[f64], i: usize| dual.y[i] - (0..n).map(|k| entry(i, k) * beta[k]).sum::<f64>();
    let mut beta = vec![0.0; n];
    let (mut slope, mut residual) = (vec![0.0; n], f64::INFINITY);
    for step in 0..steps {
        if step % 1000 == 0 {
            slope = (0..n).map(|i| slope_at(&beta, i)).collect();
        }
        let up = (0..n).filter(|&i| beta[i] < dual.upper[i]).max_by(|&a, &b| slope[a].total_cmp(&slope[b]));
        let low = (0..n).filter(|&i| beta[i] > dual.lower[i]).min_by(|&a, &b| slope[a].total_cmp(&slope[b]));
        let (rise, fall) = (up.map_or(0.0, |i| slope[i]), low.map_or(0.0, |k| -slope[k]));
        // (coordinate, direction) pairs that move together, the gain per unit of step, and the
        // curvature.
        let (moves, gain, curvature) = match (dual.bias, up, low) {
            (Bias::Free, Some(i), Some(k)) => {
                (vec![(i, 1.0), (k, -1.0)], rise + fall, entry(i, i) + entry(k, k) - 2.0 * entry(i, k))
            }
            (Bias::Free, ..) => (vec![], 0.0, 1.0),
            (_, Some(i), _) if rise >= fall => (vec![(i, 1.0)], rise, entry(i, i)),
            (_, _, Some(k)) => (vec![(k, -1.0)], fall, entry(k, k)),
            (_, Some(_) | None, None) => (vec![], 0.0, 1.0),
        };
        residual = gain.max(0.0);
        if residual < 1e-12 {
            break;
        }
        let room =
            |&(i, sign): &(usize, f64)| if sign > 0.0 { dual.upper[i] - beta[i] } else { beta[i] - dual.lower[i] };
        let step_length = moves.iter().map(room).fold(gain / curvature.max(1e-12), f64::min);
        for (i, sign) in moves {
            beta[i] += sign * step_length;
            for k in 0..n {
                slope[k] -= sign * step_length * entry(i, k);
            }
        }
    }
    let quadratic: f64 = (0..n).map(|i| beta[i] * (dual.y[i] - slope_at(&beta, i))).sum();
    let linear: f64 = (0..n).map(|i| dual.y[i] * beta[i]).sum();
    Reference { dual: linear - 0.5 * quadratic, beta, residual }
}

#[cfg(test)]
mod tests {
    use super::reference;
    use fewest::dual::BoxDual;
    use fewest::{Bias, Loss, SvmSettings};

    /// Two points at -1 and +1 on a line: w = 1, b = 0, alpha = 1/2 each while C allows it, else
    /// alpha = C.
    #[test]
    fn solves_the_two_point_problem_in_closed_form() {
        let gram = vec![vec![1.0, -1.0], vec![-1.0, 1.0]];
        let solve = |cost: f64, loss: Loss, bias: Bias| {
            let settings = SvmSettings { cost, loss, bias, ..SvmSettings::default() };
            reference(&BoxDual::new(&[-1.0, 1.0], &[1.0, 1.0], &settings), &gram, 10_000)
        };
        for bias in [Bias::Free, Bias::Penalised(2.0), Bias::None] {
            let wide = solve(10.0, Loss::Hinge, bias);
            assert!((wide.dual - 0.5).abs() < 1e-10 && wide.residual < 1e-11, "{bias:?}: {wide:?}");
            let narrow = solve(0.1, Loss::Hinge, bias);
            assert!((narrow.dual - (0.2 - 0.02)).abs() < 1e-12, "{bias:?}: {narrow:?}");
            // Squared hinge with alpha_1 = alpha_2 = a: 2 a - 2 a^2 - a^2 / (2 C), so
            // a = 2 / (4 + 1 / C).
            let squared = solve(0.5, Loss::SquaredHinge, bias);
            let a = 2.0 / (4.0 + 2.0);
            assert!((squared.dual - (2.0 * a - 2.0 * a * a - a * a)).abs() < 1e-10, "{bias:?}: {squared:?}");
        }
    }
}
