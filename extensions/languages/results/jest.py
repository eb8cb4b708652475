"""Reads Jest: `--json`, and `--verbose`."""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import Any

from stackrank.extensions.languages.results.outcomes import Outcomes

_OUTCOMES = {"passed": "passed", "failed": "failed"}
_MARKS = {"\u2713": "passed", "\u221a": "passed", "\u2715": "failed", "\u00d7": "failed", "\u25cb": "skipped"}
_FILE = re.compile(r"(?:PASS|FAIL) (\S+)")
_LINE = re.compile(r"( +)(\S) (.*?)(?: \([\d.]+ m?s\))?$")


def read_jest(output: str) -> dict[str, str]:
    """Return the outcome of each test, as `file::group > test`; a file that cannot be run is a test that failed."""
    for line in reversed(output.splitlines()):
        if line.startswith("{") and '"testResults"' in line:
            try:
                return _read_document(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
    return _read_text(output)


def _read_document(document: dict[str, Any]) -> Outcomes:
    outcomes = Outcomes()
    for suite in document["testResults"]:
        file = suite["name"].removeprefix("/workspace/")
        if suite["status"] != "passed" and not suite["assertionResults"]:
            outcomes.add(file, "failed")
        for test in suite["assertionResults"]:
            name = " > ".join([*test["ancestorTitles"], test["title"]])
            outcomes.add(f"{file}::{name}", _OUTCOMES.get(test["status"], "skipped"))
    return outcomes


def _read_text(output: str) -> Outcomes:
    """Read the tree that `--verbose` prints: groups and tests are indented below the file."""
    outcomes, file, groups = Outcomes(), "", dict[int, str]()
    for line in output.splitlines():
        if match := _FILE.match(line):
            file, groups = str(PurePosixPath(match[1])), {}
        elif not file or not line.startswith("  ") or line.lstrip().startswith("\u25cf"):
            file = "" if line.strip() else file  # what follows the tree
        elif (match := _LINE.match(line)) and match[2] in _MARKS:
            above = [name for indent, name in sorted(groups.items()) if indent < len(match[1])]
            outcomes.add(f"{file}::{' > '.join([*above, match[3].removeprefix('skipped ')])}", _MARKS[match[2]])
        else:
            indent = len(line) - len(line.lstrip())
            groups = {place: name for place, name in groups.items() if place < indent} | {indent: line.strip()}
    return outcomes
