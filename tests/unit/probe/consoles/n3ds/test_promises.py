"""What the program of the 3DS promises beyond right answers: it says how a run ended, what it is run by, and what a
person has to look at, and waits for nothing without end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support import probing

import pocketgpu
from pocketgpu import capture
from pocketgpu.builder import CaptureBuilder
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.sections import Header, build
from pocketgpu.capture.pgc import parse
from pocketgpu.capture.pgc.convert import contents_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.memory_map import VRAM
from pocketgpu.probe.consoles.known import probe_console
from pocketgpu.probe.consoles.n3ds import prepare as preparing
from pocketgpu.probe.making import FOLDER, sent_of_scene
from pocketgpu.probe.model.scene import Watch
from pocketgpu.probe.scenes import SCENES

pytest.importorskip("unicorn", reason="needs the extra 'guest'")

HANGS = {"transfer.both_tiling_flags": "hang"}
MOST_HUNG = 32
BOTH = "display.dma_size_3"


@pytest.fixture
def card(tmp_path: Path) -> Path:
    (tmp_path / FOLDER).mkdir()
    return tmp_path


def about(card: Path, name: str) -> dict[str, str]:
    return dict(parse(probing.answer(card, name).read_bytes()).about)


def hanging(count: int) -> bytes:
    """A file in which the transfer unit hangs so many times, if a console takes no two tiling flags."""
    made = CaptureBuilder()
    for _ in range(count):
        made.transfer(VRAM.base, VRAM.base + 0x100000, 64, 64, linear_to_tiled=True, no_tiling=True)
    made.end_frame()
    contents = contents_of(capture.of_bytes(made.to_pgc()).trace)
    return probe_console("3DS").prepare(contents, Watch(pictures=False), most=1 << 24).encode()


def test_a_run_that_stops_early_does_not_say_that_it_finished(card: Path) -> None:
    (card / FOLDER / "few.pgc").write_bytes(hanging(2))
    (card / FOLDER / "many.pgc").write_bytes(hanging(MOST_HUNG + 1))
    said = probing.ran(card, HANGS)
    assert about(card, "few")["probe.end"] == "finished" and about(card, "few")["probe.hung"].count("PPF") == 2
    assert about(card, "many")["probe.end"] == "stopped: too many units that hang"
    assert "many: stopped: too many units that hang, hung: PPF" in said


def test_an_answer_is_not_lost_when_the_next_file_hung(card: Path) -> None:
    """The console was switched off after the answer was written and before running.txt was emptied."""
    (card / FOLDER / "one.pgc").write_bytes(sent_of_scene(SCENES["fill.tail_24"]).encode())
    probing.ran(card)
    whole = probing.answer(card, "one").read_bytes()
    (card / FOLDER / "running.txt").write_text("one.pgc")
    assert "one: answered before" in probing.ran(card)
    assert probing.answer(card, "one").read_bytes() == whole


def test_the_console_of_an_answer_says_that_it_is_pocketgpu(card: Path) -> None:
    (card / FOLDER / "one.pgc").write_bytes(sent_of_scene(SCENES["fill.tail_24"]).encode())
    probing.ran(card)
    version = pocketgpu.__version__
    assert about(card, "one")["probe.console"].startswith(f"pocketgpu {version}, emulating a 3DS, kernel ")


def test_both_screens_are_shown_before_text_covers_one(card: Path) -> None:
    """And again, as often as somebody wants."""
    (card / FOLDER / f"{BOTH}.pgc").write_bytes(sent_of_scene(SCENES[BOTH]).encode())
    app = pocketgpu.run(probing.PROGRAM, sd=card, writable=True)
    colors = []
    for _ in range(4000):
        app.frames(1)
        colors.append(tuple(app.bottom.array[120, 100, :3].tolist()))
        if "What do the screens show?" in app.debug_text:
            break
    asked = len(colors)
    assert f"{BOTH}: look at both screens: a question follows" in app.debug_text
    orange = max(set(colors[-200:]), key=colors[-200:].count)
    assert orange[0] > 200 > orange[2], "what the file shows there, for seconds"
    app.frames(30)
    assert np.unique(app.bottom.array.reshape(-1, app.bottom.array.shape[-1]), axis=0).shape[0] == 2, "text"
    app.press("START", frames=4)
    app.frames(60)
    assert tuple(app.bottom.array[120, 100, :3].tolist()) == orange, "START shows both again"
    app.frames(600)
    app.press("B", frames=4)
    assert app.until(lambda: "the probe: the end" in app.debug_text, limit=4000) and asked > 200
    assert about(card, BOTH)["probe.seen"] == "black"
    question = next(line for line in app.debug_text.splitlines() if "What do the screens show?" in line)
    assert "Press A: show, B: black, X: always-black, SELECT: none of them" in question


def test_the_circle_pad_is_no_key(card: Path) -> None:
    """Held aside, as a worn one is, it neither answers nor keeps the program waiting."""
    (card / FOLDER / f"{BOTH}.pgc").write_bytes(sent_of_scene(SCENES[BOTH]).encode())
    app = pocketgpu.run(probing.PROGRAM, sd=card, writable=True)
    app.circle(1, 0, frames=20_000)
    assert app.until(lambda: "the probe: the end" in app.debug_text, limit=8000)
    assert "probe.seen" not in about(card, BOTH)


def test_a_file_that_is_too_large_is_answered(card: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And no such file is made."""
    block = bytes(1 << 20)
    load = bytes([F.LOAD]) + VRAM.base.to_bytes(4, "little") + bytes([1, 0]) + b"\x80\x80\x40" + block
    probe = bytes([F.ABOUT, 5]) + b"probe" + b"\x011"
    (card / FOLDER / "large.pgc").write_bytes(build(Header("3DS", 16), [probe + load * 25], 0, "stored"))
    said = probing.ran(card)
    assert about(card, "large")["probe.end"] == "refused: it is too large" and "large: refused: it is too large" in said
    monkeypatch.setattr(preparing, "MOST_FILE", 1000)
    with pytest.raises(UsageError, match="the program has room for 1,000"):
        hanging(100)
