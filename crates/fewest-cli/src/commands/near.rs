//! What `select` prints of the subsets within a share of the best: what is proven of the list, what
//! each feature is worth, what can take the place of what.

use fewest_report::{near_sentence, percent};
use serde_json::Value;

use crate::export::table::{self, Table};

/// Rows of each table; `--json` holds more.
const ROWS: usize = 20;

/// The text of `within` of a result, with features by name; nothing where there is none.
pub(super) fn text(within: &Value, maximised: bool) -> Option<String> {
    let mut out = table::paragraph(&near_sentence(within, maximised)?, 0);
    let name = |feature: &Value| feature.as_str().unwrap_or_default().to_owned();
    let objective = |value: &Value| value.as_f64().map_or_else(|| "none".to_owned(), table::number);
    let rows = |list: &'static str| within[list].as_array().into_iter().flatten().take(ROWS);
    let mut features = Table::new(&["feature", "in", "best with it", "best without it"], 0);
    for feature in rows("features") {
        let share = percent(feature["share"].as_f64().unwrap_or(f64::NAN));
        features.row(vec![
            name(&feature["feature"]),
            share,
            objective(&feature["best_with"]),
            objective(&feature["best_without"]),
        ]);
    }
    out.push('\n');
    out += &features.render(table::style());
    if rows("replacements").next().is_some() {
        let mut replacements = Table::new(&["feature", "can be replaced by", "pairs"], 1);
        for one in rows("replacements") {
            replacements.row(vec![name(&one["feature"]), name(&one["by"]), one["pairs"].to_string()]);
        }
        out.push('\n');
        out += &replacements.render(table::style());
    }
    Some(out)
}
