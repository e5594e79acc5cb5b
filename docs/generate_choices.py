"""Writes a page for each doubtful choice as Markdown, with pictures of its values.

    python docs/generate_choices.py FOLDER

The pictures are rendered while the site is built, from the choices' scenes (`pocketgpu.probe`). All text comes from the
tables of `facts/choices`; which recordings depend on a choice is in doubts.tsv, which `tools/doubt_matrix.py` writes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image
from reference_pages.markdown import escape
from reference_pages.names import anchor

from pocketgpu.cli.app import COMMANDS
from pocketgpu.facts.choices import CHOICES, OF_CONSOLE
from pocketgpu.facts.choices.certainty import RANKS, certainty
from pocketgpu.facts.choices.choice import Choice
from pocketgpu.facts.choices.evidence import Evidence, of_choice
from pocketgpu.facts.choices.registers import patterns
from pocketgpu.facts.choices.told import told
from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.maxwell import B06F, CLASSES
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.rules.registry import RULES
from pocketgpu.probe import NO_SCENE, SCENES, Observation, observe

HERE = Path(__file__).resolve().parent
TABLE: Final = HERE / "doubts.tsv"
GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    "Nintendo 3DS": OF_CONSOLE["3DS"],
    "Nintendo Switch": OF_CONSOLE["Switch"],
    "Programs that run here": tuple(
        name for name in CHOICES if not any(name in names for names in OF_CONSOLE.values())
    ),
}
BLOCKS: Final[Mapping[str, Any]] = {
    "pica": PICA, "external": EXTERNAL, B06F.name: B06F, **{block.name: block for block in CLASSES.values()},
}  # fmt: skip
_WITHOUT_PAGE: Final = frozenset(set(BLOCKS) - {"pica", "external", *(block.name for block in CLASSES.values())})
"""Blocks whose registers have no place in the reference."""
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9._~:/?#@!$&'()*+,;=%-]*[A-Za-z0-9/=%~_-]")
"""An address in a text of others. It is written as it is, so it has only letters that mean nothing in HTML or a table;
a point or a comma after it belongs to the sentence."""
MOST_REGISTERS: Final = 12
MOST_RECORDINGS: Final = 12
_SAME: Final = 0.3
"""Brightness of what does not differ, in a picture of differences."""
_DIFFERS: Final = (255, 96, 0)

Row = dict[str, str]


def generate(folder: Path, pictures: bool = True) -> list[Path]:
    """Write all pages, choices.md and a folder choices, into `folder`; returns what was written.

    :param pictures: whether scenes are rendered.
    """
    pages = folder / "choices"
    pages.mkdir(parents=True, exist_ok=True)
    for old in pages.iterdir():  # of choices that are gone; what is not of this kind is not ours
        if old.is_file() and old.suffix in (".md", ".png"):
            old.unlink()
    seen = recorded()
    written = [write(folder / "choices.md", index(seen)), write(folder / "doubts.md", matrix(seen))]
    for choice in CHOICES.values():
        shown = draw(choice, pages) if pictures else []
        written.append(write(pages / f"{slug(choice.name)}.md", page(choice, seen.get(choice.name, []), shown)))
    return written


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join([*lines, ""]), encoding="utf-8", newline="\n")
    return path


def recorded() -> dict[str, list[Row]]:
    """The rows of doubts.tsv by choice."""
    head, *lines = TABLE.read_text(encoding="utf-8").splitlines()
    found: dict[str, list[Row]] = {}
    for line in lines:
        row = dict(zip(head.split("\t"), line.split("\t"), strict=True))
        found.setdefault(row["choice"], []).append(row)
    return found


def slug(name: str) -> str:
    return name.replace(".", "-").replace("_", "-")


def parted(rows: list[Row]) -> list[Row]:
    """The rows of recordings whose pictures change."""
    return [row for row in rows if row["pixels"] != "0"]


# -- the lists --------------------------------------------------------------------------------------------------------
def index(seen: Mapping[str, list[Row]]) -> list[str]:
    """The page of all choices."""
    lines = [
        "# Doubtful behaviour", "",
        "Where the documents disagree, or nobody knows, the behaviour is a choice. `--set NAME=VALUE` and",
        "`N3DS(switches={...})` select a value. [Doubtful behaviour](../../guides/choices.md) shows how to use them;",
        "[a table](doubts.md) has the recordings whose pictures depend on them.", "",
    ]  # fmt: skip
    for title, names in GROUPS.items():
        lines += [f"## {title}", "", "| choice | default | which is | changes pictures of |", "|---|---|---|---|"]
        for name in names:
            choice = CHOICES[name]
            count = len({row["recording"] for row in parted(seen.get(name, []))})
            many = f"{count} recording{'s' if count > 1 else ''}" if count else ""
            sure = str(certainty(choice).said).partition(":")[0]
            lines.append(f"| [`{name}`](choices/{slug(name)}.md) | `{choice.default}` | {escape(sure)} | {many} |")
        lines.append("")
    return [*lines, "```{toctree}", ":hidden:", ":glob:", "", "choices/*", "```"]


def matrix(seen: Mapping[str, list[Row]]) -> list[str]:
    """The page of values and recordings."""
    names = sorted({row["recording"] for rows in seen.values() for row in rows})
    lines = [
        "# Choices and recordings", "",
        f"`pocketgpu doubts` replayed {len(names)} recordings with every value of the choices that they touch. A row",
        "is a value that changes pictures. Choices that no picture depends on are listed at the end.", "",
        "| value | recordings | pixels | most of them in |", "|---|---|---|---|",
    ]  # fmt: skip
    found = []
    for choice, rows in seen.items():
        for value in dict.fromkeys(row["value"] for row in rows):
            own = [row for row in parted(rows) if row["value"] == value]
            if own:
                most = max(own, key=lambda row: int(row["pixels"]))
                pixels = sum(int(row["pixels"]) for row in own)
                cells = f"{len(own)} | {pixels:,} | {most['recording']}, first at {most['first']} |"
                found.append((-len(own), f"| [`{choice}`](choices/{slug(choice)}.md) = `{value}` | {cells}"))
    lines += [line for _, line in sorted(found)]
    silent = [name for name, rows in seen.items() if not parted(rows)]
    links = ", ".join(f"[`{name}`](choices/{slug(name)}.md)" for name in silent)
    return [*lines, "", "## Tried without any effect", "", links or "None."]


# -- the page of a choice ---------------------------------------------------------------------------------------------
def page(choice: Choice, rows: list[Row], shown: list[str]) -> list[str]:
    """Everything that is known about one choice. shown: Markdown of its pictures."""
    known = told(choice)
    lines = [f"(choice-{slug(choice.name)})=", "", f"# {choice.name}", "", escape(choice.doc), ""]
    lines += ["| value | means and says who |", "|---|---|"]
    for value in choice.values:
        default = " (default)" if value == choice.default else ""
        lines.append(f"| `{value}`{default} | {escape(known['sources'][value])} |")
    sure = f"The default is {escape(known['certainty_text'])}."
    lines += ["", sure, *([escape(known["reason"])] if known["reason"] else []), ""]
    lines += ["## What the values show", "", *(shown or [without_scene(choice)]), ""]
    lines += evidence(known)
    lines += concerned(choice)
    lines += recordings(rows)
    return lines + settle(choice, known)


def without_scene(choice: Choice) -> str:
    return escape(NO_SCENE.get(choice.name, "There is no scene of it."))


def evidence(known: Mapping[str, Any]) -> Iterator[str]:
    """Who says what, and where."""
    if known["evidence"]:
        yield from ("## Evidence", "", "| value | kind | who | what | where |", "|---|---|---|---|---|")
        for row in known["evidence"]:
            who = f"{row['source']}, {row['date']}" if row["date"] else row["source"]
            cells = (escape(who), escape(row["what"]), linked(row["where"]))
            yield f"| `{row['value']}` | {row['kind']} | {' | '.join(cells)} |"
        yield from ("", *counted_once(of_choice(known["name"])), "")


def counted_once(rows: Iterable[Evidence]) -> Iterator[str]:
    """A sentence about rows for one value that count once, as in `facts/choices/certainty.py`."""
    alike: dict[tuple[Any, ...], list[str]] = {}
    for row in rows:
        rank = next(number for number, kinds in enumerate(RANKS) if row.kind in kinds)
        alike.setdefault((row.value, rank, row.origin, row.who.independent), []).append(row.who.name)
    several = [
        f"for `{value}` the {len(names)} rows of {escape(', '.join(dict.fromkeys(names)))}"
        for (value, _, _, independent), names in alike.items() if len(names) > 1 and independent == 1
    ]
    if several:
        yield f"Rows of one source, or of sources with common ancestors, count once: {'; '.join(several)}."


def linked(text: str) -> str:
    """A text whose addresses are links. All else is taken literally."""
    parts = _ADDRESS.split(text)
    links = [f"<{address}>" for address in _ADDRESS.findall(text)]
    return "".join(escape(part) + link for part, link in zip(parts, [*links, ""], strict=True))


def concerned(choice: Choice) -> Iterator[str]:
    """The registers that it is about, and the rules of `check` that name it."""
    links = [
        f"`{register.name}`" if block in _WITHOUT_PAGE else f"[{register.name}](#{anchor(register)})"
        for block, register in registers(choice)
    ]
    if links:
        more = f" and {len(links) - MOST_REGISTERS} more" if len(links) > MOST_REGISTERS else ""
        yield from ("## Registers", "", f"It is about {', '.join(links[:MOST_REGISTERS])}{more}.", "")
    texts = {rule: f"{rule.explanation} {rule.source} {rule.hint}" for rule in RULES}
    named = [f"`{rule.id}` ({escape(rule.title)})" for rule, text in texts.items() if choice.name in text]
    general = {"3DS": "doubt", "Switch": "switch.doubt"}
    named += [f"`{general[console]}`" for console, names in OF_CONSOLE.items() if choice.name in names]
    if named:
        yield from (f"[`pocketgpu check`](../../../guides/check.md) names it by {', '.join(named)}.", "")


def registers(choice: Choice) -> list[tuple[str, Register]]:
    """The registers that the table names for a choice, with the name of their block."""
    wanted = [(block, pattern) for name, block, pattern in patterns() if name == choice.name]
    return [
        (block, register) for block, pattern in wanted for register in BLOCKS[block]
        if register.known and fnmatchcase(register.name, pattern)
    ]  # fmt: skip


def recordings(rows: list[Row]) -> Iterator[str]:
    """The recordings that depend on it."""
    yield from ("## Recordings", "")
    if not rows:
        yield from ("No recording that was looked at touches it.", "")
        return
    some = sorted(parted(rows), key=lambda row: (-int(row["pixels"]), row["recording"]))
    count = len({row["recording"] for row in rows})
    if not some:
        yield from (f"It was tried with {count} recordings, and changed no picture.", "")
        return
    yield from ("| value | recording | pixels | frames | first |", "|---|---|---|---|---|")
    for row in some[:MOST_RECORDINGS]:
        pixels = f"{int(row['pixels']):,}"
        yield f"| `{row['value']}` | {row['recording']} | {pixels} | {row['frames']} | {row['first']} |"
    left = f" {len(some) - MOST_RECORDINGS} more rows are left out." if len(some) > MOST_RECORDINGS else ""
    yield from ("", f"It was tried with {count} recordings.{left}", "")


def settle(choice: Choice, known: Mapping[str, Any]) -> list[str]:
    """How it can be made certain."""
    lines = ["## How to settle it", ""]
    if not known["settles"]:
        return [*lines, "Nothing has to be settled.", ""]
    lines += [f"It takes {escape(known['settles'])}.", ""]
    if any(choice.name in names for names in OF_CONSOLE.values()):
        lines += [
            "With a recording that depends on it and a picture, or a photo, of what a console shows:", "",
            "```sh", f"pocketgpu doubts scene.ctf.xz --choice {choice.name} --expect pictures", "```", "",
        ]  # fmt: skip
    if "probe" in COMMANDS and choice.name in SCENES:
        lines += ["`pocketgpu probe` writes a program for a console that runs the scene above.", ""]
    return lines


# -- pictures ---------------------------------------------------------------------------------------------------------
def draw(choice: Choice, folder: Path) -> list[str]:
    """Render a choice's scene with each value, and write the pictures; returns Markdown that shows them."""
    scene = SCENES.get(choice.name)
    if scene is None:
        return []
    seen = {value: observe(scene.made, {choice.name: value}) for value in choice.values}
    usual = seen[choice.default]
    lines = [escape(scene.doc), ""]
    for screen in usual.pictures:
        if any(differs(usual, one, screen) for one in seen.values()) or screen == next(iter(usual.pictures)):
            lines += gallery(choice, seen, screen, folder)
    for value, one in seen.items():
        other = [part for part in usual.differences(one) if not part.startswith("picture")]
        if other:
            lines += ["", f"With `{value}` these differ too: {escape(', '.join(other[:8]))}."]
    return lines


