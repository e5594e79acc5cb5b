"""Hooks in machine code: one counts the instructions of each block and stops the processor at a budget, one stops it
at interrupts, such as supervisor calls. For 64-bit ARM, one answers reads of the counter, one notes where a program
says that it has written code, and one notes which lines of its cache a program writes back. A block of one instruction
of Thumb counts as one, so that loops of it end too.

Programs say that they have written code for many lines, in a loop. So the processor stops at the first block that says
nothing of the kind, and at once where that code would run.

A hook in Python for each block would take nine tenths of the time. These are compiled once and kept in the cache of
kernels.
"""

from __future__ import annotations

import ctypes
from typing import Final

from pocketgpu.lanes import machine_code

CACHE_LINE: Final = 64
"""Bytes of a line of a Cortex-A57's caches."""
_BLOCK: Final = "guest_block"
_INTERRUPT: Final = "guest_interrupt"
_READ: Final = "guest_system_read"
_NEW_CODE: Final = "guest_new_code"
_FLUSH: Final = "guest_flush"


class HookState(ctypes.Structure):
    """What the hooks share with Python.

    used: instructions since it was set to 0. budget: where the processor stops. limit: where it looks whether it stops;
    the budget, or 0 after something that is to be dealt with. stop: the library's function that stops
    it. interrupt: the number of the last interrupt. now: the tick at which `used` was 0. up, down: the counter is ticks
    * up / down. rate: the counter's steps in a second. write: the library's function that sets a register. place: what
    the counter is read into. first, last: the lowest and the highest address of code that was written since `last` was
    set to 0. fresh: whether some was since the last block began. flush, flush_state: the function that notes which
    lines are written back, if somebody follows them; Unicorn calls one hook for an instruction, not two.
    """

    _fields_ = (
        ("used", ctypes.c_int64), ("limit", ctypes.c_int64), ("stop", ctypes.c_void_p), ("interrupt", ctypes.c_int64),
        ("now", ctypes.c_int64), ("up", ctypes.c_int64), ("down", ctypes.c_int64), ("rate", ctypes.c_int64),
        ("write", ctypes.c_void_p), ("place", ctypes.c_int64), ("first", ctypes.c_uint64), ("last", ctypes.c_uint64),
        ("budget", ctypes.c_int64), ("fresh", ctypes.c_int64), ("flush", ctypes.c_void_p),
        ("flush_state", ctypes.c_void_p),
    )  # fmt: skip


def _at(field: str, name: str) -> str:
    """IR for the address of a field."""
    return f"%{name} = getelementptr i8, ptr %state, i64 {getattr(HookState, field).offset}"


_STOP: Final = f"""
  {_at("stop", "stop_at")}
  %stop_fn = load ptr, ptr %stop_at
  %ignored = call i32 %stop_fn(ptr %uc)
"""
_BLOCK_TEXT: Final = f"""
define void @{_BLOCK}(ptr %uc, i64 %address, i32 %size, ptr %state) {{
entry:
  %rounded = add i32 %size, 3
  %count = lshr i32 %rounded, 2
  %more = zext i32 %count to i64
  %used = load i64, ptr %state
  %sum = add i64 %used, %more
  {_at("limit", "limit_at")}
  %limit = load i64, ptr %limit_at
  %over = icmp sge i64 %used, %limit
  br i1 %over, label %look, label %go
go:
  store i64 %sum, ptr %state
  ret void
look:
  {_at("budget", "budget_at")}
  %budget = load i64, ptr %budget_at
  %up = icmp sge i64 %used, %budget
  br i1 %up, label %stop, label %written
written:
  {_at("first", "first_at")}
  {_at("last", "last_at")}
  {_at("fresh", "fresh_at")}
  %first = load i64, ptr %first_at
  %last = load i64, ptr %last_at
  %fresh = load i64, ptr %fresh_at
  store i64 0, ptr %fresh_at
  %begin = and i64 %first, {-CACHE_LINE}
  %end = add i64 %last, {CACHE_LINE}
  %after = icmp uge i64 %address, %begin
  %before = icmp ult i64 %address, %end
  %inside = and i1 %after, %before
  %old = icmp eq i64 %fresh, 0
  %now = or i1 %inside, %old
  br i1 %now, label %stop, label %go
stop:
  {_STOP}
  ret void
}}
"""


