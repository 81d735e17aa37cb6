"""maturin, told where the wheels of cmake and libclang have put what HiGHS is built with.

A machine needs neither of them: pip brings both into the environment that it builds in.
"""

import os
import sysconfig
from pathlib import Path

from maturin import *  # noqa: F403  (the hooks of PEP 517 and PEP 660)

_native = Path(sysconfig.get_paths()["purelib"]) / "clang" / "native"
if _native.is_dir():
    os.environ.setdefault("LIBCLANG_PATH", str(_native))
