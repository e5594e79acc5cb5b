"""Titles and icon of a program: the SMDH in a 3DSX.

    about = read_smdh(data)
    about.title, about.publisher
    about.icon.save("icon.png")      # 48x48

Source: 3dbrew SMDH.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Final

from pocketgpu.facts.formats import RGB565
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.display.screens import Bytes
from pocketgpu.pica.memory import surface
from pocketgpu.pictures import ShownArray

_MAGIC: Final = b"SMDH"
_SIZE: Final = 0x36C0
_TITLES_AT: Final = 8
_TITLE: Final = struct.Struct("<128s256s128s")
_ICON_AT: Final = 0x24C0
ICON_SIDE: Final = 48
LANGUAGES: Final = (
    "Japanese", "English", "French", "German", "Italian", "Spanish", "Simplified Chinese", "Korean", "Dutch",
    "Portuguese", "Russian", "Traditional Chinese",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Title:
    """A program's names in one language."""

    short: str
    long: str
    publisher: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Icon(ShownArray):
    """The large icon: `array` is RGB of shape (48, 48, 3), uint8."""

    array: Bytes

    def __str__(self) -> str:
        return f"icon: {self.width}x{self.height} RGB"


@dataclass(frozen=True, eq=False)
class Smdh:
    """Titles by language, only those that have a text, and the icon."""

    titles: Mapping[str, Title]
    icon: Icon

    def __repr__(self) -> str:
        return f"<Smdh {self.title!r} by {self.publisher!r}>"

    def _title(self) -> Title:
        return self.titles.get("English") or next(iter(self.titles.values()), Title("", "", ""))

    @property
    def title(self) -> str:
        """The short title, in English if there is one."""
        return self._title().short

    @property
    def publisher(self) -> str:
        """Who made it."""
        return self._title().publisher


def read_smdh(data: bytes) -> Smdh | None:
    """An SMDH; None if the bytes are not one."""
    if len(data) < _SIZE or data[:4] != _MAGIC:
        return None
    titles = {}
    for number, language in enumerate(LANGUAGES):
        parts = _TITLE.unpack_from(data, _TITLES_AT + number * _TITLE.size)
        one = Title(*(part.decode("utf-16-le", "replace").split("\0")[0] for part in parts))
        if one.short or one.long:
            titles[language] = one
    texels = data[_ICON_AT : _ICON_AT + 2 * ICON_SIDE * ICON_SIDE]
    colours = surface.decode(texels, RGB565, ICON_SIDE, ICON_SIDE, "tiled")
    return Smdh(titles, Icon(colours[..., :3].copy()))
