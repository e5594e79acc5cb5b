"""Library applets: what programs hand them, and what they answer by a script."""

from __future__ import annotations

import struct

import pytest
from support.applet_talk import AppletTalk
from support.cmif_client import In, Out, Service

from pocketgpu.guests.input.script import parse
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.host_pages import HostPages
from pocketgpu.guests.kernel.memory import host_memory
from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.kernel.state import State
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.abi.users import USER
from pocketgpu.guests.switch.services.library_applets.storages import MOST_BYTES

CONTROLLER, ERROR, USERS, KEYBOARD = 0x0C, 0x0E, 0x10, 0x11
CANCELLED = 22 << 9 | 128


def config(
    most: int = 0, least: int = 0, forbidden: int = 0, *, check: bool = False, header: str = "", lines: bool = False,
    utf8: bool = False,
) -> bytes:  # fmt: skip
    """What a program wants of the keyboard: the record of libnx's swkbd.h."""
    data = bytearray(0x4C8)
    struct.pack_into("<I", data, 0x1C, forbidden)
    data[0x24 : 0x24 + 2 * len(header)] = header.encode("utf-16-le")
    struct.pack_into("<2I", data, 0x3AC, most, least)
    data[0x3BC], data[0x3BD], data[0x3D0] = lines, utf8, check
    return bytes(data)


def told(talk: AppletTalk) -> list[str]:
    return [one.message for one in talk.kernel.events.drain() if one.id == "guest.applet"]


def typed(text: str | None, data: bytes) -> tuple[int, bytes, list[str]]:
    """How a keyboard is left: its result, the bytes of its text, events."""
    talk = AppletTalk()
    talk.console.answers.append(text)
    keyboard = talk.created(KEYBOARD, data, bytes(0x1000))
    assert keyboard.ask(10).result == 0 and keyboard.ask(30).result == 0
    answer = talk.popped(keyboard)
    assert len(answer) == 0x7D8
    return *struct.unpack_from("<I", answer), answer[4:], told(talk)


def test_a_keyboard_is_answered() -> None:
    talk = AppletTalk()
    talk.console.answers.append("hé")
    keyboard = talk.created(KEYBOARD, config(), bytes(0x1000))
    changed, answers, questions = (talk.event(keyboard, number) for number in (0, 105, 106))
    assert keyboard.ask(1).values("B") == (0,) and keyboard.ask(101).result == Result.NO_DATA
    assert talk.creator.ask(2).values("B") == (0,)
    assert keyboard.ask(10).result == 0
    assert changed.on and answers.on and not questions.on
    assert keyboard.ask(1).values("B") == (1,) and keyboard.ask(120).values("2I") == (KEYBOARD, 0)
    answer = talk.popped(keyboard)
    assert answer == struct.pack("<I", 0) + "hé".encode("utf-16-le").ljust(0x7D4, b"\0")
    assert not answers.on and keyboard.ask(101).result == Result.NO_DATA and keyboard.ask(30).result == 0
    keyboard.close()
    assert talk.applet.library.budget.used == 0 and not told(talk)


def test_a_program_loses_the_focus_meanwhile() -> None:
    talk = AppletTalk()
    talk.console.play(parse('3: text "late"', talk.console.controls))
    state = talk.got(talk.proxy, 0)
    keyboard = talk.created(KEYBOARD, config())
    assert keyboard.ask(10).result == 0 and keyboard.ask(1).values("B") == (0,)
    assert state.ask(9).values("B") == (2,) and state.ask(1).values("I") == (15,)
    assert talk.creator.ask(2).values("B") == (1,)
    for _ in range(3):
        talk.console.vblank(talk.kernel.time.now)
    assert keyboard.ask(1).values("B") == (0,)
    talk.console.vblank(talk.kernel.time.now)
    assert [one.values("B") for one in (keyboard.ask(1), state.ask(9))] == [(1,), (1,)]
    assert state.ask(1).values("I") == (15,)
    assert talk.popped(keyboard)[4:12] == "late".encode("utf-16-le")


@pytest.mark.parametrize(
    ("text", "data", "accepted"),
    [
        ("", config(), True), ("", config(least=1), False), ("abc", config(least=4), False),
        ("abcd", config(least=4), True),
        ("a b", config(forbidden=1 << 1), False), ("a@b", config(forbidden=1 << 2), False),
        ("5%", config(forbidden=1 << 3), False), ("a/b", config(forbidden=1 << 4), False),
        ("a\\b", config(forbidden=1 << 5), False), ("a1", config(forbidden=1 << 6), False),
        ("a%b", config(forbidden=1 << 8), False), ("a b/", config(forbidden=1 << 8), True),
        ("a\nb", config(), False), ("a\nb", config(lines=True), True),
    ],
)  # fmt: skip
def test_texts_that_a_keyboard_accepts(text: str, data: bytes, accepted: bool) -> None:
    result, found, messages = typed(text, data)
    if accepted:
        assert (result, messages) == (0, []) and found.startswith(text.encode("utf-16-le") + b"\0\0")
    else:
        assert (result, found) == (1, bytes(0x7D4))
        assert messages == [f"the keyboard does not accept {text!r}, so it was cancelled"]


