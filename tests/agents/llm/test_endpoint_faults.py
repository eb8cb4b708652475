"""Models that cannot play, endpoints that fail for a while, and answers that are withheld or hostile."""

from __future__ import annotations

import json
from typing import Any

import pytest

from stackrank.agents.episode.loop import Budget
from stackrank.agents.episode.protocol import (
    EndpointDown,
    EndpointError,
    GaveUp,
    SetupError,
    model_at,
)
from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.endpoints import limits
from stackrank.agents.llm.endpoints.retries import FIRST_CONTACT_S
from stackrank.agents.llm.settings import LlmSettings
from stackrank.env.actions import Observation
from stackrank.terms import StopReason
from tests.agents.episode_setup import make, started
from tests.fixtures.agents import CART, FakeEnv, play_fake, play_real
from tests.support.openai_server import Fault, ScriptedReply, call, says
from tests.support.waiting import run_out

pytestmark = pytest.mark.slow  # by its time

DAY_S = 86_400.0


# ---- what cannot play


def test_no_key_and_no_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(SetupError, match="OPENAI_API_KEY is not set"):
        LlmAgent(model="gpt-4.1", config={})
    make()  # the model that comes along needs neither
    with pytest.raises(SetupError, match="MY_KEY"):
        make(api_key_env="MY_KEY")
    make(base_url="http://127.0.0.1:1/v1")  # a server of one's own needs no key


def test_no_model(serve: Any) -> None:
    serve([says("")])
    with pytest.raises(SetupError, match="--model"):
        LlmAgent(model="", config={})


@pytest.mark.parametrize(
    ("config", "field"),
    [
        ({"temperatur": 1}, "temperatur"),
        ({"temperature": 3}, "temperature"),
        ({"reasoning_effort": "huge"}, "reasoning_effort"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"prompts": {"user": "x"}}, "prompts.user"),
        ({"prompts": {"system_file": "/no/such/file"}}, "/no/such/file"),
        ({"prompts": {"task": "x", "task_file": "/y"}}, "leave one out"),
        ({"prompts": {"system": "{{ nothing }}"}}, "system prompt"),
        ({"prompts": {"task": "{% if %}"}}, "task prompt"),
        ({"price": {"input": 1.0}}, "price"),
    ],
)
def test_wrong_config(serve: Any, config: dict[str, Any], field: str) -> None:
    serve([says("")])
    with pytest.raises(SetupError, match=field):
        LlmAgent(model="scripted", config=config)


@pytest.mark.parametrize(
    ("code", "says_so"),
    [(401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "does not know this model: check its name")],
)
def test_permanent_refusals(serve: Any, code: int, says_so: str) -> None:
    server = serve([Fault.status(code, "no: sk-test-planted-key-1234, sk-test-****1234")])
    agent = started()
    with pytest.raises(SetupError, match=says_so) as caught:
        agent.act(Observation(""))
    message = str(caught.value)
    assert server.url in message and "scripted" in message and "\n" not in message
    assert "sk-test" not in message and "1234" not in message.replace(server.url, "")
    assert server.asked == 1


