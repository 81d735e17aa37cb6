//! Samples to learn from, prepared by what they alone say, and samples held out, prepared likewise.

use fewest::{DenseDesign, Design, Error, FeatureSet, Problem, RuleList, Rules, Samples, WeightBounds};
use fewest_data::{Features, Imputation, ScaleKind, Scaling, Target};

use super::settings::StudySettings;

/// What a study is made on: n samples, p features, as in the file.
#[derive(Debug, Clone, Copy)]
pub struct StudyData<'a> {
    /// The matrix, not scaled; NaN, a missing value, only where [`StudySettings::missing`] says
    /// what stands in.
    pub features: &'a Features,
    /// The class of each sample.
    pub target: &'a Target,
    /// Multiplier of the slack cost of each sample, length n.
    pub weights: &'a [f64],
}

/// Samples to learn from: scaled, weighed, and what they rule out.
#[derive(Debug)]
pub(crate) struct Part {
    features: Features,
    pub(crate) target: Target,
    /// Sample weight times class weight.
    pub(crate) weights: Vec<f64>,
    /// What stands in for missing values, before scaling.
    pub(crate) imputation: Option<Imputation>,
    pub(crate) scaling: Scaling,
    /// Features with one value, or of low variance; ascending.
    pub(crate) ruled_out: FeatureSet,
    /// Bounds on the weights of all features, once they are scaled.
    pub(crate) weight_bounds: WeightBounds,
    pub(crate) size: PartSize,
}

/// What the costs of a part depend on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PartSize {
    pub(crate) samples: usize,
    /// Features that can be chosen.
    pub(crate) usable: usize,
    /// Mean over the samples of the squared norm of a sample.
    pub(crate) mean_square: f64,
}

/// Samples that are judged.
#[derive(Debug)]
pub(crate) struct HeldOut {
    features: Features,
    pub(crate) target: Target,
    /// Weights as those of the samples learned from.
    pub(crate) weights: Vec<f64>,
}

impl Part {
    /// The samples of these rows, ascending.
    pub(crate) fn new(data: &StudyData<'_>, rows: &[usize], settings: &StudySettings) -> Result<Self, Error> {
        let mut features = data.features.rows(rows);
        let target = data.target.rows(rows);
        if let Some(class) = target.counts().iter().position(|&count| count == 0) {
            return Err(Error::Data(format!(
                "no sample of class {} is left to learn from; use fewer folds, or leave that class out",
                target.classes[class]
            )));
        }
        let imputation = settings.missing.map(|rule| Imputation::fit(rule, &features, &settings.texts));
        if let Some(imputation) = &imputation {
            imputation.apply(&mut features).map_err(of_data)?;
        }
        let mut ruled_out = features.constant();
        if let Some(least) = settings.variance_threshold {
            ruled_out.extend(fewest_data::low_variance(&features, least).iter());
        }
        let by_class = settings.class_weight.of(&target.counts());
        let weights = rows.iter().zip(&target.codes).map(|(&i, &c)| data.weights[i] * by_class[c as usize]).collect();
        let scaling = Scaling::fit(scale_kind(data.features, settings), &features).map_err(of_data)?;
        scaling.apply(&mut features).map_err(of_data)?;
        let design = features.as_design();
        let squares: f64 = (0..design.n_features()).map(|j| design.squared_norm(j)).sum();
        let size = PartSize {
            samples: rows.len(),
            usable: design.n_features() - ruled_out.len(),
            mean_square: squares / rows.len().max(1) as f64,
        };
        let bounding = RuleList { weights: settings.rules.weights.clone(), ..RuleList::default() };
        let weight_bounds = Rules::new(design.n_features(), bounding, &[])?.weight_bounds().clone();
        Ok(Self { features, target, weights, imputation, scaling, ruled_out, weight_bounds, size })
    }

    /// The samples of other rows, filled in and scaled as these.
    pub(crate) fn hold_out(
        &self,
        data: &StudyData<'_>,
        rows: &[usize],
        settings: &StudySettings,
    ) -> Result<HeldOut, Error> {
        let mut features = data.features.rows(rows);
        if let Some(imputation) = &self.imputation {
            imputation.apply(&mut features).map_err(of_data)?;
        }
        self.scaling.apply(&mut features).map_err(of_data)?;
        let target = data.target.rows(rows);
        let by_class = settings.class_weight.of(&self.target.counts());
        let weights = rows.iter().zip(&target.codes).map(|(&i, &c)| data.weights[i] * by_class[c as usize]).collect();
        Ok(HeldOut { features, target, weights })
    }

    pub(crate) fn design(&self) -> &dyn Design {
        self.features.as_design()
    }

    /// The samples as methods take them.
    pub(crate) fn samples(&self) -> Result<Samples<'_>, Error> {
        Samples::new(self.design(), &self.target.codes, Some(&self.weights))
    }

    /// As a problem of two classes.
    pub(crate) fn problem(&self) -> Result<Problem<'_>, Error> {
        self.samples()?.problem()
    }

    /// The rules asked for, and what the samples rule out; at most `size` features.
    ///
    /// # Errors
    /// Rules that leave nothing.
    pub(crate) fn rules(&self, settings: &StudySettings, size: Option<usize>) -> Result<Rules, Error> {
        Rules::new(self.design().n_features(), self.rule_list(settings, size), &[])
    }

    pub(crate) fn rule_list(&self, settings: &StudySettings, size: Option<usize>) -> RuleList {
        let mut list = RuleList { max_features: size, ..settings.rules.clone() };
        list.forbid.extend(self.ruled_out.iter());
        list
    }

    /// These columns as a matrix of their own.
    pub(crate) fn columns(&self, features: &[usize]) -> DenseDesign<'static> {
        columns(self.design(), features)
    }

    /// The class of most samples.
    pub(crate) fn most_frequent(&self) -> u32 {
        let counts = self.target.counts();
        let most = counts.iter().max().copied().unwrap_or(0);
        counts.iter().position(|&count| count == most).unwrap_or(0) as u32
    }
}

impl HeldOut {
    /// These columns as a matrix of their own.
    pub(crate) fn columns(&self, features: &[usize]) -> DenseDesign<'static> {
        columns(self.features.as_design(), features)
    }
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

/// The scaling asked for, or the default for the kind of data.
fn scale_kind(features: &Features, settings: &StudySettings) -> ScaleKind {
    match settings.scale {
        Some(kind) => kind,
        None => ScaleKind::default_for(features).0,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
fn of_data(error: fewest_data::DataError) -> Error {
    Error::Data(error.to_string())
}
