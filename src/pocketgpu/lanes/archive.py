"""Kernels made ahead of time: a file for each target and GPU, with the package or in the cache.

    data/kernels/x86-64-v3.pica.kernels       general code of the 3DS for processors with AVX2

A file has the images of many kernels, compressed together, and a table from recipes to images. A recipe names the
source that a kernel was traced from (`recipes.py`). The head of a file names that source too, so a file of other source
is not even unpacked. All code of a file is put into memory when its first kernel is asked for, which takes a few
milliseconds; its digest is verified before.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final, NamedTuple

from pocketgpu.digests import blake2b
from pocketgpu.lanes import code_image, object_cache, recipes
from pocketgpu.lanes.target import host

SHIPPED: Final = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "data", "kernels")
"""Where the files of the package are. A clone has none; `pocketgpu cache make` writes into the cache."""
SUFFIX: Final = ".kernels"
_MAGIC: Final = b"pgpukrn2"
_SOURCE: Final = 20
_DIGEST: Final = 32
_HEAD: Final = len(_MAGIC) + _SOURCE + _DIGEST
_COUNTS: Final = struct.Struct("<II")  # recipes, images
MOST_PARAMETERS: Final = 16
_RECIPE: Final = struct.Struct(f"<20s{MOST_PARAMETERS}sI")  # a recipe, types of its parameters, number of its image
_SIZE: Final = struct.Struct("<I")  # bytes of an image
_LEVEL: Final = 19
"""How hard zstd tries. Files are written once."""


class Image(NamedTuple):
    """A kernel that was made: types of its parameters (`Kernel.types`), and its code."""

    types: str
    code: bytes


class Found(NamedTuple):
    """A kernel that is loaded."""

    types: str
    address: int


def file_name(room: str) -> str:
    """The name of the file with the kernels of a room of the package, for the target of this process."""
    return f"{host().name}.{room}{SUFFIX}"


def encode(room: str, images: Mapping[str, Image]) -> bytes:
    """The bytes of a room's file. images: by recipe. Equal code is kept once; the order does not matter."""
    from zstandard import ZstdCompressor

    distinct = sorted({image.code for image in images.values()})
    numbers = {code: number for number, code in enumerate(distinct)}
    table = b"".join(
        _RECIPE.pack(bytes.fromhex(recipe), image.types.encode(), numbers[image.code])
        for recipe, image in sorted(images.items())
    )
    sizes = b"".join(_SIZE.pack(len(code)) for code in distinct)
    body = _COUNTS.pack(len(images), len(distinct)) + table + sizes + b"".join(distinct)
    packed = ZstdCompressor(level=_LEVEL).compress(body)
    return _MAGIC + _source(room) + blake2b(packed, digest_size=_DIGEST).digest() + packed


def _source(room: str) -> bytes:
    return recipes.source(room) or bytes(_SOURCE)


class _Contents(NamedTuple):
    """recipes: (recipe, types, number of the code)."""

    recipes: list[tuple[bytes, bytes, int]]
    codes: list[memoryview]


def _contents(room: str, data: bytes) -> _Contents:
    """What is in a room's file; nothing if it is damaged or of other source."""
    from zstandard import ZstdDecompressor, ZstdError

    head, packed = data[:_HEAD], data[_HEAD:]
    if head != _MAGIC + _source(room) + blake2b(packed, digest_size=_DIGEST).digest():
        return _Contents([], [])
    try:
        body = memoryview(ZstdDecompressor().decompress(packed))
    except ZstdError:
        return _Contents([], [])
    recipes, count = _COUNTS.unpack_from(body)
    at = _COUNTS.size
    table = list(_RECIPE.iter_unpack(body[at : at + recipes * _RECIPE.size]))
    at += recipes * _RECIPE.size
    sizes = [size for (size,) in _SIZE.iter_unpack(body[at : at + count * _SIZE.size])]
    at += count * _SIZE.size
    codes = []
    for size in sizes:
        codes.append(body[at : at + size])
        at += size
    return _Contents(table, codes)


def _types(field: bytes) -> str:
    return field.rstrip(b"\0").decode()


def decode(room: str, data: bytes) -> dict[str, Image]:
    """The images of a room's file by recipe; none if it is damaged or of other source."""
    recipes, codes = _contents(room, data)
    return {recipe.hex(): Image(_types(types), bytes(codes[number])) for recipe, types, number in recipes}


def _key(room: str) -> str:
    """The key of a file in the cache."""
    return blake2b(_MAGIC + _source(room) + file_name(room).encode(), digest_size=20).hexdigest()


def keep(room: str, data: bytes) -> None:
    """Keep a file in the cache; processes that begin later use it."""
    object_cache.write(_key(room), data)


def _files(room: str) -> Iterator[tuple[str, bytes]]:
    with contextlib.suppress(OSError):
        with open(os.path.join(SHIPPED, file_name(room)), "rb") as file:
            data = file.read()
        yield "package", data
    kept = object_cache.read(_key(room))
    if kept is not None:
        yield "cache", kept


def images(room: str) -> dict[str, Image]:
    """The images of the file that is used, by recipe."""
    return next((found for _, data in _files(room) if (found := decode(room, data))), {})


@cache
def _table(room: str) -> tuple[str, dict[str, Found]]:
    """Where the file of a room is, and its kernels by recipe."""
    if host().level:
        for place, data in _files(room):
            recipes, codes = _contents(room, data)
            try:
                addresses = code_image.load(codes) if codes else []
            except (code_image.UnloadableError, OSError):
                continue
            if addresses:
                return place, {
                    recipe.hex(): Found(_types(types), addresses[number]) for recipe, types, number in recipes
                }
    return "", {}


def find(room: str, recipe: str) -> Found | None:
    """A kernel that was made ahead of time."""
    return _table(room)[1].get(recipe)


def place(room: str) -> str:
    """Where the kernels of a room come from: "package", "cache", or "" if there are none."""
    return _table(room)[0]


def forget() -> None:
    """Look for files again; code that is loaded stays."""
    _table.cache_clear()
