"""A console through the eyes of the register pages: addresses as programs see them, words, and what they did.

Addresses, bits and layouts in the tests beside this file are written down from the pages, not taken from the package's
tables, so that the two readings are compared.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from pocketgpu.cli import main
from pocketgpu.pica.n3ds import N3DS

VRAM, FCRAM = 0x18000000, 0x20000000
VRAM_VA, HEAP_VA = 0x1F000000, 0x30000000
"""The same memories as programs see them."""
DEVICES = 0x0EB00000
"""Where a program sees a device register, minus its physical address (column PA of the pages)."""
PSC0, PSC1, BUSY, PDC0, PDC1 = 0x1EF00010, 0x1EF00020, 0x1EF00034, 0x1EF00400, 0x1EF00500
PPF = 0x1EF00C00
FINALIZE = (0x12345678, 0x000F0010)
"""The entry that ends a command list and raises P3D."""


def both(*rows: str) -> Any:
    """Mark a test as proof of rows that both revisions of the external registers' page have."""
    return pytest.mark.row(*(f"{page}.{row}" for page in ("ext", "ext2") for row in rows))


class Console:
    """A machine as gsp leaves it. choices: `group__name="value"`; `machine` holds other arguments of N3DS."""

    def __init__(self, machine: dict[str, Any] | None = None, **choices: str) -> None:
        chosen = {name.replace("__", "."): value for name, value in choices.items()}
        self.n3ds = N3DS(switches=chosen, **(machine or {}))
        self.memory, self.gsp = self.n3ds.memory, self.n3ds.gsp

    # -- registers, by the addresses that programs use ---------------------------------------------------------------
    def write(self, address: int, value: int) -> None:
        self.n3ds.write_register(address - DEVICES, value)

    def read(self, address: int) -> int:
        return self.n3ds.read_register(address - DEVICES)

    def fired(self) -> dict[str, int]:
        """Interrupts since the last call, the display's left out."""
        return {name: n for name, n in self.n3ds.take_interrupts().items() if not name.startswith("PDC")}

    @property
    def events(self) -> set[str]:
        """Ids of the events so far."""
        return {event.id for event in self.n3ds.events}

    # -- memory, by physical address ---------------------------------------------------------------------------------
    def put(self, address: int, data: bytes | np.ndarray) -> None:
        self.memory.write(address, data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes())

    def get(self, address: int, size: int) -> bytes:
        return self.memory.read(address, size)

    # -- units -------------------------------------------------------------------------------------------------------
    def fill(self, unit: int, start: int, end: int, value: int, control: int = 0x201) -> dict[str, int]:
        """A memory fill; the interrupts it raised."""
        self.fired()
        for n, word in enumerate((start >> 3, end >> 3, value, control)):
            self.write(PSC0 + 0x10 * unit + 4 * n, word)
        return self.fired()

    def transfer(
        self, source: int, target: int, input: tuple[int, int], output: tuple[int, int], flags: int
    ) -> dict[str, int]:
        """A display transfer with sizes (width, height); the interrupts it raised."""
        self.fired()
        self.write(PPF, source >> 3)
        self.write(PPF + 0x04, target >> 3)
        self.write(PPF + 0x08, output[1] << 16 | output[0])
        self.write(PPF + 0x0C, input[1] << 16 | input[0])
        self.write(PPF + 0x10, flags)
        self.write(PPF + 0x18, 1)
        return self.fired()

    def copy(
        self, source: int, target: int, size: int, input: tuple[int, int] = (0, 0), output: tuple[int, int] = (0, 0),
        flags: int = 8,
    ) -> dict[str, int]:  # fmt: skip
        """A texture copy with lines (width, gap) in register units; the interrupts it raised."""
        self.fired()
        self.write(PPF, source >> 3)
        self.write(PPF + 0x04, target >> 3)
        self.write(PPF + 0x10, flags)
        self.write(PPF + 0x20, size)
        self.write(PPF + 0x24, input[1] << 16 | input[0])
        self.write(PPF + 0x28, output[1] << 16 | output[0])
        self.write(PPF + 0x18, 1)
        return self.fired()

    def show(self, base: int, **registers: int) -> None:
        """Set a display controller up for RGB8 without padding, then registers by offset: x70=0x80341."""
        mode = 0x80341 if base == PDC0 else 0x80301
        for at, value in {0x90: 720, 0x70: mode, **{int(name[1:], 16): v for name, v in registers.items()}}.items():
            self.write(base + at, value)

    def frame(self, name: str = "top") -> np.ndarray:
        """What a screen shows after the next VBlank: (height, width, 3)."""
        self.n3ds.step_vblank()
        return self.n3ds.screens[name].array

    def run_list(self, words: Sequence[int], address: int = FCRAM) -> dict[str, int]:
        """Run a command list through the P3D registers; the interrupts it raised."""
        self.fired()
        self.put(address, struct.pack(f"<{len(words)}I", *words))
        self.write(0x1EF018E0, 4 * len(words) >> 3)
        self.write(0x1EF018E8, address >> 3)
        self.write(0x1EF018F0, 1)
        return self.fired()


