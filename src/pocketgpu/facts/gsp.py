"""What programs and the system software's graphics module (gsp) say to each other, as tables.

Three doors lead from a program to the GPU, and all of them are described here as data: the block of shared memory with
its queues, the GX commands that go through one of these queues, and the service calls (IPC). Behaviour lives in
pocketgpu.pica.gsp; builders, readers of GX logs and tools use the same tables.

Source: 3dbrew GSP Shared Memory, GSP Services and the pages of the calls; what public driver code relies on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.external import USER_OFFSET
from pocketgpu.facts.memory_map import FCRAM, FCRAM_NEW_SIZE, KIB, MIB, VRAM
from pocketgpu.facts.registers import Certainty

SHARED_PAGE: Final = "3dbrew GSP Shared Memory"
SERVICES_PAGE: Final = "3dbrew GSP Services"
OURS: Final = "chosen here"
"""Source of a number that nobody has published."""

CLIENTS: Final = 4
"""Programs that can be registered at the same time."""


# Addresses


@dataclass(frozen=True, slots=True)
class AddressRange:
    """`size` bytes that a program sees from `virt` and the GPU from `phys`."""

    virt: int
    phys: int
    size: int
    doc: str = ""


VIRT_TO_PHYS: Final[tuple[AddressRange, ...]] = (
    AddressRange(0x1F000000, VRAM.base, VRAM.size, "video memory"),
    AddressRange(0x30000000, FCRAM.base, FCRAM_NEW_SIZE, "linear heap of programs for system 8.0 or newer"),
    AddressRange(0x14000000, FCRAM.base, FCRAM.size, "linear heap of older programs"),
    AddressRange(0x1FF00000, 0x1FF00000, 512 * KIB, "memory of the sound processor"),
    AddressRange(0x1E800000, 0x1F000000, 4 * MIB, "additional memory of the new model"),
)
"""Where addresses of GX commands lead when nothing else is said. Source: 3dbrew Memory layout."""

REGISTERS_VIRT: Final = 0x1EB00000
"""Register offsets of the service calls count from this virtual address, which is physical 0x10000000."""

REGISTERS_PHYS: Final = REGISTERS_VIRT - USER_OFFSET


# Shared memory


@dataclass(frozen=True, slots=True)
class Cell:
    """`size` bytes at `offset` of a block; one, two or four of them are a little-endian number."""

    name: str
    offset: int
    size: int
    doc: str = ""
    certainty: Certainty = Certainty.DOC


@dataclass(frozen=True, slots=True)
class Layout:
    """A block of shared memory: client n's (of screen s) is at base + n * stride (+ s * screen_stride)."""

    name: str
    base: int
    stride: int
    size: int
    cells: tuple[Cell, ...]
    screen_stride: int = 0

    def __getitem__(self, name: str) -> Cell:
        for cell in self.cells:
            if cell.name == name:
                return cell
        raise KeyError(name)

    def start(self, client: int, screen: int = 0) -> int:
        """Offset of a client's block in the shared memory."""
        return self.base + client * self.stride + screen * self.screen_stride


SHARED_SIZE: Final = 0x1000
"""Bytes of the shared memory block that every registered program gets."""

ENTRY_WORDS: Final = ("active", "left", "right", "stride", "format", "select", "attribute")
"""The seven words that describe a screen's framebuffer, in shared memory and in SetBufferSwap alike."""

INTERRUPT_QUEUE: Final = Layout(
    "interrupt relay queue",
    0x000,
    0x40,
    0x40,
    (
        Cell("index", 0, 1, "place of the oldest entry; the program moves it"),
        Cell("count", 1, 1, "entries waiting"),
        Cell("missed_other", 2, 1, "1: an entry that is no VBlank found no room"),
        Cell("flags", 3, 1, "bit 0: queue no VBlank entries"),
        Cell("missed_pdc0", 4, 4, "VBlank entries of the top screen that found no room"),
        Cell("missed_pdc1", 8, 4, "the same for the bottom screen"),
        Cell("entries", 0xC, 0x34, "interrupt numbers, a ring"),
    ),
)

