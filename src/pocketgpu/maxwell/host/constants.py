"""Constant buffers in the parser of the channel: binding the selected one, and words for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.facts.maxwell import B197
from pocketgpu.lanes import I32, Value
from pocketgpu.maxwell.host.layout import BOUND, CHANNEL_LAYOUT, CONSTANT_GROUPS, CONSTANT_SLOTS
from pocketgpu.maxwell.memory import page_table

if TYPE_CHECKING:
    from pocketgpu.maxwell.host.pushbuffer import Parser

_SIZE = B197["SET_CONSTANT_BUFFER_SELECTOR_A"]
_UPPER, _LOWER = (B197[f"SET_CONSTANT_BUFFER_SELECTOR_{part}"].word for part in "BC")
_BIND = B197["BIND_GROUP_CONSTANT_BUFFER"]
OFFSET = B197["LOAD_CONSTANT_BUFFER_OFFSET"]


def _selected(parser: Parser, file: Value) -> tuple[Value, Value]:
    """The address of the selected buffer: its upper and lower word."""
    k = parser.k
    upper = k.load(I32, parser.place(file, _UPPER)).bits(0, page_table.ADDRESS_BITS - 32)
    return upper, k.load(I32, parser.place(file, _LOWER))


def bind(parser: Parser, file: Value, word: Value, value: Value) -> None:
    """Bind the selected buffer as it is now to a slot of a group; later changes of the selector do not change the
    binding. word: the method, which tells the group."""
    k = parser.k
    slot_field, valid_field, size_field = _BIND["SHADER_SLOT"], _BIND["VALID"], _SIZE["SIZE"]
    slot = value.bits(slot_field.lo, slot_field.width)
    valid = value.bits(valid_field.lo, valid_field.width) != 0
    size = k.load(I32, parser.place(file, _SIZE.word)).bits(size_field.lo, size_field.width)
    group = k.i32(0)
    for n in range(1, CONSTANT_GROUPS):
        group = k.select(word == _BIND.word + n * _BIND.stride, n, group)
    at = k.to_i64((group * CONSTANT_SLOTS + slot) * BOUND.size) + (parser.base + CHANNEL_LAYOUT.bound)
    upper, lower = _selected(parser, file)
    for n, found in enumerate((k.i32(1), lower, upper, size)):
        k.store(I32, at + 4 * n, k.select(valid, found, 0))
    parser.state.count("constbuf_binds")


def store(parser: Parser, file: Value, value: Value) -> None:
    """A word for the selected buffer, at the offset that advances by itself."""
    k, state = parser.k, parser.state
    upper, lower = _selected(parser, file)
    at, field = parser.place(file, OFFSET.word), OFFSET.fields[0]
    offset = k.load(I32, at).bits(field.lo, field.width)
    address = (k.to_i64(upper) << 32) + k.to_i64(lower, signed=False) + k.to_i64(offset)
    target, mapped = page_table.translate(k, address & ~3)
    for _ in k.when(mapped):
        k.store(I32, target, value)
        page_table.stamp(k, target)
    for _ in k.when(~mapped):
        parser.odd("constant")
    k.store(I32, at, (offset + 4) & field.mask)
    state.count("constbuf_words_inline")


__all__ = ["OFFSET", "bind", "store"]
