"""One HTTP question to an endpoint, through the package of its provider; errors are told in one form.

The packages of OpenAI and Anthropic come from one generator: clients and exceptions have the same shape and names.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from stackrank.errors import StackrankError

_NONE: Mapping[str, str] = {}
_INVALID = re.compile(r"\d+ validation errors?\b")


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
        kind, deadline = self._package.Stream[object], time.monotonic() + timeout_s
        more = {"body": body, "options": {"timeout": timeout_s, "headers": dict(headers)}, "stream": True}

        def read() -> list[Any]:
            events = []
            for event in self._client.post(path, cast_to=object, stream_cls=kind, **more):
                events.append(event)
                # The client's own limit is for each piece.
                if time.monotonic() > deadline:
                    raise Failed(f"its answer took more than {timeout_s:g} s", timed_out=True)
            return events

        try:
            return list(self._told(read))
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
            # Some servers repeat the status where others have a word.
            words = [str(inner[name]) for name in ("code", "type") if inner.get(name)]
            said, code = inner.get("message"), next((word for word in words if not word.isdigit()), "")
            if error.status_code < 400:  # told in the middle of a stream
                raise Garbled(f"its answer broke off: {said or error}", code=code) from None
            status = error.status_code
            if status == 500 and _INVALID.match(str(said)):
                status = 422  # llama-cpp-python's word for a request of another form: it will not pass
            raise Failed(str(said or error), status=status, code=code, headers=error.response.headers) from None
        except package.APITimeoutError as error:
            raise Failed(str(error), timed_out=True) from None
        except package.APIConnectionError as error:
            raise Failed(str(error)) from None
        except package.APIError as error:
            raise Garbled(f"its answer broke off: {error}") from None
