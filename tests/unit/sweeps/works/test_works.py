"""What each work finds in a capture, in this process."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.damage import damage
from support.doubtful_scenes import stencil_through_depth_write
from support.house import ROOT
from support.plain_scenes import plain_scene
from support.sweeping import SAMPLES, scenes

import pocketgpu
from pocketgpu.cli import main
from pocketgpu.inspect.doubts import doubts
from pocketgpu.inspect.inspection import examine
from pocketgpu.inspect.rules.checker import check
from pocketgpu.sweeps.model.rows import Row
from pocketgpu.sweeps.model.task import What
from pocketgpu.sweeps.works import WORKS, Found, do, found

GUESTS = ROOT / "tests" / "guests" / "n3ds"


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("scene") / "scene.ctf.xz"
    plain_scene(path, [0x112233, 0x445566, 0x112233])
    return path


def row(one: Found) -> Row:
    """The row, of what a message between two processes can carry."""
    return Row.from_json({"capture": "c", "key": "k", "work": "w"} | json.loads(json.dumps(one.data)))


def test_render_has_the_pictures_of_every_frame(scene: Path) -> None:
    one = do([scene], What("render"))
    frames = list(pocketgpu.open(scene).render())
    pictures = row(one).pictures
    assert [picture.address for picture in pictures] == [f"f{n}/{name}" for n in range(3) for name in ("top", "bottom")]
    for picture, (frame, name) in zip(pictures, ((f, name) for f in frames for name in f.screens), strict=True):
        pixels = frame.screens[name].array
        assert (picture.width, picture.height) == (pixels.shape[1], pixels.shape[0])
        assert picture.sha256 == hashlib.sha256(pixels.tobytes()).hexdigest()
    assert len(one.files) == 3 and set(one.files) == {picture.sha256 for picture in pictures}
    assert row(one).counts == {
        name: sum(int(frame.counts[name]) for frame in frames) for name in frames[0].counts
    }  # fmt: skip
    assert len(one.milliseconds) == 3 and row(one).frames == 3


def test_a_png_has_the_pixels_that_its_name_says(scene: Path, tmp_path: Path) -> None:
    for sha256, data in do([scene], What("render")).files.items():
        (tmp_path / "a.png").write_bytes(data)
        with Image.open(tmp_path / "a.png") as picture:
            assert hashlib.sha256(np.asarray(picture.convert("RGB")).tobytes()).hexdigest() == sha256


@pytest.mark.parametrize(
    ("frames", "kept"), [((1, 1), [1]), ((1, None), [1, 2]), ((0, 99), [0, 1, 2]), ((3, None), None), ((9, 10), None)]
)
def test_render_of_some_frames(scene: Path, frames: tuple[int, int | None], kept: list[int] | None) -> None:
    found = row(do([scene], What("render", frames=frames)))
    if kept is None:
        assert found.state == "refused" and "no such frame" in found.message
    else:
        assert sorted({picture.frame for picture in found.pictures}) == kept


def test_check_says_what_the_command_says() -> None:
    capture = pocketgpu.open(SAMPLES[0])
    report, found = check(capture), row(do([SAMPLES[0]], What("check")))
    assert [one["message"] for one in found.findings] == [one.message for one in report.findings]
    assert found.counts == report.counts() and found.console == capture.console


@pytest.mark.parametrize("sample", SAMPLES, ids=["3ds", "switch"])
def test_info_says_what_the_command_says(sample: Path) -> None:
    inventory, found = examine(pocketgpu.open(sample)), row(do([sample], What("info")))
    assert found.counts == inventory.to_dict()["totals"] and found.features and found.detail["kind"]


def test_bench_keeps_the_best_of_its_passes_apart_from_the_row(scene: Path) -> None:
    one = do([scene], What("bench", repeat=3))
    assert len(one.milliseconds) == 3 and all(0 < value < 1000 for value in one.milliseconds)
    assert row(one).pictures == () and row(one).counts == row(do([scene], What("render"))).counts
    assert row(do([scene], What("bench", repeat=1))) == row(one)


def test_doubts_count_the_pixels_of_each_value(tmp_path: Path) -> None:
    path = tmp_path / "stencil.ctf"
    path.write_bytes(stencil_through_depth_write())
    answer = doubts(pocketgpu.open(path))
    found = row(do([path], What("doubts")))
    assert found.counts == {f"{one.choice}={one.value}": one.pixels for one in answer.partings} and found.counts
    assert found.detail["tried"] == list(answer.choices) and found.detail["frames"] == 1
    assert found.detail["first"].keys() == found.counts.keys() and found.detail["failed"] == []


def test_verify_compares_with_the_digests_of_a_file(scene: Path, tmp_path: Path) -> None:
    good, bare = tmp_path / "good.pgc", tmp_path / "bare.pgc"
    assert main(["convert", str(scene), str(good)]) == 0
    assert main(["convert", str(scene), str(bare), "--no-pictures"]) == 0
    assert row(do([good], What("verify"))).detail == {"different": [], "count": 0, "unknown": 0}
    found = row(do([bare], What("verify")))
    assert found.state == "refused" and "no digests" in found.message


def test_diff_finds_what_differs(scene: Path, tmp_path: Path) -> None:
    same = row(do([scene, scene], What("diff", baseline=".")))
    assert same.detail["count"] == 0 and not same.failed
    plain_scene(tmp_path / "other.ctf", [0x112233, 0x445567, 0x112233])
    found = row(do([scene, tmp_path / "other.ctf"], What("diff", baseline=".")))
    assert found.detail["count"] > 0 and found.failed and found.state == "done"
    found = row(do([scene], What("diff", baseline=".")))
    assert found.state == "refused" and "compare with" in found.message


def test_a_program_is_run_for_some_frames() -> None:
    found = row(do([GUESTS / "console.elf"], What("render")))
    assert found.state == "done" and found.console == "3DS" and found.frames > 5 and found.pictures
    found = row(do([GUESTS / "faults.3dsx"], What("info")))
    assert found.state == "refused" and found.message.startswith("the program ended before its first frame (fault")


@pytest.mark.parametrize("work", WORKS)
def test_damaged_captures_are_refused(work: str, scene: Path, tmp_path: Path) -> None:
    whole, random_ = scene.read_bytes(), random.Random(work)
    path = tmp_path / "damaged.ctf.xz"
    for data in (b"", whole[:100], whole[:-5], b"no capture", damage(whole, [0, 1, 2, 3], random_)):
        path.write_bytes(data)
        found = row(do([path, path], What(work)))
        assert found.state == "refused" and found.message and str(path) in found.location
        assert found.pictures == ()


def test_a_log_without_its_memory_file(shared_dir: Path, tmp_path: Path) -> None:
    path = tmp_path / "simple_tri.gx.json.xz"
    path.write_bytes((shared_dir / "captures" / "3ds" / "simple_tri.gx.json.xz").read_bytes())
    found = row(do([path], What("render")))
    assert found.state == "refused" and found.message == "the memory file of the log is missing"


def test_choices_that_do_not_exist_are_refused(scene: Path) -> None:
    found = row(do([scene], What("render", {"no.such": "choice"})))
    assert found.state == "refused" and "no.such" in found.message + found.location + found.hint


@pytest.mark.parametrize(
    ("error", "state", "message"),
    [(ValueError("odd"), "failed", "ValueError: odd"), (MemoryError(), "memory", "the system gave it no more memory")],
)
def test_errors_of_this_package_are_rows(
    error: Exception, state: str, message: str, scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr("pocketgpu.sweeps.works.WORKS", {"info": fail})
    one = row(do([scene], What("info")))
    assert (one.state, one.message) == (state, message)


def test_equal_warnings_become_one_entry_and_their_number_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from pocketgpu.events import Event

    monkeypatch.setattr(found, "MOST_EVENTS", 3)
    one = Found()
    one.add_events(Event("warning", f"id{n % 5}", "m", f"f{n}") for n in range(20))
    assert [(event["id"], event["at"], event["count"]) for event in one.data["events"]] == [
        ("id0", "f0", 4), ("id1", "f1", 4), ("id2", "f2", 4),
    ]  # fmt: skip


def test_scenes_of_the_tests_differ(tmp_path: Path) -> None:
    found = [do([path], What("render")) for path in scenes(tmp_path, 2)]
    assert row(found[0]).pictures[0] != row(found[1]).pictures[0]
