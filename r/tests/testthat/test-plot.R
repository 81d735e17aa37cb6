# Everything here is of what was drawn: marks, labels, limits, places.
texts <- function(calls) unlist(lapply(of(calls, "C_text"), `[[`, 3))
title_of <- function(calls) of(calls, "C_title")[[1]][[2]]
window_of <- function(calls) of(calls, "C_plot_window")[[1]]
xy <- function(call) call[[2]][c("x", "y")]
points_of <- function(calls) Filter(function(call) identical(call[[3]], "p"), of(calls, "C_plotXY"))
margins <- function(calls) Filter(function(par) !is.null(par$mai) && isTRUE(par$new), lapply(of(calls, "C_par"), `[[`, 2))[[1]]$mai
drawn_frame <- function(x, which) {
  frame <- NULL
  drawn(frame <- plot(x, which = which))
  frame
}
# The legend is written below the lowest value that is drawn.
expect_free <- function(calls) expect_lt(max(of(calls, "C_text")[[length(of(calls, "C_text"))]][[2]]$y), window_of(calls)[[3]][1])

test_that("a study shows the outer folds beside the inner ones", {
  needs_command()
  study <- fewest_study(Species ~ ., two, max_features = 1:4, methods = "rfe", folds = 3, repeats = 1, quiet = TRUE)
  calls <- drawn(frame <- plot(study))
  expect_identical(frame, as.data.frame(study))
  expect_match(title_of(calls), "Accuracy by number of features: Species")
  expect_identical(of(calls, "C_axis")[[1]][[3]], c(1, 2, 3, 4))
  bars <- of(calls, "C_arrows")
  expect_equal(bars[[1]][[3]], (frame$accuracy - frame$se)[frame$se > 0])
  expect_true(all(vapply(bars, function(bar) bar[[7]] == 90 && bar[[8]] == 3, TRUE)))
  ci <- study$summary$accuracy$ci95
  expect_equal(c(bars[[2]][[3]], bars[[2]][[5]]), ci)
  estimate <- xy(points_of(calls)[[2]])
  expect_equal(estimate$y, study$summary$accuracy$mean)
  expect_lt(abs(estimate$x - study$panel$max_features), 0.5)
  expect_match(texts(calls), "inner folds|outer folds: the estimate|most frequent class: 0.500")
  expect_lte(window_of(calls)[[3]][1], min(ci, frame$accuracy - frame$se))
  expect_gte(window_of(calls)[[3]][2], max(ci, frame$accuracy + frame$se))
  expect_free(calls)
  curve <- drawn(frame <- plot(study, which = "decision"))
  expect_length(of(curve, "C_plotXY"), 2)
  expect_identical(nrow(frame), 99L)
  expect_match(of(curve, "C_title")[[3]][[5]], "net benefit")
  expect_identical(nrow(drawn_frame(study, "measures")), 6L)
})

test_that("bars are as many as features, in colour where they are in the panel, and beside their names", {
  needs_command()
  study <- fewest_study(Species ~ ., two, max_features = 2, methods = "rfe", folds = 3, repeats = 1, quiet = TRUE)
  calls <- drawn(frame <- plot(study, which = "frequency", most = 3))
  bars <- of(calls, "C_rect")[[1]]
  expect_identical(bars[[4]], frame$frequency)
  expect_lte(nrow(frame), 3)
  expect_identical(bars[[6]] == FIRST, frame$feature %in% unlist(study$panel$selected))
  expect_identical(of(calls, "C_axis")[[2]][[4]], frame$feature)
  expect_free(calls)
  long <- study
  names(long$frequency)[1] <- "a name that is rather long"
  expect_gt(margins(drawn(plot(long, which = "frequency")))[2], margins(calls)[2] + 0.3)
  expect_gt(margins(drawn(plot(study, which = "frequency", main = strrep("long ", 40))))[3], margins(calls)[3] + 0.3)
})

