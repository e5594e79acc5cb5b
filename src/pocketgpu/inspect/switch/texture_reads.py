"""Which memory the textures of a draw are in: what its programs name, by handles in constants.

A program names a texture by the place of its handle in the constant bank for handles. The handle says which header of
the pool describes the texture. Handles that a program has in registers are not known before it runs: they are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.errors import PocketGPUError
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.headers import numbers_of
from pocketgpu.inspect.model.event import Range
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.threed.draws import Draw, Shader
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.programs.stage_program import StageProgram
from pocketgpu.maxwell.sampling.store import HEADER_BYTES

_BINDINGS = B197.values("SET_SAMPLER_BINDING")
_MOST_KNOWN = 4096
"""Headers and programs that are known at a time."""


@dataclass(frozen=True)
class Handle:
    """A handle that a program names: the word at byte `at` of constant bank `bank`. number: of its header; sampler: of
    its sampler."""

    shader: Shader
    bank: int
    at: int
    handle: int
    number: int
    sampler: int


def programs_of(machine: GM20B, draw: Draw) -> Iterator[tuple[Shader, StageProgram]]:
    """The programs of a draw that can be read, in order of the pipeline."""
    for shader in draw.shaders:
        program = machine.drawing.programs.find(shader.stage, shader.address, draw.place)
        if program is not None:
            yield shader, program


class TextureHandles:
    """Finds handles of draws, and the memory of their textures. It remembers programs and headers."""

    def __init__(self) -> None:
        self._words: dict[int, tuple[StageProgram, tuple[int, ...]]] = {}
        self._ranges: dict[bytes, Range | None] = {}

    def _named(self, program: StageProgram) -> tuple[int, ...]:
        """The words of the constant bank that a program takes handles from; negative: from a register."""
        known = self._words.get(id(program))
        if known is None:
            if len(self._words) >= _MOST_KNOWN:
                self._words.clear()
            words = sorted({step.texture.handle for step in program.steps if step.texture is not None})
            known = self._words[id(program)] = program, tuple(words)
        return known[1]

    def of(self, machine: GM20B, draw: Draw) -> Iterator[Handle]:
        """The handles of a draw that has just happened, each once for a stage."""
        state, memory = draw.state, machine.memory
        bank = state.field("SET_BINDLESS_TEXTURE", "CONSTANT_BUFFER_SLOT_SELECT")
        joined = state.field("SET_SAMPLER_BINDING") == _BINDINGS.VIA_HEADER_BINDING
        for shader, program in programs_of(machine, draw):
            group = draw.constants[shader.group] if shader.group < len(draw.constants) else ()
            buffer = group[bank] if bank < len(group) else None
            for word in self._named(program):
                if word < 0 or buffer is None or 4 * word + 4 > buffer.size:
                    continue  # in a register, or nowhere
                handle = int.from_bytes(memory.try_read(buffer.address + 4 * word, 4)[0], "little")
                yield Handle(shader, bank, 4 * word, handle, *numbers_of(handle, joined))

    def reads(self, machine: GM20B, draw: Draw) -> tuple[Range, ...]:
        """The memory of the textures of a draw that has just happened: all levels and layers of each."""
        pool, found = draw.state.address("SET_TEX_HEADER_POOL_A"), dict[Range, None]()
        for one in self.of(machine, draw):
            raw = bytes(machine.memory.try_read(pool + one.number * HEADER_BYTES, HEADER_BYTES)[0])
            if raw not in self._ranges:
                if len(self._ranges) >= _MOST_KNOWN:
                    self._ranges.clear()
                self._ranges[raw] = _range_of(raw)
            place = self._ranges[raw]
            if place is not None:
                found[place] = None
        return tuple(found)


def _range_of(raw: bytes) -> Range | None:
    """The memory of the texture that a header describes; None if the header makes no sense."""
    try:
        header = TextureHeader.parse(raw)
        first, start = header.surface()
        last, end = header.surface(header.last_level - header.first_level, header.layers - 1)
    except PocketGPUError:
        return None
    if header.layout == "block-linear":
        return Range(start, end - start + last.layout.size)
    rows = -(-header.height // header.format.block[1])
    return Range(start, max(header.pitch * (rows - 1), 0) + first.layout.width_bytes)


__all__ = ["Handle", "TextureHandles", "programs_of"]
