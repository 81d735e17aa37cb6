//! Charts as SVG text, drawn by plotters.
//!
//! Colours are roles: the page's style sheet gives [`INK`] and the others their real colour by the
//! value of the attribute, so that one picture serves light, dark and print. A bar, a cell and a
//! point is one `rect` or `circle` in a role of its own, which is how tests count them.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::words;

/// Words and axes.
const INK: RGBColor = RGBColor(1, 1, 1);
/// Grid lines.
const GRID: RGBColor = RGBColor(2, 2, 2);
/// The first series, and what was chosen.
const FIRST: RGBColor = RGBColor(3, 3, 3);
/// The second series, and what was not chosen.
const SECOND: RGBColor = RGBColor(4, 4, 4);
/// What values are compared with.
const MUTED: RGBColor = RGBColor(5, 5, 5);

/// Width of a chart in its own units, 85 mm on paper; its height depends on what it shows.
const WIDTH: u32 = 400;
/// Height of a chart with two axes.
const HEIGHT: u32 = 300;
/// Height of a row of a bar chart or a matrix.
const ROW: u32 = 22;
/// Columns that a label may take beside a row.
pub(crate) const LABEL: usize = 17;
/// Points of the longest line beyond which those of all are small.
const CROWD: usize = 40;
/// Width of a letter at most.
const LETTER: i32 = 9;
/// Most strength that a cell of a matrix has, so that words on it can be read.
const CELL: f64 = 0.4;
/// Columns beyond which a chart of rows is wider than others: as wide as a page of two columns, 170 mm.
const MANY: usize = 9;
/// Largest radius of a dot.
const DOT: f64 = 9.0;

/// Which role a mark has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The first series, or chosen.
    First,
    /// The second series, or not chosen.
    Second,
    /// What the others are compared with.
    Muted,
}

impl Role {
    fn colour(self) -> RGBColor {
        match self {
            Role::First => FIRST,
            Role::Second => SECOND,
            Role::Muted => MUTED,
        }
    }
}

/// One bar.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    /// What it is of; short.
    pub(crate) label: String,
    /// The bar's length.
    pub(crate) value: f64,
    /// What is written at its end.
    pub(crate) text: String,
    /// The bar's colour.
    pub(crate) role: Role,
}

/// How points are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Joined {
    /// Points alone.
    No,
    /// Straight lines.
    Line,
    /// Steps: a value holds until the next one.
    Steps,
}

/// Points of a chart with two axes.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    /// x and y, by x.
    pub(crate) points: Vec<(f64, f64)>,
    /// For each point the lower and upper end of its error bar; empty where there are none.
    pub(crate) errors: Vec<(f64, f64)>,
    /// How the points are joined.
    pub(crate) joined: Joined,
    /// Whether the points are drawn.
    pub(crate) dotted: bool,
    /// Whether the errors are a band around the line, not bars.
    pub(crate) band: bool,
    /// The colour of the series.
    pub(crate) role: Role,
}

impl Series {
    /// A line through points.
    pub(crate) fn line(points: Vec<(f64, f64)>, role: Role) -> Self {
        Self { points, errors: Vec::new(), joined: Joined::Line, dotted: true, band: false, role }
    }
}

/// A value with its interval, beside what it is compared with.
#[derive(Debug, Clone)]
pub(crate) struct Estimate {
    /// What it is of; short.
    pub(crate) label: String,
    /// The value, from 0 to 1.
    pub(crate) value: f64,
    /// The interval's ends.
    pub(crate) interval: Option<(f64, f64)>,
    /// What guessing gives.
    pub(crate) chance: Option<f64>,
}

/// Ticks of an x axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ticks {
    /// Integers.
    Whole,
    /// x is the decimal logarithm of what is shown.
    Decades,
    /// Numbers as they are.
    Plain,
}

/// The axes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Axes<'a> {
    /// Words under the x axis.
    pub(crate) x: &'a str,
    /// Words beside the y axis.
    pub(crate) y: &'a str,
    /// What the ticks of the x axis say.
    pub(crate) ticks: Ticks,
    /// A place on the x axis that stands out.
    pub(crate) mark: Option<f64>,
    /// Whether both axes are of shares, from 0 to 1, and the chart is square.
    pub(crate) shares: bool,
}

impl<'a> Axes<'a> {
    /// Axes with these words, without a mark.
    pub(crate) fn new(x: &'a str, y: &'a str, ticks: Ticks) -> Self {
        Self { x, y, ticks, mark: None, shares: false }
    }
}

