#' Draws a result
#'
#' Of a path with `cv`, and of a study: accuracy by number of features with its standard error; the
#' chosen size is filled. Sizes of a study are judged inside the folds, which guided the choice and is a little too
#' good; the dashed line is the accuracy of the panel in the outer folds. Of a path without `cv`: the objective and its bound. Of an evaluation,
#' stability selection, or with `which = "frequency"` of a study: the share of folds or halves that
#' chose each feature.
#'
#' @param x A result of [fewest_path()], [fewest_study()], [fewest_evaluate()] or
#'   [fewest_stability()].
#' @param which `"sizes"` or `"frequency"`, where there are both.
#' @param most The most features that are drawn.
#' @param ... Handed on to the plot.
#' @return What was drawn, a data frame, invisibly.
#' @examplesIf fewest::fewest_available()
#' plot(fewest_path(Species ~ ., iris, method = "rfe", max_features = 1:4, cv = 5))
#' @export
plot.fewest <- function(x, which = c("sizes", "frequency"), most = 25, ...) {
  which <- match.arg(which)
  sizes <- inherits(x, c("fewest_path", "fewest_study"))
  # Of a study the sizes are judged inside the folds, and the panel by the outer ones.
  outer <- if (inherits(x, "fewest_study")) x$summary$accuracy$mean
  if (sizes && which == "sizes") return(plot_sizes(as.data.frame(x), chosen_size(x), outer, ...))
  if (is.null(x$frequency)) fail("this result has neither several sizes nor folds; plot a path, an evaluation, a study or stability")
  plot_frequency(x$frequency, x$threshold, most, ...)
}

chosen_size <- function(x) if (inherits(x, "fewest_path")) x$cv$best_size else x$panel$max_features

plot_sizes <- function(frame, chosen, outer, xlab = "number of features", ylab = NULL, ...) {
  judged <- !is.null(frame$accuracy)
  value <- if (judged) frame$accuracy else frame$objective
  low <- if (judged) value - ifelse(is.na(frame$se), 0, frame$se) else pmin(value, frame$bound, na.rm = TRUE)
  high <- if (judged) value + ifelse(is.na(frame$se), 0, frame$se) else value
  if (is.null(ylab)) ylab <- if (!is.null(outer)) "accuracy inside the folds (dashed: outer folds)" else if (judged) "accuracy on samples left out" else "objective (dashed: bound)"
  graphics::plot(frame$max_features, value, type = "b", xaxt = "n", ylim = range(low, high, outer, na.rm = TRUE), xlab = xlab, ylab = ylab,
                 pch = ifelse(frame$max_features %in% chosen, 19, 1), ...)
  graphics::axis(1, if (nrow(frame) <= 12) frame$max_features else unique(round(pretty(frame$max_features))))
  if (!is.null(outer)) graphics::abline(h = outer, lty = 2)
  if (judged) graphics::segments(frame$max_features, low, frame$max_features, high)
  else graphics::lines(frame$max_features, frame$bound, lty = 2)
  invisible(frame)
}

plot_frequency <- function(frequency, threshold, most, xlab = "share that chose it", ...) {
  shown <- rev(utils::head(sort(frequency, decreasing = TRUE), most))
  wide <- max(graphics::strwidth(names(shown), "inches", cex = 0.8))
  old <- graphics::par(mai = replace(graphics::par("mai"), 2, wide + 0.3))
  on.exit(graphics::par(old))
  at <- graphics::barplot(shown, horiz = TRUE, las = 1, xlim = c(0, 1), xlab = xlab, cex.names = 0.8, ...)
  if (!is.null(threshold)) graphics::abline(v = threshold, lty = 2)
  invisible(data.frame(feature = rev(names(shown)), frequency = rev(unname(shown)), at = rev(as.numeric(at))))
}
