"""`hid`: controllers, touch screen and motion. Source: libnx's hid.h and hid.c; switchbrew, HID services.

Programs read what a player does in shared memory, which is written at each VBlank. The only controller is what the
choice `guest.controller` says, as player 1 or, of the console itself, as "handheld".
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.dialect.records import Record
from pocketgpu.facts.switch.hid import (
    HANDHELD,
    HID,
    IDS,
    OTHER,
    SHARED_SIZE,
    TOUCHES,
    Assignment,
    Attribute,
    Device,
    Style,
    place,
)
from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.memory import host_memory
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.services.hid_input import Input
from pocketgpu.guests.switch.services.hid_rings import Ring
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

_BODY, _BUTTONS = 0xFF2D2D2D, 0xFFE6E6E6
"""Colours of the controller: red in the low byte."""
_CHARGED: Final = 4
_NANOSECONDS: Final = 10**9 // 60
_UNTURNED: Final = struct.pack("<9f", 1, 0, 0, 0, 1, 0, 0, 0, 1)
_FINGER_IS_NEW: Final = 1
_FINGER: Final = 15
"""Width and height of a finger."""
_MOTOR_LINEAR, _LEFT, _RIGHT = 1, 1, 2
"""Kind and place of a motor."""
_STILL: Final = struct.pack("<4f", 0, 160, 0, 320)
"""Strength and frequency of the low and of the high band. Source: libnx's HidVibrationValue."""
_LAMPS: Final = (1, 3, 7, 15, 9, 5, 13, 6)
"""Patterns of the lamps of players 1 to 8."""
_DRIFT_STANDARD: Final = 1
"""How the zero of the motion sensors is followed."""

_BLUETOOTH, _RAIL, _USB = 1, 2, 3
_WAYS: Final = {
    "full_key": _USB, "handheld": _RAIL, "joy_dual": _BLUETOOTH, "joy_left": _BLUETOOTH, "joy_right": _BLUETOOTH
}  # fmt: skip
"""How a controller talks to the console, by the ring of its buttons."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of controller. ring: of its buttons. sensors: rings of its motion sensors. place: among all of them."""

    style: Style
    device: Device
    attributes: Attribute
    ring: str
    sensors: tuple[str, ...]
    place: int = 0
    assignment: Assignment = Assignment.DUAL


_KINDS: Final = {
    "pro": _Kind(
        Style.FULL_KEY, Device.FULL_KEY, Attribute.CONNECTED | Attribute.WIRED, "full_key", ("six_axis_full_key",)
    ),
    "handheld": _Kind(
        Style.HANDHELD, Device.HANDHELD_LEFT | Device.HANDHELD_RIGHT,
        Attribute.CONNECTED | Attribute.WIRED | Attribute.LEFT_CONNECTED | Attribute.LEFT_WIRED
        | Attribute.RIGHT_CONNECTED | Attribute.RIGHT_WIRED,
        "handheld", ("six_axis_handheld",), HANDHELD,
    ),
    "pair": _Kind(
        Style.JOY_DUAL, Device.JOY_LEFT | Device.JOY_RIGHT,
        Attribute.CONNECTED | Attribute.LEFT_CONNECTED | Attribute.RIGHT_CONNECTED,
        "joy_dual", ("six_axis_dual_left", "six_axis_dual_right"),
    ),
    "left": _Kind(
        Style.JOY_LEFT, Device.JOY_LEFT, Attribute.CONNECTED | Attribute.LEFT_CONNECTED, "joy_left",
        ("six_axis_joy_left",), assignment=Assignment.SINGLE,
    ),
    "right": _Kind(
        Style.JOY_RIGHT, Device.JOY_RIGHT, Attribute.CONNECTED | Attribute.RIGHT_CONNECTED, "joy_right",
        ("six_axis_joy_right",), assignment=Assignment.SINGLE,
    ),
}  # fmt: skip
"""By the value of the choice."""


