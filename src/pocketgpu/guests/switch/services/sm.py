"""`sm:`, where programs ask for services. Source: libnx's sm.c; switchbrew Services API."""

from __future__ import annotations

from typing import Final

from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result

NAME_BYTES: Final = 8


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
        name = request.data[:NAME_BYTES].split(b"\0")[0].decode("ascii", "backslashreplace")
        if not name:
            return CmifAnswer(result=Result.BAD_SERVICE_NAME)
        service = self.kernel.services.get(name)
        if service is None:
            self.kernel.absent_service(name, request.thread)
            return CmifAnswer(result=Result.NOT_REGISTERED)
        return CmifAnswer(objects=(service,))

    @command(4)
    def detach_client(self, request: CmifRequest) -> CmifAnswer:
        """The end of what `register_client` began."""
        return CmifAnswer()
