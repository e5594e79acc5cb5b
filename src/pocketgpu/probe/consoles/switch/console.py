"""The Switch as a console for a probe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pocketgpu.capture.formats.pgc.contents import Contents
from pocketgpu.errors import UsageError
from pocketgpu.probe.consoles.switch.prepare import prepare
from pocketgpu.probe.files.sent import Sent
from pocketgpu.probe.model.scene import Made, Watch


class SwitchProbe:
    """The Switch. See `ProbeConsole`."""

    name = "Switch"
    program = "probe.nro"
    how_to_start = "Start the homebrew menu, go to the folder pocketgpu-probe and start probe.nro."
    what_it_shows = "the screen tells what runs."
    most_memory = 128 << 20

    def prepare(self, contents: Contents, watch: Watch, *, most: int) -> Sent:
        """See `ProbeConsole.prepare`."""
        if contents.console != self.name:
            raise UsageError(f"a capture of a {contents.console} is no capture of a {self.name}")
        return prepare(contents, watch, most=most)

    def frame_of(self, contents: Contents, frame: int) -> Contents:
        """See `ProbeConsole.frame_of`. Only commands can set the state of channels, so frames before are run, too."""
        return replace(contents, frames=contents.frames[: frame + 1], tail=())

    def too_old(self, made: Made, model: str) -> str:
        """See `ProbeConsole.too_old`: the GPU of all models is the same."""
        return ""

    def unreadable(self, watch: Watch) -> str:
        """See `ProbeConsole.unreadable`."""
        if watch.registers:
            return "registers of a Switch's GPU cannot be read by a program"
        if watch.by_eye:
            return "the probe of a Switch does not ask what a person sees on the screen"
        return "no interrupts reach a program of a Switch" if watch.interrupts else ""

    def same_interrupts(self, ours: Mapping[str, int], theirs: Mapping[str, int]) -> bool:
        """See `ProbeConsole.same_interrupts`. None reach a program."""
        return dict(ours) == dict(theirs)


__all__ = ["SwitchProbe"]
