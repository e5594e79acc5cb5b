"""`pocketgpu switches`: every doubtful behaviour and what-if that --set can choose, and what speaks for each value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.errors import UsageError
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.facts.choices.choice import Choice
    from pocketgpu.facts.choices.evidence import Evidence

_WIDTH: Final = 79
"""Letters of a line."""
_CONSOLES: Final = {"3ds": "3DS", "switch": "Switch"}
_CERTAINTIES: Final = (
    "measured", "programs", "documented", "emulators", "one-emulator", "guessed", "undecided", "departs", "not-doubted",
)  # fmt: skip
"""How --certainty spells what choices have; naming them here keeps the start of other commands short."""
_HEADS: Final = {"3DS": "Choices of the 3DS", "Switch": "Choices of the Switch"}
_OTHERS: Final = "What programs that run find on both consoles"


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]", shell_complete=complete.choice_names)
@click.option(
    "--evidence", "further", metavar="FILE", type=click.Path(path_type=Path),
    help="A table of more evidence, such as a console's own answers.",
)
@click.option("--console", type=click.Choice(sorted(_CONSOLES)), help="Only choices of this console's GPU.  [all]")
@click.option(
    "--certainty", "certainties", multiple=True, type=click.Choice(_CERTAINTIES), metavar="NAME",
    help=f"Only choices whose default is so certain; may be repeated: {', '.join(_CERTAINTIES)}.  [all]",
)
@json_option
@debug_option
@click.pass_obj
def switches(
    outcome: Outcome, names: tuple[str, ...], further: Path | None, console: str | None, certainties: tuple[str, ...]
) -> None:
    """List what --set NAME=VALUE can choose, or what NAME or a group such as 'combiner' is about.

    There is a choice where documents disagree or the behaviour is not known, or for a what-if. The default is first.
    With a NAME there is all that speaks for each value, how certain the default is, and why it is the default.
    """
    from pocketgpu.facts.choices.told import told

    more = _further(further)
    wanted = {one.replace("-", " ") for one in certainties}
    found = [
        one for one in (told(choice, more) for choice in _named(names))
        if (console is None or one["console"] == _CONSOLES[console]) and (not wanted or one["certainty"] in wanted)
    ]  # fmt: skip
    outcome.extra["switches"] = found
    text = "\n\n".join(_whole(one) for one in found) if names and found else "\n\n".join(_list(found))
    outcome.show = lambda: terminal.say(text)


def _further(path: Path | None) -> tuple[Evidence, ...]:
    """The evidence in a file."""
    if path is None:
        return ()
    from pocketgpu.facts.choices import evidence

    try:
        return evidence.parse(path)
    except OSError as error:
        raise UsageError(f"the file cannot be read: {error.strerror}", location=str(path)) from error
    except ValueError as error:
        raise UsageError(
            f"this is no table of evidence: {error}", location=str(path),
            hint="'pocketgpu probe read FOLDER --evidence FILE' writes such a table.",
        ) from error  # fmt: skip


def _named(names: Sequence[str]) -> list[Choice]:
    """The choices of some names or groups; all without any."""
    from pocketgpu.facts.choices import CHOICES

    found: dict[str, Choice] = {}
    for name in names:
        chosen = {one.name: one for one in CHOICES.values() if name in (one.name, one.name.partition(".")[0])}
        if not chosen:
            import difflib

            close = difflib.get_close_matches(name, CHOICES, n=1)
            hint = f"Did you mean {close[0]!r}?" if close else "'pocketgpu switches' lists all of them."
            raise UsageError(f"there is no choice {name!r}", hint=hint)
        found |= chosen
    return [*found.values()] if names else [*CHOICES.values()]


def _list(found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The parts of the list: how many there are and what their labels mean, then the choices of each console."""
    from pocketgpu.facts.choices.certainty import Certainty

    if not found:
        yield "no choice has such a console, name or certainty"
        return
    counts = Counter(one["certainty"] for one in found)
    wide = max(map(len, counts))
    lines = [f"{counted(len(found), 'choice')}. How certain the default is stands in brackets:"]
    lines += [
        _filled(f"{counts[sure]:5} [{sure}]{'':{wide - len(sure)}}  {sure.explained}", 0, wide + 10)
        for sure in Certainty if counts[sure]
    ]  # fmt: skip
    yield "\n".join(lines)
    for console in dict.fromkeys(one["console"] for one in found):
        part = [one for one in found if one["console"] == console]
        head = f"{_HEADS.get(console, _OTHERS)}: {len(part)}"
        yield f"{head}\n{'-' * len(head)}"
        yield from map(_short, part)


