//! `rfe` on the command line.

use crate::AnyMethod;
use fewest::SvmSettings;
use fewest::kernel_oracle::Criterion;
use fewest::method::rfe::{Resamples, Resampling, RfeSettings, Tuning};

use super::MethodArgs;
use super::elimination::{RankingArgs, StepArgs};
use super::shared::{CertifyArgs, FoldsArgs, MethodData, ResumeArgs, StartNames, needs};
use crate::args::svm::SvmArgs;
use crate::args::values::{self, Costs};
use crate::failure::Failure;

/// Ways to resample by name.
const RESAMPLINGS: &[(&str, &str)] = &[
    ("folds", "K stratified folds, dealt again at each step; each resample leaves one of them out"),
    ("fixed-folds", "the same, dealt once"),
    ("bootstrap", "draws with replacement, within each class as many as it has samples, again at each step"),
];

#[derive(Debug, clap::Args)]
pub(crate) struct RfeArgs {
    #[command(flatten)]
    step: StepArgs,
    /// While more than N features survive, half of them leave in one step [default: never]
    #[arg(long, value_name = "N", value_parser = values::size, help_heading = "Method")]
    halve_above: Option<usize>,
    /// Multiple SVM-RFE: rank by SVMs trained on K resamples of the samples, by mean / standard
    /// deviation of w_j^2 / |w|^2; drawn by --seed, or fixed by --folds, a resample for each
    #[arg(long, value_name = "K", value_parser = values::folds, help_heading = "Method")]
    resamples: Option<usize>,
    /// With --resamples: how they are drawn [default: folds]
    #[arg(long, value_name = "HOW", value_parser = values::choice::<Resampling>(RESAMPLINGS), help_heading = "Method")]
    resampling: Option<Resampling>,
    #[command(flatten)]
    ranking: RankingArgs,
    /// Begin with these features alone, or with those of a result: a,b,c [default: all]
    #[arg(long, value_name = "A,B,...|RESULT.json", value_parser = StartNames::read, help_heading = "Method")]
    start: Option<StartNames>,
    /// Choose the cost among these by cross-validation: 0.25,1,4 [default: --cost alone]
    #[arg(long, value_name = "C,C,...", allow_negative_numbers = true, help_heading = "Method")]
    costs: Option<Costs>,
    /// With --costs: choose the cost again every N steps [default: 1]
    #[arg(long, value_name = "N", value_parser = values::at_least_one, help_heading = "Method")]
    retune: Option<u64>,
    #[command(flatten)]
    folds: FoldsArgs,
    #[command(flatten)]
    svm: SvmArgs,
    #[command(flatten)]
    certify: CertifyArgs,
    #[command(flatten)]
    resume: ResumeArgs,
}

impl MethodArgs for RfeArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let tuning = match &self.costs {
            Some(Costs(costs)) => {
                let (costs, folds) = (costs.clone(), self.folds.resolve(data)?);
                let retune = self.retune.unwrap_or(Tuning::default().retune);
                Some(Tuning { costs, folds, retune })
            }
            None => None,
        };
        let (svm, kernel, criterion) = (data.svm(self.svm()), self.ranking.kernel(), self.ranking.criterion());
        let start = self.start.as_ref().map(|names| names.indices(data.names)).transpose()?;
        let (step, halve_above, resamples) = (self.step.step(), self.halve_above, self.resamples(data)?);
        Ok(RfeSettings { svm, kernel, criterion, step, halve_above, resamples, tuning, start }.into())
    }

    fn check(&self) -> Result<(), Failure> {
        let typed = self.folds.typed().or(self.retune.map(|_| "retune"));
        if let (Some(option), None) = (typed, &self.costs) {
            match option {
                "folds" | "seed" if self.is_multiple() => {}
                "seed" => return Err(needs(option, "costs or --resamples")),
                _ => return Err(needs(option, "costs")),
            }
        }
        if self.retune.is_some() && self.costs.is_none() {
            return Err(needs("retune", "costs"));
        }
        self.check_multiple()?;
        self.svm.one_way_to_choose(self.costs.is_some())?;
        self.ranking.check()?;
        self.step.check()
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(RfeSettings::default().svm)
    }

    fn finds_size(&self) -> bool {
        false
    }

    fn deals_folds(&self) -> bool {
        self.costs.is_some()
    }

    fn draws(&self) -> bool {
        self.deals_folds() || self.is_multiple() && self.folds.column().is_none()
    }
}

impl RfeArgs {
    /// Whether machines of resamples rank.
    fn is_multiple(&self) -> bool {
        self.resamples.is_some() || (self.costs.is_none() && self.folds.column().is_some())
    }

    /// The resamples; those of `--folds` are as many as there are folds.
    fn resamples(&self, data: &MethodData<'_>) -> Result<Option<Resamples>, Failure> {
        if !self.is_multiple() {
            return Ok(None);
        }
        let folds =
            self.folds.column().map(|column| Ok::<_, Failure>((column, self.folds.resolve(data)?))).transpose()?;
        let count = match (self.resamples, &folds) {
            (Some(count), Some((column, folds))) if count != folds.count() => {
                return Err(Failure::Input(format!(
                    "--resamples is {count}, but the column `{column}` of --folds has {} folds; leave --resamples out",
                    folds.count()
                )));
            }
            (_, Some((_, folds))) => folds.count(),
            (count, None) => count.unwrap_or(Resamples::default().count),
        };
        let (resampling, seed) = (self.resampling.unwrap_or_default(), self.folds.seed());
        Ok(Some(Resamples { count, resampling, seed, folds: folds.map(|of| of.1) }))
    }

    /// Refuses what does not go with resamples, and what goes with them alone.
    fn check_multiple(&self) -> Result<(), Failure> {
        let refused = |text: &str| Err(Failure::input(text));
        if !self.is_multiple() {
            return if self.resampling.is_some() { Err(needs("resampling", "resamples")) } else { Ok(()) };
        }
        if self.costs.is_some() {
            return refused("--resamples trains at one cost, and --costs chooses among several; leave one of both out");
        }
        if !self.ranking.kernel().is_linear() {
            return refused(
                "--resamples ranks by weights, which only a linear kernel has; leave --resamples or --kernel out",
            );
        }
        if self.ranking.criterion() != Criterion::Weights {
            return refused(
                "--resamples has a criterion of its own, made of squared weights; leave --resamples or --criterion out",
            );
        }
        if self.resampling.is_some() && self.folds.column().is_some() {
            return refused("--resampling says how resamples are drawn, and --folds fixes them; leave one of both out");
        }
        Ok(())
    }
}
