"""The public name of a 3DS's guest memory, which is defined in `pocketgpu.pica.memory.guest`."""

from pocketgpu.pica.memory.guest import GuestMemory

__all__ = ["GuestMemory"]


def __dir__() -> list[str]:
    return [*__all__]
