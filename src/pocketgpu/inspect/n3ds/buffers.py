"""Index and vertex buffers of a draw as they lie in memory."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.model.vertices import IndexBuffer, VertexBuffer
from pocketgpu.inspect.n3ds.targets import RegisterWords
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.memory.guest import GuestMemory

LOADERS = 12
_MOST_COMPONENTS = 12
_ATTRIBUTES = 12
_TYPES = (("s8", 1), ("u8", 1), ("s16", 2), ("f32", 4))


def index_buffer(memory: GuestMemory, registers: NDArray[np.uint32]) -> IndexBuffer:
    """The index buffer that registers (0x300 words) name, for NUMVERTICES indices."""
    get = StaticRegisters(RegisterWords(registers))
    wide = get("INDEXBUFFER_CONFIG.type") == 1
    size = 2 if wide else 1
    address = _base(registers) + get("INDEXBUFFER_CONFIG.offset") & ~(size - 1)
    extent = memory.extent_of(address)
    count = min(get("NUMVERTICES.count"), extent[1] // size if extent else 0)
    data = memory.read(address, count * size) if count else b""
    return IndexBuffer(address, "u16" if wide else "u8", np.frombuffer(data, "<u2" if wide else "u1"))


def vertex_buffers(registers: NDArray[np.uint32]) -> list[VertexBuffer]:
    """The loaders in use, by what registers (0x300 words) say."""
    get, found = StaticRegisters(RegisterWords(registers)), []
    for loader in range(LOADERS):
        prefix = f"ATTRIBBUFFER{loader}"
        components = []
        for i in range(min(get(f"{prefix}_CONFIG2.count"), _MOST_COMPONENTS)):
            code = get(f"{prefix}_CONFIG{1 if i < 8 else 2}.component{i + 1}")
            if code < _ATTRIBUTES:
                half = f"ATTRIBBUFFERS_FORMAT_{'LOW' if code < 8 else 'HIGH'}"
                name, _ = _TYPES[get(f"{half}.type{code}")]
                components.append(f"attribute {code}: {get(f'{half}.size{code}') + 1} x {name}")
            else:
                components.append(f"padding of {4 * (code - _ATTRIBUTES + 1)} bytes")
        if components:
            address = _base(registers) + get(f"{prefix}_OFFSET.offset")
            found.append(VertexBuffer(loader, address, get(f"{prefix}_CONFIG2.stride"), tuple(components)))
    return found


def _base(registers: NDArray[np.uint32]) -> int:
    base = PICA["ATTRIBBUFFERS_LOC"]
    return int(base["base"].decode(int(registers[base.offset])))
