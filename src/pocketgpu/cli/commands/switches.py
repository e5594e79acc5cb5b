"""`pocketgpu switches`: every doubtful behaviour and what-if that --set can choose."""

from __future__ import annotations

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import Outcome


@click.command()
@json_option
@debug_option
@click.pass_obj
def switches(outcome: Outcome) -> None:
    """List what --set NAME=VALUE can choose.

    There is a choice where documents disagree or the behaviour is not known, or for a what-if. The default is first.
    """
    from pocketgpu.facts.choices import CHOICES

    outcome.extra["switches"] = [
        {
            "name": choice.name,
            "default": choice.default,
            "alternatives": [str(value) for value in choice.alternatives],
            "doc": choice.doc,
            "sources": {str(value): str(source) for value, source in choice.sources.items()},
        }
        for choice in CHOICES.values()
    ]
    outcome.show = lambda: terminal.say(_listing(outcome))


def _listing(outcome: Outcome) -> str:
    blocks = []
    for entry in outcome.extra["switches"]:
        values = [f"{entry['default']} (default)", *(v for v in entry["alternatives"] if v != entry["default"])]
        lines = [f"{entry['name']} = {' | '.join(values)}", f"    {entry['doc']}"]
        lines += [f"    {value}: {source}" for value, source in entry["sources"].items()]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
