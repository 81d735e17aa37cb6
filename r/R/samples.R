#' Samples, features and classes of R's own objects
#'
#' What every function of this package does to its data first. Call it to see what will be handed to
#' the command, or write a method for a class of your own.
#'
#' | `x` | samples | features | `y` |
#' | --- | --- | --- | --- |
#' | matrix, sparse matrix of Matrix | rows | columns | the classes |
#' | data frame | rows | columns; a factor or text becomes columns `name=value` of 0 and 1 | the classes, or the name of their column |
#' | formula, `y ~ .` or `y ~ a + log(b)` | rows of `data` | terms | left side |
#' | SummarizedExperiment, SingleCellExperiment | columns | rows of `assay` | the classes, or the name of a column of `colData` |
#' | ExpressionSet | columns | rows of `exprs` | the classes, or the name of a column of `pData` |
#' | DGEList | columns | rows, as `edgeR::cpm(x, log = TRUE)` | the classes, or a column of `x$samples` (default `group`) |
#'
#' The functions of this package take the path of a file, too, in any format that the command reads; `y` is then the
#' name of the column of the classes, if the command does not find it.
#'
#' Names of features must differ: the option `unique_names = TRUE` makes them by [base::make.unique()].
#'
#' Inputs are never changed. Missing values stay missing: see the option `missing`.
#'
#' @param x The data, as in the table.
#' @param y The classes: a factor, text, logical or numbers, one for each sample, or the name of a
#'   column. Of a factor with two levels in use the second is positive (as in [stats::glm()]);
#'   otherwise the later one, by value or alphabet, or the option `positive`.
#' @param ... For methods.
#' @param data A data frame with the variables of a formula.
#' @param assay Name or number of the assay.
#' @return A list of class `fewest_samples`: `x` (matrix or sparse matrix), `transposed` (whether
#'   features are its rows), `names` (of features), `variables` and `baselines` (of features made of
#'   factors), `samples` (their names, if any), `y`, `columns` (a data frame of what else is known of samples) and `design`, what
#'   [predict()][predict.fewest] needs to make the same of other samples.
#' @examples
#' samples <- fewest_samples(Species ~ ., iris)
#' samples$names
#' @export
fewest_samples <- function(x, y = NULL, ...) UseMethod("fewest_samples")

samples <- function(x, y, names, transposed = FALSE, variables = NULL, baselines = NULL, columns = NULL, design = list()) {
  n <- if (transposed) ncol(x) else nrow(x)
  p <- if (transposed) nrow(x) else ncol(x)
  if (is.data.frame(y) && length(y) == 1) y <- y[[1]]
  if (!is.null(y) && length(y) != n) fail(sprintf("y has %d values, but x has %d samples%s", length(y), n, turned_hint(length(y), p)))
  if (p == 0) fail("x has no features")
  if (is.null(names)) names <- paste0("x", seq_len(p))
  blank <- which(is.na(names) | !nzchar(names))
  if (length(blank)) fail(sprintf("feature %d of x has no name (%d in all have none); name all of them, or none", blank[1], length(blank)))
  structure(list(x = x, y = y, names = names, transposed = transposed, variables = variables,
                 baselines = baselines, columns = columns, samples = if (transposed) colnames(x) else rownames(x), n = n,
                 design = design), class = "fewest_samples")
}

turned_hint <- function(length, other) {
  if (length == other) "; samples must be in the rows: t(x)" else ""
}

# The classes where they were named, and the columns that are left.
named_classes <- function(y, columns, what) {
  if (!(is.character(y) && length(y) == 1)) return(list(y = y, columns = columns))
  if (!y %in% names(columns)) {
    fail(sprintf("there is no column `%s` in %s; it has %s", y, what, quoted(names(columns))))
  }
  list(y = columns[[y]], columns = columns[setdiff(names(columns), y)])
}

quoted <- function(names, most = 8) {
  shown <- paste0("`", utils::head(names, most), "`", collapse = ", ")
  if (length(names) > most) paste0(shown, ", ... (", length(names), " in all)") else if (length(names)) shown else "none"
}

#' @export
#' @rdname fewest_samples
fewest_samples.default <- function(x, y = NULL, ...) {
  if (inherits(x, "Matrix")) return(sparse_samples(x, y))
  if (!is.matrix(x)) {
    fail(sprintf("x is %s; give a matrix, a data frame, a formula with `data`, or an object that fewest_samples() has a method for",
                 paste0("`", class(x)[[1]], "`")))
  }
  samples(number_matrix(x), y, colnames(x))
}

