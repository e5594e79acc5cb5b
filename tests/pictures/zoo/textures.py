"""Texture units 0 to 2: formats, wrapping, filters and levels, types, coordinates."""

from __future__ import annotations

import numpy as np

from pocketgpu.facts.formats import BY_NAME, TEXTURE_FORMATS
from pocketgpu.facts.pica_enums import WRAP
from pocketgpu.pica.memory import surface

from .stage import WHITE, Array, Scene, checker, each, letter, rgba, scene
from .stage import grid as texels

SHOW = ("replace", "texture 0")


def on_grey(s: Scene) -> None:
    s.fill_color(np.array((60, 60, 66, 255)))


@scene(4, 4, 32, gap=0, events=["texture.unmapped"])
def texture_formats(s: Scene) -> None:
    """The fourteen formats, texel for pixel: red grows to the right, green upward, blue to the left, over an F; alpha
    grows upward. Luminance formats have the mean, HILO8 red and green, A8 and A4 alpha only. ETC1 is near, in blocks.
    The last two cells are codes 14 and 15, which mean nothing: transparent black."""
    x, y = texels(32)
    f = letter(32, (0, 0, 0, 1), WHITE)[..., 0] / 255
    picture = rgba(x * (0.4 + 0.6 * f), y * (0.4 + 0.6 * f), (1 - x) * f, np.floor(y * 8) / 7)
    grey = np.repeat(picture[..., :3].mean(axis=-1, keepdims=True), 4, axis=-1).astype(np.uint8)
    grey[..., 3] = picture[..., 3]
    s.cl.combiner(0, SHOW, SHOW)
    for format in TEXTURE_FORMATS.values():
        luminance = any(name == "l" for name, _, _ in format.channels)
        address = s.capture.put_texture(grey if luminance else picture, format.name)
        s.cell(format.name).texture(0, address, 32, 32, format.name, filter="nearest")
        s.quad()
    for code in (14, 15):
        s.cell(f"code {code}").write("TEXUNIT0_TYPE", format=code)
        s.quad()


@scene(8, 4, 16)
def texture_wrap(s: Scene) -> None:
    """The eight wrap modes (columns; codes 6 and 7 repeat). Coordinates go from -1 to 2, so the F stands in the middle
    cell of nine. Rows: across only, upward only (the other axis repeats), both with a linear filter, both with a
    texture of 24x40 texels. The border is orange."""
    on_grey(s)
    address = s.capture.put_texture(letter(16, (1, 1, 0.3, 1), (0.1, 0.1, 0.6, 0.8)))
    odd = s.capture.put_texture(np.concatenate([letter(24, (1, 1, 0.3, 1), (0.1, 0.4, 0.2, 1))] * 2)[:40])
    s.cl.combiner(0, SHOW, SHOW)
    span = [(3 * u - 1, 3 * v - 1) for u, v in ((0, 0), (1, 0), (1, 1), (0, 1))]
    rows = (("across", "nearest"), ("upward", "nearest"), ("both, linear", "linear"), ("both, 24x40", "nearest"))
    for row, filter in rows:
        for mode in each(WRAP):
            wrap = {"across": (mode, "repeat"), "upward": ("repeat", mode)}.get(row, (mode, mode))
            at, w, h = (odd, 24, 40) if "24" in row else (address, 16, 16)
            cl = s.cell(f"{row}: {mode}")
            cl.texture(0, at, w, h, filter=filter, wrap=wrap, border=(255, 120, 0, 200))
            s.quad(uv0=span)


LEVELS = ((1, 0.2, 0.2, 1), (0.1, 0.9, 0.1, 1), (0.2, 0.4, 1, 1), (1, 0.9, 0.1, 1))


def mipmapped(s: Scene) -> int:
    """A texture of 64x64 with levels of 64 (red), 32 (green), 16 (blue) and 8 (yellow) texels, checkered."""
    levels = [checker(64 >> n, 16 >> n, color) for n, color in enumerate(LEVELS)]
    return s.put(b"".join(surface.encode(level, BY_NAME["RGBA8"], "tiled") for level in levels))


@scene(4, 4, 32)
def texture_filters(s: Scene) -> None:
    """A checkered floor that goes into the distance; levels 0 to 3 are red, green, blue, yellow. First two rows:
    filters for magnification, minification (nearest: hard squares) and between levels (linear: colours fade). Third
    row: bias of -1, 0.5, 1 and 2 levels. Fourth: at most level 0, at most 1, at least 1, level 2 only."""
    address = mipmapped(s)
    s.cl.combiner(0, SHOW, SHOW)

    def floor(label: str, mag: str, min: str, mip: str, bias: float = 0.0, least: int = 0, most: int = 3) -> None:
        cl = s.cell(label).texture(0, address, 64, 64)
        cl.write("TEXUNIT0_PARAM", wrap_s="repeat", wrap_t="repeat", mag_filter=mag, min_filter=min, mip_filter=mip)
        cl.write("TEXUNIT0_LOD", bias=bias, min_level=least, max_level=most)
        s.floor(8, 0.11, 0.9)

    for mip in ("nearest", "linear"):
        for mag, min in (("nearest", "nearest"), ("linear", "nearest"), ("nearest", "linear"), ("linear", "linear")):
            floor(f"mag {mag}, min {min}, levels {mip}", mag, min, mip)
    for bias in (-1.0, 0.5, 1.0, 2.0):
        floor(f"bias {bias:g}", "linear", "linear", "linear", bias)
    for least, most in ((0, 0), (0, 1), (1, 3), (2, 2)):
        floor(f"levels {least} to {most}", "linear", "linear", "linear", 0.0, least, most)


