"""Results of sweeps, made up: folders with rows, times and real PNG pictures, as a sweep leaves them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.pictures import to_png
from pocketgpu.sweeps.model.rows import Picture, Row, Times
from pocketgpu.sweeps.model.task import What
from pocketgpu.sweeps.results.store import Store

Pixels = NDArray[np.uint8]


def painted(seed: int, width: int = 40, height: int = 24) -> Pixels:
    """A picture of its own for each number."""
    random = np.random.default_rng(seed)
    tiles = random.integers(0, 256, (-(-height // 8), -(-width // 8), 3), np.uint8)
    found: Pixels = np.repeat(np.repeat(tiles, 8, 0), 8, 1)[:height, :width]
    return np.ascontiguousarray(found)


class Made:
    """A folder of results that is being filled."""

    def __init__(self, folder: Path, work: str = "render", version: str | None = None, **options: Any) -> None:
        self.store = Store.open(folder, What(work, **options), resume=False)
        if version is not None:
            self.store.about["version"] = version

    def add(
        self, capture: str, pictures: Mapping[str, Pixels] | None = None, frames: Sequence[float] = (),
        first: bool = False, worker: str = "host/1", **row: Any,
    ) -> Row:  # fmt: skip
        """One row. pictures: by address, such as f0/top. frames: milliseconds."""
        files: dict[str, bytes] = {}
        kept = []
        for address, pixels in (pictures or {}).items():
            frame, _, screen = address.partition("/")
            digest = hashlib.sha256(pixels.tobytes()).hexdigest()
            files[digest] = to_png(pixels)
            kept.append(Picture(int(frame[1:]), screen, pixels.shape[1], pixels.shape[0], digest))
        values: dict[str, Any] = {"state": "done", "console": "3DS", "frames": len(frames)} | row
        found = Row(capture, f"key-{capture}", self.store.what.work, pictures=tuple(kept), **values)
        self.store.add(found, Times(capture, found.key, sum(frames) / 1000, tuple(frames), worker, 1, first), files)
        return found

    def done(self) -> Store:
        self.store.close()
        return self.store


def finding(rule: str, message: str = "it is wrong", at: str = "f0/d1", count: int = 1, **more: Any) -> dict[str, Any]:
    return {"rule": rule, "severity": "error", "message": message, "at": at, "count": count} | more


def event(id: str, message: str = "not done", at: str = "f0", count: int = 1) -> dict[str, Any]:
    return {"id": id, "message": message, "at": at, "count": count}


def sweep_of(folder: Path, rows: Iterable[Mapping[str, Any]], work: str = "render", **options: Any) -> Store:
    """A folder with a row for each mapping of the arguments of `Made.add`."""
    made = Made(folder, work, **options)
    for row in rows:
        made.add(**row)
    return made.done()


__all__ = ["Made", "event", "finding", "painted", "sweep_of"]
