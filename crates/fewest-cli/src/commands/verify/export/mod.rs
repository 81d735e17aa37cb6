//! `--export`: a checked proof as a pseudo-Boolean problem without a solution, and a cutting-plane
//! proof of that, for VeriPB.
//!
//! | file | subject |
//! | --- | --- |
//! | `files.rs` | where both go, and the head of the problem |
//! | `row.rs` | numbers as integers, rounded to the safe side |
//! | `rules.rs` | the rules as rows |
//! | `need.rs` | which decisions make a row false |
//! | `tree.rs` | the steps of the proof |
//!
//! docs/export.md has formats and argument.

mod files;
mod need;
mod row;
mod rules;
#[cfg(test)]
mod tests;
mod tree;

use std::collections::HashMap;
use std::io::Write;

use fewest_verify::{Choice, Dual, Error, Step, Told, Verdict};

pub(super) use files::{Files, notes};
use row::scale;
use rules::Rules;
use tree::{Numbered, Tree, numbered};

use crate::failure::Failure;

/// Passes after which the bound has found no room for the rounding of rows.
const TRIES: usize = 8;

/// A check of the proof, from its first record on, that tells what it does.
pub(super) type Pass<'p> = dyn FnMut(&mut Told<'_>) -> Result<Verdict, Error> + 'p;

/// What is exported.
#[derive(Debug, Clone)]
pub(super) struct Goal {
    /// No allowed subset that is not listed has an objective below it.
    pub(super) bound: f64,
    /// Units of rows in one of the objective, a power of two.
    scale: f64,
    /// Features of listed subsets.
    listed: Vec<Vec<usize>>,
    /// Points that close something.
    pub(super) points: u64,
    /// Lines above the problem.
    notes: Vec<String>,
}

/// Why nothing is exported.
pub(super) enum Refusal {
    /// The check did not end.
    Check(Error),
    /// Something else, in words.
    Failure(Failure),
}

impl Goal {
    /// Looks through the proof for what an export can state: the bound of the verdict, less the
    /// rounding of rows.
    ///
    /// # Errors
    /// A proof that has no export.
    pub(super) fn find(verdict: &Verdict, notes: Vec<String>, pass: &mut Pass<'_>) -> Result<Self, Refusal> {
        let refuse = |text: &str| Refusal::Failure(Failure::input(text));
        if verdict.rest == f64::NEG_INFINITY {
            return Err(refuse("--export: the proof has no bound, and nothing can be exported of it; leave it out"));
        }
        let listed: Vec<Vec<usize>> = verdict.listed.iter().map(|one| one.features.clone()).collect();
        let gain = match verdict.baseline - verdict.rest {
            gain if gain > 0.0 && gain.is_finite() => gain,
            _ => verdict.baseline.abs().max(f64::MIN_POSITIVE),
        };
        let mut goal = Self { bound: verdict.rest, scale: 1.0, listed, points: 0, notes };
        for _ in 0..TRIES {
            let missing = goal.look(gain, pass)?;
            if missing == 0 {
                return Ok(goal);
            }
            goal.bound = (goal.bound - (missing as f64 + 2.0) / goal.scale).next_down();
        }
        Err(refuse("--export: the bound has no room for the rounding of rows; leave --export out"))
    }

    /// A pass that writes nothing: what leaves miss, in units of rows.
    fn look(&mut self, gain: f64, pass: &mut Pass<'_>) -> Result<i128, Refusal> {
        let (mut problem, mut proof) = (std::io::sink(), std::io::sink());
        let first = self.points == 0;
        let mut writer =
            Writer { gain: Some(gain).filter(|_| first), ..Writer::new(self.clone(), &mut problem, &mut proof) };
        writer.run(pass)?;
        let missing = writer.tree.as_ref().map_or(0, |tree| tree.missing);
        (self.points, self.scale) = (writer.points, writer.goal.scale);
        self.bound = writer.goal.bound;
        Ok(missing)
    }

    /// Writes problem and proof.
    ///
    /// # Errors
    /// A check that ends in another way than before, a write that fails.
    pub(super) fn write(
        &self,
        problem: &mut dyn Write,
        proof: &mut dyn Write,
        pass: &mut Pass<'_>,
    ) -> Result<(), Refusal> {
        Writer::new(self.clone(), problem, proof).run(pass)
    }
}

/// Writes both files in one pass.
struct Writer<'w> {
    goal: Goal,
    /// Where the scale is still to be found: what features can gain.
    gain: Option<f64>,
    problem: &'w mut dyn Write,
    proof: Option<&'w mut dyn Write>,
    tree: Option<Tree<'w>>,
    /// The row of the last point, and its number in the proof.
    row: Option<(u64, Numbered)>,
    points: u64,
    fault: Option<std::io::Error>,
    other: Option<&'static str>,
}