def test_texts_are_cut() -> None:
    assert typed("0123456789", config(most=4))[1][:10] == "0123".encode("utf-16-le") + b"\0\0"
    assert typed("\N{GRINNING FACE}" * 2, config(most=3))[1][:6] == "\N{GRINNING FACE}".encode("utf-16-le") + b"\0\0"
    assert typed("x" * 5000, config())[1] == ("x" * 1001).encode("utf-16-le") + b"\0\0"
    assert typed("é" * 1001, config(utf8=True))[1] == ("é" * 1001).encode() + b"\0\0"


def test_a_keyboard_without_an_answer_is_cancelled() -> None:
    assert typed(None, config())[::2] == (1, [])
    talk = AppletTalk()
    keyboard = talk.created(KEYBOARD, config(header="Name?"))
    assert keyboard.ask(10).result == 0
    assert told(talk) == ["the keyboard (Name?) found no answer in the script and was cancelled"]
    assert talk.popped(keyboard)[:4] == struct.pack("<I", 1)


def test_a_program_checks_the_text() -> None:
    talk = AppletTalk()
    talk.console.answers += ["bad", "better", "good"]
    keyboard = talk.created(KEYBOARD, config(check=True))
    talk.push(keyboard, bytes(0x7D8), 103)  # nobody has asked
    questions, changed = talk.event(keyboard, 106), talk.event(keyboard, 0)
    keyboard.ask(10)
    for text, verdict in (("bad", 1), ("better", 3), ("good", 0)):
        assert questions.on and not changed.on
        size, data = struct.unpack("<Q2004s", talk.popped(keyboard, 104))
        assert data[:size] == text.encode("utf-16-le") + b"\0\0"
        said = "too short".encode("utf-16-le") if verdict == 1 else b""
        talk.push(keyboard, struct.pack("<I", verdict) + said.ljust(0x7D4, b"\0"), 103)
    assert changed.on and keyboard.ask(30).result == 0 and talk.popped(keyboard)[4:12] == "good".encode("utf-16-le")
    assert told(talk) == ["the program does not accept the text: too short", "the program does not accept the text"]


def test_the_error_display_is_closed() -> None:
    talk = AppletTalk()
    system = bytes([1]) + bytes(23) + b"It broke.".ljust(0x800, b"\0") + bytes(0x800)
    own = bytes([2, 1]) + bytes(18) + b"No disk.".ljust(0x800, b"\0") + bytes(0x800)
    number = struct.pack("<II I", 2, 0, 77) + bytes(0x1008)
    code = struct.pack("<8xII8x", 2168, 2)
    result = struct.pack("<6xBx8xI4x", 1, 5 << 9 | 153)
    for data in (system, own, number, code, result, b"\3", b""):
        error = talk.created(ERROR, data)
        assert error.ask(10).result == 0 and talk.popped(error) == bytes(2) and error.ask(30).result == 0
    texts = "It broke.", "No disk.", "number 77", "code 2168-0002", "code 2153-0005", "the licence", "code 0000-0000"
    assert told(talk) == [f"the program shows an error: {text}" for text in texts]


def test_users_and_controllers() -> None:
    talk = AppletTalk()
    talk.console.answers += ["Anna", None, "", ""]
    for result, user, may_skip in ((0, USER, 1), (1 << 9 | 124, b"", 1), (0, b"", 1), (0, USER, 0)):
        users = talk.created(USERS, bytes(0x94) + bytes([may_skip]) + bytes(11))
        users.ask(10)
        assert talk.popped(users) == struct.pack("<I4x16s", result, user)
    controller = talk.created(CONTROLLER, bytes(0x14), bytes(0x21C))
    controller.ask(10)
    assert talk.popped(controller) == struct.pack("<b3xII", 1, 0, 0)


def test_queues_of_an_applet_have_an_end() -> None:
    talk = AppletTalk()
    keyboard, one = talk.got(talk.creator, 0, struct.pack("<II", KEYBOARD, 0)), talk.storage(b"x")
    assert [keyboard.ask(100, objects=[one]).result for _ in range(65)] == [0] * 64 + [Result.BAD_STORAGE]
    assert {keyboard.ask(103, objects=[one]).result for _ in range(100)} == {0}
    one.close()
    assert talk.applet.library.budget.used == 1
    keyboard.close()
    assert talk.applet.library.budget.used == 0


