//! Several problems that share one subset: more classes than two, taken apart into two-class
//! problems, and tasks (sites, cohorts), each with classifiers of its own.
//!
//! ```text
//! min over z of  sum_t v_t(z) + sum_j lambda_j z_j,   v_t(z) = max over alpha_t of L_t(alpha_t, z)
//! ```
//!
//! A sum of functions that are each concave in alpha and linear in z is one again, with the gains
//! `sum_t g_j(c_tj)`: methods that need no more than that take several problems as they take one.

mod shared;
mod stack;

use std::collections::HashSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::problem::class_pairs;
use crate::weights::check_two_classes;
use crate::{Design, Error, Memory, Problem, Reserved, Rules, Samples};
pub(crate) use shared::Shared;
use stack::Stack;

/// How more classes than two become two-class problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MultiClass {
    /// A problem for each pair of classes, on the samples of these two: k (k - 1) / 2 problems. The
    /// classifier trained on a subset ([`crate::model::fit`]) consists of these machines.
    #[default]
    OneVsOne,
    /// A problem for each class against all others, on all samples: k problems.
    OneVsRest,
}

impl MultiClass {
    /// The name in JSON and on the command line.
    pub fn text(self) -> &'static str {
        match self {
            Self::OneVsOne => "one-vs-one",
            Self::OneVsRest => "one-vs-rest",
        }
    }
}

/// One of several problems: its task and the classes that it tells apart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubProblem {
    /// The problem's task, where there are tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<u32>,
    /// The class of label +1.
    pub positive: u32,
    /// The class of label -1; none for all others.
    pub negative: Option<u32>,
    /// The number of its samples.
    pub samples: usize,
}

/// What a report says of several problems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Summary {
    /// Problems whose objectives add.
    number: usize,
    /// How they were made of classes, where these are more than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    multi_class: Option<MultiClass>,
    /// Tasks, where there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    tasks: Option<usize>,
}

/// The two-class problems of samples, with the data that they need: one copy at most, whatever
/// their number.
pub struct Several<'a> {
    parts: Vec<SubProblem>,
    designs: Vec<Joined<'a>>,
    /// Labels and weights of each.
    labels: Vec<Labels>,
    _taken: Option<Reserved>,
}

/// The matrix of one problem.
enum Joined<'a> {
    /// The whole one.
    Whole(&'a dyn Design),
    Pieces(Stack),
}

impl<'a> Several<'a> {
    /// Takes samples apart: two classes without tasks are one problem, with class 1 as the positive
    /// one. The copy is taken from `memory`.
    ///
    /// # Errors
    /// A task whose samples are of one class; more memory needed than is left.
    pub fn new(samples: &Samples<'a>, multi_class: MultiClass, memory: &Memory) -> Result<Self, Error> {
        let mut parts = all_parts(samples, multi_class)?;
        let whole = |part: &SubProblem| part.task.is_none() && (part.negative.is_none() || samples.n_classes() == 2);
        let copies = parts.iter().any(|part| !whole(part));
        let taken = if copies {
            let what = || format!("a copy of the data, sorted for {} problems", parts.len());
            let remedy = "keep fewer samples or features";
            Some(memory.reserve(bytes(samples.design()), what, remedy)?)
        } else {
            None
        };
        let mut pieces = Pieces { samples, by_class: multi_class == MultiClass::OneVsOne, known: Vec::new() };
        let (mut designs, mut labels) = (Vec::new(), Vec::new());
        for part in &mut parts {
            let (design, of) = if whole(part) {
                (Joined::Whole(samples.design()), (0..samples.n_samples()).collect())
            } else {
                pieces.join(part)
            };
            labels.push(labels_of(samples, part, &of));
            part.samples = of.len();
            designs.push(design);
        }
        Ok(Self { parts, designs, labels, _taken: taken })
    }

    /// [`Several::new`] for rules, whose bounds on weights say which of two classes a feature
    /// speaks for.
    ///
    /// # Errors
    /// Bounds on weights and more classes than two; those of [`Several::new`].
    #[doc(hidden)]
    pub fn of(samples: &Samples<'a>, multi_class: MultiClass, rules: &Rules, memory: &Memory) -> Result<Self, Error> {
        check_two_classes(rules.weight_bounds(), samples.n_classes())?;
        Self::new(samples, multi_class, memory)
    }

    /// The classes that each problem tells apart.
    pub fn parts(&self) -> &[SubProblem] {
        &self.parts
    }

    /// The problems.
    pub fn problems(&self) -> Vec<Problem<'_>> {
        let mut problems = Vec::with_capacity(self.designs.len());
        for (design, (y, weights)) in self.designs.iter().zip(&self.labels) {
            let design: &dyn Design = match design {
                Joined::Whole(design) => *design,
                Joined::Pieces(stack) => stack,
            };
            problems.push(Problem::of_parts(design, y, weights));
        }
        problems
    }
}

/// Labels and weights of the samples of a problem.
pub(crate) type Labels = (Vec<f64>, Vec<f64>);

/// How many problems, and of what; nothing where it is one.
pub(crate) fn summary(parts: &[SubProblem], multi_class: MultiClass) -> Option<Summary> {
    let tasks: HashSet<u32> = parts.iter().filter_map(|part| part.task).collect();
    let classes: HashSet<u32> = parts.iter().flat_map(|part| [Some(part.positive), part.negative]).flatten().collect();
    (parts.len() > 1).then(|| Summary {
        number: parts.len(),
        multi_class: (classes.len() > 2).then_some(multi_class),
        tasks: if tasks.is_empty() { None } else { Some(tasks.len()) },
    })
}

