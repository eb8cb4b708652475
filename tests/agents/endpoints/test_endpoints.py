"""The choice of endpoint, API and key, and the check before a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from stackrank.agents.episode.protocol import EndpointError, MalformedAction, SetupError
from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.conversation import make_endpoint
from stackrank.agents.llm.endpoints.responses import Responses, is_reasoning
from stackrank.agents.llm.settings import Settings
from stackrank.env.actions import Action, Observation
from tests.agents.episode_setup import unpriced
from tests.fixtures.agents import CART, play_real
from tests.support.openai_server import Entry, Fault, OpenAIServer, ScriptedReply, call, calls, says

VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_API_KEY_FILE", "OPENAI_API_VERSION")
AZURE = ("AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """An environment that names no endpoint."""
    for name in (*VARIABLES, *AZURE):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


# ---- keys


def test_a_key_from_a_file(serve: Any, bare: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-from-a-file\n")
    server = serve([call("eval")], key="sk-from-a-file")
    bare.delenv("OPENAI_API_KEY")
    bare.setenv("OPENAI_API_KEY_FILE", str(file))
    assert unpriced().act(Observation("")).action.tool == "eval"
    bare.delenv("OPENAI_API_KEY_FILE")
    bare.setenv("OPENAI_API_KEY", "another")
    assert unpriced(api_key_file=str(file)).act(Observation("")).action.tool == "eval"
    assert server.asked == 2
    file.write_text("wrong")
    with pytest.raises(SetupError, match=f"check the file {file}"):
        unpriced(api_key_file=str(file)).act(Observation(""))
    file.write_text(" \n")
    with pytest.raises(SetupError, match="is empty"):
        unpriced(api_key_file=str(file))
    with pytest.raises(SetupError, match="cannot be read"):
        unpriced(api_key_file=str(tmp_path / "none"))


def test_a_server_that_repeats_the_key(serve: Any) -> None:
    serve([says("Your key is sk-test-planted-key-1234.")])
    with pytest.raises(MalformedAction) as caught:
        unpriced().act(Observation(""))
    assert "planted" not in f"{caught.value.output} {caught.value.exchanges}"


@pytest.mark.parametrize("key", ["abc123", "k-7", "sk-1234"])
def test_a_short_key_is_masked_too(serve: Any, bare: pytest.MonkeyPatch, key: str) -> None:
    server = serve([says(f"Your key is {key}, and x{key}x is a word.")], key=key)
    bare.setenv("OPENAI_API_KEY", key)
    with pytest.raises(MalformedAction) as caught:
        unpriced().act(Observation(""))
    assert "Your key is ***, " in caught.value.output and f"x{key}x" in caught.value.output
    bare.setenv("OPENAI_API_KEY", "wrong")
    with pytest.raises(SetupError) as refused:
        unpriced().act(Observation(""))
    assert server.asked == 2 and "wrong" not in str(refused.value)


@pytest.mark.parametrize(
    "config",
    [
        {"base_url": "https://ada:hunter2@models.example.org/v1"},
        {"base_url": "https://hunter2@models.example.org/v1"},
        {"base_url": "https://models.example.org/v1?api_key=hunter2"},
        {"extra_body": {"api_key": "hunter2"}},
        {"extra_body": {"litellm": [{"headers": {"Authorization": "hunter2"}}]}},
        {"extra_body": {"header": "Bearer hunter2"}},
    ],
)
def test_a_secret_among_the_settings_is_refused(config: dict[str, Any]) -> None:
    with pytest.raises(SetupError, match=r"environment") as caught:
        unpriced(**config)
    assert "hunter2" not in str(caught.value)


def test_a_secret_is_sent_and_not_stored(serve: Any, bare: pytest.MonkeyPatch) -> None:
    server = serve([says("hunter2-of-the-team is what you sent."), says("")])
    body = {"guard": {"api_key": "$TEAM_KEY"}, "max_tokens": 7, "eos_token": "</s>"}
    with pytest.raises(SetupError, match="TEAM_KEY"):
        unpriced(extra_body=body)
    bare.setenv("TEAM_KEY", "hunter2-of-the-team")
    with pytest.raises(MalformedAction) as caught:
        unpriced(extra_body=body).act(Observation(""))
    assert server.requests[0]["guard"] == {"api_key": "hunter2-of-the-team"}
    assert "hunter2" not in f"{caught.value.output} {caught.value.exchanges}"
    assert caught.value.exchanges[0].request["guard"] == {"api_key": "$TEAM_KEY"}


# ---- Azure


@pytest.fixture
def azure(bare: pytest.MonkeyPatch) -> Any:
    """Starts a scripted endpoint that AZURE_OPENAI_ENDPOINT points to."""
    servers: list[OpenAIServer] = []

    def start(script: list[Entry], **options: Any) -> OpenAIServer:
        server = OpenAIServer(script, **options).__enter__()
        servers.append(server)
        bare.setenv("AZURE_OPENAI_ENDPOINT", server.url.removesuffix("/v1"))
        bare.setenv("OPENAI_API_VERSION", "2024-10-21")
        return server

    yield start
    for server in servers:
        server.__exit__()


def test_azure_with_a_key(azure: Any, bare: pytest.MonkeyPatch) -> None:
    server = azure([call("eval")], key="azure-key-1")
    bare.setenv("AZURE_OPENAI_API_KEY", "azure-key-1")
    assert unpriced(max_tokens=9).act(Observation("")).action.tool == "eval"
    assert server.paths == ["/openai/deployments/scripted/chat/completions?api-version=2024-10-21"]
    assert server.headers[0]["api-key"] == "azure-key-1" and "authorization" not in server.headers[0]
    assert server.requests[0]["max_tokens"] == 9
    bare.setenv("AZURE_OPENAI_API_KEY", "wrong-azure-key")
    with pytest.raises(SetupError, match="AZURE_OPENAI_API_KEY") as caught:
        unpriced().act(Observation(""))
    assert "wrong-azure-key" not in str(caught.value)


def test_azure_with_an_entra_token(azure: Any, bare: pytest.MonkeyPatch) -> None:
    server = azure([call("eval")], key="entra-token-1")
    bare.setenv("AZURE_OPENAI_AD_TOKEN", "entra-token-1")
    assert unpriced(api="responses").act(Observation("")).action.tool == "eval"
    assert server.headers[0]["authorization"] == "Bearer entra-token-1"
    assert server.paths[0].startswith("/openai/responses?api-version=")
    bare.setenv("AZURE_OPENAI_AD_TOKEN", "old")
    with pytest.raises(SetupError, match="AZURE_OPENAI_AD_TOKEN"):
        unpriced().act(Observation(""))


def test_azure_with_a_login(azure: Any, bare: pytest.MonkeyPatch) -> None:
    identity = pytest.importorskip("azure.identity")
    server = azure([call("eval")], key="token-of-the-login")
    bare.setattr(identity, "get_bearer_token_provider", lambda *_: lambda: "token-of-the-login")
    assert unpriced().act(Observation("")).action.tool == "eval"
    assert server.asked == 1


def test_what_azure_is_missing(bare: pytest.MonkeyPatch) -> None:
    with pytest.raises(SetupError, match="AZURE_OPENAI_ENDPOINT"):
        unpriced(provider="azure")
    bare.setenv("AZURE_OPENAI_ENDPOINT", "http://127.0.0.1:9")
    bare.setenv("AZURE_OPENAI_API_KEY", "x")
    with pytest.raises(SetupError, match="OPENAI_API_VERSION"):
        unpriced()
    bare.setenv("OPENAI_API_VERSION", "2024-10-21")
    unpriced()
    # Whoever has both keys has to say so.
    bare.setenv("OPENAI_API_KEY", "y")
    assert Settings().is_openai and Settings(provider="azure").is_azure


# ---- the Responses API


def test_responses_keeps_reasoning_and_nothing_on_the_server(serve: Any) -> None:
    look = call("view", path="cart.py").with_(content="Let me look.")
    server = serve(
        [
            look.with_(tokens_reasoning=12, tokens_in=1001, tokens_out=40),
            calls(
                call("pdb", command="b cart.py:5\nc\np result"),
                call("rewrite", path="cart.py", new_code="    return result", start=5),
            ).with_(tokens_reasoning=30, tokens_cached=900, tokens_in=1503, tokens_out=77),
            call("submit"),
        ]
    )  # fmt: skip
    price = {"input": 2.0, "cached_input": 0.5, "output": 8.0}
    config = {"api": "responses", "reasoning_effort": "low", "max_tokens": 500, "price": price, "extra_body": {"x": 1}}
    outcome, steps = play_real(CART, LlmAgent(model="scripted", config=config), seed=3)
    assert outcome.score is not None and outcome.score.resolved
    assert steps[1].thought == "Let me look."
    assert outcome.usage.tokens_reasoning == 42
    assert outcome.usage.cost_usd == (1704 * 2 + 900 * 0.5 + 127 * 8) / 1e6
    assert all(path.endswith("/v1/responses") for path in server.paths)
    first, second, third = server.requests
    assert (first["store"], first["include"]) == (False, ["reasoning.encrypted_content"])
    assert (first["reasoning"], first["max_output_tokens"], first["x"]) == ({"effort": "low"}, 500, 1)
    assert "seed" not in first and first["tools"][0]["type"] == "function" and "name" in first["tools"][0]
    assert [item.get("type", item.get("role")) for item in third["input"]] == [
        *("system", "user"),
        *("reasoning", "message", "function_call", "function_call_output"),
        *("reasoning", "function_call", "function_call", "function_call_output", "function_call_output"),
    ]
    assert third["input"][2]["encrypted_content"] == "secret 1"
    assert third["input"][5]["call_id"] == third["input"][4]["call_id"] == "call_1_0"
    assert third["input"][: len(second["input"])] == second["input"]


def test_responses_that_are_no_answers(serve: Any) -> None:
    failed = b'{"object": "response", "status": "failed", "error": {"message": "overloaded"}, "output": []}'
    wrong = Fault.garbled(b'{"object": "response"}')
    server = serve(
        [Fault.garbled(failed), wrong, says("", finish_reason="length"), ScriptedReply(refusal="No."), call("eval")]
    )
    agent = unpriced(api="responses")
    for hint in ("cut off", "calls no tool"):
        with pytest.raises(MalformedAction, match=hint):
            agent.act(Observation("so"))
    assert agent.act(Observation("so")).action.tool == "eval"
    assert server.asked == 5


def test_arguments_that_are_no_json_do_not_stay_in_the_conversation(serve: Any) -> None:
    server = serve([ScriptedReply(calls=(("view", "{oops"),)), call("eval")])
    agent = unpriced(api="responses")
    with pytest.raises(MalformedAction, match="not valid JSON"):
        agent.act(Observation("so"))
    agent.act(Observation("so"))
    assert server.requests[1]["input"][2]["arguments"] == "{}"


@pytest.mark.parametrize(
    ("model", "reasons"),
    [
        *(("o3-pro", True), ("gpt-5.4-mini", True), ("openai/o4-mini", True), ("codex-mini-latest", True)),
        *(("gpt-4.1", False), ("gpt-4o", False), ("qwen3", False), ("proto3", False)),
    ],
)
def test_choice_of_the_api(bare: pytest.MonkeyPatch, model: str, reasons: bool) -> None:
    """Reasoning models at OpenAI's own address use Responses; other servers need not have it."""
    bare.setenv("OPENAI_API_KEY", "x")
    assert is_reasoning(model) is reasons
    assert isinstance(make_endpoint(model, Settings()), Responses) is reasons
    assert not isinstance(make_endpoint(model, Settings(api="chat")), Responses)
    assert not isinstance(make_endpoint(model, Settings(base_url="http://127.0.0.1:9/v1")), Responses)


