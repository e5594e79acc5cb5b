"""`psm`: the battery. Source: libnx's psm.h and psm.c; switchbrew PSM services.

It is full. The console has a charger while it is in its dock.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.applet import Applet


class Charger(IntEnum):
    """Kinds of chargers."""

    NONE = 0
    ENOUGH_POWER = 1


FULL: Final = 100
_GOOD_VOLTAGE: Final = 3
_MILLIVOLTS, _MILLIDEGREES, _CENTIMILLE = 4208, 25000, 100_000
_CHARGE_INFO: Final = struct.Struct("<4II2B2x9I4B20x")
"""Limits of currents and of the voltage; charger, flags; its controller, temperature, charge, voltage, age; USB."""


class Battery(Interface):
    """`psm`. sessions: those that wait for changes."""

    name = "psm"

    def __init__(self, kernel: SwitchKernel, applet: Applet) -> None:
        super().__init__(kernel)
        self.applet = applet
        self.sessions: list[BatterySession] = []
        self.charges = True
        self.charge_info = Event(Reset.STICKY, "battery charge")
        self.calibrated = Event(Reset.STICKY, "battery calibrated")

    @property
    def charger(self) -> Charger:
        """What the console hangs on."""
        return Charger.ENOUGH_POWER if self.applet.docked else Charger.NONE

    def charger_changed(self) -> None:
        """The console was put into its dock, or taken out."""
        self.kernel.signal(self.charge_info)
        for one in self.sessions:
            if one.follows_charger:
                self.kernel.signal(one.changed)

    @command(0)
    def get_battery_charge_percentage(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", FULL))

    @command(1)
    def get_charger_type(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", self.charger))

    @command(2)
    @command(3)
    def enable_battery_charging(self, request: CmifRequest) -> CmifAnswer:
        """2: from now on, 3: no more."""
        self.charges = request.command == 2
        return CmifAnswer()

    @command(4)
    def is_battery_charging_enabled(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", self.charges))

    @command(5)
    @command(6)
    @command(8)
    @command(9)
    @command(10)
    @command(11)
    def change_power(self, request: CmifRequest) -> CmifAnswer:
        """Power for controllers, pretended power, quick charging."""
        return CmifAnswer()

    @command(7)
    def open_session(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(BatterySession(self),))

    @command(12)
    def get_battery_voltage_state(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", _GOOD_VOLTAGE))

    @command(13)
    @command(15)
    def get_exact_percentage(self, request: CmifRequest) -> CmifAnswer:
        """The charge, and how much of a new battery it can hold."""
        return CmifAnswer(struct.pack("<d", FULL))

    @command(14)
    def is_enough_power_supplied(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", self.charger is Charger.ENOUGH_POWER))

    @command(16)
    def get_battery_charge_info_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.charge_info,))

    @command(17)
    def get_battery_charge_info_fields(self, request: CmifRequest) -> CmifAnswer:
        """Currents and limits are told as 0."""
        measured = (0, _MILLIDEGREES, _CENTIMILLE, _MILLIVOLTS, _CENTIMILLE)
        return CmifAnswer(_CHARGE_INFO.pack(0, 0, 0, 0, self.charger, 0, self.charges, *measured, *[0] * 4, *[0] * 4))

    @command(18)
    def get_battery_charge_calibrated_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.calibrated,))


class BatterySession(Interface):
    """Tells a program of changes. changed: its event. follows_charger: whether a charger that comes or goes is one."""

    name = "IPsmSession"

    def __init__(self, battery: Battery) -> None:
        super().__init__(battery.kernel)
        self.battery, self.follows_charger = battery, False
        self.changed = Event(Reset.STICKY, "power")
        battery.sessions.append(self)

    def closed(self) -> None:
        self.battery.sessions.remove(self)

    @command(0)
    def bind_state_change_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.changed,))

    @command(1)
    def unbind_state_change_event(self, request: CmifRequest) -> CmifAnswer:
        self.changed.on = False
        return CmifAnswer()

    @command(2)
    @command(3)
    def set_charger_type_change_event_enabled(self, request: CmifRequest) -> CmifAnswer:
        """The kind of the charger, and its power: both change together."""
        self.follows_charger = self.follows_charger or bool(request.values("B")[0])
        return CmifAnswer()

    @command(4)
    def set_battery_voltage_state_change_event_enabled(self, request: CmifRequest) -> CmifAnswer:
        """The voltage never changes."""
        return CmifAnswer()
