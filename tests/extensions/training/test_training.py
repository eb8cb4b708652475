"""The environment in a trainer's hands: an episode step by step, several at once, and what is left behind."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest

import stackrank
from stackrank.agents.episode.referee import Budget
from stackrank.env.actions import Action
from stackrank.env.benchmarks.base import Source
from stackrank.env.difficulty import find_difficulty
from stackrank.env.sandbox.base import SandboxError
from stackrank.env.sandbox.pool import Pool
from stackrank.env.task import Task
from stackrank.env.tools import tool_set
from stackrank.errors import InfrastructureError, UsageError
from stackrank.extensions.training.env import TrainingEnv, read_action
from stackrank.extensions.training.env_maker import find_task
from stackrank.extensions.training.rewards import Term, TrainingError
from stackrank.extensions.training.rules import EpisodeRules
from stackrank.extensions.training.vec import VecEnv
from stackrank.terms import Milestone
from tests.fixtures.agents import CART, Scripted, play_real
from tests.fixtures.env import usable
from tests.support.waiting import run_out, runs, wait_for

FIX = {"path": "cart.py", "start": 5, "end": 5, "new_code": "    return result"}
EVERYTHING = dict.fromkeys(Term, 1.0)


def training_env(
    pool: Pool,
    tools: str = "debug",
    *,
    owns_pool: bool = True,
    task: Task = CART,
    shows_failing_test: bool = True,
    **budget: Any,
) -> TrainingEnv:
    return TrainingEnv(
        task,
        tool_set(tools),
        pool,
        lambda name: task,
        EpisodeRules(Budget(**budget), EVERYTHING, shows_failing_test=shows_failing_test),
        owns_pool=owns_pool,
    )


@pytest.fixture
def pool() -> Iterator[Pool]:
    with Pool(usable("bubblewrap"), size=1) as warm_pool:
        yield warm_pool


def alive() -> set[object]:
    """The processes that this one started, and the threads of its environments."""
    ours = ("stackrank-", "sandbox-pool")
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(ours)]
    return {*filter(runs, psutil.Process().children(recursive=True)), *threads}


def _sleeps(command: list[str]) -> bool:
    """Whether a process with this command line is there, in whichever sandbox."""
    return any(transition.info["cmdline"] == command for transition in psutil.process_iter(["cmdline"]))


# ---- the front door


def test_importing_brings_in_nothing_that_is_slow() -> None:
    code = (
        "import sys, stackrank\n"
        "assert not [name for name in sys.modules if name.startswith('stackrank.')]\n"
        "assert {'make', 'make_vec'} <= set(dir(stackrank)) and callable(stackrank.make)\n"
        "slow = ('prefect', 'sqlalchemy', 'sqlmodel', 'openai', 'streamlit', 'pandas', 'gymnasium')\n"
        "assert not set(slow) & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="no attribute 'made'"):
        stackrank.made  # noqa: B018


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"task": "bugz/a"}, "there is no benchmark 'bugz': choose one of"),
        ({"task": "bugs/0000"}, "there is no task 0000 (`stackrank tasks` lists"),
        ({"task": "bugs/vat-tabel"}, "there is no task vat-tabel; did you mean vat-table, "),
        ({"task": "bugs"}, "'bugs' names no task: write bugs/TASK, as in 'bugs/access-groups'"),
        ({"task": 3}, "3 is not a task: give its name"),
        ({"tools": "hammer"}, "there is no tool set or tool 'hammer': choose"),
        ({"tools": None}, "tools is None: name a tool set"),
        ({"tools": "debug+server"}, "leave out what follows the"),
        ({"rewards": "praise"}, "there is no reward 'praise': choose verdict, milestones"),
        ({"rewards": {"tests": float("nan")}}, "the weight of the reward tests is nan"),
        ({"steps": 0}, "steps is 0: give it a whole number"),
        ({"wall_s": -1}, "wall_s is -1: give it a number of seconds"),
        ({"sandbox": "jar"}, "there is no sandbox 'jar': choose"),
    ],
)
def test_what_cannot_be_made_is_one_sentence(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises((UsageError, InfrastructureError)) as error:
        stackrank.make(**{"task": "bugs/shop-filters", "sandbox": "local", **keywords})
    assert message in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("tasks", "count", "message"),
    [
        ([], None, "tasks is empty"),
        (["bugs/shop-filters"], 2, "count is 2 for 1 task"),
        ("bugs", 1000, "count is 1000: bugs has 150 tasks"),
        ("bugs/shop-filters", 0, "count is 0: give it a whole number"),
        ("bugs/shop-filters", 2000, "1024 environments at most"),
    ],
)
def test_vectors_that_cannot_be_made(tasks: Any, count: int | None, message: str) -> None:
    with pytest.raises(TrainingError, match=message):
        stackrank.make_vec(tasks, count, sandbox="local")


def test_vectors_by_name() -> None:
    assert stackrank.task_names("bugs")[0] == "bugs/access-groups"
    for tasks, count, expected in (
        ("bugs/shop-filters", 2, ["bugs/shop-filters"] * 2),
        (["bugs/shop-filters", "bugs/vat-table"], None, ["bugs/shop-filters", "bugs/vat-table"]),
        ("bugs", 2, ["bugs/access-groups", stackrank.task_names("bugs")[75]]),
    ):
        with stackrank.make_vec(tasks, count, sandbox="local") as envs:
            assert [env.name for env in envs] == expected and len(envs) == len(expected)
    with pytest.raises(TrainingError, match="closed: create new ones"):
        envs.reset()


@pytest.mark.parametrize(
    ("raw_action", "arguments", "action"),
    [
        ("view", {"path": "a.py"}, Action("view", {"path": "a.py"})),
        ({"tool": "eval"}, {}, Action("eval")),
        ({"tool": "view", "arguments": {"path": "a.py"}}, {}, Action("view", {"path": "a.py"})),
        (Action("eval"), {}, Action("eval")),
    ],
)
def test_how_an_action_may_be_given(raw_action: object, arguments: dict[str, Any], action: Action) -> None:
    assert read_action(raw_action, arguments) == action


@pytest.mark.parametrize(
    "raw_action", [None, 3, ["view"], {}, {"tool": 1}, {"tool": "a", "b": 1}, {"tool": "a", "arguments": "b"}]
)
def test_what_is_no_action(raw_action: object) -> None:
    with pytest.raises(TrainingError, match="is not an action: give a tool's name"):
        read_action(raw_action, {})


def test_steps_at_the_wrong_time() -> None:
    env = stackrank.make("bugs/shop-filters", sandbox="local")
    for call in (lambda: env.step("eval"), lambda: env.refuse("no"), env.score):
        with pytest.raises(TrainingError, match="no episode is in progress: call reset first"):
            call()
    env.close()
    env.close()
    for call in (lambda: env.step("eval"), env.reset, env.score, lambda: asyncio.run(env.astep("eval"))):
        with pytest.raises(TrainingError, match="the environment is closed: create a new one"):
            call()


# ---- episodes


def test_an_episode_is_the_one_that_an_agent_plays(pool: Pool) -> None:
    actions = [Action("view", {"path": "cart.py"}), Action("nope"), Action("rewrite", FIX), Action("eval")]
    outcome, played = play_real(CART, Scripted(actions))
    with training_env(pool) as env:
        first, info = env.reset()
        assert first.text.startswith(played[0].observation.text + "\n\nFiles in the workspace:\ncart.py\n")
        assert "\n\nContents of test" in first.text and info["step"] == 0
        transitions = [env.step(action) for action in actions]
        with pytest.raises(TrainingError, match="the episode is over \\(solved\\): call reset"):
            env.step("eval")
        assert [transition.observation.text for transition in transitions] == [
            step.observation.text for step in played[1:]
        ]
        assert [transition.observation.ok for transition in transitions] == [True, False, True, True]
        assert [(transition.terminated, transition.truncated) for transition in transitions] == [(False, False)] * 3 + [
            (True, False)
        ]
        assert env.outcome is not None and env.score().resolved and outcome.score is not None
        assert (env.outcome.stop_reason, env.outcome.diagnosis) == (outcome.stop_reason, outcome.diagnosis)
        last = transitions[-1].info
        assert (last["stop_reason"], last["verdict"], last["step"]) == ("solved", "resolved", 4)
        earned = {term: sum(transition.info["rewards"][term] for transition in transitions) for term in Term}
        assert earned["verdict"] == transitions[-1].info["rewards"]["verdict"] == earned["tests"] == 1.0
        assert earned["milestones"] == len(outcome.diagnosis.milestones) / len(Milestone)
        assert 0 <= earned["distance"] <= 1
        assert sum(transition.reward for transition in transitions) == pytest.approx(sum(earned.values()))

        second_observation, _ = env.reset()
        assert second_observation.text == first.text and env.outcome is None
        assert not env.score().resolved
        assert env.outcome is not None and env.outcome.stop_reason == "agent_gave_up"


def test_an_episode_on_the_statement_alone(pool: Pool) -> None:
    with training_env(pool, shows_failing_test=False) as env:
        first, _ = env.reset()
        assert "There is no failing test that shows it" in first.text
        assert "def test_" not in first.text and "Files in the workspace:\ncart.py\n" in first.text + "\n"
        env.step("rewrite", **FIX)
        transition = env.step("submit")
        assert (transition.info["stop_reason"], transition.info["verdict"]) == ("submitted", "resolved")


def test_the_time_limit_does_not_count_waiting_for_an_action(pool: Pool) -> None:
    limit_s = run_out(1.0)
    with training_env(pool, "bash", wall_s=limit_s) as env:
        env.reset()
        for command in ("true", ":"):
            time.sleep(0.75 * limit_s)
            assert not env.step("bash", command=command).truncated
        transition = env.step("bash", command=f"sleep {limit_s}")
        assert transition.truncated and transition.info["stop_reason"] == "time_limit"


def test_a_curriculum_goes_from_easy_to_hard() -> None:
    names = stackrank.curriculum("bugs")
    assert sorted(names) == sorted(stackrank.task_names("bugs"))
    tasks = [find_task(name, Source()) for name in names]
    difficulties = [find_difficulty(task) for task in tasks]
    predicted = [difficulty.predicted for difficulty in difficulties if difficulty and difficulty.predicted is not None]
    assert len(predicted) > 100 and predicted == sorted(predicted)


def test_limits_and_malformed_actions_end_an_episode_as_in_a_run(pool: Pool) -> None:
    with training_env(pool, steps=2, malformed=2) as env:
        env.reset()
        assert not env.step("view", path="cart.py").truncated
        transition = env.step("listdir")
        assert (transition.terminated, transition.truncated, transition.info["stop_reason"]) == (
            False,
            True,
            "step_limit",
        )
        assert (transition.info["verdict"], transition.info["rewards"]["verdict"]) == ("unresolved", 0.0)
        env.reset()
        assert not env.refuse("That is no call.", output="hm").terminated
        transition = env.refuse("That is no call.")
        assert transition.terminated and transition.info["stop_reason"] == "malformed_actions"
        assert transition.observation.text == "That is no call." and not transition.observation.ok


def test_a_machine_that_fails_costs_the_episode(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise SandboxError("the engine is gone")

    with training_env(pool) as env:
        env.reset()
        with monkeypatch.context() as patch:
            patch.setattr("stackrank.env.debug_env.DebugEnv.step", fail)
            with pytest.raises(SandboxError, match="the engine is gone"):
                env.step("eval")
        with pytest.raises(TrainingError, match="call reset first"):
            env.step("eval")
        env.reset()
        assert env.step("view", path="cart.py").observation.ok


# ---- several at once


def test_a_vector_goes_on_where_one_of_it_fails_and_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    kind = usable("bubblewrap")
    alive_before = alive()
    shared = Pool(kind, size=1)
    with VecEnv([training_env(shared, "rewrite", owns_pool=False) for _ in range(3)], shared) as envs:
        assert [info["step"] for _, info in envs.reset()] == [0, 0, 0]
        with pytest.raises(TrainingError, match="actions are 2: give one for each of the 3 environments"):
            envs.step(["eval", "eval"])

        for actions in (["listdir", {"tool": 3}, "listdir"], ["listdir", None, 3]):
            with pytest.raises(TrainingError, match="is not an action"):
                envs.step(actions)
        assert [len(env._require_episode().steps) for env in envs] == [1, 1, 1]  # nobody has stepped

        def fail(action: object) -> None:
            raise SandboxError("the engine\n is gone")

        monkeypatch.setattr(envs.envs[1], "step", fail)
        view = {"tool": "view", "arguments": {"path": "cart.py"}}
        first, broken, skipped = envs.step([view, view, None])
        assert first is not None and first.observation.ok and skipped is None
        assert broken is not None and broken.truncated and not broken.terminated and broken.reward == 0
        assert (broken.info["stop_reason"], broken.info["error"]) == ("error", "the engine is gone")
        monkeypatch.undo()
        transitions = asyncio.run(envs.astep([{"tool": "rewrite", "arguments": FIX}, "eval", "submit"]))
        assert [transition.terminated for transition in transitions if transition] == [False, False, True]
        assert [score.resolved for score in envs.score()] == [True, False, False]
    wait_for(lambda: not alive() - alive_before, lambda: alive() - alive_before)


def test_an_exception_leaves_nothing_behind() -> None:
    kind = usable("bubblewrap")
    alive_before = alive()
    shared = Pool(kind, size=1)
    with (
        pytest.raises(ZeroDivisionError),
        VecEnv([training_env(shared, owns_pool=False) for _ in range(3)], shared) as envs,
    ):
        envs.reset()
        raise ZeroDivisionError
    wait_for(lambda: not alive() - alive_before, lambda: alive() - alive_before)


def test_closing_ends_a_step_that_somebody_waits_for() -> None:
    kind = usable("bubblewrap")
    alive_before = alive()

    async def vanish() -> None:
        async with training_env(Pool(kind, size=1), "bash") as env, training_env(Pool(kind, size=1)) as second_env:
            await asyncio.gather(env.areset(), second_env.areset())
            command = f"sleep 3000.{os.getpid()}"
            slow = asyncio.create_task(env.astep("bash", command=command))
            await asyncio.to_thread(wait_for, lambda: _sleeps(command.split()), "a step at work", every_s=0.2)
            await env.aclose()
            with pytest.raises(TrainingError, match="is closed"):
                await slow
            assert (await second_env.astep("view", path="cart.py")).observation.ok

    asyncio.run(vanish())
    wait_for(lambda: not alive() - alive_before, lambda: alive() - alive_before)


@pytest.mark.slow
@pytest.mark.exhaustive
def test_sixty_four_environments_go_each_at_its_own_pace() -> None:
    """One is stuck in a step and some are reset again, while the others take different numbers of steps."""
    usable("bubblewrap")

    async def play(env: TrainingEnv, number: int) -> list[int]:
        played = []
        for _ in range(1 + (number % 8 == 0)):
            await env.areset()
            for line in range(1, 2 + number % 4):
                transition = await env.astep("view", path="vat/rates.py", start=line)
            played.append(transition.info["step"])
        return played

    async def play_all(envs: VecEnv) -> None:
        stuck, *others = envs
        await stuck.areset()
        slow = asyncio.create_task(stuck.astep("bash", command="sleep 3000"))
        played = await asyncio.gather(*(play(env, number) for number, env in enumerate(others)))
        assert played == [[1 + number % 4] * (1 + (number % 8 == 0)) for number in range(63)]
        assert not slow.done()
        await stuck.aclose()
        with pytest.raises(TrainingError, match="is closed"):
            await slow

    with stackrank.make_vec("bugs/vat-table", 64, tools="view,bash", sandbox="bubblewrap") as envs:
        asyncio.run(play_all(envs))
