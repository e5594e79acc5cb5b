"""The pytest plugin as users meet it: small projects of their own, tested by a pytest of its own process."""

from __future__ import annotations

import base64
import io
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.machinery import SourceFileLoader
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from support.plain_scenes import plain_scene
from support.small_projects import WITHOUT

import pocketgpu
from pocketgpu.capture.driver.n3ds import N3DSDriver
from pocketgpu.errors import NoPictureError
from pocketgpu.pytest_plugin import AssertFrame, Picture, Render, Replays

ROOT = Path(__file__).resolve().parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]
COLOURS = [0x112233, 0x445566, 0x778899]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a recording of three frames in a folder of tests. Its reports are plain pages, as if what the page
    of sweeps needs were not installed."""
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(
        "from pocketgpu.sweeps.report import files\nfiles.NEEDED = ('a_package_that_is_not_there',)\n"
    )
    (tmp_path / "tests").mkdir()
    plain_scene(tmp_path / "tests" / "scene.ctf", COLOURS)
    return tmp_path


@pytest.fixture
def run(project: Path) -> Run:
    """Run pytest in the project; text out, without colours."""

    def start(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "POCKETGPU_UP"))}
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *WITHOUT, "--color=no", *words],
            cwd=project,
            env={**clean, "PYTHONPATH": str(ROOT / "src"), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
        )

    return start


def counts(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """How many tests passed, failed and so on."""
    last = done.stdout.strip().splitlines()[-1]
    return {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|xfailed|errors?|skipped)", last)}


def paint(path: Path, colour: int) -> None:
    """A golden of one colour."""
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (400, 240), tuple(colour.to_bytes(3, "big"))).save(path)


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_pytest_does_not_compile_the_package_again() -> None:
    """For packages with plugins it has a loader of its own; the modules here have the one of Python."""
    for part in (N3DSDriver, pocketgpu.App, NoPictureError):
        assert type(sys.modules[part.__module__].__loader__) is SourceFileLoader


def test_a_golden_is_missing_written_kept_and_held_to(project: Path, run: Run) -> None:
    (project / "tests" / "test_it.py").write_text(
        "def test_top(pocketgpu_render, assert_frame):\n"
        "    assert_frame(pocketgpu_render('scene.ctf', frame=1), 'goldens/top.png', tolerance=2)\n"
    )
    golden = project / "tests" / "goldens" / "top.png"
    report = project / "pocketgpu-report"

    done = run()
    assert done.returncode == 1 and not golden.exists()
    assert "f1.top of scene.ctf has no golden to compare with: tests/goldens/top.png is missing" in done.stdout
    assert "pytest --update-goldens tests/test_it.py::test_top" in done.stdout
    candidate = report / "candidates" / "tests" / "goldens" / "top.png"
    assert (np.array(Image.open(candidate)) == np.array([0x44, 0x55, 0x66])).all()
    assert files(report) == [
        ".pocketgpu-report", "candidates/tests/goldens/top.png", "index.html", "tests-test_it.py-test_top.top.png",
    ]  # fmt: skip

    done = run("--update-goldens")
    assert done.returncode == 0 and "1 golden written" in done.stdout and "\ntests/goldens/top.png\n" in done.stdout
    assert (np.array(Image.open(golden)) == np.array([0x44, 0x55, 0x66])).all() and files(report) == []
    done = run()
    assert done.returncode == 0 and "pocketgpu:" not in done.stdout

    # Within the tolerance there is nothing to write.
    paint(golden, 0x465366)
    before = golden.read_bytes()
    assert run("--update-goldens").returncode == 0 and golden.read_bytes() == before
    paint(golden, 0x475566)
    done = run()
    assert done.returncode == 1
    assert "96000 of 96000 pixels differ by more than 2, by 3 at most, between (0, 0) and (399, 239)" in done.stdout
    golden.write_text("no picture")
    done = run(POCKETGPU_UPDATE_GOLDENS="1")
    assert done.returncode == 0 and "1 golden written" in done.stdout and run().returncode == 0


def test_the_report_shows_what_failed_and_only_that(project: Path, run: Run) -> None:
    (project / "tests" / "test_it.py").write_text("""
import pytest

@pytest.mark.parametrize("frame", [0, 1, 2], ids=["zero", "<one>", "two"])
def test_frames(pocketgpu_render, assert_frame, frame):
    assert_frame(pocketgpu_render("scene.ctf", frame), f"f{frame}.png")

