"""A program that runs: frame by frame, with its pictures, its text and a player's input.

    with pocketgpu.guests.run("app.elf") as app:
        app.press("A", frames=3)
        app.frames(60)
        app.screens["top"].image.save("top.png")
        print(app.text)

A frame is a VBlank of the console: 59.83 of them are a second of emulated time. `presents` counts the frames that the
program itself has shown. Time is emulated, so every run gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Protocol, Self

from pocketgpu.errors import UsageError
from pocketgpu.guests.kernel.kernel import End, Kernel
from pocketgpu.guests.kernel.program import Program
from pocketgpu.wording import counted


class GuestConsole(Protocol):
    """What a console is for an `App`."""

    @property
    def kernel(self) -> Kernel:
        """Its kernel."""
        ...

    @property
    def frame_count(self) -> int:
        """VBlanks so far."""
        ...

    @property
    def present_count(self) -> int:
        """Frames that the program has shown so far."""
        ...

    @property
    def screens(self) -> Mapping[str, Any]:
        """The pictures of the screens."""
        ...

    @property
    def text(self) -> str:
        """What the program has printed for a debugger."""
        ...

    def console_text(self, program: Program) -> Mapping[str, str]:
        """The text that a program's console shows, by screen."""
        ...

    def press(self, keys: str, first: int, count: int) -> None:
        """Hold keys at frames. Raises UsageError for a key that there is not."""
        ...

    def close(self) -> None:
        """Ask the program to end."""
        ...


class App:
    """A running program; make it with `pocketgpu.guests.run`."""

    def __init__(self, console: GuestConsole, program: Program) -> None:
        self.console, self.program = console, program

    def __repr__(self) -> str:
        state = f"ended: {self.end.why}" if self.end else "running"
        return f"<App {self.program.name}: {counted(self.frame_count, 'frame')}, {state}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing is left running."""

    # -- running ----------------------------------------------------------------------------------------------------
    def frames(self, count: int = 1) -> bool:
        """Run for so many frames; whether the program still runs.

        :raises UsageError: the number is negative.
        """
        return self._to(lambda: self.console.frame_count, count)

    def presents(self, count: int = 1, *, limit: int = 600) -> bool:
        """Run until the program has shown so many further frames, for at most `limit` frames; whether it has."""
        wanted, last = self.present_count + count, self.frame_count + limit
        self.until(lambda: self.present_count >= wanted or self.frame_count >= last)
        return self.present_count >= wanted

    def until(self, condition: Callable[[], bool], *, limit: int = 600) -> bool:
        """Run until a condition holds, for at most `limit` frames; whether it does. It is asked after every call and
        every frame of the program."""
        last = self.frame_count + limit
        while not condition():
            if self.frame_count >= last or not self.console.kernel.step():
                return condition()
        return True

    def _to(self, number: Callable[[], int], count: int) -> bool:
        if count < 0:
            raise UsageError(f"frames cannot go back by {-count}")
        wanted = number() + count
        while number() < wanted:
            if not self.console.kernel.step():
                return False
        return True

    @property
    def end(self) -> End | None:
        """How the program ended; None while it runs."""
        return self.console.kernel.end

    # -- what is to be seen -----------------------------------------------------------------------------------------
    @property
    def frame_count(self) -> int:
        """VBlanks so far."""
        return self.console.frame_count

    @property
    def present_count(self) -> int:
        """Frames that the program has shown so far."""
        return self.console.present_count

    @property
    def screens(self) -> Mapping[str, Any]:
        """The pictures of the screens, by name."""
        return self.console.screens

    @property
    def text(self) -> str:
        """What the program has printed for a debugger."""
        return self.console.text

    @property
    def console_text(self) -> Mapping[str, str]:
        """What the program shows on its text consoles, by screen: the characters of the pictures, "" where none is.
        Characters that cannot be told are U+FFFD."""
        return self.console.console_text(self.program)

    # -- input ------------------------------------------------------------------------------------------------------
    def press(self, keys: str, *, frames: int = 2) -> None:
        """Hold keys ("A", "A+UP") during the next frames; the program goes on when you run it.

        :raises UsageError: there is no such key.
        """
        self.console.press(keys, self.frame_count + 1, frames)

    def close(self) -> None:
        """Ask the program to end, as the HOME menu does."""
        self.console.close()
