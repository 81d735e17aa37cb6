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
