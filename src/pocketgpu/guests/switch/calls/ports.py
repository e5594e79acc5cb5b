"""Ports, sessions and messages. Source: libnx's svc.h, switchbrew SVC."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.kernel import Kernel
from pocketgpu.guests.kernel.objects import KernelObject, Waitable
from pocketgpu.guests.kernel.service import Session
from pocketgpu.guests.kernel.threads import CANCELLED, Thread
from pocketgpu.guests.kernel.timeline import NANOSECONDS
from pocketgpu.guests.switch.abi.hipc import MESSAGE_SIZE
from pocketgpu.guests.switch.abi.pages import wrong_range
from pocketgpu.guests.switch.abi.ports import (
    MOST_SESSIONS,
    ClientPort,
    ClientSession,
    ServerPort,
    ServerSession,
    session,
)
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.abi.sessions import ServiceSession, handle_message
from pocketgpu.guests.switch.abi.transfer import Mailbox, RefusedError
from pocketgpu.guests.switch.calls.events import MOST_OBJECTS, waitables
from pocketgpu.guests.switch.calls.register import Reply, call

if TYPE_CHECKING:
    from pocketgpu.guests.switch.kernel import SwitchKernel

_PORT_NAME: Final = 12
_MOST_NAMES: Final = 64
"""Of ports that a program has made."""
_NO_INDEX: Final = 0xFFFFFFFF
_LIGHT: Final = "a light session"


def _both(kernel: Kernel, first: KernelObject, second: KernelObject) -> Reply:
    """Handles of both ends of something."""
    one = kernel.handles.add(first)
    if one is None:
        return Result.OUT_OF_HANDLES
    other = kernel.handles.add(second)
    if other is None:
        kernel.handles.close(one)
        return Result.OUT_OF_HANDLES
    return Result.OK, one, other


def _no_light(kernel: SwitchKernel, thread: Thread) -> Reply:
    kernel.not_modelled("guest.call", _LIGHT, thread.registers, thread)
    return Result.NOT_IMPLEMENTED


# -- asking -----------------------------------------------------------------------------------------------------------
@call("ConnectToNamedPort")
def connect_to_named_port(kernel: SwitchKernel, thread: Thread, name: int) -> Reply:
    text = kernel.space.text(name, _PORT_NAME)
    if len(text) >= _PORT_NAME:
        return Result.OUT_OF_RANGE
    own = kernel.own_ports.get(text)
    if own is not None:
        return _connected(kernel, own)
    server = kernel.ports.get(text)
    return Result.NOT_FOUND if server is None else kernel.give(ServiceSession(server))


@call("ConnectToPort")
def connect_to_port(kernel: SwitchKernel, thread: Thread, port: int) -> Reply:
    one = kernel.handles.get(port)
    return _connected(kernel, one.port) if isinstance(one, ClientPort) else Result.INVALID_HANDLE


def _connected(kernel: SwitchKernel, port: ServerPort) -> Reply:
    if len(kernel.handles) >= kernel.handles.limit:
        return Result.OUT_OF_HANDLES
    made = port.connect()
    return made if isinstance(made, Result) else kernel.give(made)


@call("SendSyncRequest")
def send_sync_request(kernel: SwitchKernel, thread: Thread, handle: int) -> Reply:
    return _send(kernel, thread, handle, thread.tls, MESSAGE_SIZE)


@call("SendSyncRequestWithUserBuffer")
def send_sync_request_with_buffer(kernel: SwitchKernel, thread: Thread, address: int, size: int, handle: int) -> Reply:
    return wrong_range(address, size) or _send(kernel, thread, handle, address, size)


def _send(kernel: SwitchKernel, thread: Thread, handle: int, place: int, room: int) -> Reply:
    one = kernel.object_of(thread, handle)
    if isinstance(one, ClientSession):
        return one.send(Mailbox(thread, place, room))
    if not isinstance(one, Session):
        return Result.INVALID_HANDLE
    return handle_message(kernel, thread, one, place, room)


# -- answering --------------------------------------------------------------------------------------------------------
@call("CreateSession")
def create_session(kernel: SwitchKernel, thread: Thread, light: int, name: int) -> Reply:
    return _no_light(kernel, thread) if light else _both(kernel, *session(kernel))


@call("CreatePort")
def create_port(kernel: SwitchKernel, thread: Thread, most: int, light: int, name: int) -> Reply:
    if not 0 < most <= MOST_SESSIONS:
        return Result.OUT_OF_RANGE
    if light:
        return _no_light(kernel, thread)
    port = ServerPort(kernel, most)
    return _both(kernel, port, ClientPort(port))


@call("ManageNamedPort")
def manage_named_port(kernel: SwitchKernel, thread: Thread, name: int, most: int) -> Reply:
    """Makes a port with a name; with 0 sessions, the name is forgotten."""
    text = kernel.space.text(name, _PORT_NAME)
    if len(text) >= _PORT_NAME or most > MOST_SESSIONS:
        return Result.OUT_OF_RANGE
    if most == 0:
        return (Result.OK, 0) if kernel.own_ports.pop(text, None) is not None else Result.NOT_FOUND
    if text in kernel.own_ports or text in kernel.ports:
        return Result.INVALID_STATE
    if len(kernel.own_ports) >= _MOST_NAMES:
        return Result.OUT_OF_RESOURCE
    port = ServerPort(kernel, most)
    reply = kernel.give(port)
    if isinstance(reply, tuple):
        kernel.own_ports[text] = port
    return reply


@call("AcceptSession")
def accept_session(kernel: SwitchKernel, thread: Thread, port: int) -> Reply:
    one = kernel.handles.get(port)
    if not isinstance(one, ServerPort):
        return Result.INVALID_HANDLE
    if not one.pending:
        return Result.NOT_FOUND
    reply = kernel.give(one.pending[0])
    if isinstance(reply, tuple):
        one.pending.pop(0)
    return reply


@call("ReplyAndReceive")
def reply_and_receive(
    kernel: SwitchKernel, thread: Thread, handles: int, count: int, reply: int, nanoseconds: int
) -> Reply:
    return _serve(kernel, Mailbox(thread, thread.tls, MESSAGE_SIZE), handles, count, reply, nanoseconds)


@call("ReplyAndReceiveWithUserBuffer")
def reply_and_receive_with_buffer(
    kernel: SwitchKernel, thread: Thread, address: int, size: int, handles: int, count: int, reply: int,
    nanoseconds: int,
) -> Reply:  # fmt: skip
    if wrong := wrong_range(address, size):
        return wrong
    kernel.space.check(address, size)
    return _serve(kernel, Mailbox(thread, address, size), handles, count, reply, nanoseconds)


def _serve(kernel: SwitchKernel, box: Mailbox, handles: int, count: int, reply: int, nanoseconds: int) -> Reply:
    """Answer a message, if `reply` names a session, and wait for the next one of some sessions."""
    if count > MOST_OBJECTS:
        return Result.OUT_OF_RANGE
    objects = waitables(kernel, handles, count)
    if objects is None:
        return Result.INVALID_HANDLE
    if reply:
        target = kernel.handles.get(reply)
        if not isinstance(target, ServerSession):
            return Result.INVALID_HANDLE
        if result := target.reply(box):
            return result, _NO_INDEX
    elif any(isinstance(one, ServerSession) for one in objects):
        try:
            box = box.with_lists(kernel)
        except RefusedError as error:
            return error.result, _NO_INDEX
    end = kernel.time.now + kernel.time.ticks(nanoseconds) if nanoseconds >= 0 else None
    _Receiving(kernel, box, objects, end).wait(nanoseconds)
    return None


class _Receiving:
    """A thread that waits for a message. end: the tick at which it stops to."""

    def __init__(self, kernel: SwitchKernel, box: Mailbox, objects: Sequence[Waitable], end: int | None) -> None:
        self.kernel, self.box, self.objects, self.end = kernel, box, objects, end

    def wait(self, nanoseconds: int) -> None:
        """Wait for as long."""
        self.kernel.wait(self.box.thread, self.objects, self.woken, nanoseconds=nanoseconds)

    def woken(self, thread: Thread, index: int | None) -> None:
        """Something has come, or the time is up."""
        if index is None or index == CANCELLED:
            thread.answer.update({0: Result.TIMED_OUT if index is None else Result.CANCELLED, 1: _NO_INDEX})
            return
        one, result = self.objects[index], Result.OK
        if isinstance(one, ServerSession):
            received = one.receive(self.box)
            if received is None:
                time = self.kernel.time
                left = max(0, self.end - time.now) * NANOSECONDS // time.hertz if self.end is not None else -1
                self.wait(left)
                return
            result = received
        thread.answer.update({0: result, 1: index})
