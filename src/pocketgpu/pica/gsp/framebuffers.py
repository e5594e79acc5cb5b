"""Framebuffer entries (seven words) to display registers, and back.

Source: 3dbrew GSP Shared Memory (framebuffer info), GPU/External Registers (LCD source framebuffer setup).
"""

from __future__ import annotations

from pocketgpu.facts.external import EXTERNAL, shows_both
from pocketgpu.facts.external_init import INITS, TOP_MODES
from pocketgpu.facts.gsp import BAD_VALUE, ENTRY_WORDS, SWAP_FORMAT_BITS
from pocketgpu.facts.pica_enums import TRANSFER_FORMAT
from pocketgpu.pica.gsp.gsp_machine import GspMachine, Refused, Translator, Write, address, write

_WORD = {name: place for place, name in enumerate(ENTRY_WORDS)}


def _format_word(word: int) -> int:
    """Both framebuffers and doubled lines exclude each other: if both are set, doubling is cleared (3dbrew in 2013)."""
    register = EXTERNAL["PDC0_FORMAT"]
    return register["scan_doubling"].encode(0, word) if shows_both(register["interlace"].raw(word)) else word


def swap_writes(screen: int, entry: tuple[int, ...], translate: Translator, recorded: bool = False) -> list[Write]:
    """The register writes that make `screen` (0 top, 1 bottom) show the framebuffer of `entry`; raises Refused.

    Only the pair of addresses that `active` selects is written. The bottom screen has one eye, so its right address is
    not written. Formats 5 to 7 are refused to programs, except for entries of a log (`recorded`).
    """
    if screen not in (0, 1):
        raise Refused(BAD_VALUE, f"there is no screen {screen}")
    value = lambda name: entry[_WORD[name]]
    format_field = EXTERNAL.field(f"PDC{screen}_FORMAT.color_format")
    if format_field.raw(value("format")) not in TRANSFER_FORMAT and not recorded:
        raise Refused(BAD_VALUE, f"programs cannot show format {format_field.raw(value('format'))}")
    pair, pdc = value("active") & 1, f"PDC{screen}_"
    writes = [(address(f"{pdc}ADDRESS_A{pair}"), translate(value("left"), what="left picture"))]
    if screen == 0:
        writes.append((address(f"{pdc}ADDRESS_B{pair}"), translate(value("right"), what="right picture")))
    writes += [
        (address(f"{pdc}STRIDE"), value("stride")),
        (address(f"{pdc}FORMAT"), _format_word(value("format")) | SWAP_FORMAT_BITS),
        (address(f"{pdc}SELECT"), value("select")),
    ]
    return writes


def _top_mode(format: int) -> int:
    """gsp's number of the top screen's mode: 0 flat, 1 wide (800 lines), 2 stereo. It reads two bits of FORMAT."""
    register = EXTERNAL["PDC0_FORMAT"]
    if shows_both(register["interlace"].raw(format)):
        return 2
    return 0 if register["scan_doubling"].raw(format) else 1


def show(machine: GspMachine, screen: int, entry: tuple[int, ...], translate: Translator) -> None:
    """Make `screen` show the framebuffer of `entry`. If the top screen's mode changes, its timing is set first.

    Raises Refused, before anything is written.
    """
    writes = swap_writes(screen, entry, translate)
    if screen == 0:
        mode = _top_mode(entry[_WORD["format"]])
        if mode != _top_mode(machine.read_register(address("PDC0_FORMAT"))):
            writes = [*INITS[TOP_MODES[mode]].writes, *writes]
    write(machine, writes)


def shown(machine: GspMachine, screen: int, translate: Translator) -> tuple[int, int, int, int]:
    """The screen's left and right address (virtual; 0 if not mapped for programs), format and stride."""
    read = lambda name: machine.read_register(address(f"PDC{screen}_{name}"))
    pair = int(EXTERNAL.field(f"PDC{screen}_SELECT.next").raw(read("SELECT")))
    left, right = (translate.map.virtual(read(f"ADDRESS_{eye}{pair}")) or 0 for eye in "AB")
    return left, right, read("FORMAT"), read("STRIDE")
