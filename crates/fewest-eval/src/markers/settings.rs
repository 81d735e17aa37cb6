//! What is asked of markers.

use fewest::{Error, Loss, MultiClass, RuleList, Settings as _};
use fewest_data::Target;
use serde::{Deserialize, Serialize};

use super::levels::{self, Level, LevelClasses};
use crate::preparation::{ClassWeights, Preparation};

fewest::settings! {
    /// Settings of [`super::markers`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct MarkersSettings {
        /// Rules of the panel, by index. Its size, `max_features`, is needed.
        pub rules: RuleList = RuleList::default(),
        /// At least this many features of the panel are high in each class: their mean there is the
        /// largest of all classes.
        pub per_class: usize = 0,
        /// Number of features of the panel that may be lost: each pair of classes is told apart by one
        /// feature more by themselves, each at least half as far as by the best feature for this pair.
        pub robust: usize = 0,
        /// The smallest and the largest value that the largest mean of a class may have: features
        /// outside are left out. In units of the data.
        pub expression: [Option<f64>; 2] = [None, None],
        /// Slack cost C; none: `class_cost k / W`, `W` the sum of the weights of all samples and k the
        /// number of classes.
        pub cost: Option<f64> = None,
        /// What the samples of a class cost together where classes weigh the same and no cost is given.
        pub class_cost: f64 = 0.3 => [above 0],
        /// Loss.
        pub loss: Loss = Loss::SquaredHinge,
        /// How classes become two-class problems.
        pub multi_class: MultiClass = MultiClass::OneVsOne,
        /// Levels above the classes, from coarse to fine: pairs of classes weigh by the level at which they
        /// part.
        pub hierarchy: Vec<Level> = Vec::new(),
        /// What the pairs of each level weigh together, those of the classes themselves last; none: all the
        /// same.
        pub level_weights: Vec<f64> = Vec::new(),
        /// How samples are prepared: standard scaling, balanced classes.
        pub preparation: Preparation = Preparation {
            scale: Some(fewest_data::ScaleKind::Standard),
            class_weight: ClassWeights::Balanced,
            ..Preparation::default()
        },
        /// Folds that costs are chosen by and the panel is judged by.
        pub folds: usize = 3 => [at least 2],
        /// How samples are dealt into folds.
        pub seed: u64 = 0,
        /// Samples that folds are made of, at most: of each class as many as make this number, chosen
        /// by the seed. The panel and its bound are of all samples.
        pub sample: usize = 20_000,
        /// Halves of the samples that say how often each feature comes back; of the panels within the
        /// slack the one whose features come back most is taken. 0: none.
        pub halves: usize = 20,
        /// Share of what the best panel that is known gains over no feature, which the panel may gain
        /// less; 0: none, and the halves only say how often a feature comes back.
        pub slack: f64 = 0.01 => [0 or more below 1],
        /// Memory of a training, in bytes.
        pub memory: u64 = 1 << 30,
    }
}

impl MarkersSettings {
    /// The levels from coarse to fine, the classes themselves last; none without a hierarchy.
    pub fn levels(&self, target: &Target) -> Vec<LevelClasses> {
        levels::with_classes(&self.hierarchy, target)
    }

    /// What each pair of classes weighs; none without a hierarchy.
    pub(crate) fn pair_weights(&self, target: &Target) -> Option<Vec<Vec<f64>>> {
        levels::pair_weights(&self.hierarchy, &self.level_weights, target)
    }

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
        self.in_range()?;
        levels::check(&self.hierarchy, &self.level_weights, self.multi_class, n_classes)?;
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
