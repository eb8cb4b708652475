"""`command` without a sandbox: every request of a program gets an answer, and no episode ends in an error."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import httpx2
import openai
import pytest

from stackrank.agents.command import CommandAgent
from stackrank.agents.command.agent import CommandSettings
from stackrank.agents.episode.protocol import AccessError, Briefing, EndpointError, GaveUp, SetupError
from stackrank.agents.llm.endpoints.chat import ChatCompletions
from stackrank.agents.llm.endpoints.recorded_requests import recorded_requests
from stackrank.agents.llm.endpoints.transport import Failed, Transport
from stackrank.agents.llm.scripted.answers import ScriptedReply, build_completion, call, calls, says
from stackrank.agents.llm.scripted.dialects import dialect_of, stream
from stackrank.agents.llm.settings import may_be_secret, read_settings
from stackrank.env.actions import Observation
from stackrank.env.state import check_state
from stackrank.env.tools import Bench, tool_set
from stackrank.env.tools.program import Answer, ProgramArguments, RunProgram
from tests.agents.llm.test_answers_fuzzed import mutated
from tests.fixtures.agents import CART
from tests.support.openai_server import Fault, OpenAIServer

QUESTIONS = 3000
BRIEFING = Briefing("t", "Mend it.", "pytest", tool_set("command"), 50)
TOOLS = [{"type": "function", "function": {"name": "bash", "description": "A shell.", "parameters": {}}}]
QUESTION: dict[str, Any] = {
    "model": "mine",
    "temperature": 0.5,
    "messages": [
        {"role": "system", "content": "Mend it."},
        {"role": "user", "content": [{"type": "text", "text": "Why?"}]},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "bash"}}]},
        {"role": "tool", "tool_call_id": "1", "content": "No."},
    ],
    "tools": TOOLS,
    "stream": True,
}


class Asked:
    """Stands for the sandbox of a program that asks this."""

    def __init__(self) -> None:
        self.lines = b""

    def exchange(self, *_: object) -> tuple[dict[str, Any], bytes]:
        return {"ended": False, "flooded": False}, self.lines

    def stop(self, _: str) -> None:
        """Nothing runs."""


class Program:
    """The program's side of an episode."""

    def __init__(self, **config: Any) -> None:
        self.sandbox: Any = Asked()
        self.exchanges: list[dict[str, Any]] = []
        self.bench = Bench(self.sandbox, CART, last_messages=[])
        config = {"base_url": "http://127.0.0.1:9/v1", "retry_s": 0, **config}
        self.agent = CommandAgent(model="m", config=config)
        self.agent.begin(BRIEFING, Observation("It fails."))

    def ask(self, body: str, path: str = "/v1/chat/completions") -> tuple[int, str]:
        """Status and body of the answer. Raises what ends the episode."""
        answer = self.answer(body, path)
        return answer.status, answer.body

    def served(self, http: Any) -> Any:
        """For the client of a provider's package, and the HTTP package that it has: a connection to the relay."""

        def handle(request: Any) -> Any:
            answer = self.answer(request.content.decode(), request.url.path)
            return http.Response(answer.status, headers={"content-type": answer.type}, text=answer.body)

        return http.Client(transport=http.MockTransport(handle))

    def answer(self, body: str, path: str) -> Answer:
        """What the program gets. Raises what ends the episode."""
        self.sandbox.lines = json.dumps({"path": path, "body": body}).encode() + b"\n"
        observation = RunProgram()(self.bench, ProgramArguments())
        assert check_state(observation.state)["kind"] == "program"
        decision = self.agent.act(observation)
        # As it is stored: no half of a character, no number that is none.
        json.dumps(
            [observation.text, observation.state, *(exchange.request for exchange in decision.exchanges)],
            allow_nan=False,
        )
        str([observation.text, decision.exchanges]).encode()
        answer = ProgramArguments.model_validate(decision.action.arguments).answer
        assert answer is not None
        self.exchanges += [{"index": len(self.exchanges), "exchanges": [asdict(e)]} for e in decision.exchanges]
        return answer


def bodies(dice: random.Random) -> Iterator[str]:
    """Requests of all kinds, most of them invalid."""
    odd = ["", "null", "[]", '"x"', "{", '{"messages": {}}', '{"messages":' + "[" * 5000, "9" * 5000, "\ud800", "\0"]
    odd += ['{"messages": [{}]}', '{"messages": [{"role": "user", "content": 5}]}', '{"messages": []}']
    odd += ['{"messages": [{"role": "user", "content": "\\ud800"}], "temperature": NaN}']
    odd += ['{"messages": [{"role": "user", "content": %s}]}' % ("[" * 300 + "]" * 300)]
    yield from odd
    while True:
        question: Any = copy.deepcopy(QUESTION)
        for _ in range(dice.randrange(5)):
            question = mutated(dice, question) if question else question
        yield json.dumps(question)


