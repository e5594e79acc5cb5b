"""Index and vertex buffers of a draw, as they are in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.pica import ATTRIBUTES, PICA
from pocketgpu.facts.pica_enums import ATTRIBUTE_TYPE, INDEX_TYPE
from pocketgpu.facts.vertices import ELEMENT_BYTES, component_field, format_fields, skipped_bytes
from pocketgpu.inspect.model.elements import Element, plain
from pocketgpu.inspect.model.vertices import IndexBuffer, VertexBuffer
from pocketgpu.inspect.n3ds.resources.targets import RegisterWords
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.wording import counted

_NUMBERS = {
    ATTRIBUTE_TYPE.S8: "i1", ATTRIBUTE_TYPE.U8: "u1", ATTRIBUTE_TYPE.S16: "<i2", ATTRIBUTE_TYPE.F32: "<f4",
}  # fmt: skip
"""NumPy's types of attributes in memory."""
GAP = 4
"""Bytes that gaps are aligned to."""


def index_buffer(memory: GuestMemory, registers: NDArray[np.uint32]) -> IndexBuffer:
    """The index buffer of registers (0x300 words), with NUMVERTICES indices."""
    get = StaticRegisters(RegisterWords(registers))
    wide = get("INDEXBUFFER_CONFIG.type") == INDEX_TYPE.U16
    size = 2 if wide else 1
    address = _base(registers) + get("INDEXBUFFER_CONFIG.offset") & ~(size - 1)
    extent = memory.extent_of(address)
    count = min(get("NUMVERTICES.count"), extent[1] // size if extent else 0)
    data = memory.read(address, count * size) if count else b""
    return IndexBuffer(address, "u16" if wide else "u8", np.frombuffer(data, "<u2" if wide else "u1"))


def vertex_buffers(registers: NDArray[np.uint32]) -> list[VertexBuffer]:
    """The attribute loaders that registers (0x300 words) turn on."""
    get, found = StaticRegisters(RegisterWords(registers)), []
    for loader in range(ATTRIBUTES):
        prefix = f"ATTRIBBUFFER{loader}"
        components, elements, at = [], [], 0
        for i in range(min(get(f"{prefix}_CONFIG2.count"), ATTRIBUTES)):
            code = get(component_field(loader, i))
            if code < ATTRIBUTES:
                kind, size = format_fields(code)
                count, type = get(size) + 1, get(kind)
                components.append(f"attribute {code}: {count} x {ATTRIBUTE_TYPE[type]}")
                at += -at % ELEMENT_BYTES[type]  # elements are aligned
                length = count * ELEMENT_BYTES[type]
                name = f"attribute {code}: {ATTRIBUTE_TYPE[type]}"
                elements.append(Element(name, at, length, tuple("xyzw"[:count]), plain(_NUMBERS[type], count)))
                at += length
            else:
                components.append(f"padding of {counted(skipped_bytes(code), 'byte')}")
                at += -at % GAP + skipped_bytes(code)
        if components:
            address = _base(registers) + get(f"{prefix}_OFFSET.offset")
            stride = get(f"{prefix}_CONFIG2.stride")
            found.append(VertexBuffer(loader, address, stride, tuple(components), None, tuple(elements)))
    return found


def _base(registers: NDArray[np.uint32]) -> int:
    base = PICA["ATTRIBBUFFERS_LOC"]
    return int(base["base"].decode(int(registers[base.offset])))
