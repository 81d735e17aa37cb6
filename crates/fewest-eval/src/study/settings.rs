//! What a study is asked to do.

use std::time::Duration;

use fewest::{AnyMethod, Error, Kernel, RuleList, Settings as _, SvmSettings};
use fewest_data::{Features, MissingRule, ScaleKind, ScaleReason};
use serde::{Deserialize, Serialize};

use super::score::Score;
use crate::preparation::{ClassWeights, Preparation, scale_kind};

/// A method that a study tries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StudyMethod {
    /// The best subset for a linear SVM at a cost.
    Exact,
    /// SVM-RFE with a linear SVM at a cost.
    Rfe,
    /// The filter by information gain; a baseline.
    InfoGain,
    /// Kernel-target alignment, and an SVM with the Gaussian kernel.
    Kta,
}

impl StudyMethod {
    /// All of them.
    pub const ALL: [StudyMethod; 4] = [StudyMethod::Exact, StudyMethod::Rfe, StudyMethod::InfoGain, StudyMethod::Kta];

    /// The method's name, as `fewest methods` has it.
    pub fn name(self) -> &'static str {
        match self {
            StudyMethod::Exact => "exact",
            StudyMethod::Rfe => "rfe",
            StudyMethod::InfoGain => "info-gain",
            StudyMethod::Kta => "kta",
        }
    }

    /// Whether its subsets depend on a cost.
    pub(crate) fn has_cost(self) -> bool {
        matches!(self, StudyMethod::Exact | StudyMethod::Rfe)
    }

    /// Whether it obeys bounds on weights; others take no part where there are some.
    pub fn keeps_bounds(self) -> bool {
        AnyMethod::bounding().contains(&self.name())
    }

    /// Whether its classifier has the Gaussian kernel.
    pub(crate) fn has_kernel(self) -> bool {
        self == StudyMethod::Kta
    }
}

/// Choice that is the panel, of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prefer {
    /// The rule's choice.
    #[default]
    Best,
    /// The smallest size that is as good inside the folds.
    Smallest,
}

fewest::settings! {
    /// Settings of [`super::study`].
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    pub struct StudySettings {
        /// Numbers of features K to choose from, ascending, from 1 to p; none: 1 to 10, cut at p.
        pub sizes: Option<Vec<usize>> = None,
        /// Outer folds.
        pub folds: usize = 5 => [at least 2],
        /// Times the outer folds are dealt again.
        pub repeats: usize = 2 => [at least 1],
        /// Folds inside each training part.
        pub inner_folds: usize = 5 => [at least 2],
        /// Times the inner folds are dealt again. Twice is first of 33 rules on sets that it was not
        /// chosen on, and ahead of once by 0.3 points of accuracy and of AUC
        /// (`bench/results/study_rules_second.md`).
        pub inner_repeats: usize = 2 => [at least 1],
        /// How samples are dealt into folds.
        pub seed: u64 = 0,
        /// Methods to try; empty: those that suit the data.
        pub methods: Vec<StudyMethod> = Vec::new(),
        /// Costs on the grid, evenly on a logarithmic scale from 1e-4 to 1e2 times `1 / mean |x|^2` of
        /// the scaled training samples.
        pub cost_points: usize = 8 => [at least 1],
        /// How method, costs and size are chosen. The default is the winner of
        /// `bench/results/study_rules.md`.
        pub rule: Score = Score::default(),
        /// Which choice is the panel: what the rule takes, or the smallest size within one standard
        /// error of it that loses at most 1 % of accuracy. Both are judged;
        /// `bench/results/study_rules.md` has what the other loses.
        pub prefer: Prefer = Prefer::Best,
        /// Share of the second of two classes that is to be found: the bias of each classifier is
        /// shifted so that this share of the samples that inner splits held out is above 0. None: the
        /// bias is that of the SVM.
        pub sensitivity: Option<f64> = None => "above 0, up to 1",
        /// Whether the panel is also made a points score of two classes, whose loss is measured on the
        /// outer folds; every method is then a linear one.
        pub points: bool = false,
        /// The rule for missing values (NaN), learnt from each training part; none: there are none.
        pub missing: Option<MissingRule> = None,
        /// The features that each text column became, which are filled in together
        /// ([`fewest_data::Dataset::text_columns`]).
        pub texts: Vec<Vec<usize>> = Vec::new(),
        /// Scaling; none: that of [`ScaleKind::default_for`].
        pub scale: Option<ScaleKind> = None,
        /// Multipliers of the slack cost by class.
        pub class_weight: ClassWeights = ClassWeights::None,
        /// Rules on the chosen features; `max_features` is that of each size.
        pub rules: RuleList = RuleList::default(),
        /// Features whose variance in the training part, as in the data, is at most this are not
        /// chosen.
        pub variance_threshold: Option<f64> = None,
        /// Loss, bias, tolerance and memory of the SVM; its cost is chosen.
        pub svm: SvmSettings = SvmSettings::default() => [group],
        /// How many best subsets to list beside the panel.
        pub solutions: usize = 5 => [at least 1],
        /// Nodes that the search on a whole training part may take.
        pub nodes: u64 = 200,
        /// Nodes that the proof of the panel may take.
        pub proof_nodes: u64 = 20_000,
        /// Seconds that one selection may take; none: no limit but that of the study.
        pub selection_seconds: Option<f64> = None => "a number of seconds, 0 or more",
    }
}

