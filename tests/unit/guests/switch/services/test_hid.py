"""hid's shared memory and commands; what real programs found there, from recorded conversations."""

from __future__ import annotations

import json
import lzma
import struct

import pytest
from support import recordings
from support.switch_requests import Asker

from pocketgpu.facts.switch.hid import BUTTONS, ENTRIES, HID, SHARED_SIZE, Style, place
from pocketgpu.guests.input.player import Player
from pocketgpu.guests.input.script import parse
from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.switch.controls import CONTROLS, input_of
from pocketgpu.guests.switch.services.hid import Hid
from pocketgpu.guests.switch.services.hid_input import Input

TALKS = recordings.folder() / "guests" / "switch" / "conversations"
NAMES = sorted(path.name for path in TALKS.glob("*.xz"))
PAD = place("shared_memory", "npads")


def made(**choices: str) -> tuple[Asker, Hid]:
    asker = Asker({f"guest.{name}": value for name, value in choices.items()})
    return asker, Hid(asker.kernel)


def word(hid: Hid, at: int) -> int:
    found: int = struct.unpack_from("<I", hid.block.view, at)[0]
    return found


def newest(hid: Hid, at: int, record: str) -> bytes:
    """The newest entry of a ring, after checks that its two numbers agree."""
    size, tail, count = struct.unpack_from("<QQQ", hid.block.view, at + 8)
    assert size == ENTRIES and tail < ENTRIES and count < ENTRIES
    length = 8 + HID.size(record)
    entry = bytes(hid.block.view[at + 32 + tail * length :][:length])
    number = entry[:8]
    assert entry[8:16] == number or entry[16:24] == number
    return entry[8:]


