"""Which captures are swept: patterns, folders, lists of names, the standard input.

    sources(["captures/**/*.pgc", "more", "@list.txt"], What.parse("check"))
"""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from pocketgpu.digests import blake2b
from pocketgpu.displayed import plain
from pocketgpu.errors import UsageError
from pocketgpu.sweeps.model.task import DIFF, Source, What

PACKINGS: Final = ("", ".xz", ".zst", ".gz")
ENDINGS: Final = (".ctf", ".gx.json", ".mxcap.zip", ".pgc", ".3dsx", ".nro", ".elf")
"""Names of what is taken from a folder: captures, plain or packed, and programs."""
PROGRAMS: Final = (".3dsx", ".nro", ".elf")
LOG: Final = ".gx.json"
MEMORY: Final = ".mem.bin"
STDIN: Final = "-"
LIST: Final = "@"
MOST_NAMES: Final = 5
"""Most missing captures that a message names."""
_PIECE: Final = 1 << 20
_SIZE: Final = 20
_MAGIC: Final = re.compile(r"[*?\[]")


def sources(patterns: Sequence[str], what: What) -> list[Source]:
    """The captures that the patterns name, in the order of their names, each once.

    A pattern is a file, a folder (everything in it whose name ends like a capture's), a glob (`**` for folders of any
    depth), `@FILE` for a list with a pattern in each line, or `-` for such a list from the standard input.

    :raises UsageError: a pattern names nothing, or a file cannot be read.
    """
    found: dict[str, Path] = {}
    for path in _files(patterns):
        found.setdefault(path.as_posix(), path)
    if not found:
        raise UsageError("no capture is named", hint="Name files, folders or globs; a list has one in each line.")
    other = Path(what.baseline) if what.work == DIFF else None
    if other is not None and not other.is_dir():
        hint = "Name the folder: diff=FOLDER."
        raise UsageError("there is no such folder to compare with", location=what.baseline, hint=hint)
    base = _base(found.values())
    return [
        _source(name, path, None if other is None else _counterpart(path, base, other))
        for name, path in sorted(found.items())
    ]


def _files(patterns: Iterable[str], depth: int = 0) -> Iterator[Path]:
    missing: list[str] = []
    for pattern in patterns:
        if pattern == STDIN or (pattern.startswith(LIST) and not Path(pattern).exists()):
            if depth:
                hint = "Write all captures into one list."
                raise UsageError("a list names another list", location=pattern, hint=hint)
            yield from _files(_lines(pattern), depth + 1)
            continue
        path = Path(pattern)
        if path.is_dir():
            inside = sorted(one for one in path.rglob("*") if is_capture(one.name) and one.is_file())
            if not inside:
                raise UsageError("no capture is in the folder", location=pattern, hint=f"Names end in {_endings()}.")
            yield from inside
        elif path.exists() or not _MAGIC.search(pattern):
            if path.is_file():
                yield path
            else:
                missing.append(pattern)
        else:
            matching = sorted(Path(one) for one in glob.glob(pattern, recursive=True))
            matching = [one for one in matching if one.is_file() and not _is_memory(one.name)]
            if not matching:
                raise UsageError("no capture matches", location=pattern, hint="Try the pattern with ls.")
            yield from matching
    if missing:
        what = "there is no such capture" if len(missing) == 1 else f"{len(missing)} captures are missing"
        names = ", ".join(map(plain, missing[:MOST_NAMES]))
        more = f" and {len(missing) - MOST_NAMES} more" if len(missing) > MOST_NAMES else ""
        raise UsageError(what, location=f"{names}{more}", hint="Check the paths; they begin in this folder.")


def _endings() -> str:
    return ", ".join(ENDINGS)


def is_capture(name: str) -> bool:
    """Whether a file of this name is taken from a folder."""
    lower = name.lower()
    return any(lower.endswith(ending + packing) for ending in ENDINGS for packing in PACKINGS)


def _is_memory(name: str) -> bool:
    """Whether it is the memory file of a log, which is no capture by itself."""
    return any(name.lower().endswith(MEMORY + packing) for packing in PACKINGS)


def _lines(pattern: str) -> list[str]:
    """The patterns of a list, without empty lines."""
    if pattern == STDIN:
        data = sys.stdin.buffer.read()
    else:
        try:
            data = Path(pattern.removeprefix(LIST)).read_bytes()
        except OSError as error:
            what = f"cannot read the list: {error.strerror or error}"
            raise UsageError(what, location=pattern, hint="It has a pattern in each line.") from None
    found = (os.fsdecode(line.removesuffix(b"\r")) for line in data.split(b"\n"))
    return [line for line in found if line]


def _base(paths: Iterable[Path]) -> Path:
    """The folder that all are in."""
    return Path(os.path.commonpath([os.path.abspath(path.parent) for path in paths]))


def _counterpart(path: Path, base: Path, other: Path) -> Path | None:
    """The capture of the same place in another folder, with the same packing or another one."""
    place = other / Path(os.path.abspath(path)).relative_to(base)
    plain = next((place.name.removesuffix(one) for one in PACKINGS[1:] if place.name.endswith(one)), place.name)
    candidates = [place, *(place.with_name(plain + packing) for packing in PACKINGS)]
    return next((one for one in candidates if one.is_file()), None)


def _source(name: str, path: Path, other: Path | None) -> Source:
    files, others = files_of(path), () if other is None else files_of(other)
    digest = blake2b(digest_size=_SIZE)
    for one in (*files, *others):
        try:
            with one.open("rb") as file:
                while piece := file.read(_PIECE):
                    digest.update(piece)
        except OSError as error:
            what = f"cannot read the capture: {error.strerror or error}"
            raise UsageError(what, location=str(one), hint="Check the path and its permissions.") from None
        digest.update(b"/")
    return Source(name, path, digest.digest(), files, other, others)


def files_of(path: Path) -> tuple[Path, ...]:
    """A capture's files: a GX log has a second one beside it, NAME.mem.bin, plain or packed."""
    lower = path.name.lower()
    packing = next((one for one in PACKINGS[1:] if lower.endswith(one)), "")
    stem = path.name[: len(path.name) - len(packing)] if packing else path.name
    if not stem.lower().endswith(LOG):
        return (path,)
    beside = [path.with_name(stem[: -len(LOG)] + MEMORY + one) for one in PACKINGS]
    return (path, *(one for one in beside if one.is_file()))


__all__ = ["files_of", "is_capture", "sources"]


def __dir__() -> list[str]:
    return [*__all__]
