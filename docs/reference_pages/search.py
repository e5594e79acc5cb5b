"""The index by which the site's search finds registers, methods, structures and instructions by any name and address.

`static/register_search.js` reads it on the page of results. An entry is [page, kind, name, other names] and, for what
has an address, its offset; for an array of methods also the number of its elements and their distance.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.external import USER_OFFSET
from pocketgpu.facts.gsp import GX_COMMANDS
from pocketgpu.facts.lookup import BLOCKS
from pocketgpu.facts.maxwell import CLASSES, Method
from reference_pages import catalogue, gsp, instructions, structures

SCRIPT: Final = "register_index.js"
"""The file of the index, among the site's static files."""
PREFIX: Final = "GPUREG_"
"""Of the wiki's names. The search leaves it out of what it is asked for, so the index has no names with it."""
_REGISTERS: Final = {"pica": "3DS core register", "external": "3DS external register", "lcd": "3DS LCD register"}
_STRUCTURE, _COMMAND, _3DS_INSTRUCTION, _SWITCH_INSTRUCTION = "structure", "gx", "3ds", "switch"
Entry = list[Any]


def kinds() -> dict[str, dict[str, Any]]:
    """What entries can be, by a short name: how people call it, what its anchors begin with, and where addresses start.

    `base` and `stride` are those of a bank of registers; methods have the number of their class instead.
    """
    found: dict[str, dict[str, Any]] = {}
    for block in BLOCKS:
        place = "id" if block.stride > 1 else "offset"
        found[block.name] = {
            "what": _REGISTERS[block.name], "anchor": "register-",
            "base": block.base, "stride": block.stride, "place": place,
        }  # fmt: skip
    for one in CLASSES.values():
        what = f"Switch method of class {one.name.upper()} ({one.engine})"
        found[one.name] = {"what": what, "anchor": f"method-{one.name}-", "class": one.name}
    found[_STRUCTURE] = {"what": "structure", "anchor": structures.anchor("")}
    found[_COMMAND] = {"what": "3DS GX command", "anchor": gsp.anchor("")}
    found[_3DS_INSTRUCTION] = {"what": "3DS shader instruction", "anchor": instructions.anchor("3ds", "")}
    found[_SWITCH_INSTRUCTION] = {"what": "Switch shader instruction", "anchor": instructions.anchor("switch", "")}
    return found


def entries() -> Iterator[Entry]:
    """Everything that can be found."""
    for page in catalogue.pages():
        for register in page.registers:
            if register.known:
                yield [page.name, register.block.name, register.name, others(register), *places(register)]
    for one in structures.PAGES:
        yield from ([one.name, _STRUCTURE, name, ""] for name in one.structures)
    yield from ([gsp.PAGE, _COMMAND, command.name, command.old_name] for command in GX_COMMANDS)
    for _, opcodes in instructions.pica_formats().values():
        for name in dict.fromkeys(opcode.name for _, opcode in opcodes):
            yield [instructions.PICA_PAGE, _3DS_INSTRUCTION, name, ""]
    for content in instructions.sass_pages():
        yield from ([content.name, _SWITCH_INSTRUCTION, op, ""] for op in content.operations)


def others(register: Register) -> str:
    """Other names, with spaces between them."""
    return " ".join(alias for alias in register.aliases if not alias.startswith(PREFIX))


def places(register: Register) -> list[int]:
    """Offset in the bank or class; of an array also the number of its elements and their distance."""
    if isinstance(register, Method) and register.stride:
        return [register.offset, register.count, register.stride]
    return [register.offset]


def index() -> dict[str, Any]:
    """The index as plain data."""
    found = list(entries())
    pages = list(dict.fromkeys(entry[0] for entry in found))
    numbered = {name: number for number, name in enumerate(pages)}
    names = {name: number for number, name in enumerate(kinds())}
    return {
        "folder": catalogue.FOLDER, "user": USER_OFFSET, "kinds": list(kinds().values()), "pages": pages,
        "entries": [[numbered[page], names[kind], *rest] for page, kind, *rest in found],
    }  # fmt: skip


def script() -> str:
    """The index as a script, which also works for pages that are opened from a disk."""
    return f"window.registerIndex = {json.dumps(index(), separators=(',', ':'))};\n"
