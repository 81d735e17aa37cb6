//! What is asked of markers.

use fewest::{Error, Loss, MultiClass, RuleList};
use serde::{Deserialize, Serialize};

use crate::preparation::{ClassWeights, Preparation};

/// Costs to choose from, as [`MarkersSettings::class_costs`].
pub const CLASS_COSTS: [f64; 3] = [0.3, 1.0, 3.0];

/// Settings of [`super::markers`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MarkersSettings {
    /// Rules of the panel, by index. Its size, `max_features`, is needed.
    pub rules: RuleList,
    /// At least this many features of the panel are high in each class: their mean there is the
    /// largest of all classes. Default 0.
    pub per_class: usize,
    /// The smallest and the largest value that the largest mean of a class may have: features
    /// outside are left out. In units of the data. Default none.
    pub expression: [Option<f64>; 2],
    /// Slack cost C; none: chosen inside folds among `class_costs`. Default none.
    pub cost: Option<f64>,
    /// Costs to choose from, ascending, each as `C W / k`: what the samples of a class cost together
    /// where classes weigh the same, `W` the sum of the weights of all samples and k the number of
    /// classes. Default 0.3, 1, 3.
    pub class_costs: Vec<f64>,
    /// Loss. Default squared hinge.
    pub loss: Loss,
    /// How classes become two-class problems. Default one-vs-one.
    pub multi_class: MultiClass,
    /// How samples are prepared. Default: standard scaling, balanced classes.
    pub preparation: Preparation,
    /// Folds that costs are chosen by and the panel is judged by, at least 2. Default 3.
    pub folds: usize,
    /// How samples are dealt into folds. Default 0.
    pub seed: u64,
    /// Samples that folds are made of, at most: of each class as many as make this number, chosen by
    /// the seed. The panel and its bound are of all samples. Default 20,000.
    pub sample: usize,
    /// Memory of a training, in bytes. Default 1 GiB.
    pub memory: u64,
}

impl Default for MarkersSettings {
    fn default() -> Self {
        Self {
            rules: RuleList::default(),
            per_class: 0,
            expression: [None, None],
            cost: None,
            class_costs: CLASS_COSTS.to_vec(),
            loss: Loss::SquaredHinge,
            multi_class: MultiClass::OneVsOne,
            preparation: Preparation {
                scale: Some(fewest_data::ScaleKind::Standard),
                class_weight: ClassWeights::Balanced,
                ..Preparation::default()
            },
            folds: 3,
            seed: 0,
            sample: 20_000,
            memory: 1 << 30,
        }
    }
}

impl MarkersSettings {
    /// Checks every number against its range, for `n_classes` classes.
    ///
    /// # Errors
    /// The first setting out of range.
    pub(crate) fn check(&self, n_classes: usize) -> Result<(), Error> {
        let Some(most) = self.rules.max_features.filter(|most| *most > 0) else {
            return Err(Error::setting("max_features", "none", "1 or more: the number of markers"));
        };
        if !self.rules.weights.is_empty() {
            let why = "bounds on weights say which of two classes a feature speaks for, but markers tell all classes apart; leave them out";
            return Err(Error::Rules(why.into()));
        }
        let positive = |cost: &f64| *cost > 0.0 && cost.is_finite();
        if self.class_costs.is_empty() || !self.class_costs.iter().all(positive) {
            return Err(Error::setting(
                "class_costs",
                format!("{:?}", self.class_costs),
                "numbers above 0, one or more",
            ));
        }
        if self.folds < 2 {
            return Err(Error::setting("number of folds", self.folds, "at least 2"));
        }
        if let [Some(low), Some(high)] = self.expression
            && low > high
        {
            return Err(Error::setting("expression", format!("{low} to {high}"), "a smaller and a larger number"));
        }
        if self.per_class.saturating_mul(n_classes) > most {
            let range = format!(
                "at most {}, as {n_classes} classes share {most} markers; ask for fewer, or allow more markers",
                most / n_classes
            );
            return Err(Error::setting("per_class", self.per_class, range));
        }
        Ok(())
    }
}
