"""`pocketgpu view` with a real browser: command to page, click to answer, event to picture, scrolling, live programs.

Each recording is opened by the command. The browser runs already, with an empty tab, whose cache has nothing of the
page. Compiled code and indexes are in a cache of the benchmark, which earlier runs fill (`--cache`). All times end in
the page, with a painted picture (`page_probe.py`), and count on the wall: server, browser and page work at the same
time, so a busy machine shows. Scrolling counts in processor time of the page's main thread.

Needs Chromium, playwright and the built page. All recordings of other programs take some fifteen minutes; `--only
'ex0* proctex*'` takes those whose names match, `--only none` none; `--skip-scrolling` and `--skip-live` leave out the
other parts; `--trace` lists what the page asked, `--raw FILE` keeps what was found, and goes on where an earlier run
with that file was interrupted. Without recordings the samples are measured.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from time import time
from typing import Any
from urllib.parse import urlsplit

from common import ROOT, SHARED, Report, run  # puts `tests` on the path
from page_probe import CHOOSE, GO, PROBE, SCROLL, STEPS_OF_OPENING, USABLE, WATCH_CLICK, MainThread
from viewer_live import measure_live

from browser import browsing  # isort: skip
from browser.fake_server import MANY, Fake  # isort: skip
from browser.fake_stream import COUNT  # isort: skip

OPEN, EVENT, CLICK, WORST_CLICK = 2500.0, 100.0, {"3DS": 150.0, "Switch": 300.0}, 600.0
"""Milliseconds. Clicks: the median of recordings, by console; and any one."""
STEP, WORST_STEP, ROWS = 8.0, 50.0, 200
"""Milliseconds of the main thread a step of scrolling, the median and any one; rows in the document."""
ENDINGS = (".ctf.xz", ".gx.json.xz", ".mxcap.zip")
STEPS = 30
"""Of each kind: some rows, a screen of rows, anywhere."""
PATIENCE = 30.0
ROW_HEIGHT = 20
TABLES = (
    (f"tree of {MANY:,} events", "pg-events", "", "f1/d0"),
    (f"stream of {COUNT:,} words", "pg-words", "Words", "f1/d7"),
)
"""What is scrolled: its panel, the tab that brings it to the front, an address of the made-up capture."""


@dataclass
class Found:
    """Milliseconds of one recording. first: the first click after the page is there. clicks: later ones."""

    name: str
    console: str = ""
    opens: list[float] = field(default_factory=list)
    first: float = 0.0
    clicks: list[float] = field(default_factory=list)
    events: list[float] = field(default_factory=list)

    def line(self) -> str:
        """At most 80 columns."""
        name = self.name if len(self.name) < 30 else self.name[:28] + "~"
        clicks, events = self.clicks or [0.0], self.events or [0.0]
        return (
            f"{name:29} {min(self.opens):6.0f} {self.first:6.0f} {statistics.median(clicks):6.0f} {max(clicks):6.0f}"
            f" {statistics.median(events):6.0f} {max(events):6.0f}"
        )


HEAD = f"{'milliseconds':29} {'open':>6} {'first':>6} {'click':>6} {'worst':>6} {'event':>6} {'worst':>6}"


@contextlib.contextmanager
def viewing(path: str, cache: Path) -> Iterator[str]:
    """The link of `pocketgpu view`, which is ended as users do: then it keeps what it has found out."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "POCKETGPU_CACHE": str(cache)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as notes:
        command = [sys.executable, "-m", "pocketgpu", "view", path, "--no-browser", "--notes", notes]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            try:
                assert process.stdout is not None
                words = (word for line in process.stdout for word in line.split())
                yield next(word for word in words if word.startswith("http"))
            finally:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()


