//! Samples dealt into folds, which are held out in turn.

use std::borrow::Cow;

use fewest::Error;
use fewest_data::Target;

use crate::error::EvalError;
use crate::groups::Groups;

/// One fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// Repetition, from 0.
    pub repeat: usize,
    /// The name of the fold.
    pub name: String,
    /// Samples held out, ascending.
    pub test: Vec<usize>,
}

impl Fold {
    /// The samples of n that are not held out.
    pub fn train(&self, n: usize) -> Vec<usize> {
        self.left(0..n)
    }

    /// Samples of `rows` that are not held out.
    pub(crate) fn train_of(&self, rows: &[usize]) -> Vec<usize> {
        self.left(rows.iter().copied())
    }

    fn left(&self, rows: impl Iterator<Item = usize>) -> Vec<usize> {
        rows.filter(|i| self.test.binary_search(i).is_err()).collect()
    }

    /// What a fold is called in messages.
    fn name(repeat: usize, fold: usize, repeats: usize) -> String {
        if repeats > 1 {
            format!("fold {} of repetition {}", fold + 1, repeat + 1)
        } else {
            format!("fold {}", fold + 1)
        }
    }
}

/// Strata by which samples are dealt: their class, and with tasks task and class.
pub fn strata<'a>(target: &'a Target, tasks: Option<&[String]>) -> Cow<'a, Target> {
    let Some(tasks) = tasks else { return Cow::Borrowed(target) };
    let each = tasks.iter().zip(&target.codes);
    let cells: Vec<(&String, u32)> = each.map(|(task, &class)| (task, class)).collect();
    let mut known = cells.clone();
    known.sort_unstable();
    known.dedup();
    let codes = cells.iter().map(|cell| known.binary_search(cell).expect("listed above") as u32).collect();
    let name = |(task, class): &(&String, u32)| format!("{} of task {task}", target.classes[*class as usize]);
    Cow::Owned(Target { codes, classes: known.iter().map(name).collect(), ..target.clone() })
}

/// The fold of each sample, of `count` that are stratified by `strata`. Samples whose `groups` are
/// the same are in one fold. The same seed gives the same folds everywhere.
///
/// # Errors
/// Fewer groups than folds, groups that leave a fold empty.
pub fn dealt(strata: &Target, groups: Option<&[u32]>, count: usize, seed: u64) -> Result<Vec<u32>, EvalError> {
    match groups {
        None => Ok(fewest_data::stratified_folds(strata, count, seed)),
        Some(groups) => fewest_data::grouped_folds(strata, groups, count, Some(seed))
            .map_err(|error| EvalError::Deal { error, inner: false }),
    }
}

/// `count` folds, stratified by `strata`, dealt `repeats` times, with the seeds `seed`, `seed + 1`,
/// ... Samples whose `groups` are the same are in one fold. The same seed gives the same folds
/// everywhere.
///
/// # Errors
/// Fewer than two folds, or more than samples or groups.
pub fn stratified(
    strata: &Target,
    groups: Option<&[u32]>,
    count: usize,
    repeats: usize,
    seed: u64,
) -> Result<Vec<Fold>, EvalError> {
    let n = strata.codes.len();
    if count < 2 {
        return Err(Error::setting("number of folds", count, "at least 2").into());
    }
    if count > n {
        return Err(EvalError::TooManyFolds { folds: count, samples: n, inner: false });
    }
    let deal = |repeat: usize| -> Result<Vec<Fold>, EvalError> {
        let of = dealt(strata, groups, count, seed.wrapping_add(repeat as u64))?;
        let fold = |f: usize| Fold {
            repeat,
            name: Fold::name(repeat, f, repeats),
            test: (0..n).filter(|&i| of[i] as usize == f).collect(),
        };
        Ok((0..count).map(fold).collect())
    };
    let all: Vec<Vec<Fold>> = (0..repeats).map(deal).collect::<Result<_, _>>()?;
    Ok(all.concat())
}

/// Pairs of halves of the samples, stratified by `strata`. Samples whose `groups` are the same are
/// in one half. The same seed gives the same halves everywhere.
///
/// # Errors
/// A class that the groups keep in one half.
pub fn halves(
    strata: &Target,
    groups: Option<&[u32]>,
    pairs: usize,
    seed: u64,
) -> Result<Vec<[Vec<usize>; 2]>, EvalError> {
    match groups {
        None => Ok(fewest_data::stratified_halves(strata, pairs, seed)),
        Some(groups) => fewest_data::grouped_halves(strata, groups, pairs, seed)
            .map_err(|error| EvalError::Deal { error, inner: false }),
    }
}

/// Refuses folds that part a group.
///
/// # Errors
/// The first group whose samples are in two folds.
pub fn check_groups(folds: &[Fold], groups: &Groups) -> Result<(), EvalError> {
    let mut place = std::collections::HashMap::new();
    for fold in folds {
        for group in fold.test.iter().map(|&i| groups.codes[i]) {
            let known: &Fold = place.entry((fold.repeat, group)).or_insert(fold);
            if known.name != fold.name {
                let folds = [known.name.clone(), fold.name.clone()];
                return Err(EvalError::GroupInTwoFolds { group: groups.names[group as usize].clone(), folds });
            }
        }
    }
    Ok(())
}

/// A fold for each name, the samples that have it.
///
/// # Errors
/// One name only.
pub fn named(names: &[String]) -> Result<Vec<Fold>, EvalError> {
    let mut known: Vec<&String> = names.iter().collect();
    known.sort_unstable();
    known.dedup();
    if known.len() < 2 {
        return Err(EvalError::OneFold);
    }
    let fold = |name: &&String| Fold {
        repeat: 0,
        name: format!("fold {name}"),
        test: (0..names.len()).filter(|&i| names[i] == **name).collect(),
    };
    Ok(known.iter().map(fold).collect())
}

/// A fold for each of n samples.
pub fn leave_one_out(n: usize) -> Vec<Fold> {
    (0..n).map(|i| Fold { repeat: 0, name: Fold::name(0, i, 1), test: vec![i] }).collect()
}

/// Refuses folds that cannot be judged by.
///
/// # Errors
/// Fewer than two folds, a fold whose training part lacks a class.
pub fn check(folds: &[Fold], target: &Target) -> Result<(), EvalError> {
    if folds.len() < 2 {
        return Err(EvalError::FewFolds { folds: folds.len() });
    }
    for fold in folds {
        let mut there = vec![false; target.classes.len()];
        fold.train(target.codes.len()).into_iter().for_each(|i| there[target.codes[i] as usize] = true);
        if let Some(class) = there.iter().position(|there| !there) {
            let class = target.classes[class].clone();
            return Err(EvalError::NoSampleLeft { class }.within(&fold.name));
        }
    }
    Ok(())
}

/// Size of the test part over that of the training part, on average over folds of n samples.
pub fn test_share(folds: &[Fold], n: usize) -> f64 {
    let share = |fold: &Fold| fold.test.len() as f64 / (n - fold.test.len()) as f64;
    folds.iter().map(share).sum::<f64>() / folds.len() as f64
}

/// The rows whose place is of a kind, and the others.
pub(crate) fn places(rows: &[usize], of_kind: impl Fn(usize) -> bool) -> (Vec<usize>, Vec<usize>) {
    let (inside, outside): (Vec<usize>, Vec<usize>) = (0..rows.len()).partition(|&place| of_kind(place));
    let at = |places: Vec<usize>| places.into_iter().map(|place| rows[place]).collect();
    (at(inside), at(outside))
}
