"""What tests in a browser share: the browser, the made-up server, and a page that is watched for errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from browser import browsing
from browser.browsing import Browser, Served, Watched, watching
from browser.fake_server import Fake

_HERE = Path(__file__).parent
_FAILED = pytest.StashKey[bool]()
_open = ExitStack()
"""The browser and the servers of samples, until the last test of this folder."""
_browsers: list[Browser] = []
_samples: dict[str, Served] = {}


def _close() -> None:
    _browsers.clear()
    _samples.clear()
    _open.close()


@pytest.fixture(scope="module")
def browser() -> Browser:
    """One for all files: to start it takes two seconds."""
    if not _browsers:
        _browsers.append(_open.enter_context(browsing.chromium()))
    return _browsers[0]


@pytest.fixture(scope="module")
def samples() -> Callable[[str], Served]:
    """The real server with the sample of a console, one for all files."""

    def of(console: str) -> Served:
        if console not in _samples:
            _samples[console] = Served(_open.enter_context(browsing.served(browsing.sample(console))))
        return _samples[console]

    return of


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """While the browser is open, the thread has an event loop, and tests of other folders run theirs."""
    try:
        yield
    finally:
        if nextitem is None or _HERE not in nextitem.path.parents:
            _close()


def pytest_sessionfinish() -> None:
    """After tests that were broken off."""
    _close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.failed:
        item.stash[_FAILED] = True
    return report


def _failed(request: pytest.FixtureRequest) -> bool:
    return bool(request.node.stash.get(_FAILED, False))


@pytest.fixture(scope="session")
def fakes() -> Iterator[list[Fake]]:
    """The made-up server, if it runs: a browser has a process for each server."""
    servers: list[Fake] = []
    yield servers
    for server in servers:
        server.end()


@pytest.fixture
def fake(fakes: list[Fake], request: pytest.FixtureRequest) -> Iterator[Fake]:
    """As new: another one after a test that failed, whose page may still be there."""
    if not fakes:
        fakes.append(Fake(browsing.PAGE))
    server = fakes[0]
    yield server
    if server.ended.is_set() or _failed(request):
        fakes.remove(server)
        server.end()
    else:
        server.renew()


@pytest.fixture
def watched(browser: Browser, fake: Fake, request: pytest.FixtureRequest) -> Iterator[Watched]:
    """The page leaves the made-up server before that becomes new."""
    with watching(browser) as found:
        yield found
        if _failed(request):
            found.spoil()