@pytest.mark.skipif(not NAMES, reason=recordings.REASON)
@pytest.mark.parametrize("name", NAMES)
def test_memory_is_as_in_the_conversations(name: str) -> None:
    _, hid = made(pads="few")
    wanted, before = bytearray(SHARED_SIZE), bytes(SHARED_SIZE)
    told = 0
    with lzma.open(TALKS / name, "rt") as file:
        lines = [json.loads(line) for line in file if '"ev":"shared"' in line]
    for line in lines:
        if line["after"] == "present":
            before = bytes(hid.block.view)
            hid.update(Input(line["buttons"]))
        for at, data in line["wr"]:
            wanted[int(at, 16) : int(at, 16) + len(data) // 2] = bytes.fromhex(data)
        assert bytes(hid.block.view) == wanted, line["s"]
        told += 1
        assert bytes(hid.block.view) != before
    assert told > 3


@pytest.mark.parametrize(
    ("controller", "style", "number", "ring", "assignment"),
    [("pro", Style.FULL_KEY, 0, "full_key", 0), ("handheld", Style.HANDHELD, 8, "handheld", 0),
     ("pair", Style.JOY_DUAL, 0, "joy_dual", 0), ("left", Style.JOY_LEFT, 0, "joy_left", 1),
     ("right", Style.JOY_RIGHT, 0, "joy_right", 1)],
)  # fmt: skip
def test_each_controller_has_its_place(
    controller: str, style: Style, number: int, ring: str, assignment: int
) -> None:
    _, hid = made(controller=controller)
    hid.update(Input(BUTTONS["A"], left=(-300, 400), right=(5, -6)))
    at = PAD + number * 0x5000
    assert (word(hid, at), word(hid, at + 4)) == (style, assignment)
    state = newest(hid, at + place("npad", ring), "pad_state")
    assert struct.unpack("<QQiiii", state[:32])[1:] == (BUTTONS["A"], -300, 400, 5, -6)
    assert struct.unpack_from("<I", state, 32)[0] & 1, "connected"
    others = [n for n in range(10) if n != number]
    assert {word(hid, PAD + n * 0x5000) for n in others} == {0}


def test_only_entries_that_were_written_are_valid() -> None:
    _, hid = made()
    counts = []
    for _ in range(20):
        counts.append(word(hid, PAD + 0x28 + 0x18))
        hid.update(Input())
    assert counts == [*range(1, 17), 16, 16, 16, 16]


def test_touches() -> None:
    _, hid = made()
    at = place("shared_memory", "touch")
    seen = []
    for touches in (((0, 10, 20),), ((0, 11, 20), (1, 700, 5)), ()):
        hid.update(Input(touches=touches))
        state = newest(hid, at, "touch_state")
        (count,) = struct.unpack_from("<i", state, 8)
        seen.append([struct.unpack_from("<IIII", state, 0x18 + 0x28 * n) for n in range(count)])
    assert seen == [[(1, 0, 10, 20)], [(0, 0, 11, 20), (1, 1, 700, 5)], []]


def test_motion_is_told_while_a_sensor_is_on() -> None:
    asker, hid = made(controller="pair")
    sensors = [PAD + place("npad", name) for name in ("six_axis_dual_left", "six_axis_dual_right")]
    hid.update(Input())
    assert [word(hid, at + 0x18) for at in sensors] == [0, 0]
    asker.ask(hid, 66, "<IIQ", 0x10005, 0, 1)
    hid.update(Input(acceleration=(0.5, 0, -1), rotation=(0, 0.25, 0)))
    assert [word(hid, at + 0x18) for at in sensors] == [0, 1]
    assert struct.unpack_from("<6f", newest(hid, sensors[1], "six_axis_state"), 16) == (0.5, 0, -1, 0, 0.25, 0)
    assert asker.ask(hid, 82, "<I", 0).data == b"\0"
    asker.ask(hid, 67, "<IIQ", 0x10005, 0, 1)
    hid.update(Input())
    assert word(hid, sensors[1] + 0x18) == 1 and asker.ask(hid, 82, "<I", 0).data == b"\1"


def test_a_controller_is_there_if_the_program_takes_it() -> None:
    asker, hid = made()
    (event,) = asker.ask(hid, 106, "<IIQQ", 0, 0, 1, 0).copies
    assert isinstance(event, Event)
    states = []
    for command, format, values, data in (
        (100, "<II", (int(Style.HANDHELD), 0), b""), (100, "<II", (int(Style.FULL_KEY), 0), b""),
        (102, "<Q", (1,), struct.pack("<II", 1, 0x20)), (102, "<Q", (1,), struct.pack("<I", 0)),
        (107, "<IIQ", (0, 0, 1), b""), (109, "<II", (3, 0), b""),
    ):  # fmt: skip
        event.on = False
        assert asker.ask(hid, command, format, *values, inputs=[data] if data else []).result == 0
        states.append((word(hid, PAD), event.on))
    assert states == [(0, True), (1, True), (0, True), (1, True), (0, True), (1, True)]
    assert asker.ask(hid, 106, "<I", 77).result != 0
    assert asker.ask(hid, 101).data == struct.pack("<I", Style.FULL_KEY)


def test_nobody_holds_a_console_in_its_dock() -> None:
    _, hid = made(controller="handheld", mode="docked")
    at = PAD + 8 * 0x5000
    styles = []
    for docked in (True, False, True):
        hid.docked = docked
        hid.update(Input())
        styles.append(word(hid, at))
    assert styles == [0, Style.HANDHELD, 0]
    _, hid = made(controller="pro", mode="docked")
    assert word(hid, PAD) == Style.FULL_KEY


def test_what_was_set_is_told() -> None:
    asker, hid = made()
    for setting, format, values, asking, wanted in (
        (120, "<QQ", (1, 1), 121, struct.pack("<Q", 1)), (128, "<QQ", (1, 2), 129, struct.pack("<Q", 2)),
        (1000, "<QQ", (1, 3), 1001, struct.pack("<Q", 3)), (69, "<BxxxI", (0, 5), 68, b"\0"),
        (79, "<II", (5, 2), 80, struct.pack("<I", 2)), (81, "<I", (5,), 80, struct.pack("<I", 1)),
    ):  # fmt: skip
        assert asker.ask(hid, setting, format, *values).result == 0
        assert asker.ask(hid, asking).data == wanted
    assert asker.ask(hid, 200, "<I", 0x10005).data == struct.pack("<II", 1, 2)
    assert [asker.ask(hid, 108, "<I", n).data[0] for n in (0, 1, 9)] == [1, 3, 0]
    (motors,) = asker.ask(hid, 203).objects
    assert asker.ask(motors, 0, "<I", 3).result == 0


def test_scripts_become_input() -> None:
    text = """0: A+SL
0-1: touch 5,6
1: touch2 1279,719
1: left_stick 1,-0.5
2: rotation 360,0,-180
3: docked"""
    player = Player(CONTROLS)
    player.add(parse(text, CONTROLS))
    frames = [input_of(player.at(n)) for n in range(3)]
    assert frames[0].buttons == BUTTONS["A"] | BUTTONS["LEFT_SL"] | BUTTONS["RIGHT_SL"]
    assert frames[0].touches == ((0, 5, 6),) and frames[1].touches == ((0, 5, 6), (1, 1279, 719))
    assert frames[1].left == (32767, -16384) and frames[1].pad == 1 << 18 | 1 << 19
    assert frames[2].rotation == (1, 0, -0.5)
    assert player.at(3).once == [("docked", ())]