FRAMEBUFFER_INFO: Final = Layout(
    "framebuffer info",
    0x200,
    0x80,
    0x40,
    (
        Cell("index", 0, 1, "which of the two entries counts"),
        Cell("flag", 1, 1, "bit 0: the program wrote something new; gsp clears it when it has read it"),
        Cell("entry0", 0x04, 0x1C, "seven words"),
        Cell("entry1", 0x20, 0x1C, "seven words"),
    ),
    screen_stride=0x40,
)

GX_QUEUE: Final = Layout(
    "GX command queue",
    0x800,
    0x200,
    0x200,
    (
        Cell("index", 0, 1, "next command to run; gsp moves it on before it runs the command"),
        Cell("count", 1, 1, "commands waiting"),
        Cell("status", 2, 1, "bit 0: halted; bit 7: a command failed"),
        Cell("control", 3, 1, "bit 0: please halt"),
        Cell("error", 4, 4, "result code of the command that failed last"),
        Cell("slots", 0x20, 0x1E0, "15 commands of 32 bytes"),
    ),
)

RELAY_SIZE: Final = 0x34
"""Entries that the ring of an interrupt queue holds."""
RELAY_PDC_LIMIT: Final = 0x20
"""With that many entries waiting, VBlanks are only counted."""
GX_SLOTS: Final = 15
GX_SLOT_SIZE: Final = 0x20
STATUS_HALTED: Final = 0x01
STATUS_FAILED: Final = 0x80


# Interrupts

INTERRUPTS: Final[tuple[str, ...]] = ("PSC0", "PSC1", "PDC0", "PDC1", "PPF", "P3D", "DMA")
"""Names by the number that stands in interrupt queues."""

INTERRUPT_DOCS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PSC0": "memory fill unit 0 is done",
        "PSC1": "memory fill unit 1 is done",
        "PDC0": "VBlank of the top screen",
        "PDC1": "VBlank of the bottom screen",
        "PPF": "a display transfer or texture copy is done",
        "P3D": "a command list asked for it (FINALIZE)",
        "DMA": "the copy of RequestDMA is done; gsp's own, no line of the GPU",
    }
)


# Result codes


@dataclass(frozen=True, slots=True)
class Result:
    """A result code: 0 and positive ones mean success. `certainty` tells whether this use of it is documented."""

    value: int
    name: str
    doc: str
    source: str = SERVICES_PAGE
    certainty: Certainty = Certainty.DOC

    @property
    def failed(self) -> bool:
        """Bit 31 marks failures."""
        return bool(self.value >> 31)

    def __str__(self) -> str:
        return f"{self.value:#010x} {self.name}"


def _ours(value: int, name: str, doc: str) -> Result:
    """A code that follows the numbering of documented ones, for a case whose code is not published."""
    return Result(value, name, doc, OURS, Certainty.UNKNOWN)


OK: Final = Result(0, "ok", "done")
FIRST_REGISTRATION: Final = Result(0x2A07, "first registration", "done; this program must start the hardware")
ALREADY_HELD: Final = Result(0x2BFD, "already held", "done; the right was held already", certainty=Certainty.ONE_PEER)
BAD_REGISTER: Final = Result(0xE0E02A01, "bad register", "register offset out of range or no multiple of 4")
BAD_SIZE: Final = Result(0xE0E02BEC, "bad size", "more bytes than a call can carry")
MISALIGNED_SIZE: Final = Result(0xE0E02BF2, "misaligned size", "the size is no multiple of the unit")
BAD_ADDRESS: Final = Result(0xE0E02BF5, "bad address", "the address leads to no memory that the GPU can reach")
BUSY: Final = Result(0xC8402BF0, "busy", "somebody else holds it, or a unit is still at work")
NO_PERMISSION: Final = Result(0xD8202A06, "no permission", "the program may not do this now")
MISALIGNED_ADDRESS: Final = _ours(0xE0E02BF1, "misaligned address", "an address is no multiple of 8")
BAD_VALUE: Final = _ours(0xE0E02BED, "bad value", "an unknown command, screen or format")
BAD_COMBINATION: Final = _ours(0xE0E02BEE, "bad combination", "an end that is not above its start")
BAD_INDEX: Final = _ours(0xE0E02BFD, "bad index", "a number past the end of its table")
NO_ROOM: Final = _ours(0xC8602BF3, "no room", "four programs are registered already")

