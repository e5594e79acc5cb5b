"""Episodes of random supervisor calls and messages of a program, for both consoles: see tests/fuzz/guest_calls.py.

No instruction is executed: a processor of this file makes the calls. An episode is made from the seed and its number
alone, so a failure names what to run again.
"""

from __future__ import annotations

import itertools
import os
import random
import resource
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.dialect.supervisor import SupervisorCall
from pocketgpu.guests.kernel.console import Console
from pocketgpu.guests.kernel.files import HostFolder
from pocketgpu.guests.kernel.kernel import Kernel
from pocketgpu.guests.kernel.memory import Area
from pocketgpu.guests.kernel.processor import Stop
from pocketgpu.guests.kernel.report import Registers
from pocketgpu.guests.kernel.service import Commands, Session
from pocketgpu.guests.kernel.threads import State, Thread

EPISODE = 400
SLOWEST = 10.0
"""Seconds that no single step may take, on a slow machine too."""
MOST_MEMORY = 3 << 30
"""Bytes that this process may have at most, at any time."""
MOST_ON_DISK = 512 << 20
"""Bytes on the disk of what an episode leaves; files may look larger, as they have holes."""
LARGEST_FILE = 4 << 30
MOST_DUE = 20_000
"""Entries in a timeline: handles are limited, so timers and waits are."""
TIMES = (0, 1, 2, 100, 10**6, 10**9, 10**18, (1 << 63) - 1, -1, -(1 << 63))
PATHS = ("/", "", "/a", "/folder", "/folder/b", "/../secret", "/..", "/folder/../../secret", "/out", "/out/secret",
          "/link", "/loop", "/inside/b", "/.", "//", "/a/", "/a/x", "\\..\\secret", "/\0/secret", "/a\0/../../secret",
          "/new", "/n/n", "/" + "x" * 300, "/" + "y/" * 2000, "/ü", "/\ud800", "/con", "/3ds/app.elf", "*",
          "/folder/*")  # fmt: skip
SECRET = b"what is outside of the card"
UNLISTED = "unlisted"
"""A name beside the card that nobody says: where it turns up, a folder outside was read."""


class Caller:
    """A processor that makes the calls that an episode wants."""

    def __init__(self) -> None:
        self.choose: Callable[[Thread, int], Stop] | None = None

    def run(self, thread: Thread, budget: int, now: int) -> Stop:
        assert self.choose is not None
        thread.answer = {}
        return self.choose(thread, budget)

    def registers(self, thread: Thread) -> Registers | None:
        """It has none."""
        return None

    def start(self, thread: Thread, entry: int, argument: int, stack: int) -> None:
        """Nothing is executed."""

    def mapped(self, area: Area) -> None:
        """Memory is the kernel's."""

    def unmapped(self, base: int, size: int) -> None:
        """Memory is the kernel's."""


def make_card(place: Path) -> None:
    """A folder with what paths lead to, and a secret beside it."""
    (place / "card" / "folder").mkdir(parents=True)
    (place / "card" / "a").write_bytes(bytes(range(256)))
    (place / "card" / "folder" / "b").write_bytes(b"b" * 5000)
    (place / "secret").write_bytes(SECRET)
    (place / UNLISTED).write_bytes(SECRET)
    for name, target in (("out", ".."), ("link", "../secret"), ("loop", "loop"), ("inside", "folder")):
        (place / "card" / name).symlink_to(target)


