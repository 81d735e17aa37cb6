//! Numbers in text: exactly rounded reading, shortest exact writing, and what counts as missing.

/// A number, leading `+` and surrounding blanks allowed; infinities and NaN by name are numbers
/// here.
#[inline]
pub(crate) fn parse(cell: &[u8]) -> Option<f64> {
    let cell = cell.trim_ascii();
    if let Some(value) = short_integer(cell) {
        return Some(value);
    }
    fast_float2::parse::<f64, _>(cell).ok()
}

/// Up to 15 digits with an optional minus, the commonest case.
#[inline]
fn short_integer(cell: &[u8]) -> Option<f64> {
    let (negative, digits) = match cell {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, cell),
    };
    if digits.is_empty() || digits.len() > 15 {
        return None;
    }
    let mut value = 0u64;
    for &b in digits {
        let d = b.wrapping_sub(b'0');
        if d > 9 {
            return None;
        }
        value = value * 10 + u64::from(d);
    }
    let value = value as f64;
    Some(if negative { -value } else { value })
}

/// Words that mean a missing value everywhere, in any case of letters: what pandas, R, SQL and
/// spreadsheets write.
const MISSING: [&str; 15] = [
    "na", "n/a", "nan", "null", "-nan", "+nan", "n.a.", "<na>", "#n/a", "#na", "#n/a n/a", "\\n", "1.#ind", "-1.#ind",
    "1.#qnan",
];

/// Whether a cell stands for a missing value: empty, `?`, or one of [`MISSING`].
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    let cell = cell.trim_ascii();
    // Most text is known by its first character.
    matches!(cell, b"" | b"?")
        || b"nN-+<#\\1".contains(&cell[0])
            && cell.len() <= 8
            && MISSING.iter().any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

/// The shortest text that reads back as the same f64.
pub(crate) fn text(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-5..1e16).contains(&size) { format!("{value}") } else { format!("{value:e}") }
}

/// The shortest text that reads back as the same f32: `0.1`, which is 0.10000000149 as f64.
pub(crate) fn text_of_single(value: f64) -> String {
    parse((value as f32).to_string().as_bytes()).map_or_else(|| text(value), text)
}

/// Appends the shortest text that reads back as the same f64.
pub(crate) fn write(out: &mut Vec<u8>, value: f64) {
    use std::io::Write as _;
    let size = value.abs();
    // Writing to a Vec cannot fail.
    let _ =
        if value == 0.0 || (1e-5..1e16).contains(&size) { write!(out, "{value}") } else { write!(out, "{value:e}") };
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms_of_numbers() {
        for (text, value) in
            [("+1", 1.0), (" -2.5 ", -2.5), ("1e-3", 1e-3), ("-0", -0.0), ("999999999999999", 999999999999999.0)]
        {
            assert_eq!(parse(text.as_bytes()), Some(value), "{text}");
        }
        for text in ["", "-", "1,5", "abc", "1 2", "0x10", "1_000"] {
            assert_eq!(parse(text.as_bytes()), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_reads_back_exactly(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(parse(text(value).as_bytes()).map(f64::to_bits), Some(value.to_bits()));
        }

        #[test]
        fn same_as_the_standard_library(text in "-?[0-9]{1,20}(\\.[0-9]{0,20})?(e-?[0-9]{1,3})?") {
            prop_assert_eq!(parse(text.as_bytes()), text.parse::<f64>().ok());
        }
    }
}
