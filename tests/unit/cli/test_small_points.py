"""What commands say where they used to say nothing, or something that can be read in two ways."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.cli.parts.options import parse_frame_span
from pocketgpu.cli.parts.replay import write_file
from pocketgpu.errors import UsageError
from pocketgpu.events import sized
from pocketgpu.inspect import health

DATA = Path(__file__).resolve().parents[1] / "promises" / "data"
N3DS = str(DATA / "scene_3ds.pgc")


def test_a_range_that_starts_with_a_dash_is_refused() -> None:
    """-1 is the last one to some, and "up to 1" to others."""
    with pytest.raises(ValueError, match="Write 0-1 for all up to that one"):
        parse_frame_span("-1")
    with pytest.raises(ValueError, match="Write 0-7"):
        parse_frame_span("-f7")
    assert str(parse_frame_span("3-")) == "3-" and str(parse_frame_span("f0-f2")) == "0-2"


@pytest.mark.parametrize(("frames", "said"), [("0-9", True), ("1-2", True), ("0-1", False), ("1-", False)])
def test_frames_after_the_end_are_mentioned(frames: str, said: bool, tmp_path: Path, capsys: Any) -> None:
    assert main(["render", N3DS, "--out", str(tmp_path), "--frames", frames, "--json"]) == 0
    warnings = json.loads(capsys.readouterr().out)["warnings"]
    assert [one["id"] for one in warnings] == ["capture.no-more-frames"] * said
    if said:
        assert f"frames {frames} were asked for; the last one is f1" in warnings[0]["message"]


def test_frames_that_are_no_range() -> None:
    with pytest.raises(UsageError, match="frames is a range, not 1"):
        pocketgpu.open(N3DS).render(frames=1)  # type: ignore[arg-type]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="another system has no /dev/full")
@pytest.mark.parametrize("command", ["--help", "decode {} f0", "info {}", "switches", "check --list", "regs"])
def test_a_full_disk_is_no_bug(command: str) -> None:
    """What cannot be printed is an error of the output, not of the program."""
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pocketgpu", *command.format(N3DS).split()], stdout=full, stderr=subprocess.PIPE,
            text=True,
        )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr == f"error: cannot write the output: {os.strerror(errno.ENOSPC)}\n   at: stdout\n"


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="another system has no /dev/full")
def test_a_device_is_written_to_and_not_replaced() -> None:
    with pytest.raises(UsageError, match="cannot write the file"):
        write_file(Path("/dev/full"), b"1")
    assert Path("/dev/full").is_char_device()


def test_doctor_sees_a_cache_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("POCKETGPU_CACHE", str(tmp_path / "file" / "cache"))
    found = {check.name: check for check in health.examine()}["cache"]
    assert (found.state, "cannot be written" in found.text) == ("problem", True)
    assert main(["doctor"]) == 1
    assert "compiles its code again" in capsys.readouterr().out


def test_convert_counts_both_files_of_a_log(tmp_path: Path, capsys: Any) -> None:
    log = {
        "format": "gx-log", "version": 1, "virt_to_phys": [],
        "events": [{"type": "memory", "phys": 0x20000000, "offset": 0, "size": 64}, {"type": "frame"}],
    }  # fmt: skip
    (tmp_path / "a.gx.json").write_text(json.dumps(log))
    (tmp_path / "a.mem.bin").write_bytes(np.arange(64, dtype=np.uint8).tobytes())
    assert main(["convert", str(tmp_path / "a.gx.json"), str(tmp_path / "b.pgc"), "--no-pictures"]) == 0
    before = sum((tmp_path / name).stat().st_size for name in ("a.gx.json", "a.mem.bin"))
    assert f"({before:,} before in 2 files)" in capsys.readouterr().out


def test_minimise_tells_the_size_before(tmp_path: Path, capsys: Any) -> None:
    assert main(["capture", "minimise", N3DS, str(tmp_path / "b.pgc"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bytes_before"] == Path(N3DS).stat().st_size and told["bytes"] == (tmp_path / "b.pgc").stat().st_size


def test_sizes_do_not_look_like_hexadecimal_numbers() -> None:
    assert [sized(400, 240), sized(0, 180), sized(12, 0), sized(0.5, 2.0)] == ["400x240", "0 by 180", "12x0", "0.5x2"]
