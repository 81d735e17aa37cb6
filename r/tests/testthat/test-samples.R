test_that("a formula, a data frame and a matrix are the same samples", {
  by_formula <- fewest_samples(Species ~ ., two)
  by_frame <- fewest_samples(two, "Species")
  by_matrix <- fewest_samples(two_x, two$Species)
  for (other in list(by_frame, by_matrix)) {
    expect_equal(unname(by_formula$x), unname(other$x))
    expect_identical(by_formula$names, other$names)
    expect_identical(by_formula$y, other$y)
  }
})

test_that("a factor becomes columns by name, one for two values", {
  frame <- data.frame(sex = c("m", "f", NA, "m"), colour = factor(c("red", "blue", "green", "red"), levels = c("red", "green", "blue", "pink")), n = 1:4, on = c(TRUE, FALSE, NA, TRUE))
  made <- fewest_samples(frame, c(0, 1, 0, 1))
  expect_identical(made$names, c("sex=m", "colour=blue", "colour=green", "colour=red", "n", "on"))
  expect_equal(made$x[, 1], c(1, 0, NA, 1))
  expect_equal(made$x[, 4], c(1, 0, 0, 1))
  expect_identical(made$variables, c("sex", "colour", "colour", "colour", "", ""))
  expect_identical(made$baselines, c("f", "", "", "", "", ""))
})

test_that("the terms of a formula are features", {
  frame <- data.frame(y = c(0, 1, 1), a = 1:3, `b c` = 4:6, id = 7:9, check.names = FALSE)
  made <- fewest_samples(y ~ . - id + log(a), frame)
  expect_identical(made$names, c("a", "b c", "log(a)"))
  expect_equal(made$x[, 3], log(1:3))
  expect_error(fewest_samples(y ~ a:`b c`, frame), "interactions")
})

test_that("what is no data is refused by name", {
  expect_error(fewest_samples(two_x, two$Species[1:10]), "y has 10 values, but x has 100 samples")
  expect_error(fewest_samples(t(two_x), two$Species), "t\\(x\\)")
  expect_error(fewest_samples(two, "species"), "no column `species`")
  expect_error(fewest_samples(list(1), 1), "`list`")
  expect_error(fewest_samples(data.frame(d = Sys.Date(), a = 1), 1), "column `d` is of class `Date`")
  expect_error(fewest_samples(data.frame(id = paste0("s", 1:200)), 1:200), "identifier")
  expect_error(fewest_samples(matrix("a"), 1), "make it one of numbers")
  expect_error(fewest_samples(two_x[, 0], two$Species), "no features")
  unnamed <- two_x
  colnames(unnamed)[2:3] <- c(NA, "")
  expect_error(fewest_samples(unnamed, two$Species), "feature 2 of x has no name \\(2 in all")
  expect_identical(fewest_samples(two_x, two["Species"])$y, two$Species)
})

test_that("inputs stay as they are", {
  before <- serialize(list(two, two_x), NULL)
  fewest_samples(two, "Species")
  fewest_samples(two_x, two$Species)
  expect_identical(serialize(list(two, two_x), NULL), before)
})

test_that("features in rows are not turned in memory", {
  skip_if_not_installed("SummarizedExperiment")
  se <- SummarizedExperiment::SummarizedExperiment(list(counts = t(two_x)), colData = S4Vectors::DataFrame(type = two$Species, day = 1:100))
  made <- fewest_samples(se, "type")
  expect_true(made$transposed)
  expect_identical(made$names, colnames(two_x))
  expect_identical(names(made$columns), "day")
  expect_error(fewest_samples(se, "kind"), "no column `kind` in colData\\(x\\); it has `type`, `day`")
})
