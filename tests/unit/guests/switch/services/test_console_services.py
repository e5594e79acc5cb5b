"""What the Switch says of its user, its battery, its network and itself; and programs that give up."""

from __future__ import annotations

import io
import struct

import pytest
from PIL import Image
from support.cmif_client import CmifClient, Idle, Out, Service

from pocketgpu.guests.kernel.files import MemoryFiles
from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.kernel.timeline import START_DATE
from pocketgpu.guests.switch.abi.results import Result, result_text
from pocketgpu.guests.switch.abi.users import USER
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.guests.switch.controls import DOCKED, HANDHELD
from pocketgpu.maxwell.gm20b import GM20B


class Talk(CmifClient):
    """A program that talks to the services of a whole console."""

    def __init__(self, choices: dict[str, str] | None = None) -> None:
        self.console = SwitchConsole(Idle(), GM20B(switches=choices), MemoryFiles({}))
        super().__init__(kernel=self.console.kernel)

    def event(self, handle: int) -> Event:
        found = self.object(handle)
        assert isinstance(found, Event)
        return found


@pytest.fixture
def talk() -> Talk:
    return Talk()


# -- users ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["acc:u0", "acc:u1", "acc:su"])
def test_one_user_whom_nobody_has_chosen(talk: Talk, name: str) -> None:
    accounts = talk.service(name)
    assert accounts.ask(0).values("i") == (1,)
    assert accounts.ask(1, USER).values("B") == (1,) and accounts.ask(1, bytes(16)).values("B") == (0,)
    assert accounts.ask(2, buffers=[Out(0x80, "pointer")]).outputs[0] == USER + bytes(0x70)
    assert accounts.ask(3, buffers=[Out(0x80, "pointer")]).outputs[0] == bytes(0x80)
    assert accounts.ask(4).data == USER
    assert accounts.ask(51, b"\0").data == USER and accounts.ask(51, b"\1").data == bytes(16)
    assert accounts.ask(50, bytes(8), pid=True).values("B") == (0,)
    assert accounts.ask(5, bytes(16)).result == Result.NO_USER


def test_a_profile_with_a_name_and_a_picture(talk: Talk) -> None:
    accounts = talk.service("acc:u0")
    assert accounts.ask(140, bytes(8), pid=True).result == 0
    profile = accounts.ask(5, USER, out_objects=1).objects[0]
    base = profile.ask(1).data
    assert len(base) == 0x38 and base[:16] == USER and base[24:].rstrip(b"\0") == b"Player"
    assert struct.unpack_from("<Q", base, 16) == (START_DATE,)
    whole = profile.ask(0, buffers=[Out(0x80, "fixed")])
    assert whole.data == base and whole.outputs[0] == struct.pack("<2I", 0, 1) + bytes(0x78)
    (size,) = profile.ask(10).values("I")
    loaded = profile.ask(11, buffers=[Out(0x20000, "map")])
    assert loaded.values("I") == (size,)
    with Image.open(io.BytesIO(loaded.outputs[0][:size])) as picture:
        assert picture.format == "JPEG" and picture.size == (256, 256) and picture.getextrema() == (128, 128)


def test_users_of_an_application(talk: Talk) -> None:
    accounts = talk.service("acc:u0")
    assert accounts.ask(141, buffers=[Out(0x80, "pointer")]).outputs[0].startswith(USER)
    assert accounts.ask(131, buffers=[Out(0x80, "pointer")]).outputs[0] == bytes(0x80)
    assert accounts.ask(150).values("B") == (0,)


# -- power ------------------------------------------------------------------------------------------------------------
def test_the_battery_is_full_and_has_a_charger_in_the_dock(talk: Talk) -> None:
    battery = talk.service("psm")
    assert battery.ask(0).values("I") == (100,) and battery.ask(13).values("d") == battery.ask(15).values("d") == (100,)
    assert battery.ask(1).values("I") == (0,) and battery.ask(14).values("B") == (0,)
    assert battery.ask(12).values("I") == (3,) and battery.ask(4).values("B") == (1,)
    talk.console.do_once(DOCKED, ())
    assert battery.ask(1).values("I") == (1,) and battery.ask(14).values("B") == (1,)
    assert battery.ask(3).result == 0 and battery.ask(4).values("B") == (0,)
    fields = battery.ask(17).data
    assert len(fields) == 0x54 and struct.unpack_from("<I", fields, 0x10) == (1,)
    assert struct.unpack_from("<4I", fields, 0x1C) == (25000, 100_000, 4208, 100_000)


