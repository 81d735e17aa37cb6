"""Sphinx: `make python-docs` in the project's root; every warning is an error there."""

import re
import shutil
import sys
import warnings
from pathlib import Path

import matplotlib

import fewest
from fewest._docs import SITE

matplotlib.use("agg")

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "tests"))
from correspondence import options_table

(HERE / "command_options.inc").write_text(options_table())


def taken_over():
    """Copies the pages of docs/ to manual/, where Sphinx finds them; links to files beside them lead
    to the repository. One text serves those who read it there and those who read it here.
    """
    manual = HERE / "manual"
    shutil.rmtree(manual, ignore_errors=True)
    for page in sorted((ROOT / "docs").rglob("*.md")):
        place = page.relative_to(ROOT / "docs")

        def linked(match, page=page):
            target, anchor, rest = match[1].partition("#")
            file = (page.parent / target).resolve()
            if "://" in target or not target or file.is_relative_to(ROOT / "docs"):
                return match[0]
            return f"]({SITE}{file.relative_to(ROOT)}{anchor}{rest})"

        (manual / place).parent.mkdir(parents=True, exist_ok=True)
        (manual / place).write_text(re.sub(r"\]\(([^)\s]+)\)", linked, page.read_text()))
    for picture in [*(ROOT / "docs").glob("*.png"), *(ROOT / "bench" / "results").glob("*.svg")]:
        shutil.copy(picture, manual)


taken_over()
# scikit-learn's estimators warn when a limit ends a search; the examples mean to.
warnings.filterwarnings("ignore", category=UserWarning)

project = "fewest"
author = "The fewest developers"
version = release = fewest.__version__
extensions = [
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build"]
myst_heading_anchors = 3
autosummary_generate = True
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL01", "GL03", "GL05", "GL08", "PR01", "PR02", "PR03", "RT01", "SS01", "SS05"}
numpydoc_validation_exclude = {
    r"\.__init__$",
    r"\.set_(fit|score)_request$",
    r"\.metadata_routing$",
    r"\.(get_support|transform|inverse_transform)$",
    # Not there: they say so.
    r"Study\.(certify|path)$",
}
# A parameter to a line, as soon as a signature is longer than this.
python_maximum_signature_line_length = 80
copybutton_exclude = ".linenos, .gp, .go"
html_theme = "pydata_sphinx_theme"
html_title = "fewest"
html_static_path = ["_static"]
html_css_files = ["fewest.css"]
html_show_sourcelink = False
html_sidebars = {"index": [], "start": [], "faq": [], "benchmarks": []}
html_theme_options = {
    "github_url": SITE.partition("/blob/")[0],
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
copyright = "the fewest developers; MIT or Apache-2.0"
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
}
# scikit-learn's inherited docstrings refer to labels of its own user guide; pages of docs/ are in a
# toctree once, and some are read by name in the repository (myst: a link to a folder).
suppress_warnings = ["config.cache", "ref.ref"]
