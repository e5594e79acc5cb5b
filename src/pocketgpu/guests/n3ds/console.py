"""A 3DS with a program in it: kernel, services, displays and input, driven by emulated time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from pocketgpu.events import Event
from pocketgpu.guests.input.controls import Controls
from pocketgpu.guests.input.player import Player
from pocketgpu.guests.input.script import Statement
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.files import Files
from pocketgpu.guests.kernel.processor import Processor
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.controls import ANSWERS, BUTTONS, CONTROLS, input_of
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
from pocketgpu.pica.display.screens import Screen
from pocketgpu.pica.n3ds import N3DS

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.console_text import ConsoleText
    from pocketgpu.guests.n3ds.recorder import N3DSRecorder

SCREENS = ("top", "bottom")
COUNTS = ("draws", "triangles", "fragments")


@dataclass
class Vblank:
    """What one VBlank did. number: from 1. presents: words of the framebuffer entries that were taken, by screen.
    frame: the number of this present, from 0; None if nothing was presented. counts: draws and so on since the VBlank
    before."""

    fixed_state: ClassVar = True  # once its VBlank is over

    number: int
    tick: int
    presents: dict[str, tuple[int, ...]] = field(default_factory=dict)
    frame: int | None = None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Inputs:
    """What a player does: see `Console`."""

    statements: tuple[Statement, ...]
    held: Mapping[int, Input]
    answers: Sequence[str | None]
    closes_at: int | None


class Console:
    """The console.

    player: who plays scripts. held: input at a VBlank, by its number, instead of the player's. applets: what the player
    answers to the keyboard and the like. vblanks: those that were. present_count: how often the program showed
    something new. font: what the memory of the shared font holds, if there is one.
    """

    outside_state = frozenset({"_reader"})

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
            machine.memory.write(layout.FONT_PHYSICAL, font)
            kernel.font = MemoryBlock("shared font", view, layout.FONT, layout.FONT_PHYSICAL)
        self.player = Player(CONTROLS)
        self.apt.answers_later = self._answers_later
        self.held: dict[int, Input] = {}
        self.closes_at: int | None = None
        self.vblanks: list[Vblank] = []
        self.present_count = 0
        self._reader: ConsoleText | None = None
        self._input = Input()
        kernel.time.at(layout.VBLANK, self._vblank)
        self._own_hid_clock = machine.choices["guest.hid_clock"] == "four-ms"
        if self._own_hid_clock:
            kernel.time.at(layout.HID_PERIOD, self._hid_update)

    def _hid_update(self, tick: int) -> None:
        self.kernel.time.at(tick + layout.HID_PERIOD, self._hid_update)
        self.hid.update(self._input)

    def _vblank(self, tick: int) -> None:
        kernel = self.kernel
        late = self.machine.choices["guest.vblank_clock"] == "late"
        kernel.time.at((kernel.time.now if late else tick) + layout.VBLANK, self._vblank)
        one = Vblank(len(self.vblanks) + 1, tick)
        self.vblanks.append(one)
        self._input = self.held.get(one.number) or self._played(len(self.vblanks) - 1)
        if not self._own_hid_clock:
            self.hid.update(self._input)
        if self.closes_at == one.number:
            self.apt.close()
        one.presents = {SCREENS[screen]: words for screen, words in self.gsp.taken().items()}
        if one.presents:
            one.frame, self.present_count = self.present_count, self.present_count + 1
        stats = self.machine.stats
        one.counts = {name: int(getattr(stats, name)) for name in COUNTS}
        stats.reset()
        self.machine.step_vblank()
        self.gsp.deliver()

    # -- for an App -------------------------------------------------------------------------------------------------
    @property
    def frame_count(self) -> int:
        """VBlanks so far."""
        return len(self.vblanks)

    @property
    def presented(self) -> int | None:
        """The number of the present that the last VBlank took; None if it took none."""
        return self.vblanks[-1].frame if self.vblanks else None

    @property
    def counts(self) -> Mapping[str, int]:
        """What the GPU did between the last two VBlanks: draws, triangles, fragments."""
        return self.vblanks[-1].counts if self.vblanks else dict.fromkeys(COUNTS, 0)

    @property
    def events(self) -> list[Event]:
        """What the machine and the kernel have to tell since they were asked the last time."""
        return [*self.machine.events.drain(), *self.kernel.events.drain()]

    def recorder(self) -> N3DSRecorder:
        """A recorder; call it before the program runs."""
        from pocketgpu.guests.n3ds.recorder import N3DSRecorder

        return N3DSRecorder(self.machine, self.kernel)

    @property
    def inputs(self) -> Inputs:
        """What the player does, in all frames."""
        return Inputs(self.player.statements, dict(self.held), tuple(self.applets.answers), self.closes_at)

    @inputs.setter
    def inputs(self, value: Inputs) -> None:
        self.held, self.closes_at = dict(value.held), value.closes_at
        self.applets.answers = list(value.answers)
        self.player = Player(CONTROLS)
        self.play(value.statements)

    @property
    def file_changes(self) -> int:
        """How often the program has changed files of the host, or was about to."""
        return self.fs.card.changes

    @property
    def screens(self) -> Mapping[str, Screen]:
        """The pictures of both screens."""
        return self.machine.screens

    @property
    def text(self) -> str:
        """What the program has printed with OutputDebugString."""
        return self.kernel.text.decode("utf-8", "backslashreplace")

    def console_text(self, program: Program) -> Mapping[str, str]:
        """What a program shows on its text consoles, by screen."""
        if self._reader is None:
            from pocketgpu.guests.n3ds.console_text import ConsoleText

            self._reader = ConsoleText(program)
        return self._reader.of(self.screens)

    @property
    def controls(self) -> Controls:
        """What a player finds here."""
        return CONTROLS

    def play(self, statements: Iterable[Statement]) -> None:
        """Do what a script says, beside what is done already."""
        self.player.add(statements)

    def _played(self, frame: int) -> Input:
        """What the player holds in a frame, after what happens once."""
        actions = self.player.at(frame)
        for control, values in actions.once:
            if control in ANSWERS:
                self.apt.answer(str(values[0]) if values else None)
            else:
                self.apt.press(BUTTONS[control])
        return input_of(actions)

    def _answers_later(self) -> bool:
        """Whether the script answers an applet that waits now."""
        return any(one.control in ANSWERS and one.first >= self.frame_count for one in self.player.statements)

    def close(self) -> None:
        """Ask the program to end, at the next VBlank."""
        self.closes_at = self.frame_count + 1
