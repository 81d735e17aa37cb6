//! Probabilities of samples that took no part: ROC curve, calibration, net benefit.

use crate::chart::{Axes, Joined, Role, Series, Ticks, lines};
use crate::measures::measured;
use crate::read::Json;
use crate::view::{Block, Budget, Cell, Chart, Section, numbers, shorten};

/// 1 - specificity, sensitivity, and the interval of that.
type RocPoint = (f64, f64, Option<(f64, f64)>);
/// Mean probability and observed share of a group of samples, the interval of the share, their number.
type Bin = ((f64, f64), (f64, f64), u64);

/// The figures of probabilities on samples that took no part.
pub(crate) fn probabilities(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let mut blocks = Vec::new();
    blocks.extend(roc(result, budget, "roc")?.map(Block::Chart));
    blocks.extend(calibration(result, budget, "calibration")?.map(Block::Chart));
    blocks.extend(decision_curve(result, budget)?.map(Block::Chart));
    Ok(Section::new("probabilities", "Discrimination, calibration and net benefit", blocks).some())
}

/// The ROC curve with its band.
pub(crate) fn roc(result: Json<'_>, budget: &Budget, id: &'static str) -> Result<Option<Chart>, String> {
    let of = |point: Json<'_>| {
        let ends = point.at("ci95").pair();
        Some((point.at("false_positive").number()?, point.at("true_positive").number()?, ends))
    };
    let curve: Vec<RocPoint> = result.at("roc").items().filter_map(of).collect();
    if curve.len() < 2 {
        return Ok(None);
    }
    let points = curve.iter().map(|&(x, y, _)| (x, y)).collect();
    let errors: Vec<(f64, f64)> = curve.iter().filter_map(|at| at.2).collect();
    let errors = if errors.len() == curve.len() { errors } else { Vec::new() };
    let chance = Series { dotted: false, ..Series::line(vec![(0.0, 0.0), (1.0, 1.0)], Role::Muted) };
    let band = !errors.is_empty();
    let line = Series { errors, band, dotted: false, ..Series::line(points, Role::First) };
    let axes = Axes { shares: true, ..Axes::new("1 - specificity", "sensitivity", Ticks::Plain) };
    let svg = lines(&[chance, line], axes)?;
    let rows = curve.iter().step_by(5).map(|&(x, y, ends)| {
        let end = |end: Option<f64>| Cell::from(end.map_or_else(String::new, |end| format!("{end:.3}")));
        vec![format!("{x:.2}").into(), format!("{y:.3}").into(), end(ends.map(|e| e.0)), end(ends.map(|e| e.1))]
    });
    let columns = vec![numbers("1 - specificity"), numbers("sensitivity"), numbers("95 % from"), numbers("95 % to")];
    let table = budget.table("ROC curve", columns, rows);
    let auc = measured(result.at("summary").at("auc")).map_or_else(String::new, |auc| format!("AUC {auc}. "));
    let folds = result.at("folds").items().len();
    let how = if folds > 1 { "Mean of the outer folds at each specificity" } else { "Sensitivity at each specificity" };
    let summary = format!("{auc}{how}, 95 % interval; dotted: chance.");
    Ok(Some(Chart { id, title: "ROC curve".to_owned(), summary, svg, table }))
}

