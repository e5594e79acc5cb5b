"""Resources of a draw or launch at a moment: programs, constant buffers, textures. `vertices.py` has its vertices."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu.digests import sha256
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.facts.maxwell.headers import TSC, as_number, numbers_of
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.resources import MOST_TEXELS, ConstantBuffer, Program, Texture, TextureFacts, TexturePart
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.constants import GROUPS, Binding
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.engines.threed.draws import STAGES, Draw, Shader
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.programs.stage_program import StageProgram
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide
from pocketgpu.maxwell.sampling.store import HEADER_BYTES, SAMPLER_BYTES
from pocketgpu.pictures import to_image
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from PIL.Image import Image

    from pocketgpu.inspect.shaders.files import ShaderProgram


_BINDINGS = B197.values("SET_SAMPLER_BINDING")
MOST_PICTURES = 256
"""Most slices of a texture that become pictures."""


@dataclass(frozen=True, repr=False)
class StageShader(Program):
    """A program of a draw. unit: "vertex A", "vertex B", "control", "evaluation", "geometry" or "pixel". address: of
    its header. registers: how many a thread has. data: the bytes of the code. inputs, outputs: addresses in attribute
    space."""

    unit: str
    address: int
    registers: int
    data: bytes
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]

    @property
    def size(self) -> str:
        """How long it is, in words."""
        return f"{counted(self.registers, 'register')}, at {self.address:#x}"

    @property
    def digest(self) -> str:
        """Digest of the code, 16 digits: equal for equal programs."""
        return sha256(self.data).hexdigest()[:16]

    @cached_property
    def code(self) -> ShaderProgram:
        """The program as `pocketgpu shader` shows it."""
        from pocketgpu.inspect.shaders.files import open_shader  # files have shaders of the other console, too

        return open_shader(self.data, kind="maxwell").programs[0]

    @property
    def begins(self) -> int:
        """The address of its header."""
        return self.address

    @property
    def text(self) -> str:
        """The program, disassembled."""
        return self.code.text(False)

    def __str__(self) -> str:
        return f"{self.unit} program at {self.address:#x}, {counted(self.registers, 'register')}\n{self.text}"


class Standing(Protocol):
    """The part of a moment that its textures use."""

    @property
    def machine(self) -> GM20B:
        """The machine, brought back to the moment."""
        ...


def texture_name(stage: str, bank: int, at: int) -> str:
    """The name of a texture whose handle is at a byte of a constant bank of a stage's program."""
    return f"{stage.replace(' ', '_').lower()}.c{bank}.{at:#x}"


def part_name(texture: str, header: TextureHeader, level: int, layer: int, z: int | None) -> str:
    """The name of a level of a texture; z: None of a level without slices."""
    name = texture + (f".layer{layer}" if header.layers > 1 else "")
    return name + (f".level{level}" if level else "") + (f".z{z}" if z is not None else "")


