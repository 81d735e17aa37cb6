#' Draws a result
#'
#' The figure has base graphics alone; `which` names it, of those that the result has.
#'
#' | result of | `which`, the first is the default |
#' | --- | --- |
#' | [fewest_study()] | `"sizes"`, `"frequency"`, `"measures"`, `"decision"` |
#' | [fewest_path()] | `"sizes"` |
#' | [fewest_evaluate()] | `"frequency"`, `"measures"` |
#' | [fewest_stability()], [fewest_knockoffs()] | `"frequency"`, `"evidence"` |
#' | [fewest_markers()] | `"dots"`, `"types"`, `"frequency"` |
#' | [fewest_compare()] | `"lists"` |
#' | [fewest_certify()] | `"gain"`, `"weights"` |
#' | [fewest_select()] | `"weights"`, `"gain"` |
#'
#' * `"sizes"`: accuracy by number of features; bars are one standard error, the chosen size is filled. Of a study
#'   that is the accuracy inside the folds, which guided the choice and is a little too good; beside it stands the
#'   accuracy of the panel in the outer folds, the estimate, with its 95 % interval. The dotted line is the share of
#'   the most frequent class. Of a path without `cv`: the objective and its bound.
#' * `"frequency"`: the share of folds or halves that chose each feature, those of the panel in colour. `"evidence"`:
#'   that of knockoffs, and what was selected.
#' * `"measures"`: accuracy, AUC and others on samples held out, with 95 % intervals.
#' * `"decision"`: the net benefit of acting on the probabilities of a study, by threshold.
#' * `"dots"`: markers by type; the size is the share of samples above 0, the colour the mean between the smallest and the
#'   largest of the marker. `"types"`: F1 of each type.
#' * `"lists"`: macro F1 of lists with 95 % intervals.
#' * `"gain"`: how much of what features can gain over none is reached, and is left open. `"weights"`: of the classifier.
#'
#' `fewest_figure()` writes a figure of the width of one or two columns of a journal.
#'
#' @param x A result.
#' @param which What is drawn, as above.
#' @param most The most features that are drawn.
#' @param main,xlab,ylab The title and the names of the axes, in place of the usual ones.
#' @param ... For `plot()` not used; for `fewest_figure()` what `plot()` takes.
#' @return Of `plot()` what was drawn, a data frame, invisibly; of `fewest_figure()` the file, invisibly.
#' @examplesIf fewest::fewest_available()
#' path <- fewest_path(Species ~ ., iris, method = "rfe", max_features = 1:4, cv = 5)
#' plot(path)
#' fewest_figure(path, tempfile(fileext = ".pdf"))
#' @export
plot.fewest <- function(x, which = NULL, most = 25, main = NULL, xlab = NULL, ylab = NULL, ...) {
  which <- which_figure(x, which)
  old <- graphics::par(c("mai", "mgp", "tcl", "las", "xpd"))
  on.exit(graphics::par(old))
  graphics::par(mgp = c(2.1, 0.5, 0), tcl = -0.25, las = 1)
  invisible(FIGURES[[which]](x, list(most = most, main = main, xlab = xlab, ylab = ylab)))
}

# The figures of each kind of result, the first is the default.
OF_KIND <- list(
  fewest_study = c("sizes", "frequency", "measures", "decision"), fewest_path = "sizes",
  fewest_evaluation = c("frequency", "measures"), fewest_stability = "frequency", fewest_knockoffs = "evidence",
  fewest_markers = c("dots", "types", "frequency"), fewest_comparison = "lists",
  fewest_certificate = c("gain", "weights"), fewest_selection = c("weights", "gain")
)

which_figure <- function(x, which) {
  known <- OF_KIND[[class(x)[1]]]
  if (is.null(known)) fail("this result has nothing to draw; print() shows it")
  if (is.null(which)) return(known[1])
  if (!is.character(which) || length(which) != 1 || !which %in% known) {
    fail(sprintf("which is %s, but must be one of %s", said(which, "..."), paste0('"', known, '"', collapse = ", ")))
  }
  which
}

