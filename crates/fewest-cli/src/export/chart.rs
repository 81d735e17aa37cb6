//! A small chart for the terminal: one bar for each size of a path.

use std::fmt::Write as _;

use fewest_report::number;

use crate::terminal::{unicode, width};

/// Lines of the chart.
const LINES: usize = 5;

/// Columns of a bar, at most.
const BAR: usize = 3;

/// Bars of the values by size, over a line from 0 (or the smallest value, where that is below 0);
/// nothing for less than three.
pub(crate) fn bars(title: &str, points: &[(usize, f64)]) -> String {
    render(title, points, width().unwrap_or(80), unicode())
}

fn render(title: &str, points: &[(usize, f64)], limit: usize, unicode: bool) -> String {
    let high = points.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
    let low = points.iter().map(|p| p.1).fold(0.0, f64::min);
    if points.len() < 3 || !(high.is_finite() && low.is_finite() && high > low) {
        return String::new();
    }
    // A bar and the space behind it; where there is no room for all sizes, every second, third, ...
    // is shown.
    let (top, bottom) = (number(high), number(low));
    let margin = top.len().max(bottom.len());
    let room = limit.saturating_sub(margin + 3).max(8);
    let every = (2 * points.len()).div_ceil(room);
    let shown: Vec<(usize, f64)> = points.iter().copied().step_by(every).collect();
    let step = (room / shown.len()).clamp(2, BAR + 1);
    let levels = if unicode { "\u{2581}\u{2582}\u{2583}\u{2584}\u{2585}\u{2586}\u{2587}\u{2588}" } else { "#" };
    let levels: Vec<char> = levels.chars().collect();
    let (wall, corner, floor) = if unicode { ('\u{2524}', '\u{2514}', '\u{2500}') } else { ('|', '+', '-') };
    let full = levels.len();
    let height = |value: f64| ((value - low) / (high - low) * (LINES * full) as f64).round().max(1.0) as usize;
    let mut out = format!("{title}\n");
    for line in (0..LINES).rev() {
        let label = if line + 1 == LINES { top.as_str() } else { "" };
        let mut text = format!("{label:>margin$} {wall}");
        for &(_, value) in &shown {
            let filled = height(value).saturating_sub(line * full).min(full);
            let mark = if filled == 0 { ' ' } else { levels[filled - 1] };
            text.extend(std::iter::repeat_n(mark, step - 1).chain([' ']));
        }
        out += text.trim_end();
        out.push('\n');
    }
    let _ = writeln!(out, "{bottom:>margin$} {corner}{}", floor.to_string().repeat(shown.len() * step - 1));
    let mut labels = String::new();
    for (at, (size, _)) in shown.iter().enumerate() {
        // A label that would touch the one before is left out.
        if labels.is_empty() || labels.len() < at * step {
            labels += &" ".repeat(at * step - labels.len());
            labels += &size.to_string();
        }
    }
    out + &" ".repeat(margin + 2) + &labels + "\n"
}

#[cfg(test)]
mod tests {
    use super::render;

    #[test]
    fn bars_stand_over_their_sizes() {
        let points = [(1, 100.0), (2, 50.0), (5, 25.0), (10, 0.0)];
        let text = render("objective", &points, 80, true);
        let expected = "objective\n100.000 \u{2524}\u{2588}\u{2588}\u{2588}\n        \u{2524}\u{2588}\u{2588}\u{2588}\n        \u{2524}\u{2588}\u{2588}\u{2588} \u{2584}\u{2584}\u{2584}\n        \u{2524}\u{2588}\u{2588}\u{2588} \u{2588}\u{2588}\u{2588} \u{2582}\u{2582}\u{2582}\n        \u{2524}\u{2588}\u{2588}\u{2588} \u{2588}\u{2588}\u{2588} \u{2588}\u{2588}\u{2588} \u{2581}\u{2581}\u{2581}\n      0 \u{2514}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\n         1   2   5   10\n";
        assert_eq!(text, expected, "{text}");
    }

    #[test]
    fn it_keeps_to_the_width_and_to_ascii() {
        let points: Vec<(usize, f64)> = (1..=200).map(|k| (k, 300.0 - k as f64)).collect();
        for limit in [20, 40, 80, 200] {
            for unicode in [true, false] {
                let text = render("objective", &points, limit, unicode);
                assert!(text.lines().all(|line| line.chars().count() <= limit), "{limit}\n{text}");
                assert_eq!(text.is_ascii(), !unicode);
            }
        }
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        assert_eq!(render("", &[(1, 1.0), (2, 1.0)], 80, true), "");
        assert_eq!(render("", &[(1, 0.0), (2, 0.0), (3, 0.0)], 80, true), "");
        assert_eq!(render("", &[(1, f64::NAN), (2, f64::INFINITY), (3, 0.0)], 80, true), "");
    }
}