impl SubProblem {
    /// The pieces of its samples, in order: where problems are `by_class` of pairs of classes, those
    /// of each.
    fn pieces(&self, by_class: bool) -> Vec<Key> {
        match self.negative {
            Some(negative) if by_class => vec![(self.task, Some(negative)), (self.task, Some(self.positive))],
            _ => vec![(self.task, None)],
        }
    }
}

/// The samples of a piece.
fn samples_of(samples: &Samples<'_>, (task, class): Key) -> Vec<usize> {
    let is = |&i: &usize| {
        task.is_none_or(|task| samples.tasks().is_some_and(|tasks| tasks[i] == task))
            && class.is_none_or(|class| samples.classes()[i] == class)
    };
    (0..samples.n_samples()).filter(is).collect()
}

/// Labels and weights of these samples in a problem.
fn labels_of(samples: &Samples<'_>, part: &SubProblem, of: &[usize]) -> Labels {
    let label = |&i: &usize| if samples.classes()[i] == part.positive { 1.0 } else { -1.0 };
    let pair = part.negative.and_then(|negative| {
        let is = |&(a, b): &(u32, u32)| (a, b) == (negative, part.positive);
        class_pairs(samples.n_classes()).iter().position(is)
    });
    let of_pair = pair.map_or(1.0, |pair| samples.pair_weight(pair));
    (of.iter().map(label).collect(), of.iter().map(|&i| of_pair * samples.weights()[i]).collect())
}

/// The problems of all samples, numbers of samples not counted yet.
fn all_parts(samples: &Samples<'_>, multi_class: MultiClass) -> Result<Vec<SubProblem>, Error> {
    let Some(tasks) = samples.tasks() else { return split(samples, None, multi_class) };
    let mut parts = Vec::new();
    for task in 0..tasks.iter().max().map_or(0, |last| last + 1) {
        parts.extend(split(samples, Some(task), multi_class)?);
    }
    Ok(parts)
}

/// The problems of one task, or of all samples, numbers of samples not counted yet.
fn split(samples: &Samples<'_>, task: Option<u32>, multi_class: MultiClass) -> Result<Vec<SubProblem>, Error> {
    let mut here = vec![false; samples.n_classes() as usize];
    for (i, &class) in samples.classes().iter().enumerate() {
        let counts = samples.weights()[i] > 0.0 && samples.tasks().is_none_or(|tasks| Some(tasks[i]) == task);
        here[class as usize] |= counts;
    }
    let classes: Vec<u32> = (0..samples.n_classes()).filter(|&class| here[class as usize]).collect();
    if classes.len() < 2 {
        return Err(Error::Data(format!(
            "task {} has no two classes with samples of positive weight; leave it out, or join it with another",
            task.unwrap_or(0)
        )));
    }
    let part = |positive: u32, negative: Option<u32>| SubProblem { task, positive, negative, samples: 0 };
    Ok(if classes.len() == 2 || multi_class == MultiClass::OneVsOne {
        let pairs = class_pairs(classes.len() as u32).into_iter();
        pairs.map(|(a, b)| part(classes[b as usize], Some(classes[a as usize]))).collect()
    } else {
        classes.iter().map(|&class| part(class, None)).collect()
    })
}

/// The samples of each task, or of each class of each task, copied once.
struct Pieces<'s, 'a> {
    samples: &'s Samples<'a>,
    by_class: bool,
    /// Each with its samples and the copy.
    known: Vec<(Key, Vec<usize>, Arc<dyn Design>)>,
}

/// Task and class of a piece; none for all.
type Key = (Option<u32>, Option<u32>);

impl Pieces<'_, '_> {
    /// The matrix of a problem, and its samples in order.
    fn join<'j>(&mut self, part: &SubProblem) -> (Joined<'j>, Vec<usize>) {
        let (mut of, mut pieces) = (Vec::new(), Vec::new());
        for key in part.pieces(self.by_class) {
            let at = self.piece(key);
            of.extend(&self.known[at].1);
            pieces.push(self.known[at].2.clone());
        }
        (Joined::Pieces(Stack::new(pieces)), of)
    }

    fn piece(&mut self, key: Key) -> usize {
        if let Some(at) = self.known.iter().position(|piece| piece.0 == key) {
            return at;
        }
        let of = samples_of(self.samples, key);
        let copy = Arc::from(self.samples.design().select_samples(&of));
        self.known.push((key, of, copy));
        self.known.len() - 1
    }
}

/// Bytes of a copy of all samples.
fn bytes(design: &dyn Design) -> u64 {
    let each = if design.is_sparse() { 12 } else { 8 };
    each * design.stored() as u64
}

/// One problem or more, all on as many features: how many.
#[doc(hidden)]
pub fn check_several(problems: &[Problem<'_>]) -> Result<usize, Error> {
    let Some(first) = problems.first() else {
        return Err(Error::Data("there is no problem to select features for; give one or more".into()));
    };
    let p = first.n_features();
    match problems.iter().position(|problem| problem.n_features() != p) {
        Some(at) => Err(Error::Data(format!(
            "problem {at} has {} features, but the first has {p}; problems share their features",
            problems[at].n_features()
        ))),
        None => Ok(p),
    }
}
