"""The mode of a display controller's registers: totals, sync, borders, picture, refresh and interrupts.

A controller counts pixel clocks (HCount) and lines (VCount). Each timing register is a count at which a phase begins:
sync, back porch, border, picture, border again, front porch. Names follow the wiki, where "horizontal" is along a row
of memory, which is vertical when the console is held as usual.

Nothing here needs a machine: a mode is made of register words; counters and status are functions of a mode and of a
time in CPU cycles since both counters were 0.

Source: 3dbrew GPU/External Registers (LCD source framebuffer setup); GBATEK for the status word and the clock of modes
with 800 lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from itertools import pairwise
from typing import Any

from pocketgpu.displayed import line_of
from pocketgpu.facts.choices import DEFAULTS
from pocketgpu.facts.external import EXTERNAL, SCREENS, shows_both
from pocketgpu.facts.timing import CPU_CLOCK, FAST_PIXEL_DIVIDER, PIXEL_DIVIDER
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.pdc.mode_warnings import problems
from pocketgpu.pica.pdc.problem import Problem

_POLARITY = EXTERNAL["PDC0_POLARITY"]

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a line or frame: `length` counts from count `start` on (the last count is followed by 0)."""

    name: str
    start: int
    length: int

    def place(self, count: int, total: int) -> int | None:
        """The position of `count` in the range; None outside. total: counts of the whole line or frame."""
        at = (count - self.start) % total
        return at if at < self.length else None


