//! What the binary formats have in common: classes of a typed column, names of features, and the
//! check for finite values.

use fewest_svm::SparseDesign;
use rayon::prelude::*;

use crate::io::memory::check_memory;
use crate::meaning::cells::Cells;
use crate::meaning::header::check_distinct;
use crate::meaning::problems::{Cases, NotFinite, check_classes};
use crate::meaning::target::{Labels, Target, class_name};
use crate::names::unique;
use crate::note::TargetRule;
use crate::{DataError, Names, Note, Place, ReadOptions};

/// A target, and the rows that have a class where others are to be left out.
pub(crate) type Labelled = (Option<Target>, Option<Vec<usize>>);

/// The target of one class name a row; an empty name is a missing value.
///
/// # Errors
/// Missing values unless they are to be left out, and the checks of a training target if it is one.
pub(crate) fn target<'a>(
    file: &str,
    column: &str,
    names: impl ExactSizeIterator<Item = &'a str>,
    options: &ReadOptions,
) -> Result<Labelled, DataError> {
    let (n, mut labels) = (names.len(), Labels::default());
    let (mut without, mut rows) = (Cases::default(), Vec::new());
    for (at, name) in names.enumerate() {
        if name.is_empty() {
            without.add(|| (Place::row(file, at as u64 + 1).column(column), String::new()));
            continue;
        }
        rows.push(at);
        let code = labels.code(name);
        labels.push_code(code);
    }
    if options.target_optional && rows.is_empty() {
        return Ok((None, None));
    }
    if !options.drop_unlabelled || rows.is_empty() {
        check_classes(&without, n)?;
    }
    let target = labels.finish(column.to_owned());
    if !options.target_optional {
        target.check(file)?;
    }
    let some = rows.len() < n;
    Ok((Some(target), some.then_some(rows)))
}

/// A target, the rows that have a class where others are to be left out, and notes.
pub(crate) type FoundTarget = (Option<Target>, Option<Vec<usize>>, Vec<Note>);

/// The target of a column of texts, as numbers and missing values are understood.
///
/// # Errors
/// Those of [`target`].
pub(crate) fn target_of(
    file: &str,
    column: &str,
    texts: &[String],
    rule: TargetRule,
    options: &ReadOptions,
) -> Result<FoundTarget, DataError> {
    let cells = Cells::new(options);
    let name = |text: &String| if cells.is_missing(text.as_bytes()) { String::new() } else { class_name(text) };
    let names: Vec<String> = texts.iter().map(name).collect();
    let (target, rows) = target(file, column, names.iter().map(String::as_str), options)?;
    let notes = target.as_ref().map(|target| target.notes(rule, options));
    Ok((target, rows, notes.unwrap_or_default()))
}

/// Whether a value may not be there: it is not finite, and not a missing one that is accepted.
pub(crate) fn is_bad(value: f64, missing: bool) -> bool {
    let is_let_through = missing && value.is_nan();
    !(value.is_finite() || is_let_through)
}

/// Searches for such values in a part of a column that begins at row `first`.
pub(crate) fn find_not_finite(
    file: &str,
    first: usize,
    values: &[f64],
    missing: bool,
    name: impl Fn() -> String,
    bad: &mut NotFinite,
) {
    for (i, x) in values.iter().enumerate().filter(|(_, x)| is_bad(**x, missing)) {
        bad.add(*x, || (Place::row(file, (first + i) as u64 + 1).column(name()), x.to_string()));
    }
}

/// Refuses values of a column-major matrix that are not finite, but for missing ones where they are
/// accepted; the earliest row is named.
pub(crate) fn check_finite(
    file: &str,
    n: usize,
    values: &[f64],
    missing: bool,
    name: impl Fn(usize) -> String + Sync,
) -> Result<(), DataError> {
    let found: Vec<NotFinite> = values
        .par_chunks(n.max(1))
        .enumerate()
        .map(|(j, column)| {
            let mut bad = NotFinite::default();
            find_not_finite(file, 0, column, missing, || name(j), &mut bad);
            bad
        })
        .collect();
    NotFinite::merged(found).check()
}

/// Notes a value that may not be there, the earliest row and the first column of it before others.
pub(crate) fn note_bad(file: &str, i: usize, x: f64, missing: bool, name: impl Fn() -> String, bad: &mut NotFinite) {
    if is_bad(x, missing) {
        let mut one = NotFinite::default();
        find_not_finite(file, i, &[x], missing, name, &mut one);
        bad.missing.merge(one.missing);
        bad.infinite.merge(one.infinite);
    }
}

/// The not-finite check of a sparse matrix.
pub(crate) fn check_sparse(
    file: &str,
    design: &SparseDesign<'_>,
    missing: bool,
    name: impl Fn(usize) -> String,
) -> Result<(), DataError> {
    let mut bad = NotFinite::default();
    let (start, _, _) = design.parts();
    for j in 0..start.len() - 1 {
        let (rows, values) = design.column(j);
        rows.iter().zip(values).for_each(|(&i, &x)| note_bad(file, i as usize, x, missing, || name(j), &mut bad));
    }
    bad.check()
}

/// A column-major matrix of n x p zeros, if the memory allows.
pub(crate) fn zeros(file: &str, n: usize, p: usize, memory: u64) -> Result<Vec<f64>, DataError> {
    let bytes = (n as u64).saturating_mul(p as u64).saturating_mul(8);
    check_memory(file, &format!("the dense matrix of {n} rows and {p} features"), bytes, memory)?;
    Ok(vec![0.0; n * p])
}

/// Names of features as a file has them, made different where that is asked for.
///
/// # Errors
/// Equal names otherwise.
pub(crate) fn named(file: &str, names: Vec<String>, options: &ReadOptions) -> Result<Names, DataError> {
    let names = if options.unique_names { unique(names) } else { names };
    check_distinct(file, names.iter().map(String::as_str))?;
    Ok(Names::Listed(names))
}
