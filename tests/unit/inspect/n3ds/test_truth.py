"""What the funnel of a draw says is held to counts by hand: random rectangles whose fate the test has planted."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.builder import CaptureBuilder, CommandList, assemble
from pocketgpu.inspect.model.inspection import Inspection

SIDE = 32
PROGRAM = ".out o0 position\n.out o1 color\nmain:\nmov o0, v0\nmov o1, v1\nend"
COMPARE = {
    "never": lambda a, b: a != a, "always": lambda a, b: a == a, "equal": np.equal, "not equal": np.not_equal,
    "less": np.less, "less or equal": np.less_equal, "greater": np.greater, "greater or equal": np.greater_equal,
}  # fmt: skip
Box = tuple[int, int, int, int]


def corners(box: Box, primitive: str, turned: bool) -> list[tuple[int, int]]:
    """Corners of a rectangle (left, bottom, width, height) as two triangles; counter-clockwise unless turned."""
    x, y, width, height = box
    a, b, c, d = (x, y), (x + width, y), (x + width, y + height), (x, y + height)
    found = {"triangles": [a, b, c, a, c, d], "triangle strip": [a, b, d, c], "triangle fan": [a, b, c, d]}[primitive]
    if turned:
        mirrored = {a: a, b: d, c: c, d: b}
        found = [mirrored[corner] for corner in found]
    return found


def rectangle(cl: CommandList, box: Box, z: float, primitive: str = "triangles", turned: bool = False) -> None:
    half = SIDE / 2
    cl.draw_immediate(
        [[(a / half - 1, b / half - 1, z, 1), (1, 1, 1, 1)] for a, b in corners(box, primitive, turned)], primitive
    )


def inside(box: Box) -> np.ndarray:
    """(SIDE, SIDE) bool: pixels of a rectangle, row 0 at the bottom."""
    x, y, width, height = box
    found = np.zeros((SIDE, SIDE), bool)
    found[y : y + height, x : x + width] = True
    return found


def scene(folder: Path, format: str, draws: Callable[[CommandList], None]) -> Inspection:
    capture = CaptureBuilder()
    target, depth = (capture.allocate(SIDE * SIDE * 4, region="VRAM") for _ in range(2))
    cl = CommandList().plain_state().render_target(target, SIDE, SIDE, depth=depth, depth_format=format)
    draws(cl.shader(assemble(PROGRAM)))
    capture.clear(target, SIDE, SIDE).fill(depth, depth + SIDE * SIDE * 4, 0)
    capture.submit(cl.end_drawing()).end_frame()
    capture.save(folder / "scene.ctf")
    return pocketgpu.debug(folder / "scene.ctf")


def planted(
    half: Box | None, keeps: Box, cull: str, function: str | None, rectangles: list[tuple[Box, float, str, bool]]
) -> Callable[[CommandList], None]:
    """Draws: a rectangle of depth 0.5 alone, if wanted; then rectangles under a scissor, culling and a depth test."""
    x, y, width, height = keeps

    def draws(cl: CommandList) -> None:
        if half is not None:
            rectangle(cl.depth("always", colors=""), half, -0.5)
        cl.scissor(x, y, x + width - 1, y + height - 1)
        cl.write("FACECULLING_CONFIG", mode=cull).depth(function, write=False)
        for one in rectangles:
            rectangle(cl, *one)

    return draws


def box_of(rng: random.Random) -> Box:
    x, y = rng.randrange(SIDE - 2), rng.randrange(SIDE - 2)
    return x, y, rng.randint(1, SIDE - x), rng.randint(1, SIDE - y)


@pytest.mark.parametrize("format", ["D16", "D24", "D24S8"])
@pytest.mark.parametrize("primitive", ["triangles", "triangle strip", "triangle fan"])
def test_each_stage_counts_what_was_planted(tmp_path: Path, primitive: str, format: str) -> None:
    """Equality at each stage: culling, the scissor, depth against two planted depths, changed bytes."""
    rng = random.Random(f"{primitive} {format}")
    for _ in range(6):
        half, box, scissor = box_of(rng), box_of(rng), box_of(rng)
        function, turned = rng.choice(sorted(COMPARE)), rng.random() < 0.5
        cull = rng.choice(["none", "front (counter-clockwise)", "back (clockwise)"])
        z = rng.choice([0.25, 0.5, 0.75])

        draws = planted(half, scissor, cull, function, [(box, -z, primitive, turned)] * 2)
        run = scene(tmp_path, format, draws)
        stored = np.where(inside(half), 0.5, 0.0)
        covered = inside(box) & inside(scissor)
        passed = covered & COMPARE[function](np.full((SIDE, SIDE), z), stored)
        culled = cull != "none" and turned == cull.startswith("back")
        for draw, changed in ((1, int(passed.sum())), (2, 0)):
            found = run.why(f"f0/d{draw}", every=True)
            stages = {stage.name: (stage.came, stage.passed) for stage in found.stages}
            said = (format, primitive, half, box, scissor, function, turned, cull, z, str(found))
            assert stages["triangles"] == (2, 0 if culled else 2), said
            if culled:
                assert found.because.startswith("no triangles left: 2 of 2 are culled"), said
                assert ("clockwise on the screen" in found.because) and cull in found.because, said
                continue
            assert stages.get("fragments", (0, 0)) == (int(covered.sum()), int(passed.sum())), said
            if passed.any():
                assert stages["colours"] == (int(passed.sum()), changed), said
            elif covered.any():
                assert f"DEPTH_COLOR_MASK.depth_function {function}" in found.because, said
            assert found.proved and not found.depths, said


def test_a_draw_without_pixels_names_the_side_of_the_scissor(tmp_path: Path) -> None:
    """A scissor on each side of a rectangle, and one that shares a row or a column with it."""
    box = (12, 12, 8, 8)
    beside = [(0, 12, 12, 8), (20, 12, 12, 8), (12, 0, 8, 12), (12, 20, 8, 12)]
    touching = [(0, 12, 13, 8), (19, 12, 12, 8), (12, 0, 8, 13), (12, 19, 8, 12)]
    for keeps, count in (*((one, 0) for one in beside), *((one, 8) for one in touching)):
        x, y, width, height = keeps

        draws = planted(None, keeps, "none", None, [(box, -0.5, "triangles", False)])
        found = scene(tmp_path, "D24S8", draws).why("f0/d0", every=True)
        stages = {stage.name: stage.passed for stage in found.stages}
        assert stages.get("colours", 0) == count, (keeps, str(found))
        if not count:
            assert f"the scissor, which keeps {x}, {y} to {x + width - 1}, {y + height - 1}" in found.because, keeps


def test_the_values_that_a_test_compared_are_those_of_the_format(tmp_path: Path) -> None:
    """Depth as a fraction of the largest value of each format."""

    def draws(cl: CommandList) -> None:
        rectangle(cl.depth("always", colors=""), (0, 0, SIDE, SIDE), -0.75)
        rectangle(cl.depth("greater"), (4, 4, 8, 8), -0.25)

    for format in ("D16", "D24", "D24S8"):
        found = scene(tmp_path, format, draws).why("f0/d1")
        assert "their depth is 0.25, the buffer has 0.75" in found.because, (format, found.because)


# -- stencil and alpha ------------------------------------------------------------------------------------------------
CODES = ("never", "always", "equal", "not equal", "less", "less or equal", "greater", "greater or equal")
"""Functions of tests in the order of their codes."""


def stencil_after(action: int, old: np.ndarray, reference: int) -> np.ndarray:
    """Stencil values after an action: keep, zero, replace, up, down, invert, up and down around."""
    return [
        old, old * 0, old * 0 + reference, np.minimum(old + 1, 255), np.maximum(old - 1, 0), ~old & 255, old + 1 & 255,
        old - 1 & 255,
    ][action]  # fmt: skip


@pytest.mark.parametrize("code", range(8))
def test_counts_of_the_stencil_test(tmp_path: Path, code: int) -> None:
    """A rectangle over two planted stencil values: equality of what passes, of what changes, and of what is said."""
    rng = random.Random(f"stencil {code}")
    for _ in range(5):
        half, box = box_of(rng), box_of(rng)
        planted, reference = rng.choice([0, 1, 0x55, 0xF0, 0xFF]), rng.choice([0, 1, 0x55, 0xF1, 0xFF])
        read, write = rng.choice([0xFF, 0xFF, 0x0F, 0x01]), rng.choice([0xFF, 0xFF, 0xF0, 0])
        actions = [rng.randrange(8) for _ in range(3)]
        depth = rng.choice(["always", "never"])
        word = 1 | code << 4 | write << 8 | reference << 16 | read << 24

        def draws(
            cl: CommandList, half: Box = half, box: Box = box, planted: int = planted, word: int = word,
            actions: list[int] = actions, depth: str = depth,
        ) -> None:  # fmt: skip
            cl.depth("always", write=False, colors="")
            cl.write_word("STENCIL_TEST", 1 | 1 << 4 | 0xFF << 8 | planted << 16 | 0xFF << 24)
            cl.write_word("STENCIL_OP", 2 << 8)
            rectangle(cl, half, -0.5)
            cl.depth(depth, write=False).write_word("STENCIL_TEST", word)
            cl.write_word("STENCIL_OP", actions[0] | actions[1] << 4 | actions[2] << 8)
            rectangle(cl, box, -0.5)

        found = scene(tmp_path, "D24S8", draws).why("f0/d1", every=True)
        stored = np.where(inside(half), planted, 0)
        passes = COMPARE[CODES[code]](np.full(stored.shape, reference & read), stored & read)
        drawn = depth == "always"
        action = np.where(passes, actions[2 if drawn else 1], actions[0])
        after = np.select([action == n for n in range(8)], [stencil_after(n, stored, reference) for n in range(8)])
        after = after & write | stored & ~write
        covered = inside(box)
        stages = {stage.name: stage for stage in found.stages}
        said = (half, box, planted, f"{word:#x}", actions, depth, str(found))
        fragments = stages["fragments"]
        left = int((covered & passes & drawn).sum())
        assert (fragments.came, fragments.passed) == (int(covered.sum()), left), said
        failed = int((covered & ~passes).sum())
        lost = {loss.register: (loss.count, loss.reason) for loss in fragments.lost}
        name = f"STENCIL_TEST.function {CODES[code]}"
        if failed:
            count, reason = lost[name]
            values = sorted({int(value) for value in (stored & read)[covered]})
            buffer = str(values[0]) if len(values) == 1 else f"{values[0]} to {values[-1]}"
            word_ = "fails" if failed == 1 else "fail"
            assert (count, reason) == (
                failed, f"{word_} the stencil test: the reference is {reference & read}, the buffer has {buffer}",
            ), said  # fmt: skip
        else:
            assert name not in lost, said
        if not drawn and failed < covered.sum():
            assert lost["DEPTH_COLOR_MASK.depth_function never"][0] == covered.sum() - failed, said
        changed = int((covered & (after != stored)).sum())
        assert found.depths == changed and found.proved, said
        if not left:
            reasons = {name: failed, "DEPTH_COLOR_MASK.depth_function never": int(covered.sum()) - failed}
            most = max(reasons.values())
            assert found.because.startswith(f"no fragments left: {most} of {covered.sum()} fail"), said
            assert any(f"({reason})" in found.because for reason, count in reasons.items() if count == most), said
        if left:
            assert (stages["colours"].came, stages["colours"].passed) == (left, left), said


@pytest.mark.parametrize("code", range(8))
def test_counts_of_the_alpha_test(tmp_path: Path, code: int) -> None:
    """Two draws whose alpha the test has planted, one on each side of the reference, and one with it."""
    box = (3, 5, 9, 4)
    for reference in (0, 7, 100, 255):
        alphas = sorted({max(reference - 1, 0), reference, min(reference + 1, 255)})

        def draws(cl: CommandList, alphas: list[int] = alphas, reference: int = reference) -> None:
            cl.depth(None, write=False).write_word("FRAGOP_ALPHA_TEST", 1 | code << 4 | reference << 8)
            cl.combiner(0, ("replace", "constant"), ("replace", "constant"))
            for alpha in alphas:
                cl.write_word("TEXENV0_COLOR", 0x102030 | alpha << 24)
                rectangle(cl, box, -0.5)

        run = scene(tmp_path, "D24S8", draws)
        for draw, alpha in enumerate(alphas):
            found = run.why(f"f0/d{draw}", every=True)
            passes = bool(COMPARE[CODES[code]](np.array(alpha), np.array(reference)))
            fragments = found.stages[3]
            said = (alpha, reference, str(found))
            assert (fragments.name, fragments.came, fragments.passed) == ("fragments", 36, 36 * passes), said
            if not passes:
                assert [(loss.count, loss.register) for loss in fragments.lost] == [
                    (36, f"FRAGOP_ALPHA_TEST.function {CODES[code]}")
                ], said
                text = f"alpha is {alpha}, FRAGOP_ALPHA_TEST.reference is {reference}"
                assert f"36 of 36 fail the alpha test: {text} (" in found.because, said


# -- triangles --------------------------------------------------------------------------------------------------------
def numbered(primitive: str, count: int) -> list[tuple[int, int, int]]:
    """The vertices of each triangle."""
    if primitive == "triangles":
        return [(n, n + 1, n + 2) for n in range(0, count - 2, 3)]
    if primitive == "triangle fan":
        return [(0, n, n + 1) for n in range(1, count - 1)]
    return [(n, n + 1, n + 2) for n in range(count - 2)]


@pytest.mark.parametrize("primitive", ["triangles", "triangle strip", "triangle fan"])
def test_vertices_with_nan_and_their_triangles(tmp_path: Path, primitive: str) -> None:
    """Each component that is NaN; triangles with such a corner are gone, the others are drawn."""
    rng = random.Random(f"nan {primitive}")
    for _ in range(6):
        count = rng.choice([3, 6, 9, 12])
        bad = sorted(rng.sample(range(count), rng.randint(1, 3)))
        points = [
            [[a / 8 - 1, (n % 3) * 0.5 - 0.75 + n / 64, -0.5, 1], [1, 1, 1, 1]]
            for n, a in enumerate(range(1, count + 1))
        ]
        for n in bad:
            points[n][0][rng.randrange(4)] = float("nan")
        found = scene(tmp_path, "D24S8", lambda cl, points=points: cl.draw_immediate(points, primitive)).why("f0/d0")
        vertices, triangles = found.stages[:2]
        said = (count, bad, str(found))
        assert (vertices.name, vertices.came, vertices.passed) == ("vertices", count, count - len(bad)), said
        (loss,) = vertices.lost
        have = "has NaN in its position" if len(bad) == 1 else "have NaN in their position"
        assert (loss.count, loss.reason) == (len(bad), f"{have}, v{bad[0]} first"), said
        parts = numbered(primitive, count)
        gone = sum(any(n in bad for n in part) for part in parts)
        lost = {one.reason.partition(" ")[2]: one.count for one in triangles.lost}
        assert triangles.came == len(parts), said
        assert lost.get("a corner with NaN", 0) == gone, said
        if gone == len(parts):
            assert found.because.startswith("no triangles left"), said


@pytest.mark.parametrize("primitive", ["triangles", "triangle strip", "triangle fan"])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("code", "name"), [(0, "none"), (1, "front (counter-clockwise)"), (2, "back (clockwise)"), (3, "none, code 3")]
)
def test_sides_of_culling_by_their_codes(tmp_path: Path, code: int, name: str, turned: bool, primitive: str) -> None:
    """Code 1 drops what runs counter-clockwise on the screen, 2 what runs clockwise; 0 and 3 drop nothing."""

    def draws(cl: CommandList) -> None:
        cl.depth(None, write=False).write_word("FACECULLING_CONFIG", code)
        rectangle(cl, (8, 8, 8, 8), -0.5, primitive, turned)

    run = scene(tmp_path, "D24S8", draws)
    found = run.why("f0/d0", every=True)
    dropped = code == (2 if turned else 1)
    drawn = run.seek("f0/d0").target.array[..., 0] == 255
    assert int(drawn.sum()) == (0 if dropped else 64)
    assert (found.stages[1].came, found.stages[1].passed) == (2, 0 if dropped else 2)
    if dropped:
        turn = "clockwise" if turned else "counter-clockwise"
        text = f"2 of 2 are culled: their corners run {turn} on the screen (FACECULLING_CONFIG drops {name})"
        assert found.because == f"no triangles left: {text}"
        alone = run.why("f0/d0/t1").because
        assert alone == f"is culled: its corners run {turn} on the screen (FACECULLING_CONFIG drops {name})"
    else:
        assert found.because == "64 fragments changed a colour"


# What all corners of a triangle are, and what is said of it. Depth runs from -w at the near plane to 0 at the far one.
BEYOND = [
    ([(2, 0, -0.5, 1), (3, 0, -0.5, 1), (2, 0.5, -0.5, 1)], ["right of the view"]),
    ([(-2, 0, -0.5, 1), (-3, 0, -0.5, 1), (-2, 0.5, -0.5, 1)], ["left of it"]),
    ([(0, 2, -0.5, 1), (0.5, 2, -0.5, 1), (0, 3, -0.5, 1)], ["above it"]),
    ([(0, -2, -0.5, 1), (0.5, -2, -0.5, 1), (0, -3, -0.5, 1)], ["below it"]),
    ([(0, 0, 0.25, 1), (0.5, 0, 0.25, 1), (0, 0.5, 0.25, 1)], ["beyond the far plane"]),
    ([(0, 0, -1.25, 1), (0.5, 0, -1.25, 1), (0, 0.5, -1.25, 1)], ["nearer than the near plane"]),
    ([(0, 0, 0.5, -1), (0.5, 0, 0.5, -1), (0, 0.5, 0.5, -1)], ["behind the eye (w too small)"]),
    ([(9, 9, -2.0, -1), (9, 8, -2.0, -1), (8, 9, -2.0, -1)], ["behind the eye (w too small)"]),
    ([(0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 0, 0)], ["behind the eye (w too small)"]),
    ([(2, 3, -0.5, 1), (3, 2, -0.5, 1), (3, 3, -0.5, 1)], ["right of the view", "above it"]),
    # A corner in the view, or on each side of a plane: it is not beyond it.
    ([(0, 0, -0.5, 1), (3, 0, -0.5, 1), (0, 3, -0.5, 1)], []),
    ([(1, 0, -0.5, 1), (3, 0, -0.5, 1), (3, 0.5, -0.5, 1)], []),
    ([(0, 0, 0, 1), (0.5, 0, 0.5, 1), (0, 0.5, 0.5, 1)], []),
    ([(0, 0, 0.5, -1), (0.5, 0, -0.5, 1), (0, 0.5, -0.5, 1)], []),
]  # fmt: skip


def test_what_clipping_drops_is_beyond_the_plane_that_is_named(tmp_path: Path) -> None:
    """Each triangle alone, and all of them in a draw with how many are beyond each plane."""

    def draws(cl: CommandList) -> None:
        cl.depth(None, write=False)
        cl.draw_immediate([[corner, (1, 1, 1, 1)] for corners_, _ in BEYOND for corner in corners_])

    run = scene(tmp_path, "D24S8", draws)
    whole = run.why("f0/d0", every=True).stages[1]
    assert (whole.came, whole.passed) == (len(BEYOND), sum(not planes for _, planes in BEYOND))
    names = sorted({plane for _, planes in BEYOND for plane in planes})
    told = [loss.reason.partition(" ")[2].partition(": ") for loss in whole.lost]
    counts = {name: loss.count for (name, _, _), loss in zip(told, whole.lost, strict=True)}
    numbers = {name: numbers for name, _, numbers in told if numbers}
    assert numbers == {
        "beyond the far plane": "z is 0.25, w is 1", "nearer than the near plane": "z is -1.25, w is 1",
        "behind the eye (w too small)": "w is -1 to 0",
    }  # fmt: skip
    assert counts == {name: sum(name in planes for _, planes in BEYOND) for name in names}
    for n, (corners_, planes) in enumerate(BEYOND):
        said = run.why(f"f0/d0/t{n}").because
        if planes:
            assert said == f"is clipped away: it lies {' and '.join(planes)} (the position that the program gives)"
        else:
            assert "clipped away" not in said, (corners_, said)


@pytest.mark.parametrize(("above", "below", "turned"), [(4, 2, 1), (2, 4, 1), (1, 2, 4), (2, 1, 4), (1, 4, 2)])
def test_the_first_line_is_about_what_stopped_most(tmp_path: Path, above: int, below: int, turned: int) -> None:
    """Triangles of one draw, above the view, below it, and culled."""

    def draws(cl: CommandList) -> None:
        cl.depth(None, write=False).write("FACECULLING_CONFIG", mode="back (clockwise)")
        parts = [[(0, 2), (1, 2), (0, 3)]] * above + [[(0, -3), (1, -3), (0, -2)]] * below
        parts += [[(0, 0), (0, 0.5), (0.5, 0)]] * turned
        cl.draw_immediate([[(x, y, -0.5, 1), (1, 1, 1, 1)] for part in parts for x, y in part])

    found = scene(tmp_path, "D24S8", draws).why("f0/d0")
    counts = {
        "above it (the position that the program gives)": above,
        "below it (the position that the program gives)": below,
        "culled: their corners run clockwise on the screen (FACECULLING_CONFIG drops back (clockwise))": turned,
    }
    text = max(counts, key=lambda key: counts[key])
    verb = "are" if turned == counts[text] else "lie"
    start = f"no triangles left: {counts[text]} of {above + below + turned} {verb} "
    assert found.because == start + text
    assert sorted(loss.count for loss in found.stages[1].lost) == sorted(counts.values())


def test_the_plane_of_the_program_is_named_by_its_register(tmp_path: Path) -> None:
    """FRAGOP_CLIP: a plane that keeps x above 0.25; off, and on for a triangle on each side."""
    for enabled, x, dropped in ((False, -0.5, False), (True, -0.5, True), (True, 0.5, False)):

        def draws(cl: CommandList, enabled: bool = enabled, x: float = x) -> None:
            cl.depth(None, write=False).write("FRAGOP_CLIP", enable=enabled)
            for n, value in enumerate((1.0, 0.0, 0.0, -0.25)):
                cl.write(f"FRAGOP_CLIP_DATA{n}", value=value)
            cl.draw_immediate([[(x + a, b, -0.5, 1), (1, 1, 1, 1)] for a, b in ((0, 0), (0.25, 0), (0, 0.25))])

        found = scene(tmp_path, "D24S8", draws).why("f0/d0")
        text = "1 of 1 lies cut off by the plane of FRAGOP_CLIP (FRAGOP_CLIP)"
        assert (text in found.because) == dropped, (enabled, x, found.because)


def several(cl: CommandList, boxes: list[Box]) -> None:
    """Rectangles in one draw, two triangles each."""
    half = SIDE / 2
    points = [point for box in boxes for point in corners(box, "triangles", False)]
    cl.draw_immediate([[(a / half - 1, b / half - 1, -0.5, 1), (1, 1, 1, 1)] for a, b in points])


def apart(box: Box, other: Box) -> bool:
    """Whether two rectangles share no pixel."""
    return not (inside(box) & inside(other)).any()


@pytest.mark.parametrize("seed", range(8))
def test_triangles_of_one_draw_that_the_scissor_drops_are_counted(tmp_path: Path, seed: int) -> None:
    """Some are inside of it and some outside: each has its own reason, not that of all of them together."""
    rng = random.Random(f"scissor {seed}")
    boxes, keeps = [box_of(rng) for _ in range(6)], (rng.randrange(20), rng.randrange(20), rng.randint(1, 9), 7)
    x, y, width, height = keeps

    def draws(cl: CommandList) -> None:
        cl.depth(None, write=False).scissor(x, y, x + width - 1, y + height - 1)
        several(cl, boxes)

    found = scene(tmp_path, "D24S8", draws).why("f0/d0", every=True)
    stage = found.stages[2]
    dropped = 2 * sum(apart(box, keeps) for box in boxes)
    assert (stage.name, stage.came, stage.passed) == ("triangles to draw", 12, 12 - dropped), (boxes, keeps, str(found))
    text = f"lie outside of the scissor, which keeps {x}, {y} to {x + width - 1}, {y + height - 1}"
    assert [(loss.count, loss.reason) for loss in stage.lost] == ([(dropped, text)] if dropped else []), (boxes, keeps)
    covered = sum(int((inside(box) & inside(keeps)).sum()) for box in boxes)
    assert (found.stages[3].came if covered else 0) == covered


def test_triangles_of_one_draw_with_different_fates(tmp_path: Path) -> None:
    """A visible one, one outside of the scissor, two outside of the target, two too small, and one that clipping cuts
    into several."""

    def draws(cl: CommandList) -> None:
        cl.depth(None, write=False).viewport(8, 0, SIDE, SIDE).scissor(0, 0, 23, 31)
        small, half = [(0.3, 0.3), (0.4, 0.3), (0.3, 0.4)], SIDE / 2
        points = [
            [(2, 2), (8, 2), (2, 8)],  # 8 to the right in the target: 10 to 16
            [(17, 2), (20, 2), (17, 8)],  # 25 to 28: outside of the scissor
            [(25, 2), (29, 2), (25, 8)], [(26, 20), (29, 20), (26, 28)],  # from 33 on: outside of the target
            [(4 + a, 12 + b) for a, b in small], [(5 + a, 20 + b) for a, b in small],
            [(-20, 16), (12, 10), (12, 30)],  # cut by the left side of the view
        ]  # fmt: skip
        cl.draw_immediate([[(a / half - 1, b / half - 1, -0.5, 1), (1, 1, 1, 1)] for part in points for a, b in part])

    run = scene(tmp_path, "D24S8", draws)
    stage = run.why("f0/d0", every=True).stages[2]
    lost = {(loss.count, loss.reason.partition(":")[0].partition(",")[0]) for loss in stage.lost}
    assert {(2, "lie outside of the target of 32x32"), (1, "lies outside of the scissor")} <= lost, stage
    alone = [run.why(f"f0/d0/t{n}", every=True).because for n in range(7)]
    assert "changed a colour" in alone[0] and "changed a colour" in alone[6]
    assert "outside of the scissor, which keeps 0, 0 to 23, 31" in alone[1]
    assert all("outside of the target of 32x32: the viewport is 32x32 at 8, 0" in text for text in alone[2:4])
    assert all(text.startswith("covers no pixel") for text in alone[4:6])
    assert stage.came == 7 and stage.came - stage.passed == sum(loss.count for loss in stage.lost)


# -- colours that stay ------------------------------------------------------------------------------------------------
FACTORS = (
    "zero", "one", "source color", "1 - source color", "destination color", "1 - destination color", "source alpha",
    "1 - source alpha", "destination alpha", "1 - destination alpha", "constant color", "1 - constant color",
    "constant alpha", "1 - constant alpha", "source alpha, saturated",
)  # fmt: skip
EQUATIONS = ("add", "subtract", "reverse subtract", "minimum", "maximum", "add, code 5", "add, code 6", "add, code 7")


def test_blending_that_leaves_the_target_is_named_by_its_bits(tmp_path: Path) -> None:
    """Black on black: each equation and each factor by its code."""
    cases = [
        *((equation, 0, 1) for equation in range(8)), *((0, source, 1) for source in range(15)),
        *((0, 0, target) for target in range(15)),
    ]  # fmt: skip

    def draws(cl: CommandList) -> None:
        cl.depth(None, write=False).combiner(0, ("replace", "constant"), ("replace", "constant"))
        for equation, source, target in cases:
            cl.write_word("BLEND_FUNC", equation | equation << 8 | source << 16 | target << 20 | 1 << 28)
            rectangle(cl, (8, 8, 2, 2), -0.5)

    run = scene(tmp_path, "D24S8", draws)
    for n, (equation, source, target) in enumerate(cases):
        found = run.why(f"f0/d{n}").stages[-1]
        (loss,) = found.lost
        text = "leave the colour that was there"
        if (source, target) != (1, 0):
            text += f": blending is {EQUATIONS[equation]} of {FACTORS[source]} and {FACTORS[target]}"
        assert (found.name, found.came, found.passed, loss.count, loss.reason) == ("colours", 4, 0, 4, text)
        assert loss.register == ("BLEND_FUNC" if (source, target) != (1, 0) else "")


LOGIC = (
    "clear", "and", "and reverse", "copy", "set", "copy inverted", "keep", "invert", "nand", "or", "nor", "xor",
    "equivalent", "and inverted", "or reverse", "or inverted",
)  # fmt: skip


def test_logic_operations_that_leave_the_target_are_named_by_their_bits(tmp_path: Path) -> None:
    """Black on black: those that give black again leave it, the others make it white."""

    def draws(cl: CommandList) -> None:
        cl.depth(None, write=False).combiner(0, ("replace", "constant"), ("replace", "constant"))
        cl.write_word("COLOR_OPERATION", 0xE4 << 16)
        for code in range(16):
            cl.write_word("LOGIC_OP", 0)
            rectangle(cl, (8, 8, 2, 2), -0.5)
            cl.write_word("LOGIC_OP", code)
            rectangle(cl, (8, 8, 2, 2), -0.5)

    run = scene(tmp_path, "D24S8", draws)
    black = {"clear", "and", "and reverse", "copy", "keep", "or", "xor", "and inverted"}
    for code, name in enumerate(LOGIC):
        stage = run.why(f"f0/d{2 * code + 1}").stages[-1]
        assert (stage.name, stage.came, stage.passed) == ("colours", 4, 0 if name in black else 4), name
        said = [(loss.reason.partition(": ")[2], loss.register) for loss in stage.lost]
        named = ("", "") if name == "copy" else (f"the logic operation is {name}", "LOGIC_OP")
        assert said == ([named] if name in black else [])


@pytest.mark.parametrize(
    ("mask", "write", "register"), [(0xF, 0xF, None), (0, 0xF, "DEPTH_COLOR_MASK"), (0xF, 0, "COLORBUFFER_WRITE"),
                                    (0, 0, "DEPTH_COLOR_MASK"), (1, 0xF, None), (8, 1, None)]
)  # fmt: skip
def test_colours_that_are_masked_name_the_register(tmp_path: Path, mask: int, write: int, register: str | None) -> None:
    def draws(cl: CommandList) -> None:
        cl.write_word("DEPTH_COLOR_MASK", mask << 8).write_word("COLORBUFFER_WRITE", write)
        rectangle(cl, (8, 8, 2, 2), -0.5)

    found = scene(tmp_path, "D24S8", draws).why("f0/d0").stages[-1]
    assert (found.came, found.passed) == (4, 4 if register is None else 0)
    lost = [] if register is None else [("are masked", register)]
    assert [(loss.reason, loss.register) for loss in found.lost] == lost
