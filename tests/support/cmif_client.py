"""A program that talks to services of the Switch, without a processor: it builds messages as libnx does.

    client = CmifClient()
    service = client.open(Clock(client.kernel))
    reply = service.ask(0, b"...", buffers=[Out(0x100, "pointer")], pid=True)
    reply.result, reply.data, reply.outputs[0], reply.objects, reply.copies

`Service.to_domain()` turns a session into a domain; replies then have services of that domain. The fields are written
by hand here, not by the tables that the package reads: see libnx's sf/hipc.h, sf/cmif.h, sf/tipc.h.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pocketgpu.guests.kernel.memory import Area, Permission, host_memory
from pocketgpu.guests.kernel.objects import KernelObject
from pocketgpu.guests.kernel.processor import Stop
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.guests.switch.abi.cmif import Interface
from pocketgpu.guests.switch.abi.sessions import ServiceSession, handle_message
from pocketgpu.guests.switch.kernel import CURRENT_PROCESS, SwitchKernel
from pocketgpu.maxwell.gm20b import GM20B

MEMORY, MEMORY_SIZE = 0x5_0000_0000, 4 << 20
"""Memory of the program that buffers are put into."""
TEXT_SIZE = 0x100
_READ_WRITE = Permission.READ | Permission.WRITE


class Idle:
    """A processor that executes nothing."""

    def start(self, thread: Thread, entry: int, argument: int, stack: int) -> None: ...

    def run(self, thread: Thread, budget: int, now: int) -> Stop:
        return Stop(budget)

    def registers(self, thread: Thread) -> None:
        return None

    def mapped(self, area: Area) -> None: ...

    def unmapped(self, base: int, size: int) -> None: ...


@dataclass(frozen=True)
class In:
    """Bytes that are sent. kind: "auto", "pointer", "map", "exchange" (the service may change them)."""

    data: bytes
    kind: str = "auto"


@dataclass(frozen=True)
class Out:
    """Room for bytes. kind: "auto", "pointer", "fixed" (a pointer whose size is not told again), "map"."""

    size: int
    kind: str = "auto"


@dataclass(frozen=True)
class Reply:
    """An answer. call: the result of the supervisor call; None while the service has not answered. result: that of the
    service. data: all values after it. outputs: the bytes of each buffer that the service could write. copies, moves:
    handles. objects: services, by move handles or ids."""

    call: int | None
    result: int = -1
    data: bytes = b""
    outputs: Sequence[bytes] = ()
    copies: Sequence[int] = ()
    moves: Sequence[int] = ()
    objects: Sequence[Service] = ()

    def values(self, format: str) -> tuple[int, ...]:
        """The values by a format of `struct`."""
        assert (self.call, self.result) == (0, 0), (self.call, self.result)
        return struct.unpack_from("<" + format, self.data)


@dataclass
class Service:
    """A service as libnx has it: a session, and an id in a domain (0 without)."""

    client: CmifClient
    handle: int
    id: int = 0
    pointer_size: int = 0

    def ask(
        self, command: int, data: bytes = b"", *, buffers: Sequence[In | Out] = (), handles: Sequence[int] = (),
        objects: Sequence[Service] = (), pid: bool = False, out_objects: int = 0, size: int | None = None,
        token: int = 0,
    ) -> Reply:  # fmt: skip
        """Send a command. out_objects: how many objects the answer has. size: bytes of its values, where objects of a
        domain follow them; by default there are no values then."""
        client = self.client
        message = client.request(self, command, data, buffers, handles, objects, pid, token)
        client.kernel.space.write(client.thread.tls, message)
        call = client.send(self.handle)
        return Reply(call) if call is None else self.reply(call, out_objects, size)

    def reply(self, call: int = 0, out_objects: int = 0, size: int | None = None) -> Reply:
        """What the message in thread-local storage says now."""
        client = self.client
        if call != 0:
            return Reply(call)
        raw = client.kernel.space.read(client.thread.tls, TEXT_SIZE)
        words, copies, moves, at = parsed(raw)
        start = at + 15 & ~15
        end = start + 4 * words - 16
        ids: tuple[int, ...] = ()
        if self.id:
            (count,) = struct.unpack_from("<I", raw, start)
            start += 16
        magic, _, result, _ = struct.unpack_from("<4I", raw, start)
        assert magic == 0x4F434653, raw.hex()
        if result:
            return Reply(call, result)
        body = raw[start + 16 : end]  # with what fills the last word
        if self.id:
            assert count == out_objects
            ids = struct.unpack_from(f"<{count}I", body, size or 0)
            given = [Service(client, self.handle, one, self.pointer_size) for one in ids]
            body = body[:size] if count else body
        else:
            given = [Service(client, one, 0, self.pointer_size) for one in moves[:out_objects]]
            moves = moves[out_objects:]
        return Reply(call, result, body, client.outputs(), copies, moves, given)

    def control(self, command: int, data: bytes = b"", token: int = 0) -> Reply:
        """Send a control message."""
        client = self.client
        words = (16 + 16 + len(data) + 3) // 4
        message = struct.pack("<2I8x4I", 7 if token else 5, words, 0x49434653, int(token != 0), command, token) + data
        client.kernel.space.write(client.thread.tls, message)
        return Service(client, self.handle).reply(client.send(self.handle) or 0)

    def to_domain(self) -> Service:
        """The same object in a domain."""
        (number,) = self.control(0).values("I")
        return Service(self.client, self.handle, number, self.pointer_size)

    def clone(self) -> Service:
        """A second session with it."""
        return Service(self.client, self.control(2).moves[0], self.id, self.pointer_size)

    def close(self) -> int | None:
        """Say that it is not needed any more, and give the handle of a session back."""
        client = self.client
        if self.id:
            message = struct.pack("<2I8xBBHIII", 4, 8, 2, 0, 0, self.id, 0, 0)
            client.kernel.space.write(client.thread.tls, message)
            return client.send(self.handle)
        client.kernel.space.write(client.thread.tls, struct.pack("<2I", 2, 0))
        result = client.send(self.handle)
        client.kernel.handles.close(self.handle)
        return result

    def tipc(self, command: int, data: bytes = b"", *, pid: bool = False, out_objects: int = 0) -> Reply:
        """Send a command by the short protocol."""
        client, words = self.client, (len(data) + 3) // 4
        special = struct.pack("<IQ", 1, 0) if pid else b""
        message = struct.pack("<2I", 16 + command, words | int(pid) << 31) + special + data
        client.kernel.space.write(client.thread.tls, message)
        call = client.send(self.handle)
        if call != 0:
            return Reply(call)
        raw = client.kernel.space.read(client.thread.tls, TEXT_SIZE)
        words, copies, moves, at = parsed(raw)
        (result,) = struct.unpack_from("<I", raw, at)
        given = [Service(client, one) for one in moves[:out_objects]]
        return Reply(call, result, raw[at + 4 : at + 4 * words], (), copies, moves[out_objects:], given)


def parsed(raw: bytes) -> tuple[int, tuple[int, ...], tuple[int, ...], int]:
    """Of an answer: data words, copied and moved handles, where the data words are."""
    head, second = struct.unpack_from("<2I", raw)
    assert head >> 20 == 0
    at, copies, moves = 8, 0, 0
    if second >> 31:
        (special,) = struct.unpack_from("<I", raw, at)
        copies, moves, at = special >> 1 & 15, special >> 5 & 15, at + 4
        at += 8 * (special & 1)
    handles = struct.unpack_from(f"<{copies + moves}I", raw, at)
    at += 4 * (copies + moves) + 8 * (head >> 16 & 15)
    return second & 0x3FF, handles[:copies], handles[copies:], at


@dataclass
class _Placed:
    """Descriptors of a message."""

    statics: list[bytes] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    received: list[bytes] = field(default_factory=list)
    exchanged: list[bytes] = field(default_factory=list)
    lists: list[bytes] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


class CmifClient:
    """A kernel with one thread that sends messages. choices: named choices of the machine."""

    def __init__(self, choices: Mapping[str, str] | None = None, kernel: SwitchKernel | None = None) -> None:
        self.kernel = kernel or SwitchKernel(Idle(), GM20B(switches=choices))
        space = self.kernel.space
        space.map(Area(MEMORY, MEMORY_SIZE, _READ_WRITE, "buffers", host_memory(MEMORY_SIZE)))
        thread = self.kernel.make_thread(0x2C, 0, 0, 0)
        assert thread is not None
        self.thread = thread
        self.process = CURRENT_PROCESS
        self._used = 0
        self._outputs: list[tuple[int, int]] = []

    def open(self, interface: Interface) -> Service:
        """A session with an interface, as `sm:` gives it."""
        handle = self.kernel.handles.add(ServiceSession(interface))
        assert handle is not None
        found = Service(self, handle)
        (found.pointer_size,) = found.control(3).values("H")
        return found

    def service(self, name: str) -> Service:
        """A session with a service, from `sm:`."""
        manager = self.open_port("sm:")
        manager.ask(0, bytes(8), pid=True)
        found = manager.ask(1, name.encode().ljust(8, b"\0"), out_objects=1)
        assert found.result == 0, f"{name}: {found.result:#x}"
        (found.objects[0].pointer_size,) = found.objects[0].control(3).values("H")
        return found.objects[0]

    def open_port(self, name: str) -> Service:
        """A session with a port."""
        handle = self.kernel.handles.add(ServiceSession(self.kernel.ports[name]))
        assert handle is not None
        return Service(self, handle)

    def send(self, handle: int) -> int | None:
        """SendSyncRequest."""
        session = self.kernel.handles.get(handle)
        assert isinstance(session, ServiceSession), session
        self.thread.answer = {}
        return handle_message(self.kernel, self.thread, session)

    def object(self, handle: int) -> KernelObject:
        """The object of a handle."""
        found = self.kernel.handles.get(handle)
        assert found is not None
        return found

    # -- memory -----------------------------------------------------------------------------------------------------
    def place(self, data: bytes) -> int:
        """Put bytes into memory; their address."""
        address = MEMORY + self._used
        self._used += -(-max(len(data), 1) // 16) * 16
        assert self._used <= MEMORY_SIZE
        self.kernel.space.write(address, data)
        return address

    def outputs(self) -> list[bytes]:
        """What is in the buffers that the last message named for writing."""
        return [self.kernel.space.read(address, size) for address, size in self._outputs]

    # -- messages ---------------------------------------------------------------------------------------------------
    def request(
        self, service: Service, command: int, data: bytes, buffers: Sequence[In | Out], handles: Sequence[int],
        objects: Sequence[Service], pid: bool, token: int = 0,
    ) -> bytes:  # fmt: skip
        """The message of a command."""
        placed = self._placed(service.pointer_size, buffers)
        size = 16 + (16 + 4 * len(objects) if service.id else 0) + 16 + len(data) + 1 & ~1
        table = struct.pack(f"<{len(placed.sizes)}H", *placed.sizes)
        words = (size + len(table) + 3) // 4
        special = bool(pid or handles)
        head = struct.pack(
            "<2I", (6 if token else 4) | len(placed.statics) << 16 | len(placed.sent) << 20
            | len(placed.received) << 24 | len(placed.exchanged) << 28,
            words | (2 + len(placed.lists) << 10 if placed.lists else 0) | int(special) << 31,
        )  # fmt: skip
        if special:
            head += struct.pack("<I", int(pid) | len(handles) << 1) + bytes(8 * pid)
            head += struct.pack(f"<{len(handles)}I", *handles)
        head += b"".join((*placed.statics, *placed.sent, *placed.received, *placed.exchanged))
        body = bytes(-len(head) % 16)
        if service.id:
            body += struct.pack("<BBHIII", 1, len(objects), 16 + len(data), service.id, 0, token)
        inner = 0 if service.id else token
        body += struct.pack("<4I", 0x49434653, int(token != 0), command, inner) + data
        body += struct.pack(f"<{len(objects)}I", *[one.id for one in objects])
        body = body.ljust(size, b"\0")[:size] + table
        message = head + body.ljust(4 * words, b"\0") + b"".join(placed.lists)
        assert len(message) <= 0x100
        return message

    def _placed(self, room: int, buffers: Sequence[In | Out]) -> _Placed:
        placed = _Placed()
        self._outputs = []
        self._used = 0
        for one in buffers:
            address = self.place(one.data if isinstance(one, In) else bytes(one.size))
            size = len(one.data) if isinstance(one, In) else one.size
            if isinstance(one, Out) or one.kind == "exchange":
                self._outputs.append((address, size))
            as_pointer = one.kind in ("pointer", "fixed") or bool(one.kind == "auto" and room and size <= room)
            if as_pointer:
                room -= size
            pointer, mapped = ((address, size), (0, 0)) if as_pointer else ((0, 0), (address, size))
            if one.kind == "exchange":
                placed.exchanged.append(_buffer(*mapped))
                continue
            if one.kind != "map" and isinstance(one, In):
                placed.statics.append(_static(*pointer, len(placed.statics)))
            if one.kind != "map" and isinstance(one, Out):
                placed.lists.append(struct.pack("<IHH", pointer[0] & 0xFFFFFFFF, pointer[0] >> 32, pointer[1]))
                placed.sizes += [] if one.kind == "fixed" else [pointer[1]]
            if one.kind in ("map", "auto"):
                (placed.sent if isinstance(one, In) else placed.received).append(_buffer(*mapped))
        return placed


def _static(address: int, size: int, index: int) -> bytes:
    first = index | (address >> 36 & 0x3F) << 6 | (address >> 32 & 15) << 12 | size << 16
    return struct.pack("<2I", first, address & 0xFFFFFFFF)


def _buffer(address: int, size: int, mode: int = 0) -> bytes:
    last = mode | (address >> 36) << 2 | (size >> 32) << 24 | (address >> 32 & 15) << 28
    return struct.pack("<3I", size & 0xFFFFFFFF, address & 0xFFFFFFFF, last)