def test_variants_of_answers_that_some_servers_send(serve: Any) -> None:
    """Arguments as an object, content as parts, no usage, no ids."""
    message = {
        "content": [{"type": "thinking", "thinking": [{"text": "hm"}]}, {"type": "text", "text": "So."}],
        "tool_calls": [{"function": {"name": "view", "arguments": {"path": "a.py"}}}],
    }
    body = json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).encode()
    serve([Fault.garbled(body)])
    decision = unpriced(price={"input": 1, "output": 1}).act(Observation(""))
    assert decision.action == Action("view", {"path": "a.py"}) and decision.thought == "So."
    assert decision.usage.estimated and decision.usage.tokens_in > 100 and decision.usage.tokens_out > 10


# ---- before a run


@pytest.mark.parametrize(
    ("models", "answer", "request_count"),
    [
        (("other", "scripted"), Fault.status(500), 0),  # the list settles it
        (("other",), says("yes"), 1),  # a name that the list does not have
        (404, says("yes"), 1),  # no list
        (501, says("yes"), 1),
        (403, says("yes"), 1),  # a key that may not see the list
        (404, Fault.status(400, "max_tokens is too small"), 1),
    ],
)
def test_check_accepts_working_endpoints(serve: Any, models: Any, answer: Entry, request_count: int) -> None:
    server = serve([answer], models=models)
    LlmAgent.configure(model="scripted", config={}).check()
    assert (server.listed, server.asked) == (1, request_count)
    if request_count:
        assert server.requests[0]["max_tokens"] == 16


@pytest.mark.parametrize(
    ("code", "hint"),
    [(401, "OPENAI_API_KEY"), (403, "OPENAI_API_KEY"), (404, "does not know this model: check its name")],
)
@pytest.mark.parametrize("models", [("other",), 404])
def test_check_rejects_wrong_keys_and_models(serve: Any, models: Any, code: int, hint: str) -> None:
    server = serve([Fault.status(code, "no")], models=models)
    with pytest.raises(SetupError, match=hint):
        LlmAgent.configure(model="scripted", config={}).check()
    assert server.asked == 1


def test_temporary_faults_do_not_fail_the_check(serve: Any) -> None:
    serve([Fault.status(500), Fault.status(429), says("yes")], models=503)
    LlmAgent.configure(model="scripted", config={"retry_s": 1.0}).check()
    serve([Fault.status(500)], models=503)
    LlmAgent.configure(model="scripted", config={"retry_s": 0.0}).check()


def test_an_unreachable_endpoint(bare: pytest.MonkeyPatch) -> None:
    setup = LlmAgent.configure(model="scripted", config={"base_url": "http://127.0.0.1:9/v1", "retry_s": 0.1})
    with pytest.raises(EndpointError, match=r"127\.0\.0\.1:9"):
        setup.check()
