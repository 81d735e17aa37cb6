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
#' @param quiet Whether to leave out progress and notes. Warnings come even so. Progress is a line within two
#'   seconds, then one every ten, with the share done, the time left and the best so far: messages, and in
#'   documents of knitr lines on standard error, which its log shows and the document does not.
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
fewest_select <- function(x, y = NULL, ..., method, quiet = is_quiet()) {
  run("select", "selection", x, y, list(method = method, ...), quiet, model = TRUE, call = match.call())
}

#' @rdname fewest_select
#' @export
fewest_path <- function(x, y = NULL, ..., method, quiet = is_quiet()) {
  run("path", "path", x, y, list(method = method, ...), quiet, call = match.call())
}

#' @rdname fewest_select
#' @export
fewest_certify <- function(x, y = NULL, ..., features, quiet = is_quiet()) {
  run("certify", "certificate", x, y, list(features = features, ...), quiet, call = match.call())
}

#' Judges a method on samples that took no part
#'
#' `fewest_evaluate()` runs a method with everything inside the folds of a cross-validation.
#' `fewest_study()` goes from a data set to a panel: cost, size and method are chosen inside the
#' folds, and the outer folds say what that is worth. `fewest_stability()` is stability selection
#' with its bound on false selections, `fewest_knockoffs()` the knockoff filter. `fewest_markers()`
#' finds one panel for many classes, and which class each feature tells. `fewest_compare()` puts lists
#' of features side by side on the same samples held out.
#'
#' @inheritParams fewest_select
#' @param lists Two to ten lists with names: each the names of features, or a result of this package. The
#'   first is what the others are compared with.
#' @param ... What [fewest_samples()] takes (`data`, `assay`), and [options][fewest_options]: `cv`,
#'   `repeats`, `groups`, `tune`, `nested`, `seed`, ...
#' @return The result of the command as a list of class `fewest`. `summary` has measures with errors,
#'   `frequency` the share of folds or halves that chose a feature, `stability` how alike they were.
#'   A study has `panel`, the selection from all samples; [predict()][predict.fewest] uses it.
#' @examplesIf fewest::fewest_available()
#' two <- droplevels(iris[iris$Species != "setosa", ])
#' fewest_evaluate(Species ~ ., two, method = "rfe", max_features = 2, cv = 5)
#' @export
fewest_evaluate <- function(x, y = NULL, ..., method, quiet = is_quiet()) {
  run("evaluate", "evaluation", x, y, list(method = method, ...), quiet, call = match.call())
}

#' @rdname fewest_evaluate
#' @export
fewest_study <- function(x, y = NULL, ..., quiet = is_quiet()) {
  run("study", "study", x, y, list(...), quiet, model = TRUE, call = match.call())
}

#' @rdname fewest_evaluate
#' @export
fewest_stability <- function(x, y = NULL, ..., method, quiet = is_quiet()) {
  run("stability", "stability", x, y, list(method = method, ...), quiet, call = match.call())
}

#' @rdname fewest_evaluate
#' @export
fewest_knockoffs <- function(x, y = NULL, ..., method, quiet = is_quiet()) {
  run("knockoffs", "knockoffs", x, y, list(method = method, ...), quiet, call = match.call())
}

#' @rdname fewest_evaluate
#' @export
fewest_markers <- function(x, y = NULL, ..., quiet = is_quiet()) {
  run("markers", "markers", x, y, list(...), quiet, model = TRUE, call = match.call())
}

#' @rdname fewest_evaluate
#' @export
fewest_compare <- function(x, y = NULL, lists, ..., quiet = is_quiet()) {
  run("compare", "comparison", x, y, list(...), quiet, call = match.call(), lists = lists)
}

# The features of a list: names, or those of a result.
list_features <- function(list) {
  if (!inherits(list, "fewest")) return(as.character(list))
  as.character(unlist(if (is.null(list$panel)) list$selected else if (is.null(list$panel$features)) list$panel$selected else list$panel$features))
}

# The arguments of lists, each in a file of its own.
list_args <- function(lists, folder) {
  if (is.null(names(lists)) || any(!nzchar(names(lists)))) fail("each list needs a name, as in list(ours = a, theirs = b)")
  vapply(seq_along(lists), function(at) {
    file <- file.path(folder, sprintf("list%d.txt", at))
    writeLines(enc2utf8(list_features(lists[[at]])), file, useBytes = TRUE)
    paste0(names(lists)[at], "=", file)
  }, "")
}

