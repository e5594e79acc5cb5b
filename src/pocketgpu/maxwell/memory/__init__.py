"""Memory of a GM20B: backings, the address space, page tables, and layouts of surfaces."""

from pocketgpu.maxwell.memory.gpu_memory import GpuMemory

__all__ = ["GpuMemory"]


def __dir__() -> list[str]:
    return [*__all__]