#' @rdname plot.fewest
#' @param file Where it goes: `.svg`, `.pdf`, or `.png` of 300 dots per inch.
#' @param width,height In millimetres: 85 is one column, 170 two. The height follows from what is drawn.
#' @export
fewest_figure <- function(x, file, width = 85, height = NULL, which = NULL, most = 25, ...) {
  check_result(x)
  which <- which_figure(x, which)
  if (is.null(height)) height <- figure_height(x, which, most, width)
  inches <- c(width, height) / 25.4
  size <- 7
  switch(tolower(tools::file_ext(file)),
    svg = grDevices::svg(file, inches[1], inches[2], pointsize = size),
    pdf = grDevices::pdf(file, inches[1], inches[2], pointsize = size, useDingbats = FALSE),
    png = grDevices::png(file, inches[1], inches[2], units = "in", res = 300, pointsize = size),
    fail(sprintf("file is `%s`, but must end with .svg, .pdf or .png", file))
  )
  tryCatch(plot(x, which = which, most = most, ...), finally = grDevices::dev.off())
  invisible(file)
}

# Millimetres for what is drawn: rows of text, or three quarters of the width.
figure_height <- function(x, which, most, width) {
  rows <- switch(which,
    frequency = min(most, length(x$frequency)),
    evidence = min(most, length(x$evidence)),
    measures = length(measures_of(x)$measure),
    types = length(x$by_class),
    lists = length(x$lists),
    weights = nrow(as.data.frame.fewest(x)),
    gain = 1,
    dots = if (many_markers(x)) length(x$panel$markers) + 4 else length(x$classes) + 8,
    NULL
  )
  if (is.null(rows)) 0.8 * width else 24 + 3.6 * max(rows, 3)
}

# What is drawn with, as on the pages of results.
FIRST <- "#0a6fb8"
SECOND <- "#b4540a"
INK <- "#1a1d21"
MUTED <- "#545b64"
PALE <- "#c9ced6"

# Inches of a line of text.
line_inches <- function() graphics::par("cin")[2] * graphics::par("cex")

# An empty figure whose margins fit names at the left, a title and a `legend` of this number of entries below.
open_figure <- function(xlim, ylim, how, main, xlab, ylab = "", names = NULL, legend = 0, right = 1.2 * line_inches(), log = "", names_below = NULL) {
  graphics::plot.new()
  main <- if (is.null(how$main)) main else how$main
  line <- line_inches()
  lines_of_title <- strwrap(main, max(20, floor(graphics::par("fin")[1] / graphics::strwidth("n", "inches", font = 2))))
  wide <- function(text) max(graphics::strwidth(text, "inches", cex = CEX_NAMES))
  left <- if (is.null(names)) 4.2 * line else wide(names) + 0.8 * line + if (nzchar(ylab)) 1.2 * line else 0
  below <- if (is.null(names_below)) 3.2 * line else wide(names_below) + 0.8 * line
  graphics::par(mai = c(below + (legend + (legend > 0) * 0.3) * line, left, (length(lines_of_title) + 0.9) * line, right), new = TRUE)
  graphics::plot.new()
  graphics::plot.window(xlim, ylim, log = log)
  graphics::title(main = paste(lines_of_title, collapse = "\n"), adj = 0, cex.main = 1, line = 0.5, col.main = INK)
  given <- function(label, usual) if (is.null(label)) usual else label
  graphics::title(xlab = given(how$xlab, xlab), col.lab = INK)
  graphics::title(ylab = given(how$ylab, ylab), line = left / line - 1.3, col.lab = INK)
}

CEX_NAMES <- 0.85

# The legend below the axis, which covers nothing.
legend_below <- function(legend, ...) {
  line <- line_inches()
  y <- (graphics::par("mai")[1] - 3.0 * line) / graphics::par("fin")[2]
  graphics::legend(graphics::grconvertX(0, "npc", "user"), graphics::grconvertY(y, "nfc", "user"), legend = legend, bty = "n",
                   cex = CEX_NAMES, xpd = NA, x.intersp = 0.8, ...)
}

