"""`APT:S`, `APT:A` and `APT:U`: starting, waking and ending programs.

A program says that it is ready and waits; then it is sent a wake-up, and runs. To end one from outside, `close` signals
it and answers its question with "close". Source: 3dbrew NS and APT Services; libctru's apt.c.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.objects import Event, KernelObject, Mutex, Reset
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command
from pocketgpu.guests.n3ds.abi.results import Result

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

HOME_MENU: Final = 0x101
WAKE_UP: Final = 1


class Signal(IntEnum):
    """What InquireNotification answers."""

    NONE = 0
    HOME = 1
    CLOSE = 11


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a program is sent."""

    sender: int
    command: int
    data: bytes = b""
    object: KernelObject | None = None


class Apt(Service):
    """One for all three names. notify, resume: the events of the program."""

    name = "APT"

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        self.lock = Mutex()
        self.notify, self.resume = Event(Reset.ONE_SHOT, "apt-notify"), Event(Reset.ONE_SHOT, "apt-resume")
        self.parameters: deque[Parameter] = deque()
        self.signals: deque[Signal] = deque()
        self._woken = False

    def close(self) -> None:
        """Ask the program to end."""
        self.signals.append(Signal.CLOSE)
        self.kernel.signal(self.notify)

    def send(self, parameter: Parameter) -> None:
        """Send the program something, and tell it."""
        self.parameters.append(parameter)
        self.kernel.signal(self.resume)

    # -- start ------------------------------------------------------------------------------------------------------
    @command(0x1)
    def get_lock_handle(self, request: Request) -> Answer:
        return Answer(values=(0, 0), handles=(self.lock,))

    @command(0x2)
    def initialize(self, request: Request) -> Answer:
        return Answer(handles=(self.notify, self.resume))

    @command(0x3)
    def enable(self, request: Request) -> Answer:
        """The program is there, so it is woken."""
        if not self._woken:
            self._woken = True
            self.send(Parameter(HOME_MENU, WAKE_UP))
        return Answer()

    @command(0x4)
    def finalize(self, request: Request) -> Answer:
        return Answer()

    @command(0x5)
    def get_applet_man_info(self, request: Request) -> Answer:
        return Answer(values=(0, 0, 0, 0))

    @command(0x9)
    def is_registered(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x43)
    def notify_to_wait(self, request: Request) -> Answer:
        return Answer()

    @command(0x4B)
    def applet_utility(self, request: Request) -> Answer:
        return Answer(values=(0, 0))

    @command(0x50)
    def set_app_cpu_time_limit(self, request: Request) -> Answer:
        return Answer()

    @command(0x4F)
    def get_app_cpu_time_limit(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x102)
    def check_new_3ds(self, request: Request) -> Answer:
        return Answer(values=(0,))

    @command(0x101)
    def check_new_3ds_app(self, request: Request) -> Answer:
        return Answer(values=(0,))

    # -- parameters -------------------------------------------------------------------------------------------------
    def _parameter(self, keep: bool) -> Answer:
        if not self.parameters:
            return Answer(Result.NO_PARAMETER)
        one = self.parameters[0] if keep else self.parameters.popleft()
        return Answer(
            values=(one.sender, one.command, len(one.data)), handles=(one.object,), moved=True, statics={0: one.data}
        )

    @command(0xD)
    def receive_parameter(self, request: Request) -> Answer:
        return self._parameter(keep=False)

    @command(0xE)
    def glance_parameter(self, request: Request) -> Answer:
        return self._parameter(keep=True)

    @command(0xB)
    def inquire_notification(self, request: Request) -> Answer:
        return Answer(values=(self.signals.popleft() if self.signals else Signal.NONE,))

    # -- ends and applets -------------------------------------------------------------------------------------------
    @command(0x22)
    def prepare_to_close_application(self, request: Request) -> Answer:
        return Answer()

    @command(0x27)
    def close_application(self, request: Request) -> Answer:
        return Answer()

    @command(0x18)
    def prepare_to_start_library_applet(self, request: Request) -> Answer:
        return Answer()

    @command(0x3E)
    def reply_sleep_query(self, request: Request) -> Answer:
        return Answer()

    @command(0x44)
    def get_shared_font(self, request: Request) -> Answer:
        font = self.kernel.font
        return Answer(Result.NO_PARAMETER) if font is None else Answer(values=(layout.FONT,), handles=(font,))
