"""The page of an address: what happened there, pictures before and after, why, and the state.

    Path("why.html").write_text(page_of(run, Address.parse("f1/px200,120")))

The viewer's "save" and `pocketgpu why --html` make the same page.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model import queued
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.inspect.model.moment import Moment
from pocketgpu.inspect.model.pictures import MomentPicture
from pocketgpu.inspect.model.why import Why
from pocketgpu.inspect.pages import html
from pocketgpu.inspect.pictures.comparing import difference
from pocketgpu.pictures import to_png

_NEAR: Final = 8
"""Pixels around a marked one that its close-up shows, to each side."""
_MOST_LINES, _MOST_ROWS = 4000, 400
"""Most lines of the answer's text, most rows of the table of registers."""


def page_of(run: Inspection, address: Address, answer: Answer | None = None) -> str:
    """The page of an address that `why` answers, as HTML.

    :param answer: of `why`; None: it is asked now. Addresses that `why` does not answer have a page without reasons.

    :raises UsageError: there is no such place.
    """
    if answer is None:
        answer = _asked(run, address)
    name = Path(run.capture.path).name
    cause = None if answer is None else _cause(run, answer)
    body = [_head(run, name, address)]
    if answer is not None:
        body.append(html.section("Why", _why(answer, cause)))
    moment = run.seek(address.place)
    body.append(html.section(f"Pictures  {address.place}", _pictures(run, moment, address)))
    if cause is not None and cause.place != address.place:
        title = f"The event that decided: {run.event(cause).title}  {cause.place}"
        moment = run.seek(cause.place)
        body.append(html.section(title, _pictures(run, moment, cause)))
    body.append(html.section(f"State  {moment.address}", _state(moment)))
    return html.document(f"{name}  {address}", body)


def _asked(run: Inspection, address: Address) -> Answer | None:
    try:
        found: Answer = run.why(address)
    except UsageError:
        run.seek(address.place)  # reports a place that does not exist; otherwise `why` only has no answer about it
        return None
    return found


def _head(run: Inspection, name: str, address: Address) -> str:
    from pocketgpu import __version__

    capture = run.capture
    facts: list[tuple[object, object]] = [("console", capture.console), ("frames", run.frame_count)]
    facts += [
        ("to look at it", f"pocketgpu view {name} {address}"), ("as text", f"pocketgpu why {name} {address}"),
        ("made by", f"pocketgpu {__version__}"),
    ]  # fmt: skip
    if not address.names_event:
        return html.pairs(facts)
    event = run.event(address)
    more = [(key, json.dumps(value) if isinstance(value, dict | list) else value) for key, value in event.facts.items()]
    title = f"{event.title}  {event.by_number}"
    return html.pairs([("event", title), *facts]) + html.details("What the event is, in full", [html.pairs(more)])


def _cause(run: Inspection, answer: Answer) -> Address | None:
    """The draw that decided, with the pixel of its target if that is known."""
    found = queued.cause_of(answer)
    if found is None:
        return None
    cause = Address.parse(found)
    last = answer.last if isinstance(answer, Why) else None
    return last.pixel if last is not None and last.pixel is not None else cause


def _why(answer: Answer, cause: Address | None) -> Iterator[str]:
    if isinstance(answer, Why) and answer.hex is not None:
        yield f'<p><span class="swatch" style="background:{answer.hex}"></span> <code>{answer.hex}</code></p>'
    yield html.folded(answer.conclusion, _MOST_LINES)
    yield html.folded(answer.details(), _MOST_LINES, "" if cause is None else str(cause.place))


def _pictures(run: Inspection, moment: Moment, address: Address) -> Iterator[str]:
    """What can be looked at after an event; and before it, if it is a draw. First those that the address is about."""
    shown = moment.pictures
    draw = address.draw is not None
    pixels = {name: one.pixels for name, one in shown.items()}
    marks = {name: one.find(address) for name, one in shown.items()}
    about = [name for name, mark in marks.items() if mark is not None]
    if not about:  # the target of a draw, the screens of a frame
        about = [name for name, one in shown.items() if (one.kind == "screen") != draw] or list(shown)
    for name in about:
        yield html.row(_views(shown[name], pixels[name], marks[name], "after" if draw else ""))
    place = run.before(address.place) if draw else None
    before = {} if place is None else run.seek(place).pictures
    for name in about:
        one, old = shown[name], before.get(name)
        if old is None or (old.width, old.height, old.title) != (one.width, one.height, one.title):
            continue
        earlier = old.pixels
        if np.array_equal(earlier, pixels[name]):
            yield f"<p>{html.text(name)}: the draw changed nothing</p>"
            continue
        changed = html.figure(f"{name}: what it changed", to_png(difference(pixels[name], earlier)))
        yield html.row([*_views(one, earlier, marks[name], "before"), changed])
    others = [html.figure(f"{name}: {shown[name].title}", to_png(pixels[name])) for name in shown if name not in about]
    if others:
        yield html.details("Other pictures", [html.row(others)])


def _views(one: MomentPicture, pixels: np.ndarray, mark: tuple[int, int] | None, when: str) -> Iterator[str]:
    label = f"{one.name} {when}".strip()
    yield html.figure(f"{label}: {one.title}", to_png(pixels), (one.width, one.height), mark)
    if mark is None:
        return
    x, y = mark
    left, top = max(0, x - _NEAR), max(0, y - _NEAR)
    near = pixels[top : y + _NEAR + 1, left : x + _NEAR + 1]
    size = (near.shape[1], near.shape[0])
    values = "#" + "".join(f"{part:02x}" for part in pixels[y, x].tolist())
    yield html.figure(f"{label} around ({x}, {y}): {values}", to_png(near), size, (x - left, y - top), True)


def _state(moment: Moment) -> Iterator[str]:
    yield html.pairs(moment.summary.parts.items())
    if moment.missing:
        yield f"<p>{html.text(moment.missing)}</p>"
    changes = moment.changes()
    rows = [
        (one.register, f"{one.old:#010x}", f"{one.new:#010x}", "; ".join(f"{n} {a} -> {b}" for n, a, b in one.fields))
        for one in changes
    ]  # fmt: skip
    if rows:
        yield "<h2>Registers that changed since the draw before</h2>"
        yield html.table(("register", "before", "after", "fields"), rows, _MOST_ROWS)


__all__ = ["page_of"]
