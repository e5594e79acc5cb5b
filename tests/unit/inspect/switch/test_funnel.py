"""How many primitives of a draw of the Switch are lost, and why: held to triangles that are counted by hand."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest
from support.switch_scene import Scene

from pocketgpu.builder.maxwell import PushBuffer, Surface, size_of
from pocketgpu.capture import Capture
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.funnel import Funnel
from pocketgpu.inspect.model.stage import Stage
from pocketgpu.inspect.model.why import Why
from pocketgpu.inspect.switch.inspection import SwitchInspection

FRONT, BACK, BOTH = 0x404, 0x405, 0x408
CLOCKWISE, COUNTER_CLOCKWISE = 0x900, 0x901
HALF = 16
"""Half of the picture's width and height in pixels."""

Corner = tuple[float, ...]
Triangle = tuple[Corner, Corner, Corner]


def right_angle(column: int, row: int, w: tuple[float, float, float] = (1, 1, 1), size: float = 5.0) -> Triangle:
    """In a cell of 8 x 8 pixels of the picture, counter-clockwise: its legs are `size` pixels long, and begin a quarter
    of a pixel beside an edge between pixels. y counts up from the lowest row."""
    x, y = 8 * column + 1.25, 8 * row + 1.25
    places = ((x, y), (x + size, y), (x, y + size))
    a, b, c = (((px / HALF - 1) * q, (py / HALF - 1) * q, 0.5 * q, q) for (px, py), q in zip(places, w, strict=True))
    return a, b, c


def turned(triangle: Triangle) -> Triangle:
    return triangle[0], triangle[2], triangle[1]


def moved(triangle: Triangle, x: float, y: float, z: float = 0) -> Triangle:
    """Moved in clip space; all w are 1."""
    a, b, c = ((px + x, py + y, pz + z, w) for px, py, pz, w in triangle)
    return a, b, c


COVERED = 15
"""Centres of pixels in a triangle with legs of 5 pixels: 5 + 4 + 3 + 2 + 1."""
COUNTER = [right_angle(0, 0), right_angle(1, 0), right_angle(2, 0)]
STEEP = right_angle(3, 3, (8, 1, 1))
"""Counter-clockwise on the screen, clockwise where x and y are not divided by w."""
CLOCK = [turned(right_angle(0, 1)), turned(right_angle(1, 1, (2, 2, 2)))]
LINE: Triangle = ((-0.5, 0.5, 0.5, 1), (0, 0.5, 0.5, 1), (0.5, 0.5, 0.5, 1))
SPECK = right_angle(2, 2, size=0.0005)
"""It lies between two of the 256 places of a pixel, so all corners are moved to one place."""
BESIDE = [moved(right_angle(1, 1), *by) for by in ((2, 0), (-2, 0), (0, 2), (0, -2), (0, 0, 1), (0, 0, -2))]
BEHIND: Triangle = ((-0.5, 0, -2, -1), (0.5, 0, -2, -1), (0, 0.5, -2, -1))
BROKEN: Triangle = (*right_angle(3, 0)[:2], (float("nan"), 0, 0.5, 1))
ENDLESS: Triangle = ((float("inf"), 0, 0.5, 1), *right_angle(3, 0)[1:])
NEAR = moved(right_angle(3, 1), 0, 0, -1)
"""Its z is half way from 0 to -w: outside if the near plane is z = 0, inside if it is z = -w."""


@dataclass(frozen=True)
class Culling:
    """What is set. front, clock: whether triangles of either direction are drawn."""

    enabled: int
    face: int
    front: int
    counter: bool
    clock: bool
    mirrored: bool = False


CULLINGS = [
    Culling(0, BOTH, CLOCKWISE, True, True),
    Culling(1, BACK, COUNTER_CLOCKWISE, True, False),
    Culling(1, BACK, CLOCKWISE, False, True),
    Culling(1, FRONT, COUNTER_CLOCKWISE, False, True),
    Culling(1, FRONT, CLOCKWISE, True, False),
    Culling(1, BOTH, COUNTER_CLOCKWISE, False, False),
    Culling(1, BACK, COUNTER_CLOCKWISE, False, True, mirrored=True),
]


def funnel(triangles: list[Triangle], draw: int = 1, **choices: object) -> dict[str, Stage]:
    """Stages of the draw of these triangles, by name. The first triangle is drawn alone before, in draw 0."""
    corners = tuple((*corner, 0.0, 0.0) for triangle in triangles for corner in triangle)
    found = Scene(corners=corners).but(**choices).look().why(f"f0/d{draw}")
    assert isinstance(found, Funnel)
    return {stage.name: stage for stage in found.stages}


