"""The adapter driven by clients of others: the one of VS Code's adapters, and Emacs with dap-mode."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from support.pages import blocks

FOLDER = Path(__file__).resolve().parents[3] / "editor"
GUIDE = FOLDER.parents[1] / "docs" / "guides" / "editor.md"
SOURCE = Path(__file__).resolve().parents[4] / "src"
MODULES = FOLDER / "node_modules" / "@vscode" / "debugadapter-testsupport"
SECONDS = 240


def environment(**more: str) -> Mapping[str, str]:
    return {**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(SOURCE), **more}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
@pytest.mark.skipif(not MODULES.is_dir(), reason="needs the modules of tests/editor: npm ci --prefix tests/editor")
@pytest.mark.parametrize("over", ("streams", "port"))
def test_the_client_that_adapters_of_vs_code_are_tested_with(over: str) -> None:
    words = [sys.executable, "-m", "pocketgpu", "dap", "--port", "0"]
    adapter = None
    more = {}
    if over == "port":
        adapter = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, env=environment())
        assert adapter.stdout is not None
        more["PORT"] = adapter.stdout.readline().decode().strip().rsplit(":", 1)[1]
    try:
        done = subprocess.run(
            ["node", "--test", "--test-concurrency=1", "adapter.test.js"], cwd=FOLDER, env=environment(**more),
            capture_output=True, timeout=SECONDS, check=False, text=True,
        )  # fmt: skip
    finally:
        if adapter is not None:
            adapter.kill()
            adapter.communicate()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass 13" in done.stdout


PROGRAM = (FOLDER / "sums.v.pica").read_text(encoding="utf-8")


def _dap_mode() -> bool:
    return any(Path("/usr/share/emacs/site-lisp/elpa").glob("dap-mode-*"))


@pytest.mark.skipif(shutil.which("emacs") is None, reason="needs Emacs")
@pytest.mark.skipif(not _dap_mode(), reason="needs dap-mode, Debian's elpa-dap-mode")
def test_batch_emacs_with_dap_mode(tmp_path: Path) -> None:
    """With the configuration of the guide, as it stands."""
    program = tmp_path / "sums.v.pica"
    program.write_text(PROGRAM)
    (block,) = [one for one in blocks(GUIDE.read_text(encoding="utf-8")) if one.kind == "elisp"]
    (tmp_path / "init.el").write_text(block.text)
    command = tmp_path / "pocketgpu"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pocketgpu "$@"\n')
    command.chmod(0o755)
    done = subprocess.run(
        ["emacs", "--batch", "-l", "drive.el", str(tmp_path / "init.el"), str(program)], cwd=FOLDER,
        env=environment(HOME=str(tmp_path), PATH=f"{tmp_path}:{os.environ['PATH']}"), capture_output=True,
        timeout=SECONDS, check=False, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines() == [
        "entry 2", "next 3", "in 12", "out 4", "continue 5", "r0.xy (8, 2)", "back 4", "done",
    ]  # fmt: skip
