"""What the project knows about a register elsewhere: choices, rules of `check`, scenes of the gallery, rows of the
public documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

from gallery_scenes import scenes_using

from pocketgpu.facts.choices.choice import Choice
from pocketgpu.facts.choices.registers import about_register
from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.list_entry import header_of
from pocketgpu.facts.lookup import BLOCKS, register_at
from pocketgpu.facts.maxwell import B0B5, B197, CLASSES, Method
from pocketgpu.facts.maxwell.classes import MISPLACED
from pocketgpu.facts.pica import COUNT, PICA
from pocketgpu.inspect.model.rules import Rule
from pocketgpu.inspect.rules.registry import RULES

HERE: Final = Path(__file__).resolve().parent
CONFORMANCE: Final = HERE.parents[1] / "tests" / "conformance"
DOCUMENTS: Final = {
    "b197": "Switchbrew GPU, 3D", "b0b5": "Switchbrew GPU, DMA",
    "ext": "3dbrew GPU/External Registers, early revision",
    "ext2": "3dbrew GPU/External Registers, recent revision", "cmd": "3dbrew GPU/Commands, 2013",
    "gsp": "3dbrew GSP Shared Memory",
}  # fmt: skip
"""The public document of a row, by the first part of its id."""
_FIRST_OF_DISPLAYS: Final = ("PDC0_HTOTAL", "PDC1_HTOTAL")
"""The first register of each display controller: rows count from there."""
_METHODS: Final = {"b197": B197, "b0b5": B0B5}


def key(register: Register) -> str:
    """The name by which scenes and rows know a register."""
    return f"{register.block.name}.{register.name}" if isinstance(register, Method) else register.name


def choices(group: Iterable[Register]) -> list[Choice]:
    """The choices about any of the registers."""
    found = {one.name: one for register in group for one in about_register(register.block.name, register.name)}
    return list(found.values())


def scenes(group: Iterable[Register]) -> list[Any]:
    """The scenes of the gallery that write or name any of the registers."""
    using = _scenes()
    return list(dict.fromkeys(scene for register in group for scene in using.get(key(register), ())))


@cache
def _scenes() -> dict[str, list[Any]]:
    return dict(scenes_using())


# -- rules ------------------------------------------------------------------------------------------------------------
def rules(group: Iterable[Register]) -> list[Rule]:
    """The rules of `check` whose texts name any of the registers."""
    found = {key(register) for register in group}
    return [rule for rule in RULES if found & _named(rule)]


_BLOCKS_OF: Final = {"3DS": BLOCKS, "Switch": tuple(CLASSES.values())}
"""Blocks of registers, by the console of a rule."""


@cache
def _named(rule: Rule) -> frozenset[str]:
    text = " ".join((rule.title, rule.explanation, rule.hint, rule.source))
    words = re.findall(r"\b[A-Z][A-Za-z0-9]*_\w+|\b[A-Z][A-Z0-9]{4,}\b", text)
    words = {word.removeprefix("GPUREG_") for word in words}
    return frozenset(name for word in words for name in _meant(word, rule.console))


@cache
def _meant(word: str, console: str) -> tuple[str, ...]:
    """Names of the registers that a word means: that one, else those with any number for a small letter
    ("ATTRIBBUFFERi_CONFIG2"), or with one more ("TEXUNIT_TYPE"), else those that begin so ("SET_PROGRAM_REGION")."""
    registers = [one for block in _BLOCKS_OF[console] for one in block if one.known]
    exact = [one for one in registers if word in (one.name, *one.aliases)]
    pattern = re.compile(re.sub(r"[a-z]", r"\\d+", word))
    alike = [one for one in registers if pattern.fullmatch(one.name) or word in _with_one_number_less(one.name)]
    longer = [one for one in registers if "_" in word and one.name.startswith(f"{word}_")]
    return tuple(key(one) for one in exact or alike or longer)


def _with_one_number_less(name: str) -> set[str]:
    return {name[: number.start()] + name[number.end() :] for number in re.finditer(r"\d+", name)}


# -- rows of the public documents -------------------------------------------------------------------------------------
def rows(group: Iterable[Register]) -> list[tuple[str, str]]:
    """Id and title of the rows about any of the registers. They are numbered in `tests/conformance/rows.tsv`, where
    each has a test."""
    by_register = _rows()
    found = {row for register in group for row in by_register.get(key(register), ())}
    return [(row, title) for row, title in titles().items() if row in found]


@cache
def titles() -> dict[str, str]:
    """The title of every row, by its id."""
    lines = (CONFORMANCE / "rows.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return dict(line.split("\t") for line in lines)


@cache
def _rows() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for row in titles():
        for name in meant(row):
            found.setdefault(name, set()).add(row)
    return found


@cache
def meant(row: str) -> tuple[str, ...]:
    """The registers that a row is about: what `rows.tsv` lists for it, else those at the place in its id."""
    for pattern, names in patterns():
        if fnmatchcase(row, pattern):
            return tuple(key(one) for block in BLOCKS for one in block if any(fnmatchcase(one.name, n) for n in names))
    document, _, place = row.partition(".")
    if document in _METHODS:
        listed = [f"{document}.{name}" for name in _listed_methods().get(row, ())]
        word = int(place, 16)
        misplaced = MISPLACED.get(word) if document == B197.name else None
        here = _METHODS[document].get(misplaced or word)
        return tuple(dict.fromkeys([*listed, *([key(here)] if here else [])]))
    return tuple(key(one) for one in _at(document, place))


def _at(document: str, place: str) -> Iterator[Register]:
    """The registers at the place that the id of a row names: "map.0x1EF00400", "pdc.0x28", "id.0x801F004D"."""
    part, _, number = place.partition(".")
    if document == "cmd":
        id = header_of(int(number, 16)).id
        yield from (PICA[one] for one in ([id] if id < COUNT else []))
    elif part in ("pdc", "lcd"):
        bases = (EXTERNAL.offset_of(name) for name in _FIRST_OF_DISPLAYS)
        yield from (one for base in bases if (one := EXTERNAL.get(base + int(number, 16))) is not None)
    elif part == "fill":
        yield from (one for unit in "12" if (one := register_at(int(number.replace("X", unit), 16))) is not None)
    else:
        found = register_at(int(re.match(r"0x[0-9A-F]+", number)[0], 16))  # type: ignore[index]
        yield from (one for one in [found] if one is not None)


@cache
def patterns() -> Sequence[tuple[str, list[str]]]:
    """Patterns of rows whose id names no place, and of the registers that they are about."""
    lines = (HERE / "rows.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return [(pattern, names.split()) for pattern, _, names in (line.partition("\t") for line in lines)]


@cache
def _listed_methods() -> dict[str, list[str]]:
    """The methods of a row: some have several words."""
    found: dict[str, list[str]] = {}
    for line in (CONFORMANCE / "switch_state.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        row, _, method, *_ = line.split("\t")
        found.setdefault(row, []).append(method)
    return found
