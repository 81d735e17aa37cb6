# ZIP as the format's own text describes it; unzip() of R reads it, and so does the command.
test_that("an archive holds what was written", {
  path <- tempfile(fileext = ".npz")
  x <- matrix(c(1.5, -2, NaN, 1e300, 5, 6), 2)
  write_npz(path, list(X = x, y = c("a", "\u00e4b"), shape = c(3L, -1L)))
  listed <- utils::unzip(path, list = TRUE)
  expect_equal(listed$Name, c("X.npy", "y.npy", "shape.npy"))
  folder <- tempfile()
  utils::unzip(path, exdir = folder)
  bytes <- readBin(file.path(folder, "X.npy"), "raw", 1e4)
  expect_equal(length(bytes) %% 16, 0)
  expect_equal(listed$Length[1], length(bytes))
  expect_identical(readBin(utils::tail(bytes, 48), "double", 6, endian = "little"), c(x))
  text <- readBin(file.path(folder, "y.npy"), "raw", 1e4)
  expect_identical(readBin(utils::tail(text, 16), "integer", 4, endian = "little"), c(97L, 0L, 228L, 98L))
  header <- rawToChar(utils::head(text, -16)[-(1:10)])
  expect_match(header, "'descr': '<U2', 'fortran_order': True, 'shape': (2,)", fixed = TRUE)
})

test_that("numbers are taken apart into bytes", {
  expect_identical(le(2^40 + 258, 8), as.raw(c(2, 1, 0, 0, 0, 1, 0, 0)))
})

test_that("values go in several pieces", {
  path <- tempfile()
  con <- file(path, "wb")
  write_chunks(as.numeric(1:10), con, chunk = 3)
  close(con)
  expect_identical(readBin(path, "double", 20, endian = "little"), as.numeric(1:10))
})
