"""`appletOE` and `appletAE`: what the console and its program tell each other, and the objects for it.

    applet = Applet(kernel)
    kernel.services["appletOE"] = ApplicationProxies(kernel, applet)
    applet.close()  # the program is asked to end
    applet.set_docked(True)

A program opens a *proxy*, of an application or of an applet, and asks it for the objects in `applet_objects.py`.
Source: libnx's applet.c; switchbrew Applet Manager services.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.switch.enumerations import APPLET_MESSAGE, FOCUS, OPERATION_MODE
from pocketgpu.guests.input.answers import Answers
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.applet_functions import (
    AppletCommonFunctions,
    ApplicationCreator,
    ApplicationFunctions,
    DebugFunctions,
    GlobalStateController,
    HomeMenuFunctions,
    LibraryAppletSelf,
    OverlayFunctions,
)
from pocketgpu.guests.switch.services.applet_objects import (
    AudioController,
    CommonStateGetter,
    DisplayController,
    ProcessWindingController,
    SelfController,
    WindowController,
)
from pocketgpu.guests.switch.services.library_applets.creator import LibraryAppletCreator, LibraryApplets

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

MOST_MESSAGES: Final = 256
"""That wait for the program."""


class Applet:
    """What the console knows of its program, and tells it.

    docked: whether the console is in its dock. home_open: whether the HOME menu is in front of the program. covered:
    whether a library applet is. messages: those that the program has not taken. answers: of a player to applets.
    message_event: on while there are some. mode_event: signalled when the console is put into its dock or taken out.
    settings: what the program has set, by the name of the command. make_layer: makes a layer of the display, and gives
    its id. layers: those that the program has asked for. library: the library applets that it can start.
    """

    def __init__(self, kernel: SwitchKernel, make_layer: Callable[[], int | None] | None = None) -> None:
        self.kernel, self.make_layer = kernel, make_layer
        self.docked = self.home_open = self.covered = False
        self.answers = Answers(kernel.events)
        self.library = LibraryApplets(kernel, self.answers, self.set_covered)
        self.messages: deque[int] = deque()
        self.message_event = Event(Reset.STICKY, "applet messages")
        self.mode_event = Event(Reset.STICKY, "operation mode")
        self.settings: dict[str, int] = {}
        self.layers: list[int] = []

    def __repr__(self) -> str:
        return f"<Applet: {'docked' if self.docked else 'handheld'}, {len(self.messages)} messages>"

    # -- what happens to the console --------------------------------------------------------------------------------
    def send(self, message: int) -> None:
        """Tell the program something: a value of APPLET_MESSAGE."""
        if len(self.messages) < MOST_MESSAGES:
            self.messages.append(message)
        self.kernel.signal(self.message_event)

    def close(self) -> None:
        """Ask the program to end."""
        self.send(APPLET_MESSAGE.EXIT)

    def set_docked(self, docked: bool) -> None:
        """Put the console into its dock, or take it out; the program is told, if it wants to know."""
        if docked == self.docked:
            return
        self.docked = docked
        if self.settings.get("SetPerformanceModeChangedNotification"):
            self.send(APPLET_MESSAGE.PERFORMANCE_MODE)
        if self.settings.get("SetOperationModeChangedNotification"):
            self.send(APPLET_MESSAGE.OPERATION_MODE)
        self.kernel.signal(self.mode_event)

    def open_home(self, open: bool) -> None:
        """Open the HOME menu, or close it: the program loses the focus, or has it again."""
        before, self.home_open = self.focus, open
        self._tell_focus(before)

    def set_covered(self, covered: bool) -> None:
        """A library applet comes in front of the program, or goes."""
        before, self.covered = self.focus, covered
        self._tell_focus(before)

    def _tell_focus(self, before: int) -> None:
        if self.focus != before:
            self.send(APPLET_MESSAGE.FOCUS)

    # -- what the program asks --------------------------------------------------------------------------------------
    @property
    def focus(self) -> int:
        """Whether the program has the player's attention: a value of FOCUS."""
        if self.home_open:
            return FOCUS.BACKGROUND
        return FOCUS.OUT_OF_FOCUS if self.covered else FOCUS.IN_FOCUS

    @property
    def operation_mode(self) -> int:
        """Where the console is."""
        return OPERATION_MODE.DOCKED if self.docked else OPERATION_MODE.HANDHELD

    @property
    def performance_mode(self) -> int:
        """0, or 1 in the dock."""
        return int(self.docked and self.kernel.machine.choices["guest.performance_mode"] == "docked")

    def receive(self) -> int | None:
        """The next message; None if there is none."""
        if not self.messages:
            return None
        message = self.messages.popleft()
        if not self.messages:
            self.message_event.on = False
        return message

    def new_layer(self) -> int:
        """The id of a new layer of the display; 0 if there are too many."""
        id = len(self.layers) + 1 if self.make_layer is None else self.make_layer()
        if id is None:
            return 0
        self.layers.append(id)
        return id


