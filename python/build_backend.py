"""maturin, with the places where the wheels of cmake and libclang have put what HiGHS is built with.

A machine needs neither of them: pip brings both into the environment that it builds in.
"""

import os
from importlib.util import find_spec
from pathlib import Path

from maturin import *  # noqa: F403  (the hooks of PEP 517 and PEP 660)

# Wherever the package is on the path: pip's environment for building is not the interpreter's own.
for _folder in getattr(find_spec("clang"), "submodule_search_locations", None) or ():
    if (Path(_folder) / "native").is_dir():
        os.environ.setdefault("LIBCLANG_PATH", str(Path(_folder) / "native"))
