"""The words of pushbuffers: method writes become packets, in the header form that needs the fewest words.

Source: NVIDIA's clb06f.h for the header forms, through facts/maxwell.
"""

from __future__ import annotations

import difflib
import struct
from collections.abc import Iterable, Sequence
from typing import Final, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.builder.values import FieldValue, encode_register
from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B06F, B197, CLASSES, SUBCHANNELS, WORDS, Method, MethodBlock, pushbuffers
from pocketgpu.wording import counted

Words: TypeAlias = NDArray[np.uint32]
Form: TypeAlias = Literal["auto", "inc", "non_inc", "one_inc", "immd"]
Value: TypeAlias = int | float | bool | str
ClassName: TypeAlias = int | str | MethodBlock
"""A class by number (0xB197), by name ("b197"), by function ("3D", "2D", "DMA copy"), or its table."""

FORMS: Final[dict[str, int]] = {
    "inc": pushbuffers.FORMS.INC_METHOD,
    "non_inc": pushbuffers.FORMS.NON_INC_METHOD,
    "immd": pushbuffers.FORMS.IMMD_DATA_METHOD,
    "one_inc": pushbuffers.FORMS.ONE_INC,
}
"""Header forms by their short names."""
MOST_DATA: Final = pushbuffers.MOST_DATA
"""Maximum of words after one header, and the largest immediate value."""

_STEPS: Final = {"inc": (1, 1), "non_inc": (0, 0), "one_inc": (1, 0)}


def class_named(name: ClassName) -> MethodBlock:
    """The methods of a class. Raises UsageError if there is none of that name."""
    if isinstance(name, MethodBlock):
        return name
    if isinstance(name, int):
        found = CLASSES.get(name)
    else:
        text = name.lower()
        found = next((block for block in CLASSES.values() if text in (block.name, block.engine.lower())), None)
    if found is None:
        known = ", ".join(f"{block.name} ({block.engine})" for block in CLASSES.values())
        raise UsageError(f"no class {name!r}", hint=f"Known are {known}.")
    return found


def header(form: str, subchannel: int, word: int, count: int) -> int:
    """A header word; `count` is the value for "immd". Raises UsageError for values that do not fit."""
    if form not in FORMS:
        raise UsageError(f"no header form {form!r}", hint=f"Known are {', '.join(FORMS)}.")
    try:
        return pushbuffers.pack_header(FORMS[form], subchannel, word, count)
    except ValueError:
        text = f"no header holds subchannel {subchannel}, word {word:#x} and {count} together"
        raise UsageError(text) from None


def value_word(value: Value, method: Method) -> int:
    """A natural value as a word: floats as IEEE bits, names from the method's only enumeration."""
    if isinstance(value, str):
        return encode_register(method, {method.fields[0].name: value}) if method.fields else _no_field(method, value)
    if isinstance(value, float | np.floating):
        word: int = struct.unpack("<I", struct.pack("<f", value))[0]
        return word
    number = int(value)
    if not -(1 << 31) <= number < 1 << 32:
        raise UsageError(f"{value!r} does not fit {method.label}, which has 32 bits")
    return number & 0xFFFFFFFF


def _no_field(method: Method, value: str) -> int:
    raise UsageError(f"{value!r} is no value of {method.label}", hint="It takes a number.")


