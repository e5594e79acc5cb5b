"""A Switch with a program in it: kernel, services, display and input, driven by emulated time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from pocketgpu.guests.input.player import Actions
from pocketgpu.guests.kernel import console as kernel_console
from pocketgpu.guests.kernel.files import Files
from pocketgpu.guests.kernel.processor import Processor
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.kernel.timeline import NANOSECONDS
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.cmif import Interface
from pocketgpu.guests.switch.controls import CONTROLS, input_of
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.guests.switch.services.apm import Apm
from pocketgpu.guests.switch.services.applet import Applet, AppletProxies, ApplicationProxies
from pocketgpu.guests.switch.services.fs import FileSystemProxy
from pocketgpu.guests.switch.services.hid import Hid
from pocketgpu.guests.switch.services.hid_input import Input
from pocketgpu.guests.switch.services.settings import Settings, SystemSettings
from pocketgpu.guests.switch.services.sm import ServiceManager
from pocketgpu.guests.switch.services.times import Clocks, time_services
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.pica.display.screens import Screen

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.console import Recorder, TextReader

SCREEN: Final = "screen"
CLOSE, DOCKED, HANDHELD = CONTROLS.others[-3].name, CONTROLS.others[-2].name, CONTROLS.others[-1].name


class Display(Protocol):
    """What shows the pictures that a program queues."""

    def taken(self) -> Mapping[str, object]:
        """A VBlank: what is shown from now on and was not before, by screen. Buffers that are not shown any more go
        back to the program."""
        ...

    @property
    def screens(self) -> Mapping[str, Screen]:
        """What is shown."""
        ...


class Console(kernel_console.Console[GM20B, SwitchKernel, Input]):
    """The console. hid, fs: its services of these names. applet: what it tells its program. clocks: what time it is."""

    screen_names, controls = (SCREEN,), CONTROLS
    counted = ("draws", "clears", "copies", "launches", "submissions", "words", "methods")

    def __init__(self, processor: Processor, machine: GM20B, card: Files) -> None:
        kernel = SwitchKernel(processor, machine)
        super().__init__(machine, kernel, card, Input())
        self.hid, self.fs = Hid(kernel), FileSystemProxy(kernel, card)
        self.applet, self.clocks = Applet(kernel), Clocks(kernel)
        services: list[Interface] = [self.hid, self.fs, Apm(kernel, self.applet), Settings(kernel)]
        services += [ApplicationProxies(kernel, self.applet), AppletProxies(kernel, self.applet)]
        services += [SystemSettings(kernel), *time_services(kernel, self.clocks)]
        kernel.services.update({name: one for one in services for name in (one.name, *one.also)})
        kernel.ports["sm:"] = ServiceManager(kernel)
        self.display: Display | None = None
        self._by_presents = machine.choices["guest.clock"] == "presents"
        if not self._by_presents:
            kernel.time.at(kernel.time.now + layout.VSYNC, self._vblank)

    # -- time -------------------------------------------------------------------------------------------------------
    def _vblank(self, tick: int) -> None:
        self.kernel.time.at(tick + layout.VSYNC, self._vblank)
        self.vblank(tick)

    def queued(self) -> None:
        """The program has queued a picture. With the trial kernel's clock that is a VBlank, and moves time."""
        if self._by_presents:
            time = self.kernel.time
            shown = self.present_count + 1
            time.now = max(time.now, layout.START + time.ticks(shown * NANOSECONDS // 60 + 1))
            self.vblank(time.now)

    # -- what a console adds ----------------------------------------------------------------------------------------
    def input_of(self, actions: Actions) -> Input:
        return input_of(actions)

    def do_once(self, control: str, values: Sequence[float | str]) -> None:
        if control == CLOSE:
            self.applet.close()
        else:
            self.applet.set_docked(control == DOCKED)

    def take_input(self) -> None:
        self.hid.update(self.input)

    def take_presents(self) -> Mapping[str, object]:
        return {} if self.display is None else self.display.taken()

    def ask_to_close(self) -> None:
        self.applet.close()

    @property
    def screens(self) -> Mapping[str, Screen]:
        return {} if self.display is None else self.display.screens

    def recorder(self) -> Recorder:
        raise NotImplementedError

    def make_reader(self, program: Program) -> TextReader:
        raise NotImplementedError