number_matrix <- function(x) {
  if (!is.numeric(x) && !is.logical(x)) fail(sprintf("x is a matrix of %s; make it one of numbers, or a data frame", typeof(x)))
  if (is.logical(x) || is.integer(x) && anyNA(x)) storage.mode(x) <- "double"
  x
}

sparse_samples <- function(x, y, transposed = FALSE, columns = NULL, design = list()) {
  if (!requireNamespace("Matrix", quietly = TRUE)) fail("a sparse matrix needs the package Matrix; install.packages(\"Matrix\")")
  names <- if (transposed) rownames(x) else colnames(x)
  x <- if (methods::is(x, "sparseMatrix")) {
    methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
  } else {
    as.matrix(x)
  }
  samples(x, y, names, transposed, columns = columns, design = design)
}

#' @export
#' @rdname fewest_samples
fewest_samples.data.frame <- function(x, y = NULL, ...) {
  found <- named_classes(y, as.list(x), "x")
  named_rows(frame_samples(found$columns, found$y, design = list(...)$design), x)
}

# With the names of a data frame's rows, where it was given some.
named_rows <- function(samples, frame) {
  if (.row_names_info(frame) > 0) samples$samples <- row.names(frame)
  samples
}

# Columns as features. `design` is that of training, for new samples.
frame_samples <- function(columns, y, design = NULL) {
  n <- if (length(columns)) NROW(columns[[1]]) else length(y)
  columns <- drop_foreign(columns, design)
  levels <- if (is.null(design)) Filter(Negate(is.null), lapply(columns, category_levels)) else design$levels
  check_columns(columns, levels)
  parts <- Map(function(column, name) encode_column(column, name, levels[[name]]), columns, names(columns))
  x <- if (length(parts)) do.call(cbind, lapply(parts, `[[`, "x")) else matrix(0, n, 0)
  variables <- unlist(lapply(parts, `[[`, "variable"), use.names = FALSE)
  samples(x, y, unlist(lapply(parts, `[[`, "names"), use.names = FALSE),
          variables = if (any(nzchar(variables))) variables,
          baselines = if (any(nzchar(variables))) unlist(lapply(parts, `[[`, "baseline"), use.names = FALSE),
          columns = columns, design = list(kind = "columns", names = names(columns), levels = levels))
}

# Of new samples, the columns of training alone.
drop_foreign <- function(columns, design) {
  if (is.null(design)) return(columns)
  missing <- setdiff(design$names, names(columns))
  if (length(missing)) fail(sprintf("newdata lacks %s, which the model was trained with", quoted(missing)))
  columns[design$names]
}

# The values of a factor or text in use, sorted; nothing for numbers.
category_levels <- function(column) {
  if (is.factor(column)) sort(unique(as.character(column[!is.na(column)])), method = "radix")
  else if (is.character(column)) sort(unique(column[!is.na(column)]), method = "radix")
}

check_columns <- function(columns, levels) {
  for (name in names(columns)) {
    column <- columns[[name]]
    if (is.factor(column) || is.character(column)) {
      many <- length(levels[[name]])
      if (many > 100) fail(sprintf("column `%s` has %d values: an identifier? Leave it out, or make it a number", name, many))
    } else if (!is.numeric(column) && !is.logical(column) || inherits(column, c("Date", "POSIXt", "difftime")) || length(dim(column)) > 1) {
      fail(sprintf("column `%s` is of class `%s`; make it numbers, text or a factor, or leave it out", name, class(column)[[1]]))
    }
  }
}

# A column of numbers as it is; a category as columns of 0 and 1, one for each value, one in all
# for two. A value that training did not have is 0 in all of them.
encode_column <- function(column, name, levels) {
  if (is.null(levels)) return(list(x = as.numeric(column), names = name, variable = "", baseline = ""))
  text <- as.character(column)
  unseen <- setdiff(text[!is.na(text)], levels)
  if (length(unseen)) warning(sprintf("column `%s` has values that training did not have: %s", name, quoted(unseen)), call. = FALSE)
  two <- length(levels) == 2
  made <- if (two) levels[2] else levels
  x <- vapply(made, function(level) as.numeric(text == level), numeric(length(text)))
  dim(x) <- c(length(text), length(made))
  list(x = x, names = if (length(made)) paste0(name, "=", made), variable = rep(name, length(made)),
       baseline = rep(if (two) levels[1] else "", length(made)))
}

