"""`set` and `set:sys`: what the console's settings say. Source: libnx's set.c; switchbrew Settings services."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.switch.enumerations import LANGUAGE, REGION
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.times import ZONE, ZONE_BYTES

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

VERSION: Final = (17, 0, 0)
"""Of the system software."""
FIRMWARE_BYTES: Final = 0x100
NICKNAME: Final = "pocketgpu"
NICKNAME_BYTES: Final = 0x80
SERIAL_BYTES: Final = 0x18
CODE_BYTES: Final = 8
_MEMORY_CARD, _FIRST_MODEL, _ENGLISH_US, _WORLD = 1, 1, 1, 1
OLD_LANGUAGES: Final = 15
"""How many the first command for them tells; programs that ask a later one get all."""
_FIRMWARE: Final = struct.Struct("<4B4B32s64s24s128s")
"""Version, revision, platform, hash, the version and the name as shown."""


def language_code(kernel: SwitchKernel, number: int | None = None) -> bytes:
    """The code of a language, by default the console's, as 8 bytes."""
    return LANGUAGE[LANGUAGE.AMERICAN_ENGLISH if number is None else number].encode().ljust(CODE_BYTES, b"\0")


def firmware_version(full: bool) -> bytes:
    """What the console says of its system software. full: with the platform and a name to be shown."""
    shown = ".".join(map(str, VERSION))
    platform, title = (b"NX", f"NintendoSDK Firmware for NX {shown}".encode()) if full else (b"", b"")
    return _FIRMWARE.pack(*VERSION, 0, 0, 0, 0, 0, platform, b"", shown.encode(), title)


class Settings(Interface):
    """`set`, which all programs may ask."""

    name = "set"

    @command(0)
    def get_language_code(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(language_code(self.kernel))

    def _codes(self, request: CmifRequest, languages: Sequence[int]) -> CmifAnswer:
        codes = b"".join(language_code(self.kernel, one) for one in languages)
        room = request.outputs[0].size // CODE_BYTES * CODE_BYTES if request.outputs else 0
        return CmifAnswer(struct.pack("<i", request.output(codes[:room]) // CODE_BYTES))

    @command(1)
    def get_available_language_codes(self, request: CmifRequest) -> CmifAnswer:
        return self._codes(request, list(LANGUAGE)[:OLD_LANGUAGES])

    @command(2)
    def make_language_code(self, request: CmifRequest) -> CmifAnswer:
        (number,) = request.values("i")
        if number not in LANGUAGE:
            return CmifAnswer(result=Result.BAD_LANGUAGE)
        return CmifAnswer(language_code(self.kernel, number))

    @command(3)
    def get_available_language_code_count(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<i", OLD_LANGUAGES))

    @command(4)
    def get_region_code(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", REGION.AMERICA))

    @command(5)
    def get_available_language_codes_2(self, request: CmifRequest) -> CmifAnswer:
        return self._codes(request, list(LANGUAGE))

    @command(6)
    def get_available_language_code_count_2(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<i", len(LANGUAGE)))

    @command(8)
    def get_quest_flag(self, request: CmifRequest) -> CmifAnswer:
        """It is no console for a shop."""
        return CmifAnswer(struct.pack("<B", False))

    @command(11)
    def get_device_nick_name(self, request: CmifRequest) -> CmifAnswer:
        request.output(NICKNAME.encode().ljust(NICKNAME_BYTES, b"\0"))
        return CmifAnswer()


class SystemSettings(Interface):
    """`set:sys`, for programs of the system; homebrew may ask it, too."""

    name = "set:sys"

    @command(3)
    @command(4)
    def get_firmware_version(self, request: CmifRequest) -> CmifAnswer:
        full = self.kernel.machine.choices["guest.settings"] == "filled"
        request.output(firmware_version(full))
        return CmifAnswer()

    @command(23)
    def get_color_set_id(self, request: CmifRequest) -> CmifAnswer:
        """The light one."""
        return CmifAnswer(struct.pack("<I", 0))

    @command(7)
    @command(25)
    @command(27)
    @command(45)
    @command(47)
    @command(60)
    @command(62)
    @command(65)
    @command(69)
    @command(73)
    @command(88)
    @command(95)
    @command(103)
    @command(179)
    @command(186)
    def get_flag(self, request: CmifRequest) -> CmifAnswer:
        """Off: the lock screen, reports, downloads; a console for a shop or for developers; radio and network; zoom."""
        return CmifAnswer(struct.pack("<B", False))

    @command(99)
    def get_battery_percentage_flag(self, request: CmifRequest) -> CmifAnswer:
        """Whether the HOME menu shows how full the battery is."""
        return CmifAnswer(struct.pack("<B", True))

    @command(35)
    def get_vibration_master_volume(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<f", 1))

    @command(37)
    @command(38)
    def get_settings_item_value(self, request: CmifRequest) -> CmifAnswer:
        """Settings of programs of the system, by two names: there are none."""
        return CmifAnswer(result=Result.NO_SETTING)

    @command(53)
    def get_device_time_zone_location_name(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(ZONE.encode().ljust(ZONE_BYTES, b"\0"))

    @command(63)
    def get_primary_album_storage(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", _MEMORY_CARD))

    @command(79)
    def get_product_model(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<i", _FIRST_MODEL))

    @command(136)
    def get_keyboard_layout(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", _ENGLISH_US))

    @command(183)
    def get_platform_region(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", _WORLD))

    @command(68)
    def get_serial_number(self, request: CmifRequest) -> CmifAnswer:
        """None, so that nobody takes it for that of a console."""
        return CmifAnswer(bytes(SERIAL_BYTES))

    @command(77)
    def get_device_nick_name(self, request: CmifRequest) -> CmifAnswer:
        request.output(NICKNAME.encode().ljust(NICKNAME_BYTES, b"\0"))
        return CmifAnswer()
