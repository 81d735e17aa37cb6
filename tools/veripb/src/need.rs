//! Which decisions make a row false: those that its step of the proof names.

use fewest_verify::Choice;

use super::row::{Row, factor, sorted};
use super::rules::Rules;

/// A decision on a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Literal {
    pub(super) unit: usize,
    pub(super) inside: bool,
}

impl Literal {
    pub(super) fn is(self, choice: Choice) -> bool {
        choice == if self.inside { Choice::In } else { Choice::Out }
    }

    pub(super) fn other(self) -> Self {
        Self { inside: !self.inside, ..self }
    }
}

/// The decisions that a step needs.
#[derive(Debug, Clone)]
pub(super) enum Need {
    /// The rules, and the units they apply to: all, or units that are in where they only count.
    Rules,
    /// The rules, and all decisions.
    All,
    /// These, besides those that lead to the box.
    These(Vec<Literal>),
}

/// A box and a row, plus a multiple of the row on the number of features.
pub(super) struct Cover<'c> {
    rules: &'c Rules,
    row: &'c Row,
    state: &'c [Choice],
    factor: i64,
    /// What the left side exceeds the right side by at most, given what leads to the box.
    excess: i128,
    /// Other decisions, the most helpful first, and by how much they lower that.
    helpers: Vec<(Literal, i128)>,
}

impl<'c> Cover<'c> {
    pub(super) fn new(rules: &'c Rules, row: &'c Row, state: &'c [Choice], path: &[Literal], factor: i64) -> Self {
        let mut cover = Self { rules, row, state, factor, excess: 0, helpers: Vec::new() };
        cover.excess = i128::from(factor) * rules.most as i128 - i128::from(row.right);
        for u in 0..state.len() {
            let number = cover.number(u);
            cover.excess += number.max(0);
            let literal = Literal { unit: u, inside: state[u] == Choice::In };
            let lowers = if literal.inside { -number } else { number };
            if state[u] == Choice::Free || lowers <= 0 {
                continue;
            }
            if path.contains(&literal) {
                cover.excess -= lowers;
            } else {
                cover.helpers.push((literal, lowers));
            }
        }
        cover.helpers.sort_by_key(|helper| (-helper.1, helper.0.unit));
        cover
    }

    /// The number of a unit in the sum of both rows.
    fn number(&self, u: usize) -> i128 {
        i128::from(self.row.gains[u]) - i128::from(self.factor) * self.rules.units[u].len() as i128
    }

    /// Fall of the excess where a free unit has this choice.
    pub(super) fn lowers(&self, literal: Literal) -> i128 {
        let number = self.number(literal.unit);
        match self.state[literal.unit] {
            Choice::Free => (if literal.inside { -number } else { number }).max(0),
            _ => 0,
        }
    }

    /// What is missing for the row to be false where a part lowers the excess by this; 0 if nothing.
    pub(super) fn missing(&self, part: i128) -> i128 {
        let all: i128 = self.helpers.iter().map(|helper| helper.1).sum();
        (self.excess - part - all + 1).max(0)
    }

    /// The decisions that make it false.
    pub(super) fn need(&self, part: i128) -> Vec<Literal> {
        let mut excess = self.excess - part;
        let mut need = Vec::new();
        for &(literal, lowers) in &self.helpers {
            if excess < 0 {
                break;
            }
            excess -= lowers;
            need.push(literal);
        }
        need
    }
}

/// The features that may still come in.
pub(super) fn room(rules: &Rules, state: &[Choice]) -> usize {
    let inside = (0..state.len()).filter(|&u| state[u] == Choice::In);
    rules.most.saturating_sub(inside.map(|u| rules.units[u].len()).sum())
}

/// Multiples of the row on the number of features that may do for a box: that of its free units, and
/// that which rests on no unit that is out.
pub(super) fn factors(rules: &Rules, row: &Row, state: &[Choice]) -> [i64; 2] {
    if rules.size.is_none() {
        return [0; 2];
    }
    let room = room(rules, state);
    let of = |free: fn(Choice) -> bool| factor(&sorted(row, (0..state.len()).filter(|&u| free(state[u]))), room);
    [of(|choice| choice == Choice::Free), of(|choice| choice != Choice::In)]
}

/// The multiple for the part of a box where a free unit has this choice; none where it has no room.
pub(super) fn factor_of_part(rules: &Rules, row: &Row, state: &[Choice], free: &[i64], part: Literal) -> Option<i64> {
    let (room, size) = (room(rules, state), rules.units[part.unit].len());
    let left = room.checked_sub(if part.inside { size } else { 0 })?;
    if rules.size.is_none() {
        return Some(0);
    }
    Some(match (part.inside, size) {
        (false, _) => factor(free, room),
        (true, 1) => factor(free, left),
        (true, _) => {
            let others = (0..state.len()).filter(|&u| u != part.unit && state[u] == Choice::Free);
            factor(&sorted(row, others), left)
        }
    })
}
