"""A small machine for tests of the 3D core: registers by name into a command list, a pass-through vertex program and a
tiny render target.

From the package this takes the machine and where a named field sits; everything else (list entries, tiling, short
floats, instruction words) is written down here again from the documents, so that tests compare two readings of them.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import PICA
from pocketgpu.pica.n3ds import N3DS

COLOR, DEPTH = 0x18000000, 0x18200000
LIST, DATA = 0x20000000, 0x20400000
TEXTURES = (0x21000000, 0x21400000, 0x21800000)
LIST_MODE, STRIP, FAN = 0, 1, 2
IDENTITY = 0x1B
END = 0x22 << 26


def f24(value: float) -> int:
    """1 sign, 7 exponent (bias 63), 16 mantissa bits; the mantissa is cut."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    sign, exponent, mantissa = bits >> 31, bits >> 23 & 0xFF, bits >> 7 & 0xFFFF
    if exponent == 0xFF:
        return sign << 23 | 0x7F << 16 | mantissa
    exponent -= 64
    return sign << 23 if exponent <= 0 else sign << 23 | min(exponent, 0x7F) << 16 | mantissa


def packed(x: float, y: float, z: float, w: float) -> list[int]:
    """Four f24 in three words: w has the top 24 bits of the first one, x the low ones of the last."""
    value = f24(w) << 72 | f24(z) << 48 | f24(y) << 24 | f24(x)
    return [value >> 64, value >> 32 & 0xFFFFFFFF, value & 0xFFFFFFFF]


def entry(number: int, *words: int, mask: int = 0xF, each: bool = False) -> list[int]:
    """A list entry: first parameter, header, further ones, padding to eight bytes."""
    out = [words[0], int(each) << 31 | len(words) - 1 << 20 | mask << 16 | number, *words[1:]]
    return out + [0] * (len(out) & 1)


def order(width: int, height: int) -> np.ndarray:
    """Texel number of every (row, column), rows in memory order: 8x8 tiles, inside them x and y bits take turns."""
    y, x = np.mgrid[:height, :width]
    inside = sum(((x >> b & 1) << 2 * b) + ((y >> b & 1) << 2 * b + 1) for b in range(3))
    return ((y >> 3) * (width >> 3) + (x >> 3)) * 64 + inside


def descriptor(mask: str = "xyzw", s: str = "xyzw", t: str = "xyzw", u: str = "xyzw", negative: str = "") -> int:
    """An operand descriptor: written components, the three swizzles, which of "stu" are negated."""
    select = lambda text: sum("xyzw".index(c) << 6 - 2 * i for i, c in enumerate(text))  # noqa: E731
    word = sum(8 >> "xyzw".index(c) for c in mask)
    for i, (name, text) in enumerate(zip("stu", (s, t, u), strict=True)):
        word |= select(text) << 5 + 9 * i | (name in negative) << 4 + 9 * i
    return word


def register(name: str) -> int:
    """Number of a shader register as a source: v0-15, r0-15, c0-95; as a destination: o0-15, r0-15."""
    return {"v": 0, "r": 0x10, "c": 0x20, "o": 0}[name[0]] + int(name[1:])


def op(code: int, to: str, s: str, t: str = "v0", desc: int = 0, index: int = 0) -> int:
    """An instruction of the plain format: the first source may be a uniform."""
    return code << 26 | register(to) << 21 | index << 19 | register(s) << 12 | register(t) << 7 | desc


def flow(code: int, to: int = 0, count: int = 0, extra: int = 0) -> int:
    """A control instruction; `extra` goes to bits 22 and up (boolean, integer or condition)."""
    return code << 26 | extra << 22 | to << 10 | count