/// Sizes unless others are asked for.
const SIZES: usize = 10;

impl StudySettings {
    /// Checks every setting against its range, for p features and k classes.
    pub fn check(&self, p: usize, classes: usize) -> Result<(), Error> {
        self.svm.check()?;
        if let Some(method) = self.methods.iter().find(|method| self.bounds_weights() && !method.keeps_bounds()) {
            let keeping: Vec<&str> =
                StudyMethod::ALL.into_iter().filter(|method| method.keeps_bounds()).map(StudyMethod::name).collect();
            return Err(Error::Rules(format!(
                "{} does not obey signs of weights or bounds on them; leave them out, or try {} alone",
                method.name(),
                keeping.join(" and ")
            )));
        }
        if self.bounds_weights() && classes > 2 {
            return Err(Error::Rules(format!(
                "bounds on weights need two classes, but there are {classes}; leave them out, or keep two classes"
            )));
        }
        if self.points && classes != 2 {
            let must = format!("left out: points are for two classes, but there are {classes}");
            return Err(Error::setting("points", true, must));
        }
        if let Some(method) = self.methods.iter().find(|method| self.points && method.has_kernel()) {
            let must = format!("left out: they need a linear classifier, and that of {} has a kernel", method.name());
            return Err(Error::setting("points", true, format!("{must}; or try other methods")));
        }
        self.in_range()?;
        if let Some(seconds) = self.selection_seconds
            && Duration::try_from_secs_f64(seconds).is_err()
        {
            return Err(Error::setting("selection_seconds", seconds, "a number of seconds, 0 or more"));
        }
        if let Some(share) = self.sensitivity {
            if !(share > 0.0 && share <= 1.0) {
                return Err(Error::setting("sensitivity", share, "above 0, up to 1"));
            }
            if classes != 2 {
                let must = format!("left out: it is that of one of two classes, but there are {classes}");
                return Err(Error::setting("sensitivity", share, must));
            }
        }
        let sizes = self.sizes(p);
        if let Some(&k) = sizes.iter().find(|&&k| k == 0 || k > p) {
            return Err(Error::setting("max_features", k, format!("between 1 and the number of features, {p}")));
        }
        if let Some([a, b, ..]) = sizes.windows(2).find(|w| w[0] >= w[1]) {
            let found = format!("{a} before {b}");
            return Err(Error::setting("max_features", found, "sizes in ascending order, each once"));
        }
        if sizes.is_empty() {
            return Err(Error::setting("max_features", "an empty list", "at least one size"));
        }
        if let Some(k) = self.rules.max_features {
            return Err(Error::setting("max_features of the rules", k, "left out: the sizes say it"));
        }
        if let ClassWeights::Each(weights) = &self.class_weight {
            if weights.len() != classes {
                let found = format!("{} numbers", weights.len());
                return Err(Error::setting("class weights", found, format!("one for each of the {classes} classes")));
            }
            if let Some(bad) = weights.iter().find(|w| !(**w > 0.0 && w.is_finite())) {
                return Err(Error::setting("class weight", bad, "a finite number above 0"));
            }
        }
        Ok(())
    }

    /// How each part is prepared; features are scaled as suits all samples.
    pub(crate) fn preparation(&self, features: &Features) -> Preparation {
        Preparation {
            missing: self.missing,
            texts: self.texts.clone(),
            categorical: Vec::new(),
            variance_threshold: self.variance_threshold,
            scale: Some(self.scale_kind(features).0),
            centred: self.centred(),
            class_weight: self.class_weight.clone(),
        }
    }

    /// The scaling in effect, and why.
    pub fn scale_kind(&self, features: &Features) -> (ScaleKind, ScaleReason) {
        scale_kind(self.scale, features, self.centred())
    }

    /// Whether sparse data are centred, too: a linear machine takes part, and its bias does not make up
    /// for a constant in a feature.
    pub fn centred(&self) -> bool {
        let linear = self.methods.iter().any(|method| !method.has_kernel());
        linear && !self.svm.bias.absorbs_constants(&Kernel::Linear)
    }

    /// Whether the rules bound weights.
    pub fn bounds_weights(&self) -> bool {
        !self.rules.weights.is_empty()
    }

    /// The sizes in effect for p features.
    pub fn sizes(&self, p: usize) -> Vec<usize> {
        self.sizes.clone().unwrap_or_else(|| (1..=SIZES.min(p)).collect())
    }
}
