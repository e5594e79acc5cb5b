"""What a request says, checked before a question goes to the machine.

given = Parameters({"at": "f1/d3", "x": "8"})
given.at(), given.number("x")       # Address f1/d3, 8
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from string import hexdigits

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address

_MOST_DIGITS = 9
_MOST_HEX = 16
"""Most digits of a number, and of an address."""


class Parameters:
    """The query of a request.

    :raises UsageError: (every method) a parameter is missing or bad. The location of the error is its name.
    """

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given

    @property
    def names(self) -> Collection[str]:
        """The names of all parameters."""
        return self._given.keys()

    def text(self, name: str, default: str | None = None) -> str:
        """A text; without a default it must be there."""
        found = self._given.get(name, default)
        if found is None:
            raise UsageError(f"the request has no '{name}'", location=name)
        return found

    def choice(self, name: str, of: Collection[str], default: str) -> str:
        """One of some words."""
        found = self.text(name, default)
        if found not in of:
            raise UsageError(f"'{found}' is no {name}", location=name, hint=f"There are: {', '.join(of)}.")
        return found

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number, not negative."""
        text = self.text(name, None if default is None else str(default))
        if not (text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS):
            raise UsageError(f"'{text}' is not a whole number of at most {_MOST_DIGITS} digits", location=name)
        return int(text)

    def hexadecimal(self, name: str) -> int:
        """An address of memory: digits of base 16, with or without "0x" before them."""
        text = self.text(name)
        digits = text.lower().removeprefix("0x")
        if not (0 < len(digits) <= _MOST_HEX and all(digit in hexdigits for digit in digits)):
            raise UsageError(f"'{text}' is no address of memory", location=name, hint="Such as 0x18000000.")
        return int(digits, 16)

    def at(self, name: str = "at") -> Address:
        """An address."""
        return Address.parse(self.text(name))


__all__ = ["Parameters"]
