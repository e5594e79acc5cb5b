"""Words of the command stream that belong to events: together they are the stream, in order, each word once."""

from __future__ import annotations

import numpy as np

from pocketgpu.builder.maxwell import MaxwellCaptureBuilder, PushBuffer, Surface, size_of
from pocketgpu.capture import Capture
from pocketgpu.inspect.switch.inspection import SwitchInspection


def test_words_of_events_are_the_stream() -> None:
    """Two submissions, of three segments and of one; segments have no, one or several clears."""
    builder = MaxwellCaptureBuilder("a test")
    target = Surface(builder.allocate(size_of(16, 16)), 16, 16)

    def clears(*values: float) -> PushBuffer:
        pb = PushBuffer().bind("3D").render_target(0, target)
        for value in values:
            pb.clear((value, 0, 0, 1))
        return pb

    submissions = [[clears(0.25, 0.5), clears(), clears(0.75)], [clears(1, 0, 0.5)]]
    for segments in submissions:
        builder.submit(*segments)
    builder.present(target)
    run = SwitchInspection(Capture("a test", builder.log()))
    memory, stream = run.seek("f0"), iter(run.event(f"f0/e{n}") for n in range(len(run.events(0))))
    found = [event.words for event in stream if event.kind == "clear"]
    assert len(found) == 6
    for segments, mine in zip(submissions, (found[:3], found[3:]), strict=True):
        whole = [words for segment in segments for words in segment.words]
        told: list[int] = []
        for words in mine:
            assert words is not None
            values = words.values.tolist()
            read = b"".join(memory.read(span.address, span.size) for span in words.spans)
            assert np.frombuffer(read, "<u4").tolist() == values
            told += values
        assert told == whole, "each submission ends with a clear"
    # The third clear's words begin in the segment before its own.
    assert found[2] is not None and len(found[2].spans) == 2
