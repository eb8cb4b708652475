"""One reply as it arrives: a frame whose sizes are checked before memory is allocated, and whether it is an answer."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field

from stackrank.env.sandbox.base import BadReply, GuestBug, Refused, SandboxError
from stackrank.env.sandbox.replies.decoder import Number, Text, decode

BODY_LIMIT = 64 << 20
"""The most bytes that follow the JSON; the archive of changes is the largest."""
_LENGTHS = struct.Struct("!II")
_SENTENCE = 4000
"""Characters kept of an error message from the guest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The fields of every answer to a request that was carried out."""

    header_limit: ClassVar[int] = 32 << 20
    """The most bytes of JSON in the answer; the report of a test run is the largest."""

    ok: Literal[True]
    id: Number
    """The number of the request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The answer to a request that was not carried out."""

    ok: Literal[False]
    id: Number
    problem: Literal["refused", "failed", "bug"]
    """`refused`: the agent can do something about it; `failed`: the sandbox itself is at fault; `bug`: the guest."""
    text: Text

    def as_error(self, op: str, sandbox: str) -> Refused | GuestBug | SandboxError:
        """Return the error to raise for request `op` to the sandbox of this name."""
        if self.problem == "refused":
            return Refused(self.text[:_SENTENCE])
        if self.problem == "bug":
            return GuestBug(f"a bug in stackrank's guest ({op}):\n{self.text[-_SENTENCE:]}")
        return SandboxError(f"the guest of sandbox {sandbox} failed: {self.text[:_SENTENCE]}")


Answer = TypeVar("Answer", bound=Reply)
_answers: dict[type[Reply], Any] = {}


def read_frame(shape: type[Answer], number: int, receive: Callable[[int], bytes]) -> tuple[Answer | Problem, bytes]:
    """Read the answer to request `number`. `receive` reads as many bytes as it is given, or fewer.

    Raises BadReply, and what `receive` raises.
    """

    def read_exactly(size: int) -> bytes:
        chunks = []
        while size:
            chunks.append(receive(size))
            size -= len(chunks[-1])
        return b"".join(chunks)

    header_size, body_size = _LENGTHS.unpack(read_exactly(_LENGTHS.size))
    if header_size > shape.header_limit or body_size > BODY_LIMIT:
        raise BadReply(f"a frame of {header_size} and {body_size} bytes is too large")
    if shape not in _answers:
        _answers[shape] = Annotated[shape | Problem, Field(discriminator="ok")]
    reply: Answer | Problem = decode(_answers[shape], read_exactly(header_size))
    if reply.id != number:
        raise BadReply("it answers another request")
    return reply, read_exactly(body_size) if body_size else b""
