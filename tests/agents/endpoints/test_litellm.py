"""LiteLLM's proxy between stackrank and a provider: what it changes on the way, and what it answers by itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from stackrank.agents.episode.loop import Budget
from stackrank.agents.episode.protocol import AccessError, EndpointError
from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.scripted.script import _turns
from stackrank.terms import StopReason
from tests.agents.llm.test_verbatim import KEYS, SCRIPT, play_steps
from tests.fixtures.agents import CART, FakeEnv, play_fake, play_real
from tests.fixtures.env import make_task
from tests.support.model_servers import served, server_python
from tests.support.openai_server import Entry, OpenAIServer, call, says

pytestmark = [pytest.mark.exhaustive, pytest.mark.slow]

KEY, UPSTREAM_KEY = "sk-proxy-key-1234", "sk-provider-key-9876"
SOLUTION = [
    call("view", path="cart.py").with_(content="Let me look.", reasoning="It is off by something."),
    call("rewrite", path="cart.py", new_code="    return result", start=5).with_(reasoning="The sum, not the last."),
    call("eval").with_(reasoning="Is it?"),
    call("submit"),
]
ACTION = "Look at it.\n\n```action\nview cart.py\n```"
MOCKED = {
    "says": ACTION,
    "limited": "litellm.RateLimitError",
    "long": "litellm.ContextWindowExceededError",
    "broken": "litellm.InternalServerError",
    "filtered": "Exception: content_filter_policy",
}


class Provider:
    """The provider behind the proxy: it answers the n-th request of each conversation with the n-th reply."""

    def __init__(self) -> None:
        self.script: list[Any] = []

    def __call__(self, request: dict[str, Any]) -> Entry:
        return self.script[min(_turns(request), len(self.script) - 1)]


@pytest.fixture(scope="module")
def provider() -> Iterator[tuple[Provider, OpenAIServer]]:
    answers = Provider()
    with OpenAIServer(answers, key=UPSTREAM_KEY, verbatim=True) as server:
        yield answers, server


@pytest.fixture(scope="module")
def proxy(provider: tuple[Provider, OpenAIServer], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("litellm")
    url = provider[1].url
    root = url.removesuffix("/v1")

    def routed(model: str, base: str, key: str = UPSTREAM_KEY) -> dict[str, Any]:
        return {
            "model_name": model.partition("/")[0],
            "litellm_params": {"model": model, "api_base": base, "api_key": key},
        }

    mocked = [
        {
            "model_name": name,
            "litellm_params": {"model": f"openai/{name}", "api_key": "none", "mock_response": response},
        }
        for name, response in MOCKED.items()
    ]
    routes = [routed("openai/o", url), routed("deepseek/d", url), routed("anthropic/claude-x", root)]
    wrong = {**routed("openai/o", url, "sk-wrong"), "model_name": "unpaid"}
    config = {
        "model_list": [*mocked, *routes, wrong],
        "litellm_settings": {"num_retries": 0, "telemetry": False},
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        "general_settings": {"master_key": KEY},
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    command = [server_python("litellm").with_name("litellm"), "--config", "config.yaml", "--host", "127.0.0.1"]
    # Its list of prices is the one that it brings, not the one on the web.
    with served(
        "litellm", [*command, "--port", "{port}"], folder, "/health/liveliness", LITELLM_LOCAL_MODEL_COST_MAP="True"
    ) as root:
        yield root


@pytest.fixture(autouse=True)
def _through(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_BASE_URL", f"{proxy}/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", proxy)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)


def agent(model: str, **config: Any) -> LlmAgent:
    return LlmAgent(model=model, config={"retry_s": 30.0, **config})


@pytest.mark.parametrize(
    ("model", "api", "stream"),
    [
        *(("anthropic", api, stream) for api in ("chat", "responses", "messages") for stream in (False, True)),
        *(("openai", "responses", stream) for stream in (False, True)),
        *(("openai", "chat", False), ("deepseek", "chat", False)),
    ],
)
def test_everything_reaches_the_provider_again(
    provider: tuple[Provider, OpenAIServer], model: str, api: str, stream: bool
) -> None:
    """The provider refuses a conversation in which anything is missing; the proxy translates where the APIs differ."""
    answers, server = provider
    answers.script = SCRIPT
    earlier_requests = server.asked
    decided = play_steps(agent(model, api=api, stream=stream), 12)
    assert server.asked - earlier_requests == 11, "nothing had to be asked twice"
    assert decided[0].exchanges[0].reasoning == "First, what is there? é 😀"
    assert decided[0].usage.tokens_in == 100 and not decided[0].usage.estimated


@pytest.mark.parametrize(
    ("model", "config"),
    [
        ("openai", {"api": "chat"}),
        ("openai", {"api": "responses", "stream": True}),
        ("anthropic", {"api": "messages", "reasoning_effort": "low"}),
    ],
)
def test_an_episode_is_solved(provider: tuple[Provider, OpenAIServer], model: str, config: dict[str, Any]) -> None:
    provider[0].script = SOLUTION
    LlmAgent.configure(model=model, config=config).check()
    outcome, steps = play_real(CART, agent(model, **config))
    assert outcome.stop_reason is StopReason.SOLVED, outcome
    assert outcome.score is not None and outcome.score.resolved
    assert [step.action.tool for step in steps if step.action] == ["view", "rewrite", "eval"]


@pytest.mark.parametrize("config", [{}, {"stream": True}, {"api": "responses"}, {"api": "messages"}])
def test_an_episode_of_its_own_answers_as_text(config: dict[str, Any]) -> None:
    """The provider always gives the same answer, so the steps run out."""
    outcome, steps = play_real(CART, agent("says", syntax="text", **config), budget=Budget(steps=3))
    assert outcome.stop_reason is StopReason.STEP_LIMIT and outcome.score is not None, outcome
    assert [step.action.tool for step in steps if step.action] == ["view"] * 3
    assert steps[1].thought == ACTION and outcome.usage.tokens_in > 0


def test_text_without_tool_calls_ends_as_malformed() -> None:
    outcome, _ = play_fake(FakeEnv(make_task({"a.py": ""})), agent("says"), budget=Budget(malformed=3))
    assert outcome.stop_reason is StopReason.MALFORMED_ACTIONS and outcome.score is not None


# ---- what is wrong, and what is said about it


@pytest.mark.parametrize(
    ("api", "model", "stop_reason", "message"),
    [
        *((api, "limited", StopReason.ERROR, "failed .*429.*rate limit") for api in ("chat", "messages")),
        *((api, "broken", StopReason.ERROR, "failed .*500") for api in ("chat", "messages")),
        *((api, "long", StopReason.CONTEXT_LIMIT, "") for api in ("chat", "messages")),
        ("chat", "filtered", StopReason.REFUSED, ""),
    ],
)
def test_errors(api: str, model: str, stop_reason: StopReason, message: str) -> None:
    player = agent(model, api=api, retry_s=0.5)
    if stop_reason is StopReason.ERROR:
        with pytest.raises(EndpointError, match=message):
            play_steps(player, 1)
        return
    outcome, _ = play_fake(FakeEnv(make_task({"a.py": ""})), player)
    assert outcome.stop_reason is stop_reason, outcome


@pytest.mark.parametrize("api", ["chat", "responses", "messages"])
def test_check_rejects_a_wrong_key_and_an_unknown_model(
    api: str, monkeypatch: pytest.MonkeyPatch, provider: tuple[Provider, OpenAIServer]
) -> None:
    """The proxy answers 400 to a key and to a model that it does not know; a run ends before its first sandbox."""
    provider[0].script = [says("yes")]
    with pytest.raises(AccessError, match="does not know this model: check its name"):
        LlmAgent.configure(model="nobody", config={"api": api}).check()
    with pytest.raises(AccessError, match="rejected the key"):  # the proxy's own, which the provider refuses
        play_steps(agent("unpaid", api=api), 1)
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "sk-not-of-this-proxy")
    with pytest.raises(AccessError, match=r"rejected the key: check the environment variable \w+_API_KEY") as caught:
        LlmAgent.configure(model="says", config={"api": api}).check()
    assert "not-of-this-proxy" not in json.dumps(str(caught.value))
