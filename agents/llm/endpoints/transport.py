"""Sends HTTP requests to an endpoint through its provider's package, and reports all errors in one form.

One generator makes the packages of OpenAI and Anthropic: clients and exceptions have the same shape and names.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stackrank.errors import StackrankError

_NONE: Mapping[str, str] = {}
_INVALID = re.compile(r"\d+ validation errors?\b")
_MOST_BYTES = 64 << 20
"""Most bytes of one answer."""
_STATUSES = {
    "content_filter": 400,
    "content_policy_violation": 400,
    "context_length_exceeded": 400,
    "invalid_prompt": 400,
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "model_not_found": 404,
    "not_found_error": 404,
    "request_too_large": 413,
    "insufficient_quota": 429,
    "rate_limit_error": 429,
    "rate_limit_exceeded": 429,
    "api_error": 500,
    "internal_server_error": 500,
    "server_error": 500,
    "server_is_overloaded": 503,
    "service_unavailable_error": 503,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP statuses that belong to the codes and types of errors."""


class Failed(StackrankError):
    """A request without a proper answer; the message is what the endpoint or the connection said."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str = "",
        headers: Mapping[str, str] | None = None,
        timed_out: bool = False,
    ) -> None:
        """`status`: the HTTP status; None if no answer came. `code`: the endpoint's own error code."""
        super().__init__(message)
        self.status = status
        self.code = code
        self.headers = headers or {}
        self.timed_out = timed_out


class Garbled(Failed):
    """The endpoint's answer cannot be read."""


def make_failure(error: Any, status: int | None = None, headers: Mapping[str, str] = _NONE) -> Failed:
    """Return the exception for an error that an endpoint reports.

    An error may come with status 200, because a stream or a router has already begun to answer. It is then treated as
    the same error with its proper status.
    """
    if not isinstance(error, Mapping):
        error = {"message": error}
    words = [str(error[name]) for name in ("code", "type") if error.get(name)]
    # Some servers repeat the status in these fields.
    code = next((word for word in words if not word.isdigit()), "")
    message = str(error.get("message") or code or "no reason given")
    # OpenRouter says "Provider returned error", and gives the provider's message separately.
    if isinstance(metadata := error.get("metadata"), Mapping) and metadata.get("raw"):
        message = f"{message}: {metadata['raw']}"
    if status is None or status < 400:
        statuses = (int(word) if word.isdigit() and len(word) == 3 else _STATUSES.get(word, 0) for word in words)
        status = next((number for number in statuses if number >= 400), None)
        if status is None:
            return Garbled(f"its answer broke off: {message}", code=code)
    if status == 500 and _INVALID.match(message):
        status = 422  # llama-cpp-python's way to refuse a request's form: a retry does not help
    return Failed(message, status=status, code=code, headers=headers)


