#' Where the command is
#'
#' The package runs the command `fewest`, which comes on its own. It takes the first of: the option
#' `fewest.command`, the `PATH`, and the place where [fewest_install()] puts it.
#'
#' @return `fewest_command()`: the path of the command, one string. `fewest_available()`: `TRUE` or
#'   `FALSE`.
#' @examples
#' fewest_available()
#' @export
fewest_command <- function() {
  found <- find_command()
  if (is.null(found)) {
    fail("no command `fewest` was found; fewest_install() gets it, and options(fewest.command = \"/path/to/fewest\") names one that is elsewhere",
         class = "fewest_no_command")
  }
  check_version(found)
  found
}

#' @rdname fewest_command
#' @export
fewest_available <- function() !is.null(find_command())

find_command <- function() {
  option <- getOption("fewest.command")
  if (!is.null(option)) {
    if (!file.exists(option)) fail(sprintf("the option fewest.command names `%s`, which is not there; name a file, or set it to NULL", option))
    return(normalizePath(option))
  }
  path <- c(unname(Sys.which("fewest")), installed_command())
  path <- path[nzchar(path) & file.exists(path)]
  if (length(path)) path[[1]] else NULL
}

installed_command <- function() {
  file.path(tools::R_user_dir("fewest", "data"), if (.Platform$OS.type == "windows") "fewest.exe" else "fewest")
}

# Versions that were seen, by path, so that each is asked once.
seen <- new.env(parent = emptyenv())

command_version <- function(path) {
  out <- tryCatch(processx::run(path, "--version", error_on_status = FALSE)$stdout, error = function(e) "")
  sub("^fewest ([0-9.]+).*", "\\1", trimws(out))
}

check_version <- function(path) {
  key <- paste(path, file.mtime(path))
  if (is.null(seen[[key]])) {
    version <- command_version(path)
    if (!grepl("^[0-9]+(\\.[0-9]+)+$", version)) fail(sprintf("`%s` is not the command fewest: it does not answer to --version; options(fewest.command = ) names another", path))
    needed <- "0.1.0"
    if (numeric_version(version) < needed) fail(sprintf("`%s` is fewest %s, and this package needs %s; fewest_install() gets a newer one", path, version, needed))
    seen[[key]] <- version
  }
}

#' Gets the command
#'
#' Puts the command `fewest` where [fewest_command()] finds it, below
#' `tools::R_user_dir("fewest", "data")`. Nothing else of the machine is changed.
#'
#' @param from A file or address: the archive of a release (`.tar.gz`) or the command itself. The
#'   default is the archive of the release of this package's version, for Linux on x86-64 and arm64.
#'   On other systems `pip install fewest` brings the command.
#' @return The path of the command, invisibly.
#' @examples
#' \dontrun{
#' fewest_install()
#' fewest_install("~/Downloads/fewest-0.1.0-x86_64-unknown-linux-musl.tar.gz")
#' }
#' @export
fewest_install <- function(from = NULL) {
  if (is.null(from)) from <- release_address()
  folder <- tempfile("fewest")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  path <- path.expand(from)
  if (grepl("^https?://", from)) {
    path <- file.path(folder, basename(from))
    failed <- tryCatch(utils::download.file(from, path, mode = "wb", quiet = TRUE), error = function(e) 1, warning = function(w) 1)
    if (failed != 0) fail(sprintf("%s could not be fetched; fetch it by hand and name the file: fewest_install(\"FILE\")", from))
  }
  if (!file.exists(path)) fail(sprintf("there is no file `%s`", from))
  if (grepl("\\.(tar\\.gz|tgz)$", path)) {
    utils::untar(path, exdir = folder)
    inside <- list.files(folder, pattern = "^fewest(\\.exe)?$", recursive = TRUE, full.names = TRUE)
    inside <- inside[!file.info(inside)$isdir]
    if (!length(inside)) fail(sprintf("`%s` holds no file `fewest`; name the archive of a release", from))
    path <- inside[[1]]
  }
  Sys.chmod(path, "755")
  check_version(path)
  target <- installed_command()
  dir.create(dirname(target), recursive = TRUE, showWarnings = FALSE)
  if (!file.copy(path, target, overwrite = TRUE)) fail(sprintf("`%s` could not be written", target))
  Sys.chmod(target, "755")
  message("installed: ", target)
  invisible(target)
}

