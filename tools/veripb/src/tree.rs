//! The tree of a proof as steps of a cutting-plane proof.
//!
//! A box is the clause that not all decisions leading to it hold. A leaf's clause follows from its
//! row plus a multiple of the row on the number of features (`pol`), which the decisions make false
//! (`rup`). A box that is split follows from its two children. What a `fix` decides is a clause
//! too, written where a later step needs it.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;

use fewest_verify::Choice;

use super::need::{Cover, Literal, Need, factor_of_part, factors};
use super::row::{Row, sorted};
use super::rules::Rules;

/// Why a clause holds once the decisions it needs do.
#[derive(Debug, Clone, Copy)]
enum Reason {
    /// A row, plus a multiple of the row on the number of features.
    Row { row: u64, factor: i64 },
    /// A subset that is listed.
    Listed(u64),
    /// The rules.
    Rules,
}

/// Decisions of one record that hold for the same reason.
struct Group {
    reason: Reason,
    need: Need,
}

/// What a record decided: by decision its group, and the clause once it is written.
#[derive(Default)]
struct Fix {
    groups: Vec<Group>,
    of: HashMap<Literal, (usize, Option<u64>)>,
}

/// A box that is not done.
struct Node {
    parent: Option<u64>,
    path: Vec<Literal>,
    fixes: Vec<Fix>,
    /// Sums of rows that were written, and all constraints that go with the box.
    sums: HashMap<(u64, i64), u64>,
    ids: Vec<u64>,
    /// Clauses of children.
    done: Vec<u64>,
}

/// That the weight of a feature is beyond a new bound.
pub(super) struct Beyond {
    /// It has a variable.
    pub(super) variable: usize,
    pub(super) unit: usize,
    /// The row that the unit is in then.
    pub(super) inside: u64,
    /// How much smaller the left side of the record's row is then.
    pub(super) less: i128,
}

/// The row of a point in the exported problem.
pub(super) struct Numbered {
    pub(super) row: Row,
    pub(super) id: u64,
}

/// The tree as far as it is open.
pub(super) struct Tree<'w> {
    pub(super) out: &'w mut dyn Write,
    pub(super) rules: Rules,
    /// The clauses of listed subsets, by their features.
    pub(super) listed: HashMap<Vec<usize>, u64>,
    nodes: HashMap<u64, Node>,
    made: u64,
    /// The last constraint.
    last: u64,
    /// The contradiction, once there is one.
    pub(super) end: Option<u64>,
    /// The clauses that weights are within the bounds of tightenings, which rows rest on.
    pub(super) levels: Vec<u64>,
    /// The most that any leaf misses.
    pub(super) missing: i128,
    /// Why no more was written.
    pub(super) fault: Option<std::io::Error>,
}

impl<'w> Tree<'w> {
    /// The proof's first lines; `constraints` are those of the problem.
    pub(super) fn new(
        out: &'w mut dyn Write,
        rules: Rules,
        listed: HashMap<Vec<usize>, u64>,
        constraints: u64,
        empty: bool,
    ) -> Self {
        let root = Node {
            parent: None,
            path: Vec::new(),
            fixes: Vec::new(),
            sums: HashMap::new(),
            ids: Vec::new(),
            done: Vec::new(),
        };
        let nodes = HashMap::from([(0, root)]);
        let mut tree = Self {
            out,
            rules,
            listed,
            nodes,
            made: 0,
            last: constraints,
            end: None,
            levels: Vec::new(),
            missing: 0,
            fault: None,
        };
        tree.line(&format!("pseudo-Boolean proof version 3.0\nf {constraints};"));
        if empty {
            let hints: Vec<u64> = (1..=tree.rules.rows).collect();
            let clause = tree.rup(&[], &hints);
            tree.finish(0, clause);
        } else {
            tree.follow_rules();
        }
        tree
    }

    /// Units that follow from the rules alone.
    fn follow_rules(&mut self) {
        for unit in 0..self.rules.root.len() {
            if self.rules.root[unit] == Choice::Free || self.rules.decided[unit].is_some() {
                continue;
            }
            let inside = self.rules.root[unit] == Choice::In;
            let hints: Vec<u64> = (1..=self.rules.rows).collect();
            self.rules.decided[unit] = Some(self.rup(&[Literal { unit, inside }], &hints));
        }
    }

    fn line(&mut self, text: &str) {
        if self.fault.is_none() {
            self.fault = writeln!(self.out, "{text}").err();
        }
    }

    /// The clause that one of these literals holds.
    fn rup(&mut self, clause: &[Literal], hints: &[u64]) -> u64 {
        let text: String = clause.iter().map(|literal| self.rules.literal(literal.unit, literal.inside)).collect();
        self.rup_text(&text, hints)
    }

