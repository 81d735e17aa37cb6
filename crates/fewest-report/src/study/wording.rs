//! Words on a study that its page, its text and its part on methods share.

use crate::measures::measured;
use crate::read::Json;
use crate::words::{percent, plural};

/// What proofs and exchanges are about: the objective of a linear SVM, which is that of the
/// certificate where there is one.
pub(crate) fn judged(panel: Json<'_>) -> Json<'_> {
    if panel.at("certificate").is_there() { panel.at("certificate") } else { panel }
}

/// A share with its sign: an exchange may be better than a panel that is not proven best.
pub(crate) fn change(share: f64) -> String {
    if share < 0.0 { percent(share) } else { format!("+{}", percent(share)) }
}

/// `0.001 less`, of what is this much below another.
pub(crate) fn less(by: f64) -> String {
    match format!("{:.3}", by.abs()).as_str() {
        "0.000" => "the same to three digits".to_owned(),
        by_text => format!("{by_text} {}", if by > 0.0 { "less" } else { "more" }),
    }
}

/// How many outer folds were done, and how many were to be.
pub(crate) fn folds(result: Json<'_>) -> (u64, u64) {
    let count = |of: Json<'_>| of.count().unwrap_or(0);
    let (done, left) = (result.at("folds").items().len() as u64, count(result.at("effort").at("folds_left")));
    let [asked, repeats] = ["folds", "repeats"].map(|key| count(result.at("settings").at(key)));
    (done, (done + left).max(asked.saturating_mul(repeats)))
}

/// That the panel has the largest of the sizes that were tried, where larger ones are left; and the
/// size up to which others may be tried. None where there was no time to try any.
pub(crate) fn largest(result: Json<'_>) -> Option<(String, u64)> {
    let size = result.at("panel").at("max_features").count()?;
    let all = result.at("n_features").count()?;
    let tried = result.at("tried").items().len() > 0 && result.at("largest_size").0.as_bool() == Some(true);
    if !tried || size >= all {
        return None;
    }
    let words = format!("the largest number of features tried ({size}) was chosen; more may be better");
    Some((words, size.saturating_mul(2).min(all)))
}

/// Each method that was not tried, and why.
pub(crate) fn left_out(result: Json<'_>) -> Option<String> {
    let one = |of: Json<'_>| Some(format!("{}: {}", of.at("method").text()?, of.at("why").text()?));
    let all: Vec<String> = result.at("left_out").items().filter_map(one).collect();
    (!all.is_empty()).then(|| all.join("; "))
}

/// Two panels: the one in effect and the other one, with what to call that.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Panels<'a> {
    pub(crate) taken: Json<'a>,
    pub(crate) other: Json<'a>,
    /// The name in sentences, such as `smaller panel`.
    pub(crate) called: &'static str,
    /// How much more accurate the one in effect is, fold by fold.
    pub(crate) difference: Json<'a>,
    /// Whether both are the same on all samples.
    pub(crate) same: bool,
}

impl<'a> Panels<'a> {
    /// Panels of a study; none where there is no panel.
    pub(crate) fn of(result: Json<'a>) -> Option<Self> {
        let panels = result.at("panels");
        let (best, smallest) = (panels.at("best"), panels.at("smallest"));
        if !best.is_there() || !smallest.is_there() {
            return None;
        }
        let (taken, other) =
            if result.at("prefer").text() == Some("smallest") { (smallest, best) } else { (best, smallest) };
        let size = |of: Json<'_>| of.at("selected").items().len();
        let called = match size(other).cmp(&size(taken)) {
            std::cmp::Ordering::Less => "smaller panel",
            std::cmp::Ordering::Equal => "other panel",
            std::cmp::Ordering::Greater => "larger panel",
        };
        let key = |of: Json<'a>| ["selected", "method", "max_features", "fit_cost"].map(|key| of.at(key).0);
        Some(Self { taken, other, called, difference: panels.at("difference"), same: key(taken) == key(other) })
    }

    /// `5 features: a, b; accuracy 0.974 (0.962 to 0.986), 0.001 less (95 % interval -0.010 to
    /// 0.012)`; at most `most` names.
    pub(crate) fn line(&self, most: usize) -> String {
        let names = self.other.at("selected").texts();
        let more = if names.len() > most { format!(", ... ({} more)", names.len() - most) } else { String::new() };
        let listed = names[..names.len().min(most)].join(", ");
        let accuracy = measured(self.other.at("summary").at("accuracy"));
        let accuracy = accuracy.map_or_else(String::new, |accuracy| format!("; accuracy {accuracy}"));
        let lost = self.difference.at("mean").number().map_or_else(String::new, |by| {
            let between = self.difference.at("ci95").pair();
            format!(", {}{}", less(by), between.map_or_else(String::new, |ends| lost_between(by, ends)))
        });
        format!("{}: {listed}{more}{accuracy}{lost}", plural(names.len() as u64, "feature"))
    }
}

/// The interval of what is less, or, the other way round, more.
fn lost_between(by: f64, (low, high): (f64, f64)) -> String {
    let (from, to) = if by < 0.0 { (-high, -low) } else { (low, high) };
    format!(" (95 % interval {from:.3} to {to:.3})")
}

/// That the two panels are one.
pub(crate) fn one_panel(result: Json<'_>) -> &'static str {
    if result.at("status").text() == Some("completed") {
        "the smallest size that is as good inside the folds is what the rule takes: both panels are the same"
    } else {
        "within the time allowed, the smallest size that is as good inside the folds is what the rule takes"
    }
}
