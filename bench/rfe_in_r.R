# SVM-RFE and multiple SVM-RFE from R beside the loop around e1071::svm() that it stands in for.
#
#   Rscript bench/rfe_in_r.R [FILE]        writes bench/results/rfe_in_r.md, or FILE
#
# Needs the package fewest (R CMD INSTALL r), e1071 and multtest (Debian: r-cran-e1071,
# r-bioc-multtest), and the command on the PATH. One core. The loop is that of the script that is
# widely copied (svmRFE with getWeights): cost 10, linear, scaled once, e1071's default tolerance.
# Nested: ranked in each of ten outer folds; ours is run whole. The loop takes hours: a step of it
# is timed at twelve numbers of features, and the area below these times is its time in one fold,
# counted ten times. For golub and k = 1 the loop is run whole, too, to check that.
suppressMessages(library(fewest))

weights <- function(rows, x, y) {
  model <- e1071::svm(x[rows, , drop = FALSE], y[rows], cost = 10, cachesize = 500, scale = FALSE, type = "C-classification", kernel = "linear")
  t(model$coefs) %*% model$SV
}

# One step: the features that stay. The fold numbers are drawn again in each, as in the script.
step <- function(left, x, y, k) {
  now <- x[, left, drop = FALSE]
  if (k > 1) {
    folds <- rep(1:k, len = nrow(x))[sample(nrow(x))]
    w <- do.call(rbind, lapply(1:k, function(fold) weights(which(folds != fold), now, y)))
    v <- t(apply(w, 1, function(r) r / sqrt(sum(r^2))))^2
    if (length(left) == 1) v <- matrix(v, ncol = 1)
    criterion <- apply(v, 2, mean) / apply(v, 2, sd)
  } else {
    criterion <- c(weights(seq_len(nrow(x)), now, y)^2)
  }
  left[-sort(criterion, index.return = TRUE)$ix[1]]
}

loop <- function(x, y, k) {
  left <- seq_len(ncol(x))
  while (length(left) > 1) left <- step(left, x, y, k)
}

# Seconds of the loop, from steps at twelve numbers of features.
estimated <- function(x, y, k) {
  sizes <- unique(round(exp(seq(log(ncol(x)), log(2), length.out = 12))))
  times <- vapply(sizes, function(p) stats::median(replicate(3, seconds(function() step(sample(ncol(x), p), x, y, k)))), 0)
  sum(-diff(sizes) * (utils::head(times, -1) + utils::tail(times, -1)) / 2)
}

seconds <- function(run) unname(system.time(run())[["elapsed"]])

data(golub, package = "multtest")
set.seed(1)
made <- matrix(rnorm(100 * 5000), 100)
effect <- c(made[, 1:10] %*% rep(0.5, 10))
sets <- list(
  `golub, 38 x 3051` = list(x = t(golub), y = factor(golub.cl)),
  `random, 100 x 5000` = list(x = made, y = factor(effect + rnorm(100) > 0))
)

rows <- list()
for (name in names(sets)) {
  x <- sets[[name]]$x
  y <- sets[[name]]$y
  outer <- rep_len(1:10, length(y))[order(order(y, seq_along(y)))]
  for (k in c(1, 10)) {
    nested <- seconds(function() suppressWarnings(for (fold in 1:10) svm_rfe(x[outer != fold, ], y[outer != fold], k = k, threads = 1)))
    scaled <- scale(x[outer != 1, ])
    one <- estimated(scaled, y[outer != 1], k)
    whole <- if (k == 1 && ncol(x) < 4000) sprintf("%.0f", seconds(function() loop(scaled, y[outer != 1], k))) else "-"
    rows <- c(rows, list(sprintf("| %s | %d | %.0f | %s | %.0f | %.2f | %.0f |", name, k, one, whole, 10 * one, nested, 10 * one / nested)))
    message(utils::tail(rows, 1))
  }
}
target <- c(commandArgs(TRUE), "bench/results/rfe_in_r.md")[1]
cpu <- sub(".*: ", "", grep("model name", readLines("/proc/cpuinfo"), value = TRUE)[1])
writeLines(c(
  "# SVM-RFE from R beside a loop around e1071", "",
  sprintf("`Rscript bench/rfe_in_r.R`, %s, R %s, e1071 %s, fewest %s, one core of %s. Seconds.", format(Sys.Date()), getRversion(),
          utils::packageVersion("e1071"), sub("fewest ", "", system2(fewest_command(), "--version", stdout = TRUE)), cpu), "",
  "Nested is a ranking in each of ten outer folds. Ours runs in all. Of the loop a step is timed at twelve numbers of features; the area below is its time in one fold, counted ten times.", "",
  "| data | k | loop, one fold, from its steps | run whole | loop, nested | `svm_rfe`, nested | ratio |", "| --- | --- | --- | --- | --- | --- | --- |", unlist(rows)
), target)
