"""sm:, apm, settings and clocks of the Switch, as a program asks them."""

from __future__ import annotations

import struct

import pytest
from support.cmif_client import CmifClient, Idle, In, Out, Service

from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.files import MemoryFiles
from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.kernel.timeline import START_DATE
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.guests.switch.services.times import LATEST, SOURCE
from pocketgpu.maxwell.gm20b import GM20B


class Talk(CmifClient):
    """A program that talks to the services of a whole console."""

    def __init__(self, choices: dict[str, str] | None = None) -> None:
        self.console = SwitchConsole(Idle(), GM20B(switches=choices), MemoryFiles({}))
        super().__init__(kernel=self.console.kernel)


@pytest.fixture
def talk() -> Talk:
    return Talk()


# -- sm: --------------------------------------------------------------------------------------------------------------
def test_a_service_by_both_protocols(talk: Talk) -> None:
    assert talk.service("time:u").ask(0, out_objects=1).result == 0
    manager = talk.open_port("sm:")
    assert manager.tipc(0, bytes(8), pid=True).result == 0
    reply = manager.tipc(1, b"time:u\0\0", out_objects=1)
    assert reply.objects[0].ask(0, out_objects=1).result == 0
    assert manager.tipc(4, bytes(8), pid=True).result == 0
    assert manager.ask(1, b"appletOEmore", out_objects=1).result == 0  # a name has 8 bytes


@pytest.mark.parametrize("tipc", [False, True])
def test_absent_services_are_refused(talk: Talk, tipc: bool) -> None:
    manager = talk.open_port("sm:")
    ask = manager.tipc if tipc else manager.ask
    assert ask(1, b"bsd:u\0\0\0").result == 0xE15
    assert ask(1, b"\xff\xfe\0").result == 0xE15
    assert ask(1, bytes(8)).result == Result.BAD_SERVICE_NAME
    events = [str(one) for one in talk.kernel.events.drain()]
    assert any("the service bsd:u is absent here" in one for one in events) and len(events) == 2


def test_services_that_a_program_offers_itself(talk: Talk) -> None:
    """Its threads find them; see sessions.c. Names are few, and services of the console stay what they are."""
    manager = talk.open_port("sm:")
    wanted = struct.pack("<8sII", b"mine", 0, 3)
    assert manager.ask(2, wanted).result == Result.OK
    assert manager.ask(2, wanted).result == Result.ALREADY_REGISTERED
    for name, light, most, result in (
        (b"", 0, 1, Result.BAD_SERVICE_NAME), (b"hid", 0, 1, Result.ALREADY_REGISTERED),
        (b"other", 1, 1, Result.OUT_OF_RANGE), (b"other", 0, 0, Result.OUT_OF_RANGE),
    ):  # fmt: skip
        assert manager.ask(2, struct.pack("<8sII", name, light, most)).result == result
    results = [manager.ask(2, struct.pack("<8sII", b"s%d" % n, 0, 1)).result for n in range(70)]
    assert results.count(Result.OUT_OF_SERVICES) == 7
    assert manager.ask(3, b"mine\0\0\0\0").result == Result.OK
    assert manager.ask(3, b"mine\0\0\0\0").result == Result.NOT_REGISTERED
    assert manager.ask(3, b"hid\0\0\0\0\0").result == Result.NOT_REGISTERED


# -- apm --------------------------------------------------------------------------------------------------------------
def test_performance(talk: Talk) -> None:
    apm = talk.service("apm")
    assert apm.ask(1).values("I") == (0,)
    talk.console.applet.set_docked(True)
    assert apm.ask(1).values("I") == (1,)
    session = apm.ask(0, out_objects=1).objects[0]
    assert session.ask(1, struct.pack("<i", 1)).values("I") == (0x00010001,)
    assert session.ask(0, struct.pack("<iI", 1, 0x00010002)).result == 0
    assert session.ask(1, struct.pack("<i", 1)).values("I") == (0x00010002,)
    for bad in (-1, 2):
        assert session.ask(1, struct.pack("<i", bad)).result == Result.BAD_PERFORMANCE_MODE
        assert session.ask(0, struct.pack("<iI", bad, 0)).result == Result.BAD_PERFORMANCE_MODE


# -- settings ---------------------------------------------------------------------------------------------------------
def test_languages(talk: Talk) -> None:
    settings = talk.service("set")
    assert settings.ask(0).data == b"en-US\0\0\0"
    assert settings.ask(2, struct.pack("<i", 3)).data == b"de\0\0\0\0\0\0"
    assert settings.ask(2, struct.pack("<i", 18)).result == Result.BAD_LANGUAGE
    assert [settings.ask(n).values("i") for n in (3, 6)] == [(15,), (18,)]
    reply = settings.ask(1, buffers=[Out(8 * 40, "pointer")])
    assert reply.values("i") == (15,) and reply.outputs[0][8 * 14 : 8 * 16] == b"es-419\0\0".ljust(16, b"\0")
    reply = settings.ask(5, buffers=[Out(8 * 18, "map")])
    assert reply.values("i") == (18,) and reply.outputs[0].endswith(b"pt-BR\0\0\0")
    few = settings.ask(5, buffers=[Out(20, "map")])
    assert few.values("i") == (2,) and few.outputs[0] == b"ja".ljust(8, b"\0") + b"en-US".ljust(12, b"\0")
    assert settings.ask(5).values("i") == (0,)
    assert settings.ask(4).values("I") == (1,) and settings.ask(8).values("B") == (0,)
    assert settings.ask(11, buffers=[Out(0x80, "map")]).outputs[0].startswith(b"pocketgpu\0")


