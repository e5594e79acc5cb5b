"""`pocketgpu switches`: every doubtful behaviour and what-if that --set can choose."""

from __future__ import annotations

import click

from pocketgpu.cli import terminal
from pocketgpu.cli.options import debug_option, json_option
from pocketgpu.cli.outcome import Outcome


@click.command()
@click.option("--all", "all_", is_flag=True, help="Also those of which this version has only the default.")
@json_option
@debug_option
@click.pass_obj
def switches(outcome: Outcome, all_: bool) -> None:
    """List what --set NAME=VALUE can choose.

    A switch stands where the documents disagree or nobody knows, or offers a what-if. The default is named first.
    """
    from pocketgpu.facts.switches import HONOURED, SWITCHES

    outcome.extra["switches"] = [
        {
            "name": switch.name,
            "default": switch.default,
            "alternatives": [str(value) for value in switch.alternatives],
            "doc": switch.doc,
            "sources": {str(value): str(source) for value, source in switch.sources.items()},
            "honoured": switch.name in HONOURED,
        }
        for switch in SWITCHES.values()
        if all_ or switch.name in HONOURED
    ]
    left_out = len(SWITCHES) - len(outcome.extra["switches"])
    outcome.show = lambda: terminal.say(_listing(outcome, left_out))


def _listing(outcome: Outcome, left_out: int) -> str:
    blocks = []
    for entry in outcome.extra["switches"]:
        values = [f"{entry['default']} (default)", *(v for v in entry["alternatives"] if v != entry["default"])]
        head = f"{entry['name']} = {' | '.join(values)}"
        lines = [head if entry["honoured"] else f"{head}   (only the default is built)", f"    {entry['doc']}"]
        lines += [f"    {value}: {source}" for value, source in entry["sources"].items()]
        blocks.append("\n".join(lines))
    if left_out:
        blocks.append(f"{left_out} more doubts are known but have only their default so far: --all names them.")
    return "\n\n".join(blocks)
