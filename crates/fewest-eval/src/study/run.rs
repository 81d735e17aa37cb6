//! A study, from beginning to end.

use std::time::{Duration, Instant};

use fewest::{AllOrFirst as _, Error, Event, Limits, Observer, Status};
use rayon::prelude::*;

use super::folds::{Deal, PartDeal, check, named, outer_deals, parts};
use super::grid::{Grid, Job, Key, fit_middle, levels};
use super::inner::row;
use super::learn::{Learned, calibrate, choice, cut_short, judge, learn};
use super::panel::panel;
use super::part::PartSize;
use super::points_of::Source;
use super::prior::Prior;
use super::report::{Choice, Effort, FoldReport, InnerSize, Judgement, OtherFold, OtherPanel, StudyReport, Tried};
use super::score::Score;
use super::settings::{Prefer, StudySettings};
use super::state::{PartState, StudyState};
use super::table::{Row, Table};
use crate::part::Data;
use crate::time::Deadline;

/// Share of the time for all but the proof of the panel.
const WORK: f64 = 0.85;
/// Share of a part's time for its grid; the rest is for the selection.
const GRID: f64 = 0.8;
/// Time that is left for the selections on a part, in those of its first rows.
const SELECTIONS: u64 = 3;
/// From data to a panel: an honest estimate by outer folds, in each of which everything is done
/// again, and the same on all samples.
///
/// Steps    1. all samples: the inner table, the choice, the panel  2. each outer fold: the inner
///          table of its training part, the choice, the selection; the samples held out are judged
///          3. the proof of the panel, what comes next to it, what could replace what
///
/// `state` is what an earlier study with the same data and settings sent its observer. The answer
/// depends on the seed, not on the number of threads, as long as no limit is reached.
///
/// # Errors
/// Settings out of range, data that cannot be studied, rules that contradict each other. A limit is
/// a status of the report.
pub fn study(
    data: &Data<'_>,
    settings: &StudySettings,
    limits: &Limits,
    state: Option<StudyState>,
    observer: &mut dyn Observer,
) -> Result<StudyReport, Error> {
    let (grid, whole) = check(data, settings, limits)?;
    let outer = outer_deals(data, settings)?;
    let parts: Vec<PartDeal> = parts(data, settings, &outer)?;
    let all = Deadline::new(limits, settings.selection_seconds.map(Duration::from_secs_f64));
    let jobs = levels(&grid, settings).concat();
    let state = state.unwrap_or_default().sized(parts.len());
    let mut study = Study {
        data,
        settings,
        grid: &grid,
        whole,
        work: all.share(WORK),
        all,
        done: 0,
        total: parts.iter().map(|part| part.splits.len() as u64).sum::<u64>() * jobs.len() as u64,
        // Where nothing ends it early, no order of the jobs is needed.
        levels: if limits.time.is_none() { vec![jobs] } else { levels(&grid, settings) },
        least: parts.len().min(settings.folds + 1),
        state,
        observer,
        broken: false,
        short: false,
        faults: Vec::new(),
    };
    // Step 1.
    let mut first = study.panel_choice(&parts[0], study.shares(0))?;
    // Step 2. What ends a fold does not end the others.
    let mut failed = None;
    for (at, part) in parts.iter().enumerate().skip(1) {
        if study.state.parts[at].fold.is_some() {
            study.done += (part.splits.len() * study.jobs()) as u64;
            continue;
        }
        if study.stop().is_some() {
            continue;
        }
        let shares = study.shares(at);
        if let Err(error) = study.rows(at, part, shares).and_then(|deadline| study.fold(at, part, &deadline)) {
            let error = named(error, part, settings.repeats);
            study.faults.push((at, format!("{error}; this fold was left out")));
            failed.get_or_insert(error);
        }
        study.keep();
    }
    if let Some(error) = failed.filter(|_| study.faults.len() == outer.len()) {
        return Err(error);
    }
    // What the folds left of the time is for the panel.
    if study.stop().is_none() && study.missing(0) > 0 {
        let rest = study.work.clone();
        first = study.panel_choice(&parts[0], [rest.clone(), rest])?.or(first);
    }
    // Step 3.
    let (mut cut, mut found, mut other) = (study.stop().is_some() || study.short, None, None);
    let mut points = None;
    if let Some((learned, key)) = first {
        let rows = &study.state.parts[0].rows;
        let calibration = calibrate(data, &parts[0].splits, rows, &grid, settings, key)?;
        let (panel, short) = panel(learned, calibration, &grid, settings, &study.all)?;
        cut |= short;
        points = study.points_of(0, &parts[0], key).map(|source| source.of_panel(&panel)).transpose()?;
        found = Some(panel);
        other = study.other_panel(&parts[0], key)?;
    }
    Ok(StudyReport { other, points, ..study.report(&parts, found, cut, limits) })
}

