"""`APT:S`, `APT:A` and `APT:U`: starting, waking and ending programs.

A program says that it is ready and waits; then it is sent a wake-up, and runs. To end one from outside, `close` signals
it and answers its question with "close". The HOME menu and library applets are here, but nothing of them is
shown. Source: 3dbrew NS and APT Services; libctru's apt.c.
"""

from __future__ import annotations

from collections import deque
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from pocketgpu.errors import UsageError
from pocketgpu.facts.applets import Applet
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.kernel.memory import PAGE, host_memory
from pocketgpu.guests.kernel.objects import Event, KernelObject, Mutex, Reset
from pocketgpu.guests.n3ds.abi import layout
from pocketgpu.guests.n3ds.abi.messages import Answer, Request, Service, command
from pocketgpu.guests.n3ds.abi.results import Result
from pocketgpu.guests.n3ds.services.applets import Applets, Id
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.n3ds.kernel import N3DSKernel

_APPLICATION: Final = 0x300
_CAPTURE_LIMIT: Final = 8 << 20
_JUMP_NAMES: Final = {0: "another program", 1: "itself", 2: "itself"}


class Message(IntEnum):
    """Commands of parameters."""

    WAKE_UP = 1
    REQUEST = 2
    RESPONSE = 3
    MESSAGE = 5
    APPLET_ENDED = 10
    BACK_FROM_HOME = 11
    SYSTEM_REQUEST = 16


class Signal(IntEnum):
    """What InquireNotification answers."""

    NONE = 0
    HOME = 1
    SLEEP_QUERY = 3
    SLEEP = 5
    AWAKE = 6
    SHUT_DOWN = 7
    POWER = 8
    CLOSE = 11


_BUTTONS: Final = {
    "HOME": Signal.HOME, "POWER": Signal.POWER, "SLEEP": Signal.SLEEP_QUERY, "CLOSE": Signal.CLOSE,
}  # fmt: skip
_ACCEPTED: Final = 1
_MOST_WAITING: Final = 16
"""Parameters and signals that wait for the program; it is not to fill the host's memory with them."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a program is sent."""

    sender: int
    command: int
    data: bytes = b""
    object: KernelObject | None = None


