"""Two models: a small one looks for information and writes a brief; a code model reads it and edits the program.

The seeker explores with the tools that change nothing, the debugger among them, and hands over a brief of bounded size.
The coder sees the statement, the brief and the files that it names, and nothing else; it rewrites, evaluates, submits,
and may ask for another brief. The calls `brief` and `ask` hand over and are not steps; showing the coder a file is one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ConfigDict, Field

from stackrank.agents.episode.protocol import Agent, Briefing, Decision, MalformedAction, Setup, SetupError
from stackrank.agents.episode.step import Exchange, Step
from stackrank.agents.llm.conversation import make_setup
from stackrank.agents.llm.dialogue import Dialogue, malformed, total
from stackrank.agents.llm.prompting import Prompts, describe_tools, digest, inline_prompts
from stackrank.agents.llm.settings import Settings, identity, read_settings
from stackrank.agents.llm.syntaxes.syntax import write_first_observation
from stackrank.env.actions import Action, Observation
from stackrank.env.task import Task
from stackrank.env.tools import find_tool
from stackrank.env.tools.base import Arguments
from stackrank.wording import count_of

_PROMPTS = ("seeker", "seeker_task", "coder", "coder_task")
_SEEKER_TOOLS = ("eval", "view", "listdir", "grep", "pdb", "inspect", "trace", "calls", "snapshot")
_CODER_TOOLS = ("rewrite", "eval", "submit")
_REFERENCE = re.compile(r"^(?P<path>.+?)(?::(?P<start>\d{1,9})-(?P<end>\d{1,9}))?$")


class SeekerSettings(Settings):
    """What can be configured. The fields of `llm` apply to both models, except `price` and `prompts`."""

    model_config = ConfigDict(extra="forbid")

    seeker_model: str = Field(min_length=1)
    """The model that looks for information. The entrant's model is the coder."""
    seeker: dict[str, Any] = Field(default_factory=dict)
    """Fields of `llm` that are different for the seeker, for instance `base_url` and `syntax` of a local model."""
    seeker_steps: float = Field(0.6, gt=0, lt=1)
    """Share of the episode's steps that the seeker may take, for all its briefs together."""
    brief_chars: int = Field(4000, ge=200)
    """Most characters of a brief."""
    brief_files: int = Field(4, ge=1)
    """Most files that a brief names."""
    briefs: int = Field(2, ge=1)
    """Most briefs of an episode: the first, and those that the coder asks for."""


class BriefArguments(Arguments):
    """The brief that the seeker hands to the coder."""

    body = "text"

    files: str = Field(
        description="The files that the programmer needs to see, separated by spaces: PATH, or PATH:FIRST-LAST for "
        "some lines of a long one."
    )
    text: str = Field(description="The brief.")


class AskArguments(Arguments):
    """The coder's question to the seeker."""

    body = "question"

    question: str = Field(description="What to find out.")


class Brief:
    """The tool with which the seeker hands over to the coder."""

    name = "brief"
    arguments = BriefArguments

    def __init__(self, characters: int, files: int) -> None:
        self.description = (
            "Hand over to the programmer, who sees only the statement, this brief and the files that it names. "
            f"At most {count_of(characters, 'character')} and {count_of(files, 'file')}; showing a file to the "
            "programmer costs a step of the episode."
        )


class Ask:
    """The tool with which the coder hands back to the seeker."""

    name = "ask"
    description = "Ask the investigator for another brief, if you cannot fix the program with what you have."
    arguments = AskArguments


