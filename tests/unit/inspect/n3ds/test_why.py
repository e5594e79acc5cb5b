"""Why pixels of a 3DS have their colours: values that end in the bytes that the fast path wrote."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder import Buffer, CaptureBuilder, CommandList, assemble
from pocketgpu.builder.matrices import UPRIGHT
from pocketgpu.cli import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.stage import Stage
from pocketgpu.inspect.n3ds import fragment_count
from pocketgpu.inspect.n3ds.funnel import because

PER_SCREEN = 2


@pytest.fixture(scope="module")
def run(sample_path: Path) -> Inspection:
    return pocketgpu.debug(sample_path)


def busy_pixels(array: np.ndarray, rng: random.Random, count: int) -> list[tuple[int, int]]:
    """(x, y) of pixels that differ from a neighbour, if there are any: where something was drawn."""
    edges = (array[:-1, :-1] != array[1:, 1:]).any(axis=2)
    ys, xs = np.nonzero(edges)
    if not len(xs):
        return [(rng.randrange(array.shape[1]), rng.randrange(array.shape[0]))]
    return [(int(xs[i]), int(ys[i])) for i in (rng.randrange(len(xs)) for _ in range(count))]


def check(run: Inspection, frame: int, screen: str, x: int, y: int, shown: np.ndarray) -> int:
    """Ask about a pixel, hold what is said to the picture; how many fragments were watched."""
    answer = run.why(f"f{frame}/{screen}/px{x},{y}")
    assert answer.color == tuple(shown[y, x].tolist())
    assert answer.proved, answer
    plain = json.loads(json.dumps(answer.to_json()))
    assert plain["schema"] == "pocketgpu.why/2" and plain["proved"] is True
    for one in answer.fragments:
        blend = one.stage("blend")
        if blend is not None and one.fate == "written":
            stored = list(bytes.fromhex(one.after[0]))
            if len(stored) >= 3:  # eight bits a channel, and no others to compare with
                assert blend.values["written"][:3] == stored[:3]
    lines = str(answer).splitlines()
    assert lines[0].startswith(f"f{frame}/") and "NOT proved" not in str(answer)
    return len(answer.fragments)


def test_pixels_of_the_sample(run: Inspection) -> None:
    rng, fragments = random.Random(3), 0
    screens = {name: screen.array.copy() for name, screen in run.seek("f0").screens.items()}
    for name, array in screens.items():
        for x, y in busy_pixels(array, rng, 12):
            fragments += check(run, 0, name, x, y, array)
    assert fragments > 30


def test_pixels_of_every_recording(shared_dir: Path) -> None:
    rng, fragments, pixels = random.Random(11), 0, 0
    for path in sorted((shared_dir / "captures" / "3ds").glob("*.ctf.xz")):
        run = pocketgpu.debug(path)
        for frame in sorted({0, run.frame_count - 1}):
            screens = {name: screen.array.copy() for name, screen in run.seek(f"f{frame}").screens.items()}
            for name, array in screens.items():
                for x, y in busy_pixels(array, rng, PER_SCREEN):
                    fragments += check(run, frame, name, x, y, array)
                    pixels += 1
    assert pixels > 100 and fragments > 70


def test_a_pixel_of_a_target_and_of_a_screen_are_one(run: Inspection) -> None:
    """The screen is the target turned: column x from the left is row x of memory, which runs from the top here."""
    screen = run.why("f0/px200,120")
    (moved,) = screen.touches
    (source,) = moved.sources
    target = run.seek("f0/d8").target
    x, y = source.x, target.row(source.y)
    answer = run.why(f"f0/d8/px{x},{y}")
    assert moved.event.kind == "transfer" and answer.place == source.place and answer.proved
    assert [touch.event for touch in answer.touches] == [touch.event for touch in source.touches]
    assert screen.last.event == answer.last.event
    assert answer.color[:3] == screen.color


def test_the_history_ends_where_it_is_asked(run: Inspection) -> None:
    whole = run.why("f0/px200,120")
    source = whole.touches[0].sources[0]
    target = run.seek("f0/d3").target
    early = run.why(f"f0/d3/px{source.x},{target.row(source.y)}")
    assert [str(t.event.address) for t in early.touches] == ["f0/e21", "f0/d0", "f0/d3"]
    assert [str(place) for place in early.misses] == ["f0/d1", "f0/d2"]
    assert all(touch.wrote for touch in early.touches)
    assert early.color[:3] != whole.color and early.proved


def test_a_rejected_fragment_says_why(run: Inspection) -> None:
    answer = run.why("f0/px200,120")
    (late,) = (touch for touch in answer.all_touches() if str(touch.event.address) == "f0/d8")
    (fragment,) = late.fragments
    assert "rejected by the depth test" in fragment.fate and "DEPTH_COLOR_MASK.depth_function" in fragment.fate
    stage = fragment.stage("depth test")
    assert stage.stops_all and stage.lost[0].register == "DEPTH_COLOR_MASK.depth_function"
    assert fragment.before == fragment.after and not fragment.written
    assert str(late.depth_from.address) == "f0/d7" and answer.because.startswith("draw 7")


def test_a_draw_as_a_funnel(run: Inspection) -> None:
    funnel = run.why("f0/d8")
    names = [stage.name for stage in funnel.stages]
    assert names == ["vertices", "triangles", "triangles to draw", "fragments", "colours"]
    assert funnel.stages[0].came == 264 and funnel.stages[1].came == 88 and funnel.narrowest is None
    assert all(stage.came - stage.passed <= sum(loss.count for loss in stage.lost) for stage in funnel.stages)
    (first, *_) = json.loads(json.dumps(funnel.to_json()))["stages"]
    assert (first["name"], first["came"], first["passed"]) == ("vertices", 264, 264)
    assert not any(one["count"] for one in first["lost"])
    after = run.seek("f0/d8").target.array.copy()
    run.why("f0/d8")
    assert (run.seek("f0/d8").target.array == after).all(), "looking changes nothing"


def test_a_funnel_is_proved_by_the_bytes_that_were_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of some tiles prove nothing; those of all do, if the oracle wrote what the machine writes."""
    run = small(tmp_path)
    with monkeypatch.context() as few:
        few.setattr(fragment_count, "MOST_RUNS", 16)
        some = run.why("f0/d0")
    assert some.tiles is not None and not some.proved and some.to_json()["proved"] is False
    found = run.why("f0/d0", every=True)
    assert found.tiles is None and found.proved and "NOT proved" not in str(found)
    assert found.stages[-1].passed >= some.stages[-1].passed > 0

    class Idle(fragment_count.Engine):
        """An oracle that draws nothing."""

        def get(self, kernel: object, **static: object) -> Callable[..., None]:
            return lambda *arguments: None

    monkeypatch.setattr(fragment_count, "Engine", Idle)
    wrong = run.why("f0/d0", every=True)
    assert wrong.tiles is None and not wrong.proved and "NOT proved" in str(wrong)


