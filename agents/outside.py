"""`outside`: an agent in another program, which calls the episode's tools.

The episode and that program exchange actions and observations through an `OutsideSession`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from stackrank.agents.episode.protocol import Agent, Briefing, Decision, GaveUp, OutOfTime, Setup, SetupError
from stackrank.agents.episode.step import Step, Usage
from stackrank.env.actions import Action, Observation
from stackrank.env.state import hanging_test
from stackrank.env.task import Task
from stackrank.wording import count_of


class OutsideSession:
    """Connects an episode with its player: actions go one way, observations the other. Thread-safe."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._turn = threading.Lock()
        self._opening: str | None = None
        self._action: Action | None = None
        self._observation: Observation | None = None
        self._ending: Observation | None = None
        self._left = False

    # ---- the player's side

    def opening(self) -> str:
        """Wait for the episode to begin and return the first message, or how it ended if it is over before that."""
        with self._changed:
            self._changed.wait_for(lambda: self._opening is not None or self._ending is not None)
            return self._opening if self._opening is not None else self._over().text

    def act(self, action: Action) -> Observation:
        """Carry out an action, after those that are waiting already. Returns its observation.

        Once the episode is over, the observation always says how it ended.
        """
        self.opening()
        with self._turn, self._changed:
            if self._ending is None:
                self._action, self._observation = action, None
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._observation is not None or self._ending is not None)
            return self._observation if self._ending is None and self._observation else self._over()

    def leave(self) -> None:
        """Say that no more actions will come."""
        with self._changed:
            self._left = True
            self._changed.notify_all()

    def _over(self) -> Observation:
        assert self._ending is not None
        return self._ending

    # ---- the episode's side

    def open(self, opening: str) -> None:
        """Give the player the first message."""
        with self._changed:
            self._opening = opening
            self._changed.notify_all()

    def answer(self, observation: Observation) -> None:
        """Give the player the observation of the last action."""
        with self._changed:
            self._action, self._observation = None, observation
            self._changed.notify_all()

    def next_action(self, remaining_s: Callable[[], float] | None) -> Action:
        """Wait for the player's next action. Raises GaveUp if the player has left, OutOfTime if none comes in time."""
        with self._changed:
            while self._action is None:
                if self._left:
                    raise GaveUp("the client disconnected")
                wait_s = None if remaining_s is None else remaining_s()
                if wait_s is not None and wait_s <= 0:
                    raise OutOfTime
                self._changed.wait(wait_s)
            return self._action

    def close(self, ending: Observation) -> None:
        """End the episode for the player; `ending` answers everything from now on."""
        with self._changed:
            self._ending = ending
            self._changed.notify_all()

    def is_over(self) -> bool:
        """Whether the episode has ended."""
        with self._changed:
            return self._ending is not None


class Outside(Agent):
    """Lets the player in its session choose the actions. The player's own costs are unknown."""

    version = "1"
    interactive = True
    session: ClassVar[OutsideSession | None] = None
    """None: the client has disconnected. The recorded steps are repeated, and the episode gets its verdict."""

    @classmethod
    def configure(cls, *, model: str, config: Mapping[str, Any]) -> Setup:
        """The settings say who plays: `name`, and `client`, the program as it identifies itself."""
        if unknown := sorted(set(config) - {"name", "client"}):
            raise SetupError(
                f"the agent outside has no setting {', '.join(unknown)}: its settings are `name` and `client`"
            )
        return Setup(identity=config)

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Raises SetupError, as `configure` does."""
        super().__init__(config=config)
        self._past: Iterator[Step] = iter(())
        self._asked = False

    def recall(self, past: Sequence[Step]) -> None:
        """Repeat what was done before the interruption."""
        self._past = iter(past[1:])

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Show the task to the player."""
        self._remaining_s = briefing.remaining_s
        if self.session is not None:
            self.session.open(opening(briefing, observation))

    def act(self, observation: Observation) -> Decision:
        """Return the player's next action. Raises GaveUp if there is no player any more, OutOfTime."""
        for past in self._past:
            if past.action is not None:
                return Decision(past.action)
        if self.session is None:
            raise GaveUp("the client disconnected")
        if self._asked:
            self.session.answer(observation)
        self._asked = True
        started = time.monotonic()
        action = self.session.next_action(self._remaining_s)
        return Decision(action, usage=Usage(cost_usd=None, model_ms=(time.monotonic() - started) * 1000))


def agent_for_session(session: OutsideSession) -> type[Outside]:
    """Return the agent that plays through this session."""
    return type("OutsideInSession", (Outside,), {"session": session})


def opening(briefing: Briefing, observation: Observation) -> str:
    """Return the first message: the task, the files, and the limits."""
    remaining_s = None if briefing.remaining_s is None else briefing.remaining_s()
    time_limit = "" if remaining_s is None else f" and {remaining_s / 60:.0f} minutes"
    ends = (
        "The first `eval` of all visible tests that passes ends the episode, and so does `submit`."
        if briefing.ends_when_solved
        else "`submit` ends the episode."
    )
    files = "\n".join(briefing.files)
    test = hanging_test(observation.state)
    hung = f"The tests hung in {test}.\n\n" if test else ""
    return (
        f"{observation.text}\n\n{hung}Files in the workspace:\n{files}\n\n"
        f"Only the tools of this server can reach the workspace. Paths are relative to it; line numbers are 1-based. "
        f"You have {count_of(briefing.max_steps, 'step')}{time_limit}; every call counts as one step. {ends}"
    )
