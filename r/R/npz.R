# Hands arrays to the command: a `.npz` archive, the arrays of NumPy in a ZIP file. R cannot compute
# the checksums that ZIP asks for, but gzfile() does: a gzip file holds the deflate stream, the
# checksum and the length that an entry of a ZIP file consists of. Sizes are in the ZIP64 form, so
# that arrays may be larger than 4 GB.

# Writes a named list of arrays to `path`. An array is a vector or matrix of doubles, integers or
# character strings; list(values =, dim =, order =) says what memory order a matrix has.
write_npz <- function(path, arrays) {
  con <- file(path, "wb")
  on.exit(close(con))
  at <- 0
  entries <- list()
  for (name in names(arrays)) {
    packed <- gzip_array(arrays[[name]])
    entry <- list(name = charToRaw(paste0(name, ".npy")), at = at, crc = packed$crc,
                  packed = packed$packed, size = packed$size)
    header <- local_header(entry)
    writeBin(header, con)
    copy_bytes(packed$file, con, from = 10, count = packed$packed)
    unlink(packed$file)
    at <- at + length(header) + packed$packed
    entries <- c(entries, list(entry))
  }
  directory <- do.call(c, lapply(entries, central_header))
  writeBin(c(directory, end_of_directory(length(entries), at, length(directory))), con)
  invisible(path)
}

# A whole number below 2^53 as `bytes` little-endian bytes.
le <- function(x, bytes) as.raw(floor(x / 256^(seq_len(bytes) - 1)) %% 256)

U32 <- as.raw(rep(255, 4))

# What the two headers of an entry share: deflate, no time, checksum, sizes in the ZIP64 field.
common_header <- function(entry, extra) {
  c(le(45, 2), le(2048, 2), le(8, 2), le(0, 2), le(33, 2), entry$crc, U32, U32,
    le(length(entry$name), 2), le(length(extra), 2))
}

local_header <- function(entry) {
  extra <- c(le(1, 2), le(16, 2), le(entry$size, 8), le(entry$packed, 8))
  c(le(0x04034b50, 4), common_header(entry, extra), entry$name, extra)
}

central_header <- function(entry) {
  extra <- c(le(1, 2), le(24, 2), le(entry$size, 8), le(entry$packed, 8), le(entry$at, 8))
  c(le(0x02014b50, 4), le(45, 2), common_header(entry, extra), le(0, 10), U32, entry$name, extra)
}

end_of_directory <- function(count, at, size) {
  c(le(0x06064b50, 4), le(44, 8), le(45, 2), le(45, 2), le(0, 8), le(count, 8), le(count, 8),
    le(size, 8), le(at, 8),
    le(0x07064b50, 4), le(0, 4), le(at + size, 8), le(1, 4),
    le(0x06054b50, 4), le(0, 4), le(65535, 2), le(65535, 2), U32, U32, le(0, 2))
}

# Writes one array to a gzip file; says where, how many bytes, and the checksum.
gzip_array <- function(array) {
  if (!is.list(array)) {
    array <- list(values = array, dim = if (is.matrix(array)) dim(array) else length(array),
                  order = "F")
  }
  path <- tempfile(fileext = ".gz")
  con <- gzfile(path, "wb", compression = 0)
  ok <- FALSE
  on.exit(if (!ok) close(con))
  values <- array$values
  width <- if (is.character(values)) max(1L, nchar(enc2utf8(unique(values)), "chars")) else NA
  kind <- if (is.character(values)) paste0("<U", width) else if (is.integer(values)) "<i4" else "<f8"
  header <- npy_header(kind, array$dim, array$order)
  writeBin(header, con)
  if (is.character(values)) {
    write_chunks(text_codes(values, width), con)
  } else {
    write_chunks(values, con)
  }
  close(con)
  ok <- TRUE
  bytes <- file.size(path)
  item <- if (is.character(values)) 4 * width else if (is.integer(values)) 4 else 8
  tail <- file(path, "rb")
  seek(tail, bytes - 8)
  crc <- readBin(tail, "raw", 4)
  close(tail)
  list(file = path, packed = bytes - 18, size = length(header) + item * length(values), crc = crc)
}

npy_header <- function(kind, dim, order) {
  shape <- paste0("(", paste(format(dim, scientific = FALSE, trim = TRUE), collapse = ", "),
                  if (length(dim) == 1) ",", ")")
  text <- sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", kind,
                  if (identical(order, "F")) "True" else "False", shape)
  blanks <- -(10 + nchar(text) + 1) %% 64
  text <- paste0(text, strrep(" ", blanks), "\n")
  c(as.raw(0x93), charToRaw("NUMPY"), as.raw(c(1, 0)), le(nchar(text), 2), charToRaw(text))
}

# The code points of character strings, `width` for each, as NumPy keeps them. Equal strings are
# taken apart once.
text_codes <- function(values, width) {
  levels <- unique(values)
  codes <- vapply(enc2utf8(levels), function(text) {
    points <- utf8ToInt(text)
    c(points, integer(width - length(points)))
  }, integer(width), USE.NAMES = FALSE)
  dim(codes) <- c(width, length(levels))
  codes[, match(values, levels)]
}

# One call of writeBin() takes less than 2^31 bytes.
write_chunks <- function(values, con, chunk = 1e7) {
  from <- 1
  while (from <= length(values)) {
    to <- min(length(values), from + chunk - 1)
    part <- if (from == 1 && to == length(values)) as.vector(values) else values[from:to]
    writeBin(part, con, endian = "little")
    from <- to + 1
  }
}

copy_bytes <- function(path, con, from, count, chunk = 2^26) {
  input <- file(path, "rb")
  on.exit(close(input))
  seek(input, from)
  while (count > 0) {
    part <- readBin(input, "raw", min(count, chunk))
    writeBin(part, con)
    count <- count - length(part)
  }
}
