"""One HTTP question to an endpoint, through the package of its provider; errors are told in one form.

The packages of OpenAI and Anthropic come from one generator: clients and exceptions have the same shape and names.
"""

from __future__ import annotations

import importlib
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from stackrank.errors import StackrankError

_NONE: Mapping[str, str] = {}
_INVALID = re.compile(r"\d+ validation errors?\b")
_MOST_BYTES = 64 << 20
"""Of one answer."""
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
"""The HTTP statuses that go with the words of errors."""


class Failed(StackrankError):
    """A question without a proper answer; the message is what the endpoint or the connection said."""

    def __init__(
        self,
        said: str,
        *,
        status: int | None = None,
        code: str = "",
        headers: Mapping[str, str] | None = None,
        timed_out: bool = False,
    ) -> None:
        """`status`: of HTTP; None where no answer came. `code`: the endpoint's own word for what is wrong."""
        super().__init__(said)
        self.status = status
        self.code = code
        self.headers = headers or {}
        self.timed_out = timed_out


class Garbled(Failed):
    """The endpoint's answer cannot be read."""


def failure(error: Any, status: int | None = None, headers: Mapping[str, str] = _NONE) -> Failed:
    """What an endpoint says in an error.

    Where that comes with status 200, since a stream or a router has begun to answer already, it is taken as the same
    error with a status of its own.
    """
    if not isinstance(error, Mapping):
        error = {"message": error}
    words = [str(error[name]) for name in ("code", "type") if error.get(name)]
    # Some servers repeat the status where others have a word.
    code = next((word for word in words if not word.isdigit()), "")
    said = str(error.get("message") or code or "it does not say why")
    # OpenRouter says "Provider returned error", and what the provider said apart.
    if isinstance(about := error.get("metadata"), Mapping) and about.get("raw"):
        said = f"{said}: {about['raw']}"
    if status is None or status < 400:
        known = (int(word) if word.isdigit() and len(word) == 3 else _STATUSES.get(word, 0) for word in words)
        status = next((each for each in known if each >= 400), None)
        if status is None:
            return Garbled(f"its answer broke off: {said}", code=code)
    if status == 500 and _INVALID.match(said):
        status = 422  # llama-cpp-python's word for a request of another form: it will not pass
    return Failed(said, status=status, code=code, headers=headers)


def bounded(package: Any) -> Any:
    """An HTTP client for a client of `package`, whose own limit of time is for each piece of an answer: a server that
    says at times that it is still there would never reach it."""
    name, _, _ = package.DefaultHttpxClient.__mro__[1].__module__.partition(".")
    base: Any = importlib.import_module(name).SyncByteStream

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

    def sent(request: Any) -> None:
        request.extensions["sent"] = time.monotonic()

    def came(response: Any) -> None:
        extensions = response.request.extensions
        allowed_s = extensions["timeout"]["read"]
        response.stream = Stream(response.stream, extensions["sent"] + allowed_s, allowed_s)

    return package.DefaultHttpxClient(event_hooks={"request": [sent], "response": [came]})


class Transport:
    """A client that asks and lists. Safe to share between threads."""

    def __init__(self, package: Any, client: Any, models: str = "/models") -> None:
        """`package`: the module that `client` is of, for its exceptions. `models`: the path of the list of models."""
        self._package = package
        self._client = client
        self._models = models

    def ask(self, path: str, body: Mapping[str, Any], timeout_s: float, headers: Mapping[str, str] = _NONE) -> str:
        """The body of the answer. `headers`: beside the package's own. Raises Failed."""
        # Not the methods for the single interfaces: they go through every message again, which takes several times as
        # long as all the rest.
        options = {"timeout": timeout_s, "headers": dict(headers)}
        return str(self._told(lambda: self._client.post(path, cast_to=str, body=body, options=options)))

    def stream(
        self, path: str, body: Mapping[str, Any], timeout_s: float, headers: Mapping[str, str] = _NONE
    ) -> list[Any]:
        """The events of an answer that comes in pieces, as JSON. Raises Failed."""
        kind = self._package.Stream[object]
        more = {"body": body, "options": {"timeout": timeout_s, "headers": dict(headers)}, "stream": True}
        try:
            return list(self._told(lambda: list(self._client.post(path, cast_to=object, stream_cls=kind, **more))))
        except Failed:
            raise
        except Exception as error:  # of the HTTP library, which the packages choose; none is ours
            raise Garbled(f"its answer broke off: {error}") from None

    def models(self, timeout_s: float) -> str:
        """The body of the answer to the question which models there are. Raises Failed."""
        return str(self._told(lambda: self._client.get(self._models, cast_to=str, options={"timeout": timeout_s})))

    def _told(self, work: Callable[[], Any]) -> Any:
        package = self._package
        try:
            return work()
        except package.APIStatusError as error:
            body = error.body if isinstance(error.body, dict) else {}
            inner = body["error"] if isinstance(body.get("error"), dict) else body
            response = error.response
            raise failure({"message": str(error), **_named(inner)}, error.status_code, response.headers) from None
        except package.APITimeoutError as error:
            raise Failed(str(error), timed_out=True) from None
        except package.APIConnectionError as error:
            raise (error.__cause__ if isinstance(error.__cause__, Failed) else Failed(str(error))) from None
        except package.APIError as error:
            inner = error.body if isinstance(error.body, dict) else {}
            raise failure({"message": str(error), **_named(inner)}) from None


def _named(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value}
