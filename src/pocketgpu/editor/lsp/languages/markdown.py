"""Pieces of Markdown that the descriptions of words are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from pocketgpu.editor.lsp.languages.model import Entry, Kind


def code(text: str) -> str:
    """A block of code."""
    return f"```text\n{text}\n```"


def page(*paragraphs: str) -> str:
    """Paragraphs, without those that are empty."""
    return "\n\n".join(one for one in paragraphs if one)


def listed(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of terms and what they mean."""
    return "\n".join(f"- `{name}` {meaning}".rstrip() for name, meaning in pairs)


def plain(name: str, kind: Kind, detail: str) -> Entry:
    """A word whose description is one line."""
    return Entry(name, kind, detail, partial(shown, name, detail))


def shown(form: str, *paragraphs: str) -> str:
    """How a word is written, and what it means."""
    return page(code(form), *paragraphs)


def forms(name: str, form: str) -> str:
    """All forms of a directive, one a line."""
    return "\n".join(f"{name} {one}".rstrip() for one in form.split("\n"))


def directives(table: Mapping[str, tuple[str, str]]) -> dict[str, Entry]:
    """The words of a table of directives."""
    return {
        name: Entry(name, Kind.DIRECTIVE, meaning, partial(shown, forms(name, form), meaning))
        for name, (form, meaning) in table.items()
    }
