"""Running a program whose code is made in parts: the part that has the instruction to go on at runs, and so on."""

from __future__ import annotations

from pocketgpu.lanes import I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH, MOST_PARTS, READY, WARP, WARPS


@kernel(lanes=32, launch=I32, slot=I32, warp=I32)
def run_in_parts(k: Lang, launch: Value, slot: Value, warp: Value) -> None:
    """Run a warp until it ends, waits or has had its turn. The launch record has the parts."""
    of = lambda word: k.load(I32, launch + word)
    record = slot + WARPS + warp * of(LAUNCH.WARP_STRIDE)

    def part() -> Value:
        """The part that the warp goes on in."""
        at = k.select(k.load(I32, record + WARP.STARTED) != 0, k.load(I32, record + WARP.RESUME), of(LAUNCH.START))
        firsts = k.load(I32, launch + LAUNCH.PART_FIRST, MOST_PARTS)
        return k.max(k.popcount(k.ballot(firsts <= at)) - 1, 0)

    end = k.load(I64, record + WARP.STEPS) + k.to_i64(of(LAUNCH.SLICE))
    here, again = k.var(part()), k.var(True)
    for _ in k.loop(lambda: again.value):
        k.invoke(k.load(I64, launch + LAUNCH.PART + (here.value << 3)), launch, slot, warp)
        following = part()
        ready = k.load(I32, record + WARP.STATE) == READY
        # The same part again: its turn is over.
        again.value = ready & (following != here.value) & (k.load(I64, record + WARP.STEPS) < end)
        here.value = following


__all__ = ["run_in_parts"]
