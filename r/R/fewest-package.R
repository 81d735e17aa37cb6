#' fewest: feature selection for support vector machines, with proven bounds
#'
#' Start with [fewest_study()], from a data set to a panel, or [fewest_select()], one method.
#' [fewest_options] says how options are given, [fewest_samples()] what data may be,
#' [fewest_command()] where the command is found.
#'
#' @keywords internal
"_PACKAGE"
