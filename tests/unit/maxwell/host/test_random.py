"""Pushbuffers that nobody would write: nothing crashes, nothing runs on forever, both evaluators agree."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from support.channels import BUFFER, DATA, entry, header, load_macro

from pocketgpu.facts.maxwell import CLASSES
from pocketgpu.maxwell.gm20b import GM20B

SIZE = 1 << 16
KINDS = ("warning", "fault", "hang")


def packets(rng: random.Random, count: int) -> list[int]:
    """Words that are mostly packets of methods that exist, with macros, and some noise."""
    words: list[int] = []
    known = {number: [m.word + m.stride * (m.count - 1) for m in block] for number, block in CLASSES.items()}
    subchannels = (0xB197, 0xB1C0, 0xA140, 0x902D, 0xB0B5)
    for _ in range(count):
        kind = rng.random()
        if kind < 0.1:
            words.append(rng.getrandbits(32))
        elif kind < 0.15:
            code = [rng.getrandbits(32) & ~8 for _ in range(rng.randrange(1, 20))]
            words += load_macro(rng.randrange(8), code, rng.randrange(64))
        else:
            subchannel = rng.randrange(5)
            word = rng.choice(known[subchannels[subchannel]]) if rng.random() < 0.7 else rng.randrange(0x40, 0xF00)
            size = rng.randrange(6)
            words.append(header(rng.choice((1, 3, 4, 5)), word, size, subchannel))
            words += [rng.choice((rng.getrandbits(32), rng.randrange(64), DATA >> 32)) for _ in range(size)]
    return words


def machine(evaluator: str = "llvm", bare: bool = False) -> GM20B:
    gpu = GM20B(evaluator=evaluator)
    if bare:
        gpu.engine_classes = {}
    gpu.macro_budget = 2000
    gpu.map(BUFFER, SIZE)
    gpu.map(DATA, SIZE)
    return gpu


def feed(gpu: GM20B, rng: random.Random, words: list[int]) -> None:
    """Submit words in a few segments, on two channels."""
    data = np.array(words[: SIZE // 4], np.uint32)
    gpu.memory.write(BUFFER, data)
    cuts = sorted(rng.randrange(len(data) + 1) for _ in range(3))
    bounds = [0, *cuts, len(data)]
    for number, (start, end) in enumerate(pairwise(bounds)):
        if end > start:
            gpu.submit([entry(BUFFER + 4 * start, end - start)], channel=number % 2)
    gpu.finish()


@pytest.mark.parametrize("part", range(4))
def test_random_packets(part: int) -> None:
    for seed in range(60):
        rng = random.Random(1000 * part + seed)
        gpu = machine()
        feed(gpu, rng, packets(rng, 60))
        assert all(event.kind in KINDS for event in gpu.events)
        assert all(channel.idle for channel in gpu.channels.values())


def test_random_words() -> None:
    gpu = machine()
    for seed in range(300):
        rng = random.Random(seed)
        feed(gpu, rng, [rng.getrandbits(32) for _ in range(300)])
    assert "channel.illegal_header" in {event.id for event in gpu.events}


def test_random_entries() -> None:
    gpu = machine()
    rng = random.Random(3)
    gpu.memory.write(BUFFER, np.array(packets(rng, 500)[: SIZE // 4], np.uint32))
    for _ in range(300):
        low = rng.choice((rng.getrandbits(64), BUFFER + rng.randrange(SIZE) | rng.randrange(4000) << 42))
        gpu.submit([low, low ^ 1 << rng.randrange(64)], channel=rng.randrange(3))
    gpu.finish()
    assert {event.id for event in gpu.events} >= {"channel.unmapped_pushbuffer"}


@pytest.mark.parametrize("seed", range(25))
def test_both_evaluators_agree(seed: int) -> None:
    found = []
    for evaluator in ("llvm", "numpy"):
        rng = random.Random(seed)
        gpu = machine(evaluator, bare=True)
        gpu.macro_budget = 200
        feed(gpu, rng, packets(rng, 25))
        states = [
            (channel.files.tobytes(), channel.shadows.tobytes(), channel.mme_code.tobytes(), channel.state.tobytes())
            for channel in gpu.channels.values()
        ]
        counts = {name: value for name, value in vars(gpu.stats).items() if name != "seconds"}
        found.append((states, counts, gpu.memory.read(DATA, SIZE), list(gpu.events)))
    assert found[0] == found[1]
