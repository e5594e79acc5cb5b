"""`pocketgpu view`: a capture in the browser."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from pocketgpu.cli.parts import complete, terminal
from pocketgpu.cli.parts.options import choices_of, debug_option, force_option, set_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.cli.parts.replay import open_capture
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.guests import App
    from pocketgpu.view.questions.desk import Beside

_MOST_PORT = 65535
_MOST_REST = 2
"""Arguments after the capture: a second one and an address."""
_ADDRESS = re.compile(r"f\d+(/.*)?")
_OPTIONS: Final = {"paused": "--paused", "sd": "--sd", "font": "--font", "symbols": "--elf", "arguments": "--arg"}
"""Options that are for programs only, by the name of their parameter."""


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
@click.option(
    "--text", "texts", multiple=True, metavar="FILE",
    help="What shader programs of a 3DS capture were assembled from, for steps by lines; may be repeated.",
)  # fmt: skip
@click.option("--paused", is_flag=True, help="A program stands before its first frame.")
@click.option("--sd", metavar="DIR", help="A folder that a program finds as its memory card, to read.")
@click.option("--font", metavar="FILE", help="The system's font, as for 'pocketgpu run'.")
@click.option("--elf", "symbols", metavar="FILE", help="The ELF of a .3dsx or .nro, for names.  [the .elf beside it]")
@click.option("--arg", "arguments", multiple=True, metavar="TEXT", help="An argument for a program; may be repeated.")
@set_option
@debug_option
@click.pass_obj
def view(
    outcome: Outcome, /, capture: str, rest: tuple[str, ...], port: int, host: str, no_browser: bool,
    notes: str | None, choices: dict[str, str], choices_b: dict[str, str], forced: tuple[str, ...],
    texts: tuple[str, ...], **program: Any,
) -> None:  # fmt: skip
    """Look at a capture in the browser, or run a program there.

    The page shows events, pictures after each of them, why a pixel has its colour, state, and command words. ADDRESS is
    what it shows first, such as f1/d17 or f1/px200,120. With OTHER, a second capture of the same console, it shows both
    beside each other and where they differ. The link that is printed works once, on this computer; the
    browser keeps a cookie. Ctrl-C ends the server.

    A program, a .3dsx, .nro or .elf file, runs live in the page: keyboard and mouse are its input. When it stands, all
    panels are about the frame that is shown. With an ADDRESS, it is run until there, and the page shows the recording.

    With --host, other computers can reach the server. Everybody who has the link can then see the capture, and the
    connection is not encrypted.
    """
    from pocketgpu.capture.formats.first_bytes import is_program
    from pocketgpu.inspect.model.address import Address
    from pocketgpu.view.serve import Place, check_installed, serve, serve_program

    check_installed()
    second, address = _rest_of(rest)

    def say(link: str) -> None:
        terminal.say(f"{capture} is shown at\n\n    {link}\n\nCtrl-C ends it.")

    folder = Path(capture).parent if notes is None else Path(notes)
    place = Place(host, port, say, not no_browser, folder, "" if address is None else str(Address.parse(address)))
    if not rest and _exists(capture) and is_program(capture):
        start = _starting(capture, choices, **program)
        serve_program(start, Path(capture).name, choices, place, not program["paused"])
        return
    given = next((name for name, value in program.items() if value), None)
    if given is not None:
        raise UsageError(
            "this is for a program that runs in the page", location=_OPTIONS[given],
            hint="Give a .3dsx, .nro or .elf file, and no address.",
        )  # fmt: skip
    opened = open_capture(capture, address)
    outcome.add_events(opened.warnings)
    if texts:
        from pocketgpu.inspect.inspection import debug

        debug(opened).use_texts(texts)  # so that it is told now if the capture cannot have any
    other = None
    if second is not None or choices_b or forced:
        beside = opened if second is None else open_capture(second, address)
        outcome.add_events(beside.warnings)
        other = _beside(opened, beside, choices_b, forced)
    serve(opened, choices, place, other, texts)


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
            path, sd=sd, font=font, switches=choices, symbols=symbols, arguments=arguments
        )  # fmt: skip

    start()
    return start
