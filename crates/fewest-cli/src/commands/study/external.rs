//! `--external FILE`: the panel on the samples of another file, none of which takes part in the
//! study.

use fewest::RuleList;
use fewest_data::{DataError, Dataset};
use fewest_result::{JudgedSamples, TrainedModel, levels_of};

use crate::args::notation;
use crate::cli::StudyArgs;
use crate::commands::data_as_read::DataAsRead;
use crate::commands::normalized::{check_totals, normalization_of};
use crate::commands::predict;
use crate::commands::reading::read_features;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// The other file, read before the study begins, so that what is wrong with it is reported at once.
pub(super) struct External {
    data: Dataset,
}

impl External {
    /// Reads it by the options of the data, with every feature that may be chosen; none where it is
    /// not asked for.
    ///
    /// # Errors
    /// Whatever is wrong with the file: a feature or the target that is not there, no sample of a
    /// known class.
    pub(super) fn read(
        args: &StudyArgs,
        rules: &RuleList,
        raw: &DataAsRead,
        terminal: Terminal,
    ) -> Result<Option<Self>, Failure> {
        let Some(path) = &args.external else { return Ok(None) };
        if *path == args.data.data {
            return Err(Failure::Input(format!(
                "--external names {}, the data of the study; name a file of other samples",
                path.display()
            )));
        }
        let (all, constant) = (&raw.data.names, raw.data.features.constant());
        let may = |j: &usize| !constant.contains(*j) && !rules.forbid.contains(*j);
        let names: Vec<String> = (0..all.len()).filter(may).map(|j| all.get(j).into_owned()).collect();
        let mut options = args.data.read_options()?;
        (options.target_optional, options.missing) = (true, args.prepare.missing.rule().is_some());
        options.target.get_or_insert_with(|| raw.target.column.clone());
        // Which columns are read, and which class is which, the study says.
        (options.drop, options.only, options.positive) = (Vec::new(), Vec::new(), None);
        options.levels = levels_of(&raw.data.notes, &names);
        options.normalize = normalization_of(raw.data.normalized());
        let chosen_from = |error: &DataError| {
            let lacks = matches!(error, DataError::MissingFeature { .. });
            lacks.then_some("the study may choose any feature of its data: leave out with --drop, or forbid, those that --external lacks")
        };
        let data = read_features(path, &names, raw.indicators(), options, &chosen_from, terminal)?;
        check_totals(&data, raw.data.normalized(), terminal)?;
        let Some(target) = &data.target else {
            return Err(Failure::Input(format!(
                "{}: there is no target column `{}`; a file for --external needs the class of each sample",
                data.source, raw.target.column
            )));
        };
        let known = target.codes_in(&raw.target.classes);
        match known.iter().filter(|code| code.is_none()).count() {
            0 => {}
            count if count == known.len() => {
                return Err(Failure::Input(format!(
                    "{}: no sample has a class of the data, {}; name the target with --target, or name another file",
                    data.source,
                    notation::some(&raw.target.classes)
                )));
            }
            count => terminal.warn(&format!(
                "{}: {} of a class that the data do not have are left out",
                data.source,
                notation::plural(count, "sample")
            )),
        }
        Ok(Some(Self { data }))
    }

    /// What the panel is worth there.
    ///
    /// # Errors
    /// None that reading has not found.
    pub(super) fn judged(mut self, mut trained: TrainedModel) -> Result<JudgedSamples, Failure> {
        self.data.align(&trained.names)?;
        // The columns are now those of the panel alone, as in a model file.
        trained.model.features = (0..trained.names.len()).collect();
        predict::judged(&trained, &mut self.data)
    }
}
