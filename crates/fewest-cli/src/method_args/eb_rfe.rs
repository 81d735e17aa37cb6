//! `eb-rfe` on the command line.

use crate::AnyMethod;
use fewest::SvmSettings;
use fewest::method::eb_rfe::EbRfeSettings;

use super::MethodArgs;
use super::elimination::RankingArgs;
use super::shared::{CertifyArgs, FoldsArgs, MethodData, ResumeArgs, StartNames};
use crate::args::svm::MarginArgs;
use crate::args::values::{self, Costs};
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct EbRfeArgs {
    /// Candidates per step; the smallest number of the paper's table
    #[arg(long, value_name = "K", default_value_t = 3, value_parser = values::size, help_heading = "Method")]
    candidates: usize,
    /// Only features whose criterion exceeds the smallest by at most (RATIO - 1) times its size are
    /// candidates
    #[arg(long, value_name = "RATIO", value_parser = values::one_or_more, allow_negative_numbers = true, help_heading = "Method")]
    adaptive: Option<f64>,
    /// Take the smallest subset whose accuracy is at most this below the best one's, such as 0.01:
    /// one sample of a hundred; se: one standard error of the best one's over the folds
    #[arg(long, value_name = "SHARE|se", default_value = "0", value_parser = AccuracyLoss::read, allow_negative_numbers = true,
        help_heading = "Method")]
    accuracy_loss: AccuracyLoss,
    /// Times that the folds of --cv are dealt, by --seed and the numbers after it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::size, help_heading = "Method")]
    deals: usize,
    /// Choose the cost among these by cross-validation [default: 0.0625,0.25,1,4,16,64]
    #[arg(long, value_name = "C,C,...", allow_negative_numbers = true, help_heading = "Method")]
    costs: Option<Costs>,
    /// Begin with these features alone, or with those of a result: a,b,c [default: all]
    #[arg(long, value_name = "A,B,...|RESULT.json", value_parser = StartNames::read, help_heading = "Method")]
    start: Option<StartNames>,
    #[command(flatten)]
    folds: FoldsArgs,
    #[command(flatten)]
    resume: ResumeArgs,
    #[command(flatten)]
    ranking: RankingArgs,
    #[command(flatten)]
    svm: MarginArgs,
    #[command(flatten)]
    certify: CertifyArgs,
}

/// `--accuracy-loss`; none: one standard error.
#[derive(Debug, Clone, Copy)]
struct AccuracyLoss(Option<f64>);

impl AccuracyLoss {
    fn read(text: &str) -> Result<Self, String> {
        if text == "se" {
            return Ok(Self(None));
        }
        text.parse().map(|loss| Self(Some(loss))).map_err(|_| "must be a share, or se".to_owned())
    }
}

impl MethodArgs for EbRfeArgs {
    fn method(&self, data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        let costs = self.costs.as_ref().map_or_else(|| EbRfeSettings::default().costs, |costs| costs.0.clone());
        Ok(EbRfeSettings {
            svm: data.svm(self.svm()),
            kernel: self.ranking.kernel(),
            criterion: self.ranking.criterion(),
            candidates: self.candidates,
            adaptive: self.adaptive,
            accuracy_loss: self.accuracy_loss.0,
            costs,
            folds: self.folds.resolve_deals(data, self.deals)?,
            start: self.start.as_ref().map(|names| names.indices(data.names)).transpose()?,
        }
        .into())
    }

    fn check(&self) -> Result<(), Failure> {
        self.ranking.check()
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(SvmSettings::default())
    }

    fn deals_folds(&self) -> bool {
        true
    }
}
