//! The options of an evaluation: folds, what is tuned, which size is chosen, what is compared.

use std::path::PathBuf;
use std::time::Duration;

use fewest::validation::SizeRule;
use fewest_data::Names;
use fewest_eval::folds::{self, Fold};

use crate::args::data::names_or_file;
use crate::args::features::Features;
use crate::args::svm::FIT_COST;
use crate::args::values::Costs;
use crate::cli::{EvaluateArgs, SelectionArgs};
use crate::commands::data_as_read::DataAsRead;
use crate::commands::effective::refuse_with_tasks;
use crate::failure::Failure;
use crate::method_args::{self, MethodOptions};

/// Folds, unless an option says otherwise.
const FOLDS: usize = 10;

/// A method with every choice of cost and gamma, and of the cost of the final classifier.
pub(crate) struct Recipes {
    /// The method's name.
    pub(crate) name: &'static str,
    /// One for each choice of what selects.
    pub(crate) choices: Vec<MethodOptions>,
    /// Costs of the classifier on the chosen features; none: the cost of selecting.
    pub(crate) fit_costs: Vec<Option<f64>>,
}

/// What `--tune` names.
#[derive(Default)]
pub(crate) struct Tuned {
    /// Costs to tune over.
    pub(crate) costs: Vec<f64>,
    /// Costs of the final classifier to tune over.
    pub(crate) fit_costs: Vec<f64>,
    /// gammas to tune over.
    pub(crate) gammas: Vec<String>,
}

/// The options, understood.
pub(crate) struct Options<'a> {
    /// What all methods share.
    pub(crate) selection: &'a SelectionArgs,
    /// The method, and the one it is compared with.
    pub(crate) methods: Vec<Recipes>,
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
    /// What is tuned, besides the size.
    pub(crate) tuned: Tuned,
    /// Sizes to choose from; none: no size rule.
    pub(crate) sizes: Vec<Option<usize>>,
    /// How a size is chosen.
    pub(crate) choose: SizeRule,
    /// Most time for one selection.
    pub(crate) selection_time: Option<Duration>,
    /// Where the results of folds are kept.
    pub(crate) resume: Option<PathBuf>,
    /// All options that the result depends on.
    pub(crate) text: String,
    truth: Option<String>,
}

impl<'a> Options<'a> {
    /// As typed, to as meant.
    pub(crate) fn read(args: &'a EvaluateArgs, options: &MethodOptions) -> Result<Self, Failure> {
        let selection = &args.selection;
        let tuned = tuned(&args.tune)?;
        let lists = [
            ("cost", tuned.costs.is_empty()),
            (FIT_COST, tuned.fit_costs.is_empty()),
            ("gamma", tuned.gammas.is_empty()),
        ];
        if let Some((typed, _)) = lists.into_iter().find(|(option, untuned)| !untuned && options.given(option)) {
            return Err(Failure::Input(format!(
                "--{} is {}, but --tune chooses it; leave one of the two out",
                typed.replace('_', "-"),
                options.text(typed).unwrap_or_default()
            )));
        }
        let sizes: Vec<Option<usize>> =
            selection.rules.sizes()?.map_or_else(|| vec![None], |sizes| sizes.into_iter().map(Some).collect());
        let choose = args.choose.as_deref().map_or(Ok(SizeRule::Best), size_rule)?;
        if options.chooses_cost() && (sizes.len() > 1 || !args.tune.is_empty()) {
            return Err(Failure::input(
                "--cost auto chooses the costs inside each fold, for one size and without --tune; give one --max-features and leave out --tune, or name the costs: --tune C=0.01,0.1,1",
            ));
        }
        if args.choose.is_some() && sizes.len() == 1 {
            return Err(Failure::input("--choose has a meaning for several sizes only: --max-features 1..20"));
        }
        refuse_with_tasks(options)?;
        let mut methods = vec![recipes(options, &tuned, args)?];
        if let Some(other) = &args.against {
            let other = options.of_other(method_args::find(other)?)?;
            if other.text("tasks") != options.text("tasks") {
                return Err(Failure::Input(format!(
                    "--tasks is given, but --against {} selects for one task; leave one of the two out",
                    other.name()
                )));
            }
            methods.push(recipes(&other, &tuned.of(&other), args)?);
        }
        Ok(Self {
            selection,
            methods,
            cv: args.cv.unwrap_or(FOLDS),
            repeats: args.repeats.unwrap_or(1),
            leave_one_out: args.leave_one_out,
            fold_column: args.folds.clone(),
            seed: args.seed,
            inner: args.inner_cv,
            tuned,
            sizes,
            choose,
            selection_time: args.selection_time_limit,
            resume: args.resume.clone(),
            text: identity(args, options),
            truth: args.truth.clone(),
        })
    }

    /// The folds of the data.
    ///
    /// # Errors
    /// More folds than samples or groups, or a column with one fold only.
    pub(crate) fn folds(&self, raw: &DataAsRead) -> Result<Vec<Fold>, Failure> {
        let failed = |error| raw.failure(error);
        if let Some(names) = &raw.folds {
            return folds::named(names).map_err(|_| {
                Failure::Input(format!(
                    "{}: the column `{}` has one fold only, but evaluate needs at least 2",
                    raw.data.source,
                    self.fold_column.as_deref().unwrap_or_default()
                ))
            });
        }
        let samples = raw.samples();
        match &raw.groups {
            Some(groups) if self.leave_one_out => folds::named(&groups.by_sample()).map_err(failed),
            None if self.leave_one_out => Ok(folds::leave_one_out(samples.n())),
            _ => {
                let (strata, seed) = (samples.strata(), self.seed);
                folds::stratified(&strata, samples.groups, self.cv, self.repeats, seed).map_err(failed)
            }
        }
    }

