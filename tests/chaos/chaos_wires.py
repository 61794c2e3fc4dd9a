"""TCP in front of real servers: spreads connections over several of them, and stalls or cuts on demand."""

import random
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

Address = tuple[str, int]


class Wire:
    """Hands every connection to one of the servers behind it, bytes as they are.

    Parameters
    ----------
    targets
        Gives the servers, in the order in which they are to be tried.
    """

    def __init__(self, targets: Callable[[], Sequence[Address]]) -> None:
        self._targets = targets
        self._server = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._server.getsockname()[1]
        self._pairs: set[tuple[socket.socket, socket.socket]] = set()
        self._lock = threading.Lock()
        self._stalled_until = 0.0
        self._ended = False
        self._acceptor = threading.Thread(target=self._accept, name="wire", daemon=True)
        self._acceptor.start()

    def stall(self, seconds: float) -> None:
        """Hold all answers back for so long; requests go through."""
        self._stalled_until = time.monotonic() + seconds

    def cut(self) -> int:
        """Close every connection, answered or not; say how many there were."""
        with self._lock:
            pairs = list(self._pairs)
        for pair in pairs:
            _close(pair)
        return len(pairs)

    def close(self) -> None:
        """Let nobody in any more."""
        self._ended = True
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self.cut()
        self._acceptor.join(5)

    def _accept(self) -> None:
        while not self._ended:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), name="wire", daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        upstream = self._connect()
        if upstream is None:
            client.close()
            return
        pair = (client, upstream)
        with self._lock:
            self._pairs.add(pair)
        answers = threading.Thread(target=self._pump, args=(upstream, client, True), daemon=True)
        answers.start()
        self._pump(client, upstream, False)
        answers.join()
        with self._lock:
            self._pairs.discard(pair)
        _close(pair)

    def _connect(self) -> socket.socket | None:
        for target in self._targets():
            with suppress(OSError):
                return socket.create_connection(target, timeout=5)
        return None

    def _pump(self, source: socket.socket, sink: socket.socket, answers: bool) -> None:
        try:
            source.settimeout(None)
            while piece := source.recv(65536):
                while answers and (left := self._stalled_until - time.monotonic()) > 0:
                    time.sleep(left)
                sink.sendall(piece)
        except OSError:
            _close((source, sink))  # reset, or cut: the other side is to notice as well
        with suppress(OSError):
            sink.shutdown(socket.SHUT_WR)


def spread(ports: Sequence[int], order: random.Random) -> Callable[[], list[Address]]:
    """Every server as often as every other."""

    def targets() -> list[Address]:
        found = [("127.0.0.1", port) for port in ports]
        order.shuffle(found)
        return found

    return targets


def _close(pair: Sequence[socket.socket]) -> None:
    for one in pair:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
        one.close()
