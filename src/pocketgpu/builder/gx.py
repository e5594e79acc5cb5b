"""GX commands: the eight words that a program puts into the queue of the system software's graphics module.

Arguments are physical addresses, as everywhere in this package; the commands contain virtual ones.

Source: 3dbrew GSP Shared Memory, through facts/gsp.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pocketgpu.builder.values import FieldValue, encode_register
from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.gsp import GX_COMMANDS, GX_HEADER, VIRT_TO_PHYS, half_words

Words: TypeAlias = tuple[int, ...]
Size: TypeAlias = tuple[int, int]
"""Width and height in pixels."""
Line: TypeAlias = tuple[int, int]
"""Bytes copied and bytes skipped after them, both multiples of 16."""

_FILL_WIDTHS = {16: "16 bits", 24: "24 bits", 32: "32 bits"}


def to_virtual(physical: int, *, old_heap: bool = False) -> int:
    """The virtual address of a program for physical address `physical`; 0 stays 0 ("none").

    old_heap: use the main memory mapping of programs for systems before 8.0. Raises UsageError for unmapped addresses.
    """
    if physical == 0:
        return 0
    found = [r.virt + physical - r.phys for r in VIRT_TO_PHYS if r.phys <= physical < r.phys + r.size]
    if not found:
        raise UsageError(f"programs have no address for physical {physical:#010x}")
    return found[-1] if old_heap else found[0]


def gx_command(
    name: str, words: Mapping[str, int | Size], *, stop_after: bool = False, fail_if_busy: bool = True
) -> Words:
    """Any GX command by its name and the names of its words, which are written unchanged; a pair is two half-words."""
    known = {command.name: command for command in GX_COMMANDS}
    if name not in known:
        raise UsageError(f"no GX command {name}", hint=f"Known are {', '.join(known)}.")
    command = known[name]
    header = {"id": command.id, "stop_after": stop_after, "fail_if_busy": fail_if_busy}
    result = [*GX_HEADER.pack(header), *[0] * 7]
    for word, value in words.items():
        try:
            place = command.word(word)
        except KeyError:
            names = ", ".join(w.name for w in command.words if w.kind != "unused")
            raise UsageError(f"{name} has no word {word}", hint=f"It has {names}.") from None
        low, high = value if isinstance(value, tuple) else half_words(value)
        if not (0 <= low < 1 << 16 and 0 <= high < 1 << 16):
            raise UsageError(f"{value!r} does not fit the word {word} of {name}")
        result[place] = low | high << 16
    return tuple(result)


def request_dma(source: int, target: int, size: int, *, flush: bool = False) -> Words:
    """Copy memory; ends with the interrupt DMA."""
    words = {"source": to_virtual(source), "target": to_virtual(target), "size": size, "flush": int(flush)}
    return gx_command("RequestDMA", words)


def process_command_list(address: int, size: int, *, update_gas: bool = False, flush: bool = True) -> Words:
    """Run a command list of `size` bytes; the interrupt P3D comes if the list requests it."""
    words = {"list": to_virtual(address), "size": size, "update_gas": int(update_gas), "flush": int(flush)}
    return gx_command("ProcessCommandList", words)


def memory_fill(*fills: tuple[int, int, int, int]) -> Words:
    """Fill one or two ranges: (start, end, value, bits of the value); ends with the interrupt PSC0 or PSC1."""
    if not 1 <= len(fills) <= 2:
        raise UsageError(f"a memory fill has one or two ranges, not {len(fills)}")
    words: dict[str, int | Size] = {}
    controls = [0, 0]
    for unit, (start, end, value, bits) in enumerate(fills):
        if bits not in _FILL_WIDTHS:
            raise UsageError(f"fill values have 16, 24 or 32 bits, not {bits}")
        if not start < end:
            raise UsageError(f"the range {start:#x}..{end:#x} is empty")
        size = end - start
        words |= {f"start{unit}": to_virtual(start), f"end{unit}": to_virtual(start) + size, f"value{unit}": value}
        fields: dict[str, FieldValue] = {"start": True, "width": _FILL_WIDTHS[bits]}
        controls[unit] = encode_register(EXTERNAL[f"PSC{unit}_CONTROL"], fields)
    return gx_command("MemoryFill", {**words, "control": (controls[0], controls[1])})


def display_transfer(
    source: int,
    target: int,
    input_size: Size,
    output_size: Size | None = None,
    *,
    input_format: str = "RGBA8",
    output_format: str = "RGB8",
    **flags: FieldValue,
) -> Words:
    """Convert a picture; sizes in pixels, the output's before scaling down. flags: fields of PPF_FLAGS."""
    fields = {"input_format": input_format, "output_format": output_format, **flags}
    words: dict[str, int | Size] = {
        "input": to_virtual(source),
        "output": to_virtual(target),
        "input_size": input_size,
        "output_size": output_size or input_size,
        "flags": encode_register(EXTERNAL["PPF_FLAGS"], fields),
    }
    return gx_command("DisplayTransfer", words)


def texture_copy(source: int, target: int, size: int, input_line: Line = (0, 0), output_line: Line = (0, 0)) -> Words:
    """Copy `size` bytes; line by line if there is a gap."""
    gaps = bool(input_line[1] or output_line[1])
    words: dict[str, int | Size] = {
        "input": to_virtual(source),
        "output": to_virtual(target),
        "size": size,
        "input_line": _units(input_line),
        "output_line": _units(output_line),
        "flags": encode_register(EXTERNAL["PPF_FLAGS"], {"texture_copy": True, "crop": gaps}),
    }
    return gx_command("TextureCopy", words)


def flush_cache_regions(*ranges: tuple[int, int]) -> Words:
    """Write one to three ranges (address, size) back from the processor's cache."""
    if not 1 <= len(ranges) <= 3:
        raise UsageError(f"one to three ranges are flushed, not {len(ranges)}")
    words: dict[str, int | Size] = {}
    for n, (address, size) in enumerate(ranges):
        words |= {f"address{n}": to_virtual(address), f"size{n}": size}
    return gx_command("FlushCacheRegions", words)


def _units(line: Line) -> Size:
    if line[0] % 16 or line[1] % 16:
        raise UsageError(f"lines are copied in units of 16 bytes: {line} are not multiples")
    return line[0] // 16, line[1] // 16
