//! Multiple kernel learning over the generated subsets: weights mu on the simplex, by two solvers
//! of one problem.
//!
//! Solves   min over mu in the simplex of v(sum_t mu_t d_t), v(z) the optimum of the squared-hinge
//!          SVM on `sqrt(z_j) x_j`: eq. (5) of Tan, Wang, Tsang 2010 with margins of 1 (see
//!          [`super`] for the change of scale).
//! Steps    fast: 1. train at mu  2. gradient `-1/2 sum_{j in d_t} c_j^2` and exact curvature
//!          ([`Machine::curvature`])
//!          3. the minimum of the quadratic model over the simplex ([`simplex_qp`]), and over more
//!          subsets of the current columns  4. backtrack until v falls enough simple: SimpleMKL
//!          (Rakotomamonjy, Bach, Canu, Grandvalet, JMLR 2008, Algorithm 1): 1. train  2. reduced
//!          gradient
//!          3. as long as v falls, go to where the first mu_t becomes 0 and leave it out  4. line
//!             search between
//! Stop     (upper - lower) / upper, the lower value being that of the dual point against the worst
//!          generated subset.
//! Signs    of weights bound each training; a score that they forbid counts as 0.
//! Differs  from SimpleMKL: its line search takes secant steps on the derivative, which every
//!          training gives, in place of Armijo's rule; subsets are warm-started with their last
//!          weights.
//! Fails    never; stops with the gap reached.

use super::machine::MachineAnswer;
use super::machines::Machines;
use super::mixture::{Columns, Level, Point, Subsets, count};
use super::part::{SourceProblem, joint};
use super::tuning::mkl::{BETTER, DUST, INNER, LONG_PATIENCE, MOST_ADDED, PATIENCE, SECANTS};
use crate::bound::saddle::weighted;
use crate::bound::train_bounded;
use crate::dual::DualSolution;
use crate::dual::patience::Patience;
use crate::dual::train::train_linear;
use crate::master::simplex_qp;
use crate::simd;
use crate::{Clock, Design, Memory, SvmSettings, WeightBounds};

/// mu with dust swept away, sum 1.
fn swept(mu: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut mu: Vec<f64> = mu.map(|m| if m > DUST { m } else { 0.0 }).collect();
    let sum: f64 = mu.iter().sum();
    for m in &mut mu {
        *m /= sum;
    }
    mu
}

/// Takes in a gap; whether it no longer improves.
fn ended(patience: &mut Patience, gap: f64) -> bool {
    patience.see(gap);
    patience.is_over()
}

/// Where the fast solver may find more subsets.
pub(super) struct Pool<'a> {
    /// The most violated subset for these scores over the columns, as positions; none when it needs
    /// other columns.
    pub(super) most_violated: &'a dyn Fn(&[f64]) -> Option<Vec<u32>>,
    /// Gap below which none is worth adding.
    pub(super) gap: f64,
}