def test_other_applets_are_left_at_once() -> None:
    talk = AppletTalk()
    for id in (0x13, 0x99):
        other = talk.created(id, b"data")
        changed = talk.event(other, 0)
        assert other.ask(10).result == 0 and changed.on
        assert other.ask(30).result == CANCELLED and other.ask(101).result == Result.NO_DATA
        assert other.ask(160, bytes(8), pid=True).values("Q") == (0,)
    assert told(talk) == [f"the applet {name} is not modelled and was left at once" for name in ("web", "0x99")]


def calc(changes: int, most: int = -1, *, utf8: bool = True) -> bytes:
    """A command to the keyboard within a picture: the record of libnx's swkbd.h."""
    data = bytearray(0x4A0)
    struct.pack_into("<HxxQ", data, 4, len(data), changes)
    struct.pack_into("<2i", data, 0x40, most, -1)
    data[0x45C] = utf8
    return struct.pack("<I", 0xA) + bytes(data)


def replied(talk: AppletTalk, keyboard: Service) -> list[tuple[int, int, bytes]]:
    """State, type and rest of all that the keyboard says."""
    event, found = talk.event(keyboard, 106), []
    while event.on:
        data = talk.popped(keyboard, 104)
        found.append((*struct.unpack_from("<2I", data), data[8:]))
    return found


def test_a_keyboard_within_the_picture() -> None:
    talk = AppletTalk()
    talk.console.answers += ["h\u00e9llo", "abc"]
    keyboard = talk.created(KEYBOARD, bytes(8), mode=3)
    assert keyboard.ask(60).result == 0 and keyboard.ask(160, bytes(8), pid=True).values("Q") == (0,)
    assert keyboard.ask(10).result == 0 and talk.applet.focus == 1, "the program stays in front"
    assert replied(talk, keyboard) == [(1, 0, b"")]
    talk.push(keyboard, calc(1 << 5), 103)
    assert replied(talk, keyboard) == [], "it has not appeared"
    talk.push(keyboard, calc(1 << 2), 103)
    text = "h\u00e9llo".encode()
    assert replied(talk, keyboard) == [
        (3, 7, text.ljust(0x7D4, b"\0") + struct.pack("<I3i", 5, -1, -1, 5)),
        (4, 9, text.ljust(0x7D4, b"\0") + struct.pack("<I", 5)),
    ]
    talk.push(keyboard, struct.pack("<IB", 0xD, 1), 103)
    talk.push(keyboard, calc(1 << 2, most=2, utf8=False), 103)
    text = "ab".encode("utf-16-le").ljust(0x3EC, b"\0")
    assert replied(talk, keyboard) == [
        (3, 0xD, text + struct.pack("<I3ix", 2, -1, -1, 2)), (4, 5, text + struct.pack("<I", 2)),
    ]  # fmt: skip
    talk.push(keyboard, calc(1 << 2), 103)
    assert replied(talk, keyboard) == [(4, 6, b"")]
    assert told(talk) == ["the inline keyboard found no answer in the script and was cancelled"]
    talk.push(keyboard, struct.pack("<I", 0xC), 103)
    assert replied(talk, keyboard) == [(1, 0xC, b"")]
    assert keyboard.ask(1).values("B") == (0,)
    talk.push(keyboard, struct.pack("<I", 4), 103)
    assert keyboard.ask(1).values("B") == (1,) and keyboard.ask(30).result == 0


def test_a_keyboard_within_the_picture_waits_for_the_script() -> None:
    talk = AppletTalk()
    talk.console.play(parse('2: text "late"\n4: text "later"', talk.console.controls))
    keyboard = talk.created(KEYBOARD, bytes(8), mode=1)
    keyboard.ask(10)
    talk.push(keyboard, calc(1 << 2), 103)
    assert len(replied(talk, keyboard)) == 1
    for _ in range(3):
        talk.console.vblank(talk.kernel.time.now)
    assert [(state, kind) for state, kind, _ in replied(talk, keyboard)] == [(3, 7), (4, 9)]
    talk.push(keyboard, calc(1 << 2), 103)
    talk.push(keyboard, calc(1 << 7), 103)
    for _ in range(3):
        talk.console.vblank(talk.kernel.time.now)
    assert replied(talk, keyboard) == [], "it has gone again"


