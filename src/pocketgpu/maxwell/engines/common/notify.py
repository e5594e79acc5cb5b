"""NOTIFY: a record in memory that earlier work is done, in all classes of the graphics front end."""

from __future__ import annotations

import struct

from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.base import EngineHost
from pocketgpu.maxwell.engines.common.state import State
from pocketgpu.maxwell.engines.common.windows import write

TICKS_TO_NS = (625, 384)
"""614.4 MHz to nanoseconds."""
_TYPE = B197["NOTIFY"]["TYPE"]


def notify(host: EngineHost, state: State, value: int) -> None:
    """NOTIFY was written: store 16 bytes at SET_NOTIFY, a time in nanoseconds and a status of 0.

    The header gives only address and types. The form of the 16 bytes is that of the vendor's other notifiers; whether
    they are written at all is the choice notify.write.
    """
    if host.choices["notify.write"] == "now":
        ns = host.timestamp() * TICKS_TO_NS[0] // TICKS_TO_NS[1]
        write(host, state.address("SET_NOTIFY_A"), struct.pack("<QIHH", ns, 0, 0, 0), "notification")
    if _TYPE.raw(value) & _TYPE.values.WRITE_THEN_AWAKEN:
        host.interrupt("notify")
