"""Copies of texels in the work area: decoded where they lie, and again only where pages have been written since.

    copies = TexelCopies(memory, engine, (offset, size), choices, linear)
    copy = copies.get(header, texture, generation)      # texels as they are now

Kernels decode through the staging area, piece by piece, so that a piece stays in the processor's caches. Elements that
are texels already are only put in rows. Arrays (`canonical`) decode for the NumPy evaluator, and the few formats that
kernels have no outputs for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SHIFT
from pocketgpu.digests import blake2b
from pocketgpu.errors import UsageError
from pocketgpu.lanes import Engine
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats.channels import HALF
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.memory.page_table import STAGING, STAGING_SIZE
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide, copy_lines, in_one_piece, rows_at, to_rows
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.changed_texels import Piece, Runs, Slice, changed, runs_of, slices_of
from pocketgpu.maxwell.sampling.joint_work import JointWork
from pocketgpu.maxwell.sampling.texel_kernels import (
    OUTPUT,
    OUTPUTS,
    half_texels,
    narrow_floats,
    narrow_texels,
    wide_texels,
)
from pocketgpu.maxwell.sampling.texel_outputs import Outputs, half_shift, outputs_of, outputs_of_blocks
from pocketgpu.maxwell.sampling.texture_copies import canonical, kind_of, storage_of
from pocketgpu.maxwell.textures import blocks, sizes

Versions = NDArray[np.int64]
_ROWS, _ROWS_SIZE = STAGING, 1 << 18
_TABLES, _TABLES_SIZE = _ROWS + _ROWS_SIZE, 1 << 18
_OUTPUTS = _TABLES + _TABLES_SIZE
_MISFITS = _OUTPUTS + 2048
_SCRATCH = _OUTPUTS + 4096
_TEXELS = _SCRATCH + sizes.SCRATCH_BYTES
_TEXELS_SIZE = STAGING + STAGING_SIZE - _TEXELS
_UNSURE = -1
"""Kept for a page that may be written again without another version."""
_ALIGN = 64
_FLOATS = 16  # bytes of four f32
_STRIP, _STRIP_BYTES = 128, 1 << 20
"""Rows are copied by threads together, in strips of at least so many bytes; rows are multiples of those of blocks."""


@dataclass
class TexelCopy:
    """The texels of a header in the work area: `size` bytes at `offset`.

    levels: arena offset of each level. kind: of `records`. span: GPU address and bytes of all that was decoded. spans:
    where these lie in the arena. versions: of their pages. sure: whether a change of any will show in its version.
    digest: of the bytes of blocks. used: generation of the last use.
    """

    offset: int
    size: int
    levels: list[int]
    kind: int
    span: tuple[int, int]
    spans: list[tuple[int | None, int]]
    versions: Versions
    slices: Sequence[Slice]
    digest: bytes = b""
    sure: bool = True
    used: int = 0


class TexelCopies:
    """All copies.

    :param area: arena offset and size, for exclusive use. linear: arena offset of the linear values of sRGB codes.
    """

    def __init__(
        self, memory: GpuMemory, engine: Engine, area: tuple[int, int], choices: Mapping[str, str], linear: int
    ) -> None:
        self._memory, self._engine, self._choices, self._linear = memory, engine, choices, linear
        self._start, self.room = area
        self._copies: dict[bytes, TexelCopy] = {}
        self.joint = JointWork()
        """Threads that wait for a copy help to make it."""
        self.decoded = 0
        """Bytes of elements that were decoded so far."""

    @property
    def size(self) -> int:
        """Bytes of all copies."""
        return sum(copy.size for copy in self._copies.values())

    def get(self, header: bytes, texture: TextureHeader, generation: int) -> TexelCopy:
        """The copy of a header with the texels as they are now.

        :raises UsageError: there is no decoder for the format, nothing is mapped, or there is no room.
        """
        known = self._copies.get(header)
        span = storage_of(texture, self._choices) if known is None else known.span
        spans = self._memory.spans(*span)
        if all(offset is None for offset, _ in spans):
            raise UsageError(f"nothing is mapped at {span[0]:#x}, where the texture begins")
        versions, unsure = self._versions(spans)
        kept = None
        if known is not None and known.spans == spans:
            known.used, kept = generation, known.versions
            if known.sure and np.array_equal(kept, versions):
                return known
        digest = self._digest(span) if texture.format.compressed else b""
        if known is None or kept is None or not digest or known.digest != digest:
            runs = None if kept is None else runs_of(spans, kept != versions)
            known = self._decoded(header, texture, known, runs, generation)
        known.span, known.spans, known.digest, known.used = span, spans, digest, generation
        known.sure = not unsure.any()
        versions[unsure] = _UNSURE
        known.versions = versions
        return known

    def _versions(self, spans: Sequence[tuple[int | None, int]]) -> tuple[Versions, NDArray[np.bool_]]:
        """The versions of the pages of spans, and which of them kernels may write with the same version again."""
        memory, found = self._memory, []
        for offset, length in spans:
            if offset is not None:
                memory.newest(offset, length)  # notes what others wrote
                found.append(memory.page_versions[offset >> PAGE_SHIFT : ((offset + length - 1) >> PAGE_SHIFT) + 1])
        versions = np.concatenate(found).astype(np.int64)
        return versions, versions == memory.version

    def _digest(self, span: tuple[int, int]) -> bytes:
        return blake2b(self._memory.try_read(*span)[0], digest_size=16).digest()

    # -- decoding -----------------------------------------------------------------------------------------------------
    def _decoded(
        self, header: bytes, texture: TextureHeader, known: TexelCopy | None, runs: Runs | None, generation: int
    ) -> TexelCopy:
        """A copy with all texels, or `known` with those in some runs of bytes again."""
        kind = kind_of(texture)
        whole_alpha = kind == r.SRGB8 and texture.format.compressed
        if whole_alpha and known is not None and known.kind == r.FLOAT:
            kind = r.FLOAT
        way = self._way(texture, kind)
        if way is None:
            return self._from_arrays(header, texture, known, generation)
        if known is None or known.kind != kind:
            known, runs = self._placed(header, kind, slices_of(texture, self._choices), known, generation), None
        self._run(known, way, texture, runs)
        if whole_alpha and self._memory.words(_MISFITS, 1)[0]:
            # ASTC decodes sRGB to colours of 8 bits, but alpha to 16.
            way = self._way(texture, r.FLOAT)
            assert way is not None
            known = self._placed(header, r.FLOAT, known.slices, known, generation)
            self._run(known, way, texture, None)
        return known

    def _way(self, texture: TextureHeader, kind: int) -> tuple[Outputs, blocks.Codec | None] | None:
        """The outputs of a texture, and its codec if it is compressed; None if arrays must decode it."""
        layout = texture.format
        if self._engine.evaluator == "numpy":
            return None
        if not layout.compressed:
            outputs = outputs_of(texture, kind)
            return None if outputs is None or _tables_size(outputs) > _TABLES_SIZE else (outputs, None)
        codec = blocks.codec(layout, texture.types, texture.srgb)
        if codec.form == "float" and any(type.endswith(HALF) for type in texture.types):
            return None
        return outputs_of_blocks(codec, texture.swizzle, texture.srgb, kind), codec

    def _placed(
        self, header: bytes, kind: int, slices: Sequence[Slice], known: TexelCopy | None, generation: int
    ) -> TexelCopy:
        """A copy with room for all slices, in the place of the one that is known if they have the same size."""
        levels: list[int] = []
        at = 0
        for level, group in groupby(slices, lambda one: one.level):
            assert level == len(levels)
            levels.append(at)
            size = sum(one.width * one.height for one in group) * r.TEXEL_BYTES[kind]
            at += (size + _ALIGN - 1) & -_ALIGN
        if known is None or known.size != at:
            self._copies.pop(header, None)
            start = self._allocate(at, generation)
        else:
            start = known.offset
        nothing = np.zeros(0, np.int64)
        copy = TexelCopy(start, at, [start + level for level in levels], kind, (0, 0), [], nothing, slices)
        self._copies[header] = copy
        return copy

    def _run(
        self, copy: TexelCopy, way: tuple[Outputs, blocks.Codec | None], texture: TextureHeader, runs: Runs | None
    ) -> None:
        """Decode what lies in some runs of bytes, or everything."""
        outputs, codec = way
        self._memory.words(_MISFITS, 1)[0] = 0
        self._put(outputs)
        size, texel = texture.format.bytes, r.TEXEL_BYTES[copy.kind]
        place, level = 0, -1
        for one in copy.slices:
            if one.level != level:
                place, level = copy.levels[one.level], one.level
            for piece in changed(one, runs, size):
                self.decoded += piece.wide * piece.tall * size
                if codec is None:
                    self._elements(one, outputs, piece, place, texel)
                else:
                    self._blocks(one, outputs, codec, piece, place, texel)
            place += one.width * one.height * texel

    def _put(self, outputs: Outputs) -> None:
        """Write the records of outputs, and their tables."""
        memory, at, starts = self._memory, _TABLES, []
        for table in outputs.tables:
            memory.arena[at : at + table.nbytes] = table.view(np.uint8)
            starts.append(at)
            at += table.nbytes
        for n, one in enumerate(output for pixel in outputs.pixels for output in pixel):
            words = memory.words(_OUTPUTS + n * OUTPUT.size, OUTPUT.size // 4)
            shift = half_shift(one.type) if outputs.kind == r.HALF else 0
            words[:-2] = one.type, one.word, one.low, one.width, one.constant, shift
            words[-2:].view(np.int64)[0] = starts[one.table] if one.table < len(starts) else self._linear

    def _elements(self, one: Slice, outputs: Outputs, piece: Piece, place: int, texel: int) -> None:
        """Texels of a rectangle of elements. place: arena offset of the slice in its copy."""
        memory, engine, size = self._memory, self._engine, outputs.bytes
        pitch, side = one.width * texel, one.side.moved(piece.x * size, piece.y)
        if outputs.as_is:
            self._rows(side, piece.wide * size, piece.tall, place + piece.y * pitch + piece.x * texel, pitch)
            return
        lies = rows_at(memory, side, piece.wide * size, piece.tall)
        if lies is not None:
            self._convert(outputs, lies, side.pitch, one, piece, place, texel)
            return
        for part in piece.cut(_ROWS_SIZE // size):
            width = part.wide * size
            to_rows(memory, engine, one.side.moved(part.x * size, part.y), width, part.tall, _ROWS, width)
            self._convert(outputs, _ROWS, width, one, part, place, texel)

    def _rows(self, side: SurfaceSide, width: int, tall: int, target: int, pitch: int) -> None:
        """Put the elements of a rectangle in rows."""
        lines = max(_STRIP, -(-_STRIP_BYTES // width) // _STRIP * _STRIP)
        if not in_one_piece(self._memory, side, width, tall):
            lines = tall
        copy = partial(to_rows, self._memory, self._engine)
        self.joint.run([
            partial(copy, side.moved(0, y), width, min(lines, tall - y), target + y * pitch, pitch)
            for y in range(0, tall, lines)
        ])  # fmt: skip

    def _convert(
        self, outputs: Outputs, source: int, pitch: int, one: Slice, piece: Piece, place: int, texel: int
    ) -> None:
        """Convert rows of elements at an arena offset to texels."""
        count, row = len(outputs.pixels), one.width * texel
        for n in range(count):
            # Of pixels that share an element the last may be beyond the row.
            wide = min(piece.wide, (one.width - n + count - 1) // count - piece.x)
            target = place + piece.y * row + (piece.x * count + n) * texel
            records = _OUTPUTS + n * OUTPUTS * OUTPUT.size
            given = (source, pitch, target, row, wide, piece.tall, records)
            self._call(outputs, given, count * texel if count > 1 else 0)

    def _call(self, outputs: Outputs, given: tuple[int, ...], step: int = 0) -> None:
        get, size = self._engine.get, outputs.bytes
        if outputs.kind == r.HALF:
            get(half_texels, size=size)(*given)
        elif outputs.kind in (r.FLOAT, r.INTEGER):
            get(wide_texels, size=size, spread=bool(step))(*given, step)
        elif size == _FLOATS:
            get(narrow_floats)(*given, _MISFITS)
        else:
            get(narrow_texels, size=size)(*given)

    def _blocks(self, one: Slice, outputs: Outputs, codec: blocks.Codec, piece: Piece, place: int, texel: int) -> None:
        """Texels of a rectangle of blocks."""
        memory, engine = self._memory, self._engine
        (wide, high), size = codec.block, sizes.TEXEL_BYTES[codec.form]
        decode = engine.get(blocks.decode_blocks, **codec.static)
        across = min(piece.wide, _TEXELS_SIZE // (high * wide * size) - sizes.MAX_LANES + 1)
        pitch, row = (across + sizes.MAX_LANES - 1) * wide * size, one.width * texel
        most = min(_TEXELS_SIZE // (pitch * high), _ROWS_SIZE // (across * codec.bytes))
        for part in piece.cut(across * most, across):
            width = part.wide * codec.bytes
            side = one.side.moved(part.x * codec.bytes, part.y)
            to_rows(memory, engine, side, width, part.tall, _ROWS, width)
            decode(_ROWS, _TEXELS, _SCRATCH, part.wide, part.tall, pitch)
            columns, lines = (
                min(count * side, end - at * side)
                for count, side, end, at in (
                    (part.wide, wide, one.width, part.x),
                    (part.tall, high, one.height, part.y),
                )
            )
            target = place + part.y * high * row + part.x * wide * texel
            if outputs.as_is:
                engine.get(copy_lines)(_TEXELS, pitch, target, row, columns * texel, lines)
            else:
                self._call(outputs, (_TEXELS, pitch, target, row, columns, lines, _OUTPUTS))

    def _from_arrays(
        self, header: bytes, texture: TextureHeader, known: TexelCopy | None, generation: int
    ) -> TexelCopy:
        """A copy with texels that arrays decode."""
        memory = self._memory
        kind, levels = canonical(texture, memory, self._engine, self._choices)
        copy = self._placed(header, kind, slices_of(texture, self._choices), known, generation)
        for place, level in zip(copy.levels, levels, strict=True):
            memory.arena[place : place + level.nbytes] = level.reshape(-1).view(np.uint8)
        return copy

    # -- room ---------------------------------------------------------------------------------------------------------
    def _allocate(self, size: int, generation: int) -> int:
        """Allocate room for texels: the first gap that is large enough, after removing the least recently used
        copies."""
        if size > self.room:
            raise UsageError(f"a texture of {size} bytes is larger than the {self.room} bytes for all textures")
        while True:
            at = self._start
            for copy in sorted(self._copies.values(), key=lambda copy: copy.offset):
                if copy.offset - at >= size:
                    break
                at = max(at, copy.offset + copy.size)
            if at + size <= self._start + self.room:
                return at
            oldest = min(self._copies, key=lambda key: self._copies[key].used, default=None)
            if oldest is None or self._copies[oldest].used == generation:
                raise UsageError(f"{size} bytes more of textures than there is room for in one launch")
            del self._copies[oldest]


def _tables_size(outputs: Outputs) -> int:
    return sum(table.nbytes for table in outputs.tables)


__all__ = ["TexelCopies", "TexelCopy"]
