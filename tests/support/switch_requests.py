"""Requests to services of a Switch without a program and without messages of the kernel.

    asker = Asker()
    asker.ask(service, 5, "<I", 3).data
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from pocketgpu.guests.kernel.memory import Permission
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.switch.abi import layout
from pocketgpu.guests.switch.abi.cmif import Buffer, CmifAnswer, CmifRequest, Interface
from pocketgpu.guests.switch.kernel import SwitchKernel
from pocketgpu.maxwell.gm20b import GM20B

from .guest_messages import Idle

INPUTS, OUTPUTS = layout.HEAP, layout.HEAP + 0x10000
ROOM = 0x10000


class Asker:
    """A kernel with a thread that asks services, and memory for its buffers."""

    def __init__(self, choices: Mapping[str, str] | None = None, kernel: SwitchKernel | None = None) -> None:
        self.kernel = kernel or SwitchKernel(Idle(), GM20B(switches=choices))
        self.kernel.map_ram("buffers", INPUTS, 2 * ROOM, Permission.READ | Permission.WRITE)
        self.thread = Thread(1, 0x2C, 0)

    def ask(
        self, service: Interface, command: int, format: str = "<", *values: int | bytes, inputs: Sequence[bytes] = (),
        room: int = 0,
    ) -> CmifAnswer:  # fmt: skip
        """Send a request that is answered at once. inputs: bytes of the input buffers. room: size of the output
        buffer."""
        answer = self.send(service, command, format, *values, inputs=inputs, room=room)
        assert answer is not None
        return answer

    def send(
        self, service: Interface, command: int, format: str = "<", *values: int | bytes, inputs: Sequence[bytes] = (),
        room: int = 0,
    ) -> CmifAnswer | None:  # fmt: skip
        """Send a request; None: the thread waits for its answer."""
        at, buffers = INPUTS, []
        for data in inputs:
            self.kernel.space.write(at, data)
            buffers.append(Buffer(at, len(data)))
            at += len(data)
        outputs = [Buffer(OUTPUTS, room)] if room else []
        request = CmifRequest(
            self.kernel, self.thread, command, struct.pack(format, *values), inputs=buffers, outputs=outputs
        )
        return service.handle(request)

    def output(self, size: int) -> bytes:
        """What was stored in the output buffer."""
        return self.kernel.space.read(OUTPUTS, size)
