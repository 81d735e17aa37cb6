"""Warnings that name the line of the user's, not one in here."""

from __future__ import annotations

import sys
import warnings

#: Whose lines a user did not write.
_OURS = ("fewest", "sklearn", "joblib")


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called fewest, through scikit-learn or not."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)
