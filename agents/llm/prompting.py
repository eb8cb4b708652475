"""The prompts: Jinja templates beside this file, or the user's own."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jinja2
import jinja2.sandbox

from stackrank.agents.episode.protocol import SetupError
from stackrank.env.tools import ToolSet

_FOLDER = Path(__file__).parent / "prompts"
_EXAMPLE: Mapping[str, Any] = {
    **dict.fromkeys(("syntax", "statement", "test_command", "observation", "failing_file"), "a text"),
    **dict.fromkeys(("brief", "question"), "a text"),
    "tools": [{"name": "a name", "description": "a text", "note": "a text"}],
    "files": ["a text"],
    "listing": ["a text"],
    "max_steps": 50,
    "ends_when_solved": True,
    "limit": 4000,
}
"""What templates can use: the seeker's also `brief`, `files` and `limit`, the investigator's `question`."""


@functools.cache
def built_in(name: str) -> str:
    """The text of a built-in template."""
    return (_FOLDER / f"{name}.j2").read_text(encoding="utf-8")


def digest(*names: str) -> str:
    """A digest that changes when one of these built-in prompts changes."""
    return hashlib.sha256("\0".join(map(built_in, names)).encode()).hexdigest()[:8]


def inlined(prompts: Mapping[str, str], field: str = "prompts") -> dict[str, str]:
    """The texts of a field of a configuration, with every NAME_file replaced by NAME and what is in the file.

    Raises SetupError for a file that cannot be read, and where both are given.
    """
    texts = {}
    for key, value in prompts.items():
        name = key.removesuffix("_file")
        if name in texts:
            raise SetupError(f"{field}.{name} and {field}.{name}_file are alternatives: leave one out")
        try:
            texts[name] = value if name == key else Path(value).expanduser().read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SetupError(f"{field}.{key}: {value} cannot be read ({error})") from None
    return texts


def portable(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with the texts of its prompts in the place of their files. Raises SetupError."""
    prompts = config.get("prompts")
    return {**config, "prompts": inlined(prompts)} if isinstance(prompts, dict) else dict(config)


class Prompts:
    """The templates that an agent uses. The user's templates replace the built-in ones."""

    def __init__(self, names: Sequence[str], own: Mapping[str, str]) -> None:
        """Raises SetupError for a name that is none of these, and for a template that is wrong."""
        texts = inlined(own)
        for name in texts:
            if name not in names:
                known = ", ".join(f"{each}, {each}_file" for each in names)
                raise SetupError(f"there is no prompt prompts.{name}: known are {known}")
        self._texts = {name: texts.get(name, built_in(name)) for name in names}
        for name in names:
            self.render(name, **_EXAMPLE)

    def render(self, name: str, **values: Any) -> str:
        """Fill a template in. Raises SetupError when it is wrong."""
        return _render(name, self._texts[name], values)


def render(name: str, **values: Any) -> str:
    """Fill a built-in template in."""
    return _render(name, built_in(name), values)


@functools.lru_cache(64)
def _compiled(text: str) -> jinja2.Template:
    """To compile a template takes a hundred times as long as to fill it in, and every episode fills in the same."""
    return jinja2.sandbox.SandboxedEnvironment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    ).from_string(text)


def _render(name: str, text: str, values: Mapping[str, Any]) -> str:
    try:
        return _compiled(text).render(**values).strip()
    except Exception as error:  # a template is a program of the user's: whatever it raises is its own
        raise SetupError(f"the template of the {name} prompt is wrong: {error}") from None


def notes(tools: ToolSet) -> Sequence[dict[str, str]]:
    """What a prompt says about each tool: its name, what it does, and when it becomes available."""
    locked = dict(tools.after_rewrites)
    return [
        {
            "name": name,
            "description": tools.find(name).description,
            "note": f"becomes available after {locked[name]} successful rewrites" if name in locked else "",
        }
        for name in tools.tools
    ]
