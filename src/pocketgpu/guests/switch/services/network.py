"""`nifm:u`, `nifm:s`, `nifm:a`: whether the console has a network. It has none. Source: libnx's nifm.h and nifm.c;
switchbrew Network Interface services.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

_CLIENT: Final = struct.pack("<I", 1)
_NOT_ACCEPTED: Final = 1
"""State of a request that was not handed in, or that failed."""


class Network(Interface):
    """The service; all of its names give the same object."""

    name = "nifm:u"
    also = ("nifm:s", "nifm:a")

    @command(4)
    @command(5)
    def create_general_service(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(GeneralNetwork(self.kernel),))


class GeneralNetwork(Interface):
    """What programs ask: questions about a connection fail, as on a console that has none."""

    name = "nifm.IGeneralService"

    @command(1)
    def get_client_id(self, request: CmifRequest) -> CmifAnswer:
        request.output(_CLIENT)
        return CmifAnswer()

    @command(4)
    def create_request(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(NetworkRequest(self.kernel),))

    @command(5)
    @command(8)
    @command(12)
    @command(15)
    @command(18)
    def ask_about_connection(self, request: CmifRequest) -> CmifAnswer:
        """Its profile, address and strength."""
        return CmifAnswer(result=Result.NOT_CONNECTED)

    @command(17)
    @command(20)
    @command(21)
    @command(22)
    def is_there(self, request: CmifRequest) -> CmifAnswer:
        """Radio, cable, and somebody's request that was accepted."""
        return CmifAnswer(struct.pack("<B", False))


class NetworkRequest(Interface):
    """A program's wish to be connected. state_changed, other: its events; a refusal signals the first one."""

    name = "nifm.IRequest"

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__(kernel)
        self.state_changed = Event(Reset.STICKY, "state of a network request")
        self.other = Event(Reset.STICKY, "network request")

    @command(0)
    def get_request_state(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", _NOT_ACCEPTED))

    @command(1)
    def get_result(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(result=Result.RADIO_IS_OFF)

    @command(2)
    def get_system_event_readable_handles(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.state_changed, self.other))

    @command(3)
    @command(4)
    def submit_or_cancel(self, request: CmifRequest) -> CmifAnswer:
        """It is refused at once."""
        self.kernel.signal(self.state_changed)
        return CmifAnswer()
