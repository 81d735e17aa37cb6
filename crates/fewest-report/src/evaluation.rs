//! The page of `fewest evaluate`: how well a method does on samples it has not seen.

use std::collections::BTreeMap;

use crate::chart::{Axes, Bar, Joined, Role, Series, Ticks, lines, matrix};
use crate::common::{about, bar_chart, cautions, contents, label, settings, total};
use crate::guessing::guessing;
use crate::measures::{interval, measure_words, worth};
use crate::read::Json;
use crate::view::{Answer, Block, Budget, Cell, Chart, FIRST, Page, Section, Table, numbers, shorten, words};
use crate::words::{brief, percent, plural, seconds};

/// Classes up to which a confusion matrix has room for counts.
const COUNTED: usize = 3;

/// Samples up to which a page names them without being asked.
const NAMED: u64 = 100;

/// Scores of sizes inside the folds, averaged.
#[derive(Debug, Default)]
struct Size {
    means: Vec<f64>,
    errors: Vec<f64>,
    chosen: u64,
}

/// The page of an evaluation.
pub(crate) fn page(result: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let name = |part: Json<'_>| shorten(part.at("method").text().unwrap_or("an unnamed method"), 40);
    let against = result.at("against");
    let mut sections = Vec::new();
    sections.extend(comparison(result, budget));
    sections.extend(performance(result, budget)?);
    sections.extend(sizes(result, budget)?);
    sections.extend(frequency(result, budget, "frequency", "frequency-section", "Selection frequency")?);
    if against.is_there() {
        let heading = format!("Selection frequency of {}", name(against));
        sections.extend(frequency(against, budget, "frequency-against", "frequency-against-section", &heading)?);
    }
    sections.extend(wrong(result, result.at("settings"), budget));
    sections.push(about(budget, result)?);
    sections.push(settings(budget, result, result.at("command"), ""));
    let versus = if against.is_there() { format!(" against {}", name(against)) } else { String::new() };
    Ok(Page {
        title: format!("{}{versus} in {}", name(result), plural(result.at("folds").items().len() as u64, "fold")),
        lead: format!("{}. All that reads data happens inside the training part of a fold.", contents(result)),
        answer: answer(result, budget)?,
        sections,
        version: shorten(result.at("version").text().unwrap_or("an unnamed version"), 40),
    })
}

/// What is found in the folds: the confusion matrix, and the accuracy of each.
pub(crate) fn performance(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let mut blocks = Vec::new();
    blocks.extend(confusion(result, budget, "confusion")?);
    blocks.extend(folds(result, budget)?);
    blocks.extend(by_class(result, budget));
    Ok(Section::new("performance", "Performance by class and by fold", blocks).some())
}

/// `0.9561 (95 % interval 0.9 to 1.0)`
fn with_interval(measure: Json<'_>) -> Option<String> {
    let mean = measure.at("mean").number()?;
    let interval = interval(measure, 1.0);
    let interval = interval.map_or_else(String::new, |(low, high)| format!(" (95 % interval {low:.3} to {high:.3})"));
    Some(format!("{mean:.4}{interval}"))
}

/// The features that most folds chose.
fn often(result: Json<'_>, budget: &Budget) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = result
        .at("frequency")
        .entries()
        .filter_map(|(name, share)| Some(vec![budget.name(name), Cell::share(share.number()?)]))
        .take(FIRST)
        .collect();
    let columns = vec![words("feature"), words("share of folds")];
    (!rows.is_empty()).then(|| budget.table("Features chosen most often", columns, rows.into_iter()))
}

fn answer(result: Json<'_>, budget: &Budget) -> Result<Answer, String> {
    let accuracy = result.at("summary").at("accuracy");
    let mut facts = Vec::new();
    facts.extend(stability_words(result).map(|text| ("stability", Cell::from(text))));
    if let Some(size) = result.at("summary").at("n_features").at("mean").number() {
        facts.push(("features chosen", format!("{} on average", brief(size)).into()));
    }
    let times: Vec<f64> = result.at("folds").items().filter_map(|f| f.at("seconds").number()).collect();
    if !times.is_empty() {
        let mean = times.iter().sum::<f64>() / times.len() as f64;
        facts.push(("time", format!("{} per fold", seconds(mean)).into()));
    }
    Ok(Answer {
        fails: guessing(result).is_some(),
        findings: guessing(result)
            .into_iter()
            .chain(with_interval(accuracy).map(|text| format!("Accuracy on samples not seen: {text}.")))
            .collect(),
        cautions: cautions(result),
        panel: often(result, budget),
        charts: worth(result, "measures", budget)?.into_iter().collect(),
        facts,
    })
}

