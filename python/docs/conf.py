"""Sphinx: `make python-docs` in the project's root; every warning is an error there."""

import sys
import warnings
from pathlib import Path

import matplotlib

import fewest

matplotlib.use("agg")

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from correspondence import options_table

(Path(__file__).parent / "command_options.inc").write_text(options_table())
# scikit-learn's estimators warn when a limit ends a search; the examples mean to.
warnings.filterwarnings("ignore", category=UserWarning)

project = "fewest"
author = "The fewest developers"
version = release = fewest.__version__
extensions = ["sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc", "sphinx_gallery.gen_gallery", "myst_parser"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
exclude_patterns = ["_build"]
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
html_theme = "alabaster"
html_static_path = ["_static"]
html_css_files = ["fewest.css"]
html_theme_options = {"description": "The few features an SVM needs, with proof", "page_width": "1100px"}
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
}
# scikit-learn's inherited docstrings refer to labels of its own user guide.
suppress_warnings = ["config.cache", "ref.ref"]