@pytest.mark.xfail
def test_expected(pocketgpu_render, assert_frame):
    assert_frame(pocketgpu_render("scene.ctf"), "f1.png")

def test_caught(pocketgpu_render, assert_frame):
    with pytest.raises(AssertionError, match="is not tests/f1.png"):
        assert_frame(pocketgpu_render("scene.ctf"), "f1.png")

@pytest.fixture
def prepared(pocketgpu_render, assert_frame):
    assert_frame(pocketgpu_render("scene.ctf", -1, "bottom"), "f1.png")

def test_in_a_fixture(prepared):
    pass

@pytest.fixture
def broken_afterwards():
    yield
    raise RuntimeError("of something else")

def test_caught_before(pocketgpu_render, assert_frame, broken_afterwards):
    test_caught(pocketgpu_render, assert_frame)
""")
    for frame, colour in enumerate(COLOURS):
        paint(project / "tests" / f"f{frame}.png", colour)
    paint(project / "tests" / "f1.png", 0x445466)
    done = run("--pocketgpu-report", "out")
    assert counts(done) == {"passed": 4, "failed": 1, "xfailed": 1, "errors": 2}
    assert "2 pictures not as expected" in done.stdout and f"report: {Path('out/index.html')}" in done.stdout
    text = (project / "out" / "index.html").read_text("utf-8")
    assert re.findall("<h2>(.*)</h2>", text) == [
        "tests/test_it.py::test_frames[&lt;one&gt;]",
        "tests/test_it.py::test_in_a_fixture",
    ]
    assert "the picture is 320x240, the golden 400x240" in text and "96000 of 96000 (100 %)" in text
    inside = [base64.b64decode(data) for data in re.findall(r"base64,([^\"]+)", text)]
    ours, golden = (np.array(Image.open(io.BytesIO(png))) for png in inside[:2])
    assert (ours == np.array([0x44, 0x55, 0x66])).all() and (golden == np.array([0x44, 0x54, 0x66])).all()
    (sheet,) = (project / "out").glob("*test_frames*.png")
    assert np.array(Image.open(sheet))[16:, :400].tolist() == ours.tolist()


def test_the_page_of_sweeps_shows_failures_if_it_can(project: Path, run: Run) -> None:
    for name in ("jinja2", "plotly"):
        pytest.importorskip(name)
    (project / "tests" / "test_it.py").write_text("""
import pytest

@pytest.mark.parametrize("name", ["</script><b>", "two"])
def test_it(pocketgpu_render, assert_frame, name):
    assert_frame(pocketgpu_render("scene.ctf", 1), "f1.png")
""")
    paint(project / "tests" / "f1.png", 0x445466)
    assert counts(run()) == {"failed": 2}
    report = project / "pocketgpu-report"
    plain = (report / "index.html").read_text("utf-8")
    assert "pip install pocketgpu[sweep]" in plain.replace("&#x27;", "'") and not (report / "rows").exists()
    (project / "conftest.py").unlink()
    assert counts(run()) == {"failed": 2}
    text = (report / "index.html").read_text("utf-8")
    assert "2 pictures are not as expected" in text and "</script><b>" not in text and "update-goldens" in text
    details = (report / "rows" / "0.js").read_text("ascii")
    assert "f1/screen" in details or "f1/top" in details
    assert "96,000 of 96,000 pixels differ, by 1 at most" in details and "tests/f1.png" in details
    assert len(list((report / "pictures").rglob("*.png"))) == 2 and len(list((report / "differences").iterdir())) == 1
    assert len(list(report.glob("*.png"))) == 2 and (report / "candidates" / "tests" / "f1.png").exists()
    assert counts(run("--update-goldens")) == {"passed": 2} and files(report) == []


def test_workers_share_one_report_from_a_cold_cache(project: Path, run: Run) -> None:
    (project / "tests" / "test_it.py").write_text("""
import pytest

@pytest.mark.parametrize("frame", range(4))
def test_frames(pocketgpu_render, assert_frame, frame):
    assert_frame(pocketgpu_render("four.ctf", frame), f"f{frame}.png")
