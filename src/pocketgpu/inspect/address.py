"""The public names of `pocketgpu.inspect.model.address`."""

from pocketgpu.inspect.model.address import Address

__all__ = ["Address"]


def __dir__() -> list[str]:
    return [*__all__]
