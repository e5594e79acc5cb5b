"""Runs a capture once and applies the rules.

report = check(pocketgpu.capture.open("scene.pgc"))
for finding in report.findings:
    print(finding)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from pocketgpu.displayed import Displayed, table_html, title_html
from pocketgpu.errors import UsageError
from pocketgpu.in_steps import InSteps, finished
from pocketgpu.inspect.model.rules import SEVERITIES, Found, Rule, RuleFinding
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.guests import App

SCHEMA: Final = "pocketgpu.check/1"
MOST_FINDINGS: Final = 50
"""Most different findings of one rule; a guest program can cause any number."""


@dataclass(frozen=True, repr=False)
class Report(Displayed):
    """The rules that were applied, and the findings: the worst first, then in the order of the run."""

    rules: tuple[Rule, ...]
    findings: tuple[RuleFinding, ...]

    def counts(self) -> dict[str, int]:
        """Findings by severity, all severities named."""
        return {name: sum(f.rule.severity == name for f in self.findings) for name in SEVERITIES}

    @property
    def failed(self) -> bool:
        """Whether something of severity "error" was found."""
        return any(finding.rule.severity == "error" for finding in self.findings)

    def __str__(self) -> str:
        """How many findings there are, then each in a line."""
        counts = ", ".join(f"{name}s: {count}" for name, count in self.counts().items())
        return "\n".join([f"{len(self.rules)} rules, {counts}", *map(str, self.findings)])

    def _repr_html_(self) -> str:
        head = ("place", "severity", "finding", "times", "rule")
        rows = ((one.at, one.rule.severity, one.message, one.count, one.rule.id) for one in self.findings)
        return title_html(str(self).partition("\n")[0]) + table_html(head, rows, len(self.findings))

    def to_json(self) -> dict[str, Any]:
        """Plain data, with `schema`."""
        return {
            "schema": SCHEMA, "counts": self.counts(), "rules": [rule.id for rule in self.rules],
            "findings": [finding.to_json() for finding in self.findings],
        }  # fmt: skip


def choose(rules: Sequence[Rule], only: Iterable[str] = (), skip: Iterable[str] = ()) -> tuple[Rule, ...]:
    """The rules with the given ids (all if none are given), except those to skip. An id may end in ".*".

    :raises UsageError: an id names no rule.
    """
    chosen = {rule.id for rule in rules}
    for ids, wanted in ((tuple(only), True), (tuple(skip), False)):
        if not ids:
            continue
        named: set[str] = set()
        for id in ids:
            found = {rule.id for rule in rules if rule.id == id or (id.endswith(".*") and rule.id.startswith(id[:-1]))}
            if not found:
                raise UsageError(f"there is no rule {id!r}", hint="See: pocketgpu check --list")
            named |= found
        chosen = chosen & named if wanted else chosen - named
    return tuple(rule for rule in rules if rule.id in chosen)


def check(
    capture: Capture,
    rules: Sequence[Rule] | None = None,
    *,
    evaluator: str = "llvm",
    progress: Callable[[int], None] = lambda _: None,
    frame: int | None = None,
    program: App | None = None,
) -> Report:
    """Run a capture and apply the rules of its console. progress: called after each frame. frame: the only frame that
    rules look at, None: all frames. program: the program of which this is the capture: it is run a second time, so
    that rules see what it flushes.

    :raises NoPictureError: the capture has nothing to run.
    """
    return finished(
        checking(capture, rules, evaluator=evaluator, progress=progress, frame=frame, program=program)
    )


def checking(
    capture: Capture,
    rules: Sequence[Rule] | None = None,
    *,
    evaluator: str = "llvm",
    progress: Callable[[int], None] = lambda _: None,
    frame: int | None = None,
    program: App | None = None,
) -> InSteps[Report]:
    """What `check` does, in steps.

    :raises NoPictureError: the capture has nothing to run.
    """
    from pocketgpu.inspect.rules.registry import RULES

    chosen = tuple(rule for rule in (RULES if rules is None else rules) if rule.console == capture.console)
    record = yield from _WATCHING[capture.console](capture, evaluator, progress, frame)
    if program is not None and capture.console in _RUNNING:
        record.live = _RUNNING[capture.console](program.fresh(), capture.frame_count)
    findings = []
    for rule in chosen:
        findings += _merged(rule, rule.look(record))
        yield
    order = {name: n for n, name in enumerate(SEVERITIES)}
    findings.sort(key=lambda finding: (order[finding.rule.severity], _place(finding.at)))
    return Report(chosen, tuple(findings))


def _flushes_3ds(program: App, frames: int) -> list[Found]:
    from pocketgpu.inspect.rules.n3ds.flushes import flushes_of

    return flushes_of(program, frames)


def _flushes_switch(program: App, frames: int) -> list[Found]:
    from pocketgpu.inspect.rules.switch.flushes import flushes_of

    return flushes_of(program, frames)


def _watch_3ds(
    capture: Capture, evaluator: str, progress: Callable[[int], None], frame: int | None
) -> InSteps[Any]:  # fmt: skip
    from pocketgpu.inspect.rules.n3ds.watch import watching

    return watching(capture, evaluator, progress, frame)


def _watch_switch(
    capture: Capture, evaluator: str, progress: Callable[[int], None], frame: int | None
) -> InSteps[Any]:  # fmt: skip
    from pocketgpu.inspect.rules.switch.watch import watching

    return watching(capture, evaluator, progress, frame)


_RUNNING: Mapping[str, Callable[[App, int], list[Found]]] = {
    "3DS": _flushes_3ds, "Switch": _flushes_switch
}  # fmt: skip
"""Consoles whose rules watch a running program, and what they find. Memory that a Switch's GPU uses is usually mapped
without a cache."""
_WATCHING: Final = {"3DS": _watch_3ds, "Switch": _watch_switch}
"""What makes the record of a run, by the name of the console; imported late, as it needs the machine."""


def _merged(rule: Rule, found: Iterable[Found]) -> list[RuleFinding]:
    """Equal messages become one finding."""
    merged: dict[str, RuleFinding] = {}
    left = 0
    for one in found:
        known = merged.get(one.message)
        if known is not None:
            merged[one.message] = RuleFinding(rule, one.message, known.at, known.count + one.count)
        elif len(merged) < MOST_FINDINGS:
            merged[one.message] = RuleFinding(rule, one.message, one.at, one.count)
        else:
            left += one.count
    if left:
        merged[""] = RuleFinding(rule, f"more than {MOST_FINDINGS} different findings; the rest is left out", "", left)
    return list(merged.values())


def _place(at: str) -> tuple[tuple[int, ...], str]:
    numbers = tuple(int("".join(filter(str.isdigit, part)) or 0) for part in at.split("/")) if at else (1 << 30,)
    return numbers, at


__all__ = ["SCHEMA", "Report", "check", "checking", "choose"]


def __dir__() -> list[str]:
    return [*__all__]
