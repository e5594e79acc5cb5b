"""Report semaphores: releases, queries of counters and waits, and the counters that they read.

Counters run while they are enabled. Counters of the vertex side that need no shading (input vertices and primitives)
are counted here; the others keep their values. How much a release writes is a choice (report.release_size).
Source: class header B197 for fields and the two lists of numbers, which differ.
"""

from __future__ import annotations

from typing import Any

from pocketgpu.facts.maxwell import B197, MethodBlock
from pocketgpu.maxwell.engines.common import semaphores
from pocketgpu.maxwell.engines.common.action_log import Report
from pocketgpu.maxwell.engines.common.base import EngineHost, Registers
from pocketgpu.maxwell.engines.common.state import State

_D = "SET_REPORT_SEMAPHORE_D"
_OPERATIONS, _REPORTS = B197.values(f"{_D}.OPERATION"), B197.values(f"{_D}.REPORT")
_COMPARISONS, _SIZES = B197.values(f"{_D}.COMPARISON"), B197.values(f"{_D}.STRUCTURE_SIZE")
STREAMS = 4  # counters of transform feedback: one for each stream, selected by SUB_REPORT
_STREAMING = ("STREAMING_PRIMITIVES_NEEDED", "STREAMING_PRIMITIVES_SUCCEEDED")
_DIFFERENCES = tuple(f"{total}STREAMING_PRIMITIVES_NEEDED_MINUS_SUCCEEDED" for total in ("", "TOTAL_"))
_SMALL = ("ZPASS_PIXEL_CNT",)  # the lower 32 bits of a counter of 64 bits

# CLEAR_REPORT_VALUE.TYPE to the reports that it clears, where the names differ.
_CLEARS = {
    "ZPASS_PIXEL_CNT": ("ZPASS_PIXEL_CNT64",),
    "TOTAL_STREAMING_PRIMITIVES_NEEDED_MINUS_SUCCEEDED": _STREAMING,
    "ZCULL_STATS": ("ZCULL_STATS0", "ZCULL_STATS1", "ZCULL_STATS2", "ZCULL_STATS3"),
}


class Counters:
    """The values of reports by name; counters of streams have four values."""

    def __init__(self, registers: Registers) -> None:
        self._state = State(B197, registers)
        self._values: dict[str, list[int]] = {name: [0] * STREAMS for name in _REPORTS.values()}
        self.pointers = [0] * STREAMS
        """Write pointers of transform feedback, in bytes, by buffer."""

    def add(self, name: str, amount: int, stream: int = 0) -> None:
        """Add to the counter if it is enabled."""
        if self.running(name):
            self._values[name][stream] += amount

    def add_passed(self, samples: int) -> None:
        """Add samples that passed while the counter was enabled; it need not be any more."""
        self._values["ZPASS_PIXEL_CNT64"][0] += samples

    def save(self) -> object:
        """Values and pointers."""
        return {name: tuple(values) for name, values in self._values.items()}, tuple(self.pointers)

    def restore(self, kept: Any) -> None:
        """Return to a state from `save`."""
        values, pointers = kept
        self._values = {name: list(found) for name, found in values.items()}
        self.pointers = list(pointers)

    @property
    def any_running(self) -> bool:
        """Whether any of the counters that SET_STATISTICS_COUNTER enables is running."""
        return self._state.word("SET_STATISTICS_COUNTER") != 0

    def running(self, name: str) -> bool:
        """Whether a counter is running."""
        if name.startswith("ZPASS"):
            return bool(self._state.field("SET_ZPASS_PIXEL_COUNT", "ENABLE"))
        if name.startswith("ZCULL"):
            return bool(self._state.field("SET_ZCULL_STATS", "ENABLE"))
        try:
            return bool(self._state.field("SET_STATISTICS_COUNTER", f"{name}_ENABLE"))
        except KeyError:
            return True

    def read(self, report: int, sub_report: int) -> tuple[str, int]:
        """Name and value of a report; 0 for unknown numbers."""
        name = _REPORTS.get(report, "")
        if report == _REPORTS.STREAMING_BYTE_COUNT:
            return name, self.pointers[sub_report % STREAMS]
        if name in _SMALL:
            return name, self._values["ZPASS_PIXEL_CNT64"][0] & 0xFFFFFFFF
        if name in _DIFFERENCES:
            needed, succeeded = (self._values[one] for one in _STREAMING)
            left = [a - b for a, b in zip(needed, succeeded, strict=True)]
            total = sum(left) if name.startswith("TOTAL") else left[sub_report % STREAMS]
            return name, total & 0xFFFF_FFFF_FFFF_FFFF
        values = self._values.get(name)
        if values is None:
            return "", 0
        return name, values[sub_report % STREAMS if "STREAMING" in name else 0] & 0xFFFF_FFFF_FFFF_FFFF

    def clear(self, value: int) -> bool:
        """CLEAR_REPORT_VALUE. Returns whether the type is known."""
        field = B197["CLEAR_REPORT_VALUE"]["TYPE"]
        name = field.values.get(field.raw(value))
        if name is None:
            return False
        for one in _CLEARS.get(name, (name,)):
            if one in self._values:
                self._values[one] = [0] * STREAMS
        return True


