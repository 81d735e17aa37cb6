test_that("R and the command say the same", {
  needs_command()
  fit <- fewest_select(Species ~ ., two, method = "exact", max_features = 2)
  theirs <- by_hand(two, c("--method", "exact", "--max-features", "2", "--target", "Species", "--positive", "virginica"))
  for (name in c("selected", "objective", "bound", "gap", "status", "n_samples")) expect_identical(fit[[name]], theirs[[name]])
  expect_identical(unlist(fit$model$weights), unlist(theirs$model$weights))
})

test_that("factors are what text columns of a file are", {
  needs_command()
  frame <- two
  frame$colour <- rep(c("red", "green", "blue", "red"), 25)
  frame$sex <- factor(rep(c("m", "f"), 50))
  fit <- suppressWarnings(fewest_select(frame, "Species", method = "exact", max_variables = 3, require = "colour", forbid = "sex"))
  theirs <- by_hand(frame, c("--method", "exact", "--max-variables", "3", "--require", "colour", "--forbid", "sex", "--target", "Species", "--positive", "virginica"))
  expect_setequal(fit$selected, theirs$selected)
  expect_equal(fit$objective, theirs$objective, tolerance = 1e-9)
})

test_that("features are scaled to a range", {
  needs_command()
  run <- function(data, scale) fewest_select(data, two$Species, method = "exact", max_features = 2, bias = "none", gap = 1e-9, scale = scale)
  by_hand <- function(low, high) apply(two_x, 2, function(x) low + (x - min(x)) / (max(x) - min(x)) * (high - low))
  for (case in list(list("range", -1, 1), list("range:0..1", 0, 1))) {
    ours <- run(two_x, case[[1]])
    theirs <- run(by_hand(case[[2]], case[[3]]), "none")
    expect_identical(ours$selected, theirs$selected)
    expect_equal(ours$objective, theirs$objective, tolerance = 1e-6)
    expect_equal(predict(ours, two_x), predict(theirs, by_hand(case[[2]], case[[3]])))
  }
})

test_that("sparse, turned and dense matrices have one answer", {
  needs_command()
  x <- two_x
  x[x < 2] <- 0
  run <- function(data, ...) fewest_select(data, ..., method = "exact", max_features = 2, scale = "none")
  dense <- run(x, two$Species)
  others <- list()
  if (requireNamespace("Matrix", quietly = TRUE)) {
    sparse <- Matrix::Matrix(x, sparse = TRUE)
    others <- c(others, list(run(sparse, two$Species), run(methods::as(sparse, "TsparseMatrix"), two$Species)))
    expect_identical(predict(others[[1]], sparse), predict(dense, x))
  }
  if (requireNamespace("SummarizedExperiment", quietly = TRUE)) {
    se <- function(x) SummarizedExperiment::SummarizedExperiment(list(x), colData = S4Vectors::DataFrame(type = two$Species))
    others <- c(others, list(run(se(t(x)), "type")))
    expect_identical(predict(others[[length(others)]], se(t(x))), predict(dense, x))
    if (requireNamespace("Matrix", quietly = TRUE)) others <- c(others, list(run(se(Matrix::t(sparse)), "type")))
  }
  if (requireNamespace("Biobase", quietly = TRUE)) {
    t_x <- t(x)
    pheno <- Biobase::AnnotatedDataFrame(data.frame(type = two$Species, row.names = colnames(t_x)))
    others <- c(others, list(run(Biobase::ExpressionSet(t_x, phenoData = pheno), "type")))
  }
  for (other in others) {
    expect_identical(other$selected, dense$selected)
    expect_equal(other$objective, dense$objective, tolerance = 1e-12)
  }
})

test_that("a DGEList is its log counts per million", {
  needs_command()
  skip_if_not_installed("edgeR")
  set.seed(1)
  counts <- matrix(rpois(400, 20), 20, dimnames = list(paste0("g", 1:20), NULL))
  list <- edgeR::DGEList(counts, group = rep(c("case", "control"), each = 10))
  expect_message(a <- fewest_select(list, method = "rfe", max_features = 3), "cpm")
  b <- fewest_select(t(edgeR::cpm(list, log = TRUE)), list$samples$group, method = "rfe", max_features = 3)
  expect_identical(a$selected, b$selected)
})

