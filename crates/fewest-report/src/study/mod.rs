//! The page of `fewest study`: a panel, what it is worth on samples not seen, and why to believe
//! it.

pub(crate) mod external;
pub(crate) mod methods_text;
mod panels;
pub(crate) mod points;
pub(crate) mod wording;

use methods_text::methods_text;
use wording::{change, folds as counted, judged, largest, left_out};

use crate::common::{OBJECTIVE, about, cautions, contents, list, sentence_case, settings};
use crate::evaluation::{SizePoint, accuracy_by_size, frequency, performance, stability_words, wrong};
use crate::guessing::{NO_BETTER, guessing, rare};
use crate::measures::{interval, measured, worth};
use crate::probabilities::probabilities;
use crate::read::Json;
use crate::view::{Answer, Block, Budget, Cell, Chart, FIRST, Page, Section, Table, numbers, shorten, words};
use crate::words::{Proof, brief, percent, plural};

/// What the methods do.
const FORMULAS: [(&str, &str); 4] = [
    (
        "exact",
        "exact: over all allowed sets of at most K features, the smallest 1/2 |w|^2 + C sum_i max(0, 1 - y_i (w.x_i + b)) with weights on those features alone",
    ),
    (
        "rfe",
        "rfe: train min 1/2 |w|^2 + C sum_i max(0, 1 - y_i (w.x_i + b)), drop the features of smallest w_j^2, again, until K are left",
    ),
    ("info-gain", "info-gain: the K features of largest H(class) - H(class | interval of x_j), in bits"),
    (
        "kta",
        "kta: over all allowed sets of at most K features, the largest alignment of the Gaussian kernel on them with the classes",
    ),
];
/// Who says so.
const SOURCES: [(&str, &str); 7] = [
    ("estimate", "nested cross-validation: S. Varma, R. Simon, BMC Bioinformatics 7 (2006), 91"),
    ("interval", "corrected for folds that share samples: C. Nadeau, Y. Bengio, Machine Learning 52 (2003), 239-281"),
    ("exact", "the model: H. Aytug, European Journal of Operational Research, 2015; the search is fewest's own"),
    ("rfe", "I. Guyon, J. Weston, S. Barnhill, V. Vapnik, Machine Learning 46 (2002), 389-422"),
    ("stability", "S. Nogueira, K. Sechidis, G. Brown, Journal of Machine Learning Research 18 (2018), 1-54"),
    ("probabilities", "J. Platt, Advances in Large Margin Classifiers (1999), 61-74"),
    ("net benefit", "A. J. Vickers, E. B. Elkin, Medical Decision Making 26 (2006), 565-574"),
];

/// The page of a study.
pub(crate) fn page(result: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let panel = result.at("panel");
    let count = panel.at("selected").items().len() as u64;
    let mut sections = Vec::new();
    sections.extend(points::section(result, budget));
    sections.extend(external::section(result, budget)?);
    sections.extend(probabilities(result, budget)?);
    sections.push(outer(result, budget)?);
    sections.extend(sizes(result, budget)?);
    sections.extend(frequency(result, budget, "frequency", "frequency-section", "Selection frequency")?);
    sections.extend(panels::section(result, budget));
    sections.extend(solutions(result, budget));
    sections.extend(tried(result, budget));
    sections.extend(wrong(result, result.at("settings"), budget));
    sections.push(about(budget, result)?);
    sections.push(for_methods(result, budget));
    sections.push(how(result));
    sections.push(settings(budget, result, result.at("command"), ""));
    let title = match (count, result.at("target").text()) {
        (0, _) => "No panel was found".to_owned(),
        (1, Some(target)) => format!("1 feature that tells {}", shorten(target, 60)),
        (_, Some(target)) => format!("{} that tell {}", plural(count, "feature"), shorten(target, 60)),
        _ => format!("A panel of {}", plural(count, "feature")),
    };
    let (done, all) = counted(result);
    let judged = match (done, done < all) {
        (0, _) => format!("what they are worth is not known: 0 of {all} outer folds were done"),
        (_, true) => format!("judged on samples that took no part, in {done} of {all} outer folds"),
        _ => format!("judged on samples that took no part, in {}", plural(done, "outer fold")),
    };
    Ok(Page {
        title,
        lead: format!("{}. Features, method and settings were chosen from the data; {judged}.", contents(result)),
        answer: answer(result, budget)?,
        sections,
        version: shorten(result.at("version").text().unwrap_or("an unnamed version"), 40),
    })
}

