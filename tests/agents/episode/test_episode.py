"""The episode loop: every way in which an episode ends, and what is recorded."""

from __future__ import annotations

import itertools
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from stackrank.agents.episode.loop import Budget, play
from stackrank.agents.episode.protocol import Decision, EndpointError, GaveUp, MalformedAction, SetupError
from stackrank.agents.episode.step import Step, Usage
from stackrank.env.actions import Action, Observation
from stackrank.env.benchmarks.files import read_tree
from stackrank.env.debug_env import DebugEnv
from stackrank.env.sandbox.base import SandboxError
from stackrank.errors import PluginError
from stackrank.terms import StopReason
from tests.fixtures.agents import RESOLVED, FakeEnv, Scripted, costing, play_fake
from tests.fixtures.env import cart
from tests.support.waiting import run_out

VIEW = Action("view", {"path": "cart.py"})


def views() -> Any:
    return (Action("view", {"path": "cart.py", "start": number}) for number in itertools.count(1))


# ---- limits, each exactly at the limit


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_step_limit(steps: int) -> None:
    env = FakeEnv(cart())
    outcome, recorded = play_fake(env, Scripted(views()), Budget(steps=steps))
    assert outcome.stop_reason is StopReason.STEP_LIMIT
    assert outcome.steps == steps == len(recorded) - 1
    assert env.scored == 1 and outcome.score is not None  # the verdict is taken on what was edited so far


@pytest.mark.parametrize(("limit", "played"), [(0, 0), (99, 1), (100, 1), (101, 2), (200, 2)])
def test_token_limit(limit: int, played: int) -> None:
    decisions = (costing(action, tokens_in=70, tokens_out=30, cost_usd=1.0) for action in views())
    outcome, _ = play_fake(FakeEnv(cart()), Scripted(decisions), Budget(tokens=limit))
    assert outcome.stop_reason is StopReason.TOKEN_LIMIT
    assert outcome.steps == played
    assert outcome.usage.tokens_in == 70 * played and outcome.usage.tokens_out == 30 * played


@pytest.mark.parametrize(("limit", "played"), [(0.25, 1), (0.26, 2), (0.5, 2)])
def test_cost_limit(limit: float, played: int) -> None:
    decisions = (costing(action, cost_usd=0.25) for action in views())
    outcome, _ = play_fake(FakeEnv(cart()), Scripted(decisions), Budget(cost_usd=limit))
    assert outcome.stop_reason is StopReason.COST_LIMIT
    assert outcome.steps == played and outcome.usage.cost_usd == 0.25 * played


def test_one_unknown_price_makes_the_cost_unknown() -> None:
    costs = [costing(VIEW, cost_usd=price) for price in (0.25, None, 0.25)]
    outcome, _ = play_fake(FakeEnv(cart()), Scripted([*costs, GaveUp()]), Budget(cost_usd=0.3))
    assert outcome.usage.cost_usd is None
    assert outcome.stop_reason is StopReason.AGENT_GAVE_UP  # and a limit on it cannot hold


def test_time_limit() -> None:
    def slow(action: Action) -> Observation:
        time.sleep(0.12)
        return Observation("done")

    outcome, _ = play_fake(FakeEnv(cart(), slow), Scripted(views()), Budget(wall_s=0.2))
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert outcome.steps in (1, 2) and outcome.wall_s > 0.2, "one, where the machine is busy"


def test_preparing_the_sandbox_consumes_none_of_the_episodes_time() -> None:
    env, limit_s = FakeEnv(cart()), run_out(0.3)
    ready = env.reset

    def prepare() -> tuple[Observation, dict[str, Any]]:
        time.sleep(limit_s)
        return ready()

    env.reset = prepare  # type: ignore[method-assign]
    outcome, _ = play_fake(env, Scripted(views()), Budget(steps=2, wall_s=limit_s))
    assert outcome.stop_reason is StopReason.STEP_LIMIT and outcome.wall_s < limit_s


def test_waiting_for_the_database_consumes_none_of_the_episodes_time() -> None:
    wait_s = run_out(0.3)
    agent, budget = Scripted(views()), Budget(steps=3, wall_s=wait_s)
    outcome = play(cast(DebugEnv, FakeEnv(cart())), agent, budget=budget, record=lambda step: time.sleep(wait_s))
    assert outcome.stop_reason is StopReason.STEP_LIMIT and outcome.steps == 3
    assert outcome.wall_s < wait_s


# ---- what agents do wrong


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyError("x"), RecursionError()])
def test_a_bug_of_another_package_is_called_its_own(error: Exception) -> None:
    class Broken(Scripted):
        def act(self, observation: Observation) -> Decision:
            raise error

    with pytest.raises(PluginError, match=r"tests\..*Broken has a bug \(" + type(error).__name__):
        play_fake(FakeEnv(cart()), Broken([]))


