"""The tool `program`: runs the entrant's own program in the sandbox, from one question to its model to the next."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from stackrank.env.actions import Observation
from stackrank.env.environment import Environment
from stackrank.env.sandbox.guest.debugging import relay
from stackrank.env.state import ProgramState
from stackrank.env.tools.base import Arguments, Bench, ToolError
from stackrank.storable import read_json

MOST = 16 << 20
"""The most bytes of one question to the model."""
LONGEST_S = 600.0
"""The longest time that one step may wait for a program, in seconds."""
LONGEST_HEADER = 4000
_CONVERSATION = {"responses": "input"}
"""End of a question's address -> the key of the conversation in the question, if it is not `messages`."""
_SERVER = "program"
_START = 'exec "$TASK_PYTHON" -I -c "$RELAY"'


class Program(BaseModel):
    """A program and what it needs."""

    model_config = ConfigDict(extra="forbid")

    command: str = Field(min_length=1, description="A shell command, run in the workspace.")
    task: str = Field("", description="The task, as the program finds it in `AGENT_TASK`.")
    model: str = Field("", description="The model's name, as the program finds it in `AGENT_MODEL`.")
    files: dict[str, str] = Field(default_factory=dict, description="Name -> text of files in `AGENT_DIR`.")
    env: dict[str, str] = Field(default_factory=dict, description="Further variables of its environment.")
    requirements: list[str] = Field(default_factory=list, description="What is installed for it.")


class Answer(BaseModel):
    """What the model answers, as the program gets it over HTTP."""

    model_config = ConfigDict(extra="forbid")

    status: int = Field(200, description="HTTP status.")
    type: str = Field("application/json", description="Content type.")
    body: str = Field("", description="What the model answers.")


class ProgramArguments(Arguments):
    """Start it, answer it, or with neither wait for it."""

    start: Program | None = Field(None, description="The program to start.")
    answer: Answer | None = Field(None, description="The answer to its last question.")
    timeout_s: float = Field(LONGEST_S, gt=0, le=LONGEST_S, description="How long it may take until its next question.")


class RunProgram:
    """Lets the entrant's program run until it asks its model again or ends."""

    name = "program"
    version = "1"
    description = "Run a program of the entrant's own. Only the agent `command` uses this tool."
    arguments = ProgramArguments

    def __call__(self, bench: Bench, arguments: ProgramArguments) -> Observation:
        """Return what the program asks, or how it ended. Raises ToolError if there is no program to go on with."""
        data = b""
        if arguments.start is not None:
            data = _line(arguments.start.model_dump(exclude={"requirements"}))
            prefix = Environment(requirements=tuple(arguments.start.requirements))
            argv, env = ["/bin/sh", "-c", _START], {"RELAY": _relay()}
            bench.sandbox.serve(_SERVER, argv, env, prefix if prefix.requirements else None)
            bench.last_messages = []
        elif bench.last_messages is None:
            raise ToolError("no program is running: start one")
        elif arguments.answer is not None:
            data = _line(arguments.answer.model_dump())
        reply, lines = bench.sandbox.exchange(_SERVER, data, arguments.timeout_s, MOST)
        message = _read(lines)
        if message is None and not (reply.ended or reply.flooded):
            return Observation(
                "[the program has not asked anything yet]", state=ProgramState(kind="program", event="silent")
            )
        if message is not None and "path" in message:
            return self._asked(
                bench, str(message["path"]), str(message.get("body", "")), _headers(message.get("headers"))
            )
        return self._ended(bench, message)

    def _asked(self, bench: Bench, path: str, body: str, headers: dict[str, str]) -> Observation:
        """Return a question. The state keeps only the messages that are new since the previous question."""
        assert bench.last_messages is not None
        try:
            request = read_question(body, _CONVERSATION.get(path.partition("?")[0].rpartition("/")[2], "messages"))
        except ValueError as error:
            state = ProgramState(kind="program", event="asks", path=path, wrong=str(error))
            return Observation(f"[{path}]\n{body}", state=state)
        messages: list[dict[str, Any]] = request["messages"]
        cached = False
        if path.partition("?")[0].endswith("/messages"):
            cached = any(map(_is_marked, messages))
            messages = list(map(_unmarked, messages))
        unchanged = 0
        for new, old in zip(messages, bench.last_messages, strict=False):
            if new != old:
                break
            unchanged += 1
        bench.last_messages = messages
        state = ProgramState(
            kind="program",
            event="asks",
            path=path,
            kept=unchanged,
            request={**request, "messages": messages[unchanged:]},
        )
        if headers:
            state["headers"] = headers
        if cached:
            state["cached"] = True
        texts = [
            f"{role}: {_text(message)}" for message in messages[unchanged:] if (role := _who(message)) != "assistant"
        ]
        return Observation("\n\n".join(texts) or "[it asks again]", state=state)

    def _ended(self, bench: Bench, message: dict[str, Any] | None) -> Observation:
        bench.sandbox.stop(_SERVER)
        bench.last_messages = None
        if message is None or not isinstance(message.get("ended"), int):
            lost = "[the program was lost, or it wrote into the relay's output]"
            return Observation(lost, state=ProgramState(kind="program", event="ended", exit=-1))
        output = str(message.get("output", ""))
        text = f"{output.rstrip()}\n[the program ended with status {message['ended']}]".lstrip()
        return Observation(text, state=ProgramState(kind="program", event="ended", exit=message["ended"]))


