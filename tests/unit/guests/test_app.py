"""A program as an object: frames, presents, pictures, text, ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.guests import run

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

PROGRAMS = Path(__file__).resolve().parents[2] / "guests" / "n3ds"


def test_frames_presents_and_pictures() -> None:
    with run(PROGRAMS / "framebuffers.elf") as app:
        assert repr(app) == "<App framebuffers.elf: 0 frames, running>"
        assert app.frames(3) and app.frame_count == 3 and app.text == "shown 0\n"
        before = app.present_count
        assert app.presents(1) and app.present_count == before + 1
        assert app.screens["top"].array.shape == (240, 400, 3)
        assert app.until(lambda: "shown 4" in app.text)
        assert not app.frames(60) and app.end is not None and app.end.well
        assert "ended: exit" in repr(app)
        assert not app.presents(1) and not app.until(lambda: False)


def test_frames_do_not_go_back() -> None:
    app = run(PROGRAMS / "objects.elf")
    with pytest.raises(UsageError, match="back"):
        app.frames(-1)
    with pytest.raises(UsageError, match="no key 'Q'"):
        app.press("A+Q")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "the file is empty"), (b"\x7fELF", "damaged ELF"), (b"3DSX" + bytes(10), "cut in the header"),
        (bytes(0x100) + b"NCCH" + bytes(100), "NCCH"), (b"\x7fELF" + bytes(100), "damaged ELF"),
    ],
)  # fmt: skip
def test_files_that_are_no_programs(data: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.3dsx"
    path.write_bytes(data)
    with pytest.raises(CaptureError, match=message):
        run(path)
    with pytest.raises(CaptureError, match="cannot be read"):
        run(tmp_path / "absent.elf")


def test_damaged_files_give_typed_errors_only(tmp_path: Path) -> None:
    """Every byte of the ELF's headers, set to three values."""
    whole = (PROGRAMS / "framebuffers.elf").read_bytes()
    from pocketgpu.guests.n3ds.loader import read_program

    for at in range(0x34 + 3 * 0x20):
        for value in (0, 0x7F, 0xFF):
            data = bytearray(whole)
            data[at] = value
            try:
                program = read_program(bytes(data), "x.elf")
            except CaptureError:
                continue
            assert sum(one.size for one in program.segments) < 1 << 28