test_that("the second level is positive, and predictions are of y's type", {
  needs_command()
  y <- factor(two$Species, levels = c("virginica", "versicolor"))
  fit <- fewest_select(two_x, y, method = "rfe", max_features = 2)
  expect_identical(fit$classes[["+1"]], "versicolor")
  predicted <- predict(fit, two_x)
  expect_identical(levels(predicted), levels(y))
  expect_identical(predicted == "versicolor", unname(predict(fit, two_x, type = "decision") > 0))
  for (y in list(rep(c(TRUE, FALSE), 50), rep(c(2, 5), 50), rep(c("b", "a"), 50))) {
    fit <- fewest_select(two_x, y, method = "rfe", max_features = 4)
    predicted <- predict(fit, two_x)
    if (is.character(y)) expect_identical(levels(predicted), c("a", "b"))
    else expect_true(typeof(predicted) == typeof(y) && all(predicted %in% y))
  }
})

test_that("predictions find features by name, and a formula again makes its terms", {
  needs_command()
  fit <- fewest_select(Species ~ log(Sepal.Width) + Petal.Width, two, method = "exact", max_features = 2)
  mixed <- two[c(5, 3, 2, 4)]
  expect_identical(predict(fit, mixed), predict(fit, two))
  hand <- coef(fit)
  expect_named(hand, c("(Intercept)", "log(Sepal.Width)", "Petal.Width"))
  expect_error(predict(fit, two[1:3]), "Petal.Width")
  whole <- fewest_select(two_x, two$Species, method = "rfe", max_features = 2)
  expect_identical(predict(whole, two_x[, 4:1]), predict(whole, two_x))
  expect_warning(predict(fewest_select(y ~ ., data.frame(y = 0:1, a = c("u", "v", "w", "u")), method = "rfe", max_features = 1), data.frame(a = "z")), "`z`")
})

test_that("a study, a path, an evaluation and stability have tables and plots", {
  needs_command()
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  path <- fewest_path(Species ~ ., two, method = "exact", max_features = 1:3, cv = 5)
  table <- as.data.frame(path)
  expect_identical(table$max_features, c(1, 2, 3))
  expect_identical(table$objective, vapply(path$path, function(p) p$objective, 0))
  expect_true(all(table$bound <= table$objective) && all(table$accuracy > 0.8))
  expect_identical(plot(path), table)
  evaluation <- fewest_evaluate(Species ~ ., two, method = "rfe", max_features = 2, cv = 5)
  expect_equal(subset(as.data.frame(evaluation), measure == "accuracy")$mean, mean(vapply(evaluation$folds, function(f) f$metrics$accuracy, 0)))
  expect_identical(plot(evaluation)$feature, names(sort(evaluation$frequency, decreasing = TRUE)))
  study <- fewest_study(Species ~ ., two, max_features = 1:2, methods = "rfe")
  expect_identical(nrow(as.data.frame(study)), 2L)
  probability <- predict(study, two, type = "probability")
  expect_equal(rowSums(probability), rep(1, 100))
  expect_identical(colnames(probability), levels(two$Species))
  expect_gt(mean(probability[cbind(1:100, as.integer(two$Species))]), 0.8)
  expect_identical(plot(study), as.data.frame(study))
  plot(study, which = "frequency")
  stability <- fewest_stability(Species ~ ., two, method = "rfe", max_features = 2)
  expect_identical(as.data.frame(stability)$feature[as.data.frame(stability)$selected], names(stability$frequency)[names(stability$frequency) %in% stability$selected])
  plot(stability)
  expect_output(print(stability), "stable features")
  expect_output(print(summary(path)), "max_features")
  markers <- fewest_markers(Species ~ ., iris, max_features = 2)
  expect_identical(nrow(as.data.frame(markers)), 2L)
  lists <- fewest_compare(Species ~ ., iris, lists = list(ours = markers, one = "Sepal.Width"))
  expect_identical(as.data.frame(lists)$list, c("ours", "one"))
  expect_lt(as.data.frame(lists)$difference[2], 0)
  expect_error(fewest_compare(Species ~ ., iris, lists = list(markers, "Sepal.Width")), "needs a name")
  lineage <- list(lineage = ifelse(iris$Species == "setosa", "one", "two"))
  levels <- fewest_markers(iris[1:4], iris$Species, max_features = 2, hierarchy = lineage, level_weights = c(1, 2))
  expect_identical(vapply(levels$levels, function(level) level$name, ""), c("lineage", "iris$Species"))
  counts <- round(10 * as.matrix(iris[1:4]))
  sums <- fewest_markers(counts, iris$Species, max_features = 2, sum_by = list(donor = rep(1:10, 15)))
  expect_identical(c(sums$n_samples, sums$summed$samples, sums$summed$smallest), c(30L, 150L, 5L))
  expect_setequal(as.data.frame(fewest_knockoffs(Species ~ ., two, method = "l1-svm", draws = 1))$feature, colnames(two_x))
  page <- tempfile(fileext = ".html")
  fewest_report(study, page)
  expect_match(readLines(page, n = 1), "DOCTYPE", ignore.case = TRUE)
})

