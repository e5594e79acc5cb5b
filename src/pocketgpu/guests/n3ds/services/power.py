"""Power, lid, steps and clocks: `ptm:u`, `ptm:sysm`, `ptm:gets`, `ptm:sets`, `mcu::HWC`.

The battery is full and charged by the mains, the lid is open, nobody walks. Source: 3dbrew PTM Services and MCU
Services; libctru's ptmu.c, ptmsysm.c, mcuhwc.c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.n3ds.abi import pages
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

_BATTERY_FULL: Final = 5
_PERCENT: Final = 100
_VOLTAGE: Final = 0xFF
_VOLUME: Final = 0x3F
_FIRMWARE: Final = (0x13, 0x37)
_MOST_STEPS: Final = 0x1000
_MILLISECONDS: Final = 1000


def _now(kernel: N3DSKernel) -> int:
    """Milliseconds since 2000."""
    return pages.DATE - pages.YEAR_2000 + kernel.time.now * _MILLISECONDS // kernel.time.hertz


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

    @command(0x9)
    def get_pedometer_state(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0xB)
    def get_step_history(self, request: Request) -> Answer:
        """Steps of each hour: none."""
        pointer, size = request.mapped(4)
        self.kernel.space.write(pointer, bytes(min(size, 2 * request.words[1], _MOST_STEPS)))
        return Answer()

    @command(0xC)
    def get_total_step_count(self, request: Request) -> Answer:
        return Answer(values=(0,))


class PtmSysm(Ptm):
    """`ptm:sysm`: what programs with more rights ask for."""

    name = "ptm:sysm"

    @command(0x402)
    @command(0x403)
    @command(0x404)
    @command(0x406)
    @command(0x408)
    def about_sleep(self, request: Request) -> Answer:
        """The console does not sleep."""
        return Answer()

    @command(0x405)
    def get_wake_reason(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x407)
    def shutdown_async(self, request: Request) -> Answer:
        self.kernel.finish(End("close", "the program shuts the console down"))
        return Answer()

    @command(0x409)
    def reboot_async(self, request: Request) -> Answer:
        self.kernel.finish(End("close", "the program starts the console again"))
        return Answer()

    @command(0x40A)
    def check_new_3ds(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x805)
    @command(0x806)
    @command(0x80A)
    @command(0x80C)
    @command(0x80D)
    @command(0x817)
    def change_history(self, request: Request) -> Answer:
        """Steps, programs that were played, clocks: nothing is kept."""
        return Answer()

    @command(0x816)
    def get_rtc_time(self, request: Request) -> Answer:
        """Seconds of the clock of the hardware."""
        seconds = _now(self.kernel) // _MILLISECONDS
        return Answer(values=(seconds & 0xFFFFFFFF, seconds >> 32))

    @command(0x818)
    def configure_new_3ds_cpu(self, request: Request) -> Answer:
        return Answer()


class PtmClock(Service):
    """`ptm:gets` and `ptm:sets`: the clock of the system, in milliseconds since 2000."""

    name, also = "ptm:gets", ("ptm:sets",)

    @command(0x401)
    def get_system_time(self, request: Request) -> Answer:
        now = _now(self.kernel)
        return Answer(values=(now & 0xFFFFFFFF, now >> 32))

    @command(0x1)
    def set_system_time(self, request: Request) -> Answer:
        """A new time is not kept."""
        return Answer()


class Mcu(Service):
    """`mcu::HWC`: the small processor that looks after battery, LEDs and sliders."""

    name = "mcu::HWC"

    @command(0x1)
    def read_register(self, request: Request) -> Answer:
        """Registers of the device: zeros."""
        pointer, size = request.mapped(3)
        self.kernel.space.write(pointer, bytes(min(size, request.words[2], 0x100)))
        return Answer()

    @command(0x2)
    @command(0x6)
    @command(0x7)
    @command(0xA)
    def set_device(self, request: Request) -> Answer:
        """Registers and LEDs are not modelled."""
        return Answer()

    @command(0x4)
    def get_battery_voltage(self, request: Request) -> Answer:
        return Answer(values=(_VOLTAGE,))

    @command(0x5)
    def get_battery_level(self, request: Request) -> Answer:
        return Answer(values=(_PERCENT,))

    @command(0xB)
    def get_sound_slider_level(self, request: Request) -> Answer:
        return Answer(values=(_VOLUME,))

    @command(0x10)
    def get_fw_ver_high(self, request: Request) -> Answer:
        return Answer(values=(_FIRMWARE[0],))

    @command(0x11)
    def get_fw_ver_low(self, request: Request) -> Answer:
        return Answer(values=(_FIRMWARE[1],))
