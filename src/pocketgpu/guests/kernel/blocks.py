"""Memory that programs and services share."""

from __future__ import annotations

from pocketgpu.guests.kernel.objects import KernelObject


class MemoryBlock(KernelObject):
    """Shared memory. view: its bytes. place: the address it always has, if it has one. physical: the GPU's address."""

    kind = "memory block"

    def __init__(self, name: str, view: memoryview, place: int | None = None, physical: int | None = None) -> None:
        super().__init__()
        self.name, self.view, self.place, self.physical = name, view, place, physical

    def __repr__(self) -> str:
        return f"<MemoryBlock {self.name}: {len(self.view):#x} bytes>"
