"""Finds what a model thinks within its text. Nothing in it is an action."""

from __future__ import annotations

import re

_THOUGHT = re.compile(
    # Some servers leave out the opening tag, because it is part of their prompt.
    r"\A(?:(?!<think>|\[THINK\]).)*?(?:</think>|\[/THINK\])"
    r"|<think>.*?(?:</think>|\Z)|\[THINK\].*?(?:\[/THINK\]|\Z)"
    # The channels of gpt-oss and of Gemma.
    r"|<\|channel\|>analysis<\|message\|>.*?(?:<\|end\|>|(?=<\|start\|>)|\Z)"
    r"|<\|channel>thought.*?(?:<channel\|>|\Z)",
    re.DOTALL,
)


def blank_thoughts(text: str) -> str:
    """Return a text with its thoughts replaced by as many empty lines, so that all other lines keep their numbers."""
    return _THOUGHT.sub(lambda thought: "\n" * thought[0].count("\n"), text)
