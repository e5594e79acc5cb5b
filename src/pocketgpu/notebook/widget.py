"""The viewer as a widget of notebooks: the picture of a place, and why a pixel of it has its colour.

    viewer = Viewer("scene.ctf.xz", "f0/d3")
    viewer.observe(lambda change: print(change["new"]), "address")    # prints the address of what is clicked

It needs no server and no port: the panels are those of `pocketgpu view`, and their requests are messages of the kernel.
A thread of its own answers them, so the kernel can go on with other work. It hears them between two cells: a widget
waits while a cell runs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anywidget
import traitlets

from pocketgpu import __version__
from pocketgpu.displayed import line_of
from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.notebook.widget_machine import LentMachine
from pocketgpu.notebook.widget_messages import Messages
from pocketgpu.pictures import to_png
from pocketgpu.view.questions import asked_of
from pocketgpu.view.questions.desk import MAIN, Desk
from pocketgpu.view.questions.pictures import shown_first, smaller

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.inspect.model.answer import Answer

SCRIPT: Final = Path(__file__).parent / "page" / "widget.js"
"""What shows the widget. The package for users has it; in a clone `make page` makes it."""
PANELS: Final = ("picture", "why")
"""The panels that a widget may have."""
LEAST_HEIGHT: Final = 160
MOST_HEIGHT: Final = 4000
"""Limits of the height, in CSS pixels."""
MOST_SIDE: Final = 1280
"""Most pixels of a side of the picture that is kept in a notebook."""
MOST_WAIT: Final = 20.0
"""Seconds that the picture to keep may take, as the cell waits for it."""


def _script() -> str:
    if not SCRIPT.is_file():
        raise UsageError(
            "the page of the widget is not built",
            hint="In a clone, 'make page' builds it with Node.js; the package for users has it.",
        )
    return SCRIPT.read_text(encoding="utf-8")


class Viewer(anywidget.AnyWidget):
    """A capture in a notebook: its picture at an address, and why.

        Viewer("scene.ctf.xz", "f0/d3", panels=("picture",), height=300)

    Set `address`, and the panels follow; a click in the picture sets it, and who observes the trait hears of it.
    `panels` and `height` (in CSS pixels) may be set, too.

    It has a machine of its own, whose memory is freed when the widget is shown nowhere any more, or by `close`.

    :param capture_or_path: the path of a capture or of a program, which is run for 60 frames; what `pocketgpu.open` or
        `pocketgpu.debug` returned. Of an inspection, choices and overrides count here too.
    :raises CaptureError: the file is no capture, or is damaged.
    :raises UsageError: the address is none, there is no such panel, or the widget's page is not built.
    """

    _esm = traitlets.Unicode().tag(sync=True)
    _still = traitlets.Bytes().tag(sync=True)
    address = traitlets.Unicode("f0").tag(sync=True)
    panels = traitlets.List(traitlets.Unicode(), list(PANELS)).tag(sync=True)
    height = traitlets.Int(480).tag(sync=True)

    def __init__(
        self, capture_or_path: str | os.PathLike[str] | Capture | Inspection, address: str = "f0",
        panels: Sequence[str] = PANELS, height: int = 480,
    ) -> None:  # fmt: skip
        script = _script()
        address = _address(address)
        self._machine = LentMachine(capture_or_path, lambda: self.address)
        name = Path(self._machine.capture.path).name
        self._messages = Messages(self._machine, asked_of(name, __version__, None), self._say)
        super().__init__(_esm=script, address=address, panels=_panels(panels), height=_height(height))
        self.on_msg(lambda _, content, __: self._messages.heard(content))

    def __repr__(self) -> str:
        return line_of(self, f"{Path(self.capture.path).name} at {self.address}")

    @property
    def capture(self) -> Capture:
        """The capture that is shown."""
        return self._machine.capture

    def answer(self) -> Answer:
        """Why the address is as it is: what `why` of an inspection returns, for the address that is shown.

        :raises UsageError: the capture has no such place, or nothing can be said about it.
        """
        at = Address.parse(self.address)
        found: Answer = self._machine.answer(lambda desk: desk.side(MAIN).answered(at))
        return found

    def close(self) -> None:
        """End the widget wherever it is shown, and free its machine."""
        messages = self.__dict__.get("_messages")  # not there if the arguments were wrong
        if messages is not None:
            messages.end()
        super().close()

    # -- traits -------------------------------------------------------------------------------------------------------
    @traitlets.validate("address")
    def _valid_address(self, proposal: Any) -> str:
        return _address(proposal["value"])

    @traitlets.validate("panels")
    def _valid_panels(self, proposal: Any) -> list[str]:
        return _panels(proposal["value"])

    @traitlets.validate("height")
    def _valid_height(self, proposal: Any) -> int:
        return _height(proposal["value"])

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """What the page sets. For a value that is not possible, the page is told the old one."""
        valid, refused = {}, []
        for name in sync_data.keys() & _CHECKS.keys():
            try:
                valid[name] = _CHECKS[name](sync_data[name])
            except UsageError:
                refused.append(name)
        super().set_state(valid)
        if refused:
            self.send_state(refused)

    def _say(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        """Send the page a message: `send`, which may meet the end of the widget on another thread."""
        comm = self.comm
        if comm is not None:
            comm.send(data={"method": "custom", "content": message}, buffers=buffers)

    # -- without a kernel ---------------------------------------------------------------------------------------------
    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """The widget, and the picture of the place for where no kernel is: a site, or a saved notebook."""
        found = super()._repr_mimebundle_(**options)
        if found is None:
            return None
        data, metadata = found
        self._still = self._picture()
        if self._still:
            data["image/png"] = self._still
        return data, metadata

    def _picture(self) -> bytes:
        """The picture of the address as a PNG file; empty if there is none, or if it takes too long."""
        at = Address.parse(self.address)

        def question(desk: Desk) -> bytes:
            shown = shown_first(desk.side(MAIN).seek(at.place), at.screen or "")
            return b"" if shown is None else to_png(smaller(shown.pixels, MOST_SIDE))

        try:
            return self._machine.answer(question, MOST_WAIT)
        except (PocketGPUError, TimeoutError):
            return b""  # the panels say what is wrong


def _address(text: object) -> str:
    """An address as it is written.

    :raises UsageError: the text is none.
    """
    if not isinstance(text, str | Address):
        raise UsageError(f"{text!r} is no address", location="address", hint="Such as 'f0/d3'.")
    return str(Address.parse(str(text)))


def _panels(names: object) -> list[str]:
    """Names of panels, each once.

    :raises UsageError: there is no such panel.
    """
    hint = f"There are: {', '.join(PANELS)}."
    if not isinstance(names, Sequence) or not names:
        raise UsageError("a widget without panels shows nothing", location="panels", hint=hint)
    found: list[str] = []
    for name in [names] if isinstance(names, str) else names:
        if name not in PANELS:
            raise UsageError(f"there is no panel {name!r}", location="panels", hint=hint)
        if name not in found:
            found.append(name)
    return found


def _height(value: object) -> int:
    """A height in CSS pixels.

    :raises UsageError: it is too small or too large.
    """
    if not isinstance(value, int) or not LEAST_HEIGHT <= value <= MOST_HEIGHT:
        raise UsageError(
            f"a height of {value!r} is not possible", location="height",
            hint=f"From {LEAST_HEIGHT} to {MOST_HEIGHT} pixels.",
        )  # fmt: skip
    return value


_CHECKS: Final[dict[str, Callable[[object], Any]]] = {"address": _address, "panels": _panels, "height": _height}
"""Traits that the page may set."""

__all__ = ["PANELS", "SCRIPT", "Viewer"]
