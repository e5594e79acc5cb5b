"""Connections of the server: how many there may be, and how long a request may take to arrive.

Without this, a program that opens connections and sends nothing, or sends a request a byte at a time, would take all
connections that the system gives a process, and the page would get none.
"""

from __future__ import annotations

import asyncio
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS: Final = 256
"""Connections at a time. A browser makes six for a page."""
MOST_SECONDS: Final = 10.0
"""Seconds in which a request must be here whole."""


class BoundedConnection(H11Protocol):
    """A connection that is closed if its request does not come, or if there are too many."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        self._deadline = self.loop.call_later(MOST_SECONDS, transport.abort)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        state = self.conn.their_state
        if state is not h11.IDLE and state is not h11.SEND_BODY:
            self._stop()
        elif self._deadline is None and (state is h11.SEND_BODY or self.conn.trailing_data[0]):
            # A body, which the gate refuses, or the first bytes of another request.
            self._deadline = self.loop.call_later(MOST_SECONDS, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop()
        super().connection_lost(exc)

    def _stop(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