def test_a_wrong_key_is_not_shown(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    serve([call("eval")], key="another")
    with pytest.raises(SetupError) as caught:
        started().act(Observation(""))
    chain: BaseException | None = caught.value
    while chain is not None:
        assert "planted" not in f"{chain} {chain!r} {chain.args}" or chain.__suppress_context__ is None
        chain = chain.__cause__
    assert "planted" not in repr(caught.value)


def test_a_bad_first_request_is_a_setup_error(serve: Any) -> None:
    server = serve([Fault.status(400, "temperature is not supported")])
    with pytest.raises(SetupError, match="temperature is not supported"):
        started(temperature=1.0).act(Observation(""))
    assert server.asked == 1


# ---- what fails for a while


@pytest.mark.parametrize(
    "fault",
    [
        Fault.status(429, retry_after=0.05),
        Fault.status(500),
        Fault.status(503, retry_after="Wed, 21 Oct 2015 07:28:00 GMT"),
        Fault.status(408),
        Fault.dropped(),
        Fault.broken_body(),
        Fault.garbled(),
        Fault.garbled(b'{"choices": []}'),
        Fault.garbled(b"[]"),
    ],
)
def test_temporary_faults_are_retried(serve: Any, fault: Fault) -> None:
    server = serve([fault, fault, call("eval")])
    decision = started().act(Observation(""))
    assert decision.action.tool == "eval"
    assert server.asked == 3
    assert server.requests[0] == server.requests[2]  # the same question


def test_retry_after_is_honoured(serve: Any) -> None:
    server = serve([Fault.status(429, retry_after=0.7), call("eval")])
    started().act(Observation(""))
    assert server.times[1] - server.times[0] >= 0.7  # without being asked for, the first wait is half a second at most


def test_a_slow_answer_is_retried(serve: Any) -> None:
    server = serve([call("eval").with_(delay_s=DAY_S), call("eval")])
    started(request_timeout_s=run_out(0.5)).act(Observation(""))
    assert server.asked >= 2


def test_a_request_that_took_longer_than_the_patience_is_retried_once(serve: Any) -> None:
    server = serve([call("eval").with_(delay_s=DAY_S), call("eval")])
    limit = run_out(1.0)
    started(request_timeout_s=limit, retry_s=0.9 * limit).act(Observation(""))
    assert server.asked == 2


@pytest.mark.parametrize("fault", [Fault.status(500, "overloaded"), Fault.dropped(), Fault.status(429)])
def test_retries_end_after_the_patience(serve: Any, fault: Fault) -> None:
    server = serve([fault])
    agent = started(retry_s=1.0)
    with pytest.raises(EndpointError, match=rf"after {'[0-9]+'} tries") as caught:
        agent.act(Observation(""))
    assert server.url in str(caught.value)
    assert server.asked == 2, "a third would come after a second and more"


@pytest.mark.parametrize(
    ("fault", "down"),
    [(Fault.status(503), True), (Fault.dropped(), True), (Fault.status(402), False), (Fault.garbled(), False)],
)
def test_an_endpoint_that_fails_for_every_request_is_down(serve: Any, fault: Fault, down: bool) -> None:
    server = serve([fault])
    with pytest.raises(EndpointError) as caught:
        started(retry_s=0.0).act(Observation(""))
    assert isinstance(caught.value, EndpointDown) is down
    if isinstance(caught.value, EndpointDown):
        assert caught.value.endpoint == (model_at(server.url, "scripted") if fault.code else server.url)


@pytest.mark.parametrize("fault", [Fault.status(503), Fault.status(429), Fault.dropped()])
def test_only_the_model_that_does_not_answer_is_down(serve: Any, fault: Fault) -> None:
    """While one request fails, the same model or another model of the endpoint answers another one."""
    server = serve([fault])
    shared = limits.of_endpoint(LlmSettings())
    for answering, down in (("another", model_at(server.url, "scripted")), ("scripted", "")):
        server._script = lambda request, model=answering: shared.record_answer(model) or fault
        with pytest.raises(EndpointError) as caught:
            started(retry_s=0.6).act(Observation(""))
        if fault.code == 429:  # it says itself that the question is not to blame
            down = model_at(server.url, "scripted")
        assert getattr(caught.value, "endpoint", "") == down


def test_a_retry_after_beyond_the_patience_fails_immediately(serve: Any) -> None:
    server = serve([Fault.status(429, retry_after=3600)])
    with pytest.raises(EndpointError, match="failed at the first try"):
        started().act(Observation(""))
    assert server.asked == 1


def test_a_spent_quota_is_not_retried(serve: Any) -> None:
    server = serve([Fault.status(429, "You exceeded your current quota", code="insufficient_quota")])
    with pytest.raises(EndpointError, match="quota"):
        started().act(Observation(""))
    assert server.asked == 1


def test_an_unreachable_endpoint(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve([call("eval")])
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@127.0.0.1:9/v1")
    monkeypatch.setattr("stackrank.agents.llm.endpoints.retries.FIRST_CONTACT_S", 0.6)
    with pytest.raises(EndpointError) as caught:
        started(retry_s=300.0).act(Observation(""))
    assert "127.0.0.1:9" in str(caught.value) and "secret" not in str(caught.value)
    assert server.asked == 0 and FIRST_CONTACT_S < 60


def test_too_long_a_conversation_is_cut_once(serve: Any) -> None:
    too_long = Fault.status(400, "This model's maximum context length is 10 tokens", code="context_length_exceeded")
    server = serve([*[call("view", path="a")] * 8, too_long, call("submit")])
    agent = started()
    for _ in range(9):
        decision = agent.act(Observation("x" * 5000))
    assert decision.action.tool == "submit"
    lengths = [len(json.dumps(request)) for request in server.requests]
    assert lengths[9] < lengths[8] * 0.7
    assert server.requests[9]["messages"][:2] == server.requests[0]["messages"]

    serve([too_long])
    with pytest.raises(GaveUp, match="context_tokens") as caught:
        started().act(Observation(""))
    assert caught.value.reason is StopReason.CONTEXT_LIMIT


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault.status(400, "filtered", code="content_filter"), "refused"),
        (Fault.status(400, "The response was filtered due to Azure's content management policy"), "refused"),
        (Fault.status(400, "Invalid prompt: it may violate our usage policy", code="invalid_prompt"), "refused"),
        (Fault.status(403, "Your input was flagged by moderation"), "refused"),
        (Fault.status(400, "messages.3.tool_calls.0.name: invalid"), "refused"),
        (Fault.status(400, "prompt is too long: 9 tokens > 8 maximum"), "context_limit"),
        (Fault.status(413, "Payload Too Large"), "context_limit"),
        (Fault.status(429, "Request too large for gpt-4 in tokens per min: Limit 3, Requested 4"), "context_limit"),
        (Fault.status(400, "string too long", code="string_above_max_length"), "context_limit"),
    ],
)
def test_error_words_in_the_conversation_are_not_errors(serve: Any, fault: Fault, reason: str) -> None:
    """An endpoint that refuses what a model wrote ends the episode with a verdict on what was edited."""
    server = serve([call("view", path="cart.py"), fault])
    env = FakeEnv(CART)
    outcome, _ = play_fake(env, make())
    assert outcome.stop_reason == reason
    assert outcome.score is not None and env.scored == 1
    assert any("conversation" in note for note in outcome.score.notes)
    assert server.asked <= 3, "asking again does not help"


