//! `fewest certify`: how far a given list of features is from the best one of its size, what each of
//! them is worth, and what could take its place.

use crate::AnyMethod;
use fewest::method::certified_list::{CertifiedList, certify_list};
use fewest::method::exact::ExactSettings;
use fewest::{Error, Kernel, Outcome, Report, RuleList, Rules, Selection, Sense, Subset};
use fewest_data::Names;
use fewest_result::{Kind, ListJudgement, ListedFeature, ProofFile, Replacement, Solution, entries};
use serde_json::json;

use super::fit::{FeatureChoice, features};
use super::invocation::Invocation;
use super::prepare::listed;
use super::selection::{Plan, Task};
use super::sinks::{Sinks, proof_sink};
use super::{certify, report, select};
use crate::args::notation;
use crate::cli::{CertifyArgs, SOLUTIONS};
use crate::export::result::{exit_code, selection_document};
use crate::export::table::{self, Table};
use crate::failure::{Failure, in_options};
use crate::method_args::MethodOptions;
use crate::progress::{History, OWN, Watch};

/// What results and proofs call the command.
const NAME: &str = "certify";

/// Exit code where no subset satisfies the rules.
const NOTHING_ALLOWED: u8 = 4;

/// Rows of each table; `--json` holds more.
const ROWS: usize = 50;

/// Runs the command.
pub(crate) fn run(args: &CertifyArgs, options: &MethodOptions, invocation: &Invocation) -> Result<u8, Failure> {
    judge(args, options, invocation, true).map(|judged| judged.0)
}

/// Writes the proof of a list that obeys the rules, and tells nothing; its file.
pub(crate) fn prove(
    args: &CertifyArgs,
    options: &MethodOptions,
    invocation: &Invocation,
) -> Result<Option<String>, Failure> {
    judge(args, options, invocation, false).map(|judged| judged.1)
}

/// The exit code, and the file of the proof.
fn judge(
    args: &CertifyArgs,
    options: &MethodOptions,
    invocation: &Invocation,
    tells: bool,
) -> Result<(u8, Option<String>), Failure> {
    let (terminal, selection) = (invocation.terminal, args.selection());
    if options.chooses_cost() {
        return Err(Failure::input(
            "--cost is auto, but certify takes a number; `fewest select --cost auto --json RESULT.json` chooses one",
        ));
    }
    let (size, wanted) = (args.rules.max_features()?, FeatureChoice::listed(&args.features)?);
    let plan = Plan::of_any_size(&selection, &args.story, options, invocation, size)?;
    // Groups are those of the folds that the list came from.
    let plan = if args.groups.is_some() { plan.keeping_raw() } else { plan };
    let proof = proof_sink(options)?;
    let sinks = Sinks::open(&selection, args.story.trace.as_ref(), (None, None, proof.as_ref()))?;
    let mut task = plan.load()?;
    let features = features(&wanted, &task.prepared)?;
    if let Err(error) = task.keep_to_size(features.len()) {
        let size = notation::plural(features.len(), "feature");
        terminal.error(&format!(
            "no subset of at most {size}, as the list has, satisfies the rules: {error} (--max-features)"
        ));
        return Ok((NOTHING_ALLOWED, None));
    }
    let subset = Subset::from_indices(task.rules.p(), features.iter().copied());
    let broken = task.broken(&subset)?;
    for rule in &broken {
        terminal.warn(&format!("the list breaks a rule: {rule}"));
    }

    let settings = task.search(options);
    let mut proof = task.proof_file(false);
    if let Some(proof) = &mut proof {
        tell(proof, &features, broken.is_empty());
    }
    let watch = Watch::new(&task.prepared.data.names, terminal, sinks.trace.as_ref());
    let mut watch = watch.proving(None, proof.as_mut())?;
    let samples = task.prepared.samples()?;
    let list = certify_list(&samples, &features, &task.rules, &settings, task.method_limits(), &mut watch)?;
    let histories = watch.finish()?;
    let proofs = proof.map_or(Ok(Vec::new()), ProofFile::finish)?;
    let written = proofs.first().cloned();
    if tells {
        View { task: &task, list: &list, broken: &broken }.write(&sinks, &histories, written.as_ref())?;
    }
    let status = list.certificate.status;
    if status.is_limit() {
        terminal.note(&format!("stopped ({status}); this is what is proven so far"));
    }
    Ok((exit_code(status), written))
}

