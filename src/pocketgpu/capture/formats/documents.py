"""Untrusted JSON documents: checked access to their values, with errors that name the place.

A reader of a JSON format derives from `Document` and requests values of the expected type; anything else raises a
CaptureError with a place such as "events[12].words[3]".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from pocketgpu.capture.formats.first_bytes import BOM
from pocketgpu.errors import CaptureError
from pocketgpu.events import Event
from pocketgpu.wording import counted

LIMIT = 128 << 20
"""The most bytes of JSON: its contents take twenty times as much memory."""

_MOST_WARNINGS = 100


class Document:
    """One document while it is read: `file` is its name in errors, `noun` its kind in messages."""

    noun = "log"

    def __init__(self, file: str, data: bytes) -> None:
        self.file = file
        self.data = data
        self.warnings: list[Event] = []

    # -- errors -----------------------------------------------------------------------------------------------------
    def fail(self, message: str, place: str, hint: str = "") -> NoReturn:
        location = f"{self.file}, {place}" if self.file else place
        raise CaptureError(message, file=self.file, location=location, hint=hint or f"The {self.noun} is damaged.")

    def fail_at_byte(self, message: str, offset: int, hint: str) -> NoReturn:
        raise CaptureError(message, file=self.file, offset=offset, hint=hint)

    def warn(self, id: str, message: str, at: str) -> None:
        """Record a warning; repeats of the same message increase its count."""
        for i, known in enumerate(self.warnings):
            if (known.id, known.message) == (id, message):
                self.warnings[i] = Event("warning", id, message, known.at, known.count + 1)
                return
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(Event("warning", id, message, at))

    # -- checked access ---------------------------------------------------------------------------------------------
    def as_object(self, value: Any, place: str) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            self.fail(f"expected an object, found {kind_of(value)}", place)
        return value

    def as_list(self, value: Any, place: str) -> list[Any]:
        if not isinstance(value, list):
            self.fail(f"expected a list, found {kind_of(value)}", place)
        return value

    def as_text(self, value: Any, place: str) -> str:
        if not isinstance(value, str):
            self.fail(f"expected text, found {kind_of(value)}", place)
        return value

    def member(self, mapping: Mapping[str, Any], name: str, place: str) -> Any:
        if name not in mapping:
            hint = f"The {self.noun} is damaged, or an unknown recorder wrote it."
            self.fail(f"'{name}' is missing", place, hint)
        return mapping[name]

    def number(self, value: Any, place: str, end: int = 1 << 32) -> int:
        """A whole number, 0 to end - 1."""
        if not isinstance(value, int) or isinstance(value, bool):
            self.fail(f"expected a whole number, found {kind_of(value)}", place)
        if not 0 <= value < end:
            shown = str(value) if abs(value) < 1 << 64 else "a huge number"
            self.fail(f"{shown} is out of range", place, f"The number must be 0 to {end - 1}.")
        return value

    def words(self, value: Any, count: int, place: str) -> tuple[int, ...]:
        values = self.as_list(value, place)
        if len(values) != count:
            self.fail(f"{counted(len(values), 'word')} instead of {count}", place)
        return tuple(self.number(word, f"{place}[{i}]") for i, word in enumerate(values))

    def check_version(self, document: Mapping[str, Any], known: int) -> None:
        version = self.member(document, "version", "the document")
        if version != known or isinstance(version, bool):
            shown = version if isinstance(version, int) and abs(version) < 1 << 64 else kind_of(version)
            self.fail(f"unknown version {shown}", "version", f"Only version {known} is known.")

    # -- text to values ---------------------------------------------------------------------------------------------
    def document(self) -> Any:
        """The parsed values of the text."""
        if len(self.data) > LIMIT:
            self.fail_at_byte(f"the {self.noun} has more than {LIMIT:,} bytes", LIMIT, "Record fewer frames.")
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            self.fail_at_byte(f"the {self.noun} is not UTF-8 text", error.start, "The file is damaged.")

        def constant(name: str) -> NoReturn:
            self.fail(f"{name} is not a number that a {self.noun} can hold", "the document")

        try:
            return json.loads(text, parse_constant=constant)
        except json.JSONDecodeError as error:
            self.fail_at_byte(
                f"the {self.noun} is not valid JSON: {error.msg}",
                len(text[: error.pos].encode()) + (len(BOM) if self.data.startswith(BOM) else 0),
                "The file was cut short or is damaged.",
            )
        except RecursionError:
            self.fail(f"the {self.noun} nests lists or objects too deeply", "the document", "The file is damaged.")
        except ValueError:
            self.fail(f"the {self.noun} holds a number of too many digits", "the document", "The file is damaged.")


def kind_of(value: Any) -> str:
    """The type of a JSON value, for messages."""
    if value is None:
        return "null"
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false", float: "a fraction"}
    return names.get(type(value), "a number")