# Lines of intervals with caps; `upright` or lying.
intervals <- function(at, low, high, upright = TRUE, ...) {
  there <- is.finite(low) & is.finite(high) & high > low
  if (!any(there)) return()
  at <- at[there]
  low <- low[there]
  high <- high[there]
  if (upright) graphics::arrows(at, low, at, high, angle = 90, code = 3, length = 0.25 * line_inches(), ...)
  else graphics::arrows(low, at, high, at, angle = 90, code = 3, length = 0.25 * line_inches(), ...)
}

# Names that fit beside a figure.
short <- function(names, most = 32) ifelse(nchar(names) > most, paste0(substr(names, 1, most - 2), ".."), names)

# Rows from the top, with a name each.
name_rows <- function(names) {
  at <- rev(seq_along(names))
  graphics::axis(2, at, short(names), tick = FALSE, cex.axis = CEX_NAMES, col.axis = INK, gap.axis = -1)
  at
}

# What the samples are, as a part of a title.
of_target <- function(x) if (is.null(x$target)) "" else sprintf(": %s", x$target)

draw_sizes <- function(x, how) {
  frame <- as.data.frame(x)
  if (!nrow(frame)) fail("no size was judged in time; raise time_limit")
  study <- inherits(x, "fewest_study")
  judged <- !is.null(frame$accuracy)
  chosen <- frame$max_features %in% (if (study) x$panel$max_features else x$cv$best_size)
  sizes <- frame$max_features
  value <- if (judged) frame$accuracy else frame$objective
  error <- if (judged) ifelse(is.na(frame$se), 0, frame$se) else 0
  low <- if (judged) value - error else pmin(value, frame$bound, na.rm = TRUE)
  outer <- if (study) x$summary$accuracy
  guess <- if (judged) guessing(x)
  shown <- range(low, value + error, unlist(outer$ci95), outer$mean, na.rm = TRUE)
  # Far below it would press the rest together.
  near <- !is.null(guess) && guess > shown[1] - diff(shown)
  main <- if (judged) "Accuracy by number of features" else "Objective and bound by number of features"
  wide <- max(sizes) >= 10 * min(sizes) && length(sizes) <= diff(range(sizes))
  room <- if (wide) c(0.9, 1.12) * range(sizes) else range(sizes) + c(-0.4, 0.4)
  legend <- if (judged) {
    c(if (study) "inner folds, which guided the choice (1 standard error)" else "samples held out (1 standard error)",
      if (!is.null(outer$mean)) "outer folds: the estimate for the panel (95 % interval)",
      if (!is.null(guess)) sprintf("share of the most frequent class: %.3f%s", guess, if (near) "" else ", below the figure"))
  } else c("objective", "bound: no subset of this size is below")
  open_figure(room, range(shown, if (near) guess), how,
              paste0(main, of_target(if (study) x else x$path[[1]])), "number of features",
              if (judged) "accuracy" else "objective", legend = length(legend), log = if (wide) "x" else "")
  graphics::axis(1, sizes, col = PALE, col.axis = INK)
  graphics::axis(2, col = PALE, col.axis = INK)
  if (judged) {
    if (near) graphics::abline(h = guess, lty = 3, col = MUTED)
    intervals(sizes, low, value + error, col = FIRST)
  } else {
    graphics::polygon(c(sizes, rev(sizes)), c(value, rev(low)), col = grDevices::adjustcolor(FIRST, 0.12), border = NA)
    graphics::lines(sizes, frame$bound, lty = 2, col = SECOND)
  }
  graphics::lines(sizes, value, col = FIRST)
  graphics::points(sizes, value, pch = 21, col = FIRST, bg = ifelse(chosen, FIRST, "white"))
  if (!is.null(outer$mean)) {
    at <- if (any(chosen)) sizes[chosen][1] else max(sizes)
    at <- if (wide) at * 1.06 else at + 0.18
    ci <- c(unlist(outer$ci95), NA, NA)
    intervals(at, ci[1], ci[2], col = SECOND, lwd = 2)
    graphics::points(at, outer$mean, pch = 23, bg = SECOND, col = SECOND, cex = 1.4)
  }
  both <- judged && !is.null(outer$mean)
  if (judged) {
    legend_below(legend, pch = c(21, if (both) 23, if (!is.null(guess)) NA), pt.bg = c("white", if (both) SECOND, NA),
                 col = c(FIRST, if (both) SECOND, if (!is.null(guess)) MUTED), lty = c(1, if (both) 1, if (!is.null(guess)) if (near) 3 else 0))
  } else legend_below(legend, col = c(FIRST, SECOND), lty = 1:2, pch = c(21, NA), pt.bg = "white")
  frame
}

