"""The public names of `pocketgpu.inspect.switch.inventory.capture_info`."""

from pocketgpu.inspect.switch.inventory.capture_info import MaxwellInfo, examine

__all__ = ["MaxwellInfo", "examine"]


def __dir__() -> list[str]:
    return [*__all__]
