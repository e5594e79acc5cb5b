"""Programs in place of captures: which files are programs, and what is kept of their runs."""

from __future__ import annotations

from pathlib import Path

import pytest

import pocketgpu
from pocketgpu.capture.formats.first_bytes import is_program
from pocketgpu.guests import recordings
from pocketgpu.lanes import object_cache

PROGRAMS = Path(__file__).resolve().parents[2] / "guests" / "n3ds"
SHOWN = PROGRAMS / "framebuffers.elf"


def test_programs_are_known_by_their_first_bytes(tmp_path: Path) -> None:
    assert is_program(SHOWN)
    for name, data in (
        ("cubin", b"\x7fELF" + bytes(14) + b"\xbe\x00" + bytes(40)), ("empty", b""), ("text", b"3DS"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(data)
        assert not is_program(tmp_path / name), name
    (tmp_path / "x").write_bytes(b"3DSX" + bytes(40))
    assert is_program(tmp_path / "x")
    assert is_program(PROGRAMS.parent / "switch" / "hello.nro")
    assert is_program(PROGRAMS.parent / "switch" / "hello.elf")
    assert not is_program(tmp_path / "absent") and not is_program("-")


def test_a_recording_is_kept_for_the_next_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    monkeypatch.setenv("POCKETGPU_CACHE", str(tmp_path / "kept"))
    first = recordings.opened(SHOWN, 4)
    assert first.frame_count == 10, "the program ends after ten frames"
    kept = list((tmp_path / "kept").glob("*.o"))
    assert kept
    with monkeypatch.context() as patch:
        patch.setattr("pocketgpu.guests.run", None)  # a second run would fail
        second = recordings.opened(SHOWN, 60)
        assert second.path == str(SHOWN) and second.frame_count == 10
    keys = {recordings._key(str(SHOWN), 60, None), recordings._key(str(SHOWN), 120, None)}
    keys |= {recordings._key(str(SHOWN), 60, {"texture.filter": "nearest"})}
    assert len(keys) == 3 and recordings._key(str(tmp_path / "absent"), 60, None) is None
    assert any(object_cache.read(key) for key in keys if key)


def test_the_debugger_takes_a_program() -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    run = pocketgpu.debug(SHOWN)
    assert run.frame_count == 10
    answer = run.why("f4/px200,120")
    assert "load" in str(answer)


def test_presents_that_come_late_are_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    monkeypatch.setattr(recordings, "USUAL_FRAMES", 2)
    program = PROGRAMS.parent / "switch" / "console.nro"  # it shows a picture, and three VBlanks later another one
    for most, frames in ((1, 1), (4, 2)):
        monkeypatch.setenv("POCKETGPU_CACHE", str(tmp_path / str(most)))
        monkeypatch.setattr(recordings, "_MOST", most)
        assert recordings.opened(program, 1).frame_count == frames
