"""Command lists with one method for each drawing task: targets, textures, combiners, attributes, draws.

Each method writes the registers that the driver libraries write for the same task, in an order that works on a console.
For everything else use `write`.

Source: 3dbrew GPU/Internal Registers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from pocketgpu.builder.uploads import Uploads, pack_f24
from pocketgpu.builder.values import FieldValue
from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.pica import ATTRIBUTES, IMMEDIATE_INDEX, LOADER_STEP, PICA, SHADER_REGISTERS
from pocketgpu.facts.pica_enums import ATTRIBUTE_TYPE, COLOR_FORMAT, COMPONENT
from pocketgpu.facts.vertices import ELEMENT_BYTES, NIBBLES, skipped_bytes
from pocketgpu.late_dataclass import dataclass

Operand: TypeAlias = str | tuple[str, str]
"""A combiner's operand: the name of its source, or source and modifier, such as ("texture 0", "1 - rgb")."""
Color: TypeAlias = Sequence[int]
"""Red, green, blue and alpha, 0 to 255."""

_CODES = {name: number for number, name in ATTRIBUTE_TYPE.items()}
_SIZES = {name: ELEMENT_BYTES[number] for name, number in _CODES.items()}
_PADDING = {skipped_bytes(code): code for code in COMPONENT if skipped_bytes(code)}
_PIXEL_SIZES = {"RGBA8": "32 bits", "RGB8": "24 bits"}
INDEXED_LIST = "geometry"
"""The primitive mode that drivers set for indexed triangle lists."""