# What always guessing the most frequent class is right on.
guessing <- function(x) {
  counts <- unlist(if (is.null(x$class_counts)) x$path[[1]]$class_counts else x$class_counts)
  if (length(counts)) max(counts) / sum(counts)
}

# Half the height of a bar, where rows are one apart: no bar is higher than a line and a half.
half_bar <- function() min(0.36, 0.75 * line_inches() / graphics::par("pin")[2] * diff(graphics::par("usr")[3:4]))

# Bars of values by feature, the largest first, those of the answer in colour; without a legend there is one colour alone.
draw_bars <- function(values, chosen, how, main, xlab, legend, xlim, threshold = NULL) {
  shown <- names(values)
  line <- !is.null(threshold)
  open_figure(xlim, c(0.4, length(values) + 0.6), how, main, xlab, names = short(shown), legend = length(legend) + line)
  graphics::axis(1, col = PALE, col.axis = INK)
  at <- name_rows(shown)
  graphics::rect(0, at - half_bar(), values, at + half_bar(), col = ifelse(shown %in% chosen, FIRST, PALE), border = NA)
  if (line) graphics::abline(v = threshold, lty = 2, col = SECOND)
  if (length(legend)) {
    legend_below(c(legend, if (line) "threshold"), pch = c(15, 15, if (line) NA), pt.cex = 1.6, lty = c(0, 0, if (line) 2),
                 col = c(FIRST, PALE, if (line) SECOND))
  }
  data.frame(feature = shown, frequency = unname(values), at = as.numeric(at))
}

draw_frequency <- function(x, how) {
  if (!length(x$frequency)) fail("no fold was done, so that there are no frequencies")
  halves <- inherits(x, "fewest_stability")
  of <- if (halves) "halves" else if (inherits(x, "fewest_study")) "outer folds" else "folds"
  values <- utils::head(sort(x$frequency, decreasing = TRUE), how$most)
  panel <- if (is.null(x$panel$features)) x$panel$selected else x$panel$features
  # Of an evaluation there is no panel: all of them are in colour.
  chosen <- if (halves) unlist(x$selected) else if (is.null(x$panel)) names(values) else unlist(panel)
  legend <- if (halves) c("selected", "below the threshold") else if (!is.null(x$panel)) c("in the panel", "others")
  main <- sprintf("Features by share of %s that chose them%s", of, of_target(x))
  draw_bars(values, chosen, how, main, sprintf("share of %s", of), legend, c(0, 1), x$threshold)
}

draw_evidence <- function(x, how) {
  frame <- as.data.frame(x)
  several <- length(x$draws) > 1
  name <- if (several) "evidence" else "statistic"
  values <- stats::setNames(frame[[name]], frame$feature)
  values <- utils::head(sort(values, decreasing = TRUE), how$most)
  threshold <- if (!several) x$draws[[1]]$threshold
  draw_bars(values, x$selected, how, sprintf("Knockoff filter at a false discovery rate of %g%s", x$fdr, of_target(x)),
            if (several) sprintf("evidence (e-value) over %d draws", length(x$draws)) else "statistic W: the feature less its copy",
            c("selected", "not selected"), range(0, values, threshold, if (all(values == 0)) 1), threshold)
  frame
}

