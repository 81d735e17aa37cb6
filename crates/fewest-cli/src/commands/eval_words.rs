//! The errors of an evaluation in the command's words.

use fewest_data::DealError;
use fewest_eval::EvalError;

use crate::args::notation;
use crate::failure::Failure;

/// An error of an evaluation of the data of this file.
pub(crate) fn failure(error: EvalError, source: &str) -> Failure {
    let text = match error {
        EvalError::Method(error) => return error.into(),
        EvalError::Data(error) => return error.into(),
        EvalError::Caller(error) => {
            return error.downcast().map_or_else(|other| Failure::Input(other.to_string()), |failure| *failure);
        }
        EvalError::Within { part, error } => return failure(*error, source).within(&part),
        EvalError::NoSampleLeft { class } => return Failure::no_sample_left(&class),
        EvalError::TooManyFolds { folds, samples, inner: true } => {
            format!("--inner-cv is {folds}, but the training part has {samples} samples")
        }
        EvalError::TooManyFolds { folds, samples, inner: false } => {
            format!("{source}: --cv is {folds}, but there are {samples} samples")
        }
        EvalError::Deal { error: DealError::FewGroups { folds, groups }, inner } => {
            let (option, of) = if inner { ("--inner-cv", "the training part has") } else { ("--cv", "there are") };
            format!(
                "{source}: {option} is {folds}, but {of} {groups} groups, which stay together; use {option} {groups} or less"
            )
        }
        EvalError::Deal { error: DealError::EmptyFold { folds, groups }, inner } => {
            let option = if inner { "--inner-cv" } else { "--cv" };
            format!(
                "{source}: one of the {folds} folds of {option} is left without samples, as the {groups} groups differ so much in size; use fewer folds"
            )
        }
        EvalError::Deal { error: DealError::ClassInOneHalf { class, groups }, .. } => format!(
            "{source}: class {class} is in {groups} of the groups, which leave one half without it; keep other classes with --classes, or name smaller groups"
        ),
        EvalError::ClassInOneGroup { class, groups } => format!(
            "{source}: class {class} is in {} only, so that one half has none of it; keep other classes with --classes, or leave out --groups",
            notation::plural(groups, "group")
        ),
        EvalError::FewGroups { groups } => format!(
            "{source}: --cost auto holds out groups with samples of each class, but a class is in {} only; add groups, give a number, or keep other classes with --classes",
            notation::plural(groups, "group")
        ),
        EvalError::GroupInTwoFolds { group, folds: [a, b] } => format!(
            "{source}: the samples of group {group} are in {a} and in {b}, but --groups keeps them together; give the group one fold, or leave out --groups"
        ),
        EvalError::FewFolds { folds } => {
            let folds = notation::plural(folds, "fold");
            format!("{source}: {folds} with samples of positive weight, but at least 2 are needed")
        }
        EvalError::NotInBothHalves { class } => format!(
            "{source}: class {class} has fewer than 2 samples, so that one half has none of it; keep other classes with --classes"
        ),
        EvalError::NoThreshold { max_false, size, candidates, fewer } => {
            let remedy = match fewer {
                Some(fewer) => format!("let a half select at most {fewer} (--max-features {fewer}), or allow more"),
                None => "allow more".to_owned(),
            };
            format!(
                "--max-false is {max_false}, but where a half selects {size} of {candidates} features not even all halves agreeing promise that; {remedy}"
            )
        }
        EvalError::FewSamples { samples } => format!(
            "{source}: --cost auto holds out samples of each class, but a class has {samples} only; add samples, give a number, or keep other classes with --classes"
        ),
        EvalError::OneSample { class } => format!(
            "{source}: folds hold out samples of each class, but class {class} has one sample only; add samples, or keep other classes with --classes"
        ),
        EvalError::FewMarkers { class, features, least } => format!(
            "--per-class is {least}, but {} that the rules and --expression allow {} the largest mean in class {class}; ask for fewer, or let more features in",
            notation::plural(features, "feature"),
            if features == 1 { "has" } else { "have" }
        ),
        EvalError::FewApart { first, second, features, least } => format!(
            "--robust {} asks for {least} features that tell {first} and {second} apart by themselves, but there {}; ask for fewer, let more features in, or give both classes one name",
            least - 1,
            if features == 1 { "is 1".to_owned() } else { format!("are {features}") }
        ),
        EvalError::NotRobust { size, missing, lost } => format!(
            "--robust {lost}: no exchange makes a panel of {} stand the loss of {lost}, {missing} more would be needed to tell pairs of classes apart; allow more with --max-features",
            notation::plural(size, "feature")
        ),
        EvalError::CostRange { cost, least, most } => format!(
            "{source}: --cost auto would try {cost:e}, but costs are from {least:e} to {most:e}; the values of the features are too large or too small: scale them with --scale standard, or give a cost"
        ),
        EvalError::TaskHeldOut { .. } => error.to_string(),
        other => format!("{source}: {other}"),
    };
    Failure::Input(text)
}
