"""`lbl`, `ts`, `clkrst`: backlight, temperature and clocks. Source: libnx's lbl.c, ts.c, clkrst.c; switchbrew
Backlight, PTM and PCV services.

What programs set is kept and told, and has no other effect: pictures have no brightness, and time is counted in
instructions.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.applet import Applet


# -- the backlight ----------------------------------------------------------------------------------------------------
class Backlight(Interface):
    """`lbl`. brightness, vr_brightness: from 0 to 1. on, dims, automatic, vr: what a program has switched."""

    name = "lbl"

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__(kernel)
        self.brightness = self.vr_brightness = 1.0
        self.on, self.dims, self.automatic, self.vr = True, True, False, False

    @command(0)
    @command(1)
    @command(4)
    def apply(self, request: CmifRequest) -> CmifAnswer:
        """What was set is saved, loaded and used as it is."""
        return CmifAnswer()

    @command(2)
    def set_current_brightness_setting(self, request: CmifRequest) -> CmifAnswer:
        (self.brightness,) = request.values("f")
        return CmifAnswer()

    @command(3)
    @command(5)
    def get_current_brightness_setting(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<f", self.brightness))

    @command(6)
    @command(7)
    def switch_backlight(self, request: CmifRequest) -> CmifAnswer:
        """6: on, 7: off; how long the change takes is not modelled."""
        self.on = request.command == 6
        return CmifAnswer()

    @command(8)
    def get_backlight_switch_status(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", self.on))

    @command(9)
    @command(10)
    def enable_dimming(self, request: CmifRequest) -> CmifAnswer:
        self.dims = request.command == 9
        return CmifAnswer()

    @command(11)
    def is_dimming_enabled(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", self.dims))

    @command(12)
    @command(13)
    def enable_auto_brightness_control(self, request: CmifRequest) -> CmifAnswer:
        self.automatic = request.command == 12
        return CmifAnswer()

    @command(14)
    def is_auto_brightness_control_enabled(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", self.automatic))

    @command(16)
    def get_ambient_light_sensor_value(self, request: CmifRequest) -> CmifAnswer:
        """Whether it is too bright for the sensor, and how bright: nothing measures it."""
        return CmifAnswer(struct.pack("<If", False, 0))

    @command(23)
    def is_ambient_light_sensor_available(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", False))

    @command(24)
    def set_current_brightness_setting_for_vr_mode(self, request: CmifRequest) -> CmifAnswer:
        (self.vr_brightness,) = request.values("f")
        return CmifAnswer()

    @command(25)
    def get_current_brightness_setting_for_vr_mode(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<f", self.vr_brightness))

    @command(26)
    @command(27)
    def enable_vr_mode(self, request: CmifRequest) -> CmifAnswer:
        self.vr = request.command == 26
        return CmifAnswer()

    @command(28)
    def is_vr_mode_enabled(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", self.vr))


# -- temperature ------------------------------------------------------------------------------------------------------
TEMPERATURES: Final = {0x41000001: 35.0, 0x41000002: 40.0}
"""Degrees Celsius inside the console and at its processor, by the number of the sensor."""


class Temperatures(Interface):
    """`ts`. Systems from 17.0.0 on only have the command for sessions."""

    name = "ts"

    @command(4)
    def open_session(self, request: CmifRequest) -> CmifAnswer:
        (sensor,) = request.values("I")
        if sensor not in TEMPERATURES:
            return CmifAnswer(result=Result.NO_SUCH_DEVICE)
        return CmifAnswer(objects=(Thermometer(self.kernel, TEMPERATURES[sensor]),))


class Thermometer(Interface):
    """One sensor. degrees: what it tells."""

    name = "ts.ISession"

    def __init__(self, kernel: SwitchKernel, degrees: float) -> None:
        super().__init__(kernel)
        self.degrees = degrees

    @command(4)
    def get_temperature(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<f", self.degrees))


# -- clocks -----------------------------------------------------------------------------------------------------------
class Module(IntEnum):
    """Parts of the console whose clock programs ask for."""

    CPU = 0x40000001
    GPU = 0x40000002
    MEMORY = 0x40000039


HANDHELD_RATES: Final = {Module.CPU: 1_020_000_000, Module.GPU: 307_200_000, Module.MEMORY: 1_331_200_000}
DOCKED_RATES: Final = {Module.CPU: 1_020_000_000, Module.GPU: 768_000_000, Module.MEMORY: 1_600_000_000}
"""Hertz, without a wish of the program."""
_SINGLE_VALUES: Final = 0
"""Kind of a list of rates."""


class ModuleClocks(Interface):
    """`clkrst`. wishes: rates that a program has set."""

    name = "clkrst"

    def __init__(self, kernel: SwitchKernel, applet: Applet) -> None:
        super().__init__(kernel)
        self.applet = applet
        self.wishes: dict[int, int] = {}

    def rate(self, module: Module) -> int:
        """Hertz of a part."""
        rates = DOCKED_RATES if self.applet.docked else HANDHELD_RATES
        return self.wishes.get(module, rates[module])

    @command(0)
    def open_session(self, request: CmifRequest) -> CmifAnswer:
        (module,) = request.values("I")
        if module not in tuple(Module):
            return CmifAnswer(result=Result.NO_SUCH_DEVICE)
        return CmifAnswer(objects=(ClockSession(self, Module(module)),))


class ClockSession(Interface):
    """The clock of one part."""

    name = "IClkrstSession"

    def __init__(self, clocks: ModuleClocks, module: Module) -> None:
        super().__init__(clocks.kernel)
        self.clocks, self.module = clocks, module

    @command(7)
    def set_clock_rate(self, request: CmifRequest) -> CmifAnswer:
        (self.clocks.wishes[self.module],) = request.values("I")
        return CmifAnswer()

    @command(8)
    def get_clock_rate(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", self.clocks.rate(self.module)))

    @command(10)
    def get_possible_clock_rates(self, request: CmifRequest) -> CmifAnswer:
        """Those that the console itself uses. Answers the kind of the list, and how many fitted."""
        rates = sorted({HANDHELD_RATES[self.module], DOCKED_RATES[self.module]})
        (most,) = request.values("i")
        told = struct.pack(f"<{len(rates)}I", *rates)[: 4 * max(0, most)]
        return CmifAnswer(struct.pack("<2i", _SINGLE_VALUES, request.output(told) // 4))
