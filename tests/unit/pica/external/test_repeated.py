"""Fills and transfers that ran before run in native code: nobody can tell, except by the clock."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from pocketgpu.facts.external import COUNTED_TRAFFIC, EXTERNAL
from pocketgpu.pica.core.layout import MAX_REPEATED, MAX_UNITS_RUN
from pocketgpu.pica.core.observer import Observer
from pocketgpu.pica.n3ds import N3DS

VRAM, RAM = 0x18000000, 0x20000000
SIZE = 0x3000
Writes = list[tuple[int, int]]


def write(machine: N3DS, writes: Writes) -> None:
    addresses, values = zip(*writes, strict=True)
    machine.write_registers(np.array(addresses, np.uint32), np.array(values, np.uint32))


def fill(unit: int, start: int, size: int, value: int, width: int) -> Writes:
    control = EXTERNAL["PSC0_CONTROL"].encode(start=1, width=width)
    words = {"START": start >> 3, "END": (start + size) >> 3, "VALUE": value, "CONTROL": control}
    return [(EXTERNAL[f"PSC{unit}_{name}"].address, word) for name, word in words.items()]


def transfer(source: int, target: int, flags: int = 0, width: int = 32, height: int = 16) -> Writes:
    size = width | height << 16
    words = {
        "INPUT_ADDRESS": source >> 3, "OUTPUT_ADDRESS": target >> 3, "OUTPUT_SIZE": size, "INPUT_SIZE": size,
        "FLAGS": flags, "CONTROL": 1,
    }  # fmt: skip
    return [(EXTERNAL[f"PPF_{name}"].address, word) for name, word in words.items()]


def some_writes(rng: random.Random) -> list[Writes]:
    """Calls with writes that often start the same work again, with other writes between."""
    flags = EXTERNAL["PPF_FLAGS"]
    works = [
        *(fill(rng.randrange(2), VRAM + 0x10 * rng.randrange(64), 0x30 * rng.randrange(1, 40), rng.getrandbits(32),
               rng.randrange(4)) for _ in range(6)),
        *(transfer(VRAM, RAM + 0x1000 * rng.randrange(2), flags.encode(
            flip=rng.randrange(2), output_format=rng.randrange(5), scale=rng.choice((0, 0, 1, 2)))) for _ in range(4)),
        transfer(RAM, VRAM + 0x2000, flags.encode(linear_to_tiled=1)),
        fill(0, 0x10000000, 0x60, 1, 2),  # no memory is there
        fill(1, VRAM, 0, 1, 2),
    ]  # fmt: skip
    other = [
        *((EXTERNAL[f"PDC{unit}_SELECT"].address, rng.getrandbits(32)) for unit in range(2)),
        (EXTERNAL["PSC0_CONTROL"].address, EXTERNAL["PSC0_CONTROL"].encode(finished=1)),
        (EXTERNAL["PPF_CONTROL"].address, 0),
        (EXTERNAL["PDC0_SELECT"].address, 0x70000),
    ]
    calls = []
    for _ in range(25):
        call: Writes = []
        for _ in range(rng.randrange(1, 6)):
            call += rng.choice(works)
            if rng.random() < 0.4:
                call.append(rng.choice(other))
        calls.append(call)
    return calls


def state(machine: N3DS) -> dict[str, Any]:
    """What a program can see."""
    names = [name for name, _ in EXTERNAL.places if name.startswith(("PSC", "PPF", "PDC", "STATUS"))]
    traffic = [f"TRAFFIC_{name}" for name in COUNTED_TRAFFIC]
    return {
        "memory": [machine.memory.read(at, SIZE) for at in (VRAM, RAM)],
        "registers": {name: machine.read_register(EXTERNAL[name].address) for name in [*names, *traffic]},
        "interrupts": machine.take_interrupts(),
        "events": [(event.id, event.count) for event in machine.events],
    }


class Watching(Observer):
    """With an observer nothing runs again by itself."""


def same_as_watched(machine: N3DS, calls: list[Writes]) -> None:
    watched = N3DS()
    watched.observe(Watching())
    for call in calls:
        before = stamped(machine)
        for one in (machine, watched):
            write(one, call)
        assert state(machine) == state(watched)
        for (was, stamp), (now, new_stamp) in zip(before, stamped(machine), strict=True):
            assert was == now or stamp != new_stamp


def stamped(machine: N3DS) -> list[tuple[bytes, int]]:
    """The pages that the work may write, with their versions."""
    pages = [at + page for at in (VRAM, RAM) for page in range(0, SIZE, 0x1000)]
    offsets = [machine.memory.offset_of(page, 0x1000) or 0 for page in pages]
    return [(machine.memory.read(p, 0x1000), machine.memory.newest(o, 1)) for p, o in zip(pages, offsets, strict=True)]


@pytest.mark.parametrize("seed", range(8))
def test_memory_registers_interrupts_and_counters_are_the_same(seed: int) -> None:
    machine, calls = N3DS(), some_writes(random.Random(seed))
    same_as_watched(machine, calls)
    machine.reset()
    same_as_watched(machine, calls)


def test_the_oracle_runs_them_too() -> None:
    same_as_watched(N3DS(evaluator="numpy"), some_writes(random.Random(5))[:6])


def test_more_work_than_the_table_holds_and_than_one_call_runs() -> None:
    fills = [fill(i & 1, VRAM + 0x60 * i, 0x60, i, 2) for i in range(MAX_REPEATED + 5)]
    calls = [[one for work in fills for one in work], fills[-1] * (MAX_UNITS_RUN + 3), fills[0] * 2]
    same_as_watched(N3DS(), calls)


def test_each_start_is_an_interrupt_at_its_moment() -> None:
    """Who listens is told before the next unit starts."""
    machine, seen = N3DS(), []
    clear, paint = fill(0, VRAM, 0x60, 0, 2), fill(1, VRAM, 0x60, 7, 2)
    write(machine, [*clear, *paint])
    write(machine, [*clear, *paint])
    machine.on_interrupt(lambda name, count: seen.append((name, machine.memory.read(VRAM, 4))))
    write(machine, [*clear, *paint])
    assert seen == [("PSC0", bytes(4)), ("PSC1", b"\7\0\0\0")]


def test_the_time_of_each_phase_is_counted() -> None:
    machine = N3DS()
    work = [*fill(0, VRAM, 0x1800, 5, 2), *transfer(VRAM, RAM)]
    write(machine, work)
    machine.stats.reset()
    write(machine, work)
    assert machine.work.control("UNITS_RUN") == 2
    assert machine.stats.seconds["fill"] > 0 and machine.stats.seconds["transfer"] > 0
