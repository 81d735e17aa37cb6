//! The text columns that features of an archive were made of: `variables` names the column of each
//! feature, `baselines` the value of it that has no feature. Both have p texts, blank for other
//! features.

use super::{Archive, Form};
use crate::error::malformed;
use crate::{DataError, Names, Note, Place};

const VARIABLES: &str = "variables";
const BASELINES: &str = "baselines";

/// Reads them.
///
/// # Errors
/// A feature whose name does not begin with `variable=`.
pub(super) fn read(archive: &mut Archive<'_>, form: &Form, names: &Names) -> Result<Vec<Note>, DataError> {
    if !archive.has(VARIABLES) {
        return Ok(Vec::new());
    }
    let variables = archive.texts(VARIABLES, form.p)?;
    let baselines =
        if archive.has(BASELINES) { archive.texts(BASELINES, form.p)? } else { vec![String::new(); form.p] };
    let mut found: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
    for (j, (variable, baseline)) in variables.into_iter().zip(baselines).enumerate() {
        if variable.is_empty() {
            continue;
        }
        let name = names.get(j).into_owned();
        let Some(value) = name.strip_prefix(&variable).and_then(|rest| rest.strip_prefix('=')) else {
            let what = format!("array {VARIABLES} says that feature `{name}` was made of `{variable}`");
            let place = Place { file: archive.file.into(), ..Place::default() };
            return Err(malformed(place, what, format!("name it `{variable}=VALUE`, or leave the text blank")));
        };
        let value = value.to_owned();
        if found.last().is_none_or(|(last, ..)| *last != variable) {
            let first = if baseline.is_empty() { Vec::new() } else { vec![baseline] };
            found.push((variable, Vec::new(), first));
        }
        let (_, made, values) = found.last_mut().expect("one was put there");
        made.push(name);
        values.push(value);
    }
    let note = |(column, made, mut values): (String, Vec<String>, Vec<String>)| {
        values.sort_unstable();
        Note::Dummies { column, made, values }
    };
    Ok(found.into_iter().map(note).collect())
}

/// The two arrays for a data set; none where no feature was made of text.
pub(super) fn of(notes: &[Note], names: &Names) -> Option<[(&'static str, Vec<String>); 2]> {
    let finder = names.finder();
    let blank = || vec![String::new(); names.len()];
    let (mut variables, mut baselines, mut any) = (blank(), blank(), false);
    for note in notes {
        let Note::Dummies { column, made, values } = note else { continue };
        let with_feature = |value: &&String| made.iter().any(|name| *name == format!("{column}={value}"));
        let baseline = values.iter().find(|value| !with_feature(value));
        for j in made.iter().filter_map(|name| finder.position(name)) {
            any = true;
            variables[j].clone_from(column);
            if let Some(baseline) = baseline {
                baselines[j].clone_from(baseline);
            }
        }
    }
    any.then_some([(VARIABLES, variables), (BASELINES, baselines)])
}
