"""Records what a real guest answers, and plays it again in place of one, changed or not.

A scene is a list of actions on a small task. It is played once in a real sandbox; what came over the channel is its
tape. Then it can be played thousands of times: the host sends its requests to a channel that answers from the tape.
"""

from __future__ import annotations

import copy
import hashlib
import hmac
import json
import struct
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from stackrank.env.actions import Action
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import Backend, Channel, SandboxError, SandboxSpec
from stackrank.env.sandbox.bootstrap import guest_code
from stackrank.env.sandbox.client import Sandbox
from stackrank.env.sandbox.guest.core import framing
from stackrank.env.task import Task
from stackrank.env.tools import ToolSet

_LENGTHS = struct.Struct("!II")
_KEY = 32
"""Bytes of the key of a report, at the beginning of the request's body."""
ANSWERED = {"ok": True}
_MOST_REQUESTS = 200
"""After so many requests a recorded sandbox ends: the last answer of a kind would be given again for ever."""


@dataclass(frozen=True)
class Answer:
    """One reply of the guest."""

    op: str
    header: dict[str, Any]
    body: bytes
    key: bytes = b""
    """Signs the lines of its report."""

    def resign(self, records: Sequence[str]) -> str:
        """A report of these records: code in the sandbox can have the key."""
        marks = [hmac.new(self.key, text.encode(), hashlib.sha256).hexdigest() for text in records]
        return "".join(f"{mark} {text}\n" for mark, text in zip(marks, records, strict=True))

    def packed(self) -> bytes:
        """The reply as it is sent."""
        return framing.pack(self.header, self.body)


@dataclass
class Tapes:
    """What a scene's sandboxes answered: that of the episode, then those of its verdict."""

    actions: Sequence[Action]
    tapes: list[list[Answer]]
    prepared: int
    """How many answers the first sandbox gave before the first action."""

    @property
    def of_the_entrant(self) -> list[tuple[int, int]]:
        """Tape and number of the answers that are given when something of the entrant may run in the sandbox."""
        first = [(0, number) for number in range(self.prepared, len(self.tapes[0]))]
        return first + [(1, number) for number, answer in enumerate(self.tapes[1]) if answer.op not in ("hello", "put")]


class Recorder:
    """A channel that keeps what passes through it."""

    def __init__(self, channel: Channel, tape: list[Answer]) -> None:
        self._channel = channel
        self._tape = tape
        self._pending = b""
        self._op = ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._channel, name)

    def send(self, data: bytes) -> None:
        """Pass on a request."""
        if data[:64] != guest_code()[:64]:
            size = _LENGTHS.unpack(data[: _LENGTHS.size])[0]
            self._op = json.loads(data[_LENGTHS.size :][:size])["op"]
        self._channel.send(data)

    def receive(self, size: int, deadline: float) -> bytes:
        """Pass on a part of an answer."""
        data = self._channel.receive(size, deadline)
        self._pending += data
        if len(self._pending) >= _LENGTHS.size:
            header, body = _LENGTHS.unpack(self._pending[: _LENGTHS.size])
            rest = self._pending[_LENGTHS.size :]
            if len(rest) == header + body:
                self._tape.append(Answer(self._op, json.loads(rest[:header]), rest[header:]))
                self._pending = b""
        return data