class Apt(Service):
    """One for all three names. notify, resume: the events of the program. applets: what it can start."""

    name, also = "APT:U", ("APT:A", "APT:S")

    def __init__(self, kernel: N3DSKernel) -> None:
        super().__init__(kernel)
        self.lock = Mutex()
        self.notify, self.resume = Event(Reset.ONE_SHOT, "apt-notify"), Event(Reset.ONE_SHOT, "apt-resume")
        self.parameters: deque[Parameter] = deque(maxlen=_MOST_WAITING)
        self.signals: deque[Signal] = deque(maxlen=_MOST_WAITING)
        self.applets = Applets(kernel.events)
        self.cpu_share = 0
        self._here = kernel.machine.choices["guest.applets"] == "answered"
        self._woken = self._powering_off = False
        self._asked_to_sleep = False
        self._applet = 0
        self._waiting: tuple[bytes, MemoryBlock | None] | None = None

    # -- from outside -----------------------------------------------------------------------------------------------
    def press(self, button: str) -> None:
        """Press what a program gets as a signal: "HOME", "POWER", "SLEEP" (the lid, closed and opened again), or
        "CLOSE" (the order to end).

        :raises UsageError: there is no such button.
        """
        signal = _BUTTONS.get(button.upper())
        if signal is None:
            raise UsageError(f"there is no button {button!r}", hint=f"There are {', '.join(_BUTTONS)}.")
        self._powering_off |= signal is Signal.POWER
        self._asked_to_sleep |= signal is Signal.SLEEP_QUERY
        self._signal(signal)

    def close(self) -> None:
        """Ask the program to end."""
        self._signal(Signal.CLOSE)

    def _signal(self, signal: Signal) -> None:
        self.signals.append(signal)
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
            self.send(Parameter(Id.HOME_MENU, Message.WAKE_UP))
        return Answer()

    @command(0x4)
    def finalize(self, request: Request) -> Answer:
        return Answer()

    @command(0x5)
    def get_applet_man_info(self, request: Request) -> Answer:
        """Position asked for, applet there, the HOME menu, who is active."""
        if not self._here:
            return Answer(values=(0, 0, 0, 0))
        return Answer(values=(0, _APPLICATION, Id.HOME_MENU, _APPLICATION))

    @command(0x6)
    def get_applet_info(self, request: Request) -> Answer:
        """Program id (two words), medium, whether it is registered and loaded, attributes."""
        there = int(self._registered(request.words[1]))
        return Answer(values=(0, 0, 0, there, there, 0))

    def _registered(self, applet: int) -> bool:
        return self._here and applet in (Id.HOME_MENU, _APPLICATION, self._applet)

    @command(0x9)
    def is_registered(self, request: Request) -> Answer:
        return Answer(values=(int(self._registered(request.words[1])),))

    @command(0x58)
    def get_program_id(self, request: Request) -> Answer:
        return Answer(values=(0, 0))

    @command(0x43)
    def notify_to_wait(self, request: Request) -> Answer:
        return Answer()

    @command(0x4B)
    def applet_utility(self, request: Request) -> Answer:
        return Answer(values=(0, 0))

    @command(0x4F)
    def set_app_cpu_time_limit(self, request: Request) -> Answer:
        """The share of the second core for the program."""
        self.cpu_share = request.words[2]
        return Answer()

    @command(0x50)
    def get_app_cpu_time_limit(self, request: Request) -> Answer:
        return Answer(values=(self.cpu_share,))

    @command(0x4E)
    def hardware_reset(self, request: Request) -> Answer:
        self.kernel.finish(End("close", "the program resets the console"))
        return Answer()

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

    @command(0xF)
    def cancel_parameter(self, request: Request) -> Answer:
        """Drop the next parameter, if it is from the sender that the program names, or it names none."""
        sender = request.words[2] if request.words[1] else None
        found = bool(self.parameters) and sender in (None, self.parameters[0].sender)
        if found:
            self.parameters.popleft()
        return Answer(values=(int(found),))

    @command(0xC)
    def send_parameter(self, request: Request) -> Answer:
        """To an applet: a request for memory for the screens, or a message about a text."""
        receiver, kind = request.words[2:4]
        if not self._registered(receiver):
            return Answer(Result.NO_PARAMETER)
        if kind in (Message.REQUEST, Message.SYSTEM_REQUEST):
            size = -(-min(Applet("capture", request.static(7))["size"], _CAPTURE_LIMIT) // PAGE) * PAGE
            block = MemoryBlock("screens for an applet", host_memory(max(PAGE, size)))
            self.send(Parameter(receiver, Message.RESPONSE, object=block))
        elif kind == Message.MESSAGE and self.applets.asked:
            data = request.static(7)
            if (said := self.applets.checked(data)) is not None:
                self._applet_says(*said)
            else:
                self._wait_for_answer(data, self.applets.block)
        return Answer()

    @command(0x40)
    def send_capture_buffer_info(self, request: Request) -> Answer:
        return Answer()

    @command(0x35)
    def receive_deliver_arg(self, request: Request) -> Answer:
        """What the program that started this one has left for it: nothing."""
        return Answer(values=(0, 0, 0))

    @command(0xB)
    def inquire_notification(self, request: Request) -> Answer:
        signal = self.signals.popleft() if self.signals else Signal.NONE
        if self.signals:
            self.kernel.signal(self.notify)
        return Answer(values=(signal,))

    # -- ends and applets -------------------------------------------------------------------------------------------
    @command(0x22)
    def prepare_to_close_application(self, request: Request) -> Answer:
        return Answer()

    @command(0x27)
    def close_application(self, request: Request) -> Answer:
        return Answer()

    @command(0x23)
    def prepare_to_jump_to_application(self, request: Request) -> Answer:
        return Answer()

    @command(0x4D)
    def get_applet_program_info(self, request: Request) -> Answer:
        """The version of an applet."""
        return Answer(values=(0,))

    @command(0x31)
    def prepare_to_do_application_jump(self, request: Request) -> Answer:
        """The program asks the system to start another program, or itself, after its end."""
        flags, low, high = request.words[1:4]
        what = _JUMP_NAMES.get(flags, "another program") if flags else f"the title {high:08x}{low:08x}"
        self.kernel.events.report("warning", "guest.jump", f"the program asks the system to start {what}")
        return Answer()

    @command(0x32)
    def do_application_jump(self, request: Request) -> Answer:
        return Answer()

    # -- applets ----------------------------------------------------------------------------------------------------
    @command(0x16)
    @command(0x18)
    def prepare_to_start_library_applet(self, request: Request) -> Answer:
        self._applet = request.words[1]
        return Answer()

    @command(0x19)
    def prepare_to_start_system_applet(self, request: Request) -> Answer:
        self._applet = request.words[1]
        return Answer()

    @command(0x1E)
    def start_library_applet(self, request: Request) -> Answer:
        """The applet runs; as soon as it is answered it ends, and the program is woken with its data."""
        block = request.object(4)
        self._applet = request.words[1]
        self._wait_for_answer(request.static(5), block if isinstance(block, MemoryBlock) else None)
        return Answer()

    def _wait_for_answer(self, data: bytes, block: MemoryBlock | None) -> None:
        """Run the applet; later, if it needs an answer that comes later."""
        self._waiting = data, block
        if not self.applets.asks(self._applet):
            self._run_applet()

    def answer(self, text: str | None) -> None:
        """What the player says to the applet that waits, or else to the next one. None cancels it."""
        self.applets.answers.scripted.append(text)
        self._run_applet()

    def _run_applet(self) -> None:
        if self._waiting is not None:
            (data, block), self._waiting = self._waiting, None
            self._applet_says(*self.applets.run(self._applet, data, block))

    def _applet_says(self, data: bytes, done: bool) -> None:
        self.send(Parameter(self._applet, Message.APPLET_ENDED if done else Message.MESSAGE, data))

    @command(0x1F)
    def start_system_applet(self, request: Request) -> Answer:
        """System applets, such as the browser, are left at once."""
        return self._back_from_home()

    @command(0x2B)
    def prepare_to_jump_to_home_menu(self, request: Request) -> Answer:
        return Answer()

    @command(0x2C)
    def jump_to_home_menu(self, request: Request) -> Answer:
        """The program is woken again at once. If the power button was pressed, it gets the signal to shut down."""
        if self._powering_off:
            self._signal(Signal.SHUT_DOWN)
        return self._back_from_home()

    def _back_from_home(self) -> Answer:
        self.send(Parameter(Id.HOME_MENU, Message.BACK_FROM_HOME))
        return Answer()

    # -- sleep ------------------------------------------------------------------------------------------------------
    @command(0x3E)
    def reply_sleep_query(self, request: Request) -> Answer:
        """A program that agrees is put to sleep; programs also say no without being asked."""
        if self._asked_to_sleep and request.words[2] == _ACCEPTED:
            self._signal(Signal.SLEEP)
        self._asked_to_sleep = False
        return Answer()

    @command(0x3F)
    def reply_sleep_notification_complete(self, request: Request) -> Answer:
        """The program sleeps; the lid is opened at once."""
        self._signal(Signal.AWAKE)
        return Answer()

    @command(0x42)
    def sleep_system(self, request: Request) -> Answer:
        return Answer()

    @command(0x44)
    def get_shared_font(self, request: Request) -> Answer:
        font = self.kernel.font
        return Answer(Result.NO_PARAMETER) if font is None else Answer(values=(layout.FONT,), handles=(font,))
