//! The rules of a proof as rows of integers.

use std::collections::HashSet;
use std::io::{Result, Write};

use fewest_verify::{Choice, UnitRow};

use super::row::rule;

/// Rules, and the numbers of their rows in the exported problem.
pub(super) struct Rules {
    /// The features of each unit.
    pub(super) units: Vec<Vec<usize>>,
    /// What the rules alone decide, by unit, and the row or step that says so.
    pub(super) root: Vec<Choice>,
    pub(super) decided: Vec<Option<u64>>,
    /// The most features; all where there is no such rule.
    pub(super) most: usize,
    /// The row on the number of features, where there is one.
    pub(super) size: Option<u64>,
    /// Rows: numbers from 1 to this one.
    pub(super) rows: u64,
    /// Whether there are others than that on the number of features.
    pub(super) others: bool,
    lines: Vec<String>,
    /// Units by variable.
    order: Vec<usize>,
}

impl Rules {
    pub(super) fn new(
        units: &[Vec<usize>],
        rows: &[UnitRow<'_>],
        listed: &[(usize, Choice)],
        root: Option<&[Choice]>,
    ) -> Self {
        let features: usize = units.iter().map(Vec::len).sum();
        let mut rules = Self {
            units: units.to_vec(),
            root: root.map_or_else(|| vec![Choice::Free; units.len()], <[Choice]>::to_vec),
            decided: vec![None; units.len()],
            most: rows.last().map_or(features, |row| (row.0 as usize).min(features)),
            size: None,
            rows: 0,
            others: false,
            lines: Vec::new(),
            order: (0..units.len()).collect(),
        };
        rules.order.sort_unstable_by_key(|unit| units[*unit][0]);
        let mut seen = HashSet::new();
        for (at, row) in rows.iter().enumerate() {
            let (left, right) = rule(row.0, row.1);
            let line = format!("{}>= {right} ;", rules.terms(left.iter().copied()));
            let last = at + 1 == rows.len();
            let number = rules.lines.iter().position(|other| *other == line).map(|at| at as u64 + 1);
            let least: i128 = left.iter().map(|term| term.1.min(0)).sum();
            if least >= right || (!last && number.is_some()) {
                continue;
            }
            rules.others |= !last && rows.last().is_some_and(|size| size.1 != row.1 || size.0 != row.0);
            let number = number.unwrap_or_else(|| rules.push(line));
            rules.size = if last { Some(number) } else { None };
        }
        for &(unit, choice) in listed {
            if seen.insert(unit) || root.is_none() {
                let line = format!("{}>= 1 ;", rules.literal(unit, choice == Choice::In));
                rules.decided[unit] = Some(rules.push(line));
            }
        }
        rules
    }

    fn push(&mut self, line: String) -> u64 {
        self.lines.push(line);
        self.rows += 1;
        self.rows
    }

    /// The variable of a unit: the number of its first feature, from 1.
    pub(super) fn variable(&self, unit: usize) -> usize {
        self.units[unit][0] + 1
    }

    /// `1 x3 ` or `1 ~x3 `.
    pub(super) fn literal(&self, unit: usize, inside: bool) -> String {
        format!("1 {}x{} ", if inside { "" } else { "~" }, self.variable(unit))
    }

    /// Terms of all units whose number is not 0.
    pub(super) fn all_terms(&self, numbers: &[i64]) -> String {
        use std::fmt::Write;
        let mut out = String::with_capacity(16 * numbers.len());
        for &unit in self.order.iter().filter(|unit| numbers[**unit] != 0) {
            let _ = write!(out, "{} x{} ", numbers[unit], self.variable(unit));
        }
        if out.is_empty() { "0 x1 ".to_owned() } else { out }
    }

    /// `5 x3 -2 x4 `; a term of nothing where there is none.
    pub(super) fn terms<N: std::fmt::Display>(&self, terms: impl Iterator<Item = (usize, N)>) -> String {
        use std::fmt::Write;
        let mut out = String::new();
        let mut terms: Vec<_> = terms.map(|(unit, number)| (self.variable(unit), number)).collect();
        terms.sort_unstable_by_key(|term| term.0);
        for (variable, number) in terms {
            let _ = write!(out, "{number} x{variable} ");
        }
        if out.is_empty() { "0 x1 ".to_owned() } else { out }
    }

    pub(super) fn write(&self, out: &mut dyn Write) -> Result<()> {
        self.lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}
