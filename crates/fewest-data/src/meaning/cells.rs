//! What a cell of text says: a number, that a value is missing, or text.
//!
//! A number may have a mark that says what it counts (`5 %`, `$12`), which is passed over, and is
//! otherwise written as [`ReadOptions`] say. Words for missing values are of two kinds: those of
//! [`number::is_missing`] always mean it; [`LOOSE`] ones mean it among numbers only, as they may be
//! values of a text column (`None`) or signs (`-`).

use std::borrow::Cow;

use crate::error::OtherStyle;
use crate::{ReadOptions, number};

/// Marks before or after a number.
const MARKS: [&str; 13] = ["%", "‰", "US$", "$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY"];

/// Words that mean a missing value in a column of numbers; in any case of letters.
const LOOSE: [&str; 8] = [".", "-", "--", "*", "none", "missing", "unknown", "n.d."];

/// How numbers are written: the decimal sign, and the sign between thousands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Style(char, Option<char>);

/// As numbers are written in files by default.
const PLAIN: Style = Style('.', None);

/// Other styles, those that are asked for more often first.
const STYLES: [Style; 8] = [
    Style(',', None),
    Style('.', Some(',')),
    Style(',', Some('.')),
    Style('.', Some(' ')),
    Style(',', Some(' ')),
    Style('.', Some('\'')),
    Style(',', Some('\'')),
    PLAIN,
];

impl Style {
    /// A number in this style; infinities and NaN by name are numbers here.
    fn parse(self, text: &str) -> Option<f64> {
        if self == PLAIN {
            return number::parse(text.as_bytes());
        }
        let text = text.trim();
        let Style(decimal, thousands) = self;
        let end = text.find([decimal, 'e', 'E']).unwrap_or(text.len());
        let (whole, rest) = text.split_at(end);
        if rest.contains('.') && decimal != '.' || whole.contains('.') && thousands != Some('.') {
            return None;
        }
        let mut plain = match thousands {
            Some(sign) => ungrouped(whole, sign)?,
            None => whole.to_owned(),
        };
        plain.push_str(&rest.replacen(decimal, ".", 1));
        number::parse(plain.as_bytes())
    }

    /// The settings that ask for it.
    fn options(self) -> String {
        let decimal = (self.0 != '.').then(|| format!("⟦decimal={}⟧", self.0));
        let thousands = self.1.map(|sign| format!("⟦thousands={sign}⟧"));
        decimal.into_iter().chain(thousands).collect::<Vec<String>>().join(" ")
    }
}

/// The digits of a whole number without the signs between its groups of three; none where they are
/// not at such places.
fn ungrouped(whole: &str, sign: char) -> Option<String> {
    let is_sign = |c: char| c == sign || sign == ' ' && matches!(c, '\u{a0}' | '\u{202f}');
    let (minus, digits) = match whole.strip_prefix(['-', '+']) {
        Some(digits) => (&whole[..1], digits),
        None => ("", whole),
    };
    let groups: Vec<&str> = digits.split(is_sign).collect();
    let right = |(at, group): (usize, &&str)| match at {
        0 => (1..=3).contains(&group.len()) && !group.starts_with('0'),
        _ => group.len() == 3,
    };
    let grouped = groups.len() == 1 || groups.iter().enumerate().all(right);
    grouped.then(|| format!("{minus}{}", groups.concat()))
}

/// A number without its mark and with an ASCII minus sign; none where it has neither.
fn unmarked(text: &str) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    let (first, last) = (*bytes.first()?, *bytes.last()?);
    // Most text differs from a number at its ends.
    let begins = first.is_ascii_digit() || b"+-.,$\xe2\xc2UEGCJ".contains(&first);
    let ends = last.is_ascii_digit() || last >= 0x80 || b"%$.,DRPFY".contains(&last);
    if !begins || !ends {
        return None;
    }
    let (sign, rest) = match text.strip_prefix(['-', '+', '\u{2212}']) {
        Some(rest) => (if text.starts_with('+') { "" } else { "-" }, rest.trim_start()),
        None => ("", text),
    };
    let mark = MARKS.iter().find_map(|mark| match rest.strip_prefix(mark) {
        Some(inner) if *mark != "%" => Some(inner.trim_start()),
        _ => rest.strip_suffix(mark).map(str::trim_end),
    });
    match mark {
        // The sign may stand behind the mark: $-5.
        Some(inner) => Some(format!("{sign}{}", inner.replacen('\u{2212}', "-", 1)).into()),
        None if text.starts_with('\u{2212}') => Some(format!("-{rest}").into()),
        None => None,
    }
}

/// A number in one of the styles, its mark passed over.
pub(crate) fn in_any_style(text: &str) -> Option<f64> {
    // Most text differs from a number in its first character.
    if text.trim_start().starts_with(|c: char| c.is_ascii_alphabetic() && !"UEGCJ".contains(c)) {
        return None;
    }
    let inner = unmarked(text.trim());
    let text = inner.as_deref().unwrap_or(text);
    STYLES.iter().find_map(|style| style.parse(text).filter(|x| x.is_finite()))
}

