"""An entrant's own program: it works in the sandbox, and each request to its model is a step."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from stackrank.agents.episode.protocol import Agent, Briefing, Decision, GaveUp, Setup, SetupError
from stackrank.agents.episode.step import Exchange, Step
from stackrank.agents.llm import history
from stackrank.agents.llm.conversation import PASSED_ON, make_endpoint, make_setup, measure_usage
from stackrank.agents.llm.endpoints import limits
from stackrank.agents.llm.endpoints.endpoint import ContextTooLong, Endpoint, Rejected
from stackrank.agents.llm.endpoints.prices import find_price
from stackrank.agents.llm.endpoints.recorded_requests import APIS, sent_messages
from stackrank.agents.llm.prompting import inline_files
from stackrank.agents.llm.scripted.dialects import dialect_of, stream
from stackrank.agents.llm.settings import Settings, identity, may_be_secret, read_settings
from stackrank.env.actions import Action, Observation
from stackrank.env.environment import Environment
from stackrank.env.local_packages import identify
from stackrank.env.state import ProgramState
from stackrank.env.task import Task
from stackrank.env.tools.program import LONGEST_S
from stackrank.terms import HISTORY_CUT, StopReason

MINIMAL = Path(__file__).with_name("minimal.py")
DEFAULT = '"$TASK_PYTHON" "$AGENT_DIR/agent.py"'
_BAD_GATEWAY = 502
_NOT_SENT = ("messages", "stream", "stream_options", HISTORY_CUT, PASSED_ON)
"""The fields of a program's request that are not sent on as parameters."""
_COUNT = {"input_tokens": 0, "output_tokens": 0}
_IN_STREAMS: Mapping[str, Mapping[str, Any]] = {
    "chat": {"id": "", "created": 0},
    "responses": {"id": "resp_0", "object": "response", "created_at": 0, "status": "completed"},
    "messages": {"id": "msg_0", "type": "message", "role": "assistant", "stop_reason": "end_turn", "usage": _COUNT},
}
"""Fields that the events of a streamed answer must have, for answers in which the endpoint left them out."""


