//! The course of methods that tell it: accuracies by number of features (`eb-rfe`), costs that were
//! tried or tuned (`l1-svm`, `rfe`), steps of an ascent (`lagrangian`).

use crate::chart::{Axes, Joined, Role, Series, Ticks, lines};
use crate::common::number_cell;
use crate::read::Json;
use crate::view::{Block, Budget, Cell, Chart, Section, numbers, words};
use crate::words::{brief, number, plural};

/// Points of a line; a finer one cannot be seen.
const POINTS: usize = 400;

/// The text to show.
pub(crate) fn sections(result: Json<'_>, budget: &Budget) -> Result<Vec<Section>, String> {
    let all = [curve(result, budget)?, grid(result, budget)?, tuned(result, budget)?, ascent(result, budget)?];
    Ok(all.into_iter().flatten().collect())
}

/// A line without errors.
fn series(points: Vec<(f64, f64)>, joined: Joined, role: Role) -> Series {
    Series { joined, ..Series::line(points, role) }
}

fn section(id: &'static str, heading: &str, chart: Chart) -> Section {
    Section::new(id, heading, vec![Block::Chart(chart)])
}

/// Accuracy against size, where the method evaluates on its way (`eb-rfe`).
fn curve(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let one = |step: Json<'_>| Some((step.at("n_features").number()?, step.at("accuracy").number()?));
    let mut points: Vec<(f64, f64)> = result.at("curve").items().filter_map(one).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    if points.len() < 2 {
        return Ok(None);
    }
    let mark = result.at("selected").items().len() as f64;
    let rows = points.iter().map(|&(k, accuracy)| vec![brief(k).into(), format!("{accuracy:.4}").into()]);
    let table = budget.table("Accuracy by number of features", vec![numbers("features"), numbers("accuracy")], rows);
    let summary = format!(
        "Cross-validated accuracy of the best candidate of each size. The line marks the {} chosen. It is optimistic, as the same samples chose the features; fewest evaluate judges on others.",
        plural(mark as u64, "feature")
    );
    let svg = lines(
        &[Series::line(points, Role::First)],
        Axes { mark: Some(mark), ..Axes::new("number of features", "accuracy", Ticks::Whole) },
    )?;
    let chart = Chart { id: "curve", title: "Accuracy against number of features".to_owned(), summary, svg, table };
    Ok(Some(section("elimination", "Number of features", chart)))
}

/// Features and objective at each cost of a grid (`l1-svm --costs`).
fn grid(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let place =
        |point: Json<'_>| Some((point.at("cost").number().filter(|&c| c > 0.0)?, point.at("features").number()?));
    let points: Vec<((f64, f64), Json<'_>)> =
        result.at("grid").items().filter_map(|point| Some((place(point)?, point))).collect();
    if points.len() < 2 {
        return Ok(None);
    }
    let chosen = result.at("cost").number().filter(|&cost| cost > 0.0);
    let rows = points.iter().map(|((cost, features), point)| {
        let of = |key: &str| number_cell(point.at(key).number());
        vec![brief(*cost).into(), brief(*features).into(), of("objective"), of("bound")]
    });
    let columns = vec![numbers("cost"), numbers("features"), numbers("objective"), numbers("bound")];
    let table = budget.table("Every cost of the grid", columns, rows);
    let taken = chosen.map_or_else(String::new, |cost| format!(" The line marks the cost taken, {}.", brief(cost)));
    let summary = format!("How many weights are not 0 at each of {}.{taken}", plural(points.len() as u64, "cost"));
    let drawn = points.iter().map(|&((cost, features), _)| (cost.log10(), features)).collect();
    let axes = Axes {
        mark: chosen.map(f64::log10),
        ..Axes::new("slack cost C, on a logarithmic axis", "features", Ticks::Decades)
    };
    let svg = lines(&[series(drawn, Joined::Line, Role::First)], axes)?;
    let chart = Chart { id: "grid", title: "Features against cost".to_owned(), summary, svg, table };
    Ok(Some(section("grid-section", "The costs that were tried", chart)))
}

/// Accuracy of the cost that was taken at each size (`rfe --costs`).
fn tuned(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let of = |step: Json<'_>| {
        Some((step.at("n_features").number()?, step.at("accuracy").number()?, step.at("cost").number()))
    };
    let mut steps: Vec<(f64, f64, Option<f64>)> = result.at("tuned").items().filter_map(of).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    if steps.len() < 2 {
        return Ok(None);
    }
    let rows = steps.iter().map(|&(features, accuracy, cost)| {
        vec![brief(features).into(), format!("{accuracy:.4}").into(), Cell::from(cost.map_or_else(String::new, brief))]
    });
    let columns = vec![numbers("features"), numbers("accuracy"), numbers("cost")];
    let table = budget.table("The cost taken at each size", columns, rows);
    let summary = "Cross-validated accuracy of the best cost each time it was tuned. It is optimistic, as the same samples chose cost and features; fewest evaluate judges on others.".to_owned();
    let drawn = series(steps.iter().map(|step| (step.0, step.1)).collect(), Joined::Line, Role::First);
    let svg = lines(&[drawn], Axes::new("number of features", "accuracy", Ticks::Whole))?;
    let chart = Chart { id: "tuned", title: "Accuracy of the cost taken".to_owned(), summary, svg, table };
    Ok(Some(section("tuned-section", "The costs that were taken", chart)))
}

/// Bound and best objective at each step of a dual ascent (`lagrangian`).
fn ascent(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let steps: Vec<(f64, Json<'_>)> = (1u32..).map(f64::from).zip(result.at("steps").items()).collect();
    let lower: Vec<(f64, f64)> =
        steps.iter().filter_map(|(at, step)| Some((*at, step.at("lower").number()?))).collect();
    if lower.len() < 2 {
        return Ok(None);
    }
    let upper = steps.iter().filter_map(|(at, step)| Some((*at, step.at("upper").number()?))).collect();
    let rows = steps.iter().map(|(at, step)| {
        let of = |key: &str| number_cell(step.at(key).number());
        let kind = if step.at("serious").0.as_bool() == Some(true) { "serious" } else { "null" };
        let omega = step.at("omega").count().map_or_else(String::new, |omega| omega.to_string());
        vec![brief(*at).into(), kind.into(), of("value"), of("lower"), of("upper"), omega.into(), of("seconds")]
    });
    let columns = vec![
        numbers("step"),
        words("kind"),
        numbers("z"),
        numbers("bound"),
        numbers("objective"),
        numbers("Omega"),
        numbers("seconds"),
    ];
    let table = budget.table("Every step of the ascent", columns, rows);
    let summary = format!(
        "The Lagrangian bound rises from {} to {} in {}; above it the objective of the best subset so far.",
        number(lower[0].1),
        number(lower[lower.len() - 1].1),
        plural(steps.len() as u64, "step")
    );
    let all = [series(thinned(upper), Joined::Steps, Role::First), series(thinned(lower), Joined::Steps, Role::Second)];
    let svg = lines(&all, Axes::new("step", "objective", Ticks::Whole))?;
    let chart = Chart { id: "ascent", title: "Bound and objective by step".to_owned(), summary, svg, table };
    Ok(Some(section("ascent-section", "The ascent of the bound", chart)))
}

/// Thins points out to as many as can be seen; always with the first and the last.
pub(crate) fn thinned(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let every = points.len().div_ceil(POINTS).max(1);
    let last = points.len().saturating_sub(1);
    points.into_iter().enumerate().filter(|(at, _)| at % every == 0 || *at == last).map(|(_, point)| point).collect()
}
