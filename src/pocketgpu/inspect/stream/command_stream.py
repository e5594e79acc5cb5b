"""The table of all words of a capture."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import line_of
from pocketgpu.in_steps import InSteps
from pocketgpu.inspect.decode import jsonl, select
from pocketgpu.inspect.decode.api import gathering_stream
from pocketgpu.inspect.decode.consoles import CONSOLES
from pocketgpu.inspect.decode.emit import ROWS
from pocketgpu.inspect.decode.rows import Rows
from pocketgpu.inspect.decode.stream import Stream
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.stream.event_rows import EventRows, Extent, FrameRows
from pocketgpu.inspect.stream.layout import StreamLayout
from pocketgpu.inspect.stream.sifting import Sift, Sifted
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.inspect.model.event import Event

MOST_ISSUED: Final = 1 << 22
"""Most methods of macros that have rows: 200 MB. If there are more, none has a row."""
_MOST_SIFTED: Final = 4
"""How many sifts are kept."""
_MOST_FRAMES: Final = 64
"""Of how many frames the rows of events are kept."""


class CommandStream:
    """The rows of a whole stream, in order, and which of them belong to what. `opening` makes it.

    layout: where things are among the rows. event_rows: the console's knowledge of events. events: the events of a
    frame.
    """

    def __init__(
        self, layout: StreamLayout, event_rows: EventRows, events: Callable[[int], Sequence[Event]]
    ) -> None:
        self._layout, self._event_rows, self._events = layout, event_rows, events
        self._frames: OrderedDict[int, FrameRows] = OrderedDict()
        self._sifted: OrderedDict[Sift, Sifted] = OrderedDict()

    def __len__(self) -> int:
        return len(self._layout.rows)

    def __repr__(self) -> str:
        return line_of(self, f"{counted(self.words, 'word')}, {counted(len(self), 'row')}")

    @property
    def rows(self) -> Rows:
        """The rows, as `decode` makes them. They are not to be changed."""
        return self._layout.rows

    @property
    def words(self) -> int:
        """How many rows are words of the stream."""
        return len(self) - self.issued

    @property
    def issued(self) -> int:
        """How many rows are methods that macros issue."""
        return len(self._layout.issued)

    # -- windows ------------------------------------------------------------------------------------------------------
    def lines(self, first: int, count: int) -> Iterator[str]:
        """The rows `first` to `first + count - 1`, as lines of JSON (docs/formats/decode.md)."""
        return self.lines_at(np.arange(first, min(first + count, len(self))))

    def lines_at(self, rows: NDArray[np.int64]) -> Iterator[str]:
        """Some rows, by their numbers."""
        uniforms = {}
        for row in rows.tolist():
            uniform = self._layout.uniforms.of(row)
            if uniform is not None:
                uniforms[row] = uniform
        return jsonl.lines_at(self.rows, rows, self._layout.stream.console, uniforms)

    def own(self, extent: Extent) -> NDArray[np.int64]:
        """The rows of an extent that are words of the stream."""
        return np.setdiff1d(np.arange(*extent), self._layout.issued, assume_unique=True)

    # -- events -------------------------------------------------------------------------------------------------------
    def range_of(self, event: Event) -> Extent | None:
        """The rows of an event; None if it has none."""
        return self._frame(event.frame).extent(event.number)

    def row_after(self, event: Event) -> int:
        """The row at which an event without rows happens."""
        row = self._frame(event.frame).after(event.number)
        return self.frame_range(event.frame)[0] if row is None else row

    def frame_range(self, frame: int) -> Extent:
        """The rows of a frame."""
        return self._layout.of_keys(frame << 32, frame << 32 | select.LAST)

    def event_at(self, row: int) -> Address:
        """What a row belongs to: an event, or the frame if it belongs to none."""
        frame, _ = self._layout.place_of(row)
        number = self._frame(frame).at(row)
        return Address(frame) if number is None else self._events(frame)[number].address

    def line_of(self, row: int, extent: Extent) -> int:
        """The number of a row among the words of an extent; of what a macro issues, that of the word before it."""
        return max(self._layout.own_words(extent[0], row + 1) - 1, 0)

    def row_of(self, line: int, extent: Extent) -> int:
        """The row of a word of an extent."""
        return min(self._layout.row_of_word(extent[0], line), max(extent[1] - 1, extent[0]))

    def _frame(self, frame: int) -> FrameRows:
        found = self._frames.get(frame)
        if found is None:
            events = self._events(frame)
            extents = self._event_rows.extents(self._layout, self.frame_range(frame), events)
            draws = self._layout.draws_of(frame)
            of_events = [(events[number], extent) for number, extent in extents.items()]
            of_draws = [(event, draws[event.draw]) for event in events if event.draw in draws]
            found = self._frames[frame] = FrameRows.of([*of_events, *of_draws])
            if len(self._frames) > _MOST_FRAMES:
                self._frames.popitem(last=False)
        return found

    # -- looking for rows ---------------------------------------------------------------------------------------------
    def sifted(self, sift: Sift) -> Sifted:
        """The rows that match, as far as they were looked for: see `Sifted.go_on`. The last few sifts are kept.

        :raises UsageError: the text of the sift is too long.
        """
        found = self._sifted.pop(sift, None) or Sifted(self._layout, sift)
        self._sifted[sift] = found
        if len(self._sifted) > _MOST_SIFTED:
            self._sifted.popitem(last=False)
        return found


def opening(
    capture: Capture,
    choices: Mapping[str, str],
    evaluator: str,
    event_rows: EventRows,
    events: Callable[[int], Sequence[Event]],
) -> InSteps[CommandStream]:
    """The stream of a capture, in steps: its memory is replayed once without drawing, and every word is decoded.

    :raises UsageError: the capture has more words than can be decoded at once.
    """
    stream = yield from gathering_stream(capture, choices)
    rows = yield from _tracing(stream, choices, evaluator)
    layout = yield from StreamLayout(rows, stream).making()
    return CommandStream(layout, event_rows, events)


def _tracing(stream: Stream, choices: Mapping[str, str], evaluator: str) -> InSteps[Rows]:
    """The rows of a stream; without what macros issue if that is too much."""
    tracing = CONSOLES[stream.console].tracing(stream, False, True, choices, evaluator)
    try:
        # Each step makes at most `ROWS` rows.
        for _ in range(len(stream.words) // ROWS + MOST_ISSUED // ROWS + 2):
            next(tracing)
            yield
    except StopIteration as end:
        rows: Rows = end.value
        return rows
    tracing.close()
    rows = yield from CONSOLES[stream.console].tracing(stream, False, False, choices, evaluator)
    return rows


__all__ = ["CommandStream", "opening"]