# Points with intervals by row.
draw_rows <- function(frame, how, main, xlab, xlim = NULL, reference = NULL, legend = NULL) {
  limits <- if (is.null(xlim)) range(frame$mean, frame$lower, frame$upper, reference, na.rm = TRUE) else xlim
  open_figure(limits, c(0.5, nrow(frame) + 0.5), how, main, xlab, names = short(frame$name), legend = length(legend))
  graphics::axis(1, col = PALE, col.axis = INK)
  at <- name_rows(frame$name)
  graphics::segments(limits[1], at, limits[2], at, col = PALE, lty = 3)
  if (!is.null(reference)) graphics::segments(reference, at - 0.35, reference, at + 0.35, col = MUTED, lwd = 2)
  intervals(at, frame$lower, frame$upper, upright = FALSE, col = FIRST)
  graphics::points(frame$mean, at, pch = 21, bg = FIRST, col = FIRST)
  if (!is.null(legend)) legend_below(legend, pch = c(21, NA), pt.bg = c(FIRST, NA), col = c(FIRST, MUTED), lty = c(1, 1), lwd = c(1, 2))
}

# Measures that are shares; others have other units.
SHARES <- c(accuracy = "accuracy", auc = "AUC", sensitivity = "sensitivity", specificity = "specificity",
            balanced_accuracy = "balanced accuracy", f1 = "F1")

measures_of <- function(x) {
  frame <- as.data.frame.fewest_evaluation(x)
  frame <- frame[match(names(SHARES), frame$measure), ]
  frame[!is.na(frame$mean), ]
}

draw_measures <- function(x, how) {
  frame <- measures_of(x)
  if (!nrow(frame)) fail("no fold was done, so that nothing is measured")
  frame$name <- SHARES[frame$measure]
  # What guessing gives: the majority, chance, or all or nothing of a class.
  guess <- c(accuracy = guessing(x), auc = 0.5, balanced_accuracy = 1 / length(x$classes))[frame$measure]
  draw_rows(frame, how, paste0("On samples held out", of_target(x)), "share", c(min(0.4, frame$lower, na.rm = TRUE), 1), unname(guess),
            c(if (inherits(x, "fewest_study")) "outer folds (95 % interval)" else "folds (95 % interval)", "guessing"))
  frame[c("measure", "mean", "lower", "upper")]
}

draw_types <- function(x, how) {
  frame <- data.frame(name = vapply(x$by_class, function(of) of$class, ""), mean = field(x$by_class, "f1"), lower = NA, upper = NA,
                      samples = field(x$by_class, "samples"))
  draw_rows(frame, how, paste0("F1 by type, on samples held out", of_target(x)), "F1", c(min(0.5, frame$mean, na.rm = TRUE), 1))
  data.frame(type = frame$name, f1 = frame$mean, samples = frame$samples)
}

draw_lists <- function(x, how) {
  frame <- as.data.frame(x)
  ends <- function(at) vapply(x$lists, function(list) or_na(unlist(list$macro_f1$ci95)[at]), 0)
  rows <- data.frame(name = sprintf("%s (%d)", short(frame$list, 28), frame$size), mean = frame$macro_f1, lower = ends(1), upper = ends(2))
  if (all(is.na(rows$mean))) fail("no fold was done, so that nothing is compared")
  draw_rows(rows, how, paste0("Lists on the same samples held out", of_target(x)), "macro F1 (95 % interval)")
  data.frame(list = frame$list, mean = rows$mean, lower = rows$lower, upper = rows$upper)
}

