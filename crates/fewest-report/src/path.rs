//! The page of `fewest path`: a subset for each of several sizes.

use serde_json::Value;

use crate::chart::{Axes, Role, Series, Ticks, dots, lines};
use crate::common::{about, cautions, contents, label, list, number_cell, rules, sentence_case, settings};
use crate::evaluation::{SizePoint, accuracy_by_size};
use crate::read::Json;
use crate::selection::{proof, stand_ins, trace};
use crate::view::{Answer, Block, Budget, Cell, Chart, FIRST, Page, Section, Table, numbers, shorten, words};
use crate::words::{Proof, at_most, bound, brief, number, plural, seconds};

/// Rows and columns of the picture of which feature is chosen at which size.
const ROWS: usize = 40;
const COLUMNS: usize = 40;

/// One size.
struct Point<'a> {
    result: Json<'a>,
    size: u64,
    proof: Option<Proof<'a>>,
    chosen: Vec<&'a str>,
}

impl Point<'_> {
    /// The gap of the gain.
    fn gap(&self) -> Option<f64> {
        self.proof?.gap()
    }
}

/// The bound and the gap that `--certify` proved, where they are of the same subsets.
fn certified(result: Json<'_>) -> Option<(f64, Option<f64>)> {
    let certificate = result.at("certificate");
    let same = certificate.at("max_features").count() == result.at("settings").at("max_features").count();
    certificate.at("bound").number().filter(|_| same).map(|bound| (bound, certificate.at("gap").number()))
}

/// The page of a path.
pub(crate) fn page(path: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let points: Vec<Point<'_>> = path
        .at("path")
        .items()
        .map(|result| Point {
            result,
            size: result
                .at("settings")
                .at("max_features")
                .count()
                .unwrap_or(result.at("selected").items().len() as u64),
            proof: proof(result).map(|proof| {
                certified(result).filter(|_| proof.bound.is_none()).map_or(proof, |(bound, gap)| Proof {
                    bound: Some(bound),
                    gap,
                    ..proof
                })
            }),
            chosen: result.at("selected").texts(),
        })
        .collect();
    let null = Value::Null;
    let first = points.first().map_or(Json(&null), |p| p.result);
    let method = shorten(first.at("method").text().unwrap_or("an unnamed method"), 40);
    let range = match (points.first(), points.last()) {
        (Some(first), Some(last)) => format!("{} to {}", first.size, plural(last.size, "feature")),
        _ => "no size at all".to_owned(),
    };
    let mut sections = Vec::new();
    sections.extend(accuracies(path, &points, budget)?);
    sections.extend(members(&points, budget)?);
    // The search of the size that took longest is the one worth examining.
    let took = |p: &Point<'_>| p.result.at("seconds").number().unwrap_or(0.0);
    if let Some(longest) = points.iter().max_by(|a, b| took(a).total_cmp(&took(b)))
        && let Some(mut section) = trace(longest.result, budget)?
    {
        section.heading = format!("The search for {}, which took longest", plural(longest.size, "feature"));
        sections.push(section);
    }
    if let Some(last) = points.iter().rev().find(|p| p.result.at("description").is_there())
        && let Some(mut section) = stand_ins(last.result, budget)?
    {
        section.heading =
            format!("Alike features and stand-ins, among {}", plural(last.chosen.len() as u64, "chosen feature"));
        sections.push(section);
    }
    sections.push(about(budget, first)?);
    sections.push(settings(budget, first, path.at("command"), "max_features"));
    Ok(Page {
        title: format!("{range}, chosen by {method}"),
        lead: format!("{}. One subset for each of {}.", contents(first), plural(points.len() as u64, "size")),
        answer: answer(&points, first, budget)?,
        sections,
        version: shorten(path.at("version").text().unwrap_or("an unnamed version"), 40),
    })
}

