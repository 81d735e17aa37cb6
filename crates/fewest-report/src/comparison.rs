//! The page of `fewest compare`: lists side by side, each class by each list, what the lists share.

use crate::chart::{Estimate, estimates, matrix, percents};
use crate::common::{about, contents, groups, label, number_cell, sentence_case, settings};
use crate::measures::{interval, measured};
use crate::read::Json;
use crate::view::{Answer, Block, Budget, Cell, Chart, Page, Section, Table, numbers, shorten, words};
use crate::words::{at_most, brief, number, percent, plural, seconds};

/// The page of a comparison.
pub(crate) fn page(result: Json<'_>, budget: &Budget) -> Result<Page, String> {
    let (lists, classes) = (result.at("lists").items().len() as u64, result.at("classes").entries().count() as u64);
    let mut sections = vec![lists_of(result, budget)];
    sections.extend(classes_of(result, budget)?);
    sections.push(common(result, budget));
    sections.push(about(budget, result)?);
    sections.push(settings(budget, result, result.at("command"), ""));
    Ok(Page {
        title: format!("{} on the same samples", plural(lists, "list")),
        lead: format!(
            "{}. Each list has a classifier of {classes} classes in each fold, with the same samples held out; the first list is what the others are compared with.",
            contents(result)
        ),
        answer: answer(result, budget)?,
        sections,
        version: shorten(result.at("version").text().unwrap_or("an unnamed version"), 40),
    })
}

/// A difference with its interval, and a sign.
pub(crate) fn difference(of: Json<'_>) -> Option<String> {
    let value = of.at("mean").number()?;
    let between = of.at("ci95").pair().map_or_else(String::new, |(low, high)| format!(" ({low:+.3} to {high:+.3})"));
    Some(format!("{value:+.3}{between}"))
}

/// The columns of the table of lists, and whether each holds numbers.
pub(crate) const COLUMNS: [(&str, bool); 9] = [
    ("list", false),
    ("features", true),
    ("macro F1", true),
    ("difference from the first", true),
    ("recall of rare classes", true),
    ("gap", true),
    ("neighbours of the class", true),
    ("NMI of clusters", true),
    ("ARI", true),
];
/// Columns of these that say what a classifier makes of a list; the others are of the list alone.
const JUDGED: usize = 6;

/// How many features a list has, and how many of its names the data do not have.
fn size(list: Json<'_>) -> String {
    let (there, missing) = (list.at("features").items().len(), list.at("missing").items().len());
    if missing > 0 { format!("{there}, {missing} missing") } else { there.to_string() }
}

/// A list as a row of the table.
pub(crate) fn row(list: Json<'_>) -> [String; 9] {
    let share = |part: Json<'_>| part.number().map_or_else(String::new, |share| format!("{share:.3}"));
    let clusters = list.at("clusters");
    [
        list.at("name").text().unwrap_or_default().to_owned(),
        size(list),
        measured(list.at("macro_f1")).unwrap_or_default(),
        difference(list.at("difference")).unwrap_or_default(),
        measured(list.at("rare_recall")).unwrap_or_default(),
        list.at("gap").number().map_or_else(|| "not known".to_owned(), at_most),
        share(clusters.at("neighbours")),
        share(clusters.at("nmi")),
        share(clusters.at("ari")),
    ]
}

/// The list of largest macro F1, and whether its interval of differences shows that.
pub(crate) fn finding(result: Json<'_>) -> Option<String> {
    let lists: Vec<Json<'_>> = result.at("lists").items().collect();
    let f1 = |list: &Json<'_>| list.at("macro_f1").at("mean").number();
    let first = *lists.first()?;
    let least = |list: &Json<'_>| f1(list).unwrap_or(f64::NEG_INFINITY);
    let best = lists.iter().copied().max_by(|x, y| least(x).total_cmp(&least(y)))?;
    let name = |list: Json<'_>| shorten(list.at("name").text().unwrap_or_default(), 40);
    f1(&best)?;
    let shown =
        |list: &Json<'_>| list.at("difference").at("ci95").pair().is_some_and(|(low, high)| low > 0.0 || high < 0.0);
    let differ = lists.iter().skip(1).filter(|list| shown(list)).count();
    let largest = format!("largest macro F1: {} with {}", name(best), measured(best.at("macro_f1"))?);
    if differ == 0 {
        return Some(format!("No clear difference from the first list: 0 is in the interval of each; {largest}."));
    }
    let verdict = if best.0 == first.0 {
        format!("{} lower by more than the interval", is_are(differ as u64))
    } else if shown(&best) {
        "above the first by more than its interval".to_owned()
    } else {
        "within the interval of the first".to_owned()
    };
    Some(sentence_case(&format!("{largest}; {verdict}")))
}