def differs(one: Observation, other: Observation, screen: str) -> bool:
    return f"picture {screen}" in one.differences(other)


def gallery(choice: Choice, seen: Mapping[str, Observation], screen: str, folder: Path) -> list[str]:
    """The pictures of a screen side by side, and where those of other values differ."""
    usual = seen[choice.default].pictures[screen]
    lines = ["::::{container} choice-pictures"]
    for value, one in seen.items():
        if screen not in one.pictures:
            continue
        picture = one.pictures[screen]
        told_by = f"{value}, the default" if value == choice.default else value
        lines += figure(choice, folder, f"{screen}-{value}", picture, f"`{value}`", f"What {told_by} shows")
        if value == choice.default or picture.shape != usual.shape:
            continue
        apart = (picture != usual).any(axis=-1)
        count = int(np.count_nonzero(apart))
        if count:
            text = f"`{value}`: {count:,} of {apart.size:,} pixels differ"
            name, what = f"{screen}-{value}-differs", f"Where {value} differs"
            lines += figure(choice, folder, name, marked(usual, apart), text, what)
        else:
            lines += ["", f"`{value}` shows the same picture.", ""]
    return [*lines, "::::", ""]


def figure(choice: Choice, folder: Path, name: str, picture: Any, caption: str, alternative: str) -> list[str]:
    """Write a picture; returns Markdown of it with its caption and a text for those who do not see it."""
    path = folder / f"{slug(choice.name)}-{name}.png"
    Image.fromarray(np.ascontiguousarray(picture)).save(path, optimize=True)
    return [f":::{{figure}} {path.name}", f":alt: {alternative} ({choice.name})", "", caption, ":::"]


def marked(usual: Any, apart: Any) -> Any:
    """The usual picture in dark grey, with the pixels that differ in a bright colour."""
    grey = usual.mean(axis=-1, keepdims=True) * _SAME
    return np.where(apart[..., None], np.array(_DIFFERS), grey).astype(np.uint8)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/generate_choices.py FOLDER")
    print(f"{len(generate(Path(sys.argv[1])))} pages in {sys.argv[1]}")
