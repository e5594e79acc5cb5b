"""The report of a run of pytest, and of `render --expect`, in a browser: the page of sweeps, with the same slider."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser.browsing import Browser, missing, sample, watching
from PIL import Image
from support import pages
from support.house import ROOT
from support.small_projects import WITHOUT

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
pytest.importorskip("jinja2")
pytest.importorskip("plotly")
SIZES = {"3DS": ("f0.top", (400, 240)), "Switch": ("f0.screen", None)}
TESTS = """
import pytest

@pytest.mark.parametrize("name", ["changed", "<img src=x onerror=alert(1)>"])
def test_picture(pocketgpu_render, assert_frame, name):
    assert_frame(pocketgpu_render({capture!r}), "goldens/{golden}.png")

def test_without_golden(pocketgpu_render, assert_frame):
    assert_frame(pocketgpu_render({capture!r}, frame=1), "goldens/new.png")
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    env.pop("PYTEST_ADDOPTS", None)
    return subprocess.run([sys.executable, "-m", *words], cwd=folder, env=env, capture_output=True, text=True)


def golden(folder: Path, console: str) -> str:
    """Goldens of the first frame, one of which is not right in 6 x 5 pixels; returns its name."""
    name = SIZES[console][0]
    code, _, errors = pages.run(f"render {sample(console)} --frames 0-0 --out {folder / 'goldens'}")
    assert code == 0, errors
    path = folder / "goldens" / f"{name}.png"
    with Image.open(path) as image:
        pixels = np.array(image.convert("RGB"))
    pixels[20:25, 30:36] ^= 0x40
    Image.fromarray(pixels).save(path)
    return name


def opened(page: Any, folder: Path) -> None:
    page.goto((folder / "index.html").as_uri())
    page.locator("html[data-ready]").wait_for(state="attached")
    page.locator("#details h2").wait_for()


def check_slider(page: Any, console: str, place: str) -> None:
    """The picture that differs has a slider, a difference, and pixels with commands."""
    page.locator(".bar .changed", has_text=f"{place} 30 of ").wait_for()
    assert "by 64 at most" in page.locator(".bar .changed").inner_text()
    images = page.locator(".canvas img")
    assert images.count() == 3
    page.get_by_label("Edge between before and after").fill("25")
    assert "25%" in images.nth(1).evaluate("one => one.style.clipPath")
    page.keyboard.press("d")
    assert images.nth(2).is_visible() and not images.nth(0).is_visible()
    wide, high = images.nth(2).evaluate("one => [one.naturalWidth, one.naturalHeight]")
    assert SIZES[console][1] in (None, (wide, high))
    page.locator(".stage").focus()
    page.keyboard.press("ArrowRight")
    x, y = wide // 2 + 1, high // 2
    assert f"pocketgpu why {sample(console)} {place}/px{x},{y}" in page.locator(".commands").inner_text()


@pytest.mark.parametrize("console", SIZES)
def test_pictures_that_are_not_as_expected(browser: Browser, tmp_path: Path, console: str) -> None:
    name = golden(tmp_path, console)
    done = run(tmp_path, "pocketgpu", "render", sample(console), "--expect", "goldens", "--report", "report")
    assert done.returncode == 1, done.stderr
    with watching(browser) as watched:
        watched.spoil()
        page = watched.page
        opened(page, tmp_path / "report")
        assert page.locator("#count").inner_text() == "1 picture"
        assert "copy what is in candidates/" in page.locator(".hint").inner_text()
        check_slider(page, console, name.replace(".", "/"))
    # What the page says to copy makes the next run right, which then leaves no page.
    for path in (tmp_path / "report" / "candidates").rglob("*.png"):
        (tmp_path / "goldens" / path.relative_to(tmp_path / "report" / "candidates")).write_bytes(path.read_bytes())
    done = run(tmp_path, "pocketgpu", "render", sample(console), "--expect", "goldens", "--report", "report")
    assert done.returncode == 0 and not (tmp_path / "report" / "index.html").exists(), done.stderr


@pytest.mark.parametrize("console", SIZES)
def test_a_run_of_pytest(browser: Browser, tmp_path: Path, console: str) -> None:
    name = golden(tmp_path, console)
    (tmp_path / "test_pictures.py").write_text(TESTS.format(capture=sample(console), golden=name))
    words = ("-q", "-p", "no:cacheprovider", *WITHOUT, "-c", os.devnull, "--rootdir", str(tmp_path))
    done = run(tmp_path, "pytest", *words)
    assert done.returncode == 1 and "report: pocketgpu-report/index.html" in done.stdout, done.stdout + done.stderr
    with watching(browser) as watched:
        watched.spoil()
        page = watched.page
        said: list[str] = []
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        opened(page, tmp_path / "pocketgpu-report")
        assert page.locator("#count").inner_text() == "3 tests"
        assert "pytest --update-goldens" in page.locator(".hint").inner_text()
        page.get_by_role("searchbox").fill("[changed]")
        page.locator("#scroll .row").first.click()
        check_slider(page, console, name.replace(".", "/"))
        page.get_by_role("button", name="Reset").click()
        page.wait_for_timeout(50)
        page.get_by_role("searchbox").fill("onerror")
        assert page.locator("#count").inner_text() == "1 of 3 tests"
        page.locator("#scroll .row").first.click()
        page.locator("#details h2", has_text="<img src=x onerror=alert(1)>").wait_for()
        page.get_by_role("searchbox").fill("without")
        page.locator("#scroll .row").first.click()
        page.locator("#details h2", has_text="test_without_golden").wait_for()
        assert page.locator(".canvas img").count() == 1  # there is nothing to compare with
        assert said == [] and page.locator("img[onerror]").count() == 0
