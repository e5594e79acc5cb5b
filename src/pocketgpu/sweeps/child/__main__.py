"""The child process of a worker: does one task after another, until its input ends.

`python -m pocketgpu.sweeps.child`. Tasks come over the standard input and results go to what was the standard output;
what else the process prints goes to its standard error, so that it cannot break the messages.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from pathlib import Path
from time import perf_counter
from typing import IO, Any, Final

from pocketgpu.call_room import with_room
from pocketgpu.sweeps.child import messages

LOOK: Final = 1.0
"""Seconds between two looks whether the worker is still there."""


def serve(requests: IO[bytes], answers: IO[bytes]) -> None:
    """Answer every request: `paths` and `what` of a task."""
    from pocketgpu.sweeps.model.task import What
    from pocketgpu.sweeps.works import do

    first = True
    while (message := messages.read(requests)) is not None:
        data, _ = message
        begin = perf_counter()
        found = do([Path(one) for one in data["paths"]], What.from_json(data["what"]))
        answer: dict[str, Any] = {
            "found": found.data, "seconds": perf_counter() - begin, "frames": found.milliseconds, "first": first,
            "pictures": [*found.files],
        }  # fmt: skip
        messages.write(answers, answer, [*found.files.values()])
        first = False


def watch(parent: int) -> None:
    """End this process when its worker is gone: nobody would end a task that hangs."""
    while os.getppid() == parent:
        time.sleep(LOOK)
    os._exit(1)


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal; the worker ends this one
    threading.Thread(target=watch, args=(os.getppid(),), daemon=True).start()
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    with contextlib.suppress(OSError):  # if memory runs out, the system ends this process first
        Path("/proc/self/oom_score_adj").write_text("1000")
    with contextlib.suppress(BrokenPipeError):
        with_room(lambda: serve(requests, answers))


if __name__ == "__main__":
    main()
    sys.exit(0)