@dataclass(frozen=True, eq=False, repr=False)
class HandleTexture(Texture):
    """A texture that a program names. handle: the word in constant bank `bank`, at byte `at`; number: of its header.

    header: None if it cannot be read; then `fault` says why. sampler: the fields of its sampler by official name.
    moment: the moment at which its texels are read.
    """

    stage: str
    bank: int
    at: int
    handle: int
    header: TextureHeader | None
    sampler: dict[str, int]
    fault: str
    moment: Standing

    @property
    def number(self) -> int:
        return numbers_of(self.handle)[0]

    def array(self, level: int = 0, layer: int = 0, z: int = 0) -> NDArray[Any]:
        """Texels of a slice as shaders read them: (height, width, 4).

        :raises UsageError: there is no such slice, or the header cannot be read.
        """
        machine = self.moment.machine
        return self._known().decode(machine.memory, machine.engine, level, layer, z)

    @property
    def name(self) -> str:
        """A name for files: "pixel.c2.0x20" has its handle at byte 0x20 of constant bank 2 of the pixel program."""
        return texture_name(self.stage, self.bank, self.at)

    def pictures(self) -> dict[str, NDArray[np.uint8]]:
        """All levels of all layers (of a cube, its faces) and slices, by names such as "pixel.c2.0x20.layer1.level2":
        RGBA (height, width, 4), uint8, row 0 at t = 0. Of a buffer or a texture that is too large, only the first
        MOST_PICTURES.

        :raises UsageError: the header cannot be read, or there is no decoder for the format.
        """
        return {part.name: self.pixels(part) for part in self.parts}

    @property
    def parts(self) -> tuple[TexturePart, ...]:
        header, found = self._known(), []
        wanted = itertools.product(range(header.layers), range(header.last_level - header.first_level + 1))
        for layer, level in itertools.islice(wanted, MOST_PICTURES):
            one = header.surface(level, layer)[0]
            for z in range(min(one.depth, MOST_PICTURES)):
                name = part_name(self.name, header, level, layer, z if one.depth > 1 else None)
                found.append(TexturePart(name, one.width, one.height, level, layer, z))
        return tuple(found)

    def pixels(self, part: TexturePart) -> NDArray[np.uint8]:
        machine = self.moment.machine
        pixels = self._known().picture(machine.memory, machine.engine, part.level, part.layer, part.z)
        return np.ascontiguousarray(pixels, np.uint8)

    def sampled(self, part: TexturePart, x: int, y: int) -> list[float]:
        part.check(x, y)
        found: list[float] = self.array(part.level, part.layer, part.z)[y, x].tolist()
        return found

    @property
    def texel_bytes(self) -> int:
        return self._known().format.bytes

    @property
    def memory_size(self) -> int:
        header = self._known()
        if header.layout == "block-linear":
            return header.mips.size
        rows = header.surface()[0].layout
        return (rows.height - 1) * header.pitch + rows.width_bytes

    def addresses(self, part: TexturePart) -> NDArray[np.int64]:
        header = self._known()
        if part.width * part.height > MOST_TEXELS:
            raise UsageError(f"{part.name} has more than {MOST_TEXELS:,} texels", location=part.name)
        level, start = header.surface(part.level, part.layer)
        across, down = header.format.block
        x = np.arange(part.width, dtype=np.int64) // across * header.format.bytes
        y = np.arange(part.height, dtype=np.int64) // down
        blocks = header.layout == "block-linear"
        columns = level.layout.columns(x) if blocks else x
        rows = level.layout.rows(y, part.z) if blocks else y * header.pitch
        return np.asarray(start + columns[None, :] + rows[:, None], np.int64)

    @property
    def facts(self) -> TextureFacts:
        bound, h = f"{self.stage} texture {self.number}", self.header
        settings = {"handle": f"{self.handle:#010x}", "bank": self.bank, "at": self.at, **self.sampler}
        if h is None:
            return TextureFacts(self.name, bound, settings=settings, fault=self.fault)
        return TextureFacts(
            self.name, bound, True, h.kind, h.format.name, h.width, h.height, h.depth, h.layers, h.levels,
            h.address, settings,
        )  # fmt: skip

    @property
    def image(self) -> Image:
        """Its first slice as a picture."""
        machine = self.moment.machine
        pixels = self._known().picture(machine.memory, machine.engine)
        return to_image(np.ascontiguousarray(pixels[..., :3]))

    def _known(self) -> TextureHeader:
        if self.header is None:
            raise UsageError(f"texture {self.number}: {self.fault}")
        return self.header


def _programs(machine: GM20B, draw: Draw) -> Iterator[tuple[Shader, StageProgram]]:
    for shader in draw.shaders:
        program = machine.drawing.programs.find(shader.stage, shader.address, draw.place)
        if program is not None:
            yield shader, program


def shaders(machine: GM20B, draw: Draw | Launch) -> list[StageShader]:
    """The programs of a draw, in order of the pipeline, or of a launch."""
    found: list[StageShader] = []
    if isinstance(draw, Launch):
        if draw.code is None:
            return found
        return [StageShader("compute", draw.program, draw.field("REGISTER_COUNT"), bytes(draw.code.data), (), ())]
    for shader, program in _programs(machine, draw):
        header = program.header
        found.append(
            StageShader(
                STAGES[shader.stage], shader.address, shader.registers, bytes(program.code.data),
                tuple(header.inputs), tuple(header.outputs),
            )
        )  # fmt: skip
    return found