@dataclass(frozen=True, slots=True)
class Beat:
    """A periodic event: at `offset`, every `period` CPU cycles."""

    period: int
    offset: int

    def next(self, cycle: int) -> int:
        """The time of the first event after `cycle`."""
        return self.offset + ((cycle - self.offset) // self.period + 1) * self.period

    def count(self, after: int, until: int) -> int:
        """The number of events later than `after`, up to and including `until`."""
        return (until - self.offset) // self.period - (after - self.offset) // self.period


def _spans(total: int, sync: int, back: int, border: int, low: int, high: int, front: int, runs: bool) -> list[Span]:
    """The phases of a line or frame in order of time, from the sync pulse on.

    A register that is never reached starts nothing. If two are equal, the later one in the chain wins. Border and
    picture are thresholds: if their count passed before the back porch, they start as soon as the back porch does. Only
    the back porch ends the sync pulse.
    """
    base = sync if sync < total else 0
    begin = max(back, border)
    picture = max(begin, low)
    chain = [
        ("back porch", back),
        ("border", begin),
        ("picture", picture),
        ("end border", high),
        ("front porch", front),
    ]
    events = [((at - base) % total, name) for name, at in chain if at < total]
    if runs:
        leave = (back - base) % total if back < total else total
        events = [(0, "sync"), *(event for event in events if event[0] >= leave)]
    if not events:
        return [Span("sync" if runs else "back porch", base, total)]
    events = sorted(events, key=lambda event: event[0])  # stable: ties stay in the order of the chain
    # Before the first event, the last phase of the round before continues.
    rounds = [(0, events[-1][1]), *events, (total, "")]
    return [Span(name, (base + at) % total, until - at) for (at, name), (until, _) in pairwise(rounds) if at < until]


@dataclass(frozen=True)
class DisplayMode:
    """The mode of one controller; made by `display_mode`. Pairs are (low half, high half) of a register.

    Counts are in pixel clocks and lines, `stride` in bytes, frequencies in Hz, times in CPU cycles.
    """

    screen: str
    htotal: int
    hstart: int
    hbr: int
    hfp: int
    hsync: int
    hbp: int
    hbl: int
    vtotal: int
    vstart: int
    vborder: int
    vblank: int
    vsync: int
    vbp: int
    vtop: int
    vclock: int
    h_irq: Pair
    v_irq: Pair
    h_picture: Pair
    v_picture: Pair
    latch: Pair
    fetch: Pair
    width: int
    height: int
    border: tuple[int, int, int]
    stride: int
    color_format: int
    interlace: int
    scan_doubling: bool
    dma_size: int
    dma_interval: int
    enabled: bool
    output: bool
    h_irq_off: bool
    v_irq_off: bool
    error_irq_off: bool
    sync_bits: int
    choices: Mapping[str, str] = field(repr=False, compare=False, hash=False, default_factory=lambda: dict(DEFAULTS))

    def __repr__(self) -> str:
        return line_of(self, f"{self.screen}: {self.clocks} clocks x {self.lines} lines, {self.refresh:.3f} Hz")

    # -- clocks -------------------------------------------------------------------------------------------------------
    @property
    def clocks(self) -> int:
        """Pixel clocks of a line."""
        return self.htotal + 1

    @property
    def lines(self) -> int:
        """Lines of a frame, including invisible ones."""
        return self.vtotal + 1

    @property
    def divider(self) -> int:
        """CPU cycles per pixel clock; fewer for the top screen with 800 lines."""
        return FAST_PIXEL_DIVIDER if self.screen == "top" and not self.scan_doubling else PIXEL_DIVIDER

    @property
    def pixel_clock(self) -> float:
        return CPU_CLOCK / self.divider

    @property
    def line_rate(self) -> float:
        """Lines per second."""
        return self.pixel_clock / self.clocks

    @property
    def refresh(self) -> float:
        """Frames per second."""
        return self.line_rate / self.lines

    @property
    def line_cycles(self) -> int:
        return self.divider * self.clocks

    @property
    def frame_cycles(self) -> int:
        return self.line_cycles * self.lines

    # -- the scan -----------------------------------------------------------------------------------------------------
    @property
    def hsync_runs(self) -> bool:
        """Whether the line sync happens: the back porch must come later, and POLARITY must not stop it."""
        stopped = self.choices["display.sync_bits"] == "disable" and bool(_POLARITY["h"].raw(self.sync_bits))
        return self.hsync < self.hbp and self.hsync < self.clocks and not stopped

    @property
    def vsync_runs(self) -> bool:
        """Whether the frame sync happens."""
        stopped = self.choices["display.sync_bits"] == "disable" and bool(_POLARITY["v8"].raw(self.sync_bits))
        return self.vsync != self.vbp and self.vsync < self.lines and not stopped

    @property
    def glitched(self) -> bool:
        """The border starts after the picture: no pixels are sent at all."""
        return self.hbl > self.h_picture[0]

    @cached_property
    def horizontal(self) -> tuple[Span, ...]:
        """The phases of a line in order of time: "sync", "back porch", "border", "picture", "end border", "front
        porch".

        HBR starts nothing visible, so it is not among them.
        """
        low, high = self.h_picture
        spans = _spans(self.clocks, self.hsync, self.hbp, self.hbl, low, high, self.hfp, self.hsync_runs)
        if not self.glitched:
            return tuple(spans)
        dark = ("border", "picture", "end border")
        return tuple(Span("back porch", s.start, s.length) if s.name in dark else s for s in spans)

    @cached_property
    def vertical(self) -> tuple[Span, ...]:
        """The phases of a frame, in the form of `horizontal`.

        A VBLANK inside the picture repeats lines (see `scan`) instead of ending it.
        """
        low, high = self.v_picture
        front = max(self.vblank, high) if self.vblank < self.lines else self.vblank
        return tuple(_spans(self.lines, self.vsync, self.vbp, self.vtop, low, high, front, self.vsync_runs))

    def at_clock(self, h: int) -> str:
        """Name of the phase at HCount `h`."""
        return next(span.name for span in self.horizontal if span.place(h, self.clocks) is not None)

    def at_line(self, v: int) -> str:
        """Name of the phase at VCount `v`."""
        return next(span.name for span in self.vertical if span.place(v, self.lines) is not None)

    @property
    def back_porch(self) -> int:
        """Clocks between the sync pulse and the first pixel sent."""
        return max(0, self.hbl - self.hbp)

    @property
    def front_porch(self) -> int:
        """Clocks between the last pixel sent and the sync pulse."""
        return (self.hsync - self.hfp) % self.clocks

    @property
    def blanking(self) -> int:
        """Clocks of a line without pixels."""
        return sum(s.length for s in self.horizontal if s.name in ("sync", "back porch", "front porch"))

    @property
    def _vstart_shift(self) -> int:
        """Lines by which VSTART moves the picture down; negative: lines that it cuts off."""
        if self.vertical_sync_skipped:
            return 0
        wiki = self.choices["display.vstart"] == "wiki"
        return self.vstart - (self.vtotal - self.vsync if wiki else self.v_picture[0])

    @property
    def cut_lines(self) -> int:
        """Lines missing at the start of the picture, because VSTART is low."""
        return max(0, -self._vstart_shift)

    @property
    def pushed_lines(self) -> int:
        """Lines by which the picture starts later, because VSTART is high; they have the border's colour."""
        return max(0, self._vstart_shift)

    @property
    def vertical_sync_skipped(self) -> bool:
        """VSTART is greater than HTOTAL: the picture continues after its end instead of starting again."""
        return self.vstart > self.htotal

    @property
    def skipped_lines(self) -> int:
        """Lines of memory that are skipped in this case."""
        return max(0, self.vstart - self.htotal)

    @property
    def panel_lines(self) -> int:
        """Lines of the physical screen."""
        return 320 if self.screen == "bottom" else 800 if self.divider == FAST_PIXEL_DIVIDER else 400

    # -- modes of the system software ---------------------------------------------------------------------------------
    @property
    def stereo(self) -> bool:
        """Two pictures are shown, and system software may enable the parallax barrier."""
        return self.screen == "top" and shows_both(self.interlace) and not self.scan_doubling

    @property
    def gsp_mode(self) -> int | None:
        """The mode as the system software (gsp) sees it: 0 flat, 1 wide (800 lines), 2 stereo; None: no mode.

        gsp reads two bits of FORMAT: bit 5 (both pictures are shown) and bit 6 (lines are doubled). Neither: wide; only
        bit 6: flat; only bit 5: stereo; both: None.
        """
        parallax = shows_both(self.interlace)
        if parallax and self.scan_doubling:
            return None
        return 2 if parallax else 0 if self.scan_doubling else 1

    # -- interrupts ---------------------------------------------------------------------------------------------------
    @property
    def h_irq_fires(self) -> bool:
        """Whether HIRQ is a position that is reached, within the documented limits."""
        low, high = self.h_irq
        return low < high < self.htotal

    @property
    def v_irq_fires(self) -> bool:
        """The same for VIRQ."""
        low, high = self.v_irq
        return low < high < self.vtotal and self.vclock < self.clocks

    def beat(self, what: str) -> Beat | None:
        """When "h_irq", "v_irq" or "latch" happens, masked or not; None: never.

        The frame's interrupt comes at HCount 0 of its line. New settings are latched at the position in LATCH or, with
        display.latch=vblank, together with the frame's interrupt.

        :raises ValueError: it is none of the three.
        """
        late = int(self.vclock > 0)  # VCount steps inside of a line, so at HCount 0 a line still has the count before
        if what == "latch" and self.choices["display.latch"] == "vblank":
            what = "v_irq"
        if what == "h_irq":
            return Beat(self.line_cycles, self.h_irq[0] * self.divider) if self.h_irq_fires else None
        if what == "v_irq":
            place = (self.v_irq[0] + late) * self.line_cycles
            return Beat(self.frame_cycles, place % self.frame_cycles) if self.v_irq_fires else None
        if what != "latch":
            raise ValueError(f"{what!r} is not h_irq, v_irq or latch")
        h, v = self.latch
        if h >= self.clocks or v >= self.lines or self.vclock >= self.clocks:
            return None
        place = (v + (h < self.vclock)) * self.line_cycles + h * self.divider
        return Beat(self.frame_cycles, place % self.frame_cycles)

    # -- counters -----------------------------------------------------------------------------------------------------
    def position(self, cycle: int) -> tuple[int, int]:
        """(HCount, VCount) this number of CPU cycles after both were 0."""
        clock = cycle // self.divider
        if self.vclock >= self.clocks:
            return clock % self.clocks, 0
        return clock % self.clocks, (clock - self.vclock) // self.clocks % self.lines

    def status(self, cycle: int, error: bool = False) -> int:
        """The word of STATUS (0x7C) at that time; `error`: the machine's memory accesses failed.

        The latch flag is assumed to stay set for the rest of the line after the position in LATCH.
        """
        h, v = self.position(cycle)
        line, frame = self.at_clock(h), self.at_line(v)
        h_blank, v_blank = ("front porch", "sync", "back porch"), ("front porch", "sync", "back porch")
        return EXTERNAL["PDC0_STATUS"].encode(
            v_irq_area=self.v_irq[0] <= v < self.v_irq[1],
            h_irq_area=self.h_irq[0] <= h < self.h_irq[1],
            latch=v == self.latch[1] and h >= self.latch[0],
            vsync=frame == "sync",
            vblank=frame in v_blank,
            v_picture=frame == "picture",
            hsync=line == "sync",
            hblank=line in h_blank,
            h_picture=line == "picture",
            error=error,
        )

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """The documents' warnings about this mode."""
        return problems(self)


_COUNTS = (
    *("HTOTAL", "HSTART", "HBR", "HFP", "HSYNC", "HBP", "HBL"),
    *("VTOTAL", "VSTART", "VBORDER", "VBLANK", "VSYNC", "VBP", "VTOP", "VCLOCK"),
)
_PAIRS = {"h_irq": "HIRQ", "v_irq": "VIRQ", "h_picture": "HPICTURE", "v_picture": "VPICTURE", "latch": "LATCH"}

WORDS = (
    *_COUNTS, *_PAIRS.values(),
    *("FETCH", "SIZE", "BORDER_COLOR", "FORMAT", "CONTROL", "STRIDE", "POLARITY"),
)  # fmt: skip
"""Registers of a mode, without the controller's prefix."""


def display_mode(
    screen: str = "top", words: Mapping[str, int] | None = None, choices: Mapping[str, str] | None = None
) -> DisplayMode:
    """The mode that register words describe.

    screen: "top" or "bottom". words: by name, with or without the prefix `PDC0_` or `PDC1_`; missing ones have their
    reset value. choices: chosen values; others have their defaults.

    :raises ValueError: another screen, or a name that is not a register of a mode.
    """
    if screen not in SCREENS:
        raise ValueError(f"a screen is 'top' or 'bottom', not {screen!r}")
    prefix = f"PDC{SCREENS.index(screen)}_"
    given = {name.upper().removeprefix(prefix): word & 0xFFFFFFFF for name, word in (words or {}).items()}
    for name in given:
        if prefix + name not in EXTERNAL:
            raise ValueError(f"{name} is no register of the {screen} screen's controller")
    word = {name: given.get(name, EXTERNAL[prefix + name].reset) for name in WORDS}

    def value(name: str, part: str) -> Any:
        return EXTERNAL[prefix + name][part].decode(word[name])

    def both(name: str, low: str, high: str) -> Pair:
        return value(name, low), value(name, high)

    counts: dict[str, Any] = {name.lower(): value(name, "value") for name in _COUNTS}
    pairs: dict[str, Any] = {key: both(name, "start", "end") for key, name in _PAIRS.items() if name != "LATCH"}
    return DisplayMode(
        screen=screen,
        **counts,
        **pairs,
        latch=both("LATCH", "h", "v"),
        fetch=both("FETCH", "low", "high"),
        width=value("SIZE", "width"),
        height=value("SIZE", "height"),
        border=(value("BORDER_COLOR", "r"), value("BORDER_COLOR", "g"), value("BORDER_COLOR", "b")),
        stride=value("STRIDE", "stride"),
        color_format=value("FORMAT", "color_format"),
        interlace=value("FORMAT", "interlace"),
        scan_doubling=value("FORMAT", "scan_doubling"),
        dma_size=value("FORMAT", "dma_size"),
        dma_interval=value("FORMAT", "dma_interval"),
        enabled=value("CONTROL", "enable"),
        output=value("CONTROL", "output_enable"),
        h_irq_off=value("CONTROL", "h_irq_off"),
        v_irq_off=value("CONTROL", "v_irq_off"),
        error_irq_off=value("CONTROL", "error_irq_off"),
        sync_bits=word["POLARITY"],
        choices={**DEFAULTS, **(choices or {})},
    )
