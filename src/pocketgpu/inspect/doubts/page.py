"""The matrix of choices and captures as a page: one HTML file."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.choices.certainty import certainty
from pocketgpu.facts.choices.told import sources
from pocketgpu.inspect.doubts.found import Agreement, CaptureDoubts, DoubtMatrix
from pocketgpu.inspect.pages.html import document, table, text
from pocketgpu.wording import counted

_MOST: Final = 1000
"""Rows of a table."""


def page(matrix: DoubtMatrix) -> str:
    """A section for each choice that changes a picture: what it is about, who says what, and where pictures part."""
    body = [f"<p>{text(_summary(matrix))}</p>"]
    for name in dict.fromkeys(choice for choice, _ in matrix.rows):
        choice = CHOICES[name]
        says = [(value, said, _default(value == choice.default)) for value, said in sources(choice).items()]
        cells = [
            (value, capture.path, f"{parting.pixels:,}", parting.frames, parting.first, *_wrong(capture, parting.wrong))
            for value in choice.values for capture in matrix.captures
            if (parting := capture.parting(name, value)) is not None
        ]  # fmt: skip
        head = ("value", "capture", "pixels", "frames", "first", *(["wrong"] if _has_expected(matrix) else []))
        about = f"{choice.doc} Certainty of the default: {certainty(choice)}."
        body.append(
            f"<section><h2>{text(name)}</h2><p>{text(about)}</p>{table(('value', 'says', ''), says, _MOST)}<br>"
            f"{table(head, cells, _MOST)}</section>"
        )
    body += _best(matrix)
    if silent := matrix.silent():
        body.append(f"<section><h2>Tried without any effect</h2><p>{text(', '.join(silent))}</p></section>")
    return document("Doubtful choices", body)


def _summary(matrix: DoubtMatrix) -> str:
    choices = {choice for choice, _ in matrix.rows}
    tried = {choice for capture in matrix.captures for choice in capture.choices}
    return (
        f"{counted(len(matrix.captures), 'capture')}, {counted(len(tried), 'choice')} tried; "
        f"{counted(len(choices), 'choice')} {'changes' if len(choices) == 1 else 'change'} pictures."
    )


def _has_expected(matrix: DoubtMatrix) -> bool:
    return any(isinstance(one.agreement, Agreement) for one in matrix.captures)


def _default(is_default: bool) -> str:
    return "default" if is_default else ""


def _wrong(capture: CaptureDoubts, wrong: int | None) -> list[str]:
    if wrong is None or not isinstance(capture.agreement, Agreement):
        return []
    return [f"{wrong:,} (without it: {capture.agreement.usual:,})"]


def _best(matrix: DoubtMatrix) -> list[str]:
    """What agrees best with expected pictures."""
    lines = [f"<p>{text(one.path)}: {text(one.agreement)}</p>" for one in matrix.captures if one.agreement is not None]
    return [f"<section><h2>Best agreement</h2>{''.join(lines)}</section>"] if lines else []


__all__ = ["page"]
