#' @export
print.fewest <- function(x, ...) {
  cat(as_arguments(attr(x, "text")), sep = "\n")
  invisible(x)
}

# In a document of knitr that becomes HTML a result is the first part of its page, in a frame of its own.
knit_print_fewest <- function(x, ...) {
  if (!isTRUE(knitr::is_html_output()) || inherits(x, "fewest_check")) return(knitr::normal_print(x))
  page <- tempfile(fileext = ".html")
  on.exit(unlink(page))
  fewest_report(x, page)
  escaped <- read_text(page)
  # In one line, so that markdown sees nothing of its own in it.
  for (sign in list(c("&", "&amp;"), c("\"", "&quot;"), c("\n", "&#10;"))) escaped <- gsub(sign[1], sign[2], escaped, fixed = TRUE)
  frame <- sprintf("<iframe srcdoc=\"%s\" width=\"100%%\" height=\"520\" style=\"border:1px solid #c9ced6\" title=\"result of fewest\" sandbox=\"allow-scripts allow-downloads\"></iframe>", escaped)
  knitr::raw_html(frame)
}

.onLoad <- function(libname, pkgname) {
  register <- function(...) registerS3method("knit_print", "fewest", knit_print_fewest, envir = asNamespace("knitr"))
  if (isNamespaceLoaded("knitr")) register()
  setHook(packageEvent("knitr", "onLoad"), register)
}

#' A result as a table
#'
#' @param object,x A result of this package.
#' @param row.names,optional Not used.
#' @param ... Not used.
#' @return A data frame:
#'   * of a selection, certificate or panel: `feature`, `weight` (linear, two classes);
#'   * of a path: a row for each size with `max_features`, `selected` (names, joined), `objective`, `bound`,
#'     `gap`, `status`, and with `cv` `accuracy` and `se`;
#'   * of an evaluation: a row for each measure with `mean`, `se`, `lower`, `upper` (95 %);
#'   * of a study: a row for each size with `max_features`, `accuracy`, `se` inside the folds;
#'   * of stability selection: `feature`, `frequency`, `selected`;
#'   * of knockoffs: `feature`, `statistic`, `evidence`, `selected`;
#'   * of markers: `feature`, `highest` (the class whose mean is largest), `frequency`;
#'   * of lists compared: `list`, `size`, `macro_f1`, `difference` (less that of the first), `gap`.
#'
#'   `summary()` gives the table with what stands above it: status, bound, gap.
#' @export
as.data.frame.fewest <- function(x, row.names = NULL, optional = FALSE, ...) {
  x <- unclass(x)
  frame <- data.frame(feature = as.character(x$selected))
  weights <- x$model$weights
  if (is.list(weights) && !is.null(names(weights))) frame$weight <- unname(unlist(weights)[frame$feature])
  frame
}

#' @export
as.data.frame.fewest_study <- function(x, row.names = NULL, optional = FALSE, ...) {
  data.frame(max_features = field(x$sizes, "max_features"), accuracy = field(x$sizes, "accuracy"), se = field(x$sizes, "se"))
}

#' @export
as.data.frame.fewest_path <- function(x, row.names = NULL, optional = FALSE, ...) {
  frame <- data.frame(max_features = vapply(x$path, function(p) as.numeric(p$settings$max_features), 0))
  frame$selected <- vapply(x$path, function(p) paste(p$selected, collapse = ", "), "")
  for (name in c("objective", "bound", "gap")) frame[[name]] <- field(x$path, name)
  frame$status <- vapply(x$path, function(p) p$status, "")
  if (!is.null(x$cv)) {
    frame$accuracy <- vapply(x$path, function(p) or_na(p$cv$accuracy$mean), 0)
    frame$se <- vapply(x$path, function(p) or_na(p$cv$accuracy$se), 0)
  }
  frame
}

#' @export
as.data.frame.fewest_evaluation <- function(x, row.names = NULL, optional = FALSE, ...) {
  value <- function(name, at = 1) vapply(x$summary, function(m) or_na(unlist(m[[name]])[at]), 0, USE.NAMES = FALSE)
  data.frame(measure = names(x$summary), mean = value("mean"), se = value("se"), lower = value("ci95", 1), upper = value("ci95", 2))
}

#' @export
as.data.frame.fewest_stability <- function(x, row.names = NULL, optional = FALSE, ...) {
  data.frame(feature = names(x$frequency), frequency = unname(x$frequency), selected = names(x$frequency) %in% x$selected)
}

#' @export
as.data.frame.fewest_knockoffs <- function(x, row.names = NULL, optional = FALSE, ...) {
  data.frame(feature = names(x$statistics), statistic = unlist(x$statistics, use.names = FALSE),
             evidence = unlist(x$evidence, use.names = FALSE), selected = names(x$statistics) %in% x$selected)
}

#' @export
as.data.frame.fewest_markers <- function(x, row.names = NULL, optional = FALSE, ...) {
  text <- function(name) vapply(x$panel$markers, function(m) m[[name]], "")
  data.frame(feature = text("feature"), highest = text("highest"), frequency = field(x$panel$markers, "frequency"))
}

#' @export
as.data.frame.fewest_comparison <- function(x, row.names = NULL, optional = FALSE, ...) {
  of <- function(name) vapply(x$lists, function(list) or_na(list[[name]]$mean), 0)
  data.frame(list = vapply(x$lists, function(list) list$name, ""), size = lengths(lapply(x$lists, function(list) list$features)),
             macro_f1 = of("macro_f1"), difference = of("difference"), gap = field(x$lists, "gap"))
}

# One number of each of several results; NA where there is none.
field <- function(items, name) vapply(items, function(item) or_na(item[[name]]), 0)

or_na <- function(x) if (is.null(x) || !length(x)) NA_real_ else as.numeric(x)

#' @rdname as.data.frame.fewest
#' @export
summary.fewest <- function(object, ...) {
  keep <- c("method", "status", "objective", "bound", "gap", "seconds")
  structure(list(figures = Filter(Negate(is.null), unclass(object)[keep]), table = as.data.frame(object)), class = "summary.fewest")
}

#' @export
print.summary.fewest <- function(x, ...) {
  for (name in names(x$figures)) cat(format(name, width = 10), format(x$figures[[name]], digits = 6), "\n")
  print(x$table, row.names = FALSE)
  invisible(x)
}

#' @export
#' @importFrom stats coef
coef.fewest <- function(object, ...) {
  model <- if (is.null(object$panel)) object$model else object$panel$model
  if (!is.list(model$weights) || is.null(names(model$weights))) fail("the model has no weights by feature: its kernel is not linear, or it has more classes than two")
  c("(Intercept)" = model$intercept, unlist(model$weights))
}
