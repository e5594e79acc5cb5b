"""`pocketgpu view`: a capture in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import debug_option, set_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.guests import App

_MOST_PORT = 65535
_OPTIONS: Final = {"paused": "--paused", "sd": "--sd", "font": "--font", "symbols": "--elf", "arguments": "--arg"}


@click.command()
@click.argument("capture", type=click.Path(), metavar="CAPTURE")
@click.argument("address", required=False, metavar="[ADDRESS]", shell_complete=complete.addresses)
@click.option("--port", type=click.IntRange(0, _MOST_PORT), default=0, help="Where to listen; 0: any free port.")
@click.option("--host", default="127.0.0.1", help="The name or address to listen at: only this computer by default.")
@click.option("--no-browser", is_flag=True, help="Only print the link.")
@click.option("--paused", is_flag=True, help="A program stands before its first frame.")
@click.option("--sd", metavar="DIR", help="A folder that a program finds as its memory card, to read.")
@click.option("--font", metavar="FILE", help="The system's font, as for 'pocketgpu run'.")
@click.option("--elf", "symbols", metavar="FILE", help="The ELF of a .3dsx or .nro, for names.  [the .elf beside it]")
@click.option("--arg", "arguments", multiple=True, metavar="TEXT", help="An argument for a program; may be repeated.")
@set_option
@debug_option
@click.pass_obj
def view(
    outcome: Outcome, /, capture: str, address: str | None, port: int, host: str, no_browser: bool,
    choices: dict[str, str], **program: Any,
) -> None:  # fmt: skip
    """Look at a capture in the browser, or run a program there.

    The page shows events, pictures after each of them, why a pixel has its colour, state, and command words. ADDRESS is
    what it shows first, such as f1/d17 or f1/px200,120. The link that is printed works once, on this computer; the
    browser keeps a cookie. Ctrl-C ends the server.

    A program, a .3dsx, .nro or .elf file, runs live in the page: keyboard and mouse are its input. When it stands, all
    panels are about the frame that is shown. With an ADDRESS, it is run until there, and the page shows the recording.

    With --host, other computers can reach the server. Everybody who has the link can then see the capture, and the
    connection is not encrypted.
    """
    from pocketgpu.capture.formats.first_bytes import is_program
    from pocketgpu.inspect.model.address import Address
    from pocketgpu.view.serve import check_installed, serve, serve_program

    check_installed()

    def say(link: str) -> None:
        terminal.say(f"{capture} is shown at\n\n    {link}\n\nCtrl-C ends it.")

    if address is None and _exists(capture) and is_program(capture):
        start = _starting(capture, choices, **program)
        serve_program(
            start, Path(capture).name, choices, host=host, port=port, runs=not program["paused"], say=say,
            open_browser=not no_browser,
        )  # fmt: skip
        return
    given = next((name for name, value in program.items() if value), None)
    if given is not None:
        raise UsageError(
            "this is for a program that runs in the page", location=_OPTIONS[given],
            hint="Give a .3dsx, .nro or .elf file, and no address.",
        )  # fmt: skip
    at = "" if address is None else str(Address.parse(address))
    opened = open_capture(capture, address)
    outcome.add_events(opened.warnings)
    serve(opened, choices, host=host, port=port, at=at, say=say, open_browser=not no_browser)


def _exists(path: str) -> bool:
    """Whether a file is there; what is missing is reported as for any capture."""
    return Path(path).is_file()


def _starting(
    path: str, choices: Mapping[str, str], *, sd: str | None, font: str | None, symbols: str | None,
    arguments: tuple[str, ...], paused: bool,
) -> Callable[[], App]:  # fmt: skip
    """What starts the program. It is started once here, so that mistakes are told before there is a page."""
    from pocketgpu import guests

    def start() -> App:
        return guests.run(
            path, sd=sd, font=font, switches=choices, symbols=symbols, arguments=arguments, record=True
        )  # fmt: skip

    start()
    return start
