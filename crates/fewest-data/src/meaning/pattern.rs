//! Patterns of names: `MT-*`, `Sample_?`, `/^RP[SL]/`.

use regex_lite::Regex;

use crate::names::some_of;
use crate::{DataError, Names};

/// What a name in an option may be besides a name.
enum Pattern {
    /// `*` for any text, `?` for one character.
    Wildcards(Vec<char>),
    /// A regular expression that a part of the name fits.
    Expression(Regex),
}

impl Pattern {
    /// The pattern in a text; none where it is a plain name.
    fn of(text: &str) -> Result<Option<Self>, String> {
        if let Some(inner) = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|t| !t.is_empty()) {
            let expression = Regex::new(inner);
            return expression.map(|it| Some(Pattern::Expression(it))).map_err(|e| format!("`{text}`: {e}"));
        }
        let wild = text.contains(['*', '?']);
        Ok(wild.then(|| Pattern::Wildcards(text.chars().collect())))
    }

    fn fits(&self, name: &str) -> bool {
        match self {
            Pattern::Expression(expression) => expression.is_match(name),
            Pattern::Wildcards(pattern) => fits(pattern, &name.chars().collect::<Vec<char>>()),
        }
    }
}

/// Whether a name fits a pattern with wildcards: the last `*` takes one character more wherever what
/// follows it does not fit.
fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((after, at)) => {
                    star = Some((after, at + 1));
                    (p, n) = (after, at + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// Positions of the names that `text` means where it is a pattern: `*` stands for any text, `?` for
/// one character, and `/.../` is a regular expression. None where it is a name or a plain text.
///
/// # Errors
/// A text that is no regular expression.
pub fn matching(names: &Names, text: &str) -> Result<Option<Vec<usize>>, String> {
    if names.position(text).is_some() {
        return Ok(None);
    }
    let Some(pattern) = Pattern::of(text)? else { return Ok(None) };
    Ok(Some((0..names.len()).filter(|&j| pattern.fits(&names.get(j))).collect()))
}

/// Positions of what names and patterns mean, ascending; `role` says what they are for.
///
/// # Errors
/// An unknown name, a pattern that no name fits or that is invalid.
pub(crate) fn meant(names: &Names, file: &str, asked: &[String], role: &'static str) -> Result<Vec<usize>, DataError> {
    let mut all = vec![false; names.len()];
    for text in asked {
        let found = matching(names, text).map_err(|why| DataError::Unsupported {
            file: file.into(),
            what: format!("the pattern {why}"),
            remedy: "correct the regular expression between the slashes".into(),
        })?;
        let found = found.unwrap_or_else(|| names.position(text).into_iter().collect());
        if found.is_empty() {
            return Err(DataError::UnknownColumn {
                file: file.into(),
                name: text.clone(),
                role,
                available: some_of(&names.iter().take(11).map(std::borrow::Cow::into_owned).collect::<Vec<_>>()),
            });
        }
        for j in found {
            all[j] = true;
        }
    }
    Ok((0..names.len()).filter(|&j| all[j]).collect())
}

#[cfg(test)]
mod tests {
    use super::matching;
    use crate::Names;

    #[test]
    fn patterns_mean_the_names_that_fit() {
        let names = ["MT-CO1", "MT-CO2", "RPS6", "RPL3", "mt-x", "a*", "ab"].map(str::to_owned).to_vec();
        let names = Names::Listed(names);
        let of = |text: &str| matching(&names, text).expect("a pattern");
        assert_eq!(of("MT-*"), Some(vec![0, 1]));
        assert_eq!(of("*T-?O2"), Some(vec![1]));
        assert_eq!(of("/^RP[SL]/"), Some(vec![2, 3]));
        assert_eq!(of("/(?i)mt-/"), Some(vec![0, 1, 4]));
        assert_eq!(of("*"), Some((0..7).collect()));
        assert_eq!(of("a?"), Some(vec![5, 6]));
        // A name that there is, and a text without wildcards.
        assert_eq!((of("a*"), of("XY")), (None, None));
        assert_eq!(of("Z*"), Some(vec![]));
        assert!(matching(&names, "/(/").is_err());
    }
}