test_that("paths, folds, halves and copies are drawn", {
  needs_command()
  path <- fewest_path(Species ~ ., two, method = "exact", max_features = 1:3, quiet = TRUE)
  calls <- drawn(frame <- plot(path, main = "mine"))
  expect_identical(title_of(calls), "mine")
  expect_equal(xy(of(calls, "C_plotXY")[[1]])$y, frame$bound)
  expect_equal(xy(of(calls, "C_plotXY")[[2]])$y, frame$objective)
  expect_match(texts(calls), "objective|bound: no subset")
  judged <- fewest_evaluate(Species ~ ., two, method = "rfe", max_features = 2, cv = 5, quiet = TRUE)
  calls <- drawn(frame <- plot(judged, which = "measures"))
  expect_identical(frame$measure[1:2], c("accuracy", "auc"))
  expect_equal(xy(points_of(calls)[[1]])$x, frame$mean)
  wide <- which(frame$upper > frame$lower)
  expect_equal(of(calls, "C_arrows")[[1]][[2]], frame$lower[wide])
  expect_identical(window_of(calls)[[2]][2], 1)
  halves <- fewest_stability(Species ~ ., two, method = "rfe", max_features = 2, quiet = TRUE)
  calls <- drawn(plot(halves))
  expect_equal(of(calls, "C_abline")[[1]][[5]], halves$threshold)
  expect_match(texts(calls), "selected|threshold")
  copies <- fewest_knockoffs(Species ~ ., two, method = "l1-svm", draws = 1, quiet = TRUE)
  calls <- drawn(frame <- plot(copies))
  expect_length(of(calls, "C_rect")[[1]][[4]], 4)
  expect_match(title_of(calls), "false discovery rate of")
})

test_that("markers are dots along the diagonal, lists points with intervals", {
  needs_command()
  markers <- fewest_markers(Species ~ ., iris, max_features = 3, quiet = TRUE)
  calls <- drawn(frame <- plot(markers))
  dots <- points_of(calls)[[1]]
  expect_length(xy(dots)$x, 9)
  expect_identical(nrow(frame), 9L)
  highest <- vapply(split(frame, factor(frame$feature, unique(frame$feature))), function(gene) match(gene$type[which.max(gene$mean)], levels(iris$Species)), 0L)
  expect_false(is.unsorted(highest))
  expect_equal(dots[[8]] / max(dots[[8]]), sqrt(frame$share))
  expect_equal(range(frame$colour), c(0, 1))
  expect_match(texts(calls), "share above 0|%|mean|largest|smallest")
  expect_identical(drawn_frame(markers, "types")$type, levels(iris$Species))
  lists <- fewest_compare(Species ~ ., iris, lists = list(ours = markers, one = "Sepal.Width"), quiet = TRUE)
  calls <- drawn(frame <- plot(lists))
  expect_equal(xy(points_of(calls)[[1]])$x, frame$mean)
  expect_equal(of(calls, "C_arrows")[[1]][[4]], vapply(lists$lists, function(list) list$macro_f1$ci95[2], 0))
  expect_identical(of(calls, "C_axis")[[2]][[4]], c("ours (3)", "one (1)"))
})

test_that("the gain of a list is parts of one, weights have a side", {
  needs_command()
  list <- fewest_certify(Species ~ ., two, features = c("Sepal.Width", "Sepal.Length"), quiet = TRUE)
  calls <- drawn(frame <- plot(list))
  expect_equal(sum(frame$share), 1)
  expect_equal(frame$share[1], 1 - list$gap)
  expect_match(title_of(calls), "These 2 features reach at least")
  fit <- fewest_select(Species ~ ., two, method = "exact", max_features = 2, quiet = TRUE)
  calls <- drawn(frame <- plot(fit))
  expect_identical(of(calls, "C_rect")[[1]][[6]] == FIRST, frame$weight > 0)
  expect_match(texts(calls), "speaks for (virginica|versicolor)")
  expect_error(plot(fit, which = "sizes"), '"weights", "gain"')
  expect_error(plot(fewest_check(Species ~ ., two, quiet = TRUE)), "nothing to draw")
})

test_that("figures have the width of a column, and the device the user had stays", {
  needs_command()
  fit <- fewest_select(Species ~ ., two, method = "exact", max_features = 2, quiet = TRUE)
  size <- function(file) rev(readBin(file, "integer", 6, endian = "big")[5:6])[2:1]
  png <- tempfile(fileext = ".png")
  before <- grDevices::dev.list()
  expect_identical(fewest_figure(fit, png), png)
  expect_identical(size(png)[1], as.integer(85 / 25.4 * 300))
  fewest_figure(fit, png, width = 170, height = 100)
  expect_identical(size(png), as.integer(c(170, 100) / 25.4 * 300))
  pdf <- fewest_figure(fit, tempfile(fileext = ".pdf"), which = "gain")
  expect_true(any(grepl("/MediaBox \\[0 0 24[01] ", readLines(pdf, warn = FALSE), useBytes = TRUE)))
  if (capabilities("cairo")) expect_match(readLines(fewest_figure(fit, tempfile(fileext = ".svg")), n = 2)[2], "width=\"24[01]")
  expect_error(fewest_figure(fit, "a.jpg"), "must end with")
  expect_identical(grDevices::dev.list(), before)
})