test_that("what belongs to samples goes along", {
  needs_command()
  groups <- rep(1:20, 5)
  by_vector <- fewest_evaluate(two_x, two$Species, method = "rfe", max_features = 2, groups = groups, cv = 5)
  frame <- cbind(two, patient = groups)
  by_name <- fewest_evaluate(frame[setdiff(names(frame), "patient")], "Species", method = "rfe", max_features = 2, groups = groups, cv = 5)
  expect_identical(by_vector$summary, by_name$summary)
  for (fold in by_vector$folds) expect_length(intersect(groups[fold$test + 1], groups[-(fold$test + 1)]), 0)
  folds <- rep(c("a", "b"), 50)
  expect_identical(sort(vapply(fewest_evaluate(two_x, two$Species, method = "rfe", max_features = 2, folds = folds)$folds, function(f) f$fold, "")), c("fold a", "fold b"))
  expect_error(fewest_evaluate(two_x, two$Species, method = "rfe", groups = 1:3), "groups has 3 values, but there are 100 samples")
  weighted <- fewest_select(two_x, two$Species, method = "exact", max_features = 2, sample_weights = rep(2, 100))
  plain <- fewest_select(two_x, two$Species, method = "exact", max_features = 2, cost = 2)
  expect_equal(weighted$objective, plain$objective, tolerance = 1e-4)
})

test_that("errors are conditions with the command's remedy", {
  needs_command()
  seen <- tryCatch(fewest_select(two_x, two$Species, method = "exakt"), error = identity)
  expect_s3_class(seen, "fewest_usage")
  expect_match(conditionMessage(seen), "did you mean exact")
  expect_identical(seen$exit_code, 2L)
  expect_error(fewest_select(two_x, two$Species, method = "exact", max_feature = 2), "max_features")
  expect_error(fewest_select(two_x, two$Species, method = "exact", max_features = 2, require = "Sepal.Len"), "did you mean \"Sepal.Length\"")
  expect_error(fewest_select(two_x, two$Species, method = "rfe", resampling = "folds", max_features = 2), class = "fewest_usage")
  hole <- two_x
  hole[3, 2] <- NA
  expect_error(fewest_select(hole, two$Species, method = "rfe", max_features = 2), "x, row 3, column `Sepal.Width`")
  expect_true(is.character(fewest_select(hole, two$Species, method = "rfe", max_features = 2, missing = "mean")$selected))
  infeasible <- tryCatch(fewest_select(two_x, two$Species, method = "exact", max_features = 2, budget = 1, feature_costs = c(Sepal.Length = 2, Sepal.Width = 2, Petal.Length = 2, Petal.Width = 2), at_least = list(1, colnames(two_x))), error = identity)
  expect_s3_class(infeasible, "fewest_error")
})

test_that("names go as they are", {
  needs_command()
  x <- two_x
  colnames(x) <- c("a,b", "c d", "e:f=\"g\"", "\u00fcber")
  fit <- fewest_select(x, two$Species, method = "exact", max_features = 3, require = c("a,b", "\u00fcber"), forbid = "e:f=\"g\"")
  expect_true(all(c("a,b", "\u00fcber") %in% fit$selected))
  expect_false("e:f=\"g\"" %in% fit$selected)
  expect_identical(predict(fit, x[, 4:1]), predict(fit, x))
})

