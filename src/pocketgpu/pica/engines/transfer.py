"""The transfer engine (PPF): display transfer with its conversions, and raw texture copy.

Source: 3dbrew GPU/External Registers, "Transfer Engine"; GBATEK for strides and allowed formats. Open questions are
choices (transfer.*, texture_copy.*).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

import numpy as np

from pocketgpu.events import sized
from pocketgpu.facts.choices import departures
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.formats import EXTERNAL_FORMATS, PixelFormat
from pocketgpu.facts.pica_enums import TRANSFER_FORMAT, TRANSFER_SCALE
from pocketgpu.lanes import I32, I64, Engine, Kernel, Lang, Value, kernel
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.engines.work import Work
from pocketgpu.pica.fragment.state import BLOCK32
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.memory.pixels import (
    contract,
    contract_by_scale,
    detile,
    gather_pixels,
    join,
    pack,
    scatter_pixels,
    split,
    store_pixels,
    unpack,
)


def external_format(code: int) -> PixelFormat:
    """The format of a display transfer code; unknown codes act as the last one."""
    return EXTERNAL_FORMATS[min(code, max(TRANSFER_FORMAT))]


def _extent(width: int, height: int, pitch: int, tiled: bool, block: int) -> int:
    """Pixels of memory from a picture's first pixel to its end; block: the side of a tile. Tile rows may be wider than
    their pitch."""
    if not tiled:
        return pitch * (height - 1) + width
    return ((height - 1) // block * (pitch // block) + (width - 1) // block + 1) * block * block


def tile_order(x: Any, y: Any, tiles: Any, block: str = "") -> Any:
    """Texel number of (x, y) in 8x8 Morton tiles, `tiles` to a row; for lane values or Python ints.

    block: the order in blocks of 32x32, "morton" or "tiles" (the choice transfer.block32).
    """
    spread = lambda v: (v & 1) | ((v & 2) << 1) | ((v & 4) << 2)
    if not block:
        return ((((y >> 3) * tiles) << 6) + (spread(y & 7) << 1)) + ((x >> 3) << 6) + spread(x & 7)
    inside = (spread(y & 7) << 1) + spread(x & 7)
    row, column = (y >> 3) & 3, (x >> 3) & 3
    tile = (row << 2) + column if block == "tiles" else (spread(row) << 1) + spread(column)
    return (((y >> 5) * (tiles >> 2) + (x >> 5)) << 10) + (tile << 6) + inside


def _mean(texels: list[Value], format: PixelFormat) -> Value:
    """The mean of two or four pixel words, for each channel with the format's own bits."""
    word: Value | int = 0
    for _, lo, width in format.channels:
        total = texels[0].bits(lo, width)
        for texel in texels[1:]:
            total = total + texel.bits(lo, width)
        word = ((total >> (len(texels) >> 1)) << lo) | word
    assert isinstance(word, Value)
    return word


