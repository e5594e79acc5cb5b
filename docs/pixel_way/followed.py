"""What the pages of both consoles ask about their pixel, and how a page is made of its stages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import pocketgpu
from pixel_way.writing import Page
from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.stage import Stage
from pocketgpu.inspect.model.why import Fragment, Touch


class Followed:
    """A pixel of the first frame, and what is known about it.

    answer: that of `why`. draw, fragment: what the stages are about; moment, registers: right after that draw.
    """

    def __init__(self, capture: Path, screen: str, address: str) -> None:
        self._screen = screen
        self.run = pocketgpu.debug(capture)
        self.answer = self.run.why(address)
        assert self.answer.proved
        touch = self.choose()
        self.draw: Event = touch.event
        self.fragment: Fragment = touch.writer
        self.moment = self.run.seek(self.draw.address)
        self.registers = self.moment.registers()

    def choose(self) -> Touch:
        """Find the draws that the page is about in the answer; returns the one whose fragment it follows."""
        raise NotImplementedError

    # -- registers ----------------------------------------------------------------------------------------------------
    def value(self, name: str) -> int:
        """The word of a register at the draw."""
        return int(self.registers[name])

    def words_of(self, event: Event) -> list[dict[str, Any]]:
        """The words that belong to a draw, as `pocketgpu decode --json` has them."""
        return [json.loads(line) for line in self.run.words_of(event)]

    @cached_property
    def words(self) -> list[dict[str, Any]]:
        """Those of the draw."""
        return self.words_of(self.draw)

    def entry(self, name: str) -> dict[str, Any]:
        """The last word that wrote a register for the draw."""
        written = [one for one in self.words if "new" in one.get("register", {})]
        return next(one for one in reversed(written) if one["register"]["name"] == name)

    # -- vertices and fragment ----------------------------------------------------------------------------------------
    @cached_property
    def corners(self) -> list[int]:
        """Numbers of the triangle's vertices in the draw."""
        return [int(str(one.address).rpartition("v")[2]) for one in self.fragment.corners]

    @cached_property
    def trace(self) -> Any:
        """The steps of the vertex program for the first of them."""
        return self.run.trace(self.fragment.corners[0].address)

    def stage(self, name: str, fragment: Fragment | None = None) -> Stage:
        """A stage of a fragment; by default of the one that the page follows."""
        found = (fragment or self.fragment).stage(name)
        assert found is not None
        return found

    # -- memory and picture -------------------------------------------------------------------------------------------
    def read(self, address: int, size: int) -> bytes:
        """Bytes right after the draw."""
        return bytes(self.run.seek(self.draw.address).read(address, size))

    @cached_property
    def screen(self) -> NDArray[np.uint8]:
        """The picture of the screen at the end of the frame."""
        return np.asarray(self.run.seek("f0").screens[self._screen].array)[..., :3]


Way = TypeVar("Way", bound=Followed)


def write(page: Page, way: Way, parts: Iterable[Callable[[Page, Way], None]]) -> Page:
    """The page, with all its parts in their order; its pictures are in its folder."""
    for part in parts:
        part(page, way)
    return page