/// What the header of the proof says of the list; one that breaks the rules is not in the proof.
fn tell(proof: &mut ProofFile, features: &[usize], allowed: bool) {
    proof.tell("method", json!(NAME));
    if allowed {
        proof.tell(OWN, json!(features));
    }
}

impl Task<'_> {
    /// Limits subsets to the size of the list, where the rules name none.
    ///
    /// # Errors
    /// Rules that need more features.
    fn keep_to_size(&mut self, size: usize) -> Result<(), Error> {
        if self.asked.max_features.is_none() {
            let list = RuleList { max_features: Some(size), ..self.rules.list().clone() };
            self.rules = Rules::new(self.rules.p(), list, listed(&self.prepared.data.names))?;
            self.asked.max_features = Some(size);
        }
        Ok(())
    }

    /// The rules that a list breaks, in words.
    ///
    /// # Errors
    /// None: the rules have been through this.
    fn broken(&self, subset: &Subset) -> Result<Vec<String>, Failure> {
        let (prepared, names) = (&self.prepared, &self.prepared.data.names);
        let asked = Rules::new(names.len(), self.asked.clone(), listed(names))?;
        let broken = asked.broken(subset, listed(names));
        let mut broken: Vec<String> = broken.iter().map(|text| in_options(text)).collect();
        let out = [
            (&prepared.learnt.constant, "has one value only and is never selected"),
            (&prepared.learnt.low_variance, "is below the --variance-threshold"),
        ];
        for (features, why) in out {
            let of = subset.iter().filter(|j| features.contains(*j) && !self.asked.forbid.contains(*j));
            broken.extend(of.map(|j| format!("{} {why}", names.get(j))));
        }
        Ok(broken)
    }

    /// The search that judges the list.
    fn search(&mut self, options: &MethodOptions) -> ExactSettings {
        let AnyMethod::Exact(settings) = &mut self.method else { unreachable!("the search is that of exact") };
        settings.solutions = options.value("solutions").unwrap_or(SOLUTIONS);
        (**settings).clone()
    }
}

/// The facts of a list.
struct View<'a> {
    task: &'a Task<'a>,
    list: &'a CertifiedList,
    broken: &'a [String],
}

