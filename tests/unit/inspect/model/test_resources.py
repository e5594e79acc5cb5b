"""Textures, buffers and vertices of a draw, made by hand: one line of text and plain data for each."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

from pocketgpu.inspect.model.resources import ConstantBuffer, Program, TextureFacts
from pocketgpu.inspect.model.vertices import Attribute, IndexBuffer, VertexBuffer, Vertices

TEXTURE: dict[str, Any] = {"name": "unit0", "bound": "unit 0", "kind": "2D", "format": "RGBA8", "width": 8, "height": 4}


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, "unit 0: 2D 8x4 RGBA8 at no memory"),
        ({"address": 0}, "unit 0: 2D 8x4 RGBA8 at 0x0"),
        ({"address": 0x1800, "levels": 2}, "unit 0: 2D 8x4 RGBA8 at 0x1800, 2 levels"),
        ({"height": 1, "layers": 6, "enabled": False}, "unit 0: 2D 8 RGBA8 at no memory, 6 layers, off"),
        ({"width": 1, "height": 1}, "unit 0: 2D 1 RGBA8 at no memory"),
        ({"depth": 2}, "unit 0: 2D 8x4x2 RGBA8 at no memory"),
        ({"fault": "its header is broken", "levels": 3}, "unit 0: its header is broken"),
    ],
)
def test_a_texture_in_a_line(more: dict[str, Any], text: str) -> None:
    found = TextureFacts(**{**TEXTURE, **more})
    data = found.to_json()
    assert str(found) == text and data["settings"] == {}
    assert data["address"] == (f"{more['address']:#x}" if "address" in more else None)
    assert {name: data[name] for name in TEXTURE} == {name: getattr(found, name) for name in TEXTURE}


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        (Attribute("v0", "3 x f32", "f32", 0x100, 16), "v0: 3 x f32 from 0x100, 16 bytes for each vertex"),
        (
            Attribute("a1", "R8_G8", "UNORM", 0x10, 2, "instance"),
            "a1: R8_G8 UNORM from 0x10, 2 bytes for each instance",
        ),
        (Attribute("v2", "4 x f32", "constant", None, 0, "draw"), "v2: a constant"),
        (Attribute("a3", "R32", "FLOAT", None, 4), "a3: R32 FLOAT from no memory of its own"),
    ],
)
def test_an_attribute_in_a_line(attribute: Attribute, text: str) -> None:
    assert str(attribute) == text
    address = None if attribute.address is None else f"{attribute.address:#x}"
    assert attribute.to_json() == {**vars(attribute), "address": address}


def test_buffers_in_a_line() -> None:
    whole = VertexBuffer(2, 0x180, 16, ("v0: 3 x f32", "v1: 4 x u8"), 640)
    assert str(whole) == "buffer 2 at 0x180, every 16 of 640 bytes: v0: 3 x f32, v1: 4 x u8"
    assert str(VertexBuffer(0, 0x180, 16, ())) == "buffer 0 at 0x180, every 16 bytes: no attribute"
    assert whole.to_json() == {
        "number": 2, "address": "0x180", "size": 640, "stride": 16, "components": ["v0: 3 x f32", "v1: 4 x u8"],
    }  # fmt: skip
    indices = IndexBuffer(0x20, "u16", np.array([3, 1, 7], np.uint16))
    assert str(indices) == "3 x u16 at 0x20"
    data = {"address": "0x20", "type": "u16", "count": 3, "lowest": 1, "highest": 7}
    assert indices.to_json() == data
    empty = IndexBuffer(0x20, "u16", np.zeros(0, np.uint16)).to_json()
    assert empty == data | {"count": 0, "lowest": None, "highest": None}


@pytest.mark.parametrize(("size", "most"), [(0, 8), (4, 8), (20, 8), (35, 8), (36, 8), (32, 8), (48, 6)])
def test_words_of_a_constant_buffer(size: int, most: int) -> None:
    """Bytes that make no whole word are left out. Each line has four words, as digits and as floats."""
    raw = np.arange(size // 4, dtype="<f4").tobytes() + bytes(size % 4)
    buffer = ConstantBuffer("pixel", 3, 0x500, size, raw)
    words = [struct.unpack_from("<I", raw, at)[0] for at in range(0, size - size % 4, 4)]
    assert buffer.words.tolist() == words and buffer.to_json()["data"] == raw.hex()
    lines = list(buffer.lines(most))
    left = len(words) - most
    if left > 0:
        assert lines.pop() == f"{left} word{'s' * (left > 1)} more; --json has them all"
    assert len(lines) == -(-min(len(words), most) // 4)
    for n, line in enumerate(lines):
        row = words[4 * n : 4 * n + 4]
        numbers = ", ".join(f"{4 * n + m:g}" for m in range(len(row)))
        assert line == f"c[0x3][{16 * n:#x}] {' '.join(f'{one:08x}' for one in row)}  {numbers}"
    assert str(buffer) == f"pixel c[0x3]: {size} bytes at 0x500"


def test_vertices_are_counted() -> None:
    both = np.dtype([("v0", "<f4", 4), ("v1", "<f4", 4)])
    out = np.dtype([("position", "<f4", 4)])
    found = Vertices(
        np.array([4, 5, 4, 6]), np.array([4, 5, 4, 6], np.uint32), np.zeros(4, both), np.zeros(4, out), None,
        np.array([[0, 1, 2], [1, 2, 3]]), (), "TRIANGLE_STRIP",
    )  # fmt: skip
    assert (len(found), str(found)) == (4, "4 vertices, 2 triangles") and found.shaded is found.outputs
    data = {
        "count": 4, "distinct": 3, "triangles": 2, "primitives": "TRIANGLE_STRIP", "attributes": [],
        "inputs": ["v0", "v1"], "outputs": ["position"], "emitted": None, "cut": 0,
    }  # fmt: skip
    assert found.to_json() == data
    found.emitted, found.emitted_by = np.zeros(5, out), "a geometry program"
    assert str(found) == "4 vertices, 5 emitted by a geometry program, 2 triangles" and found.shaded is found.emitted
    assert found.to_json() == data | {"emitted": 5}


class _Program(Program):
    unit = "vertex"
    digest, size, text, begins = "0123456789abcdef", "2 words", "mov r0, v0\nend", 0x10  # type: ignore[assignment]

    @property
    def uniforms(self) -> dict[str, list[Any]]:
        return {"c0": [1.5, float("inf"), float("nan"), -float("inf")], "i0": [1, 2, 3]}


def test_a_program_as_text_and_data() -> None:
    assert str(_Program()) == "vertex program 0123456789abcdef, 2 words\nmov r0, v0\nend"
    assert _Program().to_json() == {
        "unit": "vertex", "digest": "0123456789abcdef", "begins": "0x10", "size": "2 words",
        "text": "mov r0, v0\nend", "uniforms": {"c0": [1.5, "inf", "nan", "-inf"], "i0": [1, 2, 3]},
    }  # fmt: skip
