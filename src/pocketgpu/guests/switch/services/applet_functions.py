"""Objects of proxies that depend on what the program is: an application, an applet of some kind.

Source: libnx's applet.c; switchbrew Applet Manager services.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.applet_objects import HANDHELD_PICTURE, AppletObject
from pocketgpu.guests.switch.services.settings import language_code

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.applet import Applet

ALBUM: Final = 0x0F
"""Number of the album among applets: homebrew that is no application is started in its place."""
ALL_FOREGROUND: Final = 0
_NO_PROGRAM: Final = -1
DISPLAY_VERSION: Final = "1.0.0"
_VERSION_BYTES: Final = 0x10


class ApplicationFunctions(AppletObject):
    """Of applications."""

    name = "IApplicationFunctions"
    formats: ClassVar[Mapping[int, str]] = {22: "I", 60: "B", 66: "Q", 67: "I", 68: "B", 90: "B", 131: "Q"}

    def __init__(self, kernel: SwitchKernel, applet: Applet) -> None:
        super().__init__(kernel, applet)
        self.events = {
            130: Event(Reset.STICKY, "GPU error"), 140: Event(Reset.STICKY, "friend invitation"),
            150: Event(Reset.STICKY, "notification"), 160: Event(Reset.STICKY, "health warning"),
        }  # fmt: skip

    @command(1)
    @command(141)
    @command(151)
    def pop(self, request: CmifRequest) -> CmifAnswer:
        """What somebody has left for the program: nobody did."""
        return CmifAnswer(result=Result.NO_DATA)

    @command(21)
    def get_desired_language(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(language_code(self.kernel))

    @command(22)
    @command(60)
    @command(66)
    @command(67)
    @command(68)
    @command(90)
    @command(131)
    def set(self, request: CmifRequest) -> CmifAnswer:
        """Among them those about recordings of the game, which nobody asks for by the capture button."""
        return self.kept(request)

    @command(30)
    @command(31)
    @command(32)
    @command(33)
    def block_home_button(self, request: CmifRequest) -> CmifAnswer:
        """Whether the button does nothing; here only a script presses it, which knows what it wants."""
        return CmifAnswer()

    @command(40)
    def notify_running(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", True))

    @command(65)
    def is_game_play_recording_supported(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", False))

    @command(80)
    def exit_and_request_to_show_thanks_message(self, request: CmifRequest) -> CmifAnswer:
        self.kernel.finish(End("exit"))
        return CmifAnswer()

    @command(23)
    def get_display_version(self, request: CmifRequest) -> CmifAnswer:
        """Of the program that homebrew was started in the place of."""
        return CmifAnswer(DISPLAY_VERSION.encode().ljust(_VERSION_BYTES, b"\0"))

    @command(20)
    @command(26)
    @command(28)
    @command(35)
    def ask_for_save_data(self, request: CmifRequest) -> CmifAnswer:
        """Saved data, which the program has none of: see `fsp-srv`."""
        return CmifAnswer(result=Result.TARGET_NOT_FOUND)

    @command(70)
    @command(71)
    @command(72)
    def switch_off(self, request: CmifRequest) -> CmifAnswer:
        """Off, off and on again, asleep: each of them ends the run."""
        self.kernel.finish(End("exit", "the console is switched off"))
        return CmifAnswer()

    @command(100)
    @command(101)
    @command(102)
    def show_copyright(self, request: CmifRequest) -> CmifAnswer:
        """A picture that would be in pictures of the album."""
        return CmifAnswer()

    @command(110)
    @command(111)
    def query_application_play_statistics(self, request: CmifRequest) -> CmifAnswer:
        """How many of the titles that the program names were played."""
        return CmifAnswer(struct.pack("<i", 0))

    @command(123)
    def get_previous_program_index(self, request: CmifRequest) -> CmifAnswer:
        """There was no other program of the same application before."""
        return CmifAnswer(struct.pack("<i", _NO_PROGRAM))

    @command(130)
    @command(140)
    @command(150)
    @command(160)
    def get_event(self, request: CmifRequest) -> CmifAnswer:
        """Events that are never signalled here: nothing of the kind happens."""
        return CmifAnswer(copies=(self.events[request.command],))


class LibraryAppletSelf(Interface):
    """Of applets that a program has started to let them do something. Nobody gives them data here."""

    name = "ILibraryAppletSelfAccessor"

    @command(0)
    @command(2)
    @command(20)
    def pop(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(result=Result.NO_DATA)

    @command(10)
    def exit_process_and_return(self, request: CmifRequest) -> CmifAnswer:
        self.kernel.finish(End("exit"))
        return CmifAnswer()

    @command(11)
    def get_library_applet_info(self, request: CmifRequest) -> CmifAnswer:
        """Which applet the program is started as, and how it covers the display."""
        return CmifAnswer(struct.pack("<2I", ALBUM, ALL_FOREGROUND))


class AppletCommonFunctions(AppletObject):
    """Of all applets."""

    name = "IAppletCommonFunctions"
    formats: ClassVar[Mapping[int, str]] = {0: "I", 50: "B", 70: "i", 80: "B", 81: "B"}

    @command(0)
    @command(50)
    @command(70)
    @command(80)
    @command(81)
    def set(self, request: CmifRequest) -> CmifAnswer:
        return self.kept(request)

    @command(40)
    def get_display_logical_resolution(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<2i", *HANDHELD_PICTURE))

    @command(42)
    def set_display_magnification(self, request: CmifRequest) -> CmifAnswer:
        """Left, top, width, height of the part that is shown larger; pictures here are those of the program."""
        return CmifAnswer()

    @command(52)
    @command(60)
    @command(61)
    @command(62)
    def is_state(self, request: CmifRequest) -> CmifAnswer:
        """No button is blocked, no curtain drawn; the console is neither hot nor empty."""
        return CmifAnswer(struct.pack("<B", False))

    @command(51)
    def get_home_button_double_click_enabled(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", bool(self.applet.settings.get("SetHomeButtonDoubleClickEnabled", 0))))


class HomeMenuFunctions(Interface):
    """Of the HOME menu."""

    name = "IHomeMenuFunctions"

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__(kernel)
        self.channel = Event(Reset.STICKY, "general channel")

    @command(20)
    def pop_from_general_channel(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(result=Result.NO_DATA)

    @command(21)
    def get_pop_from_general_channel_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.channel,))


class GlobalStateController(Interface):
    """Sleep and power."""

    name = "IGlobalStateController"


class ApplicationCreator(Interface):
    """Starts applications."""

    name = "IApplicationCreator"


class OverlayFunctions(Interface):
    """Of the overlay."""

    name = "IOverlayFunctions"


class DebugFunctions(Interface):
    """For developers."""

    name = "IDebugFunctions"
