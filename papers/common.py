"""What the scripts of the papers share. Standard library only."""
import platform


def whole_lines(path):
    """The lines of a file that a script appends to; half a line, which a run that was killed may have left, is cut off."""
    text = path.read_text() if path.exists() else ""
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        path.write_text(whole)
    return whole.splitlines()


def processor():
    """Name of the processor."""
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":", 1)[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()
