"""`pocketgpu view`: a capture in the browser."""

from __future__ import annotations

from pathlib import Path

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, set_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture

_MOST_PORT = 65535


@click.command()
@click.argument("capture", type=click.Path(), metavar="CAPTURE")
@click.argument("address", required=False, metavar="[ADDRESS]", shell_complete=complete.addresses)
@click.option("--port", type=click.IntRange(0, _MOST_PORT), default=0, help="Where to listen; 0: any free port.")
@click.option("--host", default="127.0.0.1", help="The name or address to listen at: only this computer by default.")
@click.option(
    "--notes", type=click.Path(file_okay=False, exists=True), metavar="FOLDER",
    help="Where notes and bookmarks are kept; else beside the capture.",
)  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@set_option
@debug_option
@click.pass_obj
def view(
    outcome: Outcome, capture: str, address: str | None, port: int, host: str, no_browser: bool,
    notes: str | None, choices: dict[str, str],
) -> None:  # fmt: skip
    """Look at a capture in the browser.

    The page shows events, pictures after each of them, why a pixel has its colour, state, and command words. ADDRESS is
    what it shows first, such as f1/d17 or f1/px200,120. The link that is printed works once, on this computer; the
    browser keeps a cookie. Ctrl-C ends the server.

    With --host, other computers can reach the server. Everybody who has the link can then see the capture, and the
    connection is not encrypted.
    """
    from pocketgpu.inspect.model.address import Address
    from pocketgpu.view.serve import check_installed, serve

    check_installed()
    at = "" if address is None else str(Address.parse(address))
    opened = open_capture(capture, address)
    outcome.add_events(opened.warnings)

    def say(link: str) -> None:
        terminal.say(f"{capture} is shown at\n\n    {link}\n\nCtrl-C ends it.")

    serve(
        opened, choices, host=host, port=port, at=at, say=say, open_browser=not no_browser,
        notes=None if notes is None else Path(notes),
    )  # fmt: skip
