//! Feature names: a list, or `x1` to `xp` without storing them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// Prefixes of a column of samples, as files and their libraries name it.
pub(crate) const PREFIXES: [&str; 3] = ["obs/", "col_attrs/", "cols/"];

/// Whether a column is meant that is asked for by name, with or without its table.
pub(crate) fn is_column(asked: &str, name: &str) -> bool {
    asked == name || PREFIXES.iter().any(|prefix| asked.strip_prefix(prefix) == Some(name))
}

/// Names of the p features, in column order, all different.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Names {
    /// `x1`, `x2`, ..., `xp`; takes no memory, which counts when p is in the millions.
    Numbered(usize),
    /// Names as in the file.
    Listed(Vec<String>),
}

impl Names {
    /// Number of names p.
    pub fn len(&self) -> usize {
        match self {
            Names::Numbered(p) => *p,
            Names::Listed(names) => names.len(),
        }
    }

    /// Whether there is no name.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Name of feature j (from 0).
    pub fn get(&self, j: usize) -> Cow<'_, str> {
        match self {
            Names::Numbered(_) => Cow::Owned(format!("x{}", j + 1)),
            Names::Listed(names) => Cow::Borrowed(&names[j]),
        }
    }

    /// Position of one name. For many look-ups use [`Names::finder`].
    pub fn position(&self, name: &str) -> Option<usize> {
        match self {
            Names::Numbered(p) => numbered(name).filter(|j| j < p),
            Names::Listed(names) => names.iter().position(|n| n == name),
        }
    }

    /// A look-up table, for many names.
    pub fn finder(&self) -> Finder<'_> {
        match self {
            Names::Numbered(p) => Finder::Numbered(*p),
            Names::Listed(names) => {
                Finder::Listed(names.iter().enumerate().map(|(j, name)| (name.as_str(), j)).collect())
            }
        }
    }

    /// All names, in order.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        (0..self.len()).map(|j| self.get(j))
    }

    /// All names as strings.
    pub fn to_vec(&self) -> Vec<String> {
        self.iter().map(Cow::into_owned).collect()
    }
}

/// Finds positions of names; made by [`Names::finder`].
#[derive(Debug)]
pub enum Finder<'a> {
    /// Finds in [`Names::Numbered`]: the number of names.
    Numbered(usize),
    /// Finds in [`Names::Listed`]: the position of each name.
    Listed(HashMap<&'a str, usize>),
}

impl Finder<'_> {
    /// Position of a name, from 0.
    pub fn position(&self, name: &str) -> Option<usize> {
        match self {
            Finder::Numbered(p) => numbered(name).filter(|j| j < p),
            Finder::Listed(map) => map.get(name).copied(),
        }
    }
}

/// The names made different: a later equal one gets `.1`, `.2` and so on behind it, and passes over
/// names that there are. Empty names stay.
pub(crate) fn unique(names: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let unique = |name: String| {
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 || name.is_empty() {
            return name;
        }
        let mut other = format!("{name}.{}", *count - 1);
        while !taken.insert(other.clone()) {
            *count += 1;
            other = format!("{name}.{}", *count - 1);
        }
        other
    };
    names.into_iter().map(unique).collect()
}

/// The first ten names, for messages.
pub(crate) fn some_of(names: &[String]) -> String {
    let text = names.iter().take(10).map(String::as_str).collect::<Vec<_>>().join(", ");
    if names.len() > 10 { format!("{text}, ... ({} in all)", names.len()) } else { text }
}

/// [`some_of`], one that differs from the wanted name in the case of letters alone before others.
pub(crate) fn some_with(names: &[String], wanted: &str) -> String {
    let mut names = names.to_vec();
    names.sort_by_key(|name| name.to_lowercase() != wanted.to_lowercase());
    some_of(&names)
}

/// 6 of `x7`: the position meant by a name of the numbered kind.
pub(crate) fn numbered(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('x')?;
    if digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse::<usize>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::unique;

    #[test]
    fn equal_names_become_different() {
        let of = |names: &[&str]| unique(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(of(&["a", "b", "a", "a"]), ["a", "b", "a.1", "a.2"]);
        assert_eq!(of(&["a", "a", "a.1", "a"]), ["a", "a.2", "a.1", "a.3"]);
        assert_eq!(of(&["", "a", ""]), ["", "a", ""]);
    }
}
