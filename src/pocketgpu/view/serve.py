"""Starts the server on this computer, and opens the browser."""

from __future__ import annotations

import logging
import socket
import webbrowser
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    from types import FrameType

    from pocketgpu.capture import Capture
    from pocketgpu.guests import App
    from pocketgpu.view.machine_thread import MachineThread
    from pocketgpu.view.questions.desk import Desk

PAGE: Final = Path(__file__).parent / "page"
"""Where the built page is. The package for users has it; in a clone `make page` makes it."""
LOCAL: Final = "127.0.0.1"
_NEEDED: Final = ("starlette", "uvicorn")


def check_installed() -> None:
    """Whether the viewer can start here.

    :raises UsageError: the extra or the built page is missing.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"the viewer needs {' and '.join(missing)}", hint="pip install 'pocketgpu[view]' installs what it needs."
        )
    if not (PAGE / "index.html").is_file():
        raise UsageError(
            "the page of the viewer is not built",
            hint="In a clone, 'make page' builds it with Node.js; the package for users has it.",
        )


def serve(
    capture: Capture, switches: Mapping[str, str], *, host: str, port: int, at: str,
    say: Callable[[str], None], open_browser: bool,
) -> None:  # fmt: skip
    """Serve the page about a capture until the process is interrupted.

    host, port, at, say: as for `serve_desk`.

    :raises UsageError: nothing can listen there.
    """
    from pocketgpu.view.machine_thread import MachineThread
    from pocketgpu.view.questions.desk import MAIN, desk_of, opened

    serve_desk(
        lambda: MachineThread(lambda: desk_of((MAIN, opened(capture, switches)))), Path(capture.path).name,
        host=host, port=port, at=at, say=say, open_browser=open_browser,
    )  # fmt: skip


def serve_program(
    start: Callable[[], App], name: str, switches: Mapping[str, str], *, host: str, port: int, runs: bool,
    say: Callable[[str], None], open_browser: bool,
) -> None:  # fmt: skip
    """Serve the page with a program that runs, until the process is interrupted.

    start: starts it, with a recording. name: of its file. runs: it does not wait for the page's first command. host,
    port, say: as for `serve_desk`.

    :raises UsageError: nothing can listen there.
    """
    from pocketgpu.view.machine_thread import MachineThread
    from pocketgpu.view.questions.live import live_desk, work

    serve_desk(
        lambda: MachineThread(lambda: live_desk(start, switches), work), name,
        host=host, port=port, at="", say=say, open_browser=open_browser, is_live=True, runs=runs,
    )  # fmt: skip


def serve_desk(
    make: Callable[[], MachineThread[Desk]], name: str, *, host: str, port: int, at: str,
    say: Callable[[str], None], open_browser: bool, is_live: bool = False, runs: bool = False,
) -> None:  # fmt: skip
    """Serve the page about what lies on a desk until the process is interrupted.

    make: makes the machine's thread. name: of the file. is_live: whether a program is there; runs: it begins to run
    when a page is there.
    host, port: where to listen; port 0 is any free one. at: the address to show first. say: is given the link.

    :raises UsageError: nothing can listen there.
    """
    import uvicorn

    from pocketgpu import __version__
    from pocketgpu.view.gate import TOKEN, Gate
    from pocketgpu.view.routes import Routes

    listener = _listener(host, port)
    port = listener.getsockname()[1]
    names = {host, LOCAL, "localhost"} if host == LOCAL else {host, socket.gethostname()}
    routes = Routes(make(), name, __version__, PAGE, is_live=is_live, runs=runs)
    gate = Gate(routes.app, [f"{name}:{port}" for name in names])
    link = f"http://{host}:{port}/?{TOKEN}={gate.token}" + (f"#{at}" if at else "")
    say(link)
    if open_browser:
        webbrowser.open(link)
    config = uvicorn.Config(
        gate, log_level="warning", access_log=False, ws="none", server_header=False, timeout_graceful_shutdown=1
    )

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            super().handle_exit(sig, frame)
            # Requests that are cut off now are no mistakes of the server.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            routes.end()

    Server(config).run(sockets=[listener])


def _listener(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        found = socket.socket(family, kind, protocol)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(place)
        found.listen()
    except OSError as error:
        raise UsageError(
            f"nothing can listen at port {port} of {host}: {error.strerror}",
            location="--port",
            hint="Without --port any free port is taken.",
        ) from None
    return found


__all__ = ["LOCAL", "PAGE", "check_installed", "serve"]
