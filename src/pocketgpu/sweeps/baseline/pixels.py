"""Pictures of two sweeps, compared pixel by pixel. Each pair of different digests is decoded once, on all cores."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from pocketgpu.errors import UsageError
from pocketgpu.inspect.pictures.comparing import Comparison, Pixels, compare, read_picture
from pocketgpu.sweeps.engine.clusters import cores
from pocketgpu.sweeps.model.rows import place_of

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
Pair = tuple[str, str]
Found = Comparison | str


def is_digest(text: object) -> bool:
    """Whether a text of a row can name a picture. Rows may come from somebody else: they name no other file."""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def picture_path(folder: Path, sha256: str) -> Path | None:
    """The file of a picture in a folder of results; None if the text is no digest."""
    return folder / place_of(sha256) if is_digest(sha256) else None


def compared(
    pairs: Iterable[Pair], before: Path, after: Path, progress: Callable[[int, int], None] | None = None
) -> Mapping[Pair, Found]:
    """Compare pictures of two folders, named by (digest before, digest now). A text says why a pair could not be
    compared."""
    wanted = sorted(set(pairs))
    found: dict[Pair, Found] = {}

    def one(pair: Pair) -> Found:
        try:
            theirs, ours = (_read(folder, name) for folder, name in zip((before, after), pair, strict=True))
        except UsageError as error:
            return f"{error.message}: {error.location}" if error.location else error.message
        result = compare(ours, theirs)
        if result.size != result.golden_size:
            return f"{_size(result.golden_size)} -> {_size(result.size)}"
        return result

    with ThreadPoolExecutor(cores()) as pool:
        for number, (pair, result) in enumerate(zip(wanted, pool.map(one, wanted), strict=True), 1):
            found[pair] = result
            if progress is not None:
                progress(number, len(wanted))
    return found


def _read(folder: Path, sha256: str) -> Pixels:
    path = picture_path(folder, sha256)
    if path is None:
        raise UsageError("the row names no picture")
    return read_picture(path)


def _size(size: tuple[int, int]) -> str:
    return f"{size[0]}x{size[1]}"


__all__ = ["Found", "Pair", "compared", "is_digest", "picture_path"]


def __dir__() -> list[str]:
    return [*__all__]
