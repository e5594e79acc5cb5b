"""A second thread that waits for pixels of draws in native code, while the first one makes them.

Waking a thread that sleeps takes longer than most draws. So a helper thread that has done its part of a large draw, or
that is missed for small ones, runs the kernel `serve`, which watches a word. The walk of a draw (native.py) posts half
of the strips of its shapes there, draws the other half itself, and takes its post back if nobody has begun with it. So
a helper that comes late, or not at all, costs little, and nothing waits for a thread that does not run.

`serve` ends by itself when nothing comes for a while, or when it is asked to.
"""

from __future__ import annotations

from pocketgpu.lanes import I32, I64, Engine, Lang, Value, kernel
from pocketgpu.maxwell.graphics.records import FRAGMENTS
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.struct_words import Struct
from pocketgpu.workers import Workers

_LINE = 16  # words of a cache line: each thread writes lines of its own
CREW = Struct(
    "POST", f"POST_LINE:{_LINE - 1}",  # the number of a job that nobody has begun, 0: none
    "DONE", f"DONE_LINE:{_LINE - 1}",  # the number of the last job that the helper has finished
    "THERE", "PASSED:2", f"THERE_LINE:{_LINE - 3}",  # whether `serve` runs; samples that passed in the last job
    "STOP", "NUMBER", "LATE",  # ask `serve` to end; the last job; whether a job took too long
    # Area of shapes worth a job since the helper was there, and from how much on the walk of a pushbuffer returns to
    # Python, which asks it to come.
    "MISSED", "LIMIT", f"STOP_LINE:{_LINE - 5}",
    "FUNCTION:2", "RASTER", "REGION", "SLOT", "FRAGMENTS", f"JOB_LINE:{_LINE - 6}",  # of the job
)  # fmt: skip
HELP_AREA = 24
"""REGION.AREA of shapes from which a job is worth its costs: with smaller ones two threads take as long as one."""
FEWEST_MISSED, _MOST_MISSED = 1 << 10, 1 << 17
"""Limits of CREW.LIMIT: half a millisecond of work, and some tens."""
_MOST_WAITS = 1 << 18
"""How often a draw looks whether a job is done until it counts as late, about a millisecond: the helper's processor has
other work, too."""
_PATIENCE, _LEAST_PATIENCE = 1 << 18, 1 << 16
"""How often `serve` looks for a job before it ends: for about a millisecond; after it has looked in vain for less, down
to some hundred microseconds."""
_MISSED, _LIMIT, _STOP, _DONE = (at // 4 for at in (CREW.MISSED, CREW.LIMIT, CREW.STOP, CREW.DONE))


def _read(k: Lang, at: Value) -> Value:
    """A word that another thread may have just written."""
    return k.atomic("or", I32, at, 0)


@kernel(lanes=32, crew=I32, patience=I32)
def serve(k: Lang, crew: Value, patience: Value) -> None:
    """Do the jobs of a CREW record until none has come for a while: so many looks."""
    left = k.var(patience)
    k.atomic("xchg", I32, crew + CREW.THERE, 1)
    for _ in k.loop(lambda: left.value > 0):
        left.value = left.value - 1
        number = k.var(k.i32(0))
        for _ in k.when(_read(k, crew + CREW.POST) != 0):
            number.value = k.atomic("xchg", I32, crew + CREW.POST, 0)
        for _ in k.when(number.value != 0):
            of = lambda word: k.load(I32, crew + word)
            fragments = of(CREW.FRAGMENTS)
            # What passed before in this draw, in jobs of Python, is counted there.
            before = k.load(I64, fragments + FRAGMENTS.PASSED)
            k.store(I64, fragments + FRAGMENTS.PASSED, 0)
            k.invoke(
                k.load(I64, crew + CREW.FUNCTION), of(CREW.RASTER), of(CREW.REGION), of(CREW.SLOT), fragments,
                k.i32(1), k.i32(2),
            )  # fmt: skip
            k.store(I64, crew + CREW.PASSED, k.load(I64, fragments + FRAGMENTS.PASSED))
            k.store(I64, fragments + FRAGMENTS.PASSED, before)
            k.atomic("xchg", I32, crew + CREW.DONE, number.value)
            left.value = patience
        for _ in k.when(_read(k, crew + CREW.STOP) != 0):
            left.value = k.i32(0)
    k.atomic("xchg", I32, crew + CREW.THERE, 0)


def is_missed(k: Lang, crew: Value) -> Value:
    """Whether Python should ask the helper to come."""
    return k.load(I32, crew + CREW.MISSED) > k.load(I32, crew + CREW.LIMIT)


def is_there(k: Lang, crew: Value, area: Value) -> Value:
    """Whether there is a helper for shapes that are worth a job; else adds them to what it is missed for."""
    there = k.load(I32, crew + CREW.THERE) != 0
    missed = k.load(I32, crew + CREW.MISSED)
    k.store(I32, crew + CREW.MISSED, k.select(there, 0, missed + area))
    return there


def draw_together(k: Lang, crew: Value, own: tuple[Value, ...], other: tuple[Value, Value], function: Value) -> None:
    """Draw the shapes of a region by two threads.

    own: RASTER, REGION, and the caller's slot and FRAGMENTS. other: the helper's slot and FRAGMENTS. function: handle
    of `raster_shapes`.
    """
    raster, region, _, fragments = own
    number = k.max(k.load(I32, crew + CREW.NUMBER) + 1, 1)
    k.store(I32, crew + CREW.NUMBER, number)
    k.store(I64, crew + CREW.FUNCTION, function)
    for word, value in (
        (CREW.RASTER, raster), (CREW.REGION, region), (CREW.SLOT, other[0]), (CREW.FRAGMENTS, other[1])
    ):  # fmt: skip
        k.store(I32, crew + word, value)
    k.atomic("xchg", I32, crew + CREW.POST, number)
    k.invoke(function, *own, k.i32(0), k.i32(2))
    unclaimed = k.atomic("xchg", I32, crew + CREW.POST, 0) != 0
    for _ in k.when(unclaimed):
        k.invoke(function, *own, k.i32(1), k.i32(2))
    for _ in k.when(~unclaimed):
        waits = k.var(k.i32(0))
        for _ in k.loop(lambda: _read(k, crew + CREW.DONE) != number):
            waits.value = waits.value + 1
            for _ in k.when(waits.value == _MOST_WAITS):
                k.store(I32, crew + CREW.LATE, 1)
                k.atomic("xchg", I32, crew + CREW.STOP, 1)
        passed = k.load(I64, fragments + FRAGMENTS.PASSED) + k.load(I64, crew + CREW.PASSED)
        k.store(I64, fragments + FRAGMENTS.PASSED, passed)


class Crew:
    """The CREW record of a machine, and its helper.

    :param at: offset of the record.
    """

    def __init__(self, memory: GpuMemory, engine: Engine, workers: Workers, at: int) -> None:
        self.memory, self.at, self.engine, self.workers = memory, at, engine, workers
        self._words = memory.words(at, CREW.size // 4).data
        memory.words(at, CREW.size // 4)[:] = 0
        self.able = workers.threads > 1 and engine.evaluator == "llvm"
        """Whether there can be a helper."""
        self._words[_LIMIT] = FEWEST_MISSED
        self._busy = False
        self._jobs, self._patience = -1, _PATIENCE
        if self.able:
            workers.between = self

    def come(self) -> None:
        """Have the helper come if there were draws that it is missed for. It is asked less often while it comes in
        vain or is late, as it is where no processor is free."""
        words = self._words
        if words[_MISSED] <= words[_LIMIT]:
            return
        words[_MISSED] = 0
        jobs, late = words[_DONE], words[CREW.LATE // 4]
        words[CREW.LATE // 4] = 0
        vain = self._busy or late or jobs == self._jobs
        words[_LIMIT] = min(2 * words[_LIMIT], _MOST_MISSED) if vain else FEWEST_MISSED
        if self._busy:
            return  # it was asked, and is not there yet
        self._jobs, self._patience = jobs, _PATIENCE
        self.workers.rouse()

    # -- what the helper does between jobs of Python (`workers.Between`) --------------------------------------------
    def ready(self) -> None:
        self._words[_STOP] = 0
        self._busy = True

    def run(self) -> None:
        words, before = self._words, self._words[_DONE]
        try:
            self.engine.get(serve)(self.at, self._patience)
        finally:
            self._busy = False
        self._patience = _PATIENCE if words[_DONE] != before else max(self._patience // 2, _LEAST_PATIENCE)

    def stop(self) -> None:
        self._words[_STOP] = 1
