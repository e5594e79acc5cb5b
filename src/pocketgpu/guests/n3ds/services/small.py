"""Services that only answer: `cfg:u`, `ptm:u`, `ptm:sysm`, `ndm:u`. Source: 3dbrew; libctru's cfgu.c, ptmu.c."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

_ENGLISH: Final = 1
LANGUAGE: Final = 0x000A0002
"""Block of the language."""
_BATTERY_FULL: Final = 5


class Config(Service):
    """`cfg:u`: what the settings say. blocks: bytes by number; others are zeros, as if nobody had ever set them."""

    name = "cfg:u"

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        self.region, self.model = 1, 0
        self.blocks: dict[int, bytes] = {
            LANGUAGE: bytes([_ENGLISH]),
        }

    def _block(self, request: Request) -> Answer:
        size, number = request.words[1:3]
        pointer, _ = request.mapped(3)
        data = self.blocks.get(number, b"")
        self.kernel.space.write(pointer, data[:size].ljust(min(size, 0x1000), b"\0"))
        return Answer()

    @command(0x1)
    def get_config_info_blk2(self, request: Request) -> Answer:
        return self._block(request)

    @command(0x801)
    def get_config_info_blk8(self, request: Request) -> Answer:
        return self._block(request)

    @command(0x2)
    def secure_info_get_region(self, request: Request) -> Answer:
        return Answer(values=(self.region,))

    @command(0x5)
    def get_system_model(self, request: Request) -> Answer:
        return Answer(values=(self.model,))


    @command(0x405)
    def get_local_friend_code_seed(self, request: Request) -> Answer:
        return Answer(values=(0, 0))

    @command(0x408)
    def get_serial_number(self, request: Request) -> Answer:
        """A console without a serial number: zeros."""
        pointer, size = request.mapped(2)
        self.kernel.space.write(pointer, bytes(min(size, 16)))
        return Answer()


class Ptm(Service):
    """`ptm:u`: battery, shell and steps."""

    name = "ptm:u"

    def _power(self, state: int) -> int:
        return _BATTERY_FULL if self.kernel.machine.choices["guest.power"] == "five" else state

    @command(0x5)
    def get_adapter_state(self, request: Request) -> Answer:
        return Answer(values=(self._power(1),))

    @command(0x6)
    def get_shell_state(self, request: Request) -> Answer:
        return Answer(values=(1,))

    @command(0x7)
    def get_battery_level(self, request: Request) -> Answer:
        return Answer(values=(_BATTERY_FULL,))

    @command(0x8)
    def get_battery_charge_state(self, request: Request) -> Answer:
        return Answer(values=(self._power(0),))

    @command(0xC)
    def get_total_step_count(self, request: Request) -> Answer:
        return Answer(values=(0,))


class PtmSysm(Ptm):
    """`ptm:sysm`."""

    name = "ptm:sysm"

    @command(0x818)
    def configure_new_3ds_cpu(self, request: Request) -> Answer:
        return Answer()


class Ndm(Service):
    """`ndm:u`: programs suspend background work before they use the network."""

    name = "ndm:u"

    @command(0x1)
    def enter_exclusive_state(self, request: Request) -> Answer:
        return Answer()

    @command(0x2)
    def leave_exclusive_state(self, request: Request) -> Answer:
        return Answer()
