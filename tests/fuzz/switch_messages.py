"""Random messages to services of a Switch: each gets an answer or a result of the kernel, in bounded time and memory.

    python tests/fuzz/switch_messages.py --cases 100000 --seed 1

A case is a message. Cases come in episodes of at most 400 on one console, because states build on each other: sessions,
domains, files, layers. Most messages are as libnx builds them, with arguments by chance; some of these are damaged; a
few are noise. An episode is made from the seed and its number alone (--first N --cases 400 runs it again).
"""

from __future__ import annotations

import itertools
import random
import resource
import struct
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from support.audren_client import VoiceIn, Wishes, open_renderer, parameters, wave
from support.cmif_client import MEMORY, MEMORY_SIZE, CmifClient, Idle, In, Out, Service

from pocketgpu.facts.choices.guests import STRICT_SWITCH
from pocketgpu.guests.kernel.files import HostFolder
from pocketgpu.guests.kernel.service import Session
from pocketgpu.guests.switch.abi.cmif import Interface
from pocketgpu.guests.switch.abi.sessions import Domain, ServiceSession, handle_message
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.maxwell.gm20b import GM20B

EPISODE = 400
SLOWEST = 10.0
"""Seconds that no single message may take, on a slow machine too."""
MOST_MEMORY = 6 << 30
_ODD = (
    0, 1, 2, 3, 4, 7, 8, 0x10, 0x40, 0xFF, 0x100, 0xFFF, 0x1000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF
)  # fmt: skip
_TEXTS = (
    b"/\0", b"/a\0", b"/folder\0", b"/folder/b\0", b"/../secret\0", b"/folder/../../secret\0", b"/" + b"x" * 0x300, b"",
    b"/dev/nvmap\0", b"/dev/nvhost-ctrl\0", b"/dev/nvhost-ctrl-gpu\0", b"/dev/nvhost-as-gpu\0", b"/dev/nvhost-gpu\0",
    b"Default\0", b"\xff\xfe\0", b"/\0/secret",
)  # fmt: skip
_KINDS = ("auto", "auto", "pointer", "map")
_SECRET = b"what is outside of the card"


