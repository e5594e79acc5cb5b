"""The pytest plugin for picture tests: pytest loads it wherever pocketgpu is installed.

    def test_the_menu(pocketgpu_render, assert_frame):
        picture = pocketgpu_render("menu.ctf.xz", frame=3, screen="bottom")
        assert_frame(picture, "goldens/menu.png")

    def test_the_start(pocketgpu_app, assert_frame):
        app = pocketgpu_app("build/game.3dsx")
        app.frames(60)
        assert_frame(app.top, "goldens/start.png")

`pocketgpu_render` replays a capture and returns what a screen shows; `pocketgpu_app` starts a program of a console;
`assert_frame` compares a picture with a PNG file. All take paths relative to the folder of the test's file. A missing
golden fails the test; `--update-goldens` writes missing goldens and those that differ. Failures are in a folder
(`pocketgpu-report`; `--pocketgpu-report` or the setting `pocketgpu_report` name another):

    index.html       all failures with their pictures; with the extra `sweep` it has filters and a slider
    TEST.png         one failure: ours, golden, difference
    candidates/      rendered pictures, under the paths of their goldens in the project

Only the process that the user started writes there. Under pytest-xdist, workers send pictures with the report of a
test.
"""

from __future__ import annotations

import operator
import os
import shlex
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from pocketgpu.late_dataclass import dataclass

# NumPy and the package are loaded by the first test that uses them: other test runs start no slower.
if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

    from pocketgpu.capture import Frame
    from pocketgpu.events import Event
    from pocketgpu.guests import App
    from pocketgpu.inspect.pages.findings import Finding
    from pocketgpu.inspect.pictures.comparing import Pixels
    from pocketgpu.pictures import Screen

UPDATE_OPTION = "--update-goldens"
UPDATE_VARIABLE = "POCKETGPU_UPDATE_GOLDENS"
REPORT_OPTION = "--pocketgpu-report"
REPORT_SETTING = "pocketgpu_report"
_KEPT_FRAMES = 64


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """What a screen shows after a frame of a capture.

    array: upright RGB of shape (height, width, 3), 8 bits a channel. capture: its path as the test gave it.
    warnings: events of the machine during the frame.
    """

    array: NDArray[np.uint8]
    capture: str
    frame: int
    screen: str
    warnings: tuple[Event, ...] = ()

    @property
    def image(self) -> Image:
        """The picture as a Pillow image of mode RGB."""
        from pocketgpu.pictures import to_image

        return to_image(self.array)

    def __str__(self) -> str:
        return f"f{self.frame}.{self.screen} of {self.capture}"

    def __repr__(self) -> str:
        height, width = self.array.shape[:2]
        return f"<Picture {self}, {width}x{height}>"


class Render(Protocol):
    """The fixture `pocketgpu_render`."""

    def __call__(
        self,
        capture: str | os.PathLike[str],
        frame: int = 0,
        screen: str | None = None,
        *,
        threads: int = 1,
        switches: Mapping[str, str] | None = None,
    ) -> Picture:
        """What `screen` shows after `frame` of a capture.

        frame: from 0; a negative one counts from the end. screen: "top", "bottom" or "top-right" of a 3DS, "screen" of
        a Switch; the top one if not given. threads, choices: as for `Capture.render`.

        Raises CaptureError for a file that is not a whole capture, NoPictureError for a frame or screen that does not
        exist, UsageError for a frame that is not a whole number.
        """
        ...


class Start(Protocol):
    """The fixture `pocketgpu_app`."""

    def __call__(self, program: str | os.PathLike[str], **options: Any) -> App:
        """Start a program; it runs when it is asked for frames.

        program: a .3dsx, .elf or .axf file. options: as for `pocketgpu.run`; a folder given as `sd` is relative, too.
        A program that fails fails the test, with its back trace, unless `raises=False` is given.

        Raises CaptureError for a file that is no program, UsageError for an argument that is not valid.
        """
        ...


