"""Configuration of the documentation site. Sphinx starts in the root of the checkout, so that links resolve."""

import sys
from pathlib import Path

import lscfg

sys.path.insert(0, str(Path(__file__).parent))

import made

project = "lscfg"
release = lscfg.__version__
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md", "docs/*/*.md", "experiments/README.md", "experiments/*/README.md"]
exclude_patterns = [".*", "build", "dist", "demo", "*.egg-info"]
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

myst_heading_anchors = 4  # the anchors that other pages link to
highlight_language = "none"  # most blocks are commands and files of lscfg
suppress_warnings = ["ref.python"]  # a word before a colon, such as "rules", may be the name of several attributes

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"

html_theme = "furo"
html_title = f"lscfg {release}"
html_show_copyright = False
html_copy_source = False
templates_path = ["site"]
html_additional_pages = {"index": "forward.html"}  # the pages lie in build/docs/docs


def fill(app, name, source):
    """Puts the parts that are made from code and results into a page."""
    source[0] = made.filled(source[0])


def setup(app):
    app.connect("source-read", fill)
