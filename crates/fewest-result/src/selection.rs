//! What `select`, `path` and `certify` found.

use fewest::method::auto_cost::CostChoice;
use fewest::validation::Summary;
use fewest::{Ranked, Sense};
use fewest_data::Names;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{About, Asked, ByName, Certificate, ModelRecord, Proven, Solution};

/// A subset that a method chose, or a list that was judged.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Selection {
    /// The method.
    pub method: String,
    /// The data.
    #[serde(flatten)]
    pub about: About,
    /// What is proven.
    #[serde(flatten)]
    pub proven: Proven,
    /// Whether less is better, or more.
    pub sense: Sense,
    /// Names of the chosen features, in the order of the indices.
    #[serde(default)]
    pub selected: Vec<String>,
    /// Their indices from 0, ascending.
    #[serde(default)]
    pub selected_indices: Vec<usize>,
    /// What was asked.
    #[serde(default)]
    pub settings: Asked,
    /// The classifier, as a model file has it.
    #[serde(default)]
    pub model: Option<ModelRecord>,
    /// All features, the best first.
    #[serde(default)]
    pub ranking: Vec<Place>,
    /// The subsets found, the best first.
    #[serde(default)]
    pub solutions: Vec<Solution>,
    /// How far the subset is from the best of its size, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Certificate>,
    /// How it came about.
    #[serde(flatten)]
    pub story: Story,
    /// How good each size is on samples that took no part, of a path in folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cv: Option<ByName<Summary>>,
    /// The file of the proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
    /// What the data say of the features, where that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    /// What the method alone tells.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl Selection {
    /// What a method selected; the ranking, which may be of a million features, is added as it is
    /// written.
    pub fn new(method: &str, found: &fewest::Selection, about: About, names: &Names) -> Self {
        let outcome = &found.outcome;
        let best = outcome.subset.as_ref().map(|subset| Solution::new(subset, outcome.objective, names));
        let solutions = match found.solutions.as_slice() {
            [] => best.iter().cloned().collect(),
            several => several.iter().map(|s| Solution::new(&s.subset, Some(s.objective), names)).collect(),
        };
        let Solution { selected, selected_indices, .. } = best.unwrap_or_default();
        Self {
            method: method.to_owned(),
            about,
            proven: outcome.into(),
            sense: outcome.sense,
            selected,
            selected_indices,
            settings: Asked::default(),
            model: None,
            ranking: Vec::new(),
            solutions,
            certificate: None,
            story: Story::default(),
            cv: None,
            proof: None,
            description: None,
            details: Map::new(),
        }
    }
}

/// A place of a ranking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place<N = String> {
    /// The feature's name.
    pub feature: N,
    /// Index from 0.
    pub index: usize,
    /// Rank from 1.
    pub rank: usize,
    /// The step in which it left; none of those that stayed.
    pub step: Option<u64>,
    /// What it was ranked by.
    pub criterion: Option<f64>,
}

impl<N> Place<N> {
    /// A place with the name of its feature.
    pub fn new(ranked: &Ranked, feature: N) -> Self {
        let Ranked { feature: index, rank, step, criterion } = *ranked;
        Self { feature, index, rank, step, criterion: criterion.is_finite().then_some(criterion) }
    }
}

/// How a selection came about.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Story {
    /// The command line; the sizes of a path have one for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Features that the data rule out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ruled_out: Option<RuledOut>,
    /// How incumbent and bound moved.
    pub trace: Option<Trace>,
    /// How the cost was chosen, where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_choice: Option<CostChoice>,
}

/// Features that the data rule out.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RuledOut {
    /// Features of one value only.
    pub constant: Few,
    /// Features below the threshold of variances.
    pub low_variance: Few,
}

/// How many, and the first of them.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Few {
    /// How many.
    pub count: usize,
    /// Names of the first.
    pub names: Vec<String>,
}

