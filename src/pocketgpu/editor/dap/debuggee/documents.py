"""The texts of a program: files that it was made from, and its listing for what has no file.

Line n of the listing is instruction n - 1, in every run.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.editor.dap.protocol.messages import Arguments, Json
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.listing import ProgramListing

LISTING: Final = 1
"""The reference of the listing, by which editors ask for its text."""
MIME: Final = "text/x-shader-listing"


class Documents:
    """Where instructions are in texts, and the other way round."""

    def __init__(self, listing: ProgramListing, name: str) -> None:
        self.listing, self.name = listing, name
        self._paths: dict[str, str] = {}

    def _path(self, file: str) -> str:
        """The whole path of a file that is there; "" if it is not."""
        if file not in self._paths:
            self._paths[file] = os.path.realpath(file) if file and os.path.isfile(file) else ""
        return self._paths[file]

    @cached_property
    def places(self) -> list[tuple[str, int]]:
        """Path and line of each instruction; the path of the listing is ""."""
        found = []
        for number in range(len(self.listing)):
            source = self.listing.source(number)
            path = self._path(source.file) if source is not None else ""
            found.append((path, source.line) if source is not None and path else ("", number + 1))
        return found

    @cached_property
    def line_ids(self) -> NDArray[np.int64]:
        """A number for the line of each instruction; the same line has the same one."""
        known: dict[tuple[str, int], int] = {}
        return np.fromiter((known.setdefault(place, len(known)) for place in self.places), np.int64, len(self.places))

    @cached_property
    def _lines(self) -> dict[str, dict[int, list[int]]]:
        found: dict[str, dict[int, list[int]]] = {"": {n + 1: [n] for n in range(len(self.listing))}}
        for number, (path, line) in enumerate(self.places):
            if path:
                found.setdefault(path, {}).setdefault(line, []).append(number)
        return found

    def place(self, number: int) -> tuple[Json, int]:
        """Text and line of an instruction, for the protocol."""
        path, line = self.places[number]
        return self.source(path), line

    def source(self, path: str) -> Json:
        """A text, for the protocol."""
        if path:
            return {"name": os.path.basename(path), "path": path}
        return {"name": f"{self.name} (listing)", "sourceReference": LISTING, "origin": "disassembly"}

    @property
    def sources(self) -> list[Json]:
        return [self.source(path) for path in sorted(self._lines)]

    def lines(self, source: Arguments) -> Mapping[int, list[int]] | None:
        """The instructions of each line of a text that an editor names; None for a text of something else."""
        if source.number("sourceReference", 0) == LISTING:
            return self._lines[""]
        path = source.text("path", "")
        if path:
            return self._lines.get(os.path.realpath(path)) if "\0" not in path else None
        return self._lines[""] if source.text("name", "") == self.source("")["name"] else None

    def text(self, reference: int) -> str:
        """The text of the listing.

        :raises UsageError: it has another reference.
        """
        if reference != LISTING:
            raise UsageError(f"there is no text {reference}", hint="Files are read by the editor.")
        return "\n".join(map(self._row, range(len(self.listing)))) + "\n"

    def _row(self, number: int) -> str:
        """A line of the listing: address, perhaps its name, instruction, and what its registers are called."""
        label, names = self.listing.label(number), self.listing.names(number)
        head = f"{self.listing.address_of(number):#06x}  " + (f"{label}: " if label else "")
        return head + self.listing.text(number) + (f"  ; {names}" if names else "")

    def routine(self, address: int) -> str:
        """What the routine at an address is called."""
        number = self.number_at(address)
        label = "" if number is None else self.listing.label(number)
        return label or f"routine {address:#x}"

    def number_at(self, address: int) -> int | None:
        """The instruction at an address, or the next one after it; None if there is none."""
        found = int(np.searchsorted(self._addresses, address))
        return found if found < len(self._addresses) else None

    @cached_property
    def _addresses(self) -> NDArray[np.int64]:
        rows = range(len(self.listing))
        return np.fromiter((self.listing.address_of(n) for n in rows), np.int64, len(self.listing))

    def instruction(self, number: int) -> Json:
        """An instruction for `disassemble`; one outside of the program is no valid one."""
        if not 0 <= number < len(self.listing):
            return {"address": f"{max(number, 0):#x}", "instruction": "outside of the program",
                    "presentationHint": "invalid"}  # fmt: skip
        source, line = self.place(number)
        found: dict[str, Any] = {
            "address": f"{self.listing.address_of(number):#x}", "instruction": self.listing.text(number),
        }  # fmt: skip
        if label := self.listing.label(number):
            found["symbol"] = label
        return found | {"location": source, "line": line}


def address_of(text: str) -> int:
    """The address of a memory reference.

    :raises UsageError: it is none.
    """
    try:
        found = int(text, 0) if len(text) <= 20 else -1
    except ValueError:
        found = -1
    if not 0 <= found < 1 << 40:
        raise UsageError("this is no address of an instruction", location="memoryReference", hint="Such as 0x1c.")
    return found


__all__ = ["LISTING", "MIME", "Documents", "address_of"]
