"""Users of the console as services name them: there is one. Source: libnx's acc.h."""

from __future__ import annotations

import struct
from typing import Final

USER: Final = struct.pack("<2Q", 0x1000_0000_0000_0001, 0)
NOBODY: Final = bytes(len(USER))
NICKNAME: Final = "Player"