    fn rup_text(&mut self, clause: &str, hints: &[u64]) -> u64 {
        let mut text = format!("rup {clause}>= 1 : ~");
        for hint in hints {
            let _ = write!(text, " {hint}");
        }
        self.line(&(text + ";"));
        self.last += 1;
        self.last
    }

    fn delete(&mut self, ids: &[u64]) {
        if !ids.is_empty() {
            let all: Vec<String> = ids.iter().map(u64::to_string).collect();
            self.line(&format!("del id {};", all.join(" ")));
        }
    }

    /// The box is split by a unit that is in, then out; none where a child is empty.
    pub(super) fn split(&mut self, node: u64, unit: usize, states: [bool; 2]) {
        let children = [self.made + 1, self.made + 2];
        self.made += 2;
        let Some(open) = self.nodes.get(&node) else { return };
        let path = open.path.clone();
        for ((child, inside), holds) in children.into_iter().zip([true, false]).zip(states) {
            let mut path = path.clone();
            path.push(Literal { unit, inside });
            let of = Node {
                parent: Some(node),
                path,
                fixes: Vec::new(),
                sums: HashMap::new(),
                ids: Vec::new(),
                done: Vec::new(),
            };
            self.nodes.insert(child, of);
            if !holds {
                let against = Literal { unit, inside: !inside };
                let known = self.rules.decided[unit].is_some() || self.find(node, usize::MAX, against).is_some();
                let need = if known { Need::These(vec![against]) } else { Need::Rules };
                self.conclude(child, &Group { reason: Reason::Rules, need });
            }
        }
    }

    /// Whether a box is open, and nothing was split.
    pub(super) fn is_first(&self, node: u64) -> bool {
        self.made == 0 && self.nodes.contains_key(&node)
    }

    /// All weights are within new bounds: `parts` are those that are not, `level` says that one of
    /// them is there if they are not.
    pub(super) fn tighten(&mut self, state: &[Choice], row: &Numbered, parts: &[Beyond], level: (usize, u64)) {
        let mut clauses = Vec::new();
        for part in parts {
            let group = self.beyond(state, row, part);
            let mut hints = vec![part.inside];
            hints.extend(self.hints(0, usize::MAX, &group));
            clauses.push(self.rup_text(&format!("1 ~x{} ", part.variable), &hints));
        }
        let mut hints = self.levels.clone();
        hints.extend(&clauses);
        hints.push(level.1);
        let within = self.rup_text(&format!("1 x{} ", level.0), &hints);
        self.levels.push(within);
        self.delete(&clauses);
    }

    /// Why no weight of a feature is beyond its new bound.
    fn beyond(&mut self, state: &[Choice], row: &Numbered, part: &Beyond) -> Group {
        let inside = Literal { unit: part.unit, inside: true };
        let free = sorted(&row.row, (0..state.len()).filter(|&u| state[u] == Choice::Free));
        let factor = match state[part.unit] {
            Choice::Out => return Group { reason: Reason::Rules, need: Need::These(vec![inside.other()]) },
            Choice::In => Some(factors(&self.rules, &row.row, state)[0]),
            Choice::Free => factor_of_part(&self.rules, &row.row, state, &free, inside),
        };
        let Some(factor) = factor else { return Group { reason: Reason::Rules, need: Need::Rules } };
        let cover = Cover::new(&self.rules, &row.row, state, &[], factor);
        let lowers = cover.lowers(inside) + part.less;
        match cover.missing(lowers) {
            0 => Group { reason: Reason::Row { row: row.id, factor }, need: Need::These(cover.need(lowers)) },
            missing => {
                self.missing = self.missing.max(missing);
                Group { reason: Reason::Rules, need: Need::All }
            }
        }
    }

    /// The box is closed by a row.
    pub(super) fn close(&mut self, node: u64, state: &[Choice], row: &Numbered) {
        let Some(open) = self.nodes.get(&node) else { return };
        let path = open.path.clone();
        let of = |factor| (factor, Cover::new(&self.rules, &row.row, state, &path, factor));
        let covers = factors(&self.rules, &row.row, state).map(of);
        let missing = covers.iter().map(|cover| cover.1.missing(0)).min().unwrap_or(0);
        let fits = covers.iter().filter(|cover| cover.1.missing(0) == 0);
        let needs = fits.map(|(factor, cover)| (*factor, cover.need(0)));
        let group = match needs.min_by_key(|need| need.1.len()) {
            Some((factor, need)) => Group { reason: Reason::Row { row: row.id, factor }, need: Need::These(need) },
            None => self.listed_or_missing(state, None, missing),
        };
        self.conclude(node, &group);
    }

