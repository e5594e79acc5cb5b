"""What a GM20B tells who looks on: commands, draws, launches, textures, and the memory that they touch.

    class Counting(Observer):
        wants_draws = True

        def draw(self, draw, run):
            run()
            print(draw.topology_name, draw.count)

    with gpu.observed(Counting()):
        gpu.submit(...)

Every method does nothing unless a subclass overrides it; `draw` and `launch` let happen what they are told of. What an
observer raises ends `GM20B.submit`; only what `stopped` raises leaves the machine at a place from which it can go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu import observer
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
    """A GPFIFO entry that a channel comes to. number: of the entry in its submission; entry: its 64 bits.

    pieces: arena offset and words of each stretch of its pushbuffer that is there.
    """

    number: int
    entry: int
    pieces: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class TextureRead:
    """A texture that a program asks for. entries: GPU address and bytes of its header and, if it has one, its sampler.

    texels: GPU address and bytes of all its levels and layers; None of those that are larger than any memory.
    """

    texture: TextureHeader
    entries: tuple[tuple[int, int], ...]
    texels: tuple[int, int] | None


@dataclass(frozen=True)
class Order:
    """How to run a grid. first, last: the blocks [first, last) of it, by number; None: to the end.

    backwards: the last block first. silent: nothing that goes wrong is an event. launcher: who runs the blocks instead
    of the machine's own.
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
    """Who is told what a GM20B does.

    machine: the one that is observed, set when the observer is given to it.
    """

    machine: GM20B

    wants_shapes = False
    """Whether `shapes_ready` shall be told. Draws go stage by stage then, with the same result."""
    wants_inline = False
    """Whether `inline_read` shall be told, and `uploaded` where the bytes come from."""

    # -- commands -----------------------------------------------------------------------------------------------------
    def submitted(self, channel: Channel, number: int, entries: NDArray[np.uint64]) -> None:
        """GPFIFO entries were handed to a channel as submission `number`; nothing of them is read yet."""

    def segments_read(self, channel: Channel, number: int, segments: Sequence[Segment]) -> None:
        """A channel has come to the next entries of submission `number`, and reads their words now."""

    def inline_read(self, channel: Channel, words: Offsets) -> None:
        """Words of pushbuffers, by arena offset, were taken as inline data. Told before the upload that they are for,
        and at the latest before the channel's next `segments_read`."""

    def stopped(self, channel: Channel) -> None:
        """A channel has come to a stop between two methods: all that it did so far is done. What this raises ends
        `GM20B.submit` there, and `GM20B.run` goes on from that place."""

    # -- draws --------------------------------------------------------------------------------------------------------
    def draw_recorded(self, draw: Draw) -> None:
        """A draw is on record; nothing of it is drawn yet. Of draws that kernels make by themselves only who
        `wants_draws` is told."""

    def draw(self, draw: Draw, run: Callable[[], None]) -> None:
        """A draw that has vertices is due: `run` makes it. Nothing is drawn if that is not called."""
        run()

    def shapes_ready(self, plan: Plan) -> None:
        """Shapes of a draw lie in the region (`Drawing.region`); their pixels come next."""

    # -- launches -----------------------------------------------------------------------------------------------------
    def launch_recorded(self, launch: Launch) -> None:
        """A launch is on record; nothing of it has run yet."""

    def launch(self, launch: Launch, run: RunGrid) -> Result:
        """A launch is due: `run` runs its grid, or parts of it. What this gives is the launch's result."""
        return run()

    # -- memory -------------------------------------------------------------------------------------------------------
    def texture_read(self, found: TextureRead) -> None:
        """A program asks for a texture that its draw or launch has not asked for before."""

    def uploaded(self, target: Places, words: Offsets | None, padded: int) -> None:
        """Inline data went to memory. words: where each 4 bytes of it stood in pushbuffers; None if some came from a
        macro, or nobody `wants_inline`. padded: bytes of a line of it, a multiple of 4."""

    def copied(self, engine: Engine, target: Places, source: Places) -> None:
        """Each byte went where the one of the same number was."""

    def converted(self, engine: Engine, target: Places, source: Places, layout: PixelLayout | None) -> None:
        """Bytes were made of others. layout: of pixels of the source, None if only its components are known."""

    def filled(self, target: Places) -> None:
        """A constant went to memory."""

    # -- pictures -----------------------------------------------------------------------------------------------------
    def presented(self, gpu_va: int, surface: Surface, picture: Picture) -> None:
        """A surface was shown."""


class Undrawn(Observer):
    """An observer whose machine draws nothing. Pushbuffers are read as always, so registers are exact; all else
    happens."""

    wants_draws = True

    def draw(self, draw: Draw, run: Callable[[], None]) -> None:
        """Leaves the draw out."""


__all__ = ["USUAL", "Observer", "Order", "RunGrid", "Segment", "TextureRead", "Undrawn"]
