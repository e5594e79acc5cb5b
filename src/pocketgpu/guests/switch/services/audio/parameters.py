"""What a sound renderer is opened with. Source: libnx's services/audren.c; switchbrew Audio services."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.switch.audren import AUDREN, LIMITS, NEWEST_REVISION, RATES, REVISION_NAME
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.audio.updates import update_size

_PAGE: Final = 0x1000
_MIX_SAMPLE: Final = 4
"""Bytes of a sample in a mix buffer."""


class Parameters:
    """The parameters of a renderer. record: as the program has them. counts: of records in an update, by what says how
    many there are."""

    def __init__(self, data: bytes) -> None:
        self.record = AUDREN.make("parameters", data[: AUDREN.size("parameters")])
        found = {name: self.record[name] for name in LIMITS}
        voices, effects = found["voices"], found["effects"]
        self.counts = found | {"one": 1, "memory_pools": effects + 4 * voices, "mixes": found["submixes"] + 1}

    def __repr__(self) -> str:
        return f"<Parameters: {self.counts['voices']} voices at {self['sample_rate']} Hz>"

    def __getitem__(self, name: str) -> int:
        return self.record[name]

    @property
    def work_size(self) -> int:
        """How much memory the program has to lend: what updates and mix buffers take. A console needs more."""
        mixing = self.counts["mix_buffers"] * self["sample_count"] * _MIX_SAMPLE
        size = update_size("in", self.counts) + update_size("out", self.counts) + mixing
        return -(-size // _PAGE) * _PAGE

    @property
    def not_modelled(self) -> str:
        """What is right on a console, and not here; empty for nothing."""
        number = self._revision
        if number is not None and number > NEWEST_REVISION:
            return f"revision {number}"
        return "splitters" if self["splitters"] else ""

    @property
    def _revision(self) -> int | None:
        """Its number; None if it is none."""
        revision = self["revision"].to_bytes(4, "little")
        number = revision[3] - ord("0")
        return number if revision[:3] == REVISION_NAME and number >= 1 else None

    @property
    def result(self) -> Result:
        """What is wrong with them."""
        if self._revision is None or self.not_modelled:
            return Result.SOUND_NOT_SUPPORTED
        if RATES.get(self["sample_rate"]) != self["sample_count"]:
            return Result.BAD_SAMPLE_RATE
        if any(not low <= self[name] <= high for name, (low, high) in LIMITS.items()):
            return Result.SOUND_OPERATION_FAILED
        return Result.OK