@pytest.mark.parametrize("number", [3, 4])
def test_the_version_of_the_system(talk: Talk, number: int) -> None:
    (version,) = talk.service("set:sys").ask(number, buffers=[Out(0x100, "fixed")]).outputs
    assert tuple(version[:3]) == (17, 0, 0)
    assert version[0x68:0x80].rstrip(b"\0") == b"17.0.0" and version[8:10] == b"NX"


def test_small_questions_about_the_system(talk: Talk) -> None:
    system = talk.service("set:sys")
    assert system.ask(23).values("I") == (0,) and system.ask(62).values("B") == (0,)
    assert system.ask(68).data == bytes(0x18)
    assert system.ask(77, buffers=[Out(0x80, "map")]).outputs[0].startswith(b"pocketgpu\0")


# -- clocks -----------------------------------------------------------------------------------------------------------
def shown(view: memoryview, at: int, size: int) -> bytes:
    """The value of an object in the clocks' memory, as a program reads it."""
    counter = int.from_bytes(view[at : at + 4], "little")
    place = at + 8 + (counter & 1) * size
    return bytes(view[place : place + size])


def memory(talk: Talk) -> memoryview:
    block = talk.object(talk.service("time:u").ask(20).copies[0])
    assert isinstance(block, MemoryBlock)
    return block.view


