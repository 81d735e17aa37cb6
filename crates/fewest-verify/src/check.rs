//! The steps of docs/proof.md: every record in turn, on the boxes that are open.

use std::collections::HashMap;
use std::io::Read;
use std::ops::ControlFlow;

use crate::boxes::{OpenBox, PackedBox, Terms};
use crate::claim::Claim;
use crate::file::{Checked, File};
use crate::point::{Point, objective};
use crate::rules::Choice;
use crate::step::{Dual, Step, Told};
use crate::{Error, Listed, Progress, STATUSES, Verdict};

/// Part of the best objective by which a proven number may miss a claimed one.
const ROOM: f64 = 1e-7;
/// Bytes of a box, a subset or a list beside its entries.
const EACH: u64 = 160;
/// Kinds of record, from 1.
const KINDS: [&str; 10] =
    ["split", "close", "fix", "tighten", "subset", "end", "leave", "limit", "expand", "expand-to"];
/// Work that a file of any size may ask for, and for how many of its bytes a record more: methods
/// write 200 and more. Then the same of gain `alignment`, whose expansions look at many terms.
const WORK: u64 = 1 << 22;
const BYTES_OF_RECORD: u64 = 16;
const TERMS: u64 = 1 << 36;
const TERMS_OF_BYTE: u64 = 1 << 20;

/// The check of one file.
pub(crate) struct Check<'c, R: Read> {
    pub(crate) claim: &'c Claim<'c>,
    pub(crate) file: &'c mut File<R>,
    memory: u64,
    /// Whether work is limited.
    limited: bool,
    watch: &'c mut dyn FnMut(&Progress) -> ControlFlow<()>,
    told: Option<&'c mut Told<'c>>,
    /// What ended the check that is no fault of the file.
    ended: Option<Error>,
    /// Boxes that are open, by node; none where the rules leave nothing in one.
    open: HashMap<u64, Option<PackedBox>>,
    /// Boxes made beside the root.
    made: u64,
    point: Option<Point>,
    /// By subset that was alone in a closed box: its bound.
    alone: HashMap<Vec<usize>, f64>,
    /// Bytes of the entries of open boxes, and of the subsets alone and listed.
    bytes: (u64, u64),
    /// The smallest bound of all other closed parts.
    pub(crate) rest: f64,
    /// Listed subsets, with their own bounds as stated.
    listed: Vec<(Listed, f64)>,
    pub(crate) progress: Progress,
}

impl<'c, R: Read> Check<'c, R> {
    pub(crate) fn new(
        claim: &'c Claim<'c>,
        file: &'c mut File<R>,
        memory: u64,
        limited: bool,
        watch: &'c mut dyn FnMut(&Progress) -> ControlFlow<()>,
        told: Option<&'c mut Told<'c>>,
    ) -> Self {
        let all = |state| OpenBox { state, tight: Vec::new(), cap: f64::INFINITY, known: f64::NEG_INFINITY };
        let root = claim.root.clone().map(all);
        let mut check = Self {
            claim,
            file,
            memory,
            limited,
            watch,
            told,
            ended: None,
            open: HashMap::new(),
            made: 0,
            point: None,
            alone: HashMap::new(),
            bytes: (0, 0),
            rest: f64::INFINITY,
            listed: Vec::new(),
            progress: Progress::default(),
        };
        check.put(0, root);
        check
    }

    /// Steps 2 to 6.
    pub(crate) fn run(mut self) -> Result<Verdict, Error> {
        if let Some(told) = &mut self.told {
            let (rules, root) = (&self.claim.rules, self.claim.root.as_ref().map(|root| &root.choice[..]));
            told(Step::Begin { units: &rules.units, rows: rules.rows(), listed: &rules.listed, root });
        }
        loop {
            self.progress.open = self.open.len() as u64;
            if (self.watch)(&self.progress).is_break() {
                return Err(Error::Stopped);
            }
            self.progress.records += 1;
            let kind = self.file.byte();
            let name = kind.as_ref().ok().and_then(|&kind| KINDS.get((kind as usize).wrapping_sub(1)));
            let done = kind.and_then(|kind| self.record(kind));
            let place = || format!("record {} ({})", self.progress.records, name.unwrap_or(&"of no kind"));
            match done {
                Ok(Some(verdict)) => return Ok(verdict),
                Ok(None) => {}
                Err(reason) => return Err(self.ended.unwrap_or_else(|| Error::Fails { place: place(), reason })),
            }
        }
    }

