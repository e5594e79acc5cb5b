"""A 3DS with a program in it: kernel, services, displays and input, driven by emulated time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pocketgpu.guests.kernel.files import Files
from pocketgpu.guests.kernel.processor import Processor
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.abi.blocks import MemoryBlock
from pocketgpu.guests.n3ds.kernel import N3DSKernel
from pocketgpu.guests.n3ds.services.apt import Apt, ErrorPort
from pocketgpu.guests.n3ds.services.cfg import Config
from pocketgpu.guests.n3ds.services.csnd import Csnd
from pocketgpu.guests.n3ds.services.dsp import Dsp
from pocketgpu.guests.n3ds.services.fs import FsUser
from pocketgpu.guests.n3ds.services.gsp import GspGpu, GspLcd
from pocketgpu.guests.n3ds.services.hid import Hid, Input, key_bits
from pocketgpu.guests.n3ds.services.power import Mcu, Ptm, PtmClock, PtmSysm
from pocketgpu.guests.n3ds.services.small import Ndm
from pocketgpu.guests.n3ds.services.srv import Srv
from pocketgpu.pica.display.screens import Screen
from pocketgpu.pica.n3ds import N3DS

SCREENS = ("top", "bottom")


@dataclass
class Vblank:
    """What one VBlank did. number: from 1. presents: words of the framebuffer entries that were taken, by screen.
    frame: the number of this present, from 0; None if nothing was presented."""

    number: int
    tick: int
    presents: dict[str, tuple[int, ...]] = field(default_factory=dict)
    frame: int | None = None


class Console:
    """The console.

    held: what the player does at a VBlank, by its number. buttons: "HOME", "POWER", "SLEEP" and "CLOSE" that are
    pressed at a VBlank. applets: what the player answers to the keyboard and the like. vblanks: those that were.
    present_count: how often the program showed something new. font: what the memory of the shared font holds, if there
    is one.
    """

    def __init__(self, processor: Processor, machine: N3DS, card: Files, *, font: bytes | None = None) -> None:
        self.machine = machine
        self.kernel = kernel = N3DSKernel(processor, machine)
        self.apt, self.gsp, self.hid = Apt(kernel), GspGpu(kernel), Hid(kernel)
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
            view[: len(font)] = font
            kernel.font = MemoryBlock("shared font", view, layout.FONT, layout.FONT_PHYSICAL)
        self.held: dict[int, Input] = {}
        self.closes_at: int | None = None
        self.buttons: dict[int, list[str]] = {}
        self.vblanks: list[Vblank] = []
        self.present_count = 0
        kernel.time.at(layout.VBLANK, self._vblank)

    def _vblank(self, tick: int) -> None:
        kernel = self.kernel
        late = self.machine.choices["guest.vblank_clock"] == "late"
        kernel.time.at((kernel.time.now if late else tick) + layout.VBLANK, self._vblank)
        one = Vblank(len(self.vblanks) + 1, tick)
        self.vblanks.append(one)
        self.hid.update(self.held.get(one.number, Input()))
        if self.closes_at == one.number:
            self.apt.close()
        for button in self.buttons.get(one.number, ()):
            self.apt.press(button)
        one.presents = {SCREENS[screen]: words for screen, words in self.gsp.taken().items()}
        if one.presents:
            one.frame, self.present_count = self.present_count, self.present_count + 1
        self.machine.step_vblank()
        self.gsp.deliver()

    # -- for an App -------------------------------------------------------------------------------------------------
    @property
    def frame_count(self) -> int:
        """VBlanks so far."""
        return len(self.vblanks)

    @property
    def screens(self) -> Mapping[str, Screen]:
        """The pictures of both screens."""
        return self.machine.screens

    @property
    def text(self) -> str:
        """What the program has printed with OutputDebugString."""
        return self.kernel.text.decode("utf-8", "backslashreplace")

    def press(self, keys: str, first: int, count: int) -> None:
        """Hold keys ("A+UP") at `count` VBlanks, beside those that are held already.

        :raises UsageError: there is no such key.
        """
        bits = key_bits(keys)
        for number in range(first, first + count):
            before = self.held.get(number, Input())
            self.held[number] = replace(before, keys=before.keys | bits)

    def close(self) -> None:
        """Ask the program to end, at the next VBlank."""
        self.closes_at = self.frame_count + 1