def buffers(machine: GM20B, draw: Draw | Launch) -> list[ConstantBuffer]:
    """The constant buffers of the groups that a draw's programs use, or of a launch; what is not mapped is 0."""
    groups: list[tuple[str, Sequence[Binding | None]]]
    if isinstance(draw, Launch):
        groups = [("compute", draw.constants)]
    else:
        used = sorted({shader.group for shader in draw.shaders if shader.group < len(draw.constants)})
        groups = [(GROUPS[group], draw.constants[group]) for group in used]
    found = []
    for name, slots in groups:
        for slot, one in enumerate(slots):
            if one is not None and one.size:
                data, _ = machine.memory.try_read(one.address, one.size)
                found.append(ConstantBuffer(name, slot, one.address, one.size, data))
    return found


@dataclass(frozen=True)
class Handle:
    """A word of the constant bank for handles that a program reads. stage: number of the program's stage; word: its
    place in the bank; value: the handle; header: the bytes of the texture header that it names."""

    stage: int
    word: int
    value: int
    number: int
    sampler: int
    header: bytes


def bank_of(draw: Draw) -> int:
    """The constant bank for handles."""
    return draw.state.field("SET_BINDLESS_TEXTURE", "CONSTANT_BUFFER_SLOT_SELECT")


def handles(machine: GM20B, draw: Draw) -> Iterator[Handle]:
    """The handles of a draw's textures that are in the constant bank for handles, each once for a stage."""
    state, memory, bank = draw.state, machine.memory, bank_of(draw)
    headers = state.address("SET_TEX_HEADER_POOL_A")
    joined = state.field("SET_SAMPLER_BINDING") == _BINDINGS.VIA_HEADER_BINDING
    for shader, program in _programs(machine, draw):
        words = sorted({step.texture.handle for step in program.steps if step.texture is not None})
        group = draw.constants[shader.group] if shader.group < len(draw.constants) else ()
        buffer = group[bank] if bank < len(group) else None
        for word in words:
            if word < 0 or buffer is None or 4 * word + 4 > buffer.size:
                continue  # in a register, or nowhere
            value = int.from_bytes(memory.try_read(buffer.address + 4 * word, 4)[0], "little")
            number, which = numbers_of(value, joined)
            raw, _ = memory.try_read(headers + number * HEADER_BYTES, HEADER_BYTES)
            yield Handle(shader.stage, word, value, number, which, raw)


def textures(moment: Standing, draw: Draw) -> list[HandleTexture]:
    """The textures of a draw whose handles are in the constant bank for handles, each once for a stage."""
    machine = moment.machine
    memory, found, bank = machine.memory, [], bank_of(draw)
    samplers = draw.state.address("SET_TEX_SAMPLER_POOL_A")
    for one in handles(machine, draw):
        header, fault = None, ""
        try:
            header = TextureHeader.parse(one.header)
        except PocketGPUError as error:
            fault = error.message
        data, _ = memory.try_read(samplers + one.sampler * SAMPLER_BYTES, SAMPLER_BYTES)
        bits = as_number(np.frombuffer(data, "<u4"))
        sampler = {part.name: part.raw(bits) for part in TSC if not part.count or part.count == 1}
        found.append(HandleTexture(STAGES[one.stage], bank, 4 * one.word, one.value, header, sampler, fault, moment))
    return found


def textures_read(machine: GM20B, draw: Draw) -> tuple[Range, ...]:
    """The memory of the textures whose handles are in the constant bank for handles. Programs may read less of it."""
    found = (_memory_of(one.header) for one in handles(machine, draw))
    return tuple(dict.fromkeys(one for one in found if one is not None))


@lru_cache(maxsize=1 << 12)
def _memory_of(header: bytes) -> Range | None:
    """The memory of a texture, all levels and layers; None if its header names no texture."""
    try:
        texture = TextureHeader.parse(header)
        if texture.layout == "block-linear":
            return Range(texture.address, texture.mips.size)
        level, address = texture.surface()
    except PocketGPUError:
        return None
    rows = SurfaceSide(address, pitch=texture.pitch)
    low, high = rows.reach(level.layout.width_bytes, level.layout.height)
    return Range(max(low, 0), high - max(low, 0))


__all__ = [
    "MOST_PICTURES", "Handle", "HandleTexture", "StageShader", "Standing", "bank_of", "buffers", "handles", "part_name",
    "shaders", "texture_name", "textures", "textures_read",
]  # fmt: skip
