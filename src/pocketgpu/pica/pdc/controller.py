"""A display controller of a machine with emulated time: counters, latched settings, line reads, interrupts.

The mode follows the timing registers at once, and the scan continues from its position. Addresses, stride, format and
select are latched once a frame (choice display.latch). Every line of the picture is read from memory when it begins, so
writes during the scan are visible from the next line on.

Source: 3dbrew GPU/External Registers (LCD source framebuffer setup); GBATEK for the latch and the status word.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from pocketgpu.events import EventKind
from pocketgpu.facts.external import EXTERNAL, SCREENS, shows_both
from pocketgpu.facts.memory_map import VRAM
from pocketgpu.facts.pica_enums import DMA_SIZE, INTERLACE
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.display.screens import ColorTable, fetch_rows, pixel_bits, row_colors
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.pdc.mode import WORDS, Beat, DisplayMode, display_mode
from pocketgpu.pica.pdc.scan import DARK, NOWHERE, PIXELS, RED, ScanPlan, scan_plan
from pocketgpu.pictures import Screen

_LEAST_APART = 1024
"""Least number of cycles between two wake-ups for the same kind of event; events in between are counted together. Lines
of a real screen take ten times as long. The limit bounds the work that unusual settings can cause."""

_COUNTING = ("htotal", "vtotal", "vclock", "divider", "enabled")
"""The fields of a mode that affect the counters."""

_MOST_PROBLEMS = 100
"""Limit of different problems reported per controller."""

_ROW_BYTES = (PIXELS + 2) * 4


class Host(Protocol):
    """The parts of the machine that a controller uses."""

    def interrupt(self, name: str, count: int = 1) -> None: ...
    def report(self, kind: EventKind, id: str, message: str) -> None: ...
    def traffic(self, name: str, count: int) -> None: ...
    def vblank(self, unit: int) -> None: ...


@dataclass(frozen=True, slots=True)
class LatchedRegisters:
    """The latched settings: addresses of both eyes' framebuffers, stride in bytes, format, and the selected pair of
    addresses."""

    a: int
    b: int
    stride: int
    color_format: int
    selected: int


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """How to decode screen lines to colours; shared by lines read with the same settings."""

    plan: ScanPlan
    color_format: int
    border: tuple[int, int, int]


class _Panel:
    """The screen's lines: bytes as they were read, and how to decode them (index into `looks`; -1 black)."""

    def __init__(self, lines: int) -> None:
        self.rows = np.zeros((lines, _ROW_BYTES), np.uint8)
        self.look = np.full(lines, -1, np.int32)
        self.plain = np.zeros(lines, np.bool_)
        """Lines with the border's colour only."""
        self.looks: list[_Look] = []

    def index(self, look: _Look) -> int:
        for number, known in enumerate(self.looks):
            if (known.plan, known.color_format, known.border) == (look.plan, look.color_format, look.border):
                return number
        if len(self.looks) >= 64:  # forget the ones that no line uses
            used = sorted(set(self.look[self.look >= 0].tolist()))
            place = np.full(len(self.looks) + 1, -1, np.int32)
            place[used] = np.arange(len(used))
            self.look = place[self.look]
            self.looks = [self.looks[number] for number in used]
        self.looks.append(look)
        return len(self.looks) - 1

    def resized(self, lines: int) -> _Panel:
        """The same picture on a screen with this number of lines."""
        if lines == len(self.look):
            return self
        panel = _Panel(lines)
        which = np.arange(lines) * len(self.look) // lines
        panel.rows, panel.look, panel.plain = self.rows[which], self.look[which], self.plain[which]
        panel.looks = self.looks
        return panel

    def colors(self, choices: Mapping[str, str]) -> np.ndarray:
        """RGB (lines, 240, 3)."""
        picture = np.zeros((len(self.look), PIXELS, 3), np.uint8)
        for number, look in enumerate(self.looks):
            lines = np.flatnonzero(self.look == number)
            if not len(lines):
                continue
            plan = look.plan
            out = np.empty((len(lines), PIXELS, 3), np.uint8)
            out[:] = look.border
            shown = plan.pixel >= 0
            size = plan.pixels * pixel_bits(look.color_format, choices) // 8
            if plan.pixels:
                colors = row_colors(np.ascontiguousarray(self.rows[lines, :size]), look.color_format, choices)
                out[:, shown] = colors[:, plan.pixel[shown] - plan.first_pixel]
                out[self.plain[lines]] = look.border
            out[:, plan.pixel == DARK] = 0
            out[:, plan.pixel == RED] = (255, 0, 0)
            picture[lines] = out
        return picture


