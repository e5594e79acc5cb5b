"""What each format of 3DS captures gives the replay: a start state, and the steps of each frame.

for step in trace.runs(0):
    match step:
        case WriteRun(): ...    # register writes
        case LoadRun(): ...     # bytes for memory
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.memory_map import FCRAM, FCRAM_NEW_SIZE
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import agreed, counted

if TYPE_CHECKING:
    from pocketgpu.events import Event
    from pocketgpu.facts.gsp import AddressRange

Words: TypeAlias = NDArray[np.uint32]

SECTIONS: Mapping[str, tuple[str, int]] = MappingProxyType(
    {
        "external": ("GPU external registers", 0x400),
        "lcd": ("LCD registers", 0x400),
        "pica": ("PICA registers", 0x300),
        "default_attributes": ("default vertex attributes", 16 * 4),
        "vs_code": ("vertex shader code", 512),
        "vs_opdescs": ("vertex shader operand descriptors", 128),
        "vs_uniforms": ("vertex shader float uniforms", 96 * 4),
        "gs_code": ("geometry shader code", 4096),
        "gs_opdescs": ("geometry shader operand descriptors", 128),
        "gs_uniforms": ("geometry shader float uniforms", 96 * 4),
    }
)
"""The sections of the start state in header order: a name to print, and their size in words in the hardware. A file may
have fewer (the rest is zero) or more (some recorders wrote bytes where words were meant)."""

_FLOAT24 = ("default_attributes", "vs_uniforms", "gs_uniforms")

OLD_FCRAM_END, NEW_FCRAM_END = FCRAM.end, FCRAM.base + FCRAM_NEW_SIZE
"""Where main memory ends, on the older model and on the newer one."""


@dataclass(frozen=True, eq=False)
class InitialState:
    """The GPU's registers and shader units before the first element. All arrays are uint32.

    external (1024) from physical 0x10400000, lcd (1024) from 0x10202000, pica (768) by register id, default_attributes
    (16, 4) and the uniforms (96, 4) as 24-bit floats in the order x, y, z, w, vs_code (512), gs_code (4096) and both
    opdescs (128) as instruction and descriptor words.
    """

    external: Words
    lcd: Words
    pica: Words
    default_attributes: Words
    vs_code: Words
    vs_opdescs: Words
    vs_uniforms: Words
    gs_code: Words
    gs_opdescs: Words
    gs_uniforms: Words

    @classmethod
    def of(cls, **sections: Any) -> InitialState:
        """A state from arrays or lists of words by section name; shorter or missing sections are filled with zeros."""
        if unknown := sorted(set(sections) - set(SECTIONS)):
            raise TypeError(f"no such section: {', '.join(unknown)}")
        arrays: dict[str, Words] = {}
        for name, (_, count) in SECTIONS.items():
            words = np.zeros(count, np.uint32)
            given = np.asarray(sections.get(name, ()), np.uint32).reshape(-1)[:count]
            words[: len(given)] = given
            arrays[name] = (words & np.uint32(0xFFFFFF)).reshape(-1, 4) if name in _FLOAT24 else words
        return cls(**arrays)


@dataclass(frozen=True, eq=False, slots=True)
class WriteRun:
    """Consecutive register writes. `element`: number of the first one within its frame. Two uint32 arrays of the same
    length: word-aligned physical `addresses` and `values`; a 64-bit write is two words, low word first."""

    element: int
    addresses: Words
    values: Words


@dataclass(frozen=True, eq=False, slots=True)
class SwapRun(WriteRun):
    """The writes that show a framebuffer, and what they follow from: the `entry` of seven words (facts.gsp.ENTRY_WORDS)
    that a program wrote for a `screen` (0 top, 1 bottom)."""

    screen: int
    entry: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NarrowWrite:
    """One register write of `width` 8 or 16 bits, naturally aligned (classic recorders only)."""

    element: int
    address: int
    value: int
    width: int


@dataclass(frozen=True, eq=False, slots=True)
class LoadRun:
    """One memory load: `data`, which is at `file_offset` of the file, goes to physical `address`."""

    element: int
    address: int
    data: bytes | memoryview
    file_offset: int


@dataclass(frozen=True, slots=True)
class GxRun:
    """One GX command: eight words as the program wrote them. `element`: its number within its frame."""

    element: int
    words: tuple[int, ...]


def needs_new_memory(spans: Iterable[tuple[int | None, int]]) -> bool:
    """Whether any span (physical address or None, bytes) is in memory that only the newer model has."""
    return any(
        start is not None and size > 0 and start < NEW_FCRAM_END and start + size > OLD_FCRAM_END
        for start, size in spans
    )


def rest_text(number: int, one: str, frame_count: int) -> str:
    """The warning about steps after the last frame."""
    verb = agreed("{belongs|belong}", number)
    return f"{counted(number, one)} after the last frame {verb} to no picture; the address is f{frame_count}"


Step: TypeAlias = WriteRun | NarrowWrite | LoadRun | GxRun


class N3DSTrace(ABC):
    """A parsed capture of a 3DS.

    file: its name in errors. initial: registers and shader units before the first step. warnings: problems of the file.
    virt_to_phys: the program's addresses; empty where the file does not have them. tables: words of the start state
    that `initial` lacks, by name (look-up tables, uniforms in single precision).
    """

    console: Final = "3DS"
    kind: str
    """What the file is, in words."""
    file: str
    other_files: tuple[str, ...] = ()
    """Files that were read besides it."""
    frame_count: int
    has_rest: bool = False
    """Whether steps come after the last frame; they are `runs(frame_count)`."""
    initial: InitialState
    warnings: tuple[Event, ...]
    virt_to_phys: Sequence[AddressRange] = ()
    tables: Mapping[str, Words] = MappingProxyType({})

    @property
    def other_bytes(self) -> bytes:
        """The unpacked bytes of `other_files`."""
        return b""

    @property
    @abstractmethod
    def needs_new_model(self) -> bool:
        """Whether any access needs memory that only the newer model (256 MiB of FCRAM) has."""

    @abstractmethod
    def runs(self, frame: int) -> Sequence[Step]:
        """The steps of frame `frame`, in order; with `frame_count` those after the last frame. Raises IndexError where
        there is no such frame."""


__all__ = [
    "NEW_FCRAM_END", "OLD_FCRAM_END", "SECTIONS", "GxRun", "InitialState", "LoadRun", "N3DSTrace", "NarrowWrite",
    "Step", "SwapRun", "Words", "WriteRun", "needs_new_memory", "rest_text",
]  # fmt: skip
