//! The two panels of a study on its page.

use super::wording::{Panels, one_panel};
use crate::common::{list, sentence_case};
use crate::measures::measured;
use crate::read::Json;
use crate::view::{Block, Budget, Cell, Section, shorten, words};
use crate::words::{brief, percent, plural};

/// Both panels beside each other; one sentence where they are the same.
pub(super) fn section(result: Json<'_>, budget: &Budget) -> Option<Section> {
    let panels = Panels::of(result)?;
    let mut blocks = Vec::new();
    if panels.same {
        blocks.push(Block::Text(sentence_case(one_panel(result))));
    } else {
        blocks.push(Block::Text(
            "Two panels were chosen inside each training part and judged on the samples held out: what the rule of choice takes, and the smallest size that is as good inside the folds."
                .to_owned(),
        ));
        blocks.extend(cost(&panels).map(Block::Text));
        let columns = vec![words("of each"), words("the panel"), words(heading(panels.called))];
        let mut table = budget.table("Both panels", columns, rows(&panels, budget).into_iter());
        table.note = "Accuracy, AUC, log-loss and stability are those of the outer folds, with 95 % intervals: of choosing in this way, not of these very features.";
        blocks.push(Block::Table(table));
    }
    Some(Section::new("panels", "Two panels", blocks))
}

fn heading(called: &str) -> &'static str {
    match called {
        "smaller panel" => "the smaller one",
        "larger panel" => "the larger one",
        _ => "the other one",
    }
}

/// What it costs to choose the other one.
fn cost(panels: &Panels<'_>) -> Option<String> {
    let by = panels.difference.at("mean").number()?;
    let what = match (by > 0.0, by == 0.0) {
        (_, true) => "costs no accuracy".to_owned(),
        (true, _) => format!("costs {} of accuracy", percent(by)),
        (false, _) => format!("gains {} of accuracy", percent(-by)),
    };
    let between = panels.difference.at("ci95").pair().map_or_else(String::new, |(low, high)| {
        let (low, high) = if by < 0.0 { (-high, -low) } else { (low, high) };
        let chance = if low <= 0.0 && high >= 0.0 { "; the interval holds 0, so that this may be chance" } else { "" };
        format!(" (95 % interval {} to {}{chance})", percent(low), percent(high))
    });
    Some(format!("Choosing the {} {what}{between}: fold by fold, on the samples held out.", panels.called))
}

fn rows(panels: &Panels<'_>, budget: &Budget) -> Vec<Vec<Cell>> {
    let both = [panels.taken, panels.other];
    let row = |label: &str, of: &dyn Fn(Json<'_>) -> Cell| -> Vec<Cell> {
        let mut cells = vec![Cell::from(label)];
        cells.extend(both.map(of));
        cells
    };
    let summary =
        |name: &'static str| move |of: Json<'_>| Cell::from(measured(of.at("summary").at(name)).unwrap_or_default());
    let mut rows = vec![
        row("number of features", &|of| of.at("selected").items().len().to_string().into()),
        row("features", &|of| list(budget, &of.at("selected").texts())),
        row("chosen by", &|of| chosen_by(of).into()),
    ];
    for (label, name) in [("accuracy", "accuracy"), ("AUC", "auc"), ("log-loss", "log_loss")] {
        if both.iter().any(|of| of.at("summary").at(name).is_there()) {
            rows.push(row(label, &summary(name)));
        }
    }
    let stability = |of: Json<'_>| {
        let (index, ends) = (of.at("stability").at("index").number(), of.at("stability").at("ci95").pair());
        let ends = ends.map_or_else(String::new, |(low, high)| format!(" ({low:.3} to {high:.3})"));
        Cell::from(index.map_or_else(String::new, |index| format!("{index:.3}{ends}")))
    };
    if both.iter().any(|of| of.at("stability").at("index").number().is_some()) {
        rows.push(row("stability", &stability));
    }
    let mean = |of: Json<'_>| {
        let mean = of.at("summary").at("n_features").at("mean").number();
        Cell::from(mean.map_or_else(String::new, brief))
    };
    if both.iter().any(|of| of.at("summary").at("n_features").is_there()) {
        rows.push(row("features in a fold, mean", &mean));
    }
    rows
}

/// `exact, at most 5 features, at C = 0.01`
fn chosen_by(of: Json<'_>) -> String {
    let cost = of.at("cost").number().map_or_else(String::new, |cost| format!(", at C = {}", brief(cost)));
    let size = of.at("max_features").count().unwrap_or(0);
    format!("{}, at most {}{cost}", shorten(of.at("method").text().unwrap_or_default(), 40), plural(size, "feature"))
}