class DisplayController:
    """Controller `unit` of a machine (0 top, 1 bottom). words: its 64 registers as stored."""

    def __init__(
        self,
        unit: int,
        words: np.ndarray,
        memory: GuestMemory,
        lut: ColorTable,
        host: Host,
        choices: Mapping[str, str],
    ) -> None:
        self.unit, self.name = unit, SCREENS[unit]
        self.words, self.memory, self.lut, self.host, self.choices = words, memory, lut, host, choices
        self._registers = {name: EXTERNAL[f"PDC{unit}_{name}"] for name in (*WORDS, "SELECT")}
        self._index = {name: register.offset % 0x100 // 4 for name, register in self._registers.items()}
        self.error = self.dirty = False
        self._anchor = 0
        self._line = -1  # the last line that was read, counted from the anchor
        self._next_line = 0
        self._reported: set[str] = set()
        self.mode = self._read_mode()
        self._plan: ScanPlan | None = None
        self.panel = _Panel(self.mode.panel_lines)
        self.settings = self._read_settings()
        self._beats: dict[str, Beat] = {}
        self._last: dict[str, int] = {}
        self.due: int | None = None
        self._start(0)

    # -- registers ----------------------------------------------------------------------------------------------------
    def _word(self, name: str) -> int:
        return int(self.words[self._index[name]])

    def _read_mode(self) -> DisplayMode:
        return display_mode(self.name, {name: self._word(name) for name in WORDS}, self.choices)

    def _read_settings(self) -> LatchedRegisters:
        selected = int(self._registers["SELECT"]["next"].raw(self._word("SELECT")))
        address = lambda eye: int(self.words[EXTERNAL[f"PDC{self.unit}_ADDRESS_{eye}{selected}"].offset % 0x100 // 4])
        return LatchedRegisters(address("A"), address("B"), self.mode.stride, self.mode.color_format, selected)

    def settle(self, now: int) -> None:
        """Apply registers that were written (`dirty`): the scan continues from its position in the new mode."""
        if not self.dirty:
            return
        self.dirty = False
        mode = self._read_mode()
        if mode == self.mode:
            return
        old, position = self.mode, self.position(now)
        self.mode = mode
        self._plan = None
        self.panel = self.panel.resized(mode.panel_lines)
        if any(getattr(old, name) != getattr(mode, name) for name in _COUNTING):
            self._start(now, position if old.enabled else None)
        else:
            self._find_beats(now)
        if mode.enabled:
            self._warn()

    def _warn(self) -> None:
        for problem in self.mode.problems:
            known = problem.text in self._reported or len(self._reported) >= _MOST_PROBLEMS
            if problem.severity == "warning" and not known:
                self._reported.add(problem.text)
                self.host.report("warning", f"display.{problem.id}", f"{self.name} screen: {problem.text}")

    def _start(self, now: int, position: tuple[int, int] | None = None) -> None:
        """Restart the counters at `now`, from a position or from 0."""
        mode = self.mode
        if position is None:
            self._anchor, self._line, self._next_line = now, -1, now
            self._find_beats(now)
            return
        h, v = min(position[0], mode.htotal), min(position[1], mode.vtotal)
        line = v + (h < mode.vclock) if mode.vclock < mode.clocks else v
        self._anchor = now - (line * mode.line_cycles + h * mode.divider)
        self._line = line
        self._next_line = self._anchor + (self._line + 1) * mode.line_cycles
        self._find_beats(now)

    def _find_beats(self, now: int) -> None:
        mode = self.mode
        beats = {name: mode.beat(name) for name in ("latch", "h_irq", "v_irq")} if mode.enabled else {}
        self._beats = {name: beat for name, beat in beats.items() if beat is not None}
        if mode.h_irq_off:
            self._beats.pop("h_irq", None)
        self._last = dict.fromkeys(self._beats, now)
        self._plan_next()

    # -- time ---------------------------------------------------------------------------------------------------------
    def position(self, now: int) -> tuple[int, int]:
        """(HCount, VCount)."""
        return self.mode.position(now - self._anchor) if self.mode.enabled else (0, 0)

    @property
    def has_vblank(self) -> bool:
        """Whether it ever reaches a VBlank."""
        return "v_irq" in self._beats

    def status(self, now: int) -> int:
        """The word of STATUS."""
        return self.mode.status(now - self._anchor, self.error) if self.mode.enabled else 0

    def _wake(self, name: str) -> int:
        beat, last = self._beats[name], self._last[name]
        soonest = beat.next(last - self._anchor) + self._anchor
        return soonest if beat.period >= _LEAST_APART else max(soonest, last + _LEAST_APART)

    def _plan_next(self) -> None:
        self.due = min((self._wake(name) for name in self._beats), default=None)

    def run(self, now: int) -> None:
        """Run everything that is due: latch settings, raise interrupts."""
        for name in ("v_irq", "h_irq", "latch"):
            beat = self._beats.get(name)
            if beat is None or self._wake(name) > now:
                continue
            count = beat.count(self._last[name] - self._anchor, now - self._anchor)
            self._last[name] = now
            if name == "latch":
                self._take_over()
            else:
                self._happened(name, count)
        self._plan_next()

    def _happened(self, name: str, count: int) -> None:
        masked = self.mode.v_irq_off if name == "v_irq" else self.mode.h_irq_off
        if name == "v_irq":
            self.host.vblank(self.unit)
        if not masked:
            self._flag(name)
            self.host.interrupt(f"PDC{self.unit}", count)

    def _flag(self, name: str) -> None:
        at = self._index["SELECT"]
        self.words[at] = self._registers["SELECT"][name].encode(1, int(self.words[at]))

    def _take_over(self) -> None:
        self.settings = self._read_settings()
        at = self._index["SELECT"]
        self.words[at] = self._registers["SELECT"]["current"].encode(self.settings.selected, int(self.words[at]))

    def reset_fifo(self) -> None:
        """Clear the error state."""
        self.error = False

    # -- lines --------------------------------------------------------------------------------------------------------
    def pass_to(self, now: int) -> None:
        """Time advanced to `now`: read the lines that began since the last call."""
        mode = self.mode
        if now < self._next_line or not mode.enabled:
            return
        last = (now - self._anchor) // mode.line_cycles
        first = max(self._line + 1, last - mode.lines + 1)
        self._line = last
        self._next_line = self._anchor + (last + 1) * mode.line_cycles
        plan = self._plan = self._plan or scan_plan(mode)
        late = int(mode.vclock > 0)
        lines = (np.arange(first, last + 1) - late) % mode.lines
        lines = lines[plan.panel[lines] != NOWHERE]
        if len(lines):
            self._read_lines(plan, lines)

    def _read_lines(self, plan: ScanPlan, lines: np.ndarray) -> None:
        mode, settings, panel = self.mode, self.settings, self.panel
        places, buffers, sources = plan.panel[lines], plan.buffer[lines], plan.source[lines]
        if not mode.output:
            panel.look[places] = -1
            return
        panel.look[places] = panel.index(_Look(plan, settings.color_format, mode.border))
        panel.plain[places] = buffers == NOWHERE
        bits = pixel_bits(settings.color_format, self.choices)
        size, skip = plan.pixels * bits // 8, plan.first_pixel * bits // 8
        if not size:
            return
        for number, base in enumerate((settings.a, settings.b)):
            mine = buffers == number
            if not mine.any():
                continue
            wanted = sources[mine]
            low, high = int(wanted.min()), int(wanted.max())
            rows = self._fetch(base, skip, low, high - low + 1, size)
            panel.rows[places[mine], :size] = rows[wanted - low]
            self.host.traffic(f"PDC{self.unit}_READ", len(wanted) * mode.width * bits // 8)

    def _fetch(self, base: int, skip: int, first: int, count: int, size: int) -> np.ndarray:
        """Rows of a framebuffer; unmapped ones are black."""
        dark = np.zeros((count, size), np.uint8)
        if base == 0:
            return dark
        reading = self.choices["display.dma_size_3"]
        unreadable = reading == "always-black" or (reading == "black" and not VRAM.contains(base))
        if self.mode.dma_size == DMA_SIZE.CODE_3 and unreadable:
            self._fail("display.dma-size", "the framebuffer cannot be read with DMA size 3: the screen is black")
            return dark
        stride = self.settings.stride
        rows, missing = fetch_rows(self.memory, (base + first * stride) & 0xFFFFFFFF, stride, count, skip + size)
        if missing:
            self._fail("display.unmapped", f"lines from {base:#010x}, stride {stride}, lie outside memory", "fault")
        return rows[:, skip:]

    def _fail(self, id: str, message: str, kind: EventKind = "warning") -> None:
        self.host.report(kind, id, f"{self.name} screen: {message}")
        if not self.error and not self.mode.error_irq_off:
            self._flag("error_irq")
            self.host.interrupt(f"PDC{self.unit}")
        self.error = True

    # -- pictures -----------------------------------------------------------------------------------------------------
    def screens(self) -> list[Screen]:
        """The pictures on the screen: one, or one for each eye."""
        mode, eyes = self.mode, [self.name]
        lines = self.panel.colors(self.choices) if mode.enabled else np.zeros((mode.panel_lines, PIXELS, 3), np.uint8)
        pictures = [self.lut.apply(lines)] if mode.enabled else [lines]
        if self.unit == 0 and shows_both(mode.interlace):
            pictures = [pictures[0][0::2], pictures[0][1::2]]
            if len(lines) == 400:  # each line appears twice
                pictures = [np.repeat(picture, 2, axis=0) for picture in pictures]
            if self.settings.a == self.settings.b:
                pictures = pictures[:1]
            eyes.append(f"{self.name}-right")
        elif self.unit == 0 and mode.interlace == INTERLACE.A_TWICE and len(lines) == 800:
            pictures = [pictures[0][0::2]]
        return [
            Screen(eye, np.ascontiguousarray(picture.transpose(1, 0, 2)[::-1]))
            for eye, picture in zip(eyes, pictures, strict=False)
        ]