def test_an_answer_that_is_withheld(serve: Any) -> None:
    withheld = {"choices": [{"index": 0, "finish_reason": "content_filter"}], "usage": {}}
    serve([Fault.garbled(json.dumps(withheld).encode()), call("submit")])
    outcome, steps = play_real(CART, make())
    assert outcome.stop_reason is StopReason.SUBMITTED
    assert "withheld" in steps[1].thought


LISTDIR = says("```action\nlistdir\n```")
HOSTILE = {
    "no JSON": ("view", "{oops"),
    "nested": ("view", '{"path": ' + "[" * 100_000 + "]" * 100_000 + "}"),
    "nested below the limit": ("view", '{"path": ' + "[" * 800 + "]" * 800 + "}"),
    "giant": ("rewrite", json.dumps({"path": "cart.py", "code": "x" * 2_000_000})),
    "giant number": ("view", '{"path": "cart.py", "start": ' + "9" * 5000 + "}"),
    "giant number as a text": ("view", json.dumps({"path": "cart.py", "start": "9" * 5000 + ".0"})),
    "giant number in a path": ("view", json.dumps({"path": "cart.py:" + "9" * 5000})),
    "giant number in a pattern": ("grep", json.dumps({"pattern": "a{" + "9" * 5000 + "}"})),
    "infinite": ("view", '{"path": "cart.py", "start": 1e999}'),
    "NUL": ("view", '{"path": "a\\u0000b"}'),
    "surrogate": ("view", '{"path": "a\\ud800b"}'),
    "raw surrogate": ("bash", '{"command": "echo \ud800"}'),
    "name with NUL": ("vi\0ew", "{}"),
    "name with surrogate": ("vi\ud800ew", "{}"),
    "giant name": ("v" * 2_000_000, "{}"),
    "long key": ("view", json.dumps({"k" * 500_000: 1})),
    "list": ("view", "[]"),
    "null": ("view", "null"),
}


@pytest.mark.parametrize("syntax", ["tools", "text"])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_whatever_a_model_writes_gets_a_verdict(serve: Any, api: str, syntax: str) -> None:
    hostile = [ScriptedReply(calls=(hostile_call,), content="\ud83d \0") for hostile_call in HOSTILE.values()]
    if syntax == "text":
        fenced = [f"```action\n{name} {arguments}\n```" for name, arguments in HOSTILE.values()]
        blocks = [f'```action\n{{"tool": "view", "arguments": {text}}}\n```' for _, text in HOSTILE.values()]
        hostile = [says(text) for text in [*fenced, *blocks, "```" + " " * 100_000 + "`", "<think>" * 50_000]]
    replies = [
        reply for hostile_call in hostile for reply in (hostile_call, call("listdir") if syntax == "tools" else LISTDIR)
    ]
    last = call("submit") if syntax == "tools" else says("```action\nsubmit\n```")
    server = serve([*replies, last])
    outcome, steps = play_real(CART, make(api=api, syntax=syntax), budget=Budget(steps=200, repeats=None))
    assert outcome.stop_reason is StopReason.SUBMITTED and outcome.score is not None
    assert server.asked == len(steps) - 1 == len(replies) + 1
