"""Which pictures a page shows, and the files that it needs for them: pictures, thumbnails, differences.

All are named by digests, so equal ones are one file, and no name of a capture is one of a file.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

from pocketgpu.errors import UsageError
from pocketgpu.inspect.pictures.comparing import Pixels, as_pixels, difference, read_picture, to_png
from pocketgpu.late_dataclass import dataclass
from pocketgpu.sweeps.baseline.changes import Change, PictureChange
from pocketgpu.sweeps.baseline.pixels import is_digest
from pocketgpu.sweeps.model.rows import Picture, Row
from pocketgpu.sweeps.report.contents import Contents, Source

MOST_CHANGED: Final = 32
"""Most pictures of a row that changed and are shown."""
MOST_SHOWN: Final = 12
"""Most pictures of a row that are shown if fewer than that changed."""
MOST_DIFFERENCES: Final = 4000
"""Most pictures of differences that a page has."""
THUMBNAIL: Final = (160, 120)
_QUALITY: Final = 80
_NAME: Final = 40
_T = TypeVar("_T")
Files = dict[str, Callable[[], "Path | bytes | None"]]
"""What is at a place in the folder: a file to link or copy, or bytes; None if it cannot be made."""


@dataclass(frozen=True)
class Shown:
    """A picture on the page. change: what became of it, if it changed. difference: the place of its picture."""

    picture: Picture
    change: PictureChange | None = None
    difference: str = ""


def picture_place(sha256: str) -> str:
    return f"pictures/{sha256[:2]}/{sha256}.png"


def thumbnail_place(sha256: str) -> str:
    return f"thumbnails/{sha256[:2]}/{sha256}.{_thumbnail_kind()}"


class Pictures:
    """Chooses the pictures of rows, and collects the files that they need."""

    def __init__(self, contents: Contents) -> None:
        self._after, self._before = contents.after, contents.before
        self.files: Files = {}
        self._differences = 0

    def of(self, row: Row, change: Change | None) -> tuple[list[Shown], int]:
        """The pictures of a row, frame by frame, and how many were left out."""
        changed = () if change is None else change.pictures
        places = {(one.shown.frame, one.shown.screen) for one in changed}
        others = [one for one in row.pictures if (one.frame, one.screen) not in places and is_digest(one.sha256)]
        chosen = _spread(changed, MOST_CHANGED)
        kept = _spread(others, max(0, MOST_SHOWN - len(chosen)))
        found = [Shown(one) for one in kept] + [self._changed(one) for one in chosen]
        for one in found:
            self._add(one)
        left = len(others) - len(kept) + len(changed) - len(chosen)
        # In the order of the console, which has its main screen first.
        screens = {screen: number for number, screen in enumerate(dict.fromkeys(one.screen for one in row.pictures))}
        found.sort(key=lambda one: (one.picture.frame, screens.get(one.picture.screen, len(screens))))
        return found, left

    def _changed(self, change: PictureChange) -> Shown:
        before, after = change.before, change.after
        if before is None or after is None or not (is_digest(before.sha256) and is_digest(after.sha256)):
            return Shown(change.shown, change)
        name = hashlib.sha256(f"{before.sha256} {after.sha256}".encode()).hexdigest()[:_NAME]
        place = f"differences/{name}.png"
        if place not in self.files:
            if self._differences == MOST_DIFFERENCES:
                return Shown(after, change)
            self._differences += 1
            self.files[place] = partial(_difference, self._before, before.sha256, self._after, after.sha256)
        return Shown(after, change, place)

    def _add(self, shown: Shown) -> None:
        change = shown.change
        if change is None:
            sides = [(shown.picture, self._after)]
        else:
            sides = [(one, source) for one, source in ((change.before, self._before), (change.after, self._after))
                     if one is not None]  # fmt: skip
        for picture, source in sides:
            if is_digest(picture.sha256):
                self.files[picture_place(picture.sha256)] = partial(source, picture.sha256)
                self.files[thumbnail_place(picture.sha256)] = partial(_thumbnail, source, picture.sha256)


def _spread(items: Sequence[_T], most: int) -> list[_T]:
    """At most so many of the items, the first and the last among them, evenly."""
    if len(items) <= most:
        return list(items)
    if most < 2:
        return list(items[:most])
    return [items[index * (len(items) - 1) // (most - 1)] for index in range(most)]


def _thumbnail_kind() -> str:
    from PIL import features

    return "webp" if features.check("webp") else "png"


def _thumbnail(source: Source, sha256: str) -> bytes | None:
    from PIL import Image

    found = source(sha256)
    try:
        with Image.open(io.BytesIO(found) if isinstance(found, bytes) else found or io.BytesIO()) as image:
            small = image.convert("RGB")
            small.thumbnail(THUMBNAIL, Image.Resampling.BOX)
            out = io.BytesIO()
            small.save(out, _thumbnail_kind().upper(), quality=_QUALITY)
            return out.getvalue()
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def _difference(before: Source, old: str, after: Source, new: str) -> bytes | None:
    theirs, ours = _pixels(before, old), _pixels(after, new)
    return None if theirs is None or ours is None else to_png(difference(ours, theirs))


def _pixels(source: Source, sha256: str) -> Pixels | None:
    from PIL import Image

    found = source(sha256)
    if found is None:
        return None
    try:
        if isinstance(found, bytes):
            with Image.open(io.BytesIO(found)) as image:
                return as_pixels(image)
        return read_picture(found)
    except (UsageError, OSError, SyntaxError, ValueError):
        return None


def thumbnail_of(shown: Sequence[Shown]) -> Picture | None:
    """The picture that stands for a row: the one with the largest change, else the middle one, as games begin and end
    with black pictures."""
    if not shown:
        return None
    changed = [one for one in shown if one.change is not None]
    if changed:
        return max(changed, key=lambda one: one.change.differing or 0 if one.change else 0).picture
    screen = shown[0].picture.screen
    same = [one.picture for one in shown if one.picture.screen == screen]
    return same[len(same) // 2]


def entries(shown: Sequence[Shown]) -> Iterator[dict[str, object]]:
    """The pictures of a row as plain data."""
    for one in shown:
        found: dict[str, object] = {"at": one.picture.address, "size": [one.picture.width, one.picture.height]}
        change = one.change
        if change is None:
            yield found | {"after": one.picture.sha256}
            continue
        sides = {"before": change.before, "after": change.after}
        digests = {name: side.sha256 for name, side in sides.items() if side is not None and is_digest(side.sha256)}
        yield found | digests | {"difference": one.difference, "change": change.kind, "text": str(change)}


__all__ = [
    "MOST_CHANGED", "MOST_DIFFERENCES", "MOST_SHOWN", "THUMBNAIL", "Files", "Pictures", "Shown", "entries",
    "picture_place", "thumbnail_of", "thumbnail_place",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__]
