"""What library applets do: they take what a program hands them, ask the player, and answer.

    display = program(AppletId.ERROR, answers, [error], in_front=True)
    display.run().outputs  # the answer for the program

They end as soon as they are answered: nothing of them is drawn.
Source: libnx's applets/*.c; switchbrew Software Keyboard, Error Applet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.applets import APPLETS, AppletId, ErrorType
from pocketgpu.guests.input.answers import Answers
from pocketgpu.guests.switch.abi.results import Result, shown_code
from pocketgpu.guests.switch.abi.users import USER
from pocketgpu.guests.switch.services.library_applets.keyboards import InlineKeyboard, Keyboard
from pocketgpu.guests.switch.services.library_applets.library_program import LibraryProgram, Said


class ErrorDisplay(LibraryProgram):
    """An error becomes an event; a player can only close it."""

    title = "error"

    def run(self) -> Said:
        self.answers.tell(f"the program shows an error: {self._text()}")
        return Said((bytes(APPLETS.make("error_answer").data),))

    def _text(self) -> str:
        error = self._input("error")
        kind = error["type"]
        if kind == ErrorType.PROGRAM:
            own = self._input("program_error")
            return _utf8(own) or f"number {own['number']}"
        if kind in (ErrorType.LICENCE, ErrorType.UPDATE_LICENCE):
            return "the licence"
        text = _utf8(error) if kind == ErrorType.SYSTEM else ""
        if kind == ErrorType.CODE and error["has_result"]:
            return f"code {shown_code(error['result'])}"
        return text or f"code {error['code']:04}-{error['description']:04}"


def _utf8(record: Record) -> str:
    return record.part("text").split(b"\0")[0].decode("utf-8", "replace")


class PlayerSelect(LibraryProgram):
    """The list of users: the player picks the only one, whatever the answer says, or cancels. An empty answer is nobody
    where the program allows that."""

    title, asks = "player select", True

    def run(self) -> Said:
        name, nobody = self.answers.next("the list of users"), self._input("users")["may_skip"]
        answer = APPLETS.make("user_answer")
        if name is None:
            answer["result"] = Result.CANCELLED_BY_USER
        elif name or not nobody:
            answer.set_part("user", USER)
        return Said((bytes(answer.data),))


class ControllerSupport(LibraryProgram):
    """Which controllers are used: the one there is."""

    title = "controller"

    def run(self) -> Said:
        answer = APPLETS.make("controller_answer")
        answer["players"] = 1
        return Said((bytes(answer.data),))


class UnknownApplet(LibraryProgram):
    """One that is not modelled: it is left at once, without an answer."""

    def __init__(self, answers: Answers, inputs: Sequence[memoryview], title: str) -> None:
        super().__init__(answers, inputs)
        self.title = title

    def run(self) -> Said:
        self.answers.tell(f"the applet {self.title} is not modelled and was left at once")
        return Said(result=Result.APPLET_CANCELLED)


_PROGRAMS: Final[Mapping[int, type[LibraryProgram]]] = {
    AppletId.KEYBOARD: Keyboard, AppletId.ERROR: ErrorDisplay, AppletId.PLAYER_SELECT: PlayerSelect,
    AppletId.CONTROLLER: ControllerSupport,
}  # fmt: skip


def program(applet: int, answers: Answers, inputs: Sequence[memoryview], *, in_front: bool) -> LibraryProgram:
    """The applet with a number. in_front: whether it covers the program; the keyboard can also be a part of its
    picture (inline)."""
    kind = _PROGRAMS.get(applet)
    if kind is Keyboard and not in_front:
        return InlineKeyboard(answers, inputs)
    if kind is None:
        name = AppletId(applet).name.lower().replace("_", " ") if applet in tuple(AppletId) else f"{applet:#x}"
        return UnknownApplet(answers, inputs, name)
    return kind(answers, inputs)
