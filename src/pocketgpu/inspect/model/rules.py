"""Rules of `pocketgpu check`, sets of rules, and findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, TypeVar, overload

from pocketgpu.displayed import Displayed
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

Severity = Literal["error", "warning", "note"]
Confidence = Literal["seen on hardware", "documented", "inferred"]
Console = Literal["3DS", "Switch"]

Look = TypeVar("Look", bound=Callable[..., Iterable[Any]])

SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
"""Worst first. An error is a hang, or something that nobody can intend. A warning is probably a mistake, or behaves
differently on a console and in a simulator. A note is worth a look."""
CONFIDENCES: Final[tuple[Confidence, ...]] = ("seen on hardware", "documented", "inferred")


@dataclass(frozen=True, slots=True)
class Found:
    """A finding: a line for people, the first place (such as "f1/d3"; "" for the whole capture), and how often."""

    message: str
    at: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True, repr=False)
class Rule(Displayed):
    """One rule of `pocketgpu check`.

    id: its name, such as "list.no-finalize". title: what it is about, in a few words. confidence: how sure it is that a
    console behaves differently. source: document and section. explanation: why it is a problem. hint: what to do. look:
    takes the record of a run, `N3dsRecord` or `SwitchRecord`, and yields findings.
    """

    id: str
    title: str
    console: Console
    severity: Severity
    confidence: Confidence
    source: str
    explanation: str
    hint: str
    look: Callable[[Any], Iterable[Found]]

    def __str__(self) -> str:
        return f"{self.id}: {self.title} ({self.console}, {self.severity}, {self.confidence})"

    def to_json(self) -> dict[str, str]:
        """Plain data, without `look`."""
        names = ("id", "title", "console", "severity", "confidence", "source", "explanation", "hint")
        return {name: getattr(self, name) for name in names}


class RuleSet(Sequence[Rule]):
    """The rules of one topic, in the order in which they are written.

    RULES = RuleSet("3DS")

    @RULES.rule("fill.empty", "a memory fill that ends before it begins", severity="error", ...)
    def fill_empty(record: N3dsRecord) -> Iterator[Found]:
        ...
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._rules: list[Rule] = []

    def rule(
        self, id: str, title: str, *, severity: Severity, confidence: Confidence, source: str, explanation: str,
        hint: str,
    ) -> Callable[[Look], Look]:  # fmt: skip
        """Decorate a function from the record of a run to findings: makes it a rule. Parameters: see `Rule`."""

        def registered(look: Look) -> Look:
            self._rules.append(Rule(id, title, self.console, severity, confidence, source, explanation, hint, look))
            return look

        return registered

    @overload
    def __getitem__(self, index: int) -> Rule: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Rule]: ...
    def __getitem__(self, index: int | slice) -> Rule | Sequence[Rule]:
        return self._rules[index]

    def __len__(self) -> int:
        return len(self._rules)

    def __repr__(self) -> str:
        return f"<RuleSet {self.console}: {len(self)} rules>"


@dataclass(frozen=True, slots=True, repr=False)
class RuleFinding(Displayed):
    """Equal findings of a rule together: the rule, its message, the first place, how many times."""

    rule: Rule
    message: str
    at: str
    count: int

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "rule": self.rule.id, "severity": self.rule.severity, "confidence": self.rule.confidence,
            "message": self.message, "at": self.at, "count": self.count, "source": self.rule.source,
            "hint": self.rule.hint,
        }  # fmt: skip

    def __str__(self) -> str:
        times = f", {counted(self.count, 'time')}" if self.count > 1 else ""
        return f"{self.at or 'capture'}: {self.message}{times}  [{self.rule.id}]"


__all__ = ["CONFIDENCES", "SEVERITIES", "Confidence", "Console", "Found", "Rule", "RuleFinding", "RuleSet", "Severity"]