/// The fast solver, from a feasible `mu`. With a pool, the quadratic model of v seeks subsets too:
/// its minimum over all mixtures of the current columns is what a step aims at, so that a subset
/// does not cost a training.
pub(super) fn fast(
    machine: &mut Machines<'_>,
    subsets: &mut Subsets,
    q: usize,
    mut mu: Vec<f64>,
    tolerance: f64,
    pool: Option<&Pool<'_>>,
    clock: &Clock,
) -> Point {
    // A training of relative gap e leaves the gradient open by about its root.
    let inner = (0.3 * tolerance).powi(2).clamp(1e-14, INNER * tolerance);
    let before = machine.steps();
    let mut z = subsets.mixed(&mu, q);
    let mut answer = machine.train(&z, inner, clock);
    let mut patience = Patience::new(BETTER, PATIENCE);
    loop {
        let squares = subsets.squares(&answer.scores, q);
        let worst = squares.iter().copied().fold(0.0, f64::max);
        let gap = (answer.upper - answer.level.value(worst)) / answer.upper;
        let mut done = gap <= tolerance || mu.len() == 1 || clock.stop().is_some() || ended(&mut patience, gap);
        if !done {
            let (aim, slope) =
                aim(machine, subsets, &At { mu: &mu, z: &z, answer: &answer, squares: &squares }, pool, clock);
            mu.resize(aim.len(), 0.0);
            let mut t = 1.0;
            done = loop {
                let next = swept(mu.iter().zip(&aim).map(|(m, a)| m + t * (a - m)));
                let next_z = subsets.mixed(&next, q);
                let tried = machine.train(&next_z, inner, clock);
                // What the trainings leave open must not refuse a step.
                if tried.lower <= answer.upper + 1e-4 * t * slope + inner * answer.upper {
                    (mu, z, answer) = (next, next_z, tried);
                    break false;
                }
                t *= 0.3;
                if t < 1e-6 || clock.stop().is_some() {
                    answer = machine.train(&z, inner, &Clock::unlimited());
                    break true;
                }
            };
        }
        if done {
            let MachineAnswer { beta, weights, scores, bias, upper, .. } = answer;
            return Point { mu, z, weights, beta, scores, bias, upper, iterations: machine.steps() - before };
        }
    }
}

/// A mixture as the fast solver stands at it.
struct At<'a> {
    mu: &'a [f64],
    z: &'a [f64],
    /// What training at z gave.
    answer: &'a MachineAnswer,
    /// Squared scores of each subset.
    squares: &'a [f64],
}

/// The minimum of the quadratic model of v at mu over the mixtures, and the slope of v towards it.
/// Subsets that the model asks for are added.
fn aim(
    machine: &Machines<'_>,
    subsets: &mut Subsets,
    at: &At<'_>,
    pool: Option<&Pool<'_>>,
    clock: &Clock,
) -> (Vec<f64>, f64) {
    let &At { mu, z, answer, squares } = at;
    let (c, q) = (&answer.scores, z.len());
    let sizes = joint(c, q);
    // Subsets of weight 0 that the gradient keeps there have no part in the step.
    let level: f64 = mu.iter().zip(squares).map(|(m, s)| m * s).sum();
    let mut part: Vec<usize> = (0..mu.len()).filter(|&t| mu[t] > 0.0 || squares[t] >= level).collect();
    let mut curvature = machine.curvature(z);
    for (t, subset) in subsets.iter().enumerate() {
        if part.binary_search(&t).is_ok() {
            curvature.push(subset, c);
        }
    }
    let mut at: Vec<f64> = part.iter().map(|&t| mu[t]).collect();
    let mut down: Vec<f64> = part.iter().map(|&t| -0.5 * squares[t]).collect();
    let mut aim = at.clone();
    for added in 0.. {
        let (h, m) = (curvature.matrix(), part.len());
        let linear: Vec<f64> = (0..m).map(|a| down[a] - simd::dot(&h[a * m..(a + 1) * m], &at)).collect();
        simplex_qp::minimise(&h, &linear, &mut aim);
        let Some(pool) = pool.filter(|_| added < MOST_ADDED && clock.stop().is_none()) else { break };
        // The model's squared scores where it aims: c_j^2 - 2 (V'' (z' - z))_j, summed over problems.
        let mut full = vec![0.0; subsets.len()];
        for (&t, &a) in part.iter().zip(&aim) {
            full[t] = a;
        }
        let there = subsets.mixed(&full, q);
        let v: Vec<f64> = (0..c.len()).map(|k| c[k] * (there[k % q] - z[k % q])).collect();
        let kv = curvature.apply(&v);
        let square = |k: usize| c[k] * c[k] - 2.0 * c[k] * kv[k];
        let expected: Vec<f64> = (0..q).map(|j| (j..c.len()).step_by(q).map(square).sum::<f64>().max(0.0)).collect();
        let scores: Vec<f64> = expected.iter().map(|s| s.sqrt()).collect();
        let Some(subset) = (pool.most_violated)(&scores) else { break };
        let gained: f64 = subset.iter().map(|&k| expected[k as usize]).sum();
        let reached: f64 = there.iter().zip(&expected).map(|(z, s)| z * s).sum();
        if gained - reached <= pool.gap * answer.upper || !subsets.add(subset.clone()) {
            break;
        }
        curvature.push(&subset, c);
        part.push(subsets.len() - 1);
        down.push(-0.5 * subset.iter().map(|&k| sizes[k as usize].powi(2)).sum::<f64>());
        at.push(0.0);
        aim.push(0.0);
    }
    let slope = (0..part.len()).map(|a| down[a] * (aim[a] - at[a])).sum();
    let mut out = vec![0.0; subsets.len()];
    for (&t, &a) in part.iter().zip(&aim) {
        out[t] = a;
    }
    (out, slope)
}

