//! Copies of features that mean nothing, and the features that are told apart from theirs.
//!
//! Solves   which features matter, with at most a share q of those selected false, on average.
//! Paper    Candes, Fan, Janson, Lv, JRSS B 80 (2018): model-X knockoffs, second order (section
//!          3.4). Schaefer, Strimmer, SAGMB 4 (2005): shrinkage. Askari, Rebjock, d'Aspremont, El
//!          Ghaoui, SIMODS 3 (2021): step 2 by coordinates. Ren, Barber, JRSS B 86 (2024): several
//!          draws by e-values.
//! Given    n samples of p features; then an importance of each feature and of its copy; q.
//! Steps    1. R, the correlations, shrunk towards 0 by the share that is best on average
//!          2. s with 0 <= s_j <= 1, D = diag(s) <= 2 R: equal entries, min(1, 2 lambda_min(R)),
//!             and where p < n from there on towards the largest sum of the s_j
//!          3. the copy of a sample x is drawn from N(x - D R^-1 x, 2 D - D R^-1 D)
//!          4. W_j = importance of j less that of its copy; T the least t for which
//!             (1 + #{W_j <= -t}) / #{W_j >= t} <= q
//!          5. e_j = p [W_j >= T] / (1 + #{W_j <= -T}), averaged over the draws; the k features of
//!             largest e_j for the largest k whose k-th is at least p / (q k)
//! Bound    E (false / selected) <= q, where features are normal with these correlations, whatever
//!          the importance, as long as it takes a feature and its copy alike. A feature is false
//!          where, given all others, it says nothing of the class.
//! Cost     n p min(n, p) for the model and for each draw; where p < n p^3 for each sweep of step 2,
//!          as many as `SWEEP_WORK` allows; memory 3 n p + 3 min(n, p)^2 numbers.
//! Differs  copies are given the mean and deviation that their features have in the samples. Nothing
//!          is drawn per feature: all copies come from two matrix products. Where p >= n,
//!          R = lambda I + W'W with an n x p matrix W, so that lambda_min(R) = lambda and
//!          R^-1 = (I - W' M^-1 W) / lambda, M = lambda I + W W': no p x p matrix is made.
//! Fails    on memory alone. Asked to stop it ends between products, but not inside the inverse of
//!          a matrix of the size min(n, p).

mod filter;

use crate::kernel::cholesky::lower_factor;
use crate::kernel::gemm::{View, add_product_until};
use crate::kernel::inverse::invert;
use crate::simd;
use crate::{Clock, DenseDesign, Design, Error, Memory, Reserved};
pub use filter::{KnockoffSelection, knockoff_selection};

/// Least eigenvalue that correlations are given: numbers have no more digits.
const FLOOR: f64 = 1e-8;
/// Steps of the power method. It comes from below, so that s is too large where they are too few,
/// and made smaller then.
const POWERS: usize = 200;
/// Sweeps of step 2, at most.
const SWEEPS: i32 = 40;
/// Multiplications of all sweeps, at most: some ten seconds.
const SWEEP_WORK: f64 = 2e10;

/// The law of the copies of some features.
#[derive(Debug)]
pub struct Knockoffs {
    features: Vec<usize>,
    n: usize,
    /// Standardised samples, row after row.
    samples: Vec<f64>,
    /// Mean and deviation of each feature.
    units: Vec<(f64, f64)>,
    /// What each copy is where the noise is 0, row after row.
    centre: Vec<f64>,
    noise: Noise,
    shrinkage: f64,
    /// s by feature.
    separations: Vec<f64>,
    #[expect(dead_code, reason = "gives the bytes back when the model is dropped")]
    taken: Reserved,
}

/// How what a copy is besides its centre is drawn.
#[derive(Debug)]
enum Noise {
    /// Lower triangle L, row after row: `2 D - D R^-1 D = L L'`.
    Factor(Vec<f64>),
    /// `a I + b W' M^-1 W` with `W = c X`: a, b, c and M^-1.
    Samples { a: f64, b: f64, c: f64, inverse: Vec<f64> },
}

/// Features and their copies side by side.
#[derive(Debug)]
pub struct WithCopies {
    /// 2 p columns: the features, then their copies, but for those that changed places.
    pub design: DenseDesign<'static>,
    /// Which pairs changed places, so that no order of columns favours a feature over its copy.
    swapped: Vec<bool>,
}

