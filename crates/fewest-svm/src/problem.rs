//! Problems: data, labels and sample weights, checked once.

use crate::{Design, Error};

/// Labels, -1 or +1, and multipliers of the slack cost, one of each for each sample of a training.
#[derive(Debug, Clone, Copy)]
pub struct Labelled<'a> {
    /// Labels y.
    pub labels: &'a [f64],
    /// Multipliers of the slack cost.
    pub weights: &'a [f64],
}

/// A validated two-class problem: n samples with labels -1 or +1, both present, weights >= 0,
/// finite values.
#[derive(Clone)]
pub struct Problem<'a> {
    design: &'a dyn Design,
    labels: Vec<f64>,
    weights: Vec<f64>,
}

impl<'a> Problem<'a> {
    /// Checks shapes, labels and values. `weights` (length n, default all 1) multiply the slack
    /// cost of each sample.
    ///
    /// # Errors
    /// [`Error::Data`] naming the first thing wrong.
    pub fn new(design: &'a dyn Design, labels: &[f64], weights: Option<&[f64]>) -> Result<Self, Error> {
        let weights = checked_labels(design.n_samples(), labels, weights)?;
        check_values(design, 0)?;
        Ok(Self { design, labels: labels.to_vec(), weights })
    }

    /// Problem of parts that were checked before.
    pub fn of_parts(design: &'a dyn Design, labels: &[f64], weights: &[f64]) -> Self {
        Self { design, labels: labels.to_vec(), weights: weights.to_vec() }
    }

    /// Problem of these samples on another design.
    pub fn of<'b>(&self, design: &'b dyn Design) -> Problem<'b> {
        Problem::of_parts(design, &self.labels, &self.weights)
    }

    /// The data matrix.
    pub fn design(&self) -> &'a dyn Design {
        self.design
    }
    /// Labels y, length n.
    pub fn labels(&self) -> &[f64] {
        &self.labels
    }
    /// Multipliers of the slack cost, length n.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
    /// Labels and multipliers of its samples.
    pub fn labelled(&self) -> Labelled<'_> {
        Labelled { labels: &self.labels, weights: &self.weights }
    }
    /// Number of samples n.
    pub fn n_samples(&self) -> usize {
        self.labels.len()
    }
    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.design.n_features()
    }
}

/// A validated problem of two or more classes: n samples of classes 0, 1, ... k - 1, all present,
/// weights >= 0, finite values.
#[derive(Clone)]
pub struct Samples<'a> {
    design: &'a dyn Design,
    classes: Vec<u32>,
    n_classes: u32,
    weights: Vec<f64>,
    counts: Option<Vec<f64>>,
    tasks: Option<Vec<u32>>,
    /// The weight of each pair of classes, in the order of [`class_pairs`].
    pair_weights: Option<Vec<f64>>,
}

impl<'a> Samples<'a> {
    /// Checks shapes, classes and values. `weights` (length n, default all 1) multiply the slack
    /// cost of each sample.
    ///
    /// # Errors
    /// [`Error::Data`] naming the first thing wrong.
    pub fn new(design: &'a dyn Design, classes: &[u32], weights: Option<&[f64]>) -> Result<Self, Error> {
        let (n_classes, weights) = checked_classes(design.n_samples(), classes, weights)?;
        check_values(design, 0)?;
        Ok(Self::of_parts(design, classes, n_classes, &weights))
    }

    /// Samples of parts that were checked before.
    pub fn of_parts(design: &'a dyn Design, classes: &[u32], n_classes: u32, weights: &[f64]) -> Self {
        let (classes, weights) = (classes.to_vec(), weights.to_vec());
        Self { design, classes, n_classes, weights, counts: None, tasks: None, pair_weights: None }
    }

    /// With how many samples each counts as (length n): its weight without that of its class.
    ///
    /// # Errors
    /// [`Error::Data`] for another number of counts than of samples, or one that is no weight.
    pub fn counted(self, counts: &[f64]) -> Result<Self, Error> {
        let counts = Some(checked_weights(self.n_samples(), Some(counts))?);
        Ok(Self { counts, ..self })
    }

