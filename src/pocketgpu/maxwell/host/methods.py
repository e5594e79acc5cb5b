"""The host methods of a channel (class B06F): binding, semaphores, syncpoints, fences, interrupts.

They are words 0x00 to 0x3F of every subchannel. Methods that only invalidate or flush caches (FB_FLUSH, the MEM_OPs,
WFI) have no effect here: all work is done in order, and there is one memory without caches.

Sources: NVIDIA's header of class B06F; for syncpoints that of its sibling A26F.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pocketgpu.facts.maxwell import B06F
from pocketgpu.maxwell.host.layout import CLASS_FILES, OTHER_FILE
from pocketgpu.maxwell.host.reductions import reduce_word
from pocketgpu.maxwell.host.waits import SyncpointWait, read_word

if TYPE_CHECKING:
    from pocketgpu.maxwell.host.channel import Channel

_SEMAPHORE_UPPER = B06F["SEMAPHOREA"]["OFFSET_UPPER"]
_SEMAPHORE_LOWER = B06F["SEMAPHOREB"]["OFFSET_LOWER"]
_SEMAPHORE = B06F["SEMAPHORED"]
_SYNCPOINT = B06F["SYNCPOINTB"]
_OPERATIONS, _SIZES = _SEMAPHORE["OPERATION"].values, _SEMAPHORE["RELEASE_SIZE"].values
_ACQUIRES = {_OPERATIONS.ACQUIRE: "equal", _OPERATIONS.ACQ_GEQ: "geq", _OPERATIONS.ACQ_AND: "and"}
_SYNCPOINTS = _SYNCPOINT["OPERATION"].values
_ENGINES = B06F.values("SET_OBJECT.ENGINE")
_YIELDS = B06F.values("YIELD.OP")
_SHORT_INDEX = 0xFF
"""The bits of a syncpoint's number in methods with eight of them."""


class HostMethods:
    """The host methods of one channel: `effects` by word of the class."""

    def __init__(self, channel: Channel) -> None:
        self.channel, self.machine = channel, channel.machine
        self.registers = channel.host_registers
        narrow = self.machine.choices["channel.syncpoint_index"] == "8-bits"
        self._index_mask = _SHORT_INDEX if narrow else -1
        named: dict[str, Callable[[int], None]] = {
            "SET_OBJECT": self._bind,
            "ILLEGAL": self._illegal,
            "SEMAPHORED": self._semaphore,
            "NON_STALL_INTERRUPT": lambda value: self.machine.interrupt("non-stall"),
            "SET_REFERENCE": self._reference,
            "SYNCPOINTB": self._syncpoint,
            "YIELD": self._yield,
        }
        self.effects = {B06F[name].word: effect for name, effect in named.items()}

    def _bind(self, value: int) -> None:
        """Bind the subchannel of the header to a class."""
        method = B06F["SET_OBJECT"]
        number = method["NVCLASS"].raw(value)
        if number in CLASS_FILES:
            self.channel.bind(CLASS_FILES.index(number))
            return
        self.channel.bind(OTHER_FILE)
        if method["ENGINE"].raw(value) != _ENGINES.SW:
            text = f"subchannel {self.channel.subchannel} is bound to class {number:#06x}, which this GPU does not have"
            self.machine.report("fault", "channel.unknown_class", text)

    def _illegal(self, value: int) -> None:
        self.machine.report("fault", "channel.illegal_method", "the method ILLEGAL")

    def _reference(self, value: int) -> None:
        """All earlier work is done; publish the number."""
        self.channel.reference = value

    def _yield(self, value: int) -> None:
        if B06F["YIELD"]["OP"].raw(value) != _YIELDS.NOP:
            self.channel.yielded = True

    # -- semaphores -------------------------------------------------------------------------------------------------
    def _semaphore(self, value: int) -> None:
        upper, lower, payload = (int(self.registers[B06F[f"SEMAPHORE{x}"].word]) for x in "ABC")
        address = _SEMAPHORE_UPPER.raw(upper) << 32 | (lower & _SEMAPHORE_LOWER.mask)
        operation = _SEMAPHORE["OPERATION"].raw(value)
        if operation in _ACQUIRES:
            self.machine.wait_semaphore(address, payload, _ACQUIRES[operation])
        elif operation == _OPERATIONS.RELEASE:
            data = payload.to_bytes(4, "little")
            if _SEMAPHORE["RELEASE_SIZE"].raw(value) == _SIZES.number("16BYTE"):
                data += bytes(4) + self.machine.timestamp().to_bytes(8, "little")
            self._store(address, data)
        elif operation == _OPERATIONS.REDUCTION:
            how = _SEMAPHORE["REDUCTION"].values.get(_SEMAPHORE["REDUCTION"].raw(value))
            if how:
                old = read_word(self.machine.memory, address)
                signed = _SEMAPHORE["FORMAT"].raw(value) == _SEMAPHORE["FORMAT"].values.SIGNED
                new = reduce_word(how, old, payload, signed)
                self._store(address, new.to_bytes(4, "little"))
            else:
                self.machine.report("fault", "channel.semaphore", f"SEMAPHORED has no reduction in {value:#010x}")
        else:
            self.machine.report("fault", "channel.semaphore", f"SEMAPHORED has no single operation in {value:#010x}")

    def _store(self, address: int, data: bytes) -> None:
        self.machine.stats.semaphores += 1
        if self.machine.memory.try_write(address, data):
            self.machine.report("fault", "channel.semaphore_unmapped", f"no memory for a semaphore at {address:#x}")

    # -- syncpoints -------------------------------------------------------------------------------------------------
    def _syncpoint(self, value: int) -> None:
        index = _SYNCPOINT["SYNCPT_INDEX"].raw(value) & self._index_mask
        machine, operation = self.machine, _SYNCPOINT["OPERATION"].raw(value)
        if operation == _SYNCPOINTS.WAIT:
            machine.stats.syncpoint_waits += 1
            threshold = int(self.registers[B06F["SYNCPOINTA"].word])
            machine.wait(SyncpointWait(index, threshold, machine.place))
        elif operation == _SYNCPOINTS.INCR:
            machine.stats.syncpoint_increments += 1
            machine.syncpoints.increment(index)
        # Syncpoint bases are for waits relative to them, which no driver of this console uses; they are kept as
        # registers.
