#' Selects features
#'
#' `fewest_select()` finds a subset, `fewest_path()` one for each of several sizes, and
#' `fewest_certify()` says how far a given list is from the best one that is allowed.
#'
#' @param x,y The data, as in [fewest_samples()]: a matrix and a factor, a data frame and the name of
#'   a column, a formula, a SummarizedExperiment, a DGEList, ...
#' @param method A method: `"rfe"`, `"exact"`, `"l1-svm"`, `"fgm"`, `"kta"`, ...;
#'   `fewest_help("methods")` lists them.
#' @param features Names of features.
#' @param ... What [fewest_samples()] takes (`data`, `assay`), and [options][fewest_options]:
#'   `max_features`, `cost`, `kernel`, `require`, `time_limit`, `certify`, ...
#' @param quiet Whether to leave out progress and notes. Warnings come even so.
#' @return The result of the command as a list of class `fewest`: `selected` (names, in the order of
#'   the data), `status`, `objective`, `bound`, `gap`, `ranking`, `model`, `settings` and what else
#'   the command writes as JSON; docs/equations.md and docs/use/gap.md of the project say what the
#'   numbers are. Functions for it: `print`, `summary`, [as.data.frame()][as.data.frame.fewest],
#'   [plot()][plot.fewest], [predict()][predict.fewest], `coef` and [fewest_report()].
#' @examplesIf fewest::fewest_available()
#' two <- droplevels(iris[iris$Species != "setosa", ])
#' fit <- fewest_select(Species ~ ., two, method = "exact", max_features = 2)
#' fit
#' predict(fit, two[1:3, ])
#' as.data.frame(fewest_path(Species ~ ., two, method = "exact", max_features = 1:3))
#' fewest_certify(Species ~ ., two, features = c("Sepal.Width", "Petal.Width"))$gap
#' @export
fewest_select <- function(x, y = NULL, ..., method, quiet = !interactive()) {
  run("select", "selection", x, y, list(method = method, ...), quiet, model = TRUE)
}

#' @rdname fewest_select
#' @export
fewest_path <- function(x, y = NULL, ..., method, quiet = !interactive()) {
  run("path", "path", x, y, list(method = method, ...), quiet)
}

#' @rdname fewest_select
#' @export
fewest_certify <- function(x, y = NULL, ..., features, quiet = !interactive()) {
  run("certify", "certificate", x, y, list(features = features, ...), quiet)
}

#' Judges a method on samples that took no part
#'
#' `fewest_evaluate()` runs a method with everything inside the folds of a cross-validation.
#' `fewest_study()` goes from a data set to a panel: cost, size and method are chosen inside the
#' folds, and the outer folds say what that is worth. `fewest_stability()` is stability selection
#' with its bound on false selections, `fewest_knockoffs()` the knockoff filter. `fewest_markers()`
#' finds one panel for many classes, and which class each feature tells.
#'
#' @inheritParams fewest_select
#' @param ... What [fewest_samples()] takes (`data`, `assay`), and [options][fewest_options]: `cv`,
#'   `repeats`, `groups`, `tune`, `nested`, `seed`, ...
#' @return The result of the command as a list of class `fewest`. `summary` has measures with errors,
#'   `frequency` the share of folds or halves that chose a feature, `stability` how alike they were.
#'   A study has `panel`, the selection from all samples; [predict()][predict.fewest] uses it.
#' @examplesIf fewest::fewest_available()
#' two <- droplevels(iris[iris$Species != "setosa", ])
#' fewest_evaluate(Species ~ ., two, method = "rfe", max_features = 2, cv = 5)
#' @export
fewest_evaluate <- function(x, y = NULL, ..., method, quiet = !interactive()) {
  run("evaluate", "evaluation", x, y, list(method = method, ...), quiet)
}

#' @rdname fewest_evaluate
#' @export
fewest_study <- function(x, y = NULL, ..., quiet = !interactive()) {
  run("study", "study", x, y, list(...), quiet, model = TRUE)
}

#' @rdname fewest_evaluate
#' @export
fewest_stability <- function(x, y = NULL, ..., method, quiet = !interactive()) {
  run("stability", "stability", x, y, list(method = method, ...), quiet)
}

