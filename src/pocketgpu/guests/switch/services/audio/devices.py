"""Where sound comes out, and how loud. Source: libnx's services/auddev.c; switchbrew Audio services."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

NAME_BYTES: Final = 0x100
HEADPHONES, SPEAKERS, TELEVISION = b"AudioStereoJackOutput", b"AudioBuiltInSpeakerOutput", b"AudioTvOutput"
_CHANNELS: Final = 2
_LOUDEST: Final = 1.0


class AudioDevice(Interface):
    """The devices. docked: whether the console is in its dock, so that the television has the sound. volumes: by name.
    changed: signalled when sound goes to another device."""

    name = "IAudioDevice"

    def __init__(self, kernel: SwitchKernel, docked: Callable[[], bool], changed: Event) -> None:
        super().__init__(kernel)
        self.docked, self.changed = docked, changed
        self.volumes = dict.fromkeys((HEADPHONES, SPEAKERS, TELEVISION), _LOUDEST)
        self.input_event = Event(Reset.STICKY, "sound inputs")

    @command(0)
    @command(6)
    def list_audio_device_name(self, request: CmifRequest) -> CmifAnswer:
        names = b"".join(name.ljust(NAME_BYTES, b"\0") for name in self.volumes)
        room = request.outputs[0].size // NAME_BYTES * NAME_BYTES if request.outputs else 0
        return CmifAnswer(struct.pack("<i", request.output(names[:room]) // NAME_BYTES))

    def _named(self, request: CmifRequest) -> bytes | None:
        """The name of the device that a program means; None if there is no such device."""
        name = request.input()[:NAME_BYTES].split(b"\0")[0]
        return name if name in self.volumes else None

    @command(1)
    @command(7)
    def set_audio_device_output_volume(self, request: CmifRequest) -> CmifAnswer:
        name = self._named(request)
        if name is None:
            return CmifAnswer(result=Result.NO_SOUND_DEVICE)
        (self.volumes[name],) = request.values("f")
        return CmifAnswer()

    @command(2)
    @command(8)
    def get_audio_device_output_volume(self, request: CmifRequest) -> CmifAnswer:
        name = self._named(request)
        if name is None:
            return CmifAnswer(result=Result.NO_SOUND_DEVICE)
        return CmifAnswer(struct.pack("<f", self.volumes[name]))

    @command(3)
    @command(10)
    @command(13)
    def get_active_audio_device_name(self, request: CmifRequest) -> CmifAnswer:
        request.output((TELEVISION if self.docked() else SPEAKERS).ljust(NAME_BYTES, b"\0"))
        return CmifAnswer()

    @command(4)
    @command(12)
    def query_audio_device_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.changed,))

    @command(5)
    def get_active_channel_count(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<i", _CHANNELS))

    @command(11)
    def query_audio_device_input_event(self, request: CmifRequest) -> CmifAnswer:
        """Nobody plugs in a microphone."""
        return CmifAnswer(copies=(self.input_event,))
