//! Tables as the terminal behind standard output takes them.

use fewest_report::Style;

use crate::terminal::{is_bold, width};

pub(crate) use fewest_report::{Table, brief, number, seconds};

/// The style of that terminal.
pub(crate) fn style() -> Style {
    Style { width: width(), bold: is_bold() }
}

/// A relative gap, not less than it is to the digits shown.
pub(crate) fn gap(share: f64) -> String {
    let text = format!("{share:.2e}");
    match text.parse::<f64>() {
        Ok(shown) if shown < share => format!("{:.2e}", share + 0.005 * 10f64.powf(share.log10().floor())),
        _ => text,
    }
}

/// [`Style::pairs`].
pub(crate) fn pairs(pairs: &[(&str, String)]) -> String {
    style().pairs(pairs)
}

/// [`Style::paragraph`].
pub(crate) fn paragraph(text: &str, indent: usize) -> String {
    style().paragraph(text, indent)
}

#[cfg(test)]
mod tests {
    use super::gap;

    #[test]
    fn a_gap_is_not_rounded_down() {
        assert_eq!([gap(0.50616), gap(1.004e-4), gap(9.991e-5), gap(0.0)], ["5.07e-1", "1.01e-4", "1.00e-4", "0.00e0"]);
        for share in (1..2000).map(|k| 1.37e-6 * f64::from(k)) {
            let shown: f64 = gap(share).parse().unwrap();
            assert!(shown >= share && shown <= share * 1.011, "{share} {shown}");
        }
    }
}