def test_a_charger_that_comes_is_told_to_those_who_want_to_know(talk: Talk) -> None:
    battery = talk.service("psm")
    deaf, session = (battery.ask(7, out_objects=1).objects[0] for _ in range(2))
    assert session.ask(2, b"\1").result == session.ask(3, b"\1").result == session.ask(4, b"\0").result == 0
    told, untold = (talk.event(one.ask(0).copies[0]) for one in (session, deaf))
    info = talk.event(battery.ask(16).copies[0])
    assert not told.on and not info.on
    talk.console.do_once(DOCKED, ())
    assert told.on and info.on and not untold.on
    assert session.ask(1).result == 0 and not told.on
    session.close()
    talk.console.do_once(HANDHELD, ())
    assert not told.on and not talk.event(battery.ask(18).copies[0]).on


def test_the_backlight_keeps_what_is_set(talk: Talk) -> None:
    light = talk.service("lbl")
    assert light.ask(3).values("f") == (1,) and light.ask(8).values("I") == (1,)
    assert light.ask(2, struct.pack("<f", 0.25)).result == light.ask(4).result == 0
    assert light.ask(3).values("f") == light.ask(5).values("f") == (0.25,)
    for on, off, told, kind in ((6, 7, 8, "I"), (9, 10, 11, "B"), (12, 13, 14, "B"), (26, 27, 28, "B")):
        for number, value in ((on, 1), (off, 0)):
            assert light.ask(number, bytes(8)).result == 0 and light.ask(told).values(kind) == (value,)
    assert light.ask(24, struct.pack("<f", 0.5)).result == 0 and light.ask(25).values("f") == (0.5,)
    assert light.ask(23).values("B") == (0,) and light.ask(16).values("If") == (0, 0)


def test_temperatures(talk: Talk) -> None:
    sensors = talk.service("ts")
    for number, degrees in ((0x41000001, 35), (0x41000002, 40)):
        session = sensors.ask(4, struct.pack("<I", number), out_objects=1).objects[0]
        assert session.ask(4).values("f") == (degrees,)
    assert sensors.ask(4, struct.pack("<I", 0)).result == Result.NO_SUCH_DEVICE
    assert sensors.ask(1, b"\0").result == Result.UNKNOWN_COMMAND  # gone since 17.0.0


def clock(talk: Talk, module: int) -> Service:
    return talk.service("clkrst").ask(0, struct.pack("<2I", module, 3), out_objects=1).objects[0]


def test_clocks_tell_what_was_wished(talk: Talk) -> None:
    processor, gpu = clock(talk, 0x40000001), clock(talk, 0x40000002)
    assert processor.ask(8).values("I") == (1_020_000_000,) and gpu.ask(8).values("I") == (307_200_000,)
    talk.console.do_once(DOCKED, ())
    assert gpu.ask(8).values("I") == (768_000_000,)
    assert processor.ask(7, struct.pack("<I", 1_785_000_000)).result == 0
    assert clock(talk, 0x40000001).ask(8).values("I") == (1_785_000_000,)
    rates = gpu.ask(10, struct.pack("<i", 8), buffers=[Out(32)])
    assert rates.values("2i") == (0, 2) and struct.unpack_from("<2I", rates.outputs[0]) == (307_200_000, 768_000_000)
    assert gpu.ask(10, struct.pack("<i", 1), buffers=[Out(32)]).values("2i") == (0, 1)
    assert talk.service("clkrst").ask(0, bytes(8)).result == Result.NO_SUCH_DEVICE


# -- the network ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", ["nifm:u", "nifm:s", "nifm:a"])
def test_there_is_no_network(talk: Talk, name: str) -> None:
    general = talk.service(name).to_domain().ask(5, bytes(8), pid=True, out_objects=1).objects[0]
    assert general.ask(1, buffers=[Out(4, "fixed")]).outputs[0] == b"\1\0\0\0"
    assert {general.ask(number).result for number in (12, 15, 18)} == {Result.NOT_CONNECTED} == {0xD46E}
    assert [general.ask(number).values("B") for number in (17, 20, 22)] == [(0,)] * 3


