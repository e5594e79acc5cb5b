"""`cfg:u`, `cfg:s` and `cfg:i`: what the console's settings say. Source: 3dbrew Config Services; libctru's cfgu.c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.facts.settings import SETTINGS
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command
from pocketgpu.guests.n3ds.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

LANGUAGE: Final = 0x000A0002
"""Block of the language."""
EUROPE: Final = 2
_USA: Final = 1
_MOST: Final = 0x1000
_COUNTRIES: Final = {1: "JP", 18: "CA", 49: "US", 64: "AU", 77: "FR", 78: "DE", 83: "IT", 94: "NL", 105: "ES",
    110: "GB"}
"""Codes of some countries by number."""
_NO_COUNTRY: Final = 255
_SERIAL_SIZE: Final = 16


class Config(Service):
    """The service, under all its names. blocks: bytes by number; others are zeros."""

    name, also = "cfg:u", ("cfg:s", "cfg:i")

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        filled = kernel.machine.choices["guest.settings"] == "filled"
        self.region, self.model = EUROPE if filled else _USA, 0
        self.blocks = dict(SETTINGS) if filled else {LANGUAGE: SETTINGS[LANGUAGE]}

    def _block(self, request: Request) -> Answer:
        size, number = request.words[1:3]
        pointer, _ = request.mapped(3)
        data = self.blocks.get(number, b"")
        self.kernel.space.write(pointer, data[:size].ljust(min(size, _MOST), b"\0"))
        return Answer()

    @command(0x1)
    def get_config_info_blk2(self, request: Request) -> Answer:
        return self._block(request)

    @command(0x401)
    def get_config_info_blk4(self, request: Request) -> Answer:
        return self._block(request)

    @command(0x801)
    def get_config_info_blk8(self, request: Request) -> Answer:
        return self._block(request)

    @command(0x402)
    @command(0x802)
    def set_config_info_blk(self, request: Request) -> Answer:
        """Settings of this run; nothing is kept after it."""
        number, size = request.words[1:3]
        pointer, _ = request.mapped(3)
        if number not in self.blocks:
            return Answer(Result.SETTING_NOT_FOUND)
        data = self.kernel.space.read(pointer, min(size, _MOST))
        self.blocks[number] = data.ljust(len(self.blocks[number]), b"\0")
        return Answer()

    @command(0x403)
    @command(0x803)
    def update_config_savegame(self, request: Request) -> Answer:
        return Answer()

    @command(0x2)
    def secure_info_get_region(self, request: Request) -> Answer:
        return Answer(values=(self.region,))

    @command(0x3)
    def gen_hash_console_unique(self, request: Request) -> Answer:
        """A number for this console and the program's salt: the same on every run."""
        salt = request.words[1] & 0xFFFFF
        return Answer(values=(salt * 0x9E3779B1 & 0xFFFFFFFF, salt))

    @command(0x4)
    def get_region_canada_usa(self, request: Request) -> Answer:
        return Answer(values=(int(self.region == _USA),))

    @command(0x5)
    def get_system_model(self, request: Request) -> Answer:
        return Answer(values=(self.model,))

    @command(0x6)
    def get_model_nintendo_2ds(self, request: Request) -> Answer:
        """1: it is no 2DS."""
        return Answer(values=(1,))

    @command(0x9)
    def get_country_code_string(self, request: Request) -> Answer:
        code = _COUNTRIES.get(request.words[1])
        if code is None:
            return Answer(Result.SETTING_NOT_FOUND, values=(0,))
        return Answer(values=(int.from_bytes(code.encode(), "little"),))

    @command(0xA)
    def get_country_code_id(self, request: Request) -> Answer:
        code = (request.words[1] & 0xFFFF).to_bytes(2, "little")
        found = [number for number, text in _COUNTRIES.items() if text.encode() == code]
        return Answer(values=(found[0],)) if found else Answer(Result.SETTING_NOT_FOUND, values=(_NO_COUNTRY,))

    @command(0xB)
    def is_nfc_supported(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x405)
    def get_local_friend_code_seed(self, request: Request) -> Answer:
        return Answer(values=(0, 0))

    @command(0x408)
    def get_serial_number(self, request: Request) -> Answer:
        """A console without a serial number: zeros."""
        pointer, size = request.mapped(2)
        self.kernel.space.write(pointer, bytes(min(size, _SERIAL_SIZE)))
        return Answer()
