//! Numbers and sentences for people, the same on the page and in the terminal.

/// A number with six significant digits or so.
pub fn number(x: f64) -> String {
    if x == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e6).contains(&x.abs()) {
        format!("{x:.4e}")
    } else {
        let digits = (5 - x.abs().log10().floor() as i32).clamp(0, 8);
        format!("{x:.*}", digits as usize)
    }
}

/// As [`number`], without zeros at the end: for numbers that a user gave, and sums of them.
pub fn brief(x: f64) -> String {
    let text = number(x);
    if text.contains('e') || !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A share in percent, with the digits that tell something.
pub fn percent(share: f64) -> String {
    let x = 100.0 * share;
    match x.abs() {
        size if size >= 10.0 => format!("{x:.1} %"),
        size if size >= 0.1 => format!("{x:.2} %"),
        0.0 => "0 %".to_owned(),
        size if size >= 1e-4 => {
            let digits = (1.0 - size.log10().floor()) as usize;
            format!("{} %", format!("{x:.digits$}").trim_end_matches('0'))
        }
        _ => format!("{x:.1e} %"),
    }
}

/// As [`percent`], never less than the share: for what is claimed to be at most this.
pub fn at_most(share: f64) -> String {
    let text = percent(share);
    let shown: f64 = text.trim_end_matches(" %").parse().unwrap_or(0.0);
    // Rounding of the share itself is no reason to claim less.
    if shown >= 100.0 * share * (1.0 - 1e-9) {
        text
    } else {
        percent(share + 10f64.powf((100.0 * share).log10().floor() - 1.0).min(0.1) / 100.0)
    }
}

/// Seconds, as long as they need to be.
pub fn seconds(x: f64) -> String {
    if x < 10.0 { format!("{x:.3} s") } else { format!("{x:.1} s") }
}

/// `1 feature`, `2 features`.
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// What is known of how good a subset is.
#[derive(Debug, Clone, Copy)]
pub struct Proof<'a> {
    /// Objective of the subset.
    pub objective: f64,
    /// Proven bound on the best objective, if any.
    pub bound: Option<f64>,
    /// Whether the objective is maximised.
    pub maximised: bool,
    /// Status of the run, by its name in the JSON.
    pub status: &'a str,
    /// Most features allowed, where that is a rule.
    pub max_features: Option<u64>,
}

impl Proof<'_> {
    /// The gap in words, on one line.
    ///
    /// It says of the objective what the bound proves, and nothing of new samples.
    pub fn sentence(&self) -> String {
        let of = self.max_features.map_or_else(String::new, |k| format!(" of at most {}", plural(k, "feature")));
        let Some(bound) = self.bound else {
            return "no bound is proven: a better subset may exist, and nothing says how much better".to_owned();
        };
        let room = if self.maximised { bound - self.objective } else { self.objective - bound };
        let gap = room.max(0.0) / self.objective.abs().max(1e-10);
        let why = match self.status {
            "time_limit" => "; the time limit ended the search, with more time the bound may tighten",
            "call_limit" | "node_limit" => "; a limit ended the search, with more of it the bound may tighten",
            "cancelled" => "; the search was cancelled, with more time the bound may tighten",
            "stalled" => "; rounding kept the search from tightening the bound further",
            _ => "",
        };
        if gap == 0.0 {
            return format!("no allowed subset{of} is better: this one is proven best");
        }
        format!("no allowed subset{of} can be better by more than {}{why}", at_most(gap))
    }
}

#[cfg(test)]
mod tests {
    use super::{Proof, at_most, brief, number, percent};

    #[test]
    fn numbers_keep_their_digits() {
        assert_eq!([number(49.68261), number(-0.01234567), number(1e9)], ["49.6826", "-0.0123457", "1.0000e9"]);
        let briefs = [brief(9.0), brief(0.3), brief(1200.0), brief(2e9), brief(0.0), brief(1.0 / 3.0)];
        assert_eq!(briefs, ["9", "0.3", "1200", "2.0000e9", "0", "0.333333"]);
        assert_eq!(
            [percent(0.417), percent(0.004), percent(1e-4), percent(0.0)],
            ["41.7 %", "0.40 %", "0.01 %", "0 %"]
        );
        assert_eq!(
            [percent(-0.0123), percent(9.98e-5), percent(1.5e-6), percent(1e-9)],
            ["-1.23 %", "0.01 %", "0.00015 %", "1.0e-7 %"]
        );
    }

    #[test]
    fn what_is_claimed_is_not_rounded_down() {
        for share in [0.40449, 0.0123456, 0.00404, 0.000_999, 9.98e-5, 1.23e-5, 3.33e-6] {
            let shown: f64 = at_most(share).trim_end_matches(" %").parse().unwrap();
            assert!(shown >= 100.0 * share && shown <= 112.0 * share, "{share}: {shown}");
        }
    }

    #[test]
    fn the_gap_in_words_follows_the_sense() {
        let proof =
            Proof { objective: 50.0, bound: Some(49.8), maximised: false, status: "optimal", max_features: Some(5) };
        assert_eq!(proof.sentence(), "no allowed subset of at most 5 features can be better by more than 0.40 %");
        let better = Proof { objective: 0.5, bound: Some(0.6), maximised: true, max_features: None, ..proof };
        assert_eq!(better.sentence(), "no allowed subset can be better by more than 20.0 %");
        let best = Proof { bound: Some(50.0), ..proof };
        assert_eq!(best.sentence(), "no allowed subset of at most 5 features is better: this one is proven best");
        assert!(Proof { bound: None, ..proof }.sentence().starts_with("no bound is proven"));
        assert!(Proof { status: "time_limit", ..proof }.sentence().contains("the time limit ended the search"));
    }
}