def make_bounded_client(package: Any) -> Any:
    """Return an HTTP client for a client of `package` that limits time and size of a whole answer. The package's own
    time limit is for each piece of an answer: a server that sends keep-alive messages would never reach it."""
    name, _, _ = package.DefaultHttpxClient.__mro__[1].__module__.partition(".")
    library = importlib.import_module(name)
    base: Any = library.SyncByteStream

    class Stream(base):  # type: ignore[misc]  # of the HTTP library that the package chose
        def __init__(self, stream: Any, deadline: float, allowed_s: float) -> None:
            self._stream, self._deadline, self._allowed_s = stream, deadline, allowed_s

        def __iter__(self) -> Iterator[bytes]:
            size = 0
            for piece in self._stream:
                size += len(piece)
                if time.monotonic() > self._deadline:
                    raise Failed(f"its answer took more than {self._allowed_s:g} s", timed_out=True)
                if size > _MOST_BYTES:
                    raise Garbled(f"its answer has more than {_MOST_BYTES >> 20} MiB")
                yield piece

        def close(self) -> None:
            self._stream.close()

    def record_start(request: Any) -> None:
        request.extensions["sent"] = time.monotonic()

    def bound_response(response: Any) -> None:
        extensions = response.request.extensions
        allowed_s = extensions["timeout"]["read"]
        response.stream = Stream(response.stream, extensions["sent"] + allowed_s, allowed_s)

    certificates = tuple(os.environ.get(variable) for variable in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
    return package.DefaultHttpxClient(
        verify=_tls_context(library, certificates),
        event_hooks={"request": [record_start], "response": [bound_response]},
    )


@functools.cache
def _tls_context(library: Any, certificates: tuple[str | None, ...]) -> ssl.SSLContext:
    """Return the settings of TLS that all clients of an HTTP library share, since it takes 20 ms to read the
    certificates of all authorities. `certificates`: the variables that name them, which the library reads itself."""
    context: ssl.SSLContext = library.create_ssl_context()
    return context


@functools.cache
def _make_stream(package: Any) -> Any:
    """Return the class of streams of `package` without events that have no data, as keep-alive messages and `retry`
    are: the packages would decode these as JSON (openai/openai-python issue 2722)."""

    class Events(package.Stream[object]):  # type: ignore[misc]  # of a package that the settings choose
        def _iter_events(self) -> Iterator[Any]:
            return (event for event in super()._iter_events() if event.data.strip())

    return Events


class Transport:
    """Sends requests and lists models through a provider's client. Safe to share between threads."""

    def __init__(self, package: Any, client: Any, models: str = "/models") -> None:
        """`package`: the module of `client`, for its exceptions. `models`: the path of the list of models."""
        self._package = package
        self._client = client
        self._models = models

    def ask(self, path: str, body: Mapping[str, Any], timeout_s: float, headers: Mapping[str, str] = _NONE) -> str:
        """Return the body of the answer. `headers`: in addition to the package's own. Raises Failed."""
        # The packages' methods for each API are not used: they go through every message again, which takes several
        # times as long as all the rest.
        options = {"timeout": timeout_s, "headers": dict(headers)}
        return str(self._translate_errors(lambda: self._client.post(path, cast_to=str, body=body, options=options)))

    def stream(
        self, path: str, body: Mapping[str, Any], timeout_s: float, headers: Mapping[str, str] = _NONE
    ) -> list[Any]:
        """Return the events of a streamed answer, as JSON. Raises Failed."""
        kind = _make_stream(self._package)
        arguments = {"body": body, "options": {"timeout": timeout_s, "headers": dict(headers)}, "stream": True}
        try:
            return list(
                self._translate_errors(
                    lambda: list(self._client.post(path, cast_to=object, stream_cls=kind, **arguments))
                )
            )
        except Failed:
            raise
        except Exception as error:  # from the HTTP library, which the packages choose; none is ours
            raise Garbled(f"its answer broke off: {error}") from None

    def models(self, timeout_s: float) -> str:
        """Return the body of the endpoint's list of models. Raises Failed."""
        return str(
            self._translate_errors(lambda: self._client.get(self._models, cast_to=str, options={"timeout": timeout_s}))
        )

    def _translate_errors(self, work: Callable[[], Any]) -> Any:
        package = self._package
        try:
            return work()
        except package.APIStatusError as error:
            body = error.body if isinstance(error.body, dict) else {}
            inner = body["error"] if isinstance(body.get("error"), dict) else body
            response = error.response
            raise make_failure(
                {"message": str(error), **_without_empty(inner)}, error.status_code, response.headers
            ) from None
        except package.APITimeoutError as error:
            raise Failed(str(error), timed_out=True) from None
        except package.APIConnectionError as error:
            raise (error.__cause__ if isinstance(error.__cause__, Failed) else Failed(str(error))) from None
        except package.APIError as error:
            inner = error.body if isinstance(error.body, dict) else {"message": error.body}
            raise make_failure({"message": str(error), **_without_empty(inner)}) from None


def _without_empty(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
