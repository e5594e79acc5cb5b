"""A moment means its place for good: asked after the machine has moved on, it answers as it did, on both consoles."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image
from support.pica_scenes import Scene as PicaScene
from support.switch_scene import Scene as SwitchScene

import pocketgpu
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.maxwell.host.observer import Observer

PLACES = ("f0/d0", "f0/d1", "f0/e0", "f0", "f0/p0", "f1/d0", "f1")
"""Draws, another event, the ends of a frame and of a pass; between the frames vertices, indices and texels change."""


@pytest.fixture(scope="module")
def n3ds_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    return PicaScene(frames=2, spoil=True).save(tmp_path_factory.mktemp("moments") / "scene.ctf.xz")


@pytest.fixture(scope="module")
def switch_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    scene = SwitchScene(frames=2, spoil=True, indices=(2, 1, 0))
    return scene.save(tmp_path_factory.mktemp("moments") / "scene.mxcap.zip")


@pytest.fixture(params=["3DS", "Switch"])
def path(request: pytest.FixtureRequest, n3ds_path: str, switch_path: str) -> str:
    return n3ds_path if request.param == "3DS" else switch_path


@pytest.fixture
def run(path: str) -> Inspection:
    return pocketgpu.debug(path)


def plain(value: Any) -> Any:
    """What an answer says, as data that can be compared."""
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.descr, value.tobytes()
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return str(value)


def address_of(target: Any) -> int:
    """Where a target begins: a picture of a Switch knows it by its surface."""
    found: int = (target.surface if hasattr(target, "surface") else target).address
    return found


def answers(moment: Any) -> dict[str, Any]:
    """All that a moment has to say."""
    target = moment.target
    found = {
        "text": str(moment), "registers": moment.registers(), "changes": moment.changes(),
        "target": None if target is None else target.array,
        "memory": None if target is None else np.frombuffer(moment.read(address_of(target), 4096), np.uint8),
        "screens": {name: one.array for name, one in moment.screens.items()},
    }  # fmt: skip
    if moment.event is not None and moment.event.draw is not None:
        vertices, indices = moment.vertices, moment.index_buffer
        found |= {
            "inputs": vertices.inputs, "outputs": vertices.outputs, "triangles": vertices.triangles,
            "indices": None if indices is None else indices.array, "buffers": moment.vertex_buffers,
            "programs": {name: one.text for name, one in moment.programs.items()},
            "textures": {name: one.pictures() for name, one in moment.textures.items()},
        }  # fmt: skip
    return {name: plain(value) for name, value in found.items()}


def test_the_places_differ(run: Inspection) -> None:
    """The tests below see nothing if a later place looks like an earlier one."""
    first, later = answers(run.seek("f0/d0")), answers(run.seek("f1/d0"))
    for name in ("target", "memory", "inputs", "outputs", "textures"):
        assert first[name] != later[name], name


@pytest.mark.parametrize("place", PLACES)
def test_an_old_moment_answers_for_its_place(run: Inspection, path: str, place: str) -> None:
    expected = answers(pocketgpu.debug(path).seek(place))
    asked, quiet = run.seek(place), run.seek(place)
    assert answers(asked) == expected
    for other in PLACES:
        run.seek(other)
        assert answers(asked) == expected, other
    assert answers(quiet) == expected, "nothing was asked before"
    moments = {other: run.seek(other) for other in PLACES}
    assert answers(moments[place]) == expected


def test_old_moments_answer_in_turns(run: Inspection) -> None:
    moments = [run.seek(place) for place in PLACES]
    first = [answers(one)["target"] for one in moments]
    assert [answers(one)["target"] for one in reversed(moments)] == first[::-1]


QUESTIONS: list[Callable[[Inspection], Any]] = [
    lambda run: run.why("f1/d1/px10,10"), lambda run: run.why("f1/d0"), lambda run: run.trace("f1/d0/v1"),
    lambda run: run.who_changed(address_of(run.seek("f1").target), 16),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(QUESTIONS)))
def test_other_questions_leave_a_moment_alone(run: Inspection, path: str, number: int) -> None:
    expected = answers(pocketgpu.debug(path).seek("f0/d0"))
    moment = run.seek("f0/d0")
    QUESTIONS[number](run)
    assert answers(moment) == expected


def test_what_a_moment_gave_away_keeps_its_meaning(run: Inspection) -> None:
    """Pictures that are made when somebody asks for them are those of the moment."""
    moment: Any = run.seek("f0/d0")
    target, textures = moment.target, moment.textures
    run.seek("f1/d1")
    late = plain([target.array, {name: one.pictures() for name, one in textures.items()}])
    again: Any = run.seek("f0/d0")
    assert late == plain([again.target.array, {name: one.pictures() for name, one in again.textures.items()}])


def test_the_depth_of_a_3ds_target(n3ds_path: str) -> None:
    run = pocketgpu.debug(n3ds_path)
    target = run.seek("f0/d0").target
    before = plain([target.rows, target.depth])
    run.seek("f1/d1")
    assert plain([target.rows, target.depth]) == before


def test_the_record_of_a_switch_draw(switch_path: str) -> None:
    """It reads indices and attributes when they are asked for, and does not change with who asked before."""
    run: Any = pocketgpu.debug(switch_path)
    record = run.seek("f0/d1").draw
    later = run.seek("f1/d1").draw
    inputs = [plain(one.inputs) for one in (record, later)]
    assert inputs[0] != inputs[1]
    assert [plain(run.seek(place).draw.inputs) for place in ("f0/d1", "f1/d1")] == inputs
    assert plain(record.indices) != plain(later.indices)


def test_a_replay_of_a_3ds_that_was_broken_off_is_begun_anew(n3ds_path: str) -> None:
    """Whoever looks on may fail in the middle of a draw. The next question goes back then."""

    class Failing(DrawWatcher):
        def fragments(self, *_: object) -> None:
            raise ZeroDivisionError

    run: Any = pocketgpu.debug(n3ds_path)
    moment = run.seek("f0/d1")
    expected = answers(moment)
    with pytest.raises(ZeroDivisionError):
        run.watch(moment.event, Failing())
    assert answers(moment) == expected


def test_a_replay_of_a_switch_that_was_broken_off_is_begun_anew(switch_path: str) -> None:
    class Failing(Observer):
        def draw(self, draw: object, run: Callable[[], None]) -> None:
            run()
            raise ZeroDivisionError

    run: Any = pocketgpu.debug(switch_path)
    moment = run.seek("f0/d1")
    expected, tick = answers(moment), run.tick_of("f0/d1")
    player = run.player
    player.go(player.at(tick - 1))
    with pytest.raises(ZeroDivisionError):
        player.play_to(player.at(tick), Failing())
    assert answers(moment) == expected


def test_a_trace_of_a_switch_that_was_broken_off_leaves_nothing_behind(switch_path: str) -> None:
    """Somebody presses Ctrl-C in the middle of it: the draw is made, but it is not over. What was there before it is
    still known."""

    class Interrupted(Observer):
        def draw(self, draw: object, run: Callable[[], None]) -> None:
            run()
            raise KeyboardInterrupt

    run: Any = pocketgpu.debug(switch_path)
    after = run.seek("f0/d0")
    before = run.seek(run.events(0)[after.event.number - 1].by_number)
    place = address_of(before.target)
    expected = before.read(place, 4096)
    assert after.read(place, 4096) != expected
    with run.player.machine.observed(Interrupted()), pytest.raises(KeyboardInterrupt):
        run.trace("f0/d0/px16,16")
    assert before.read(place, 4096) == expected


# -- what a moment says of itself -------------------------------------------------------------------------------------


def test_the_text_of_a_moment_names_the_event_and_the_target(run: Inspection) -> None:
    """One triangle after another, to a target of a known size; nothing is bound before the first list."""
    targets = {"3DS": "64x32 RGBA8 at 0x18000000", "Switch": "colour target 0 32x32 A8B8G8R8 at 0x500000000"}
    wanted = targets[run.capture.console]
    for place in ("f0/d1", "f1/d0"):
        moment = run.seek(place)
        event = run.event(place)
        assert moment.event is event and str(moment).startswith(f"after {event.title}; target: {wanted}")
        assert str(moment).endswith(f"  {place}") and repr(moment) == f"<Moment {moment}>"
    assert str(run.seek("f1")).startswith(f"at the end of the frame; target: {wanted}")
    first = run.seek("f0/e0")
    assert str(first) == f"after {run.event('f0/e0').title}; target: none  f0/e0"
    assert first.target is None and first._repr_png_() is None and "<img" not in first._repr_html_()


def test_the_data_of_a_moment(run: Inspection) -> None:
    moment = run.seek("f0/d1")
    data, registers = moment.to_json(), moment.registers()
    assert data["schema"] == "pocketgpu.moment/1" and data["address"] == "f0/d1"
    assert data["event"] == run.event("f0/d1").to_json()
    # Words of registers are those of the machine; those that are left out have the values of power-on.
    start = pocketgpu.debug(run.capture.path).seek("f0/e0").registers()
    named = {name: int(word, 16) for name, word in data["registers"].items()}
    known = {name for name in named if name in registers}
    assert len(known) > 20 and all(named[name] == registers[name] for name in known)
    assert {name for name in registers if registers[name] != start[name]} == known
    assert run.seek("f0/e0").to_json()["registers"] == {}


def test_a_moment_shows_its_target_as_a_picture(run: Inspection) -> None:
    moment = run.seek("f0/d1")
    png = moment._repr_png_()
    assert png is not None and np.array_equal(np.asarray(Image.open(io.BytesIO(png))), np.asarray(moment.target.image))
    assert f'<img alt="" src="data:image/png;base64,{base64.b64encode(png).decode()}">' in moment._repr_html_()


def test_the_target_of_a_switch_is_what_its_registers_route() -> None:
    """The second draw goes nowhere: the number of targets is 0."""
    run = SwitchScene(methods=(("SET_CT_SELECT", 0),)).look()
    texts = [str(run.seek(place)) for place in ("f0/p0", "f0/d1", "f0/p1", "f0")]
    assert texts[0] == "at the end of the pass; target: colour target 0 32x32 A8B8G8R8 at 0x500000000  f0/p0"
    assert texts[1] == "after triangles, 3 vertices; target: none  f0/d1"
    assert texts[2:] == ["at the end of the pass; target: none  f0/p1", "at the end of the frame; target: none  f0"]
    assert [str(one) for one in run.passes(0)] == [
        "colour target 0 32x32 A8B8G8R8 at 0x500000000: 1 draw, 4 events  f0/p0", "no target: 1 draw, 4 events  f0/p1",
    ]  # fmt: skip