def test_every_request_of_a_program_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(7)
    replies = [calls(call("bash", command="ls"), call("submit")), says("So."), ScriptedReply(refusal="No.")]
    statuses: Counter[int] = Counter()

    def answered(_: Transport, __: str, body: dict[str, Any], *___: object) -> str:
        json.dumps(body, allow_nan=False).encode()
        if body["messages"] == [{"role": "user", "content": "Say yes."}]:
            return json.dumps(build_completion(says("Yes."), "m", 0))
        if dice.random() < 0.5:
            status = dice.choice([400, 404, 403, 422, 500, 503, None])
            raise Failed("unknown model: cannot be read", status=status)
        answer: Any = build_completion(dice.choice(replies), "m", 0)
        for _turn in range(dice.randrange(3)):
            answer = mutated(dice, answer) if answer else answer
        return json.dumps(answer)

    monkeypatch.setattr(Transport, "ask", answered)
    program, requests = Program(), bodies(dice)
    for _ in range(QUESTIONS):
        statuses[program.ask(next(requests))[0]] += 1
    assert all(statuses[status] > 10 for status in (200, 400, 404, 500, 502)), statuses
    assert program.ask("{}", "/v1/embeddings")[0] == 404


def test_invalid_requests_get_one_sentence() -> None:
    program = Program()
    for body, message in (
        ("nothing", "not valid JSON"),
        ('{"messages": "x"}', "a list `messages`"),
        ('{"messages": [{}]}', "messages[0] has to be an object with a text `role`"),
        ('{"messages": [{"role": "user", "content": 5}]}', "messages[0].content has to be a text"),
    ):
        status, answer = program.ask(body)
        assert status == 400 and message in json.loads(answer)["error"]["message"]


def test_a_program_can_correct_a_refused_request() -> None:
    # The first of all, at which settings could be wrong too; and a server that calls a bad question an unknown model.
    bad = [Fault.status(400, "no such parameter"), Fault.status(404, "the model does not exist"), says("Yes.")]
    with OpenAIServer([*bad, says("Because.")]) as server:
        program = Program(base_url=server.url)
        question = json.dumps(QUESTION | {"stream": False})
        assert program.ask(question)[0] == 400
        assert program.ask(question)[0] == 404
        status, answer = program.ask(question)
        assert status == 200 and json.loads(answer)["choices"][0]["message"]["content"] == "Because."


@pytest.mark.parametrize(("fault", "kind"), [(503, EndpointError), (401, AccessError), (404, AccessError)])
def test_an_endpoint_that_answers_nothing_is_an_error(fault: int, kind: type[Exception]) -> None:
    with OpenAIServer([Fault.status(fault)]) as server, pytest.raises(kind):
        Program(base_url=server.url).ask(json.dumps(QUESTION))


def test_secrets_of_the_operator_do_not_reach_a_programs_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_KEY", "value-of-the-secret")
    tools = [{"type": "function", "function": {"name": "a", "description": "$TEAM_KEY"}}]
    question = QUESTION | {
        "stream": False,
        "tools": tools,
        "route": {"key": "$TEAM_KEY", "mine": 1},
        "user": "$TEAM_KEY",
    }
    with OpenAIServer([says("So.")]) as server:
        program = Program(base_url=server.url, extra_body={"route": {"key": "$TEAM_KEY"}})
        assert program.ask(json.dumps(question))[0] == 200
        (sent,) = server.requests
    assert sent["tools"] == tools and sent["user"] == "$TEAM_KEY"
    assert sent["route"] == {"key": "value-of-the-secret"}


def test_incomplete_answers_are_streamed() -> None:
    dice = random.Random(3)
    replies = [calls(call("bash", command="ls"), call("submit")).with_(reasoning="Hm."), says("So.")]
    dialect = dialect_of("/chat/completions")
    assert dialect is not None
    readable = 0
    for _ in range(2000):
        answer: Any = build_completion(dice.choice(replies), "m", 0)
        for _turn in range(dice.randrange(3)):
            answer = mutated(dice, answer) if answer else answer
        try:
            answer = json.loads(json.dumps(answer))
            reply = ChatCompletions.reply(answer)
        except (LookupError, TypeError, AttributeError, ValueError):
            continue
        stream(dialect.events({"id": "", "created": 0, "model": "m", **answer})).decode()
        readable += bool(reply.text)
    assert readable > 500
    answer_body: dict[str, Any] = build_completion(calls(call("bash", command="ls")), "m", 0)
    del answer_body["choices"][0]["finish_reason"]
    *pieces, _end = (event for _, event in dialect.events(answer_body))
    joined = ChatCompletions(model="m", settings=read_settings({"base_url": "http://h"}, CommandSettings)).join_stream(
        pieces
    )
    assert joined["choices"][0]["finish_reason"] == "tool_calls"
    assert ChatCompletions.reply(joined).calls == ChatCompletions.reply(answer_body).calls


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("[the program ended with status 1]", "the program ended with status 1"),
        ("no key\n[the program ended with status 1]", "the program ended with status 1: no key"),
        ("[the program was lost]", "the program was lost"),
    ],
)
def test_the_end_of_a_program_is_reported_once(output: str, message: str) -> None:
    program = Program()
    with pytest.raises(GaveUp) as error:
        program.agent.act(Observation(output, state={"kind": "program", "event": "ended", "exit": 1}))
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("name", "value"),
    [("OPENAI_KEY", "x"), ("HF_TOKEN", "x"), ("GITHUB_TOKEN", "x"), ("MINE", "sk-abc"), ("MINE", "ghp_abc")],
)
def test_secrets_are_recognized_by_name_and_by_value(name: str, value: str) -> None:
    assert may_be_secret(name, value)
    with pytest.raises(SetupError, match="looks like a secret"):
        read_settings({"command": "x", "env": {name: value}}, CommandSettings)
    with pytest.raises(SetupError, match="looks like a secret"):
        read_settings({"extra_body": {name: value}}, CommandSettings)