impl WithCopies {
    /// Whether the pair of each feature changed places.
    pub fn swapped(&self) -> &[bool] {
        &self.swapped
    }

    /// W: the importance of each feature less that of its copy.
    ///
    /// # Panics
    /// Unless there is one importance for each column.
    pub fn statistics(&self, importance: &[f64]) -> Vec<f64> {
        let p = self.swapped.len();
        assert_eq!(importance.len(), 2 * p, "an importance for each column");
        let statistic = |j: usize| importance[j] - importance[p + j];
        self.swapped
            .iter()
            .enumerate()
            .map(|(j, &swapped)| if swapped { -statistic(j) } else { statistic(j) })
            .collect()
    }
}

impl Knockoffs {
    /// Learns the law of these features (none of them constant), all values of which count alike;
    /// none where it was asked to stop.
    ///
    /// # Errors
    /// [`Error::Memory`] where the samples do not fit as a full matrix, several times.
    pub fn new(design: &dyn Design, features: &[usize], memory: &Memory, clock: &Clock) -> Result<Option<Self>, Error> {
        let (n, p) = (design.n_samples(), features.len());
        let small = n.min(p);
        let bytes = 8 * (4 * n * p + 6 * small * small) as u64;
        let what = || format!("copies of {p} features in {n} samples");
        let taken = memory.reserve(bytes, what, "leave features out of the data")?;
        let (samples, units) = standardised(design, features);
        let x = View::rows(&samples, n, p, p);
        // Correlations where they are the smaller matrix, else products of samples.
        let mut products = vec![0.0; small * small];
        let (left, right) = if p < n { (x.transposed(), x) } else { (x, x.transposed()) };
        if !add_product_until(&mut products, small, 1.0 / n as f64, left, right, clock) {
            return Ok(None);
        }
        let shrinkage = shrinkage(&samples, n, p, &products).max(FLOOR);
        let mut model = Self {
            features: features.to_vec(),
            n,
            centre: samples.clone(),
            samples,
            units,
            noise: Noise::Factor(Vec::new()),
            shrinkage,
            separations: Vec::new(),
            taken,
        };
        // R, or M.
        for value in &mut products {
            *value *= 1.0 - shrinkage;
        }
        (0..small).for_each(|at| products[at * small + at] += shrinkage);
        let done = if p < n { model.by_features(&products, clock) } else { model.by_samples(products, clock) };
        Ok(done.then_some(model))
    }

    /// p < n: from R. False where it was asked to stop.
    fn by_features(&mut self, correlations: &[f64], clock: &Clock) -> bool {
        let (n, p) = (self.n, self.features.len());
        let mut inverse = correlations.to_vec();
        invert(&mut inverse, p, p, FLOOR * FLOOR);
        let mut equal = (2.0 / largest_eigenvalue(&inverse, p)).min(1.0);
        let rest = loop {
            if clock.stop().is_some() {
                return false;
            }
            equal *= 0.99;
            let mut rest: Vec<f64> = correlations.iter().map(|value| 2.0 * value).collect();
            (0..p).for_each(|j| rest[j * p + j] -= equal);
            if lower_factor(&mut rest.clone(), p) {
                break rest;
            }
        };
        let mut s = separations(rest, equal, p, clock);
        let factor = loop {
            if clock.stop().is_some() {
                return false;
            }
            let mut law: Vec<f64> = (0..p * p).map(|at| -s[at / p] * inverse[at] * s[at % p]).collect();
            (0..p).for_each(|j| law[j * p + j] += 2.0 * s[j]);
            if lower_factor(&mut law, p) {
                break law;
            }
            for s in &mut s {
                *s *= 0.99;
            }
        };
        // The centre is X - X R^-1 D.
        for (at, value) in inverse.iter_mut().enumerate() {
            *value *= s[at % p];
        }
        (self.noise, self.separations) = (Noise::Factor(factor), s);
        let (x, inverse) = (View::rows(&self.samples, n, p, p), View::rows(&inverse, p, p, p));
        add_product_until(&mut self.centre, p, -1.0, x, inverse, clock)
    }

