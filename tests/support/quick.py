"""All that can be seen of a machine for the Switch: for comparing one with quick draws and one without."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.gm20b import GM20B


def record(one: Any) -> Any:
    """A record of the log as plain values."""
    if not isinstance(one, Draw):
        return type(one).__name__, {k: v for k, v in vars(one).items() if isinstance(v, int | str | bytes | tuple)}
    return (
        one.place, one.method, one.topology, one.first, one.count, one.index_bytes, one.instance, one.first_primitive,
        None if one.inline is None else one.inline.tolist(), one.constants, one.registers.tobytes(),
    )  # fmt: skip


def seen(gpu: GM20B, memory: Iterable[tuple[int, int]]) -> dict[str, Any]:
    """By name: bytes of these ranges of memory, log, events, statistics, registers, time."""
    found: dict[str, Any] = {f"memory {address:#x}": gpu.memory.try_read(address, size) for address, size in memory}
    found["log"] = [record(one) for one in gpu.log]
    found["events"] = [(e.kind, e.id, e.message, e.at, e.count) for e in gpu.events]
    found["stats"] = {name: value for name, value in vars(gpu.stats).items() if name != "seconds"}
    found["time"] = gpu.timestamp()
    for number, channel in gpu.channels.items():
        found[f"registers {number}"] = channel.files.tobytes(), channel.shadows.tobytes()
        unit = channel.engines[0]
        found[f"counters {number}"] = repr(unit.counters._values), repr(unit.counters.pointers)  # type: ignore[attr-defined]
        found[f"between {number}"] = unit.draws._topology, unit.draws._next_primitive()  # type: ignore[attr-defined]
    return found