class Gpu:
    """An N3DS with a command list under construction, a render target of width x height, and tidy defaults.

    Rows of arrays count from the bottom of the picture, as window coordinates do.
    """

    entry, order, f24, packed = map(staticmethod, (entry, order, f24, packed))
    op, flow, descriptor = map(staticmethod, (op, flow, descriptor))

    def __init__(
        self, width: int = 16, height: int = 16, evaluator: str = "llvm", threads: int = 1, tier: str = "auto",
        **choices: str,
    ) -> None:  # fmt: skip
        chosen = {name.replace("__", "."): value for name, value in choices.items()}
        self.n3ds = N3DS(evaluator=evaluator, threads=threads, switches=chosen, tier=tier)
        self.memory, self.events = self.n3ds.memory, self.n3ds.events
        self.list: list[int] = []
        self._data = DATA
        self.target(width, height)
        self.state()
        self.program([op(0x13, f"o{i}", f"v{i}") for i in range(4)])

    # -- lists ------------------------------------------------------------------------------------------------------
    def write(self, name: str | int, *words: int, mask: int = 0xF, each: bool = False) -> None:
        """One entry."""
        self.list += entry(PICA[name].offset if isinstance(name, str) else name, *words, mask=mask, each=each)

    def set(self, **registers: int | Mapping[str, Any]) -> None:
        """Whole registers, by word or by fields (those not named are 0)."""
        for name, value in registers.items():
            word = value
            if not isinstance(word, int):
                word = 0
                for field, part in value.items():  # type: ignore[union-attr]
                    word = PICA[name][field].encode(part, word)
            self.write(name, word)

    def run(self, finalize: bool = True) -> bool:
        """Run the list from guest memory; whether it raised P3D."""
        if finalize:
            self.list += entry(0x10, 0x12345678)
            if len(self.list) % 4:  # a size is a multiple of 16 bytes
                self.list += entry(0x10, 0x12345678)
        data = np.array(self.list, np.uint32)
        self.list = []
        self.memory.write(LIST, data.tobytes())
        return self.start(LIST, data.nbytes)

    def start(self, address: int, size: int) -> bool:
        """Start a list that lies in memory; whether it raised P3D."""
        self.n3ds.take_interrupts()
        self.poke(0x10401000, 0)
        self.poke(0x104018E0, size >> 3)
        self.poke(0x104018E8, address >> 3)
        self.poke(0x104018F0, 1)
        return self.n3ds.take_interrupts().get("P3D", 0) > 0

    def poke(self, where: int | str, value: int) -> None:
        """A write from the processor: physical address or name of an external register."""
        address = EXTERNAL[where].address if isinstance(where, str) else where
        self.n3ds.write_registers(np.array([address & ~3], np.uint32), np.array([value & 0xFFFFFFFF], np.uint32))

    def peek(self, where: int | str) -> int:
        """An external register, or one of the core by name."""
        if isinstance(where, str):
            where = EXTERNAL[where].address if where in EXTERNAL else PICA[where].address
        return self.n3ds.read_register(where)

    @property
    def ids(self) -> set[str]:
        """Ids of the events so far."""
        return {event.id for event in self.events}

    # -- state ------------------------------------------------------------------------------------------------------
    def target(self, width: int, height: int, color: int = 0, depth: int = 3, flip: int = 1) -> None:
        """A render target (format numbers of the core), with the viewport over all of it."""
        self.width, self.height, self.format, self.depth_format = width, height, color, depth
        size = width | height - 1 << 12 | flip << 24
        self.set(
            VIEWPORT_WIDTH=f24(width / 2), VIEWPORT_HEIGHT=f24(height / 2), VIEWPORT_XY=0, FRAMEBUFFER_DIM=size,
            RENDERBUF_DIM=size, COLORBUFFER_LOC=COLOR >> 3, DEPTHBUFFER_LOC=DEPTH >> 3, DEPTHBUFFER_FORMAT=depth,
            COLORBUFFER_FORMAT={0: 2, 1: 1}.get(color, 0) | color << 16, COLORBUFFER_READ=15, COLORBUFFER_WRITE=15,
            DEPTHBUFFER_READ=3, DEPTHBUFFER_WRITE=3,
        )  # fmt: skip

    def state(self) -> None:
        """Primary colour straight to the buffer, no tests, everything else off."""
        self.set(
            FACECULLING_CONFIG=0, FRAGOP_CLIP=0, DEPTHMAP_SCALE=f24(-1.0), DEPTHMAP_OFFSET=0, DEPTHMAP_ENABLE=1,
            SCISSORTEST_MODE=0, TEXUNIT_CONFIG=0x1000, COLOR_OPERATION=0x00E40000, LOGIC_OP=3, BLEND_FUNC=0,
            FRAGOP_ALPHA_TEST=0, STENCIL_TEST=0, STENCIL_OP=0, DEPTH_COLOR_MASK=0xF00, LIGHTING_ENABLE1=1,
            TEXENV_UPDATE_BUFFER=0,
        )  # fmt: skip
        self.stage(0, sources=(0, 0, 0))
        for stage in range(1, 6):
            self.stage(stage, sources=(15, 15, 15))

    def stage(
        self, number: int, op: int = 0, sources: Sequence[int] = (15, 15, 15), operands: Sequence[int] = (0, 0, 0),
        scale: int = 0, alpha: tuple[int, Sequence[int], Sequence[int], int] | None = None, constant: int = 0,
    ) -> None:  # fmt: skip
        """A combiner stage; `alpha` is (op, sources, operands, scale), the same as for colours if left out."""
        a_op, a_sources, a_operands, a_scale = alpha or (op if op not in (6, 7) else 0, sources, (0, 0, 0), scale)
        at = (0xC0, 0xC8, 0xD0, 0xD8, 0xF0, 0xF8)[number]
        nibbles = lambda values, shift: sum(v << 4 * i + shift for i, v in enumerate(values))  # noqa: E731
        words = (
            nibbles(sources, 0) | nibbles(a_sources, 16), nibbles(operands, 0) | nibbles(a_operands, 12),
            op | a_op << 16, constant, scale | a_scale << 16,
        )  # fmt: skip
        self.write(at, *words, each=True)

    def program(self, code: Sequence[int], descriptors: Sequence[int] | None = None, entry_point: int = 0) -> None:
        """A vertex program; an END is added. Descriptor 0 is the plain one unless others are given."""
        self.write(0x2CB, 0)
        self.write(0x2CC, *code, END)
        self.write(0x2BF, 1)
        self.write(0x2D5, 0)
        self.write(0x2D6, *(descriptors or [descriptor()]))
        self.set(VSH_ENTRYPOINT=0x7FFF0000 | entry_point)

    def uniform(self, number: int, *vector: float) -> None:
        """A float uniform, in full precision."""
        words = struct.unpack("<4I", struct.pack("<4f", *vector))
        self.write(0x2C0, 0x80000000 | number)
        self.write(0x2C1, *words[::-1])

    def outputs(self, *maps: int, enabled: int | None = None) -> None:
        """SH_OUTMAP words of the attributes that reach the rasteriser, and which output registers they are."""
        self.set(VSH_OUTMAP_MASK=(1 << len(maps)) - 1 if enabled is None else enabled, SH_OUTMAP_TOTAL=len(maps))
        self.write("SH_OUTMAP_O0", *maps, each=True)

    # -- draws ------------------------------------------------------------------------------------------------------
    def place(self, data: bytes | np.ndarray) -> int:
        """Put data into fresh memory; its address."""
        raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
        at = self._data
        self._data += (len(raw) + 63) & ~63
        self.memory.write(at, raw)
        return at

    def attributes(self, *arrays: np.ndarray) -> None:
        """Interleaved float attributes 0, 1, ... from arrays (vertices, up to 4 components)."""
        count, each = len(arrays), [np.atleast_2d(a).shape[1] for a in arrays]
        address = self.place(np.concatenate(arrays, axis=1).astype(np.float32))
        formats = sum((3 | size - 1 << 2) << 4 * i for i, size in enumerate(each))
        numbers = sum(i << 4 * i for i in range(count))
        self.write("ATTRIBBUFFERS_LOC", address >> 3)
        self.write(0x201, formats & 0xFFFFFFFF, formats >> 32 | count - 1 << 28, each=True)
        self.write(
            0x203, 0, numbers & 0xFFFFFFFF, numbers >> 32 | 4 * sum(each) << 16 | count << 28, *[0] * 33, each=True
        )
        self.inputs(count)

    def loaders(
        self, base: int, formats: Sequence[tuple[int, int]], *loaders: tuple[int, Sequence[int], int], fixed: int = 0
    ) -> None:
        """Attribute formats (type, count) and loaders (address, component nibbles, stride)."""
        f = sum((kind | count - 1 << 2) << 4 * i for i, (kind, count) in enumerate(formats))
        self.write("ATTRIBBUFFERS_LOC", base >> 3)
        self.write(0x201, f & 0xFFFFFFFF, f >> 32 | fixed << 16 | len(formats) - 1 << 28, each=True)
        words: list[int] = []
        for address, nibbles, stride in loaders:
            n = sum(nibble << 4 * i for i, nibble in enumerate(nibbles))
            words += [address - base, n & 0xFFFFFFFF, n >> 32 | stride << 16 | len(nibbles) << 28]
        self.write(0x203, *(words + [0] * 36)[:36], each=True)
        self.inputs(len(formats))

    def inputs(self, count: int, permutation: int = 0xFEDCBA9876543210) -> None:
        """How many attributes reach the program, and in which registers."""
        self.set(VSH_INPUTBUFFER_CONFIG=0xA0000000 | count - 1, VSH_NUM_ATTR=count - 1)
        self.write("VSH_ATTRIBUTES_PERMUTATION_LOW", permutation & 0xFFFFFFFF, permutation >> 32, each=True)

    def draw(
        self, position: Any, color: Any = (1, 1, 1, 1), uv0: Any = (0, 0, 1, 1), uv12: Any = (0, 0, 0, 0),
        mode: int = LIST_MODE, indices: Any = None, restart: bool = True, wide: bool = True,
    ) -> None:  # fmt: skip
        """Vertices with position (x, y, z, w), colour, texture coordinates 0 (u, v, w) and 1, 2 (u, v, u, v)."""
        position = np.array(position, np.float32)
        if position.shape[1] == 2:
            position = np.concatenate([position, np.tile([-0.5, 1.0], (len(position), 1))], axis=1)
        spread = lambda a: np.broadcast_to(np.array(a, np.float32), (len(position), 4))  # noqa: E731
        self.attributes(position, spread(color), spread(uv0), spread(uv12))
        self.outputs(0x03020100, 0x0B0A0908, 0x1F100D0C, 0x17160F0E)
        self.set(PRIMITIVE_CONFIG=3 | mode << 8)
        if restart:
            self.set(RESTART_PRIMITIVE=1)
        if indices is None:
            self.launch(len(position))
        else:
            self.launch_indices(indices, wide)

    def launch(self, count: int, first: int = 0) -> None:
        """DRAWARRAYS as drivers do it."""
        self.set(
            INDEXBUFFER_CONFIG=0x80000000, NUMVERTICES=count, VERTEX_OFFSET=first, GEOSTAGE_CONFIG2=1,
            START_DRAW_FUNC0=0, DRAWARRAYS=1,
        )  # fmt: skip
        self.write("START_DRAW_FUNC0", 1)
        self.set(GEOSTAGE_CONFIG2=0, VTX_FUNC=1)

    def launch_indices(self, indices: Any, wide: bool = True) -> None:
        """DRAWELEMENTS; the index buffer lies after the attributes."""
        address = self.place(np.array(indices, np.uint16 if wide else np.uint8))
        base = next(w for w, h in zip(self.list[-2::-1], self.list[::-1], strict=False) if h == 0x000F0200) * 8
        self.set(
            INDEXBUFFER_CONFIG=int(wide) << 31 | address - base, NUMVERTICES=len(indices), START_DRAW_FUNC0=0,
            DRAWELEMENTS=1,
        )  # fmt: skip
        self.write("START_DRAW_FUNC0", 1)
        self.set(VTX_FUNC=1)

    def quad(self, box: tuple[float, float, float, float] = (-1, -1, 1, 1), z: float = -0.5, **more: Any) -> None:
        """A rectangle in normalised coordinates (left, bottom, right, top); texture coordinates run from 0 to 1."""
        x0, y0, x1, y1 = box
        corners = [(x0, y0, z, 1), (x1, y0, z, 1), (x0, y1, z, 1), (x1, y1, z, 1)]
        more.setdefault("uv0", [(0, 0, 1, 1), (1, 0, 1, 1), (0, 1, 1, 1), (1, 1, 1, 1)])
        more.setdefault("uv12", [(0, 0, 0, 0), (1, 0, 1, 0), (0, 1, 0, 1), (1, 1, 1, 1)])
        self.draw(corners, mode=STRIP, **more)

    # -- textures ---------------------------------------------------------------------------------------------------
    def texture(
        self, unit: int, texels: np.ndarray, linear: bool = False, wrap: tuple[int, int] = (2, 2), border: int = 0
    ) -> None:
        """An RGBA8 texture from words 0xRRGGBBAA (rows from the bottom); enables nothing."""
        height, width = texels.shape
        data = np.zeros(height * width, "<u4")
        data[order(width, height)] = texels[::-1]
        self.texture_data(unit, data.tobytes(), 0, width, height, linear, wrap, border)

    def texture_data(
        self, unit: int, data: bytes, format: int, width: int, height: int, linear: bool = False,
        wrap: tuple[int, int] = (2, 2), border: int = 0,
    ) -> None:  # fmt: skip
        """A texture from its bytes in memory. wrap: codes of s and t."""
        self.memory.write(TEXTURES[unit], data)
        at = (0x81, 0x91, 0x99)[unit]
        param = wrap[0] << 12 | wrap[1] << 8 | (6 if linear else 0)
        self.write(at, border, width << 16 | height, param, 0, TEXTURES[unit] >> 3, each=True)
        self.write((0x8E, 0x96, 0x9E)[unit], format)

    def show(self, unit: int = 0, coordinates: int = 0) -> None:
        """Texture colour of a unit straight to the buffer."""
        self.set(TEXUNIT_CONFIG=0x1000 | 1 << unit | coordinates)
        self.stage(0, sources=(3 + unit, 0, 0))

    def span(self, u0: float, u1: float, v0: float, v1: float, **more: Any) -> None:
        """A quad with texture coordinates over the whole target, from edge to edge, for all units."""
        corners = [(u0, v0), (u1, v0), (u0, v1), (u1, v1)]
        both = [(u, v, u, v) for u, v in corners]
        self.quad(uv0=[(u, v, 1, 1) for u, v in corners], uv12=both, **more)

    # -- results ----------------------------------------------------------------------------------------------------
    def raw(self, address: int, size: int, height: int | None = None, width: int | None = None) -> np.ndarray:
        """Pixel words of `size` bytes of a tiled buffer, bottom row first."""
        height, width = height or self.height, width or self.width
        rows = height + 7 & ~7
        data = np.frombuffer(self.memory.read(address, rows * width * size), np.uint8).reshape(-1, size)
        words = (data.astype(np.uint32) << np.arange(size, dtype=np.uint32) * 8).sum(axis=1, dtype=np.uint32)
        return words[order(width, height)][::-1]

    def put(self, address: int, size: int, words: np.ndarray) -> None:
        """The reverse of `raw`."""
        height, width = words.shape
        data = np.zeros(((height + 7 & ~7) * width, size), np.uint8)
        data[order(width, height)] = words[::-1, :, None] >> np.arange(size) * 8 & 0xFF
        self.memory.write(address, data.tobytes())

    def color_words(self) -> np.ndarray:
        """The colour buffer's words (height, width), bottom row first."""
        return self.raw(COLOR, {0: 4, 1: 3}.get(self.format, 2))

    def put_color(self, words: np.ndarray) -> None:
        self.put(COLOR, {0: 4, 1: 3}.get(self.format, 2), words)

    def pixels(self) -> np.ndarray:
        """An RGBA8 colour buffer as (height, width, 4)."""
        assert self.format == 0
        return channels(self.color_words())

    def one_color(self) -> list[int]:
        """Run the list; the colour of the target, which must be the same all over."""
        self.run()
        pixels = self.pixels().reshape(-1, 4)
        assert (pixels == pixels[0]).all()
        return pixels[0].tolist()

    def depth_words(self) -> np.ndarray:
        return self.raw(DEPTH, {0: 2, 2: 3, 3: 4}[self.depth_format])

    def put_depth(self, words: np.ndarray) -> None:
        self.put(DEPTH, {0: 2, 2: 3, 3: 4}[self.depth_format], words)

    def covered(self) -> np.ndarray:
        """Where the colour buffer is not zero any more."""
        return self.color_words() != 0


def channels(words: np.ndarray) -> np.ndarray:
    """r, g, b, a of 0xRRGGBBAA words, in a last axis."""
    return (words[..., None] >> np.array([24, 16, 8, 0], np.uint32) & 0xFF).astype(np.int64)


def random_texture(seed: int, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Words and channels of a random RGBA8 texture, row 0 at t = 0."""
    words = np.random.default_rng(seed).integers(0, 1 << 32, (height, width), np.uint64).astype(np.uint32)
    return words, (words[..., None] >> np.array([24, 16, 8, 0], np.uint32) & 0xFF).astype(np.int64)