def losses(stage: Stage) -> dict[str, int]:
    return {loss.reason: loss.count for loss in stage.lost}


@pytest.mark.parametrize("culling", CULLINGS, ids=str)
def test_triangles_are_counted_by_their_direction(culling: Culling) -> None:
    counter, flat = [*COUNTER, STEEP], [LINE, SPECK]
    methods: list[tuple[str, int | float]] = [
        ("OGL_SET_CULL", culling.enabled), ("OGL_SET_CULL_FACE", culling.face), ("OGL_SET_FRONT_FACE", culling.front),
    ]  # fmt: skip
    if culling.mirrored:
        methods.append(("SET_VIEWPORT_SCALE_X(0)", -float(HALF)))
    stages = funnel([*counter, *flat, *CLOCK], methods=tuple(methods))
    shown = len(counter) * culling.counter + len(CLOCK) * culling.clock
    culled = len(counter) + len(CLOCK) - shown
    showing = stages["primitives that show"]
    assert (showing.came, showing.passed) == (len(counter) + len(flat) + len(CLOCK), shown)
    expected = {"show the side that is culled": culled, "have no area": len(flat)}
    assert losses(showing) == {reason: count for reason, count in expected.items() if count}
    assert stages["shapes"].passed == shown and not stages["shapes"].lost
    assert stages["pixels that shapes cover"].passed == COVERED * shown


def test_triangles_outside_and_with_values_that_are_no_numbers() -> None:
    away, broken = [*BESIDE, BEHIND], [BROKEN, ENDLESS]
    stages = funnel([*COUNTER, *away, NEAR, *broken, *CLOCK])
    every = len(COUNTER) + len(away) + 1 + len(broken) + len(CLOCK)
    assert stages["vertices"].passed == 3 * every
    inside = stages["primitives in the clip volume"]
    assert (inside.came, inside.passed) == (every, len(COUNTER) + len(CLOCK))
    assert losses(inside) == {
        "lies behind the eye: w is -1": 1, "lies right of the view": 1, "lies left of the view": 1,
        "lies above the view": 1, "lies below the view": 1, "lies beyond the far plane: z is 1.5, w is 1": 1,
        "lie nearer than the near plane: z is -1.5 to -0.5, w is 1": 2,
        "have NaN or infinity in their positions": len(broken),
    }  # fmt: skip
    # With the near plane at z = -w one more is inside; without planes for z also the two beyond them.
    deep = funnel([*COUNTER, *away, NEAR], methods=(("SET_VIEWPORT_Z_CLIP", 0),))
    assert losses(deep["primitives in the clip volume"])["lies nearer than the near plane: z is -1.5, w is 1"] == 1
    assert sum(losses(deep["primitives in the clip volume"]).values()) == len(away)
    flat = funnel([*COUNTER, *away, NEAR], methods=(("SET_VIEWPORT_CLIP_CONTROL", 2 << 11),))
    assert sum(losses(flat["primitives in the clip volume"]).values()) == len(away) - 2


def test_what_touches_a_plane_is_not_outside() -> None:
    """A corner on the plane counts as inside, for each plane."""
    touching = [moved(right_angle(3, 1), 1 - (8 * 3 + 1.25) / HALF + 1, 0)]  # its left corners at x = w
    touching += [((-0.5, -1.5, 0.5, 1), (0.5, -1.5, 0.5, 1), (0, -1, 0.5, 1))]
    touching += [((0, 0, 1, 1), (0.5, 0, 2, 1), (0, 0.5, 2, 1))]
    touching += [((0, 0, 0, 1), (0.5, 0, -1, 1), (0, 0.5, -1, 1))]
    stages = funnel([*COUNTER, *touching])
    assert not stages["primitives in the clip volume"].lost


def test_points_have_no_side() -> None:
    """The scene draws its first two corners as points: one of them lies outside."""
    corners: Triangle = (BESIDE[0][0], *COUNTER[0][1:])
    stages = funnel([corners], draw=1, extra=1)
    assert stages["primitives"].passed == 2
    assert losses(stages["primitives in the clip volume"]) == {"lies right of the view": 1}
    assert stages["primitives that show"].passed == 1 and not stages["primitives that show"].lost


