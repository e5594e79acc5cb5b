"""Tasks: what is to be done with which captures. A task is sent to a worker as plain data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any, Final

from pocketgpu import __version__
from pocketgpu.digests import blake2b
from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass

WORKS: Final = ("render", "check", "bench", "info", "doubts", "verify", "diff")
DIFF: Final = "diff"
_SIZE: Final = 20


@dataclass(frozen=True, repr=False)
class What:
    """The work, the same for all captures of a sweep.

    work: one of WORKS. switches: choices by name. frames: the first and the last frame to render, both included, the
    last None for all. repeat: passes of `bench`. baseline: for `diff`, the folder of the captures to compare with.
    """

    work: str = "render"
    switches: Mapping[str, str] = field(default_factory=dict)
    frames: tuple[int, int | None] | None = None
    repeat: int = 5
    baseline: str = ""

    @staticmethod
    def parse(text: str, **options: Any) -> What:
        """`render`, `check`, `bench`, `info`, `doubts`, `verify` or `diff=FOLDER`.

        :raises UsageError: it is none of these.
        """
        work, equals, baseline = text.partition("=")
        if work not in WORKS or bool(equals) != (work == DIFF) or (equals and not baseline):
            raise UsageError(
                f"{text!r} is no work of a sweep",
                hint=f"There are {', '.join(WORKS[:-1])}, and diff=FOLDER with the captures to compare with.",
            )
        return What(work, baseline=baseline, **options)

    def to_json(self) -> dict[str, Any]:
        """What the results depend on, as plain data."""
        found: dict[str, Any] = {"work": self.work, "switches": dict(sorted(self.switches.items()))}
        if self.frames is not None:
            found["frames"] = list(self.frames)
        if self.work == "bench":
            found["repeat"] = self.repeat
        if self.work == DIFF:
            found["baseline"] = self.baseline
        return found

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> What:
        frames = data.get("frames")
        return What(**dict(data) | {"frames": None if frames is None else (frames[0], frames[1])})

    def __repr__(self) -> str:
        return line_of(self, f"{self.work}={self.baseline}" if self.baseline else self.work)


@dataclass(frozen=True, repr=False)
class Source:
    """A capture to be swept. name: what rows call it; unique in a sweep. path: where the client finds it. other: where
    the capture to compare with is, for `diff`. digest: of the bytes of all their files."""

    name: str
    path: Path
    digest: bytes
    files: tuple[Path, ...]
    other: Path | None = None
    other_files: tuple[Path, ...] = ()

    def key(self, what: What) -> str:
        """Names the task: the same bytes with the same version and options have the same key."""
        about = what.to_json() | ({"baseline": ""} if what.baseline else {})
        text = json.dumps([__version__, about], sort_keys=True)
        return blake2b(text.encode() + self.digest, digest_size=_SIZE).hexdigest()

    def __repr__(self) -> str:
        return line_of(self, self.name)


@dataclass(frozen=True)
class Task:
    """One task, as a worker gets it. names: the captures with these bytes; the first one is opened. paths: of the
    capture and, for `diff`, of the other. files: for workers that do not see the folder, their bytes by name, in a
    folder `a` for the capture, `b` for the other. version: of this package, which a worker must have too."""

    key: str
    names: tuple[str, ...]
    paths: tuple[str, ...]
    files: Mapping[str, bytes] | None = None
    version: str = __version__


__all__ = ["DIFF", "WORKS", "Source", "Task", "What"]


def __dir__() -> list[str]:
    return [*__all__]
