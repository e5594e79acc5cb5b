"""A 3DS with a program in it: kernel, services, displays and input, driven by emulated time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from pocketgpu.facts import console_font as console_fonts
from pocketgpu.facts.external import SCREENS
from pocketgpu.guests.input.controls import ANSWERING
from pocketgpu.guests.input.player import Actions
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.console import Console
from pocketgpu.guests.kernel.files import Files
from pocketgpu.guests.kernel.processor import Processor
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.controls import BUTTONS, CONTROLS, input_of
from pocketgpu.guests.n3ds.kernel import N3DSKernel
from pocketgpu.guests.n3ds.services.apt import Apt
from pocketgpu.guests.n3ds.services.cfg import Config
from pocketgpu.guests.n3ds.services.csnd import Csnd
from pocketgpu.guests.n3ds.services.dsp import Dsp
from pocketgpu.guests.n3ds.services.error import ErrorPort
from pocketgpu.guests.n3ds.services.fs import FsUser
from pocketgpu.guests.n3ds.services.gsp import GspGpu, GspLcd
from pocketgpu.guests.n3ds.services.hid import Hid, Input
from pocketgpu.guests.n3ds.services.power import Mcu, Ptm, PtmClock, PtmSysm
from pocketgpu.guests.n3ds.services.small import Ndm
from pocketgpu.guests.n3ds.services.srv import Srv
from pocketgpu.pica.display.screens import BOTTOM_WIDTH, HEIGHT, TOP_WIDTH
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pictures import Screen

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.recorder import N3DSRecorder


class N3DSConsole(Console[N3DS, N3DSKernel, Input]):
    """The console.

    applets: programs of the system that a program calls. font: what the memory of the shared font holds, if there is
    one.
    """

    screen_sizes: ClassVar = {"top": (TOP_WIDTH, HEIGHT), "bottom": (BOTTOM_WIDTH, HEIGHT)}
    touch_screen, vblank_ticks = "bottom", layout.VBLANK
    screen_names, counted, controls = SCREENS, ("draws", "triangles", "fragments"), CONTROLS
    console_font = console_fonts.N3DS

    def __init__(self, processor: Processor, machine: N3DS, card: Files, *, font: bytes | None = None) -> None:
        kernel = N3DSKernel(processor, machine)
        self.apt, self.gsp, self.hid = Apt(kernel), GspGpu(kernel), Hid(kernel)
        super().__init__(machine, kernel, card, Input(), self.apt.applets.answers)
        self.config, self.fs = Config(kernel), FsUser(kernel, card)
        self.srv, self.applets = Srv(kernel), self.apt.applets
        kernel.ports.update({"srv:": self.srv, "err:f": ErrorPort(kernel)})
        needed = [self.apt, self.gsp, GspLcd(kernel), self.hid, self.fs, self.config, Ptm(kernel), PtmSysm(kernel)]
        needed.append(Ndm(kernel))
        if machine.choices["guest.services"] == "console":
            others = (Mcu(kernel), PtmClock(kernel), Csnd(kernel), Dsp(kernel))
            kernel.services.update({name: one for one in (*needed, *others) for name in (one.name, *one.also)})
        else:
            kernel.services.update({one.name: one for one in needed} | dict.fromkeys(self.apt.also, self.apt))
        if font is not None:
            view = machine.memory.view(layout.FONT_PHYSICAL, layout.FONT_SIZE).data
            machine.memory.write(layout.FONT_PHYSICAL, font)
            kernel.font = MemoryBlock("shared font", view, layout.FONT, layout.FONT_PHYSICAL)
        kernel.time.at(layout.VBLANK, self._vblank)
        self._own_hid_clock = machine.choices["guest.hid_clock"] == "four-ms"
        if self._own_hid_clock:
            kernel.time.at(layout.HID_PERIOD, self._hid_update)

    def _hid_update(self, tick: int) -> None:
        self.kernel.time.at(tick + layout.HID_PERIOD, self._hid_update)
        self.hid.update(self.input)

    def _vblank(self, tick: int) -> None:
        kernel = self.kernel
        late = self.machine.choices["guest.vblank_clock"] == "late"
        kernel.time.at((kernel.time.now if late else tick) + layout.VBLANK, self._vblank)
        self.vblank(tick)
        self.machine.step_vblank()
        self.gsp.deliver()

    def take_input(self) -> None:
        if not self._own_hid_clock:
            self.hid.update(self.input)

    def take_presents(self) -> Mapping[str, tuple[int, ...]]:
        """Words of the framebuffer entries that were taken, by screen."""
        return {SCREENS[screen]: words for screen, words in self.gsp.taken().items()}

    @property
    def settled(self) -> bool:
        return not self.machine.work_ends_later

    def ask_to_close(self) -> None:
        self.apt.close()

    def recorder(self) -> N3DSRecorder:
        from pocketgpu.guests.n3ds.recorder import N3DSRecorder

        return N3DSRecorder(self.machine, self.kernel)

    @property
    def screens(self) -> Mapping[str, Screen]:
        return self.machine.screens

    def input_of(self, actions: Actions) -> Input:
        return input_of(actions)

    def do_once(self, control: str, values: Sequence[float | str]) -> None:
        if control in ANSWERING:
            self.apt.answer(str(values[0]) if values else None)
        else:
            self.apt.press(BUTTONS[control])