impl<'w> Writer<'w> {
    fn new(goal: Goal, problem: &'w mut dyn Write, proof: &'w mut dyn Write) -> Self {
        Self {
            goal,
            gain: None,
            problem,
            proof: Some(proof),
            tree: None,
            row: None,
            points: 0,
            fault: None,
            other: None,
        }
    }

    fn run(&mut self, pass: &mut Pass<'_>) -> Result<(), Refusal> {
        pass(&mut |step| self.told(&step)).map_err(Refusal::Check)?;
        if let Some(name) = self.other {
            let text = format!("--export: the proof has records `{name}`, which have no export; leave --export out");
            return Err(Refusal::Failure(Failure::Input(text)));
        }
        let tree = self.tree.as_mut();
        let fault = tree.and_then(|tree| {
            tree.finish_file();
            tree.fault.take()
        });
        let fault = fault.or(self.fault.take());
        fault.map_or(Ok(()), |error| Err(Refusal::Failure(Failure::writing("--export", &error))))
    }

    fn told(&mut self, step: &Step<'_>) {
        match step {
            Step::Begin { units, rows, listed, root } => {
                self.begin(Rules::new(units, rows, listed, *root), root.is_none())
            }
            Step::Split { node, unit, states } => {
                if let Some(tree) = &mut self.tree {
                    tree.split(*node, *unit, states.map(|state| state.is_some()));
                }
            }
            Step::Close { node, state, dual } => {
                self.see(dual);
                if let (Some(tree), Some((_, row))) = (&mut self.tree, &self.row) {
                    tree.close(*node, state, row);
                }
            }
            Step::Fix { node, state, decisions, dual, next } => {
                self.see(dual);
                if let (Some(tree), Some((_, row))) = (&mut self.tree, &self.row) {
                    tree.fix(*node, state, decisions, row, next.is_none());
                }
            }
            Step::Other(name) => self.other = self.other.or(Some(name)),
        }
    }

    /// The head of both files.
    fn begin(&mut self, rules: Rules, empty: bool) {
        if let Some(gain) = self.gain {
            let alive = rules.root.iter().filter(|choice| **choice != Choice::Out).count();
            let roundings = rules.most.min(alive) + 2;
            self.goal.scale = scale(gain, roundings);
            self.goal.bound = (self.goal.bound - roundings as f64 / self.goal.scale).next_down();
        }
        let mut listed = HashMap::new();
        for features in &self.goal.listed {
            listed.insert(features.clone(), rules.rows + 1 + listed.len() as u64);
        }
        let constraints = rules.rows + listed.len() as u64 + self.goal.points;
        self.fault = self.head(&rules, constraints).err();
        if let Some(proof) = self.proof.take() {
            self.tree = Some(Tree::new(proof, rules, listed, constraints, empty));
        }
    }

    fn head(&mut self, rules: &Rules, constraints: u64) -> std::io::Result<()> {
        let out = &mut *self.problem;
        let variables = rules.units.iter().flatten().max().map_or(0, |last| last + 1);
        writeln!(out, "* #variable= {variables} #constraint= {constraints}")?;
        self.goal.notes.iter().try_for_each(|note| writeln!(out, "* {note}"))?;
        writeln!(out, "* bound: {:?}", self.goal.bound)?;
        writeln!(out, "* units of rows in one of the objective: {:?}", self.goal.scale)?;
        writeln!(
            out,
            "* {} rows of rules, {} of listed subsets, then those of points",
            rules.rows,
            self.goal.listed.len()
        )?;
        for unit in rules.units.iter().filter(|unit| unit.len() > 1) {
            let all: Vec<String> = unit.iter().map(|j| format!("x{}", j + 1)).collect();
            writeln!(out, "* x{} stands for {}, in or out together", unit[0] + 1, all.join(" "))?;
        }
        rules.write(out)?;
        for features in &self.goal.listed {
            let inside = |u: usize| features.binary_search(&rules.units[u][0]).is_ok();
            let clause: String = (0..rules.units.len()).map(|u| rules.literal(u, !inside(u))).collect();
            writeln!(out, "{clause}>= 1 ;")?;
        }
        Ok(())
    }

    /// Writes the row of a point, once.
    fn see(&mut self, dual: &Dual<'_>) {
        let Some(tree) = &self.tree else { return };
        if self.row.as_ref().is_some_and(|row| row.0 == dual.number) {
            return;
        }
        self.points += 1;
        let id = tree.rules.rows + self.goal.listed.len() as u64 + self.points;
        let row = numbered(dual, self.goal.bound, self.goal.scale, id);
        let terms = row.row.gains.iter().copied().enumerate().filter(|term| term.1 != 0);
        let line = format!("{}>= {} ;", tree.rules.terms(terms), row.row.right);
        if self.fault.is_none() {
            self.fault = writeln!(self.problem, "{line}").err();
        }
        self.row = Some((dual.number, row));
    }
}
