"""Base class of moments: the state of the machine right after an event, the same for both consoles."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pocketgpu.displayed import line_of, picture_html, title_html
from pocketgpu.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pocketgpu.inspect.model.address import Address
    from pocketgpu.inspect.model.changes import Change
    from pocketgpu.inspect.model.event import Event, Range
    from pocketgpu.inspect.model.memory_pictures import MemoryFormats
    from pocketgpu.inspect.model.meshes import Mesh
    from pocketgpu.inspect.model.pictures import MomentPicture
    from pocketgpu.inspect.model.resources import ConstantBuffer, Program, Texture
    from pocketgpu.inspect.model.summary import Summary
    from pocketgpu.inspect.model.vertices import IndexBuffer, VertexBuffer, Vertices

MAPPED_UNIT = 0x1000


class Moment(ABC):
    """The state of the machine right after an event.

    All moments of an inspection share one machine. A moment that is read after the machine has moved on first brings it
    back to its own place, so answers are always for that place. The pictures and records of a moment do the same.
    """

    address: Address
    event: Event | None
    """The event that has just happened; None before the first."""

    @abstractmethod
    def registers(self) -> dict[str, int]:
        """Words of the 3D engine's registers by name."""

    @abstractmethod
    def read(self, address: int, size: int) -> bytes:
        """Guest memory: physical addresses on a 3DS, those of the GPU's address space on a Switch.

        :raises GuestMemoryError: no memory is there.
        """

    @abstractmethod
    def mapped(self, address: int, size: int) -> list[Range]:
        """The parts of a range that are guest memory, in order; `MAPPED_UNIT` bytes are the smallest that is told
        apart."""

    @property
    def memory_formats(self) -> MemoryFormats:
        """What memory can be shown as."""
        from pocketgpu.inspect.model.memory_pictures import MemoryFormats

        return MemoryFormats()

    def memory_picture(self, address: int, format: str, layout: str, width: int, height: int) -> NDArray[np.uint8]:
        """Memory as a picture: RGBA (height, width, 4), uint8; black where no memory is. Depth is grey, its least value
        black. format, layout: names of `memory_formats`.

        :raises UsageError: there is no such format or layout, or the picture is too large.
        """
        self.memory_formats.check(format, layout, width, height)
        raise AssertionError("a console with formats shows them")

    @property
    @abstractmethod
    def target(self) -> Any:
        """The bound colour target as a picture (`image`, `array`, upright); None without one."""

    @property
    @abstractmethod
    def screens(self) -> dict[str, Any]:
        """What the screens show now, by name."""

    @property
    def pictures(self) -> dict[str, MomentPicture]:
        """Everything to look at, by name: screens, then render targets with depth and stencil."""
        from pocketgpu.inspect.model.address import Address
        from pocketgpu.inspect.model.pictures import ScreenPicture

        frame = self.address if self.address == Address(self.address.frame) else None
        found: list[MomentPicture] = [
            ScreenPicture(name, one, frame, number == 0) for number, (name, one) in enumerate(self.screens.items())
        ]
        event = self.event
        found += self._target_pictures(None if event is None or event.draw is None else event.address)
        return {one.name: one for one in found}

    def targets_at(self, earlier: Moment) -> dict[str, MomentPicture]:
        """The render targets of this moment, by name, with the bytes that their memory had at an earlier moment."""
        return {one.name: one for one in self._target_pictures(None, earlier)}

    def _target_pictures(self, draw: Address | None, earlier: Moment | None = None) -> Iterator[MomentPicture]:
        """Pictures of the render targets. draw: the address of the draw that has just happened; None after others.
        earlier: the moment whose bytes they show; None: this one."""
        return iter(())

    @property
    def textures(self) -> Mapping[Any, Texture]:
        """Bound textures."""
        return {}

    @property
    def programs(self) -> Mapping[str, Program]:
        """Shader programs in order of the pipeline, by unit ("vertex", "pixel"...)."""
        return {}

    @property
    def constants(self) -> list[ConstantBuffer]:
        """Bound constant buffers; a 3DS has uniforms in its programs instead."""
        return []

    @property
    def index_buffer(self) -> IndexBuffer | None:
        """The indices of the draw; None if the draw has none."""
        return None

    @property
    def vertex_buffers(self) -> list[VertexBuffer]:
        """Vertex buffers in use."""
        return []

    @property
    def vertices(self) -> Vertices:
        """Inputs and outputs of the draw's vertices, and how primitives name them.

        :raises UsageError: the moment is not that of a draw.
        """
        raise UsageError("this moment has no vertices", location=str(self.address), hint="Name a draw: f1/d17.")

    def mesh(self, space: str = "output") -> Mesh:
        """The draw's triangles as a mesh, for `to_obj` and `to_glb`; `mesh_of` says what `space` can be.

        :raises UsageError: the moment is not that of a draw, or there is no such space.
        """
        from pocketgpu.inspect.model.meshes import mesh_of

        return mesh_of(self.vertices, space, {}, str(self.address))

    def changes(self, to: Address | str = "previous") -> list[Change]:
        """Registers that differ from those at another place; "previous": the draw before, "reset": at power-on."""
        return []

    def every_register(self) -> list[Change]:
        """All registers that `changes` is about, with all their fields, whether they differ or not. Old values are
        those at reset or power-on."""
        return []

    def unlike(self, other: Moment) -> list[Change]:
        """Registers that differ from those of a moment of another run of the same console, whose values are the old
        ones."""
        from pocketgpu.inspect.model.changes import changes_between

        return changes_between(other.registers(), self.registers())

    @property
    def summary(self) -> Summary:
        """What is in effect, in a few lines: culling, tests, blending, scissor, viewport, targets and so on."""
        from pocketgpu.inspect.model.summary import PARTS, Summary

        return Summary(dict.fromkeys(PARTS, "not known"))

    @property
    def missing(self) -> str:
        """Which of textures, programs and vertices this moment does not have, in a sentence; "" if it has all."""
        return ""

    def to_json(self) -> dict[str, Any]:
        """Where it is, and the registers that differ from power-on (pocketgpu.moment/1); words as hexadecimal."""
        return {
            "schema": "pocketgpu.moment/1", "address": str(self.address),
            "event": None if self.event is None else self.event.to_json(),
            "registers": {one.register: f"{one.new:#010x}" for one in self.changes("reset")},
        }  # fmt: skip

    def __str__(self) -> str:
        if not self.address.names_event:
            where = f"at the end of the {'pass' if self.address.pass_ is not None else 'frame'}"
        else:
            where = f"after {self.event.title}" if self.event is not None else "before the first event"
        return f"{where}; target: {self._target_text()}  {self.address}"

    def _target_text(self) -> str:
        target = self.target
        return "none" if target is None else str(target)

    def __repr__(self) -> str:
        return line_of(self, str(self), "Moment")

    def _repr_png_(self) -> bytes | None:
        target = self.target
        found: bytes | None = None if target is None else target._repr_png_()
        return found

    def _repr_html_(self) -> str:
        """The same with the target as a picture."""
        return title_html(str(self)) + picture_html(self._repr_png_())


__all__ = ["MAPPED_UNIT", "Moment"]
