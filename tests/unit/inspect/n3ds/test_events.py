"""Events, passes and moments of runs of a 3DS."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder import Buffer, CaptureBuilder, CommandList
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.event import KINDS, Range
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.pica.front.command_list import FINALIZE_VALUE


@pytest.fixture(scope="module")
def run(sample_path: Path) -> Inspection:
    return pocketgpu.debug(sample_path)


def recordings(shared_dir: Path) -> list[Path]:
    return sorted((shared_dir / "captures" / "3ds").glob("*.ctf.xz"))


def test_events_of_a_frame(run: Inspection) -> None:
    events = run.events(0)
    assert [event.number for event in events] == list(range(len(events)))
    assert {event.kind for event in events} <= KINDS.keys()
    draws = run.draws(0)
    assert [event.draw for event in draws] == list(range(16)) and str(draws[3].address) == "f0/d3"
    assert run.event("f0/d3") is draws[3] is run.event(draws[3].by_number)
    fills = [event for event in events if event.kind == "fill"]
    assert fills[0].writes[0].address == 0x18000000 and fills[0].facts["value"] == "0x000000ff"
    assert [event.kind for event in events][-2:] == ["transfer", "show"]


@pytest.mark.parametrize("attributes", [1, 2, 3, 12])
def test_draws_say_how_much_they_draw(tmp_path: Path, attributes: int) -> None:
    """A draw whose vertices are in its list counts whole vertices, whatever number of attributes they have."""
    capture = CaptureBuilder()
    data = capture.put(np.zeros((8, 3), np.float32))
    cl = CommandList().plain_state().render_target(capture.allocate(64 * 64 * 4, region="VRAM"), 64, 64)
    for count, primitive in ((3, "triangles"), (5, "triangle strip"), (7, "triangle fan")):
        cl.draw_immediate(np.zeros((count, attributes, 4)), primitive)
    cl.attributes(Buffer(data, [("f32", 3)]), base=data).draw_arrays(8, primitive="triangle fan")
    cl.draw_elements(6, data, wide=False).draw_arrays(0).end_drawing()
    capture.submit(cl).end_frame().save(tmp_path / "draws.ctf")
    draws = pocketgpu.debug(tmp_path / "draws.ctf").draws(0)
    assert [event.title for event in draws] == [
        "draw 0: 3 vertices, triangles", "draw 1: 5 vertices, strip", "draw 2: 7 vertices, fan",
        "draw 3: 8 vertices, fan", "draw 4: 6 indices, geometry", "draw 5: 0 vertices, triangles",
    ]  # fmt: skip
    assert [event.facts["vertices"] for event in draws] == [3, 5, 7, 8, 6, 0]
    assert [event.facts["kind"] for event in draws] == ["immediate"] * 3 + ["arrays", "elements", "arrays"]


def test_events_say_what_they_read(tmp_path: Path) -> None:
    """Indices and the vertices that they name, textures that a combiner uses, targets that are tested or blended, the
    input of transfers and copies, and the words of lists."""
    capture = CaptureBuilder()
    vertices = capture.put(np.zeros((9, 3), np.float32))
    indices = capture.put(np.array([2, 7, 5], np.uint16))
    texels, target = capture.put(np.zeros(8 * 8 * 4, np.uint8)), capture.allocate(64 * 64 * 4, region="VRAM")
    cl = CommandList().plain_state().render_target(target, 64, 64)
    cl.attributes(Buffer(vertices, [("f32", 3)]), base=vertices).draw_arrays(4, first=3)
    cl.draw_elements(3, indices).texture(0, texels, 8, 8).combiner(0, ("replace", "texture 0"))
    cl.draw_arrays(3).blend("one", "one").draw_immediate(np.zeros((3, 1, 4))).end_drawing()
    capture.submit(cl).transfer(target, texels, 64, 64).end_frame().save(tmp_path / "reads.ctf")
    run = pocketgpu.debug(tmp_path / "reads.ctf")
    first, named, textured, blended = (event.reads for event in run.draws(0))
    assert first == (Range(vertices + 3 * 12, 4 * 12),)
    assert named == (Range(indices, 6), Range(vertices + 2 * 12, 6 * 12))
    assert textured == (Range(texels, 8 * 8 * 4), Range(vertices, 3 * 12))
    assert blended == (Range(target, 64 * 64 * 4), Range(texels, 8 * 8 * 4))
    (words,) = (event for event in run.events(0) if event.kind == "list")
    assert words.reads == words.words.spans  # type: ignore[union-attr]
    (moved,) = (event for event in run.events(0) if event.kind == "transfer")
    assert moved.reads == (Range(target, 64 * 64 * 4),)


def test_passes_follow_the_render_target(run: Inspection) -> None:
    passes = run.passes(0)
    assert [len(row.draws) for row in passes] == [9, 7]
    assert [event for row in passes for event in row.events] == list(run.events(0))
    assert passes[1].events[0].kind == "fill", "what is done between two passes belongs to the later one"
    assert {event.pass_ for event in passes[1].events} == {1} and str(passes[1].address) == "f0/p1"


def test_words_of_draws_make_up_the_list(run: Inspection) -> None:
    """The words of a list's draws follow each other, and what is left ends the list."""
    lists = [event for event in run.events(0) if event.kind == "list"]
    draws = iter(run.draws(0))
    for event in lists:
        whole = event.words
        assert whole is not None and whole.values.nbytes == event.facts["size"] == whole.spans[0].size
        count = sum(1 for other in run.events(0) if other.draw is not None and _follows(run, event, other))
        parts = [next(draws).words for _ in range(count)]
        joined = np.concatenate([part.values for part in parts if part is not None])
        assert (whole.values[: len(joined)] == joined).all()
        assert FINALIZE_VALUE in whole.values[len(joined) :].tolist()
        starts = [part.spans[0].address for part in parts if part is not None]
        ends = [part.spans[-1].end for part in parts if part is not None]
        assert starts == [whole.spans[0].address, *ends[:-1]]
    assert next(draws, None) is None


