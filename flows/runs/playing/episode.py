"""Plays one episode of a run and stores it in the database. Does not use Prefect."""

from __future__ import annotations

import threading
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any

from stackrank.agents.episode.loop import Outcome, play
from stackrank.agents.episode.mending import JudgedFault
from stackrank.db.connection.errors import ClaimLost
from stackrank.db.writes.claims import ClaimedEpisode
from stackrank.db.writes.store import Store
from stackrank.env.debug_env import DebugEnv
from stackrank.env.environment import files_digest
from stackrank.env.scoring.digest import scorer_digest
from stackrank.env.scoring.judge import Score
from stackrank.env.scoring.record import environment_digest, pack
from stackrank.env.scoring.report import PASSED
from stackrank.env.task import Task
from stackrank.flows.runs.playing.error_policy import EpisodeFailed, describe_error, find_policy
from stackrank.flows.runs.playing.session import Session, SessionState
from stackrank.flows.runs.playing.trajectories import find_trajectory, load_trajectory, to_row
from stackrank.host.load import machine_load
from stackrank.storable import storable_json
from stackrank.terms import StopReason, Verdict

GRACE_S = 3.0
"""How long an episode that must end may take to notice. An episode that waits for its model is abandoned."""


def play_episode(session: Session, claim: ClaimedEpisode, *, in_this_thread: bool = False) -> dict[str, Any]:
    """Play or continue an episode that this process has claimed, and store each step as it happens.

    The caller holds the claim. `claim`: the row as `Store.claim_next` returns it. `in_this_thread`: play in the calling
    thread, for agents that own the terminal; otherwise play in a new thread, which is abandoned if the agent does not
    notice that the run is over.
    Returns {"episode", "verdict", "stop_reason"}; the verdict is empty if the run was cancelled, or another worker took
    over the episode. Raises EpisodeFailed after the error has been stored.
    """
    episode_id = claim["id"]
    no_verdict = {"episode": episode_id, "verdict": "", "stop_reason": ""}
    outcome: Future[Outcome] = Future()
    try:
        with session.end_event() as end_event:
            outcome.add_done_callback(lambda _: end_event.set())
            if in_this_thread:
                _play(session, claim, outcome)
            else:
                work = (session, claim, outcome)
                threading.Thread(target=_play, args=work, name=f"episode-{episode_id}", daemon=True).start()
            end_event.wait()
            result = outcome.result(timeout=GRACE_S)
    except ClaimLost:
        return no_verdict
    except (Exception, SystemExit) as error:
        if session.is_over():
            return {**no_verdict, "stop_reason": end_early(session, episode_id)}
        error_policy = find_policy(error)
        text = describe_error(error)
        if error_policy.waits:
            # The run's driver releases the episode once all workers know that the endpoint is down.
            endpoint = getattr(error, "endpoint", "") or f"of {session.entrants[claim['entrant_id']].spec.label}"
            raise EpisodeFailed(text, error_policy.retried, endpoint=endpoint, by=session.claims.token) from error
        if not session.store.fail_episode(
            episode_id,
            stop_reason=StopReason.ERROR,
            error=text,
            error_class=error_policy.error_class,
            by=session.claims.token,
        ):
            return no_verdict
        raise EpisodeFailed(text, error_policy.retried, error_policy.afresh, error_policy.ends_run) from error
    if result.score is None:
        return {**no_verdict, "stop_reason": end_early(session, episode_id)}
    verdict = str(Verdict.RESOLVED if result.score.resolved else Verdict.UNRESOLVED)
    return {"episode": episode_id, "verdict": verdict, "stop_reason": str(result.stop_reason)}


def _play(session: Session, claim: ClaimedEpisode, result: Future[Outcome]) -> None:
    try:
        result.set_result(_play_to_end(session, claim))
    except BaseException as error:
        result.set_exception(error)


