"""Behaviour that the sources leave open, and what-ifs: each is one named choice with a default.

Code contains no hidden decisions of this kind. A choice exists where documents or simulators disagree, where there is
only one source, or where a picture with another setting is useful (`texture.filter`). Values are plain words; `sources`
names the sources of each. Short names of simulators: Azahar (SW: its software renderer, GL: its shader generator),
Panda3DS, Mikage, 3Beans; all but the last have common ancestors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.facts.choices import core, guests, maxwell, outside_core
from pocketgpu.facts.choices.choice import Choice

__all__ = ["CHOICES", "DEFAULTS", "OF_CONSOLE", "Choice", "check", "choose", "departures", "parse"]

_3DS: Final = (*core.choices(), *outside_core.choices())
_SWITCH: Final = tuple(maxwell.choices())

CHOICES: Final[Mapping[str, Choice]] = {choice.name: choice for choice in (*_3DS, *_SWITCH, *guests.choices())}
"""Every choice by its name."""

OF_CONSOLE: Final[Mapping[str, tuple[str, ...]]] = {
    "3DS": tuple(choice.name for choice in _3DS),
    "Switch": tuple(choice.name for choice in _SWITCH),
}
"""Names of the choices that change what a console's machine does with a capture."""

DEFAULTS: Final[Mapping[str, str]] = {name: choice.default for name, choice in CHOICES.items()}
"""The default value of each choice."""


def check(name: str, value: str) -> None:
    """Raise ValueError, with the existing names or values, unless `value` is valid for the choice `name`."""
    choice = CHOICES.get(name)
    if choice is None:
        import difflib  # slow to import, and names are nearly always right

        close = difflib.get_close_matches(name, CHOICES, n=1)
        raise ValueError(f"There is no choice {name!r}" + (f"; did you mean {close[0]!r}?" if close else "."))
    if value not in choice.values:
        raise ValueError(f"Choice {name!r} has no value {value!r}; its values are {', '.join(choice.values)}.")


def parse(text: str) -> tuple[str, str]:
    """("texture.filter", "linear") from "texture.filter=linear". ValueError for an unknown choice or value."""
    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        raise ValueError(f"{text!r} is not of the form NAME=VALUE.")
    check(name, value)
    return name, value


def departures(choices: Mapping[str, str], *names: str) -> tuple[tuple[str, str], ...]:
    """The choices that differ from the default, sorted by name: of `names`, which are choices or whole groups
    ("combiner"), or of all. Code is specialised for these, so the default code has one form."""
    wanted = [name for name in CHOICES if not names or name in names or name.partition(".")[0] in names]
    return tuple(sorted((name, choices[name]) for name in wanted if choices[name] != DEFAULTS[name]))


def choose(chosen: Mapping[str, str] | None = None) -> dict[str, str]:
    """A value for every choice: the chosen ones, the rest defaults. ValueError for an unknown name or value."""
    for name, value in (chosen or {}).items():
        check(name, value)
    return {**DEFAULTS, **(chosen or {})}


def __dir__() -> list[str]:
    return [*__all__]
