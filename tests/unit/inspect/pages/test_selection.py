"""The page of an address: its pictures are the machine's, its pixel is marked where it is, its texts are `why`'s."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import pocketgpu
from pocketgpu.cli.app import main
from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.pages.selection import page_of
from pocketgpu.pictures import to_png

DATA = Path(__file__).resolve().parents[4] / "src" / "pocketgpu" / "data"
SAMPLES = ("sample.ctf.xz", "sample_switch.mxcap.zip")
MAIN = {"sample.ctf.xz": "top", "sample_switch.mxcap.zip": "screen"}
_FIGURE = re.compile(
    r'<figure>.*?base64,([^"]+)">(?:<svg viewBox="0 0 (\d+) (\d+)".*?<rect x="(\d+)" y="(\d+)".*?)?</div>'
    r"<figcaption>(.*?)</figcaption>", re.S,
)  # fmt: skip


class Figure:
    """A picture of a page: its pixels, the marked one, and its name."""

    def __init__(self, found: re.Match[str]) -> None:
        self.png = base64.b64decode(found[1])
        self.pixels = np.asarray(Image.open(io.BytesIO(self.png)).convert("RGBA"))
        self.mark = None if found[4] is None else (int(found[4]), int(found[5]))
        self.name = unescape(found[6])
        if found[2] is not None:
            assert (int(found[2]), int(found[3])) == self.pixels.shape[1::-1]


def figures(page: str) -> list[Figure]:
    return [Figure(one) for one in _FIGURE.finditer(page)]


@pytest.fixture(scope="module", params=SAMPLES)
def run(request: pytest.FixtureRequest) -> Iterator[Inspection]:
    yield pocketgpu.debug(DATA / request.param)


def test_a_pixel_of_a_screen_is_marked_there_and_in_the_draw_that_decided(run: Inspection) -> None:
    address = Address.parse("f0/px200,120")
    answer = run.why(address)
    page = page_of(run, address)
    screen = MAIN[Path(run.capture.path).name]
    shown = figures(page)
    assert shown[0].mark == (200, 120) and shown[0].name.startswith(screen)
    assert shown[0].png == to_png(run.seek("f0").pictures[screen].pixels)
    assert (shown[1].pixels[shown[1].mark[::-1]] == shown[0].pixels[120, 200]).all()  # the close-up
    pixel = answer.last.pixel
    target = run.seek(pixel.place).pictures["target"]
    drawn = next(one for one in shown if one.name.startswith("target after"))
    assert drawn.mark == target.find(pixel) and drawn.png == to_png(target.pixels)
    assert str(target.at(*drawn.mark)) == str(pixel)
    # The draw decided: the colour is the same.
    assert (drawn.pixels[drawn.mark[::-1]][:3] == shown[0].pixels[120, 200][:3]).all()
    said = unescape(re.sub(r"<[^>]+>", "\n", page))
    assert all(line.strip(" |") in said for line in answer.text().splitlines() if line.strip(" |"))


def test_a_draw_has_pictures_before_and_after_and_its_registers(run: Inspection) -> None:
    page = page_of(run, Address.parse("f0/d5"))
    shown = {one.name.split(":")[0]: one for one in figures(page)}
    before = run.seek(run.before("f0/d5")).pictures["target"].pixels
    assert shown["target before"].png == to_png(before)
    after = run.seek("f0/d5").pictures["target"].pixels
    assert shown["target after"].png == to_png(after)
    assert shown["target after"].mark is None
    assert ("target: the draw changed nothing" in page) == bool((before == after).all())
    for change in run.seek("f0/d5").changes()[:20]:
        assert f"<td>{change.register}</td><td>{change.old:#010x}</td>" in page


def test_places_that_why_has_nothing_about_have_a_page_and_others_have_an_error(run: Inspection) -> None:
    page = page_of(run, Address.parse("f0/e0"))
    assert "<h2>State" in page
    with pytest.raises(UsageError, match="has no draw 999"):
        page_of(run, Address.parse("f0/d999"))
    with pytest.raises(UsageError, match="no frame 99"):
        page_of(run, Address.parse("f99"))


def test_pictures_find_what_they_name(run: Inspection) -> None:
    for place in ("f0", "f0/d5"):
        for one in run.seek(place).pictures.values():
            for x, y in ((0, 0), (one.width - 1, 0), (3, one.height - 1), (one.width // 2, one.height // 3)):
                address = one.at(x, y)
                assert address is None or one.find(address) == (x, y)
            assert one.find(Address.parse("f0/d4/px1,1")) is None
            assert one.find(Address.parse(place)) is None
    screens = [one for one in run.seek("f0").pictures.values() if one.kind == "screen"]
    # An address without a screen is one of the first.
    assert [one.find(Address.parse("f0/px5,6")) for one in screens] == [(5, 6)] + [None] * (len(screens) - 1)
    assert screens[0].find(Address.parse("f0/px9999,6")) is None


def test_what_comes_before(run: Inspection) -> None:
    event = run.event("f0/d5")
    assert run.before("f0/d5") == Address(0, event=event.number - 1)
    assert run.before("f0/e0") is None and run.before("f0") is None
    assert str(run.before("f1/e0")) == str(run.before("f1")) == "f0"
    second = run.passes(0)[1]
    assert run.before(second.address) == Address(0, event=second.events[0].number - 1)


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_command_writes_the_page(sample: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "why.html"
    assert main(["why", str(DATA / sample), "f0/px20,30", "--html", str(path)]) == 0
    assert f"page: {path}" in capsys.readouterr().out
    assert path.read_text() == page_of(pocketgpu.debug(DATA / sample), Address.parse("f0/px20,30"))
    assert main(["why", str(DATA / sample), "f0/px20,30", "--html", str(tmp_path / "no" / "why.html")]) == 2
    assert "--html" in capsys.readouterr().err
