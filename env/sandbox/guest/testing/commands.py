"""Interprets command lines, as far as the guest has to understand them."""

from __future__ import annotations

import os
import re
import shlex
from typing import Dict, List, NamedTuple, Optional

_SEPARATORS = {"&&", "||", "|", ";", "&"}
_HARMLESS = {"true", ":", "set", "echo", "tee", "tail", "head", "cat"}
_RUNNERS = {"uv", "poetry", "pdm", "pipenv", "hatch"}
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
PYTHON = re.compile(r"python(3(\.\d+)?)?")


_PARTS = re.compile(r"""\\.|"(?:\\.|[^"\\])*"|'[^']*'""", re.DOTALL)


class PytestRun(NamedTuple):
    """A command line that runs pytest once."""

    arguments: List[str]
    folder: str
    """The folder to run in, relative to the workspace."""
    variables: Dict[str, str]

    @property
    def is_plain(self) -> bool:
        """Whether it runs in the workspace's own folder, without variables of its own."""
        return self.folder == "." and not self.variables


def words(command: str) -> Optional[List[str]]:
    """Return the words of a simple command; None if a shell would do more than split it."""
    try:
        found = shlex.split(command)
    except ValueError:
        return None
    if not found or any(mark in _live(command) for mark in ("|", "&", ";", ">", "<", "$", "`", "\n")):
        return None
    return found


def pytest_run(command: str) -> Optional[PytestRun]:
    """Return the pytest run of a command line that may also set a folder and variables and run harmless commands.

    None if the line is anything else.
    """
    segments = _segments(command)
    folder = "."
    variables: Dict[str, str] = {}
    found: Optional[PytestRun] = None
    for segment in segments or ():
        assigned, rest = _assignments(segment)
        if not rest or rest[0] == "export":
            variables.update(assigned, **_assignments(rest[1:])[0])
        elif rest[0] == "cd" and len(rest) == 2 and found is None:
            folder = os.path.normpath(os.path.join(folder, rest[1]))
        elif rest[0] not in _HARMLESS:
            arguments = _pytest_arguments(rest, assigned)
            if arguments is None or found is not None:
                return None
            found = PytestRun(arguments, folder, {**variables, **assigned})
    return found


def pytest_arguments(command: str) -> Optional[List[str]]:
    """Return the arguments of a plain pytest command, or None if the command is something else."""
    run = pytest_run(command) if words(command) else None
    return run.arguments if run is not None and not run.variables else None


def _live(command: str) -> str:
    """Return the command without single-quoted parts: a shell expands nothing there, and test names may have marks."""
    return _PARTS.sub(lambda part: "" if part[0].startswith("'") else part[0], command)


def _segments(command: str) -> Optional[List[List[str]]]:
    """Return the simple commands in a line; None if a shell would expand something."""
    if "$" in _live(command) or "`" in _live(command):
        return None
    lexer = shlex.shlex(command.strip().replace("\n", " ; "), posix=True, punctuation_chars="();<>|&")
    lexer.whitespace_split = True
    lexer.commenters = ""
    segments: List[List[str]] = [[]]
    skip = False
    try:
        for word in lexer:
            if skip:
                skip = False  # the target of a redirection
            elif set(word) <= set("<>&|") and set(word) & set("<>"):
                skip = True
                if segments[-1][-1:] and segments[-1][-1].isdigit():
                    segments[-1].pop()
            elif word in _SEPARATORS:
                segments.append([])
            elif set(word) <= set("()"):
                return None
            else:
                segments[-1].append(word)
    except ValueError:
        return None
    return [segment for segment in segments if segment]


def _assignments(segment: List[str]) -> "tuple[Dict[str, str], List[str]]":
    rest = segment[1:] if segment[:1] == ["env"] else list(segment)
    found: Dict[str, str] = {}
    while rest and _ASSIGNMENT.match(rest[0]):
        name, _, value = rest.pop(0).partition("=")
        found[name] = value
    return found, rest


def _pytest_arguments(segment: List[str], variables: Dict[str, str]) -> Optional[List[str]]:
    """Return pytest's arguments if that is what the words run. `variables` gets the variables for Python's options."""
    rest = segment
    if (rest[0] in _RUNNERS and rest[1:2] == ["run"]) or (rest[0] == "timeout" and len(rest) > 2):
        rest = rest[2:]
    if rest[:2] == ["coverage", "run"]:
        rest = ["python", *rest[2:]]
    if rest and rest[0] in ("pytest", "py.test"):
        return rest[1:]
    if not rest or not PYTHON.fullmatch(os.path.basename(rest[0])):
        return None
    rest = rest[1:]
    while rest and rest[0] in ("-B", "-u", "-W", "--branch", "-p"):
        if rest[0] == "-W":
            variables["PYTHONWARNINGS"] = rest[1] if len(rest) > 1 else ""
        rest = rest[2 if rest[0] == "-W" else 1 :]
    return rest[2:] if rest[:2] in (["-m", "pytest"], ["-m", "py.test"]) else None