""")
    plain_scene(project / "tests" / "four.ctf", [*COLOURS, 0xAABBCC])
    cache = project / "cache"
    cache.mkdir(mode=0o700)
    for frame in (1, 3):
        paint(project / "tests" / f"f{frame}.png", 0)
    done = run("-n", "2", POCKETGPU_CACHE=str(cache))
    assert counts(done) == {"failed": 4} and "4 pictures not as expected" in done.stdout
    assert files(cache)  # it was cold, and used
    report = project / "pocketgpu-report"
    text = (report / "index.html").read_text("utf-8")
    assert set(re.findall("<h2>(.*)</h2>", text)) == {f"tests/test_it.py::test_frames[{frame}]" for frame in range(4)}
    assert text.count("base64,") == 2 * 3 + 2 and len(list(report.glob("*.png"))) == 4
    done = run("-n", "2", "--update-goldens")
    assert counts(done) == {"passed": 4} and "4 goldens written" in done.stdout
    for frame, colour in enumerate([*COLOURS, 0xAABBCC]):
        golden = np.array(Image.open(project / "tests" / f"f{frame}.png"))
        assert (golden == np.array(list(colour.to_bytes(3, "big")))).all()


def test_a_report_that_cannot_be_written_hides_no_failure(project: Path, run: Run) -> None:
    (project / "tests" / "test_it.py").write_text(
        "def test_top(pocketgpu_render, assert_frame):\n    assert_frame(pocketgpu_render('scene.ctf'), 'top.png')\n"
    )
    (project / "pytest.ini").write_text("[pytest]\npocketgpu_report = taken/report\n")
    (project / "taken").write_text("a file")
    done = run()
    assert done.returncode == 1 and counts(done) == {"failed": 1}
    assert "cannot write the report to" in done.stdout and "INTERNALERROR" not in done.stdout + done.stderr


def test_errors_are_told_without_the_inside_of_the_plugin(project: Path, run: Run) -> None:
    (project / "tests" / "test_it.py").write_text("""
def test_damaged(pocketgpu_render):
    pocketgpu_render("cut.ctf")

def test_missing(pocketgpu_render):
    pocketgpu_render("none.ctf")

def test_past_the_end(pocketgpu_render):
    pocketgpu_render("scene.ctf", 3)

def test_no_number(pocketgpu_render):
    pocketgpu_render("scene.ctf", "1")
""")
    (project / "tests" / "cut.ctf").write_bytes((project / "tests" / "scene.ctf").read_bytes()[:100])
    done = run()
    assert counts(done) == {"failed": 4}
    assert "UsageError: frames are whole numbers, not '1'" in done.stdout
    assert "CaptureError: " in done.stdout and "NoPictureError: the capture has no frame 3" in done.stdout
    assert "It has frames 0 to 2." in done.stdout and "none.ctf" in done.stdout
    assert "pytest_plugin.py" not in done.stdout


# in this process


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    plain_scene(tmp_path / "scene.ctf", [0x010101 * index for index in range(80)])
    return tmp_path / "scene.ctf"


def test_programs_are_started(project: Path, run: Run) -> None:
    pytest.importorskip("unicorn", reason="needs the extra 'guest'")
    program = ROOT / "tests" / "guests" / "n3ds" / "framebuffers.elf"
    (project / "tests" / "app.elf").write_bytes(program.read_bytes())
    (project / "tests" / "faults.3dsx").write_bytes((program.parent / "faults.3dsx").read_bytes())
    (project / "tests" / "faults.elf").write_bytes((program.parent / "faults.elf").read_bytes())
    (project / "tests" / "sd").mkdir()
    (project / "tests" / "test_it.py").write_text(
        """
import pytest
from pocketgpu import CaptureError, ProgramFault

@pytest.mark.parametrize("frames", [1, 5])
def test_it(pocketgpu_app, assert_frame, frames):
    app = pocketgpu_app("app.elf", sd="sd")
    app.frames(frames)
    assert app.frame_count == frames and "shown 0" in app.text + "shown 0"
    assert_frame(app.top, f"goldens/{frames}.png")

def test_fault(pocketgpu_app):
    assert pocketgpu_app("faults.3dsx", raises=False).frames(60) is False
    with pytest.raises(ProgramFault, match="store .faults.c:10."):
        pocketgpu_app("faults.3dsx").frames(60)

def test_no_program(pocketgpu_app):
    with pytest.raises(CaptureError):
        pocketgpu_app("test_it.py")
