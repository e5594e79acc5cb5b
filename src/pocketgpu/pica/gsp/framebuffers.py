"""Framebuffer entries (seven words) and the display registers that they become, and back.

Source: 3dbrew GSP Shared Memory (framebuffer info), GPU/External Registers (LCD source framebuffer setup).
"""

from __future__ import annotations

from ...facts.external import EXTERNAL
from ...facts.gsp import BAD_VALUE, ENTRY_WORDS, SWAP_FORMAT_BITS
from .machine import Machine, Refused, Translator, Write, address

_WORD = {name: place for place, name in enumerate(ENTRY_WORDS)}


def swap_writes(screen: int, entry: tuple[int, ...], translate: Translator, recorded: bool = False) -> list[Write]:
    """The register writes that make `screen` (0 top, 1 bottom) show what `entry` describes; raises Refused.

    The pair of addresses that `active` names is written, the other one kept. The bottom screen has one eye, so the
    right address is left out. Formats 5 to 7 are kept from programs, but for entries of a log (`recorded`).
    """
    if screen not in (0, 1):
        raise Refused(BAD_VALUE, f"there is no screen {screen}")
    value = lambda name: entry[_WORD[name]]
    format_field = EXTERNAL.field(f"PDC{screen}_FORMAT.color_format")
    if format_field.raw(value("format")) > 4 and not recorded:
        raise Refused(BAD_VALUE, f"programs cannot show format {format_field.raw(value('format'))}")
    pair, pdc = value("active") & 1, f"PDC{screen}_"
    writes = [(address(f"{pdc}ADDRESS_A{pair}"), translate(value("left"), what="left picture"))]
    if screen == 0:
        writes.append((address(f"{pdc}ADDRESS_B{pair}"), translate(value("right"), what="right picture")))
    writes += [
        (address(f"{pdc}STRIDE"), value("stride")),
        (address(f"{pdc}FORMAT"), value("format") | SWAP_FORMAT_BITS),
        (address(f"{pdc}SELECT"), value("select")),
    ]
    return writes


def shown(machine: Machine, screen: int, translate: Translator) -> tuple[int, int, int, int]:
    """Left and right address (virtual; 0 where a program cannot see it), format and stride that a screen shows."""
    read = lambda name: machine.read_register(address(f"PDC{screen}_{name}"))
    pair = int(EXTERNAL.field(f"PDC{screen}_SELECT.next").raw(read("SELECT")))
    left, right = (translate.map.virtual(read(f"ADDRESS_{eye}{pair}")) or 0 for eye in "AB")
    return left, right, read("FORMAT"), read("STRIDE")