RESULTS: Final[Mapping[int, Result]] = MappingProxyType(
    {
        result.value: result
        for result in (
            *(OK, FIRST_REGISTRATION, ALREADY_HELD, BAD_REGISTER, BAD_SIZE, MISALIGNED_SIZE, BAD_ADDRESS, BUSY),
            *(NO_PERMISSION, MISALIGNED_ADDRESS, BAD_VALUE, BAD_COMBINATION, BAD_INDEX, NO_ROOM),
        )
    }
)
"""Result codes by value."""


# GX commands


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a GX command. kind: "address", "end" (first address past), "size" (bytes), "value", "pair" (two
    half-words, low one first), "flags" or "unused"."""

    name: str
    kind: str
    doc: str = ""


_UNUSED: Final = Word("unused", "unused")


@dataclass(frozen=True, slots=True)
class GxCommand:
    """A GX command: word 0 holds `id` in its low byte, `words` are words 1 to 7.

    aligned: addresses and sizes must be multiples of 8. interrupts: which ones tell that it is done.
    """

    id: int
    name: str
    words: tuple[Word, ...]
    aligned: bool
    interrupts: tuple[str, ...]
    old_name: str
    doc: str
    source: str = SHARED_PAGE

    def word(self, name: str) -> int:
        """Number (1 to 7) of the word `name`."""
        for number, word in enumerate(self.words, 1):
            if word.name == name:
                return number
        raise KeyError(name)


def _gx(
    id: int, name: str, words: tuple[Word, ...], interrupts: tuple[str, ...], old: str, doc: str, aligned: bool = True
) -> GxCommand:
    return GxCommand(id, name, (*words, *[_UNUSED] * (7 - len(words))), aligned, interrupts, old, doc)


_FLUSH: Final = Word("flush", "flags", "not 0: write the source back from the cache first")

GX_COMMANDS: Final[tuple[GxCommand, ...]] = (
    _gx(
        0,
        "RequestDMA",
        (Word("source", "address"), Word("target", "address"), Word("size", "size"), *[_UNUSED] * 3, _FLUSH),
        ("DMA",),
        "GX_DMA",
        "Copies memory.",
        aligned=False,
    ),
    _gx(
        1,
        "ProcessCommandList",
        (
            Word("list", "address"),
            Word("size", "size"),
            Word("update_gas", "flags", "bit 0: take over the result of gas rendering before"),
            *[_UNUSED] * 3,
            _FLUSH,
        ),
        ("P3D",),
        "GX_SetCmdList_Last",
        "Runs a command list; the interrupt comes only if the list asks for it.",
    ),
    _gx(
        2,
        "MemoryFill",
        (
            Word("start0", "address", "0: leave unit 0 alone"),
            Word("value0", "value", "the first documentation called it a size"),
            Word("end0", "end"),
            Word("start1", "address", "0: leave unit 1 alone"),
            Word("value1", "value"),
            Word("end1", "end"),
            Word("control", "pair", "words for the control registers of unit 0 and 1"),
        ),
        ("PSC0", "PSC1"),
        "GX_SetMemoryFill",
        "Fills one or two ranges with a pattern.",
    ),
    _gx(
        3,
        "DisplayTransfer",
        (
            Word("input", "address"),
            Word("output", "address"),
            Word("input_size", "pair", "width and height in pixels"),
            Word("output_size", "pair", "width and height in pixels, before scaling down"),
            Word("flags", "flags", "as register PPF_FLAGS"),
        ),
        ("PPF",),
        "GX_SetDisplayTransfer",
        "Converts a picture between tiled and linear layout, and between formats.",
    ),
    _gx(
        4,
        "TextureCopy",
        (
            Word("input", "address"),
            Word("output", "address"),
            Word("size", "size"),
            Word("input_line", "pair", "bytes of a line and of the gap after it, in units of 16"),
            Word("output_line", "pair", "the same for the output"),
            Word("flags", "flags", "as register PPF_FLAGS; bit 3 makes it a copy"),
        ),
        ("PPF",),
        "GX_SetTextureCopy",
        "Copies lines of bytes.",
    ),
    _gx(
        5,
        "FlushCacheRegions",
        (
            Word("address0", "address"),
            Word("size0", "size", "must not be 0"),
            Word("address1", "address"),
            Word("size1", "size", "0: neither this range nor the next"),
            Word("address2", "address"),
            Word("size2", "size"),
        ),
        (),
        "GX_FlushCacheRegions",
        "Writes up to three ranges back from the processor's cache.",
        aligned=False,
    ),
)
"""The GX commands by id."""

GX_STOP_AFTER: Final = 1 << 16
"""In word 0: halt the queue after this command."""
GX_FAIL_IF_BUSY: Final = 1 << 24
"""In word 0: fail while any unit is at work, not only the one that this command needs."""


# Service calls


@dataclass(frozen=True, slots=True)
class Call:
    """A call of gsp::Gpu. header: id << 16 | plain words << 6 | words of descriptors.

    request: the words after the header; reply: those after the result code. rights: "yes" where the program must
    hold the GPU right, "no", or how it is. stub: does nothing in released systems.
    """

    header: int
    name: str
    request: tuple[str, ...] = ()
    reply: tuple[str, ...] = ()
    rights: str = "no"
    stub: bool = False
    doc: str = ""
    source: str = SERVICES_PAGE

    @property
    def id(self) -> int:
        return self.header >> 16

    @property
    def plain_words(self) -> int:
        return self.header >> 6 & 0x3F

    @property
    def descriptor_words(self) -> int:
        return self.header & 0x3F


_DATA: Final = ("size << 14 | 2", "data pointer")
_RANGE: Final = ("address", "size", "0", "process handle")
_FRAMEBUFFER: Final = ("left", "right", "format", "stride")

CALLS: Final[tuple[Call, ...]] = (
    Call(0x00010082, "WriteHWRegs", ("register offset", "size", *_DATA), rights="yes"),
    Call(
        0x00020084,
        "WriteHWRegsWithMask",
        ("register offset", "size", *_DATA, "size << 14 | 0x402", "mask pointer"),
        rights="yes",
        doc="Bits that are 0 in the mask keep what the register holds.",
    ),
    Call(
        0x00030082,
        "WriteHWRegRepeat",
        ("register offset", "size", *_DATA),
        rights="yes",
        doc="All words go to the same register.",
    ),
    Call(
        0x00040080,
        "ReadHWRegs",
        ("register offset", "size"),
        _DATA,
        rights="yes",
        doc="The data comes through static buffer 0, whose descriptor is at byte 0x100 after the command buffer.",
    ),
    Call(0x00050200, "SetBufferSwap", ("screen", *ENTRY_WORDS), rights="yes"),
    Call(0x00060082, "SetCommandList", stub=True),
    Call(0x000700C2, "RequestDma", stub=True),
    Call(0x00080082, "FlushDataCache", _RANGE),
    Call(0x00090082, "InvalidateDataCache", _RANGE),
    Call(0x000A0044, "RegisterInterruptEvents", stub=True),
    Call(0x000B0040, "SetLcdForceBlack", ("flag",), rights="no, unless a program took the right by force"),
    Call(0x000C0000, "TriggerCmdReqQueue"),
    Call(0x000D0140, "SetDisplayTransfer", stub=True),
    Call(0x000E0180, "SetTextureCopy", stub=True),
    Call(0x000F0200, "SetMemoryFill", stub=True),
    Call(0x00100040, "SetAxiConfigQoSMode", ("mode",)),
    Call(0x00110040, "SetPerfLogMode", ("flag",)),
    Call(0x00120000, "GetPerfLog", (), tuple(f"{name} {part}" for name in INTERRUPTS for part in ("last", "sum"))),
    Call(
        0x00130042,
        "RegisterInterruptRelayQueue",
        ("flags", "0", "event handle"),
        ("client", "0", "shared memory handle"),
        doc="Flag bit 0: video memory may be saved and restored for this program.",
    ),
    Call(0x00140000, "UnregisterInterruptRelayQueue"),
    Call(0x00150002, "TryAcquireRight", ("0", "process handle")),
    Call(0x00160042, "AcquireRight", ("flag", "0", "process handle"), doc="Waits until the right is free."),
    Call(0x00170000, "ReleaseRight"),
    Call(0x00180000, "ImportDisplayCaptureInfo", (), _FRAMEBUFFER * 2),
    Call(0x00190000, "SaveVramSysArea", rights="flag bit 0 of the registration"),
    Call(0x001A0000, "RestoreVramSysArea", rights="flag bit 0 of the registration"),
    Call(0x001B0000, "ResetGpuCore", rights="yes"),
    Call(0x001C0040, "SetLedForceOff", ("flag",)),
    Call(0x001D0040, "SetTestCommand", stub=True),
    Call(0x001E0080, "SetInternalPriorities", ("priority", "priority")),
    Call(0x001F0082, "StoreDataCache", _RANGE),
)
"""The service calls in order of their ids."""

REGISTER_LIMIT: Final = 0x420000
"""Register offsets of service calls lie below this."""
REGISTER_BYTES: Final = 0x80
"""Most bytes that one call carries to or from registers."""
PRIORITY_LIMIT: Final = 0x40
FORCE_BLACK: Final = 0x01000000
"""What SetLcdForceBlack writes to the fill registers of both screens."""
SWAP_FORMAT_BITS: Final = 0x00080000
"""What gsp adds to a framebuffer's format word: the interval of the display's memory accesses."""


def _start_up() -> tuple[tuple[int, int, int], ...]:
    whole = 0xFFFFFFFF
    top = {
        **{0x00: 0x1C2, 0x04: 0xD1, 0x08: 0x1C1, 0x0C: 0x1C1, 0x10: 0, 0x14: 0xCF, 0x18: 0xD1, 0x1C: 0x1C501C1},
        **{0x20: 0x10000, 0x24: 0x19D, 0x28: 2, 0x2C: 0x192, 0x30: 0x192, 0x34: 0x192, 0x38: 1, 0x3C: 2},
        **{0x40: 0x1960192, 0x44: 0, 0x48: 0, 0x5C: 0x19000F0, 0x60: 0x1C100D1, 0x64: 0x1920002, 0x70: 0x80340},
        0x9C: 0,
    }
    bottom = {
        **{0x10: 0xCD, 0x28: 0x52, 0x34: 0x4F, 0x38: 0x50, 0x3C: 0x52, 0x40: 0x1980194, 0x48: 0x11},
        **{0x5C: 0x14000F0, 0x64: 0x1920052, 0x70: 0x80300, 0x90: 0x2D0},
    }
    core = [(0x1000, 0), (0x1080, 0x12345678), (0x10C0, 0xFFFFFFF0), (0x10D0, 1), (0x1914, 1)]
    timing = [(0x400 + at, value) for at, value in top.items()]
    timing += [(0x500 + at, value) for at, value in (top | bottom).items()]
    # The right eye's pair of the bottom screen is left alone.
    pictures = [(at, VRAM.base + VRAM.size // 2) for at in (0x468, 0x46C, 0x494, 0x498, 0x568, 0x56C)]
    select = [(0x478, 1), (0x578, 1)]
    clocks = [(0x04, 0x00070100, whole), (0x1C, 0, 0xFF), (0x2C, 0, 0xFF), (0x50, 0x22221200, whole)]
    return (
        *((offset, value, whole) for offset, value in (*core, *timing, *pictures, *select)),
        (0xC18, 0, 0xFF00),
        *clocks,
        (0x54, 0xFF2, 0xFFFF),
        *((pdc, 0x00010501, whole) for pdc in (0x474, 0x574)),
    )


START_WRITES: Final = _start_up()
"""What the first registered program writes, in order: (offset from the GPU's registers, value, mask).

Source: order and values of the public driver library; 3dbrew GPU/External Registers for the meaning.
"""

CORE_START: Final[Mapping[str, int]] = MappingProxyType(
    {
        **{"IRQ_CMP0": 0x12345678, "IRQ_MASK_LOW": 0xFFFFFFF0, "IRQ_MASK_HIGH": 0xFFFFFFFF, "IRQ_AUTOSTOP": 1},
        **{"START_DRAW_FUNC0": 1, "GSH_INPUTBUFFER_CONFIG": 0xA0000001},
    }
)
"""Registers of the 3D core, by name, as a program's first command list finds them; the others are 0."""
