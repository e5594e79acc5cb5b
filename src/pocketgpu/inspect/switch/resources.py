"""What a draw works with, at a moment: programs, constant buffers, textures, and vertices in and out as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.facts.maxwell.headers import TSC, as_number
from pocketgpu.maxwell.engines.constants import GROUPS
from pocketgpu.maxwell.engines.draws import STAGES, Draw, Shader
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.plans import PIXEL, Plan
from pocketgpu.maxwell.graphics.records import MAP_WORDS, VERTICES
from pocketgpu.maxwell.graphics.stage_program import StageProgram
from pocketgpu.maxwell.sampling.store import HEADER_BYTES, SAMPLER_BYTES
from pocketgpu.maxwell.texture_header import TextureHeader
from pocketgpu.surface import to_image

from ..shader_files import ShaderProgram, open_shader

if TYPE_CHECKING:
    from PIL.Image import Image

_NAMES = {0x64: "layer", 0x68: "viewport", 0x6C: "point_size"}
"""Words of attribute space with a name of their own; vectors are named by `_vector`."""


@dataclass(frozen=True)
class BoundShader:
    """A program of a draw. address: of its header. code: as `pocketgpu shader` shows programs; `text` disassembles."""

    stage: str
    address: int
    registers: int
    code: ShaderProgram
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def text(self) -> str:
        """The program, disassembled."""
        return self.code.text(False)

    def __str__(self) -> str:
        return f"{self.stage} program at {self.address:#x}, {self.registers} registers\n{self.text}"


@dataclass(frozen=True, eq=False)
class BoundTexture:
    """A texture that a program names. handle: the word in constant bank `bank`, at byte `at`; number: of its header.

    header: None if it cannot be read; then `fault` says why. sampler: the fields of its sampler by official name.
    """

    stage: str
    bank: int
    at: int
    handle: int
    header: TextureHeader | None
    sampler: dict[str, int]
    fault: str
    _machine: GM20B

    @property
    def number(self) -> int:
        return self.handle & 0xFFFFF

    def array(self, level: int = 0, layer: int = 0, z: int = 0) -> NDArray[Any]:
        """Texels of a slice as shaders get them: (height, width, 4). The machine must still stand at the moment.

        :raises UsageError: there is no such slice, or the header cannot be read.
        """
        return self._known().decode(self._machine.memory, self._machine.engine, level, layer, z)

    @property
    def image(self) -> Image:
        """Its first slice as a picture."""
        pixels = self._known().picture(self._machine.memory, self._machine.engine)
        return to_image(np.ascontiguousarray(pixels[..., :3]))

    def _known(self) -> TextureHeader:
        if self.header is None:
            raise UsageError(f"texture {self.number}: {self.fault}")
        return self.header

    def __str__(self) -> str:
        if self.header is None:
            return f"{self.stage} texture {self.number}: {self.fault}"
        h = self.header
        size = "x".join(str(n) for n in (h.width, h.height, h.depth) if n > 1) or "1"
        return f"{self.stage} texture {self.number}: {h.kind} {size} {h.format.name} at {h.address:#x}"


@dataclass(frozen=True)
class BoundBuffer:
    """A constant buffer that programs of a group see. data: its bytes."""

    group: str
    slot: int
    address: int
    size: int
    data: bytes

    @property
    def words(self) -> NDArray[np.uint32]:
        """Its whole words; `.view(np.float32)` gives numbers."""
        return np.frombuffer(self.data[: len(self.data) & ~3], "<u4").astype(np.uint32)

    def __str__(self) -> str:
        return f"{self.group} c[{self.slot:#x}]: {self.size} bytes at {self.address:#x}"


def _programs(machine: GM20B, draw: Draw) -> Iterator[tuple[Shader, StageProgram]]:
    for shader in draw.shaders:
        program = machine.drawing.programs.find(shader.stage, shader.address, draw.place)
        if program is not None:
            yield shader, program


def shaders(machine: GM20B, draw: Draw) -> list[BoundShader]:
    """The programs of a draw, in order of the pipeline."""
    found = []
    for shader, program in _programs(machine, draw):
        (code,) = open_shader(program.code.data, kind="maxwell").programs
        header = program.header
        found.append(
            BoundShader(
                STAGES[shader.stage], shader.address, shader.registers, code, tuple(header.inputs), header.outputs
            )
        )  # fmt: skip
    return found


def buffers(machine: GM20B, draw: Draw) -> list[BoundBuffer]:
    """The constant buffers of the groups that a draw's programs use; what is not mapped is 0."""
    found = []
    for group in sorted({shader.group for shader in draw.shaders if shader.group < len(draw.constants)}):
        for slot, one in enumerate(draw.constants[group]):
            if one is not None and one.size:
                data, _ = machine.memory.try_read(one.address, one.size)
                found.append(BoundBuffer(GROUPS[group], slot, one.address, one.size, data))
    return found


