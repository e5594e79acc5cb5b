"""Requests of an editor: JSON, read with limits; and arguments with their types.

    request = read_request(body)
    request.arguments.number("threadId")
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass

Json: TypeAlias = dict[str, Any]
MOST_NUMBER = 2**53 - 1
"""The largest number that every client can hold."""
MOST_SHOWN = 60
"""Letters of what an editor sent, in an error."""
MOST_ENTRIES = 4096
"""Entries of a list of an editor."""


class BadMessage(UsageError):
    """A message that is no request. seq: its number, 0 if it has none; command: "" if it has none."""

    def __init__(self, message: str, seq: int = 0, command: str = "") -> None:
        super().__init__(message)
        self.seq, self.command = seq, command


class Arguments:
    """Arguments of a request, or an object in them."""

    def __init__(self, values: Mapping[str, Any], where: str = "") -> None:
        self._values, self._where = values, where

    def __contains__(self, name: str) -> bool:
        return self._values.get(name) is not None

    def _fail(self, name: str, wanted: str) -> UsageError:
        shown = short(self._values.get(name))
        return UsageError(f"{name} is {shown}, not {wanted}", location=f"{self._where}{name}")

    def value(self, name: str) -> Any:
        return self._values.get(name)

    def number(self, name: str, default: int | None = None) -> int:
        found = self._values.get(name)
        if found is None and default is not None:
            return default
        if isinstance(found, float) and found.is_integer():
            found = int(found)
        if not isinstance(found, int) or isinstance(found, bool) or abs(found) > MOST_NUMBER:
            raise self._fail(name, "a whole number")
        return found

    def text(self, name: str, default: str | None = None) -> str:
        found = self._values.get(name)
        if found is None and default is not None:
            return default
        if not isinstance(found, str):
            raise self._fail(name, "a text")
        return found

    def flag(self, name: str, default: bool = False) -> bool:
        found = self._values.get(name)
        if found is None:
            return default
        if not isinstance(found, bool):
            raise self._fail(name, "true or false")
        return found

    def part(self, name: str) -> Arguments:
        """An object in them; an empty one if it is missing."""
        found = self._values.get(name)
        if found is not None and not isinstance(found, dict):
            raise self._fail(name, "an object")
        return Arguments(found or {}, f"{self._where}{name}.")

    def parts(self, name: str) -> list[Arguments]:
        """A list of objects; an empty one if it is missing."""
        return [self._entry(name, one) for one in self._list(name)]

    def texts(self, name: str) -> list[str]:
        """A list of texts; an empty one if it is missing."""
        found = self._list(name)
        if not all(isinstance(one, str) for one in found):
            raise self._fail(name, "a list of texts")
        return [*found]

    def items(self) -> list[tuple[str, Any]]:
        return list(self._values.items())

    def _list(self, name: str) -> Sequence[Any]:
        found = self._values.get(name)
        if found is None:
            return ()
        if not isinstance(found, list) or len(found) > MOST_ENTRIES:
            raise self._fail(name, f"a list of up to {MOST_ENTRIES} entries")
        return found

    def _entry(self, name: str, one: Any) -> Arguments:
        if not isinstance(one, dict):
            raise self._fail(name, "a list of objects")
        return Arguments(one, f"{self._where}{name}.")


@dataclass(frozen=True)
class Request:
    """What an editor asks."""

    seq: int
    command: str
    arguments: Arguments


def short(value: Any) -> str:
    """A value that an editor sent, as the begin of its text."""
    if isinstance(value, int) and abs(value) > MOST_NUMBER:
        return "a huge number"  # too many digits are refused by Python itself
    text = repr(value) if not isinstance(value, list | dict) else f"a {type(value).__name__} of {len(value)}"
    return text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "..."


def read_request(body: bytes) -> Request:
    """The request that a body is.

    :raises BadMessage: the message is no request.
    """
    try:
        found = json.loads(body.decode("utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else short(str(error))
        raise BadMessage(f"this message is no JSON: {reason}") from None
    if not isinstance(found, dict):
        raise BadMessage("this message is no object")
    seq, command = found.get("seq"), found.get("command")
    known = seq if isinstance(seq, int) and not isinstance(seq, bool) and abs(seq) <= MOST_NUMBER else 0
    name = command if isinstance(command, str) and len(command) <= MOST_SHOWN else ""
    if found.get("type") != "request":
        raise BadMessage(f"this message is {short(found.get('type'))}, not a request", known, name)
    if known is not seq:
        raise BadMessage(f"seq is {short(seq)}, not a whole number", known, name)
    if not name:
        raise BadMessage(f"the request has the command {short(command)}", known, name)
    arguments = found.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        raise BadMessage(f"the arguments are {short(arguments)}, not an object", known, name)
    return Request(known, name, Arguments(arguments or {}))


def _refuse(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


def written(message: Json) -> bytes:
    """A message to an editor as bytes. Numbers that JSON has not, as null."""
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_plain(message), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


__all__ = ["MOST_NUMBER", "Arguments", "BadMessage", "Json", "Request", "read_request", "short", "written"]
