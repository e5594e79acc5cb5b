"""`pl:u`: the font of the console, in memory that it shares. Source: libnx's pl.c; switchbrew Shared Database services.

The fonts of a console cannot be distributed. In their place is one free font, `data/switch_font.ttf.xz`, for all of
them: it has Latin, Greek and Cyrillic letters and many signs, but no Chinese, no Korean, and no pictures of buttons.
"""

from __future__ import annotations

import lzma
import os
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketgpu.errors import CaptureError
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.memory import host_memory
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

SHARED_BYTES: Final = 0x1100000
FONT_AT: Final = 8
"""Where the font begins in shared memory, after what a console has in front of each."""
TYPES: Final = 6
"""Standard, two for simplified Chinese, traditional Chinese, Korean, the console's own signs."""
_LOADED: Final = 1
_BEGINNINGS: Final = (b"\0\1\0\0", b"true", b"OTTO")
"""Of files with TrueType or PostScript outlines. Source: the OpenType specification, Font File."""
_PACKAGED: Final = Path(__file__).parents[3] / "data" / "switch_font.ttf.xz"


def shared_font(path: str | os.PathLike[str] | None = None) -> bytes:
    """A font as a TrueType or OpenType file, by default the one of this package.

    :raises CaptureError: the file cannot be read, is no font of these kinds, or is larger than the memory for it.
    """
    if path is None:
        return lzma.decompress(_PACKAGED.read_bytes())
    try:
        with Path(path).open("rb") as file:
            data = file.read(SHARED_BYTES - FONT_AT + 1)
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise CaptureError(f"cannot be read: {reason}", file=str(path)) from None
    if not data.startswith(_BEGINNINGS):
        hint = "Take a .ttf or .otf file; fonts of a console are encrypted."
        raise CaptureError("not a TrueType or OpenType font", file=str(path), hint=hint)
    if len(data) > SHARED_BYTES - FONT_AT:
        raise CaptureError("the font is larger than the memory for it", file=str(path))
    return data


class SharedFont(Interface):
    """The service. block: the shared memory; it is filled when somebody asks. font: a file's bytes, None for the font
    of this package."""

    name, also = "pl:u", ("pl:s",)

    def __init__(self, kernel: SwitchKernel, font: bytes | None = None) -> None:
        super().__init__(kernel)
        self.block: MemoryBlock | None = None
        self.size = 0
        self._font = font

    def _filled(self) -> MemoryBlock:
        if self.block is None:
            data = shared_font() if self._font is None else self._font
            self.block, self.size = MemoryBlock("shared font", host_memory(SHARED_BYTES)), len(data)
            self.block.view[FONT_AT : FONT_AT + len(data)] = data
        return self.block

    def _number(self, request: CmifRequest, number: int) -> CmifAnswer:
        """A number about a type of font; 0 if there is no such type."""
        self._filled()
        return CmifAnswer(struct.pack("<I", number if request.values("I")[0] < TYPES else 0))

    @command(0)
    def request_load(self, request: CmifRequest) -> CmifAnswer:
        """All fonts are there before a program asks."""
        return CmifAnswer()

    @command(1)
    def get_load_state(self, request: CmifRequest) -> CmifAnswer:
        return self._number(request, _LOADED)

    @command(2)
    def get_size(self, request: CmifRequest) -> CmifAnswer:
        self._filled()
        return self._number(request, self.size)

    @command(3)
    def get_shared_memory_address_offset(self, request: CmifRequest) -> CmifAnswer:
        return self._number(request, FONT_AT)

    @command(4)
    def get_shared_memory_native_handle(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self._filled(),))

    @command(5)
    @command(6)
    def get_shared_font_in_order_of_priority(self, request: CmifRequest) -> CmifAnswer:
        """All fonts, for any language the standard one first: types, places and sizes in three buffers."""
        self._filled()
        rooms = [one.size // 4 for one in request.outputs[:3]]
        count = min(TYPES, *rooms) if len(rooms) == 3 else 0
        for number, values in enumerate((range(count), [FONT_AT] * count, [self.size] * count)):
            request.output(struct.pack(f"<{count}I", *values), number)
        return CmifAnswer(struct.pack("<B3xI", True, count))