    /// With the task of each sample (length n; 0, 1, ... m - 1, all present): a site or cohort that
    /// has classifiers of its own on the features that all share.
    ///
    /// # Errors
    /// [`Error::Data`] for another number of tasks than of samples, or a task without samples.
    pub fn with_tasks(self, tasks: &[u32]) -> Result<Self, Error> {
        let n = self.n_samples();
        if tasks.len() != n {
            return Err(Error::Data(format!("{} tasks for {n} samples; give one per sample", tasks.len())));
        }
        let most = tasks.iter().max().map_or(0, |last| last + 1);
        if let Some(task) = (0..most).find(|task| !tasks.contains(task)) {
            return Err(Error::Data(format!("task {task} of {most} has no sample; count tasks from 0, none left out")));
        }
        Ok(Self { tasks: Some(tasks.to_vec()), ..self })
    }

    /// With what each pair of classes weighs: its problem has that many times the weights of its samples.
    #[doc(hidden)]
    #[must_use]
    pub fn weighing_pairs(self, weight: impl Fn(u32, u32) -> f64) -> Self {
        let pair_weights = Some(class_pairs(self.n_classes).into_iter().map(|(a, b)| weight(a, b)).collect());
        Self { pair_weights, ..self }
    }

    /// What the pairs of classes weigh, in the order of [`class_pairs`]; none: 1 each.
    #[doc(hidden)]
    pub fn pair_weight(&self, pair: usize) -> f64 {
        self.pair_weights.as_ref().map_or(1.0, |weights| weights[pair])
    }

    /// Samples on another design.
    pub fn of<'b>(&self, design: &'b dyn Design) -> Samples<'b> {
        let Self { classes, n_classes, weights, counts, tasks, pair_weights, .. } = self.clone();
        Samples { design, classes, n_classes, weights, counts, tasks, pair_weights }
    }

    /// The data matrix.
    pub fn design(&self) -> &'a dyn Design {
        self.design
    }
    /// Class of each sample, length n.
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }
    /// Number of classes k, at least 2.
    pub fn n_classes(&self) -> u32 {
        self.n_classes
    }
    /// Multipliers of the slack cost, length n.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
    /// How many samples each counts as, length n, where that is known beside the weights: what is
    /// learnt from samples of any class, such as gamma, goes by it.
    pub fn counts(&self) -> Option<&[f64]> {
        self.counts.as_deref()
    }
    /// Task of each sample, length n, where there are tasks.
    pub fn tasks(&self) -> Option<&[u32]> {
        self.tasks.as_deref()
    }
    /// Number of samples n.
    pub fn n_samples(&self) -> usize {
        self.classes.len()
    }
    /// Number of features p.
    pub fn n_features(&self) -> usize {
        self.design.n_features()
    }

    /// Problem of labels -1 (class 0) and +1.
    ///
    /// # Errors
    /// [`Error::Data`] when there are more classes than two.
    pub fn problem(&self) -> Result<Problem<'a>, Error> {
        if self.tasks.is_some() {
            return Err(Error::Data("one task is needed, but the samples are of several; leave tasks out".into()));
        }
        self.two_classes().ok_or_else(|| {
            Error::Data(format!("two classes are needed, but there are {}; keep two of them", self.n_classes))
        })
    }

    /// As a problem of labels -1 (class 0) and +1, when there are two classes.
    pub(crate) fn two_classes(&self) -> Option<Problem<'a>> {
        let labels = || self.classes.iter().map(|&c| if c == 1 { 1.0 } else { -1.0 }).collect();
        (self.n_classes == 2).then(|| Problem { design: self.design, labels: labels(), weights: self.weights.clone() })
    }
}

impl<'a> From<&Problem<'a>> for Samples<'a> {
    fn from(problem: &Problem<'a>) -> Self {
        let classes = problem.labels.iter().map(|&y| u32::from(y > 0.0)).collect();
        let weights = problem.weights.clone();
        Self { design: problem.design, classes, n_classes: 2, weights, counts: None, tasks: None, pair_weights: None }
    }
}

/// The pairs of classes in the order of their machines, (0,1), (0,2), ..., (1,2), ...; the second
/// is the positive one.
pub fn class_pairs(n_classes: u32) -> Vec<(u32, u32)> {
    (0..n_classes).flat_map(|a| (a + 1..n_classes).map(move |b| (a, b))).collect()
}

