//! What each column of a table is for, decided from the names and the caller's wishes.

use std::collections::{HashMap, HashSet};

use crate::note::TargetRule;
use crate::{DataError, Names, Note, ReadOptions, meaning::pattern, names};

/// Names that make a column the target, in order of preference.
pub(crate) const USUAL: [&str; 4] = ["y", "label", "class", "target"];

/// What a column is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The classes.
    Target,
    /// Kept as text; the position in [`ReadOptions::apart`].
    Apart(usize),
    /// Kept as the names of the samples.
    Samples,
    /// Not wanted.
    Ignored,
    /// Not wanted as a feature, but part of the totals of samples if it holds numbers.
    Counted,
    /// A feature, or several when it holds text.
    Feature,
}

/// Column names of a table and their roles.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) file: String,
    pub(crate) names: Vec<String>,
    pub(crate) roles: Vec<Role>,
    /// Notes on the choice of the target and on ignored columns.
    pub(crate) notes: Vec<Note>,
}

impl Header {
    /// Gives every column its role.
    ///
    /// # Errors
    /// Duplicate names; columns that were asked for and are not there; no feature left.
    pub(crate) fn new(file: &str, names: Vec<String>, options: &ReadOptions) -> Result<Self, DataError> {
        let names = if options.unique_names { names::unique(names) } else { names };
        check_distinct(file, names.iter().map(String::as_str).filter(|name| !name.is_empty()))?;
        let listed = Names::Listed(names);
        let dropped = pattern::meant(&listed, file, &options.drop, "dropped column")?;
        let only = pattern::meant(&listed, file, &options.only, "only column")?;
        let names = listed.to_vec();
        let find = |name: &str, role| {
            names.iter().position(|n| n == name).ok_or_else(|| DataError::UnknownColumn {
                file: file.into(),
                name: name.into(),
                role,
                available: names::some_with(&names, name),
            })
        };
        let unnamed = |(c, name): (usize, &String)| match c {
            _ if !name.is_empty() => Role::Feature,
            0 if options.samples.is_none() => Role::Samples,
            _ => Role::Ignored,
        };
        let mut roles: Vec<Role> = names.iter().enumerate().map(unnamed).collect();
        let left_out = |name: &String| left_out(name, options);
        for c in dropped {
            roles[c] = left_out(&names[c]);
        }
        if let Some(name) = &options.samples {
            roles[find(name, "column with the names of samples")?] = Role::Samples;
        }
        for (at, name) in options.apart.iter().enumerate() {
            roles[find(name, "column set apart")?] = Role::Apart(at);
        }
        for name in &options.text {
            find(name, "text column")?;
        }
        let mut notes = Vec::new();
        if let Some((at, rule)) = target_column(&names, &roles, options) {
            roles[at] = Role::Target;
            notes.push(Note::TargetColumn { name: names[at].clone(), rule });
        } else if let (Some(name), false) = (&options.target, options.target_optional) {
            find(name, "target")?;
        }
        if !only.is_empty() {
            let others = roles.iter_mut().enumerate().filter(|(c, _)| only.binary_search(c).is_err());
            others.filter(|(_, role)| **role == Role::Feature).for_each(|(c, role)| *role = left_out(&names[c]));
        }
        if let Some(wanted) = &options.features {
            let count = keep_wanted(&names, &mut roles, wanted, left_out);
            if count > 0 {
                notes.push(Note::Ignored { count });
            }
        } else if !roles.contains(&Role::Feature) {
            let target = roles.iter().position(|r| *r == Role::Target).map_or(String::new(), |at| names[at].clone());
            return Err(DataError::NoFeatures { file: file.into(), target });
        }
        Ok(Self { file: file.into(), names, roles, notes })
    }

    /// Name of the target column.
    pub(crate) fn target(&self) -> Option<&str> {
        self.roles.iter().position(|r| *r == Role::Target).map(|at| self.names[at].as_str())
    }
}

/// The target column and why it is the one.
fn target_column(names: &[String], roles: &[Role], options: &ReadOptions) -> Option<(usize, TargetRule)> {
    if let Some(name) = &options.target {
        return names.iter().position(|n| n == name).map(|at| (at, TargetRule::Asked));
    }
    let wanted = |name: &String| options.features.as_ref().is_some_and(|f| f.contains(name));
    let free = |at: &usize| roles[*at] == Role::Feature && !wanted(&names[*at]);
    let usual = USUAL
        .iter()
        .find_map(|usual| (0..names.len()).filter(free).find(|&at| names[at].trim().eq_ignore_ascii_case(usual)));
    match usual {
        Some(at) => Some((at, TargetRule::UsualName)),
        None if options.target_optional => None,
        None => (0..names.len()).rev().find(free).map(|at| (at, TargetRule::Last)),
    }
}

/// The role of a column that is no feature.
fn left_out(name: &String, options: &ReadOptions) -> Role {
    let counts = options.normalize.total.is_some() && !name.is_empty();
    let uncounted = || options.text.contains(name) || options.normalize.uncounted.contains(name);
    if counts && !uncounted() { Role::Counted } else { Role::Ignored }
}

/// Leaves out features that are not wanted, neither as numbers (`age`) nor as text (`colour=red`).
/// Returns how many.
fn keep_wanted(names: &[String], roles: &mut [Role], wanted: &[String], left_out: impl Fn(&String) -> Role) -> usize {
    let mut keep: HashSet<&str> = HashSet::new();
    for name in wanted {
        keep.insert(name);
        name.match_indices('=').for_each(|(at, _)| {
            keep.insert(&name[..at]);
        });
    }
    let mut ignored = 0;
    for (name, role) in names.iter().zip(roles) {
        if *role == Role::Feature && !keep.contains(name.as_str()) {
            *role = left_out(name);
            ignored += 1;
        }
    }
    ignored
}

/// Refuses a table none of whose columns became a feature, as all were left out.
pub(crate) fn check_left(header: &Header, any: bool, options: &ReadOptions) -> Result<(), DataError> {
    if options.features.is_some() || any {
        return Ok(());
    }
    Err(DataError::NoFeatures { file: header.file.clone(), target: header.target().unwrap_or_default().to_owned() })
}

/// Refuses a name that comes twice.
pub(crate) fn check_distinct<'a>(file: &str, names: impl Iterator<Item = &'a str>) -> Result<(), DataError> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (at, name) in names.enumerate() {
        if let Some(first) = seen.insert(name, at) {
            return Err(DataError::DuplicateName {
                file: file.into(),
                name: name.into(),
                first: first + 1,
                second: at + 1,
            });
        }
    }
    Ok(())
}
