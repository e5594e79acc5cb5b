"""`srv:`, where programs ask for services. Source: 3dbrew Services API; libctru's srv.c."""

from __future__ import annotations

from pocketgpu.guests.kernel.objects import Semaphore
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, Session, command
from pocketgpu.guests.n3ds.abi.results import Result

_MOST_NOTIFICATIONS = 10
_NAME = 8


class Srv(Service):
    """The port `srv:`."""

    name = "srv:"

    @command(0x1)
    def register_client(self, request: Request) -> Answer:
        return Answer()

    @command(0x2)
    def enable_notification(self, request: Request) -> Answer:
        return Answer(handles=(Semaphore(0, _MOST_NOTIFICATIONS),))

    @command(0x5)
    def get_service_handle(self, request: Request) -> Answer:
        """A session; services that are absent here are refused, as to a program without the right for them."""
        server = self.kernel.services.get(request.text(1, min(request.words[3], _NAME)))
        if server is None:
            return Answer(Result.ACCESS_DENIED, handles=(None,))
        return Answer(handles=(Session(server),), moved=True)

    @command(0x9)
    def subscribe(self, request: Request) -> Answer:
        return Answer()

    @command(0xA)
    def unsubscribe(self, request: Request) -> Answer:
        return Answer()

    @command(0xB)
    def receive_notification(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0xC)
    def publish_to_subscriber(self, request: Request) -> Answer:
        return Answer()

    @command(0xE)
    def is_service_registered(self, request: Request) -> Answer:
        return Answer(values=(int(request.text(1, min(request.words[3], _NAME)) in self.kernel.services),))