class AssertFrame(Protocol):
    """The fixture `assert_frame`."""

    def __call__(self, picture: Any, golden: Any, tolerance: int = 0) -> None:
        """Fail unless `picture` is the golden.

        picture: what `pocketgpu_render` returned, a screen, a Pillow image or an array (grey, RGB or RGBA, 8 bits a
        channel). golden: the path of a PNG file, or another picture. tolerance: by how much of 255 a channel of a
        pixel may differ.

        Raises AssertionError if they differ or the file is missing, after noting both pictures for the report;
        UsageError for an argument that is not a picture.
        """
        ...


# -- importing --------------------------------------------------------------------------------------------------------


class _AsInstalled(MetaPathFinder):
    """Finds the modules of this package for Python's own loader, which takes the byte code that pip has made.

    pytest would find them first: it compiles all modules of a package that has a plugin again, for messages about
    assertions inside of them, https://docs.pytest.org/en/stable/how-to/writing_plugins.html#assertion-rewriting.
    """

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return PathFinder.find_spec(fullname, path, target) if fullname.startswith("pocketgpu.") else None


sys.meta_path.insert(0, _AsInstalled())


# -- options ----------------------------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("pocketgpu", "pictures of GPU captures")
    group.addoption(
        UPDATE_OPTION,
        action="store_true",
        dest="pocketgpu_update_goldens",
        help=f"Write goldens that are missing or differ, instead of failing (also {UPDATE_VARIABLE}=1).",
    )
    group.addoption(
        REPORT_OPTION,
        metavar="DIR",
        dest="pocketgpu_report",
        help="Folder for the pictures of failing tests (default: pocketgpu-report, or the setting pocketgpu_report).",
    )
    parser.addini(
        REPORT_SETTING, "Folder for the pictures of failing tests, from the root.", default="pocketgpu-report"
    )


def updating(config: pytest.Config) -> bool:
    """Whether goldens are written instead of compared."""
    return bool(config.getoption("pocketgpu_update_goldens")) or os.environ.get(UPDATE_VARIABLE) == "1"


def report_folder(config: pytest.Config) -> Path:
    """The folder for pictures of failing tests."""
    chosen = config.getoption("pocketgpu_report")
    if chosen:
        return Path(config.invocation_params.dir, chosen)
    return Path(config.rootpath, str(config.getini(REPORT_SETTING)))


# -- rendering --------------------------------------------------------------------------------------------------------


class Replays:
    """Pictures of captures for tests, which may request frames in any order.

    One capture is open at a time, and its replay continues where the last test left it. For an earlier frame it begins
    again, on the same machine.
    """

    def __init__(self) -> None:
        self._key: object = None
        self._driver: Any = None
        self.close()

    def close(self) -> None:
        """Release the capture and its machine."""
        self._key = self._driver = None
        self._restart()

    def _restart(self) -> None:
        self._frames: Iterator[Frame] | None = None
        self._next = 0
        self._shown: dict[int, tuple[dict[str, Screen], tuple[Event, ...]]] = {}

    def picture(
        self, path: Path, name: str, frame: int, screen: str | None, threads: int, choices: Mapping[str, str] | None
    ) -> Picture:
        """As for `Render`; name: the file name in the test."""
        import pocketgpu

        try:
            state = path.stat()
        except OSError as error:
            raise pocketgpu.CaptureError(f"cannot read the capture: {error.strerror or error}", file=name) from error
        key = (path, state.st_mtime_ns, state.st_size, threads, tuple(sorted((choices or {}).items())))
        if key != self._key:
            self.close()
            self._driver, self._key = pocketgpu.open(path).driver(threads, choices), key
        try:
            frame = operator.index(frame)  # also an integer of NumPy
        except TypeError:
            raise pocketgpu.UsageError(f"frames are whole numbers, not {frame!r}", location=name) from None
        count = self._driver.frame_count
        index = frame + count if frame < 0 else frame
        if not 0 <= index < count:
            hint = f"It has frames 0 to {count - 1}." if count else "A frame ends with a marker; there is none."
            raise pocketgpu.NoPictureError(f"the capture has no frame {frame}", location=name, hint=hint)
        screens, warnings = self._frame(index)
        wanted = screen or self._driver.screens[0]
        if wanted not in screens:
            hint = f"Shown: {', '.join(screens) or 'none'}."
            raise pocketgpu.NoPictureError(f"no picture on screen '{wanted}'", location=f"{name}, f{index}", hint=hint)
        # A copy for each test, so that a test that changes its picture does not change another's.
        return Picture(screens[wanted].array.copy(), name, index, wanted, warnings)

    def _frame(self, index: int) -> tuple[dict[str, Screen], tuple[Event, ...]]:
        if index not in self._shown:
            if self._frames is None or index < self._next:
                self._restart()
                self._driver.begin()
                self._frames = self._driver.frames(pictures=False)
            try:
                for frame in self._frames:
                    self._next = frame.index + 1
                    if frame.index == index:
                        self._shown[index] = (frame.screens, tuple(frame.warnings))
                        break
            except BaseException:
                self._restart()  # a replay that failed cannot continue
                raise
            while len(self._shown) > _KEPT_FRAMES:
                del self._shown[next(iter(self._shown))]
        return self._shown[index]


