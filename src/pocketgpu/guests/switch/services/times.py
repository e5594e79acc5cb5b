"""`time:u`, `time:a`, `time:s`: the clocks, and what date they show. Source: libnx's time.c; switchbrew PSC services.

Programs read most clocks from shared memory: a steady clock, which is what the processor's counter says, and what is to
be added to it. Every run starts at the same date (choice `guest.date`), in UTC.
"""

from __future__ import annotations

import struct
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.blocks import MemoryBlock
from pocketgpu.guests.kernel.memory import host_memory
from pocketgpu.guests.kernel.objects import Event, Reset
from pocketgpu.guests.kernel.timeline import START_DATE
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface, command
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

SHARED_BYTES: Final = 0x1000
SOURCE: Final = bytes.fromhex("706f636b6574677075200000000000aa")
"""The id of the steady clock, from which the others are counted."""
_STEADY_AT, _LOCAL_AT, _NETWORK_AT, _AUTOMATIC_AT = 0x00, 0x38, 0x80, 0xC8
_COUNTER_BYTES: Final = 8
"""In front of the two copies of an object in shared memory."""
_CONTEXT: Final = struct.Struct("<qq16s")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_HOURS, _SIXTY = 24, 60
LATEST: Final = 253_402_300_799
"""The last second of the year 9999."""


class SharedClocks:
    """The memory of the clocks. Each object has a counter and two copies; the counter's lowest bit tells which copy
    holds, so that a program never reads one that is half written."""

    def __init__(self) -> None:
        self.block = MemoryBlock("time", host_memory(SHARED_BYTES))

    def __repr__(self) -> str:
        return repr(self.block)

    def store(self, at: int, data: bytes) -> None:
        """A new value of an object."""
        view = self.block.view
        counter = int.from_bytes(view[at : at + 4], "little") + 1
        place = at + _COUNTER_BYTES + (counter & 1) * len(data)
        view[place : place + len(data)] = data
        view[at : at + 4] = (counter & 0xFFFFFFFF).to_bytes(4, "little")


@dataclass
class Context:
    """What a clock adds to the steady one. offset: seconds. time_point: when it was set, by the steady clock."""

    offset: int = 0
    time_point: int = 0
    source: bytes = bytes(16)

    def pack(self) -> bytes:
        """As in messages and in shared memory."""
        return _CONTEXT.pack(self.offset, self.time_point, self.source)


class Clocks:
    """The clocks of a console. local: set by its owner; the user's clock is the same one. network: set by a server."""

    def __init__(self, kernel: SwitchKernel) -> None:
        self.kernel = kernel
        self.shared = SharedClocks()
        self.local, self.network = Context(), Context()
        self.source = bytes(16)
        self.automatic = False
        self.changed = {
            _LOCAL_AT: Event(Reset.STICKY, "local clock"), _NETWORK_AT: Event(Reset.STICKY, "network clock")
        }  # fmt: skip
        if kernel.machine.choices["guest.date"] == "set":
            self.source = SOURCE
            self.shared.store(_STEADY_AT, struct.pack("<q16s", 0, SOURCE))
            self.set_time(_LOCAL_AT, START_DATE)
            self.set_time(_NETWORK_AT, START_DATE)

    def __repr__(self) -> str:
        return f"<Clocks: {_EPOCH + timedelta(seconds=self.time(_LOCAL_AT))}>"

    @property
    def steady(self) -> int:
        """Seconds of the steady clock."""
        return self.kernel.time.now // self.kernel.time.hertz

    def context(self, clock: int) -> Context:
        """Of the local clock or of the network's, by its place in shared memory."""
        return self.local if clock == _LOCAL_AT else self.network

    def time(self, clock: int) -> int:
        """Seconds since 1970."""
        return self.context(clock).offset + self.steady

    def set_time(self, clock: int, seconds: int) -> None:
        """Set a clock to seconds since 1970."""
        self.set_context(clock, Context(seconds - self.steady, self.steady, self.source))

    def set_context(self, clock: int, context: Context) -> None:
        """Set a clock by what is added to the steady one."""
        if clock == _LOCAL_AT:
            self.local = context
        else:
            self.network = context
        self.shared.store(clock, context.pack())
        self.kernel.signal(self.changed[clock])


