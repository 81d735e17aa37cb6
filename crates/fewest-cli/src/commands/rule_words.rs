//! Rules in a few words.

use fewest::RuleList;
use fewest_data::Names;

use crate::args::notation;
use crate::export::table;

/// Rules of one kind that are spelt out; more are counted.
const SPELT_OUT: usize = 3;

/// Whether [`rule_words`] leaves out rules or names of features.
pub(crate) fn leaves_out(list: &RuleList) -> bool {
    let long = |group: &Vec<usize>| group.len() > notation::SOME;
    let groups = list.at_most.iter().chain(&list.at_least).map(|group| &group.1).chain(&list.together);
    let mut named = groups.chain([&list.require]).map(long).chain([list.forbid.len() > notation::SOME]);
    let kinds = [list.implies.len(), list.together.len(), list.at_most.len(), list.at_least.len()];
    named.any(|is_long| is_long) || kinds.iter().any(|count| *count > SPELT_OUT)
}

/// Each rule but those on weights; `size` are the words for the size rule, `selected` says how much
/// of a budget is used.
pub(crate) fn rule_words(list: &RuleList, all: &Names, size: Option<&str>, selected: &[usize]) -> Vec<String> {
    let names = |group: &[usize]| {
        let named: Vec<String> = group.iter().map(|&j| all.get(j).into_owned()).collect();
        notation::some(&named)
    };
    let mut parts: Vec<String> = size.map(str::to_owned).into_iter().collect();
    for (word, group) in [("require", &list.require), ("forbid", &list.forbid.iter().collect())] {
        if !group.is_empty() {
            parts.push(format!("{word} {}", names(group)));
        }
    }
    let counted = |words: &str, group: &(usize, Vec<usize>)| format!("{words} {} of {}", group.0, names(&group.1));
    let kinds: [(&str, Vec<String>); 4] = [
        ("implications", list.implies.iter().map(|&(a, b)| format!("{} needs {}", names(&[a]), names(&[b]))).collect()),
        ("groups together", list.together.iter().map(|g| format!("{} together", names(g))).collect()),
        ("at-most groups", list.at_most.iter().map(|g| counted("at most", g)).collect()),
        ("at-least groups", list.at_least.iter().map(|g| counted("at least", g)).collect()),
    ];
    for (kind, rules) in kinds {
        let more = rules.len().saturating_sub(SPELT_OUT);
        parts.extend(rules.into_iter().take(SPELT_OUT));
        if more > 0 {
            parts.push(format!("{more} more {kind}"));
        }
    }
    if let Some(budget) = list.budget {
        let used: f64 = selected.iter().map(|&j| list.costs[j]).sum();
        parts.push(match selected {
            [] => format!("budget {budget}"),
            _ => format!("budget {} of {budget}", table::brief(used)),
        });
    }
    parts
}
