"""Mutexes and condition variables of the Switch in random order: what must always hold, computed from memory alone."""

from __future__ import annotations

import random

import pytest
from support.cmif_client import Idle

from pocketgpu.guests.kernel.memory import PAGE, Permission
from pocketgpu.guests.kernel.threads import State, Thread, Word
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.pages import Kind
from pocketgpu.guests.switch.calls.locks import WAITERS
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.maxwell.gm20b import GM20B

LOCK, UNLOCK, WAIT_KEY, SIGNAL_KEY, SET_PRIORITY = 0x1A, 0x1B, 0x1C, 0x1D, 0x0D
MUTEXES = [layout.HEAP + 0x10 * n for n in range(3)]
KEYS = [layout.HEAP + 0x100, layout.HEAP + 0x110]
_BOTH = Permission.READ | Permission.WRITE


class Program:
    """Threads that use mutexes as programs do."""

    def __init__(self, seed: int) -> None:
        self.r = random.Random(seed)
        self.kernel = kernel = SwitchKernel(Idle(), GM20B())
        kernel.map_ram("heap", layout.HEAP, PAGE, _BOTH, Kind.HEAP)
        self.threads: dict[int, Thread] = {}
        for _ in range(6):
            one = kernel.make_thread(self.r.randrange(0x1C, 0x30), 0, 0, 0)
            assert one is not None
            handle = kernel.handles.add(one)
            assert handle is not None
            self.threads[handle] = one
        self.waited: dict[str, int] = {}

    def call(self, thread: Thread, number: int, *arguments: int) -> None:
        thread.registers, thread.answer = [*arguments, *[0] * (8 - len(arguments))], {}
        self.kernel.calls[number](thread)

    def owner(self, mutex: int) -> int:
        return self.kernel.space.word(mutex) & ~WAITERS

    def step(self) -> None:
        """One thread that runs does something; or time passes."""
        r, space = self.r, self.kernel.space
        ready = [number for number, one in self.threads.items() if one.state is State.READY]
        kind = r.random()
        if kind < 0.1 or not ready:
            self.kernel.time.pass_ticks(r.choice((10, 5000)))
            while (due := self.kernel.time.take_due()) is not None:
                due.action(due.tick)
            return
        own = r.choice(ready)
        thread, mutex = self.threads[own], r.choice(MUTEXES)
        has = [one for one in MUTEXES if self.owner(one) == own]
        if kind < 0.4:
            word = space.word(mutex)
            if word == 0:
                space.set_words(mutex, own)
            elif self.owner(mutex) != own:
                space.set_words(mutex, word | WAITERS)
                self.call(thread, LOCK, self.owner(mutex), mutex, own)
        elif kind < 0.65 and has:
            mutex = r.choice(has)
            if space.word(mutex) == own:
                space.set_words(mutex, 0)
            else:
                self.call(thread, UNLOCK, mutex)
        elif kind < 0.8 and has:
            self.call(thread, WAIT_KEY, r.choice(has), r.choice(KEYS), own, r.choice((0, 3000, (1 << 64) - 1)))
        elif kind < 0.92:
            self.call(thread, SIGNAL_KEY, r.choice(KEYS), r.choice((1, 2, 0xFFFFFFFF)))
        else:
            self.call(thread, SET_PRIORITY, r.choice(list(self.threads)), r.randrange(0x1C, 0x30))

    def waiting(self, mutex: int) -> list[Thread]:
        """Who waits for a mutex now."""
        return [
            one for one in self.threads.values()
            if one.wait is not None and one.wait.word is Word.MUTEX and one.wait.address == mutex
        ]  # fmt: skip

    def priority(self, number: int, seen: frozenset[int] = frozenset()) -> int:
        """By the words in memory: the best of its own and of all that wait for what it has, and for what they have."""
        if number in seen:
            return 0xFF
        thread = self.threads[number]
        waiting = [one for mutex in MUTEXES if self.owner(mutex) == number for one in self.waiting(mutex)]
        names = {id(one): handle for handle, one in self.threads.items()}
        return min([thread.own_priority, *(self.priority(names[id(one)], seen | {number}) for one in waiting)])

    def circle(self) -> bool:
        """Whether threads wait for each other, so that none of them goes on any more."""
        names = {id(one): handle for handle, one in self.threads.items()}
        for start in self.threads:
            at, steps = start, 0
            while steps <= len(self.threads):
                wait = self.threads[at].wait
                if wait is None or wait.owner is None:
                    break
                at, steps = names[id(wait.owner)], steps + 1
            else:
                return True
        return False


@pytest.mark.parametrize("first", [0, 25])
def test_what_always_holds(first: int) -> None:
    inherited = woken = 0
    for seed in range(first, first + 25):
        program = Program(seed)
        for _ in range(120):
            program.step()
            if program.circle():
                break
            for mutex in MUTEXES:
                word, waiting = program.kernel.space.word(mutex), program.waiting(mutex)
                woken += len(waiting)
                if waiting:
                    assert word & WAITERS and program.owner(mutex) in program.threads, "it is not free"
                    owner = program.threads[program.owner(mutex)]
                    assert all(one.wait is not None and one.wait.owner is owner for one in waiting)
            for number, one in program.threads.items():
                assert one.priority == program.priority(number)
                inherited += one.priority != one.own_priority
    assert inherited > 100 and woken > 500