draw_decision <- function(x, how) {
  if (!length(x$decision_curve)) fail("the study has no probabilities of two classes, so that there is no decision curve")
  of <- function(name) field(x$decision_curve, name)
  frame <- data.frame(threshold = of("threshold"), net_benefit = of("net_benefit"), treat_all = of("treat_all"))
  top <- max(frame$net_benefit, frame$treat_all)
  legend <- c("acting on the probabilities of the panel", "acting on all", "acting on none")
  open_figure(c(0, 1), c(-0.15 * top, top), how, paste0("Decision curve, outer folds", of_target(x)), "threshold of the probability", "net benefit", legend = 3)
  graphics::axis(1, col = PALE, col.axis = INK)
  graphics::axis(2, col = PALE, col.axis = INK)
  graphics::abline(h = 0, lty = 3, col = MUTED)
  shown <- frame$treat_all > -0.15 * top
  graphics::lines(frame$threshold[shown], frame$treat_all[shown], col = SECOND, lty = 2)
  shown <- frame$net_benefit > -0.15 * top
  graphics::lines(frame$threshold[shown], frame$net_benefit[shown], col = FIRST, lwd = 2)
  legend_below(legend, col = c(FIRST, SECOND, MUTED), lty = 1:3, lwd = c(2, 1, 1))
  frame
}

draw_weights <- function(x, how) {
  frame <- as.data.frame.fewest(x)
  if (is.null(frame$weight) || !nrow(frame)) fail("the model has no weights by feature: its kernel is not linear, or it has more classes than two")
  frame <- utils::head(frame[order(-abs(frame$weight)), ], how$most)
  toward <- c("-1" = "-1", "+1" = "+1")
  toward[names(x$classes)] <- unlist(x$classes)
  open_figure(range(0, frame$weight), c(0.4, nrow(frame) + 0.6), how, paste0("Weights of the classifier", of_target(x)),
              "weight (of scaled features)", names = short(frame$feature), legend = 2)
  graphics::axis(1, col = PALE, col.axis = INK)
  at <- name_rows(frame$feature)
  graphics::rect(pmin(0, frame$weight), at - half_bar(), pmax(0, frame$weight), at + half_bar(), col = ifelse(frame$weight > 0, FIRST, SECOND), border = NA)
  graphics::abline(v = 0, col = MUTED)
  legend_below(paste("speaks for", toward[c("+1", "-1")]), pch = 15, pt.cex = 1.6, col = c(FIRST, SECOND))
  frame
}

draw_gain <- function(x, how) {
  open <- or_na(x$gap)
  if (is.na(open)) fail("the method proves no bound, so that the gain is not known; fewest_certify() proves one")
  # As a share of what features can gain over none at most.
  known <- if (is.null(x$best)) 0 else max(0, (x$objective - x$best$objective) / (x$baseline - x$bound))
  parts <- c(reached = 1 - open, known = min(known, open), open = max(0, open - known))
  percent <- function(share) sprintf("%.3g %%", if (share < 1e-5) 0 else 100 * share)
  legend <- paste0(c("reached by these features: ", "a better subset is known: ", "open: no subset can gain more: "), vapply(parts, percent, ""))[parts > 0]
  colours <- c(FIRST, SECOND, PALE)[parts > 0]
  ends <- cumsum(parts)
  open_figure(c(0, 1), c(0, 1), how, sprintf("These %d features reach at least %s of what any %1$d can gain%s", length(x$selected), percent(1 - open), of_target(x)),
              "share of the gain over no features", legend = length(legend))
  graphics::axis(1, seq(0, 1, 0.2), col = PALE, col.axis = INK)
  graphics::rect(ends - parts, 0.5 - half_bar(), ends, 0.5 + half_bar(), col = c(FIRST, SECOND, PALE), border = NA)
  legend_below(legend, pch = 15, pt.cex = 1.6, col = colours)
  data.frame(part = names(parts), share = unname(parts))
}

# Whether markers stand in rows, where they are many, and not in columns.
many_markers <- function(x) length(x$panel$markers) > 40

# A colour of white to blue for each share.
shade <- function(share) {
  ramp <- grDevices::colorRamp(c("#eef4fa", FIRST, "#05294a"))
  grDevices::rgb(ramp(pmin(pmax(share, 0), 1)), maxColorValue = 255)
}

