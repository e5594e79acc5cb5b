"""Operand descriptors of a program: instructions that agree in the bits they use share one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pocketgpu.collected import Collected
from pocketgpu.facts.shader_isa import Format
from pocketgpu.pica.shader.pieces import NewWord, Reading, ShaderError

DESCRIPTORS = 128


def placed(reading: Reading, format: Format, name: str, value: int) -> int:
    """A value at its place in an instruction word.

    :raises ShaderError: it does not fit.
    """
    lo, width = format.fields[name]
    if not 0 <= value < 1 << width:
        raise reading.error(f"{value} does not fit the {width} bits of {name.upper()}")
    return value << lo


def share_descriptors(
    reading: Reading, errors: Collected[ShaderError], items: Sequence[NewWord], given: Mapping[int, int],
    files: Sequence[str],
) -> tuple[int, ...]:  # fmt: skip
    """Give each instruction a descriptor. MAD goes first, because it can only use the first 32.

    given: descriptors that the text sets itself. files: the names of the texts.
    """
    table: dict[int, tuple[int, int]] = {number: (word, 0xFFFFFFFF) for number, word in given.items()}
    wanting = [item for item in items if item.descriptor is not None]
    for item in sorted(wanting, key=lambda one: one.format is None or one.format.fields["desc"][1] != 5):
        reading.file, reading.line, reading.column = files[item.text], item.line, item.column
        with errors:
            _share(reading, table, item)
    return tuple(table.get(number, (0, 0))[0] for number in range(max(table, default=-1) + 1))


def _share(reading: Reading, table: dict[int, tuple[int, int]], item: NewWord) -> None:
    """Give one instruction a descriptor."""
    assert item.descriptor is not None and item.format is not None
    limit = 1 << item.format.fields["desc"][1]
    number = item.number if item.number is not None else _find(reading, table, item, limit)
    word, care = table.get(number, (0, 0))
    if (word ^ item.descriptor) & care & item.care:
        raise reading.error(f"descriptor {number} is {word:#x}, which has other bits")
    table[number] = (word | (item.descriptor & item.care & ~care), care | item.care)
    item.word |= placed(reading, item.format, "desc", number)


def _find(reading: Reading, table: dict[int, tuple[int, int]], item: NewWord, limit: int) -> int:
    assert item.descriptor is not None
    for number in range(limit):
        word, care = table.get(number, (0, 0))
        if not (word ^ item.descriptor) & care & item.care:
            return number
    raise reading.error(
        f"the program needs more than {limit} operand descriptors" + (" for MAD" if limit < DESCRIPTORS else ""),
        hint="Use fewer combinations of swizzles and write masks.",
    )


__all__ = ["DESCRIPTORS", "placed", "share_descriptors"]
