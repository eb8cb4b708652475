"""The prompts: Jinja templates in the folder `prompts`, or the user's own."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox

from stackrank.agents.episode.protocol import Briefing, SetupError
from stackrank.agents.episode.workspace import shows_failure
from stackrank.env.actions import Observation
from stackrank.env.state import State
from stackrank.env.tools import ToolSet
from stackrank.wording import count_of

_FOLDER = Path(__file__).parent / "prompts"
_EXAMPLE: Mapping[str, Any] = {
    **dict.fromkeys(("syntax", "statement", "test_command", "observation", "failing_file"), "a text"),
    **dict.fromkeys(("brief", "question"), "a text"),
    "tools": [{"name": "a name", "description": "a text", "note": "a text"}],
    "files": ["a text"],
    "listing": ["a text"],
    "max_steps": 50,
    "max_tokens": 100_000,
    "failure_shown": True,
    "ends_when_solved": True,
    "limit": 4000,
}
"""What templates can use; only the seeker's have `brief`, `files` and `limit`, the investigator's `question`."""


@functools.cache
def read_built_in(name: str) -> str:
    """The text of a built-in template."""
    return (_FOLDER / f"{name}.j2").read_text(encoding="utf-8")


def digest(*names: str) -> str:
    """A digest that changes when one of these built-in prompts changes."""
    return hashlib.sha256("\0".join(map(read_built_in, names)).encode()).hexdigest()[:8]


def inline_files(prompts: Mapping[str, str], field: str = "prompts") -> dict[str, str]:
    """Return the texts of a configuration field, with every NAME_file replaced by NAME and the content of the file.

    Raises SetupError if a file cannot be read, or if both NAME and NAME_file are given.
    """
    texts = {}
    for key, value in prompts.items():
        name = key.removesuffix("_file")
        if name in texts:
            raise SetupError(f"{field}.{name} and {field}.{name}_file cannot both be set: leave one out")
        try:
            texts[name] = value if name == key else Path(value).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"{field}.{key}: {value} cannot be read ({error})") from None
    return texts


def inline_prompts(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration in which the texts of the prompts replace their files. Raises SetupError."""
    prompts = config.get("prompts")
    return {**config, "prompts": inline_files(prompts)} if isinstance(prompts, dict) else dict(config)


class Prompts:
    """The templates that an agent uses. The user's templates replace the built-in ones."""

    def __init__(self, names: Sequence[str], overrides: Mapping[str, str]) -> None:
        """Raises SetupError if `overrides` has a name that is not in `names`, or if a template is wrong."""
        texts = inline_files(overrides)
        for name in texts:
            if name not in names:
                choices = ", ".join(f"{choice}, {choice}_file" for choice in names)
                raise SetupError(f"there is no prompt prompts.{name}: choose from {choices}")
        self._texts = {name: texts.get(name, read_built_in(name)) for name in names}
        for name in names:
            self.render(name, **_EXAMPLE)

    def render(self, name: str, **values: Any) -> str:
        """Fill in a template. Raises SetupError if it is wrong."""
        return _render(name, self._texts[name], values)

    def render_task(self, names: Sequence[str], briefing: Briefing, **values: Any) -> list[str]:
        """Fill in several templates with what `briefing` says about the task, and with `values`. Raises SetupError."""
        about_task = {
            "statement": briefing.statement,
            "test_command": briefing.test_command,
            "listing": briefing.files,
            "failing_file": briefing.failing_file,
            "max_steps": briefing.max_steps,
            "max_tokens": briefing.max_tokens,
            "failure_shown": briefing.failure_shown,
            "ends_when_solved": briefing.ends_when_solved,
        }
        return [self.render(name, **{**about_task, **values}) for name in names]


def render(name: str, **values: Any) -> str:
    """Fill in a built-in template."""
    return _render(name, read_built_in(name), values)


@functools.lru_cache(64)
def _compiled(text: str) -> jinja2.Template:
    """Compile a template: it takes a hundred times as long as filling it in, and all episodes use the same ones."""
    return jinja2.sandbox.SandboxedEnvironment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).from_string(text)


def _render(name: str, text: str, values: Mapping[str, Any]) -> str:
    try:
        return _compiled(text).render(**values).strip()
    except Exception as error:  # a template is the user's program and may raise anything
        raise SetupError(f"the template of the {name} prompt is wrong: {error}") from None


def describe_tools(tools: ToolSet) -> Sequence[dict[str, str]]:
    """Return what a prompt says about each tool: its name, what it does, and when it becomes available."""
    locked = dict(tools.after_rewrites)
    return [
        {
            "name": name,
            "description": tools.find(name).description,
            "note": f"becomes available after {count_of(locked[name], 'successful rewrite')}" if name in locked else "",
        }
        for name in tools.tools
    ]


def describe_start(tools: ToolSet, first: State) -> dict[str, Any]:
    """Return values for prompts of an episode whose first observation already says which files there are.

    `first`: the state of that observation.
    """
    shown = {"listing": [], "failing_file": "", "failure_shown": shows_failure(first)}
    return {"tools": describe_tools(tools), **shown}


def with_budget_left(observation: Observation, steps: int, briefing: Briefing) -> Observation:
    """Return an observation that says what is left of each limit, once half of it is used up.

    `steps`: how many were used.
    """
    left = []
    if steps * 2 >= briefing.max_steps:
        left.append(f"[steps left: {max(briefing.max_steps - steps, 0)}]")
    if briefing.max_tokens is not None and briefing.remaining_tokens is not None:
        tokens = briefing.remaining_tokens()
        if tokens * 2 <= briefing.max_tokens:
            left.append(f"[tokens left: {tokens:,}]")
    return replace(observation, text="\n".join((observation.text, *left))) if left else observation
