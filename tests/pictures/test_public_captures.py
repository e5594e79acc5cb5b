"""Recordings of real clients against the pictures that a public software renderer makes of them.

That renderer samples nearest and without levels, so ours does too here. At least 99.5 % of the pixels must be within
2 of 255, and every other one within a pixel of an edge of the reference. A failing comparison leaves both pictures and
their difference side by side in build/failures.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import pocketgpu
from pocketgpu.inspect.pages.report_folder import store
from pocketgpu.inspect.pictures.comparing import as_pixels, difference, sheet, to_png

ROOT = Path(__file__).resolve().parents[2]
NEAREST = {"texture.filter": "nearest"}
CAPTURES = [
    "simple_tri", "both_screens", "multiple_buf", "immediate", "textured_cube", "textured_cube_rgba8888",
    "textured_cube_rgb565", "textured_cube_hilo88", "textured_cube_l4", "ed_rgb565_d16", "ed_flip",
]  # fmt: skip
OTHERS = [
    "2d_shapes", "cubemap", "fragment_light", "geoshader", "hwtest_texcopy", "loop_subdivision", "mipmap_fog",
    "normal_mapping", "proctex", "textured_cube_f60",
]  # fmt: skip
"""Compared with their references elsewhere (docs/agreement.md), or in a test of their own."""
ALIKE = {
    "both_screens", "multiple_buf", "textured_cube_rgba8888", "textured_cube_rgb565", "textured_cube_hilo88",
    "textured_cube_l4", "textured_cube_f60", "ed_flip",
}  # fmt: skip
"""Their draws have the states of another one's, with another format of texture or target."""
CLOSE, SHARE, EDGE = 2, 0.995, 24


def edges(picture: np.ndarray) -> np.ndarray:
    """Pixels within one of a step of more than EDGE in some channel, up to each other's corner."""
    p = picture.astype(int)
    found = np.zeros(p.shape[:2], bool)
    for axis in (0, 1):
        step = np.abs(np.diff(p, axis=axis)).max(axis=-1) > EDGE
        if axis == 0:
            found[:-1] |= step
            found[1:] |= step
        else:
            found[:, :-1] |= step
            found[:, 1:] |= step
    padded = np.pad(found, 1)
    h, w = found.shape
    return np.any([padded[y : y + h, x : x + w] for y in range(3) for x in range(3)], axis=0)


