//! Quadratic programs over the unit simplex: weights of subsets in multiple kernel learning, of
//! planes in a bundle.
//!
//! Solves   min 1/2 x'Hx + q'x  s.t. x >= 0, sum x = 1, with H (m x m) symmetric positive
//!          semidefinite.
//! Given    H row after row (m m values), q (m), a feasible start.
//! Returns  x, with exact zeros.
//! Steps    1. minimise over the support of x, with sum x kept
//!          2. a step that leaves the simplex ends where the first x_i becomes 0, which leaves the
//!             support
//!          3. at a minimum over the support, the x_i of smallest gradient below the multiplier of
//!             the sum joins it
//!          4. until there is none
//! Source   the primal active-set method, Nocedal and Wright, Numerical Optimization, 2006,
//!          Algorithm 16.3.
//! Cost     per change of the support s^3 / 6 + m s; meant for m up to some hundreds.
//! Fails    never; rounding ends it where no step gains any more.

use crate::kernel::cholesky::Factor;
use crate::simd;

/// Added to the diagonal of H, as a share of its largest entry: a step along a direction in which H
/// is flat is long, not infinite. Repeated steps take the ridge out again.
const RIDGE: f64 = 1e-10;
/// Gradients this close, as a share of the largest difference between two of them, count as equal,
const EQUAL: f64 = 1e-9;
/// and so do gradients this close as a share of the largest of them.
const ROUNDING: f64 = 1e-13;

/// Minimises over the simplex from a feasible `x` (length m: each 0 or more, sum 1).
pub(crate) fn minimise(h: &[f64], q: &[f64], x: &mut [f64]) {
    let m = q.len();
    assert_eq!((h.len(), x.len()), (m * m, m), "H is m x m and x has length m");
    let steepest = q.iter().map(|x| (x - q[0]).abs()).fold(f64::MIN_POSITIVE, f64::max);
    let ridge = RIDGE * (0..m).map(|i| h[i * m + i]).fold(steepest, f64::max);
    let gradient = |x: &[f64]| -> Vec<f64> { (0..m).map(|i| simd::dot(&h[i * m..(i + 1) * m], x) + q[i]).collect() };
    let mut support: Vec<usize> = (0..m).filter(|&i| x[i] > 0.0).collect();
    let mut joined = None;
    // Every minimum over a support is left for a better one, so supports do not come back; the cap
    // is for rounding.
    for _ in 0..20 * m + 100 {
        // Step 1.
        let g = gradient(x);
        let direction = newton(h, m, ridge, &support, &g);
        // Step 2.
        let blocking = support.iter().zip(&direction).filter(|(_, d)| **d < 0.0).map(|(&i, d)| (-x[i] / d, i));
        let (limit, at) = blocking.fold((f64::INFINITY, None), |b, (t, i)| if t < b.0 { (t, Some(i)) } else { b });
        for (&i, d) in support.iter().zip(&direction) {
            x[i] = (x[i] + limit.min(1.0) * d).max(0.0);
        }
        if let Some(i) = at.filter(|_| limit < 1.0) {
            x[i] = 0.0;
            support.retain(|&k| k != i);
            if joined == Some(i) && limit == 0.0 {
                break;
            }
            continue;
        }
        // Step 3.
        let g = gradient(x);
        let multiplier = support.iter().map(|&i| x[i] * g[i]).sum::<f64>();
        let largest = |f: &dyn Fn(f64) -> f64| g.iter().map(|&g| f(g).abs()).fold(0.0, f64::max);
        let equal = EQUAL * largest(&|g| g - multiplier) + ROUNDING * largest(&|g| g);
        if support.iter().any(|&i| (g[i] - multiplier).abs() > equal) {
            continue;
        }
        let outside = (0..m).filter(|i| !support.contains(i) && g[*i] < multiplier - equal);
        let Some(i) = outside.min_by(|&a, &b| g[a].total_cmp(&g[b])) else { break };
        support.push(i);
        joined = Some(i);
    }
    let sum: f64 = x.iter().sum();
    for x in x {
        *x /= sum;
    }
}

/// The step to the minimum over the support with the sum of x kept: the first of the support takes
/// what the others give, so that the curvature between i and j is `H_ij - H_i1 - H_1j + H_11`.
fn newton(h: &[f64], m: usize, ridge: f64, support: &[usize], g: &[f64]) -> Vec<f64> {
    let (first, others) = (support[0], &support[1..]);
    let mut factor = Factor::new(others.len());
    factor.fill(|i, j| {
        let (a, b) = (others[i], others[j]);
        let curvature = h[a * m + b] - h[a * m + first] - h[first * m + b] + h[first * m + first];
        curvature + if i == j { ridge } else { 0.0 }
    });
    factor.decompose();
    let mut step = factor.solve(&others.iter().map(|&i| g[first] - g[i]).collect::<Vec<f64>>());
    step.insert(0, -step.iter().sum::<f64>());
    step
}

#[cfg(test)]
mod tests {
    use super::minimise;

    /// A generator of numbers in (-1, 1).
    fn numbers(mut seed: u64) -> impl FnMut() -> f64 {
        move || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        }
    }

    #[test]
    fn finds_the_point_of_the_simplex_nearest_to_another() {
        // To (1, 0.6): 1/2 |x|^2 - (1, 0.6).x
        let mut x = vec![0.5, 0.5];
        minimise(&[1.0, 0.0, 0.0, 1.0], &[-1.0, -0.6], &mut x);
        assert!((x[0] - 0.7).abs() < 1e-9 && (x[1] - 0.3).abs() < 1e-9, "{x:?}");
    }

    #[test]
    fn satisfies_the_optimality_conditions() {
        let mut next = numbers(3);
        for case in 0..300usize {
            let (m, rank) = (1 + case % 23, 1 + case % 7);
            let root: Vec<f64> = (0..m * rank).map(|_| next()).collect();
            let dot = |i: usize, j: usize| (0..rank).map(|k| root[i * rank + k] * root[j * rank + k]).sum::<f64>();
            // Of low rank where m > rank, with two equal rows now and then.
            let at = |i: usize| if case % 5 == 0 && i == 1 { 0 } else { i };
            let h: Vec<f64> = (0..m * m).map(|ij| dot(at(ij / m), at(ij % m))).collect();
            let q: Vec<f64> = (0..m).map(|_| if case % 3 == 0 { 0.0 } else { next() }).collect();
            let mut x = vec![0.0; m];
            x[case % m] = 1.0;
            minimise(&h, &q, &mut x);
            assert!((x.iter().sum::<f64>() - 1.0).abs() < 1e-12 && x.iter().all(|x| *x >= 0.0), "{x:?}");
            let g: Vec<f64> = (0..m).map(|i| (0..m).map(|j| h[i * m + j] * x[j]).sum::<f64>() + q[i]).collect();
            let least = g.iter().copied().fold(f64::INFINITY, f64::min);
            for i in 0..m {
                assert!(x[i] * (g[i] - least) < 1e-8, "case {case}: x = {x:?}, gradient {g:?}");
            }
        }
    }

    #[test]
    fn a_linear_objective_takes_the_smallest_entry() {
        let mut x = vec![0.25; 4];
        minimise(&[0.0; 16], &[3.0, 1.0, 2.0, 1.5], &mut x);
        assert_eq!(x, [0.0, 1.0, 0.0, 0.0]);
    }
}
