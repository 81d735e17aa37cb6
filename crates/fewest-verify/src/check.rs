//! The steps of docs/formats/proof.md: every record in turn, on the boxes that are open.

use std::collections::HashMap;
use std::io::Read;
use std::ops::ControlFlow;

use crate::boxes::{Limits, OpenBox, Terms};
use crate::claim::{Claim, Gain};
use crate::file::{Checked, File};
use crate::point::{Point, objective};
use crate::rules::{Choice, Decisions};
use crate::step::{Dual, OnStep, Step};
use crate::{Error, Listed, Progress, STATUSES, Verdict};

/// Part of the best objective by which a proven number may miss a claimed one.
const ROOM: f64 = 1e-7;
/// Bytes of a box, a subset or a list beside its entries.
const EACH: u64 = 160;
/// Kinds of record, from 1.
const KINDS: [&str; 10] =
    ["split", "close", "fix", "tighten", "subset", "end", "leave", "limit", "expand", "expand-to"];
/// Work that a file of any size may ask for, and for how many of its bytes a record more: methods
/// write 200 and more. Then the same of gain `alignment`, whose expansions examine many terms.
const WORK: u64 = 1 << 22;
const BYTES_OF_RECORD: u64 = 16;
const TERMS: u64 = 1 << 36;
const TERMS_OF_BYTE: u64 = 1 << 20;

/// An open box as it is kept; none where the rules leave nothing in one.
type KeptBox = Option<([Box<[u32]>; 2], Limits)>;

/// Bytes of its entries.
fn bytes(kept: &KeptBox) -> u64 {
    let of = |(units, limits): &([Box<[u32]>; 2], Limits)| {
        (4 * (units[0].len() + units[1].len()) + 8 * limits.tight.len()) as u64
    };
    kept.as_ref().map_or(0, of)
}

/// What a caller allows a check, and what it hears of it.
pub(crate) struct Allowed<'c> {
    /// Bytes of rules, open boxes and subsets.
    pub(crate) memory: u64,
    /// Whether work is limited.
    pub(crate) limited: bool,
    pub(crate) watch: &'c mut dyn FnMut(&Progress) -> ControlFlow<()>,
    pub(crate) on_step: Option<&'c mut OnStep<'c>>,
}

