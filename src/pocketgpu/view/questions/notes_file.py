"""Notes about places of a capture, kept in a file beside it.

    notes = Notes(Path("captures"), "scene.pgc")         # captures/scene.pgc.notes.json
    notes.put("f1/d17", "the water is too dark")

A note without a text is a bookmark. The file is made with the first note, and it can be sent along with the capture.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.wording import counted

SCHEMA: Final = "pocketgpu.notes/1"
MOST_NOTES: Final = 2000
MOST_LETTERS: Final = 1000
"""Most characters of a note's text."""
_MOST_BYTES: Final = 16 << 20
"""A larger file is not of notes."""


class Notes:
    """The notes of a capture, by address, in the order in which they were written.

    folder: where the file is, or is made. name: of the capture's file.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.path = folder / f"{name}.notes.json"

    def __repr__(self) -> str:
        return line_of(self, str(self.path))

    def all(self) -> dict[str, str]:
        """Texts by address. Another window may have changed the file, so it is read each time.

        :raises UsageError: there is a file that cannot be read, or that holds something else.
        """
        try:
            if self.path.stat().st_size > _MOST_BYTES:
                raise self._wrong()
            found = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise UsageError(f"cannot read the notes: {error.strerror}", location=str(self.path)) from None
        except (ValueError, RecursionError):
            raise self._wrong() from None
        return self._texts(found)

    def _texts(self, found: Any) -> dict[str, str]:
        if not isinstance(found, dict) or found.get("schema") != SCHEMA or not isinstance(found.get("notes"), list):
            raise self._wrong()
        texts: dict[str, str] = {}
        for one in found["notes"]:
            if not isinstance(one, dict) or not all(isinstance(one.get(key), str) for key in ("address", "text")):
                raise self._wrong()
            texts[one["address"]] = one["text"]
        return texts

    def _wrong(self) -> UsageError:
        return UsageError(
            "this file holds no notes", location=str(self.path), hint="Move it away, or give another folder: --notes."
        )

    def put(self, address: str, text: str) -> None:
        """Write a note, in place of the one that the address has.

        :raises UsageError: the address is none, the note is too long, there are too many, or the file can't be written.
        """
        place = str(Address.parse(address))
        if len(text) > MOST_LETTERS:
            raise UsageError(f"a note has at most {MOST_LETTERS} letters, not {len(text)}", location=place)
        texts = self.all()
        if place not in texts and len(texts) >= MOST_NOTES:
            have = counted(len(texts), "note")
            raise UsageError(f"there are {have} already", location=str(self.path), hint="Remove some.")
        texts[place] = text
        self._keep(texts)

    def remove(self, address: str) -> None:
        """Remove the note of an address, if there is one.

        :raises UsageError: the file cannot be read or written.
        """
        texts = self.all()
        if texts.pop(address, None) is not None:
            self._keep(texts)

    def _keep(self, texts: dict[str, str]) -> None:
        value = {"schema": SCHEMA, "notes": [{"address": place, "text": text} for place, text in texts.items()]}
        partial = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            partial.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
            os.replace(partial, self.path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise UsageError(
                f"cannot write the notes: {error.strerror}", location=str(self.path),
                hint="Give a folder that can be written: pocketgpu view --notes FOLDER.",
            ) from None


__all__ = ["MOST_LETTERS", "MOST_NOTES", "SCHEMA", "Notes"]
