"""What a script means, frame by frame: held against a slow model."""

from __future__ import annotations

import random
from time import perf_counter

from pocketgpu.guests.input.controls import Control, Controls, Span, Value
from pocketgpu.guests.input.player import Actions, Player
from pocketgpu.guests.input.script import KEYS, Statement, parse

CONTROLS = Controls(
    "a console",
    ("A", "B", "UP"),
    (
        Control("touch", Span.HELD, (Value("x", 0, 319, whole=True), Value("y", 0, 239, whole=True))),
        Control("slider", Span.LASTING, (Value("position", 0, 1),)),
        Control("home", Span.ONCE),
    ),
)


def slow(statements: list[Statement], frame: int) -> Actions:
    """Every statement is looked at in every frame."""
    actions = Actions()
    places = []
    for one in statements:
        inside = one.first <= frame and (one.last is None or frame <= one.last)
        if one.control == KEYS and inside:
            actions.keys |= {str(name) for name in one.values}
        elif one.control == "home" and one.first == frame:
            actions.once.append(("home", ()))
        elif one.control == "touch" and inside:
            actions.values["touch"] = one.values
        elif one.control == "slider" and one.first <= frame:
            places.append(one)
    if places:
        latest = max(one.first for one in places)
        actions.values["slider"] = [one.values for one in places if one.first == latest][-1]
    return actions


def test_keys_add_up_and_later_lines_count() -> None:
    player = Player(CONTROLS)
    player.add(parse("3-5: A\n4-: B\n4-9: touch 1,2\n5: touch 3,4\n0: slider 1\n5: home\n6: slider 0.5", CONTROLS))
    assert player.at(2) == Actions(values={"slider": (1.0,)})
    assert player.at(3) == Actions({"A"}, {"slider": (1.0,)})
    assert player.at(5) == Actions({"A", "B"}, {"touch": (3, 4), "slider": (1.0,)}, [("home", ())])
    assert player.at(6) == Actions({"B"}, {"touch": (1, 2), "slider": (0.5,)})
    assert player.at(10**9) == Actions({"B"}, {"slider": (0.5,)})
    assert player.at(3) == Actions({"A"}, {"slider": (1.0,)})
    assert repr(player) == "<Player of a console: 7 statements>"


def random_statement(r: random.Random) -> Statement:
    first = r.randrange(40)
    kind = r.choice((KEYS, "touch", "slider", "home"))
    if kind in ("slider", "home"):
        return Statement(first, first, kind, (r.randrange(3) / 2,) if kind == "slider" else ())
    last = r.choice((None, first, first + r.randrange(20)))
    return Statement(first, last, kind, (r.choice("AB"),) if kind == KEYS else (r.randrange(9), 1))


def test_it_agrees_with_the_slow_model() -> None:
    """Statements are added while it plays, and it goes back at times."""
    for seed in range(200):
        r = random.Random(seed)
        player, statements, frame = Player(CONTROLS), [], 0
        for _ in range(40):
            if r.random() < 0.3:
                more = [random_statement(r) for _ in range(r.randrange(4))]
                statements += more
                player.add(more)
            frame = r.randrange(40) if r.random() < 0.1 else frame + r.randrange(1, 3)
            assert player.at(frame) == slow(statements, frame), (seed, frame)


def test_many_statements_are_no_burden() -> None:
    """Ten thousand key presses, given one by one while it plays."""
    player = Player(CONTROLS)
    start = perf_counter()
    for frame in range(10_000):
        player.add([Statement(frame, frame + 1, KEYS, ("A",))])
        assert player.at(frame).keys == {"A"}
    assert perf_counter() - start < 10


def held_by(frames: list[dict[str, tuple[float | str, ...]]]) -> Player:
    """A player that holds what a list has for each frame, told as a page tells it: once in every frame."""
    player = Player(CONTROLS)
    for frame, held in enumerate(frames):
        for control, values in held.items():
            player.hold(Statement(frame, frame, control, values))
    return player


def test_what_is_held_on_is_one_statement() -> None:
    player = held_by([{KEYS: ("A",)}] * 5 + [{KEYS: ("A", "B")}] * 2 + [{}] * 3 + [{KEYS: ("A", "B")}])
    assert [str(one) for one in player.statements] == ["0-4: A", "5-6: A+B", "10: A+B"]
    assert [player.at(frame).keys for frame in (4, 5, 7, 10)] == [{"A"}, {"A", "B"}, set(), {"A", "B"}]


def test_controls_are_held_apart() -> None:
    player = held_by([{KEYS: ("A",), "touch": (1.0, 2.0)}, {KEYS: ("A",)}, {KEYS: ("A",), "touch": (1.0, 2.0)}])
    assert [str(one) for one in player.statements] == ["0-2: A", "0: touch 1,2", "2: touch 1,2"]


def test_a_frame_that_was_asked_for_gets_what_is_held_later() -> None:
    player = Player(CONTROLS)
    for frame in range(200):
        player.hold(Statement(frame, frame, KEYS, ("A" if frame % 50 < 25 else "B",)))
        assert player.at(frame).keys == {"A" if frame % 50 < 25 else "B"}
    assert len(player.statements) == 8
    for frame in (10, 30, 199, 0):  # and again, after going back
        assert player.at(frame).keys == slow(list(player.statements), frame).keys == (
            {"A"} if frame % 50 < 25 else {"B"}
        )


def test_what_has_no_end_is_not_prolonged() -> None:
    player = Player(CONTROLS)
    player.hold(Statement(0, None, "slider", (0.5,)))
    player.hold(Statement(4, None, "slider", (0.5,)))
    player.hold(Statement(5, 5, "slider", (0.5,)))
    assert len(player.statements) == 3 and player.at(9).values["slider"] == (0.5,)
