"""Choices of the kernels that run programs: a capture has no part in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.facts.choices import CHOICES

_KERNEL: Final = "It is about the kernel that runs a program, and a capture has only what the GPU was given."
_SERVICES: Final = "It is about what services answer to a program, and a capture has only what the GPU was given."
_CONSOLE: Final = "It is about the console that a program finds, and a capture has only what the GPU was given."
_INPUT: Final = "It is about what a program reads of the player, and a capture has only what the GPU was given."

_REASONS: Final[Mapping[str, tuple[str, ...]]] = {
    _KERNEL: (
        "vblank_clock", "block_alignment", "unknown_call", "call_time", "scheduling", "wait_order", "priorities",
        "page_states", "clock", "exceptions",
    ),
    _SERVICES: (
        "archives", "applets", "services", "pointer_buffers", "unknown_switch_command", "wave_buffers",
    ),
    _CONSOLE: ("sound", "settings", "power", "mode", "performance_mode", "date"),
    _INPUT: ("hid_edges", "hid_clock", "controller", "pads", "motion"),
}  # fmt: skip
"""Names of choices, by the reason that they share."""

NO_SCENE: Final[Mapping[str, str]] = {
    name: f"{reason} A program shows it: pocketgpu run PROGRAM --set {name}={CHOICES[name].alternatives[0]}"
    for reason, names in _REASONS.items()
    for name in (f"guest.{one}" for one in names)
}
"""The reason, by the choice's name."""


__all__ = ["NO_SCENE"]
