//! What a stability selection reports, as JSON and for people.

use fewest_eval::stability::{Candidates, PairResult, StabilityReport, StabilitySettings};
use fewest_result::{Asked, Document, Kind, StabilitySelection, entries};
use serde::Serialize;
use serde_json::Value;

use crate::cli::StabilityArgs;
use crate::commands::asked::asked_of_method;
use crate::commands::data_as_read::DataAsRead;
use crate::method_args::MethodOptions;

/// Settings of a stability selection beside those of its method.
#[derive(Serialize)]
struct StabilityAsked {
    pairs: usize,
    max_features: Option<usize>,
    max_false: Option<f64>,
    seed: u64,
}

/// What the pairs that are done say.
pub(super) fn value(
    (args, options, raw): (&StabilityArgs, &MethodOptions, &DataAsRead),
    (candidates, settings): (Candidates, &StabilitySettings),
    results: &[Option<PairResult>],
    cancelled: bool,
    command: &str,
) -> Value {
    let pairs: Vec<&PairResult> = results.iter().flatten().collect();
    let left = pairs.len() < results.len() || pairs.iter().any(|pair| pair.stopped);
    let halves: Vec<&[Vec<usize>; 2]> = pairs.iter().map(|pair| &pair.selected).collect();
    let found = StabilityReport::new(&halves, raw.data.names.len(), candidates, settings, (cancelled, left));
    let asked = asked(args, options, raw, candidates);
    let found = StabilitySelection::new(
        raw.named(),
        raw.about(),
        options.name(),
        (&found, &pairs),
        args.assume,
        (asked, command),
    );
    Document::new(Kind::Stability, found).value()
}

/// What was asked.
fn asked(args: &StabilityArgs, options: &MethodOptions, raw: &DataAsRead, candidates: Candidates) -> Asked {
    let mut own = options.settings();
    own.extend(entries(&StabilityAsked {
        pairs: args.pairs,
        max_features: candidates.most,
        max_false: args.threshold.is_none().then_some(args.max_false),
        seed: args.seed,
    }));
    asked_of_method(own, &args.selection, raw)
}
