#' Options of all functions
#'
#' Every option of the command is an argument: `--max-features 5` is `max_features = 5`. An
#' argument that is not given has the command's default, and one that the command does not know, or
#' does not use with that method, is an error that names it. [fewest_help()] shows all of them.
#'
#' | in R | for the command |
#' | --- | --- |
#' | `max_features = 5`, `cost = 0.1`, `kernel = "rbf"` | `--max-features 5`, `--cost 0.1`, `--kernel rbf` |
#' | `max_features = 1:20` | `--max-features 1,2,...,20` |
#' | `certify = TRUE`; `FALSE` and `NULL` are as if not given | `--certify` |
#' | `require = c("TP53", "BRCA1")` | `--require TP53,BRCA1` |
#' | `together = list(c("a", "b"), c("c", "d"))` | `--together a,b --together c,d` |
#' | `sign = c(age = "+", income = "-")` | `--sign age:+,income:-` |
#' | `class_weight = c(case = 2, control = 1)` | `--class-weight case=2,control=1` |
#' | `feature_costs = c(a = 1, b = 2.5)` | `--feature-costs FILE`, a file with these lines |
#' | `tune = list(C = c(0.1, 1, 10))` | `--tune C=0.1,1,10` |
#' | `implies = list(a = c("b", "c"))` | `--implies a:b,c` |
#' | `at_most = list(list(2, c("a", "b", "c")))`, `at_least` likewise | `--at-most 2:a,b,c` |
#' | `groups`, `folds`, `sample_weights`, `tasks`: one value for each sample, or the name of a column of the samples | `--groups`, ... |
#' | `sum_by = c("donor", "batch")`, `hierarchy = "lineage"`: names of columns of the samples, or a list of vectors with names | `--sum-by donor,batch`, ... |
#' | `time_limit = 60` (seconds) or `"5m"`; 10 minutes where none is given | `--time-limit 60s` |
#'
#' `external` of [fewest_study()] is a file, or samples as `x` has them, where `y` is a name or there is a formula;
#' else `list(x, y)`.
#'
#' A `seed` that a method has no use for is left out.
#'
#' `json = "FILE"` and `model = "FILE"` keep what the command writes; `report`, `proof`, `trace` and `resume` are files, too.
#'
#' Names of features go as they are, with blanks, commas and quotes.
#'
#' A limit is no error: the result has the best subset so far, and its `status` says what ended it.
#' Ctrl-C does the same. Errors of the command are conditions of class `fewest_error`, and
#' `fewest_usage` (an option or the data), `fewest_infeasible` (no subset satisfies the rules) or
#' `fewest_failure`; `exit_code` and `args` are in the condition. Warnings of the command are of class
#' `fewest_warning`.
#'
#' @name fewest_options
#' @aliases options
NULL

# Options whose values are names.
OF_NAMES <- c("require", "forbid", "together", "features", "start", "drop", "only", "classes", "sum_by", "hierarchy")

# Options that have one value for each sample, or a name of a column of them.
OF_SAMPLES <- c("groups", "folds", "sample_weights", "tasks")

# Options that name columns of the samples, or list them.
OF_COLUMNS <- c("sum_by", "hierarchy")

# Whether an option is one of these; `folds` of a study is a number of them.
is_per_sample <- function(name, value) name %in% OF_SAMPLES && !(name == "folds" && is.numeric(value) && length(value) == 1)

# Options whose names and values are joined by a sign of their own.
PAIR_SIGN <- c(sign = ":", implies = ":", class_weight = "=", tune = "=")

# The values of samples among the options, as columns of the archive.
sample_columns <- function(options, samples) {
  given <- Filter(function(name) is_per_sample(name, options[[name]]), names(options))
  out <- lapply(given, function(name) {
    value <- options[[name]]
    if (is.character(value) && length(value) == 1 && samples$n > 1) {
      if (!value %in% names(samples$columns)) {
        fail(sprintf("%s is \"%s\", which is no column of the samples; their columns are %s", name, value, quoted(names(samples$columns))))
      }
      value <- samples$columns[[value]]
    }
    if (length(value) != samples$n) {
      fail(sprintf("%s has %d values, but there are %d samples; give one for each, or the name of a column of the samples", name, length(value), samples$n))
    }
    value
  })
  names(out) <- given
  for (name in intersect(names(options), OF_COLUMNS)) out <- utils::modifyList(out, listed_columns(name, options[[name]], samples))
  out
}