class Packets:
    """Method writes under construction.

    Consecutive writes are packed when the words are read: consecutive methods after one incrementing header, repeats of
    one method after one non-incrementing header, small single values in their header.
    """

    def __init__(self, on: ClassName = B197) -> None:
        self._words: list[int] = []
        self._writes: list[tuple[int, int, int]] = []
        self._bound: dict[int, MethodBlock] = dict(SUBCHANNELS)
        self._subchannel = 0
        self.on(on)

    def __repr__(self) -> str:
        return line_of(self, f"{counted(len(self._words), 'word')} and {counted(len(self._writes), 'write')} to pack")

    # -- subchannels ------------------------------------------------------------------------------------------------
    def bind(self, name: ClassName, subchannel: int | None = None) -> Self:
        """Bind a class to a subchannel (by default the one that drivers use for it), and write to it."""
        block = class_named(name)
        if subchannel is None:
            known = [number for number, other in SUBCHANNELS.items() if other is block]
            if not known:
                raise UsageError(f"class {block.name} has no subchannel of its own", hint="Give one: 0 to 7.")
            subchannel = known[0]
        if not 0 <= subchannel < 8:
            raise UsageError(f"subchannels are 0 to 7, not {subchannel}")
        self._bound[subchannel] = block
        self._subchannel = subchannel
        return self.write(B06F["SET_OBJECT"].word, block.class_id)

    def on(self, name: ClassName) -> Self:
        """From here on, write to the subchannel that a class is bound to; initially all are bound as by drivers."""
        block = class_named(name)
        for number, other in self._bound.items():
            if other is block:
                self._subchannel = number
                return self
        raise UsageError(f"class {block.name} is bound to no subchannel", hint="Call bind first.")

    @property
    def subchannel(self) -> int:
        """The subchannel written to."""
        return self._subchannel

    @property
    def block(self) -> MethodBlock:
        """The class written to."""
        return self._bound[self._subchannel]

    def find(self, name: str) -> Method:
        """A method of the class written to, or of the host. Raises UsageError that suggests a similar name."""
        for block in (self.block, B06F):
            found = block.get(name)
            if found is not None:
                return found
        names = [method.name for block in (self.block, B06F) for method in block]
        close = difflib.get_close_matches(name.upper(), names, 1)
        hint = f"Did you mean {close[0]}?" if close else "If it is a method of another class, call on() first."
        raise UsageError(f"class {self.block.name} has no method {name!r}", hint=hint)

    # -- writes -----------------------------------------------------------------------------------------------------
    def method(self, name: str, /, *values: Value, form: Form = "auto", **fields: FieldValue) -> Self:
        """Write values to a method and the methods after it; for an array the first value is the element's number.

        method("SET_COLOR_TARGET_WIDTH", 0, 640) and method("SET_COLOR_TARGET_WIDTH[0]", 640) are the same. Fields by
        name make one word: method("CLEAR_SURFACE", R_ENABLE=True, MRT_SELECT=1).

        form: "inc" writes each value to the next method, "non_inc" all to this one, "one_inc" the first here and the
        rest to the next one; "immd" puts the value, of 13 bits, into the header. "auto" means "inc", packed with
        adjacent writes where possible.
        """
        target = self.find(name)
        rest = list(values)
        if target.stride:
            if not rest or not isinstance(rest[0], int):
                raise UsageError(f"{target.name} is an array: give an element", hint="Give its number first.")
            try:
                target = target(int(rest.pop(0)))
            except IndexError as problem:
                raise UsageError(str(problem)) from None
        if fields:
            if rest:
                raise UsageError(f"{target.label} gets fields by name or whole words, not both")
            rest = [encode_register(target, {key.upper(): value for key, value in fields.items()})]
        return self.packet(form, target.word, [value_word(value, target) for value in rest or [0]])

    def address(self, name: str, /, *where: int) -> Self:
        """Write a GPU address to a method for its upper bits and the next one for the lower bits. For an array the
        element comes first."""
        *index, address = where
        if not 0 <= address < 1 << 40:
            raise UsageError(f"{address:#x} is no GPU address: they have 40 bits")
        return self.method(name, *index, address >> 32, address & 0xFFFFFFFF)

    def write(self, word: int, value: int) -> Self:
        """Write one word to a method by its number."""
        return self.packet("auto", word, [value])

    def packet(self, form: Form, word: int, values: Sequence[int], *, more: int = 0) -> Self:
        """Values to the method at `word`. more: how many further values the header announces; the next segment of the
        channel begins with them."""
        if form == "auto" and not more:
            if not 0 <= word <= WORDS - len(values):
                raise UsageError(
                    f"{counted(len(values), 'word')} from {word:#x} on end after the last method of the class"
                )
            self._writes += [(self._subchannel, word + i, value & 0xFFFFFFFF) for i, value in enumerate(values)]
            return self
        self._flush()
        form = "inc" if form == "auto" else form
        if form == "immd":
            if len(values) != 1 or more or not 0 <= values[0] <= MOST_DATA:
                raise UsageError(f"a header holds one value up to {MOST_DATA:#x}")
            self._words.append(header(form, self._subchannel, word, values[0]))
            return self
        count = len(values) + more
        if count > MOST_DATA:
            if more or form == "one_inc":
                raise UsageError(f"a packet has at most {MOST_DATA} words, not {count}")
            for start in range(0, count, MOST_DATA):
                at = word + (start if form == "inc" else 0)
                self.packet(form, at, values[start : start + MOST_DATA])
            return self
        if form == "inc" and word + count > WORDS:
            raise UsageError(f"{counted(count, 'word')} from {word:#x} on end after the last method of the class")
        self._words.append(header(form, self._subchannel, word, count))
        self._words += [value & 0xFFFFFFFF for value in values]
        return self

    def raw(self, words: Iterable[int] | Words) -> Self:
        """Words without changes: headers made elsewhere, padding, or data of an open packet."""
        self._flush()
        self._words += [int(word) & 0xFFFFFFFF for word in words]
        return self

    def end_segment(self) -> Self:
        """Stop reading this segment here."""
        return self.raw([pushbuffers.pack_header(pushbuffers.FORMS.END_PB_SEGMENT, 0, 0, 0)])

    # -- words ------------------------------------------------------------------------------------------------------
    @property
    def words(self) -> Words:
        """The words so far."""
        self._flush()
        return np.array(self._words, np.uint32)

    def tobytes(self) -> bytes:
        """The bytes so far."""
        return self.words.astype("<u4").tobytes()

    def __len__(self) -> int:
        """Words so far."""
        self._flush()
        return len(self._words)

    def _flush(self) -> None:
        """Turn the pending writes into packets."""
        writes, self._writes = self._writes, []
        at = 0
        while at < len(writes):
            form, count = _longest(writes, at)
            subchannel, word, value = writes[at]
            values = [write[2] for write in writes[at : at + count]]
            if count <= 2 and all(value <= MOST_DATA for value in values):
                count = 1  # two small values need no more words than separate packets
            if count == 1 and value <= MOST_DATA:
                self._words.append(header("immd", subchannel, word, value))
            else:
                self._words.append(header(form, subchannel, word, count))
                self._words += values[:count]
            at += count


def _longest(writes: list[tuple[int, int, int]], at: int) -> tuple[str, int]:
    """The form that takes most of the writes from `at` on, and their number."""
    subchannel, word, _ = writes[at]
    best, most = "inc", 1
    for form, (first, later) in _STEPS.items():
        count, expected = 1, word + first
        while at + count < len(writes) and count < MOST_DATA and writes[at + count][:2] == (subchannel, expected):
            count += 1
            expected += later
        if count > most:
            best, most = form, count
    return best, most
