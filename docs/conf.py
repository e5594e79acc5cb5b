"""Sphinx configuration: the pages of this folder, and the reference that is generated from the facts."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import generate_registers  # noqa: E402  (found by the path above)

import pocketgpu  # noqa: E402

project = "pocketgpu"
author = "pocketgpu contributors"
copyright = author
release = version = pocketgpu.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["build", "_build"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = f"pocketgpu {release}"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# A type that only checkers import: without it no type of that signature is resolved.
autodoc_type_aliases = {"Uniform": "pocketgpu.inspect.decode.uniforms.Uniform"}
autodoc_default_options = {"members": True, "show-inheritance": True}

# Before Sphinx looks for pages, so that a plain sphinx-build has the reference as well.
generate_registers.generate(HERE / "reference" / "generated")
