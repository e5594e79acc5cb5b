"""Choices of the 3DS that no scene can show, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NO_SCENE: Final[Mapping[str, str]] = {
    "gsp.swap_clients": (
        "It is about two programs at once, and a capture has what one program did. Programs that talk to gsp show it: "
        "pocketgpu run PROGRAM --set gsp.swap_clients=all"
    ),
    "gsp.relay_limit": (
        "It is about a program that does not read its interrupts, and a capture does not say when they are read. A "
        "program shows it: pocketgpu run PROGRAM --set gsp.relay_limit=unlimited"
    ),
    "gsp.read_size": (
        "It is about a request to read registers, and a capture has only what a program wrote. A program shows it: "
        "pocketgpu run PROGRAM --set gsp.read_size=clamp"
    ),
}
"""The reason, by the choice's name."""


__all__ = ["NO_SCENE"]