/// The check of one file.
pub(crate) struct Check<'c, R: Read> {
    pub(crate) claim: &'c Claim<'c>,
    pub(crate) file: &'c mut File<R>,
    allowed: Allowed<'c>,
    /// What ended the check that is no fault of the file.
    ended: Option<Error>,
    /// Boxes that are open, by node.
    open: HashMap<u64, KeptBox>,
    /// Boxes made.
    made: u64,
    point: Option<Point>,
    /// The bound of each subset that was alone in a closed box.
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
    pub(crate) fn new(claim: &'c Claim<'c>, file: &'c mut File<R>, allowed: Allowed<'c>) -> Self {
        let (open, alone, listed, progress) = (HashMap::new(), HashMap::new(), Vec::new(), Progress::default());
        let (made, bytes, rest) = (0, (0, 0), f64::INFINITY);
        let mut check =
            Self { claim, file, allowed, ended: None, open, made, point: None, alone, bytes, rest, listed, progress };
        let limits = Limits { tight: Vec::new(), cap: f64::INFINITY, known: f64::NEG_INFINITY };
        check.put_new(claim.root.clone().map(|state| OpenBox { state, limits }));
        check
    }

    /// Steps 2 to 6.
    pub(crate) fn run(mut self) -> Result<Verdict, Error> {
        let (rules, root) = (&self.claim.rules, self.claim.root.as_ref().map(|root| &root.choice[..]));
        self.tell(|| Step::Begin { units: &rules.units, rows: rules.rows(), listed: &rules.listed, root });
        loop {
            self.progress.open = self.open.len() as u64;
            if (self.allowed.watch)(&self.progress).is_break() {
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
        if self.allowed.limited && self.progress.work > most {
            self.ended = Some(Error::TooMuchWork { record: self.progress.records });
        } else if more > WORK && (self.allowed.watch)(&self.progress).is_break() {
            self.ended = Some(Error::Stopped);
        }
        if self.ended.is_some() { Err(String::new()) } else { Ok(()) }
    }

    fn record(&mut self, kind: u8) -> Checked<Option<Verdict>> {
        match (kind, self.claim.gain) {
            (5, _) => self.subset()?,
            (6, _) => return self.end().map(Some),
            (1, _) | (2 | 3, Gain::Ridge) | (2..=4, Gain::L1) | (7..=10, Gain::Alignment) => self.on_a_box(kind)?,
            (4, Gain::Ridge) => return Err("the gain is not `l1`".to_owned()),
            (1..=10, _) => return Err("it belongs to another gain".to_owned()),
            _ => return Err(format!("its kind is {kind}, not 1 to {}", KINDS.len())),
        }
        let each = EACH * (self.open.len() + self.alone.len() + self.listed.len()) as u64;
        self.progress.bytes = self.bytes.0 + self.bytes.1 + each + self.claim.rules.bytes();
        if self.progress.bytes > self.allowed.memory {
            return Err(format!("{} open boxes take more memory than is allowed", self.open.len()));
        }
        Ok(None)
    }

    /// Takes the record's box out, empty or not, and puts in what it leaves open.
    fn on_a_box(&mut self, kind: u8) -> Checked<()> {
        let node = self.file.integer()?;
        self.work(self.claim.rules.size())?;
        let kept = self.open.remove(&node).ok_or_else(|| format!("node {node} is not open"))?;
        self.bytes.0 -= bytes(&kept);
        let open = kept.map(|(units, limits)| OpenBox { state: self.claim.rules.unpacked(&units), limits });
        let goes_on = match kind {
            1 => return self.split(node, open.as_ref()),
            2 => return self.close(node, open),
            3 => self.fix(node, open)?,
            4 => self.tighten(node, open)?,
            7 => return self.leave(open),
            8 => self.limit(open)?,
            _ => return self.expand(open, kind == 10),
        };
        self.put(node, goes_on);
        Ok(())
    }

    fn put(&mut self, node: u64, open: Option<OpenBox>) {
        let kept = open.map(|open| (open.state.packed(), open.limits));
        self.bytes.0 += bytes(&kept);
        self.open.insert(node, kept);
    }

    /// Puts in the next box made.
    pub(crate) fn put_new(&mut self, open: Option<OpenBox>) {
        self.put(self.made, open);
        self.made += 1;
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

    /// The terms of a box at the point that was read.
    fn terms<'t>(claim: &'t Claim<'t>, point: &'t mut Option<Point>, open: &'t OpenBox) -> Terms<'t> {
        Terms::new(claim, open, point.as_mut().expect("a point was read"))
    }

    /// Sends the step to the observer.
    fn tell<'s>(&mut self, step: impl FnOnce() -> Step<'s>) {
        if let Some(on_step) = &mut self.allowed.on_step {
            on_step(step());
        }
    }

    /// The point that was read with values of all units within a box's bounds on weights; none
    /// where there is no observer.
    fn dual(&mut self, open: &OpenBox) -> Option<Dual> {
        self.allowed.on_step.as_ref()?;
        let all = OpenBox { state: self.claim.root.clone()?, limits: open.limits.clone() };
        let values = Self::terms(self.claim, &mut self.point, &all).values;
        Some(Dual { number: self.progress.points, constant: self.point.as_ref()?.constant, values })
    }

    fn split(&mut self, node: u64, open: Option<&OpenBox>) -> Checked<()> {
        let u = self.claim.rules.unit_of[self.file.index("feature", self.claim.p)?];
        let parts = [Choice::In, Choice::Out].map(|choice| open.and_then(|open| self.decided(open, vec![(u, choice)])));
        let states = parts.each_ref().map(|part| part.as_ref().map(|part| &part.state.choice[..]));
        self.tell(|| Step::Split { node, unit: u, states });
        for part in parts {
            self.put_new(part);
        }
        Ok(())
    }

    /// The box with more decisions; none where that leaves no allowed subset.
    pub(crate) fn decided(&self, open: &OpenBox, decisions: Decisions) -> Option<OpenBox> {
        let state = self.claim.rules.decide(&open.state, decisions)?;
        Some(OpenBox { state, limits: open.limits.clone() })
    }

    fn close(&mut self, node: u64, open: Option<OpenBox>) -> Checked<()> {
        self.read_point()?;
        let Some(open) = open else { return Ok(()) };
        let bound = Self::terms(self.claim, &mut self.point, &open).bound();
        if let Some(dual) = self.dual(&open) {
            self.tell(|| Step::Close { node, state: &open.state.choice, dual });
        }
        self.count(&open, None, bound)
    }

    fn fix(&mut self, node: u64, open: Option<OpenBox>) -> Checked<Option<OpenBox>> {
        self.read_point()?;
        let mut decisions = Vec::new();
        for choice in [Choice::In, Choice::Out] {
            let features = self.file.ascending("feature", self.claim.p)?;
            decisions.extend(features.into_iter().map(|j| (self.claim.rules.unit_of[j], choice)));
        }
        if decisions.is_empty() {
            return Err("it names no feature".to_owned());
        }
        let Some(open) = open else { return Ok(None) };
        let other = |choice| if choice == Choice::In { Choice::Out } else { Choice::In };
        let terms = Self::terms(self.claim, &mut self.point, &open);
        let part = |&(u, choice): &_| ((u, other(choice)), terms.bound_with(u, other(choice)));
        let parts: Vec<_> = decisions.iter().map(part).collect();
        for (part, bound) in parts.into_iter().filter(|(_, bound)| *bound < f64::INFINITY) {
            self.count(&open, Some(part), bound)?;
        }
        let goes_on = self.decided(&open, decisions.clone());
        if let Some(dual) = self.dual(&open) {
            let (state, next) = (&open.state.choice, goes_on.as_ref().map(|open| &open.state.choice[..]));
            self.tell(|| Step::Fix { node, state, decisions: &decisions, dual, next });
        }
        Ok(goes_on)
    }

    fn tighten(&mut self, node: u64, open: Option<OpenBox>) -> Checked<Option<OpenBox>> {
        self.read_point()?;
        let features = self.file.ascending("feature", self.claim.p)?;
        let bounds = self.file.list(features.len(), File::number)?;
        if features.is_empty() {
            return Err("it names no feature".to_owned());
        }
        let Some(mut open) = open else { return Ok(None) };
        let terms = Self::terms(self.claim, &mut self.point, &open);
        let mut cap = open.limits.cap;
        let mut tight: Vec<f64> = (0..self.claim.p).map(|j| open.weight_bound(self.claim, j)).collect();
        let (mut terms_read, mut parts) = (0, Vec::new());
        for (j, to) in features.into_iter().zip(bounds) {
            if !(0.0..=tight[j]).contains(&to) {
                return Err(format!("the bound {to} of feature {j} is not between 0 and {}", tight[j]));
            }
            cap = cap.min(terms.bound_beyond(j, to));
            if self.allowed.on_step.is_some() {
                parts.push((j, to, terms.value_beyond(j, to).unwrap_or(f64::INFINITY)));
            }
            tight[j] = to;
            terms_read += self.claim.rules.units[self.claim.rules.unit_of[j]].len() as u64;
            self.progress.parts += 1;
        }
        if let Some(dual) = self.dual(&open) {
            self.tell(|| Step::Tighten { node, state: &open.state.choice, dual, parts: &parts });
        }
        (open.limits.tight, open.limits.cap) = (tight, cap);
        self.work(terms_read)?;
        Ok(Some(open))
    }

    /// Counts a closed part: the box, or that where one unit has this choice.
    pub(crate) fn count(&mut self, open: &OpenBox, more: Option<(usize, Choice)>, bound: f64) -> Checked<()> {
        let (bound, state) = (bound.min(open.limits.cap), &open.state);
        let decides = more.is_some_and(|(u, _)| state.choice[u] == Choice::Free);
        if state.free > usize::from(decides) {
            self.progress.parts += 1;
            self.rest = self.rest.min(bound);
            return Ok(());
        }
        self.work(self.claim.rules.size())?;
        let held = |u: usize| more.filter(|more| more.0 == u).map_or(state.choice[u], |more| more.1);
        let inside = (0..state.choice.len()).filter(|u| held(*u) == Choice::In);
        self.count_alone(self.claim.rules.features(inside), bound);
        Ok(())
    }

    /// Counts a single subset.
    pub(crate) fn count_alone(&mut self, subset: Vec<usize>, bound: f64) {
        self.progress.parts += 1;
        let bytes = 8 * subset.len() as u64;
        let own = self.alone.entry(subset).or_insert_with(|| {
            self.bytes.1 += bytes;
            f64::NEG_INFINITY
        });
        *own = own.max(bound);
        // Only subsets of small bounds can matter: the larger half joins the rest.
        if self.bytes.1 + EACH * self.alone.len() as u64 > self.allowed.memory / 4 {
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
        let (claim, features) = (self.claim, self.file.ascending("feature", self.claim.p)?);
        let (stated, own) = (self.file.number()?, self.file.number()?);
        let count = if claim.alignment() { 0 } else { claim.parts.len() };
        let machine = |_| Ok((self.file.list(features.len(), File::number)?, self.file.number()?));
        let machines = (0..count).map(machine).collect::<Checked<Vec<_>>>()?;
        if !claim.allows(&features) {
            return Err("the rules forbid its subset".to_owned());
        }
        let proven = match &claim.pairs {
            Some(pairs) => -pairs.value(&features).0,
            None => objective(claim, &features, &machines)?,
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
        let open = left.map_or(String::new(), |node| format!("; node {node} was left open"));
        for (one, _) in &mut self.listed {
            one.bound = self.alone.insert(one.features.clone(), f64::INFINITY).unwrap_or(f64::NAN);
            if one.bound == f64::INFINITY {
                return Err(format!("the subset {:?} is listed twice", one.features));
            }
        }
        let rest = self.alone.values().fold(left.map_or(self.rest, |_| f64::NEG_INFINITY), |a, b| a.min(*b));
        let best = self.listed.iter().map(|one| one.0.objective).fold(f64::INFINITY, f64::min);
        let room = ROOM * if best.is_finite() { best.abs() } else { claimed.abs() };
        let missed = |proven: f64, claimed: f64| !(proven == claimed || proven >= claimed - room);
        if missed(rest, claimed) {
            return Err(format!("the bound proven is {rest}, below the {claimed} claimed{open}"));
        }
        let mut listed = Vec::with_capacity(self.listed.len());
        for (mut one, own) in self.listed.drain(..) {
            // A box that holds it and others is part of the rest.
            one.bound = if one.bound.is_nan() { rest } else { one.bound };
            if missed(one.bound, own) {
                let (features, bound) = (&one.features, one.bound);
                return Err(format!("the own bound proven for {features:?} is {bound}, below the {own} claimed{open}"));
            }
            listed.push(one);
        }
        let (prices, baseline) = (self.claim.penalty.iter().copied(), self.claim.baseline());
        let price = prices.reduce(f64::min).unwrap_or(0.0);
        let (maximised, progress) = (self.claim.alignment(), self.progress);
        let verdict = Verdict { maximised, listed, rest, baseline, price, status, progress };
        verdict.contradiction().map_or(Ok(verdict), Err)
    }
}
