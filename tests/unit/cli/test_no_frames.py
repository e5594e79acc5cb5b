"""Recordings that show no picture: commands say so, and print no empty answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer
from pocketgpu.cli import main


def test_events_of_a_recording_without_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capture = MaxwellCaptureBuilder("no picture")
    place = capture.allocate(4096)
    capture.submit(PushBuffer().bind("inline-to-memory").inline(place, b"abcd"))
    capture.save(tmp_path / "a.mxcap.zip")
    assert main(["events", str(tmp_path / "a.mxcap.zip")]) == 0
    out = capsys.readouterr().out
    assert out.startswith("after the last frame: 0 draws, 3 events  f0\n") and "f0/e2" in out
    assert "no picture is shown, so there is no frame; all that happens is f0" in out
