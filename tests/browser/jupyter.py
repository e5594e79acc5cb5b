"""A JupyterLab for tests of the widget: its server, and a notebook in the browser."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
from browser.browsing import ROOT
from support.notebooks import QUICKLY

SCRIPT = ROOT / "src/pocketgpu/notebook/page/widget.js"
NEEDED = ("jupyterlab", "anywidget")
OPTIONS = (
    "--no-browser", "--ServerApp.token=", "--ServerApp.password=", "--ServerApp.port=0", "--allow-root",
    "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    "--LabApp.extension_manager=readonly",
    "--ServerApp.jpserver_extensions={'jupyterlab': True, 'jupyter_lsp': False, 'jupyter_server_terminals': False}",
)  # fmt: skip
"""Nobody but this computer reaches the server, and it asks no other one for anything."""
SETTINGS = {"apputils-extension/notification.jupyterlab-settings": {"fetchNews": "false", "checkForUpdates": False}}
_STARTS = 60.0
"""Seconds that the server may take to start."""


def missing() -> str:
    """Why the widget can't be tested here; empty if it can."""
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if lacking:
        return f"{' and '.join(lacking)} is not installed"
    return "" if SCRIPT.is_file() else "the widget is not built: make page"


class Lab:
    """A JupyterLab that starts."""

    def __init__(self, runtime: Path, pid: int) -> None:
        self._written = runtime / f"jpserver-{pid}.json"

    @cached_property
    def url(self) -> str:
        """Its address, which it writes down when it is there."""
        end = time.monotonic() + _STARTS
        while time.monotonic() < end:
            try:
                return str(json.loads(self._written.read_text())["url"])
            except (FileNotFoundError, json.JSONDecodeError):
                time.sleep(0.05)
        raise TimeoutError("JupyterLab does not start")


@contextmanager
def jupyter(folder: Path) -> Iterator[Lab]:
    """A JupyterLab about a folder. What it keeps lies beside that."""
    own = folder.parent / "jupyter"
    for name, settings in SETTINGS.items():
        path = own / "settings" / "@jupyterlab" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings))
    environment = {
        **os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
        **{f"JUPYTER_{name}_DIR": str(own / name.lower()) for name in ("CONFIG", "RUNTIME", "DATA")},
        "IPYTHONDIR": str(own / "ipython"), "JUPYTERLAB_SETTINGS_DIR": str(own / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(own / "workspaces"),
    }  # fmt: skip
    startup = own / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00-quickly.py").write_text(QUICKLY)
    lab = f"{QUICKLY}; from jupyterlab.labapp import main; main()"
    command = [sys.executable, "-c", lab, *OPTIONS, f"--ServerApp.root_dir={folder}"]
    with (own.parent / "jupyter.log").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
        try:
            yield Lab(own / "runtime", process.pid)
        finally:
            process.terminate()
            process.wait(_STARTS)


def write(path: Path, *cells: str) -> None:
    """A notebook with some cells of code."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(one) for one in cells])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    nbformat.write(notebook, path)


class Notebook:
    """A notebook that is open in the browser."""

    def __init__(self, page: Any, url: str, name: str) -> None:
        self.page = page
        page.goto(f"{url}doc/tree/{name}?reset")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for()
        self.wait_idle()

    def wait_idle(self) -> None:
        """Wait until the kernel is there and does nothing."""
        self.page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()

    def run(self, cell: int) -> None:
        """Run a cell, and wait until it is done."""
        self.cell(cell).locator(".jp-InputArea-editor").click()
        self.page.keyboard.press("Control+Enter")
        self.page.wait_for_function(
            "cell => /^\\[\\d+\\]:$/.test(document.querySelectorAll('.jp-CodeCell')[cell]"
            ".querySelector('.jp-InputPrompt').textContent)", arg=cell,
        )  # fmt: skip

    def restart(self) -> None:
        """Start another kernel in place of the one that is there."""
        self.page.locator("[data-command='notebook:restart-kernel'], jp-button[title*='Restart the k']").first.click()
        self.page.locator(".jp-Dialog .jp-mod-warn").click()
        self.page.locator(".jp-Dialog").wait_for(state="detached")

    def cell(self, number: int) -> Any:
        return self.page.locator(".jp-CodeCell").nth(number)

    def printed(self, cell: int) -> str:
        """What a cell has printed, or its value as text."""
        return "\n".join(self.cell(cell).locator(".jp-OutputArea-output pre").all_inner_texts()).strip()