    /// Whether folds choose this option.
    pub(crate) fn tunes(&self, option: &str) -> bool {
        match option {
            "cost" => !self.tuned.costs.is_empty(),
            "gamma" => !self.tuned.gammas.is_empty(),
            FIT_COST => !self.tuned.fit_costs.is_empty(),
            _ => false,
        }
    }

    /// The features that should be found.
    pub(crate) fn truth(&self, names: &Names) -> Result<Option<Vec<usize>>, Failure> {
        let Some(text) = &self.truth else { return Ok(None) };
        let listed = names_or_file("--truth", std::slice::from_ref(text))?;
        Ok(Some(Features::new(names).indices(&listed, "--truth")?))
    }
}

impl Tuned {
    /// The lists that another method has options for.
    fn of(&self, other: &MethodOptions) -> Tuned {
        let has = |option| other.entry().has(option);
        let kept = |list: &Vec<f64>, option| if has(option) { list.clone() } else { Vec::new() };
        Tuned {
            costs: kept(&self.costs, "cost"),
            fit_costs: kept(&self.fit_costs, FIT_COST),
            gammas: if has("gamma") { self.gammas.clone() } else { Vec::new() },
        }
    }
}

/// The lists that `--tune` names.
fn tuned(tune: &[String]) -> Result<Tuned, Failure> {
    let mut tuned = Tuned::default();
    for tune in tune {
        let wrong = |why: &str| Failure::Input(format!("--tune is {tune}, but {why}"));
        let costs = |name: &str, list: &str| match list.parse() {
            Ok(Costs(list)) => Ok(list),
            Err(why) => Err(wrong(&format!("{name} {why}"))),
        };
        match tune.split_once('=') {
            Some(("C" | "cost", list)) => tuned.costs.extend(costs("C", list)?),
            Some(("fit-cost", list)) => tuned.fit_costs.extend(costs("fit-cost", list)?),
            Some(("gamma", list)) => tuned.gammas.extend(list.split(',').map(|g| g.trim().to_owned())),
            _ => {
                return Err(wrong("must be C=VALUES, fit-cost=VALUES or gamma=VALUES, with commas between the values"));
            }
        }
    }
    Ok(tuned)
}

/// `--choose`.
fn size_rule(text: &str) -> Result<SizeRule, Failure> {
    match (text, text.parse::<f64>()) {
        ("best", _) => Ok(SizeRule::Best),
        ("one-se", _) => Ok(SizeRule::OneSe),
        (_, Ok(share)) if (0.0..1.0).contains(&share) => Ok(SizeRule::Tolerance(share)),
        _ => Err(Failure::Input(format!("--choose is {text}, but must be best, one-se, or a share from 0 to below 1"))),
    }
}

/// A method with every choice of costs and gamma. Where it deals samples into folds of its own,
/// they are those of `--inner-cv`.
fn recipes(options: &MethodOptions, tuned: &Tuned, args: &EvaluateArgs) -> Result<Recipes, Failure> {
    let mut choices = vec![options.again()?];
    if options.args().deals_folds() {
        choices = vec![choices[0].with("cv", &args.inner_cv.to_string())?];
    }
    if options.args().draws() {
        choices = vec![choices[0].with("seed", &args.seed.to_string())?];
    }
    let each = |choices: Vec<MethodOptions>, option: &str, values: &[String]| -> Result<Vec<MethodOptions>, Failure> {
        if values.is_empty() {
            return Ok(choices);
        }
        choices.iter().flat_map(|choice| values.iter().map(|value| choice.with(option, value))).collect()
    };
    let costs: Vec<String> = tuned.costs.iter().map(f64::to_string).collect();
    choices = each(choices, "cost", &costs)?;
    choices = each(choices, "gamma", &tuned.gammas)?;
    let fit_costs = if tuned.fit_costs.is_empty() {
        vec![options.fit_cost()]
    } else {
        // Refuses them where the method has a classifier of its own.
        options.with(FIT_COST, &tuned.fit_costs[0].to_string())?;
        tuned.fit_costs.iter().copied().map(Some).collect()
    };
    Ok(Recipes { name: options.name(), choices, fit_costs })
}

/// All options that the results of folds depend on: not where things are written, nor how fast.
fn identity(args: &EvaluateArgs, options: &MethodOptions) -> String {
    let mut selection = args.selection.clone();
    (selection.json, selection.report, selection.data.memory) = (None, None, None);
    format!(
        "{selection:?} {} {:?} {:?} {:?} {} {:?} {} {:?} {} {:?} {:?} {:?} {:?}",
        options.name(),
        options.typed(),
        args.cv,
        args.folds,
        args.seed,
        args.repeats,
        args.leave_one_out,
        args.tune,
        args.inner_cv,
        args.choose,
        args.against,
        args.truth,
        args.selection_time_limit
    )
}
