#' Classifies samples
#'
#' By the SVM that was trained on the chosen features.
#'
#' @param object A result of [fewest_select()], [fewest_study()] or [fewest_markers()].
#' @param newdata Samples, in any form that [fewest_samples()] takes, or the path of a file; features are found by
#'   their names, others are left out. Of a model by formula a data frame with its variables.
#' @param type `"class"`, `"decision"` (values of the decision function, above 0 for the positive
#'   class; of many classes one column for each machine) or `"probability"` (of each class, where
#'   the model was calibrated: a study's is).
#' @param ... Options of the command `predict`, such as `threads`.
#' @return A factor, or numbers as `y` had them; for decision values and probabilities a vector or
#'   matrix. One value, or row, for each sample.
#' @examplesIf fewest::fewest_available()
#' fit <- fewest_select(Species ~ ., iris, method = "rfe", max_features = 2)
#' table(predict(fit, iris), iris$Species)
#' @export
predict.fewest <- function(object, newdata, type = c("class", "decision", "probability"), ...) {
  type <- match.arg(type)
  model <- attr(object, "model")
  if (is.null(model)) fail("this result has no model; fewest_select(), fewest_study() and fewest_markers() make one")
  folder <- tempfile("fewest")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  files <- file.path(folder, c("model.json", "data.npz", "out.csv"))
  write_text(model, files[1])
  if (is_file(newdata)) files[2] <- path.expand(newdata)
  else write_npz(files[2], arrays_of(new_samples(newdata, attr(object, "design"))))
  run_command(c("predict", files[1], files[2], command_args(list(...), folder), "--out", files[3]), quiet = TRUE, data = files[2])
  predictions <- utils::read.csv(files[3], check.names = FALSE, colClasses = c(prediction = "character"), encoding = "UTF-8")
  if (type == "class") return(as_classes(predictions$prediction, attr(object, "classes")))
  columns <- grep(if (type == "decision") "^decision" else "^probability_", names(predictions), value = TRUE)
  if (!length(columns)) fail("the model has no probabilities: a study's model has")
  out <- as.matrix(predictions[columns])
  colnames(out) <- sub("^(decision|probability)_?", "", columns)
  if (ncol(out) > 1) return(out)
  if (type == "decision") return(unname(out[, 1]))
  both <- cbind(1 - out, out)
  colnames(both)[1] <- object$classes[["-1"]]
  both
}

# New samples in the form of those of training; their classes, if any, are not read.
new_samples <- function(newdata, design) {
  if (!is.null(design$terms)) {
    frame <- stats::model.frame(design$terms, newdata, na.action = stats::na.pass)
    return(frame_samples(as.list(frame), NULL, design))
  }
  if (identical(design$kind, "columns")) {
    if (is.matrix(newdata) && !is.null(colnames(newdata))) newdata <- as.data.frame(newdata)
    if (!is.data.frame(newdata)) fail("the model was trained on a data frame; give newdata as one, with the same columns")
    return(frame_samples(as.list(newdata), NULL, design))
  }
  out <- if (is.null(design$assay)) fewest_samples(newdata) else fewest_samples(newdata, assay = design$assay)
  if (isTRUE(design$unique_names)) out$names <- make.unique(out$names)
  out$y <- NULL
  out
}

as_classes <- function(text, classes) {
  if (is.character(classes)) return(factor(text, levels = union(classes, unique(text))))
  if (is.logical(classes)) return(as.logical(text))
  as.numeric(text)
}
