"""On which doubtful choices the pictures of captures depend: where they part, and what agrees best with a picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from textwrap import fill
from typing import Any, Final

from pocketgpu.displayed import Displayed, table_html
from pocketgpu.inspect.model.address import Address
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

_WIDTH: Final = 79
"""Letters of a line."""


@dataclass(frozen=True, slots=True, repr=False)
class Parting(Displayed):
    """A value of a choice under which pictures of a capture differ from those under the defaults.

    pixels: how many of all frames that were looked at differ. frames: in how many frames. first: the first of these
    pixels, in the order of frames, screens and rows. wrong: pixels that are not as expected under this value, if
    there are expected pictures.
    """

    choice: str
    value: str
    pixels: int
    frames: int
    first: Address
    wrong: int | None = None

    def __str__(self) -> str:
        there = f"{counted(self.pixels, 'pixel', form=',')} in {counted(self.frames, 'frame')}, first {self.first}"
        return f"{self.choice}={self.value}: {there}"

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        found: dict[str, Any] = {
            "choice": self.choice, "value": self.value, "pixels": self.pixels, "frames": self.frames,
            "first": str(self.first),
        }  # fmt: skip
        return found if self.wrong is None else found | {"wrong": self.wrong}


@dataclass(frozen=True, slots=True, repr=False)
class Work(Displayed):
    """How much of their frames and draws replays under other values had to do; the rest is that of the usual replay."""

    frames: int = 0
    of: int = 0
    draws: int = 0
    draws_of: int = 0

    def __add__(self, other: Work) -> Work:
        return Work(
            self.frames + other.frames, self.of + other.of, self.draws + other.draws, self.draws_of + other.draws_of
        )

    def __str__(self) -> str:
        made = f"{counted(self.frames, 'frame replay', form=',')} ({counted(self.draws, 'draw', form=',')})"
        if self.frames == self.of:
            return made
        rest = f"{self.of - self.frames:,} more ({counted(self.draws_of - self.draws, 'draw', form=',')})"
        return f"{made}; {rest} {'was' if self.of - self.frames == 1 else 'were'} not needed"

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"frames": self.frames, "of": self.of, "draws": self.draws, "draws_of": self.draws_of}


@dataclass(frozen=True, slots=True, repr=False)
class Agreement(Displayed):
    """The values that agree best with expected pictures, which are copies of the screens' pixels.

    values: those that bring the pictures closer than the usual ones; empty if none does. wrong: pixels that are not as
    expected with them; usual: without them. pixels: how many were compared.
    """

    values: Mapping[str, str]
    wrong: int
    usual: int
    pixels: int

    @property
    def told(self) -> bool:
        """Whether the pictures say anything: if most pixels are wrong under every value, they are no copies."""
        return 2 * self.wrong <= self.pixels

    def __str__(self) -> str:
        wrong = f"{self.wrong:,} of {counted(self.pixels, 'pixel', form=',')} wrong"
        if not self.told:
            share = 100 * self.wrong / self.pixels
            return f"none can be told, as {share:.0f} % of the pixels differ under every value"
        if not self.values:
            return f"no other value agrees better: {wrong}"
        values = ", ".join(f"{name}={value}" for name, value in self.values.items())
        return f"{values}: {wrong}, without {'it' if len(self.values) == 1 else 'them'} {self.usual:,}"

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "kind": "exact", "values": dict(self.values), "wrong": self.wrong, "usual": self.usual,
            "pixels": self.pixels, "told": self.told,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, repr=False)
class PhotoAgreement(Displayed):
    """The values that agree best with photos of the screens.

    values: those that photos show instead of the usual ones; empty if none. why: why nothing can be told; "" if
    something can. errors: standard errors between the values and the nearest of the others that are told from them
    (`photos.CLEAR` are needed). noise: of the photos, in levels of 255. refuted: (choice, value) that the photos do not
    show; unclear: those of which they say nothing. copies_wrong: pixels that are not as expected under the values that
    come closest if the pictures are taken for copies of the screens' pixels: too many, so they were compared as photos;
    None if photos were asked for.
    """

    values: Mapping[str, str]
    why: str
    errors: float
    noise: float
    refuted: tuple[tuple[str, str], ...]
    unclear: tuple[tuple[str, str], ...]
    copies_wrong: int | None = None

    @property
    def told(self) -> bool:
        """Whether the photos say anything."""
        return not self.why

    def __str__(self) -> str:
        head = f"by photos with a noise of {self.noise:.1f} levels"
        taken = self._taken_for
        if self.why:
            return "; ".join([f"{head}, none can be told: {self.why}", *taken])
        apart = f"{self.errors:,.0f} standard errors from the nearest other that is told"
        best = ", ".join(map("=".join, self.values.items())) or "the usual values"
        parts = [f"{head}, {best}: {apart}"]
        parts += [f"refuted: {_listed(self.refuted)}"] if self.refuted else []
        parts += [f"not told from it: {_listed(self.unclear)}"] if self.unclear else []
        return "; ".join(parts + taken)

    @property
    def _taken_for(self) -> list[str]:
        """Why the pictures were taken for photos."""
        if self.copies_wrong is None:
            return []
        wrong = counted(self.copies_wrong, "pixel", form=",")
        why = f"the pictures are no copies under any value (the closest: {wrong} wrong)"
        return [f"{why}, so they were taken for photos"]

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        found = {
            "kind": "photo", "values": dict(self.values), "told": self.told, "why": self.why,
            "errors": round(self.errors, 2), "noise": round(self.noise, 3),
            "refuted": ["=".join(one) for one in self.refuted], "unclear": ["=".join(one) for one in self.unclear],
        }  # fmt: skip
        return found if self.copies_wrong is None else found | {"copies_wrong": self.copies_wrong}


def _listed(values: Iterable[tuple[str, str]]) -> str:
    return ", ".join(map("=".join, values))


@dataclass(frozen=True, repr=False)
class CaptureDoubts(Displayed):
    """The doubts of a capture.

    frames: how many were looked at, of `of`. tried: (choice, value) of every replay. partings: those that changed a
    picture, the most pixels first. failed: replays that ended with an error, and its message. work: how much had to be
    replayed. agreement: with expected pictures, if there were any.
    """

    path: str
    console: str
    frames: int
    of: int
    tried: tuple[tuple[str, str], ...]
    partings: tuple[Parting, ...]
    failed: Mapping[tuple[str, str], str]
    work: Work
    agreement: Agreement | PhotoAgreement | None = None

    @property
    def choices(self) -> tuple[str, ...]:
        """The choices that were tried, in order."""
        return tuple(dict.fromkeys(choice for choice, _ in self.tried))

    def parting(self, choice: str, value: str) -> Parting | None:
        """What a value changes; None: nothing."""
        return next((one for one in self.partings if (one.choice, one.value) == (choice, value)), None)

    def __str__(self) -> str:
        some = f" of {self.of}" if self.frames < self.of else ""
        head = f"{self.path}: {counted(self.frames, 'frame')}{some}, {counted(len(self.choices), 'choice')} tried"
        lines = [head, f"  {self.work}", *(f"  {one}" for one in self.partings)]
        if not self.partings:
            lines.append("  no picture depends on any of them")
        lines += [f"  {choice}={value} failed: {message}" for (choice, value), message in self.failed.items()]
        if self.agreement is not None:
            lines.append(fill(f"best: {self.agreement}", _WIDTH, initial_indent="  ", subsequent_indent="    "))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [(one.choice, one.value, f"{one.pixels:,}", one.frames, one.first) for one in self.partings]
        return table_html(("choice", "value", "pixels", "frames", "first"), rows)

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON."""
        found: dict[str, Any] = {
            "path": self.path, "console": self.console, "frames": self.frames, "of": self.of,
            "tried": [f"{choice}={value}" for choice, value in self.tried],
            "partings": [one.to_json() for one in self.partings],
            "failed": [
                {"choice": choice, "value": value, "message": message}
                for (choice, value), message in self.failed.items()
            ],
            "replayed": self.work.to_json(),
        }  # fmt: skip
        return found if self.agreement is None else found | {"agreement": self.agreement.to_json()}