fn is_are(count: u64) -> String {
    if count == 1 { "1 other is".to_owned() } else { format!("{count} others are") }
}

fn answer(result: Json<'_>, budget: &Budget) -> Result<Answer, String> {
    let rows: Vec<Estimate> = result
        .at("lists")
        .items()
        .filter_map(|list| {
            let f1 = list.at("macro_f1");
            let name = label(list.at("name").text().unwrap_or_default());
            Some(Estimate { label: name, value: f1.at("mean").number()?, interval: interval(f1, 1.0), chance: None })
        })
        .collect();
    let columns = vec![words("list"), numbers("features"), numbers("macro F1"), numbers("difference from the first")];
    let cells = |list: Json<'_>| {
        let f1 = measured(list.at("macro_f1")).unwrap_or_default();
        let less = difference(list.at("difference")).unwrap_or_default();
        vec![budget.name(list.at("name").text().unwrap_or_default()), size(list).into(), f1.into(), less.into()]
    };
    let table = budget.table("Macro F1 of each list", columns, result.at("lists").items().map(cells));
    let folds = plural(result.at("folds").items().len() as u64, "fold");
    let dealt = groups(result).map_or_else(String::new, |groups| format!("; {groups}"));
    let charts = if rows.is_empty() {
        Vec::new()
    } else {
        vec![Chart {
            id: "lists",
            title: "Macro F1 of each list".to_owned(),
            summary: format!("Samples held out, {folds}{dealt}; 95 % intervals."),
            svg: estimates(&rows)?,
            table,
        }]
    };
    let seen = "A list that was chosen on these samples has seen them: its F1 may be too high.".to_owned();
    let model = result.at("model");
    let text = |key: &str| model.at(key).text().unwrap_or_default().to_owned();
    let cost = model.at("cost").number().map_or_else(String::new, brief);
    let mut facts: Vec<(&'static str, Cell)> =
        vec![("model", format!("{}, {}, cost {cost} for every list", text("multi_class"), text("loss")).into())];
    let rare = result.at("rare").texts();
    facts.extend(
        (!rare.is_empty()).then(|| ("rare classes, below 5 % of the samples", crate::common::list(budget, &rare))),
    );
    facts.push(("status", shorten(result.at("status").text().unwrap_or_default(), 20).into()));
    facts.extend(result.at("seconds").number().map(|time| ("time", seconds(time).into())));
    let missing = result.at("lists").items().filter_map(|list| {
        let (there, missing) = (list.at("features").items().len(), list.at("missing").items().len());
        let name = shorten(list.at("name").text().unwrap_or_default(), 40);
        (missing > 0).then(|| {
            format!("{missing} of {} features of {name} are not in the data, and count for nothing.", there + missing)
        })
    });
    let cautions = crate::common::warnings(result).into_iter().chain(missing).chain([seen]).collect();
    Ok(Answer { findings: finding(result).into_iter().collect(), fails: false, cautions, panel: None, charts, facts })
}

/// What each list is worth, and what samples are by each list alone.
fn lists_of(result: Json<'_>, budget: &Budget) -> Section {
    let mut blocks = Vec::new();
    for (title, part, note) in [
        (
            "Classifiers on each list",
            1..JUDGED,
            "Gap: the share of what features can gain that the list leaves open at most, beside all lists of its size.",
        ),
        (
            "Samples by each list alone",
            JUDGED..COLUMNS.len(),
            "Neighbours: share of the nearest samples that are of the same class. NMI and ARI: agreement of Leiden clusters with the classes.",
        ),
    ] {
        let heads = COLUMNS[part.clone()].iter();
        let columns = heads.map(|&(name, is_number)| if is_number { numbers(name) } else { words(name) });
        let rows = result.at("lists").items().map(|list| {
            let cells = row(list);
            let rest = cells[part.clone()].iter().cloned().map(Cell::from);
            std::iter::once(budget.name(&cells[0])).chain(rest).collect()
        });
        let table = budget.table(title, std::iter::once(words("list")).chain(columns).collect(), rows);
        blocks.push(Block::Table(Table { note, ..table }));
    }
    Section::new("worth", "Lists side by side", blocks)
}

