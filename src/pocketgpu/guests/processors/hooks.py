"""Hooks in machine code: one counts the instructions of each block and stops the processor at a budget, one stops it
at interrupts, such as supervisor calls. A block of one instruction of Thumb counts as one, so that loops of it end too.

A hook in Python for each block would take nine tenths of the time. These are compiled once and kept in the cache of
kernels.
"""

from __future__ import annotations

import ctypes
from typing import Final

from pocketgpu.lanes import machine_code

_BLOCK: Final = "guest_block"
_INTERRUPT: Final = "guest_interrupt"
_BLOCK_TEXT: Final = f"""
define void @{_BLOCK}(ptr %uc, i64 %address, i32 %size, ptr %state) {{
entry:
  %rounded = add i32 %size, 3
  %count = lshr i32 %rounded, 2
  %more = zext i32 %count to i64
  %used = load i64, ptr %state
  %sum = add i64 %used, %more
  %limit_at = getelementptr i64, ptr %state, i64 1
  %limit = load i64, ptr %limit_at
  %over = icmp sge i64 %used, %limit
  br i1 %over, label %stop, label %go
go:
  store i64 %sum, ptr %state
  ret void
stop:
  %stop_at = getelementptr i64, ptr %state, i64 2
  %stop_fn = load ptr, ptr %stop_at
  %ignored = call i32 %stop_fn(ptr %uc)
  ret void
}}
"""


_INTERRUPT_TEXT: Final = f"""
define void @{_INTERRUPT}(ptr %uc, i32 %number, ptr %state) {{
entry:
  %number_at = getelementptr i64, ptr %state, i64 3
  %wide = zext i32 %number to i64
  store i64 %wide, ptr %number_at
  %stop_at = getelementptr i64, ptr %state, i64 2
  %stop_fn = load ptr, ptr %stop_at
  %ignored = call i32 %stop_fn(ptr %uc)
  ret void
}}
"""


class HookState(ctypes.Structure):
    """What the hooks share with Python. used: instructions since it was set to 0. limit: where the processor stops.
    stop: the library's function that stops it. interrupt: the number of the last interrupt."""

    _fields_ = (
        ("used", ctypes.c_int64), ("limit", ctypes.c_int64), ("stop", ctypes.c_void_p), ("interrupt", ctypes.c_int64),
    )  # fmt: skip


def block_hook() -> int:
    """The address of the hook for blocks."""
    return machine_code.load(_BLOCK, _BLOCK_TEXT)[0]


def interrupt_hook() -> int:
    """The address of the hook for interrupts."""
    return machine_code.load(_INTERRUPT, _INTERRUPT_TEXT)[0]