class Visit:
    """One page of a running viewer."""

    def __init__(self, browser: Any) -> None:
        self.context = browser.fresh(viewport={"width": 1440, "height": 900})
        self.context.add_init_script(PROBE)
        self.page = self.context.new_page()
        self.page.set_default_timeout(browsing.LIMIT)
        self._base = ""

    def open(self, link: str) -> None:
        self._base = "{0.scheme}://{0.netloc}/api/".format(urlsplit(link))
        self.page.goto(link, wait_until="commit")

    def ask(self, path: str, **values: Any) -> Any:
        """An answer of the server, for the benchmark itself."""
        return self.context.request.get(self._base + path, params=values).json()

    def calm(self) -> None:
        self.page.evaluate("() => probe.calm()")

    def go(self, place: str) -> float:
        """Milliseconds to the picture of a place."""
        taken = float(self.page.evaluate(GO, place))
        self.calm()
        return taken

    def click(self, x: float, y: float) -> float:
        """Milliseconds from a click at a point of the window to its answer; -1: there is none."""
        mouse = self.page.mouse
        mouse.move(x, y)
        self.page.evaluate(WATCH_CLICK)
        mouse.down()
        mouse.up()
        taken = float(self.page.evaluate("() => probe.click"))
        self.calm()
        return taken

    def clicks(self, count: int, seed: int) -> list[float]:
        points = self.page.evaluate(CHOOSE, {"count": count, "seed": seed})
        return [taken for x, y in points if (taken := self.click(x, y)) >= 0]

    def requests(self) -> list[str]:
        """What was asked since the last click or selection: begin, end and how it ended, for people."""
        found = self.page.evaluate("() => probe.requests")
        origin = min((one["begin"] for one in found), default=0.0)
        return [
            f"{one['begin'] - origin:7.1f} to {one['end'] - origin:7.1f}  {one['how']:10} "
            + one["path"].partition("&tab=")[0]
            for one in found
        ]


