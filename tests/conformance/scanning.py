"""A console in emulated time, with a picture on a screen whose display controller is under test."""

from __future__ import annotations

import numpy as np

from .console import FCRAM, PDC0, PDC1, Console

TOP, BOTTOM = (PDC0, "top", "PDC0", 400), (PDC1, "bottom", "PDC1", 320)
HTOTAL, HSTART, HBR, HFP, HSYNC, HBP, HBL, HIRQ, FETCH = range(0x00, 0x24, 4)
VTOTAL, VSTART, VBORDER, VBLANK, VSYNC, VBP, VTOP, VIRQ, VCLOCK, POLARITY, BORDER, HCOUNT, VCOUNT = range(0x24, 0x58, 4)
SIZE, HPICTURE, VPICTURE = 0x5C, 0x60, 0x64
FORMAT, CONTROL, SELECT, STATUS, LATCH = 0x70, 0x74, 0x78, 0x7C, 0x9C
CYCLES = 24
"""CPU cycles to a pixel clock of screens with up to 400 lines (VTotal on the page)."""
BLUE = 0xFF0000
"""A border colour, 0x00BBGGRR, that no picture here has."""


class Scan(Console):
    """A controller that shows a random picture of RGB8 in which no pixel is black or blue."""

    def __init__(self, screen: tuple[int, str, str, int] = TOP, address: int = FCRAM, **choices: str) -> None:
        super().__init__({"timing": "emulated"}, **choices)
        self.base, self.name, self.line, self.width = screen
        self.address = address
        self.data = np.random.default_rng(7).integers(1, 255, (self.width + 100, 240, 3), np.uint8)
        self.put(address, self.data)
        self.show(self.base, x68=address, x6C=address)
        self.set(BORDER, BLUE)

    def set(self, register: int, value: int) -> None:
        self.write(self.base + register, value)

    def look(self, register: int) -> int:
        return self.read(self.base + register)

    @property
    def position(self) -> tuple[int, int]:
        """(HCount, VCount), without the time that a read of the registers takes."""
        return tuple(self.n3ds.position(self.name))

    def settled(self) -> np.ndarray:
        """What the screen shows when all settings have been taken over and a whole frame has been sent since.

        Rows are lines of the screen in the order in which they are sent, of 240 pixels each.
        """
        for _ in range(3):
            self.n3ds.step_vblank()
        return self.sent()

    def sent(self) -> np.ndarray:
        return self.n3ds.screens[self.name].array[::-1].transpose(1, 0, 2)

    def rows(self, first: int = 0, count: int | None = None) -> np.ndarray:
        """Rows of the framebuffer as pixels."""
        return self.data[first : first + (self.width if count is None else count), :, ::-1]

    def raised(self) -> int:
        """How often this controller's interrupt came since the last call."""
        return int(self.n3ds.take_interrupts().get(self.line, 0))

    def go_to(self, h: int, v: int) -> None:
        """Let time pass until the counters have these values."""
        mode = self.n3ds.display_mode(self.name)
        here = self.position
        clocks = (v - here[1]) % mode.lines * mode.clocks + h - here[0]
        self.n3ds.advance(clocks % (mode.clocks * mode.lines) * mode.divider)
        assert self.position == (h, v)

    @property
    def problems(self) -> set[str]:
        """What the mode is warned of."""
        return {p.id for p in self.n3ds.display_mode(self.name).problems if p.severity == "warning"}


def is_blue(pixels: np.ndarray) -> bool:
    return bool((pixels == [0, 0, 0xFF]).all())