class CommandSettings(Settings):
    """The settings of the agent `command`, in addition to those of its model's endpoint."""

    command: str = ""
    """A shell command, run in the workspace. It finds the task in `AGENT_TASK` and `$AGENT_DIR/task.md`, the model's
    name in `AGENT_MODEL`, the endpoint in `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`, and the task's Python in
    `TASK_PYTHON`. Empty: a small agent that comes with stackrank."""
    files: dict[str, str] = Field(default_factory=dict)
    """Files that the program finds in `AGENT_DIR`: NAME is the text, NAME_file a file that contains it."""
    requirements: list[str] = Field(default_factory=list)
    """What pip installs for the program, in an environment of its own that comes first on the `PATH`. Pin versions.
    The whole path of a folder, a wheel or an archive is a requirement, too."""
    env: dict[str, str] = Field(default_factory=dict)
    """Further variables of the program's environment. Leave out keys: the program needs none."""

    @field_validator("files")
    @classmethod
    def _are_names(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value:
            if "/" in name or "\0" in name or name in ("", ".", "..", "_file", "task.md"):
                raise ValueError(f"{name!r} cannot be the name of a file in AGENT_DIR")
        return value

    @field_validator("env")
    @classmethod
    def _no_secrets(cls, value: dict[str, str]) -> dict[str, str]:
        if variable := next((name for name, text in value.items() if may_be_secret(name, text)), ""):
            raise PydanticCustomError(
                "secret",
                "{name} looks like a secret, and settings are stored: leave it out, because the program's requests "
                "to its model get the key outside the sandbox",
                {"name": variable},
            )
        return value


class CommandAgent(Agent):
    """Starts the program and answers its requests from the model. Submits when the program exits with status 0."""

    version = f"1+{hashlib.sha256(MINIMAL.read_bytes()).hexdigest()[:8]}"
    needs_model = True
    only_tools = "command"

    @classmethod
    def inline_files(cls, config: Mapping[str, Any]) -> dict[str, Any]:
        """The configuration with the texts of its files. Raises SetupError."""
        files = config.get("files")
        return {**config, "files": inline_files(files, "files")} if isinstance(files, dict) else dict(config)

    @classmethod
    def configure(cls, *, model: str, config: Mapping[str, Any]) -> Setup:
        """Raises SetupError if the model or the key is missing, or a setting is wrong."""
        if not model:
            raise SetupError("the agent command needs a model: name one with --model")
        settings = _settings(config)
        packages = {"requirements": identify(settings.requirements)} if settings.requirements else {}
        setup = make_setup({**identity(config), **packages}, [(model, settings)])
        installed = (Environment(requirements=tuple(settings.requirements)),) if settings.requirements else ()
        return Setup(setup.identity, setup.endpoints, setup.unpriced, setup.check, installed, setup.models)

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Contacts no endpoint yet. Raises SetupError, as `configure` does."""
        super().__init__(model=model, config=config)
        self._model = model
        self._settings = _settings(config or {})
        self._endpoints: dict[str, Endpoint] = {}
        """API that the program uses -> endpoint."""
        self._price = find_price(model, self._settings.price)
        self._past: Iterator[Step] = iter(())
        self._messages: list[dict[str, Any]] = []
        self._recorded: dict[str, list[dict[str, Any]]] = {}
        """Conversation -> the messages of its last exchange."""
        self._tools: dict[str, Any] = {}
        """Conversation -> the tools of its last exchange."""

    def recall(self, past: Sequence[Step]) -> None:
        """Take the next answers from the record instead of asking the endpoint."""
        self._past = iter(past[1:])

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Prepare the task for the program."""
        self._briefing = briefing
        files = "\n".join(briefing.files)
        self._task = f"{observation.text}\n\nFiles in the workspace:\n{files}\n"

    def act(self, observation: Observation) -> Decision:
        """Return the action that gives the program the model's answer. Raises GaveUp.

        Raises EndpointError or SetupError if the endpoint fails whatever it is asked.
        """
        state = observation.state
        request = self._read_request(state) if state["kind"] == "program" else None
        api = _api(state)
        for past in self._past:
            if past.action is not None:
                if past.exchanges and request is not None and api is not None:
                    self._endpoint(api).answers += 1
                    self._recorded[past.exchanges[0].conversation] = request["messages"]
                return Decision(past.action, past.thought, past.usage, past.exchanges)
        if state["kind"] == "tests":
            return Decision(self._run_program(start=self._start()))
        if state["kind"] != "program":
            raise GaveUp(f"the program could not be run: {observation.text}")
        if state["event"] == "silent":
            return Decision(self._run_program())
        if state["event"] == "ended":
            if state.get("exit"):
                status_line, *last_lines = reversed(observation.text.rstrip().splitlines())
                raise GaveUp(": ".join([status_line.strip("[]"), *(line[:300] for line in last_lines[:1])]))
            return Decision(Action("submit"))
        configured_api = self._settings.api
        if api is None or configured_api not in (None, api):
            paths = [f"/v1/{_ADDRESS[name]}" for name in APIS if configured_api in (None, name)]
            return self._reject(404, f"unknown path: send requests to {' or '.join(paths)}")
        if request is None:
            return self._reject(400, state.get("wrong", "the request cannot be read"))
        try:
            return self._forward(
                api, request, {"headers": state.get("headers", {}), "cached": state.get("cached", False)}
            )
        except Rejected as error:
            return self._reject(error.status or _BAD_GATEWAY, str(error))

    def _start(self) -> dict[str, Any]:
        settings = self._settings
        files = (
            inline_files(settings.files, "files")
            if settings.command
            else {"agent.py": MINIMAL.read_text(encoding="utf-8")}
        )
        return {
            "command": settings.command or DEFAULT,
            "task": self._task,
            "model": self._model,
            "files": files,
            "env": settings.env,
            "requirements": settings.requirements,
        }

    def _run_program(self, **arguments: Any) -> Action:
        timeout_s = LONGEST_S  # after that, the referee checks whether the episode has time left
        if self._briefing.remaining_s is not None:
            timeout_s = min(max(self._briefing.remaining_s(), 0.0) + 1.0, LONGEST_S)
        return Action("program", {**arguments, "timeout_s": timeout_s})

    def _reject(self, status: int, message: str) -> Decision:
        """Tell the program what is wrong with its request, as an endpoint would, so that it can correct it."""
        error = {"message": message, "type": "invalid_request_error", "code": None}
        body = json.dumps({"type": "error", "error": error})  # the format of both providers
        return Decision(self._run_program(answer={"status": status, "type": "application/json", "body": body}))

    def _read_request(self, state: ProgramState) -> dict[str, Any] | None:
        """Return the whole request; None if there is none that could be answered."""
        request = state.get("request")
        if request is None:
            return None
        self._messages = [*self._messages[: state.get("kept", 0)], *request["messages"]]
        return {**request, "messages": self._messages}

    def _endpoint(self, api: str) -> Endpoint:
        """Return the endpoint for this API. Raises SetupError if there is no key for it."""
        if api not in self._endpoints:
            settings = self._settings.model_copy(update={"api": api})
            if self._settings.api is None and api == "messages" and settings.base_url:
                # The setting is the address for the other APIs; Anthropic's package adds the version itself.
                settings = settings.model_copy(update={"base_url": settings.base_url.removesuffix("/v1")})
            self._endpoints[api] = make_endpoint(self._model, settings)
        return self._endpoints[api]

    def _find_conversation(self, messages: list[dict[str, Any]]) -> tuple[str, int]:
        """Return the conversation that a request belongs to, and how many of its messages are recorded.

        A request that continues no conversation begins a new one: programs ask for titles and summaries in between."""
        for name, recorded in reversed(self._recorded.items()):
            if messages[: len(recorded)] == recorded:
                return name, len(recorded)
        return str(len(self._recorded) or ""), 0

    def _forward(self, api: str, request: dict[str, Any], foreign: Mapping[str, Any]) -> Decision:
        endpoint, settings = self._endpoint(api), self._settings
        configured = {*settings.extra_body, *([endpoint.max_tokens_field] if settings.max_tokens else [])}
        forced = {
            name: value
            for name, value in endpoint.parameters((), self._briefing.model_seed or None).items()
            if name in configured or name not in endpoint.default_fields
        }
        parameters = {**{name: value for name, value in request.items() if name not in _NOT_SENT}, **forced}
        messages = request["messages"]
        estimated = history.estimate_tokens(messages)
        try:
            answer, timing = endpoint.ask(
                parameters, sent_messages(messages, foreign), estimated, foreign=foreign["headers"]
            )
        except ContextTooLong as error:
            raise GaveUp(
                f"the program's request is too long for the model's context ({error})", StopReason.CONTEXT_LIMIT
            ) from None
        endpoint.answers += 1
        reply = endpoint.read(answer)
        limits.of_endpoint(settings).correct_estimate(estimated, reply.tokens_in + reply.tokens_out)
        usage = measure_usage(reply, timing, self._price, messages, parameters)
        name, recorded_count = self._find_conversation(messages)
        recorded_request = {**parameters, "messages": messages[recorded_count:]}
        if recorded_count and self._tools.get(name) == parameters.get("tools"):
            recorded_request.pop("tools", None)
        self._recorded[name], self._tools[name] = messages, parameters.get("tools")
        if api != "chat":  # all requests to `chat` have the same form
            recorded_request[PASSED_ON] = dict(foreign)
        exchange = Exchange(
            model=self._model,
            request=recorded_request,
            answer=answer,
            usage=usage,
            conversation=name,
            reasoning=reply.reasoning,
        )
        response = {"status": 200, "type": "application/json", "body": json.dumps(answer)}
        if request.get("stream"):
            dialect = dialect_of(endpoint.path)
            assert dialect is not None
            body = stream(dialect.events({"model": self._model, **_IN_STREAMS[api], **answer})).decode()
            response = {"status": 200, "type": "text/event-stream", "body": body}
        return Decision(self._run_program(answer=response), reply.text, usage, (exchange,))


_ADDRESS = {api: endpoint.path.removeprefix("/v1").lstrip("/") for api, endpoint in APIS.items()}


def _api(state: Mapping[str, Any]) -> str | None:
    """Return the API that a program's request is for; None if it is for none."""
    path = str(state.get("path", "")).partition("?")[0]
    return next((api for api, address in _ADDRESS.items() if path.endswith(f"/{address}")), None)


def _settings(config: Mapping[str, Any]) -> CommandSettings:
    settings = read_settings(config, CommandSettings)
    if settings.files and not settings.command:
        raise SetupError("the agent command has `files`, but no `command` that uses them: set one")
    return settings
