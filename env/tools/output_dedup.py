"""Finds what pdb's output shows already, so that the text below it need not repeat that."""

from __future__ import annotations

import re
from typing import Literal

Kind = Literal["stack", "source", "locals"]

_ECHO = re.compile(r"^\(Pdb\) (.*)$", re.MULTILINE)
_CUT = re.compile(r"^\[\.\.\. [\d,]+ characters omitted", re.MULTILINE)
_STACK = frozenset({"w", "where", "bt"})
_SOURCE = frozenset({"l", "list", "ll", "longlist"})
_LOCALS = frozenset({"p locals()", "pp locals()"})
# After these commands, the program stands where it stood before.
_LOOKS = _STACK | _SOURCE | {
    "p", "pp", "whatis", "a", "args", "rv", "retval", "display", "source", "b", "break", "tbreak", "cl", "clear",
    "condition", "ignore", "enable", "disable", "h", "help",
}  # fmt: skip


def find_repeated(output: str, line: int) -> frozenset[Kind]:
    """Return what the last commands showed in full about the place where the program stands.

    `output`: pdb's output, each command after its prompt, as it is for several commands. `line`: the current line.
    """
    kinds: set[Kind] = set()
    _, *parts = _ECHO.split(output)
    for command, answer in reversed([*zip(parts[::2], parts[1::2], strict=True)]):
        word = command.split(" ")[0]
        if word not in _LOOKS:
            break  # the command may have moved the program or changed a variable
        if _CUT.search(answer):
            continue
        if word in _STACK:
            kinds.add("stack")
        elif word in _SOURCE and re.search(rf"^ *{line} *B?(?:->|>>)\t", answer, re.MULTILINE):
            kinds.add("source")
        elif command.strip() in _LOCALS:
            kinds.add("locals")
    return frozenset(kinds)
