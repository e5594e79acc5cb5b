"""`srv:`, where programs ask for services. Source: 3dbrew Services API; libctru's srv.c."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from pocketgpu.guests.kernel.objects import Semaphore
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, Session, command
from pocketgpu.guests.n3ds.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

_MOST_NOTIFICATIONS = 10
_NAME = 8


class Srv(Service):
    """The port `srv:`."""

    name = "srv:"

    @command(0x1)
    def register_client(self, request: Request) -> Answer:
        return Answer()

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        self.notified = Semaphore(0, _MOST_NOTIFICATIONS)
        self.subscribed: set[int] = set()
        self.waiting: deque[int] = deque()

    def publish(self, number: int) -> bool:
        """Notify the program, if it has subscribed to this number; whether it was notified."""
        if number not in self.subscribed or len(self.waiting) >= _MOST_NOTIFICATIONS:
            return False
        self.waiting.append(number)
        self.notified.count += 1
        self.kernel.wake(self.notified)
        return True

    @command(0x2)
    def enable_notification(self, request: Request) -> Answer:
        return Answer(handles=(self.notified,))

    @command(0x5)
    def get_service_handle(self, request: Request) -> Answer:
        """A session; services that are absent here are refused, as to a program without the right for them. A console
        lets a program wait for a service that is not up yet; here all are up before the program starts."""
        name = request.text(1, min(request.words[3], _NAME))
        server = self.kernel.services.get(name)
        if server is None:
            self.kernel.absent_service(name, request.thread)
            return Answer(Result.ACCESS_DENIED, handles=(None,))
        return Answer(handles=(Session(server),), moved=True)

    # -- what programs offer ----------------------------------------------------------------------------------------
    @command(0x3)
    @command(0x6)
    def register(self, request: Request) -> Answer:
        """A program that offers a service or a port itself: no other program could open it."""
        return Answer(Result.ACCESS_DENIED, handles=(None,))

    @command(0x4)
    @command(0x7)
    def unregister(self, request: Request) -> Answer:
        return Answer(Result.NOT_FOUND_PORT)

    @command(0x8)
    def get_port(self, request: Request) -> Answer:
        """Ports by name; there are only those of services, which have none."""
        return Answer(Result.NOT_FOUND_PORT, handles=(None,))

    # -- notifications ----------------------------------------------------------------------------------------------
    @command(0x9)
    def subscribe(self, request: Request) -> Answer:
        self.subscribed.add(request.words[1])
        return Answer()

    @command(0xA)
    def unsubscribe(self, request: Request) -> Answer:
        self.subscribed.discard(request.words[1])
        return Answer()

    @command(0xB)
    def receive_notification(self, request: Request) -> Answer:
        """The next notification; 0 if there is none."""
        return Answer(values=(self.waiting.popleft() if self.waiting else 0,))

    @command(0xC)
    def publish_to_subscriber(self, request: Request) -> Answer:
        """To all programs that have subscribed; the program itself is the only one here."""
        self.publish(request.words[1])
        return Answer()

    @command(0xD)
    def publish_and_get_subscriber(self, request: Request) -> Answer:
        return Answer(values=(int(self.publish(request.words[1])), request.thread.number))

    @command(0xE)
    def is_service_registered(self, request: Request) -> Answer:
        return Answer(values=(int(request.text(1, min(request.words[3], _NAME)) in self.kernel.services),))
