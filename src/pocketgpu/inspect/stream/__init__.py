"""The command stream of a capture as a table: a row for each word, with what it does and what it belongs to.

    stream = pocketgpu.debug("scene.pgc").stream
    len(stream), stream.words                      # rows, and words: a Switch has rows for what macros issue, too
    list(stream.lines(1000, 200))                  # a window, as JSON lines of `decode`
    stream.range_of(run.event("f1/d3"))            # the rows of an event
    stream.event_at(1000)                          # the address of what the word belongs to
    stream.sifted(Sift(text="TEXENV 0x80"))        # rows that match, found piece by piece

`command_stream` has the table, `event_rows` says what belongs to an event, with a provider for each console (`n3ds`,
`switch`); `query` understands texts, `sifting` looks for rows in bounded slices. Words are decoded by `decode` alone.
"""

from __future__ import annotations

from pocketgpu.inspect.stream.command_stream import CommandStream
from pocketgpu.inspect.stream.sifting import Sift, Sifted

__all__ = ["CommandStream", "Sift", "Sifted"]


def __dir__() -> list[str]:
    return [*__all__]
