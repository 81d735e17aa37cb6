args <- function(...) command_args(list(...), tempdir())

test_that("arguments are the command's options", {
  expect_identical(args(max_features = 5, certify = TRUE, plain = FALSE, seed = NULL), c("--max-features", "5", "--certify"))
  expect_identical(args(max_features = 1:3), c("--max-features", "1,2,3"))
  expect_identical(args(cost = 0.1, gap = 1e-7, node_limit = 123456789), c("--cost", "0.1", "--gap", "1e-07", "--node-limit", "123456789"))
  expect_identical(args(time_limit = 60, selection_time_limit = "5m"), c("--time-limit", "60s", "--selection-time-limit", "5m"))
  expect_identical(args(sign = c(age = "+", income = "-")), c("--sign", "age:+", "--sign", "income:-"))
  expect_identical(args(together = list(c("a", "b"), "c")), c("--together", "a,b", "--together", "c"))
  expect_identical(args(implies = list(a = c("b", "c"))), c("--implies", "a:b,c"))
  expect_identical(args(at_most = list(2, c("a", "b"))), c("--at-most", "2:a,b"))
  expect_identical(args(at_least = list(list(1, "a"), list(2, c("b", "c")))), c("--at-least", "1:a", "--at-least", "2:b,c"))
  expect_identical(args(class_weight = c(`a, b` = 2, c = 1)), c("--class-weight", "\"a, b\"=2,c=1"))
  expect_identical(args(tune = list(C = c(0.5, 1))), c("--tune", "C=0.5,1"))
})

test_that("names that would be taken apart are quoted, other texts are not", {
  expect_identical(args(require = c("a,b", "c:d", "say \"x\"", "plain")), c("--require", "\"a,b\",\"c:d\",\"say \\\"x\\\"\",plain"))
  expect_identical(args(drop = "/^RP[SL]/"), c("--drop", "/^RP[SL]/"))
  expect_identical(args(gamma = "sigest:0.5", class_weight = "case=2,control=1"), c("--gamma", "sigest:0.5", "--class-weight", "case=2,control=1"))
})

test_that("numbers are the same numbers", {
  x <- c(0.1, 1 / 3, 1e-300, 123456.789, 2^53, pi)
  expect_identical(as.numeric(number(x)), x)
})

test_that("an argument without a name, and a missing value, are refused", {
  expect_error(args(5), "by name")
  expect_error(args(require = c("a", NA)), "missing value")
})

test_that("the words of the command become those of R", {
  expect_identical(as_arguments("use --max-features 1..4 or `fewest study`"), "use max_features 1:4 or `fewest_study()`")
})

test_that("whole numbers have no exponent", {
  expect_identical(args(halve_above = 1e5, node_limit = 1e6, cost = 1e5, time_limit = 1e5), c("--halve-above", "100000", "--node-limit", "1000000", "--cost", "100000", "--time-limit", "100000s"))
  expect_identical(args(at_most = list(1e5, "a")), c("--at-most", "100000:a"))
})

test_that("other names of options, and columns that are not there, are answered with the right ones", {
  expect_error(args(C = 1), "C is called cost")
  expect_error(args(nfolds = 5), "nfolds is called cv")
  known <- list(n = 4, columns = data.frame(patient = 1:4, site = 1:4))
  expect_error(sample_columns(list(groups = "person"), known), "`patient`, `site`")
  expect_identical(sample_columns(list(groups = "site", folds = 3), known), list(groups = 1:4))
  expect_identical(sample_columns(list(groups = "site", sum_by = c("patient", "y")), known), list(groups = 1:4, patient = 1:4))
  expect_identical(sample_columns(list(hierarchy = list(kind = 4:1)), known), list(kind = 4:1))
  expect_error(sample_columns(list(sum_by = "person"), known), "sum_by names \"person\"")
  expect_error(sample_columns(list(sum_by = list(1:4)), known), "without names")
  expect_identical(args(sum_by = c("a", "b"), hierarchy = list(kind = 4:1)), c("--sum-by", "a,b", "--hierarchy", "kind"))
  expect_identical(as_arguments("see `fewest evaluate --choose one-se` and `fewest check`"), "see `fewest_evaluate()` with choose one-se and `fewest_check()`")
})
