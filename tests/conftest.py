"""What all tests share: where recordings of real clients lie, and a way to run the program like a user does."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from support import packing, recordings
from support import quick_tests as quick
from support.resident import Resident

# How long an example takes is no matter of right or wrong: the first one may compile what it needs.
settings.register_profile("pocketgpu", deadline=None)
settings.load_profile("pocketgpu")

ROOT = Path(__file__).resolve().parents[1]

GARBAGE = 100_000
"""New objects after which garbage is looked for while tests run. Memories of machines do so by their size."""

# jsonschema would make parsers for formats that no schema of ours has, which takes a second in each process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]


@pytest.fixture(scope="session", autouse=True)
def time_does_not_matter() -> None:
    """Tests are about bytes: machines with two threads share every draw out, however small. Compiler processes start
    when a test waits for what they make, and have no budget, which thousands of tests in one process would use up.
    Captures are packed quickly, except in tests of sizes."""
    from pocketgpu import workers
    from pocketgpu.lanes import background

    workers.WORTH = 0.0
    packing.quickly()
    background.DELAY = float("inf")
    background.MOST_ORDERS, background.MOST_SECONDS = 1 << 62, float("inf")


@pytest.fixture(autouse=True)
def orders_end() -> Iterator[None]:
    """Nobody waits any more for code that a test has ordered."""
    yield
    from pocketgpu.lanes.kernel import drop_orders

    drop_orders()


_resident = Resident()


@pytest.fixture(scope="module", autouse=True)
def memory_goes_back(request: pytest.FixtureRequest) -> Iterator[None]:
    """After each file of tests, with what its own functions have cached: nobody else asks them."""
    yield
    for function in vars(request.module).values():
        if getattr(getattr(function, "__wrapped__", None), "__module__", "") == request.module.__name__:
            getattr(function, "cache_clear", lambda: None)()
    _resident.settle()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="a part of the tests, for a minute, see tests/quick.txt")
    parser.addoption(
        recordings.OPTION, metavar="DIR", help=f"folder of recordings of other programs (also {recordings.VARIABLE})"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Before any test is collected, as some ask for the recordings by name."""
    option = config.getoption(recordings.OPTION)
    if option is not None and not Path(option).is_dir():
        raise pytest.UsageError(f"{recordings.OPTION}: there is no folder {option}")
    if option is not None:
        os.environ[recordings.VARIABLE] = option
    os.environ[recordings.VARIABLE] = str(recordings.folder())  # also for programs that run in other folders
    if sys.dont_write_bytecode:
        keep_bytecode(config)


def keep_bytecode(config: pytest.Config) -> None:
    """Where Python is told to write no bytecode, processes that tests start would compile all modules again: they share
    a folder, which goes away with this process."""
    folder = tempfile.TemporaryDirectory(prefix="pocketgpu-bytecode-")
    config.add_cleanup(folder.cleanup)
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = folder.name
    os.environ["PYTHONDONTWRITEBYTECODE"] = ""
    sys.dont_write_bytecode = False


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With --quick, only the files of the list."""
    if config.getoption("--quick") and collection_path.suffix == ".py" and collection_path not in quick.files():
        return True
    return None


BACKWARD = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % 2 == 1
"""Every second process of pytest-xdist reads folders from the end. Where tests have no bytecode yet, each process makes
half of it, instead of all at the same time."""

_places = pytest.StashKey[int]()
"""The place of a file or folder in its folder: with it processes have the same order again."""


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if isinstance(collector, pytest.Directory):
        for place, node in enumerate(report.result or ()):
            node.stash[_places] = place
        if BACKWARD:
            report.result = (report.result or [])[::-1]
    return report


def place(item: pytest.Item) -> list[int]:
    return [node.stash.get(_places, 0) for node in item.listchain()]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --quick, a few cases of each function, and none of those that take long."""
    items.sort(key=place)
    if config.getoption("--quick"):
        kept = quick.chosen(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Twenty thousand tests are collected, and nothing of that is garbage: looking for some takes a third of the
    time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Thousands of collected tests stay until the end: the garbage collector need not look at them after each test."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(GARBAGE)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> object:
    """All tests run with room for their calls, as commands do: pytest's own frames take the first chunks."""
    from pocketgpu.call_room import with_room

    others = session.config.pluginmanager.subset_hook_caller("pytest_runtestloop", [sys.modules[__name__]])
    return with_room(lambda: others(session=session))


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of recordings and tables of other programs; tests that need it are skipped where it is missing."""
    folder = recordings.folder()
    if not (folder / "captures").is_dir():
        pytest.skip(recordings.REASON)
    return folder


@pytest.fixture(scope="session")
def sample_path() -> Path:
    """The sample capture that ships with the package."""
    return ROOT / "src" / "pocketgpu" / "data" / "sample.ctf.xz"


@pytest.fixture
def run_program(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run `python -m pocketgpu ARGUMENTS` in an empty folder, outside of this process; text in, text out."""

    def run(*arguments: str, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pocketgpu", *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )

    return run
