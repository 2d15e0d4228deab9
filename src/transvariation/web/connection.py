"""Close connections on which no request comes, before they keep others from being answered."""

from asyncio import Transport
from typing import ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_IDLE_CONNECTIONS = 32  # connections without a request; of more, those that were opened first are closed
FIRST_REQUEST_SECONDS = 20.0  # uvicorn's own time limit begins with the first response


class Connection(H11Protocol):
    """An HTTP/1.1 connection of uvicorn that may be idle for a limited time only."""

    all: ClassVar[dict["Connection", None]] = {}  # in the order in which they were opened

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Count the connection, and close the oldest idle ones if there are too many."""
        super().connection_made(transport)
        self.all[self] = None
        self.loop.call_later(FIRST_REQUEST_SECONDS, self._close_without_request)
        idle = [each for each in self.all if each.cycle is None or each.cycle.response_complete]
        for each in idle[:-MAX_IDLE_CONNECTIONS]:
            each.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.all.pop(self, None)
        super().connection_lost(exc)

    def _close_without_request(self) -> None:
        if self.cycle is None:
            self.transport.close()