def _follows(run: Inspection, first: object, draw: object) -> bool:
    latest = None
    for event in run.events(0):
        latest = event if event.kind == "list" else latest
        if event is draw:
            return latest is first
    raise AssertionError


def test_moments_in_any_order(run: Inspection) -> None:
    (frame,) = pocketgpu.open(run.capture.path).render(range(1))
    end = run.seek("f0")
    assert (end.screens["top"].array == frame.top.array).all()
    late, early = run.seek("f0/d8"), None
    late_picture, registers = late.target.array.copy(), late.registers()
    early = run.seek("f0/d0")
    early_picture = early.target.array.copy()
    assert (early_picture != late_picture).any() and early.registers() != registers
    again = run.seek("f0/d8")
    assert (again.target.array == late_picture).all() and again.registers() == registers
    cleared = run.seek("f0/e22")
    assert set(cleared.read(0x18000000, 64)) == {0, 255}, "drawn to by nobody yet"
    assert (run.seek("f0").screens["top"].array == frame.top.array).all()


def test_a_moment_behind_a_pass(run: Inspection) -> None:
    """It is that of the pass's last event, not of the frame's end."""
    last = run.passes(0)[0].events[-1]
    moment = run.seek("f0/p0")
    assert moment.event is not None and moment.event.number == last.number
    assert moment.target.address == 0x18000000
    assert run.seek("f0").target.address != 0x18000000, "the second pass draws to another target"
    with pytest.raises(UsageError, match=r"no pass 9.*2 passes, f0/p0 to f0/p1"):
        run.seek("f0/p9")


def test_who_wrote(run: Inspection) -> None:
    last = run.frame_count - 1
    assert str(run.who_wrote(0x18000000).address) == f"f{last}/d8"  # type: ignore[union-attr]
    assert str(run.who_wrote(0x18000000, before="f1/e0").address) == "f0/d8"  # type: ignore[union-attr]
    assert str(run.who_wrote(0x18000000, before="f0/d0").address) == "f0/e21"  # type: ignore[union-attr]
    assert run.who_wrote(0x18000000, before="f0/e21") is None
    assert run.who_wrote(0x20000000).kind == "load"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("place", "why"),
    [("f99", "has 6 frames"), ("f0/d16", "no draw 16"), ("f0/e49", "has 49 events"), ("f0/p0", "names no event")],
)
def test_what_is_not_there(run: Inspection, place: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        run.event(place) if "/" in place else run.events(int(place[1:]))


def test_moments_of_recordings_are_what_render_shows(shared_dir: Path) -> None:
    """At a frame's end in any order, and after its last event, which does not differ but for what VBlank does."""
    for path in recordings(shared_dir):
        capture = pocketgpu.open(path)
        shown = {f.index: {name: s.array for name, s in f.screens.items()} for f in capture.render()}
        run = pocketgpu.debug(path)
        last = capture.frame_count - 1
        for frame in (last, 0, last // 2):
            screens = run.seek(f"f{frame}").screens
            assert screens.keys() == shown[frame].keys()
            assert all((screens[name].array == array).all() for name, array in shown[frame].items()), (path.name, frame)
            run.seek(f"f{frame}/e{len(run.events(frame)) - 1}")
            events = run.events(frame)
            assert sum(event.draw is not None for event in events) == len(run.draws(frame))


def test_registers_that_a_draw_wrote(run: Inspection) -> None:
    """They lead from the registers of the draw before to its own."""
    before, after = run.seek("f0/d2").registers(), run.seek("f0/d3").registers()
    written = run.written("f0/d3")
    assert written[0] == {"id": "0x245", "name": "START_DRAW_FUNC0", "old": "0x00000000", "new": "0x00000001"}
    changed = {name for name in after if after[name] != before[name]}
    last = {one["name"]: int(one["new"], 16) for one in written}
    assert changed and changed <= last.keys()
    assert all(last[name] == after[name] for name in changed if "FLOATUNIFORM_INDEX" not in name)
    with pytest.raises(UsageError, match="only draws"):
        run.written("f0/e0")
