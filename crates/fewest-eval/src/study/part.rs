//! A part of a study: its samples, and what costs and rules depend on.

use fewest::{DenseDesign, Error, FeatureSet, Memory, MultiClass, RuleList, Rules, Several, WeightBounds};

use super::settings::StudySettings;
use crate::part::{Data, HeldOut, TrainingPart};
use crate::preparation::columns;

/// Samples to learn from, prepared, and what they rule out.
#[derive(Debug)]
pub(crate) struct StudyPart {
    pub(crate) prepared: TrainingPart,
    /// Features with one value, or of low variance; ascending.
    ruled_out: FeatureSet,
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

impl StudyPart {
    /// The samples of these rows, ascending.
    pub(crate) fn new(data: &Data<'_>, rows: &[usize], settings: &StudySettings) -> Result<Self, Error> {
        let prepared = TrainingPart::new(data, rows, &settings.preparation(data.features), &Memory::unlimited())?;
        let (ruled_out, design) = (prepared.ruled_out(), prepared.design());
        let squares: f64 = (0..design.n_features()).map(|j| design.squared_norm(j)).sum();
        let size = PartSize {
            samples: rows.len(),
            usable: design.n_features() - ruled_out.len(),
            mean_square: squares / rows.len().max(1) as f64,
        };
        let bounding = RuleList { weights: settings.rules.weights.clone(), ..RuleList::default() };
        let weight_bounds = Rules::new(design.n_features(), bounding, &[])?.weight_bounds().clone();
        Ok(Self { prepared, ruled_out, weight_bounds, size })
    }

    /// The samples of other rows, prepared as these.
    pub(crate) fn hold_out(&self, data: &Data<'_>, rows: &[usize]) -> Result<HeldOut, Error> {
        Ok(self.prepared.hold_out(data, rows, &Memory::unlimited())?)
    }

    /// The problems of two classes that share a subset: one for each pair of classes.
    pub(crate) fn several(&self) -> Result<Several<'_>, Error> {
        Several::new(&self.prepared.samples()?, MultiClass::default(), &Memory::unlimited())
    }

    /// The rules asked for, and what the samples rule out; at most `size` features.
    ///
    /// # Errors
    /// Rules that leave nothing.
    pub(crate) fn rules(&self, settings: &StudySettings, size: Option<usize>) -> Result<Rules, Error> {
        Rules::new(self.prepared.design().n_features(), self.rule_list(settings, size), &[])
    }

    pub(crate) fn rule_list(&self, settings: &StudySettings, size: Option<usize>) -> RuleList {
        let mut list = RuleList { max_features: size, ..settings.rules.clone() };
        list.forbid.extend(self.ruled_out.iter());
        list
    }

    /// These columns as a matrix of their own.
    pub(crate) fn columns(&self, features: &[usize]) -> DenseDesign<'static> {
        columns(self.prepared.design(), features)
    }
}
