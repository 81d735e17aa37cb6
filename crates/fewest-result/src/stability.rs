//! What a stability selection found. docs/use/stability.md says what each entry is.

use fewest::Status;
use fewest::validation::{ShareLaw, Stability};
use fewest_eval::stability::{FeatureCount, PairResult, StabilityReport};
use serde::Serialize;

use crate::{About, Asked, ByName, NamedData};

/// What a method selects on halves again and again.
#[derive(Debug, Clone, Serialize)]
pub struct StabilitySelection {
    method: String,
    status: Status,
    #[serde(flatten)]
    about: About,
    selected: Vec<String>,
    selected_indices: Vec<usize>,
    threshold: Option<f64>,
    false_selections: FalseSelections,
    frequency: ByName<f64>,
    both_halves: ByName<f64>,
    pairs: Vec<Pair>,
    stability: Option<Stability>,
    seconds: f64,
    settings: Asked,
    command: String,
}

/// The expected number of false features, at most.
#[derive(Debug, Clone, Serialize)]
struct FalseSelections {
    bound: Option<f64>,
    assumption: &'static str,
    by_assumption: ByName<Option<f64>>,
    features_per_half: f64,
    features_per_half_is: &'static str,
    candidates: usize,
    chance: f64,
}

/// What the two halves of a deal selected.
#[derive(Debug, Clone, Serialize)]
struct Pair {
    selected: [Vec<String>; 2],
    status: [String; 2],
    seconds: f64,
}

impl StabilitySelection {
    /// What the pairs say under the assumption `assume`, with names.
    pub fn new(
        data: NamedData<'_>,
        about: About,
        method: &str,
        (found, pairs): (&StabilityReport, &[&PairResult]),
        assume: ShareLaw,
        (settings, command): (Asked, &str),
    ) -> Self {
        let selected_indices = found.stable();
        let share = |of: &dyn Fn(&FeatureCount) -> f64| {
            found.counts.iter().map(|count| (data.name(count.feature), of(count))).collect()
        };
        let pair = |pair: &&PairResult| Pair {
            selected: pair.selected.each_ref().map(|half| data.named(half)),
            status: pair.status.clone(),
            seconds: pair.seconds,
        };
        Self {
            method: method.to_owned(),
            status: found.status,
            about,
            selected: data.named(&selected_indices),
            selected_indices,
            threshold: found.threshold.map(|halves| found.share(halves)),
            false_selections: FalseSelections {
                bound: found.false_selections(assume),
                assumption: assume.name(),
                by_assumption: ShareLaw::ALL.into_iter().map(|law| (law.name(), found.false_selections(law))).collect(),
                features_per_half: found.q,
                features_per_half_is: if found.candidates.most.is_some() { "most" } else { "mean" },
                candidates: found.candidates.count,
                chance: found.chance(),
            },
            frequency: share(&|count| found.share(count.halves)),
            both_halves: share(&|count| count.both as f64 / found.pairs as f64),
            pairs: pairs.iter().map(pair).collect(),
            stability: found.stability,
            seconds: pairs.iter().map(|pair| pair.seconds).sum(),
            settings,
            command: command.to_owned(),
        }
    }
}
