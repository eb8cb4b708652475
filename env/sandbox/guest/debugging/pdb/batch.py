"""Splits what an agent wrote for the debugger into commands; lines of code that belong together stay together."""

from __future__ import annotations

import codeop
import re
import textwrap
import warnings
from typing import List

_COMMANDS = {
    "a", "alias", "args", "b", "break", "bt", "c", "cl", "clear", "commands", "condition", "cont", "continue", "d",
    "debug", "disable", "display", "down", "enable", "end", "exceptions", "exit", "h", "help", "ignore",
    "interact", "j", "jump", "l", "list", "ll", "longlist", "n", "next", "p", "pp", "q", "quit", "r", "restart",
    "return", "retval", "run", "rv", "s", "silent", "source", "step", "tbreak", "u", "unalias", "undisplay", "unt",
    "until", "up", "w", "whatis", "where",
}  # fmt: skip
WITHOUT_ARGUMENT = {
    "a", "args", "c", "cont", "continue", "exit", "ll", "longlist", "n", "next", "q", "quit", "r", "restart", "retval",
    "return", "run", "rv", "s", "step",
}  # fmt: skip
"""The commands that ignore what follows them."""
_OF_EXPRESSIONS = ("p", "pp", "whatis", "display")
_PROMPT = re.compile(r"^\s*\((?:Pdb|com|Pdb\+\+)\) ?")
_WORD = re.compile(r"[A-Za-z_]\w*")
_ASSIGNMENT = re.compile(r"\s*(?::[^=]+)?(?:[-+*/%&|^@]|//|\*\*|<<|>>)?=(?!=)")
_OPERATOR = re.compile(r"[([.]|\s*(?:[=!]=|[<>,*/%|&^])")
"""Matches what may follow a name but cannot begin a command's argument. (`u -1` is a command.)"""
_INDENT = re.compile(r"^[ \t]+")
_COMPOUND = re.compile(r"(?:async|class|def|for|if|match|try|while|with|@)\b.*|.*:$")
_PIECE = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|;;|.""")
"""A text in quotes, what separates two commands, or another character."""
_BEFORE_SEMICOLON = re.compile(r"\s*(%s)\s*;" % "|".join(sorted(WITHOUT_ARGUMENT, key=len, reverse=True)))
_CLAUSE = re.compile(r"(?:else|elif|except|finally|case)\b")


def commands_of(text: str) -> List[str]:
    """Return the commands in a text, each of one or several lines.

    Code continues until it compiles, and is marked with `!`, so that pdb does not take its first word for a command.
    `n = 5` and `next(rows)` are marked too, because pdb before 3.13 would see its commands `n` and `next` in them.
    """
    lines = [_PROMPT.sub("", line.rstrip("\r")) for line in text.split("\n")]
    lines = [_INDENT.sub(lambda blank: blank[0].expandtabs(8), line) for line in lines]
    lines = textwrap.dedent("\n".join(lines)).split("\n")
    commands: List[str] = []
    position = 0
    while position < len(lines):
        line = lines[position].strip()
        position += 1
        if not line or line.startswith("#"):
            continue
        parts = _split(line)
        if parts != [line]:
            position -= 1
            blank = lines[position][: _depth(lines[position])]
            lines[position : position + 1] = [blank + part for part in parts]
            continue
        code, prefix = _code(line)
        if not code:
            commands.append(line)
            continue
        block = [code]
        indent = _depth(lines[position - 1])
        opened = position < len(lines) and (_unfinished(code) or bool(_COMPOUND.match(code)))
        while position < len(lines) and (
            _unfinished("\n".join(block)) or (opened and _goes_on(lines, position, indent))
        ):
            block.append(lines[position][min(indent, _depth(lines[position])) :])
            position += 1
        commands.append(prefix + "\n".join(block).rstrip())
    return commands


def _split(line: str) -> List[str]:
    """Return the commands of a line: pdb separates them by `;;`. `n; n` means the same, as `n` takes no argument."""
    if ";" not in line or line.startswith("alias "):
        return [line]
    if compiles(line.lstrip("!")) and not _BEFORE_SEMICOLON.match(line):
        return [line]
    parts = [""]
    for piece in _PIECE.findall(line):
        if piece == ";;":
            parts.append("")
        else:
            parts[-1] += piece
    commands: List[str] = []
    for part in parts:
        rest = part
        while match := _BEFORE_SEMICOLON.match(rest):
            commands.append(match[1])
            rest = rest[match.end() :]
        commands.append(rest.strip())
    return [command for command in commands if command]


def _code(line: str) -> "tuple[str, str]":
    """Return the Python code of a line and the command before it; no code if the line is another pdb command."""
    if line.startswith("!"):
        return line[1:].strip(), "!"
    if line == "?":
        return "", ""
    word = _WORD.match(line)
    name, argument = (word[0], line[word.end() :]) if word else ("", line)
    if name in _COMMANDS and not _ASSIGNMENT.match(argument):
        if name in _OF_EXPRESSIONS:
            return (argument.strip(), name + " ") if argument.strip() else ("", "")
        if name in ("q", "quit", "exit") or not (_OPERATOR.match(argument) and (compiles(line) or _unfinished(line))):
            return "", ""
    # A plain line stays as it was written; a name alone may be an alias. pdb takes `länge` for its command `l`.
    is_plain = name not in _COMMANDS and name.isascii() and compiles(line)
    return line, "!" if not is_plain and (compiles(line) or _unfinished(line) or _COMPOUND.match(line)) else ""


def _goes_on(lines: List[str], position: int, indent: int) -> bool:
    """Whether the next non-empty line belongs to the statement before it."""
    following = next((line for line in lines[position:] if line.strip()), "")
    return bool(following) and (_depth(following) > indent or bool(_CLAUSE.match(following.strip())))


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def compiles(code: str) -> bool:
    """Whether a text is complete Python code."""
    return _state(code) == "whole"


def _unfinished(code: str) -> bool:
    return _state(code) == "unfinished"


def _state(code: str) -> str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return "whole" if codeop.compile_command(code, "<stdin>", "exec") is not None else "unfinished"
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        return "wrong"
