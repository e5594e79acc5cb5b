"""Findings of rules by the places of a frame where they are: what a tree of events shows beside its rows."""

from __future__ import annotations

from typing import Any

from pocketgpu.displayed import Displayed
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.rules import RuleFinding
from pocketgpu.inspect.rules.checker import check
from pocketgpu.late_dataclass import dataclass


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
    run.events(frame)
    whole = Address(frame)
    return [Mark(_place_of(one.at, whole), one) for one in check(run.capture, frame=frame).findings]


def _place_of(at: str, whole: Address) -> Address:
    """The place that a finding names first; the frame if it names something else, such as a place in a pushbuffer."""
    try:
        found = Address.parse(at.partition(",")[0])
    except UsageError:
        return whole
    return found.place if found.frame == whole.frame else whole


__all__ = ["Mark", "marks_of"]
