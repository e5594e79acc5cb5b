"""The language server with the client of Neovim, which knows nothing of this package, and the settings of the guide."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support.house import ROOT

pytest.importorskip("pygls", reason="pygls is not installed")

HERE = Path(__file__).parent
TEXT = ".alias place c4\nmain:\n  mul  r0,place,v0 ; \U0001f600\n  mov r1, x9\n end\n"


@pytest.mark.skipif(shutil.which("nvim") is None, reason="Neovim is not installed")
def test_neovim_shows_what_the_server_says(tmp_path: Path) -> None:
    text, answers = tmp_path / "a.pica", tmp_path / "answers.json"
    text.write_text(TEXT, encoding="utf-8")
    page = (ROOT / "docs/guides/editor-language.md").read_text(encoding="utf-8")
    settings, program = tmp_path / "settings.lua", tmp_path / "pocketgpu"
    settings.write_text(page.split("```lua\n")[1].split("```")[0], encoding="utf-8")
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pocketgpu "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = os.environ | {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "POCKETGPU_SETTINGS": str(settings),
        "POCKETGPU_TEXT": str(text), "POCKETGPU_ANSWERS": str(answers),
        "XDG_STATE_HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path),
    }  # fmt: skip
    done = subprocess.run(
        ["nvim", "--clean", "--headless", "-n", "-S", str(HERE / "neovim.lua")],
        env=environment, cwd=ROOT, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert answers.exists(), done.stdout + done.stderr
    found = json.loads(answers.read_text(encoding="utf-8"))
    assert [(one["line"], one["column"], one["end_column"]) for one in found["diagnostics"]] == [(3, 10, 12)]
    assert "product of the sources" in found["hover"]
    assert found["definition"] == {"line": 0, "character": 7}
    assert "dp4" in found["completion"]
    assert found["formatted"] == [
        ".alias place c4", "main:", "    mul r0, place, v0  ; \U0001f600", "    mov r1, x9", "    end",
    ]  # fmt: skip
