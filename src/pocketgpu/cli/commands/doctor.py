"""`pocketgpu doctor`: versions, processor, compiler, cache and a self-test, for the user and for bug reports."""

from __future__ import annotations

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import ExitCode, Outcome


@click.command()
@json_option
@debug_option
@click.pass_obj
def doctor(outcome: Outcome) -> None:
    """Check this installation and what it runs on.

    The exit code is 1 if there is a problem.
    """
    from pocketgpu.inspect import health

    checks = health.examine()
    outcome.extra["checks"] = [
        {"name": check.name, "state": check.state, "text": check.text, "hint": check.hint, **check.data}
        for check in checks
    ]
    lines = []
    for check in checks:
        lines.append(f"{check.state:8} {check.name:10} {check.text}")
        if check.hint:
            lines.append(f"{'':19} {check.hint}")
    problems = sum(check.state == "problem" for check in checks)
    lines += ["", "all well" if not problems else f"{problems} {'problem' if problems == 1 else 'problems'} found"]
    outcome.show = lambda: terminal.say("\n".join(lines))
    if problems:
        raise click.exceptions.Exit(ExitCode.FINDINGS)