/// SimpleMKL, from a feasible `mu`.
pub(super) struct Simple<'a> {
    /// The current columns of each problem.
    pub(super) designs: &'a [Box<dyn Design + 'a>],
    pub(super) parts: &'a [SourceProblem<'a>],
    pub(super) svm: &'a SvmSettings,
    pub(super) columns: &'a Columns,
    pub(super) subsets: &'a Subsets,
    /// Signs of the weights, by column.
    pub(super) signs: &'a WeightBounds,
}

/// SimpleMKL's training at one mu.
struct Training {
    mu: Vec<f64>,
    z: Vec<f64>,
    /// The dual solution of each problem, and the sum of their values.
    solutions: Vec<DualSolution>,
    upper: f64,
    /// w_j over the columns, by problem.
    weights: Vec<f64>,
    beta: Vec<f64>,
    scores: Vec<f64>,
    squares: Vec<f64>,
    lower: f64,
}

impl Simple<'_> {
    pub(super) fn solve(&self, mu: Vec<f64>, start: Option<&[f64]>, tolerance: f64, clock: &Clock) -> Point {
        // A training of relative gap e leaves the gradient open by about its root.
        let inner = (0.1 * tolerance).powi(2).clamp(1e-13, INNER * tolerance);
        let mut iterations = 0;
        let mut now = self.train(mu, start, inner, &mut iterations, clock);
        let mut patience = Patience::new(BETTER, LONG_PATIENCE);
        loop {
            let gap = (now.upper - now.lower) / now.upper;
            if gap <= tolerance || now.mu.len() == 1 || clock.stop().is_some() || ended(&mut patience, gap) {
                let Training { mu, z, solutions, weights, upper, beta, scores, .. } = now;
                let bias = solutions.iter().map(|solution| solution.bias).collect();
                return Point { mu, z, weights, beta, scores, bias, upper, iterations };
            }
            // Step 2.
            let mut direction = reduced_gradient(&now);
            // Step 3.
            let beyond = loop {
                let limit = reach(&now.mu, &direction);
                if !limit.is_finite() || slope(&now, &direction) >= 0.0 {
                    break None;
                }
                let far = self.step(&now, &direction, limit, inner, &mut iterations, clock);
                if slope(&far, &direction) > 0.0 || clock.stop().is_some() {
                    break Some((limit, far));
                }
                now = far;
                let base = largest(&now.mu);
                let out: Vec<usize> = (0..now.mu.len()).filter(|&t| now.mu[t] == 0.0 && direction[t] < 0.0).collect();
                for t in out {
                    direction[base] += direction[t];
                    direction[t] = 0.0;
                }
            };
            let Some((limit, far)) = beyond else { continue };
            // Step 4: the derivative is below 0 at `now` and above 0 at `far`.
            let (mut low, mut low_slope) = (0.0, slope(&now, &direction));
            let (mut high, mut high_slope) = (limit, slope(&far, &direction));
            let first = low_slope;
            let mut best = None;
            for _ in 0..SECANTS {
                // Secant, kept away from the ends.
                let secant = low + (high - low) * (-low_slope / (high_slope - low_slope)).clamp(0.05, 0.95);
                let tried = self.step(&now, &direction, secant, inner, &mut iterations, clock);
                let derivative = slope(&tried, &direction);
                if derivative > 0.0 {
                    (high, high_slope) = (secant, derivative);
                } else {
                    (low, low_slope) = (secant, derivative);
                }
                let enough = derivative.abs() <= 0.02 * first.abs();
                best = Some(tried);
                if enough || clock.stop().is_some() {
                    break;
                }
            }
            now = best.expect("at least one step was tried");
        }
    }

    fn step(
        &self,
        from: &Training,
        direction: &[f64],
        t: f64,
        inner: f64,
        iterations: &mut u64,
        clock: &Clock,
    ) -> Training {
        let mu = swept(from.mu.iter().zip(direction).map(|(m, d)| m + t * d));
        self.train(mu, Some(&from.beta), inner, iterations, clock)
    }

    fn train(&self, mu: Vec<f64>, start: Option<&[f64]>, inner: f64, iterations: &mut u64, clock: &Clock) -> Training {
        let q = self.columns.features.len();
        let z = self.subsets.mixed(&mu, q);
        let used: Vec<usize> = (0..q).filter(|&k| z[k] > 0.0).collect();
        let factors: Vec<f64> = used.iter().map(|&k| z[k]).collect();
        let settings = SvmSettings { tolerance: inner, ..self.svm.clone() };
        let (mut solutions, mut beta, mut scores) = (Vec::new(), Vec::new(), Vec::new());
        let mut weights = vec![0.0; q * self.parts.len()];
        for (t, ((part, design), rows)) in self.parts.iter().zip(self.designs).zip(self.columns.rows()).enumerate() {
            let design = weighted(&**design, &used, &factors);
            let solution = if self.signs.is_free() {
                let (all, start): (Vec<usize>, _) = ((0..used.len()).collect(), start.map(|beta| part.own(beta)));
                train_linear(&*design, &all, &part.dual, start, &settings, clock)
            } else {
                let (signs, memory) = (self.signs.weighted(&used, &factors), Memory::unlimited());
                let found = train_bounded(&*design, signs, part.of_samples, &settings, &memory, clock);
                found.expect("settings were checked, and memory is not limited")
            };
            *iterations += 1;
            let mut own = rows.combination(&solution.beta);
            count(self.signs, &mut own);
            for ((&k, z), u) in used.iter().zip(&factors).zip(&solution.weights) {
                weights[t * q + k] = z.sqrt() * u;
            }
            beta.extend(&solution.beta);
            scores.extend(own);
            solutions.push(solution);
        }
        let upper = solutions.iter().map(|solution| solution.primal).sum();
        let squares = self.subsets.squares(&scores, q);
        let lower = Level::of_all(self.parts, &beta).value(squares.iter().copied().fold(0.0, f64::max));
        Training { mu, z, solutions, upper, weights, beta, scores, squares, lower }
    }
}

