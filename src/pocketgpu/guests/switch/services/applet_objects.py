"""Objects that every program gets from its proxy. Source: libnx's applet.c; switchbrew Applet Manager services.

Commands that only set something are kept under their names in `Applet.settings`. What they set are notifications, which
`Applet` sends, and things that do not happen here: nobody takes a screenshot or lets the console sleep.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Final

from pocketgpu.facts.switch.services import command_name
from pocketgpu.guests.kernel.kernel import End
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.apm import DEFAULT_CONFIGURATIONS

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel
    from pocketgpu.guests.switch.services.applet import Applet

WORLD: Final = 1
_VR_MODE: Final = "SetVrModeEnabled"
HANDHELD_PICTURE, DOCKED_PICTURE = (1280, 720), (1920, 1080)


class AppletObject(Interface):
    """An object that knows what the console and its program tell each other. formats: of arguments that are kept, by
    the number of their command."""

    formats: ClassVar[Mapping[int, str]] = {}

    def __init__(self, kernel: SwitchKernel, applet: Applet) -> None:
        super().__init__(kernel)
        self.applet = applet

    def kept(self, request: CmifRequest) -> CmifAnswer:
        """Keep the first argument under the name of the command."""
        name = command_name(self.name, request.command)
        self.applet.settings[name] = request.values(self.formats[request.command])[0]
        return CmifAnswer()


class CommonStateGetter(AppletObject):
    """What happens to the program."""

    name = "ICommonStateGetter"
    formats: ClassVar[Mapping[int, str]] = {51: "B", 52: "B", 64: "I", 66: "I", 90: "B", 100: "B"}

    def __init__(self, kernel: SwitchKernel, applet: Applet) -> None:
        super().__init__(kernel, applet)
        self.sleep_lock = Event(Reset.STICKY, "sleep lock")
        self.authenticated = Event(Reset.STICKY, "television authenticated")

    @command(0)
    def get_event_handle(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.applet.message_event,))

    @command(1)
    def receive_message(self, request: CmifRequest) -> CmifAnswer:
        message = self.applet.receive()
        if message is None:
            return CmifAnswer(result=Result.NO_MESSAGES)
        return CmifAnswer(struct.pack("<I", message))

    @command(3)
    @command(4)
    def allow_to_enter_sleep(self, request: CmifRequest) -> CmifAnswer:
        """The console never sleeps here, allowed or not."""
        return CmifAnswer()

    @command(10)
    def request_to_acquire_sleep_lock(self, request: CmifRequest) -> CmifAnswer:
        """The program gets it at once."""
        self.kernel.signal(self.sleep_lock)
        return CmifAnswer()

    @command(11)
    @command(12)
    def release_sleep_lock(self, request: CmifRequest) -> CmifAnswer:
        self.sleep_lock.on = False
        return CmifAnswer()

    @command(13)
    def get_acquired_sleep_lock_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.sleep_lock,))

    @command(14)
    def get_wakeup_count(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<Q", 0))

    @command(5)
    def get_operation_mode(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", self.applet.operation_mode))

    @command(6)
    def get_performance_mode(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", self.applet.performance_mode))

    @command(8)
    def get_boot_mode(self, request: CmifRequest) -> CmifAnswer:
        """The console was started as usual, not for maintenance."""
        return CmifAnswer(bytes(1))

    @command(9)
    def get_current_focus_state(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", self.applet.focus))

    @command(50)
    def is_vr_mode_enabled(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", bool(self.applet.settings.get(_VR_MODE, 0))))

    @command(53)
    @command(54)
    def begin_or_end_vr_mode(self, request: CmifRequest) -> CmifAnswer:
        """53: the display shows a picture for each eye, by the program's own drawing; 54: no more."""
        self.applet.settings[_VR_MODE] = int(request.command == 53)
        return CmifAnswer()

    @command(55)
    def is_in_controller_firmware_update_section(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", False))

    @command(60)
    def get_default_display_resolution(self, request: CmifRequest) -> CmifAnswer:
        """Width and height of the console's own display, or of the television."""
        return CmifAnswer(struct.pack("<2i", *(DOCKED_PICTURE if self.applet.docked else HANDHELD_PICTURE)))

    @command(61)
    def get_default_display_resolution_change_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.applet.mode_event,))

    @command(66)
    def set_cpu_boost_mode(self, request: CmifRequest) -> CmifAnswer:
        """Time is counted in instructions here, however fast they are."""
        return self.kept(request)

    @command(67)
    def cancel_cpu_boost_mode(self, request: CmifRequest) -> CmifAnswer:
        self.applet.settings["SetCpuBoostMode"] = 0
        return CmifAnswer()

    @command(63)
    def get_hdcp_authentication_state_change_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.authenticated,))

    @command(51)
    @command(52)
    @command(64)
    @command(90)
    @command(100)
    def set(self, request: CmifRequest) -> CmifAnswer:
        return self.kept(request)

    @command(68)
    def get_built_in_display_type(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<i", 0))

    @command(91)
    def get_current_performance_configuration(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", DEFAULT_CONFIGURATIONS[self.applet.performance_mode]))

    @command(300)
    def get_settings_platform_region(self, request: CmifRequest) -> CmifAnswer:
        """All the world but China."""
        return CmifAnswer(struct.pack("<B", WORLD))


class SelfController(AppletObject):
    """What the program wants for itself."""

    name = "ISelfController"
    formats: ClassVar[Mapping[int, str]] = {
        10: "i", 11: "B", 12: "B", 13: "B", 14: "B", 16: "B", 17: "B", 18: "B", 19: "i", 20: "I", 61: "B", 62: "I",
        64: "I", 68: "B", 72: "I", 80: "i", 100: "B", 130: "B",
    }  # fmt: skip

    def __init__(self, kernel: SwitchKernel, applet: Applet) -> None:
        super().__init__(kernel, applet)
        self.fatal_sections = 0
        self.launchable = Event(Reset.STICKY, "library applets can be launched")
        self.launchable.on = True
        self.suspended = Event(Reset.STICKY, "suspended ticks")

    @command(0)
    def exit(self, request: CmifRequest) -> CmifAnswer:
        """The program ends here and now."""
        self.kernel.finish(End("exit"))
        return CmifAnswer()

    @command(1)
    @command(2)
    def lock_exit(self, request: CmifRequest) -> CmifAnswer:
        """Whether the console must wait for the program if it is to end; here it always does."""
        return CmifAnswer()

    @command(3)
    def enter_fatal_section(self, request: CmifRequest) -> CmifAnswer:
        self.fatal_sections += 1
        return CmifAnswer()

    @command(4)
    def leave_fatal_section(self, request: CmifRequest) -> CmifAnswer:
        if not self.fatal_sections:
            return CmifAnswer(result=Result.NO_FATAL_SECTION)
        self.fatal_sections -= 1
        return CmifAnswer()

    @command(9)
    def get_library_applet_launchable_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.launchable,))

    @command(10)
    @command(11)
    @command(12)
    @command(13)
    @command(14)
    @command(16)
    @command(17)
    @command(18)
    @command(19)
    @command(20)
    @command(61)
    @command(62)
    @command(64)
    @command(68)
    @command(72)
    @command(80)
    @command(100)
    @command(130)
    def set(self, request: CmifRequest) -> CmifAnswer:
        return self.kept(request)

    @command(40)
    def create_managed_display_layer(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<Q", self.applet.new_layer()))

    @command(44)
    def create_managed_display_separable_layer(self, request: CmifRequest) -> CmifAnswer:
        """Two layers, the second one for recordings."""
        return CmifAnswer(struct.pack("<2Q", self.applet.new_layer(), self.applet.new_layer()))

    @command(63)
    def get_idle_time_detection_extension(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", self.applet.settings.get("SetIdleTimeDetectionExtension", 0)))

    @command(65)
    def report_user_is_active(self, request: CmifRequest) -> CmifAnswer:
        """The console would not go to sleep for some time; here it never does."""
        return CmifAnswer()

    @command(60)
    @command(110)
    @command(120)
    def accept(self, request: CmifRequest) -> CmifAnswer:
        """When the display is dimmed, what goes with pictures of the album, a picture for it: it has no album."""
        return CmifAnswer()

    @command(66)
    def get_current_illuminance(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<f", 0))

    @command(71)
    def get_current_illuminance_ex(self, request: CmifRequest) -> CmifAnswer:
        """Whether it is too bright to be measured, and how bright."""
        return CmifAnswer(struct.pack("<If", False, 0))

    @command(67)
    def is_illuminance_available(self, request: CmifRequest) -> CmifAnswer:
        """Nothing measures how bright it is around the console."""
        return CmifAnswer(struct.pack("<B", False))

    @command(69)
    def is_auto_sleep_disabled(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", bool(self.applet.settings.get("SetAutoSleepDisabled", 0))))

    @command(90)
    def get_accumulated_suspended_tick_value(self, request: CmifRequest) -> CmifAnswer:
        """The program was never suspended."""
        return CmifAnswer(struct.pack("<Q", 0))

    @command(91)
    def get_accumulated_suspended_tick_changed_event(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.suspended,))


class WindowController(AppletObject):
    """Whom the display belongs to."""

    name = "IWindowController"

    @command(1)
    def get_applet_resource_user_id(self, request: CmifRequest) -> CmifAnswer:
        """What the program calls itself to the display, the GPU and the controllers."""
        return CmifAnswer(struct.pack("<Q", self.kernel.process_id))

    @command(10)
    @command(11)
    @command(12)
    @command(20)
    @command(21)
    def take_or_give_foreground_rights(self, request: CmifRequest) -> CmifAnswer:
        """No other program could have them, or the GPU's time."""
        return CmifAnswer()


class AudioController(Interface):
    """Volumes that the console gives to the program and to applets in front of it, from 0 to 1."""

    name = "IAudioController"

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__(kernel)
        self.main = self.library = 1.0

    @command(0)
    def set_expected_master_volume(self, request: CmifRequest) -> CmifAnswer:
        self.main, self.library = request.values("2f")
        return CmifAnswer()

    @command(1)
    def get_main_applet_expected_master_volume(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<f", self.main))

    @command(2)
    def get_library_applet_expected_master_volume(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<f", self.library))

    @command(3)
    def change_main_applet_master_volume(self, request: CmifRequest) -> CmifAnswer:
        """A new volume, and how long the change takes."""
        self.main, _ = request.values("f4xQ")
        return CmifAnswer()

    @command(4)
    def set_transparent_volume_rate(self, request: CmifRequest) -> CmifAnswer:
        """How loud the program is while an applet is in front."""
        return CmifAnswer()


class DisplayController(Interface):
    """Pictures of what was on the display; there are none here."""

    name = "IDisplayController"


class ProcessWindingController(Interface):
    """How an applet was started."""

    name = "IProcessWindingController"

    @command(0)
    def get_launch_reason(self, request: CmifRequest) -> CmifAnswer:
        """By somebody, not by the end of an applet that it had started itself."""
        return CmifAnswer(bytes(4))