    /// Counts work; an error where the file may not ask for more, or the caller stops the check.
    pub(crate) fn work(&mut self, more: u64) -> Checked<()> {
        self.progress.work = self.progress.work.saturating_add(more);
        let (bytes, size) = (self.file.read(), self.claim.rules.size());
        let (least, more_of_file) = match self.claim.pairs {
            Some(_) => (TERMS, TERMS_OF_BYTE.saturating_mul(bytes)),
            None => (WORK, size.saturating_mul(bytes / BYTES_OF_RECORD)),
        };
        let most = least.saturating_add(more_of_file);
        if self.limited && self.progress.work > most {
            self.ended = Some(Error::TooMuchWork { record: self.progress.records });
        } else if more > WORK && (self.watch)(&self.progress).is_break() {
            self.ended = Some(Error::Stopped);
        }
        if self.ended.is_some() { Err(String::new()) } else { Ok(()) }
    }

    fn record(&mut self, kind: u8) -> Checked<Option<Verdict>> {
        match (kind, self.claim.alignment) {
            (1, _) => self.split()?,
            (2, false) => self.close()?,
            (3, false) => self.fix()?,
            (4, false) => self.tighten()?,
            (5, _) => self.subset()?,
            (6, _) => return self.end().map(Some),
            (7, true) => self.leave()?,
            (8, true) => self.limit()?,
            (9, true) => self.expand(false)?,
            (10, true) => self.expand(true)?,
            (1..=10, _) => return Err("it belongs to another gain".to_owned()),
            _ => return Err(format!("its kind is {kind}, not 1 to {}", KINDS.len())),
        }
        let each = EACH * (self.open.len() + self.alone.len() + self.listed.len()) as u64;
        self.progress.bytes = self.bytes.0 + self.bytes.1 + each + self.claim.rules.bytes();
        if self.progress.bytes > self.memory {
            return Err(format!("{} open boxes take more memory than is allowed", self.open.len()));
        }
        Ok(None)
    }

    /// Takes a box out; none where it is empty.
    pub(crate) fn take(&mut self, node: u64) -> Checked<Option<OpenBox>> {
        self.work(self.claim.rules.size())?;
        let open = self.open.remove(&node).ok_or_else(|| format!("node {node} is not open"))?;
        self.bytes.0 -= open.as_ref().map_or(0, PackedBox::bytes);
        Ok(open.map(|open| open.unpack(self.claim)))
    }

    pub(crate) fn put(&mut self, node: u64, open: Option<OpenBox>) {
        let open = open.map(PackedBox::new);
        self.bytes.0 += open.as_ref().map_or(0, PackedBox::bytes);
        self.open.insert(node, open);
    }

    /// Puts in the next box made.
    pub(crate) fn put_new(&mut self, open: Option<OpenBox>) {
        self.made += 1;
        self.put(self.made, open);
    }

    fn read_point(&mut self) -> Checked<()> {
        match self.file.byte()? {
            0 if self.point.is_some() => return Ok(()),
            1 => self.point = Some(Point::read(self.file, self.claim)?),
            kind => return Err(format!("its point has kind {kind}, not 1, or 0 after a point")),
        }
        self.progress.points += 1;
        Ok(())
    }

    fn split(&mut self) -> Checked<()> {
        let (node, feature) = (self.file.integer()?, self.file.index("feature", self.claim.p)?);
        let (open, u) = (self.take(node)?, self.claim.rules.unit_of[feature]);
        let parts = [Choice::In, Choice::Out].map(|choice| {
            let open = open.as_ref()?;
            let state = self.claim.rules.decide(&open.state, vec![(u, choice)])?;
            Some(OpenBox { state, tight: open.tight.clone(), ..*open })
        });
        if let Some(told) = &mut self.told {
            let states = parts.each_ref().map(|part| part.as_ref().map(|part| &part.state.choice[..]));
            told(Step::Split { node, unit: u, states });
        }
        for part in parts {
            self.put_new(part);
        }
        Ok(())
    }

    fn close(&mut self) -> Checked<()> {
        let node = self.file.integer()?;
        self.read_point()?;
        let Some(open) = self.take(node)? else { return Ok(()) };
        let point = self.point.as_mut().expect("a point was read");
        let bound = Terms::new(self.claim, &open, point).bound();
        if let Some(told) = &mut self.told {
            let (values, number) = (open.values(self.claim, point), self.progress.points);
            let dual = Dual { number, constant: point.constant, values: &values };
            told(Step::Close { node, state: &open.state.choice, dual });
        }
        let free = open.state.choice.iter().filter(|choice| **choice == Choice::Free).count();
        self.count(&open, None, free == 0, bound)
    }

