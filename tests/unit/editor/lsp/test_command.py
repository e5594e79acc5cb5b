"""`pocketgpu lsp` without a client that knows the protocol, and without its library."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from pocketgpu.cli import main


def test_without_its_library(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pygls" else find(name))
    assert main(["lsp"]) == 2
    assert "pip install 'pocketgpu[editor]'" in capsys.readouterr().err


@pytest.mark.parametrize("data", [b"", b"hello\n", b"Content-Length: 5\r\n\r\n{bad}Content-Length: 2\r\n\r\n[]"])
def test_it_ends_when_its_input_ends(data: bytes) -> None:
    pytest.importorskip("pygls", reason="pygls is not installed")
    command = [sys.executable, "-m", "pocketgpu", "lsp"]
    assert subprocess.run(command, input=data, capture_output=True, timeout=60, check=False).returncode == 0
