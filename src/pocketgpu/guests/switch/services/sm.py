"""`sm:`, where programs ask for services. Source: libnx's sm.c; switchbrew Services API."""

from __future__ import annotations

from typing import Final

from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.ports import MOST_SESSIONS, ServerPort
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.abi.sessions import Form

NAME_BYTES: Final = 8
MOST_SERVICES: Final = 64
"""That a program may register."""


def _name(request: CmifRequest) -> str:
    return request.data[:NAME_BYTES].split(b"\0")[0].decode("ascii", "backslashreplace")


class ServiceManager(Interface):
    """The port `sm:`. It speaks both protocols, with the same commands."""

    name = "sm:"
    tipc = True

    @command(0)
    def register_client(self, request: CmifRequest) -> CmifAnswer:
        """The program says which process it is; there is no other one here."""
        return CmifAnswer()

    @command(1)
    def get_service_handle(self, request: CmifRequest) -> CmifAnswer:
        """A session. Services that are absent here are refused, as those that no process has registered; a console
        would let the program wait for one that is not up yet, but here all are up before the program starts."""
        name = _name(request)
        if not name:
            return CmifAnswer(result=Result.BAD_SERVICE_NAME)
        own = self.kernel.own_services.get(name)
        if own is not None:
            if len(self.kernel.handles) >= self.kernel.handles.limit:
                return CmifAnswer(result=Result.OUT_OF_HANDLES)
            made = own.connect()
            return CmifAnswer(result=made) if isinstance(made, Result) else CmifAnswer(moves=(made,))
        service = self.kernel.services.get(name)
        if service is None:
            self.kernel.absent_service(name, request.thread)
            return CmifAnswer(result=Result.NOT_REGISTERED)
        return CmifAnswer(objects=(service,))

    @command(2)
    def register_service(self, request: CmifRequest) -> CmifAnswer:
        """The program offers a service itself, to its own threads: it gets the port."""
        name, numbers = _name(request), request.values("8x2I")
        short = request.envelope is not None and request.envelope.form is Form.TIPC
        most, light = numbers if short else numbers[::-1]
        if not name:
            return CmifAnswer(result=Result.BAD_SERVICE_NAME)
        if name in self.kernel.own_services or name in self.kernel.services:
            return CmifAnswer(result=Result.ALREADY_REGISTERED)
        if light & 1 or not 0 < most <= MOST_SESSIONS:
            return CmifAnswer(result=Result.OUT_OF_RANGE)
        if len(self.kernel.own_services) >= MOST_SERVICES:
            return CmifAnswer(result=Result.OUT_OF_SERVICES)
        port = self.kernel.own_services[name] = ServerPort(self.kernel, most)
        return CmifAnswer(moves=(port,))

    @command(3)
    def unregister_service(self, request: CmifRequest) -> CmifAnswer:
        """The service of the program is found no more; its sessions stay."""
        found = self.kernel.own_services.pop(_name(request), None)
        return CmifAnswer(result=Result.NOT_REGISTERED if found is None else Result.OK)

    @command(4)
    def detach_client(self, request: CmifRequest) -> CmifAnswer:
        """The end of what `register_client` began."""
        return CmifAnswer()
