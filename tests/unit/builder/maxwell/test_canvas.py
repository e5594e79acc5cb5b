"""The canvas of the Switch: what scenes of the gallery need beside the squares of the probe."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from pocketgpu import Texture, UsageError
from pocketgpu.builder import Box
from pocketgpu.builder.matrices import rotation, translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.canvas import perspective, read_as_texture
from pocketgpu.builder.maxwell.programs import COLORED, FLAT, LIT, MESH_VALUES, VALUES, transformed
from pocketgpu.builder.shapes import plane
from pocketgpu.facts.maxwell.samples import SAMPLE_PLACES

RED, GREEN, BLUE, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)
TRIANGLE = [(-1, -1, 0.5, 1, 1, 1, 1, 1), (3, -1, 0.5, 1, 1, 1, 1, 1), (-1, 0.3, 0.5, 1, 1, 1, 1, 1)]


def pixels(canvas: MaxwellCanvas) -> np.ndarray:
    return np.asarray(canvas.image())


def test_a_canvas_has_any_size_and_ground() -> None:
    canvas = MaxwellCanvas(50, 20, GREEN)
    picture = pixels(canvas.square((10, 5, 30, 10), RED))
    assert picture.shape == (20, 50, 3) and repr(canvas) == "<MaxwellCanvas 50x20, 1 frame>"
    assert picture[0, 0].tolist() == [*GREEN] and (picture[5:15, 10:40] == RED).all()
    assert (picture == RED).all(axis=-1).sum() == 300
    rows = pixels(MaxwellCanvas(50, 20, GREEN, pitch=True).square((10, 5, 30, 10), RED))
    assert np.array_equal(rows, picture)


def test_more_memory_than_a_room_is_there() -> None:
    canvas = MaxwellCanvas(16, 16)
    places = [(canvas.allocate(size), size) for size in (100, 60_000, 5000, 200_000, 10)]
    assert all(start % 256 == 0 for start, _ in places)
    spans = sorted((start, start + size) for start, size in places)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    canvas.capture.load(places[3][0], np.arange(50_000, dtype="<u4"))
    assert canvas.memory(places[3][0] + 4 * 49_999, 4).view("<u4").tolist() == [49_999]


@pytest.mark.parametrize("count", SAMPLE_PLACES)
def test_samples_make_as_many_steps_at_edges(count: int) -> None:
    """A slow slope covers 0 to all samples of a pixel."""
    canvas = MaxwellCanvas(96, 24, (0, 0, 0))
    many = canvas.samples(count)
    assert many.width * many.height == 96 * 24 * count
    canvas.programs().draw("TRIANGLES", TRIANGLE).resolve(many)
    picture = pixels(canvas)[..., 0]
    steps = {round(255 * n / count) for n in range(count + 1)}
    found = np.unique(picture)
    assert all(min(abs(int(value) - step) for step in steps) <= 1 for value in found) and len(found) == count + 1
    single = MaxwellCanvas(96, 24, (0, 0, 0)).programs().draw("TRIANGLES", TRIANGLE)
    assert abs(picture.mean() - pixels(single)[..., 0].mean()) < 4


def test_a_resolved_canvas_goes_on_with_one_sample() -> None:
    canvas = MaxwellCanvas(32, 32)
    many = canvas.samples(4)
    canvas.test_depth().square((0, 0, 16, 16), RED).resolve(many).square((16, 16, 8, 8), BLUE)
    picture = pixels(canvas)
    assert (picture[:16, :16] == RED).all() and (picture[16:24, 16:24] == BLUE).all()
    with pytest.raises(UsageError, match="3 samples"):
        canvas.samples(3)


def test_blending_by_names() -> None:
    canvas = MaxwellCanvas(32, 16, BLUE).blend("ONE", "ONE")
    assert pixels(canvas.square((0, 0, 16, 16), RED))[8, 8].tolist() == [255, 0, 255]
    canvas = MaxwellCanvas(32, 16, (200, 40, 0)).blend("ONE", "ONE", "MIN")
    assert pixels(canvas.square((0, 0, 16, 16), (100, 80, 9)))[8, 8].tolist() == [100, 40, 0]
    canvas = MaxwellCanvas(16, 16, BLUE).blend().shaded((0, 0, 16, 16), [(1, 0, 0, 0.2)] * 4, COLORED)
    assert pixels(canvas)[8, 8].tolist() == [51, 0, 204]


def test_depth_keeps_the_nearest() -> None:
    def drawn(function: str) -> list[int]:
        canvas = MaxwellCanvas(16, 16).test_depth(function)
        return pixels(canvas.square((0, 0, 16, 16), RED, z=0.2).square((0, 0, 16, 16), BLUE, z=0.6))[8, 8].tolist()

    assert drawn("LESS") == [*RED] and drawn("ALWAYS") == [*BLUE]


def test_several_targets_and_what_was_drawn_as_textures() -> None:
    """One draw writes two surfaces of two formats, the next one reads both. They are small, so their blocks are low."""
    canvas = MaxwellCanvas(24, 12)
    targets = [canvas.surface(24, 12), canvas.surface(24, 12, "RF16_GF16_BF16_AF16")]
    assert [one.block_height_log2 for one in targets] == [1, 1] and canvas.target.block_height_log2 == 1
    text = VALUES + "MOV R4, R2\nMOV R5, R1\nMOV R6, R0\nMOV R7, R3\nEXIT"
    two = canvas.program("pixel", text, targets=("rgba", "rgba"))
    canvas.draw_to_all(*targets).shaded((0, 0, 24, 12), [(1, 0.5, -0.25, 1)] * 4, two)
    canvas.draw_to_all(canvas.target).texture(*targets)
    for n in range(2):
        canvas.textured((12 * n, 0, 12, 12), pixel=VALUES + f"TEX R0, R0, RZ, {n:#x}, 2D, 0xf\nFADD R2, R2, 0.5\nEXIT")
    picture = pixels(canvas)
    assert picture[6, 6].tolist() == [255, 128, 128] and picture[6, 18].tolist() == [0, 128, 255]


def test_the_format_of_a_read_surface() -> None:
    canvas = MaxwellCanvas(80, 80)
    texture = read_as_texture(canvas.surface(80, 80, "A8BL8GL8RL8"), filter="nearest")
    assert texture.srgb and texture.layout.name == "A8B8G8R8"
    with pytest.raises(UsageError, match="R5G6B5 is not read"):
        read_as_texture(canvas.surface(80, 80, "R5G6B5"))


def test_a_canvas_has_so_many_textures() -> None:
    canvas = MaxwellCanvas(8, 8)
    one = Texture(np.zeros((2, 2, 4), np.uint8), numbers="unorm")
    canvas.texture(*[one] * 64)
    with pytest.raises(UsageError, match="at most 64 textures"):
        canvas.texture(one)


def test_parts_of_textures_and_two_programs_of_one_text() -> None:
    texels = np.zeros((2, 2, 4), np.uint8)
    texels[..., 3], texels[0, 0, :3], texels[1, 1, :3] = 255, RED, BLUE
    canvas = MaxwellCanvas(20, 20)
    canvas.texture(Texture(texels, numbers="unorm", normalized=True)).textured((0, 0, 10, 10), (0.5, 0.5, 1, 1))
    picture = pixels(canvas.textured((10, 10, 10, 10), (0, 0, 0.5, 0.5)))
    assert (picture[:10, :10] == BLUE).all() and (picture[10:, 10:] == RED).all()
    first, again = canvas.program("pixel", FLAT), canvas.program("pixel", FLAT, depth=True)
    assert first != again and first == canvas.program("pixel", FLAT)


def test_constants_and_indices() -> None:
    canvas = MaxwellCanvas(20, 20).programs(FLAT).constants((0, 1, 0, 1))
    rows = [(x, y, 0.5, 1, 0, 0, 0, 0) for y in (-1, 1) for x in (-1, 1)]
    canvas.draw("TRIANGLES", rows, [0, 1, 3]).draw_these("TRIANGLES", 4, [0, 3, 2])
    assert (pixels(canvas) == GREEN).all()


def test_a_mesh_stands_where_its_matrix_puts_it() -> None:
    """A square before the eye, of the right size, its texture upright; it is lighter where it faces the light."""
    texels = np.zeros((4, 4, 4), np.uint8)
    texels[..., 3], texels[:2, :, 0], texels[2:, :, 2] = 255, 255, 255
    canvas = MaxwellCanvas(64, 64, (0, 0, 0)).texture(Texture(texels, numbers="unorm", normalized=True)).test_depth()
    canvas.mesh(plane(2, 2), translation(0, 0, -4), pixel=MESH_VALUES + "TEX R0, R8, RZ, 0x0, 2D, 0xf\nEXIT")
    picture = pixels(canvas)
    high = 64 / (4 * 2 * np.tan(np.radians(22.5)))  # pixels of a unit at this distance
    assert abs((picture.sum(axis=2) > 0).sum() - (2 * high) ** 2) < 4 * high
    assert picture[25, 32].tolist() == [*RED] and picture[39, 32].tolist() == [*BLUE]
    lights = []
    for angle in (0.0, np.pi):  # towards the eye; away from it, where only the rest of the light is left
        canvas = MaxwellCanvas(64, 64, (0, 0, 0))
        canvas.mesh(plane(2, 2), translation(0, 0, -4) @ rotation((0, 1, 0), angle), pixel=LIT)
        lights.append(int(pixels(canvas)[32, 32, 0]))
    assert lights == [195, 64]


def test_the_view_has_depth_from_0_to_1() -> None:
    view = perspective(np.radians(90), 2.0, 1.0, 9.0)
    for z, depth in ((-1.0, 0.0), (-9.0, 1.0)):
        x, y, far, w = view @ (2 * -z, -z, z, 1)
        assert np.allclose((x / w, y / w, far / w), (1, 1, depth))


def test_a_transformed_point_in_a_program() -> None:
    """The second row of the matrix moves and turns; without the fourth column it only turns."""
    matrix = np.array([[0, 1, 0, 0.25], [1, 0, 0, 0.5], [0, 0, 1, 0], [0, 0, 0, 1]])
    for moved, color in ((True, [128, 191, 0]), (False, [64, 64, 0])):
        text = f"MOV32I R0, 0x3e800000\nMOV32I R1, 0x3e800000\nMOV R2, RZ\n{transformed(8, 0, 3, moved=moved)}"
        text += "MOV R0, R8\nMOV R1, R9\nMOV R2, R10\nMOV32I R3, 0x3f800000\nEXIT"
        canvas = MaxwellCanvas(8, 8).constants(matrix)
        assert np.abs(pixels(canvas.textured(pixel=text))[4, 4] - np.array(color)).max() <= 1


def test_boxes_are_rectangles() -> None:
    """Each call draws the same for the box 4, 2, 20, 8 as for 16 x 6 pixels at 4, 2."""
    texels = np.zeros((4, 4, 4), np.uint8)
    texels[..., 3], texels[:2, :, 0], texels[2:, :, 2] = 255, 255, 255
    box, rectangle = Box(4, 2, 20, 8), (4, 2, 16, 6)
    values = [(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1), (1, 1, 1, 1)]

    def drawn(how: str, area: Box | tuple[int, int, int, int]) -> np.ndarray:
        canvas = MaxwellCanvas(32, 16)
        if how == "fill":
            canvas.fill(area, RED)
        elif how == "square":
            canvas.square(area, RED)
        elif how == "shaded":
            canvas.shaded(area, values, COLORED)
        elif how == "textured":
            canvas.texture(Texture(texels, numbers="unorm", normalized=True)).textured(area)
        else:
            canvas.show(canvas.rows(np.full((6, 16, 4), 200, np.uint8)), area)
        return pixels(canvas)

    for how in ("fill", "square", "shaded", "textured", "show"):
        picture = drawn(how, box)
        assert np.array_equal(picture, drawn(how, rectangle)), how
        ground = picture[0, 0]
        assert ((picture != ground).any(axis=2)).sum() == 16 * 6, how
        assert (picture[2:8, 4:20] != ground).any(axis=2).all(), how
    canvas = MaxwellCanvas(32, 16)
    assert canvas.corners(box) == canvas.corners(rectangle)
    assert canvas.corners(box.turned) == [canvas.corners(box)[n] for n in (1, 0, 3, 2)]


def test_a_mesh_without_a_matrix_stays_where_it_is() -> None:
    vertices, indices = plane(2, 2)
    moved = vertices.copy()
    moved[:, 2] -= 4
    one = MaxwellCanvas(32, 32).mesh((vertices, indices), translation(0, 0, -4), pixel=FLAT)
    other = MaxwellCanvas(32, 32).mesh((moved, indices), pixel=FLAT)
    assert np.array_equal(pixels(one), pixels(other)) and pixels(one)[16, 16].tolist() == [*WHITE]


@pytest.mark.parametrize("size", [(0, 0), (0, 8), (8, -1)])
def test_a_canvas_has_a_pixel(size: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match=f"{size[0]}x{size[1]} pixels"):
        MaxwellCanvas(*size)


def test_what_canvases_refuse() -> None:
    canvas = MaxwellCanvas(16, 16)
    rows = np.zeros((3, 4))
    for use, message in (
        (lambda: canvas.vertices(rows), r"shape \(n, 8\), not \(3, 4\)"),
        (lambda: canvas.vertices(np.zeros(8)), r"not \(8,\)"),
        (lambda: canvas.draw("TRIANGLES", rows), r"not \(3, 4\)"),
        (lambda: canvas.mesh((rows, [0, 1, 2])), r"not \(3, 4\)"),
        (lambda: canvas.shaded((0, 0, 8, 8), [(1, 1, 1, 1)] * 3, COLORED), "four values for each"),
        (lambda: canvas.shaded((0, 0, 8, 8), [(1, 1, 1)] * 4, COLORED), "four values for each"),
        (lambda: canvas.fill(Box(0, 0, 8, 8).turned, RED), "a clear of -8x8 pixels"),
        (lambda: canvas.fill((0, 0, 8, 8), (*RED, 255)), "red, green and blue"),  # type: ignore[arg-type]
        (lambda: canvas.depth("XX"), "no depth target has format 'XX'"),
        (lambda: canvas.constants([1.0], "pixels"), "no stage 'pixels'"),
        (lambda: canvas.surface(0, 8), "0x8"),
        (lambda: canvas.surface(8, 8, "XX"), "no colour target has format 'XX'"),
        (lambda: canvas.rows(np.zeros((0, 8, 4), np.uint8)), r"shape \(0, 8, 4\)"),
    ):
        with pytest.raises(UsageError, match=message):
            use()
