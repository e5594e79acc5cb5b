"""The public names of `pocketgpu.inspect.model.meshes`."""

from pocketgpu.inspect.model.meshes import Mesh, to_glb, to_obj

__all__ = ["Mesh", "to_glb", "to_obj"]


def __dir__() -> list[str]:
    return [*__all__]
