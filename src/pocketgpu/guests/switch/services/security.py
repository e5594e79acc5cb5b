"""`csrng`, `spl:`, `fatal:u`: random numbers, what the console is, and programs that give up. Source: libnx's csrng.c,
spl.c, fatal.c; switchbrew SPL and Fatal services.
"""

from __future__ import annotations

import hashlib
import struct
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result, result_text

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel


class RandomNumbers:
    """Bytes that look random and are the same in every run. drawn: how often some were asked for."""

    def __init__(self) -> None:
        self.drawn = 0

    def draw(self, size: int) -> bytes:
        """The next bytes."""
        self.drawn += 1
        return hashlib.shake_128(self.drawn.to_bytes(8, "little")).digest(size)

    def fill(self, request: CmifRequest) -> CmifAnswer:
        """Answer a request for as many as its buffer has room for."""
        if request.outputs:
            request.output(self.draw(request.outputs[0].size))
        return CmifAnswer()


class RandomService(Interface):
    """`csrng`."""

    name = "csrng"

    def __init__(self, kernel: SwitchKernel, numbers: RandomNumbers) -> None:
        super().__init__(kernel)
        self.numbers = numbers

    @command(0)
    def get_random_bytes(self, request: CmifRequest) -> CmifAnswer:
        return self.numbers.fill(request)


CONFIGURATION: Final = {1: 0, 2: 0, 5: 0, 6: 1, 7: 0, 10: 1, 11: 0, 12: 0, 13: 0, 14: 0}
"""By the number of the item: programs must be signed; memory of 4 GiB; the first model, as sold; no recovery, no
debugging, no console for a shop."""


class ConsoleConfiguration(Interface):
    """`spl:`. What only one console has, such as its id, is not told."""

    name = "spl:"

    def __init__(self, kernel: SwitchKernel, numbers: RandomNumbers) -> None:
        super().__init__(kernel)
        self.numbers = numbers

    @command(0)
    def get_config(self, request: CmifRequest) -> CmifAnswer:
        (item,) = request.values("I")
        if item not in CONFIGURATION:
            return CmifAnswer(result=Result.BAD_CONFIGURATION_ITEM)
        return CmifAnswer(struct.pack("<Q", CONFIGURATION[item]))

    @command(7)
    def generate_random_bytes(self, request: CmifRequest) -> CmifAnswer:
        return self.numbers.fill(request)

    @command(11)
    def is_development(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", False))


_REPORT_ONLY: Final = 1
"""Policy: no screen with the error, and the program goes on."""


class Fatal(Interface):
    """`fatal:u`, which programs call when they cannot go on; a console then shows a screen with the error."""

    name = "fatal:u"

    @command(0)
    @command(1)
    @command(2)
    def throw_fatal(self, request: CmifRequest) -> CmifAnswer:
        """A result, and what is to be done about it (without: all); with 2, registers in a buffer."""
        code, policy = request.values("2I")
        if request.command and policy == _REPORT_ONLY:
            self.kernel.events.report("warning", "guest.fatal", f"the program reports the error {result_text(code)}")
        else:
            self.kernel.finish(End("error", f"{result_text(code)}, thread {request.thread.number}"))
        return CmifAnswer()
