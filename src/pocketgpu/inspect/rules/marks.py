"""Findings of rules by the places of a frame where they are: what a tree of events shows beside its rows."""

from __future__ import annotations

from typing import Any, Final

from pocketgpu.displayed import Displayed, line_of
from pocketgpu.errors import UsageError
from pocketgpu.in_steps import InSteps, finished
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.rules import RuleFinding
from pocketgpu.inspect.rules.checker import checking
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

MOST_FRAMES: Final = 16
"""Frames whose marks are kept."""


@dataclass(frozen=True, repr=False)
class Mark(Displayed):
    """A finding, and the place that it is about: a draw, an event, or the whole frame."""

    place: Address
    finding: RuleFinding

    def to_json(self) -> dict[str, Any]:
        """Plain data: that of the finding, with the address of the place, and what its rule says."""
        rule = self.finding.rule
        return {
            **self.finding.to_json(), "address": str(self.place), "title": rule.title, "explanation": rule.explanation,
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.finding.rule.severity}: {self.finding}"


def marks_of(run: Inspection, frame: int) -> list[Mark]:
    """The findings of `pocketgpu check` in a frame, the worst first; equal ones are at the first place of the frame.
    The capture runs once, up to the frame.

    :raises UsageError: there is no such frame.
    """
    return finished(marking(run, frame))


def marking(run: Inspection, frame: int) -> InSteps[list[Mark]]:
    """What `marks_of` does, in steps. The inspection can be used for other questions between two steps.

    :raises UsageError: there is no such frame.
    """
    run.events(frame)
    report = yield from checking(run.capture, frame=frame)
    whole = Address(frame)
    return [Mark(_place_of(one.at, whole), one) for one in report.findings]


class Marks:
    """The marks of an inspection, frame by frame. Those of the last frames are kept."""

    def __init__(self, run: Inspection) -> None:
        self._run = run
        self._known: dict[int, list[Mark]] = {}
        self._begun: tuple[int, InSteps[list[Mark]]] | None = None

    def __repr__(self) -> str:
        return line_of(self, f"{counted(len(self._known), 'frame')} looked at")

    def step(self, frame: int) -> list[Mark] | None:
        """Do a step for a frame, if anything is left to do; returns its marks once they are there. What was begun for
        another frame is given up.

        :raises UsageError: there is no such frame.
        """
        if frame in self._known:
            return self._known[frame]
        if self._begun is None or self._begun[0] != frame:
            self._begun = frame, marking(self._run, frame)
        try:
            next(self._begun[1])
        except StopIteration as end:
            self._begun = None
            while len(self._known) >= MOST_FRAMES:
                del self._known[next(iter(self._known))]
            found: list[Mark] = end.value
            self._known[frame] = found
            return found
        except BaseException:
            self._begun = None
            raise
        return None


def _place_of(at: str, whole: Address) -> Address:
    """The place that a finding names first; the frame if it names something else, such as a place in a pushbuffer."""
    try:
        found = Address.parse(at.partition(",")[0])
    except UsageError:
        return whole
    return found.place if found.frame == whole.frame else whole


__all__ = ["Mark", "Marks", "marking", "marks_of"]