/// One class for each of n samples.
pub fn check_classes(n: usize, classes: &[u32]) -> Result<(), Error> {
    if classes.len() == n {
        return Ok(());
    }
    Err(Error::Data(format!("{} class labels for {n} samples; give one per sample", classes.len())))
}

/// One class, 0, 1, ... k - 1, for each of n samples, all with positive weight; returns k and the
/// weights, 1 for none.
pub fn checked_classes(n: usize, classes: &[u32], weights: Option<&[f64]>) -> Result<(u32, Vec<f64>), Error> {
    check_classes(n, classes)?;
    let weights = checked_weights(n, weights)?;
    let n_classes = classes.iter().max().map_or(0, |c| c + 1);
    if n_classes < 2 {
        return Err(Error::Data("all samples are of one class; two are needed".into()));
    }
    for class in 0..n_classes {
        if !classes.iter().zip(&weights).any(|(&c, &w)| c == class && w > 0.0) {
            return Err(Error::Data(format!("class {class} has no sample with positive weight")));
        }
    }
    Ok((n_classes, weights))
}

/// One label, -1 or 1, for each of n samples, both with positive weight; returns the weights, 1 for
/// none.
pub fn checked_labels(n: usize, labels: &[f64], weights: Option<&[f64]>) -> Result<Vec<f64>, Error> {
    if labels.len() != n {
        return Err(Error::Data(format!("{} labels for {n} samples; give one per sample", labels.len())));
    }
    let weights = checked_weights(n, weights)?;
    if let Some(i) = labels.iter().position(|&y| y != 1.0 && y != -1.0) {
        return Err(Error::Data(format!("the label of sample {i} is {}, but must be -1 or 1", labels[i])));
    }
    for class in [-1.0, 1.0] {
        if !labels.iter().zip(&weights).any(|(&y, &w)| y == class && w > 0.0) {
            return Err(Error::Data(format!(
                "no sample with positive weight has label {class}; two classes are needed"
            )));
        }
    }
    Ok(weights)
}

/// The weights, 1 for none: one for each of n samples, finite and not negative.
pub fn checked_weights(n: usize, weights: Option<&[f64]>) -> Result<Vec<f64>, Error> {
    let weights = weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
    if weights.len() != n {
        return Err(Error::Data(format!("{} sample weights for {n} samples; give one per sample", weights.len())));
    }
    match weights.iter().position(|&w| !(0.0..=LARGEST_WEIGHT).contains(&w)) {
        Some(i) => Err(Error::Data(format!(
            "the weight of sample {i} is {:?}, but must be a number from 0 to {LARGEST_WEIGHT:e}",
            weights[i]
        ))),
        None => Ok(weights),
    }
}

/// Larger values are refused: the square of a sum of values times weights and costs must be a
/// double.
pub const LARGEST_VALUE: f64 = 1e70;
/// So are larger weights of samples; costs are from 1e-40 to 1e40 ([`crate::SvmSettings`]).
const LARGEST_WEIGHT: f64 = 1e30;

/// Checks that all values are finite and at most [`LARGEST_VALUE`] in size, as [`Problem::new`]
/// does; an error counts features from `first`.
///
/// # Errors
/// [`Error::Data`] naming the first that is not.
pub fn check_values(design: &dyn Design, first: usize) -> Result<(), Error> {
    if design.largest_value().is_some_and(|largest| largest <= LARGEST_VALUE) {
        return Ok(());
    }
    for j in 0..design.n_features() {
        let mut bad = None;
        design.each_in_column(j, &mut |i, x| {
            // Not a number is not within, either.
            let is_within = x.abs() <= LARGEST_VALUE;
            if !is_within && bad.is_none() {
                bad = Some((i, x));
            }
        });
        if let Some((i, x)) = bad {
            let feature = first + j;
            let remedy = if x.is_finite() {
                format!(
                    "values of at most {LARGEST_VALUE:e} in size can be squared and summed up; scale the feature first"
                )
            } else {
                "remove or fill in such values first".to_owned()
            };
            return Err(Error::Data(format!("sample {i}, feature {feature} is {x:?}; {remedy}")));
        }
    }
    Ok(())
}