@kernel(source=I64, target=I64, stride=I32, width=I32, height=I32, flip=I32)
def convert_rows(
    k: Lang, source: Value, target: Value, stride: Value, width: Value, height: Value, flip: Value,
    *, input: int, output: int, tiled_in: bool, tiled_out: bool, scale_x: int, scale_y: int, block: str = "",
    choices: tuple[tuple[str, str], ...] = (),
) -> None:  # fmt: skip
    """Write `width` x `height` pixels from a source of `stride` pixels a line.

    With scale_x, scale_y each output pixel is the mean of a 2x1 or 2x2 box. flip: output row r is input row height-1-r.
    block: the order of pixels in 32x32 blocks; "" for the usual tiles.
    """
    read, write = external_format(input), external_format(output)
    chosen = dict(choices)
    narrow = contract_by_scale if "transfer.contract" in chosen and read.bits >= 24 else contract
    native = "transfer.average_bits" in chosen and read.bits == write.bits == 16
    in_a_row = "transfer.linear_scale" in chosen and not tiled_in

    def address(x: Value, y: Value) -> Value:
        number = tile_order(x, y, stride >> 3, block) if tiled_in else x + y * stride
        return k.to_i64(number * (read.bits // 8)) + source

    for row in k.range(0, height):
        y = k.select(flip != 0, height - 1 - row, row) << scale_y
        for start in k.range(0, width, k.lanes):
            column = k.iota() + start
            mask = column < width
            x = column << scale_x
            if scale_x == 0:
                word = unpack(k, gather_pixels(k, read, address(x, y), mask), read)
            else:
                box = [(x + i, y + j) for j in range(1 + scale_y) for i in range(2)]
                if in_a_row:
                    box = [(x + i, y) for i in range(len(box))]
                if native:
                    texels = [gather_pixels(k, read, address(i, j), mask) for i, j in box]
                    word = unpack(k, _mean(texels, read), read)
                else:
                    parts = [split(unpack(k, gather_pixels(k, read, address(i, j), mask), read)) for i, j in box]
                    total = {ch: sum((p[ch] for p in parts[1:]), parts[0][ch]) for ch in "rgba"}
                    word = join({ch: v >> (1 + scale_y) for ch, v in total.items()})
            word = pack(word, write, narrow)
            size = write.bits // 8
            if tiled_out:
                place = k.to_i64(tile_order(column, row, width >> 3, block) * size) + target
                scatter_pixels(k, write, place, word, mask)
            else:
                place = k.to_i64((row * width + start) * size) + target
                for _ in k.when(start + k.lanes <= width):
                    store_pixels(k, write, place, word)
                for _ in k.when(start + k.lanes > width):
                    scatter_pixels(k, write, k.to_i64(k.iota() * size) + place, word, mask)


@kernel(8, source=I64, target=I64, stride=I32, width=I32, height=I32, flip=I32)
def detile_rows(
    k: Lang, source: Value, target: Value, stride: Value, width: Value, height: Value, flip: Value,
    *, input: int, output: int,
) -> None:  # fmt: skip
    """`convert_rows` for its common case, tiled to linear at full size with whole tiles: the same bytes, faster."""
    detile(k, external_format(input), external_format(output), source, target, stride, width, height, flip)


@kernel(1, source=I64, target=I64, units=I32, in_width=I32, in_gap=I32, out_width=I32, out_gap=I32)
def copy_units(
    k: Lang, source: Value, target: Value, units: Value,
    in_width: Value, in_gap: Value, out_width: Value, out_gap: Value,
) -> None:  # fmt: skip
    """Copy `units` of 16 bytes in ascending order; after each line of `width` units its side skips `gap` units."""
    read, write = k.var(source), k.var(target)
    read_left, write_left = k.var(in_width), k.var(out_width)
    for _ in k.range(0, units):
        for half in (0, 8):
            k.store(I64, write.value + half, k.load(I64, read.value + half))
        for cursor, left, width, gap in ((read, read_left, in_width, in_gap), (write, write_left, out_width, out_gap)):
            done = left.value == 1
            cursor.value = cursor.value + 16 + k.select(done, k.to_i64(gap) * 16, k.i64(0))
            left.value = k.select(done, width, left.value - 1)


@dataclass(frozen=True)
class TransferOutcome:
    """finished: the unit raises its interrupt. problem: a message for the user. hang: a console would hang. moved:
    bytes were written. event: the id of the problem, if it is not the usual one. read, written: number of bytes."""

    finished: bool
    problem: str | None = None
    hang: bool = False
    moved: bool = False
    event: str = ""
    read: int = 0
    written: int = 0


@dataclass(frozen=True)
class Move:
    """The work of a transfer: native code with its arguments, and the arena range that it writes. code None: nothing is
    written. how: static arguments of the conversion (input, output, tiled_in, tiled_out, scale_x, scale_y, block);
    empty for copies. handle: of the code, 0 for copies."""

    outcome: TransferOutcome
    code: Callable[..., None] | None = None
    arguments: tuple[int, ...] = ()
    written: tuple[int, int] = (0, 0)
    how: Mapping[str, Any] = field(default_factory=dict)
    handle: int = 0


@dataclass(frozen=True)
class _Planned:
    """A Move without a machine's code: the kernel with its static arguments."""

    outcome: TransferOutcome
    kernel: Kernel | None = None
    static: Mapping[str, Any] = field(default_factory=dict)
    arguments: tuple[int, ...] = ()
    written: tuple[int, int] = (0, 0)
    how: Mapping[str, Any] = field(default_factory=dict)


FIRST = EXTERNAL["PPF_INPUT_ADDRESS"].offset // 4
_PLACES = {name: offset // 4 - FIRST for name, offset in EXTERNAL.places if name.startswith("PPF_")}
WORDS = slice(FIRST, FIRST + max(_PLACES.values()) + 1)
"""The registers of the unit among the words of the external block."""
_CONTROL = _PLACES["PPF_CONTROL"]
COPY_UNIT = EXTERNAL["PPF_COPY_INPUT"]["width"].scale
"""Bytes per unit of a texture copy."""
# The shortest side in pixels for which transfers of 16-bit pictures are known to work.
LEAST_16_BIT = 64
# Limit of cached transfers; far more than programs use.
_MAX_MOVES = 4096
_planned: dict[tuple[bytes, int, tuple[tuple[str, str], ...]], _Planned] = {}
"""What registers mean depends on the choices and on the size of memory only, so it is kept for all machines."""
_ADDRESSES = {side: (f"PPF_{side}_ADDRESS", EXTERNAL[f"PPF_{side}_ADDRESS"]["address"]) for side in ("INPUT", "OUTPUT")}


def _address(words: Mapping[str, int], side: str) -> int:
    """The physical address that the unit reads from ("INPUT") or writes to ("OUTPUT")."""
    name, field = _ADDRESSES[side]
    return field.raw(words[name]) * field.scale


class TransferEngine:
    """Runs the transfers that the PPF registers describe."""

    def __init__(self, memory: GuestMemory, engine: Engine, choices: Mapping[str, str]) -> None:
        self.memory, self.engine, self.choices = memory, engine, choices
        self._choices = departures(choices, "transfer.contract", "transfer.average_bits", "transfer.linear_scale")
        self._departures = departures(choices)
        self._moves: dict[bytes, Move] = {}

    def run(self, words: np.ndarray) -> TransferOutcome:
        """One transfer; `words` are the registers from PPF_INPUT_ADDRESS on (`WORDS` of the external block)."""
        move = self.prepare(words)
        if move.code is not None:
            move.code(*move.arguments)
            self.memory.touch(*move.written)
        return move.outcome

    def prepare(self, words: np.ndarray) -> Move:
        """The work of the transfer that these registers describe; cached, because it repeats every frame."""
        key = words[:_CONTROL].tobytes() + words[_CONTROL + 1 :].tobytes()
        move = self._moves.get(key)
        if move is None:
            if len(self._moves) >= _MAX_MOVES:
                self._moves.clear()
            move = self._moves[key] = self._move(key, words)
            self.memory.populate(*move.written)
        return move

    def repeated(self, words: np.ndarray) -> Work | None:
        """A transfer that ran, if it is nothing but one native call of a conversion."""
        move = self.prepare(words)
        if not move.handle or move.outcome.problem:
            return None
        places, numbers = move.arguments[:2], move.arguments[2:]
        return Work(move.handle, places, numbers, move.written, move.outcome.read, move.outcome.written)

    def described(self, words: Mapping[str, int]) -> Move:
        """The work of the transfer that these words of the PPF registers, by name, describe; others are 0."""
        given = np.zeros(WORDS.stop - WORDS.start, np.uint32)
        for name, word in words.items():
            given[_PLACES[name]] = word
        return self.prepare(given)

    def _move(self, key: bytes, words: np.ndarray) -> Move:
        whole = (key, self.memory.guest_end, self._departures)
        planned = _planned.get(whole)
        if planned is None:
            if len(_planned) >= _MAX_MOVES:
                _planned.clear()
            registers = words.tolist()
            planned = _planned[whole] = self._plan({name: registers[place] for name, place in _PLACES.items()})
        kernel, static = planned.kernel, planned.static
        if kernel is None:
            return Move(planned.outcome)
        code, handle = self.engine.get(kernel, **static), self.engine.handle(kernel, **static) if planned.how else 0
        return Move(planned.outcome, code, planned.arguments, planned.written, planned.how, handle)

    def _plan(self, words: Mapping[str, int]) -> _Planned:
        flags = EXTERNAL["PPF_FLAGS"]
        get = lambda name: flags[name].raw(words["PPF_FLAGS"])
        found = (
            self._copy(words)
            if get("texture_copy")
            else self._convert(words, {f.name: get(f.name) for f in flags.fields})
        )
        return _Planned(found) if isinstance(found, TransferOutcome) else found

    def _convert(self, words: Mapping[str, int], flags: Mapping[str, int]) -> TransferOutcome | _Planned:
        size = lambda name, part: EXTERNAL[name][part].raw(words[name])
        source, target = (_address(words, side) for side in ("INPUT", "OUTPUT"))
        in_width = size("PPF_INPUT_SIZE", "width")
        out_width, out_height = size("PPF_OUTPUT_SIZE", "width"), size("PPF_OUTPUT_SIZE", "height")
        scale_x = int(flags["scale"] != TRANSFER_SCALE.NONE)
        scale_y = int(flags["scale"] not in (TRANSFER_SCALE.NONE, TRANSFER_SCALE.TWO_BY_ONE))
        width, height = out_width >> scale_x, out_height >> scale_y
        cropped = flags["crop"] or self.choices["transfer.uncropped_stride"] == "input"
        stride = in_width if cropped else out_width
        if not (width and height and stride):
            finish = self.choices["transfer.zero_size"] == "finish"
            sizes = f"size {sized(width, height)}, input width {in_width}"
            return TransferOutcome(finish, f"display transfer of {sizes}: nothing moves")
        if flags["no_tiling"] and flags["linear_to_tiled"] and self.choices["transfer.both_tiling_flags"] == "hang":
            return TransferOutcome(False, "display transfer with both tiling flags never ends", hang=True)
        tiled_in = not flags["linear_to_tiled"]
        tiled_out = bool(flags["linear_to_tiled"]) != bool(flags["no_tiling"])
        if flags["no_tiling"] and self.choices["transfer.no_tiling"] == "raw":
            tiled_in = tiled_out = False
        read, write = external_format(flags["input_format"]), external_format(flags["output_format"])
        if self.choices["transfer.odd_formats"] == "hang" and read.bits not in (32, write.bits):
            return TransferOutcome(False, f"display transfer from {read.name} to {write.name} never ends", hang=True)
        least = LEAST_16_BIT if read.bits == write.bits == 16 else 0
        if self.choices["transfer.small"] == "hang" and min(out_width, out_height) < least:
            pixels = sized(out_width, out_height)
            message = f"display transfer of {pixels} 16-bit pixels, fewer than {least}x{least}, never ends"
            return TransferOutcome(False, message, hang=True)
        if scale_x and not tiled_in and self.choices["transfer.linear_scale"] == "refuse":
            return TransferOutcome(True, "display transfer of a linear picture cannot scale it down: nothing moves")
        block = self.choices["transfer.block32"] if flags["block32"] and (tiled_in or tiled_out) else ""
        edge = 32 if block else 8
        rows, columns = height << scale_y, width << scale_x
        needed = _extent(columns, rows, stride, tiled_in, edge) * (read.bits // 8)
        skew = 0
        if flags["flip"] and flags["crop"] and in_width > out_width and self.choices["transfer.flip_crop"] == "skew":
            skew = (in_width - out_width) * (out_height - 1) * (write.bits // 8)
        made = _extent(width, height, width, tiled_out, edge) * (write.bits // 8)
        start, place = self.memory.offset_of(source, needed), self.memory.offset_of(target + skew, made)
        if start is None or place is None:
            side, pa, length = ("input", source, needed) if start is None else ("output", target + skew, made)
            return TransferOutcome(True, f"display transfer {side} {pa:#010x}..{pa + length:#010x} leaves memory")
        formats = {"input": flags["input_format"], "output": flags["output_format"]}
        how: dict[str, Any] = {
            **formats, "tiled_in": tiled_in, "tiled_out": tiled_out, "scale_x": scale_x, "scale_y": scale_y,
            "block": block,
        }  # fmt: skip
        whole = not (width | height | stride | place) & 7
        if tiled_in and not tiled_out and not scale_x and whole and not (block or self._choices):
            code, static = detile_rows, dict[str, Any](formats)
        else:
            code, static = convert_rows, {**how, "choices": self._choices}
        taken, given = rows * columns * read.bits // 8, width * height * write.bits // 8
        done = TransferOutcome(True, moved=True, read=taken, written=given)
        if block and (out_width | out_height) & 31:
            given_size = sized(out_width, out_height)
            message = f"display transfer in 32x32 blocks to {given_size}, which are no multiples of 32"
            done = replace(done, problem=message, event="transfer.block32-size")
        elif block:
            done = replace(done, problem=BLOCK32, event="pica.block32")
        elif flags["scale"] not in TRANSFER_SCALE:
            message = "display transfer with scale code 3, which is invalid: scaled as by code 2"
            done = replace(done, problem=message, event="transfer.scale")
        arguments = (start, place, stride, width, height, flags["flip"])
        return _Planned(done, code, static, arguments, (place, made), how)

    def _copy(self, words: Mapping[str, int]) -> TransferOutcome | _Planned:
        unit = 1 if self.choices["texture_copy.units"] == "byte" else COPY_UNIT
        part = lambda name, field: EXTERNAL[name][field].raw(words[name]) * unit // COPY_UNIT
        units = words["PPF_COPY_SIZE"] // COPY_UNIT
        if not units:
            return TransferOutcome(False, "texture copy of no bytes never ends on the console", hang=True)
        lines = []
        for side in ("PPF_COPY_INPUT", "PPF_COPY_OUTPUT"):
            width, gap = part(side, "width"), part(side, "gap")
            if gap and not width:
                if self.choices["texture_copy.zero_width"] == "hang":
                    return TransferOutcome(
                        False, "texture copy with a gap but no line width never ends on the console", hang=True
                    )
                gap = 0
            # Without a gap a side is contiguous, whatever its width.
            lines.append((width, gap) if gap else (units, 0))
        ranges = []
        for (width, gap), side in zip(lines, ("INPUT", "OUTPUT"), strict=True):
            length = COPY_UNIT * (units + (units - 1) // width * gap)
            pa = _address(words, side)
            offset = self.memory.offset_of(pa, length)
            if offset is None:
                return TransferOutcome(True, f"texture copy {pa:#010x}..{pa + length:#010x} leaves memory")
            ranges.append((offset, length))
        arguments = (ranges[0][0], ranges[1][0], units, *lines[0], *lines[1])
        done = TransferOutcome(True, moved=True, read=COPY_UNIT * units, written=COPY_UNIT * units)
        return _Planned(done, copy_units, {}, arguments, ranges[1])
