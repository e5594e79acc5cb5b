"""Finding cached machine code without tracing again.

A recipe names what a kernel's IR text is made from: source of the package, the kernel and its static values; source and
target give the number of lanes. For a recipe the disk cache keeps the key of the object that tracing led to; objects
themselves are stored by the digest of their text. Only kernels of this package have recipes, because only its source is
part of the digest.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from pocketgpu.digests import blake2b
from pocketgpu.lanes import object_cache

if TYPE_CHECKING:
    from pocketgpu.lanes.kernel import Kernel

_PACKAGE = __name__.partition(".")[0]
_LINK = b"link:"
_SOURCE = b"source:"
_SHAPES_CODE = (".py", ".tsv")  # tables of facts are source, too
BELOW = ("facts", "lanes")
MACHINES = ("maxwell", "pica")
"""Rooms whose kernels are made from nothing but the room, what is BELOW, and the package's own modules."""


_File = tuple[str, int, int]
"""Path, size and time of a file."""


@cache
def _inside(folder: str, deep: bool = True) -> list[_File]:
    """All files of code and tables in a folder, and with `deep` in the folders inside it.

    Each process asks for these before its first kernel, so this uses scandir: pathlib takes three times as long.
    """
    found: list[_File] = []
    folders = [folder]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                name = entry.name
                if name.endswith(_SHAPES_CODE):
                    about = entry.stat()
                    found.append((entry.path, about.st_size, about.st_mtime_ns))
                elif deep and "." not in name and name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return found


def _files(root: str, rooms: Sequence[str]) -> list[_File]:
    """All files of code and tables of the package, in a fixed order. rooms: the folders in `root` that count; none: all
    of them."""
    if not rooms:
        with os.scandir(root) as entries:
            rooms = [one.name for one in entries if "." not in one.name and one.name != "__pycache__" and one.is_dir()]
    found = list(_inside(root, deep=False))
    for room in rooms:
        found += _inside(os.path.join(root, room))
    return sorted(found)


@cache
def source(room: str = "") -> bytes | None:
    """A digest of the source and the tables that kernels of a room are made from, or of all; None where there are no
    files to read.

    The bytes of all files are read when a size or a time of them has changed, which takes five times as long as asking
    for these; the cache keeps the digest that they led to.
    """
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    rooms = (*BELOW, room) if room in MACHINES else ()
    try:
        files = _files(root, rooms)
        if not files:
            return None
        key = blake2b(repr(files).encode("utf-8", "surrogateescape"), digest_size=20).hexdigest()
        known = object_cache.read(key)
        if known is not None and known.startswith(_SOURCE):
            return known[len(_SOURCE) :]
        found = _digest(root, files)
    except OSError:
        return None
    object_cache.write(key, _SOURCE + found)
    return found


def _digest(root: str, files: Iterable[_File]) -> bytes:
    """Of names and bytes, so that it is the same wherever the package lies."""
    digest = blake2b(digest_size=20)
    for path, _, _ in files:
        with open(path, "rb", buffering=0) as file:
            digest.update(b"%s\0%s\0" % (os.fsencode(path[len(root) :]), file.read()))
    return digest.digest()


def of(kernel: Kernel, static: dict[str, Any], stamp: bytes) -> str | None:
    """The recipe's name in the cache, or None if this specialisation cannot have one."""
    module, name = kernel.home
    if not module.startswith(f"{_PACKAGE}."):
        return None
    stand = source(room(kernel))
    values = repr(sorted(static.items()))
    if stand is None or " at 0x" in values:
        return None
    text = f"{module}.{name}/{values}"
    return blake2b(stand + stamp + text.encode(), digest_size=20).hexdigest()


def room(kernel: Kernel) -> str:
    """The room of the package that a kernel is of: "pica", "maxwell", ..."""
    return kernel.home[0].split(".")[1]


class Link(NamedTuple):
    """What a recipe led to: the key of an object, and the types of the kernel's parameters (`Kernel.types`). With the
    types at hand the module that describes the kernel is not needed."""

    key: str
    types: str


def find(recipe: str) -> Link | None:
    """The object that a recipe led to."""
    data = object_cache.read(recipe)
    if data is None or not data.startswith(_LINK):
        return None
    key, space, types = data[len(_LINK) :].decode("ascii").partition(" ")
    return Link(key, types) if space else None


def remember(recipe: str, link: Link) -> None:
    """Keep what a recipe led to."""
    object_cache.write(recipe, _LINK + f"{link.key} {link.types}".encode())
