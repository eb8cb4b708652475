"""Reads CMake's `ctest`; its report as XML (`--output-junit`) is read by the format `junit`."""

from __future__ import annotations

import re

from stackrank.extensions.languages.results.outcomes import Outcomes

_TEST = re.compile(r"\d+/\d+ Test +#\d+: (\S+) \.*\s*(Passed|Skipped|\*\*\*\S.*?)\s+[\d.]+ sec", re.MULTILINE)
_DISABLED = "***Not Run (Disabled)"
_TOTAL = re.compile(r"^\d+% tests passed, \d+ tests? failed out of (\d+)$", re.MULTILINE)


def read_ctest(output: str) -> dict[str, str]:
    """Return the outcome of each test; none if fewer tests have results than the last line counts."""
    outcomes, disabled = Outcomes(), 0
    for match in _TEST.finditer(output):
        is_skipped = match[2] in ("Skipped", "***Skipped", _DISABLED)
        disabled += match[2] == _DISABLED
        outcomes.add(match[1], "passed" if match[2] == "Passed" else "skipped" if is_skipped else "failed")
    total = _TOTAL.search(output)
    return outcomes if total is not None and int(total[1]) == len(outcomes) - disabled else {}
