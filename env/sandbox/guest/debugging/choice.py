"""Chooses the tests that an agent names."""

from __future__ import annotations

import difflib
import os
from typing import Any, List, Set

from ..core.files import Refused
from ..testing.ids import before_parameters, path_of

_CLOSE = 5


def outcome_of(report: Any) -> str:
    """Return the outcome in pytest's report of a test: `xfailed` for a failure that the test expects."""
    return "xfailed" if report.outcome == "skipped" and hasattr(report, "wasxfail") else str(report.outcome)


def choose(collected: List[str], name: str) -> Set[str]:
    """Return the tests that an id, the beginning of one, a file or a name stands for. Raises Refused."""
    name = os.path.normpath(path_of(name)) + name[len(path_of(name)) :]
    if not name.isascii() and name not in collected:  # pytest escapes parameters
        function = before_parameters(name)
        name = function + name[len(function) :].encode("unicode_escape").decode("ascii")
    ways = (
        lambda test: test == name,
        lambda test: test.startswith((name + "[", name + "::")) or test.rstrip("/").startswith(name + "/"),
        lambda test: test.endswith("::" + name),
        lambda test: ("::" + name + "[") in test or ("::" + name + "::") in test,
    )
    for way in ways:
        matching = {test for test in collected if way(test)}
        if matching:
            return matching
    close = difflib.get_close_matches(name, collected, _CLOSE, 0.5) or collected[:_CLOSE]
    hint = "the closest are %s" % ", ".join(close) if close else "no tests were found"
    raise Refused("no test %s: %s" % (name, hint))