def compare(name: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    """Fail, leaving a picture, unless two pictures are alike."""
    assert ours.shape == theirs.shape
    far = np.abs(ours.astype(int) - theirs.astype(int)).max(axis=-1) > CLOSE
    unexplained = far & ~edges(theirs)
    if 1 - far.mean() >= SHARE and not unexplained.any():
        return
    folder = ROOT / "build" / "failures"
    ours, theirs = as_pixels(ours), as_pixels(theirs)
    shown = sheet([("ours", ours), ("theirs", theirs), ("difference", difference(ours, theirs, CLOSE))])
    store(folder / f"{name}.png", to_png(shown))
    pytest.fail(
        f"{name}: {far.sum()} of {far.size} pixels differ by more than {CLOSE}, {unexplained.sum()} of them away from "
        f"edges; see {folder / name}.png"
    )


def reference(shared_dir: Path, name: str) -> Path:
    return shared_dir / "captures" / "3ds" / "reference" / name


def replay(shared_dir: Path, name: str, **options: object) -> Iterator[pocketgpu.Frame]:
    capture = pocketgpu.open(shared_dir / "captures" / "3ds" / f"{name}.ctf.xz")
    return capture.render(switches=NEAREST, **options)


@pytest.mark.parametrize("name", CAPTURES)
def test_pictures_are_those_of_the_reference(shared_dir: Path, name: str) -> None:
    expected = sorted(reference(shared_dir, name).glob("*.png"))
    compared = []
    for frame in replay(shared_dir, name):
        assert not [w for w in frame.warnings if w.kind != "warning"]
        for path in expected:
            index, screen, _ = path.name.split(".")
            if index != f"f{frame.index}":
                continue
            theirs = np.array(Image.open(path).convert("RGB"))
            compare(f"{name}.{index}.{screen}", frame.screens[screen].array, theirs)
            compared.append(path)
    assert sorted(compared) == expected
    assert expected


def test_last_frames_of_the_turning_cube_are_those_of_the_reference(shared_dir: Path) -> None:
    """Sixty frames: at the end the model shows other sides."""
    expected = sorted(reference(shared_dir, "textured_cube_f60").glob("*.png"))
    assert len({path.name.split(".")[0] for path in expected}) >= 1
    frames = {int(path.name.split(".")[0][1:]) for path in expected}
    for frame in replay(shared_dir, "textured_cube_f60"):
        if frame.index in frames:
            for path in expected:
                index, screen, _ = path.name.split(".")
                if index == f"f{frame.index}":
                    theirs = np.array(Image.open(path).convert("RGB"))
                    compare(f"textured_cube_f60.{index}.{screen}", frame.screens[screen].array, theirs)


def test_texture_copies_leave_the_memory_of_the_reference(shared_dir: Path) -> None:
    files = {path.name.split(".")[0]: path for path in reference(shared_dir, "hwtest_texcopy").glob("*.memory-*.bin")}
    seen = set()
    for frame in replay(shared_dir, "hwtest_texcopy"):
        path = files.get(f"f{frame.index}")
        if path is None:
            continue
        address = int(path.name.split("memory-")[1].removesuffix(".bin"), 16)
        expected = path.read_bytes()
        assert frame.machine.memory.read(address, len(expected)) == expected, path.name
        seen.add(path.name)
    assert len(seen) == len(files) > 0


def everything(shared_dir: Path, name: str, **options: object) -> list[tuple[bytes, ...]]:
    """All guest memory and pictures, a frame at a time."""
    out = []
    for frame in replay(shared_dir, name, **options):
        memory = frame.machine.memory
        regions = [memory.read(region.base, region.size) for region, _ in memory.regions if region.name == "VRAM"]
        screens = [screen.array.tobytes() for _, screen in sorted(frame.screens.items())]
        used = np.flatnonzero(memory.page_versions).tolist()
        pages = b"".join(memory.arena[p << 12 : (p + 1) << 12].tobytes() for p in used)
        out.append((*regions, *screens, pages))
    return out


@pytest.mark.parametrize("name", ["simple_tri", "both_screens", "immediate", "textured_cube", "ed_rgb565_d16"])
def test_any_number_of_threads_and_every_run_give_the_same_bytes(shared_dir: Path, name: str) -> None:
    first = everything(shared_dir, name, threads=1)
    for threads in (2, 3, 1):
        assert everything(shared_dir, name, threads=threads) == first, threads


@pytest.mark.parametrize("name", [name for name in (*CAPTURES, *OTHERS) if name not in ALIKE])
def test_both_evaluators_give_the_same_bytes(shared_dir: Path, name: str) -> None:
    """The first frame: memory (render target included) and pictures. `make oracle` plays all frames of all of them."""
    machine = everything(shared_dir, name, frames=range(1))
    oracle = everything(shared_dir, name, frames=range(1), evaluator="numpy")
    assert machine == oracle


def test_comparison_sees_what_it_should() -> None:
    """The rule itself: few wrong pixels at an edge pass, one in a plain area does not, nor do many."""
    picture = np.zeros((100, 100, 3), np.uint8)
    picture[:, 50:] = 200
    moved = picture.copy()
    moved[10:40, 50] = 0
    compare("rule", moved, picture)
    near = picture + np.uint8(2)
    compare("rule", near, picture)
    for wrong in (np.s_[20, 20], np.s_[:, 48:52]):
        bad = picture.copy()
        bad[wrong] = 99
        with pytest.raises(pytest.fail.Exception):
            compare("rule", bad, picture)
    (ROOT / "build" / "failures" / "rule.png").unlink()
