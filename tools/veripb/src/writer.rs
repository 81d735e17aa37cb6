//! Problem and proof, written in one pass over the steps of a check.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;

use fewest_cli::Failure;
use fewest_verify::{Choice, Dual, Step};

use super::goal::{Goal, Pass, Refusal, cannot_write};
use super::row::{Row, gain, scale};
use super::rules::Rules;
use super::tree::{Beyond, Numbered, Tree};

/// Writes both files in one pass.
pub(super) struct Writer<'w> {
    pub(super) goal: Goal,
    /// Where the scale is still to be found: what features can gain.
    pub(super) gain: Option<f64>,
    /// Whether nothing is written.
    pub(super) dry: bool,
    problem: &'w mut dyn Write,
    proof: Option<&'w mut dyn Write>,
    tree: Option<Tree<'w>>,
    /// The row of the last point, and its number in the proof.
    row: Option<(u64, Numbered)>,
    pub(super) points: u64,
    /// What new variables mean.
    pub(super) meanings: Vec<(usize, String)>,
    /// Features, and the variable that says that weights are within the last bounds.
    features: usize,
    level: Option<usize>,
    fault: Option<std::io::Error>,
    /// Whether there is a record that has no export.
    other: bool,
}

impl<'w> Writer<'w> {
    pub(super) fn new(goal: Goal, problem: &'w mut dyn Write, proof: &'w mut dyn Write) -> Self {
        Self {
            goal,
            gain: None,
            dry: false,
            problem,
            proof: Some(proof),
            tree: None,
            row: None,
            points: 0,
            meanings: Vec::new(),
            features: 0,
            level: None,
            fault: None,
            other: false,
        }
    }

    pub(super) fn run(&mut self, pass: &mut Pass<'_>) -> Result<(), Refusal> {
        pass(&mut |step| self.on_step(&step)).map_err(Refusal::Check)?;
        if self.other {
            let text = "the proof bounds weights within its tree, which has no export";
            return Err(Refusal::Failure(Failure::Input(text.to_owned())));
        }
        let tree = self.tree.as_mut();
        let fault = tree.and_then(|tree| {
            tree.finish_file();
            tree.fault.take()
        });
        let fault = fault.or(self.fault.take());
        fault.map_or(Ok(()), |error| Err(Refusal::Failure(cannot_write(&error))))
    }

    fn on_step(&mut self, step: &Step<'_>) {
        match step {
            Step::Begin { units, rows, listed, root } => {
                self.begin(Rules::new(units, rows, listed, *root), root.is_none());
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
            Step::Tighten { node, state, dual, parts } => self.tighten(*node, state, dual, parts),
        }
    }

    /// What the leaf that is farthest from false misses.
    pub(super) fn missing(&self) -> i128 {
        self.tree.as_ref().map_or(0, |tree| tree.missing)
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
        self.features = rules.units.iter().flatten().max().map_or(0, |last| last + 1);
        self.fault = self.head(&rules, constraints).err();
        if let Some(proof) = self.proof.take() {
            self.tree = Some(Tree::new(proof, rules, listed, constraints, empty));
        }
    }

    fn head(&mut self, rules: &Rules, constraints: u64) -> std::io::Result<()> {
        let out = &mut *self.problem;
        let variables = self.features + self.goal.meanings.len();
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
        for (variable, meaning) in &self.goal.meanings {
            writeln!(out, "* x{variable} = {meaning}")?;
        }
        rules.write(out)?;
        for features in &self.goal.listed {
            let inside = |u: usize| features.binary_search(&rules.units[u][0]).is_ok();
            let clause: String = (0..rules.units.len()).map(|u| rules.literal(u, !inside(u))).collect();
            writeln!(out, "{clause}>= 1 ;")?;
        }
        Ok(())
    }

    /// A row of the problem after its head; its number in the proof.
    fn line(&mut self, line: &str) -> u64 {
        self.points += 1;
        if self.fault.is_none() {
            self.fault = writeln!(self.problem, "{line}").err();
        }
        let rules = self.tree.as_ref().map_or(0, |tree| tree.rules.rows);
        rules + self.goal.listed.len() as u64 + self.points
    }

    /// A row of a point with more terms; it need not hold where weights are beyond the last bounds.
    fn point(&mut self, row: Row, more: &str, least: i128) -> Numbered {
        if self.dry {
            return Numbered { row, id: self.line("") };
        }
        let terms = self.tree.as_ref().map_or_else(String::new, |tree| tree.rules.all_terms(&row.gains));
        let most = (i128::from(row.right) - least).max(0);
        let within = self.level.map_or_else(String::new, |level| format!("{most} ~x{level} "));
        let id = self.line(&format!("{terms}{more}{within}>= {} ;", row.right));
        Numbered { row, id }
    }

    /// Writes the row of a point, once.
    fn see(&mut self, dual: &Dual) {
        if self.row.as_ref().is_none_or(|row| row.0 != dual.number) {
            let row = Row::new(dual, self.goal.bound, self.goal.scale);
            let least = row.least();
            self.row = Some((dual.number, self.point(row, "", least)));
        }
    }

    /// A new variable.
    fn variable(&mut self, meaning: String) -> usize {
        let number = self.features + self.meanings.len() + 1;
        self.meanings.push((number, meaning));
        number
    }

    /// New bounds on weights: one variable for each says that it is exceeded, another that none is.
    fn tighten(&mut self, node: u64, state: &[Choice], dual: &Dual, parts: &[(usize, f64, f64)]) {
        let Some(tree) = &self.tree else { return };
        if node != 0 || !tree.is_first(node) {
            // A box that is done needs nothing.
            self.other |= node != 0 || tree.end.is_none();
            return;
        }
        let row = Row::plain(dual, self.goal.bound, self.goal.scale);
        let units = tree.rules.units.clone();
        // No row asks for more than this.
        let all: i128 =
            row.gains.iter().map(|gain| i128::from((*gain).max(0))).sum::<i128>() + i128::from(row.right).abs();
        let (mut beyond, mut terms, mut least) = (Vec::new(), String::new(), row.least());
        for &(j, to, value) in parts {
            let unit = units.iter().position(|unit| unit.contains(&j)).unwrap_or(0);
            let gains = i128::from(row.gains[unit]);
            // Two features of a unit may both be beyond: their rounding adds.
            let room = if units[unit].len() > 1 { 2 + (gains.abs() >> 40) } else { 0 };
            let less = match value {
                f64::INFINITY => all + 1,
                value => gains - i128::from(gain(value, self.goal.scale)) - room,
            };
            let less = less.clamp(0, all + 1);
            let variable = self.variable(format!("the weight of x{} is above {to:?} in size", j + 1));
            let inside = self.line(&format!("1 x{} 1 ~x{variable} >= 1 ;", units[unit][0] + 1));
            let _ = write!(terms, "-{less} x{variable} ");
            least -= less;
            beyond.push(Beyond { variable, unit, inside, less });
        }
        let row = self.point(row, &terms, least);
        let within = self.variable("weights are within all bounds of this size so far".to_owned());
        let any: Vec<String> = beyond.iter().map(|part| format!("1 x{} ", part.variable)).collect();
        let any = any.concat();
        let before = self.level.map_or_else(String::new, |level| format!("1 ~x{level} "));
        let level = (within, self.line(&format!("1 x{within} {any}{before}>= 1 ;")));
        if let Some(tree) = &mut self.tree {
            tree.tighten(state, &row, &beyond, level);
        }
        (self.level, self.row) = (Some(within), None);
    }
}
