"""Reads test results from what a test command other than pytest printed.

The code under test can print the same: unlike a report (`env.scoring.report`), such results do not protect against an
agent that forges them. The parsers of the `swebench` package are used if it is installed. Other packages add formats
by the entry point group `stackrank.log_formats`: functions from the output to each test's outcome. If a format is to be
read in another way, it needs another name, because the name is part of a task's digest.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import json
import logging
import re
import resource
import sys
import types
from collections.abc import Callable
from typing import Any

from stackrank.host import programs
from stackrank.plugins import load_plugin, plugin_names
from stackrank.storable import storable_json

log = logging.getLogger(__name__)

Outcomes = dict[str, str]
GROUP = "stackrank.log_formats"

LINE_CAP = 2000
"""How many characters of a line are read: the patterns below, and those of `swebench`, are too slow on longer lines."""

_MOST_CPU_S, _MOST_BYTES = 60, 4 << 30
"""The processor time and memory that reading an output may take."""

SYMPY = "sympy"
UNITTEST = "unittest"
_STATUS = {"PASSED": "passed", "FAILED": "failed", "ERROR": "failed", "SKIPPED": "skipped", "XFAIL": "xfailed"}


def read_log(format: str, output: str) -> Outcomes:
    """Return test id -> passed, failed, skipped or xfailed; empty if the output shows no result, or is not whole.

    The code under test can print what makes a reader fail, or search for hours. So it reads in a process of its own,
    and an output that it does not survive shows no result.

    `format`: our own, that of a plug-in, or `swebench:` and a parser. Raises PluginError.
    """
    _reader(format)
    ended = programs.run(programs.python("-m", __name__, format), stdin=output.encode("utf-8", "surrogatepass"))
    if ended.status:
        reason = (ended.error_text.strip().splitlines() or [f"status {ended.status}"])[-1]
        log.warning("the output of the tests cannot be read as %s: %s", format, reason[:200])
        return {}
    outcomes: Outcomes = storable_json(json.loads(ended.output))
    return outcomes


def _reader(format: str) -> Callable[[str], Outcomes]:
    """Return the function that reads a format. Raises PluginError."""
    if (read := load_plugin(GROUP, format)) is not None:
        return lambda output: dict(read(output))
    kind, _, name = format.partition(":")
    if kind != "swebench":
        own = _OWN[kind]
        return lambda output: own(_cut(output))
    statuses = swebench_parsers()[name]
    return lambda output: {
        test: _STATUS.get(str(status), "failed") for test, status in statuses(_cut(output), None).items()
    }


def _cut(output: str) -> str:
    return "".join(line[:LINE_CAP] + line[LINE_CAP:][-1:] for line in output.splitlines(keepends=True))


def log_formats() -> list[str]:
    """Return the names of our own formats and those of plug-ins."""
    return [*_OWN, *plugin_names(GROUP)]


def format_for(repository: str, parser: str, command: str) -> str:
    """Return the format of a SWE-bench repository's test output; empty for pytest, or if the format is unknown."""
    if parser in plugin_names(GROUP):
        return parser
    if "pytest" in command or "py.test" in command:
        return ""
    parsers = swebench_parsers()
    for name in (parser, repository):
        if name in parsers:
            return f"swebench:{name}"
    if re.search(r"\bbin/test\b", command):
        return SYMPY
    return UNITTEST if re.search(r"\bunittest\b|runtests\.py|manage\.py test", command) else ""


@functools.cache
def swebench_parsers() -> dict[str, Callable[[str, Any], dict[str, str]]]:
    """Return the parsers of the `swebench` package by name and by repository; none if it is not installed."""
    parsers: dict[str, Any] = {}
    names = ("PARSER_REGISTRY", "MAP_REPO_TO_PARSER", "MAP_REPO_TO_PARSER_PY")
    for module in map(swebench_module, ("log_parsers", "log_parsers.python")):
        for name in names:
            parsers |= getattr(module, name, {})
    return parsers


def swebench_module(name: str) -> types.ModuleType | None:
    """Return a module of the `swebench` package's harness; None if it, or a package that it needs, is not installed."""
    if not _find_swebench():
        return None
    try:
        return importlib.import_module(f"swebench.harness.{name}")
    except ImportError:
        return None


@functools.cache
def _find_swebench() -> bool:
    """Make the package importable without the hub and cloud clients that it imports but no log needs."""
    spec = importlib.util.find_spec("swebench")
    if spec is None or not spec.submodule_search_locations:
        return False
    for name, folder in (("swebench", ""), ("swebench.harness", "/harness")):
        package = types.ModuleType(name)
        package.__path__ = [f"{place}{folder}" for place in spec.submodule_search_locations]
        sys.modules.setdefault(name, package)
    return True


def _sympy(output: str) -> Outcomes:
    """Read `bin/test --verbose`: per function a line `test_name ok`, or with f (expected failure), F, E, s, w, X."""
    words = {
        "ok": "passed",
        "f": "xfailed",
        "F": "failed",
        "E": "failed",
        "X": "failed",
        "s": "skipped",
        "w": "skipped",
    }
    outcomes: Outcomes = {}
    for line in output.splitlines():
        match = re.match(r"\s*(test_\w+)\b.*?\s(ok|[fFEXsw])(?:\s*\[(?:OK|FAIL)\])?\s*$", line)
        # If several files have a test of this name, the worst outcome counts.
        if match and outcomes.get(match[1]) != "failed":
            outcomes[match[1]] = words[match[2]]
    return outcomes


def _unittest(output: str) -> Outcomes:
    """Read the output of `unittest -v` and of Django's runner: `test_name (module.Class) ... ok`."""
    words = {"ok": "passed", "FAIL": "failed", "ERROR": "failed", "expected failure": "xfailed"}
    outcomes: Outcomes = {}
    for match in re.finditer(
        r"^(\w+ \([\w.]+\)).*?\.\.\. .*?(ok|FAIL|ERROR|expected failure|skipped|unexpected success)\b", output, re.M
    ):
        if outcomes.get(match[1]) != "failed":
            outcomes[match[1]] = words.get(match[2], "skipped" if match[2] == "skipped" else "failed")
    return outcomes


_OWN: dict[str, Callable[[str], Outcomes]] = {SYMPY: _sympy, UNITTEST: _unittest}


def _main() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_CPU_S, _MOST_CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_BYTES, _MOST_BYTES))
    output = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
    json.dump(_reader(sys.argv[1])(output), sys.stdout)


if __name__ == "__main__":
    _main()