draw_dots <- function(x, how) {
  markers <- x$panel$markers
  if (!length(markers)) fail("there is no panel, so that there are no markers to draw")
  classes <- unlist(x$classes, use.names = FALSE)
  # Along the diagonal: markers by the type in which they are highest.
  markers <- markers[order(match(vapply(markers, function(m) m$highest, ""), classes), field(markers, "rank"))]
  genes <- vapply(markers, function(m) m$feature, "")
  table <- function(name) matrix(unlist(lapply(markers, `[[`, name)), length(classes))
  means <- table("mean")
  share <- table("share")
  low <- apply(means, 2, min)
  wide <- apply(means, 2, max) - low
  relative <- sweep(sweep(means, 2, low), 2, ifelse(wide > 0, wide, 1), "/")
  turned <- many_markers(x)
  rows <- if (turned) genes else classes
  columns <- if (turned) classes else genes
  line <- line_inches()
  open_figure(c(0.5, length(columns) + 0.5), c(0.5, length(rows) + 0.5), how, paste0("Markers by type", of_target(x)), "",
              names = short(rows), names_below = short(columns), right = 6.5 * line)
  at <- name_rows(rows)
  graphics::axis(1, seq_along(columns), short(columns), las = 2, tick = FALSE, cex.axis = CEX_NAMES, col.axis = INK, gap.axis = -1)
  cell <- min(graphics::par("pin") / c(length(columns), length(rows)))
  # The diameter of a point is three quarters of the text's size.
  widest <- min(2.6, 0.95 * cell / (0.75 * graphics::par("ps") * graphics::par("cex") / 72))
  points <- function(x, y, share, relative, ...) {
    graphics::points(x, y, pch = 21, cex = widest * sqrt(share), bg = shade(relative), col = MUTED, lwd = 0.5, ...)
  }
  grid <- expand.grid(class = seq_along(classes), gene = seq_along(genes))
  place <- if (turned) list(grid$class, at[grid$gene]) else list(grid$gene, at[grid$class])
  points(place[[1]], place[[2]], c(share), c(relative))
  graphics::box(col = PALE)
  dots_legend(points)
  data.frame(feature = genes[grid$gene], type = classes[grid$class], mean = c(means), share = c(share), colour = c(relative))
}

# Sizes and colours at the right.
dots_legend <- function(points) {
  line <- line_inches()
  right <- graphics::par("fin")[1] - graphics::par("mai")[4]
  top <- graphics::par("fin")[2] - graphics::par("mai")[3]
  x <- function(lines) graphics::grconvertX((right + lines * line) / graphics::par("fin")[1], "nfc", "user")
  y <- function(lines) graphics::grconvertY((top - lines * line) / graphics::par("fin")[2], "nfc", "user")
  write <- function(column, row, text) graphics::text(x(column), y(row), text, adj = c(0, 0.5), cex = CEX_NAMES, xpd = NA, col = INK)
  write(0.5, 0.3, "share above 0")
  shares <- c(0.25, 0.5, 1)
  for (at in 1:3) {
    points(x(1.3), y(0.3 + 1.3 * at), shares[at], 0.4, xpd = NA)
    write(2.6, 0.3 + 1.3 * at, sprintf("%g %%", 100 * shares[at]))
  }
  write(0.5, 5.9, "mean")
  steps <- seq(0, 1, 0.25)
  for (at in seq_along(steps)) {
    graphics::rect(x(0.7), y(6.1 + at), x(1.9), y(7.1 + at), col = shade(1 - steps[at]), border = NA, xpd = NA)
  }
  write(2.6, 7.6, "largest")
  write(2.6, 11.6, "smallest")
}

FIGURES <- list(sizes = draw_sizes, frequency = draw_frequency, evidence = draw_evidence, measures = draw_measures, types = draw_types,
                lists = draw_lists, decision = draw_decision, weights = draw_weights, gain = draw_gain, dots = draw_dots)
