"""A hook in machine code that counts the instructions of each block and stops the processor at a budget.

A hook in Python would take nine tenths of the time. It is compiled once and kept in the cache of kernels.
"""

from __future__ import annotations

import ctypes
from typing import Final

from pocketgpu.lanes import machine_code

_NAME: Final = "guest_block"
_TEXT: Final = f"""
define void @{_NAME}(ptr %uc, i64 %address, i32 %size, ptr %state) {{
entry:
  %count = lshr i32 %size, 2
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


class BlockCounter(ctypes.Structure):
    """What the hook counts. used: instructions since it was set to 0. limit: where it stops. stop: the library's
    function that stops the processor."""

    _fields_ = (("used", ctypes.c_int64), ("limit", ctypes.c_int64), ("stop", ctypes.c_void_p))


def hook_address() -> int:
    """The address of the compiled hook."""
    return machine_code.load(_NAME, _TEXT)[0]
