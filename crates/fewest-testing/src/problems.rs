//! Random two-class problems and plain copies of a design.

use fewest::{DenseDesign, Design, Kernel, Problem, SparseDesign};

use crate::Rng;

/// How to draw a two-class problem; [`RandomProblem::draw`] gives the same data for the same
/// fields.
#[derive(Debug, Clone, Copy)]
pub struct RandomProblem {
    /// Samples, at least 2.
    pub n: usize,
    /// Features, at least 1.
    pub p: usize,
    /// Share of values that are not zero, in (0, 1].
    pub density: f64,
    /// Share of labels flipped at random; with 0 the labels follow a hyperplane exactly.
    pub noise: f64,
    /// Seed.
    pub seed: u64,
}

impl RandomProblem {
    /// Column-major values and labels (-1 and +1, both present).
    pub fn draw(&self) -> (DenseDesign<'static>, Vec<f64>) {
        let mut rng = Rng::new(self.seed);
        let mut values = vec![0.0; self.n * self.p];
        for value in &mut values {
            if rng.chance(self.density) {
                *value = rng.normal();
            }
        }
        let normal: Vec<f64> = (0..self.p).map(|_| rng.normal()).collect();
        let scores: Vec<f64> =
            (0..self.n).map(|i| (0..self.p).map(|j| values[j * self.n + i] * normal[j]).sum()).collect();
        let mut sorted = scores.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted[self.n / 2];
        let mut labels: Vec<f64> = scores.iter().map(|&s| if s >= middle { 1.0 } else { -1.0 }).collect();
        for label in &mut labels {
            if rng.chance(self.noise) {
                *label = -*label;
            }
        }
        if labels.iter().all(|&y| y == labels[0]) {
            labels[0] = -labels[0];
        }
        (DenseDesign::new(self.n, self.p, values).expect("n p values"), labels)
    }

    /// The problem in compressed columns.
    pub fn draw_sparse(&self) -> (SparseDesign<'static>, Vec<f64>) {
        let (dense, labels) = self.draw();
        let (mut start, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..self.p {
            for (i, &x) in dense.column(j).iter().enumerate() {
                if x != 0.0 {
                    rows.push(i as u32);
                    values.push(x);
                }
            }
            start.push(rows.len());
        }
        (SparseDesign::new(self.n, start, rows, values).expect("ordered columns"), labels)
    }
}

/// The design's values, sample after sample, p in a row.
pub fn dense_copy(design: &dyn Design) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; design.n_features()]; design.n_samples()];
    for j in 0..design.n_features() {
        design.each_in_column(j, &mut |i, x| rows[i][j] = x);
    }
    rows
}

/// The kernel matrix K (n rows of n) of a problem on the given features, straight from the
/// definition of the kernel.
pub fn gram(problem: &Problem<'_>, features: &[usize], kernel: &Kernel) -> Vec<Vec<f64>> {
    let rows = dense_copy(problem.design());
    let dot = |a: &[f64], b: &[f64]| features.iter().map(|&j| a[j] * b[j]).sum::<f64>();
    let distance = |a: &[f64], b: &[f64]| features.iter().map(|&j| (a[j] - b[j]).powi(2)).sum::<f64>();
    let absolute = |a: &[f64], b: &[f64]| features.iter().map(|&j| (a[j] - b[j]).abs()).sum::<f64>();
    let value = |i: usize, k: usize| match *kernel {
        Kernel::Linear => dot(&rows[i], &rows[k]),
        Kernel::Rbf { gamma } => (-gamma * distance(&rows[i], &rows[k])).exp(),
        Kernel::Laplace { gamma } => (-gamma * absolute(&rows[i], &rows[k])).exp(),
        Kernel::Poly { gamma, coef0, degree } => (gamma * dot(&rows[i], &rows[k]) + coef0).powi(degree as i32),
        Kernel::Sigmoid { gamma, coef0 } => (gamma * dot(&rows[i], &rows[k]) + coef0).tanh(),
        Kernel::Precomputed => rows[i][k],
    };
    let n = problem.n_samples();
    (0..n).map(|i| (0..n).map(|k| value(i, k)).collect()).collect()
}