/// What a reader with half a minute needs.
fn answer(result: Json<'_>, budget: &Budget) -> Result<Answer, String> {
    let (panel, accuracy) = (result.at("panel"), result.at("summary").at("accuracy"));
    let mut findings: Vec<String> = guessing(result).into_iter().collect();
    let fails = !findings.is_empty();
    let mut weak: Vec<String> = Vec::new();
    match accuracy.at("mean").number() {
        Some(mean) => {
            let between = interval(accuracy, 1.0).map_or_else(String::new, |(low, high)| {
                format!(" (95 % interval {} to {})", percent(low), percent(high))
            });
            findings.extend(by_order(result));
            findings
                .push(format!("Right on {} of the samples that took no part in the choice{between}.", percent(mean)));
        }
        None => weak.push("How well the panel does is not known: no outer fold was done in time.".to_owned()),
    }
    weak.extend(cautions(result).into_iter().filter(|text| findings.is_empty() || !text.starts_with(NO_BETTER)));
    if result.at("status").text().is_some_and(|status| status != "completed") {
        weak.push(left(result));
    }
    weak.extend(unsteady(result));
    let all = result.at("n_features").count();
    if all.is_some() && all == Some(panel.at("selected").items().len() as u64) {
        weak.push("All features are in the panel: nothing was left out.".to_owned());
    }
    if let Some((words, more)) = largest(result) {
        weak.push(format!(
            "{} Try up to {more}: --max-features 1..{more} of the command, sizes=range(1, {}) of Study in Python.",
            sentence_case(&words),
            more + 1
        ));
    }
    let mut facts = Vec::new();
    facts.extend(threshold(result).map(|text| ("threshold", budget.foreign(&text, 400))));
    facts.extend(stability_words(result).map(|text| ("stability", Cell::from(text))));
    facts.extend(classifier(panel).map(|text| ("classifier", Cell::from(text))));
    facts.extend(result.at("positive").text().map(|class| ("positive class", budget.foreign(class, 60))));
    let mut charts: Vec<Chart> = worth(result, "measures", budget)?.into_iter().collect();
    if let Some((proof, what)) = proof(panel)
        && let Some(chart) = crate::common::proven(&proof, budget)?
    {
        charts.push(Chart { summary: format!("{what}, on all samples: {}. {OBJECTIVE}", proof.sentence()), ..chart });
    }
    Ok(Answer { findings, fails, cautions: weak, panel: features(result, budget), charts, facts })
}

/// That features of the panel came back in few of the outer folds, where there are some.
fn unsteady(result: Json<'_>) -> Option<String> {
    let names = result.at("panel").at("selected").texts();
    let share = |name: &&&str| result.at("frequency").at(name).number().unwrap_or(0.0);
    let (never, seldom) =
        (names.iter().filter(|name| share(name) == 0.0).count(), names.iter().filter(|name| share(name) < 0.5).count());
    let folds = result.at("folds").items().len();
    let of = plural(names.len() as u64, "feature");
    (folds > 1 && (never > 0 || 2 * seldom > names.len())).then(|| {
        format!(
            "Of the panel's {of}, {seldom} came back in fewer than half of the outer folds, {never} of them in none: other samples would give other features; the accuracy is that of choosing in this way."
        )
    })
}

