"""The system software's graphics module (gsp), through which programs use the GPU.

`N3DS().gsp` is a `Gsp`. Its facts are the tables in pocketgpu.facts.gsp, and it uses only the machine's public methods,
like any other client.
"""

from __future__ import annotations

from pocketgpu.pica.gsp.address_map import AddressMap
from pocketgpu.pica.gsp.gsp import Gsp
from pocketgpu.pica.gsp.shared_memory import CommandQueue, FramebufferInfo, InterruptQueue, SharedMemory

__all__ = ["AddressMap", "CommandQueue", "FramebufferInfo", "Gsp", "InterruptQueue", "SharedMemory"]