class SystemClock(Interface):
    """One clock. writable: whether the program may set it."""

    name = "ISystemClock"

    def __init__(self, kernel: SwitchKernel, clocks: Clocks, clock: int, writable: bool) -> None:
        super().__init__(kernel)
        self.clocks, self.clock, self.writable = clocks, clock, writable

    @command(0)
    def get_current_time(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<q", self.clocks.time(self.clock)))

    @command(1)
    def set_current_time(self, request: CmifRequest) -> CmifAnswer:
        if not self.writable:
            return CmifAnswer(result=Result.MAY_NOT_SET_TIME)
        (seconds,) = request.values("q")
        self.clocks.set_time(self.clock, max(0, min(seconds, LATEST)))
        return CmifAnswer()

    @command(2)
    def get_system_clock_context(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(self.clocks.context(self.clock).pack())

    @command(3)
    def set_system_clock_context(self, request: CmifRequest) -> CmifAnswer:
        if not self.writable:
            return CmifAnswer(result=Result.MAY_NOT_SET_TIME)
        offset, time_point, source = request.values("qq16s")
        if not -LATEST <= offset <= LATEST:
            return CmifAnswer(result=Result.BAD_TIME)
        self.clocks.set_context(self.clock, Context(offset, time_point, source))
        return CmifAnswer()

    @command(4)
    def get_operation_event_readable_handle(self, request: CmifRequest) -> CmifAnswer:
        """Signalled when the clock is set."""
        return CmifAnswer(copies=(self.clocks.changed[self.clock],))


class SteadyClock(Interface):
    """The clock that nobody sets."""

    name = "ISteadyClock"

    def __init__(self, kernel: SwitchKernel, clocks: Clocks) -> None:
        super().__init__(kernel)
        self.clocks = clocks

    @command(0)
    def get_current_time_point(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<q16s", self.clocks.steady, self.clocks.source))

    @command(2)
    @command(200)
    def get_offset(self, request: CmifRequest) -> CmifAnswer:
        """Nothing is added to the counter."""
        return CmifAnswer(struct.pack("<q", 0))


class TimeService(Interface):
    """One of the services. sets: which clocks its programs may set: "user", "local", "network"."""

    def __init__(self, kernel: SwitchKernel, clocks: Clocks, name: str, sets: Collection[str]) -> None:
        super().__init__(kernel)
        self.clocks, self.name, self.sets = clocks, name, sets

    def _clock(self, clock: int, who: str) -> CmifAnswer:
        return CmifAnswer(objects=(SystemClock(self.kernel, self.clocks, clock, who in self.sets),))

    @command(0)
    def get_standard_user_system_clock(self, request: CmifRequest) -> CmifAnswer:
        return self._clock(_NETWORK_AT if self.clocks.automatic else _LOCAL_AT, "user")

    @command(1)
    def get_standard_network_system_clock(self, request: CmifRequest) -> CmifAnswer:
        return self._clock(_NETWORK_AT, "network")

    @command(2)
    def get_standard_steady_clock(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(SteadyClock(self.kernel, self.clocks),))

    @command(3)
    def get_time_zone_service(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(objects=(TimeZoneService(self.kernel),))

    @command(4)
    def get_standard_local_system_clock(self, request: CmifRequest) -> CmifAnswer:
        return self._clock(_LOCAL_AT, "local")

    @command(20)
    def get_shared_memory_native_handle(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(copies=(self.clocks.shared.block,))

    @command(100)
    def is_automatic_correction_enabled(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<B", self.clocks.automatic))

    @command(101)
    def set_automatic_correction_enabled(self, request: CmifRequest) -> CmifAnswer:
        """Whether the user's clock is the network's, not the one that the owner has set."""
        if "user" not in self.sets:
            return CmifAnswer(result=Result.MAY_NOT_SET_TIME)
        self.clocks.automatic = bool(request.values("B")[0])
        self.clocks.shared.store(_AUTOMATIC_AT, struct.pack("<B7x", self.clocks.automatic))
        return CmifAnswer()

    @command(200)
    def is_network_clock_accuracy_sufficient(self, request: CmifRequest) -> CmifAnswer:
        """Whether the network's clock was set since the console was started."""
        return CmifAnswer(struct.pack("<B", self.clocks.network.source == SOURCE))

    @command(300)
    def calculate_monotonic_base_time_point(self, request: CmifRequest) -> CmifAnswer:
        """Seconds since 1970 at which the counter was 0, by a clock's context."""
        offset, _, source = request.values("qq16s")
        if source != self.clocks.source:
            return CmifAnswer(result=Result.OTHER_CLOCK)
        return CmifAnswer(struct.pack("<q", offset))


def time_services(kernel: SwitchKernel, clocks: Clocks) -> list[TimeService]:
    """The services for programs, for the owner's programs and for those of the system."""
    rights = {"time:u": (), "time:a": ("user",), "time:s": ("user", "local", "network")}
    return [TimeService(kernel, clocks, name, sets) for name, sets in rights.items()]


class TimeZoneService(Interface):
    """Dates. The console is in UTC, and knows no other zone."""

    name = "ITimeZoneService"

    @command(0)
    def get_device_location_name(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(ZONE.encode().ljust(ZONE_BYTES, b"\0"))

    @command(2)
    def get_total_location_name_count(self, request: CmifRequest) -> CmifAnswer:
        return CmifAnswer(struct.pack("<I", 1))

    @command(3)
    def load_location_name_list(self, request: CmifRequest) -> CmifAnswer:
        (first,) = request.values("I")
        names = b"" if first else ZONE.encode().ljust(ZONE_BYTES, b"\0")
        room = request.outputs[0].size // ZONE_BYTES * ZONE_BYTES if request.outputs else 0
        return CmifAnswer(struct.pack("<I", request.output(names[:room]) // ZONE_BYTES))

    @command(4)
    def load_time_zone_rule(self, request: CmifRequest) -> CmifAnswer:
        """The rule of UTC: no changes, one kind of time."""
        if request.data[:ZONE_BYTES].split(b"\0")[0] != ZONE.encode():
            return CmifAnswer(result=Result.NO_TIME_ZONE)
        request.output(RULE)
        return CmifAnswer()

    @command(100)
    def to_calendar_time(self, request: CmifRequest) -> CmifAnswer:
        """By the rule in a buffer."""
        if request.input() != RULE:
            return CmifAnswer(result=Result.NO_TIME_ZONE)
        return self.to_calendar_time_with_my_rule(request)

    @command(101)
    def to_calendar_time_with_my_rule(self, request: CmifRequest) -> CmifAnswer:
        """Year, month, day, hour, minute, second; then weekday, day of the year, zone, summer time, offset."""
        (seconds,) = request.values("q")
        if not 0 <= seconds <= LATEST:
            return CmifAnswer(result=Result.NO_TIME)
        date = _EPOCH + timedelta(seconds=seconds)
        calendar = struct.pack("<H5Bx", date.year, date.month, date.day, date.hour, date.minute, date.second)
        day_of_year = date.timetuple().tm_yday - 1
        more = struct.pack("<2I8sIi", date.isoweekday() % 7, day_of_year, ZONE.encode(), 0, 0)
        return CmifAnswer(calendar + more)

    @command(201)
    def to_posix_time(self, request: CmifRequest) -> CmifAnswer:
        """By the rule in a buffer."""
        if request.input() != RULE:
            return CmifAnswer(result=Result.NO_TIME_ZONE)
        return self.to_posix_time_with_my_rule(request)

    @command(202)
    def to_posix_time_with_my_rule(self, request: CmifRequest) -> CmifAnswer:
        """Seconds since 1970 of a date, and how many such times there are: in UTC one."""
        year, month, day, hour, minute, second = request.values("H5Bx")
        if not (1970 <= year <= 9999 and 1 <= month <= 12):
            return CmifAnswer(result=Result.NO_TIME)
        month_begins = (datetime(year, month, 1, tzinfo=UTC) - _EPOCH).days
        hours = (month_begins + day - 1) * _HOURS + hour
        found = struct.pack("<q", (hours * _SIXTY + minute) * _SIXTY + second)
        return CmifAnswer(struct.pack("<I", request.output(found) // len(found)))


ZONE: Final = "UTC"
ZONE_BYTES: Final = 0x24
RULE_BYTES: Final = 0x4000
_TYPES_AT: Final = 0x10 + 1000 * 8 + 1000
"""Of the kinds of time in a rule: after three counts and two flags, 1000 changes, and their kinds."""
_NAMES_AT: Final = _TYPES_AT + 0x10 * 128


def _rule() -> bytes:
    rule = bytearray(RULE_BYTES)
    struct.pack_into("<3i", rule, 0, 0, 1, len(ZONE) + 1)
    rule[_NAMES_AT : _NAMES_AT + len(ZONE)] = ZONE.encode()
    return bytes(rule)


RULE: Final = _rule()
"""The rule of UTC: no changes, one kind of time, which has a name. Programs hand it back as it is."""
