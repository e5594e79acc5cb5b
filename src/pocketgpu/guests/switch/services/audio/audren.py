"""`audren:u`: where programs open sound renderers (`renderer.py`), and ask about devices.

Source: libnx's services/audren.c, services/auddev.c; switchbrew Audio services.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.audio.parameters import Parameters

MOST_RENDERERS: Final = 2
"""That are open at a time."""
_WORK: Final = struct.Struct("<QQ")
"""After the parameters: size of the work buffer, the program's id."""
_WORK_AT: Final = 0x38


class AudioRendererManager(Interface):
    """The service. docked: whether the console is in its dock. renderers: how many are open."""

    name = "audren:u"

    def __init__(self, kernel: SwitchKernel, docked: Callable[[], bool]) -> None:
        super().__init__(kernel)
        self.docked = docked
        self.renderers = 0
        self.device_event = Event(Reset.STICKY, "sound devices")

    def device_changed(self) -> None:
        """Sound goes to another device, such as the television."""
        self.kernel.signal(self.device_event)

    def _parameters(self, request: CmifRequest) -> Parameters:
        """What the program wants; what is not modelled of it is reported."""
        from pocketgpu.guests.switch.services.audio.parameters import Parameters

        found = Parameters(request.data)
        if found.not_modelled:
            name = f"{self.name}: {found.not_modelled}"
            self.kernel.not_modelled("guest.command", name, (found["revision"],), request.thread)
        return found

    @command(0)
    def open_audio_renderer(self, request: CmifRequest) -> CmifAnswer:
        """Parameters; memory that the program lends for it."""
        from pocketgpu.guests.switch.services.audio.renderer import AudioRenderer

        parameters = self._parameters(request)
        if parameters.result != Result.OK:
            return CmifAnswer(result=parameters.result)
        size, _ = _WORK.unpack(request.data[_WORK_AT:].ljust(_WORK.size, b"\0")[: _WORK.size])
        if len(request.copies) < 2 or request.copies[1] is not self.kernel.process:
            return CmifAnswer(result=Result.BAD_SOUND_HANDLE)
        lent = request.copies[0]
        if not isinstance(lent, MemoryBlock):
            return CmifAnswer(result=Result.BAD_SOUND_HANDLE)
        if min(size, len(lent.view)) < parameters.work_size:
            return CmifAnswer(result=Result.SOUND_BUFFER_TOO_SMALL)
        if self.renderers >= MOST_RENDERERS:
            return CmifAnswer(result=Result.OUT_OF_SOUND_RESOURCES)
        return CmifAnswer(objects=(AudioRenderer(self.kernel, self, parameters),))

    @command(1)
    def get_work_buffer_size(self, request: CmifRequest) -> CmifAnswer:
        parameters = self._parameters(request)
        if parameters.result != Result.OK:
            return CmifAnswer(result=parameters.result)
        return CmifAnswer(struct.pack("<Q", parameters.work_size))

    @command(2)
    @command(4)
    def get_audio_device_service(self, request: CmifRequest) -> CmifAnswer:
        """The program's id, and the revision of what it knows about devices."""
        from pocketgpu.guests.switch.services.audio.devices import AudioDevice

        return CmifAnswer(objects=(AudioDevice(self.kernel, self.docked, self.device_event),))
