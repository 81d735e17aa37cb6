//! The records of gain `alignment`, whose objective is -f.

use std::io::Read;

use crate::boxes::OpenBox;
use crate::check::Check;
use crate::cover::{Child, above};
use crate::file::{Checked, File};
use crate::model::{Model, Units, model, monotone};
use crate::pairs::{LENGTH, Pairs};
use crate::rules::Choice;

/// Slots from which on there is no model.
const MOST_SLOTS: usize = 64;

/// A child as a file states it: its first unit and its partners by place in the record's order.
struct Stated {
    first: usize,
    bound: f64,
    partners: Vec<usize>,
}

impl<R: Read> Check<'_, R> {
    /// Closes a box by the bound known of it.
    pub(crate) fn leave(&mut self, open: Option<OpenBox>) -> Checked<()> {
        open.map_or(Ok(()), |open| self.count(&open, None, open.limits.known))
    }

    /// Notes the monotone bound of a box.
    pub(crate) fn limit(&mut self, mut open: Option<OpenBox>) -> Checked<Option<OpenBox>> {
        if let (Some(open), Some(pairs)) = (&mut open, &self.claim.pairs) {
            let units = self.looked_at(pairs, open, pairs.units.len())?;
            open.limits.known = open.limits.known.max(-monotone(pairs, &units));
        }
        Ok(open)
    }

    /// Units of a box; a sum over all pairs with this many terms each is counted as work.
    fn looked_at(&mut self, pairs: &Pairs, open: &OpenBox, terms: usize) -> Checked<Units> {
        self.work((pairs.tiles() * LENGTH) as u64 * (1 + terms) as u64)?;
        let of = |choice| (0..pairs.units.len()).filter(move |&at| open.state.choice[pairs.units[at]] == choice);
        let (inside, free) = (of(Choice::In).collect(), of(Choice::Free).collect());
        Ok(Units { inside, free, slots: self.claim.rules.slots(&open.state) })
    }

    /// Shares a box out between a level, single subsets and children, by a model, which is exact up
    /// to an order that is stated, or 2.
    pub(crate) fn expand(&mut self, open: Option<OpenBox>, states_order: bool) -> Checked<()> {
        let exact = if states_order { self.file.index("order", 5)? } else { 2 };
        if states_order && exact < 3 {
            return Err(format!("its order is {exact}, not 3 or 4"));
        }
        let level = self.file.number()?;
        let (listed, stated) = self.read_children()?;
        let rules = &self.claim.rules;
        let mut place = vec![None; rules.units.len()];
        for (at, &feature) in listed.iter().enumerate() {
            if place[rules.unit_of[feature]].replace(at).is_some() {
                return Err(format!("feature {feature} and one before it are of one unit"));
            }
        }
        let (Some(open), Some(pairs)) = (open, &self.claim.pairs) else {
            for _ in stated {
                self.put_new(None);
            }
            return Ok(());
        };
        let units = self.looked_at(pairs, &open, open.state.free)?;
        if units.slots > MOST_SLOTS {
            return Err(format!("{} units may come in, too many for a model", units.slots));
        }
        self.progress.points += 1;
        // The order: units as listed, then the others. Those that are decided drop out.
        let number = |column: usize| pairs.units[units.free[column]];
        let mut order: Vec<usize> = (0..units.free.len()).collect();
        order.sort_by_key(|&column| place[number(column)].unwrap_or(usize::MAX));
        let mut position = vec![None; listed.len()];
        for (at, &column) in order.iter().enumerate() {
            place[number(column)].into_iter().for_each(|stated| position[stated] = Some(at));
        }
        // No subset begins with a unit that is decided: that child is empty.
        let child = |one: &Stated| {
            let mut partners = vec![false; order.len()];
            one.partners.iter().filter_map(|&b| position[b]).for_each(|b| partners[b] = true);
            Child::new(position[one.first], one.bound, partners)
        };
        let mut children: Vec<Child> = stated.iter().map(child).collect();
        let model = if units.slots == 0 { Model::none(order.len()) } else { model(pairs, &units, exact)? };
        let mut tick = |terms| self.work(terms);
        let alone = above(&model, units.slots.max(1), &order, level, &mut children, &mut tick)?;
        let inside: Vec<usize> = open.state.units(Choice::In).collect();
        for columns in alone {
            let subset = rules.features(columns.into_iter().map(number).chain(inside.iter().copied()));
            if self.claim.allows(&subset) {
                let most = pairs.value(&subset).1;
                if most > level {
                    self.count_alone(subset, open.limits.known.max(-most));
                }
            }
        }
        self.progress.parts += 1;
        self.rest = self.rest.min(open.limits.known.max(-level));
        for child in children {
            let decided = |(at, &column): (usize, &usize)| match child.partners[at] {
                _ if Some(at) == child.first => Some((number(column), Choice::In)),
                true => None,
                false => Some((number(column), Choice::Out)),
            };
            let decisions = order.iter().enumerate().filter_map(decided).collect();
            let mut part = child.first.and_then(|_| self.decided(&open, decisions));
            if let Some(OpenBox { limits, .. }) = &mut part {
                limits.known = limits.known.max(-child.found.max(level));
            }
            self.put_new(part);
        }
        Ok(())
    }

    /// The order of an expansion, by features, and its children.
    fn read_children(&mut self) -> Checked<(Vec<usize>, Vec<Stated>)> {
        let length = self.file.index("the length of a list,", self.claim.p + 1)?;
        let listed = (0..length).map(|_| self.file.index("feature", self.claim.p)).collect::<Checked<Vec<usize>>>()?;
        let firsts = self.file.ascending("position", length)?;
        let bounds = self.file.list(firsts.len(), File::number)?;
        let mut children = Vec::with_capacity(firsts.len());
        for (first, bound) in firsts.into_iter().zip(bounds) {
            let partners = self.file.ascending("position", length)?;
            if partners.first().is_some_and(|partner| *partner <= first) {
                return Err("a partner comes before the first unit of its child".to_owned());
            }
            children.push(Stated { first, bound, partners });
        }
        Ok((listed, children))
    }
}
