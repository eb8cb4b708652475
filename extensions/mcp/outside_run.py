"""A run of one episode that somebody else's program plays."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, NamedTuple

from stackrank.agents.outside import OutsideSession, agent_for_session
from stackrank.db import queries
from stackrank.db.writes.store import Store
from stackrank.env.actions import Action, Observation
from stackrank.env.sandbox.base import Say
from stackrank.env.tools import ToolSet
from stackrank.flows.runs.playing.error_policy import describe_error
from stackrank.flows.runs.playing.single_episode import PlayedEpisode, play_prepared
from stackrank.flows.runs.preparing.prepared_run import check, prepare
from stackrank.flows.runs.specification.spec import make_spec
from stackrank.terms import RunStatus
from stackrank.wording import count_of


class Client(NamedTuple):
    """The name and version that a playing program gives itself; empty if it gives none."""

    name: str = ""
    version: str = ""


class OutsideGame:
    """An episode that begins with the player's first request and is played in a thread. Thread-safe.

    A client that only lists the tools, as clients do when they start, creates no run.
    """

    def __init__(self, store: Store, task: str, tools: str, name: str, fields: dict[str, Any], say: Say) -> None:
        """`name`: who plays; if empty, the client's name is used. `fields`: further fields of the run's specification.

        Raises SpecError, SandboxError if the run could not be played.
        """
        self._store = store
        self._task = task
        self._tools = tools
        self._name = name
        self._fields = fields
        self._say = say
        self._session = OutsideSession()
        self._begin = threading.Lock()
        self._thread: threading.Thread | None = None
        self.failed = False
        """Whether the infrastructure failed, so that there is no verdict."""
        checked = check(make_spec(self._spec(Client()), ""), store.engine)
        self.tools: ToolSet = checked.entrants[0].tools
        self.steps = checked.budget_of(checked.tasks[0]).steps

    def opening(self, client: Client) -> str:
        """Return the first message. `client`: the program that asks."""
        self._ensure_begun(client)
        return self._session.opening()

    def act(self, client: Client, action: Action) -> Observation:
        """Carry out an action. Once the episode is over, the observation says how it ended."""
        self._ensure_begun(client)
        return self._session.act(action)

    def leave(self) -> None:
        """Note that the player has left. Its changes so far get their verdict."""
        self._session.leave()

    def wait(self) -> None:
        """Wait until the episode, if it has begun, has its verdict."""
        with self._begin:
            thread = self._thread
        if thread is not None:
            thread.join()

    def _ensure_begun(self, client: Client) -> None:
        with self._begin:
            if self._thread is None:
                self._thread = threading.Thread(target=self._play, args=(client,), name="outside")
                self._thread.start()

    def _spec(self, client: Client) -> dict[str, Any]:
        name = self._name or client.name
        config = {"name": name, "client": " ".join(filter(None, client))}
        entrant = {
            "agent": "outside",
            "tools": self._tools,
            "config": {key: value for key, value in config.items() if value},
        }
        label = {"name": f"outside/{name} ({self._tools})"} if name else {}
        run = {"name": f"mcp-{self._task}", "tasks": [self._task], "workers": 1, "tags": ["mcp"]}
        return {**self._fields, **run, "entrants": [{**entrant, **label}]}

    def _play(self, client: Client) -> None:
        try:
            run = prepare(make_spec(self._spec(client), ""), self._say, self._store.engine)
            (entrant,) = run.entrants
            run = replace(run, entrants=(replace(entrant, agent=agent_for_session(self._session)),))
            ending = self._ending(play_prepared(self._store, run))
        except BaseException as error:
            self.failed = True
            ending = Observation(f"The episode could not be played: {describe_error(error)}", False)
        self._session.close(ending)  # before `say`, because the player waits, and nobody may be left to read `say`
        self._say(ending.text.rpartition("\n")[2])

    def _ending(self, episode_end: PlayedEpisode) -> Observation:
        if episode_end.status is not RunStatus.FINISHED:
            self.failed = episode_end.status is RunStatus.FAILED
            return Observation(f"The episode has no verdict: {episode_end.reason}", False)
        row = queries.episode(self._store.engine, episode_end.episode_id)
        last = queries.steps(self._store.engine, episode_end.episode_id)[-1]
        summary = (
            f"The episode is over after {count_of(row['steps'], 'step')} ({row['stop_reason']}): {row['verdict']}. "
            f"Every step of it: stackrank trace {row['id']}"
        )
        return Observation(f"{last['observation']}\n\n{summary}" if last["index"] else summary, bool(last["ok"]))