@cache
def _relay() -> str:
    return Path(relay.__file__).read_text(encoding="utf-8")


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message).encode("ascii") + b"\n"


def _read(lines: bytes) -> dict[str, Any] | None:
    """Read the last line of the relay, or of a program that wrote in its place; None if it is no JSON object."""
    try:
        message = read_json(lines.splitlines()[-1]) if lines.strip() else None
    except ValueError:
        return None
    return message if isinstance(message, dict) else None


def read_question(body: str, name: str = "messages") -> dict[str, Any]:
    """Read a question into a form that can be stored and sent: its conversation, called `name`, becomes `messages`.

    Raises ValueError with one sentence.
    """
    try:
        request = read_json(body)
    except ValueError as error:
        raise ValueError(f"the question is {error}") from None
    if name == "input" and isinstance(request, dict) and isinstance(request.get(name), str):
        request[name] = [{"role": "user", "content": request[name]}]
    if not isinstance(request, dict) or not isinstance(request.get(name), list):
        raise ValueError(f"the question has to be a JSON object with a list `{name}`")
    for number, message in enumerate(request[name]):
        # In the Responses API, items that are not messages have a type instead of a role.
        if not isinstance(message, dict) or not isinstance(
            message.get("role", message.get("type") if name == "input" else 0), str
        ):
            raise ValueError(f"{name}[{number}] has to be an object with a text `role`")
        if not isinstance(message.get("content"), str | list | None):
            raise ValueError(f"{name}[{number}].content has to be a text, a list of parts, or null")
    return {**request, "messages": request.pop(name)}


def _headers(message_headers: object) -> dict[str, str]:
    """Return the headers that can be sent on. Others are dropped: a program may write in the relay's place."""
    headers = message_headers if isinstance(message_headers, dict) else {}
    return {
        name: text
        for name in relay.PASSED_ON
        if isinstance(text := headers.get(name), str)
        and len(text) < LONGEST_HEADER
        and text.isascii()
        and text.isprintable()
    }


def _unmarked(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message without the marks that tell Anthropic up to where to cache. A mark needs a list of blocks, so a
    list of one text block becomes a plain text again."""
    content = message.get("content")
    if not isinstance(content, list):
        return message
    blocks = [
        {name: value for name, value in block.items() if name != "cache_control"} if isinstance(block, dict) else block
        for block in content
    ]
    only_block = blocks[0] if len(blocks) == 1 and isinstance(blocks[0], dict) else {}
    text = only_block.get("text")
    return {
        **message,
        "content": text if only_block.keys() == {"type", "text"} and isinstance(text, str) and text else blocks,
    }


def _is_marked(message: dict[str, Any]) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(isinstance(block, dict) and "cache_control" in block for block in content)


def _who(message: dict[str, Any]) -> str:
    """Return a message's role. Without one, the results of calls are a tool's and everything else is the model's."""
    return str(message.get("role") or ("tool" if str(message.get("type")).endswith("_output") else "assistant"))


def _text(message: dict[str, Any]) -> str:
    """Return the text of a message, whichever form its content has."""
    content = message.get("content", message.get("output"))
    parts = content if isinstance(content, list) else [content]
    return "\n".join(_part(part) for part in parts)


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return str(part or "")
    return _text(part) if part.get("type") == "tool_result" else str(part.get("text", ""))
