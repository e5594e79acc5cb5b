"""pocketgpu: runs, shows and explains what the GPUs of the Nintendo 3DS and Switch do with commands: those of a
recording, of memory dumps, or your own.

    import pocketgpu

    capture = pocketgpu.open("scene.ctf.xz")
    for frame in capture.render():
        frame.top.image.save(f"f{frame.index}.png")   # a PIL picture; frame.top.array is the same as a NumPy array
    print(pocketgpu.debug(capture).why("f0/d3"))      # what became of a draw; a pixel is "f0/px200,120"

Recordings of both consoles are opened alike. `pocketgpu.N3DS` and `pocketgpu.GM20B` are the machines, for commands of
your own; `pocketgpu.builder` writes such commands, and whole recordings.

Names are imported on first use: `import pocketgpu` alone loads neither NumPy nor the compiler, so the command line
starts fast.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pocketgpu import errors as errors
    from pocketgpu.capture import Capture as Capture
    from pocketgpu.capture import Frame as Frame
    from pocketgpu.capture import open as open
    from pocketgpu.errors import CaptureError as CaptureError
    from pocketgpu.errors import GuestMemoryError as GuestMemoryError
    from pocketgpu.errors import NoPictureError as NoPictureError
    from pocketgpu.errors import PocketGPUError as PocketGPUError
    from pocketgpu.errors import ProgramFault as ProgramFault
    from pocketgpu.errors import UsageError as UsageError
    from pocketgpu.events import Event as Event
    from pocketgpu.guests import App as App
    from pocketgpu.guests import run as run
    from pocketgpu.inspect.inspection import debug as debug
    from pocketgpu.maxwell.compute.raw_module import RawModule as RawModule
    from pocketgpu.maxwell.compute.texture_objects import Surface as Surface
    from pocketgpu.maxwell.compute.texture_objects import Texture as Texture
    from pocketgpu.maxwell.gm20b import GM20B as GM20B
    from pocketgpu.pica.n3ds import N3DS as N3DS
    from pocketgpu.sweeps.sweep import sweep as sweep

__version__ = "0.1.0"

# Module and attribute of each public name; an empty attribute means the module itself.
_HOMES: dict[str, tuple[str, str]] = {
    "App": ("pocketgpu.guests", "App"),
    "GM20B": ("pocketgpu.maxwell.gm20b", "GM20B"),
    "N3DS": ("pocketgpu.pica.n3ds", "N3DS"),
    "Capture": ("pocketgpu.capture", "Capture"),
    "CaptureError": ("pocketgpu.errors", "CaptureError"),
    "Event": ("pocketgpu.events", "Event"),
    "Frame": ("pocketgpu.capture", "Frame"),
    "GuestMemoryError": ("pocketgpu.errors", "GuestMemoryError"),
    "NoPictureError": ("pocketgpu.errors", "NoPictureError"),
    "PocketGPUError": ("pocketgpu.errors", "PocketGPUError"),
    "ProgramFault": ("pocketgpu.errors", "ProgramFault"),
    "RawModule": ("pocketgpu.maxwell.compute.raw_module", "RawModule"),
    "Surface": ("pocketgpu.maxwell.compute.texture_objects", "Surface"),
    "Texture": ("pocketgpu.maxwell.compute.texture_objects", "Texture"),
    "UsageError": ("pocketgpu.errors", "UsageError"),
    "builder": ("pocketgpu.builder", ""),
    "capture": ("pocketgpu.capture", ""),
    "debug": ("pocketgpu.inspect.inspection", "debug"),
    "errors": ("pocketgpu.errors", ""),
    "facts": ("pocketgpu.facts", ""),
    "inspect": ("pocketgpu.inspect", ""),
    "open": ("pocketgpu.capture", "open"),
    "run": ("pocketgpu.guests", "run"),
    "surface": ("pocketgpu.surface", ""),
    "sweep": ("pocketgpu.sweeps.sweep", "sweep"),
}

# `open` is not in the star import on purpose: it would hide the built-in function.
__all__ = [
    "GM20B",
    "N3DS",
    "App",
    "Capture",
    "CaptureError",
    "Event",
    "Frame",
    "GuestMemoryError",
    "NoPictureError",
    "PocketGPUError",
    "ProgramFault",
    "RawModule",
    "Surface",
    "Texture",
    "UsageError",
    "__version__",
    "debug",
    "errors",
    "run",
    "sweep",
]


def __getattr__(name: str) -> Any:
    try:
        module_name, attribute = _HOMES[name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
    module = importlib.import_module(module_name)
    return getattr(module, attribute) if attribute else module


def __dir__() -> list[str]:
    return sorted({*__all__, *_HOMES})
