"""Records of 32-bit words in a work area, with named words."""

from __future__ import annotations

from collections.abc import Mapping


class Struct:
    """Named 32-bit words of a record: "NAME" takes one word, "NAME:n" takes n, "NAME:n@m" begins at a multiple of m
    bytes. `S.NAME` is a byte offset."""

    def __init__(self, *names: str, start: int = 0) -> None:
        self._offsets: dict[str, int] = {}
        at = start
        for item in names:
            field, _, aligned = item.partition("@")
            name, _, count = field.partition(":")
            at += -at % int(aligned or 1)
            self._offsets[name] = at
            at += 4 * int(count or 1)
        self.size = at
        self.__dict__.update(self._offsets)  # found without a call

    @property
    def offsets(self) -> Mapping[str, int]:
        """Byte offsets by name."""
        return self._offsets

    def __getattr__(self, name: str) -> int:
        try:
            return self._offsets[name]
        except KeyError:
            raise AttributeError(name) from None