/// The calibration curve: groups with intervals, and the logistic line.
pub(crate) fn calibration(result: Json<'_>, budget: &Budget, id: &'static str) -> Result<Option<Chart>, String> {
    let found = result.at("calibration");
    let of = |bin: Json<'_>| {
        let shares = (bin.at("predicted").number()?, bin.at("observed").number()?);
        Some((shares, bin.at("ci95").pair().unwrap_or((shares.1, shares.1)), bin.at("samples").count()?))
    };
    let bins: Vec<Bin> = found.at("bins").items().filter_map(of).collect();
    if bins.is_empty() {
        return Ok(None);
    }
    let right = Series { dotted: false, ..Series::line(vec![(0.0, 0.0), (1.0, 1.0)], Role::Muted) };
    let mut all = vec![right];
    if let Some((slope, intercept)) = found.at("slope").number().zip(found.at("intercept").number()) {
        let at = |step: u32| {
            let p = f64::from(step) / 100.0;
            let odds = (p / (1.0 - p)).ln();
            (p, 1.0 / (1.0 + (-(slope * odds + intercept)).exp()))
        };
        all.push(Series { dotted: false, ..Series::line((1..100).map(at).collect(), Role::Second) });
    }
    let errors = bins.iter().map(|bin| bin.1).collect();
    all.push(Series {
        errors,
        joined: Joined::No,
        ..Series::line(bins.iter().map(|bin| bin.0).collect(), Role::First)
    });
    let axes = Axes { shares: true, ..Axes::new("predicted probability", "observed share", Ticks::Plain) };
    let svg = lines(&all, axes)?;
    let rows = bins.iter().map(|&((predicted, observed), (low, high), samples)| {
        let shares = [predicted, observed, low, high].map(|share| Cell::from(format!("{share:.3}")));
        shares.into_iter().chain([samples.to_string().into()]).collect()
    });
    let columns =
        vec![numbers("predicted"), numbers("observed"), numbers("95 % from"), numbers("95 % to"), numbers("samples")];
    let table = budget.table("Groups of samples of similar probability", columns, rows);
    let sentence = calibration_sentence(result).unwrap_or_default();
    let summary = format!(
        "{sentence} Points: groups of samples, 95 % intervals; dashed: logistic line (Cox 1958); dotted: perfect."
    );
    Ok(Some(Chart { id, title: "Calibration".to_owned(), summary, svg, table }))
}

/// The net benefit of the probabilities.
fn decision_curve(result: Json<'_>, budget: &Budget) -> Result<Option<Chart>, String> {
    let of = |at: Json<'_>| {
        let [p, own, all] = ["threshold", "net_benefit", "treat_all"].map(|key| at.at(key).number());
        Some((p?, own?, all?))
    };
    let curve: Vec<(f64, f64, f64)> = result.at("decision_curve").items().filter_map(of).collect();
    let highest = curve.iter().map(|c| c.1.max(c.2)).fold(0.0, f64::max);
    if curve.len() < 2 || highest <= 0.0 {
        return Ok(None);
    }
    // What is far below 0 is of no use to anyone, and would leave no room for the rest.
    let drawn = |y: f64| y >= -0.25 * highest;
    let line = |value: fn(&(f64, f64, f64)) -> f64, role| {
        let points = curve.iter().map(|c| (c.0, value(c))).filter(|point| drawn(point.1)).collect();
        Series { dotted: false, ..Series::line(points, role) }
    };
    let none = vec![(curve[0].0, 0.0), (curve[curve.len() - 1].0, 0.0)];
    let none = Series { dotted: false, ..Series::line(none, Role::Muted) };
    let axes = Axes::new("threshold of the probability", "net benefit", Ticks::Plain);
    let svg = lines(&[line(|c| c.2, Role::Second), none, line(|c| c.1, Role::First)], axes)?;
    let rows = curve.iter().filter(|c| ((100.0 * c.0).round() as u64).is_multiple_of(5)).map(|&(p, own, all)| {
        vec![format!("{p:.2}").into(), format!("{own:.4}").into(), format!("{all:.4}").into(), "0".into()]
    });
    let columns = vec![numbers("threshold"), numbers("net benefit"), numbers("act on all"), numbers("act on none")];
    let table = budget.table("Net benefit by threshold, in samples found per sample", columns, rows);
    let class = shorten(result.at("positive").text().unwrap_or("+1"), 40);
    let summary = format!(
        "Acting on samples whose probability of {class} is at least the threshold: samples found per sample, a false alarm counted p / (1 - p) times. Solid: the panel; dashed: acting on all; dotted: on none. The panel is of use where its line is the highest."
    );
    let title = "Decision curve".to_owned();
    Ok(Some(Chart { id: "decision-curve", title, summary, svg, table }))
}

/// `Probability of the class a: 0.310 on average, its share is 0.340; slope 0.930, intercept 0.120`
pub(crate) fn calibration_sentence(result: Json<'_>) -> Option<String> {
    let line = result.at("calibration");
    let (expected, observed) = (line.at("expected").number()?, line.at("observed").number()?);
    let class = shorten(result.at("classes").at("+1").text().unwrap_or("+1"), 40);
    let slope = match (line.at("slope").number(), line.at("intercept").number()) {
        (Some(slope), Some(intercept)) => {
            format!("slope {slope:.3}, intercept {intercept:.3} (right ones have 1 and 0)")
        }
        _ => "no slope, as the classes are apart or the probabilities all but the same".to_owned(),
    };
    Some(format!("Probability of the class {class}: {expected:.3} on average, its share is {observed:.3}; {slope}."))
}