/// A chart that could not be drawn, with what plotters says.
pub(crate) type Drawing = Result<String, String>;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn font(colour: RGBColor) -> TextStyle<'static> {
    // plotters divides by 1.24: 14.5 units on the page.
    ("sans-serif", 18).into_font().color(&colour)
}

fn draw(height: u32, with: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn std::error::Error>>) -> Drawing {
    draw_in(WIDTH, height, with)
}

/// Width of the widest of these labels, with room before what stands beside it.
fn beside<'a>(labels: impl Iterator<Item = &'a str>) -> i32 {
    let widest = labels.map(|label| label.chars().count()).max().unwrap_or(0);
    (LETTER * widest as i32 + 14).clamp(40, LETTER * LABEL as i32 + 14)
}

fn draw_in(width: u32, height: u32, with: impl FnOnce(&Area<'_>) -> Result<(), Box<dyn std::error::Error>>) -> Drawing {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (width, height)).into_drawing_area();
        with(&area).and_then(|()| area.present().map_err(Into::into)).map_err(|error| error.to_string())?;
    }
    Ok(svg)
}

fn text(area: &Area<'_>, text: &str, at: (i32, i32), h: HPos, v: VPos) -> Result<(), Box<dyn std::error::Error>> {
    sized(area, text, at, font(INK).pos(Pos::new(h, v)))
}

fn sized(area: &Area<'_>, text: &str, at: (i32, i32), style: TextStyle<'_>) -> Result<(), Box<dyn std::error::Error>> {
    area.draw(&Text::new(text.to_owned(), at, style)).map_err(|error| error.to_string().into())
}

/// Horizontal bars from 0, with a label before and a text behind each.
pub(crate) fn bars(bars: &[Bar]) -> Drawing {
    let low = bars.iter().map(|b| b.value).fold(0.0, f64::min);
    let high = bars.iter().map(|b| b.value).fold(0.0, f64::max);
    let span = if high > low { high - low } else { 1.0 };
    let room = |negative: bool| {
        let widest = bars.iter().filter(|b| (b.value < 0.0) == negative).map(|b| b.text.chars().count()).max();
        widest.map_or(0, |chars| LETTER * chars as i32 + 10)
    };
    // Words stand at the ends of bars: to the left of negative ones.
    let (left, right) = (beside(bars.iter().map(|bar| bar.label.as_str())), WIDTH as i32 - 4 - room(false));
    let left_end = left + room(true);
    let x = |value: f64| left_end + ((value - low) / span * f64::from(right - left_end)).round() as i32;
    draw(ROW * bars.len() as u32 + 12, |area| {
        for (at, bar) in bars.iter().enumerate() {
            let top = 6 + ROW as i32 * at as i32;
            let middle = top + ROW as i32 / 2;
            text(area, &bar.label, (left - 8, middle), HPos::Right, VPos::Center)?;
            let (from, to) = (x(0.0).min(x(bar.value)), x(0.0).max(x(bar.value)).max(x(0.0) + 1));
            let body = [(from, top + 4), (to, top + ROW as i32 - 4)];
            area.draw(&Rectangle::new(body, bar.role.colour().filled()))?;
            if bar.value < 0.0 {
                text(area, &bar.text, (from - 6, middle), HPos::Right, VPos::Center)?;
            } else {
                text(area, &bar.text, (to + 6, middle), HPos::Left, VPos::Center)?;
            }
        }
        let axis = [(x(0.0), 4), (x(0.0), (ROW * bars.len() as u32) as i32 + 8)];
        area.draw(&PathElement::new(axis, INK.stroke_width(1)))?;
        Ok(())
    })
}

