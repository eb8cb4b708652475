"""Slow, busy and failing endpoints: what they cost an episode, and limits on requests."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from stackrank.agents.episode.loop import Budget
from stackrank.agents.episode.protocol import EndpointError
from stackrank.agents.llm import LlmAgent
from stackrank.agents.llm.endpoints import limits
from stackrank.env.actions import Observation
from stackrank.terms import StopReason
from tests.agents.episode_setup import unpriced
from tests.fixtures.agents import FakeEnv, play_fake
from tests.fixtures.env import make_task
from tests.support.openai_server import Entry, Fault, ScriptedReply, call, says
from tests.support.waiting import run_out

pytestmark = pytest.mark.slow  # by its time

# ---- time


def test_a_slow_model_consumes_the_episodes_time(serve: Any) -> None:
    server = serve([call("eval").with_(delay_s=0.5)])
    outcome, steps = play_fake(FakeEnv(make_task({"a.py": ""})), unpriced(), budget=Budget(wall_s=0.4))
    assert outcome.stop_reason is StopReason.TIME_LIMIT and server.asked == 1
    assert len(steps) == 2, "what was answered is carried out"


def test_hanging_and_failing_endpoints_consume_none_of_the_episodes_time(serve: Any) -> None:
    limit = run_out(0.2)
    for fault in (call("eval").with_(delay_s=86_400.0), Fault.status(500)):
        serve([fault])
        with pytest.raises(EndpointError):
            play_fake(
                FakeEnv(make_task({"a.py": ""})),
                unpriced(request_timeout_s=2 * limit, retry_s=2 * limit),
                budget=Budget(wall_s=limit),
            )


def test_waiting_for_limits_consumes_none_of_the_episodes_time(serve: Any) -> None:
    limit = run_out(0.5)
    serve([Fault.status(503, retry_after=2 * limit), call("eval"), call("submit")])
    env = FakeEnv(make_task({"a.py": ""}))
    outcome, steps = play_fake(env, unpriced(), budget=Budget(steps=2, wall_s=limit))
    assert outcome.stop_reason is StopReason.STEP_LIMIT and len(steps) == 3
    assert steps[1].usage.waited_ms >= 2000 * limit and outcome.wall_s < limit


# ---- how much at a time


def many(count: int, **config: Any) -> None:
    def one(_: int) -> None:
        unpriced(**config).act(Observation(""))

    with ThreadPoolExecutor(count) as threads:
        list(threads.map(one, range(count)))


@pytest.fixture(autouse=True)
def _no_limits_of_others() -> None:
    limits._limits_by_url.clear()


def test_concurrent_requests_are_limited(serve: Any) -> None:
    server = serve([call("eval").with_(delay_s=0.15)])
    many(12, max_concurrency=3)
    assert server.asked == 12 and server.max_concurrent == 3


def test_a_slot_is_free_again_after_a_fault(serve: Any) -> None:
    server = serve([Fault.status(500), Fault.dropped(), call("eval")])
    unpriced(max_concurrency=1).act(Observation(""))
    assert server.asked == 3


def test_requests_per_minute_are_limited(serve: Any) -> None:
    server = serve([call("eval")])
    started_at = time.monotonic()
    many(16, requests_per_minute=600)  # 10 a second, of which the first ten at once
    assert server.times[-1] - started_at > 0.5


def test_tokens_per_minute_are_limited(serve: Any) -> None:
    """The next request waits for tokens that an answer used beyond the estimate."""
    serve([call("eval").with_(tokens_in=2_000, tokens_out=400)])
    agent = unpriced(tokens_per_minute=60_000)
    agent.act(Observation(""))
    assert agent.act(Observation("")).usage.waited_ms >= 1000


def test_processes_share_limits(serve: Any) -> None:
    serve([call("eval")])
    bought: list[tuple[str, float, int]] = []
    lock = threading.Lock()

    def store(name: str, per_minute: float, amount: int) -> None:
        with lock:
            bought.append((name, per_minute, amount))

    limits.share(store)
    try:
        many(9, requests_per_minute=240)
    finally:
        limits.share(None)
    assert len(bought) == 3 and {amount for _, _, amount in bought} == {4}
    assert all(name.endswith("requests") and per_minute == 240 for name, per_minute, _ in bought)


# ---- faults in numbers


def test_three_of_ten_requests_fail(serve: Any) -> None:
    """40 episodes, 30% of the requests fail: no error, and no step twice."""
    lock, request_count = threading.Lock(), [0]
    script = [call("view", path="a.py"), call("listdir"), call("grep", pattern="x"), call("eval"), call("submit")]

    def answer(request: dict[str, Any]) -> Entry:
        with lock:
            request_count[0] += 1
            number = request_count[0]
        if number % 10 in (2, 5, 9):
            return Fault.status(429, retry_after=0.05) if number % 2 else Fault.status(500)
        return script[sum(message["role"] == "assistant" for message in request["messages"])]

    server = serve(answer)

    def play(_: int) -> list[str]:
        def over(action: Any) -> Observation:
            return Observation(action.tool, state={"over": "submitted"} if action.tool == "submit" else {})

        agent = LlmAgent(model="scripted", config={})
        outcome, steps = play_fake(FakeEnv(make_task({"a.py": ""}), over), agent)
        assert outcome.stop_reason is StopReason.SUBMITTED
        assert [step.index for step in steps] == list(range(6))
        return [step.action.tool for step in steps if step.action]

    with ThreadPoolExecutor(16) as threads:
        played = list(threads.map(play, range(40)))
    assert played == [["view", "listdir", "grep", "eval", "submit"]] * 40
    assert server.asked >= 200 / 0.7


def test_garbage_for_fifty_turns(serve: Any) -> None:
    server = serve(
        [says("?" * 500), ScriptedReply(calls=(("", "{"),)), ScriptedReply(), says("x", finish_reason="length")] * 13
    )
    env = FakeEnv(make_task({"a.py": ""}))
    outcome, steps = play_fake(env, LlmAgent(model="scripted"), Budget(steps=100, malformed=50))
    assert outcome.stop_reason is StopReason.MALFORMED_ACTIONS
    assert server.asked == 50 == len(steps) - 1
