//! Truncated Newton for the squared hinge where the kernel matrix K is known by its products alone:
//! columns on other machines, of more samples than an n x n matrix can have.
//!
//! Solves   min 1/2 beta'K beta + R u^2 / 2 + sum_i C_i max(0, 1 - y_i f_i)^2, f = K beta + s u: the
//!          primal at w = sum_i beta_i x_i; s u is the bias (penalised: R = 1, s as in
//!          [`super::Bias`]; free: R = 0, s = 1).
//! Paper    Lin, Weng, Keerthi, JMLR 9 (2008), section 3 (conjugate gradients, to a share of the
//!          gradient); Keerthi, DeCoste, JMLR 6 (2005), section 3 (exact line search); Chapelle,
//!          Neural Computation 19 (2007), section 3 (w kept as beta).
//! Given    `product`: v to K v; the box, an optional start, settings.
//! Returns  beta of the weights, objective, gap.
//! Steps    1. alpha_i = 2 C_i max(0, 1 - y_i f_i); gradient w - sum_i y_i alpha_i x_i, kept as the
//!          coefficients `y alpha - beta`; the gap is half of its square  2. stop on the gap
//!          3. conjugate gradients on the samples within the margin, until a tenth of the gradient
//!          is left  4. exact line search
//! Cost     a product for each step of the conjugate gradients, and two a round; memory: some 16 n
//!          numbers.
//! Differs  from the papers: everything is n numbers, so that what is sent to columns elsewhere and
//!          comes back from them is n long, too; the trust region is the line search.
//! Fails    on errors of `product`; a limit leaves the best point so far, with its gap.

use super::newton::{Sample, line_search};
use super::patience::Approach;
use super::{Bias, BoxDual, SvmSettings, kkt};
use crate::simd::dot;
use crate::{Clock, Error};

/// Share of the gradient that conjugate gradients leave.
const LEFT: f64 = 0.1;
/// Rounds without a better gap before it gives up.
const PATIENCE: u32 = 20;

/// v to K v, both of length n.
pub type Product<'a> = dyn FnMut(&[f64]) -> Result<Vec<f64>, Error> + 'a;

/// The solution that the method returns.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The weights are `sum_i beta_i x_i`; not feasible for the dual.
    pub beta: Vec<f64>,
    /// Primal objective there.
    pub primal: f64,
    /// At least `primal` minus the optimum.
    pub absolute_gap: f64,
    /// Products, or the steps of another engine.
    pub iterations: u64,
}

/// Bytes that a training of n samples takes, about.
pub fn bytes(n: usize) -> u64 {
    16 * 8 * n as u64
}

/// Trains from `start` (length n).
///
/// # Errors
/// Those of `product`.
pub fn solve(
    product: &mut Product<'_>,
    dual: &BoxDual,
    start: Option<&[f64]>,
    settings: &SvmSettings,
    clock: &Clock,
) -> Result<Trained, Error> {
    let mut kernel = Kernel { product, products: 0 };
    let mut machine = Machine::new(dual, start);
    let nothing: f64 = dual.cost.iter().sum();
    let mut best = Trained { beta: vec![0.0; dual.len()], primal: nothing, absolute_gap: nothing, iterations: 0 };
    let mut approach = Approach::new(PATIENCE);
    loop {
        // Step 1.
        machine.update(&mut kernel)?;
        let downhill = machine.downhill(&mut kernel)?;
        let (primal, gap) = machine.judge(&downhill);
        if gap < best.absolute_gap {
            best = Trained { beta: machine.at.beta.clone(), primal, absolute_gap: gap, iterations: 0 };
        }
        // Step 2.
        if approach.due(gap, primal, kernel.products, settings, clock).is_some() {
            return Ok(Trained { iterations: kernel.products, ..best });
        }
        // Step 3.
        let along = machine.direction(downhill, &mut kernel, clock)?;
        // Step 4.
        machine.advance(&along);
    }
}

/// K by its products, which are counted.
struct Kernel<'a> {
    product: &'a mut Product<'a>,
    products: u64,
}

impl Kernel<'_> {
    fn times(&mut self, v: &[f64]) -> Result<Vec<f64>, Error> {
        if v.iter().all(|x| *x == 0.0) {
            return Ok(vec![0.0; v.len()]);
        }
        self.products += 1;
        (self.product)(v)
    }
}

