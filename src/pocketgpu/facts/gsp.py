"""The interface between programs and the system software's graphics module (gsp), as tables.

Programs reach the GPU in three ways, and all of them are described here as data: the block of shared memory with its
queues, the GX commands that go through one of these queues, and the service calls (IPC). The behaviour is in
pocketgpu.pica.gsp; builders, readers of GX logs and tools use the same tables, which are in n3ds/.

Source: 3dbrew GSP Shared Memory, GSP Services and the pages of the calls; what public driver code relies on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.dialect.late import Late
from pocketgpu.facts.dialect.registers import Certainty
from pocketgpu.facts.dialect.tables import Entry
from pocketgpu.facts.memory_map import FCRAM, FCRAM_NEW_SIZE, KIB, MIB, VRAM
from pocketgpu.facts.n3ds import TABLES
from pocketgpu.facts.n3ds.structures import structure
from pocketgpu.late_dataclass import dataclass

SHARED_PAGE: Final = "3dbrew GSP Shared Memory"
SERVICES_PAGE: Final = "3dbrew GSP Services"
OURS: Final = "chosen here"
"""Source of an unpublished number."""

CLIENTS: Final = 4
"""Programs that can be registered at the same time."""


# Addresses


@dataclass(frozen=True, slots=True)
class AddressRange:
    """`size` bytes at virtual address `virt` of a program, and at physical address `phys` of the GPU."""

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
"""The default mapping of addresses in GX commands. Source: 3dbrew Memory layout."""

REGISTERS_VIRT: Final = 0x1EB00000
"""Register offsets of the service calls count from this virtual address, which is physical 0x10000000."""


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
class BlockLayout:
    """A block of shared memory: client n's (of screen s) is at base + n * stride (+ s * screen_stride)."""

    name: str
    base: int
    stride: int
    size: int
    cells: Sequence[Cell]
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
"""Bytes of the shared memory block of every registered program."""

ENTRY: Final = structure("FRAMEBUFFER_ENTRY")
"""A screen's framebuffer: seven words, in shared memory and in SetBufferSwap."""
ENTRY_WORDS: Final = tuple(field.name for field in ENTRY)
"""The words' names."""


def _layout(entry: Entry) -> BlockLayout:
    base, stride, size, screen_stride = (
        int(entry[column] or "0", 0) for column in ("base", "stride", "size", "screen_stride")
    )
    return BlockLayout(entry["structure"], base, stride, size, Late(lambda: _cells(entry)), screen_stride)


def _cells(entry: Entry) -> tuple[Cell, ...]:
    cells = []
    for row in entry.rows:
        high, _, low = row["bytes"].partition(":")
        offset = int(low or high, 16)
        cells.append(Cell(row["field"], offset, int(high, 16) + 1 - offset, row["doc"]))
    return tuple(cells)


INTERRUPT_QUEUE, FRAMEBUFFER_INFO, GX_QUEUE = map(_layout, TABLES.read("shared_memory"))

RELAY_SIZE: Final = 0x34
"""Entries of an interrupt queue's ring."""
RELAY_PDC_LIMIT: Final = 0x20
"""With this number of waiting entries, VBlanks are only counted."""
GX_SLOTS: Final = 15
GX_SLOT_SIZE: Final = 0x20
STATUS_HALTED: Final = 0x01
STATUS_FAILED: Final = 0x80
PLEASE_HALT: Final = 0x01
"""Bit of a command queue's control byte."""
NO_VBLANKS: Final = 0x01
"""Bit of an interrupt queue's flags: no VBlank entries."""
NEW_ENTRY: Final = 0x01
"""Bit of a screen's flag: the program wrote an entry that gsp has not read."""
UPDATE_GAS: Final = 0x01
"""Bit of ProcessCommandList's update_gas: use the result of the gas rendering before."""
MAY_SAVE: Final = 0x01
"""Bit of RegisterInterruptRelayQueue's flags: video memory may be saved and restored for this program."""


# Interrupts

INTERRUPT_DOCS: Final[Mapping[str, str]] = MappingProxyType(
    {entry["interrupt"]: entry["doc"] for entry in TABLES.read("interrupts")}
)
"""The meaning of each interrupt."""

INTERRUPTS: Final[tuple[str, ...]] = tuple(INTERRUPT_DOCS)
"""Names by the number in interrupt queues."""


# Result codes


@dataclass(frozen=True, slots=True)
class Result:
    """A result code: 0 and positive ones mean success. `certainty`: whether this use of it is documented."""

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


def _result(entry: Entry) -> Result:
    certainty, source = TABLES.source(entry["marks"], SERVICES_PAGE)
    return Result(int(entry["value"], 0), entry["result"], entry["doc"], source, certainty)


RESULTS: Final[Mapping[int, Result]] = MappingProxyType(
    {result.value: result for result in map(_result, TABLES.read("results"))}
)
"""Result codes by value."""

_BY_NAME: Final = {result.name: result for result in RESULTS.values()}