def test_the_scissor_takes_what_is_left() -> None:
    """Triangles in the three columns of cells at the left; pixels from column 16 on may be drawn."""
    methods = (
        ("SET_SCISSOR_ENABLE(0)", 1), ("SET_SCISSOR_HORIZONTAL(0)", 32 << 16 | 16),
        ("SET_SCISSOR_VERTICAL(0)", 32 << 16),
    )  # fmt: skip
    stages = funnel(COUNTER, methods=methods)
    (lost,) = stages["shapes"].lost
    assert (stages["shapes"].passed, lost.count) == (1, 2) and lost.register == "SET_SCISSOR_HORIZONTAL(0)"
    assert stages["pixels that shapes cover"].passed == COVERED
    assert stages["samples of colour target 0 that changed"].passed == COVERED


def test_culling_of_triangles_that_cross_the_eye() -> None:
    """Corners before and behind the eye: what culling of the front loses is what culling of the back leaves."""
    chance = random.Random(2)
    triangles = []
    for _ in range(40):
        corners = []
        for w in (1.0, chance.choice([-0.5, 0.25, 1.0]), chance.choice([-1.0, -0.25, 2.0])):
            corners.append((chance.uniform(-1, 1), chance.uniform(-1, 1), chance.choice([0.1, 0.5]) * abs(w), w))
        triangles.append((corners[0], corners[1], corners[2]))
    made = [COUNTER[0], *triangles]
    counts = []
    for enabled, face in ((0, BOTH), (1, FRONT), (1, BACK)):
        stages = funnel(made, methods=(("OGL_SET_CULL", enabled), ("OGL_SET_CULL_FACE", face)))
        show, shapes = stages["primitives that show"], stages["shapes"]
        culled = sum(loss.count for loss in show.lost if "culled" in loss.reason)
        gone = sum(loss.count for loss in shapes.lost)
        covered = stages["pixels that shapes cover"].passed
        counts.append((show.passed, culled, shapes.passed, gone, covered))
    whole, front, back = counts
    assert whole[1] == 0 and front[1] + back[1] == whole[0] and min(front[1], back[1]) > 5
    for n in (0, 2, 3, 4):
        assert front[n] + back[n] == whole[n], (n, counts)


def test_points_reach_beyond_their_centres() -> None:
    """Points of 9 pixels, centres inside and beside the view, counted by hand: they are not lost with their centres."""
    reach, places = 4.5, [(-3.0, 8.0), (8.0, -4.25), (34.0, 35.0), (-6.0, 8.0), (36.75, 8.0), (16.5, 16.5)]
    for x, y in places:
        corner = (x / HALF - 1, 1 - y / HALF, 0.5, 1.0)
        stages = funnel([(corner, corner, corner)], draw=1, extra=1, methods=(), before=(("SET_POINT_SIZE", 9.0),))
        centres = [n + 0.5 for n in range(32)]
        covered = [sum(v - reach <= centre < v + reach for centre in centres) for v in (x, y)]
        assert stages["pixels that shapes cover"].passed == 2 * covered[0] * covered[1], (x, y)
        assert stages["shapes"].passed == 2 * bool(covered[0] * covered[1])
        lost = [sum(loss.count for loss in stages[name].lost) for name in ("primitives in the clip volume", "shapes")]
        assert sum(lost) == 2 - stages["shapes"].passed


# -- one primitive ----------------------------------------------------------------------------------------------------
def one(number: int, triangles: list[Triangle], **choices: object) -> Funnel:
    """The funnel of one triangle of the second draw."""
    corners = tuple((*corner, 0.0, 0.0) for triangle in triangles for corner in triangle)
    found = Scene(corners=corners).but(**choices).look().why(f"f0/d1/t{number}")
    assert isinstance(found, Funnel)
    return found


def test_a_primitive_is_followed_alone_to_its_end() -> None:
    """Of three equal triangles on one place only the first changes anything; none counts for another."""
    first = right_angle(0, 2)  # draw 0 draws it as well
    found = [one(n, [first, *[right_angle(2, 0)] * 2, right_angle(3, 3)]) for n in range(1, 4)]
    assert [str(each.address) for each in found] == ["f0/d1/t1", "f0/d1/t2", "f0/d1/t3"]
    changed = [each.stages[-1] for each in found]
    assert {stage.name for stage in changed} == {"samples of colour target 0 that changed"}
    assert [(stage.came, stage.passed) for stage in changed] == [(COVERED, COVERED), (COVERED, 0), (COVERED, COVERED)]
    assert found[0].because == f"{COVERED} samples of the colour target 0 changed"
    assert "the values that were already there" in found[1].because and "primitive 2: written" in found[1].example
    assert all(each.proved and each.stages[0].passed == 1 for each in found)


