"""Messages of hostile programs: every service, every command, any words. Each gets an answer."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.guest_messages import BUFFER, Talk

from pocketgpu.facts.services import commands
from pocketgpu.facts.supervisor import CALLS
from pocketgpu.guests.kernel.files import HostFolder
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.n3ds.abi.messages import COMMAND_BUFFER, STATIC_BUFFERS, Session

SEND = next(number for number, one in CALLS.items() if one.name == "SendSyncRequest")
MESSAGES = 4000


def word(pick: random.Random, handles: list[int]) -> int:
    """A word that a program might send: small, a pointer, a descriptor, a handle, or anything."""
    return pick.choice(
        (
            pick.randrange(16), pick.randrange(1 << 32), BUFFER + pick.randrange(1 << 20), 0xFFFFFFFF, 0x7FFFFFFF,
            pick.choice(handles), pick.randrange(0x400) << 14 | 2, pick.randrange(0x4000) << 4 | pick.choice((10, 12)),
            9, 3, 4, 0x300, 0x401, 0x402, 0x406,
        )
    )  # fmt: skip


PATHS = (
    "/", "/notes", "/notes/a.txt", "/../outside.txt", "/leads-out", "/new", "/notes/b", "a" * 300, "/\ud800", "/x\0y"
)  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_any_message_gets_an_answer(seed: int, tmp_path: Path) -> None:
    folder = tmp_path / "card"
    (folder / "notes").mkdir(parents=True)
    (folder / "notes" / "a.txt").write_text("a")
    outside = tmp_path / "outside.txt"
    outside.write_text("untouched")
    (folder / "leads-out").symlink_to(outside)
    pick = random.Random(seed)
    talk = Talk(HostFolder(folder, writable=True), choices={"guest.sound": "model"})
    kernel, thread = talk.kernel, talk.thread
    servers = [*dict.fromkeys([*kernel.services.values(), *kernel.ports.values()])]
    handles = [kernel.handles.add(Session(one)) or 0 for one in servers]
    handles.append(kernel.handles.add(Event(Reset.ONE_SHOT)) or 0)
    headers = [one.header for one in commands()]
    own: dict[str, list[int]] = {}
    for one in commands():
        for name in one.services:
            own.setdefault(name, []).append(one.header)
    answered = 0
    for number in range(MESSAGES):
        if number % 50 == 0:
            for place, path in enumerate(PATHS):
                talk.store(path.encode("utf-16-le", "surrogatepass") + b"\0\0", 0x1000 * place)
            for handle in handles[len(servers) + 1 :]:
                kernel.handles.close(handle)
            del handles[len(servers) + 1 :]
        server = pick.choice(handles)
        session = kernel.handles.get(server)
        name = session.server.name if isinstance(session, Session) else ""
        header = pick.choice(own[name] if name in own and pick.random() < 0.9 else headers)
        words = [header, *(word(pick, handles) for _ in range(16))]
        if pick.random() < 0.5:
            # A path, where most commands of files have theirs.
            for at in range(5, 15, 2):
                words[at], words[at + 1] = 0x400 << 14 | 2, BUFFER + 0x1000 * pick.randrange(len(PATHS))
        kernel.space.set_words(thread.tls + COMMAND_BUFFER, *words)
        for at in (0, 1):
            room = pick.choice((0, 0x40, 0x1000)) << 14 | 2
            kernel.space.set_words(thread.tls + STATIC_BUFFERS + 8 * at, room, word(pick, handles))
        thread.registers = [server, 0, 0, 0, 0, 0, 0, 0]
        thread.answer = {}
        kernel.calls[SEND](thread)
        result = kernel.space.words(thread.tls + COMMAND_BUFFER, 8)
        if thread.answer.get(0) == 0:
            answered += result[1] == 0
            new = [one for one in result[2:8] if one not in handles and kernel.handles.get(one) is not None]
            handles += new[:2]
        kernel.end = None
    assert outside.read_text() == "untouched"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["card", "outside.txt"]
    assert len(kernel.events) < 1000
    assert answered > MESSAGES // 3
