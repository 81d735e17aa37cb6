//! `info-gain` on the command line.

use crate::AnyMethod;
use fewest::SvmSettings;
use fewest::method::info_gain::{Binning, InfoGainSettings};

use super::MethodArgs;
use super::shared::{CertifyArgs, MethodData};
use crate::args::svm::SvmArgs;
use crate::failure::Failure;

#[derive(Debug, clap::Args)]
pub(crate) struct InfoGainArgs {
    /// How numeric features are cut: mdl (Fayyad and Irani), or a number of equally filled bins
    #[arg(long, value_name = "mdl|N", default_value = "mdl", value_parser = binning, help_heading = "Method")]
    binning: Binning,
    #[command(flatten)]
    svm: SvmArgs,
    #[command(flatten)]
    certify: CertifyArgs,
}

fn binning(text: &str) -> Result<Binning, String> {
    match text.parse() {
        _ if text == "mdl" => Ok(Binning::Mdl),
        Ok(bins) if bins >= 2 => Ok(Binning::EqualFrequency(bins)),
        _ => Err("must be mdl or a number of bins, at least 2".to_owned()),
    }
}

impl MethodArgs for InfoGainArgs {
    fn method(&self, _data: &MethodData<'_>) -> Result<AnyMethod, Failure> {
        Ok(InfoGainSettings { binning: self.binning }.into())
    }

    fn svm(&self) -> SvmSettings {
        self.svm.settings(SvmSettings::default())
    }

    fn finds_size(&self) -> bool {
        false
    }
}
