"""A run of one episode, played by the person at this terminal or by an outside program.

It does not use Prefect: while somebody watches, nothing has to be scheduled or retried.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from stackrank.db.writes.store import Store
from stackrank.env.sandbox.base import Say
from stackrank.flows.runs.playing.episode import play_episode
from stackrank.flows.runs.playing.error_policy import EpisodeFailed
from stackrank.flows.runs.playing.session import leave_run, open_session
from stackrank.flows.runs.preparing.prepared_run import PreparedRun, prepare
from stackrank.flows.runs.preparing.stored_run import create_run
from stackrank.flows.runs.specification.spec import make_spec
from stackrank.settings import default_owner
from stackrank.terms import RunStatus, StopReason


@dataclass(frozen=True)
class PlayedEpisode:
    """A run of one episode, and how it ended."""

    status: RunStatus
    episode_id: int
    reason: str = ""
    """Why the run did not finish; empty if it did."""


def play_by_hand(store: Store, task: str, tools: str, fields: dict[str, Any], say: Say) -> PlayedEpisode:
    """Let the person at the terminal play a task. `fields`: further fields of the run's specification.

    Raises SpecError, SandboxError, DatabaseError.
    """
    player = default_owner()
    entrant = {"agent": "human", "tools": tools, "config": {"player": player}}
    data = {
        **fields,
        "name": f"play-{task}",
        "tasks": [task],
        "entrants": [{**entrant, "name": f"human/{player} ({tools})" if player else ""}],
        "workers": 1,
        "steps": 10_000,
        "wall_s": None,
        "tags": ["play"],
    }
    return play_prepared(store, prepare(make_spec(data, ""), say, store.engine), in_this_thread=True)


def play_prepared(store: Store, run: PreparedRun, *, in_this_thread: bool = False) -> PlayedEpisode:
    """Play a run of one episode in this process. Raises SandboxError, DatabaseError.

    `in_this_thread`: see `play_episode`.
    """
    session = open_session(create_run(store, run))
    run_id = session.run_id
    row = store.claim_next(run_id, session.claims.token)
    assert row is not None
    episode_id = row["id"]
    try:
        session.claims.hold(episode_id)
        session.start_run()
        verdict = play_episode(session, row, in_this_thread=in_this_thread)["verdict"]
        ending = PlayedEpisode(RunStatus.FINISHED, episode_id)
        if not verdict:
            ending = PlayedEpisode(RunStatus.CANCELLED, episode_id, "cancelled")
    except EpisodeFailed as error:
        store.fail_episode(episode_id, stop_reason=StopReason.ERROR, error=str(error), by=error.by or None)
        ending = PlayedEpisode(RunStatus.FAILED, episode_id, str(error))
    except KeyboardInterrupt:
        # On a terminal, this happens only while a tool is working: while a line is typed, Ctrl-C discards the line.
        ending = PlayedEpisode(RunStatus.CANCELLED, episode_id, "the player interrupted the episode")
        store.fail_episode(episode_id, stop_reason=StopReason.CANCELLED, error=ending.reason)
    except Exception as error:
        store.end_run(run_id, RunStatus.FAILED, " ".join(str(error).split())[:500])
        raise
    finally:
        leave_run(run_id)
    store.end_run(run_id, ending.status, ending.reason)
    return ending
