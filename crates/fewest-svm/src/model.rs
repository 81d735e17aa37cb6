//! A trained SVM on chosen features: two classes by one machine, more by one machine per pair
//! (one-vs-one).

use crate::design::{Recentred, centres};
use crate::dual::train::train_categorical;
use crate::kernel::distance::ByFeature;
use crate::problem::{Labelled, class_pairs};
use crate::{Clock, Design, DualSolution, Error, Kernel, RowMatrix, SvmSettings, simd};

/// Settings of a training.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct FitSettings {
    /// Cost, loss, bias, tolerance.
    pub svm: SvmSettings,
    /// Kernel. With [`Kernel::Linear`] the machines have weights, otherwise support vectors.
    pub kernel: Kernel,
    /// Features of the design that hold categories, for the RBF or Laplace kernel: their distance
    /// is 1 where they differ, else 0.
    pub categorical: Vec<usize>,
}

/// One two-class machine: positive decision values vote for class `positive`.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Machine {
    /// Class (index) on the negative side.
    pub negative: u32,
    /// Class (index) on the positive side.
    pub positive: u32,
    /// Linear: weight of each of the model's features. Empty otherwise.
    pub weights: Vec<f64>,
    /// Other kernels: (row of [`Model::support_vectors`], beta); for a precomputed kernel (training
    /// sample, beta).
    pub coefficients: Vec<(usize, f64)>,
    /// Bias b.
    pub bias: f64,
    /// The solution it came from (objectives, residual, beta by training sample of the pair).
    pub solution: DualSolution,
}

/// A trained classifier.
#[derive(Debug, Clone)]
pub struct Model {
    /// Columns of the training design it uses, in this order.
    pub features: Vec<usize>,
    /// Kernel.
    pub kernel: Kernel,
    /// The features that hold categories ([`FitSettings::categorical`]).
    pub categorical: Vec<usize>,
    /// Number of classes.
    pub n_classes: u32,
    /// One machine for two classes, `k (k - 1) / 2` for k, ordered (0,1), (0,2), ..., (1,2), ...
    pub machines: Vec<Machine>,
    /// Support vectors of all machines (rows, the model's features as columns); no rows for a
    /// linear kernel.
    pub support_vectors: RowMatrix,
}

/// Trains on the given features, which may be far from 0 where the kernel and the bias absorb
/// constants. `classes` holds the class of each sample (0, 1, ... k - 1; for two
/// classes 1 is the positive one), `weights` multiply the cost of each sample (length n). The clock
/// is asked every epoch; once it names a limit, the machines come back as good as they are, with
/// that status in their solution.
///
/// # Errors
/// Settings out of range, shapes that do not fit, or a class without samples.
pub fn fit(
    design: &dyn Design,
    features: &[usize],
    classes: &[u32],
    weights: &[f64],
    settings: &FitSettings,
    clock: &Clock,
) -> Result<Model, Error> {
    let p = design.n_features();
    let pairs = settings.kernel == Kernel::Linear && classes.iter().any(|class| *class > 1);
    if pairs && classes.len() == design.n_samples() && features.len() < p && features.iter().all(|j| *j < p) {
        // The samples of a pair are copied: of these columns alone.
        let (columns, all) = (design.rows(features).design(), (0..features.len()).collect::<Vec<usize>>());
        let model = fit(&*columns, &all, classes, weights, settings, clock)?;
        return Ok(Model { features: features.to_vec(), ..model });
    }
    fit_by(design, features, classes, weights, settings, &mut |design, of_samples, categorical| {
        train_categorical(design, features, of_samples, settings.kernel, categorical, &settings.svm, clock)
    })
}

/// The trainer of one machine: gets its samples as a design of all features, their labels (-1 or
/// +1) and the multipliers of their costs, and those of the features that hold categories.
type Trainer<'a> = dyn FnMut(&dyn Design, Labelled<'_>, &[usize]) -> Result<DualSolution, Error> + 'a;

