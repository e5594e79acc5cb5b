"""Random GX commands, queue states and service calls: none may crash the host, run forever or write where no guest
memory is.

    python tests/fuzz/gsp.py --cases 100000 --seed 1

Cases come in episodes of 200 on one machine, because states build on each other. An episode is made from the seed and
its number alone, so a failure names what to run again (--first N --cases 200).
"""

from __future__ import annotations

import random
import struct
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.gsp import BUSY, GX_COMMANDS, GX_QUEUE, INTERRUPT_QUEUE, RESULTS, SHARED_SIZE
from pocketgpu.pica.n3ds import N3DS

EPISODE = 200
SLOWEST = 20.0
"""Seconds that no single case may take, on a slow machine too."""

_BASES = (0x1F000000, 0x1F100000, 0x1F5FFFC0, 0x1F600000, 0x14000000, 0x1BFFFFF0, 0x30000000, 0x30010000, 0x37FFFFE0,
          0x3FFFFFF0, 0x1FF00000, 0x1FF7FFF8, 0x1E800000, 0x00100000, 0x18000000, 0x20000000, 0xFFFFFFF8)  # fmt: skip
_LISTS = 0x30020000
_SIZES = (0, 1, 8, 16, 24, 64, 100, 256, 1000, 4096, 65536, 0x00800000, 0x08000000, 0xFFFFFFF8)
# Of display transfers: each combination of formats is compiled once, so the common ones come back.
_FLAGS = (0, 1, 2, 3, 4, 5, 8, 0xC, 0x20, 0x22, 0x1000, 0x1001, 0x1001000, 0x2000000, 0x2003, 0x10000, 0x3000000)


def _number(r: random.Random) -> int:
    kind = r.random()
    if kind < 0.4:
        return r.choice((0, 1, 2, 7, 8, 0x80, 0xFF, 0x100, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF))
    return r.randrange(1 << r.choice((4, 8, 12, 16, 24, 32)))


def _address(r: random.Random) -> int:
    kind = r.random()
    if kind < 0.5:
        return r.choice((0x1F000000, 0x1F200000, 0x30010000, 0x14040000)) + 8 * r.randrange(512)
    if kind < 0.75:
        return (r.choice(_BASES) + 8 * r.randrange(-2, 40)) & 0xFFFFFFFF
    if kind < 0.85:
        return (r.choice(_BASES) + r.randrange(-20, 20)) & 0xFFFFFFFF
    return 0 if kind < 0.9 else _number(r)


def _size(r: random.Random) -> int:
    return r.choice(_SIZES[:11]) if r.random() < 0.9 else r.choice(_SIZES) if r.random() < 0.5 else _number(r)


def _pair(r: random.Random) -> int:
    side = lambda: r.choice((0, 1, 8, 8, 16, 24, 32, 64, 240, 400)) if r.random() < 0.93 else r.randrange(1 << 16)  # noqa: E731
    return side() | side() << 16


def gx_words(r: random.Random) -> list[int]:
    """A GX command: mostly one that makes sense in parts."""
    if r.random() < 0.05:
        return [_number(r) for _ in range(8)]
    number = r.choice((0, 1, 2, 2, 3, 3, 4, 4, 5, 6, 0xFF)) if r.random() < 0.9 else r.randrange(6)
    first = number | r.choice((0x100, 0x01000100, 0x01000100, 0x00010100, 0)) | (r.randrange(256) << 8)
    if number >= len(GX_COMMANDS):
        return [first, *(_number(r) for _ in range(7))]
    makers: dict[str, Callable[[], int]] = {
        "address": lambda: _address(r), "size": lambda: _size(r), "end": lambda: _address(r),
        "value": lambda: _number(r),
        "pair": lambda: _pair(r), "flags": lambda: r.choice(_FLAGS), "unused": lambda: r.choice((0, 0, 0, _number(r))),
    }  # fmt: skip
    words = [first, *(makers[word.kind]() for word in GX_COMMANDS[number].words)]
    if number == 1 and r.random() < 0.7:
        words[1], words[2] = _LISTS + 64 * r.randrange(8), r.choice((16, 32, 48, 64))
    if number == 2:
        for unit in range(2):
            if r.random() < 0.7:
                words[3 + 3 * unit] = (words[1 + 3 * unit] + _size(r)) & 0xFFFFFFFF
        words[7] = r.choice((0x201, 0x2010201, 0x1010101, 0x3010001, 0, _number(r)))
    if number == 4 and r.random() < 0.7:
        words[6] |= 8
    return words