test_that("files are kept where they are asked for, and there must be classes", {
  needs_command()
  files <- tempfile(c("json", "model"))
  fit <- fewest_select(two_x, two$Species, method = "rfe", max_features = 2, json = files[1], model = files[2])
  expect_identical(jsonlite::fromJSON(files[1])$selected, fit$selected)
  expect_true(file.exists(files[2]))
  expect_error(fewest_evaluate(two_x, two$Species, method = "rfe", max_features = 2, model = files[2]), "model", class = "fewest_usage")
  expect_error(fewest_select(~ Sepal.Width, two, method = "rfe", max_features = 1), "no classes")
  of_frame <- fewest_select(two, "Species", method = "rfe", max_features = 2)
  expect_identical(predict(of_frame, two_x), predict(fit, two_x))
})

test_that("a limit is a status", {
  needs_command()
  set.seed(2)
  x <- matrix(rnorm(200 * 120), 200)
  y <- rep(0:1, 100)
  fit <- fewest_select(x, y, method = "exact", max_features = 12, time_limit = 0.3)
  expect_identical(fit$status, "time_limit")
  expect_true(length(fit$selected) > 0 && fit$bound <= fit$objective)
})

test_that("Ctrl-C gives the best so far", {
  needs_command()
  skip_on_os("windows")
  script <- tempfile(fileext = ".R")
  code <- quote({
    set.seed(2)
    x <- matrix(rnorm(200 * 120), 200)
    cat("begin\n")
    fit <- fewest_select(x, rep(0:1, 100), method = "exact", max_features = 12, quiet = TRUE)
    cat(fit$status, length(fit$selected) > 0)
  })
  loading <- if (requireNamespace("pkgload", quietly = TRUE) && pkgload::is_dev_package("fewest")) call("::", quote(pkgload), quote(load_all)) else quote(library)
  where <- if (identical(loading, quote(library))) quote(fewest) else pkgload::pkg_path()
  writeLines(c(paste0("options(fewest.command = ", deparse(fewest_command()), ")"), deparse(as.call(list(loading, where))), deparse(code)), script)
  child <- processx::process$new(file.path(R.home("bin"), "Rscript"), script, stdout = "|", stderr = "|")
  out <- ""
  while (child$is_alive() && !grepl("begin", out)) { child$poll_io(1000); out <- paste0(out, child$read_output()) }
  Sys.sleep(1.5)
  child$interrupt()
  child$wait(20000)
  expect_match(paste0(out, child$read_all_output()), "cancelled TRUE")
})

test_that("names of features that are alike are made different where that is asked for", {
  needs_command()
  x <- two_x
  colnames(x)[2] <- colnames(x)[1]
  expect_error(fewest_select(x, two$Species, method = "rfe", max_features = 3), "unique_names")
  fit <- fewest_select(x, two$Species, method = "rfe", max_features = 4, unique_names = TRUE)
  expect_setequal(fit$selected, make.unique(colnames(x)))
  expect_identical(predict(fit, x), predict(fewest_select(two_x, two$Species, method = "rfe", max_features = 4), two_x))
})

test_that("a seed without a use is left out, a wrong one is not", {
  needs_command()
  fit <- fewest_select(two_x, two$Species, method = "exact", max_features = 2, seed = 1)
  expect_length(fit$selected, 2)
  expect_error(fewest_select(two_x, two$Species, method = "rfe", max_features = 2, resamples = 5, seed = "x"), "seed is x")
})

test_that("a file is read by the command", {
  needs_command()
  path <- tempfile(fileext = ".csv")
  utils::write.csv(two, path, row.names = FALSE)
  fit <- fewest_select(path, "Species", method = "exact", max_features = 2)
  ours <- fewest_select(Species ~ ., two, method = "exact", max_features = 2)
  expect_identical(fit$selected, ours$selected)
  expect_identical(as.character(predict(fit, path)), as.character(predict(ours, two)))
  expect_error(fewest_select(path, two$Species, method = "exact", max_features = 2), "name of the column")
  expect_error(fewest_evaluate(path, "Species", method = "rfe", max_features = 2, groups = "site"), "site")
})

