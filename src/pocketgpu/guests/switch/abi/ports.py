"""Ports and sessions between threads of the program: one thread answers what others send.

    server, client = session(kernel)
    client.send(mailbox)  # the thread of the mailbox waits
    server.receive(other)  # the message is in the other mailbox
    server.reply(other)  # the first thread goes on

A server waits for its sessions as for events: one is signalled while a message waits, or when the client is gone.
Source: switchbrew SVC (WaitSynchronization, AcceptSession, ReplyAndReceive).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pocketgpu.guests.kernel.objects import KernelObject, Waitable
from pocketgpu.guests.kernel.waits import FOREVER
from pocketgpu.guests.switch.abi.results import Result
from pocketgpu.guests.switch.abi.transfer import Mailbox, RefusedError, hand_over

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.threads import Thread
    from pocketgpu.guests.switch.kernel import SwitchKernel

MOST_SESSIONS: Final = 0x7FFFFFFF
"""Of a port, by the number that a program may ask for."""


class ServerSession(Waitable):
    """The end of a session that answers. waiting: senders whose message it has not got. asking: the one that it has to
    answer. client_is_gone: nobody sends any more. port: by which the session was made."""

    kind = "server session"

    def __init__(self, kernel: SwitchKernel, port: ServerPort | None = None) -> None:
        super().__init__()
        self._kernel, self.port = kernel, port
        self.waiting: list[Mailbox] = []
        self.asking: Mailbox | None = None
        self.open, self.client_is_gone = True, False

    def __repr__(self) -> str:
        return f"<ServerSession: {len(self.waiting)} messages>"

    def signalled(self, thread: Thread) -> bool:
        return self.client_is_gone or bool(self.waiting and self.asking is None)

    def taken(self, thread: Thread) -> None:
        """It is signalled until the message was received."""

    def receive(self, box: Mailbox) -> Result | None:
        """Put the next message into a mailbox; SESSION_CLOSED if nobody sends any more, None if a message was refused:
        its sender has been told."""
        if self.client_is_gone:
            return Result.SESSION_CLOSED
        sender = self.waiting.pop(0)
        try:
            self.asking = sender.with_lists(self._kernel)
            hand_over(self._kernel, sender, box)
        except RefusedError as error:
            self._answered(error.result)
            return None
        return Result.OK

    def reply(self, box: Mailbox) -> Result:
        """Answer the message that was received, with the one in a mailbox."""
        if self.asking is None:
            return Result.SESSION_CLOSED if self.client_is_gone else Result.INVALID_STATE
        result = Result.OK
        try:
            hand_over(self._kernel, box, self.asking)
        except RefusedError as error:
            result = error.result
        self._answered(result)
        return result

    def _answered(self, result: Result) -> None:
        """The sender goes on, and the next message can be received."""
        sender, self.asking = self.asking, None
        if sender is not None:
            _goes_on(self._kernel, sender.thread, result)
        self._kernel.wake(self)

    def closed(self) -> None:
        """The server is gone: each waiting sender gets SESSION_CLOSED."""
        if not self.open:
            return
        self.open = False
        senders, self.waiting = self.waiting, []
        for one in (*([self.asking] if self.asking is not None else []), *senders):
            _goes_on(self._kernel, one.thread, Result.SESSION_CLOSED)
        self.asking = None
        self.ended()

    def ended(self) -> None:
        """One end is gone; with the second one the port has room again."""
        if self.client_is_gone and not self.open and self.port is not None:
            self.port.sessions -= 1
            self.port = None


def _goes_on(kernel: SwitchKernel, thread: Thread, result: Result) -> None:
    kernel.resume(thread, 0)
    thread.answer[0] = result


def _answer(thread: Thread, index: int | None) -> None:
    """The result is set by who answers."""


class ClientSession(KernelObject):
    """The end of a session that asks."""

    kind = "client session"

    def __init__(self, kernel: SwitchKernel, server: ServerSession) -> None:
        super().__init__()
        self._kernel, self.server = kernel, server

    def send(self, box: Mailbox) -> Result | None:
        """Let the mailbox's thread wait for an answer to its message; SESSION_CLOSED if nobody answers."""
        if not self.server.open:
            return Result.SESSION_CLOSED
        wait = self._kernel.sleep(box.thread, FOREVER, _answer)
        wait.what = "the answer to a message"
        self.server.waiting.append(box)
        self._kernel.wake(self.server)
        return None

    def closed(self) -> None:
        self.server.client_is_gone = True
        self._kernel.wake(self.server)
        self.server.ended()


def session(kernel: SwitchKernel, port: ServerPort | None = None) -> tuple[ServerSession, ClientSession]:
    """Both ends of a new session."""
    server = ServerSession(kernel, port)
    return server, ClientSession(kernel, server)


class ServerPort(Waitable):
    """Where sessions come from that others ask for. most: how many there can be at a time, and sessions: how many there
    are. pending: those that were not accepted."""

    kind = "server port"

    def __init__(self, kernel: SwitchKernel, most: int) -> None:
        super().__init__()
        self._kernel, self.most, self.sessions, self.open = kernel, most, 0, True
        self.pending: list[ServerSession] = []

    def __repr__(self) -> str:
        return f"<ServerPort: {self.sessions} of {self.most} sessions>"

    def signalled(self, thread: Thread) -> bool:
        return bool(self.pending)

    def taken(self, thread: Thread) -> None:
        """It is signalled until the session was accepted."""

    def connect(self) -> ClientSession | Result:
        """A new session, which the server can accept."""
        if not self.open:
            return Result.PORT_CLOSED
        if self.sessions >= self.most:
            return Result.OUT_OF_SESSIONS
        self.sessions += 1
        server, client = session(self._kernel, self)
        self.pending.append(server)
        self._kernel.wake(self)
        return client

    def closed(self) -> None:
        self.open = False
        pending, self.pending = self.pending, []
        for one in pending:
            one.closed()


class ClientPort(KernelObject):
    """Where sessions are asked for."""

    kind = "client port"

    def __init__(self, port: ServerPort) -> None:
        super().__init__()
        self.port = port
