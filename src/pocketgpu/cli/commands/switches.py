"""`pocketgpu switches`: every doubtful behaviour and what-if that --set can choose, and what speaks for each value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, Final

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.facts.choices.choice import Choice
    from pocketgpu.facts.choices.evidence import Evidence

_WIDTH: Final = 79
"""Letters of a line."""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]", shell_complete=complete.choice_names)
@click.option(
    "--evidence", "further", metavar="FILE", type=click.Path(path_type=Path),
    help="A table of more evidence, such as a console's own answers.",
)
@json_option
@debug_option
@click.pass_obj
def switches(outcome: Outcome, names: tuple[str, ...], further: Path | None) -> None:
    """List what --set NAME=VALUE can choose, or what NAME or a group such as 'combiner' is about.

    There is a choice where documents disagree or the behaviour is not known, or for a what-if. The default is first.
    With a NAME there is all that speaks for each value, how certain the default is, and why it is the default.
    """
    from pocketgpu.facts.choices.told import told

    more = _further(further)
    outcome.extra["switches"] = [told(choice, more) for choice in _named(names)]
    shown = _whole if names else _short
    outcome.show = lambda: terminal.say("\n\n".join(shown(one) for one in outcome.extra["switches"]))


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
            hint=f"It has the columns {', '.join(evidence.COLUMNS)}.",
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


def _short(one: Mapping[str, Any]) -> str:
    """A choice of the list: its values, the question, how certain the default is, and what each value means."""
    lines = [_head(one), _filled(f"{one['doc']} [{one['certainty']}]", 4)]
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
    lines += ["", _filled(f"certainty: {one['certainty']} ({_certain(one)})", 4, 6)]
    if one["reason"]:
        lines.append(_filled(f"why {one['default']}: {one['reason']}", 4, 6))
    if one["settles"]:
        lines.append(_filled(f"to settle it: {one['settles']}", 4, 6))
    return "\n".join(lines)


def _row(row: Mapping[str, Any]) -> list[str]:
    """A statement or an observation. Its place has a line of its own, so that an address can be copied."""
    date = f", {row['date']}" if row["date"] else ""
    what = f": {row['what']}" if row["what"] else ""
    lines = [_filled(f"{row['kind']}: {row['who']}{date}{what}", 8, 10)]
    return [*lines, f"          {row['where']}"] if row["where"] else lines


def _certain(one: Mapping[str, Any]) -> str:
    """What the certainty says, and what the evidence decides if that is not the default."""
    text = str(one["certainty_text"])
    if one["decided"] not in (None, one["default"]):
        text = f"the evidence decides {one['decided']}"
    elif one["of_equal_weight"]:
        text = f"the evidence has the same weight for {', '.join(one['of_equal_weight'])}"
    return text


def _head(one: Mapping[str, Any]) -> str:
    values = [f"{one['default']} (default)", *one["alternatives"]]
    return _filled(f"{one['name']} = {' | '.join(values)}", 0, 4)


def _filled(text: str, first: int, rest: int | None = None) -> str:
    before, after = " " * first, " " * (first if rest is None else rest)
    return fill(
        text, _WIDTH, initial_indent=before, subsequent_indent=after, break_on_hyphens=False, break_long_words=False
    )