#' @rdname fewest_evaluate
#' @export
fewest_knockoffs <- function(x, y = NULL, ..., method, quiet = !interactive()) {
  run("knockoffs", "knockoffs", x, y, list(method = method, ...), quiet)
}

#' @rdname fewest_evaluate
#' @export
fewest_markers <- function(x, y = NULL, ..., quiet = !interactive()) {
  run("markers", "markers", x, y, list(...), quiet, model = TRUE)
}

#' The command's own help
#'
#' @param command A command, such as `"select"`; `"methods"` lists the methods.
#' @param method A method, whose options are shown.
#' @return The text, invisibly.
#' @examplesIf fewest::fewest_available()
#' fewest_help("select", "rfe")
#' @export
fewest_help <- function(command = NULL, method = NULL) {
  args <- if (identical(command, "methods")) c("methods", method)
          else c(command, if (!is.null(method)) c("--method", method), "--help")
  text <- run_command(args, quiet = TRUE)$out
  cat(text, sep = "\n")
  invisible(text)
}

#' The page of a result
#'
#' @param result A result of this package.
#' @param file Where the page goes, `.html`.
#' @return `file`, invisibly.
#' @examplesIf fewest::fewest_available()
#' fit <- fewest_select(Species ~ ., iris, method = "rfe", max_features = 2)
#' fewest_report(fit, tempfile(fileext = ".html"))
#' @export
fewest_report <- function(result, file) {
  check_result(result)
  json <- tempfile(fileext = ".json")
  on.exit(unlink(json))
  write_text(attr(result, "json"), json)
  run_command(c("report", json, "-o", file), quiet = TRUE)
  invisible(file)
}

# Arguments that say how to read x; the others are options.
OF_DATA <- c("data", "assay")

# One run of the command: data in, result out.
run <- function(command, kind, x, y, arguments, quiet, model = FALSE) {
  how <- names(arguments) %in% OF_DATA
  samples <- do.call(fewest_samples, c(list(x, y), arguments[how]))
  options <- arguments[!how]
  if (is.null(samples$y)) fail("there are no classes: give y, or a formula with a left side")
  # Of two classes in a factor the second one is positive, as in glm().
  classes <- if (is.factor(samples$y)) levels(droplevels(samples$y))
  if (length(classes) == 2 && is.null(options$positive) && is.null(options$classes)) options$positive <- classes[2]
  folder <- tempfile("fewest")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  data <- file.path(folder, "data.npz")
  json <- if (is.null(options$json)) file.path(folder, "result.json") else path.expand(options$json)
  trained <- if (is.null(options$model)) file.path(folder, "model.json") else path.expand(options$model)
  options$json <- NULL
  if (model) options$model <- NULL
  write_npz(data, arrays_of(samples, sample_columns(options, samples)))
  args <- c(command, data, command_args(options, folder), "--json", json, if (model) c("--model", trained))
  ran <- run_command(args, quiet, data)
  if (!file.exists(json)) fail("the run was stopped before it had a result", class = "fewest_interrupted")
  out <- read_result(json, kind)
  attr(out, "text") <- ran$out
  attr(out, "model") <- if (file.exists(trained)) read_text(trained)
  attr(out, "design") <- samples$design
  attr(out, "classes") <- class_values(samples$y)
  out
}

read_text <- function(path) paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n")

write_text <- function(text, path) writeLines(enc2utf8(text), path, useBytes = TRUE)

read_result <- function(path, kind) {
  text <- read_text(path)
  out <- jsonlite::fromJSON(text, simplifyDataFrame = FALSE, simplifyMatrix = FALSE)
  for (name in c("selected", "selected_indices")) if (identical(out[[name]], list())) out[[name]] <- if (name == "selected") character() else integer()
  for (name in c("frequency", "both_halves")) if (!is.null(out[[name]])) out[[name]] <- unlist(out[[name]])
  structure(out, class = c(paste0("fewest_", kind), "fewest"), json = text)
}

# The classes as y has them, so that predictions are of the same type.
class_values <- function(y) {
  if (is.factor(y)) levels(y) else if (is.logical(y)) c(FALSE, TRUE) else sort(unique(y[!is.na(y)]))
}

check_result <- function(x) if (!inherits(x, "fewest")) fail("this is no result of the package fewest")
