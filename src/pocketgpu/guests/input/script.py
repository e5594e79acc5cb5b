"""Input scripts: what a player does, frame by frame, as plain text or JSON.

    # Start the game, then walk.
    30-32: A
    40: UP+B
    50: touch 100,120
    60-90: circle 0.5,-1
    100: slider 0.5
    120: text "hello"
    200-: START

A line is frames, a colon, and one thing: keys, or a control with its values. `30` is one frame, `30-32` are three,
`30-` is all from there on. Of two lines about one control in the same frame the later one counts; keys add up. JSON is
a list of objects with the same words: {"frames": "30-32", "keys": "A"}, {"frames": 50, "touch": [100, 120]}.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.guests.input.controls import Control, Controls, Span, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

KEYS: Final = "keys"
"""The control of statements about keys."""
MOST_BYTES: Final = 4 << 20
MOST_FRAME: Final = 10**9
_LINE: Final = re.compile(r"([0-9]{1,18})\s*(?:(-)\s*([0-9]{1,18})?)?\s*:\s*(.+)")
_CONTENT: Final = re.compile(r'(?:[^"#]|"(?:[^"\\]|\\.)*"?)*')
_WORD: Final = re.compile(r"([A-Za-z]\w*)\s*(.*)")
_NUMBER: Final = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)")
_WHEN = re.compile(r"[0-9]+(\s*-\s*[0-9]*)?")
_PRESS: Final = re.compile(r"(.+?)@(.+)")
_LINE_HINT: Final = "Write frames, a colon and what is done, such as 30-32: A."


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a player does. last: the last frame; None for no end. control: its name, or "keys". values:
    numbers, a text, or names of keys."""

    fixed_state: ClassVar = True

    first: int
    last: int | None
    control: str
    values: tuple[float | str, ...]

    def __str__(self) -> str:
        end = "" if self.last is None else self.last
        frames = f"{self.first}" if self.last == self.first else f"{self.first}-{end}"
        if self.control == KEYS:
            return f"{frames}: {'+'.join(map(str, self.values))}"
        shown = ",".join(_quoted(one) if isinstance(one, str) else _shown(one) for one in self.values)
        return f"{frames}: {self.control} {shown}".rstrip()

    def to_json(self) -> dict[str, object]:
        """As an object of a JSON script."""
        frames, _, _ = str(self).partition(":")
        if self.control == KEYS:
            what: object = "+".join(map(str, self.values))
        elif not self.values:
            what = True
        else:
            what = self.values[0] if len(self.values) == 1 else list(self.values)
        return {"frames": self.first if frames.isdigit() else frames, self.control: what}


def _shown(value: float) -> str:
    """A number so that it is read as the same one, without an exponent, which scripts do not have."""
    text = repr(value)
    if "e" in text:
        from decimal import Decimal  # rarely needed, and slow to import

        text = f"{Decimal(text):f}"
    return text.removesuffix(".0")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Script:
    """Statements, in their order."""

    statements: tuple[Statement, ...] = ()

    def __repr__(self) -> str:
        return f"<Script: {counted(len(self.statements), 'statement')}>"

    def __str__(self) -> str:
        return "".join(f"{one}\n" for one in self.statements)

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def to_json(self) -> str:
        """The script as JSON, an object a line."""
        rows = ",\n".join("  " + json.dumps(one.to_json(), ensure_ascii=False) for one in self.statements)
        return f"[\n{rows}\n]\n" if rows else "[]\n"


# -- reading ----------------------------------------------------------------------------------------------------------
def read(path: str | os.PathLike[str], controls: Controls) -> Script:
    """A script from a file, text or JSON.

    :raises CaptureError: the file cannot be read, or is too large for a script.
    :raises UsageError: it is not a script; with the line.
    """
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise CaptureError(f"cannot be read: {error.strerror}", file=name) from None
    except UnicodeDecodeError as error:
        raise CaptureError("not a text in UTF-8", file=name, offset=error.start) from None
    if len(data) > MOST_BYTES:
        raise CaptureError(f"larger than {MOST_BYTES >> 20} MiB, which no script is", file=name)
    return parse(text, controls, name)


def parse(text: str, controls: Controls, name: str = "script") -> Script:
    """A script from its text: JSON if it begins with a bracket. name: of the file, for messages.

    :raises UsageError: it is not a script; with the line.
    """
    if text.lstrip().startswith("["):
        return _parse_json(text, controls, name)
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        content = line.strip()
        if not content or content.startswith("#"):
            continue
        found.append(_statement(content, controls, f"{name}, line {number}"))
    return Script(tuple(found))


def parse_press(text: str, controls: Controls, place: str = "--press") -> Statement:
    """Keys at frames, as the command line has them: "A@30-32", "UP+B@40".

    :raises UsageError: it is something else.
    """
    match = _PRESS.fullmatch(text.strip())
    if match is None or not _WHEN.fullmatch(match[2].strip()):
        raise UsageError(f"{text!r} does not say when", location=place, hint="Write keys and frames, such as A@30-32.")
    return _statement(f"{match[2].strip()}: {match[1].strip()}", controls, place)


def keys_of(text: str, controls: Controls, place: str | None = None) -> tuple[str, ...]:
    """Names of keys that are pressed together: "A", "up+b".

    :raises UsageError: there is no such key.
    """
    found = [name.strip().upper() for name in text.split("+")]
    for name in found:
        if name not in controls.keys:
            raise UsageError(
                f"there is no key {name!r}", location=place, hint=f"There are {', '.join(controls.keys)}."
            )
    return tuple(dict.fromkeys(found))