class Episode:
    """One console and its program's messages."""

    def __init__(self, seed: int, number: int, place: Path, counts: Counter[str]) -> None:
        self.r = r = random.Random(f"{seed}/{number}")
        self.place, self.counts = place, counts
        (place / "card" / "folder").mkdir(parents=True)
        (place / "card" / "a").write_bytes(bytes(range(256)))
        (place / "card" / "folder" / "b").write_bytes(b"b" * 5000)
        (place / "secret").write_bytes(_SECRET)
        switches = dict(STRICT_SWITCH) if r.random() < 0.3 else {}
        card = HostFolder(place / "card", writable=r.random() < 0.6)
        self.console = SwitchConsole(Idle(), GM20B(switches=switches), card)
        self.kernel = self.console.kernel
        self.client = CmifClient(kernel=self.kernel)
        self.services: list[Service] = [self.client.open_port("sm:")]
        for name in sorted(self.kernel.services):
            service = self.client.service(name)
            if name in ("appletOE", "appletAE", "fsp-srv") or r.random() < 0.1:
                service = service.to_domain()
            self.services.append(service)
        self.voices = r.choice((1, 2, 8))
        self.often: list[Service] = []
        """Services that are asked more often than by chance."""
        if r.random() < 0.5:
            manager = self.client.service("audren:u")
            self.often.append(open_renderer(self.client, manager, parameters(self.voices)))
            self.services += self.often
        if r.random() < 0.5:
            self.open_applets()
        self.console.answers += r.choice(([], ["text", None, "", "a\nb" * 3000]))

    def open_applets(self) -> None:
        """What creates library applets, an applet and a storage."""
        def got(one: Service, number: int, data: bytes, *handles: int) -> Service:
            reply = one.ask(number, data, handles=handles, pid=bool(handles), out_objects=1, size=0)
            return reply.objects[0]

        proxy = got(self.client.service("appletOE").to_domain(), 0, bytes(8), self.client.process)
        creator = got(proxy, 11, b"")
        applets = [got(creator, 0, struct.pack("<II", self.r.randrange(0x0A, 0x14), self.r.choice((0, 3))))]
        storages = [got(creator, 10, struct.pack("<q", size)) for size in (0, 0x20, 0x4C8, 0x1018)]
        self.services += [creator, *applets, *storages]
        self.often += [creator, *applets * 3, *storages]

    # -- what is sent -----------------------------------------------------------------------------------------------
    def number(self) -> int:
        r = self.r
        return r.choice(_ODD) if r.random() < 0.6 else r.randrange(1 << r.choice((4, 8, 16, 32)))

    def data(self) -> bytes:
        """Arguments: small numbers, texts, noise."""
        r = self.r
        if r.random() < 0.1:
            return r.choice(_TEXTS)[:0x40].ljust(0x40, b"\0")
        return b"".join(struct.pack("<I", self.number()) for _ in range(r.choice((0, 0, 1, 2, 2, 3, 4, 6, 12))))

    def buffers(self) -> list[In | Out]:
        r = self.r
        found: list[In | Out] = []
        for _ in range(r.choice((0, 0, 0, 1, 1, 2, 3))):
            if r.random() < 0.5:
                data = r.choice(_TEXTS) if r.random() < 0.5 else self.data() + r.randbytes(r.choice((0, 8, 40, 300)))
                found.append(In(data, r.choice((*_KINDS, "exchange"))))
            else:
                found.append(Out(r.choice((0, 1, 8, 0x40, 0x100, 0x310, 0x1000)), r.choice((*_KINDS, "fixed"))))
        return found

    def update(self) -> list[In | Out]:
        """Buffers of an update for a sound renderer: wave buffers and memory by chance, some of it damaged."""
        r, wishes = self.r, Wishes(self.voices)
        for number in range(self.voices):
            places = [MEMORY + r.choice((0, 0x10000, self.number())) for _ in range(4)]
            waves = [wave(place, self.number() & 0xFFFF, loops=r.random() < 0.2) for place in places]
            wishes.voices[number] = VoiceIn(
                waves[: r.randrange(5)], r.random() < 0.3, r.random() < 0.8, r.choice((0, 0, 1, 2, 9)),
                r.choice((2, 2, 6, 0)), self.number(), r.choice((1, 2, 6)), r.choice((1.0, 0.5, -1.0, 1e20)),
            )  # fmt: skip
            wishes.pools[number] = (MEMORY + r.choice((0, 0x1000, 8)), r.choice((0x1000, 0x100000, 0)), r.randrange(8))
        data = bytearray(bytes(wishes))
        if r.random() < 0.3:
            for _ in range(r.choice((1, 1, 8))):
                data[r.randrange(len(data))] = r.randrange(256)
        return [Out(wishes.room), Out(0), In(bytes(data))]

    def interface(self, service: Service) -> Interface | None:
        """Who answers."""
        session = self.kernel.handles.get(service.handle)
        server = session.server if isinstance(session, Session) else None
        if isinstance(server, Domain):
            return server.objects.get(service.id)
        return server if isinstance(server, Interface) else None

    def message(self, service: Service) -> bytes:
        """A message to a service, mostly with a command that it has."""
        r, found = self.r, self.interface(service)
        if r.random() < 0.02:
            return r.randbytes(0x100)
        if r.random() < 0.04:
            words = r.randrange(16)
            head = struct.pack("<2I", r.choice((5, 7, 2, 15, 16, 17, 1, 3, 0, 40)), words)
            return head + struct.pack("<8x4I", 0x49434653, 0, r.randrange(6), 0) + self.data()
        commands = found.commands if found is not None and r.random() < 0.95 else (r.randrange(300),)
        handles = [r.choice((self.client.process, r.choice(self.kernel.handles.numbers()), 0, self.number()))]
        objects = [one for one in self.services if one.handle == service.handle and one.id]
        objects = r.sample(objects, min(len(objects), r.choice((0, 1))))
        number, buffers = r.choice(commands or (0,)), self.buffers()
        if found is not None and found.name == "IAudioRenderer" and r.random() < 0.7:
            number, buffers = r.choice((10, 10, 5)), self.update()
        try:
            made = self.client.request(
                service, number, self.data(), buffers, handles[: r.choice((0, 1, 1))],
                objects if service.id else [], r.random() < 0.5, r.choice((0, 0, 0, 1)),
            )  # fmt: skip
        except AssertionError:  # it does not fit
            return r.randbytes(0x100)
        if r.random() < 0.1:
            damaged = bytearray(made)
            for _ in range(r.choice((1, 1, 4))):
                damaged[r.randrange(len(damaged))] = r.randrange(256)
            made = bytes(damaged)
        return made

    # -- what happens -----------------------------------------------------------------------------------------------
    def step(self) -> bool:
        """One message; whether the program goes on."""
        r, client, kernel = self.r, self.client, self.kernel
        service = r.choice(self.services[-20:] if r.random() < 0.5 else self.services)
        if self.often and r.random() < 0.2:
            service = r.choice(self.often)
        message = self.message(service)
        thread = client.thread
        kernel.space.write(thread.tls, message.ljust(0x100, b"\0")[:0x100])
        session = kernel.handles.get(service.handle)
        if not isinstance(session, ServiceSession):
            self.services = [one for one in self.services if one is not service]
            self.often = [one for one in self.often if one is not service]
            return bool(self.services)
        thread.answer = {}
        started = time.perf_counter()
        result = handle_message(kernel, thread, session)
        took = time.perf_counter() - started
        assert took < SLOWEST, f"a message took {took:.1f} s"
        self.counts["refused by the kernel" if result else "answered" if result == 0 else "waits"] += 1
        assert result is None or 0 <= result < 1 << 32
        if thread.wait is not None:
            kernel.resume(thread, None)
        self.take_objects(service)
        if r.random() < 0.05:
            kernel.time.pass_ticks(r.randrange(1 << 24))
            while (due := kernel.time.take_due()) is not None:
                due.action(due.tick)
            self.console.vblank(kernel.time.now)
        if r.random() < 0.02 and len(self.services) > 3:
            closed = r.choice(self.services[3:])
            if isinstance(kernel.handles.get(closed.handle), ServiceSession):
                closed.close()
        kernel.end = None
        return True

    def take_objects(self, service: Service) -> None:
        """Objects that the answer has given are asked from then on."""
        known = {(one.handle, one.id) for one in self.services}
        for handle in self.kernel.handles.numbers()[-2:]:
            if isinstance(self.kernel.handles.get(handle), ServiceSession) and (handle, 0) not in known:
                self.services.append(Service(self.client, handle, 0, service.pointer_size))
        session = self.kernel.handles.get(service.handle)
        if isinstance(session, Session) and isinstance(session.server, Domain):
            for id in list(session.server.objects)[-2:]:
                if (service.handle, id) not in known:
                    self.services.append(Service(self.client, service.handle, id, service.pointer_size))

    def check(self) -> None:
        """Nothing grew beyond its bounds, and nothing outside was touched."""
        kernel = self.kernel
        assert len(kernel.handles) <= kernel.handles.limit
        assert len(list(kernel.events)) <= 1001
        memory = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert memory < MOST_MEMORY, f"{memory >> 20} MiB of memory"
        assert (self.place / "secret").read_bytes() == _SECRET
        assert sorted(one.name for one in self.place.iterdir()) == ["card", "secret"]
        assert _SECRET not in kernel.space.read(MEMORY, MEMORY_SIZE), "a file outside was read"


def run(cases: int, seed: int, first: int = 0) -> Counter[str]:
    """Run `cases` cases from episode `first` on; AssertionError names the episode in which something goes wrong."""
    counts: Counter[str] = Counter()
    for number in itertools.count(first):
        if counts["cases"] >= cases:
            return counts
        with tempfile.TemporaryDirectory() as folder:
            try:
                episode = Episode(seed, number, Path(folder), counts)
                for _ in range(min(EPISODE, cases - counts["cases"])):
                    counts["cases"] += 1
                    if not episode.step():
                        break
                episode.check()
            except Exception as error:
                raise AssertionError(f"seed {seed}, episode {number}: {type(error).__name__}: {error}") from error
            counts["episodes"] += 1
    raise AssertionError("unreachable")


if __name__ == "__main__":
    from support.fuzz import command

    command(__doc__, run, "messages")
