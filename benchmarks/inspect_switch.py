"""How long the debugger takes on recordings of the Switch: seeking with a picture, why a pixel has its colour, threads.

For each recording the worst and the median of many calls at random places, each made a second time in the same
process (`--repeat` of them each). By the wall clock, as a user waits. Needs recordings of other programs.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from statistics import median

from common import SHARED, Report, clock, run

from pocketgpu.inspect.inspection import debug
from pocketgpu.inspect.switch.inspection import SwitchInspection

SEEK, WHY = 100.0, 300.0  # milliseconds


def _asked_again(questions: list[Callable[[], object]]) -> list[float]:
    """Milliseconds of each question's second time."""
    found = []
    for ask in questions:
        ask()
        found.append(1e3 * clock(ask))
    return found


def _seeks(one: SwitchInspection, choose: random.Random, count: int) -> list[float]:
    """Seeking to events in any order, and the picture of the target there."""
    places = [event.by_number for event in one.all_events()]

    def question() -> Callable[[], object]:
        place = choose.choice(places)

        def ask() -> object:
            target = one.seek(place).target
            return None if target is None else target.image

        return ask

    # Asked twice in a row a place is already there: all are asked once, then again.
    questions = [question() for _ in range(count)]
    for ask in questions:
        ask()
    return [1e3 * clock(ask) for ask in questions]


def _pixels(one: SwitchInspection, choose: random.Random, count: int) -> list[float]:
    """Pixels of the middle of pictures, where things are drawn, with the text of the answer."""

    def question() -> Callable[[], object]:
        frame = choose.randrange(one.frame_count)
        present = one.log.presents[frame]
        x = choose.randrange(present.width // 3, 2 * present.width // 3)
        y = choose.randrange(present.height // 3, 2 * present.height // 3)

        def ask() -> object:
            answer = one.why(f"f{frame}/px{x},{y}")
            assert answer.proved  # type: ignore[union-attr]
            return str(answer)

        return ask

    return _asked_again([question() for _ in range(count)])


def _threads(one: SwitchInspection, choose: random.Random, count: int) -> list[float]:
    launches = [event for event in one.all_events() if event.kind == "launch"]

    def question() -> Callable[[], object]:
        event = choose.choice(launches)
        block, thread = (
            ",".join(str(choose.randrange(n)) for n in event.facts[size]) for size in ("grid", "block")
        )  # fmt: skip
        return lambda: str(one.why(f"{event.by_number}/b{block}/t{thread}"))

    return _asked_again([question() for _ in range(count)]) if launches else []


def measure(report: Report, arguments: argparse.Namespace) -> None:
    """All recordings, and the worst of them."""
    worst = {"seek": 0.0, "why": 0.0}
    for path in sorted((SHARED / "captures" / "switch").glob("*.mxcap.zip")):
        one = debug(str(path))
        assert isinstance(one, SwitchInspection)
        name, choose = path.name.removesuffix(".mxcap.zip"), random.Random(path.name)
        for what, measured in (("seek", _seeks), ("why", _pixels), ("thread", _threads)):
            found = measured(one, choose, arguments.repeat)
            if found:
                report.add(
                    f"{what}, {name}", median(found), "ms", best=min(found), more=False, note=f"worst {max(found):.0f}"
                )
                worst[what] = max(worst.get(what, 0.0), max(found))
    report.add("worst seek with its picture", worst["seek"], "ms", target=SEEK, more=False)
    report.add("worst why of a pixel", worst["why"], "ms", target=WHY, more=False)


if __name__ == "__main__":
    run("inspect_switch", measure, repeat=12)