    /// Why a part is empty that no row closes: its one subset is listed, or this is missing.
    fn listed_or_missing(&mut self, state: &[Choice], part: Option<Literal>, missing: i128) -> Group {
        let held = |u: usize| part.filter(|part| part.unit == u).map_or(state[u] == Choice::In, |part| part.inside);
        let free = |u: usize| state[u] == Choice::Free && part.is_none_or(|part| part.unit != u);
        let mut features: Vec<usize> =
            (0..state.len()).filter(|u| held(*u)).flat_map(|u| self.rules.units[u].iter().copied()).collect();
        features.sort_unstable();
        let listed = self.listed.get(&features).filter(|_| !(0..state.len()).any(free));
        let reason = listed.map(|id| Reason::Listed(*id));
        if reason.is_none() {
            self.missing = self.missing.max(missing.max(1));
        }
        Group { reason: reason.unwrap_or(Reason::Rules), need: Need::All }
    }

    /// Parts of a box are closed by a row; `empty`: nothing is left of it then.
    pub(super) fn fix(
        &mut self,
        node: u64,
        state: &[Choice],
        decisions: &[(usize, Choice)],
        row: &Numbered,
        empty: bool,
    ) {
        let Some(open) = self.nodes.get(&node) else { return };
        let path = open.path.clone();
        let parts = decisions.iter().map(|&(unit, choice)| Literal { unit, inside: choice != Choice::In });
        let parts: Vec<Literal> = parts.filter(|part| !part.other().is(state[part.unit])).collect();
        let fix = self.groups(state, &path, &parts, row);
        if let Some(open) = self.nodes.get_mut(&node) {
            open.fixes.push(fix);
        }
        if empty {
            self.conclude(node, &Group { reason: Reason::Rules, need: Need::All });
        }
    }

    /// The parts that a record closes, those with the same multiple together.
    fn groups(&mut self, state: &[Choice], path: &[Literal], parts: &[Literal], row: &Numbered) -> Fix {
        let free = sorted(&row.row, (0..state.len()).filter(|&u| state[u] == Choice::Free));
        let (mut fix, mut by_factor) = (Fix::default(), HashMap::<i64, Vec<Literal>>::new());
        for &part in parts {
            match factor_of_part(&self.rules, &row.row, state, &free, part) {
                Some(factor) => by_factor.entry(factor).or_default().push(part),
                None => fix.add(Group { reason: Reason::Rules, need: Need::Rules }, &[part]),
            }
        }
        let mut by_factor: Vec<_> = by_factor.into_iter().collect();
        by_factor.sort_unstable_by_key(|group| group.0);
        for (factor, parts) in by_factor {
            let cover = Cover::new(&self.rules, &row.row, state, path, factor);
            let lowers = |part: &Literal| cover.lowers(*part);
            let (fits, rest): (Vec<Literal>, Vec<Literal>) =
                parts.into_iter().partition(|part| cover.missing(lowers(part)) == 0);
            if let Some(least) = fits.iter().map(lowers).min() {
                let need = Need::These(cover.need(least));
                fix.add(Group { reason: Reason::Row { row: row.id, factor }, need }, &fits);
            }
            let rest: Vec<_> = rest.into_iter().map(|part| (part, cover.missing(lowers(&part)))).collect();
            for (part, missing) in rest {
                let group = self.listed_or_missing(state, Some(part), missing);
                fix.add(group, &[part]);
            }
        }
        fix
    }

    /// Writes the clause of a box, and what it needs.
    fn conclude(&mut self, node: u64, group: &Group) {
        let hints = self.hints(node, usize::MAX, group);
        let Some(open) = self.nodes.get(&node) else { return };
        let clause: Vec<Literal> = open.path.iter().map(|literal| literal.other()).collect();
        let clause = self.rup(&clause, &hints);
        self.finish(node, clause);
    }

    /// The box is done; so are those above whose children are.
    fn finish(&mut self, mut node: u64, mut clause: u64) {
        while let Some(done) = self.nodes.remove(&node) {
            self.delete(&done.ids);
            let Some(parent) = done.parent else {
                self.end = Some(clause);
                return;
            };
            let Some(above) = self.nodes.get_mut(&parent) else { return };
            above.done.push(clause);
            if above.done.len() < 2 {
                return;
            }
            let (both, path) = (above.done.clone(), above.path.clone());
            let path: Vec<Literal> = path.iter().map(|literal| literal.other()).collect();
            clause = self.rup(&path, &both);
            self.delete(&both);
            node = parent;
        }
    }