class Episode:
    """One console, its program, and what that asks for. A console's episodes make it in `begin`, choose calls in
    `any_call`, and have the values below."""

    strict: ClassVar[Mapping[str, str]]
    calls_known: ClassVar[Mapping[int, SupervisorCall]]
    data: ClassVar[int]
    """Where the program's data are, 0x8000 bytes."""
    own: ClassVar[int] = 0xFFFF8000
    odd: ClassVar[Sequence[int]]
    bits: ClassVar[Sequence[int]]
    """Numbers that are often wrong, and sizes of others."""
    console: Console[Any, Any, Any]
    kernel: Kernel

    def __init__(self, seed: int, number: int, place: Path, counts: Counter[str]) -> None:
        self.r = r = random.Random(f"{seed}/{number}")
        self.place, self.counts = place, counts
        make_card(place)
        switches = dict(self.strict) if r.random() < 0.2 else {}
        if r.random() < 0.3:
            switches |= {one: r.choice(CHOICES[one].values) for one in CHOICES if one.startswith("guest.")}
        self.caller = Caller()
        self.caller.choose = self.choose
        self.begin(switches, HostFolder(place / "card", writable=r.random() < 0.6))
        self.calls = [known for number, known in self.calls_known.items() if number in self.kernel.calls]
        self.script = self.opening()
        self.flood = self.favourite() if r.random() < 0.3 else None
        self.noise()

    # -- what a console adds ------------------------------------------------------------------------------------------
    def begin(self, switches: dict[str, str], card: HostFolder) -> None:
        """Make `console` and `kernel`, and load a program."""
        raise NotImplementedError

    def opening(self) -> Iterator[int]:
        """What programs begin with."""
        raise NotImplementedError

    def known_call(self, thread: Thread, known: SupervisorCall) -> int:
        """A call with values that its arguments could have."""
        raise NotImplementedError

    def message(self, thread: Thread, wanted: tuple[str, int] | None = None) -> int:
        """A message to a session: of a command that it has, or of none; whole, or cut. wanted: service and command."""
        raise NotImplementedError

    def special(self, thread: Thread) -> int:
        """A call of the console's own kind."""
        raise NotImplementedError

    def read_by_program(self) -> Iterator[bytes]:
        """Memory that services store files and folders in."""
        return (bytes(area.view) for area in self.kernel.space if area.name in ("data", "heap", "linear memory"))

    def argument(self, name: str) -> int:
        """A value for an argument of a call, by its name."""
        raise NotImplementedError

    # -- calls of all kinds -------------------------------------------------------------------------------------------
    def favourite(self) -> Callable[[Thread], int]:
        """What a hostile program does again and again: a call, or a command of a service."""
        r = self.r
        if r.random() < 0.5:
            known = r.choice(self.calls)
            return lambda thread: self.known_call(thread, known)
        name = r.choice(sorted(self.console.kernel.services))
        server = self.console.kernel.services.get(name)
        command = r.choice(server.commands) if isinstance(server, Commands) else 0
        return lambda thread: self.message(thread, (name, command))

    def any_call(self, thread: Thread, budget: int) -> int | None:
        """The number of any call, whose registers it sets; None to compute until something is due."""
        r = self.r
        kind = r.random()
        if self.flood is not None and kind > 0.2:
            return self.flood(thread)
        kind = r.random()
        if 0.2 < kind < 0.23:
            return self.special(thread)
        if kind < 0.03:
            return None
        if kind < 0.55:
            return self.message(thread)
        if kind < 0.58:
            thread.registers = [self.number() for _ in range(8)]
            return r.choice((r.randrange(256), r.randrange(1 << 24)))
        return self.known_call(thread, r.choice(self.calls))

    def server_name(self, handle: int) -> str:
        """Who is at the other end of a session."""
        session = self.kernel.handles.get(handle)
        return session.server.name if isinstance(session, Session) else ""

    # -- values -------------------------------------------------------------------------------------------------------
    def number(self) -> int:
        r = self.r
        return r.choice(self.odd) if r.random() < 0.5 else r.randrange(1 << r.choice(self.bits))

    def handle(self) -> int:
        r, handles = self.r, self.kernel.handles
        if r.random() < 0.08:
            return r.choice((0, self.own, self.own + 1, self.own + 2, 0xFFFFFFFF, self.number()))
        return r.choice(self.known()) if len(handles) else self.own

    def known(self, kind: str = "") -> Sequence[int]:
        """Handles that there are, perhaps of one kind."""
        handles = self.kernel.handles
        found = [number for number in handles.numbers() if not kind or getattr(handles.get(number), "kind", "") == kind]
        return found or [0]

    def nanoseconds(self) -> int:
        return self.r.choice(TIMES[:6]) if self.r.random() < 0.85 else self.r.choice(TIMES)

    def choose(self, thread: Thread, budget: int) -> Stop:
        """The next call of a thread."""
        number = next(self.script, None)
        if number is None:
            number = self.any_call(thread, budget)
        if number is None:
            return Stop(budget)
        self.counts["calls"] += 1
        return Stop(self.r.choice((1, 10, 100)), number)

    def set_registers(self, thread: Thread, known: SupervisorCall) -> None:
        values = dict(enumerate(self.number() for _ in range(8)))
        for one in known.arguments:
            one.set(values, self.argument(one.name))
        thread.registers = [values[number] for number in range(8)]

    def keep_one_awake(self, thread: Thread, known: SupervisorCall) -> None:
        """A program whose threads all wait forever is at its end; most shall go on."""
        others = [one for one in self.kernel.scheduler.threads if one is not thread and one.state is State.READY]
        if others or self.r.random() < 0.02:
            return
        values = dict(enumerate(thread.registers))
        for one in known.arguments:
            if one.name == "nanoseconds":
                one.set(values, self.r.choice((0, 1, 1000)))
            if one.name == "type":
                one.set(values, self.r.choice((0, 3, 4)))
        thread.registers = [values[number] for number in range(8)]

    def store(self, address: int, data: bytes) -> None:
        """What the program has in its memory, if there is memory."""
        for area in self.kernel.space.within(address, len(data)):
            low, high = max(area.base, address), min(area.end, address + len(data))
            area.view[low - area.base : high - area.base] = data[low - address : high - address]

    def noise(self) -> None:
        self.store(self.data, self.r.randbytes(0x2000))

    # -- what happens -------------------------------------------------------------------------------------------------
    def step(self) -> bool:
        """One step of the kernel; whether the program goes on."""
        if self.r.random() < 0.02:
            self.noise()
        started = time.perf_counter()
        before = self.counts["calls"]
        # Time passes without calls where all threads sleep; each such step is one too.
        going = self.kernel.step()
        took = time.perf_counter() - started
        assert took < SLOWEST, f"a step took {took:.1f} s"
        self.counts["waits" if self.counts["calls"] == before else "made"] += 1
        return going

    def check(self) -> None:
        """Nothing grew beyond its bounds, and nothing outside was touched."""
        kernel = self.kernel
        assert len(kernel.handles) <= kernel.handles.limit
        assert len(kernel.scheduler.threads) <= 128
        assert len(kernel.time) <= MOST_DUE, f"{len(kernel.time)} entries are due"
        assert len(list(kernel.events)) <= 1001 and len(kernel.text) <= 1 << 26
        memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert memory < MOST_MEMORY, f"{memory >> 20} MiB of memory"
        assert (self.place / "secret").read_bytes() == SECRET
        assert sorted(one.name for one in self.place.iterdir()) == ["card", "secret", UNLISTED]
        for found in self.read_by_program():
            assert SECRET not in found, "a file outside was read"
            assert UNLISTED.encode("utf-16-le") not in found, "a folder outside was read"
        blocks = 0
        for folder, _, names in os.walk(self.place / "card"):
            for name in names:
                found = os.lstat(os.path.join(folder, name))
                assert found.st_size <= LARGEST_FILE, f"a file of {found.st_size:#x} bytes"
                blocks += found.st_blocks
        assert 512 * blocks < MOST_ON_DISK, f"{blocks >> 11} MiB on the disk"


def run_episodes(kind: type[Episode], cases: int, seed: int, first: int = 0) -> Counter[str]:
    """Run cases of a kind of episodes, from number `first` on; AssertionError names the one that goes wrong."""
    counts: Counter[str] = Counter()
    for number in itertools.count(first):
        if counts["cases"] >= cases:
            return counts
        with tempfile.TemporaryDirectory() as folder:
            last = ""
            try:
                episode = kind(seed, number, Path(folder), counts)
                for _ in range(min(EPISODE, cases - counts["cases"])):
                    counts["cases"] += 1
                    if not episode.step():
                        break
                thread = episode.kernel.current
                last = f", registers {thread.registers}" if thread else ""
                episode.check()
                counts[f"end: {episode.kernel.end.why}" if episode.kernel.end else "end: none"] += 1
            except Exception as error:
                raise AssertionError(f"seed {seed}, episode {number}: {type(error).__name__}: {error}{last}") from error
            counts["episodes"] += 1
    raise AssertionError("unreachable")
