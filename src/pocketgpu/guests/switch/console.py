"""A Switch with a program in it: kernel, services, display and input, driven by emulated time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from pocketgpu.facts import console_font as console_fonts
from pocketgpu.guests.input.controls import ANSWERING
from pocketgpu.guests.input.player import Actions
from pocketgpu.guests.kernel.console import Console
from pocketgpu.guests.kernel.files import Files
from pocketgpu.guests.kernel.processor import Processor
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.cmif import Interface
from pocketgpu.guests.switch.controls import CLOSE, CONTROLS, DOCKED, HOME, input_of
from pocketgpu.guests.switch.display.display import SCREEN, Display, Present
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.guests.switch.services.account import AdministratorAccounts, ApplicationAccounts, SystemAccounts
from pocketgpu.guests.switch.services.apm import Apm
from pocketgpu.guests.switch.services.applet import Applet, AppletProxies, ApplicationProxies
from pocketgpu.guests.switch.services.audio.audout import AudioOutManager
from pocketgpu.guests.switch.services.audio.audren import AudioRendererManager
from pocketgpu.guests.switch.services.battery import Battery
from pocketgpu.guests.switch.services.fs import FileSystemProxy
from pocketgpu.guests.switch.services.hardware import Backlight, ModuleClocks, Temperatures
from pocketgpu.guests.switch.services.hid import Hid
from pocketgpu.guests.switch.services.hid_input import HEIGHT, WIDTH, Input
from pocketgpu.guests.switch.services.lm import LogService
from pocketgpu.guests.switch.services.network import Network
from pocketgpu.guests.switch.services.nvdrv.service import NvDrv
from pocketgpu.guests.switch.services.pl import SharedFont
from pocketgpu.guests.switch.services.security import ConsoleConfiguration, Fatal, RandomNumbers, RandomService
from pocketgpu.guests.switch.services.settings import Settings, SystemSettings
from pocketgpu.guests.switch.services.sm import ServiceManager
from pocketgpu.guests.switch.services.times import Clocks, time_services
from pocketgpu.guests.switch.services.vi import Vi
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.pictures import Screen

if TYPE_CHECKING:
    from pocketgpu.guests.switch.recorder import SwitchRecorder

_VI: Final = ("vi:m", "vi:s", "vi:u")


class SwitchConsole(Console[GM20B, SwitchKernel, Input]):
    """The console. hid, fs, nvdrv: its services of these names. display: what shows pictures. applet: what it tells its
    program. clocks: what time it is. battery: its power. renderers: where programs get sound renderers."""

    screen_sizes: ClassVar = {SCREEN: (WIDTH, HEIGHT)}
    touch_screen, vblank_ticks = SCREEN, layout.VSYNC
    screen_names, controls, console_font = (SCREEN,), CONTROLS, console_fonts.SWITCH
    counted = (
        "draws", "clears", "copies", "blits", "uploads", "launches", "launch_steps", "semaphores",
        "syncpoint_increments", "constbuf_binds", "macro_calls", "macro_steps", "methods", "words",
    )  # fmt: skip

    def __init__(self, processor: Processor, machine: GM20B, card: Files, font: bytes | None = None) -> None:
        """font: a file with the shared font; None for a free one."""
        kernel = SwitchKernel(processor, machine)
        self.nvdrv = nvdrv = NvDrv(kernel)
        self.display = display = Display(kernel, nvdrv.driver)
        self.applet = Applet(kernel, display.new_layer)
        super().__init__(machine, kernel, card, Input(), self.applet.answers)
        self.hid, self.fs = Hid(kernel), FileSystemProxy(kernel, card)
        self.clocks = Clocks(kernel)
        services: list[Interface] = [self.hid, self.fs, Apm(kernel, self.applet), Settings(kernel), self.nvdrv]
        services += [ApplicationProxies(kernel, self.applet), AppletProxies(kernel, self.applet)]
        services += [SystemSettings(kernel), SharedFont(kernel, font), *time_services(kernel, self.clocks)]
        self.renderers = AudioRendererManager(kernel, self._is_docked)
        services += [AudioOutManager(kernel), self.renderers, LogService(kernel)]
        services += [Vi(kernel, display, name) for name in _VI]
        self.battery = Battery(kernel, self.applet)
        if machine.choices["guest.services"] == "console":
            numbers = RandomNumbers()
            services += [ApplicationAccounts(kernel), SystemAccounts(kernel), AdministratorAccounts(kernel)]
            services += [self.battery, Backlight(kernel), Temperatures(kernel), ModuleClocks(kernel, self.applet)]
            services += [RandomService(kernel, numbers), ConsoleConfiguration(kernel, numbers)]
            services += [Network(kernel), Fatal(kernel)]
        kernel.services.update({name: one for one in services for name in (one.name, *one.also)})
        kernel.ports["sm:"] = ServiceManager(kernel)
        if machine.choices["guest.mode"] == "docked":
            self.applet.docked = True
        if display.own_clock:
            display.at_present = self.vblank
        else:
            kernel.time.at(kernel.time.now + layout.VSYNC, self._vblank)

    def _is_docked(self) -> bool:
        return self.applet.docked

    def _vblank(self, tick: int) -> None:
        self.kernel.time.at(tick + layout.VSYNC, self._vblank)
        self.vblank(tick)

    # -- what a console adds ----------------------------------------------------------------------------------------
    def input_of(self, actions: Actions) -> Input:
        return input_of(actions)

    def do_once(self, control: str, values: Sequence[float | str]) -> None:
        if control == CLOSE:
            self.applet.close()
        elif control == HOME:
            self.applet.open_home(not self.applet.home_open)
        elif control in ANSWERING:
            self.applet.library.answer(str(values[0]) if values else None)
        else:
            self.hid.docked = control == DOCKED
            self.applet.set_docked(self.hid.docked)
            self.renderers.device_changed()
            self.battery.charger_changed()

    def take_input(self) -> None:
        self.hid.update(self.input)

    @property
    def has_new(self) -> bool:
        return self.display.has_new

    def take_presents(self) -> Mapping[str, Present]:
        self.machine.log.clear()  # nobody reads it here, and long runs must not fill the memory
        return self.display.vblank(self.kernel.time.now)

    def number_present(self, shown: Mapping[str, object]) -> tuple[int, int]:
        """More than one buffer may have been shown since the last VBlank; a recording has a frame for each."""
        return self.display.shown_count - 1, self.display.shown_count

    @property
    def recorded_frame(self) -> int:
        return self.display.shown_count - 1

    @property
    def frames_begun(self) -> int:
        return self.display.present_count

    @property
    def settled(self) -> bool:
        return all(one.idle for one in self.machine.channels.values())

    def ask_to_close(self) -> None:
        self.applet.close()

    @property
    def screens(self) -> Mapping[str, Screen]:
        return self.display.screens

    def recorder(self) -> SwitchRecorder:
        from pocketgpu.guests.switch.recorder import SwitchRecorder

        return SwitchRecorder(self.nvdrv.driver, self.display)