    fn fix(&mut self) -> Checked<()> {
        let node = self.file.integer()?;
        self.read_point()?;
        let (inside, outside) =
            (self.file.ascending("feature", self.claim.p)?, self.file.ascending("feature", self.claim.p)?);
        if inside.is_empty() && outside.is_empty() {
            return Err("it names no feature".to_owned());
        }
        let Some(mut open) = self.take(node)? else {
            self.put(node, None);
            return Ok(());
        };
        let unit = |j: usize| self.claim.rules.unit_of[j];
        let mut decisions: Vec<(usize, Choice)> = inside.into_iter().map(|j| (unit(j), Choice::In)).collect();
        decisions.extend(outside.into_iter().map(|j| (unit(j), Choice::Out)));
        let terms = Terms::new(self.claim, &open, self.point.as_mut().expect("a point was read"));
        let other = |choice| if choice == Choice::In { Choice::Out } else { Choice::In };
        let parts: Vec<_> = decisions.iter().map(|&(u, choice)| (u, other(choice))).collect();
        let free = open.state.choice.iter().filter(|choice| **choice == Choice::Free).count();
        let bounds: Vec<f64> = parts.iter().map(|&(u, choice)| terms.bound_with(u, choice)).collect();
        for (part, bound) in parts.into_iter().zip(bounds).filter(|(_, bound)| *bound < f64::INFINITY) {
            let decides = open.state.choice[part.0] == Choice::Free;
            self.count(&open, Some(part), free == usize::from(decides), bound)?;
        }
        let next = self.claim.rules.decide(&open.state, decisions.clone());
        if let (Some(told), Some(point)) = (&mut self.told, &mut self.point) {
            let (values, number) = (open.values(self.claim, point), self.progress.points);
            let dual = Dual { number, constant: point.constant, values: &values };
            let (state, next) = (&open.state.choice, next.as_ref().map(|state| &state.choice[..]));
            told(Step::Fix { node, state, decisions: &decisions, dual, next });
        }
        let next = next.map(|state| {
            open.state = state;
            open
        });
        self.put(node, next);
        Ok(())
    }

    fn tighten(&mut self) -> Checked<()> {
        let node = self.file.integer()?;
        self.read_point()?;
        let features = self.file.ascending("feature", self.claim.p)?;
        let bounds = self.file.list(features.len(), File::number)?;
        if !self.claim.l1 {
            return Err("the gain is not `l1`".to_owned());
        }
        if features.is_empty() {
            return Err("it names no feature".to_owned());
        }
        let Some(mut open) = self.take(node)? else {
            self.put(node, None);
            return Ok(());
        };
        let terms = Terms::new(self.claim, &open, self.point.as_mut().expect("a point was read"));
        let mut cap = open.cap;
        let mut tight: Vec<f64> = (0..self.claim.p).map(|j| open.weight_bound(self.claim, j)).collect();
        let (mut looked, mut parts) = (0, Vec::new());
        for (j, to) in features.into_iter().zip(bounds) {
            if !(0.0..=tight[j]).contains(&to) {
                return Err(format!("the bound {to} of feature {j} is not between 0 and {}", tight[j]));
            }
            cap = cap.min(terms.bound_beyond(j, to));
            if self.told.is_some() {
                parts.push((j, to, terms.value_beyond(j, to)));
            }
            tight[j] = to;
            looked += self.claim.rules.units[self.claim.rules.unit_of[j]].len() as u64;
            self.progress.parts += 1;
        }
        if let (Some(told), Some(point)) = (&mut self.told, &mut self.point) {
            let (values, number) = (open.values(self.claim, point), self.progress.points);
            let dual = Dual { number, constant: point.constant, values: &values };
            told(Step::Tighten { node, state: &open.state.choice, dual, parts: &parts });
        }
        (open.tight, open.cap) = (tight, cap);
        self.put(node, Some(open));
        self.work(looked)
    }

    /// Counts a closed part: the box, or that with one more decision; alone: a single subset.
    pub(crate) fn count(
        &mut self,
        open: &OpenBox,
        more: Option<(usize, Choice)>,
        alone: bool,
        bound: f64,
    ) -> Checked<()> {
        let bound = bound.min(open.cap);
        if !alone {
            self.progress.parts += 1;
            self.rest = self.rest.min(bound);
            return Ok(());
        }
        self.work(self.claim.rules.size())?;
        let held = |u: usize| more.filter(|more| more.0 == u).map_or(open.state.choice[u], |more| more.1);
        let units = &self.claim.rules.units;
        let inside = (0..units.len()).filter(|u| held(*u) == Choice::In);
        self.count_alone(inside.flat_map(|u| units[u].iter().copied()).collect(), bound);
        Ok(())
    }

    /// Counts a single subset.
    pub(crate) fn count_alone(&mut self, mut subset: Vec<usize>, bound: f64) {
        self.progress.parts += 1;
        subset.sort_unstable();
        let bytes = 8 * subset.len() as u64;
        let own = self.alone.entry(subset).or_insert_with(|| {
            self.bytes.1 += bytes;
            f64::NEG_INFINITY
        });
        *own = own.max(bound);
        // Only subsets of small bounds can matter: the larger half joins the rest.
        if self.bytes.1 + EACH * self.alone.len() as u64 > self.memory / 4 {
            let mut bounds: Vec<f64> = self.alone.values().copied().collect();
            let middle = bounds.len() / 2;
            let (_, &mut limit, _) = bounds.select_nth_unstable_by(middle, f64::total_cmp);
            self.rest = self.rest.min(limit);
            self.alone.retain(|_, bound| *bound < limit);
            self.bytes.1 = self.alone.keys().map(|subset| 8 * subset.len() as u64).sum();
        }
    }

