"""Sessions, domains and services of the Switch go back with everything else."""

from __future__ import annotations

import struct

from support.cmif_client import CmifClient, Idle

from pocketgpu.guests.kernel.files import MemoryFiles
from pocketgpu.guests.kernel.service import Session
from pocketgpu.guests.kernel.state import State
from pocketgpu.guests.switch.abi.sessions import Domain
from pocketgpu.guests.switch.console import SwitchConsole
from pocketgpu.maxwell.gm20b import GM20B


def test_sessions_domains_and_settings_go_back() -> None:
    machine, processor = GM20B(), Idle()
    console = SwitchConsole(processor, machine, MemoryFiles({}))
    client = CmifClient(kernel=console.kernel)
    service = client.service("appletOE")
    clock = client.service("time:s").ask(4, out_objects=1).objects[0]
    state = State([console], outside=[machine, processor])
    views = {address: bytes(view) for address, view in state.views.items() if len(view) <= 0x1000}
    domain = service.to_domain()
    proxy = domain.ask(0, bytes(8), pid=True, handles=[client.process], out_objects=1, size=0).objects[0]
    own = proxy.ask(1, out_objects=1, size=0).objects[0]
    assert own.ask(62, struct.pack("<I", 2)).result == 0
    console.applet.close()
    assert clock.ask(1, struct.pack("<q", 7)).result == 0
    state.restore()
    for address, view in state.views.items():
        if address in views:
            view[:] = views[address]
    session = client.object(service.handle)
    assert isinstance(session, Session) and not isinstance(session.server, Domain)
    assert console.applet.settings == {} and not console.applet.messages
    assert not console.applet.message_event.on
    assert clock.ask(0).values("q") != (7,)
    again = service.to_domain()
    assert again.ask(0, bytes(8), pid=True, handles=[client.process], out_objects=1, size=0).objects[0].id == proxy.id
