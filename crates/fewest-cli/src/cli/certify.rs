//! `fewest certify` on the command line; the options of its search are those of `exact`.

use std::path::PathBuf;
use std::time::Duration;

use super::{SelectionArgs, StoryArgs};
use crate::args::data::{DataArgs, PrepareArgs};
use crate::args::rules::RuleArgs;
use crate::args::values;

/// The method whose search judges the list.
pub(crate) const SEARCH: &str = "exact";

/// `fewest certify`.
#[derive(Debug, clap::Args)]
#[command(after_help = super::help::CERTIFY_EXAMPLES)]
pub(crate) struct CertifyArgs {
    /// Data.
    #[command(flatten)]
    pub(crate) data: DataArgs,
    /// The list to judge: a,b,c or a file with one name per line or JSON {"selected": [...]}, such as
    /// a result (repeat freely)
    #[arg(long, value_name = "NAMES|FILE", required = true)]
    pub(crate) features: Vec<String>,
    /// Column of a study that is set apart: its groups.
    #[arg(skip)]
    pub(crate) groups: Option<String>,
    /// Preparation.
    #[command(flatten)]
    pub(crate) prepare: PrepareArgs,
    /// Rules.
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Stop after this long with what is proven so far, reading included: 500ms, 60s, 5m, 1h
    #[arg(long, value_name = "TIME", value_parser = values::time, help_heading = "Limits")]
    pub(crate) time_limit: Option<Duration>,
    /// Write the result as JSON to this file, or - for standard output (the table is then left out)
    #[arg(long, value_name = "FILE|-", help_heading = "Output")]
    pub(crate) json: Option<PathBuf>,
    /// Write a page for people to this file, or - for standard output
    #[arg(long, value_name = "FILE.html", help_heading = "Output")]
    pub(crate) report: Option<PathBuf>,
    /// Trace and description.
    #[command(flatten)]
    pub(crate) story: StoryArgs,
}

/// Best subsets that are searched for where `--solutions` does not say it.
pub(crate) const SOLUTIONS: usize = 3;

/// An option of the search in the words of this command.
pub(super) fn of_search(arg: clap::Arg) -> clap::Arg {
    if arg.get_id() != "solutions" {
        return arg;
    }
    arg.help(format!(
        "Find and prove this many best subsets, and show those better than the list [default: {SOLUTIONS}]"
    ))
}

impl CertifyArgs {
    /// The options of a selection by the search that certifies.
    pub(crate) fn selection(&self) -> SelectionArgs {
        SelectionArgs {
            data: self.data.clone(),
            method: SEARCH.to_owned(),
            prepare: self.prepare.clone(),
            rules: self.rules.clone(),
            groups: self.groups.clone(),
            time_limit: self.time_limit,
            json: self.json.clone(),
            report: self.report.clone(),
        }
    }
}