_INTERRUPT_TEXT: Final = f"""
define void @{_INTERRUPT}(ptr %uc, i32 %number, ptr %state) {{
entry:
  {_at("interrupt", "number_at")}
  %wide = zext i32 %number to i64
  store i64 %wide, ptr %number_at
  {_STOP}
  ret void
}}
"""

_FIELDS: Final = {"crn": 0, "crm": 4, "op1": 12, "op2": 16}
"""Where Unicorn's description of a system register has its fields."""
_TIMER, _USER = 14, 3
"""CRn and op1 of the counter's registers, with CRm 0."""
_RATE, _COUNTS = 0, (1, 2, 5, 6)
"""op2: CNTFRQ_EL0; CNTPCT_EL0, CNTVCT_EL0, CNTPCTSS_EL0, CNTVCTSS_EL0."""


def _field(name: str) -> str:
    return f"""
  %{name}_at = getelementptr i8, ptr %system, i64 {_FIELDS[name]}
  %{name} = load i32, ptr %{name}_at"""


_WHICH: Final = f"""
  {_field("crm")}
  {_field("op2")}
  {_field("op1")}
  %row = shl i32 %crm, 3
  %both = or i32 %row, %op2
  %level = shl i32 %op1, 7
  %which = or i32 %level, %both"""
"""The fields but CRn as one number: op1, CRm, op2."""

_READ_TEXT: Final = f"""
define i32 @{_READ}(ptr %uc, i32 %register, ptr %system, ptr %state) {{
entry:
  {_field("crn")}
  %timer = icmp eq i32 %crn, {_TIMER}
  br i1 %timer, label %counter, label %other
other:
  ret i32 0
counter:
  {_WHICH}
  switch i32 %which, label %other [
    i32 {_USER << 7 | _RATE}, label %rate
    {" ".join(f"i32 {_USER << 7 | one}, label %count" for one in _COUNTS)}
  ]
rate:
  {_at("rate", "rate_at")}
  %hertz = load i64, ptr %rate_at
  br label %answer
count:
  %used = load i64, ptr %state
  {_at("now", "now_at")}
  %now = load i64, ptr %now_at
  {_at("up", "up_at")}
  %up = load i64, ptr %up_at
  {_at("down", "down_at")}
  %down = load i64, ptr %down_at
  %tick = add i64 %now, %used
  %product = mul i64 %tick, %up
  %steps = udiv i64 %product, %down
  br label %answer
answer:
  %value = phi i64 [ %hertz, %rate ], [ %steps, %count ]
  {_at("place", "place_at")}
  store i64 %value, ptr %place_at
  {_at("write", "write_at")}
  %write_fn = load ptr, ptr %write_at
  %done = call i32 %write_fn(ptr %uc, i32 %register, ptr %place_at)
  ret i32 1
}}
"""

_CACHE, _INSTRUCTION_LINE = 7, 3 << 7 | 5 << 3 | 1
"""CRn of cache instructions; op1, CRm and op2 of `ic ivau`."""
_VALUE_AT: Final = 24
"""Where Unicorn's description of a system instruction has its operand."""
_NEW_CODE_TEXT: Final = f"""
declare i64 @llvm.umin.i64(i64, i64)
declare i64 @llvm.umax.i64(i64, i64)

define i32 @{_NEW_CODE}(ptr %uc, i32 %register, ptr %system, ptr %state) {{
entry:
  {_field("crn")}
  {_WHICH}
  %cache = icmp eq i32 %crn, {_CACHE}
  %line = icmp eq i32 %which, {_INSTRUCTION_LINE}
  %code = and i1 %cache, %line
  br i1 %code, label %told, label %other
other:
  {_at("flush", "flush_at")}
  %flush_fn = load ptr, ptr %flush_at
  %follows = icmp ne ptr %flush_fn, null
  br i1 %follows, label %flush, label %done
flush:
  {_at("flush_state", "flush_state_at")}
  %flush_state = load ptr, ptr %flush_state_at
  %told_too = call i32 %flush_fn(ptr %uc, i32 %register, ptr %system, ptr %flush_state)
  br label %done
done:
  ret i32 0
told:
  %value_at = getelementptr i8, ptr %system, i64 {_VALUE_AT}
  %address = load i64, ptr %value_at
  {_at("first", "first_at")}
  {_at("last", "last_at")}
  %first = load i64, ptr %first_at
  %last = load i64, ptr %last_at
  %none = icmp eq i64 %last, 0
  %before = select i1 %none, i64 -1, i64 %first
  %low = call i64 @llvm.umin.i64(i64 %before, i64 %address)
  %high = call i64 @llvm.umax.i64(i64 %last, i64 %address)
  store i64 %low, ptr %first_at
  store i64 %high, ptr %last_at
  {_at("fresh", "fresh_at")}
  store i64 1, ptr %fresh_at
  {_at("limit", "limit_at")}
  store i64 0, ptr %limit_at
  ret i32 0
}}
"""


