"""All that is known about choices, as plain data and as text: values, evidence, what it decides, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pocketgpu.facts.choices import CHOICES, OF_CONSOLE
from pocketgpu.facts.choices.certainty import Certainty, Decision, certainty, decision, reason
from pocketgpu.facts.choices.choice import Choice
from pocketgpu.facts.choices.evidence import Evidence, of_choice

_PROBE: Final[Mapping[str, str]] = {
    "3DS": "pocketgpu probe make DIR --choice {name}",
    "Switch": "pocketgpu probe make DIR --console switch --choice {name}",
}
"""The command that makes a test of a choice."""
WITHOUT_TEST: Final = frozenset({"gsp.swap_clients", "gsp.relay_limit", "gsp.read_size"})
"""Choices of a console that the probe does not ask about: more than its one program is needed."""
_WHAT_IF: Final = "what-if"
_NOBODY: Final = "nobody says so"


def sources(choice: Choice) -> dict[str, str]:
    """What each value means and who says so, as text: "v * 255 / 31, truncated (3Beans)"."""
    return {value: _source(choice, value) for value in choice.values}


def settles(choice: Choice, found: Decision) -> str:
    """What would make a choice certain of which the evidence decides this; "" where nothing has to."""
    if found.certainty in (Certainty.MEASURED, Certainty.NOT_DOUBTED):
        return ""
    console = _console(choice)
    if console is None:
        return "a program that tests it on a console"
    if choice.name in WITHOUT_TEST:
        return f"a test on a {console}, which nobody has written"
    return f"a test on a {console}"


def asks(choice: Choice) -> str:
    """The command that makes a test of a choice for a console; "" where there is none."""
    console = _console(choice)
    if console is None or choice.what_if or choice.name in WITHOUT_TEST:
        return ""
    return _PROBE[console].format(name=choice.name)


def told(choice: Choice, further: Iterable[Evidence] = ()) -> dict[str, Any]:
    """All that is known about a choice, as plain data for JSON and for pages.

    :param further: evidence besides the package's own; rows of other choices are left out.
    """
    more = [row for row in further if row.choice == choice.name]
    found = decision(choice, more)
    sure = certainty(choice, more)
    rows = [*of_choice(choice.name), *more]
    return {
        "name": choice.name,
        "console": _console(choice),
        "doc": choice.doc,
        "default": choice.default,
        "alternatives": list(choice.alternatives),
        "what_if": choice.what_if,
        "values": [
            {"value": value, "means": choice.meanings[value], "default": value == choice.default}
            for value in choice.values
        ],
        "sources": sources(choice),
        "evidence": [row.to_dict() for row in rows],
        "certainty": str(sure),
        "certainty_text": sure.said,
        "decided": found.value,
        "of_equal_weight": list(found.values) if len(found.values) > 1 else [],
        "decided_by": None if choice.what_if or not found.steps else str(found.certainty),
        "steps": [
            {
                "rank": step.rank,
                "values": [{"value": value, "who": list(who)} for value, who in step.speak],
                "left": list(step.left),
                "text": str(step),
            }
            for step in found.steps
        ],
        "consoles": _consoles(rows),
        "against": None if found.against is None else str(found.against),
        "reason": "" if found.value == choice.default else reason(choice),
        "settles": settles(choice, found),
        "asks": asks(choice),
    }


def all_told(further: Sequence[Evidence] = ()) -> list[dict[str, Any]]:
    """The same for all choices, in their order."""
    return [told(choice, further) for choice in CHOICES.values()]


def _console(choice: Choice) -> str | None:
    return next((console for console, names in OF_CONSOLE.items() if choice.name in names), None)


def _consoles(rows: Iterable[Evidence]) -> list[dict[str, Any]]:
    """What each console answered."""
    answers: dict[str, dict[str, None]] = {}
    for row in rows:
        if row.console:
            answers.setdefault(row.console, {})[row.value] = None
    return [{"console": console, "values": list(values)} for console, values in answers.items()]


def _source(choice: Choice, value: str) -> str:
    rows = [row for row in of_choice(choice.name) if row.value == value]
    who = ", ".join(dict.fromkeys(row.who.name for row in rows))
    if not who:
        who = _WHAT_IF if choice.what_if and value != choice.default else ""
    means = choice.meanings[value]
    return f"{means} ({who})" if means and who else means or who or _NOBODY


__all__ = ["WITHOUT_TEST", "all_told", "asks", "settles", "sources", "told"]


def __dir__() -> list[str]:
    return [*__all__]
