"""What a sweep says about one capture: a row, and its times in a table of their own.

Two sweeps over the same captures with the same version give the same rows, in any order and on any number of workers.
So nothing in a row depends on the clock, the machine or the number of tries; `Times` has these.
"""

from __future__ import annotations

from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, Final

from pocketgpu.displayed import line_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

LOST: Final = "lost"
STATES: Final = ("done", "refused", "failed", "crashed", "timeout", "memory", LOST)
"""What became of a task.

done: it ran. refused: the capture is damaged, or has nothing to do the work on; the message says what. failed: an error
of this package. crashed: its process ended. timeout, memory: its process was ended because it took too long, or too
much. lost: its worker went away, twice.
"""

UNLUCKY: Final = ("failed", "crashed", "timeout", "memory")
"""Ends that another try may change: with other limits, on another machine, with an error mended."""


@dataclass(frozen=True, repr=False)
class Picture:
    """One picture of a frame: its size in pixels, and the SHA-256 of its RGB bytes, which names its file."""

    frame: int
    screen: str
    width: int
    height: int
    sha256: str

    @property
    def file(self) -> str:
        """Its place in the folder of results."""
        return place_of(self.sha256)

    @property
    def address(self) -> str:
        return f"f{self.frame}/{self.screen}"

    def __repr__(self) -> str:
        return line_of(self, f"{self.address}: {self.width}x{self.height}")


def place_of(sha256: str) -> str:
    """Where the picture with these pixels is, in the folder of results."""
    return f"pictures/{sha256[:2]}/{sha256}.png"


def renamed(data: Any, names: Mapping[str, str]) -> Any:
    """The same plain data; its texts have other names for files and folders, those first that come first."""
    if isinstance(data, str):
        for path, name in names.items():
            data = data.replace(path, name)
        return data
    if isinstance(data, dict):
        return {key: renamed(value, names) for key, value in data.items()}
    return [renamed(one, names) for one in data] if isinstance(data, list) else data


@dataclass(frozen=True, repr=False)
class Row:
    """What a sweep found in one capture.

    capture: its name, as the sweep was given it. key: of the task, the same for the same bytes, version and options.
    state: one of STATES. console: None if the capture could not be opened. message, location, hint: what went wrong.
    events: what the replay warns of (id, message, at, count). findings: of rules (rule, severity, message, at, count).
    counts: what was counted, over all frames. features: what the capture uses. detail: what only this work says.
    """

    capture: str
    key: str
    work: str
    state: str
    console: str | None = None
    frames: int = 0
    message: str = ""
    location: str = ""
    hint: str = ""
    pictures: tuple[Picture, ...] = ()
    events: tuple[Mapping[str, Any], ...] = ()
    findings: tuple[Mapping[str, Any], ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    features: tuple[str, ...] = ()
    detail: Mapping[str, Any] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        """Whether the task did not do its work, or its work says that something is wrong."""
        return self.state != "done" or self.wrong

    @property
    def wrong(self) -> bool:
        """Whether its work found an error: a finding of severity "error", or a difference."""
        return any(one["severity"] == "error" for one in self.findings) or bool(self.detail.get("different"))

    def to_json(self) -> dict[str, Any]:
        """Plain data, with all fields."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        pictures = [{one.name: getattr(picture, one.name) for one in fields(Picture)} for picture in self.pictures]
        plain = {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}
        return plain | {"pictures": pictures}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Row:
        """The row that `to_json` returned."""
        known = {one.name for one in fields(Row)}
        found = {name: tuple(value) if isinstance(value, list) else value for name, value in data.items()}
        pictures = tuple(Picture(**one) for one in data.get("pictures", ()))
        kept: dict[str, Any] = {name: value for name, value in found.items() if name in known}
        return Row(**kept | {"pictures": pictures})

    def __str__(self) -> str:
        if self.state != "done":
            return f"{self.capture}: {self.state}: {self.message}"
        counts = [counted(self.frames, "frame")]
        counts += [counted(len(found), name) for name, found in (("finding", self.findings), ("event", self.events))]
        return f"{self.capture}: {', '.join(counts)}"

    def __repr__(self) -> str:
        return line_of(self, str(self))


@dataclass(frozen=True, repr=False)
class Times:
    """When and how fast a task ran. seconds: of its work, in its process. frames: milliseconds of each frame's replay,
    for works that measure it. worker: where. tries: how often it was begun. first: its process was new."""

    capture: str
    key: str
    seconds: float
    frames: tuple[float, ...] = ()
    worker: str = ""
    tries: int = 1
    first: bool = False
    started: str = ""

    def to_json(self) -> dict[str, Any]:
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        return found | {"frames": list(self.frames)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Times:
        known = {one.name for one in fields(Times)}
        kept = {name: value for name, value in data.items() if name in known}
        return Times(**kept | {"frames": tuple(data.get("frames", ()))})

    def __repr__(self) -> str:
        return line_of(self, f"{self.capture}: {self.seconds:.3f} s")


__all__ = ["LOST", "STATES", "UNLUCKY", "Picture", "Row", "Times", "place_of", "renamed"]


def __dir__() -> list[str]:
    return [*__all__]
