"""Answers the questions of the tool `investigate` in a separate conversation, with a debugger and a budget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stackrank.agents.episode.protocol import Briefing, Decision, GaveUp, MalformedAction, SetupError
from stackrank.agents.episode.step import Exchange, Step, Usage
from stackrank.agents.llm.dialogue import Dialogue, malformed, total
from stackrank.agents.llm.prompting import Prompts
from stackrank.agents.llm.settings import InvestigatorSettings, LlmSettings, Settings, read_settings
from stackrank.env.actions import Action, Observation
from stackrank.env.tools import find_tool
from stackrank.env.tools.debugging.investigate import INVESTIGATOR
from stackrank.wording import count_of

PROMPTS = ("investigator", "investigator_task")
MAX_ANSWER = 3000
"""Most characters of an answer."""
MAX_MALFORMED = 3
"""The investigation ends after this many answers in a row without an action: before the episode (`Budget`) would."""
MAX_REPEATS = 6
"""A step repeated this often in a row with the same result ends the investigation: fewer than `Budget.repeats`."""


def investigator_settings(model: str, settings: LlmSettings, config: Mapping[str, Any]) -> tuple[str, Settings]:
    """Return the investigator's model and its settings: those of the entrant, overridden by the investigator's own.

    Raises SetupError.
    """
    of = settings.investigator
    if "prompts" in of.config:
        raise SetupError("the investigator uses the entrant's prompts: set prompts.investigator instead of its config")
    shared = {name: value for name, value in config.items() if name in Settings.model_fields and name != "prompts"}
    if of.model and of.model != model:
        shared.pop("price", None)
    return of.model or model, read_settings({**shared, **of.config}, Settings)


class Investigator:
    """One investigation: it acts until it has answered."""

    def __init__(self, number: int, model: str, settings: Settings, limits: InvestigatorSettings) -> None:
        """Send no request yet. `number`: which investigation of its episode this is. Raises SetupError."""
        self._dialogue = Dialogue(model, settings, f"investigator {number}")
        self._limits = limits
        self._usage = Usage()
        self._remaining_steps = 0
        """Steps that the investigation still has."""
        self._malformed = 0
        self._last: tuple[Action | None, str] = (None, "")
        """The action before the last one, and its result."""
        self._action: Action | None = None
        self._said = ""
        self._repeats = 0
        self.over = False
        """Whether the investigation has ended."""

    def begin(self, question: str, briefing: Briefing, prompts: Prompts, steps: int, past: Iterable[Exchange]) -> None:
        """Start the conversation. `steps`: how many the episode has left. `past`: as for `Dialogue.recall`."""
        self._remaining_steps = max(min(self._limits.steps, steps // 2), 1)
        syntax = self._dialogue.syntax([find_tool(name) for name in INVESTIGATOR])
        system, task = prompts.render_task(
            PROMPTS, briefing, question=question, syntax=syntax.write_help(), max_steps=self._remaining_steps
        )
        self._dialogue.recall(past)
        self._dialogue.start(syntax, system, task, briefing.model_seed)

    def act(self, observation: Observation, recorded: Step | None = None) -> Decision:
        """Return the next action; the last is `answer`. `recorded`: this step, if the episode was interrupted after it.

        Raises MalformedAction, EndpointError, SetupError.
        """
        if recorded is not None and recorded.action and recorded.action.tool == "answer" and not recorded.exchanges:
            # The model gave no answer at that time, and is not asked again.
            self.over = True
            return Decision(recorded.action, recorded.thought)
        self._count_repeats(observation)
        if self._repeats >= MAX_REPEATS and recorded is None:
            reason = f"it repeated the same step {MAX_REPEATS + 1} times in a row with the same result"
            return self._give_up(reason, self._said)
        spent = self._spent_budget()
        try:
            if spent:
                text = f"{observation.text}\n[{spent}: call answer now, with what you know]"
                self._dialogue.refuse_pending_calls(
                    Observation(text, observation.ok, observation.state), "Not carried out."
                )
            action, thought, exchanges = self._dialogue.next(observation)
            self._usage += total(exchanges)
            if action.tool == "answer":
                action = _check_answer(action, thought, exchanges, cut=bool(spent))
        except MalformedAction as error:
            self._usage += error.usage
            self._malformed += 1
            if spent or self._malformed >= MAX_MALFORMED:
                explanation = spent or f"{MAX_MALFORMED} answers in a row contained no valid action"
                return self._give_up(explanation, error.output, error.exchanges)
            self._remaining_steps -= 1
            raise
        except GaveUp as error:
            return self._give_up(str(error))
        self._malformed = 0
        self.over = action.tool == "answer"
        if spent and not self.over:
            return self._give_up(spent, thought, exchanges)
        self._remaining_steps -= 1
        self._action, self._said = action, thought
        return Decision(action, thought, total(exchanges), exchanges)

    def _count_repeats(self, observation: Observation) -> None:
        """Count how often in a row the last step was repeated. Answers without an action do not count."""
        step = (self._action, observation.text)
        self._repeats = self._repeats + 1 if self._action is not None and step == self._last else 0
        self._last, self._action = step, None

    def _spent_budget(self) -> str:
        """Return which part of the budget is used up; empty if none is."""
        limits, usage = self._limits, self._usage
        if self._remaining_steps <= 0:
            return "the steps are used up"
        if limits.tokens is not None and usage.tokens_in + usage.tokens_out >= limits.tokens:
            return "the tokens are used up"
        if limits.cost_usd is not None and usage.cost_usd is not None and usage.cost_usd >= limits.cost_usd:
            return "the cost limit is reached"
        return ""

    def _give_up(self, reason: str, output: str = "", exchanges: tuple[Exchange, ...] = ()) -> Decision:
        self.over = True
        text = f"[the investigator gave no answer: {reason}]"
        if output.strip():
            text += f"\nIts last message:\n{output.strip()[:MAX_ANSWER]}"
        return Decision(Action("answer", {"text": text}), output, total(exchanges), exchanges)


def _check_answer(action: Action, output: str, exchanges: tuple[Exchange, ...], cut: bool) -> Action:
    """Return the answer if it is valid, and `cut` it if no try is left. Raises MalformedAction."""
    text = action.arguments.get("text")
    if not isinstance(text, str) or not text.strip():
        raise malformed("The answer is empty: write it into `text`.", output, exchanges)
    if len(text) > MAX_ANSWER and not cut:
        raise malformed(
            f"The answer has {count_of(len(text), 'character')}; the limit is {MAX_ANSWER}. Shorten it.",
            output,
            exchanges,
        )
    return Action("answer", {"text": text.strip()[:MAX_ANSWER]})
