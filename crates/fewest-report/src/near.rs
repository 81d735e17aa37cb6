//! The subsets within a share of the best one: in a sentence, and on the page.

use serde_json::Value;

use crate::common::{number_cell, sentence_case};
use crate::read::Json;
use crate::view::{Block, Budget, Cell, Table, numbers, words};
use crate::words::{at_least, bound, number, percent, plural};

/// Claim about the subsets within a share of the best, in a sentence: of `within` of a result;
/// nothing where there is none.
pub fn near_sentence(within: &Value, maximised: bool) -> Option<String> {
    let text = |key: &str| within[key].as_f64();
    let (share, threshold) = (percent(text("within")?), number(text("threshold")?));
    let share = format!("{share} of the best gain");
    let (subsets, most) = (within["subsets"].as_u64()?, within["most"].as_u64()?);
    let end = format!("an objective of at {} {threshold}", if maximised { "least" } else { "most" });
    if within["complete"] == true {
        return Some(match subsets {
            1 => format!("no other allowed subset is within {share} ({end}); this is proven"),
            _ => format!("{subsets} subsets are within {share} ({end}), and no others; this is proven"),
        });
    }
    let why = if subsets >= most {
        format!("more than the {most} that may be listed can be within {share} ({end})")
    } else {
        format!("others than the {} found can be within {share} ({end})", plural(subsets, "subset"))
    };
    let others = text("others").filter(|_| text("complete_within").is_some());
    let rest = others.map_or_else(
        || "nothing is proven of those".to_owned(),
        |others| {
            let reached = at_least(text("complete_within").unwrap_or(0.0));
            let side = if maximised { "at most" } else { "at least" };
            format!("those have {side} {}, so that the list holds all within {reached} of it", bound(others, maximised))
        },
    );
    Some(format!("{why}; {rest}"))
}

/// The sentence and what the subsets tell of features, for the page.
pub(crate) fn blocks(result: Json<'_>, budget: &Budget) -> Vec<Block> {
    let (part, maximised) = (result.at("within"), result.at("sense").text() == Some("max"));
    let Some(sentence) = near_sentence(part.0, maximised) else { return Vec::new() };
    let rows = part.at("features").items().filter_map(|f| {
        Some(vec![
            budget.name(f.at("feature").text()?),
            percent(f.at("share").number()?).into(),
            number_cell(f.at("best_with").number()),
            number_cell(f.at("best_without").number()),
        ])
    });
    let features: Vec<Vec<Cell>> = rows.collect();
    let columns = vec![words("feature"), numbers("in"), numbers("best with it"), numbers("best without it")];
    let note = "The share of these subsets that hold a feature, and the best objective among them with it and without it: what the feature is worth, as a range.";
    let table = Table { note, ..budget.table("Features of these subsets", columns, features.into_iter()) };
    let pairs = part.at("replacements").items().filter_map(|r| {
        let names = [budget.name(r.at("feature").text()?), budget.name(r.at("by").text()?)];
        Some(names.into_iter().chain([r.at("pairs").number()?.to_string().into()]).collect())
    });
    let columns = vec![words("feature"), words("can be replaced by"), numbers("pairs of subsets")];
    let pairs: Vec<Vec<Cell>> = pairs.collect();
    let replacements = (!pairs.is_empty())
        .then(|| Block::Table(budget.table("Which feature can take the place of which", columns, pairs.into_iter())));
    [Block::Finding(sentence_case(&sentence)), Block::Table(table)].into_iter().chain(replacements).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::near_sentence;

    #[test]
    fn a_list_says_what_it_holds_and_what_it_does_not() {
        let within = |subsets: u64, complete: bool, reached: Option<f64>| {
            json!({"within": 0.02, "threshold": 10.2, "subsets": subsets, "most": 5, "complete": complete,
                "complete_within": reached, "others": reached.map(|share| 10.0 * (1.0 + share))})
        };
        let say = |value: serde_json::Value, maximised| near_sentence(&value, maximised).expect("a sentence");
        let all = say(within(3, true, Some(0.02)), false);
        assert_eq!(
            all,
            "3 subsets are within 2.00 % of the best gain (an objective of at most 10.2000), and no others; this is proven"
        );
        assert!(say(within(1, true, None), true).starts_with("no other allowed subset is within 2.00 % of the best"));
        let cut = say(within(5, false, Some(0.01009)), false);
        assert!(cut.starts_with("more than the 5 that may be listed can be within 2.00 %"), "{cut}");
        assert!(cut.ends_with("those have at least 10.1009, so that the list holds all within 1.00 % of it"), "{cut}");
        let stopped = say(within(2, false, None), true);
        assert!(stopped.starts_with("others than the 2 subsets found can be within"), "{stopped}");
        assert!(stopped.ends_with("nothing is proven of those"), "{stopped}");
        assert_eq!(near_sentence(&json!(null), false), None);
    }
}