/// Weights `sum_i beta_i x_i` and a bias s u, with the scores of the weights, `K beta`.
#[derive(Clone)]
struct Vector {
    beta: Vec<f64>,
    scores: Vec<f64>,
    u: f64,
}

impl Vector {
    fn square(&self) -> f64 {
        dot(&self.beta, &self.scores) + self.u * self.u
    }

    /// self += t v
    fn add(&mut self, t: f64, v: &Self) {
        let add = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a += t * b);
        add(&mut self.beta, &v.beta);
        add(&mut self.scores, &v.scores);
        self.u += t * v.u;
    }

    /// self = v + t self
    fn turn_to(&mut self, v: &Self, t: f64) {
        let turn = |to: &mut [f64], from: &[f64]| to.iter_mut().zip(from).for_each(|(a, b)| *a = b + t * *a);
        turn(&mut self.beta, &v.beta);
        turn(&mut self.scores, &v.scores);
        self.u = v.u + t * self.u;
    }
}

/// The current weights and bias.
struct Machine<'a> {
    dual: &'a BoxDual,
    samples: Vec<Sample>,
    /// s and R.
    scale: f64,
    penalty: f64,
    at: Vector,
}

impl<'a> Machine<'a> {
    fn new(dual: &'a BoxDual, start: Option<&[f64]>) -> Self {
        let n = dual.len();
        let (scale, penalty) = match dual.bias {
            Bias::Free => (1.0, 0.0),
            Bias::Penalised(s) => (s, 1.0),
            Bias::None => (0.0, 0.0),
        };
        let beta = start.map_or_else(|| vec![0.0; n], <[f64]>::to_vec);
        let u = penalty * scale * beta.iter().sum::<f64>();
        let at = Vector { beta, scores: vec![0.0; n], u };
        let samples = (0..n).map(|i| Sample::of_squared_hinge(dual, i)).collect();
        Self { dual, samples, scale, penalty, at }
    }

    /// The products of what is penalised of two vectors.
    fn penalised(&self, a: &Vector, b: &Vector) -> f64 {
        dot(&a.beta, &b.scores) + self.penalty * a.u * b.u
    }

    /// f_i
    fn decision(&self, i: usize) -> f64 {
        self.at.scores[i] + self.scale * self.at.u
    }

    /// Scores without the rounding errors of updates, and the best of a free bias.
    fn update(&mut self, kernel: &mut Kernel<'_>) -> Result<(), Error> {
        self.at.scores = kernel.times(&self.at.beta)?;
        if self.dual.bias == Bias::Free {
            self.at.u = kkt::best_bias(self.dual, &self.at.scores);
        }
        Ok(())
    }

    /// The gradient, negated.
    fn downhill(&self, kernel: &mut Kernel<'_>) -> Result<Vector, Error> {
        let pull = |(i, sample): (usize, &Sample)| sample.y * sample.alpha(self.decision(i));
        let mut beta: Vec<f64> = self.samples.iter().enumerate().map(pull).collect();
        let u = self.scale * beta.iter().sum::<f64>() - self.penalty * self.at.u;
        beta.iter_mut().zip(&self.at.beta).for_each(|(pull, at)| *pull -= at);
        let scores = kernel.times(&beta)?;
        Ok(Vector { beta, scores, u })
    }

    /// Primal objective, and what it is above the dual one of alpha at most.
    fn judge(&self, downhill: &Vector) -> (f64, f64) {
        let norm = self.penalised(&self.at, &self.at);
        let primal = 0.5 * norm + kkt::total_loss(self.dual, &self.at.scores, self.scale * self.at.u);
        // What is left of sum alpha y counts against a free bias.
        let off = if self.dual.bias == Bias::Free { (downhill.u * self.at.u).abs() } else { 0.0 };
        (primal, 0.5 * downhill.square() + off + kkt::ROUNDING * primal)
    }