def test_values_that_only_resemble_secrets_are_accepted() -> None:
    settings = {"env": {"TOKENIZERS_PARALLELISM": "false"}, "extra_body": {"prompt_cache_key": "a", "stop_token": "b"}}
    assert read_settings(settings, CommandSettings).env


REPLY = call("bash", command="ls").with_(content="I look.", reasoning="Hm.", tokens_cached=40)


def test_the_providers_clients_read_the_answers() -> None:
    """Whole and streamed, two requests each; the second contains the answer to the first."""
    import anthropic  # here, for it takes a tenth of the time in which all tests are collected

    with OpenAIServer([REPLY], verbatim=True) as server:
        program = Program(base_url=server.url, price={"input": 1, "output": 1})
        chat = openai.OpenAI(base_url="http://relay/v1", api_key="none", http_client=program.served(httpx2))
        claude = anthropic.Anthropic(base_url="http://relay", api_key="none", http_client=program.served(httpx2))
        for streams in (False, True):
            conversation: list[Any] = [{"role": "user", "content": f"Why? {streams}"}]
            for number in range(2):
                if streams:
                    with claude.messages.stream(
                        model="x", max_tokens=50, system="Brief.", messages=conversation
                    ) as events:
                        message = events.get_final_message()
                else:
                    message = claude.messages.create(model="x", max_tokens=50, system="Brief.", messages=conversation)
                thought, text, tool_use = message.content
                assert (thought.thinking, text.text, tool_use.name, tool_use.input) == (
                    "Hm.", "I look.", "bash", {"command": "ls"},
                )  # fmt: skip
                assert (message.usage.output_tokens, message.stop_reason) == (10, "tool_use")
                result = {"type": "tool_result", "tool_use_id": tool_use.id, "content": f"cart.py {number}"}
                blocks = [part.model_dump(exclude_none=True) for part in message.content]
                conversation += [{"role": "assistant", "content": blocks}, {"role": "user", "content": [result]}]
            items: list[Any] = [{"role": "user", "content": f"Why then? {streams}"}]
            for number in range(2):
                if streams:
                    with chat.responses.stream(model="x", input=items) as event_stream:
                        answer = event_stream.get_final_response()
                else:
                    answer = chat.responses.create(model="x", input=items)
                (ran,) = [part for part in answer.output if part.type == "function_call"]
                assert (answer.output_text, ran.name, ran.arguments) == ("I look.", "bash", '{"command": "ls"}')
                assert answer.usage is not None and answer.usage.output_tokens == 10
                # By its fields as they came: the client adds some without a value.
                items += [
                    part.model_dump(exclude_unset=True, exclude_none=True, exclude={"parsed_arguments"})
                    for part in answer.output
                ]
                items.append({"type": "function_call_output", "call_id": ran.call_id, "output": f"cart.py {number}"})
        requests = list(recorded_requests(program.exchanges))
        assert [part.body for part in requests] == server.requests and server.asked == 8
        assert [part.conversation for part in requests] == ["main", "main", "1", "1", "2", "2", "3", "3"]
        assert {part.usage["tokens_in"] for part in requests} == {100}
        assert all(part["exchanges"][0]["usage"]["cost_usd"] for part in program.exchanges)


def test_an_entrant_with_one_api_accepts_only_that_one() -> None:
    status, body = Program(api="messages").ask(json.dumps(QUESTION))
    assert status == 404 and "unknown path: send requests to /v1/messages" in json.loads(body)["error"]["message"]


@pytest.mark.parametrize(("path", "body", "message"), [
    ("/v1/responses", '{"messages": []}', "a list `input`"),
    ("/v1/responses", '{"input": [{"role": 5}]}', "input[0] has to be an object"),
    ("/v1/messages", '{"messages": [{"content": "x"}]}', "messages[0] has to be an object with a text `role`"),
])  # fmt: skip
def test_errors_have_the_form_of_the_requested_api(path: str, body: str, message: str) -> None:
    status, answer = Program().ask(body, path)
    assert status == 400 and message in json.loads(answer)["error"]["message"]


def test_a_missing_key_for_a_provider_is_a_setup_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_FILE", "ANTHROPIC_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
    program = Program(base_url=None)
    with pytest.raises(SetupError, match=r"ANTHROPIC_API_KEY is not set: put a key for https://api\.anthropic\.com"):
        program.ask(json.dumps(QUESTION), "/v1/messages")