class Seeker(Agent):
    """A small model looks for the fault, and a code model fixes it."""

    version = f"1+{digest(*_PROMPTS, 'text')}"
    needs_model = True
    inline_files = staticmethod(inline_prompts)

    @classmethod
    def configure(cls, *, model: str, config: Mapping[str, Any]) -> Setup:
        """Check the configuration. Raises SetupError without a model or a key, or if a setting or prompt is wrong."""
        if not model:
            raise SetupError("the agent seeker needs a code model: name one with --model")
        settings = read_settings(config, SeekerSettings)
        Prompts(_PROMPTS, settings.prompts)
        identifying = {**identity(config), "seeker": identity(config.get("seeker", {}))}
        return make_setup(identifying, [(settings.seeker_model, _seeker_settings(settings, config)), (model, settings)])

    def __init__(self, *, model: str = "", config: Mapping[str, Any] | None = None, task: Task | None = None) -> None:
        """Send no request yet. Raises SetupError, as `configure` does."""
        super().__init__(model=model, config=config)
        self._settings = settings = read_settings(config or {}, SeekerSettings)
        self._prompts = Prompts(_PROMPTS, settings.prompts)
        self._seeker = Dialogue(settings.seeker_model, _seeker_settings(settings, config or {}), "seeker")
        self._coder = Dialogue(model, settings, "coder")
        self._seeking = True
        self._brief = ""
        self._handing_over = False
        self._views: deque[Action] = deque()
        """Files that still have to be shown to the coder."""
        self._viewing = False
        """Whether the next observation is one of these files."""
        self._files: list[str] = []
        self._briefs = 0
        self._remaining_steps = 0
        """Steps that the seeker still has."""

    def recall(self, past: Sequence[Step]) -> None:
        """Take the next answers from the past steps."""
        exchanges = [exchange for step in past for exchange in step.exchanges]
        self._seeker.recall(exchanges)
        self._coder.recall(exchanges)

    def begin(self, briefing: Briefing, observation: Observation) -> None:
        """Start the seeker's conversation. Raises SetupError if the tool set lacks `view` or `rewrite`."""
        self._briefing = briefing
        has = briefing.tools.tools
        if "view" not in has or "rewrite" not in has:
            raise SetupError(f"the agent seeker needs the tools view and rewrite, and {briefing.tools.name} lacks one")
        self._remaining_steps = max(int(briefing.max_steps * self._settings.seeker_steps), 1)
        brief = Brief(self._settings.brief_chars, self._settings.brief_files)
        # The tools of other servers are for the seeker, too.
        seeker_tools = [name for name in _SEEKER_TOOLS if name in has] + [tool.name for tool in briefing.tools.added]
        syntax = self._seeker.syntax([*map(briefing.tools.find, seeker_tools), brief])
        system, task = self._prompts.render_task(
            ("seeker", "seeker_task"),
            briefing,
            tools=[note for note in describe_tools(briefing.tools) if note["name"] in seeker_tools],
            syntax=syntax.write_help(),
            max_steps=self._remaining_steps,
            limit=self._settings.brief_chars,
            observation=write_first_observation(syntax, observation),
        )
        self._seeker.start(syntax, system, task, briefing.model_seed)

    def act(self, observation: Observation) -> Decision:
        """Return the next action of the model whose turn it is. Raises MalformedAction, EndpointError, SetupError."""
        exchanges: tuple[Exchange, ...] = ()
        try:
            while True:
                if self._viewing:
                    self._files.append(observation.text)
                self._viewing = bool(self._views)
                if self._viewing:
                    thought = self._brief if exchanges else ""
                    return Decision(self._views.popleft(), thought, total(exchanges), exchanges)
                if self._handing_over:
                    observation = self._hand_over()
                dialogue = self._seeker if self._seeking else self._coder
                action, thought, new_exchanges = dialogue.next(observation)
                exchanges += new_exchanges
                if action.tool == "brief":
                    self._read_brief(action.arguments, thought)
                elif action.tool == "ask":
                    observation = self._read_question(action.arguments, thought)
                else:
                    self._count_step(action)
                    return Decision(action, thought, total(exchanges), exchanges)
        except MalformedAction as error:
            raise malformed(str(error), error.output, exchanges + error.exchanges) from None

    def _count_step(self, action: Action) -> None:
        if not self._seeking:
            return
        if not self._remaining_steps:
            raise MalformedAction(
                "Your steps are used up: nothing was done. Write the brief now, with what you know.",
                output=f"{action.tool}({action.arguments})",
            )
        self._remaining_steps -= 1

    def _read_brief(self, arguments: dict[str, Any], output: str) -> None:
        """Take a brief, and note the files to show to the coder. Raises MalformedAction."""
        try:
            self._brief, references = read_brief(arguments, self._settings)
        except ValueError as error:
            raise MalformedAction(str(error), output=output) from None
        self._briefs += 1
        self._seeking, self._handing_over = False, True
        self._views.extend(_view_action(reference) for reference in references)

    def _read_question(self, arguments: dict[str, Any], output: str) -> Observation:
        """Take the coder's question, and return it as the seeker's next observation. Raises MalformedAction."""
        question = str(arguments.get("question", "")).strip()[: self._settings.brief_chars]
        if not question:
            raise MalformedAction("The question is empty: say what to find out.", output=output)
        if self._briefs >= self._settings.briefs:
            raise MalformedAction(
                "No more briefs are available: fix the program with what you have, or submit.", output=output
            )
        self._seeking = True
        return Observation(f"The programmer asks for another brief; files may have been edited:\n{question}")

    def _hand_over(self) -> Observation:
        """Hand over to the coder. Returns the answer to the question it had asked, if any."""
        files, self._files, self._handing_over = self._files, [], False
        has = self._briefing.tools.tools
        if self._briefs == 1:
            ask = [Ask()] if self._settings.briefs > 1 else []
            syntax = self._coder.syntax([*(find_tool(name) for name in _CODER_TOOLS if name in has), *ask])
            system, task = self._prompts.render_task(
                ("coder", "coder_task"),
                self._briefing,
                tools=[note for note in describe_tools(self._briefing.tools) if note["name"] in _CODER_TOOLS],
                syntax=syntax.write_help(),
                limit=self._settings.brief_chars,
                brief=self._brief,
                files=files,
            )
            self._coder.start(syntax, system, task, self._briefing.model_seed)
        return Observation("\n\n".join([self._brief, *files]))


def read_brief(arguments: Mapping[str, Any], settings: SeekerSettings) -> tuple[str, list[str]]:
    """Return the text of a brief and the files that it names. Raises ValueError with the reason for a refusal."""
    text, files = str(arguments.get("text", "")).strip(), str(arguments.get("files", ""))
    references = [reference for reference in re.split(r"[\s,;]+", files) if reference]
    max_files, longest = settings.brief_files, settings.brief_chars
    if not text or not references:
        raise ValueError("A brief needs a text and the files that the programmer must see.")
    if len(text) > longest:
        raise ValueError(f"The brief has {count_of(len(text), 'character')}; the limit is {longest}. Shorten it.")
    if len(references) > max_files:
        raise ValueError(
            f"The brief names {count_of(len(references), 'file')}; the limit is {max_files}. Name only the most "
            "important ones."
        )
    return text, references


def _seeker_settings(settings: SeekerSettings, config: Mapping[str, Any]) -> Settings:
    """Return the seeker's settings: those of both models, overridden by those for the seeker alone."""
    shared = {name: value for name, value in config.items() if name in Settings.model_fields}
    return read_settings({**shared, "price": None, "prompts": {}, **settings.seeker}, Settings)


def _view_action(reference: str) -> Action:
    match = _REFERENCE.match(reference)
    assert match is not None, reference
    if match["start"] is None:
        return Action("view", {"path": reference, "limit": 20_000})
    return Action("view", {"path": match["path"], "start": int(match["start"]), "end": int(match["end"])})
