"""The public names of `pocketgpu.inspect.model.event`."""

from pocketgpu.inspect.model.event import Event

__all__ = ["Event"]


def __dir__() -> list[str]:
    return [*__all__]