@pytest.fixture(scope="session")
def _pocketgpu_replays() -> Iterator[Replays]:
    replays = Replays()
    yield replays
    replays.close()


@pytest.fixture(scope="module")
def pocketgpu_render(request: pytest.FixtureRequest, _pocketgpu_replays: Replays) -> Render:
    """Replay a capture and return what a screen shows: pocketgpu_render(capture, frame=0, screen=None)."""
    folder = request.path.parent

    def render(
        capture: str | os.PathLike[str],
        frame: int = 0,
        screen: str | None = None,
        *,
        threads: int = 1,
        switches: Mapping[str, str] | None = None,
    ) -> Picture:
        __tracebackhide__ = True
        from pocketgpu.errors import PocketGPUError

        name = os.fspath(capture)
        try:
            return _pocketgpu_replays.picture(folder / name, name, frame, screen, threads, switches)
        except PocketGPUError as error:
            # The message says what is wrong with the capture; the traceback inside this package does not help a test.
            raise error.with_traceback(None) from None

    return render


@pytest.fixture(scope="module")
def pocketgpu_app(request: pytest.FixtureRequest) -> Start:
    """Start a program of a console: pocketgpu_app(program, sd=..., switches=...) is a `pocketgpu.App`."""
    folder = request.path.parent

    def start(program: str | os.PathLike[str], **options: Any) -> App:
        __tracebackhide__ = True
        import pocketgpu

        if options.get("sd") is not None:
            options["sd"] = folder / options["sd"]
        try:
            return pocketgpu.run(folder / program, **{"raises": True, **options})
        except pocketgpu.PocketGPUError as error:
            raise error.with_traceback(None) from None

    return start


# -- comparing --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Notes:
    """Findings of a test for the process that writes the report."""

    findings: list[Finding]
    written: list[str]


_NOTES = pytest.StashKey[_Notes]()


@pytest.fixture
def assert_frame(request: pytest.FixtureRequest) -> AssertFrame:
    """Compare a picture with a PNG file: assert_frame(picture, golden, tolerance=0)."""
    item = request.node
    notes = item.stash.setdefault(_NOTES, _Notes([], []))

    def check(picture: Any, golden: Any, tolerance: int = 0) -> None:
        __tracebackhide__ = True
        from pocketgpu.errors import UsageError
        from pocketgpu.inspect.pictures.comparing import as_pixels

        if isinstance(tolerance, bool) or not 0 <= tolerance <= 255:
            raise UsageError(f"no tolerance {tolerance!r}", hint="It is a difference of a channel, 0 to 255.")
        ours = as_pixels(picture)
        if isinstance(golden, str | os.PathLike):
            path = request.path.parent / golden
            wrong = _hold_against_file(item, picture, ours, path, tolerance, notes)
        else:
            wrong = _hold_against(item, picture, ours, as_pixels(golden), "another picture", tolerance, notes)
        if wrong is not None:
            raise AssertionError(wrong)

    return check


