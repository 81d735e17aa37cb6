//! Names of features, and of the variables whose columns of 0 and 1 are features.

use fewest::FeatureSet;
use fewest_data::{Finder, Names};

use super::notation;
use crate::failure::Failure;

/// The pattern of the features that no other entry names, where each feature has one value.
const REST: &str = "*";

/// An entry of a list of values: its name or pattern, and the features that it means with theirs.
pub(crate) struct Valued<'a> {
    pub(crate) entry: &'a str,
    pub(crate) values: Vec<(usize, f64)>,
}

impl<'a> Valued<'a> {
    /// One value for each of these features.
    pub(crate) fn new(entry: &'a str, value: f64, features: &[usize]) -> Self {
        Self { entry, values: features.iter().map(|&j| (j, value)).collect() }
    }
}

/// Names of features and where they are; the only way from a name to an index.
pub(crate) struct Features<'a> {
    names: &'a Names,
    finder: Finder<'a>,
    /// The features that each text column became.
    texts: &'a [Vec<usize>],
    /// Features that are never chosen and that no name of a variable means.
    out: Vec<&'a FeatureSet>,
}

impl<'a> Features<'a> {
    /// The features of a data set.
    pub(crate) fn new(names: &'a Names) -> Self {
        Self { names, finder: names.finder(), texts: &[], out: Vec::new() }
    }