    /// Step 5.
    fn subset(&mut self) -> Checked<()> {
        let features = self.file.ascending("feature", self.claim.p)?;
        let (stated, own) = (self.file.number()?, self.file.number()?);
        let claim = self.claim;
        let allowed = || claim.allows(&features).then_some(()).ok_or("the rules forbid its subset".to_owned());
        let proven = if claim.alignment {
            allowed()?;
            claim.pairs.as_ref().map_or(f64::INFINITY, |pairs| -pairs.value(&features).0)
        } else {
            let machine = |_| Ok((self.file.list(features.len(), File::number)?, self.file.number()?));
            let machines = claim.parts.iter().map(machine).collect::<Checked<Vec<_>>>()?;
            allowed()?;
            objective(claim, &features, &machines)?
        };
        if !(stated.is_finite() && proven <= stated + ROOM * stated.abs()) {
            return Err(format!("its objective is {proven}, above the {stated} stated"));
        }
        self.bytes.0 += 8 * features.len() as u64;
        self.listed.push((Listed { features, objective: proven, bound: f64::NAN }, own));
        Ok(())
    }

    /// Steps 3, 4 and 6.
    fn end(&mut self) -> Checked<Verdict> {
        let (claimed, status) = (self.file.number()?, self.file.text()?);
        if !STATUSES.contains(&&*status) {
            return Err(format!("its status is none of {}", STATUSES.join(", ")));
        }
        self.file.end()?;
        let left = self.open.iter().filter(|open| open.1.is_some()).map(|open| *open.0).min();
        if left.is_some() {
            self.rest = f64::NEG_INFINITY;
        }
        for (one, _) in &mut self.listed {
            one.bound = self.alone.insert(one.features.clone(), f64::INFINITY).unwrap_or(f64::NAN);
            if one.bound == f64::INFINITY {
                return Err(format!("the subset {:?} is listed twice", one.features));
            }
        }
        let rest = self.alone.values().fold(self.rest, |a, b| a.min(*b));
        let best = self.listed.iter().map(|one| one.0.objective).fold(f64::INFINITY, f64::min);
        let room = ROOM * if best.is_finite() { best.abs() } else { claimed.abs() };
        let open = left.map_or(String::new(), |node| format!("; node {node} was left open"));
        let reached = |proven: f64, claimed: f64| proven == claimed || proven >= claimed - room;
        if !reached(rest, claimed) {
            return Err(format!("the bound proven is {rest}, below the {claimed} claimed{open}"));
        }
        for (one, own) in &mut self.listed {
            // A box that holds it and others is part of the rest.
            one.bound = if one.bound.is_nan() { rest } else { one.bound };
            if !reached(one.bound, *own) {
                let (features, bound) = (&one.features, one.bound);
                return Err(format!("the own bound proven for {features:?} is {bound}, below the {own} claimed{open}"));
            }
        }
        let listed: Vec<Listed> = std::mem::take(&mut self.listed).into_iter().map(|one| one.0).collect();
        contradiction(&listed).map_or(Ok(()), Err)?;
        let (maximised, baseline) = (self.claim.alignment, self.claim.baseline());
        let prices = self.claim.penalty.iter().copied().filter(|price| *price > 0.0);
        let price = prices.reduce(f64::min).unwrap_or(0.0);
        Ok(Verdict { maximised, listed, rest, baseline, price, status, progress: self.progress })
    }
}

/// What is not possible: a bound above an objective, both of which are rounded to the safe side.
fn contradiction(listed: &[Listed]) -> Option<String> {
    let Listed { features, objective, bound } = listed.iter().find(|one| one.bound > one.objective)?;
    Some(format!(
        "of {features:?} the bound {bound} and the objective {objective} are proven, which cannot both be true: \
         the checker is wrong; please report it with the file at https://github.com/fewest/fewest/issues"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bound_above_an_objective_is_a_fault_of_the_checker() {
        let one = |objective: f64, bound| Listed { features: vec![3], objective, bound };
        assert_eq!(contradiction(&[one(2.0, 2.0), one(7.5, f64::NEG_INFINITY)]), None);
        for bound in [24.0, f64::INFINITY, 7.5f64.next_up()] {
            let said = contradiction(&[one(2.0, 2.0), one(7.5, bound)]).expect("a contradiction");
            assert!(said.contains("the checker is wrong; please report it"), "{said}");
        }
    }
}
