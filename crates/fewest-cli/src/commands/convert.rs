//! `fewest convert`: between the data formats, filled in and scaled on the way if asked for.

use fewest_data::{Format, Imputation, MissingRule, ScaleKind, Scaling};

use super::reading;
use crate::args::data;
use crate::cli::ConvertArgs;
use crate::export::file::Sink;
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Runs the command.
pub(crate) fn run(args: &ConvertArgs, terminal: Terminal) -> Result<u8, Failure> {
    let out = data::path_text(&args.out)?;
    let format = data::out_format(out, args.out_format)?;
    Sink::open("the output", &args.out)?;
    if args.data.reading.positive.is_some() {
        let text = "--positive: a file of data does not hold which class is positive; leave it out, and say it to the command that learns from the file";
        return Err(Failure::Input(text.to_owned()));
    }
    let mut options = args.data.read_options()?;
    let keep = data::names("--features", &args.features)?;
    options.features = (!keep.is_empty()).then_some(keep);
    let rule = args.missing.rule();
    options.missing = rule.is_some();
    if format == Format::Csc && args.scale == ScaleKind::None && options.features.is_none() && rule.is_none() {
        // The data may then be larger than memory.
        let made = fewest_data::to_columns(data::path_text(&args.data.data)?, &options, out)?;
        made.notes.iter().for_each(|note| reading::tell(note, terminal));
        let (n, p) = (made.n_samples, made.n_features);
        terminal.detail(&format!("wrote {n} samples and {p} features to {out} (csc)"));
        return Ok(0);
    }
    let mut data = reading::read(&args.data.data, &options, terminal)?;
    if let Some(rule) = rule {
        let texts = data.text_columns();
        if rule == MissingRule::Indicator {
            data.add_indicators()?;
        }
        Imputation::fit(rule, &data.features, &texts).apply(&mut data.features)?;
    }
    if args.scale != ScaleKind::None {
        Scaling::of(args.scale, &data)?.apply(&mut data.features)?;
    }
    for note in fewest_data::write_as(out, &data, format)? {
        reading::tell(&note, terminal);
    }
    let (n, p) = (data.features.n_samples(), data.features.n_features());
    terminal.detail(&format!("wrote {n} samples and {p} features to {out} ({})", format.name()));
    Ok(0)
}