    /// The name of a text column means the features that it became, but for those `out`.
    #[must_use]
    pub(crate) fn with_variables(self, texts: &'a [Vec<usize>], out: &[&'a FeatureSet]) -> Self {
        Self { texts, out: out.to_vec(), ..self }
    }

    /// Number of features.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Index of a feature; `place` says where the name stands, for the message.
    pub(crate) fn index(&self, name: &str, place: &str) -> Result<usize, Failure> {
        self.finder.position(name).ok_or_else(|| Failure::Input(self.unknown(name, place)))
    }

    /// Indices of several features.
    pub(crate) fn indices(&self, names: &[String], place: &str) -> Result<Vec<usize>, Failure> {
        names.iter().map(|name| self.index(name, place)).collect()
    }

    /// Indices of what a name means: a feature, or all features of a variable.
    pub(crate) fn meant(&self, name: &str, place: &str) -> Result<Vec<usize>, Failure> {
        if let Some(j) = self.finder.position(name) {
            return Ok(vec![j]);
        }
        match self.texts.iter().find(|text| self.is_of(text, name)) {
            None => Err(Failure::Input(self.unknown(name, place))),
            Some(text) => match self.left(text) {
                left if left.is_empty() => Err(Failure::Input(format!(
                    "{place}: every column of \"{name}\" has one value only and is never selected; name another feature"
                ))),
                left => Ok(left),
            },
        }
    }

    /// Indices of what several names and patterns mean.
    pub(crate) fn all_meant(&self, names: &[String], place: &str) -> Result<Vec<usize>, Failure> {
        Ok(self.members(names, place)?.concat())
    }

    /// Indices of what each of several names means, and of each feature that a pattern fits.
    ///
    /// # Errors
    /// As [`Features::meant`]; a pattern that no feature fits.
    pub(crate) fn members(&self, names: &[String], place: &str) -> Result<Vec<Vec<usize>>, Failure> {
        let mut members = Vec::new();
        for name in names {
            match self.fitting(name, place)? {
                None => members.push(self.meant(name, place)?),
                Some(found) => members.extend(self.left(&found).into_iter().map(|j| vec![j])),
            }
        }
        Ok(members)
    }

    /// The features that a pattern fits, those that are never chosen among them; none for a name.
    ///
    /// # Errors
    /// A pattern that no feature fits.
    pub(crate) fn fitting(&self, name: &str, place: &str) -> Result<Option<Vec<usize>>, Failure> {
        if !self.columns_of(name).is_empty() {
            return Ok(None);
        }
        match fewest_data::matching(self.names, name) {
            Err(why) => Err(Failure::Input(format!("{place}: the pattern {why}"))),
            Ok(Some(found)) if found.is_empty() => Err(Failure::Input(format!(
                "{place}: no feature fits the pattern \"{name}\"; `fewest check` lists the names"
            ))),
            Ok(found) => Ok(found),
        }
    }

    /// All columns of what a name means, those that are never chosen among them.
    pub(crate) fn columns_of(&self, name: &str) -> Vec<usize> {
        if let Some(j) = self.finder.position(name) {
            return vec![j];
        }
        self.texts.iter().find(|text| self.is_of(text, name)).cloned().unwrap_or_default()
    }

    fn is_of(&self, text: &[usize], name: &str) -> bool {
        let starts = |&j: &usize| self.names.get(j).strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
        text.first().is_some_and(starts)
    }

    /// All variables: the features of each text column, any other feature by itself; without those
    /// that are never chosen.
    pub(crate) fn variables(&self) -> Vec<Vec<usize>> {
        let mut of_text = vec![false; self.len()];
        self.texts.iter().flatten().for_each(|&j| of_text[j] = true);
        let texts = self.texts.iter().map(|text| self.left(text));
        let others = (0..self.len()).filter(|&j| !of_text[j]).map(|j| self.left(&[j]));
        texts.chain(others).filter(|variable| !variable.is_empty()).collect()
    }

    fn left(&self, features: &[usize]) -> Vec<usize> {
        features.iter().copied().filter(|&j| !self.out.iter().any(|out| out.contains(j))).collect()
    }

    /// One value for each feature, of entries with a name or a pattern each; the pattern `*` is for
    /// the features that no other entry names. `what` says what the values are, `place` where they
    /// stand.
    ///
    /// # Errors
    /// Features without a value, or with two.
    pub(crate) fn complete(&self, given: &[Valued<'_>], place: &str, what: &str) -> Result<Vec<f64>, Failure> {
        let mut values: Vec<Option<(f64, &str)>> = vec![None; self.len()];
        let is_rest = |given: &&Valued<'_>| given.entry == REST && self.finder.position(REST).is_none();
        let (rest, named): (Vec<_>, Vec<_>) = given.iter().partition(is_rest);
        let twice = |of: &str, first: &str, second: &str| {
            let which = if first == second { String::new() } else { format!(", \"{first}\" and \"{second}\"") };
            Failure::Input(format!("{place}: \"{of}\" has two {what} entries{which}; leave one of them out"))
        };
        if rest.len() > 1 {
            return Err(twice(REST, REST, REST));
        }
        for Valued { entry, values: of } in named {
            for &(j, value) in of {
                if let Some((_, other)) = values[j].replace((value, entry)) {
                    return Err(twice(&self.names.get(j), other, entry));
                }
            }
        }
        for &(j, value) in rest.iter().flat_map(|given| &given.values) {
            values[j].get_or_insert((value, REST));
        }
        let without = values.iter().zip(self.names.iter()).filter(|v| v.0.is_none());
        let missing: Vec<String> = without.map(|v| v.1.into_owned()).collect();
        if !missing.is_empty() {
            return Err(Failure::Input(format!(
                "{place}: no {what} for {}; give every feature a {what}, 0 where it is free; an entry \
                 \"{REST}\" is for all others",
                notation::some(&missing)
            )));
        }
        Ok(values.into_iter().flatten().map(|(value, _)| value).collect())
    }

    fn unknown(&self, name: &str, place: &str) -> String {
        let all = match self.names {
            Names::Listed(names) => names.as_slice(),
            Names::Numbered(_) => &[],
        };
        let dummies: Vec<String> = all.iter().filter(|n| n.starts_with(&format!("{name}="))).cloned().collect();
        let found = format!("{place}: there is no feature \"{name}\"");
        if !dummies.is_empty() {
            format!("{found}: it became dummy columns; name {}", notation::some(&dummies))
        } else if let Some(near) = notation::closest(name, all.iter().map(String::as_str)) {
            format!("{found}; did you mean \"{near}\"?")
        } else if name.parse::<usize>().is_ok() {
            format!("{found}; features are given by name (such as \"{}\"), not by number", self.names.get(0))
        } else if let Names::Numbered(p) = self.names {
            format!("{found}; the names are x1 to x{p}")
        } else {
            format!("{found}; `fewest check` lists the names")
        }
    }
}
