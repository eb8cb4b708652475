"""Chooses the tests that an agent names."""

from __future__ import annotations

import difflib
import os
import re
from typing import Any, Collection, List, Set, Tuple

from ..core.files import Refused
from ..testing.ids import before_parameters, path_of
from .places import find_file

_CLOSE = 5
_LINE = re.compile(r"\.py:\d+$")


def outcome_of(report: Any) -> str:
    """Return the outcome in pytest's report of a test: `xfailed` for a failure that the test expects."""
    return "xfailed" if report.outcome == "skipped" and hasattr(report, "wasxfail") else str(report.outcome)


def dotted(test: str) -> str:
    """Return the id of a test as tools name functions: `package.module.Class.method`."""
    return test.replace(".py::", ".").replace("::", ".").replace("/", ".")


def choose(collected: List[str], name: str) -> Set[str]:
    """Return the tests that an id, the beginning of one, a file or a name stands for. Raises Refused."""
    name = os.path.normpath(path_of(name)) + name[len(path_of(name)) :]
    if not name.isascii() and name not in collected:  # pytest escapes parameters
        function = before_parameters(name)
        name = function + name[len(function) :].encode("unicode_escape").decode("ascii")
    path_end = re.compile(r"/%s(?:\Z|\[|::)" % re.escape(name))
    ways = (
        lambda test: test == name,
        lambda test: test.startswith((name + "[", name + "::")) or test.rstrip("/").startswith(name + "/"),
        lambda test: path_end.search("/" + test) is not None,
        lambda test: test.endswith("::" + name),
        lambda test: ("." + dotted(test)).endswith("." + name),
        lambda test: ("::" + name + "[") in test or ("::" + name + "::") in test,
    )
    for way in ways:
        matching = {test for test in collected if way(test)}
        if matching:
            return matching
    close = difflib.get_close_matches(name, collected, _CLOSE, 0.5) or collected[:_CLOSE]
    hint = "the closest are %s" % ", ".join(close) if close else "no tests were found"
    raise Refused("no test %s: %s" % (name, hint))


def file_of(root: str, name: str) -> str:
    """Return the file or folder with the tests that a name stands for; empty if all may have them. Raises Refused."""
    file = path_of(name)
    if not name or os.path.exists(file):
        return file
    if _LINE.search(file):
        raise Refused("%s is a line and not a test: name a test as in tests/test_x.py::test_y" % file)
    if "/" in before_parameters(file) or file.endswith(".py"):
        find_file(root, file)
    return ""


class Collected:
    """The files that pytest could not import. They concern nobody who asked for tests of other files."""

    def __init__(self) -> None:
        self.failures: List[Tuple[str, BaseException]] = []
        self._most_failures = 0

    def begin(self, config: Any) -> None:
        """Let pytest collect all files, whatever fails."""
        self._most_failures, config.option.maxfail = config.option.maxfail, 0

    def end(self, config: Any) -> None:
        """Let pytest stop after failures as before."""
        config.option.maxfail = self._most_failures

    def explain(self, name: str, refused: Refused) -> List[str]:
        """Return a note about a test that none of the other files has."""
        path = os.path.normpath(path_of(name))
        is_failure = any(failed == path or failed.startswith(path + "/") for failed, _ in self.failures)
        return [] if is_failure or not self.failures else ["in the files that can be imported, there is %s" % refused]

    def leave_out_failures(self, session: Any, told: Collection[str] = ()) -> List[str]:
        """Let the tests run although files could not be imported. Returns a note about those that were not `told`."""
        session.testsfailed = 0
        session.config.option.continue_on_collection_errors = True
        names = list(dict.fromkeys(name for name, _ in self.failures if name not in told))
        return ["left out, as it cannot be imported: %s" % ", ".join(names[:_CLOSE])] if names else []