def time_by_memory(talk: Talk, at: int = 0x38) -> int:
    """What libnx makes of the memory: the steady clock, and what is added to it."""
    view = memory(talk)
    base, source = struct.unpack("<q16s", shown(view, 0, 0x18))
    offset, _, other = struct.unpack("<qq16s", shown(view, at, 0x20))
    assert source == other
    return offset + (base + talk.kernel.counter * 625 // 12) // 10**9


def test_the_date_at_which_a_program_starts(talk: Talk) -> None:
    assert time_by_memory(talk) == time_by_memory(talk, 0x80) == START_DATE
    talk.kernel.time.pass_ticks(90 * layout.CLOCK)
    assert time_by_memory(talk) == START_DATE + 90
    for number in (0, 1, 4):
        clock = talk.service("time:u").ask(number, out_objects=1).objects[0]
        assert clock.ask(0).values("q") == (START_DATE + 90,)
    steady = talk.service("time:u").ask(2, out_objects=1).objects[0]
    assert steady.ask(0).values("q16s") == (91, SOURCE) and steady.ask(200).values("q") == (0,)
    assert steady.ask(2).values("q") == (0,)


def test_the_trial_kernels_clock_is_all_zeros() -> None:
    talk = Talk({"guest.date": "zero"})
    assert bytes(memory(talk)) == bytes(0x1000)
    assert talk.service("time:u").ask(4, out_objects=1).objects[0].ask(0).values("q") == (1,)


def clock_of(talk: Talk, service: str, number: int) -> Service:
    return talk.service(service).ask(number, out_objects=1).objects[0]


def test_who_may_set_which_clock(talk: Talk) -> None:
    new = struct.pack("<q", START_DATE + 1000)
    may = {
        (name, number): clock_of(talk, name, number).ask(1, new).result == 0
        for name in ("time:u", "time:a", "time:s") for number in (0, 1, 4)
    }  # fmt: skip
    assert [key for key, value in may.items() if value] == [
        ("time:a", 0), ("time:s", 0), ("time:s", 1), ("time:s", 4)
    ]  # fmt: skip
    assert clock_of(talk, "time:u", 0).ask(1, new).result == Result.MAY_NOT_SET_TIME


def test_a_clock_that_is_set(talk: Talk) -> None:
    local = clock_of(talk, "time:s", 4)
    event = talk.object(local.ask(4).copies[0])
    assert isinstance(event, Event)
    event.on = False
    assert local.ask(1, struct.pack("<q", 12345)).result == 0
    assert talk.kernel.wait(talk.thread, [event], lambda thread, index: None)
    assert time_by_memory(talk) == 12345 and time_by_memory(talk, 0x80) == START_DATE
    context = local.ask(2).data[:0x20]
    assert struct.unpack("<qq16s", context) == (12345 - 1, 1, SOURCE)
    base = talk.service("time:u").ask(300, context)
    assert base.values("q") == (12344,)
    assert talk.service("time:u").ask(300, bytes(0x20)).result == Result.OTHER_CLOCK
    network = clock_of(talk, "time:s", 1)
    assert network.ask(3, context).result == 0
    assert time_by_memory(talk, 0x80) == 12345
    assert network.ask(3, struct.pack("<qq16s", 1 << 62, 0, SOURCE)).result == Result.BAD_TIME
    assert clock_of(talk, "time:u", 1).ask(3, context).result == Result.MAY_NOT_SET_TIME


@pytest.mark.parametrize(("seconds", "kept"), [(-5, 0), (1 << 62, LATEST)])
def test_a_clock_stays_within_what_dates_can_show(talk: Talk, seconds: int, kept: int) -> None:
    local = clock_of(talk, "time:s", 4)
    assert local.ask(1, struct.pack("<q", seconds)).result == 0
    assert local.ask(0).values("q") == (kept,)
    assert "Clocks" in repr(talk.console.clocks)


def test_the_users_clock_may_be_the_networks(talk: Talk) -> None:
    service = talk.service("time:a")
    assert service.ask(100).values("B") == (0,)
    assert service.ask(101, b"\1").result == 0
    assert service.ask(100).values("B") == (1,)
    assert talk.service("time:u").ask(101, b"\0").result == Result.MAY_NOT_SET_TIME
    clock_of(talk, "time:s", 1).ask(1, struct.pack("<q", 5000))
    assert clock_of(talk, "time:a", 0).ask(0).values("q") == (5000,)
    assert service.ask(200).values("B") == (1,)


# -- dates ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("seconds", "date", "weekday", "day"),
    [
        (0, (1970, 1, 1, 0, 0, 0), 4, 0), (START_DATE, (2026, 1, 1, 0, 0, 0), 4, 0),
        (951_827_696, (2000, 2, 29, 12, 34, 56), 2, 59), (1_735_689_599, (2024, 12, 31, 23, 59, 59), 2, 365),
        (LATEST, (9999, 12, 31, 23, 59, 59), 5, 364),
    ],
)  # fmt: skip
def test_dates_in_utc(talk: Talk, seconds: int, date: tuple[int, ...], weekday: int, day: int) -> None:
    zone = clock_of(talk, "time:u", 3)
    found = zone.ask(101, struct.pack("<q", seconds))
    assert found.values("H5B") == date
    assert struct.unpack_from("<2I8sIi", found.data, 8) == (weekday, day, b"UTC".ljust(8, b"\0"), 0, 0)
    back = zone.ask(202, found.data[:8], buffers=[Out(16, "pointer")])
    assert back.values("I") == (1,) and struct.unpack_from("<q", back.outputs[0]) == (seconds,)
    (rule,) = zone.ask(4, b"UTC".ljust(0x24, b"\0"), buffers=[Out(0x4000, "map")]).outputs
    assert zone.ask(100, struct.pack("<q", seconds), buffers=[In(rule, "map")]).data == found.data
    back = zone.ask(201, found.data[:8], buffers=[In(rule, "map"), Out(16, "pointer")])
    assert struct.unpack_from("<q", back.outputs[0]) == (seconds,)


def test_zones_that_are_not_there(talk: Talk) -> None:
    zone = clock_of(talk, "time:u", 3)
    assert zone.ask(0).data == b"UTC".ljust(0x24, b"\0") and zone.ask(2).values("I") == (1,)
    reply = zone.ask(3, bytes(4), buffers=[Out(0x50, "map")])
    assert reply.values("I") == (1,) and reply.outputs[0].startswith(b"UTC\0")
    assert zone.ask(3, struct.pack("<I", 1), buffers=[Out(0x50, "map")]).values("I") == (0,)
    assert zone.ask(4, b"Europe/Berlin".ljust(0x24, b"\0")).result == Result.NO_TIME_ZONE
    for number in (100, 201):
        assert zone.ask(number, bytes(8), buffers=[In(bytes(0x4000), "map")]).result == Result.NO_TIME_ZONE


@pytest.mark.parametrize("seconds", [-1, LATEST + 1, -(1 << 63)])
def test_times_without_a_date(talk: Talk, seconds: int) -> None:
    assert clock_of(talk, "time:u", 3).ask(101, struct.pack("<q", seconds)).result == Result.NO_TIME


@pytest.mark.parametrize("date", [(1969, 1, 1), (2000, 0, 1), (2000, 13, 1), (10000, 1, 1)])
def test_dates_without_a_time(talk: Talk, date: tuple[int, int, int]) -> None:
    assert clock_of(talk, "time:u", 3).ask(202, struct.pack("<H2B4x", *date)).result == Result.NO_TIME


def test_dates_that_overflow_go_on(talk: Talk) -> None:
    zone = clock_of(talk, "time:u", 3)
    reply = zone.ask(202, struct.pack("<H6B", 9999, 12, 255, 255, 255, 255, 0), buffers=[Out(8, "pointer")])
    assert struct.unpack("<q", reply.outputs[0]) > (LATEST,)
