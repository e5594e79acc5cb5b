"""`pocketgpu why`: explains why a pixel has its colour, or what happened to a draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, force_option, json_option, set_option, standing
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture

if TYPE_CHECKING:
    from pocketgpu.inspect.inspection import Inspection
    from pocketgpu.inspect.model.answer import Answer


@click.command()
@click.argument("capture", type=click.Path(), metavar="CAPTURE")
@click.argument("address", metavar="ADDRESS", shell_complete=complete.addresses)
@click.option("--all", "every", is_flag=True, help="Count all fragments of a draw, however long that takes.")
@click.option(
    "--html", "page", metavar="FILE", help="Also write a page with the pictures and the state, one file, to send."
)
@set_option
@force_option()
@json_option
@debug_option
@click.pass_obj
def why(
    outcome: Outcome, capture: str, address: str, every: bool, page: str | None, choices: dict[str, str],
    forced: tuple[str, ...],
) -> None:  # fmt: skip
    """Explain why a pixel has its colour, with all values; what happened to a draw; or what spoils a frame.

    ADDRESS is a pixel of a screen as 'render' writes it (f1/px200,120 is one of the top screen, f1/bottom/px10,20), a
    pixel of a draw's render target (f1/d17/px8,9, y upwards on a 3DS, as its viewport counts on a Switch), or a draw
    (f1/d17) or one of its primitives (f1/d17/t5): how many of its vertices, triangles and fragments passed each stage,
    and what stopped the others. For a frame (f1) it lists likely causes. On a Switch also a thread of a launch
    (f0/e9/b0,1,0/t3,0,0).

    Of a program (app.3dsx, app.nro, app.elf) it also names the function that queued the draw, or filled the memory, and
    its source line, as far as there are symbols.
    """
    from pocketgpu.capture.formats.first_bytes import is_program
    from pocketgpu.inspect.index.events import remembered
    from pocketgpu.inspect.index.notes import noted
    from pocketgpu.inspect.inspection import debug
    from pocketgpu.inspect.model.address import Address

    wanted = Address.parse(address)
    opened = open_capture(capture, address)
    outcome.add_events(opened.warnings)
    stand = standing(choices, forced)
    run = debug(opened, choices, overrides=forced)
    with remembered(run, opened, stand), noted(run, opened, stand):
        answer = run.why(wanted, every)
        if page is not None:
            _write(outcome, run, answer, page)
    outcome.extra["why"] = answer.to_json()
    lines = [*answer.conclusion, *([] if page is None else [f"  page: {page}"])]
    if is_program(capture):
        lines += _queued(outcome, capture, run, answer)
    outcome.show = lambda: terminal.say("\n".join([*lines, "", *answer.details()]))


def _write(outcome: Outcome, run: Inspection, answer: Answer, page: str) -> None:
    """Write the page of an answer."""
    from pathlib import Path

    from pocketgpu.cli.parts.replay import write_file
    from pocketgpu.inspect.pages.selection import page_of

    write_file(Path(page), page_of(run, answer.address, answer).encode(), "--html")
    outcome.extra["page"] = page


def _queued(outcome: Outcome, program: str, run: Inspection, answer: Answer) -> list[str]:
    """Who queued the work that an answer is about, as lines of its conclusion."""
    from pocketgpu import guests
    from pocketgpu.inspect.model import queued

    cause = queued.cause_of(answer)
    if cause is None:
        return []
    found = queued.queued_by(guests.run(program), run, cause, answer)
    outcome.extra["queued_by"] = found.to_json()
    return [f"  {found}"]