/// A running study.
struct Study<'a> {
    data: &'a Data<'a>,
    settings: &'a StudySettings,
    grid: &'a Grid,
    /// The size of all samples together.
    whole: PartSize,
    all: Deadline,
    work: Deadline,
    /// Jobs on inner splits done, and to do.
    done: u64,
    total: u64,
    /// The jobs of an inner split, coarse first.
    levels: Vec<Vec<Job>>,
    /// Parts of which none is left without a choice, where time allows that: all samples and one
    /// deal of the outer folds.
    least: usize,
    state: StudyState,
    observer: &'a mut dyn Observer,
    /// Whether the observer asked to stop.
    broken: bool,
    /// Whether a limit left the choice on all samples without a subset.
    short: bool,
    /// Parts that an error ended, and what it says.
    faults: Vec<(usize, String)>,
}

impl Study<'_> {
    /// The limit that was reached, if any.
    fn stop(&self) -> Option<Status> {
        if self.broken { Some(Status::Cancelled) } else { self.work.stop() }
    }

    /// Tells how far it is, and the state to resume from.
    fn keep(&mut self) {
        let progress = Event::Progress { done: self.done, total: Some(self.total), elapsed: self.work.elapsed() };
        self.broken |= self.observer.on(&progress).is_break();
        let kept = self.state.kept();
        self.broken |= self.observer.on(&Event::Checkpoint { state: &kept, last: self.stop().is_some() }).is_break();
    }

    /// Jobs on an inner split.
    fn jobs(&self) -> usize {
        self.levels.iter().map(Vec::len).sum()
    }

    /// Jobs of a part that are not done.
    fn missing(&self, at: usize) -> usize {
        let done = |row: &Option<Row>| row.as_ref().map_or(0, |row| row.jobs.len());
        let rows = &self.state.parts[at].rows;
        rows.iter().map(|row| self.jobs() - done(row).min(self.jobs())).sum()
    }

    /// The time of a part for its first level, which is an equal share among the parts that are to
    /// have one, and for the others, an equal share among all.
    fn shares(&self, at: usize) -> [Deadline; 2] {
        let parts = self.state.parts.len();
        let least = if at < self.least { self.least } else { parts };
        [least, parts].map(|parts| self.work.share(1.0 / (parts - at) as f64))
    }

    /// The rows of a part, level after level, as many splits at a time as there are threads; when the
    /// selection on the part must end.
    fn rows(&mut self, at: usize, part: &PartDeal, shares: [Deadline; 2]) -> Result<Deadline, Error> {
        self.state.parts[at].rows.resize_with(part.splits.len(), || None);
        self.done += (part.splits.len() * self.jobs() - self.missing(at)) as u64;
        let (mut level, mut reserved) = (0, Duration::ZERO);
        while let Some(jobs) = self.levels.get(level).cloned() {
            let deadline = shares[level.min(1)].before(reserved).share(GRID);
            let lacking = |row: &Option<Row>| -> Vec<Job> {
                let done = |job: &Job| row.as_ref().is_some_and(|row| row.jobs.contains(job));
                jobs.iter().copied().filter(|job| !done(job)).collect()
            };
            let lacks: Vec<(usize, Vec<Job>)> =
                self.state.parts[at].rows.iter().map(lacking).enumerate().filter(|lack| !lack.1.is_empty()).collect();
            let mut plenty = false;
            for batch in lacks.chunks(rayon::current_num_threads().max(1)) {
                if self.broken || deadline.stop().is_some() {
                    break;
                }
                let begun = Instant::now();
                self.batch(at, part, batch, &deadline)?;
                self.keep();
                let jobs: usize = batch.iter().map(|lack| lack.1.len()).sum();
                plenty = self.levels.len() > 1 && self.is_plenty(jobs, begun.elapsed());
                if plenty {
                    break;
                }
            }
            if plenty {
                // The order of the jobs is of no account.
                self.levels = vec![self.levels.concat()];
                level = 0;
            } else if self.state.parts[at].rows.iter().all(|row| lacking(row).is_empty()) {
                if level == 0 {
                    // Finer levels leave time for the selections on the whole part.
                    let longest = self.state.parts[at].rows.iter().flatten().map(|row| row.milliseconds).max();
                    reserved = Duration::from_millis(SELECTIONS * longest.unwrap_or(0));
                }
                level += 1;
            } else {
                break;
            }
        }
        let [first, rest] = shares;
        let complete = self.missing(at) == 0;
        self.state.parts[at].effort = effort(&self.state.parts[at].rows, self.jobs());
        Ok(if complete { rest } else { first })
    }

    /// Jobs on some splits of a part, which are worked on at the same time.
    fn batch(
        &mut self,
        at: usize,
        part: &PartDeal,
        batch: &[(usize, Vec<Job>)],
        deadline: &Deadline,
    ) -> Result<(), Error> {
        let (data, grid, settings) = (self.data, self.grid, self.settings);
        let one = |(split, jobs): &(usize, Vec<Job>)| row(data, &part.splits[*split], grid, jobs, settings, deadline);
        let found: Vec<Row> = batch.par_iter().map(one).all_or_first()?;
        for ((split, _), row) in batch.iter().zip(found) {
            let done = row.jobs.len() as u64;
            match &mut self.state.parts[at].rows[*split] {
                // A level that was cut short says less than the ones before.
                Some(_) if row.cut => continue,
                Some(known) => known.add(row),
                none => *none = Some(row),
            }
            self.done += done;
        }
        Ok(())
    }

    /// Whether half of the time is enough for all jobs, of which `jobs` took this long.
    fn is_plenty(&self, jobs: usize, took: Duration) -> bool {
        let waiting = (self.total - self.done.min(self.total)) as f64;
        let needed = took.mul_f64(waiting / jobs.max(1) as f64);
        self.work.left().is_none_or(|left| needed < left / 2)
    }

    /// Table of the splits that nothing cut short; where there are none, of what the others have in
    /// common.
    fn table(&self, at: usize, part: &PartDeal) -> Table {
        let rows = || self.state.parts[at].rows.iter().flatten();
        let done: Vec<&Row> = rows().filter(|row| !row.cut).collect();
        let rows = if done.is_empty() { rows().collect() } else { done };
        let prior = Prior::new(self.grid, self.settings, part.deal.inside.len(), self.whole.usable);
        Table::new(&rows, self.data.features.n_features(), self.grid, &prior)
    }

    /// Step 1: the choice on all samples and what it selects; none where there was no time for
    /// either.
    fn panel_choice(&mut self, part: &PartDeal, shares: [Deadline; 2]) -> Result<Option<(Learned, Key)>, Error> {
        let deadline = self.rows(0, part, shares)?;
        let table = self.table(0, part);
        let (learned, key) = self.learned(&part.deal, &table, self.choices(&table)[0], &deadline)?;
        self.short = learned.features.is_empty() && cut_short(learned.report.selection.outcome.status);
        Ok((!learned.features.is_empty()).then_some((learned, key)))
    }

    /// The choice that is preferred and the other one; the middle of the grid where there is none.
    fn choices(&self, table: &Table) -> [Key; 2] {
        let settings = self.settings;
        let best = settings.rule.choose(table).unwrap_or_else(|| self.middle());
        let smallest = settings.rule.smallest(table, best, 1.0 / (settings.inner_folds - 1) as f64);
        match settings.prefer {
            Prefer::Best => [best, smallest],
            Prefer::Smallest => [smallest, best],
        }
    }

    /// The choice on all samples that is not the panel's.
    fn other_panel(&self, part: &PartDeal, taken: Key) -> Result<Option<OtherPanel>, Error> {
        let [_, key] = self.choices(&self.table(0, part));
        if key == taken || self.all.stop().is_some() {
            return Ok(None);
        }
        let learned = learn(self.data, &part.deal.inside, self.grid, self.settings, key, &self.all.share(0.5))?;
        Ok(Some(OtherPanel { choice: learned.choice, selected: learned.features }))
    }

    /// What a points score of a part is made from; none where none is asked for.
    fn points_of<'b>(&'b self, at: usize, part: &'b PartDeal, key: Key) -> Option<Source<'b>> {
        let (data, grid, settings, rows) = (self.data, self.grid, self.settings, &self.state.parts[at].rows[..]);
        let source = Source { data, deal: &part.deal, splits: &part.splits, rows, grid, settings, key };
        settings.points.then_some(source)
    }

    /// The choice, selected and trained. A method that finds no feature of use gives way to what the
    /// rule chooses of the others; if none finds one, the last one's empty subset.
    fn learned(&self, deal: &Deal, table: &Table, mut key: Key, deadline: &Deadline) -> Result<(Learned, Key), Error> {
        let mut gone = Vec::new();
        loop {
            let learned = learn(self.data, &deal.inside, self.grid, self.settings, key, deadline)?;
            let done = !learned.features.is_empty() || cut_short(learned.report.selection.outcome.status);
            gone.push(key.method);
            let others = || table.only(|key| !gone.contains(&key.method));
            match if done { None } else { self.settings.rule.choose(&others()) } {
                Some(other) => key = other,
                None => return Ok((learned, key)),
            }
        }
    }

    /// The middle of the grid, the largest size.
    fn middle(&self) -> Key {
        let cost = if self.grid.methods[0].has_cost() { self.settings.cost_points / 2 } else { 0 };
        Key { size: self.grid.sizes.len() - 1, cost, fit: fit_middle(), method: 0 }
    }

    /// Step 2: chooses, selects and judges; nothing where time is over.
    fn fold(&mut self, at: usize, part: &PartDeal, deadline: &Deadline) -> Result<(), Error> {
        if self.stop().is_some() {
            return Ok(());
        }
        let (data, grid, settings, table) = (self.data, self.grid, self.settings, self.table(at, part));
        let begun = Instant::now();
        let [first, second] = self.choices(&table);
        let half = if first == second { deadline.clone() } else { deadline.share(0.5) };
        let (learned, key) = self.learned(&part.deal, &table, first, &half)?;
        let PartState { rows, effort, .. } = &self.state.parts[at];
        let judged = |learned: &Learned, key: Key| -> Result<Judgement, Error> {
            let calibration = calibrate(data, &part.splits, rows, grid, settings, key)?;
            judge(data, learned, &calibration, &part.deal.outside)
        };
        let judgement = judged(&learned, key)?;
        let mut other = None;
        if first != second {
            let learned = learn(data, &part.deal.inside, grid, settings, second, deadline)?;
            let judgement = judged(&learned, second)?;
            other = Some(OtherFold { choice: learned.choice, selected: learned.features, judgement });
        }
        let points = self.points_of(at, part, key).map(|source| source.of_fold(&learned)).transpose()?;
        if self.stop() == Some(Status::Cancelled) {
            return Ok(());
        }
        let status = learned.report.selection.outcome.status;
        let stopped = cut_short(status) || self.missing(at) > 0;
        let fold = FoldReport {
            repeat: part.repeat,
            fold: part.fold,
            choice: learned.choice,
            selected: learned.features,
            status,
            judgement,
            other,
            points,
            inner: inner(&table, grid, settings.rule),
            seconds: effort.seconds() + begun.elapsed().as_secs_f64(),
            stopped,
        };
        let state = &mut self.state.parts[at];
        (state.fold, state.rows) = (Some(fold), Vec::new());
        Ok(())
    }

    fn report(
        self,
        parts: &[PartDeal],
        panel: Option<super::report::Panel>,
        cut: bool,
        limits: &Limits,
    ) -> StudyReport {
        let (data, grid, settings, table) = (self.data, self.grid, self.settings, self.table(0, &parts[0]));
        let mut total = Effort::default();
        let failed = |at: usize| self.faults.iter().any(|fault| fault.0 == at);
        for (at, (part, state)) in parts.iter().zip(&self.state.parts).enumerate() {
            total = total.plus(&state.effort);
            if !failed(at) && state.effort.splits + state.effort.splits_left == 0 {
                total.splits_left += part.splits.len() as u64;
            }
        }
        let folds: Vec<FoldReport> = self.state.parts.iter().filter_map(|part| part.fold.clone()).collect();
        total.folds_left = (parts.len() - 1 - folds.len() - self.faults.len()) as u64;
        let left = total.splits_left + total.selections_left + total.folds_left > 0;
        let stopped = cut || left || folds.iter().any(|fold| fold.stopped);
        let status = match (self.broken || limits.cancel.is_cancelled(), stopped) {
            (true, true) => Status::Cancelled,
            (false, true) if limits.time.is_some() => Status::TimeLimit,
            _ => Status::Completed,
        };
        let share = |part: &PartDeal| part.deal.outside.len() as f64 / part.deal.inside.len() as f64;
        StudyReport {
            status,
            panel,
            other: None,
            points: None,
            tried: tried(&table, self.whole, grid, settings),
            inner: inner(&table, grid, settings.rule),
            folds,
            faults: self.faults.into_iter().map(|fault| fault.1).collect(),
            effort: total,
            methods: grid.methods.clone(),
            left_out: grid.left_out.clone(),
            sizes: grid.sizes.clone(),
            test_share: parts[1..].iter().map(share).sum::<f64>() / (parts.len() - 1) as f64,
            n_features: data.features.n_features(),
        }
    }
}