def explained(capsys: Any, *words: str) -> dict[str, Any]:
    """What `pocketgpu regs` says about a register and a value in it, as data."""
    assert main(["regs", *words, "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["registers"]
    return dict(entry)


# -- pixels, written down from the pages -----------------------------------------------------------------------------

RGBA8, RGB8, RGB565, RGB5A1, RGBA4 = range(5)
SIZES = (4, 3, 2, 2, 2)
CHANNELS = (  # lowest bit and width of r, g, b, a in the little-endian word of a pixel
    ((24, 8), (16, 8), (8, 8), (0, 8)), ((16, 8), (8, 8), (0, 8), None), ((11, 5), (5, 6), (0, 5), None),
    ((11, 5), (6, 5), (1, 5), (0, 1)), ((12, 4), (8, 4), (4, 4), (0, 4)),
)  # fmt: skip


def _widened(value: int, bits: int) -> int:
    return {8: value, 6: value << 2 | value >> 4, 5: value << 3 | value >> 2, 4: value * 17, 1: value * 255}[bits]


def decoded(data: bytes, form: int) -> list[tuple[int, ...]]:
    """Pixels (r, g, b, a) of 8 bits each."""
    words = [int.from_bytes(data[at : at + SIZES[form]], "little") for at in range(0, len(data), SIZES[form])]
    return [
        tuple(255 if c is None else _widened(word >> c[0] & (1 << c[1]) - 1, c[1]) for c in CHANNELS[form])
        for word in words
    ]


def encoded(pixels: Iterable[Sequence[int]], form: int) -> bytes:
    """The reverse; what does not fit is cut off."""
    out = b""
    for pixel in pixels:
        word = sum(v >> 8 - c[1] << c[0] for v, c in zip(pixel, CHANNELS[form], strict=True) if c)
        out += word.to_bytes(SIZES[form], "little")
    return out


def tile_order(width: int, height: int, side: int = 8) -> list[tuple[int, int]]:
    """(x, y) of every pixel of a tiled picture in the order of memory: blocks in rows, inside them Morton order."""
    bits = side.bit_length() - 1
    inside = [
        (sum((n >> 2 * b & 1) << b for b in range(bits)), sum((n >> 2 * b + 1 & 1) << b for b in range(bits)))
        for n in range(side * side)
    ]
    return [(left + x, top + y) for top in range(0, height, side) for left in range(0, width, side) for x, y in inside]


def tiled(rows: np.ndarray, side: int = 8) -> np.ndarray:
    """Pixels (height, width, ...) in the order of a tiled picture."""
    return np.stack([rows[y, x] for x, y in tile_order(rows.shape[1], rows.shape[0], side)])


def untiled(pixels: np.ndarray, width: int, height: int, side: int = 8) -> np.ndarray:
    """The reverse: (height, width, ...)."""
    rows = np.zeros((height, width, *pixels.shape[1:]), pixels.dtype)
    for (x, y), pixel in zip(tile_order(width, height, side), pixels, strict=True):
        rows[y, x] = pixel
    return rows


def picture(width: int, height: int, seed: int = 0) -> np.ndarray:
    """A random picture of 32-bit pixels (height, width)."""
    return np.random.default_rng(seed).integers(0, 1 << 32, (height, width), np.uint32)
