"""The pages of the site that show code with what it prints: a stranger who copies it sees the same.

``FEWEST_WRITE_PAGES=1`` writes down what it prints now.
"""

import contextlib
import io
import os
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = ["index.md", "start.md", "cells.md", *(f"guides/{name}.md" for name in ("genes", "credit", "hospitals", "text", "nonlinear"))]
#: A block of code, and what it prints, if that is shown.
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<said>.*?)```\n)?", re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_prints_what_it_says(page):
    file, names = DOCS / page, {"__name__": "page"}
    text = file.read_text()
    found = []

    def run(block):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(block["code"], page, "exec"), names)
        found.append((block["said"], out.getvalue()))
        if block["said"] is None:
            return block[0]
        return block[0].replace(f"```text\n{block['said']}```", f"```text\n{out.getvalue()}```")

    written = BLOCK.sub(run, text)
    if os.environ.get("FEWEST_WRITE_PAGES"):
        file.write_text(written)
        return
    shown = [said for said, _ in found if said is not None]
    assert shown, f"{page} shows nothing that is printed"
    assert shown == [printed for said, printed in found if said is not None]
