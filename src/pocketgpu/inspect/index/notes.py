"""What an inspection has found out about a recording, kept from one run to the next.

    with noted(run, capture, choices):
        answer = run.why(place)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pocketgpu.inspect.index.store import index_of

if TYPE_CHECKING:
    from pocketgpu.capture import Capture
    from pocketgpu.inspect.model.inspection import Inspection

PART = "notes"


@contextmanager
def noted(run: Inspection, capture: Capture, choices: Mapping[str, str]) -> Iterator[None]:
    """Give an inspection the notes of earlier runs, and keep its own if they grow. Answers do not depend on notes."""
    index = index_of(capture, choices)
    if index is None:
        yield
        return
    run.use_notes(index.read(PART))
    before = run.notes()
    yield
    after = run.notes()
    if after != before:
        index.write(PART, after)


__all__ = ["noted"]
