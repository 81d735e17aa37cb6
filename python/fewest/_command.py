"""The command ``fewest``, which the wheel brings along."""

import sys

from fewest import _core


def main() -> int:
    """Run the command with the arguments of this process."""
    return _core.command(["fewest", *sys.argv[1:]])
