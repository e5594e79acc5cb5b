"""What a Switch tells its program and is told by it: applets and applications."""

from __future__ import annotations

import struct

import pytest
from support.applet_talk import Talk

from pocketgpu.facts.switch.services import command_name
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.applet import MOST_MESSAGES
from pocketgpu.guests.switch.services.applet_functions import ApplicationFunctions
from pocketgpu.guests.switch.services.applet_objects import AppletObject, SelfController

EXIT, FOCUS, OPERATION_MODE, PERFORMANCE_MODE = 4, 15, 30, 31
STATE, SELF, WINDOW, AUDIO, FUNCTIONS = 0, 1, 2, 3, 20


@pytest.fixture
def talk() -> Talk:
    return Talk()


def test_messages_are_there_while_their_event_is_on(talk: Talk) -> None:
    state = talk.got(talk.proxy, STATE)
    event = talk.event(state, 0)
    assert not event.on and state.ask(1).result == 0x680
    talk.applet.close()
    talk.applet.open_home(True)
    assert event.on
    assert state.ask(1).values("I") == (EXIT,) and event.on
    assert state.ask(1).values("I") == (FOCUS,) and not event.on
    assert state.ask(1).result == 0x680
    assert state.ask(9).values("B") == (3,)
    talk.applet.open_home(False)
    talk.applet.open_home(False)
    assert state.ask(1).values("I") == (FOCUS,) and not event.on


def test_the_dock(talk: Talk) -> None:
    state, own = talk.got(talk.proxy, STATE), talk.got(talk.proxy, SELF)
    changed = talk.event(state, 61)
    assert state.ask(5).values("B") == (0,) and state.ask(60).values("2i") == (1280, 720)
    talk.applet.set_docked(True)
    assert changed.on and state.ask(1).result == Result.NO_MESSAGES  # nobody wanted to know
    assert state.ask(5).values("B") == (1,) and state.ask(6).values("I") == (1,)
    assert state.ask(60).values("2i") == (1920, 1080)
    for number in (11, 12):
        assert own.ask(number, b"\1").result == 0
    talk.applet.set_docked(True)
    assert state.ask(1).result == Result.NO_MESSAGES  # nothing changed
    talk.applet.set_docked(False)
    assert [state.ask(1).values("I") for _ in range(2)] == [(PERFORMANCE_MODE,), (OPERATION_MODE,)]
    assert state.ask(6).values("I") == (0,) and repr(talk.applet) == "<Applet: handheld, 0 messages>"


def test_messages_that_nobody_takes_do_not_pile_up(talk: Talk) -> None:
    for _ in range(MOST_MESSAGES + 10):
        talk.applet.close()
    assert len(talk.applet.messages) == MOST_MESSAGES


def test_a_program_that_ends_itself(talk: Talk) -> None:
    assert talk.got(talk.proxy, SELF).ask(0).result == 0
    assert talk.kernel.end is not None and talk.kernel.end.well


def test_a_program_that_ends_itself_with_thanks(talk: Talk) -> None:
    assert talk.got(talk.proxy, FUNCTIONS).ask(80).result == 0
    assert talk.kernel.end is not None and talk.kernel.end.well


def test_sections_locks_and_settings(talk: Talk) -> None:
    own = talk.got(talk.proxy, SELF)
    assert [own.ask(number).result for number in (1, 2, 3, 4, 4)] == [0, 0, 0, 0, Result.NO_FATAL_SECTION]
    assert own.ask(62, struct.pack("<I", 3)).result == 0 and own.ask(63).values("I") == (3,)
    assert own.ask(69).values("B") == (0,)
    assert own.ask(68, b"\1").result == 0 and own.ask(69).values("B") == (1,)
    assert own.ask(13, b"\1\0\1").result == 0 and own.ask(65).result == 0
    assert own.ask(90).values("Q") == (0,)
    assert not talk.event(own, 91).on and talk.event(own, 9).on
    assert talk.applet.settings["SetAutoSleepDisabled"] == 1


def test_sleep_which_never_comes(talk: Talk) -> None:
    state = talk.got(talk.proxy, STATE)
    event = talk.event(state, 13)
    assert [state.ask(number).result for number in (3, 4)] == [0, 0] and not event.on
    assert state.ask(10).result == 0 and event.on
    assert state.ask(11).result == 0 and not event.on
    assert state.ask(10).result == 0 and state.ask(12).result == 0 and not event.on
    assert state.ask(14).values("Q") == (0,)


def test_small_questions_about_the_console(talk: Talk) -> None:
    state, own = talk.got(talk.proxy, STATE), talk.got(talk.proxy, SELF)
    assert [state.ask(number).values("B") for number in (8, 50, 55, 300)] == [(0,), (0,), (0,), (1,)]
    assert own.ask(67).values("B") == (0,) and not talk.event(state, 63).on
    assert state.ask(66, struct.pack("<I", 1)).result == 0 and talk.applet.settings["SetCpuBoostMode"] == 1
    assert state.ask(67).result == 0 and talk.applet.settings["SetCpuBoostMode"] == 0
    assert state.ask(90, b"\1").result == state.ask(100, b"\1").result == 0


