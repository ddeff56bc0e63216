"""The page served on this machine alone, until it is stopped.

Knows nothing of what it shows.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

import uvicorn

from grail_mem.consolidate.graph.partition import check_graph_extra
from grail_mem.errors import ConflictError
from grail_mem.memory import Memory
from grail_mem.memory.session import Session
from grail_mem.review_page.app import make_app
from grail_mem.review_page.guard import LOOPBACK, Keys


def serve(store: Memory | Session, *, port: int = 0, is_read_only: bool = False, ready: Callable[[str], None]) -> None:
    """Serve the review page until the process is told to stop.

    Args:
        store: The store as its owner, or as a session sees it.
        port: The port on the loopback interface; 0 for any that is free.
        is_read_only: Refuse every form that changes something.
        ready: Called with the address, token included, once it can be opened.

    Raises:
        ConflictError: The port is taken.
    """
    listening = listen(port)
    keys = Keys(listening.getsockname()[1])
    app = make_app(store, keys, is_read_only=is_read_only)
    config = uvicorn.Config(
        app, log_config=None, log_level="critical", access_log=False, server_header=False, date_header=False, lifespan="off", ws="none",
        timeout_graceful_shutdown=2,
    )  # fmt: skip
    threading.Thread(target=_warm, args=(store,), daemon=True, name="grail-review-warm").start()
    ready(keys.address)  # the socket listens already: who comes early waits
    uvicorn.Server(config).run(sockets=[listening])
    app.state.site.work.wait()


def _warm(store: Memory | Session) -> None:
    """Load what the first pages need, while the browser opens; a fault is met and told by the page itself."""
    with suppress(Exception):
        store.sql("SELECT count(*) FROM observations")
        check_graph_extra()


def listen(port: int) -> socket.socket:
    """A socket on the loopback interface; port 0 is any that is free.

    Raises:
        ConflictError: The port is taken.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((LOOPBACK, port))
        made.listen(128)
    except OSError as error:
        made.close()
        raise ConflictError(
            f"Port {port} of {LOOPBACK} cannot be used: {error.strerror}.", hint="Name another with --port, or none."
        ) from error
    return made