def _short(one: Mapping[str, Any]) -> str:
    """A choice of the list: its values, the question, how certain the default is, and what each value means."""
    # A label is not broken at the end of a line, so that it can be searched for.
    label = one["certainty"].replace(" ", "\N{NO-BREAK SPACE}")
    lines = [_head(one), _filled(f"{one['doc']} [{label}]", 4).replace("\N{NO-BREAK SPACE}", " ")]
    lines += [_filled(f"{value}: {source}", 4, 6) for value, source in one["sources"].items()]
    return "\n".join(lines)


def _whole(one: Mapping[str, Any]) -> str:
    """All that is known about a choice."""
    lines = [_head(one), _filled(one["doc"], 4), ""]
    for value in one["values"]:
        means = f": {value['means']}" if value["means"] else ""
        lines.append(_filled(f"{value['value']}{' (default)' if value['default'] else ''}{means}", 4, 6))
        rows = [row for row in one["evidence"] if row["value"] == value["value"]]
        for row in rows:
            lines += _row(row)
        if not rows:
            lines.append(_filled("nothing speaks for it" if not one["what_if"] else "a what-if", 8))
    lines += ["", _filled(f"certainty: {_certain(one)}", 4, 6)]
    if len(one["steps"]) > 1:
        lines += [_filled(step["text"], 6, 8) for step in one["steps"]]
    if len({value for answer in one["consoles"] for value in answer["values"]}) > 1:
        lines.append(_filled("the consoles disagree:", 4))
        lines += [_filled(f"{each['console']}: {', '.join(each['values'])}", 6, 8) for each in one["consoles"]]
    if one["reason"]:
        lines.append(_filled(f"why {one['default']}: {one['reason']}", 4, 6))
    if one["settles"]:
        lines.append(_filled(f"to settle it: {one['settles']}", 4, 6))
        lines += [f"      {one['asks']}"] if one["asks"] else []
    return "\n".join(lines)


def _row(row: Mapping[str, Any]) -> list[str]:
    """A statement or an observation. Its place begins a line of its own, so that an address can be copied."""
    date = f", {row['date']}" if row["date"] else ""
    what = f": {row['what']}" if row["what"] else ""
    lines = [_filled(f"{row['kind']}: {row['who']}{date}{what}", 8, 10)]
    return [*lines, _filled(row["where"], 10)] if row["where"] else lines


def _certain(one: Mapping[str, Any]) -> str:
    """How certain the default is, and for what the evidence speaks if that is not the default alone."""
    sure, said, values = str(one["certainty"]), str(one["certainty_text"]), one["of_equal_weight"]
    if one["decided"] not in (None, one["default"]):
        by = f" ({one['decided_by']})"
        return f"{sure}: the evidence speaks for {one['decided']}{by}, the default is {one['default']}"
    if values:
        text = f"{sure}: the evidence has the same weight for {', '.join(values)}"
        return text if one["default"] in values else f"{text}; the default is {one['default']}"
    return said if said.startswith(sure) else f"{sure}: {said}"


def _head(one: Mapping[str, Any]) -> str:
    values = [f"{one['default']} (default)", *one["alternatives"]]
    return _filled(f"{one['name']} = {' | '.join(values)}", 0, 4)


def _filled(text: str, first: int, rest: int | None = None) -> str:
    before, after = " " * first, " " * (first if rest is None else rest)
    return fill(
        text, _WIDTH, initial_indent=before, subsequent_indent=after, break_on_hyphens=False, break_long_words=False
    )
