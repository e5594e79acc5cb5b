"""The words that this project's prose avoids, and a search for them. For tests/unit/test_words.py.

Prose is the comments and strings of Python files, and the whole of every other text: pages, tables (`*.tsv`), C.
`room` names the part of the project that a file belongs to, such as "src/pocketgpu/pica" or "tests/fuzz".
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from support.house import ROOT
from support.made import is_made

from pocketgpu.facts.choices import CHOICES

_NAMES = "|".join(re.escape(name) for name in CHOICES)
BANNED = {
    "behind": "after; past the end of",
    "no number(?! of)": "NaN; not a number",
    "anew": "again",
    "beneath": "below",
    "for ever": "forever, endlessly",
    "nought": "zero",
    "aught": "anything",
    "whereof": "of which",
    "thereof": "of it",
    "hitherto": "so far",
    "lest": "so that not",
    "asunder": "apart",
    "spoilt": "overwritten, damaged",
    "los(?:e|es|ing|t) (?:its|their|the) way": "cannot continue",
    "t(?:ell|ells|old|elling) of": "report, say, be notified of",
    "c(?:ome|omes|ame|oming) of": "result from, become of",
    rf"(?<!pocketgpu\x20)switch(?:es)? (?:{_NAMES})": "choice: a switch is the console",
    "(?-i:Switches) (?:of|that|which|with|for)": "choices",
}
"""What a reader has to decode, as a pattern in which a space stands for any gap, and what to write in its place."""

RIGHT = (
    "behind the camera",
    "behind the eye",
    "behind the near plane",
    "behind the viewer",
)
"""Phrases of depth, in which a banned word is the right one."""

TEXTS = frozenset((".c", ".cpp", ".h", ".ipynb", ".ksy", ".md", ".py", ".rst", ".svg", ".toml", ".tsv", ".txt", ""))
FOLDERS = ("src", "docs", "gallery", "tests", "tools", "benchmarks", "recorder")
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "Makefile", "pyproject.toml")
OWN = (Path(__file__).resolve(), ROOT / "tests" / "unit" / "test_words.py")
"""The list and its test, which name the words."""

GAP = r"""(?:\s|[#*/|"]|f(?="))+"""
"""Between two words of a phrase: spaces, a new line of a comment, the seam of two strings."""


@dataclass(frozen=True)
class Found:
    """A banned word: its file in the project, its line from 1 on, the text of that line, and the word to use."""

    place: str
    line: int
    text: str
    better: str

    def __str__(self) -> str:
        return f"{self.place}:{self.line}: {self.text.strip()}  (better: {self.better})"


def pattern(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"\b{phrase.replace(' ', GAP)}\b", re.IGNORECASE)


PATTERNS = [(pattern(phrase), better) for phrase, better in BANNED.items()]
ANY = re.compile("|".join(one.pattern for one, _ in PATTERNS), re.IGNORECASE)


def files() -> Iterator[Path]:
    """Every file with prose, except generated ones."""
    yield from (ROOT / name for name in PAGES)
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in TEXTS and path.is_file() and path not in OWN and not is_made(path):
                yield path


def room(path: Path) -> str:
    """src/pocketgpu/pica for all that is in that folder, src/pocketgpu for the modules of the package itself. Tests
    are in rooms like tests/fuzz and tests/unit/pica. Each page is a room."""
    place = path.relative_to(ROOT)
    folders = place.parts[:-1]
    if not folders or folders[0] == "docs":
        return place.as_posix()
    return "/".join(folders[: {"src": 3, "tests": 3 if "unit" in folders else 2}.get(folders[0], 1)])


@cache
def rooms() -> dict[str, tuple[Path, ...]]:
    """The files of each room."""
    found: dict[str, list[Path]] = {}
    for path in files():
        found.setdefault(room(path), []).append(path)
    return {name: tuple(paths) for name, paths in found.items()}


def search(place: str, text: str, allowed: Iterable[str] = ()) -> Iterator[Found]:
    """Banned words in a text, unless they are inside of an allowed phrase. place: its file, which tells Python."""
    if not ANY.search(text):
        return
    phrases = [pattern(re.escape(one).replace(r"\ ", " ")) for one in (*RIGHT, *allowed)]
    spans = [match.span() for one in phrases for match in one.finditer(text)]
    prose = [*python_prose(text)] if place.endswith(".py") else [(0, len(text))]
    for one, better in PATTERNS:
        for match in one.finditer(text):
            inside = any(start <= match.start() and match.end() <= end for start, end in spans)
            if not inside and any(start <= match.start() < end for start, end in prose):
                line = text.count("\n", 0, match.start())
                yield Found(place, line + 1, text.splitlines()[line], better)


def python_prose(text: str) -> Iterator[tuple[int, int]]:
    """(start, end) of each comment and string of a Python module, in characters."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    kinds = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in kinds:
            (first, column), (last, end) = token.start, token.end
            yield starts[first - 1] + column, starts[last - 1] + end