/// F1 of each class by each list, drawn and as a table with the differences.
fn classes_of(result: Json<'_>, budget: &Budget) -> Result<Option<Section>, String> {
    let lists: Vec<Json<'_>> = result.at("lists").items().collect();
    let by_list: Vec<Vec<Json<'_>>> = lists.iter().map(|list| list.at("by_class").items().collect()).collect();
    let Some(first) = by_list.first().filter(|first| !first.is_empty()) else { return Ok(None) };
    let name = |class: Json<'_>| class.at("class").text().unwrap_or_default().to_owned();
    let rows = first.iter().enumerate().flat_map(|(at, &class)| {
        let by_list = &by_list;
        lists.iter().enumerate().map(move |(list, of)| {
            let this = by_list[list][at];
            vec![
                budget.name(&name(class)),
                budget.name(of.at("name").text().unwrap_or_default()),
                this.at("samples").count().unwrap_or(0).to_string().into(),
                number_cell(this.at("recall").number()),
                number_cell(this.at("precision").number()),
                number_cell(this.at("f1").number()),
                difference(this.at("difference")).unwrap_or_default().into(),
            ]
        })
    });
    let columns = vec![
        words("class"),
        words("list"),
        numbers("samples"),
        numbers("recall"),
        numbers("precision"),
        numbers("F1"),
        numbers("F1, difference from the first"),
    ];
    let table = budget.table("Each class by each list", columns, rows);
    let names: Vec<String> = first.iter().map(|&class| label(&name(class))).collect();
    let values: Vec<Vec<f64>> =
        (0..first.len()).map(|at| by_list.iter().map(|of| of[at].at("f1").number().unwrap_or(0.0)).collect()).collect();
    let heads: Vec<String> = lists.iter().map(|list| label(list.at("name").text().unwrap_or_default())).collect();
    let chart = Block::Chart(Chart {
        id: "classes",
        title: "F1 of each class by each list".to_owned(),
        summary: "F1 on samples held out, in percent. Rows: classes; columns: lists.".to_owned(),
        svg: matrix(&names, &heads, &values, &percents(&values))?,
        table,
    });
    Ok(Some(Section::new("by-class", "Performance by class", vec![chart])))
}

fn common(result: Json<'_>, budget: &Budget) -> Section {
    let rows = result.at("common").items().map(|pair| {
        let text = |key: &str| pair.at(key).text().unwrap_or_default().to_owned();
        vec![
            budget.name(&text("first")),
            budget.name(&text("second")),
            pair.at("features").items().len().to_string().into(),
            pair.at("jaccard").number().map_or_else(String::new, percent).into(),
            crate::common::list(budget, &pair.at("features").texts()),
        ]
    });
    let columns =
        vec![words("list"), words("and"), numbers("in common"), numbers("of both together"), words("features")];
    let shared = Block::Table(budget.table("Features in common", columns, rows));
    let rows = result.at("lists").items().map(|list| {
        vec![
            budget.name(list.at("name").text().unwrap_or_default()),
            list.at("objective").number().map_or_else(String::new, number).into(),
            list.at("best").at("objective").number().map_or_else(String::new, number).into(),
            list.at("bound").number().map_or_else(String::new, number).into(),
            crate::common::list(budget, &list.at("features").texts()),
        ]
    });
    let columns = vec![
        words("list"),
        numbers("objective"),
        numbers("best known of its size"),
        numbers("none is below"),
        words("features"),
    ];
    let each = Block::Table(budget.table("Objectives, smaller is better", columns, rows));
    Section::new("features", "Features of the lists", vec![shared, each])
}
