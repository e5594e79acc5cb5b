"""`apm`: how fast the console runs. Source: libnx's apm.c; switchbrew PPC services.

Time here is counted in instructions, so a configuration is kept and told, and has no other effect.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.applet import Applet

DEFAULT_CONFIGURATIONS: Final = (0x00020003, 0x00010001)
"""Of a handheld console and of a docked one, by performance mode."""


class ApmSession(Interface):
    """What a program asks for. configurations: by performance mode."""

    name = "apm.ISession"

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__(kernel)
        self.configurations = dict(enumerate(DEFAULT_CONFIGURATIONS))

    @command(0)
    def set_performance_configuration(self, request: CmifRequest) -> CmifAnswer:
        mode, configuration = request.values("iI")
        if mode not in self.configurations:
            return CmifAnswer(result=Result.BAD_PERFORMANCE_MODE)
        self.configurations[mode] = configuration
        return CmifAnswer()

    @command(1)
    def get_performance_configuration(self, request: CmifRequest) -> CmifAnswer:
        (mode,) = request.values("i")
        if mode not in self.configurations:
            return CmifAnswer(result=Result.BAD_PERFORMANCE_MODE)
        return CmifAnswer(struct.pack("<I", self.configurations[mode]))


class Apm(Interface):
    """The service."""

    name = "apm"

    def __init__(self, kernel: SwitchKernel, applet: Applet) -> None:
        super().__init__(kernel)
        self.applet = applet

    @command(0)
    def open_session(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(ApmSession(self.kernel),))

    @command(1)
    def get_performance_mode(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", self.applet.performance_mode))
