"""A script of what a model answers, read from a file, and the player that answers from it."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from stackrank.agents.episode.protocol import SetupError
from stackrank.agents.llm.scripted.answers import Entry, Fault, ScriptedReply
from stackrank.yaml_text import load_yaml

FaultName = int | Literal["dropped", "broken", "garbled"]


class ScriptedCall(BaseModel):
    """A tool call."""

    model_config = ConfigDict(extra="forbid")

    tool: str
    arguments: dict[str, Any] | str = Field(default_factory=dict)
    """A string is sent unchanged, for instance to see what invalid JSON leads to."""


class Answer(BaseModel):
    """One answer of the model."""

    model_config = ConfigDict(extra="forbid")

    say: str | None = None
    think: str = ""
    """What the model thinks before it answers."""
    calls: list[ScriptedCall] = Field(default_factory=list)
    refuse: str | None = None
    cut_off: bool = False
    delay_s: float = Field(default=0.0, ge=0)
    tokens_in: int = Field(default=1000, ge=0)
    tokens_out: int = Field(default=50, ge=0)
    faults: list[FaultName] = Field(default_factory=list)
    """The faults that come before this answer, one after another: an HTTP status, `dropped`, `broken` or `garbled`."""

    def reply(self) -> ScriptedReply:
        """The answer in the form that the server sends."""
        return ScriptedReply(
            calls=tuple(
                (call.tool, call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments))
                for call in self.calls
            ),
            content=self.say,
            reasoning=self.think,
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            finish_reason="length" if self.cut_off else None,
            refusal=self.refuse,
            delay_s=self.delay_s,
        )


class Conversation(BaseModel):
    """The answers to one kind of conversation."""

    model_config = ConfigDict(extra="forbid")

    when: str = ""
    """A text that the request has to contain: a model's name, or a part of a task."""
    answers: list[Answer] = Field(min_length=1)
    """The first answer, the second, ...; the last is repeated."""


class Script(BaseModel):
    """What the server answers. It takes the first conversation whose `when` is in the request."""

    model_config = ConfigDict(extra="forbid")

    models: list[str] = Field(default_factory=lambda: ["demo"])
    verbatim: bool = False
    """Whether a request that changes an earlier answer gets 400, as from thinking models."""
    stream_only: bool = False
    """Whether a request for anything but a stream gets 400."""
    refuses_null: bool = False
    """Whether a message whose content is null is refused, as by llama-cpp-python's server."""
    conversations: list[Conversation] = Field(min_length=1)


DEFAULT = Script(
    conversations=[
        # For an agent that has a shell and no debugger, such as the small one of `command`.
        Conversation(
            when="You debug a Python program in its folder, with shell commands.",
            answers=[
                Answer(say="What is there?", calls=[ScriptedCall(tool="bash", arguments={"command": "ls"})]),
                Answer(
                    calls=[ScriptedCall(tool="bash", arguments={"command": "python -m pytest -q 2>&1 | tail -n 5"})]
                ),
                Answer(say="I only follow a script, so I submit.", calls=[ScriptedCall(tool="submit")]),
            ],
        ),
        Conversation(
            answers=[
                Answer(say="What is there?", calls=[ScriptedCall(tool="listdir")]),
                Answer(say="Where does it fail?", calls=[ScriptedCall(tool="pdb", arguments={"command": "c\nw\nl"})]),
                Answer(say="I only follow a script, so I submit.", calls=[ScriptedCall(tool="submit")]),
            ]
        ),
    ]
)


def read_script(file: Path | None) -> Script:
    """Read a script from a YAML or JSON file. Raises SetupError."""
    if file is None:
        return DEFAULT
    try:
        return Script.model_validate(load_yaml(file.read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SetupError(f"{file} cannot be read: {' '.join(str(error).split())}") from None
    except ValidationError as error:
        first = error.errors()[0]
        location = ".".join(map(str, first["loc"])) or "the script"
        raise SetupError(f"{file} is invalid at {location}: {first['msg']}") from None


class Player:
    """Answers requests from a script. Safe to ask from many threads."""

    def __init__(self, script: Script, fail: float = 0.0, seed: int = 0) -> None:
        """`fail`: share of the requests that get 429 or 500 instead of their answer."""
        self._script = script
        self._fail = fail
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._times: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()
        """How often each kind of answer was given: `answers`, and faults by name."""

    def __call__(self, request: dict[str, Any]) -> Entry:
        """Return the answer to a request; which one depends on how many answers its conversation already holds."""
        text = json.dumps(request, ensure_ascii=False)
        with self._lock:
            fault = self._fault(request, text)
            self.counts[str(fault) if fault else "answers"] += 1
        return _fault(fault) if fault else self._answer(request, text).reply()

    def _fault(self, request: dict[str, Any], text: str) -> FaultName | None:
        if self._random.random() < self._fail:
            return self._random.choice((429, 500))
        faults = self._answer(request, text).faults
        self._times[text] += 1
        return faults[self._times[text] - 1] if self._times[text] <= len(faults) else None

    def _answer(self, request: dict[str, Any], text: str) -> Answer:
        for conversation in self._script.conversations:
            if conversation.when in text:
                answers = conversation.answers
                return answers[min(_turns(request), len(answers) - 1)]
        return Answer(say="No conversation of the script matches this request.")


def _turns(request: dict[str, Any]) -> int:
    """Return how many answers the conversation already holds."""
    if "messages" in request:
        return sum(message.get("role") == "assistant" for message in request["messages"])
    # In the Responses API an answer is several items, which the next input ends.
    input_roles = ("user", "system")
    is_input = [
        item.get("role") in input_roles or item.get("type") == "function_call_output" for item in request["input"]
    ]
    return sum(was_input and not is_input_now for was_input, is_input_now in pairwise(is_input))


def _fault(name: FaultName) -> Fault:
    if name == "dropped":
        return Fault.dropped()
    if name == "broken":
        return Fault.broken_body()
    if name == "garbled":
        return Fault.garbled()
    return Fault.status(int(name), retry_after=0.2 if name == 429 else None)