    /// p >= n: from M. False where it was asked to stop.
    fn by_samples(&mut self, mut inverse: Vec<f64>, clock: &Clock) -> bool {
        let (n, p, lambda) = (self.n, self.features.len(), self.shrinkage);
        let (s, c) = ((2.0 * lambda).min(1.0), ((1.0 - lambda) / n as f64).sqrt());
        // The centre is X - s X R^-1 = (1 - s / lambda) X + s / lambda (W X')' M^-1 W.
        let x = View::rows(&self.samples, n, p, p);
        let (mut products, mut shares) = (vec![0.0; n * n], vec![0.0; n * n]);
        if !add_product_until(&mut products, n, c, x, x.transposed(), clock) {
            return false;
        }
        invert(&mut inverse, n, n, FLOOR * FLOOR);
        let (products, of_inverse) = (View::rows(&products, n, n, n), View::rows(&inverse, n, n, n));
        if !add_product_until(&mut shares, n, 1.0, products, of_inverse, clock) {
            return false;
        }
        for value in &mut self.centre {
            *value *= 1.0 - s / lambda;
        }
        self.noise = Noise::Samples { a: 2.0 * s - s * s / lambda, b: s * s / lambda, c, inverse };
        self.separations = vec![s; p];
        add_product_until(&mut self.centre, p, s / lambda * c, View::rows(&shares, n, n, n), x, clock)
    }

    /// The features that are copied, in the order of the statistics.
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// The share of the correlations that was given up.
    pub fn shrinkage(&self) -> f64 {
        self.shrinkage
    }

    /// s: 1 less the correlation of each feature with its copy. At 0 they are the same, and nothing
    /// can be told apart.
    pub fn separations(&self) -> &[f64] {
        &self.separations
    }

    /// Their mean.
    pub fn separation(&self) -> f64 {
        self.separations.iter().sum::<f64>() / self.separations.len() as f64
    }

    /// Bytes of one draw.
    pub fn bytes(&self) -> u64 {
        8 * (5 * self.n * self.features.len() + 3 * self.n * self.n.min(self.features.len())) as u64
    }

    /// Draws copies, of the means and deviations that the features have in the samples; `normal`
    /// gives standard normal numbers that are independent of the data. None where it was asked to
    /// stop.
    pub fn draw(&self, normal: &mut dyn FnMut() -> f64, clock: &Clock) -> Option<WithCopies> {
        let (n, p) = (self.n, self.features.len());
        let swapped: Vec<bool> = (0..p).map(|_| normal() < 0.0).collect();
        let copies = self.copies(normal, clock)?;
        let (mut values, mut column) = (vec![0.0; 2 * n * p], vec![0.0; n]);
        for (j, (&(mean, deviation), &swapped)) in self.units.iter().zip(&swapped).enumerate() {
            let (feature, copy) = if swapped { (p + j, j) } else { (j, p + j) };
            for (place, from) in [(feature, &self.samples), (copy, &copies)] {
                column.iter_mut().enumerate().for_each(|(i, value)| *value = from[i * p + j]);
                // Both alike: a method must not see by their moments which one is the copy.
                standardise(&mut column);
                let out = &mut values[place * n..(place + 1) * n];
                out.iter_mut().zip(&column).for_each(|(out, value)| *out = mean + deviation * value);
            }
        }
        let design = DenseDesign::new(n, 2 * p, values).expect("2 p columns of n values");
        Some(WithCopies { design, swapped })
    }

    /// Copies of the standardised samples, row after row.
    fn copies(&self, normal: &mut dyn FnMut() -> f64, clock: &Clock) -> Option<Vec<f64>> {
        let (n, p) = (self.n, self.features.len());
        let mut normals = |count: usize| (0..count).map(|_| normal()).collect::<Vec<f64>>();
        let mut copies = self.centre.clone();
        let drawn = normals(n * p);
        let done = match &self.noise {
            Noise::Factor(factor) => {
                let (drawn, factor) = (View::rows(&drawn, n, p, p), View::rows(factor, p, p, p));
                add_product_until(&mut copies, p, 1.0, drawn, factor.transposed(), clock)
            }
            Noise::Samples { a, b, c, inverse } => {
                // u = sqrt(lambda) e + W f has the law N(0, M), so that W' M^-1 u has that of
                // W' M^-1 W.
                let x = View::rows(&self.samples, n, p, p);
                let mut u: Vec<f64> = normals(n * n);
                for value in &mut u {
                    *value *= self.shrinkage.sqrt();
                }
                let second = normals(n * p);
                let (second, inverse) = (View::rows(&second, n, p, p), View::rows(inverse, n, n, n));
                let mut shares = vec![0.0; n * n];
                simd::axpy(a.sqrt(), &drawn, &mut copies);
                add_product_until(&mut u, n, *c, second, x.transposed(), clock)
                    && add_product_until(&mut shares, n, 1.0, View::rows(&u, n, n, n), inverse, clock)
                    && add_product_until(&mut copies, p, b.sqrt() * c, View::rows(&shares, n, n, n), x, clock)
            }
        };
        done.then_some(copies)
    }
}

