"""The software keyboard: in front of the program, or within its picture (inline). A script types.

Source: libnx's applets/swkbd.c and swkbd.h; switchbrew Software Keyboard.
"""

from __future__ import annotations

from collections.abc import Sequence

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.applets import (
    APPLETS,
    FORBIDDEN,
    INLINE_TEXT,
    INLINE_TEXT_UTF8,
    InlineChange,
    InlineCommand,
    InlineReply,
    InlineState,
    Verdict,
)
from pocketgpu.guests.input.answers import Answers
from pocketgpu.guests.switch.services.library_applets.library_program import LibraryProgram, Said


def typed(answers: Answers, who: str, wanted: Record, most: int | None) -> str | None:
    """What the player types; None if the keyboard is cancelled, also because it does not accept the text.

    :param wanted: with the fields `least`, `forbidden` and `new_line`.
    :param most: units of UTF-16, None for no limit.
    """
    text = answers.next(who)
    if text is None:
        return None
    missing = len(text.encode("utf-16-le", "replace")) // 2 < wanted["least"]
    unknown = any(wanted["forbidden"] & bit and set(found) & set(text) for bit, found in FORBIDDEN.items())
    if missing or unknown or ("\n" in text and not wanted["new_line"]):
        answers.tell(f"the keyboard does not accept {text!r}, so it was cancelled")
        return None
    units = text.encode("utf-16-le", "replace")[: None if most is None else 2 * most]
    return units.decode("utf-16-le", "ignore")


def encoded(text: str, room: int, *, utf8: bool) -> bytes:
    """A text as a program wants it, with what ends it, as far as there is room."""
    code, end = ("utf-8", b"\0") if utf8 else ("utf-16-le", b"\0\0")
    data = text.encode(code, "replace")[: room - len(end)]
    return data.decode(code, "ignore").encode(code) + end


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
        return encoded(text, self._room, utf8=bool(self._config["utf8"]))

    def run(self) -> Said:
        config = self._config
        what = next((found for name in ("header", "sub", "guide") if (found := config.text(name))), "")
        text = typed(self.answers, f"the keyboard{f' ({what})' if what else ''}", config, config["most"] or None)
        if text is None:
            return self._left("", cancelled=True)
        self._text = text
        if not config["check"]:
            return self._left(self._text)
        self._asked = True
        question, data = APPLETS.make("keyboard_question"), self._encoded(self._text)
        question["size"] = len(data)
        question.set_part("text", data)
        return Said(questions=(bytes(question.data),), done=False)

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


class InlineKeyboard(LibraryProgram):
    """A keyboard within the program's picture. It runs in the background and types when the program lets it appear; the
    program draws it, so nothing of it is seen here."""

    title = "inline keyboard"

    def __init__(self, answers: Answers, inputs: Sequence[memoryview]) -> None:
        super().__init__(answers, inputs)
        self._config = APPLETS.make("inline_calc")
        self._ready = self._second_form = False

    def run(self) -> Said:
        """It is ready; or it has appeared, and the player types."""
        if not self._ready:
            self._ready = True
            return Said(questions=(self._reply(InlineState.READY, InlineReply.READY),), done=False)
        self.asks = False
        config = self._config
        most = config["most"] if config["most"] >= 0 else None
        text = typed(self.answers, "the inline keyboard", config, most)
        if text is None:
            return Said(questions=(self._reply(InlineState.GOING, InlineReply.CANCELLED),), done=False)
        length = len(text.encode("utf-16-le", "replace")) // 2
        changed, decided = APPLETS.make("inline_changed"), APPLETS.make("inline_decided")
        changed["length"] = changed["cursor"] = decided["length"] = length
        first, last = InlineReply.CHANGED, InlineReply.DECIDED
        if config["utf8"]:
            first, last = InlineReply.CHANGED_UTF8, InlineReply.DECIDED_UTF8
        more = b""
        if self._second_form:
            first = InlineReply.CHANGED_UTF8_V2 if config["utf8"] else InlineReply.CHANGED_V2
            more = b"\0"
        replies = (
            self._reply(InlineState.SHOWN, first, text, bytes(changed.data) + more),
            self._reply(InlineState.GOING, last, text, bytes(decided.data)),
        )
        return Said(questions=replies, done=False)

    def _reply(self, state: InlineState, kind: InlineReply, text: str | None = None, rest: bytes = b"") -> bytes:
        reply, said = APPLETS.make("inline_reply"), b""
        reply["state"], reply["type"] = state, kind
        if text is not None:
            utf8 = bool(self._config["utf8"])
            room = INLINE_TEXT_UTF8 if utf8 else INLINE_TEXT
            said = encoded(text, room, utf8=utf8).ljust(room, b"\0")
        return bytes(reply.data) + said + rest

    def told(self, data: memoryview) -> Said | None:
        number, data = int.from_bytes(data[:4], "little"), data[4:]
        if number == InlineCommand.FINALIZE:
            return Said()
        if number == InlineCommand.UNSET_DICTIONARIES:
            return Said(questions=(self._reply(InlineState.READY, InlineReply.UNSET_DICTIONARIES),), done=False)
        if number == InlineCommand.CHANGED_TEXT_V2:
            self._second_form = bytes(data[:1]) == b"\1"
        elif number == InlineCommand.CALC:
            self._config = APPLETS.make("inline_calc", bytes(data[: APPLETS.size("inline_calc")]))
            if self._config["changes"] & InlineChange.DISAPPEAR:
                self.asks = False
            elif self._config["changes"] & InlineChange.APPEAR:
                self.asks = True
                return None
        return Said(done=False)
