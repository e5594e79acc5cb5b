"""Two runs side by side, frame by frame, in any order."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.pica_scenes import Scene
from support.switch_scene import Scene as SwitchScene

from pocketgpu.builder import CaptureBuilder, CommandList
from pocketgpu.errors import UsageError
from pocketgpu.inspect.diff.comparison import Comparison
from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.model.address import Address


def a_draw_more(_: CaptureBuilder, commands: CommandList) -> None:
    commands.draw_arrays(3)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    """Of a 3DS: B has a draw more between two, and another blend colour."""
    folder = tmp_path_factory.mktemp("scenes")
    a = Scene(frames=3).save(folder / "a.ctf.xz")
    b = Scene(frames=3, blend=0x44, between=a_draw_more).save(folder / "b.ctf.xz")
    return Comparison(debug(a), debug(b))


def verdicts(both: Comparison, frame: int) -> list[tuple[str, str, str]]:
    return [
        (str(row.a.address) if row.a else "-", str(row.b.address) if row.b else "-", row.verdict)
        for row in both.frame(frame).rows
        if "draw" in ((row.a and row.a.kind), (row.b and row.b.kind))
    ]


def test_a_draw_more_is_a_row_of_its_own(both: Comparison) -> None:
    for frame in (0, 2, 1, 0):  # earlier frames as well
        # The colour stays: in later frames it differs from their first draw on. Each frame is compared by itself.
        first, last = ("commands", "state") if frame else ("equal", "commands")
        assert verdicts(both, frame) == [
            (f"f{frame}/d0", f"f{frame}/d0", first),
            ("-", f"f{frame}/d1", "only b"),
            (f"f{frame}/d1", f"f{frame}/d2", last),
        ]


def test_the_first_of_each_level(both: Comparison) -> None:
    frame = both.frame(0)
    events, register = frame.first("events"), frame.first("register")
    assert events is not None and events.b == Address(0, draw=1) and events.a is None
    assert register is not None and "BLEND_COLOR" in register.text and register.a == Address(0, draw=1)
    assert frame.first("memory") is None and not frame.same
    pixel = frame.first("pixel")
    assert (pixel is None) == (not frame.pictures)


def test_places_of_a_lead_to_those_of_b(both: Comparison) -> None:
    assert str(both.counterpart("f1/d1/px3,4")) == "f1/d2/px3,4"
    assert str(both.counterpart("f1/px3,4")) == "f1/px3,4"
    assert str(both.counterpart("f2/d0/v1")) == "f2/d0/v1"
    assert both.counterpart("f1/p0") is None
    event = next(row.a for row in both.frame(1).rows if row.a is not None and row.a.draw == 1)
    assert event is not None and str(both.counterpart(event.by_number)).startswith("f1/e")


def test_the_next_frame_that_differs(tmp_path: Path) -> None:
    a = Scene(frames=3).save(tmp_path / "a.ctf.xz")
    both = Comparison(debug(a), debug(a, overrides=["COLORBUFFER_WRITE=0@f2"]))
    assert both.unlike(0, 2) == (None, 2)
    assert both.unlike(0, 3) == (2, 3) and both.unlike(3, 4) == (None, 3)
    assert both.frame(0).same and not both.frame(2).same


def test_frames_that_only_one_has(both: Comparison) -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        both.frame(3)


def test_runs_of_a_switch() -> None:
    plain = SwitchScene(frames=2)
    both = Comparison(plain.look(), plain.but(methods=(("SET_VIEWPORT_OFFSET_X(0)", 20.0),)).look())
    assert verdicts(both, 1)[-1] == ("f1/d1", "f1/d1", "commands")
    assert verdicts(both, 0) == [("f0/d0", "f0/d0", "equal"), ("f0/d1", "f0/d1", "commands")]
    register = both.frame(0).first("register")
    assert register is not None and register.text.startswith("SET_VIEWPORT_OFFSET_X(0)")
    pixel = both.frame(0).first("pixel")
    assert pixel is not None and str(pixel.a).startswith("f0/d1/px")
    changes = debug(plain.but(methods=(("SET_VIEWPORT_OFFSET_X(0)", 20.0),)).capture()).seek("f0/d1")
    assert [one.register for one in changes.unlike(plain.look().seek("f0/d1"))] == ["SET_VIEWPORT_OFFSET_X(0)"]


def test_consoles_do_not_mix(both: Comparison, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one capture is of a"):
        Comparison(debug(Scene().save(tmp_path / "a.ctf.xz")), SwitchScene().look())
