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

/// A child as a file states it.
struct Stated {
    first: usize,
    bound: f64,
    partners: Vec<usize>,
}

impl<R: Read> Check<'_, R> {
    /// Closes a box by the bound known of it.
    pub(crate) fn leave(&mut self) -> Checked<()> {
        let node = self.file.integer()?;
        if let Some(open) = self.take(node)? {
            let free = open.state.choice.contains(&Choice::Free);
            self.count(&open, None, !free, open.known)?;
        }
        Ok(())
    }

    /// Notes the monotone bound of a box.
    pub(crate) fn limit(&mut self) -> Checked<()> {
        let node = self.file.integer()?;
        let mut open = self.take(node)?;
        if let (Some(open), Some(pairs)) = (&mut open, &self.claim.pairs) {
            self.work((pairs.tiles() * LENGTH) as u64 * (1 + pairs.units.len()) as u64)?;
            open.known = open.known.max(-monotone(pairs, &self.units(pairs, open)));
        }
        self.put(node, open);
        Ok(())
    }

    /// Shares a box out between a level, single subsets and children, by a model, which is exact up
    /// to an order that is stated, or 2.
    pub(crate) fn expand(&mut self, stated: bool) -> Checked<()> {
        let (p, node) = (self.claim.p, self.file.integer()?);
        let exact = if stated { self.file.index("order", 5)? } else { 2 };
        if stated && exact < 3 {
            return Err(format!("its order is {exact}, not 3 or 4"));
        }
        let level = self.file.number()?;
        let (listed, stated) = self.read_children()?;
        let (open, rules) = (self.take(node)?, &self.claim.rules);
        let mut of_unit = vec![None; p];
        for (at, &feature) in listed.iter().enumerate() {
            if of_unit[rules.unit_of[feature]].replace(at).is_some() {
                return Err(format!("feature {feature} and one before it are of one unit"));
            }
        }
        let (Some(open), Some(pairs)) = (open, &self.claim.pairs) else {
            for _ in &stated {
                self.put_new(None);
            }
            return Ok(());
        };
        let units = self.units(pairs, &open);
        if units.slots > MOST_SLOTS {
            return Err(format!("{} units may come in, too many for a model", units.slots));
        }
        self.progress.points += 1;
        self.work((pairs.tiles() * LENGTH) as u64 * (1 + units.free.len()) as u64)?;
        // The order: units as listed, then the others. Those that are decided drop out.
        let number = |column: usize| pairs.units[units.free[column]];
        let mut order: Vec<usize> = (0..units.free.len()).collect();
        order.sort_by_key(|&column| of_unit[number(column)].unwrap_or(usize::MAX));
        let mut position = vec![None; listed.len()];
        for (at, &column) in order.iter().enumerate() {
            if let Some(stated) = of_unit[number(column)] {
                position[stated] = Some(at);
            }
        }
        // No subset begins with a unit that is decided: such a child is empty.
        let child = |one: &Stated| {
            let mut partners = vec![false; order.len()];
            one.partners.iter().filter_map(|&b| position[b]).for_each(|b| partners[b] = true);
            position[one.first].map(|first| Child::new(first, one.bound, partners))
        };
        let children: Vec<Option<Child>> = stated.iter().map(child).collect();
        let (at, mut children): (Vec<bool>, Vec<Child>) =
            (children.iter().map(Option::is_some).collect(), children.into_iter().flatten().collect());
        let (model, slots) = match units.slots {
            0 => (Model::none(units.free.len()), 1),
            slots => (model(pairs, &units, exact)?, slots),
        };
        let mut tick = |terms| self.work(terms);
        let alone = above(&model, slots, &order, level, &mut children, &mut tick)?;
        let names = |units: &mut dyn Iterator<Item = usize>| -> Vec<usize> {
            units.flat_map(|u| rules.units[u].iter().copied()).collect()
        };
        let inside = names(&mut (0..rules.units.len()).filter(|&u| open.state.choice[u] == Choice::In));
        for columns in alone {
            let mut subset = names(&mut columns.into_iter().map(number));
            subset.extend(&inside);
            subset.sort_unstable();
            if self.claim.allows(&subset) {
                let most = pairs.value(&subset).1;
                if most > level {
                    self.count_alone(subset, open.known.max(-most));
                }
            }
        }
        self.progress.parts += 1;
        self.rest = self.rest.min(open.known.max(-level));
        let mut children = children.into_iter();
        for there in at {
            let child = there.then(|| children.next()).flatten();
            let part = child.and_then(|child| {
                let decided = |(at, &column): (usize, &usize)| match child.partners[at] {
                    _ if at == child.first => Some((number(column), Choice::In)),
                    true => None,
                    false => Some((number(column), Choice::Out)),
                };
                let decisions = order.iter().enumerate().filter_map(decided).collect();
                let state = rules.decide(&open.state, decisions)?;
                Some(OpenBox { state, tight: Vec::new(), known: open.known.max(-child.found.max(level)), ..open })
            });
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

    fn units(&self, pairs: &Pairs, open: &OpenBox) -> Units {
        let of = |choice| (0..pairs.units.len()).filter(move |&at| open.state.choice[pairs.units[at]] == choice);
        let (inside, free) = (of(Choice::In).collect(), of(Choice::Free).collect());
        Units { inside, free, slots: self.claim.rules.slots(&open.state) }
    }
}
