"""Small structures of the 3DS: headers of commands, lists and calls."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.structures import BitStructure
from pocketgpu.facts.n3ds import TABLES

_FILE: Final = "structures.tsv"


def structure(name: str) -> BitStructure:
    """A structure of n3ds/structures.tsv by its name; its fields are read at their first use."""
    entry = next(one for one in TABLES.read(_FILE.removesuffix(".tsv")) if one["structure"] == name)
    return BitStructure(TABLES, _FILE, name, int(entry["bits"]), entry["doc"])


LIST_ENTRY: Final = structure("LIST_ENTRY")
"""Header of a command list entry: its second word, after the first parameter. Source: 3dbrew GPU/Internal Registers."""
RESULT_CODE: Final = structure("RESULT_CODE")
"""What calls and services answer. Source: 3dbrew Error codes; libctru's result.h."""
ERROR_RECORD: Final = structure("ERROR_RECORD")
"""What programs tell err:f. Source: 3dbrew ERR Services; libctru's errf.h."""
