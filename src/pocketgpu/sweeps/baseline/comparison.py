"""The result of a comparison of two sweeps, as text of 80 columns and as plain data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from pocketgpu.displayed import Displayed, plain
from pocketgpu.late_dataclass import dataclass
from pocketgpu.sweeps.baseline.changes import Change, PictureChange
from pocketgpu.sweeps.baseline.names import relative
from pocketgpu.sweeps.baseline.noise import FEWEST, Band
from pocketgpu.wording import counted

SCHEMA: Final = "pocketgpu.sweep-comparison/1"
WIDTH: Final = 80
MOST_LINES: Final = 12
"""Lines of each part of the text."""
_NAME: Final = 30
"""Columns of a capture's name."""
_MEANINGS: Final = {
    "worse": "worse than before", "state": "another state or message", "pictures": "other pictures",
    "findings": "other findings", "events": "other events", "values": "other counts or details",
    "time": "another time",
}  # fmt: skip


@dataclass(frozen=True, repr=False)
class Comparison(Displayed):
    """What changed. folder, baseline: the folders of results. matched: every capture that both have, changed or not.
    new, missing: captures of one only. timed: how many captures have times of both; band: the noise of these.
    remarks: what else differs between the sweeps, such as the version."""

    folder: Path
    baseline: Path
    matched: tuple[Change, ...]
    new: tuple[str, ...]
    missing: tuple[str, ...]
    timed: int
    band: Band
    remarks: tuple[str, ...] = ()

    @property
    def changes(self) -> list[Change]:
        """What changed, without what is the same."""
        return [one for one in self.matched if not one.same]

    @property
    def failed(self) -> bool:
        """Whether pictures or findings of a capture are not what they were, or its state is worse. Events, counts,
        times, and captures that only one sweep has are no failures."""
        return any(one.failed for one in self.matched)

    @property
    def counts(self) -> dict[str, int]:
        """How many captures changed in which way, without ways that there are not."""
        found = Counter(kind for one in self.matched for kind in one.kinds)
        return {kind: found[kind] for kind in _MEANINGS if found[kind]}

    def to_json(self) -> dict[str, Any]:
        """Plain data, with `schema`."""
        return {
            "schema": SCHEMA, "baseline": str(self.baseline), "failed": self.failed, "matched": len(self.matched),
            "changed": len(self.changes), "counts": self.counts, "new": list(self.new), "missing": list(self.missing),
            "times": {
                "captures": self.timed, "common": round(self.band.common, 4), "judged": self.band.factors is not None,
            },
            "remarks": list(self.remarks), "changes": [one.to_json() for one in self.changes],
        }  # fmt: skip

    def __str__(self) -> str:
        return "\n".join(self.lines())

    # -- text ---------------------------------------------------------------------------------------------------------
    def lines(self) -> Iterator[str]:
        """The result for a terminal of 80 columns."""
        sides = f", {len(self.new):,} new, {len(self.missing):,} missing" if self.new or self.missing else ""
        changed = f"{len(self.changes):,} changed" if self.changes else "no change"
        yield f"{counted(len(self.matched), 'capture', form=',')} compared: {changed}{sides}"
        yield _cut(f"  with {self.baseline}")
        for kind, count in self.counts.items():
            yield f"  {count:>6,}  {_MEANINGS[kind]}"
        yield from self._part("also", ((remark, "") for remark in self.remarks), len(self.remarks))
        yield from self._about_states()
        yield from self._about_pictures()
        yield from self._about_notes("findings")
        yield from self._about_notes("events")
        yield from self._about_values()
        yield from self._about_times()
        yield from self._part("new captures", ((name, "") for name in self.new), len(self.new))
        yield from self._part("missing captures", ((name, "") for name in self.missing), len(self.missing))

    def _about_states(self) -> Iterator[str]:
        found = [one for one in self.matched if one.state or one.message or one.worse]
        found.sort(key=lambda one: not one.worse)

        def what(one: Change) -> str:
            state = "" if one.state is None else f"{one.state[0]} -> {one.state[1]}: "
            return f"{state}{one.row.message}" if one.row.message or state else "it found an error"

        yield from self._part("states", ((one.capture, what(one)) for one in found), len(found))

    def _about_pictures(self) -> Iterator[str]:
        found = [one for one in self.matched if one.pictures]
        found.sort(key=lambda one: -max(picture.differing or 0 for picture in one.pictures))
        rows = []
        for one in found:
            worst = max(one.pictures, key=lambda picture: picture.differing or 0)
            more = f", {len(one.pictures) - 1:,} more" if len(one.pictures) > 1 else ""
            rows.append((one.capture, f"{_compact(worst)}{more}"))
        yield from self._part("pictures", rows, len(rows))

    def _about_notes(self, what: str) -> Iterator[str]:
        rows = [(one.capture, str(note)) for one in self.matched for note in getattr(one, what)]
        yield from self._part(what, rows, len(rows))

    def _about_values(self) -> Iterator[str]:
        rows = [
            (one.capture, f"{name}: {_short(before)} -> {_short(after)}")
            for one in self.matched for name, before, after in one.values
        ]  # fmt: skip
        yield from self._part("counts and details", rows, len(rows))

    def _about_times(self) -> Iterator[str]:
        if not self.timed:
            return
        times = [(one.capture, one.time) for one in self.matched if one.time is not None]
        if self.band.factors is None:
            whole = [sum(time.before for _, time in times), sum(time.after for _, time in times)]
            yield f"times: {whole[0]:.2f} ms -> {whole[1]:.2f} ms in all"
            yield f"  fewer than {FEWEST} captures do not tell a change from noise"
            return
        outside = sorted(((name, time) for name, time in times if time.outside), key=lambda one: -_size(one[1].ratio))
        yield f"times of {counted(self.timed, 'capture', form=',')}: all together {self.band.common:.2f}x"
        yield "  That may be the machine or its load. Ratios of captures are without it."
        yield from self._part("times outside of the noise", ((name, str(time)) for name, time in outside), len(outside))


    def _part(self, title: str, rows: Iterable[tuple[str, str]], count: int) -> Iterator[str]:
        """A title, and at most MOST_LINES lines with a name and what is said about it."""
        if not count:
            return
        yield f"{title}:"
        for number, (name, text) in enumerate(rows):
            if number == MOST_LINES:
                yield f"  ... {count - MOST_LINES:,} more"
                return
            if text:
                name = self.places.get(name, name)
            yield _cut(f"  {_named(name):{_NAME}}  {text}" if text else f"  {name}")

    @cached_property
    def places(self) -> dict[str, str]:
        """Names of captures without the folder that all are in."""
        names = [one.capture for one in self.matched]
        return dict(zip(names, relative(names), strict=True))


def _compact(picture: PictureChange) -> str:
    """A picture's change in half a line."""
    if picture.differing is None:
        return str(picture)
    return f"{picture.address} {picture.differing:,}/{picture.pixels:,} pixels by {picture.largest}"


def _size(ratio: float) -> float:
    return max(ratio, 1 / ratio)


def _named(name: str) -> str:
    """A name of at most _NAME columns: its end tells captures apart, its beginning folders."""
    name = plain(name)
    if len(name) <= _NAME:
        return name
    end = _NAME * 2 // 3
    return f"{name[: _NAME - end - 3]}...{name[-end:]}"


def _cut(line: str) -> str:
    line = plain(line)
    return line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..."


def _short(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


__all__ = ["SCHEMA", "Comparison"]


def __dir__() -> list[str]:
    return [*__all__]
