"""Reads the programs that are made with Catch2: the reporter `junit`, and the console with `--durations yes`."""

from __future__ import annotations

import re

from stackrank.extensions.languages.results.outcomes import Outcomes, xml_results

_ENDED = re.compile(r"^\d+\.\d+ s: (.+)$", re.MULTILINE)
_FAILED = re.compile(r"^-{79}\n(?P<name>\S.*)\n(?:  .*\n)*-{79}\n.*\n\.{79}\n", re.MULTILINE)


def read_catch2(output: str) -> dict[str, str]:
    """Return the outcome of each test case, by its name; sections belong to their test case."""
    outcomes = Outcomes()
    for _, name, outcome in xml_results(output):
        outcomes.add(name, outcome)
    if not outcomes:
        for match in _ENDED.finditer(output):
            outcomes.add(match[1], "passed")
        for match in _FAILED.finditer(output):
            outcomes.add(match["name"], "failed")
    return outcomes
