"""`pocketgpu lsp`: a language server for the texts that the assemblers take."""

from __future__ import annotations

import importlib.util
import logging

import click

from pocketgpu.cli.parts.options import debug_option
from pocketgpu.cli.parts.outcome import Outcome
from pocketgpu.errors import UsageError

_HOST = "127.0.0.1"
_MOST_PORT = 65535


@click.command()
@click.option(
    "--port", type=click.IntRange(1, _MOST_PORT), metavar="N", help="Wait for one client at this port of 127.0.0.1."
)
@debug_option
@click.pass_obj
def lsp(outcome: Outcome, port: int | None) -> None:
    """Help an editor with shaders, kernels and macros: a language server.

    It speaks the Language Server Protocol over standard input and output, or with --port over a connection from this
    computer. An editor starts it; the guide has the settings for some. It needs the extra [editor].
    """
    if importlib.util.find_spec("pygls") is None:
        raise UsageError("the language server needs pygls", hint="Install it with: pip install 'pocketgpu[editor]'.")
    from pocketgpu.editor.lsp.server import make_server

    logging.getLogger("pygls").setLevel(logging.DEBUG if outcome.debug else logging.ERROR)
    server = make_server()
    if port is None:
        server.start_io()
    else:
        try:
            server.start_tcp(_HOST, port)
        except OSError as error:
            raise UsageError(f"cannot listen at port {port}: {error.strerror}", location="--port") from error