def test_a_wish_for_a_connection_is_refused(talk: Talk) -> None:
    general = talk.service("nifm:u").ask(5, bytes(8), pid=True, out_objects=1).objects[0]
    wish = general.ask(4, bytes(4), out_objects=1).objects[0]
    first, second = (talk.event(handle) for handle in wish.ask(2).copies)
    assert not first.on and wish.ask(4).result == 0 and first.on and not second.on
    assert wish.ask(0).values("I") == (1,) and wish.ask(1).result == 0x8AE6E


# -- the console itself -----------------------------------------------------------------------------------------------
def test_random_bytes_are_the_same_in_every_run() -> None:
    def drawn() -> list[bytes]:
        talk = Talk()
        both = [talk.service(name).ask(number, buffers=[Out(size, kind)]).outputs[0] for name, number, size, kind in
                (("csrng", 0, 64, "map"), ("spl:", 7, 64, "pointer"), ("csrng", 0, 1000, "map"))]  # fmt: skip
        assert talk.service("csrng").ask(0).result == 0
        return both

    one = drawn()
    assert one == drawn() and len({part[:64] for part in one}) == 3
    assert len(set(one[2])) > 100 and len(one[2]) == 1000


def test_what_the_console_is(talk: Talk) -> None:
    about = talk.service("spl:")
    assert [about.ask(0, struct.pack("<I", item)).values("Q") for item in (5, 6, 11)] == [(0,), (1,), (0,)]
    assert about.ask(0, struct.pack("<I", 65000)).result == Result.BAD_CONFIGURATION_ITEM
    assert about.ask(11).values("B") == (0,)


def test_more_settings(talk: Talk) -> None:
    system = talk.service("set:sys")
    assert [system.ask(number).values("B") for number in (7, 69, 73, 99)] == [(0,), (0,), (0,), (1,)]
    assert system.ask(53).data == b"UTC".ljust(0x24, b"\0") and system.ask(35).values("f") == (1,)
    assert [system.ask(number).values("I") for number in (63, 79, 136, 183)] == [(1,)] * 4
    assert system.ask(37).result == system.ask(38).result == Result.NO_SETTING


def test_cards(talk: Talk) -> None:
    files = talk.service("fsp-srv")
    assert files.ask(11, bytes(4)).result == files.ask(31, bytes(8)).result == Result.TARGET_NOT_FOUND
    assert files.ask(61, b"\1", out_objects=1).objects[0].ask(0, buffers=[Out(0x60, "map")]).values("q") == (0,)
    for number in (500, 501):
        assert not talk.event(files.ask(number, out_objects=1).objects[0].ask(0).copies[0]).on
    operator = files.ask(400, out_objects=1).objects[0]
    assert operator.ask(3).values("q") == (32 << 30,) and operator.ask(4).values("q") == (0,)


def test_the_trial_kernel_had_none_of_them() -> None:
    manager = Talk({"guest.services": "few"}).open_port("sm:")
    names = ("acc:u0", "psm", "nifm:u", "csrng", "spl:", "lbl", "ts", "clkrst", "fatal:u")
    assert {manager.ask(1, name.encode().ljust(8, b"\0")).result for name in names} == {Result.NOT_REGISTERED}


# -- giving up --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("number", [0, 1, 2])
def test_a_fatal_error_ends_the_run_as_a_failure(talk: Talk, number: int) -> None:
    assert talk.service("fatal:u").ask(number, struct.pack("<2IQ", 0x3D59, 2, 0), pid=True).result == 0
    end = talk.kernel.end
    assert end is not None and end.why == "error" and end.exit_code == 1
    assert end.text == "0x3d59 (2345-0030, libnx: InitFail_SM), thread 1"


def test_an_error_that_is_only_reported(talk: Talk) -> None:
    assert talk.service("fatal:u").ask(1, struct.pack("<2IQ", 0xE401, 1, 0), pid=True).result == 0
    assert talk.kernel.end is None
    assert "the program reports the error 0xe401 (2001-0114, kernel)" in str(talk.kernel.events.drain()[0])


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0xE15, "0xe15 (2021-0007, sm)"), (0x4B59, "0x4b59 (2345-0037, libnx: IncompatSysVer)"),
        (0x1FFF59, "0x1fff59 (2345-4095, libnx)"), (0x27FF, "0x27ff (2511-0019)"), (1, "0x1"),
    ],
)  # fmt: skip
def test_result_codes_in_words(code: int, text: str) -> None:
    assert result_text(code) == text
