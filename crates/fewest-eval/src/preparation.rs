//! What is done to samples before they are learned from: missing values filled in, features that
//! say nothing found, features scaled, classes weighed. All of it is learnt from samples to learn
//! from, and applied to them and to others.

use fewest::{DenseDesign, Design, FeatureSet};
use fewest_data::{DataError, Features, Imputation, MissingRule, SampleWeights, ScaleKind, ScaleReason, Scaling};
use serde::{Deserialize, Serialize};

/// Factors of the cost of each sample, by its class.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassWeights {
    /// 1.
    #[default]
    None,
    /// n / (k n_c), for samples of total weight n, k classes, and samples of weight n_c of the class.
    Balanced,
    /// 1 / n_c.
    Inverse,
    /// 1 / n_c + k.
    Softened,
    /// These, one for each class, above 0.
    Each(Vec<f64>),
}

impl ClassWeights {
    /// The weight of each class, given the total weight of the samples of each ([`fewest_data::Target::totals`]); 1
    /// for one that has none.
    pub fn of(&self, totals: &[f64]) -> Vec<f64> {
        let (n, k) = (totals.iter().sum::<f64>(), totals.len());
        let of_count = |weight: &dyn Fn(f64) -> f64| {
            totals.iter().map(|&total| if total > 0.0 { weight(total) } else { 1.0 }).collect()
        };
        match self {
            ClassWeights::None => vec![1.0; k],
            ClassWeights::Balanced => of_count(&|count| n / (k as f64 * count)),
            ClassWeights::Inverse => of_count(&|count| 1.0 / count),
            ClassWeights::Softened => of_count(&|count| 1.0 / count + k as f64),
            ClassWeights::Each(weights) => weights.clone(),
        }
    }
}

/// Preparation of samples before a training.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preparation {
    /// The rule for missing values (NaN); none: there are none.
    pub missing: Option<MissingRule>,
    /// The features that each text column became, which are filled in together
    /// ([`fewest_data::Dataset::text_columns`]).
    pub texts: Vec<Vec<usize>>,
    /// Features that hold categories: they are not scaled, and filled in with their most frequent
    /// value.
    pub categorical: Vec<usize>,
    /// Features whose variance in the samples learned from, as in the data, is at most this are
    /// not chosen.
    pub variance_threshold: Option<f64>,
    /// Scaling; none: that of [`ScaleKind::default_for`].
    pub scale: Option<ScaleKind>,
    /// Whether sparse data are centred as dense data are, without zeros filled in: for machines that
    /// do not make up for a constant in a feature ([`fewest::Bias::absorbs_constants`]).
    pub centred: bool,
    /// Multipliers of the slack cost by class.
    pub class_weight: ClassWeights,
}

/// Preparation learnt from samples, for them and for others.
#[derive(Debug, Clone)]
pub struct Learnt {
    /// The values for missing ones, before scaling; none: there are none.
    pub imputation: Option<Imputation>,
    /// How features are scaled.
    pub scaling: Scaling,
    /// Why so.
    pub scale_reason: ScaleReason,
    /// Features with one value only.
    pub constant: FeatureSet,
    /// Features whose variance is at most the threshold.
    pub low_variance: FeatureSet,
}

impl Preparation {
    /// Learns from these samples, and prepares them in place. A sample counts as many times as its
    /// weight, above 0, says.
    ///
    /// # Errors
    /// Features that cannot be scaled so.
    pub fn fit(&self, features: &mut Features, weights: &[f64]) -> Result<Learnt, DataError> {
        let weights = SampleWeights::new(weights);
        let learn = |rule| {
            let fitted = Imputation::weighted(rule, features, &self.texts, weights);
            fitted.with_categories(features, &self.categorical, weights)
        };
        let imputation = self.missing.map(learn);
        if let Some(imputation) = &imputation {
            imputation.apply(features)?;
        }
        let low = |least| fewest_data::low_variance(features, least, weights);
        let low_variance = self.variance_threshold.map_or_else(FeatureSet::default, low);
        let constant = features.constant();
        let (kind, scale_reason) = scale_kind(self.scale, features, self.centred);
        let scaling = Scaling::weighted(kind, features, weights, self.centred)?.except(&self.categorical);
        scaling.apply(features)?;
        Ok(Learnt { imputation, scaling, scale_reason, constant, low_variance })
    }
}

impl Learnt {
    /// Prepares other samples of the same features.
    ///
    /// # Errors
    /// Another number of features.
    pub fn apply(&self, features: &mut Features) -> Result<(), DataError> {
        if let Some(imputation) = &self.imputation {
            imputation.apply(features)?;
        }
        self.scaling.apply(features)
    }

    /// The features that no method may choose.
    pub fn ruled_out(&self) -> FeatureSet {
        self.constant.iter().chain(self.low_variance.iter()).collect()
    }
}

/// The scaling asked for, or the default for the data, and why; `centred` as in [`Preparation`].
pub fn scale_kind(asked: Option<ScaleKind>, features: &Features, centred: bool) -> (ScaleKind, ScaleReason) {
    asked.map_or_else(|| ScaleKind::default_for(features), |kind| (kind, kind.asked_for(features, centred)))
}

/// Some columns of a design, every value stored.
pub(crate) fn columns(design: &dyn Design, features: &[usize]) -> DenseDesign<'static> {
    let n = design.n_samples();
    let mut values = vec![0.0; n * features.len()];
    for (column, &j) in values.chunks_mut(n.max(1)).zip(features) {
        design.each_in_column(j, &mut |i, x| column[i] = x);
    }
    DenseDesign::new(n, features.len(), values).expect("n values for each feature")
}
