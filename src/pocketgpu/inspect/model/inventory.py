"""What is in a capture: counts by frame, features in use, doubts that it depends on. `pocketgpu info` shows one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any, Generic, Protocol, TypeVar

from pocketgpu.displayed import Displayed
from pocketgpu.events import Event as MachineEvent
from pocketgpu.facts.choices import CHOICES
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted, one_of


@dataclass(frozen=True, slots=True, repr=False)
class Feature(Displayed):
    """What is used (`id`, such as "texture") and how (`text`)."""

    id: str
    text: str

    def __str__(self) -> str:
        return f"{self.id}: {self.text}" if self.text else self.id


@dataclass(frozen=True, slots=True, repr=False)
class Doubt(Displayed):
    """A choice that matters here, and why. certain: False where that depends on data that nobody looked at."""

    choice: str
    reason: str
    certain: bool = True

    @property
    def switch(self) -> str:
        """The name of the choice, as JSON has it."""
        return self.choice

    @property
    def finding(self) -> str:
        """The doubt as a finding: why, which choice, and how certain its default is."""
        from pocketgpu.facts.choices.certainty import certainty

        sure = certainty(CHOICES[self.choice])
        return f"{self.reason} (choice {self.choice}; certainty: {sure})"

    def __str__(self) -> str:
        return f"{self.choice}: {self.reason}"


@dataclass(repr=False)
class Use(Displayed):
    """How often something was met, and where first (such as "f0")."""

    count: int = 0
    first: str = ""

    def add(self, count: int, place: str) -> None:
        self.first = self.first if self.count else place
        self.count += count

    def __str__(self) -> str:
        times = counted(self.count, "time", form=",")
        return f"{times}, first at {self.first}" if self.first else times


class Counts(Protocol):
    """What one frame asks for."""

    def to_dict(self) -> dict[str, Any]:
        """Its counts by name, with `index`, the number of the frame."""


C = TypeVar("C", bound=Counts)


@dataclass(repr=False)
class Inventory(Displayed, ABC, Generic[C]):
    """What all consoles count. Features and doubts are in order of their names once all is counted; events are those of
    the capture and of the machine that looked on. source: what the recording says of where it comes from; None where
    its format has no such thing. touching: by choice, the frames in which something may depend on it."""

    frames: list[C] = field(default_factory=list)
    features: dict[Feature, Use] = field(default_factory=dict)
    doubts: dict[Doubt, Use] = field(default_factory=dict)
    events: list[MachineEvent] = field(default_factory=list)
    source: str | None = None
    touching: dict[str, set[int]] = field(default_factory=dict)

    @property
    @abstractmethod
    def unseen(self) -> frozenset[str]:
        """Choices on which what is counted here gives no information: each may matter."""

    def touch(self, choices: Iterable[str], frames: Iterable[int]) -> None:
        """Something in these frames may depend on these choices."""
        numbers = tuple(frames)
        for choice in choices if numbers else ():
            self.touching.setdefault(choice, set()).update(numbers)

    @property
    def parts(self) -> Sequence[C]:
        """The counts of all frames, and of what comes after the last one."""
        return self.frames

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, without the counts of frames and the events."""

    def use(self, found: Iterable[Feature], count: int, place: str) -> None:
        """Count features that are in use `count` times from a place on; the same one twice in a row counts once."""
        for feature in dict.fromkeys(found):
            self.features.setdefault(feature, Use()).add(count, place)

    def note(self, found: Iterable[Doubt], count: int, place: str) -> None:
        """Count doubts in the same way."""
        for doubt in dict.fromkeys(found):
            self.doubts.setdefault(doubt, Use()).add(count, place)

    def sort(self) -> None:
        """Features by name; doubts that are certain first, then by choice."""
        self.features = dict(sorted(self.features.items(), key=lambda item: item[0].id))
        self.doubts = dict(sorted(self.doubts.items(), key=lambda item: (not item[0].certain, item[0].choice)))

    def totals(self) -> dict[str, int]:
        """The counts of all parts together, by name."""
        parts = [part.to_dict() for part in self.parts]
        names = [name for name in (parts[0] if parts else {}) if name != "index"]
        return {name: sum(part[name] for part in parts) for name in names}

    def features_to_json(self) -> list[dict[str, Any]]:
        """Features as plain data (pocketgpu.use/1)."""
        return [
            {"id": feature.id, "text": feature.text, "count": use.count, "first": use.first}
            for feature, use in self.features.items()
        ]

    def doubts_to_json(self) -> list[dict[str, Any]]:
        """Doubts as plain data (pocketgpu.doubt/1)."""
        return [
            {
                "switch": doubt.choice, "default": CHOICES[doubt.choice].default,
                "alternatives": list(CHOICES[doubt.choice].alternatives), "certain": doubt.certain,
                "reason": doubt.reason, "count": use.count, "first": use.first,
            }
            for doubt, use in self.doubts.items()
        ]  # fmt: skip

    def __str__(self) -> str:
        """The totals in a line, then features, then doubts."""
        names = {name.replace("_", " "): count for name, count in self.totals().items() if count}
        counts = ", ".join(counted(count, one_of(name), name, form=",") for name, count in names.items())
        uses = [f"uses {feature}, {use}" for feature, use in self.features.items()]
        words = ("may depend on", "depends on")
        return "\n".join(
            [counts or "nothing", *uses, *(f"{words[one.certain]} {one}, {use}" for one, use in self.doubts.items())]
        )


__all__ = ["Counts", "Doubt", "Feature", "Inventory", "Use"]