impl View<'_> {
    /// Writes JSON and page, and the text.
    fn write(&self, sinks: &Sinks, histories: &[History], proof: Option<&String>) -> Result<(), Failure> {
        let (task, terminal) = (self.task, self.task.terminal());
        let report = self.report();
        if sinks.json.is_some() || sinks.report.is_some() {
            let trained = task.train(&report, &task.clock())?;
            let mut result = task.result(NAME, &report, (histories, None), trained.as_ref());
            result.proven.gap = self.list.gap();
            result.proof = proof.cloned();
            if task.describes() {
                result.description = task.description(&report)?;
            }
            result.details = entries(&self.judgement());
            let document = selection_document(Kind::Certificate, &result, &[], self.names());
            report::write(document, sinks.json.as_ref(), sinks.report.as_ref(), terminal)?;
        }
        if sinks.taken { Ok(()) } else { terminal.out(&self.text()) }
    }

    fn names(&self) -> &Names {
        &self.task.prepared.data.names
    }

    fn name(&self, j: usize) -> String {
        self.names().get(j).into_owned()
    }

    /// The list as what a method selected.
    fn report(&self) -> Report {
        let CertifiedList { subset, certificate, solutions, .. } = self.list;
        let outcome = Outcome {
            status: certificate.status,
            subset: Some(subset.clone()),
            objective: Some(certificate.objective),
            sense: Sense::Min,
            bound: certificate.bound,
            yardstick: Some(certificate.yardstick),
            elapsed: certificate.elapsed,
            counts: certificate.counts,
        };
        Report::new(Selection { outcome, ranking: Vec::new(), solutions: solutions.clone() }, Kernel::Linear)
    }

    /// The most features that the list is compared with.
    fn size(&self) -> usize {
        self.task.rules.list().max_features.unwrap_or(self.list.subset.len())
    }

    /// What a result of a list has besides those of a selection.
    fn judgement(&self) -> ListJudgement {
        let list = self.list;
        ListJudgement {
            sentence: self.sentence(),
            max_features: self.size(),
            allowed: list.allowed,
            broken_rules: self.broken.to_vec(),
            best: self.solution(&list.certificate.best),
            features: list.subset.iter().map(|j| self.feature(j)).collect(),
            better: self.better(),
        }
    }

    fn solution(&self, found: &fewest::Solution) -> Solution {
        Solution::new(&found.subset, Some(found.objective), self.names())
    }

    fn better(&self) -> Vec<Solution> {
        self.list.better().map(|found| self.solution(found)).collect()
    }

    /// What is known of one feature.
    fn feature(&self, j: usize) -> ListedFeature {
        let swap = self.list.swaps.iter().find(|swap| swap.feature == j);
        let by = swap.and_then(|swap| swap.by.first());
        ListedFeature {
            name: self.name(j),
            index: j,
            gain: self.list.gain(j),
            without: swap.map(|swap| swap.without),
            replacement: by.map(|&(index, objective)| Replacement { name: self.name(index), index, objective }),
        }
    }

    /// How far the list is from the best.
    fn sentence(&self) -> String {
        let (list, size) = (self.list, self.size());
        let (objective, bound) = (list.certificate.objective, list.certificate.bound);
        match bound.filter(|bound| *bound > objective) {
            Some(bound) => format!(
                "the list breaks the rules, and with {} it is better than every subset of at most {} that they allow: none of these is better than {}",
                table::number(objective),
                notation::plural(size, "feature"),
                fewest_report::bound(bound, false)
            ),
            None => certify::words(&list.certificate, (&list.subset, size), self.names()),
        }
    }

    /// The tables for people.
    fn text(&self) -> String {
        let (list, task, prepared) = (self.list, self.task, &self.task.prepared);
        let (certificate, indices) = (&list.certificate, list.subset.iter().collect::<Vec<usize>>());
        let count = format!("{} of {}", indices.len(), notation::plural(self.names().len(), "feature"));
        let mut lines = vec![
            ("list", count),
            ("objective", format!("{} (smaller is better)", table::number(certificate.objective))),
        ];
        if let Some(bound) = certificate.bound {
            let gap = list.gap().map_or_else(String::new, |gap| format!(" (gap {})", fewest_report::at_most(gap)));
            lines.push(("bound", format!("{}{gap}", fewest_report::bound(bound, false))));
        }
        lines.push(("status", certificate.status.name().to_owned()));
        lines.extend((certificate.counts.nodes > 0).then(|| ("nodes", certificate.counts.nodes.to_string())));
        let size = format!("at most {}", self.size());
        lines.push(("rules", task.rules_text(Some(&size), &[])));
        lines.extend(self.broken.iter().map(|rule| ("broken", rule.clone())));
        lines.push(("samples", prepared.data.features.n_samples().to_string()));
        lines.push(("target", format!("{}: {}", prepared.target.column, prepared.classes_text())));
        lines.extend(prepared.missing_text().map(|text| ("missing", text)));
        lines.push(("scaling", prepared.scaling_text()));
        let times = [task.reading, certificate.elapsed].map(|time| table::seconds(time.as_secs_f64()));
        lines.push(("time", format!("read {}, certify {}", times[0], times[1])));
        let mut out = table::pairs(&lines) + "\n" + &self.features(&indices);
        let better = self.better();
        if !better.is_empty() {
            out = out + "\n" + &select::solutions("better", &better);
        }
        out + "\n" + &table::paragraph(&self.sentence(), 0)
    }

    /// The features, those that gain most first.
    fn features(&self, indices: &[usize]) -> String {
        let mut rows: Vec<(usize, Option<f64>)> = indices.iter().map(|&j| (j, self.list.gain(j))).collect();
        let gain = |row: &(usize, Option<f64>)| row.1.unwrap_or(f64::NEG_INFINITY);
        rows.sort_by(|a, b| gain(b).total_cmp(&gain(a)).then(a.0.cmp(&b.0)));
        let mut out = Table::new(&["feature", "gain", "best in its place", "objective then"], 0);
        for &(j, gain) in rows.iter().take(ROWS) {
            let by = self.list.swaps.iter().find(|swap| swap.feature == j).and_then(|swap| swap.by.first());
            out.row(vec![
                self.name(j),
                gain.map_or_else(String::new, table::number),
                by.map_or_else(String::new, |by| self.name(by.0)),
                by.map_or_else(String::new, |by| table::number(by.1)),
            ]);
        }
        out.render(table::style()) + &select::more_rows(rows.len())
    }
}
