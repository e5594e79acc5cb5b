"""Conditional rendering: whether the work of a class is done or skipped.

Source: class headers for the modes; simulators agree on the comparisons: CONDITIONAL tests whether 64 bits are not
zero, the others compare the values of two reports of 16 bytes each.
"""

from __future__ import annotations

from functools import cache

from pocketgpu.facts.maxwell import B197, MethodBlock
from pocketgpu.maxwell.engines.common.base import EngineHost, Registers
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.common.windows import read

_CONDITIONS = ("SET_RENDER_ENABLE_C", "SET_GLOBAL_RENDER_ENABLE_C")
_MODES = B197.values("SET_RENDER_ENABLE_C.MODE")
_OVERRIDES = B197.values("SET_RENDER_ENABLE_OVERRIDE.MODE")


def power_on(block: MethodBlock, registers: Registers) -> None:
    """Work is done until a program sets a condition; with zeros it would never be. (Drivers rely on it: few set
    these.)"""
    for name in _CONDITIONS:
        method = block.get(name)
        if method is not None:
            registers[method.word] = _MODES.TRUE


def _holds(host: EngineHost, state: State, prefix: str) -> bool:
    mode = state.field(f"{prefix}_C", "MODE")
    if mode in (_MODES.FALSE, _MODES.TRUE):
        return mode == _MODES.TRUE
    if mode not in _MODES:
        host.report("warning", "render_enable.mode", f"{prefix}_C has the unknown mode {mode}: taken as TRUE")
        return True
    at = state.address(f"{prefix}_A")
    size = 8 if mode == _MODES.CONDITIONAL else 24
    data = read(host, at, size, "conditional rendering")
    first = int.from_bytes(data[:8], "little")
    if mode == _MODES.CONDITIONAL:
        return first != 0
    return (first == int.from_bytes(data[16:24], "little")) == (mode == _MODES.RENDER_IF_EQUAL)


@cache
def _plain(block: MethodBlock) -> tuple[tuple[int, int], ...]:
    """Words and their values when work is unconditional."""
    words = [(block[name].word, _MODES.TRUE) for name in _CONDITIONS if name in block]
    if "SET_RENDER_ENABLE_OVERRIDE" in block:
        words.append((block["SET_RENDER_ENABLE_OVERRIDE"].word, _OVERRIDES.USE_RENDER_ENABLE))
    return tuple(words)


def plain(state: State) -> bool:
    """Whether work of this class is done unconditionally."""
    return all(state.at(word) == value for word, value in _plain(state.block))


def enabled(host: EngineHost, state: State) -> bool:
    """Whether work of this class is done now: SET_RENDER_ENABLE, its override, and the global condition."""
    if plain(state):
        return True
    if "SET_RENDER_ENABLE_OVERRIDE" in state.block:
        override = state.field("SET_RENDER_ENABLE_OVERRIDE", "MODE")
        if override in (_OVERRIDES.ALWAYS_RENDER, _OVERRIDES.NEVER_RENDER):
            return override == _OVERRIDES.ALWAYS_RENDER
    if not _holds(host, state, "SET_RENDER_ENABLE"):
        return False
    return "SET_GLOBAL_RENDER_ENABLE_C" not in state.block or _holds(host, state, "SET_GLOBAL_RENDER_ENABLE")
