"""Traces of the Switch's shaders: one thread of a launch, or one lane of a stage that was set up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.company import ALONE, Company
from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.inspect.stepping.lane_record import NOT_ENDED, Listing
from pocketgpu.inspect.stepping.trace import Trace
from pocketgpu.inspect.stepping.warps import MOST, LaneWatch, only
from pocketgpu.maxwell.compute.raw_module import RawKernel
from pocketgpu.maxwell.sass import Program, decode_program
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import LIMIT, Result, three
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES

Three = tuple[int, int, int]


def listing_of(code: Code) -> Listing:
    """The listing of a program that is launched, or of a stage."""
    program: Program = decode_program(code.data)
    _, start, indirect = code.key
    targets = [program[n].address for n in indirect if n < len(program)]
    return Listing(
        program, code.flow.steps, code.origin_of, code.source_of, start=start, indirect=targets
    )


def trace_thread(
    function: RawKernel,
    grid: Sequence[int],
    block: Sequence[int],
    args: Sequence[Any] = (),
    *,
    at: tuple[Sequence[int], Sequence[int]] = ((0, 0, 0), (0, 0, 0)),
    shared_mem: int = 0,
    limit: int = LIMIT,
    most: int = MOST,
    overrides: Forced | None = None,
    company: Company = ALONE,
) -> Trace:
    """Launch a kernel and step through one thread of it.

    The whole grid runs and writes arrays as in any launch; only the thread `at` (block, thread), up to three numbers
    each, is recorded. overrides: what-if, words for registers of that thread right before steps:
    {12: {"R0": 1}}. grid, block, args, shared_mem, limit: as for `RawKernel.__call__`. most: how many steps are kept.
    Registers are R0 to R*n*, P0 to P6 and CC.carry, CC.overflow, CC.sign, CC.zero. `result` is that of the launch.
    company: another lane of the warp instead of the thread's own, and what is changed and kept with it.

    :raises UsageError: there is no such block or thread, or the launch refuses its arguments.
    """
    blocks, threads = three(grid, "grid"), three(block, "block")
    where, which = _place(at[0], blocks, "block"), _place(at[1], threads, "thread")
    number = _number(where, blocks)
    warp, lane = divmod(_number(which, threads), LANES)
    device = function.module.device
    words = device.memory.arena.view("u4")

    def choose(_: int, slot: int, this: int) -> int | None:
        return lane if this == warp and int(words[(slot + BLOCK.NUMBER) // 4]) == number else None

    beside = warp_of(threads, which)
    if not 0 <= lane + company.near < len(beside):
        raise UsageError(f"no thread of the block is {company.near} after this one in its warp")
    shown = (",".join(map(str, one)) for one in (where, beside[lane + company.near]))
    name = "block {}, thread {}".format(*shown)
    listing = listing_of(function.code)
    watch = LaneWatch(
        device.engine, device.memory.arena, listing, choose, name=function.name, lane=name, most=most,
        overrides=overrides, company=company, memory=device.memory,
        named=lambda: [(one.address, one.size, one.name) for one in function.placed() if one.size],
    )  # fmt: skip
    with device.lock, watch.on(device.launcher.record) as handle:
        result: Result = function(
            grid, block, args, shared_mem=shared_mem, limit=limit, watch=lambda code, interpreter: handle
        )
    trace = only(watch.traces, name)
    trace.result = result
    if result.hung and trace.cut == NOT_ENDED:
        trace.hung, trace.cut = True, "the launch hangs; its events say where"
    return trace


def warp_of(block: Sequence[int], thread: Sequence[int]) -> list[Three]:
    """The threads of a block that run in one warp with a thread, itself among them."""
    size = x, y, z = three(block, "block")
    first = _number(_place(thread, size, "thread"), size) // LANES * LANES
    return [(n % x, n // x % y, n // (x * y)) for n in range(first, min(first + LANES, x * y * z))]


def _place(given: Sequence[int], size: Three, what: str) -> Three:
    try:
        numbers = tuple(int(v) for v in (given if isinstance(given, Sequence) else (given,)))
    except (TypeError, ValueError):
        numbers = ()
    if not 1 <= len(numbers) <= 3:
        raise UsageError(f"{given!r} names no {what}", hint="One to three numbers, such as 0,0.")
    x, y, z = (*numbers, 0, 0)[:3]
    if not all(0 <= v < limit for v, limit in zip((x, y, z), size, strict=True)):
        raise UsageError(
            f"there is no {what} {','.join(map(str, numbers))}",
            hint=f"They go from 0,0,0 to {','.join(str(v - 1) for v in size)}.",
        )
    return x, y, z


def _number(place: Three, size: Three) -> int:
    return place[0] + size[0] * (place[1] + size[1] * place[2])


__all__ = ["listing_of", "trace_thread", "warp_of"]
