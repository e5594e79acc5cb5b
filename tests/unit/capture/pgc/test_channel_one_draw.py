"""Single draws of Switch captures: the same pixels in all targets as in the whole capture up to that draw."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.capture import pgc
from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.pgc.contents import Store, Submit
from pocketgpu.capture.pgc import channel_one_draw
from pocketgpu.capture.pgc.minimise import Keep, minimise
from pocketgpu.cli import main
from pocketgpu.errors import NoPictureError
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.host.observer import Observer, Undrawn


def opened(shared: Path, name: str) -> pocketgpu.Capture:
    return pocketgpu.open(shared / "captures" / "switch" / f"{name}_320x180.mxcap.zip")


def machine_after(log: pgc.PgcLog, frame: int, draw: int) -> pocketgpu.GM20B:
    """A machine that ran all of a capture up to a draw, that one included."""

    class Enough(Exception):
        pass

    class Noted(Observer):
        wants_draws = True
        counting = False
        draws = 0

        def draw_recorded(self, record: Draw) -> None:
            if self.counting:
                self.draws += 1
                if self.draws == draw + 2:  # nothing of this one is drawn yet
                    raise Enough

    driver, noted = drive(log), Noted()
    driver.machine.observe(noted)
    try:
        while driver.frame <= frame:
            noted.counting = driver.frame == frame
            driver.play_frame()
    except Enough:
        pass
    return driver.machine


@pytest.mark.parametrize(
    ("name", "frame", "draw", "last"),
    [
        ("ex04_textured_cube", 1, 0, True),  # a texture, drawn from a macro
        ("ex05_tessellation", 1, 0, True),
        ("ex07_mesh_lighting", 1, 0, True),  # four samples: a blit makes the picture of them
        ("mesa_blend", 0, 2, False),  # over what others drew
        ("mesa_indexed", 0, 3, False),
    ],
)
def test_a_draw_has_its_pixels(name: str, frame: int, draw: int, last: bool, shared_dir: Path, tmp_path: Path) -> None:
    capture = opened(shared_dir, name)
    contents = pgc.contents_of(capture.trace)
    log = pgc.trace_of(contents)
    assert isinstance(log, pgc.PgcLog)
    _, targets = channel_one_draw.one_draw(contents, frame, draw, log)
    found = minimise(contents, Keep(frame, frame, draw), replays=40)
    assert len(targets) >= 1 and found.bytes_after <= found.bytes_before
    assert pgc.save(tmp_path / "draw.pgc", found.contents) < 150_000
    small = pocketgpu.open(tmp_path / "draw.pgc")
    (shown,) = small.render()
    assert shown.draws == 1 and not shown.warnings
    assert [check.same for check in pgc.check(small)] == [True]
    whole = machine_after(log, frame, draw)
    for address, size in targets:
        assert shown.machine.memory.read(address, size) == whole.memory.read(address, size)
    picture = shown.screens["screen"].array.tobytes()
    before = list(capture.render(pictures=True))[frame].screens["screen"].array.tobytes()
    assert (picture == before) is last, "the frame ends with this draw"
    submits = [event for event in found.contents.frames[0].events if isinstance(event, Submit)]
    assert len(submits) == 1


def test_there_is_no_such_draw(shared_dir: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    contents = pgc.contents_of(opened(shared_dir, "mesa_blend").trace)
    with pytest.raises(NoPictureError, match="no draw 4 in frame 0") as caught:
        minimise(contents, Keep(0, 0, 4))
    assert caught.value.hint == "It has 4 draws, d0 to d3."
    source = shared_dir / "captures" / "switch" / "ex01_simple_setup_320x180.mxcap.zip"
    assert main(["capture", "minimise", str(source), str(tmp_path / "a.pgc"), "--keep", "f0/d0"]) == 4
    assert "It draws nothing." in capsys.readouterr().err


def test_a_draw_that_draws_nothing_stays(shared_dir: Path) -> None:
    """What is asked for is that draw, whether it changes a pixel or not."""
    contents = pgc.contents_of(opened(shared_dir, "ex02_triangle").trace)
    log = pgc.trace_of(contents)
    assert isinstance(log, pgc.PgcLog)
    kept, _ = channel_one_draw.one_draw(contents, 0, 0, log)
    words = next(event for event in reversed(kept.frames[0].events) if isinstance(event, Store))
    found = minimise(contents, Keep(0, 0, 0), replays=60)
    (shown,) = pocketgpu.Capture("", pgc.trace_of(found.contents)).render()
    assert shown.draws == 1
    assert words.pieces[0] in b"".join(piece for event in found.contents.memory_events() for piece in event.pieces)


# Forms of draws


def records_of(words: list[int], before: dict[str, int] | None = None) -> list[Draw]:
    """The draws that words of a pushbuffer for subchannel 0 make, on a machine with some registers set."""
    found: list[Draw] = []

    class Noting(Undrawn):
        def draw_recorded(self, draw: Draw) -> None:
            found.append(draw)

    machine = pocketgpu.GM20B()
    machine.observe(Noting())
    machine.map(0x5_0000_0000, 0x10000)
    for name, value in (before or {}).items():
        machine.registers(0xB197)[B197[name].word] = value
    machine.memory.write(0x5_0000_0000, np.array(words, "<u4").tobytes())
    machine.submit([0x5_0000_0000 | len(words) << 42])
    machine.finish()
    return found


def packets(*methods: tuple[str, int]) -> list[int]:
    return [word for name, value in methods for word in (3 << 29 | 1 << 16 | B197[name].word, value)]


SECOND, UNCHANGED = 1 << 26, 1 << 24
FORMS = {
    "array": packets(("BEGIN", 4), ("DRAW_VERTEX_ARRAY", 3), ("END", 0)),
    "instances": packets(
        *[
            step
            for n in range(4)
            for step in (("BEGIN", 5 | (SECOND if n else 0)), ("DRAW_VERTEX_ARRAY", 4), ("END", 0))
        ]
    ),
    "primitives go on": packets(
        ("BEGIN", 4),
        ("DRAW_VERTEX_ARRAY", 9),
        ("END", 0),
        ("BEGIN", 4 | UNCHANGED),
        ("DRAW_VERTEX_ARRAY", 3),
        ("END", 0),
    ),
    "inline indices": packets(
        ("BEGIN", 4), ("DRAW_INLINE_INDEX2X16", 7 | 3 << 16), ("DRAW_INLINE_INDEX", 0x12345), ("END", 0)
    ),
    "one method": packets(
        ("DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_FIRST", 5 | 3 << 28 | 4 << 28),
        ("DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_SUBSEQUENT", 5 | 4 << 28),
        ("DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_SUBSEQUENT", 9 | 4 << 28),
    ),
    "zeros": packets(("BEGIN", 0), ("DRAW_ZERO_INDEX", 6), ("END", 0)),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_draw_of_any_form_is_the_same_draw_again(form: str) -> None:
    drawn = records_of(FORMS[form], {"SET_VERTEX_ARRAY_START": 11})
    assert drawn
    for draw in drawn:
        words = [*channel_one_draw._words_of(draw, [0, 0, 64, 0])]
        registers = {"SET_VERTEX_ARRAY_START": 11}
        (again,) = records_of(words, registers)
        for name in ("method", "topology", "first", "count", "index_bytes", "instance", "first_primitive"):
            if name == "method" and draw.method.startswith("DRAW_INLINE"):
                continue  # whatever the indices came as, they come as words
            assert getattr(again, name) == getattr(draw, name), name
        assert (again.inline is None) == (draw.inline is None)
        assert draw.inline is None or np.array_equal(again.inline, draw.inline)  # type: ignore[arg-type]
