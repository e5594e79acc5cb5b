"""What library applets do: they take what a program hands them, ask the player, and answer.

    keyboard = Keyboard(answers, [arguments, config])
    keyboard.run().outputs  # the answer for the program

They end as soon as they are answered: nothing of them is drawn.
Source: libnx's applets/*.c; switchbrew Software Keyboard, Error Applet.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.applets import APPLETS, FORBIDDEN, AppletId, ErrorType, Verdict
from pocketgpu.guests.input.answers import Answers
from pocketgpu.guests.switch.abi.results import Result, shown_code
from pocketgpu.guests.switch.abi.users import USER
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True)
class Said:
    """What an applet says to its program. outputs: its answers. questions: that the program has to answer before it is
    done. result: how it ended, once it is done."""

    outputs: Sequence[bytes] = ()
    questions: Sequence[bytes] = ()
    done: bool = True
    result: int = Result.OK


class LibraryProgram:
    """A library applet. inputs: what its program has handed it, without the arguments that all have. asks: whether it
    needs the player's answer."""

    title = ""
    asks = False

    def __init__(self, answers: Answers, inputs: Sequence[memoryview]) -> None:
        self.answers, self.inputs = answers, inputs

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.title}>"

    def _input(self, record: str) -> Record:
        """What came first, as a record."""
        return APPLETS.make(record, bytes(self.inputs[0][: APPLETS.size(record)]) if self.inputs else b"")

    def run(self) -> Said:
        """The player answers, if it asks."""
        raise NotImplementedError

    def told(self, data: memoryview) -> Said | None:
        """The program says something, mostly to a question; None if the player has to say something again."""
        return Said((), done=False)


class Keyboard(LibraryProgram):
    """The software keyboard in front of the program."""

    title, asks = "keyboard", True

    def __init__(self, answers: Answers, inputs: Sequence[memoryview]) -> None:
        super().__init__(answers, inputs)
        self._text, self._asked = "", False
        self._config = self._input("keyboard")

    @property
    def _room(self) -> int:
        return APPLETS.layouts["keyboard_answer"].fields["text"].count

    def _encoded(self, text: str) -> bytes:
        """A text as the program wants it, with what ends it, as far as there is room."""
        code, end = ("utf-8", b"\0") if self._config["utf8"] else ("utf-16-le", b"\0\0")
        data = text.encode(code, "replace")[: self._room - len(end)]
        return data.decode(code, "ignore").encode(code) + end

    def run(self) -> Said:
        config = self._config
        what = next((found for name in ("header", "sub", "guide") if (found := config.text(name))), "")
        text = self.answers.next(f"the keyboard{f' ({what})' if what else ''}")
        if text is not None and not self._accepted(text):
            self.answers.tell(f"the keyboard does not accept {text!r}, so it was cancelled")
            text = None
        if text is None:
            return self._left("", cancelled=True)
        units = text.encode("utf-16-le", "replace")[: 2 * config["most"] or None]
        self._text = units.decode("utf-16-le", "ignore")
        if not config["check"]:
            return self._left(self._text)
        self._asked = True
        question, data = APPLETS.make("keyboard_question"), self._encoded(self._text)
        question["size"] = len(data)
        question.set_part("text", data)
        return Said(questions=(bytes(question.data),), done=False)

    def _accepted(self, text: str) -> bool:
        config = self._config
        if len(text.encode("utf-16-le", "replace")) // 2 < config["least"]:
            return False
        if "\n" in text and not config["new_line"]:
            return False
        return not any(config["forbidden"] & bit and set(found) & set(text) for bit, found in FORBIDDEN.items())

    def _left(self, text: str, *, cancelled: bool = False) -> Said:
        answer = APPLETS.make("keyboard_answer")
        answer["cancelled"] = cancelled
        answer.set_part("text", self._encoded(text))
        return Said((bytes(answer.data),))

    def told(self, data: memoryview) -> Said | None:
        if not self._asked:
            return Said((), done=False)
        self._asked = False
        verdict = APPLETS.make("keyboard_verdict", bytes(data[: APPLETS.size("keyboard_verdict")]))
        if verdict["verdict"] == Verdict.GOOD:
            return self._left(self._text)
        code = "utf-8" if self._config["utf8"] else "utf-16-le"
        text = verdict.part("text").decode(code, "replace").split("\0")[0]
        self.answers.tell(f"the program does not accept the text{f': {text}' if text else ''}")
        return None


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
        return UnknownApplet(answers, inputs, "inline keyboard")
    if kind is None:
        name = AppletId(applet).name.lower().replace("_", " ") if applet in tuple(AppletId) else f"{applet:#x}"
        return UnknownApplet(answers, inputs, name)
    return kind(answers, inputs)