def _play_to_end(session: Session, claim: ClaimedEpisode) -> Outcome:
    store, episode_id = session.store, claim["id"]
    task, entrant = session.tasks[claim["task_id"]], session.entrants[claim["entrant_id"]]
    agent = entrant.agent(
        model=entrant.spec.model, config=entrant.spec.config, task=task if entrant.agent.knows_fix else None
    )
    # No rewards on the way, because the last step is committed before the verdict is taken.
    env = DebugEnv(
        task,
        entrant.tools,
        session.sandboxes.new,
        end_when_solved=session.run.spec.ends_when_solved,
        rewards=False,
        shows_failing_test=session.run.spec.shows_failing_test,
        shows_failure_state=session.run.spec.shows_failure_state,
    )
    if env.branches:
        session.sandboxes.expect(env.spec)
    with env:
        outcome = play(
            env,
            agent,
            budget=session.run.budget_of(task),
            record=lambda step: store.add_step(to_row(episode_id, step), by=session.claims.token),
            seed=session.run.spec.seed,
            attempt=claim["attempt"],
            cancelled=session.is_over,
            past=load_trajectory(store.engine, episode_id) if claim["interruptions"] else (),
            as_stored=storable_json,
            find_recording=lambda recording: find_trajectory(store.engine, recording, episode_id),
        )
    if outcome.score is not None:
        _store_verdict(store, episode_id, outcome, task, session.run.backend.name, by=session.claims.token)
    return outcome


def end_early(session: Session, episode_id: int) -> str:
    """End an episode before its verdict. Returns its stop reason."""
    if session.state is SessionState.RELEASED:
        session.store.release(episode_id, session.claims.token)
        return ""
    # It ends in an error, because it says nothing about the entrant.
    error = "the run was cancelled"
    session.store.fail_episode(episode_id, stop_reason=StopReason.CANCELLED, error=error, by=session.claims.token)
    return str(StopReason.CANCELLED)


def _store_verdict(
    store: Store, episode_id: int, outcome: Outcome, task: Task, backend: str, *, by: str | None = None
) -> None:
    """Store the verdict and the totals in one transaction. `by`: who must hold the claim; raises ClaimLost."""
    change = pack(outcome.changes) if outcome.changes is not None else None
    score = outcome.score
    assert score is not None
    outcomes = list(score.tests.values())
    passed = sum(test_outcome in PASSED for test_outcome in outcomes)
    mended, faults_total = score.mended
    store.finish_episode(
        episode_id,
        verdict=Verdict.RESOLVED if score.resolved else Verdict.UNRESOLVED,
        stop_reason=outcome.stop_reason,
        failure_point=outcome.diagnosis.failure_point or "",
        failure_step=outcome.diagnosis.step,
        tampered=score.tampered,
        sealed=score.sealed,
        mended=mended,
        faults_total=faults_total,
        unverified=score.resolved and not score.verified,
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
        machine_load=machine_load(),
        tests_passed=passed,
        tests_failed=len(outcomes) - passed - sum(test_outcome in ("skipped", "unseen") for test_outcome in outcomes),
        diff=score.diff,
        score={
            "tests": score.tests,
            "unfixed": list(score.unfixed),
            "regressions": list(score.regressions),
            "notes": list(score.notes),
            "unsealed": score.unsealed,
            "suspicious": list(score.suspicious),
            "output": score.output,
        },
        milestones=outcome.diagnosis.milestones,
        record=verdict_record(task, backend, score, change[0] if change else ""),
        change=change,
        by_fault=[_fault_row(fault) for fault in outcome.faults],
        by=by,
    )


def _fault_row(fault: JudgedFault) -> dict[str, Any]:
    """Return the verdict on one of several faults as columns of `FaultVerdict`."""
    usage = fault.usage
    return {
        **asdict(fault.score),
        "step": fault.step,
        "tokens": usage.tokens_in + usage.tokens_out if usage else None,
        "cost_usd": usage.cost_usd if usage else None,
    }


def verdict_record(task: Task, backend: str, score: Score, change: str) -> dict[str, Any]:
    """Return a verdict as the database stores it, with the digests of everything it depends on."""
    return {
        "task_digest": task.digest,
        "workspace": files_digest(task.files),
        "change": change,
        "scorer": scorer_digest(),
        "environment": environment_digest(task, backend),
        "resolved": score.resolved,
        "tampered": score.tampered,
        "sealed": score.sealed,
        "unsealed": score.unsealed,
        "faults": {fault.name: fault.mended for fault in score.faults},
        "tests": dict(score.tests),
        "notes": list(score.notes),
    }