def _hold_against_file(
    item: pytest.Item, picture: Any, ours: Pixels, path: Path, tolerance: int, notes: _Notes
) -> str | None:
    from pocketgpu.errors import UsageError
    from pocketgpu.inspect.pages.findings import OURS, Finding
    from pocketgpu.inspect.pages.report_folder import store
    from pocketgpu.inspect.pictures.comparing import compare, read_picture, to_png

    name = _place(item.config, path)
    if path.suffix.lower() != ".png":
        raise UsageError("goldens are PNG files", location=name, hint="Let its name end in .png.")
    try:
        theirs = read_picture(path) if path.exists() else None
        broken = ""
    except UsageError as error:
        theirs, broken = None, str(error)
    if updating(item.config):
        if theirs is None or not compare(ours, theirs, tolerance).same:
            store(path, to_png(ours))
            notes.written.append(name)
        return None
    if theirs is not None:
        return _hold_against(item, picture, ours, theirs, name, tolerance, notes)
    message = f"{_called(picture)} has no golden to compare with: {broken or f'{name} is missing'}"
    notes.findings.append(Finding(item.nodeid, name, message, _facts(picture), ((OURS, to_png(ours)),)))
    return message + _advice(item)


def _hold_against(
    item: pytest.Item, picture: Any, ours: Pixels, theirs: Pixels, name: str, tolerance: int, notes: _Notes
) -> str | None:
    from pocketgpu.inspect.pages.findings import Finding, hold, measures

    found, pictures = hold(ours, theirs, tolerance)
    if found.same:
        return None
    message = f"{_called(picture)} is not {name}: {found}"
    facts = (*_facts(picture), *measures(found))
    notes.findings.append(Finding(item.nodeid, name, message, facts, pictures))
    return message + _advice(item)


def _called(picture: Any) -> str:
    return str(picture) if isinstance(picture, Picture) else "the picture"


def _facts(picture: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(picture, Picture):
        return ()
    facts = [("capture", picture.capture), ("frame", f"f{picture.frame}"), ("screen", picture.screen)]
    return (*facts, *(("warning", f"{event.at}: {event.message}") for event in picture.warnings))


def _advice(item: pytest.Item) -> str:
    return f"\nIf this is how it should look: pytest {UPDATE_OPTION} {shlex.quote(item.nodeid)}"


def _place(config: pytest.Config, path: Path) -> str:
    """A path for people: relative to the root of the project if it is inside of it."""
    whole = Path(os.path.abspath(path))
    return (whole.relative_to(config.rootpath) if whole.is_relative_to(config.rootpath) else whole).as_posix()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    notes = item.stash.get(_NOTES, None)
    if notes is not None:
        # Plain data in attributes: pytest-xdist sends those to the process that writes the report.
        found = [finding.to_dict() for finding in notes.findings] if report.failed else []
        vars(report).update(pocketgpu_findings=found, pocketgpu_written=list(notes.written))
        notes.findings.clear()
        notes.written.clear()
    return report


# -- the report -------------------------------------------------------------------------------------------------------


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Reporter(config), "pocketgpu-reporter")


class Reporter:
    """Collects findings of tests and workers, and writes the report."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._folder = report_folder(config)
        self._findings: list[Finding] = []
        self._written: list[str] = []
        self._problem = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._written += getattr(report, "pocketgpu_written", ())
        for data in getattr(report, "pocketgpu_findings", ()):
            from pocketgpu.inspect.pages.findings import Finding

            self._findings.append(Finding.from_dict(data))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        if self._config.getoption("collectonly", False):
            return
        from pocketgpu.sweeps.report.findings import write_report

        try:
            hint = f"If these are right: run pytest {UPDATE_OPTION}, or copy what is in candidates/ over the project."
            write_report(self._folder, self._findings, hint)
        except OSError as error:
            self._problem = f"cannot write the report to {self._folder}: {error.strerror or error}"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._written:
            names = sorted(set(self._written))
            terminalreporter.section(f"pocketgpu: {_count(len(names), 'golden')} written")
            for name in names:
                terminalreporter.line(name)
        if self._findings:
            terminalreporter.section(f"pocketgpu: {_count(len(self._findings), 'picture')} not as expected")
            from pocketgpu.inspect.pages.report_folder import PAGE

            whole, here = self._folder / PAGE, self._config.invocation_params.dir
            place = whole.relative_to(here) if whole.is_relative_to(here) else whole
            terminalreporter.line(self._problem or f"report: {place}")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
