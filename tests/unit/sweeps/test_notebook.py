"""The notebook of the guide runs as it stands, in a kernel of its own."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from support.pages import ROOT, place_stand_ins

NOTEBOOK = ROOT / "docs" / "guides" / "sweep.ipynb"


@pytest.mark.filterwarnings("ignore:Proactor event loop", "ignore::DeprecationWarning")
def test_the_notebook_runs_from_a_folder_of_captures_to_a_plot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    place_stand_ins("our-captures", tmp_path)
    NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    texts = [output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ())]
    assert "our-captures/city.ctf.xz: 6 frames" in "".join(texts)
    assert "our-captures/cut.pgc: refused" in "".join(texts)
    assert (tmp_path / "frames.html").stat().st_size > 100_000
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", ()) for kind in output.get("data", ())}
    assert "application/vnd.plotly.v1+json" in kinds or "text/html" in kinds


def test_the_notebook_is_stored_without_output() -> None:
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    assert [cell.id for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []
