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

/// Number without zeros at the end: for numbers that a user gave, and sums of them. Else as
/// [`number`].
pub fn brief(x: f64) -> String {
    let text = number(x);
    if text.contains('e') || !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A number with three significant digits.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || !(1e-3..1e6).contains(&x.abs()) {
        return if x == 0.0 { "0".to_owned() } else { format!("{x:.2e}") };
    }
    let digits = (2 - x.abs().log10().floor() as i32).clamp(0, 8);
    format!("{x:.*}", digits as usize)
}

/// Bound as [`number`], on the safe side to the digits shown: a bound on an objective that is
/// maximised is rounded up, one on an objective that is minimised down, so that what is printed is
/// proven, too.
pub fn bound(x: f64, maximised: bool) -> String {
    let size = x.abs();
    let magnitude = size.log10().floor();
    let place = if (1e-3..1e6).contains(&size) { (magnitude - 5.0).max(-8.0) } else { magnitude - 4.0 };
    let half = 0.5 * 10f64.powf(place);
    let proven = |text: &str| text.parse::<f64>().is_ok_and(|shown| if maximised { shown >= x } else { shown <= x });
    let towards = if maximised { half } else { -half };
    first_proven([0.0, 1.0, 2.0].map(|halves| number(x + halves * towards)), proven)
}

/// Groups of samples that stay together in folds and halves: those for which a column names the
/// same group.
pub fn groups(column: &str, count: u64) -> String {
    format!("samples of one {column} stay together ({})", plural(count, "group"))
}

/// The interval that a scaling brings features to, if it is one to a range: `[-1, 1]`.
pub(crate) fn range(scaling: &str) -> Option<String> {
    let ends = scaling.strip_prefix("range")?;
    let ends = if ends.is_empty() { "-1..1" } else { ends.strip_prefix(':')? };
    Some(format!("[{}]", ends.replace("..", ", ")))
}

/// A share in percent, with the digits that tell something.
pub fn percent(share: f64) -> String {
    let x = 100.0 * share;
    match x.abs() {
        0.0 => "0 %".to_owned(),
        size if (10.0..1e6).contains(&size) => format!("{x:.1} %"),
        size if (0.1..10.0).contains(&size) => format!("{x:.2} %"),
        size if (1e-4..0.1).contains(&size) => {
            let digits = (1.0 - size.log10().floor()) as usize;
            format!("{} %", format!("{x:.digits$}").trim_end_matches('0'))
        }
        _ => format!("{x:.1e} %"),
    }
}

/// A number above 0 with two digits, rounded up: for what is expected to be at most this.
pub fn expected(most: f64) -> String {
    let place = 10f64.powf(most.log10().floor() - 1.0);
    // A product of a count and a place has digits that are none: print those that were meant.
    let digits = (1.0 - most.log10().floor()).clamp(0.0, 17.0) as usize;
    format!("{:.digits$}", (most / place * (1.0 - 1e-12)).ceil() * place)
}

/// Share as [`percent`], rounded up to the digits shown: for what is claimed to be at most this.
pub fn at_most(share: f64) -> String {
    rounded(share, 1.0, |shown| shown >= share)
}

/// As [`percent`], rounded down to the digits shown: for what is claimed to be at least this.
pub(crate) fn at_least(share: f64) -> String {
    rounded(share, -1.0, |shown| shown <= share)
}

