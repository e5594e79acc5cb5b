"""Sessions of services: from the message of a program to a command of a service, and back with its answer.

    result = handle_message(kernel, thread, session)  # of SendSyncRequest; None: the answer comes later

A session speaks the command protocol (CMIF). One that was turned into a *domain* has many objects, which messages name
by their ids; its clones share them. A few services also speak the short protocol (TIPC), whose message type is the
number of the command.

A message that no service can answer gives the result of the kernel; a wrong header of a command, the result of the
service. Source: libnx's sf/cmif.h, sf/tipc.h and sf/service.h; switchbrew IPC Marshalling and Error codes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from pocketgpu.facts.switch.enumerations import DOMAIN_KIND, MESSAGE_TYPE
from pocketgpu.facts.switch.structures import ANSWER_HEADER, DOMAIN_ANSWER, DOMAIN_HEADER, REQUEST_HEADER
from pocketgpu.guests.kernel.memory import AddressError, Permission
from pocketgpu.guests.kernel.objects import KernelObject
from pocketgpu.guests.kernel.service import Server, Session
from pocketgpu.guests.switch.abi.cmif import CmifAnswer, CmifRequest, Interface
from pocketgpu.guests.switch.abi.hipc import (
    MESSAGE_SIZE,
    MOST_HANDLES,
    MalformedMessage,
    Message,
    answer_bytes,
    answer_size,
)
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.late_dataclass import dataclass

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel

REQUEST_MAGIC: Final = int.from_bytes(b"SFCI", "little")
ANSWER_MAGIC: Final = int.from_bytes(b"SFCO", "little")
NEWEST_VERSION: Final = 1
"""Of a request header: the one with a token."""
FIRST_OBJECT: Final = 1
MOST_OBJECTS: Final = 4096
"""Of one domain."""
_HEADER_BYTES: Final = REQUEST_HEADER.bits // 8
_COMMANDS: Final = MESSAGE_TYPE.numbers("REQUEST", "REQUEST_WITH_CONTEXT", "LEGACY_REQUEST")
_CONTROLS: Final = MESSAGE_TYPE.numbers("CONTROL", "CONTROL_WITH_CONTEXT", "LEGACY_CONTROL")
_CLOSES: Final = MESSAGE_TYPE.numbers("CLOSE", "TIPC_CLOSE")
FIRST_TIPC: Final = 16
"""The message type of command 0 of the short protocol."""


class Form(Enum):
    """How an answer is written."""

    PLAIN = auto()
    DOMAIN = auto()
    TIPC = auto()


# -- who is at the other end ----------------------------------------------------------------------------------------
class Domain:
    """The objects of a session that is a domain, by id. holders: how many sessions have it."""

    def __init__(self, root: Interface) -> None:
        self.name, self.holders = root.name, 0
        self.objects = {FIRST_OBJECT: root}
        hold(root)

    def __repr__(self) -> str:
        return f"<Domain {self.name}: {len(self.objects)} objects>"

    @property
    def root(self) -> Interface | None:
        """The object that the session had before; None if it was closed."""
        return self.objects.get(FIRST_OBJECT)

    def handle(self, request: CmifRequest) -> CmifAnswer | None:
        """Messages without an id are for the root."""
        return CmifAnswer(result=Result.OBJECT_NOT_FOUND) if self.root is None else self.root.handle(request)

    def add(self, one: Interface) -> int:
        """The lowest free id, from now on that of an object."""
        number = next(n for n in range(FIRST_OBJECT, FIRST_OBJECT + MOST_OBJECTS) if n not in self.objects)
        self.objects[number] = one
        hold(one)
        return number

    def close(self, number: int) -> None:
        """Forget an object; if there is none, nothing happens."""
        one = self.objects.pop(number, None)
        if one is not None:
            release(one)

    def closed(self) -> None:
        """The last session is gone."""
        for number in list(self.objects):
            self.close(number)


def hold(one: object) -> None:
    """A session or domain has an interface or a domain from now on."""
    if isinstance(one, Interface | Domain):
        one.holders += 1


def release(one: object) -> None:
    """It has it no more; with the last one it ends."""
    if isinstance(one, Interface | Domain):
        one.holders -= 1
        if one.holders == 0:
            one.closed()


class ServiceSession(Session):
    """A session that says when it is gone."""

    def __init__(self, server: Server[CmifRequest, CmifAnswer]) -> None:
        super().__init__(server)
        self.open = True
        hold(server)

    def replace(self, server: Server[CmifRequest, CmifAnswer]) -> None:
        """Another server answers from now on."""
        hold(server)
        release(self.server)
        self.server = server

    def disconnect(self) -> None:
        """The server is gone: no request is answered after this."""
        if self.open:
            self.open = False
            release(self.server)

    def closed(self) -> None:
        self.disconnect()


# -- answers --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """Where an answer goes, and how. place, room: of the message."""

    kernel: SwitchKernel
    session: Session
    place: int
    room: int
    form: Form

    def store(self, answer: CmifAnswer) -> int:
        """Store an answer where the program finds it; the result of the call."""
        result = self._stored(answer if answer.result == Result.OK else CmifAnswer(result=answer.result))
        for one in answer.objects:
            if not one.holders:  # the program did not get it
                one.closed()
        return result

    def _stored(self, answer: CmifAnswer) -> int:
        handles, domain = self.kernel.handles, self.session.server if self.form is Form.DOMAIN else None
        objects = answer.objects
        as_ids = len(objects) if isinstance(domain, Domain) else 0
        copies, moves = len(answer.copies), len(answer.moves) + len(objects) - as_ids
        size = answer_size(len(self._body(answer, [0] * as_ids)), copies + moves, align=self.form is not Form.TIPC)
        if isinstance(domain, Domain) and len(domain.objects) + as_ids > MOST_OBJECTS:
            return self._stored(CmifAnswer(result=Result.OUT_OF_OBJECTS))
        if len(handles) + copies + moves > handles.limit:
            return Result.OUT_OF_HANDLES
        if size > self.room or max(copies, moves) > MOST_HANDLES:
            return Result.INVALID_COMBINATION
        if isinstance(domain, Domain):
            ids, sessions = [domain.add(one) for one in objects], []
        else:
            ids, sessions = [], [ServiceSession(one) for one in objects]
        given = [self.kernel.handle_of(one) for one in (*answer.copies, *sessions, *answer.moves)]
        body = self._body(answer, ids)
        message = answer_bytes(body, given[:copies], given[copies:], align=self.form is not Form.TIPC)
        self.kernel.space.write(self.place, message)
        return Result.OK

    def _body(self, answer: CmifAnswer, ids: Sequence[int]) -> bytes:
        """The data of the message."""
        if self.form is Form.TIPC:
            return struct.pack("<I", answer.result) + answer.data
        header = ANSWER_HEADER.pack({"magic": ANSWER_MAGIC, "result": int(answer.result)})
        body = struct.pack("<4I", *header) + answer.data
        if self.form is Form.PLAIN:
            return body
        in_front = struct.pack("<4I", *DOMAIN_ANSWER.pack({"objects": len(ids)}))
        return in_front + body + struct.pack(f"<{len(ids)}I", *ids)


# -- messages -------------------------------------------------------------------------------------------------------
def handle_message(
    kernel: SwitchKernel, thread: Thread, session: Session, place: int | None = None, room: int = MESSAGE_SIZE
) -> int | None:
    """Let a service answer a message; the result of the call, or None if the service answers later.

    place, room: address and size of the message, by default those in thread-local storage.
    """
    place = thread.tls if place is None else place
    try:
        message = Message(kernel.space.read(place, min(room, MOST_BYTES)))
        kernel.space.check(place, min(room, MOST_BYTES), Permission.WRITE)
        return _Call(kernel, thread, session, place, room, message).run()
    except MalformedMessage:
        return Result.INVALID_COMBINATION
    except AddressError:
        return Result.INVALID_MEMORY_STATE


MOST_BYTES: Final = 0x2000
"""That a message can have: its counts have no more bits."""


class _Call:
    """One message on its way."""

    def __init__(
        self, kernel: SwitchKernel, thread: Thread, session: Session, place: int, room: int, message: Message
    ) -> None:
        self.kernel, self.thread, self.session, self.message = kernel, thread, session, message
        self.place, self.room = place, room

    def run(self) -> int | None:
        """Find out what the message is and answer it."""
        session, type = self.session, self.message.type
        if isinstance(session, ServiceSession) and not session.open:
            return Result.SESSION_CLOSED
        if type in _CLOSES:
            if isinstance(session, ServiceSession):
                session.disconnect()
            return Result.OK
        if not self._handles_are_right():
            return Result.INVALID_HANDLE
        self._check_memory()
        if type in _COMMANDS:
            return self._command()
        if type in _CONTROLS:
            return self._control()
        if type >= FIRST_TIPC and isinstance(session.server, Interface) and session.server.tipc:
            return self._tipc()
        return Result.SESSION_CLOSED

    def _handles_are_right(self) -> bool:
        message = self.message
        return not any(n and self._object(n) is None for n in (*message.copies, *message.moves))

    def _object(self, handle: int) -> KernelObject | None:
        return self.kernel.object_of(self.thread, handle)

    def _check_memory(self) -> None:
        """Whether the program has the memory that it names.

        :raises AddressError: it has not.
        """
        message, check = self.message, self.kernel.space.check
        read = [*message.statics, *message.sent, *message.exchanged]
        written = [*message.lists, *message.received, *message.exchanged]
        for need, buffers in ((Permission.READ, read), (Permission.WRITE, written)):
            for one in buffers:
                if one.size:
                    check(one.address, one.size, need)

    def _answer(self, form: Form, answer: CmifAnswer) -> int:
        return Envelope(self.kernel, self.session, self.place, self.room, form).store(answer)

    def _ask(
        self, server: Server[CmifRequest, CmifAnswer], form: Form, command: int, data: bytes,
        objects: Sequence[Interface | None] = (),
    ) -> int | None:  # fmt: skip
        """Let a service do a command."""
        message, kernel = self.message, self.kernel
        envelope = Envelope(kernel, self.session, self.place, self.room, form)
        copies, moves = (tuple(map(self._object, handles)) for handles in (message.copies, message.moves))
        for one in (*copies, *moves):
            if one is not None:
                one.outside = True
        request = CmifRequest(
            kernel, self.thread, command, data, kernel.process_id if message.has_pid else None, copies, moves, objects,
            message.inputs(), message.outputs(), envelope,
        )  # fmt: skip
        for one, handle in zip(moves, message.moves, strict=True):
            if one is not None:
                one.references += 1  # the service has it now
                kernel.handles.close(handle)
        answer = server.handle(request)
        return None if answer is None else envelope.store(answer)

    # -- the command protocol ---------------------------------------------------------------------------------------
    def _header(self, data: bytes) -> tuple[int, bytes] | CmifAnswer:
        """The number and the arguments of a command, or what is wrong with its header."""
        if len(data) < _HEADER_BYTES:
            return CmifAnswer(result=Result.BAD_HEADER_SIZE)
        header = int.from_bytes(data[:_HEADER_BYTES], "little")
        known = REQUEST_HEADER["version"].raw(header) <= NEWEST_VERSION
        if REQUEST_HEADER["magic"].raw(header) != REQUEST_MAGIC or not known:
            return CmifAnswer(result=Result.BAD_REQUEST_HEADER)
        return REQUEST_HEADER["command"].raw(header), data[_HEADER_BYTES:]

    def _command(self) -> int | None:
        server = self.session.server
        if isinstance(server, Domain):
            return self._domain_command(server)
        found = self._header(self.message.aligned)
        if isinstance(found, CmifAnswer):
            return self._answer(Form.PLAIN, found)
        return self._ask(server, Form.PLAIN, *found)

    def _domain_command(self, domain: Domain) -> int | None:
        data = self.message.aligned
        size = DOMAIN_HEADER.bits // 8
        if len(data) < size:
            return self._answer(Form.DOMAIN, CmifAnswer(result=Result.BAD_HEADER_SIZE))
        header, data = int.from_bytes(data[:size], "little"), data[size:]
        number, kind = DOMAIN_HEADER["object"].raw(header), DOMAIN_HEADER["kind"].raw(header)
        if kind == DOMAIN_KIND.CLOSE:
            domain.close(number)
            return self._answer(Form.DOMAIN, CmifAnswer())
        if kind != DOMAIN_KIND.COMMAND:
            return self._answer(Form.DOMAIN, CmifAnswer(result=Result.BAD_REQUEST_HEADER))
        target = domain.objects.get(number)
        if target is None:
            return self._answer(Form.DOMAIN, CmifAnswer(result=Result.OBJECT_NOT_FOUND))
        length, count = DOMAIN_HEADER["size"].raw(header), DOMAIN_HEADER["objects"].raw(header)
        ids = data[length : length + 4 * count]
        if length > len(data) or len(ids) < 4 * count:
            return self._answer(Form.DOMAIN, CmifAnswer(result=Result.BAD_HEADER_SIZE))
        found = self._header(data[:length])
        if isinstance(found, CmifAnswer):
            return self._answer(Form.DOMAIN, found)
        objects = [domain.objects.get(one) for one in struct.unpack(f"<{count}I", ids)]
        return self._ask(target, Form.DOMAIN, *found, objects)

    def _tipc(self) -> int | None:
        return self._ask(self.session.server, Form.TIPC, self.message.type - FIRST_TIPC, self.message.data)

    # -- sessions ---------------------------------------------------------------------------------------------------
    def _control(self) -> int | None:
        found = self._header(self.message.aligned)
        if isinstance(found, CmifAnswer):
            return self._answer(Form.PLAIN, found)
        number, data = found
        control = _CONTROL_COMMANDS.get(number)
        if control is None:
            return self._answer(Form.PLAIN, CmifAnswer(result=Result.UNKNOWN_COMMAND))
        return self._answer(Form.PLAIN, control(self, int.from_bytes(data[:4], "little")))

    def _convert(self, argument: int) -> CmifAnswer:
        """Turn the session into a domain; the id of its object."""
        server = self.session.server
        if not isinstance(server, Interface):
            return CmifAnswer(result=Result.OUT_OF_DOMAINS)
        domain = Domain(server)
        if isinstance(self.session, ServiceSession):
            self.session.replace(domain)
        else:
            self.session.server = domain
        return CmifAnswer(struct.pack("<I", FIRST_OBJECT))

    def _copy(self, argument: int) -> CmifAnswer:
        """A session of its own for an object of the domain."""
        domain = self.session.server
        if not isinstance(domain, Domain):
            return CmifAnswer(result=Result.NOT_A_DOMAIN)
        found = domain.objects.get(argument)
        if found is None:
            return CmifAnswer(result=Result.DOMAIN_OBJECT_NOT_FOUND)
        return CmifAnswer(moves=(ServiceSession(found),))

    def _clone(self, argument: int) -> CmifAnswer:
        """A second session with the same object, or the same domain."""
        return CmifAnswer(moves=(ServiceSession(self.session.server),))

    def _pointer_buffer_size(self, argument: int) -> CmifAnswer:
        return CmifAnswer(struct.pack("<H", self.kernel.pointer_buffer_size))


_CONTROL_COMMANDS: Final[Mapping[int, Callable[[_Call, int], CmifAnswer]]] = {
    0: _Call._convert, 1: _Call._copy, 2: _Call._clone, 3: _Call._pointer_buffer_size, 4: _Call._clone,
}  # fmt: skip
"""What control messages ask for, by number."""
