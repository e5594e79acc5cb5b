"""The result of a command, separate from its output format, and the exit codes.

A command fills an `Outcome` while it works. Whatever happens then (success, a damaged file, a bug), the same object is
written once: as one JSON object on stdout, or as text. So `--json` also writes one object after errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final

from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.events import Event


class ExitCode(IntEnum):
    """The exit codes of all commands. They are part of the interface: a number never changes its meaning."""

    OK = 0
    FINDINGS = 1  # differences or findings; a warning alone is not one
    USAGE = 2
    UNREADABLE = 3
    NO_PICTURE = 4
    INTERNAL = 5
    INTERRUPTED = 130  # as shells report SIGINT
    PIPE_CLOSED = 141  # as shells report SIGPIPE: the reader of our output went away


MEANINGS: Final = {
    ExitCode.OK: "ok, warnings or not",
    ExitCode.FINDINGS: "differences or findings",
    ExitCode.USAGE: "usage: wrong arguments, an output path that cannot be written, addresses outside memory",
    ExitCode.UNREADABLE: "unreadable input",
    ExitCode.NO_PICTURE: "no picture can be made",
    ExitCode.INTERNAL: "internal error",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C",
    ExitCode.PIPE_CLOSED: "what reads the output went away, such as `head`",
}
"""What each exit code means, as the pages say it."""


@dataclass
class Outcome:
    """The result of a command, filled while it runs.

    `frames` has one plain dict for each frame, `extra` the further top-level keys of some commands. Both contain only
    data that JSON can hold. `show` prints the same for people; it is called once, at the end, only without --json.
    """

    json: bool = False
    debug: bool = False
    frames: list[dict[str, Any]] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    error: dict[str, Any] | None = None
    show: Callable[[], None] | None = None
    _events: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)

    def add_events(self, events: Iterable[Event]) -> None:
        """Merge events of several frames: equal id and message make one entry, with the first place and the sum of the
        counts."""
        for event in events:
            known = self._events.get((event.id, event.message))
            if known is None:
                self._events[event.id, event.message] = {
                    "id": str(event.id),
                    "message": str(event.message),
                    "at": str(event.at),
                    "count": int(event.count),
                }
            else:
                known["count"] += int(event.count)

    @property
    def warnings(self) -> list[dict[str, Any]]:
        """All merged events, in order of first occurrence: dicts with id, message, at, count."""
        return list(self._events.values())

    def to_json(self) -> str:
        """The one JSON object, ASCII only, ending without a newline.

        `frames` and `warnings` are always there. `error` (code, message, location, hint) is there only after a failure;
        `frames` then has the frames that were finished before it.
        """
        import json

        document: dict[str, Any] = {**self.extra, "frames": self.frames, "warnings": self.warnings}
        if self.error is not None:
            document["error"] = self.error
        return json.dumps(document, indent=2)