class ReportUnit:
    """SET_REPORT_SEMAPHORE of one class. counters: None for compute, which has releases only."""

    def __init__(
        self, host: EngineHost, block: MethodBlock, registers: Registers, counters: Counters | None = None
    ) -> None:
        self._host, self._counters = host, counters
        self._method = block[_D]
        self._state = State(block, registers)

    def run(self, value: int) -> None:
        """SET_REPORT_SEMAPHORE_D was written."""
        host = self._host
        operation = self._method["OPERATION"].raw(value)
        if operation == _OPERATIONS.ACQUIRE and self._counters is not None:
            self._acquire(value)
        elif operation == _OPERATIONS.TRAP:
            self._log("trap", 0, "", 0)
        elif operation == _OPERATIONS.REPORT_ONLY and self._counters is not None:
            self._report(value)
        elif operation == _OPERATIONS.RELEASE:
            self._release(value)
        else:
            host.report("fault", "report.operation", f"{_D}: operation {operation} is none of this class")
            return
        if self._method["AWAKEN_ENABLE"].raw(value) or operation == _OPERATIONS.TRAP:
            host.interrupt("notify")

    def _bit(self, name: str, value: int) -> int:
        return self._method[name].raw(value) if any(f.name == name for f in self._method.fields) else 0

    @property
    def _address(self) -> int:
        return self._state.address("SET_REPORT_SEMAPHORE_A")

    def _log(self, operation: str, address: int, report: str, value: int) -> None:
        self._host.log.append(Report(self._host.place, operation, address, report, value))

    def _count(self, value: int) -> tuple[str, int]:
        """Name and value of the counter that a report selects."""
        number = self._bit("REPORT", value)
        assert self._counters is not None
        name, count = self._counters.read(number, self._bit("SUB_REPORT", value))
        if not name:
            self._host.report("warning", "report.unknown", f"{_D}: there is no report {number:#x}; it reads 0")
        return name, count

    def _one_word(self, value: int, count: int) -> int:
        return count >> (32 * self._bit("REPORT_DWORD_NUMBER", value)) & 0xFFFFFFFF

    def _four_words(self, value: int) -> bool:
        return self._method["STRUCTURE_SIZE"].raw(value) == _SIZES.FOUR_WORDS

    def _release(self, value: int) -> None:
        host, address = self._host, self._address
        payload = self._state.word("SET_REPORT_SEMAPHORE_C")
        four = self._four_words(value) and host.choices["report.release_size"] == "structure"
        if self._method["REDUCTION_ENABLE"].raw(value):
            op = semaphores.reduction_name(self._method["REDUCTION_OP"], value)
            signed = semaphores.is_signed(self._method["REDUCTION_FORMAT"], value)
            semaphores.reduction(host, address, op, payload, signed, "report semaphore")
            self._log(f"reduction {op}", address, "", payload)
            return
        name = ""
        if self._bit("REPORT", value) != _REPORTS.NONE and self._counters is not None:
            name, payload = self._count(value)
            payload = payload if four else self._one_word(value, payload)
        semaphores.release(host, address, payload, four, "report semaphore")
        self._log("release", address, name, payload)

    def _report(self, value: int) -> None:
        four = self._four_words(value)
        name, count = self._count(value) if self._bit("REPORT", value) != _REPORTS.NONE else ("", 0)
        count = count if four else self._one_word(value, count)
        semaphores.release(self._host, self._address, count, four, "report")
        self._log("report", self._address, name, count)

    def _acquire(self, value: int) -> None:
        address, payload = self._address, self._state.word("SET_REPORT_SEMAPHORE_C")
        self._log("acquire", address, "", payload)
        reached = self._bit("COMPARISON", value) == _COMPARISONS.GE
        self._host.wait_semaphore(address, payload, "geq" if reached else "equal")
