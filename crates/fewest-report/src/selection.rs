//! The page of `fewest select`: one subset.

use std::collections::HashMap;

use serde_json::Value;

use crate::certified;
use crate::chart::{Axes, Joined, Role, Series, Ticks, hundredths, lines, matrix};
use crate::common::{
    about, cautions, contents, label, list, number_cell, proven, rules, sentence_case, settings, status_words,
};
use crate::course::{self, thinned};
use crate::read::Json;
use crate::view::{Answer, Block, Budget, Cell, Chart, FIRST, Page, Section, Table, numbers, words};
use crate::words::{Proof, at_most, brief, number, percent, plural, range, seconds};

/// Chosen features in the matrix of correlations.
const MATRIX: usize = 20;

/// What `AUC alone` means.
const ALONE: &str = "AUC alone: how well the feature by itself orders the two classes (with more classes: the mean over the pairs); 0.5 is \
                     chance, 1 is perfect, whatever the direction. A feature weak alone may be strong together with others.";

/// What is known of a subset's quality; nothing where there is no objective.
pub(crate) fn proof(result: Json<'_>) -> Option<Proof<'_>> {
    Some(Proof {
        objective: result.at("objective").number()?,
        bound: result.at("bound").number(),
        gap: result.at("gap").number(),
        maximised: result.at("sense").text() == Some("max"),
        status: result.at("status").text().unwrap_or_default(),
        max_features: result.at("settings").at("max_features").count(),
        condition: result.at("proof_condition").text(),
    })
}

/// The note on a cost that makes the selection a filter.
const FILTER: &str = "Up to the cost that was chosen the subset stays the same: the selection is a filter by differences of class means.";

/// The page of one selection.
pub(crate) fn page(result: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let chosen = result.at("selected").texts();
    let method = result.at("method").text().unwrap_or("an unnamed method");
    let all = result.at("n_features").count().unwrap_or(0);
    let status = result.at("status").text().unwrap_or_default();
    let mut sections = Vec::new();
    sections.extend(certified::section(result, budget));
    sections.extend(stand_ins(result, budget)?);
    sections.extend(solutions(result, budget));
    sections.extend(trace(result, budget)?);
    sections.extend(course::sections(result, budget)?);
    sections.extend(others(result, budget, &chosen));
    sections.push(about(budget, result)?);
    sections.push(settings(budget, result, result.at("command"), ""));
    let certified = certified::is_certified(result);
    let ended = match status_words(status) {
        _ if certified && status == "optimal" => "done; the best list of its size is known",
        "" => "unknown",
        words => words,
    };
    let how = if certified { "judged".to_owned() } else { format!("chosen by {}", crate::view::shorten(method, 40)) };
    Ok(Page {
        title: format!("{} of {} {how}", chosen.len(), plural(all, "feature")),
        lead: format!("{}. Status: {ended}.", contents(result)),
        answer: answer(result, budget, &chosen)?,
        sections,
        version: crate::view::shorten(result.at("version").text().unwrap_or("an unnamed version"), 40),
    })
}

fn answer(result: Json<'_>, budget: &Budget, chosen: &[&str]) -> Result<Answer, String> {
    let status = result.at("status").text().unwrap_or_default();
    let mut findings = Vec::new();
    if status == "infeasible" {
        findings.push("No subset satisfies the rules; this is proven.".to_owned());
    }
    let mut lines = Vec::new();
    let mut charts = Vec::new();
    let certified = certified::is_certified(result);
    findings.extend(if certified { certified::findings(result) } else { Vec::new() });
    if let Some(proof) = proof(result) {
        // A certificate says more than that the method itself proves nothing.
        if !certified && (proof.bound.is_some() || !result.at("certificate").is_there()) {
            findings.push(sentence_case(&proof.sentence()));
        }
        let certificate = result.at("certificate");
        let certified = Proof {
            bound: certificate.at("bound").number(),
            gap: certificate.at("gap").number(),
            objective: certificate.at("objective").number().unwrap_or(f64::NAN),
            max_features: certificate.at("max_features").count(),
            maximised: false,
            ..proof
        };
        charts.extend(proven(if proof.bound.is_some() { &proof } else { &certified }, budget)?);
        let better = if proof.maximised { "larger" } else { "smaller" };
        let empty = result.at("baseline").number().or(result.at("certificate").at("baseline").number());
        let empty = empty.map_or_else(String::new, |empty| format!("; {} without features", number(empty)));
        lines.push(("objective", Cell::from(format!("{} ({better} is better{empty})", number(proof.objective)))));
        if let (Some(bound), Some(gap)) = (proof.bound, result.at("gap").number()) {
            lines.push(("bound", crate::words::bound(bound, proof.maximised).into()));
            lines.push(("gap", at_most(gap).into()));
        }
    }
    findings.extend(certificate(result.at("certificate")));
    let choice = result.at("cost_choice");
    if choice.at("filter_up_to").number().is_some_and(|cost| choice.at("cost").number() == Some(cost)) {
        findings.push(FILTER.to_owned());
    }
    lines.extend(rules(budget, result.at("settings"), chosen));
    if let Some(time) = result.at("seconds").number() {
        lines.push(("time", seconds(time).into()));
    }
    for (key, word) in [("nodes", "nodes searched"), ("oracle_calls", "trainings"), ("cuts", "cuts")] {
        if let Some(count) = result.at("counts").at(key).count().filter(|&count| count > 0) {
            lines.push((word, count.to_string().into()));
        }
    }
    let steps = |key: &str| result.at(key).count();
    if let (Some(steps), Some(certain)) = (steps("elimination_steps"), steps("certain_steps")) {
        lines.push(("steps", crate::words::elimination_steps(steps, certain).into()));
    }
    let improved = result.at("improved");
    if let (Some(by), Some(smaller), Some(size)) =
        (improved.at("by").text(), improved.at("smaller").count(), improved.at("size").count())
    {
        lines.push(("improved", crate::words::improved(by, smaller, size).into()));
    }
    let (problems, column) = (result.at("problems"), result.at("settings").at("tasks"));
    if let Some(number) = problems.at("number").count() {
        let tasks = problems.at("tasks").count().zip(column.text());
        lines.push(("problems", crate::words::problems(number, problems.at("multi_class").text(), tasks).into()));
    }
    lines.extend(costs(result));
    lines.extend(found_penalty(result.at("settings")).map(|text| ("penalty", text.into())));
    let panel = chosen_table(result, budget, chosen);
    Ok(Answer {
        findings,
        fails: certified && certified::is_beaten(result),
        cautions: cautions(result),
        panel,
        charts,
        facts: lines,
    })
}

/// The price of a feature, where the method found it.
fn found_penalty(settings: Json<'_>) -> Option<String> {
    let price = settings.at("penalty").number().filter(|_| settings.at("penalty_rule").text() == Some("auto"))?;
    Some(format!("{} (auto: from the SVM on all features)", brief(price)))
}

/// The cost of selecting, and that of the classifier where it has one of its own.
fn costs(result: Json<'_>) -> Vec<(&'static str, Cell)> {
    let trained = result.at("model").at("cost").number();
    let (settings, tuned) = (result.at("settings"), result.at("cost").number());
    if settings.at("fit_cost").number().is_none() {
        return trained.map(|cost| ("slack cost C", brief(cost).into())).into_iter().collect();
    }
    let selecting = tuned.or_else(|| settings.at("cost").number());
    let lines = [("slack cost C of selecting", selecting), ("slack cost C of the classifier", trained)];
    lines.into_iter().filter_map(|(word, cost)| Some((word, brief(cost?).into()))).collect()
}

/// What `--certify` found.
fn certificate(part: Json<'_>) -> Option<String> {
    let (objective, best) = (part.at("objective").number()?, part.at("best").at("objective").number()?);
    let proven = part.at("gap").number().map_or_else(
        || "no bound was proven".to_owned(),
        |gap| format!("this subset leaves out at most {} of what any of its size can gain", at_most(gap)),
    );
    let better = if best < objective * (1.0 - 1e-9) {
        format!(
            "; a better one was found: {} at {}",
            crate::view::shorten(&part.at("best").at("selected").texts().join(", "), 200),
            number(best)
        )
    } else {
        String::new()
    };
    Some(format!("Certificate: {proven}{better}."))
}

/// Strength of each feature alone, by its position in the data.
fn strengths(result: Json<'_>) -> HashMap<u64, f64> {
    let one = |entry: Json<'_>| Some((entry.at("index").count()?, entry.at("auc").number()?));
    result.at("description").at("strength").items().filter_map(one).collect()
}

/// The chosen features, the largest weight first, with what is known of each.
fn chosen_table(result: Json<'_>, budget: &Budget, chosen: &[&str]) -> Option<Table> {
    if chosen.is_empty() {
        return None;
    }
    let indices: Vec<u64> = result.at("selected_indices").items().filter_map(Json::count).collect();
    let weights = result.at("model").at("weights");
    let costs = result.at("settings").at("feature_costs");
    let penalty = result.at("settings").at("penalty");
    let strength = strengths(result);
    let ranks: HashMap<u64, (u64, f64)> = result
        .at("ranking")
        .items()
        .filter_map(|r| Some((r.at("index").count()?, (r.at("rank").count()?, r.at("criterion").number()?))))
        .collect();
    let mut rows: Vec<(usize, Option<f64>)> =
        chosen.iter().enumerate().map(|(at, name)| (at, weights.at(name).number())).collect();
    let size = |w: Option<f64>| w.map_or(0.0, f64::abs);
    rows.sort_by(|a, b| size(b.1).total_cmp(&size(a.1)).then(a.0.cmp(&b.0)));
    let weighted = rows.iter().all(|r| r.1.is_some());
    let largest = rows.iter().map(|row| size(row.1)).fold(0.0, f64::max);
    let prices = penalty.0.is_object();
    let mut columns = vec![words("feature")];
    columns.extend(weighted.then(|| words("weight")));
    columns.extend((!ranks.is_empty()).then(|| numbers("rank")));
    columns.extend((!ranks.is_empty()).then(|| numbers("criterion")));
    columns.extend((!strength.is_empty()).then(|| numbers("AUC alone")));
    columns.extend(costs.is_there().then(|| numbers("cost")));
    columns.extend(prices.then(|| numbers("penalty")));
    let cells = |&(at, weight): &(usize, Option<f64>)| {
        let (name, index) = (chosen[at], indices.get(at));
        let rank = index.and_then(|j| ranks.get(j));
        let mut cells = vec![budget.name(name)];
        cells.extend(weighted.then(|| weight.map_or_else(|| "".into(), |weight| Cell::with_bar(weight, largest))));
        if !ranks.is_empty() {
            cells.push(rank.map_or_else(String::new, |r| r.0.to_string()).into());
            cells.push(number_cell(rank.map(|r| r.1)));
        }
        cells.extend((!strength.is_empty()).then(|| auc_cell(index.and_then(|j| strength.get(j)).copied())));
        cells.extend(costs.is_there().then(|| costs.at(name).number().map_or_else(String::new, brief).into()));
        cells.extend(prices.then(|| penalty.at(name).number().map_or_else(String::new, brief).into()));
        cells
    };
    let positive = result.at("classes").at("+1").text().map_or_else(String::new, |class| {
        format!("; a positive weight speaks for {}", crate::view::shorten(class, 40))
    });
    let scale = match result.at("model").at("scaling").at("kind").text() {
        Some("standard") => "per standard deviation".to_owned(),
        Some("maxabs") => "per largest absolute value".to_owned(),
        kind => kind.and_then(range).map_or("per unit".to_owned(), |range| format!("of features scaled to {range}")),
    };
    let of = if weighted { format!("; weights {scale}{positive}") } else { String::new() };
    let noun = if certified::is_certified(result) { "feature" } else { "chosen feature" };
    let caption = format!("{}{of}", plural(chosen.len() as u64, noun));
    let note = if strength.is_empty() { "" } else { ALONE };
    Some(Table { note, first: FIRST, ..budget.table(caption, columns, rows.iter().map(cells)) })
}

fn auc_cell(auc: Option<f64>) -> Cell {
    auc.map_or_else(String::new, |auc| format!("{auc:.3}")).into()
}

/// Incumbent and bound over time.
pub(crate) fn trace(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let [incumbent, bound] =
        ["incumbent", "bound"].map(|key| thinned(result.at("trace").at(key).items().filter_map(Json::pair).collect()));
    if incumbent.len() + bound.len() < 2 {
        return Ok(None);
    }
    let end = result.at("seconds").number().unwrap_or(0.0);
    // Decades of time are seen on a logarithmic axis only.
    let log = |t: f64| t.max(1e-4).log10();
    let drawn = |points: &[(f64, f64)], role| {
        let mut points: Vec<(f64, f64)> = points.iter().map(|&(t, v)| (log(t), v)).collect();
        // What was known at the end is what was known last.
        points.extend(points.last().map(|&(t, v)| (log(end).max(t), v)));
        Series { joined: Joined::Steps, ..Series::line(points, role) }
    };
    let series: Vec<Series> = [(&incumbent, Role::First), (&bound, Role::Second)]
        .into_iter()
        .filter(|s| !s.0.is_empty())
        .map(|(p, r)| drawn(p, r))
        .collect();
    let axes = Axes::new("seconds, on a logarithmic axis", "objective", Ticks::Decades);
    let maximised = result.at("sense").text() == Some("max");
    let found = incumbent.iter().map(|&(t, v)| ("best subset", t, number(v)));
    let proven = bound.iter().map(|&(t, v)| ("bound", t, crate::words::bound(v, maximised)));
    let rows = found.chain(proven).map(|(what, t, value)| vec![what.into(), format!("{t:.4}").into(), value.into()]);
    let table =
        budget.table("Every step of the search", vec![words("what"), numbers("seconds"), numbers("objective")], rows);
    let found =
        incumbent.last().map_or_else(String::new, |&(t, _)| format!("The best subset was found after {t:.3} s"));
    let proven = match (bound.len(), end) {
        (0, _) => ".".to_owned(),
        (_, end) => {
            format!(", the search ended after {end:.3} s. What lies between the lines was not settled at that time.")
        }
    };
    let chart = Chart {
        id: "trace",
        title: "Best subset and bound over time".to_owned(),
        summary: format!("{found}{proven} Solid: objective of the best subset; dashed: proven bound."),
        svg: lines(&series, axes)?,
        table,
    };
    Ok(Some(Section::new("search", "Incumbent and bound over time", vec![Block::Chart(chart)])))
}

/// Correlations among the chosen features, and what could replace each.
pub(crate) fn stand_ins(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let description = result.at("description");
    let mut blocks = Vec::new();
    let names = description.at("correlations").at("features").texts();
    let values: Vec<Vec<f64>> = description
        .at("correlations")
        .at("matrix")
        .items()
        .map(|row| row.items().map(|v| v.number().unwrap_or(0.0)).collect())
        .collect();
    if names.len() > 1 && values.len() == names.len() && values.iter().all(|row| row.len() == names.len()) {
        let k = names.len().min(MATRIX);
        let labels: Vec<String> = names.iter().take(k).map(|name| label(name)).collect();
        let drawn: Vec<Vec<f64>> = values.iter().take(k).map(|row| row[..k].to_vec()).collect();
        let pairs = (0..names.len()).flat_map(|a| (0..a).map(move |b| (b, a)));
        let mut pairs: Vec<(usize, usize, f64)> = pairs.map(|(a, b)| (a, b, values[a][b])).collect();
        pairs.sort_by(|a, b| b.2.abs().total_cmp(&a.2.abs()));
        let strongest = pairs.first().map_or_else(String::new, |&(a, b, r)| {
            format!("The strongest is {r:.2}, between {} and {}.", label(names[a]), label(names[b]))
        });
        let more = if names.len() > k { format!(" The first {k} features are drawn.") } else { String::new() };
        let rows =
            pairs.iter().map(|&(a, b, r)| vec![budget.name(names[a]), budget.name(names[b]), format!("{r:.3}").into()]);
        let columns = vec![words("feature"), words("other feature"), numbers("correlation")];
        let table = budget.table("Correlation of each pair of chosen features", columns, rows);
        blocks.push(Block::Chart(Chart {
            id: "correlations",
            title: "Correlation among the chosen features".to_owned(),
            summary: format!("{strongest}{more}"),
            svg: matrix(&labels, &labels, &drawn, &hundredths(&drawn))?,
            table,
        }));
    }
    let rows: Vec<Vec<Cell>> = description
        .at("stand_ins")
        .items()
        .filter_map(|s| {
            Some(vec![
                budget.name(s.at("feature").text()?),
                budget.name(s.at("stand_in").text()?),
                s.at("loss").number().map_or_else(|| "not trained".to_owned(), signed_percent).into(),
                s.at("correlation").number().map_or_else(String::new, |r| format!("{r:.3}")).into(),
            ])
        })
        .collect();
    if !rows.is_empty() {
        let note = "What each chosen feature could be replaced by: the rejected feature most like it that the rules allow in its place, and \
             what share of the subset's gain is lost when the two are exchanged and the SVM is trained again (less is better, and a \
             negative number would be an improvement).";
        let columns = vec![words("chosen"), words("stand-in"), numbers("gain lost"), numbers("correlation")];
        let table = budget.table("Which feature could replace which, and at what cost", columns, rows.into_iter());
        blocks.push(Block::Table(Table { note, ..table }));
    }
    Ok(Section::new("stand-ins", "Correlation and replacement", blocks).some())
}

/// `+1.2 %`
fn signed_percent(share: f64) -> String {
    let text = percent(share.abs());
    if share < 0.0 { format!("-{text}") } else { format!("+{text}") }
}

/// Every feature that was ranked or described.
fn others(result: Json<'_>, budget: &Budget, chosen: &[&str]) -> Option<Section> {
    let strength = strengths(result);
    let mut names: HashMap<u64, (&str, Option<u64>)> = HashMap::new();
    for entry in result.at("description").at("strength").items() {
        if let (Some(j), Some(name)) = (entry.at("index").count(), entry.at("feature").text()) {
            names.insert(j, (name, None));
        }
    }
    for entry in result.at("ranking").items() {
        if let (Some(j), Some(name)) = (entry.at("index").count(), entry.at("feature").text()) {
            names.insert(j, (name, entry.at("rank").count()));
        }
    }
    if names.len() <= chosen.len() {
        return None;
    }
    let taken: std::collections::HashSet<u64> = result.at("selected_indices").items().filter_map(Json::count).collect();
    let ranked = names.values().any(|(_, rank)| rank.is_some());
    let mut order: Vec<u64> = names.keys().copied().collect();
    let place = |j: &u64| names[j].1.unwrap_or(u64::MAX);
    let alone = |j: &u64| strength.get(j).copied().unwrap_or(0.0);
    order.sort_by(|a, b| place(a).cmp(&place(b)).then(alone(b).total_cmp(&alone(a))).then(a.cmp(b)));
    let mut columns = vec![words("feature"), words("chosen")];
    columns.extend(ranked.then(|| numbers("rank")));
    columns.extend((!strength.is_empty()).then(|| numbers("AUC alone")));
    let costs = result.at("settings").at("feature_costs");
    columns.extend(costs.is_there().then(|| numbers("cost")));
    let rows = order.iter().map(|j| {
        let mut cells = vec![budget.name(names[j].0), if taken.contains(j) { "yes" } else { "" }.into()];
        cells.extend(ranked.then(|| names[j].1.map_or_else(String::new, |r| r.to_string()).into()));
        cells.extend((!strength.is_empty()).then(|| auc_cell(strength.get(j).copied())));
        cells.extend(costs.is_there().then(|| costs.at(names[j].0).number().map_or_else(String::new, brief).into()));
        cells
    });
    let blocks =
        vec![Block::Table(budget.table(format!("All {}", plural(order.len() as u64, "feature")), columns, rows))];
    Some(Section::new("all", "All features", blocks))
}

/// The best subsets, where several were asked for, and the one of least validation error.
fn solutions(result: Json<'_>, budget: &Budget) -> Option<Section> {
    // Those of a list are shown as what is better.
    let all = if certified::is_certified(result) { Json(&Value::Null) } else { result.at("solutions") };
    let all: Vec<Json<'_>> = all.items().collect();
    let mut blocks = crate::near::blocks(result, budget);
    if all.len() > 1 {
        let rows = all.iter().enumerate().map(|(at, s)| {
            vec![
                (at + 1).to_string().into(),
                number_cell(s.at("objective").number()),
                list(budget, &s.at("selected").texts()),
            ]
        });
        let columns = vec![numbers("place"), numbers("objective"), words("features")];
        blocks.push(Block::Table(budget.table("The best subsets, best first", columns, rows)));
    }
    let validated = result.at("validated");
    if let Some(error) = validated.at("error").number() {
        let line = ("least error on samples held out", percent(error).into());
        blocks.push(Block::Pairs(vec![line, ("by", list(budget, &validated.at("selected").texts()))]));
    }
    Section::new("solutions", "Alternative subsets", blocks).some()
}
