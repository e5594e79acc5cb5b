"""Draws the tree of questions of the guide about black screens: `python tools/draw_question_tree.py`.

A question is a heading with a table whose second column has links, either to a further question or to a cause. The page
is the only place where the tree is written down; tests/unit/test_black_screen_guide.py walks it.
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guides" / "black-screen.md"
PICTURE = ROOT / "docs" / "images" / "guides" / "black-screen.svg"

WIDTH, LINE, PAD = 780, 22, 14
RIGHT = 500
"""Where causes begin."""
LONGEST = 58
"""Characters of an answer; the rest is left out."""
_COLOURS = {  # of the theme, if the drawing is a part of its page; as a picture: for light and dark
    "text": ("fill: var(--color-foreground-primary, {})", "#1f2328", "#e6edf3"),
    "text.answer": ("fill: var(--color-foreground-secondary, {})", "#57606a", "#9198a1"),
    "rect": ("fill: var(--color-background-secondary, {})", "#f6f8fa", "#161b22"),
    "path, .question-tree rect": ("stroke: var(--color-foreground-border, {})", "#8c959f", "#6e7681"),
    "a text": ("fill: var(--color-link, {})", "#0969da", "#79c0ff"),
}


def _rules(dark: bool) -> str:
    every = _COLOURS.items()
    return "\n".join(f"  .question-tree {name} {{ {rule.format(colours[dark])} }}" for name, (rule, *colours) in every)


STYLE = f"""
  .question-tree text {{ font: 13px system-ui, sans-serif }}
  .question-tree .question {{ font-weight: 600; font-size: 14px }}
  .question-tree .command, .question-tree .answer {{ font: 12px ui-monospace, monospace }}
  .question-tree path {{ fill: none; stroke-width: 1.5 }}
  .question-tree a:hover text {{ text-decoration: underline }}
{_rules(False)}
  @media (prefers-color-scheme: dark) {{
{_rules(True)}
  }}
"""


class Answer(NamedTuple):
    """A row: what the answer of the command has, each with "..." for any text (none: any other answer); the title and
    the anchor of what follows, and what to do before that."""

    patterns: tuple[str, ...]
    words: str
    title: str
    anchor: str


class Question(NamedTuple):
    """A heading, its anchor, the command that is asked, and its answers."""

    title: str
    anchor: str
    command: str
    answers: tuple[Answer, ...]


def anchor_of(title: str) -> str:
    """The anchor of a heading."""
    return re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-")


def questions(page: str) -> list[Question]:
    """The questions of a page, in order."""
    found = []
    for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:]:
        command = re.search(r"^Ask `pocketgpu ([^`]+)`", part, re.MULTILINE)
        if command:
            title = part.partition("\n")[0]
            rows = re.findall(r"^\| (.*) \| (.*) \|$", part, re.MULTILINE)[1:]
            answers = tuple(_answer(left, right) for left, right in rows if not left.startswith("---"))
            found.append(Question(title, anchor_of(title), command[1], answers))
    return found


def _answer(left: str, right: str) -> Answer:
    link = re.search(r"\[([^\]]+)\]\(#([^)]+)\)", right)
    assert link, f"no link in {right!r}"
    return Answer(tuple(re.findall(r"`([^`]+)`", left)), left.replace("`", ""), link[1], link[2])


def draw(tree: list[Question]) -> str:
    """The tree as SVG: questions below each other, the causes at the right."""
    places = {}
    y = PAD
    for question in tree:
        places[question.anchor] = y
        y += 2 * LINE + PAD + LINE * len(question.answers) + 2 * PAD
    parts = []
    for number, question in enumerate(tree, 1):
        parts += _question(number, question, places)
    label = f"{len(tree)} questions, each with its answers and the causes that they lead to"
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="question-tree" viewBox="0 0 {WIDTH} {y - PAD}" role="group" '
        f'aria-label="{label}">'
    )
    return "\n".join([head, f"<style>{STYLE}</style>", *parts, "</svg>", ""])


def _question(number: int, question: Question, places: dict[str, int]) -> list[str]:
    top = places[question.anchor]
    box = 2 * LINE + PAD // 2
    title = f"{number}. {question.title}"
    parts = [
        f'<rect x="{PAD}" y="{top}" width="{WIDTH - 2 * PAD}" height="{box}" rx="6"/>',
        _link(question.anchor, f'<text class="question" x="{2 * PAD}" y="{top + 20}">{title}</text>'),
        f'<text class="command" x="{2 * PAD}" y="{top + 20 + LINE - 2}">pocketgpu {escape(question.command)}</text>',
    ]
    spine = 2 * PAD
    for row, answer in enumerate(question.answers):
        y = top + box + PAD + LINE * row + 4
        words = answer.words
        while len(words) > LONGEST:  # the first alternatives, or their first words
            words = words.rpartition(" or " if " or " in words else " ")[0]
        words += "" if words == answer.words else " …"
        parts.append(f'<path d="M{spine} {top + box} V{y - 4} H{spine + 12}"/>')
        parts.append(f'<text class="answer" x="{spine + 18}" y="{y}">{escape(words)}</text>')
        if answer.anchor in places:
            parts.append(f'<path d="M{RIGHT - 18} {y - 4} h12 m-4 -4 l4 4 l-4 4"/>')
            parts.append(_link(answer.anchor, f'<text x="{RIGHT}" y="{y}"><tspan font-weight="600">{answer.title}'
                                              "</tspan></text>"))  # fmt: skip
            continue
        parts.append(_link(answer.anchor, f'<text x="{RIGHT}" y="{y}">{answer.title}</text>'))
    return parts


def _link(anchor: str, inner: str) -> str:
    return f'<a href="#{anchor}">{inner}</a>'


def main() -> None:
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(draw(questions(PAGE.read_text(encoding="utf-8"))), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
