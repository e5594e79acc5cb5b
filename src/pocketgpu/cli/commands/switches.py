"""`pocketgpu switches`: every doubtful behaviour and what-if that --set can choose."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.facts.choices.choice import Choice



_WIDTH = 79
"""Letters of a line."""


@click.command()
@click.argument("names", nargs=-1, metavar="[NAME...]", shell_complete=complete.choice_names)
@json_option
@debug_option
@click.pass_obj
def switches(outcome: Outcome, names: tuple[str, ...]) -> None:
    """List what --set NAME=VALUE can choose, or what NAME or a group such as 'combiner' is about.

    There is a choice where documents disagree or the behaviour is not known, or for a what-if. The default is first.
    """
    outcome.extra["switches"] = [
        {
            "name": choice.name,
            "default": choice.default,
            "alternatives": [str(value) for value in choice.alternatives],
            "doc": choice.doc,
            "sources": {str(value): str(source) for value, source in choice.sources.items()},
        }
        for choice in _named(names)
    ]
    outcome.show = lambda: terminal.say(_listing(outcome))


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


def _listing(outcome: Outcome) -> str:
    blocks = []
    for entry in outcome.extra["switches"]:
        values = [f"{entry['default']} (default)", *(v for v in entry["alternatives"] if v != entry["default"])]
        lines = [_filled(f"{entry['name']} = {' | '.join(values)}", "", "    "), _filled(entry["doc"], "    ", "    ")]
        lines += [_filled(f"{value}: {source}", "    ", "      ") for value, source in entry["sources"].items()]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _filled(text: str, first: str, rest: str) -> str:
    return fill(text, _WIDTH, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