ROOM: Final = 16384
"""Lines that are noted before the processor stops."""
_MARGIN: Final = 2048
"""Lines that a block may write back after that; one has fewer instructions."""


class FlushState(ctypes.Structure):
    """What the hook for caches shares with Python: `count` lines, each with its address and the bytes that it had.

    limit: where the hook for blocks has its limit; 0 there ends the piece with the next block. read: the library's
    function that reads memory.
    """

    _fields_ = (
        ("count", ctypes.c_int64), ("limit", ctypes.c_void_p), ("read", ctypes.c_void_p),
        ("lines", ctypes.c_uint8 * ((ROOM + _MARGIN) * (8 + CACHE_LINE))),
    )  # fmt: skip


_CLEANS: Final = (10, 11, 12, 13, 14)
"""CRm of cache instructions with op1 3 and op2 1: dc cvac, cvau, cvap, cvadp, civac."""
_FLUSH_TEXT: Final = f"""
define i32 @{_FLUSH}(ptr %uc, i32 %register, ptr %system, ptr %state) {{
entry:
  {_field("crn")}
  {_field("crm")}
  {_field("op1")}
  {_field("op2")}
  %caches = icmp eq i32 %crn, {_CACHE}
  %user = icmp eq i32 %op1, {_USER}
  %one = icmp eq i32 %op2, 1
  %both = and i1 %caches, %user
  %all = and i1 %both, %one
  br i1 %all, label %which, label %done
which:
  switch i32 %crm, label %done [ {" ".join(f"i32 {one}, label %clean" for one in _CLEANS)} ]
clean:
  %value_at = getelementptr i8, ptr %system, i64 {_VALUE_AT}
  %address = load i64, ptr %value_at
  %line = and i64 %address, {-CACHE_LINE}
  %count = load i64, ptr %state
  %inside = icmp slt i64 %count, {ROOM + _MARGIN}
  br i1 %inside, label %note, label %done
note:
  %offset = mul i64 %count, {8 + CACHE_LINE}
  %lines = getelementptr i8, ptr %state, i64 {FlushState.lines.offset}
  %record = getelementptr i8, ptr %lines, i64 %offset
  store i64 %line, ptr %record
  %bytes = getelementptr i8, ptr %record, i64 8
  %read_at = getelementptr i8, ptr %state, i64 {FlushState.read.offset}
  %read_fn = load ptr, ptr %read_at
  %wrong = call i32 %read_fn(ptr %uc, i64 %line, ptr %bytes, i64 {CACHE_LINE})
  %good = icmp eq i32 %wrong, 0
  %more = zext i1 %good to i64
  %sum = add i64 %count, %more
  store i64 %sum, ptr %state
  %full = icmp sge i64 %sum, {ROOM}
  br i1 %full, label %stop, label %done
stop:
  %limit_at = getelementptr i8, ptr %state, i64 {FlushState.limit.offset}
  %limit = load ptr, ptr %limit_at
  store i64 0, ptr %limit
  br label %done
done:
  ret i32 0
}}
"""


def block_hook() -> int:
    """The address of the hook for blocks."""
    return machine_code.load(_BLOCK, _BLOCK_TEXT)[0]


def interrupt_hook() -> int:
    """The address of the hook for interrupts."""
    return machine_code.load(_INTERRUPT, _INTERRUPT_TEXT)[0]


def system_read_hook() -> int:
    """The address of the hook for `mrs` of 64-bit ARM: the counter is the kernel's time."""
    return machine_code.load(_READ, _READ_TEXT)[0]


def new_code_hook() -> int:
    """The address of the hook for `sys` of 64-bit ARM: `ic ivau` says where code was written."""
    return machine_code.load(_NEW_CODE, _NEW_CODE_TEXT)[0]


def flush_hook() -> int:
    """The address of the hook for cache instructions of 64-bit ARM, whose state is a `FlushState`."""
    return machine_code.load(_FLUSH, _FLUSH_TEXT)[0]
