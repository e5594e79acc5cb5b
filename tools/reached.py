"""A plugin of pytest: which functions of the package each file of tests calls, for `tools/mutations.py`.

    REACHED=FILE pytest -p reached ...      FILE becomes JSON: {file of tests: ["module.py:first line", ...]}

Calls in other processes are not seen. A function that keeps its results is seen by the file that calls it first.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from types import CodeType, FrameType

import pytest

PACKAGE = str(Path(__file__).resolve().parents[1] / "src" / "pocketgpu") + os.sep

calls: dict[str, set[CodeType]] = defaultdict(set)
now: set[CodeType] = set()


def note(frame: FrameType, event: str, argument: object) -> None:
    """Called at each call of a function; None as its answer leaves the lines inside alone."""
    now.add(frame.f_code)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    global now
    now = calls[item.path.as_posix()]
    sys.settrace(note)
    threading.settrace(note)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]


def pytest_sessionfinish(session: pytest.Session) -> None:
    root = session.config.rootpath
    found = {
        Path(path).relative_to(root).as_posix(): sorted(
            f"{code.co_filename.removeprefix(PACKAGE)}:{code.co_firstlineno}"
            for code in codes
            if code.co_filename.startswith(PACKAGE)
        )
        for path, codes in calls.items()
    }
    Path(os.environ["REACHED"]).write_text(json.dumps(found, indent=1), encoding="utf-8")
