"""Finds the tool that a call names, whatever a model or a server put around its name."""

from __future__ import annotations

import re
from collections.abc import Iterable

_BEFORE = re.compile(r"\A.*\bto=|\A[\s\"'`]+|\A(?:functions|tools|default_api)[.:]", re.DOTALL)
_MOST_CHARACTERS = 2000
_KIMI = re.compile(r"\Afunctions_(.+)_\d+\Z")
_AFTER = re.compile(r"<\|.*\Z|\[ARGS\].*\Z|(?::\d+|\(\)|[\s\"'`])+\Z", re.DOTALL)
"""What models and servers put around a tool's name: a module, the model's special tokens, the number of the call."""


def find_name(said: str, names: Iterable[str]) -> str | None:
    """Return the name that `said` means; None if it is none of them, or may be several."""
    names = list(names)
    if said in names:
        return said
    if len(said) > _MOST_CHARACTERS:
        return None
    said = _KIMI.sub(r"\1", said.strip())
    plain = _BEFORE.sub("", _BEFORE.sub("", _AFTER.sub("", said)))
    if plain in names:
        return plain
    matches = [name for name in names if _fold(name) == _fold(plain)]
    if not matches:
        # A server may repeat the name with each piece of a call, or send it from its beginning each time.
        matches = [name for name in names if _consists_of_beginnings(plain, name)]
    return matches[0] if len(matches) == 1 else None


def _fold(name: str) -> str:
    return re.sub(r"[-_]", "", name).lower()


def _consists_of_beginnings(text: str, name: str) -> bool:
    """Return whether a text ends with a name and consists of beginnings of it."""
    if not text.endswith(name) or len(text) > 100 * len(name):
        return False
    reached = {0}
    for start in range(len(text) - len(name)):
        if start in reached:
            for length in range(1, len(name) + 1):
                if not name.startswith(text[start : start + length]):
                    break
                reached.add(start + length)
    return len(text) - len(name) in reached
