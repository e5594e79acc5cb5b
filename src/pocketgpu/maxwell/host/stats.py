"""Counters of a GM20B's work."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pocketgpu.maxwell.host.layout import COUNTERS

HEADERS = (
    "legacy", "incrementing", "legacy_non_incrementing", "non_incrementing", "immediate", "increment_once", "reserved",
    "end_segment",
)  # fmt: skip
"""Kinds of method headers, by their three upper bits."""
_OWN = [(name, at) for at, name in enumerate(COUNTERS) if not name.startswith(("header_", "subchannel_"))]
_OF_HEADERS = [(kind, COUNTERS.index(f"header_{op}")) for op, kind in enumerate(HEADERS)]
_OF_SUBCHANNELS = [COUNTERS.index(f"subchannel_{n}") for n in range(8)]
"""Where counts are in COUNTERS."""


class ChannelStats:
    """Counts since the last `reset`, over all channels.

    The parser's own counts are updated when a submission ends. `macro_steps` are instructions of macros, `launch_steps`
    those of the warps of grids; `calls`: how often each macro was called; `seconds`: time by phase.
    """

    draws: int
    clears: int
    copies: int
    blits: int
    launches: int
    launch_steps: int
    uploads: int
    semaphores: int
    syncpoint_increments: int
    syncpoint_waits: int
    constbuf_binds: int
    submissions: int
    presents: int
    words: int
    methods: int
    host_methods: int
    macro_calls: int
    macro_steps: int
    longest_macro: int
    mme_instruction_words: int
    mme_macros_loaded: int
    falcon_register_writes: int
    constbuf_words_inline: int
    inline_launches: int
    inline_upload_words: int
    unknown_methods: int
    ignored_methods: int
    segments_ended: int
    nop_words: int

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Set all counts to zero."""
        self.draws = self.clears = self.copies = self.blits = self.launches = self.uploads = 0
        self.launch_steps = 0
        self.semaphores = self.syncpoint_increments = self.syncpoint_waits = 0
        self.constbuf_binds = self.submissions = self.presents = 0
        self.headers: dict[str, int] = {}
        self.methods_by_subchannel = [0] * 8
        self.calls: dict[int, int] = {}
        self.seconds = dict.fromkeys(("parse", "effects", "launches", "draws"), 0.0)
        for name, _ in _OWN:
            setattr(self, name, 0)

    def add_launch(self, steps: int, seconds: float) -> None:
        """Add a grid's instructions and seconds; it ran in an effect that is timed as a whole."""
        self.launch_steps += steps
        self.seconds["launches"] += seconds
        self.seconds["effects"] -= seconds

    def add_draw(self, seconds: float) -> None:
        """Add a draw's seconds of shading; it ran in an effect that is timed as a whole."""
        self.seconds["draws"] += seconds
        self.seconds["effects"] -= seconds

    def take(self, totals: Sequence[int], calls: NDArray[np.int64]) -> None:
        """Set the parser's counts to these totals, one for each of COUNTERS. calls: of each macro."""
        own = self.__dict__
        for name, at in _OWN:
            own[name] = totals[at]
        self.headers = {kind: totals[at] for kind, at in _OF_HEADERS if totals[at]}
        self.methods_by_subchannel = [totals[at] for at in _OF_SUBCHANNELS]
        self.calls = {int(macro): int(calls[macro]) for macro in calls.nonzero()[0]}
