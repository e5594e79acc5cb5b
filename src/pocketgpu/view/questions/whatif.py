"""Requests `choices`, `forcible` and `what-if`: the same capture with other behaviour, or with other registers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pocketgpu.errors import UsageError
from pocketgpu.facts.choices import CHOICES, OF_CONSOLE, parse
from pocketgpu.facts.choices.told import sources
from pocketgpu.facts.dialect.registers import Field
from pocketgpu.inspect.model.forcing import Forcible, Override, names_of
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.questions.asking import Asked, AskedOfDesk, DeskQuestion, Json, Question
from pocketgpu.view.questions.compare import sides_on
from pocketgpu.view.questions.desk import MAIN, OTHER, Desk, beside
from pocketgpu.view.questions.parameters import Parameters

MOST_REGISTERS: Final = 60
"""Most registers of `forcible`."""
MOST_CHANGES: Final = 32
"""Choices and overrides of one what-if."""
MOST_VALUES: Final = 64
"""Most named values of a field."""
_SEPARATOR: Final = ";"


def _choices(given: Parameters) -> Question:
    def question(run: Inspection) -> Json:
        chosen = run.whole.choices
        return {"choices": [_choice(name, chosen) for name in OF_CONSOLE[run.capture.console]]}

    return question


def _choice(name: str, chosen: Mapping[str, str]) -> Json:
    one = CHOICES[name]
    return {
        "name": name, "default": one.default, "chosen": chosen.get(name, one.default),
        "alternatives": [str(value) for value in one.alternatives],
        "doc": one.doc, "sources": [{"value": str(value), "source": str(said)} for value, said in sources(one).items()],
    }  # fmt: skip


def _forcible(given: Parameters) -> Question:
    text, at = given.text("text", ""), given.at()

    def question(run: Inspection) -> Json:
        found = run.forcing.search(text, MOST_REGISTERS + 1)
        words = run.seek(at.place).registers() if found else {}
        return {
            "registers": [_register(one, words) for one in found[:MOST_REGISTERS]],
            "more": len(found) > MOST_REGISTERS,
        }

    return question


def _register(one: Forcible, words: Any) -> Json:
    word = words.get(one.name)
    return {
        "name": one.name, "doc": one.register.doc, "refusal": one.refusal,
        "word": None if word is None else f"{word:#010x}",
        "fields": [_field(field, word) for field in one.register.fields if not field.view],
    }  # fmt: skip


def _field(field: Field, word: int | None) -> Json:
    return {
        "name": field.name, "type": field.type, "unit": field.unit, "doc": field.doc,
        "value": None if word is None else field.text(word), "values": list(names_of(field))[:MOST_VALUES],
    }  # fmt: skip


def _what_if(given: Parameters) -> DeskQuestion:
    """Without choices and overrides, the other side is again what the command line has put there."""
    chosen = dict(_chosen(text) for text in _listed(given, "set"))
    overrides = [str(Override.parse(text)) for text in _listed(given, "force")]

    def question(desk: Desk) -> Json:
        if not chosen and not overrides:
            desk.take_away(OTHER)
            if desk.beside is not None:
                desk.put(OTHER, desk.beside.opens(), desk.beside.title)
        else:
            run = desk.side(MAIN)
            forcing = run.forcing if overrides else None
            for text in overrides:
                assert forcing is not None
                forcing.word(Override.parse(text))  # what is wrong is said before the other side is taken away
            one = beside(run.capture, {**run.whole.choices, **chosen}, overrides)
            desk.take_away(OTHER)  # two machines are enough
            desk.put(OTHER, one.opens(), one.title)
        return {"set": [f"{name}={value}" for name, value in chosen.items()], "force": overrides, **sides_on(desk)}

    return question


def _chosen(text: str) -> tuple[str, str]:
    try:
        return parse(text)
    except ValueError as error:
        raise UsageError(str(error), location="set", hint="'pocketgpu switches' lists all choices.") from None


def _listed(given: Parameters, name: str) -> list[str]:
    found = [text.strip() for text in given.text(name, "").split(_SEPARATOR) if text.strip()]
    if len(found) > MOST_CHANGES:
        raise UsageError(f"more than {MOST_CHANGES} changes at a time", location=name)
    return found


ASKED: Final = {
    "choices": Asked(_choices),
    "forcible": Asked(_forcible),
    "what-if": AskedOfDesk(_what_if, slow=True, acts=True),
}
