"""`pocketgpu dap`: editors step through shaders."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Final

import click

from pocketgpu.cli.parts import terminal
from pocketgpu.cli.parts.options import debug_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.errors import UsageError

_MOST_PORT: Final = 65535


@click.command()
@click.option(
    "--port", type=click.IntRange(0, _MOST_PORT),
    help="Listen at a port of this computer instead of the standard streams; 0: any free port.",
)  # fmt: skip
@click.option("--log", metavar="FILE", help="Write every message and mistakes into a file.")
@click.option("--vsix", metavar="FILE", help="Only write the extension for VS Code into a file, to install it.")
@debug_option
@click.pass_obj
def dap(outcome: Outcome, port: int | None, log: str | None, vsix: str | None) -> None:
    """Let an editor step through shaders: a debug adapter.

    Editors start this command and speak the Debug Adapter Protocol with it over the standard streams. What is stepped
    through is in the launch configuration of the editor: a capture with an address, such as f3/d17/v5 or f1/px200,120,
    a kernel with its arguments, or the source of a shader with inputs. With --port, editors connect to 127.0.0.1, one
    after another, and Ctrl-C ends it.
    """
    if vsix is not None:
        from pocketgpu.editor.vsix import write_extension

        size = write_extension(vsix)
        terminal.say(f"{vsix}: {size:,} bytes\n\nTo install it:\n  code --install-extension {vsix}")
        return
    from pocketgpu.editor.dap.serve import serve_port, serve_standard_streams

    with _logging(log) as say:
        if port is None:
            serve_standard_streams(say)
            return

        def ready(number: int) -> None:
            terminal.say(f"a debug adapter listens at 127.0.0.1:{number}\n\nCtrl-C ends it.")

        serve_port(port, ready, say)


@contextlib.contextmanager
def _logging(path: str | None) -> Iterator[Callable[[str], None]]:
    """What takes lines for the log.

    :raises UsageError: the file cannot be written.
    """
    if path is None:
        yield lambda line: None
        return
    try:
        file = open(path, "w", encoding="utf-8")  # noqa: SIM115 (closed below; only opening is an error of the user)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write the log: {error}", location="--log") from None
    with file:

        def say(line: str) -> None:
            file.write(line + "\n")
            file.flush()

        yield say
