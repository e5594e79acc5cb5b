"""The report of a sweep in a browser, opened from a file: a thousand rows, filters, slider, plots, hostile texts."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser.browsing import Browser, missing, watching
from support.house import ROOT
from support.sweeps import Made, event, finding, painted

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())
pytest.importorskip("jinja2")
pytest.importorskip("plotly")
ROWS = 1000
HOSTILE = "<img src=x onerror=alert(1)>'\"</script><script>alert(2)</script>"
MOST_ELEMENTS = 900
"""Elements of a page that was opened, with any number of rows."""
MOST_BYTES = 500_000
"""Of all scripts and data that it reads before something is asked for."""


def made(folder: Path) -> Path:
    """The report of a sweep with a baseline. Captures 0, 10, 20, ... have another picture, 7 crashed, 3 and 4 have
    names that want to be more than text, 40 is slower, 50 has a new finding."""
    from pocketgpu.sweeps.baseline.compare import compare
    from pocketgpu.sweeps.report.report import write_report

    random = np.random.default_rng(0)
    old, new = Made(folder / "old", version="0.1"), Made(folder / "new")
    for index in range(ROWS):
        name = {3: f"c/{HOSTILE}.pgc", 4: "c/new\nline\x1b[31m.pgc"}.get(index, f"c/scene{index:04}.pgc")
        console, screen = ("Switch", "screen") if index % 4 == 0 else ("3DS", "top")
        pictures = {f"f{frame}/{screen}": painted(index % 60 * 3 + frame) for frame in range(3)}
        changed = dict(pictures)
        if index % 10 == 0:
            changed[f"f1/{screen}"] = pictures[f"f1/{screen}"].copy()
            changed[f"f1/{screen}"][5:9, 10:20] ^= 0x40
        frames = [float(one) for one in np.exp(random.normal(0, 1)) * np.exp(random.normal(0, 0.01, 3))]
        now = [one * (4 if index == 40 else 1.01) for one in frames]
        rules = ["texture-size", "depth-clear"][: index % 3]
        notes = tuple(finding(rule, f"of {index}", "f1/d2", severity="warning") for rule in rules)
        row: dict[str, Any] = {"console": console, "features": ("fog", HOSTILE)[: index % 3]}
        old.add(name, pictures, frames, findings=notes, **row)
        more = (finding("new-rule", HOSTILE, HOSTILE),) if index == 50 else ()
        if index == 7:
            new.add(name, state="crashed", message=HOSTILE, console=None)
            continue
        events = (event(HOSTILE, HOSTILE),) if index == 3 else ()
        new.add(name, changed, now, findings=notes + more, events=events, **row)
    after, before = new.done(), old.done()
    return write_report(folder / "report", after, compare(after, before))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    yield made(tmp_path_factory.mktemp("sweep"))


def opened(page: Any, report: Path, hash: str = "") -> None:
    page.goto("about:blank")
    page.goto(f"{report.as_uri()}{hash}")
    page.locator("html[data-ready]").wait_for(state="attached")
    page.locator("#details h2").wait_for()


def names(page: Any) -> list[str]:
    return [str(one) for one in page.locator("#scroll .row .name b").all_inner_texts()]


def test_a_thousand_rows_open_with_little_work(browser: Browser, report: Path) -> None:
    with watching(browser) as watched:
        watched.spoil()
        page = watched.page
        read: list[str] = []
        page.on("request", lambda request: read.append(request.url))
        opened(page, report)
        assert page.locator("#scroll").get_attribute("aria-rowcount") == str(ROWS)
        assert page.evaluate("document.getElementsByTagName('*').length") < MOST_ELEMENTS
        places = [report.parent / one.partition("/report/")[2] for one in read if "/report/" in one]
        texts = [path for path in places if path.suffix in (".js", ".html", ".css")]
        assert sum(path.stat().st_size for path in texts) < MOST_BYTES and not any("plotly" in one for one in read)
        assert len([path for path in places if path.parts[-3] == "thumbnails"]) < 60
        # Rows come when they are needed.
        page.locator("#scroll").focus()
        page.keyboard.press("End")
        assert names(page)[-1] == f"scene{ROWS - 1:04}.pgc" and len(names(page)) < 40
        page.get_by_role("heading", name=f"c/scene{ROWS - 1:04}.pgc").wait_for()
        assert page.evaluate("document.getElementsByTagName('*').length") < MOST_ELEMENTS
        page.keyboard.press("ArrowUp")
        page.get_by_role("heading", name=f"c/scene{ROWS - 2:04}.pgc").wait_for()
        assert page.locator(".row[aria-selected=true] .name b").inner_text() == f"scene{ROWS - 2:04}.pgc"


def test_filters_order_and_rules(browser: Browser, report: Path) -> None:
    with watching(browser) as watched:
        watched.spoil()
        page = watched.page
        opened(page, report)
        count = page.locator("#count")
        page.get_by_role("button", name="crashed 1").click()
        assert count.inner_text() == f"1 of {ROWS:,} captures" and names(page) == ["scene0007.pgc"]
        page.get_by_role("button", name="Reset").click()
        page.get_by_role("button", name="pictures 100").click()
        assert count.inner_text() == f"100 of {ROWS:,} captures"
        page.locator("#console").select_option("Switch")
        assert count.inner_text() == f"50 of {ROWS:,} captures"
        page.keyboard.press("Escape")
        page.keyboard.press("/")
        page.keyboard.type("SCENE098 texture")
        assert names(page) == ["scene0980.pgc"]  # 980 % 3 = 2: it has the rule
        page.get_by_role("button", name="Reset").click()
        page.wait_for_timeout(50)
        page.locator("#rule").select_option("new-rule")
        assert names(page) == ["scene0050.pgc"]
        assert page.locator("#scroll .c-notes.wrong").count() == 1  # its new finding is an error
        page.get_by_role("button", name="Reset").click()
        page.locator("#head").get_by_role("button", name="Time").click()
        assert names(page)[0] == "scene0040.pgc" and page.locator(".row .slower").first.inner_text().startswith("3.9")
        page.get_by_role("tab", name="Findings by rule").click()
        table = page.locator("table.rules").first  # the crashed one has no findings
        cells = [row.split("\t")[1:4] for row in table.locator("tbody tr").all_inner_texts()]
        assert [[cell.strip() for cell in row] for row in cells] == [
            ["new-rule", "1", "1"], ["texture-size", "665", "665"], ["depth-clear", "333", "333"],
        ]  # fmt: skip
        table.get_by_role("button", name="depth-clear").click()
        assert count.inner_text() == f"333 of {ROWS:,} captures"
        page.locator("#text").fill("no such capture")
        assert "No capture passes" in page.locator("#scroll").inner_text()


def test_the_slider_and_pixels(browser: Browser, report: Path) -> None:
    with watching(browser) as watched:
        watched.spoil()
        page = watched.page
        opened(page, report, "#name=c%2Fscene0020.pgc")
        page.locator(".bar .changed").filter(has_text="f1/screen 40 of 960 pixels differ, by 64 at most").wait_for()
        before, after, difference = (page.locator(f".canvas img[alt='f1/screen, {one}']")
                                     for one in ("baseline", "now", "difference"))  # fmt: skip
        if not before.count():
            before, after = page.locator(".canvas img").nth(0), page.locator(".canvas img").nth(1)
        assert before.is_visible() and after.is_visible() and not difference.is_visible()
        clip = "one => one.style.clipPath"
        assert after.evaluate(clip) == "inset(0px 0px 0px 50%)"
        page.get_by_label("Edge between before and after").fill("25")
        assert after.evaluate(clip) == "inset(0px 0px 0px 25%)"
        box = page.locator(".canvas").bounding_box()
        assert box is not None
        page.mouse.move(box["x"] + box["width"] / 4, box["y"] + 20)
        page.mouse.down()
        page.mouse.move(box["x"] + box["width"] * 0.75, box["y"] + 20, steps=4)
        page.mouse.up()
        assert abs(float(after.evaluate(clip).split()[-1].rstrip("%)")) - 75) < 1
        assert "why" not in page.locator(".commands").inner_text()  # a drag chooses no pixel
        page.keyboard.press("d")
        assert difference.is_visible() and not before.is_visible()
        assert difference.evaluate("one => one.naturalWidth") == 40
        page.keyboard.press("b")
        assert before.is_visible() and not after.is_visible()
        page.mouse.click(box["x"] + box["width"] * 8.5 / 40, box["y"] + box["height"] * 9.5 / 24)
        assert "pocketgpu why c/scene0020.pgc f1/screen/px8,9" in page.locator(".commands").inner_text()
        page.locator(".stage").focus()
        page.keyboard.press("Shift+ArrowRight")
        page.keyboard.press("ArrowUp")
        assert "pocketgpu view c/scene0020.pgc f1/screen/px18,8" in page.locator(".commands").inner_text()
        address = page.evaluate("location.hash")
        assert "at=f1%2Fscreen%2Fpx18%2C8" in address
        page.keyboard.press(".")
        assert "at=f2%2Fscreen" in page.evaluate("location.hash")
        opened(page, report, address)  # the address is the selection
        assert "px18,8" in page.locator(".commands").inner_text()
        page.get_by_role("button", name="Commands for f1/d2").first.click()
        assert "pocketgpu why c/scene0020.pgc f1/d2" in page.locator("tr.unfolded").inner_text()


def test_plots_come_later_and_select_rows(browser: Browser, report: Path) -> None:
    with watching(browser, color_scheme="dark") as watched:
        watched.spoil()
        page = watched.page
        opened(page, report)
        page.get_by_role("tab", name="Plots").click()
        page.locator("#plots[data-drawn='5']").wait_for()
        titles = page.locator("#plots h2").all_inner_texts()
        assert titles == ["Slowest captures", "Time by capture", "Time now, and of the baseline", "Time by version",
                          "Features that the corpus uses"]  # fmt: skip
        texts = page.locator("#plots .plot").last.locator(".ytick text")
        assert sorted(texts.all_text_contents()) == sorted([HOSTILE[:60], "fog"]) or HOSTILE[-57:] in "".join(
            texts.all_text_contents()
        )
        # Only what this page draws itself: nothing of a name became a link or a picture.
        assert page.locator("#plots a[href], #plots img, #plots image").count() == 0
        page.locator("#plots .bars path").first.click(force=True)
        page.locator("#rows").wait_for()
        assert page.locator("#details h2").first.inner_text()


def test_hostile_names_are_text(browser: Browser, report: Path) -> None:
    with watching(browser) as watched:
        watched.spoil()
        page = watched.page
        said: list[str] = []
        page.on("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
        opened(page, report)
        for name in (f"c/{HOSTILE}.pgc", "c/new\nline\x1b[31m.pgc", "c/scene0007.pgc", "c/scene0050.pgc"):
            page.evaluate("name => { location.hash = new URLSearchParams({name}).toString() }", name)
            shown = "".join(one if one.isprintable() else "\ufffd" for one in name)
            page.locator("#details h2", has_text=shown).wait_for()
            assert page.locator("#details h2").first.inner_text() == shown
            assert page.locator("img[onerror], #details script, #window script").count() == 0
        assert HOSTILE in page.locator("#details").inner_text()
        page.get_by_role("tab", name="Findings by rule").click()
        assert HOSTILE in page.locator("#rules").inner_text()
        page.get_by_role("tab", name="About").click()
        assert said == []


@pytest.mark.parametrize(
    ("paths", "folders"),
    [
        (["/a/b/one.pgc", "/a/bc/two.pgc"], ["b/", "bc/"]), (["/a/one.pgc", "b/two.pgc"], ["/a/", "b/"]),
        (["a/b/one.pgc", "a/two.pgc"], ["b/", ""]), (["one.pgc", "two.pgc"], ["", ""]),
        (["/one.pgc", "/two.pgc"], ["", ""]),
    ],
)  # fmt: skip
def test_the_folder_that_all_are_in_is_not_repeated(
    browser: Browser, tmp_path: Path, paths: list[str], folders: list[str]
) -> None:
    from pocketgpu.sweeps.report.report import write_report

    made = Made(tmp_path / "a")
    for path in paths:
        made.add(path, {"f0/top": painted(1)})
    page_path = write_report(tmp_path / "report", made.done())
    with watching(browser) as watched:
        watched.spoil()
        page = watched.page
        opened(page, page_path)
        assert names(page) == ["one.pgc", "two.pgc"]
        assert page.locator("#scroll .row .folder").all_inner_texts() == folders
        page.locator("#details h2", has_text=paths[0]).wait_for()  # there it is whole


VIEWER = ROOT / "viewer"
COMPILER = VIEWER / "node_modules" / ".bin" / "tsc"


@pytest.mark.skipif(not COMPILER.exists(), reason="the packages of the viewer are not installed")
def test_the_scripts_have_the_types_that_are_written_down(tmp_path: Path) -> None:
    def checked(project: Path) -> str:
        done = subprocess.run([COMPILER, "--noEmit", "-p", project], cwd=VIEWER, capture_output=True, text=True)
        return done.stdout if done.returncode else ""

    assert checked(VIEWER / "tsconfig.report.json") == ""
    # And what has another type is found.
    shutil.copy(VIEWER / "report.d.ts", tmp_path)
    (tmp_path / "a.js").write_text("report.counted(report.rows.capture[0], 'row');\n")
    base = {"extends": str(VIEWER / "tsconfig.report.json"), "include": ["report.d.ts", "a.js"]}
    text = (tmp_path / "report.d.ts").read_text() + "\ndeclare const report: Report;\n"
    (tmp_path / "report.d.ts").write_text(text)
    (tmp_path / "tsconfig.json").write_text(json.dumps(base))
    assert "Argument of type 'string' is not assignable to parameter of type 'number'" in checked(tmp_path)


@pytest.mark.parametrize("width", [420, 800])
def test_narrow_windows(browser: Browser, report: Path, width: int) -> None:
    with watching(browser, viewport={"width": width, "height": 800}) as watched:
        watched.spoil()
        page = watched.page
        opened(page, report, "#name=c%2Fscene0020.pgc")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for place in ("#scroll", ".stage", "#text"):
            page.locator(place).scroll_into_view_if_needed()
            box = page.locator(place).bounding_box()
            assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= width + 1
        # Every control has a name.
        unnamed = page.evaluate("""() => [
            ...document.querySelectorAll("button, input, select, [role=grid], [role=tabpanel]")
        ].filter(one => one.checkVisibility() && !one.textContent.trim() && !one.getAttribute("aria-label")
            && !one.labels?.length && !one.getAttribute("aria-labelledby")).map(one => one.outerHTML)""")
        assert json.dumps(unnamed) == "[]"