/// Room around a range, so that no point sits on an axis.
fn padded(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (low, high) =
        values.filter(|v| v.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    if low > high {
        return 0.0..1.0;
    }
    // What differs by rounding alone is one value.
    let apart = high - low > 1e-9 * high.abs().max(low.abs());
    let room = if apart { 0.06 * (high - low) } else { 0.1 * high.abs().max(1.0) };
    low - room..high + room
}

/// A chart with two axes.
pub(crate) fn lines(series: &[Series], axes: Axes<'_>) -> Drawing {
    let points = || series.iter().flat_map(|s| s.points.iter().copied());
    let x = padded(points().map(|p| p.0).chain(axes.mark));
    let errors = series.iter().flat_map(|s| s.errors.iter().flat_map(|&(low, high)| [low, high]));
    let y = padded(points().map(|p| p.1).chain(errors));
    // Ticks of integers are asked for at integers, where there are few.
    let (x, ticks) = if axes.ticks == Ticks::Whole {
        let (low, high) = (x.start.ceil().max(0.0), x.end.floor());
        (low - 0.5..high + 0.5, if high - low < 12.0 { 2 * (high - low) as usize + 3 } else { 10 })
    } else {
        (x, 6)
    };
    let (x, y) = if axes.shares { (-0.02..1.02, -0.02..1.02) } else { (x, y) };
    draw(if axes.shares { WIDTH - 20 } else { HEIGHT }, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(8)
            .margin_right(14)
            .x_label_area_size(46)
            .y_label_area_size(64)
            .build_cartesian_2d(x.clone(), y.clone())?;
        let tick = |tick: &f64| match axes.ticks {
            Ticks::Whole if (tick - tick.round()).abs() < 1e-9 => short(*tick),
            Ticks::Whole => String::new(),
            Ticks::Decades => decade(*tick, x.end - x.start),
            Ticks::Plain => short(*tick),
        };
        chart
            .configure_mesh()
            .x_labels(ticks)
            .y_labels(6)
            .x_desc(axes.x)
            .y_desc(axes.y)
            .axis_style(INK.stroke_width(1))
            .bold_line_style(GRID.stroke_width(1))
            .light_line_style(TRANSPARENT)
            .label_style(font(INK))
            .axis_desc_style(font(INK))
            .x_label_formatter(&tick)
            .y_label_formatter(&|value| within(*value, y.end - y.start))
            .draw()?;
        if let Some(mark) = axes.mark {
            chart.draw_series(LineSeries::new([(mark, y.start), (mark, y.end)], INK.stroke_width(2)))?;
        }
        let longest = series.iter().filter(|s| s.dotted).map(|s| s.points.len()).max().unwrap_or(0);
        let radius = if longest > CROWD { 2 } else { 4 };
        for Series { points, errors, joined, dotted, band, role } in series {
            let colour = role.colour();
            if *band {
                let there = || points.iter().zip(errors).map(|(&(x, _), &ends)| (x, ends));
                let (low, high) = (there().map(|(x, ends)| (x, ends.0)), there().map(|(x, ends)| (x, ends.1)));
                let around: Vec<(f64, f64)> = low.chain(high.rev()).collect();
                chart.draw_series(std::iter::once(Polygon::new(around, colour.mix(0.18).filled())))?;
            }
            let mut path = Vec::new();
            for (at, &point) in points.iter().enumerate() {
                if *joined == Joined::Steps && at > 0 {
                    path.push((point.0, points[at - 1].1));
                }
                path.push(point);
            }
            if *joined != Joined::No {
                chart.draw_series(LineSeries::new(path, colour.stroke_width(2)))?;
            }
            for (&(x, _), &(low, high)) in points.iter().zip(errors).filter(|_| !band) {
                chart.draw_series(LineSeries::new([(x, low), (x, high)], colour.stroke_width(3)))?;
            }
            if *dotted {
                chart.draw_series(points.iter().map(|&point| Circle::new(point, radius, colour.filled())))?;
            }
        }
        Ok(())
    })
}

/// Labels of columns below them, upright where one is wider than a column.
fn under(
    area: &Area<'_>,
    labels: &[String],
    (left, step, top): (i32, i32, i32),
) -> Result<(), Box<dyn std::error::Error>> {
    let upright = labels_stand(labels, step);
    for (column, label) in labels.iter().enumerate() {
        let x = left + column as i32 * step + step / 2;
        if upright {
            let turned = ("sans-serif", 18).into_font().transform(FontTransform::Rotate270).color(&INK);
            sized(area, label, (x, top + 6), turned.pos(Pos::new(HPos::Right, VPos::Center)))?;
        } else {
            text(area, label, (x, top + 6), HPos::Center, VPos::Top)?;
        }
    }
    Ok(())
}

/// Whether labels of columns this wide stand upright.
fn labels_stand(labels: &[String], step: i32) -> bool {
    labels.iter().any(|label| LETTER * label.chars().count() as i32 > step)
}

