"""The state of the 3D core as a command list: a program cannot load it in another way."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

import numpy as np

from pocketgpu.builder.entries import Entries
from pocketgpu.capture.formats.pgc.contents import Event, Load, Words, Writes
from pocketgpu.facts.list_entry import MOST_PARAMETERS
from pocketgpu.facts.pica import LIST_ALIGNMENT, PICA, START_LIST
from pocketgpu.pica.core.layout import PROCTEX_TABLES
from pocketgpu.pica.front.command_list import EFFECT_NAMES, EFFECT_TABLE

_KEPT_EFFECTS: Final = frozenset(
    EFFECT_NAMES.index(name)
    for name in ("store", "vs_setup", "gs_bools", "fixed_index", "vs_uniform_index", "gs_uniform_index")
)  # fmt: skip
_LEFT_OUT: Final = (
    "CMDBUF_", "FRAMEBUFFER_FLUSH", "FRAMEBUFFER_INVALIDATE", "GSH_CODETRANSFER_END", "VSH_CODETRANSFER_END",
)  # fmt: skip
"""Beginnings of names of registers that do something when they are written."""
_LIGHT_ENTRIES: Final = 256


def state_events(core: Mapping[str, Words], place: int) -> list[Event]:
    """The events that bring parts of the core, by the names of `.pgc` state, to these words. The list is at `place`."""
    entries = Entries()
    entries.write("VSH_COM_MODE", separate=True)
    for prefix, unit in (("vs", "VSH"), ("gs", "GSH")):
        _shader_unit(entries, core, prefix, unit)
    if (fixed := core.get("default_attributes")) is not None:
        for number, words in enumerate(fixed.reshape(-1, 4).tolist()):
            entries.write("FIXEDATTRIB_INDEX", index=number).write_words("FIXEDATTRIB_DATA0", _packed(words))
    _tables(entries, core)
    if (registers := core.get("pica")) is not None:
        _registers(entries, registers)
    entries.finalize()
    data = entries.tobytes()
    assert len(data) % LIST_ALIGNMENT == 0
    size, address = PICA["CMDBUF_SIZE0"], PICA["CMDBUF_ADDR0"]
    pairs = (
        (size.address, size.encode(size=len(data))), (address.address, address.encode(address=place)),
        (PICA["CMDBUF_JUMP0"].address, START_LIST),
    )  # fmt: skip
    columns = np.array(pairs, np.uint32)
    return [Load(place, (data,)), Writes(columns[:, 0].copy(), columns[:, 1].copy())]


def _packed(words: list[int]) -> list[int]:
    """Four floats of 24 bits, x first, as three words."""
    x, y, z, w = words
    return [w << 8 | z >> 16, (z & 0xFFFF) << 16 | y >> 8, (y & 0xFF) << 24 | x]


def _shader_unit(entries: Entries, core: Mapping[str, Words], prefix: str, unit: str) -> None:
    for name, register in (("code", "CODETRANSFER"), ("opdescs", "OPDESCS")):
        if (words := core.get(f"{prefix}_{name}")) is not None:
            entries.write(f"{unit}_{register}_INDEX", index=0)
            entries.fifo(f"{unit}_{register}_DATA0", words.tolist())
    entries.write_word(f"{unit}_CODETRANSFER_END", 1)
    if (narrow := core.get(f"{prefix}_uniforms")) is not None:
        entries.write(f"{unit}_FLOATUNIFORM_INDEX", index=0, f32=False)
        packed = [word for row in narrow.reshape(-1, 4).tolist() for word in _packed(row)]
        entries.fifo(f"{unit}_FLOATUNIFORM_DATA0", packed)
    if (wide := core.get(f"{prefix}_uniforms_f32")) is not None:
        entries.write(f"{unit}_FLOATUNIFORM_INDEX", index=0, f32=True)
        entries.fifo(f"{unit}_FLOATUNIFORM_DATA0", wide.reshape(-1, 4)[:, ::-1].ravel().tolist())


def _tables(entries: Entries, core: Mapping[str, Words]) -> None:
    if (lights := core.get("lighting_lut")) is not None:
        for table, words in enumerate(lights.reshape(-1, _LIGHT_ENTRIES)):
            entries.write("LIGHTING_LUT_INDEX", index=0, table=table).fifo("LIGHTING_LUT_DATA0", words.tolist())
    if (fog := core.get("fog_lut")) is not None:
        entries.write("FOG_LUT_INDEX", index=0).fifo("FOG_LUT_DATA0", fog.tolist())
    if (gas := core.get("gas_lut")) is not None:
        entries.write("GAS_LUT_INDEX", index=0).fifo("GAS_LUT_DATA", gas.tolist())
    if (proctex := core.get("proctex_lut")) is not None:
        for table, (first, count) in PROCTEX_TABLES.items():
            entries.write("PROCTEX_LUT", index=0, table=table)
            entries.fifo("PROCTEX_LUT_DATA0", proctex[first : first + count].tolist())


def _registers(entries: Entries, registers: Words) -> None:
    """All registers that keep what is written, in runs."""
    ids = [PICA["PRIMITIVE_CONFIG"].offset]
    ids += [
        register.offset
        for register in PICA
        if EFFECT_TABLE[register.offset] in _KEPT_EFFECTS and not register.name.startswith(_LEFT_OUT)
    ]  # fmt: skip
    ordered = np.unique(np.array(ids))
    cuts = [0, *(np.flatnonzero(np.diff(ordered) > 1) + 1).tolist(), len(ordered)]
    for first, end in pairwise(cuts):
        for at in range(first, end, MOST_PARAMETERS):
            run = ordered[at : min(end, at + MOST_PARAMETERS)]
            entries.write_words(int(run[0]), registers[run].tolist())


__all__ = ["state_events"]
