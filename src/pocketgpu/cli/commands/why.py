"""`pocketgpu why`: explains why a pixel has its colour, or what happened to a draw."""

from __future__ import annotations

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, json_option, set_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture


@click.command()
@click.argument("capture", type=click.Path(), metavar="CAPTURE")
@click.argument("address", metavar="ADDRESS", shell_complete=complete.addresses)
@click.option("--all", "every", is_flag=True, help="Count all fragments of a draw, however long that takes.")
@set_option
@json_option
@debug_option
@click.pass_obj
def why(outcome: Outcome, capture: str, address: str, every: bool, choices: dict[str, str]) -> None:
    """Explain why a pixel has its colour, with all values; what happened to a draw; or what spoils a frame.

    ADDRESS is a pixel of a screen as 'render' writes it (f1/px200,120 is one of the top screen, f1/bottom/px10,20), a
    pixel of a draw's render target (f1/d17/px8,9, y upwards on a 3DS, as its viewport counts on a Switch), or a draw
    (f1/d17) or one of its primitives (f1/d17/t5): how many of its vertices, triangles and fragments passed each stage,
    and what stopped the others. For a frame (f1) it lists likely causes. On a Switch also a thread of a launch
    (f0/e9/b0,1,0/t3,0,0).
    """
    from pocketgpu.inspect.inspection import debug
    from pocketgpu.inspect.model.address import Address

    wanted = Address.parse(address)
    opened = open_capture(capture, address)
    outcome.add_events(opened.warnings)
    answer = debug(opened, choices).why(wanted, every)
    outcome.extra["why"] = answer.to_json()
    outcome.show = lambda: terminal.say(str(answer))