#' @export
#' @rdname fewest_samples
fewest_samples.formula <- function(x, y = NULL, data = y, ...) {
  if (!is.data.frame(data)) fail("a formula needs `data`, a data frame")
  # `.` alone is not expanded: terms() takes minutes with thousands of columns.
  if (length(x) == 3 && identical(x[[3]], quote(.))) {
    left <- eval(x[[2]], data, environment(x))
    return(named_rows(frame_samples(as.list(data[setdiff(names(data), all.vars(x[[2]]))]), left), data))
  }
  terms <- stats::terms(x, data = data)
  if (any(attr(terms, "order") > 1)) fail("interactions are no features here; make columns of them: data$ab <- data$a * data$b")
  frame <- stats::model.frame(terms, data, na.action = stats::na.pass)
  # Names that are no words of R stand in backticks in the labels alone.
  labels <- gsub("^`|`$", "", attr(terms, "term.labels"))
  out <- named_rows(frame_samples(as.list(frame[labels]), stats::model.response(frame)), data)
  out$design$terms <- stats::delete.response(attr(frame, "terms"))
  out
}

#' @export
#' @rdname fewest_samples
fewest_samples.SummarizedExperiment <- function(x, y = NULL, assay = 1, ...) {
  need("SummarizedExperiment")
  columns <- as.data.frame(SummarizedExperiment::colData(x), optional = TRUE)
  found <- named_classes(y, columns, "colData(x)")
  turned(SummarizedExperiment::assay(x, assay), rownames(x), found, list(assay = assay))
}

#' @export
#' @rdname fewest_samples
fewest_samples.ExpressionSet <- function(x, y = NULL, ...) {
  need("Biobase")
  found <- named_classes(y, Biobase::pData(x), "pData(x)")
  turned(Biobase::exprs(x), Biobase::featureNames(x), found)
}

#' @export
#' @rdname fewest_samples
fewest_samples.DGEList <- function(x, y = "group", ...) {
  need("edgeR")
  if (is.null(y)) y <- "group"
  found <- named_classes(y, x$samples, "x$samples")
  message("note: counts are edgeR::cpm(x, log = TRUE)")
  turned(edgeR::cpm(x, log = TRUE), rownames(x$counts), found)
}

turned <- function(x, names, found, design = list()) {
  if (inherits(x, "Matrix")) return(sparse_samples(x, found$y, transposed = TRUE, columns = found$columns, design = design))
  samples(number_matrix(as.matrix(x)), found$y, names, transposed = TRUE, columns = found$columns, design = design)
}

need <- function(package) {
  if (!requireNamespace(package, quietly = TRUE)) fail(sprintf("this object needs the package %s", package))
}

# The arrays of an archive for the command; `apart` are columns with a value for each sample.
arrays_of <- function(samples, apart = list()) {
  p <- length(samples$names)
  x <- samples$x
  if (twice <- anyDuplicated(samples$names)) {
    fail(sprintf("the name `%s` is used by two features; say unique_names = TRUE to tell them apart", samples$names[twice]), class = "fewest_usage")
  }
  shape <- c(samples$n, p)
  out <- if (is.matrix(x)) {
    list(X = list(values = x, dim = shape, order = if (samples$transposed) "C" else "F"))
  } else {
    list(data = x@x, indices = x@i, indptr = x@p, shape = as.integer(shape), format = if (samples$transposed) "csr" else "csc")
  }
  out$names <- enc2utf8(samples$names)
  out$variables <- samples$variables
  out$baselines <- samples$baselines
  if (!is.null(samples$y)) out$y <- as_array(samples$y)
  c(out, lapply(apart, as_array))
}

# One value for each sample; a missing one is blank text or NaN.
as_array <- function(values) {
  if (is.factor(values) || is.logical(values)) values <- as.character(values)
  if (is.character(values)) {
    values[is.na(values)] <- ""
    return(enc2utf8(values))
  }
  if (!is.numeric(values)) fail(sprintf("classes and other values of samples are of class `%s`; make them a factor, text or numbers", class(values)[[1]]))
  as.numeric(values)
}
