"""Structures of the Switch's system software: messages between programs and services.

    MESSAGE_HEADER["data_words"].raw(message[:8])

Their dialect is explained in `facts/dialect/structures.py`.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.structures import BitStructure
from pocketgpu.facts.switch import TABLES

_FILE: Final = "structures.tsv"


def structure(name: str) -> BitStructure:
    """A structure of switch/structures.tsv by its name; its fields are read at their first use."""
    entry = next(one for one in TABLES.read(_FILE.removesuffix(".tsv")) if one["structure"] == name)
    return BitStructure(TABLES, _FILE, name, int(entry["bits"]), entry["doc"])


MESSAGE_HEADER: Final = structure("MESSAGE_HEADER")
SPECIAL_HEADER: Final = structure("SPECIAL_HEADER")
STATIC_DESCRIPTOR: Final = structure("STATIC_DESCRIPTOR")
BUFFER_DESCRIPTOR: Final = structure("BUFFER_DESCRIPTOR")
RECEIVE_DESCRIPTOR: Final = structure("RECEIVE_DESCRIPTOR")
REQUEST_HEADER: Final = structure("REQUEST_HEADER")
ANSWER_HEADER: Final = structure("ANSWER_HEADER")
DOMAIN_HEADER: Final = structure("DOMAIN_HEADER")
DOMAIN_ANSWER: Final = structure("DOMAIN_ANSWER")
LOG_PACKET: Final = structure("LOG_PACKET")
