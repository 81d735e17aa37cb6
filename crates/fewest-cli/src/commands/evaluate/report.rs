//! What an evaluation reports, as JSON and for people.

use fewest_eval::evaluate::{Evaluation as Judged, FoldResult};
use fewest_eval::folds::{Fold, test_share};
use fewest_result::{Asked, Document, Evaluation, Kind, entries};
use serde::Serialize;
use serde_json::Value;

use super::plan::Options;
use crate::commands::asked::asked_of_method;
use crate::commands::data_as_read::DataAsRead;

/// How samples are dealt.
#[derive(Serialize)]
#[serde(untagged)]
enum Scheme<'a> {
    Column { folds: &'a str },
    Named(&'static str),
    Drawn { cv: usize, repeats: usize, seed: u64 },
}

/// Settings of an evaluation beside those of its method.
#[derive(Serialize)]
struct EvaluationAsked<'a> {
    positive: Option<&'a str>,
    scheme: Scheme<'a>,
    inner_cv: usize,
    tune: Tuned<'a>,
    sizes: &'a [Option<usize>],
    choose: fewest::validation::SizeRule,
}

/// Values to choose from inside folds.
#[derive(Serialize)]
struct Tuned<'a> {
    #[serde(rename = "C")]
    costs: &'a [f64],
    fit_cost: &'a [f64],
    gamma: &'a [String],
}

/// The result of all folds, of one method or of two.
pub(super) fn value(
    options: &Options<'_>,
    raw: &DataAsRead,
    folds: &[Fold],
    results: &[Option<FoldResult>],
    command: &str,
) -> Value {
    let (share, p) = (test_share(folds, raw.target.codes.len()), raw.data.names.len());
    let methods: Vec<(&str, Judged<'_>, usize)> = options
        .methods
        .iter()
        .zip(results.chunks(folds.len()))
        .map(|(recipes, results)| {
            let left = results.iter().filter(|fold| fold.is_none()).count();
            (recipes.name, Judged::new(results, share, p), left)
        })
        .collect();
    let found = Evaluation::new(raw.named(), &raw.about(), &methods, asked(options, raw), command);
    Document::new(Kind::Evaluation, found).value()
}

/// What was asked.
fn asked(options: &Options<'_>, raw: &DataAsRead) -> Asked {
    let scheme = match (&options.fold_column, options.leave_one_out) {
        (Some(folds), _) => Scheme::Column { folds },
        (None, true) => Scheme::Named("leave-one-out"),
        (None, false) => Scheme::Drawn { cv: options.cv, repeats: options.repeats, seed: options.seed },
    };
    let mut own = options.methods[0].choices[0].settings();
    // What folds choose is no setting of all.
    own.retain(|key, _| !options.tunes(key));
    own.extend(entries(&EvaluationAsked {
        positive: options.selection.data.reading.positive.as_deref(),
        scheme,
        inner_cv: options.inner,
        tune: Tuned { costs: &options.tuned.costs, fit_cost: &options.tuned.fit_costs, gamma: &options.tuned.gammas },
        sizes: &options.sizes,
        choose: options.choose,
    }));
    asked_of_method(own, options.selection, raw)
}
