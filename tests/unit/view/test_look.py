"""What the page shows first of a place: the pictures, one of them, and the addresses of their pixels."""

from __future__ import annotations

import subprocess
import sys
from contextlib import nullcontext
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient
from support.view_desk import ask, unpack

import pocketgpu
from pocketgpu.inspect.index.events import IndexedEvents
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.pictures import PixelAddresses
from pocketgpu.view.questions.desk import MAIN, desk_of
from pocketgpu.view.questions.preparing import Preparing

DATA = Path(pocketgpu.__file__).parent / "data"


@pytest.mark.parametrize("wanted", ["", "depth", "nothing"])
def test_a_look_has_the_list_and_the_pixels_of_one(sides: tuple[TestClient, Inspection], wanted: str) -> None:
    client, run = sides
    draw = run.draws(0)[-1].address
    for at, kind in ((str(draw), "colour"), ("f0", "screen")):
        pictures = run.seek(at).pictures
        answer = client.get("/api/look", params={"at": at, "of": wanted})
        assert answer.headers["cache-control"] == "no-store" and "etag" not in answer.headers
        header, arrays = unpack(answer.content)
        assert header["pictures"] == ask(client, "pictures", at=at)["pictures"]
        fitting = next(name for name, one in pictures.items() if one.kind == kind)
        assert header["shown"] == (wanted if wanted in pictures else fitting)
        shown = arrays["pixels", "rgba"].view(np.uint8)
        assert np.array_equal(shown, pictures[header["shown"]].pixels.reshape(-1, 4))


def test_the_list_tells_the_address_of_each_pixel(sides: tuple[TestClient, Inspection]) -> None:
    """As `pixel` does, and `find` of the picture finds it again."""
    client, run = sides
    explained = 0
    for at in (str(run.draws(0)[-1].address), "f0"):
        for name, picture in run.seek(at).pictures.items():
            listed = next(one for one in ask(client, "pictures", at=at)["pictures"] if one["name"] == name)["addresses"]
            for x, y in product((0, picture.width - 1), (0, picture.height // 3)):
                address = ask(client, "pixel", at=at, of=name, x=x, y=y)["address"]
                if listed is None:
                    assert address is None
                    continue
                column, row = (
                    start + a * x + b * y for start, (a, b) in zip(listed["first"], listed["turn"], strict=True)
                )
                assert f"{listed['places'][0]}/px{column},{row}" == address
                for place in listed["places"]:
                    assert picture.find(Address.parse(f"{place}/px{column},{row}")) == (x, y)
                explained += 1
    assert explained >= 8


def test_addresses_of_turned_pictures_are_found_again() -> None:
    turned = PixelAddresses((Address(2, draw=1), Address(2)), (239, 0), ((0, -1), (1, 0)))
    assert turned.at(7, 9) == Address(2, draw=1, pixel=(230, 7))
    assert turned.find(Address(2, draw=1, pixel=(230, 7))) == turned.find(Address(2, pixel=(230, 7))) == (7, 9)
    assert turned.find(Address(2, draw=1)) is None
    assert turned.find(Address(2, screen="top", pixel=(230, 7))) is None


@pytest.mark.parametrize("at", ["", "f0/d2/px3,4", "f999", "f0/d999"])
def test_the_first_question_finds_the_machine_at_its_place(at: str) -> None:
    """A place that does not exist is for the question to refuse."""
    seen: list[str] = []

    class Watched(IndexedEvents):
        def seek(self, place: Address | str) -> Moment:
            seen.append(str(place))
            return super().seek(place)

    path = DATA / "sample.ctf.xz"
    run = Watched(pocketgpu.debug(path).capture, None, lambda: pocketgpu.debug(path))
    with desk_of((MAIN, nullcontext(run))) as desk:
        prepare = Preparing(at)
        steps = [prepare(desk) for _ in range(6)]
    assert steps[0] == 0 and steps[-1] is None
    assert set(seen) == {str(Address.parse(at or "f0").place)}


def test_requests_are_understood_without_the_code_of_a_console() -> None:
    """It would take longer to load than the rest of the server, while the browser waits."""
    code = (
        "import sys, pocketgpu.view.routes, pocketgpu.view.serve;"
        "print([m for m in sys.modules if m.startswith(('pocketgpu.maxwell', 'pocketgpu.pica', 'pocketgpu.guests',"
        " 'pocketgpu.inspect.diff', 'pocketgpu.inspect.stepping'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
