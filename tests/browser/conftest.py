"""What tests in a browser share: a browser for each file, the made-up server, and a page that is watched for errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser import browsing
from browser.browsing import Watched, watching
from browser.fake_server import Fake


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Of a file and not of all: while it is open, the thread has an event loop, and other tests run theirs."""
    with browsing.chromium() as found:
        yield found


@pytest.fixture
def fake() -> Iterator[Fake]:
    server = Fake(browsing.PAGE)
    yield server
    server.ended.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def watched(browser: Any) -> Iterator[Watched]:
    with watching(browser) as found:
        yield found
