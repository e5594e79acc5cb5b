"""Passes of a frame, made event by event: where one ends and the next begins."""

from __future__ import annotations

import pytest

from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.switch.passes import Passes, TargetKey

A, B, BOTH = TargetKey("a", (1,)), TargetKey("b", (2,)), TargetKey("a and b", (1, 2))
KEYS = {"a": A, "b": B, "ab": BOTH, "": None}


def passes(story: str) -> list[tuple[str, int]]:
    """(target, number of events) of the passes of a story such as "clear:a draw:ab load:"."""
    made = Passes(0)
    for number, word in enumerate(story.split()):
        kind, _, key = word.partition(":")
        event = Event(0, number, kind, word)
        made.add(event, KEYS[key])
        assert event.pass_ == len(made.found) - 1 and made.found[-1].events[-1] is event
    assert [one.number for one in made.found] == list(range(len(made.found)))
    return [(one.target, len(one.events)) for one in made.found]


@pytest.mark.parametrize(
    ("story", "found"),
    [
        ("load: load:", [("", 2)]),
        ("draw:a draw:a load: draw:a", [("a", 4)]),
        ("draw:a draw:b draw:a", [("a", 1), ("b", 1), ("a", 1)]),
        ("load: draw:a load: draw:b load:", [("a", 3), ("b", 2)]),
        # A clear goes to the pass whose targets have what is cleared, and does not change what the pass draws to.
        ("clear:a draw:a", [("a", 2)]),
        ("clear:a draw:b", [("", 1), ("b", 1)]),
        ("draw:ab clear:a draw:ab", [("a and b", 3)]),
        ("draw:ab clear:b load: draw:ab draw:b", [("a and b", 4), ("b", 1)]),
        ("draw:a clear:ab draw:ab", [("a", 1), ("a and b", 2)]),
        ("draw:a clear:b draw:b", [("a", 1), ("b", 2)]),
    ],
)
def test_where_passes_begin(story: str, found: list[tuple[str, int]]) -> None:
    assert passes(story) == found
