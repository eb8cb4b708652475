"""The agent `llm`: a language model that debugs, and may ask a second one to investigate with the debugger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stackrank.agents.episode.protocol import Agent, Briefing, Decision, Setup, SetupError
from stackrank.agents.episode.step import Exchange, Step
from stackrank.agents.llm.conversation import make_setup
from stackrank.agents.llm.dialogue import Dialogue, total
from stackrank.agents.llm.investigator import PROMPTS as INVESTIGATORS
from stackrank.agents.llm.investigator import Investigator, investigator_settings
from stackrank.agents.llm.prompting import Prompts, describe_tools, digest, inline_prompts, with_budget_left
from stackrank.agents.llm.settings import LlmSettings, identity, read_settings
from stackrank.agents.llm.syntaxes.syntax import write_first_observation
from stackrank.env.actions import Observation
from stackrank.env.task import Task
from stackrank.terms import DEBUGGERS

_PROMPTS = ("system", "task")


class LlmAgent(Agent):
    """Takes its actions from a language model; several tool calls in one answer are carried out in order.

    If the model calls `investigate`, the investigator acts until it has answered. Each of its actions is a step.
    """

    version = f"5+{digest(*_PROMPTS, *INVESTIGATORS, 'text')}"
    needs_model = True
    debuggers = frozenset(DEBUGGERS)
    inline_files = staticmethod(inline_prompts)

    @classmethod
    def configure(cls, *, model: str, config: Mapping[str, Any]) -> Setup:
        """Check the configuration. Raises SetupError without a model or a key, or if a setting or prompt is wrong."""
        if not model:
            raise SetupError("the agent llm needs a model: name one with --model")
        settings = read_settings(config, LlmSettings)
        Prompts((*_PROMPTS, *INVESTIGATORS), settings.prompts)
        investigator = investigator_settings(model, settings, config)
        is_same_model = investigator[0] == model and not settings.investigator.config
        identifying = identity(config)
        if "investigator" in identifying:
            identifying["investigator"] = {
                **identifying["investigator"],
                "config": identity(settings.investigator.config),
            }
        return make_setup(identifying, [(model, settings), *([] if is_same_model else [investigator])])

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Send no request yet. Raises SetupError, as `configure` does."""
        super().__init__(model=model, config=config)
        settings = read_settings(config or {}, LlmSettings)
        self._prompts = Prompts((*_PROMPTS, *INVESTIGATORS), settings.prompts)
        self._dialogue = Dialogue(model, settings)
        self._past: Sequence[Step] = ()
        self._investigator_arguments = (*investigator_settings(model, settings, config or {}), settings.investigator)
        self._investigator: Investigator | None = None
        self._questions = 0
        self._question: str | None = None
        """The question that the last action asked the investigator, if any."""
        self._steps = 0

    def recall(self, past: Sequence[Step]) -> None:
        """Take the next answers from the past steps instead of asking the model."""
        self._past = past
        self._dialogue.recall(self._exchanges())

    def _exchanges(self) -> Iterator[Exchange]:
        return (exchange for step in self._past for exchange in step.exchanges)

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Start the conversation."""
        self._briefing = briefing
        syntax = self._dialogue.syntax([briefing.tools.find(name) for name in briefing.tools.tools])
        system, task = self._prompts.render_task(
            _PROMPTS,
            briefing,
            tools=describe_tools(briefing.tools),
            syntax=syntax.write_help(),
            observation=write_first_observation(syntax, observation),
        )
        self._dialogue.start(syntax, system, task, briefing.model_seed)

    def act(self, observation: Observation) -> Decision:
        """Return the next tool call of the model. Raises MalformedAction, EndpointError, SetupError."""
        self._steps += 1
        if self._question is not None and observation.ok:
            self._questions += 1
            self._investigator = Investigator(self._questions, *self._investigator_arguments)
            remaining_steps = self._briefing.max_steps - self._steps
            self._investigator.begin(self._question, self._briefing, self._prompts, remaining_steps, self._exchanges())
        self._question = None
        if self._investigator is not None and not self._investigator.over:
            recorded = self._past[self._steps] if self._steps < len(self._past) else None
            return self._investigator.act(observation, recorded)
        told = with_budget_left(observation, self._steps - 1, self._briefing)
        action, thought, exchanges = self._dialogue.next(told)
        if action.tool == "investigate":
            self._question = str(action.arguments.get("question"))
        return Decision(action, thought, total(exchanges), exchanges)