release_address <- function() {
  machine <- Sys.info()[["machine"]]
  if (machine == "arm64") machine <- "aarch64"
  if (Sys.info()[["sysname"]] != "Linux" || !machine %in% c("x86_64", "aarch64")) {
    fail(sprintf("there is no archive of the command for %s on %s; `pip install fewest` brings it, and options(fewest.command = ) names it",
                 Sys.info()[["sysname"]], machine))
  }
  version <- as.character(utils::packageVersion("fewest"))
  sprintf("https://github.com/fewest/fewest/releases/download/v%s/fewest-%s-%s-unknown-linux-musl.tar.gz", version, version, machine)
}

# Notes and progress: messages, but of knitr a line in its log, as a message would be in the document.
say <- function(text) {
  if (isTRUE(getOption("knitr.in.progress"))) cat(text, "\n", sep = "", file = stderr()) else message(text)
}

# Runs the command. Notes and progress on standard error are handed on as they come; Ctrl-C is
# handed on, so that the command ends with the best it has. Returns what it printed, or fails with
# what it said; where it names the file `data` it means x.
run_command <- function(args, quiet, data = NULL) {
  process <- processx::process$new(fewest_command(), args, stdout = "|", stderr = "|", encoding = "UTF-8",
                                  env = c("current", FEWEST_PROGRESS = if (quiet) "" else "lines"))
  on.exit(if (process$is_alive()) process$kill())
  out <- character()
  errors <- character()
  interrupts <- 0
  read <- function(wait) {
    process$poll_io(wait)
    out <<- c(out, process$read_output_lines())
    lines <- process$read_error_lines()
    if (!is.null(data)) for (path in c(data, basename(data))) lines <- gsub(path, "x", lines, fixed = TRUE)
    errors <<- c(errors, lines)
    if (!quiet) for (line in lines[!grepl("^(fewest|warning): ", lines)]) say(as_arguments(line))
  }
  repeat {
    tryCatch({
      while (process$is_alive() || process$is_incomplete_output() || process$is_incomplete_error()) read(200)
      break
    }, interrupt = function(e) {
      interrupts <<- interrupts + 1
      if (interrupts > 1) {
        process$kill()
        fail("interrupted twice: the command was killed, and nothing is left of the run", class = "fewest_interrupted")
      }
      if (quiet) message("interrupted: fewest ends with the best it has; once more stops it at once")
      process$interrupt()
    })
  }
  status <- process$get_exit_status()
  if (!status %in% c(0L, 3L)) fail_as_command(status, errors, args)
  for (line in grep("^warning: ", errors, value = TRUE)) warn(sub("^warning: ", "", line))
  list(out = out, status = status)
}

warn <- function(text) {
  warning(structure(class = c("fewest_warning", "warning", "condition"), list(message = as_arguments(text), call = NULL)))
}

fail <- function(text, class = character(), ..., call = NULL) {
  stop(structure(class = c(class, "fewest_error", "error", "condition"), list(message = text, call = call, ...)))
}

# The error of the command as a condition, its options written as arguments.
fail_as_command <- function(status, errors, args) {
  said <- errors[!grepl("^(note|warning): ", errors)]
  usage <- grep("^Usage: ", said)
  if (length(usage)) said <- said[seq_len(usage[1] - 1)]
  text <- as_arguments(trimws(sub("^fewest: ", "", paste(said, collapse = "\n"))))
  if (length(usage)) text <- paste0(text, sprintf("; fewest_help(\"%s\") shows all", args[1]))
  if (!nzchar(trimws(text))) text <- sprintf("the command ended with exit code %s and said nothing", status)
  kind <- switch(as.character(status), "2" = "fewest_usage", "4" = "fewest_infeasible", "fewest_failure")
  fail(text, class = kind, exit_code = status, args = args)
}

# `--max-features` becomes `max_features`, a command the function for it, and `1..4` `1:4`.
as_arguments <- function(text) {
  text <- gsub("--json FILE holds them all", "the result holds them all", text, fixed = TRUE)
  text <- gsub("([0-9]+)\\.\\.([0-9]+)", "\\1:\\2", text)
  text <- gsub("`fewest methods`", "`fewest_help(\"methods\")`", text, fixed = TRUE)
  text <- gsub("`fewest (select|path|evaluate|study|stability|certify|check|markers|compare|knockoffs) --([a-z-]+) ([^ `]+)`", "`fewest_\\1()` with --\\2 \\3", text)
  hits <- gregexpr("--[a-z][a-z0-9-]*", text)
  regmatches(text, hits) <- lapply(regmatches(text, hits), function(x) gsub("-", "_", sub("^--", "", x)))
  gsub("`fewest (select|path|evaluate|study|stability|certify|check|markers|compare|knockoffs)`", "`fewest_\\1()`", text)
}
