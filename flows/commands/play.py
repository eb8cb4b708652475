"""`stackrank play`: a person at the keyboard, recorded like any agent."""

from __future__ import annotations

from typing import Any

from agents.episode import StopReason
from db import queries
from db.engine import connect
from db.models import RunStatus
from db.store import Store
from env.benchmarks.base import Source
from flows.commands.play_run import INTERRUPTED
from flows.episode import play_episode
from flows.errors import EpisodeFailed
from flows.output import say
from flows.plan import make_plan, save_run
from flows.spec import default_owner, make_spec
from flows.stage import leave, stage_of


def play(task: str, benchmark: str, source: Source, tools: str, sandbox: str | None) -> int:
    """Play one task in this terminal. Returns the exit status.

    It is a run of one episode, without Prefect: nothing has to be scheduled or tried again while somebody watches.
    """
    player = default_owner()
    entrant = {"agent": "human", "tools": tools, "config": {"player": player}}
    data: dict[str, Any] = {
        "name": f"play-{task}",
        "benchmark": benchmark,
        "path": str(source.path) if source.path else None,
        "fixes": str(source.fixes) if source.fixes else None,
        "repos": str(source.repos) if source.repos else None,
        "environments": str(source.environments) if source.environments else None,
        "tasks": [task],
        "entrants": [{**entrant, "name": f"human/{player} ({tools})" if player else ""}],
        "workers": 1,
        "sandbox": sandbox,
        "steps": 10_000,
        "wall_s": None,
        "tags": ["play"],
    }
    store = Store(connect())
    run_id = save_run(store, make_plan(make_spec(data, "the call")))
    stage = stage_of(run_id)
    row = store.claim_next(run_id, stage.token)
    assert row is not None
    try:
        store.start_run(run_id)
        stage.start_heart()
        verdict = play_episode(stage, row, here=True)["verdict"]
    except EpisodeFailed as error:
        store.end_run(run_id, RunStatus.FAILED, str(error))
        say(f"error: {error}")
        return 1
    except KeyboardInterrupt:
        # On a terminal only while a tool is at work: while a line is typed, Ctrl-C takes the line back.
        why = "the player interrupted it"
        store.fail_episode(row["id"], stop_reason=StopReason.CANCELLED, error=why)
        store.end_run(run_id, RunStatus.CANCELLED, why)
        say(f"{why}: episode {row['id']} is not counted")
        return INTERRUPTED
    except Exception as error:
        store.end_run(run_id, RunStatus.FAILED, " ".join(str(error).split())[:500])
        raise
    finally:
        leave(run_id)
    if not verdict:
        store.end_run(run_id, RunStatus.CANCELLED, "cancelled")
        say(f"the run was cancelled: episode {row['id']} is not counted")
        return INTERRUPTED
    store.end_run(run_id, RunStatus.FINISHED)
    _show(queries.episode(store.engine, row["id"]))
    return 0


def _show(episode: dict[str, Any]) -> None:
    print(f"\n{episode['verdict']} after {episode['steps']} steps ({episode['stop_reason']})")
    for test in episode["score"]["unfixed"]:
        print(f"does not pass: {test}")
    for test in episode["score"]["regressions"]:
        print(f"broken: {test}")
    print(f"The episode, step by step: stackrank trace {episode['id']}")
