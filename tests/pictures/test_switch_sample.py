"""The shipped sample of the Switch's GPU: two passes of draws, instances, blending, mipmaps, text.

Hashes of its pictures are in goldens/sample_switch.json; `--update-goldens` rewrites them.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from golden_files import digest, keep, updating

import pocketgpu
from pocketgpu.capture.formats import mxcap
from pocketgpu.cli import main
from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.switch.inventory.capture_info import examine

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = ROOT / "src" / "pocketgpu" / "data" / "sample_switch.mxcap.zip"
GOLDENS = Path(__file__).with_name("goldens") / "sample_switch.json"
MOST_BYTES = 300_000


@pytest.fixture(scope="module")
def make_sample() -> Iterator[ModuleType]:
    """tools/make_switch_sample.py, which is no package."""
    path = list(sys.path)
    spec = importlib.util.spec_from_file_location("make_switch_sample", ROOT / "tools" / "make_switch_sample.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]
    sys.path[:] = path


def screens(threads: int = 1) -> dict[str, np.ndarray]:
    """Pixels of all frames by name ("f0"); fails on any warning."""
    pictures = {}
    for frame in pocketgpu.open(SAMPLE).render(threads=threads):
        assert frame.warnings == []
        pictures[f"f{frame.index}"] = np.ascontiguousarray(frame.screens["screen"].array)
    return pictures


@pytest.fixture(scope="module")
def pictures() -> dict[str, np.ndarray]:
    return screens()


def test_the_pictures_have_their_golden_hashes(pictures: dict[str, np.ndarray]) -> None:
    found = {name: digest(pixels) for name, pixels in pictures.items()}
    if updating():
        GOLDENS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    golden = json.loads(GOLDENS.read_text(encoding="utf-8"))
    wrong = [keep(f"sample_switch-{name}", pictures[name]) for name in found if found[name] != golden.get(name)]
    assert found.keys() == golden.keys() and not wrong


def test_two_threads_draw_the_same(pictures: dict[str, np.ndarray]) -> None:
    again = screens(threads=2)
    assert {name: digest(pixels) for name, pixels in again.items()} == {n: digest(p) for n, p in pictures.items()}


def on_screen(make_sample: ModuleType, number: int, *place: float) -> tuple[int, int]:
    """Where a place of the world is in the picture of a frame: x, y."""
    _, clip = make_sample.camera(number)
    x, y, _, w = clip @ np.array([*place, 1.0])
    return int((x / w + 1) / 2 * make_sample.WIDTH), int((1 - y / w) / 2 * make_sample.HEIGHT)


def test_the_tower_stands_where_the_camera_sees_it(pictures: dict[str, np.ndarray], make_sample: ModuleType) -> None:
    """Its rings are red and white, at places that follow from the camera alone; the boat hides nothing of them."""
    x, z = make_sample.LAMP[0], make_sample.LAMP[2]
    for number in range(make_sample.FRAMES):
        picture = pictures[f"f{number}"].astype(int)
        # The texture has six rings over 6.4 m of a mesh whose rows go upwards; v grows upwards too.
        seen = []
        for ring in range(2, 6):
            u, v = on_screen(make_sample, number, x, make_sample.BASE + 6.4 * (ring + 0.5) / 6, z)
            red, _, blue = picture[v, u]
            seen.append(red > 2 * blue)
        assert seen in ([True, False, True, False], [False, True, False, True])


def test_the_sea_shows_the_first_pass(pictures: dict[str, np.ndarray], make_sample: ModuleType, tmp_path: Path) -> None:
    """Without the draws of the first pass the sea looks different, and nothing above the horizon does."""
    made = make_sample.Island()
    solid = made.solid
    made.solid = lambda *drawn, mirrored: None if mirrored else solid(*drawn, mirrored=False)
    made.capture.submit(made.set_up(), made.frame(0))
    made.capture.present(made.targets[0], fence=1)
    made.capture.save(tmp_path / "one.mxcap.zip")
    (frame,) = pocketgpu.open(tmp_path / "one.mxcap.zip").render()
    differing = (frame.screens["screen"].array != pictures["f0"]).any(-1)
    horizon = min(on_screen(make_sample, 0, x, 0, -390)[1] for x in (-200, 0, 200))
    assert differing[horizon + 20 :].mean() > 0.1 and not differing[: horizon - 5].any()


def test_letters_are_where_the_tool_puts_them(pictures: dict[str, np.ndarray], make_sample: ModuleType) -> None:
    """The first letter, P, at twice the size of its texture."""
    at, cell, row = list(make_sample.GLYPHS).index("P"), make_sample.CELL, make_sample.ROW
    texels = make_sample.letters()[at // row * cell :][:cell, at % row * cell :][:, :cell]
    wanted = (texels == 255).repeat(2, 0).repeat(2, 1)
    # Pixels whose neighbours are alike are not mixed by the filter.
    inside = wanted.copy()
    for down, across in itertools.product((-1, 0, 1), repeat=2):
        inside &= np.roll(wanted, (down, across), (0, 1))
    assert inside.sum() > 300
    for picture in pictures.values():
        letter = picture[40 : 40 + 2 * cell, 48 : 48 + 2 * cell].astype(int)
        assert np.abs(letter[inside] - np.array([255, 237, 199])).max() < 3


def test_every_pixel_asked_about_is_explained() -> None:
    run = debug(str(SAMPLE))
    for place in ("f3/px640,560", "f3/px100,600", "f3/px640,60", "f3/px60,60", "f7/px1200,400"):
        why = run.why(place)
        assert "proved" in str(why), place


def test_the_tool_makes_the_shipped_file(make_sample: ModuleType) -> None:
    """But for the last bits of sines and powers of other processors."""
    made, shipped = mxcap.parse(make_sample.build().tobytes()), mxcap.parse(SAMPLE.read_bytes())
    assert (made.mappings, made.presents) == (shipped.mappings, shipped.presents)
    assert [s.entries.tolist() for s in made.submissions] == [s.entries.tolist() for s in shipped.submissions]
    for one, two in zip(made.chunks, shipped.chunks, strict=True):
        assert (one.gpu_va, len(one.data)) == (two.gpu_va, len(two.data))
        differing = np.count_nonzero(np.frombuffer(one.data, np.uint8) != np.frombuffer(two.data, np.uint8))
        assert differing <= len(one.data) // 100
    assert SAMPLE.stat().st_size < MOST_BYTES


def test_info_and_check_tell_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    found = examine(mxcap.parse(SAMPLE.read_bytes()))
    assert found.unknown == {} and found.open_words == 0 and found.events == []
    totals = found.totals()
    frames = len(json.loads(GOLDENS.read_text(encoding="utf-8")))
    assert (totals["clears"], totals["uploads"], totals["draws"]) == (4 * frames, frames, 55 * frames)
    assert main(["check", str(SAMPLE)]) == 0
    text = capsys.readouterr().out
    assert "warning:" not in text and "error:" not in text