/// What tells more than accuracy where one of two classes is rare, or a sensitivity was asked for.
fn by_order(result: Json<'_>) -> Option<String> {
    let cut = result.at("panel").at("threshold").at("sensitivity").number();
    let share = rare(result);
    if share.is_none() && cut.is_none() {
        return None;
    }
    let of = |name: &str| measured(result.at("summary").at(name));
    let (auc, found, spared) = (of("auc")?, of("sensitivity")?, of("specificity")?);
    let why = share.map_or_else(String::new, |share| format!("; one class is {} of the samples", percent(share)));
    Some(format!(
        "AUC {auc}, sensitivity {found}, specificity {spared} on the samples that took no part in the choice{why}."
    ))
}

/// Where the decision values are cut for a wanted sensitivity, and what comes of it.
pub(crate) fn threshold(result: Json<'_>) -> Option<String> {
    let threshold = result.at("panel").at("threshold");
    let (wanted, value) = (threshold.at("sensitivity").number()?, threshold.at("value").number()?);
    let reached = |name: &str| {
        let of = result.at("summary").at(name);
        let between = of.at("ci95").pair().map_or_else(String::new, |(low, high)| format!(" ({low:.3} to {high:.3})"));
        of.at("mean").number().map_or("not known".to_owned(), |mean| format!("{mean:.3}{between}"))
    };
    Some(format!(
        "the bias is shifted by {}, so that inner folds find {} of the positive class; on samples that took no part the sensitivity is {}, the specificity {}",
        crate::words::number(-value),
        percent(wanted),
        reached("sensitivity"),
        reached("specificity")
    ))
}

/// What is proven of the panel, by its own search or by a certificate, and of what.
fn proof(panel: Json<'_>) -> Option<(Proof<'_>, &'static str)> {
    let of = judged(panel);
    let objective = of.at("objective").number()?;
    let (bound, gap) = (of.at("bound").number(), of.at("gap").number());
    bound?;
    let maximised = !panel.at("certificate").is_there() && panel.at("sense").text() == Some("max");
    let status = of.at("status").text().unwrap_or_default();
    let max_features = panel.at("max_features").count();
    let what =
        if maximised { "By the alignment it maximises" } else { "By the objective that the selection minimises" };
    Some((Proof { objective, bound, gap, maximised, status, max_features, condition: None }, what))
}

/// Method and costs, in words.
fn classifier(panel: Json<'_>) -> Option<String> {
    let method = panel.at("method").text()?;
    let cost = panel.at("cost").number().map_or_else(String::new, |cost| format!(" at C = {}", brief(cost)));
    let fit = panel.at("fit_cost").number()?;
    let kernel = match panel.at("model").at("kernel").text() {
        None | Some("linear") => "a linear SVM".to_owned(),
        Some("rbf") => "an SVM with a Gaussian kernel".to_owned(),
        Some(other) => format!("an SVM with the kernel {}", shorten(other, 40)),
    };
    Some(format!("chosen by {}{cost}; {kernel} at C = {}", shorten(method, 40), brief(fit)))
}

/// What time did not allow.
fn left(result: Json<'_>) -> String {
    let parts = crate::common::not_done(result);
    let why = if result.at("status").text() == Some("cancelled") { "It was cancelled" } else { "Time ran out" };
    match parts.as_slice() {
        [] => format!("{why}: some searches ended early."),
        parts => format!("{why}. Not done: {}.", parts.join(", ")),
    }
}