def _statement(text: str, controls: Controls, place: str) -> Statement:
    match = _LINE.fullmatch(text)
    if match is None:
        raise UsageError(f"{_short(text)} is not a line of a script", location=place, hint=_LINE_HINT)
    first, last = _frames(match[1], match[2], match[3], place)
    what = _comment_cut(match[4])
    word = _WORD.fullmatch(what)
    control = controls.find(word[1].lower()) if word is not None else None
    if control is None or word is None:
        if word is not None and word[2] and "+" not in what:
            known = ", ".join(one.name for one in controls.others)
            raise UsageError(
                f"there is no control {word[1]!r}", location=place, hint=f"There are {known}, and keys, joined by +."
            )
        return Statement(first, last, KEYS, keys_of(what, controls, place))
    if control.text:
        return _spanned(first, last, control, (_text(word[2], place),), place)
    parts = [part for part in re.split(r"[\s,]+", word[2]) if part]
    bad = next((part for part in parts if not _NUMBER.fullmatch(part)), None)
    if bad is not None:
        raise UsageError(f"{_short(bad)} is not a number", location=place, hint=_control_hint(control))
    return _spanned(first, last, control, _numbers([float(part) for part in parts], control, place), place)


def _comment_cut(text: str) -> str:
    """A line without the comment after it; a # in quotation marks is none."""
    match = _CONTENT.match(text)
    return match[0].strip() if match else ""


def _frames(first: str, dash: str | None, last: str | None, place: str) -> tuple[int, int | None]:
    low = int(first)
    high = int(last) if last is not None else (None if dash else low)
    if max(low, high or 0) > MOST_FRAME:
        raise UsageError(f"there is no frame {max(low, high or 0)}", location=place, hint=f"The last is {MOST_FRAME}.")
    if high is not None and high < low:
        raise UsageError(
            f"{low}-{high} ends before it begins", location=place, hint="Write the lower frame first."
        )
    return low, high


def _spanned(
    first: int, last: int | None, control: Control, values: tuple[float | str, ...], place: str
) -> Statement:
    if control.span is not Span.HELD and last != first:
        kind = "stays where it is put" if control.span is Span.LASTING else "happens once"
        raise UsageError(
            f"{control.name} {kind}", location=place, hint=f"Write one frame, such as {first}: {control.example}."
        )
    return Statement(first, last, control.name, values)


def _numbers(found: Sequence[float], control: Control, place: str) -> tuple[float, ...]:
    if len(found) != len(control.values):
        raise UsageError(
            f"{control.name} takes {counted(len(control.values), 'number')}, not {len(found)}", location=place,
            hint=_control_hint(control),
        )  # fmt: skip
    return tuple(_number(one, value, control, place) for one, value in zip(found, control.values, strict=True))


def _number(found: float, value: Value, control: Control, place: str) -> float:
    if not math.isfinite(found) or not value.low <= found <= value.high or (value.whole and found != int(found)):
        raise UsageError(
            f"{control.name} cannot be at {value.name} {_shown(found)}", location=place, hint=_control_hint(control)
        )
    return int(found) if value.whole else found


def _control_hint(control: Control) -> str:
    ranges = "; ".join(map(str, control.values))
    return f"Write {control.example}" + (f" ({ranges})." if ranges else ".")


def _text(quoted: str, place: str) -> str:
    hint = 'Write it in quotation marks: text "hello".'
    try:
        found = json.loads(quoted)
    except ValueError:
        raise UsageError(f"{_short(quoted)} is not a text", location=place, hint=hint) from None
    if not isinstance(found, str):
        raise UsageError(f"{_short(quoted)} is not a text", location=place, hint=hint)
    return found


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


# -- JSON -------------------------------------------------------------------------------------------------------------
def _parse_json(text: str, controls: Controls, name: str) -> Script:
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise UsageError("not JSON", location=f"{name}{line}", hint="A JSON script is a list of objects.") from None
    found = [_json_statement(row, controls, f"{name}, object {number}") for number, row in enumerate(rows, 1)]
    return Script(tuple(found))


def _json_statement(row: Any, controls: Controls, place: str) -> Statement:
    if not isinstance(row, Mapping) or len(row) != 2 or "frames" not in row:
        raise UsageError(
            f"{_short(json.dumps(row))} is not what a player does", location=place,
            hint='Write frames and one thing, such as {"frames": "30-32", "keys": "A"}.',
        )  # fmt: skip
    frames = row["frames"]
    control, what = next((key, value) for key, value in row.items() if key != "frames")
    if isinstance(frames, bool) or not isinstance(frames, int | str):
        raise UsageError(f"{_short(json.dumps(frames))} are not frames", location=place, hint='Write 30, or "30-32".')
    if control == KEYS:
        keys = "+".join(what) if isinstance(what, list) and all(isinstance(one, str) for one in what) else what
        if not isinstance(keys, str):
            raise UsageError(f"{_short(json.dumps(what))} is no key", location=place, hint='Write "A" or "UP+B".')
        return _statement(f"{frames}: {keys}", controls, place)
    if isinstance(what, str):
        return _statement(f"{frames}: {control} {_quoted(what)}", controls, place)
    values = [] if what is True else what if isinstance(what, list) else [what]
    if not all(isinstance(one, int | float) and not isinstance(one, bool) for one in values):
        raise UsageError(f"{_short(json.dumps(what))} are not numbers", location=place, hint="Write [100, 120].")
    return _statement(f"{frames}: {control} {','.join(_shown(float(one)) for one in values)}", controls, place)
