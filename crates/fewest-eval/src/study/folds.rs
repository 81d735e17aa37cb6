//! What a study checks before its work, and how samples are dealt: all of them, the outer folds, and
//! the inner splits of each.

use fewest::{Error, Limits, check_values};

use super::grid::Grid;
use super::part::{PartSize, StudyPart};
use super::settings::{StudyMethod, StudySettings};
use crate::error::EvalError;
use crate::folds::{Fold, places, stratified};
use crate::groups::{count_of, counts_by_class};
use crate::part::Data;

/// Samples of each class, at least: one may be held out twice, and one must be left.
const LEAST: usize = 3;
/// The method with a kernel is tried in full without being asked up to this many samples, features
/// and sizes ...
const SMALL: (usize, usize, usize) = (400, 40, 10);
/// ... and in short, at few sizes and costs, up to this many samples and features.
const MEDIUM: (usize, usize) = (1000, 100);

/// Rows of the data to learn from and to judge, both ascending.
#[derive(Debug, Clone)]
pub(crate) struct Deal {
    pub(crate) inside: Vec<usize>,
    pub(crate) outside: Vec<usize>,
}

/// A part of the study: what is learned from, what is judged, and the inner splits.
pub(crate) struct PartDeal {
    pub(crate) deal: Deal,
    pub(crate) splits: Vec<Deal>,
    pub(crate) repeat: usize,
    pub(crate) fold: usize,
}

/// Checks all that can be known before the work; the methods and sizes to try, and what the costs on
/// all samples depend on.
pub(crate) fn check(data: &Data<'_>, settings: &StudySettings, limits: &Limits) -> Result<(Grid, PartSize), Error> {
    let (n, p, classes) = (data.features.n_samples(), data.features.n_features(), data.target.classes.len());
    limits.check()?;
    settings.check(p, classes)?;
    for (what, found) in [("class labels", data.target.codes.len()), ("sample weights", data.weights.len())] {
        if found != n {
            return Err(Error::Data(format!("{found} {what} for {n} samples; give one per sample")));
        }
    }
    // Large values are a matter of their scaling.
    let design = data.features.as_design();
    let odd = |j: usize| {
        let mut odd = false;
        design.each_in_column(j, &mut |_, x| odd |= !x.is_finite());
        odd
    };
    if settings.missing.is_none() && design.largest_value().is_none() && (0..p).any(odd) {
        check_values(design, 0)?;
    }
    if classes < 2 {
        return Err(Error::Data("all samples are of one class; two are needed".into()));
    }
    for (class, count) in data.target.classes.iter().zip(data.target.counts()) {
        if count < LEAST {
            return Err(Error::Data(format!(
                "class {class} has {count} samples, but a study needs at least {LEAST} of each class; leave that class out"
            )));
        }
    }
    check_groups(data, settings.folds)?;
    if settings.folds > n {
        return Err(Error::setting("folds", settings.folds, format!("at most the number of samples, {n}")));
    }
    let sizes = settings.sizes(p);
    let whole: Vec<usize> = (0..n).collect();
    let part = StudyPart::new(data, &whole, settings)?;
    let largest = sizes.last().copied().unwrap_or(1);
    part.rules(settings, Some(largest))?;
    let (mut methods, mut left_out, mut in_short) = (settings.methods.clone(), Vec::new(), false);
    if methods.is_empty() {
        let medium = n <= MEDIUM.0 && p <= MEDIUM.1;
        in_short = n > SMALL.0 || p > SMALL.1 || largest > SMALL.2;
        let suits = |method: &StudyMethod| {
            (medium && !settings.points || !method.has_kernel())
                && (!settings.bounds_weights() || method.keeps_bounds())
        };
        (methods, left_out) = StudyMethod::ALL.into_iter().partition(suits);
    }
    Ok((Grid { methods, sizes, in_short, left_out }, part.size))
}

/// Checks that groups can be dealt: one with samples of each class may be held out twice, and one must
/// be left.
fn check_groups(data: &Data<'_>, folds: usize) -> Result<(), Error> {
    let Some(groups) = data.groups else { return Ok(()) };
    if groups.len() != data.n() {
        return Err(Error::Data(format!("{} groups for {} samples; give one per sample", groups.len(), data.n())));
    }
    let counts = counts_by_class(groups, &data.target.codes, data.target.classes.len());
    if let Some((class, count)) = data.target.classes.iter().zip(counts).find(|of| of.1 < LEAST) {
        return Err(Error::Data(format!(
            "samples of class {class} are in {count} groups, but a study needs at least {LEAST} groups with samples of each class; leave that class out"
        )));
    }
    let count = count_of(groups);
    if folds > count {
        return Err(Error::setting("folds", folds, format!("at most the number of groups, {count}")));
    }
    Ok(())
}