def test_a_funnel_counts_each_fragment_once(tmp_path: Path) -> None:
    """Rectangles anywhere between the tiles: as many fragments as pixels, or half of them where a test stops the rest.

    The target is 32 x 32; the left half of it has the depth 0.25, which is less than that of the rectangles.
    """
    boxes = [(9, 3, 6, 7), (15, 17, 3, 1)]
    capture = CaptureBuilder()
    target, depth = (capture.allocate(32 * 32 * 4, region="VRAM") for _ in range(2))
    program = assemble(".out o0 position\n.out o1 color\nmain:\nmov o0, v0\nmov o1, v1\nend")
    cl = CommandList().plain_state().render_target(target, 32, 32, depth=depth).shader(program)
    strip(cl.depth("always"), (0, 0, 16, 32), -0.25)
    cl.depth("less", write=False)
    for box in boxes:
        strip(cl, box, -0.5)
    capture.clear(target, 32, 32).fill(depth, depth + 32 * 32 * 4, 0xFFFFFF).submit(cl.end_drawing()).end_frame()
    capture.save(tmp_path / "boxes.ctf")
    run = pocketgpu.debug(tmp_path / "boxes.ctf")
    for number, (x, _, width, height) in enumerate(boxes, 1):
        found = run.why(f"f0/d{number}")
        fragments = found.stages[3]
        right = (x + width - max(x, min(16, x + width))) * height
        assert (fragments.name, fragments.came, fragments.passed) == ("fragments", width * height, right)
        assert found.tiles is None and found.proved and sum(loss.count for loss in fragments.lost) == (
            width * height - right
        )