test_that("a result has the names of the caller", {
  needs_command()
  x <- two_x
  rownames(x) <- paste("flower", 1:100)
  study <- fewest_study(x, two$Species, max_features = 1:2, methods = "rfe", folds = 3, repeats = 1)
  expect_identical(study$target, "two$Species")
  expect_match(study$command, "^fewest_study\\(x = x, y = two\\$Species, max_features = 1:2")
  expect_match(study$wrong[[1]]$sample, "^flower ")
  expect_no_match(attr(study, "json"), "Rtmp")
  expect_match(paste(study$methods_text, collapse = "\n"), "Command: fewest_study\\(")
  expect_output(print(fewest_check(Species ~ ., two)), "two\nformat +data.frame")
  expect_identical(study$settings$format, "matrix")
  expect_error(svm_rfe(x, two$Species, log1p = TRUE), "scales last")
})

test_that("a study judges its panel on samples of another site", {
  needs_command()
  half <- rep(c(TRUE, FALSE), 50)
  short <- list(max_features = 1:2, methods = "rfe", folds = 3, repeats = 1)
  judged <- function(...) do.call(fewest_study, c(list(...), short))$external
  matrix <- judged(two_x[half, ], two$Species[half], external = list(two_x[!half, ], two$Species[!half]))
  frame <- judged(two[half, ], "Species", external = two[!half, ])
  formula <- judged(Species ~ ., two[half, ], external = two[!half, ])
  expect_identical(matrix$n_samples, 50L)
  for (other in list(frame, formula)) expect_equal(other$summary$accuracy$mean, matrix$summary$accuracy$mean)
  expect_error(judged(two_x[half, ], two$Species[half], external = two_x[!half, ]), "list\\(x, y\\)")
})

test_that("progress comes within two seconds, and in documents of knitr it is no message", {
  needs_command()
  set.seed(2)
  wide <- matrix(rnorm(300 * 80), 300, dimnames = list(NULL, paste0("g", 1:80)))
  class <- factor(ifelse(rowSums(wide[, 1:15]) + rnorm(300) > 0, "b", "a"))
  lines <- character()
  run <- function() fewest_select(wide, class, method = "exact", max_features = 12, time_limit = 3, quiet = FALSE)
  withCallingHandlers(run(), message = function(m) {
    lines <<- c(lines, conditionMessage(m))
    invokeRestart("muffleMessage")
  }, warning = function(w) invokeRestart("muffleWarning"))
  progress <- grep("^progress: ", lines, value = TRUE)
  expect_length(progress, 1)
  expect_match(progress, "^progress: [12] s of at most 3s, .*incumbent .*bound .*gap .* %, at most [12] s left")
  # Nothing of a run comes after its end.
  expect_match(lines[length(lines)], "^note: stopped")
  old <- options(knitr.in.progress = TRUE)
  on.exit(options(old))
  expect_message(say("a line"), NA)
  expect_identical(utils::capture.output(say("a line"), type = "output"), character())
})

test_that("a long call has a few lines, that of a file is as it was written", {
  call <- quote(fewest_study(x = a, y = b, require = c("one gene", "another gene")))
  expect_identical(said_call(call), 'fewest_study(x = a, y = b, require = c("one gene", "another gene"))')
  call$forbid <- as.call(c(as.name("c"), paste("gene", 1:60)))
  expect_identical(said_call(call), 'fewest_study(x = a, y = b, require = c("one gene", "another gene"), forbid = ...)')
  needs_command()
  path <- tempfile(fileext = ".csv")
  utils::write.csv(two, path, row.names = FALSE)
  fit <- fewest_select(path, "Species", method = "exact", max_features = 2, quiet = TRUE)
  expect_identical(fit$command, 'fewest_select(x = path, y = "Species", max_features = 2, method = "exact", quiet = TRUE)')
})

test_that("an HTML document shows the page of a result, another its table", {
  needs_command()
  skip_if_not_installed("knitr")
  study <- fewest_study(Species ~ ., two, max_features = 1:2, methods = "rfe", folds = 3, repeats = 1)
  old <- knitr::opts_knit$get("rmarkdown.pandoc.to")
  on.exit(knitr::opts_knit$set(rmarkdown.pandoc.to = old))
  knitr::opts_knit$set(rmarkdown.pandoc.to = "html")
  shown <- paste(knitr::knit_print(study), collapse = "\n")
  expect_match(shown, "<iframe srcdoc=\"", fixed = TRUE)
  expect_match(shown, "Species", fixed = TRUE)
  expect_lte(length(strsplit(shown, "\n")[[1]]), 7)
  knitr::opts_knit$set(rmarkdown.pandoc.to = "latex")
  expect_output(knitr::knit_print(study), "panel")
})