impl OtherStyle {
    fn unknown(remedy: &str) -> Self {
        Self { remedy: remedy.to_owned(), style: None }
    }
}

/// How cells are to be understood.
#[derive(Debug, Clone)]
pub(crate) struct Cells {
    style: Style,
    /// Texts that mean a missing value.
    codes: Vec<String>,
    /// Numbers that do.
    values: Vec<f64>,
}

impl Cells {
    /// As the caller asks.
    pub(crate) fn new(options: &ReadOptions) -> Self {
        Self {
            style: Style(options.decimal.unwrap_or('.'), options.thousands),
            codes: options.missing_codes.clone(),
            values: options.missing_codes.iter().filter_map(|code| number::parse(code.as_bytes())).collect(),
        }
    }

    /// The number of a cell; infinities and NaN by name are numbers here, and NaN is that of a code
    /// for missing values.
    #[inline]
    pub(crate) fn number(&self, cell: &[u8]) -> Option<f64> {
        let value = if self.style == PLAIN { number::parse(cell) } else { None };
        match value {
            Some(x) if self.values.is_empty() => Some(x),
            value => self.other_number(value, cell),
        }
    }

    fn other_number(&self, plain: Option<f64>, cell: &[u8]) -> Option<f64> {
        let parse = || {
            let text = std::str::from_utf8(cell).ok()?.trim();
            match unmarked(text) {
                Some(inner) => self.style.parse(&inner),
                None if self.style == PLAIN => None,
                None => self.style.parse(text),
            }
        };
        let value = plain.or_else(parse)?;
        Some(if self.is_code(value) { f64::NAN } else { value })
    }

    /// Whether a number stands for a missing value.
    pub(crate) fn is_code(&self, value: f64) -> bool {
        self.values.contains(&value)
    }

    /// Whether any number does.
    pub(crate) fn has_codes(&self) -> bool {
        !self.values.is_empty()
    }

    /// Whether a cell stands for a missing value in any column.
    #[inline]
    pub(crate) fn is_missing(&self, cell: &[u8]) -> bool {
        number::is_missing(cell) || !self.codes.is_empty() && self.is_coded(cell)
    }

    fn is_coded(&self, cell: &[u8]) -> bool {
        let cell = cell.trim_ascii();
        self.codes.iter().any(|code| code.as_bytes() == cell)
            || number::parse(cell).is_some_and(|value| self.is_code(value))
    }

    /// Whether it does in a column of numbers.
    pub(crate) fn is_missing_number(&self, cell: &[u8]) -> bool {
        self.is_missing(cell) || is_loose(cell)
    }

    /// The options for a column of such texts, where more than half of them are numbers written in
    /// another way; two ways where the texts allow both.
    pub(crate) fn other_style<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Option<OtherStyle> {
        let (mut all, mut alike, mut fits) = (0, 0, STYLES.map(|style| style != self.style));
        for text in texts.filter(|text| self.number(text.as_bytes()).is_none()) {
            all += 1;
            let inner = unmarked(text);
            let text = inner.as_deref().unwrap_or(text);
            let fit = STYLES.map(|style| style != self.style && style.parse(text).is_some_and(f64::is_finite));
            if fit.contains(&true) {
                alike += 1;
                (0..STYLES.len()).for_each(|at| fits[at] &= fit[at]);
            }
        }
        if alike * 2 <= all {
            return None;
        }
        let fitting = STYLES.iter().zip(fits).filter(|(_, fits)| *fits).map(|(style, _)| *style);
        if fits[STYLES.len() - 1] {
            return Some(OtherStyle::unknown("leave out ⟦decimal⟧ and ⟦thousands⟧, or write all numbers in one way"));
        }
        // The first two differ in what a comma means; the others follow from these.
        let of_comma: Vec<String> =
            fitting.clone().take(2).filter(|style| STYLES[..2].contains(style)).map(Style::options).collect();
        match (&of_comma[..], fitting.clone().next()) {
            ([decimal, thousands], _) => Some(OtherStyle::unknown(&format!(
                "say {thousands} if the sign is between thousands, or {decimal} if it is the decimal sign"
            ))),
            (_, Some(style)) => {
                let said = format!("say {}", style.options());
                Some(OtherStyle { remedy: said, style: Some((style.0, style.1)) })
            }
            (_, None) => Some(OtherStyle::unknown("write all of them in one way")),
        }
    }
}

/// The decimal sign and the sign between thousands of texts some of which are numbers with a comma
/// that cannot be read with a point.
pub(crate) fn comma_style(texts: &[&str]) -> Option<(char, Option<char>)> {
    let parses = |style: Style, text: &str| {
        let inner = unmarked(text);
        style.parse(inner.as_deref().unwrap_or(text)).is_some_and(f64::is_finite)
    };
    let with = |sign: char| texts.iter().filter(move |text| text.contains(sign));
    let points = with('.').any(|text| parses(PLAIN, text) && !parses(STYLES[2], text));
    if points {
        return None;
    }
    let commas = with(',').filter(|text| parses(STYLES[0], text) || parses(STYLES[2], text));
    let thousands = with('.').any(|text| parses(STYLES[2], text));
    let some = commas.count() > 0;
    some.then_some((',', thousands.then_some('.')))
}

