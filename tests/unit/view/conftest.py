"""What tests of the server share: a folder for the page, and a server about each sample."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pocketgpu

if TYPE_CHECKING:
    from starlette.testclient import TestClient

    from pocketgpu.inspect.model.inspection import Inspection

DATA = Path(pocketgpu.__file__).parent / "data"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a page, with a link that leads out of it."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "index.html").write_text("<!doctype html>the page")
    (folder.parent / "secret.txt").write_text("not for you")
    (folder / "link.txt").symlink_to(folder.parent / "secret.txt")
    return folder


@pytest.fixture(scope="module", params=["sample.ctf.xz", "sample_switch.mxcap.zip"])
def sides(request: Any, page: Path) -> Iterator[tuple[TestClient, Inspection]]:
    """A client of the server, and an inspection of the same sample."""
    from support.view_desk import client_of, on_desk

    path = DATA / request.param
    with client_of(on_desk(pocketgpu.debug(path)), page, path.name) as client:
        yield client, pocketgpu.debug(path)