    /// The constraints that show a group's claim, given the decisions that lead to the box; those of
    /// its first `before` records may be used.
    fn hints(&mut self, node: u64, before: usize, group: &Group) -> Vec<u64> {
        let mut hints = Vec::new();
        let mut rules = !matches!(group.need, Need::These(_));
        if let Need::These(need) = &group.need {
            for &literal in need {
                rules |= !self.add_hint(node, before, literal, &mut hints);
            }
        }
        if rules {
            self.add_all(node, before, matches!(group.need, Need::All), &mut hints);
        }
        match group.reason {
            Reason::Row { row, factor } => {
                hints.extend(&self.levels);
                hints.push(self.sum(node, row, factor));
            }
            Reason::Listed(id) => hints.push(id),
            Reason::Rules => {}
        }
        hints
    }

    /// Adds what decides a unit; false where the rules do.
    fn add_hint(&mut self, node: u64, before: usize, literal: Literal, hints: &mut Vec<u64>) -> bool {
        if let Some(id) = self.rules.decided[literal.unit] {
            hints.push(id);
            return true;
        }
        if self.nodes.get(&node).is_some_and(|open| open.path.contains(&literal)) {
            return true;
        }
        match self.find(node, before, literal) {
            Some((at, fix)) => {
                let id = self.clause(at, fix, literal);
                hints.push(id);
                true
            }
            None => false,
        }
    }

    /// What the rules apply to, or all that is decided: by them, and by records up to this one.
    fn add_all(&mut self, node: u64, before: usize, everything: bool, hints: &mut Vec<u64>) {
        let (mut at, mut places) = (Some((node, before)), Vec::new());
        let everything = everything || self.rules.others;
        while let Some((node, before)) = at {
            let Some(open) = self.nodes.get(&node) else { break };
            for (fix, record) in open.fixes.iter().enumerate().take(before) {
                let of = record.of.keys().filter(|literal| everything || literal.inside);
                places.extend(of.map(|&literal| (node, fix, literal)));
            }
            at = open.parent.map(|parent| (parent, usize::MAX));
        }
        places.sort_unstable_by_key(|&(node, fix, literal)| (node, fix, literal.unit, literal.inside));
        for (node, fix, literal) in places {
            hints.push(self.clause(node, fix, literal));
        }
        hints.extend(self.rules.decided.iter().flatten().copied());
        hints.extend(1..=self.rules.rows);
        hints.sort_unstable();
        hints.dedup();
    }

    /// The box and its record that decide a unit so, from this box upwards.
    fn find(&self, node: u64, before: usize, literal: Literal) -> Option<(u64, usize)> {
        let mut at = Some((node, before));
        while let Some((node, before)) = at {
            let open = self.nodes.get(&node)?;
            let decides = |fix: &Fix| fix.of.contains_key(&literal);
            if let Some(fix) = open.fixes.iter().take(before).position(decides) {
                return Some((node, fix));
            }
            at = open.parent.map(|parent| (parent, usize::MAX));
        }
        None
    }

    /// The clause of a decision of a record, written now if it was not.
    fn clause(&mut self, node: u64, fix: usize, literal: Literal) -> u64 {
        let open = &self.nodes[&node];
        let (group, written) = open.fixes[fix].of[&literal];
        if let Some(id) = written {
            return id;
        }
        let Group { reason, need } = &open.fixes[fix].groups[group];
        let group = Group { reason: *reason, need: need.clone() };
        let mut clause: Vec<Literal> = open.path.iter().map(|literal| literal.other()).collect();
        clause.push(literal);
        let hints = self.hints(node, fix, &group);
        let id = self.rup(&clause, &hints);
        if let Some(open) = self.nodes.get_mut(&node) {
            open.ids.push(id);
            if let Some(one) = open.fixes[fix].of.get_mut(&literal) {
                one.1 = Some(id);
            }
        }
        id
    }

    /// A row plus a multiple of that on the number of features.
    fn sum(&mut self, node: u64, row: u64, factor: i64) -> u64 {
        let Some(size) = self.rules.size.filter(|_| factor != 0) else { return row };
        if let Some(&id) = self.nodes.get(&node).and_then(|open| open.sums.get(&(row, factor))) {
            return id;
        }
        self.line(&format!("pol {row} {size} {factor} * +;"));
        self.last += 1;
        if let Some(open) = self.nodes.get_mut(&node) {
            open.sums.insert((row, factor), self.last);
            open.ids.push(self.last);
        }
        self.last
    }

    /// The proof's last lines.
    pub(super) fn finish_file(&mut self) {
        if let Some(end) = self.end {
            self.line(&format!("output NONE;\nconclusion UNSAT : {end};\nend pseudo-Boolean proof;"));
        }
    }
}

impl Fix {
    fn add(&mut self, group: Group, parts: &[Literal]) {
        let at = self.groups.len();
        self.groups.push(group);
        self.of.extend(parts.iter().map(|part| (part.other(), (at, None))));
    }
}
