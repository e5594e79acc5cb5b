"""Input scripts: reading, writing, and what is wrong with them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.guests.input import script
from pocketgpu.guests.input.controls import Control, Controls, Span, Value
from pocketgpu.guests.input.script import KEYS, Script, Statement, keys_of, parse, parse_press

CONTROLS = Controls(
    "a console",
    ("A", "B", "UP", "ZL"),
    (
        Control("touch", Span.HELD, (Value("x", 0, 319, whole=True), Value("y", 0, 239, whole=True))),
        Control("circle", Span.HELD, (Value("x", -1, 1), Value("y", -1, 1))),
        Control("slider", Span.LASTING, (Value("position", 0, 1),)),
        Control("text", Span.ONCE, text=True),
        Control("home", Span.ONCE),
    ),
)
EXAMPLE = """
# Start the game, then walk.
30-32: A
40: up + B  # two keys
 50 : touch 100,120
60-90: circle 0.5 -1
100: Slider .5

120: text "a # is no \\"comment\\""   # but this is
130: home
200-: ZL
"""
STATEMENTS = (
    Statement(30, 32, KEYS, ("A",)), Statement(40, 40, KEYS, ("UP", "B")), Statement(50, 50, "touch", (100, 120)),
    Statement(60, 90, "circle", (0.5, -1)), Statement(100, 100, "slider", (0.5,)),
    Statement(120, 120, "text", ('a # is no "comment"',)), Statement(130, 130, "home", ()),
    Statement(200, None, KEYS, ("ZL",)),
)  # fmt: skip


def test_a_script_is_read() -> None:
    found = parse(EXAMPLE, CONTROLS)
    assert tuple(found) == STATEMENTS and repr(found) == "<Script: 8 statements>"
    assert str(found).split("\n")[:4] == ["30-32: A", "40: UP+B", "50: touch 100,120", "60-90: circle 0.5,-1"]
    assert parse("", CONTROLS) == Script() and parse("# nothing\n\n", CONTROLS) == Script()
    assert repr(CONTROLS) == "<Controls of a console: 4 keys, touch, circle, slider, text, home>"


def test_json_has_the_same_words() -> None:
    text = parse(EXAMPLE, CONTROLS).to_json()
    assert json.loads(text)[:3] == [
        {"frames": "30-32", "keys": "A"}, {"frames": 40, "keys": "UP+B"}, {"frames": 50, "touch": [100, 120]},
    ]  # fmt: skip
    assert tuple(parse(text, CONTROLS)) == STATEMENTS
    other = parse('[{"keys": ["up", "B"], "frames": "40"}, {"frames": 9, "slider": 1}]', CONTROLS)
    assert str(other) == "40: UP+B\n9: slider 1\n"
    assert parse(" \n[]", CONTROLS) == Script() and Script().to_json() == "[]\n"


def frames(kind: Span) -> st.SearchStrategy[tuple[int, int | None]]:
    one = st.integers(0, script.MOST_FRAME)
    if kind is not Span.HELD:
        return one.map(lambda frame: (frame, frame))
    more = st.tuples(one, one).map(lambda pair: (min(pair), max(pair)))
    return st.one_of(one.map(lambda frame: (frame, frame)), more, one.map(lambda frame: (frame, None)))


def values(control: Control) -> st.SearchStrategy[tuple[float | str, ...]]:
    if control.text:
        return st.tuples(st.text())
    numbers = [
        st.integers(int(one.low), int(one.high)) if one.whole else st.floats(one.low, one.high, allow_subnormal=False)
        for one in control.values
    ]
    return st.tuples(*numbers)


def statements() -> st.SearchStrategy[Statement]:
    keys = st.lists(st.sampled_from(CONTROLS.keys), min_size=1, unique=True).map(tuple)
    kinds = [
        st.tuples(frames(one.span), values(one)).map(lambda pair, name=one.name: Statement(*pair[0], name, pair[1]))
        for one in CONTROLS.others
    ]
    return st.one_of(st.tuples(frames(Span.HELD), keys).map(lambda pair: Statement(*pair[0], KEYS, pair[1])), *kinds)


@given(st.lists(statements(), max_size=5))
def test_what_is_written_is_read_as_the_same(found: list[Statement]) -> None:
    whole = Script(tuple(found))
    assert parse(str(whole), CONTROLS) == whole
    assert parse(whole.to_json(), CONTROLS) == whole


WRONG = [
    ("30 A", "line 1", "not a line of a script", "Write frames, a colon"),
    ("\n\nhello", "line 3", "'hello' is not a line", "30-32: A"),
    ("30: Q", "line 1", "no key 'Q'", "There are A, B, UP, ZL"),
    ("30: A+", "line 1", "no key ''", "There are"),
    ("30:", "line 1", "not a line", "30-32: A"),
    ("-3: A", "line 1", "not a line", "30-32: A"),
    ("30: A B", "line 1", "no control 'A'", "keys, joined by +"),
    ("30: fly 1", "line 1", "no control 'fly'", "touch, circle, slider"),
    ("9-3: A", "line 1", "9-3 ends before", "lower frame first"),
    ("1 2: A", "line 1", "not a line", "30-32: A"),
    ("1000000001: A", "line 1", "no frame 1000000001", "The last is 1000000000"),
    (f"{'9' * 5000}: A", "line 1", "not a line", "30-32: A"),
    ("3: touch 1", "line 1", "takes 2 numbers, not 1", "touch 319,239"),
    ("3: touch 320,1", "line 1", "cannot be at x 320", "x 0 to 319; y 0 to 239"),
    ("3: touch 1.5,1", "line 1", "cannot be at x 1.5", "x 0 to 319"),
    ("3: circle 1e3,0", "line 1", "'1e3' is not a number", "circle 1,1"),
    ("3: circle nan,0", "line 1", "'nan' is not a number", "circle 1,1"),
    (f"3: circle {'9' * 400},0", "line 1", "cannot be at x inf", "circle 1,1"),
    ("3: slider -0.1", "line 1", "cannot be at position -0.1", "slider 1"),
    ("3-5: slider 1", "line 1", "stays where it is put", "3: slider 1"),
    ("3-: home", "line 1", "home happens once", "3: home"),
    ("3: home 1", "line 1", "takes 0 numbers, not 1", "Write home."),
    ("3: text hello", "line 1", "'hello' is not a text", 'text "hello"'),
    ("3: text 5", "line 1", "'5' is not a text", 'text "hello"'),
    ("3: text", "line 1", "'' is not a text", 'text "hello"'),
    ("[", "line 1", "not JSON", "a list of objects"),
    ('[\n{"frames": 1,}]', "line 2", "not JSON", "a list of objects"),
    ("[" * 100_000, "script", "not JSON", "a list of objects"),
    ("[3]", "object 1", "'3' is not what a player does", '"frames": "30-32"'),
    ('[{"frames": 1, "keys": "A"}, {"frames": 1}]', "object 2", "not what a player does", '"keys": "A"'),
    ('[{"frames": 1, "keys": "A", "touch": [1, 2]}]', "object 1", "not what a player does", '"keys": "A"'),
    ('[{"frames": true, "keys": "A"}]', "object 1", "'true' are not frames", '"30-32"'),
    ('[{"frames": 1.5, "keys": "A"}]', "object 1", "are not frames", '"30-32"'),
    ('[{"frames": "a", "keys": "A"}]', "object 1", "not a line", "30-32"),
    ('[{"frames": 1, "keys": 3}]', "object 1", "'3' is no key", '"UP+B"'),
    ('[{"frames": 1, "keys": []}]', "object 1", "no key ''", "There are"),
    ('[{"frames": 1, "touch": ["1", 2]}]', "object 1", "not numbers", "[100, 120]"),
    ('[{"frames": 1, "touch": null}]', "object 1", "not numbers", "[100, 120]"),
    ('[{"frames": 1, "slider": true}]', "object 1", "takes 1 number, not 0", "slider 1"),
    ('[{"frames": 1, "text": 3}]', "object 1", "'3' is not a text", 'text "hello"'),
]


@pytest.mark.parametrize(("text", "place", "message", "hint"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_told_with_its_line(text: str, place: str, message: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text, CONTROLS)
    error = caught.value
    assert message in error.message and hint in (error.hint or "") and place in (error.location or "")
    assert len(str(error)) < 300


def test_press_is_read_by_the_same_code() -> None:
    assert parse_press("A@30-32", CONTROLS) == STATEMENTS[0]
    assert parse_press(" up+b @ 40 ", CONTROLS) == STATEMENTS[1]
    assert parse_press("ZL@200-", CONTROLS) == STATEMENTS[-1]
    for text, message in (("A", "does not say when"), ("A@", "does not say when"), ("@3", "does not say when"),
                          ("Q@3", "no key 'Q'"), ("A@x", "does not say when")):  # fmt: skip
        with pytest.raises(UsageError, match=message) as caught:
            parse_press(text, CONTROLS)
        assert "--press" in str(caught.value)


def test_keys() -> None:
    assert keys_of("a + UP+A", CONTROLS) == ("A", "UP")
    with pytest.raises(UsageError, match="no key 'C'"):
        keys_of("A+C", CONTROLS)


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "play.txt"
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.encode())
    assert tuple(script.read(path, CONTROLS)) == STATEMENTS
    path.write_text("5: Q")
    with pytest.raises(UsageError, match=r"no key 'Q' \(at .*play\.txt, line 1\)"):
        script.read(path, CONTROLS)
    path.write_bytes(b"30: A\n\xff")
    with pytest.raises(CaptureError, match="UTF-8"):
        script.read(path, CONTROLS)
    path.write_bytes(b"#" * (script.MOST_BYTES + 1))
    with pytest.raises(CaptureError, match="larger than 4 MiB"):
        script.read(path, CONTROLS)
    with pytest.raises(CaptureError, match="cannot be read"):
        script.read(tmp_path / "none", CONTROLS)
    with pytest.raises(CaptureError, match="cannot be read"):
        script.read(tmp_path, CONTROLS)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["frames", "keys", "touch"]), inner),
    max_leaves=8,
)  # fmt: skip
PIECES = ["30", "-", ":", " ", "A", "+", "touch", "circle", "text", "home", ",", "1", ".5", '"', "\\", "#", "\n", "é"]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join), JSON.map(json.dumps)))
def test_any_text_is_a_script_or_a_mistake_that_is_told(text: str) -> None:
    for one in (text, f"[{text}]"):
        try:
            found = parse(one, CONTROLS)
        except UsageError as error:
            assert error.location and error.hint
        else:
            assert parse(str(found), CONTROLS) == found
    try:
        assert parse_press(text, CONTROLS).control
    except UsageError as error:
        assert error.location and error.hint