@pytest.mark.parametrize(("kind", "number"), [(SelfController, SELF), (ApplicationFunctions, FUNCTIONS)])
def test_what_a_program_sets_is_kept(talk: Talk, kind: type[AppletObject], number: int) -> None:
    service = talk.got(talk.proxy, number)
    for command, format in kind.formats.items():
        assert service.ask(command, struct.pack(f"<{format}", 3).ljust(8, b"\xff")).result == 0
        assert talk.applet.settings[command_name(kind.name, command)] == 3


def test_layers_have_ids_of_the_display(talk: Talk) -> None:
    own = talk.got(talk.proxy, SELF)
    (first,) = own.ask(40).values("Q")
    second, third = own.ask(44).values("2Q")
    assert len({first, second, third}) == 3
    assert {first, second, third} == set(talk.console.display.layers)


def test_the_window_belongs_to_the_process(talk: Talk) -> None:
    window = talk.got(talk.proxy, WINDOW)
    assert window.ask(1).values("Q") == (talk.kernel.process_id,)
    assert [window.ask(number).result for number in (10, 11)] == [0, 0]


def test_volumes(talk: Talk) -> None:
    audio = talk.got(talk.proxy, AUDIO)
    assert [audio.ask(number).values("f") for number in (1, 2)] == [(1.0,), (1.0,)]
    assert audio.ask(0, struct.pack("<2f", 0.5, 0.25)).result == 0
    assert [audio.ask(number).values("f") for number in (1, 2)] == [(0.5,), (0.25,)]
    assert audio.ask(3, struct.pack("<f4xQ", 0.75, 10**9)).result == 0 and audio.ask(1).values("f") == (0.75,)
    assert audio.ask(4, struct.pack("<f", 0.5)).result == 0


def test_what_an_application_asks(talk: Talk) -> None:
    functions = talk.got(talk.proxy, FUNCTIONS)
    assert functions.ask(40).values("B") == (1,)
    assert functions.ask(21).data == b"en-US\0\0\0"
    assert functions.ask(1, struct.pack("<I", 2)).result == 0x480  # no user was chosen before
    assert functions.ask(123).values("i") == (-1,) and functions.ask(65).values("B") == (0,)
    assert [functions.ask(number, bytes(8)).result for number in (22, 30, 31, 32, 33, 60, 66, 67, 90, 131)] == [0] * 10
    assert not any(talk.event(functions, number).on for number in (130, 140, 150, 160))


def test_the_others_an_application_has(talk: Talk) -> None:
    winding, creator = talk.got(talk.proxy, 10), talk.got(talk.proxy, 11)
    assert winding.ask(0).data == bytes(4)
    assert creator.ask(2).values("B") == (0,) and creator.ask(1).result == 0
    talk.got(talk.proxy, 4)
    assert talk.got(talk.proxy, 1000).ask(0).result == Result.UNKNOWN_COMMAND
    told = " ".join(str(one) for one in talk.kernel.events.drain())
    assert "IDebugFunctions: NotifyMessageToHomeMenuForDebug" in told


@pytest.mark.parametrize(
    ("number", "objects"),
    [(100, (20, 21, 22, 23)), (110, (20,)), (200, (20,)), (201, (20, 21, 22, 23)), (300, (20, 21, 23)), (350, (20,))],
)
def test_other_proxies(number: int, objects: tuple[int, ...]) -> None:
    talk = Talk("appletAE", number)
    for one in (*objects, 0, 1, 2, 3, 4, 10, 11, 1000):
        talk.got(talk.proxy, one)


def test_what_a_library_applet_asks() -> None:
    talk = Talk("appletAE", 201)
    own, common, home = (talk.got(talk.proxy, number) for number in (20, 21, 22))
    assert own.ask(11).values("2I") == (0x0F, 0)
    assert own.ask(0).result == own.ask(2).result == own.ask(20).result == 0x480
    assert common.ask(51).values("B") == (0,)
    assert common.ask(50, b"\1").result == 0 and common.ask(51).values("B") == (1,)
    assert home.ask(20).result == 0x480 and not talk.event(home, 21).on
    assert own.ask(10).result == 0
    assert talk.kernel.end is not None and talk.kernel.end.well


def test_a_proxy_is_for_a_process(talk: Talk) -> None:
    assert talk.root.ask(0, bytes(8), pid=True).result == Result.INVALID_HANDLE
    handle = talk.kernel.handles.add(talk.applet.message_event)
    assert handle is not None
    assert talk.root.ask(0, bytes(8), pid=True, handles=[handle]).result == Result.INVALID_HANDLE