/// The features of mean 0 and variance 1, row after row, with their means and deviations.
fn standardised(design: &dyn Design, features: &[usize]) -> (Vec<f64>, Vec<(f64, f64)>) {
    let (n, p) = (design.n_samples(), features.len());
    let (mut samples, mut units, mut column) = (vec![0.0; n * p], Vec::with_capacity(p), vec![0.0; n]);
    for (k, &j) in features.iter().enumerate() {
        column.fill(0.0);
        design.add_column(j, 1.0, &mut column);
        let (mean, deviation) = standardise(&mut column);
        for (i, value) in column.iter().enumerate() {
            samples[i * p + k] = *value;
        }
        units.push((mean, deviation));
    }
    (samples, units)
}

/// To mean 0 and variance 1; the mean and the deviation before.
fn standardise(column: &mut [f64]) -> (f64, f64) {
    let n = column.len() as f64;
    let mean = column.iter().sum::<f64>() / n;
    for value in &mut *column {
        *value -= mean;
    }
    let deviation = (simd::dot(column, column) / n).sqrt();
    for value in &mut *column {
        *value /= deviation;
    }
    (mean, deviation)
}

/// The share of the correlations to give up: the sum of their variances as a share of the sum of
/// their squares, over all pairs of features (Schaefer, Strimmer, equation 10). `products` are
/// X'X / n or XX' / n, which have the same sum of squares.
fn shrinkage(samples: &[f64], n: usize, p: usize, products: &[f64]) -> f64 {
    let squares = simd::dot(products, products) - p as f64;
    let fourth: f64 = samples
        .chunks_exact(p)
        .map(|row| {
            let (second, fourth) = row.iter().fold((0.0, 0.0), |(a, b), x| (a + x * x, b + x.powi(4)));
            second * second - fourth
        })
        .sum();
    let (n, variances) = (n as f64, fourth / n as f64 - squares);
    if squares <= 0.0 { 1.0 } else { (variances / ((n - 1.0) * squares)).clamp(0.0, 1.0) }
}

/// s with diag(s) below 2 R, from equal ones towards the largest sum: coordinate after coordinate,
/// s_j as large as it may be but for a share of what is left, which goes to 0. `rest` is 2 R - D,
/// in the end its inverse: what is left to s_j is 1 over its entry on the diagonal. Wherever it is
/// asked to stop, s is below 2 R.
fn separations(rest: Vec<f64>, equal: f64, p: usize, clock: &Clock) -> Vec<f64> {
    let (mut s, mut inverse) = (vec![equal; p], rest);
    invert(&mut inverse, p, p, FLOOR * FLOOR);
    let allowed = SWEEP_WORK / (p as f64).powi(3);
    for sweep in 0..SWEEPS.min(allowed as i32) {
        let reserve = 0.5f64.powi(sweep + 1).max(1e-4);
        for j in 0..p {
            if j % 64 == 0 && clock.stop().is_some() {
                return s;
            }
            let column = inverse[j * p..(j + 1) * p].to_vec();
            let next = (s[j] + 1.0 / column[j] - reserve).clamp(FLOOR, 1.0);
            let grown = s[j] - next;
            let factor = grown / (1.0 + grown * column[j]);
            for (row, &value) in inverse.chunks_exact_mut(p).zip(&column) {
                simd::axpy(-factor * value, &column, row);
            }
            s[j] = next;
        }
    }
    s
}

/// The largest eigenvalue of a positive definite matrix, from below.
fn largest_eigenvalue(a: &[f64], p: usize) -> f64 {
    let mut v: Vec<f64> = (0..p).map(|j| 1.0 + (j % 7) as f64).collect();
    let mut value = 0.0;
    for _ in 0..POWERS {
        let norm = simd::dot(&v, &v).sqrt();
        for x in &mut v {
            *x /= norm;
        }
        let next: Vec<f64> = a.chunks_exact(p).map(|row| simd::dot(row, &v)).collect();
        value = simd::dot(&next, &v);
        v = next;
    }
    value
}

#[cfg(test)]
mod tests;