/// Height of the labels of columns.
fn under_height(labels: &[String], step: i32) -> i32 {
    if labels_stand(labels, step) { beside(labels.iter().map(String::as_str)) } else { 26 }
}

/// Width of a chart with this many columns.
fn wide(columns: usize) -> u32 {
    if columns > MANY { 2 * WIDTH } else { WIDTH }
}

/// A matrix of shares from -1 to 1, a row of values for each of `rows`: the colour tells the sign, its
/// strength the size, and a text stands in the cell.
pub(crate) fn matrix(rows: &[String], columns: &[String], values: &[Vec<f64>], texts: &[Vec<String>]) -> Drawing {
    let (left, top, width) = (beside(rows.iter().map(String::as_str)), 8, wide(columns.len()));
    let side = ((width as i32 - left - 8) / (columns.len() as i32).max(1)).clamp(12, 110);
    let high = side.min(38);
    let bottom = top + rows.len() as i32 * high;
    draw_in(width, (bottom + under_height(columns, side)) as u32, |area| {
        under(area, columns, (left, side, bottom))?;
        for (row, label) in rows.iter().enumerate() {
            let y = top + row as i32 * high;
            text(area, label, (left - 8, y + high / 2), HPos::Right, VPos::Center)?;
            for (column, &value) in values[row].iter().enumerate() {
                let x = left + column as i32 * side;
                let colour = if value < 0.0 { SECOND } else { FIRST };
                let strength = CELL * value.abs().min(1.0);
                // Never invisible: plotters leaves those out.
                let style = colour.mix(strength.max(0.02)).filled();
                area.draw(&Rectangle::new([(x + 1, y + 1), (x + side - 1, y + high - 1)], style))?;
                let words = &texts[row][column];
                if high >= 20 && LETTER * words.chars().count() as i32 <= side + LETTER {
                    text(area, words, (x + side / 2, y + high / 2), HPos::Center, VPos::Center)?;
                }
            }
        }
        Ok(())
    })
}

/// Shares in percent, for the cells of a matrix.
pub(crate) fn percents(values: &[Vec<f64>]) -> Vec<Vec<String>> {
    values.iter().map(|row| row.iter().map(|value| format!("{:.0}", 100.0 * value)).collect()).collect()
}

/// Numbers from -1 to 1 with two digits, for the cells of a matrix.
pub(crate) fn hundredths(values: &[Vec<f64>]) -> Vec<Vec<String>> {
    let text = |value: &f64| format!("{:.2}", value + 0.0).replace("-0.00", "0.00").replace("0.", ".");
    values.iter().map(|row| row.iter().map(text).collect()).collect()
}

/// Dots of two shares from 0 to 1 each: the first is the dot's area, the second the strength of its colour.
pub(crate) fn dot_plot(rows: &[String], columns: &[String], values: &[Vec<(f64, f64)>]) -> Drawing {
    let (left, top, width) = (beside(rows.iter().map(String::as_str)), 8, wide(columns.len()));
    let step = ((width as i32 - left - 8) / (columns.len() as i32).max(1)).min(44);
    let most = DOT.min(f64::from(step) / 2.0 - 0.5);
    let bottom = top + ROW as i32 * rows.len() as i32;
    let end = bottom + under_height(columns, step);
    draw_in(width, end as u32 + 34, |area| {
        under(area, columns, (left, step, bottom))?;
        let dot = |x: i32, y: i32, share: f64, strength: f64, colour: RGBColor| {
            let radius = (most * share.clamp(0.0, 1.0).sqrt()).round().max(1.0) as i32;
            area.draw(&Circle::new((x, y), radius, colour.mix(strength.clamp(0.06, 1.0)).filled()))
        };
        for (at, label) in rows.iter().enumerate() {
            let y = top + ROW as i32 * at as i32 + ROW as i32 / 2;
            text(area, label, (left - 8, y), HPos::Right, VPos::Center)?;
            area.draw(&PathElement::new([(left, y), (left + step * columns.len() as i32, y)], GRID.stroke_width(1)))?;
            for (column, &(share, strength)) in values[at].iter().enumerate() {
                dot(left + step * column as i32 + step / 2, y, share, strength, FIRST)?;
            }
        }
        let mut x = left;
        for (share, words) in [(0.1, "10 %"), (0.5, "50 %"), (1.0, "100 %")] {
            dot(x + 10, end + 18, share, 1.0, MUTED)?;
            text(area, words, (x + 24, end + 18), HPos::Left, VPos::Center)?;
            x += 28 + LETTER * words.len() as i32;
        }
        text(area, "above 0", (x + 4, end + 18), HPos::Left, VPos::Center)?;
        Ok(())
    })
}