    /// Step 3: conjugate gradients on `H d = -gradient`,
    /// `H = 1 + sum {2 C_i x_i x_i' : y_i f_i < 1}`, until a tenth of the gradient is left.
    fn direction(&self, downhill: Vector, kernel: &mut Kernel<'_>, clock: &Clock) -> Result<Vector, Error> {
        let n = self.samples.len();
        let stiffness = |i: usize| {
            let sample = &self.samples[i];
            if sample.alpha(self.decision(i)) > 0.0 { sample.stiffness } else { 0.0 }
        };
        let stiffness: Vec<f64> = (0..n).map(stiffness).collect();
        let mut found = Vector { beta: vec![0.0; n], scores: vec![0.0; n], u: 0.0 };
        let mut square = downhill.square();
        let enough = LEFT * LEFT * square;
        let mut along = downhill.clone();
        let mut rest = downhill;
        loop {
            let (mut curve, mut sum) = (self.penalised(&along, &along), 0.0);
            let mut bent = along.beta.clone();
            for i in 0..n {
                let score = along.scores[i] + self.scale * along.u;
                let pull = stiffness[i] * score;
                bent[i] += pull;
                sum += pull;
                curve += pull * score;
            }
            let step = square / curve;
            if !(step.is_finite() && step > 0.0) {
                return Ok(found);
            }
            found.add(step, &along);
            rest.beta.iter_mut().zip(&bent).for_each(|(rest, bent)| *rest -= step * bent);
            rest.u -= step * (self.penalty * along.u + self.scale * sum);
            if clock.stop().is_some() {
                return Ok(found);
            }
            rest.scores = kernel.times(&rest.beta)?;
            let left = rest.square();
            if left <= enough || !left.is_finite() {
                return Ok(found);
            }
            along.turn_to(&rest, left / square);
            square = left;
        }
    }

    /// Step 4.
    fn advance(&mut self, along: &Vector) {
        let (slope, curve) = (self.penalised(&self.at, along), self.penalised(along, along));
        let decisions: Vec<f64> = (0..self.samples.len()).map(|i| self.decision(i)).collect();
        let moves: Vec<f64> = along.scores.iter().map(|score| score + self.scale * along.u).collect();
        let pull = |(i, sample): (usize, &Sample)| sample.y * moves[i] * sample.alpha(decisions[i]);
        let start = self.samples.iter().enumerate().map(pull).sum::<f64>() - slope;
        let step = line_search(&self.samples, &decisions, &moves, slope, curve, start);
        self.at.add(step, along);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::gram::GramMatrix;
    use crate::{DenseDesign, Loss};
    use fewest_testing::Rng;

    /// The optimum is where the gradient vanishes: beta is y alpha, and with it the gap is closed.
    #[test]
    fn reaches_the_optimum_from_products_alone() {
        let mut rng = Rng::new(5);
        let mut draw = || rng.range(-0.5, 0.5);
        for case in 0..60 {
            let (n, p) = (5 + case, 1 + case % 9);
            let x: Vec<f64> = (0..n * p).map(|_| draw()).collect();
            let y: Vec<f64> = (0..n).map(|i| if x[i] + 0.3 * draw() > 0.0 { 1.0 } else { -1.0 }).collect();
            let weights: Vec<f64> = (0..n).map(|i| [1.0, 0.0, 2.5][i % 3]).collect();
            let bias = [Bias::Free, Bias::Penalised(2.0), Bias::None][case % 3];
            let cost = [0.01, 1.0, 1e4][case / 3 % 3];
            let settings =
                SvmSettings { cost, bias, loss: Loss::SquaredHinge, tolerance: 1e-9, ..SvmSettings::default() };
            let design = DenseDesign::new(n, p, x).expect("finite");
            let gram = GramMatrix::linear(&design, &(0..p).collect::<Vec<_>>());
            let dual = BoxDual::new(&y, &weights, &settings);
            let mut product = |v: &[f64]| Ok((0..n).map(|i| dot(gram.row(i), v)).collect());
            let found = solve(&mut product, &dual, None, &settings, &Clock::unlimited()).expect("no call fails");
            let about = format!("case {case}: {found:?}");
            assert!(found.absolute_gap <= 1e-9 * found.primal, "{about}");
            // Judged by the dual's own judge, at the feasible point nearby.
            let mut beta = found.beta.clone();
            kkt::make_feasible(&dual, &mut beta);
            let scores: Vec<f64> = (0..n).map(|i| dot(gram.row(i), &beta)).collect();
            let judged = kkt::objectives(&dual, &beta, &scores);
            assert!(judged.dual <= found.primal * (1.0 + 1e-12), "{about}: {judged:?}");
            assert!(judged.primal >= found.primal - found.absolute_gap - 1e-12 * found.primal, "{about}: {judged:?}");
            let again =
                solve(&mut product, &dual, Some(&found.beta), &settings, &Clock::unlimited()).expect("no call fails");
            assert!(again.iterations <= 2, "{about}: {again:?}");
        }
    }
}
