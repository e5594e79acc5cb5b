"""Compares the results of a sweep with those of an earlier one.

    comparison = compare(Store.read(Path("results")), Store.read(Path("baseline")))
    print(comparison)
    comparison.failed           # pictures or findings are not what they were, or a capture fails that did not
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from pocketgpu.errors import UsageError
from pocketgpu.sweeps.baseline.changes import Change, NoteChange, PictureChange, TimeChange
from pocketgpu.sweeps.baseline.comparison import Comparison
from pocketgpu.sweeps.baseline.names import matched
from pocketgpu.sweeps.baseline.noise import Band, band_of
from pocketgpu.sweeps.baseline.pixels import Found, Pair, compared
from pocketgpu.sweeps.model.rows import Row, Times
from pocketgpu.sweeps.model.task import What
from pocketgpu.sweeps.results.store import Store

MEASURING: Final = "bench"
"""The work whose times are the best of several passes. Others measure each frame once."""
Notes = Sequence[Mapping[str, Any]]


def compare(store: Store, baseline: Store, progress: Callable[[int, int], None] | None = None) -> Comparison:
    """What changed since the baseline.

    progress: called with how many of how many pictures were compared.

    :raises UsageError: the baseline did another work.
    """
    ours, theirs = store.what, baseline.what
    check_fits(ours, baseline)
    names = matched(sorted(store.rows), sorted(baseline.rows))
    pairs = [(store.rows[name], baseline.rows[other]) for name, other in names.items() if other is not None]
    whole = ours.frames == theirs.frames
    pictures = {row.capture: list(_pictures(row, before, whole)) for row, before in pairs}
    different = [pair for found in pictures.values() for one in found if (pair := _pair(one)) is not None]
    pixels = compared(different, baseline.folder, store.folder, progress)
    times, band, timed = _times(pairs, store.times, baseline.times, ours.work == MEASURING)
    changes = [
        _change(row, before, [_counted(one, pixels) for one in pictures[row.capture]], times.get(row.capture))
        for row, before in pairs
    ]
    matched_names = set(names.values())
    return Comparison(
        store.folder, baseline.folder, tuple(changes), tuple(name for name, other in names.items() if other is None),
        tuple(name for name in sorted(baseline.rows) if name not in matched_names), timed, band,
        tuple(_remarks(store, baseline)),
    )  # fmt: skip


def check_fits(what: What, baseline: Store) -> None:
    """Whether a sweep that does this can be compared with the baseline.

    :raises UsageError: the baseline did another work.
    """
    if what.work != baseline.what.work:
        raise UsageError(
            f"the baseline is of the work {baseline.what.work}, the sweep of {what.work}",
            location=str(baseline.folder), hint=f"Sweep the baseline with --do {what.work}, too.",
        )  # fmt: skip


def _change(row: Row, before: Row, pictures: Iterable[PictureChange], time: TimeChange | None) -> Change:
    """What changed of a capture. What stopped half-way has not all findings, events and counts, so they say nothing."""
    if not row.state == before.state == "done":
        return Change(row, before, tuple(pictures), time=time)
    findings, events = _notes(row.findings, before.findings, "rule"), _notes(row.events, before.events, "id")
    return Change(row, before, tuple(pictures), tuple(findings), tuple(events), tuple(_values(row, before)), time)


def _remarks(store: Store, baseline: Store) -> Iterator[str]:
    """What else differs between the sweeps."""
    versions = [one.about.get("version") for one in (baseline, store)]
    if versions[0] != versions[1]:
        yield f"version {versions[0]} -> {versions[1]}"
    asked = [one.what.to_json() for one in (baseline, store)]
    for name in sorted({*asked[0], *asked[1]}):
        values = [one.get(name) for one in asked]
        if values[0] != values[1]:
            yield f"{name}: {json.dumps(values[0])} -> {json.dumps(values[1])}"


# -- pictures ---------------------------------------------------------------------------------------------------------
def _pictures(row: Row, before: Row, whole: bool) -> Iterator[PictureChange]:
    """Pictures with another digest, frame by frame. Those of one side only count if both did all their work, and were
    asked for the same frames (`whole`)."""
    ours = {(one.frame, one.screen): one for one in row.pictures}
    theirs = {(one.frame, one.screen): one for one in before.pictures}
    both = whole and row.state == before.state == "done"
    for place in sorted({*ours, *theirs}):
        one, other = ours.get(place), theirs.get(place)
        if one is None or other is None:
            if both:
                yield PictureChange(other, one)
        elif one.sha256 != other.sha256:
            yield PictureChange(other, one)


def _pair(one: PictureChange) -> Pair | None:
    return None if one.before is None or one.after is None else (one.before.sha256, one.after.sha256)


def _counted(one: PictureChange, pixels: Mapping[Pair, Found]) -> PictureChange:
    """The change with what was found in its pixels."""
    pair = _pair(one)
    if pair is None:
        return one
    found = pixels[pair]
    if isinstance(found, str):
        return PictureChange(one.before, one.after, problem=found)
    return PictureChange(one.before, one.after, found.differing, found.pixels, found.largest, found.box)


# -- findings, events, values -----------------------------------------------------------------------------------------
def _notes(now: Notes, before: Notes, name: str) -> Iterator[NoteChange]:
    """Findings or events that changed. name: the key of what they are called.

    Those with the same texts belong together; where there are several, those at the same place and with the same count.
    """
    groups: dict[str, tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]] = defaultdict(lambda: ([], []))
    for side, notes in enumerate((now, before)):
        for note in notes:
            groups[_what(note)][side].append(note)
    for ours, theirs in groups.values():
        known = [_where(note) for note in theirs]
        fresh = [note for note in ours if not _taken(known, _where(note))]
        left = [_where(note) for note in ours]
        old = [note for note in theirs if not _taken(left, _where(note))]
        for index in range(max(len(fresh), len(old))):
            one = fresh[index] if index < len(fresh) else None
            other = old[index] if index < len(old) else None
            kind = "gone" if one is None else "new" if other is None else "moved"
            shown = one if one is not None else other
            assert shown is not None
            yield NoteChange(kind, str(shown.get(name, "")), shown, other if kind == "moved" else None)


def _taken(places: list[str], place: str) -> bool:
    """Take a place out of a list; False if it is not there."""
    if place in places:
        places.remove(place)
        return True
    return False


def _what(note: Mapping[str, Any]) -> str:
    return json.dumps({key: value for key, value in note.items() if key not in ("at", "count")}, sort_keys=True)


def _where(note: Mapping[str, Any]) -> str:
    return json.dumps([note.get("at"), note.get("count")])


def _values(row: Row, before: Row) -> Iterator[tuple[str, Any, Any]]:
    """Counts, details and features that changed."""
    if row.frames != before.frames:
        yield "frames", before.frames, row.frames
    for what, ours, theirs in (("counts", row.counts, before.counts), ("detail", row.detail, before.detail)):
        for name in sorted({*ours, *theirs}):
            if ours.get(name) != theirs.get(name):
                yield f"{what}.{name}", theirs.get(name), ours.get(name)
    for feature in sorted(set(row.features) ^ set(before.features)):
        yield f"feature {feature}", feature in before.features, feature in row.features


# -- times ------------------------------------------------------------------------------------------------------------
def _times(
    pairs: Sequence[tuple[Row, Row]], now: Mapping[str, Times], before: Mapping[str, Times], measured: bool
) -> tuple[dict[str, TimeChange], Band, int]:
    """The time of each capture that both sweeps measured, the noise, and how many captures it is of."""
    sums: dict[str, tuple[float, float]] = {}
    for row, other in pairs:
        one, two = now.get(row.capture), before.get(other.capture)
        if one is None or two is None or not row.state == other.state == "done":
            continue
        # The first task of a process also loads and compiles; only `bench` has a pass for that.
        if len(one.frames) == len(two.frames) and (measured or not (one.first or two.first)):
            found = sum(two.frames), sum(one.frames)
            if min(found) > 0:
                sums[row.capture] = found
    band = band_of([one for one, _ in sums.values()], [other for _, other in sums.values()])
    factors: Sequence[float | None] = band.factors if band.factors is not None else [None] * len(sums)
    return {
        capture: TimeChange(old, new, new / old / band.common, factor)
        for (capture, (old, new)), factor in zip(sums.items(), factors, strict=True)
    }, band, len(sums)  # fmt: skip


__all__ = ["MEASURING", "check_fits", "compare"]


def __dir__() -> list[str]:
    return [*__all__]
