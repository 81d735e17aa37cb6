library(testthat)
library(fewest)
test_check("fewest")