@pytest.mark.parametrize("command", [20, 25, 1])
def test_a_program_ends_an_applet(command: int) -> None:
    talk = AppletTalk()
    talk.console.play(parse("90: cancel", talk.console.controls))
    keyboard = talk.created(KEYBOARD, config())
    keyboard.ask(10)
    assert (talk.creator if command == 1 else keyboard).ask(command).result == 0
    assert keyboard.ask(30).result == CANCELLED and keyboard.ask(1).values("B") == (1,)
    assert talk.creator.ask(2).values("B") == (0,) and talk.applet.focus == 1
    second = talk.created(KEYBOARD, config())
    second.ask(10)
    second.close()
    assert talk.creator.ask(2).values("B") == (0,)


def test_storages_have_bounds() -> None:
    talk = AppletTalk()
    ask = talk.creator.ask
    for size in (-1, MOST_BYTES + 1, 2**62):
        assert ask(10, struct.pack("<q", size)).result == Result.BAD_STORAGE
    one = talk.got(talk.got(talk.creator, 10, struct.pack("<q", 16)), 0)
    assert one.ask(10, struct.pack("<q", 8), buffers=[In(b"12345678")]).result == 0
    assert one.ask(11, struct.pack("<q", 6), buffers=[Out(4)]).outputs[0] == b"\0\x0012"
    for offset in (-1, 9, 2**62, -(2**63)):
        assert one.ask(10, struct.pack("<q", offset), buffers=[In(b"12345678")]).result == Result.BAD_STORAGE
        assert one.ask(11, struct.pack("<q", offset), buffers=[Out(8)]).result == Result.BAD_STORAGE
    assert one.ask(11, struct.pack("<q", 16)).result == 0 and one.ask(0).values("q") == (16,)
    most = [ask(10, struct.pack("<q", MOST_BYTES // 4), out_objects=1, size=0).result for _ in range(4)]
    assert most == [0, 0, 0, Result.BAD_STORAGE]
    keyboard = talk.got(talk.creator, 0, bytes(8))
    assert keyboard.ask(100).result == keyboard.ask(100, objects=[keyboard]).result == Result.BAD_STORAGE


def test_memory_of_the_program_is_a_storage() -> None:
    talk = AppletTalk()
    block = MemoryBlock("lent", host_memory(0x1000))
    handle = talk.kernel.handles.add(block)
    assert handle is not None

    def made(number: int, data: bytes, *handles: int) -> int:
        return talk.creator.ask(number, data, handles=handles, out_objects=1, size=0).result

    assert made(11, struct.pack("<Qq", 1, 0x1000)) == made(12, bytes(8), talk.process) == Result.INVALID_HANDLE
    assert made(11, struct.pack("<Qq", 1, 0x1001), handle) == Result.BAD_STORAGE
    one = talk.creator.ask(11, struct.pack("<Qq", 1, 0x800), handles=[handle], out_objects=1, size=0).objects[0]
    accessor = talk.got(one, 0)
    assert accessor.ask(0).values("q") == (0x800,)
    assert accessor.ask(10, struct.pack("<q", 4), buffers=[In(b"abc")]).result == 0 and bytes(block.view[4:7]) == b"abc"
    transfer = talk.got(one, 1).ask(1)
    assert transfer.values("q") == (0x800,) and talk.object(transfer.copies[0]) is block
    fixed = talk.creator.ask(12, struct.pack("<q", 0x1000), handles=[handle], out_objects=1, size=0).objects[0]
    assert talk.got(fixed, 0).ask(10, bytes(8), buffers=[In(b"abc")]).result == Result.BAD_STORAGE
    own = talk.storage(b"x")
    assert own.ask(1).result == Result.BAD_STORAGE


def test_applets_may_be_absent() -> None:
    talk = AppletTalk({"guest.applets": "absent"})
    assert talk.creator.ask(0, bytes(8)).result == Result.UNKNOWN_COMMAND
    assert "ILibraryAppletCreator: CreateLibraryApplet is not modelled" in str(next(iter(talk.kernel.events)))


def test_a_checkpoint_keeps_a_keyboard_that_waits() -> None:
    talk = AppletTalk()
    talk.console.play(parse('1: text "later"', talk.console.controls))
    keyboard = talk.created(KEYBOARD, config())
    keyboard.ask(10)
    memory = talk.console.machine.memory
    state = State([talk.console], outside=(talk.console.machine, memory, talk.kernel.processor))
    pages = HostPages(state.views, range(memory.address, memory.address + memory.size))
    for _ in range(2):
        for _ in range(2):
            talk.console.vblank(talk.kernel.time.now)
        assert keyboard.ask(30).result == 0 and talk.popped(keyboard)[4:14] == "later".encode("utf-16-le")
        state.restore()
        pages.restore()
        event = talk.event(keyboard, 0)
        assert isinstance(event, Event) and not event.on and keyboard.ask(101).result == Result.NO_DATA
