"""How programs can tell that they run here and not on a console.

The probe asks, so that its answers are not taken for those of a console.
"""

from __future__ import annotations

import re
from typing import Final

import pocketgpu

INFO_TYPE: Final = 0x20000
"""The type of GetSystemInfo on a 3DS that only emulators answer."""
MARK: Final = int.from_bytes(b"pgpu", "big")
"""The parameter of our own, and the answer to it. Other parameters of the type are left to other emulators: programs
that look for one of these go other ways."""
VERSION_OF: Final = MARK + 1
"""The parameter whose answer is our version, a byte for each number."""


def version_word() -> int:
    """Our version: 0.1.2 is 0x000102."""
    first, second, third = (int(part) & 0xFF for part in re.findall(r"\d+", f"{pocketgpu.__version__}.0.0")[:3])
    return first << 16 | second << 8 | third


def name() -> str:
    """What a loader is called here."""
    return f"pocketgpu {pocketgpu.__version__}"


__all__ = ["INFO_TYPE", "MARK", "VERSION_OF", "name", "version_word"]
