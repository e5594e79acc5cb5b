"""All that is known about choices, as plain data and as text: values, evidence, what it decides, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from pocketgpu.facts.choices import CHOICES, OF_CONSOLE
from pocketgpu.facts.choices.certainty import Certainty, certainty, decision, reason
from pocketgpu.facts.choices.choice import Choice
from pocketgpu.facts.choices.evidence import Evidence, of_choice

_SETTLES: Final[Mapping[str, str]] = {
    "3DS": "a test on a 3DS; --evidence FILE shows what it answers",
    "Switch": "a test on a Switch; --evidence FILE shows what it answers",
}
_WHAT_IF: Final = "what-if"
_NOBODY: Final = "nobody says so"


def sources(choice: Choice) -> dict[str, str]:
    """What each value means and who says so, as text: "v * 255 / 31, truncated (3Beans)"."""
    return {value: _source(choice, value) for value in choice.values}


def settles(choice: Choice, sure: Certainty) -> str:
    """What would make a choice certain that is so certain now; "" where nothing has to."""
    if sure in (Certainty.MEASURED, Certainty.NOT_DOUBTED):
        return ""
    for console, text in _SETTLES.items():
        if choice.name in OF_CONSOLE[console]:
            return text
    return "a program that tests it on a console; --evidence FILE shows what it answers"


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
        "console": next((console for console, names in OF_CONSOLE.items() if choice.name in names), None),
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
        "against": None if found.against is None else str(found.against),
        "reason": "" if found.value == choice.default else reason(choice),
        "settles": settles(choice, sure),
    }


def all_told(further: Sequence[Evidence] = ()) -> list[dict[str, Any]]:
    """The same for all choices, in their order."""
    return [told(choice, further) for choice in CHOICES.values()]


def _source(choice: Choice, value: str) -> str:
    rows = [row for row in of_choice(choice.name) if row.value == value]
    who = ", ".join(dict.fromkeys(row.who.name for row in rows))
    if not who:
        who = _WHAT_IF if choice.what_if and value != choice.default else ""
    means = choice.meanings[value]
    return f"{means} ({who})" if means and who else means or who or _NOBODY


__all__ = ["all_told", "settles", "sources", "told"]


def __dir__() -> list[str]:
    return [*__all__]