/// As [`percent`], up (1) or down (-1) until the share that the text says is `safe`.
fn rounded(share: f64, side: f64, safe: impl Fn(f64) -> bool) -> String {
    let size = (100.0 * share).abs();
    let place = match size {
        _ if (10.0..1e6).contains(&size) => -1.0,
        _ if (0.1..10.0).contains(&size) => -2.0,
        _ => size.log10().floor() - 1.0,
    };
    let half = side * 0.5 * 10f64.powf(place - 2.0);
    // The text is moved by two places as a decimal: a division by 100 would round once more.
    let proven = |text: &str| {
        let digits = text.trim_end_matches(" %");
        let (digits, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
        let exponent = exponent.parse::<i32>().unwrap_or(0) - 2;
        format!("{digits}e{exponent}").parse::<f64>().is_ok_and(&safe)
    };
    first_proven([0.0, 1.0, 2.0].map(|halves| percent(share + halves * half)), proven)
}

/// The first of the texts, each a step further on the safe side, that is proven; the last one where
/// none is.
fn first_proven(texts: [String; 3], proven: impl Fn(&str) -> bool) -> String {
    let [nearest, next, last] = texts;
    if proven(&nearest) {
        nearest
    } else if proven(&next) {
        next
    } else {
        last
    }
}

/// `|objective - bound| / |objective|`, 0 where they are the same, infinite where one of them is
/// not finite: how far an objective may be from the best one, relative to itself.
pub fn relative_gap(objective: f64, bound: f64) -> f64 {
    let gap = if objective == bound { 0.0 } else { (objective - bound).abs() / objective.abs() };
    if gap.is_finite() && objective.is_finite() { gap } else { f64::INFINITY }
}

/// Seconds, as long as they need to be.
pub fn seconds(x: f64) -> String {
    if x < 10.0 { format!("{x:.3} s") } else { format!("{x:.1} s") }
}

/// Problems that share the subset: how they were made of classes, and the number of tasks with the
/// column that names them.
pub fn problems(number: u64, multi_class: Option<&str>, tasks: Option<(u64, &str)>) -> String {
    let tasks = tasks.map(|(count, column)| format!("{count} tasks of {column}"));
    let of: Vec<String> = multi_class.map(str::to_owned).into_iter().chain(tasks).collect();
    format!("{number}, whose objectives add ({})", of.join("; "))
}

/// Steps of an elimination, and how many of them are those of exact trainings.
pub fn elimination_steps(steps: u64, certain: u64) -> String {
    if certain == steps {
        format!("{steps}, all certain")
    } else {
        format!("{steps}, {certain} of them certain, the others ties within the tolerance")
    }
}

/// What improved the subset of `fgm`: its detail `improved`.
pub fn improved(by: &str, smaller: u64, size: u64) -> String {
    let by = match by {
        "rfe" => "by SVM-RFE",
        "rankings" => "by the better of two rankings",
        "exchanges" => "by exchanges",
        "both" => "by SVM-RFE and exchanges",
        _ => "by nothing",
    };
    format!("{by} ({} of the smaller class, {})", plural(smaller, "sample"), plural(size, "feature"))
}

/// `1 feature`, `2 features`.
pub fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Names that [`some`] spells out.
pub const SOME: usize = 5;

/// The first few of many names.
pub fn some<T: AsRef<str>>(names: &[T]) -> String {
    let shown = names.iter().take(SOME).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if names.len() > SOME { format!("{shown}, ... ({} in all)", names.len()) } else { shown }
}

/// `any feature`, `any 5 features`.
fn any(max_features: u64) -> String {
    if max_features == 1 { "any feature".to_owned() } else { format!("any {max_features} features") }
}

/// Sentence for a gap of 0 where the objective is above the bound: both are as good as the
/// objective without features.
pub const NOTHING_GAINED: &str = "no allowed subset gains more than a billionth of the objective without features";

/// Facts that prove how good a subset is.
#[derive(Debug, Clone, Copy)]
pub struct Proof<'a> {
    /// Objective of the subset.
    pub objective: f64,
    /// Proven bound on the best objective, if any.
    pub bound: Option<f64>,
    /// The share of what features can gain that is left open, where there is a bound.
    pub gap: Option<f64>,
    /// Whether the objective is maximised.
    pub maximised: bool,
    /// Status of the run, by its name in the JSON.
    pub status: &'a str,
    /// Most features allowed, where that is a rule.
    pub max_features: Option<u64>,
    /// The classifiers that the bound holds for, where not for all: `no weight is larger than 5`.
    pub condition: Option<&'a str>,
}

