"""Special registers: what S2R and CS2R read. Scalars are the same for all lanes; numbers without an entry read as 0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pocketgpu.facts.maxwell.sass import SPECIAL_REGISTERS
from pocketgpu.lanes import I32, Value
from pocketgpu.maxwell.sass.stages.instructions import special_registers as of_stages
from pocketgpu.maxwell.sass.thread_memory.access import WINDOW
from pocketgpu.maxwell.sass.thread_memory.work import BLOCK, LANES, LAUNCH, MAX_THREADS, VECTOR, WARP

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.warp.warp_machine import WarpMachine

_NUMBERS = {name: number for number, name in SPECIAL_REGISTERS.items()}


def special_registers(m: WarpMachine) -> Mapping[int, Callable[[], Value]]:
    """All special registers by number.

    Clocks count the steps of the warp, so that every run has the same time.
    """
    k, p = m.k, m.place
    launch = lambda word: lambda: p.of_launch(word)
    ids = lambda axis: k.load(I32, p.of_launch(LAUNCH.THREAD_IDS) + axis * 4 * MAX_THREADS + p.warp * VECTOR, LANES)
    packed = lambda x, y, z: x | (y << 16) | (z << 26)
    clock = lambda: k.load(I32, p.record + WARP.STEPS)
    lane = k.iota()
    one = k.splat(1)
    named: dict[str, Callable[[], Value]] = {
        "SR_LANEID": lambda: lane,
        "SR_CLOCK": clock,
        "SR_VIRTCFG": lambda: p.of_launch(LAUNCH.WARPS) << 16,
        "SR_VIRTID": lambda: p.warp,
        "SR_TID": lambda: packed(ids(0), ids(1), ids(2)),
        "SR_TID.X": lambda: ids(0),
        "SR_TID.Y": lambda: ids(1),
        "SR_TID.Z": lambda: ids(2),
        "SR_CTAID.X": lambda: p.of_block(BLOCK.X),
        "SR_CTAID.Y": lambda: p.of_block(BLOCK.Y),
        "SR_CTAID.Z": lambda: p.of_block(BLOCK.Z),
        "SR_NTID": lambda: packed(*(p.of_launch(LAUNCH.BLOCK + 4 * n) for n in range(3))),
        "SR_SWINLO": launch(LAUNCH.SHARED_WINDOW),
        "SR_SWINSZ": lambda: k.i32(WINDOW),
        "SR_SMEMSZ": launch(LAUNCH.SMEM_SIZE),
        "SR_LWINLO": launch(LAUNCH.LOCAL_WINDOW),
        "SR_LWINSZ": lambda: k.i32(WINDOW),
        "SR_LMEMLOSZ": launch(LAUNCH.LOCAL_SIZE),
        "SR_EQMASK": lambda: one << lane,
        "SR_LTMASK": lambda: (one << lane) - 1,
        "SR_LEMASK": lambda: ((one << lane) << 1) - 1,
        "SR_GTMASK": lambda: ~(((one << lane) << 1) - 1),
        "SR_GEMASK": lambda: ~((one << lane) - 1),
        "SR_REGALLOC": launch(LAUNCH.REGISTERS),
        "SR_CLOCKLO": clock,
        "SR_GLOBALTIMERLO": clock,
        **of_stages(m),
    }
    return {_NUMBERS[name]: read for name, read in named.items()}


__all__ = ["special_registers"]
