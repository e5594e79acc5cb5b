"""The state of a Switch channel as records of a `.pgc`, and back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import StateRecord, Words
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.constants import GROUPS, SLOTS, Binding, ConstantBuffers
from pocketgpu.maxwell.engines.threed.engine import ThreeD
from pocketgpu.maxwell.host.channel import Channel
from pocketgpu.maxwell.host.layout import CLASS_OF_FILE, FILES, OTHER_FILE

_NUMBERS = {item.name: item.number for item in F.STATE_SWITCH}
_NAMES = {item.number: item.name for item in F.STATE_SWITCH}
_CLASS_3D = B197.class_id
_SUBCHANNELS = 8
_BINDING_WORDS = 4
_POINTERS = ("MME_POINTER", "MME_START_POINTER")


def save(channel: Channel, number: int) -> Iterator[StateRecord]:
    """Records for all words that are not zero; `number`: of the channel in the recording."""

    def record(name: str, words: Words, class_id: int = 0) -> Iterator[StateRecord]:
        used = np.flatnonzero(words)
        if len(used):
            first, end = int(used[0]), int(used[-1]) + 1
            yield StateRecord(_NUMBERS[name], words[first:end].astype(np.uint32), first, number, class_id)

    def whole(name: str, *words: int) -> StateRecord:
        return StateRecord(_NUMBERS[name], np.array(words, np.uint32), 0, number)

    bound = [CLASS_OF_FILE[channel.get("BINDINGS", subchannel)] for subchannel in range(_SUBCHANNELS)]
    yield whole("bindings", *bound)
    yield whole("shadow_mode", channel.get("SHADOW_MODE"))
    yield whole("mme_pointers", *map(channel.get, _POINTERS))
    for file in range(FILES):
        # Registers have values at power-on that are not zero, so all of them are stored.
        for name, words in (("registers", channel.files[file]), ("shadow_registers", channel.shadows[file])):
            if words.any():
                yield StateRecord(_NUMBERS[name], words.copy(), 0, number, CLASS_OF_FILE[file])
    yield from record("mme_code", channel.mme_code)
    known = np.flatnonzero(channel.mme_known)
    if len(known):
        first, end = int(known[0]), int(known[-1]) + 1
        yield StateRecord(_NUMBERS["mme_starts"], channel.mme_starts[first:end].copy(), first, number)
    slots = np.zeros((len(GROUPS), SLOTS, _BINDING_WORDS), np.uint32)
    for group, bindings in enumerate(_constants(channel).bindings):
        for slot, binding in enumerate(bindings):
            if binding is not None:
                address = binding.address
                slots[group, slot] = (1, address & 0xFFFFFFFF, address >> 32, binding.size)
    yield from record("constant_buffers", slots.reshape(-1), _CLASS_3D)


def restore(channel: Channel, state: StateRecord) -> None:
    """Restore words of a record to a channel. Classes that the machine does not have are ignored."""
    name, words, part = _NAMES.get(state.item), state.words, slice(state.first, state.first + len(state.words))
    file = CLASS_OF_FILE.index(state.class_id) if state.class_id in CLASS_OF_FILE else None
    match name:
        case "bindings":
            for subchannel, class_id in enumerate(words.tolist(), state.first):
                bound = CLASS_OF_FILE.index(class_id) if class_id in CLASS_OF_FILE else OTHER_FILE
                channel.bind(bound, subchannel)
        case "registers" | "shadow_registers" if file is not None:
            (channel.files if name == "registers" else channel.shadows)[file][part] = words
        case "shadow_mode" if len(words):
            channel.put("SHADOW_MODE", int(words[0]) & 3)
        case "mme_code":
            room = len(channel.mme_code[part])
            channel.mme_code[part] = words[:room]
            channel.put("MME_TOP", max(channel.get("MME_TOP"), state.first + room))
        case "mme_starts":
            channel.mme_starts[part] = words
            channel.mme_known[part] = 1
        case "mme_pointers":
            for pointer, value in zip(_POINTERS[state.first :], words.tolist(), strict=False):
                channel.put(pointer, value & 0x7FFFFFFF)
        case "constant_buffers":
            _restore_constants(channel, state)


def _restore_constants(channel: Channel, state: StateRecord) -> None:
    all_words = np.zeros(len(GROUPS) * SLOTS * _BINDING_WORDS, np.uint32)
    all_words[state.first : state.first + len(state.words)] = state.words
    constants = _constants(channel)
    for number, (valid, low, high, size) in enumerate(all_words.reshape(-1, _BINDING_WORDS).tolist()):
        if valid:
            address = (low | high << 32) & ((1 << 40) - 1)
            constants.set(number // SLOTS, number % SLOTS, Binding(address, size & 0x1FFFF))


def _constants(channel: Channel) -> ConstantBuffers:
    engine = channel.engines[CLASS_OF_FILE.index(_CLASS_3D)]
    assert isinstance(engine, ThreeD)
    return engine.constants
