"""What a sweep can do with a capture: a function each, from an open capture to what its row says.

They run in the child process of a worker. Nothing that they find depends on the clock, except `milliseconds`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pocketgpu.errors import PocketGPUError
from pocketgpu.sweeps.model.task import What
from pocketgpu.sweeps.works.found import Found
from pocketgpu.sweeps.works.of_captures import bench, check, diff, doubts, info, render, verify
from pocketgpu.sweeps.works.opening import opened

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

Work = Callable[["Capture", What, "Path | None", Found], None]
WORKS: Final[Mapping[str, Work]] = {
    "render": render, "check": check, "bench": bench, "info": info, "doubts": doubts, "verify": verify,
    "diff": diff,
}  # fmt: skip


def do(paths: Sequence[Path], what: What) -> Found:
    """Do the work on the capture at the first of `paths`; the second is what it is compared with.

    Every error is in what is found: state "refused" if the capture or the request is at fault, "failed" if it is this
    package.
    """
    found = Found()
    try:
        capture = opened(paths[0])
        found.opened(capture)
        WORKS[what.work](capture, what, paths[1] if len(paths) > 1 else None, found)
    except PocketGPUError as error:
        found.refused(error)
    except MemoryError:
        found.stopped("memory", "the system gave it no more memory")
    except Exception as error:
        found.stopped("failed", f"{type(error).__name__}: {error}")
    return found


__all__ = ["WORKS", "Found", "do"]


def __dir__() -> list[str]:
    return [*__all__]
