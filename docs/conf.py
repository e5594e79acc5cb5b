"""Sphinx configuration: the pages of this folder, and the reference that is generated from the facts."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent / "src"
sys.path[:0] = [str(HERE), str(HERE / "extensions"), str(SOURCE)]
# Kernels of notebooks run the same package.
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(SOURCE), os.environ.get("PYTHONPATH"))))

import gallery  # noqa: E402  (found by the path above)
import generate_choices  # noqa: E402
import generate_figures  # noqa: E402
import generate_registers  # noqa: E402
import generate_schemas  # noqa: E402
import generate_way  # noqa: E402

import pocketgpu  # noqa: E402

project = "pocketgpu"
author = "pocketgpu contributors"
copyright = f"{author}, MIT licence"  # the footer of every page
release = version = pocketgpu.__version__

extensions = [
    "myst_nb",
    "linked_drawings",
    "plotly_figures",
    "register_roles",
    "register_search",
    "short_sidebar",
    "sphinx.ext.autodoc",
    "sphinx_gallery.gen_gallery",
    "gallery",
]
exclude_patterns = ["build", "_build", "extensions"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
html_theme = "furo"
changes = (HERE.parent / "CHANGELOG.md").read_text(encoding="utf-8")
# A release gives its section of the changelog a date (tools/release.py).
html_title = f"pocketgpu {release}" if f"## {release} (" in changes else f"pocketgpu {release} (not released yet)"
html_static_path = ["static"]
html_js_files = ["site.js"]
html_scaled_image_link = False  # such links have no text
html_css_files = ["site.css", "gallery.css", "notebooks.css", "choices.css", "registers.css", "drawings.css"]
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
# Types that only checkers import: without them no type of that signature is resolved.
autodoc_type_aliases = {
    "App": "pocketgpu.guests.App",
    "Uniform": "pocketgpu.inspect.decode.uniforms.Uniform",
    "Written": "pocketgpu.guests.writers.Written",
}
autodoc_default_options = {"members": True, "show-inheritance": True}

# Scenes run while the site is built; one that fails is an error of the build.
sphinx_gallery_conf = gallery.CONF
# Both consoles may have a scene of one name: nothing here finds scenes by the name alone.
suppress_warnings = ["sphinx_gallery.duplicate_filename"]

# Notebooks run while the site is built; a cell that fails is an error of the build.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_merge_streams = True
# A widget has no kernel here: the picture that it keeps is shown, and nothing is loaded from other hosts.
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]
nb_ipywidgets_js = {}
WIDGET = SOURCE / "pocketgpu" / "notebook" / "page" / "widget.js"
if not WIDGET.is_file():
    print("the viewer's widget is not built (make page): notebooks with it are shown without what they print")
    with_widget = [path for path in (HERE / "notebooks").glob("*.ipynb") if '"viewer"' in path.read_text("utf-8")]
    nb_execution_excludepatterns = [path.relative_to(HERE).as_posix() for path in with_widget]

# Before Sphinx looks for pages, so that a plain sphinx-build has the reference as well.
generate_registers.generate(HERE / "reference" / "generated")
generate_choices.generate(HERE / "reference" / "generated")
generate_schemas.generate(HERE / "reference" / "generated")
generate_way.generate(HERE / "way")
generate_figures.generate(HERE / "figures.md")


def know_names(app: object, method: object, bound: bool) -> None:
    """Give the `__init__` of a dataclass (`late_dataclass.py`) the names of its module: its types are written with
    them, and "Event" alone is two things."""
    module = sys.modules.get(getattr(method, "__module__", ""))
    for name, value in vars(module).items() if getattr(method, "__name__", "") == "__init__" else ():
        method.__globals__.setdefault(name, value)


def setup(app: object) -> None:
    app.connect("autodoc-before-process-signature", know_names)