/// The stability of the folds' features, in words.
pub(crate) fn stability_words(result: Json<'_>) -> Option<String> {
    let index = result.at("stability").at("index").number()?;
    let interval = result.at("stability").at("ci95").pair();
    let interval = interval.map_or_else(String::new, |(low, high)| format!(" (95 % interval {low:.3} to {high:.3})"));
    let word = match index {
        x if x > 0.75 => "excellent",
        x if x > 0.4 => "intermediate to good",
        _ => "poor",
    };
    Some(format!("{index:.3}{interval}: {word} by the usual benchmark (Nogueira et al. 2018)"))
}

/// Accuracy by fold.
pub(crate) fn folds(result: Json<'_>, budget: &Budget) -> Result<Option<Block>, String> {
    let accuracy: Vec<f64> =
        result.at("folds").items().filter_map(|f| f.at("metrics").at("accuracy").number()).collect();
    if accuracy.len() < 2 {
        return Ok(None);
    }
    let points: Vec<(f64, f64)> = accuracy.iter().enumerate().map(|(at, &a)| (at as f64 + 1.0, a)).collect();
    let (low, high) = accuracy.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &a| (l.min(a), h.max(a)));
    let rows = result.at("folds").items().map(|f| {
        vec![
            budget.name(f.at("fold").text().unwrap_or_default()),
            f.at("metrics").at("accuracy").number().map_or_else(String::new, |a| format!("{a:.4}")).into(),
            f.at("selected").items().len().to_string().into(),
            f.at("n_test").count().map_or_else(String::new, |n| n.to_string()).into(),
            f.at("seconds").number().map_or_else(String::new, |s| format!("{s:.3}")).into(),
            shorten(f.at("status").text().unwrap_or_default(), 20).into(),
        ]
    });
    let columns = vec![
        words("fold"),
        numbers("accuracy"),
        numbers("features"),
        numbers("samples"),
        numbers("seconds"),
        words("status"),
    ];
    let table = budget.table("Every fold", columns, rows);
    let svg = lines(
        &[Series { joined: Joined::No, ..Series::line(points, Role::First) }],
        Axes::new("fold", "accuracy", Ticks::Whole),
    )?;
    let summary = format!("From {low:.3} in the worst fold to {high:.3} in the best.");
    Ok(Some(Block::Chart(Chart { id: "folds", title: "Accuracy of each fold".to_owned(), summary, svg, table })))
}

