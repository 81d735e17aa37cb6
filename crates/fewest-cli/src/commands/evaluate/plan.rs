//! The options of an evaluation: folds, what is tuned, which size is chosen, what is compared.

use std::path::{Path, PathBuf};

use fewest::validation::SizeRule;
use fewest_data::Names;
use serde_json::Value;

use super::{fold_name, named_folds};
use crate::args::high;
use crate::args::low::{EvaluateArgs, SelectionArgs};
use crate::args::notation;
use crate::args::options::{has_own_folds, leave_out_foreign};
use crate::args::rules::Features;
use crate::commands::prepare::Raw;
use crate::failure::Failure;

/// Folds, outside and inside, unless an option says otherwise.
const OUTER: usize = 10;
const INNER: usize = 5;

/// One fold.
pub(crate) struct Fold {
    /// Repetition, from 0.
    pub(crate) repeat: usize,
    /// What it is called.
    pub(crate) name: String,
    /// Samples held out, ascending.
    pub(crate) test: Vec<usize>,
}

/// The options, understood.
pub(crate) struct Options {
    /// The method with its options, and the one it is compared with.
    pub(crate) methods: Vec<SelectionArgs>,
    /// Folds by stratification.
    pub(crate) cv: usize,
    /// Times they are dealt.
    pub(crate) repeats: usize,
    /// A fold for each sample.
    pub(crate) leave_one_out: bool,
    /// Column with the folds.
    pub(crate) fold_column: Option<String>,
    /// Seed of the folds.
    pub(crate) seed: u64,
    /// Folds inside a fold.
    pub(crate) inner: usize,
    /// Costs to tune over.
    pub(crate) costs: Vec<f64>,
    /// gammas to tune over.
    pub(crate) gammas: Vec<String>,
    /// Sizes to choose from; none: no size rule.
    pub(crate) sizes: Vec<Option<usize>>,
    /// How a size is chosen.
    pub(crate) choose: SizeRule,
    /// Where the results of folds are kept.
    pub(crate) resume: Option<PathBuf>,
    /// All options that the result depends on.
    pub(crate) text: String,
    truth: Option<String>,
}

impl Options {
    /// As typed, to as meant.
    ///
    /// # Errors
    /// A value out of range, or options that do not go together.
    pub(crate) fn read(args: &EvaluateArgs) -> Result<Self, Failure> {
        let selection = &args.selection;
        for (option, given) in [
            ("certify", selection.certify.is_some()),
            ("trace", selection.trace.is_some()),
            ("describe", selection.describe),
            ("validate", selection.own.validate.is_some()),
            ("write-model", selection.own.write_model.is_some()),
        ] {
            if given {
                return Err(Failure::Input(format!(
                    "--{option} is an option of select, not of evaluate; leave it out"
                )));
            }
        }
        let (own, inner) = (&selection.own, args.inner_cv.unwrap_or(INNER));
        for (option, count) in [("cv", own.cv.unwrap_or(OUTER)), ("inner-cv", inner)] {
            if count < 2 {
                return Err(Failure::Input(format!("--{option} is {count}, but must be at least 2")));
            }
        }
        if args.repeats == Some(0) || (args.repeats.is_some() && own.folds.is_some()) {
            return Err(Failure::input("--repeats must be at least 1, and has no meaning with --folds"));
        }
        let (mut costs, mut gammas) = (Vec::new(), Vec::new());
        for tune in &args.tune {
            match tune.split_once('=') {
                Some(("C" | "cost", list)) => costs.extend(high::costs(list)?),
                Some(("gamma", list)) => gammas.extend(list.split(',').map(|g| g.trim().to_owned())),
                _ => {
                    return Err(Failure::Input(format!(
                        "--tune is {tune}, but must be C=VALUES or gamma=VALUES, with commas between the values"
                    )));
                }
            }
        }
        let sizes = match selection.rules.max_features.as_deref() {
            None => vec![None],
            Some(text) => {
                let sizes = notation::sizes(text);
                let sizes = sizes.map_err(|why| Failure::Input(format!("--max-features is {text}, but {why}")))?;
                sizes.into_iter().map(Some).collect()
            }
        };
        let choose = match args.choose.as_deref() {
            None | Some("best") => SizeRule::Best,
            Some("one-se") => SizeRule::OneSe,
            Some(text) => match text.parse::<f64>() {
                Ok(share) if (0.0..1.0).contains(&share) => SizeRule::Tolerance(share),
                _ => {
                    return Err(Failure::Input(format!(
                        "--choose is {text}, but must be best, one-se, or a share from 0 to below 1"
                    )));
                }
            },
        };
        if args.choose.is_some() && sizes.len() == 1 {
            return Err(Failure::input("--choose has a meaning for several sizes only: --max-features 1..20"));
        }
        let mut methods = vec![inside(selection, inner)];
        if let Some(other) = &args.against {
            let mut other = SelectionArgs { method: other.clone(), ..selection.clone() };
            leave_out_foreign(&mut other)?;
            methods.push(inside(&other, inner));
        }
        // Where things are written, and how fast, does not change the results.
        let mut same = selection.clone();
        (same.json, same.report, same.own.resume, same.data.memory) = (None, None, None, None);
        let (repeats, truth) = (args.repeats.unwrap_or(1) as usize, args.truth.clone());
        let text = format!(
            "{same:?} {repeats} {} {:?} {inner} {:?} {:?} {truth:?}",
            args.leave_one_out, args.tune, args.choose, args.against
        );
        Ok(Self {
            methods,
            cv: own.cv.unwrap_or(OUTER),
            repeats,
            leave_one_out: args.leave_one_out,
            fold_column: own.folds.clone(),
            seed: own.seed.unwrap_or(0),
            inner,
            costs,
            gammas,
            sizes,
            choose,
            resume: own.resume.clone(),
            text,
            truth,
        })
    }