/// What was done on the inner splits of a part.
fn effort(rows: &[Option<Row>], jobs: usize) -> Effort {
    let mut out = Effort { splits_left: rows.iter().filter(|row| row.is_none()).count() as u64, ..Effort::default() };
    for row in rows.iter().flatten() {
        out.splits += 1;
        out.selections += row.selections;
        out.trainings += row.trainings;
        out.selections_left += jobs.saturating_sub(row.jobs.len()) as u64;
        out.milliseconds += row.milliseconds;
    }
    out
}

/// Accuracy of each size with the costs and the method that the rule's score likes best there.
fn inner(table: &Table, grid: &Grid, rule: Score) -> Vec<InnerSize> {
    let at_size = |size: usize| {
        let key = rule.best(&table.only(|key| key.size == size))?;
        let values = table.line(key)?.values(Score::Accuracy);
        let summary = (!values.is_empty()).then(|| fewest::validation::Summary::new(&values, 0.0))?;
        Some(InnerSize { max_features: grid.sizes[size], accuracy: summary.mean, se: summary.se })
    };
    (0..grid.sizes.len()).filter_map(at_size).collect()
}

/// Each method at its best on the inner splits of all samples.
fn tried(table: &Table, whole: PartSize, grid: &Grid, settings: &StudySettings) -> Vec<Tried> {
    let one = |method: usize| {
        let key = settings.rule.choose(&table.only(|key| key.method == method))?;
        let line = table.line(key)?;
        let accuracy = line.judged(Score::Accuracy).map(|judged| judged.mean);
        let score = line.judged(settings.rule)?.mean;
        let choice: Choice = choice(whole, grid, settings, key);
        Some(Tried { choice, accuracy, score, stability: line.stability })
    };
    (0..grid.methods.len()).filter_map(one).collect()
}