impl Proof<'_> {
    /// The gap, 0 where rounding put the bound beyond the objective; nothing where no bound is
    /// proven.
    pub fn gap(&self) -> Option<f64> {
        let bound = self.bound.filter(|bound| bound.is_finite() && self.objective.is_finite())?;
        if self.is_beyond(bound) { Some(0.0) } else { self.gap.filter(|gap| gap.is_finite()) }
    }

    fn is_beyond(&self, bound: f64) -> bool {
        if self.maximised { bound <= self.objective } else { bound >= self.objective }
    }

    /// The gap in words, on one line.
    ///
    /// It says of the objective what the bound proves, and nothing of new samples.
    pub fn sentence(&self) -> String {
        let of = self.max_features.map_or_else(String::new, |k| format!(" of at most {}", plural(k, "feature")));
        let Some(gap) = self.gap() else {
            return "no bound is proven: a better subset may exist, and nothing says how much better".to_owned();
        };
        if gap == 0.0 && !self.bound.is_some_and(|bound| self.is_beyond(bound)) {
            return format!("{NOTHING_GAINED}{}", self.where_it_holds());
        }
        if gap == 0.0 {
            return format!("no allowed subset{of} is better: this one is proven best{}", self.where_it_holds());
        }
        let whose = self.max_features.map_or_else(|| "allowed features".to_owned(), any);
        let (gap, condition) = (at_most(gap), self.where_it_holds());
        format!("at most {gap} of what {whose} can gain is left out{condition}{}", self.why_open())
    }

    /// The condition, if any.
    fn where_it_holds(&self) -> String {
        self.condition.map_or_else(String::new, |condition| format!(", as long as {condition}"))
    }

    /// Why the gap was not closed, where a status tells.
    fn why_open(&self) -> &'static str {
        match self.status {
            "time_limit" => "; the time limit ended the search, with more time the bound may tighten",
            "call_limit" | "node_limit" => "; a limit ended the search, with more of it the bound may tighten",
            "memory_limit" => "; the memory limit ended the search, with more memory the bound may tighten",
            "cancelled" => "; the search was cancelled, with more time the bound may tighten",
            "stalled" => "; rounding, or a training that could not be ended, kept the bound from tightening further",
            _ => "",
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Proof, at_least, at_most, bound, brief, number, percent, relative_gap};

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

    /// The share that a text in percent says, as the decimal it is.
    fn share(text: &str) -> f64 {
        let digits = text.strip_suffix(" %").expect("a percentage");
        let (digits, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
        format!("{digits}e{}", exponent.parse::<i32>().expect("an exponent") - 2).parse().expect("a number")
    }

    #[test]
    fn gaps_are_rounded_up() {
        let texts = [0.506_16, 0.404_49, 0.012_345_6, 0.004_04, 0.000_999, 9.98e-5, 3.33e-6, 1.01e-9].map(at_most);
        let expected = ["50.7 %", "40.5 %", "1.24 %", "0.41 %", "0.1 %", "0.01 %", "0.00034 %", "1.1e-7 %"];
        assert_eq!(texts, expected);
        // What needs no rounding stays: these are not exact in binary.
        let exact = [0.004, 0.007, 0.07, 0.506, 1e-5, 0.0, 3.0].map(at_most);
        assert_eq!(exact, ["0.40 %", "0.70 %", "7.00 %", "50.6 %", "0.001 %", "0 %", "300.0 %"]);
    }

    #[test]
    fn bounds_are_rounded_away_from_the_objective() {
        assert_eq!([bound(402.864_56, false), bound(402.864_44, true)], ["402.864", "402.865"]);
        assert_eq!([bound(-402.864_44, false), bound(-402.864_56, true)], ["-402.865", "-402.864"]);
        assert_eq!([bound(0.3, false), bound(0.3, true), bound(0.0, false)], ["0.300000", "0.300000", "0"]);
        assert_eq!([bound(1.000_09e9, false), bound(1.000_01e9, true)], ["1.0000e9", "1.0001e9"]);
        assert_eq!([bound(999_999.96, true), bound(9.999_999_9, true)], ["1000000", "10.00000"]);
    }

    proptest! {
        #[test]
        fn no_claim_is_rounded_in_its_own_favour(size in -12.0..6.0f64, sign in any::<bool>()) {
            let x = if sign { 10f64.powf(size) } else { -10f64.powf(size) };
            let gap = x.abs();
            let shown = share(&at_most(gap));
            prop_assert!(shown >= gap && shown <= 1.101 * gap, "{} is shown as {}", gap, at_most(gap));
            let least = share(&at_least(gap));
            prop_assert!(least <= gap && least >= gap / 1.101, "{} is shown as {}", gap, at_least(gap));
            let nearest = share(&percent(gap));
            prop_assert!(nearest < gap || at_most(gap) == percent(gap), "{} needs no rounding", gap);
            for maximised in [false, true] {
                let text = bound(x, maximised);
                let shown: f64 = text.parse().expect("a number");
                prop_assert!(if maximised { shown >= x } else { shown <= x }, "{} is shown as {}", x, text);
                prop_assert!((shown - x).abs() <= 1.1e-4 * x.abs() + 2e-8, "{} is shown as {}", x, text);
            }
        }
    }

    #[test]
    fn gaps_that_are_no_numbers_prove_nothing() {
        assert_eq!(relative_gap(50.0, 49.0), 0.02);
        assert_eq!(relative_gap(1e-15, 0.5e-15), 0.5);
        assert_eq!((relative_gap(0.0, 0.0), relative_gap(0.0, 1e-10)), (0.0, f64::INFINITY));
        let proof = Proof {
            objective: 5.0,
            bound: Some(4.0),
            gap: None,
            maximised: false,
            status: "time_limit",
            max_features: None,
            condition: None,
        };
        for (objective, bound) in
            [(f64::NEG_INFINITY, f64::NEG_INFINITY), (f64::NAN, 1.0), (1.0, f64::NAN), (1.0, f64::NEG_INFINITY)]
        {
            assert_eq!(relative_gap(objective, bound), f64::INFINITY);
            let sentence = Proof { objective, bound: Some(bound), ..proof }.sentence();
            assert!(sentence.starts_with("no bound is proven"), "{sentence}");
        }
        let sentence = Proof { gap: Some(f64::INFINITY), ..proof }.sentence();
        assert!(sentence.starts_with("no bound is proven"), "{sentence}");
        assert_eq!(Proof { bound: Some(5.0 + 1e-12), ..proof }.gap(), Some(0.0));
    }

    #[test]
    fn the_gap_in_words_follows_the_sense() {
        let proof = Proof {
            objective: 50.0,
            bound: Some(49.8),
            gap: Some(0.004_000_1),
            maximised: false,
            status: "optimal",
            max_features: Some(5),
            condition: None,
        };
        assert_eq!(proof.sentence(), "at most 0.41 % of what any 5 features can gain is left out");
        let one = Proof { max_features: Some(1), ..proof };
        assert_eq!(one.sentence(), "at most 0.41 % of what any feature can gain is left out");
        let better =
            Proof { objective: 0.5, bound: Some(0.6), gap: Some(0.2), maximised: true, max_features: None, ..proof };
        assert_eq!(better.sentence(), "at most 20.0 % of what allowed features can gain is left out");
        let nothing = Proof { gap: Some(0.0), ..proof };
        assert!(nothing.sentence().starts_with("no allowed subset gains more than a billionth of"), "nothing to gain");
        let best = Proof { bound: Some(50.0), ..proof };
        assert_eq!(best.sentence(), "no allowed subset of at most 5 features is better: this one is proven best");
        let bounded = Proof { condition: Some("no weight is larger than 5"), ..best };
        assert!(bounded.sentence().ends_with("this one is proven best, as long as no weight is larger than 5"));
        assert!(Proof { bound: None, ..proof }.sentence().starts_with("no bound is proven"));
        assert!(Proof { status: "time_limit", ..proof }.sentence().contains("the time limit ended the search"));
    }
}