fn answer(points: &[Point<'_>], first: Json<'_>, budget: &Budget) -> Result<Answer, String> {
    let mut findings = Vec::new();
    let gaps: Vec<f64> = points.iter().filter_map(Point::gap).collect();
    let worst = gaps.iter().copied().fold(0.0, f64::max);
    let proven = points.iter().filter(|p| p.result.at("status").text() == Some("optimal")).count();
    let proven = if proven > 0 {
        format!("{proven} of {} proven best; at", plural(points.len() as u64, "size"))
    } else {
        "At".to_owned()
    };
    if gaps.len() == points.len() && !points.is_empty() {
        findings.push(format!(
            "{proven} every size at most {} of what that many features can gain is left out.",
            at_most(worst)
        ));
    } else if let Some(proof) = points.last().and_then(|p| p.proof) {
        findings.push(sentence_case(&proof.sentence()));
    }
    let mut lines_of = vec![];
    if let Some(source) = first.at("settings").at("budget").number() {
        lines_of.push(("budget", Cell::from(brief(source))));
    }
    lines_of.extend(rules(budget, first.at("settings"), &[]).into_iter().filter(|l| l.0 != "limit" && l.0 != "budget"));
    let time: f64 = points.iter().filter_map(|p| p.result.at("seconds").number()).sum();
    lines_of.push(("time", format!("{} for all sizes", seconds(time)).into()));
    let mut charts = Vec::new();
    let known: Vec<(f64, Proof<'_>)> = points.iter().filter_map(|p| Some((p.size as f64, p.proof?))).collect();
    if !known.is_empty() {
        let bounded = known.iter().all(|(_, p)| p.bound.is_some());
        let errors =
            |p: &Proof<'_>| p.bound.map_or((p.objective, p.objective), |b| (b.min(p.objective), b.max(p.objective)));
        let series = Series {
            errors: if bounded { known.iter().map(|(_, p)| errors(p)).collect() } else { Vec::new() },
            ..Series::line(known.iter().map(|&(k, p)| (k, p.objective)).collect(), Role::First)
        };
        let axes = Axes::new("number of features", "objective", Ticks::Whole);
        let (from, to) = (known[0].1.objective, known[known.len() - 1].1.objective);
        let better = if known[0].1.maximised { "larger" } else { "smaller" };
        let bars = if bounded {
            " The bars reach from the objective to its proven bound; where none is seen, the two meet."
        } else {
            ""
        };
        let summary = format!("The objective goes from {} to {} ({better} is better).{bars}", number(from), number(to));
        charts.push(Chart {
            id: "objective",
            title: "Objective against number of features".to_owned(),
            summary,
            svg: lines(&[series], axes)?,
            table: table(points, budget),
        });
    }
    Ok(Answer {
        findings,
        fails: false,
        cautions: cautions(first),
        panel: Some(sizes(points, budget)),
        charts,
        facts: lines_of,
    })
}

/// Each size with its gap and its features.
fn sizes(points: &[Point<'_>], budget: &Budget) -> Table {
    let rows = points.iter().map(|p| {
        let gap = p.gap().map_or_else(String::new, at_most);
        vec![p.size.to_string().into(), gap.into(), list(budget, &p.chosen)]
    });
    let mut table = budget.table("Subset of each size", vec![numbers("size"), numbers("gap"), words("features")], rows);
    table.first = FIRST;
    table
}

/// A row for each size.
fn table(points: &[Point<'_>], budget: &Budget) -> Table {
    let rows = points.iter().map(|p| {
        vec![
            p.size.to_string().into(),
            shorten(p.result.at("status").text().unwrap_or_default(), 20).into(),
            number_cell(p.proof.map(|p| p.objective)),
            p.proof.and_then(|p| Some(bound(p.bound?, p.maximised))).unwrap_or_default().into(),
            p.gap().map_or_else(String::new, at_most).into(),
            p.result.at("seconds").number().map_or_else(String::new, |s| format!("{s:.3}")).into(),
            list(budget, &p.chosen),
        ]
    });
    let columns = vec![
        numbers("features"),
        words("status"),
        numbers("objective"),
        numbers("bound"),
        numbers("gap"),
        numbers("seconds"),
        words("chosen"),
    ];
    budget.table("The subset of each size", columns, rows)
}

/// Accuracy on samples that took no part, by number of features.
fn accuracies(path: Json<'_>, points: &[Point<'_>], budget: &Budget) -> Result<Option<Section>, String> {
    let of = |point: &Point<'_>| {
        let accuracy = point.result.at("cv").at("accuracy");
        Some((point.size, accuracy.at("mean").number()?, accuracy.at("se").number().unwrap_or(0.0), None))
    };
    let curve: Vec<SizePoint> = points.iter().filter_map(of).collect();
    let cv = path.at("cv");
    let (Some(best), Some(one_se)) = (cv.at("best_size").count(), cv.at("one_se_size").count()) else {
        return Ok(None);
    };
    let (svg, table) = accuracy_by_size(budget, "Accuracy by number of features", &curve, Some(one_se), None)?;
    let done = plural(cv.at("done").count().unwrap_or(0), "fold");
    let summary = format!(
        "Mean over {done} of the accuracy on samples that took no part, with one standard error: selected and trained again on the others. Best with {}; the line marks the smallest number within one standard error of that, {one_se}. The accuracy of a number chosen by this picture is a little too good.{}",
        plural(best, "feature"),
        reached(cv.at("reach"))
    );
    let title = "Accuracy against number of features".to_owned();
    let chart = Chart { id: "accuracy", title, summary, svg, table };
    Ok(Some(Section::new("accuracy-section", "Number of features", vec![Block::Chart(chart)])))
}

/// Which number of features reaches a sensitivity and a specificity on samples that took no part:
/// the smallest by its means, and by the lower ends of its intervals.
pub fn reach_sentence(shares: [Option<f64>; 2], sizes: [Option<usize>; 2]) -> String {
    let of = |(name, share): (&str, Option<f64>)| share.map(|share| format!("{name} {share}"));
    let asked: Vec<String> = ["sensitivity", "specificity"].into_iter().zip(shares).filter_map(of).collect();
    let asked = format!("{} on samples that took no part", asked.join(" and "));
    let [Some(size), certain] = sizes else {
        return format!("{asked}: no number of features reaches it");
    };
    let size = plural(size as u64, "feature");
    let certain = certain.map_or_else(|| "no number of them".to_owned(), |certain| certain.to_string());
    format!(
        "{asked}: reached with {size} in the mean, and with {certain} by the lower ends of the 95 % intervals; that no other subset of fewer features reaches it is not proven"
    )
}

/// The sentence of a result, where it was asked for.
fn reached(found: Json<'_>) -> String {
    if !found.is_there() {
        return String::new();
    }
    let share = |key: &str| found.at(key).number();
    let size = |key: &str| found.at(key).count().map(|size| size as usize);
    let sentence = reach_sentence([share("sensitivity"), share("specificity")], [size("size"), size("certain_size")]);
    format!(" {}.", sentence_case(&sentence))
}

/// Which feature is chosen at which size.
fn members(points: &[Point<'_>], budget: &Budget) -> Result<Option<Section>, String> {
    let mut names: Vec<&str> = Vec::new();
    let mut known = std::collections::HashSet::new();
    for name in points.iter().flat_map(|p| &p.chosen) {
        if known.insert(*name) {
            names.push(name);
        }
    }
    if names.is_empty() || points.len() < 2 {
        return Ok(None);
    }
    let sets: Vec<std::collections::HashSet<&str>> =
        points.iter().map(|p| p.chosen.iter().copied().collect()).collect();
    let sizes = |name: &str| -> Vec<u64> {
        points.iter().zip(&sets).filter(|(_, set)| set.contains(name)).map(|(p, _)| p.size).collect()
    };
    let mut counted: Vec<(&str, Vec<u64>)> = names.iter().map(|&name| (name, sizes(name))).collect();
    counted.sort_by(|a, b| b.1.len().cmp(&a.1.len()).then(a.1.cmp(&b.1)));
    let shown = counted.iter().take(ROWS);
    let labels: Vec<String> = shown.clone().map(|c| label(c.0)).collect();
    let columns: Vec<String> = points.iter().take(COLUMNS).map(|p| p.size.to_string()).collect();
    let there: Vec<Vec<bool>> =
        shown.map(|c| sets.iter().take(COLUMNS).map(|set| set.contains(c.0)).collect()).collect();
    let always = counted.iter().filter(|c| c.1.len() == points.len()).count();
    let part = if counted.len() > ROWS || points.len() > COLUMNS {
        format!(" The first {} features and {} sizes are drawn.", labels.len(), columns.len())
    } else {
        String::new()
    };
    let summary = format!(
        "{} chosen at some size, {always} of them at every size. Rows are features, columns are sizes.{part}",
        plural(counted.len() as u64, "feature")
    );
    let rows = counted.iter().map(|(name, sizes)| {
        let list: Vec<String> = sizes.iter().map(u64::to_string).collect();
        vec![budget.name(name), sizes.len().to_string().into(), shorten(&list.join(", "), 120).into()]
    });
    let table = budget.table(
        "The sizes at which each feature is chosen",
        vec![words("feature"), numbers("times"), words("sizes")],
        rows,
    );
    let svg = dots(&labels, &columns, &there)?;
    let chart = Chart { id: "members", title: "Which feature is chosen at which size".to_owned(), summary, svg, table };
    Ok(Some(Section::new("members-section", "Features along the path", vec![Block::Chart(chart)])))
}
