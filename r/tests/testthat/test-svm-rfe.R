# The loop around e1071::svm() that it stands in for; `folds` as svm_rfe(folds = ) has them.
loop <- function(x, y, folds = NULL, halve.above = Inf, cost = 10) {
  x <- scale(x)
  weights <- function(rows, columns) {
    model <- e1071::svm(x[rows, columns, drop = FALSE], y[rows], scale = FALSE, type = "C-classification", kernel = "linear",
                        cost = cost, cachesize = 500, tolerance = 1e-9)
    c(t(model$coefs) %*% model$SV)
  }
  left <- seq_len(ncol(x))
  ranked <- integer()
  while (length(left)) {
    criterion <- if (is.null(folds)) weights(seq_along(y), left)^2 else {
      squares <- sapply(unique(folds), function(fold) { w <- weights(which(folds != fold), left); w^2 / sum(w^2) })
      squares <- matrix(squares, length(left))
      rowMeans(squares) / apply(squares, 1, stats::sd)
    }
    go <- if (length(left) > halve.above) round(length(left) / 2) else 1
    worst <- order(criterion)[seq_len(if (length(left) == 1) 1 else go)]
    ranked <- c(rev(left[worst]), ranked)
    left <- left[-worst]
  }
  ranked
}

random_data <- function(seed, n = 40, p = 12) {
  set.seed(seed)
  x <- matrix(rnorm(n * p), n)
  list(x = x, y = factor(ifelse(x[, 1] + x[, 2] - x[, 3] + rnorm(n) > 0, "b", "a")))
}

test_that("SVM-RFE ranks as the loop does", {
  needs_command()
  skip_if_not_installed("e1071")
  for (seed in 1:5) {
    data <- random_data(seed)
    expect_identical(c(unname(svm_rfe(data$x, data$y))), loop(data$x, data$y), ignore_attr = TRUE)
    expect_identical(c(unname(svm_rfe(data$x, data$y, halve.above = 5))), loop(data$x, data$y, halve.above = 5), ignore_attr = TRUE)
  }
})

test_that("multiple SVM-RFE ranks as the loop does, with the same folds", {
  needs_command()
  skip_if_not_installed("e1071")
  for (seed in 1:5) {
    data <- random_data(seed)
    folds <- rep(1:5, length.out = 40)
    expect_identical(c(unname(svm_rfe(data$x, data$y, k = 5, folds = folds))), loop(data$x, data$y, folds), ignore_attr = TRUE)
  }
})

test_that("it takes the data frame of the loop, and names features", {
  needs_command()
  ranked <- svm_rfe(cbind(two["Species"], two[1:4]), k = 5, seed = 1)
  expect_setequal(names(ranked), names(two)[1:4])
  expect_setequal(unname(ranked), 1:4)
  expect_length(attr(ranked, "criterion"), 4)
  expect_warning(constant <- svm_rfe(cbind(two_x, one = 1), two$Species), "one value only")
  expect_identical(names(constant)[5], "one")
})
