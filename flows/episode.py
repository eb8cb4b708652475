"""One episode of a run, from the database and back into it. Knows nothing of Prefect."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any

from agents.episode import Outcome, Step, StopReason, play
from agents.replay import Replay
from db.errors import ClaimLost
from db.models import Verdict
from db.storable import storable_json
from db.store import Store
from env.debug_env import DebugEnv
from flows.errors import EpisodeFailed, policy, sentence
from flows.recorded import find_trajectory, trajectory
from flows.stage import Stage

GRACE_S = 3.0
"""How long an episode that has to end may take to notice. One that waits for its model is left behind."""


def play_episode(stage: Stage, claim: dict[str, Any], *, here: bool = False) -> dict[str, Any]:
    """Play an episode that this process has claimed, or go on with it, and write down what happens, step by step.

    `claim`: the row as `Store.claim_next` gives it. `here`: in the calling thread, for agents that own the terminal;
    else in one that is left behind where the agent does not notice that the run is over. Returns {"episode",
    "verdict", "stop_reason"}; no verdict: the run was cancelled, or somebody else has taken the episode over. Raises
    EpisodeFailed after the error has been written down.
    """
    episode_id = claim["id"]
    nothing = {"episode": episode_id, "verdict": "", "stop_reason": ""}
    outcome: Future[Outcome] = Future()
    try:
        with stage.playing(episode_id) as ended:
            outcome.add_done_callback(lambda _: ended.set())
            if here:
                _play(stage, claim, outcome)
            else:
                work = (stage, claim, outcome)
                threading.Thread(target=_play, args=work, name=f"episode-{episode_id}", daemon=True).start()
            ended.wait()
            played = outcome.result(timeout=GRACE_S)
    except ClaimLost:
        return nothing
    except (Exception, SystemExit) as error:
        if stage.over.is_set():
            return {**nothing, "stop_reason": break_off(stage, episode_id)}
        how = policy(error)
        text = sentence(error)
        if not stage.store.fail_episode(episode_id, stop_reason=StopReason.ERROR, error=text, by=stage.token):
            return nothing
        raise EpisodeFailed(text, how.retried, how.afresh, how.ends_run) from error
    if played.score is None:
        return {**nothing, "stop_reason": break_off(stage, episode_id)}
    verdict = "resolved" if played.score.resolved else "unresolved"
    return {"episode": episode_id, "verdict": verdict, "stop_reason": str(played.stop_reason)}


def _play(stage: Stage, claim: dict[str, Any], result: Future[Outcome]) -> None:
    try:
        result.set_result(_play_to_end(stage, claim))
    except BaseException as error:
        result.set_exception(error)


def _play_to_end(stage: Stage, claim: dict[str, Any]) -> Outcome:
    store, episode_id = stage.store, claim["id"]
    task, entrant = stage.tasks[claim["task_id"]], stage.entrants[claim["entrant_id"]]
    agent = entrant.factory(
        model=entrant.spec.model, config=entrant.spec.config, task=task if entrant.factory.knows_fix else None
    )
    if isinstance(agent, Replay):
        agent.follow(find_trajectory(store.engine, agent.source, episode_id))
    # The last step is committed before the verdict is taken, hence no rewards on the way.
    with DebugEnv(task, entrant.tools, stage.new_sandbox, rewards=False) as env:
        outcome = play(
            env,
            agent,
            budget=stage.plan.budget,
            record=lambda step: record(store, episode_id, step, by=stage.token),
            seed=stage.plan.spec.seed,
            attempt=claim["attempt"],
            cancelled=stage.over.is_set,
            past=trajectory(store.engine, episode_id) if claim["interruptions"] else (),
            as_stored=storable_json,
        )
    if outcome.score is not None:
        finish(store, episode_id, outcome, by=stage.token)
    return outcome


def break_off(stage: Stage, episode_id: int) -> str:
    """Leave an episode in the middle. Returns its stop reason."""
    if stage.released:
        stage.store.release(episode_id, stage.token)
        return ""
    # An error, because nothing was found out about the entrant.
    error = "the run was cancelled"
    stage.store.fail_episode(episode_id, stop_reason=StopReason.CANCELLED, error=error, by=stage.token)
    return str(StopReason.CANCELLED)


def record(store: Store, episode_id: int, step: Step, *, by: str | None = None) -> None:
    """Append a step, committed when this returns. `by`: whose claim the episode has to be; raises ClaimLost."""
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
        by=by,
    )


def finish(store: Store, episode_id: int, outcome: Outcome, *, by: str | None = None) -> None:
    """Write the verdict and the totals in one transaction. `by`: as in `record`."""
    score = outcome.score
    assert score is not None
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
        by=by,
    )
