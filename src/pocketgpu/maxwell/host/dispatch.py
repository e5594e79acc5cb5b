"""What a write of each method does: a code for every word of every class, which the compiled parser looks up.

The table follows from the class descriptions (which words exist), from what the parser does itself, and from the
engines (which words have an effect in Python).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import CLASSES, MethodBlock
from pocketgpu.facts.maxwell.pushbuffers import HOST_WORDS
from pocketgpu.maxwell.host.layout import CLASS_OF_FILE, FILE_WORDS, FILES, FRONT_END_FILES, HOST_FILE, OTHER_FILE

CODES = (
    "plain",  # stored
    "tracked",  # stored under the rules of the shadow RAM
    "effect",  # stored; Python acts
    "deferred",  # stored; Python acts with the next effect, or at once (`Channel.hurry`)
    "draw",  # stored; Python acts, unless it is a quick draw
    "unknown",  # stored; the class has no such method, which Python reports once
    "known_unknown",  # the same, after it was reported
    "ignored",  # for a class that this machine does not have
    "mme_pointer", "mme_load", "mme_start_pointer", "mme_start_load", "shadow_control",
    "falcon",  # a call of the front end's firmware
    "constant",  # a word for the selected constant buffer
    "bind",  # the selected constant buffer is bound to a slot
    "inline_launch", "inline_data",
    "macro",
)  # fmt: skip
CODE = {name: number for number, name in enumerate(CODES)}

# Words below this one are exempt from the shadow RAM; so are methods that start something.
FIRST_TRACKED = 0x80

# What the parser does itself, by name of the method.
_NATIVE = {
    "LOAD_MME_INSTRUCTION_RAM_POINTER": "mme_pointer",
    "LOAD_MME_INSTRUCTION_RAM": "mme_load",
    "LOAD_MME_START_ADDRESS_RAM_POINTER": "mme_start_pointer",
    "LOAD_MME_START_ADDRESS_RAM": "mme_start_load",
    "SET_MME_SHADOW_RAM_CONTROL": "shadow_control",
    "LOAD_CONSTANT_BUFFER": "constant",
    "BIND_GROUP_CONSTANT_BUFFER": "bind",
    "LAUNCH_DMA": "inline_launch",
    "LOAD_INLINE_DATA": "inline_data",
    "CALL_MME_MACRO": "macro",
    "CALL_MME_DATA": "macro",
}


def block_of(file: int) -> MethodBlock | None:
    """The description of the class that a register file belongs to."""
    return CLASSES.get(CLASS_OF_FILE[file])


def code_table(choices: Mapping[str, str]) -> NDArray[np.uint8]:
    """The code of each word before any engine has registered effects, as (files, words). It can't be written."""
    return _code_table(choices["mme.shadow_exempt"] == "low-words")


@cache  # each machine starts with it, and it takes most of the time in which one is made
def _code_table(low_exempt: bool) -> NDArray[np.uint8]:
    table = np.full((FILES, FILE_WORDS), CODE["unknown"], np.uint8)
    for file in range(FILES):
        block = block_of(file)
        if block is None:
            continue
        inline = "LOAD_INLINE_DATA" in block
        for name, words in block.places:
            code = _NATIVE.get(name, "falcon" if name.startswith("SET_FALCON") else "plain")
            if code == "inline_launch" and not inline:
                code = "plain"  # the copy engine's method of that name
            for word in words:
                if word < HOST_WORDS and file != HOST_FILE:
                    continue
                stored = code
                exempt = word < FIRST_TRACKED and low_exempt
                if code == "plain" and file < FRONT_END_FILES and not exempt:
                    stored = "tracked"
                table[file, word] = CODE[stored]
    table[OTHER_FILE] = CODE["ignored"]
    table.flags.writeable = False
    return table


def defer(table: NDArray[np.uint8], file: int, words: Iterable[int], code: str = "deferred") -> None:
    """Mark effects of these words as deferred to the next effect; or as "draw": quick draws run them without Python."""
    for word in words:
        if table[file, word] == CODE["effect"]:
            table[file, word] = CODE[code]


def ask(table: NDArray[np.uint8], file: int, words: Iterable[int]) -> None:
    """Return to Python for writes of these words of a file, except for those that the parser handles itself."""
    for word in words:
        if table[file, word] in (CODE["plain"], CODE["tracked"], CODE["unknown"]):
            table[file, word] = CODE["effect"]