class DoubtMatrix(Displayed):
    """Choices by captures: how many pixels each value changes. Values that change no picture have no row."""

    def __init__(self, captures: Iterable[CaptureDoubts]) -> None:
        self.captures = tuple(captures)

    @property
    def rows(self) -> Sequence[tuple[str, str]]:
        """(choice, value) of each row: those that part in the most captures first."""
        count: dict[tuple[str, str], list[int]] = {}
        for capture in self.captures:
            for one in capture.partings:
                found = count.setdefault((one.choice, one.value), [0, 0])
                found[0] += 1
                found[1] += one.pixels
        return sorted(count, key=lambda row: (-count[row][0], -count[row][1], row))

    def cell(self, row: tuple[str, str], capture: CaptureDoubts) -> int | None:
        """Pixels that a value changes in a capture; None if the capture does not touch the choice."""
        if row not in capture.tried:
            return None
        parting = capture.parting(*row)
        return 0 if parting is None else parting.pixels

    def silent(self) -> Sequence[str]:
        """Choices that were tried and changed no picture of any capture."""
        loud = {choice for choice, _ in self.rows}
        tried = dict.fromkeys(choice for capture in self.captures for choice in capture.choices)
        return sorted(choice for choice in tried if choice not in loud)

    def __str__(self) -> str:
        lines = []
        for row in self.rows:
            cells = [(self.cell(row, capture) or 0, capture) for capture in self.captures]
            parted = sorted([(pixels, capture.path) for pixels, capture in cells if pixels], reverse=True)
            total = sum(pixels for pixels, _ in parted)
            places = f"{counted(len(parted), 'capture')}, most in {parted[0][1]}"
            lines.append(f"{row[0]}={row[1]}: {counted(total, 'pixel', form=',')} of {places}")
        return "\n".join(lines) or "no picture depends on any choice that was tried"

    def to_json(self) -> dict[str, Any]:
        """Plain data for JSON: a row for each value that parts, with pixels by capture."""
        return {
            "rows": [
                {
                    "choice": choice, "value": value,
                    "pixels": [self.cell((choice, value), capture) for capture in self.captures],
                }
                for choice, value in self.rows
            ],
            "silent": list(self.silent()),
        }  # fmt: skip


__all__ = ["Agreement", "CaptureDoubts", "DoubtMatrix", "Parting", "PhotoAgreement", "Work"]
