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
_SHELLS = {"sh", "bash", "dash"}
_COVERAGE_VALUES = {"--source", "--source-pkgs", "--omit", "--include", "--rcfile", "--data-file", "--concurrency"}
"""Options of `coverage run` that may have their value in the next word."""
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
        parts = shlex.split(command)
    except ValueError:
        return None
    if not parts or any(mark in _live(command) for mark in ("|", "&", ";", ">", "<", "$", "`", "\n")):
        return None
    return parts


def pytest_run(command: str) -> Optional[PytestRun]:
    """Return the pytest run of a command line that may also set a folder and variables and run harmless commands.

    None if the line is anything else.
    """
    segments = _segments(command)
    folder = "."
    variables: Dict[str, str] = {}
    test_run: Optional[PytestRun] = None
    for segment in segments or ():
        assigned, argv = _assignments(segment)
        if not argv or argv[0] == "export":
            variables.update(assigned, **_assignments(argv[1:])[0])
        elif argv[0] == "cd" and len(argv) == 2 and test_run is None:
            folder = os.path.normpath(os.path.join(folder, argv[1]))
        elif os.path.basename(argv[0]) in _SHELLS and argv[1:2] == ["-c"] and len(argv) == 3:
            inner = pytest_run(argv[2])
            if inner is None or test_run is not None:
                return None
            inside = os.path.normpath(os.path.join(folder, inner.folder))
            test_run = PytestRun(inner.arguments, inside, {**variables, **assigned, **inner.variables})
        elif argv[0] not in _HARMLESS:
            arguments = _pytest_arguments(argv, assigned)
            if arguments is None or test_run is not None:
                return None
            test_run = PytestRun(arguments, folder, {**variables, **assigned})
    return test_run


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
    argv = segment[1:] if segment[:1] == ["env"] else list(segment)
    variables: Dict[str, str] = {}
    while argv and _ASSIGNMENT.match(argv[0]):
        name, _, value = argv.pop(0).partition("=")
        variables[name] = value
    return variables, argv


def _pytest_arguments(segment: List[str], variables: Dict[str, str]) -> Optional[List[str]]:
    """Return pytest's arguments if that is what the words run. `variables` gets the variables for Python's options."""
    argv = segment
    if (argv[0] in _RUNNERS and argv[1:2] == ["run"]) or (argv[0] == "timeout" and len(argv) > 2):
        argv = argv[2:]
    if argv[1:3] == ["-m", "coverage"] and PYTHON.fullmatch(os.path.basename(argv[0])):
        argv = argv[2:]
    if argv[:2] == ["coverage", "run"]:
        argv = ["python", *_without_options(argv[2:])]
    if argv and argv[0] in ("pytest", "py.test"):
        return argv[1:]
    if not argv or not PYTHON.fullmatch(os.path.basename(argv[0])):
        return None
    argv = argv[1:]
    while argv and argv[0] in ("-B", "-u", "-W", "--branch", "-p"):
        if argv[0] == "-W":
            variables["PYTHONWARNINGS"] = argv[1] if len(argv) > 1 else ""
        argv = argv[2 if argv[0] == "-W" else 1 :]
    return argv[2:] if argv[:2] in (["-m", "pytest"], ["-m", "py.test"]) else None


def _without_options(argv: List[str]) -> List[str]:
    """Return the words of `coverage run` from the program on, which is a module here."""
    while argv and argv[0].startswith("-") and argv[0] != "-m":
        argv = argv[2 if argv[0] in _COVERAGE_VALUES else 1 :]
    return argv
