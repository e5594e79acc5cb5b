"""Services that only answer: `ndm:u`. Source: 3dbrew NDM Services; libctru's ndm.c."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel


class Ndm(Service):
    """`ndm:u`: programs suspend background work before they use the network. There is none, so all is accepted."""

    name = "ndm:u"

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        self.exclusive = self.interval = 0

    @command(0x1)
    def enter_exclusive_state(self, request: Request) -> Answer:
        self.exclusive = request.words[1]
        return Answer()

    @command(0x2)
    def leave_exclusive_state(self, request: Request) -> Answer:
        self.exclusive = 0
        return Answer()

    @command(0x3)
    def get_exclusive_state(self, request: Request) -> Answer:
        return Answer(values=(self.exclusive,))

    @command(0x4)
    @command(0x5)
    @command(0x6)
    @command(0x7)
    @command(0x8)
    @command(0x9)
    @command(0x15)
    @command(0x17)
    def change_daemons(self, request: Request) -> Answer:
        """Locks, suspends, resumes or resets what works in the background."""
        return Answer()

    @command(0xA)
    @command(0xD)
    @command(0x13)
    @command(0x16)
    def get_state(self, request: Request) -> Answer:
        """Nothing works in the background, and nothing is tried again."""
        return Answer(values=(0,))

    @command(0x10)
    def set_scan_interval(self, request: Request) -> Answer:
        self.interval = request.words[1]
        return Answer()

    @command(0x11)
    def get_scan_interval(self, request: Request) -> Answer:
        return Answer(values=(self.interval,))