OK: Final = _BY_NAME["ok"]
FIRST_REGISTRATION: Final = _BY_NAME["first registration"]
ALREADY_HELD: Final = _BY_NAME["already held"]
BAD_REGISTER: Final = _BY_NAME["bad register"]
BAD_SIZE: Final = _BY_NAME["bad size"]
MISALIGNED_SIZE: Final = _BY_NAME["misaligned size"]
BAD_ADDRESS: Final = _BY_NAME["bad address"]
BUSY: Final = _BY_NAME["busy"]
NO_PERMISSION: Final = _BY_NAME["no permission"]
MISALIGNED_ADDRESS: Final = _BY_NAME["misaligned address"]
BAD_VALUE: Final = _BY_NAME["bad value"]
BAD_COMBINATION: Final = _BY_NAME["bad combination"]
BAD_INDEX: Final = _BY_NAME["bad index"]
NO_ROOM: Final = _BY_NAME["no room"]


# GX commands


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a GX command. kind: "address", "end" (first address after the range), "size" (bytes), "value", "pair"
    (two half-words, low one first), "flags" or "unused"."""

    name: str
    kind: str
    doc: str = ""


_UNUSED: Final = Word("unused", "unused")


@dataclass(frozen=True, slots=True)
class GxCommand:
    """A GX command: word 0 holds `id` in its low byte, `words` are words 1 to 7.

    aligned: addresses and sizes must be multiples of 8. interrupts: those that are raised at its end.
    """

    id: int
    name: str
    words: Sequence[Word]
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

    def values(self, words: Sequence[int], *names: str) -> list[int]:
        """The values of the words with these names, in their order; `words` are the eight words of a command."""
        return [int(words[self.word(name)]) for name in names]


def _words(entry: Entry) -> tuple[Word, ...]:
    words = [_UNUSED] * 7
    for row in entry.rows:
        words[int(row["word"]) - 1] = Word(row["field"], row["type"], row.get("doc", ""))
    return tuple(words)


def _command(entry: Entry) -> GxCommand:
    interrupts = tuple(entry["interrupts"].split(",")) if entry["interrupts"] else ()
    aligned = entry["aligned"] == "yes"
    words = Late(lambda: _words(entry))
    return GxCommand(int(entry["id"]), entry["command"], words, aligned, interrupts, entry["old name"], entry["doc"])


GX_COMMANDS: Final[tuple[GxCommand, ...]] = tuple(map(_command, TABLES.read("gx_commands")))
"""The GX commands by id."""

REQUEST_DMA, PROCESS_LIST, MEMORY_FILL, DISPLAY_TRANSFER, TEXTURE_COPY, FLUSH_REGIONS = GX_COMMANDS

GX_HEADER: Final = structure("GX_HEADER")
"""Word 0 of each command."""
_GX_ID: Final = GX_HEADER["id"]


def command_number(words: Sequence[int]) -> int:
    """The command number in the eight words of a GX command; it may be undefined."""
    return _GX_ID.raw(int(words[0]))


def command_of(words: Sequence[int]) -> GxCommand | None:
    """The command in eight words; None if its number is undefined."""
    number = command_number(words)
    return GX_COMMANDS[number] if number < len(GX_COMMANDS) else None


def half_words(word: int) -> tuple[int, int]:
    """A word of kind "pair": its low and its high half."""
    return word & 0xFFFF, word >> 16


# Service calls


CALL_HEADER: Final = structure("CALL_HEADER")
"""The first word of a call."""


@dataclass(frozen=True, slots=True)
class ServiceCall:
    """A call of gsp::Gpu. header: its first word, see CALL_HEADER.

    request: the words after the header; reply: those after the result code. rights: "yes" if the program must hold the
    GPU right, "no", or a condition. stub: does nothing in released systems.
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
        return CALL_HEADER["id"].raw(self.header)

    @property
    def plain_words(self) -> int:
        return CALL_HEADER["plain_words"].raw(self.header)

    @property
    def descriptor_words(self) -> int:
        return CALL_HEADER["descriptor_words"].raw(self.header)


def _call(entry: Entry) -> ServiceCall:
    return ServiceCall(
        int(entry["header"], 16),
        entry["call"],
        tuple(entry["request"].split(",")) if entry["request"] else (),
        tuple(entry["reply"].split(",")) if entry["reply"] else (),
        entry["rights"] or "no",
        entry["marks"] == "stub",
        entry["doc"],
    )


CALLS: Final[Sequence[ServiceCall]] = Late(lambda: tuple(map(_call, TABLES.read("calls"))))
"""The service calls in order of their ids; their table is read at its first use."""

REGISTER_LIMIT: Final = 0x420000
"""Register offsets of service calls are below this."""
REGISTER_BYTES: Final = 0x80
"""Maximum of bytes that one call transfers to or from registers."""
PRIORITY_LIMIT: Final = 0x40
FORCE_BLACK: Final = 0x01000000
"""What SetLcdForceBlack writes to the fill registers of both screens."""
SWAP_FORMAT_BITS: Final = 0x00080000
"""The bits that gsp adds to a framebuffer's format word: the interval of the display's memory accesses."""
