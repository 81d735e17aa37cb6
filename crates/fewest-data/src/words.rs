//! Settings in texts. A text of this crate names a setting as `⟦drop⟧`, with the value that is to be
//! given as `⟦drop=age⟧`. Each door says them in its own words: `--drop age`, `drop=["age"]`.

use std::fmt;

/// What a setting takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it is on or off.
    Nothing,
    /// A text.
    Text,
    /// A number.
    Number,
    /// A list of names.
    Names,
}

/// A setting that a text names, such as one that is its remedy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remedy<'a> {
    /// The name of the setting, as in [`crate::ReadOptions`] and in files of results.
    pub setting: &'a str,
    /// What it takes.
    pub takes: Takes,
    /// The value to give, where the text says one.
    pub value: Option<&'a str>,
}

/// What the settings take that texts name: those of [`crate::ReadOptions`], and of preparing the data.
const NAMED: [(&str, Takes); 30] = [
    ("by", Takes::Text),
    ("classes", Takes::Names),
    ("comment", Takes::Text),
    ("decimal", Takes::Text),
    ("delimiter", Takes::Text),
    ("drop", Takes::Names),
    ("drop_unlabelled", Takes::Nothing),
    ("format", Takes::Text),
    ("groups", Takes::Text),
    ("header", Takes::Nothing),
    ("id", Takes::Text),
    ("index_limit", Takes::Number),
    ("labels", Takes::Text),
    ("layer", Takes::Text),
    ("log1p", Takes::Nothing),
    ("memory", Takes::Text),
    ("missing", Takes::Text),
    ("missing_codes", Takes::Names),
    ("no_header", Takes::Nothing),
    ("normalize_total", Takes::Number),
    ("positive", Takes::Text),
    ("scale", Takes::Text),
    ("seed", Takes::Number),
    ("sum_by", Takes::Names),
    ("target", Takes::Text),
    ("text", Takes::Names),
    ("thousands", Takes::Text),
    ("transpose", Takes::Nothing),
    ("unique_names", Takes::Nothing),
    ("zero_based", Takes::Nothing),
];

const OPEN: char = '⟦';
const CLOSE: char = '⟧';

/// A text with each setting that it names in the words of a door.
pub fn in_words(text: &str, word: impl Fn(Remedy<'_>) -> String) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, remedy, after)) = next(rest) {
        out = out + before + &word(remedy);
        rest = after;
    }
    out + rest
}

/// The first setting of a text, what is before and behind it. Brackets that a value holds close
/// each other; those that hold no setting are text of a file.
fn next(text: &str) -> Option<(&str, Remedy<'_>, &str)> {
    for (at, _) in text.match_indices(OPEN) {
        let inside = &text[at + OPEN.len_utf8()..];
        let mut depth = 1;
        let end = inside.char_indices().find(|(_, sign)| {
            depth += i32::from(*sign == OPEN) - i32::from(*sign == CLOSE);
            depth == 0
        });
        let Some((end, _)) = end else { continue };
        let (said, after) = (&inside[..end], &inside[end + CLOSE.len_utf8()..]);
        let (setting, value) = said.split_once('=').map_or((said, None), |(setting, value)| (setting, Some(value)));
        if let Some((_, takes)) = NAMED.iter().find(|(name, _)| *name == setting) {
            return Some((&text[..at], Remedy { setting, takes: *takes, value }, after));
        }
    }
    None
}

impl fmt::Display for Remedy<'_> {
    /// As the library itself says it: `` `drop` ``, `` `drop = age` ``.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value {
            None => write!(f, "`{}`", self.setting),
            Some(value) => write!(f, "`{} = {value}`", self.setting),
        }
    }
}

/// A message whose settings each door names in its own words; its `Display` names them as the
/// library does.
pub trait Told {
    /// The text, with settings in brackets.
    #[doc(hidden)]
    fn marked(&self) -> String;

    /// The text, with settings in the words of a door.
    fn in_words(&self, word: impl Fn(Remedy<'_>) -> String) -> String {
        in_words(&self.marked(), word)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::path::Path;

    use super::{NAMED, OPEN, in_words};

    #[test]
    fn settings_are_told_in_the_words_of_a_door() {
        let text = "`a`: say ⟦drop=⟦x⟧ y⟧, ⟦no_header⟧, or keep ⟦Typ⟧ and ⟦";
        assert_eq!(in_words(text, |one| one.to_string()), "`a`: say `drop = ⟦x⟧ y`, `no_header`, or keep ⟦Typ⟧ and ⟦");
        let named = RefCell::new(Vec::new());
        in_words(text, |one| {
            named.borrow_mut().push((one.setting.to_owned(), one.value.map(str::to_owned)));
            String::new()
        });
        let named = named.into_inner();
        assert_eq!(named, [("drop".to_owned(), Some("⟦x⟧ y".to_owned())), ("no_header".to_owned(), None)]);
    }

    /// Each line of code of the crate, and the file that it stands in.
    fn each_line(see: &mut dyn FnMut(&Path, &str)) {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).expect("a source");
                let code = text.split("#[cfg(test)]").next().unwrap_or_default();
                code.lines().filter(|line| !line.trim_start().starts_with("//")).for_each(|line| see(&path, line));
            }
        }
    }

    #[test]
    fn options_of_the_command_are_in_no_text_of_the_crate() {
        each_line(&mut |file, line| {
            let is_option = |at: usize| {
                line[at + 2..].starts_with(|c: char| c.is_ascii_lowercase()) && line[..at].ends_with([' ', '"', '('])
            };
            let option = line.match_indices("--").find(|(at, _)| is_option(*at));
            assert!(option.is_none(), "{}: {line}", file.display());
        });
    }

    #[test]
    fn each_setting_that_a_text_names_is_known() {
        let mut count = 0;
        each_line(&mut |file, line| {
            for (at, _) in line.match_indices(OPEN) {
                let name = &line[at + OPEN.len_utf8()..];
                let end = name.find(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_'));
                let name = &name[..end.unwrap_or(name.len())];
                let known = NAMED.iter().any(|(known, _)| *known == name);
                assert!(known || name.is_empty(), "{}: {line}", file.display());
                count += usize::from(known);
            }
        });
        assert!(count > 70, "{count}");
    }
}
