"""Reads a typed line as an action."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from stackrank.env.actions import Action
from stackrank.env.tools import ToolSet
from stackrank.env.tools.base import descriptions, schema
from stackrank.errors import StackrankError

USAGE = {
    "view": "view PATH [FIRST [LAST]]",
    "listdir": "listdir [PATH [DEPTH]]",
    "grep": "grep [-i] PATTERN [PATH [GLOB]]     (quote a pattern with spaces)",
    "rewrite": "rewrite PATH [FIRST [LAST]]     then the new lines, and a line with a single dot",
    "pdb": "pdb [test=WHAT] COMMAND     for instance: pdb b cart.py:12    pdb c    pdb p total",
    "bash": "bash [timeout_s=SECONDS] COMMAND",
    "terminal": "terminal [key=KEYS] [wait=prompt] [pattern=PATTERN] [TEXT]     for instance: terminal gdb a.out",
    "eval": "eval [verbose] [TEST]",
    "branch": "branch STEP     go back to how everything was after this step",
    "submit": "submit",
}
META_COMMANDS = {
    "help [TOOL]": "show this help, or the details of one tool",
    "# TEXT": "record a thought with the next action",
    "quit": "give up (or press Ctrl-D); the files are scored as they are",
}
PDB = (
    "break", "tbreak", "clear", "continue", "next", "step", "return", "until", "where", "up", "down", "list",
    "longlist", "args", "p", "pp", "display",
)  # fmt: skip
_TEXTS = ("command", "text")
"""Arguments that are a text, which is taken unchanged. Other arguments come before it."""
_OPTION = re.compile(r"""(\w+)=(?:"([^"]*)"|'([^']*)'|(\S+))(?:\s+|$)""")
_FILE = re.compile(r"(?<![\w.-])[\w-][\w./-]*\.[A-Za-z]\w{0,4}\b(?!\()")


class UnclearInput(StackrankError):
    """The line is not an action; the message says what to type instead."""


def usage(name: str, tools: ToolSet) -> str:
    """Return how a tool is typed. The tools of plug-ins and servers take their arguments by name."""
    if name in USAGE:
        return USAGE[name]
    text = _text_argument(name, tools)
    options = [f"{argument}=VALUE" for argument in schema(tools.find(name))["properties"] if argument != text]
    return " ".join([name, *(f"[{option}]" if text else option for option in options), text.upper()]).strip()


def help_text(tools: ToolSet, name: str = "") -> str:
    """Return what can be typed, or how one tool is used. Raises UnclearInput for an unknown tool."""
    if not name:
        usages = [usage(tool_name, tools) for tool_name in tools.tools]
        return "\n".join([*usages, *(f"{line:<12}{meaning}" for line, meaning in META_COMMANDS.items())])
    if name not in tools.tools:
        raise UnclearInput(f"there is no tool {name!r} here: {', '.join(tools.tools)}")
    tool = tools.find(name)
    fields = [f"  {tool_name}: {described}" for tool_name, described in descriptions(schema(tool)).items()]
    return "\n".join([usage(name, tools), tool.description, *fields])


def read_action(line: str, tools: ToolSet, read_code: Callable[[], str]) -> Action:
    """Return the action that a line means; `read_code` reads the code that belongs to it. Raises UnclearInput."""
    name, _, typed = line.strip().partition(" ")
    typed = typed.strip()
    if name not in tools.tools:
        raise UnclearInput(f"there is no tool {name!r} here: {', '.join(tools.tools)}; `help` shows how to type them")
    if text := _text_argument(name, tools):
        arguments = _text(typed, text, schema(tools.find(name))["properties"].keys())
        if name != "terminal" and "command" not in arguments:
            raise UnclearInput(f"usage: {usage(name, tools)}")
        return Action(name, arguments)
    try:
        words = shlex.split(typed)
        arguments = _PARSERS[name](words) if name in _PARSERS else _by_name(tools, name, words)
    except ValueError:
        raise UnclearInput(f"usage: {usage(name, tools)}") from None
    if name == "rewrite":
        arguments["new_code"] = read_code()
    return Action(name, arguments)


def _text_argument(name: str, tools: ToolSet) -> str:
    body = "" if name in _PARSERS else tools.find(name).arguments.body
    return body if body in _TEXTS else ""


def _lines(words: Sequence[str], *, path: str, numbers: Sequence[str]) -> dict[str, Any]:
    """Parse a path and whole numbers, any of which may be missing at the end."""
    if len(words) > 1 + len(numbers):
        raise ValueError
    arguments: dict[str, Any] = {path: words[0]} if words else {}
    return arguments | {name: int(word) for name, word in zip(numbers, words[1:], strict=False)}


def _range(words: Sequence[str]) -> dict[str, Any]:
    if not words:
        raise ValueError
    return _lines(words, path="path", numbers=("start", "end"))


def _grep(words: Sequence[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {"ignore_case": True} if "-i" in words else {}
    texts = [word for word in words if word != "-i"]
    if not 1 <= len(texts) <= 3:
        raise ValueError
    return arguments | dict(zip(("pattern", "path", "glob"), texts, strict=False))


def _text(typed: str, body: str, names: Collection[str]) -> dict[str, Any]:
    """Parse options, and take the rest of the line unchanged as the text."""
    arguments: dict[str, Any] = {}
    while (option := _OPTION.match(typed)) and option[1] in names and option[1] != body:
        arguments[option[1]] = option[2] or option[3] or option[4] or ""
        typed = typed[option.end() :]
    return arguments | ({body: typed} if typed else {})


def _eval(words: Sequence[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {"verbose": True} if "verbose" in words else {}
    tests = [word for word in words if word != "verbose"]
    if len(tests) > 1:
        raise ValueError
    return arguments | ({"test": tests[0]} if tests else {})


def _step(words: Sequence[str]) -> dict[str, Any]:
    (number,) = words
    return {"at": int(number)}


def _nothing(words: Sequence[str]) -> dict[str, Any]:
    if words:
        raise ValueError
    return {}


def _by_name(tools: ToolSet, name: str, words: Sequence[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    properties = schema(tools.find(name))["properties"]
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in properties:
            raise ValueError
        try:
            arguments[key] = json.loads(value)
        except ValueError:
            arguments[key] = value
    return arguments


_PARSERS: dict[str, Callable[[Sequence[str]], dict[str, Any]]] = {
    "view": _range,
    "rewrite": _range,
    "listdir": lambda words: _lines(words, path="path", numbers=("depth",)),
    "grep": _grep,
    "eval": _eval,
    "branch": _step,
    "submit": _nothing,
}


def files_in(text: str) -> list[str]:
    """Return the names of the files that a text mentions."""
    return list(dict.fromkeys(match.removeprefix("workspace/") for match in _FILE.findall(text)))


def suggestions(words: Sequence[str], tools: ToolSet, files: Iterable[str]) -> list[str]:
    """Return the completions of the word that follows `words`."""
    if not words:
        return [*tools.tools, *(command.split()[0] for command in META_COMMANDS if command[0] != "#")]
    if words[0] == "help":
        return list(tools.tools) if len(words) == 1 else []
    if words[0] == "pdb" and len(words) == 1:
        return list(PDB)
    if words[0] == "grep" and len(words) == 1:
        return []
    return sorted(files)