CAUSES: list[tuple[Triangle, tuple[tuple[str, int | float], ...], str]] = [
    (BESIDE[0], (), "1 lies right of the view"),
    (BESIDE[1], (), "1 lies left of the view"),
    (BESIDE[2], (), "1 lies above the view"),
    (BESIDE[3], (), "1 lies below the view"),
    (BESIDE[4], (), "1 lies beyond the far plane: z is 1.5, w is 1 (SET_VIEWPORT_CLIP_CONTROL)"),
    (BESIDE[5], (), "1 lies nearer than the near plane: z is -1.5, w is 1 (SET_VIEWPORT_Z_CLIP)"),
    (BEHIND, (), "1 lies behind the eye"),
    (BROKEN, (), "1 has NaN or infinity in its positions"),
    (LINE, (), "1 has no area"),
    (COUNTER[1], (("OGL_SET_CULL", 1), ("OGL_SET_CULL_FACE", FRONT), ("OGL_SET_FRONT_FACE", COUNTER_CLOCKWISE)),
     "1 shows the side that is culled (OGL_SET_CULL_FACE FRONT, OGL_SET_FRONT_FACE CCW)"),
    (COUNTER[1], (("SET_SCISSOR_ENABLE(0)", 1), ("SET_SCISSOR_HORIZONTAL(0)", 5 << 16 | 5),
                  ("SET_SCISSOR_VERTICAL(0)", 32 << 16)), "which keeps nothing: columns 5 up to, not including, 5"),
    (COUNTER[1], (("SET_SCISSOR_ENABLE(0)", 1), ("SET_SCISSOR_HORIZONTAL(0)", 40 << 16 | 32),
                  ("SET_SCISSOR_VERTICAL(0)", 32 << 16)), "which begins at columns 32 of a target of 32x32"),
    (COUNTER[1], (("SET_CT_WRITE(0)", 0),), "all channels are masked [SET_CT_WRITE(0)]"),
    (COUNTER[1], (("SET_BLEND(0)", 1), ("SET_BLEND_COLOR_SOURCE_COEFF", 0x4000), ("SET_BLEND_COLOR_DEST_COEFF", 0x4001),
                  ("SET_BLEND_STATE_PER_TARGET", 0), ("SET_BLEND_COLOR_OP", 0x8006),
                  ("SET_BLEND_SEPARATE_FOR_ALPHA", 0)),
     "blending leaves the colour target 0 as it is (SET_BLEND_COLOR_SOURCE_COEFF OGL_ZERO, "
     "SET_BLEND_COLOR_DEST_COEFF OGL_ONE)"),
]  # fmt: skip


@pytest.mark.parametrize(("triangle", "methods", "says"), CAUSES, ids=[case[2][:40] for case in CAUSES])
def test_the_cause_of_a_primitive_that_draws_nothing(
    triangle: Triangle, methods: tuple[tuple[str, int | float], ...], says: str
) -> None:
    found = one(2, [COUNTER[0], COUNTER[2], triangle], methods=methods)
    assert found.because.startswith("nothing: ") and says in found.because


def test_a_primitive_that_is_not_there() -> None:
    with pytest.raises(UsageError, match="has no primitive 3"):
        one(3, COUNTER)


# -- pixels that no draw covers ---------------------------------------------------------------------------------------
def test_a_pixel_that_no_draw_covers_has_a_cause() -> None:
    """The cause is that of the last draw to the surface, if that drew nothing."""
    empty = (("SET_SCISSOR_ENABLE(0)", 1), ("SET_SCISSOR_HORIZONTAL(0)", 0), ("SET_SCISSOR_VERTICAL(0)", 32 << 16))
    found = Scene(methods=empty).look().why("f0/px0,0")
    assert isinstance(found, Why)
    assert "clear of colour target 0" in found.conclusion[0]
    assert "2 draws have its surface as a target, and none covers it" in found.conclusion[1]
    assert "draw f0/d1 drew nothing: no shapes; 1 lies outside of the scissor" in found.conclusion[1]
    assert "SET_SCISSOR_HORIZONTAL(0)" in found.missing
    # A draw that draws something elsewhere is no cause.
    sound = Scene().look().why("f0/px0,0")
    assert isinstance(sound, Why) and not sound.missing


def test_a_frame_without_a_draw_is_told() -> None:
    """A surface is shown that only the processor wrote."""
    builder = Scene().builder()
    elsewhere = Surface(builder.put(bytes(size_of(32, 32))), 32, 32)
    builder.submit(PushBuffer().bind("3D"))
    builder.present(elsewhere)
    found = SwitchInspection(Capture("elsewhere", builder.log())).why("f1/px3,4")
    assert isinstance(found, Why)
    assert found.conclusion[1] == "touched by 1 load; the frame has no draw"