/// How incumbent and bound moved over time: seconds and value.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// Objective of the best subset so far.
    pub incumbent: Vec<(f64, f64)>,
    /// Bound.
    pub bound: Vec<(f64, f64)>,
}

/// What the data say of the features beside the selection.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Description {
    /// Area under the ROC curve of each feature alone, with more classes the mean over their pairs
    /// (Hand and Till 2001), in whichever direction is the larger; strongest first.
    pub strength: Vec<Strength>,
    /// Pearson's correlation of each pair of chosen features.
    pub correlations: Correlations,
    /// What could stand in for each chosen feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stand_ins: Option<Vec<StandIn>>,
}

/// A feature alone.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Strength {
    /// Name.
    pub feature: String,
    /// Index from 0.
    pub index: usize,
    /// Area under the ROC curve.
    pub auc: f64,
}

/// Correlations of some features.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Correlations {
    /// Names.
    pub features: Vec<String>,
    /// A row for each of them.
    pub matrix: Vec<Vec<f64>>,
}

/// The rejected feature most like a chosen one that the rules allow in its place.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StandIn {
    /// The chosen feature.
    pub feature: String,
    /// Index of the chosen feature, from 0.
    pub index: usize,
    /// The other one.
    pub stand_in: String,
    /// Index of the other one, from 0.
    pub stand_in_index: usize,
    /// Pearson's correlation of the two.
    pub correlation: f64,
    /// Objective of the SVM with the two exchanged; none where time was over.
    pub objective: Option<f64>,
    /// The share of what is gained that is then lost.
    pub loss: Option<f64>,
}

/// What a list that was judged has besides what a selection has.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ListJudgement {
    /// How far it is from the best, in words.
    pub sentence: String,
    /// The most features that it is compared with.
    pub max_features: usize,
    /// Whether the rules allow it.
    pub allowed: bool,
    /// The rules that it breaks, in words.
    pub broken_rules: Vec<String>,
    /// The best subset found.
    pub best: Solution,
    /// What each feature is worth.
    pub features: Vec<ListedFeature>,
    /// Better subsets.
    pub better: Vec<Solution>,
}

/// What is known of a feature of a list; none where time was too short.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ListedFeature {
    /// Name.
    pub name: String,
    /// Index from 0.
    pub index: usize,
    /// What it gains.
    pub gain: Option<f64>,
    /// Objective without it.
    pub without: Option<f64>,
    /// The best in its place.
    pub replacement: Option<Replacement>,
}

/// A feature in the place of another.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Replacement {
    /// Name.
    pub name: String,
    /// Index from 0.
    pub index: usize,
    /// Objective with it.
    pub objective: f64,
}

/// Subsets of several sizes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Path {
    /// One for each size, ascending.
    pub path: Vec<Selection>,
    /// How the folds were dealt, and which sizes do best in them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cv: Option<SizeChoice>,
    /// The command line.
    #[serde(default)]
    pub command: String,
}

/// Which size does best on samples that took no part.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SizeChoice {
    /// Number of folds.
    pub folds: usize,
    /// Times they were dealt.
    pub repeats: usize,
    /// Seed.
    pub seed: u64,
    /// Folds that were done.
    pub done: usize,
    /// Folds that were not.
    pub missing: usize,
    /// The size of the largest mean accuracy.
    pub best_size: Option<usize>,
    /// The smallest within one standard error of it.
    pub one_se_size: Option<usize>,
    /// The smallest that reaches a sensitivity and a specificity, where these were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<ReachChoice>,
}

/// The smallest size whose classifier finds a share of each class, on samples that took no part.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ReachChoice {
    /// Share of the positive class that is asked for.
    pub sensitivity: Option<f64>,
    /// Share of the other class that is asked for.
    pub specificity: Option<f64>,
    /// The smallest size whose means over the folds reach them.
    pub size: Option<usize>,
    /// The smallest whose 95 % intervals lie at them or above.
    pub certain_size: Option<usize>,
}