# The columns that an option names or lists; `y` is the class.
listed_columns <- function(name, value, samples) {
  if (is.list(value)) {
    if (is.null(names(value)) || !all(nzchar(names(value)))) fail(sprintf("%s is a list without names; name each vector", name))
    long <- lengths(value) != samples$n
    if (any(long)) fail(sprintf("%s has %d values for %s, but there are %d samples", name, length(value[[which(long)[1]]]), names(value)[long][1], samples$n))
    return(as.list(value))
  }
  value <- setdiff(value, "y")
  if (length(unknown <- setdiff(value, names(samples$columns)))) {
    fail(sprintf("%s names \"%s\", which is no column of the samples; their columns are %s", name, unknown[1], quoted(names(samples$columns))))
  }
  as.list(samples$columns)[value]
}

# What other packages call options.
OTHER_NAMES <- c(C = "cost", nfolds = "cv", class.weights = "class_weight")

# The arguments of the command; `files` is a folder for what goes by a file, `apart` whether values of samples
# are columns of the archive.
command_args <- function(options, files, apart = TRUE) {
  if (length(options) && (is.null(names(options)) || !all(nzchar(names(options))))) {
    fail("an argument has no name; options are given by name: max_features = 5")
  }
  if (length(other <- intersect(names(options), names(OTHER_NAMES)))) {
    fail(sprintf("%s is called %s here", other[1], OTHER_NAMES[[other[1]]]))
  }
  unlist(lapply(names(options), function(name) option_args(name, options[[name]], files, apart)))
}

option_args <- function(name, value, files, apart = TRUE) {
  flag <- paste0("--", gsub("[._]", "-", name))
  if (is.null(value) || isFALSE(value)) return(NULL)
  if (isTRUE(value)) return(flag)
  if (apart && is_per_sample(name, value)) return(c(flag, name))
  if (name %in% OF_COLUMNS && is.list(value)) value <- names(value)
  if (name %in% c("feature_costs", "weight_bounds") && !is.null(names(value))) return(c(flag, json_file(value, name, files)))
  if (name %in% c("at_most", "at_least")) return(each(flag, as_counts(value), function(v) paste0(listed(v[[1]]), ":", listed(v[[2]]))))
  if (name %in% names(PAIR_SIGN) && !is.null(names(value))) {
    pairs <- Map(function(key, v) paste0(quoted_name(key), PAIR_SIGN[[name]], listed(v)), names(value), value)
    return(if (name == "class_weight") c(flag, paste(pairs, collapse = ",")) else each(flag, pairs, identity))
  }
  if (is.list(value)) return(each(flag, value, function(v) listed(v, name %in% OF_NAMES)))
  if (name %in% c("time_limit", "selection_time_limit", "resume_every") && is.numeric(value)) value <- paste0(number(value), "s")
  c(flag, listed(value, name %in% OF_NAMES))
}

each <- function(flag, values, text) unlist(lapply(unname(values), function(v) c(flag, text(v))))

# One count or several.
as_counts <- function(value) if (is.list(value) && is.list(value[[1]])) value else list(value)

json_file <- function(value, name, files) {
  path <- file.path(files, paste0(name, ".json"))
  writeLines(jsonlite::toJSON(as.list(value), auto_unbox = TRUE, digits = NA), path, useBytes = TRUE)
  path
}

# Values joined by commas; names are quoted where they would be taken apart.
listed <- function(values, are_names = TRUE) {
  if (anyNA(values)) fail("an option has a missing value; leave it out, or give it one")
  text <- if (is.numeric(values)) number(values) else as.character(values)
  paste(if (are_names) quoted_name(text) else enc2utf8(text), collapse = ",")
}

# The shortest text that is the same number; a whole one as the command takes it, without an exponent.
number <- function(x) {
  vapply(x, function(v) {
    if (is.finite(v) && v == round(v) && abs(v) < 1e15) return(format(v, scientific = FALSE, digits = 15))
    text <- format(v, digits = 15, scientific = NA)
    if (as.numeric(text) == v) text else format(v, digits = 17)
  }, "", USE.NAMES = FALSE)
}

# A pattern, /.../, stays as it is.
quoted_name <- function(names) {
  apart <- grepl("[,:\"\\\\=]|^\\s|\\s$", names) & !grepl("^/.*/$", names)
  names[apart] <- paste0("\"", gsub("([\"\\\\])", "\\\\\\1", names[apart]), "\"")
  enc2utf8(names)
}
