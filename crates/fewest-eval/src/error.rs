//! What can go wrong with samples, a part of them, or a method on it.

use std::error::Error as StdError;

use fewest::Error;
use fewest_data::{DataError, DealError};

/// An error of an evaluation. Its text names the thing, the value found and a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvalError {
    /// A method, its settings, its rules or memory.
    #[error(transparent)]
    Method(#[from] Error),
    /// Values of features.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A training part lacks a class.
    #[error("no sample of class {class} is left to train on; use fewer or other folds, or leave that class out")]
    NoSampleLeft {
        /// The class.
        class: String,
    },
    /// More folds than samples.
    #[error("there are to be {folds} folds, but there are {samples} samples; use fewer folds")]
    TooManyFolds {
        /// Folds asked for.
        folds: usize,
        /// Samples to deal.
        samples: usize,
        /// Whether they are the folds inside a training part.
        inner: bool,
    },
    /// Groups that cannot be dealt into folds.
    #[error("{error}")]
    Deal {
        /// Why.
        error: DealError,
        /// Whether they are the folds inside a training part.
        inner: bool,
    },
    /// A group whose samples are in two folds.
    #[error(
        "the samples of group {group} are in {} and in {}, but groups stay together; give the group one fold, or leave the groups out", .folds[0], .folds[1]
    )]
    GroupInTwoFolds {
        /// The group.
        group: String,
        /// The names of both folds.
        folds: [String; 2],
    },
    /// A class is in too few groups to be in both halves.
    #[error("class {class} is in {groups} group only, so that one half has none of it; leave that class out")]
    ClassInOneGroup {
        /// The class.
        class: String,
        /// Groups that have samples of it.
        groups: usize,
    },
    /// A class is in too few groups for a cost to be chosen by cross-validation.
    #[error(
        "the choice of a cost holds out groups with samples of each class, but a class is in {groups} group only; add groups, give a cost, or leave that class out"
    )]
    FewGroups {
        /// Groups with samples of the rarest class.
        groups: usize,
    },
    /// A class is too small to be held out and learned from.
    #[error(
        "folds hold out samples of each class, but class {class} has one sample only; add samples, or leave that class out"
    )]
    OneSample {
        /// The class.
        class: String,
    },
    /// Fewer features are high in a class than are asked for.
    #[error(
        "{least} features that are high in class {class} are asked for, but {features} have their largest mean there; ask for fewer, or let more features in"
    )]
    FewMarkers {
        /// The class.
        class: String,
        /// Features whose mean is largest there and that the other rules allow.
        features: usize,
        /// How many are asked for.
        least: usize,
    },
    /// A class in two classes of a coarser level.
    #[error(
        "class {class} is in {} and in {} of {level}, but a class is in one; correct {level}, or leave it out of the hierarchy", .within[0], .within[1]
    )]
    ClassInTwo {
        /// The class.
        class: String,
        /// The level.
        level: String,
        /// Two of the level's classes.
        within: [String; 2],
    },
    /// Fewer features that tell two classes apart by themselves than asked for.
    #[error(
        "{least} features that tell {first} and {second} apart by themselves are asked for, but there are {features}; ask for fewer, or let more features in"
    )]
    FewApart {
        /// A class.
        first: String,
        /// Another one.
        second: String,
        /// Features that tell them apart and that the other rules allow.
        features: usize,
        /// How many are asked for.
        least: usize,
    },
    /// A panel that cannot stand a loss.
    #[error(
        "no exchange makes a panel of {size} features stand the loss of {lost}: {missing} more are needed to tell pairs of classes apart; allow more features"
    )]
    NotRobust {
        /// Features of the panel.
        size: usize,
        /// Features that are missing, summed up over the pairs.
        missing: usize,
        /// How many may be lost.
        lost: usize,
    },
    /// Fewer than two folds.
    #[error("there is one fold only, but at least 2 are needed")]
    OneFold,
    /// Fewer than two folds with samples of positive weight.
    #[error("{folds} of the folds have samples of positive weight, but at least 2 are needed")]
    FewFolds {
        /// Folds that have some.
        folds: usize,
    },
    /// All samples of a task are of one class.
    #[error(
        "all samples of the task {task} are of one class, but a classifier needs two; leave its rows out, or join it with another"
    )]
    TaskOfOneClass {
        /// The task.
        task: String,
    },
    /// No sample of a task is learned from.
    #[error(
        "all samples of the task {task} are held out, so that it has no classifier; deal each task into several folds"
    )]
    TaskHeldOut {
        /// The task.
        task: String,
    },
    /// A class is too small to be in both halves.
    #[error("class {class} has fewer than 2 samples, so that one half has none of it; leave that class out")]
    NotInBothHalves {
        /// The class.
        class: String,
    },
    /// Not even all halves agreeing keep the expected number of false features.
    #[error(
        "{max_false} false features may be expected, but where a half selects {size} of {candidates} features not even all \
         halves agreeing promise that; let a half select fewer, or allow more"
    )]
    NoThreshold {
        /// The number asked for.
        max_false: f64,
        /// Features that a half selects, at most.
        size: usize,
        /// Features that it may select.
        candidates: usize,
        /// The most features of a half that would keep it; none: no number does.
        fewer: Option<usize>,
    },
    /// A class is too small for a cost to be chosen by cross-validation.
    #[error(
        "the choice of a cost holds out samples of each class, but a class has {samples} only; add samples, give a cost, or \
         leave that class out"
    )]
    FewSamples {
        /// Samples of the smallest class.
        samples: usize,
    },
    /// A cost to choose from is beyond what a cost can be.
    #[error(
        "the choice of a cost would try {cost:e}, but costs are from {least:e} to {most:e}; the values of the features are \
         too large or too small: scale them, or give a cost"
    )]
    CostRange {
        /// The cost.
        cost: f64,
        /// The least that a cost can be.
        least: f64,
        /// The most.
        most: f64,
    },
    /// A part of the run, such as a fold, and what is wrong with it.
    #[error("{part}: {error}")]
    Within {
        /// The name of the part.
        part: String,
        /// The fault.
        error: Box<EvalError>,
    },
    /// An error of the caller's own functions.
    #[error(transparent)]
    Caller(Box<dyn StdError + Send + Sync>),
}

impl EvalError {
    /// The error, of the folds inside a training part.
    #[must_use]
    pub fn inside(self) -> Self {
        match self {
            EvalError::Deal { error, .. } => EvalError::Deal { error, inner: true },
            other => other,
        }
    }

    /// The error with the part of the run that it is of.
    #[must_use]
    pub fn within(self, part: &str) -> Self {
        EvalError::Within { part: part.to_owned(), error: Box::new(self) }
    }
}

impl From<EvalError> for Error {
    /// As an error of the library, where no caller's function takes part.
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Method(error) => error,
            other => Error::Data(other.to_string()),
        }
    }
}