def textures(machine: GM20B, draw: Draw) -> list[BoundTexture]:
    """The textures that programs of a draw name by words of the constant bank with handles, each once a stage."""
    state, memory, found = draw.state, machine.memory, []
    bank = state.field("SET_BINDLESS_TEXTURE", "CONSTANT_BUFFER_SLOT_SELECT")
    headers, samplers = (state.address(f"SET_TEX_{name}_POOL_A") for name in ("HEADER", "SAMPLER"))
    joined = bool(state.field("SET_SAMPLER_BINDING"))
    for shader, program in _programs(machine, draw):
        words = sorted({step.texture.handle for step in program.steps if step.texture is not None})
        group = draw.constants[shader.group] if shader.group < len(draw.constants) else ()
        buffer = group[bank] if bank < len(group) else None
        for word in words:
            if word < 0 or buffer is None or 4 * word + 4 > buffer.size:
                continue  # in a register, or nowhere
            handle = int.from_bytes(memory.try_read(buffer.address + 4 * word, 4)[0], "little")
            number = handle & 0xFFFFF
            which = number if joined else handle >> 20
            raw, _ = memory.try_read(headers + number * HEADER_BYTES, HEADER_BYTES)
            header, fault = None, ""
            try:
                header = TextureHeader.parse(raw)
            except PocketGPUError as error:
                fault = error.message
            data, _ = memory.try_read(samplers + which * SAMPLER_BYTES, SAMPLER_BYTES)
            bits = as_number(np.frombuffer(data, "<u4"))
            sampler = {one.name: one.raw(bits) for one in TSC if not one.count or one.count == 1}
            found.append(
                BoundTexture(STAGES[shader.stage], bank, 4 * word, handle, header, sampler, fault, machine)
            )  # fmt: skip
    return found


# -- vertices ----------------------------------------------------------------------------------------------------------
def vertex_inputs(draw: Draw) -> NDArray[Any]:
    """The inputs of a draw's vertices in their order, as a structured array: "vertex" (the element of a stream that it
    is), "id" (what programs read), and "aN" for each attribute in use, four numbers each.

    :raises UsageError: the draw has too many vertices.
    """
    inputs = draw.inputs
    fields: list[Any] = [("vertex", np.int64), ("id", np.uint32)]
    fields += [(f"a{n}", values.dtype, (4,)) for n, values in inputs.items()]
    found = np.zeros(len(draw.vertex_numbers), np.dtype(fields))
    found["vertex"] = draw.vertex_numbers
    ids = draw.vertex_ids
    found["id"][: len(ids)] = ids
    for n, values in inputs.items():
        found[f"a{n}"] = values
    return found


def _vector(address: int) -> str:
    """The name of the vector that a word of attribute space belongs to."""
    if 0x70 <= address < 0x80:
        return "position"
    if 0x80 <= address < 0x280:
        return f"generic{(address - 0x80) // 16}"
    return _NAMES.get(address, f"a{address & ~15:#x}")


class OutputWatch:
    """Listens to a draw and keeps what its last stage before raster puts out."""

    def __init__(self, machine: GM20B) -> None:
        self._machine = machine
        self._parts: list[NDArray[Any]] = []
        self._going = False

    def look(self, plan: Plan) -> None:
        """Shapes of a list of primitives are in the region; the list's vertices are there, too."""
        from pocketgpu.maxwell.graphics.records import PRIMITIVES, REGION

        drawing = self._machine.drawing
        count = int(self._words(plan.lists[1] + PRIMITIVES.COUNT, 1)[0])
        following = int(self._words(drawing.region + REGION.NEXT, 1)[0])
        if not self._going:
            self._parts.append(self._vertices(plan))
        self._going = following < count

    def _words(self, at: int, count: int) -> NDArray[np.int32]:
        return self._machine.memory.arena[at : at + 4 * count].view(np.int32)

    def _vertices(self, plan: Plan) -> NDArray[Any]:
        pages, size, table_at, count = (int(n) for n in self._words(plan.lists[0], VERTICES.size // 4)[:4])
        table = self._words(table_at, MAP_WORDS)
        number = -(-count // 32)
        raw = self._machine.memory.arena[pages : pages + number * size].reshape(number, size)
        last = max(n for n in plan.programs if n != PIXEL)
        addresses = sorted(plan.programs[last].header.outputs)
        names: dict[str, list[int]] = {}
        for address in addresses:
            names.setdefault(_vector(address), []).append(address)
        fields: list[Any] = [
            (name, np.float32, (4,)) if name == "position" or name.startswith(("generic", "a")) else (name, np.uint32)
            for name in names
        ]
        found = np.zeros(count, np.dtype(fields))
        for name, words in names.items():
            for address in words:
                at = int(table[address // 4])
                column = raw[:, at : at + 128].copy().view(np.float32).reshape(-1)[:count]
                if found[name].ndim == 2:
                    found[name][:, address >> 2 & 3] = column
                else:
                    found[name] = column.view(np.uint32)
        return found

    @property
    def found(self) -> NDArray[Any]:
        """All shaded vertices, list after list."""
        return np.concatenate(self._parts) if self._parts else np.zeros(0, np.dtype([("position", np.float32, (4,))]))