class Hid(Interface):
    """The service. block: its shared memory. now: what the player does since the last VBlank. docked: whether the
    console is in its dock, where nobody holds it. connected: whether the controller is. supported: styles that the
    program takes; None before it said so. ids: places of the controllers that it takes."""

    name = "hid"

    def __init__(self, kernel: SwitchKernel) -> None:
        super().__init__(kernel)
        choices = kernel.machine.choices
        self.block = MemoryBlock("hid's shared memory", host_memory(SHARED_SIZE))
        self._few = choices["guest.pads"] == "few"
        self._kind = _KINDS[choices["guest.controller"]]
        self.now = Input()
        self.supported: Style | None = None
        self.ids: frozenset[int] | None = None
        self.hold_type, self.handheld_activation, self.communication = 0, 0, 0
        self.connected, self.docked = True, choices["guest.mode"] == "docked"
        self._changed: dict[int, Event] = {}
        self._sensing: list[str] = []
        self._active: list[str] = []
        self._fusion, self._drift_mode, self._strength = True, _DRIFT_STANDARD, 1.0
        self._here = False
        view = self.block.view
        self._pad_at = place("shared_memory", "npads") + self._kind.place * HID.size("npad")
        self._pad = Ring(view, self._pad_at + place("npad", self._kind.ring), "pad_state", full=self._few)
        self._others: dict[str, Ring] = {}
        self._sensors: dict[str, Ring] = {}
        if not self._few:
            for name in ("touch", "mouse", "keyboard", "debug_pad"):
                self._others[name] = Ring(view, place("shared_memory", name), f"{name}_state")
            for name in self._kind.sensors:
                self._sensors[name] = Ring(view, self._pad_at + place("npad", name), "six_axis_state")
            self._describe_nobody()
        self.update(Input())

    # -- shared memory ----------------------------------------------------------------------------------------------
    def _describe_nobody(self) -> None:
        """Places without a controller."""
        empty = HID.make("npad")
        for number in range(OTHER + 1):
            at = place("shared_memory", "npads") + number * len(empty.data)
            self.block.view[at : at + place("npad", "full_key")] = empty.data[: place("npad", "full_key")]

    def _describe(self) -> None:
        """The controller comes or goes, by what the program takes."""
        here = self._wanted()
        if here == self._here:
            return
        self._here, kind = here, self._kind
        about = HID.make("npad")
        if here:
            about["style_set"] = kind.style
            about["assignment"] = Assignment.SINGLE if self._few else kind.assignment
        if here and not self._few:
            for name in ("colour_state", "joy_colour_state"):
                about[name] = 0
            for name in ("colour_body", "joy_left_body", "joy_right_body"):
                about[name] = _BODY
            for name in ("colour_buttons", "joy_left_buttons", "joy_right_buttons"):
                about[name] = _BUTTONS
            about["device_type"] = kind.device
            for half in range(3):
                about.set_number("battery", half, _CHARGED)
        head, tail = place("npad", "full_key"), place("npad", "device_type")
        if self._few:
            head = place("npad", "colour_state")
        view = self.block.view
        view[self._pad_at : self._pad_at + head] = about.data[:head]
        view[self._pad_at + tail : self._pad_at + len(about.data)] = about.data[tail:]
        number = next(id for id, index in IDS.items() if index == kind.place)
        if number in self._changed:
            self.kernel.signal(self._changed[number])

    def _wanted(self) -> bool:
        if self._few:
            return True
        kind = self._kind
        styles = self.supported is None or bool(self.supported & kind.style)
        held = not (self.docked and kind.style == Style.HANDHELD)
        return self.connected and held and styles and (self.ids is None or kind.place in self.ids)

    def update(self, new: Input) -> None:
        """The next entries of everything: what the player does from now on."""
        before, self.now = self.now, new
        self._describe()
        if self._here:
            self._pad.add(self._pad_state(new))
        for name, ring in self._others.items():
            if name == "touch":
                self._touch(ring, new, before)
            elif name in self._active:
                ring.add(HID.make(ring.record))
        for name in self._sensing:
            self._sense(self._sensors[name], new)

    def _pad_state(self, new: Input) -> Record:
        state = HID.make("pad_state")
        state["buttons"] = new.pad
        state["left_x"], state["left_y"] = new.left
        state["right_x"], state["right_y"] = new.right
        state["attributes"] = self._kind.attributes
        return state

    @staticmethod
    def _touch(ring: Ring, new: Input, before: Input) -> None:
        state, size = HID.make("touch_state"), HID.size("touch")
        touching = {number for number, _, _ in before.touches}
        fingers = bytearray()
        for number, x, y in new.touches[:TOUCHES]:
            one = HID.make("touch")
            one["delta"], one["finger"], one["x"], one["y"] = _NANOSECONDS, number, x, y
            one["attributes"] = 0 if number in touching else _FINGER_IS_NEW
            one["width"] = one["height"] = _FINGER
            fingers += one.data
        state["count"] = len(fingers) // size
        state.set_part("touches", fingers)
        ring.add(state)

    @staticmethod
    def _sense(ring: Ring, new: Input) -> None:
        state = HID.make("six_axis_state")
        state["delta"] = _NANOSECONDS
        state.set_part("acceleration", struct.pack("<3f", *new.acceleration))
        state.set_part("rotation", struct.pack("<3f", *new.rotation))
        state.set_part("direction", _UNTURNED)
        ring.add(state)

    # -- commands: what is there ------------------------------------------------------------------------------------
    @command(0)
    def create_applet_resource(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(AppletResource(self),))

    def _activate(self, name: str) -> CmifAnswer:
        if name not in self._active:
            self._active.append(name)
        return CmifAnswer()

    @command(1)
    def activate_debug_pad(self, request: CmifRequest) -> CmifAnswer:
        return self._activate("debug_pad")

    @command(11)
    def activate_touch_screen(self, request: CmifRequest) -> CmifAnswer:
        return self._activate("touch")

    @command(21)
    def activate_mouse(self, request: CmifRequest) -> CmifAnswer:
        return self._activate("mouse")

    @command(31)
    def activate_keyboard(self, request: CmifRequest) -> CmifAnswer:
        return self._activate("keyboard")

    @command(32)
    @command(91)
    @command(92)
    @command(300)
    @command(301)
    @command(302)
    @command(303)
    @command(304)
    @command(305)
    @command(306)
    @command(307)
    @command(310)
    @command(401)
    @command(1002)
    def accept(self, request: CmifRequest) -> CmifAnswer:
        """Lock keys of a keyboard, gestures, the console's own sensors, USB, how the touch screen works: nothing is
        known of them here, as of a console that nobody moves."""
        return CmifAnswer()

    @command(308)
    def set_seven_six_axis_sensor_fusion_strength(self, request: CmifRequest) -> CmifAnswer:
        (self._strength,) = request.values("f")
        return CmifAnswer()

    @command(309)
    def get_seven_six_axis_sensor_fusion_strength(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<f", self._strength))

    @command(83)
    @command(400)
    @command(402)
    def is_it_so(self, request: CmifRequest) -> CmifAnswer:
        """No new firmware for sensors, no controller of which a program would have to know that it is on USB."""
        return CmifAnswer(struct.pack("<B", False))

    # -- motion -----------------------------------------------------------------------------------------------------
    def _sensor(self, request: CmifRequest) -> str | None:
        """The ring of the sensor that a handle names: byte 2 says which half of a controller."""
        names = tuple(self._sensors)
        half = request.data[2] if len(request.data) > 2 else 0
        return names[min(half, len(names) - 1)] if names else None

    @command(66)
    def start_six_axis_sensor(self, request: CmifRequest) -> CmifAnswer:
        name = self._sensor(request)
        if name is not None and name not in self._sensing:
            self._sensing.append(name)
        return CmifAnswer()

    @command(67)
    def stop_six_axis_sensor(self, request: CmifRequest) -> CmifAnswer:
        name = self._sensor(request)
        if name in self._sensing:
            self._sensing.remove(name)
        return CmifAnswer()

    @command(68)
    def is_six_axis_sensor_fusion_enabled(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(bytes([self._fusion]))

    @command(69)
    def enable_six_axis_sensor_fusion(self, request: CmifRequest) -> CmifAnswer:
        self._fusion = bool(request.data[:1].strip(b"\0"))
        return CmifAnswer()

    @command(70)
    @command(72)
    @command(73)
    @command(75)
    @command(76)
    @command(78)
    def set_up_sensors(self, request: CmifRequest) -> CmifAnswer:
        """How what they measure is put together: scripts say what they tell."""
        return CmifAnswer()

    @command(79)
    def set_gyroscope_zero_drift_mode(self, request: CmifRequest) -> CmifAnswer:
        _, self._drift_mode = request.values("II")
        return CmifAnswer()

    @command(80)
    def get_gyroscope_zero_drift_mode(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", self._drift_mode))

    @command(81)
    def reset_gyroscope_zero_drift_mode(self, request: CmifRequest) -> CmifAnswer:
        self._drift_mode = _DRIFT_STANDARD
        return CmifAnswer()

    @command(82)
    def is_six_axis_sensor_at_rest(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(bytes([not any(self.now.rotation)]))

    # -- controllers ------------------------------------------------------------------------------------------------
    @command(100)
    def set_supported_npad_style_set(self, request: CmifRequest) -> CmifAnswer:
        (styles,) = request.values("I")
        self.supported = Style(styles)
        self._describe()
        return CmifAnswer()

    @command(101)
    def get_supported_npad_style_set(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", self.supported or 0))

    @command(102)
    def set_supported_npad_id_type(self, request: CmifRequest) -> CmifAnswer:
        data = request.input()
        numbers = struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
        self.ids = frozenset(IDS[number] for number in numbers if number in IDS)
        self._describe()
        return CmifAnswer()

    @command(103)
    @command(109)
    def activate_npad(self, request: CmifRequest) -> CmifAnswer:
        self.connected = True
        self._describe()
        return CmifAnswer()

    @command(104)
    def deactivate_npad(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer()

    @command(106)
    def acquire_npad_style_set_update_event_handle(self, request: CmifRequest) -> CmifAnswer:
        """Number of the controller. The event is signalled from the start, so that a program looks at once."""
        (number,) = request.values("I")
        if number not in IDS:
            return CmifAnswer(result=Result.INVALID_NPAD_ID)
        if number not in self._changed:
            event = self._changed[number] = Event(Reset.STICKY, f"styles of controller {number:#x}")
            event.on = event.outside = True
        return CmifAnswer(copies=(self._changed[number],))

    @command(107)
    def disconnect_npad(self, request: CmifRequest) -> CmifAnswer:
        (number,) = request.values("I")
        if IDS.get(number) == self._kind.place:
            self.connected = False
            self._describe()
        return CmifAnswer()

    @command(108)
    def get_player_led_pattern(self, request: CmifRequest) -> CmifAnswer:
        (number,) = request.values("I")
        return CmifAnswer(struct.pack("<Q", _LAMPS[number] if number < len(_LAMPS) else 0))

    @command(120)
    def set_npad_joy_hold_type(self, request: CmifRequest) -> CmifAnswer:
        _, self.hold_type = request.values("QQ")
        return CmifAnswer()

    @command(121)
    def get_npad_joy_hold_type(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<Q", self.hold_type))

    @command(122)
    @command(123)
    @command(124)
    @command(125)
    @command(126)
    @command(127)
    @command(130)
    @command(132)
    @command(134)
    @command(135)
    @command(136)
    def arrange(self, request: CmifRequest) -> CmifAnswer:
        """How halves are put together, and what a stick's middle is: there is one controller, which stays as it is."""
        return CmifAnswer()

    @command(133)
    def set_npad_joy_assignment_mode_single_with_destination(self, request: CmifRequest) -> CmifAnswer:
        """Whether a half has become another controller, and which: it has not."""
        return CmifAnswer(struct.pack("<B3xI", False, 0))

    @command(403)
    def has_battery(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", self._here))

    @command(405)
    def get_npad_interface_type(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", _WAYS[self._kind.ring]))

    @command(128)
    def set_npad_handheld_activation_mode(self, request: CmifRequest) -> CmifAnswer:
        _, self.handheld_activation = request.values("QQ")
        return CmifAnswer()

    @command(129)
    def get_npad_handheld_activation_mode(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<Q", self.handheld_activation))

    @command(131)
    def is_unintended_home_button_input_protection_enabled(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(b"\0")

    @command(1000)
    def set_npad_communication_mode(self, request: CmifRequest) -> CmifAnswer:
        _, self.communication = request.values("QQ")
        return CmifAnswer()

    @command(1001)
    def get_npad_communication_mode(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<Q", self.communication))

    # -- vibration --------------------------------------------------------------------------------------------------
    @command(200)
    def get_vibration_device_info(self, request: CmifRequest) -> CmifAnswer:
        """Of a handle, whose byte 2 says which half of a controller."""
        half = request.data[2] if len(request.data) > 2 else 0
        return CmifAnswer(struct.pack("<II", _MOTOR_LINEAR, _RIGHT if half else _LEFT))

    @command(201)
    @command(204)
    @command(206)
    @command(207)
    @command(209)
    @command(210)
    @command(212)
    def vibrate(self, request: CmifRequest) -> CmifAnswer:
        """Nobody feels it."""
        return CmifAnswer()

    @command(202)
    def get_actual_vibration_value(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(_STILL)

    @command(208)
    def get_actual_vibration_gc_erm_command(self, request: CmifRequest) -> CmifAnswer:
        """Of a controller of the GameCube: its motor stands still."""
        return CmifAnswer(struct.pack("<Q", 0))

    @command(203)
    def create_active_vibration_device_list(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(VibrationDevices(self.kernel),))

    @command(205)
    @command(211)
    def is_vibration_permitted(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(b"\1")


class AppletResource(Interface):
    """What a program has of `hid`."""

    name = "IAppletResource"

    def __init__(self, hid: Hid) -> None:
        super().__init__(hid.kernel)
        self.hid = hid

    @command(0)
    def get_shared_memory_handle(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.hid.block,))


class VibrationDevices(Interface):
    """Motors that are on."""

    name = "IActiveVibrationDeviceList"

    @command(0)
    def activate_vibration_device(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer()
