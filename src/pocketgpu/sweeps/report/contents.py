"""What a report shows, of a sweep or of tests: rows, what changed, and where their pictures are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from pocketgpu.displayed import line_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.sweeps.baseline.changes import Change
from pocketgpu.sweeps.model.rows import Row, Times

Source = Callable[[str], "Path | bytes | None"]
"""Where the PNG file of a picture is, or what is in it, by its digest; None if there is none."""
FILE = "file"
"""The key of a row's detail with the path of its capture, where that is not the row's name."""


def no_pictures(_: str) -> Path | bytes | None:
    """The source of a side that has no pictures."""
    return None


@dataclass(repr=False)
class Contents:
    """All that a page shows.

    title: of the page. command: what makes the same again; hint: what to do now. facts: (name, value) pairs. noun: what
    a row is about. options: of the commands about a capture, such as `--set a=b`. rows: in the order of their names.
    changes: by capture; None if nothing was compared. new, missing: captures that only one side has. remarks: what else
    differs from the baseline. after, before: pictures of both sides. versions: (name, milliseconds of captures) of each
    side, for plots.
    """

    title: str
    rows: Sequence[Row]
    after: Source
    noun: str = "capture"
    command: str = ""
    hint: str = ""
    facts: Sequence[tuple[str, str]] = ()
    options: Sequence[str] = ()
    times: Mapping[str, Times] = field(default_factory=dict)
    changes: Mapping[str, Change] | None = None
    before: Source = no_pictures
    before_label: str = "before"
    after_label: str = "after"
    new: Sequence[str] = ()
    missing: Sequence[str] = ()
    remarks: Sequence[str] = ()
    versions: Sequence[tuple[str, Sequence[float]]] = ()

    def __repr__(self) -> str:
        return line_of(self, f"{self.title}: {len(self.rows)} rows")


__all__ = ["FILE", "Contents", "Source", "no_pictures"]


def __dir__() -> list[str]:
    return [*__all__]
