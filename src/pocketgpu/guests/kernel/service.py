"""Services of both consoles: who answers messages, command by command.

    class Notes(Service):
        @command(3)
        def read(self, request):
            return Answer(values=(1,))

What a message and an answer look like is the console's; see `abi/` of each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Protocol, TypeVar

from pocketgpu.guests.kernel.objects import KernelObject


class Message(Protocol):
    """What a program sends."""

    @property
    def command(self) -> int:
        """The number of the command."""
        ...


R = TypeVar("R", bound=Message, contravariant=True)
A = TypeVar("A", covariant=True)
_METHODS: dict[Callable[..., Any], list[int]] = {}
"""The numbers of the methods that answer commands."""
_F = TypeVar("_F", bound=Callable[..., Any])


def command(number: int) -> Callable[[_F], _F]:
    """Mark a method of a service as the one for a command."""

    def mark(method: _F) -> _F:
        _METHODS.setdefault(method, []).append(number)
        return method

    return mark


def methods_of(service: type) -> dict[int, Callable[..., Any]]:
    """The methods of a class that answer commands, by number."""
    members = (getattr(service, name) for name in dir(service))
    return {number: one for one in members if callable(one) for number in _METHODS.get(one, ())}


class Server(Protocol[R, A]):
    """Who answers at the other end of a session."""

    name: str

    def handle(self, request: R) -> A | None:
        """Do what a message asks for; None: the caller waits, and the service answers later."""
        ...


class Commands(Generic[R, A]):
    """Methods marked with `command` answer messages."""

    def __init__(self) -> None:
        self._handlers = methods_of(type(self))

    @property
    def commands(self) -> tuple[int, ...]:
        """The numbers of the commands that it has."""
        return tuple(self._handlers)

    def handle(self, request: R) -> A | None:
        """Do what a message asks for; unknown commands are reported and answered as services do."""
        handler = self._handlers.get(request.command)
        if handler is None:
            return self.unknown(request)
        answer: A | None = handler(self, request)
        return answer

    def unknown(self, request: R) -> A | None:
        """Report a command that is not modelled, and answer it."""
        raise NotImplementedError


class Session(KernelObject):
    """A connection to a service."""

    kind = "session"

    def __init__(self, server: Server[Any, Any]) -> None:
        super().__init__()
        self.server = server

    def __repr__(self) -> str:
        return f"<Session {self.server.name}>"
