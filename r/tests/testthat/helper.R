two <- droplevels(iris[iris$Species != "setosa", ])
two_x <- as.matrix(two[1:4])

needs_command <- function() {
  if (!fewest_available()) testthat::skip("there is no command fewest")
}

# What the command prints as JSON for a csv file of `frame`, run by hand.
by_hand <- function(frame, args, command = "select") {
  csv <- tempfile(fileext = ".csv")
  json <- tempfile(fileext = ".json")
  utils::write.csv(frame, csv, row.names = FALSE)
  processx::run(fewest_command(), c(command, csv, args, "--json", json))
  jsonlite::fromJSON(json, simplifyDataFrame = FALSE)
}

# What `code` draws: the calls of base graphics, each a list with its name first.
drawn <- function(code) {
  grDevices::pdf(NULL, 7, 5)
  on.exit(grDevices::dev.off())
  grDevices::dev.control("enable")
  force(code)
  lapply(grDevices::recordPlot()[[1]], function(call) c(list(name = call[[2]][[1]]$name), as.list(call[[2]])[-1]))
}

# Those of one name.
of <- function(calls, name) Filter(function(call) identical(call$name, name), calls)