def test_a_bug_of_stackrank_is_not_blamed_on_the_package_that_called_it() -> None:
    class Calling(Scripted):
        def act(self, observation: Observation) -> Decision:
            read_tree(cast(Path, None))
            raise AssertionError

    with pytest.raises(TypeError):
        play_fake(FakeEnv(cart()), Calling([]))


def test_only_consecutive_malformed_actions_end_the_episode() -> None:
    bad = MalformedAction("That is no call.", output="blah", usage=Usage(tokens_in=5, cost_usd=0.5))
    agent = Scripted([bad, bad, VIEW, bad, bad, bad, VIEW])
    outcome, recorded = play_fake(FakeEnv(cart()), agent, Budget(malformed=3))
    assert outcome.stop_reason is StopReason.MALFORMED_ACTIONS
    assert outcome.diagnosis.failure_point == "malformed_actions" and outcome.diagnosis.step == 1
    assert outcome.steps == 6
    # Each is a step with its cost, what was said, and the correction as what the agent sees next.
    assert (recorded[1].thought, recorded[1].action) == ("blah", None)
    assert outcome.usage.tokens_in == 25 and outcome.usage.cost_usd == 2.5
    assert agent.seen[1] == Observation("That is no call.", False, {"kind": "malformed", "malformed": True})


@pytest.mark.parametrize("repeats", [2, 8])
def test_repeated_steps_end_the_episode(repeats: int) -> None:
    outcome, _ = play_fake(FakeEnv(cart()), Scripted(itertools.repeat(VIEW)), Budget(repeats=repeats))
    assert outcome.stop_reason is StopReason.AGENT_GAVE_UP
    assert outcome.steps == repeats + 1
    assert outcome.diagnosis.failure_point == "looped" or repeats < 3


def test_the_same_action_with_a_different_result_is_not_a_repeat() -> None:
    numbers = itertools.count()
    env = FakeEnv(cart(), lambda action: Observation(f"result {next(numbers)}"))
    outcome, _ = play_fake(env, Scripted(itertools.repeat(VIEW)), Budget(steps=20, repeats=2))
    assert outcome.stop_reason is StopReason.STEP_LIMIT
    outcome, _ = play_fake(FakeEnv(cart()), Scripted(itertools.repeat(VIEW)), Budget(steps=20, repeats=None))
    assert outcome.stop_reason is StopReason.STEP_LIMIT


def test_gave_up() -> None:
    env = FakeEnv(cart(), score=RESOLVED)
    outcome, _ = play_fake(env, Scripted([VIEW, GaveUp("no idea")]))
    assert outcome.stop_reason is StopReason.AGENT_GAVE_UP
    assert outcome.score == replace(RESOLVED, notes=("the agent stopped: no idea",))
    assert outcome.diagnosis.failure_point is None


# ---- other ends


def test_cancelled_is_not_scored() -> None:
    env = FakeEnv(cart())
    checks = itertools.count()
    outcome, recorded = play_fake(env, Scripted(views()), cancelled=lambda: next(checks) >= 2)
    assert outcome.stop_reason is StopReason.CANCELLED
    assert outcome.score is None and env.scored == 0
    assert len(recorded) == 3


@pytest.mark.parametrize("ending", ["submitted", "solved"])
def test_the_environment_ends_the_episode(ending: str) -> None:
    env = FakeEnv(cart(), lambda action: Observation("end", state={"over": ending} if action.tool == "eval" else {}))
    outcome, recorded = play_fake(env, Scripted([VIEW, Action("eval"), VIEW]))
    assert outcome.stop_reason is StopReason(ending)
    assert [step.index for step in recorded] == [0, 1, 2]


@pytest.mark.parametrize(
    "error", [EndpointError("down"), SetupError("no key"), SandboxError("gone"), KeyboardInterrupt()]
)
def test_infrastructure_errors_propagate(error: BaseException) -> None:
    env = FakeEnv(cart())
    recorded: list[Step] = []
    with pytest.raises(type(error)):
        from stackrank.agents.episode.loop import play

        play(env, Scripted([VIEW, error]), budget=Budget(), record=recorded.append)  # type: ignore[arg-type]
    assert [step.index for step in recorded] == [0, 1]  # what happened is on record
    assert env.scored == 0


def test_each_step_is_recorded_before_the_next_decision() -> None:
    recorded: list[Step] = []
    counts: list[int] = []

    class Watching(Scripted):
        def act(self, observation: Observation) -> Any:
            counts.append(len(recorded))
            return super().act(observation)

    from stackrank.agents.episode.loop import play

    play(FakeEnv(cart()), Watching([VIEW, VIEW, GaveUp()]), budget=Budget(), record=recorded.append)  # type: ignore[arg-type]
    assert counts == [1, 2, 3]


def test_a_recorder_that_fails_ends_the_episode() -> None:
    def refuse(step: Step) -> None:
        if step.index == 1:
            raise OSError("the disk is full")

    from stackrank.agents.episode.loop import play

    with pytest.raises(OSError, match="full"):
        play(FakeEnv(cart()), Scripted(views()), budget=Budget(), record=refuse)  # type: ignore[arg-type]
