"""One episode of a run, from the database and back into it. Knows nothing of Prefect."""

from __future__ import annotations

import threading
import weakref
from dataclasses import asdict
from typing import Any

from agents.episode import Outcome, Step, StopReason, play
from agents.replay import Replay
from db.models import Verdict
from db.store import Store
from env.debug_env import DebugEnv
from env.sandbox.base import SandboxSpec
from env.sandbox.client import Sandbox
from env.sandbox.pool import Pool
from env.task import Task
from flows.errors import policy, sentence
from flows.plan import Entrant, Plan
from flows.recorded import find_trajectory


class InfrastructureError(Exception):
    """The episode ended in `error` and may be tried again."""


class Stage:
    """What all episodes of a run in this process share."""

    def __init__(self, store: Store, plan: Plan, tasks: dict[int, Task], entrants: dict[int, Entrant]) -> None:
        """`tasks`, `entrants`: by the ids of their rows."""
        self.store = store
        self.plan = plan
        self.tasks = tasks
        self.entrants = entrants
        self.cancelled = threading.Event()
        self.tries: dict[int, int] = {}
        """The newest try of an episode that was tried again: id of the first -> id of the newest."""
        self._open: weakref.WeakSet[Sandbox] = weakref.WeakSet()
        # An episode takes two sandboxes, one to play in and one for the verdict.
        self._pool = Pool(plan.backend, size=plan.spec.workers)

    def new_sandbox(self, spec: SandboxSpec) -> Sandbox:
        """A sandbox of the run's backend; `cancel` ends those that are open. Raises SandboxError."""
        sandbox = self._pool.take(spec)
        self._open.add(sandbox)
        return sandbox

    def close(self) -> None:
        """End the sandboxes that were started ahead."""
        self._pool.close()

    def cancel(self) -> None:
        """End the run early: no episode starts any more, and the running ones lose their sandboxes."""
        self.cancelled.set()
        self._pool.close()
        for sandbox in list(self._open):
            sandbox.close()


def play_episode(stage: Stage, episode_id: int, task: Task, entrant: Entrant) -> dict[str, Any]:
    """Play one pending episode and write down what happened, step by step.

    Returns {"episode", "verdict", "stop_reason"}. Raises InfrastructureError after the error has been written down,
    so that the caller can try again; any other error that it raises is a fault of ours, and is written down too.
    """
    store = stage.store
    if stage.cancelled.is_set() or not store.start_episode(episode_id):
        return {"episode": episode_id, "verdict": "", "stop_reason": ""}
    try:
        agent = entrant.factory(
            model=entrant.spec.model, config=entrant.spec.config, task=task if entrant.factory.knows_fix else None
        )
        if isinstance(agent, Replay):
            agent.follow(find_trajectory(store.engine, agent.source, episode_id))
        with DebugEnv(task, entrant.tools, stage.new_sandbox) as env:
            outcome = play(
                env,
                agent,
                budget=stage.plan.budget,
                record=lambda step: record(store, episode_id, step),
                seed=stage.plan.spec.seed,
                cancelled=stage.cancelled.is_set,
            )
        finish(store, episode_id, outcome)
    except Exception as error:
        if stage.cancelled.is_set():
            _cancelled(store, episode_id)
            return {"episode": episode_id, "verdict": "", "stop_reason": str(StopReason.CANCELLED)}
        store.finish_episode(episode_id, verdict=Verdict.ERROR, stop_reason=StopReason.ERROR, error=sentence(error))
        if policy(error).retried:
            raise InfrastructureError(sentence(error)) from error
        raise
    verdict = "" if outcome.score is None else "resolved" if outcome.score.resolved else "unresolved"
    return {"episode": episode_id, "verdict": verdict, "stop_reason": str(outcome.stop_reason)}


def record(store: Store, episode_id: int, step: Step) -> None:
    """Append a step, committed when this returns."""
    action, seen, usage = step.action, step.observation, step.usage
    store.add_step(
        episode_id,
        index=step.index,
        tool=action.tool if action else "",
        arguments=action.arguments if action else {},
        thought=step.thought,
        observation=seen.text,
        ok=seen.ok,
        state=seen.state,
        env_ms=seen.env_ms,
        model_ms=usage.model_ms,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        tokens_cached=usage.tokens_cached,
        tokens_reasoning=usage.tokens_reasoning,
        cost_usd=usage.cost_usd,
        exchanges=[asdict(each) for each in step.exchanges],
        milestones=step.progress.milestones,
        distance=step.progress.distance,
        distance_lines=step.progress.distance_lines,
    )


def finish(store: Store, episode_id: int, outcome: Outcome) -> None:
    """Write the verdict and the totals in one transaction."""
    score = outcome.score
    if score is None:
        _cancelled(store, episode_id)
        return
    outcomes = list(score.tests.values())
    passed = sum(each in ("passed", "xfailed") for each in outcomes)
    store.finish_episode(
        episode_id,
        verdict=Verdict.RESOLVED if score.resolved else Verdict.UNRESOLVED,
        stop_reason=outcome.stop_reason,
        failure_point=outcome.diagnosis.failure_point,
        failure_step=outcome.diagnosis.step,
        tampered=score.tampered,
        steps=outcome.steps,
        tokens_in=outcome.usage.tokens_in,
        tokens_out=outcome.usage.tokens_out,
        tokens_cached=outcome.usage.tokens_cached,
        tokens_reasoning=outcome.usage.tokens_reasoning,
        cost_usd=outcome.usage.cost_usd,
        usage={model: asdict(usage) for model, usage in outcome.by_model.items()},
        env_ms=outcome.env_ms,
        model_ms=outcome.usage.model_ms,
        score_ms=outcome.score_ms,
        wall_s=outcome.wall_s,
        tests_passed=passed,
        tests_failed=len(outcomes) - passed - sum(each == "skipped" for each in outcomes),
        diff=score.diff,
        score={
            "tests": score.tests,
            "unfixed": list(score.unfixed),
            "regressions": list(score.regressions),
            "notes": list(score.notes),
            "output": score.output,
        },
        milestones=outcome.diagnosis.milestones,
    )


def _cancelled(store: Store, episode_id: int) -> None:
    # An error, because nothing was found out about the entrant.
    error = "the run was cancelled"
    store.finish_episode(episode_id, verdict=Verdict.ERROR, stop_reason=StopReason.CANCELLED, error=error)