/// Whether a cell stands for a missing value in a column of numbers, by default.
pub(crate) fn is_word_for_missing(cell: &[u8]) -> bool {
    number::is_missing(cell) || is_loose(cell)
}

/// Whether it does in a column of numbers, but not in a text column.
pub(crate) fn is_loose(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    cell.len() <= 8 && LOOSE.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether a cell is a whole number with a zero before it, such as a postal code: text, although it
/// has digits only.
#[inline]
pub(crate) fn is_padded(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    cell.len() > 1 && cell[0] == b'0' && cell.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(decimal: char, thousands: Option<char>) -> Cells {
        Cells::new(&ReadOptions { decimal: Some(decimal), thousands, ..ReadOptions::default() })
    }

    #[test]
    fn numbers_in_every_style() {
        let plain = cells('.', None);
        for (text, value) in [
            ("5%", 5.0),
            (" 12.5 % ", 12.5),
            ("$1114.62", 1114.62),
            ("-$5", -5.0),
            ("$-5", -5.0),
            ("3 €", 3.0),
            ("EUR 7.5", 7.5),
            ("\u{2212}1.5", -1.5),
            ("+3", 3.0),
        ] {
            assert_eq!(plain.number(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["0,5", "1,000", "$1,000", "% 5", "USD", "$", "-", "Uruguay", "5 kg", "1 000"] {
            assert_eq!(plain.number(text.as_bytes()), None, "{text}");
        }
        let comma = cells(',', None);
        assert_eq!(comma.number(b"0,5"), Some(0.5));
        assert_eq!(comma.number(b"-1,5e3"), Some(-1500.0));
        assert_eq!(comma.number(b"7"), Some(7.0));
        assert_eq!(comma.number(b"3,5 %"), Some(3.5));
        for text in ["1.5", "1,5,5", "1.000,5"] {
            assert_eq!(comma.number(text.as_bytes()), None, "{text}");
        }
        let thousands = cells('.', Some(','));
        assert_eq!(thousands.number(b"1,234,567.5"), Some(1234567.5));
        assert_eq!(thousands.number(b"$1,000"), Some(1000.0));
        assert_eq!(thousands.number(b"1000"), Some(1000.0));
        assert_eq!(thousands.number(b"1,00"), None);
        let german = cells(',', Some('.'));
        assert_eq!(german.number(b"1.234,5"), Some(1234.5));
        assert_eq!(german.number(b"1.234"), Some(1234.0));
        assert_eq!(german.number(b"1.5"), None);
        let french = cells(',', Some(' '));
        assert_eq!(french.number("1 234,5".as_bytes()), Some(1234.5));
        assert_eq!(french.number("1\u{202f}234 €".as_bytes()), Some(1234.0));
    }

    #[test]
    fn codes_are_missing_as_text_and_as_numbers() {
        let options = ReadOptions { missing_codes: vec!["-999".into(), "unk".into()], ..ReadOptions::default() };
        let cells = Cells::new(&options);
        for code in ["-999", "-999.0", " unk "] {
            assert!(cells.is_missing(code.as_bytes()), "{code}");
        }
        assert!(cells.number(b"-999.0").is_some_and(f64::is_nan));
        assert!(!cells.is_missing(b"-99") && cells.number(b"-99") == Some(-99.0));
    }

    #[test]
    fn other_styles_are_named() {
        let plain = cells('.', None);
        let said =
            |texts: &[&str]| plain.other_style(texts.iter().copied()).map_or(String::new(), |other| other.remedy);
        assert_eq!(said(&["0,5", "1,0"]), "say ⟦decimal=,⟧");
        assert_eq!(said(&["0,125", "1,250"]), "say ⟦decimal=,⟧");
        assert_eq!(said(&["1,234.5", "2,000"]), "say ⟦thousands=,⟧");
        assert_eq!(said(&["1.234,5", "2,5"]), "say ⟦decimal=,⟧ ⟦thousands=.⟧");
        assert_eq!(
            said(&["1,000", "2,500"]),
            "say ⟦thousands=,⟧ if the sign is between thousands, or ⟦decimal=,⟧ if it is the decimal sign"
        );
        assert_eq!(said(&["$1,234.50", "$7.00"]), "say ⟦thousands=,⟧");
        assert_eq!(said(&["1 000", "20 000"]), "say ⟦thousands= ⟧");
        for texts in [&["a", "b"][..], &["1,5", "x", "y"], &[], &["T1", "T2"]] {
            assert_eq!(said(texts), "", "{texts:?}");
        }
        assert_eq!(
            cells(',', None).other_style(["1.5"].into_iter()).map_or(String::new(), |other| other.remedy),
            "leave out ⟦decimal⟧ and ⟦thousands⟧, or write all numbers in one way"
        );
    }
}