class RecordingBackend:
    """A backend whose sandboxes are recorded."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.name = backend.name
        self.tapes: list[list[Answer]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)

    def start(self, spec: SandboxSpec) -> Channel:
        """Start a real sandbox."""
        self.tapes.append([])
        recorder: Any = Recorder(self._backend.start(spec), self.tapes[-1])
        return recorder  # type: ignore[no-any-return]


def record(
    task: Task, tools: ToolSet, actions: Sequence[Action], backend: Backend, *, linked: bool = False
) -> list[Tapes]:
    """Play a scene in real sandboxes, verdict included, and return the tapes of each of its actions.

    `linked`: an action makes no sense without those before it, so its tapes hold these too.
    """
    recording = RecordingBackend(backend)
    starts = []
    with DebugEnv(task, tools, lambda spec: Sandbox(recording, spec), rewards=False) as env:
        env.reset()
        for action in actions:
            starts.append(len(recording.tapes[0]))
            env.step(action)
        starts.append(len(recording.tapes[0]))
        env.score()
    # On a busy machine, the tests of a verdict are given more than one sandbox: the last is the one that counts.
    episode, *_, verdict = recording.tapes
    prepared = starts[0]
    scenes = []
    for number, _ in enumerate(actions):
        first = 0 if linked else number
        acted = episode[starts[first] : starts[number + 1]]
        tape = [*episode[:prepared], *acted, *episode[starts[-1] :]]
        scenes.append(Tapes(actions[first : number + 1], [tape, verdict], prepared))
    return scenes


Change = Callable[[Answer], bytes]
"""Makes the bytes of a frame of an answer."""


class Player:
    """A channel that answers from a tape: each request by the next recorded answer to one of its kind."""

    root = "/workspace"
    name = "recorded"
    prefixes = "/prefixes"
    shared = ""
    guest_limits: ClassVar[dict[str, int]] = {}

    def __init__(self, tape: Sequence[Answer], lies: dict[int, Change]) -> None:
        """`lies`: the number of an answer in the tape -> what is sent instead."""
        self._by_op: defaultdict[str, list[tuple[int, Answer]]] = defaultdict(list)
        for number, answer in enumerate(tape):
            self._by_op[answer.op].append((number, answer))
        self._lies = lies
        self._out = b""
        self._requests = 0

    def send(self, data: bytes) -> None:
        """Take a request, and have its answer ready."""
        if data[:64] == guest_code()[:64]:
            return
        self._requests += 1
        if self._requests > _MOST_REQUESTS:
            return
        size = _LENGTHS.unpack(data[: _LENGTHS.size])[0]
        request, body = json.loads(data[_LENGTHS.size :][:size]), data[_LENGTHS.size + size :]
        answers = self._by_op[request["op"]]
        number, answer = (
            answers.pop(0)
            if len(answers) > 1
            else answers[0]
            if answers
            else (-1, Answer(request["op"], ANSWERED, b""))
        )
        header = copy.deepcopy({**answer.header, "id": request["id"]})
        answer = Answer(answer.op, header, answer.body, body[:_KEY])
        if request["op"] == "test" and isinstance(header.get("report"), str):
            header["report"] = answer.resign([line.partition(" ")[2] for line in header["report"].splitlines()])
        self._out += self._lies.get(number, Answer.packed)(answer)

    def receive(self, size: int, deadline: float) -> bytes:
        """Return a part of the answer. Raises SandboxError at its end, as a channel does that was closed."""
        if not self._out:
            raise SandboxError("the recorded sandbox closed its channel")
        data, self._out = self._out[:size], self._out[size:]
        return data

    def hung_up(self) -> bool:
        """It never does."""
        return False

    def used_s(self) -> float:
        """Nothing is used."""
        return 0.0

    def close(self) -> None:
        """Nothing runs."""

    def join(self, timeout_s: float) -> bool:
        """Nothing runs."""
        return True


class PlayingBackend:
    """A backend of recorded sandboxes."""

    name = "bubblewrap"

    def __init__(self, tapes: Tapes, lies: dict[tuple[int, int], Change], *, liars: int = 2) -> None:
        """`lies`: tape and number of an answer -> what is sent instead. `liars`: how many sandboxes lie."""
        self._tapes = tapes
        self._lies = lies
        self._liars = liars

    def start(self, spec: SandboxSpec) -> Channel:
        """Start the episode's tape, or a verdict's."""
        number = 0 if spec.warm else 1
        lies = {at: lie for (tape, at), lie in self._lies.items() if tape == number} if self._liars > 0 else {}
        self._liars -= bool(lies)
        return Player(self._tapes.tapes[number], lies)

    def new(self, spec: SandboxSpec) -> Sandbox:
        """A sandbox with this guest."""
        return Sandbox(self, spec)  # type: ignore[arg-type]

    def expect(self, spec: SandboxSpec) -> None:
        """Nothing has to be started ahead."""
