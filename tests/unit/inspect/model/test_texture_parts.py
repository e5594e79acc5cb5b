"""Texels and memory: a texel's bytes are at its address, and memory as a picture is what the machine drew there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pocketgpu
from pocketgpu.errors import UsageError
from pocketgpu.facts.formats import BY_NAME
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.resources import order_of
from pocketgpu.pica.memory import surface

DATA = Path(pocketgpu.__file__).parent / "data"
PLACES = {"sample.ctf.xz": ("f0/d2", "f0/d4", "f0/d15"), "sample_switch.mxcap.zip": ("f1/d54",)}


@pytest.fixture(scope="module", params=list(PLACES))
def named(request: pytest.FixtureRequest) -> Iterator[tuple[str, Inspection]]:
    yield request.param, pocketgpu.debug(DATA / request.param)


def _textures(name: str, run: Inspection) -> Iterator[tuple[Any, Any, Any]]:
    for place in PLACES[name]:
        moment = run.seek(place)
        assert moment.textures, place
        for one in moment.textures.values():
            for part in one.parts:
                yield moment, one, part


def test_parts_are_the_pictures(named: tuple[str, Inspection]) -> None:
    for _, texture, part in _textures(*named):
        pictures = texture.pictures()
        assert list(pictures) == [one.name for one in texture.parts]
        assert np.array_equal(pictures[part.name], texture.pixels(part))
        assert texture.pixels(part).shape == (part.height, part.width, 4)
        assert texture.part(part.name) == part
        with pytest.raises(UsageError, match="no part"):
            texture.part("nothing")


def test_a_texel_is_at_its_address(named: tuple[str, Inspection]) -> None:
    name, run = named
    for moment, texture, part in _textures(name, run):
        addresses = texture.addresses(part)
        assert addresses.shape == (part.height, part.width)
        low, high = int(addresses.min()), int(addresses.max()) + texture.texel_bytes
        data = np.frombuffer(moment.read(low, high - low), np.uint8)
        if texture.facts.format in BY_NAME:
            pixel = BY_NAME[texture.facts.format]
            texels = surface.decode_texels(data, pixel)
            assert np.array_equal(texels[: part.width * part.height], texture.stored(part).reshape(-1, 4))
        else:
            assert texture.facts.format == "R8"
            assert np.array_equal(data[addresses - low], texture.pixels(part)[..., 0])
        place = texture.place(part, 3, 2)
        assert (place.address, place.size) == (int(addresses[2, 3]), texture.texel_bytes)
        with pytest.raises(UsageError, match="no texel"):
            texture.place(part, part.width, 0)


def test_the_order_of_memory_is_a_permutation(named: tuple[str, Inspection]) -> None:
    for _, texture, part in _textures(*named):
        addresses = texture.addresses(part)
        order = order_of(addresses)
        assert sorted(order.tolist()) == list(range(part.width * part.height))
        assert (np.diff(addresses.reshape(-1)[order]) >= 0).all()


def test_memory_as_a_picture_is_the_target(named: tuple[str, Inspection]) -> None:
    name, run = named
    moment = run.seek(PLACES[name][0])
    if "switch" in name:
        one = moment.surfaces()[0]  # type: ignore[attr-defined]
        log2 = one.plane.layout.block_height_log2
        layout = next(text for text in moment.memory_formats.layouts if f" {1 << log2} GOB" in text)
        wanted = np.asarray(moment.pictures["target"].pixels)
        found = moment.memory_picture(one.address, one.format.name, layout, one.width, one.height)
        assert np.array_equal(found, wanted) or np.array_equal(found[::-1], wanted)
    else:
        target = moment.target
        found = moment.memory_picture(target.address, target.format.name, "tiled", target.width, target.height)
        assert np.array_equal(found, target.rows)


def test_every_format_and_layout_gives_a_picture(named: tuple[str, Inspection]) -> None:
    name, run = named
    moment = run.seek(PLACES[name][0])
    address = moment.event.writes[0].address  # type: ignore[union-attr]
    formats = moment.memory_formats
    assert formats.first[0] in formats.formats
    assert formats.first[1] in formats.layouts
    for format in formats.formats:
        for layout in formats.layouts:
            if format.startswith("ETC1") and layout == "linear":
                continue  # refused: this format is tiled always
            picture = moment.memory_picture(address, format, layout, 33, 17)
            assert (picture.shape, picture.dtype) == ((17, 33, 4), np.uint8), (format, layout)


def test_pictures_of_memory_have_limits(named: tuple[str, Inspection]) -> None:
    name, run = named
    moment = run.seek(PLACES[name][0])
    format, layout = moment.memory_formats.first
    for wrong in ((format, layout, 5000, 8), (format, layout, 8, 0), ("X", layout, 8, 8), (format, "X", 8, 8)):
        with pytest.raises(UsageError):
            moment.memory_picture(0x18000000, *wrong)


def test_what_is_mapped(named: tuple[str, Inspection]) -> None:
    name, run = named
    moment = run.seek(PLACES[name][0])
    assert moment.mapped(0x10, 64) == []
    place = moment.event.writes[0]  # type: ignore[union-attr]
    parts = moment.mapped(place.address + 3, 5000)
    assert [(one.address, one.size) for one in parts] == [(place.address + 3, 5000)]
    assert len(moment.read(place.address + 3, 5000)) == 5000