/// [`fit`] with machines that `train` makes; `classes` and `weights` have an entry for each sample.
///
/// # Errors
/// As [`fit`], and those of `train`.
#[doc(hidden)]
pub fn fit_by(
    design: &dyn Design,
    features: &[usize],
    classes: &[u32],
    weights: &[f64],
    settings: &FitSettings,
    train: &mut Trainer<'_>,
) -> Result<Model, Error> {
    let n = design.n_samples();
    if classes.len() != n || weights.len() != n {
        let (c, w) = (classes.len(), weights.len());
        return Err(Error::Data(format!("{c} class labels and {w} weights for {n} samples; give one per sample")));
    }
    if let Some(&j) = features.iter().find(|&&j| j >= design.n_features()) {
        return Err(Error::Data(format!("feature index {j} of {} features, counted from 0", design.n_features())));
    }
    let n_classes = classes.iter().max().map_or(0, |c| c + 1);
    if n_classes < 2 {
        return Err(Error::Data("all samples are of one class; two are needed".into()));
    }
    let categorical: Vec<usize> = features.iter().copied().filter(|j| settings.categorical.contains(j)).collect();
    if !settings.categorical.is_empty() && settings.kernel.distance().is_none() {
        return Err(Error::Data(
            "categories need the rbf or laplace kernel, which are made of distances; leave the list of categorical \
             features out, or take one of these kernels"
                .into(),
        ));
    }
    let mut ascending = features.to_vec();
    ascending.sort_unstable();
    let absorbs = settings.svm.bias.absorbs_constants(&settings.kernel);
    let recentred = absorbs.then(|| Recentred::new(design, &ascending)).flatten();
    let design: &dyn Design = recentred.as_ref().map_or(design, |recentred| recentred);
    let mut machines = Vec::new();
    for negative in 0..n_classes {
        for positive in negative + 1..n_classes {
            let pair = |c: u32| c == negative || c == positive;
            let samples: Vec<usize> = (0..n).filter(|&i| pair(classes[i]) && weights[i] > 0.0).collect();
            for class in [negative, positive] {
                if !samples.iter().any(|&i| classes[i] == class) {
                    return Err(Error::Data(format!("class {class} has no sample with positive weight")));
                }
            }
            let y: Vec<f64> = samples.iter().map(|&i| if classes[i] == positive { 1.0 } else { -1.0 }).collect();
            let w: Vec<f64> = samples.iter().map(|&i| weights[i]).collect();
            let part = (samples.len() < n).then(|| restrict(design, &samples, settings.kernel));
            let design = part.as_deref().unwrap_or(design);
            let solution = train(design, Labelled { labels: &y, weights: &w }, &categorical)?;
            let support = samples.iter().zip(&solution.beta).filter(|(_, b)| **b != 0.0);
            machines.push(Machine {
                negative,
                positive,
                weights: solution.weights.clone(),
                coefficients: if settings.kernel == Kernel::Linear {
                    Vec::new()
                } else {
                    support.map(|(&i, &b)| (i, b)).collect()
                },
                bias: solution.bias,
                solution,
            });
        }
    }
    let mut support_vectors = RowMatrix::dense(0, features.len(), Vec::new());
    if !matches!(settings.kernel, Kernel::Linear | Kernel::Precomputed) {
        let mut used: Vec<usize> = machines.iter().flat_map(|m| m.coefficients.iter().map(|c| c.0)).collect();
        used.sort_unstable();
        used.dedup();
        support_vectors = design.select_samples(&used).rows(features);
        for (sample, _) in machines.iter_mut().flat_map(|m| &mut m.coefficients) {
            *sample = used.binary_search(sample).expect("listed above");
        }
    }
    let (features, kernel) = (features.to_vec(), settings.kernel);
    let model = Model { features, kernel, categorical, n_classes, machines, support_vectors };
    Ok(recentred.iter().fold(model, Model::restored))
}

/// The samples of one class pair; a precomputed kernel loses their columns too.
fn restrict(design: &dyn Design, samples: &[usize], kernel: Kernel) -> Box<dyn Design> {
    let part = design.select_samples(samples);
    if kernel != Kernel::Precomputed {
        return part;
    }
    let m = samples.len();
    let mut values = vec![0.0; m * m];
    for (at, &j) in samples.iter().enumerate() {
        part.add_column(j, 1.0, &mut values[at * m..(at + 1) * m]);
    }
    Box::new(crate::DenseDesign::new(m, m, values).expect("m m values"))
}

/// Samples after which a prediction by a kernel asks whether to stop.
const ASKS: usize = 32;

impl Model {
    /// The classifier that decides on the data before they were recentred as this one does after.
    #[must_use]
    pub fn restored(mut self, recentred: &Recentred<'_>) -> Self {
        let centres: Vec<f64> = self.features.iter().map(|&j| recentred.centre(j)).collect();
        if self.kernel == Kernel::Linear {
            for machine in &mut self.machines {
                machine.bias -= machine.weights.iter().zip(&centres).map(|(w, c)| w * c).sum::<f64>();
                machine.solution.bias = machine.bias;
            }
        } else {
            // The values are those before, to the last bit.
            let centres: Vec<f64> = centres.iter().map(|c| -c).collect();
            self.support_vectors = self.support_vectors.less(&centres);
        }
        self
    }

    /// Decision values, sample after sample, one per machine. `design` has the training design's
    /// columns (for a precomputed kernel, one column per training sample).
    pub fn decisions(&self, design: &dyn Design) -> Vec<f64> {
        self.decisions_until(design, &Clock::unlimited()).expect("nothing stops it")
    }

