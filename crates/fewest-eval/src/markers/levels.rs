//! A hierarchy of classes, such as cell types in lineages: what pairs of classes weigh, and what folds say
//! of each level.
//!
//! Model    the pairs of classes that part at a level weigh together as much as those of each other
//!          level, times the weight of the level; the mean pair weighs 1. A pair's weight multiplies C
//!          in its problem.
//! Why      most pairs are of classes of different lineages: without weights the few pairs inside a
//!          lineage, or the coarse level where that has few classes, have little say.

use fewest::{Error, MultiClass};
use fewest_data::Target;
use serde::{Deserialize, Serialize};

use crate::error::EvalError;

/// A level above the classes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Level {
    /// The level's name.
    pub name: String,
    /// The level's class that each class is in.
    pub of: Vec<String>,
}

/// A level with its classes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelClasses {
    /// The level's name.
    pub name: String,
    /// The level's classes.
    pub classes: Vec<String>,
    /// The place of the class that each class is in.
    pub of: Vec<usize>,
}

impl Level {
    /// The level of a column, which has a value for each sample.
    ///
    /// # Errors
    /// A class whose samples have different values.
    pub fn of_samples(name: &str, values: &[String], target: &Target) -> Result<Self, EvalError> {
        let mut of: Vec<Option<&String>> = vec![None; target.classes.len()];
        for (value, &code) in values.iter().zip(&target.codes) {
            let known = *of[code as usize].get_or_insert(value);
            if known != value {
                return Err(EvalError::ClassInTwo {
                    class: target.classes[code as usize].clone(),
                    level: name.to_owned(),
                    within: [known.clone(), value.clone()],
                });
            }
        }
        Ok(Self { name: name.to_owned(), of: of.into_iter().map(|of| of.cloned().unwrap_or_default()).collect() })
    }

    fn classes(&self) -> LevelClasses {
        let (mut classes, mut of): (Vec<String>, Vec<usize>) = (Vec::new(), Vec::new());
        for class in &self.of {
            let at = classes.iter().position(|known| known == class).unwrap_or_else(|| {
                classes.push(class.clone());
                classes.len() - 1
            });
            of.push(at);
        }
        LevelClasses { name: self.name.clone(), classes, of }
    }
}

/// The levels from coarse to fine, the classes themselves last; none without a hierarchy.
pub(super) fn with_classes(hierarchy: &[Level], target: &Target) -> Vec<LevelClasses> {
    let mut levels: Vec<LevelClasses> = hierarchy.iter().map(Level::classes).collect();
    if levels.last().is_some_and(|finest| finest.classes.len() < target.classes.len()) {
        levels.push(Level { name: target.column.clone(), of: target.classes.clone() }.classes());
    }
    levels
}

/// Checks the levels, of `n_classes` classes.
///
/// # Errors
/// A level of one class, one that is not inside the coarser one, weights that do not fit, what has no
/// pairs.
pub(super) fn check(
    hierarchy: &[Level],
    level_weights: &[f64],
    multi_class: MultiClass,
    n_classes: usize,
) -> Result<(), Error> {
    let names = hierarchy.iter().map(|level| level.name.as_str()).collect::<Vec<&str>>().join(",");
    if hierarchy.is_empty() {
        let range = "left out where there is no hierarchy";
        return if level_weights.is_empty() { Ok(()) } else { Err(weights_are(level_weights, range.to_owned())) };
    }
    if multi_class != MultiClass::OneVsOne {
        let range = "left out with one-vs-rest: a hierarchy weighs pairs of classes, which one-vs-one has";
        return Err(Error::setting("hierarchy", names, range));
    }
    let mut coarser: Option<&Level> = None;
    for level in hierarchy {
        let LevelClasses { name, classes, of } = level.classes();
        if of.len() != n_classes {
            let range = format!("levels that say of each of {n_classes} classes where it is; {name} has {}", of.len());
            return Err(Error::setting("hierarchy", names, range));
        }
        if classes.len() < 2 {
            let range = format!("levels of two classes or more; {name} has {} alone, leave it out", classes[0]);
            return Err(Error::setting("hierarchy", names, range));
        }
        for (at, class) in classes.iter().enumerate() {
            let mut within = coarser.iter().flat_map(|above| &above.of).zip(&of).filter(|(_, of)| **of == at);
            let first = within.next().map(|(above, _)| above);
            if let (Some((other, _)), Some(first)) = (within.find(|(above, _)| Some(*above) != first), first) {
                let range = format!("levels from coarse to fine; {class} of {name} is in {first} and in {other}");
                return Err(Error::setting("hierarchy", names, range));
            }
        }
        coarser = Some(level);
    }
    let finest = coarser.is_some_and(|level| level.classes().classes.len() == n_classes);
    let count = hierarchy.len() + usize::from(!finest);
    let positive = level_weights.iter().all(|weight| *weight > 0.0 && weight.is_finite());
    if !level_weights.is_empty() && (level_weights.len() != count || !positive) {
        return Err(weights_are(
            level_weights,
            format!("{count} numbers above 0, one for each level, the classes last"),
        ));
    }
    Ok(())
}

/// What each pair of classes weighs; none without a hierarchy.
pub(super) fn pair_weights(hierarchy: &[Level], level_weights: &[f64], target: &Target) -> Option<Vec<Vec<f64>>> {
    let (levels, k) = (with_classes(hierarchy, target), target.classes.len());
    if levels.is_empty() {
        return None;
    }
    // The first level where they differ.
    let parting = |a: usize, b: usize| levels.iter().position(|level| level.of[a] != level.of[b]);
    let pairs = || (0..k).flat_map(|a| (0..a).map(move |b| (a, b)));
    let mut count = vec![0.0; levels.len()];
    pairs().filter_map(|(a, b)| parting(a, b)).for_each(|level| count[level] += 1.0);
    let weight = |level: usize| level_weights.get(level).copied().unwrap_or(1.0);
    let total: f64 = (0..levels.len()).filter(|&level| count[level] > 0.0).map(weight).sum();
    let all: f64 = count.iter().sum();
    let mut weights = vec![vec![1.0; k]; k];
    for (a, b) in pairs() {
        if let Some(level) = parting(a, b) {
            weights[a][b] = weight(level) / count[level] * all / total;
            weights[b][a] = weights[a][b];
        }
    }
    Some(weights)
}

fn weights_are(level_weights: &[f64], range: String) -> Error {
    let given = level_weights.iter().map(f64::to_string).collect::<Vec<String>>().join(",");
    Error::setting("level_weights", given, range)
}