def prepare(gpu: N3DS, r: random.Random) -> None:
    """Short lists where commands of these cases look for them, none of which draws; and some noise to move around."""
    lists = [
        [0x12345678, 0xF0010] * 8,
        [r.getrandbits(32), 0xF00C3, 0x12345678, 0xF0010] * 4,
        [0x78, 0x10010, 0, 0xF0010] * 4,  # a quarter of the request matches
        [8, 0xF0238, (0x20020000 + 3 * 64) >> 3, 0xF023A, 1, 0xF023C] * 2,  # jumps to itself
        [r.getrandbits(32), 0x80F00040 | r.randrange(256) << 20] * 8,
        [0, 0xF0034, *[0x12345678, 0xF0010] * 7],  # fires again and again
        [r.getrandbits(32) & 0xFF0FFFFF for _ in range(16)],
        [0] * 16,
    ]
    for number, words in enumerate(lists):
        words = (words + [0] * 16)[:16]
        gpu.memory.write(0x20020000 + 64 * number, struct.pack("<16I", *words))
    gpu.memory.write(0x18000000, r.randbytes(4096))
    gpu.memory.write(0x20010000, r.randbytes(4096))


class Episode:
    """One machine and what happens to it."""

    def __init__(self, seed: int, number: int, counts: Counter[str]) -> None:
        self.r = r = random.Random(f"{seed}/{number}")
        names = [name for name in CHOICES if name.startswith("gsp.")]
        chosen = {name: r.choice(CHOICES[name].values) for name in names} if r.random() < 0.5 else {}
        self.gpu = N3DS(switches=chosen)
        self.gsp = self.gpu.gsp
        self.counts = counts
        prepare(self.gpu, r)
        self.gsp.register_interrupt_relay_queue()
        if r.random() < 0.8:
            self.gsp.acquire_right(0)

    def client(self) -> int | None:
        return self.r.choice((None, None, 0, 0, 1, 2, 3, 4, -1, 99))

    # -- what can happen ----------------------------------------------------------------------------------------------
    def command(self) -> None:
        version = self.gpu.memory.version
        code = self.gsp.gx(gx_words(self.r), recorded=self.r.random() < 0.1)
        assert code in RESULTS and code != 0x2A07
        self.counts[f"refused: {RESULTS[code].name}" if code else "ran"] += 1
        if code == BUSY.value and self.r.random() < 0.5:
            self.gpu.write_register(EXTERNAL["PPF_CONTROL"].address, 0)  # or a unit that hung would end the episode
        assert not code or self.gpu.memory.version == version, "a refused command wrote memory"

    def queue(self) -> None:
        queue = self.gsp.shared.commands(self.r.randrange(4))
        if queue.stopped and self.r.random() < 0.7:
            queue.resume()
        if queue["index"] >= 15:
            queue["index"] = 0
        for _ in range(self.r.randrange(1, 17)):
            queue.submit(gx_words(self.r))
        self.trigger()

    def trigger(self) -> None:
        client = self.r.choice((None, 0, 1, 2, 3))
        result = self.gsp.trigger_cmd_req_queue(client)
        self.counts["triggers"] += 1
        number = (self.gsp.clients.holder or 0) if client is None else client
        queue = self.gsp.shared.commands(number)
        assert result or not queue["count"] or queue.stopped

    def corrupt(self) -> None:
        data, r = self.gsp.shared.data, self.r
        for _ in range(r.randrange(1, 12)):
            if r.random() < 0.7:
                layout = r.choice((GX_QUEUE, INTERRUPT_QUEUE))
                at = layout.start(r.randrange(4)) + r.randrange(12)
            else:
                at = r.randrange(SHARED_SIZE)
            data[at] = r.choice((0, 1, 2, 0xE, 0xF, 0x33, 0x34, 0x80, 0xFF, r.randrange(256)))
        self.counts["corruptions"] += 1
        self.trigger()

    def present(self) -> None:
        r = self.r
        entry = [r.choice((0, 1, _number(r))), _address(r), _address(r), _size(r), _number(r), r.choice((0, 1)), 0]
        info = self.gsp.shared.framebuffer(r.randrange(4), r.randrange(2))
        info.present(entry)
        self.gpu.step_vblank()
        holder = self.gsp.clients.holder
        if holder is not None and self.gpu.choices["gsp.swap_time"] == "vblank":
            assert self.gsp.shared.framebuffer(holder, 0)["flag"] & 1 == 0

    def call(self) -> None:
        r, gsp, client = self.r, self.gsp, self.client()
        offset = r.choice((0x400000, 0x400400, 0x400C00, 0x401000, 0x202000, 0x420000)) + 4 * r.randrange(-2, 64)
        offset = offset if r.random() < 0.9 else _number(r)
        # Drawing is for other tests: the 3D core's registers are only read here.
        if 0x401040 <= offset < 0x402000:
            offset -= 0x1000
        data = r.randbytes(r.choice((0, 4, 4, 8, 16, 0x80, 0x81, 0x84, 3)))
        calls: list[Callable[[], int | None]] = [
            lambda: gsp.write_hw_regs(offset, data, client=client),
            lambda: gsp.write_hw_regs_with_mask(offset, data, r.randbytes(len(data)), client=client),
            lambda: gsp.write_hw_reg_repeat(offset, data, client=client),
            lambda: gsp.read_hw_regs(offset, _size(r) & 0xFFFF, client=client).result,
            lambda: gsp.set_buffer_swap(r.randrange(4), [_address(r) for _ in range(7)], client=client),
            lambda: gsp.set_lcd_force_black(r.random() < 0.5),
            lambda: gsp.flush_data_cache(_address(r), _size(r)),
            lambda: gsp.import_display_capture_info().result,
            lambda: gsp.set_internal_priorities(_number(r), r.randrange(64)),
            lambda: gsp.register_interrupt_relay_queue(r.randrange(4)).result,
            lambda: gsp.unregister_interrupt_relay_queue(r.randrange(5)),
            lambda: gsp.acquire_right(r.randrange(5)),
            lambda: gsp.try_acquire_right(r.randrange(5)),
            lambda: gsp.release_right(r.randrange(5)),
            lambda: gsp.reset_gpu_core(client=client),
        ]
        result = r.choice(calls)()
        self.counts["calls"] += 1
        assert result is None or result in RESULTS
        holder = gsp.clients.holder
        assert holder is None or holder in gsp.clients.registered

    def drain(self) -> None:
        self.gsp.shared.interrupts(self.r.randrange(4)).drain()
        self.gpu.take_interrupts()
        if self.r.random() < 0.1:
            assert self.gpu.screens["top"].array.shape[0] == 240

    def step(self) -> None:
        happenings = (self.command, self.queue, self.corrupt, self.present, self.call, self.drain)
        happening = self.r.choices(happenings, (50, 15, 12, 6, 12, 5))[0]
        started = time.perf_counter()
        happening()
        assert time.perf_counter() - started < SLOWEST, f"{happening.__name__} takes too long"
        assert len(self.gsp.shared.data) == SHARED_SIZE

    def check_memory(self) -> None:
        """What lies between the regions of guest memory is as empty as it was."""
        memory = self.gpu.memory
        spans = sorted((offset, offset + region.size) for region, offset in memory.regions)
        start = 0
        for low, high in [*spans, (memory.work_offset, memory.work_offset)]:
            assert not memory.arena[start:low].any(), f"bytes before arena offset {low:#x} were written"
            start = high
        assert len(self.gpu.events) <= 1001


def run(cases: int, seed: int, first: int = 0, report: Callable[[Counter[str]], None] | None = None) -> Counter[str]:
    """Run `cases` cases from episode `first` on; AssertionError names the episode in which something goes wrong."""
    counts: Counter[str] = Counter()
    number = first
    while counts["cases"] < cases:
        episode = Episode(seed, number, counts)
        try:
            for _ in range(min(EPISODE, cases - counts["cases"])):
                episode.step()
                counts["cases"] += 1
            episode.check_memory()
        except Exception as error:
            raise AssertionError(f"seed {seed}, episode {number}: {type(error).__name__}: {error}") from error
        number += 1
        if report is not None and number % 25 == 0:
            report(counts)
    return counts


if __name__ == "__main__":
    from support.fuzz import command

    command(__doc__, run, "commands and queue states", lambda c: print(dict(c), flush=True))
