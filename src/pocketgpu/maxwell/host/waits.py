"""What a channel can wait for: a word of memory, or a syncpoint."""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.host.syncpoints import Syncpoints
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory

COMPARISONS = {"equal": "become", "geq": "reach", "and": "share a bit with"}


def signed(word: int) -> int:
    """A 32-bit word as a signed number."""
    return (word & 0x7FFFFFFF) - (word & 0x80000000)


def read_word(memory: GpuMemory, address: int) -> int:
    """The 32-bit word at a GPU address; 0 where nothing is mapped."""
    return int.from_bytes(memory.try_read(address, 4)[0], "little")


@dataclass(frozen=True)
class SemaphoreWait:
    """A wait until the word at `address` compares with `payload` ("equal", "geq", "and"). `place`: of the wait
    in the pushbuffer."""

    address: int
    payload: int
    operation: str
    place: str

    def over(self, memory: GpuMemory, syncpoints: Syncpoints, choices: Mapping[str, str]) -> bool:
        """Whether the wait is over."""
        word = read_word(memory, self.address)
        if self.operation == "equal":
            return word == self.payload
        if self.operation == "and":
            return word & self.payload != 0
        if choices["channel.acquire_geq"] == "unsigned":
            return word >= self.payload
        return signed(word - self.payload) >= 0

    def text(self, memory: GpuMemory, syncpoints: Syncpoints) -> str:
        """The wait in words."""
        word = read_word(memory, self.address)
        how = COMPARISONS[self.operation]
        return f"the semaphore at {self.address:#x} to {how} {self.payload:#x} (it is {word:#x})"


@dataclass(frozen=True)
class SyncpointWait:
    """A wait until a syncpoint reaches a threshold."""

    index: int
    threshold: int
    place: str

    def over(self, memory: GpuMemory, syncpoints: Syncpoints, choices: Mapping[str, str]) -> bool:
        """Whether the wait is over."""
        return syncpoints.reached(self.index, self.threshold)

    def text(self, memory: GpuMemory, syncpoints: Syncpoints) -> str:
        """The wait in words."""
        return f"syncpoint {self.index} to reach {self.threshold} (it is {syncpoints[self.index]})"


Wait = SemaphoreWait | SyncpointWait
