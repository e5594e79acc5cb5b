"""Observers of a GM20B: commands, draws, launches, textures, and the memory that they read or write.

    class Counting(Observer):
        wants_draws = True

        def draw(self, draw, run):
            run()
            print(draw.topology_name, draw.count)

    with gpu.observed(Counting()):
        gpu.submit(...)

Every method does nothing unless a subclass overrides it; by default, `draw` and `launch` run the draw or launch. An
exception of an observer ends `GM20B.submit`; only after one from `stopped` can the machine continue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu import observer
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.memory.places import Offsets, Places

if TYPE_CHECKING:
    from pocketgpu.facts.maxwell.formats import PixelLayout
    from pocketgpu.maxwell.display.present import Picture, Surface
    from pocketgpu.maxwell.engines.common.base import Engine
    from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
    from pocketgpu.maxwell.engines.threed.draws import Draw
    from pocketgpu.maxwell.formats.texture_header import TextureHeader
    from pocketgpu.maxwell.gm20b import GM20B
    from pocketgpu.maxwell.graphics.draw.plans import Plan
    from pocketgpu.maxwell.host.channel import Channel
    from pocketgpu.maxwell.sass.launch.launcher import Launcher, Result


@dataclass(frozen=True)
class Segment:
    """A GPFIFO entry that a channel is about to read. number: of the entry in its submission; entry: its 64 bits.

    pieces: arena offset and words of each mapped stretch of its pushbuffer.
    """

    number: int
    entry: int
    pieces: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class TextureRead:
    """A texture that a program reads. entries: GPU address and bytes of its header and, if it has one, its sampler.

    texels: GPU address and bytes of all its levels and layers; None if they are larger than any memory.
    """

    texture: TextureHeader
    entries: tuple[tuple[int, int], ...]
    texels: tuple[int, int] | None


@dataclass(frozen=True)
class Order:
    """How to run a grid. first, last: run its blocks [first, last), by number; None: to the end.

    backwards: run the last block first. silent: report no events. launcher: what runs the blocks instead of the
    machine's own launcher.
    """

    first: int = 0
    last: int | None = None
    backwards: bool = False
    silent: bool = False
    launcher: Launcher | None = None


USUAL = Order()
"""All blocks, in ascending order."""


class RunGrid(Protocol):
    """Runs the grid of a launch, or a part of it."""

    def __call__(self, order: Order = USUAL) -> Result: ...


class Observer(observer.Observer):
    """Base class of observers of a GM20B.

    machine: the machine that is observed, set when the observer is added to it.
    """

    machine: GM20B

    wants_shapes = False
    """Whether `shapes_ready` is called. Draws then run stage by stage, with the same result."""
    wants_inline = False
    """Whether `inline_read` is called, and `uploaded` gets the source of the bytes."""

    # -- commands -----------------------------------------------------------------------------------------------------
    def submitted(self, channel: Channel, number: int, entries: NDArray[np.uint64]) -> None:
        """GPFIFO entries were submitted to a channel as submission `number`; none of them is read yet."""

    def segments_read(self, channel: Channel, number: int, segments: Sequence[Segment]) -> None:
        """A channel is about to read the words of the next entries of submission `number`."""

    def inline_read(self, channel: Channel, words: Offsets) -> None:
        """Words of pushbuffers, by arena offset, were taken as inline data. Called before the upload that they belong
        to, and at the latest before the channel's next `segments_read`."""

    def stopped(self, channel: Channel) -> None:
        """A channel has stopped between two methods: everything before is done. An exception raised here ends
        `GM20B.submit` at this place, and `GM20B.run` continues from it."""

    # -- draws --------------------------------------------------------------------------------------------------------
    def draw_recorded(self, draw: Draw) -> None:
        """A draw was recorded; nothing of it is drawn yet. Draws that kernels make without Python call this only for
        observers with `wants_draws`."""

    def draw(self, draw: Draw, run: Callable[[], None]) -> None:
        """A draw that has vertices is about to be made: `run` makes it. Without that call, nothing is drawn."""
        run()

    def shapes_ready(self, plan: Plan) -> None:
        """The shapes of a draw are in the region (`Drawing.region`); its pixels come next."""

    # -- launches -----------------------------------------------------------------------------------------------------
    def launch_recorded(self, launch: Launch) -> None:
        """A launch was recorded; nothing of it has run yet."""

    def launch(self, launch: Launch, run: RunGrid) -> Result:
        """A launch is about to run: `run` runs its grid, or parts of it. The return value is the launch's result."""
        return run()

    # -- memory -------------------------------------------------------------------------------------------------------
    def texture_read(self, found: TextureRead) -> None:
        """A program reads a texture for the first time in its draw or launch."""

    def uploaded(self, target: Places, words: Offsets | None, padded: int) -> None:
        """Inline data was written to memory. words: the arena offset in pushbuffers of each 4 bytes of it; None if a
        macro sent some of them, or no observer has `wants_inline`. padded: bytes of a line of the data, a multiple of
        4."""

    def copied(self, engine: Engine, target: Places, source: Places) -> None:
        """Bytes were copied: byte n of `source` to byte n of `target`."""

    def converted(self, engine: Engine, target: Places, source: Places, layout: PixelLayout | None) -> None:
        """Bytes were computed from others. layout: of the source's pixels, None if only its components are known."""

    def filled(self, target: Places) -> None:
        """A constant was written to memory."""

    # -- pictures -----------------------------------------------------------------------------------------------------
    def presented(self, gpu_va: int, surface: Surface, picture: Picture) -> None:
        """A surface was presented."""


class Undrawn(Observer):
    """An observer whose machine draws nothing. Pushbuffers are read as always, so registers are exact; everything else
    happens."""

    wants_draws = True

    def draw(self, draw: Draw, run: Callable[[], None]) -> None:
        """Skips the draw."""


__all__ = ["USUAL", "Observer", "Order", "RunGrid", "Segment", "TextureRead", "Undrawn"]
