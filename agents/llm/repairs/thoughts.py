"""Finds what a model thinks within its text. Nothing in it is an action."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator

_THOUGHTS = (
    (r"<think>", r"</think>"),
    (r"\[THINK\]", r"\[/THINK\]"),
    # The channels of gpt-oss and of Gemma.
    (r"<\|channel\|>analysis<\|message\|>", r"<\|end\|>|(?=<\|start\|>)"),
    (r"<\|channel>thought", r"<channel\|>"),
)
"""How thoughts begin and end."""
_OPENING = re.compile("|".join(f"({opening})" for opening, _ in _THOUGHTS))
_ENDINGS = [re.compile(ending) for _, ending in _THOUGHTS]
_UNOPENED = re.compile(r"</think>|\[/THINK\]")
"""Some servers leave out the opening tag, because it is part of their prompt."""


def blank_thoughts(text: str, find_code: Callable[[str], Collection[int]] = lambda _: ()) -> str:
    """Return a text with its thoughts replaced by as many empty lines, so that all other lines keep their numbers.

    `find_code`: returns the numbers, from 0, of the lines that are code. A tag there does not open a thought, nor does
    it end one that was not opened.
    """
    code = find_code(text)
    opening, unopened = _first(_OPENING, text, code), _first(_UNOPENED, text, code)
    if unopened is not None and (opening is None or unopened.start() < opening.start()):
        text = _blank(text, 0, unopened.end())
    elif opening is not None:
        text = _blank(text, opening.start(), _end_of(opening, text))
    else:
        return text
    # Fences in the first thought are gone now. The later ones are few, and rarely hold any.
    code = find_code(text)
    parts: list[str] = []
    at = 0
    for opening in _outside(_OPENING, text, code):
        if opening.start() >= at:
            stop = _end_of(opening, text)
            parts += [text[at : opening.start()], "\n" * text.count("\n", opening.start(), stop)]
            at = stop
    return "".join([*parts, text[at:]])


def _end_of(opening: re.Match[str], text: str) -> int:
    ending = _ENDINGS[(opening.lastindex or 1) - 1].search(text, opening.end())
    return ending.end() if ending else len(text)


def _blank(text: str, start: int, stop: int) -> str:
    return text[:start] + "\n" * text.count("\n", start, stop) + text[stop:]


def _first(pattern: re.Pattern[str], text: str, code: Collection[int]) -> re.Match[str] | None:
    return next(_outside(pattern, text, code), None)


def _outside(pattern: re.Pattern[str], text: str, code: Collection[int]) -> Iterator[re.Match[str]]:
    """Yield the matches outside of code."""
    line = at = 0
    for match in pattern.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if line not in code:
            yield match