def signs(s: Scene) -> list[Array]:
    return [
        letter(16, (1, 0.9, 0.2, 1), (0.5, 0, 0, 1)), letter(16, (0.3, 1, 0.5, 1), (0, 0.25, 0, 1)),
        letter(16, (0.5, 0.8, 1, 1), (0, 0, 0.5, 1)),
    ]  # fmt: skip


@scene(4, 2, 16)
def texture_units(s: Scene) -> None:
    """Units 0 (red), 1 (green) and 2 (blue), an F each. Coordinates 0 are plain, 1 mirrored, 2 upside down; unit 2 can
    take those of unit 1. Then all three added; a unit that is off (black, transparent); one without an address (black,
    opaque); units 0 and 2 on, unit 1 off, all added."""
    on_grey(s)
    addresses = [s.capture.put_texture(picture) for picture in signs(s)]

    def draw(label: str, units: tuple[int, ...], shown: tuple[int, ...], **config: str) -> None:
        cl = s.cell(label).no_textures()
        for unit in units:
            cl.texture(unit, addresses[unit], 16, 16, filter="nearest")
        cl.write(
            "TEXUNIT_CONFIG", constant_one=True, **{f"unit{unit}_enable": unit in units for unit in range(3)}, **config
        )
        first = f"texture {shown[0]}"
        cl.combiner(0, ("replace", first), ("replace", first))
        for stage in (1, 2):
            more = ("add", "previous stage", f"texture {shown[stage]}") if stage < len(shown) else None
            cl.combiner(stage, *((more, more) if more else ()))
        s.quad(uv1=((1, 0), (0, 0), (0, 1), (1, 1)), uv2=((0, 1), (1, 1), (1, 0), (0, 0)))

    draw("unit 0", (0,), (0,))
    draw("unit 1", (1,), (1,))
    draw("unit 2", (2,), (2,))
    draw("unit 2, coordinates 1", (2,), (2,), unit2_coordinates="texcoord1")
    draw("all, added", (0, 1, 2), (0, 1, 2))
    draw("unit 1 off", (0, 2), (1,))
    addresses[0] = 0
    draw("unit 0 without address", (0,), (0,))
    addresses[0] = s.capture.put_texture(signs(s)[0])
    draw("all added, unit 1 off", (0, 2), (0, 1, 2))


# Direction of each face's lower left, lower right, upper right and upper left corner.
FACES = {
    "+x": ((1, -1, 1), (1, -1, -1), (1, 1, -1), (1, 1, 1)),
    "-x": ((-1, -1, -1), (-1, -1, 1), (-1, 1, 1), (-1, 1, -1)),
    "+y": ((-1, 1, 1), (1, 1, 1), (1, 1, -1), (-1, 1, -1)),
    "-y": ((-1, -1, -1), (1, -1, -1), (1, -1, 1), (-1, -1, 1)),
    "+z": ((-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)),
    "-z": ((1, -1, -1), (-1, -1, -1), (-1, 1, -1), (1, 1, -1)),
}
INKS = ((1, 0.3, 0.3, 1), (0.6, 0, 0, 1), (0.3, 1, 0.3, 1), (0, 0.5, 0, 1), (0.4, 0.5, 1, 1), (0.1, 0.1, 0.7, 1))


def cube_addresses(s: Scene, faces: list[int]) -> None:
    s.cl.write("TEXUNIT0_ADDR", address=faces[0])
    for number, address in enumerate(faces[1:], 2):
        s.cl.write(f"TEXUNIT0_ADDR{number}", address=address >> 3 & 0x3FFFFF)


@scene(6, 2, 32, gap=0)
def texture_types(s: Scene) -> None:
    """Upper row: the six faces of a cube map, each an F on its own colour (red, green, blue; the negative sides
    darker), seen from the middle with y up: F is upside down, since texture coordinates of faces run downward. Lower
    row: a corner where three faces meet, all the way round, an ordinary texture (not divided by w), the same as
    projection (divided by w: the F is whole), type 5 (disabled), the corner with a linear filter."""
    on_grey(s)
    faces = [s.capture.put_texture(letter(16, WHITE, ink)) for ink in INKS]
    s.cl.combiner(0, SHOW, SHOW)

    def kind(name: str | int, filter: str = "nearest") -> None:
        s.cl.texture(0, faces[0], 16, 16, filter=filter, wrap="clamp to edge")
        cube_addresses(s, faces)
        s.cl.write(
            "TEXUNIT0_PARAM", type=name, wrap_s="clamp to edge", wrap_t="clamp to edge", mag_filter=filter,
            min_filter=filter,
        )  # fmt: skip

    for name, corners in FACES.items():
        s.cell(name)
        kind("cube")
        s.quad(uv0=corners)
    s.cell("corner")
    kind("cube")
    s.quad(uv0=((1.6, 0, 0), (0, 0, 1.6), (0.2, 1.6, 0.2), (0.9, 1.2, -0.3)))
    s.cell("all the way round")
    kind("cube")
    turn = np.linspace(0, 2 * np.pi, 13)
    edge = [(x, y) for x in np.linspace(-1, 1, 13) for y in (-1, 1)]
    around = [(np.sin(a), y, np.cos(a)) for a in turn for y in (-1.5, 1.5)]
    s.draw(edge, uv0=around, primitive="triangle strip")
    divided = ((0, 0, 1), (1, 0, 1), (3, 3, 3), (0, 3, 3))
    for label, name in (("2D with w", "2D"), ("projection", "projection"), ("type 5", "disabled")):
        s.cell(label)
        kind(name)
        s.quad(uv0=divided)
    s.cell("corner, linear")
    kind("cube", "linear")
    s.quad(uv0=((1.6, 0, 0), (0, 0, 1.6), (0.2, 1.6, 0.2), (0.9, 1.2, -0.3)))
