"""The agent `best-of-n`: a model whose episode branches where its own samples diverge.

While fewer than `lines` lines are open, the model is asked several times at each step. Each action among the answers
that differs from the others opens a line; equal ones do not. The lines are played one after another, each to its end:
the model submits, gives up, or has used the line's share of the steps. Then the best one is submitted, by what an agent
can know: whether the visible tests pass, how many of them do, and whether anything was changed. Of equal lines, the one
that the model chose first is taken. A line after which all visible tests pass ends the search.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import Field

from stackrank.agents.episode.protocol import Agent, Briefing, Decision, GaveUp, MalformedAction, Setup, SetupError
from stackrank.agents.episode.step import Exchange, Step
from stackrank.agents.llm.conversation import make_setup
from stackrank.agents.llm.dialogue import Dialogue, total
from stackrank.agents.llm.prompting import Prompts, describe_tools, digest, inline_prompts, with_budget_left
from stackrank.agents.llm.settings import Settings, identity, read_settings
from stackrank.agents.llm.syntaxes.syntax import write_first_observation
from stackrank.env.actions import Action, Observation
from stackrank.env.task import Task

_PROMPTS = ("system", "task")
_HIDDEN = ("branch", "investigate")
"""Tools that the model does not get: the agent branches, and it has no investigator."""
MAX_STUCK = 4
"""A line ends after this many steps in a row without an action, or with the same one and the same observation: before
the episode (`Budget`) would."""
Moves = Generator[Decision | MalformedAction, Observation, None]


class BestOfNSettings(Settings):
    """What can be configured for the agent `best-of-n`."""

    lines: int = Field(3, ge=2, le=16)
    """Most lines of an episode. Until they are open, the model is asked as often as lines are still missing, and once
    more. With `temperature: 0` its answers are equal, and there is one line."""


@dataclass(slots=True)
class Line:
    """One way in which the episode goes on."""

    dialogue: Dialogue
    first: Decision | None
    """The action that opens it; None: the line from the beginning."""
    tip: int
    """The step after which it stands."""
    solved: bool = False
    passed: int = 0
    changed: bool = False
    tested: bool = False
    """Whether `solved` and `passed` are about its files as they are."""

    def note(self, step: int, observation: Observation) -> None:
        """Take what its step showed."""
        state = observation.state
        self.tip = step
        if state["kind"] == "tests":
            self.tested, self.solved = True, state["solved"]
            self.passed = state["tests"]["passed"] if "tests" in state else 0
        elif state.get("diff"):
            self.changed, self.tested = True, False

    @property
    def rank(self) -> tuple[bool, int, bool]:
        """The larger, the better."""
        return (self.solved, self.passed, self.changed) if self.tested else (False, 0, self.changed)


class BestOfN(Agent):
    """Plays the lines of an episode between which a model's samples diverge, and submits the best one."""

    version = f"1+{digest(*_PROMPTS, 'text')}"
    needs_model = True
    needs_tools = ("branch", "eval")
    inline_files = staticmethod(inline_prompts)

    @classmethod
    def configure(cls, *, model: str, config: Mapping[str, Any]) -> Setup:
        """Raises SetupError without a model or a key, or if a setting or prompt is wrong."""
        if not model:
            raise SetupError("the agent best-of-n needs a model: name one with --model")
        settings = read_settings(config, BestOfNSettings)
        Prompts(_PROMPTS, settings.prompts)
        return make_setup(identity(config), [(model, settings)])

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Send no request yet. Raises SetupError, as `configure` does."""
        super().__init__(model=model, config=config)
        self._settings = read_settings(config or {}, BestOfNSettings)
        self._prompts = Prompts(_PROMPTS, self._settings.prompts)
        self._dialogue = Dialogue(model, self._settings)
        self._past: tuple[Exchange, ...] = ()
        self._open: list[Line] = []
        """The lines that are not played yet."""
        self._opened = 1
        self._samples = 0
        self._step = 0
        """The last step of the episode."""
        self._unrecorded: list[Exchange] = []
        """What was asked and is not part of a decision yet."""

    def recall(self, past: Sequence[Step]) -> None:
        """Take the next answers from the past steps instead of asking the model."""
        self._past = tuple(exchange for step in past for exchange in step.exchanges)
        self._dialogue.recall(self._past)

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Start the conversation."""
        names = tuple(name for name in briefing.tools.tools if name not in _HIDDEN)
        tools = replace(briefing.tools, tools=names)
        briefing = replace(briefing, tools=tools)
        self._briefing = briefing
        syntax = self._dialogue.syntax([tools.find(name) for name in names])
        system, task = self._prompts.render_task(
            _PROMPTS,
            briefing,
            tools=describe_tools(tools),
            syntax=syntax.write_help(),
            observation=write_first_observation(syntax, observation),
        )
        self._dialogue.start(syntax, system, task, briefing.model_seed)
        self._moves: Moves | None = None

    def act(self, observation: Observation) -> Decision:
        """Return the next action of a line, or the change to another. Raises MalformedAction, EndpointError."""
        if self._moves is None:
            self._moves = self._play(observation)
            move = next(self._moves)
        else:
            self._step += 1
            move = self._moves.send(observation)
        if isinstance(move, MalformedAction):
            raise move
        return move

    def _play(self, observation: Observation) -> Moves:
        played: list[Line] = []
        self._open.append(Line(self._dialogue, None, 0))
        while self._open and not any(line.rank[0] for line in played):
            line = self._open.pop(0)
            if line.tip != self._step and not (yield from self._go_to(line.tip)):
                continue  # its steps cannot be repeated
            yield from self._play_line(line, observation)
            played.append(line)
        for line in sorted(played, key=lambda line: line.rank, reverse=True):
            if line.tip == self._step or (yield from self._go_to(line.tip)):
                break
        yield self._decide(Action("submit"))

    def _go_to(self, step: int) -> Generator[Decision, Observation, bool]:
        """Go back to a step. Returns whether that was possible."""
        observation = yield self._decide(Action("branch", {"at": step}))
        return observation.ok

    def _play_line(self, line: Line, observation: Observation) -> Moves:
        """Play a line to its end, and learn how the visible tests stand there."""
        move: Decision | MalformedAction | None = line.first
        stuck, last = 0, None
        while stuck < MAX_STUCK:
            try:
                move = move or self._ask(line, observation)
            except GaveUp:  # the conversation is too long
                break
            if isinstance(move, Decision) and move.action.tool == "submit":
                self._unrecorded += move.exchanges
                break
            observation = yield move
            line.note(self._step, observation)
            shown = (move.action, observation.text) if isinstance(move, Decision) else None
            stuck = stuck + 1 if shown in (None, last) else 0
            move, last = None, shown
            if self._remaining_steps() <= 0:
                break
        if self._opened > 1 and not line.tested:
            observation = yield self._decide(Action("eval"))
            line.note(self._step, observation)

    def _remaining_steps(self) -> int:
        """Return the steps that the current line may still take: the lines that are not played get their shares."""
        share = self._briefing.max_steps // self._settings.lines
        return self._briefing.max_steps - self._step - share * len(self._open) - 3  # `eval`, `branch` and `submit`

    def _ask(self, line: Line, observation: Observation) -> Decision | MalformedAction:
        """Return the next action of a line; other actions that the model samples open lines of their own."""
        observation = with_budget_left(observation, self._step, self._briefing)
        more = self._settings.lines - self._opened
        dialogues = [line.dialogue, *(self._duplicate(line.dialogue) for _ in range(more))]
        errors: list[MalformedAction] = []
        candidates: list[tuple[Dialogue, Action, str]] = []
        for dialogue in dialogues:
            try:
                action, thought, exchanges = dialogue.next(observation)
            except MalformedAction as error:
                self._unrecorded += error.exchanges
                errors.append(error)
                continue
            self._unrecorded += exchanges
            if action not in [other for _, other, _ in candidates]:
                candidates.append((dialogue, action, thought))
        if not candidates:
            exchanges = self._take_unrecorded()
            return MalformedAction(
                str(errors[0]), output=errors[0].output, usage=total(exchanges), exchanges=tuple(exchanges)
            )
        for dialogue, action, thought in candidates[1:]:
            self._opened += 1
            self._open.append(Line(dialogue, Decision(action, thought), self._step))
        line.dialogue, action, thought = candidates[0]
        return self._decide(action, thought)

    def _duplicate(self, dialogue: Dialogue) -> Dialogue:
        self._samples += 1
        duplicate = dialogue.duplicate(f"sample-{self._samples}", self._samples)
        duplicate.recall(self._past)
        return duplicate

    def _decide(self, action: Action, thought: str = "") -> Decision:
        exchanges = self._take_unrecorded()
        return Decision(action, thought, total(exchanges), exchanges)

    def _take_unrecorded(self) -> tuple[Exchange, ...]:
        exchanges, self._unrecorded = tuple(self._unrecorded), []
        return exchanges