/// Accuracy against number of features, from the cross-validation inside the folds.
fn sizes(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let mut by_size: BTreeMap<u64, Size> = BTreeMap::new();
    for fold in result.at("folds").items() {
        for inner in fold.at("inner").items() {
            let (Some(size), Some(mean)) = (inner.at("max_features").count(), inner.at("accuracy").number()) else {
                continue;
            };
            let entry = by_size.entry(size).or_default();
            entry.means.push(mean);
            entry.errors.extend(inner.at("se").number());
        }
        if let Some(entry) = fold.at("max_features").count().and_then(|size| by_size.get_mut(&size)) {
            entry.chosen += 1;
        }
    }
    if by_size.len() < 2 {
        return Ok(None);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    let curve: Vec<SizePoint> =
        by_size.iter().map(|(&k, size)| (k, mean(&size.means), mean(&size.errors), Some(size.chosen))).collect();
    // The smallest of the best, as in the choice itself.
    let best = curve.iter().fold(curve[0], |best, &c| if c.1 > best.1 + 1e-12 { c } else { best });
    let one = curve.iter().find(|c| c.1 >= best.1 - best.2).unwrap_or(&best);
    let title = "Accuracy inside the folds by number of features";
    let (svg, table) = accuracy_by_size(budget, title, &curve, Some(one.0), None)?;
    let summary = format!(
        "Mean over the folds of the accuracy inside them, with one standard error. Best with {} ({:.4}); the smallest number within one standard error of that, marked by the line, is {} ({:.4}). Each fold chose its own number, see the table.",
        plural(best.0, "feature"),
        best.1,
        one.0,
        one.1
    );
    let chart = Chart { id: "sizes", title: "Accuracy against number of features".to_owned(), summary, svg, table };
    Ok(Some(Section::new("sizes-section", "Number of features", vec![Block::Chart(chart)])))
}

/// Number of features, accuracy, its standard error, and how many folds chose it, where folds choose.
pub(crate) type SizePoint = (u64, f64, f64, Option<u64>);

/// Accuracy on samples that took no part, with its interval, at the number of features that was chosen.
pub(crate) type OuterAccuracy = (u64, f64, (f64, f64));

/// Picture and table of accuracies by number of features, with a line at one of the numbers, and a point
/// for what was judged on other samples.
pub(crate) fn accuracy_by_size(
    budget: &Budget,
    title: &str,
    curve: &[SizePoint],
    mark: Option<u64>,
    outer: Option<OuterAccuracy>,
) -> Result<(String, Table), String> {
    let rows = curve.iter().map(|&(k, mean, se, chosen)| {
        let mut row = vec![k.to_string().into(), format!("{mean:.4}").into(), format!("{se:.4}").into()];
        row.extend(chosen.map(|chosen| Cell::from(chosen.to_string())));
        row
    });
    let mut columns = vec![numbers("features"), numbers("accuracy"), numbers("std error")];
    columns.extend(curve.first().and_then(|point| point.3).map(|_| numbers("folds that chose it")));
    let table = budget.table(title, columns, rows);
    let series = Series {
        errors: curve.iter().map(|c| (c.1 - c.2, c.1 + c.2)).collect(),
        ..Series::line(curve.iter().map(|c| (c.0 as f64, c.1)).collect(), Role::First)
    };
    let judged = outer.map(|(k, mean, ends)| Series {
        errors: vec![ends],
        // Beside the mark, which would cover it.
        ..Series::line(vec![(k as f64 + 0.15, mean)], Role::Second)
    });
    let all: Vec<Series> = std::iter::once(series).chain(judged).collect();
    let mark = mark.map(|mark| mark as f64);
    let svg = lines(&all, Axes { mark, ..Axes::new("number of features", "accuracy", Ticks::Whole) })?;
    Ok((svg, table))
}

pub(crate) fn frequency(
    result: Json<'_>,
    budget: &Budget,
    id: &'static str,
    section: &'static str,
    heading: &str,
) -> Result<Option<Section>, String> {
    let all: Vec<(&str, f64)> =
        result.at("frequency").entries().filter_map(|(name, share)| Some((name, share.number()?))).collect();
    if all.is_empty() {
        return Ok(None);
    }
    // What one fold alone chose says little, and is most of them; the table has all.
    let folds = result.at("folds").items().len() as f64;
    let once = |share: f64| folds > 1.0 && share * folds < 1.5;
    let again = all.iter().filter(|of| !once(of.1)).count();
    let rows: Vec<(Bar, Vec<Cell>)> = all
        .iter()
        .map(|&(name, share)| {
            let role = if share >= 0.5 { Role::First } else { Role::Second };
            let bar = Bar { label: label(name), value: share, text: format!("{:.0} %", 100.0 * share), role };
            (bar, vec![budget.name(name), percent(share).into()])
        })
        .collect();
    let always = all.iter().filter(|a| a.1 >= 1.0 - 1e-12).count();
    let table = budget.table(
        "Share of the folds that chose each feature",
        vec![words("feature"), numbers("share of folds")],
        rows.iter().map(|r| r.1.clone()),
    );
    let summary = format!(
        "{} chosen in some fold, {again} in more than one, {always} in every fold. Blue: at least half of the folds.",
        plural(all.len() as u64, "feature")
    );
    let drawn = if again > 0 { &rows[..again] } else { &rows[..] };
    let chart = bar_chart(id, "Share of the folds that chose a feature", summary, drawn, table)?;
    Ok(Some(Section::new(section, heading, vec![chart])))
}

/// Share of each true class that is predicted as each class.
pub(crate) fn confusion(result: Json<'_>, budget: &Budget, id: &'static str) -> Result<Option<Block>, String> {
    let names: Vec<&str> = result.at("classes").entries().filter_map(|c| c.1.text()).collect();
    let counts: Vec<Vec<u64>> = result
        .at("confusion")
        .items()
        .map(|row| row.items().map(|count| count.count().unwrap_or(0)).collect())
        .collect();
    let square = counts.iter().all(|row| row.len() == names.len());
    if counts.is_empty() || counts.len() != names.len() || !square {
        return Ok(None);
    }
    let shares: Vec<Vec<f64>> = counts
        .iter()
        .map(|row| {
            let all = total(row.iter().copied()).max(1) as f64;
            row.iter().map(|&count| count as f64 / all).collect()
        })
        .collect();
    let pairs = (0..names.len()).flat_map(|truth| (0..names.len()).map(move |predicted| (truth, predicted)));
    let rows = pairs.filter(|&(truth, predicted)| counts[truth][predicted] > 0).map(|(truth, predicted)| {
        vec![
            budget.name(names[truth]),
            budget.name(names[predicted]),
            counts[truth][predicted].to_string().into(),
            percent(shares[truth][predicted]).into(),
        ]
    });
    let columns = vec![words("true class"), words("predicted"), numbers("samples"), numbers("share of the class")];
    let table = budget.table("Confusion matrix", columns, rows);
    let labels: Vec<String> = names.iter().map(|name| label(name)).collect();
    let summary = "Rows: true class; columns: predicted class; percent of the row.".to_owned();
    let texts: Vec<Vec<String>> = counts
        .iter()
        .zip(&shares)
        .map(|(counts, shares)| {
            let cell = |(count, share): (&u64, &f64)| match names.len() {
                1..=COUNTED => format!("{count} ({:.0} %)", 100.0 * share),
                _ => format!("{:.0}", 100.0 * share),
            };
            counts.iter().zip(shares).map(cell).collect()
        })
        .collect();
    let svg = matrix(&labels, &labels, &shares, &texts)?;
    Ok(Some(Block::Chart(Chart { id, title: "Confusion matrix".to_owned(), summary, svg, table })))
}

/// How many of each class are right.
pub(crate) fn by_class(result: Json<'_>, budget: &Budget) -> Option<Block> {
    // Of two classes these are sensitivity and specificity.
    if !result.at("recall").is_there() || result.at("classes").entries().count() < 3 {
        return None;
    }
    let rows: Vec<Vec<Cell>> = result
        .at("classes")
        .entries()
        .filter_map(|(key, name)| {
            let name = name.text()?;
            let recall = result.at("recall").at(name);
            let ends = interval(recall, 1.0);
            Some(vec![
                budget.name(name),
                result.at("class_counts").at(key).count()?.to_string().into(),
                recall.at("mean").number().map_or_else(String::new, percent).into(),
                ends.map_or_else(String::new, |(low, high)| format!("{} to {}", percent(low), percent(high))).into(),
            ])
        })
        .collect();
    if rows.is_empty() {
        return None;
    }
    let columns = vec![words("class"), numbers("samples"), numbers("recall"), numbers("95 % interval")];
    Some(Block::Table(budget.table("Recall of each class", columns, rows.into_iter())))
}

/// Samples that were taken for another class, most often first; by name where there are few, or `settings` say so: a
/// page is handed on, and names may be those of persons.
pub(crate) fn wrong(result: Json<'_>, settings: Json<'_>, budget: &Budget) -> Option<Section> {
    let many = result.at("n_samples").count().is_some_and(|n| n > NAMED);
    let hidden = many && settings.at("show_samples").0.as_bool() != Some(true);
    let count = |of: Json<'_>| Cell::from(of.count().map_or_else(String::new, |count| count.to_string()));
    let rows = result.at("wrong").items().map(|entry| {
        let name = entry.at("sample").text().filter(|_| !hidden);
        let row = entry.at("row").count().map_or_else(String::new, |row| row.saturating_add(1).to_string());
        vec![
            name.map_or_else(|| Cell::from(format!("row {row}")), |name| budget.name(name)),
            budget.name(entry.at("class").text().unwrap_or_default()),
            budget.foreign(&entry.at("predicted").texts().join(", "), 60),
            count(entry.at("wrong")),
            count(entry.at("judged")),
        ]
    });
    if rows.len() == 0 {
        return None;
    }
    let columns = vec![words("sample"), words("true class"), words("predicted"), numbers("times wrong"), numbers("of")];
    let named = result.at("wrong").items().any(|entry| entry.at("sample").text().is_some());
    let mut table = budget.table("Rows of the data from 1", columns, rows);
    table.first = FIRST;
    if hidden && named {
        table.note = "Names of samples are left out, as there are more than 100: --show-samples of `fewest study` and `fewest report`, or show_samples of report() in Python, shows them.";
    }
    Some(Section::new("wrong", "Misclassified samples", vec![Block::Table(table)]))
}

fn comparison(result: Json<'_>, budget: &Budget) -> Option<Section> {
    let comparison = result.at("comparison");
    let difference = with_interval(comparison.at("difference"))?;
    let other = result.at("against");
    let mut lines: Vec<(&'static str, Cell)> = vec![("difference in accuracy", difference.into())];
    if let Some(p) = comparison.at("t_test").at("p").number() {
        lines.push(("paired t-test", format!("p = {p:.4}").into()));
    }
    if let Some(p) = comparison.at("corrected_t_test").at("p").number() {
        lines.push(("corrected for shared training samples", format!("p = {p:.4}").into()));
    }
    if let Some(hypothesis) = comparison.at("hypothesis").text() {
        lines.push(("one-sided tests that", shorten(hypothesis, 80).into()));
    }
    let rows = result.at("summary").entries().filter_map(|(name, measure)| {
        let mine = measure.at("mean").number()?;
        let theirs = other.at("summary").at(name).at("mean").number()?;
        Some(vec![measure_words(name).into(), format!("{mine:.4}").into(), format!("{theirs:.4}").into()])
    });
    let table = budget.table(
        "The two methods on the same folds",
        vec![words("measure"), numbers("first"), numbers("second")],
        rows,
    );
    Some(Section::new("comparison", "Comparison of the two methods", vec![Block::Pairs(lines), Block::Table(table)]))
}
