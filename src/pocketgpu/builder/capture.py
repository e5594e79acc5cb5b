"""Builder of whole captures: memory loads, register writes and frames, written as a CiTrace recording or as a `.pgc`,
which also holds what a program asks its system software for.

The builder also allocates memory, so that users need not compute addresses: `put` stores data in main memory and
returns its address, `allocate` reserves memory.

Source: 3dbrew GPU/External Registers for what starts fills, transfers and lists.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from pocketgpu.builder.command_list import CommandList
from pocketgpu.builder.entries import Entries
from pocketgpu.builder.gx import to_virtual
from pocketgpu.builder.pgc import BuiltEvent, contents_of
from pocketgpu.builder.values import FieldValue, encode_register, register_of
from pocketgpu.capture.formats.citrace_write import Load, RecordedEvent, Write, encode_citrace, write_citrace
from pocketgpu.capture.formats.n3ds_trace import InitialState
from pocketgpu.capture.formats.pgc.contents import Gx, Narrow, Swap
from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.registers import RegisterBlock
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.formats import BY_NAME, TEXTURE_FORMATS, PixelFormat
from pocketgpu.facts.gsp import ENTRY_WORDS, GX_SLOT_SIZE
from pocketgpu.facts.memory_map import FCRAM, VRAM
from pocketgpu.facts.pica import LIST_ALIGNMENT, PICA, START_LIST
from pocketgpu.pica.memory import surface
from pocketgpu.wording import counted

SCREENS = {"top": (0, 400), "bottom": (1, 320)}
"""Display controller and width of each screen."""
HEIGHT = 240
"""Of both screens."""
_GX_WORDS = GX_SLOT_SIZE // 4
_FILL_WIDTHS = {16: "16 bits", 24: "24 bits", 32: "32 bits"}
_TEXTURES = {format.name: format for format in TEXTURE_FORMATS.values()}
_BLOCKS: dict[str, RegisterBlock] = {
    name: block for block in (LCD, EXTERNAL) for register in block for name in (register.name, *register.aliases)
}


class CaptureBuilder:
    """A capture under construction.

        capture = CaptureBuilder()
        target = capture.allocate(240 * 400 * 4, region="VRAM")
        capture.clear(target, 240, 400, 0x203040FF)
        capture.submit(cl)                   # a CommandList
        capture.present("top", target)       # transfer to a framebuffer and show it
        capture.end_frame()
        capture.save("scene.ctf.xz")         # or scene.pgc

    Before the first frame the machine only has the state that the system software leaves in registers.
    """

    def __init__(self) -> None:
        self._frames: list[list[BuiltEvent]] = []
        self._events: list[BuiltEvent] = []
        self._next = {"VRAM": VRAM.base, "FCRAM": FCRAM.base}
        self._framebuffers: dict[tuple[str, str], int] = {}
        self._lists: dict[bytes, int] = {}

    def __repr__(self) -> str:
        frames, events = counted(len(self._frames), "frame"), counted(len(self._events), "event")
        return line_of(self, f"{frames}, {events} after the last")

    # -- memory -----------------------------------------------------------------------------------------------------
    def allocate(self, size: int, *, region: str = "FCRAM", align: int = 128) -> int:
        """Reserve bytes of "FCRAM" (main memory) or "VRAM"; returns the physical address.

        :raises UsageError: there is no such region, or it has not so many bytes left.
        """
        if region not in self._next:
            raise UsageError(f"no region {region!r}", hint="Regions are FCRAM and VRAM.")
        limit = (VRAM if region == "VRAM" else FCRAM).end
        address = -(-self._next[region] // align) * align
        if size < 0 or address + size > limit:
            raise UsageError(f"{size} bytes do not fit into the rest of {region}")
        self._next[region] = address + size
        return address

    def load(self, address: int, data: bytes | NDArray[Any]) -> Self:
        """Bytes to a physical address at this point of the recording."""
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        self._events.append(Load(address, raw))
        return self

    def put(self, data: bytes | NDArray[Any], *, region: str = "FCRAM", align: int = 128) -> int:
        """Reserve memory for data, load it, return its address."""
        raw = data.tobytes() if isinstance(data, np.ndarray) else bytes(data)
        address = self.allocate(len(raw), region=region, align=align)
        self.load(address, raw)
        return address

    def put_texture(
        self, pixels: NDArray[np.uint8], format: str = "RGBA8", *, levels: Sequence[NDArray[np.uint8]] = ()
    ) -> int:
        """Store a picture as a texture: RGBA of shape (height, width, 4), top row first; returns its address. levels:
        smaller pictures of it, each half as wide and high as the one before.

        The top row is at texture coordinate v = 1. Sides are multiples of 8; the console requires powers of two from 8
        to 1024.
        """
        if format not in _TEXTURES:
            raise UsageError(f"no texture has format {format!r}", hint=f"Known are {', '.join(_TEXTURES)}.")
        for number, level in enumerate((pixels, *levels)):
            if level.ndim != 3 or level.shape[2] != 4 or level.shape[0] % 8 or level.shape[1] % 8:
                raise UsageError(f"textures have shape (height, width, 4), sides multiples of 8, not {level.shape}")
            if tuple(side << number for side in level.shape[:2]) != pixels.shape[:2]:
                raise UsageError(f"level {number} of a texture has half the sides of the one before, not {level.shape}")
        return self.put(b"".join(surface.encode(level, _TEXTURES[format], "tiled") for level in (pixels, *levels)))

    # -- registers --------------------------------------------------------------------------------------------------
    def write(self, register: str, word: int = 0, /, **fields: FieldValue) -> Self:
        """Write an external or LCD register by name: `word` with the named fields set."""
        target = register_of(_BLOCKS.get(register, EXTERNAL), register)
        return self.write_word(target.address, encode_register(target, fields, word))

    def write_word(self, address: int, word: int) -> Self:
        """Write a register word by physical address."""
        self._events.append(Write(address, word & 0xFFFFFFFF))
        return self

    def write_byte(self, address: int, value: int) -> Self:
        """Write one byte of a register, by physical address: the others keep what reading the register gives."""
        if not 0 <= value <= 0xFF:
            raise UsageError(f"{value:#x} does not fit a byte")
        self._events.append(Narrow(address, value, 8))
        return self

    # -- the system software ------------------------------------------------------------------------------------------
    def gx(self, words: Sequence[int]) -> Self:
        """A GX command of eight words for gsp, which checks it and starts units (`builder.gx` makes them)."""
        if len(words) != _GX_WORDS:
            raise UsageError(f"a GX command has {_GX_WORDS} words, not {len(words)}")
        self._events.append(Gx(tuple(int(word) & 0xFFFFFFFF for word in words)))
        return self

    def swap(
        self, screen: str, address: int, *, right: int = 0, format: str = "RGB8", stride: int | None = None,
        second: bool = False,
    ) -> Self:  # fmt: skip
        """Leave gsp the framebuffer that a screen shall show next. right: that of the right eye (0: none). second: as
        the second pair of addresses."""
        unit = _screen(screen)[0]
        name = f"PDC{unit}_FORMAT"
        bits = _format(format).bits
        # Top: one picture of 400 lines, each shown twice, as libraries write it.
        shape = encode_register(EXTERNAL[name], {"color_format": format}, EXTERNAL[name].reset)
        step = HEIGHT * bits // 8 if stride is None else stride
        entry = {
            "active": int(second), "left": to_virtual(address), "right": to_virtual(right or address), "stride": step,
            "format": shape, "select": int(second), "attribute": 0,
        }  # fmt: skip
        self._events.append(Swap(unit, tuple(entry[name] & 0xFFFFFFFF for name in ENTRY_WORDS), ()))
        return self

    # -- units ------------------------------------------------------------------------------------------------------
    def fill(self, start: int, end: int, value: int, *, width: int = 32, unit: int = 0) -> Self:
        """Fill memory from `start` up to `end` (multiples of 16) with a value of 16, 24 or 32 bits."""
        if width not in _FILL_WIDTHS or unit not in (0, 1):
            raise UsageError("fills have units 0 and 1 and widths of 16, 24 and 32 bits")
        name = f"PSC{unit}_"
        self.write(name + "START", address=start).write(name + "END", address=end).write(name + "VALUE", value=value)
        return self.write(name + "CONTROL", start=True, width=_FILL_WIDTHS[width])

    def clear(self, address: int, width: int, height: int, value: int = 0, *, format: str = "RGBA8") -> Self:
        """Fill a surface with one pixel value (0xRRGGBBAA for RGBA8), with unit 0 for colours and 1 for depth."""
        pixel = _format(format)
        end = address + width * height * pixel.bits // 8
        return self.fill(address, end, value, width=pixel.bits, unit=int(pixel.kind == "depth"))

    def transfer(
        self,
        source: int,
        target: int,
        width: int,
        height: int,
        *,
        output_width: int | None = None,
        output_height: int | None = None,
        input_format: str = "RGBA8",
        output_format: str = "RGB8",
        **flags: FieldValue,
    ) -> Self:
        """A display transfer; without flags from tiled to linear. Sizes in pixels: of the input, and of the output
        before scaling down (the same if not given). flags: fields of PPF_FLAGS."""
        self.write("PPF_INPUT_ADDRESS", address=source).write("PPF_OUTPUT_ADDRESS", address=target)
        out = {"width": output_width or width, "height": output_height or height}
        self.write("PPF_OUTPUT_SIZE", **out).write("PPF_INPUT_SIZE", width=width, height=height)
        self.write("PPF_FLAGS", input_format=input_format, output_format=output_format, **flags)
        return self.write("PPF_CONTROL", start=True)

    def copy(
        self, source: int, target: int, size: int, *, input_line: tuple[int, int] = (0, 0),
        output_line: tuple[int, int] = (0, 0),
    ) -> Self:  # fmt: skip
        """A plain copy of `size` bytes; a line is (bytes copied, bytes skipped), all multiples of 16."""
        self.write("PPF_INPUT_ADDRESS", address=source).write("PPF_OUTPUT_ADDRESS", address=target)
        self.write("PPF_COPY_SIZE", size=size)
        for name, (width, gap) in (("PPF_COPY_INPUT", input_line), ("PPF_COPY_OUTPUT", output_line)):
            self.write(name, width=width, gap=gap)
        self.write("PPF_FLAGS", texture_copy=True, crop=bool(input_line[1] or output_line[1]))
        return self.write("PPF_CONTROL", start=True)

    def submit(self, commands: Entries, address: int | None = None) -> Self:
        """Finish a command list, load it (to `address`, or to free memory) and run it.

        :raises UsageError: its bytes are no multiple of 16, which `finalize` makes them.
        """
        if isinstance(commands, CommandList):
            commands.finalize()
        data = commands.tobytes()
        if len(data) % LIST_ALIGNMENT:
            raise UsageError(
                f"a list of {counted(len(data), 'byte')}; consoles run multiples of 16", hint="Call finalize."
            )
        if address is not None:
            self.load(address, data)
        elif data not in self._lists:
            self._lists[data] = self.put(data, align=LIST_ALIGNMENT)
        start = self._lists[data] if address is None else address
        for name, fields in (("CMDBUF_SIZE0", {"size": len(data)}), ("CMDBUF_ADDR0", {"address": start})):
            self.write_word(PICA[name].address, encode_register(PICA[name], dict(fields)))
        return self.write_word(PICA["CMDBUF_JUMP0"].address, START_LIST)

    # -- screens ----------------------------------------------------------------------------------------------------
    def present(self, screen: str, source: int, *, source_format: str = "RGBA8", format: str = "RGB8") -> Self:
        """Transfer a render target of 240x400 (top) or 240x320 (bottom) to the screen's framebuffer and show that."""
        width = _screen(screen)[1]
        size = HEIGHT * width * _format(format).bits // 8
        if (screen, format) not in self._framebuffers:
            self._framebuffers[screen, format] = self.allocate(size, region="VRAM")
        target = self._framebuffers[screen, format]
        self.transfer(source, target, HEIGHT, width, input_format=source_format, output_format=format)
        return self.show(screen, target, format=format)

    def show(self, screen: str, address: int, *, format: str = "RGB8", stride: int | None = None) -> Self:
        """Point a screen at a framebuffer: columns of 240 pixels, bottom pixel first, `stride` bytes apart."""
        unit = _screen(screen)[0]
        name = f"PDC{unit}_"
        bits = _format(format).bits
        self.write(name + "ADDRESS_A0", address=address).write(name + "ADDRESS_B0", address=address)
        self.write(name + "STRIDE", stride=HEIGHT * bits // 8 if stride is None else stride)
        self.write(name + "FORMAT", EXTERNAL[name + "FORMAT"].reset, color_format=format)
        return self.write(name + "SELECT", next=False)

    # -- frames and files -------------------------------------------------------------------------------------------
    def end_frame(self) -> Self:
        """The frame is complete: screens show their framebuffers."""
        self._frames.append(self._events)
        self._events = []
        return self

    @property
    def frames(self) -> list[list[BuiltEvent]]:
        """The events of all complete frames."""
        return self._frames

    def tobytes(self) -> bytes:
        """The recording, uncompressed; events after the last `end_frame` come after its last frame.

        :raises UsageError: it has GX commands, framebuffers for gsp or writes of bytes, which only `to_pgc` can write.
        """
        return encode_citrace(self._recorded(), start_state(), tail=_recorded(self._events))

    def to_pgc(self) -> bytes:
        """The same as a `.pgc`, which holds all that the builder makes."""
        from pocketgpu.capture import pgc  # only few builders write one

        return pgc.encode(contents_of(self._frames, start_state(), self._events))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a `.pgc` if the name ends so, else the recording, compressed if it ends in .xz, .zst or .gz.

        :raises UsageError: as for `tobytes`, or the file cannot be written.
        """
        if os.fspath(path).lower().endswith(".pgc"):
            from pocketgpu.capture import pgc

            pgc.save(path, contents_of(self._frames, start_state(), self._events))
        else:
            write_citrace(path, self._recorded(), start_state(), tail=_recorded(self._events))

    def _recorded(self) -> list[list[RecordedEvent]]:
        return [_recorded(events) for events in self._frames]


def _recorded(events: Sequence[BuiltEvent]) -> list[RecordedEvent]:
    """Events that a CiTrace recording can hold."""
    found = [event for event in events if isinstance(event, Write | Load)]
    if len(found) < len(events):
        raise UsageError(
            "CiTrace recordings hold no GX commands, framebuffers for gsp or writes of bytes",
            hint="Use to_pgc, or a name that ends in .pgc.",
        )
    return found


def start_state() -> InitialState:
    """The registers after the system software has started and before a program has drawn."""
    words: dict[str, list[int]] = {}
    for name, block, count in (("external", EXTERNAL, 0x400), ("lcd", LCD, 0x400), ("pica", PICA, 0x300)):
        words[name] = [0] * count
        for register in block:
            place = register.offset * block.stride // 4 if block is PICA else register.offset // 4
            if place < count:
                words[name][place] = register.reset
    return InitialState.of(**words)


def _format(name: str) -> PixelFormat:
    if name not in BY_NAME:
        raise UsageError(f"no format {name!r}", hint=f"Known are {', '.join(BY_NAME)}.")
    return BY_NAME[name]


def _screen(name: str) -> tuple[int, int]:
    if name not in SCREENS:
        raise UsageError(f"no screen {name!r}", hint="Screens are top and bottom.")
    return SCREENS[name]


__all__ = ["CaptureBuilder", "start_state"]
