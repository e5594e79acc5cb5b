"""Starts the server on this computer, and opens the browser."""

from __future__ import annotations

import logging
import socket
import sys
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import FrameType

    from pocketgpu.capture import Capture
    from pocketgpu.guests import App
    from pocketgpu.view.machine_thread import MachineThread
    from pocketgpu.view.questions.desk import Beside, Desk

PAGE: Final = Path(__file__).parent / "page"
"""Where the built page is. The package for users has it; in a clone `make page` makes it."""
LOCAL: Final = "127.0.0.1"
_SWITCH: Final = 0.0005
"""Seconds after which a thread lets another one run."""
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


@dataclass(frozen=True)
class Place:
    """Where and how the page is shown.

    host, port: where to listen; port 0 is any free one. say: is given the link. open_browser: whether to open it. at:
    the address to show first. notes: the folder for the user's notes.
    """

    host: str
    port: int
    say: Callable[[str], None]
    open_browser: bool
    notes: Path
    at: str = ""


def serve(
    capture: Capture, switches: Mapping[str, str], place: Place, other: Beside | None = None,
    texts: Sequence[str] = (),
) -> None:  # fmt: skip
    """Serve the page about a capture until the process is interrupted.

    other: what is compared with it. texts: what its shader programs were assembled from.

    :raises UsageError: nothing can listen there.
    """

    def make() -> MachineThread[Desk]:
        from pocketgpu.view.machine_thread import MachineThread
        from pocketgpu.view.questions.desk import MAIN, desk_of, opened
        from pocketgpu.view.questions.preparing import Preparing

        def desk() -> AbstractContextManager[Desk]:
            return desk_of((MAIN, opened(capture, switches, (), texts)), other=other)

        return MachineThread(desk, Preparing(place.at))

    serve_desk(make, Path(capture.path).name, place)


def serve_program(
    start: Callable[[], App], name: str, switches: Mapping[str, str], place: Place, runs: bool
) -> None:  # fmt: skip
    """Serve the page with a program that runs, until the process is interrupted.

    start: starts it, with a recording. name: of its file. runs: it begins to run when a page is there.

    :raises UsageError: nothing can listen there.
    """

    def make() -> MachineThread[Desk]:
        from pocketgpu.view.machine_thread import MachineThread
        from pocketgpu.view.questions.live import live_desk, work
        from pocketgpu.view.questions.working import Working

        working = Working()
        return MachineThread(lambda: live_desk(start, switches, working), work, working)

    serve_desk(make, name, place, is_live=True, runs=runs)


def serve_desk(
    make: Callable[[], MachineThread[Desk]], name: str, place: Place, *, is_live: bool = False, runs: bool = False
) -> None:  # fmt: skip
    """Serve the page about what lies on a desk until the process is interrupted.

    make: makes the machine's thread. name: of the file. is_live: whether a program is there; runs: it begins to run
    when a page is there.

    :raises UsageError: nothing can listen there.
    """
    from pocketgpu.view.gate import TOKEN, Gate, new_token

    host, listener = place.host, _listener(place.host, place.port)
    port, token = listener.getsockname()[1], new_token()
    link = f"http://{host}:{port}/?{TOKEN}={token}" + (f"#{place.at}" if place.at else "")
    # The browser starts while the server is loaded. Its connection waits until then.
    place.say(link)
    if place.open_browser:
        webbrowser.open(link)
    import uvicorn

    from pocketgpu import __version__
    from pocketgpu.view.connections import BoundedConnection
    from pocketgpu.view.questions.notes_file import Notes
    from pocketgpu.view.routes import Routes

    names = {host, LOCAL, "localhost"} if host == LOCAL else {host, socket.gethostname()}
    routes = Routes(make(), name, __version__, PAGE, Notes(place.notes, name), is_live=is_live, runs=runs)
    gate = Gate(routes.app, [f"{name}:{port}" for name in names], token)
    config = uvicorn.Config(
        gate, log_level="error", access_log=False, ws="none", server_header=False, timeout_graceful_shutdown=1,
        http=BoundedConnection,
    )  # fmt: skip

    # The machine's thread would keep the one that answers waiting longer than an answer takes.
    sys.setswitchinterval(_SWITCH)

    class Server(uvicorn.Server):
        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            super().handle_exit(sig, frame)
            # Requests that end now are no errors, so they are not logged.
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


__all__ = ["LOCAL", "PAGE", "Place", "check_installed", "serve", "serve_program"]
