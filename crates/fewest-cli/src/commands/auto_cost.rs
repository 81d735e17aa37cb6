//! `--cost auto`: the cost that was chosen, in words and in options.

use fewest::method::auto_cost::CostChoice;

use crate::args::notation;
use crate::args::svm::FIT_COST;
use crate::export::table;
use crate::failure::Failure;
use crate::method_args::MethodOptions;

/// How the cost was chosen, for the table.
pub(crate) fn text(choice: &CostChoice) -> String {
    let splits = notation::plural(choice.splits, "inner split");
    let filter = if choice.is_filter() {
        "; up to it the subset stays the same: the selection is a filter by differences of class means"
    } else {
        ""
    };
    format!("{}, chosen by the AUC of {splits}{filter}", table::number(choice.cost))
}

/// The method with these costs.
///
/// # Errors
/// None: both are numbers above 0 for a method that has the options.
pub(crate) fn with(options: &MethodOptions, cost: f64, fit_cost: Option<f64>) -> Result<MethodOptions, Failure> {
    let options = options.with("cost", &cost.to_string())?;
    match fit_cost {
        None => Ok(options),
        Some(cost) => options.with(FIT_COST, &cost.to_string()),
    }
}
