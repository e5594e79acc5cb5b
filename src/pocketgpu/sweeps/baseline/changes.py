"""What changed between two sweeps, as data: of a picture, of findings and events, of times, of a capture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pocketgpu.displayed import line_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.sweeps.model.rows import Picture, Row
from pocketgpu.wording import counted


@dataclass(frozen=True, repr=False)
class PictureChange:
    """A picture that is not what it was. before, after: None if there was none, or is none now.

    differing: how many of `pixels` differ; largest: the largest difference of a channel, of 255; box: (left, top,
    right, bottom) around them, right and bottom excluded. All None where pixels could not be compared; `problem` says
    why.
    """

    before: Picture | None
    after: Picture | None
    differing: int | None = None
    pixels: int | None = None
    largest: int | None = None
    box: tuple[int, int, int, int] | None = None
    problem: str = ""

    @property
    def shown(self) -> Picture:
        """The picture that says which frame and screen it is."""
        found = self.after or self.before
        assert found is not None
        return found

    @property
    def address(self) -> str:
        return self.shown.address

    @property
    def kind(self) -> str:
        """new, gone, or changed."""
        return "new" if self.before is None else "gone" if self.after is None else "changed"

    def to_json(self) -> dict[str, Any]:
        return {
            "at": self.address, "kind": self.kind, "before": _digest(self.before), "after": _digest(self.after),
            "differing": self.differing, "pixels": self.pixels, "largest": self.largest,
            "box": None if self.box is None else list(self.box), "problem": self.problem,
        }  # fmt: skip

    def __str__(self) -> str:
        if self.kind != "changed" or self.differing is None:
            return f"{self.address} {self.problem or self.kind}"
        share = f"{self.differing:,} of {counted(self.pixels or 0, 'pixel', form=',')} differ"
        return f"{self.address} {share}, by {self.largest} at most"

    def __repr__(self) -> str:
        return line_of(self, str(self))


def _digest(picture: Picture | None) -> str | None:
    return None if picture is None else picture.sha256


@dataclass(frozen=True, repr=False)
class NoteChange:
    """A finding or an event that is new, gone, or at another place or count than before ("moved").

    note: as in the row, the one of before if it is gone. before: of one that moved. name: of its rule, or its id.
    """

    kind: str
    name: str
    note: Mapping[str, Any]
    before: Mapping[str, Any] | None = None

    def to_json(self) -> dict[str, Any]:
        found = {"kind": self.kind, "name": self.name, "note": dict(self.note)}
        return found if self.before is None else found | {"before": dict(self.before)}

    def __str__(self) -> str:
        place = f"{self.note.get('at', '')} {self.note.get('count', 1)}x"
        if self.before is not None:
            place = f"{self.before.get('at', '')} {self.before.get('count', 1)}x -> {place}"
        return f"{self.kind} {self.name} {place}: {self.note.get('message', '')}"

    def __repr__(self) -> str:
        return line_of(self, str(self))


@dataclass(frozen=True, repr=False)
class TimeChange:
    """The time of a capture's frames: milliseconds of those that both sweeps measured.

    ratio: now, of before, after what all captures have in common was taken out (`noise.Band.common`). band: by which
    factor it may be off by noise; None if there is too little data. outside: whether it is off by more.
    """

    before: float
    after: float
    ratio: float
    band: float | None

    @property
    def outside(self) -> bool:
        return self.band is not None and not 1 / self.band <= self.ratio <= self.band

    def to_json(self) -> dict[str, Any]:
        return {
            "before": round(self.before, 4), "after": round(self.after, 4), "ratio": round(self.ratio, 4),
            "band": None if self.band is None else round(self.band, 4), "outside": self.outside,
        }  # fmt: skip

    def __str__(self) -> str:
        band = "" if self.band is None else f" (noise up to {self.band:.2f}x)"
        return f"{self.before:.2f} ms -> {self.after:.2f} ms, {self.ratio:.2f}x{band}"

    def __repr__(self) -> str:
        return line_of(self, str(self))


@dataclass(frozen=True, repr=False)
class Change:
    """What is different about one capture. row, before: of both sweeps. values: counts and details that changed, as
    (name, before, now); features that are new or gone are among them."""

    row: Row
    before: Row
    pictures: tuple[PictureChange, ...] = ()
    findings: tuple[NoteChange, ...] = ()
    events: tuple[NoteChange, ...] = ()
    values: tuple[tuple[str, Any, Any], ...] = ()
    time: TimeChange | None = None

    @property
    def capture(self) -> str:
        return self.row.capture

    @property
    def state(self) -> tuple[str, str] | None:
        """The states before and now, if they differ."""
        return None if self.row.state == self.before.state else (self.before.state, self.row.state)

    @property
    def message(self) -> tuple[str, str] | None:
        """The messages before and now, if they differ: such as another reason why a capture is refused."""
        return None if self.row.message == self.before.message else (self.before.message, self.row.message)

    @property
    def worse(self) -> bool:
        """Whether the work was done before and is not now, or found no error before and does now."""
        return self.row.failed and not self.before.failed

    @property
    def failed(self) -> bool:
        """Whether pictures or findings are not what they were, or the state is worse."""
        return bool(self.pictures or self.findings) or self.worse

    @property
    def kinds(self) -> tuple[str, ...]:
        """What changed, in the order in which a reader wants to know."""
        named = (
            ("worse", self.worse), ("state", self.state or self.message), ("pictures", self.pictures),
            ("findings", self.findings), ("events", self.events), ("values", self.values),
            ("time", self.time is not None and self.time.outside),
        )  # fmt: skip
        return tuple(name for name, found in named if found)

    @property
    def same(self) -> bool:
        return not self.kinds

    def to_json(self) -> dict[str, Any]:
        return {
            "capture": self.capture, "baseline": self.before.capture, "kinds": list(self.kinds), "failed": self.failed,
            "state": None if self.state is None else list(self.state),
            "message": None if self.message is None else list(self.message),
            "pictures": [one.to_json() for one in self.pictures], "findings": [one.to_json() for one in self.findings],
            "events": [one.to_json() for one in self.events],
            "values": [{"name": name, "before": before, "after": after} for name, before, after in self.values],
            "time": None if self.time is None else self.time.to_json(),
        }  # fmt: skip

    def __repr__(self) -> str:
        return line_of(self, f"{self.capture}: {', '.join(self.kinds) or 'the same'}")


__all__ = ["Change", "NoteChange", "PictureChange", "TimeChange"]


def __dir__() -> list[str]:
    return [*__all__]
