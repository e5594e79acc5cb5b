"""The system software's graphics module (gsp), the door through which programs reach the GPU.

`N3DS().gsp` is a `Gsp`. It knows nothing that the tables in pocketgpu.facts.gsp do not say, and it drives the machine
through the machine's public methods alone, like any other client.
"""

from __future__ import annotations

from pocketgpu.pica.gsp.addresses import AddressMap
from pocketgpu.pica.gsp.gsp import Gsp
from pocketgpu.pica.gsp.shared_memory import CommandQueue, FramebufferInfo, InterruptQueue, SharedMemory

__all__ = ["AddressMap", "CommandQueue", "FramebufferInfo", "Gsp", "InterruptQueue", "SharedMemory"]