    /// [`Model::decisions`], or nothing once `clock` says so, which is asked now and then.
    pub fn decisions_until(&self, design: &dyn Design, clock: &Clock) -> Option<Vec<f64>> {
        let (n, m) = (design.n_samples(), self.machines.len());
        let mut out = vec![0.0; n * m];
        match self.kernel {
            Kernel::Linear | Kernel::Precomputed => {
                let mut values = vec![0.0; n];
                for (at, machine) in self.machines.iter().enumerate() {
                    values.fill(machine.bias);
                    for (&j, &w) in self.features.iter().zip(&machine.weights).filter(|(_, w)| **w != 0.0) {
                        design.add_column(j, w, &mut values);
                    }
                    for &(j, beta) in &machine.coefficients {
                        design.add_column(j, beta, &mut values);
                    }
                    for (i, value) in values.iter().enumerate() {
                        out[i * m + at] = *value;
                    }
                }
            }
            _ => {
                let rows = design.rows(&self.features);
                let centres = self.kernel.distance().and_then(|_| centres(&self.support_vectors));
                let shifted = centres.as_ref().map(|centres| self.support_vectors.clone().less(centres));
                let vectors = shifted.as_ref().unwrap_or(&self.support_vectors);
                let norms: Vec<f64> = (0..vectors.n_samples()).map(|s| vectors.row(s).squared_norm()).collect();
                let by_feature = ByFeature::new(self.kernel, &self.features, &self.categorical);
                let mut x = vec![0.0; self.features.len()];
                for i in 0..n {
                    if i % ASKS == ASKS - 1 && clock.stop().is_some() {
                        return None;
                    }
                    x.fill(0.0);
                    rows.row(i).add_to(1.0, &mut x);
                    if let Some(centres) = &centres {
                        simd::axpy(-1.0, centres, &mut x);
                    }
                    let values = if let Some(kernel) = &by_feature {
                        kernel.values(&x, vectors, 0..norms.len())
                    } else {
                        let mut values: Vec<f64> = (0..norms.len()).map(|s| vectors.row(s).dot(&x)).collect();
                        self.kernel.from_products(&mut values, simd::dot(&x, &x), &norms);
                        values
                    };
                    for (at, machine) in self.machines.iter().enumerate() {
                        let sum: f64 = machine.coefficients.iter().map(|&(s, beta)| beta * values[s]).sum();
                        out[i * m + at] = sum + machine.bias;
                    }
                }
            }
        }
        Some(out)
    }

    /// Predicted class of each sample: the sign for two classes (0 counts as positive), else the
    /// most votes, ties to the smaller class.
    pub fn predict(&self, design: &dyn Design) -> Vec<u32> {
        self.votes(&self.decisions(design))
    }

    /// Predicted classes from the values of [`Model::decisions`].
    pub fn votes(&self, decisions: &[f64]) -> Vec<u32> {
        elect(self.n_classes, decisions)
    }
}

/// Whether a decision value is a vote for the second class of its pair. Of exactly 0, which a
/// sample without any of the features has where there is no bias, that is the class that LIBSVM and
/// LIBLINEAR make of the same machine: the first of two classes, the second where there are more.
pub fn for_second(n_classes: u32, value: f64) -> bool {
    value > 0.0 || value == 0.0 && n_classes > 2
}

/// The class of most votes for each sample, ties to the smaller class: decision values of one
/// machine per pair of classes, ordered (0,1), (0,2), ..., (1,2), ..., sample after sample. Above 0
/// is a vote for the second class of a pair, and so is 0 where there are more classes than two.
pub fn elect(n_classes: u32, decisions: &[f64]) -> Vec<u32> {
    let pairs = class_pairs(n_classes);
    let elect = |values: &[f64]| {
        let mut votes = vec![0u32; n_classes as usize];
        for (&(negative, positive), &value) in pairs.iter().zip(values) {
            votes[if for_second(n_classes, value) { positive } else { negative } as usize] += 1;
        }
        let best = votes.iter().max().copied().unwrap_or(0);
        votes.iter().position(|&v| v == best).unwrap_or(0) as u32
    };
    decisions.chunks(pairs.len().max(1)).map(elect).collect()
}

/// A score for each class, sample after sample, of the decision values that [`elect`] takes: the
/// votes of a class, and less than half a vote for how sure its machines are together, so that
/// scores order the classes as votes do and break ties. `s / (3 (|s| + 1))` is added for s the sum
/// of its decision values, as in scikit-learn's `SVC`.
pub fn class_scores(n_classes: u32, decisions: &[f64]) -> Vec<f64> {
    let pairs = class_pairs(n_classes);
    let mut out = Vec::with_capacity(decisions.len() / pairs.len().max(1) * n_classes as usize);
    for values in decisions.chunks(pairs.len().max(1)) {
        let mut each = vec![(0.0, 0.0); n_classes as usize];
        for (&(negative, positive), &value) in pairs.iter().zip(values) {
            each[if for_second(n_classes, value) { positive } else { negative } as usize].0 += 1.0;
            each[negative as usize].1 -= value;
            each[positive as usize].1 += value;
        }
        out.extend(each.into_iter().map(|(votes, sum): (f64, f64)| votes + sum / (3.0 * (sum.abs() + 1.0))));
    }
    out
}
