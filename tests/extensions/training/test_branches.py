"""Branches: they stand where their parent stood, live without it, and are refused where steps cannot be repeated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from stackrank.env.sandbox.pool import Pool
from stackrank.extensions.training.env import BranchError, TrainingEnv
from stackrank.extensions.training.rewards import TrainingError
from tests.extensions.training.test_training import FIX, training_env
from tests.fixtures.env import usable
from tests.support.waiting import wait_for

pytestmark = pytest.mark.slow  # by its time

PAUSED = ({"command": "b cart.py:4"}, {"command": "c"})


@pytest.fixture
def env() -> Iterator[TrainingEnv]:
    with training_env(Pool(usable("bubblewrap"), size=2), "eval,view,pdb,bash,terminal,rewrite") as parent:
        parent.reset()
        yield parent


def take(env: TrainingEnv, *calls: tuple[str, dict[str, Any]]) -> list[Any]:
    """What an agent and a trainer see of these steps."""
    transitions = [env.step(tool, **arguments) for tool, arguments in calls]
    return [(taken.observation.text, taken.observation.ok, taken.reward, taken.info) for taken in transitions]


def test_a_branch_of_a_paused_program_is_paused_there(env: TrainingEnv) -> None:
    take(env, *(("pdb", arguments) for arguments in PAUSED))
    env.refuse("That is no action.", output="hm")
    calls = [("pdb", {"command": "p result"}), ("pdb", {"command": "w"}), ("pdb", {"command": "n"})]
    with env.branch() as branch:
        assert branch.branched_from == 3 and env.branched_from is None
        assert take(branch, *calls) == take(env, *calls)
        take(branch, ("rewrite", FIX))
        with env.branch(at=0) as early:
            (seen,), (later,) = (take(one, ("view", {"path": "cart.py"})) for one in (early, env))
            assert seen[0] == later[0] and (seen[3]["step"], later[3]["step"]) == (1, 7)
        assert branch.score().resolved and not env.score().resolved


def test_a_branch_has_the_terminal_and_what_runs_behind_it(env: TrainingEnv) -> None:
    take(env, ("terminal", {"text": "cd tests; SAID=hello"}))
    calls = [("terminal", {"text": "pwd; echo $SAID"})]
    with env.branch() as branch:
        (seen,) = take(branch, *calls)
        assert [seen] == take(env, *calls) and "hello" in seen[0] and "/tests" in seen[0]


def test_eight_branches_are_equal_and_outlive_their_parent(env: TrainingEnv) -> None:
    take(env, *(("pdb", arguments) for arguments in PAUSED))
    branches = [env.branch() for _ in range(8)]
    env.close()
    seen = [take(branch, ("pdb", {"command": "p locals()"}), ("rewrite", FIX)) for branch in branches]
    assert all(one == seen[0] for one in seen)
    assert all(branch.score().resolved for branch in branches)
    pool = branches[0]._share.pool
    for branch in branches:
        assert not pool._closed
        branch.close()
        branch.close()
    assert pool._closed, "the last one closes it"


def test_a_sandbox_for_the_first_branch_is_started_ahead(env: TrainingEnv) -> None:
    pool = env._share.pool
    wait_for(lambda: pool.waiting() > 0, lambda: "no sandbox was started")
    with env.branch() as branch:
        env.close()
        assert not branch.step("view", path="cart.py").info["stop_reason"]
    assert pool._closed and pool.waiting() == 0


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("date +%N", "cannot be branched: step 1 cannot be repeated: its observation differs"),
        ("head -c 9000000 /dev/urandom > large", "step 1 cannot be repeated: it or a step before it writes large"),
        ("date +%N > seen.txt", "step 1 cannot be repeated: it changes files differently"),
    ],
)
def test_what_cannot_be_repeated_is_said(env: TrainingEnv, command: str, said: str) -> None:
    take(env, ("bash", {"command": command}))
    with pytest.raises(BranchError, match=said):
        env.branch()
    assert take(env, ("rewrite", FIX)) and env.score().resolved, "the parent goes on"


def test_where_there_is_nothing_to_branch(env: TrainingEnv) -> None:
    for at in (1, -1, True, "0"):
        with pytest.raises(TrainingError, match=r"at is .*: this episode can be branched at steps 0 to 0"):
            env.branch(at=at)  # type: ignore[arg-type]
    take(env, ("rewrite", FIX), ("eval", {}))
    with env.branch() as before_the_end:
        assert before_the_end.branched_from == 1 and before_the_end.outcome is None
    env.close()
    with pytest.raises(TrainingError, match="closed"):
        env.branch()