/// The features with weights, how often each came back, and what could replace it.
fn features(result: Json<'_>, budget: &Budget) -> Option<Table> {
    let panel = result.at("panel");
    let names = panel.at("selected").texts();
    if names.is_empty() {
        return None;
    }
    let weights = panel.at("model").at("weights");
    let (now, baseline) = (judged(panel).at("objective").number(), judged(panel).at("baseline").number());
    let gained = now.zip(baseline).filter(|(now, baseline)| now < baseline);
    let largest = names.iter().filter_map(|name| weights.at(name).number()).map(f64::abs).fold(0.0, f64::max);
    let mut order = names.clone();
    let size = |name: &&str| weights.at(name).number().map_or(0.0, f64::abs);
    order.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let rows = order.into_iter().map(|name| {
        let swap = panel.at("replacements").items().find(|swap| swap.at("feature").text() == Some(name));
        let by = |entry: Json<'_>| {
            let other = shorten(entry.at("feature").text()?, 40);
            let loss =
                |(then, (now, baseline)): (f64, (f64, f64))| format!(" ({})", change((then - now) / (baseline - now)));
            let worse = entry.at("objective").number().zip(gained).map_or_else(String::new, loss);
            Some(format!("{other}{worse}"))
        };
        let by: Vec<String> = swap.iter().flat_map(|swap| swap.at("by").items()).filter_map(by).collect();
        vec![
            budget.name(name),
            weights.at(name).number().map_or_else(|| "".into(), |weight| Cell::with_bar(weight, largest)),
            Cell::share(result.at("frequency").at(name).number().unwrap_or(0.0)),
            budget.foreign(&by.first().cloned().unwrap_or_default(), 60),
        ]
    });
    let mut rows: Vec<Vec<Cell>> = rows.collect();
    let mut columns = vec![words("feature"), words("weight"), words("share of folds"), words("replaceable by")];
    let replaceable = rows.iter().any(|row| !row[3].text.is_empty());
    if !replaceable {
        columns.pop();
        for row in &mut rows {
            row.pop();
        }
    }
    let mut table =
        budget.table(format!("Panel of {}", plural(names.len() as u64, "feature")), columns, rows.into_iter());
    table.note = if replaceable {
        "Weight: of scaled values, above 0 for the class +1. Share of folds: outer folds that chose it on their own. Replaceable by: the exchange that costs least, in percent of what the panel gains over no features; below 0 the other is better on all samples."
    } else {
        "Weight: of scaled values, above 0 for the class +1. Share of folds: outer folds that chose it on their own."
    };
    table.first = FIRST;
    Some(table)
}

/// Several panels of the size, where they are proven.
fn solutions(result: Json<'_>, budget: &Budget) -> Option<Section> {
    let several: Vec<Vec<Cell>> = result
        .at("panel")
        .at("solutions")
        .items()
        .map(|solution| {
            let objective = solution.at("objective").number().map_or_else(String::new, crate::words::number);
            vec![objective.into(), list(budget, &solution.at("selected").texts())]
        })
        .collect();
    if several.len() < 2 {
        return None;
    }
    let columns = vec![numbers("objective"), words("features")];
    let table = budget.table("The best panels of this size, proven", columns, several.into_iter());
    Some(Section::new("solutions", "Alternative panels", vec![Block::Table(table)]))
}

/// Accuracy by number of features, inside all samples.
fn sizes(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let in_folds = |k: u64| result.at("folds").items().filter(|f| f.at("max_features").count() == Some(k)).count();
    let of = |size: Json<'_>| {
        let (k, accuracy) = (size.at("max_features").count()?, size.at("accuracy").number()?);
        Some((k, accuracy, size.at("se").number().unwrap_or(0.0), Some(in_folds(k) as u64)))
    };
    let curve: Vec<SizePoint> = result.at("sizes").items().filter_map(of).collect();
    if curve.len() < 2 {
        return Ok(None);
    }
    let chosen = result.at("panel").at("max_features").count();
    let title = "Accuracy inside the samples by number of features";
    let accuracy = result.at("summary").at("accuracy");
    let outer =
        chosen.zip(accuracy.at("mean").number()).zip(interval(accuracy, 1.0)).map(|((k, mean), ends)| (k, mean, ends));
    let (svg, table) = accuracy_by_size(budget, title, &curve, chosen, outer)?;
    let summary = format!(
        "Blue: inner cross-validation with the best costs for each number, one standard error; these values guided the choice and are a little too good. Orange: the outer folds, 95 % interval, at the number that was chosen{}.",
        chosen.map_or_else(String::new, |chosen| format!(", {chosen}"))
    );
    let title = "Accuracy by number of features".to_owned();
    let chart = Chart { id: "sizes", title, summary, svg, table };
    Ok(Some(Section::new("sizes-section", "Number of features", vec![Block::Chart(chart)])))
}

