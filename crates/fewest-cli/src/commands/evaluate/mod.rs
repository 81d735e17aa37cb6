//! `fewest evaluate`: how well a method does on samples it has not seen
//! ([`fewest_eval::evaluate`]). What is reported is in [`report`].

mod plan;
mod report;

use std::sync::Mutex;

use fewest_eval::EvalError;
use fewest_eval::evaluate::{EvaluateSettings, FoldResult, InnerFolds, Recipe, evaluate};
use fewest_eval::folds::check;
use serde_json::json;

use super::effective::warn_of_source;
use super::invocation::Invocation;
use super::part::{self, Parts};
use crate::args::notation;
use crate::args::rules::RuleSource;
use crate::cli::EvaluateArgs;
use crate::export::file::Sink;
use crate::failure::Failure;
use crate::interrupt;
use crate::line::{self, Place};
use crate::method_args::MethodOptions;
use crate::resume::{BETWEEN_FOLDS, DATA, Resume};
use plan::{Options, Recipes};

/// Runs the command.
pub(crate) fn run(args: &EvaluateArgs, method: &MethodOptions, invocation: &Invocation) -> Result<u8, Failure> {
    let terminal = invocation.terminal;
    let options = Options::read(args, method)?;
    let sink = Sink::open_if("--json", args.selection.json.as_ref())?;
    let page = Sink::open_if("--report", args.selection.report.as_ref())?;
    Sink::apart(&[("--json", sink.as_ref()), ("--report", page.as_ref())])?;
    let sources: Vec<Vec<RuleSource>> =
        options.methods.iter().map(|recipes| sources(recipes, &options)).collect::<Result<_, _>>()?;
    let first = &options.methods[0].choices[0];
    let mut raw = part::load(options.selection, first, options.fold_column.as_deref(), terminal)?;
    warn_of_source(&sources[0][options.sizes.len() - 1], &mut raw, terminal)?;
    let folds = options.folds(&raw)?;
    check(&folds, &raw.target).map_err(|error| raw.failure(error))?;
    let truth = options.truth(&raw.data.names)?;
    let resume = match &options.resume {
        Some(path) => Some(Resume::open(path, json!({"options": options.text, DATA: raw.check()}), BETWEEN_FOLDS)?),
        None => None,
    };
    let kept: Option<Vec<Option<FoldResult>>> = resume.as_ref().map_or(Ok(None), Resume::load_json)?;
    let parts = options.methods.iter().map(|recipes| Parts::new(&raw, options.selection, &recipes.choices[0]));
    let parts: Vec<Parts<'_>> = parts.collect::<Result<_, _>>()?;
    let each = options.methods.iter().zip(&sources).zip(&parts);
    let recipes: Vec<Recipe<'_>> =
        each.map(|((recipes, sources), parts)| recipe(recipes, sources, parts, &options)).collect();
    let time = invocation.left(args.selection.time_limit);
    let settings = EvaluateSettings { truth, time, selection_time: options.selection_time };
    let cancel = interrupt::listen(terminal)?;
    let resume = Mutex::new(resume);
    let told = |at: usize, results: &[Option<FoldResult>]| -> Result<(), EvalError> {
        let accuracy = |fold: &Option<FoldResult>| fold.as_ref().map(|fold| fold.metrics.accuracy);
        line::at(so_far(&results.iter().map(accuracy).collect::<Vec<_>>(), folds.len()));
        let Some(found) = &results[at] else { return Ok(()) };
        let (name, method) = (&found.fold, options.methods[at / folds.len()].name);
        if found.selected.is_empty() {
            terminal.warn(&format!("{name}: no feature was selected; the most frequent class is predicted"));
        }
        let accuracy = 100.0 * found.metrics.accuracy;
        terminal.detail(&format!("{name}: {method} {accuracy:.2} %, {:.2} s", found.seconds));
        Ok(Resume::keep_when_due(&resume, results)?)
    };
    line::at(Place { total: Some((folds.len() * recipes.len()) as u64), ..Place::at("folds") });
    let results = evaluate(&parts[0].scene(&cancel), &folds, &recipes, &settings, kept, &told);
    let results = results.map_err(|error| raw.failure(error))?;
    Resume::keep_last(resume, &results)?;
    let (missing, total) = (results.iter().filter(|r| r.is_none()).count(), results.len());
    let value = report::value(&options, &raw, &folds, &results, &invocation.command_line);
    let scaling = raw.scaling_text(&options.selection.prepare);
    super::report::tell(value, &scaling, [sink.as_ref(), page.as_ref()], terminal)?;
    if missing > 0 {
        let missing = notation::plural(missing, "fold");
        let (why, more) = if cancel.is_cancelled() {
            ("cancelled", "")
        } else {
            ("stopped at the time limit", "; --time-limit sets another")
        };
        terminal.note(&format!("{why}; {missing} of {total} not done; these are the results of the others{more}"));
    }
    let stopped = results.iter().flatten().any(|r| r.stopped);
    Ok(if missing > 0 || stopped { 3 } else { 0 })
}

/// Folds done, and the largest mean accuracy of a method in those that are; each has this number of `folds`.
fn so_far(accuracy: &[Option<f64>], folds: usize) -> Place {
    let mean = |of: &[Option<f64>]| of.iter().flatten().sum::<f64>() / of.iter().flatten().count() as f64;
    let best = accuracy.chunks(folds.max(1)).map(mean).fold(f64::NAN, f64::max);
    let place = Place::of_parts("folds", accuracy);
    if best.is_nan() { place } else { Place { text: format!("folds, best accuracy so far {best:.3}"), ..place } }
}

/// The rules of a method, by size.
fn sources(recipes: &Recipes, options: &Options<'_>) -> Result<Vec<RuleSource>, Failure> {
    let rules = &options.selection.rules;
    let sources: Vec<RuleSource> =
        options.sizes.iter().map(|&size| RuleSource::read(rules, size)).collect::<Result<_, _>>()?;
    sources[0].weights().obeyed_by(recipes.name)?;
    if !sources[0].bounds_size() && !recipes.choices[0].args().finds_size() {
        return Err(Failure::input(
            "say how many features to keep: --max-features K, or K..L to choose the size inside each fold",
        ));
    }
    Ok(sources)
}

/// A method with all choices of what is tuned.
fn recipe<'a>(
    recipes: &'a Recipes,
    sources: &'a [RuleSource],
    parts: &'a Parts<'a>,
    options: &Options<'_>,
) -> Recipe<'a> {
    let selectors = recipes.choices.iter().map(|choice| {
        let of_size = |source| Box::new(parts.selector(choice, source)) as Box<dyn fewest_eval::PartSelector>;
        sources.iter().map(of_size).collect()
    });
    Recipe {
        sizes: options.sizes.clone(),
        selectors: selectors.collect(),
        fit_costs: recipes.fit_costs.clone(),
        inner: InnerFolds { count: options.inner, seed: options.seed, choose: options.choose },
        preparation: Some(&parts.preparation),
    }
}

#[cfg(test)]
mod tests {
    use super::so_far;

    #[test]
    fn the_best_method_so_far_is_said() {
        let place = so_far(&[Some(0.5), Some(0.75), None, Some(1.0), Some(0.5), None], 3);
        assert_eq!((place.text.as_str(), place.done, place.total), ("folds, best accuracy so far 0.750", 4, Some(6)));
        assert_eq!(so_far(&[None, Some(0.5)], 1).text, "folds, best accuracy so far 0.500");
        assert_eq!(so_far(&[None, None], 1).text, "folds");
    }
}
