"""Surfaces: texels of guest memory read and written in place (SULD, SUST, SUATOM, SURED).

A texel's address comes from the header, in its block-linear or plain layout; the bytes are accessed by the same kernels
as all global memory, which count unmapped bytes. `.P` forms convert between texels and 32-bit values by the header's
format, `.D` forms copy bytes. Values outside a format's range become the nearest one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pocketgpu.lanes import I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.formats.channels import NUMBER_FLOAT, Channels
from pocketgpu.maxwell.formats.components import FLOAT32, OF_TEXTURES, SINT, UINT, Channel, Quotient, Rounding
from pocketgpu.maxwell.formats.words import Words
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.lookup import Record, Request, each_texture
from pocketgpu.maxwell.sampling.records import SurfaceCall
from pocketgpu.maxwell.sass.thread_memory import access, atomics
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH, OUTSIDE_SURFACE

_GOB = 512
# Values of `clamp`; other numbers ignore accesses outside, as IGN does.
_TO_EDGE, _TRAP = 1, 2
_ARRAY_1D, _ARRAY_2D, _VOLUME = 2, 4, 5


class _SurfaceCall:
    """One call, for the lanes whose handle is of one surface."""

    def __init__(self, request: Request, record: Record, lanes: Value) -> None:
        self.k, self.request, self.record, self.lanes = request.k, request, record, lanes
        self.formatted = request.bits(SurfaceCall.FORMATTED) != 0
        self.element = record.word("ELEMENT")
        word = lambda n: record.word("CHANNEL", n)
        channels = tuple(Channel(word(n), word(n + 1), word(n + 2), word(n + 3)) for n in range(0, 16, 4))
        self.channels = Channels(self.element, channels, 0, NUMBER_FLOAT)

    # -- addresses --------------------------------------------------------------------------------------------------
    def size_code(self) -> Value:
        """The size code of the access, as in loads and stores."""
        k, element = self.k, self.element
        whole = k.select(
            element == 1, 0, k.select(element == 2, 2, k.select(element <= 4, 4, k.select(element <= 8, 5, 6)))
        )
        return k.select(self.formatted, whole, self.request.bits(SurfaceCall.SIZE))

    def locate(self, bytes: Value) -> tuple[Value, Value]:
        """(addresses as i64, lanes that are inside) of accesses of so many bytes."""
        k, record, request = self.k, self.record, self.request
        dimension, clamp = request.bits(SurfaceCall.DIMENSION), request.bits(SurfaceCall.CLAMP)
        x, second, third = (request.take(n) for n in (r.V_X, r.V_Y, r.V_Z))
        zero = k.splat(0)
        flat = dimension < 3
        y = k.select(flat, zero, second)
        z = k.select(dimension == _VOLUME, third, zero)
        layer = k.select(dimension == _ARRAY_1D, second, k.select(dimension == _ARRAY_2D, third, zero))
        in_bytes = (request.bits(SurfaceCall.BYTES) != 0) & ~self.formatted
        width = record.word("WIDTH") * self.element
        # A coordinate far outside must not wrap to one inside when it is converted to bytes.
        near = k.select(in_bytes, x, k.clamp(x, -1, 1 << 26) * self.element)
        most = k.max(width - bytes + 1, 0)
        limits = [record.word(name) for name in ("HEIGHT", "DEPTH", "LAYERS")]
        inside = near.below(most)
        for v, limit in zip((y, z, layer), limits, strict=True):
            inside = inside & v.below(limit)
        edge = clamp == _TO_EDGE
        confined = lambda v, limit: k.clamp(v, 0, k.max(limit - 1, 0))
        near = k.select(edge, confined(near, most), near)
        y, z, layer = (
            k.select(edge, confined(v, limit), v) for v, limit in zip((y, z, layer), limits, strict=True)
        )  # fmt: skip
        inside = (inside | edge) & (most > 0) & record.flag(r.GOOD)
        far = lambda v: k.to_i64(v)
        scalar = lambda name: k.to_i64(record.word(name))
        pair = lambda name: (k.to_i64(record.word(name, 1)) << 32) | k.to_i64(record.word(name), False)
        base = pair("ADDRESS") + far(layer) * pair("STRIDE")

        def plain() -> Value:
            return far(y) * scalar("PITCH") + far(near)

        def blocks() -> Value:
            high, deep = record.word("BLOCK_HEIGHT"), record.word("BLOCK_DEPTH")
            gob = y >> 3
            at = far(gob >> high) * scalar("ROW_SIZE") + far(near >> 6) * scalar("BLOCK_SIZE")
            at = at + far((gob & ((k.i32(1) << high) - 1)) * _GOB)
            at = at + far(z >> deep) * pair("SLICE_SIZE")
            at = at + far((z & ((k.i32(1) << deep) - 1)) * (k.i32(_GOB) << high))
            within = ((near & 32) << 3) | ((y & 6) << 5) | ((near & 16) << 1) | ((y & 1) << 4) | (near & 15)
            return at + far(within)

        address = base + k.branch(record.flag(r.PITCH_LINEAR), plain, blocks)
        outside = k.ballot(self.lanes & ~inside)
        for _ in k.when((clamp == _TRAP) & (outside != 0) & record.flag(r.GOOD)):
            request.fault(OUTSIDE_SURFACE, outside, k.i32(0))
        return address, inside & self.lanes

    # -- what instructions do ---------------------------------------------------------------------------------------
    def run(self) -> None:
        k, request = self.k, self.request
        action, size = request.bits(SurfaceCall.ACTION), self.size_code()
        bytes = k.select(size < 2, 1, k.select(size < 4, 2, k.select(size == 4, 4, k.select(size == 5, 8, 16))))
        kind = self._type()
        wide = (kind == atomics.U64) | (kind == atomics.S64)
        bytes = k.select(action == r.ATOMIC, k.select(wide, 8, 4), bytes)
        bytes = k.select(self.formatted & (action != r.ATOMIC), self.element, bytes)
        data = [request.take(r.V_DATA + n) for n in range(4)]
        address, here = self.locate(bytes)
        request.put(access.LOW, k.low32(address), self.lanes)
        request.put(access.HIGH, k.low32(address.lsr(32)), self.lanes)

        def call(handle: int, what: Value) -> None:
            number = k.ballot(here)
            get = k.load(I64, request.launch + handle)
            for _ in k.when(number != 0):
                k.invoke(get, request.launch, request.slot, request.warp, request.instruction, number, what)

        def load() -> None:
            for n in range(4):
                request.put(access.DATA + n, k.splat(0), self.lanes)
            call(LAUNCH.ACCESS, size | access.GLOBAL << 4)
            words = [k.select(here, request.take(access.DATA + n), 0) for n in range(4)]
            found = k.branch(self.formatted, lambda: self.converted(tuple(words), here), lambda: tuple(words))
            for n, v in enumerate(found):
                request.put(r.V_RESULT + n, v, self.lanes)

        def store() -> None:
            words = k.branch(self.formatted, lambda: self.encoded(data), lambda: tuple(data))
            for n, v in enumerate(words):
                request.put(access.DATA + n, v, self.lanes)
            call(LAUNCH.ACCESS, size | access.GLOBAL << 4 | 1 << 8)

        def combine() -> None:
            for n, v in enumerate(data):
                request.put(atomics.OPERAND + n, v, self.lanes)
            swap = request.bits(SurfaceCall.SWAP) != 0
            op = k.select(swap, atomics.SWAP, request.bits(SurfaceCall.OPERATION))
            silent = request.bits(SurfaceCall.SILENT)
            what = op | (k.select(swap, 0, kind) << 4) | (k.select(wide, 1, 0) << 12) | (silent << 13)
            call(LAUNCH.ATOMIC, what | access.GLOBAL << 8)
            for n in range(2):
                request.put(r.V_RESULT + n, k.select(here, request.take(atomics.OPERAND + n), 0), self.lanes)

        k.switch(action, [load, store, combine])

    def _type(self) -> Value:
        """The type of an atomic operation: the instruction's, or that of the format."""
        k, first = self.k, self.channels.channels[0].type
        by_format = k.select(first == SINT, atomics.S32, k.select(first == FLOAT32, atomics.F32_ADD, atomics.U32))
        exchanges = self.request.bits(SurfaceCall.OPERATION) == atomics.EXCH  # bits as they are, those of floats too
        by_format = k.select(exchanges, atomics.U32, by_format)
        return k.select(self.formatted, by_format, self.request.bits(SurfaceCall.TYPE))

    # -- formats ----------------------------------------------------------------------------------------------------
    def converted(self, words: Words, here: Value) -> tuple[Value, ...]:
        """Texels as four 32-bit values."""
        k = self.k
        one = k.bits_f32(k.select(self._integer(), 1, k.bits_i32(k.f32(1.0))))
        colour = self.channels.unpack(k, words, None, Quotient.NEAREST, one=one, types=OF_TEXTURES)
        return tuple(k.select(here, k.bits_i32(value), 0) for value in colour)

    def encoded(self, values: Sequence[Value]) -> Words:
        """Four 32-bit values as the words of texels."""
        k = self.k
        return self.channels.pack(k, [k.bits_f32(v) for v in values], None, Rounding.SINGLE, types=OF_TEXTURES)

    def _integer(self) -> Value:
        red = self.record.word("CHANNEL")  # its type comes first
        return (red == UINT) | (red == SINT)


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, instruction=I32, mask=I32, what=I32, handle=I32)
def surface(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value, handle: Value,
    *, choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """Loads, stores and atomic operations on surfaces for the lanes of a mask."""
    request = Request(k, launch, slot, warp, instruction, what)
    each_texture(
        request, mask, handle, r.HEADER, lambda record, here: _SurfaceCall(request, record, k.mask_of(here)).run()
    )
