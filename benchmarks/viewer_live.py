"""The part of the benchmark of the viewer about programs that run: pictures in a second, as the page draws them.

The program, the server and Chromium share the processors. A picture counts when it is in the canvas; those that the
page has no time for are left out by the server, while the program keeps its pace as far as it can.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

from common import ROOT, Report
from page_probe import WATCH_PICTURES

GUESTS: Final = ROOT / "tests/guests"
LARGE, SMALL = 30.0, 55.0
"""Pictures in a second, at least: of 1280x720, and of the small programs, which have nearly 60."""
SECONDS = 5
WARM = 3.0
"""Seconds that a program has run before: code is compiled meanwhile."""
PROGRAMS: Final = (
    ("live 1280x720, Switch, every pixel shown", "switch/large.nro", "1", LARGE),
    ("live 1280x720, Switch, fitted to its panel", "switch/large.nro", "0", LARGE),
    ("live, 3DS, both screens", "n3ds/scene.elf", "1", SMALL),
)
"""What it is called; a program with another picture in each frame; how large the page shows it (0: as it fits); and
pictures in a second."""

Viewing = Callable[[str, Path], AbstractContextManager[str]]


def measure_live(report: Report, visit: Callable[[], Any], viewing: Viewing, cache: Path) -> None:
    """Run each program with a page. visit: makes a page. viewing: starts the command, and gives its link."""
    for what, program, size, target in PROGRAMS:
        one = visit()
        try:
            with viewing(str(GUESTS / program), cache) as link:
                one.page.goto(link)
                one.page.locator("pg-live .run").wait_for()
                one.page.locator("pg-live select").select_option(size)
                one.page.wait_for_timeout(1e3 * WARM)
                found = one.page.evaluate(WATCH_PICTURES, SECONDS)
        finally:
            one.context.close()
        note = f"{found['frames']:.1f} frames run, {found['size']} sent"
        report.add(what, found["pictures"], "1/s", target=target, note=note)


__all__ = ["measure_live"]