/// Values with intervals, a row each, on an axis of shares; a short line marks what guessing gives.
pub(crate) fn estimates(rows: &[Estimate]) -> Drawing {
    let left = beside(rows.iter().map(|row| row.label.as_str()));
    let right = WIDTH as i32 - 50;
    let least = rows
        .iter()
        .flat_map(|row| [Some(row.value), row.interval.map(|ends| ends.0), row.chance].into_iter().flatten());
    let low = (10.0 * least.fold(1.0, f64::min)).floor().clamp(0.0, 9.0) / 10.0;
    let x = |value: f64| left + ((value.clamp(low, 1.0) - low) / (1.0 - low) * f64::from(right - left)).round() as i32;
    let bottom = 6 + (ROW as i32 + 4) * rows.len() as i32;
    draw(bottom as u32 + 26, |area| {
        let ticks = if low >= 0.5 { 1 } else { 2 };
        for tenth in ((10.0 * low) as i32..=10).filter(|tenth| (10 - tenth) % ticks == 0) {
            let value = f64::from(tenth) / 10.0;
            area.draw(&PathElement::new([(x(value), 4), (x(value), bottom)], GRID.stroke_width(1)))?;
            text(area, &short(value), (x(value), bottom + 6), HPos::Center, VPos::Top)?;
        }
        for (at, row) in rows.iter().enumerate() {
            let y = 6 + (ROW as i32 + 4) * at as i32 + ROW as i32 / 2;
            text(area, &row.label, (left - 8, y), HPos::Right, VPos::Center)?;
            if let Some(chance) = row.chance {
                area.draw(&PathElement::new([(x(chance), y - 9), (x(chance), y + 9)], MUTED.stroke_width(3)))?;
            }
            if let Some((from, to)) = row.interval {
                area.draw(&PathElement::new([(x(from), y), (x(to), y)], FIRST.stroke_width(2)))?;
                for end in [from, to] {
                    area.draw(&PathElement::new([(x(end), y - 5), (x(end), y + 5)], FIRST.stroke_width(2)))?;
                }
            }
            area.draw(&Circle::new((x(row.value), y), 5, FIRST.filled()))?;
            text(area, &format!("{:.3}", row.value), (WIDTH as i32 - 4, y), HPos::Right, VPos::Center)?;
        }
        Ok(())
    })
}

/// A bar of the whole of 1: what is reached, and from where on it is open.
pub(crate) fn reached(share: f64) -> Drawing {
    let (left, right) = (4, WIDTH as i32 - 4);
    let end = left + (share.clamp(0.0, 1.0) * f64::from(right - left)).floor() as i32;
    draw(28, |area| {
        area.draw(&Rectangle::new([(left, 4), (end.max(left + 1), 24)], FIRST.filled()))?;
        if end < right {
            area.draw(&Rectangle::new([(end, 4), (right, 24)], SECOND.mix(0.5).filled()))?;
        }
        Ok(())
    })
}

/// Which rows are there in which columns: a dot for each.
pub(crate) fn dots(rows: &[String], columns: &[String], there: &[Vec<bool>]) -> Drawing {
    let (left, top) = (beside(rows.iter().map(String::as_str)), 8);
    let step = ((WIDTH as i32 - left - 8) / (columns.len() as i32).max(1)).min(40);
    let bottom = top + ROW as i32 * rows.len() as i32;
    // Words under columns that stand too close are left out.
    let every = (26 / step.max(1) + 1).max(1) as usize;
    draw(bottom as u32 + 26, |area| {
        for (at, label) in rows.iter().enumerate() {
            let y = top + ROW as i32 * at as i32 + ROW as i32 / 2;
            text(area, label, (left - 8, y), HPos::Right, VPos::Center)?;
            area.draw(&PathElement::new([(left, y), (left + step * columns.len() as i32, y)], GRID.stroke_width(1)))?;
            for (column, _) in there[at].iter().enumerate().filter(|(_, there)| **there) {
                let x = left + step * column as i32 + step / 2;
                area.draw(&Circle::new((x, y), (step / 3).clamp(2, 7), FIRST.filled()))?;
            }
        }
        for (column, label) in columns.iter().enumerate().step_by(every) {
            let x = left + step * column as i32 + step / 2;
            text(area, label, (x, bottom + 6), HPos::Center, VPos::Top)?;
        }
        Ok(())
    })
}

