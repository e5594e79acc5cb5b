"""`pocketgpu check`: finds what works here and may not work on a console."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Final

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.cli.parts.replay import open_capture

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pocketgpu.guests import App
    from pocketgpu.inspect.model.rules import Rule
    from pocketgpu.inspect.rules.checker import Report

_WIDTH: Final = 80


@click.command()
@click.argument("capture", required=False, metavar="CAPTURE")
@click.option(
    "--rule", "only", multiple=True, metavar="ID", shell_complete=complete.rules,
    help="Apply only this rule ('shader.*': a group).",
)  # fmt: skip
@click.option("--skip", multiple=True, metavar="ID", shell_complete=complete.rules, help="Leave this rule out.")
@click.option("--list", "listed", is_flag=True, help="List all rules with confidence and source.")
@click.option("--notes/--no-notes", default=True, show_default=True, help="Show findings of severity 'note'.")
@click.option("--junit", metavar="FILE", help="Write the findings as a JUnit file, a test for each rule.")
@json_option
@debug_option
@click.pass_obj
def check(
    outcome: Outcome,
    capture: str | None,
    only: tuple[str, ...],
    skip: tuple[str, ...],
    listed: bool,
    notes: bool,
    junit: str | None,
) -> None:
    """Find what works here and may not work on a console.

    The capture runs once, and rules check the run: documented hangs, buffers that overlap or are not aligned, reads of
    memory that nothing wrote, units in conflict, and more. The exit code is 1 if there is a finding of severity
    "error".
    """
    from pocketgpu.capture.formats.first_bytes import is_program
    from pocketgpu.inspect.rules.checker import check as run
    from pocketgpu.inspect.rules.checker import choose
    from pocketgpu.inspect.rules.registry import RULES

    rules = choose(RULES, only, skip)
    if listed:
        outcome.extra["rules"] = [rule.to_json() for rule in rules]
        outcome.show = lambda: terminal.say(_rules(rules))
        return
    if capture is None:
        raise click.UsageError("Missing argument 'CAPTURE'.")
    opened = open_capture(capture)
    outcome.add_events(opened.warnings)
    progress = terminal.Progress()
    try:
        progress.show("reading")
        report = run(
            opened, rules, progress=lambda index: progress.show(f"frame {index + 1} of {opened.frame_count}"),
            program=_program(capture) if is_program(capture) else None,
        )  # fmt: skip
    finally:
        terminal.clear_progress()
    outcome.extra |= report.to_json()
    outcome.show = lambda: terminal.say(_report(capture, report, notes))
    if junit is not None:
        _write_junit(junit, capture, report)
    if report.failed:
        raise click.exceptions.Exit(ExitCode.FINDINGS)


def _program(path: str) -> App:
    from pocketgpu import guests

    return guests.run(path)


def _rules(rules: Sequence[Rule]) -> str:
    rows = [(rule.id, rule.console, rule.severity, rule.confidence, rule.title, rule.source) for rule in rules]
    columns = [(name, False) for name in ("rule", "console", "severity", "confidence", "looks for", "source")]
    return terminal.format_table(columns, rows)


def _report(capture: str, report: Report, notes: bool) -> str:
    """The worst findings first; a rule's hint and source follow its first finding."""
    lines, explained = [], set()
    for finding in report.findings:
        rule = finding.rule
        if rule.severity == "note" and not notes:
            continue
        lines.append(_wrapped(f"{rule.severity}: {finding}", ""))
        if rule.severity != "note" and rule.id not in explained:
            explained.add(rule.id)
            lines.append(_wrapped(f"{rule.hint} ({rule.confidence}: {rule.source})", "    "))
    counts = [f"{count} {name}{'s' if count > 1 else ''}" for name, count in report.counts().items() if count]
    lines.append(f"{capture}: {', '.join(counts) or 'nothing found'} ({len(report.rules)} rules)")
    return "\n".join(lines)


def _wrapped(text: str, indent: str) -> str:
    """A text in lines that fit a terminal; --json has findings whole."""
    return fill(
        text, _WIDTH, initial_indent=indent, subsequent_indent="    ", break_on_hyphens=False, break_long_words=False
    )


def _write_junit(path: str, capture: str, report: Report) -> None:
    """A test for each rule; it fails if the rule found an error or a warning."""
    from pathlib import Path

    from pocketgpu.cli.parts.junit import Case, junit
    from pocketgpu.errors import UsageError

    cases = []
    for rule in report.rules:
        found = [finding for finding in report.findings if finding.rule is rule]
        wrong: str | None = None
        if found and rule.severity != "note":
            wrong = str(found[0]) if len(found) == 1 else f"{found[0]}, and {len(found) - 1} more"
        details = "\n".join([*map(str, found), rule.explanation, rule.hint])
        cases.append(Case(capture, rule.id, 0.0, wrong, details if wrong else ""))
    try:
        Path(path).write_bytes(junit("pocketgpu check", cases))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}", location="--junit") from None