/// The outer folds: (repetition, fold, what is learned from and what is judged).
pub(crate) fn outer_deals(data: &Data<'_>, settings: &StudySettings) -> Result<Vec<(usize, usize, Deal)>, Error> {
    let folds = stratified(&data.strata(), data.groups, settings.folds, settings.repeats, settings.seed)?;
    let deal = |(at, fold): (usize, Fold)| {
        (fold.repeat, at % settings.folds, Deal { inside: fold.train(data.n()), outside: fold.test })
    };
    Ok(folds.into_iter().enumerate().map(deal).collect())
}

/// All samples, then the outer folds, each with its inner splits.
pub(crate) fn parts(
    data: &Data<'_>,
    settings: &StudySettings,
    outer: &[(usize, usize, Deal)],
) -> Result<Vec<PartDeal>, Error> {
    let whole = Deal { inside: (0..data.target.codes.len()).collect(), outside: Vec::new() };
    let deals = std::iter::once((0, 0, whole)).chain(outer.iter().cloned());
    let part = |(at, (repeat, fold, deal)): (usize, (usize, usize, Deal))| -> Result<PartDeal, Error> {
        // Another stream for each part; splits of outer folds differ from the folds themselves.
        let seed = settings.seed.wrapping_add(1_000_003u64.wrapping_mul(at as u64 + 1));
        Ok(PartDeal { splits: splits(data, &deal.inside, settings, seed)?, deal, repeat, fold })
    };
    deals.enumerate().map(part).collect()
}

/// An error with the fold it came from.
pub(crate) fn named(error: Error, part: &PartDeal, repeats: usize) -> Error {
    if part.deal.outside.is_empty() {
        return error;
    }
    let repetition = if repeats > 1 { format!(" of repetition {}", part.repeat + 1) } else { String::new() };
    let place = format!("outer fold {}{repetition}", part.fold + 1);
    match error {
        Error::Data(text) => Error::Data(format!("{place}: {text}")),
        Error::Rules(text) => Error::Rules(format!("{place}: {text}")),
        Error::Solver(text) => Error::Solver(format!("{place}: {text}")),
        other => other,
    }
}

/// Inner splits of a part's rows: `repeats` times `folds` stratified folds, fewer where there are
/// fewer samples or groups.
///
/// # Errors
/// Groups that cannot be dealt.
pub(crate) fn splits(data: &Data<'_>, rows: &[usize], settings: &StudySettings, seed: u64) -> Result<Vec<Deal>, Error> {
    let units = data.groups_of(rows).map_or(rows.len(), |groups| count_of(&groups));
    let mut deals = Vec::new();
    for repeat in 0..settings.inner_repeats as u64 {
        let folds = settings.inner_folds.min(units);
        let of = data.deal(rows, folds, seed.wrapping_add(repeat)).map_err(EvalError::inside)?;
        for fold in 0..folds as u32 {
            let (outside, inside) = places(rows, |at| of[at] == fold);
            let deal = Deal { inside, outside };
            let codes = deal.inside.iter().map(|&i| data.target.codes[i]);
            let missing = (0..data.target.classes.len() as u32).any(|class| !codes.clone().any(|code| code == class));
            if !missing && !deal.outside.is_empty() {
                deals.push(deal);
            }
        }
    }
    Ok(deals)
}

#[cfg(test)]
mod tests {
    use fewest::DenseDesign;
    use fewest_data::{Features, Target};

    use super::*;

    #[test]
    fn splits_keep_groups_together_and_are_as_many_as_there_are_groups_at_most() {
        let groups: Vec<u32> = (0..60).map(|i| i * 7 % 60 / 5).collect();
        let codes: Vec<u32> = groups.iter().map(|g| g % 2).collect();
        let target = Target { column: "y".into(), classes: vec!["a".into(), "b".into()], codes };
        let features = Features::Dense(DenseDesign::new(60, 1, vec![0.0; 60]).unwrap());
        let weights = vec![1.0; 60];
        let data = Data { groups: Some(&groups), ..Data::new(&features, &target, &weights) };
        let rows: Vec<usize> = (0..60).filter(|&i| groups[i] < 8).collect();
        for (folds, made) in [(4, 4), (20, 8)] {
            let settings = StudySettings { inner_folds: folds, inner_repeats: 2, ..StudySettings::default() };
            let deals = splits(&data, &rows, &settings, 1).unwrap();
            assert_eq!(deals.len(), 2 * made);
            for Deal { inside, outside } in &deals {
                assert_eq!(inside.len() + outside.len(), rows.len());
                assert!(inside.iter().all(|&i| outside.iter().all(|&j| groups[i] != groups[j])));
            }
        }
    }
}