"""
    )
    assert counts(run("--update-goldens"))["passed"] == 4
    assert counts(run())["passed"] == 4
    (project / "tests" / "goldens" / "1.png").write_bytes((project / "tests" / "goldens" / "5.png").read_bytes())
    done = run()
    assert counts(done) == {"failed": 1, "passed": 3} and "test_it[1]" in done.stdout


def test_frames_in_any_order_are_those_of_a_replay(scene: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[bool] = []
    original = N3DSDriver.begin

    def counted(self: N3DSDriver) -> None:
        starts.append(True)
        original(self)

    monkeypatch.setattr(N3DSDriver, "begin", counted)
    replays = Replays()

    def value(frame: int, screen: str | None = None) -> int:
        return int(replays.picture(scene, "scene.ctf", frame, screen, 1, None).array[7, 9, 0])

    assert [value(frame) for frame in (0, 3, 3, 10, 0, -1)] == [0, 3, 3, 10, 0, 79] and len(starts) == 1
    assert [value(frame) for frame in (5, 79)] == [5, 79] and len(starts) == 2
    assert value(79, "bottom") == 0x20 and len(starts) == 2
    # Only so many pictures are kept; what is gone is rendered again.
    assert [value(frame) for frame in range(80)] == list(range(80)) and len(starts) == 3
    assert value(0) == 0 and len(starts) == 4
    # Another file under the same name, and other choices, are another replay.
    plain_scene(scene, [0x505050])
    os.utime(scene, ns=(1, 1))
    assert value(0) == 0x50 and len(starts) == 5
    assert replays.picture(scene, "x", 0, None, 1, {"texture.filter": "nearest"}).array[0, 0, 0] == 0x50
    assert len(starts) == 6
    replays.close()
    assert value(0) == 0x50 and len(starts) == 7


def test_pictures_are_the_tests_own(scene: Path) -> None:
    replays = Replays()
    first = replays.picture(scene, "scene.ctf", 2, "top", 1, None)
    first.array[:] = 99
    assert (replays.picture(scene, "scene.ctf", 2, "top", 1, None).array == 2).all()
    assert str(first) == "f2.top of scene.ctf" and repr(first) == "<Picture f2.top of scene.ctf, 400x240>"
    assert first.image.size == (400, 240) and first.warnings == ()
    with pytest.raises(NoPictureError, match="top-right"):
        replays.picture(scene, "scene.ctf", 2, "top-right", 1, None)
    for frame in (80, -81):
        with pytest.raises(NoPictureError, match=f"no frame {frame}"):
            replays.picture(scene, "scene.ctf", frame, None, 1, None)


def test_a_switch_has_one_screen(pocketgpu_render: Render, sample_path: Path) -> None:
    picture = pocketgpu_render(sample_path.with_name("sample_switch.mxcap.zip"), frame=-1)
    assert (picture.screen, picture.frame, picture.array.shape) == ("screen", 11, (720, 1280, 3))


@pytest.fixture(scope="module")
def of_the_module(pocketgpu_render: Render, sample_path: Path) -> Picture:
    return pocketgpu_render(sample_path, screen="bottom")


def test_modules_may_share_a_picture(of_the_module: Picture, assert_frame: AssertFrame) -> None:
    (frame,) = pocketgpu.open(of_the_module.capture).render(frames=range(1))
    assert_frame(of_the_module, frame.bottom)
    assert_frame(frame.bottom.image, of_the_module)


def test_a_golden_may_be_a_picture(assert_frame: AssertFrame) -> None:
    one = np.zeros((4, 5, 3), np.uint8)
    two = one + np.uint8(3)
    assert_frame(one, two, tolerance=3)
    with pytest.raises(AssertionError, match="the picture is not another picture: 20 of 20 pixels differ by more"):
        assert_frame(one, two, 2)
    with pytest.raises(pocketgpu.UsageError, match="tolerance"):
        assert_frame(one, two, 256)
    with pytest.raises(pocketgpu.UsageError, match="PNG"):
        assert_frame(one, "golden.bmp")
    with pytest.raises(pocketgpu.UsageError, match="no picture"):
        assert_frame("f0.top.png", one)


def test_goldens_that_cannot_be_read_fail(
    tmp_path: Path, assert_frame: AssertFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pocketgpu.pytest_plugin.updating", lambda config: False)  # also when goldens are being written
    path = tmp_path / "golden.png"
    path.write_text("no picture")
    with pytest.raises(AssertionError, match=r"has no golden to compare with: this is no picture.*golden\.png"):
        assert_frame(np.zeros((4, 5, 3), np.uint8), path)
