"""Title, author and icon of a program: the NACP and the JPEG in an NRO.

    about = read_nacp(data, icon)
    about.title, about.publisher, about.version

Source: switchbrew NACP; libnx's nacp.h.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from pocketgpu.late_dataclass import dataclass

SIZE: Final = 0x4000
_TITLE: Final = struct.Struct("<512s256s")
_VERSION_AT, _VERSION_SIZE = 0x3060, 16
LANGUAGES: Final = (
    "American English", "British English", "Japanese", "French", "German", "Latin American Spanish", "Spanish",
    "Italian", "Dutch", "Canadian French", "Portuguese", "Russian", "Korean", "Traditional Chinese",
    "Simplified Chinese", "Brazilian Portuguese",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class NacpTitle:
    """A program's names in one language."""

    name: str
    author: str


@dataclass(frozen=True, slots=True)
class Nacp:
    """Titles by language, only those that have a text. icon: a JPEG file, empty if there is none."""

    titles: Mapping[str, NacpTitle]
    version: str
    icon: bytes = b""

    def __repr__(self) -> str:
        return f"<Nacp {self.title!r} by {self.publisher!r}>"

    def _title(self) -> NacpTitle:
        return next(iter(self.titles.values()), NacpTitle("", ""))

    @property
    def title(self) -> str:
        """The title, in English if there is one."""
        return self._title().name

    @property
    def publisher(self) -> str:
        """Who made it."""
        return self._title().author


def read_nacp(data: bytes, icon: bytes = b"") -> Nacp | None:
    """A NACP; None if the bytes are too few for one."""
    if len(data) < SIZE:
        return None
    titles = {}
    for number, language in enumerate(LANGUAGES):
        name, author = (_text(one) for one in _TITLE.unpack_from(data, number * _TITLE.size))
        if name or author:
            titles[language] = NacpTitle(name, author)
    return Nacp(titles, _text(data[_VERSION_AT : _VERSION_AT + _VERSION_SIZE]), icon)


def _text(data: bytes) -> str:
    return data.split(b"\0")[0].decode("utf-8", "replace")