/// dv/dt along the direction.
fn slope(at: &Training, direction: &[f64]) -> f64 {
    -0.5 * at.squares.iter().zip(direction).map(|(s, d)| s * d).sum::<f64>()
}

fn largest(mu: &[f64]) -> usize {
    (0..mu.len()).fold(0, |best, t| if mu[t] > mu[best] { t } else { best })
}

/// Minus the reduced gradient with the largest mu_t as the one that keeps the sum (eq. (12) of
/// SimpleMKL).
fn reduced_gradient(at: &Training) -> Vec<f64> {
    let base = largest(&at.mu);
    let mut direction: Vec<f64> = (0..at.mu.len())
        .map(|t| {
            let down = 0.5 * (at.squares[t] - at.squares[base]);
            if at.mu[t] == 0.0 && down < 0.0 { 0.0 } else { down }
        })
        .collect();
    direction[base] = 0.0;
    direction[base] = -direction.iter().sum::<f64>();
    direction
}

/// How far the direction stays in the simplex.
fn reach(mu: &[f64], direction: &[f64]) -> f64 {
    mu.iter().zip(direction).filter(|(_, d)| **d < 0.0).map(|(m, d)| -m / d).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dual::{Bias, Loss};
    use crate::{Problem, SparseDesign};

    /// A sparse problem of n samples and q features by a small generator.
    fn drawn(n: usize, q: usize, seed: u64) -> (SparseDesign<'static>, Vec<f64>) {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..q {
            for i in 0..n {
                if next() > 0.0 {
                    rows.push(i as u32);
                    values.push(next());
                }
            }
            start.push(rows.len());
        }
        let x = SparseDesign::new(n, start, rows, values).expect("in order");
        let mut scores: Vec<f64> = (0..n).map(|_| 0.3 * next()).collect();
        (0..q).for_each(|j| x.add_column(j, if j % 2 == 0 { 1.0 } else { -0.5 }, &mut scores));
        (x, scores.iter().map(|s| if *s > 0.0 { 1.0 } else { -1.0 }).collect())
    }

    #[test]
    fn both_solvers_agree_and_satisfy_the_optimality_conditions() {
        for (seed, bias) in
            [Bias::None, Bias::Free, Bias::Penalised(2.0), Bias::None, Bias::None].into_iter().enumerate()
        {
            let (x, y) = drawn(60, 12, 17 + seed as u64);
            let problem = Problem::new(&x, &y, None).expect("valid");
            let svm = SvmSettings { cost: 0.5, loss: Loss::SquaredHinge, bias, ..SvmSettings::default() };
            let design = problem.design();
            let parts = SourceProblem::all(vec![(&design, &y, problem.weights())], &svm);
            let mut columns = Columns::new(&parts, &crate::Memory::unlimited());
            columns.gather(&parts, &(0..12).collect::<Vec<usize>>()).expect("in memory");
            let mut subsets = Subsets::default();
            for first in 0..6 {
                subsets.add((0..4).map(|k| (first * 5 + k * k) as u32 % 12).collect());
            }
            let count = subsets.len();
            let start = || {
                let mut mu = vec![0.0; count];
                mu[0] = 1.0;
                mu
            };
            let signs = WeightBounds::default();
            let mut machine = Machines::new(&columns.rows(), &parts, 12, &signs);
            let newton = fast(&mut machine, &mut subsets, 12, start(), 1e-9, None, &Clock::unlimited());
            let designs = [columns.rows()[0].design()];
            let (columns, subsets) = (&columns, &subsets);
            let simple = Simple { designs: &designs, parts: &parts, svm: &svm, columns, subsets, signs: &signs };
            let simple = simple.solve(start(), None, 1e-5, &Clock::unlimited());
            assert!(
                (newton.upper - simple.upper).abs() <= 1e-6 * newton.upper,
                "{} and {}",
                newton.upper,
                simple.upper
            );
            for (name, point, tolerance) in [("fast", &newton, 1e-9), ("simple", &simple, 1e-5)] {
                // mu_t > 0 only where the sum of squares is the largest: the gap counts what is
                // missing to that.
                let squares = subsets.squares(&point.scores, 12);
                let worst = squares.iter().copied().fold(0.0, f64::max);
                let missing: f64 = point.mu.iter().zip(&squares).map(|(m, s)| m * (worst - s)).sum();
                assert!(missing <= 4.0 * tolerance * point.upper, "{name}: {missing} of {}", point.upper);
                assert!((point.mu.iter().sum::<f64>() - 1.0).abs() < 1e-12 && point.mu.iter().all(|m| *m >= 0.0));
                let lower = Level::of_all(&parts, &point.beta).value(worst);
                assert!(lower <= point.upper && point.upper - lower <= 1.1 * tolerance * point.upper, "{name}");
            }
            assert!(
                newton.mu.iter().filter(|m| **m > 0.0).count() > 1,
                "one subset alone shows nothing: {:?}",
                newton.mu
            );
        }
    }
}