def strip(cl: CommandList, box: tuple[int, int, int, int], z: float) -> None:
    """A white rectangle of pixels (left, bottom, width, height) on a target of 32 x 32."""
    x, y, width, height = box
    corners = [(x + right, y + up) for up in (0, height) for right in (0, width)]
    cl.draw_immediate([[(a / 16 - 1, b / 16 - 1, z, 1), (1, 1, 1, 1)] for a, b in corners], "triangle strip")


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("f0/p0", "names no pixel"), ("f9", "no frame 9.*6 frames, f0 to f5"),
        ("f0/d99", "no draw 99.*f0/d0 to f0/d15"),
        ("f0/e3", "is no draw: load 2048 bytes"), ("f0/d3/v5", "not a vertex.*shader step CAPTURE f0/d3/v5"),
        ("f0/d3/t640", "no triangle 640.*640 triangles, f0/d3/t0 to f0/d3/t639"),
        ("f0/px400,0", "has 400x240 pixels"), ("f0/bottom/px320,0", "has 320x240 pixels"),
        ("f0/screen/px0,0", "has the screens"), ("f0/d0/px240,0", "a target of 240x400"),
        ("f0/top-right/px1,1", "top screen"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked(run: Inspection, place: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        run.why(place)


def test_one_triangle(shared_dir: Path) -> None:
    """What became of a triangle: the first line concludes, and numbers are those that answers for pixels give."""
    run = pocketgpu.debug(shared_dir / "captures" / "3ds" / "textured_cube.ctf.xz")
    drawn = str(run.why("f0/px200,120").because).rpartition("/")[2]
    assert "fragments changed a colour" in run.why(f"f0/d0/{drawn}").because
    found = [run.why(f"f0/d0/t{n}") for n in range(12)]
    culled = "is culled: its corners run clockwise on the screen (FACECULLING_CONFIG drops back (clockwise))"
    assert sum(one.because == culled for one in found) == 10
    assert str(found[3]).startswith(f"f0/d0/t3: {culled}") and found[3].triangle.startswith("corners in clip space (")
    whole = run.why("f0/d0", every=True)
    alone = [run.why(f"f0/d0/t{n}", every=True) for n in range(12)]
    assert sum(one.stages[-1].passed for one in alone if one.stages[-1].name == "colours") == whole.stages[-1].passed
    assert str(run.why("f0/e7")) == str(run.why("f0/d0")), "an event that is a draw"


def scissored(folder: Path, *boxes: tuple[int, int, int, int], keeps: tuple[int, int, int, int]) -> Inspection:
    """Rectangles on a target of 32 x 32, of which the scissor keeps some (left, bottom, right, top; all inside)."""
    capture = CaptureBuilder()
    target, depth = (capture.allocate(32 * 32 * 4, region="VRAM") for _ in range(2))
    program = assemble(".out o0 position\n.out o1 color\nmain:\nmov o0, v0\nmov o1, v1\nend")
    cl = CommandList().plain_state().render_target(target, 32, 32, depth=depth).shader(program)
    cl.depth("greater")
    cl.scissor(*keeps)
    for box in boxes:
        strip(cl, box, -0.5)
    capture.clear(target, 32, 32).fill(depth, depth + 32 * 32 * 4, 0).submit(cl.end_drawing()).end_frame()
    capture.save(folder / "scissor.ctf")
    return pocketgpu.debug(folder / "scissor.ctf")


def test_a_triangle_is_followed_to_the_end(tmp_path: Path) -> None:
    """The scissor drops one rectangle; of two equal ones the depth test drops the second. Earlier triangles count."""
    run = scissored(tmp_path, (1, 1, 8, 8), (16, 16, 8, 8), (16, 16, 8, 8), keeps=(16, 16, 31, 31))
    for triangle in ("", "/t0", "/t1"):
        text = run.why(f"f0/d0{triangle}").because
        assert "outside of the scissor, which keeps 16, 16 to 31, 31" in text and "SCISSORTEST_POS" in text, text
    assert str(run.why("f0/d0/t1")).startswith("f0/d0/t1: covers no pixel: it lies outside of the scissor")
    first, second = (run.why(f"f0/d1/t{n}") for n in (0, 1))
    names = ["vertices", "triangles", "triangles to draw", "fragments", "colours"]
    assert [stage.name for stage in first.stages] == names
    assert (first.stages[0].came, first.stages[1].came) == (3, 1)
    assert first.stages[3].came + second.stages[3].came == 64 == run.why("f0/d1").stages[3].came
    assert first.proved and second.proved
    for place in ("f0/d2", "f0/d2/t0", "f0/d2/t1"):
        found = run.why(place)
        assert "fail the depth test" in found.because and "DEPTH_COLOR_MASK.depth_function greater" in found.because
        assert found.narrowest.name == "fragments" and found.depths == 0


def test_what_a_draw_wrote_is_compared_with_what_was_there(tmp_path: Path) -> None:
    """White on black changes each pixel, white on white none, and depth alone is no nothing."""
    capture = CaptureBuilder()
    target, depth = (capture.allocate(32 * 32 * 4, region="VRAM") for _ in range(2))
    program = assemble(".out o0 position\n.out o1 color\nmain:\nmov o0, v0\nmov o1, v1\nend")
    cl = CommandList().plain_state().render_target(target, 32, 32, depth=depth).shader(program)
    strip(cl.depth("always"), (0, 0, 8, 8), -0.25)
    strip(cl, (0, 0, 16, 8), -0.25)
    strip(cl.depth("always"), (0, 0, 16, 8), -0.75)
    capture.clear(target, 32, 32).fill(depth, depth + 32 * 32 * 4, 0).submit(cl.end_drawing()).end_frame()
    capture.save(tmp_path / "same.ctf")
    run = pocketgpu.debug(tmp_path / "same.ctf")
    one, two, three = (run.why(f"f0/d{n}") for n in range(3))
    assert (one.because, two.because) == ("64 fragments changed a colour", "64 of 128 fragments changed a colour")
    (loss,) = two.stages[-1].lost
    assert (loss.count, loss.reason) == (64, "leave the colour that was there")
    assert (one.depths, two.depths, three.depths) == (64, 64, 128) and three.proved
    assert three.because == (
        "128 fragments changed depth or stencil, and no colour: 128 of 128 leave the colour that was there"
    )


def test_counts_on_some_tiles_say_so(shared_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = pocketgpu.debug(shared_dir / "captures" / "3ds" / "textured_cube.ctf.xz")
    whole = run.why("f0/d0")
    assert whole.tiles is None and not whole.because.startswith("at least ")
    monkeypatch.setattr(fragment_count, "MOST_RUNS", 8)
    found = run.why("f0/d0")
    assert found.tiles[0] < found.tiles[1] and found.because.startswith("at least ")
    assert found.stages[-1].passed < whole.stages[-1].passed


def test_a_draw_with_a_geometry_program(shared_dir: Path) -> None:
    """The work area has no vertices of the draw then; that is no draw without vertices."""
    run = pocketgpu.debug(shared_dir / "captures" / "3ds" / "geoshader.ctf.xz")
    found = run.why("f0/d0")
    assert [stage.name for stage in found.stages] == ["triangles of the geometry program", "fragments", "colours"]
    assert found.stages[0].came == 3
    found.stages = [Stage(found.stages[0].name, 0, 0)]
    assert "geometry program" in because(found) and "NUMVERTICES" not in because(found)
    with pytest.raises(UsageError, match="a geometry program makes them"):
        run.why("f0/d0/t1")


def small(folder: Path, x: float = 0.8, count: int = 3, screen: str = "top", first: str = "nop") -> Inspection:
    """A triangle whose second corner has this x, drawn with so many vertices, on a screen. first: what its vertex
    program does first."""
    capture = CaptureBuilder()
    corners = [[-0.8, -0.8, -0.5], [x, -0.8, -0.5], [0, 0.8, -0.5]]
    vertices = capture.put(np.array(corners, np.float32))
    target = capture.allocate(240 * 400 * 4, region="VRAM")
    program = assemble(
        f".out o0 position\n.out o1 color\nmain:\n{first}\ndp4 o0.x, c0, v0\ndp4 o0.y, c1, v0\ndp4 o0.z, c2, v0\n"
        "dp4 o0.w, c3, v0\nmov o1, c3\nend"
    )
    cl = CommandList().plain_state().render_target(target, 240, 400)
    cl.shader(program).uniforms(0, UPRIGHT)
    cl.attributes(Buffer(vertices, [("f32", 3)])).draw_arrays(count).end_drawing()
    capture.clear(target, 240, 400, 0x203040FF).submit(cl).present(screen, target).end_frame()
    capture.save(folder / "small.ctf")
    return pocketgpu.debug(folder / "small.ctf")


def test_a_vertex_with_nan_is_named(tmp_path: Path) -> None:
    """So that `shader step` can be asked about it."""
    run = small(tmp_path, x=float("nan"))
    assert "1 has NaN in its position, v1 first" in str(run.why("f0/d0"))
    assert run.trace("f0/d0/v1").nans


@pytest.mark.parametrize(
    ("count", "first", "why"),
    [
        (0, "nop", "no vertices: NUMVERTICES is 0"), (1, "nop", "no triangle: 1 vertex makes none"),
        (2, "nop", "no triangle: 2 vertices make none"), (3, "jmpu !b1, main", "no vertices: the vertex program hangs"),
    ],
)  # fmt: skip
def test_why_a_draw_has_no_triangle(tmp_path: Path, count: int, first: str, why: str) -> None:
    """The register is to blame only if it is 0."""
    assert small(tmp_path, count=count, first=first).why("f0/d0").because == why


def test_why_a_screen_is_black(tmp_path: Path) -> None:
    """A draw of nothing is to blame for a pixel, and a transfer that goes elsewhere."""
    assert run_of_pixel(small(tmp_path, count=0)).endswith(
        "draw f0/d0 drew nothing: no vertices: NUMVERTICES is 0  f0/e1"
    )
    answer = run_of_pixel(small(tmp_path, screen="bottom"))
    assert "nothing ever wrote there; transfers of the frame go to 0x" in answer
    assert "(f0/e5), and the screen shows what is elsewhere (PDC0_ADDRESS_A0 0x" in answer


def run_of_pixel(run: Inspection) -> str:
    return str(run.why("f0/px200,120").because)


def test_a_pixel_that_nothing_touched(shared_dir: Path) -> None:
    run = pocketgpu.debug(shared_dir / "captures" / "3ds" / "textured_cube.ctf.xz")
    text = str(run.why("f0/bottom/px5,5"))
    assert "nothing ever wrote there" in text and text.endswith("; no event of the capture touched it")
    assert "values end" not in text, "no values were there"


def test_the_command_line(sample_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["why", str(sample_path), "f0/px200,120", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["why"]["hex"] == "#263692"
    assert main(["events", str(sample_path), "f0/p1", "--draws", "--json"]) == 0
    events = json.loads(capsys.readouterr().out)["events"]
    assert [event["address"] for event in events] == [f"f0/d{n}" for n in range(9, 16)]
    assert main(["events", str(sample_path), "f0/d0"]) == 0
    assert "342 words: 0x20034c10+0x558" in capsys.readouterr().out
    assert main(["events", str(sample_path), "f0/p7"]) == 2 and main(["why", str(sample_path), "x"]) == 2
