"""One request to a provider, and all of its answer, within one deadline. Nothing is sent twice."""

import io
import json
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPResponse
from http.cookiejar import DefaultCookiePolicy
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection

from addon.llm.base import Transient
from addon.setting_values import is_loopback

CONNECT_SECONDS = 5.0
"""Longest a connection may take to be made, per address of the host."""

MOST_BYTES = 4 * 1024 * 1024
"""Longest answer that is read, unpacked. A summary with all its thinking is a hundredth of it."""

MOST_THREADS = 256
"""Connections kept per host: as many as callers may share one sender."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, read to its end, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Timed(io.RawIOBase):
    """A socket's bytes until a deadline, however slowly they trickle.

    A socket's own time-out begins anew with each byte. It is the whole answer that must come in time,
    headers included.
    """

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._raw = sock.makefile("rb", buffering=0)
        self._deadline = deadline

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer trickles in")
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedSocket:
    """What `HTTPResponse` asks of a socket: a file to read from."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def makefile(self, _: str) -> io.BufferedReader:
        left = self._sock.gettimeout()  # urllib3 has just set it to what is left of the total
        assert left is not None, "every request has a deadline"
        return io.BufferedReader(_Timed(self._sock, time.monotonic() + left))


class _TimedResponse(HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(_TimedSocket(sock), *args, **kwargs)  # type: ignore[arg-type]


class _TimedHTTP(HTTPConnection):
    response_class = _TimedResponse


class _TimedHTTPS(HTTPSConnection):
    response_class = _TimedResponse


class _HTTPPool(urllib3.HTTPConnectionPool):
    ConnectionCls = _TimedHTTP


class _HTTPSPool(urllib3.HTTPSConnectionPool):
    ConnectionCls = _TimedHTTPS


class _Adapter(HTTPAdapter):
    """Connections whose answers have a deadline, also through a proxy."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"http": _HTTPPool, "https": _HTTPSPool}

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = {"http": _HTTPPool, "https": _HTTPSPool}
        return manager


class Sender:
    """Posts JSON. Safe to share between threads.

    No retries, redirects, cookies or ``.netrc``; a proxy from the environment is used for hosts that are
    not this machine.
    """

    def __init__(self) -> None:
        self._http = requests.Session()
        self._http.auth = _as_it_is  # otherwise a line in ~/.netrc replaces the key
        self._http.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        for scheme in ("https://", "http://"):
            adapter = _Adapter(pool_connections=8, pool_maxsize=MOST_THREADS, max_retries=0)
            self._http.mount(scheme, adapter)

    def close(self) -> None:
        """Release connections."""
        self._http.close()

    def post(self, url: str, body: Any, headers: Mapping[str, str], timeout: float) -> Reply | Transient:
        """Send ``body`` as JSON once; the answer whatever its status, or why there was none.

        Parameters
        ----------
        timeout
            Seconds for all of it: connecting, sending, waiting, and reading to the last byte. Only looking
            up the host's name is beyond it.
        """
        if timeout <= 0:
            return Transient("timeout")
        sent = {"Accept": "application/json", "Content-Type": "application/json", **headers}
        try:
            with self._http.post(
                url,
                data=json.dumps(body, ensure_ascii=False, allow_nan=False).encode(),
                headers=sent,
                timeout=urllib3.Timeout(total=timeout, connect=CONNECT_SECONDS),  # type: ignore[arg-type]
                stream=True,
                allow_redirects=False,
                # A proxy named in the environment is not to see what stays on this machine.
                proxies={"no_proxy": "127.0.0.1,localhost,::1"} if is_loopback(url) else None,
            ) as response:
                content = _read(response)
                if content is None:
                    return Transient("answer_too_long")
                return Reply(response.status_code, response.headers, content)
        except OSError as error:  # the base of everything that requests raises
            return Transient(_word(error))


def _as_it_is(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _read(response: requests.Response) -> bytes | None:
    pieces, size = [], 0
    for piece in response.iter_content(64 * 1024):
        pieces.append(piece)
        size += len(piece)
        if size > MOST_BYTES:
            return None
    return b"".join(pieces)


def _word(error: OSError) -> str:
    """A short class for what happened on the way; the error itself may name the URL and quote headers."""
    cause = error.args[0] if error.args else None
    if isinstance(error, requests.exceptions.ConnectTimeout):
        return "unreachable"
    late = (TimeoutError, urllib3.exceptions.TimeoutError)
    if isinstance(error, (requests.exceptions.Timeout, TimeoutError)) or isinstance(cause, late):
        return "timeout"
    if isinstance(error, requests.exceptions.SSLError):
        return "tls_failed"
    reason = getattr(cause, "reason", None)
    if isinstance(error, requests.exceptions.ProxyError) or isinstance(
        reason, urllib3.exceptions.NewConnectionError
    ):
        return "unreachable"
    return "connection_lost"
