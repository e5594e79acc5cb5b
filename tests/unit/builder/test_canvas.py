"""The canvas of the 3DS: shapes where the camera sees them, lights where they are put, and a new start."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu import UsageError
from pocketgpu.builder import Box, Canvas, assemble, meshes, patterns, shapes
from pocketgpu.builder.matrices import look_at, rotation, translation

BLACK, GREEN = (0, 0, 0, 255), (0, 200, 0, 255)
ALL = np.ones(257)


def pixels(canvas: Canvas) -> np.ndarray:
    return np.asarray(canvas.image()).astype(int)


def lit(**light: object) -> np.ndarray:
    """A plane that fills the screen, 4 from the eye, under one white light."""
    canvas = Canvas(BLACK)
    canvas.camera((0, 0, 4))
    canvas.lighting(light.pop("tables", None), ambient=(0, 0, 0), inputs=light.pop("inputs", None))  # type: ignore[arg-type]
    canvas.light(0, light.pop("at", (0, 0, 2)), **light)  # type: ignore[arg-type]
    canvas.mesh(shapes.plane(8, 8))
    return pixels(canvas)


def brightest(picture: np.ndarray) -> tuple[float, float]:
    """Where the mean of the brightest pixels is: x, y."""
    rows, columns = np.nonzero(picture[..., 0] == picture[..., 0].max())
    return columns.mean(), rows.mean()


def test_the_camera_looks_at_its_target() -> None:
    matrix = look_at((3, 4, 0), (3, 4, -7))
    assert matrix == pytest.approx(translation(-3, -4, 0))
    matrix = look_at((5, 0, 0), (0, 0, 0))
    assert matrix @ [0, 0, -1, 1] == pytest.approx([1, 0, -5, 1])
    assert matrix @ [0, 2, 0, 1] == pytest.approx([0, 2, -5, 1])


def test_a_shape_is_where_the_camera_sees_it() -> None:
    """At 5 away the screen is 2 x 5 x tan(0.35) = 3.65 high: 66 pixels for 1."""
    canvas = Canvas(BLACK)
    canvas.camera((0, 0, 5), angle=0.7)
    canvas.show("vertex color")
    canvas.mesh(shapes.plane(1, 1), translation(1, 0.5, 0), color=GREEN)
    rows, columns = np.nonzero(pixels(canvas)[..., 1] == 200)
    assert [columns.min(), columns.max()] == pytest.approx([200 + 33, 200 + 98], abs=1.5)
    assert [rows.min(), rows.max()] == pytest.approx([120 - 66, 120], abs=1.5)


def test_nearer_shapes_cover_others_whatever_the_order() -> None:
    canvas = Canvas(BLACK)
    canvas.list.depth("greater")
    canvas.show("vertex color")
    canvas.mesh(shapes.plane(1, 1), translation(0, 0, 1), color=GREEN)
    canvas.mesh(shapes.plane(9, 9), translation(0, 0, -1), color=(0, 0, 99, 255))
    picture = pixels(canvas)
    assert picture[120, 200].tolist() == [0, 200, 0] and picture[10, 10].tolist() == [0, 0, 99]


def test_a_texture_is_upright_on_a_shape() -> None:
    canvas = Canvas(BLACK)
    side = patterns.checks(8, 2, [(250, 0, 0, 255), (0, 0, 250, 255)])
    side[0:4, 0:4] = 255
    canvas.texture(side, filter="nearest")
    canvas.mesh(shapes.cube(2), rotation((0, 1, 0), np.pi))  # its back, which has the whole texture too
    picture = pixels(canvas)
    assert picture[90, 170].tolist() == [255, 255, 255] and picture[90, 230].tolist() == [0, 0, 250]
    assert picture[150, 230].tolist() == [250, 0, 0]


def test_other_programs_draw_shapes_and_the_canvas_goes_on_with_its_own() -> None:
    canvas = Canvas(BLACK)
    program = assemble(f"{meshes.OUTPUTS}{meshes.PLACE}{meshes.NORMAL}mov o1.xyz, r2\nmov o1.w, v3\nend\n")
    canvas.show("vertex color")
    canvas.mesh(shapes.plane(1, 1), rotation((0, 1, 0), 0.5) @ rotation((1, 0, 0), -0.3), program=program)
    canvas.quad(Box(0, 0, 20, 20), color=(0, 0, 1, 1))
    picture = pixels(canvas)
    normal = rotation((0, 1, 0), 0.5) @ rotation((1, 0, 0), -0.3) @ [0, 0, 1, 0]
    assert picture[120, 200] == pytest.approx(normal[:3] * 255, abs=2)
    assert picture[10, 10].tolist() == [0, 0, 255]


def test_the_same_shape_is_stored_once() -> None:
    canvas, twice = Canvas(), Canvas()
    canvas.mesh(shapes.torus())
    twice.mesh(shapes.torus())
    twice.mesh(shapes.torus(), translation(1, 0, 0))
    assert len(twice.tobytes()) - len(canvas.tobytes()) < shapes.torus()[0].nbytes / 4


# -- lights -----------------------------------------------------------------------------------------------------------
def test_a_light_is_where_it_is_put() -> None:
    for at, place in (((0, 0, 2), (200, 120)), ((1, 0, 2), (282, 120)), ((0, -0.5, 2), (200, 161))):
        x, y = brightest(lit(at=at))
        assert (x, y) == pytest.approx(place, abs=8)
    plain = lit(at=(1, 0, 2), directional=True)
    assert len(np.unique(plain.reshape(-1, 3), axis=0)) == 1
    assert plain[0, 0, 0] == pytest.approx(255 * 2 / 5**0.5, abs=2)


def test_lights_move_with_the_camera_not_with_it() -> None:
    """From the side, a light to the right of the world lights from the left of the picture or from the right."""
    canvas = Canvas(BLACK)
    canvas.camera((0, 0, -5))
    canvas.lighting(ambient=(0, 0, 0))
    canvas.light(0, (4, 0, -3))
    canvas.mesh(shapes.sphere())
    picture = pixels(canvas)
    assert picture[120, 160, 0] > 150 > 50 > picture[120, 240, 0]


def test_tables_count_if_they_are_given() -> None:
    dark = {"diffuse": (0, 0, 0), "specular": (200, 0, 0), "specular1": (0, 200, 0)}
    assert lit(**dark)[120, 200].tolist() == [200, 200, 0], "a table that is off counts as 1"
    assert lit(tables={"D0": ALL / 2}, **dark)[120, 200, 0] == pytest.approx(100, abs=1)
    assert lit(tables={"D1": 0 * ALL}, **dark)[120, 200].tolist() == [200, 0, 0]
    picture = lit(tables={"D0": np.arange(257) / 256}, inputs={"d0": "N.V"}, **dark)
    beside = 180 / (240 / (2 * 4 * np.tan(0.35)))  # of a pixel that is 180 away from the middle
    assert picture[120, 200, 0] == pytest.approx(200, abs=2)
    assert picture[120, 20, 0] == pytest.approx(200 * 4 / np.hypot(4, beside), abs=2)


def test_a_spot_light_shines_where_it_is_aimed() -> None:
    cone = {"tables": {"SP0": np.arange(257) / 256 > 0.95}, "inputs": {"sp": "-L.P (spot)"}}
    picture = lit(aim=(1, 0, 0), **cone)
    assert picture[120, 282, 0] > 100 and picture[120, 118].tolist() == [0, 0, 0]
    assert (lit(aim=(1, 0, 0))[120, [118, 282], 0] > 100).all(), "without its table it is no spot light"


def test_the_number_of_lights_is_that_of_the_last_one() -> None:
    canvas = Canvas(BLACK)
    canvas.camera((0, 0, 4))
    canvas.lighting(ambient=(0, 0, 7))
    for number, color in enumerate(((100, 0, 0), (0, 90, 0))):
        canvas.light(number, (0, 0, 1), diffuse=color, directional=True)
    canvas.mesh(shapes.plane(8, 8))
    assert pixels(canvas)[120, 200].tolist() == [100, 90, 7]


# -- frames -----------------------------------------------------------------------------------------------------------
def test_clear_starts_again_with_plain_state() -> None:
    canvas = Canvas(GREEN)
    canvas.list.blend("one", "one").depth("greater")
    canvas.fill(Box(0, 0, 400, 240), (9, 9, 9, 255), depth=0.9)
    canvas.end_frame()
    canvas.clear()
    canvas.end_frame()
    canvas.fill(Box(0, 0, 9, 9), (1, 2, 3, 255))
    canvas.clear()
    canvas.list.depth("greater")
    canvas.fill(Box(200, 0, 400, 240), (7, 8, 9, 255), depth=0.1)
    first, second, third = (np.asarray(one) for one in canvas.images())
    assert first[5, 5].tolist() == [9, 209, 9] and second[5, 5].tolist() == [0, 200, 0]
    assert third[5, 5].tolist() == [0, 200, 0] and third[5, 300].tolist() == [7, 8, 9]


def test_levels_of_textures_can_be_mixed_and_moved() -> None:
    def center(levels: int, **options: object) -> list[int]:
        canvas = Canvas()
        one = np.full((16, 16, 4), (200, 0, 0, 255), np.uint8)
        address = canvas.capture.put_texture(one, levels=[np.full((8, 8, 4), (0, 0, 200, 255), np.uint8)])
        canvas.list.texture(0, address, 16, 16, levels=levels, **options)  # type: ignore[arg-type]
        canvas.show("texture 0")
        canvas.quad(Box(100, 100, 116, 116))  # a texel is a pixel
        return pixels(canvas)[108, 108].tolist()

    assert center(1) == center(2) == [200, 0, 0]
    assert center(2, level_bias=1.0) == [0, 0, 200]
    red, _, blue = center(2, level_filter="linear", level_bias=0.5)
    assert (red, blue) == pytest.approx((100, 100), abs=3)


# -- errors -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("format", ["XX", "I8", "D24S8"])
def test_a_target_has_a_format_of_targets(format: str) -> None:
    with pytest.raises(UsageError, match=f"no target has format '{format}'.*Known are RGBA8, RGB8"):
        Canvas(format=format)


def test_colors_of_the_canvas_have_four_values() -> None:
    canvas = Canvas()
    three = (9, 9, 9)
    for use in (
        lambda: Canvas(three),  # type: ignore[arg-type]
        lambda: canvas.paint(three),  # type: ignore[arg-type]
        lambda: canvas.fill(Box(0, 0, 9, 9), three),  # type: ignore[arg-type]
        lambda: canvas.palette(GREEN, three),  # type: ignore[arg-type]
        lambda: canvas.mesh(shapes.plane(), color=three),  # type: ignore[arg-type]
    ):
        with pytest.raises(UsageError, match="red, green, blue and alpha"):
            use()
    with pytest.raises(UsageError, match="at least one colour"):
        canvas.palette()


def test_pictures_in_memory_have_a_format() -> None:
    canvas = Canvas()
    with pytest.raises(UsageError, match="no picture has format 'XX'"):
        canvas.decoded(canvas.target, 8, 8, "XX")
    with pytest.raises(UsageError, match="0x8"):
        canvas.decoded(canvas.target, 0, 8)


@pytest.mark.parametrize(
    "attributes", [(), (5,), ([1, 2, 3, 4],), (np.zeros((3, 4)), np.zeros((4, 4))), (np.zeros((2, 3, 4)),)]
)
def test_vertices_have_one_number(attributes: tuple[object, ...]) -> None:
    with pytest.raises(UsageError, match="attributes of vertices have shape"):
        Canvas().draw_vertices(*attributes)  # type: ignore[arg-type]


def test_indices_name_vertices() -> None:
    for indices in ([0, 1, 3], [0, 1, -1], [0, 1, 70000]):
        with pytest.raises(UsageError, match="of 3 vertices"):
            Canvas().draw_vertices(np.zeros((3, 4)), indices=indices)
    with pytest.raises(UsageError, match="5"):
        Canvas().draw_vertices(np.zeros((3, 5)))


def test_a_camera_and_a_light_need_a_direction() -> None:
    for eye, target in (((0, 0, 5), (0, 0, 5)), ((0, 5, 0), (0, 0, 0)), ((1, 0, 2), (1, 7, 2))):
        with pytest.raises(UsageError, match="no view goes from"):
            look_at(eye, target)
        with pytest.raises(UsageError, match="no view goes from"):
            Canvas().camera(eye, target)
    assert np.isfinite(look_at((0, 5, 0), (0, 0, 0), up=(0, 0, 1))).all()
    assert np.isfinite(look_at((1e-6, 5, 0), (0, 0, 0))).all(), "nearly from above"
    for options in ({"angle": 0}, {"angle": np.pi}, {"near": 2, "far": 2}):
        with pytest.raises(UsageError, match="sees nothing"):
            Canvas().camera(**options)
    with pytest.raises(UsageError, match="aimed at another place"):
        Canvas().light(0, (0, 1, 2), aim=(0, 1, 2))
