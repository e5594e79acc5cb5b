"""Requests `notes`, `note` and `forget`: notes and bookmarks of the user."""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.view.questions.asking import AskedOfDesk, DeskQuestion, Json
from pocketgpu.view.questions.desk import Desk
from pocketgpu.view.questions.notes_file import Notes
from pocketgpu.view.questions.parameters import Parameters


def asked_of(notes: Notes) -> Mapping[str, AskedOfDesk]:
    """The requests about some notes."""

    def listed(desk: Desk) -> Json:
        found = [{"address": address, "text": text} for address, text in notes.all().items()]
        return {"file": notes.path.name, "notes": found}

    def read(given: Parameters) -> DeskQuestion:
        return listed

    def put(given: Parameters) -> DeskQuestion:
        address, text = given.text("at"), given.text("text", "")

        def question(desk: Desk) -> Json:
            notes.put(address, text)
            return listed(desk)

        return question

    def remove(given: Parameters) -> DeskQuestion:
        address = given.text("at")

        def question(desk: Desk) -> Json:
            notes.remove(address)
            return listed(desk)

        return question

    return {"notes": AskedOfDesk(read), "note": AskedOfDesk(put, acts=True), "forget": AskedOfDesk(remove, acts=True)}


__all__ = ["asked_of"]
