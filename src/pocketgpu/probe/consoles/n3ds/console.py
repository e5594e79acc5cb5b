"""The 3DS as a console for a probe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.capture.formats.pgc.contents import Contents
from pocketgpu.errors import UsageError
from pocketgpu.facts.external import EXTERNAL, HOLES
from pocketgpu.facts.pica import PICA
from pocketgpu.probe.consoles.n3ds.prepare import prepare
from pocketgpu.probe.files.sent import Sent
from pocketgpu.probe.model.scene import Made, Watch

_REPLAYS: Final = 300
"""Replays that find out which memory a frame needs."""
_UNITS: Final = ("PSC0", "PSC1", "PPF", "P3D")
"""Units whose reports depend on the capture alone: screens report each picture, and the probe copies memory itself."""


class N3DSProbe:
    """The 3DS. See `ProbeConsole`."""

    name = "3DS"
    program = "probe.3dsx"
    how_to_start = "Start the homebrew launcher, go to the folder pocketgpu-probe and start probe.3dsx."
    what_it_shows = (
        "the lower screen tells what runs.\n"
        "   Where only a person can see the difference, it shows a picture on the upper screen\n"
        "   and asks on the lower one what it is: press A, B, X or Y, or SELECT if you are not\n"
        "   sure. It waits a minute for each."
    )
    most_memory = 16 << 20

    def prepare(self, contents: Contents, watch: Watch, *, most: int) -> Sent:
        """See `ProbeConsole.prepare`."""
        if contents.console != self.name:
            raise UsageError(f"a capture of a {contents.console} is no capture of a {self.name}")
        return prepare(contents, watch, most=most)

    def frame_of(self, contents: Contents, frame: int) -> Contents:
        """See `ProbeConsole.frame_of`. State of the frames before can be set, and memory that does not matter is left
        out."""
        from pocketgpu.capture.pgc.minimise import Keep, minimise

        return minimise(contents, Keep(frame, frame), replays=_REPLAYS).contents

    def unreadable(self, watch: Watch) -> str:
        """See `ProbeConsole.unreadable`."""
        end = PICA[0].address + 4 * len(PICA)
        for address in watch.registers:
            offset = address - EXTERNAL.base
            if not EXTERNAL.base <= address < end or any(one.start <= offset < one.end for one in HOLES):
                return f"the register at {address:#x} cannot be read"
        return ""

    def too_old(self, made: Made, model: str) -> str:
        """See `ProbeConsole.too_old`."""
        return "only a New 3DS tells" if made.new_model and model != "new" else ""

    def same_interrupts(self, ours: Mapping[str, int], theirs: Mapping[str, int]) -> bool:
        """See `ProbeConsole.same_interrupts`."""
        return all(ours.get(unit, 0) == theirs.get(unit, 0) for unit in _UNITS)


__all__ = ["N3DSProbe"]
