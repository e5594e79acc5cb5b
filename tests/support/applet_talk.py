"""A program of the Switch that has opened a proxy, as libnx's applet.c does."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from support.cmif_client import CmifClient, Idle, In, Out, Service

from pocketgpu.guests.kernel.files import MemoryFiles
from pocketgpu.guests.kernel.objects import Event
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.maxwell.gm20b import GM20B


class Talk(CmifClient):
    """The program. proxy: what it has opened."""

    def __init__(self, service: str = "appletOE", number: int = 0, choices: Mapping[str, str] | None = None) -> None:
        self.console = SwitchConsole(Idle(), GM20B(switches=choices), MemoryFiles({}))
        super().__init__(kernel=self.console.kernel)
        self.applet = self.console.applet
        self.root = self.service(service).to_domain()
        self.proxy = self.got(self.root, number, data=bytes(8), process=True)

    def got(self, service: Service, number: int, data: bytes = b"", process: bool = False) -> Service:
        """An object that a command gives."""
        handles = [self.process] if process else []
        reply = service.ask(number, data, handles=handles, pid=process, out_objects=1, size=0)
        assert (reply.call, reply.result) == (0, 0)
        return reply.objects[0]

    def event(self, service: Service, number: int) -> Event:
        """An event that a command gives."""
        found = self.object(service.ask(number).copies[0])
        assert isinstance(found, Event)
        return found


class AppletTalk(Talk):
    """A program that starts library applets."""

    def __init__(self, choices: Mapping[str, str] | None = None) -> None:
        super().__init__(choices=choices)
        self.creator = self.got(self.proxy, 11)

    def storage(self, data: bytes) -> Service:
        """A storage with these bytes."""
        made = self.got(self.creator, 10, struct.pack("<q", len(data)))
        accessor = self.got(made, 0)
        assert accessor.ask(10, bytes(8), buffers=[In(data)]).result == 0
        accessor.close()
        return made

    def created(self, id: int, *inputs: bytes, mode: int = 0) -> Service:
        """An applet that has been given its arguments and some data."""
        found = self.got(self.creator, 0, struct.pack("<II", id, mode))
        for data in (struct.pack("<II24x", 1, 0x20), *inputs):
            self.push(found, data)
        return found

    def push(self, applet: Service, data: bytes, command: int = 100) -> None:
        """Give an applet a storage; the program's own object of it is closed, as by libnx."""
        one = self.storage(data)
        assert applet.ask(command, objects=[one]).result == 0
        one.close()

    def popped(self, applet: Service, command: int = 101) -> bytes:
        """The bytes of a storage of an applet."""
        one = self.got(applet, command)
        accessor = self.got(one, 0)
        (size,) = accessor.ask(0).values("q")
        data = accessor.ask(11, bytes(8), buffers=[Out(size)]).outputs[0]
        accessor.close()
        one.close()
        return bytes(data)
