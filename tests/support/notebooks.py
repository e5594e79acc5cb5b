"""The notebooks of the site, and what their cells print when they run in a kernel of their own."""

from __future__ import annotations

import base64
import os
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
from nbclient import NotebookClient
from numpy.typing import NDArray
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
FIGURE = "application/vnd.plotly.v1+json"
VIEWER = "viewer"
"""The tag of cells that show the viewer's widget, which needs its built page."""

QUICKLY = "import sys; sys.modules.setdefault('rfc3987_syntax', None)"
"""What kernels and servers of tests run first: jsonschema would make parsers of formats that nobody uses, see
tests/conftest.py. Plotly imports it when it shows a figure, and Jupyter when it starts."""


@dataclass(frozen=True)
class Outputs:
    """What the cells of a notebook printed, by their ids."""

    cells: dict[str, list[Any]]

    def text(self, cell: str) -> str:
        """What a cell printed."""
        return "".join(one.get("text", "") for one in self.cells[cell])

    def data(self, cell: str, kind: str) -> Any:
        """The one output of a cell that has this MIME type."""
        (found,) = [one["data"][kind] for one in self.cells[cell] if kind in one.get("data", {})]
        return found

    def html(self, cell: str) -> str:
        return str(self.data(cell, "text/html"))

    def picture(self, cell: str) -> NDArray[np.uint8]:
        """The picture that a cell shows, RGB."""
        png = base64.b64decode(self.data(cell, "image/png"))
        return np.asarray(Image.open(BytesIO(png)).convert("RGB"))

    def traces(self, cell: str) -> list[dict[str, Any]]:
        """The traces of the figure that a cell shows."""
        found: list[dict[str, Any]] = self.data(cell, FIGURE)["data"]
        return found


def array_of(value: Any) -> NDArray[Any]:
    """Numbers of a figure: a list, or bytes with their type and shape, as Plotly writes arrays of NumPy."""
    if isinstance(value, list):
        return np.array(value)
    numbers = np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"])
    shape = [int(size) for size in str(value.get("shape", numbers.size)).split(",")]
    return numbers.reshape(shape)


def notebook(name: str) -> Any:
    """A notebook as it is stored."""
    return nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)


def run(name: str, folder: Path, viewer: bool) -> Outputs:
    """Run a notebook in a folder. viewer: with the cells that show the widget."""
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    found = notebook(name)
    skipped = "" if viewer else VIEWER
    resources = {"metadata": {"path": str(folder)}}
    client = NotebookClient(found, timeout=300, resources=resources, skip_cells_with_tag=skipped)
    client.extra_arguments = [f"--IPKernelApp.exec_lines={QUICKLY}"]
    client.execute()
    return Outputs({cell.id: cell.outputs for cell in found.cells if cell.cell_type == "code"})


def prose(name: str) -> str:
    """What a notebook says, without its code."""
    return "\n\n".join(cell.source for cell in notebook(name).cells if cell.cell_type == "markdown")