#' What is in the data, and what is wrong with it
#'
#' @inheritParams fewest_select
#' @param y The classes, if any.
#' @param ... What [fewest_samples()] takes (`data`, `assay`), and options of the command `check`.
#' @return What the command says, as a list of class `fewest`; `print` shows it.
#' @examplesIf fewest::fewest_available()
#' fewest_check(Species ~ ., iris)
#' @export
fewest_check <- function(x, y = NULL, ..., quiet = is_quiet()) {
  run("check", "check", x, y, list(...), quiet, call = match.call())
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
#' @param show_samples Whether samples are named where there are more than 100, too: names may be those of persons.
#' @return `file`, invisibly.
#' @examplesIf fewest::fewest_available()
#' fit <- fewest_select(Species ~ ., iris, method = "rfe", max_features = 2)
#' fewest_report(fit, tempfile(fileext = ".html"))
#' @export
fewest_report <- function(result, file, show_samples = FALSE) {
  check_result(result)
  json <- tempfile(fileext = ".json")
  on.exit(unlink(json))
  write_text(attr(result, "json"), json)
  run_command(c("report", json, "-o", file, if (show_samples) "--show-samples"), quiet = TRUE)
  invisible(file)
}

# Progress is for a person who waits: at the prompt, or in the log of a script or a document.
is_quiet <- function() nzchar(Sys.getenv("TESTTHAT"))

# Values whose way to the command takes a second or more.
MANY <- 2e7

# Arguments that say how to read x; the others are options.
OF_DATA <- c("data", "assay")

# One run of the command: data in, result out. `call` is that of the user, for the words of the result.
run <- function(command, kind, x, y, arguments, quiet, model = FALSE, call = sys.call(-1), lists = NULL) {
  call <- short_call(call, command)
  how <- names(arguments) %in% OF_DATA
  options <- arguments[!how]
  folder <- tempfile("fewest")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  if (is_file(x)) {
    data <- path.expand(x)
    if (is.character(y)) options$target <- y else if (!is.null(y)) fail("x is a file, so y is the name of the column of the classes, or left out")
    samples <- list(design = list(kind = "file"))
  } else {
    samples <- do.call(fewest_samples, c(list(x, y), arguments[how]))
    if (is.null(samples$y) && command != "check") fail("there are no classes: give y, or a formula with a left side")
    if (isTRUE(options$unique_names)) {
      samples$names <- make.unique(samples$names)
      samples$design$unique_names <- TRUE
    }
    options$unique_names <- NULL
    # Of two classes in a factor the second one is positive, as in glm().
    classes <- if (is.factor(samples$y)) levels(droplevels(samples$y))
    if (length(classes) == 2 && is.null(options$positive) && is.null(options$classes)) options$positive <- classes[2]
    data <- file.path(folder, "data.npz")
  }
  json <- if (is.null(options$json)) file.path(folder, "result.json") else path.expand(options$json)
  trained <- if (is.null(options$model)) file.path(folder, "model.json") else path.expand(options$model)
  options$json <- NULL
  if (model) options$model <- NULL
  if (!is_file(x)) {
    classes_name <- if (!is.null(samples$y)) target_name(call, x, y)
    # In the archive the class is y.
    for (name in OF_COLUMNS) if (is.character(options[[name]])) options[[name]][options[[name]] == classes_name] <- "y"
    apart <- sample_columns(options, samples)
    apart$target_name <- classes_name
    if (!is.null(samples$samples) && command %in% WITH_SAMPLES && is.null(options$id)) {
      apart$sample <- samples$samples
      options$id <- "sample"
    }
    if (!quiet && samples$n * length(samples$names) > MANY) say("progress: x goes to the command")
    write_npz(data, arrays_of(samples, apart))
    if (!is.null(options$external) && !is_file(options$external)) {
      other <- external_samples(options$external, x, y, samples)
      options$external <- file.path(folder, "external.npz")
      if (!is.null(apart$sample)) apart$sample <- if (is.null(other$samples)) as.character(seq_len(other$n)) else other$samples
      # The classes go by the name of those of training.
      known <- c(apart[names(apart) == "sample"], stats::setNames(list(other$y), apart$target_name))
      other$y <- NULL
      write_npz(options$external, arrays_of(other, known))
    }
  }
  args <- function(options) {
    c(command, data, if (!is.null(lists)) list_args(lists, folder), command_args(options, folder, !is_file(x)), "--json", json, if (model) c("--model", trained))
  }
  temporary <- if (!is_file(x)) data
  ran <- tryCatch(run_command(args(options), quiet, temporary), fewest_usage = function(e) {
    # A script gives one seed to all, and some have no use for it.
    if (is.null(options$seed) || !grepl("seed (is an option of|has a meaning|says how)|argument 'seed'", conditionMessage(e))) stop(e)
    options$seed <- NULL
    run_command(args(options), quiet, temporary)
  })
  if (!file.exists(json)) fail("the run was stopped before it had a result", class = "fewest_interrupted")
  given <- if (!inherits(x, "formula")) x else if (is.null(arguments$data)) y else arguments$data
  ran$out <- name_data(json, temporary, call, ran$out, class(given)[1])
  out <- read_result(json, kind)
  attr(out, "text") <- ran$out
  if (model && file.exists(trained)) attr(out, "model") <- read_text(trained)
  attr(out, "design") <- samples$design
  attr(out, "classes") <- if (is_file(x)) unlist(out$classes, use.names = FALSE) else class_values(samples$y)
  out
}

# The samples of another site with their classes, in the form of those of training.
external_samples <- function(external, x, y, samples) {
  given <- if (identical(class(external), "list")) external else list(external)
  classes <- if (length(given) == 2) given[[2]]
    else if (inherits(x, "formula")) eval(x[[2]], given[[1]], environment(x))
    else if (is.character(y) && length(y) == 1) fewest_samples(given[[1]], y)$y
  if (is.null(classes)) fail("the samples of external have no classes; give external = list(x, y)")
  out <- new_samples(given[[1]], samples$design)
  out$y <- classes
  out
}

# Commands that say something of single samples.
WITH_SAMPLES <- c("study", "evaluate")

is_formula <- function(expression) is.call(expression) && identical(expression[[1]], quote(`~`))

is_file <- function(x) is.character(x) && length(x) == 1 && !is.na(x) && file.exists(x)

# A call as it was written; do.call() has values in it, and the function.
short_call <- function(call, command) {
  if (is.function(call[[1]])) call[[1]] <- as.name(paste0("fewest_", command))
  for (at in seq_along(call)[-1]) {
    if (!is.language(call[[at]]) && utils::object.size(call[[at]]) > 1000) call[[at]] <- as.name("...")
  }
  call
}

one_line <- function(expression) paste(trimws(deparse(expression, width.cutoff = 500L)), collapse = " ")

# The user's own words for an argument, unless they are long.
said <- function(expression, otherwise) {
  text <- one_line(expression)
  if (nchar(text) > 200) otherwise else text
}

# The call in a few lines: its longest arguments are `...`.
said_call <- function(call) {
  while (nchar(one_line(call)) > 300) {
    long <- vapply(as.list(call)[-1], function(argument) nchar(one_line(argument)), 0)
    if (max(long) <= 3) break
    call[[which.max(long) + 1]] <- as.name("...")
  }
  one_line(call)
}

# What the classes are called.
target_name <- function(call, x, y) {
  if (inherits(x, "formula")) return(said(x[[2]], "y"))
  if (is.character(y) && length(y) == 1) y else if (is.name(call$y) || is.call(call$y)) said(call$y, "y") else "y"
}

# In the file of a result, the name and the class of the data and the call of the user in place of the archive `data`, if
# there is one, and the command; the text with the name.
name_data <- function(json, data, call, out, class) {
  # Of a formula `y` is the data, unless it is named.
  from <- if (!is.null(call$data)) call$data else if (is_formula(call$x)) call$y else call$x
  name <- said(from, "x")
  escaped <- function(text) gsub("^\"|\"$", "", jsonlite::toJSON(text, auto_unbox = TRUE))
  text <- read_text(json)
  if (!is.null(data)) {
    text <- gsub(escaped(data), escaped(name), text, fixed = TRUE)
    text <- gsub("\"format\": \"npz\"", sprintf("\"format\": \"%s\"", class), text, fixed = TRUE)
    out <- sub("^(format +)npz$", paste0("\\1", class), out)
  }
  # The command is in the sentences for a paper, too.
  command <- regmatches(text, regexpr("\"command\": \"([^\"\\\\]|\\\\.)*\"", text))
  if (length(command)) {
    theirs <- gsub("^\"command\": \"|\"$", "", command)
    text <- gsub(theirs, escaped(said_call(call)), text, fixed = TRUE)
  }
  write_text(text, json)
  if (is.null(data)) out else gsub(data, name, out, fixed = TRUE)
}

read_text <- function(path) paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n")

write_text <- function(text, path) writeLines(enc2utf8(text), path, useBytes = TRUE)

read_result <- function(path, kind) {
  text <- read_text(path)
  out <- jsonlite::fromJSON(text, simplifyDataFrame = FALSE, simplifyMatrix = FALSE)
  for (name in c("selected", "selected_indices")) if (identical(out[[name]], list())) out[[name]] <- if (name == "selected") character() else integer()
  if (length(out$methods_text)) {
    out$methods_text <- stats::setNames(vapply(out$methods_text, `[[`, "", "text"), vapply(out$methods_text, `[[`, "", "item"))
  }
  for (name in c("frequency", "both_halves")) if (!is.null(out[[name]])) out[[name]] <- unlist(out[[name]])
  structure(out, class = c(paste0("fewest_", kind), "fewest"), json = text)
}

# The classes as y has them, so that predictions are of the same type.
class_values <- function(y) {
  if (is.factor(y)) levels(y) else if (is.logical(y)) c(FALSE, TRUE) else sort(unique(y[!is.na(y)]))
}

check_result <- function(x) if (!inherits(x, "fewest")) fail("this is no result of the package fewest")