/// The outer folds.
fn outer(result: Json<'_>, budget: &Budget) -> Result<Section, String> {
    let what = "In each outer fold some samples were held out; features, method and settings were chosen again from the others, and then the samples held out were classified.";
    let found = performance(result, budget)?.map(|section| section.blocks).unwrap_or_default();
    let blocks = [Block::Text(what.to_owned())].into_iter().chain(found).collect();
    Ok(Section::new("performance", "Performance by class and by fold", blocks))
}

/// Each method at its best.
fn tried(result: Json<'_>, budget: &Budget) -> Option<Section> {
    let number = |x: Option<f64>| Cell::from(x.map_or_else(String::new, |x| format!("{x:.4}")));
    let rows: Vec<Vec<Cell>> = result
        .at("tried")
        .items()
        .map(|tried| {
            let costs = |key: &str| Cell::from(tried.at(key).number().map_or_else(String::new, brief));
            vec![
                budget.name(tried.at("method").text().unwrap_or_default()),
                tried.at("max_features").count().map_or_else(String::new, |k| k.to_string()).into(),
                number(tried.at("accuracy").number()),
                number(tried.at("stability").number()),
                costs("cost"),
                costs("fit_cost"),
            ]
        })
        .collect();
    let gone = left_out(result).map(|gone| Block::Text(format!("Not tried: {}.", shorten(&gone, 400))));
    if rows.is_empty() {
        return gone.map(|gone| Section::new("tried", "Methods compared", vec![gone]));
    }
    let columns = vec![
        words("method"),
        numbers("features"),
        numbers("accuracy"),
        numbers("stability"),
        numbers("C to select"),
        numbers("C to classify"),
    ];
    let mut table =
        budget.table("Each method at its best, by inner cross-validation on all samples", columns, rows.into_iter());
    table.note = match result.at("prefer").text() {
        Some("smallest") => {
            "The rule of choice picks among all of them by one score; the panel is the smallest size that is as good as its pick; see the settings."
        }
        _ => "The rule of choice picks among all of them by one score; see the settings.",
    };
    Some(Section::new("tried", "Methods compared", [Block::Table(table)].into_iter().chain(gone).collect()))
}

/// Formula and sources.
fn how(result: Json<'_>) -> Section {
    let method = result.at("panel").at("method").text().unwrap_or("exact");
    let formula = FORMULAS.iter().find(|formula| formula.0 == method).map_or(FORMULAS[0].1, |formula| formula.1);
    let mut blocks = vec![Block::Code(formula.to_owned())];
    let platt = result.at("settings").at("calibration").text().is_none_or(|rule| rule == "platt");
    let used = |key: &str| match key {
        "exact" | "rfe" => key == method,
        "probabilities" => platt,
        _ => true,
    };
    let lines = SOURCES.iter().filter(|source| used(source.0)).map(|&(key, text)| (key, Cell::from(text)));
    blocks.push(Block::Pairs(lines.collect()));
    Section::new("method", "Formula and sources", blocks)
}

/// Sentences to copy into a paper.
fn for_methods(result: Json<'_>, budget: &Budget) -> Section {
    let what = "What was done, item by item of TRIPOD+AI (G. S. Collins and others, BMJ 385 (2024), e078378). Study design, dates, eligibility, ethics and what the features mean are yours to add.";
    // One list for each, so that they stand below each other at any width.
    let item = |(item, text): (&'static str, String)| Block::Pairs(vec![(item, budget.foreign(&text, 4000))]);
    let blocks = [Block::Text(what.to_owned())].into_iter().chain(methods_text(result).into_iter().map(item)).collect();
    Section::new("methods-part", "Text for the methods section", blocks)
}
