"""`pocketgpu view`: a capture in the browser."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import choices_of, debug_option, force_option, set_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.view.questions.desk import Beside

_MOST_PORT = 65535
_MOST_REST = 2
_ADDRESS = re.compile(r"f\d+(/.*)?")


@click.command()
@click.argument("capture", type=click.Path(), metavar="CAPTURE")
@click.argument("rest", nargs=-1, metavar="[OTHER] [ADDRESS]", shell_complete=complete.addresses)
@click.option("--port", type=click.IntRange(0, _MOST_PORT), default=0, help="Where to listen; 0: any free port.")
@click.option("--host", default="127.0.0.1", help="The name or address to listen at: only this computer by default.")
@click.option(
    "--notes", type=click.Path(file_okay=False, exists=True), metavar="FOLDER",
    help="Where notes and bookmarks are kept; else beside the capture.",
)  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@click.option(
    "--switch-b", "choices_b", multiple=True, metavar="NAME=VALUE", callback=choices_of,
    shell_complete=complete.choices, help="A choice for OTHER, or for a second run of CAPTURE; may be repeated.",
)  # fmt: skip
@force_option(what="In OTHER, or in a second run of CAPTURE, have")
@set_option
@debug_option
@click.pass_obj
def view(
    outcome: Outcome, capture: str, rest: tuple[str, ...], port: int, host: str, no_browser: bool, notes: str | None,
    choices: dict[str, str], choices_b: dict[str, str], forced: tuple[str, ...],
) -> None:  # fmt: skip
    """Look at a capture in the browser.

    The page shows events, pictures after each of them, why a pixel has its colour, state, and command words. ADDRESS is
    what it shows first, such as f1/d17 or f1/px200,120. With OTHER, a second capture of the same console, it shows both
    beside each other and where they differ. The link that is printed works once, on this computer; the
    browser keeps a cookie. Ctrl-C ends the server.

    With --host, other computers can reach the server. Everybody who has the link can then see the capture, and the
    connection is not encrypted.
    """
    from pocketgpu.inspect.model.address import Address
    from pocketgpu.view.serve import check_installed, serve

    check_installed()
    second, address = _rest_of(rest)
    at = "" if address is None else str(Address.parse(address))
    opened = open_capture(capture, address)
    outcome.add_events(opened.warnings)
    other = None
    if second is not None or choices_b or forced:
        beside = opened if second is None else open_capture(second, address)
        outcome.add_events(beside.warnings)
        other = _beside(opened, beside, choices_b, forced)

    def say(link: str) -> None:
        terminal.say(f"{capture} is shown at\n\n    {link}\n\nCtrl-C ends it.")

    serve(
        opened, choices, host=host, port=port, at=at, say=say, open_browser=not no_browser, other=other,
        notes=None if notes is None else Path(notes),
    )  # fmt: skip


def _rest_of(rest: tuple[str, ...]) -> tuple[str | None, str | None]:
    """The second capture and the address, of what follows the capture. A file may be called like an address."""
    if len(rest) > _MOST_REST:
        raise click.UsageError(f"'{rest[_MOST_REST]}' is one argument too many: CAPTURE [OTHER] [ADDRESS]")
    last_is_address = bool(rest) and _ADDRESS.fullmatch(rest[-1]) is not None and not Path(rest[-1]).exists()
    if len(rest) == _MOST_REST:
        return rest[0], rest[1]
    return (None, rest[0]) if last_is_address else (rest[0] if rest else None, None)


def _beside(a: Capture, b: Capture, choices: dict[str, str], forced: tuple[str, ...]) -> Beside:
    """The second capture, for the thread of the machine to open."""
    from pocketgpu.inspect.diff.compare import same_console
    from pocketgpu.view.questions.desk import beside

    same_console(a, b)
    return beside(b, choices, forced)
