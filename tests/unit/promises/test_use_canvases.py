"""The canvas of the Switch and its programs as scenes use them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pocketgpu.builder import Box
from pocketgpu.builder.matrices import translation
from pocketgpu.builder.maxwell import MaxwellCanvas
from pocketgpu.builder.maxwell.programs import (
    COLORED,
    FLAT,
    LIT,
    LIT_TEXTURE,
    MESH_VALUES,
    SHADE,
    TEXTURED,
    VALUES,
    transformed,
)
from pocketgpu.builder.shapes import sphere
from pocketgpu.facts.maxwell.samples import SAMPLE_PLACES
from pocketgpu.pictures import to_image


def test_a_canvas_of_the_switch_draws_with_programs_and_samples(tmp_path: Path) -> None:
    canvas = MaxwellCanvas(64, 48, (0, 0, 0))
    assert (canvas.width, canvas.height, canvas.color, canvas.view.shape) == (64, 48, (0, 0, 0), (4, 4))
    many = canvas.samples(4)
    canvas.blend("ONE", "ZERO").test_depth("LESS").mesh(sphere(), translation(0, 0, -3), color=(255, 200, 0), pixel=LIT)
    canvas.resolve(many).depth().wait()
    small = canvas.surface(32, 32)
    canvas.draw_to_all(small).draw_to(small).clear((0, 0, 255)).draw_to_all(canvas.target).texture(small)
    canvas.textured(Box(0, 0, 8, 8), pixel=TEXTURED).show(small, (8, 0, 8, 8), filter="BILINEAR")
    canvas.programs(canvas.program("pixel", FLAT)).constants((0, 1, 0, 1))
    canvas.vertices([(*at, 0, 0, 0, 0) for at in canvas.corners((16, 0, 8, 8))]).draw_these("TRIANGLE_STRIP", 4)
    rows, words = canvas.rows(np.full((8, 8, 4), 255, np.uint8)), canvas.put(b"\1\2")
    canvas.square((40, 40, 8, 8), (0, 0, 255)).shaded((24, 0, 8, 8), [(1, 1, 1, 1)] * 4, COLORED).submit().end_frame()
    assert rows.pitch == 64 and canvas.memory(words, 2).tolist() == [1, 2]
    assert canvas.allocate(4) % 256 == 0 and repr(canvas.capture)
    canvas.save(tmp_path / "canvas.mxcap.zip")
    assert (tmp_path / "canvas.mxcap.zip").read_bytes() == canvas.tobytes()
    (first,) = canvas.images()
    assert len(canvas.pb) == 0
    found = [first.getpixel((x, 4)) for x in (4, 12, 20, 28)]
    assert found == [(0, 0, 255), (0, 0, 255), (0, 255, 0), (255, 255, 255)]
    red, green, blue = first.getpixel((30, 22))
    assert red > green > 120 and blue == 0
    lines = transformed(8, 0).splitlines()
    assert len(lines) == 16 and SAMPLE_PLACES[1] == ((8, 8),)
    for text in (MESH_VALUES + SHADE, LIT_TEXTURE, VALUES + "EXIT"):
        assert canvas.program("pixel", text) % 128 == 0
    assert to_image(np.zeros((2, 3, 3), np.uint8)).size == (3, 2)