@dataclass(frozen=True)
class Buffer:
    """Vertices in memory: `address` (physical, bytes) of the first, contents of each, bytes from one to the next.

    layout: attributes as (type, components), type "s8" "u8" "s16" or "f32"; a plain number (4, 8, 12, 16) is that many
    bytes to skip. stride 0: vertices follow each other without gaps.
    """

    address: int
    layout: Sequence[tuple[str, int] | int]
    stride: int = 0

    def __repr__(self) -> str:
        parts = ", ".join(f"skip {one}" if isinstance(one, int) else f"{one[1]} x {one[0]}" for one in self.layout)
        return line_of(self, f"vertices at {self.address:#010x}: {parts}")

    def size(self) -> int:
        """Bytes of one vertex, including the gaps that the hardware needs to align attributes."""
        place = 0
        for part in self.layout:
            unit = 4 if isinstance(part, int) else _SIZES.get(part[0], 1)
            place = -(-place // unit) * unit + (part if isinstance(part, int) else unit * part[1])
        return place


class CommandList(Uploads):
    """A command list under construction.

        cl = CommandList()
        cl.write("TEXUNIT0_DIM", width=64, height=64)
        cl.write("DEPTH_COLOR_MASK", depth_test=True, depth_function="greater", red=True)
        data = cl.finalize().tobytes()

    Methods return the list itself, so that calls can be chained. All raise UsageError for names that do not exist and
    values that do not fit.
    """

    def __init__(self) -> None:
        super().__init__()
        self._units: set[int] = set()
        self._base = 0

    # -- state ------------------------------------------------------------------------------------------------------
    def plain_state(self) -> Self:
        """Disable everything that changes pixels: vertex colours go to the target unchanged."""
        for stage in range(6):
            self.combiner(stage)
        self.write("TEXENV_UPDATE_BUFFER").write("TEXENV_BUFFER_COLOR")
        self.write("TEXUNIT_CONFIG", constant_one=True)
        self.write("LIGHTING_ENABLE0").write("LIGHTING_ENABLE1", disable=True)
        self.write("FACECULLING_CONFIG").write("FRAGOP_CLIP").write("SCISSORTEST_MODE")
        self.write("DEPTHMAP_SCALE", value=-1.0).write("DEPTHMAP_OFFSET").write("DEPTHMAP_ENABLE", enable=True)
        self.write("FRAGOP_ALPHA_TEST").write("STENCIL_TEST").write("STENCIL_OP").write("LOGIC_OP", op="copy")
        self.write("EARLYDEPTH_TEST1").write("EARLYDEPTH_TEST2").write("GEOSTAGE_CONFIG")
        self.write("VSH_COM_MODE").write("GSH_MISC0").write("START_DRAW_FUNC0", configuration=True)
        self._units.clear()
        return self.blend().depth(None, write=False)

    def render_target(
        self,
        color: int,
        width: int,
        height: int,
        *,
        depth: int | None = None,
        color_format: str = "RGBA8",
        depth_format: str = "D24S8",
    ) -> Self:
        """Where to draw: addresses of colour and depth buffer, size in memory (screens are rotated: 240 wide), and a
        viewport over all of it. Without a depth buffer, depth is neither read nor written."""
        self.write("FRAMEBUFFER_FLUSH", flush=True).write("FRAMEBUFFER_INVALIDATE", invalidate=True)
        self.write("DEPTHBUFFER_FORMAT", format=depth_format)
        if color_format not in COLOR_FORMAT.values():
            raise UsageError(f"no render target has format {color_format}")
        self.write("COLORBUFFER_FORMAT", format=color_format, pixel_size=_PIXEL_SIZES.get(color_format, "16 bits"))
        self.write("FRAMEBUFFER_BLOCK32")
        self.write("DEPTHBUFFER_LOC", address=color if depth is None else depth)
        self.write("COLORBUFFER_LOC", address=color)
        for name in ("FRAMEBUFFER_DIM", "RENDERBUF_DIM"):
            self.write(name, width=width, height=height, flip=True)
        stencil = depth_format == "D24S8"
        self.write("COLORBUFFER_READ", mask=15).write("COLORBUFFER_WRITE", mask=15)
        for name in ("DEPTHBUFFER_READ", "DEPTHBUFFER_WRITE"):
            self.write(name, stencil=depth is not None and stencil, depth=depth is not None)
        return self.viewport(0, 0, width, height)

    def viewport(self, x: int, y: int, width: int, height: int) -> Self:
        """The part of the target for clip space, in pixels from its lower left corner."""
        self.write("VIEWPORT_WIDTH", value=width / 2).write("VIEWPORT_INVW", value=2 / width)
        self.write("VIEWPORT_HEIGHT", value=height / 2).write("VIEWPORT_INVH", value=2 / height)
        return self.write("VIEWPORT_XY", x=x, y=y)

    def scissor(self, x1: int = 0, y1: int = 0, x2: int = 0, y2: int = 0, mode: str = "keep inside") -> Self:
        """Draw only inside the rectangle with these corners (both inclusive); mode "off" disables it."""
        self.write("SCISSORTEST_MODE", mode=mode)
        return self.write("SCISSORTEST_POS", x1=x1, y1=y1).write("SCISSORTEST_DIM", x2=x2, y2=y2)

    def depth(self, function: str | None, *, write: bool = True, colors: str = "rgba") -> Self:
        """Depth test (None: no test), whether depth is written, and which channels of the colour are written."""
        channels = {name: name[0] in colors for name in ("red", "green", "blue", "alpha")}
        return self.write(
            "DEPTH_COLOR_MASK",
            depth_test=function is not None,
            depth_function=function or "always",
            depth_write=write,
            **channels,
        )

    def blend(
        self,
        source: str = "one",
        destination: str = "zero",
        equation: str = "add",
        *,
        source_alpha: str | None = None,
        destination_alpha: str | None = None,
        equation_alpha: str | None = None,
    ) -> Self:
        """Blend factors and equation, for alpha the same unless given; without arguments colours replace."""
        self.write("COLOR_OPERATION", blend_enable=True, line_config=0x0E4)
        return self.write(
            "BLEND_FUNC",
            equation_rgb=equation,
            equation_alpha=equation_alpha or equation,
            src_rgb=source,
            dst_rgb=destination,
            src_alpha=source_alpha or source,
            dst_alpha=destination_alpha or destination,
        )

    def texture(
        self,
        unit: int,
        address: int,
        width: int,
        height: int,
        format: str = "RGBA8",
        *,
        filter: str = "linear",
        wrap: str | tuple[str, str] = "repeat",
        border: Color = (0, 0, 0, 0),
        levels: int = 1,
        level_filter: str = "nearest",
        level_bias: float = 0.0,
    ) -> Self:
        """Enable texture unit 0, 1 or 2. wrap: a mode name, or two, for the first and second coordinate. levels: how
        many there are in memory, one after the other. level_filter: "nearest" takes one level, "linear" mixes two.
        level_bias: what is added to the level."""
        if unit not in (0, 1, 2):
            raise UsageError(f"texture unit {unit}: there are 0, 1 and 2")
        name = f"TEXUNIT{unit}_"
        wrap_s, wrap_t = (wrap, wrap) if isinstance(wrap, str) else wrap
        self.write_fields(name + "BORDER_COLOR", _rgba(border))
        self.write(name + "DIM", width=width, height=height)
        etc1 = 2 if format == "ETC1" else 0
        self.write(
            name + "PARAM", wrap_s=wrap_s, wrap_t=wrap_t, etc1=etc1, mag_filter=filter, min_filter=filter,
            mip_filter=level_filter,
        )  # fmt: skip
        self.write(name + "LOD", max_level=levels - 1, bias=level_bias)
        self.write(name + "ADDR", address=address).write(name + "TYPE", format=format)
        self._units.add(unit)
        return self._switch_units()

    def no_textures(self) -> Self:
        """Disable all texture units."""
        self._units.clear()
        return self._switch_units()

    def _switch_units(self) -> Self:
        enabled = {f"unit{unit}_enable": unit in self._units for unit in range(3)}
        return self.write("TEXUNIT_CONFIG", constant_one=True, clear_cache=True, **enabled)

    def combiner(
        self,
        stage: int,
        rgb: tuple[Operand, ...] = ("replace", "previous stage"),
        alpha: tuple[Operand, ...] = ("replace", "previous stage"),
        *,
        color: Color = (0, 0, 0, 0),
        scale_rgb: int = 1,
        scale_alpha: int = 1,
    ) -> Self:
        """A combiner stage (0-5): an operation and its operands, for rgb and for alpha; `color` is its constant.

        cl.combiner(0, ("modulate", "texture 0", "vertex color"), ("replace", ("texture 0", "red")))
        """
        if not 0 <= stage < 6:
            raise UsageError(f"combiner stage {stage}: there are 0 to 5")
        name = f"TEXENV{stage}_"
        sources: dict[str, FieldValue] = {}
        operands: dict[str, FieldValue] = {}
        for part, (_, *given), plain in (("rgb", rgb, "rgb"), ("alpha", alpha, "alpha")):
            for i in range(3):
                operand = given[i] if i < len(given) else "vertex color"
                source, modifier = (operand, plain) if isinstance(operand, str) else operand
                sources[f"{part}{i}"], operands[f"{part}{i}"] = source, modifier
        if not isinstance(rgb[0], str) or not isinstance(alpha[0], str):
            raise UsageError("a combiner stage starts with the name of its operation")
        self.write_fields(name + "SOURCE", sources).write_fields(name + "OPERAND", operands)
        self.write(name + "COMBINER", rgb=rgb[0], alpha=alpha[0]).write_fields(name + "COLOR", _rgba(color))
        return self.write(name + "SCALE", rgb=f"x{scale_rgb}", alpha=f"x{scale_alpha}")

    # -- vertices ---------------------------------------------------------------------------------------------------
    def attributes(self, *buffers: Buffer, fixed: Sequence[Sequence[float]] = (), base: int | None = None) -> Self:
        """The sources of vertices: the attributes of all buffers in order, then those with a fixed value, become inputs
        v0, v1, ... of the vertex program. base: the address that offsets count from, a multiple of 16 (None: that of
        the lowest buffer)."""
        if base is None:
            base = min((buffer.address for buffer in buffers), default=0) & -PICA.field("ATTRIBBUFFERS_LOC.base").scale
        self._base = base
        formats: dict[str, FieldValue] = {}
        loaders: list[int] = []
        count = 0
        for n, buffer in enumerate(buffers):
            codes = []
            for part in buffer.layout:
                if isinstance(part, int):
                    if part not in _PADDING:
                        raise UsageError(f"{part} bytes cannot be skipped", hint="4, 8, 12 or 16 can.")
                    codes.append(_PADDING[part])
                    continue
                if part[0] not in _CODES or not 1 <= part[1] <= 4:
                    raise UsageError(f"{part} is no attribute", hint=f"Types: {', '.join(_CODES)}; 1 to 4 components.")
                codes.append(count)
                formats |= {f"type{count}": part[0], f"size{count}": part[1]}
                count += 1
            stride = buffer.stride or buffer.size()
            if len(codes) > ATTRIBUTES or not 0 < stride < 256:
                raise UsageError(f"buffer {n} does not fit a loader: at most 12 parts and 255 bytes")
            first = {f"component{i + 1}": code for i, code in enumerate(codes[:NIBBLES])}
            rest = {f"component{i + 1}": code for i, code in enumerate(codes) if i >= NIBBLES}
            loaders += [
                buffer.address - base,
                PICA["ATTRIBBUFFER0_CONFIG1"].encode(**first),
                PICA["ATTRIBBUFFER0_CONFIG2"].encode(stride=stride, count=len(codes), **rest),
            ]
        if len(buffers) > ATTRIBUTES or not 1 <= count + len(fixed) <= ATTRIBUTES:
            raise UsageError("a draw has 1 to 12 attributes in at most 12 buffers")
        fixed_mask = sum(1 << count + i for i in range(len(fixed)))
        low = {name: value for name, value in formats.items() if int(name[4:]) < NIBBLES}
        high = {name: value for name, value in formats.items() if name not in low}
        total = count + len(fixed)
        self.write("ATTRIBBUFFERS_LOC", base=base).write_fields("ATTRIBBUFFERS_FORMAT_LOW", low)
        self.write_fields("ATTRIBBUFFERS_FORMAT_HIGH", {**high, "fixed_mask": fixed_mask, "count": total})
        self.write_words("ATTRIBBUFFER0_OFFSET", loaders + [0] * (LOADER_STEP * ATTRIBUTES - len(loaders)))
        for i, value in enumerate(fixed):
            self.fixed_attribute(count + i, value)
        return self._inputs(total)

    def fixed_attribute(self, number: int, value: Sequence[float]) -> Self:
        """The value of an attribute without a buffer; missing components are 0, 0, 1."""
        self.write("FIXEDATTRIB_INDEX", index=number)
        return self.write_words("FIXEDATTRIB_DATA0", pack_f24(_four(value)))

    def _inputs(self, count: int, registers: Sequence[int] = ()) -> Self:
        self.write("VSH_NUM_ATTR", count=count)
        self.write("VSH_INPUTBUFFER_CONFIG", count=count, unit_mode=0xA0)
        order = [*registers, *(n for n in range(SHADER_REGISTERS) if n not in registers)]
        if len(registers) not in (0, count) or sorted(order) != [*range(SHADER_REGISTERS)]:
            raise UsageError(
                f"input registers {list(registers)} of {count} attributes", hint="Each has one of its own."
            )
        fields = [(f"input{i}", register) for i, register in enumerate(order)]
        low = PICA["VSH_ATTRIBUTES_PERMUTATION_LOW"].encode(**dict(fields[:NIBBLES]))
        high = PICA["VSH_ATTRIBUTES_PERMUTATION_HIGH"].encode(**dict(fields[NIBBLES:]))
        return self.write_words("VSH_ATTRIBUTES_PERMUTATION_LOW", [low, high])

    # -- draws ------------------------------------------------------------------------------------------------------
    def draw_arrays(self, count: int, first: int = 0, primitive: str = "triangles") -> Self:
        """Draw `count` vertices from number `first` on, as "triangles", a "triangle strip" or a "triangle fan"."""
        self._begin(primitive)
        self.write("INDEXBUFFER_CONFIG", type="u16")
        self.write("NUMVERTICES", count=count).write("VERTEX_OFFSET", first=first)
        self.write("GEOSTAGE_CONFIG2", byte_mask=1, arrays=True)
        self._trigger("DRAWARRAYS")
        return self.write("GEOSTAGE_CONFIG2", byte_mask=1).write("VTX_FUNC", clear=True)

    def draw_elements(self, count: int, address: int, *, wide: bool = True, primitive: str = "triangles") -> Self:
        """Draw by `count` indices of two bytes (wide) or one at `address`, which must not be below the base of
        `attributes`."""
        if address < self._base:
            raise UsageError(f"indices at {address:#x} are below the base {self._base:#x}", hint="Name a lower base.")
        self._begin(INDEXED_LIST if primitive == "triangles" else primitive)
        self.write("INDEXBUFFER_CONFIG", offset=address - self._base, type="u16" if wide else "u8")
        self.write("NUMVERTICES", count=count)
        listed = primitive == "triangles"
        for name in ("GEOSTAGE_CONFIG", "GEOSTAGE_CONFIG2"):
            self.write(name, byte_mask=2, triangle_elements=listed)
        self._trigger("DRAWELEMENTS")
        self.write("VTX_FUNC", clear=True)
        for name in ("GEOSTAGE_CONFIG", "GEOSTAGE_CONFIG2"):
            self.write(name, byte_mask=2)
        return self

    def draw_immediate(self, vertices: ArrayLike, primitive: str = "triangles", *, inputs: Sequence[int] = ()) -> Self:
        """Draw vertices that are in the list itself: shape (n, attributes, 1 to 4), as 24-bit floats. inputs: the
        input register of each attribute (empty: v0, v1, ...)."""
        array = np.asarray(vertices, np.float64)
        if array.ndim != 3 or not 1 <= array.shape[1] <= 12 or not 1 <= array.shape[2] <= 4:
            raise UsageError(f"immediate vertices have shape (n, attributes, 1 to 4), not {array.shape}")
        self.write("ATTRIBBUFFERS_FORMAT_HIGH", count=array.shape[1])
        self._inputs(array.shape[1], inputs)
        self._begin(primitive)
        self.write("GEOSTAGE_CONFIG2", byte_mask=1, arrays=True).write("START_DRAW_FUNC0", byte_mask=1)
        self.write("FIXEDATTRIB_INDEX", index=IMMEDIATE_INDEX)
        values: list[list[float]] = array.reshape(-1, array.shape[2]).tolist()
        self.fifo("FIXEDATTRIB_DATA0", chain.from_iterable(pack_f24(_four(value)) for value in values))
        self.write("START_DRAW_FUNC0", byte_mask=1, configuration=True)
        return self.write("GEOSTAGE_CONFIG2", byte_mask=1).write("VTX_FUNC", clear=True)

    def _begin(self, primitive: str) -> None:
        self.write("PRIMITIVE_CONFIG", byte_mask=2, mode=primitive).write_word("RESTART_PRIMITIVE", 1)

    def _trigger(self, register: str) -> None:
        self.write("START_DRAW_FUNC0", byte_mask=1)
        self.write_word(register, 1)
        self.write("START_DRAW_FUNC0", byte_mask=1, configuration=True)

    def end_drawing(self) -> Self:
        """Flush the draws, so that transfers read their pixels."""
        return self.write("FRAMEBUFFER_FLUSH", flush=True)


def _rgba(color: Color) -> dict[str, FieldValue]:
    return dict(zip("rgba", color, strict=True))


def _four(value: Sequence[float]) -> list[float]:
    values = [float(v) for v in value]
    return values + [0.0, 0.0, 0.0, 1.0][len(values) :]
