"""`pocketgpu probe`: asks a console how its GPU behaves: makes what is sent, and judges what comes back."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Final

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, json_option
from pocketgpu.cli.parts.outcome import ExitCode, Outcome
from pocketgpu.cli.parts.replay import write_file
from pocketgpu.errors import UsageError
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.probe.judging import Verdict
    from pocketgpu.probe.making import Written

_WIDTH: Final = 80
_MOST_ROWS: Final = 400
"""Rows of a text; JSON has all of them."""
_MOST_NAMES: Final = 10
_CONSOLES: Final = {"3ds": "3DS", "switch": "Switch"}


@click.group(no_args_is_help=True)
def probe() -> None:
    """Ask a console how its GPU behaves where documents disagree.

    'make' writes a folder for the memory card of a console: a program, and a small test for each doubtful choice. The
    program runs them there. 'read' judges what it wrote back.
    """


@probe.command()
@click.argument("folder", type=click.Path(), metavar="DIR")
@click.argument("captures", nargs=-1, metavar="[CAPTURES]...")
@click.option(
    "--choice", "names", multiple=True, metavar="NAME", shell_complete=complete.choice_names,
    help="Ask about this choice; may be repeated.  [all that can be asked, if no captures are given]",
)  # fmt: skip
@click.option(
    "--console", type=click.Choice(sorted(_CONSOLES)), default="3ds", show_default=True, help="The console to ask."
)
@click.option("--frame", type=click.IntRange(0), default=0, show_default=True, metavar="N", help="Of each capture.")
@click.option(
    "--most", type=click.IntRange(4096), metavar="BYTES",
    help="The most main memory that a capture may use.  [what the program has]",
)  # fmt: skip
@json_option
@debug_option
@click.pass_obj
def make(
    outcome: Outcome, folder: str, captures: tuple[str, ...], names: tuple[str, ...], console: str, frame: int,
    most: int | None,
) -> None:  # fmt: skip
    """Write a folder for the memory card: the program, a file for each choice, and a README.

    CAPTURES are recordings: one frame of each is run on the console, too, and its picture comes back. The exit code is
    1 if something that was named cannot be asked, and 2 if nothing can; then no folder is written. A folder may be
    added to: what was in it before stays.
    """
    from pocketgpu.probe.consoles.known import probe_console
    from pocketgpu.probe.making import FOLDER, choices_with_scenes, write_folder

    provider = probe_console(_CONSOLES[console])
    chosen = names or (() if captures else choices_with_scenes(provider.name))
    progress = terminal.Progress()
    written: list[Written] = []
    try:
        for one in write_folder(folder, provider, chosen, captures, frame=frame, most=most):
            written.append(one)
            if not one.before:
                progress.show(f"{len(written)} of {len(chosen) + len(captures)}: {one.name}")
    finally:
        terminal.clear_progress()
    place = str(Path(folder) / FOLDER)
    outcome.extra |= {
        "folder": place,
        "files": [
            {
                "name": one.name, "bytes": one.size, "reason": one.reason or None, "before": one.before,
                "place": one.place,
            }
            for one in written
        ],
    }  # fmt: skip
    if all(one.reason for one in written):
        first = written[0]
        more = f" ({counted(len(written) - 1, 'other')} neither)" if len(written) > 1 else ""
        raise UsageError(f"nothing can be asked{more}: {first.reason}", location=first.place)
    outcome.show = lambda: terminal.say(_made(place, written))
    if (names or captures) and any(one.reason for one in written):
        raise click.exceptions.Exit(ExitCode.FINDINGS)


def _made(place: str, written: list[Written]) -> str:
    new = [one for one in written if not one.reason and not one.before]
    before = [one for one in written if one.before]
    size = sum(one.size for one in new)
    lines = [f"{place}: {counted(len(new), 'test')} ({counted(size, 'byte', form=',')}) and the program"]
    if before:
        names = ", ".join(one.name for one in before[:_MOST_NAMES])
        more = f" and {len(before) - _MOST_NAMES} more" if len(before) > _MOST_NAMES else ""
        lines.append(_wrapped(f"also in it from before: {names}{more}"))
    for one in written:
        if one.reason:
            lines.append(_wrapped(f"left out: {one.place}: {one.reason}"))
    lines.append("README.txt in it says what to do next.")
    return "\n".join(lines)


@probe.command()
@click.argument("places", nargs=-1, required=True, metavar="DIR|FILES...")
@click.option("--evidence", metavar="FILE", help="Write what the console tells as a table of evidence, to be sent in.")
@json_option
@debug_option
@click.pass_obj
def read(outcome: Outcome, places: tuple[str, ...], evidence: str | None) -> None:
    """Judge the answers of a console: which value of each choice agrees with it.

    DIR is the folder that was on the memory card, FILES are its files *.answer.pgc. A value agrees if our machine, set
    to it, leaves exactly the same. The exit code is 1 if no value agrees with an answer, or consoles disagree, and 3
    if a file cannot be read; the others are judged all the same.
    """
    from pocketgpu.probe.evidence import table
    from pocketgpu.probe.judging import answers_in, contradictions, judge_files

    found = list(answers_in(list(places)))
    if not found:
        raise UsageError("there are no answers", location=places[0], hint="Answers are the files *.answer.pgc.")
    progress = terminal.Progress()
    try:
        verdicts = list(judge_files(found, lambda name, number: progress.show(f"{number} of {len(found)}: {name}")))
    finally:
        terminal.clear_progress()
    outcome.extra |= {
        "verdicts": [one.to_dict() for one in verdicts],
        "contradictions": {choice: dict(found) for choice, found in contradictions(verdicts).items()},
    }
    if evidence is not None:
        write_file(Path(evidence), table(verdicts, date.today()).encode(), "--evidence")
    outcome.show = lambda: terminal.say(_judged(verdicts, evidence))
    if any(one.damaged for one in verdicts):
        raise click.exceptions.Exit(ExitCode.UNREADABLE)
    if any(one.nearest for one in verdicts) or contradictions(verdicts):
        raise click.exceptions.Exit(ExitCode.FINDINGS)


def _judged(verdicts: list[Verdict], evidence: str | None) -> str:
    from pocketgpu.probe.judging import contradictions

    lines = []
    shown = verdicts[:_MOST_ROWS]
    groups: dict[tuple[str, str], list[Verdict]] = {}
    for one in shown:
        groups.setdefault((one.console, one.model), []).append(one)
    for (console, _), members in groups.items():
        if console:
            who = f"pocketgpu itself, not a console ({console})" if members[0].ours else console
            lines.append(_wrapped(f"from: {who}"))
        for one in members:
            lines += _lines(one)
    if len(verdicts) > _MOST_ROWS:
        lines.append(f"... and {counted(len(verdicts) - _MOST_ROWS, 'further answer')}; --json has all")
    for choice, by_console in contradictions(verdicts).items():
        said = "; ".join(f"{' and '.join(values)}: {console}" for console, values in by_console.items())
        lines.append(_wrapped(f"answers disagree about {choice}: {said}"))
    lines.append(_summary(verdicts))
    if evidence is not None:
        lines.append(f"evidence: {evidence}")
    return "\n".join(lines)


def _summary(verdicts: list[Verdict]) -> str:
    tell, pictures = sum(one.tells for one in verdicts), sum(one.picture for one in verdicts)
    parts = [f"{tell} tell the value", f"{len(verdicts) - tell - pictures} do not"]
    if pictures:
        parts.append(counted(pictures, "is a picture", "are pictures"))
    return f"{counted(len(verdicts), 'answer')}: {', '.join(parts)}"


def _wrapped(text: str) -> str:
    return fill(text, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _lines(one: Verdict) -> list[str]:
    name = one.choice or Path(one.file).name
    if one.picture:
        name = Path(one.file).name
        text = f"{name}: a picture of a recording. To compare: pocketgpu render {name} --out shown"
        scene = name.removesuffix(".answer.pgc")
        return [_wrapped(f"{text}, then pocketgpu doubts {scene}.pgc --expect shown")]
    if one.damaged:
        return [_wrapped(f"{name}: {one.silent}")]
    if one.silent:
        return [fill(f"{name}: says nothing: {one.silent}", _WIDTH, subsequent_indent="    ")]
    if one.agree:
        seen = " (seen by a person)" if one.by_eye else ""
        default = " (the default)" if one.default in one.agree else ""
        return [f"{name} = {' or '.join(one.agree)}{default}{seen}"]
    parts = (one.differing or {}).get(one.nearest, ())
    text = f"{name}: none agrees; nearest is {one.nearest}, which differs in {'; '.join(parts)}"
    return [fill(text, _WIDTH, subsequent_indent="    ")]