def places(visit: Visit, frames: int, count: int) -> tuple[list[str], list[str]]:
    """Places for clicks: the last frame, and its last draw. Places of events: some of that frame, and back again."""
    last = f"f{frames - 1}"
    rows = visit.ask("events", frame=frames - 1)["rows"]
    named = [f"{last}/e{number}" if draw is None else f"{last}/d{draw}" for number, draw, *_ in rows]
    draws = [name for name in named if "/d" in name]
    spread = sorted({n * (len(named) - 1) // max(1, count - 1) for n in range(count)})
    # The least in steps forward, which are the easiest for a machine.
    order = sorted(spread, key=lambda n: (n * 7919) % 31)
    return [last, *draws[-1:]], [named[n] for n in order] if named else []


def visited(browser: Any, path: Path, cache: Path, arguments: argparse.Namespace) -> Found:
    found, seed = Found(path.name), zlib.crc32(path.name.encode())
    for turn in range(arguments.opens):
        # The tab is there before the command is, as it is for users whose browser runs.
        visit, begin = Visit(browser), time()
        with viewing(str(path), cache) as link:
            printed = time()
            visit.open(link)
            found.opens.append(float(visit.page.evaluate(USABLE, "f0")) - 1e3 * begin)
            if arguments.trace:
                steps = visit.page.evaluate(STEPS_OF_OPENING)
                shown = {"link": 1e3 * printed, **steps, "usable": found.opens[-1] + 1e3 * begin}
                tell(", ".join(f"{what} {at - 1e3 * begin:.0f}" for what, at in shown.items()), visit)
            visit.calm()
            if turn == arguments.opens - 1:
                measure_answers(visit, found, seed, arguments)
            visit.context.close()
    return found


def measure_answers(visit: Visit, found: Found, seed: int, arguments: argparse.Namespace) -> None:
    capture = visit.ask("capture")
    found.console = capture["console"]
    clicked, events = places(visit, capture["frames"], arguments.events)
    for number, place in enumerate(clicked):
        visit.go(place)
        taken = visit.clicks(arguments.clicks + (number == 0), seed)
        if arguments.trace:
            tell(f"the last click, {taken[-1:]}", visit)
        if number == 0 and taken:
            found.first = taken.pop(0)
        found.clicks += taken
    visit.go("f0")
    for place in events:
        taken = visit.go(place)
        if arguments.trace:
            tell(f"{place}, {taken:.0f} ms", visit)
        found.events.append(taken)


def tell(what: str, visit: Visit) -> None:
    print(f"  {what}", *visit.requests(), sep="\n    ", file=sys.stderr)


def recordings(only: str) -> list[Path]:
    """The recordings whose names match, or the samples where there are none."""
    folders = [SHARED / "captures" / console for console in ("3ds", "switch")]
    found = [path for one in folders for path in sorted(one.glob("*")) if path.name.endswith(ENDINGS)]
    found = found or [Path(browsing.sample(console)) for console in browsing.SAMPLES]
    return [path for path in found if any(fnmatch(path.name, one) for one in (only or "*").split())]


def kept(file: str) -> list[Found]:
    """What an earlier run has found, whose file is `--raw`; the run is continued."""
    if not file or not Path(file).exists():
        return []
    return [Found(**one) for one in json.loads(Path(file).read_text())]


def scrolled(report: Report, page: Any, what: str, panel: str) -> None:
    """Main-thread work of each step of scrolling, of three kinds."""
    thread, most, kinds = MainThread(page), 0, {"some rows": 3, "a screen": 35, "anywhere": 0}
    taken: dict[str, list[float]] = {}
    for kind, by in kinds.items():
        for step in range(STEPS + 2):
            to = {"panel": panel, "top": step * by * ROW_HEIGHT, "part": None if by else step * 7919 % 10_000 / 10_000}
            begin = thread.milliseconds
            most = max(most, page.evaluate(SCROLL, to))
            if step > 1:
                taken.setdefault(kind, []).append(thread.milliseconds - begin)
    every = [one for some in taken.values() for one in some]
    of_kinds = ", ".join(f"{kind} {statistics.median(some):.1f}" for kind, some in taken.items())
    report.add(f"scroll {what}", statistics.median(every), "ms", target=STEP, more=False, note=of_kinds)
    report.add("  worst step", max(every), "ms", target=WORST_STEP, more=False)
    report.add("  rows in the document", most, "", target=ROWS, more=False)


def measure_scrolling(report: Report, browser: Any) -> None:
    server = Fake(browsing.PAGE)
    try:
        for what, panel, tab, place in TABLES:
            with browsing.watching(browser) as watched:
                page = watched.open(f"{server.url}#{place}")
                if tab:
                    page.get_by_role("tab", name=tab).click()
                page.locator(f"{panel} .row").first.wait_for()
                page.wait_for_timeout(500)
                scrolled(report, page, what, panel)
    finally:
        server.ended.set()
        server.shutdown()
        server.server_close()


def summarise(report: Report, several: list[Found]) -> None:
    """Figures over recordings."""

    def add(what: str, values: list[float], target: float | None, note: str = "") -> None:
        if values:
            report.add(what, statistics.median(values), "ms", best=min(values), target=target, more=False, note=note)

    def worst(what: str, pairs: list[tuple[float, str]], target: float | None) -> None:
        if pairs:
            value, name = max(pairs)
            report.add(what, value, "ms", target=target, more=False, note=name)

    for console, limit in CLICK.items():
        some = [one for one in several if one.console == console]
        add(f"open, {console}", [min(one.opens) for one in some], OPEN)
        worst("  worst", [(min(one.opens), one.name) for one in some], OPEN)
        add(f"first click, {console}", [one.first for one in some if one.first], None)
        worst("  worst", [(one.first, one.name) for one in some], WORST_CLICK)
        add(f"later clicks, {console}", [statistics.median(one.clicks) for one in some if one.clicks], limit)
        worst("  worst", [(value, one.name) for one in some for value in one.clicks], WORST_CLICK)
        add(f"event to picture, {console}", [statistics.median(one.events) for one in some if one.events], EVENT)
        worst("  worst", [(value, one.name) for one in some for value in one.events], None)


def measure(report: Report, arguments: argparse.Namespace) -> None:
    if browsing.missing():
        report.notes.append(f"nothing measured: {browsing.missing()}")
        return
    default = Path(os.environ.get("POCKETGPU_CACHE") or Path(tempfile.gettempdir()) / "pocketgpu-bench")
    cache = Path(arguments.cache) if arguments.cache else default / "viewer"
    with browsing.chromium(browsing.USUAL) as browser:
        if not arguments.skip_scrolling:
            measure_scrolling(report, browser)
        if not arguments.skip_live:
            measure_live(report, lambda: Visit(browser), viewing, cache)
        print(HEAD, file=sys.stderr, flush=True)
        several = kept(arguments.raw)
        known = [one.name for one in several]
        for path in [] if arguments.only == "none" else recordings(arguments.only):
            if path.name in known:
                continue
            several.append(visited(browser, path, cache, arguments))
            print(several[-1].line(), file=sys.stderr, flush=True)
            if arguments.raw:
                Path(arguments.raw).write_text(json.dumps([vars(one) for one in several], indent=1))
    summarise(report, several)
    report.notes += [HEAD, *(one.line() for one in several)] if several else []


if __name__ == "__main__":
    run(
        "viewer", measure, only="", clicks=3, events=7, opens=2, cache="", raw="", trace=False,
        **{"skip-scrolling": False, "skip-live": False},
    )