# -- proxies ----------------------------------------------------------------------------------------------------------
class _Proxy(Interface):
    """What all proxies have."""

    def __init__(self, kernel: SwitchKernel, applet: Applet) -> None:
        super().__init__(kernel)
        self.applet = applet

    def given(self, kind: type[Interface]) -> CmifAnswer:
        """An object of a kind that only needs the kernel."""
        return CmifAnswer(objects=(kind(self.kernel),))

    @command(0)
    def get_common_state_getter(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(CommonStateGetter(self.kernel, self.applet),))

    @command(1)
    def get_self_controller(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(SelfController(self.kernel, self.applet),))

    @command(2)
    def get_window_controller(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(WindowController(self.kernel, self.applet),))

    @command(3)
    def get_audio_controller(self, request: CmifRequest) -> CmifAnswer:
        return self.given(AudioController)

    @command(4)
    def get_display_controller(self, request: CmifRequest) -> CmifAnswer:
        return self.given(DisplayController)

    @command(10)
    def get_process_winding_controller(self, request: CmifRequest) -> CmifAnswer:
        return self.given(ProcessWindingController)

    @command(11)
    def get_library_applet_creator(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(LibraryAppletCreator(self.kernel, self.applet.library),))

    @command(1000)
    def get_debug_functions(self, request: CmifRequest) -> CmifAnswer:
        return self.given(DebugFunctions)


class ApplicationProxy(_Proxy):
    """Of an application."""

    name = "IApplicationProxy"

    @command(20)
    def get_application_functions(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(ApplicationFunctions(self.kernel, self.applet),))


class _AppletProxy(_Proxy):
    """Of an applet. libnx asks for the common functions first on systems from 7.0 on."""

    @command(23)
    def get_global_state_controller(self, request: CmifRequest) -> CmifAnswer:
        return self.given(GlobalStateController)


class LibraryAppletProxy(_AppletProxy):
    """Of an applet that a program lets do something, such as the keyboard or the album."""

    name = "ILibraryAppletProxy"

    @command(20)
    def open_library_applet_self_accessor(self, request: CmifRequest) -> CmifAnswer:
        return self.given(LibraryAppletSelf)

    @command(21)
    def get_applet_common_functions(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(AppletCommonFunctions(self.kernel, self.applet),))

    @command(22)
    def get_home_menu_functions(self, request: CmifRequest) -> CmifAnswer:
        return self.given(HomeMenuFunctions)


class SystemAppletProxy(_Proxy):
    """Of the HOME menu."""

    name = "ISystemAppletProxy"

    @command(20)
    def get_home_menu_functions(self, request: CmifRequest) -> CmifAnswer:
        return self.given(HomeMenuFunctions)

    @command(21)
    def get_global_state_controller(self, request: CmifRequest) -> CmifAnswer:
        return self.given(GlobalStateController)

    @command(22)
    def get_application_creator(self, request: CmifRequest) -> CmifAnswer:
        return self.given(ApplicationCreator)

    @command(23)
    def get_applet_common_functions(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(AppletCommonFunctions(self.kernel, self.applet),))


class OverlayAppletProxy(_AppletProxy):
    """Of the overlay."""

    name = "IOverlayAppletProxy"

    @command(20)
    def get_overlay_functions(self, request: CmifRequest) -> CmifAnswer:
        return self.given(OverlayFunctions)

    @command(21)
    def get_applet_common_functions(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(AppletCommonFunctions(self.kernel, self.applet),))


# -- services ---------------------------------------------------------------------------------------------------------
class _Opener(Interface):
    """Gives proxies."""

    def __init__(self, kernel: SwitchKernel, applet: Applet) -> None:
        super().__init__(kernel)
        self.applet = applet

    def opened(self, request: CmifRequest, kind: type[_Proxy]) -> CmifAnswer:
        """A proxy for the process whose handle was sent."""
        if request.copies[:1] != (self.kernel.process,):
            return CmifAnswer(result=Result.INVALID_HANDLE)
        return CmifAnswer(objects=(kind(self.kernel, self.applet),))


class ApplicationProxies(_Opener):
    """`appletOE`, for applications."""

    name = "appletOE"

    @command(0)
    def open_application_proxy(self, request: CmifRequest) -> CmifAnswer:
        return self.opened(request, ApplicationProxy)


class AppletProxies(_Opener):
    """`appletAE`, for everybody else."""

    name = "appletAE"

    @command(100)
    @command(110)
    def open_system_applet_proxy(self, request: CmifRequest) -> CmifAnswer:
        return self.opened(request, SystemAppletProxy)

    @command(200)
    @command(201)
    def open_library_applet_proxy(self, request: CmifRequest) -> CmifAnswer:
        return self.opened(request, LibraryAppletProxy)

    @command(300)
    def open_overlay_applet_proxy(self, request: CmifRequest) -> CmifAnswer:
        return self.opened(request, OverlayAppletProxy)

    @command(350)
    def open_system_application_proxy(self, request: CmifRequest) -> CmifAnswer:
        return self.opened(request, ApplicationProxy)
