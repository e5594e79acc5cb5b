"""The public names of `pocketgpu.inspect.n3ds.inventory.capture_info`."""

from pocketgpu.inspect.n3ds.inventory.capture_info import CaptureInfo, examine

__all__ = ["CaptureInfo", "examine"]


def __dir__() -> list[str]:
    return [*__all__]
