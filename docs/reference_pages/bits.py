"""Drawings of the bits of a word, and tables of its fields, as HTML that needs no script.

A word of 32 bits is two tables of 16 columns. They stand beside each other where there is room, and below each other
on narrow screens (`static/registers.css`). A field that lies in both is drawn as one where they are side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from math import ceil
from typing import Final, NamedTuple

ROW, HALF = 32, 16
"""Bits of two tables that may stand beside each other, and of one."""
UPPER, LOWER = 0.46, 0.4
"""Width of a letter of a label, in rem: capitals, digits and underscores, and small letters."""
COLUMN: Final = 1.4
"""Width of a bit in rem, where the page is as wide as it gets."""
LINE: Final = 0.95
"""Height of a line of a label, in rem."""
LOW: Final = 1.7
"""Height of a field that needs no more, in rem, as in the style sheet."""
TALLEST: Final = 9.0
"""Height of the longest label that is written upwards, in rem; the end of a longer one is cut off."""
UPWARDS: Final = 3
"""Labels of fields of up to this number of bits are written upwards if they are too long."""


class Part(NamedTuple):
    """Some bits of a word. name: that of the field, empty for bits without one. fixed: "0" or "1" for a bit that always
    has this value; then there is no name."""

    lo: int
    width: int
    name: str = ""
    fixed: str = ""

    @property
    def hi(self) -> int:
        return self.lo + self.width - 1

    @property
    def span(self) -> str:
        return str(self.lo) if self.width == 1 else f"{self.hi}-{self.lo}"

    @property
    def told(self) -> str:
        """The part in words."""
        return f"{self.span} {self.name or (f'always {self.fixed}' if self.fixed else 'unused')}"


def filled(parts: Iterable[Part], size: int = 32, first: int = 0) -> list[Part]:
    """All `size` bits from `first` on as parts, the highest first. What lies outside is cut off.

    Raises ValueError if parts overlap.
    """
    found: list[Part] = []
    place = first
    for part in sorted(parts):
        lo, end = max(part.lo, first), min(part.hi + 1, first + size)
        if lo >= end:
            continue
        if lo < place:
            raise ValueError(f"bit {lo} is in two parts: {part.name} and {found[-1].name}")
        if lo > place:
            found.append(Part(place, lo - place))
        found.append(part._replace(lo=lo, width=end - lo))
        place = end
    if place < first + size:
        found.append(Part(place, first + size - place))
    return found[::-1]


def layers(parts: Iterable[Part]) -> list[list[Part]]:
    """Parts that overlap, in as few lists as it takes for those of a list not to overlap."""
    found: list[list[Part]] = []
    for part in parts:
        for layer in found:
            if all(part.hi < other.lo or other.hi < part.lo for other in layer):
                layer.append(part)
                break
        else:
            found.append([part])
    return found


def drawing(parts: Sequence[Part], size: int = 32, first: int = 0, title: str = "Bits") -> str:
    """The drawing of a word, in one line of HTML.

    :param parts: its fields; bits of none are hatched.
    :param size: bits of the word; a multiple of 32.
    :param first: the number of its lowest bit, a multiple of 32.
    :param title: what a screen reader says before the list of the parts.
    """
    parts = filled(parts, size, first)
    label = escape(f"{title}: {', '.join(part.told for part in parts)}")
    halves = "".join(half(parts, lo) for lo in range(first + size - HALF, first - 1, -HALF))
    return f'<div class="bits" role="img" aria-label="{label}">{halves}</div>'


def half(parts: Sequence[Part], lo: int) -> str:
    """The table of 16 bits from `lo` on. It is as high as the one beside it, where there is one."""
    own = height(parts, lo, HALF)
    beside = height(parts, lo // ROW * ROW, ROW)
    sizes = [f"--{name}:{size:g}rem" for name, size in (("n", own), ("h", beside)) if size > LOW]
    if own == beside:
        sizes = sizes[:1]
    style = f' style="{";".join(sizes)}"' if sizes else ""
    numbers = "".join(f"\n<th>{bit}" for bit in range(lo + HALF - 1, lo - 1, -1))
    cells = "".join(cell for part in parts for cell in _cells(part, lo))
    return f"<table{style}><tr>{numbers}\n<tr>{cells}</table>"


def height(parts: Iterable[Part], lo: int, size: int) -> float:
    """The height that labels of `size` bits from `lo` on need, in rem."""
    return max((room(part) for part in parts if part.lo < lo + size and part.hi >= lo), default=0.0)


def _cells(part: Part, lo: int) -> Iterator[str]:
    """The cell of the bits that a part has in the table of 16 bits from `lo` on."""
    low, end = max(part.lo, lo), min(part.hi + 1, lo + HALF)
    if low >= end:
        return
    if part.fixed:
        yield from (f'\n<td class="f">{part.fixed}' for _ in range(end - low))
        return
    columns = f" colspan={end - low}" if end - low > 1 else ""
    if not part.name:
        yield f'\n<td class="u"{columns}>'
        return
    text = escape(part.name).replace("_", "_<wbr>")
    kind = ""
    row = lo // ROW * ROW
    if upwards(part):
        kind, text = "v", f"<span>{escape(part.name)}</span>"
    elif lo > row and part.lo < lo:  # it goes on in the table to the right, and is named in the middle of both
        kind = "l"
        middle = 50 * (end - max(part.lo, row)) / (end - low)
        text = f'<span style="left:{middle:g}%">{text}</span>'
    elif lo == row and part.hi >= lo + HALF:
        kind, text = "r", f"<span>{text}</span>"
    kind = f' class="{kind}"' if kind else ""
    yield f'\n<td{kind}{columns} title="{escape(part.name)} {part.span}">{text}'


def wide(text: str) -> float:
    """How wide a label is, in rem."""
    return sum(LOWER if letter.islower() else UPPER for letter in text)


def upwards(part: Part) -> bool:
    """Whether a label is written upwards."""
    return part.width <= UPWARDS and wide(part.name) > COLUMN * part.width - 0.2


def room(part: Part) -> float:
    """The height that a label needs, in rem."""
    if upwards(part):
        return min(ceil(2 * wide(part.name)) / 2 + 0.6, TALLEST)
    return LINE * ceil(wide(part.name) / (COLUMN * min(part.width, HALF) - 0.2)) + 0.4


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are HTML, with a class of its own: it is as wide as its page, and its texts wrap."""
    head = "".join(f"<th>{one}" for one in heads)
    body = "".join("\n<tr>" + "".join(f"\n<td>{cell}" for cell in row) for row in rows)
    return f'<table class="fields"><thead><tr>{head}<tbody>{body}</table>'


def code(name: str) -> str:
    """A name, which may be broken after underscores."""
    return f"<code>{escape(name).replace('_', '_<wbr>')}</code>"


def named(values: Mapping[int, str]) -> str:
    """Numbers and their meanings, folded if they are many."""
    text = ", ".join(f"<b>{number}</b> {escape(text)}" for number, text in values.items())
    return folded(text, f"{len(values)} values")


def with_sentence(values: str, sentence: str) -> str:
    """Values of a field, as HTML, and a sentence about it; what is folded comes last."""
    if not sentence:
        return values
    return f"{escape(sentence)}\n{values}" if "<details>" in values else f"{values}. {escape(sentence)}"


def folded(text: str, summary: str, longest: int = 400) -> str:
    """A text of HTML as it is, or folded if it is longer than `longest`."""
    return text if len(text) <= longest else f"<details><summary>{summary}</summary>\n{text}</details>"
