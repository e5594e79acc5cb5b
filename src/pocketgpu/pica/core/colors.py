"""Colours in lanes: exact integers from 0 to 255, by channel."""

from __future__ import annotations

from typing import TypeAlias

from pocketgpu.lanes import Lang, Value
from pocketgpu.pica.core.registers import LiveRegisters

Color: TypeAlias = dict[str, Value]
"""Channels "r", "g", "b" and "a" of 0 to 255."""


def div255(x: Value) -> Value:
    """floor(x / 255) for 0 <= x <= 65025 + 255, exactly."""
    return (x + 1 + (x >> 8)) >> 8


def constant_color(k: Lang, live: LiveRegisters, register: str, channels: str = "rgba") -> Color:
    """A colour register with R in its low byte, as channels over the lanes."""
    return {ch: k.splat(live(f"{register}.{ch}")) for ch in channels}


__all__ = ["Color", "constant_color", "div255"]