    /// The folds of the data.
    ///
    /// # Errors
    /// More folds than samples, or a column with one fold only.
    pub(crate) fn folds(&self, raw: &Raw) -> Result<Vec<Fold>, Failure> {
        let n = raw.target.codes.len();
        let inside = |of: &[u32], f: usize| (0..n).filter(|&i| of[i] as usize == f).collect::<Vec<usize>>();
        if let Some(names) = &raw.folds {
            let mut known: Vec<&String> = names.iter().collect();
            known.sort_unstable();
            known.dedup();
            if known.len() < 2 {
                return Err(Failure::Input(format!(
                    "{}: the column `{}` has one fold only, but evaluate needs at least 2",
                    raw.data.source,
                    self.fold_column.as_deref().unwrap_or_default()
                )));
            }
            let fold = |name: &&String| Fold {
                repeat: 0,
                name: fold_name(0, name, 1),
                test: (0..n).filter(|&i| names[i] == **name).collect(),
            };
            return Ok(known.iter().map(fold).collect());
        }
        if self.leave_one_out {
            return Ok(named_folds(n, |i| vec![i], 0, 1));
        }
        if self.cv > n {
            return Err(Failure::Input(format!("{}: --cv is {}, but there are {n} samples", raw.data.source, self.cv)));
        }
        let deal = |repeat: usize| {
            let of = fewest_data::stratified_folds(&raw.target, self.cv, self.seed.wrapping_add(repeat as u64));
            named_folds(self.cv, |f| inside(&of, f), repeat, self.repeats)
        };
        Ok((0..self.repeats).flat_map(deal).collect())
    }

    /// The features that should be found.
    ///
    /// # Errors
    /// A name that is no feature, or a file that holds none.
    pub(crate) fn truth(&self, names: &Names) -> Result<Option<Vec<usize>>, Failure> {
        let Some(text) = &self.truth else { return Ok(None) };
        let path = Path::new(text);
        let listed = if path.is_file() {
            let content = std::fs::read_to_string(path)
                .map_err(|error| Failure::Input(format!("--truth {text}: cannot be read: {error}")))?;
            match serde_json::from_str::<Value>(&content) {
                Ok(value) => {
                    let list = [&value["selected"], &value["relevant"], &value];
                    let list = list.iter().find_map(|v| v.as_array()).cloned().unwrap_or_default();
                    list.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect()
                }
                Err(_) => content.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect(),
            }
        } else {
            notation::names(text).map_err(|why| Failure::Input(format!("--truth: {why}")))?
        };
        if listed.is_empty() {
            return Err(Failure::Input(format!("--truth {text}: holds no feature names")));
        }
        Ok(Some(Features::new(names).indices(&listed, "--truth")?))
    }
}

/// The options of a method inside a fold: `--cv`, `--folds`, `--seed` and `--resume` are the evaluation's.
fn inside(selection: &SelectionArgs, inner: usize) -> SelectionArgs {
    let mut args = selection.clone();
    let deals = has_own_folds(&args);
    args.own.cv = deals.then_some(inner);
    args.own.seed = args.own.seed.filter(|_| deals);
    (args.own.folds, args.own.resume, args.json, args.report) = (None, None, None, None);
    args
}