/// 10^x on a logarithmic axis that is this many decades long: one digit that counts, and more where
/// that is short.
fn decade(x: f64, length: f64) -> String {
    let finer = (-length.log10()).clamp(0.0, 3.0).ceil();
    let digits = (finer - x.floor()).clamp(0.0, 9.0) as usize;
    format!("{:.digits$}", 10f64.powf(x))
}

/// A number on an axis: [`words::short`] without zeros at the end.
fn short(x: f64) -> String {
    if x != 0.0 && !(1e-3..1e5).contains(&x.abs()) {
        return format!("{x:.1e}");
    }
    let text = words::short(x);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number of an axis that is this long, with the digits that tell it from its neighbours.
fn within(x: f64, length: f64) -> String {
    // Ticks are a tenth of the length apart or more.
    let fraction = (1.0 - length.log10().floor()).max(0.0) as usize;
    let needed = fraction > 2 && x.abs() >= 1.0 && fraction <= 9;
    if needed { format!("{x:.fraction$}") } else { short(x) }
}

#[cfg(test)]
mod tests {
    use super::{
        Axes, Bar, Joined, Role, Series, Ticks, bars, decade, dots, hundredths, lines, matrix, percents, short, within,
    };

    fn count(svg: &str, what: &str) -> usize {
        svg.matches(what).count()
    }

    #[test]
    fn each_value_is_one_mark() {
        let bar = |value: f64| Bar { label: "<b>&\"".to_owned(), value, text: "1".to_owned(), role: Role::First };
        let svg = bars(&[bar(1.0), bar(-2.0), bar(0.0)]).unwrap();
        assert_eq!(count(&svg, "<rect"), 3);
        assert!(!svg.contains("<b>") && svg.contains("&lt;b&gt;&amp;&quot;"), "{svg}");

        let series = |role| Series {
            errors: vec![(2.5, 3.5), (1.0, 2.0)],
            joined: Joined::Steps,
            ..Series::line(vec![(1.0, 3.0), (2.0, 2.0)], role)
        };
        let axes = Axes { mark: Some(2.0), ..Axes::new("size", "objective", Ticks::Whole) };
        let svg = lines(&[series(Role::First), series(Role::Second)], axes).unwrap();
        assert_eq!((count(&svg, "<circle"), count(&svg, "fill=\"#040404\"")), (4, 2), "{svg}");

        let names = ["a".to_owned(), "b".to_owned()];
        let values = [vec![1.0, 0.0], vec![-0.5, 1.0]];
        let svg = matrix(&names, &names, &values, &hundredths(&values)).unwrap();
        assert_eq!(count(&svg, "<rect"), 4);
        assert!(svg.contains("-.50") && svg.contains(".00") && percents(&values)[1][0] == "-50");
        assert_eq!(count(&dots(&names, &names, &[vec![true, false], vec![true, true]]).unwrap(), "<circle"), 3);
    }

    #[test]
    fn charts_of_nothing_and_of_one_point_are_charts() {
        let axes = Axes::new("", "", Ticks::Decades);
        let one = Series::line(vec![(5.0, 5.0)], Role::First);
        assert_eq!(count(&lines(&[one], axes).unwrap(), "<circle"), 1);
        assert!(
            lines(&[], axes).is_ok()
                && bars(&[]).is_ok()
                && matrix(&[], &[], &[], &[]).is_ok()
                && dots(&[], &[], &[]).is_ok()
        );
    }

    #[test]
    fn axis_numbers_are_short() {
        assert_eq!([within(2.56512, 4e-5), within(2.56514, 4e-5)], ["2.565120", "2.565140"]);
        assert_eq!([within(0.95, 0.1), within(120.0, 90.0), within(1.5, 0.7)], ["0.95", "120", "1.5"]);
        assert_eq!([short(0.5), short(1234.0), short(1e-9), short(20.0)], ["0.5", "1234", "1.0e-9", "20"]);
        assert_eq!([decade(-2.0, 4.0), decade(-0.5, 4.0), decade(1.5, 4.0)], ["0.01", "0.3", "32"]);
        assert_eq!([decade(-0.376, 0.02), decade(-0.37, 0.02)], ["0.421", "0.427"]);
    }
}
